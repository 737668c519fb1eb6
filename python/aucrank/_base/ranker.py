"""Base of every ranker: scores and labels from a core model."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.batch_scores import scored_batches, write_scores
from aucrank._base.core_estimator import CoreEstimator
from aucrank._base.exports import ExportMixin
from aucrank._data.data_files import PathLike
from aucrank._data.labels import match_labels
from aucrank._data.schema import Schema
from aucrank._data.scores import of_two_classes
from aucrank._utils.params import check_bool
from aucrank.data import Dataset


class AucScoreMixin:
    """Mixin for classifiers that score rows, with the AUC as their ``score``; stands first."""

    classes_: NDArray[Any]

    if TYPE_CHECKING:

        def decision_function(self, X: Any) -> NDArray[np.float64]:
            """Score rows."""

    def decision_function_batches(self, dataset: Dataset) -> Iterator[NDArray[np.float64]]:
        """Score the rows of a data set, one batch at a time.

        Parameters
        ----------
        dataset : Dataset
            Any number of rows. The columns seen in fit are read by name; if the fit saw no names,
            all columns of the data set.

        Returns
        -------
        iterator of ndarray of float64
            Result of `decision_function` for consecutive batches of rows, in order.

        Raises
        ------
        DataChangedError
            If the data change during reading.
        NotFittedError
            If the estimator is not fitted.
        TypeError
            If ``dataset`` is not a `Dataset`.
        ValueError
            If a column does not exist, or rows are not valid; the message gives their place.

        Examples
        --------
        >>> from aucrank import TreeRank
        >>> from aucrank.data import Dataset
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = TreeRank(random_state=0).fit(X, y)
        >>> dataset = Dataset.from_batches(X, chunk_rows=200)
        >>> [len(scores) for scores in model.decision_function_batches(dataset)]
        [200, 200, 169]
        """
        check_is_fitted(self)
        return (scores for _, _, scores in scored_batches(self, dataset))

    def write_scores(
        self,
        dataset: Dataset,
        path: PathLike,
        *,
        columns: Sequence[str] | None = None,
        proba: bool = False,
    ) -> int:
        """Score the rows of a data set, and write the scores to a file, one batch at a time.

        The file is written atomically. It has the named columns, in this order, and ``score``.

        Parameters
        ----------
        dataset : Dataset
            Any number of rows, as for `decision_function_batches`.
        path : path-like
            Where to write; the name ends in .parquet, .pq, .csv or .csv.gz.
        columns : sequence of str, default=None
            Columns of the data set to write before the scores, such as an identifier of the rows.
        proba : bool, default=False
            Whether to add ``probability``, that of ``classes_[1]`` as in `predict_proba`.

        Returns
        -------
        int
            Number of rows.

        Raises
        ------
        DataChangedError
            If the data change during reading.
        ImportError
            If pyarrow is not installed.
        NotFittedError
            If the estimator is not fitted.
        OSError
            If the file cannot be written, such as on a full disk.
        TypeError
            If ``dataset`` is not a `Dataset`.
        ValueError
            If a column does not exist, rows are not valid, or the file name has another ending.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from aucrank import TreeRank
        >>> from aucrank.data import Dataset
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = TreeRank(random_state=0).fit(X, y)
        >>> with TemporaryDirectory() as folder:
        ...     model.write_scores(Dataset.from_batches(X), f"{folder}/scores.parquet")
        569
        """
        check_is_fitted(self)
        check_bool(proba, "proba")
        if proba and not hasattr(self, "predict_proba"):
            raise ValueError(f"this {type(self).__name__} has no predict_proba: leave proba out")
        return write_scores(self, dataset, path, columns or (), proba=proba)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the area under the ROC curve on the given rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
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


class BaseRanker(AucScoreMixin, ExportMixin, ClassifierMixin, CoreEstimator):
    """Base of all rankers: two classes in, a score out.

    A subclass writes what `CoreEstimator` asks for, around a model that scores.
    """

    _takes_sparse = True

    _model: _core.Model
    _schema: Schema

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score rows: the higher, the more likely positive.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the columns seen in fit. A category not seen in fit counts as missing.

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
        X : array-like, sparse matrix or data frame of shape (n, n_features)
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
    """Mixin for rankers whose core model has ``probability(columns, n_threads)``; stands first."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Columns in the order of ``classes_``; the second is above 1/2 exactly where `predict`
            is positive.
        """
        positive: NDArray[np.float64] = self._query("probability", X)  # type: ignore[attr-defined]
        return np.column_stack((1 - positive, positive))
