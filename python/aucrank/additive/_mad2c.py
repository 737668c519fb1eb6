"""MAD2C: every feature in the bins that reach its largest AUC."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from aucrank import _core
from aucrank._core_estimator import CoreEstimator
from aucrank._input import Columns
from aucrank._monotonic import check_monotonic_cst
from aucrank._schema import Schema
from aucrank.additive._bin_table import BinsMixin
from aucrank.additive._bins import bin_params


class MAD2C(BinsMixin, TransformerMixin, CoreEstimator):
    """AUC-optimal discretisation."""

    _family = "mad2c"
    _model: _core.Mad2c

    def __init__(
        self,
        *,
        monotonic_cst: Any = None,
        special_values: Any = None,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        self.monotonic_cst = monotonic_cst
        self.special_values = special_values
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check_params(self) -> None:
        check_monotonic_cst(self.monotonic_cst)

    def _fit_model(
        self,
        columns: Columns,
        schema: Schema,
        positive: NDArray[np.bool_],
        weight: NDArray[np.float64] | None,
        seed: int,
        n_threads: int,
    ) -> _core.Mad2c:
        params = json.dumps(bin_params(self.special_values, self.monotonic_cst, schema))
        return _core.fit_mad2c(columns, schema.n_levels, positive, weight, params, n_threads)

    def _table(self) -> _core.Mad2c:
        return self._model

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the bin of each value."""
        bins: NDArray[np.float64] = self._ask("bins", X)
        return bins.reshape(-1, self.n_features_in_)
