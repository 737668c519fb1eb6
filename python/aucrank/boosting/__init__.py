"""Boosting the AUC: AUCBoost and RankBoost."""

from aucrank.boosting._auc_boost import AUCBoost
from aucrank.boosting._rank_boost import RankBoost

__all__ = ["AUCBoost", "RankBoost"]
