"""Models of other packages, and what they need to learn from columns of any kind."""

import importlib.metadata
import importlib.util
from itertools import islice
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benches.common.data import is_category


def is_installed(module):
    """Whether a module can be imported, without importing it."""
    package = module.split(".")[0]
    return bool(importlib.util.find_spec(package) and importlib.util.find_spec(module))


def version_of(module):
    """Return the version of an installed package, by a module of it."""
    packages = importlib.metadata.packages_distributions().get(module)
    # A checkout on the path is not installed as a package.
    return (
        importlib.metadata.version(packages[0])
        if packages
        else importlib.import_module(module).__version__
    )


def one_hot(numbers="passthrough"):
    """Return a transformer that makes columns of categories one-hot."""
    return make_column_transformer(
        (
            OneHotEncoder(handle_unknown="ignore", sparse_output=False),
            make_column_selector(dtype_exclude="number"),
        ),
        remainder=numbers,
    )


def of_columns(model, *, scaled=False):
    """Return a pipeline that takes columns of any kind with missing values."""
    numbers = [SimpleImputer(strategy="median"), *([StandardScaler()] if scaled else [])]
    return make_pipeline(one_hot(make_pipeline(*numbers)), model)


class StoppedBags:
    """Models that stop early, each by the fold that it has not seen; their mean.

    `make` returns an unfitted model and what its `fit` takes besides rows and labels, given
    the rows and labels to stop by. With one bag, a tenth is held out.
    """

    def __init__(self, make, n_bags=5):
        self.make = make
        self.n_bags = n_bags

    def fit(self, X, y):
        """Learn from rows and 0/1 labels."""
        n_folds = self.n_bags if self.n_bags > 1 else 10
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=1).split(X, y)
        self.models_ = []
        for train, test in islice(folds, self.n_bags):
            model, extra = self.make(_rows(X, test), y[test])
            self.models_.append(model.fit(_rows(X, train), y[train], **extra))
        return self

    def predict_proba(self, X):
        """Return the mean of the probabilities of both classes."""
        return np.mean([model.predict_proba(X) for model in self.models_], axis=0)


def _rows(X, places):
    return X.iloc[places] if isinstance(X, pd.DataFrame) else X[places]


def score_of(model, X):
    """Score rows, higher first."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]


def lightgbm(n_threads=2):
    """LightGBM, 300 trees."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=300, n_jobs=n_threads, verbose=-1)


def catboost(n_threads=2):
    """CatBoost, by its defaults."""
    from catboost import CatBoostClassifier

    return CatBoostClassifier(verbose=False, thread_count=n_threads, allow_writing_files=False)


def stopped_lightgbm(X_val, y_val, n_threads=2):
    """LightGBM with small steps, to be ended by some rows."""
    from lightgbm import early_stopping

    model = lightgbm(n_threads).set_params(n_estimators=4000, learning_rate=0.05)
    stop = early_stopping(50, verbose=False)
    return model, {"eval_set": [(X_val, y_val)], "eval_metric": "logloss", "callbacks": [stop]}


def stopped_xgboost(X_val, y_val, n_threads=2):
    """XGBoost with small steps, to be ended by some rows."""
    from xgboost import XGBClassifier

    model = XGBClassifier(
        n_estimators=4000,
        learning_rate=0.05,
        early_stopping_rounds=50,
        enable_categorical=True,
        n_jobs=n_threads,
    )
    return model, {"eval_set": [(X_val, y_val)], "verbose": False}


def stopped_catboost(X_val, y_val, n_threads=2):
    """CatBoost with its own rate, to be ended by some rows."""
    model = catboost(n_threads).set_params(n_estimators=4000, early_stopping_rounds=50)
    if isinstance(X_val, pd.DataFrame):
        model.set_params(cat_features=[name for name in X_val if is_category(X_val[name])])
    return model, {"eval_set": (X_val, y_val)}


def equal_booster(package, n_rounds, n_leaves, n_threads):
    """Return an unfitted booster whose work is that of all others: so many trees of so many leaves.

    The rate is 0.1, leaf values are not shrunk, and a leaf has 20 rows: where its slopes are summed
    instead, they are those of 20 rows whose odds are even.
    """
    if package == "lightgbm":
        return lightgbm(n_threads).set_params(n_estimators=n_rounds, num_leaves=n_leaves)
    params = {
        "n_estimators": n_rounds,
        "learning_rate": 0.1,
        "grow_policy": "lossguide",
        "max_leaves": n_leaves,
        "max_depth": 0,
        "tree_method": "hist",
        "min_child_weight": 5,
        "reg_lambda": 0,
        "n_jobs": n_threads,
    }
    if package == "xgboost":
        from xgboost import XGBClassifier

        return XGBClassifier(**params)
    from hessboost.sklearn import HessboostClassifier

    return HessboostClassifier(**params)


def ebm(n_threads=2, **params):
    """Explainable boosting machine, by its defaults."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(random_state=0, n_jobs=n_threads, **params)


class OptbinningCard(ClassifierMixin, BaseEstimator):
    """A card of the package `optbinning` by its defaults, with logistic regression."""

    def fit(self, X, y):
        """Learn from a frame and 0/1 labels."""
        from optbinning import BinningProcess, Scorecard

        self.classes_ = np.unique(y)
        names = list(X.columns)
        categories = list(X.select_dtypes(exclude="number").columns)
        binning = BinningProcess(names, categorical_variables=categories)
        model = LogisticRegression(max_iter=2000)
        self.card_ = Scorecard(binning_process=binning, estimator=model)
        self.card_.fit(X.astype(dict.fromkeys(categories, object)), y)
        return self

    def predict_proba(self, X):
        """Return the probabilities of both classes."""
        categories = X.select_dtypes(exclude="number").columns
        return self.card_.predict_proba(X.astype(dict.fromkeys(categories, object)))


class Prepared(ClassifierMixin, BaseEstimator):
    """Logistic regression on columns as LinearRanker takes them, prepared with pandas."""

    def __init__(self, thresholds=None):
        self.thresholds = thresholds

    def fit(self, X, y):
        n = len(X)
        n_steps = {None: 0, "auto": min(24, max(4, n // 60))}.get(self.thresholds, self.thresholds)
        self._columns = []
        for name in X:
            column = X[name]
            if not pd.api.types.is_numeric_dtype(column):
                counts = column.value_counts()
                self._columns.append((name, list(counts[counts >= max(3, 0.002 * n)].index)))
                continue
            values = column.to_numpy(np.float64, na_value=np.nan)
            mean, deviation = np.nanmean(values), np.nanstd(values) or 1.0
            cuts = np.unique(np.nanquantile(values, np.arange(1, n_steps + 1) / (n_steps + 1)))
            self._columns.append((name, (mean, deviation, cuts[cuts > np.nanmin(values)])))
        self._model = LogisticRegression(C=0.1, max_iter=1000).fit(self._design(X), y)
        self.classes_ = self._model.classes_
        return self

    def decision_function(self, X):
        return self._model.decision_function(self._design(X))

    def _design(self, X):
        parts = []
        for name, kind in self._columns:
            column = X[name]
            if isinstance(kind, list):
                parts += [(column == level).to_numpy() for level in kind]
                parts.append(~column.isin(kind).to_numpy())
                continue
            mean, deviation, cuts = kind
            values = column.to_numpy(np.float64, na_value=np.nan)
            known = ~np.isnan(values)
            z = (np.where(known, values, mean) - mean) / deviation
            parts += [np.clip(z, -6, 6), ~known]
            parts += [0.5 * (values >= cut) for cut in cuts]
        return np.column_stack(parts).astype(np.float64)


class Hessboost:
    """Its trees, 300 of small steps."""

    def fit(self, X, y):
        """Learn from rows and 0/1 labels."""
        import hessboost

        self._levels = {name: X[name].dtype for name in X.select_dtypes("category")}
        params = {"objective": "binary:logistic", "eta": 0.05, "nthread": 2, "seed": 0}
        self._booster = hessboost.train(params, hessboost.DMatrix(X, label=y), 300)
        return self

    def predict_proba(self, X):
        """Return the probabilities of both classes."""
        import hessboost

        found = self._booster.predict(hessboost.DMatrix(X.astype(self._levels)))
        return np.column_stack([1 - found, found])


class AutoGluon:
    """Its `TabularPredictor` with the preset of the best quality and a time limit in seconds."""

    def __init__(self, time_limit=120, presets="best_quality_v150"):
        self.time_limit = time_limit
        self.presets = presets

    def fit(self, X, y):
        """Learn to rank rows by the AUC."""
        from autogluon.tabular import TabularPredictor

        # Its models lie in a folder, which goes with this object.
        self._folder = TemporaryDirectory()
        self._predictor = TabularPredictor(
            label="target",
            problem_type="binary",
            eval_metric="roc_auc",
            path=self._folder.name,
            verbosity=0,
        ).fit(X.assign(target=y), presets=self.presets, time_limit=self.time_limit)
        return self

    def predict_proba(self, X):
        """Return the probabilities of both classes."""
        return self._predictor.predict_proba(X).to_numpy()
