"""AUC of readable models as an alternative to an ensemble, on the same folds."""

import warnings
from collections.abc import Callable
from typing import Any

from sklearn.base import clone

from aucrank._data.column_warnings import inner_fits_are_silent
from aucrank.cli._model import build_estimator

#: The first is tried even if there is little time.
READABLE = ("Scorecard", "LinearRanker", "TreeRank")

# A Scorecard takes about as long as the ensemble of all members, and three to five times as long as
# the one of the fast preset.
_SLOW = {"fast": ("Scorecard",)}


def readable_next_to(ensemble: Any) -> list[str]:
    """Return the names of the readable models that take no longer than an ensemble."""
    slow = _SLOW.get(ensemble.presets, ()) if ensemble.members is None else ()
    return [name for name in READABLE if name not in slow]


def leaves_rows_out(ensemble: Any) -> bool:
    """Return whether the leaderboard of a fitted ensemble is known to be of left-out rows."""
    model = ensemble._model
    # If a class has one distinct row, no rows are left out. If no member is better than chance, no
    # models are kept that could show it.
    return bool(model.factors()) and len(model.models(0)) > 1


def readable_aucs(
    ensemble: Any, fit: Callable[[Any], Any], seconds: float | None
) -> dict[str, float]:
    """Return the AUC of readable models by name, the best first.

    They are the members of a separate ensemble: with the same seed it deals the rows into the same
    folds, and its leaderboard is of the same left-out rows. Models that would exceed the time limit
    are left out.

    Parameters
    ----------
    ensemble : RankingEnsemble
        Fitted.
    fit : callable
        Fits another ensemble to the same rows.
    seconds : float or None
        Time limit; None for none, so that the result does not depend on the clock.
    """
    members = [(name, build_estimator(name)) for name in readable_next_to(ensemble)]
    judge = clone(ensemble).set_params(members=members, time_limit=seconds, verbose=0)
    with warnings.catch_warnings(), inner_fits_are_silent():
        # From models that the user did not request.
        warnings.simplefilter("ignore")
        fit(judge)
    table = judge.leaderboard_
    found = zip(table["name"], table["auc"], strict=True)
    return {name: float(auc) for name, auc in found if name in READABLE}
