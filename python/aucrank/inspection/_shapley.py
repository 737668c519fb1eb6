"""What features, and pairs of them, add to the score of a row, of rankers of any sum of trees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank._base.core_estimator import CoreEstimator
from aucrank._data.as_frame import as_frame
from aucrank._data.input import count_rows, read_columns
from aucrank._data.schema import errors_by_name
from aucrank._data.table import Table
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.threads import effective_n_threads


@dataclass(frozen=True, eq=False)
class ShapleyValues:
    """Shapley values of rows, as :func:`shapley_values` returns them.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_features)
        What each feature adds to the score of each row, compared with the background.
    base_score : float
        Mean score of the background. With it the values of a row add up to its score.
    feature_names : ndarray of shape (n_features,)
        Names of the features, or ``x0``, ``x1`` and so on.
    """

    values: NDArray[np.float64]
    base_score: float
    feature_names: NDArray[Any]

    def of_row(self, row: int) -> Table:
        """Return the values of a row, the greatest in size first.

        Parameters
        ----------
        row : int
            Position of the row.

        Returns
        -------
        Table
            Columns ``feature`` and ``value``.
        """
        own = self.values[row]
        order = np.argsort(-np.abs(own), kind="stable")
        return Table(feature=self.feature_names[order], value=own[order])


@dataclass(frozen=True, eq=False)
class ShapleyInteractions:
    """Shapley interaction values of rows, as :func:`shapley_interactions` returns them.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_features, n_features)
        What two features add to the score of each row beyond what each of them adds, one half at
        either place; on the diagonal, what a feature adds without any other. Those of a feature add
        up to its Shapley value.
    base_score : float
        Mean score of the background. With it the values of a row add up to its score.
    feature_names : ndarray of shape (n_features,)
        Names of the features, or ``x0``, ``x1`` and so on.
    """

    values: NDArray[np.float64]
    base_score: float
    feature_names: NDArray[Any]

    def of_row(self, row: int) -> Table:
        """Return the values of a row, the greatest in size first.

        Parameters
        ----------
        row : int
            Position of the row.

        Returns
        -------
        Table
            Columns ``feature_1``, ``feature_2`` and ``value``. A pair has one line, with both
            halves of its value; what a feature adds without any other has its name in both columns.
            Values of 0 are left out, and the others add up to the score less ``base_score``.
        """
        own = self.values[row]
        first, second = np.triu_indices(len(own))
        both = own[first, second] * np.where(first == second, 1.0, 2.0)
        order = np.argsort(-np.abs(both), kind="stable")
        order = order[both[order] != 0]
        names = self.feature_names
        return Table(
            feature_1=names[first[order]], feature_2=names[second[order]], value=both[order]
        )


@suggests_keywords
def shapley_values(ranker: Any, X: Any, background: Any) -> ShapleyValues:
    """Exact Shapley values of the scores of rows.

    They explain single rows of any ranker whose score is a sum of trees and of functions of single
    features, however many features a tree tests: ensembles, boosters, forests, trees.

    Parameters
    ----------
    ranker : estimator
        A fitted ranker of this package.
    X : array-like or data frame of shape (n_rows, n_features)
        Rows to explain.
    background : array-like or data frame of shape (n_background, n_features)
        Rows to compare them with, such as a random sample of the training rows, or those that were
        accepted. The time grows with their number: 100 are usually enough.

    Returns
    -------
    ShapleyValues
        With ``values`` and ``base_score``.

    Raises
    ------
    NotFittedError
        If the ranker is not fitted.
    TypeError
        If it is not a ranker of this package.
    ValueError
        If its score is no such sum, as those of RIMARC (a quotient) and of an ensemble with members
        of other packages; if there are no background rows; or if columns are not those of the fit.

    See Also
    --------
    shapley_interactions : The same, split among pairs of features.
    RankingEnsemble.distill : A readable ranker in place of an ensemble.
    GradientBoostingRanker.explain : Contributions without a background, where trees test one
        feature or two.

    Notes
    -----
    The value of a set of features is the mean score of the row with its other features replaced by
    those of a background row [1]_. A feature has the mean, over all orders of the features, of what
    it adds to those before it. Nothing is sampled: each tree is walked once for each pair of a row
    and a background row. Replaced values make rows that may not exist where features are
    correlated.

    For another model, or other packages' members, ``shap.PermutationExplainer`` approximates the
    same values from ``decision_function``.

    References
    ----------
    .. [1] Lundberg et al., "From local explanations to global understanding with explainable AI for
       trees", Nature Machine Intelligence 2, 2020. :doi:`10.1038/s42256-019-0138-9`

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank import RankingEnsemble
    >>> from aucrank.datasets import load_breast_cancer
    >>> from aucrank.inspection import shapley_values
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RankingEnsemble(presets="fast", n_folds=2, random_state=0).fit(X, y)
    >>> found = shapley_values(model, X[:3], X[::20])
    >>> sums = found.base_score + found.values.sum(axis=1)
    >>> bool(np.allclose(sums, model.decision_function(X[:3]), rtol=0, atol=1e-9))
    True
    """
    values, base, names = _against(ranker, X, background, "shapley_values")
    return ShapleyValues(values.reshape(-1, len(names)), base, names)


@suggests_keywords
def shapley_interactions(ranker: Any, X: Any, background: Any) -> ShapleyInteractions:
    """Exact Shapley interaction values of the scores of rows.

    They split the Shapley value of a feature into what it adds without any other, and what it adds
    together with each other feature.

    Parameters
    ----------
    ranker : estimator
        A fitted ranker of this package.
    X : array-like or data frame of shape (n_rows, n_features)
        Rows to explain. The values take ``8 * n_rows * n_features**2`` bytes: explain many rows of
        many features in batches.
    background : array-like or data frame of shape (n_background, n_features)
        Rows to compare them with, as for :func:`shapley_values`.

    Returns
    -------
    ShapleyInteractions
        With ``values`` and ``base_score``.

    Raises
    ------
    NotFittedError
        If the ranker is not fitted.
    TypeError
        If it is not a ranker of this package.
    ValueError
        If its score is neither a sum of trees nor of functions of single features, as for
        :func:`shapley_values`; if there are no background rows; or if columns are not those of the
        fit.
    MemoryError
        If there is no room for the values.

    See Also
    --------
    shapley_values : One value for each feature.
    GradientBoostingRanker.pair_terms : Functions of two features, of rankers that are a sum of
        them.

    Notes
    -----
    The interaction of two features is the mean, over all orders of the features with these two next
    to each other, of what both add less what each of them adds alone [1]_. Half of it is in each of
    the two places of the matrix, as in the ``shap_interaction_values`` of ``shap`` [2]_, which take
    the shares of training rows on the sides of each split in place of a background. Nothing is
    sampled: each tree is walked once for each pair of a row and a background row, as for
    :func:`shapley_values`.

    References
    ----------
    .. [1] Grabisch and Roubens, "An axiomatic approach to the concept of interaction among players
       in cooperative games", International Journal of Game Theory 28, 1999.
       :doi:`10.1007/s001820050125`
    .. [2] Lundberg et al., "From local explanations to global understanding with explainable AI for
       trees", Nature Machine Intelligence 2, 2020. :doi:`10.1038/s42256-019-0138-9`

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank import GradientBoostingRanker
    >>> from aucrank.inspection import shapley_interactions, shapley_values
    >>> X = np.random.default_rng(0).integers(0, 2, size=(400, 3))
    >>> y = X[:, 0] != X[:, 1]
    >>> model = GradientBoostingRanker(n_rounds=20, random_state=0).fit(X, y)
    >>> found = shapley_interactions(model, X[:5], X)
    >>> found.of_row(0)["feature_1"][0], found.of_row(0)["feature_2"][0]
    ('x0', 'x1')
    >>> values = shapley_values(model, X[:5], X).values
    >>> bool(np.allclose(found.values.sum(axis=2), values, rtol=0, atol=1e-9))
    True
    """
    values, base, names = _against(ranker, X, background, "shapley_interactions")
    return ShapleyInteractions(values.reshape(-1, len(names), len(names)), base, names)


def _against(
    ranker: Any,
    X: Any,
    background: Any,
    what: Literal["shapley_values", "shapley_interactions"],
) -> tuple[NDArray[np.float64], float, NDArray[Any]]:
    """Return values of rows in one dimension, the mean score of the background, and the names."""
    if not isinstance(ranker, CoreEstimator):
        raise TypeError(
            f"ranker must be a fitted ranker of aucrank, got {type(ranker).__name__};"
            " shap.PermutationExplainer explains any model"
        )
    check_is_fitted(ranker)
    schema = ranker._schema
    columns, others = (read_columns(ranker, as_frame(rows), schema) for rows in (X, background))
    n_threads = effective_n_threads(getattr(ranker, "n_jobs", None))
    with errors_by_name(schema):
        values = getattr(ranker._model, what)(columns, others, n_threads)
    base = math.fsum(ranker.decision_function(background)) / count_rows(others)
    return values, base, np.array(schema.shown_names, dtype=object)
