"""Venkatraman's permutation tests of the equality of two ROC curves."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_scalar

from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_seed
from aucrank.metrics._units import Units
from aucrank.metrics._weighting import Weighting

# Areas that differ by less than this share are equal up to rounding.
_SLACK = 1e-9


@dataclass(frozen=True)
class RocComparison:
    """Test of two ROC curves, as :func:`roc_compare` returns it.

    Attributes
    ----------
    statistic : float
        Area between the error curves; 0 for equal ROC curves.
    p_value : float
        Share of permutations, the sample included, with a statistic at least as large.
    n_permutations : int
        Number of permutations.
    paired : bool
        Whether both scores rank the same rows.
    """

    statistic: float
    p_value: float
    n_permutations: int
    paired: bool


@suggests_keywords
def roc_compare(
    y_true: ArrayLike,
    y_score_1: ArrayLike,
    y_score_2: ArrayLike,
    *,
    y_true_2: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    sample_weight_2: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    n_permutations: int = 2000,
    random_state: int | RandomState | None = None,
) -> RocComparison:
    """Test whether two ROC curves are the same, by permutations.

    Curves with equal AUCs may cross; this test detects it, a test of the areas does not.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score_1 : array-like of shape (n_samples,)
        Scores of these rows; higher is more positive.
    y_score_2 : array-like of shape (n_samples,) or (n_samples_2,)
        Other scores of the same rows, a paired comparison; or, with ``y_true_2``, scores of other
        rows.
    y_true_2 : array-like of shape (n_samples_2,), default=None
        Labels of a second, independent sample that ``y_score_2`` belongs to.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows of ``y_true``.
    sample_weight_2 : array-like of shape (n_samples_2,), default=None
        Weights of the rows of ``y_true_2``.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight: ``"sampling"``, how many rows of the population the row represents
        (only ratios matter); ``"frequency"``, a whole number of identical rows.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a patient: their scores are exchanged
        together. Only for a paired comparison.
    n_permutations : int, default=2000
        Number of permutations, 1 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations. The order of the rows changes nothing.

    Returns
    -------
    RocComparison
        With ``statistic`` and ``p_value``.

    Raises
    ------
    ValueError
        As for :func:`auc_compare`; and for ``groups`` or ``sample_weight_2`` in the wrong kind of
        comparison.

    See Also
    --------
    auc_compare : Test of the areas, more powerful if the curves do not cross.
    rate_compare : Test at one point of the curves.

    Notes
    -----
    If the k lowest rows by a score are called negative, its errors are the positive rows among
    them and the negative rows above. The statistic of a paired comparison is the sum over k of the
    difference of the errors of both scores [1]_. A permutation exchanges the ranks of both scores
    for a random half of the rows, and ties that result are broken at random; ties of the scores
    stay: within one, the errors are linear in k, their average over all orders.

    For two samples, errors are shares: with F and G the shares of the positive and the negative
    rows called negative and π the share of positive rows in both samples, the statistic is the
    integral of the difference of π F + (1 - π)(1 - G) over π F + (1 - π) G [2]_. Permutations
    reassign the rows of each class, with their place on that scale, to the samples.

    Both are those of pROC, except that pROC breaks ties by the order of the rows, uses ranks as
    places even if samples differ in size, and leaves the sample out of the p-value, which may then
    be 0. With weights a row counts by its weight, which is permuted with it.

    References
    ----------
    .. [1] Venkatraman and Begg, "A distribution-free procedure for comparing receiver operating
       characteristic curves from a paired experiment", Biometrika 83(4), 1996.
       :doi:`10.1093/biomet/83.4.835`
    .. [2] Venkatraman, "A permutation test to compare receiver operating characteristic curves",
       Biometrics 56(4), 2000. :doi:`10.1111/j.0006-341X.2000.01134.x`

    Examples
    --------
    Two scores with nearly equal AUCs, the second better only among few rows:

    >>> import numpy as np
    >>> from aucrank.metrics import auc_compare, roc_compare
    >>> rng = np.random.default_rng(0)
    >>> y_true = np.repeat([0, 1], 300)
    >>> first = rng.normal(loc=y_true)
    >>> second = rng.normal(loc=1.9 * y_true, scale=1 + 1.5 * y_true)
    >>> auc_compare(y_true, first, second).p_value > 0.05
    True
    >>> roc_compare(y_true, first, second, n_permutations=500, random_state=0).p_value < 0.01
    True
    """
    check_scalar(n_permutations, "n_permutations", Integral, min_val=1)
    rng = np.random.default_rng(check_seed(random_state))
    first = _read(y_true, sample_weight, weights, groups, y_score_1, "y_score_1")
    if y_true_2 is None:
        if sample_weight_2 is not None:
            raise ValueError("sample_weight_2 needs y_true_2: paired scores have one weight a row")
        _, second_scores = _read(y_true, sample_weight, weights, groups, y_score_2, "y_score_2")
        units, scores = first[0].arranged(first[1], second_scores)
        statistic, drawn = _paired(units, scores, int(n_permutations), rng)
    else:
        if groups is not None:
            raise ValueError("groups are for a paired comparison, and y_true_2 is given")
        second = _read(y_true_2, sample_weight_2, weights, None, y_score_2, "y_score_2")
        samples = [units.arranged(scores) for units, scores in (first, second)]
        statistic, drawn = _unpaired(samples, int(n_permutations), rng)
    as_large = int(np.count_nonzero(drawn >= statistic * (1 - _SLACK)))
    p_value = (1 + as_large) / (1 + n_permutations)
    return RocComparison(statistic, p_value, int(n_permutations), y_true_2 is None)


def _read(
    y_true: ArrayLike,
    sample_weight: ArrayLike | None,
    weights: Weighting,
    groups: ArrayLike | None,
    y_score: ArrayLike,
    name: str,
) -> tuple[Units, NDArray[np.float64]]:
    units = Units.of(y_true, sample_weight, weights, groups)
    return units, units.scores(y_score, name)


def _paired(
    units: Units,
    scores: tuple[NDArray[np.float64], ...],
    n_permutations: int,
    rng: np.random.Generator,
) -> tuple[float, NDArray[np.float64]]:
    """Return the statistic of the sample and those of permutations."""
    weight = units.weight
    if not units.is_counted:
        # As many as rows, so that only ratios matter.
        weight = weight * (np.count_nonzero(weight) / weight.sum())
    ranks, kinds = zip(*(_middle(own, weight) for own in scores), strict=True)
    worth = weight, np.where(units.positive, 1.0, -1.0) * weight
    n_kinds = [int(own.max()) + 1 for own in kinds]
    statistic = _between(*(_errors(np.argsort(own), own, *worth) for own in kinds))
    codes = np.arange(len(units.weight)) if units.codes is None else units.codes
    n_codes = len(codes) if units.codes is None else units.n_codes
    drawn = np.empty(n_permutations)
    for permutation in range(n_permutations):
        is_swapped = rng.integers(2, size=n_codes)[codes] == 1
        # One number per tie, so that only ties between different scores are broken.
        breaks = [rng.random(n)[own] for n, own in zip(n_kinds, kinds, strict=True)]
        curves = []
        for one, other in ((0, 1), (1, 0)):
            place = np.where(is_swapped, ranks[other], ranks[one])
            order = np.lexsort((np.where(is_swapped, breaks[other], breaks[one]), place))
            kind = np.where(is_swapped, kinds[other] + n_kinds[one], kinds[one])
            curves.append(_errors(order, kind, *worth))
        drawn[permutation] = _between(*curves)
    return statistic, drawn


def _unpaired(
    samples: list[tuple[Units, tuple[NDArray[np.float64], ...]]],
    n_permutations: int,
    rng: np.random.Generator,
) -> tuple[float, NDArray[np.float64]]:
    """Return the statistic of the samples and those of permutations."""
    positive = np.concatenate([units.positive for units, _ in samples])
    weight = np.concatenate([units.weight for units, _ in samples])
    is_second = np.repeat([False, True], [len(units.positive) for units, _ in samples])
    share = float(weight[positive].sum() / weight.sum())
    places, kinds = [], []
    for units, (scores,) in samples:
        place, kind = _middle(scores, _on_scale(units.positive, units.weight, share)[0])
        places.append(place)
        kinds.append(kind)
    place = np.concatenate(places)
    kind = np.concatenate([kinds[0], kinds[1] + kinds[0].max() + 1])

    def area(is_second: NDArray[np.bool_], ties: NDArray[np.float64]) -> float:
        curves = []
        for own in (~is_second, is_second):
            order = np.lexsort((ties[own], place[own]))
            curves.append(_errors(order, kind[own], *_on_scale(positive[own], weight[own], share)))
        return _between(*curves)

    n_kinds = int(kind.max()) + 1
    statistic = area(is_second, np.zeros(len(place)))
    of_class = [np.flatnonzero(rows) for rows in (~positive, positive)]
    drawn = np.empty(n_permutations)
    for permutation in range(n_permutations):
        dealt = is_second.copy()
        for rows in of_class:
            dealt[rows] = rng.permutation(is_second[rows])
        drawn[permutation] = area(dealt, rng.random(n_kinds)[kind])
    return statistic, drawn


def _on_scale(
    positive: NDArray[np.bool_], weight: NDArray[np.float64], share: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the step of each row on the scale of rows called negative, and in the errors."""
    of_class = np.where(
        positive, share / weight[positive].sum(), (1 - share) / weight[~positive].sum()
    )
    steps = weight * of_class
    return steps, np.where(positive, steps, -steps)


def _middle(
    scores: NDArray[np.float64], steps: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the middle of each row's tie on the scale of steps, and the number of the tie."""
    _, kind = np.unique(scores, return_inverse=True)
    sizes = np.bincount(kind, steps)
    return (np.cumsum(sizes) - sizes / 2)[kind], kind


_Errors = tuple[NDArray[np.float64], NDArray[np.float64]]


def _errors(
    order: NDArray[np.intp],
    kind: NDArray[np.intp],
    steps: NDArray[np.float64],
    gains: NDArray[np.float64],
) -> _Errors:
    """Return the number called negative at the end of each tie, and the errors less the first."""
    ends = np.append(np.flatnonzero(np.diff(kind[order])), len(order) - 1)
    at, errors = np.cumsum(steps[order])[ends], np.cumsum(gains[order])[ends]
    return np.append(0.0, at), np.append(0.0, errors)


def _between(first: _Errors, second: _Errors) -> float:
    """Return the area between two curves of errors, by the trapezoidal rule at all their knots."""
    at = np.union1d(first[0], second[0])
    gap = np.abs(np.interp(at, *first) - np.interp(at, *second))
    return float(np.diff(at) @ (gap[1:] + gap[:-1]) / 2)
