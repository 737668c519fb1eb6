"""Outputs that would replace inputs; signals that end a command; too little memory."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.common.command_line import TREE, loans, ok, run
from tests.common.limits import HANG, cpu_until_end
from tests.common.processes import no_windows


@pytest.fixture
def files(capsys):
    loans(120).to_csv("d.csv", index=False)
    ok(capsys, "fit", "d.csv", "--target", "bad", *TREE, "-o", "m.json")
    return {name: Path(name).read_bytes() for name in ("d.csv", "m.json")}


def fit(*more):
    return ("fit", "d.csv", "--target", "bad", *TREE, *more)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (fit("-o", "d.csv"), "--output d.csv would replace d.csv, which is DATA"),
        (fit("-o", "./d.csv"), "--output ./d.csv would replace d.csv, which is DATA"),
        (fit("-o", "link.csv"), "--output link.csv would replace d.csv, which is DATA"),
        (fit("-o", "hard.csv"), "--output hard.csv would replace d.csv, which is DATA"),
        (("score", "m.json", "d.csv", "-o", "d.csv"), "--output d.csv would replace d.csv"),
        (("score", "m.json", "d.csv", "-o", "m.json"), "which is MODEL"),
        (("export", "m.json", "--to", "json", "-o", "m.json"), "which is MODEL"),
        (("report", "m.json", "d.csv", "--target", "bad", "-o", "m.json"), "which is MODEL"),
        (
            ("report", "x.json", "d.csv", "--target", "bad", "--against", "m.json", "-o", "m.json"),
            "which is --against",
        ),
        (
            ("report", "m.json", "x.csv", "--target", "bad", "--train", "d.csv", "-o", "d.csv"),
            "which is --train",
        ),
        (("compare", "d.csv", "--target", "bad", "--json", "d.csv"), "which is DATA"),
        (
            ("compare", "d.csv", "--target", "bad", "--resume", "m.json", "--json", "m.json"),
            "which is --resume",
        ),
        (("compare", "d.csv", "--target", "bad", "--csv", "o", "--json", "o"), "which is --json"),
        (("fit", "*.csv", "--target", "bad", *TREE, "-o", "d.csv"), "which is DATA"),
        (("fit", ".", "--target", "bad", *TREE, "-o", "d.csv"), "which is DATA"),
    ],
)
def test_an_output_that_is_an_input_is_rejected(capsys, files, command, says):
    os.symlink("d.csv", "link.csv")
    os.link("d.csv", "hard.csv")
    status, out, err = run(capsys, *command)
    assert (status, out) == (2, "")
    assert says in err
    assert {name: Path(name).read_bytes() for name in files} == files


def test_an_output_next_to_the_data_is_written(capsys, files):
    ok(capsys, *fit("-o", "other.json"))
    ok(capsys, *fit("-o", "other.json"))
    os.mkdir("folder")
    os.rename("d.csv", "folder/d.csv")
    ok(capsys, "score", "m.json", "folder/d.csv", "-o", "folder/scores.csv")


@no_windows
def test_ctrl_c_before_the_first_fit_leaves_older_files(capsys, files, monkeypatch):
    from aucrank._compare.request import Request

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Request, "run", stop)
    Path("old.html").write_text("old")
    Path("old.csv").write_text("old")
    status, _, err = run(
        capsys, "compare", "d.csv", "--target", "bad", "--no-peers", "--models", "TreeRank",
        "--report", "old.html", "--csv", "old.csv",
    )  # fmt: skip
    assert status == 130
    assert err.endswith("aucrank: interrupted\n")
    assert {Path(name).read_text() for name in ("old.html", "old.csv")} == {"old"}


@no_windows
@pytest.mark.parametrize(("number", "status"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_a_command_ended_by_a_signal_leaves_no_files(tmp_path, number, status):
    loans(20_000).to_csv("d.csv", index=False)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [
        sys.executable, "-P", "-m", "aucrank", "fit", "-", "--target", "bad", "-o", "m.json",
        "--model", "GradientBoostingRanker", "--param", "n_rounds=1000000",
        "--param", "n_iter_no_change=1000000",
    ]  # fmt: skip
    with open("d.csv") as data, open("said", "w") as said:
        child = subprocess.Popen(
            command, stdin=data, stdout=said, stderr=said,
            env={**os.environ, "TMPDIR": str(temporary)},
            # Tests in the background of a shell, or without one, ignore signals.
            preexec_fn=lambda: signal.signal(getattr(signal, number), signal.SIG_DFL),
        )  # fmt: skip
    deadline = time.monotonic() + HANG
    while not any(temporary.iterdir()) and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(1.5)
    assert child.poll() is None, Path("said").read_text()
    child.send_signal(getattr(signal, number))
    assert cpu_until_end(child.pid, lambda: child.poll() is not None) < 2.5
    assert child.returncode == status
    assert list(temporary.iterdir()) == []
    assert not Path("m.json").exists()
    assert not [name for name in os.listdir() if name.startswith(".aucrank")]
    assert "Traceback" not in Path("said").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
def test_codes_that_exceed_memory_raise_a_memory_error():
    script = """
import resource
import numpy as np, pandas as pd
import aucrank
from aucrank import GradientBoostingRanker, RankingForest, TreeRank
n = 8_000_000
column = (np.arange(n) % 1000).astype(np.float32)
X = pd.DataFrame({f"x{k}": column for k in range(20)}, copy=False)
y = np.zeros(n, dtype=np.int8)
y[::3] = 1
_, hard = resource.getrlimit(resource.RLIMIT_AS)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 190_000_000, hard))
try:
    TreeRank(n_jobs=1).fit(X, y)
except MemoryError as err:
    print("MemoryError", err)
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, timeout=HANG
    )
    assert done.returncode == 0, done.stderr
    assert "bytes more are needed" in done.stdout, done.stdout


@no_windows
def test_a_signal_whose_exception_is_lost_ends_the_command_all_the_same():
    script = """
import os, signal, sys, time
from aucrank import cli

class Careless:
    def __del__(self):
        # Python cannot raise what a finalizer raises.
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(100_000):
            pass

def run(argv):
    value = Careless()
    del value
    begun = time.process_time()
    while time.process_time() < begun + 60:
        pass
    return 0

cli._run = run
status = cli.main([])
print(status, time.process_time() < 30, signal.getitimer(signal.ITIMER_PROF))
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, timeout=HANG
    )
    assert done.stdout == "143 True (0.0, 0.0)\n", done.stderr
    assert "Exception ignored" in done.stderr
