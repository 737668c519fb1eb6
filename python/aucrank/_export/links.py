"""What brings the score of a ranker to a probability, as data that an export can write."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._export.formula import Formula


@dataclass(frozen=True)
class LogOdds:
    """Scores are log-odds."""


@dataclass(frozen=True)
class AboveHalf:
    """Scores are probabilities less 1/2."""


@dataclass(frozen=True, eq=False)
class Steps:
    """A probability for each of the values that a score may have.

    Attributes
    ----------
    scores : ndarray of float64, shape (n,)
        All scores there are, ascending.
    probabilities : ndarray of float64, shape (n,)
        Their probabilities.
    """

    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """A rising function from scores to log-odds.

    Attributes
    ----------
    calibration : _core.Calibration
        The function.
    """

    calibration: _core.Calibration


@dataclass(frozen=True)
class OwnFormula:
    """Probabilities are a formula of their own, which shares parts with that of the score.

    Attributes
    ----------
    formula : Formula
        The probability of the positive class.
    """

    formula: Formula


Link: TypeAlias = LogOdds | AboveHalf | Steps | Curve | OwnFormula
