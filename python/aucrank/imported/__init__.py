"""Models of other libraries as fitted rankers, with the scores that these libraries give."""

from aucrank.imported._catboost import from_catboost
from aucrank.imported._files import import_file
from aucrank.imported._imported_linear import ImportedLinear, from_coefficients
from aucrank.imported._imported_trees import ImportedTrees
from aucrank.imported._lightgbm import from_lightgbm
from aucrank.imported._sklearn import from_sklearn
from aucrank.imported._xgboost import from_xgboost

__all__ = [
    "ImportedLinear",
    "ImportedTrees",
    "from_catboost",
    "from_coefficients",
    "from_lightgbm",
    "from_sklearn",
    "from_xgboost",
    "import_file",
]
