"""Ensembles: rankers of several kinds, blended by their ranking of left-out rows."""

from aucrank.ensemble._compress import Compressed, compress
from aucrank.ensemble._distill import Distilled
from aucrank.ensemble._ranking_ensemble import RankingEnsemble

__all__ = ["Compressed", "Distilled", "RankingEnsemble", "compress"]
