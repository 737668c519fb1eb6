"""Exact ROC curves and the area under them.

Drop-ins for the functions of the same name in :mod:`sklearn.metrics`; :class:`RocCurve`, which
keeps the curve as exact counts; and :class:`RocState`, which builds it from rows in batches, as
:func:`roc_state` does for a ranker and a data set.
Labels, scores and weights may be lists, arrays or columns of pandas, polars or pyarrow. Two rules
differ from scikit-learn, so that nothing fails silently:

- if y has one class, the AUC is undefined and a ``ValueError`` is raised (scikit-learn 1.6 and
  later warns and returns NaN). Catch it to average over folds that may have one class;
- a negative weight is an error.

Infinite scores are legal: they rank first or last.
"""

from aucrank._plots.calibration import CalibrationDisplay
from aucrank._plots.decision import DecisionCurveDisplay
from aucrank._plots.gains import GainsCurveDisplay
from aucrank.metrics._auc import roc_auc_score
from aucrank.metrics._average import AverageRoc, average_roc
from aucrank.metrics._average_precision import (
    AveragePrecision,
    AveragePrecisionComparison,
    average_precision,
    average_precision_compare,
)
from aucrank.metrics._band import RocBand, roc_band
from aucrank.metrics._batches import roc_state
from aucrank.metrics._calibration import CalibrationCurve, calibration_curve
from aucrank.metrics._contrasts import AucContrasts, auc_contrasts
from aucrank.metrics._cross_validated import cross_validated_auc, cross_validated_compare
from aucrank.metrics._curve import RocCurve, roc_curve
from aucrank.metrics._cut_off import OptimalThreshold, optimal_threshold
from aucrank.metrics._data_sets import ComparisonOverSets, compare_over_sets
from aucrank.metrics._decision import DecisionCurve, decision_curve
from aucrank.metrics._display import RocCurveDisplay
from aucrank.metrics._gains import GainsCurve, gains_curve
from aucrank.metrics._grades import (
    AucDecline,
    ExpectedAuc,
    GradeTable,
    auc_decline,
    expected_auc,
    grade_table,
)
from aucrank.metrics._inference import AucComparison, AucInterval, auc_compare, auc_interval
from aucrank.metrics._partial import partial_auc
from aucrank.metrics._points import McNemarTest, RateComparison, mcnemar_test, rate_compare
from aucrank.metrics._power import AucSampleSize, auc_detectable, auc_power, auc_sample_size
from aucrank.metrics._precision_recall import precision_recall_curve
from aucrank.metrics._ramp import ramp_auc, ramp_auc_gradient
from aucrank.metrics._recalibration import Recalibration, at_prevalence, recalibration
from aucrank.metrics._roc_compare import RocComparison, roc_compare
from aucrank.metrics._smooth import SmoothRoc, smooth_roc
from aucrank.metrics._stability import (
    Drift,
    PopulationStability,
    drift,
    population_stability,
)
from aucrank.metrics._state import RocState
from aucrank.metrics._subgroups import AucBySubgroup, auc_by
from aucrank.metrics._survival import SurvivalAuc, survival_auc
from aucrank.metrics._two_sample import TwoSampleTest, two_sample_test

__all__ = [
    "AucBySubgroup",
    "AucComparison",
    "AucContrasts",
    "AucDecline",
    "AucInterval",
    "AucSampleSize",
    "AveragePrecision",
    "AveragePrecisionComparison",
    "AverageRoc",
    "CalibrationCurve",
    "CalibrationDisplay",
    "ComparisonOverSets",
    "DecisionCurve",
    "DecisionCurveDisplay",
    "Drift",
    "ExpectedAuc",
    "GainsCurve",
    "GainsCurveDisplay",
    "GradeTable",
    "McNemarTest",
    "OptimalThreshold",
    "PopulationStability",
    "RateComparison",
    "Recalibration",
    "RocBand",
    "RocComparison",
    "RocCurve",
    "RocCurveDisplay",
    "RocState",
    "SmoothRoc",
    "SurvivalAuc",
    "TwoSampleTest",
    "at_prevalence",
    "auc_by",
    "auc_compare",
    "auc_contrasts",
    "auc_decline",
    "auc_detectable",
    "auc_interval",
    "auc_power",
    "auc_sample_size",
    "average_precision",
    "average_precision_compare",
    "average_roc",
    "calibration_curve",
    "compare_over_sets",
    "cross_validated_auc",
    "cross_validated_compare",
    "decision_curve",
    "drift",
    "expected_auc",
    "gains_curve",
    "grade_table",
    "mcnemar_test",
    "optimal_threshold",
    "partial_auc",
    "population_stability",
    "precision_recall_curve",
    "ramp_auc",
    "ramp_auc_gradient",
    "rate_compare",
    "recalibration",
    "roc_auc_score",
    "roc_band",
    "roc_compare",
    "roc_curve",
    "roc_state",
    "smooth_roc",
    "survival_auc",
    "two_sample_test",
]
