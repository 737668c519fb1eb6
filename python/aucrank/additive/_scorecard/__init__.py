"""Scorecards: fitting, points, reasons, drift, and the forms in which a card is written."""

from aucrank.additive._scorecard.drift import DriftReport
from aucrank.additive._scorecard.scorecard import Scorecard

__all__ = ["DriftReport", "Scorecard"]
