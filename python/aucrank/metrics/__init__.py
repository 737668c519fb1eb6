"""Exact ROC curves and the area under them.

Drop-ins for the functions of the same name in :mod:`sklearn.metrics`; :class:`RocCurve`, which
keeps the curve as exact counts; and :class:`RocState`, which gathers it from rows in pieces.
Labels, scores and weights may be lists, arrays or columns of pandas, polars or pyarrow. Two rules
differ from scikit-learn, so that nothing fails in silence:

- where y has one class there is no AUC, and a ``ValueError`` says so (scikit-learn 1.6 and later
  warns and returns NaN). To average over folds some of which have one class, catch it;
- a negative weight is an error.

Infinite scores are legal: they rank first or last.
"""

from aucrank.metrics._auc import roc_auc_score
from aucrank.metrics._average import AverageRoc, average_roc
from aucrank.metrics._curve import RocCurve, roc_curve
from aucrank.metrics._display import RocCurveDisplay
from aucrank.metrics._partial import partial_auc
from aucrank.metrics._precision_recall import precision_recall_curve
from aucrank.metrics._state import RocState, StateInterval

__all__ = [
    "AverageRoc",
    "RocCurve",
    "RocCurveDisplay",
    "RocState",
    "StateInterval",
    "average_roc",
    "partial_auc",
    "precision_recall_curve",
    "roc_auc_score",
    "roc_curve",
]
