"""Pipelines of scikit-learn as one document: skl2onnx writes what comes before the ranker."""

import pytest
from aucrank import GradientBoostingRanker, LinearRanker, RankingForest, TreeRank
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, RobustScaler, StandardScaler

from tests.common.loans import loans

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
skl2onnx = pytest.importorskip("skl2onnx")

OPSETS = {"": 18, "ai.onnx.ml": 3}

#: Columns without gaps: what comes before has no word for them.
NUMBERS = ["age", "income"]


def rows(n_rows, seed):
    X, y = loans(n_rows, seed)
    X["trade"] = X["trade"].astype(object).where(X["trade"].notna(), "none")
    return X[[*NUMBERS, "trade"]].fillna({"age": 40.0, "income": 3000.0}), y


def before(pipeline, X, opsets=OPSETS):
    return skl2onnx.to_onnx(pipeline[:-1], X[:1], target_opset=opsets)


def check(pipeline, X, feed):
    """Compare all outputs of the document of a pipeline with what the pipeline says."""
    ranker = pipeline[-1]
    document = ranker.to_onnx(preprocessing=before(pipeline, X))
    onnx.checker.check_model(document, full_check=True)
    session = onnxruntime.InferenceSession(
        document.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    asked = [entry.name for entry in session.get_inputs()]
    found = dict(zip(names, session.run(names, {name: feed[name] for name in asked}), strict=True))
    scores = pipeline.decision_function(X)
    assert len(set(scores)) > 10
    assert_allclose(found["score"], scores, rtol=1e-12, atol=1e-12)
    assert_array_equal(found["label"], pipeline.predict(X))
    if hasattr(ranker, "predict_proba"):
        assert_allclose(found["probabilities"], pipeline.predict_proba(X), atol=1e-12)
    return found


@pytest.mark.parametrize(
    "ranker",
    [
        GradientBoostingRanker(n_rounds=20, random_state=0),
        RankingForest(n_estimators=7, aggregation="rank_mean", random_state=0),
        LinearRanker(),
        TreeRank(random_state=0),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_numbers_and_categories_of_a_frame(ranker):
    X, y = rows(800, 0)
    new, _ = rows(300, 1)
    columns = make_column_transformer(
        (StandardScaler(), NUMBERS), (OneHotEncoder(handle_unknown="ignore"), ["trade"])
    )
    pipeline = make_pipeline(columns, ranker).fit(X, y)
    new.loc[:5, "trade"] = "never seen"
    check(pipeline, new, {name: new[[name]].to_numpy() for name in new})


def test_codes_of_categories_and_columns_that_pass():
    X, y = rows(800, 0)
    columns = make_column_transformer(
        (OrdinalEncoder(), ["trade"]), (RobustScaler(), ["age"]), ("passthrough", ["income"])
    )
    pipeline = make_pipeline(columns, GradientBoostingRanker(n_rounds=20, random_state=0)).fit(X, y)
    check(pipeline, X, {name: X[[name]].to_numpy() for name in X})


def test_a_matrix_that_is_turned():
    X, y = rows(800, 0)
    X = X[NUMBERS].to_numpy()
    pipeline = make_pipeline(StandardScaler(), PCA(2), LinearRanker(thresholds=None)).fit(X, y)
    check(pipeline, X, {"X": X})


def test_columns_that_keep_their_names():
    X, y = rows(800, 0)
    X = X[NUMBERS]
    pipeline = make_pipeline(StandardScaler(), RankingForest(n_estimators=5, random_state=0))
    pipeline.set_output(transform="pandas").fit(X, y)
    check(pipeline, X, {name: X[[name]].to_numpy() for name in X})


def test_names_of_both_documents_are_told_apart():
    X, y = rows(800, 0)
    X = X[NUMBERS].to_numpy()
    pipeline = make_pipeline(StandardScaler(), GradientBoostingRanker(n_rounds=5)).fit(X, y)
    scaled = before(pipeline, X)
    for node in scaled.graph.node:
        if list(node.output) != [scaled.graph.output[0].name]:
            node.output[0] = "treeensemble"
    scaled.graph.node[-1].input[0] = "treeensemble"
    scaled.graph.input[0].name = scaled.graph.node[0].input[0] = "score"
    document = pipeline[-1].to_onnx(preprocessing=scaled)
    onnx.checker.check_model(document, full_check=True)
    session = onnxruntime.InferenceSession(document.SerializeToString())
    assert [entry.name for entry in session.get_inputs()] == ["score"]
    (found,) = session.run(["score_2"], {"score": X})
    assert_array_equal(found, pipeline.decision_function(X))


def test_what_does_not_fit_is_refused_by_name():
    X, y = rows(400, 0)
    X = X[NUMBERS].to_numpy()
    pipeline = make_pipeline(StandardScaler(), LinearRanker()).fit(X, y)
    ranker = pipeline[-1]
    with pytest.raises(TypeError, match=r"preprocessing must be an onnx\.ModelProto, got Pipeline"):
        ranker.to_onnx(preprocessing=pipeline)
    with pytest.raises(ValueError, match="brings its own inputs: leave inputs='matrix' out"):
        ranker.to_onnx(inputs="matrix", preprocessing=before(pipeline, X))
    of_one = make_pipeline(StandardScaler(), PCA(1), LinearRanker()).fit(X, y)
    with pytest.raises(ValueError, match=r"has the shape \['\?', 1\], and the model takes 2 col"):
        ranker.to_onnx(preprocessing=before(of_one, X))
    forest = RandomForestClassifier(n_estimators=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="must have one output, got"):
        ranker.to_onnx(preprocessing=skl2onnx.to_onnx(forest, X[:1], target_opset=OPSETS))
    later = before(pipeline, X, {"": 21, "ai.onnx.ml": 3})
    later.graph.node.append(onnx.helper.make_node("Identity", ["variable"], ["same"]))
    later.graph.output[0].name = "same"
    with pytest.raises(ValueError, match=r"the operator Identity as of opset 21 of ai\.onnx, and"):
        ranker.to_onnx(preprocessing=later)
    texts, y = rows(400, 0)
    encoder = make_pipeline(OrdinalEncoder(), LinearRanker()).fit(texts[["trade"]], y)
    words = before(encoder, texts[["trade"]])
    words.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.STRING
    with pytest.raises(ValueError, match="of preprocessing is no tensor of numbers"):
        encoder[-1].to_onnx(preprocessing=words)


def test_operators_that_the_later_opset_drops_are_refused_by_name():
    X, y = rows(400, 0)
    X = X[NUMBERS].to_numpy()
    pipeline = make_pipeline(StandardScaler(), LinearRanker()).fit(X, y)
    trees = skl2onnx.to_onnx(
        RandomForestClassifier(n_estimators=2, random_state=0).fit(X, y),
        X[:1],
        target_opset=OPSETS,
        options={"zipmap": False},
    )
    del trees.graph.output[0]
    with pytest.raises(ValueError, match=r"TreeEnsembleClassifier as of opset \d of ai\.onnx\.ml"):
        pipeline[-1].to_onnx(preprocessing=trees)
