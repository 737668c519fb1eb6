"""Random estimators on random rows, and random metrics: what must hold for all, held against each.

``python fuzz/random_calls.py --seconds 60`` runs cases; worker processes do, so that none ends the
others. It prints what it finds, and ends with status 1 if it finds anything. A seed and the number
of a case give the case again: ``python fuzz/random_calls.py --seed 3 --case 141``.
"""

import argparse
import os
import re
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np
from check_fits import FindingError, draw_fit
from check_metrics import draw_metrics
from draw_params import missing_params

#: Seconds after which a case has no end.
LONGEST_CASE = 120

#: What lines for the process that started a worker begin with.
MARK = "@ "


def run_case(seed: int, case: int) -> str:
    """Run a case; return what became of it, in a word."""
    rng = np.random.default_rng([seed, case])
    check, about = draw_metrics(rng) if case % 3 == 0 else draw_fit(rng)
    about = " ".join(about.split())[:600]
    print(f"{MARK}about {about}", flush=True)
    return check()


def outcome(seed: int, case: int) -> tuple[str, str]:
    """Run a case; return a word, and what was found in it, if anything."""
    try:
        return run_case(seed, case), ""
    except KeyboardInterrupt:
        raise
    except FindingError as err:
        return "finding", str(err)
    except BaseException as err:
        # A panic of Rust is not an Exception; what else comes here is not a documented error.
        where = traceback.extract_tb(err.__traceback__)
        places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in where[-3:]]
        return "finding", f"{type(err).__name__} at {', '.join(places)}: {err}"


def work(seed: int, first: int, step: int, n_cases: int, seconds: float) -> None:
    """Run cases, and print a line before and after each, with a mark of its own."""
    end = time.monotonic() + seconds
    for case in range(first, n_cases, step):
        if time.monotonic() > end:
            break
        print(f"{MARK}begin {case}", flush=True)
        word, what = outcome(seed, case)
        what = what.replace("\n", " ")
        print(f"{MARK}{word} {what}", flush=True)
    print(f"{MARK}end", flush=True)


class Findings:
    """What all workers found."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.words: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self._lock = threading.Lock()

    def note(self, case: int, what: str, about: str) -> None:
        """Count a finding, and print the first of its kind."""
        kind = re.sub(r"[\d.e+-]*\d", "#", what)[:160]
        with self._lock:
            self.kinds[kind] += 1
            if self.kinds[kind] == 1:
                again = f"{sys.executable} {sys.argv[0]} --seed {self.seed} --case {case}"
                print(f"case {case}: {what[:600]}\n  {about}\n  again: {again}", flush=True)


def watch(options: argparse.Namespace, number: int, end: float, findings: Findings) -> None:
    """Run every `jobs`-th case in one process after another."""
    case = number - options.jobs
    about = ""
    while (left := end - time.monotonic()) > 0 and case + options.jobs < options.cases:
        command = [sys.executable, os.path.realpath(sys.argv[0])]
        for name in ("seed", "jobs", "cases"):
            command += [f"--{name}", str(getattr(options, name))]
        command += ["--seconds", str(left), "--work-from", str(case + options.jobs)]
        worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace")
        assert worker.stdout is not None
        watchdog = threading.Timer(LONGEST_CASE, worker.kill)
        word = ""
        for line in worker.stdout:
            if not line.startswith(MARK):
                continue
            word, _, rest = line.removeprefix(MARK).rstrip("\n").partition(" ")
            match word:
                case "begin":
                    case = int(rest)
                    watchdog.cancel()
                    watchdog = threading.Timer(LONGEST_CASE, worker.kill)
                    watchdog.start()
                case "about":
                    about = rest
                case "finding":
                    findings.note(case, rest, about)
                case "end":
                    break
            if word not in ("begin", "about", "end"):
                findings.words[word] += 1
        watchdog.cancel()
        status = worker.wait()
        if word == "end":
            return
        findings.note(case, f"the process ended with status {status}", about)


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=sys.maxsize, help="number of cases")
    parser.add_argument("--seconds", type=float, default=1e9, help="no case begins after these")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes")
    parser.add_argument("--case", type=int, help="run this case alone")
    parser.add_argument("--work-from", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case is not None:
        print(run_case(options.seed, options.case))
        return 0
    if options.work_from is not None:
        work(options.seed, options.work_from, options.jobs, options.cases, options.seconds)
        return 0
    if missing := missing_params():
        print(f"these parameters are not drawn, see draw_params.py: {missing}")
        return 2
    findings = Findings(options.seed)
    start = time.monotonic()
    threads = [
        threading.Thread(target=watch, args=(options, i, start + options.seconds, findings))
        for i in range(options.jobs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = ", ".join(f"{n} {word}" for word, n in sorted(findings.words.items()))
    seconds = round(time.monotonic() - start)
    print(f"random calls in {seconds} s, seed {options.seed}: {counts or 'none'}")
    for kind, n in findings.kinds.most_common():
        print(f"{n:8} {kind}")
    return 1 if findings.kinds else 0


if __name__ == "__main__":
    sys.exit(main())
