"""Scorecards: points against their definition, written plainly on the terms of the ranker."""

import copy
import json
import pickle
import sqlite3
from contextlib import closing

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank import (
    AURORA,
    MAD2C,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    RankBoost,
    Scorecard,
    TreeRank,
)
from aucrank.data import Dataset
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV

from tests.common.loans import LABELS, SPECIAL, X, Y, document, loans


@pytest.fixture(scope="module")
def default_card():
    return Scorecard().fit(X, Y)


def bins_of(feature, values):
    """Return the bin of each raw value of a numeric column, written plainly."""
    numeric = feature["bins"]["numeric"]
    n_bins = len(numeric["cuts"]) + 1 + len(numeric["special"])
    found = []
    for value in values:
        if np.isnan(value):
            found.append(n_bins)
        elif value in numeric["special"]:
            found.append(len(numeric["cuts"]) + 1 + numeric["special"].index(value))
        else:
            found.append(sum(value >= cut for cut in numeric["cuts"]))
    return np.array(found)


# Points.


@pytest.mark.parametrize("high_points", ["positive", "negative"])
def test_points_equal_those_computed_by_hand_from_the_terms_of_rimarc(high_points):
    ranker = RIMARC(missing="value").fit(X, Y)
    card = Scorecard(
        estimator=RIMARC(missing="value"),
        high_points=high_points,
        base_points=500,
        base_odds=3,
        pdo=50,
        min_bin_share=0,
    ).fit(X, Y)
    # The score of each row by the step functions, one feature at a time.
    values = np.zeros((len(X), X.shape[1]))
    for term in json.loads(ranker._step_functions()):
        column = X.iloc[:, term["feature"]]
        if "numeric" in term:
            place = np.searchsorted(term["numeric"]["thresholds"], column, side="right")
            value = np.array(term["numeric"]["values"])[
                np.minimum(place, len(term["numeric"]["values"]) - 1)
            ]
            value = np.where(np.isnan(column), term["missing"], value)
        else:
            levels = sorted(X["trade"].cat.categories)
            known = dict(zip(levels, term["categorical"]["values"], strict=True))
            value = column.astype(object).map(known).fillna(term["missing"])
            value = value.astype(float)
        values[:, term["feature"]] = value
    positive = Y == "default"
    score = values.sum(axis=1)
    assert card.exact_auc_ == pytest.approx(roc_auc_score(positive, score), abs=1e-12)
    assert card.ranker_auc_ == pytest.approx(
        roc_auc_score(positive, ranker.decision_function(X)), abs=1e-12
    )
    # Platt's line by another optimiser, on soft targets as weighted rows of both classes.
    n_pos, n_neg = positive.sum(), (~positive).sum()
    target = np.where(positive, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))
    centred = (score - score.mean()) / score.std()
    line = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(
        np.concatenate((centred, centred))[:, None],
        np.repeat([1, 0], len(X)),
        sample_weight=np.concatenate((target, 1 - target)),
    )
    slope = line.coef_[0, 0] / score.std()
    intercept = line.intercept_[0] - slope * score.mean()
    factor = 50 / np.log(2)
    sign = 1 if high_points == "positive" else -1
    exact = sign * factor * slope * values
    offset = 500 - factor * np.log(3)
    # The lowest value of a feature may be one that no training row has.
    lowest = np.zeros(X.shape[1])
    for term in json.loads(ranker._step_functions()):
        steps = term.get("numeric", term.get("categorical"))["values"]
        lowest[term["feature"]] = min(sign * factor * slope * v for v in [*steps, term["missing"]])
    assert_allclose(card.points_by_feature(X), exact - lowest, atol=0.5 + 1e-3)
    initial = offset + sign * factor * intercept + lowest.sum()
    assert card.initial_points_ == pytest.approx(initial, abs=0.5 + 1e-3)


def test_points_of_features_add_up_to_the_total():
    card = Scorecard(special_values=SPECIAL).fit(X, Y)
    points, parts = card.points(X), card.points_by_feature(X)
    assert points.dtype == parts.dtype == np.int64
    assert_array_equal(parts.sum(axis=1) + card.initial_points_, points)
    low, high = card.points_range_
    assert low == card.initial_points_ <= points.min() <= points.max() <= high
    assert (parts >= 0).all()
    for feature in document(card)["features"]:
        assert min(feature["points"]) == 0 < max(feature["points"])
    added = card.explain(X).sum(axis=1) + card.base_score_
    assert_allclose(added, card.decision_function(X), atol=1e-12)
    assert (card.feature_importances_[parts.max(axis=0) == 0] == 0).all()


@pytest.mark.parametrize("high_points", ["positive", "negative"])
def test_pdo_more_points_double_the_odds_and_base_points_have_base_odds(high_points):
    card = Scorecard(base_points=1000, base_odds=0.25, pdo=33, high_points=high_points).fit(X, Y)
    assert card.odds(1000) == pytest.approx(0.25)
    assert_allclose(card.odds([1033, 1066, 967]), [0.5, 1.0, 0.125])
    p = card.predict_proba(X)[:, 1]
    odds = p / (1 - p) if high_points == "positive" else (1 - p) / p
    assert_allclose(card.odds(card.points(X)), odds)
    assert_allclose(card.probability_at(card.points(X)), p)
    assert_allclose(card.points_at(p), card.points(X))
    assert_allclose(card.decision_function(X), np.log(p / (1 - p)), atol=1e-9)


def test_high_points_for_the_other_class_mirror_the_card():
    turned = np.where(Y == "default", "agreed", "default")
    for high_points, other in (("positive", "negative"), ("negative", "positive")):
        ranker = RIMARC(missing="value")
        first = Scorecard(estimator=ranker, high_points=high_points, pdo=30).fit(X, Y)
        second = Scorecard(estimator=ranker, high_points=other, pdo=30).fit(X, turned)
        assert_array_equal(first.points(X), second.points(X))
        assert first.auc_ == second.auc_


def test_losses_are_differences_of_aucs_as_scikit_learn_has_them():
    params = {"estimator": RIMARC(missing="value"), "min_bin_share": 0.1}
    card = Scorecard(**params, pdo=3).fit(X, Y)
    assert card.auc_ == pytest.approx(roc_auc_score(Y, card.points(X)), abs=1e-12)
    assert card.auc_ == pytest.approx(card.score(X, Y), abs=1e-12)
    # With very fine points, which are the scaled values.
    fine = Scorecard(**params, pdo=1e6).fit(X, Y)
    assert fine.rounding_loss_ == pytest.approx(0, abs=1e-7)
    assert card.exact_auc_ == fine.exact_auc_ == pytest.approx(fine.auc_, abs=1e-7)
    values = RIMARC(missing="value").fit(X, Y).decision_function(X)
    assert card.ranker_auc_ == pytest.approx(roc_auc_score(Y, values), abs=1e-12)
    assert card.rounding_loss_ == card.exact_auc_ - card.auc_ != 0
    assert card.merging_loss_ == card.ranker_auc_ - card.exact_auc_ > 0


def test_the_ks_distance_is_that_of_scipy():
    from scipy.stats import ks_2samp

    card = Scorecard().fit(X, Y)
    points = card.points(X)
    expected = ks_2samp(points[Y == "default"], points[Y == "agreed"]).statistic
    assert card.ks_ == pytest.approx(expected, abs=1e-12)


def test_importances_are_aucs_of_points_alone():
    card = Scorecard(special_values=SPECIAL).fit(X, Y)
    parts = card.points_by_feature(X)
    expected = [max(0, roc_auc_score(Y == "default", column) - 0.5) for column in parts.T]
    assert_allclose(card.feature_importances_, expected, atol=1e-12)


# Bins.


@pytest.mark.parametrize("estimator", [None, AUCBoost(n_rounds=30), RankBoost(n_rounds=50)])
@pytest.mark.parametrize("share", [0.03, 0.1, 0.3])
def test_bins_hold_their_share_of_rows(estimator, share):
    card = Scorecard(estimator=estimator, min_bin_share=share, special_values=SPECIAL).fit(X, Y)
    n_small = 0
    for feature in document(card)["features"]:
        column = X.iloc[:, feature["feature"]]
        if "numeric" in feature["bins"]:
            found = bins_of(feature, column.to_numpy(dtype=float))
            n_known = len(feature["bins"]["numeric"]["cuts"]) + 1
        else:
            codes = feature["bins"]["categorical"]["bin_of_level"]
            bin_of = dict(zip(sorted(X["trade"].cat.categories), codes, strict=True))
            n_known = feature["bins"]["categorical"]["n_bins"]
            found = np.array([bin_of.get(level, n_known) for level in column])
        rows = np.bincount(found, minlength=len(feature["sums"]))
        assert [sums["rows"] for sums in feature["sums"]] == rows.tolist()
        assert n_known == 1 or rows[:n_known].min() / len(X) >= share
        n_small += (rows[n_known:] / len(X) < share).sum()
    assert n_small > 0  # Special and missing values keep their bins.


def skewed_rows(n):
    """Rows of a count with a thin tail and of a few rare categories; the risk rises with both."""
    rng = np.random.default_rng(7)
    visits = rng.geometric(0.4, n)
    kind = rng.choice(list("abcde"), n, p=[0.5, 0.47, 0.02, 0.007, 0.003])
    risk = 0.5 * visits + 0.3 * (kind > "b") - 2
    frame = pd.DataFrame({"visits": visits, "kind": pd.Categorical(kind)})
    return frame, rng.random(n) < 1 / (1 + np.exp(-risk))


@pytest.mark.parametrize(("n", "least"), [(60, 6), (600, 20), (30_000, 30)])
@pytest.mark.parametrize(
    "estimator",
    [
        GradientBoostingRanker.additive(monotonic_cst={"visits": 1}, random_state=0),
        RIMARC(),
        RankBoost(),
    ],
    ids=["booster", "RIMARC", "RankBoost"],
)
def test_a_line_has_20_rows_or_a_tenth_of_all_unless_turned_off(estimator, n, least):
    frame, y = skewed_rows(n)

    def sizes(**params):
        table = Scorecard(estimator=estimator, pdo=200, **params).fit(frame, y).card()
        return table["size"][~np.char.endswith(table["rule"], "is missing")]

    assert sizes().min() >= least
    assert sizes(min_bin_share=0.1).min() >= max(0.1 * n, least)
    if n == 600:
        assert sizes(min_bin_share=0).min() < least


def test_the_least_number_of_rows_does_not_depend_on_the_unit_of_weights():
    frame, y = skewed_rows(900)
    card = Scorecard(pdo=200).fit(frame, y)
    for unit in (1e-3, 0.7, 5.5):
        weighted = Scorecard(pdo=200).fit(frame, y, np.full(900, unit))
        assert weighted.card()["rule"].tolist() == card.card()["rule"].tolist()
    # A row of weight 3 is three rows.
    copies = np.repeat(np.arange(900), 3)
    expected = Scorecard(pdo=200).fit(frame.iloc[copies], y[copies])
    assert_array_equal(
        Scorecard(pdo=200).fit(frame, y, np.full(900, 3)).points(frame), expected.points(frame)
    )


@pytest.mark.parametrize(
    "estimator",
    [RankBoost(), RIMARC(shrinkage=300.0)],
)
def test_monotone_points_only_rise_or_only_fall(estimator):
    numbers = X.drop(columns="trade")
    params = {"estimator": estimator, "special_values": SPECIAL, "pdo": 200}

    def is_monotone(feature):
        points = feature["points"][: len(feature["bins"]["numeric"]["cuts"]) + 1]
        return (np.diff(points) >= 0).all() or (np.diff(points) <= 0).all()

    free = Scorecard(**params).fit(numbers, Y)
    if not isinstance(estimator, RIMARC):
        assert not all(map(is_monotone, document(free)["features"]))
    card = Scorecard(monotone=True, min_bin_share=0.02, **params).fit(numbers, Y)
    assert all(map(is_monotone, document(card)["features"]))
    some = Scorecard(monotone=["age", 1], **params).fit(numbers, Y)
    for mine, other in zip(document(some)["features"], document(free)["features"], strict=True):
        if mine["feature"] in (0, 1):
            assert is_monotone(mine)
        else:
            assert mine["bins"] == other["bins"]


@pytest.mark.parametrize(
    "estimator",
    [
        None,
        RankBoost(n_rounds=30),
        AUCBoost(n_rounds=10),
        AURORA(order=1, max_features=5, depth="shallow", random_state=0),
        RIMARC(shrinkage=100.0),
    ],
)
@pytest.mark.parametrize(("high_points", "sign"), [("positive", 1), ("negative", -1)])
def test_monotone_takes_directions_of_the_positive_class(estimator, high_points, sign):
    params = {"estimator": estimator, "special_values": SPECIAL, "high_points": high_points}
    # In the rows risk falls with age and with income.
    card = Scorecard(monotone={"age": np.int64(-1), 1: 1, "months": 0}, pdo=200, **params).fit(X, Y)
    steps = {}
    for feature in document(card)["features"]:
        if "numeric" in feature["bins"]:
            n_bins = len(feature["bins"]["numeric"]["cuts"]) + 1
            steps[feature["feature"]] = sign * np.diff(feature["points"][:n_bins])
    assert (steps[0] < 0).all()
    assert len(steps[0]) > 0
    # Against its trend, income has points for missing values at most.
    assert len(steps.get(1, [])) == 0
    free = Scorecard(monotone=["age"], pdo=200, **params).fit(X, Y)
    assert card.auc_ < free.auc_


def test_directions_are_those_of_the_ranker():
    given = {"age": -1, "income": 1}
    ranker = RIMARC(missing="value")
    expected = Scorecard(estimator=clone(ranker).set_params(monotonic_cst=given)).fit(X, Y)
    card = Scorecard(estimator=ranker, monotone=given).fit(X, Y)
    assert_array_equal(card.points(X), expected.points(X))
    assert ranker.monotonic_cst is None
    assert clone(card).get_params()["monotone"] == given


def test_special_and_missing_values_have_bins_of_their_own():
    ranker = RIMARC(missing="value")
    card = Scorecard(estimator=ranker, special_values=SPECIAL, min_bin_share=0.4).fit(X, Y)
    table = card.card()
    rules = dict(zip(table["rule"].tolist(), table["size"].tolist(), strict=True))
    assert rules["months = -1"] == (X["months"] == -1).sum()
    assert rules["income is missing"] == X["income"].isna().sum()
    assert rules["trade is missing"] == X["trade"].isna().sum()
    # None on the card means those of the ranker.
    of_ranker = Scorecard(estimator=RIMARC(special_values=SPECIAL, missing="value")).fit(X, Y)
    expected = Scorecard(estimator=ranker, special_values=SPECIAL).fit(X, Y)
    assert_array_equal(of_ranker.points(X), expected.points(X))
    # A booster knows of none: the bin has the value of its step.
    boosted = Scorecard(estimator=RankBoost(n_rounds=60), special_values=SPECIAL, pdo=300).fit(X, Y)
    rules = boosted.card()["rule"].tolist()
    assert "months = -1" in rules


def test_a_special_value_among_others_has_points_by_its_own_share():
    rng = np.random.default_rng(0)
    months = rng.integers(0, 60, 2000).astype(float)
    # 30 stands for "never", which is worse than any number of months.
    y = rng.random(2000) < np.where(months == 30, 0.9, months / 100)
    frame = pd.DataFrame({"months": months})
    default, own, of_ranker = (
        Scorecard(**params).fit(frame, y).points(pd.DataFrame({"months": [0.0, 29, 30, 31, 59]}))
        for params in (
            {"special_values": [30]},
            {"estimator": RIMARC(missing="value"), "special_values": [30]},
            {"estimator": RIMARC(special_values=[30], missing="value")},
        )
    )
    assert own.tolist() == of_ranker.tolist()
    for points in (own, default):
        assert points[0] < points[1] <= points[3] < points[4] < points[2]


@pytest.mark.parametrize("direction", [None, [1, 0], {"months": 1}])
def test_special_values_do_not_count_by_their_size_in_gradient_boosting(direction):
    rng = np.random.default_rng(0)
    months = rng.choice([30.0, 45.0, 50.0, *range(60)], 3000, p=[0.1] * 3 + [0.7 / 60] * 60)
    y = rng.random(3000) < np.select(
        [months == 30, months == 45, months == 50], [0.9, 0.5, 0.1], months / 100
    )
    noise = rng.normal(size=3000)
    frame = pd.DataFrame({"months": np.where(months == 50, np.nan, months), "noise": noise})
    ranker = GradientBoostingRanker.additive(random_state=0)
    if direction is not None:
        ranker.set_params(monotonic_cst=direction)
    card = Scorecard(estimator=ranker, special_values={"months": [45, 30]}, pdo=500).fit(frame, y)
    table = card.card()
    value_of = dict(zip(table["rule"].tolist(), table["points"].tolist(), strict=True))
    # Points are a line along log-odds: those of the shares of positives, shrunk a little.
    points = [value_of[f"months {what}"] for what in ("is missing", "= 45", "= 30")]
    log_odds = [np.log(share / (1 - share)) for share in (0.1, 0.5, 0.9)]
    steps = np.diff(points) / (np.diff(log_odds) * 500 / np.log(2))
    assert np.all((steps > 0.7) & (steps < 1.3))
    # Their size does not matter.
    other = frame.replace({"months": {30.0: 1e9, 45.0: -1.0}})
    moved = clone(card).set_params(special_values={"months": [-1, 1e9]}).fit(other, y)
    assert_allclose(moved.decision_function(other), card.decision_function(frame), atol=0.5)
    if direction is not None:
        known = [months for months in range(60) if months not in (30, 45, 50)]
        points = card.points(pd.DataFrame({"months": known, "noise": 0.0}))
        assert np.all(np.diff(points) >= 0)


def test_a_special_value_at_a_cut_is_left_out_of_the_interval_above():
    frame = pd.DataFrame({"x": np.repeat([1.0, 2.0, 3.0], 20)})
    y = np.arange(60) % 20 >= np.repeat([15, 10, 5], 20)
    card = Scorecard(estimator=RIMARC(missing="value"), special_values=[2]).fit(frame, y)
    bins = MAD2C(special_values=[2])
    for table in (card.card(), bins.fit(frame, y).bins()):
        known = table["rule"][table["size"] > 0]
        assert known.tolist() == ["x < 2", "x >= 2 except 2", "x = 2"]
        assert table["size"][table["size"] > 0].tolist() == [20, 20, 20]
    # The card cuts where its ranker does, not at the next number.
    assert card.to_sql().count('WHEN "x" < 2 THEN 0') == 1


def test_a_database_computes_points_or_the_score():
    card = Scorecard().fit(X, Y)
    with closing(sqlite3.connect(":memory:")) as database:
        pd.DataFrame(X).to_sql("rows", database, index=False)
        for output, expected in (("points", card.points(X)), ("score", card.decision_function(X))):
            query = f"SELECT {card.to_sql('sqlite', output=output)} FROM rows"
            found = [value for (value,) in database.execute(query)]
            np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="output"):
        card.to_sql(output="odds")


def test_values_that_the_ranker_ignores_have_the_points_of_the_overall_share():
    ranker = RIMARC(missing="ignore").fit(X, Y)
    card = Scorecard(estimator=RIMARC(missing="ignore"), pdo=5000, min_bin_share=0).fit(X, Y)
    for name in ("income", "trade"):
        terms, table = ranker.terms(), card.card()
        values = terms["value"][terms["feature"] == name]
        points = table["points"][table["feature"] == name].astype(float)
        assert values[-1] == 0
        # Points are a line along what the terms add, on which 0 is a row of the overall share.
        share = (0 - values.min()) / np.ptp(values)
        assert points[-1] == pytest.approx(share * points.max(), abs=1)
    assert not np.allclose(card.points_by_feature(X[X["income"].isna()])[:, 1], 0)


def test_categories_are_matched_by_value_and_unseen_ones_are_missing():
    card = Scorecard().fit(X, Y)
    other = X.assign(trade=X["trade"].astype(object))
    assert_array_equal(card.points(other), card.points(X))
    strangers = X.assign(trade="astronaut")
    missing = X.assign(trade=pd.Categorical([None] * len(X), categories=["cook"]))
    assert_array_equal(card.points(strangers), card.points(missing))


# Supported rankers.


def test_a_frozen_ranker_is_not_fitted_again():
    first, y_first = loans(1000, 5)
    ranker = RankBoost(n_rounds=40).fit(first, y_first == "bad")
    frozen = FrozenEstimator(ranker)
    card = Scorecard(estimator=frozen, pdo=2000, min_bin_share=0).fit(X, Y == "default")
    assert card.ranker_auc_ == pytest.approx(
        roc_auc_score(Y, ranker.decision_function(X)), abs=1e-12
    )
    assert card.exact_auc_ == pytest.approx(card.ranker_auc_, abs=1e-12)
    # Where a bin holds rows, its points are the ranker's value on the scale of log-odds.
    terms = ranker.explain(X)
    parts = card.points_by_feature(X).astype(float)
    slopes = np.polyfit(terms.sum(axis=1), parts.sum(axis=1), 1)
    assert_allclose(parts.sum(axis=1), np.polyval(slopes, terms.sum(axis=1)), atol=4)
    assert_array_equal(clone(card).fit(X, Y == "default").points(X), card.points(X))


def test_categories_of_a_frozen_ranker_are_matched_by_value():
    ranker = RankBoost(n_rounds=40).fit(X, Y)
    # Other codes: a level of the ranker is gone, and a new one sorts first.
    trade = X["trade"].astype(object).where(X["trade"] != "cook", "baker")
    rows = X.assign(trade=trade)
    card = Scorecard(estimator=FrozenEstimator(ranker), pdo=500, min_bin_share=0).fit(rows, Y)
    known = rows["trade"] != "baker"
    assert card.ranker_auc_ == pytest.approx(
        roc_auc_score(Y, ranker.decision_function(rows)), abs=1e-12
    )
    assert card.exact_auc_ == pytest.approx(card.ranker_auc_, abs=1e-12)
    terms = ranker.explain(rows)[:, 3]
    parts = card.points_by_feature(rows)[:, 3]
    order = np.argsort(terms[known], kind="stable")
    assert (np.diff(parts[known][order]) >= 0).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.drop(columns="age"), "X has 4 features, but the fitted RIMARC is expecting 5"),
        (lambda X: X.rename(columns={"age": "Age"}), "column 'Age' of X is 'age' in the fitted"),
        (
            lambda X: X.assign(age=X["age"].astype(str)),
            "column 'age' is categorical, but was numer",
        ),
    ],
)
def test_columns_other_than_those_of_a_frozen_ranker_raise_an_error(change, message):
    card = Scorecard(estimator=FrozenEstimator(RIMARC().fit(X, Y)))
    with pytest.raises(ValueError, match=message):
        card.fit(change(X), Y)
    with pytest.raises(ValueError, match=r"ranks the classes .* but y has"):
        card.fit(X, LABELS)


@pytest.mark.parametrize(
    ("estimator", "error", "message"),
    [
        (TreeRank(), TypeError, "estimator must be a RIMARC, RankBoost, AUCBoost, Gradient"),
        (LogisticRegression(), TypeError, "estimator must be"),
        (FrozenEstimator(LogisticRegression()), TypeError, "estimator must be"),
        ("rimarc", TypeError, "estimator must be"),
        (RIMARC, TypeError, "estimator must be"),
        (RankBoost(weak_ranker="tree"), ValueError, "with weak_ranker='tree'"),
        (AUCBoost(weak_ranker=LogisticRegression()), ValueError, "with weak_ranker=Logistic"),
        (GradientBoostingRanker(), ValueError, "with interactions=None, .*: interactions=0"),
        (
            FrozenEstimator(GradientBoostingRanker(n_rounds=5).fit(X, Y)),
            ValueError,
            "test several features",
        ),
        (FrozenEstimator(RIMARC()), NotFittedError, "not fitted yet"),
        (RIMARC(categorical_features=[3]), ValueError, "set categorical_features of the Scorecard"),
        (RIMARC(shrinkage=-1), ValueError, "shrinkage"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_estimators_without_a_scorecard_are_rejected(estimator, error, message):
    with pytest.raises(error, match=message):
        Scorecard(estimator=estimator).fit(X, Y)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"base_points": np.nan}, ValueError, "base_points"),
        ({"base_points": "600"}, TypeError, "base_points must be a number"),
        ({"base_odds": 0}, ValueError, "base_odds"),
        ({"base_odds": np.inf}, ValueError, "base_odds"),
        ({"pdo": -20}, ValueError, "pdo"),
        ({"pdo": 1e9}, ValueError, "pdo is 1000000000.*no row has more than 10.9 points"),
        ({"high_points": "good"}, ValueError, "high_points must be one of"),
        ({"min_bin_share": 0.6}, ValueError, "min_bin_share"),
        ({"monotone": 1}, TypeError, "monotone must be True, False or a list of columns"),
        ({"monotone": "age"}, TypeError, "by name or position, got 'age'"),
        # A direction for each column, as monotonic_cst takes it, and not the columns 1 and 0.
        (
            {"monotone": [1, 0, 0, 0, 0]},
            ValueError,
            "twice; directions of columns are",
        ),
        ({"monotone": pd.Series({"age": 1})}, TypeError, "a dict from columns to 1 or -1"),
        ({"monotone": {"Age": 1}}, ValueError, "column that X does not have: 'Age'"),
        ({"monotone": {"age": 2}}, ValueError, "monotone must be -1, 0 or 1 for 'age', got 2"),
        ({"monotone": {"age": True}}, ValueError, "for 'age', got True"),
        ({"monotone": {"age": 1, 0: -1}}, ValueError, "column 'age' twice, in two directions"),
        ({"monotone": {"trade": 1}}, ValueError, "column 'trade', which is categorical"),
        (
            {"monotone": {"age": 1}, "estimator": RankBoost(monotonic_cst={"age": 1})},
            ValueError,
            "so does monotonic_cst of the RankBoost",
        ),
        (
            {"monotone": {"age": 1}, "estimator": FrozenEstimator(RIMARC().fit(X, Y))},
            ValueError,
            "the RIMARC is fitted already",
        ),
        ({"monotone": ["Age"]}, ValueError, "monotone names a column that X does not have: 'Age'"),
        ({"monotone": [5]}, ValueError, "a position in monotone must be from 0 to 4"),
        ({"monotone": ["trade"]}, ValueError, "column 'trade', which is categorical"),
        ({"special_values": [np.inf]}, ValueError, "special_values"),
        ({"special_values": {"Age": [1]}}, ValueError, "special_values names columns"),
        ({"special_values": -1}, ValueError, "special_values"),
    ],
    ids=str,
)
def test_invalid_parameters_are_rejected(default_card, params, error, message):
    card = copy.deepcopy(default_card)
    with pytest.raises(error, match=message):
        card.set_params(**params).fit(X, Y)
    with pytest.raises(NotFittedError):
        card.points(X)


def test_many_rows_have_a_ranker_of_fewer_bags_and_coarser_steps():
    rows, labels = loans(8000, 1)
    rows, y = rows[["age", "months"]], labels == "bad"

    def lines(n_rows=8000, weight=None, **params):
        usual = {"max_bins": 16, "refit": True, "random_state": 0}
        ranker = GradientBoostingRanker.additive(**(usual | params)) if params else None
        card = Scorecard(estimator=ranker).fit(rows[:n_rows], y[:n_rows], weight)
        return card.to_text()

    of_many = {"n_bags": 4, "learning_rate": 0.2}
    assert lines() == lines(**of_many) != lines(n_bags=8)
    assert lines(7999) == lines(7999, n_bags=8)
    # A row of weight 2 counts as two rows.
    twice = np.full(4000, 2)
    assert lines(4000, twice) == lines(4000, twice, **of_many)
    assert lines(4000, twice / 4) == lines(4000, twice / 4, n_bags=8)
    of_file = Dataset.from_batches(
        rows[:4000].assign(y=y[:4000], twice=twice), target="y", weight="twice"
    )
    assert Scorecard().fit(of_file).to_text() == lines(4000, twice)


def test_methods_called_before_the_fit():
    card = Scorecard()
    for question in (
        *(card.card, card.to_text, card.to_html, card.to_csv, card.score_table),
        *(lambda: card.points(X), lambda: card.explain(X), lambda: card.reason_codes(X)),
        *(lambda: card.odds(600), lambda: card.points_at(0.5), lambda: card.auc_, lambda: card.ks_),
    ):
        with pytest.raises(NotFittedError):
            question()


# The estimator.


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"min_bin_share": 0.05, "monotone": True, "special_values": SPECIAL},
        {"estimator": RankBoost(n_rounds=20), "high_points": "negative"},
    ],
    ids=str,
)
def test_weights_are_copies_and_order_and_threads_do_not_matter(params):
    rng = np.random.default_rng(1)
    copies = rng.integers(0, 4, len(X))
    rows = rng.permutation(np.repeat(np.arange(len(X)), copies))
    expected = Scorecard(**params).fit(X, Y, sample_weight=copies)
    for n_jobs in (1, 2):
        found = Scorecard(n_jobs=n_jobs, **params).fit(X.iloc[rows], Y[rows])
        assert found._model.to_json() == expected._model.to_json()
    assert_array_equal(found.points(X), expected.points(X))


def test_fractional_weights_may_have_any_scale():
    weight = np.random.default_rng(2).random(len(X))
    expected = Scorecard().fit(X, Y, sample_weight=weight)
    for scale in (2.0**-40, 2.0**40):
        found = Scorecard().fit(X, Y, sample_weight=weight * scale)
        assert_array_equal(found.points(X), expected.points(X))
    # The odds are those of weighted rows.
    half = Scorecard().fit(X, Y, sample_weight=np.where(Y == "default", 0.5, 0.25))
    plain = Scorecard().fit(X, Y)
    shift = half.decision_function(X).mean() - plain.decision_function(X).mean()
    assert shift == pytest.approx(np.log(2), abs=0.1)


def test_probabilities_are_calibrated_on_the_training_rows():
    card = Scorecard(pdo=200).fit(X, Y)
    assert card.predict_proba(X)[:, 1].mean() == pytest.approx((Y == "default").mean(), abs=3e-3)


@pytest.mark.parametrize("monotone", [["age"], {"age": -1, 1: 0}], ids=str)
def test_saved_and_pickled_cards_are_the_same(tmp_path, monotone):
    card = Scorecard(estimator=RIMARC(shrinkage=2.0), special_values=SPECIAL, monotone=monotone)
    card.fit(X, Y)
    card.save(tmp_path / "card.json")
    for back in (aucrank.load(tmp_path / "card.json"), pickle.loads(pickle.dumps(card))):
        assert_array_equal(back.points(X), card.points(X))
        assert repr(back) == repr(card)
        assert back.to_text() == card.to_text()
        assert (back.auc_, back.exact_auc_, back.ranker_auc_) == (
            *(card.auc_, card.exact_auc_, card.ranker_auc_),
        )


def test_points_without_training_rows_are_no_baseline_for_reasons():
    kinds = pd.DataFrame({"kind": ["a", "b", None] * 60})
    # Where the kind is missing, all are positive; no row that the card is made of misses it.
    y = np.where(kinds["kind"].isna(), 1, np.arange(180) % 4 < np.where(kinds["kind"] == "a", 3, 1))
    ranker = RIMARC(missing="value").fit(kinds, y)
    known = kinds["kind"].notna().to_numpy()
    card = Scorecard(estimator=FrozenEstimator(ranker)).fit(kinds[known], y[known])
    table = card.card()
    points = dict(zip(table["rule"].tolist(), table["points"].tolist(), strict=True))
    assert points["kind is missing"] > points["kind = a"] > points["kind = b"] == 0
    rows = pd.DataFrame({"kind": ["a", "b", None]}, dtype=object)
    codes, lost = card.reason_codes(rows, 1, return_points=True)
    assert codes.tolist() == [[None], ["kind"], [None]]
    assert lost.tolist() == [[0], [points["kind = a"]], [0]]
    # Less a fraction, by which no two features of a document tie.
    assert f'baselineScore="{points["kind = a"] - 0.1:.1f}"' in card.to_pmml()


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (RIMARC(weight_folds=10), "there are as many folds, not weight_folds=10"),
        (RankBoost(), "No weak ranker is better than chance"),
    ],
)
def test_a_warning_of_the_ranker_points_to_the_line_that_fits_the_card(estimator, message):
    rows = pd.DataFrame({"trade": pd.Categorical(["a", "b", "c"] * 4)})
    with pytest.warns(UserWarning, match=message) as found:
        Scorecard(estimator=estimator).fit(rows, np.repeat([0, 1], 6))
    assert [warning.filename for warning in found] == [__file__]


def test_parameters_of_the_ranker_can_be_searched():
    search = GridSearchCV(
        Scorecard(estimator=RIMARC()),
        {"pdo": [1, 50], "estimator__shrinkage": [0.0, 5.0]},
        cv=3,
    ).fit(X, Y)
    assert set(search.best_params_) == {"pdo", "estimator__shrinkage"}
    copy = clone(search.best_estimator_)
    shrinkage = search.best_params_["estimator__shrinkage"]
    assert copy.get_params()["estimator__shrinkage"] == shrinkage
    assert_array_equal(copy.fit(X, Y).points(X), search.best_estimator_.points(X))


def test_the_ranker_of_the_user_is_never_fitted():
    ranker = RIMARC()
    Scorecard(estimator=ranker).fit(X, Y)
    assert not ranker.__sklearn_is_fitted__()


def test_a_ranker_without_a_seed_gets_that_of_the_card():
    ranker = RankBoost(n_rounds=10, subsample=0.3)
    card = Scorecard(estimator=ranker, random_state=3).fit(X, Y)
    again = Scorecard(estimator=ranker, random_state=3).fit(X, Y)
    seeded = Scorecard(estimator=clone(ranker).set_params(random_state=3)).fit(X, Y)
    other = Scorecard(estimator=ranker, random_state=4).fit(X, Y)
    assert_array_equal(card.points(X), again.points(X))
    assert_array_equal(card.points(X), seeded.points(X))
    assert not np.array_equal(card.points(X), other.points(X))
