"""Bad input to the estimators: what is rejected, with which message, and what is not.

See also base/test_base.py and base/test_input.py (labels, weights and columns of every kind,
on a small ranker), tree/test_tree.py (parameters), base/test_persistence.py (damage to every part
of a file) and test_robustness.py (Ctrl-C).
"""

import json
import pickle

import aucrank
import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank import (
    AUCBoost,
    RankBoost,
    RankOpt,
    TreeRank,
)
from aucrank.tree import CrossValidatedPruning, LeafRank
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from tests.common.estimators import EVERY

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = RNG.permutation(np.repeat([0, 1], 30))
FRAME = pd.DataFrame(X, columns=["age", "income", "debt"]).assign(
    colour=pd.Categorical(np.array(["red", "blue", "green"])[Y + RNG.integers(0, 2, 60)])
)


def refused(X, y, message, sample_weight=None, error=ValueError):
    """Check the message, and that an earlier fit is dropped."""
    model = TreeRank(pruning=None).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(error, match=message):
        model.fit(X, y, sample_weight=sample_weight)
    with pytest.raises(NotFittedError):
        model.predict(X)


# One class, three classes, NaN in y.


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(60), r"only one class: 0\.0"),
        (np.full(60, "yes"), "only one class: 'yes'"),
        (
            np.arange(60) % 3,
            r"Only binary classification is supported\. The type of the target is multiclass\.",
        ),
        (np.where(Y == 1, np.nan, 0.0), r"Input y contains NaN\."),
        (np.where(Y == 1, None, "no"), r"Input y contains NaN\."),
        (Y[:-1], r"inconsistent numbers of samples: \[60, 59\]"),
    ],
    ids=["one number", "one string", "three", "NaN", "None", "too few"],
)
@pytest.mark.parametrize("data", [X, FRAME], ids=["array", "frame"])
def test_labels_without_exactly_two_classes_are_rejected(data, y, message):
    refused(data, y, message)


# Infinity and NaN in X.


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (np.ascontiguousarray, "2"),
        (np.asfortranarray, "2"),
        (lambda X: X.astype(np.float32), "2"),
        (lambda X: X.astype(object), "2"),
        (lambda X: X.tolist(), "2"),
        (lambda X: pd.DataFrame(X, columns=["a", "b", "debt"]), "'debt'"),
        (lambda X: pl.DataFrame(X, schema=["a", "b", "debt"]), "'debt'"),
        (lambda X: pl.DataFrame(X, schema=["a", "b", "debt"]).to_arrow(), "'debt'"),
    ],
    ids=["C", "F", "float32", "objects", "list", "pandas", "polars", "pyarrow"],
)
def test_infinity_in_data_is_rejected(make, name, value):
    broken = X.copy()
    broken[41, 2] = value
    message = f"^column {name} is {value} in row 41; X must not hold infinity"
    refused(make(broken), Y, message)
    model = TreeRank(pruning=None).fit(make(X), Y)
    for question in (model.decision_function, model.predict, model.predict_proba):
        with pytest.raises(ValueError, match=message):
            question(make(broken))
    for question in (model.tree_.apply, model.tree_.decision_path):
        with pytest.raises(ValueError, match=message):
            question(make(broken))


@pytest.mark.parametrize("split", ["orthogonal", "leafrank"])
def test_missing_values_are_data(split):
    holes = np.where(RNG.random(X.shape) < 0.5, np.nan, X)
    model = TreeRank(split=split, min_samples_leaf=1, pruning=None).fit(holes, Y)
    assert model.score(holes, Y) > 0.9
    assert np.isfinite(model.decision_function(np.full((1, 3), np.nan))).all()
    # Also if none was missing in training.
    model = TreeRank(split=split, min_samples_leaf=1, pruning=None).fit(X, Y)
    assert np.isfinite(model.decision_function(np.full((1, 3), np.nan))).all()


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (X[:, 0], ValueError, "Expected 2D array, got 1D array"),
        (X[:0], ValueError, "inconsistent numbers of samples|0 sample"),
        (X[:, :0], ValueError, r"0 feature\(s\)"),
        (FRAME[[]], ValueError, r"0 feature\(s\)"),
        (X + 1j, ValueError, "Complex data not supported"),
        (X.astype(str).astype(object) + "x", ValueError, "could not convert string to float"),
        (FRAME.assign(age="old").drop(columns="age").iloc[:5], ValueError, r"\[5, 60\]"),
        (pd.DataFrame(np.c_[X, X], columns=list("abcabc")), ValueError, "unique column names"),
    ],
    ids=["1-D", "no rows", "no columns", "bare frame", "complex", "text", "few", "twins"],
)
def test_inputs_that_are_not_tables_are_rejected(data, error, message):
    refused(data, Y, message, error=error)


# Weights.


@pytest.mark.parametrize(
    ("row", "value", "message"),
    [
        (7, -0.5, r"sample_weight must not be negative, got -0\.5 in row 7"),
        (7, np.nan, "Input sample_weight contains NaN"),
        (7, np.inf, "Input sample_weight contains infinity"),
        (Y == 0, 0.0, r"sample_weight is zero for every row of class (np\.int64\()?0"),
        (Y == 1, 0.0, r"sample_weight is zero for every row of class (np\.int64\()?1"),
        (slice(None), 0.0, "sample_weight is zero"),
    ],
    ids=["negative", "NaN", "infinite", "no negatives", "no positives", "nothing"],
)
def test_invalid_weights_are_rejected(row, value, message):
    weight = np.ones(60)
    weight[row] = value
    refused(X, Y, message, sample_weight=weight)


def test_a_weight_of_another_length_is_rejected():
    refused(X, Y, r"sample_weight\.shape == \(59,\)", sample_weight=np.ones(59))


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e306])
def test_weights_of_any_size_mean_the_same(scale):
    weight = RNG.random(60)
    # A power of two times a weight has the same bits, so the tree must be the same.
    power = 2.0 ** np.round(np.log2(scale))
    model = TreeRank(min_samples_leaf=1, pruning=None)
    expected = model.fit(X, Y, sample_weight=weight).decision_function(X)
    found = model.fit(X, Y, sample_weight=weight * power).decision_function(X)
    assert_array_equal(found, expected)


# Categories.


@pytest.mark.parametrize("split", ["orthogonal", "leafrank"])
def test_an_unseen_category_counts_as_missing(split):
    holes = FRAME.assign(colour=FRAME["colour"].where(RNG.random(60) < 0.8))
    for frame in (FRAME, holes):
        model = TreeRank(split=split, min_samples_leaf=1, pruning=None).fit(frame, Y)
        strange = frame.assign(colour="mauve")
        missing = frame.assign(colour=pd.Categorical([None] * 60, categories=["red"]))
        for question in (model.decision_function, model.predict_proba, model.tree_.apply):
            assert_array_equal(question(strange), question(missing))


def test_categories_are_matched_by_value_not_by_code():
    model = TreeRank(min_samples_leaf=1, pruning=None).fit(FRAME, Y)
    assert model.feature_importances_[3] > 0
    expected = model.decision_function(FRAME)
    colours = FRAME["colour"].astype(str)
    for categories in (["red", "green", "blue"], ["mauve", "green", "blue", "red", "grey"]):
        dtype = pd.CategoricalDtype(categories, ordered=True)
        assert_array_equal(
            model.decision_function(FRAME.assign(colour=colours.astype(dtype))), expected
        )
        enum = pl.from_pandas(FRAME.assign(colour=colours)).with_columns(
            pl.col("colour").cast(pl.Enum(categories))
        )
        assert_array_equal(model.decision_function(enum), expected)
        assert_array_equal(model.decision_function(enum.to_arrow()), expected)
    # A single row has one category, whose code is then 0.
    for row in range(10):
        alone = FRAME.iloc[[row]].assign(colour=pd.Categorical([colours[row]]))
        assert model.decision_function(alone) == expected[row]


# Other columns than at fit.


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.drop(columns="age"), "seen at fit time, yet now missing:\n- age"),
        (lambda X: X.assign(new=1), "unseen at fit time:\n- new"),
        (lambda X: X.rename(columns={"age": "Age"}), "unseen at fit time:\n- Age\n.*\n- age"),
        (lambda X: X[["income", "age", "debt", "colour"]], "must be in the same order"),
    ],
    ids=["missing", "new", "renamed", "order"],
)
def test_other_column_names_are_rejected(change, message):
    model = TreeRank(pruning=None).fit(FRAME, Y)
    for question in (model.decision_function, model.predict, model.predict_proba):
        with pytest.raises(ValueError, match=message):
            question(change(FRAME))


def test_another_number_of_columns_is_rejected():
    model = TreeRank(pruning=None).fit(X, Y)
    with pytest.raises(ValueError, match="X has 2 features, but TreeRank is expecting 3 features"):
        model.predict(X[:, :2])


def test_text_in_a_numeric_column_is_rejected():
    model = TreeRank(pruning=None).fit(FRAME, Y)
    with pytest.raises(TypeError, match=r"column 'age' has dtype .* where numbers are expected"):
        model.predict(FRAME.assign(age="forty"))


# Model files.


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.json"
    TreeRank(min_samples_leaf=1, pruning=None).fit(FRAME, Y).save(path)
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: text[: len(text) // 2], "not a complete JSON document"),
        (lambda text: "", "not a complete JSON document"),
        (lambda text: text.replace('"pos":30', '"pos":31', 1), "corrupt: its checksum is fnv1a64:"),
        (lambda text: text.replace('"checksum":"fnv', '"checksum":"Fnv'), "corrupt"),
        (lambda text: '{"booster": [1, 2]}', r'not an aucrank model: its "format" is absent'),
        (
            lambda text: json.dumps(
                json.loads(text) | {"format_version": 99, "library_version": "7.0"}
            ),
            r"format version 99, written by aucrank 7\.0; this is aucrank .*: upgrade aucrank",
        ),
    ],
    ids=["truncated", "empty", "changed", "checksum", "foreign", "newer"],
)
def test_files_that_are_not_models_are_rejected(spoil, message, document, tmp_path):
    assert spoil(document) != document
    (tmp_path / "model.json").write_text(spoil(document), encoding="utf-8")
    with pytest.raises(aucrank.ModelFormatError, match=rf"model\.json: .*{message}"):
        aucrank.load(tmp_path / "model.json")


def test_a_pickle_is_rejected_without_being_run(tmp_path):
    class Trap:
        def __reduce__(self):
            return (tmp_path.joinpath("sprung").touch, ())

    (tmp_path / "model.json").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(aucrank.ModelFormatError, match=r"not a text file|not a complete JSON"):
        aucrank.load(tmp_path / "model.json")
    assert not (tmp_path / "sprung").exists()


# Uninformative data: a valid model, and at most one warning.


@pytest.mark.parametrize("split", ["orthogonal", LeafRank(max_depth=60)], ids=["stump", "leafrank"])
@pytest.mark.parametrize("pruning", ["cv", None], ids=["cv", "none"])
@pytest.mark.parametrize(
    ("X", "y", "auc"),
    [
        ([[1.0], [2.0]], [0, 1], 1.0),
        ([[2.0], [2.0]], [0, 1], 0.5),
        (np.zeros((40, 2)), Y[:40], 0.5),
        (np.full((40, 2), np.nan), Y[:40], 0.5),
        (np.repeat([[1.0, 2.0]], 40, axis=0), Y[:40], 0.5),
        (np.c_[np.full(60, np.nan), Y * 2.0], Y, 1.0),
        (np.c_[np.full(60, 7.0), Y * 2.0], Y, 1.0),
        (np.where(Y == 1, np.nan, 1.0)[:, None], Y, 1.0),
        (pd.DataFrame({"c": pd.Categorical(["a"] * 60)}), Y, 0.5),
        (pd.DataFrame({"c": pd.Categorical([None] * 60)}), Y, 0.5),
        (np.array([[-1.7e308], [1.7e308]] * 30), np.tile([0, 1], 30), 1.0),
        (np.array([[0.0], [5e-324]] * 30), np.tile([0, 1], 30), 1.0),
        (np.array([[1.0], [np.nextafter(1, 2)]] * 30), np.tile([0, 1], 30), 1.0),
        (np.array([[0.0], [-0.0]] * 30), np.tile([0, 1], 30), 0.5),
    ],
    ids=[
        *("two rows", "two equal rows", "constant", "all missing", "copies", "one missing"),
        *("one constant", "missing in one class", "one category", "no category"),
        *("largest", "smallest", "adjacent", "two zeros"),
    ],
)
def test_poor_data_give_a_valid_model(X, y, auc, split, pruning, tmp_path, recwarn):
    model = TreeRank(
        split=split, max_depth=60, min_samples_leaf=1, pruning=pruning, random_state=0
    ).fit(X, y)
    assert len(recwarn) <= 1
    assert model.score(X, y) == model.tree_.auc == auc
    assert model.tree_.n_leaves == (1 if auc == 0.5 else 2)
    assert_array_equal(model.predict(X) == 1, model.decision_function(X) > 0)
    model.save(tmp_path / "model.json")
    back = aucrank.load(tmp_path / "model.json")
    assert_array_equal(back.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("split", ["orthogonal", "leafrank"])
def test_a_tree_of_depth_60_is_grown_saved_and_printed(split, tmp_path):
    # Each stump can only cut off one end of alternating classes: the tree is a staircase.
    data, y = np.arange(300.0)[:, None], np.arange(300) % 2
    model = TreeRank(split=split, max_depth=60, min_samples_leaf=1, pruning=None).fit(data, y)
    if split == "orthogonal":
        assert model.tree_.depth == 60
    model.save(tmp_path / "model.json")
    back = aucrank.load(tmp_path / "model.json")
    assert_array_equal(back.decision_function(data), model.decision_function(data))
    assert len(back.tree_.to_text().splitlines()) == 2 * model.tree_.n_leaves - 1


# All of it, for every estimator.


every = pytest.mark.parametrize("model", EVERY.values(), ids=EVERY)
# Some models warn of few rows.
FEW = pytest.mark.filterwarnings(
    "ignore:A class has", "ignore:Every tree", "ignore:No weak", "ignore:No term"
)


def refuses(model, X, y, message, error=ValueError, **more):
    model = clone(model).fit(np.c_[np.arange(40.0), np.zeros((40, 2))], np.arange(40) > 20)
    with pytest.raises(error, match=message):
        model.fit(X, y, **more)
    with pytest.raises(NotFittedError):
        model.predict(X)


@every
@FEW
def test_every_estimator_rejects_invalid_labels_and_weights(model):
    refuses(model, X, np.zeros(60), "class")
    refuses(model, X, np.arange(60) % 3, r"The type of the target is multiclass\.")
    refuses(model, X, np.where(Y == 1, np.nan, 0.0), r"Input y contains NaN\.")
    refuses(model, X, Y[:-1], "inconsistent numbers of samples|scores of shape")
    refuses(model, X, None, "requires y to be passed, but the target y is None")
    for value, message in (
        (-1.0, r"sample_weight must not be negative, got -1\.0 in row 7"),
        (np.nan, "Input sample_weight contains NaN"),
        (np.inf, "Input sample_weight contains infinity"),
    ):
        weight = np.ones(60)
        weight[7] = value
        refuses(model, X, Y, message, sample_weight=weight)
    for label in (0, 1):
        refuses(model, X, Y, f"sample_weight is zero for .*{label}", sample_weight=label != Y)


@every
@FEW
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_every_estimator_names_the_column_of_infinity(model, value):
    names = ["a", "b", "debt"]
    for make, name in ((np.asarray, "2"), (lambda X: pd.DataFrame(X, columns=names), "'debt'")):
        broken = X.copy()
        broken[41, 2] = value
        message = f"column {name} is {value} in row 41; X must not hold infinity"
        refuses(model, make(broken), Y, message)
        fitted = clone(model).fit(make(X), Y)
        for question in ("decision_function", "predict", "predict_proba", "score"):
            if hasattr(fitted, question):
                with pytest.raises(ValueError, match=message):
                    getattr(fitted, question)(make(broken), *([Y] if question == "score" else []))
        if hasattr(fitted, "staged_decision_function"):
            with pytest.raises(ValueError, match=message):
                list(fitted.staged_decision_function(make(broken)))


@pytest.mark.parametrize("booster", [AUCBoost, RankBoost])
@pytest.mark.parametrize("weak_ranker", ["feature", "tree", "linear"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"debt": np.inf}, r"in the rows to validate on: column 'debt' is inf in row 0;"),
        ({"debt": -np.inf}, r"column 'debt' is -inf in row 0"),
        ({"debt": "much"}, r"in X_val: column 'debt' has dtype"),
        ({"debts": 1.0}, r"in X_val: The feature names should match"),
    ],
    ids=["infinity", "minus infinity", "text", "columns"],
)
def test_errors_in_validation_rows_are_named(booster, weak_ranker, change, message):
    data = pd.DataFrame(X, columns=["age", "income", "debt"])
    model = booster(weak_ranker=weak_ranker, early_stopping=True).fit(data, Y)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(data, Y, X_val=data.assign(**change), y_val=Y)
    assert not model.__sklearn_is_fitted__()


@every
@FEW
def test_every_estimator_needs_the_columns_of_the_fit(model):
    frame = pd.DataFrame(X, columns=["age", "income", "debt"])
    fitted = clone(model).fit(frame, Y)
    for change, message in (
        (frame.drop(columns="age"), "seen at fit time, yet now missing:\n- age"),
        (frame.assign(new=1), "unseen at fit time:\n- new"),
        (frame[["income", "age", "debt"]], "must be in the same order"),
    ):
        with pytest.raises(ValueError, match=message):
            fitted.decision_function(change)
    fitted.fit(X, Y)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
        fitted.decision_function(X[:, :2])


@every
@FEW
def test_every_estimator_treats_an_unseen_category_as_missing(model):
    if isinstance(model, RankOpt) or "'linear'" in repr(model):
        pytest.skip("a linear ranker takes no categories")
    fitted = clone(model).fit(FRAME, Y)
    missing = FRAME.assign(colour=pd.Categorical([None] * 60, categories=["red"]))
    expected = fitted.decision_function(missing)
    assert_array_equal(fitted.decision_function(FRAME.assign(colour="mauve")), expected)


@every
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0], [2.0]], [0, 1]),
        ([[2.0], [2.0]], [0, 1]),
        (np.zeros((40, 2)), Y[:40]),
        (np.full((40, 2), np.nan), Y[:40]),
        (np.c_[np.full(60, np.nan), Y * 2.0], Y),
        (np.repeat(np.c_[Y, Y], 3, axis=0), np.repeat(Y, 3)),
        (np.where(Y == 1, np.nan, 1.0)[:, None], Y),
        (np.array([[-1.7e308], [1.7e308]] * 30), np.tile([0, 1], 30)),
    ],
    ids=[
        *("two rows", "two equal rows", "constant", "all missing", "one missing", "copies"),
        *("missing in one class", "largest"),
    ],
)
def test_every_estimator_makes_a_valid_model_of_poor_data(model, X, y, tmp_path, recwarn):
    if isinstance(model, RankOpt) and np.isnan(X).any():
        refuses(model, X, y, "column 0 is NaN in row")
        return
    fitted = clone(model).fit(X, y)
    assert len(recwarn) <= 1, [str(warning.message) for warning in recwarn]
    scores = fitted.decision_function(X)
    assert np.isfinite(scores).all()
    teaches = len(np.unique(np.nan_to_num(np.asarray(X), nan=-7.0), axis=0)) > 1
    assert fitted.score(X, y) >= 0.5
    if not teaches:
        assert fitted.score(X, y) == 0.5
    assert_array_equal(fitted.predict(X) == 1, scores > 0)
    fitted.save(tmp_path / "model.json")
    back = aucrank.load(tmp_path / "model.json")
    assert_array_equal(back.decision_function(X), scores)


@every
@FEW
def test_no_estimator_reads_a_damaged_file(model, tmp_path):
    path = tmp_path / "model.json"
    # Of noise alone an ensemble keeps no member.
    y = (X[:, 0] + np.roll(X[:, 1], 7) > 0).astype(int)
    clone(model).fit(X, y).save(path)
    text = path.read_text(encoding="utf-8")
    start = text.index('"model"')
    end = text.index('"library_version"')
    digits = [place for place, sign in enumerate(text) if start < place < end and sign.isdigit()]
    n_refused = 0
    for place in digits[:: max(1, len(digits) // 50)]:
        other = "8" if text[place] != "8" else "3"
        path.write_text(text[:place] + other + text[place + 1 :], encoding="utf-8")
        # Digits beyond the last bit do not matter; the checksum is of the numbers.
        try:
            same = aucrank.load(path)._to_document()
        except aucrank.ModelFormatError:
            n_refused += 1
        else:
            assert same == text
    assert n_refused > 25
    path.write_text(text[: start + len(text) // 3], encoding="utf-8")
    with pytest.raises(aucrank.ModelFormatError):
        aucrank.load(path)


# Parameters beyond the integers of the core.


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"max_depth": 10**30}, "max_depth"),
        ({"min_samples_split": 10**30}, "min_samples_split"),
        ({"min_samples_leaf": 10**30}, "min_samples_leaf"),
        ({"split": LeafRank(max_depth=10**30)}, "max_depth of LeafRank"),
        ({"split": LeafRank(max_leaves=10**30)}, "max_leaves of LeafRank"),
        ({"pruning": CrossValidatedPruning(n_folds=10**30)}, "n_folds of CrossValidatedPruning"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_parameter_beyond_64_bits_is_rejected(params, name):
    with pytest.raises(ValueError, match=f"^{name} must be "):
        TreeRank(**params).fit(X, Y)
