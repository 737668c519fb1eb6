"""Memory is measured in small pages: of a huge one a part may be used, and all of it counts."""

import ctypes

#: Of linux/prctl.h.
PR_SET_THP_DISABLE = 41


def without_huge_pages():
    """Give this process pages of the usual size from now on."""
    ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
