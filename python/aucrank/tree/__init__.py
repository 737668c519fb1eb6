"""TreeRank: ranking trees that approximate the optimal ROC curve."""

from aucrank._ranking_tree import PruningPath, RankingTree
from aucrank.tree._pruning import CrossValidatedPruning, PenalizedPruning, ValidationPruning
from aucrank.tree._splits import LeafRank, OrthogonalSplit
from aucrank.tree._tree_rank import TreeRank

__all__ = [
    "CrossValidatedPruning",
    "LeafRank",
    "OrthogonalSplit",
    "PenalizedPruning",
    "PruningPath",
    "RankingTree",
    "TreeRank",
    "ValidationPruning",
]
