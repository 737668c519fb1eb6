"""Imported models do what other rankers do: exports, files, explanations, the command line."""

import json
import pickle
import sqlite3
from contextlib import closing

import aucrank
import numpy as np
import pytest
from aucrank import ModelFormatError, from_sklearn, load
from aucrank.cli import main
from aucrank.imported import ImportedLinear, ImportedTrees, import_file
from aucrank.inspection import shapley_values
from aucrank.metrics import recalibration
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from tests.common.hostile_rows import hostile_rows, training_rows
from tests.common.json_formula import score
from tests.common.pmml import PmmlRegression

pd = pytest.importorskip("pandas")

LETTERS = np.array(list("ABCDEFGHIJKL"))


def frame_of(X):
    frame = pd.DataFrame(X, columns=list("abcde"))
    letters = LETTERS[np.nan_to_num(X[:, 1]).astype(int) % 12]
    return frame.assign(b=pd.Categorical(np.where(np.isnan(X[:, 1]), None, letters)))


def from_lightgbm(X, y, **params):
    lightgbm = pytest.importorskip("lightgbm")
    common = {"n_estimators": 15, "verbose": -1, "n_jobs": 1, "min_data_per_group": 5}
    return aucrank.from_lightgbm(lightgbm.LGBMClassifier(**common, **params).fit(X, y))


def from_xgboost(X, y, **options):
    xgboost = pytest.importorskip("xgboost", minversion="3.1")
    theirs = xgboost.XGBClassifier(n_estimators=15, enable_categorical=True, n_jobs=1)
    return aucrank.from_xgboost(theirs.fit(X, y), **options)


def from_catboost(X, y):
    catboost = pytest.importorskip("catboost")
    common = {"iterations": 15, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    return aucrank.from_catboost(catboost.CatBoostClassifier(**common, nan_mode="Max").fit(X, y))


MAKERS = {
    "LightGBM": lambda X, y: from_lightgbm(frame_of(X), y),
    "LightGBM, a steep sigmoid": lambda X, y: from_lightgbm(X, y, sigmoid=2.5),
    "LightGBM, zero is missing": lambda X, y: from_lightgbm(X, y, zero_as_missing=True),
    "XGBoost": lambda X, y: from_xgboost(frame_of(X), y),
    "XGBoost, double": lambda X, y: from_xgboost(frame_of(X), y, precision="double"),
    "CatBoost": from_catboost,
    "histograms": lambda X, y: from_sklearn(
        HistGradientBoostingClassifier(max_iter=15, categorical_features="from_dtype").fit(
            frame_of(X), y
        )
    ),
    "logistic regression": lambda X, y: from_sklearn(LogisticRegression().fit(np.nan_to_num(X), y)),
    "forest": lambda X, y: from_sklearn(
        RandomForestClassifier(15, max_depth=6, random_state=0).fit(X, y)
    ),
}


@pytest.fixture(scope="module", params=MAKERS)
def made(request):
    """Return a ranker, new rows as a frame, and the scores."""
    X, y = training_rows()
    ranker = MAKERS[request.param](X, y)
    rows = hostile_rows(ranker, X, 250)
    if isinstance(ranker, ImportedLinear):
        # Missing values are errors here, and NULL or NaN elsewhere. PostgreSQL raises an error if a
        # product underflows, and means of a background leave no digits next to 1e38.
        rows = np.round(np.clip(np.nan_to_num(rows), -1e6, 1e6), 9)
    new = pd.DataFrame(rows, columns=ranker._schema.shown_names)
    if ranker._schema.has_categories:
        drawn = np.random.default_rng(0).choice(["Z", None, *LETTERS], len(new))
        new["b"] = drawn.astype(object)
    given = new if ranker._schema.names else rows
    return ranker, new, ranker.decision_function(given), given


def plain_rows(new):
    return new.astype(object).where(new.notna(), None).to_numpy().tolist()


def is_single(ranker):
    return isinstance(ranker, ImportedTrees) and ranker._sum["is_single"]


def test_a_saved_model_and_a_pickle_give_the_same_bits(made, tmp_path):
    ranker, _, scores, given = made
    ranker.save(tmp_path / "model.json")
    read = load(tmp_path / "model.json")
    assert read._to_document() == ranker._to_document()
    assert read.source == ranker.source
    for other in (read, pickle.loads(pickle.dumps(ranker))):
        assert_array_equal(other.decision_function(given), scores)


def test_databases_give_the_same_bits_or_say_why_not(made):
    ranker, new, scores, _ = made
    with closing(sqlite3.connect(":memory:")) as database:
        new.to_sql("stored", database, index=False)
        if is_single(ranker):
            with pytest.raises(ValueError, match="'sqlite' has no numbers of single precision"):
                ranker.to_sql("sqlite")
        else:
            query = f"SELECT {ranker.to_sql('sqlite')} FROM stored"
            assert_array_equal([found for (found,) in database.execute(query)], scores)
    duckdb = pytest.importorskip("duckdb")
    with closing(duckdb.connect()) as database:
        database.register("stored", new.assign(place=np.arange(len(new))))
        database.execute("CREATE TABLE kept AS SELECT * FROM stored")
        for column in new.select_dtypes("number"):
            database.execute(f"UPDATE kept SET {column} = NULL WHERE isnan({column})")
        query = f"SELECT {ranker.to_sql('duckdb')} FROM kept ORDER BY place"
        found = [found for (found,) in database.execute(query).fetchall()]
        assert_array_equal(np.array(found, dtype=float), scores)


def test_postgres_gives_the_same_bits(made, postgres):
    ranker, new, scores, _ = made
    kinds = ["float8" if of.levels is None else "text" for of in ranker._schema.features]
    types = ", ".join(f'"{c}" {kind}' for c, kind in zip(new, kinds, strict=True))
    postgres.execute("DROP TABLE IF EXISTS imported")
    postgres.execute(f"CREATE TABLE imported (place integer, {types})")
    marks = ", ".join(["%s", *(f"%s::{kind}" for kind in kinds)])
    rows = [[place, *row] for place, row in enumerate(plain_rows(new))]
    postgres.cursor().executemany(f"INSERT INTO imported VALUES ({marks})", rows)
    query = f"SELECT {ranker.to_sql('postgres')} FROM imported ORDER BY place"
    found = [found for (found,) in postgres.execute(query).fetchall()]
    assert_array_equal(np.array(found, dtype=float), scores)


@pytest.mark.parametrize("language", ["python", "c", "javascript", "java"])
def test_code_gives_the_same_bits(made, language, tmp_path):
    from tests.export.test_code import by_c, by_java, by_javascript, by_python

    ranker, new, scores, _ = made
    run = {"python": by_python, "c": by_c, "javascript": by_javascript, "java": by_java}[language]
    found = run(ranker.to_code(language), plain_rows(new), tmp_path)
    assert_array_equal(np.array(found, dtype=float), scores)


def test_onnxruntime_gives_the_same_bits(made):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    ranker, new, scores, given = made
    session = onnxruntime.InferenceSession(ranker.to_onnx(inputs="columns").SerializeToString())
    feeds = {
        node.name: new[[node.name]].fillna("").to_numpy(dtype=object)
        if "string" in node.type
        else new[[node.name]].to_numpy(dtype=np.float64)
        for node in session.get_inputs()
    }
    found, rates = session.run(["score", "probabilities"], feeds)
    assert_array_equal(found.ravel(), scores)
    assert_allclose(rates, ranker.predict_proba(given), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("method", ["intercept", "slope", "isotonic"])
def test_log_odds_that_are_a_multiple_of_the_score_are_recalibrated(method):
    ranker = MAKERS["LightGBM, a steep sigmoid"](*training_rows())
    X, y = training_rows(seed=2)
    rates = ranker.predict_proba(X)[:, 1]
    expected = recalibration(y, rates, method=method).probability(rates)
    found = aucrank.recalibrate(ranker, X, y, method=method).predict_proba(X)[:, 1]
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_json_and_pmml_give_the_score(made):
    ranker, new, scores, _ = made
    document = json.loads(ranker.to_json())
    rows = plain_rows(new)[:60]
    assert_array_equal([score(document, row) for row in rows], scores[:60])
    if is_single(ranker):
        with pytest.raises(ValueError, match="PMML has no numbers of single precision"):
            ranker.to_pmml()
        return
    engine = PmmlRegression(ranker.to_pmml())
    found = [engine.score(dict(zip(new, row, strict=True))) for row in rows]
    assert_allclose(found, scores[:60], rtol=1e-13, atol=1e-14)


def test_shapley_values_add_up_to_the_score(made):
    ranker, _, scores, given = made
    few, background = given[:5], given[5:25]
    found = shapley_values(ranker, few, background=background)
    total = found.values.sum(axis=1) + scores[5:25].mean()
    assert_allclose(total, scores[:5], rtol=1e-5, atol=1e-6)


def test_a_report_has_the_area_of_the_imported_model(made, tmp_path):
    ranker, _, _, _ = made
    X, y = training_rows()
    given = frame_of(X) if ranker._schema.has_categories else X
    given = np.nan_to_num(X) if isinstance(ranker, ImportedLinear) else given
    aucrank.report(ranker, given, y).save(tmp_path / "page.html")
    assert f"{ranker.score(given, y):.4f}" in (tmp_path / "page.html").read_text()


def test_an_imported_model_cannot_be_fitted():
    X, y = training_rows()
    with pytest.raises(TypeError, match="a model that another library has fitted: fit it there"):
        ImportedTrees().fit(X, y)
    ranker = MAKERS["forest"](X, y)
    assert clone(ranker).source == ranker.source
    with pytest.raises(Exception, match="not fitted"):
        clone(ranker).predict(X)


def test_the_command_line_imports_files_by_their_content(tmp_path, monkeypatch, capsys):
    lightgbm = pytest.importorskip("lightgbm")
    monkeypatch.chdir(tmp_path)
    X, y = training_rows()
    params = {"objective": "binary", "verbose": -1, "num_threads": 1}
    theirs = lightgbm.train(params, lightgbm.Dataset(X, label=y), 3)
    theirs.save_model("model.any")
    assert main(["import", "model.any"]) == 0
    assert "imported 3 trees, " in capsys.readouterr().out
    assert_array_equal(
        load("model.aucrank.json").decision_function(X), theirs.predict(X, raw_score=True)
    )
    assert main(["describe", "model.aucrank.json"]) == 0
    assert "added one by one in double precision; in log-odds" in capsys.readouterr().out
    assert main(["import", "model.any", "--precision", "double"]) == 1
    assert "precision is not an option of a model of LightGBM" in capsys.readouterr().err
    assert main(["import", "model.aucrank.json", "-o", "again.json"]) == 1
    assert "is a model of aucrank already" in capsys.readouterr().err
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    assert main(["import", "rows.csv"]) == 1
    assert "rows.csv is none of the files that are imported" in capsys.readouterr().err


def test_files_of_all_libraries_are_recognised(tmp_path):
    X, y = training_rows(300)
    xgboost, catboost = pytest.importorskip("xgboost", "3.1"), pytest.importorskip("catboost")
    theirs = xgboost.train({"objective": "binary:logistic"}, xgboost.DMatrix(X, label=y), 2)
    for name in ("model.json", "model.ubj"):
        theirs.save_model(tmp_path / name)
        assert import_file(tmp_path / name).source.startswith("XGBoost")
    quiet = {"iterations": 2, "verbose": 0, "allow_writing_files": False}
    other = catboost.CatBoostClassifier(**quiet).fit(X, y)
    for form in ("json", "cbm"):
        other.save_model(str(tmp_path / f"other.{form}"), format=form)
        assert import_file(tmp_path / f"other.{form}").source == "CatBoost, Logloss"
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(ModelFormatError, match="is none of the files that are imported"):
        import_file(tmp_path / "deep.json")
