"""Pruning by a penalty and by rows held out, against their definitions."""

import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from aucrank import TreeRank, load
from aucrank.datasets import load_breast_cancer, make_gaussian_pair
from aucrank.tree import (
    CrossValidatedPruning,
    LeafRank,
    OrthogonalSplit,
    PenalizedPruning,
    ValidationPruning,
)
from aucrank.tree._pruning import pruning_rule
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import roc_auc_score


def sample(n_rows, seed, n_features=3):
    """Few distinct values, so that splits and copies are common; both classes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, size=(n_rows, n_features)).astype(float)
    y = rng.random(n_rows) < 0.1 + 0.1 * X[:, 0]
    y[:2] = (True, False)
    return X, y


def plain_penalty(n_leaves, n_rows, n_features, n_cuts, low, high):
    """Proposition 6 (i) with the whole sum under the root; the integers are exact."""
    shatter = ((n_rows + 1) * n_features) ** (2 * n_leaves * n_cuts)
    return 1 / (low * (1 - high)) * math.sqrt(32 * (math.log(16 * shatter) + n_leaves) / n_rows)


# ------------------------------------------------------------------------------- by a penalty


@pytest.mark.parametrize(
    ("split", "n_cuts"),
    [
        ("orthogonal", 1),
        (OrthogonalSplit(), 1),
        ("leafrank", 7),
        (LeafRank(max_depth=2), 3),
        (LeafRank(max_depth=3, max_leaves=5), 4),
        (LeafRank(max_depth=2, max_leaves=9), 3),
    ],
)
@pytest.mark.parametrize(("n_rows", "n_features"), [(60, 2), (300, 5)])
def test_the_table_holds_the_penalty_of_the_paper(split, n_cuts, n_rows, n_features):
    X, y = sample(n_rows, 1, n_features)
    for p_low, p_high in [(None, None), (0.1, None), (0.2, 0.7)]:
        rule = PenalizedPruning(scale=0.002, p_low=p_low, p_high=p_high)
        model = TreeRank(split=split, pruning=rule, min_samples_leaf=2).fit(X, y)
        table, share = model.pruning_, y.mean()
        low = share if p_low is None else p_low
        high = share if p_high is None else p_high
        expected = [
            plain_penalty(k, n_rows, n_features, n_cuts, low, high)
            for k in table["n_leaves"].tolist()
        ]
        assert table["n_leaves"].tolist() == list(range(1, table.n_rows + 1))
        assert table["penalty"] == pytest.approx(expected, rel=1e-12)
        assert table["criterion"] == pytest.approx(
            table["train_auc"] - 0.002 * table["penalty"], abs=1e-14
        )


@pytest.mark.parametrize("leaf_order", ["tree", "eta"])
def test_the_size_of_the_largest_criterion_is_kept(leaf_order):
    X, y = sample(400, 2)
    settings = {"leaf_order": leaf_order, "min_samples_leaf": 2}
    tree = TreeRank(pruning=None, **settings).fit(X, y).tree_
    # The AUC that adds up over splits is that of the leaves from left to right.
    in_tree_order = TreeRank(pruning=None, **{**settings, "leaf_order": "tree"}).fit(X, y).tree_
    sizes = set()
    for scale in (1e-9, 0.0005, 0.001, 0.003, 0.01, 1.0):
        model = TreeRank(pruning=PenalizedPruning(scale=scale), **settings).fit(X, y)
        table = model.pruning_
        kept = int(np.flatnonzero(table["kept"])[0])
        assert kept == int(np.argmax(table["criterion"]))
        assert model.tree_.to_text() == tree.best_subtree(kept + 1).to_text()
        expected = in_tree_order.best_subtree(kept + 1).auc
        assert table["train_auc"][kept] == pytest.approx(expected, abs=1e-13)
        sizes.add(kept + 1)
    assert {1, tree.n_leaves} < sizes
    assert len(sizes) >= 4


def test_slope_is_twice_that_of_the_line_through_the_larger_sizes():
    X, y = sample(500, 3)
    model = TreeRank(pruning=PenalizedPruning(scale="slope"), min_samples_leaf=2).fit(X, y)
    table = model.pruning_
    scale = (table["train_auc"] - table["criterion"]) / table["penalty"]
    larger = table["n_leaves"] > table.n_rows / 4
    slope = np.polyfit(table["penalty"][larger], table["train_auc"][larger], 1)[0]
    assert scale == pytest.approx(2 * slope, rel=1e-8)
    assert 1 < model.tree_.n_leaves < table.n_rows


def test_a_tree_of_few_leaves_has_no_slope_and_raises_a_warning():
    X, y = np.arange(40.0)[:, None], np.arange(40) // 10 % 2
    with pytest.warns(UserWarning, match="has 4 leaves, too few to calibrate") as caught:
        model = TreeRank(pruning=PenalizedPruning(scale="slope")).fit(X, y)
    assert caught[0].filename == __file__
    assert model.tree_.n_leaves == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TreeRank(pruning=PenalizedPruning(scale="slope")).fit(np.ones((40, 1)), y)


def test_a_split_rule_without_a_penalty_is_rejected():
    class Other:
        def __repr__(self):
            return "Other()"

    with pytest.raises(ValueError, match=r"no penalty is known for split=Other\(\)"):
        pruning_rule("penalty", Other())
    assert isinstance(pruning_rule("penalty", OrthogonalSplit()), PenalizedPruning)
    assert isinstance(pruning_rule("validation", Other()), ValidationPruning)


# ----------------------------------------------------------------------------- by other rows


@pytest.mark.parametrize("leaf_order", ["tree", "eta"])
@pytest.mark.parametrize("weighted", [False, True])
def test_validation_rows_choose_the_tree_that_ranks_them_best(leaf_order, weighted):
    X, y = sample(400, 4)
    X_val, y_val = sample(250, 5)
    weight = np.random.default_rng(6).random(250) if weighted else None
    settings = {"leaf_order": leaf_order, "min_samples_leaf": 2}
    unpruned = TreeRank(pruning=None, **settings).fit(X, y)
    model = TreeRank(pruning="validation", **settings).fit(
        X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight
    )
    table, path = model.pruning_, unpruned.tree_.pruning_path()
    aucs = [
        roc_auc_score(y_val, score_of(tree, X_val), sample_weight=weight) for tree in path.trees
    ]
    assert table["validation_auc"] == pytest.approx(aucs, abs=1e-12)
    assert np.array_equal(table["alpha"], path.alphas)
    assert np.array_equal(table["n_leaves"], path.n_leaves)
    assert np.array_equal(table["train_auc"], path.aucs)
    best = np.flatnonzero(table["validation_auc"] == table["validation_auc"].max())
    assert np.flatnonzero(table["kept"]).tolist() == [best[-1]]
    assert 1 < model.tree_.n_leaves < unpruned.tree_.n_leaves
    assert model.tree_.to_text() == path.trees[best[-1]].to_text()
    found = unpruned.tree_.best_on(X_val, y_val, sample_weight=weight)
    assert found.to_text() == model.tree_.to_text()


def score_of(tree, X):
    """Return scores of rows by a subtree, from its table of leaves."""
    score = dict(zip(tree.strata["node"], tree.strata["score"], strict=True))
    return np.array([score[leaf] for leaf in tree.apply(X)])


def test_without_validation_rows_a_share_of_the_training_rows_is_held_out():
    drawn = make_gaussian_pair(1000, random_state=0)
    X, y = drawn.X, drawn.y == drawn.y.max()
    for fraction in (0.1, 0.25, 0.6):
        model = TreeRank(pruning=ValidationPruning(fraction=fraction), random_state=0).fit(X, y)
        nodes = model.tree_.nodes
        assert nodes["n_pos"][0] == y.sum() - round(fraction * y.sum())
        assert nodes["size"][0] == len(y) - round(fraction * y.sum()) - round(fraction * (~y).sum())
    other = TreeRank(pruning=ValidationPruning(fraction=0.6), random_state=1).fit(X, y)
    assert other.tree_.to_text() != model.tree_.to_text()


def test_nothing_is_held_out_if_a_class_has_one_distinct_row():
    X, y = np.arange(20.0)[:, None], np.arange(20) == 19
    with pytest.warns(UserWarning, match="no rows can be held out") as caught:
        model = TreeRank(pruning="validation", min_samples_leaf=1).fit(X, y)
    assert caught[0].filename == __file__
    assert model.pruning_ is None
    assert model.tree_.n_leaves == 2


def test_categories_of_validation_rows_are_matched_by_value():
    rng = np.random.default_rng(8)
    names = np.array(["low", "mid", "high"])
    codes = rng.integers(0, 3, 300)
    y = rng.random(300) < np.array([0.1, 0.5, 0.9])[codes]
    X = pd.DataFrame({"c": pd.Categorical(names[codes]), "x": rng.random(300)})
    X_val = pd.DataFrame(
        {"c": pd.Categorical(names[codes], categories=["new", "mid", "high", "low"]), "x": X["x"]}
    )
    rule = {"pruning": "validation"}
    same = TreeRank(**rule).fit(X, y, X_val=X, y_val=y)
    other = TreeRank(**rule).fit(X, y, X_val=X_val, y_val=y)
    assert np.array_equal(same.pruning_["validation_auc"], other.pruning_["validation_auc"])
    assert same.pruning_["validation_auc"] == pytest.approx(same.pruning_["train_auc"], abs=1e-14)


FRAME = pd.DataFrame({"age": np.arange(8.0), "income": np.arange(8.0)[::-1]})
LABELS = np.array([0, 1, 0, 1, 0, 1, 1, 1])


def infinite():
    X_val = FRAME.copy()
    X_val.loc[2, "income"] = np.inf
    return X_val


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"X_val": FRAME}, "y_val is missing"),
        ({"y_val": LABELS}, "X_val is missing"),
        ({"sample_weight_val": np.ones(8)}, "X_val is missing"),
        ({"X_val": FRAME[["age"]], "y_val": LABELS}, "in X_val: .*feature names"),
        ({"X_val": np.ones((8, 3)), "y_val": LABELS}, "in X_val: X has 3 features"),
        ({"X_val": infinite(), "y_val": LABELS}, "rows to validate on: column 'income' is inf in"),
        ({"X_val": FRAME, "y_val": LABELS[:5]}, r"samples in X_val and y_val: \[8, 5\]"),
        ({"X_val": FRAME, "y_val": np.zeros(8)}, "y_val lacks the class 1"),
        ({"X_val": FRAME, "y_val": np.arange(8)}, "in y_val: y holds 2 in row 2"),
        (
            {"X_val": FRAME, "y_val": LABELS, "sample_weight_val": -np.ones(8)},
            "in sample_weight_val: sample_weight must not be negative",
        ),
        (
            {"X_val": FRAME, "y_val": LABELS, "sample_weight_val": LABELS},
            "in sample_weight_val: sample_weight is zero for every row of class 0",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_bad_validation_rows_raise_an_error_and_leave_the_tree_unfitted(other, message):
    model = TreeRank(pruning="validation", min_samples_leaf=1).fit(FRAME, LABELS)
    with pytest.raises(ValueError, match=message):
        model.fit(FRAME, LABELS, **other)
    assert not model.__sklearn_is_fitted__()
    assert not any(name.endswith("_") for name in vars(model))


@pytest.mark.parametrize("pruning", [None, "cv", "penalty", CrossValidatedPruning()])
def test_validation_rows_are_accepted_only_for_validation_pruning(pruning):
    with pytest.raises(ValueError, match="X_val, y_val and sample_weight_val are for pruning="):
        TreeRank(pruning=pruning).fit(FRAME, LABELS, X_val=FRAME, y_val=LABELS)


def test_best_on_validates_its_rows():
    tree = TreeRank(pruning=None, min_samples_leaf=1).fit(FRAME, LABELS).tree_
    with pytest.raises(ValueError, match="column 'income' is inf in row 2"):
        tree.best_on(infinite(), LABELS)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[8, 5\]"):
        tree.best_on(FRAME, LABELS[:5])
    with pytest.raises(ValueError, match="only one class"):
        tree.best_on(FRAME, np.zeros(8))
    with pytest.raises(ValueError, match="feature names"):
        tree.best_on(FRAME[["age"]], LABELS)


# ------------------------------------------------------------------------------- of all rules

RULES = [
    PenalizedPruning(),
    PenalizedPruning(scale="slope", p_low=0.1, p_high=0.9),
    ValidationPruning(fraction=0.4),
]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("cv", CrossValidatedPruning()),
        ("penalty", PenalizedPruning()),
        ("validation", ValidationPruning()),
    ],
)
def test_a_name_means_the_rule_with_its_defaults(name, rule):
    X, y = load_breast_cancer(return_X_y=True)
    by_name = TreeRank(pruning=name, random_state=0).fit(X, y)
    by_rule = TreeRank(pruning=rule, random_state=0).fit(X, y)
    assert by_name.tree_.to_text() == by_rule.tree_.to_text()
    assert by_name.pruning_["kept"].sum() == 1
    assert by_name.pruning_["n_leaves"][by_name.pruning_["kept"]] == by_name.tree_.n_leaves


@given(st.integers(0, 2**32), st.sampled_from(RULES), st.booleans())
def test_weights_equal_copies_and_threads_do_not_matter(seed, rule, by_leafrank):
    X, y = sample(120, seed)
    weight = np.random.default_rng(seed).integers(0, 4, 120)
    weight[:2] = 1
    copies = np.repeat(np.arange(120), weight)
    split = "leafrank" if by_leafrank else "orthogonal"
    model = TreeRank(split=split, pruning=rule, min_samples_leaf=1, random_state=0, n_jobs=1)

    def tables(X, y, weight=None):
        fitted = clone(model).fit(X, y, sample_weight=weight)
        return fitted.tree_.to_text(), {k: v.tolist() for k, v in fitted.pruning_.items()}

    found = tables(X, y, weight)
    assert found == tables(X[copies], y[copies])
    backwards = np.arange(120)[::-1]
    assert found == tables(X[backwards], y[backwards], weight[backwards])
    model.set_params(n_jobs=2)
    assert found == tables(X, y, weight)


def test_weights_of_validation_rows_equal_copies():
    X, y = sample(200, 9)
    X_val, y_val = sample(100, 10)
    weight = np.random.default_rng(0).integers(0, 3, 100)
    weight[:2] = 1
    copies = np.repeat(np.arange(100), weight)
    model = TreeRank(pruning="validation")
    weighted = model.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight).pruning_
    repeated = model.fit(X, y, X_val=X_val[copies], y_val=y_val[copies]).pruning_
    assert {k: v.tolist() for k, v in weighted.items()} == {
        k: v.tolist() for k, v in repeated.items()
    }


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_the_results_of_pruning_are_saved(rule, tmp_path):
    X, y = sample(200, 11)
    model = TreeRank(pruning=rule, random_state=0).fit(X, y)
    model.save(tmp_path / "model.json")
    read = load(tmp_path / "model.json")
    assert repr(read.pruning) == repr(rule)
    assert list(read.pruning_) == list(model.pruning_)
    for name, column in model.pruning_.items():
        assert np.array_equal(read.pruning_[name], column)
    assert np.array_equal(read.decision_function(X), model.decision_function(X))
    # A file from before these rules does not contain them.
    plain = json.loads(TreeRank(pruning=None).fit(X, y)._to_document())["body"]["model"]
    assert not {"penalization", "validation"} & set(plain)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (PenalizedPruning(scale=0), "scale of PenalizedPruning must be in"),
        (PenalizedPruning(scale=float("nan")), "scale of PenalizedPruning must be in"),
        (PenalizedPruning(scale=float("inf")), "scale of PenalizedPruning must be in"),
        (PenalizedPruning(scale="steep"), "scale of PenalizedPruning must be one of 'slope'"),
        (PenalizedPruning(p_low=0.0), "p_low of PenalizedPruning must be in"),
        (PenalizedPruning(p_high=1.0), "p_high of PenalizedPruning must be in"),
        (PenalizedPruning(p_low=0.6, p_high=0.5), "p_low of PenalizedPruning must be at most"),
        (ValidationPruning(fraction=0.0), "fraction of ValidationPruning must be in"),
        (ValidationPruning(fraction=1.0), "fraction of ValidationPruning must be in"),
    ],
)
def test_a_parameter_out_of_range_is_named_in_the_error(rule, message):
    with pytest.raises(ValueError, match=message):
        TreeRank(pruning=rule).fit(FRAME, LABELS)


def test_verbose_prints_the_chosen_subtree(capsys):
    X, y = sample(300, 12)
    TreeRank(pruning="penalty", verbose=1).fit(X, y)
    assert "less the penalty at scale 0.001" in capsys.readouterr().out
    TreeRank(pruning="validation", verbose=1).fit(X, y)
    assert "on the rows held out" in capsys.readouterr().out
