"""Encoders of categories as tables."""

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np

from aucrank._data.schema import is_missing
from aucrank._export.pipeline.columns import Coding, Column

# Stands for NaN, which is not equal to itself, among the keys of categories.
_NAN = object()


def one_hot(encoder: Any, columns: Sequence[Column]) -> list[Column]:
    """Return the columns of a fitted ``OneHotEncoder``.

    Where it raises an error for an unknown category, these are all 0.
    """
    groups_unknown = encoder.handle_unknown in ("infrequent_if_exist", "warn")
    found: list[Column] = []
    for place, column in enumerate(columns):
        categories = encoder.categories_[place]
        coding = Coding(column, categories)
        dropped = None if encoder.drop_idx_ is None else encoder.drop_idx_[place]
        frequent, infrequent = _groups(encoder, place)
        for group in [*frequent, *([infrequent] if infrequent else [])]:
            if dropped in group:
                continue
            ones = dict.fromkeys(group, 1.0)
            if group is infrequent and groups_unknown:
                zeros = dict.fromkeys(range(len(categories)), 0.0)
                found.append(coding.column_of(zeros | ones, 1.0))
            else:
                found.append(coding.column_of(ones, 0.0))
    return found


def ordinal(encoder: Any, columns: Sequence[Column]) -> list[Column]:
    """Return the columns of a fitted ``OrdinalEncoder``.

    Where it raises an error for an unknown category, the ranker gets a missing value.
    """
    knows_unknown = encoder.handle_unknown == "use_encoded_value"
    unknown = _cast(encoder, encoder.unknown_value) if knows_unknown else nan
    found: list[Column] = []
    for place, column in enumerate(columns):
        categories = encoder.categories_[place]
        frequent, infrequent = _groups(encoder, place)
        # NaN has a code of its own, while None is a category like others.
        is_nan = [_key(category) is _NAN for category in categories]
        groups = [group for group in frequent if not is_nan[group[0]]]
        codes = {k: code for code, group in enumerate([*groups, infrequent]) for k in group}
        values = {
            k: _cast(encoder, codes.get(k, encoder.encoded_missing_value))
            for k in range(len(categories))
        }
        found.append(Coding(column, categories).column_of(values, unknown))
    return found


def target_means(encoder: Any, columns: Sequence[Column]) -> list[Column]:
    """Return the columns of a fitted ``TargetEncoder`` of two classes or of numbers."""
    if encoder.target_type_ == "multiclass":
        raise ValueError(
            "a TargetEncoder of more than two classes has columns for each, which have no export"
        )
    unknown = float(encoder.target_mean_)
    return [
        Coding(column, categories).column_of(dict(enumerate(map(float, means))), unknown)
        for column, categories, means in zip(
            columns, encoder.categories_, encoder.encodings_, strict=True
        )
    ]


def _groups(encoder: Any, place: int) -> tuple[list[list[int]], list[int]]:
    """Return the frequent categories of a column, each by itself, and all infrequent ones."""
    categories = encoder.categories_[place]
    infrequent: list[int] = []
    if encoder.min_frequency is not None or encoder.max_categories is not None:
        rare = encoder.infrequent_categories_[place]
        place_of = {_key(category): k for k, category in enumerate(categories)}
        infrequent = [] if rare is None else [place_of[_key(value)] for value in rare]
    return [[k] for k in sorted(set(range(len(categories))) - set(infrequent))], infrequent


def _key(category: Any) -> Any:
    """Return a category as a key of a dictionary."""
    return _NAN if category is not None and is_missing(category) else category


def _cast(encoder: Any, value: Any) -> float:
    """Return a code in the precision of the output."""
    return float(np.dtype(encoder.dtype).type(value))
