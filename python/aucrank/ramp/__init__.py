"""Rankers that climb the ramp statistic, an area under the ROC curve that has a slope.

`AURORA` selects binary terms, such as ``age >= 35``, and weighs them. `ThresholdBinarizer` turns
features into such terms.
"""

from aucrank.ramp._aurora import AURORA
from aucrank.ramp._threshold_binarizer import ThresholdBinarizer

__all__ = ["AURORA", "ThresholdBinarizer"]
