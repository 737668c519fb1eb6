"""LinearRanker: ridge logistic regression on numbers, their thresholds and categories."""

import json
from collections.abc import Sequence
from math import floor, log10
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.fit_context import FitContext, ParamScope
from aucrank._base.ranker import BaseRanker, ProbabilityMixin
from aucrank._base.sampled_fit import SampledFitMixin
from aucrank._base.summary import Section
from aucrank._data.schema import Feature, Schema
from aucrank._data.table import Table
from aucrank._export.bins import words_of_bins
from aucrank._export.formula import NumberSteps, Steps, parse_steps
from aucrank._export.links import Link, LogOdds
from aucrank._export.pair_tables import PairTable, pair_name, parse_pair, table_of_pairs
from aucrank._export.step_functions import rows_of_steps, terms_table
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.numbers import exact, rounded
from aucrank._utils.params import check_int, check_real
from aucrank._utils.warn import warn_caller
from aucrank._utils.words import plural

_MOST_THRESHOLDS = 1000

#: Maximal number of terms of two features, and that of "auto".
_MOST_INTERACTIONS = 1000
_USUAL_INTERACTIONS = 30

#: How the numbers that the core computes from two are written.
_OPERATORS = {"ratio": "/", "difference": "-"}


class LinearRanker(SampledFitMixin, ProbabilityMixin, BaseRanker):
    """Logistic regression with a ridge penalty, on raw data.

    A linear score that takes raw columns: numbers of any scale, with missing values, and
    categories. A number is standardised, and may have steps at thresholds; each category has a
    weight, and so has a missing value. The weights maximise the likelihood less a penalty of half
    the sum of their squares.

    Parameters
    ----------
    C : float, default=0.1
        Weight of the likelihood relative to the penalty, as in
        `sklearn.linear_model.LogisticRegression`; above 0. The smaller, the closer all weights
        are to 0.
    thresholds : "auto", int or None, default="auto"
        Maximum number of thresholds of a number in addition to its linear part, at quantiles, up to
        1000; None for none, which leaves a linear score. "auto": a sixtieth of the rows, but at
        least 4 and at most 24. A number with few values has one between any two neighbours.
    interactions : "auto", int or None, default="auto"
        Maximum number of terms of two features, up to 1000; None for none, which leaves a sum of
        functions of single features. "auto": 30. There are only those without which the score of
        single features is worse than by chance, none on most data; see Notes.
    max_iter : int, default=100
        Maximum number of iterations of Newton's method.
    tol : float, default=1e-10
        The fit ends with an iteration that improves the mean log-likelihood of the rows by less.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns hold categories: those of a data frame with a categorical type, or those
        listed by position, by name or in a boolean mask.
    class_weight : dict, "balanced" or None, default=None
        What the weights of rows are multiplied by, by class; "balanced" makes the sums of both
        classes equal. It shifts probabilities, and with them the rows called positive; the ranking
        changes only as far as the fit is a compromise between rows.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The model does not depend on it.
    verbose : int, default=0
        If positive, print every tenth iteration, and how many there were; if above 1, print each.

    Attributes
    ----------
    intercept_ : float
        The score of a row to which no term contributes.
    base_score_ : float
        Mean score of the training rows.
    term_names_ : list of str
        Names of the columns of `explain`: features, and then terms of two features.
    n_iter_ : int
        Iterations of the fit.
    feature_importances_ : ndarray of shape (n_features,)
        Loss of training AUC if the contribution of the feature is made constant, all other weights
        being kept. Negative if the AUC would gain.
    sampled_rows_ : tuple of int, or None
        Numbers of training rows and of all rows, if a `Dataset` has more than are learned from;
        None if all were used. Other statistics are those of the sample.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the class to rank first.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they had any.

    See Also
    --------
    RIMARC : A table of shares without tuning parameters.
    aucrank.ramp.RankOpt : A linear score of numbers that maximises a smooth AUC.
    sklearn.linear_model.LogisticRegression : The same on a preprocessed matrix.

    Notes
    -----
    Numbers are standardised by the mean and the standard deviation of the training rows, clipped at
    6 standard deviations, and rounded to about a millionth of one (2^-20). A threshold is a column
    that is 1/2 from there on, and 0 below. A missing number counts as the mean, and has its own
    weight if the feature has missing values in the training rows. A category of fewer than 3 rows,
    or of fewer than one in 500, counts as missing, as does one not seen in fit. If such categories
    hold more than 5 % of the rows, or if there are more than 100 categories, the rate of positives
    of each category counts in addition to its weight, as learned on other folds of the rows (see
    :ref:`categories <rates-of-many>`). The classes are not reweighted, and the intercept is not
    penalised.

    A term of two features is a table, with a weight for each combination of the thirds of a number
    and the common categories, or has thresholds of the ratio or the difference of two numbers, as
    in ``debt / income``. A ratio to a number that is not above 0 is missing. The features whose
    contributions vary most are paired: 100 in tables, 40 numbers. A term has to explain more of the
    residuals of the score of single features than any term of its kind explains of 20 shuffles of
    these, on up to 20,000 distinct rows, so that none is found in a handful of these; all weights
    are then fitted again. At most a sixth of the terms are ratios and differences.

    The score is the log-odds of the positive class. The matrix of thresholds and categories is
    never formed: the time of a fit is proportional to the rows and to the square of the number of
    columns of the frame, or to their number if they have many weights.

    Sums of weights and their products are exact, so that the parts of `explain` add up to the
    score to the last bit. The model does not depend on ``n_jobs`` or the order of the rows, and
    weight k is k copies of a row. Importances are computed on 20,000 distinct training rows if
    there are more.

    Examples
    --------
    >>> import pandas as pd
    >>> from aucrank import LinearRanker
    >>> X = pd.DataFrame({
    ...     "age": [25.0, 38.0, 47.0, 52.0, None, 70.0, 31.0, 66.0],
    ...     "smoker": pd.Categorical(["no", "yes", "no", "yes", "yes", "yes", "no", "no"]),
    ... })
    >>> y = ["healthy", "sick", "healthy", "sick", "sick", "sick", "healthy", "sick"]
    >>> model = LinearRanker(thresholds=None).fit(X, y)
    >>> model.terms()
    feature  rule                    value
    age      each 15.748 above 47   0.2011
    age      age is missing         0.0336
    smoker   smoker = yes           0.1317
    smoker   smoker = no           -0.1317
    smoker   smoker is missing      0.0000
    >>> model.predict_proba(X[:2]).round(2)
    array([[0.47, 0.53],
           [0.37, 0.63]])
    """

    _family: ClassVar[str] = "linear"
    _samples_classes: ClassVar[bool] = True
    _model: _core.LinearModel

    def __init__(
        self,
        *,
        C: float = 0.1,
        thresholds: Any = "auto",
        interactions: Any = "auto",
        max_iter: int = 100,
        tol: float = 1e-10,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.thresholds = thresholds
        self.interactions = interactions
        self.max_iter = max_iter
        self.tol = tol
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        return {
            "c": check_real(self.C, "C", low=0.0, low_open=True, high_open=True),
            "thresholds": _check_thresholds(self.thresholds),
            "interactions": _check_interactions(self.interactions),
            "max_iterations": check_int(self.max_iter, "max_iter", low=1),
            "tolerance": check_real(self.tol, "tol", low=0.0, high_open=True),
        }

    def _link(self) -> Link:
        return LogOdds()

    def _summary(self) -> list[Section]:
        table = self.terms()
        text = f"score, in log-odds: the sum of what the values add, and {rounded(self.intercept_)}"
        sections = [Section(f"Values ({plural(table.n_rows, 'term')})", text, table)]
        if (cells := self.pair_terms()).n_rows:
            what = "what the values of two features add together"
            sections.append(Section(f"Pairs ({plural(cells.n_rows, 'cell')})", what, cells))
        return sections

    @suggests_keywords
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
        gap: Any = None,
    ) -> Self:
        """Find the weights with the largest penalised likelihood.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features), or Dataset
            Training data. Data frames of pandas, polars and pyarrow may have categorical columns;
            NaN, None and null are missing values.
            A :class:`~aucrank.data.Dataset` has rows that need not fit in memory, and their labels
            and weights. The fit is that to one frame with a sample of 200,000 distinct rows: of
            each class those with the smallest content hashes, with all their copies, half of them
            of the rarer class or all that it has. Weights are multiplied by the inverse share of a
            class that is in the sample. With fewer rows, the fit is to all.
        y : array-like of shape (n,), default=None
            Labels, two distinct values. The greater one is the class to rank first. None where
            ``X`` is a data set.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row; weight k means the row repeated k times, and weight 0 a row that
            is not there.
        groups : array-like of shape (n,), default=None
            Which rows belong together, such as those of a patient: they stay together in folds, in
            held-out rows and in samples.
        time : array-like of shape (n,), default=None
            Time of each row, as a number or date: the latest rows are held out, and folds are
            ranges of time.
        gap : float, timedelta or None, default=None
            Rows that are nearer in time than this to held-out rows or a fold, or as near, are left
            out of what is fitted without these: a number, or a timedelta if times are dates. For
            outcomes that are known later. Not for a `Dataset`.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter, the data, the labels or the weights are not valid.
        """
        return self._fit(X, y, sample_weight, groups=groups, time=time, gap=gap)

    def _fit_model(self, context: FitContext) -> _core.LinearModel:
        params = self._core_params(context.scope)
        model = _core.fit_linear(
            context.sample.core, json.dumps(params), context.n_threads, context.progress.observer
        )
        # A callback may have ended it sooner.
        if not model.has_converged and model.n_iterations == self.max_iter:
            warn_caller(
                f"The fit had not ended after {plural(model.n_iterations, 'iteration')}.",
                ConvergenceWarning,
            )
        if self.verbose > 0:
            print(f"[LinearRanker] ended after {plural(model.n_iterations, 'iteration')}")
        return model

    @property
    def _fitted_model(self) -> _core.LinearModel:
        check_is_fitted(self)
        return self._model

    @property
    def intercept_(self) -> float:
        """Return the score of a row to which no term contributes.

        Returns
        -------
        float
            In log-odds.
        """
        return self._fitted_model.intercept

    @property
    def base_score_(self) -> float:
        """Return the mean score of the training rows.

        Returns
        -------
        float
            Where `explain` starts.
        """
        return self._fitted_model.base_score

    @property
    def n_iter_(self) -> int:
        """Return the number of iterations of the fit.

        Returns
        -------
        int
            With many rows, the first iterations run on a sample.
        """
        return self._fitted_model.n_iterations

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Return the loss of training AUC without each feature.

        Returns
        -------
        ndarray of shape (n_features,)
            The training AUC less that with a constant contribution of the feature, all other
            weights being kept; 0 for a constant feature.
        """
        return self._fitted_model.importances()

    @property
    def term_names_(self) -> list[str]:
        """Return the names of the columns of `explain`.

        Returns
        -------
        list of str
            Those of the features, and then of the terms of two features, the strongest first, as in
            ``age & region`` and ``debt / income``.

        Raises
        ------
        NotFittedError
            If there is no model yet.
        """
        names = self._schema_of_fit.shown_names
        of_joint = [
            _name_of_arithmetic(term["arithmetic"], names)
            if "arithmetic" in term
            else pair_name([names[axis["feature"]] for axis in term["cells"]["axes"]])
            for term in json.loads(self._fitted_model.joint_terms())
        ]
        return [*names, *of_joint]

    @property
    def _schema_of_fit(self) -> Schema:
        check_is_fitted(self)
        return self._schema

    def _tables(self) -> list[PairTable]:
        joint = json.loads(self._fitted_model.joint_terms())
        return [parse_pair(term["cells"], self._schema) for term in joint if "cells" in term]

    def pair_terms(self) -> Table:
        """Return the contribution of the values of two features on top of those of each alone.

        Returns
        -------
        Table
            One row for each cell of each table of two features: ``feature_1`` and ``feature_2``
            (names, or ``x0`` for a first column without one), ``rule_1`` and ``rule_2`` (the values
            in words) and ``value`` (what they add, in log-odds). Without rows if there is no table.

        Raises
        ------
        NotFittedError
            If there is no model yet.

        Examples
        --------
        >>> import numpy as np
        >>> from aucrank import LinearRanker
        >>> X = np.random.default_rng(0).normal(size=(400, 3))
        >>> model = LinearRanker(interactions=1).fit(X, X[:, 0] * X[:, 1] > 0)
        >>> model.term_names_
        ['x0', 'x1', 'x2', 'x0 & x1']
        >>> model.pair_terms()["value"][[0, 2]].round(1).tolist()
        [1.0, -1.0]
        """
        return table_of_pairs(words_of_bins(self._schema_of_fit), self._tables())

    def terms(self) -> Table:
        """Return the contribution of each value of each feature to the score.

        Returns
        -------
        Table
            In the order of the columns: ``feature`` (its name, or ``x0`` for a first column
            without one), ``rule`` (the values in words) and ``value`` (what they add, in
            log-odds). A number has a row for its linear part, which counts each standard
            deviation above the mean, up to 6 of them; rows for the intervals between its
            thresholds; and one for missing values. Last are ratios and differences of two numbers,
            if there are any, with the value of rows that have none. The score of a row is the sum
            of the values of its terms, and of its cells in `pair_terms`, plus ``intercept_``.

        Raises
        ------
        NotFittedError
            If there is no model yet.

        Examples
        --------
        >>> from aucrank import LinearRanker
        >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [3.0, 4.0]]
        >>> LinearRanker(C=1.0, thresholds=1).fit(X, [0, 1, 0, 1]).terms()
        feature  rule                      value
        x0       each 1.11803 above 1.5   0.1612
        x0       x0 < 1.5                 0.0000
        x0       x0 >= 1.5               -0.0512
        x0       x0 is missing            0.0000
        x1       each 1.11803 above 2.5   0.8718
        x1       x1 < 2.5                 0.0000
        x1       x1 >= 2.5                0.1474
        x1       x1 is missing            0.0000
        """
        model = self._fitted_model
        words = words_of_bins(self._schema)
        rows = [
            (term["feature"], [(words.name(term["feature"]), _linear_rule(term), term["weight"])])
            for term in json.loads(model.numbers())
        ] + [
            # A zero contribution of all known numbers is not listed.
            (steps.feature, rows_of_steps(words, steps)[-1 if _is_flag(steps) else 0 :])
            for steps in map(parse_steps, json.loads(model.steps()))
        ]
        rows.sort(key=lambda of_feature: of_feature[0])
        computed = [
            row
            for term in json.loads(model.joint_terms())
            if "arithmetic" in term
            for row in _rows_of_arithmetic(term["arithmetic"], self._schema.shown_names)
        ]
        return terms_table([*(row for _, of_feature in rows for row in of_feature), *computed])

    def explain(self, X: Any) -> NDArray[np.float64]:
        """Return the contribution of each term to the score of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of float64, shape (n, n_terms)
            Contribution of each feature, and then of each term of two features, if there are any,
            as ``term_names_`` names them, less its mean over the training rows. A row adds up to
            its `decision_function` less ``base_score_``, to the last bit.

        Raises
        ------
        NotFittedError
            If there is no model yet.
        ValueError
            If the columns are not those seen in fit.

        Examples
        --------
        >>> import numpy as np
        >>> from aucrank import LinearRanker
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = LinearRanker().fit(X, y)
        >>> parts = model.explain(X)
        >>> parts.shape == (569, len(model.term_names_))
        True
        >>> np.array_equal(parts.sum(axis=1) + model.base_score_, model.decision_function(X))
        True
        """
        parts: NDArray[np.float64] = self._query("explain", X)
        return parts.reshape(-1, len(self.term_names_))


def _name_of_arithmetic(term: dict[str, Any], names: Sequence[str]) -> str:
    first, second = (names[feature] for feature in term["features"])
    return f"{first} {_OPERATORS[term['operation']]} {second}"


def _rows_of_arithmetic(term: dict[str, Any], names: Sequence[str]) -> list[tuple[str, str, float]]:
    """Return the rows of the table of ``terms`` for a number computed from two."""
    name = _name_of_arithmetic(term, names)
    steps = NumberSteps(0, tuple(term["thresholds"]), tuple(term["values"]), term["missing"], ())
    return rows_of_steps(words_of_bins(Schema((Feature(name),))), steps)


def _is_flag(steps: Steps) -> bool:
    """Return whether a step function only distinguishes missing from known numbers."""
    return isinstance(steps, NumberSteps) and not steps.thresholds


def _linear_rule(term: dict[str, Any]) -> str:
    """Describe the linear part of a number in words."""
    deviation, mean = term["deviation"], term["mean"]
    # Enough decimals for a ten-thousandth of the deviation.
    decimals = max(0, 4 - floor(log10(deviation))) if deviation > 0 else 17
    return f"each {rounded(deviation)} above {exact(round(mean, decimals))}"


def _check_thresholds(thresholds: Any) -> Any:
    """Return the parameter in the form of the core."""
    most = _check_most(thresholds, "thresholds", low=1, high=_MOST_THRESHOLDS)
    if most is None:
        return "none"
    return most if most == "auto" else {"at_most": most}


def _check_interactions(interactions: Any) -> int:
    """Return the parameter in the form of the core."""
    most = _check_most(interactions, "interactions", low=0, high=_MOST_INTERACTIONS)
    return _USUAL_INTERACTIONS if most == "auto" else most or 0


def _check_most(most: Any, name: str, *, low: int, high: int) -> Any:
    """Return a greatest number, "auto" or None.

    Raises
    ------
    TypeError
        If it is neither a number, nor "auto", nor None.
    ValueError
        If it is a number out of its range, or another string.
    """
    if isinstance(most, str):
        if most != "auto":
            raise ValueError(f"{name} must be 'auto', a number or None; got {most!r}")
        return most
    return None if most is None else check_int(most, name, low=low, high=high)
