"""The booster for large data: fitted to all rows without each fold, evaluated on a sample of these.

Rows in memory and those of a `Dataset` are dealt and sampled by the same hashes of their content,
so that both give the same model. The precision of an AUC depends mostly on the rarer class, so the
sample takes as many distinct rows of each class, and log-odds are then shifted to those of all
rows.
"""

import math
import secrets
from contextlib import nullcontext
from time import perf_counter
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._base.fit_context import DatasetContext, FitContext, RowsContext
from aucrank._base.folds import Folds, blocks_in_order, content_of_rows
from aucrank._data.sample import CodedSample, Sample
from aucrank.boosting import GradientBoostingRanker
from aucrank.data._sampled import Bounds, LeastRows, rows_within
from aucrank.data._stored import Rows
from aucrank.ensemble._cross_fit import CrossFitted
from aucrank.ensemble._members import OwnMember
from aucrank.ensemble._rows_left_out import RowsLeftOut

#: Distinct rows of each class in the evaluation sample, ...
MOST_OF_CLASS = 100_000

#: ... fewer if there are many columns, so that a class has at most this number of values, ...
_MOST_VALUES = 1 << 23

#: ... but at least this number.
_FEWEST_OF_CLASS = 2_000

#: Added to the seed of the fit. The sample is drawn with seed 0: folds by the same seed would put
#: all of its rows in the first one.
_SEED_OF_FOLDS = 1 << 33

#: A model without a fold, and the one for new rows.
OfFold = tuple[_core.GradientBoosted, _core.GradientBoosted]


class JudgedBySample:
    """Fits a booster without each fold, and evaluates it on a sample of the left-out rows.

    Parameters
    ----------
    name : str
        Name of the booster.
    booster : GradientBoostingRanker
        Cloned, never fitted itself.
    classes : ndarray of shape (2,)
        The labels.
    n_folds : int
        At least 2; fewer are made if a class has fewer distinct rows.
    verbose : int
        The ``verbose`` of the booster.
    end : float or None
        Deadline, by `time.perf_counter`.
    """

    def __init__(
        self,
        name: str,
        booster: GradientBoostingRanker,
        classes: NDArray[Any],
        n_folds: int,
        verbose: int,
        end: float | None,
    ) -> None:
        self._name = name
        self._booster = booster
        self._classes = classes
        self._n_folds = n_folds
        self._verbose = verbose
        self._end = end

    def fit(self, context: FitContext) -> tuple[CrossFitted, RowsLeftOut]:
        """Fit to rows in memory."""
        start, sample, n_threads = perf_counter(), context.sample, context.n_threads
        seed = context.seed + _SEED_OF_FOLDS
        n_levels = sample.schema.n_levels
        _core.check_columns(sample.core, n_threads)
        of_row, n_folds = _core.deal_blocks(sample.core, self._n_folds, seed, n_threads)
        most = most_of_class(len(n_levels))
        least = LeastRows(n_levels, (most, most))
        least.add((sample.columns, sample.labels, sample.weight, None), n_threads)
        bounds = least.bounds
        rows = rows_within(sample.columns, sample.labels, n_levels, bounds, n_threads)
        left_out = _rows_left_out(sample.take(rows.astype(np.intp)), of_row[rows], n_folds, bounds)
        member = self._member(sample)
        models = _fit_folds(member, sample, of_row, n_folds, (seed, n_threads, self._end))
        return self._judged(member, models, left_out, n_threads, start), left_out

    def fit_dataset(
        self, whole: DatasetContext, sample: Sample, bounds: Bounds
    ) -> tuple[CrossFitted, RowsLeftOut]:
        """Fit to rows that are queried for sums, or held as codes if the booster needs more."""
        start, facts, n_threads = perf_counter(), whole.facts, whole.n_threads
        seed, schema = whole.seed + _SEED_OF_FOLDS, facts.schema
        member = self._member(sample)
        booster, inner = member.begin(sample, seed, n_threads, self._end)
        numbers = (secrets.randbits(63) for _ in range(2))
        context = RowsContext(
            schema, facts.n_rows, seed, n_threads, inner.progress, fit_number=next(numbers)
        )
        params = booster._core_params(context.scope)
        binning = booster._dataset_binning(params)
        codes = None if whole.is_queried(booster) else whole.codes(booster, binning)
        with (
            whole.rows(booster, binning, self._n_folds) if codes is None else nullcontext(codes)
        ) as rows:
            blocks = None if sample.blocks is None else sample.blocks.core
            batch = (sample.columns, sample.labels, sample.weight, blocks)
            dealing = self._n_folds, seed
            of_row, n_folds = _core.deal_among(
                rows, next(numbers), batch, schema.n_levels, dealing, n_threads
            )
            left_out = _rows_left_out(sample, of_row, n_folds, bounds)
            if codes is None:
                models = _fit_folds_rows(booster, rows, params, context, n_folds)
            else:
                matrix = codes.matrix()
                coded = cast("Sample", CodedSample(matrix, schema))
                of_all, _ = _core.deal_blocks(matrix, self._n_folds, seed, n_threads)
                models = _fit_folds(member, coded, of_all, n_folds, (seed, n_threads, self._end))
        return self._judged(member, models, left_out, n_threads, start), left_out

    def _member(self, sample: Sample) -> OwnMember:
        return OwnMember(self._booster, sample, self._classes, max(0, self._verbose - 2))

    def _judged(
        self,
        member: OwnMember,
        models: list[OfFold],
        left_out: RowsLeftOut,
        n_threads: int,
        start: float,
    ) -> CrossFitted:
        of_row, scores = left_out.folds.of_row, np.zeros(len(left_out.folds.rows))
        without_fold = [without for without, _ in models]
        for fold, without in enumerate(without_fold):
            rows = np.flatnonzero(of_row == fold)
            scores[rows] = without.score(left_out.sample.take(rows).columns, n_threads)
        seconds = perf_counter() - start
        if self._verbose > 1:
            print(f"[RankingEnsemble] {self._name} without each fold, {seconds:.2f} s")
        of_new_rows = [model for _, model in models]
        return CrossFitted(self._name, 0, member, without_fold, of_new_rows, scores, seconds)


def most_of_class(n_columns: int) -> int:
    """Return the maximal number of distinct rows of each class in the evaluation sample."""
    return min(MOST_OF_CLASS, max(_FEWEST_OF_CLASS, _MOST_VALUES // n_columns))


def _fit_folds(
    member: OwnMember,
    sample: Sample,
    of_row: NDArray[np.int64],
    n_folds: int,
    how: tuple[int, int, float | None],
) -> list[OfFold]:
    booster, context = member.begin(sample, *how)
    if n_folds > 1:
        # Rows of weight zero, in fold -1, are in no fold of the core, either.
        models: list[OfFold] = booster._fit_folds(context, of_row, n_folds)
        return models
    return [(booster._fit_model(context),) * 2]


def _fit_folds_rows(
    booster: Any, rows: Rows, params: dict[str, Any], context: RowsContext, n_folds: int
) -> list[OfFold]:
    if n_folds > 1:
        models: list[OfFold] = booster._fit_folds_rows(rows, context, n_folds)
        return models
    return [(booster._fit_rows(rows, params, context),) * 2]


def _rows_left_out(
    sample: Sample, of_row: NDArray[np.int64], n_folds: int, bounds: Bounds
) -> RowsLeftOut:
    """Return the rows of a sample ordered by their content, with copies merged into one row."""
    weight = np.ones(sample.n_rows) if sample.weight is None else sample.weight
    content, positive = content_of_rows(sample, 0), sample.labels
    order = np.lexsort((*blocks_in_order(sample), weight, positive, content))
    order = order[weight[order] > 0]
    is_first = np.ones(len(order), dtype=bool)
    if sample.blocks is None:
        is_first[1:] = content[order[1:]] != content[order[:-1]]
        is_first[1:] |= positive[order[1:]] != positive[order[:-1]]
    rows, weight = order[is_first], np.add.reduceat(weight[order], np.flatnonzero(is_first))
    is_weighted = sample.weight is not None or len(rows) < len(order)
    folds = Folds(rows, weight if is_weighted else None, of_row[rows], n_folds)
    # The share of the hashes within a bound is the share of the distinct rows that are drawn.
    negatives, positives = (math.log((bound + 1) / 2**64) for bound in bounds)
    return RowsLeftOut(folds.sample(sample), folds, shift=negatives - positives)
