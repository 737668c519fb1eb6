"""The models of a comparison, and how each receives rows, is stored and is counted."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.metadata import packages_distributions, version
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags

from aucrank._base.external import check_ranker, check_takes_weights, weight_parameter
from aucrank._base.persistence import is_public
from aucrank._base.ranker import BaseRanker
from aucrank._base.registry import get_estimator, public_estimators
from aucrank._compare.limits import MOST_VALUES
from aucrank._compare.peers import PEERS, encoder
from aucrank._compare.sample import LabelledSample
from aucrank._core import __version__
from aucrank._export.rule_count import count_rules
from aucrank._utils.words import did_you_mean

#: Instead of names: all models, however long they take.
ALL = "all"


@dataclass(frozen=True)
class Contestant:
    """A model in the comparison.

    Attributes
    ----------
    name : str
        Its name.
    package : str or None
        Its package, if not this one.
    make : callable
        Makes an unfitted copy that runs on the given number of threads, None for its default.
    rows : callable
        Returns the rows with these numbers, in the form that the model accepts.
    y : ndarray of shape (n_samples,)
        The labels of all rows, the positive one last when sorted.
    fit_options : mapping
        Arguments of ``fit`` in addition to rows, labels and weights.
    rules : callable or None
        Counts the rules of a fitted model.
    groups : ndarray of shape (n_samples,) or None
        Which rows belong together, for rankers that deal rows into folds themselves.
    time : ndarray of shape (n_samples,) or None
        Time of each row, for the same.
    """

    name: str
    package: str | None
    make: Callable[[int | None], Any]
    rows: Callable[[NDArray[np.intp]], Any]
    y: NDArray[Any]
    fit_options: Mapping[str, Any] = field(default_factory=dict)
    rules: Callable[[Any], int | None] | None = None
    groups: NDArray[Any] | None = None
    time: NDArray[Any] | None = None

    def fit(
        self, rows: NDArray[np.intp], weight: NDArray[np.float64] | None, n_jobs: int | None
    ) -> Callable[[], Any]:
        """Return a function that fits a copy to some rows, with all preparations done."""
        model, X, options = self.make(n_jobs), self.rows(rows), dict(self.fit_options)
        if weight is not None:
            check_takes_weights(model, self.name)
            name, _ = weight_parameter(model)
            options[name] = weight[rows]
        if isinstance(model, BaseRanker):
            options |= {name: values[rows] for name, values in self._dealt_by().items()}
        return lambda: model.fit(X, self.y[rows], **options)

    def _dealt_by(self) -> dict[str, NDArray[Any]]:
        """Return groups or times of the rows as arguments of a fit."""
        given = {"groups": self.groups, "time": self.time}
        return {name: values for name, values in given.items() if values is not None}

    def fingerprint(self) -> str | None:
        """Return a text that identifies the model; None if that is impossible."""
        try:
            model = self.make(None)
            known = [__version__, _versions(model), model, dict(self.fit_options)]
            if isinstance(model, BaseRanker):
                known += self._dealt_by().values()
            return str(joblib.hash(known))
        except Exception:  # of any package: models that cannot be identified are fitted again
            return None


@dataclass(frozen=True)
class Chosen:
    """The models of a comparison.

    Attributes
    ----------
    models : dict
        By name: a user's estimator, or None for one that is known by its name.
    left_out : dict of str to list of str
        Omitted models that one might expect, by reason.
    """

    models: dict[str, Any]
    left_out: dict[str, list[str]]


def our_names() -> list[str]:
    """Return the names of our classifiers."""
    return [name for name, cls in public_estimators().items() if is_classifier(cls())]


def choose(models: Any, peers: bool | None, n_values: int) -> Chosen:
    """Return the models to compare.

    Parameters
    ----------
    models : None, str, estimator, mapping, or iterable of str and estimators
        As the user passed it.
    peers : bool or None
        Whether to include other packages; None for yes, unless ``models`` is given.
    n_values : int
        Rows times columns.

    Raises
    ------
    TypeError, ValueError
        If something is not a model, or a name is not known.
    ImportError
        If the package of a requested peer is not installed.
    """
    if not (peers is None or isinstance(peers, bool)):
        raise TypeError(f"peers must be True, False or None, got {peers!r}")
    requested = _requested(models)
    everything = ALL in requested and requested[ALL] is None
    if everything:
        del requested[ALL]
    for name in [name for name, estimator in requested.items() if estimator is None]:
        _check_known(name)
    offered = [] if requested and not everything else our_names()
    with_peers = peers if peers is not None else bool(offered)
    offered += list(PEERS) if with_peers else []
    left_out: dict[str, list[str]] = {}
    for name in offered:
        if name in requested:
            continue
        if name in PEERS and not PEERS[name].is_installed:
            left_out.setdefault("not installed", []).append(PEERS[name].package)
        elif n_values > MOST_VALUES.get(name, n_values) and not everything:
            left_out.setdefault("slow on data of this size", []).append(name)
        else:
            requested[name] = None
    return Chosen(requested, left_out)


def _requested(models: Any) -> dict[str, Any]:
    """Return the requested models; those known by name have None."""
    if models is None:
        return {}
    if isinstance(models, Mapping):
        pairs = list(models.items())
    else:
        single = (
            isinstance(models, str) or not isinstance(models, Iterable) or hasattr(models, "fit")
        )
        listed = [models] if single else list(models)
        # A repeated name is one model; a further estimator of the same class is another one.
        names = [model for model in listed if isinstance(model, str)]
        pairs = [(name, None) for name in dict.fromkeys(names)]
        taken = set(names)
        for model in (model for model in listed if not isinstance(model, str)):
            name = _free_name(type(model).__name__, taken)
            taken.add(name)
            pairs.append((name, model))
    if not pairs:
        raise ValueError("models is empty: name at least one, or pass None for all")
    for name, model in pairs:
        if not isinstance(name, str) or not name.strip():
            raise TypeError(f"the name of a model must be a text, got {name!r}")
        if model is not None or isinstance(models, Mapping):
            check_ranker(model, f"model {name!r}")
    return dict(pairs)


def _free_name(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} {number}"
    return free


def _check_known(name: str) -> None:
    known = [*our_names(), *PEERS]
    if name not in known:
        raise ValueError(f"there is no model {name!r}{did_you_mean(name, known)}")
    if name in PEERS and not PEERS[name].is_installed:
        module = PEERS[name].module
        raise ImportError(f"{name} needs {module}, which is not installed: pip install {module}")


def make_contestants(
    chosen: Mapping[str, Any], sample: LabelledSample, seed: int
) -> list[Contestant]:
    """Return the models of a comparison, ready to be fitted.

    Our own receive the rows in the user's format; those of ours that accept no missing values get
    the encoder of logistic regression in front. Peers receive numbers, with categories as codes.
    Estimators of the user are left unchanged: copies of them are fitted.
    """
    made = []
    for name, estimator in chosen.items():
        if estimator is not None:
            made.append(_own(name, estimator, sample, seed))
        elif name in PEERS:
            made.append(_peer(name, sample, seed))
        else:
            made.append(_ours(name, sample, seed))
    return made


def _own(name: str, estimator: Any, sample: LabelledSample, seed: int) -> Contestant:
    package = type(estimator).__module__.partition(".")[0]
    return Contestant(
        name,
        None if package in ("aucrank", "__main__") else package,
        partial(_copy, estimator, seed),
        sample.rows,
        sample.y,
        rules=_rules_of_ours if isinstance(_last(estimator), BaseRanker) else None,
        groups=sample.groups,
        time=sample.time,
    )


def _copy(estimator: Any, seed: int, n_jobs: int | None) -> Any:
    """Return a copy with the seed of the comparison where none is set, and so many threads."""
    copied = clone(estimator)
    given: dict[str, Any] = {}
    for name, value in copied.get_params(deep=True).items():
        parameter = name.rpartition("__")[2]
        if parameter == "random_state" and value is None:
            given[name] = seed
        elif parameter == "n_jobs" and n_jobs is not None:
            given[name] = n_jobs
    if given:
        copied.set_params(**given)
    return copied


def _peer(name: str, sample: LabelledSample, seed: int) -> Contestant:
    peer = PEERS[name]
    return Contestant(
        name,
        peer.package,
        partial(peer.make, sample.matrix, seed),
        sample.matrix.values.__getitem__,
        # Not all of them accept labels of any kind.
        sample.positive.astype(np.intp),
        peer.fit_options(sample.matrix),
        peer.rules,
    )


def _ours(name: str, sample: LabelledSample, seed: int) -> Contestant:
    cls = get_estimator(name)
    known = cls().get_params(deep=False)

    def make(n_jobs: int | None, **more: Any) -> Any:
        # Parameters that an estimator lacks, it does not need: it is deterministic, or runs in one
        # thread.
        given = {"random_state": seed, "n_jobs": n_jobs, **more}
        return cls(**{key: value for key, value in given.items() if key in known})

    if get_tags(cls()).input_tags.allow_nan:
        taken_as = partial(make, categorical_features=sample.categorical_features)
        return Contestant(
            name,
            None,
            taken_as,
            sample.rows,
            sample.y,
            rules=_rules_of_ours,
            groups=sample.groups,
            time=sample.time,
        )

    def make_behind_encoder(n_jobs: int | None) -> Any:
        return make_pipeline(encoder(sample.matrix, sparse_output=False), make(n_jobs))

    matrix = sample.matrix.values
    return Contestant(
        name, None, make_behind_encoder, matrix.__getitem__, sample.y, rules=_rules_of_ours
    )


def _last(model: Any) -> Any:
    return model[-1] if isinstance(model, Pipeline) else model


def _rules_of_ours(model: Any) -> int | None:
    return count_rules(_last(model)._model.formula())


def n_bytes_of(model: Any) -> int | None:
    """Return the size of a fitted model: of the file for ours, of a pickle for others.

    None if there is neither, as for one that holds a function without a name.
    """
    last = _last(model)
    if is_public(type(last)):
        # A model that holds user code cannot be saved.
        with suppress(TypeError):
            last._check_savable()
            return len(last._to_document().encode())
    try:
        return len(pickle.dumps(model))
    except (pickle.PicklingError, AttributeError, TypeError):
        # The type of the error depends on what cannot be pickled.
        return None


def _versions(model: Any) -> list[str]:
    """Return the versions of the packages that the parts of an estimator are from."""
    parts = [model, *model.get_params(deep=True).values()]
    modules: Sequence[str] = [type(part).__module__.partition(".")[0] for part in parts]
    known = _distributions()
    names = sorted({name for module in modules for name in known.get(module, ())})
    return [f"{name} {version(name)}" for name in names]


@cache
def _distributions() -> Mapping[str, list[str]]:
    """Return the packages of each module; this scans all that are installed."""
    return packages_distributions()
