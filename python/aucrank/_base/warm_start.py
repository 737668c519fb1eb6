"""The last fit of an estimator with ``warm_start``, which a new fit continues."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._data.schema import Schema


@dataclass(frozen=True, slots=True)
class WarmStart:
    """State left by the last fit."""

    model: Any
    schema: Schema
    classes: NDArray[Any]
    #: User-supplied weak rankers that the model uses, by number.
    rankers: tuple[Any, ...] = ()

    @classmethod
    def of(cls, estimator: Any) -> "WarmStart | None":
        """Return the last fit of an estimator, or None where there is none to continue."""
        if not (getattr(estimator, "warm_start", False) and estimator.__sklearn_is_fitted__()):
            return None
        rankers = estimator.__dict__.get("_rankers", ())
        return cls(estimator._model, estimator._schema, estimator.classes_, rankers)

    def check(
        self, estimator: Any, schema: Schema, parameter: str, n_parts: int, parts: str
    ) -> None:
        """Raise ValueError if a fit cannot continue this one.

        Parameters
        ----------
        estimator : estimator
            One that has learned the classes of the fit.
        schema : Schema
            The columns of the fit.
        parameter : str
            Name of the parameter that sets the number of parts, such as ``n_estimators``.
        n_parts : int
            Parts of the last fit.
        parts : str
            What the parts are called.
        """
        if not np.array_equal(self.classes, estimator.classes_):
            raise ValueError(
                f"warm_start needs the classes of the last fit, {self.classes}; got"
                f" {estimator.classes_}"
            )
        if self.schema != schema:
            raise ValueError("warm_start needs the columns and categories of the last fit")
        most = getattr(estimator, parameter)
        if n_parts > most:
            raise ValueError(
                f"{parameter}={most} must be at least the {n_parts} {parts} of the last fit when"
                " warm_start is set"
            )
