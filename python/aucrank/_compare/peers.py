"""Classifiers of other packages that are compared with ours, with their defaults.

All receive columns as numbers, with categories as codes. Packages other than scikit-learn are
imported only when a model is made: one that is not installed is not compared, and one that is
broken fails like a model.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

from aucrank._compare.sample import Matrix


def encoder(matrix: Matrix, **one_hot: Any) -> Any:
    """Return an encoder of categories and of missing values as numbers."""
    return make_column_transformer(
        (
            make_pipeline(
                SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
                StandardScaler(),
            ),
            matrix.numeric,
        ),
        # A missing value is a separate category.
        (OneHotEncoder(handle_unknown="ignore", **one_hot), matrix.categorical),
    )


@dataclass(frozen=True)
class Peer:
    """A classifier of another package."""

    package: str
    """As people call it."""
    module: str
    """As Python and pip do."""
    make: Callable[[Matrix, int, int | None], Any]
    """Makes one from the matrix, the seed and the number of threads as ``n_jobs``."""
    rules: Callable[[Any], int] | None = None
    """Counts leaves, bins or weights of a fitted one, where the package gives them."""
    fit_options: Callable[[Matrix], dict[str, Any]] = lambda matrix: {}
    """Arguments of ``fit`` besides rows and labels."""

    @property
    def is_installed(self) -> bool:
        """Whether the package is installed."""
        return find_spec(self.module) is not None


def _logistic_regression(matrix: Matrix, seed: int, n_jobs: int | None) -> Any:
    return make_pipeline(encoder(matrix), LogisticRegression(max_iter=1000))


def _random_forest(matrix: Matrix, seed: int, n_jobs: int | None) -> Any:
    # Ours use all threads by default; a forest of scikit-learn would use one.
    forest = RandomForestClassifier(random_state=seed, n_jobs=-1 if n_jobs is None else n_jobs)
    return make_pipeline(encoder(matrix), forest)


def _hist_gradient_boosting(matrix: Matrix, seed: int, n_jobs: int | None) -> Any:
    return make_pipeline(
        make_column_transformer(
            (
                # The booster accepts at most 255 categories: the rarest beyond are merged into one.
                OrdinalEncoder(
                    handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=254
                ),
                matrix.categorical,
            ),
            ("passthrough", partial(_numeric_with_values, matrix.n_numeric)),
        ),
        HistGradientBoostingClassifier(
            categorical_features=list(range(len(matrix.categorical))), random_state=seed
        ),
    )


def _numeric_with_values(n_numeric: int, X: NDArray[np.float64]) -> list[int]:
    """Return the numeric columns with any value; for others the booster finds no bins."""
    return [column for column in range(n_numeric) if not np.isnan(X[:, column]).all()]


def _lightgbm(matrix: Matrix, seed: int, n_jobs: int | None) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=n_jobs, verbose=-1)


def _xgboost(matrix: Matrix, seed: int, n_jobs: int | None) -> Any:
    from xgboost import XGBClassifier

    kinds = ["q"] * len(matrix.numeric) + ["c"] * len(matrix.categorical)
    return XGBClassifier(
        random_state=seed, n_jobs=n_jobs, enable_categorical=True, feature_types=kinds
    )


def _catboost(matrix: Matrix, seed: int, n_jobs: int | None) -> Any:
    from catboost import CatBoostClassifier

    return make_pipeline(
        FunctionTransformer(partial(_integer_codes, matrix.n_numeric)),
        CatBoostClassifier(
            cat_features=matrix.categorical,
            random_seed=seed,
            thread_count=-1 if n_jobs is None else n_jobs,
            verbose=False,
            allow_writing_files=False,
        ),
    )


def _integer_codes(n_numeric: int, X: NDArray[np.float64]) -> Any:
    """Make a frame whose codes are integers, -1 if missing: the form that CatBoost accepts."""
    # CatBoost itself imports it.
    import pandas

    codes = np.nan_to_num(X[:, n_numeric:], nan=-1.0).astype(np.int64)
    numbers = pandas.DataFrame(X[:, :n_numeric])
    return pandas.concat([numbers, pandas.DataFrame(codes)], axis=1, ignore_index=True)


def _explainable_boosting(matrix: Matrix, seed: int, n_jobs: int | None) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    kinds = ["continuous"] * len(matrix.numeric) + ["nominal"] * len(matrix.categorical)
    return ExplainableBoostingClassifier(
        feature_types=kinds, random_state=seed, n_jobs=-1 if n_jobs is None else n_jobs
    )


def _optimal_binning(matrix: Matrix, seed: int, n_jobs: int | None) -> Any:
    from optbinning import BinningProcess

    # Its class Scorecard combines the two, with points.
    return make_pipeline(
        BinningProcess(
            variable_names=matrix.names,
            categorical_variables=[matrix.names[place] for place in matrix.categorical],
            n_jobs=-1 if n_jobs is None else n_jobs,
        ),
        LogisticRegression(max_iter=1000),
    )


def _weights(model: Any) -> int:
    return int(np.count_nonzero(model[-1].coef_))


def _leaves(forest: Any) -> int:
    return sum(int(tree.get_n_leaves()) for tree in forest.estimators_)


#: By class name, as accepted by `--models`.
PEERS: dict[str, Peer] = {
    "LogisticRegression": Peer("sklearn", "sklearn", _logistic_regression, _weights),
    "RandomForestClassifier": Peer(
        "sklearn", "sklearn", _random_forest, lambda model: _leaves(model[-1])
    ),
    "HistGradientBoostingClassifier": Peer("sklearn", "sklearn", _hist_gradient_boosting),
    "LGBMClassifier": Peer(
        "LightGBM",
        "lightgbm",
        _lightgbm,
        lambda model: sum(tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"]),
        lambda matrix: {"categorical_feature": matrix.categorical},
    ),
    "XGBClassifier": Peer(
        "XGBoost",
        "xgboost",
        _xgboost,
        lambda model: sum(tree.count("leaf=") for tree in model.get_booster().get_dump()),
    ),
    "CatBoostClassifier": Peer(
        "CatBoost", "catboost", _catboost, lambda model: int(model[-1].get_tree_leaf_counts().sum())
    ),
    "ExplainableBoostingClassifier": Peer(
        "InterpretML",
        "interpret",
        _explainable_boosting,
        lambda model: sum(np.size(scores) for scores in model.term_scores_),
    ),
    "BinningProcess": Peer(
        "optbinning",
        "optbinning",
        _optimal_binning,
        lambda model: int(model[0].summary()["n_bins"].sum()),
    ),
}
