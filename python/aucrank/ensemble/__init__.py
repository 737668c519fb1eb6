"""Ensembles: rankers of several kinds, blended by their ranking of left-out rows."""

from aucrank.ensemble._compress import Compressed, compress
from aucrank.ensemble._distill import Distilled
from aucrank.ensemble._ranking_ensemble import RankingEnsemble
from aucrank.ensemble._recalibrate import Recalibrated, recalibrate

__all__ = [
    "Compressed",
    "Distilled",
    "RankingEnsemble",
    "Recalibrated",
    "compress",
    "recalibrate",
]
