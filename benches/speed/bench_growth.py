"""How the time and the memory of every ranker grow with the rows, fits and scores.

    python -m benches.speed.bench_growth [--models TreeRank ...] [--sizes 100000 1000000]
        [--features 20] [--threads 2] [--time-limit 600] [--json FILE] [--markdown FILE]

Each ranker has its defaults, and learns from numbers in memory in a process of its own (Linux
only), after a first small fit; then it scores the same rows. Times are those of processors, of all
threads. An exponent is that by which the time grows from one size to the next: 1 where it is
proportional to the rows. Memory is the peak over that of the process before, which holds
the data; of rankers that code the rows in bins it is also given over these codes, a byte a value. A
process that runs longer than the limit is ended, and larger sizes are left out.
"""

import json
import subprocess
from itertools import pairwise
from math import log
from pathlib import Path
from time import process_time

from aucrank._base.registry import ESTIMATORS, get_estimator

from benches.common.data import make_data
from benches.common.memory import peak_bytes, run_again
from benches.common.options import make_parser

#: They keep a byte for each value while they learn.
CODED = {
    "TreeRank",
    "RankingForest",
    "AUCBoost",
    "RankBoost",
    "GradientBoostingRanker",
    "MartiRank",
    "SMartiRank",
    "RankingEnsemble",
}

#: What grows faster, or takes more bytes a row at the largest size, is in bold.
MOST_EXPONENT, MOST_BYTES = 1.1, 40

SIZES = (100_000, 1_000_000, 10_000_000)
WORKS = ("fit", "score")


def make_model(name, n_threads):
    model = get_estimator(name)(n_jobs=n_threads)
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def measure(work):
    """Return the seconds of processors of some work, its peak memory, and its result."""
    start = process_time()
    peak, result = peak_bytes(work)
    return {"cpu_s": process_time() - start, "peak_bytes": peak}, result


def measure_in_process(name, n_rows, n_features, n_threads):
    """Fit and score in this process; print the figures."""
    small, labels = make_data(2000, n_features)
    make_model(name, n_threads).fit(small, labels).decision_function(small)
    X, y = make_data(n_rows, n_features)
    fit, model = measure(lambda: make_model(name, n_threads).fit(X, y))
    score, scores = measure(lambda: model.decision_function(X))
    assert scores.shape == (n_rows,)
    print(json.dumps({"fit": fit, "score": score}))


def figures_of(found, work, n_features, name):
    """Return seconds of processors, nanoseconds and bytes a row of each size, and exponents."""
    sizes = [int(size) for size in found]
    seconds = [found[size][work]["cpu_s"] for size in found]
    own = 8 if work == "score" else n_features if name in CODED else 0
    return {
        "seconds": seconds,
        "exponents": [
            log(more / less) / log(large / small)
            for (small, large), (less, more) in zip(pairwise(sizes), pairwise(seconds), strict=True)
        ],
        "bytes": [max(0.0, found[size][work]["peak_bytes"] / int(size) - own) for size in found],
    }


def bold_above(value, text, most):
    return f"**{text}**" if value > most else text


def markdown(results, sizes, n_features):
    """Write the table, a line for each ranker and work."""
    powers = [f"{size:.0e}".replace("e+0", " x 10^").removeprefix("1 x ") for size in sizes]
    heads = ["ranker", "", *(f"s at {power}" for power in powers), "exponent"]
    heads += [f"bytes a row at {power}" for power in powers]
    lines = [heads, ["---"] * len(heads)]
    for name, found in results.items():
        for work in WORKS:
            figures = figures_of(found, work, n_features, name)
            missing = [""] * (len(sizes) - len(found))
            exponents = [bold_above(e, f"{e:.2f}", MOST_EXPONENT) for e in figures["exponents"]]
            n_bytes = [f"{some:.0f}" for some in figures["bytes"]]
            # The fewer rows, the more of it does not depend on them.
            n_bytes[-1:] = [bold_above(b, f"{b:.0f}", MOST_BYTES) for b in figures["bytes"][-1:]]
            lines.append(
                [
                    f"`{name}`" if work == "fit" else "",
                    work,
                    *(
                        f"{some:.2g}" if some < 100 else f"{some:.0f}"
                        for some in figures["seconds"]
                    ),
                    *missing,
                    ", ".join(exponents),
                    *n_bytes,
                    *missing,
                ]
            )
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main():
    parser = make_parser(__doc__, features=20, threads=2, rows=0)
    parser.add_argument("--models", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS))
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--time-limit", type=float, default=600.0, help="of a process, in seconds")
    parser.add_argument("--markdown", type=Path, help="write the table there")
    parser.add_argument("--child", choices=ESTIMATORS, help="measure it in this process")
    options = parser.parse_args()
    if options.child:
        measure_in_process(options.child, options.rows, options.features, options.threads)
        return
    results = {}
    for name in options.models:
        results[name] = {}
        for n_rows in sorted(options.sizes):
            options.rows = n_rows
            try:
                printed = run_again(
                    "--child",
                    name,
                    options=options,
                    names=("rows", "features", "threads"),
                    time_limit=options.time_limit,
                )
            except subprocess.TimeoutExpired:
                print(f"{name}: {n_rows:,} rows take more than {options.time_limit:g} s")
                break
            results[name][str(n_rows)] = json.loads(printed)
            print(name, f"{n_rows:,}", printed, flush=True)
            if options.json:
                options.json.write_text(json.dumps(results, indent=1))
    table = markdown(results, sorted(options.sizes), options.features)
    print(table)
    if options.markdown:
        options.markdown.write_text(table)


if __name__ == "__main__":
    main()
