"""Rankers and their AUC in MLflow.

A ranker is logged as the file of its ``save``, which holds no code, and as a model of
``mlflow.pyfunc`` that returns scores, where one of ``mlflow.sklearn`` returns labels.
"""

from aucrank.mlflow._autolog import autolog
from aucrank.mlflow._models import _load_pyfunc as _load_pyfunc  # which MLflow looks up here
from aucrank.mlflow._models import log_auc, log_model, save_model

__all__ = ["autolog", "log_auc", "log_model", "save_model"]
