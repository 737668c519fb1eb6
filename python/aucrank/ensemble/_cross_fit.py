"""Members fitted without each fold, and asked about what was left out."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import ceil
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._base.fit_context import FitContext
from aucrank._base.folds import Folds
from aucrank._data.sample import Sample
from aucrank._utils.plain_text import shown
from aucrank.ensemble._members import Member, member_of
from aucrank.metrics import AucInterval, cross_validated_auc

#: Up to so many values a fold is fitted on one thread, and several at a time.
_SMALL = 1 << 21

#: Brings the scores of members together, given labels and weights: see `_core.blend_scores`.
Blend = Callable[
    [Sequence[NDArray[np.float64]], NDArray[np.bool_], NDArray[np.float64] | None], dict[str, Any]
]


@dataclass(frozen=True)
class CrossFitted:
    """A member, fitted without each fold.

    Attributes
    ----------
    name : str
        Its name.
    place : int
        Among the members, fitted or not.
    member : Member
        What fitted it.
    models : list
        By fold, as the member knows them.
    scores : ndarray of float64, shape (n,)
        Of each row by the model that has not seen it.
    seconds : float
        That its fits took.
    """

    name: str
    place: int
    member: Member
    models: list[Any]
    scores: NDArray[np.float64]
    seconds: float


class CrossFit:
    """Fits members without each fold.

    Parameters
    ----------
    context : FitContext
        The fit of the ensemble.
    folds : Folds
        Its rows.
    classes : ndarray of shape (2,)
        The labels.
    verbose : int
        If 2 or more, a line is printed after each fit; what is more is that of members.
    """

    def __init__(
        self, context: FitContext, folds: Folds, classes: NDArray[Any], verbose: int = 0
    ) -> None:
        self._context = context
        self._classes = classes
        self.folds = folds
        self.sample: Sample = folds.sample(context.sample)
        n_values = len(folds.rows) * len(context.sample.schema.features)
        self._n_at_once = context.n_threads if n_values <= _SMALL else 1
        self._n_threads = 1 if n_values <= _SMALL else context.n_threads
        self._verbose = verbose

    def fit_all(self, rankers: Sequence[tuple[str, Any]]) -> Iterator["CrossFitted"]:
        """Fit members without each fold, and give them in order as they are done."""
        members = [self._member(name, ranker) for name, ranker in rankers]
        folds = range(self.folds.n_folds)
        with ThreadPoolExecutor(self._n_at_once) as pool:
            begun = [
                [self._submit(pool, name, member, place, [fold], None) for fold in folds]
                for place, ((name, _), member) in enumerate(zip(rankers, members, strict=True))
            ]
            try:
                for place, futures in enumerate(begun):
                    fits = [future.result() for future in futures]
                    yield self._put_together(rankers[place][0], place, members[place], fits)
            finally:
                for future in (future for futures in begun for future in futures):
                    future.cancel()

    def fit_until(
        self, name: str, ranker: Any, place: int, end: float, *, in_any_case: bool
    ) -> "CrossFitted | None":
        """Fit a member without each fold, in the time that there is.

        Parameters
        ----------
        name : str
            What it is called.
        ranker : estimator
            Cloned, never fitted itself.
        place : int
            Among the members.
        end : float
            When it has to be done, by `time.perf_counter`.
        in_any_case : bool
            Whether it is kept if it is not, each of its models ended where its share of the time
            is up.

        Returns
        -------
        CrossFitted or None
            None where it would not be done.
        """
        member = self._member(name, ranker)
        fits: list[_Fit] = []
        with ThreadPoolExecutor(self._n_at_once) as pool:
            while len(fits) < self.folds.n_folds:
                turn = range(len(fits), min(len(fits) + self._n_at_once, self.folds.n_folds))
                n_turns = ceil((self.folds.n_folds - len(fits)) / self._n_at_once)
                now = perf_counter()
                turn_ends = now + (end - now) / n_turns
                begun = [
                    self._submit(pool, name, member, place, [fold], turn_ends) for fold in turn
                ]
                fits += [future.result() for future in begun]
                if perf_counter() >= turn_ends and not in_any_case:
                    return None
        return self._put_together(name, place, member, fits)

    def scores_without_pairs(self, name: str, ranker: Any, place: int) -> NDArray[np.float64]:
        """Fit a member without each two folds: what a fold would tell that had never been there.

        Returns
        -------
        ndarray of float64, shape (n_folds, n)
            For each fold the scores of the rows of all others, each by a model that has seen
            neither the row nor the fold.
        """
        member, n_folds = self._member(name, ranker), self.folds.n_folds
        found = np.zeros((n_folds, len(self.folds.rows)))
        with ThreadPoolExecutor(self._n_at_once) as pool:
            begun = [
                (pair, self._submit(pool, name, member, place, pair, None))
                for pair in combinations(range(n_folds), 2)
            ]
            for (one, other), future in begun:
                fit = future.result()
                is_one = self.folds.of_row[fit.left_out] == one
                found[other, fit.left_out[is_one]] = fit.scores[is_one]
                found[one, fit.left_out[~is_one]] = fit.scores[~is_one]
        return found

    def _member(self, name: str, ranker: Any) -> Member:
        rows, verbose = self.folds.rows, max(0, self._verbose - 2)
        return member_of(ranker, name, self._context, self.sample, rows, self._classes, verbose)

    def _submit(
        self,
        pool: ThreadPoolExecutor,
        name: str,
        member: Member,
        place: int,
        out: Sequence[int],
        end: float | None,
    ) -> "Future[_Fit]":
        """Begin to fit a member without some folds."""
        work = partial(self._fit, name, member, place, out, end)
        return pool.submit(copy_context().run, work)

    def _fit(
        self, name: str, member: Member, place: int, out: Sequence[int], end: float | None
    ) -> "_Fit":
        start = perf_counter()
        is_out = np.isin(self.folds.of_row, out)
        if self.folds.n_folds == 1:
            kept = left_out = np.arange(len(is_out))
        else:
            kept, left_out = np.flatnonzero(~is_out), np.flatnonzero(is_out)
        # A number for each member and each fold or pair of folds.
        draw = place * self.folds.n_folds + out[0]
        if len(out) > 1:
            draw += 1_000_000 * out[1]
        seed = (self._context.seed + 1_000_003 * draw) % (2**31 - 1)
        model = member.fit(kept, seed, self._n_threads, end)
        scores = member.ask(model, left_out, self._n_threads)
        seconds = perf_counter() - start
        if self._verbose > 1:
            without = " and ".join(str(fold + 1) for fold in out)
            # In one piece with its end: threads print at the same time.
            line = f"[RankingEnsemble] {shown(name)} without fold {without}, {seconds:.2f} s\n"
            print(line, end="")
        return _Fit(model, left_out, scores, seconds)

    def _put_together(
        self, name: str, place: int, member: Member, fits: "Sequence[_Fit]"
    ) -> "CrossFitted":
        scores = np.zeros(len(self.folds.rows))
        for fit in fits:
            scores[fit.left_out] = fit.scores
        models = [fit.model for fit in fits]
        return CrossFitted(name, place, member, models, scores, sum(fit.seconds for fit in fits))

    def auc(self, scores: NDArray[np.float64]) -> AucInterval:
        """Return the mean AUC of the folds, each of whose rows are scored by one model."""
        sample = self.sample
        return cross_validated_auc(
            sample.labels, scores, self.folds.of_row, sample_weight=sample.weight
        )

    def nested(self, scores: Sequence[NDArray[np.float64]], blend: Blend) -> NDArray[np.float64]:
        """Return the blend of each row by weights that the other folds chose."""
        sample, folds = self.sample, self.folds
        blended = np.zeros(len(folds.of_row))
        weight = np.ones(len(folds.of_row)) if sample.weight is None else sample.weight
        for fold in range(folds.n_folds):
            is_out = folds.of_row == fold
            others = np.where(is_out, 0.0, weight) if folds.n_folds > 1 else weight
            found = blend(scores, sample.labels, others)
            of_fold = [of_member[is_out] for of_member in scores]
            blended[is_out] = weighted_sum(found["factors"], of_fold, found["intercept"])
        return blended


@dataclass(frozen=True)
class _Fit:
    """A model of a part of the rows, and its scores of the others."""

    model: Any
    left_out: NDArray[np.intp]
    scores: NDArray[np.float64]
    seconds: float


def weighted_sum(
    factors: Sequence[float], scores: Sequence[NDArray[np.float64]], intercept: float
) -> NDArray[np.float64]:
    """Return the blend of scores of the same rows."""
    total = np.full(len(scores[0]), intercept)
    for factor, of_member in zip(factors, scores, strict=True):
        total += factor * of_member
    return total
