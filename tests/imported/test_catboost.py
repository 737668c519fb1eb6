"""Models of CatBoost against CatBoost itself, to the last bit."""

import json

import numpy as np
import pytest
from aucrank import ModelFormatError, from_catboost
from aucrank.imported._city_hash import category_hash
from numpy.testing import assert_allclose, assert_array_equal

from tests.common.hostile_rows import hostile_rows, training_rows

catboost = pytest.importorskip("catboost")
pd = pytest.importorskip("pandas")

OPTIONS = {
    "symmetric": {},
    "leaf by leaf": {"grow_policy": "Lossguide"},
    "level by level": {"grow_policy": "Depthwise"},
    "missing values are the greatest": {"nan_mode": "Max"},
    "cross entropy": {"loss_function": "CrossEntropy"},
    "squared error": {"loss_function": "RMSE"},
    "stumps": {"depth": 1},
    "weights of classes": {"auto_class_weights": "Balanced"},
    "monotone": {"monotone_constraints": [1, 0, 0, 0, 0]},
}
COMMON = {"iterations": 20, "verbose": 0, "thread_count": 1, "random_seed": 0, "depth": 4}


def fitted(X, y, **options):
    params = {**COMMON, "allow_writing_files": False, **options}
    is_regression = options.get("loss_function") == "RMSE"
    cls = catboost.CatBoostRegressor if is_regression else catboost.CatBoostClassifier
    return cls(**params).fit(X, y)


@pytest.mark.parametrize("name", OPTIONS)
def test_scores_are_those_of_catboost_to_the_last_bit(name):
    X, y = training_rows()
    theirs = fitted(X, y, **OPTIONS[name])
    ours = from_catboost(theirs)
    rows = hostile_rows(ours, X)
    scores = ours.decision_function(rows)
    assert_array_equal(scores, theirs.predict(rows, prediction_type="RawFormulaVal"))
    assert_array_equal(ours._query("evaluate_formula", rows), scores)
    if name == "squared error":
        assert not hasattr(ours, "predict_proba")
    else:
        assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), rtol=1e-12)


def with_categories():
    X, y = training_rows()
    letters = np.array(list("ABCDEFGHIJKL"))[np.nan_to_num(X[:, 1]).astype(int)]
    frame = pd.DataFrame(X, columns=list("abcde")).assign(b=letters)
    return frame.assign(d=np.nan_to_num(X[:, 1]).astype(int) % 4), np.where(y, "good", "bad")


@pytest.mark.parametrize("grow_policy", ["SymmetricTree", "Lossguide"])
def test_categories_are_found_by_their_hash(tmp_path, grow_policy):
    frame, y = with_categories()
    theirs = fitted(frame, y, one_hot_max_size=50, cat_features=["b", "d"], grow_policy=grow_policy)
    categories = {"b": list("ABCDEFGHIJKL"), "d": [0, 1, 2, 3]}
    ours = from_catboost(theirs, categories=categories)
    assert ours.classes_.tolist() == ["bad", "good"]
    rng = np.random.default_rng(0)
    other = frame.assign(
        b=rng.choice(list("ABCDEFZ"), len(frame)), d=rng.integers(0, 9, len(frame))
    )
    expected = theirs.predict(other, prediction_type="RawFormulaVal")
    assert_array_equal(ours.decision_function(other), expected)
    theirs.save_model(str(tmp_path / "model.cbm"))
    read = from_catboost(tmp_path / "model.cbm", categories=categories)
    assert read._to_document() == ours._to_document()
    with pytest.raises(ValueError, match="hashes of the categories of column 'b': give its"):
        from_catboost(theirs)
    with pytest.raises(ValueError, match="categories of column 'b' that are not among its values"):
        from_catboost(theirs, categories={**categories, "b": ["A"]})


@pytest.mark.parametrize("length", [0, 1, 3, 4, 8, 9, 16, 17, 32, 33, 47, 64])
def test_the_hash_of_a_category_is_that_of_catboost(tmp_path, length):
    rng = np.random.default_rng(length)
    text = "".join(rng.choice(list("abcdefgh é€"), length))
    while len(text.encode()) > 64:
        text = text[:-1]
    frame = pd.DataFrame({"t": [text, "another"] * 100})
    theirs = fitted(
        frame, [1, 0] * 100, iterations=1, depth=1, one_hot_max_size=9, cat_features=["t"]
    )
    theirs.save_model(str(tmp_path / "model.json"), format="json")
    infos = json.loads((tmp_path / "model.json").read_text())["features_info"]
    ((known,),) = [of["values"] for of in infos["categorical_features"]]
    assert known in (category_hash(text), category_hash("another"))
    with pytest.raises(ValueError, match="more than 64 bytes"):
        category_hash("x" * 65)


def test_models_of_another_kind_are_refused(tmp_path):
    frame, y = with_categories()
    with pytest.raises(ModelFormatError, match=r"statistics of categories \(CTRs\): fit it with a"):
        from_catboost(fitted(frame, y, cat_features=["b"]))
    X, y = training_rows()
    with pytest.raises(ModelFormatError, match="it has 3 classes"):
        from_catboost(fitted(X, np.arange(len(y)) % 3))
    with pytest.raises(TypeError, match="a fitted estimator of CatBoost"):
        from_catboost(5)


def test_damaged_files_are_refused(tmp_path):
    X, y = training_rows(200)
    path = tmp_path / "model.json"
    fitted(X, y, iterations=1).save_model(str(path), format="json")
    whole = json.loads(path.read_text())

    def refused(change, message):
        document = json.loads(json.dumps(whole))
        change(document)
        path.write_text(json.dumps(document))
        with pytest.raises(ModelFormatError, match=message):
            from_catboost(path)

    tree = lambda document: document["oblivious_trees"][0]  # noqa: E731
    refused(lambda d: d.pop("features_info"), "it has no 'features_info'")
    refused(lambda d: tree(d)["leaf_values"].pop(), "leaves of 4 levels")
    refused(lambda d: tree(d)["splits"][0].update(split_type="New"), "a split of type New")
    refused(lambda d: tree(d)["splits"][0].update(float_feature_index=77), "it has no 77")
    refused(lambda d: tree(d)["leaf_values"].__setitem__(0, None), "tree 0: ")
    refused(lambda d: d.update(scale_and_bias=[1, [0, 0, 0]]), "it has 3 classes")
    path.write_text(json.dumps(whole)[:-9])
    with pytest.raises(ModelFormatError):
        from_catboost(path)
