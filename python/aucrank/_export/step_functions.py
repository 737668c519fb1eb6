"""Step functions of features, one for each: in words, and in SQL.

A step function is a dictionary, as the document of a boosted model has it: ``feature``, its place
among the columns; ``numeric``, with ascending ``thresholds`` and one more of ``values``, or
``categorical``, with ``values`` by code; and ``missing``, the value of what is missing. Of a number
there may also be ``apart``: pairs of a number and a value, which numbers that stand apart have
instead.
"""

from math import inf
from typing import Any

import numpy as np

from aucrank._data.schema import Schema
from aucrank._data.table import Table
from aucrank._export.rules import Restriction, Words
from aucrank._export.sql import SqlWriter

StepFunction = dict[str, Any]

#: What a rule says of a feature that is missing.
MISSING = Restriction(low=inf, high=-inf)


def by_value(values: list[float]) -> list[tuple[list[int], float]]:
    """Return the codes of each distinct value, the highest value first."""
    distinct = sorted(set(values), reverse=True)
    return [
        ([code for code, other in enumerate(values) if other == value], value) for value in distinct
    ]


def steps(term: StepFunction) -> list[tuple[Restriction, float]]:
    """Return the values of a feature with what they add, the missing ones last."""
    if "numeric" in term:
        bounds = [-inf, *term["numeric"]["thresholds"], inf]
        known = [
            (Restriction(low, high, missing=False), value)
            for low, high, value in zip(
                bounds[:-1], bounds[1:], term["numeric"]["values"], strict=True
            )
        ]
    else:
        known = [
            (Restriction(levels=frozenset(codes), missing=False), value)
            for codes, value in by_value(term["categorical"]["values"])
        ]
    return [*known, (MISSING, term["missing"])]


def terms_table(rows: list[tuple[str, str, float]]) -> Table:
    """Return the table of ``terms``: of each step its feature, its rule and its value."""
    names, rules, values = zip(*rows, strict=True) if rows else ((), (), ())
    return Table(
        feature=np.array(names, dtype=np.str_),
        rule=np.array(rules, dtype=np.str_),
        value=np.array(values, dtype=np.float64),
    )


def table_of_steps(words: Words, terms: list[StepFunction]) -> Table:
    """Return the table of ``terms`` of step functions of which none has special values."""
    return terms_table(
        [
            (words.name(term["feature"]), words.region({term["feature"]: rule}), value)
            for term in terms
            for rule, value in steps(term)
        ]
    )


def sql_of_steps(writer: SqlWriter, schema: Schema, term: StepFunction) -> str:
    """Return a step function as a ``CASE`` expression, or as a number if it is constant."""
    name = writer.name(term["feature"])
    levels = schema.features[term["feature"]].levels
    missing = writer.double(term["missing"])
    if levels is None:
        *below, last = map(writer.double, term["numeric"]["values"])
        whens = [f"WHEN {name} IS NULL THEN {missing}"] * (missing != last or bool(below))
        for special, value in term.get("special", ()):
            if (said := writer.double(value)) != last or below:
                whens.append(f"WHEN {name} = {writer.number(special)} THEN {said}")
        whens += [
            f"WHEN {name} < {writer.number(threshold)} THEN {value}"
            for threshold, value in zip(term["numeric"]["thresholds"], below, strict=True)
        ]
    else:
        whens, last = [], missing
        for codes, value in by_value(term["categorical"]["values"]):
            if (said := writer.double(value)) != missing:
                known = writer.among(term["feature"], [levels[code] for code in codes])
                whens.append(f"WHEN {known} THEN {said}")
    return "\n  ".join(["CASE", *whens, f"ELSE {last} END"]) if whens else last
