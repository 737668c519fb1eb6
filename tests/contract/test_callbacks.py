"""Every long fit reports its progress to callbacks of scikit-learn, and as printed lines."""

import numpy as np
import pytest
from aucrank import (
    AURORA,
    MAD2C,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    LinearRanker,
    MartiRank,
    RankBoost,
    RankingForest,
    RankOpt,
    Scorecard,
    SMartiRank,
    TreeRank,
)
from aucrank.tree import WeightedERM
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from tests.common.estimators import SHORT_SEARCH

callback = pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")

rng = np.random.default_rng(4)
Y = rng.permutation(np.repeat([0, 1], 100))
X = rng.normal(size=(200, 4)) + Y[:, None] * [1.0, 0.5, 0.0, 0.0]

#: Estimators, and the parts of each stage of their fit.
FITS = [
    (TreeRank(), [("fold", 10)]),
    (TreeRank(pruning=None), []),
    (
        TreeRank(split=WeightedERM(LogisticRegression()), max_depth=2, n_jobs=2),
        [("fold", 10)],
    ),
    (RankingForest(n_estimators=7, n_jobs=2), [("tree", 7)]),
    (AUCBoost(n_rounds=6), [("round", 6)]),
    (RankBoost(n_rounds=6, weak_ranker=LogisticRegression()), [("round", 6)]),
    (
        RankBoost(n_rounds=6, selection="window", refit=True),
        [("round", 6), ("round", None)],
    ),
    (GradientBoostingRanker(n_rounds=5, max_leaves=8, n_bags=3, n_jobs=2), [("round", 5)]),
    (MartiRank(n_rounds=3), [("layer", 3)]),
    (SMartiRank(n_rounds=3), [("layer", 3)]),
    (RIMARC(weight_folds=3), [("feature", 4), ("fold", 3)]),
    (MAD2C(), [("feature", 4)]),
    (RankOpt(), [("radius", 4)]),
    (LinearRanker(), [("iteration", None)]),
    (AURORA(**SHORT_SEARCH, selection=None), [("term", 4)]),
    (Scorecard(estimator=RankBoost(n_rounds=5)), [("round", 5)]),
]


class Recorder:
    """Records tasks, and ends a fit after a number of parts."""

    def __init__(self, stop_after=None):
        self.stop_after, self.stages, self.open = stop_after, [], []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        assert self.open == []

    def on_fit_task_begin(self, estimator, context):
        self.open.append(context.task_name)
        if len(self.open) == 2:
            self.stages.append([])

    def on_fit_task_end(self, estimator, context, *, metadata=None, fitted_estimator=None):
        assert self.open.pop() == context.task_name
        if len(self.open) == 2:
            self.stages[-1].append((context.task_name, metadata))
            return len(self.stages[-1]) == self.stop_after
        return False


@pytest.mark.parametrize(("model", "stages"), FITS, ids=lambda value: type(value).__name__)
def test_callbacks_see_every_part_and_change_nothing(model, stages):
    recorder = Recorder()
    if "random_state" in model.get_params():
        model = clone(model).set_params(random_state=0)
    watched = clone(model).set_callbacks(recorder).fit(X, Y)
    assert len(recorder.stages) == len(stages)
    for seen, (unit, most) in zip(recorder.stages, stages, strict=True):
        assert {name for name, _ in seen} == {unit}
        number = "n_radii" if unit == "radius" else f"n_{unit}s"
        assert [found[number] for _, found in seen] == list(range(1, len(seen) + 1))
        assert len(seen) == most or most is None
    if hasattr(model, "decision_function"):
        expected = clone(model).fit(X, Y).decision_function(X)
        assert_array_equal(watched.decision_function(X), expected)


@pytest.mark.parametrize(
    "model",
    [
        AUCBoost(n_rounds=9),
        RankBoost(n_rounds=9),
        AURORA(**SHORT_SEARCH),
        RankOpt(),
        LinearRanker(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_callback_may_end_a_fit_that_is_valid_with_fewer_parts(model):
    recorder = Recorder(stop_after=2)
    ended = clone(model).set_callbacks(recorder).fit(X, Y)
    assert len(recorder.stages[0]) == 2
    if isinstance(model, RankBoost | AUCBoost):
        expected = clone(model).set_params(n_rounds=2).fit(X, Y)
        assert_array_equal(ended.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize(("model", "stages"), FITS, ids=lambda value: type(value).__name__)
def test_a_callback_that_fails_ends_the_fit(model, stages):
    class Faulty(Recorder):
        def teardown(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            raise ZeroDivisionError(context.task_name)

    watched = clone(model).set_callbacks(Faulty())
    with pytest.raises(ZeroDivisionError, match=stages[0][0] if stages else "fit"):
        watched.fit(X, Y)
    assert not watched.__sklearn_is_fitted__()


def test_callbacks_of_a_search_see_the_fits_in_it():
    class Propagated(Recorder, callback.AutoPropagatedCallback):
        max_propagation_depth = None

        def on_fit_task_begin(self, estimator, context):
            self.open.append(context.task_name)

        def on_fit_task_end(self, estimator, context):
            assert self.open.pop() == context.task_name
            self.stages.append(context.task_name)

    recorder = Propagated()
    search = GridSearchCV(RankBoost(n_rounds=3), {"alpha": ["third", "exact"]}, cv=2)
    search.set_callbacks(recorder).fit(X, Y)
    # Two candidates, two folds, and the fit on all rows.
    assert recorder.stages.count("round") == 3 * (2 * 2 + 1)


@pytest.mark.parametrize(("verbose", "n_lines"), [(0, 0), (1, 2), (2, 20)])
def test_verbose_prints_every_tenth_part_or_all(capsys, verbose, n_lines):
    RankBoost(n_rounds=20, verbose=verbose).fit(X, Y)
    lines = [line for line in capsys.readouterr().out.splitlines() if " of 20 rounds" in line]
    assert len(lines) == n_lines
    assert lines[-1:] == (["[RankBoost] 20 of 20 rounds"] if verbose else [])
