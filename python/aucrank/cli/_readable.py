"""What a model that a person can read would give in place of an ensemble, on the same folds."""

import warnings
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._data.column_warnings import inner_fits_are_silent
from aucrank._data.input import read_columns
from aucrank._data.sample import Sample
from aucrank._data.weights import check_weight
from aucrank._utils.params import check_seed
from aucrank._utils.threads import effective_n_threads
from aucrank.cli._data import Labelled
from aucrank.cli._errors import one_line
from aucrank.cli._model import build_estimator
from aucrank.metrics import roc_auc_score

#: The quickest first: it is tried however little time there is.
READABLE = ("Scorecard", "LinearRanker", "TreeRank")


@dataclass(frozen=True)
class Folds:
    """Which rows the models of an ensemble have not seen."""

    rows: NDArray[np.intp]
    """Those of positive weight."""
    weight: NDArray[np.float64] | None
    """Of each of them."""
    of_row: NDArray[np.intp]
    """The fold of each of them."""
    n_folds: int


def folds_of(ensemble: Any, data: Labelled) -> Folds | None:
    """Deal the rows as the fit of an ensemble did; None if it could leave none out."""
    model = ensemble._model
    # Where no member is better than chance, no models are kept to be counted.
    n_folds = len(model.models(0)) if model.factors() else ensemble.n_folds
    if n_folds < 2:
        return None
    columns = read_columns(ensemble, data.X.to_native(), ensemble._schema)
    weight = check_weight(data.weight, len(data.is_positive))
    sample = Sample(columns, ensemble._schema, data.is_positive, weight)
    n_threads = effective_n_threads(ensemble.n_jobs)
    seed = check_seed(ensemble.random_state)
    of_row, n_folds = _core.deal_folds(sample.core, n_folds, seed, n_threads)
    if n_folds < 2:
        return None
    rows = np.flatnonzero(of_row < n_folds)
    return Folds(
        rows, None if weight is None else weight[rows], of_row[rows].astype(np.intp), n_folds
    )


@dataclass(frozen=True)
class Outcome:
    """What became of a readable model."""

    model: str
    auc: float | None = None
    """Of rows left out; None if there was no time for it, or it could not be fitted."""
    error: str | None = None


def readable_outcomes(
    folds: Folds, data: Labelled, seed: int, n_jobs: int | None, seconds: float
) -> list[Outcome]:
    """Fit readable models without each fold, those that are done within some seconds.

    The AUC is that of all rows by their probability of the positive class, as that of the ensemble:
    the ranks that a tree gives to its leaves mean another thing in each fold.
    """
    start = perf_counter()
    outcomes: list[Outcome] = []
    with warnings.catch_warnings(), inner_fits_are_silent():
        # Of models that the user did not ask for.
        warnings.simplefilter("ignore")
        for name in READABLE:
            left = seconds - (perf_counter() - start) if outcomes else np.inf
            try:
                auc = _left_out_auc(name, folds, data, seed, n_jobs, left)
            except (ValueError, TypeError) as error:
                outcomes.append(Outcome(name, error=one_line(error)))
            else:
                outcomes.append(Outcome(name, auc))
    return sorted(outcomes, key=lambda o: -np.inf if o.auc is None else o.auc, reverse=True)


def _left_out_auc(
    name: str, folds: Folds, data: Labelled, seed: int, n_jobs: int | None, seconds: float
) -> float | None:
    """Fit a model without each fold; None once it shows that there is no time for all of them."""
    start = perf_counter()
    if seconds <= 0:
        return None
    rows, weight = folds.rows, folds.weight
    y = data.y[rows]
    probability = np.zeros(len(rows))
    for fold in range(folds.n_folds):
        if fold and (perf_counter() - start) / fold * folds.n_folds > seconds:
            return None
        is_out = folds.of_row == fold
        model = build_estimator(name, random_state=seed, n_jobs=n_jobs)
        model.fit(
            data.X[rows[~is_out]].to_native(),
            y[~is_out],
            sample_weight=None if weight is None else weight[~is_out],
        )
        probability[is_out] = model.predict_proba(data.X[rows[is_out]].to_native())[:, 1]
    return float(roc_auc_score(data.is_positive[rows], probability, sample_weight=weight))
