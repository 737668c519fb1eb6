"""ImportedTrees: a model of another library as a fitted ranker."""

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.made_ranker import MadeRanker
from aucrank._base.summary import Section, less
from aucrank._data.schema import Feature, Schema
from aucrank._export.formula import Logistic, Product
from aucrank._export.links import AboveHalf, Link, LogOdds, OwnFormula
from aucrank._utils.numbers import rounded
from aucrank._utils.words import plural


def _has_probability(ranker: "ImportedTrees") -> bool:
    """Return whether scores have probabilities, which an unfitted ranker may turn out to have."""
    return not ranker.__sklearn_is_fitted__() or ranker._sum["link"] != "none"


class ImportedTrees(MadeRanker):
    """A sum of trees that another library has learned.

    It comes from `from_lightgbm`, `from_xgboost`, `from_catboost` or `from_sklearn`, is fitted, and
    scores, explains and exports like any ranker of aucrank. Its scores are those of the other
    library to the last bit.

    Parameters
    ----------
    source : str, default=""
        What the model was before, such as "LightGBM 4.7.0, binary". It does not affect scores.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. Scores do not depend on it.

    Attributes
    ----------
    n_trees_ : int
        Number of trees.
    n_leaves_ : int
        Number of leaves of all trees.
    classes_ : ndarray of shape (2,)
        The two labels; the second is the class that ranks first.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they have any.

    See Also
    --------
    from_lightgbm : From LightGBM, also from its text file.
    from_xgboost : From XGBoost, also from its JSON and UBJSON files.
    from_catboost : From CatBoost, also from its JSON file.
    from_sklearn : From trees, forests and boosting of scikit-learn.

    Notes
    -----
    A category that the other library has not seen is a missing value here; so it is in all of these
    libraries, or they raise an error.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from aucrank import from_sklearn
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> theirs = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, y)
    >>> ours = from_sklearn(theirs)
    >>> ours.n_trees_
    20
    >>> bool((ours.decision_function(X) == theirs.decision_function(X)).all())
    True
    """

    _family: ClassVar[str] = "imported_trees"
    _refusal = (
        "an ImportedTrees holds a model that another library has fitted: fit it there and"
        " import it again, or fit a GradientBoostingRanker"
    )
    _model: _core.ImportedTrees

    def __init__(self, *, source: str = "", n_jobs: int | None = None) -> None:
        self.source = source
        self.n_jobs = n_jobs

    @property
    def _fitted_model(self) -> _core.ImportedTrees:
        check_is_fitted(self)
        return self._model

    @property
    def _sum(self) -> dict[str, Any]:
        """Return how the trees are summed."""
        found: dict[str, Any] = json.loads(self._fitted_model.sum())
        return found

    @property
    def n_trees_(self) -> int:
        """Return the number of trees.

        Returns
        -------
        int
            At least 0.
        """
        return self._fitted_model.n_trees

    @property
    def n_leaves_(self) -> int:
        """Return the number of leaves of all trees.

        Returns
        -------
        int
            At least one for each tree.
        """
        return self._fitted_model.n_leaves

    @available_if(_has_probability)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class, as the other library does.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the columns of the model.

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Columns in the order of ``classes_``; the second is above 1/2 exactly where `predict`
            is positive.
        """
        return super().predict_proba(X)

    def _link(self) -> Link | None:
        match self._sum["link"]:
            case "above_half":
                return AboveHalf()
            case {"log_odds": 1.0}:
                return LogOdds()
            case {"log_odds": slope}:
                return OwnFormula(Logistic(Product(slope, self._score_formula())))
        return None

    def _summary(self) -> list[Section]:
        how = self._sum
        text = f"score: the sum of {self._size()}, added one by one"
        text += " in single precision" if how["is_single"] else " in double precision"
        if how["start"]:
            text += f", from {rounded(how['start'])} on"
        if how["divisor"] != 1.0:
            text += f", divided by {rounded(how['divisor'])}"
        if how["factor"] != 1.0:
            text += f", times {rounded(how['factor'])}"
        if how["offset"]:
            text += less(-how["offset"])
        match how["link"]:
            case "none":
                text += "; it ranks, and has no probability"
            case "above_half":
                text += ": the probability, less one half"
            case {"log_odds": slope}:
                text += (
                    "; in log-odds" if slope == 1.0 else f"; log-odds are {rounded(slope)} of it"
                )
        return [Section("Score", text)]

    def _size(self) -> str:
        of_trees = plural(self.n_trees_, "tree")
        return f"{of_trees}, {plural(self.n_leaves_, 'leaf', 'leaves')}"


def imported(
    model: _core.ImportedTrees,
    features: Sequence[Feature],
    source: str,
    classes: ArrayLike | None = None,
) -> ImportedTrees:
    """Return a fitted ranker around a model of the core.

    Parameters
    ----------
    model : _core.ImportedTrees
        The model.
    features : sequence of Feature
        Its columns.
    source : str
        What it was before.
    classes : array-like of shape (2,) or None
        Its labels; None for 0 and 1.
    """
    ranker = ImportedTrees(source=source)
    labels = np.array([0, 1] if classes is None else classes)
    ranker._set_fitted(labels, Schema(tuple(features)), model)
    return ranker
