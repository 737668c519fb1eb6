"""Small integer scores: what the search may do, and what it says."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from aucrank import IntegerScore, load
from aucrank.datasets import load_breast_cancer
from scipy.optimize import minimize
from scipy.special import expit, xlogy
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score


def patients(n=600, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 90, n).astype(float)
    dose = rng.normal(size=n).round(2)
    dose[rng.random(n) < 0.1] = np.nan
    ward = rng.choice(["north", "south", "east", "west"], n)
    noise = rng.normal(size=n)
    twice = age * 2 + rng.normal(size=n)
    risk = 0.06 * (age - 55) + np.nan_to_num(dose) + 1.2 * (ward == "south")
    y = rng.random(n) < 1 / (1 + np.exp(-risk))
    X = pd.DataFrame({"age": age, "dose": dose, "ward": ward, "noise": noise, "twice": twice})
    return X, y


X, Y = patients()


def names_of(score):
    return [feature.name for feature in score._card.features]


def test_points_are_those_of_the_table_and_their_auc_is_exact():
    score = IntegerScore().fit(X, Y)
    table = score.card().to_frame()
    assert table.points.between(0, 10).all()
    assert (table.groupby("feature").points.min() == 0).all()
    parts = score.points_by_feature(X)
    assert np.array_equal(parts.sum(axis=1), score.points(X))
    assert score.auc_ == pytest.approx(roc_auc_score(Y, score.points(X)), abs=1e-12)
    assert score.initial_points_ == 0


def test_no_points_for_the_same_lines_exceed_the_bound():
    score = IntegerScore(max_features=3).fit(X, Y)
    parts = score.points_by_feature(X)[:, [list(X).index(name) for name in names_of(score)]]
    # Of all combinations of lines, by their rates; points tell the lines apart.
    _, cell = np.unique(parts, axis=0, return_inverse=True)
    rate = np.bincount(cell, Y) / np.bincount(cell)
    assert score.auc_bound_ >= roc_auc_score(Y, rate[cell]) - 1e-12
    one_hot = np.eye(cell.max() + 1)[cell]
    free = LogisticRegression(C=1e4, max_iter=1000).fit(one_hot, Y)
    assert roc_auc_score(Y, free.decision_function(one_hot)) <= score.auc_bound_ + 1e-12
    assert score.auc_ <= score.auc_bound_


def test_limits_hold():
    for params in (
        {"max_features": 1},
        {"max_features": 2, "max_lines": 2},
        {"max_points": 1},
        {"max_questions": 1},
        {"max_questions": 3, "max_features": 4},
        {"min_gain": 0.0, "max_lines": 3, "max_points": 3},
    ):
        score = IntegerScore(**params).fit(X, Y)
        assert len(names_of(score)) <= params.get("max_features", 5)
        assert score.card().to_frame().points.max() <= params.get("max_points", 10)
        assert 0 < score.n_questions_ <= params.get("max_questions", 10**9)
        for feature in score._card.features:
            known = [bin_ for bin_ in feature.bins if bin_.kind in ("interval", "category")]
            assert len(known) <= params.get("max_lines", 4)
            # Two lines of categories that follow one another in points are apart.
            assert all(bin_.size >= 20 for bin_ in known)
    more = [IntegerScore(max_questions=k, min_gain=0.0).fit(X, Y).auc_ for k in (1, 2, 4, 8)]
    assert more == sorted(more)
    assert more[0] < more[-1]


def test_cuts_are_round():
    score = IntegerScore().fit(X, Y)
    cuts = [cut for feature in score._card.features if feature.is_numeric for cut in feature.cuts]
    assert cuts
    for cut in cuts:
        digits = f"{cut:.15g}".replace(".", "").replace("-", "").strip("0")
        assert len(digits) <= 3


def test_lists_of_features_hold():
    required = IntegerScore(max_features=2, required_features=["noise"]).fit(X, Y)
    assert "noise" in names_of(required)
    excluded = IntegerScore(excluded_features=["age", 4]).fit(X, Y)
    assert not {"age", "twice"} & set(names_of(excluded))
    exclusive = IntegerScore(min_gain=0.0, exclusive_features=[["age", "twice"]]).fit(X, Y)
    assert len({"age", "twice"} & set(names_of(exclusive))) == 1


def test_directions_hold():
    falling = IntegerScore(monotonic_cst={"dose": -1, "age": 1}, min_gain=0.0).fit(X, Y)
    for feature in falling._card.features:
        points = [bin_.points for bin_ in feature.of_kind("interval")]
        if feature.name == "age":
            assert points == sorted(points)
        if feature.name == "dose":
            assert points == sorted(points, reverse=True)
    bank = IntegerScore(monotonic_cst={"age": 1}, high_points="negative").fit(X, Y)
    [age] = [feature for feature in bank._card.features if feature.name == "age"]
    points = [bin_.points for bin_ in age.of_kind("interval")]
    assert points == sorted(points, reverse=True)
    assert roc_auc_score(Y, bank.decision_function(X)) == pytest.approx(bank.auc_)
    assert roc_auc_score(Y, -bank.points(X)) == pytest.approx(bank.auc_)


def test_special_and_missing_values_have_lines_of_their_own():
    rows = X.assign(age=X.age.where(X.age < 80, -1.0))
    score = IntegerScore(special_values={"age": [-1]}, required_features=["age"]).fit(rows, Y)
    [age] = [feature for feature in score._card.features if feature.name == "age"]
    [never] = age.of_kind("special")
    # The oldest are at most risk, although -1 is the least number.
    assert never.points == max(bin_.points for bin_ in age.bins)


def test_weights_are_copies_and_order_and_threads_do_not_matter():
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, len(Y))
    weighted = IntegerScore(n_jobs=1).fit(X, Y, weight)
    copies = np.repeat(np.arange(len(Y)), weight)
    copied = IntegerScore(n_jobs=2).fit(X.iloc[rng.permutation(copies)], Y[copies], None)
    shuffled = rng.permutation(copies)
    copied = IntegerScore(n_jobs=2).fit(X.iloc[shuffled], Y[shuffled])
    assert json.loads(weighted.to_json()) == json.loads(copied.to_json())
    assert weighted.auc_bound_ == copied.auc_bound_


def test_risk_has_intervals():
    table = IntegerScore(max_features=2).fit(X, Y).risk_table(confidence=0.9).to_frame()
    assert table["size"].sum() == len(Y)
    assert table.n_pos.sum() == Y.sum()
    assert table.points.is_monotonic_increasing
    assert table.size_up_to.iloc[-1] == 1
    for row in table.itertuples():
        found = binomtest(int(row.n_pos), int(row[2])).proportion_ci(0.9, method="wilson")
        assert (row.low, row.high) == pytest.approx(tuple(found))


def test_without_a_signal_there_is_no_feature():
    rng = np.random.default_rng(1)
    rows, y = rng.normal(size=(300, 3)), rng.random(300) < 0.3
    score = IntegerScore(min_gain=5.0).fit(rows, y)
    assert names_of(score) == []
    assert score.n_questions_ == 0
    assert score.auc_ == score.auc_bound_ == 0.5
    assert score.predict_proba(rows)[:, 1] == pytest.approx(y.mean(), abs=0.01)
    assert "No feature distinguishes" in score.to_text()


def test_time_that_is_over_leaves_a_score():
    score = IntegerScore(time_limit=1e-9).fit(X, Y)
    assert score.auc_ > 0.6


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"required_features": ["old"]}, ValueError, "'old', which is not a column"),
        ({"required_features": "age"}, TypeError, "must be a list of columns"),
        ({"excluded_features": ["age", 0]}, ValueError, "holds column 'age' twice"),
        ({"excluded_features": list(X)}, ValueError, "holds all columns"),
        ({"exclusive_features": ["age"]}, TypeError, "must be a list of columns"),
        ({"max_features": 1, "required_features": [0, 1]}, ValueError, "max_features is 1"),
        ({"max_questions": 1, "required_features": [0, 1]}, ValueError, "max_questions is 1"),
        (
            {"required_features": [0], "excluded_features": ["age"]},
            ValueError,
            "both hold column 'age'",
        ),
        (
            {"required_features": [0, 4], "exclusive_features": [[4, 0]]},
            ValueError,
            "'age' and 'twice', of which exclusive_features allows one",
        ),
        ({"monotonic_cst": {"ward": 1}}, ValueError, "ward"),
        ({"time_limit": 0}, ValueError, "time_limit"),
        ({"max_points": 0}, ValueError, "max_points"),
        ({"max_lines": 1}, ValueError, "max_lines"),
    ],
)
def test_contradictions_are_named(params, error, message):
    with pytest.raises(error, match=message):
        IntegerScore(**params).fit(X, Y)


def test_a_required_feature_of_one_value_is_named():
    with pytest.raises(ValueError, match="column 'flat' is required, but"):
        IntegerScore(required_features=["flat"]).fit(X.assign(flat=1.0), Y)


class _Text(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_data(self, data):
        self.found.append(data.strip())


def test_it_is_written_saved_and_exported(tmp_path):
    score = IntegerScore(max_features=3).fit(X, Y)
    text, page = score.to_text(), _Text()
    assert text.startswith("INTEGER SCORE: many points speak for class True")
    assert "Add up the points of one line of each block." in text
    assert "ranker" not in text
    page.feed(score.to_html())
    assert "Add up the points of one line of each block." in page.found
    score.save(tmp_path / "score.aucrank")
    again = load(tmp_path / "score.aucrank")
    assert isinstance(again, IntegerScore)
    assert (again.auc_, again.auc_bound_) == (score.auc_, score.auc_bound_)
    assert again.to_text() == text
    assert 'WHEN "age"' in score.to_sql()
    assert "<Scorecard" in score.to_pmml()
    edited = score.with_points(names_of(score)[0], 0, 3, X, Y, date="2026-01-31")
    assert "Changed by hand" in edited.to_text()
    # The bound is one of the lines of the fit.
    assert "no other points" in text
    assert "no other points" not in edited.to_text()


def test_breast_cancer_needs_two_features():
    rows, y = load_breast_cancer(return_X_y=True, as_frame=True)
    assert IntegerScore(max_features=2).fit(rows, y).auc_ > 0.98


def test_the_calculator_has_all_lines_and_the_scale_of_the_score():
    rows = X.rename(columns={"age": 'age"><script>'})
    score = IntegerScore(max_features=3).fit(rows, Y)
    page = score.to_calculator()
    assert page.count("<script>") == 1
    script = page.split("<script>")[1].split("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
    values = [int(value) for value in re.findall(r'name="q\d+" value="(\d+)"', page)]
    assert sorted(values) == sorted(b.points for f in score._card.features for b in f.bins)
    scale = {
        name: float(re.search(f'data-{name}="([^"]+)"', page)[1])
        for name in ("initial", "offset", "factor", "sign")
    }
    totals = score.points(rows)
    log_odds = scale["sign"] * (totals - scale["offset"]) / scale["factor"]
    assert 1 / (1 + np.exp(-log_odds)) == pytest.approx(score.predict_proba(rows)[:, 1])
    assert {int(points) for points in re.findall(r'data-points="(\d+)"', page)} == set(totals)


def test_log_odds_are_shrunk_by_the_number_of_questions():
    score = IntegerScore(max_features=3).fit(X, Y)
    points = score.points(X)
    n_pos, n_neg = Y.sum(), (1 - Y).sum()
    target = np.where(Y == 1, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))

    def loss(line):
        p = expit(line[0] + line[1] * points)
        return -(xlogy(target, p) + xlogy(1 - target, 1 - p)).sum()

    intercept, slope = minimize(loss, [0.0, 0.1], method="Nelder-Mead", tol=1e-12).x
    p, share = expit(intercept + slope * points), Y.mean()
    likelihood = np.where(Y == 1, np.log(p), np.log1p(-p)).sum()
    ratio = 2 * (likelihood - n_pos * np.log(share) - n_neg * np.log(1 - share))
    kept = ratio / (ratio + 8 * score.n_questions_)
    log_odds = score.decision_function(X)
    shrunk = (np.ptp(log_odds) / np.ptp(points)) / slope
    assert shrunk == pytest.approx(kept, rel=1e-4)
    assert score.predict_proba(X)[:, 1].mean() == pytest.approx(p.mean(), rel=1e-6)
