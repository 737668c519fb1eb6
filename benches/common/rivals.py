"""What rivals need to learn from columns of any kind."""

from itertools import islice
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


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
        self._models = []
        for train, test in islice(folds, self.n_bags):
            model, extra = self.make(X.iloc[test], y[test])
            self._models.append(model.fit(X.iloc[train], y[train], **extra))
        return self

    def predict_proba(self, X):
        """Return the mean of the probabilities of both classes."""
        return np.mean([model.predict_proba(X) for model in self._models], axis=0)


def score_of(model, X):
    """Score rows, higher first."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]


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
