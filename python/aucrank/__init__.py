"""Learning to rank by maximising the area under the ROC curve."""

from importlib import import_module
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

from aucrank._base.registry import get_estimator, public_names

if TYPE_CHECKING:
    from aucrank._base.persistence import load
    from aucrank._base.pipeline_export import PipelineExport
    from aucrank._compare.leaderboard import Leaderboard, compare
    from aucrank._data.column_warnings import ColumnWarning
    from aucrank._export.sizes import ExportSizeWarning
    from aucrank._report.document import Report, report
    from aucrank._show_versions import show_versions
    from aucrank.additive import MAD2C, RIMARC, IntegerScore, LinearRanker, Scorecard
    from aucrank.boosting import (
        AUCBoost,
        GradientBoostingRanker,
        MartiRank,
        RankBoost,
        SMartiRank,
        TwoSidedClassifier,
    )
    from aucrank.ensemble import Compressed, RankingEnsemble, Recalibrated, compress, recalibrate
    from aucrank.imported import (
        ImportedLinear,
        ImportedTrees,
        from_catboost,
        from_coefficients,
        from_lightgbm,
        from_sklearn,
        from_xgboost,
    )
    from aucrank.ramp import AURORA, RankOpt, ThresholdBinarizer
    from aucrank.tree import RankingForest, RuleList, TreeRank

__all__ = [
    "AURORA",
    "MAD2C",
    "RIMARC",
    "AUCBoost",
    "ColumnWarning",
    "Compressed",
    "ExportSizeWarning",
    "GradientBoostingRanker",
    "ImportedLinear",
    "ImportedTrees",
    "IntegerScore",
    "Leaderboard",
    "LinearRanker",
    "MartiRank",
    "ModelFormatError",
    "PipelineExport",
    "RankBoost",
    "RankOpt",
    "RankingEnsemble",
    "RankingForest",
    "Recalibrated",
    "Report",
    "RuleList",
    "SMartiRank",
    "Scorecard",
    "ThresholdBinarizer",
    "TreeRank",
    "TwoSidedClassifier",
    "__version__",
    "compare",
    "compress",
    "from_catboost",
    "from_coefficients",
    "from_lightgbm",
    "from_sklearn",
    "from_xgboost",
    "load",
    "recalibrate",
    "report",
    "show_versions",
]


_ROOMS = {
    "ColumnWarning": "aucrank._data.column_warnings",
    "Compressed": "aucrank.ensemble._compress",
    "ExportSizeWarning": "aucrank._export.sizes",
    "ImportedLinear": "aucrank.imported._imported_linear",
    "ImportedTrees": "aucrank.imported._imported_trees",
    "Leaderboard": "aucrank._compare.leaderboard",
    "PipelineExport": "aucrank._base.pipeline_export",
    "Recalibrated": "aucrank.ensemble._recalibrate",
    "Report": "aucrank._report.document",
    "compare": "aucrank._compare.leaderboard",
    "compress": "aucrank.ensemble._compress",
    "from_catboost": "aucrank.imported._catboost",
    "from_coefficients": "aucrank.imported._imported_linear",
    "from_lightgbm": "aucrank.imported._lightgbm",
    "from_sklearn": "aucrank.imported._sklearn",
    "from_xgboost": "aucrank.imported._xgboost",
    "load": "aucrank._base.persistence",
    "recalibrate": "aucrank.ensemble._recalibrate",
    "report": "aucrank._report.document",
    "show_versions": "aucrank._show_versions",
}


def __getattr__(name: str) -> Any:
    # Everything is imported on first use: numpy, narwhals and joblib take half a second, and
    # scikit-learn, the base of the estimators, one or two more, since it imports pandas if
    # available.
    if name in _ROOMS:
        return globals().setdefault(name, getattr(import_module(_ROOMS[name]), name))
    if name in public_names():
        return globals().setdefault(name, get_estimator(name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS, *public_names()})
