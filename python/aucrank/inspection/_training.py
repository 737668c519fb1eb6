"""Fits of an estimator to parts and resamples of labelled rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from aucrank._base.scoring import scoring_method
from aucrank._data.as_frame import frame_or_matrix
from aucrank._data.column_warnings import inner_fits_are_silent
from aucrank.metrics._units import Units


def check_scores(estimator: Any) -> None:
    """Raise ``TypeError`` for an estimator that scores no rows."""
    if scoring_method(estimator) is None:
        raise TypeError(
            f"{type(estimator).__name__} has neither decision_function nor predict_proba"
        )


@dataclass(frozen=True, eq=False)
class Training:
    """Labelled rows that an estimator is fitted to, again and again.

    Attributes
    ----------
    rows : frame or ndarray
        All of them.
    labels : ndarray of shape (n_samples,)
        Their labels.
    units : Units
        Their weights and groups.
    is_weighted : bool
        Whether there are weights, which are passed to each fit.
    """

    rows: Any
    labels: NDArray[Any]
    units: Units
    is_weighted: bool

    @classmethod
    def of(
        cls, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> Training:
        """Read rows, labels, weights and groups.

        Raises
        ------
        ValueError
            For labels not of two classes, bad weights, groups with a missing value, and rows of
            another number than labels.
        """
        units = Units.of(y, sample_weight, "sampling", groups)
        labels = np.asarray(y)
        rows = frame_or_matrix(X, "X")
        if len(rows) != len(labels):
            raise ValueError(f"X has {len(rows)} rows, but y has {len(labels)}")
        return cls(rows, labels, units, sample_weight is not None)

    def redraw(self, rng: np.random.Generator, *, within_classes: bool = True) -> NDArray[np.intp]:
        """Return the rows of a resample: within each class or from all, or whole groups."""
        units = self.units
        if not within_classes and units.codes is None:
            n_rows = len(self.labels)
            units = replace(units, codes=np.arange(n_rows), n_codes=n_rows)
        times = units.redraw(rng).astype(np.intp)
        return np.repeat(np.arange(len(times)), times)

    def take(self, places: NDArray[np.intp]) -> Any:
        """Return some of the rows as they were given."""
        if isinstance(self.rows, np.ndarray):
            return self.rows[places]
        return self.rows[places.tolist()].to_native()

    def fit(self, estimator: Any, places: NDArray[np.intp]) -> Any:
        """Return a clone of an estimator, fitted to some of the rows."""
        given = {"sample_weight": self.units.weight[places]} if self.is_weighted else {}
        with inner_fits_are_silent():
            return clone(estimator).fit(self.take(places), self.labels[places], **given)
