"""Fits to rows that are not in memory: what they take from files and on a cluster.

    python -m benches.speed.bench_datasets PART [--rows 1000000] [--columns 20] [--partitions 64]
        [--workers 2] [--repeats 20] [--model tree] [--json FILE]

PART is one of
    files      a fit to a folder of Parquet files, and to one frame: CPU and peak memory, each in a
               process of its own (Linux only); both give the same document
    rounds     what a question to a Dask cluster takes of the client, over many partitions
    workers    a fit on a Dask cluster, and what its workers take for it
    collected  the default tree and booster: in memory, with rows that come to the client, and with
               rows that stay on the workers; all give the same document
    faults     how long the question takes that meets workers which were killed
    auc        the AUC that xgboost.dask reports while it learns from two sites, next to the AUC of
               all rows

A cluster here is of processes of this machine, with one thread each; the scheduler is a thread of
the client. Set OMP_NUM_THREADS=1.
"""

import json
import os
import pickle
import signal
import tempfile
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from aucrank import RIMARC, GradientBoostingRanker, RankingEnsemble, Scorecard, TreeRank
from aucrank.data import Dataset
from sklearn.base import clone

from benches.common.memory import peak_bytes, run_again
from benches.common.options import make_parser

#: Rows of a file, or of a partition of which many make the rows.
BLOCK = 1 << 18

#: Rankers other than a tree, by name.
RANKERS = {
    "booster": GradientBoostingRanker(
        n_rounds=20, max_leaves=32, early_stopping=False, random_state=0, n_jobs=1
    ),
    "booster-bags": GradientBoostingRanker(
        n_rounds=10, max_leaves=32, n_iter_no_change=10, random_state=0, n_jobs=1
    ),
    "ensemble": RankingEnsemble(random_state=0, n_jobs=1),
    "rimarc": RIMARC(n_jobs=1),
    "rimarc-folds": RIMARC(weight_folds=10, random_state=0, n_jobs=1),
    "scorecard": Scorecard(estimator=RIMARC(missing="value"), n_jobs=1),
}


def make_rows(n_rows, n_columns, seed):
    """Return numbers, and a class that depends on four of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    odds = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * np.abs(X[:, 3]) - 1
    rows = pd.DataFrame(X, columns=[f"x{index}" for index in range(n_columns)])
    return rows.assign(y=(rng.random(n_rows) < 1 / (1 + np.exp(-odds))).astype(np.int8))


def sizes_of(n_rows, n_blocks):
    """Return the numbers of rows of blocks."""
    edges = np.linspace(0, n_rows, n_blocks + 1).astype(int)
    return np.diff(edges).tolist()


def model_of(pruning):
    return TreeRank(pruning=pruning, random_state=0, n_jobs=1)


# Files


def fit_to(kind, options):
    """Fit in this process; print the figures."""
    if options.model == "tree":
        model = model_of(None if options.pruning == "none" else options.pruning)
    else:
        model = RANKERS[options.model]
    clone(model).fit(Dataset.from_batches(make_rows(2000, options.columns, 0), target="y"))
    if kind == "frame":
        rows = pd.read_parquet(options.folder)
        X, y = rows.drop(columns="y"), rows["y"]
        del rows
        work = lambda: model.fit(X, y)  # noqa: E731
    else:
        dataset = Dataset.from_parquet(options.folder, target="y", spill_dir=options.folder.parent)
        work = lambda: model.fit(dataset)  # noqa: E731
    wall, cpu = perf_counter(), process_time()
    peak, _ = peak_bytes(work)
    figures = {
        "cpu_s": process_time() - cpu,
        "wall_s": perf_counter() - wall,
        "peak_mb": peak / 1e6,
    }
    print(json.dumps([figures, model._to_document()]))


def measure_files(options):
    found = {}
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "rows"
        folder.mkdir()
        for number, size in enumerate(sizes_of(options.rows, -(-options.rows // BLOCK))):
            rows = make_rows(size, options.columns, number)
            rows.to_parquet(folder / f"{number:04}.parquet", compression=None)
        options.folder = folder
        documents = set()
        for kind in ("files", "frame") if options.frame else ("files",):
            printed = run_again(
                kind, options=options, names=("columns", "folder", "pruning", "model")
            )
            found[kind], document = json.loads(printed)
            documents.add(document)
    assert len(documents) == 1
    return found


# A cluster


class Cluster:
    """A cluster of processes, and a collection whose blocks its workers have made."""

    def __init__(self, options, n_blocks):
        import dask.dataframe
        import distributed

        self.n_workers = options.workers
        self._cluster = distributed.LocalCluster(
            n_workers=options.workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit=None,
        )
        self.client = distributed.Client(self._cluster)
        make = dask.delayed(make_rows)
        sizes = sizes_of(options.rows, n_blocks)
        blocks = [make(size, options.columns, seed) for seed, size in enumerate(sizes)]
        meta = make_rows(1, options.columns, 0)[:0]
        collection = dask.dataframe.from_delayed(blocks, meta=meta, verify_meta=False).persist()
        distributed.wait(collection)
        self.collection = collection
        # These measure queries: few rows would come to the client.
        self.dataset = Dataset.from_dask(collection, target="y", collect_below=0, worker_below=0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()
        self._cluster.close()

    def worker_cpu(self):
        """Return the seconds of processors that the workers have taken."""
        return sum(self.client.run(process_time).values())

    def worker_pids(self):
        return list(self.client.run(os.getpid).values())


class Rounds:
    """Notes the time of each question to a cluster while it is used as a context manager."""

    def __init__(self, before=lambda number: None):
        self._before = before
        self.wall, self.cpu, self.sizes = [], [], []

    def __enter__(self):
        from aucrank.data._dask import DaskRows

        self._class, self._round = DaskRows, DaskRows.round
        DaskRows.round = lambda rows, ask: self._note(rows, ask)
        return self

    def __exit__(self, *_):
        self._class.round = self._round

    def _note(self, rows, ask):
        self._before(len(self.wall))
        wall, cpu = perf_counter(), process_time()
        answer = self._round(rows, ask)
        self.wall.append(perf_counter() - wall)
        self.cpu.append(process_time() - cpu)
        self.sizes.append(len(answer))
        return answer


def measure_rounds(options):
    """Questions about few rows: what is left is the cost of asking."""
    options.rows = 20 * options.partitions
    with Cluster(options, options.partitions) as cluster, Rounds() as rounds:
        for _ in range(options.repeats):
            model_of(None).set_params(max_depth=1).fit(cluster.dataset)
    return {
        "partitions": options.partitions,
        "n_rounds": len(rounds.cpu),
        "answer_kb": float(np.median(rounds.sizes)) / 1e3,
        "client_cpu_ms": 1e3 * float(np.median(rounds.cpu)),
        "wall_ms": 1e3 * float(np.median(rounds.wall)),
    }


def measure_workers(options):
    """A fit from blocks that the workers have, in memory, when it begins."""
    pruning = None if options.pruning == "none" else options.pruning
    with Cluster(options, options.partitions) as cluster:
        # Of the workers, before they survey and code the rows, before the first round, at the end.
        taken = [cluster.worker_cpu()]

        def look(number):
            if number == 0:
                taken.append(cluster.worker_cpu())

        with Rounds(look) as rounds:
            wall, cpu = perf_counter(), process_time()
            model = model_of(pruning).fit(cluster.dataset)
            wall, cpu = perf_counter() - wall, process_time() - cpu
        taken.append(cluster.worker_cpu())
    n_values, n_rounds = options.rows * options.columns, len(rounds.wall)
    coding, answering = np.diff(taken).tolist()
    return {
        "workers": options.workers,
        "wall_s": wall,
        "wall_of_rounds_s": sum(rounds.wall),
        "n_rounds": n_rounds,
        "client_cpu_s": cpu,
        "workers_cpu_s": coding + answering,
        "ns_to_code_a_value": 1e9 * coding / n_values,
        "ns_to_answer_a_value": 1e9 * answering / n_values / n_rounds,
        "largest_answer_mb": max(rounds.sizes) / 1e6,
        "n_leaves": model.tree_.n_leaves,
    }


@contextmanager
def bytes_gathered():
    """Note the bytes of each result that comes to the client."""
    from aucrank.data._dask import DaskSource

    gather, found = DaskSource.gather, []

    def note(source, results):
        brought = gather(source, results)
        found.extend(len(pickle.dumps(one, protocol=5)) for one in brought)
        return brought

    DaskSource.gather = note
    yield found
    DaskSource.gather = gather


def measure_collected(options):
    """CPU of all processes, queries, and bytes that come to the client."""
    models = {
        "tree": TreeRank(random_state=0, n_jobs=1),
        "booster": GradientBoostingRanker(random_state=0, n_jobs=1),
    }
    rows = pd.concat(
        [
            make_rows(size, options.columns, seed)
            for seed, size in enumerate(sizes_of(options.rows, options.partitions))
        ],
        ignore_index=True,
    )
    X, y = rows.drop(columns="y"), rows["y"]
    found = {}
    for name, model in models.items():
        clone(model).fit(X[:2000], y[:2000])
        start, cpu = perf_counter(), process_time()
        document = clone(model).fit(X, y)._to_document()
        of_frame = process_time() - cpu
        found[name] = {"frame": {"cpu_s": of_frame, "wall_s": perf_counter() - start}}
        roads = {"collected": ("256MB", 0), "on one worker": (0, "1TB"), "queried": (0, 0)}
        for road, (collect_below, worker_below) in roads.items():
            # The booster asks thousands of questions: see what is known until then.
            print(json.dumps(found[name]), flush=True)
            with Cluster(options, options.partitions) as cluster, Rounds() as rounds:
                dataset = Dataset.from_dask(
                    cluster.collection,
                    target="y",
                    collect_below=collect_below,
                    worker_below=worker_below,
                )
                cpu, start = process_time() + cluster.worker_cpu(), perf_counter()
                with bytes_gathered() as n_bytes:
                    fitted = clone(model).fit(dataset)
                wall = perf_counter() - start
                cpu = process_time() + cluster.worker_cpu() - cpu
            assert fitted._to_document() == document
            found[name][road] = {
                "cpu_s": cpu,
                "cpu_of_frame": cpu / of_frame,
                "wall_s": wall,
                "n_queries": len(rounds.wall),
                "mb_gathered": sum(n_bytes) / 1e6,
            }
    return found


def measure_faults(options):
    found = {}
    for n_killed in range(options.workers + 1):
        with Cluster(options, options.partitions) as cluster:
            pids = cluster.worker_pids()[:n_killed]

            def kill(number, pids=pids):
                for pid in pids if number == 3 else ():
                    os.kill(pid, signal.SIGKILL)

            with Rounds(kill) as rounds:
                model = model_of(None).fit(cluster.dataset)
        found[f"{n_killed} killed"] = {
            "round_of_kill_s": rounds.wall[3],
            "slowest_later_s": max(rounds.wall[4:]),
            "fit_rounds_s": sum(rounds.wall),
        }
        document = model._to_document()
        assert found.setdefault("document", document) == document
    del found["document"]
    return found


def measure_auc(options):
    """Two sites differ in a feature: the mean of their AUCs is not that of their rows."""
    import dask.dataframe
    import distributed
    import xgboost
    from aucrank.metrics import roc_auc_score, roc_state
    from xgboost import dask as dxgb

    rows = make_rows(options.rows, 4, 0)
    by_site = rows.sort_values("x0", kind="stable", ignore_index=True)
    found = {}
    for name, parts in (("two sites", by_site), ("shuffled", rows)):
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            collection = dask.dataframe.from_pandas(parts, npartitions=2, sort=False).persist()
            X, y = collection.drop(columns="y"), collection["y"]
            train = dxgb.DaskDMatrix(client, X, y)
            params = {"objective": "binary:logistic", "eval_metric": "auc", "max_depth": 3}
            fitted = dxgb.train(client, params, train, 5, evals=[(train, "train")])
            matrix = xgboost.DMatrix(parts.drop(columns="y"))
            scores = fitted["booster"].predict(matrix)
            dataset = Dataset.from_dask(collection, target="y", collect_below=0, worker_below=0)
            model = model_of(None).fit(dataset)
            ours = roc_state(model, dataset).auc()
        found[name] = {
            "xgboost.dask reports": fitted["history"]["train"]["auc"][-1],
            "of all rows": roc_auc_score(parts["y"], scores),
            "roc_state of TreeRank": ours,
            "of all rows ": model.score(parts.drop(columns="y"), parts["y"]),
        }
    return found


MEASURES = {
    "files": measure_files,
    "rounds": measure_rounds,
    "workers": measure_workers,
    "collected": measure_collected,
    "faults": measure_faults,
    "auc": measure_auc,
}


def main():
    parser = make_parser(__doc__, rows=1_000_000, columns=20, partitions=64, workers=2, repeats=20)
    parser.add_argument("part", choices=[*MEASURES, "frame"])
    parser.add_argument("--pruning", choices=["none", "cv"], default="none")
    parser.add_argument("--model", choices=["tree", *RANKERS], default="tree", help="of `files`")
    parser.add_argument("--no-frame", dest="frame", action="store_false")
    parser.add_argument("--folder", type=Path, help="of the rows, in the processes of `files`")
    options = parser.parse_args()
    if options.folder:
        fit_to(options.part, options)
        return
    found = MEASURES[options.part](options)
    print(json.dumps(found, indent=1))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
