"""Files that a process writes for itself."""

import os
import sys
from contextlib import suppress


def sizes_without_a_name():
    """Bytes of the open files of this process that have no name any more."""
    for number in os.listdir("/proc/self/fd"):
        # The folder itself was open while it was listed.
        with suppress(FileNotFoundError):
            status = os.stat(f"/proc/self/fd/{number}")
            if status.st_nlink == 0:
                yield status.st_size


def n_spilled_bytes(folder):
    """Bytes of the files in a folder; where the system allows it, of those without a name."""
    if sys.platform == "linux":
        assert os.listdir(folder) == []
        return sum(sizes_without_a_name())
    return sum(path.stat().st_size for path in folder.iterdir())
