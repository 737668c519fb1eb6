"""Rankers as steps of pipelines that skl2onnx converts, scored by onnxruntime."""

import json

import numpy as np
import pytest
from aucrank import GradientBoostingRanker, RankBoost, RankingForest, TreeRank
from aucrank._export import formula
from aucrank._export.onnx.leaf_numbers import leaf_numbers
from aucrank._export.onnx.trees import TreeTable
from aucrank.tree import DyadicSplit, LeafRank
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from tests.common.estimators import ONE_OF_EACH
from tests.common.formulas import NOT_IN_SQL, OF_NUMBERS, WITH_CATEGORIES, fitted_formula
from tests.common.loans import loans

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
skl2onnx = pytest.importorskip("skl2onnx")
pd = pytest.importorskip("pandas")

types = pytest.importorskip("skl2onnx.common.data_types")

#: The least versions of operators that rankers take, and those that skl2onnx takes by itself.
OPSETS = [{"": 15, "ai.onnx.ml": 3}, {"": 18, "ai.onnx.ml": 3}, 17, None]

RANKERS = {name: model for name, model in ONE_OF_EACH.items() if hasattr(model, "onnx_converter")}


def answers(model, feed, initial_types=None, **options):
    """Return the outputs of a document by name."""
    if initial_types is None:
        (X,) = feed.values()
        initial_types = [("X", types.guess_data_type(X)[0][1])]
    document = skl2onnx.to_onnx(model, initial_types=initial_types, **options)
    onnx.checker.check_model(document, full_check=True)
    versions = {opset.domain: opset.version for opset in document.opset_import}
    assert versions.get("ai.onnx.ml", 3) <= 3
    session = onnxruntime.InferenceSession(
        document.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feed), strict=True))


def columns_of(frame):
    """Return the types and the feed of the columns of a frame, numbers as doubles."""
    kinds, feed = [], {}
    for name in frame:
        if frame[name].dtype.kind in "iuf":
            values, kind = frame[name].to_numpy(dtype=float), types.DoubleTensorType
        else:
            values = frame[name].astype(object)
            values, kind = values.where(values.notna(), "").to_numpy(), types.StringTensorType
        kinds.append((name, kind([None, 1])))
        feed[name] = values.reshape(-1, 1)
    return kinds, feed


def check(model, X, found):
    """Compare outputs with what a model says of rows."""
    has_probabilities = hasattr(model, "predict_proba")
    assert list(found) == ["label", *["probabilities"] * has_probabilities, "score"]
    scores = model.decision_function(X)
    assert found["score"].dtype == np.float64
    assert found["score"].shape == (len(scores), 1)
    assert_allclose(found["score"][:, 0], scores, rtol=1e-12, atol=1e-12)
    assert_array_equal(found["label"], model.predict(X))
    if has_probabilities:
        assert found["probabilities"].dtype == np.float64
        assert_allclose(found["probabilities"], model.predict_proba(X), rtol=1e-12, atol=1e-15)


def numbers(n_rows=400, seed=0):
    """Rows of numbers with gaps, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    y = rng.random(n_rows) < 1 / (1 + np.exp(-2 * X[:, 0] - X[:, 1]))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, np.where(y, "yes", "no")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_ends_a_pipeline(name):
    X, y = numbers()
    new, _ = numbers(200, 1)
    X, new = np.nan_to_num(X), np.nan_to_num(new)
    pipeline = make_pipeline(StandardScaler(), clone(RANKERS[name])).fit(X, y)
    check(pipeline, new, answers(pipeline, {"X": new}))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RANKERS)
def test_missing_values_are_imputed_before_every_ranker(name):
    # onnxruntime fills gaps in single precision alone; it holds these numbers and their medians.
    X, y = numbers()
    new, _ = numbers(200, 1)
    X, new = ((8 * rows).round() / 8 for rows in (X, new))
    pipeline = make_pipeline(SimpleImputer(strategy="median"), clone(RANKERS[name])).fit(X, y)
    check(pipeline, new, answers(pipeline, {"X": new.astype(np.float32)}))


@pytest.mark.parametrize("opsets", OPSETS, ids=str)
@pytest.mark.parametrize("name", [*WITH_CATEGORIES, *OF_NUMBERS, *NOT_IN_SQL])
def test_every_form_of_a_score_is_converted_with_named_columns(name, opsets):
    model, new = fitted_formula(name)
    kinds, feed = columns_of(new)
    found = answers(model, feed, kinds, target_opset=opsets)
    check(model, new, found)
    assert_array_equal(found["score"][:, 0], model.decision_function(new))
    assert len(set(found["score"][:, 0])) > 1


def test_columns_are_matched_by_name():
    model, new = fitted_formula("gradient boosting")
    kinds, feed = columns_of(new[new.columns[::-1]])
    check(model, new, answers(model, feed, kinds))


def test_inputs_are_inferred_from_the_frame():
    X, y = loans(400, 0)
    X = X.assign(trade=X["trade"].astype(object).where(X["trade"].notna(), ""))
    model = GradientBoostingRanker(n_rounds=20, random_state=0).fit(X, y)
    document = skl2onnx.to_onnx(model, X[:1])
    assert [value.name for value in document.graph.input] == list(X)
    session = onnxruntime.InferenceSession(document.SerializeToString())
    feed = {name: X[[name]].to_numpy() for name in X}
    check(
        model,
        X,
        dict(zip(["label", "probabilities", "score"], session.run(None, feed), strict=True)),
    )


def test_a_mixed_frame_is_encoded_before():
    X, y = loans(800, 0)
    X = X[["age", "income", "trade"]]
    X["trade"] = X["trade"].astype(object).where(X["trade"].notna(), "none")
    columns = make_column_transformer(
        (StandardScaler(), ["age", "income"]),
        (OneHotEncoder(handle_unknown="ignore"), ["trade"]),
    )
    ranker = RankingForest(n_estimators=7, aggregation="rank_mean", random_state=0)
    pipeline = make_pipeline(columns, ranker).fit(X, y)
    new = X.assign(trade=X["trade"].where(X.index > 5, "never seen"))
    kinds, feed = columns_of(new)
    check(pipeline, new, answers(pipeline, feed, kinds))


def test_codes_of_categories_keep_the_names_of_a_frame():
    X, y = loans(800, 0)
    X = X[["age", "trade"]]
    X["trade"] = X["trade"].astype(object).where(X["trade"].notna(), "none")
    columns = make_column_transformer((OrdinalEncoder(), ["trade"]), ("passthrough", ["age"]))
    ranker = GradientBoostingRanker(n_rounds=20, random_state=0)
    pipeline = make_pipeline(columns, ranker).set_output(transform="pandas").fit(X, y)
    kinds, feed = columns_of(X)
    check(pipeline, X, answers(pipeline, feed, kinds))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_])
def test_other_numbers_become_doubles(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3), scale=5).astype(dtype)
    y = rng.random(300) < 1 / (1 + np.exp(-X[:, 0].astype(float)))
    model = GradientBoostingRanker(n_rounds=20, random_state=0).fit(X, y)
    check(model, X, answers(model, {"X": X}))


def test_thresholds_that_single_precision_cannot_hold_are_exact():
    # Neighbours among the doubles, which single precision does not tell apart.
    low = 0.1
    high = np.nextafter(low, 1)
    X = np.array([[low], [high]] * 50)
    model = TreeRank(pruning=None).fit(X, [0, 1] * 50)
    found = answers(model, {"X": X})
    check(model, X, found)
    assert_array_equal(found["label"], [0, 1] * 50)


def test_extreme_and_missing_values_are_scored():
    X, y = numbers()
    model = RankingForest(n_estimators=5, random_state=0).fit(X, y)
    ends = [
        -np.finfo(np.float64).max,
        -1e300,
        -0.0,
        5e-324,
        1e300,
        np.finfo(np.float64).max,
        np.nan,
    ]
    new = np.array(np.meshgrid(ends, ends, ends)).reshape(3, -1).T
    check(model, new, answers(model, {"X": new}))


@pytest.mark.parametrize("aggregation", ["rank_mean", "rank_median"])
def test_forests_of_rankings_have_the_probabilities_of_their_steps(aggregation):
    # Few values: sums of ranks that are equal but for their rounding lie on both sides of a step.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(60, 4)).astype(float)
    y = rng.random(60) < (0.3 + X[:, 0] + X[:, 1]) / 4.6
    new = np.array(np.meshgrid(*[[-1e300, 0.0, 1.0, 2.0, 1e300, np.nan]] * 4)).reshape(4, -1).T
    for seed in range(5):
        model = RankingForest(
            n_estimators=6 + seed,
            max_depth=3,
            min_samples_leaf=3,
            criterion="youden",
            aggregation=aggregation,
            random_state=seed,
        ).fit(X, y)
        found = answers(model, {"X": new})
        assert_array_equal(found["score"][:, 0], model.decision_function(new))
        assert_array_equal(found["probabilities"], model.predict_proba(new))
        assert len(set(found["probabilities"][:, 1])) > 3


def many_categories(n_levels, level, seed=0):
    """Rows of one column of many categories, each with a rate of its own."""
    rng = np.random.default_rng(seed)
    rates = rng.random(n_levels)
    codes = np.tile(np.arange(n_levels), 20)
    y = rng.random(len(codes)) < rates[codes]
    return pd.DataFrame({"kind": pd.Categorical([level(code) for code in codes])}), y


@pytest.mark.parametrize(
    "level",
    # Doubles that single precision does not tell apart; whole numbers; text.
    [lambda code: 1 + code * 2.0**-40, lambda code: code - 60, lambda code: f"k{code}"],
    ids=["doubles", "whole", "text"],
)
def test_sets_of_many_categories_are_converted(level):
    X, y = many_categories(120, level)
    model = RankingForest(n_estimators=9, max_depth=4, random_state=0).fit(X, y)
    assert "levels" in json.dumps(json.loads(model.to_json())["score"])
    unseen = (
        ["never"] if X["kind"].dtype.categories.dtype.kind in "OUT" else [1 + 2.0**-41, 1e9, -1e9]
    )
    new = pd.DataFrame({"kind": [*X["kind"][:120], *unseen]})
    missing = "" if unseen == ["never"] else np.nan
    feed = [*new["kind"], missing]
    new = pd.concat([new, pd.DataFrame({"kind": [None]})], ignore_index=True)
    new["kind"] = new["kind"].astype(object)
    kind = types.StringTensorType if missing == "" else types.DoubleTensorType
    fed = np.array(feed, dtype=object if missing == "" else np.float64).reshape(-1, 1)
    found = answers(model, {"kind": fed}, [("kind", kind([None, 1]))])
    check(model, new, found)
    assert len(set(found["score"][:, 0])) > 10


def test_sets_of_thousands_of_categories_are_columns():
    X, y = many_categories(4000, lambda code: f"k{code}")
    X["number"] = np.random.default_rng(1).normal(size=len(X))
    for model in (
        RankingForest(n_estimators=3, max_depth=4, random_state=0),
        RankingForest(n_estimators=2, max_depth=3, split=LeafRank(max_depth=2), random_state=0),
    ):
        model.fit(X, y)
        new = X[:4000].astype({"kind": object})
        new.loc[:9, "kind"] = "never seen"
        kinds, feed = columns_of(new)
        found = answers(model, feed, kinds)
        check(model, new, found)
        assert len(set(found["score"][:, 0])) > 5


def test_trees_with_too_many_conditions_per_row_are_rejected():
    def stairs(n_steps):
        """Return a tree that asks one threshold after another."""
        nodes = []
        for k in range(n_steps):
            below = formula.Test(feature=0, rule=formula.Below(float(k)), missing_left=False)
            nodes += [formula.Branch(1.0, below, 2 * k + 1, 2 * k + 2), formula.Leaf(1.0, float(k))]
        return formula.Tree((*nodes, formula.Leaf(1.0, -1.0)))

    for n_steps, refused in ((1000, False), (1001, True)):
        table = TreeTable(lambda feature: feature, {}, lambda _: 0)
        table.add_tree(stairs(n_steps), 1.0)
        if refused:
            with pytest.raises(ValueError, match="a row by more than 1000 thresholds and categ"):
                leaf_numbers(table, np.asarray)
        else:
            attributes, _ = leaf_numbers(table, np.asarray)
            assert attributes["nodes_modes"].count("BRANCH_LT") == 1000


@pytest.mark.parametrize("labels", [[False, True], [3, 7], [0.0, 1.0], ["no", "yes"]], ids=str)
def test_labels_are_those_of_the_fit(labels):
    X, y = numbers()
    y = np.array(labels)[(y == "yes").astype(int)]
    model = TreeRank(random_state=0).fit(X, y)
    found = answers(model, {"X": X})
    check(model, X, found)
    assert set(found["label"].tolist()) == set(labels)


@pytest.mark.parametrize("zipmap", [False, True])
@pytest.mark.parametrize("key", [id, type], ids=["id", "type"])
def test_options_of_classifiers_are_accepted(zipmap, key):
    X, y = numbers()
    pipeline = make_pipeline(StandardScaler(), TreeRank(random_state=0)).fit(X, y)
    options = {key(pipeline[-1]): {"zipmap": zipmap}}
    check(pipeline, X, answers(pipeline, {"X": X}, options=options))


def test_options_of_another_step_are_ignored():
    X, y = numbers()
    pipeline = make_pipeline(StandardScaler(), TreeRank(random_state=0)).fit(X, y)
    check(pipeline, X, answers(pipeline, {"X": X}, options={id(pipeline[0]): {}}))


def test_a_search_over_pipelines_is_converted():
    X, y = numbers()
    pipeline = make_pipeline(StandardScaler(), TreeRank(random_state=0))
    search = GridSearchCV(pipeline, {"treerank__max_depth": [2, 3]}, cv=2, scoring="roc_auc")
    search.fit(X, y)
    check(search, X, answers(search, {"X": X}))


@pytest.fixture
def registered():
    """Register rankers, as ensembles of skl2onnx need it, and forget them afterwards."""
    from skl2onnx import update_registered_converter
    from skl2onnx._supported_operators import sklearn_operator_name_map
    from skl2onnx.common._registration import _converter_pool, _shape_calculator_pool

    rankers = [TreeRank(random_state=0), GradientBoostingRanker(n_rounds=20), RankBoost(n_rounds=9)]
    for ranker in rankers:
        update_registered_converter(
            type(ranker),
            f"Aucrank{type(ranker).__name__}",
            ranker.onnx_shape_calculator(),
            ranker.onnx_converter(),
            options={"raw_scores": [True, False]},
        )
    yield [(type(ranker).__name__, ranker) for ranker in rankers]
    for ranker in rankers:
        alias = sklearn_operator_name_map.pop(type(ranker))
        del _converter_pool[alias], _shape_calculator_pool[alias]


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_a_stack_of_rankers_is_converted(registered, method):
    X, y = numbers()
    X = SimpleImputer().fit_transform(X)
    rankers = registered if method == "decision_function" else registered[:2]
    stack = StackingClassifier(rankers, LogisticRegression(), stack_method=method, cv=3).fit(X, y)
    found = answers(stack, {"X": X}, options={"zipmap": False})
    assert_array_equal(found["label"], stack.predict(X))
    assert_allclose(found["probabilities"], stack.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_vote_of_rankers_is_converted(registered, dtype):
    X, y = numbers()
    X = SimpleImputer().fit_transform(X).astype(dtype)
    vote = VotingClassifier(registered[:2], voting="soft", flatten_transform=False).fit(X, y)
    found = answers(vote, {"X": X}, options={"zipmap": False})
    assert_array_equal(found["label"], vote.predict(X))
    assert_allclose(found["probabilities"], vote.predict_proba(X), atol=1e-6)


def test_unsupported_models_are_named_in_the_error():
    X, y = numbers()
    pipeline = make_pipeline(StandardScaler(), TreeRank(random_state=0)).fit(X, y)
    for opsets in ({"": 14, "ai.onnx.ml": 3}, {"": 18, "ai.onnx.ml": 2}, 14):
        with pytest.raises(
            ValueError, match=r"TreeRank takes target_opset=\{'': 15, 'ai\.onnx\.ml': 3"
        ):
            skl2onnx.to_onnx(pipeline, X[:1], target_opset=opsets)
    with pytest.raises(ValueError, match="option zipmap='columns' has no form"):
        skl2onnx.to_onnx(pipeline, X[:1], options={id(pipeline[-1]): {"zipmap": "columns"}})
    with pytest.raises(NotFittedError):
        skl2onnx.to_onnx(TreeRank(), X[:1])
    with pytest.raises(
        ValueError, match="fitted to 3 columns, and its inputs are 'X' of 2 columns"
    ):
        skl2onnx.to_onnx(pipeline[-1], X[:1, :2])
    dyadic = TreeRank(split=DyadicSplit(level=2)).fit(np.nan_to_num(X[:, :1]), y)
    with pytest.raises(ValueError, match="this TreeRank has no form in ONNX: each split of a Dyad"):
        skl2onnx.to_onnx(dyadic, X[:1, :1])


def test_columns_that_do_not_match_are_named_in_the_error():
    model, new = fitted_formula("thresholds")
    kinds, _ = columns_of(new)
    as_numbers = [(name, types.DoubleTensorType([None, 1])) for name in new]
    with pytest.raises(
        ValueError, match="column 'trade' holds text, and the input 'trade' numbers"
    ):
        skl2onnx.to_onnx(model, initial_types=as_numbers)
    as_text = [(name, types.StringTensorType([None, 1])) for name in new]
    with pytest.raises(ValueError, match="column 'age' holds numbers, and the input 'age' text"):
        skl2onnx.to_onnx(model, initial_types=as_text)
    other = [(name.upper(), kind) for name, kind in kinds]
    with pytest.raises(ValueError, match=r"and its inputs are \['AGE', "):
        skl2onnx.to_onnx(model, initial_types=other)
    with pytest.raises(
        ValueError, match="fitted to 5 columns, and its inputs are 'age' of 1 columns, "
    ):
        skl2onnx.to_onnx(model, initial_types=kinds[:3])
