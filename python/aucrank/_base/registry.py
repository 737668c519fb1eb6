"""Module of each public estimator, by name.

The lists that `aucrank.load`, the command line and the tests iterate over: an estimator listed here
can be saved and loaded, and `aucrank compare` measures the rankers. Modules are imported on first
use.
"""

from importlib import import_module
from typing import Any

ESTIMATORS = {
    "TreeRank": "aucrank.tree",
    "RankingForest": "aucrank.tree",
    "RuleList": "aucrank.tree",
    "AUCBoost": "aucrank.boosting",
    "RankBoost": "aucrank.boosting",
    "GradientBoostingRanker": "aucrank.boosting",
    "MartiRank": "aucrank.boosting",
    "SMartiRank": "aucrank.boosting",
    "RIMARC": "aucrank.additive",
    "Scorecard": "aucrank.additive",
    "IntegerScore": "aucrank.additive",
    "LinearRanker": "aucrank.additive",
    "AURORA": "aucrank.ramp",
    "RankOpt": "aucrank.ramp",
    "RankingEnsemble": "aucrank.ensemble",
}

#: Public and savable, but transformers: they rank nothing.
TRANSFORMERS = {
    "MAD2C": "aucrank.additive",
    "ThresholdBinarizer": "aucrank.ramp",
}

#: Public as well, but wraps an estimator: savable around a ranker of aucrank.
META_ESTIMATORS = {
    "TwoSidedClassifier": "aucrank.boosting",
}

#: Rankers that are made of fitted models: savable, but nothing that could be fitted.
MADE = {
    "ImportedTrees": "aucrank.imported",
    "ImportedLinear": "aucrank.imported",
    "Recalibrated": "aucrank.ensemble",
}


def get_estimator(name: str) -> type[Any]:
    """Return the class of the public estimator `name`.

    Raises
    ------
    ValueError
        If no public estimator has this name.
    """
    modules = _modules()
    if name not in modules:
        raise ValueError(f"no estimator is called {name!r}; there are {', '.join(modules)}")
    estimator: type[Any] = getattr(import_module(modules[name]), name)
    return estimator


def public_names() -> list[str]:
    """Return the names of all public estimators that can be fitted, in the order of the lists."""
    return [name for name in _modules() if name not in MADE]


def _modules() -> dict[str, str]:
    return ESTIMATORS | TRANSFORMERS | META_ESTIMATORS | MADE


def is_savable(name: str) -> bool:
    """Return whether a saved file can hold the estimator `name`."""
    return name in _modules()


def public_estimators() -> dict[str, type[Any]]:
    """Return all public rankers that can be saved, by name, in the order of the list."""
    return {name: get_estimator(name) for name in ESTIMATORS}
