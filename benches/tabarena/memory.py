"""Peak memory of fits of the adapter next to its estimate, each in a process of its own (Linux).

    python -m benches.tabarena.memory

Rows are 7/8 for training and 1/8 for validation, as in a bag of eight folds. The measured figure is
the peak of the process: Python, AutoGluon and the rows are in it, as they are in the estimate.
"""

import argparse
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from benches.common.memory import run_again, status_bytes

#: Rows, numbers, categories and classes.
CASES = [
    (1_000, 20, 0, 2),
    (10_000, 20, 0, 2),
    (10_000, 20, 0, 10),
    (10_000, 0, 20, 2),
    (10_000, 500, 0, 2),
    (2_000, 2_000, 0, 2),
    (100_000, 20, 0, 2),
    (100_000, 10, 10, 2),
    (100_000, 20, 0, 10),
    (300_000, 50, 0, 2),
]

#: Seconds a fit may take: the rounds after the first few need little memory.
SECONDS = 40


def make_rows(n_rows, n_numbers, n_categories, n_classes, seed=0):
    """Return a frame of numbers and of categories of 50 levels, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    columns = {f"number_{place}": rng.normal(size=n_rows) for place in range(n_numbers)}
    score = sum(list(columns.values())[:3], rng.normal(size=n_rows))
    for place in range(n_categories):
        codes = rng.integers(50, size=n_rows)
        columns[f"category_{place}"] = pd.Categorical.from_codes(codes, range(50))
        score = score + (codes < 10 * (place < 3))
    X = pd.DataFrame(columns)
    y = pd.Series(pd.qcut(score, n_classes, labels=False))
    return X, y


def measure(n_rows, n_numbers, n_categories, n_classes):
    """Fit once; return the peak of this process and the estimate, in bytes."""
    from benches.tabarena.model import AucrankModel

    warnings.simplefilter("ignore")
    X, y = make_rows(n_rows, n_numbers, n_categories, n_classes)
    validation = np.arange(n_rows) % 8 == 0
    problem_type = "binary" if n_classes == 2 else "multiclass"
    estimate = AucrankModel.estimate_memory_usage_static(
        X=X[~validation], y=y[~validation], problem_type=problem_type, num_classes=n_classes
    )
    with TemporaryDirectory() as folder:
        model = AucrankModel(
            path=folder, name="model", problem_type=problem_type, eval_metric="log_loss"
        )
        Path("/proc/self/clear_refs").write_text("5")
        model.fit(
            X=X[~validation],
            y=y[~validation],
            X_val=X[validation],
            y_val=y[validation],
            time_limit=SECONDS,
            num_cpus=2,
            num_gpus=0,
        )
    return status_bytes("VmHWM"), estimate


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", type=int, nargs="*", help="rows, numbers, categories, classes")
    options = parser.parse_args()
    if options.case:
        print(*measure(*options.case))
        return
    titles = ("rows", "numbers", "categories", "classes", "peak MB", "estimate")
    print("{:>8} {:>8} {:>11} {:>8} {:>8} {:>8}".format(*titles))
    for case in CASES:
        peak, estimate = map(int, run_again(*case).splitlines()[-1].split())
        sizes = "{:8} {:8} {:11} {:8}".format(*case)
        print(f"{sizes} {peak / 1e6:8.0f} {estimate / 1e6:8.0f}", flush=True)


if __name__ == "__main__":
    main()
