"""Monotone constraints and cell means in a forest."""

import numpy as np
import pytest
from aucrank import RankingForest

rng = np.random.default_rng(0)
X = rng.normal(size=(500, 3)).round(1)
Y = (X[:, 0] - X[:, 1] + rng.normal(scale=1.5, size=500) > 0).astype(int)


@pytest.mark.parametrize("aggregation", ["eta", "rank_mean", "rank_median", "kendall"])
@pytest.mark.parametrize("leaf_order", ["eta", "tree"])
@pytest.mark.parametrize("split", ["orthogonal", "leafrank"])
def test_no_score_violates_its_constraint(aggregation, leaf_order, split):
    settings = {"aggregation": aggregation, "leaf_order": leaf_order, "split": split}
    forest = RankingForest(n_estimators=15, monotonic_cst=[1, -1, 0], random_state=0, **settings)
    forest.fit(X, Y)
    rows = np.repeat(rng.normal(size=(60, 3)), 40, axis=0)
    grid = np.tile(np.linspace(-3, 3, 40), 60)
    for feature, direction in ((0, 1), (1, -1)):
        moved = rows.copy()
        moved[:, feature] = direction * grid
        for answer in (forest.decision_function(moved), forest.predict_proba(moved)[:, 1]):
            # A mean of the same terms in another order may differ in its last digits.
            assert (np.diff(answer.reshape(60, 40), axis=1) >= -1e-12).all()
    free = RankingForest(n_estimators=15, random_state=0, **settings).fit(X, Y)
    moved = rows.copy()
    moved[:, 0] = grid
    assert (np.diff(free.decision_function(moved).reshape(60, 40), axis=1) < -1e-12).any()


def test_missing_values_may_count_as_the_mean_of_their_cell():
    gaps = X.copy()
    gaps[rng.random(500) < 0.3, 0] = np.nan
    learnt, mean = (
        RankingForest(n_estimators=20, missing=missing, random_state=0).fit(gaps, Y)
        for missing in ("learn", "cell_mean")
    )
    assert not np.array_equal(learnt.decision_function(gaps), mean.decision_function(gaps))
    assert min(learnt.score(gaps, Y), mean.score(gaps, Y)) > 0.8


def test_bad_constraints_are_named_in_the_error():
    with pytest.raises(ValueError, match="monotonic_cst"):
        RankingForest(monotonic_cst=[1, 2, 0]).fit(X, Y)
    with pytest.raises(ValueError, match="monotonic_cst"):
        RankingForest(monotonic_cst=[1]).fit(X, Y)
