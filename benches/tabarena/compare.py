"""Compare aucrank with boosters of other packages as TabArena does, on the sets of folders.

    python -m benches.tabarena.compare FOLDER [FOLDER ...] [--max-rows 3000] [--folds 3]
        [--sets german pima] [--methods aucrank LightGBM] [--minutes 40]
        [--results tabarena.csv] [--json benches/results/tabarena.json]

Each FOLDER holds Parquet files with columns and a 0/1 column `target`. Rows are split by stratified
cross-validation. A method is a model of AutoGluon in a bag: the training rows are dealt into eight
folds, a model is fitted without each, the fold left out is its validation rows, and the score of
the bag is the mean of the probabilities of the eight models. Columns are prepared by AutoGluon's
default feature generator, hyperparameters are the defaults of the model classes.

A process fits on one thread, and several run at a time: on a busy machine threads that wait for
each other would be measured instead. Every bag is a row of the results, written as soon as it is
known, so that a run goes on where it was broken off; after so many minutes no further one begins.

The table is by the sets that all methods have all folds of: Elo (LightGBM is 1000) with the 95 %
interval of the bootstrap over the sets, share of wins against the others, mean rank, and processor
seconds of a bag. It is computed by `bencheval`, as the leaderboard of TabArena is.
"""

import argparse
import json
import multiprocessing
import os
import warnings
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, as_completed, wait
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benches.common.data import load, with_categories
from benches.common.machine import machine
from benches.common.results import resumed
from benches.common.rivals import version_of
from benches.tabarena.methods import DEFAULT, METHODS, class_of, installed

#: Folds of a bag, as in TabArena.
BAG_FOLDS = 8

#: Seconds that the eight fits of a bag may take together.
TIME_LIMIT = 600

KEYS = ["set", "fold", "method"]
FIGURES = ["auc", "log_loss", "seconds", "processor_seconds", "seconds_to_score", "rows"]

#: The method whose Elo is 1000.
ANCHOR = "LightGBM"

#: Columns of the leaderboard that are stored.
STORED = ["elo", "elo+", "elo-", "winrate", "rank", "improvability", "metric_error"]


def bag_of(name, X, y, folder):
    """Return a bag of eight models of a method, fitted to rows with a 0/1 label."""
    from autogluon.core.models import BaggedEnsembleModel

    kwargs = {"path": folder, "problem_type": "binary", "eval_metric": "roc_auc"}
    bag = BaggedEnsembleModel(
        class_of(name),
        model_base_kwargs=kwargs | {"name": "model", "hyperparameters": {"ag.num_cpus": 1}},
        path=folder,
        name="bag",
        hyperparameters={"fold_fitting_strategy": "sequential_local"},
    )
    return bag.fit(
        X=X, y=y, k_fold=BAG_FOLDS, num_cpus=1, num_gpus=0, time_limit=TIME_LIMIT, verbosity=0
    )


def fit_once(path, max_rows, n_folds, fold, name):
    """Return the figures of a method on one fold of a set."""
    from autogluon.features.generators import AutoMLPipelineFeatureGenerator
    from tabarena.models.warmup import warmup_model_cls

    X, y = load(path, max_rows)
    X = with_categories(X)
    splits = list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y))
    train, test = splits[fold]
    warmup_model_cls(class_of(name), problem_type="binary", num_cpus=1)
    with TemporaryDirectory() as folder:
        generator = AutoMLPipelineFeatureGenerator(verbosity=0)
        labels = pd.Series(y).reset_index(drop=True)
        start, processor = perf_counter(), process_time()
        prepared = generator.fit_transform(X.iloc[train].reset_index(drop=True))
        bag = bag_of(name, prepared, labels.iloc[train].reset_index(drop=True), folder)
        seconds, processor_seconds = perf_counter() - start, process_time() - processor
        start = perf_counter()
        found = bag.predict_proba(generator.transform(X.iloc[test].reset_index(drop=True)))
        seconds_to_score = perf_counter() - start
    auc = roc_auc_score(y[test], found)
    # Scores are kept in single precision, in which 1 - 1e-15 is 1.
    loss = log_loss(y[test], np.clip(found.astype(np.float64), 1e-7, 1 - 1e-7))
    return auc, loss, seconds, processor_seconds, seconds_to_score, len(train)


def _begin_worker():
    """Prepare a worker."""
    warnings.simplefilter("ignore")
    # EBM starts a process for every fit; "spawn", inherited from here, would import all again.
    multiprocessing.set_start_method("fork", force=True)


def _fit_job(job):
    """Fit in a worker, and return the figures or the error with the keys of the row."""
    path, max_rows, n_folds, fold, name = job
    try:
        return (path.stem, fold, name), fit_once(path, max_rows, n_folds, fold, name), None
    except Exception as error:
        return (path.stem, fold, name), None, f"{type(error).__name__}: {error}"


def _in_order(folders, names):
    """Return the files, small ones first: a run that is broken off has the more sets."""
    paths = [path for folder in folders for path in sorted(folder.glob("*.parquet"))]
    return sorted(
        (path for path in paths if not names or path.stem in names),
        key=lambda path: path.stat().st_size,
    )


def run(options, names):
    """Fit what the results lack; return the errors by set, fold and method."""
    end = perf_counter() + 60 * options.minutes
    failed = {}
    context = multiprocessing.get_context("spawn")
    with resumed(options.results, KEYS, FIGURES) as (known, append):
        jobs = [
            (path, options.max_rows, options.folds, fold, name)
            for path in _in_order(options.folders, options.sets)
            for fold in range(options.folds)
            for name in names
            if (path.stem, fold, name) not in known
        ]
        # What has not begun in time is not begun: workers get a job only when they are free.
        timely = (job for job in jobs if perf_counter() < end)
        # Not `Pool`, whose workers may not start processes, as EBM does.
        with ProcessPoolExecutor(options.processes, context, _begin_worker) as pool:
            for keys, figures, error in _as_they_end(pool, timely, options.processes):
                if error is None:
                    append(*keys, *figures)
                    print(*keys, *(f"{figure:.4g}" for figure in figures), flush=True)
                else:
                    failed[", ".join(map(str, keys))] = error
                    print(*keys, error, flush=True)
    return failed


def _as_they_end(pool, jobs, most):
    """Yield results as they come, with so many jobs at a time in the hands of the pool."""
    running = set()
    for job in jobs:
        running.add(pool.submit(_fit_job, job))
        if len(running) == most:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    yield from (future.result() for future in as_completed(running))


def complete_sets(results, names, n_folds):
    """Return the results of these methods on the sets that all have all folds of."""
    results = results[results["method"].isin(names) & (results["fold"] < n_folds)]
    counts = results.groupby("set").size()
    return results[results["set"].isin(counts.index[counts == n_folds * len(names)])]


def leaderboard(results):
    """Return Elo with its interval, win rate, rank and times by method, best first."""
    from bencheval.evaluator import BenchmarkEvaluator

    data = pd.DataFrame(
        {
            "method": results["method"],
            "task": results["set"],
            "fold": results["fold"],
            "metric_error": 1 - results["auc"],
            "time_train_s": results["processor_seconds"],
            "time_infer_s": results["seconds_to_score"],
        }
    )
    evaluator = BenchmarkEvaluator(seed_column="fold")
    elo = {"calibration_framework": ANCHOR, "calibration_elo": 1000, "BOOTSTRAP_ROUNDS": 200}
    table = evaluator.leaderboard(
        data, include_improvability=True, include_error=True, elo_kwargs=elo
    )
    per_task = evaluator.compute_results_per_task(data=data, include_seed_col=True)
    return table, evaluator.compute_winrate_matrix(results_per_task=per_task)


def summary(results, every, names, options, failed):
    """Return what is stored: what was run, of which sets, and the figures."""
    table, wins = leaderboard(results)
    aucs = results.pivot_table(index="set", columns="method", values="auc")
    losses = results.pivot_table(index="set", columns="method", values="log_loss")
    times = results.groupby("method")[["processor_seconds", "seconds", "seconds_to_score"]].median()
    rows = results.groupby("set")["rows"].mean()
    modules = {METHODS[name][0] for name in names}
    packages = sorted(modules | {"autogluon.tabular", "tabarena", "bencheval", "sklearn", "numpy"})
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "versions": {package: version_of(package.split(".")[0]) for package in packages},
        "protocol": {
            "outer": f"stratified cross-validation, 1 x {options.folds} folds",
            "bag": f"{BAG_FOLDS} folds of the training rows, mean of the probabilities",
            "hyperparameters": "defaults of the model classes",
            "metric": "1 - AUC",
            "seconds_limit": TIME_LIMIT,
            "threads_a_fit": 1,
            "processes": options.processes,
            "most_rows": options.max_rows,
        },
        "sets": {name: {"training_rows": int(n)} for name, n in rows.items()},
        "not_complete": sorted(set(every) - set(rows.index)),
        "failed": failed,
        "leaderboard": {
            method: {key: round(float(row[key]), 4) for key in STORED}
            for method, row in table.to_dict("index").items()
        },
        "wins": {
            method: {
                other: round(float(share), 3) for other, share in row.items() if other != method
            }
            for method, row in wins.to_dict("index").items()
        },
        "seconds_of_a_bag": {
            method: {key: round(float(value), 3) for key, value in row.items()}
            for method, row in times.to_dict("index").items()
        },
        "auc": {
            name: {method: round(float(value), 5) for method, value in row.items()}
            for name, row in aucs.to_dict("index").items()
        },
        "log_loss": {
            method: {"mean": round(float(losses[method].mean()), 4), "rank": round(rank, 4)}
            for method, rank in losses.rank(axis=1).mean().items()
        },
    }


def show(found):
    """Print the leaderboard."""
    print(f"\n{len(found['sets'])} sets, {found['date']}")
    print(f"{'method':20} {'Elo':>6} {'95 %':>13} {'wins':>6} {'rank':>5} {'CPU s':>7} {'AUC':>7}")
    for method, row in found["leaderboard"].items():
        interval = f"{row['elo'] - row['elo-']:.0f} - {row['elo'] + row['elo+']:.0f}"
        seconds = found["seconds_of_a_bag"][method]["processor_seconds"]
        print(
            f"{method:20} {row['elo']:6.0f} {interval:>13} {row['winrate']:6.2f} {row['rank']:5.2f}"
            f" {seconds:7.2f} {1 - row['metric_error']:7.4f}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--max-rows", type=int, default=3000)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=DEFAULT)
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path("tabarena.csv"))
    parser.add_argument("--json", type=Path, help="write the summary there")
    options = parser.parse_args()
    names = installed(options.methods)
    for name in set(options.methods) - set(names):
        print(f"{name} is left out: {METHODS[name][0]} is not installed")
    # Before workers start: each is to have one thread.
    os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    failed = run(options, names)
    known = pd.read_csv(options.results)
    results = complete_sets(known, names, options.folds)
    if results.empty or ANCHOR not in names or len(names) < 2:
        print(f"no table: it needs {ANCHOR}, another method, and a set that all are done with")
        return
    found = summary(results, known["set"], names, options, failed)
    show(found)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
