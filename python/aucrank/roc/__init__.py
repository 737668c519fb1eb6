"""ROC curves of a known law: the optimal curve, and those of piecewise constant scores.

:mod:`aucrank.metrics` works on samples; here the law of the data is given. :class:`OptimalROC` is
the curve that no scoring function exceeds, with its area and its piecewise linear approximations;
:class:`PiecewiseConstantScore` is a score with one value per cell of a partition, the kind that a
ranking tree learns.
"""

from aucrank.roc._optimal import Knot, OptimalROC, RocApproximation
from aucrank.roc._piecewise import PiecewiseConstantScore

__all__ = ["Knot", "OptimalROC", "PiecewiseConstantScore", "RocApproximation"]
