"""Fits to the codes of all rows at once: here, or on a worker of a cluster."""

import warnings
from copy import copy
from dataclasses import dataclass
from time import perf_counter
from typing import Any, cast

from sklearn.base import clone

from aucrank import _core
from aucrank._base.fit_context import DatasetContext, FitContext
from aucrank._base.fit_progress import FitProgress
from aucrank._data.leak_warnings import SumsOfValues
from aucrank._data.sample import CodedSample, Sample
from aucrank._data.schema import Schema, errors_by_name
from aucrank._utils.sizes import megabytes
from aucrank._utils.threads import effective_n_threads
from aucrank._utils.warn import warn_caller
from aucrank._utils.words import plural


@dataclass(frozen=True)
class FitOfCodes:
    """A fit that needs more than sums of rows, and reads numbers through their bins alone.

    Parameters
    ----------
    estimator : CoreEstimator
        The one being fitted, whose ``classes_`` are set.
    schema : Schema
        Columns of the rows.
    seed : int
        Drawn from ``random_state``.
    """

    estimator: Any
    schema: Schema
    seed: int

    def model(self, codes: _core.StoredRows, n_threads: int, progress: FitProgress) -> Any:
        """Return the fitted model of the core."""
        # These fits use only what coded rows offer: `_check_for_dataset` has ruled out parameters
        # that need more.
        sample = cast("Sample", CodedSample(codes.matrix(), self.schema))
        context = FitContext(sample, self.seed, n_threads, progress)
        return self.estimator._finish_model(self.estimator._fit_model(context), context)


@dataclass(frozen=True)
class FittedThere:
    """What a fit on a worker returns.

    Attributes
    ----------
    estimator : CoreEstimator
        The fitted one.
    sums : list of SumsOfValues
        Of the bins of each column.
    warned : list of tuple of type and str
        The warnings of the fit.
    """

    estimator: Any
    sums: list[SumsOfValues]
    warned: list[tuple[type[Warning], str]]


@dataclass(frozen=True)
class FitThere:
    """A fit that is sent to a worker, which has the codes of all rows.

    Parameters
    ----------
    fit : FitOfCodes
        The fit.
    seconds : float
        Time since it began, of which ``time_limit`` is the whole.
    """

    fit: FitOfCodes
    seconds: float

    def __call__(self, codes: _core.StoredRows) -> FittedThere:
        """Fit with as many threads as ``n_jobs`` says on this machine."""
        # Workers in threads are given the same object.
        estimator = copy(self.fit.estimator)
        fit = FitOfCodes(estimator, self.fit.schema, self.fit.seed)
        n_threads = effective_n_threads(getattr(estimator, "n_jobs", None))
        progress = FitProgress(estimator, begin=perf_counter() - self.seconds)
        with warnings.catch_warnings(record=True) as said, errors_by_name(fit.schema):
            warnings.simplefilter("always")
            sums = SumsOfValues.in_bins(codes, n_threads)
            model = fit.model(codes, n_threads, progress)
        estimator._set_fitted(estimator.classes_, fit.schema, model)
        return FittedThere(estimator, sums, [(one.category, str(one.message)) for one in said])


def fit_there(estimator: Any, whole: DatasetContext, binning: dict[str, Any]) -> FittedThere:
    """Fit on a worker of a cluster, which brings the codes of all rows there.

    Parameters
    ----------
    estimator : CoreEstimator
        The one being fitted, whose ``classes_`` are set.
    whole : DatasetContext
        Its inputs.
    binning : dict
        Parameters of the bins, in the form of the core.

    Returns
    -------
    FittedThere
        What it returned; its warnings are given here.
    """
    dataset, facts = whole.dataset, whole.facts
    # What is printed there, nobody reads.
    sent = clone(estimator).set_params(verbose=0)
    sent.classes_ = estimator.classes_
    n_rows, size = plural(facts.n_rows, "row"), megabytes(dataset.bytes_of_codes(facts))
    whole.progress.say(f"{n_rows} brought to one worker of the cluster, {size} of codes")
    fit = FitThere(FitOfCodes(sent, facts.schema, whole.seed), whole.progress.seconds)
    found: FittedThere = dataset.on_codes(facts, binning, whole.n_threads, fit)
    for category, message in found.warned:
        warn_caller(message, category)
    return found
