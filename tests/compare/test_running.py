"""Time limits, parallel fits, and interrupts."""

import os
import threading
from collections import Counter

import aucrank
import numpy as np
import pytest
from aucrank._compare import progress, running
from aucrank._compare.folds import Fold
from aucrank._compare.progress import Progress, duration
from aucrank.ensemble import RankingEnsemble
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_info

from tests.common.contestants import Column, sample
from tests.common.limits import HANG


@pytest.fixture
def clock(monkeypatch):
    """A clock that only fits advance."""
    clock = Counter()
    for module in (running, progress):
        monkeypatch.setattr(module, "perf_counter", lambda: float(clock["now"]))
    return clock


def slow(clock, seconds):
    return Column(0, lambda y: clock.update(now=seconds))


def test_no_fit_begins_after_the_time_limit(clock):
    X, y = sample(50)
    models = {"quick": slow(clock, 1), "slow": slow(clock, 10), "last": slow(clock, 1)}
    board = aucrank.compare(X, y, models=models, time_limit=30)
    rows = board.models.to_frame().set_index("model")
    # 5 s of the first; then fits begin at 5, 15 and 25 s, and none at 35 s.
    assert rows["n_folds"].to_dict() == {"quick": 5, "slow": 3, "last": 0}
    assert rows["error"].to_dict() == {
        "quick": "",
        "slow": "incomplete: 3 of 5 folds",
        "last": "not begun",
    }
    assert rows.loc[["slow", "last"], ["rank", "auc"]].isna().all(axis=None)
    assert rows["fit_seconds"].iloc[:2].tolist() == [1, 10]
    assert board.notes == ["no fit was begun after 30 s"]
    assert board.folds["model"].tolist() == ["quick"] * 5 + ["slow"] * 3


def test_a_time_limit_that_is_not_reached_is_not_reported(clock):
    X, y = sample(50)
    assert aucrank.compare(X, y, models={"a": slow(clock, 1)}, time_limit=30).notes == []


def test_results_do_not_depend_on_threads_or_on_what_runs_in_parallel():
    X, y = sample(200)
    models = ["TreeRank", "RIMARC", "LogisticRegression", "RandomForestClassifier"]
    kwargs = {"models": models, "cv": 3, "random_state": 1}
    one = aucrank.compare(X, y, n_jobs=1, **kwargs)
    columns = ("model", "auc", "low", "p_value", "n_rules")
    for n_jobs, parallel in ((2, "threads"), (2, "folds"), (3, "folds")):
        other = aucrank.compare(X, y, **kwargs, n_jobs=n_jobs, parallel=parallel)
        for name in columns:
            np.testing.assert_array_equal(one.models[name], other.models[name])


def test_parallel_folds_have_one_thread_each():
    """Two fits wait for each other, which sequential fits could not."""
    both, seen = threading.Barrier(2, timeout=HANG), []

    def on_fit(_):
        both.wait()
        seen.extend(pool["num_threads"] for pool in threadpool_info())

    X, y = sample(40)
    met = []

    class Spy(RandomForestClassifier):
        def fit(self, X, y):
            met.append(self.n_jobs)
            return super().fit(X, y)

    models = {"meets": Column(0, on_fit), "spy": Spy(3, n_jobs=8)}
    board = aucrank.compare(X, y, models=models, cv=2, n_jobs=2, parallel="folds")
    assert (board.models["error"] == "").all()
    assert set(seen) == {1}
    assert met == [1, 1]
    met.clear()
    aucrank.compare(X, y, models={"spy": Spy(3, n_jobs=8)}, cv=2, n_jobs=2)
    aucrank.compare(X, y, models={"spy": Spy(3, n_jobs=8)}, cv=2)
    assert met == [2, 2, 8, 8]


def test_no_more_fits_run_than_there_are_threads():
    """Three fits wait for each other; a fourth would be counted."""
    running_now, most, lock = Counter(), [], threading.Lock()
    three = threading.Barrier(3, timeout=HANG)

    class Counted(Column):
        def fit(self, X, y):
            with lock:
                running_now["fits"] += 1
                most.append(running_now["fits"])
            three.wait()
            threading.Event().wait(0.01)
            with lock:
                running_now["fits"] -= 1
            return super().fit(X, y)

    X, y = sample(60)
    aucrank.compare(X, y, models={"a": Counted(), "b": Counted()}, cv=6, n_jobs=3, parallel="folds")
    assert len(most) == 12
    assert max(most) == 3


def test_a_failure_ends_only_the_folds_of_its_model():
    fits = Counter()

    def refuse(_):
        fits.update(["bad"])
        raise RuntimeError("no")

    X, y = sample(60)
    for parallel in ("threads", "folds"):
        fits.clear()
        models = {"bad": Column(0, refuse), "good": Column(1)}
        board = aucrank.compare(X, y, models=models, cv=6, n_jobs=2, parallel=parallel)
        assert board.models["n_folds"].tolist() == [6, 0]
        assert fits["bad"] <= 2


def test_settings_of_the_caller_hold_in_other_threads():
    import sklearn

    met = []
    X, y = sample(40)
    with sklearn.config_context(assume_finite=True):
        models = {"a": Column(0, lambda _: met.append(sklearn.get_config()["assume_finite"]))}
        aucrank.compare(X, y, models=models, cv=2, n_jobs=2, parallel="folds")
    assert met == [True, True]


def test_an_interrupt_keeps_the_finished_fits(tmp_path):
    fits = Counter()

    def interrupt(_):
        fits.update(["done"])
        if fits["done"] == 4:
            raise KeyboardInterrupt

    X, y = sample(50)
    models, path = {"a": Column(0), "b": Column(1, interrupt)}, tmp_path / "fits.jsonl"
    with pytest.raises(KeyboardInterrupt):
        aucrank.compare(X, y, models=models, resume=path)
    # The interrupted model holds a function of this test, which has no fingerprint.
    assert len(path.read_text().splitlines()) == 1 + 5
    assert os.path.getsize(path) > 0


def test_ensembles_in_parallel_are_silent_and_complete(capsys):
    X, y = sample(120)
    models = {"ensemble": RankingEnsemble(presets="fast", random_state=0)}
    side_by_side = aucrank.compare(X, y, models=models, cv=2, n_jobs=2, parallel="folds")
    alone = aucrank.compare(X, y, models=models, cv=2, n_jobs=1)
    assert side_by_side.models["auc"].tolist() == alone.models["auc"].tolist()
    assert capsys.readouterr().out == ""


# The time left


def folds_of(n, n_rows=100):
    return [Fold(np.arange(n_rows), np.arange(n_rows), 0) for _ in range(n)]


def test_the_time_left_counts_only_unfinished_fits():
    found = Progress(["a", "b"], folds_of(4), 1)
    assert found.seconds_left() is None
    assert found.says() == ""
    found.done("a", 0, 3.0)
    # A model without a fit counts like the others.
    assert found.seconds_left() == pytest.approx(3 * 3 + 4 * 3)
    found.done("a", 1, 5.0)
    found.done("b", 0, 1.0)
    assert found.seconds_left() == pytest.approx(2 * 4 + 3 * 1)
    for fold in range(4):
        found.skip("b", fold)
    assert found.seconds_left() == pytest.approx(2 * 4)


def test_the_time_left_counts_rows_and_workers():
    folds = [*folds_of(1, 100), *folds_of(1, 300)]
    found = Progress(["a"], folds, 2)
    found.done("a", 0, 2.0)
    assert found.seconds_left() == pytest.approx(6.0 / 2)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.123, "0.12 s"), (9.94, "9.9 s"), (42.3, "42 s"), (150, "2 min"), (9000, "2.5 h")],
)
def test_durations_are_rounded_to_a_readable_precision(seconds, text):
    assert duration(seconds) == text
