"""Reason codes: the features that cost a row the most points."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from aucrank._data.column_lookup import check_names
from aucrank.additive._scorecard.card import Card


def find_reasons(
    card: Card,
    parts: NDArray[np.int64],
    n_reasons: int,
    *,
    why: Literal["few", "many"],
    baseline: Literal["extreme", "mean"],
    texts: NDArray[np.object_],
) -> tuple[NDArray[np.object_], NDArray[np.float64]]:
    """Return the texts of the features that cost each row the most points, and these points.

    Parameters
    ----------
    card : Card
        The card.
    parts : ndarray of int64, shape (n, n_features)
        Points of each feature of each row.
    n_reasons : int
        Maximum number of reasons.
    why, baseline : str
        As for `Scorecard.reason_codes`.
    texts : ndarray of object, shape (n_features,)
        Result of `reason_texts`.

    Returns
    -------
    codes : ndarray of object, shape (n, n_reasons)
        The one with most points lost (won) first; None if no other has cost the row anything.
    points : ndarray of float64, shape (n, n_reasons)
        Points lost (won) by each of them, 0 for None.
    """
    sign = 1 if why == "few" else -1
    lost = sign * (_baseline(card, baseline, sign) - parts)
    # Stable, so that the first of equal features comes first.
    order = np.argsort(-lost, axis=1, kind="stable")[:, :n_reasons]
    n_given = order.shape[1]
    points = np.zeros((len(parts), n_reasons))
    points[:, :n_given] = np.maximum(np.take_along_axis(lost, order, axis=1), 0.0)
    codes = np.full(points.shape, None, dtype=object)
    codes[:, :n_given] = texts[order]
    codes[points == 0] = None
    return codes, points


def reason_texts(names: list[str], reasons: Mapping[str, str] | None) -> NDArray[np.object_]:
    """Return the reason text of each feature, or else its name.

    Raises
    ------
    TypeError
        If ``reasons`` is not a mapping.
    ValueError
        If it names unknown columns.
    """
    if reasons is not None and not isinstance(reasons, Mapping):
        raise TypeError(f"reasons must be a mapping from names to texts, got {reasons!r}")
    texts = {} if reasons is None else dict(reasons)
    check_names(texts, "reasons", names)
    return np.array([texts.get(name, name) for name in names], dtype=object)


def _baseline(card: Card, baseline: str, sign: int) -> NDArray[np.float64]:
    """Return the baseline points of each feature."""
    points = np.zeros(len(card.schema.features))
    for feature in card.features:
        of_bin = np.array([bin_.points for bin_ in feature.bins], dtype=np.float64)
        size = np.array([bin_.size for bin_ in feature.bins])
        if baseline == "mean":
            points[feature.place] = np.average(of_bin, weights=size / size.max())
        else:
            points[feature.place] = sign * (sign * of_bin[size > 0]).max()
    return points
