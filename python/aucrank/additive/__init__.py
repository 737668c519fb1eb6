"""Additive rankers: sums of one function per feature, which can be read as a table.

`MAD2C` cuts each feature into the bins of its largest AUC. `RIMARC` ranks rows by the shares of
positives in these bins, weighted by the AUC of each feature. `Scorecard` turns them, or a boosted
sum, into integer points, exports these as SQL, PMML, JSON, text and HTML, gives reason codes, and
monitors drift. `IntegerScore` searches a few questions and their points together. `LinearRanker`
is ridge logistic regression on raw columns.
"""

from aucrank.additive._linear import LinearRanker
from aucrank.additive._mad2c import MAD2C
from aucrank.additive._rimarc import RIMARC
from aucrank.additive._scorecard import DriftReport, IntegerScore, Scorecard

__all__ = ["MAD2C", "RIMARC", "DriftReport", "IntegerScore", "LinearRanker", "Scorecard"]
