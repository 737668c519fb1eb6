"""The machine that something is measured on."""

import os
import platform
from pathlib import Path


def machine():
    """Return the processor, their number, the memory, the system and Python (Linux only)."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    n_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": names[0] if names else platform.machine(),
        "processors": len(os.sched_getaffinity(0)),
        "gigabytes": round(n_bytes / 1e9),
        "system": platform.system(),
        "python": platform.python_version(),
    }
