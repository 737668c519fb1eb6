"""Run the adapter by TabArena's own runner on a data set of scikit-learn, without a network.

    python -m benches.tabarena.run_local [--folds 1] [--configs 1] [--folder tabarena_local]

The set is a `UserTask`, kept in the folder, so that nothing is downloaded from OpenML. Its outer
splits are three folds, of which the first are run; bags have eight folds, fitted one after another.
Experiments are those of the search space: the default and so many random configurations. Results
are in the folder as TabArena stores them, and a second run reads them again.
"""

import argparse
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold

#: Outer folds; TabArena repeats them three or ten times.
OUTER_FOLDS = 3


def make_task(folder):
    """Return the rows of breast cancer as a task of TabArena that lies in a folder."""
    from tabarena.benchmark.task.user_task import UserTask, from_sklearn_splits_to_user_task_splits

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    splits = StratifiedKFold(OUTER_FOLDS, shuffle=True, random_state=0).split(X, y)
    user_task = UserTask(task_name="breast_cancer", task_cache_path=folder / "tasks")
    task = user_task.create_task(
        target_feature="target",
        problem_type="classification",
        dataset=X.assign(target=y),
        splits=from_sklearn_splits_to_user_task_splits(splits, OUTER_FOLDS),
        eval_metric="roc_auc",
    )
    user_task.save_task(task)
    return user_task


def run(folder, n_folds, n_configs, time_limit=120):
    """Return the results of TabArena's runner."""
    from tabarena.benchmark.experiment import ExperimentBatchRunner, Job
    from tabarena.benchmark.task.metadata import TaskMetadataCollection

    from benches.tabarena.hpo import gen_aucrank

    task = make_task(folder)
    experiments = gen_aucrank.generate_all_bag_experiments(
        num_random_configs=n_configs,
        fold_fitting_strategy="sequential_local",
        method_kwargs={
            "init_kwargs": {"path": str(folder / "models")},
            "fit_kwargs": {"num_cpus": 2, "num_gpus": 0, "verbosity": 0},
        },
        time_limit=time_limit,
    )
    runner = ExperimentBatchRunner(
        expname=str(folder),
        task_metadata=TaskMetadataCollection.from_source([task.load().metadata]),
        user_tasks=[task],
        debug_mode=True,
    )
    jobs = [
        Job.create(experiment, task.tabarena_task_name, fold=fold)
        for fold in range(n_folds)
        for experiment in experiments
    ]
    return runner.run_jobs(jobs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=1, choices=range(1, OUTER_FOLDS + 1))
    parser.add_argument("--configs", type=int, default=1, help="random configurations")
    parser.add_argument("--folder", type=Path, default=Path("tabarena_local"))
    options = parser.parse_args()
    for found in run(options.folder.resolve(), options.folds, options.configs):
        split = found["task_metadata"]
        print(
            f"{found['framework']}, fold {split['fold']}: AUC {1 - found['metric_error']:.4f},"
            f" {found['time_train_s']:.1f} s to fit, {found['time_infer_s']:.2f} s to score"
        )


if __name__ == "__main__":
    main()
