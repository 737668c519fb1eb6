"""AURORA: a linear score over binary terms that climbs the ramp statistic."""

import json
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base import BaseRanker
from aucrank._input import Columns
from aucrank._params import check_choice, check_int, check_real
from aucrank._schema import Schema

#: Depths of search by name (tables 1 and 2 of the paper): the shallow one is some 2/3 of the
#: standard one, the deep one 1.5 times it.
DEPTHS = {
    "shallow": {"shortlist": 13, "midpoints": 50, "combined": 26, "circles": 2},
    "standard": {"shortlist": 20, "midpoints": 75, "combined": 40, "circles": 3},
    "deep": {"shortlist": 30, "midpoints": 112, "combined": 60, "circles": 4},
}

#: What a term has to add to the ramp statistic at first (DECISIONS A16).
_FIRST_GAIN = 0.01


class AURORA(BaseRanker):
    """Linear score over binary terms that maximises the ramp statistic."""

    _family: ClassVar[str] = "aurora"
    _model: _core.Aurora

    def __init__(
        self,
        *,
        max_features: int = 200,
        order: int = 2,
        radius: float | str = "auto",
        depth: Any = "standard",
        selection: str | None = "validation",
        validation_fraction: float = 0.25,
        n_folds: int = 4,
        min_gain: float = 1e-6,
        tol: float | None = None,
        max_levels: int = 22,
        percentiles: Any = 5,
        min_level_share: float = 0.001,
        max_spike_share: float = 0.01,
        categorical_features: Any = "from_dtype",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.max_features = max_features
        self.order = order
        self.radius = radius
        self.depth = depth
        self.selection = selection
        self.validation_fraction = validation_fraction
        self.n_folds = n_folds
        self.min_gain = min_gain
        self.tol = tol
        self.max_levels = max_levels
        self.percentiles = percentiles
        self.min_level_share = min_level_share
        self.max_spike_share = max_spike_share
        self.categorical_features = categorical_features
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _core_params(self, seed: int) -> dict[str, Any]:
        """Return the parameters as the core takes them, each checked."""
        selection: Any = check_choice(
            self.selection, "selection", ("validation", "cv", None)
        )
        fraction = check_real(
            self.validation_fraction,
            "validation_fraction",
            low=0.0,
            high=1.0,
            low_open=True,
            high_open=True,
        )
        n_folds = check_int(self.n_folds, "n_folds", low=2, high=65_534)
        if selection == "validation":
            selection = {"hold_out": fraction}
        elif selection == "cv":
            selection = {"cross_validation": n_folds}
        else:
            selection = "keep"
        if isinstance(self.radius, str):
            radius: Any = check_choice(self.radius, "radius", ("auto",))
        else:
            radius = {
                "fixed": check_real(
                    self.radius, "radius", low=0.0, low_open=True, high_open=True
                )
            }
        gain = check_real(self.min_gain, "min_gain", low=0.0, low_open=True, high_open=True)
        return {
            "binarizer": {
                "max_levels": check_int(self.max_levels, "max_levels", low=2),
                "min_level_share": self.min_level_share,
                "percentiles": [float(p) for p in range(5, 100, 5)],
                "max_spike_share": self.max_spike_share,
                "feature_types": [],
                "missing_indicator": True,
            },
            "max_features": check_int(self.max_features, "max_features", low=1),
            "order": check_int(self.order, "order", low=1, high=2),
            "radius": radius,
            "depth": DEPTHS[self.depth] if isinstance(self.depth, str) else dict(self.depth),
            "first_gain": max(_FIRST_GAIN, gain or 0.0),
            "last_gain": gain,
            "tol": self.tol,
            "selection": selection,
            "seed": seed,
        }

    def _check_params(self) -> None:
        self._core_params(0)

    def _fit_model(
        self,
        columns: Columns,
        schema: Schema,
        positive: NDArray[np.bool_],
        weight: NDArray[np.float64] | None,
        seed: int,
        n_threads: int,
    ) -> _core.Aurora:
        params = json.dumps(self._core_params(seed))
        return _core.fit_aurora(
            columns, schema.n_levels, positive, weight, params, None, n_threads
        )
