"""What every ranker is built on: scores and labels from a core model."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.core_estimator import CoreEstimator
from aucrank._data.labels import match_labels
from aucrank._data.scores import of_two_classes
from aucrank._export.sql import Dialect, sql_of


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

    _model: _core.Model

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

    def to_sql(self, dialect: Dialect = "ansi") -> str:
        """Return a SQL expression that scores a row as `decision_function` does.

        Parameters
        ----------
        dialect : {"ansi", "mysql", "bigquery", "snowflake", "tsql"}, default="ansi"
            How names and strings are quoted; "ansi" serves sqlite, duckdb, PostgreSQL and Oracle,
            "mysql" MariaDB, too. Categories are compared as the database compares strings: one
            whose collation ignores case or accents takes those that differ only so for one.

        Returns
        -------
        str
            An expression over the columns of the fit (``x0``, ``x1``, ... where they had no
            names), without a trailing semicolon. NULL is a missing value; a category that was not
            seen in fit counts as missing. NaN is not NULL to a database: store it as NULL. Of
            branching programs it holds nested queries, which MariaDB and Oracle do not take.

        Raises
        ------
        NotFittedError
            If there is no model yet.
        ValueError
            If a part of the model has no form in SQL, such as a split by a classifier of your own;
            if the dialect is unknown, or has no way to write a name or a category, such as an empty
            name or NUL.

        Notes
        -----
        Terms are added in the order in which the model adds them, and most sums are exact, so that
        a database that computes in double precision, as sqlite and duckdb do, gives the very
        doubles of `decision_function`. A linear score needs columns of a floating type: what
        databases make of weights times decimals differs.

        Examples
        --------
        >>> from aucrank import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
        >>> print(RankBoost(n_rounds=1).fit(X, y).to_sql())
        CASE
          WHEN "x0" IS NULL THEN 0.2746530722361058e0
          WHEN "x0" < 3.5 THEN 0
          ELSE 0.549306144239381e0 END
        - 0.2746530721196905e0
        """
        check_is_fitted(self)
        return sql_of(self._model, type(self).__name__, self._schema, dialect)

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
