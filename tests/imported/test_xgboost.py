"""Models of XGBoost against XGBoost itself, to the last bit."""

import json
from contextlib import suppress

import numpy as np
import pytest
from aucrank import ModelFormatError, from_xgboost
from numpy.testing import assert_allclose, assert_array_equal

from tests.common.hostile_rows import hostile_rows, training_rows

xgboost = pytest.importorskip("xgboost", minversion="3.1")
pd = pytest.importorskip("pandas")

#: Options that change how a row is scored.
OPTIONS = {
    "plain": {},
    "exact": {"tree_method": "exact"},
    "leaf by leaf": {"grow_policy": "lossguide", "max_leaves": 15, "max_depth": 0},
    "dart": {"booster": "dart", "rate_drop": 0.5},
    "several trees a round": {"num_parallel_tree": 3, "subsample": 0.5},
    "base score": {"base_score": 0.123},
    "monotone": {"monotone_constraints": "(1,0,0,0,0)"},
    "squared error": {"objective": "reg:squarederror"},
    "raw log-odds": {"objective": "binary:logitraw"},
    "counts": {"objective": "count:poisson"},
    "hinge": {"objective": "binary:hinge"},
    "one leaf": {"gamma": 1e9},
    "one category against the rest": {"max_cat_to_onehot": 30},
    "sets of categories": {"max_cat_to_onehot": 1},
}

PLAIN, WITH_CATEGORY = ["q"] * 5, ["q", "c", "q", "q", "q"]


def rows_of(X, types, y=None):
    return xgboost.DMatrix(X, label=y, feature_types=types, enable_categorical=True, nthread=1)


def booster(X, y, options, types=PLAIN, n_rounds=20):
    params = {"objective": "binary:logistic", "max_depth": 4, "nthread": 1, "seed": 0, **options}
    return xgboost.train(params, rows_of(X, types, y), n_rounds)


@pytest.mark.parametrize("types", [PLAIN, WITH_CATEGORY], ids=["numbers", "categories"])
@pytest.mark.parametrize("name", OPTIONS)
def test_scores_are_those_of_xgboost_to_the_last_bit(name, types):
    if name == "exact" and types is WITH_CATEGORY:
        pytest.skip("XGBoost splits no categories by exact search")
    X, y = training_rows()
    theirs = booster(X, y, OPTIONS[name], types)
    ours = from_xgboost(theirs)
    rows = hostile_rows(ours, X, 10_000, largest=3.4e38)
    if types is WITH_CATEGORY:
        # XGBoost refuses a negative category.
        rows[:, 1] = np.where(rows[:, 1] < 0, np.nan, rows[:, 1])
    scores = ours.decision_function(rows)
    assert_array_equal(scores, theirs.predict(rows_of(rows, types), output_margin=True))
    assert_array_equal(ours._query("evaluate_formula", rows), scores)
    assert [ours.decision_function(row[None])[0] for row in rows[:20]] == scores[:20].tolist()
    double = from_xgboost(theirs, precision="double").decision_function(rows)
    assert_allclose(double, scores, rtol=1e-4, atol=1e-5)
    if "objective" not in OPTIONS[name]:
        rates = theirs.predict(rows_of(rows, types))
        assert_allclose(ours.predict_proba(rows)[:, 1], rates, rtol=1e-5)


def test_a_hundred_thousand_rows_of_a_large_model_have_the_same_scores():
    X, y = training_rows(3000)
    theirs = booster(X, y, {"max_depth": 8, "min_child_weight": 0.01}, n_rounds=30)
    ours = from_xgboost(theirs)
    rows = hostile_rows(ours, X, 100_000)
    expected = theirs.predict(rows_of(rows, PLAIN), output_margin=True)
    assert_array_equal(ours.decision_function(rows), expected)


@pytest.mark.parametrize("seed", range(20))
def test_any_base_score_is_the_same_float(seed):
    X, y = training_rows(60)
    base = float(np.random.default_rng(seed).uniform(0.001, 0.999))
    theirs = booster(X, y, {"base_score": base}, n_rounds=1)
    expected = theirs.predict(rows_of(X, PLAIN), output_margin=True)
    assert_array_equal(from_xgboost(theirs).decision_function(X), expected)


def test_categories_are_matched_by_value_in_any_order_of_a_frame():
    X, y = training_rows()
    letters = np.array(list("ABCDEFGHIJKL"))[np.nan_to_num(X[:, 1]).astype(int)]
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["b"] = pd.Categorical(letters)
    frame["c"] = pd.Categorical(np.nan_to_num(X[:, 1]).astype(int) * 7)
    theirs = xgboost.XGBClassifier(n_estimators=15, enable_categorical=True, n_jobs=1)
    ours = from_xgboost(theirs.fit(frame, y))
    other = frame.assign(b=pd.Categorical(letters[::-1], categories=list("LKJIHGFEDCBA")))
    assert_array_equal(ours.decision_function(other), theirs.predict(other, output_margin=True))


def test_rounds_are_chosen_as_xgboost_does():
    X, y = training_rows()
    params = {"n_estimators": 200, "early_stopping_rounds": 3, "n_jobs": 1, "learning_rate": 0.9}
    theirs = xgboost.XGBClassifier(**params, num_parallel_tree=2)
    theirs.fit(X[:400], y[:400], eval_set=[(X[400:], y[400:])], verbose=False)
    ours = from_xgboost(theirs)
    assert ours.n_trees_ == 2 * (theirs.best_iteration + 1)
    assert_array_equal(ours.decision_function(X), theirs.predict(X, output_margin=True))
    whole = from_xgboost(theirs.get_booster())
    expected = theirs.get_booster().predict(xgboost.DMatrix(X), output_margin=True)
    assert_array_equal(whole.decision_function(X), expected)
    some = from_xgboost(theirs, iteration_range=(0, 2))
    expected = theirs.get_booster().predict(
        xgboost.DMatrix(X), output_margin=True, iteration_range=(0, 2)
    )
    assert_array_equal(some.decision_function(X), expected)
    with pytest.raises(ValueError, match=r"iteration_range is \(5, 2\)"):
        from_xgboost(theirs, iteration_range=(5, 2))


@pytest.mark.parametrize("ending", ["json", "ubj"])
def test_files_give_the_model_of_the_booster(tmp_path, ending):
    X, y = training_rows()
    theirs = booster(X, y, {"booster": "dart"}, WITH_CATEGORY)
    theirs.save_model(tmp_path / f"model.{ending}")
    found = from_xgboost(tmp_path / f"model.{ending}")
    assert found._to_document() == from_xgboost(theirs)._to_document()


def test_another_mark_of_missing_values_is_refused():
    X, y = training_rows(200)
    theirs = xgboost.XGBClassifier(n_estimators=1, n_jobs=1, missing=-999.0).fit(X, y)
    with pytest.raises(ModelFormatError, match=r"its missing values are -999.0: fit it with"):
        from_xgboost(theirs)


def refused(document, tmp_path, message):
    path = tmp_path / "model.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    with pytest.raises(ModelFormatError, match=message):
        from_xgboost(path)


@pytest.fixture
def document():
    X, y = training_rows(200)
    return json.loads(bytes(booster(X, y, {}, n_rounds=1).save_raw("json")))


def tree_of(document):
    return document["learner"]["gradient_booster"]["model"]["trees"][0]


@pytest.mark.parametrize(
    ("column", "place", "value", "message"),
    [
        ("left_children", 0, 0, "tree 0: node 0 is reached in two ways|there is no node"),
        ("left_children", 0, 10**9, "tree 0: there is no node 1000000000"),
        ("right_children", 0, -5, "tree 0: "),
        ("split_indices", 0, 17, "split_indices name a column that is not there"),
        ("split_conditions", 0, float("nan"), "a value that is not a number"),
        ("split_conditions", 0, "one", "split_conditions does not hold numbers|could not convert"),
        ("split_type", 0, 1, "node 0 tests categories that are not there"),
        ("default_left", None, [], "default_left has 0 numbers"),
    ],
)
def test_damaged_trees_are_refused(document, tmp_path, column, place, value, message):
    tree = tree_of(document)
    if place is None:
        tree[column] = value
    else:
        tree[column][place] = value
    refused(document, tmp_path, message)


def test_damaged_documents_are_refused(document, tmp_path):
    refused("{", tmp_path, "cannot be read|can be read")
    refused('{"learner": ', tmp_path, "can be read")
    refused({"learner": {}}, tmp_path, "it has no 'gradient_booster'")
    refused([1], tmp_path, "can be read")
    document["learner"]["objective"]["name"] = "reg:new"
    refused(document, tmp_path, "the objective 'reg:new' is not known")
    document["learner"]["objective"]["name"] = "binary:logistic"
    document["learner"]["learner_model_param"]["base_score"] = "[2E0]"
    refused(document, tmp_path, "the base score is 2.0, which is not a probability")


def test_a_binary_document_that_is_cut_anywhere_is_refused(tmp_path):
    X, y = training_rows(200)
    whole = bytes(booster(X, y, {}, n_rounds=1).save_raw("ubj"))
    path = tmp_path / "model.ubj"
    for end in np.linspace(2, len(whole) - 1, 60).astype(int):
        path.write_bytes(whole[:end])
        with pytest.raises(ModelFormatError):
            from_xgboost(path)
    rng = np.random.default_rng(0)
    for _ in range(200):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), 3):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        with suppress(ModelFormatError):
            from_xgboost(path).decision_function(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "multi:softprob", "num_class": 3}, "it has 3 classes"),
        ({"booster": "gblinear"}, "the booster 'gblinear' has no trees"),
        ({"objective": "survival:cox"}, "the objective 'survival:cox' is not known"),
    ],
)
def test_models_of_another_kind_are_refused(options, message):
    X, y = training_rows()
    labels = np.arange(len(y)) % 3 if "num_class" in options else y
    with pytest.raises(ModelFormatError, match=message):
        from_xgboost(booster(np.nan_to_num(X), labels, options))
    with pytest.raises(TypeError, match="a Booster or a fitted estimator of XGBoost"):
        from_xgboost(5)
