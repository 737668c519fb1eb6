"""RIMARC: positive rates of AUC-optimal bins, weighted by the AUC of each feature."""

import json
import textwrap
from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.fit_context import FitContext, RowsContext
from aucrank._base.monotonic import check_monotonic_cst
from aucrank._base.ranker import BaseRanker, ProbabilityMixin
from aucrank._base.summary import Section
from aucrank._data.schema import Schema
from aucrank._data.table import Table, whole
from aucrank._export.bins import Bin
from aucrank._export.formula import LevelSteps, NumberSteps, Steps
from aucrank._export.links import AboveHalf, Link
from aucrank._export.step_functions import terms_table
from aucrank._plots.terms import TermsDisplay, draw_terms
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.numbers import rounded
from aucrank._utils.params import LEVEL_RATES, check_choice, check_int, check_real
from aucrank._utils.plain_text import shown
from aucrank._utils.warn import warn_caller
from aucrank._utils.words import plural
from aucrank.additive._bin_table import BinsMixin, RankedFeature, ranked_features
from aucrank.additive._bins import bin_params
from aucrank.data import Dataset
from aucrank.data._raw import RawRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

# Width of a line of names in `rules`.
_WIDTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScoredBin(Bin):
    """A bin with its score.

    Attributes
    ----------
    score : float
        Its positive rate, NaN where it does not contribute.
    part : float
        Its contribution to the score of a row without missing values.
    """

    score: float
    part: float


@dataclass(frozen=True, slots=True)
class _ScoredFeature:
    """A feature with its weight; its bins in the order of the core, missing values last."""

    feature: RankedFeature
    weight: float
    bins: list[_ScoredBin]
    document: dict[str, Any]

    @property
    def said(self) -> list[_ScoredBin]:
        """The bins that contribute, missing values last.

        Those of a number ascend; categories have the highest score first.
        """
        return [scored for scored in self.with_missing if not isnan(scored.score)]

    @property
    def with_missing(self) -> list[_ScoredBin]:
        """The same, always with that of missing values."""
        *known, missing = self.bins
        known = [scored for scored in known if not isnan(scored.score)]
        if self.feature.cuts is None:
            known.sort(key=lambda scored: -scored.score)
        return [*known, missing]

    def parts(self) -> Steps:
        """Return the contribution to the score, by value."""
        *known, missing = (scored.part for scored in self.bins)
        place = self.feature.place
        match self.document:
            case {"categorical": {"bin_of_level": bin_of_level}}:
                values = [*known, missing]
                return LevelSteps(place, tuple(values[bin_] for bin_ in bin_of_level), missing)
            case {"numeric": {"cuts": cuts, "special": special}}:
                of_special = tuple(zip(special, known[len(cuts) + 1 :], strict=True))
                values = known[: len(cuts) + 1]
                return NumberSteps(place, tuple(cuts), tuple(values), missing, of_special)
        raise ValueError(f"unknown bins {self.document!r}")


class RIMARC(BinsMixin, ProbabilityMixin, BaseRanker):
    """Mean of the positive rates of AUC-optimal bins, weighted by the AUC of each feature.

    Each feature is cut into the bins that reach its largest AUC (`MAD2C`), and a bin scores its
    share of positive training rows. The weight of a feature is ``2 (AUC - 1/2)`` of its own
    ranking: 0 if it is uninformative, 1 if it ranks all training rows correctly. The score of a row
    is the weighted mean of the scores of its values; a feature that is missing in the row is left
    out of the mean ([1]_).

    There are no parameters to tune, and the model is a table that a domain expert can read:
    `scorecard` lists it, `rules` describes it on a page, `explain` decomposes a score.

    Parameters
    ----------
    shrinkage : float, default=0.0
        Number of pseudo-rows with the overall share of positives added to each bin, so that a bin
        with few rows scores near that share. An extension; 0 is the paper.
    weight_folds : int or None, default=None
        Number of folds, at least 2, to take the weights from bins learned on other rows, see Notes.
        For features with many categories, whose AUC on their own training rows is far too high. An
        extension; None, as in the paper, takes them from all rows.
    level_rates : {"shrunken", "raw"}, default="shrunken"
        Estimate of the class rates of categories. "shrunken": rates are shrunk towards that of all
        rows as far as chance explains their differences, and weights are those of the shrunken
        rates, see :ref:`categories <level-rates>`. "raw": the observed rates, as in the paper,
        which overfits noise in many categories.
    missing : {"ignore", "value"}, default="ignore"
        Treatment of missing values. "ignore": as in the paper, the feature does not contribute to
        the row. "value": a value like any other, if training rows had it; an extension, for
        informative missingness.
    monotonic_cst : array-like of shape (n_features,), dict or None, default=None
        Direction in which each number may rank: 1 for high numbers first, -1 for low ones first, 0
        for the better of both; by position or by name. An extension.
    special_values : list of float, dict or None, default=None
        Numbers used as codes, such as -1 for "unknown": each has its own bin, in every numeric
        column, or by name of the column. An extension.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns hold categories: those of a data frame with a categorical type, or those
        listed by position, by name or in a boolean mask.
    class_weight : dict, "balanced" or None, default=None
        What the weights of rows are multiplied by, by class; "balanced" makes the sums of both
        classes equal. It shifts probabilities, and with them the rows called positive; the ranking,
        which uses rates within the classes, hardly changes.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The model does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds how rows are assigned to ``weight_folds``; without effect if that is None.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Weight of each feature, from 0 to 1.
    prevalence_ : float
        Share of positives among the training rows: the estimate for a row with all values missing.
    base_score_ : float
        The same as a score: ``prevalence_ - 1/2``.
    weight_folds_ : int or None
        Folds that the weights were taken from; None for all rows at once.
    feature_importances_ : ndarray of shape (n_features,)
        AUC of each feature alone less 1/2: half of its weight.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the class to rank first.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they had any.

    See Also
    --------
    MAD2C : The bins alone, as a transformer.
    Scorecard : Integer points for the bins, with base odds and points to double them.

    Notes
    -----
    ``predict_proba`` is the ``r`` of the paper, and `decision_function` is ``r - 1/2``. The paper
    calls ``r`` roughly the probability: it lies between the lowest and the highest rate of single
    features, and so is less extreme than the probability. `Scorecard` and scikit-learn's
    ``CalibratedClassifierCV`` give probabilities.

    What the paper leaves open: a number ranks in the direction of the larger AUC, increasing among
    equals; equal values are not separated; a value equal to a cut lies above it; a category not
    seen in fit is missing; a feature known in one class alone, or constant, weighs 0 and stays in
    the table; an AUC is that of the rows whose value is known, however few.

    With ``weight_folds`` the distinct rows of each class are assigned to folds by a hash of their
    content, copies together. For each fold the bins are learned on the others, and the AUC of a
    feature is the share of the pairs of a positive and a negative row of one fold that are ranked
    correctly, over all folds: a fold counts by its pairs. Values absent from the other folds do not
    contribute. A feature that ranks no better than chance weighs 0. The bins and scores of the
    model are those of all rows. If a class has fewer distinct rows than folds, there are as many
    folds as it has, or none, and a warning says so.

    A column with more categories than a tenth of the rows, and more than two, triggers a warning:
    the rates of its categories rest on a few rows each, and its weight is near 1 even if it is
    uninformative.

    Sums of weights are exact: equal rows have equal scores to the last bit, whatever ``n_jobs``,
    the order of the rows and that of the columns, and exchanging the classes changes the sign of
    the scores. To that end weights are rounded to one part in some 2^50 of their sum, and a feature
    with a nonzero weight counts at least 2^-28 of the heaviest.

    A scipy sparse matrix gives the same model as the dense one, with 0 for entries not stored; it
    is not densified.

    References
    ----------
    .. [1] Güvenir and Kurtcephe, "Ranking instances by maximizing the area under ROC curve", IEEE
       Trans. Knowl. Data Eng. 25(10), 2013, pp. 2356-2366.

    Examples
    --------
    >>> from aucrank import RIMARC
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RIMARC().fit(X[["worst_area", "mean_texture"]], y)
    >>> model.weights_.round(2)
    array([0.95, 0.58])
    >>> print(model.rules(n_features=1))
    Positive is 1, negative 0: 212 of 569 training rows are positive.
    A row scores the mean of the scores of its values, by the weights of the features.
    A feature that is missing is left out of the mean; if all are, the score is 0.37.
    <BLANKLINE>
    worst_area (weight 0.95)
      worst_area >= 1214:                       128 of 128 positive, score 1.00
      1033.5 <= worst_area < 1214:              18 of 19 positive, score 0.95
      953.7 <= worst_area < 1033.5:             15 of 17 positive, score 0.88
      884.55 <= worst_area < 953.7:             14 of 19 positive, score 0.74
      868.2 <= worst_area < 884.55:             2 of 4 positive, score 0.50
      784.15 <= worst_area < 868.2:  15 of 39 positive, score 0.38
      739.2 <= worst_area < 784.15:  9 of 24 positive, score 0.38
      696.05 <= worst_area < 739.2:             5 of 28 positive, score 0.18
      653.45 <= worst_area < 696.05:            1 of 25 positive, score 0.04
      553.3 <= worst_area < 653.45:             3 of 76 positive, score 0.04
      507.65 <= worst_area < 553.3:             2 of 56 positive, score 0.04
      worst_area < 507.65:                      0 of 134 positive, score 0.00
    <BLANKLINE>
    Of weight 0.58 and less: mean_texture.
    """

    _family = "rimarc"
    _fits_dataset = "passes"
    _model: _core.Rimarc

    def __init__(
        self,
        *,
        shrinkage: float = 0.0,
        weight_folds: int | None = None,
        level_rates: str = "shrunken",
        missing: str = "ignore",
        monotonic_cst: Any = None,
        special_values: Any = None,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.weight_folds = weight_folds
        self.level_rates = level_rates
        self.missing = missing
        self.monotonic_cst = monotonic_cst
        self.special_values = special_values
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_params(self) -> None:
        check_monotonic_cst(self.monotonic_cst)
        check_real(self.shrinkage, "shrinkage", low=0.0, high_open=True)
        check_int(self.weight_folds, "weight_folds", low=2, high=65534, optional=True)
        check_choice(self.level_rates, "level_rates", LEVEL_RATES)
        self._checked_missing()

    def _checked_missing(self) -> str:
        """Return the parameter, which may have been set again after the fit."""
        missing: str = check_choice(self.missing, "missing", ("ignore", "value"))
        return missing

    def _link(self) -> Link:
        return AboveHalf()

    def _summary(self) -> list[Section]:
        size = plural(int((self.weights_ > 0).sum()), "feature")
        text = (
            "score: their mean over what is known, by the weights of the features, less 0.5; "
            f"{rounded(self.base_score_)} where nothing is known"
        )
        return [Section(f"Scores of values ({size} of any weight)", text, self.scorecard())]

    def _n_stages(self) -> int | None:
        # The features, and then the folds for their weights.
        return 1 if self.weight_folds is None else 2

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
        """Fit the model to rows of two classes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features), or Dataset
            Training data. Data frames of pandas, polars and pyarrow may have categorical columns;
            NaN, None and null are missing values.
            A :class:`~aucrank.data.Dataset` has rows that need not fit in memory, and their labels
            and weights: the fit is that to one frame with all of its rows.
        y : array-like of shape (n,), default=None
            Labels, two distinct values. The greater one is the class to rank first. None
            where ``X`` is a data set.
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

    def _fit_model(self, context: FitContext) -> _core.Rimarc:
        sample = context.sample
        params = self._params_of(sample.schema, context.seed)
        n_threads, observer = context.n_threads, context.progress.observer
        model = _core.fit_rimarc(sample.core, params, n_threads, observer)
        self._warn_of_folds(model)
        return model

    def _check_for_counts(self, dataset: Dataset) -> None:
        super()._check_for_counts(dataset)
        if self.weight_folds is not None:
            raise ValueError(
                f"weight_folds is {self.weight_folds}, but folds are dealt by the content of whole"
                f" rows, and of {dataset!r} the values of one column at a time are counted: let"
                " weight_folds be None, or read the rows, as by Dataset.from_batches"
            )

    def _fit_passes(self, rows: RawRows, context: RowsContext) -> _core.Rimarc:
        params = self._params_of(context.schema, context.seed)
        n_threads, observer = context.n_threads, context.progress.observer
        model = _core.fit_rimarc(rows, params, n_threads, observer)
        self._warn_of_folds(model)
        return model

    def _params_of(self, schema: Schema, seed: int) -> str:
        """Return the parameters as JSON text for the core."""
        params = {
            "bins": bin_params(self.special_values, self.monotonic_cst, schema),
            "missing": self.missing,
            "shrinkage": float(self.shrinkage),
            "level_rates": self.level_rates,
            "weight_folds": None if self.weight_folds is None else int(self.weight_folds),
            "seed": seed,
        }
        return json.dumps(params)

    def _warn_of_folds(self, model: _core.Rimarc) -> None:
        requested, found = self.weight_folds, model.weight_folds
        if requested is not None and found is None:
            warn_caller(
                "A class has one distinct row, so no row can be left out: the weights are those of"
                f" all rows, not of weight_folds={requested}."
            )
        elif requested is not None and found != requested:
            warn_caller(
                f"A class has {found} distinct rows, so there are as many folds, not"
                f" weight_folds={requested}."
            )

    def _table(self) -> _core.Mad2c:
        return self._model.table()

    def _step_functions(self) -> str:
        """Return the step functions of the features as JSON text, for a scorecard."""
        return self._model.terms()

    @property
    def weights_(self) -> NDArray[np.float64]:
        """Return the weight of each feature."""
        check_is_fitted(self)
        return self._model.weights()

    @property
    def prevalence_(self) -> float:
        """Return the share of positives among the training rows."""
        check_is_fitted(self)
        return self._model.prevalence

    @property
    def base_score_(self) -> float:
        """Return the score of a row with all values missing."""
        check_is_fitted(self)
        return self._model.base_score

    @property
    def weight_folds_(self) -> int | None:
        """Return the number of folds that the weights were taken from, None for all rows."""
        check_is_fitted(self)
        return self._model.weight_folds

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Return the AUC of each feature alone less one half."""
        return self.weights_ / 2

    def scorecard(self) -> Table:
        """Return the model as a table.

        Returns
        -------
        Table
            One row for each value that contributes, features by falling weight: ``feature`` (its
            name, or ``x0`` for a first column without one), ``rule`` (the values in words),
            ``size`` and ``n_pos`` (weight of the training rows with such a value, and of the
            positive ones), ``score`` (their share of positives, shrunk if requested) and ``weight``
            (of the feature). Numbers ascend, special values after them; categories have the highest
            score first. There is a row for missing values if they are values (``missing="value"``)
            and training rows had them. Features of weight 0 come last.

        Raises
        ------
        NotFittedError
            If there is no model yet.

        Notes
        -----
        Cuts are shown with all digits.

        Examples
        --------
        >>> from aucrank import RIMARC
        >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0]]
        >>> RIMARC().fit(X, [0, 1, 0, 1, 1]).scorecard()
        feature  rule             size  n_pos  score  weight
        x0       x0 < 1.5            1      0    0.0  0.8333
        x0       1.5 <= x0 < 3.5     2      1    0.5  0.8333
        x0       x0 >= 3.5           2      2    1.0  0.8333
        """
        check_is_fitted(self)
        listed = [
            (scored.feature.name, said, scored.weight)
            for scored in _by_weight(self._scored())
            for said in scored.said
        ]
        size = np.array([said.size for _, said, _ in listed], dtype=np.float64)
        n_pos = np.array([said.n_pos for _, said, _ in listed], dtype=np.float64)
        return Table(
            feature=np.array([name for name, _, _ in listed], dtype=np.str_),
            rule=np.array([said.rule for _, said, _ in listed], dtype=np.str_),
            size=whole(size),
            n_pos=whole(n_pos),
            score=np.array([said.score for _, said, _ in listed], dtype=np.float64),
            weight=np.array([weight for _, _, weight in listed], dtype=np.float64),
        )

    def rules(self, n_features: int | None = None) -> str:
        """Describe the model in words, for a person to read.

        Parameters
        ----------
        n_features : int or None, default=None
            Number of features to describe, by falling weight; None for all with a weight.

        Returns
        -------
        str
            How a row is scored, then the features by falling weight, with their values by falling
            score, and finally the features without weight.

        Raises
        ------
        NotFittedError
            If there is no model yet.

        Examples
        --------
        >>> import pandas as pd
        >>> from aucrank import RIMARC
        >>> X = pd.DataFrame({
        ...     "age": [30, 40, 50, 60, 70, 80],
        ...     "smoker": pd.Categorical(["no", "yes", "no", None, "yes", "yes"]),
        ... })
        >>> print(RIMARC().fit(X, ["healthy", "sick", "healthy", "sick", "sick", "sick"]).rules())
        Positive is 'sick', negative 'healthy': 4 of 6 training rows are positive.
        A row scores the mean of the scores of its values, by the weights of the features.
        A feature that is missing is left out of the mean; if all are, the score is 0.67.
        <BLANKLINE>
        smoker (weight 1.00)
          smoker = yes:  3 of 3 positive, score 1.00
          smoker = no:   0 of 2 positive, score 0.00
        <BLANKLINE>
        age (weight 0.88)
          age >= 55:       3 of 3 positive, score 1.00
          35 <= age < 55:  1 of 2 positive, score 0.50
          age < 35:        0 of 1 positive, score 0.00
        """
        check_int(n_features, "n_features", low=1, optional=True)
        check_is_fitted(self)
        table = self._binned()
        pos, neg = (table["total"][which] * 2.0 ** table["exponent"] for which in ("pos", "neg"))
        # A numpy scalar as a plain value.
        negative, positive = (repr(value) for value in self.classes_.tolist())
        left_out = {
            "ignore": "A feature that is missing is left out of the mean",
            "value": "A feature is left out of the mean where no training row had such a value",
        }[self._checked_missing()]
        lines = [
            f"Positive is {positive}, negative {negative}:"
            f" {_of(pos, pos + neg)} training rows are positive.",
            "A row scores the mean of the scores of its values, by the weights of the features.",
            f"{left_out}; if all are, the score is {self.prevalence_:.2f}.",
        ]
        heavy = _by_weight(self._heavy())
        heaviest = heavy if n_features is None else heavy[:n_features]
        for scored in heaviest:
            lines += ["", f"{shown(scored.feature.name)} (weight {scored.weight:.2f})"]
            said = sorted(scored.said, key=lambda said: -said.score)
            width = max(len(one.rule) for one in said)
            lines += [
                f"  {one.rule + ':':{width + 1}}  {_of(one.n_pos, one.size)} positive,"
                f" score {one.score:.2f}"
                for one in said
            ]
        if rest := heavy[len(heaviest) :]:
            names = ", ".join(shown(scored.feature.name) for scored in rest)
            lines += ["", *_wrapped(f"Of weight {rest[0].weight:.2f} and less: {names}.")]
        if without := [shown(s.feature.name) for s in self._scored() if s.weight == 0]:
            lines += ["", *_wrapped(f"Without weight: {', '.join(without)}.")]
        return "\n".join(lines)

    def terms(self) -> Table:
        """Return the contribution of each value to the score of a row without missing values.

        Returns
        -------
        Table
            One row for each value of each feature with a weight, in the order of the columns:
            ``feature`` (its name, or ``x0`` for a first column without one), ``rule`` (the values
            in words) and ``value`` (what they add). Numbers ascend, special values after them;
            categories have the highest value first. The last row of a feature is for missing
            values, including categories not seen in fit: 0 if they do not contribute.

        Raises
        ------
        NotFittedError
            If there is no model yet.

        Notes
        -----
        The score of a row without missing values is the sum of one ``value`` for each feature, plus
        ``base_score_``. If a value is missing, the other features share its weight, and their
        contributions grow in proportion; `explain` gives the parts of any row.

        Examples
        --------
        >>> from aucrank import RIMARC
        >>> X = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [3.0, 4.0]]
        >>> RIMARC().fit(X, [0, 1, 0, 1]).terms()
        feature  rule               value
        x0       x0 < 0.5         -0.2143
        x0       0.5 <= x0 < 2.5   0.0000
        x0       x0 >= 2.5         0.2143
        x0       x0 is missing     0.0000
        x1       x1 < 2.5         -0.2857
        x1       x1 >= 2.5         0.2857
        x1       x1 is missing     0.0000
        """
        check_is_fitted(self)
        rows = [
            (scored.feature.name, said.rule, said.part)
            for scored in self._heavy()
            for said in scored.with_missing
        ]
        return terms_table(rows)

    def explain(self, X: Any) -> NDArray[np.float64]:
        """Return the contribution of each feature to the score of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of float64, shape (n, n_features)
            Contribution of each feature to the difference from ``base_score_``: its weight times
            the score of its value less ``prevalence_``, divided by the sum of the weights of the
            features that contribute to the score of the row; 0 for the others. A row adds up to its
            `decision_function` less ``base_score_``, up to rounding.

        Raises
        ------
        NotFittedError
            If there is no model yet.
        ValueError
            If the columns are not those seen in fit.

        Examples
        --------
        >>> import numpy as np
        >>> from aucrank import RIMARC
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = RIMARC().fit(X, y)
        >>> parts = model.explain(X)
        >>> parts.shape
        (569, 30)
        >>> np.allclose(parts.sum(axis=1), model.decision_function(X) - model.base_score_)
        True
        """
        parts: NDArray[np.float64] = self._query("explain", X)
        return parts.reshape(-1, self.n_features_in_)

    def plot_terms(
        self,
        features: "Sequence[int | str] | int" = 9,
        *,
        ax: "Sequence[Axes] | Axes | None" = None,
    ) -> TermsDisplay:
        """Draw the contribution of each value of a feature to the score with matplotlib.

        Parameters
        ----------
        features : int or sequence of int or str, default=9
            Maximum number of features, those with the widest range of values first; or which ones,
            by position or by name.
        ax : matplotlib.axes.Axes or a sequence of them, default=None
            Where to draw, one for each feature. None makes a figure.

        Returns
        -------
        TermsDisplay
            What was drawn: `terms`, one panel for each feature. Panels have the same height in
            units of the score, so that steps can be compared; a dotted line is the value of missing
            ones, other lines are those of special values.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If there is no model yet.
        ValueError
            If a feature is unknown or has no weight, or there are not as many axes as features.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from aucrank import RIMARC
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> display = RIMARC().fit(X, y).plot_terms(["worst_area", "mean_texture"])
        >>> [ax.get_xlabel() for ax in display.axes_]
        ['worst_area', 'mean_texture']
        """
        check_is_fitted(self)
        terms = [scored.parts() for scored in self._heavy()]
        return draw_terms(terms, self._schema, features, ax)

    def _heavy(self) -> list[_ScoredFeature]:
        """Return the features with a weight, in the order of the columns."""
        return [scored for scored in self._scored() if scored.weight > 0]

    def _scored(self) -> list[_ScoredFeature]:
        """Return all features with the scores of their bins, in the order of the columns."""
        document, base = self._binned(), self.base_score_
        features = ranked_features(document, self._schema)
        shares = [self._model.shares(feature.place) for feature in features]
        total = sum(max(weight for _, weight in of_bin) for of_bin in shares)
        found = []
        for feature, of_bin, weight in zip(features, shares, self.weights_.tolist(), strict=True):
            scores = self._model.bin_scores(feature.place)
            bins = [
                _ScoredBin.of(
                    bin_,
                    score=nan if score is None else score,
                    part=(numerator - share * base) / total if share > 0 else 0.0,
                )
                for bin_, score, (numerator, share) in zip(
                    feature.bins, scores, of_bin, strict=True
                )
            ]
            of_document = document["features"][feature.place]["bins"]
            found.append(_ScoredFeature(feature, weight, bins, of_document))
        return found


def _by_weight(scored: list[_ScoredFeature]) -> list[_ScoredFeature]:
    """Return features by falling weight, equal ones in the order of the columns."""
    return sorted(scored, key=lambda feature: -feature.weight)


def _wrapped(text: str) -> list[str]:
    """Break a text at spaces, for a page."""
    return textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _of(part: float, size: float) -> str:
    """Return "3 of 10", for weights that need not be whole."""
    part_and_size = (part, size)
    decimals = 0 if all(value.is_integer() for value in part_and_size) else 2
    return " of ".join(f"{value:,.{decimals}f}" for value in part_and_size)
