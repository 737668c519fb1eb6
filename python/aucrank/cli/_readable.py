"""What models that a person can read would give in place of an ensemble, on the same folds."""

import warnings
from collections.abc import Callable
from typing import Any

from sklearn.base import clone

from aucrank._data.column_warnings import inner_fits_are_silent
from aucrank.cli._model import build_estimator

#: The quickest first: it is tried however little time there is.
READABLE = ("Scorecard", "LinearRanker", "TreeRank")


def leaves_rows_out(ensemble: Any) -> bool:
    """Whether the leaderboard of a fitted ensemble is known to be of rows left out."""
    model = ensemble._model
    # No rows are left out where a class has one distinct row. Where no member is better than
    # chance, no models are kept that could tell.
    return bool(model.factors()) and len(model.models(0)) > 1


def readable_aucs(ensemble: Any, fit: Callable[[Any], Any], seconds: float) -> dict[str, float]:
    """Return the AUC of readable models by name, the best first.

    They are the members of an ensemble of their own: it deals the rows into folds as the other one
    did, for the same seed, and its leaderboard is of the same rows left out. What would not be done
    within some seconds is not there.

    Parameters
    ----------
    ensemble : RankingEnsemble
        Fitted.
    fit : callable
        Fits another ensemble to the same rows.
    seconds : float
        The limit of time.
    """
    members = [(name, build_estimator(name)) for name in READABLE]
    judge = clone(ensemble).set_params(members=members, time_limit=seconds, verbose=0)
    with warnings.catch_warnings(), inner_fits_are_silent():
        # Of models that the user did not ask for.
        warnings.simplefilter("ignore")
        fit(judge)
    table = judge.leaderboard_
    found = zip(table["name"], table["auc"], strict=True)
    return {name: float(auc) for name, auc in found if name in READABLE}
