"""Ensembles: rankers of several kinds, blended by how they rank rows they have not seen."""

from aucrank.ensemble._distill import Distilled
from aucrank.ensemble._ranking_ensemble import RankingEnsemble

__all__ = ["Distilled", "RankingEnsemble"]
