"""RankingEnsemble: rankers of several kinds, blended."""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.external import (
    KeepsModels,
    check_ranker,
    check_takes_weights,
    is_pipeline,
    known_scores,
    refuse_missing,
)
from aucrank._base.fit_context import DatasetContext, FitContext, ParamScope
from aucrank._base.fit_progress import FitProgress
from aucrank._base.folds import deal
from aucrank._base.ranker import BaseRanker, ProbabilityMixin
from aucrank._base.sampled_fit import SampledFitMixin
from aucrank._base.summary import Section
from aucrank._data.as_frame import as_frame
from aucrank._data.column_warnings import inner_fits_are_silent
from aucrank._data.facts import Facts
from aucrank._data.input import Columns
from aucrank._data.leak_warnings import warn_of_leaks
from aucrank._data.mark_warnings import warn_of_marks
from aucrank._data.row_blocks import read_blocks
from aucrank._data.sample import BYTES_OF_VALUE, Sample, bytes_of_rows, read_sample
from aucrank._data.schema import Schema, errors_by_name
from aucrank._data.table import Table
from aucrank._data.weights import class_factors, weigh_classes
from aucrank._export.links import Link, LogOdds
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_bool, check_choice, check_int, check_real, check_time_limit
from aucrank._utils.threads import effective_n_threads
from aucrank._utils.warn import warn_caller
from aucrank._utils.words import plural
from aucrank.boosting import GradientBoostingRanker
from aucrank.data import Dataset
from aucrank.data._sampled import MOST_ROWS, Bounds
from aucrank.ensemble._cross_fit import CrossFit, CrossFitted, FoldFit
from aucrank.ensemble._distill import Distilled, Student
from aucrank.ensemble._importances import DrawnRows, draw_rows, permutation_importances
from aucrank.ensemble._judged_by_sample import JudgedBySample, most_of_class
from aucrank.ensemble._members import check_members, is_external
from aucrank.ensemble._presets import MOST_IN_MEMORY, PRESETS, is_large, is_on_trial, members_of
from aucrank.ensemble._rows_left_out import Blend, RowsLeftOut

#: With as many folds as `GradientBoostingRanker` has bags, the booster of an ensemble is that
#: ranker.
_FOLDS = 5

#: Minimal weight in the blend of a fold for a member on trial. On eleven sets of some 16,000 rows,
#: forests have 0.22 or more where they gain anything, and 0.02 or less elsewhere.
_LEAST_WEIGHT = 0.05

#: Columns of the leaderboard: the AUC of the latest rows, where there are times, and the time of
#: the fits.
_LATEST, _SECONDS = "auc_latest", "fit_seconds"


class RankingEnsemble(KeepsModels, ProbabilityMixin, SampledFitMixin, BaseRanker):
    """Rankers of several kinds, blended: the best ranking without tuning.

    Each member is fitted once per fold, leaving that fold out; its score is the mean of these
    models, and the left-out rows show how well it generalises. Boosters use these rows for early
    stopping, with the same number of rounds for all folds. The scores are mapped to log-odds, and
    the weights maximise the ramp AUC of the left-out rows, a smooth AUC, minus a penalty that
    shrinks them towards equal weights if there are few rows.

    Parameters
    ----------
    presets : {"fast", "default", "best"}, default="default"
        Set of members: boosters, forests and linear scores; the more, the longer a fit. Large data
        have fewer, see Notes. No effect with ``members``.
    members : list of (str, estimator) or None, default=None
        Estimators by name, instead of those of the preset: rankers of aucrank, whose ``n_jobs`` and
        ``verbose`` are those of the ensemble, and any of scikit-learn with ``decision_function``
        (preferred) or ``predict_proba``. The latter receive ``X`` unchanged. They are cloned, never
        fitted themselves, and each ``random_state`` is set from that of the ensemble. A fitted one
        in a ``sklearn.frozen.FrozenEstimator``, such as an imported model, is used as it is: pass
        rows that it was not fitted to, or it gets too much weight.
    n_folds : int or "auto", default="auto"
        Number of folds, at least 2; fewer if a class has fewer distinct rows. "auto" is 5.
    shrinkage : float, default=1.0
        Strength of the shrinkage towards equal weights: their squared distance times this, divided
        by the number of rows of the rarer class, is subtracted from the ramp AUC.
    time_limit : float or None, default=None
        Time limit of the members, in seconds. A member that would exceed it is stopped and left
        out. The first is always kept, with its models stopped when their share of the time is up.
        Estimators of scikit-learn cannot be stopped.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categorical: those of a data frame with a categorical or string type, or
        those listed by position, by name or in a boolean mask.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of the rows of each class; "balanced" gives both classes the same
        total. It shifts the probabilities of members and of the ensemble, and with them the
        predicted labels.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The model does not depend on it, unless ``time_limit`` is reached.
    random_state : int, RandomState instance or None, default=None
        Seeds the folds and the sampling of members.
    verbose : int, default=0
        If 1, print at the end how well the ensemble ranks; if 2, also a line after each fit and
        member; the excess over 2 is the ``verbose`` of the members.

    Attributes
    ----------
    leaderboard_ : Table
        The ensemble and its members, the best first: ``name``; ``weight`` in the blend; ``auc`` of
        left-out rows, the mean over folds, with the ends of its 95 % interval, ``low`` and
        ``high``; and ``fit_seconds``, the sum over its fits, which a saved file does not hold, so
        that equal fits give equal files. The ensemble is evaluated on each fold with weights chosen
        on the other folds.
    weights_ : dict
        Weight of each member by name; they sum to 1.
    feature_importances_ : ndarray of shape (n_features,)
        Permutation importance: loss in AUC of left-out rows when the values of the feature are
        permuted; about 0 for a noise column, however many values it has. Computed on a sample of at
        most 2,000 rows, which are kept until the first access, saving or pickling. Only if no
        member uses estimators of other packages.
    sampled_rows_ : tuple of int, or None
        Number of rows learned from, and of all rows, if ``members`` were fitted to the common
        sample of a `Dataset`; None if all rows were used.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the class to rank first.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if any.

    See Also
    --------
    GradientBoostingRanker : The strongest member alone.

    Notes
    -----
    The score is the log-odds of the positive class: a linear maximum likelihood fit (Platt scaling)
    for each member ([1]_), and another for the mean.

    Rows are dealt into folds by their content, copies of a row together. Rows of equal values and
    different labels, and copies if nearly all rows are copies, are dealt one by one. The order of
    rows does not matter.

    Beyond 2^17 values (rows times features) forests have fewer than 100 trees, to limit their cost,
    and presets have a forest, or a score without thresholds, only if the first fold gives it some
    weight; beyond 2^20 presets have no forest, and beyond 2^24 they are one booster. Its folds keep
    all copies of a row together, and it is calibrated and evaluated on the distinct rows of each
    class whose content has the 100,000 smallest hashes (fewer with more than 83 features, 2^23
    values).

    If a member is an estimator of scikit-learn, the ensemble can be pickled, but neither saved nor
    exported to SQL or PMML.

    References
    ----------
    .. [1] Platt, "Probabilistic outputs for support vector machines and comparisons to regularized
       likelihood methods", Advances in Large Margin Classifiers, 1999.

    Examples
    --------
    >>> from aucrank.datasets import load_breast_cancer
    >>> from aucrank.ensemble import RankingEnsemble
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RankingEnsemble(presets="fast", random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    >>> sorted(model.weights_)
    ['boosting', 'linear_thresholds']
    """

    _family = "ensemble"
    _kept = "_estimators"
    _answer = staticmethod(known_scores)
    _FITTED = (*BaseRanker._FITTED, "_estimators", "_leaderboard", "_left_out", "_importances")
    _model: _core.Ensemble
    _estimators: tuple[Any, ...]
    _left_out: "_LeftOut | None"
    _importances: NDArray[np.float64] | list[DrawnRows]

    def __init__(
        self,
        *,
        presets: str = "default",
        members: Any = None,
        n_folds: Any = "auto",
        shrinkage: float = 1.0,
        time_limit: float | None = None,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.presets = presets
        self.members = members
        self.n_folds = n_folds
        self.shrinkage = shrinkage
        self.time_limit = time_limit
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
        """Fit the members without each fold, and blend them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features), or Dataset
            Training data. Data frames of pandas, polars and pyarrow may have categorical columns;
            NaN, None and null are missing values. A :class:`~aucrank.data.Dataset` has rows that
            need not fit in memory, and their labels and weights: the model is that of one frame
            with all of its rows. Up to 2^24 values, rows times features, it loads all of them into
            memory; beyond, its booster queries them for sums wherever they are stored, and
            ``members`` are fitted to the common sample: the 200,000 distinct rows whose content has
            the smallest hashes, with all copies.
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
            When each row was recorded, as numbers or dates: the latest part is held out, and folds
            are ranges of time.
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

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        check_choice(self.presets, "presets", tuple(PRESETS))
        if self.members is not None:
            check_members(self.members)
        self._folds()
        check_time_limit(self.time_limit)
        shrinkage = check_real(self.shrinkage, "shrinkage", low=0.0, high_open=True)
        return {"shrinkage": shrinkage, "half_width": 1.0}

    def _folds(self) -> int:
        """Return the number of folds."""
        if isinstance(self.n_folds, str) and self.n_folds == "auto":
            return _FOLDS
        n_folds = check_int(self.n_folds, "n_folds", low=2, high=65_534)
        assert n_folds is not None
        return n_folds

    def _rankers(self, n_values: int) -> list[tuple[str, Any]]:
        if self.members is not None:
            return check_members(self.members)
        return members_of(self.presets, n_values)

    def _check_unasked(self, columns: Columns, schema: Schema) -> None:
        """Check for missing values as members would, if none has any weight."""
        if not get_tags(self).input_tags.allow_nan:
            refuse_missing(columns, schema, "a member of the ensemble")

    def _external_estimator(self) -> Any:
        # Members are fitted and kept by `CrossFit`.
        return None

    def _fit_facts(self, whole: DatasetContext) -> None:
        dataset, facts, n_threads = whole.dataset, whole.facts, whole.n_threads
        schema, n_values = facts.schema, _n_values_of(facts)
        if self._is_judged_by_sample(n_values):
            start, n_columns = perf_counter(), len(schema.features)
            judging = dataset.sample_of_classes(facts, n_threads, most_of_class(n_columns))
            sample = judging[0]
            warn_of_leaks(sample.columns, schema, sample.positive, sample.weight)
            warn_of_marks(sample.columns, schema)
            fit = partial(self._fit_large, start=start, judging=judging)
            with errors_by_name(schema), inner_fits_are_silent():
                model = self._with_warnings_of(fit, whole)
            self._set_fitted(self.classes_, schema, model)
            return
        # With few values, all rows are loaded as for a frame.
        is_sampled = is_large(n_values)
        most = None if is_sampled else facts.n_rows
        sample = (
            dataset.sample(facts, n_threads)
            if is_sampled
            else dataset.all_rows(facts, n_threads, type(self).__name__)
        )
        if any(is_external(ranker) for _, ranker in self._rankers(n_values)):
            sample = replace(sample, rows=dataset.frame_of_sample(facts, n_threads, most))
        self._fit_sample(FitContext(sample, whole.seed, n_threads, whole.progress), facts.n_rows)

    def _fit_model(self, context: FitContext) -> _core.Ensemble:
        is_judged_by_sample = self._is_judged_by_sample(_n_values(context.sample))
        return self._with_warnings_of(
            self._fit_large if is_judged_by_sample else self._fit_members, context
        )

    def _with_warnings_of(
        self, fit: Callable[[Any], tuple[_core.Ensemble, str]], context: Any
    ) -> _core.Ensemble:
        """Fit, give the warnings, and report on the ensemble if wanted."""
        # With few rows, members and intervals would also warn; one warning is enough.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, message = fit(context)
        if message:
            warn_caller(message)
        if self.verbose > 0:
            table = self.leaderboard_
            auc = table["auc"][table["name"] == "ensemble"][0]
            size = plural(len(self.weights_), "member")
            print(f"[RankingEnsemble] {size}, AUC {auc:.4f} on rows left out")
        return model

    def _bytes_held(self, n_rows: int, n_columns: int) -> int:
        n_values = n_rows * n_columns
        if not is_large(n_values):
            return bytes_of_rows(n_rows, n_values)
        if self.members is not None:
            n_rows = min(n_rows, MOST_ROWS)
            return bytes_of_rows(n_rows, n_rows * n_columns)
        judging = BYTES_OF_VALUE * min(n_rows, 2 * most_of_class(n_columns)) * n_columns
        booster = GradientBoostingRanker(n_bags=self._folds())
        return judging + booster._bytes_held(n_rows, n_columns)

    def _is_judged_by_sample(self, n_values: int) -> bool:
        """Whether data of this size have a single booster, evaluated on a sample of the rows."""
        return self.members is None and is_large(n_values)

    def _fit_large(
        self,
        context: FitContext | DatasetContext,
        start: float | None = None,
        judging: tuple[Sample, Bounds] | None = None,
    ) -> tuple[_core.Ensemble, str]:
        """As `_fit_members`, for one booster: to rows in memory, or of a `Dataset`.

        The latter has a sample for the evaluation, by `Dataset.sample_of_classes`.
        """
        end = self._end(perf_counter() if start is None else start)
        # Any number that counts as large.
        [(name, booster)] = rankers = members_of(self.presets, MOST_IN_MEMORY + 1)
        judge = JudgedBySample(name, booster, self.classes_, self._folds(), self.verbose, end)
        if isinstance(context, FitContext):
            found, left_out = judge.fit(context)
        else:
            assert judging is not None
            found, left_out = judge.fit_dataset(context, *judging)
        _goes_on(context.progress, found, 1)
        return self._blended([found], left_out, rankers, context)

    def _fit_members(self, context: FitContext) -> tuple[_core.Ensemble, str]:
        """Return the ensemble, and a warning for the user, if any."""
        start, sample = perf_counter(), context.sample
        rankers = self._rankers(_n_values(sample))
        folds = deal(sample, self._folds(), context.seed, context.n_threads)
        cross = CrossFit(context, folds, self.classes_, self.verbose)
        fitted: list[CrossFitted] = []
        for found in self._fit_each(cross, rankers, self._end(start), self._blend(context)):
            fitted.append(found)
            if not _goes_on(context.progress, found, len(rankers)):
                break
        return self._blended(fitted, cross, rankers, context)

    def _blended(
        self,
        fitted: list[CrossFitted],
        left_out: RowsLeftOut,
        rankers: list[tuple[str, Any]],
        context: FitContext | DatasetContext,
    ) -> tuple[_core.Ensemble, str]:
        """Return the blend of fitted members, and a warning for the user."""
        message, folds, blend = "", left_out.folds, self._blend(context)
        if folds.n_folds < 2:
            message = (
                "A class has one distinct row, so no rows can be left out: members are weighted by"
                " rows that they were fitted to."
            )
        scores = [member.scores for member in fitted]
        blended = blend(scores, left_out.sample.labels, left_out.sample.weight)
        blended["intercept"] += left_out.shift
        nested = left_out.nested(scores, blend)
        self._leaderboard = _leaderboard(fitted, blended["weights"], nested, left_out)
        used_with = [
            (factor, member)
            for member, factor in zip(fitted, blended["factors"], strict=True)
            if factor > 0
        ]
        self._left_out = None
        if isinstance(left_out, CrossFit):
            used = [
                (member.name, clone(rankers[member.place][1]), member.place)
                for _, member in used_with
            ]
            dealt = (self._folds(), folds.n_folds)
            blocks = left_out.sample.blocks
            gap = None if blocks is None else blocks.gap
            params = self._blend_params()
            self._left_out = _LeftOut(nested, context.seed, *dealt, used, params, gap)
        n_levels = left_out.sample.schema.n_levels
        model, self._estimators = _put_together(used_with, blended["intercept"], n_levels)
        if not any(blended["factors"]):
            message = "No member is better than chance, so all scores are equal."
        if not any(is_external(ranker) for _, ranker in rankers):
            self.__dict__.pop(self._kept)
        if not model.external_models():
            without_folds = [(factor, member.without_fold) for factor, member in used_with]
            self._importances = draw_rows(left_out, without_folds, context.seed)
        return model, message

    def _blend(self, context: FitContext | DatasetContext) -> Blend:
        return _blend_by(self._blend_params(), context.n_threads)

    def _blend_params(self) -> str:
        return json.dumps(self._core_params(ParamScope()))

    def _end(self, start: float) -> float | None:
        """Return the deadline of the members, by `time.perf_counter`."""
        return None if self.time_limit is None else start + self.time_limit

    def _fit_each(
        self, cross: CrossFit, rankers: list[tuple[str, Any]], end: float | None, blend: Blend
    ) -> Iterator[CrossFitted]:
        """Fit the members that time permits and that are worthwhile; always the first."""
        fitted: list[CrossFitted] = []
        n_together = 0
        if end is None:
            on_trial = [self._is_on_trial(name, cross) for name, _ in rankers]
            n_together = on_trial.index(True) if any(on_trial) else len(rankers)
            for found in cross.fit_all(rankers[:n_together]):
                fitted.append(found)
                yield found
        for place, (name, ranker) in enumerate(rankers[n_together:], n_together):
            if end is not None and fitted and perf_counter() >= end:
                break
            is_worth = partial(_has_weight, fitted, cross, blend)
            one = cross.fit_one(
                name,
                ranker,
                place,
                end=end,
                in_any_case=not fitted,
                is_worth=is_worth if self._is_on_trial(name, cross) else None,
            )
            if one is not None:
                fitted.append(one)
                yield one

    def _is_on_trial(self, name: str, cross: CrossFit) -> bool:
        if self.members is not None or cross.folds.n_folds < 2:
            return False
        return is_on_trial(self.presets, name, _n_values(cross.sample))

    def _progress_line(self, unit: str, number: int, most: int | None, figures: Any) -> str:
        return f"[RankingEnsemble] {number} of {most} members, {figures['seconds']:.1f} s"

    @property
    def leaderboard_(self) -> Table:
        """Return how well the ensemble and its members rank left-out rows."""
        table: Table = self._reported("_leaderboard", "leaderboard_")
        return table

    @property
    def weights_(self) -> dict[str, float]:
        """Return the weight of each member."""
        table = self.leaderboard_
        named = zip(table["name"], table["weight"], strict=True)
        return {name: float(weight) for name, weight in named if name != "ensemble"}

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Return the loss in AUC of left-out rows when a feature is shuffled."""
        if self.__dict__.get(self._kept):
            raise AttributeError(
                "feature_importances_ needs members of aucrank alone;"
                " sklearn.inspection.permutation_importance serves any"
            )
        found: NDArray[np.float64] | list[DrawnRows] = self._reported(
            "_importances", "feature_importances_"
        )
        if isinstance(found, list):
            found = permutation_importances(
                found, self.n_features_in_, effective_n_threads(self.n_jobs)
            )
            self._importances = found
        return found

    def _reported(self, attribute: str, name: str) -> Any:
        if attribute not in self.__dict__:
            check_is_fitted(self)
            raise AttributeError(f"a model from a file has no {name}")
        return self.__dict__[attribute]

    def _fit_report(self) -> dict[str, Any]:
        report: dict[str, Any] = {}
        if "_leaderboard" in self.__dict__:
            report["leaderboard"] = _lasting(self._leaderboard)
        if "_importances" in self.__dict__:
            # Instead of the rows from which they are computed: no user data are stored.
            report["feature_importances"] = self.feature_importances_
        return report

    def _restore_report(self, report: Mapping[str, Any]) -> None:
        if "leaderboard" in report:
            self._leaderboard = _read_leaderboard(report["leaderboard"])
        if "feature_importances" in report:
            found = report["feature_importances"]
            if not (_is_column(found) and found.shape == (self.n_features_in_,)):
                raise ValueError("`feature_importances` are not one number for each feature")
            self._importances = found

    @property
    def explain(self) -> Any:
        """Raise an error that names alternatives."""
        raise AttributeError(
            "RankingEnsemble has no explain: its score is not a sum of parts of features."
            " aucrank.inspection.shapley_values compares rows with others; or look at"
            " feature_importances_ and sklearn.inspection.partial_dependence, or distill a ranker"
            " that can be explained"
        )

    def distill(
        self,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
        compare: bool = True,
    ) -> Distilled:
        """Fit a readable ranker to the output of the ensemble for its training rows.

        Each row becomes a positive and a negative one, weighted by the probability of its label
        according to models that were not fitted to it: labels with less noise. A tree learns more
        from these than from the labels themselves, and so do boosted thresholds on few rows; an
        additive model, such as a scorecard, does not. The comparison shows which is the case.

        Parameters
        ----------
        estimator : estimator
            A ranker that accepts weights: of aucrank, or of scikit-learn with ``decision_function``
            or ``predict_proba``. It is cloned, never fitted itself.
        X : array-like or data frame of shape (n, n_features)
            The rows of the fit, in any order.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Their weights, if they had any.
        groups, time : array-like of shape (n,), default=None
            Groups and times that were passed to the fit, if any; its ``gap`` is known.
        compare : bool, default=True
            Whether to compare it with the ensemble, and with the same ranker fitted to the labels.
            For an unbiased comparison all members are refitted without each pair of folds, since
            the distilled ranker must not depend on the rows on which it is evaluated: this takes
            one and a half times as long as the fit with five folds.

        Returns
        -------
        Distilled
            The fitted ranker, and the comparison.

        Raises
        ------
        AttributeError
            If the ensemble was loaded from a file, which does not store its scores of training
            rows.
        TypeError
            If ``estimator`` is not a ranker.
        ValueError
            If these are not the rows of the fit, the estimator accepts no weights, ``compare``
            needs more folds than there are, or the ensemble was fitted to more than 2^24 values.

        Examples
        --------
        >>> from aucrank import RankingEnsemble, TreeRank
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = RankingEnsemble(presets="fast", random_state=0).fit(X, y)
        >>> tree, table = model.distill(TreeRank(random_state=0), X, y)
        >>> sorted(table["name"].tolist())
        ['distilled', 'ensemble', 'plain']
        >>> tree.score(X, y) > 0.97
        True
        """
        left_out: _LeftOut | None = self._reported("_left_out", "scores of its training rows")
        if left_out is None:
            raise ValueError(
                "distill needs the ensemble's score of each row that was left out, but it was"
                f" fitted to more than {MOST_IN_MEMORY:,} values (rows times columns), of which it"
                " scored a sample: distill an ensemble of fewer rows"
            )
        if isinstance(X, Dataset):
            raise TypeError(
                "distill needs the rows in a frame: pass those of the Dataset as X and y"
            )
        if check_bool(compare, "compare") and left_out.n_dealt < 3:
            raise ValueError(
                "compare=True needs three folds or more, but the ensemble has"
                f" {left_out.n_dealt}: without two, none would be left"
            )
        check_ranker(estimator, "estimator")
        check_takes_weights(estimator, "estimator")
        X = as_frame(X)
        sample = read_sample(self, X, y, sample_weight, self._schema, self.classes_)
        factors = class_factors(self.class_weight, self.classes_, sample.labels, sample.weight)
        weight = weigh_classes(factors, sample.labels, sample.weight)
        kept = None if weight is None else weight > 0
        blocks = read_blocks(groups, time, sample.n_rows, kept)
        if blocks is not None:
            blocks = replace(blocks, gap=left_out.gap)
        sample = replace(sample, rows=X, weight=weight, blocks=blocks)
        n_threads = effective_n_threads(self.n_jobs)
        context = FitContext(sample, left_out.seed, n_threads, FitProgress(self))
        with errors_by_name(self._schema), warnings.catch_warnings(), inner_fits_are_silent():
            warnings.simplefilter("ignore")
            folds = deal(sample, left_out.n_folds, left_out.seed, n_threads)
            cross = CrossFit(context, folds, self.classes_)
            table = self.leaderboard_
            (own,) = np.flatnonzero(table["name"] == "ensemble")
            is_same = len(left_out.scores) == len(cross.folds.rows)
            if not is_same or cross.auc(left_out.scores).auc != table["auc"][own]:
                raise ValueError(
                    "X, y, sample_weight, groups and time must be those of the fit of the ensemble"
                )
            student = Student(estimator, X, cross, self.classes_)
            ranker = student.fit_to(left_out.scores)
            if not compare:
                return Distilled(ranker, None)
            blend = _blend_by(left_out.params, n_threads)
            return Distilled(ranker, student.compare(left_out.rankers, left_out.scores, blend))

    def _size(self) -> str:
        return plural(len(self._model.factors()), "member")

    def _link(self) -> Link:
        return LogOdds()

    def _summary(self) -> list[Section]:
        if "_leaderboard" not in self.__dict__:
            return [Section(f"Ensemble ({self._size()})")]
        title = f"Leaderboard, on rows left out ({self._size()})"
        return [Section(title, table=_lasting(self.leaderboard_))]

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        # What a file leaves out.
        kept = ("_leaderboard", "_left_out")
        return state | {name: self.__dict__[name] for name in kept if name in self.__dict__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_leaderboard" in state:
            self._leaderboard = state["_leaderboard"]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        members = self.members if isinstance(self.members, list | tuple) else ()
        for member in members:
            ranker = member[1] if isinstance(member, tuple) and len(member) == 2 else None
            if not isinstance(ranker, BaseEstimator):
                continue
            of_ranker = get_tags(ranker).input_tags
            tags.input_tags.sparse &= of_ranker.sparse
            # The tags of a pipeline do not reflect an imputer in it.
            if not is_pipeline(ranker):
                tags.input_tags.allow_nan &= of_ranker.allow_nan
        return tags


def _goes_on(progress: FitProgress, found: CrossFitted, n_members: int) -> bool:
    """Report a member that is done; return whether to fit more."""
    figures = {"seconds": found.seconds}
    observer = progress.observer
    return observer is None or bool(observer("member", found.place + 1, n_members, figures))


def _has_weight(fitted: Sequence[CrossFitted], cross: CrossFit, blend: Blend, fit: FoldFit) -> bool:
    """Whether a member has weight in the blend with others on a fold left out of its fit."""
    sample = cross.sample.take(fit.left_out)
    scores = [*(member.scores[fit.left_out] for member in fitted), fit.scores]
    return bool(blend(scores, sample.labels, sample.weight)["weights"][-1] >= _LEAST_WEIGHT)


def _blend_by(params: str, n_threads: int) -> Blend:
    return partial(_core.blend_scores, params=params, n_threads=n_threads)


def _n_values(sample: Sample) -> int:
    return sample.n_rows * len(sample.schema.features)


def _n_values_of(facts: Facts) -> int:
    return facts.n_rows * len(facts.schema.features)


def _put_together(
    members: Sequence[tuple[float, CrossFitted]], intercept: float, n_levels: list[int | None]
) -> tuple[_core.Ensemble, tuple[Any, ...]]:
    """Return the blend of members by their factors, and the estimators that it uses by number."""
    parts: list[tuple[float, Sequence[Any], Sequence[int]]] = []
    estimators: list[Any] = []
    for factor, member in members:
        models = member.member.finish(member.models)
        if isinstance(models[0], _core.Model):
            parts.append((factor / len(models), models, ()))
        else:
            numbers = range(len(estimators), len(estimators) + len(models))
            parts.append((factor / len(models), (), list(numbers)))
            estimators += models
    model = _core.build_ensemble(n_levels, parts, intercept)
    return model, tuple(estimators)


@dataclass(frozen=True)
class _LeftOut:
    """Scores of the left-out rows of a fit, kept for `RankingEnsemble.distill`.

    Attributes
    ----------
    scores : ndarray of float64, shape (n,)
        Score of each row, in the order of the folds, by models and weights fitted without it.
    seed : int
        Seed of the folds.
    n_folds : int
        Number of folds requested.
    n_dealt : int
        Number of folds made.
    rankers : list of (str, estimator, int)
        Members with positive weight and their positions, as in the fit.
    params : str
        Parameters of the blend, in the form of the core.
    gap : float or None
        Gap between times, in the unit of `RowBlocks`.
    """

    scores: NDArray[np.float64]
    seed: int
    n_folds: int
    n_dealt: int
    rankers: list[tuple[str, Any, int]]
    params: str
    gap: float | None


def _leaderboard(
    members: Sequence[CrossFitted],
    weights: Sequence[float],
    blended: NDArray[np.float64],
    left_out: RowsLeftOut,
) -> Table:
    """Return the ensemble and its members by the AUC of left-out rows, best first."""
    rows = [("ensemble", 1.0, blended, sum(member.seconds for member in members))]
    rows += [
        (member.name, weight, member.scores, member.seconds)
        for member, weight in zip(members, weights, strict=True)
    ]
    found = [left_out.auc(scores) for _, _, scores, _ in rows]
    columns: dict[str, Any] = {
        "name": np.array([row[0] for row in rows], dtype=object),
        "weight": np.array([row[1] for row in rows]),
        "auc": np.array([interval.auc for interval in found]),
        "low": np.array([interval.low for interval in found]),
        "high": np.array([interval.high for interval in found]),
    }
    if left_out.has_times:
        columns[_LATEST] = np.array([left_out.auc_of_latest(row[2]) for row in rows])
    columns[_SECONDS] = np.array([row[3] for row in rows])
    order = np.argsort(-columns["auc"], kind="stable")
    return Table({name: column[order] for name, column in columns.items()})


def _lasting(leaderboard: Table) -> Table:
    """Return what equal fits have in common: all but the time that they took."""
    return Table({name: column for name, column in leaderboard.items() if name != _SECONDS})


def _read_leaderboard(found: Any) -> Table:
    """Return the leaderboard of a saved file.

    Raises
    ------
    ValueError
        If it has another form.
    """
    columns = ["name", "weight", "auc", "low", "high"]
    if not isinstance(found, dict) or list(found) not in (columns, [*columns, _LATEST]):
        raise ValueError("`leaderboard` has other columns")
    names, *numbers = found.values()
    if not (isinstance(names, np.ndarray) and all(isinstance(name, str) for name in names)):
        raise ValueError("the names in `leaderboard` are not text")
    if not all(_is_column(column) for column in numbers) or "ensemble" not in names:
        raise ValueError("`leaderboard` does not measure the ensemble")
    return Table(found)


def _is_column(found: Any) -> bool:
    return isinstance(found, np.ndarray) and found.dtype == np.float64
