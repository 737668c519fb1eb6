"""Rankers that climb the ramp statistic, an area under the ROC curve that has a slope.

`AURORA` selects binary terms, such as ``age >= 35``, and weighs them. `RankOpt` is a linear score
over raw features. `ThresholdBinarizer` turns features into binary terms.
"""

from aucrank.ramp._aurora import AURORA
from aucrank.ramp._rank_opt import RankOpt
from aucrank.ramp._threshold_binarizer import ThresholdBinarizer

__all__ = ["AURORA", "RankOpt", "ThresholdBinarizer"]
