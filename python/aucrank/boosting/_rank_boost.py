"""RankBoost: pairs of a positive and a negative row, whose weights factor."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._input import Columns
from aucrank._params import check_choice
from aucrank._schema import Schema
from aucrank.boosting._boosted import BoostedRanker
from aucrank.boosting._row_rankers import RowRankerLearner


class RankBoost(BoostedRanker):
    """RankBoost."""

    def __init__(
        self,
        *,
        weak_ranker: Any = "threshold",
        n_rounds: int = 200,
        learning_rate: float = 1.0,
        alpha: str = "third",
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.weak_ranker = weak_ranker
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_params(self) -> None:
        self._core_params(seed=0, schema=None)

    def _core_params(self, seed: int, schema: Schema | None) -> dict[str, Any]:
        return {
            "rounds": self._round_params(seed, schema),
            "alpha": check_choice(self.alpha, "alpha", ("third", "exact")),
        }

    def _fit_rounds(
        self,
        columns: Columns,
        schema: Schema,
        positive: NDArray[np.bool_],
        weight: NDArray[np.float64] | None,
        seed: int,
        n_threads: int,
        learner: RowRankerLearner | None,
    ) -> _core.BoostedModel:
        params = json.dumps(self._core_params(seed, schema))
        return _core.fit_rank_boost(
            columns, schema.n_levels, positive, weight, params, n_threads, learner
        )
