"""What some work takes: time by the clock and of processors, and memory (Linux only).

All is that of this process with its threads and of the processes that it has started, as joblib
does. These have to be there before the work begins: the caller does a small part of it before.
"""

import ctypes
import gc
import os
from pathlib import Path
from time import perf_counter, process_time

from benches.common.memory import status_bytes

#: Short work is repeated for so many seconds, so many times at most.
SECONDS, MOST_CALLS = 0.5, 1000


def workers():
    """Return the numbers of all processes below this one."""
    children = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name of the command may have spaces; behind it are the state and the parent.
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
        children.setdefault(parent, []).append(int(path.parent.name))
    found = [os.getpid()]
    for process in found:
        found += children.get(process, [])
    return found[1:]


def _processor_seconds(processes):
    """Return the processor time of this process and of others."""
    ticks = 0
    for process in processes:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return process_time() + ticks / os.sysconf("SC_CLK_TCK")


def usage(work):
    """Do some work; return what it takes of seconds, processor seconds and bytes, and its result.

    Seconds are those of the shortest call. The bytes are by how much the peak exceeds what was in
    memory before the first call, the data above all.
    """
    others = workers()
    processes = ["self", *others]
    # What has been freed before the work would hide what the work allocates.
    gc.collect()
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)
    for process in processes:
        Path(f"/proc/{process}/clear_refs").write_text("5")
    before = sum(status_bytes("VmRSS", process) for process in processes)
    clocks, processors, begin = [], [], perf_counter()
    while not clocks or (perf_counter() - begin < SECONDS and len(clocks) < MOST_CALLS):
        result = None  # that of the call before would count
        clock, processor = perf_counter(), _processor_seconds(others)
        result = work()
        clocks.append(perf_counter() - clock)
        processors.append(_processor_seconds(others) - processor)
    peak = sum(status_bytes("VmHWM", process) for process in processes)
    taken = {
        "seconds": min(clocks),
        "processor_seconds": min(processors),
        "bytes": max(0, peak - before),
    }
    return taken, result
