"""What a fitted ranker, or a fit, is like.

Level sets and Shapley values of scores, the instability of a ranking under resampling, and figures
of a fit corrected for optimism.
"""

from aucrank._plots.bins import FeatureDisplay
from aucrank._plots.card import CardDisplay
from aucrank._plots.drift import DriftDisplay
from aucrank._plots.parsimony import ParsimonyDisplay
from aucrank._plots.path import PathDisplay
from aucrank._plots.program import BranchingProgramDisplay
from aucrank._plots.terms import TermsDisplay
from aucrank._plots.tree import RankingTreeDisplay
from aucrank.inspection._counterfactuals import Counterfactuals, counterfactuals
from aucrank.inspection._instability import RankingInstability, ranking_instability
from aucrank.inspection._level_sets import LevelSetDisplay
from aucrank.inspection._shapley import (
    ShapleyInteractions,
    ShapleyValues,
    shapley_interactions,
    shapley_values,
)
from aucrank.inspection._validation import Validation, validate

__all__ = [
    "BranchingProgramDisplay",
    "CardDisplay",
    "Counterfactuals",
    "DriftDisplay",
    "FeatureDisplay",
    "LevelSetDisplay",
    "ParsimonyDisplay",
    "PathDisplay",
    "RankingInstability",
    "RankingTreeDisplay",
    "ShapleyInteractions",
    "ShapleyValues",
    "TermsDisplay",
    "Validation",
    "counterfactuals",
    "ranking_instability",
    "shapley_interactions",
    "shapley_values",
    "validate",
]
