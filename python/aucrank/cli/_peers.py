"""Classifiers of other packages that `aucrank compare` shows beside ours, by their own defaults.

All take columns as numbers, categories as codes. Nothing of the packages but scikit-learn is
imported before a model is made: one that is not installed is not compared, and one that is broken
fails as a model does.
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

from aucrank.cli._data import Labelled, categorical_columns, present_values


@dataclass(frozen=True)
class Matrix:
    """Numeric columns, then categorical ones as codes; missing is NaN."""

    values: NDArray[np.float64]
    n_numeric: int

    @property
    def n_columns(self) -> int:
        """Number of columns of both kinds."""
        return int(self.values.shape[1])

    @property
    def numeric(self) -> list[int]:
        """Places of the numbers."""
        return list(range(self.n_numeric))

    @property
    def categorical(self) -> list[int]:
        """Places of the codes."""
        return list(range(self.n_numeric, self.n_columns))


def as_matrix(data: Labelled) -> Matrix:
    """Make numbers of all columns."""
    categorical = categorical_columns(data.X)
    numeric = [name for name in data.X.columns if name not in categorical]
    columns = [np.asarray(data.X[name].to_numpy(), dtype=np.float64) for name in numeric]
    for name in categorical:
        code = {value: i for i, value in enumerate(sorted(present_values(data.X[name])))}
        columns.append(np.array([code.get(value, np.nan) for value in data.X[name].to_list()]))
    return Matrix(np.column_stack(columns), len(numeric))


def encoder(matrix: Matrix, **one_hot: Any) -> Any:
    """Return what makes numbers of categories and of missing values."""
    return make_column_transformer(
        (
            make_pipeline(
                SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
                StandardScaler(),
            ),
            matrix.numeric,
        ),
        # A missing value is a category of its own.
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
    fit_options: Callable[[Matrix], dict[str, Any]] = lambda matrix: {}
    """What ``fit`` is told beside rows and labels."""

    @property
    def is_installed(self) -> bool:
        """Whether there is the package."""
        return find_spec(self.module) is not None


def _logistic_regression(matrix: Matrix, seed: int, n_jobs: int | None) -> Any:
    return make_pipeline(encoder(matrix), LogisticRegression(max_iter=1000))


def _random_forest(matrix: Matrix, seed: int, n_jobs: int | None) -> Any:
    # Ours take all threads where nothing is said; a forest of scikit-learn would take one.
    forest = RandomForestClassifier(random_state=seed, n_jobs=-1 if n_jobs is None else n_jobs)
    return make_pipeline(encoder(matrix), forest)


def _hist_gradient_boosting(matrix: Matrix, seed: int, n_jobs: int | None) -> Any:
    return make_pipeline(
        make_column_transformer(
            (
                # The booster takes at most 255 categories: the rarest beyond become one.
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
    """Numeric columns but those without any value, for which the booster finds no bins."""
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
    """Make a frame whose codes are integers, -1 where there is none: the form CatBoost takes."""
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


#: By the names of their classes, which `--models` takes.
PEERS: dict[str, Peer] = {
    "LogisticRegression": Peer("sklearn", "sklearn", _logistic_regression),
    "RandomForestClassifier": Peer("sklearn", "sklearn", _random_forest),
    "HistGradientBoostingClassifier": Peer("sklearn", "sklearn", _hist_gradient_boosting),
    "LGBMClassifier": Peer(
        "LightGBM",
        "lightgbm",
        _lightgbm,
        lambda matrix: {"categorical_feature": matrix.categorical},
    ),
    "XGBClassifier": Peer("XGBoost", "xgboost", _xgboost),
    "CatBoostClassifier": Peer("CatBoost", "catboost", _catboost),
    "ExplainableBoostingClassifier": Peer("InterpretML", "interpret", _explainable_boosting),
}
