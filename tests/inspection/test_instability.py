"""Kendall distance of rankings that are learned from resamples."""

import numpy as np
import pandas as pd
import pytest
from aucrank import LinearRanker, TreeRank
from aucrank.inspection import ranking_instability
from aucrank.inspection._instability import kendall_distance
from scipy.stats import kendalltau
from sklearn.linear_model import LogisticRegression


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + rng.normal(size=n) > 0


def test_the_distance_is_that_of_all_pairs():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 8, 700) / 2, rng.normal(size=700).round(1)
    pairs = np.triu_indices(700, 1)
    signs = [np.sign(own[pairs[0]] - own[pairs[1]]) for own in (first, second)]
    opposite, tied = signs[0] * signs[1] < 0, (signs[0] == 0) != (signs[1] == 0)
    assert kendall_distance(first, second) == pytest.approx(np.mean(opposite + tied / 2))
    # Without ties, by Kendall's tau.
    first, second = rng.normal(size=(2, 300))
    tau = kendalltau(first, second).statistic
    assert kendall_distance(first, second) == pytest.approx((1 - tau) / 2)
    assert kendall_distance(first, first) == 0
    assert kendall_distance(first, -first) == 1
    infinite = np.where(first > 1, np.inf, first)
    assert kendall_distance(infinite, infinite) == 0


def test_more_rows_make_rankings_more_alike():
    found = [
        ranking_instability(LogisticRegression(), *rows(n), n_resamples=8, random_state=0)
        for n in (100, 2500)
    ]
    assert found[0].distance > 2 * found[1].distance
    assert found[0].spread.mean() > 2 * found[1].spread.mean()
    assert found[0].distances.shape == (8, 8)
    off = found[0].distances[~np.eye(8, dtype=bool)]
    assert found[0].distance == pytest.approx(off.mean())


@pytest.mark.parametrize("estimator", [TreeRank(random_state=0), LogisticRegression()])
def test_frames_weights_and_groups_are_passed_to_each_fit(estimator):
    X, y = rows()
    how = {"n_resamples": 4, "random_state": 3}
    plain = ranking_instability(estimator, X, y, **how)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    np.testing.assert_array_equal(
        ranking_instability(estimator, frame, y, **how).distances, plain.distances
    )
    weighted = ranking_instability(estimator, X, y, sample_weight=np.full(300, 2.0), **how)
    assert weighted.distance == pytest.approx(plain.distance, abs=0.05)
    place = np.repeat(np.arange(300), 4)
    copies = ranking_instability(estimator, X[place], y[place], X_eval=X, **how)
    of_groups = ranking_instability(estimator, X[place], y[place], X_eval=X, groups=place, **how)
    assert len(of_groups.spread) == 300
    assert of_groups.distance > copies.distance


def test_input_that_cannot_be_ranked_is_rejected():
    X, y = rows()
    with pytest.raises(ValueError, match="X has 300 rows, but y has 2"):
        ranking_instability(LinearRanker(), X, [0, 1])
    with pytest.raises(ValueError, match="two rows or more"):
        ranking_instability(LinearRanker(), X, y, X_eval=X[:1], n_resamples=2)
    with pytest.raises(ValueError, match="n_resamples == 1"):
        ranking_instability(LinearRanker(), X, y, n_resamples=1)
    with pytest.raises(TypeError, match="neither decision_function"):
        ranking_instability(object(), X, y)
