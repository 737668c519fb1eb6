"""Learning to rank by maximising the area under the ROC curve."""

from typing import TYPE_CHECKING, Any

try:
    from aucrank._core import ModelFormatError, __version__
except ModuleNotFoundError as error:
    if error.name != "aucrank._core":
        raise
    raise ImportError(
        "aucrank is not compiled here: run `make build` in the checkout (it installs into .venv), "
        "or `maturin develop --release` in an environment of your own"
    ) from error

from aucrank._doubts import ColumnWarning
from aucrank._persistence import load
from aucrank._registry import get_estimator, public_names
from aucrank._show_versions import show_versions

if TYPE_CHECKING:
    from aucrank.additive import MAD2C, RIMARC, Scorecard
    from aucrank.boosting import AUCBoost, MartiRank, RankBoost, SMartiRank, TwoSidedClassifier
    from aucrank.ramp import AURORA, RankOpt, ThresholdBinarizer
    from aucrank.tree import RankingForest, TreeRank

__all__ = [
    "AURORA",
    "MAD2C",
    "RIMARC",
    "AUCBoost",
    "ColumnWarning",
    "MartiRank",
    "ModelFormatError",
    "RankBoost",
    "RankOpt",
    "RankingForest",
    "SMartiRank",
    "Scorecard",
    "ThresholdBinarizer",
    "TreeRank",
    "TwoSidedClassifier",
    "__version__",
    "load",
    "show_versions",
]


def __getattr__(name: str) -> Any:
    # Estimators are imported when asked for: scikit-learn, their base, imports pandas if it can.
    if name in public_names():
        return globals().setdefault(name, get_estimator(name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *public_names()})
