"""Peak memory of some work, in a process of its own (Linux only)."""

import subprocess
import sys
from pathlib import Path


def status_bytes(key, process="self"):
    """Return a figure of /proc/self/status, or of that of another process, in bytes."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith(f"{key}:")))


def peak_bytes(work):
    """Do some work; return by how much it raised the peak memory of this process, and its result.

    What importing takes, and a first small fit, is not the data's: the caller does one before.
    """
    Path("/proc/self/clear_refs").write_text("5")
    before = status_bytes("VmRSS")
    result = work()
    return status_bytes("VmHWM") - before, result


def run_again(*arguments, options=None, names=(), time_limit=None):
    """Return what the running benchmark prints in a process of its own.

    It is given the arguments, and those of its options that are named. After so many seconds, if
    any, it is ended, and `subprocess.TimeoutExpired` raised.
    """
    module = sys.modules["__main__"].__spec__.name
    command = [sys.executable, "-m", module, *map(str, arguments)]
    for name in names:
        command += [f"--{name}", str(getattr(options, name))]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=time_limit
    ).stdout
