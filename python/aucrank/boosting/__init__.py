"""Boosting the AUC: AUCBoost, RankBoost, and the classifiers that rankers are cut into."""

from aucrank.boosting._auc_boost import AUCBoost
from aucrank.boosting._rank_boost import RankBoost
from aucrank.boosting._two_sided import TwoSidedClassifier

__all__ = ["AUCBoost", "RankBoost", "TwoSidedClassifier"]
