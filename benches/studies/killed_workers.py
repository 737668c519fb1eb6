"""Fits on a Dask cluster whose workers are killed at random: do they end, and with what?

    python -m benches.studies.killed_workers [--fits 20] [--minutes 15] [--workers 2]
        [--interval 5.0] [--busy 6] [--timeout 60] [--lost-worker-timeout 15s] [--json killed.json]

Workers are processes of this machine, which nannies begin anew; the scheduler is a thread of the
client. During a fit a worker is killed (SIGKILL) after a random time of `--interval` seconds on
average, again and again; of the fits, every third has two killed at once. In the second half of
the fits so many processes as `--busy` says run alongside. Each fit is a line: seconds, how many
workers were killed, how many workers and nannies were left, and what came of it: the document of
the fit to a frame, another one, or the error. Then those that are missing are started.

Why workers may be gone for good: a LocalCluster looks for a worker that it has lost once more,
after `distributed.deploy.lost-worker-timeout`. If none of its name is there at that moment, since
it was killed again or is slow to start, its nanny is closed as well, and none is started in its
place before `cluster.scale` is called. `--lost-worker-timeout "1 hour"` shows what is left then.
"""

import json
import multiprocessing
import os
import signal
import threading
from contextlib import contextmanager
from time import monotonic, perf_counter

import dask
import dask.dataframe
import numpy as np
import pandas as pd
from aucrank import GradientBoostingRanker, TreeRank
from aucrank.data import Dataset
from distributed import Client, LocalCluster
from sklearn.base import clone

from benches.common.options import make_parser

MODELS = {
    "tree": TreeRank(max_depth=6, random_state=0, n_jobs=1),
    "booster": GradientBoostingRanker(
        n_rounds=6, max_leaves=16, n_bags=2, early_stopping=False, random_state=0, n_jobs=1
    ),
}


def make_rows(n_rows):
    """Return numbers, a category and a class that depends on some of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 8))
    rows = pd.DataFrame(X, columns=list("abcdefgh"))
    rows["kind"] = rng.choice(["u", "v", "w"], n_rows)
    odds = X[:, 0] + X[:, 1] * X[:, 2] + (rows["kind"] == "u")
    return rows.assign(y=(rng.random(n_rows) < 1 / (1 + np.exp(-odds))).astype(int))


class Killer(threading.Thread):
    """Kills workers at random times until it is stopped."""

    def __init__(self, cluster, rng, interval, at_once):
        super().__init__(daemon=True)
        self.n_killed = 0
        self._cluster, self._rng = cluster, rng
        self._interval, self._at_once = interval, at_once
        self._stopped = threading.Event()

    def run(self):
        while not self._stopped.wait(self._rng.exponential(self._interval)):
            pids = worker_pids(self._cluster)
            for pid in self._rng.permutation(pids)[: self._at_once].tolist():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
                self.n_killed += 1

    def stop(self):
        self._stopped.set()
        self.join()


def worker_pids(cluster):
    """Return the processes of workers, as their nannies know them."""
    nannies = list(cluster.workers.values())
    return [pid for nanny in nannies if (pid := getattr(nanny, "pid", None)) is not None]


def spin():
    while True:
        sum(range(10**6))


@contextmanager
def busy(n_processes):
    """Have processes that do nothing but use the machine."""
    processes = [
        multiprocessing.get_context("spawn").Process(target=spin, daemon=True)
        for _ in range(n_processes)
    ]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()


def fit_once(number, client, collection, expected, options, rng):
    """Fit while workers are killed; return what came of it."""
    name = list(MODELS)[number % len(MODELS)]
    dataset = Dataset.from_dask(
        collection,
        target="y",
        client=client,
        timeout=options.timeout,
        collect_below=0,
        worker_below=0,
    )
    killer = Killer(client.cluster, rng, options.interval, 2 if number % 3 == 2 else 1)
    start = perf_counter()
    killer.start()
    try:
        document = clone(MODELS[name]).fit(dataset)._to_document()
        found = "same" if document == expected[name] else "another model"
    except Exception as err:
        found = f"{type(err).__name__}: {err}"
    finally:
        killer.stop()
    figures = {"fit": number, "model": name, "s": round(perf_counter() - start, 1), "end": found}
    figures |= {"killed": killer.n_killed, "load": os.getloadavg()[0]}
    figures |= {"workers": len(client.nthreads()), "nannies": len(client.cluster.workers)}
    client.cluster.scale(options.workers)
    client.wait_for_workers(options.workers, timeout=300)
    return figures


def main():
    parser = make_parser(
        __doc__, fits=20, minutes=15, rows=100_000, partitions=8, workers=2, busy=6, timeout=60
    )
    parser.add_argument("--interval", type=float, default=5.0, help="seconds between kills")
    parser.add_argument("--lost-worker-timeout", default="15s", help="of the cluster, see above")
    options = parser.parse_args()
    rows = make_rows(options.rows)
    X, y = rows.drop(columns="y"), rows["y"]
    expected = {name: clone(model).fit(X, y)._to_document() for name, model in MODELS.items()}
    collection = dask.dataframe.from_pandas(rows, npartitions=options.partitions)
    rng, found = np.random.default_rng(0), []
    deadline = monotonic() + 60 * options.minutes
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": options.lost_worker_timeout}),
        LocalCluster(
            n_workers=options.workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        for number in range(options.fits):
            if monotonic() > deadline:
                break
            with busy(options.busy if 2 * number >= options.fits else 0):
                found.append(fit_once(number, client, collection, expected, options, rng))
            print(json.dumps(found[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
