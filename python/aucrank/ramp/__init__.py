"""Rankers that climb the ramp statistic, an area under the ROC curve that has a slope.

`ThresholdBinarizer` turns features into the binary terms that they add up.
"""

from aucrank.ramp._threshold_binarizer import ThresholdBinarizer

__all__ = ["ThresholdBinarizer"]
