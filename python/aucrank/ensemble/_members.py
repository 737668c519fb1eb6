"""Members of an ensemble: which estimators serve, and how one of them is fitted to some rows."""

from collections.abc import Iterable
from typing import Any

from numpy.typing import NDArray
from sklearn.base import clone

from aucrank import _core
from aucrank._base.fit_context import FitContext
from aucrank._base.fit_progress import FitProgress
from aucrank._base.ranker import BaseRanker
from aucrank._data.sample import Sample

#: Parameters that an ensemble sets for all of its members, with what they have to be there.
_OF_THE_ENSEMBLE = {"categorical_features": "from_dtype", "warm_start": False}


def check_members(members: Any) -> list[tuple[str, BaseRanker]]:
    """Return the parameter ``members`` as a list of names and rankers.

    Raises
    ------
    TypeError
        If it is no list, or one of them is no ranker of aucrank.
    ValueError
        If it is empty, a name comes twice, or a ranker has parameters that the ensemble sets.
    """
    if isinstance(members, str | dict) or not isinstance(members, Iterable):
        raise TypeError(f"members must be a list of (name, ranker), got {members!r}")
    found: list[tuple[str, BaseRanker]] = []
    for member in members:
        if not (isinstance(member, tuple) and len(member) == 2 and isinstance(member[0], str)):
            raise TypeError(f"members must be a list of (name, ranker), got {member!r} in it")
        found.append(member)
    if not found:
        raise ValueError("members must not be empty")
    names = [name for name, _ in found]
    for name, ranker in found:
        if names.count(name) > 1:
            raise ValueError(f"members has two of the name {name!r}")
        if not isinstance(ranker, BaseRanker):
            raise TypeError(f"member {name!r} must be a ranker of aucrank, got {ranker!r}")
        if ranker._family == "ensemble":
            raise TypeError(f"member {name!r} is an ensemble itself")
        params = ranker.get_params(deep=False)
        for parameter, needed in _OF_THE_ENSEMBLE.items():
            if parameter in params and not _is(params[parameter], needed):
                raise ValueError(
                    f"{parameter} of member {name!r} must be {needed!r}, got"
                    f" {params[parameter]!r}: that of the ensemble holds for all"
                )
        ranker._check_all_params()
    return found


def _is(value: Any, needed: Any) -> bool:
    return isinstance(value, type(needed)) and bool(value == needed)


def fit_member(
    ranker: BaseRanker, sample: Sample, classes: NDArray[Any], seed: int, n_threads: int
) -> _core.Model:
    """Fit a clone of a ranker to some rows, and return its model.

    Parameters
    ----------
    ranker : BaseRanker
        Cloned, never fitted itself.
    sample : Sample
        The rows.
    classes : ndarray of shape (2,)
        The labels.
    seed : int
        That it draws by.
    n_threads : int
        At least 1.
    """
    fitted = clone(ranker)
    if "verbose" in fitted.get_params(deep=False):
        fitted.set_params(verbose=0)
    fitted.classes_ = classes
    context = FitContext(sample, seed, n_threads, FitProgress(fitted))
    model: _core.Model = fitted._fit_model(context)
    return model
