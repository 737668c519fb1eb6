"""Scores and probabilities of the rows, as a user passed them, without the models behind them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._data.scores import row_probabilities
from aucrank._data.vectors import numbers
from aucrank._report.subjects import GivenScores, check_name, check_number, named_vectors
from aucrank._utils.words import listed

#: Value of ``probabilities`` for scores that are probabilities, all of them.
ALL_SCORES = "scores"

# Name of scores that have none.
_ALONE = "score"

_LABELS = "y"


def read_given(
    scores: Any,
    probabilities: Any,
    scores_train: Any,
    n_rows: int,
    models: Collection[str] = (),
) -> dict[str, GivenScores]:
    """Read scores by name, each with its probabilities and with those to compare with, if any.

    Parameters
    ----------
    scores : array-like of shape (n_rows,), mapping of str to array-like, data frame or None
        As a user passed them.
    probabilities : "scores", sequence of str, array-like, mapping, data frame or None
        Which of the scores are probabilities, or the probabilities that belong to them.
    scores_train : array-like, mapping, data frame or None
        Scores of other rows.
    n_rows : int
        Number of labels.
    models : collection of str, default=()
        Names of the models on the same page.

    Raises
    ------
    TypeError, ValueError
        If a number of rows differs; if a score is missing; if a probability is not from 0 to 1; if
        there are none or too many; if a name is none, or that of a model or of no score.
    """
    if scores is None:
        for value, what in ((probabilities, "probabilities"), (scores_train, "scores_train")):
            if value is not None:
                raise TypeError(f"{what} belongs to scores, and none are given")
        return {}
    found = {
        name: _read_scores(values, f"score {name!r}", n_rows)
        for name, values in named_vectors(scores, "score", _ALONE).items()
    }
    check_number(len(found) + len(models), "models and scores" if models else "scores")
    for name in found:
        check_name(name, "score")
        if name in models:
            raise ValueError(f"{name!r} is the name of a model and of a score; give one another")
    likely = _read_probabilities(probabilities, found)
    then = _read_then(scores_train, found)
    return {name: GivenScores(own, likely.get(name), then.get(name)) for name, own in found.items()}


def _read_scores(values: NDArray[Any], name: str, n_rows: int) -> NDArray[np.float64]:
    """Read scores as they are, since the page shows them; infinite ones rank first or last."""
    scores = numbers(values, name).astype(np.float64)
    if len(scores) != n_rows:
        raise ValueError(f"{name} has {len(scores)} entries, but {_LABELS} has {n_rows}")
    if np.isnan(scores).any():
        raise ValueError(f"{name} of row {int(np.isnan(scores).argmax())} is NaN")
    return scores


def _read_probabilities(
    probabilities: Any, scores: Mapping[str, NDArray[np.float64]]
) -> dict[str, NDArray[np.float64]]:
    """Return probabilities by the names of their scores."""
    if probabilities is None:
        return {}
    names = list(scores) if _is_all(probabilities) else _names(probabilities)
    if names is None:
        named = _of_scores(probabilities, "probabilities", scores)
        called = "probability of {!r}"
    else:
        _need_scores(names, "probabilities", scores)
        named, called = {name: scores[name] for name in names}, "score {!r}"
    return {
        name: row_probabilities(values, called.format(name), len(scores[name]), _LABELS)
        for name, values in named.items()
    }


def _is_all(probabilities: Any) -> bool:
    if isinstance(probabilities, str) and probabilities != ALL_SCORES:
        raise ValueError(
            f"probabilities must be {ALL_SCORES!r}, a list of names of scores, or probabilities by"
            f" the names of their scores, got {probabilities!r}"
        )
    return isinstance(probabilities, str)


def _names(probabilities: Any) -> list[str] | None:
    """Return the names of a list of names; None for anything else."""
    if not isinstance(probabilities, list | tuple | set | frozenset):
        return None
    names = list(probabilities)
    return names if all(isinstance(name, str) for name in names) else None


def _read_then(
    scores_train: Any, scores: Mapping[str, NDArray[np.float64]]
) -> dict[str, NDArray[np.float64]]:
    """Return scores to compare with, by name; of all scores or of none."""
    if scores_train is None:
        return {}
    named = _of_scores(scores_train, "scores_train", scores)
    lacking = next((name for name in scores if name not in named), None)
    if lacking is not None:
        raise ValueError(f"scores_train lacks {lacking!r}, which is one of the scores")
    found = {}
    for name, values in named.items():
        if not len(values):
            raise ValueError(f"scores_train {name!r} has no rows")
        found[name] = _read_scores(values, f"scores_train {name!r}", len(values))
    return found


def _of_scores(
    values: Any, what: str, scores: Mapping[str, NDArray[np.float64]]
) -> dict[str, NDArray[Any]]:
    """Return columns by the names of scores; one without a name belongs to the only score."""
    frame = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    has_names = isinstance(frame, nw.DataFrame) or isinstance(values, Mapping)
    if not has_names and len(scores) > 1:
        raise ValueError(
            f"{what} must be a dict or a data frame with the names of the scores,"
            f" {listed([repr(name) for name in scores])}, since there are {len(scores)} of them"
        )
    only = next(iter(scores))
    # The name of a Series need not be that of the scores.
    named = named_vectors(values if has_names else {only: values}, what, only)
    _need_scores(list(named), what, scores)
    return named


def _need_scores(names: list[str], what: str, scores: Mapping[str, NDArray[np.float64]]) -> None:
    for name in names:
        if name not in scores:
            raise ValueError(
                f"{what} names {name!r}, and the scores are"
                f" {listed([repr(known) for known in scores])}"
            )
