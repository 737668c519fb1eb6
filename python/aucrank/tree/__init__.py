"""TreeRank: ranking trees that approximate the optimal ROC curve."""

from aucrank.tree._forest import RankingForest
from aucrank.tree._partition_split import PartitionSplit
from aucrank.tree._pruning import CrossValidatedPruning, PenalizedPruning, ValidationPruning
from aucrank.tree._ranking_tree import PruningPath, RankingTree
from aucrank.tree._rashomon import RashomonSet
from aucrank.tree._rule_list import RuleList
from aucrank.tree._splits import DyadicSplit, LeafRank, OrthogonalSplit
from aucrank.tree._tree_rank import TreeRank
from aucrank.tree._weighted_erm import WeightedERM

__all__ = [
    "CrossValidatedPruning",
    "DyadicSplit",
    "LeafRank",
    "OrthogonalSplit",
    "PartitionSplit",
    "PenalizedPruning",
    "PruningPath",
    "RankingForest",
    "RankingTree",
    "RashomonSet",
    "RuleList",
    "TreeRank",
    "ValidationPruning",
    "WeightedERM",
]
