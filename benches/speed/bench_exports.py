"""Sizes of exports, and processor seconds to write them and to score rows with them.

    python -m benches.speed.bench_exports [--rows 20000] [--columns 20] [--json FILE]

A default `GradientBoostingRanker`, and the model that `aucrank.compress` makes of it. Seconds are
those of the processor, of this process and of compilers: what others do on the machine hardly adds
to them. The scores of every form that is run are checked against `decision_function`.
"""

import json
import resource
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from ctypes import CDLL, POINTER, c_char_p, c_double
from pathlib import Path

import numpy as np
import pandas as pd
from aucrank import GradientBoostingRanker, compress

from benches.common.data import make_data
from benches.common.options import make_parser

DUCKDB_ROWS, SQLITE_ROWS, C_ROWS = 10_000, 200, 10_000


def cpu():
    """Return the processor seconds of this process and its children."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def seconds(work):
    start = cpu()
    result = work()
    return cpu() - start, result


def check(scores, expected):
    np.testing.assert_array_equal(np.asarray(scores, dtype=float), expected)


def by_duckdb(text, X, expected):
    import duckdb

    with closing(duckdb.connect()) as database:
        database.execute("SET threads = 1")
        frame = pd.DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])])
        database.register("frame", frame.assign(place=range(len(X))))
        database.execute("CREATE TABLE stored AS SELECT * FROM frame")
        query = f"SELECT {text} FROM stored WHERE place < {{}} ORDER BY place"
        plan, _ = seconds(lambda: database.execute(query.format(0)).fetchall())
        both, found = seconds(lambda: database.execute(query.format(len(X))).fetchall())
    check([score for (score,) in found], expected)
    return {"prepare": plan, "a row": (both - plan) / len(X)}


def by_sqlite(text, X, expected):
    with closing(sqlite3.connect(":memory:")) as database:
        columns = ", ".join(f"x{place} real" for place in range(X.shape[1]))
        database.execute(f"CREATE TABLE stored ({columns})")
        marks = ", ".join("?" * X.shape[1])
        database.executemany(f"INSERT INTO stored VALUES ({marks})", X.tolist())
        query = f"SELECT {text} FROM stored WHERE rowid <= {{}} ORDER BY rowid"
        plan, _ = seconds(lambda: database.execute(query.format(0)).fetchall())
        both, found = seconds(lambda: database.execute(query.format(len(X))).fetchall())
    check([score for (score,) in found], expected)
    return {"prepare": plan, "a row": (both - plan) / len(X)}


def by_c(text, X, expected):
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "score.c"), Path(folder, "score.so")
        source.write_text(text)
        command = ["gcc", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-o", library, source]
        compile_, _ = seconds(lambda: subprocess.run([*command, "-lm"], check=True))
        score = CDLL(str(library)).score
    score.restype, score.argtypes = c_double, [POINTER(c_double), POINTER(c_char_p)]
    rows = np.ascontiguousarray(X)
    pointers = [row.ctypes.data_as(POINTER(c_double)) for row in rows]
    taken, found = seconds(lambda: [score(pointer, None) for pointer in pointers])
    check(found, expected)
    return {"prepare": compile_, "a row": taken / len(X)}


def by_onnx(document, X, expected):
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    prepare, session = seconds(lambda: InferenceSession(document, options))
    taken, (found,) = seconds(lambda: session.run(["score"], {"X": X}))
    check(found, expected)
    return {"prepare": prepare, "a row": taken / len(X)}


def measure(model, X):
    scores = model.decision_function(X)
    forms = {
        "ONNX": (lambda: model.to_onnx().SerializeToString(), by_onnx, C_ROWS),
        "Treelite": (lambda: model.to_treelite().serialize_bytes(), None, 0),
        "C": (lambda: model.to_code("c"), by_c, C_ROWS),
        "JavaScript": (lambda: model.to_code("javascript"), None, 0),
        "Java": (lambda: model.to_code("java"), None, 0),
        "Python": (lambda: model.to_code("python"), None, 0),
        "SQL, DuckDB": (lambda: model.to_sql("duckdb"), by_duckdb, DUCKDB_ROWS),
        "SQL, sqlite": (lambda: model.to_sql("sqlite"), by_sqlite, SQLITE_ROWS),
        "JSON": (model.to_json, None, 0),
        "PMML": (model.to_pmml, None, 0),
    }
    found = {}
    for form, (write, run, n_rows) in forms.items():
        taken, text = seconds(write)
        found[form] = {"bytes": len(text), "write": taken}
        if run is not None:
            found[form] |= run(text, X[:n_rows], scores[:n_rows])
        print(f"{form:12}", ", ".join(f"{k} {v:.3g}" for k, v in found[form].items()), flush=True)
    return found


def main():
    parser = make_parser(__doc__, rows=20_000, columns=20)
    args = parser.parse_args()
    X, y = make_data(args.rows, args.columns)
    large = GradientBoostingRanker(random_state=0).fit(X, y)
    new, labels = make_data(args.rows, args.columns, seed=1)
    small, agreement, loss, _ = compress(large, X, random_state=0, X_test=new, y_test=labels)
    results = {}
    for name, model in (("default", large), ("compressed", small)):
        print(f"{name}: {model.n_iter_} trees, {int(model.rounds_['n_leaves'].sum())} leaves")
        results[name] = measure(model, new)
    ends = f"{loss.difference:.4f} ({loss.low:.4f}, {loss.high:.4f})"
    print(f"AUC {loss.auc_1:.4f}, compressed {loss.auc_2:.4f}, loss {ends}, tau {agreement:.3f}")
    if args.json:
        args.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
