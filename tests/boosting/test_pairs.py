"""Pairs of features in GradientBoostingRanker: how they are chosen and shown."""

import sqlite3

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from aucrank import GradientBoostingRanker, Scorecard, load
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from tests.common.loans import loans

mpl.use("agg")
import matplotlib.pyplot as plt

FRAME, BAD = loans(1500, 0)


def additive(**params):
    settings = {"interactions": 10, "n_bags": 2, "n_rounds": 200, "random_state": 0}
    return GradientBoostingRanker.additive(**settings | params)


def planted(n_rows, n_noise, seed=0):
    """Return rows whose class depends on a product and a category, among columns of noise."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, 2 + n_noise))
    X = pd.DataFrame(numbers, columns=["a", "b", *(f"noise {k}" for k in range(n_noise))])
    X["town"] = pd.Categorical(rng.choice(["north", "south", "east", "west"], n_rows))
    X.loc[rng.random(n_rows) < 0.2, "b"] = np.nan
    log_odds = 1.5 * X["a"] * X["b"].fillna(0.0) + (X["town"] == "east")
    return X, (rng.random(n_rows) < 1 / (1 + np.exp(-log_odds))).to_numpy()


@pytest.mark.parametrize("seed", range(3))
def test_a_product_is_found_and_nothing_else(seed):
    X, y = planted(3000, 12, seed)
    model = additive().fit(X[:2000], y[:2000])
    assert model.pairs_ == [(0, 1)]
    without = additive(interactions=0).fit(X[:2000], y[:2000])
    assert model.score(X[2000:], y[2000:]) > without.score(X[2000:], y[2000:]) + 0.1
    assert without.pairs_ == []


def test_noise_has_no_pairs_and_the_model_is_that_of_single_features():
    n_taken = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(600, 10))
        y = rng.random(600) < 1 / (1 + np.exp(-X[:, 0]))
        model = additive(n_bags=1).fit(X, y)
        if model.pairs_:
            n_taken += 1
            continue
        alone = clone(model).set_params(interactions=0).fit(X, y)
        assert_array_equal(model.decision_function(X), alone.decision_function(X))
        assert model.term_names_ == [f"x{place}" for place in range(10)]
    # One fit in fifty by simulation: three of twelve have a chance of one in six hundred.
    assert n_taken < 3


def test_at_most_the_requested_pairs_are_chosen_strongest_first():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 6))
    log_odds = 2 * X[:, 0] * X[:, 1] + 0.8 * X[:, 2] * X[:, 3]
    y = rng.random(4000) < 1 / (1 + np.exp(-log_odds))
    assert additive(interactions=1).fit(X, y).pairs_ == [(0, 1)]
    assert additive(interactions=2).fit(X, y).pairs_ == [(0, 1), (2, 3)]
    assert additive(interactions=1000).fit(X, y).pairs_ == [(0, 1), (2, 3)]


def test_the_strongest_pairs_are_three_per_feature_and_include_the_informative_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 8))
    # Every feature with its neighbour on either side.
    log_odds = 0.5 * (X * np.roll(X, 1, axis=1)).sum(axis=1)
    y = rng.random(4000) < 1 / (1 + np.exp(-log_odds))
    with_pairs, alone = (
        additive(interactions=given, n_bags=5).fit(X[:1500], y[:1500]) for given in ("auto", 0)
    )
    assert with_pairs.score(X[1500:], y[1500:]) > alone.score(X[1500:], y[1500:]) + 0.15
    neighbours = {tuple(sorted((k, (k + 1) % 8))) for k in range(8)}
    assert neighbours <= set(with_pairs.pairs_)
    assert len(with_pairs.pairs_) <= 24


def test_the_strongest_pairs_of_noise_lower_the_auc_little():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 10))
    y = rng.random(4000) < 1 / (1 + np.exp(-X[:, 0]))
    with_pairs, alone = (
        additive(interactions=given, n_bags=5).fit(X[:600], y[:600]) for given in ("auto", 0)
    )
    auc = with_pairs.score(X[600:], y[600:])
    assert auc > alone.score(X[600:], y[600:]) - 0.01


def test_with_many_features_only_the_most_informative_are_paired():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 250))
    log_odds = X[:, 240] + X[:, 10] + 2 * X[:, 240] * X[:, 10]
    y = rng.random(2000) < 1 / (1 + np.exp(-log_odds))
    assert (10, 240) in additive(n_bags=1).fit(X, y).pairs_


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"refit": True, "n_bags": 1},
        {"early_stopping": False},
        {"interactions": "auto"},
        {"interactions": "auto", "refit": True},
    ],
)
def test_parts_and_the_base_score_are_the_score_to_the_last_bit(params, weighted):
    X, y = planted(1500, 1)
    weight = np.random.default_rng(1).uniform(0, 3, 1500) if weighted else None
    model = additive(**{"n_rounds": 60} | params).fit(X, y, sample_weight=weight)
    assert (0, 1) in model.pairs_
    X.loc[X.index[:40], "town"] = None
    X["town"] = X["town"].cat.rename_categories({"west": "elsewhere"})
    parts = model.explain(X)
    assert parts.shape == (1500, 4 + len(model.pairs_)) == (1500, len(model.term_names_))
    assert_array_equal(parts.sum(axis=1) + model.base_score_, model.decision_function(X))
    assert model.term_names_[:5] == ["a", "b", "noise 0", "town", "a & b"]
    # A part changes with its features alone.
    other = X.assign(a=X["a"].to_numpy()[::-1])
    asks_a = [True, False, False, False, *(0 in pair for pair in model.pairs_)]
    assert_array_equal(model.explain(other)[:, ~np.array(asks_a)], parts[:, ~np.array(asks_a)])


def test_cells_of_the_tables_equal_the_terms_of_their_rows():
    X, y = planted(2000, 0)
    model = additive(n_rounds=40).fit(X, y)
    table = model.pair_terms()
    parts = model.explain(X)
    for column, (first, second) in enumerate(model.pairs_, start=3):
        names = [X.columns[first], X.columns[second]]
        is_pair = (table["feature_1"] == names[0]) & (table["feature_2"] == names[1])
        assert set(parts[:, column]) <= set(table["value"][is_pair])
        for rule_1, rule_2, value in list(
            zip(*(table[name][is_pair] for name in ("rule_1", "rule_2", "value")), strict=True)
        )[::7]:
            inside = holds(rule_1, X) & holds(rule_2, X)
            assert set(parts[inside, column]) <= {value}


@pytest.mark.parametrize("weighted", [False, True])
def test_a_pair_has_a_mean_of_zero_in_each_row_and_column_of_its_table(weighted):
    X, y = planted(2000, 0)
    # Features that say much the same: what one of them adds alone is far from what a cell adds.
    X["a"] = (X["a"] + X["b"].fillna(0.0)).round(1)
    weight = np.random.default_rng(1).uniform(0, 3, 2000) if weighted else np.ones(2000)
    model = additive(interactions="auto", n_rounds=60).fit(X, y, sample_weight=weight)
    assert (0, 1) in model.pairs_
    table, parts = model.pair_terms(), model.explain(X)
    for column, pair in enumerate(model.pairs_, start=3):
        names = [X.columns[feature] for feature in pair]
        is_pair = (table["feature_1"] == names[0]) & (table["feature_2"] == names[1])
        lines = [*table["rule_1"][is_pair], *table["rule_2"][is_pair]]
        of_lines = [holds(rule, X) for rule in dict.fromkeys(lines)]
        assert sum(inside.sum() for inside in of_lines) == 2 * len(X)
        for inside in of_lines:
            if inside.any():
                # All values are multiples of 2.3e-10.
                mean = np.average(parts[inside, column], weights=weight[inside])
                assert mean == pytest.approx(0, abs=1e-9)
    assert np.ptp(parts[:, 3]) > 0.1


def holds(rule, X):
    """Which rows satisfy a rule of the table."""
    if rule.endswith(" is missing"):
        return X[rule.removesuffix(" is missing")].isna().to_numpy()
    if rule.endswith(" is known"):
        return X[rule.removesuffix(" is known")].notna().to_numpy()
    name = "town" if "town" in rule else ("a" if "a" in rule else "b")
    if name == "town":
        levels = rule.split(" = ")[-1] if " = " in rule else rule.split("{")[-1].rstrip("}")
        inside = X["town"].isin(levels.split(", "))
        return (~inside if "!=" in rule or "not in" in rule else inside).to_numpy()
    return X.eval(f"{name} == {name} and ({rule})").to_numpy()


def test_threads_and_row_order_do_not_matter_to_pairs(tmp_path):
    X, y = planted(1200, 4)
    model = additive(n_jobs=1).fit(X, y)
    model.save(tmp_path / "model.json")
    order = np.random.default_rng(0).permutation(1200)
    again = clone(model).set_params(n_jobs=2).fit(X.iloc[order], y[order])
    again.set_params(n_jobs=1).save(tmp_path / "again.json")
    texts = [(tmp_path / f"{name}.json").read_bytes() for name in ("model", "again")]
    assert texts[0] == texts[1]
    read = load(tmp_path / "model.json")
    assert read.pairs_ == model.pairs_ != []
    assert_array_equal(read.explain(X), model.explain(X))


def test_listed_pairs_are_the_pairs_of_the_model():
    model = GradientBoostingRanker(
        n_rounds=40, interactions=[["age", "income"], ["age", "trade"]], random_state=0
    ).fit(FRAME, BAD)
    places = [list(FRAME).index(name) for name in ("age", "income", "trade")]
    allowed = {tuple(sorted((places[0], other))) for other in places[1:]}
    assert model.pairs_
    assert set(model.pairs_) <= allowed
    parts = model.explain(FRAME)
    assert_array_equal(parts.sum(axis=1) + model.base_score_, model.decision_function(FRAME))


def test_sql_gives_the_scores_of_pairs():
    X, y = planted(1500, 0)
    model = additive(n_bags=1).fit(X, y)
    assert model.pairs_ == [(0, 1)]
    with sqlite3.connect(":memory:") as database:
        X.assign(town=X["town"].astype(object)).to_sql("rows", database, index=False)
        found = [score for (score,) in database.execute(f"SELECT {model.to_sql()} FROM rows")]
    assert_array_equal(found, model.decision_function(X))


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (-1, ValueError, "interactions must be from 0 to 1000"),
        (1001, ValueError, "interactions must be from 0 to 1000"),
        (True, ValueError, "must be None, a number of pairs or a list of lists"),
        (2.0, ValueError, "must be None, a number of pairs or a list of lists"),
        ("age", ValueError, "must be None, a number of pairs or a list of lists"),
        ([["age", "nobody"]], ValueError, "names 'nobody', which is not a column"),
    ],
)
def test_invalid_interactions_are_rejected(wrong, error, message):
    with pytest.raises(error, match=message):
        additive(interactions=wrong).fit(FRAME, BAD)


@pytest.mark.parametrize("given", [10, "auto"])
def test_pairs_cannot_be_warm_started(given):
    with pytest.raises(ValueError, match=f"interactions={given!r} does not go with warm_start"):
        additive(n_bags=1, warm_start=True, interactions=given).fit(FRAME, BAD)


def test_trees_of_three_features_have_no_tables_of_pairs():
    model = GradientBoostingRanker(n_rounds=20, random_state=0).fit(FRAME, BAD)
    assert not hasattr(model, "pairs_")
    assert not hasattr(model, "term_names_")
    for ask in (model.pair_terms, model.terms, model.plot_terms, lambda: model.explain(FRAME)):
        with pytest.raises(ValueError, match="test several features"):
            ask()


def test_a_scorecard_rejects_pairs():
    X, y = planted(1500, 0)
    with pytest.raises(ValueError, match="interactions=10, but a scorecard needs trees"):
        Scorecard(estimator=additive()).fit(X, y)
    model = additive().fit(X, y)
    with pytest.raises(ValueError, match=r"test pairs of features \(a & b"):
        Scorecard(estimator=FrozenEstimator(model)).fit(X, y)


def test_a_fit_prints_its_pairs(capsys):
    X, y = planted(1500, 2)
    additive(verbose=1).fit(X, y)
    assert "pairs of features: a & b\n" in capsys.readouterr().out
    model = additive(verbose=1, interactions=3).fit(X[["noise 0", "noise 1"]], X["a"] > 0)
    assert "pairs of features: none adds to its features alone" in capsys.readouterr().out
    assert model.pairs_ == []


def test_the_summary_has_the_range_of_each_pair():
    X, y = planted(1500, 0)
    model = additive().fit(X, y)
    terms, pairs = model._summary()
    assert terms.title.startswith("Terms")
    assert pairs.title == "Pairs (1)"
    assert pairs.table["feature_1"].tolist() == ["a"]
    assert pairs.table["high"][0] == model.pair_terms()["value"].max()


def test_a_pair_is_drawn_as_a_map():
    X, y = planted(2000, 0, seed=1)
    model = additive().fit(X, y)
    assert model.pairs_ == [(0, 1)]
    display = model.plot_terms([("b", "a"), "town", (0, 1)])
    turned, bars, straight = display.axes_
    assert (turned.get_xlabel(), turned.get_ylabel()) == ("b", "a")
    assert (straight.get_xlabel(), straight.get_ylabel()) == ("a", "b")
    assert bars.get_xlabel() == "town"
    values = model.pair_terms()["value"]
    maps = [panel.collections[0].get_array() for panel in (turned, straight)]
    assert sorted(maps[0].compressed()) == sorted(maps[1].compressed()) == sorted(values)
    assert_array_equal(maps[0].filled(9.0), maps[1].filled(9.0).T)
    low, high = straight.collections[0].get_clim()
    assert -low == high == np.abs(values).max()
    for panel in (turned, straight):
        assert panel.get_xticklabels()[-1].get_text() == "missing"
        assert panel.get_yticklabels()[-1].get_text() == "missing"
    # The product is the most informative, so that it comes first.
    first = model.plot_terms(2).axes_[0]
    assert {first.get_xlabel(), first.get_ylabel()} == {"a", "b"}
    with pytest.raises(ValueError, match="a & town add nothing together"):
        model.plot_terms([("a", "town")])
    plt.close("all")


def test_categories_of_a_pair_have_a_cell_each():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            name: pd.Categorical(rng.choice(["low", "middle", "high"], 2000))
            for name in ("size", "speed")
        }
    )
    y = rng.random(2000) < np.where((X["size"] == "low") == (X["speed"] == "high"), 0.8, 0.2)
    # Few distinct rows: one half does not predict the other.
    model = additive(n_bags=8).fit(X, y)
    (panel,) = model.plot_terms([("size", "speed")]).axes_
    labels = [tick.get_text() for tick in panel.get_xticklabels()]
    assert labels == [*X["size"].cat.categories, "missing"]
    # Cells are 3 categories, the gap and the missing ones, on either axis.
    cells = panel.collections[0].get_array().reshape(5, 5)
    parts = model.explain(X)[:, 2]
    for i, of_x in enumerate(X["size"].cat.categories):
        for j, of_y in enumerate(X["speed"].cat.categories):
            inside = (X["size"] == of_x) & (X["speed"] == of_y)
            assert set(parts[inside]) == {cells[j, i]}
    plt.close("all")
