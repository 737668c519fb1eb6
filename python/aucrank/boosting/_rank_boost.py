"""RankBoost: pairs of a positive and a negative row, whose weights factor."""

from typing import Any

from aucrank import _core
from aucrank._params import check_choice
from aucrank.boosting._boosted import BoostedRanker


class RankBoost(BoostedRanker):
    """RankBoost."""

    _fit_core = staticmethod(_core.fit_rank_boost)

    def __init__(
        self,
        *,
        weak_ranker: Any = "threshold",
        n_rounds: int = 200,
        learning_rate: float = 1.0,
        subsample: float = 1.0,
        max_features: Any = None,
        alpha: str = "third",
        selection: str | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        refit: bool = False,
        warm_start: bool = False,
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.weak_ranker = weak_ranker
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.max_features = max_features
        self.alpha = alpha
        self.selection = selection
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.refit = refit
        self.warm_start = warm_start
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _core_params(self, n_features: int, seed: int) -> dict[str, Any]:
        return {
            "rounds": self._round_params(n_features, seed),
            "alpha": check_choice(self.alpha, "alpha", ("third", "exact")),
        }
