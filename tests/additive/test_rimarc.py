"""RIMARC against its definition; invariances."""

import json
import sqlite3
import warnings
from itertools import pairwise

import aucrank
import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank import MAD2C, RIMARC, ColumnWarning
from aucrank.datasets import load_breast_cancer
from aucrank.metrics import roc_auc_score
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from tests.common.oracles import midpoint


def rate(group):
    """Return the share of positives of a least and a largest value with their weights."""
    return group[2] / group[3]


class PlainRIMARC:
    """The algorithm of the paper, written plainly.

    A number is cut between all of its values, then neighbours whose shares of positives are not in
    order are joined until none are left: what remains are the corners of the hull. Missing values
    are NaN or None.
    """

    def fit(self, X, y, weight=None):
        y = np.asarray(y, dtype=bool)
        weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
        self.prevalence = weight[y].sum() / weight.sum()
        self.features = []
        for column in X.columns:
            values = X[column].to_numpy()
            known = ~pd.isna(values) & (weight > 0)
            if X[column].dtype.kind == "f":
                cuts = self.cut(values[known], y[known], weight[known])
                bins = np.searchsorted(cuts, values[known], side="right")
            else:
                cuts, bins = None, values[known]
            score = {
                b: weight[known][y[known] & (bins == b)].sum() / weight[known][bins == b].sum()
                for b in set(bins)
            }
            scores = np.array([score[b] for b in bins])
            self.features.append((cuts, score, self.gini(scores, y[known], weight[known])))
        return self

    def cut(self, values, y, weight):
        """Both directions; in each, join neighbours whose shares are not in strict order."""
        best = (-1.0, np.array([]))
        for sign in (1, -1):
            groups = [
                [value, value, weight[y & (values == value)].sum(), weight[values == value].sum()]
                for value in np.unique(values)
            ]
            while True:
                for k in range(len(groups) - 1):
                    if sign * (rate(groups[k + 1]) - rate(groups[k])) <= 1e-12:
                        low, high = groups[k], groups[k + 1]
                        groups[k : k + 2] = [[low[0], high[1], low[2] + high[2], low[3] + high[3]]]
                        break
                else:
                    break
            cuts = np.array([midpoint(a[1], b[0]) for a, b in pairwise(groups)])
            scores = sign * np.searchsorted(cuts, values, side="right")
            area = self.gini(scores, y, weight)
            if area > best[0] + 1e-12:
                best = (area, cuts)
        return best[1]

    def gini(self, scores, y, weight):
        """(7) and (8), pair by pair."""
        pairs = np.outer(weight[y], weight[~y])
        if not pairs.size:
            return 0.0
        return np.sum(pairs * np.sign(scores[y][:, None] - scores[~y])) / pairs.sum()

    def predict(self, X):
        """(9)."""
        out = []
        for row in X.to_numpy(dtype=object):
            top = bottom = 0.0
            for value, (cuts, score, weight) in zip(row, self.features, strict=True):
                if pd.isna(value):
                    continue
                place = value if cuts is None else np.searchsorted(cuts, value, side="right")
                if place in score:
                    top += weight * score[place]
                    bottom += weight
            out.append(top / bottom if bottom > 1e-12 else self.prevalence)
        return np.array(out)

    @property
    def weights(self):
        return np.array([weight for *_, weight in self.features])


def patients(seed, n=120, missing=0.15):
    """Rising, falling and noise numbers, and a category; some values repeat or are missing."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    X = pd.DataFrame(
        {
            "up": (rng.normal(size=n) + y).round(1),
            "down": (2 * rng.normal(size=n) - 2 * y).round(0),
            "noise": rng.normal(size=n).round(1),
            "kind": pd.Categorical(
                rng.choice(["a", "b", "c", "d"], n, p=[0.4, 0.3, 0.2, 0.1])
            ).set_categories(["d", "c", "b", "a", "unused"]),
        }
    )
    X.loc[y & (rng.random(n) < 0.5), "kind"] = "c"
    return X.mask(rng.random(X.shape) < missing), y


def newcomers(seed):
    """Other rows, some with an unseen category, some with all values missing."""
    X, _ = patients(seed, n=200, missing=0.4)
    X["kind"] = X["kind"].astype(object)
    X.loc[::9, "kind"] = "stranger"
    X.loc[::20] = np.nan
    X["kind"] = X["kind"].astype("category")
    return X.astype({"up": float, "down": float, "noise": float})


# ------------------------------------------------------------------------------- the definition


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_and_probabilities_are_those_of_the_paper(seed, weighted):
    X, y = patients(seed)
    weight = np.random.default_rng(seed).uniform(0, 2, len(y)) if weighted else None
    expected = PlainRIMARC().fit(X, y, weight)
    model = RIMARC().fit(X, y, sample_weight=weight)
    assert_allclose(model.weights_, expected.weights, atol=1e-12)
    for rows in (X, newcomers(seed + 50)):
        plain = expected.predict(rows)
        assert len(np.unique(plain)) > 50
        assert_allclose(model.predict_proba(rows)[:, 1], plain, atol=1e-12)
        assert_allclose(model.decision_function(rows), plain - 0.5, atol=1e-12)


def test_the_auc_of_a_single_feature_follows_from_its_weight():
    X, y = patients(3, missing=0.0)
    for name in X:
        model = RIMARC().fit(X[[name]], y)
        assert model.score(X[[name]], y) == pytest.approx(0.5 + model.feature_importances_[0])


def test_the_outputs_agree_on_the_sign():
    X, y = patients(1)
    model = RIMARC().fit(X, y)
    rows = newcomers(9)
    scores = model.decision_function(rows)
    assert_array_equal(model.predict(rows), scores > 0)
    assert_array_equal(model.predict_proba(rows)[:, 1] > 0.5, scores > 0)
    order = np.argsort(scores)
    assert (np.diff(model.predict_proba(rows)[order, 1]) >= 0).all()


# ------------------------------------------------------------------- what it must not depend on


OPTIONS = [
    RIMARC(),
    RIMARC(shrinkage=1.5, missing="value"),
    RIMARC(weight_folds=4, special_values=[-1.0], random_state=0),
]
options = pytest.mark.parametrize("model", OPTIONS, ids=repr)


def scores(model, X, y, new=None, **given):
    """Scores of the training rows, or of others."""
    return model.fit(X, y, **given).decision_function(X if new is None else new)


@options
def test_the_order_of_rows_and_columns_and_the_threads_do_not_matter(model):
    X, y = patients(0)
    expected = scores(model, X, y)
    order = np.random.default_rng(0).permutation(len(y))
    assert_array_equal(scores(model, X.iloc[order], y[order], X), expected)
    assert_array_equal(scores(RIMARC(**{**model.get_params(), "n_jobs": 2}), X, y), expected)
    if model.weight_folds is None:
        # Folds are assigned by a hash of the row in the order of its columns.
        assert_array_equal(scores(model, X.iloc[:, ::-1], y), expected)


@options
def test_weight_k_equals_k_copies_and_weight_zero_no_row(model):
    X, y = patients(1)
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), counts)
    expected = scores(model, X.iloc[rows], y[rows], X)
    card = model.scorecard()
    assert_array_equal(scores(model, X, y, sample_weight=counts), expected)
    for name, column in model.scorecard().items():
        assert_array_equal(column, card[name])
    # All weights in other units: the same but for the rows of the shrinkage.
    if model.shrinkage == 0:
        assert_array_equal(scores(model, X, y, sample_weight=counts * 0.5), expected)
        assert model.scorecard()["size"].sum() == card["size"].sum() / 2


@options
def test_exchanging_the_classes_changes_the_sign(model):
    X, y = patients(2)
    assert_array_equal(scores(model, X, ~y), -scores(model, X, y))


@pytest.mark.parametrize("model", OPTIONS[:2], ids=repr)
def test_only_the_order_of_a_number_matters_on_the_training_rows(model):
    X, y = patients(4)
    expected = scores(model, X, y)
    bent = X.assign(up=np.exp(X["up"]), down=-X["down"], noise=X["noise"] ** 3)
    assert_array_equal(scores(model, bent, y), expected)


@options
def test_equal_rows_have_equal_scores(model):
    X, y = patients(5)
    twice = pd.concat([X, X], ignore_index=True)
    both = scores(model, X, y, twice)
    assert_array_equal(both[: len(y)], both[len(y) :])


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_every_kind_of_frame_gives_the_same_scores(kind):
    X, y = patients(6)
    X = X.assign(kind=X["kind"].cat.remove_unused_categories(), flag=np.arange(len(y)) % 3 == 0)
    expected = scores(RIMARC(), X, y)
    if kind == "pandas":
        other = X.assign(kind=X["kind"].astype(object).where(X["kind"].notna(), None))
        other["kind"] = other["kind"].astype("string")
    else:
        other = pl.from_pandas(X, nan_to_null=True)
        other = other.to_arrow() if kind == "pyarrow" else other
    assert_array_equal(scores(RIMARC(), other, y), expected)


def test_categories_are_matched_by_value():
    X, y = patients(7)
    model = RIMARC().fit(X, y)
    other = X.assign(kind=X["kind"].cat.reorder_categories(["unused", "b", "a", "d", "c"]))
    assert_array_equal(model.decision_function(other), model.decision_function(X))


@options
def test_a_saved_model_is_the_same(model, tmp_path):
    X, y = patients(8)
    expected = scores(model, X, y)
    model.save(tmp_path / "model.json")
    back = aucrank.load(tmp_path / "model.json")
    assert_array_equal(back.decision_function(X), expected)
    assert repr(back.scorecard()) == repr(model.scorecard())
    assert back.weight_folds_ == model.weight_folds_


# ------------------------------------------------------------------------------------ the edges


def test_unknown_values_do_not_affect_the_score():
    X, y = patients(0)
    model = RIMARC().fit(X, y)
    nothing = X.iloc[:1].copy()
    nothing[:] = np.nan
    assert model.predict_proba(nothing)[0, 1] == model.prevalence_ == y.mean()
    assert model.decision_function(nothing)[0] == model.base_score_
    assert model.base_score_ == pytest.approx(y.mean() - 0.5, abs=1e-16)
    assert_array_equal(model.explain(nothing), np.zeros((1, 4)))
    # One value alone has its own score; an unseen one counts as missing.
    one = nothing.assign(up=X["up"].max())
    assert model.predict_proba(one)[0, 1] == pytest.approx(score_of(model, "up", X["up"].max()))
    strange = nothing.assign(kind="stranger")
    assert model.decision_function(strange)[0] == model.base_score_


def score_of(model, name, value):
    card = model.scorecard()
    (score,) = (
        score
        for feature, rule, score in zip(card["feature"], card["rule"], card["score"], strict=True)
        if feature == name and eval(rule, {name: value})
    )
    return score


def test_an_uninformative_feature_has_no_weight_and_is_listed():
    y = np.array([0, 0, 1, 1, 1])
    X = pd.DataFrame(
        {
            "constant": 1.0,
            "never": np.nan,
            "of one class": [np.nan, np.nan, 1.0, 2.0, 3.0],
            "good": [0.0, 1, 2, 3, 4],
            "even": pd.Categorical([*"ab", *"abc"]).set_categories([*"abc"]),
        }
    )
    model = RIMARC().fit(X.drop(columns="even"), y)
    assert model.weights_.tolist() == [0, 0, 0, 1]
    assert model.scorecard()["feature"].tolist() == ["good", "good", "constant", "of one class"]
    assert model.predict_proba(X.drop(columns="even"))[:, 1].tolist() == y.tolist()
    assert "Without weight: constant, never, of one class." in model.rules()
    assert set(model.terms()["feature"]) == {"good"}


def test_a_score_is_the_weighted_mean_of_what_mad2c_transforms_to():
    X, y = patients(0)
    X.loc[::6, "down"] = -7.0
    bins = MAD2C(encode="rate", special_values=[-7]).fit(X, y)
    model = RIMARC(special_values=[-7]).fit(X, y)
    assert_allclose(model.weights_, 2 * bins.aucs_ - 1, atol=1e-15)
    new = newcomers(3).dropna(how="all")
    rates = bins.transform(new)
    known = np.isfinite(rates)
    new, rates, known = (rows[known.any(axis=1)] for rows in (new, rates, known))
    assert not known.all()
    mean = np.nansum(rates * model.weights_, axis=1) / (known * model.weights_).sum(axis=1)
    assert_allclose(model.predict_proba(new)[:, 1], mean, atol=1e-14)
    # Both tables print the same bins.
    table, card = bins.bins(), model.scorecard()
    named = np.isfinite(table["bin"])
    of_bins = zip(*(table[column][named] for column in ("feature", "rule", "rate")), strict=True)
    of_card = zip(*(card[column] for column in ("feature", "rule", "score")), strict=True)
    assert sorted(of_bins) == sorted(of_card)


def test_constant_features_give_the_prevalence():
    model = RIMARC().fit(np.ones((4, 2)), [0, 0, 0, 1])
    assert model.predict_proba([[1.0, 2.0]])[0, 1] == 0.25
    assert model.terms().n_rows == 0
    assert model.to_sql() == "-0.25e0"
    pytest.importorskip("matplotlib").use("agg")
    with pytest.raises(ValueError, match="there is nothing to draw"):
        model.plot_terms()


def test_one_row_of_each_class_is_ranked():
    model = RIMARC().fit([[1.0], [2.0]], [0, 1])
    assert model.predict_proba([[1.4], [1.5]])[:, 1].tolist() == [0, 1]


# ---------------------------------------------------------------------------------- the options


def test_shrinkage_adds_rows_of_the_prevalence():
    X, y = patients(0)
    plain, shrunk = RIMARC().fit(X, y), RIMARC(shrinkage=3).fit(X, y)
    a, b = plain.scorecard(), shrunk.scorecard()
    rate = (b["n_pos"] + 3 * y.mean()) / (b["size"] + 3)
    assert_allclose(b["score"], rate, atol=1e-15)
    assert_allclose(a["score"], a["n_pos"] / a["size"], atol=1e-15)
    # Among so many rows no bin is informative.
    assert np.ptp(RIMARC(shrinkage=1e15).fit(X, y).decision_function(X)) < 1e-12


def test_missing_values_can_count_as_a_value():
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.4
    X = pd.DataFrame({"a": np.where(rng.random(300) < 0.2 + 0.6 * y, np.nan, 1.0), "b": 1.0})
    ignorant = RIMARC().fit(X, y)
    assert ignorant.weights_.tolist() == [0, 0]
    model = RIMARC(missing="value").fit(X, y)
    assert model.weights_[0] == pytest.approx(2 * roc_auc_score(y, X["a"].isna()) - 1)
    rate = y[X["a"].isna()].mean()
    assert model.predict_proba(X[X["a"].isna()])[0, 1] == pytest.approx(rate)
    card = model.scorecard()
    assert card["rule"][1] == "a is missing"
    assert card["score"][1] == rate
    # A feature without missing training values still adds nothing where it is missing.
    model = RIMARC(missing="value").fit(X[["b"]].assign(a=np.arange(300.0) + 200 * y), y)
    nothing = pd.DataFrame({"b": [np.nan], "a": [np.nan]})
    assert model.predict_proba(nothing)[0, 1] == model.prevalence_


def test_a_special_value_has_a_score_of_its_own():
    rng = np.random.default_rng(1)
    y = rng.random(400) < 0.5
    age = np.where(rng.random(400) < 0.2 + 0.3 * y, -1.0, (rng.normal(50, 9, 400) + 9 * y).round())
    model = RIMARC(special_values=[-1, 999]).fit(pd.DataFrame({"age": age}), y)
    r = lambda age: model.predict_proba(pd.DataFrame({"age": [age]}))[0, 1]  # noqa: E731
    own = r(-1.0)
    assert own == pytest.approx(y[age == -1].mean())
    youngest = r(age[age > 0].min())
    assert youngest < 0.3 < 0.5 < own
    # Nobody was 999 years old.
    assert r(999.0) == model.prevalence_
    card = model.scorecard()
    assert "age = -1" in card["rule"]
    assert not any("= 999" in rule and "<" not in rule for rule in card["rule"])


@pytest.mark.parametrize("direction", [1, -1])
def test_a_number_ranks_in_the_requested_direction(direction):
    X, y = patients(2, missing=0.0)
    model = RIMARC(monotonic_cst={"up": direction}).fit(X[["up"]], y)
    rising = model.decision_function(pd.DataFrame({"up": np.linspace(-3, 4, 50)}))
    assert (np.diff(rising) * direction >= 0).all()
    assert (model.weights_[0] > 0.3) == (direction == 1)


def test_cross_fitted_weights_do_not_overfit_an_identifier_column():
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.5
    X = pd.DataFrame(
        {
            "name": pd.Categorical([f"n{k}" for k in rng.integers(0, 200, 400)]),
            "x": rng.normal(size=400) + y,
        }
    )
    with pytest.warns(ColumnWarning, match="Column 'name' looks like an identifier") as found:
        plain = RIMARC(level_rates="raw").fit(X, y)
    assert len(found) == 1
    assert found[0].filename == __file__
    assert plain.weights_[0] > 0.6
    assert plain.weight_folds_ is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [
            RIMARC(level_rates="raw", weight_folds=5, random_state=seed).fit(X, y)
            for seed in range(5)
        ]
    model = models[0]
    assert model.weight_folds_ == 5
    assert np.mean([one.weights_[0] for one in models]) < 0.2
    assert model.weights_[1] == pytest.approx(plain.weights_[1], abs=0.1)
    # The bins are those of all rows.
    assert_array_equal(np.sort(model.scorecard()["size"]), np.sort(plain.scorecard()["size"]))


@pytest.mark.parametrize(
    ("X", "folds", "message"),
    [
        (
            [[1.0], [2.0], [3.0], [4.0], [2.0]],
            2,
            "A class has 2 distinct rows, so there are as man",
        ),
        ([[1.0], [2.0], [3.0], [2.0], [2.0]], None, "A class has one distinct row, so no row can"),
    ],
)
def test_too_few_rows_for_cross_fitting_raise_a_warning(X, folds, message):
    with pytest.warns(UserWarning, match=message) as found:
        model = RIMARC(weight_folds=5).fit(X, [0, 1, 0, 1, 1])
    assert len(found) == 1
    assert model.weight_folds_ == folds
    if folds is None:
        assert model.weights_ == RIMARC().fit(X, [0, 1, 0, 1, 1]).weights_


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"shrinkage": -1}, r"shrinkage must be in \[0.0, inf\), got -1"),
        ({"shrinkage": np.inf}, "shrinkage must be in"),
        ({"shrinkage": np.nan}, "shrinkage must be in"),
        ({"shrinkage": "much"}, "shrinkage must be a number"),
        ({"weight_folds": 1}, "weight_folds must be from 2 to 65534, got 1"),
        ({"weight_folds": 10**6}, "weight_folds must be from 2 to 65534"),
        ({"weight_folds": 2.5}, "weight_folds must be an int or None"),
        ({"missing": "guess"}, "missing must be one of 'ignore', 'value'; got 'guess'"),
        ({"monotonic_cst": [2]}, "monotonic_cst must be -1, 0 or 1, got 2"),
        ({"special_values": [np.nan]}, "special_values must be a list of finite numbers"),
    ],
)
def test_invalid_parameters_are_rejected(params, message):
    with pytest.raises((ValueError, TypeError), match=message):
        RIMARC(**params).fit([[1.0], [2.0]], [0, 1])


# --------------------------------------------------------------------------- what a person reads


def test_the_scorecard_is_sorted_and_counts_every_known_row():
    X, y = patients(0)
    model = RIMARC().fit(X, y)
    card = model.scorecard()
    assert (np.diff(card["weight"]) <= 0).all()
    for name, weight in zip(X, model.weights_, strict=True):
        of = card["feature"] == name
        assert (card["weight"][of] == weight).all()
        assert card["size"][of].sum() == X[name].notna().sum()
        assert card["n_pos"][of].sum() == y[X[name].notna()].sum()
    kinds = card["feature"] == "kind"
    assert (np.diff(card["score"][kinds]) <= 0).all()
    assert card["size"].dtype == card["n_pos"].dtype == np.int64
    # Fractions of weights are shown as they are.
    model.fit(X, y, sample_weight=np.full(len(y), 0.25))
    assert model.scorecard()["size"].sum() == card["size"].sum() / 4


def test_the_rules_contain_the_whole_scorecard():
    X, y = patients(0)
    model = RIMARC().fit(X, np.where(y, "ill", "healthy"))
    # Of the two labels the second in order is positive.
    text = model.rules()
    assert text.startswith(f"Positive is 'ill', negative 'healthy': {y.sum()} of 120 training rows")
    lines = [line.strip() for line in text.splitlines()]
    for row in zip(*model.scorecard().values(), strict=True):
        _, rule, size, n_pos, score, _ = row
        said = [line for line in lines if line.startswith(f"{rule}:")]
        assert said == [
            s for s in said if s.endswith(f"{n_pos} of {size} positive, score {score:.2f}")
        ]
        assert len(said) == 1
    heads = [line.split(" (")[0] for line in lines if "(weight" in line]
    assert heads == [X.columns[k] for k in np.argsort(-model.weights_, kind="stable")]
    short = model.rules(n_features=1)
    assert short.count("(weight") == 1
    assert f"Of weight {np.sort(model.weights_)[-2]:.2f} and less: " in short
    with pytest.raises(ValueError, match="n_features must be at least 1, got 0"):
        model.rules(n_features=0)


def test_terms_add_up_to_the_score_of_a_complete_row():
    X, y = patients(0)
    model = RIMARC(special_values=[0.0]).fit(X, y)
    terms = model.terms()
    complete = X.dropna()
    assert len(complete) > 40
    for row, score in zip(complete.itertuples(), model.decision_function(complete), strict=True):
        parts = [
            value
            for name, rule, value in zip(*terms.values(), strict=True)
            if holds(rule, name, getattr(row, name))
        ]
        assert len(parts) == 4
        assert sum(parts) + model.base_score_ == pytest.approx(score, abs=1e-14)
    for name in X:
        rules, values = terms["rule"][terms["feature"] == name], terms["value"]
        assert rules[-1] == f"{name} is missing"
        assert values[terms["feature"] == name][-1] == 0


def holds(rule, name, value):
    """Whether a value satisfies a printed rule."""
    if rule.endswith("is missing"):
        return False
    rule, _, apart = rule.partition(" except ")
    if apart and value in map(float, apart.split(", ")):
        return False
    if " = " in rule:
        said = rule.split(" = ")[1]
        return value == said if isinstance(value, str) else value == float(said)
    # Values have one digit, and cuts two.
    return eval(rule, {name: value})


@options
def test_parts_add_up_to_the_score(model):
    X, y = patients(0)
    model.fit(X, y)
    for rows in (X, newcomers(3)):
        parts = model.explain(rows)
        assert parts.shape == rows.shape
        expected = model.decision_function(rows) - model.base_score_
        assert_allclose(parts.sum(axis=1), expected, atol=1e-14)
        if model.missing == "ignore":
            assert (parts[rows.isna().to_numpy()] == 0).all()


def test_nothing_is_shown_before_a_fit():
    model = RIMARC()
    for ask in ("scorecard", "rules", "terms", "to_sql", "plot_terms"):
        with pytest.raises(NotFittedError):
            getattr(model, ask)()
    for name in ("weights_", "prevalence_", "base_score_", "feature_importances_"):
        with pytest.raises(NotFittedError):
            getattr(model, name)


# -------------------------------------------------------------------------------------------- SQL


def strange_table(seed):
    X, y = patients(seed, n=600)
    X = X.rename(columns={"up": 'the "up"'})
    X["it's"] = np.random.default_rng(seed).choice(["it's", "a\\b", "tv"], len(y))
    X.loc[y[: len(y)] & (X["it's"] == "tv"), "it's"] = "a\\b"
    X["third"] = X["noise"] / 3
    X["float"] = X["down"].astype(np.float32) / 7
    return X, y


@options
@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_databases_give_the_very_same_scores(model, database):
    X, y = strange_table(0)
    model.fit(X, y)
    new, _ = strange_table(1)
    new["kind"] = new["kind"].astype(object).where(np.arange(len(y)) % 9 > 0, "stranger")
    new.loc[::20, :] = None
    new.loc[::7, "down"] = -1.0
    expected = model.decision_function(
        new.assign(kind=new["kind"].astype("category"), **{"it's": new["it's"].astype("category")})
    )
    query = f"SELECT {model.to_sql()} FROM patients"
    frame = new.astype(object).where(new.notna(), None)
    if database == "sqlite":
        with sqlite3.connect(":memory:") as connection:
            new.to_sql("patients", connection, index=False)
            found = [score for (score,) in connection.execute(query)]
    else:
        duckdb = pytest.importorskip("duckdb")
        types = ["FLOAT" if name == "float" else "DOUBLE" for name in new]
        for name in ("kind", "it's"):
            types[list(new).index(name)] = "VARCHAR"
        columns = [
            f'"{name.replace(chr(34), chr(34) * 2)}" {type_}'
            for name, type_ in zip(new, types, strict=True)
        ]
        with duckdb.connect(":memory:") as connection:
            connection.execute(f"CREATE TABLE patients ({', '.join(columns)})")
            marks = ", ".join("?" * len(columns))
            connection.executemany(f"INSERT INTO patients VALUES ({marks})", frame.values.tolist())
            found = [score for (score,) in connection.execute(query).fetchall()]
    assert len(set(found)) > 100
    assert_array_equal(found, expected)


def test_dialects_quote_in_their_own_way():
    X, y = strange_table(0)
    model = RIMARC().fit(X, y)
    assert '"the ""up"""' in model.to_sql()
    assert '`the "up"`' in model.to_sql("mysql")
    assert '[the "up"]' in model.to_sql("tsql")
    with pytest.raises(ValueError, match="dialect must be one of 'ansi', 'sqlite'"):
        model.to_sql("prolog")


# ------------------------------------------------------------------------------- pictures and CLI


def test_a_picture_shows_every_value():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    X, y = patients(0)
    X.loc[::5, "up"] = -1.0
    model = RIMARC(special_values=[-1.0]).fit(X, y)
    display = model.plot_terms(["up", "kind"])
    first, second = display.axes_
    (stairs,) = first.patches
    terms = model.terms()
    values = terms["value"][terms["feature"] == "up"]
    # The last two are the special value and the missing ones.
    assert stairs.get_data().values.tolist() == values[:-2].tolist()
    lines = {line.get_label(): line.get_ydata()[0] for line in first.lines}
    assert lines == {"= -1": values[-2], "missing": values[-1]}
    heights = sorted(bar.get_height() for bar in second.patches)
    known = terms["value"][terms["feature"] == "kind"][:-1]
    assert_allclose(heights, np.sort(known))
    with pytest.raises(ValueError, match="there is no feature 'weight'"):
        model.plot_terms(["weight"])
    matplotlib.pyplot.close("all")


def test_describe_prints_the_scorecard(tmp_path, capsys):
    from aucrank.cli import main

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = RIMARC().fit(X[["worst_area", "mean_texture"]], y)
    model.save(tmp_path / "model.json")
    assert main(["describe", str(tmp_path / "model.json")]) == 0
    out = capsys.readouterr().out
    assert "Scores of values (2 features of any weight)" in out
    assert f"; {model.base_score_:.6g} where nothing is known" in out
    for rule in model.scorecard()["rule"]:
        assert rule in out


def test_fit_and_compare_run_with_rimarc(tmp_path, capsys):
    from aucrank.cli import main

    X, y = patients(0, n=300)
    data = tmp_path / "data.csv"
    X.assign(ill=y.astype(int)).to_csv(data, index=False)
    given = ["--target", "ill"]
    saved = tmp_path / "model.json"
    assert main(["fit", str(data), *given, "--model", "RIMARC", "--output", str(saved)]) == 0
    assert json.loads(saved.read_text())["body"]["header"]["estimator"]["class"] == "RIMARC"
    capsys.readouterr()
    assert main(["compare", str(data), *given, "--models", "RIMARC", "--folds", "3"]) == 0
    assert "RIMARC" in capsys.readouterr().out
