"""Number of threads of a call."""

import os
from numbers import Integral

import joblib

# Thousands of threads would stall a machine, and no result depends on their number.
_MOST_THREADS = 256

# Below this many rows to score, a further thread costs more than it saves.
_ROWS_PER_THREAD = 8192


def effective_n_threads(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` stands for.

    Parameters
    ----------
    n_jobs : int or None
        ``None`` uses the processors of the machine or container, but no more than the environment
        variable ``OMP_NUM_THREADS``; a positive number is taken as given, up to 256 where there are
        fewer processors; ``-1`` is every processor, ``-2`` all but one, and so on, with at least
        one.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    TypeError
        If ``n_jobs`` is not an integer.
    ValueError
        If ``n_jobs`` is 0.
    """
    if n_jobs is None:
        # Worker processes of joblib announce their share only in OMP_NUM_THREADS: without it,
        # `GridSearchCV(..., n_jobs=k)` would run k times as many threads as processors.
        return int(min(joblib.cpu_count(), _openmp_limit()))
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
        raise TypeError(f"n_jobs must be an int or None, got {n_jobs!r}")
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning: take None, -1 or a positive number")
    if n_jobs > 0:
        return int(n_jobs) if n_jobs <= _MOST_THREADS else max(_MOST_THREADS, joblib.cpu_count())
    return max(1, joblib.cpu_count() + 1 + int(n_jobs))


def threads_for(n_jobs: int | None, n_rows: int) -> int:
    """Return the number of threads to score ``n_rows`` rows with, at most that of ``n_jobs``."""
    if n_jobs is None and n_rows < _ROWS_PER_THREAD:
        # Counting processors takes longer than scoring a few rows.
        return 1
    return min(effective_n_threads(n_jobs), 1 + n_rows // _ROWS_PER_THREAD)


def _openmp_limit() -> float:
    """``OMP_NUM_THREADS`` as a number; infinite when it is not set to a positive number."""
    # OpenMP allows a list, one entry for each level of nesting: the outermost counts here.
    text = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(text) if text.isdecimal() and int(text) > 0 else float("inf")
