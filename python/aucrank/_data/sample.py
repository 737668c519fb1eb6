"""The rows of a fit."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._data.input import Columns
from aucrank._data.schema import Schema


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows with their labels and weights, read and checked.

    Attributes
    ----------
    columns : ndarray of shape (n, n_features), or list of ndarray of shape (n,)
        The data as the core takes it.
    schema : Schema
        Names and levels of the columns.
    positive : ndarray of bool, shape (n,)
        Where ``y`` is ``classes_[1]``; both classes occur. None for an estimator that needs no
        labels and was given none.
    weight : ndarray of float64, shape (n,), or None
        Finite, not negative, with a positive sum in each class.
    rows : array-like or data frame of shape (n, n_features), default=None
        The data as the user passed them, for estimators of the user's own choice.
    """

    columns: Columns
    schema: Schema
    positive: NDArray[np.bool_] | None
    weight: NDArray[np.float64] | None
    rows: Any = None

    @property
    def labels(self) -> NDArray[np.bool_]:
        """What is positive, for an estimator that needs labels."""
        assert self.positive is not None
        return self.positive

    @property
    def core(
        self,
    ) -> tuple[Columns, list[int | None], NDArray[np.bool_] | None, NDArray[np.float64] | None]:
        """The sample as the functions of the core take it."""
        return self.columns, self.schema.n_levels, self.positive, self.weight
