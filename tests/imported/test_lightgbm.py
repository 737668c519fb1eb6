"""Models of LightGBM against LightGBM itself, to the last bit."""

import numpy as np
import pytest
from aucrank import ModelFormatError, from_lightgbm
from numpy.testing import assert_allclose, assert_array_equal

from tests.common.hostile_rows import hostile_rows, training_rows

lightgbm = pytest.importorskip("lightgbm")
pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:lightgbm")

#: Options that change how a row is scored.
OPTIONS = {
    "plain": {},
    "zero is missing": {"zero_as_missing": True},
    "nothing is missing": {"use_missing": False},
    "dart": {"boosting": "dart", "drop_rate": 0.5},
    "random forest": {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.7},
    "goss": {"data_sample_strategy": "goss"},
    "cross entropy": {"objective": "cross_entropy"},
    "regression": {"objective": "regression"},
    "a steep sigmoid": {"sigmoid": 2.5},
    "monotone": {"monotone_constraints": [1, 0, 0, 0, 0]},
    "one leaf": {"min_data_in_leaf": 100_000},
    "one category against the rest": {"max_cat_to_onehot": 30},
}


def booster(X, y, options, categories=(), n_rounds=20):
    params = {
        "objective": "binary", "verbose": -1, "num_threads": 1, "num_leaves": 15, "cat_smooth": 1,
        "min_data_per_group": 5, "seed": 0, **options,
    }  # fmt: skip
    categories = list(categories)
    rows = lightgbm.Dataset(X, label=y, categorical_feature=categories or "auto", params=params)
    return lightgbm.train(params, rows, n_rounds)


@pytest.mark.parametrize("categories", [(), (1,)], ids=["numbers", "categories"])
@pytest.mark.parametrize("name", OPTIONS)
def test_scores_are_those_of_lightgbm_to_the_last_bit(name, categories):
    X, y = training_rows()
    theirs = booster(X, y, OPTIONS[name], categories)
    ours = from_lightgbm(theirs)
    rows = hostile_rows(ours, X, 10_000, largest=1e300)
    scores = ours.decision_function(rows)
    assert_array_equal(scores, theirs.predict(rows, raw_score=True, num_threads=1))
    assert_array_equal(ours._query("evaluate_formula", rows), scores)
    # One row takes another way.
    assert [ours.decision_function(row[None])[0] for row in rows[:20]] == scores[:20].tolist()
    if name == "regression":
        assert not hasattr(ours, "predict_proba")
    else:
        rates = theirs.predict(rows, num_threads=1)
        assert_allclose(ours.predict_proba(rows)[:, 1], rates, rtol=1e-14, atol=1e-300)


def test_a_hundred_thousand_rows_of_a_large_model_have_the_same_scores():
    X, y = training_rows(3000)
    theirs = booster(X, y, {"num_leaves": 255, "min_data_in_leaf": 1}, n_rounds=10)
    ours = from_lightgbm(theirs)
    rows = hostile_rows(ours, X, 100_000)
    expected = theirs.predict(rows, raw_score=True, num_threads=1)
    assert_array_equal(ours.decision_function(rows), expected)


def frame_of(X):
    letters = np.array(list("ABCDEFGHIJKL"))[np.nan_to_num(X[:, 1]).astype(int)]
    named = pd.DataFrame(X, columns=list("abcde"))
    named["b"] = pd.Categorical(np.where(np.isnan(X[:, 1]), None, letters))
    return named


def test_categories_of_pandas_and_labels_are_kept():
    X, y = training_rows()
    frame, labels = frame_of(X), np.where(y, "good", "bad")
    params = {"n_estimators": 15, "verbose": -1, "n_jobs": 1, "min_data_per_group": 5}
    theirs = lightgbm.LGBMClassifier(**params).fit(frame, labels)
    ours = from_lightgbm(theirs)
    assert ours.classes_.tolist() == ["bad", "good"]
    assert ours.feature_names_in_.tolist() == list(frame)
    other = frame.assign(b=np.random.default_rng(0).choice(list("ABCDEFGHIJKLZ"), len(frame)))
    # LightGBM matches the codes of the training frame; an unseen category is missing.
    known = other.assign(b=pd.Categorical(other["b"], categories=frame["b"].cat.categories))
    assert_array_equal(ours.decision_function(other), theirs.predict(known, raw_score=True))
    assert_array_equal(ours.predict(other), theirs.predict(known))


def test_a_model_that_stopped_early_has_the_trees_of_its_best_iteration():
    X, y = training_rows()
    stop = lightgbm.early_stopping(3, verbose=False)
    theirs = lightgbm.LGBMClassifier(n_estimators=200, verbose=-1, n_jobs=1, learning_rate=0.5)
    theirs.fit(X[:400], y[:400], eval_set=[(X[400:], y[400:])], callbacks=[stop])
    ours = from_lightgbm(theirs)
    assert ours.n_trees_ == theirs.best_iteration_ < 200
    assert_array_equal(ours.decision_function(X), theirs.predict(X, raw_score=True))
    first = from_lightgbm(theirs, num_iteration=2)
    expected = theirs.predict(X, raw_score=True, num_iteration=2)
    assert_array_equal(first.decision_function(X), expected)


def test_a_file_gives_the_model_of_the_booster(tmp_path):
    X, y = training_rows()
    theirs = booster(X, y, {}, (1,))
    theirs.save_model(tmp_path / "model.txt")
    assert from_lightgbm(tmp_path / "model.txt")._to_document() == (
        from_lightgbm(theirs)._to_document()
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"objective": "multiclass", "num_class": 3},
            "it has 3 classes: models with one score a row",
        ),
        ({"linear_tree": True}, "tree 0: it is linear in its leaves: fit with linear_tree=False"),
    ],
)
def test_models_of_another_kind_are_refused_with_a_hint(options, message):
    X, y = training_rows()
    labels = np.arange(len(y)) % 3 if "num_class" in options else y
    with pytest.raises(ModelFormatError, match=message):
        from_lightgbm(booster(np.nan_to_num(X), labels, options))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("version=v4", "version=v9", "it has version v9: v3 and v4 are read"),
        ("tree\n", "forest\n", "does not begin with the line 'tree'"),
        ("end of trees", "", "cut short: there is no line 'end of trees'"),
        ("num_leaves=15", "num_leaves=1000000000", "leaf_value has 15 numbers, not 1000000000"),
        ("left_child=1 ", "left_child=0 ", "reached in two ways|there is no node"),
        ("left_child=1 ", "left_child=99 ", "there is no node 99"),
        ("left_child=1 ", "left_child=-99 ", "there is no node 112"),
        ("split_feature=", "split_feature=7", "split_feature names a column that is not there"),
        ("threshold=", "threshold=nan ", "threshold has 15 numbers, not 14"),
        ("leaf_value=", "leaf_value=nan", "could not convert|has 15 numbers|is nan|is NaN"),
        ("num_class=1", "num_class=one", "invalid literal"),
        ("max_feature_idx=4", "max_feature_idx=5", "6 columns have 5 entries"),
        ("Column_0 Column_1", "same same", "two columns have the same name"),
        ("decision_type=", "other=", "it has no 'decision_type'"),
    ],
)
def test_damaged_texts_are_refused(tmp_path, old, new, message):
    X, y = training_rows()
    text = booster(X, y, {}, n_rounds=1).model_to_string()
    assert old in text
    (tmp_path / "model.txt").write_text(text.replace(old, new, 1))
    with pytest.raises(ModelFormatError, match=message):
        from_lightgbm(tmp_path / "model.txt")


def test_something_else_is_refused():
    with pytest.raises(TypeError, match="a Booster or a fitted estimator of LightGBM"):
        from_lightgbm(5)
    with pytest.raises(Exception, match="fit"):
        from_lightgbm(lightgbm.LGBMClassifier())
