"""Validation rows: a model is not fitted to them, but chosen by them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from aucrank._data.input import count_rows, read_columns
from aucrank._data.labels import match_labels
from aucrank._data.sample import Sample
from aucrank._data.schema import Schema
from aucrank._data.weights import check_class_sums, check_weight, weigh_classes


@dataclass(frozen=True, slots=True)
class ValidationSet:
    """What a user passed to ``fit`` as ``X_val``, ``y_val`` and ``sample_weight_val``."""

    X: Any = None
    y: ArrayLike | None = None
    sample_weight: ArrayLike | None = None
    #: Factors by which ``class_weight`` multiplies the weights of both classes.
    class_factors: tuple[float, float] | None = None

    @property
    def is_given(self) -> bool:
        """Whether any of them was given."""
        return any(part is not None for part in (self.X, self.y, self.sample_weight))

    def read(self, estimator: BaseEstimator, schema: Schema, classes: NDArray[Any]) -> Sample:
        """Return the rows, read and checked.

        Parameters
        ----------
        estimator : estimator
            One that knows the columns of the fit.
        schema : Schema
            The columns; categories are matched by value.
        classes : ndarray of shape (2,)
            The labels, the second is positive.

        Raises
        ------
        ValueError
            If a part is missing or not valid, or a class is absent.
        """
        for name, part in (("X_val", self.X), ("y_val", self.y)):
            if part is None:
                raise ValueError(
                    f"{name} is missing: rows to validate on need both X_val and y_val"
                )
        with _errors_in("X_val"):
            columns = read_columns(estimator, self.X, schema)
        with _errors_in("y_val"):
            assert self.y is not None
            positive = match_labels(self.y, classes)
        if count_rows(columns) != len(positive):
            raise ValueError(
                "Found input variables with inconsistent numbers of samples in X_val and y_val:"
                f" {[count_rows(columns), len(positive)]}"
            )
        for label, rows in zip(classes.tolist(), (~positive, positive), strict=True):
            if not rows.any():
                raise ValueError(
                    f"y_val lacks the class {label!r}; an AUC to validate by needs rows of both"
                )
        with _errors_in("sample_weight_val"):
            weight = check_weight(self.sample_weight, len(positive))
            check_class_sums(weight, positive, classes)
        weight = weigh_classes(self.class_factors, positive, weight)
        return Sample(columns, schema, positive, weight)


@contextmanager
def _errors_in(name: str) -> Iterator[None]:
    """Make errors name the validation rows, not the training data."""
    try:
        yield
    except TypeError as err:
        raise TypeError(f"in {name}: {err}") from err
    except ValueError as err:
        raise ValueError(f"in {name}: {err}") from err
