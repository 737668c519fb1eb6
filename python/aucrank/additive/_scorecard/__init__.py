"""Scorecards: fitting, points, reasons, drift and export."""

from aucrank.additive._scorecard.drift import DriftReport
from aucrank.additive._scorecard.scorecard import Scorecard

__all__ = ["DriftReport", "Scorecard"]
