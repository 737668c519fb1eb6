"""Scorecards and integer scores: fitting, points, reasons, drift and export."""

from aucrank.additive._scorecard.drift import DriftReport
from aucrank.additive._scorecard.integer_score import IntegerScore
from aucrank.additive._scorecard.scorecard import Scorecard

__all__ = ["DriftReport", "IntegerScore", "Scorecard"]
