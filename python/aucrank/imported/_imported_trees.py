"""ImportedTrees: a model of another library as a fitted ranker."""

import json
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.summary import Section, less
from aucrank._utils.numbers import rounded
from aucrank._utils.words import plural
from aucrank.imported._imported_ranker import ImportedRanker


class ImportedTrees(ImportedRanker):
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

    def _link_of_scores(self) -> Any:
        return self._sum["link"]

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
        text += self._said_of_probabilities()
        return [Section("Score", text)]

    def _size(self) -> str:
        of_trees = plural(self.n_trees_, "tree")
        return f"{of_trees}, {plural(self.n_leaves_, 'leaf', 'leaves')}"
