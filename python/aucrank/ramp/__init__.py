"""Rankers that climb the ramp statistic, an area under the ROC curve that has a slope."""

from aucrank.ramp._rank_opt import RankOpt

__all__ = ["RankOpt"]
