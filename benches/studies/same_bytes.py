"""Does every learner give the same model, byte for byte, wherever its rows are?

    python -m benches.studies.same_bytes [--rows 4000] [--only dask,spark] [--json same_bytes.json]

Rows with two numbers, two columns of categories, missing values and weights, as a frame, as Parquet
files, in DuckDB (read in batches, and counted by SQL), on Dask, on Ray and on Spark, in the same
order: a forest draws rows by their places. Nothing comes to the client or to one worker because it
is small (`collect_below=0`, `worker_below=0`), so that learners query the rows where they can. Each
line is a learner; each column a source: "=" where the saved model is that of the frame, "-" where
the learner refuses the source by an error, "DIFFERS" otherwise. A source whose package is not
installed is left out.
"""

import json
import tempfile
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from aucrank import (
    AURORA,
    MAD2C,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    LinearRanker,
    MartiRank,
    RankBoost,
    RankingEnsemble,
    RankingForest,
    Scorecard,
    SMartiRank,
    TreeRank,
)
from aucrank.data import Dataset
from sklearn.base import clone

from benches.common.options import make_parser

FEATURES = ["age", "income", "region", "trade"]
LEARNERS = {
    "TreeRank": TreeRank(random_state=0),
    "RankingForest": RankingForest(n_estimators=10, random_state=0),
    "RankBoost": RankBoost(n_rounds=20, random_state=0),
    "AUCBoost": AUCBoost(n_rounds=20, random_state=0),
    "GradientBoostingRanker": GradientBoostingRanker(n_rounds=15, random_state=0),
    "MartiRank": MartiRank(n_rounds=4, random_state=0),
    "SMartiRank": SMartiRank(n_rounds=4, noise_rate=0.1, random_state=0),
    "RIMARC": RIMARC(weight_folds=None),
    "MAD2C": MAD2C(),
    "Scorecard": Scorecard(estimator=RIMARC(weight_folds=None)),
    "LinearRanker": LinearRanker(),
    "AURORA": AURORA(random_state=0),
    "RankingEnsemble": RankingEnsemble(presets="fast", random_state=0),
}


def make_rows(n_rows):
    """Return rows whose two categories matter together."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "age": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(45, 15, n_rows)),
            "income": rng.lognormal(10, 1, n_rows).round(2),
            "region": rng.choice([*"abcdef", None], n_rows),
            "trade": rng.choice([f"t{k}" for k in range(12)], n_rows),
            "w": rng.integers(1, 4, n_rows).astype(float),
        }
    )
    together = (rows["region"] == "a") == (rows["trade"] < "t3")
    odds = rows["age"].fillna(45) / 15 - 3 + together - 0.5
    return rows.assign(y=(rng.random(n_rows) < 1 / (1 + np.exp(-odds))).astype(int))


def sources(rows, stack, only):
    """Yield the name of each source, and its data set."""
    settings = {"target": "y", "weight": "w", "columns": FEATURES}
    stays = {"collect_below": 0, "worker_below": 0}
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    cuts = [0, len(rows) // 5, len(rows) // 2, len(rows)]
    parts = [rows.iloc[first:last] for first, last in pairwise(cuts)]

    def is_wanted(name, module):
        return (not only or name in only) and find_spec(module) is not None

    if is_wanted("files", "pyarrow"):
        for number, part in enumerate(parts):
            part.to_parquet(folder / f"{number}.parquet", index=False)
        yield "files", Dataset.from_parquet(folder, **settings)
    if is_wanted("duckdb", "duckdb"):
        import duckdb

        connection = stack.enter_context(duckdb.connect())
        connection.register("frame", rows)
        connection.execute("create table people as select * from frame")

        def batches():
            return connection.cursor().sql("select * from people").to_arrow_reader(1000)

        def query(text):
            return connection.execute(text).df()

        yield "duckdb", Dataset.from_batches(batches, **settings)
        yield "sql", Dataset.from_sql(query, "people", dialect="duckdb", **settings)
    if is_wanted("dask", "distributed"):
        import dask.dataframe
        from distributed import Client

        client = stack.enter_context(
            Client(n_workers=2, threads_per_worker=1, dashboard_address=None)
        )
        collection = dask.dataframe.from_pandas(rows, npartitions=3)
        yield "dask", Dataset.from_dask(collection, client=client, **stays, **settings)
    if is_wanted("ray", "ray"):
        import ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        stack.callback(ray.shutdown)
        yield (
            "ray",
            Dataset.from_ray([ray.put(part) for part in parts], **stays, **settings),
        )
    if is_wanted("spark", "pyspark"):
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        spark = builder.getOrCreate()
        stack.callback(spark.stop)
        frame = spark.createDataFrame(rows)
        yield "spark", Dataset.from_spark(frame, **stays, **settings)


def main():
    parser = make_parser(__doc__, rows=4000)
    parser.add_argument("--only", default="", help="sources, parted by commas")
    args = parser.parse_args()
    rows = make_rows(args.rows)
    table = {name: {} for name in LEARNERS}
    expected = {
        name: clone(learner).fit(rows[FEATURES], rows["y"], rows["w"])._to_document()
        for name, learner in LEARNERS.items()
    }
    with ExitStack() as stack:
        for source, dataset in sources(rows, stack, [s for s in args.only.split(",") if s]):
            for name, learner in LEARNERS.items():
                start = perf_counter()
                try:
                    found = clone(learner).fit(dataset)._to_document()
                except (TypeError, ValueError) as err:
                    found, table[name][source] = None, f"- {str(err)[:120]}"
                else:
                    table[name][source] = "=" if found == expected[name] else "DIFFERS"
                seconds = perf_counter() - start
                print(f"{source:8} {name:24} {table[name][source]}  ({seconds:.1f} s)", flush=True)
    print(pd.DataFrame(table).T.map(lambda cell: cell[:8]).to_string())
    if args.json:
        args.json.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
