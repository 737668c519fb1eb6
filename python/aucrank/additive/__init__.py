"""Rankers that add up one step function for each feature: MAD2C, RIMARC and scorecards."""

from aucrank.additive._mad2c import MAD2C
from aucrank.additive._rimarc import RIMARC
from aucrank.additive._scorecard import Scorecard

__all__ = ["MAD2C", "RIMARC", "Scorecard"]
