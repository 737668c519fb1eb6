"""TreeRank: ranking trees that approximate the optimal ROC curve."""

from aucrank._ranking_tree import PruningPath, RankingTree
from aucrank.tree._pruning import CrossValidatedPruning
from aucrank.tree._splits import LeafRank, OrthogonalSplit
from aucrank.tree._tree_rank import TreeRank
from aucrank.tree._weighted_erm import WeightedERM

__all__ = [
    "CrossValidatedPruning",
    "LeafRank",
    "OrthogonalSplit",
    "PruningPath",
    "RankingTree",
    "TreeRank",
    "WeightedERM",
]
