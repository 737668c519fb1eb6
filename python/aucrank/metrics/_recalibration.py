"""Recalibration: probabilities of a model that is used elsewhere, made right there."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, expit
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from aucrank import _core
from aucrank._data.scores import row_probabilities
from aucrank._data.table import Table
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_seed
from aucrank.metrics._inference import check_method
from aucrank.metrics._log_odds import Regression, in_large_and_slope, log_odds_of
from aucrank.metrics._units import Units
from aucrank.metrics._weighting import Weighting

Method = Literal["auto", "none", "intercept", "slope", "isotonic"]
_METHODS: tuple[Method, ...] = get_args(Method)

#: Folds in which each step is judged by rows that it has not seen.
_N_FOLDS = 10

#: Level of the closed test of "auto".
_LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Line:
    """Log-odds times a slope, plus an intercept."""

    intercept: float
    slope: float

    @property
    def ends(self) -> tuple[float, float]:
        """Slopes below and above all bends."""
        return self.slope, self.slope

    @property
    def bends(self) -> NDArray[np.float64]:
        """Old log-odds at which it bends."""
        return np.empty(0)

    def log_odds(self, old: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return new log-odds."""
        return self.intercept + self.slope * old


@dataclass(frozen=True, eq=False)
class Isotonic:
    """Log-odds along a rising curve, 0 at the cut."""

    curve: _core.Calibration
    cut: float

    @property
    def ends(self) -> tuple[float, float]:
        """Slopes below and above all bends."""
        return self.curve.slopes()

    @property
    def bends(self) -> NDArray[np.float64]:
        """Old log-odds at which it bends."""
        return np.asarray(self.curve.knots()[0]) + self.cut

    def log_odds(self, old: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return new log-odds."""
        return log_odds_of(self.curve.probability(np.ascontiguousarray(old - self.cut)))


Step = Line | Isotonic


@dataclass(frozen=True, eq=False)
class Recalibration:
    """A rising map from old probabilities to new ones, as :func:`recalibration` returns it.

    Attributes
    ----------
    method : str
        The step taken: ``"none"``, ``"intercept"``, ``"slope"`` or ``"isotonic"``.
    intercept, slope : float
        The new log-odds are the old ones times the slope, plus the intercept; NaN for
        ``"isotonic"``.
    steps : Table
        What each step gains: ``method``; ``intercept`` and ``slope``; ``log_loss`` and ``brier`` of
        rows that it was not fitted to, by ten folds; ``gain``, by how much its log loss is less
        than without a step, with its ``standard_error``; ``p_value`` of the test that ``"none"``,
        or ``"intercept"``, does as well as ``"slope"``, else NaN. A step that cannot be fitted has
        NaN.

    See Also
    --------
    aucrank.recalibrate : The same for a fitted model, which is saved and exported with it.
    """

    method: str
    intercept: float
    slope: float
    steps: Table
    _step: Step

    def probability(self, y_prob: ArrayLike) -> NDArray[np.float64]:
        """Return the new probabilities of some rows.

        Parameters
        ----------
        y_prob : array-like of shape (n_samples,)
            Old probabilities, from 0 to 1.

        Returns
        -------
        ndarray of float64, shape (n_samples,)
            New ones, in the same order.

        Raises
        ------
        ValueError
            If a probability is missing or not from 0 to 1.
        """
        old = _probabilities(y_prob)
        return np.asarray(expit(self._step.log_odds(log_odds_of(old))))


@suggests_keywords
def recalibration(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    method: Method = "auto",
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> Recalibration:
    """Make probabilities right for rows of another place or time; their ranking stays.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class, from 0 to 1, by a model that was not fitted to these
        rows.
    method : {"auto", "none", "intercept", "slope", "isotonic"}, default="auto"
        ``"intercept"`` shifts the log-odds, ``"slope"`` also stretches them, and ``"isotonic"``
        follows any rising curve, for a thousand rows and more of the rarer class. ``"auto"`` takes
        the least of ``"none"``, ``"intercept"`` and ``"slope"`` that a closed test does not reject
        at 5 % [1]_.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight, as for :func:`calibration_curve`.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a patient: tests and errors are then of
        groups, and folds have whole groups.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds in which the steps are compared.

    Returns
    -------
    Recalibration
        With ``probability(y_prob)``, ``method`` and ``steps``.

    Raises
    ------
    ValueError
        If labels are not of two classes; if a probability is missing or not from 0 to 1; for bad
        weights and groups; and if the step cannot be fitted: the probabilities separate the
        classes, are all equal, or rank the rows in reverse.

    See Also
    --------
    calibration_curve : How wrong the probabilities are, with intervals.
    at_prevalence : A shift for a known prevalence, without labels.

    Notes
    -----
    The closed test first compares the probabilities as they are with ``"slope"``, on two degrees of
    freedom. If they pass, nothing is changed. Else it compares ``"intercept"`` with ``"slope"``, on
    one. So few rows change little. The tests are Wald's, with the variance of the influence of each
    row, or group, in place of likelihood ratios [1]_, which groups and weights would make too sure.

    A step that gains nothing on rows that it has not seen is not worth its name: look at ``gain``
    and its error.

    References
    ----------
    .. [1] Vergouwe, Nieboer, Oostenbrink, Debray, Murray, Kattan, Koffijberg, Moons and Steyerberg,
       "A closed testing procedure to select an appropriate method for updating prediction models",
       Statistics in Medicine 36(28), 2017. :doi:`10.1002/sim.7179`

    Examples
    --------
    A hospital with fewer cases than the one where the model was made:

    >>> import numpy as np
    >>> from aucrank.metrics import recalibration
    >>> rng = np.random.default_rng(0)
    >>> log_odds = rng.normal(size=800)
    >>> y_true = rng.random(800) < 1 / (1 + np.exp(1.5 - log_odds))
    >>> found = recalibration(y_true, 1 / (1 + np.exp(-log_odds)))
    >>> found.method, round(found.intercept, 1)
    ('intercept', -1.5)
    >>> round(float(found.probability([0.5])[0]), 2)
    0.18
    """
    check_method(method, _METHODS, "method")
    units = Units.of(y_true, sample_weight, weights, groups)
    old = log_odds_of(units.probabilities(y_prob, "y_prob"))
    lines = in_large_and_slope(units, old)
    p_values = _closed_test(*lines)
    if method == "auto":
        method = _least(p_values)
    step = _fit(method, units, old)
    if step is None or (isinstance(step, Line) and step.slope <= 0):
        reason = (
            f"have a slope of {step.slope:.3g} here, so that they rank these rows in reverse"
            if isinstance(step, Line)
            else "separate the classes, or are all the same"
        )
        raise ValueError(f"y_prob cannot be recalibrated by {method!r}: the probabilities {reason}")
    # The same folds for all steps.
    seed = check_seed(random_state)
    rows = [_judged(name, units, old, seed) for name in _METHODS[1:]]
    without = rows[0][3]
    steps = Table(
        method=np.array(_METHODS[1:], dtype=object),
        intercept=[row[0] for row in rows],
        slope=[row[1] for row in rows],
        log_loss=[units.mean(row[3]) for row in rows],
        brier=[row[2] for row in rows],
        gain=[units.mean(without - row[3]) for row in rows],
        standard_error=[_error_of_mean(units, without - row[3]) for row in rows],
        p_value=[*p_values, math.nan, math.nan],
    )
    of_line = step if isinstance(step, Line) else Line(math.nan, math.nan)
    return Recalibration(method, of_line.intercept, of_line.slope, steps, step)


@suggests_keywords
def at_prevalence(y_prob: ArrayLike, *, training: float, use: float) -> NDArray[np.float64]:
    """Probabilities for a population with another share of positives.

    For a model that was fitted to rows of which some negatives were left out, or positives copied:
    its probabilities are those of a population with as many positives as its training rows.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class, from 0 to 1.
    training : float
        Share of positives among the rows that the model was fitted to, by weight, in (0, 1).
    use : float
        Share of positives where the probabilities are used, in (0, 1).

    Returns
    -------
    ndarray of float64, shape (n_samples,)
        New probabilities, in the same order.

    Raises
    ------
    ValueError
        If a probability is missing or not from 0 to 1, or a share not in (0, 1).

    See Also
    --------
    recalibration : The same where labelled rows of the population are at hand.

    Notes
    -----
    Where only the share of positives differs, not how the rows of a class are distributed, the odds
    are multiplied by ``use (1 - training) / (training (1 - use))`` [1]_. Probabilities of 0 and 1
    stay.

    References
    ----------
    .. [1] Elkan, "The foundations of cost-sensitive learning", IJCAI 2001, theorem 2.

    Examples
    --------
    >>> from aucrank.metrics import at_prevalence
    >>> at_prevalence([0.5, 0.9], training=0.5, use=0.01).round(4).tolist()
    [0.01, 0.0833]
    """
    shift = shift_of_prevalence(training, use)
    old = _probabilities(y_prob)
    factor = math.exp(shift)
    return np.asarray(old * factor / (old * factor + (1 - old)))


def _probabilities(y_prob: ArrayLike) -> NDArray[np.float64]:
    """Return probabilities of rows without labels."""
    return row_probabilities(y_prob, "y_prob", len(np.asarray(y_prob)), "y_prob")


def shift_of_prevalence(training: float, use: float) -> float:
    """Return what a change of the share of positives adds to log-odds."""
    for name, share in (("training", training), ("use", use)):
        if not 0 < share < 1:
            raise ValueError(f"{name} is {share}, but must be a share of positives in (0, 1)")
    return math.log(use) - math.log1p(-use) - math.log(training) + math.log1p(-training)


def _closed_test(in_large: Regression | None, line: Regression | None) -> tuple[float, float]:
    """Return the p-values of no step, and of the intercept alone; NaN if unknown."""
    if in_large is None or line is None:
        return math.nan, math.nan
    off = line.coefficients - [0.0, 1.0]
    both = float(off @ np.linalg.pinv(line.covariance) @ off)
    slope = float(off[1] ** 2 / line.covariance[1, 1]) if line.covariance[1, 1] > 0 else math.nan
    return float(chdtrc(2, both)), float(chdtrc(1, slope))


def _least(p_values: tuple[float, float]) -> Method:
    """Return the least step that the closed test does not reject."""
    of_none, of_intercept = p_values
    if not of_none < _LEVEL:
        return "none"
    return "slope" if of_intercept < _LEVEL else "intercept"


def _fit(method: Method, units: Units, old: NDArray[np.float64]) -> Step | None:
    """Fit a step to rows; None if it has no maximum."""
    if method == "none":
        return Line(0.0, 1.0)
    if method == "isotonic":
        weight = np.ascontiguousarray(units.weight)
        positive = np.ascontiguousarray(units.positive)
        curve, cut = _core.fit_calibration(old, positive, weight, json.dumps("isotonic"), 1)
        return Isotonic(curve, cut)
    in_large, line = in_large_and_slope(units, old)
    found = in_large if method == "intercept" else line
    if found is None:
        return None
    slope = 1.0 if method == "intercept" else float(found.coefficients[1])
    return Line(float(found.coefficients[0]), slope)


def _judged(
    method: Method, units: Units, old: NDArray[np.float64], seed: int
) -> tuple[float, float, float, NDArray[np.float64]]:
    """Return the line of a step, and the Brier score and log losses of rows left out."""
    step = _fit(method, units, old)
    n_rows = len(old)
    line = step if isinstance(step, Line) else Line(math.nan, math.nan)
    new = np.full(n_rows, math.nan)
    n_units = (
        min(units.positive.sum(), (~units.positive).sum())
        if units.codes is None
        else len(np.unique(units.codes))
    )
    n_folds = min(_N_FOLDS, int(n_units))
    if step is not None and n_folds > 1:
        kind = StratifiedKFold if units.codes is None else StratifiedGroupKFold
        folds = kind(n_folds, shuffle=True, random_state=seed)
        for others, left_out in folds.split(old, units.positive, units.codes):
            part = units.take(others)
            of_part = None
            if part.weight[part.positive].any() and part.weight[~part.positive].any():
                of_part = _fit(method, part, old[others])
            if of_part is not None:
                new[left_out] = of_part.log_odds(old[left_out])
    # Rows without a fit have no loss.
    with np.errstate(invalid="ignore"):
        losses = np.logaddexp(0, np.where(units.positive, -new, new))
    brier = units.mean((expit(new) - units.positive) ** 2)
    return line.intercept, line.slope, brier, losses


def _error_of_mean(units: Units, values: NDArray[np.float64]) -> float:
    """Return the standard error of the mean of a value of each row."""
    influence = values - units.mean(values)
    return float(np.sqrt(units.covariance(influence[:, np.newaxis])[0, 0]))
