"""What every ranker is built on: scores and labels from a core model."""

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from aucrank import _core
from aucrank._base.core_estimator import CoreEstimator, CoreModel
from aucrank._data.input import Columns
from aucrank._data.labels import match_labels
from aucrank._data.scores import of_two_classes


class RankerModel(CoreModel, Protocol):
    """What `BaseRanker` asks of a model object of the core."""

    def score(self, columns: Columns, n_threads: int) -> NDArray[np.float64]:
        """Score rows; above 0 is positive.

        Parameters
        ----------
        columns : ndarray of shape (n, n_features), or list of ndarray of shape (n,)
            The rows, as the core takes them.
        n_threads : int
            At least 1.

        Returns
        -------
        ndarray of float64, shape (n,)
            One score a row.
        """


class AucScoreMixin:
    """For classifiers that score rows: what they are judged by is the AUC; stands first."""

    classes_: NDArray[Any]

    if TYPE_CHECKING:

        def decision_function(self, X: Any) -> NDArray[np.float64]:
            """Score rows."""

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the area under the ROC curve on the given rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.
        y : array-like of shape (n,)
            Their labels; both classes must occur.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row.

        Returns
        -------
        float
            AUC, from 0 to 1; ties count one half.
        """
        scores = self.decision_function(X)
        positive = match_labels(y, self.classes_)
        return of_two_classes(_core.roc_auc, positive, scores, sample_weight)


class BaseRanker(AucScoreMixin, ClassifierMixin, CoreEstimator):
    """Base of all rankers: two classes in, a score out.

    A subclass writes what `CoreEstimator` asks for, around a model that scores.
    """

    _model: RankerModel

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score rows: the higher, the more likely positive.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit. A category that was not seen there is missing.

        Returns
        -------
        ndarray of float64, shape (n,)
            Scores; `predict` calls those above 0 positive.
        """
        scores: NDArray[np.float64] = self._query("score", X)
        return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Label rows by the sign of their score.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of shape (n,)
            ``classes_[1]`` where `decision_function` is above 0, ``classes_[0]`` elsewhere.
        """
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Set again: the tags of `ClassifierMixin` replace those of `CoreEstimator`.
        tags.classifier_tags.multi_class = False
        return tags


class ProbabilityMixin:
    """For rankers whose core model has ``probability(columns, n_threads)``; stands first."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Columns in the order of ``classes_``; the second is above 1/2 exactly where `predict`
            is positive.
        """
        positive: NDArray[np.float64] = self._query("probability", X)  # type: ignore[attr-defined]
        return np.column_stack((1 - positive, positive))
