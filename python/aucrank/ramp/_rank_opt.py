"""RankOpt: a linear score that maximises a smooth AUC."""

import json
from collections.abc import Sequence
from itertools import pairwise
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.calibrated import CalibratedRanker
from aucrank._base.fit_context import FitContext, ParamScope
from aucrank._base.sampled_fit import SampledFitMixin
from aucrank._base.summary import Section, less
from aucrank._data.table import Table
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.numbers import rounded
from aucrank._utils.params import check_choice, check_int, check_real
from aucrank._utils.warn import warn_caller
from aucrank._utils.words import plural

_LARGEST_RADIUS = 100.0


class RankOpt(SampledFitMixin, CalibratedRanker):
    """Linear score that maximises a smooth AUC by gradient ascent.

    The AUC counts a pair of a positive and a negative row as 1 if the positive one scores more, and
    so has zero gradient. Here a pair counts as a sigmoid or a ramp of the difference of its scores
    ([1]_, [2]_). The weights of the standardised features have a fixed length, the radius: the
    larger it is, the closer the objective is to the AUC, and the rougher. Ascents at increasing
    radii each start at the end of the last one, and the one with the highest training AUC is kept.
    All pairs count, in time linear in the number of rows.

    Parameters
    ----------
    objective : {"sigmoid", "ramp"}, default="sigmoid"
        Value of a pair whose scores differ by ``x``. "sigmoid": ``1 / (1 + exp(-x))``.
        "ramp": from 0 to 1 in a straight line between ``x = -1/2`` and ``x = 1/2``, with a
        thousandth of that slope outside, as in `aucrank.metrics.ramp_auc`.
    radii : sequence of float, default=(1.0, 2.0, 4.0, 8.0)
        Lengths of the weights of the standardised features, ascending; above 0 and at most 100.
    max_iter : int, default=200
        Maximum number of iterations of the ascent at each radius.
    tol : float, default=1e-8
        An ascent ends with an iteration that raises the objective by less, in units of AUC.
    calibration : {"auto", "isotonic", "sigmoid"} or None, default=None
        How scores are converted to probabilities, for `predict_proba`. The ranking is unchanged,
        and ``threshold_`` becomes the score of even odds. "sigmoid": one line of log-odds (Platt).
        "isotonic": isotonic regression, its log-odds interpolated. "auto": "isotonic" where the
        rarer class has 1,000 rows or more to calibrate on, else "sigmoid". Probabilities are
        learned on held-out rows: the ranker is fitted three more times, each time without a third
        of the rows. None: no probabilities. See :doc:`probabilities </probabilities>`.
    class_weight : dict, "balanced" or None, default=None
        What the weights of rows are multiplied by, by class; "balanced" makes the sums of both
        classes equal. A pair counts by the product of its rows, so class weights hardly change the
        ranking, if at all; they move ``threshold_`` to even odds of the training rows by a line of
        log-odds (Platt), and with ``calibration`` the probabilities.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The model does not depend on it.
    verbose : int, default=0
        If positive, print the result at each radius; if above 1, also progress.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weight of each feature on its original scale; 0 for a constant one.
    threshold_ : float
        The weighted sum at which `decision_function` is 0: where TPR - FPR of the training rows is
        largest, or as set by ``calibration`` or ``class_weight``.
    intercept_ : float
        ``-threshold_``, so that the score is ``X @ coef_ + intercept_``.
    base_score_ : float
        Score of a row whose features are the means of the training rows.
    radius_ : float
        The chosen radius: the one with the highest training AUC, the largest among equals.
    path_ : Table
        Results at each ``radius``: ``objective``, its mean over all training pairs;
        ``auc`` of the training rows; ``n_iter``, iterations of the ascent; and ``kept``, true for
        the chosen radius. It ends where all pairs count 0 or 1, so that the gradient is 0.
    n_iter_ : int
        Iterations at all radii.
    feature_importances_ : ndarray of shape (n_features,)
        Loss of training AUC if the feature is replaced by its mean, all other weights being kept.
        Negative if the AUC would gain.
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
    aucrank.metrics.ramp_auc : The ramp statistic of any score.
    sklearn.linear_model.LogisticRegression : A linear score by maximum likelihood.

    Notes
    -----
    A linear score cannot use missing values or categories: encode and impute first, in a pipeline
    with `sklearn.preprocessing.OneHotEncoder` and `sklearn.impute.SimpleImputer`.

    The ascent starts at the difference of the class means and goes by conjugate gradients along
    great circles of the sphere; the objective never falls. The mean of the sigmoid over all pairs
    is exact to about 1e-12: it is a sum over pairs of unit intervals of the score, in which the
    sigmoid is a polynomial, so that no pair of rows is evaluated.

    The score does not depend on the scale of a feature, nor on the order of the rows or
    ``n_jobs``. Equal rows have equal scores to the last bit, and weight k is k copies of a row.

    A scipy sparse matrix gives the same model as the dense one, with 0 for entries not stored; it
    is not densified.

    References
    ----------
    .. [1] Herschtal and Raskutti, "Optimising area under the ROC curve using gradient descent",
       International Conference on Machine Learning, 2004. :doi:`10.1145/1015330.1015366`
    .. [2] Herschtal, Raskutti and Campbell, "Area under ROC optimisation using a ramp
       approximation", SIAM International Conference on Data Mining, 2006.

    Examples
    --------
    >>> from aucrank import RankOpt
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X = X[["mean_radius", "mean_texture", "mean_concavity"]]
    >>> model = RankOpt().fit(X, y)
    >>> model.terms()
    feature            coef     mean  importance
    mean_radius      1.7119  14.1273      0.0317
    mean_concavity  60.2581   0.0888      0.0291
    mean_texture     0.5010  19.2896      0.0074
    >>> model.path_
    radius  objective     auc  n_iter  kept
         1     0.8571  0.9790       3  False
         2     0.9373  0.9795       3  False
         4     0.9685  0.9799       4  False
         8     0.9772  0.9800       5  True
    """

    _family: ClassVar[str] = "rank_opt"
    _samples_classes: ClassVar[bool] = True
    _model: _core.RankOpt

    def __init__(
        self,
        *,
        objective: str = "sigmoid",
        radii: Sequence[float] = (1.0, 2.0, 4.0, 8.0),
        max_iter: int = 200,
        tol: float = 1e-8,
        calibration: str | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.objective = objective
        self.radii = radii
        self.max_iter = max_iter
        self.tol = tol
        self.calibration = calibration
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        return {
            "objective": check_choice(self.objective, "objective", ("sigmoid", "ramp")),
            "radii": _check_radii(self.radii),
            "max_iterations": check_int(self.max_iter, "max_iter", low=1),
            "tolerance": check_real(self.tol, "tol", low=0.0, high_open=True),
        }

    def _summary(self) -> list[Section]:
        table = self.terms()
        size = plural(table.n_rows, "feature")
        if table.n_rows == 0:
            return [Section(f"Weights ({size})", "all rows have the same score")]
        score = f"score: the sum of coef times value{less(self.threshold_)}"
        return [Section(f"Weights ({size}, radius {rounded(self.radius_)})", score, table)]

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
        """Fit by gradient ascent from the difference of the class means.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features), or Dataset
            Training data, numbers without missing values. Entries that a sparse matrix does not
            store are 0. A :class:`~aucrank.data.Dataset` has rows that need not fit in memory, and
            their labels and weights. The fit is that to one frame with a sample of 200,000 distinct
            rows: of each class those with the smallest content hashes, with all their copies, half
            of them of the rarer class or all that it has. Weights are multiplied by the inverse
            share of a class that is in the sample. With fewer rows, the fit is to all.
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

    def _fit_model(self, context: FitContext) -> _core.RankOpt:
        schema = context.sample.schema
        for index, feature in enumerate(schema.features):
            if feature.levels is not None:
                raise ValueError(
                    f"column {schema.label(index)} is categorical, so a linear score cannot weigh"
                    " it: encode it as numbers first, as OneHotEncoder of scikit-learn does"
                )
        model = _core.fit_rank_opt(
            context.sample.core,
            json.dumps(self._core_params(context.scope)),
            context.n_threads,
            context.progress.observer,
        )
        path = json.loads(model.path())
        unfinished = [step["radius"] for step in path if not step["has_converged"]]
        if not model.coefficients().any():
            warn_caller("Every feature is constant, so all scores are equal.")
        elif unfinished:
            warn_caller(
                f"The ascent at radius {', '.join(f'{radius:g}' for radius in unfinished)} had not"
                f" ended after max_iter={self.max_iter} iterations.",
                ConvergenceWarning,
            )
        if self.verbose > 0:
            for step in path:
                kept = ", kept" if step["radius"] == model.radius else ""
                print(
                    f"[RankOpt] radius {step['radius']:g}: {self.objective}"
                    f" {step['objective']:.6f}, AUC {step['auc']:.6f} after"
                    f" {step['n_iterations']} iterations{kept}"
                )
        return model

    @property
    def _fitted_model(self) -> _core.RankOpt:
        check_is_fitted(self)
        return self._model

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Return the weight of each feature.

        Returns
        -------
        ndarray of shape (n_features,)
            In units of the score for a unit of the feature; 0 for a constant one.
        """
        return self._fitted_model.coefficients()

    @property
    def threshold_(self) -> float:
        """Return the weighted sum from which rows are called positive.

        Returns
        -------
        float
            `decision_function` is the sum less this.
        """
        return self._fitted_model.threshold

    @property
    def intercept_(self) -> float:
        """Return the intercept of the weighted sum of the features.

        Returns
        -------
        float
            ``-threshold_``.
        """
        return -self._fitted_model.threshold

    @property
    def base_score_(self) -> float:
        """Return the score of a row whose features are the means of the training rows.

        Returns
        -------
        float
            Where `explain` starts.
        """
        return self._fitted_model.base_score

    @property
    def radius_(self) -> float:
        """Return the chosen radius.

        Returns
        -------
        float
            One of ``radii``.
        """
        return self._fitted_model.radius

    @property
    def path_(self) -> Table:
        """Return the results at each radius.

        Returns
        -------
        Table
            Columns ``radius``; ``objective``, its mean over all training pairs; ``auc`` of the
            training rows; ``n_iter``, iterations of the ascent; and ``kept``, true for the chosen
            radius.
        """
        path = json.loads(self._fitted_model.path())
        names = {"radius": "radius", "objective": "objective", "auc": "auc"}
        names["n_iter"] = "n_iterations"
        columns = {name: np.array([step[key] for step in path]) for name, key in names.items()}
        return Table(columns, kept=columns["radius"] == self.radius_)

    @property
    def n_iter_(self) -> int:
        """Return the number of iterations at all radii.

        Returns
        -------
        int
            Each reads the features twice.
        """
        return int(self.path_["n_iter"].sum())

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Return the loss of training AUC without each feature.

        Returns
        -------
        ndarray of shape (n_features,)
            The training AUC less that with the feature replaced by its mean, all other weights
            being kept; 0 for a constant feature.
        """
        return self._fitted_model.importances()

    def terms(self) -> Table:
        """Return the weight of each feature.

        Returns
        -------
        Table
            One row for each feature with a weight, the most important first:
            ``feature`` (its name, or ``x0`` for a first column without one), ``coef`` (the change
            of the score per unit), ``mean`` (of the training rows) and ``importance`` (the loss of
            training AUC without it).

        Raises
        ------
        NotFittedError
            If there is no model yet.

        Notes
        -----
        The score of a row is the sum over the features of ``coef`` times the value, less
        ``threshold_``.

        Examples
        --------
        >>> from aucrank import RankOpt
        >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [3.0, 4.0]]
        >>> RankOpt().fit(X, [0, 1, 0, 1]).terms()
        feature     coef  mean  importance
        x1        6.7282   2.5        0.75
        x0       -2.4355   1.5        0.00
        """
        model = self._fitted_model
        coefficients, importances = model.coefficients(), model.importances()
        order = np.argsort(-importances, kind="stable")
        order = order[coefficients[order] != 0]
        return Table(
            feature=np.array(self._schema.shown_names, dtype=np.str_)[order],
            coef=coefficients[order],
            mean=model.means()[order],
            importance=importances[order],
        )

    def explain(self, X: Any) -> NDArray[np.float64]:
        """Return what each feature adds to the score of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of float64, shape (n, n_features)
            The weight of the feature times how far its value is above the mean of the training
            rows. A row adds up to its `decision_function` less ``base_score_``, up to rounding.

        Raises
        ------
        NotFittedError
            If there is no model yet.
        ValueError
            If the columns are not those seen in fit, or a value is missing.

        Examples
        --------
        >>> import numpy as np
        >>> from aucrank import RankOpt
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = RankOpt().fit(X, y)
        >>> parts = model.explain(X)
        >>> parts.shape
        (569, 30)
        >>> np.allclose(parts.sum(axis=1), model.decision_function(X) - model.base_score_)
        True
        """
        parts: NDArray[np.float64] = self._query("explain", X)
        return parts.reshape(-1, self.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags


def _check_radii(radii: Any) -> list[float]:
    """Return the radii as floats.

    Raises
    ------
    TypeError
        If they are not a sequence of numbers.
    ValueError
        If there is none, one is out of its range, or they do not ascend.
    """
    if isinstance(radii, str | bytes | Real) or not hasattr(radii, "__iter__"):
        raise TypeError(f"radii must be a sequence of numbers, got {radii!r}")
    checked = [
        check_real(radius, "each of radii", low=0.0, high=_LARGEST_RADIUS, low_open=True) or 0.0
        for radius in radii
    ]
    if not checked or any(a >= b for a, b in pairwise(checked)):
        raise ValueError(f"radii must be at least one number, and ascend; got {radii!r}")
    return checked
