"""Members fitted without each fold, and their scores of the left-out rows."""

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
from aucrank._utils.plain_text import shown
from aucrank.ensemble._members import Member, member_of
from aucrank.ensemble._rows_left_out import RowsLeftOut

#: Up to this number of values, each fold is fitted on one thread, and several at a time.
_SMALL = 1 << 21


@dataclass(frozen=True)
class CrossFitted:
    """A member, fitted without each fold.

    Attributes
    ----------
    name : str
        Its name.
    place : int
        Position among the members, fitted or not.
    member : Member
        The member that was fitted.
    without_fold : list
        By fold the model without it, in the form of the member.
    models : list
        By fold the model for new rows: the same, or its trees with leaf values from all rows.
    scores : ndarray of float64, shape (n,)
        Score of each row by the model that was not fitted to it.
    seconds : float
        Duration of its fits.
    """

    name: str
    place: int
    member: Member
    without_fold: list[Any]
    models: list[Any]
    scores: NDArray[np.float64]
    seconds: float


class CrossFit(RowsLeftOut):
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
        If 2 or more, a line is printed after each fit; the excess over 2 is the ``verbose`` of
        members.
    """

    def __init__(
        self, context: FitContext, folds: Folds, classes: NDArray[Any], verbose: int = 0
    ) -> None:
        super().__init__(folds.sample(context.sample), folds)
        self._context = context
        self._classes = classes
        n_values = len(folds.rows) * len(context.sample.schema.features)
        self._n_at_once = context.n_threads if n_values <= _SMALL else 1
        self._n_threads = 1 if n_values <= _SMALL else context.n_threads
        self._verbose = verbose

    def fit_all(self, rankers: Sequence[tuple[str, Any]]) -> Iterator["CrossFitted"]:
        """Fit members without each fold, and yield them in order as they are done."""
        members = [self._member(name, ranker) for name, ranker in rankers]
        with ThreadPoolExecutor(self._n_at_once) as pool:
            begun = [
                [
                    self._submit(pool, name, member, place, out, None)
                    for out in self._each_left_out(member)
                ]
                for place, ((name, _), member) in enumerate(zip(rankers, members, strict=True))
            ]
            try:
                for place, futures in enumerate(begun):
                    fits = [fit for future in futures for fit in future.result()]
                    yield self._put_together(rankers[place][0], place, members[place], fits)
            finally:
                for future in (future for futures in begun for future in futures):
                    future.cancel()

    def fit_one(
        self,
        name: str,
        ranker: Any,
        place: int,
        *,
        end: float | None = None,
        in_any_case: bool = False,
        is_worth: "Callable[[FoldFit], bool] | None" = None,
    ) -> "CrossFitted | None":
        """Fit a member without each fold, as long as time permits and it is worthwhile.

        Parameters
        ----------
        name : str
            What it is called.
        ranker : estimator
            Cloned, never fitted itself.
        place : int
            Position among the members.
        end : float or None
            Deadline, by `time.perf_counter`.
        in_any_case : bool
            Whether to keep it even past the deadline, with each of its models stopped when its
            share of the time is up. A member that fits its folds together is always kept.
        is_worth : callable or None
            Decides from the first fold whether to fit the other folds.

        Returns
        -------
        CrossFitted or None
            None if it would miss the deadline, or is not worthwhile.
        """
        member = self._member(name, ranker)
        fits: list[FoldFit] = []
        waiting = self._each_left_out(member)
        with ThreadPoolExecutor(self._n_at_once) as pool:
            while waiting:
                # The first fold is evaluated alone: the decision must not depend on the threads.
                n_now = 1 if is_worth is not None and not fits else self._n_at_once
                turn, waiting = waiting[:n_now], waiting[n_now:]
                turn_ends = None
                if end is not None:
                    now = perf_counter()
                    n_turns = 1 + ceil(len(waiting) / self._n_at_once)
                    turn_ends = now + (end - now) / n_turns
                begun = [self._submit(pool, name, member, place, out, turn_ends) for out in turn]
                fits += [fit for future in begun for fit in future.result()]
                # Folds that are fitted together have the same number of rounds: a smaller model.
                is_kept = in_any_case or member.fits_folds
                if turn_ends is not None and perf_counter() >= turn_ends and not is_kept:
                    return None
                if is_worth is not None and len(fits) == 1 and not is_worth(fits[0]):
                    return None
        return self._put_together(name, place, member, fits)

    def scores_without_pairs(self, name: str, ranker: Any, place: int) -> NDArray[np.float64]:
        """Fit a member without each pair of folds, for scores independent of both.

        Returns
        -------
        ndarray of float64, shape (n_folds, n)
            For each fold the scores of the rows of all others, each by a model fitted neither to
            the row nor to the fold.
        """
        member, n_folds = self._member(name, ranker), self.folds.n_folds
        found = np.zeros((n_folds, len(self.folds.rows)))
        with ThreadPoolExecutor(self._n_at_once) as pool:
            begun = [
                (pair, self._submit(pool, name, member, place, pair, None))
                for pair in combinations(range(n_folds), 2)
            ]
            for (one, other), future in begun:
                [fit] = future.result()
                is_one = self.folds.of_row[fit.left_out] == one
                found[other, fit.left_out[is_one]] = fit.scores[is_one]
                found[one, fit.left_out[~is_one]] = fit.scores[~is_one]
        return found

    def _member(self, name: str, ranker: Any) -> Member:
        rows, verbose = self.folds.rows, max(0, self._verbose - 2)
        return member_of(ranker, name, self._context, self.sample, rows, self._classes, verbose)

    def _each_left_out(self, member: Member) -> list[tuple[int, ...] | None]:
        """Return the folds that each fit of a member leaves out; None for one after the other."""
        n_folds = self.folds.n_folds
        if member.fits_folds and n_folds > 1:
            return [None]
        return [(fold,) for fold in range(n_folds)]

    def _submit(
        self,
        pool: ThreadPoolExecutor,
        name: str,
        member: Member,
        place: int,
        out: tuple[int, ...] | None,
        end: float | None,
    ) -> "Future[list[FoldFit]]":
        """Begin to fit a member without some folds, or without each of all."""
        work = partial(self._fit, name, member, place, out, end)
        return pool.submit(copy_context().run, work)

    def _fit(
        self,
        name: str,
        member: Member,
        place: int,
        out: tuple[int, ...] | None,
        end: float | None,
    ) -> "list[FoldFit]":
        start = perf_counter()
        of_row, n_folds = self.folds.of_row, self.folds.n_folds
        # A distinct number for each member and each fold or pair of folds.
        draw = place * n_folds
        if out is not None:
            draw += out[0] + (1_000_000 * out[1] if len(out) > 1 else 0)
        seed = (self._context.seed + 1_000_003 * draw) % (2**31 - 1)
        if out is None:
            models = member.fit_folds(of_row, n_folds, seed, self._context.n_threads, end)
            parts = [np.flatnonzero(of_row == fold) for fold in range(n_folds)]
        elif n_folds == 1:
            parts = [np.arange(len(of_row))]
            models = [self._fit_once(member, parts[0], seed, end)]
        else:
            parts = [np.flatnonzero(np.isin(of_row, out))]
            kept = np.flatnonzero(self.apart_from(*out))
            models = [self._fit_once(member, kept, seed, end)]
        scores = [
            member.ask(without, left_out, self._n_threads)
            for (without, _), left_out in zip(models, parts, strict=True)
        ]
        seconds = perf_counter() - start
        if self._verbose > 1:
            folds = "each fold" if out is None else " and ".join(f"fold {k + 1}" for k in out)
            # In one call including the line end: threads print at the same time.
            print(f"[RankingEnsemble] {shown(name)} without {folds}, {seconds:.2f} s\n", end="")
        share = seconds / len(models)
        return [
            FoldFit(*of_fold, left_out, of_rows, share)
            for of_fold, left_out, of_rows in zip(models, parts, scores, strict=True)
        ]

    def _fit_once(
        self, member: Member, rows: NDArray[np.intp], seed: int, end: float | None
    ) -> tuple[Any, Any]:
        """Return a model of some rows, which is also the one for new rows."""
        model = member.fit(rows, seed, self._n_threads, end)
        return model, model

    def _put_together(
        self, name: str, place: int, member: Member, fits: "Sequence[FoldFit]"
    ) -> "CrossFitted":
        scores = np.zeros(len(self.folds.rows))
        for fit in fits:
            scores[fit.left_out] = fit.scores
        without_fold, models = [fit.without_fold for fit in fits], [fit.model for fit in fits]
        seconds = sum(fit.seconds for fit in fits)
        return CrossFitted(name, place, member, without_fold, models, scores, seconds)


@dataclass(frozen=True)
class FoldFit:
    """A model without a fold.

    Attributes
    ----------
    without_fold : object
        The model in the form of its member.
    model : object
        The model for new rows.
    left_out : ndarray of int
        The rows that it was not fitted to.
    scores : ndarray of float64
        Their scores.
    seconds : float
        Duration of the fit.
    """

    without_fold: Any
    model: Any
    left_out: NDArray[np.intp]
    scores: NDArray[np.float64]
    seconds: float
