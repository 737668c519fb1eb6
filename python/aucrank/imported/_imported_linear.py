"""ImportedLinear: a weighted sum of numbers that was fitted elsewhere, as a fitted ranker."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.summary import Section, less
from aucrank._data.table import Table
from aucrank._utils.params import check_bool, check_real
from aucrank._utils.words import plural
from aucrank.imported._imported_ranker import ImportedRanker, imported
from aucrank.imported._refusals import features_of


class ImportedLinear(ImportedRanker):
    """A weighted sum of numbers that was fitted elsewhere, such as a logistic regression.

    It comes from `from_sklearn` or `from_coefficients`, is fitted, and scores, explains and exports
    like any ranker of aucrank.

    Parameters
    ----------
    source : str, default=""
        What the model was before, such as "scikit-learn 1.8.0, LogisticRegression". It does not
        affect scores.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. Scores do not depend on it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weight of each feature.
    intercept_ : float
        Score of a row of zeros.
    classes_ : ndarray of shape (2,)
        The two labels; the second is the class that ranks first.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they have any.

    See Also
    --------
    from_sklearn : From linear classifiers of scikit-learn, and pipelines that end in one.
    from_coefficients : From the coefficients of an equation.
    LinearRanker : A linear score fitted here, with thresholds, categories and missing values.

    Notes
    -----
    The weighted numbers are added in the order of the columns, and then the intercept, in every
    export the same. A missing value is an error, as in scikit-learn: fill it in first, in a
    pipeline with `sklearn.impute.SimpleImputer`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from aucrank import from_sklearn
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X = X[["mean_radius", "mean_texture"]]
    >>> ours = from_sklearn(LogisticRegression().fit(X, y))
    >>> ours.terms()["feature"].tolist()
    ['mean_radius', 'mean_texture']
    >>> "exp" in ours.to_code("c", output="probability")
    True
    """

    _family: ClassVar[str] = "imported_linear"
    _refusal = (
        "an ImportedLinear holds a model that was fitted elsewhere: fit it there and import it"
        " again, or fit a LinearRanker"
    )
    _model: _core.ImportedLinear

    @property
    def _fitted_model(self) -> _core.ImportedLinear:
        check_is_fitted(self)
        return self._model

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Return the weight of each feature.

        Returns
        -------
        ndarray of float64, shape (n_features,)
            In the order of the columns.
        """
        return self._fitted_model.coefficients

    @property
    def intercept_(self) -> float:
        """Return the score of a row of zeros.

        Returns
        -------
        float
            Finite.
        """
        return self._fitted_model.intercept

    def terms(self) -> Table:
        """Return the weights.

        Returns
        -------
        Table
            Columns ``feature`` and ``coef``, in the order of the columns, without weights of 0.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        """
        weights = self.coef_
        is_used = weights != 0.0
        names = np.array(self._schema.shown_names, dtype=object)
        return Table(feature=names[is_used], coef=weights[is_used])

    def _link_of_scores(self) -> Any:
        return json.loads(self._fitted_model.link())

    def _summary(self) -> list[Section]:
        table = self.terms()
        text = f"score: the sum of coef times value{less(-self.intercept_)}"
        size = plural(table.n_rows, "feature")
        return [Section(f"Weights ({size})", text + self._said_of_probabilities(), table)]


def from_coefficients(
    coefficients: Mapping[str, float], *, intercept: float = 0.0, log_odds: bool = True
) -> ImportedLinear:
    """Return an equation, such as a published one, as a fitted ranker.

    Parameters
    ----------
    coefficients : mapping of str to float
        The weight of each column, by its name.
    intercept : float, default=0.0
        The constant that is added to the weighted sum.
    log_odds : bool, default=True
        Whether the sum is the log-odds of the positive class, as in a logistic regression, so that
        there are probabilities. If not, it only ranks; a `RankingEnsemble` around it, in a
        `sklearn.frozen.FrozenEstimator`, fits probabilities to it.

    Returns
    -------
    ImportedLinear
        A fitted ranker of a data frame with these columns, and labels 0 and 1.

    Raises
    ------
    ValueError
        If there are no coefficients, or a number is not finite.
    TypeError
        If a name is no text, or a coefficient no number.

    Examples
    --------
    A logistic regression as a paper gives it:

    >>> import pandas as pd
    >>> from aucrank import from_coefficients
    >>> risk = from_coefficients({"age": 0.05, "smokes": 0.7}, intercept=-5.0)
    >>> patients = pd.DataFrame({"age": [60.0, 70.0], "smokes": [1.0, 0.0]})
    >>> risk.predict_proba(patients)[:, 1].round(3).tolist()
    [0.214, 0.182]
    >>> print(risk.to_sql())
    0.05e0 * "age"
    + 0.7e0 * "smokes"
    - 5
    """
    if not isinstance(coefficients, Mapping):
        raise TypeError(
            f"coefficients must be a mapping of names to numbers, got {type(coefficients).__name__}"
        )
    if not coefficients:
        raise ValueError("coefficients is empty: an equation has a column at least")
    for name in coefficients:
        if not isinstance(name, str):
            raise TypeError(f"coefficients has the name {name!r}, which is no text")
    weights = [_check(value, f"the coefficient of {name}") for name, value in coefficients.items()]
    slope = 1.0 if check_bool(log_odds, "log_odds") else None
    core = weighted_sum(weights, _check(intercept, "intercept"), slope)
    features = features_of(list(coefficients), {}, len(weights))
    return imported(ImportedLinear, core, features, "an equation")


def _check(value: Any, name: str) -> float:
    checked = check_real(value, name, low=-math.inf, low_open=True, high_open=True)
    assert checked is not None
    return checked


def weighted_sum(
    weights: Sequence[float], intercept: float, slope: float | None
) -> _core.ImportedLinear:
    """Return the model of the core: a weighted sum, which times ``slope`` may be log-odds."""
    link = json.dumps("none" if slope is None else {"log_odds": slope})
    return _core.build_imported_linear(list(weights), intercept, link)
