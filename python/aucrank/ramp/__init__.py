"""Rankers that climb the ramp statistic, an area under the ROC curve that has a slope.

`RankOpt` is a linear score over raw features. `ThresholdBinarizer` turns features into binary terms.
"""

from aucrank.ramp._rank_opt import RankOpt
from aucrank.ramp._threshold_binarizer import ThresholdBinarizer

__all__ = ["RankOpt", "ThresholdBinarizer"]
