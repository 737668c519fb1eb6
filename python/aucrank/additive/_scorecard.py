"""Scorecards: whole points for the bins of each feature."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from aucrank import _core
from aucrank._base import BaseRanker, ProbabilityMixin
from aucrank._input import Columns
from aucrank._params import check_bool, check_choice, check_real
from aucrank._schema import Schema
from aucrank.additive._bins import special_by_column
from aucrank.additive._card_export import CardExportMixin
from aucrank.additive._drift import DriftMixin
from aucrank.additive._rimarc import RIMARC


class Scorecard(CardExportMixin, DriftMixin, ProbabilityMixin, BaseRanker):
    """Whole points for the bins of each feature."""

    _family = "scorecard"
    _model: _core.Scorecard

    def __init__(
        self,
        *,
        estimator: Any = None,
        base_points: float = 600.0,
        base_odds: float = 1.0,
        pdo: float = 20.0,
        high_points: str = "positive",
        monotone: bool = False,
        min_bin_share: float = 0.0,
        special_values: Any = None,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.base_points = base_points
        self.base_odds = base_odds
        self.pdo = pdo
        self.high_points = high_points
        self.monotone = monotone
        self.min_bin_share = min_bin_share
        self.special_values = special_values
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_params(self) -> None:
        check_real(self.base_points, "base_points", low=-1e9, high=1e9)
        check_real(self.base_odds, "base_odds", low=0.0, low_open=True)
        check_real(self.pdo, "pdo", low=0.0, low_open=True)
        check_choice(self.high_points, "high_points", ("positive", "negative"))
        check_bool(self.monotone, "monotone")
        check_real(self.min_bin_share, "min_bin_share", low=0.0, high=0.5)

    def _fit_model(
        self,
        columns: Columns,
        schema: Schema,
        positive: NDArray[np.bool_],
        weight: NDArray[np.float64] | None,
        seed: int,
        n_threads: int,
    ) -> _core.Scorecard:
        ranker = RIMARC(missing="value") if self.estimator is None else clone(self.estimator)
        if "special_values" in ranker.get_params():
            ranker.set_params(special_values=self.special_values)
        ranker._check_params()
        model = ranker._fit_model(columns, schema, positive, weight, seed, n_threads)
        ranker._remember(self.classes_, schema, model)
        params = {
            "base_points": float(self.base_points),
            "base_odds": float(self.base_odds),
            "pdo": float(self.pdo),
            "high_points": self.high_points,
            "monotone": self.monotone,
            "min_bin_share": float(self.min_bin_share),
            "special": special_by_column(self.special_values, schema),
        }
        return _core.build_scorecard(
            columns,
            schema.n_levels,
            positive,
            weight,
            ranker._step_functions(),
            json.dumps(params),
            n_threads,
        )

    def points(self, X: Any) -> NDArray[np.int64]:
        """Return the points of each row."""
        points: NDArray[np.int64] = self._ask("points", X)
        return points
