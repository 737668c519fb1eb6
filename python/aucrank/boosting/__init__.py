"""Boosting: GradientBoostingRanker, AUCBoost, RankBoost, MartiRank, SMartiRank, and their parts."""

from aucrank.boosting._auc_boost import AUCBoost
from aucrank.boosting._branching_program import BranchingProgram
from aucrank.boosting._gradient_boosting import GradientBoostingRanker
from aucrank.boosting._marti import MartiRank, SMartiRank
from aucrank.boosting._rank_boost import RankBoost
from aucrank.boosting._two_sided import TwoSidedClassifier

__all__ = [
    "AUCBoost",
    "BranchingProgram",
    "GradientBoostingRanker",
    "MartiRank",
    "RankBoost",
    "SMartiRank",
    "TwoSidedClassifier",
]
