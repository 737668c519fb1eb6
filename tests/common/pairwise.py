"""Fewer combinations of parameters than all: those in which each two values meet.

Most faults depend on one value or on two of them. Where a case takes long, these find what all
combinations find, in as many cases as the two longest lists have pairs.
"""

from itertools import combinations, product

import pytest


def pairwise(*sizes):
    """Return combinations of positions in lists of these sizes that have each pair of positions."""

    def pairs(case):
        return set(combinations(enumerate(case), 2))

    every = {case: pairs(case) for case in product(*map(range, sizes))}
    missing = set().union(*every.values())
    taken = []
    while missing:
        taken.append(max(every, key=lambda case: len(every[case] & missing)))
        missing -= every[taken[-1]]
    return sorted(taken)


def parametrize_pairs(**axes):
    """Parametrize a test by combinations in which each two values of two parameters meet.

    A dict names its values, as its keys do in the name of a test.
    """
    axes = {
        name: list(axis.items()) if isinstance(axis, dict) else [(value, value) for value in axis]
        for name, axis in axes.items()
    }
    cases = []
    for places in pairwise(*map(len, axes.values())):
        chosen = [axis[place] for axis, place in zip(axes.values(), places, strict=True)]
        names, values = zip(*chosen, strict=True)
        cases.append(pytest.param(*values, id="-".join(map(str, names))))
    return pytest.mark.parametrize(tuple(axes), cases)
