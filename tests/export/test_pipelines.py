"""Pipelines of scikit-learn as one formula of their raw columns, against the pipeline itself."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from aucrank import (
    AURORA,
    GradientBoostingRanker,
    LinearRanker,
    PipelineExport,
    RankBoost,
    RankingEnsemble,
    RankingForest,
    RankOpt,
    Scorecard,
    TreeRank,
    TwoSidedClassifier,
)
from aucrank._export import formula as formulas
from aucrank._export import sql_layers
from aucrank._export.formula import Arithmetic, Clip
from aucrank._export.pipeline.doubles import apply, least_at
from aucrank.tree import LeafRank
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

from tests.common.applicants import applicants, new_applicants, plain_rows
from tests.common.estimators import short
from tests.common.formulas import NOT_IN_SQL, OF_NUMBERS, WITH_CATEGORIES
from tests.common.json_formula import score
from tests.common.pairwise import parametrize_pairs
from tests.common.pmml import PmmlRegression
from tests.export.test_code import RUNS, by_java_at_once

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

NUMBERS = ["age", "income", "debt", "flat"]
SPARSE_OFF = {"sparse_output": False}

#: The commonest preprocessing.
COMMON = ColumnTransformer(
    [
        ("n", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), NUMBERS),
        (
            "c",
            make_pipeline(
                SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
            ),
            ["town", "job"],
        ),
    ],
    remainder="drop",
)

BOOSTER = GradientBoostingRanker(n_rounds=12, max_leaves=6, random_state=0)
RANKERS = {
    "booster": BOOSTER,
    "standardised": LinearRanker(thresholds=None),
    "weights": RankOpt(radii=(1.0,)),
    "lines": RankBoost(n_rounds=4, weak_ranker="linear"),
}


def of_columns(**parts):
    """Return a transformer of the named columns of each part, the other ones left out."""
    return ColumnTransformer([(name, *part) for name, part in parts.items()])


PREPROCESSING = {
    "common": COMMON,
    "numbers as they are": of_columns(n=("passthrough", ["age", "debt"])),
    "mean and indicator": of_columns(
        n=(make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), NUMBERS)
    ),
    "scaled, then filled": of_columns(
        n=(make_pipeline(StandardScaler(), SimpleImputer()), NUMBERS)
    ),
    "clipped": of_columns(
        n=(
            make_pipeline(SimpleImputer(), MinMaxScaler(feature_range=(-0.3, 0.9), clip=True)),
            NUMBERS,
        )
    ),
    "four scalers": of_columns(
        n=(
            make_pipeline(
                MaxAbsScaler(), RobustScaler(), MinMaxScaler(), StandardScaler(), SimpleImputer()
            ),
            NUMBERS,
        )
    ),
    "constant fill": of_columns(
        n=(SimpleImputer(strategy="constant", fill_value=-7.5), ["age", "debt"]),
    ),
    "bins": of_columns(
        n=(
            make_pipeline(
                SimpleImputer(), RobustScaler(), KBinsDiscretizer(4, encode="onehot-dense")
            ),
            ["age", "debt"],
        ),
        k=(KBinsDiscretizer(3, encode="ordinal", strategy="uniform"), ["income"]),
        s=(KBinsDiscretizer(3), ["income"]),
        b=(make_pipeline(SimpleImputer(), Binarizer(threshold=0.1)), ["debt"]),
    ),
    "filled text": of_columns(
        n=(SimpleImputer(), ["age"]),
        c=(
            make_pipeline(
                SimpleImputer(strategy="constant", fill_value="none"),
                OneHotEncoder(handle_unknown="ignore"),
            ),
            ["town"],
        ),
    ),
    "missing as a category": of_columns(
        n=(SimpleImputer(), ["age"]),
        c=(OneHotEncoder(handle_unknown="ignore"), ["town", "job"]),
    ),
    "infrequent": of_columns(
        n=(SimpleImputer(), ["age"]),
        c=(OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=0.1), ["town", "job"]),
    ),
    "first dropped": of_columns(
        n=(SimpleImputer(), ["age"]),
        c=(
            OneHotEncoder(
                drop="first", handle_unknown="infrequent_if_exist", max_categories=3, **SPARSE_OFF
            ),
            ["town", "job"],
        ),
        b=(OneHotEncoder(drop="if_binary"), ["owner"]),
    ),
    "one-hot numbers": of_columns(
        n=(OneHotEncoder(handle_unknown="ignore"), ["rate", "flat"]),
        o=(
            OrdinalEncoder(
                handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
            ),
            ["rate"],
        ),
        r=(make_pipeline(SimpleImputer(), StandardScaler()), ["rate"]),
    ),
    "codes": of_columns(
        n=(SimpleImputer(), ["debt"]),
        c=(
            OrdinalEncoder(
                handle_unknown="use_encoded_value",
                unknown_value=-1,
                encoded_missing_value=-2,
                min_frequency=30,
            ),
            ["town", "job", "owner"],
        ),
    ),
    "scaled codes": of_columns(
        c=(
            make_pipeline(
                OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan),
                SimpleImputer(strategy="most_frequent"),
                StandardScaler(),
            ),
            ["town", "job"],
        ),
        n=(SimpleImputer(), ["debt"]),
    ),
    "means of the target": of_columns(
        c=(TargetEncoder(random_state=0), ["town", "job", "rate"]),
        n=(SimpleImputer(), ["debt"]),
    ),
    "booleans": of_columns(
        n=(SimpleImputer(), ["age"]),
        b=(OneHotEncoder(), ["owner"]),
        p=("passthrough", ["owner"]),
    ),
    "sparse and scaled": make_pipeline(
        COMMON, StandardScaler(with_mean=False), MaxAbsScaler(), RobustScaler(with_centering=False)
    ),
    "union": make_pipeline(
        of_columns(n=("passthrough", NUMBERS)),
        FeatureUnion(
            [
                ("filled", SimpleImputer()),
                ("marks", MissingIndicator()),
                ("none", "drop"),
            ],
            transformer_weights={"filled": 0.3},
        ),
    ),
    "selected": make_pipeline(COMMON, VarianceThreshold(0.01), SelectKBest(k=4)),
    "special number": of_columns(
        n=(SimpleImputer(missing_values=3.7), ["flat", "income"]),
    ),
    "marks of text": of_columns(
        t=(MissingIndicator(), ["town"]),
        c=(OneHotEncoder(handle_unknown="ignore"), ["town"]),
        n=(make_pipeline(SimpleImputer(), MinMaxScaler()), ["age"]),
    ),
}

#: Columns whose linear terms have no form.
NOT_LINEAR = {"special number"}

#: Columns with missing numbers.
LEAVES_GAPS = {"numbers as they are"}


def fitted(preprocessing, ranker, seed=0, n_rows=500):
    X, y = applicants(n_rows, seed)
    return make_pipeline(clone(preprocessing), clone(ranker)).fit(X, y)


def by_sqlite(export, new, **options):
    columns = ", ".join(f'"{name}"' for name in new)
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE TABLE stored ({columns})")
        marks = ", ".join("?" * new.shape[1])
        database.executemany(f"INSERT INTO stored VALUES ({marks})", plain_rows(new))
        query = f"SELECT {export.to_sql('sqlite', **options)} FROM stored"
        found = [score for (score,) in database.execute(query)]
    return np.array(found, dtype=float)


def by_duckdb(export, new):
    duckdb = pytest.importorskip("duckdb")
    kinds = {"f": "double", "b": "boolean"}
    columns = ", ".join(f'"{name}" {kinds.get(new[name].dtype.kind, "text")}' for name in new)
    with closing(duckdb.connect()) as database:
        database.execute(f"CREATE TABLE stored (place integer, {columns})")
        marks = ", ".join("?" * (new.shape[1] + 1))
        rows = [(place, *row) for place, row in enumerate(plain_rows(new))]
        database.executemany(f"INSERT INTO stored VALUES ({marks})", rows)
        query = f"SELECT {export.to_sql('duckdb')} FROM stored ORDER BY place"
        return np.array([score for (score,) in database.execute(query).fetchall()], dtype=float)


def by_code(export, new, language="python", folder=None, **options):
    return RUNS[language](export.to_code(language, **options), plain_rows(new), folder)


def by_onnx(export, new, **options):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx").checker.check_model(export.to_onnx(**options), full_check=True)
    session = onnxruntime.InferenceSession(
        export.to_onnx(**options).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    feed = {}
    for wanted in session.get_inputs():
        if wanted.name == "X":
            feed["X"] = new.to_numpy(dtype=float)
            continue
        column = new[wanted.name]
        if wanted.type == "tensor(string)":
            values = column.astype(object).where(column.notna(), "").to_numpy(dtype=object)
        else:
            values = column.to_numpy(dtype=float)
        feed[wanted.name] = values.reshape(-1, 1)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feed), strict=True))


def by_pmml(export, new):
    engine = PmmlRegression(export.to_pmml())
    return [engine.score(dict(zip(new, row, strict=True))) for row in plain_rows(new)]


def by_json(export, new):
    document = json.loads(export.to_json())
    assert document["version"] == 2
    return [score(document, row) for row in plain_rows(new)]


def near_cuts(export, new):
    """Return rows whose numbers are on both sides of thresholds of an export, and on them."""
    cuts = {}

    def collect(formula):
        for condition in formulas.conditions_of(formula):
            for test in formulas.tests_of(condition):
                if isinstance(test.rule, formulas.Below):
                    cuts.setdefault(test.feature, set()).add(test.rule.threshold)
        if isinstance(formula, formulas.NumberSteps):
            cuts.setdefault(formula.feature, set()).update(formula.thresholds)
        for part in formulas.parts_of(formula):
            collect(part)

    collect(export._score_formula())
    parts = [new]
    for feature, found in cuts.items():
        at = np.array(sorted(found)[:40])
        values = np.concatenate([at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf)])
        rows = new.iloc[np.arange(len(values)) % len(new)].copy()
        parts.append(rows.assign(**{new.columns[feature]: values}))
    return pd.concat(parts, ignore_index=True)


def readable(pipeline, new):
    """Return the rows for which the pipeline raises no error."""
    try:
        pipeline.decision_function(new)
    except ValueError:
        return pd.concat([row for row in each_row(new) if is_readable(pipeline, row)])
    return new


def each_row(frame):
    return (frame.iloc[[place]] for place in range(len(frame)))


def is_readable(pipeline, rows):
    try:
        pipeline.decision_function(rows)
    except ValueError:
        return False
    return True


def has_text(new):
    """Return the rows without empty texts, which ONNX takes for missing ones."""
    return ~(new == "").any(axis=1)


@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize("name", PREPROCESSING)
def test_preprocessing_folds_into_the_score_to_the_last_bit(name, ranker):
    if name in NOT_LINEAR and ranker != "booster":
        pytest.skip("linear terms have no form for it; see below")
    if name in LEAVES_GAPS and ranker == "weights":
        pytest.skip("the ranker is fitted to rows without gaps")
    pipeline = fitted(PREPROCESSING[name], RANKERS[ranker])
    export = PipelineExport(pipeline)
    new = readable(pipeline, near_cuts(export, new_applicants(300, 1)))
    assert len(new) > 100
    scores = pipeline.decision_function(new)
    assert len(np.unique(scores)) > 1
    assert_array_equal(by_code(export, new), scores)
    assert_array_equal(by_sqlite(export, new), scores)
    kept = has_text(new)
    assert_array_equal(by_onnx(export, new[kept])["score"], scores[kept])


@pytest.mark.parametrize("name", [*WITH_CATEGORIES, *OF_NUMBERS, *NOT_IN_SQL])
def test_every_ranker_can_follow(name):
    ranker = clone((WITH_CATEGORIES | OF_NUMBERS | NOT_IN_SQL)[name])
    if "special_values" in ranker.get_params():
        ranker.set_params(special_values=None)
    pipeline = fitted(COMMON, ranker)
    export = PipelineExport(pipeline)
    new = near_cuts(export, new_applicants(200, 3))
    scores = pipeline.decision_function(new)
    assert_array_equal(by_code(export, new), scores)
    assert_array_equal(by_json(export, new), scores)
    if name != "medians":
        assert_array_equal(by_sqlite(export, new), scores)
    new = new[has_text(new)]
    found = by_onnx(export, new)
    assert_array_equal(found["score"], pipeline.decision_function(new))
    assert_array_equal(found["label"], pipeline.predict(new))
    if "probabilities" in found:
        expected = pipeline.predict_proba(new)
        assert_allclose(found["probabilities"], expected, rtol=1e-12, atol=1e-15)


def test_an_ensemble_can_follow():
    ranker = short(RankingEnsemble)
    X, y = applicants(300, 0)
    pipeline = make_pipeline(clone(COMMON), ranker).fit(X, y)
    new = new_applicants(100, 3)
    export = PipelineExport(pipeline)
    assert_array_equal(by_code(export, new), pipeline.decision_function(new))
    new = new[has_text(new)]
    expected = pipeline.decision_function(new)
    assert_allclose(by_onnx(export, new)["score"], expected, rtol=1e-12, atol=1e-12)


def test_a_two_sided_classifier_can_follow():
    pipeline = fitted(COMMON, TwoSidedClassifier(ranker=TreeRank(random_state=0)))
    new = new_applicants(200, 3)
    found = by_code(PipelineExport(pipeline), new)
    assert_array_equal(found, pipeline.decision_function(new))


#: Pipelines of each kind of column and of operation.
VARIED = ["common", "clipped", "missing as a category", "one-hot numbers", "booleans", "codes"]


@parametrize_pairs(name=VARIED, language=["c", "javascript"], ranker=["booster", "standardised"])
def test_code_in_all_languages_gives_the_score_to_the_last_bit(name, ranker, language, tmp_path):
    pipeline = fitted(PREPROCESSING[name], RANKERS[ranker])
    new = new_applicants(100, 1)
    found = by_code(PipelineExport(pipeline), new, language, tmp_path)
    assert_array_equal(found, pipeline.decision_function(new))


def test_java_gives_the_score_of_every_pipeline_to_the_last_bit(tmp_path):
    new = new_applicants(100, 1)
    # The rows of the test are texts and floats.
    rows = plain_rows(new.assign(owner=new["owner"].astype(float)))
    pipelines = [
        fitted(PREPROCESSING[name], RANKERS[ranker])
        for name in VARIED
        for ranker in ("booster", "standardised")
    ]
    programs = [(PipelineExport(pipeline).to_code("java"), rows) for pipeline in pipelines]
    for pipeline, found in zip(pipelines, by_java_at_once(programs, tmp_path), strict=True):
        assert_array_equal(found, pipeline.decision_function(new), err_msg=repr(pipeline))


@pytest.mark.parametrize("ranker", ["booster", "standardised", "weights"])
@pytest.mark.parametrize("name", VARIED)
def test_other_formats_give_the_score(name, ranker):
    pipeline = fitted(PREPROCESSING[name], RANKERS[ranker])
    export = PipelineExport(pipeline)
    new = new_applicants(150, 1)
    scores = pipeline.decision_function(new)
    assert_array_equal(by_json(export, new), scores)
    assert_array_equal(by_duckdb(export, new), scores)
    # Sums of PMML have no order.
    assert_allclose(by_pmml(export, new), scores, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("ranker", ["booster", "standardised"])
@pytest.mark.parametrize("name", VARIED)
def test_postgres_gives_the_score_to_the_last_bit(name, ranker, postgres):
    pipeline = fitted(PREPROCESSING[name], RANKERS[ranker])
    new = new_applicants(150, 1)
    kinds = {"f": "float8", "b": "boolean"}
    columns = ", ".join(f'"{name}" {kinds.get(new[name].dtype.kind, "text")}' for name in new)
    postgres.execute("DROP TABLE IF EXISTS stored")
    postgres.execute(f"CREATE TABLE stored (place integer, {columns})")
    marks = ", ".join(["%s"] * (new.shape[1] + 1))
    rows = [(place, *row) for place, row in enumerate(plain_rows(new))]
    postgres.cursor().executemany(f"INSERT INTO stored VALUES ({marks})", rows)
    sql = PipelineExport(pipeline).to_sql("postgres")
    found = postgres.execute(f"SELECT {sql} FROM stored ORDER BY place").fetchall()
    expected = pipeline.decision_function(new)
    assert_array_equal(np.array([value for (value,) in found], dtype=float), expected)


@pytest.mark.parametrize("dialect", ["mysql", "bigquery", "snowflake", "spark", "tsql", "ansi"])
@pytest.mark.parametrize("name", ["clipped", "missing as a category"])
def test_sql_follows_the_grammar_of_each_dialect(name, dialect):
    sqlglot = pytest.importorskip("sqlglot")
    for ranker in ("booster", "standardised"):
        sql = PipelineExport(fitted(PREPROCESSING[name], RANKERS[ranker])).to_sql(dialect)
        grammar = {"ansi": "oracle"}.get(dialect, dialect)
        assert len(sqlglot.parse(f"SELECT {sql} AS score FROM stored", read=grammar)) == 1


def test_a_large_model_is_written_in_steps(monkeypatch):
    monkeypatch.setattr(sql_layers, "_MOST_READABLE", 20)
    ranker = RankingForest(n_estimators=15, max_depth=10, random_state=0)
    for name in ("common", "missing as a category", "one-hot numbers"):
        pipeline = fitted(PREPROCESSING[name], ranker)
        export = PipelineExport(pipeline)
        new = near_cuts(export, new_applicants(100, 1))
        assert "WITH codes" in export.to_sql("sqlite")
        assert_array_equal(by_sqlite(export, new), pipeline.decision_function(new))


def test_texts_may_hold_any_characters(tmp_path):
    texts = [
        "x",
        " ",
        "*/",
        "a\\",
        "\\u000a",
        '"',
        "a\nb",
        "é",
        "\u2028",
        "??/",
        "😀",
        "a\r",
        "NULL",
    ]
    X = pd.DataFrame({'*/ "n': [*texts, np.nan] * 20, "n": np.arange(20.0 * len(texts) + 20)})
    y = np.arange(len(X)) % 3 == 0
    for encoder in (OneHotEncoder(), OrdinalEncoder(encoded_missing_value=-1)):
        prepared = ColumnTransformer([("c", encoder, [0])], remainder="passthrough")
        ranker = GradientBoostingRanker(n_rounds=5, min_samples_leaf=1, random_state=0)
        pipeline = make_pipeline(prepared, ranker).fit(X, y)
        export, scores = PipelineExport(pipeline), pipeline.decision_function(X)
        assert len(np.unique(scores)) > 5
        for language in ("python", "c", "javascript"):
            folder = tmp_path / f"{type(encoder).__name__}_{language}"
            folder.mkdir()
            assert_array_equal(by_code(export, X, language, folder), scores)
        assert_array_equal(by_sqlite(export, X.rename(columns={'*/ "n': '*/ ""n'})), scores)
        assert_allclose(by_pmml(export, X), scores, rtol=1e-12)
        assert_array_equal(by_json(export, X), scores)


@pytest.mark.parametrize("name", VARIED)
def test_treelite_gives_the_score(name):
    treelite = pytest.importorskip("treelite")
    pipeline = fitted(PREPROCESSING[name], BOOSTER)
    export = PipelineExport(pipeline)
    new = new_applicants(150, 1)
    columns = []
    for feature, values in zip(export._schema.features, plain_rows(new.T), strict=True):
        if feature.levels is None:
            kept = [np.nan if v is None or isinstance(v, str) else v for v in values]
        else:
            # A missing value has the code after the others where it differs from an unknown one.
            codes = {level: code for code, level in enumerate(feature.levels)}
            kept = [codes.get(v, np.nan) for v in values]
        columns.append(np.array(kept, dtype=float))
    found = treelite.gtil.predict(export.to_treelite(), np.column_stack(columns)).ravel()
    assert_allclose(found, pipeline.decision_function(new), rtol=1e-12, atol=1e-12)


def test_probabilities_are_those_of_the_pipeline():
    new = new_applicants(200, 1)
    for ranker in (
        BOOSTER,
        RankingForest(n_estimators=5, max_depth=4, random_state=0),
        Scorecard(),
    ):
        pipeline = fitted(COMMON, ranker)
        export = PipelineExport(pipeline)
        expected = pipeline.predict_proba(new)[:, 1]
        for found in (
            by_code(export, new, output="probability"),
            by_sqlite(export, new, output="probability"),
        ):
            assert_allclose(found, expected, rtol=1e-12)
    calibrated = GradientBoostingRanker(
        n_rounds=5, loss="pair_exponential", calibration="sigmoid", random_state=0
    )
    pipeline = fitted(COMMON, calibrated)
    export = PipelineExport(pipeline)
    new = new[has_text(new)]
    found = by_onnx(export, new)["probabilities"]
    assert_allclose(found, pipeline.predict_proba(new), rtol=1e-12)
    with pytest.raises(
        ValueError, match="pipeline with a GradientBoostingRanker are a calibration"
    ):
        export.to_sql(output="probability")


# Doubles ------------------------------------------------------------------------------------------

FINITE = st.floats(-1e6, 1e6)
SCALES = st.floats(1e-3, 1e3)
OPERATIONS = st.lists(
    st.one_of(
        st.builds(Arithmetic, st.sampled_from("+-"), FINITE),
        st.builds(Arithmetic, st.sampled_from("*/"), SCALES),
        st.builds(lambda low, width: Clip(low, low + width), FINITE, SCALES),
    ),
    max_size=5,
)


@given(OPERATIONS, st.floats(-1e9, 1e9))
def test_the_least_double_at_a_bound_is_at_it_and_the_one_below_is_not(operations, bound):
    least = least_at(operations, bound)
    if np.isfinite(least):
        assert apply(operations, least) >= bound
        assert apply(operations, float(np.nextafter(least, -np.inf))) < bound
    else:
        extreme = float(np.copysign(np.finfo(float).max, least))
        assert (apply(operations, extreme) >= bound) == (least < 0)


@given(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=2, max_size=20),
    st.lists(st.sampled_from(["standard", "robust", "min-max", "max-abs"]), max_size=4),
)
def test_operations_are_those_of_the_scalers(values, names):
    scalers = {
        "standard": StandardScaler(),
        "robust": RobustScaler(),
        "min-max": MinMaxScaler(clip=True),
        "max-abs": MaxAbsScaler(),
    }
    X = np.array([[value, 0.0] for value in values])
    y = np.arange(len(X)) % 2
    pipeline = make_pipeline(*(clone(scalers[name]) for name in names), LinearRanker())
    pipeline.fit(X, y)
    (piece,) = PipelineExport(pipeline)._plan.columns[0].pieces
    new = np.concatenate([X, X + 0.1, -3 * X])
    expected = pipeline[:-1].transform(new)[:, 0] if names else new[:, 0]
    assert_array_equal([apply(piece, value) for value in new[:, 0].tolist()], expected)


def test_rows_of_single_precision_are_those_of_their_doubles():
    X, y = applicants(400, 0)
    single = X[["income", "debt"]].astype(np.float32)
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), clone(BOOSTER)).fit(single, y)
    new = new_applicants(200, 1)[["income", "debt"]].astype(np.float32).astype(float)
    found = by_code(PipelineExport(pipeline), new)
    assert_array_equal(found, pipeline.decision_function(new))


def test_whole_numbers_are_read_as_numbers():
    X = np.arange(60).reshape(-1, 2) % 7
    pipeline = make_pipeline(
        SimpleImputer(strategy="most_frequent"), MinMaxScaler(), RankBoost(n_rounds=5)
    ).fit(X, X[:, 0] > 3)
    found = by_code(PipelineExport(pipeline), pd.DataFrame(X))
    assert_array_equal(found, pipeline.decision_function(X))
    assert_array_equal(
        by_onnx(PipelineExport(pipeline), pd.DataFrame(X))["score"], pipeline.decision_function(X)
    )


# Missing and unknown categories -------------------------------------------------------------------


def test_an_unknown_category_is_not_a_missing_one_to_an_encoder():
    X = pd.DataFrame({"town": ["Oslo", "Bern", np.nan, "Oslo"] * 30, "n": np.arange(120.0)})
    y = [1, 0, 1, 1] * 30
    new = pd.DataFrame({"town": ["Oslo", "Bern", np.nan, "Rome", "", "nan"], "n": 60.0})
    for encoder in (
        OneHotEncoder(handle_unknown="ignore"),
        make_pipeline(
            SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
        ),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=7),
        TargetEncoder(cv=2),
    ):
        for ranker in (RankOpt(radii=(1.0,)), clone(BOOSTER)):
            if isinstance(encoder, OrdinalEncoder) and isinstance(ranker, RankOpt):
                encoder = clone(encoder).set_params(encoded_missing_value=-3)
            pipeline = make_pipeline(
                ColumnTransformer([("c", encoder, ["town"])], remainder="passthrough"), ranker
            ).fit(X, y)
            scores = pipeline.decision_function(new)
            export = PipelineExport(pipeline)
            assert_array_equal(by_code(export, new), scores)
            assert_array_equal(by_sqlite(export, new), scores)
            assert_array_equal(by_duckdb(export, new), scores)
            assert_allclose(by_pmml(export, new), scores, rtol=1e-13)


def test_where_an_encoder_raises_an_error_unknown_categories_are_zeros_or_missing():
    X = pd.DataFrame({"town": ["Oslo", "Bern", "Lyon", "Oslo"] * 30, "n": np.arange(120.0)})
    y = [1, 0, 1, 1] * 30
    new = pd.DataFrame({"town": ["Oslo", "Rome", np.nan], "n": 60.0})
    strict = make_pipeline(
        ColumnTransformer([("c", OneHotEncoder(), ["town"])], remainder="passthrough"), BOOSTER
    ).fit(X, y)
    lenient = make_pipeline(
        ColumnTransformer(
            [("c", OneHotEncoder(handle_unknown="ignore"), ["town"])], remainder="passthrough"
        ),
        clone(BOOSTER),
    ).fit(X, y)
    assert_array_equal(by_code(PipelineExport(strict), new), lenient.decision_function(new))
    codes = make_pipeline(
        ColumnTransformer([("c", OrdinalEncoder(), ["town"])], remainder="passthrough"),
        clone(BOOSTER),
    ).fit(X, y)
    coded = np.array([[2.0, 60.0], [np.nan, 60.0], [np.nan, 60.0]])
    expected = codes[-1].decision_function(coded)
    assert_array_equal(by_code(PipelineExport(codes), new), expected)
    # A linear score of a missing code has no value.
    linear = make_pipeline(codes[0], RankOpt(radii=(1.0,))).fit(X, y)
    found = np.array([by_code(PipelineExport(linear), new), by_sqlite(PipelineExport(linear), new)])
    assert np.isnan(found[:, 1:]).all()
    assert_array_equal(found[:, 0], linear.decision_function(new.head(1)).repeat(2))


def test_empty_texts_are_categories_but_not_in_onnx():
    X = pd.DataFrame({"town": ["", "Bern", np.nan, "Oslo"] * 30, "n": np.arange(120.0)})
    pipeline = make_pipeline(
        ColumnTransformer([("c", OneHotEncoder(), ["town"])], remainder="passthrough"), BOOSTER
    ).fit(X, [1, 0, 1, 1] * 30)
    export = PipelineExport(pipeline)
    scores = pipeline.decision_function(X)
    assert_array_equal(by_code(export, X), scores)
    assert_array_equal(by_sqlite(export, X), scores)
    with pytest.raises(ValueError, match="column 'town' has the empty text as a category"):
        export.to_onnx()


def test_none_and_nan_that_differ_are_refused():
    X = pd.DataFrame({"town": ["Oslo", None, np.nan, "Bern"] * 30}, dtype=object)
    pipeline = make_pipeline(OneHotEncoder(), clone(BOOSTER)).fit(X, [1, 0, 1, 1] * 30)
    with pytest.raises(ValueError, match="column 'town' distinguishes None from NaN"):
        PipelineExport(pipeline)


def test_none_is_missing_where_the_encoder_saw_none():
    X = pd.DataFrame({"town": ["Oslo", None, "Lyon", "Bern"] * 30}, dtype=object)
    pipeline = make_pipeline(OneHotEncoder(), clone(BOOSTER)).fit(X, [1, 0, 1, 1] * 30)
    found = by_code(PipelineExport(pipeline), X)
    assert_array_equal(found, pipeline.decision_function(X))


def test_gaps_are_read_in_columns_of_any_type(tmp_path):
    prepared = of_columns(i=(MissingIndicator(features="all"), ["town", "age"]))
    pipeline = fitted(prepared, RankOpt(radii=(1.0,)))
    export = PipelineExport(pipeline)
    new = new_applicants(400, 1)
    scores = pipeline.decision_function(new)
    assert len(np.unique(scores)) == 4
    for language in ("python", "javascript", "c"):
        assert_array_equal(by_code(export, new, language, tmp_path), scores)
    assert_array_equal(by_sqlite(export, new), scores)
    assert_array_equal(by_duckdb(export, new), scores)
    numbers = new.assign(town=new["town"].notna().astype(float).replace(0.0, np.nan))
    assert_array_equal(by_onnx(export, numbers)["score"], scores)


def test_a_mark_for_missing_text_is_replaced():
    imputer = SimpleImputer(missing_values="?", strategy="constant", fill_value="Bern")
    X = pd.DataFrame({"town": np.array(["Oslo", "?", "Lyon", "Bern"] * 30, dtype=object)})
    pipeline = make_pipeline(imputer, OneHotEncoder(), clone(BOOSTER)).fit(X, [1, 0, 1, 1] * 30)
    found = by_code(PipelineExport(pipeline), X)
    assert_array_equal(found, pipeline.decision_function(X))


# Structure ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_columns_may_be_chosen_in_any_way(output):
    X, y = applicants(400, 0)
    chosen = ColumnTransformer(
        [
            ("slice", StandardScaler(), slice(0, 2)),
            ("mask", SimpleImputer(), [False, False, True, *[False] * 5]),
            ("last", OneHotEncoder(sparse_output=False), [-1]),
            (
                "callable",
                OneHotEncoder(handle_unknown="ignore", sparse_output=False),
                make_column_selector(pattern="town|job"),
            ),
            ("none", StandardScaler(), []),
            ("out", "drop", ["rate"]),
        ],
        remainder=make_pipeline(SimpleImputer(), MaxAbsScaler()),
        verbose_feature_names_out=False,
    )
    pipeline = Pipeline(
        [
            ("first", "passthrough"),
            ("prepare", chosen),
            ("nothing", None),
            ("same", FunctionTransformer()),
            ("end", Pipeline([("gaps", SimpleImputer()), ("ranker", clone(BOOSTER))])),
        ]
    )
    pipeline.set_output(transform=output).fit(X, y)
    new = new_applicants(200, 1)
    found = by_code(PipelineExport(pipeline), new)
    assert_array_equal(found, pipeline.decision_function(new))


def test_empty_columns_are_dropped_or_kept_as_the_imputer_does():
    X, y = applicants(300, 0)
    X = X[["age", "debt"]].assign(empty=np.nan)
    new = new_applicants(100, 1)[["age", "debt"]].assign(empty=2.0)
    for keeps in (False, True):
        imputer = SimpleImputer(keep_empty_features=keeps, add_indicator=True)
        pipeline = make_pipeline(imputer, RankBoost(n_rounds=9)).fit(X, y)
        found = by_code(PipelineExport(pipeline), new)
        assert_array_equal(found, pipeline.decision_function(new))


def test_categories_may_go_to_the_ranker_itself():
    X, y = applicants(400, 0)
    X["town"] = X["town"].astype(object)
    prepared = of_columns(
        c=(SimpleImputer(strategy="constant", fill_value="none"), ["town"]),
        o=(OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["job"]),
        n=(SimpleImputer(), ["age"]),
    )
    ranker = GradientBoostingRanker(
        n_rounds=9, random_state=0, categorical_features=[0, 1], min_samples_leaf=5
    )
    pipeline = make_pipeline(prepared, ranker).fit(X, y)
    new = new_applicants(300, 1)
    scores = pipeline.decision_function(new)
    assert_array_equal(by_code(PipelineExport(pipeline), new), scores)
    assert_array_equal(by_sqlite(PipelineExport(pipeline), new), scores)


def test_columns_that_no_step_reads_are_no_inputs_of_onnx():
    pytest.importorskip("onnx")
    export = PipelineExport(fitted(PREPROCESSING["filled text"], BOOSTER))
    assert [given.name for given in export.to_onnx().graph.input] == ["age", "town"]


def test_a_pipeline_of_a_ranker_alone_has_the_exports_of_the_ranker():
    X, y = applicants(300, 0)
    X = X[["age", "town"]].astype({"town": "category"})
    pipeline = make_pipeline(clone(BOOSTER)).fit(X, y)
    export = PipelineExport(pipeline)
    assert by_sqlite(export, X).tolist() == pipeline.decision_function(X).tolist()
    assert export.to_sql() == pipeline[-1].to_sql()


def test_a_later_fit_does_not_change_an_export():
    pipeline = fitted(COMMON, BOOSTER)
    export = PipelineExport(pipeline)
    before = export.to_json()
    pipeline.set_params(columntransformer__n="drop").fit(*applicants(300, 5))
    assert export.to_json() == before


# Random pipelines ---------------------------------------------------------------------------------


def random_pipeline(rng):
    """Return a random preprocessing of all kinds of columns, and a ranker."""

    def one(*of):
        return of[rng.integers(len(of))]

    scalers = [
        StandardScaler(),
        MinMaxScaler(clip=bool(rng.integers(2))),
        RobustScaler(),
        MaxAbsScaler(),
    ]
    fill = SimpleImputer(
        strategy=one("mean", "median", "most_frequent"), add_indicator=bool(rng.integers(2))
    )
    numbers = [fill, *(scalers[k] for k in rng.permutation(4)[: rng.integers(4)])]
    if rng.random() < 0.3:
        numbers.append(KBinsDiscretizer(5, encode=one("ordinal", "onehot", "onehot-dense")))
    text_fill = one(
        None,
        SimpleImputer(strategy="most_frequent"),
        SimpleImputer(strategy="constant", fill_value="none"),
    )
    encoder = one(
        OneHotEncoder(
            handle_unknown=one("ignore", "infrequent_if_exist"),
            drop=one(None, "first", "if_binary"),
            min_frequency=one(None, 20, 0.15),
            max_categories=one(None, 3),
        ),
        OrdinalEncoder(
            handle_unknown="use_encoded_value",
            unknown_value=-1,
            encoded_missing_value=-2,
            min_frequency=one(None, 40),
        ),
        TargetEncoder(random_state=0),
    )
    texts = [text_fill, encoder] if text_fill is not None else [encoder]
    others = one(["rate"], ["owner"], ["rate", "owner"])
    whole = ColumnTransformer(
        [
            ("n", make_pipeline(*numbers), NUMBERS[: rng.integers(1, 5)]),
            ("t", make_pipeline(*texts), one(["town"], ["job", "town"])),
            ("o", OneHotEncoder(handle_unknown="ignore"), others),
        ],
        sparse_threshold=one(0.0, 0.3, 1.0),
    )
    last = one([], [StandardScaler(with_mean=False)], [SelectKBest(k=3)])
    ranker = one(
        GradientBoostingRanker(n_rounds=8, random_state=0),
        LinearRanker(thresholds=None),
        LinearRanker(C=5.0),
        RankOpt(radii=(1.0,)),
        RankingForest(n_estimators=3, max_depth=5, split=LeafRank(max_depth=2), random_state=0),
        RankBoost(n_rounds=6),
        AURORA(radius=1.5, depth="shallow", max_features=8, selection=None),
    )
    return make_pipeline(whole, *last, ranker)


@pytest.mark.parametrize("seed", range(30))
def test_random_pipelines_fold_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    X, y = applicants(400, seed)
    pipeline = random_pipeline(rng).fit(X, y)
    export = PipelineExport(pipeline)
    new = near_cuts(export, new_applicants(200, seed + 100))
    scores = pipeline.decision_function(new)
    assert_array_equal(by_code(export, new), scores)
    assert_array_equal(by_sqlite(export, new), scores)
    kept = has_text(new)
    assert_array_equal(by_onnx(export, new[kept])["score"], scores[kept])


# Refusals -----------------------------------------------------------------------------------------


class OwnScaler(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return np.asarray(X) * 2


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (PCA(), "step 'columntransformer__n__pca' is a PCA, which has no form"),
        (PowerTransformer(), "step 'columntransformer__n__powertransformer' is a PowerTransformer"),
        (KNNImputer(), "is a KNNImputer, .*: steps that are exported are Binarizer, .*, selectors"),
        (OwnScaler(), "step 'columntransformer__n__ownscaler' is a OwnScaler"),
        (FunctionTransformer(np.abs), "FunctionTransformer is exported only without a function"),
        (KBinsDiscretizer(dtype=np.float32), "KBinsDiscretizer with dtype=.*float32.* rounds"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseEstimator) else "",
)
def test_steps_that_do_not_fold_are_named(step, words):
    prepared = of_columns(n=(make_pipeline(SimpleImputer(), step), ["age", "debt"]))
    with pytest.raises(ValueError, match=words):
        PipelineExport(fitted(prepared, BOOSTER))


def test_what_is_not_a_pipeline_of_a_ranker_is_refused():
    with pytest.raises(TypeError, match="pipeline must be a Pipeline, got a RankBoost"):
        PipelineExport(RankBoost())
    X, y = applicants(100, 0)
    X = X[["income", "flat"]]
    other = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    words = "last step of the pipeline, 'logisticregression', is a LogisticRegression"
    with pytest.raises(ValueError, match=words):
        PipelineExport(other)
    with pytest.raises(NotFittedError):
        PipelineExport(make_pipeline(StandardScaler(), RankBoost()))
    with pytest.raises(NotFittedError):
        PipelineExport(make_pipeline(StandardScaler(), RankBoost().fit(X, y)))
    outside = make_pipeline(StandardScaler(), TwoSidedClassifier(ranker=GaussianNB())).fit(X, y)
    with pytest.raises(ValueError, match="a GaussianNB is not a ranker of aucrank"):
        PipelineExport(outside)


def test_a_column_read_as_text_and_as_numbers_is_refused():
    X = pd.DataFrame({"code": np.array(["1", "2", "3", "4"] * 30, dtype=object)})
    pipeline = make_pipeline(
        FeatureUnion([("t", OneHotEncoder(sparse_output=False)), ("n", StandardScaler())]),
        clone(BOOSTER),
    ).fit(X, [1, 0, 1, 1] * 30)
    words = "column 'code' is read as numbers by one step and as text by another"
    with pytest.raises(ValueError, match=words):
        PipelineExport(pipeline)


def test_weights_that_turn_a_column_around_are_refused():
    prepared = ColumnTransformer(
        [("n", SimpleImputer(), ["age", "debt"])], transformer_weights={"n": -1.0}
    )
    words = "step 'columntransformer__n' have the weight -1.0 in transformer_weights"
    with pytest.raises(ValueError, match=words):
        PipelineExport(fitted(prepared, BOOSTER))


def test_replaced_numbers_of_a_linear_term_are_refused():
    export = PipelineExport(fitted(PREPROCESSING["special number"], RANKERS["standardised"]))
    words = "column 'income' has values that a step replaces by others, and a linear term"
    with pytest.raises(ValueError, match=words):
        export.to_sql()


def test_categories_that_are_no_plain_values_are_refused():
    dates = pd.to_datetime(["2026-01-01", "2026-02-01"] * 30)
    X = pd.DataFrame({"day": np.array(dates.to_pydatetime(), dtype=object), "n": np.arange(60.0)})
    prepared = ColumnTransformer([("c", OneHotEncoder(), ["day"])], remainder="passthrough")
    pipeline = make_pipeline(prepared, clone(BOOSTER)).fit(X, [0, 1] * 30)
    with pytest.raises(ValueError, match=r"column 'day' has the category .* of type datetime"):
        PipelineExport(pipeline)
