"""RankingEnsemble: rankers of several kinds, blended."""

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.external import (
    KeepsModels,
    check_ranker,
    check_takes_weights,
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
from aucrank._data.row_blocks import read_blocks
from aucrank._data.sample import Sample, read_sample
from aucrank._data.schema import Schema, errors_by_name
from aucrank._data.table import Table
from aucrank._data.weights import class_factors, weigh_classes
from aucrank._export.links import Link, LogOdds
from aucrank._utils.params import check_bool, check_choice, check_int, check_real
from aucrank._utils.threads import effective_n_threads
from aucrank._utils.warn import warn_caller
from aucrank._utils.words import plural
from aucrank.boosting import GradientBoostingRanker
from aucrank.data import Dataset
from aucrank.data._sampled import MOST_ROWS
from aucrank.ensemble._cross_fit import CrossFit, CrossFitted, FoldFit
from aucrank.ensemble._distill import Distilled, Student
from aucrank.ensemble._importances import AskedRows, draw_rows, permutation_importances
from aucrank.ensemble._judged_by_sample import JudgedBySample, most_of_class
from aucrank.ensemble._members import check_members, is_external
from aucrank.ensemble._presets import MOST_IN_MEMORY, PRESETS, is_large, is_on_trial, members_of
from aucrank.ensemble._rows_left_out import Blend, RowsLeftOut

#: By as many folds as `GradientBoostingRanker` has bags, the booster of an ensemble is that ranker.
_FOLDS = 5

#: Of the blend of a fold that a member on trial must have. Of eleven sets of some 16,000 rows,
#: forests have 0.22 or more on those where they gain anything, and 0.02 or less on the others.
_LEAST_WEIGHT = 0.05


#: What a fit to a `Dataset` takes for each value that it has in memory, and for each row. Measured
#: on 100,000 and 400,000 rows of 20 numbers: 960 and 921 bytes a row.
_BYTES_OF_VALUE, _BYTES_OF_ROW = 32, 300


class RankingEnsemble(KeepsModels, ProbabilityMixin, SampledFitMixin, BaseRanker):
    """Rankers of several kinds, blended: the best ranking without a choice to make.

    Each member is fitted as often as there are folds, each time without one of them; its score is
    the mean of these models, and the rows left out tell how well it ranks what it has not seen.
    Boosters stop early by these rows, all folds after the same number of rounds. The
    scores are brought to log-odds, and their weights maximise the ramp AUC of the rows left out, a
    smooth AUC, less a penalty that draws them to equal weights where rows are few.

    Parameters
    ----------
    presets : {"fast", "default", "best"}, default="default"
        Which members there are: boosters, forests and linear scores; the more, the longer a fit.
        Of large data there are fewer, see Notes. It has no effect with ``members``.
    members : list of (str, estimator) or None, default=None
        Estimators by name, in place of those of the preset: rankers of aucrank, whose ``n_jobs``
        and ``verbose`` are those of the ensemble, and any of scikit-learn with
        ``decision_function`` or ``predict_proba``; of both, the first is taken. The latter see
        ``X`` as it was passed. They are cloned, never fitted themselves, and each ``random_state``
        is set from that of the ensemble.
    n_folds : int or "auto", default="auto"
        Folds into which rows are dealt, at least 2; fewer where a class has fewer distinct rows.
        "auto" is 5.
    shrinkage : float, default=1.0
        How strongly weights are drawn to equal ones: their squared distance times this, divided by
        the number of rows of the rarer class, is subtracted from the ramp AUC.
    time_limit : float or None, default=None
        Seconds that the members have. One that would take longer than there is time is ended and
        left out. The first is kept in any case, its models ended where their share of the time is
        up. Estimators of scikit-learn cannot be ended.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns hold categories: those of a data frame whose type says so, or those listed
        by position, by name or in a boolean mask.
    class_weight : dict, "balanced" or None, default=None
        What the weights of rows are multiplied by, by class; "balanced" makes the sums of both
        classes equal. It moves the probabilities of members and of the ensemble, and with them
        what is called positive.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The model does not depend on it, unless ``time_limit`` is reached.
    random_state : int, RandomState instance or None, default=None
        Seeds the folds and what members draw.
    verbose : int, default=0
        If 1, print in the end how well the ensemble ranks; if 2, a line after each fit and member,
        too; what is more is the ``verbose`` of the members.

    Attributes
    ----------
    leaderboard_ : Table
        The ensemble and its members, the best first: ``name``; ``weight`` in the blend; ``auc`` of
        rows that were left out, the mean over folds, with the ends of its 95 % interval, ``low``
        and ``high``; and ``fit_seconds``, the sum over its fits. The ensemble is judged fold by
        fold with weights that the other folds chose. Not kept in a saved file.
    weights_ : dict
        Weight of each member by name; they add up to 1.
    feature_importances_ : ndarray of shape (n_features,)
        What the AUC of rows left out loses where the values of the feature change places among
        them: about 0 for a column of noise, however many values it has. Taken on a sample of at
        most 2,000 rows, which are kept until it is asked for or pickled. Only with members of
        aucrank that ask no estimators; not kept in a saved file.
    sampled_rows_ : tuple of int, or None
        Number of rows that were learned from, and of all rows, where ``members`` were fitted to the
        common sample of a `Dataset`; None where all were learned from.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the class to rank first.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they had any.

    See Also
    --------
    GradientBoostingRanker : The strongest member alone.

    Notes
    -----
    The score is the log-odds of the positive class: a line of maximum likelihood for each member
    ([1]_), and one more for the mean.

    Rows are dealt into folds by their content, copies of a row together. Rows of equal values and
    different labels, and copies where there is hardly anything else, are dealt one by one. The
    order of rows does not matter.

    Of rows times features, more than 2^17 leave forests fewer than 100 trees, so that they cost no
    more, and the default preset has a forest only if the first fold gives it some weight; beyond
    2^20 presets have no forest, and beyond 2^24 they are one booster. Its folds have all copies of
    a row together, and it is calibrated and judged by the distinct rows of each class whose content
    has the 100,000 smallest hashes (of more than 83 features fewer, 2^23 values).

    Where a member is an estimator of scikit-learn, the ensemble can be pickled, but neither saved
    nor written as SQL or PMML.

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
    #: What a file does not hold, and pickle does.
    _NOT_SAVED: ClassVar[tuple[str, ...]] = ("_leaderboard", "_left_out", "_importances")
    _FITTED = (*BaseRanker._FITTED, "_estimators", *_NOT_SAVED)
    _model: _core.Ensemble
    _estimators: tuple[Any, ...]
    _left_out: "_LeftOut | None"
    _importances: NDArray[np.float64] | list[AskedRows]

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

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
    ) -> Self:
        """Fit the members without each fold, and blend them.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features), or Dataset
            Training data. Data frames of pandas, polars and pyarrow may have categorical columns;
            NaN, None and null are missing values.
            A :class:`~aucrank.data.Dataset` has rows that need not fit in memory, and their labels
            and weights: the fit is that to one frame with all of its rows. Up to 2^24 values, rows
            times features, it takes all of them into memory; beyond, its booster asks for sums of
            them wherever they are, and ``members`` are fitted to the common sample: the 200,000
            distinct rows whose content has the smallest hashes, all copies of them.
        y : array-like of shape (n,), default=None
            Labels, two distinct values. The greater one is the class to rank first. None where
            ``X`` is a data set.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row; weight k means the row repeated k times, and weight 0 a row that
            is not there.
        groups : array-like of shape (n,), default=None
            Which rows belong together, such as those of a patient: they stay together in folds,
            and in what is held out or drawn.
        time : array-like of shape (n,), default=None
            When each row came, as numbers or dates: what is held out is the latest part, and folds
            are ranges of time.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter, the data, the labels or the weights are not valid.
        """
        return self._fit(X, y, sample_weight, groups=groups, time=time)

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        check_choice(self.presets, "presets", tuple(PRESETS))
        if self.members is not None:
            check_members(self.members)
        self._folds()
        check_real(
            self.time_limit, "time_limit", low=0.0, low_open=True, high_open=True, optional=True
        )
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
        """Say what members would of missing values, where none has any weight."""
        if not get_tags(self).input_tags.allow_nan:
            refuse_missing(columns, schema, "a member of the ensemble")

    def _external_estimator(self) -> Any:
        # Members are fitted and kept by `CrossFit`.
        return None

    def _fit_facts(self, whole: DatasetContext) -> None:
        dataset, facts, n_threads = whole.dataset, whole.facts, whole.n_threads
        schema, n_values = facts.schema, _n_values_of(facts)
        with errors_by_name(schema), inner_fits_are_silent():
            if self._is_judged_by_sample(n_values):
                model = self._told_of(self._fit_large, whole)
                self._set_fitted(self.classes_, schema, model)
                return
        # Of few values all rows are taken, as those of a frame.
        is_sampled = is_large(n_values)
        most = None if is_sampled else facts.n_rows
        sample = (
            dataset.sample(facts, n_threads) if is_sampled else dataset.all_rows(facts, n_threads)
        )
        if any(is_external(ranker) for _, ranker in self._rankers(n_values)):
            sample = replace(sample, rows=dataset.frame_of_sample(facts, n_threads, most))
        self._fit_sample(FitContext(sample, whole.seed, n_threads, whole.progress), facts.n_rows)

    def _fit_model(self, context: FitContext) -> _core.Ensemble:
        is_judged_by_sample = self._is_judged_by_sample(_n_values(context.sample))
        return self._told_of(self._fit_large if is_judged_by_sample else self._fit_members, context)

    def _told_of(
        self, fit: Callable[[Any], tuple[_core.Ensemble, str]], context: Any
    ) -> _core.Ensemble:
        """Fit, warn of what is to be warned of, and report on the ensemble if wanted."""
        # Members and intervals of few rows have their own warnings; one is enough.
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
            return _BYTES_OF_VALUE * n_values + _BYTES_OF_ROW * n_rows
        if self.members is not None:
            n_rows = min(n_rows, MOST_ROWS)
            return _BYTES_OF_VALUE * n_rows * n_columns + _BYTES_OF_ROW * n_rows
        judging = _BYTES_OF_VALUE * min(n_rows, 2 * most_of_class(n_columns)) * n_columns
        booster = GradientBoostingRanker(n_bags=self._folds())
        return judging + booster._bytes_held(n_rows, n_columns)

    def _is_judged_by_sample(self, n_values: int) -> bool:
        """Whether so many values have one booster, which is judged by a sample of the rows."""
        return self.members is None and is_large(n_values)

    def _fit_large(self, context: FitContext | DatasetContext) -> tuple[_core.Ensemble, str]:
        """As `_fit_members`, where there is one booster: to rows in memory, or of a `Dataset`."""
        end = self._end(perf_counter())
        # Any number of many values.
        [(name, booster)] = rankers = members_of(self.presets, MOST_IN_MEMORY + 1)
        judge = JudgedBySample(name, booster, self.classes_, self._folds(), self.verbose, end)
        if isinstance(context, FitContext):
            found, left_out = judge.fit(context)
        else:
            found, left_out = judge.fit_dataset(context)
        _goes_on(context.progress, found, 1)
        return self._blended([found], left_out, rankers, context)

    def _fit_members(self, context: FitContext) -> tuple[_core.Ensemble, str]:
        """Return the ensemble, and what the user should be warned of, if anything."""
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
        """Return the blend of fitted members, and what the user should be warned of."""
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
        self._left_out = None
        if isinstance(left_out, CrossFit):
            used = [
                (member.name, clone(rankers[member.place][1]), member.place)
                for member, factor in zip(fitted, blended["factors"], strict=True)
                if factor > 0
            ]
            dealt = (self._folds(), folds.n_folds)
            self._left_out = _LeftOut(nested, context.seed, *dealt, used, self._blend_params())
        n_levels = left_out.sample.schema.n_levels
        model, self._estimators = _put_together(fitted, blended, n_levels)
        if not any(blended["factors"]):
            message = "No member is better than chance, so all scores are equal."
        if not any(is_external(ranker) for _, ranker in rankers):
            self.__dict__.pop(self._kept)
        if not model.external_models():
            self._importances = draw_rows(left_out, context.seed)
        return model, message

    def _blend(self, context: FitContext | DatasetContext) -> Blend:
        return _blend_by(self._blend_params(), context.n_threads)

    def _blend_params(self) -> str:
        return json.dumps(self._core_params(ParamScope()))

    def _end(self, start: float) -> float | None:
        """Return when members have to be done, by `time.perf_counter`."""
        return None if self.time_limit is None else start + self.time_limit

    def _fit_each(
        self, cross: CrossFit, rankers: list[tuple[str, Any]], end: float | None, blend: Blend
    ) -> Iterator[CrossFitted]:
        """Fit the members that there is time for and that are worth it; the first in any case."""
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
        """Return how well the ensemble and its members rank rows they were not fitted to."""
        table: Table = self._not_saved("_leaderboard", "leaderboard_")
        return table

    @property
    def weights_(self) -> dict[str, float]:
        """Return the weight of each member."""
        table = self.leaderboard_
        named = zip(table["name"], table["weight"], strict=True)
        return {name: float(weight) for name, weight in named if name != "ensemble"}

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Return what the AUC of rows left out loses where a feature is shuffled."""
        if self.__dict__.get(self._kept):
            raise AttributeError(
                "feature_importances_ needs members of aucrank alone;"
                " sklearn.inspection.permutation_importance serves any"
            )
        found: NDArray[np.float64] | list[AskedRows] = self._not_saved(
            "_importances", "feature_importances_"
        )
        if isinstance(found, list):
            found = permutation_importances(found, self._model, effective_n_threads(self.n_jobs))
            self._importances = found
        return found

    def _not_saved(self, attribute: str, name: str) -> Any:
        if attribute not in self.__dict__:
            check_is_fitted(self)
            raise AttributeError(f"a model from a file has no {name}: it is not saved")
        return self.__dict__[attribute]

    @property
    def explain(self) -> Any:
        """Refuse, and say what else tells of the score."""
        raise AttributeError(
            "RankingEnsemble has no explain: its score is no sum of parts of features. Look at"
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
        """Fit a readable ranker to what the ensemble says of its training rows.

        Each row stands for a positive and a negative one, weighted by the probability of its label
        as models tell it that have not seen the row: labels without their noise. A tree learns more
        from those than from the labels themselves, and so do boosted thresholds on few rows; a sum
        of one function for each feature, such as a scorecard, does not. The comparison tells which
        it is.

        Parameters
        ----------
        estimator : estimator
            A ranker that takes weights: of aucrank, or of scikit-learn with ``decision_function``
            or ``predict_proba``. It is cloned, never fitted itself.
        X : array-like or data frame of shape (n, n_features)
            The rows of the fit, in any order.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Their weights, if they had any.
        groups, time : array-like of shape (n,), default=None
            What the fit dealt them by, if it was given any.
        compare : bool, default=True
            Whether to compare it with the ensemble, and with the same ranker fitted to the labels.
            To be honest, that fits all members anew without each two folds, since what is learnt
            from the ensemble may not have seen the rows that it is judged by: it takes one and a
            half times as long as the fit of five folds.

        Returns
        -------
        Distilled
            The fitted ranker, and the comparison.

        Raises
        ------
        AttributeError
            If the ensemble is from a file, which does not hold what it says of training rows.
        TypeError
            If ``estimator`` is none that ranks.
        ValueError
            If these are not the rows of the fit, the estimator takes no weights, ``compare`` needs
            more folds than there are, or the ensemble was fitted to more than 2^24 values.

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
        left_out: _LeftOut | None = self._not_saved("_left_out", "record of the rows left out")
        if left_out is None:
            raise ValueError(
                "distill needs what the ensemble says of each row that was left out, but it was"
                f" fitted to more than {MOST_IN_MEMORY:,} values (rows times columns), of which it"
                " was asked about a sample: distill an ensemble of fewer rows"
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
        return [Section(f"Leaderboard, on rows left out ({self._size()})", table=self.leaderboard_)]

    def __getstate__(self) -> dict[str, Any]:
        if "_importances" in self.__dict__:
            # In place of the rows that they are found by: nobody's data are pickled.
            _ = self.feature_importances_
        state: dict[str, Any] = super().__getstate__()
        return state | {
            name: self.__dict__[name] for name in self._NOT_SAVED if name in self.__dict__
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        members = self.members if isinstance(self.members, list | tuple) else ()
        for member in members:
            ranker = member[1] if isinstance(member, tuple) and len(member) == 2 else None
            # The tags of a pipeline do not tell of an imputer in it.
            if isinstance(ranker, BaseEstimator) and not isinstance(ranker, Pipeline):
                tags.input_tags.allow_nan &= get_tags(ranker).input_tags.allow_nan
        return tags


def _goes_on(progress: FitProgress, found: CrossFitted, n_members: int) -> bool:
    """Tell of a member that is done; whether there are to be more."""
    figures = {"seconds": found.seconds}
    observer = progress.observer
    return observer is None or bool(observer("member", found.place + 1, n_members, figures))


def _has_weight(fitted: Sequence[CrossFitted], cross: CrossFit, blend: Blend, fit: FoldFit) -> bool:
    """Whether a member has weight in the blend with others of a fold that it has not seen."""
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
    members: Sequence[CrossFitted], blended: dict[str, Any], n_levels: list[int | None]
) -> tuple[_core.Ensemble, tuple[Any, ...]]:
    """Return the blend of members as a model, and the estimators that it asks by number."""
    parts: list[tuple[float, Sequence[Any], Sequence[int]]] = []
    estimators: list[Any] = []
    for member, factor in zip(members, blended["factors"], strict=True):
        if factor <= 0:
            continue
        models = member.member.finish(member.models)
        if isinstance(models[0], _core.Model):
            parts.append((factor / len(models), models, ()))
        else:
            numbers = range(len(estimators), len(estimators) + len(models))
            parts.append((factor / len(models), (), list(numbers)))
            estimators += models
    model = _core.build_ensemble(n_levels, parts, blended["intercept"])
    return model, tuple(estimators)


@dataclass(frozen=True)
class _LeftOut:
    """What a fit keeps of the rows it left out, for `RankingEnsemble.distill`.

    Attributes
    ----------
    scores : ndarray of float64, shape (n,)
        Of each row, in the order of the folds, by models and weights that have not seen it.
    seed : int
        That rows were dealt by.
    n_folds : int
        As asked for.
    n_dealt : int
        As there were rows for.
    rankers : list of (str, estimator, int)
        Members of some weight with their places, as the fit found them.
    params : str
        Of the blend, as the core takes them.
    """

    scores: NDArray[np.float64]
    seed: int
    n_folds: int
    n_dealt: int
    rankers: list[tuple[str, Any, int]]
    params: str


def _leaderboard(
    members: Sequence[CrossFitted],
    weights: Sequence[float],
    blended: NDArray[np.float64],
    left_out: RowsLeftOut,
) -> Table:
    """Return the ensemble and its members by the AUC of rows that were left out, best first."""
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
        columns["auc_latest"] = np.array([left_out.auc_of_latest(row[2]) for row in rows])
    columns["fit_seconds"] = np.array([row[3] for row in rows])
    order = np.argsort(-columns["auc"], kind="stable")
    return Table({name: column[order] for name, column in columns.items()})
