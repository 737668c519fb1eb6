"""Logistic regressions of labels on log-odds, with errors that hold for groups of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from aucrank.metrics._units import Units

# Probabilities are clipped this far from 0 and 1 before log-odds are taken.
_NEAREST = 1e-8

# For Newton's method. The remaining distance is about the square of the last step.
_MOST_STEPS = 50
_CONVERGED = 1e-12

# Mean log loss below which the fit is perfect.
_PARTED = 1e-9
_SINGULAR = 1 / np.finfo(np.float64).eps


def log_odds_of(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log-odds that are finite."""
    return np.asarray(logit(np.clip(probability, _NEAREST, 1 - _NEAREST)))


def in_large_and_slope(
    units: Units, log_odds: NDArray[np.float64]
) -> tuple[Regression | None, Regression | None]:
    """Return the regression with the log-odds as offset, and the one on them; None for none."""
    ones = np.ones((len(log_odds), 1))
    in_large = Regression.of(units, ones, offset=log_odds)
    return in_large, Regression.of(units, np.column_stack([ones, log_odds]))


@dataclass(frozen=True, eq=False)
class Regression:
    """A logistic regression with the covariance of its coefficients."""

    coefficients: NDArray[np.float64]
    covariance: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        units: Units,
        design: NDArray[np.float64],
        *,
        offset: NDArray[np.float64] | None = None,
        start: NDArray[np.float64] | None = None,
    ) -> Regression | None:
        """Fit it by Newton's method; None if it has no maximum, or more than one."""
        # Columns that are multiples of each other are so up to rounding only.
        sizes = np.linalg.svd(np.linalg.qr(design, mode="r"), compute_uv=False)
        if len(sizes) < design.shape[1] or sizes[-1] * _SINGULAR <= sizes[0] * len(design):
            return None
        weight = units.weight / units.weight.sum()
        given = np.zeros(len(weight)) if offset is None else offset
        sign = np.where(units.positive, 1.0, -1.0)
        coefficients = np.zeros(design.shape[1])
        if start is not None:
            coefficients[: len(start)] = start
        scores = given + design @ coefficients
        loss = float(weight @ np.logaddexp(0, -sign * scores))
        for _ in range(_MOST_STEPS):
            fitted = expit(scores)
            gradient = design.T @ (weight * (units.positive - fitted))
            information = (design.T * (weight * fitted * (1 - fitted))) @ design
            # Unbounded where the classes are separated,
            # and flat where all rows are certain, even of the wrong class.
            is_flat = information[0, 0] < 10 * _NEAREST
            if loss < _PARTED or is_flat or not np.linalg.cond(information) < _SINGULAR:
                return None
            step = np.linalg.solve(information, gradient)
            fall = gradient @ step
            # A step that overshoots is halved.
            for _ in range(_MOST_STEPS):
                scores = given + design @ (coefficients + step)
                further = float(weight @ np.logaddexp(0, -sign * scores))
                if further <= loss + _CONVERGED:
                    break
                step /= 2
            coefficients, loss = coefficients + step, further
            if fall < _CONVERGED:
                break
        else:
            return None
        fitted = expit(scores)
        residual = units.positive - fitted
        bread = np.linalg.inv((design.T * (weight * fitted * (1 - fitted))) @ design)
        inner = units.covariance(design * residual[:, np.newaxis])
        return cls(coefficients, bread @ inner @ bread)

    def errors(self) -> NDArray[np.float64]:
        """Return the standard errors of the coefficients."""
        # With few groups a variance may be 0 up to rounding.
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
