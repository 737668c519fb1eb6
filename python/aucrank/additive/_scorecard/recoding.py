"""Recoding of categories between a card and its ranker."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._data.schema import Schema


def recode(columns: list[NDArray[Any]], schema: Schema, other: Schema) -> list[NDArray[Any]]:
    """Return columns with categories coded by another schema."""
    recoded = []
    # The other one may have additional columns.
    for column, mine, theirs in zip(columns, schema.features, other.features, strict=False):
        if mine.levels is None or theirs.levels is None:
            recoded.append(column)
            continue
        code_of = {level: code for code, level in enumerate(theirs.levels)}
        codes = [code_of.get(level, _core.MISSING_CODE) for level in mine.levels]
        table = np.array([*codes, _core.MISSING_CODE], dtype=np.uint32)
        recoded.append(table[np.minimum(column, len(codes))])
    return recoded


def translate(terms: list[dict[str, Any]], schema: Schema, other: Schema) -> list[dict[str, Any]]:
    """Return step functions recoded from the categories of another schema to ``schema``."""
    for term in terms:
        if "categorical" not in term:
            continue
        place, values = term["feature"], term["categorical"]["values"]
        value_of = dict(zip(other.features[place].levels or (), values, strict=False))
        levels = schema.features[place].levels or ()
        translated = [value_of.get(level, term["missing"]) for level in levels]
        term["categorical"] = {"values": translated}
    return terms
