"""Memory is measured as a user's process takes it, whatever the allocator of the tests is set to.

Of a huge page a part may be used, and all of it counts, as does what a heap does not give back.
"""

import ctypes
import os

#: Of linux/prctl.h.
PR_SET_THP_DISABLE = 41


def without_huge_pages():
    """Give this process pages of the usual size from now on."""
    ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)


def usual_heap():
    """Return the environment of a new process whose heap is as Python and the system have it."""
    set_apart = ("GLIBC_TUNABLES", "PYTHONMALLOC")
    return {key: value for key, value in os.environ.items() if key not in set_apart}
