"""Links from the score of a ranker to a probability, as data for exports."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._export.formula import Constant, Formula, Logistic, Product, StepsOf, Sum


@dataclass(frozen=True)
class LogOdds:
    """Scores times a number are log-odds.

    Attributes
    ----------
    slope : float
        The number, above 0.
    """

    slope: float = 1.0


@dataclass(frozen=True)
class AboveHalf:
    """Scores are probabilities minus 1/2."""


@dataclass(frozen=True, eq=False)
class StepLink:
    """A probability for each possible value of a score.

    Attributes
    ----------
    scores : ndarray of float64, shape (n,)
        All possible scores, ascending.
    probabilities : ndarray of float64, shape (n,)
        Their probabilities.
    """

    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """An increasing function from scores to log-odds.

    Attributes
    ----------
    calibration : _core.Calibration
        The function.
    """

    calibration: _core.Calibration


@dataclass(frozen=True)
class OwnFormula:
    """A separate formula for the probability, which shares parts with that of the score.

    Attributes
    ----------
    formula : Formula
        The probability of the positive class.
    """

    formula: Formula


Link: TypeAlias = LogOdds | AboveHalf | StepLink | Curve | OwnFormula


def probability_of(score: Formula, link: Link | None, name: str) -> Formula:
    """Return the probability of the positive class as a formula.

    Parameters
    ----------
    score : Formula
        The score.
    link : Link or None
        The link to a probability.
    name : str
        Name of the estimator, for errors.

    Raises
    ------
    ValueError
        If there is no probability, or it is a curve that was fitted to scores.
    """
    match link:
        case LogOdds(slope):
            return Logistic(score if slope == 1.0 else Product(slope, score))
        case AboveHalf():
            return Sum((score, Constant(0.5)))
        case StepLink(scores, probabilities):
            return StepsOf(score, tuple(scores[1:].tolist()), tuple(probabilities.tolist()))
        case OwnFormula(formula):
            return formula
        case Curve():
            raise ValueError(
                f"the probabilities of this {name} are a calibration curve, which this form has no"
                " words for: use to_onnx(), or write its score"
            )
    raise ValueError(f"this {name} has no probabilities: write its score")
