"""Models fitted without each fold, one after another or in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass
from time import perf_counter
from typing import Literal

import numpy as np
import sklearn
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from aucrank._base.external import known_scores
from aucrank._compare.contestants import Contestant, n_bytes_of
from aucrank._compare.folds import RepeatedFolds
from aucrank._compare.outcome import FoldResult, Outcome
from aucrank._compare.progress import Progress, Say, duration
from aucrank._compare.sample import LabelledSample
from aucrank._compare.store import Store
from aucrank._data.column_warnings import inner_fits_are_silent
from aucrank._utils.threads import effective_n_threads

#: How threads are used: by one fit after another, or one per fit.
Parallel = Literal["threads", "folds"]

_Task = tuple[int, int]


@dataclass(frozen=True)
class RunOptions:
    """How the models are run.

    Attributes
    ----------
    n_jobs : int or None
        Total number of threads.
    parallel : {"threads", "folds"}
        Whether they work on one fit, or on one each.
    time_limit : float or None
        Seconds after which no fit begins.
    peer_time_limit : float or None
        Seconds of a fit beyond which a model of another package runs no further folds.
    """

    n_jobs: int | None
    parallel: Parallel
    time_limit: float | None
    peer_time_limit: float | None = None


def run(
    contestants: Sequence[Contestant],
    sample: LabelledSample,
    folds: RepeatedFolds,
    plan: RunOptions,
    outcomes: list[Outcome],
    store: Store | None = None,
    say: Say = lambda kind, text: None,
) -> None:
    """Fit all models without each fold.

    Parameters
    ----------
    contestants : sequence of Contestant
        The models.
    sample : LabelledSample
        The rows.
    folds : RepeatedFolds
        The folds.
    plan : RunOptions
        Number of threads, and time limits.
    outcomes : list of Outcome
        One is appended for each model, and filled as its folds complete: after an interrupt it
        holds the finished ones.
    store : Store or None, default=None
        Provides fits that were done before, and stores new ones.
    say : callable
        Called to report progress.
    """
    n_folds = len(folds.listed)
    outcomes += [Outcome(of.name, of.package, n_folds) for of in contestants]
    tasks = [(model, fold) for model in range(len(contestants)) for fold in range(n_folds)]
    n_workers, n_jobs = _share(plan, len(tasks))
    progress = Progress([contestant.name for contestant in contestants], folds.listed, n_workers)
    prints = _known(contestants, folds, outcomes, store)
    for model, fold in tasks:
        if fold in outcomes[model].folds:
            progress.skip(contestants[model].name, fold)

    def cut_off(model: int) -> None:
        """Start no more fits of a peer after one of them took too long."""
        outcome, limit = outcomes[model], plan.peer_time_limit
        if outcome.package is None or limit is None or outcome.is_complete:
            return
        longest = max((fold.fit_seconds for fold in outcome.folds.values()), default=0.0)
        if longest > limit:
            outcome.cut_off = (
                f"cut off: a fit took {duration(longest)}, and the limit of a peer is"
                f" {duration(limit)}"
            )
            for left in range(n_folds):
                progress.skip(outcome.model, left)

    for model in range(len(contestants)):
        cut_off(model)

    def due() -> Iterator[_Task]:
        """Yield the tasks; advanced when a thread is free."""
        for model, fold in tasks:
            outcome = outcomes[model]
            if fold in outcome.folds or outcome.error is not None or outcome.cut_off is not None:
                continue
            if plan.time_limit is not None and perf_counter() >= progress.start + plan.time_limit:
                return
            says = f"{contestants[model].name}: fold {fold + 1} of {n_folds}{progress.says()}"
            say("begins", says)
            yield model, fold

    def work(task: _Task) -> FoldResult | str:
        model, fold = task
        try:
            return _one_fold(contestants[model], sample, folds, fold, n_jobs)
        except Exception as error:  # one model's failure must not cost the others' results
            return " ".join(f"{type(error).__name__}: {error}".split())

    # scikit-learn's models take their threads from the pools of OpenMP and BLAS.
    limit = None if n_jobs is None else effective_n_threads(n_jobs)
    with threadpool_limits(limit), inner_fits_are_silent():
        for (model, fold), result in _as_done(due(), work, n_workers, limit):
            outcome, name = outcomes[model], contestants[model].name
            if isinstance(result, str):
                outcome.error = outcome.error or result
                for left in range(n_folds):
                    progress.skip(name, left)
                say("model", f"{name}: failed: {outcome.error}{progress.says()}")
                continue
            outcome.folds[fold] = result
            progress.done(name, fold, result.fit_seconds + result.score_seconds)
            if store is not None:
                store.keep(name, prints[model], fold, result)
            cut_off(model)
            if outcome.cut_off is not None:
                say("model", f"{name}: {outcome.cut_off}{progress.says()}")
                continue
            done, took = len(outcome.folds), duration(result.fit_seconds)
            says = f"{name}: {done} of {n_folds} folds, the last in {took}{progress.says()}"
            say("model" if outcome.is_complete else "fold", says)


def _known(
    contestants: Sequence[Contestant],
    folds: RepeatedFolds,
    outcomes: Sequence[Outcome],
    store: Store | None,
) -> list[str | None]:
    """Load existing results from the store; return the fingerprints of the models."""
    if store is None:
        return [None] * len(contestants)
    prints = [contestant.fingerprint() for contestant in contestants]
    n_scores = [len(fold.test) for fold in folds.listed]
    for contestant, outcome, of_model in zip(contestants, outcomes, prints, strict=True):
        outcome.folds.update(store.known(contestant.name, of_model, n_scores))
    return prints


def _share(plan: RunOptions, n_tasks: int) -> tuple[int, int | None]:
    """Return the number of parallel fits, and the ``n_jobs`` of each."""
    if plan.parallel == "threads":
        return 1, plan.n_jobs
    n_threads = effective_n_threads(plan.n_jobs)
    n_workers = min(n_threads, n_tasks)
    return n_workers, n_threads // n_workers


def _as_done(
    tasks: Iterator[_Task],
    work: Callable[[_Task], FoldResult | str],
    n_workers: int,
    limit: int | None,
) -> Iterator[tuple[_Task, FoldResult | str]]:
    """Run the tasks, with no more of them at a time than there are workers."""
    if n_workers == 1:
        # In this thread rather than a new one, so that an interrupt ends a fit at once.
        for task in tasks:
            yield task, work(task)
        return
    config = sklearn.get_config()

    def in_thread(task: _Task) -> FoldResult | str:
        # OpenMP has a number of threads per calling thread.
        with sklearn.config_context(**config), threadpool_limits(limit, user_api="openmp"):
            return work(task)

    running: dict[Future[FoldResult | str], _Task] = {}
    with ThreadPoolExecutor(n_workers) as pool:

        def begin() -> bool:
            task = next(tasks, None)
            if task is not None:
                running[pool.submit(copy_context().run, in_thread, task)] = task
            return task is not None

        while len(running) < n_workers and begin():
            pass
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()
            while len(running) < n_workers and begin():
                pass


def _one_fold(
    contestant: Contestant,
    sample: LabelledSample,
    folds: RepeatedFolds,
    number: int,
    n_jobs: int | None,
) -> FoldResult:
    fold = folds.listed[number]
    fit, X_test = contestant.fit(fold.train, sample.weight, n_jobs), contestant.rows(fold.test)
    start = perf_counter()
    model = fit()
    fitted = perf_counter()
    scores: NDArray[np.float64] = known_scores(model, X_test)
    scored = perf_counter()
    n_rules = None if contestant.rules is None else contestant.rules(model)
    return FoldResult(scores, fitted - start, scored - fitted, n_bytes_of(model), n_rules)


def scores_of(outcome: Outcome, folds: RepeatedFolds, n_rows: int) -> NDArray[np.float64]:
    """Return the score of each row by repeat, for a model that completed all folds."""
    scores = np.zeros((n_rows, folds.n_repeats))
    for number, fold in enumerate(folds.listed):
        scores[fold.test, fold.repeat] = outcome.folds[number].scores
    return scores


def fold_numbers(folds: RepeatedFolds, n_rows: int) -> NDArray[np.intp]:
    """Return the fold of each row by repeat."""
    numbers = np.zeros((n_rows, folds.n_repeats), dtype=np.intp)
    for number, fold in enumerate(folds.listed):
        numbers[fold.test, fold.repeat] = number
    return numbers
