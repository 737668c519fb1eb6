"""The last fit of an estimator with ``warm_start``, from which a fit goes on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._data.schema import Schema


@dataclass(frozen=True, slots=True)
class WarmStart:
    """What the last fit has left behind."""

    model: Any
    schema: Schema
    classes: NDArray[Any]
    #: Weak rankers of the user's own choice that the model asks, by number.
    rankers: tuple[Any, ...] = ()

    @classmethod
    def of(cls, estimator: Any) -> "WarmStart | None":
        """Return the last fit of an estimator, or None where there is none to go on from."""
        if not (getattr(estimator, "warm_start", False) and estimator.__sklearn_is_fitted__()):
            return None
        rankers = estimator.__dict__.get("_rankers", ())
        return cls(estimator._model, estimator._schema, estimator.classes_, rankers)

    def check(
        self, estimator: Any, schema: Schema, parameter: str, n_parts: int, parts: str
    ) -> None:
        """Raise ValueError if a fit cannot go on from this one.

        Parameters
        ----------
        estimator : estimator
            One that has learned the classes of the fit.
        schema : Schema
            The columns of the fit.
        parameter : str
            Name of the parameter that says how many parts there may be, such as ``n_estimators``.
        n_parts : int
            Parts of the last fit.
        parts : str
            What they are called.
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
