"""Rankers that maximise the ramp statistic, a smoothed area under the ROC curve.

`AURORA` selects and weights binary terms, such as ``age >= 35``. `RankOpt` is a linear score
over raw features. `ThresholdBinarizer` turns features into binary terms.
"""

from aucrank.ramp._aurora import AURORA
from aucrank.ramp._rank_opt import RankOpt
from aucrank.ramp._threshold_binarizer import ThresholdBinarizer

__all__ = ["AURORA", "RankOpt", "ThresholdBinarizer"]
