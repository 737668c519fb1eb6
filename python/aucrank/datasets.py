"""Example data: simulations whose best ROC curve is known, and two real data sets.

A simulation is returned as a `Simulation`: the rows, and the distribution from which they were
drawn. So a learner can be compared with the best possible one, not only with other learners.
"""

import csv
import gzip
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from numbers import Integral, Real
from typing import Any, Literal, overload

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr
from sklearn.datasets import load_breast_cancer as _load_wdbc
from sklearn.utils import Bunch, check_random_state, check_scalar

__all__ = [
    "Simulation",
    "load_breast_cancer",
    "load_churn",
    "make_gaussian_pair",
    "make_noisy_labels",
    "make_uniform_mixture",
    "make_xor",
]


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """A simulated sample together with its true distribution.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    y : ndarray of shape (n_samples,)
        1 for a positive row, 0 for a negative one.
    positive_share : float
        Probability that a row is positive.
    eta : callable
        ``eta(X)`` of shape (n,): probability that a row with these features is positive. No scoring
        function has a higher ROC curve anywhere.
    auc_star : float
        AUC of `eta` in the population, the largest there is.
    roc_star : tuple of two ndarrays, each of shape (n_knots,)
        False and true positive rates of the ROC curve of `eta` in the population, from (0, 0) to
        (1, 1), to be connected by straight lines.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    positive_share: float
    eta: Callable[[ArrayLike], NDArray[np.float64]]
    auc_star: float
    roc_star: tuple[NDArray[np.float64], NDArray[np.float64]]

    def __repr__(self) -> str:
        n_samples, n_features = self.X.shape
        return f"Simulation({n_samples} rows, {n_features} features, AUC* = {self.auc_star:.4f})"


# The quarters X1 to X4 of the unit square, counter-clockwise from the origin: the corner of each,
# and the probability that a negative (H) and a positive row (G) is in it. Counts of tenths, since
# ratios of them are exact and ratios of 0.1, 0.3, ... are not.
_CORNERS = np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 0.5], [0.0, 0.5]])
_NEGATIVE_TENTHS = np.array([2, 1, 3, 4])
_POSITIVE_TENTHS = np.array([4, 3, 2, 1])


def make_uniform_mixture(
    n_samples: int = 1000,
    *,
    random_state: int | RandomState | None = None,
    positive_share: float = 0.5,
) -> Simulation:
    """Draw rows from mixtures of uniform distributions on the quarters of the unit square.

    A positive row is in the quarters X1 = [0, 1/2]², X2 = [1/2, 1] x [0, 1/2], X3 = [1/2, 1]² and
    X4 = [0, 1/2] x [1/2, 1] with probabilities 0.4, 0.3, 0.2, 0.1, a negative row with
    probabilities 0.2, 0.1, 0.3, 0.4; within a quarter both are uniform. So the best scoring
    function takes four values, its ROC curve has four straight pieces, and a ranking tree can reach
    it: the first example of section 6.1 in [1]_.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows, at least 1.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.
    positive_share : float, default=0.5
        Probability that a row is positive, strictly between 0 and 1. The ROC curve and the AUC do
        not depend on it.

    Returns
    -------
    simulation : Simulation
        Rows ``X`` of shape (n_samples, 2), labels ``y``, and the distribution: ``eta``,
        ``auc_star`` (0.735) and ``roc_star``. ``eta`` raises ValueError for points outside the unit
        square.

    Raises
    ------
    TypeError, ValueError
        If a parameter has the wrong type or is out of range.

    Notes
    -----
    With equal classes the paper prints a regression function of 0.7 on X1; Bayes' rule on its
    densities gives 0.4 / (0.4 + 0.2) = 2/3, which is what ``eta`` returns.

    References
    ----------
    .. [1] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Machine Learning 83(1), 2011. https://hal.science/hal-00416054

    Examples
    --------
    >>> from aucrank.datasets import make_uniform_mixture
    >>> simulation = make_uniform_mixture(500, random_state=0)
    >>> simulation
    Simulation(500 rows, 2 features, AUC* = 0.7350)
    >>> simulation.eta([[0.75, 0.25], [0.25, 0.75]])
    array([0.75, 0.2 ])
    """
    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    check_scalar(
        positive_share,
        "positive_share",
        Real,
        min_val=0,
        max_val=1,
        include_boundaries="neither",
    )
    rng = check_random_state(random_state)
    y = (rng.random_sample(n_samples) < positive_share).astype(np.int64)
    # A quarter is drawn as one of ten tenths, given the class of the row.
    tenth = rng.randint(10, size=n_samples)
    quarter = np.where(
        y == 1,
        np.repeat(np.arange(4), _POSITIVE_TENTHS)[tenth],
        np.repeat(np.arange(4), _NEGATIVE_TENTHS)[tenth],
    )
    X = _CORNERS[quarter] + 0.5 * rng.random_sample((n_samples, 2))

    positive = positive_share * _POSITIVE_TENTHS
    eta_of_quarter = positive / (positive + (1 - positive_share) * _NEGATIVE_TENTHS)

    def eta(X: ArrayLike) -> NDArray[np.float64]:
        points = _points_of_the_cube(X, 2)
        right, upper = (points >= 0.5).T
        values: NDArray[np.float64] = eta_of_quarter[np.where(right, 1 + upper, 3 * upper)]
        return values

    fpr, tpr = _best_roc_of_cells(_NEGATIVE_TENTHS, _POSITIVE_TENTHS)
    auc_star = float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2))
    return Simulation(X, y, float(positive_share), eta, auc_star, (fpr, tpr))


def _best_roc_of_cells(
    negative: NDArray[np.int64], positive: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the knots of the ROC curve that takes cells by decreasing share of positives."""
    order = np.argsort(-positive / (positive + negative), kind="stable")
    fpr = np.concatenate([[0], np.cumsum(negative[order])]) / negative.sum()
    tpr = np.concatenate([[0], np.cumsum(positive[order])]) / positive.sum()
    return fpr, tpr


def make_xor(
    n_samples: int = 1000,
    *,
    n_features: int = 2,
    noise_rate: float = 0.1,
    random_state: int | RandomState | None = None,
) -> Simulation:
    """Draw rows whose class depends on two features jointly and on neither alone.

    Rows are uniform on the unit cube. A row is positive with probability 1 - ``noise_rate`` if
    exactly one of its first two features is at least 1/2, and with probability ``noise_rate``
    otherwise; the other features are uninformative. A first cut on one feature gains nothing, so
    that learners which consider one feature at a time, or one cut ahead, find no starting point.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows, at least 1.
    n_features : int, default=2
        Number of features, at least 2.
    noise_rate : float, default=0.1
        Probability of the rarer class, at least 0 and below 1/2.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    simulation : Simulation
        Half of the rows are positive on average; ``auc_star`` is 1 - ``noise_rate``.

    Raises
    ------
    TypeError, ValueError
        If a parameter has the wrong type or is out of range.

    Examples
    --------
    >>> from aucrank.datasets import make_xor
    >>> simulation = make_xor(500, random_state=0)
    >>> simulation
    Simulation(500 rows, 2 features, AUC* = 0.9000)
    >>> simulation.eta([[0.75, 0.25], [0.25, 0.25]])
    array([0.9, 0.1])
    """
    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    check_scalar(n_features, "n_features", Integral, min_val=2)
    check_scalar(noise_rate, "noise_rate", Real, min_val=0, max_val=0.5, include_boundaries="left")
    noise = float(noise_rate)

    def eta(X: ArrayLike) -> NDArray[np.float64]:
        high = _points_of_the_cube(X, n_features)[:, :2] >= 0.5
        return np.where(high[:, 0] ^ high[:, 1], 1 - noise, noise)

    rng = check_random_state(random_state)
    X = rng.random_sample((n_samples, n_features))
    y = (rng.random_sample(n_samples) < eta(X)).astype(np.int64)
    roc_star = np.array([0, noise, 1.0]), np.array([0, 1 - noise, 1.0])
    return Simulation(X, y, 0.5, eta, 1 - noise, roc_star)


def make_gaussian_pair(
    n_samples: int = 1000,
    *,
    negative_mean: ArrayLike = (2.0, 0.5),
    negative_cov: ArrayLike = ((1.0, 0.25), (0.25, 1.15)),
    positive_mean: ArrayLike = (-1.0, 0.5),
    positive_cov: ArrayLike = ((1.0, 0.15), (0.15, 1.25)),
    positive_share: float = 0.5,
    random_state: int | RandomState | None = None,
) -> Simulation:
    """Draw rows from two Gaussian distributions restricted to the unit square.

    The default is the second example of section 6.2 in [1]_, also used in section 6.3: the level
    sets of eta are nearly straight, AUC* is 0.7391. Closer means and other covariances bend them,
    as in the example of figure 11, whose parameters the paper does not give.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows, at least 1.
    negative_mean : array-like of shape (2,), default=(2, 0.5)
        Mean of the Gaussian distribution of negative rows before the restriction.
    negative_cov : array-like of shape (2, 2), default=((1, 0.25), (0.25, 1.15))
        Its covariance, with no eigenvalue below 0.001.
    positive_mean : array-like of shape (2,), default=(-1, 0.5)
        Mean for positive rows.
    positive_cov : array-like of shape (2, 2), default=((1, 0.15), (0.15, 1.25))
        Covariance for positive rows.
    positive_share : float, default=0.5
        Probability that a row is positive, strictly between 0 and 1. The ROC curve and the AUC do
        not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    simulation : Simulation
        Rows ``X`` of shape (n_samples, 2) in the unit square and their distribution. ``roc_star``
        has 1,025 knots, on the curve to 1e-6; ``auc_star`` is accurate to 1e-5.

    Raises
    ------
    TypeError, ValueError
        If a parameter has the wrong type or is out of range, or the square holds less than 0.001 of
        the mass of a Gaussian distribution.

    Notes
    -----
    The odds of eta are p / (1 - p) times the ratio of the two densities, each normalised on the
    square. The constants printed in the paper for equal classes omit the ratio of the determinants;
    those here are computed. The ranking is the same.

    ROC* is computed from integrals over the sets where the log ratio exceeds a level: in the first
    coordinate these are intervals between the roots of a quadratic, in the second quadrature is
    used.

    References
    ----------
    .. [1] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Machine Learning 83(1), 2011. https://hal.science/hal-00416054

    Examples
    --------
    >>> from aucrank.datasets import make_gaussian_pair
    >>> make_gaussian_pair(500, random_state=0)
    Simulation(500 rows, 2 features, AUC* = 0.7391)

    A circle in the middle, which takes many cuts:

    >>> wide, narrow = [[1, 0], [0, 1]], [[0.04, 0], [0, 0.04]]
    >>> middle = [0.5, 0.5]
    >>> make_gaussian_pair(
    ...     500,
    ...     negative_mean=middle,
    ...     negative_cov=wide,
    ...     positive_mean=middle,
    ...     positive_cov=narrow,
    ...     random_state=0,
    ... )
    Simulation(500 rows, 2 features, AUC* = 0.7604)
    """
    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    check_scalar(
        positive_share,
        "positive_share",
        Real,
        min_val=0,
        max_val=1,
        include_boundaries="neither",
    )
    negative = _SquareGaussian.checked("negative", negative_mean, negative_cov)
    positive = _SquareGaussian.checked("positive", positive_mean, positive_cov)
    rng = check_random_state(random_state)
    y = (rng.random_sample(n_samples) < positive_share).astype(np.int64)
    X = np.empty((n_samples, 2))
    for label, law in enumerate((negative, positive)):
        X[y == label] = law.draw(int(np.sum(y == label)), rng)

    odds = positive_share / (1 - positive_share)

    def eta(X: ArrayLike) -> NDArray[np.float64]:
        points = _points_of_the_cube(X, 2)
        ratio = odds * np.exp(positive.log_density(points) - negative.log_density(points))
        values: NDArray[np.float64] = ratio / (1 + ratio)
        return values

    fpr, tpr = _best_roc_of_gaussians(negative, positive)
    # A copy, since the curve is cached.
    roc_star = fpr.copy(), tpr.copy()
    auc_star = float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2))
    return Simulation(X, y, float(positive_share), eta, auc_star, roc_star)


@dataclass(frozen=True)
class _SquareGaussian:
    """Gaussian distribution on the unit square, as hashable numbers."""

    mean: tuple[float, float]
    # Variance of the first coordinate, covariance, variance of the second.
    cov: tuple[float, float, float]
    # Mass of the plane distribution in the square.
    mass: float

    @classmethod
    def checked(cls, name: str, mean: ArrayLike, cov: ArrayLike) -> "_SquareGaussian":
        centre, matrix = np.asarray(mean, dtype=np.float64), np.asarray(cov, dtype=np.float64)
        if centre.shape != (2,) or not np.isfinite(centre).all():
            raise ValueError(f"{name}_mean must hold two finite numbers")
        if (
            matrix.shape != (2, 2)
            or not np.isfinite(matrix).all()
            or matrix[0, 1] != matrix[1, 0]
            or np.linalg.eigvalsh(matrix)[0] < 1e-3
        ):
            raise ValueError(
                f"{name}_cov must be a symmetric 2 x 2 matrix with eigenvalues of at least 0.001"
            )
        entries = (float(matrix[0, 0]), float(matrix[0, 1]), float(matrix[1, 1]))
        whole = cls((float(centre[0]), float(centre[1])), entries, 1.0)
        x2, weights = _nodes()
        mass = float(weights @ whole.slices(x2, np.array([0.0, 1.0]))[:, 0])
        if mass < 1e-3:
            raise ValueError(f"the unit square holds {mass:.2g} of the {name} law only")
        return replace(whole, mass=mass)

    def draw(self, n: int, rng: RandomState) -> NDArray[np.float64]:
        """Draw rows by rejection."""
        factor = np.linalg.cholesky(np.array([self.cov[:2], self.cov[1:]]))
        batches, n_found = [np.empty((0, 2))], 0
        while n_found < n:
            size = int(1.1 * (n - n_found) / self.mass) + 64
            points = self.mean + rng.standard_normal((size, 2)) @ factor.T
            points = points[((points >= 0) & (points <= 1)).all(axis=1)]
            batches.append(points)
            n_found += len(points)
        return np.concatenate(batches)[:n]

    def quadratic(self) -> tuple[float, float, float, float]:
        """Return the precision matrix as three entries, and the constant of the log density."""
        a, b, c = self.cov
        det = a * c - b * b
        constant = -np.log(2 * np.pi) - 0.5 * np.log(det) - np.log(self.mass)
        return c / det, -b / det, a / det, float(constant)

    def log_density(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        u, v = points[..., 0] - self.mean[0], points[..., 1] - self.mean[1]
        a, b, c, constant = self.quadratic()
        values: NDArray[np.float64] = constant - 0.5 * (a * u * u + 2 * b * u * v + c * v * v)
        return values

    def slices(self, x2: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the density of x2 times the probability of x1 between neighbouring edges."""
        a, b, c = self.cov
        v = x2 - self.mean[1]
        density = np.exp(-0.5 * v * v / c) / np.sqrt(2 * np.pi * c) / self.mass
        centre, scale = self.mean[0] + b / c * v, np.sqrt(a - b * b / c)
        chances = np.diff(ndtr((edges - centre[:, np.newaxis]) / scale), axis=-1)
        values: NDArray[np.float64] = density[:, np.newaxis] * chances
        return values


def _nodes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Gauss-Legendre points and weights on 64 panels of [0, 1]."""
    points, weights = np.polynomial.legendre.leggauss(8)
    starts = np.arange(64) / 64
    nodes = (starts[:, np.newaxis] + (1 + points) / 128).ravel()
    return nodes, np.tile(weights / 128, 64)


@lru_cache(maxsize=32)
def _best_roc_of_gaussians(
    negative: _SquareGaussian, positive: _SquareGaussian
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the masses of {log g - log h > level} in both distributions, for many levels."""

    def log_ratio(points: NDArray[np.float64]) -> NDArray[np.float64]:
        return positive.log_density(points) - negative.log_density(points)

    # Levels at quantiles under the mean of the two distributions.
    middles = (np.arange(128) + 0.5) / 128
    grid = np.stack(np.meshgrid(middles, middles), axis=-1).reshape(-1, 2)
    ratios = log_ratio(grid)
    weights = np.exp(positive.log_density(grid)) + np.exp(negative.log_density(grid))
    order = np.argsort(-ratios)
    above = np.cumsum(weights[order])
    wanted = np.arange(1, 1024) / 1024 * above[-1]
    levels = ratios[order][np.searchsorted(above, wanted)]

    # At fixed x2 the log ratio is a x1^2 + b x1 + c.
    x2, node_weights = _nodes()
    (h11, h12, _, _), (g11, g12, _, _) = negative.quadratic(), positive.quadratic()
    a = 0.5 * (h11 - g11)
    b = (
        g11 * positive.mean[0]
        - g12 * (x2 - positive.mean[1])
        - h11 * negative.mean[0]
        + h12 * (x2 - negative.mean[1])
    )
    c = log_ratio(np.stack([np.zeros_like(x2), x2], axis=-1))
    fpr, tpr = np.zeros(levels.size + 2), np.zeros(levels.size + 2)
    fpr[-1] = tpr[-1] = 1.0
    for k, level in enumerate(levels, start=1):
        first, second = _roots(a, b, c - level)
        roots = np.sort(np.clip([first, second], 0, 1), axis=0)
        edges = np.stack([np.zeros_like(x2), *roots, np.ones_like(x2)], axis=-1)
        x1 = (edges[:, 1:] + edges[:, :-1]) / 2
        exceeds = a * x1 * x1 + b[:, np.newaxis] * x1 + c[:, np.newaxis] > level
        fpr[k] = node_weights @ np.sum(negative.slices(x2, edges) * exceeds, axis=1)
        tpr[k] = node_weights @ np.sum(positive.slices(x2, edges) * exceeds, axis=1)
    # Quadrature may miss 1 by rounding, and levels may tie.
    return np.maximum.accumulate(fpr).clip(0, 1), np.maximum.accumulate(tpr).clip(0, 1)


def _roots(
    a: float, b: NDArray[np.float64], c: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the real roots of a x^2 + b x + c; 0 if there are fewer than two, or none."""
    discriminant = b * b - 4 * a * c
    # The sum without cancellation, and the other root from the product of both.
    q = -0.5 * (b + np.copysign(np.sqrt(np.maximum(discriminant, 0)), b))
    real = discriminant >= 0
    with np.errstate(over="ignore"):
        first = np.divide(q, a, out=np.zeros_like(q), where=real & (a != 0))
        second = np.divide(c, q, out=np.zeros_like(q), where=real & (q != 0))
    return first, second


@overload
def make_noisy_labels(
    y: Simulation,
    noise_rate: float | tuple[float, float] = ...,
    *,
    random_state: int | RandomState | None = ...,
    return_flipped: Literal[False] = ...,
) -> Simulation: ...


@overload
def make_noisy_labels(
    y: Simulation,
    noise_rate: float | tuple[float, float] = ...,
    *,
    random_state: int | RandomState | None = ...,
    return_flipped: Literal[True],
) -> tuple[Simulation, NDArray[np.bool_]]: ...


@overload
def make_noisy_labels(
    y: ArrayLike,
    noise_rate: float | tuple[float, float] = ...,
    *,
    random_state: int | RandomState | None = ...,
    return_flipped: Literal[False] = ...,
) -> NDArray[Any]: ...


@overload
def make_noisy_labels(
    y: ArrayLike,
    noise_rate: float | tuple[float, float] = ...,
    *,
    random_state: int | RandomState | None = ...,
    return_flipped: Literal[True],
) -> tuple[NDArray[Any], NDArray[np.bool_]]: ...


def make_noisy_labels(
    y: ArrayLike | Simulation,
    noise_rate: float | tuple[float, float] = 0.1,
    *,
    random_state: int | RandomState | None = None,
    return_flipped: bool = False,
) -> Any:
    """Flip labels at random, independently of the features.

    With one rate for both classes this is the noise model of section 4 in [1]_. A scoring function
    that is best for the true labels is best for the noisy ones: the noise changes the AUC, but not
    which of two scoring functions has the higher one.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or Simulation
        Labels of two classes, the greater of which is positive, or a simulation.
    noise_rate : float or tuple of two floats, default=0.1
        Probability that a label is flipped; of two numbers the first is for negative rows and the
        second for positive ones. Each is at least 0, and their sum (twice a single rate) below 1.
    random_state : int, RandomState instance or None, default=None
        Seed of the flips.
    return_flipped : bool, default=False
        Whether to return a tuple of the labels and of where they were flipped.

    Returns
    -------
    labels : ndarray of shape (n_samples,) or Simulation
        The noisy labels. For a simulation, another one with the same rows, noisy ``y``, and the
        distribution of the noisy labels: ``positive_share``, ``eta``, ``auc_star`` and
        ``roc_star``.
    flipped : ndarray of bool, shape (n_samples,)
        Where the label differs from ``y``; only if ``return_flipped``.

    Raises
    ------
    TypeError, ValueError
        If a rate has the wrong type or is out of range, or ``y`` does not hold two classes.

    Notes
    -----
    With rates q for negative and r for positive rows, eta turns into q + (1 - q - r) eta, which
    keeps its order. Let a be the share of true negatives among noisy positives and b that of true
    positives among noisy negatives. Then every AUC turns into 1/2 + (1 - a - b) (AUC - 1/2).

    References
    ----------
    .. [1] Long and Servedio, "Boosting the area under the ROC curve", Advances in Neural
       Information Processing Systems 20, 2007.

    Examples
    --------
    >>> from aucrank.datasets import make_noisy_labels, make_xor
    >>> make_noisy_labels(["no", "no", "yes", "yes"], noise_rate=0.4, random_state=1)
    array(['yes', 'no', 'yes', 'no'], dtype='<U3')
    >>> make_noisy_labels(make_xor(500, noise_rate=0, random_state=0), noise_rate=0.1)
    Simulation(500 rows, 2 features, AUC* = 0.9000)
    """
    rates = noise_rate if isinstance(noise_rate, tuple) else (noise_rate, noise_rate)
    if len(rates) != 2:
        raise ValueError(f"noise_rate must be one number or two, got {noise_rate!r}")
    for rate in rates:
        check_scalar(rate, "noise_rate", Real, min_val=0, max_val=1, include_boundaries="left")
    of_negative, of_positive = map(float, rates)
    kept = 1 - of_negative - of_positive
    if not kept > 0:
        raise ValueError(f"noise_rate is {noise_rate!r}: the two rates must add up to less than 1")
    labels = np.asarray(y.y if isinstance(y, Simulation) else y)
    classes = np.unique(labels)
    if labels.ndim != 1 or (len(classes) != 2 and not isinstance(y, Simulation)):
        raise ValueError(f"y must hold labels of two classes, got {classes[:5]}")
    if isinstance(y, Simulation):
        classes = np.array([0, 1])
    positive = labels == classes[1]
    # A separate stream: with the seed that drew the labels, the flips would be correlated with
    # them.
    rng = RandomState(check_random_state(random_state).randint(2**31 - 1))
    uniform = rng.random_sample(labels.size)
    flipped = uniform < np.where(positive, of_positive, of_negative)
    noisy: NDArray[Any] = classes[(positive ^ flipped).astype(np.intp)]
    if not isinstance(y, Simulation):
        return (noisy, flipped) if return_flipped else noisy

    share = of_negative + kept * y.positive_share
    # Shares of flipped labels among the noisy positives, and among the noisy negatives.
    a = of_negative * (1 - y.positive_share) / share
    b = of_positive * y.positive_share / (1 - share)
    fpr, tpr = y.roc_star
    clean_eta = y.eta

    def eta(X: ArrayLike) -> NDArray[np.float64]:
        return of_negative + kept * clean_eta(X)

    simulation = Simulation(
        y.X,
        noisy.astype(np.int64),
        share,
        eta,
        0.5 + (1 - a - b) * (y.auc_star - 0.5),
        ((1 - b) * fpr + b * tpr, a * fpr + (1 - a) * tpr),
    )
    return (simulation, flipped) if return_flipped else simulation


def _points_of_the_cube(X: ArrayLike, n_features: int) -> NDArray[np.float64]:
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != n_features:
        raise ValueError(f"X has shape {points.shape}; points of the law are (n, {n_features})")
    if not ((points >= 0) & (points <= 1)).all():
        raise ValueError("X has a point outside the unit cube, where no row can fall")
    return points


def load_breast_cancer(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load scikit-learn's breast cancer data with malignant as the positive class.

    Thirty measurements of the cell nuclei of 569 breast tumours, 212 of them malignant. The rows
    are scikit-learn's, in its order and without a download. There are two differences: malignant,
    the class to rank first, is 1 (0 in scikit-learn), and the column names need no quotes
    (``mean_radius`` for "mean radius").

    Parameters
    ----------
    as_frame : bool, default=False
        Return the features as a pandas DataFrame and the target as a Series. Needs pandas.
    return_X_y : bool, default=False
        Return ``(data, target)`` alone.

    Returns
    -------
    data : Bunch or tuple
        A :class:`~sklearn.utils.Bunch` with ``data`` of shape (569, 30), ``target`` of shape
        (569,), ``feature_names``, ``target_names`` (benign, malignant), ``frame`` (features and
        target together, None unless ``as_frame``) and ``DESCR``; or ``(data, target)``.

    Raises
    ------
    ImportError
        If ``as_frame`` and pandas is not installed.

    Examples
    --------
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X.shape, int(y.sum())
    ((569, 30), 212)
    """
    source = _load_wdbc(as_frame=as_frame)
    names = [name.replace(" ", "_") for name in source.feature_names]
    data, target, frame = source.data, 1 - source.target, None
    if as_frame:
        data = data.set_axis(names, axis=1)
        frame = data.assign(target=target)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=np.array(names),
        target_names=source.target_names[::-1],
        frame=frame,
        DESCR=source.DESCR,
    )


def load_churn(*, return_X_y: bool = False) -> Any:
    """Load customers of a telephone company, of whom some left.

    5,000 customers, 707 of whom left (14.1 %), with fifteen columns: the state and the area code,
    two plans, how long the customer has been there, and minutes and calls by the time of day. The
    rows are those of MLC++, which the R package modeldata (MIT) has as ``mlc_churn``, without four
    columns of charges, which are fixed multiples of the minutes. Nothing is downloaded.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` alone.

    Returns
    -------
    data : Bunch or tuple
        A :class:`~sklearn.utils.Bunch` with ``data``, a pandas DataFrame of shape (5000, 15) whose
        texts are categories, ``target``, an ndarray of shape (5000,) with 1 for a customer who
        left, ``feature_names``, and ``DESCR``; or ``(data, target)``.

    Raises
    ------
    ImportError
        If pandas is not installed.

    Examples
    --------
    >>> from aucrank.datasets import load_churn
    >>> X, y = load_churn(return_X_y=True)
    >>> X.shape, int(y.sum())
    ((5000, 15), 707)
    """
    import pandas

    names, *rows = _read_table("churn")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    target = np.array(columns.pop("churn"), dtype=np.int64)
    texts = ("state", "area_code", "international_plan", "voice_mail_plan")
    data = pandas.DataFrame(
        {
            name: pandas.Categorical(values) if name in texts else np.array(values, dtype=float)
            for name, values in columns.items()
        }
    )
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=np.array(list(data)),
        DESCR=str(load_churn.__doc__).partition("Parameters")[0].strip(),
    )


def _read_table(name: str) -> list[list[str]]:
    """Return the lines of a bundled table, the first with the names of its columns."""
    packed = (files("aucrank") / "_tables" / f"{name}.csv.gz").read_bytes()
    return list(csv.reader(gzip.decompress(packed).decode().splitlines()))
