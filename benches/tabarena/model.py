"""GradientBoostingRanker as a model of AutoGluon, and so of TabArena.

This file needs `aucrank` and AutoGluon alone: in a checkout of TabArena it is
`models/aucrank/model.py` as it stands.
"""

import time

import numpy as np
from autogluon.core.constants import BINARY, MULTICLASS
from autogluon.core.models import AbstractModel
from autogluon.core.utils.exceptions import TimeLimitExceeded

#: Share of the time limit that fits may take; the rest is for what follows them.
_SHARE_OF_TIME = 0.95

#: Upper bounds by `python -m benches.tabarena.memory`: of a process that has imported AutoGluon and
#: aucrank; of a value (rows times columns), the rows themselves included; of the sums and bins of a
#: column; of the trees of a ranker.
_BYTES_OF_PROCESS = 300_000_000
_BYTES_OF_VALUE = 32
_BYTES_OF_COLUMN = 64_000
_BYTES_OF_RANKER = 10_000_000


class AucrankModel(AbstractModel):
    """Gradient boosting of small trees that ranks by the AUC: GradientBoostingRanker of aucrank.

    Trees have random cuts, categories and missing values enter as they are, and the validation
    rows choose the number of rounds, the size of the trees and whether pairs of categories are
    used. Hyperparameters are those of the estimator. With more than two classes, there is a ranker
    of each against the rest, and their probabilities are divided by their sum.

    Codebase: https://github.com/aucrank/aucrank

    License: MIT or Apache-2.0
    """

    ag_key = "TA-AUCRANK"
    ag_name = "TA-Aucrank"
    ag_priority = 65
    seed_name = "random_state"
    _supported_problem_types = [BINARY, MULTICLASS]  # noqa: RUF012, AutoGluon reads a list
    _default_auxiliary_params_extra = {  # noqa: RUF012, AutoGluon reads a dict
        "valid_raw_types": ["bool", "int", "float", "category"],
    }
    default_resources_physical_cores_only = True

    #: Whether validation rows choose the number of rounds.
    _stops_by_validation = True

    def _make_ranker(self, params):
        """Return an unfitted ranker; the import is here, since listing models must not need it."""
        from aucrank import GradientBoostingRanker

        return GradientBoostingRanker(**params)

    def _fit(
        self,
        X,
        y,
        X_val=None,
        y_val=None,
        time_limit=None,
        num_cpus=1,
        sample_weight=None,
        sample_weight_val=None,
        **kwargs,
    ):
        start = time.time()
        if self.problem_type not in self._supported_problem_types:
            raise ValueError(
                f"aucrank separates classes: problem_type must be 'binary' or 'multiclass', got"
                f" {self.problem_type!r}"
            )
        rows = self.preprocess(X, is_train=True), np.asarray(y), sample_weight
        rows_val = None
        if X_val is not None and self._stops_by_validation:
            rows_val = self.preprocess(X_val), np.asarray(y_val), sample_weight_val
        # Labels are 0, 1, ...: one ranker separates two classes.
        classes = range(self.num_classes) if self._has_many_classes else [1]
        self.model = []
        for place, label in enumerate(classes):
            params = self._get_model_params() | {"n_jobs": num_cpus}
            if time_limit is not None:
                left = _SHARE_OF_TIME * time_limit - (time.time() - start)
                if left <= 0:
                    raise TimeLimitExceeded
                params["time_limit"] = left / (len(classes) - place)
            ranker = self._make_ranker(params)
            self.model.append(_fit_to_class(ranker, label, rows, rows_val))

    @property
    def _has_many_classes(self):
        return self.problem_type == MULTICLASS and self.num_classes > 2

    def _predict_proba(self, X, **kwargs):
        X = self.preprocess(X, **kwargs)
        found = np.zeros((len(X), len(self.model)))
        for place, ranker in enumerate(self.model):
            if ranker is not None:
                found[:, place] = ranker.predict_proba(X)[:, 1]
        if not self._has_many_classes:
            found = np.column_stack([1 - found[:, 0], found[:, 0]])
        else:
            found /= found.sum(axis=1, keepdims=True)
        return self._convert_proba_to_unified_form(found)

    @classmethod
    def warmup(cls, **kwargs):
        """Import what a fit needs, before its time is measured."""
        import aucrank  # noqa: F401

    @classmethod
    def _estimate_memory_usage_static(cls, *, X, num_classes=2, **kwargs):
        n_rows, n_columns = X.shape
        n_rankers = num_classes if num_classes and num_classes > 2 else 1
        return (
            _BYTES_OF_PROCESS
            + n_columns * (n_rows * _BYTES_OF_VALUE + _BYTES_OF_COLUMN)
            + n_rankers * _BYTES_OF_RANKER
        )

    def _more_tags(self):
        # Without validation rows the number of rounds is chosen by other rows, so that a bag
        # refitted to all rows would be another model.
        return {"can_refit_full": False}


def _fit_to_class(ranker, label, rows, rows_val):
    """Return a ranker of a class against the rest; None for a class without rows.

    Rows are columns, labels and weights.
    """
    X, labels, weight = rows
    positive = labels == label
    if not positive.any():
        return None
    if rows_val is None:
        return ranker.fit(X, positive, weight)
    X_val, labels_val, weight_val = rows_val
    positive_val = labels_val == label
    # Rows of one class cannot choose the number of rounds: then the ranker deals its own folds.
    if positive_val.all() or not positive_val.any():
        return ranker.fit(X, positive, weight)
    return ranker.fit(
        X, positive, weight, X_val=X_val, y_val=positive_val, sample_weight_val=weight_val
    )
