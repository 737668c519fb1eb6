"""Random parameters of every estimator that can be saved, valid ones and others."""

from collections.abc import Callable
from typing import Any

import numpy as np
from aucrank import (
    AURORA,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    LinearRanker,
    RankBoost,
    TreeRank,
)
from aucrank._base.registry import get_estimator
from aucrank.tree import (
    CrossValidatedPruning,
    DyadicSplit,
    LeafRank,
    OrthogonalSplit,
    PenalizedPruning,
    ValidationPruning,
)
from sklearn.linear_model import LogisticRegression

Rng = np.random.Generator

#: A value, or what makes one of the draws.
Values = list[Any]

_COMMON: dict[str, Values] = {
    "n_jobs": [None, 1, 2, -1],
    "random_state": [0, 1, 2**32 - 1],
    "verbose": [0],
    "max_bins": [255, None, 2, 7, 65534],
    "level_rates": ["shrunken", "raw"],
    "categorical_features": ["from_dtype"],
    "warm_start": [False],
    "tol": [1e-4, 0.0],
}

_TREE: dict[str, Values] = {
    "split": [
        "orthogonal",
        "leafrank",
        OrthogonalSplit(),
        LeafRank(max_depth=2, max_leaves=3),
        LeafRank(max_depth=4, min_samples_leaf=2),
        DyadicSplit(level=1),
        DyadicSplit(level="auto"),
        LeafRank(pruning=CrossValidatedPruning(n_folds=2)),
    ],
    "min_samples_split": [2, 5, 10**6],
    "min_samples_leaf": [1, 5, 20],
    "min_gain": [0.0, 1e-3, 1.0],
    "max_features": [None, "sqrt", "log2", 1, 0.5],
    "leaf_order": ["eta", "tree"],
    "monotonic_cst": [None],
    "missing": ["learn", "cell_mean"],
}

_ROUNDS: dict[str, Values] = {
    "weak_ranker": ["feature", "threshold", "tree", "linear", LeafRank(max_depth=2)],
    "n_rounds": [1, 5, 20],
    "learning_rate": [1.0, 0.1],
    "subsample": [1.0, 0.5],
    "max_features": [None, "sqrt", 1],
    "monotonic_cst": [None],
    "early_stopping": [False, False, True],
    "validation_fraction": [0.1, 0.5],
    "n_iter_no_change": [1, 10],
    "refit": [False, True],
}

_PROGRAM: dict[str, Values] = {
    "weak_ranker": ["feature", "threshold", "tree", "linear", LogisticRegression()],
    "n_rounds": [1, 4, 10],
    "criterion": ["sum", "error"],
    "routing": ["expected", "sampled"],
    "output": ["votes", "sign", "node_rate"],
}

_TERMS: dict[str, Values] = {
    "max_levels": [1, 3, 22],
    "percentiles": [5, 1, [10.0, 50.0]],
    "min_level_share": [0.001, 0.0, 0.2],
    "max_spike_share": [0.01, 1.0],
    "feature_types": [None],
}

_BINS: dict[str, Values] = {
    "monotonic_cst": [None],
    "special_values": [None, [0.0], [0.0, -1.0, 1e308]],
}

_CLASSES: dict[str, Values] = {"class_weight": [None, None, "balanced"]}

_CALIBRATED: dict[str, Values] = {"calibration": [None, "auto", "sigmoid", "isotonic"]} | _CLASSES

#: Values that are valid for each parameter of each estimator.
PARAMS: dict[str, dict[str, Values]] = {
    "TreeRank": _TREE
    | _CLASSES
    | {
        "max_depth": [1, 3, 10, 60],
        "max_leaves": [None, 2, 7],
        "search": ["greedy", "greedy", "lookahead"],
        "lookahead": [1, 2],
        "search_bins": [2, 8],
        "time_limit": [None],
        "pruning": [
            "cv",
            None,
            "validation",
            CrossValidatedPruning(n_folds=3, one_standard_error=True),
            PenalizedPruning(),
            PenalizedPruning(scale="slope"),
            ValidationPruning(fraction=0.5),
        ],
        "max_fpr": [1.0, 0.3],
    },
    "RankingForest": _TREE
    | _CLASSES
    | {
        "n_estimators": [1, 5, 12],
        "max_depth": [None, 1, 4],
        "max_leaves": [None, 2, 7],
        "min_samples_leaf": ["auto", 1, 5, 20],
        "cuts": ["best", "random"],
        "criterion": ["log_loss", "gini", "youden", "auto"],
        "bootstrap": [True, False],
        "max_samples": [None, 0.5],
        "aggregation": ["eta", "rank_mean", "rank_median", "kendall"],
        "oob_score": [False],
        "n_iter_no_change": [None],
    },
    "AUCBoost": _ROUNDS
    | _CALIBRATED
    | {"criterion": ["sum", "error"], "output": ["real", "sign"], "max_fpr": [1.0, 0.1]},
    "RankBoost": _ROUNDS
    | _CALIBRATED
    | {"alpha": ["third", "exact"], "max_fpr": [1.0, 0.1], "selection": [None]},
    "GradientBoostingRanker": _CLASSES
    | {
        # Of log-odds there is nothing else to calibrate by.
        "calibration": [None, "auto"],
        "loss": ["log", "pair_exponential", "pair_logistic"],
        "max_fpr": [1.0, 1.0, 0.1],
        "n_rounds": [1, 5, 20],
        "learning_rate": ["auto", 0.3],
        "max_leaves": [2, 16, "auto"],
        "max_depth": [None, 2],
        "min_samples_leaf": ["auto", 1, 0.1],
        "l2": [0.0, 1.0],
        "min_gain": [0.0, 0.5],
        "cuts": ["best", "random"],
        "subsample": [0.8, 1.0],
        "max_features": [0.6, None],
        "interactions": [None, 0, 2],
        "category_pairs": ["auto", "auto", False],
        "monotonic_cst": [None],
        "n_iter_no_change": [1, 10],
        "scoring": ["auc", "loss"],
        "n_bags": [1, 1, 3, "auto"],
        "early_stopping": [False, False, True, "auto"],
        "validation_fraction": [0.1, 0.5, "auto"],
        "time_limit": [None],
        "refit": [False, True],
        "max_bins": [255, 5],
    },
    "MartiRank": _PROGRAM | _CALIBRATED,
    "SMartiRank": _PROGRAM
    | _CALIBRATED
    | {
        "epsilon": [0.1, 0.9],
        "noise_rate": [0.0, 0.2, "auto"],
        "min_samples_class": [10, 0, 0.5],
        "sample_size": [None, 20],
    },
    "RIMARC": _BINS
    | _CLASSES
    | {"shrinkage": [0.0, 2.0], "weight_folds": [None, 3], "missing": ["ignore", "value"]},
    "Scorecard": _CLASSES
    | {
        "estimator": [
            None,
            RIMARC(shrinkage=1.0),
            RankBoost(n_rounds=8),
            AUCBoost(n_rounds=5),
            AURORA(radius=1.5, depth="shallow", max_features=5, order=1),
        ],
        "base_points": [600.0, 0.0, -100.0],
        "base_odds": [1.0, 50.0],
        "pdo": [20.0, 0.5, 1000.0],
        "high_points": ["positive", "negative"],
        "monotone": [False, True, {}],
        "min_bin_share": [0.0, 0.1],
        "special_values": [None, [0.0]],
    },
    "AURORA": _TERMS
    | _CALIBRATED
    | {
        "max_features": [1, 4, 10],
        "order": [1, 2],
        "radius": ["auto", 1.5, 0.01],
        "radius_terms": [1, 3, None],
        "n_iter_no_change": [1, 3, None],
        "depth": ["quick", "shallow", {"shortlist": 3, "midpoints": 5, "combined": 4}],
        "selection": ["auto", "validation", "cv", None],
        "criterion": ["auc", "ramp"],
        "validation_fraction": [0.25, 0.5],
        "n_folds": [2, 4],
        "min_gain": [1e-6, 0.1],
        "monotonic_cst": [None],
        "max_fpr": [1.0, 1.0, 0.2],
        "tol": [None, 1e-3],
    },
    "RankOpt": _CALIBRATED
    | {
        "objective": ["sigmoid", "ramp"],
        "radii": [(1.0, 2.0, 4.0, 8.0), (0.5,), (0.01, 100.0)],
        "max_iter": [200, 1],
        "tol": [1e-8],
    },
    "RuleList": _CLASSES
    | {
        "max_rules": [None, 1, 99],
        "max_conditions": [2, 1, 5],
        "search_bins": [16, 2, 255],
        "time_limit": [None, 1e-9],
        "min_samples_leaf": [5, 1, 20],
        "pruning": ["cv", "validation", None, CrossValidatedPruning(n_folds=2)],
        "max_fpr": [1.0, 1.0, 0.2],
        "monotonic_cst": [None],
    },
    "IntegerScore": _CLASSES
    | _BINS
    | {
        "max_features": [5, 1, 100],
        "max_points": [10, 1, 100],
        "max_lines": [4, 2, 1000],
        "max_questions": [None, 1, 3],
        "min_gain": [0.3, 0.0, 1e6],
        "max_cuts": [16, 1, 64],
        "round_cuts": [True, False],
        "min_bin_share": [0.02, 0.0, 0.5],
        "high_points": ["positive", "negative"],
        "required_features": [None],
        "excluded_features": [None, [0]],
        "exclusive_features": [None, [[0]]],
        "time_limit": [None, 1e-9],
    },
    "LinearRanker": _CLASSES
    | {
        "C": [0.1, 1e-6, 1e6],
        "thresholds": ["auto", None, 1, 30],
        "interactions": ["auto", None, 1, 200],
        "max_iter": [100, 1],
        "tol": [1e-10],
    },
    "RankingEnsemble": _CLASSES
    | {
        "presets": ["fast"],
        "members": [
            [("boosting", GradientBoostingRanker(n_rounds=5)), ("linear", LinearRanker())],
            [("tree", TreeRank(pruning=None)), ("table", RIMARC()), ("line", LinearRanker())],
        ],
        "n_folds": [2, 5, "auto"],
        "shrinkage": [0.0, 10.0],
        "time_limit": [None],
    },
    "MAD2C": _BINS | {"encode": ["ordinal", "onehot-dense", "rate"]},
    "ThresholdBinarizer": _TERMS
    | {
        "missing_indicator": [True, False],
        "sparse_output": [False],
        "dtype": [np.float64, "uint8"],
    },
    "TwoSidedClassifier": {
        "ranker": [None, RankBoost(n_rounds=5), RIMARC(), LogisticRegression()],
        "criterion": ["sum", "error"],
        "noise_rate": [0.0, 0.1],
    },
}

#: Values that no parameter, or few, take.
STRANGE: list[Callable[[Rng], Any]] = [
    lambda _: None,
    lambda _: -1,
    lambda _: 0,
    lambda _: 1.5,
    lambda _: float("nan"),
    lambda _: float("inf"),
    lambda _: -0.0,
    lambda _: 2**63,
    lambda _: True,
    lambda _: "",
    lambda _: "nonsense\x00",
    lambda _: [],
    lambda _: {},
    lambda _: {"x": 1},
    lambda _: [1, -1],
    lambda _: np.array([[1.0]]),
    lambda _: object(),
    lambda _: np.float32("nan"),
    lambda _: (),
]

#: Parameters that a strange, but legal, value makes slow or large; those of several threads.
_NOT_STRANGE = {"n_jobs"}


def draw_estimator(rng: Rng, name: str) -> tuple[Any, str | None]:
    """Draw an estimator of a class, and the name of a parameter that may not be valid, or None."""
    cls = get_estimator(name)
    table = _COMMON | PARAMS[name]
    params = {}
    for param in sorted(cls().get_params(deep=False)):
        values = table[param]
        if param in ("random_state", "n_jobs") or rng.random() < 0.35:
            params[param] = values[rng.integers(len(values))]
    # What would take long for nothing.
    if name == "RankingForest":
        params.setdefault("n_estimators", 5)
    elif name == "AURORA":
        params.setdefault("max_features", 5)
        params.setdefault("depth", "shallow")
    strange = None
    if rng.random() < 0.12:
        strange = str(rng.choice(sorted(set(cls().get_params(deep=False)) - _NOT_STRANGE)))
        params[strange] = STRANGE[rng.integers(len(STRANGE))](rng)
    return cls(**params), strange


def missing_params() -> dict[str, set[str]]:
    """Return for each estimator the parameters that are not drawn: there must be none."""
    missing = {}
    for name in PARAMS:
        known = _COMMON.keys() | PARAMS[name].keys()
        absent = set(get_estimator(name)().get_params(deep=False)) - known
        if absent:
            missing[name] = absent
    return missing
