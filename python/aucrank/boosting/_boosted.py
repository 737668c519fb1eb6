"""What AUCBoost and RankBoost share: rounds that add terms to a score."""

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from aucrank import _core
from aucrank._base import BaseRanker
from aucrank._input import Columns
from aucrank._params import check_int, check_real
from aucrank._row_models import KeepsModels
from aucrank._schema import Schema
from aucrank.boosting._row_rankers import RowRankerLearner, RowRankers
from aucrank.boosting._weak_rankers import is_outside, ranker_learner, weak_ranker_params


class BoostedRanker(KeepsModels, BaseRanker):
    """Base of rankers that are sums of terms, one for each round."""

    _family: ClassVar[str] = "boosted"
    _FITTED: ClassVar[tuple[str, ...]] = (*BaseRanker._FITTED, "_rankers")
    _kept: ClassVar[str] = "_rankers"
    _model: _core.BoostedModel
    # Rankers of the user's own choice that the model asks, by number.
    _rankers: tuple[Any, ...]

    weak_ranker: Any
    n_rounds: int
    learning_rate: float
    max_bins: int | None

    def _round_params(self, seed: int, schema: Schema | None) -> dict[str, Any]:
        """Return the parameters of the loop as the core takes them, each checked."""
        return {
            "binning": {
                "max_bins": check_int(self.max_bins, "max_bins", low=2, high=65_535, optional=True),
                "seed": seed,
            },
            "weak_ranker": weak_ranker_params(self.weak_ranker, schema),
            "n_rounds": check_int(self.n_rounds, "n_rounds", low=1),
            "learning_rate": check_real(
                self.learning_rate, "learning_rate", low=0.0, high=1.0, low_open=True
            ),
            "seed": seed,
        }

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        return self._fit(X, y, sample_weight, partial(self._fit_model, rows=X))

    def _fit_model(
        self,
        columns: Columns,
        schema: Schema,
        positive: NDArray[np.bool_],
        weight: NDArray[np.float64] | None,
        seed: int,
        n_threads: int,
        rows: Any = None,
    ) -> _core.BoostedModel:
        learner = ranker_learner(self.weak_ranker, rows, positive)
        sample = (columns, schema, positive, weight)
        model = self._fit_rounds(*sample, seed, n_threads, learner)
        if learner is not None:
            self._rankers = learner.kept
        return model

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
        raise NotImplementedError

    def _asked_models(self, model: Any) -> list[int]:
        numbers: list[int] = model.outside_rankers()
        return numbers

    def _answer(self, question: str, X: Any, columns: Columns, n_threads: int) -> Any:
        rankers = self.__dict__.get("_rankers")
        asked = None if rankers is None else RowRankers(rankers, X)
        return getattr(self._model, question)(columns, n_threads, asked)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        ranker = self.weak_ranker
        # The tags of a pipeline do not tell of an imputer in it.
        if (
            is_outside(ranker)
            and isinstance(ranker, BaseEstimator)
            and not isinstance(ranker, Pipeline)
        ):
            tags.input_tags.allow_nan = get_tags(ranker).input_tags.allow_nan
        return tags
