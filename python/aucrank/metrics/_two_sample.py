"""Two-sample test by a learned ranking."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import clone
from sklearn.utils import check_random_state, check_scalar

from aucrank._base.registry import get_estimator
from aucrank._base.scoring import score_rows
from aucrank._data.as_frame import frame_or_matrix
from aucrank._data.column_warnings import inner_fits_are_silent
from aucrank._utils.keywords import suggests_keywords


@dataclass(frozen=True, eq=False, repr=False)
class TwoSampleTest:
    """Outcome of :func:`two_sample_test`.

    Attributes
    ----------
    statistic : float
        Mann-Whitney U of the second sample on the rows that were held out: pairs in which its row
        ranks higher, a tie counting one half.
    auc : float
        U over the number of pairs; 1/2 if the samples cannot be distinguished.
    pvalue : float
        Chance of so high a statistic if both samples come from the same law.
    ranker : estimator
        The fitted ranker. Rows that it ranks high are more frequent in the second sample.
    n_held_out : tuple of two ints
        Held-out rows of the two samples, which the statistic is computed on.
    """

    statistic: float
    auc: float
    pvalue: float
    ranker: Any
    n_held_out: tuple[int, int]

    def __repr__(self) -> str:
        return (
            f"TwoSampleTest(statistic={self.statistic:g}, auc={self.auc:.4g}, "
            f"pvalue={self.pvalue:.3g})"
        )


@suggests_keywords
def two_sample_test(
    X0: Any,
    X1: Any,
    ranker: Any = None,
    *,
    test_size: float = 0.5,
    random_state: int | RandomState | None = None,
) -> TwoSampleTest:
    """Test whether two samples of many columns come from the same law, and show where they differ.

    A ranker learns on one part of each sample to rank rows of the second above rows of the first.
    On the other part its scores are one column, to which the Mann-Whitney test is applied [1]_: if
    the laws are equal, every ranking has an AUC of 1/2; if they differ, some ranking has another
    AUC, which the ranker may or may not find.

    Parameters
    ----------
    X0 : array-like or data frame of shape (n_samples_0, n_features)
        The first sample, at least 4 rows.
    X1 : array-like or data frame of shape (n_samples_1, n_features)
        The second sample, with the same columns and of the same kind.
    ranker : estimator, default=None
        Binary classifier with ``decision_function`` or ``predict_proba``; it is cloned. ``None`` is
        a :class:`~aucrank.tree.TreeRank`, whose strata describe in words where the samples differ.
    test_size : float, default=0.5
        Share of each sample that is held out for the test, strictly between 0 and 1.
    random_state : int, RandomState instance or None, default=None
        Seed of the split, and of the default ranker.

    Returns
    -------
    TwoSampleTest
        With ``statistic``, ``auc``, ``pvalue`` and the fitted ``ranker``.

    Raises
    ------
    ValueError
        If the samples have different columns, or a part would have fewer than 2 rows.

    See Also
    --------
    aucrank.tree.TreeRank : The default ranker.
    scipy.stats.mannwhitneyu : The test of the scores.

    Notes
    -----
    The test is one-sided, since a ranking below 1/2 on the held-out rows suggests chance. The
    p-value is that of the normal approximation with the correction for ties and continuity; where
    all held-out rows tie, as for a tree of one leaf, it is 1. The level holds for any ranker, as it
    does not see the held-out rows.

    There is no ``sample_weight``: the null law of U is that of unweighted rows.

    References
    ----------
    .. [1] Clémençon, Depecker and Vayatis, "AUC optimization and the two-sample problem", Advances
       in Neural Information Processing Systems 22, 2009.

    Examples
    --------
    Two laws with the same mean and spread in each column, but different dependence:

    >>> import numpy as np
    >>> from aucrank.metrics import two_sample_test
    >>> rng = np.random.default_rng(0)
    >>> X0, X1 = rng.normal(size=(400, 2)), rng.normal(size=(400, 2))
    >>> X1[:, 1] = 0.8 * X1[:, 0] + 0.6 * X1[:, 1]
    >>> result = two_sample_test(X0, X1, random_state=0)
    >>> result.pvalue < 0.01
    True
    >>> two_sample_test(X0[:200], X0[200:], random_state=0).pvalue > 0.05
    True
    """
    check_scalar(test_size, "test_size", Real, min_val=0, max_val=1, include_boundaries="neither")
    rng = check_random_state(random_state)
    seed = int(rng.randint(np.iinfo(np.int32).max))
    first, second = frame_or_matrix(X0, "X0"), frame_or_matrix(X1, "X1")
    columns = first.shape[1], second.shape[1]
    if columns[0] != columns[1]:
        raise ValueError(f"X0 has {columns[0]} columns, but X1 has {columns[1]}")
    parts = [_split(rows, name, test_size, rng) for rows, name in ((first, "X0"), (second, "X1"))]
    (train_0, test_0), (train_1, test_1) = parts

    if ranker is None:
        # By name, because the estimators import the metrics.
        ranker = get_estimator("TreeRank")(random_state=seed)
    ranker = clone(ranker)
    y = np.repeat([0, 1], [len(train_0), len(train_1)])
    # A column that separates the samples is what the test looks for, and no reason for a warning.
    with inner_fits_are_silent():
        ranker.fit(_stack(train_0, train_1), y)
    scores_0, scores_1 = _scores(ranker, test_0), _scores(ranker, test_1)
    n_pairs = scores_0.size * scores_1.size
    if np.ptp(np.concatenate([scores_0, scores_1])) == 0:
        statistic, pvalue = n_pairs / 2, 1.0
    else:
        test = stats.mannwhitneyu(scores_1, scores_0, alternative="greater", method="asymptotic")
        statistic, pvalue = float(test.statistic), float(test.pvalue)
    sizes = (scores_0.size, scores_1.size)
    return TwoSampleTest(statistic, statistic / n_pairs, pvalue, ranker, sizes)


def _split(rows: Any, name: str, test_size: float, rng: RandomState) -> tuple[Any, Any]:
    from sklearn.model_selection import train_test_split

    n = len(rows)
    n_test = round(test_size * n)
    if min(n_test, n - n_test) < 2:
        raise ValueError(
            f"{name} has {n} rows: with test_size={test_size} a part of it has fewer than 2"
        )
    train, test = train_test_split(np.arange(n), test_size=n_test, random_state=rng)
    return rows[train.tolist()], rows[test.tolist()]


def _stack(first: Any, second: Any) -> Any:
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.concatenate([first, second])
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        raise TypeError("X0 and X1 must both be data frames of one library, or neither")
    if first.columns != second.columns:
        raise ValueError(f"X0 has columns {first.columns}, but X1 has {second.columns}")
    return nw.concat([first, second]).to_native()


def _scores(ranker: Any, rows: Any) -> NDArray[np.float64]:
    return score_rows(ranker, rows if isinstance(rows, np.ndarray) else rows.to_native())
