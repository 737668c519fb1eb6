"""Samples to learn from: simulations whose best ROC curve is known, and one real data set.

A simulation comes as a `Simulation`: the rows, and the law that they were drawn from. So a learner
can be held against the best that anyone could do, not only against another learner.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.datasets import load_breast_cancer as _load_wdbc
from sklearn.utils import Bunch, check_random_state, check_scalar

__all__ = ["Simulation", "load_breast_cancer", "make_uniform_mixture"]


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """A simulated sample together with its true law.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    y : ndarray of shape (n_samples,)
        1 for a positive row, 0 for a negative one.
    positive_share : float
        Chance that a row is positive.
    eta : callable
        ``eta(X)`` of shape (n,): chance that a row with these features is positive. No scoring
        function has a higher ROC curve anywhere.
    auc_star : float
        AUC of `eta` in the population, the largest there is.
    roc_star : tuple of two ndarrays, each of shape (n_knots,)
        False and true positive rates of the ROC curve of `eta` in the population, from (0, 0) to
        (1, 1), to be joined by straight lines.
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
# and the chance that a negative (H) and a positive row (G) falls there. Counts of tenths, since
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
    """Draw rows from mixtures of uniform laws on the four quarters of the unit square.

    A positive row falls in the quarters X1 = [0, 1/2]², X2 = [1/2, 1] x [0, 1/2], X3 = [1/2, 1]²
    and X4 = [0, 1/2] x [1/2, 1] with chances 0.4, 0.3, 0.2, 0.1, a negative row with chances
    0.2, 0.1, 0.3, 0.4; within a quarter both are uniform. So the best scoring function takes four
    values, its ROC curve has four straight pieces, and a ranking tree can reach it: the first
    example of section 6.1 in [1]_.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows, at least 1.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.
    positive_share : float, default=0.5
        Chance that a row is positive, strictly between 0 and 1. The ROC curve and the AUC do not
        depend on it.

    Returns
    -------
    simulation : Simulation
        Rows ``X`` of shape (n_samples, 2), labels ``y``, and the law: ``eta``, ``auc_star``
        (0.735) and ``roc_star``. ``eta`` raises ValueError for points outside the unit square.

    Raises
    ------
    TypeError, ValueError
        If a parameter is of another type or out of its range.

    Notes
    -----
    With equal classes the paper prints a regression function of 0.7 on X1; Bayes' rule on its
    densities gives 0.4 / (0.4 + 0.2) = 2/3, which is what ``eta`` returns.

    References
    ----------
    .. [1] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Machine Learning 83(1), 2011. :doi:`10.1007/s10994-010-5190-1`

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
    # A quarter is drawn as one of ten tenths, of the class that the row has.
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
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2:
            raise ValueError(f"X has shape {points.shape}; points of the square are (n, 2)")
        if not ((points >= 0) & (points <= 1)).all():
            raise ValueError("X has a point outside the unit square, where no row can fall")
        right, upper = (points >= 0.5).T
        values: NDArray[np.float64] = eta_of_quarter[np.where(right, 1 + upper, 3 * upper)]
        return values

    fpr, tpr = _best_roc_of_cells(_NEGATIVE_TENTHS, _POSITIVE_TENTHS)
    auc_star = float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2))
    return Simulation(X, y, float(positive_share), eta, auc_star, (fpr, tpr))


def _best_roc_of_cells(
    negative: NDArray[np.int64], positive: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Knots of the ROC curve that takes cells in falling order of their positive share."""
    order = np.argsort(-positive / (positive + negative), kind="stable")
    fpr = np.concatenate([[0], np.cumsum(negative[order])]) / negative.sum()
    tpr = np.concatenate([[0], np.cumsum(positive[order])]) / positive.sum()
    return fpr, tpr


def load_breast_cancer(*, as_frame: bool = False, return_X_y: bool = False) -> Any:
    """Load scikit-learn's breast cancer data with malignant as the positive class.

    Thirty measurements of the cell nuclei of 569 breast tumours, 212 of them malignant. The rows
    are scikit-learn's, in its order and without a download. Two things differ: malignant, the
    class to rank first, is 1 (scikit-learn has it as 0), and the columns have names that need no
    quotes (``mean_radius`` for "mean radius").

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
