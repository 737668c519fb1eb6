"""Partial areas under the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from aucrank import _core
from aucrank._utils.keywords import suggests_keywords
from aucrank.metrics._core_curve import core_curve


@dataclass(frozen=True)
class Bands:
    """Part of the unit square within which the area under the curve is taken.

    Attributes
    ----------
    fpr, tpr : tuple of (float, float)
        Least and greatest rate.
    standardize : bool
        Whether the area is scaled to 0.5 for chance and 1 for a perfect curve.
    """

    fpr: tuple[float, float] = (0.0, 1.0)
    tpr: tuple[float, float] = (0.0, 1.0)
    standardize: bool = False

    @classmethod
    def of(cls, fpr: tuple[float, float], tpr: tuple[float, float], standardize: bool) -> Bands:
        """Return bands that have been checked."""
        (a, b), (c, d) = fpr, tpr
        bands = cls((float(a), float(b)), (float(c), float(d)), bool(standardize))
        if not bands.is_whole:
            _chance().partial_auc(bands.fpr, bands.tpr, bands.standardize)
        return bands

    @property
    def is_whole(self) -> bool:
        """Whether the whole curve counts."""
        return self.fpr == self.tpr == (0.0, 1.0)

    @property
    def greatest(self) -> float:
        """Area of a perfect curve."""
        return (self.fpr[1] - self.fpr[0]) * (self.tpr[1] - self.tpr[0])

    @cached_property
    def slope(self) -> float:
        """Factor from the area to the requested scale."""
        if self.is_whole or not self.standardize:
            return 1.0
        return 0.5 / (self.greatest - _chance().partial_auc(self.fpr, self.tpr, False))

    def scaled(self, area: float) -> float:
        """Return the area on the requested scale."""
        return area if self.slope == 1 else 1 - self.slope * (self.greatest - area)


def _chance() -> _core.RocCurve:
    """Return the diagonal."""
    curve = _core.RocCurve.from_scores(np.array([False, True]), np.zeros(2), None, 1)
    assert curve is not None
    return curve


@suggests_keywords
def partial_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    fpr: tuple[float, float] = (0, 1),
    tpr: tuple[float, float] = (0, 1),
    standardize: bool = False,
) -> float:
    r"""Area under the part of the ROC curve that lies in a band of rates, or in two.

    A band of false positive rates restricts the area to thresholds usable where false alarms are
    expensive [1]_, a band of true positive rates to those that miss few positives [2]_, and both
    together to thresholds that satisfy both [3]_.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score : array-like of shape (n_samples,)
        Scores; higher is more positive.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights: a row of weight k counts as k rows, one of weight 0 as none.
    fpr : tuple of (float, float), default=(0, 1)
        Least and greatest false positive rate, from 0 to 1.
    tpr : tuple of (float, float), default=(0, 1)
        Least and greatest true positive rate, from 0 to 1.
    standardize : bool, default=False
        Whether to map the area to 0.5 for uninformative scores and 1 for perfect ones [1]_.

    Returns
    -------
    float
        The area: from 0 to that of the bands, ``(fpr[1] - fpr[0]) * (tpr[1] - tpr[0])``; or, if
        standardised, at most 1, and below 0.5 for a curve that is worse than chance there.

    Raises
    ------
    ValueError
        As for :func:`roc_auc_score`; if a band is empty or leaves [0, 1]; and if an area is to be
        standardised whose bands lie below the diagonal, where chance has the same area as a perfect
        curve.

    See Also
    --------
    auc_interval, auc_compare : Interval of a partial area, and test of two.
    roc_auc_score : With ``max_fpr=x``, the same as ``fpr=(0, x), standardize=True``.

    Notes
    -----
    With ``fpr=(a, b)`` and ``tpr=(c, d)`` the area is

    .. math:: A = \int_a^b \left[ \min(\max(TPR(f), c), d) - c \right] df.

    For ``tpr=(0, 1)`` that is the area over a band of specificities from 1 - b to 1 - a, for
    ``fpr=(0, 1)`` the integral of the specificity over the band of sensitivities: what pROC calls
    ``partial.auc`` with the focus on specificity and on sensitivity. For ``(0, b)`` and ``(c, 1)``
    it is the two-way partial AUC.

    Standardised it is :math:`(1 + (A - A_0) / ((b - a)(d - c) - A_0)) / 2`, where :math:`A_0` is
    the same area for the diagonal: pROC's ``partial.auc.correct`` for one band, and its analogue
    for two. pROC gives NA for a curve below the diagonal; here the value is below 0.5.

    References
    ----------
    .. [1] McClish, "Analyzing a portion of the ROC curve", Medical Decision Making 9(3), 1989.
       :doi:`10.1177/0272989X8900900307`
    .. [2] Jiang, Metz and Nishikawa, "A receiver operating characteristic partial area index for
       highly sensitive diagnostic tests", Radiology 201(3), 1996.
       :doi:`10.1148/radiology.201.3.8939225`
    .. [3] Yang, Lu, Lyu and Hu, "Two-way partial AUC and its properties", Statistical Methods in
       Medical Research 28(1), 2019. :doi:`10.1177/0962280217718866`

    Examples
    --------
    >>> from aucrank.metrics import partial_auc
    >>> y, score = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> partial_auc(y, score, fpr=(0, 0.5))
    0.25
    >>> partial_auc(y, score, tpr=(0.5, 1))
    0.25
    >>> partial_auc(y, score, fpr=(0, 0.75), tpr=(0.5, 1))
    0.125
    >>> partial_auc(y, score, tpr=(0.5, 1), standardize=True)
    0.6666666666666666
    """
    bands = Bands.of(fpr, tpr, standardize)
    curve = core_curve(y_true, y_score, sample_weight)
    return curve.partial_auc(bands.fpr, bands.tpr, bands.standardize)
