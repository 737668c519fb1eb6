"""What AUCBoost and RankBoost share: rounds that add terms to a score."""

from typing import Any, ClassVar

from aucrank import _core
from aucrank._base import BaseRanker
from aucrank._params import check_int, check_real
from aucrank.boosting._terms import TermsMixin
from aucrank.boosting._weak_rankers import weak_ranker_params


class BoostedRanker(TermsMixin, BaseRanker):
    """Base of rankers that are sums of terms, one for each round."""

    _family: ClassVar[str] = "boosted"
    _model: _core.BoostedModel

    weak_ranker: Any
    n_rounds: int
    learning_rate: float
    max_bins: int | None

    def _round_params(self, seed: int) -> dict[str, Any]:
        """Return the parameters of the loop as the core takes them, each checked."""
        return {
            "binning": {
                "max_bins": check_int(self.max_bins, "max_bins", low=2, high=65_535, optional=True),
                "seed": seed,
            },
            "weak_ranker": weak_ranker_params(self.weak_ranker),
            "n_rounds": check_int(self.n_rounds, "n_rounds", low=1),
            "learning_rate": check_real(
                self.learning_rate, "learning_rate", low=0.0, high=1.0, low_open=True
            ),
            "seed": seed,
        }
