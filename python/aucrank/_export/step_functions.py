"""Step functions of features as text, one per feature."""

from math import inf

import numpy as np

from aucrank._data.table import Table
from aucrank._export.formula import NumberSteps, Steps
from aucrank._export.rules import Restriction, Words

#: Text of a rule for a missing feature.
MISSING = Restriction(low=inf, high=-inf)


def restrictions(steps: Steps) -> list[tuple[Restriction, float]]:
    """Return the values of a feature with their contributions, missing ones last."""
    if isinstance(steps, NumberSteps):
        known = [
            (Restriction(low, high, missing=False), value) for low, high, value in steps.intervals()
        ]
    else:
        known = [
            (Restriction(levels=frozenset(codes), missing=False), value)
            for codes, value in steps.by_value()
        ]
    return [*known, (MISSING, steps.missing)]


def terms_table(rows: list[tuple[str, str, float]]) -> Table:
    """Return the table of ``terms``: of each step its feature, its rule and its value."""
    names, rules, values = zip(*rows, strict=True) if rows else ((), (), ())
    return Table(
        feature=np.array(names, dtype=np.str_),
        rule=np.array(rules, dtype=np.str_),
        value=np.array(values, dtype=np.float64),
    )


def rows_of_steps(words: Words, steps: Steps) -> list[tuple[str, str, float]]:
    """Return the rows of the table of ``terms`` for one step function."""
    return [
        (words.name(steps.feature), words.region({steps.feature: rule}), value)
        for rule, value in restrictions(steps)
    ]


def table_of_steps(words: Words, terms: list[Steps]) -> Table:
    """Return the table of ``terms`` of step functions without special values."""
    return terms_table([row for steps in terms for row in rows_of_steps(words, steps)])
