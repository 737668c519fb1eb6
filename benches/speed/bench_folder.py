"""A folder of Parquet files that is larger than memory, from the command line.

    python -m benches.speed.bench_folder [--gigabytes 4] [--columns 20] [--memory 1GB]
        [--model TreeRank] [--param pruning=penalty] [--time-limit 120] [--folder DIR] [--json FILE]

Makes a folder of files of that size, without compression, then runs ``aucrank fit``, ``score`` and
``evaluate`` on it, each with ``--memory``, and prints what they say with the time and the peak
resident memory of each. Where no model is named it is the one of the command line, whose time
should be limited. Linux and macOS only. The folder, for which DIR must have room twice, is
removed.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from benches.common.options import make_parser
from benches.speed.bench_datasets import BLOCK, make_rows, sizes_of


def make_folder(folder, gigabytes, n_columns):
    """Write the files; return the number of rows and of bytes."""
    n_rows = int(gigabytes * 1e9 / (8 * n_columns + 1))
    for number, size in enumerate(sizes_of(n_rows, -(-n_rows // BLOCK))):
        rows = make_rows(size, n_columns, number)
        # Numbers of which hardly two are equal do not get smaller in a dictionary.
        rows.to_parquet(folder / f"{number:04}.parquet", compression=None, use_dictionary=False)
    return n_rows, sum(file.stat().st_size for file in folder.iterdir())


def run_command(command, *, is_shown=True):
    """Run a command of `aucrank`; return its status, its figures, and its output unless shown."""
    stream = None if is_shown else subprocess.PIPE
    start = perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-m", "aucrank", *command],
        stdout=stream,
        stderr=stream and subprocess.STDOUT,
    )
    said = "" if is_shown else child.stdout.read().decode()
    # Of this child alone; in bytes on macOS, else in kilobytes.
    _, status, usage = os.wait4(child.pid, 0)
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    figures = {
        "wall_s": perf_counter() - start,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_mb": peak / 1e6,
    }
    return status, figures, said


def run(command):
    """Run a command of `aucrank`, whose output is shown; return its figures."""
    print("$ aucrank", " ".join(command), flush=True)
    status, figures, _ = run_command(command)
    if status:
        raise SystemExit(f"aucrank {' '.join(command)} failed")
    print(f"{figures['wall_s']:.0f} s, {figures['cpu_s']:.0f} CPU s, {figures['peak_mb']:.0f} MB")
    return figures


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--gigabytes", type=float, default=4)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--model")
    parser.add_argument("--time-limit")
    parser.add_argument("--param", action="append", default=[])
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="aucrank-", dir=options.folder))
    try:
        folder = root / "rows"
        folder.mkdir()
        n_rows, n_bytes = make_folder(folder, options.gigabytes, options.columns)
        print(f"{n_rows:,} rows, {n_bytes / 1e9:.2f} GB", flush=True)
        # What a fit writes down goes where there is room.
        os.environ["TMPDIR"] = str(root)
        model, memory = str(root / "model.json"), ["--memory", options.memory]
        params = [word for param in options.param for word in ("--param", param)]
        target, scores = ["--target", "y"], str(root / "scores.parquet")
        named = {"--model": options.model, "--time-limit": options.time_limit}
        given = [(option, value) for option, value in named.items() if value is not None]
        learner = [*(word for pair in given for word in pair), *params]
        figures = {
            "fit": run(["fit", str(folder), *target, *memory, *learner, "--output", model]),
            "score": run(["score", model, str(folder), *memory, "--output", scores]),
            "evaluate": run(["evaluate", model, str(folder), *target, *memory]),
        }
    finally:
        shutil.rmtree(root)
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
