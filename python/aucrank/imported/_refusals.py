"""Checks that readers of models share."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from aucrank import _core
from aucrank._data.schema import Feature, Level


@contextmanager
def malformed(what: str) -> Iterator[None]:
    """Turn errors of reading a damaged document into one that says what it is."""
    try:
        yield
    except _core.ModelFormatError as error:
        if str(error).startswith(what):
            raise
        raise _core.ModelFormatError(f"{what}: {error}") from error
    except KeyError as error:
        raise _core.ModelFormatError(f"{what}: it has no {error}") from error
    except (
        ValueError, TypeError, IndexError, AttributeError, OverflowError, RecursionError,
        UnicodeDecodeError,
    ) as error:  # fmt: skip
        raise _core.ModelFormatError(f"{what}: {error}") from error


def refuse(what: str, hint: str = "") -> _core.ModelFormatError:
    """Return an error that says what is not supported, and what to do."""
    return _core.ModelFormatError(what + (f": {hint}" if hint else ""))


def features_of(
    names: Sequence[str] | None, levels: dict[int, Sequence[Any]], n_features: int
) -> list[Feature]:
    """Return the columns of a model.

    Parameters
    ----------
    names : sequence of str or None
        Their names, None for columns without.
    levels : dict of int to sequence
        The categories of those that have some, by position.
    n_features : int
        Number of columns.
    """
    if names is not None and len(names) != n_features:
        raise ValueError(f"{n_features} columns have {len(names)} names")
    if names is not None and len(set(names)) < len(names):
        raise ValueError("two columns have the same name")
    if not n_features >= 1:
        raise ValueError("it has no columns")
    found = []
    for place in range(n_features):
        of_column = levels.get(place)
        if of_column is not None:
            for level in of_column:
                if not isinstance(level, Level) or level != level:
                    raise ValueError(f"column {place} has the category {level!r}")
            if len(set(of_column)) < len(of_column):
                raise ValueError(f"column {place} has a category twice")
        of_column = None if of_column is None else tuple(of_column)
        found.append(Feature(None if names is None else str(names[place]), of_column))
    return found
