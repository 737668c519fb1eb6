"""Models of other libraries with options that change scores, imported and in seven forms.

    python -m benches.studies.imported_models [--rows 400] [--markdown FILE]

Each model is fitted to 800 rows with missing values, a column of categories where the library has
them, and many zeros. It scores rows of odd numbers, of its thresholds, and of their neighbours in
both precisions. A form has "=" where all of its scores are those of the library to the last bit,
the largest difference where not, and "-" where it is refused by name, with an error that says why.
Linear models, and PMML, are compared with the imported scores, from which they may differ in the
order of a sum. Needs LightGBM, XGBoost, CatBoost, DuckDB, onnxruntime and a C compiler.
"""

import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from ctypes import CDLL, POINTER, c_char_p, c_double
from pathlib import Path
from subprocess import run
from warnings import catch_warnings, simplefilter

import aucrank
import catboost
import lightgbm
import numpy as np
import xgboost
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from benches.common.machine import machine
from benches.common.options import make_parser
from tests.common.hostile_rows import hostile_rows, training_rows
from tests.common.pmml import PmmlRegression

OF_LIGHTGBM = {
    "plain": {},
    "zero_as_missing": {"zero_as_missing": True},
    "use_missing=False": {"use_missing": False},
    "dart": {"boosting": "dart", "drop_rate": 0.5},
    "rf": {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.7},
    "goss": {"data_sample_strategy": "goss"},
    "cross_entropy": {"objective": "cross_entropy"},
    "regression": {"objective": "regression"},
    "sigmoid=2.5": {"sigmoid": 2.5},
    "monotone_constraints": {"monotone_constraints": [1, 0, 0, 0, 0]},
    "a single leaf": {"min_data_in_leaf": 100_000},
    "categories": {"categorical_feature": [1]},
    "categories one by one": {"categorical_feature": [1], "max_cat_to_onehot": 30},
    "linear_tree": {"linear_tree": True},
    "multiclass": {"objective": "multiclass", "num_class": 2},
}
OF_XGBOOST = {
    "plain": {},
    "exact": {"tree_method": "exact"},
    "lossguide": {"grow_policy": "lossguide", "max_leaves": 15, "max_depth": 0},
    "dart": {"booster": "dart", "rate_drop": 0.5},
    "num_parallel_tree": {"num_parallel_tree": 3, "subsample": 0.5},
    "base_score": {"base_score": 0.123},
    "monotone_constraints": {"monotone_constraints": "(1,0,0,0,0)"},
    "reg:squarederror": {"objective": "reg:squarederror"},
    "binary:logitraw": {"objective": "binary:logitraw"},
    "binary:hinge": {"objective": "binary:hinge"},
    "a single leaf": {"gamma": 1e9},
    "enable_categorical": {"max_cat_to_onehot": 1},
    "gblinear": {"booster": "gblinear"},
}
OF_CATBOOST = {
    "plain": {},
    "Lossguide": {"grow_policy": "Lossguide"},
    "Depthwise": {"grow_policy": "Depthwise"},
    "nan_mode=Max": {"nan_mode": "Max"},
    "CrossEntropy": {"loss_function": "CrossEntropy"},
    "stumps": {"depth": 1},
    "auto_class_weights": {"auto_class_weights": "Balanced"},
    "monotone_constraints": {"monotone_constraints": [1, 0, 0, 0, 0]},
}
OF_SKLEARN = {
    "HistGradientBoostingClassifier": HistGradientBoostingClassifier(max_iter=20),
    "the same, categories": HistGradientBoostingClassifier(max_iter=20, categorical_features=[1]),
    "GradientBoostingClassifier": GradientBoostingClassifier(n_estimators=20),
    "the same, exponential loss": GradientBoostingClassifier(n_estimators=9, loss="exponential"),
    "RandomForestClassifier": RandomForestClassifier(20, max_depth=6),
    "ExtraTreesClassifier": ExtraTreesClassifier(20, max_depth=6),
    "DecisionTreeClassifier": DecisionTreeClassifier(max_depth=6),
    "LogisticRegression": LogisticRegression(),
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
    "SGDClassifier(log_loss)": SGDClassifier(loss="log_loss"),
    "RidgeClassifier": RidgeClassifier(),
    "LinearSVC": LinearSVC(),
}
#: Those that fit no missing values.
WITHOUT_GAPS = (
    GradientBoostingClassifier, LogisticRegression, LinearDiscriminantAnalysis, SGDClassifier,
    RidgeClassifier, LinearSVC,
)  # fmt: skip

#: A ranker, and what the library scores rows.
Made = tuple[aucrank.ImportedTrees | aucrank.ImportedLinear, Callable]


def of_lightgbm(X, y, options) -> Made:
    params = {"objective": "binary", "verbose": -1, "num_threads": 1, "num_leaves": 15, "seed": 0}
    params |= {"min_data_per_group": 5, "cat_smooth": 1, **options}
    rows = lightgbm.Dataset(X, label=y, params=params)
    theirs = lightgbm.train(params, rows, 20)
    return aucrank.from_lightgbm(theirs), lambda rows: theirs.predict(rows, raw_score=True)


def of_xgboost(X, y, options) -> Made:
    def matrix(rows, label=None):
        kinds = ["q", "c" if "max_cat_to_onehot" in options else "q", "q", "q", "q"]
        kinds = None if options.get("booster") == "gblinear" else kinds
        return xgboost.DMatrix(rows, label=label, feature_types=kinds, nthread=1)

    params = {"objective": "binary:logistic", "max_depth": 4, "nthread": 1, "seed": 0, **options}
    theirs = xgboost.train(params, matrix(X, y), 20)
    return (
        aucrank.from_xgboost(theirs),
        lambda rows: theirs.predict(matrix(rows), output_margin=True),
    )


def of_catboost(X, y, options) -> Made:
    common = {"iterations": 20, "verbose": 0, "thread_count": 1, "random_seed": 0, "depth": 4}
    theirs = catboost.CatBoostClassifier(allow_writing_files=False, **common | options).fit(X, y)
    return aucrank.from_catboost(theirs), lambda rows: theirs.predict(
        rows, prediction_type="RawFormulaVal"
    )


def of_sklearn(X, y, model) -> Made:
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    theirs = model.fit(np.nan_to_num(X) if isinstance(model, WITHOUT_GAPS) else X, y)
    if hasattr(theirs, "decision_function"):
        return aucrank.from_sklearn(theirs), theirs.decision_function
    return aucrank.from_sklearn(theirs), lambda rows: theirs.predict_proba(rows)[:, 1] - 0.5


LIBRARIES = {
    "LightGBM": (of_lightgbm, OF_LIGHTGBM),
    "XGBoost": (of_xgboost, OF_XGBOOST),
    "CatBoost": (of_catboost, OF_CATBOOST),
    "scikit-learn": (of_sklearn, OF_SKLEARN),
}


def by_file(ranker, rows):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        ranker.save(path)
        return aucrank.load(path).decision_function(rows)


def nullable(rows):
    return [[None if np.isnan(value) else value for value in row] for row in rows.tolist()]


def by_duckdb(ranker, rows):
    import duckdb

    with closing(duckdb.connect()) as database:
        columns = ", ".join(f"x{place} DOUBLE" for place in range(rows.shape[1]))
        database.execute(f"CREATE TABLE stored (place INTEGER, {columns})")
        marks = ", ".join("?" * (rows.shape[1] + 1))
        values = [[place, *row] for place, row in enumerate(nullable(rows))]
        database.executemany(f"INSERT INTO stored VALUES ({marks})", values)
        query = f"SELECT {ranker.to_sql('duckdb')} FROM stored ORDER BY place"
        return [score for (score,) in database.execute(query).fetchall()]


def by_sqlite(ranker, rows):
    with closing(sqlite3.connect(":memory:")) as database:
        columns = ", ".join(f"x{place} real" for place in range(rows.shape[1]))
        database.execute(f"CREATE TABLE stored ({columns})")
        marks = ", ".join("?" * rows.shape[1])
        database.executemany(f"INSERT INTO stored VALUES ({marks})", nullable(rows))
        query = f"SELECT {ranker.to_sql('sqlite')} FROM stored ORDER BY rowid"
        return [score for (score,) in database.execute(query).fetchall()]


def by_c(ranker, rows):
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "score.c"), Path(folder, "score.so")
        source.write_text(ranker.to_code("c"))
        command = ["gcc", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-o", library, source]
        run([*command, "-lm"], check=True)
        score = CDLL(str(library)).score
    score.restype, score.argtypes = c_double, [POINTER(c_double), POINTER(c_char_p)]
    return [score(row.ctypes.data_as(POINTER(c_double)), None) for row in rows]


def by_python(ranker, rows):
    names = {}
    exec(compile(ranker.to_code("python"), "score", "exec"), names)
    return [names["score"](row) for row in nullable(rows)]


def by_onnx(ranker, rows):
    from onnxruntime import InferenceSession

    session = InferenceSession(ranker.to_onnx(inputs="columns").SerializeToString())
    feeds = {node.name: rows[:, [int(node.name[1:])]] for node in session.get_inputs()}
    return session.run(["score"], feeds)[0].ravel()


def by_pmml(ranker, rows):
    engine = PmmlRegression(ranker.to_pmml())
    names = [f"x{place}" for place in range(rows.shape[1])]
    has_levels = [levels is not None for levels in ranker._schema.n_levels]

    def score(row):
        # A category is an integer there.
        values = [
            int(value) if of_levels and value is not None and value.is_integer() else value
            for value, of_levels in zip(row, has_levels, strict=True)
        ]
        return engine.score(dict(zip(names, values, strict=True)))

    return [score(row) for row in nullable(rows)]


FORMS = {
    "file": by_file,
    "DuckDB": by_duckdb,
    "sqlite": by_sqlite,
    "C": by_c,
    "Python": by_python,
    "ONNX": by_onnx,
    "PMML": by_pmml,
}


def cell(found, expected):
    """Say whether scores are the same, or how far they are from each other."""
    found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    if np.array_equal(found, expected):
        return "="
    return f"{(np.abs(found - expected) / np.maximum(np.abs(expected), 1)).max():.0e}"


def line(library, option, n_rows):
    """Return the cells of a model: its scores, and those of each form."""
    make, options = LIBRARIES[library]
    X, y = training_rows()
    try:
        ranker, scores_of = make(X, y, options[option])
    except (ValueError, TypeError) as error:
        return ["-"] * (len(FORMS) + 1), str(error)
    model = options[option]
    largest = 3.4e38 if isinstance(ranker, aucrank.ImportedTrees) else 1e20
    rows = np.ascontiguousarray(hostile_rows(ranker, X, n_rows, largest=largest))
    if isinstance(model, WITHOUT_GAPS):
        rows = np.nan_to_num(rows)
    if library == "XGBoost" and "max_cat_to_onehot" in model:
        # A category is not negative.
        rows[rows[:, 1] < 0, 1] = np.nan
    expected = np.asarray(scores_of(rows), dtype=np.float64)
    own = ranker.decision_function(rows)
    cells, why = [cell(own, expected)], ""
    for form in FORMS.values():
        try:
            cells.append(cell(form(ranker, rows), own))
        except ValueError as error:
            cells.append("-")
            why = str(error)
    return cells, why


def main():
    parser = make_parser(__doc__, rows=400)
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table here")
    args = parser.parse_args()
    heads = ["library", "option", "scores", *FORMS]
    lines = [f"| {' | '.join(heads)} |", "| --- | --- |" + " :-: |" * (len(heads) - 2)]
    for library, (_, options) in LIBRARIES.items():
        for option in options:
            with catch_warnings():
                simplefilter("ignore")
                cells, why = line(library, option, args.rows)
            lines.append(f"| {library} | {option} | {' | '.join(cells)} |")
            print(lines[-1], why, flush=True)
    versions = {of.__name__: of.__version__ for of in (aucrank, lightgbm, xgboost, catboost)}
    print(machine(), versions)
    if args.markdown:
        args.markdown.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
