"""Times of calls that take turns, so that a busy moment of the machine hits all alike."""

from time import perf_counter

import numpy as np


def seconds(work, *args):
    """Return the time of a call, and its result."""
    start = perf_counter()
    result = work(*args)
    return perf_counter() - start, result


def times_in_turn(works, n_runs):
    """Call every work once in each run; return the times of each, by its name."""
    times = {name: [] for name in works}
    for _ in range(n_runs):
        for name, work in works.items():
            times[name].append(seconds(work)[0])
    return times


def median_seconds(works, n_runs):
    """Return the median time of each work."""
    times = times_in_turn(works, n_runs)
    return {name: float(np.median(taken)) for name, taken in times.items()}


def least_seconds(works, n_runs):
    """Return the least time of each work: what others do on the machine only adds."""
    return {name: min(taken) for name, taken in times_in_turn(works, n_runs).items()}
