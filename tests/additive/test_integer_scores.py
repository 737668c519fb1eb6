"""Small integer scores: their bins, their points, and how many features they need."""

import aucrank
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from aucrank import RIMARC, Scorecard
from aucrank._data.scores import auc_of_bins
from aucrank.additive._scorecard.integer import Rows, quantile_cuts, round_cuts
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from tests.common.loans import SPECIAL, X, Y, document

mpl.use("agg")
POSITIVE = Y == "default"


@pytest.fixture(scope="module")
def card():
    return Scorecard(special_values=SPECIAL).fit(X, Y)


def have_a_round_step(cuts):
    """Whether numbers are multiples of 1, 2, 2.5 or 5 times a power of ten, not too small."""
    top = int(np.ceil(np.log10(max(map(abs, cuts))))) + 1
    steps = [digit * 10.0**power for power in range(top - 5, top + 1) for digit in (1, 2, 2.5, 5)]
    return any(
        np.allclose(np.array(cuts) / s, np.rint(np.array(cuts) / s), atol=1e-9) for s in steps
    )


@pytest.mark.parametrize("high_points", ["positive", "negative"])
def test_points_are_those_of_a_logistic_regression_on_the_categories(high_points):
    frame = X[["age", "income"]].fillna(3000)
    card = Scorecard(estimator=RIMARC(missing="value"), high_points=high_points).fit(frame, Y)
    score = card.to_integer_score(frame, Y, cuts="quantiles", max_points=1000)
    dummies = []
    for name in frame:
        cuts = np.quantile(frame[name], [0.05, 0.2, 0.8, 0.95], method="inverted_cdf")
        dummies.append(np.eye(5)[np.searchsorted(cuts, frame[name], side="right")])
    design = np.hstack(dummies)
    # The bins of missing values have no rows, and a ridge leaves them at 0.
    model = LogisticRegression(C=1.0, tol=1e-10, max_iter=2000).fit(design, POSITIVE)
    sign = 1 if high_points == "positive" else -1
    coefs = sign * model.coef_[0].reshape(2, 5)
    raised = coefs - coefs.min(axis=1, keepdims=True)
    expected = 1000 * raised / raised.max()
    parts = score.points_by_feature(frame)
    for place, rows in enumerate(dummies):
        assert np.abs(parts[:, place] - rows @ expected[place]).max() <= 1


def test_points_range_from_0_to_the_maximum_requested(card):
    score = card.to_integer_score(X, Y, max_features=3)
    features = document(score)["features"]
    assert len(features) == 3
    assert score.initial_points_ == 0
    assert max(max(f["points"]) for f in features) == 10
    assert all(min(f["points"]) == 0 for f in features)
    for f in features:
        if "numeric" in f["bins"]:
            n_intervals = len(f["bins"]["numeric"]["cuts"]) + 1
            assert np.diff(f["points"][:n_intervals]).all()
            assert len(f["bins"]["numeric"]["cuts"]) <= 4
    assert score.edits_[-1].auc_after == pytest.approx(roc_auc_score(POSITIVE, score.points(X)))
    assert score.card()["edited"][0] == score.edits_[-1].date


def test_probabilities_follow_the_totals(card):
    score = card.to_integer_score(X, Y, max_features=4)
    probability = score.predict_proba(X)[:, 1]
    assert probability.mean() == pytest.approx(POSITIVE.mean(), abs=0.01)
    totals = score.points(X).astype(float)[:, None]
    line = LogisticRegression(C=np.inf, tol=1e-10).fit(totals, POSITIVE)
    assert_allclose(probability, line.predict_proba(totals)[:, 1], atol=0.01)
    assert score.score(X, Y) == pytest.approx(score.auc_)


def test_round_cuts_lose_no_more_than_allowed():
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1.0, 37.0, 1e6):
        values = scale * rng.lognormal(size=2000)
        rows = Rows(rng.random(2000) < 1 / (1 + np.exp(1 - values / scale)), np.ones(2000))
        cuts = quantile_cuts(values, rows.weight)

        def auc(of, values=values, rows=rows):
            return auc_of_bins(rows.masses(np.searchsorted(of, values, side="right"), len(of) + 1))

        for tolerance in (0.0, 0.002, 0.02):
            rounded = round_cuts(values, rows, cuts, tolerance)
            assert auc(rounded) >= auc(cuts) - tolerance
            assert rounded == cuts or have_a_round_step(rounded)
        assert have_a_round_step(rounded)


def test_the_auc_of_bins_is_that_of_their_rates():
    rng = np.random.default_rng(1)
    places, positive = rng.integers(0, 5, 300), rng.random(300) < 0.4
    weight = rng.integers(1, 4, 300).astype(float)
    rate = (
        pd.Series(positive * weight).groupby(places).sum() / pd.Series(weight).groupby(places).sum()
    )
    expected = roc_auc_score(positive, rate[places], sample_weight=weight)
    assert auc_of_bins(Rows(positive, weight).masses(places, 5)) == pytest.approx(expected)


def test_row_order_does_not_matter_and_weights_equal_copies(card):
    rng = np.random.default_rng(2)
    weight = rng.integers(0, 4, len(X))
    params = {"max_features": 3, "date": "2026-01-31"}
    expected = card.to_integer_score(X, Y, weight, **params)._to_document()
    order = np.repeat(np.arange(len(X)), weight)
    rng.shuffle(order)
    assert card.to_integer_score(X.iloc[order], Y[order], **params)._to_document() == expected


def test_an_integer_score_is_saved_and_exported_like_any_scorecard(card, tmp_path):
    score = card.to_integer_score(X, Y, max_features=3)
    score.save(tmp_path / "score.json")
    back = aucrank.load(tmp_path / "score.json")
    assert_array_equal(back.points(X), score.points(X))
    assert back.edits_ == score.edits_
    assert "all features: 3 features with 0 to 10 points" in score.to_sql()
    assert score.to_pmml()


def test_parsimony_is_cross_validated():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(1500, 4)), columns=list("abcd"))
    y = rng.random(1500) < 1 / (1 + np.exp(-2 * frame["a"] - frame["b"]))
    card = Scorecard(estimator=RIMARC()).fit(frame, y)
    path = card.parsimony(frame, y, max_features=9)
    assert path.table["n_features"].tolist() == [1, 2, 3, 4]
    assert path.table["feature"][:2].tolist() == ["a", "b"]
    assert path.n_features == 2
    assert (path.table["low"] < path.table["auc"]).all()
    assert path.table["auc"][1] > path.table["auc"][0] + 0.02
    display = path.plot()
    assert_array_equal(display.ax_.lines[0].get_ydata(), path.table["auc"])
    mpl.pyplot.close("all")


def test_bad_parameters_are_named_in_the_error(card):
    for params, error, message in (
        ({"max_features": 0}, ValueError, "max_features must be at least 1"),
        ({"max_points": 0}, ValueError, "max_points must be from 1"),
        ({"cuts": "deciles"}, ValueError, "cuts must be one of"),
        ({"order": "random"}, ValueError, "order must be one of"),
        ({"tolerance": 0.7}, ValueError, "tolerance"),
    ):
        with pytest.raises(error, match=message):
            card.to_integer_score(X, Y, **params)
    with pytest.raises(ValueError, match="both X and y"):
        card.to_integer_score(X, None)
