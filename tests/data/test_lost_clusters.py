"""Errors of a fit to rows of a Dask cluster whose workers or scheduler are lost for good."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest
from aucrank import TreeRank
from aucrank.data import ClusterError, _patience
from aucrank.data._dask import DaskRows
from sklearn.base import clone

from tests.common.limits import HANG
from tests.common.parts import FEATURES, mixed_rows, on_dask

dask = pytest.importorskip("dask", reason="fits on the workers of dask, which is not installed")
distributed = pytest.importorskip("distributed", reason="fits on workers of distributed")
dd = pytest.importorskip("dask.dataframe", reason="reads data frames of dask")

ROWS = mixed_rows(600)
MODEL = TreeRank(max_depth=3, pruning=None, random_state=0)
WAIT = HANG


@contextmanager
def process(*args):
    """Run a process of distributed's command line."""
    started = subprocess.Popen(
        [sys.executable, "-P", "-m", *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        yield started
    finally:
        started.kill()
        started.wait()


def worker_of(address):
    return process(
        "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads=1", "--no-dashboard"
    )


@pytest.fixture
def client():
    """Of a cluster without workers."""
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def dataset_of(client, **kwargs):
    collection = dd.from_pandas(ROWS, npartitions=3)
    return on_dask(collection, target="y", columns=FEATURES, client=client, **kwargs)


def before_round(number, act, monkeypatch):
    """Call a function before a round of a fit."""
    round_of_fit, rounds = DaskRows.round, []

    def look(self, ask):
        rounds.append(ask)
        if len(rounds) == number:
            act()
        return round_of_fit(self, ask)

    monkeypatch.setattr(DaskRows, "round", look)


def test_a_fit_ends_if_all_workers_are_lost(client, monkeypatch):
    monkeypatch.setattr(_patience, "_SAID_AFTER", 1.0)
    model = clone(MODEL)
    with worker_of(client.cluster.scheduler_address) as worker:
        client.wait_for_workers(1, timeout=WAIT)
        before_round(2, worker.kill, monkeypatch)
        with (
            pytest.warns(UserWarning, match="has no workers; the fit waits for workers, up to 4 s"),
            pytest.raises(
                ClusterError,
                match=r"^the Dask collection of 3 partitions: the cluster has no workers, for \d",
            ),
        ):
            model.fit(dataset_of(client, timeout=4))
    assert not hasattr(model, "tree_")


def test_a_fit_continues_if_workers_arrive_in_time(client, monkeypatch):
    monkeypatch.setattr(_patience, "_SAID_AFTER", 0.5)
    warned, workers = [], []
    monkeypatch.setattr(_patience, "warn_caller", warned.append)
    address = client.cluster.scheduler_address

    def change_workers():
        first.kill()
        # It starts after the timeout has been checked.
        workers.append(worker_of(address))
        workers[0].__enter__()

    with worker_of(address) as first:
        client.wait_for_workers(1, timeout=WAIT)
        before_round(2, change_workers, monkeypatch)
        try:
            found = clone(MODEL).fit(dataset_of(client, timeout=WAIT))
        finally:
            workers[0].__exit__(None, None, None)
    assert found._to_document() == clone(MODEL).fit(ROWS[FEATURES], ROWS["y"])._to_document()
    assert len(warned) <= 1


def test_a_lost_scheduler_raises_an_error_that_says_so(monkeypatch):
    with process("distributed.cli.dask_scheduler", "--port=0", "--no-dashboard") as scheduler:
        address = address_in(scheduler.stdout)
        with worker_of(address), distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=WAIT)
            before_round(2, scheduler.kill, monkeypatch)
            with pytest.raises(ClusterError, match="the scheduler of the cluster has gone") as err:
                clone(MODEL).fit(dataset_of(client))
            assert err.value.__cause__ is not None


def address_in(lines):
    """Return the address that a scheduler writes down when it starts."""
    for line in lines:
        if found := re.search(rb"Scheduler at:\s+(\S+)", line):
            return found[1].decode()
    raise AssertionError("the scheduler has not started")


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_partition_that_kills_each_worker_raises_an_error_that_says_what_to_do():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        parts = [dask.delayed(ROWS[:300]), dask.delayed(die)(0)]
        collection = dd.from_delayed(parts, meta=ROWS[:0], verify_meta=False)
        dataset = on_dask(collection, target="y", columns=FEATURES, client=client)
        with pytest.raises(ClusterError, match="give them more, or make smaller") as err:
            clone(MODEL).fit(dataset)
        assert isinstance(err.value.__cause__, distributed.KilledWorker)


def missing_file(_):
    raise FileNotFoundError("no such file: rows.parquet")


def test_an_error_of_a_partition_is_raised_unchanged():
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        parts = [dask.delayed(ROWS[:300]), dask.delayed(missing_file)(0)]
        collection = dd.from_delayed(parts, meta=ROWS[:0], verify_meta=False)
        dataset = on_dask(collection, target="y", columns=FEATURES, client=client)
        with pytest.raises(FileNotFoundError, match=r"rows\.parquet"):
            clone(MODEL).fit(dataset)


@pytest.mark.parametrize(("timeout", "kind"), [(0, ValueError), (-1, ValueError), ("1", TypeError)])
def test_an_invalid_timeout_is_rejected(timeout, kind, client):
    with pytest.raises(kind, match="timeout must be"):
        dataset_of(client, timeout=timeout)
