"""What this package takes of time and memory, next to others that do the same: one table.

    python -m benches.speed [--cases auc boosting] [--quick | --sizes 0.1] [--threads 2]
        [--repeats 3] [--time-limit 300] [--again] [--json FILE] [--markdown FILE]
    python -m benches.speed --from benches/results/speed.json [--markdown FILE]

Each measurement is in a process of its own (Linux only), after the same work on a few rows; ours
and those of rivals take turns, and figures are the least of the repeats, of which there are no more
once the work has taken 30 s. Rivals that are not installed are left out. A case is in the file of
results as soon as it is measured, and a run that was broken off goes on behind it. `--again`
measures all anew. With `--sizes` the numbers of rows are multiplied, with `--quick` by a tenth.

At the usual sizes, the results are in `benches/results/speed.json`, from which `python -m
benches.page` writes the page of the docs, unless a file is given; at others they are in `target`.
With `--from` nothing is measured. `--markdown` writes the part of the page. The full run takes
some 25 minutes on two processors.
"""

import json
import os
import tempfile
from pathlib import Path
from time import perf_counter

from benches.common.machine import machine
from benches.common.options import make_parser
from benches.common.own_process import import_before
from benches.speed.cases import CASES
from benches.speed.measure import is_complete, record_of
from benches.speed.table import section, table

CHECKOUT = Path(__file__).parents[2]
RESULTS = CHECKOUT / "benches/results/speed.json"

#: Variables of the environment for what has no parameter for its number of threads.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def stored(path, *, again):
    """Return the results of a file, if there is one, and otherwise none."""
    here = machine()
    found = json.loads(path.read_text()) if path.exists() else {"machine": here, "cases": {}}
    if found["machine"] == here:
        return found
    if not again:
        raise SystemExit(f"{path} is of another machine or Python: give --again, or another --json")
    return {"machine": here, "cases": {}}


def run(options):
    """Measure the cases that are not in the file of results yet; return all results."""
    os.environ |= dict.fromkeys(THREADS, str(options.threads))
    import_before("benches.speed.measure")
    results = stored(options.json, again=options.again)
    cases, begin = results["cases"], perf_counter()
    with tempfile.TemporaryDirectory() as models:
        for key in options.cases:
            setting = CASES[key].setting(options.sizes, options.threads, Path(models))
            if not options.again and key in cases and is_complete(key, cases[key], setting):
                continue
            cases[key] = record_of(key, setting, options.repeats, options.time_limit)
            # In the order of the list, whichever was measured first.
            results["cases"] = {key: cases[key] for key in CASES if key in cases}
            write(options.json, json.dumps(results, indent=1) + "\n")
            print(f"{key}, after {perf_counter() - begin:.0f} s")
            print(table({key: cases[key]}), flush=True)
    return results


def write(path, text):
    """Write a file that is whole at any moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def main():
    parser = make_parser(__doc__, threads=2, repeats=3)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES), metavar="CASE")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--sizes", type=float, default=1.0, help="factor of the numbers of rows")
    size.add_argument("--quick", action="store_const", const=0.1, dest="sizes", help="a tenth")
    parser.add_argument("--time-limit", type=float, default=300.0, help="of a process, in seconds")
    parser.add_argument("--again", action="store_true", help="measure what is measured, too")
    parser.add_argument("--markdown", type=Path, help="write the part of the page there")
    parser.add_argument("--from", dest="source", type=Path, help="measure nothing: show these")
    options = parser.parse_args()
    if options.source:
        results = json.loads(options.source.read_text())
        print(table(results["cases"]))
    else:
        if options.json is None:
            options.json = RESULTS if options.sizes == 1 else CHECKOUT / "target/speed.json"
        results = run(options)
    if options.markdown:
        write(options.markdown, section(results))


if __name__ == "__main__":
    main()
