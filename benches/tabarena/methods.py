"""Models that are compared as TabArena does: AutoGluon's classes, or adapters of the same base."""

import numpy as np
from autogluon.core.models import AbstractModel

from benches.common.rivals import is_installed
from benches.tabarena.model import AucrankModel


class AucrankEnsembleModel(AucrankModel):
    """RankingEnsemble, which deals the rows of a fit into its own folds.

    Validation rows are left out: TabArena has this for systems, not for models, so that this is
    for comparison only.
    """

    ag_key = "AUCRANK_ENSEMBLE"
    ag_name = "AucrankEnsemble"
    _stops_by_validation = False

    def _make_ranker(self, params):
        from aucrank import RankingEnsemble

        return RankingEnsemble(**params)


class AucrankFoldsModel(AucrankModel):
    """GradientBoostingRanker by its defaults, which deals the rows of a fit into its own folds."""

    ag_key = "AUCRANK_FOLDS"
    ag_name = "AucrankFolds"
    _stops_by_validation = False


class HessboostModel(AbstractModel):
    """Hessboost with small steps, ended by the validation rows; two classes."""

    ag_key = "HESSBOOST"
    ag_name = "Hessboost"
    seed_name = "random_state"
    _supported_problem_types = ["binary"]  # noqa: RUF012, AutoGluon reads a list
    _default_auxiliary_params_extra = {  # noqa: RUF012, AutoGluon reads a dict
        "valid_raw_types": ["bool", "int", "float", "category"],
    }

    def _set_default_params(self):
        defaults = {"n_estimators": 4000, "learning_rate": 0.05, "early_stopping_rounds": 50}
        for name, value in defaults.items():
            self._set_default_param_value(name, value)

    def _fit(self, X, y, X_val=None, y_val=None, num_cpus=1, **kwargs):
        from hessboost.sklearn import HessboostClassifier

        X = self.preprocess(X)
        self.model = HessboostClassifier(n_jobs=num_cpus, **self._get_model_params())
        self.model.fit(X, np.asarray(y), eval_set=[(self.preprocess(X_val), np.asarray(y_val))])


def _of_autogluon(name):
    import autogluon.tabular.models

    return getattr(autogluon.tabular.models, name)


def _chimeraboost():
    from tabarena.models.chimeraboost.model import ChimeraBoostModel

    return ChimeraBoostModel


#: Methods by name: the module that each needs, and a function that returns its class.
METHODS = {
    "aucrank": ("aucrank", lambda: AucrankModel),
    "aucrank, ensemble": ("aucrank", lambda: AucrankEnsembleModel),
    "LightGBM": ("lightgbm", lambda: _of_autogluon("LGBModel")),
    "XGBoost": ("xgboost", lambda: _of_autogluon("XGBoostModel")),
    "CatBoost": ("catboost", lambda: _of_autogluon("CatBoostModel")),
    "EBM": ("interpret", lambda: _of_autogluon("EBMModel")),
    "ChimeraBoost": ("chimeraboost", _chimeraboost),
    "hessboost": ("hessboost", lambda: HessboostModel),
    # Not by default: what the protocol costs the booster.
    "aucrank, own folds": ("aucrank", lambda: AucrankFoldsModel),
}

#: What is compared unless methods are named.
DEFAULT = [name for name in METHODS if name != "aucrank, own folds"]


def installed(names):
    """Return those methods whose packages are installed."""
    return [name for name in names if is_installed(METHODS[name][0])]


def class_of(name):
    """Return the model class of a method."""
    return METHODS[name][1]()
