"""Power and sample size of tests of an AUC, or of the difference of two."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
from sklearn.utils import check_scalar

from aucrank._utils.keywords import suggests_keywords

Alternative: TypeAlias = Literal["two-sided", "one-sided"]
Method: TypeAlias = Literal["binormal", "obuchowski"]

_NORMAL = NormalDist()
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)
_FEWEST, _MOST = 2.0, 1e12

# Areas at which the power is evaluated to bracket its root.
_N_TRIED = 129


@dataclass(frozen=True)
class AucSampleSize:
    """Sample size of a study, as :func:`auc_sample_size` returns it.

    Attributes
    ----------
    n_pos, n_neg : int
        Rows of the positive and of the negative class.
    power : float
        Power with these numbers of rows: the requested power, or a little more.
    """

    n_pos: int
    n_neg: int
    power: float


@suggests_keywords
def auc_power(
    auc: float,
    auc_2: float | None = None,
    *,
    n_pos: float,
    n_neg: float,
    null: float = 0.5,
    correlation: float | tuple[float, float] = 0.0,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    method: Method = "binormal",
) -> float:
    r"""Power of the test of an AUC, or of the difference of two.

    Parameters
    ----------
    auc : float
        Expected AUC, in (0, 1).
    auc_2 : float, default=None
        Expected AUC of a second score to compare with; ``None`` compares with ``null``.
    n_pos, n_neg : float
        Rows of the positive and of the negative class, 2 or more of each; for two independent
        samples, per sample.
    null : float, default=0.5
        AUC under the null hypothesis of one AUC, in (0, 1).
    correlation : float or tuple of (float, float), default=0.0
        Correlation of two scores of the same rows within a class: one value, or those of the
        negative and of the positive rows. 0 for two independent samples.
    alpha : float, default=0.05
        Level of the test, in (0, 1).
    alternative : {"two-sided", "one-sided"}, default="two-sided"
        Whether a difference in either direction counts.
    method : {"binormal", "obuchowski"}, default="binormal"
        Variance of the AUC: ``"binormal"``, that of the empirical AUC of normal scores of equal
        variances, exact for any number of rows; ``"obuchowski"``, the published approximation for
        ratings [1]_ [2]_, as in pROC.

    Returns
    -------
    float
        Chance that the test rejects in the direction of the difference.

    Raises
    ------
    ValueError
        For a parameter out of range.

    See Also
    --------
    auc_sample_size : Rows needed for a given power.
    auc_detectable : Least AUC that a number of rows can detect.
    auc_compare : The test.

    Notes
    -----
    With :math:`\delta` the difference, :math:`s` its standard deviation and :math:`s_0` the one
    that the test assumes, the power is :math:`\Phi((|\delta| - z s_0) / s)`, with :math:`z` the
    normal quantile of the level.

    ``"binormal"`` has :math:`s_0 = s`, like :func:`auc_interval` and :func:`auc_compare`, which
    estimate the standard error from the data. For two AUCs :math:`\theta_1, \theta_2` of m positive
    and n negative rows, the covariance is

    .. math:: \frac{e(\tfrac{r_1 + r_0}{2}) + (n - 1) e(\tfrac{r_1}{2}) + (m - 1)
              e(\tfrac{r_0}{2})}{m n},

    with :math:`e(r) = \Phi_2(z_1, z_2; r) - \theta_1 \theta_2`, :math:`z_i = \Phi^{-1}(\theta_i)`
    and correlations :math:`r_1` and :math:`r_0` of the scores of positive and of negative rows; the
    variance of an AUC is its covariance with itself.

    ``"obuchowski"`` has the variance of an AUC under the null hypothesis in :math:`s_0`, and for
    two AUCs twice that of the first less twice the covariance [1]_. Its variance of one AUC, with
    the rounded constants of the paper [2]_, is greater than that of continuous scores for high
    AUCs, by half at 0.9: it is conservative and asks for more rows.

    References
    ----------
    .. [1] Obuchowski and McClish, "Sample size determination for diagnostic accuracy studies
       involving binormal ROC curve indices", Statistics in Medicine 16(13), 1997.
       :doi:`10.1002/(SICI)1097-0258(19970715)16:13<1529::AID-SIM565>3.0.CO;2-H`
    .. [2] Obuchowski, Lieber and Wians, "ROC curves in clinical chemistry: uses, misuses, and
       possible solutions", Clinical Chemistry 50(7), 2004. :doi:`10.1373/clinchem.2004.031823`

    Examples
    --------
    >>> from aucrank.metrics import auc_power
    >>> round(auc_power(0.73, n_pos=41, n_neg=72), 3)
    0.997
    >>> round(auc_power(0.73, n_pos=41, n_neg=72, method="obuchowski"), 4)
    0.9897
    >>> round(auc_power(0.85, 0.8, n_pos=100, n_neg=100, correlation=0.6), 2)
    0.44
    """
    test = _AucTest(auc, auc_2, null, correlation, alpha, alternative, method)
    _check_rows(n_pos, n_neg)
    return test.power(float(n_pos), float(n_neg))


@suggests_keywords
def auc_sample_size(
    auc: float,
    auc_2: float | None = None,
    *,
    power: float = 0.8,
    ratio: float = 1.0,
    null: float = 0.5,
    correlation: float | tuple[float, float] = 0.0,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    method: Method = "binormal",
) -> AucSampleSize:
    """Rows needed to distinguish an AUC from a number, or from another AUC.

    Parameters
    ----------
    auc : float
        Expected AUC, in (0, 1).
    auc_2 : float, default=None
        Expected AUC of a second score to compare with; ``None`` compares with ``null``.
    power : float, default=0.8
        Chance of a significant test, in (0, 1) and above ``alpha``.
    ratio : float, default=1.0
        Negative rows for each positive one; above 0.
    null : float, default=0.5
        AUC under the null hypothesis of one AUC, in (0, 1).
    correlation : float or tuple of (float, float), default=0.0
        Correlation of two scores of the same rows, as for :func:`auc_power`; 0 for two independent
        samples.
    alpha : float, default=0.05
        Level of the test, in (0, 1).
    alternative : {"two-sided", "one-sided"}, default="two-sided"
        Whether a difference in either direction counts.
    method : {"binormal", "obuchowski"}, default="binormal"
        Variance of the AUC, as for :func:`auc_power`.

    Returns
    -------
    AucSampleSize
        ``n_pos`` and ``n_neg``, each rounded up, and their power. For two independent samples, the
        numbers are per sample.

    Raises
    ------
    ValueError
        For a parameter out of range, and for two AUCs that are equal.

    See Also
    --------
    auc_power : The inverse; its notes have the formulas.

    Examples
    --------
    >>> from aucrank.metrics import auc_sample_size
    >>> auc_sample_size(0.73, power=0.95, ratio=1.7, method="obuchowski").n_pos
    30
    >>> size = auc_sample_size(0.85, 0.8, correlation=0.6)
    >>> size.n_pos == size.n_neg, round(size.power, 2)
    (True, 0.8)
    """
    test = _AucTest(auc, auc_2, null, correlation, alpha, alternative, method)
    _check_power(power, test.alpha)
    check_scalar(ratio, "ratio", Real, min_val=0, include_boundaries="neither")
    if test.difference == 0:
        raise ValueError(f"auc is {auc}, but must differ from what it is compared with")

    def missing(n_pos: float) -> float:
        return test.power(n_pos, ratio * n_pos) - power

    # At least two rows of each class.
    fewest = max(_FEWEST, _FEWEST / ratio)
    if missing(fewest) >= 0:
        rows = fewest
    elif missing(_MOST) < 0:
        raise ValueError(
            f"auc is {auc}, too close to what it is compared with for any number of rows"
        )
    else:
        rows = _root(missing, fewest, _MOST)
    n_pos, n_neg = (math.ceil(n - 1e-9 * n) for n in (rows, ratio * rows))
    return AucSampleSize(n_pos, n_neg, test.power(n_pos, n_neg))


@suggests_keywords
def auc_detectable(
    *,
    n_pos: float,
    n_neg: float,
    power: float = 0.8,
    null: float = 0.5,
    auc_2: float | None = None,
    correlation: float | tuple[float, float] = 0.0,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    method: Method = "binormal",
) -> float:
    """Least AUC that a number of rows can distinguish from a number, or from a lower AUC.

    Parameters
    ----------
    n_pos, n_neg : float
        Rows of the positive and of the negative class, 2 or more of each.
    power : float, default=0.8
        Chance of a significant test, in (0, 1) and above ``alpha``.
    null : float, default=0.5
        AUC under the null hypothesis of one AUC, in (0, 1).
    auc_2 : float, default=None
        AUC of a second score, in (0, 1); ``None`` compares with ``null``.
    correlation : float or tuple of (float, float), default=0.0
        Correlation of two scores of the same rows, as for :func:`auc_power`; 0 for two independent
        samples.
    alpha : float, default=0.05
        Level of the test, in (0, 1).
    alternative : {"two-sided", "one-sided"}, default="two-sided"
        Whether a difference in either direction counts.
    method : {"binormal", "obuchowski"}, default="binormal"
        Variance of the AUC, as for :func:`auc_power`.

    Returns
    -------
    float
        Above ``auc_2``, or above ``null``.

    Raises
    ------
    ValueError
        For a parameter out of range, and if no AUC is detected with this power.

    See Also
    --------
    auc_power : The inverse; its notes have the formulas.

    Examples
    --------
    >>> from aucrank.metrics import auc_detectable
    >>> round(auc_detectable(n_pos=41, n_neg=72, power=0.95, method="obuchowski"), 4)
    0.6961
    """
    least = null if auc_2 is None else auc_2
    # Checks everything but the unknown AUC.
    test = _AucTest(least, auc_2, null, correlation, alpha, alternative, method)
    _check_power(power, test.alpha)
    _check_rows(n_pos, n_neg)

    def missing(auc: float) -> float:
        test = _AucTest(auc, auc_2, null, correlation, alpha, alternative, method)
        return test.power(float(n_pos), float(n_neg)) - power

    low, high = float(least), 1 - 1e-9
    low += 1e-9 * (1 - low)
    # With two or three rows the power falls again towards an AUC of 1.
    tried = np.linspace(low, high, _N_TRIED).tolist()
    found = [missing(auc) for auc in tried]
    best = int(np.argmax(found))
    if found[best] < 0:
        tried[best] = _peak(missing, tried[max(best - 1, 0)], tried[min(best + 1, _N_TRIED - 1)])
        found[best] = missing(tried[best])
        if found[best] < -1e-12:
            raise ValueError(
                f"{n_pos} and {n_neg} rows distinguish no AUC from {least} with power {power}"
            )
        if found[best] <= 0:
            return float(tried[best])
    reached = next(place for place, more in enumerate(found) if more >= 0)
    return tried[0] if reached == 0 else _root(missing, tried[reached - 1], tried[reached])


class _AucTest:
    """A test of an AUC against a number, or against another AUC, whose parameters are checked."""

    def __init__(
        self,
        auc: float,
        auc_2: float | None,
        null: float,
        correlation: float | tuple[float, float],
        alpha: float,
        alternative: str,
        method: str,
    ) -> None:
        values = [("auc", auc), ("null", null), ("alpha", alpha)]
        for name, value in values + ([] if auc_2 is None else [("auc_2", auc_2)]):
            check_scalar(value, name, Real, min_val=0, max_val=1, include_boundaries="neither")
        if alternative not in ("two-sided", "one-sided"):
            raise ValueError(
                f'alternative is {alternative!r}, but must be "two-sided" or "one-sided"'
            )
        if method not in ("binormal", "obuchowski"):
            raise ValueError(f'method is {method!r}, but must be "binormal" or "obuchowski"')
        of_neg, of_pos = correlation if isinstance(correlation, tuple) else (correlation,) * 2
        for value in (of_neg, of_pos):
            check_scalar(value, "correlation", Real, min_val=-1, max_val=1)
        if auc_2 is None and (of_neg, of_pos) != (0, 0):
            raise ValueError("correlation needs auc_2: one AUC has no other score")
        self.aucs = (float(auc), None if auc_2 is None else float(auc_2))
        self.null, self.method = float(null), method
        self.correlations = float(of_neg), float(of_pos)
        self.alpha = alpha
        self.quantile = _NORMAL.inv_cdf(1 - (alpha / 2 if alternative == "two-sided" else alpha))

    @property
    def difference(self) -> float:
        """Absolute difference of the AUCs."""
        auc, other = self.aucs
        return auc - (self.null if other is None else other)

    def power(self, n_pos: float, n_neg: float) -> float:
        """Chance that the test rejects in the direction of the difference."""
        assumed, error = self._errors(n_pos, n_neg)
        if error == 0:
            return float(self.difference != 0)
        return _NORMAL.cdf((abs(self.difference) - self.quantile * assumed) / error)

    def _errors(self, n_pos: float, n_neg: float) -> tuple[float, float]:
        """Return the standard deviation of the difference, as the test assumes it and as it is."""
        auc, other = self.aucs
        if self.method == "obuchowski":
            if other is None:
                assumed = _obuchowski_one(self.null, n_pos, n_neg)
                variance = _obuchowski_one(auc, n_pos, n_neg)
            else:
                first, second = (_obuchowski(x, n_pos, n_neg) for x in (auc, other))
                shared = _obuchowski_shared(auc, other, self.correlations, n_pos, n_neg)
                assumed, variance = 2 * (first - shared), first + second - 2 * shared
        else:
            variance = _binormal(auc, auc, (1.0, 1.0), n_pos, n_neg)
            if other is not None:
                variance += _binormal(other, other, (1.0, 1.0), n_pos, n_neg)
                variance -= 2 * _binormal(auc, other, self.correlations, n_pos, n_neg)
            assumed = variance
        # Rounding may make it negative for two scores that are nearly the same.
        return math.sqrt(max(assumed, 0.0)), math.sqrt(max(variance, 0.0))


def _binormal(
    auc: float, other: float, correlations: tuple[float, float], n_pos: float, n_neg: float
) -> float:
    """Covariance of the empirical AUCs of two scores that are normal in each class."""
    z, w = _NORMAL.inv_cdf(auc), _NORMAL.inv_cdf(other)
    of_neg, of_pos = (r / 2 for r in correlations)
    one_pair = _excess(z, w, of_neg + of_pos)
    one_pos, one_neg = _excess(z, w, of_pos), _excess(z, w, of_neg)
    return (one_pair + (n_neg - 1) * one_pos + (n_pos - 1) * one_neg) / (n_pos * n_neg)


def _excess(h: float, k: float, r: float) -> float:
    """Chance that two normals of correlation r are below h and k, less that of r = 0.

    Its derivative in r is the density of both at (h, k) (Plackett, 1954); r is the sine of the
    integration variable.
    """
    end = math.asin(r)
    angle = 0.5 * end * (_NODES + 1)
    sine, cosine = np.sin(angle), np.cos(angle)
    height = np.exp(-(h * h - 2 * h * k * sine + k * k) / (2 * cosine**2))
    return float(0.5 * end * (_NODE_WEIGHTS @ height) / (2 * math.pi))


def _obuchowski_one(auc: float, n_pos: float, n_neg: float) -> float:
    """Variance of an AUC, formula 3 of Obuchowski, Lieber and Wians (2004) as printed."""
    a = 1.414 * _NORMAL.inv_cdf(auc)
    spread = (5 * a * a + 8) / n_pos + (a * a + 8) / n_neg
    return 0.0099 * math.exp(-a * a / 2) * spread


def _obuchowski(auc: float, n_pos: float, n_neg: float) -> float:
    """Variance of an AUC, formula 4 of Obuchowski and McClish (1997) for B = 1."""
    a, f, g = _binormal_slopes(auc)
    spread = 1 / n_pos + 1 / n_neg
    return f * f * (spread + a * a / (2 * n_pos)) + g * g * spread / 2


def _obuchowski_shared(
    auc: float, other: float, correlations: tuple[float, float], n_pos: float, n_neg: float
) -> float:
    """Covariance of two AUCs, formula 5 of Obuchowski and McClish (1997) for B = 1."""
    (a, f, g), (b, p, q) = _binormal_slopes(auc), _binormal_slopes(other)
    of_neg, of_pos = correlations
    of_both = f * p * (of_pos / n_pos + of_neg / n_neg + of_pos**2 * a * b / (2 * n_pos))
    of_both += g * q * (of_neg**2 / n_neg + of_pos**2 / n_pos) / 2
    return of_both + (f * q * a + p * g * b) * of_pos**2 / (2 * n_pos)


def _binormal_slopes(auc: float) -> tuple[float, float, float]:
    """Return A of the binormal curve with B = 1, and the derivatives of the AUC in A and in B."""
    a = math.sqrt(2) * _NORMAL.inv_cdf(auc)
    f = math.exp(-a * a / 4) / math.sqrt(4 * math.pi)
    return a, f, -a * f / 2


def _check_rows(n_pos: float, n_neg: float) -> None:
    for name, rows in (("n_pos", n_pos), ("n_neg", n_neg)):
        check_scalar(rows, name, Real, min_val=2)


def _check_power(power: float, alpha: float) -> None:
    check_scalar(power, "power", Real, min_val=0, max_val=1, include_boundaries="neither")
    if power <= alpha:
        raise ValueError(f"power is {power}, but must be above alpha, which is {alpha}")


def _peak(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the maximiser of a function that rises and then falls."""
    for _ in range(100):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if function(left) < function(right):
            low = left
        else:
            high = right
    return (low + high) / 2


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a rising function."""
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=1e-12, rtol=1e-13, maxiter=500))
