"""Limits of time in tests: none depends on how busy the machine is.

A test waits for an event, at most `HANG` seconds, or measures the processor time of a process.
"""

import os
import time
from pathlib import Path

#: Seconds after which a wait is taken for endless: far longer than any takes on a busy machine.
HANG = 900


def cpu_seconds(pid):
    """Return the processor time that a process has used; None where the system has no figure."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def cpu_until_end(pid, ended):
    """Wait until a process has ended; return the processor time that it used meanwhile.

    ``ended()`` returns whether it has. 0 where the system has no such figure.
    """
    first = last = cpu_seconds(pid) or 0.0
    deadline = time.monotonic() + HANG
    while not ended():
        last = max(last, cpu_seconds(pid) or 0.0)
        assert time.monotonic() < deadline, "the process does not end"
        time.sleep(0.01)
    return last - first
