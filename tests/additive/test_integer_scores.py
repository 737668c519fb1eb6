"""Small integer scores: their bins, their points, and how many features they need."""

import warnings

import aucrank
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from aucrank import RIMARC, GradientBoostingRanker, Scorecard
from aucrank._data.scores import auc_of_bins
from aucrank.additive._scorecard.integer import (
    WeightedRows,
    _variance,
    quantile_cuts,
    round_cuts,
    without_small,
)
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
    params = {"cuts": "quantiles", "max_points": 1000, "min_bin_share": 0}
    score = card.to_integer_score(frame, Y, **params)
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
        rows = WeightedRows(rng.random(2000) < 1 / (1 + np.exp(1 - values / scale)), np.ones(2000))
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
    assert auc_of_bins(WeightedRows(positive, weight).masses(places, 5)) == pytest.approx(expected)


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


def patients(n_missing, n=4000):
    """Rows of which the first lack a measurement, and who died: half of these, fewer others."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"lactate": rng.normal(size=n), "age": rng.integers(20, 90, n)})
    risk = 0.07 * (frame["age"] - 40) + 0.4 * frame["lactate"] - 3
    y = rng.random(n) < 1 / (1 + np.exp(-risk))
    frame.loc[: n_missing - 1, "lactate"] = np.nan
    y[:n_missing] = np.arange(n_missing) % 2 == 0
    return frame, y


def points_of(score, rule):
    table = score.card()
    return int(table["points"][table["rule"] == rule][0])


def test_few_missing_values_do_not_get_most_points_and_are_named():
    frame, y = patients(24)
    card = Scorecard(estimator=RIMARC(missing="value")).fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        free = card.to_integer_score(frame, y, max_points=100, min_bin_share=0)
    with pytest.warns(UserWarning, match=r"few rows, lactate is missing \(24 rows\)"):
        score = card.to_integer_score(frame, y, max_points=100)
    assert points_of(free, "lactate is missing") >= 50
    assert points_of(score, "lactate is missing") < 40
    said = "drawn to the mean of the feature, for few rows: lactate is missing (24 rows)"
    assert said in score.edits_[0].change
    assert said in " ".join(score.to_text().split())


def test_many_missing_values_keep_their_points():
    frame, y = patients(800)
    card = Scorecard(estimator=RIMARC(missing="value")).fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score = card.to_integer_score(frame, y, max_points=100)
    free = card.to_integer_score(frame, y, max_points=100, min_bin_share=0)
    mine, full = (points_of(made, "lactate is missing") for made in (score, free))
    assert full > 50
    assert mine == pytest.approx(full, abs=3)


def test_missing_values_of_few_rows_do_not_set_the_scale():
    # A weak score, with an AUC of .55, and 1 % of the rows missing, half of them positive.
    rng = np.random.default_rng(8)
    n = 5000
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    y = rng.random(n) < 1 / (1 + np.exp(1 - 0.12 * frame.sum(axis=1)))
    frame.loc[:49, "a"] = np.nan
    y[:50] = np.arange(50) % 2 == 0
    card = Scorecard().fit(frame, y)
    assert card.score(frame, y) == pytest.approx(0.56, abs=0.02)
    with pytest.warns(UserWarning, match=r"a is missing \(50 rows\)"):
        table = card.to_integer_score(frame, y).card()
    of_feature = table["feature"] == "a"
    is_missing = table["rule"] == "a is missing"
    known = table["points"][of_feature & ~is_missing]
    assert known.min() <= table["points"][is_missing][0] <= known.max()
    assert table["points"][~is_missing].max() == 10
    free = card.to_integer_score(frame, y, min_bin_share=0).card()
    assert free["points"][free["rule"] == "a is missing"] == 10
    assert free["points"][free["rule"] != "a is missing"].max() < 10


def with_a_turn(n=3000):
    """Rows whose risk rises along "a" and falls at its end, and falls along "b" but for its end."""
    rng = np.random.default_rng(9)
    frame = pd.DataFrame(rng.uniform(0, 10, size=(n, 3)), columns=["a", "b", "c"])
    up, down = (np.where(frame[c] < 9, frame[c], 12 - frame[c]) for c in ("a", "b"))
    y = rng.random(n) < 1 / (1 + np.exp(-0.4 * (up - down)))
    return frame, y


def steps_of(card, feature):
    """Return the differences of the points of neighbouring intervals."""
    table = card.card()
    is_interval = (table["feature"] == feature) & (table["rule"] != f"{feature} is missing")
    return np.diff(table["points"][is_interval])


@pytest.fixture(params=["positive", "negative"], scope="module")
def free(request):
    """Return a card without directions."""
    return Scorecard(high_points=request.param).fit(*with_a_turn())


@pytest.mark.parametrize(
    "params",
    [
        {"monotone": True},
        {"monotone": {"a": 1, "b": -1}},
        {"estimator": GradientBoostingRanker.additive(monotonic_cst={"a": 1, "b": -1})},
    ],
    ids=["all", "directions", "ranker"],
)
def test_integer_scores_and_new_cuts_keep_the_directions_of_the_card(params, free):
    frame, y = with_a_turn()
    sign = 1 if free.high_points == "positive" else -1
    card = Scorecard(high_points=free.high_points, **params).fit(frame, y)
    for make in (
        lambda of: of.to_integer_score(frame, y, cuts="quantiles", max_points=100),
        lambda of: of.with_cuts("a", [2, 4, 6, 8, 9], frame, y).with_cuts("b", [5, 9], frame, y),
    ):
        # Without directions the last interval is on the wrong side.
        assert sign * steps_of(make(free), "a")[-1] < 0
        assert sign * steps_of(make(free), "b")[-1] > 0
        kept = make(card)
        assert (sign * steps_of(kept, "a") >= 0).all()
        assert (sign * steps_of(kept, "b") <= 0).all()
        assert sign * steps_of(kept, "a").sum() > 0


@pytest.mark.parametrize(("n", "least"), [(60, 6), (500, 20), (4000, 80)])
def test_intervals_have_rows_enough(n, least):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.normal(size=n) ** 3, "b": rng.integers(0, 4, n) ** 2})
    y = rng.random(n) < 1 / (1 + np.exp(-frame["a"]))
    score = Scorecard().fit(frame, y).to_integer_score(frame, y, tolerance=0.1)
    sizes = score.card()["size"]
    assert (sizes[sizes > 0] >= least).all()


def test_a_small_interval_is_joined_with_the_neighbour_of_the_nearest_rate():
    values = np.repeat([0.0, 1.0, 2.0, 3.0], [50, 10, 50, 40])
    n_pos = [5, 6, 30, 30]
    positive = np.concatenate(
        [np.arange(n) < k for n, k in zip([50, 10, 50, 40], n_pos, strict=True)]
    )
    rows = WeightedRows(positive, np.ones(150))
    assert without_small([1.0, 2.0, 3.0], values, rows, 0) == [1.0, 2.0, 3.0]
    # Rates .1, .6, .6 and .75: the second interval goes to the third, and then they are large.
    assert without_small([1.0, 2.0, 3.0], values, rows, 20) == [1.0, 3.0]
    assert without_small([1.0, 2.0, 3.0], values, rows, 45) == [1.0]
    assert without_small([1.0, 2.0, 3.0], values, rows, 1000) == []


def test_the_variance_between_lines_is_found_under_the_noise_of_their_estimates():
    rng = np.random.default_rng(6)
    information = rng.uniform(1, 20, (400, 5))
    truth = rng.normal(scale=0.7, size=(400, 5))
    estimates = 3 + truth + rng.normal(size=(400, 5)) / np.sqrt(information)
    found = _variance(list(zip(estimates, information, strict=True)))
    assert found == pytest.approx(0.49, abs=0.05)


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
        ({"min_bin_share": 0.6}, ValueError, "min_bin_share"),
    ):
        with pytest.raises(error, match=message):
            card.to_integer_score(X, Y, **params)
    with pytest.raises(ValueError, match="both X and y"):
        card.to_integer_score(X, None)
