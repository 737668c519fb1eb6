"""Scores by onnxruntime, from the documents of all families."""

import numpy as np
import pytest
from aucrank import (
    GradientBoostingRanker,
    LinearRanker,
    MartiRank,
    RankBoost,
    RankingEnsemble,
    RankingForest,
    TreeRank,
)
from aucrank.tree import DyadicSplit
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from tests.common.estimators import few_members
from tests.common.formulas import NOT_IN_SQL, OF_NUMBERS, WITH_CATEGORIES, fitted_formula
from tests.common.loans import loans

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pd = pytest.importorskip("pandas")


def answers(model, feed, **options):
    """Return the outputs of a document by name."""
    document = model.to_onnx(**options)
    onnx.checker.check_model(document, full_check=True)
    session = onnxruntime.InferenceSession(
        document.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feed), strict=True))


def columns_of(frame):
    """Return the columns of a frame as the inputs that they are: what is missing is NaN or ""."""
    found = {}
    for name in frame:
        if frame[name].dtype.kind in "iuf":
            values = frame[name].to_numpy(dtype=float)
        else:
            values = frame[name].astype(object)
            values = values.where(values.notna(), "").to_numpy(dtype=object)
        found[name] = values.reshape(-1, 1)
    return found


@pytest.mark.parametrize("name", [*WITH_CATEGORIES, *OF_NUMBERS, *NOT_IN_SQL])
def test_onnxruntime_gives_the_score(name):
    model, new = fitted_formula(name)
    found = answers(model, columns_of(new))
    assert_array_equal(found["score"], model.decision_function(new))
    assert_array_equal(found["label"], model.predict(new))
    assert ("probabilities" in found) == hasattr(model, "predict_proba")
    if "probabilities" in found:
        assert_allclose(found["probabilities"], model.predict_proba(new), rtol=1e-12, atol=1e-15)
        assert_array_equal(found["probabilities"][:, 1] > 0.5, found["label"] == model.classes_[1])


def test_a_tree_of_one_leaf_has_one_probability():
    X = np.zeros((10, 1))
    model = TreeRank(pruning=None).fit(X, [0] * 7 + [1] * 3)
    found = answers(model, {"X": X})
    assert_array_equal(found["probabilities"], model.predict_proba(X))


@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("aggregation", ["rank_mean", "rank_median"])
def test_forests_of_rankings_have_the_probabilities_of_their_steps(aggregation, bootstrap):
    # Few rows and values: new rows lie on the thresholds between training rows, and sums of ranks
    # that are equal but for their rounding lie on both sides.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(60, 4)).astype(float)
    y = rng.random(60) < (0.3 + X[:, 0] + X[:, 1]) / 4.6
    new = np.array(np.meshgrid(*[[-1e300, 0.0, 1.0, 2.0, 1e300, np.nan]] * 4)).reshape(4, -1).T
    for seed in range(10):
        model = RankingForest(
            n_estimators=6 + seed,
            max_depth=3,
            min_samples_leaf=3,
            criterion="youden",
            aggregation=aggregation,
            bootstrap=bootstrap,
            random_state=seed,
        ).fit(X, y)
        found = answers(model, {"X": new})
        assert_array_equal(found["score"], model.decision_function(new))
        assert_array_equal(found["probabilities"], model.predict_proba(new))
        assert len(set(found["probabilities"][:, 1])) > 3


def test_a_consensus_forest_is_rejected():
    X, y = loans(300, 0)
    model = RankingForest(n_estimators=3, aggregation="kendall", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="this RankingForest has no form in ONNX: "):
        model.to_onnx()


def test_pair_losses_have_no_probabilities():
    model, _ = fitted_formula("gradient boosting of pairs")
    assert [output.name for output in model.to_onnx().graph.output] == ["score", "label"]


@pytest.mark.parametrize("n_rows", [1, 1000])
def test_an_ensemble_is_one_document(n_rows):
    X, y = loans(600, 0)
    new, _ = loans(n_rows, 1)
    model = RankingEnsemble(members=few_members(), n_folds=2, random_state=0).fit(X, y)
    found = answers(model, columns_of(new))
    assert_allclose(found["score"], model.decision_function(new), rtol=1e-12, atol=1e-12)
    assert_allclose(found["probabilities"], model.predict_proba(new), rtol=1e-12)
    assert_array_equal(found["label"], model.predict(new))


def test_an_array_is_one_input():
    X, y = loans(300, 0)
    X = X[["age", "months", "income"]].to_numpy()
    model = GradientBoostingRanker(n_rounds=20, random_state=0).fit(X, y)
    assert_array_equal(answers(model, {"X": X})["score"], model.decision_function(X))
    by_column = {f"x{place}": X[:, [place]] for place in range(3)}
    found = answers(model, by_column, inputs="columns")
    assert_array_equal(found["score"], model.decision_function(X))


def test_a_frame_of_numbers_may_be_one_input():
    X, y = loans(300, 0)
    X = X.assign(noise=X["noise"].astype("category"))[["age", "noise"]]
    model = RankBoost(n_rounds=20).fit(X, y)
    found = answers(model, {"X": X.to_numpy(dtype=float)}, inputs="matrix")
    assert_array_equal(found["score"], model.decision_function(X))


@pytest.mark.parametrize(
    ("levels", "fed"),
    [
        (["b", "", "a\n<>é\U0001f600"], ["b", "", "a\n<>é\U0001f600", "c"]),
        ([3, -1, 2**53], [3.0, -1.0, 2.0**53, np.nan, 7.0]),
        ([0.5, 1e300, 2.0], [0.5, 1e300, 2.0, np.nan]),
        ([True, False], [1.0, 0.0, np.nan]),
    ],
    ids=["text", "whole", "numbers", "truth"],
)
def test_categories_of_every_type(levels, fed):
    X = pd.DataFrame({"kind": pd.Categorical(levels * 30, categories=levels)})
    y = np.tile([1, 0, 0, 1, 1, 0], 30)[: len(X)]
    y[: len(levels)] = 1
    model = RankBoost(n_rounds=5, level_rates="raw").fit(X, y)
    known = [value for value in levels for entry in fed if entry == value]
    new = pd.DataFrame({"kind": pd.Categorical([*known, None], categories=levels)})
    values = np.array(
        [entry for value in levels for entry in fed if entry == value]
        + [next(entry for entry in fed if entry not in levels)],
        dtype=object if isinstance(levels[0], str) else float,
    )
    found = answers(model, {"kind": values.reshape(-1, 1)})["score"]
    assert len(set(found)) > 1
    assert_array_equal(found, model.decision_function(new))


def test_many_categories_and_wide_sets():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 300, 3000)
    X = pd.DataFrame({"place": pd.Categorical([f"p{code}" for code in codes]), "x": codes / 7})
    y = rng.random(3000) < 0.1 + 0.8 * (codes * 7919 % 13 < 6)
    for model in (
        GradientBoostingRanker(n_rounds=20, cuts="best", random_state=0),
        TreeRank(pruning=None, level_rates="raw"),
        RankingForest(n_estimators=5, random_state=0),
    ):
        model.fit(X, y)
        found = answers(model, columns_of(X))["score"]
        assert_allclose(found, model.decision_function(X), rtol=1e-12, atol=1e-12)
        assert len(set(found)) > 10


def test_a_constant_model_scores_all_rows():
    X = np.ones((20, 2))
    model = TreeRank(pruning=None).fit(X, np.arange(20) % 2)
    assert_array_equal(answers(model, {"X": X})["score"], model.decision_function(X))


def test_inputs_may_have_the_names_of_outputs():
    X, y = loans(300, 0)
    X = X.rename(columns={"age": "score", "income": "label", "months": "constant"})
    model = LinearRanker().fit(X, y)
    document = model.to_onnx()
    assert [value.name for value in document.graph.input] == list(X)
    names = [output.name for output in document.graph.output]
    assert names == ["score_2", "label_2", "probabilities"]
    found = answers(model, columns_of(X))
    assert_array_equal(found["score_2"], model.decision_function(X))


@given(st.data())
def test_onnxruntime_scores_small_models_of_extreme_numbers(data):
    numbers = st.sampled_from([-2.5, -0.0, 0.0, 0.1, 1.0, 1e9, 1 / 3, np.nan])
    n_rows = data.draw(st.integers(4, 30))
    X = np.array([[data.draw(numbers) for _ in range(2)] for _ in range(n_rows)])
    y = np.array([data.draw(st.booleans()) for _ in range(n_rows)])
    y[:2] = [True, False]
    names = sorted(name for name in WITH_CATEGORIES if "special" not in name)
    model = clone(WITH_CATEGORIES[data.draw(st.sampled_from(names))]).fit(X, y)
    new = np.array([[data.draw(numbers) for _ in range(2)] for _ in range(6)])
    found = answers(model, {"X": new})
    assert_allclose(found["score"], model.decision_function(new), rtol=1e-12, atol=1e-12)


def test_unsupported_models_are_named_in_the_error():
    X, y = loans(300, 0)
    with pytest.raises(ValueError, match="this TreeRank has no form in ONNX: each split of a Dyad"):
        TreeRank(split=DyadicSplit(level=2)).fit(X[["age"]], y).to_onnx()
    model = RankBoost(n_rounds=2).fit(X, y)
    with pytest.raises(ValueError, match="column 'trade' holds text, which no matrix of numbers"):
        model.to_onnx(inputs="matrix")
    with pytest.raises(ValueError, match="inputs must be one of 'auto', 'columns', 'matrix'"):
        model.to_onnx(inputs="rows")
    mixed = pd.DataFrame({"kind": pd.Categorical(["a", 1] * 10)})
    with pytest.raises(ValueError, match="column 'kind' has numbers and text as categories"):
        RankBoost(n_rounds=2).fit(mixed, [0, 1] * 10).to_onnx()
    far = pd.DataFrame({"kind": pd.Categorical([2**60 + 1, 1] * 10)})
    with pytest.raises(ValueError, match="column 'kind' has the category 1152921504606846977"):
        RankBoost(n_rounds=2).fit(far, [0, 1] * 10).to_onnx()
    nameless = pd.DataFrame({"": [1.0, 2.0] * 10})
    with pytest.raises(ValueError, match="column 0 has an empty name, which ONNX cannot write"):
        RankBoost(n_rounds=2).fit(nameless, [0, 1] * 10).to_onnx()


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("ranker", [RankBoost(n_rounds=20), MartiRank(n_rounds=4)], ids=repr)
def test_calibrated_probabilities_are_an_output(ranker, calibration):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    y = rng.random(3000) < 1 / (1 + np.exp(1 - 1.5 * X[:, 0] - X[:, 1]))
    model = clone(ranker).set_params(calibration=calibration, random_state=0).fit(X, y)
    found = answers(model, {"X": X})
    assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-12)
    assert_array_equal(found["probabilities"][:, 1] > 0.5, found["score"] > 0)
    assert_array_equal(found["label"], model.predict(X))
