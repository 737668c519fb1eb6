"""Signals, forks, threads, worker processes and stores, around the real estimator."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import pytest
from aucrank import (
    AURORA,
    RIMARC,
    AUCBoost,
    LinearRanker,
    MartiRank,
    RankBoost,
    RankOpt,
    Scorecard,
    TreeRank,
    _core,
)
from aucrank._utils.threads import effective_n_threads
from aucrank.datasets import load_breast_cancer
from aucrank.tree import CrossValidatedPruning, LeafRank, OrthogonalSplit
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from tests.common.limits import HANG
from tests.common.processes import interrupted, no_windows
from tests.common.script import run_script
from tests.common.stores import STORES


def sample(n, n_features, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    return X, rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0] * X[:, 1]))


def applicants(seed=0):
    """Rows with numbers, categories and missing values."""
    rng = np.random.default_rng(seed)
    n = 400
    income = rng.lognormal(8, 1, n)
    trade = rng.choice(["smith", "cook", "clerk"], n)
    y = rng.random(n) < 1 / (1 + np.exp(-(np.log(income) - 8) - (trade == "cook")))
    income[rng.random(n) < 0.2] = np.nan
    X = pd.DataFrame(
        {
            "income": income,
            "trade": pd.Categorical(np.where(rng.random(n) < 0.1, None, trade)),
            "children": pd.Categorical(rng.integers(0, 4, n)),
            "owner": rng.random(n) < 0.5,
        }
    )
    return X, y


# Signals and forks, in separate processes.

LONG_FIT = """
import signal
import numpy as np
from aucrank import TreeRank
from aucrank.tree import CrossValidatedPruning, LeafRank
from sklearn.exceptions import NotFittedError

# A parent in the background of a shell hands down that Ctrl-C is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 20))
y = rng.random(200_000) < 1 / (1 + np.exp(-X[:, 0] * X[:, 1]))
model = TreeRank(pruning=None, max_depth=1).fit(X[:1000], y[:1000])
model.set_params(
    split=LeafRank(max_depth=8),
    max_depth=60,
    min_samples_leaf=1,
    max_bins=None,
    pruning=CrossValidatedPruning(n_folds=100),
)
params = model.get_params()
print("fitting", flush=True)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
assert model.get_params() == params
assert sorted(vars(model)) == sorted(model.get_params(deep=False)), vars(model)
try:
    model.predict(X)
except NotFittedError:
    print("unfitted", flush=True)
print(model.set_params(max_depth=1, pruning=None).fit(X[:100], y[:100]).tree_.n_leaves)
"""


@no_windows
@pytest.mark.parametrize("delay", [0.5, 1.5], ids=["binning", "growing"])
def test_ctrl_c_ends_a_long_fit_soon_and_leaves_it_unfitted(delay):
    # Its 101 trees of some hundred thousand leaves would take minutes.
    said, err = interrupted(LONG_FIT, after=delay)
    assert said == ["interrupted", "unfitted", "2"], err


LONG_FIT_OF_PIECES = """
import os
import signal
import numpy as np
import pandas
from aucrank import TreeRank
from aucrank.data import Dataset, _stored
from aucrank.tree import CrossValidatedPruning, LeafRank

signal.signal(signal.SIGINT, signal.default_int_handler)
# All codes lie in a file.
_stored._IN_MEMORY = 0
os.mkdir("spill")
rng = np.random.default_rng(0)
rows = pandas.DataFrame(rng.normal(size=(200_000, 20))).add_prefix("x")
rows["y"] = rng.random(200_000) < 1 / (1 + np.exp(-rows["x0"] * rows["x1"]))
of = lambda rows: Dataset.from_batches(rows, target="y", chunk_rows=10_000, spill_dir="spill")
TreeRank(pruning=None, max_depth=1).fit(of(rows[:1000]))
assert os.listdir("spill") == []
model = TreeRank(
    split=LeafRank(max_depth=8), max_depth=60, pruning=CrossValidatedPruning(n_folds=100)
)
print("fitting", flush=True)
try:
    model.fit(of(rows))
except KeyboardInterrupt:
    print("interrupted", flush=True)
assert sorted(vars(model)) == sorted(model.get_params(deep=False)), vars(model)
print(*os.listdir("spill"), "left", flush=True)
"""


@no_windows
@pytest.mark.parametrize("delay", [0.2, 1.5], ids=["reading", "growing"])
def test_ctrl_c_ends_a_long_fit_of_pieces_soon_and_leaves_no_file(delay, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said, err = interrupted(LONG_FIT_OF_PIECES, after=delay)
    assert said == ["interrupted", "left"], err


LONG_BOOST = """
import signal
import numpy as np
from aucrank import (
    AURORA, RIMARC, AUCBoost, GradientBoostingRanker, LinearRanker, MartiRank, RankBoost, RankOpt,
    SMartiRank
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X = rng.normal(size=(100_000, 20))
y = rng.random(100_000) < 1 / (1 + np.exp(-X[:, 0] * X[:, 1]))
model = {model}
params = repr(model)
short = dict(n_rounds=1, weak_ranker="feature")
if isinstance(model, GradientBoostingRanker):
    short = dict(n_rounds=1)
if isinstance(model, RIMARC):
    short = dict(weight_folds=None)
if isinstance(model, AURORA):
    short = dict(max_features=1, radius=1.0)
if isinstance(model, RankOpt):
    short = dict(radii=[1.0])
if isinstance(model, LinearRanker):
    short = dict(thresholds=2)
long = model.get_params(deep=False)
model.set_params(**short).fit(X[:1000], y[:1000]).set_params(**long)
print("fitting", flush=True)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
assert repr(model) == params
try:
    model.predict(X)
except NotFittedError:
    print("unfitted", flush=True)
assert sorted(vars(model)) == sorted(model.get_params(deep=False)), vars(model)
print(len(model.set_params(**short).fit(X[:100], y[:100]).predict(X[:3])))
"""

LONG_BOOSTS = {
    "AUCBoost": "AUCBoost(n_rounds=10**7)",
    "RankBoost": "RankBoost(n_rounds=10**7, max_bins=None, selection='window')",
    "RankBoost of trees": "RankBoost(n_rounds=10**7, weak_ranker='tree', subsample=0.5)",
    "AUCBoost of lines": "AUCBoost(n_rounds=10**7, weak_ranker='linear', warm_start=True)",
    "AUCBoost of estimators": (
        "AUCBoost(n_rounds=10**7, weak_ranker=DecisionTreeClassifier(max_depth=3, max_features=3))"
    ),
    "GradientBoostingRanker": "GradientBoostingRanker(n_rounds=10**7, max_leaves=200)",
    "GradientBoostingRanker of pairs": (
        "GradientBoostingRanker(n_rounds=10**7, loss='pair_logistic', early_stopping=True,"
        " n_iter_no_change=10**7)"
    ),
    "MartiRank": "MartiRank(n_rounds=200)",
    "MartiRank of estimators": "MartiRank(n_rounds=200, weak_ranker=LogisticRegression())",
    # Scoring its training rows takes longer than its rounds.
    "SMartiRank of trees": "SMartiRank(n_rounds=100, weak_ranker='tree', epsilon=1e-9)",
    "RIMARC": "RIMARC(weight_folds=20_000)",
    "AURORA": "AURORA(max_features=10_000, depth='deep')",
    "AURORA over folds": "AURORA(selection='cv', n_folds=50, radius=2.0, n_jobs=2)",
    "RankOpt": "RankOpt(radii=np.linspace(1, 100, 10_000), tol=0)",
    "RankOpt of the ramp": "RankOpt(radii=np.linspace(1, 100, 10_000), objective='ramp')",
    "LinearRanker": "LinearRanker(C=1e9, thresholds=1000, tol=0, max_iter=10**6)",
}


@no_windows
@pytest.mark.parametrize("name", LONG_BOOSTS)
def test_ctrl_c_ends_long_boosting_soon_and_leaves_it_unfitted(name):
    said, err = interrupted(LONG_BOOST.replace("{model}", LONG_BOOSTS[name]), after=0.5)
    assert said == ["interrupted", "unfitted", "3"], err


FORK = """
import multiprocessing
import numpy as np
from aucrank import (
    AURORA, RIMARC, AUCBoost, GradientBoostingRanker, LinearRanker, MartiRank, RankBoost, RankOpt,
    TreeRank
)
from sklearn.linear_model import LogisticRegression

rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 5))
y = rng.random(20_000) < 1 / (1 + np.exp(-X[:, 0]))

def fit(_=None):
    model = {model}.fit(X, y)
    return model.decision_function(X).tolist()

expected = fit()
with multiprocessing.get_context("fork").Pool(2) as pool:
    for found in pool.map_async(fit, range(2)).get(timeout=900):
        assert found == expected
assert fit() == expected
print(len(set(expected)) > 10)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize(
    "model",
    [
        "TreeRank(n_jobs=2, random_state=0)",
        "RankBoost(n_jobs=2, subsample=0.5, random_state=0)",
        "RankBoost(n_rounds=5, weak_ranker=LogisticRegression(C=1e-3), n_jobs=2)",
        "GradientBoostingRanker(n_rounds=20, n_jobs=2, random_state=0)",
        "MartiRank(n_jobs=2)",
        "RIMARC(n_jobs=2, weight_folds=3, random_state=0)",
        "AURORA(radius=1.5, depth='shallow', max_features=15, selection=None, n_jobs=2)",
        "RankOpt(n_jobs=2)",
        "LinearRanker(n_jobs=2)",
    ],
    ids=lambda model: model.partition("(")[0],
)
def test_a_fit_in_a_forked_child_is_that_of_its_parent(model):
    script = FORK.replace("{model}", model)
    run = run_script(script, timeout=HANG)
    assert (run.returncode, run.stdout) == (0, "True\n"), run.stderr


# Threads and worker processes.


def test_threads_may_share_a_fitted_model():
    X, y = sample(30_000, 5)
    model = TreeRank(n_jobs=2, pruning=None).fit(X, y)
    expected = [model.decision_function(X), model.predict_proba(X), model.tree_.apply(X)]
    start = threading.Barrier(8)

    def ask(_):
        start.wait(timeout=HANG)
        return [
            [model.decision_function(X), model.predict_proba(X), model.tree_.apply(X)]
            for _ in range(3)
        ]

    with ThreadPoolExecutor(8) as pool:
        for rounds in pool.map(ask, range(8)):
            for answers in rounds:
                for answer, wanted in zip(answers, expected, strict=True):
                    assert_array_equal(answer, wanted)


@pytest.mark.parametrize(
    "model",
    [
        TreeRank(split="leafrank", n_jobs=2, random_state=0),
        RankBoost(weak_ranker="tree", n_rounds=30, n_jobs=2),
        AUCBoost(weak_ranker=DecisionTreeClassifier(max_depth=2), n_rounds=10, random_state=0),
        MartiRank(weak_ranker=LogisticRegression(C=1e-3), n_rounds=4, n_jobs=2),
        RIMARC(weight_folds=3, n_jobs=2, random_state=0),
        AURORA(radius=1.5, depth="shallow", max_features=4, n_jobs=2, random_state=0),
        RankOpt(n_jobs=2),
        LinearRanker(n_jobs=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_threads_may_fit_estimators_of_their_own(model):
    samples = [sample(4000, 5, seed) for seed in range(2)]
    start = threading.Barrier(2)

    def fit(X, y, together=True):
        if together:
            start.wait(timeout=HANG)
        return clone(model).fit(X, y).decision_function(X).tolist()

    expected = [fit(X, y, together=False) for X, y in samples]
    assert expected[0] != expected[1]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(fit, *zip(*samples, strict=True))) == expected


@pytest.mark.parametrize(
    "model",
    [
        RankBoost(n_jobs=2),
        AUCBoost(weak_ranker=LogisticRegression(C=1e-3), n_rounds=5, n_jobs=2),
        MartiRank(n_rounds=4, weak_ranker="tree", n_jobs=2),
        RIMARC(n_jobs=2),
        AURORA(radius=1.5, depth="shallow", max_features=4, n_jobs=2),
        RankOpt(n_jobs=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_threads_may_share_a_boosted_model(model):
    X, y = sample(20_000, 5)
    model = clone(model).fit(X, y)
    expected = model.decision_function(X)
    start = threading.Barrier(8)

    def ask(_):
        start.wait(timeout=HANG)
        return [model.decision_function(X) for _ in range(3)]

    with ThreadPoolExecutor(8) as pool:
        for answers in pool.map(ask, range(8)):
            for answer in answers:
                assert_array_equal(answer, expected)


def test_other_threads_run_during_a_fit(monkeypatch):
    X, y = sample(50_000, 10)
    ticks, stop = [0], threading.Event()
    before_and_after = []
    fit = _core.fit_tree_rank

    def watched(*args, **kwargs):
        before = ticks[0]
        model = fit(*args, **kwargs)
        before_and_after.append((before, ticks[0]))
        return model

    def tick():
        while not stop.wait(0.001):
            ticks[0] += 1

    monkeypatch.setattr(_core, "fit_tree_rank", watched)
    ticking = threading.Thread(target=tick)
    ticking.start()
    try:
        TreeRank(n_jobs=1, random_state=0).fit(X, y)
    finally:
        stop.set()
        ticking.join()
    ((before, after),) = before_and_after
    # No tick could pass while the interpreter lock is held.
    assert after - before >= 10


def test_worker_processes_give_the_results_of_one_process(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    X, y = load_breast_cancer(return_X_y=True)
    model = TreeRank(random_state=0)
    serial = cross_val_score(model, X, y, cv=4)
    with joblib.parallel_config(backend="loky"):
        assert_array_equal(cross_val_score(model, X, y, cv=4, n_jobs=2), serial)
        taken = joblib.Parallel(n_jobs=2)(
            joblib.delayed(effective_n_threads)(None) for _ in range(4)
        )
    # joblib gives each of two workers half of the processors.
    assert taken == [max(1, joblib.cpu_count() // 2)] * 4


# Stores.


def parts(params):
    """Parameters with nested estimators expanded, so that they compare."""
    return {
        name: (type(value), value.get_params()) if isinstance(value, BaseEstimator) else value
        for name, value in params.items()
    }


def assert_same(back, model, X):
    assert type(back) is type(model)
    assert parts(back.get_params()) == parts(model.get_params())
    assert back.classes_.dtype == model.classes_.dtype
    assert_array_equal(back.classes_, model.classes_)
    assert_array_equal(back.feature_names_in_, model.feature_names_in_)
    assert back.n_features_in_ == model.n_features_in_
    assert_array_equal(back.feature_importances_, model.feature_importances_)
    for question in ("decision_function", "predict_proba", "predict"):
        assert_array_equal(getattr(back, question)(X), getattr(model, question)(X))
    pairs = [(back.tree_.nodes, model.tree_.nodes), (back.tree_.strata, model.tree_.strata)]
    assert (back.pruning_ is None) == (model.pruning_ is None)
    if model.pruning_ is not None:
        pairs.append((back.pruning_, model.pruning_))
    for table, wanted in pairs:
        assert list(table) == list(wanted)
        for name, column in wanted.items():
            assert table[name].dtype == column.dtype
            assert_array_equal(table[name], column)
    assert back.tree_.to_text() == model.tree_.to_text()
    assert back.tree_.auc == model.tree_.auc
    assert_array_equal(back.tree_.pruning_path().alphas, model.tree_.pruning_path().alphas)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("weighted", [False, True], ids=["counted", "weighted"])
def test_every_store_restores_a_model_completely(store, weighted, tmp_path):
    X, y = applicants()
    weight = np.random.default_rng(1).random(len(y)) if weighted else None
    model = TreeRank(
        split="leafrank", categorical_features=["trade", "children"], random_state=3, n_jobs=1
    )
    model.fit(X, y, sample_weight=weight)
    assert model.tree_.n_leaves > 1
    assert_same(STORES[store](model, tmp_path), model, applicants(1)[0])


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("weighted", [False, True], ids=["counted", "weighted"])
def test_every_store_restores_a_card_completely(store, weighted, tmp_path):
    X, y = applicants()
    weight = np.random.default_rng(1).random(len(y)) if weighted else None
    model = Scorecard(
        estimator=RankBoost(n_rounds=20),
        categorical_features=["trade", "children"],
        special_values={"income": [0.0]},
        monotone=["income"],
    )
    model.fit(X, y, sample_weight=weight)
    back = STORES[store](model, tmp_path)
    assert parts(back.get_params()) == parts(model.get_params())
    assert back._model.to_json() == model._model.to_json()
    strangers = applicants(1)[0].assign(trade="astronaut")
    for question in ("points", "decision_function", "predict_proba", "predict", "reason_codes"):
        assert_array_equal(getattr(back, question)(strangers), getattr(model, question)(strangers))
    assert back.to_html() == model.to_html()


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize(
    "labels", [["repaid", "default"], [True, False], [7, 3]], ids=["str", "bool", "int"]
)
@pytest.mark.parametrize(
    ("split", "pruning"),
    [
        (
            LeafRank(max_depth=2, max_leaves=3, min_samples_split=4, min_samples_leaf=2),
            CrossValidatedPruning(n_folds=4, one_standard_error=True),
        ),
        (OrthogonalSplit(), None),
    ],
    ids=["rules", "none"],
)
def test_labels_and_rules_keep_their_type_when_restored(labels, split, pruning, store, tmp_path):
    X, y = applicants()
    model = TreeRank(split=split, pruning=pruning, min_gain=1e-9, max_bins=None, random_state=0)
    model.fit(X, np.array(labels)[y.astype(int)])
    back = STORES[store](model, tmp_path)
    assert_same(back, model, X)
    # The restored model can be fitted again.
    again = clone(back).fit(X, np.array(labels)[y.astype(int)])
    assert_array_equal(again.decision_function(X), model.decision_function(X))


FULL_DISK = """
import resource, signal
from aucrank import TreeRank

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
model = TreeRank(min_samples_leaf=1, pruning=None).fit([[i] for i in range(200)], [0, 1] * 100)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
try:
    model.save({path})
except OSError as err:
    print(type(err).__name__)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on file sizes on Windows")
def test_a_save_that_runs_out_of_space_keeps_the_old_file(tmp_path):
    path = tmp_path / "model.json"
    X, y = applicants()
    model = TreeRank(random_state=0).fit(X, y)
    model.save(path)
    before = path.read_bytes()
    run = run_script(FULL_DISK.replace("{path}", repr(str(path))))
    assert (run.returncode, run.stdout) == (0, "OSError\n"), run.stderr
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]
