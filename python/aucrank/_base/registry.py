"""Where each public estimator lives, by name.

The lists that `aucrank.load`, the command line and the tests walk: an estimator that is entered
here can be saved and loaded, and `aucrank compare` measures the rankers. Nothing is imported before
it is asked for.
"""

from importlib import import_module
from typing import Any

ESTIMATORS = {
    "TreeRank": "aucrank.tree",
    "RankingForest": "aucrank.tree",
    "AUCBoost": "aucrank.boosting",
    "RankBoost": "aucrank.boosting",
    "GradientBoostingRanker": "aucrank.boosting",
    "MartiRank": "aucrank.boosting",
    "SMartiRank": "aucrank.boosting",
    "RIMARC": "aucrank.additive",
    "Scorecard": "aucrank.additive",
    "LinearRanker": "aucrank.additive",
    "AURORA": "aucrank.ramp",
    "RankOpt": "aucrank.ramp",
    "RankingEnsemble": "aucrank.ensemble",
}

#: Public, and saved, but they turn features into others and rank nothing.
TRANSFORMERS = {
    "MAD2C": "aucrank.additive",
    "ThresholdBinarizer": "aucrank.ramp",
}

#: Public, too, but around an estimator from anywhere, which a file cannot hold.
META_ESTIMATORS = {
    "TwoSidedClassifier": "aucrank.boosting",
}


def get_estimator(name: str) -> type[Any]:
    """Class of the public estimator `name`.

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
    """Names of all public estimators, whatever they do, in the order of the lists."""
    return list(_modules())


def _modules() -> dict[str, str]:
    return ESTIMATORS | TRANSFORMERS | META_ESTIMATORS


def is_savable(name: str) -> bool:
    """Tell whether a saved file can hold the estimator `name`."""
    return name in ESTIMATORS or name in TRANSFORMERS


def public_estimators() -> dict[str, type[Any]]:
    """All public rankers that can be saved, by name, in the order of the list."""
    return {name: get_estimator(name) for name in ESTIMATORS}
