"""Edits of a scorecard: what they change, what they keep, and their record."""

import json
import pickle
import sqlite3
from contextlib import closing
from datetime import date

import aucrank
import numpy as np
import pytest
from aucrank import RIMARC, Scorecard
from numpy.testing import assert_array_equal
from scipy.optimize import minimize_scalar
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score

from tests.common.loans import SPECIAL, X, Y, document

POSITIVE = Y == "default"


@pytest.fixture(scope="module")
def card():
    return Scorecard(special_values=SPECIAL, min_bin_share=0.05).fit(X, Y)


def bins_of(card, feature):
    table = card.card()
    rows = table["feature"] == feature
    return table["rule"][rows].tolist(), table["points"][rows].tolist()


def others(card, feature):
    parts = card.points_by_feature(X)
    return np.delete(parts, list(X.columns).index(feature), axis=1)


@pytest.mark.parametrize("high_points", ["positive", "negative"])
def test_points_of_new_cuts_are_the_most_likely_ones_given_the_other_features(high_points):
    card = Scorecard(special_values=SPECIAL, high_points=high_points).fit(X, Y)
    weight = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    edited = card.with_cuts("months", [6, 24], X, Y, weight)
    assert_array_equal(others(edited, "months"), others(card, "months"))
    months = X["months"].to_numpy()
    known = months >= 0
    rows_of_bins = [known & (months < 6), known & (months >= 6) & (months < 24), months >= 24]
    rows_of_bins.append(months == -1)
    before = card.points(X) - card.points_by_feature(X)[:, list(X.columns).index("months")]
    factor = 20 / np.log(2)
    sign = 1 if high_points == "positive" else -1
    found = edited.points(X) - before
    for rows in rows_of_bins:
        others_say = sign * (before[rows] - 600) / factor
        mass, is_pos = weight[rows], POSITIVE[rows]
        middle = mass @ others_say / mass.sum()

        def loss(shift, others_say=others_say, mass=mass, is_pos=is_pos, middle=middle):
            own = np.where(is_pos, 1, -1) * (others_say + shift)
            half = np.logaddexp(0, -(middle + shift)) + np.logaddexp(0, middle + shift)
            return mass @ np.logaddexp(0, -own) + half / 2

        best = minimize_scalar(loss, bounds=(-15, 15), options={"xatol": 1e-10}).x
        # Totals are whole: those of the bin and of its least are rounded.
        assert abs(sign * factor * best - found[rows]).max() <= 1.0


def test_bins_against_the_direction_of_the_card_are_estimated_together():
    rng = np.random.default_rng(1)
    x = np.repeat(np.arange(6.0), 100)
    y = rng.random(600) < np.repeat([0.1, 0.3, 0.2, 0.5, 0.45, 0.4], 100)
    card = Scorecard(estimator=RIMARC(), monotone=True, pdo=2000).fit(x[:, None], y)
    points = bins_of(card.with_cuts(0, [1, 2, 3, 4, 5], x[:, None], y), "x0")[1][:-1]
    rates = np.array([y[x == k].mean() for k in range(6)])
    pools = IsotonicRegression().fit_transform(np.arange(6), rates)
    assert len(set(pools)) < 6
    evidence = []
    for pool in pools:
        rows = np.isin(x, np.flatnonzero(pools == pool))
        evidence.append(np.log((y[rows].sum() + 0.5) / ((~y[rows]).sum() + 0.5)))
    expected = 2000 / np.log(2) * (np.array(evidence) - min(evidence))
    np.testing.assert_allclose(points, expected, atol=1)


def test_points_of_a_card_with_one_feature_are_the_weights_of_evidence():
    age = X[["age"]]
    card = Scorecard(estimator=RIMARC(), pdo=2000).fit(age, Y)
    edited = card.with_cuts(0, [30, 50], age, Y)
    points = bins_of(edited, "age")[1]
    evidence = []
    for low, high in ((0, 30), (30, 50), (50, 99)):
        rows = (age["age"] >= low) & (age["age"] < high)
        evidence.append(np.log((POSITIVE[rows].sum() + 0.5) / ((~POSITIVE[rows]).sum() + 0.5)))
    exact = 2000 / np.log(2) * (np.array(evidence) - min(evidence))
    assert np.abs(points[:3] - exact).max() <= 1


def test_merged_bins_equal_those_of_a_fit():
    fine = Scorecard(estimator=RIMARC(), pdo=1000).fit(X[["age"]], Y)
    coarse = Scorecard(estimator=RIMARC(), pdo=1000, min_bin_share=0.1).fit(X[["age"]], Y)
    fine_cuts, cuts = (
        document(c)["features"][0]["bins"]["numeric"]["cuts"] for c in (fine, coarse)
    )
    assert len(cuts) < len(fine_cuts)
    merged = fine
    for place, cut in reversed(list(enumerate(fine_cuts))):
        if cut not in cuts:
            merged = merged.merge("age", [place, place + 1])
    assert document(merged)["features"][0]["bins"] == document(coarse)["features"][0]["bins"]
    # Platt's line of the coarse card is another one: a scale and a shift.
    a, b = (
        np.array(document(c)["features"][0]["points"][:-1], dtype=float) for c in (merged, coarse)
    )
    slope, shift = np.polyfit(a, b, 1)
    assert np.abs(slope * a + shift - b).max() < 2


def test_a_merge_moves_no_other_rows(card):
    rules, points = bins_of(card, "age")
    edited = card.merge("age", [1, 2], X, Y)
    new_rules, new_points = bins_of(edited, "age")
    assert len(new_rules) == len(rules) - 1
    assert min(points[1:3]) <= new_points[1] <= max(points[1:3])
    assert new_points[2:] == points[3:]
    assert_array_equal(others(edited, "age"), others(card, "age"))
    assert document(edited)["features"][0]["sums"][1]["rows"] == sum(
        document(card)["features"][0]["sums"][place]["rows"] for place in (1, 2)
    )


def test_categories_of_one_bin_have_nothing_to_merge(card):
    edited = card.merge("trade", ["clerk", "cook"], X, Y)
    for levels in (["clerk", "cook"], ("cook", "clerk"), iter(["cook", "cook"])):
        with pytest.raises(ValueError, match=r"share a bin of trade already, .*clerk.*cook"):
            edited.merge("trade", levels, X, Y)


def test_categories_merge_by_name(card):
    before = dict(zip(X["trade"], card.points_by_feature(X)[:, 3], strict=True))
    edited = card.merge("trade", ["clerk", "cook"], X, Y)
    after = dict(zip(X["trade"], edited.points_by_feature(X)[:, 3], strict=True))
    assert after["clerk"] == after["cook"]
    low, high = sorted((before["clerk"], before["cook"]))
    assert low <= after["clerk"] <= high or edited.initial_points_ != card.initial_points_
    # Those that share a bin with one of them are merged, too.
    merged = [trade for trade, points in before.items() if points in (low, high)]
    assert {after[trade] for trade in merged} == {after["clerk"]}
    assert_array_equal(edited.points(X) == card.points(X), ~X["trade"].isin(merged))


def test_points_are_those_set_and_totals_follow(card):
    rules, points = bins_of(card, "age")
    edited = card.with_points("age", rules[0], points[0] + 7, X, Y)
    moved = edited.points(X) - card.points(X)
    assert_array_equal(
        moved,
        np.where(X["age"] < document(card)["features"][0]["bins"]["numeric"]["cuts"][0], 7, 0),
    )
    for feature in document(edited)["features"]:
        assert min(feature["points"]) == 0
    negative = card.with_points("age", "missing", -5)
    assert negative.initial_points_ == card.initial_points_ - 5
    assert_array_equal(negative.points(X), card.points(X))


def test_removing_a_feature_adds_its_mean_to_the_rest(card):
    edited = card.without("age", X, Y)
    part = card.points_by_feature(X)[:, 0]
    assert "age" not in edited.card()["feature"]
    assert_array_equal(edited.points(X), card.points(X) - part + round(part.mean()))


@pytest.mark.parametrize(
    "edit",
    [
        lambda c, *rows: c.with_cuts("age", [30, 50], *(rows or (X, Y))),
        lambda c, *rows: c.merge("age", [0, 1], *rows),
        lambda c, *rows: c.with_points("age", 0, 33, *rows),
        lambda c, *rows: c.without("age", *rows),
    ],
)
def test_an_edit_counts_the_given_rows_and_does_not_change_the_old_card(card, edit):
    text = card._to_document()
    edited = edit(card, X, Y)
    assert card._to_document() == text
    assert card.edits_ == ()
    (found,) = edited.edits_
    assert found.date == date.today().isoformat()
    for auc, of in ((found.auc_before, card), (found.auc_after, edited)):
        assert auc == pytest.approx(roc_auc_score(POSITIVE, of.points(X)), abs=1e-12)
    assert edited.auc_ == pytest.approx(found.auc_after, abs=1e-12)
    assert edited.drift(X).score_psi == 0
    assert edited.drift(X).features["psi"].max() == 0
    assert edited.score_table()["size"].sum() == len(X)


def test_statistics_that_need_rows_are_missing_without_rows(card):
    edited = card.merge("age", [0, 1])
    assert edited.edits_[0].auc_before is edited.edits_[0].auc_after is None
    assert np.isnan([edited.auc_, edited.ks_]).all()
    for ask in (edited.score_table, lambda: edited.drift(X)):
        with pytest.raises(ValueError, match="give X and y to the last edit"):
            ask()
    assert "nan" not in edited.to_text()
    assert "nan" not in edited.to_html()
    again = edited.merge("age", [0, 1], X, Y)
    assert again.auc_ == pytest.approx(roc_auc_score(POSITIVE, again.points(X)))
    assert len(again.score_table()["low"]) > 3


def test_edits_are_saved_loaded_pickled_and_shown(card, tmp_path):
    edited = card.with_cuts("age", [30, 50], X, Y, date="2026-01-31")
    edited = (
        edited.without("noise", date=date(2026, 2, 1))
        if "noise" in edited.card()["feature"]
        else edited
    )
    edited = edited.merge("trade", ["=pilot", "cook"], date="2026-02-02")
    edited.save(tmp_path / "card.json")
    for back in (aucrank.load(tmp_path / "card.json"), pickle.loads(pickle.dumps(edited))):
        assert back.edits_ == edited.edits_
        assert_array_equal(back.points(X), edited.points(X))
        assert back._to_document() == edited._to_document()
        assert np.isnan(back.auc_)
    for text in (edited.to_text(), edited.to_html(), edited.to_sql()):
        assert "2026-01-31 age: cuts 30, 50" in " ".join(text.split())
    (section,) = (part for part in edited._summary() if part.title == "Changes by hand")
    assert list(section.table["date"][[0, -1]]) == ["2026-01-31", "2026-02-02"]
    assert edited.fit(X, Y).edits_ == ()


def test_a_name_cannot_end_the_comment_in_sql():
    frame = X[["age"]].rename(columns={"age": "a*/ DROP --\n/*"})
    card = Scorecard(estimator=RIMARC()).fit(frame, Y)
    edited = card.merge(0, [0, 1], frame, Y)
    sql = edited.to_sql("sqlite")
    comment = sql.splitlines()[0]
    assert comment.endswith(" */")
    assert (comment.count("/*"), comment.count("*/")) == (1, 1)
    with closing(sqlite3.connect(":memory:")) as database:
        frame.to_sql("t", database, index=False)
        rows = database.execute(f"SELECT {sql} FROM t").fetchall()
    assert [points for (points,) in rows] == edited.points(frame).tolist()


def test_row_order_copies_and_threads_do_not_matter(card):
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, len(X))
    expected = card.with_cuts("age", [30, 50], X, Y, weight, date="2026-01-31")._to_document()
    order = np.repeat(np.arange(len(X)), weight)
    rng.shuffle(order)
    found = card.with_cuts("age", [30, 50], X.iloc[order], Y[order], date="2026-01-31")
    assert found._to_document() == expected


def test_bad_edits_are_named_in_the_error(card):
    n_bins = len(bins_of(card, "age")[0])
    for edit, error, message in (
        (
            lambda: card.without("agee"),
            ValueError,
            "there is no feature 'agee'; did you mean 'age'",
        ),
        (lambda: card.without(9), ValueError, "feature 9 is not one of the 5 columns"),
        (lambda: card.without(1.5), TypeError, "feature must be a name"),
        (lambda: card.with_cuts("age", [50, 30], X, Y), ValueError, "30 comes after 50"),
        (lambda: card.with_cuts("age", [30, 30], X, Y), ValueError, "cuts must ascend"),
        (lambda: card.with_cuts("age", [float("nan")], X, Y), ValueError, "cuts must be finite"),
        (lambda: card.with_cuts("age", ["a"], X, Y), TypeError, "cuts must be numbers"),
        (lambda: card.with_cuts("age", 30, X, Y), TypeError, "cuts must be a list"),
        (
            lambda: card.with_cuts("age", [30, 900], X, Y),
            ValueError,
            "no row of X has age of at least 900",
        ),
        (lambda: card.with_cuts("trade", [3], X, Y), ValueError, "'trade' is categorical"),
        (lambda: card.merge("age", [0, 2]), ValueError, "are not next to each other"),
        (lambda: card.merge("age", [0]), ValueError, "two bins of age at least"),
        (lambda: card.merge("age", [0, 99]), ValueError, "there is no bin 99"),
        (lambda: card.merge("age", [n_bins - 2, n_bins - 1]), ValueError, "'age is missing' keeps"),
        (lambda: card.merge("trade", ["clerk", "kook"]), ValueError, "trade has no bin 'kook'"),
        (lambda: card.merge("age", "01"), TypeError, "bins must be a list"),
        (lambda: card.with_points("age", 0, float("inf")), ValueError, "whole, finite number"),
        (lambda: card.with_points("age", 0, 1.5), ValueError, "whole, finite number"),
        (lambda: card.with_points("age", 0, "1"), TypeError, "points must be a whole number"),
        (lambda: card.with_points("age", 0, 10**9), ValueError, "more than 10\\^9 points"),
        (lambda: card.without("age", X), ValueError, "both X and y"),
        (lambda: card.without("age", X, Y, date="31.1.2026"), ValueError, "date must be as in"),
        (lambda: card.without("age", X, Y, date=3), TypeError, "date must be a date"),
        (lambda: card.without("age", X[POSITIVE], Y[POSITIVE]), ValueError, "rows of both classes"),
    ):
        with pytest.raises(error, match=message):
            edit()


def test_damaged_edits_are_errors(card, tmp_path):
    edited = card.without("age", date="2026-01-31")
    header = json.loads(edited._to_document())["body"]["header"]
    for forged in (
        3,
        [3],
        [{}],
        [{**edited.edits_[0].to_json(), "auc_after": 2.0}],
        [{**edited.edits_[0].to_json(), "date": "x"}],
    ):
        header["estimator"]["params"]["edits_"] = forged
        path = tmp_path / "forged.json"
        path.write_text(aucrank._core.write_document(json.dumps(header), edited._model, None))
        with pytest.raises(aucrank.ModelFormatError, match="edit"):
            aucrank.load(path)


def test_a_rebuilt_card_has_its_numbers_to_the_bit(card):
    whole = document(card)
    features = whole["features"]
    n_bins = len(features[0]["values"])
    rng = np.random.default_rng(0)
    for exponent in range(-300, 300, 7):
        features[0]["values"] = (rng.normal(size=n_bins) * 10.0**exponent).tolist()
        model = aucrank._core.Scorecard.from_json(json.dumps(whole))
        assert json.loads(model.to_json())["features"] == features
