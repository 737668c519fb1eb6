"""Whether ``aucrank fit --memory`` keeps to the memory that it is given, for every estimator.

    python -m benches.speed.bench_memory_limit [--gigabytes .5] [--columns 20] [--memory 600MB]
        [--models TreeRank ...] [--folder DIR] [--json FILE]

Makes a folder of Parquet files, and fits every estimator to it with a few rounds, each in a process
of its own. Prints a table of the peak resident memory, and fails where it is more than 1.2 times
the limit. A fit that says that it takes more is listed with what it says. Linux and macOS only.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from aucrank._base.registry import ESTIMATORS
from aucrank.cli._options import n_bytes as bytes_of

from benches.common.options import make_parser
from benches.speed.bench_folder import make_folder, run_command

#: Parameters of fits that would otherwise take long; they do not change what a row takes.
FEWER = {
    "AUCBoost": ["n_rounds=20"],
    "AURORA": ["max_features=4", "order=1", "depth=shallow", "radius=1.5"],
    "GradientBoostingRanker": ["n_rounds=20"],
    "RankBoost": ["n_rounds=20"],
    "RankingForest": ["n_estimators=10"],
}

#: Peak memory over the limit.
MOST = 1.2


def fit(name, folder, options):
    """Fit an estimator; return its figures, or what it says instead."""
    model = str(folder.parent / "model.json")
    command = ["fit", str(folder), "--target", "y", "--memory", options.memory]
    params = [word for param in FEWER.get(name, []) for word in ("--param", param)]
    command += ["--model", name, *params, "--output", model]
    status, figures, said = run_command(command, is_shown=False)
    if status:
        return {"said": said.strip().splitlines()[-1]}
    return {**figures, "share": figures["peak_mb"] * 1e6 / bytes_of(options.memory)}


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--gigabytes", type=float, default=0.5)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--memory", default="600MB")
    parser.add_argument("--models", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS))
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory(prefix="aucrank-", dir=options.folder) as root:
        folder = Path(root) / "rows"
        folder.mkdir()
        n_rows, n_bytes = make_folder(folder, options.gigabytes, options.columns)
        print(f"{n_rows:,} rows, {n_bytes / 1e9:.2f} GB, --memory {options.memory}", flush=True)
        os.environ["TMPDIR"] = root
        for name in options.models:
            found[name] = figures = fit(name, folder, options)
            if "said" in figures:
                print(f"{name:<24} {figures['said']}", flush=True)
            else:
                print(
                    f"{name:<24} {figures['cpu_s']:6.0f} CPU s {figures['peak_mb']:6.0f} MB"
                    f" {figures['share']:5.2f} of the limit",
                    flush=True,
                )
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))
    return int(any(figures.get("share", 0) > MOST for figures in found.values()))


if __name__ == "__main__":
    sys.exit(main())
