"""RankingEnsemble: rankers of several kinds, blended."""

import json
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.fit_context import FitContext, ParamScope
from aucrank._base.ranker import BaseRanker, ProbabilityMixin
from aucrank._base.summary import Section
from aucrank._data.sample import Sample
from aucrank._data.table import Table
from aucrank._utils.params import check_choice, check_int, check_real
from aucrank._utils.warn import warn_caller
from aucrank._utils.words import plural
from aucrank.ensemble._members import check_members, fit_member
from aucrank.ensemble._presets import PRESETS, members_of
from aucrank.metrics import auc_interval

#: Up to so many values a fold is fitted on one thread, and several at a time.
_SMALL = 1 << 21


class RankingEnsemble(ProbabilityMixin, BaseRanker):
    """Rankers of several kinds, blended: the best ranking without a choice to make.

    Each member is fitted as often as there are folds, each time without one of them; its score is
    the mean of these models, and the rows left out tell how well it ranks what it has not seen. The
    scores are brought to log-odds, and their weights maximise the ramp AUC of the rows left out, a
    smooth AUC, less a penalty that draws them to equal weights where rows are few.

    Parameters
    ----------
    presets : {"fast", "default", "best"}, default="default"
        Which members there are: boosters, forests and linear scores; the more, the longer a fit.
        It has no effect with ``members``.
    members : list of (str, ranker) or None, default=None
        Rankers of aucrank by name, in place of those of the preset. They are cloned, never fitted
        themselves; their ``n_jobs`` and ``verbose`` are those of the ensemble.
    n_folds : int, default=5
        Folds into which distinct rows are dealt, at least 2; fewer where a class has fewer distinct
        rows.
    shrinkage : float, default=10.0
        How strongly weights are drawn to equal ones: their squared distance times this, divided by
        the number of rows of the rarer class, is subtracted from the ramp AUC.
    time_limit : float or None, default=None
        Seconds after which no member is begun; a member whose first fold shows that it would not be
        done by then is left out. The first member is fitted in any case.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns hold categories: those of a data frame whose type says so, or those listed
        by position, by name or in a boolean mask.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The model does not depend on it, unless ``time_limit`` is reached.
    random_state : int, RandomState instance or None, default=None
        Seeds the folds and what members draw.
    verbose : int, default=0
        If 1, print in the end how well the ensemble ranks; if more, a line after each member, too.

    Attributes
    ----------
    leaderboard_ : Table
        The ensemble and its members, the best first: ``name``; ``weight`` in the blend; ``auc`` of
        rows that were left out, with the ends of its 95 % interval, ``low`` and ``high``; and
        ``fit_seconds``. The ensemble is judged fold by fold with weights that the other folds
        chose. Not kept in a saved file.
    weights_ : dict
        Weight of each member by name; they add up to 1.
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
    ['boosting_16_random', 'linear']
    """

    _family = "ensemble"
    _FITTED = (*BaseRanker._FITTED, "_leaderboard")
    _model: _core.Ensemble

    def __init__(
        self,
        *,
        presets: str = "default",
        members: Any = None,
        n_folds: int = 5,
        shrinkage: float = 10.0,
        time_limit: float | None = None,
        categorical_features: Any = "from_dtype",
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        check_choice(self.presets, "presets", tuple(PRESETS))
        if self.members is not None:
            check_members(self.members)
        check_int(self.n_folds, "n_folds", low=2, high=65_534)
        check_real(
            self.time_limit, "time_limit", low=0.0, low_open=True, high_open=True, optional=True
        )
        shrinkage = check_real(self.shrinkage, "shrinkage", low=0.0, high_open=True)
        return {"shrinkage": shrinkage, "half_width": 1.0}

    def _rankers(self) -> list[tuple[str, Any]]:
        return members_of(self.presets) if self.members is None else check_members(self.members)

    def _fit_model(self, context: FitContext) -> _core.Ensemble:
        # Members and intervals of few rows have their own warnings; one is enough.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, message = self._fit_members(context)
        if message:
            warn_caller(message)
        if self.verbose > 0:
            table = self.leaderboard_
            auc = table["auc"][table["name"] == "ensemble"][0]
            size = plural(len(self.weights_), "member")
            print(f"[RankingEnsemble] {size}, AUC {auc:.4f} on rows left out")
        return model

    def _fit_members(self, context: FitContext) -> tuple[_core.Ensemble, str]:
        """Return the ensemble, and what the user should be warned of, if anything."""
        start, message = perf_counter(), ""
        sample, params = context.sample, json.dumps(self._core_params(context.scope))
        of_row, n_folds = _core.deal_folds(
            sample.core, self.n_folds, context.seed, context.n_threads
        )
        if n_folds < 2:
            message = (
                "A class has one distinct row, so no rows can be left out: members are weighted by"
                " rows that they were fitted to."
            )
            of_row, n_folds = np.zeros_like(of_row), 1
        folds = _Folds(sample, of_row, n_folds)
        fitted: list[_CrossFitted] = []
        rankers = self._rankers()
        for number, (name, ranker) in enumerate(rankers, start=1):
            left = None if self.time_limit is None else start + self.time_limit - perf_counter()
            if fitted and left is not None and left <= 0:
                break
            found = folds.fit(
                name, ranker, self.classes_, context, left if fitted else None, number - 1
            )
            if found is None:
                continue
            fitted.append(found)
            observer = context.progress.observer
            if observer is not None:
                observer("member", number, len(rankers), {"seconds": found.seconds})
        blend = partial(_core.blend_scores, params=params, n_threads=context.n_threads)
        scores = [member.scores for member in fitted]
        blended = blend(scores, sample.labels, sample.weight)
        self._leaderboard = _leaderboard(
            fitted, blended["weights"], folds.nested(scores, blend), sample
        )
        members = [
            (factor / len(member.models), member.models)
            for member, factor in zip(fitted, blended["factors"], strict=True)
            if factor > 0
        ]
        if not members:
            message = "No member is better than chance, so all scores are equal."
        model = _core.build_ensemble(sample.schema.n_levels, members, blended["intercept"])
        return model, message

    def _progress_line(self, unit: str, number: int, most: int | None, figures: Any) -> str:
        return f"[RankingEnsemble] {number} of {most} members, {figures['seconds']:.1f} s"

    @property
    def leaderboard_(self) -> Table:
        """Return how well the ensemble and its members rank rows they were not fitted to."""
        if "_leaderboard" not in self.__dict__:
            check_is_fitted(self)
            raise AttributeError("a model from a file has no leaderboard_: it is not saved")
        return self._leaderboard

    @property
    def weights_(self) -> dict[str, float]:
        """Return the weight of each member."""
        table = self.leaderboard_
        named = zip(table["name"], table["weight"], strict=True)
        return {name: float(weight) for name, weight in named if name != "ensemble"}

    def _size(self) -> str:
        return plural(len(self._model.factors()), "member")

    def _summary(self) -> list[Section]:
        if "_leaderboard" not in self.__dict__:
            return [Section(f"Ensemble ({self._size()})")]
        return [Section(f"Leaderboard, on rows left out ({self._size()})", table=self.leaderboard_)]

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if "_leaderboard" in self.__dict__:
            state["_leaderboard"] = self._leaderboard
        return state


@dataclass(frozen=True)
class _CrossFitted:
    """A member, fitted without each fold."""

    name: str
    models: list[_core.Model]
    #: Of each row by the model that has not seen it.
    scores: NDArray[np.float64]
    seconds: float


class _Folds:
    """Rows dealt into folds."""

    def __init__(self, sample: Sample, of_row: NDArray[np.uint16], n_folds: int) -> None:
        self._sample = sample
        self._of_row = of_row
        self.n_folds = n_folds

    def _parts(self, fold: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows that a model is fitted to, and those it is asked about."""
        if self.n_folds == 1:
            everything = np.arange(len(self._of_row))
            return everything, everything
        # Rows of weight zero are in no fold: every model may be asked about them.
        is_out = self._of_row == fold
        if fold == 0:
            is_out |= self._of_row >= self.n_folds
        return np.flatnonzero(~is_out), np.flatnonzero(is_out)

    def fit(
        self,
        name: str,
        ranker: Any,
        classes: NDArray[Any],
        context: FitContext,
        seconds_left: float | None,
        place: int,
    ) -> _CrossFitted | None:
        """Fit a member without each fold; None if it would take longer than there is time."""
        start, scores = perf_counter(), np.zeros(len(self._of_row))
        n_values = len(self._of_row) * len(context.sample.schema.features)
        is_small = n_values <= _SMALL
        n_threads = 1 if is_small else context.n_threads

        def fit_fold(fold: int) -> _core.Model:
            kept, left_out = self._parts(fold)
            seed = (context.seed + 1_000_003 * (place * self.n_folds + fold)) % (2**31 - 1)
            model = fit_member(ranker, self._sample.take(kept), classes, seed, n_threads)
            if len(left_out):
                scores[left_out] = model.score(self._sample.take(left_out).columns, n_threads)
            return model

        models = [fit_fold(0)]
        seconds = perf_counter() - start
        if seconds_left is not None and seconds * self.n_folds > seconds_left:
            return None
        rest = range(1, self.n_folds)
        if is_small and context.n_threads > 1:
            with ThreadPoolExecutor(context.n_threads) as pool:
                contexts = [copy_context() for _ in rest]
                models += pool.map(lambda c, fold: c.run(fit_fold, fold), contexts, rest)
        else:
            models += map(fit_fold, rest)
        return _CrossFitted(name, models, scores, perf_counter() - start)

    def nested(self, scores: Sequence[NDArray[np.float64]], blend: Any) -> NDArray[np.float64]:
        """Return the blend of each row by weights that the other folds chose."""
        sample, of_row = self._sample, self._of_row
        blended = np.zeros(len(of_row))
        weight = np.ones(len(of_row)) if sample.weight is None else sample.weight
        for fold in range(self.n_folds):
            is_out = of_row == fold
            others = np.where(is_out, 0.0, weight) if self.n_folds > 1 else weight
            found = blend(scores, sample.labels, others)
            total = np.full(len(of_row), found["intercept"])
            for factor, of_member in zip(found["factors"], scores, strict=True):
                total += factor * of_member
            blended[is_out] = total[is_out]
        return blended


def _leaderboard(
    members: Sequence[_CrossFitted],
    weights: Sequence[float],
    blended: NDArray[np.float64],
    sample: Sample,
) -> Table:
    """Return the ensemble and its members by the AUC of rows that were left out, best first."""
    there = np.ones(len(blended), bool) if sample.weight is None else sample.weight > 0
    weight = None if sample.weight is None else sample.weight[there]
    rows = [("ensemble", 1.0, blended, sum(member.seconds for member in members))]
    rows += [
        (member.name, weight, member.scores, member.seconds)
        for member, weight in zip(members, weights, strict=True)
    ]
    found = [
        auc_interval(sample.labels[there], scores[there], sample_weight=weight)
        for _, _, scores, _ in rows
    ]
    aucs = np.array([interval.auc for interval in found])
    order = np.argsort(-aucs, kind="stable")
    return Table(
        {
            "name": np.array([row[0] for row in rows], dtype=object)[order],
            "weight": np.array([row[1] for row in rows])[order],
            "auc": aucs[order],
            "low": np.array([interval.low for interval in found])[order],
            "high": np.array([interval.high for interval in found])[order],
            "fit_seconds": np.array([row[3] for row in rows])[order],
        }
    )
