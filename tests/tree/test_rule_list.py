"""Ordered lists of rules: what they say, what they find, and what they refuse."""

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank import RuleList, TreeRank
from aucrank.data import Dataset
from aucrank.datasets import load_breast_cancer
from aucrank.tree import PenalizedPruning
from numpy.testing import assert_array_equal
from sklearn.metrics import roc_auc_score


@pytest.fixture(scope="module")
def cancer():
    """Rows of the cells of tumours, and their labels."""
    return load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def model(cancer):
    """Return a list of three rules."""
    return RuleList(max_rules=3, pruning=None).fit(*cancer)


def rows_of_both(n_rows, seed=0):
    """Return rows of which most with both conditions are positive, and few others."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=list("abcd"))
    is_both = (X["a"] > 0.2) & (X["b"] < 0.5)
    return X, (rng.random(n_rows) < np.where(is_both, 0.8, 0.1)).astype(int)


def test_a_row_belongs_to_the_first_rule_that_it_meets(model, cancer):
    X, y = cancer
    rules, left = model.rules_, np.ones(len(X), dtype=bool)
    scores = model.decision_function(X)
    for place, rule in enumerate(rules["rule"]):
        met = left if rule == "otherwise" else left & X.eval(rule).to_numpy()
        assert rules["size"][place] == met.sum()
        assert rules["n_pos"][place] == y[met].sum()
        assert rules["eta"][place] == pytest.approx(y[met].mean())
        assert rules["lift"][place] == pytest.approx(y[met].mean() / y.mean())
        assert_array_equal(np.unique(scores[met]), [rules["score"][place]])
        left &= ~met
    assert not left.any()
    by_rank = np.argsort(rules["rank"])
    assert (np.diff(rules["eta"][by_rank]) <= 0).all()
    assert_array_equal(model.tree_.strata["node"], rules["node"][by_rank])


def test_two_conditions_are_one_rule():
    X, y = rows_of_both(2000)
    model = RuleList(max_rules=1, pruning=None).fit(X, y)
    rules = model.rules_
    assert len(rules["rule"]) == 2
    conditions = rules["rule"][0].split(" and ")
    assert sorted(condition.split()[0] for condition in conditions) == ["a", "b"]
    # A tree needs another leaf for the same strata.
    is_both = (X["a"] > 0.2) & (X["b"] < 0.5)
    assert model.tree_.auc >= roc_auc_score(y, is_both) - 0.002
    two = TreeRank(search="optimal", max_leaves=2, pruning=None).fit(X, y)
    assert two.tree_.auc < model.tree_.auc - 0.05
    single = RuleList(max_rules=1, max_conditions=1, pruning=None).fit(X, y)
    assert single.tree_.auc == pytest.approx(two.tree_.auc)


def test_the_text_has_a_line_for_each_rule(model):
    lines = model.to_text().splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("if ")
    assert all(line.startswith("else if ") for line in lines[1:-1])
    assert lines[-1].startswith("otherwise: ")


def test_folds_choose_how_many_rules_are_kept():
    X, y = rows_of_both(1500)
    kept = RuleList(max_rules=6, random_state=0).fit(X, y)
    path = kept.pruning_
    assert path["n_leaves"].max() > 2
    chosen = int(np.flatnonzero(path["kept"])[0])
    assert path["n_leaves"][chosen] == len(kept.rules_["rule"])
    assert path["mean_auc"][chosen] == path["mean_auc"].max()
    noise = np.random.default_rng(1).integers(0, 2, 400)
    of_noise = RuleList(random_state=0).fit(X[:400], noise)
    assert len(of_noise.rules_["rule"]) < of_noise.pruning_["n_leaves"].max()


def test_rows_to_validate_on_choose_as_well():
    X, y = rows_of_both(1000)
    other, of_other = rows_of_both(500, seed=1)
    model = RuleList(max_rules=6, pruning="validation", random_state=0)
    model.fit(X, y, X_val=other, y_val=of_other)
    chosen = model.pruning_["validation_auc"][model.pruning_["kept"]]
    assert chosen[0] == pytest.approx(roc_auc_score(of_other, model.decision_function(other)))
    with pytest.raises(ValueError, match="pruning='validation'"):
        RuleList().fit(X, y, X_val=other, y_val=of_other)


def test_nothing_to_learn_is_a_list_without_rules():
    model = RuleList().fit(np.ones((40, 2)), np.arange(40) % 2)
    assert model.rules_["rule"].tolist() == ["all rows"]
    assert model.to_text() == "all rows: 20 of 40 positive (50.0%)  #1"
    assert_array_equal(model.decision_function(np.ones((2, 2))), [0.0, 0.0])


def test_directions_are_kept():
    X, y = rows_of_both(1500)
    y = np.where(X["c"] > 0.5, np.maximum(y, (X["d"] < 0).astype(int)), y)
    model = RuleList(max_conditions=3, monotonic_cst={"a": 1, "b": -1, "d": 1}, pruning=None)
    model.fit(X, y)
    for name, sign in (("a", 1), ("b", -1), ("d", 1)):
        rows = X.head(100)
        moved = [
            model.decision_function(rows.assign(**{name: at})) for at in np.linspace(-3, 3, 40)
        ]
        assert (sign * np.diff(moved, axis=0) >= 0).all()


def test_categories_and_missing_values_are_conditions():
    rng = np.random.default_rng(0)
    town = rng.choice(["Oslo", "Bergen", "Hamar"], 900)
    age = np.where(rng.random(900) < 0.3, np.nan, rng.normal(50, 10, 900))
    X = pd.DataFrame({"town": pd.Categorical(town), "age": age})
    is_both = (town == "Oslo") & np.isnan(age)
    y = rng.random(900) < np.where(is_both, 0.9, 0.1)
    model = RuleList(max_rules=1, pruning=None).fit(X, y)
    rule = model.rules_["rule"][0]
    assert "town" in rule
    assert "age" in rule
    assert model.tree_.auc == pytest.approx(roc_auc_score(y, is_both))


def test_a_weight_is_a_number_of_rows_and_threads_change_nothing():
    X, y = rows_of_both(600)
    weights = np.random.default_rng(2).integers(0, 4, 600)
    weighted = RuleList(random_state=0, n_jobs=1).fit(X, y, sample_weight=weights)
    copies = np.repeat(np.arange(600), weights)
    copied = RuleList(random_state=0, n_jobs=2).fit(X.iloc[copies], y[copies])
    assert weighted.to_text() == copied.to_text()
    assert_array_equal(weighted.decision_function(X), copied.decision_function(X))


def test_it_is_saved_and_exported(model, cancer, tmp_path):
    X, _ = cancer
    model.save(tmp_path / "rules.json")
    loaded = aucrank.load(tmp_path / "rules.json")
    assert isinstance(loaded, RuleList)
    assert loaded.to_text() == model.to_text()
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert "CASE WHEN" in model.to_sql()


def test_when_time_is_over_the_best_so_far_is_kept(cancer):
    model = RuleList(time_limit=1e-9, pruning=None).fit(*cancer)
    assert len(model.rules_["rule"]) >= 1


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_rules": 0}, "max_rules"),
        ({"max_rules": 100}, "max_rules"),
        ({"max_conditions": 0}, "max_conditions"),
        ({"search_bins": 1}, "search_bins"),
        ({"time_limit": 0.0}, "time_limit"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"pruning": "penalty"}, "pruning is 'penalty', but must be"),
        ({"pruning": PenalizedPruning()}, "must be 'cv', 'validation' or None"),
        ({"max_rules": 20}, "max_rules is 20, but must be less than the number of rows"),
    ],
)
def test_bad_parameters_are_named(params, message):
    X, y = rows_of_both(100)
    with pytest.raises(ValueError, match=message):
        RuleList(**params).fit(X, y)


def test_a_data_set_is_fitted_as_its_frame(tmp_path):
    X, y = rows_of_both(500)
    X.assign(target=y).to_csv(tmp_path / "rows.csv", index=False)
    dataset = Dataset.from_csv(tmp_path / "rows.csv", target="target")
    model = RuleList(random_state=0).fit(dataset)
    assert model.sampled_rows_ is None
    assert model.to_text() == RuleList(random_state=0).fit(X, y).to_text()
