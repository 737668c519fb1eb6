"""RIMARC: positive rates of AUC-optimal bins, weighted by how well each feature ranks."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._base import BaseRanker, ProbabilityMixin
from aucrank._input import Columns
from aucrank._monotonic import check_monotonic_cst
from aucrank._params import check_choice, check_int, check_real
from aucrank._schema import Schema
from aucrank.additive._bin_table import BinsMixin
from aucrank.additive._bins import bin_params


class RIMARC(BinsMixin, ProbabilityMixin, BaseRanker):
    """Weighted mean of the positive rates of AUC-optimal bins."""

    _family = "rimarc"
    _model: _core.Rimarc

    def __init__(
        self,
        *,
        shrinkage: float = 0.0,
        weight_folds: int | None = None,
        missing: str = "ignore",
        monotonic_cst: Any = None,
        special_values: Any = None,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.weight_folds = weight_folds
        self.missing = missing
        self.monotonic_cst = monotonic_cst
        self.special_values = special_values
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_params(self) -> None:
        check_monotonic_cst(self.monotonic_cst)
        check_real(self.shrinkage, "shrinkage", low=0.0)
        check_int(self.weight_folds, "weight_folds", low=2, optional=True)
        check_choice(self.missing, "missing", ("ignore", "value"))

    def _fit_model(
        self,
        columns: Columns,
        schema: Schema,
        positive: NDArray[np.bool_],
        weight: NDArray[np.float64] | None,
        seed: int,
        n_threads: int,
    ) -> _core.Rimarc:
        params = {
            "bins": bin_params(self.special_values, self.monotonic_cst, schema),
            "missing": self.missing,
            "shrinkage": float(self.shrinkage),
            "weight_folds": self.weight_folds,
            "seed": seed,
        }
        return _core.fit_rimarc(
            columns, schema.n_levels, positive, weight, json.dumps(params), n_threads
        )

    def _table(self) -> _core.Mad2c:
        return self._model.table()

    def _step_functions(self) -> str:
        """Return the step functions of the features as JSON text, for a scorecard."""
        return self._model.terms()

    @property
    def weights_(self) -> NDArray[np.float64]:
        """Return the weight of each feature."""
        return self._model.weights()

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Return by how much the AUC of each feature alone is above one half."""
        return self._model.weights() / 2

    @property
    def base_score_(self) -> float:
        """Return the score of a row of which nothing is known."""
        return self._model.prevalence - 0.5

    def explain(self, X: Any) -> NDArray[np.float64]:
        """Return what each feature adds to the score of each row."""
        parts: NDArray[np.float64] = self._ask("explain", X)
        return parts.reshape(-1, self.n_features_in_)
