"""Number of threads of a call."""

from __future__ import annotations

import os

import joblib


def effective_n_threads(n_jobs: int | None = None) -> int:
    """Threads to start: ``n_jobs``, or all that this process may use.

    ``None`` and -1 mean every processor that joblib counts, but no more than ``OMP_NUM_THREADS``,
    which joblib's workers set to share the machine; -2 means all but one, and so on.
    """
    if n_jobs == 0:
        raise ValueError("n_jobs is 0, but must be positive, negative or None")
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    available = int(joblib.cpu_count())
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if limit.isdecimal() and int(limit) > 0:
        available = min(available, int(limit))
    return available if n_jobs is None else max(1, available + 1 + n_jobs)
