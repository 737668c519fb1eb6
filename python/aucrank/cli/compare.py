"""`aucrank compare`: cross-validate rankers beside those of other packages, on the same folds."""

import argparse
import json
import pickle
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import RepeatedStratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from aucrank._base.registry import public_estimators
from aucrank._base.scoring import score_rows
from aucrank._data.column_warnings import inner_fits_are_silent
from aucrank._data.csv_text import csv_text
from aucrank._data.input import warn_of_columns
from aucrank._utils.files import write_atomically
from aucrank._utils.words import did_you_mean, listed, plural
from aucrank.cli._csv_form import csv_options
from aucrank.cli._data import Labelled, count_kinds, read_labelled
from aucrank.cli._errors import (
    DataError,
    UsageError,
    complain,
    one_line,
    plain_errors,
    writable,
)
from aucrank.cli._model import build_estimator
from aucrank.cli._options import MOST_VALUES
from aucrank.cli._peers import PEERS, as_matrix, encoder
from aucrank.cli._text import aligned, hanging, progress
from aucrank.metrics import cross_validated_auc, roc_auc_score

ALL = "all"


@dataclass(frozen=True)
class Contestant:
    """A model in the comparison."""

    name: str
    make: Callable[[], Any]
    """Makes an unfitted copy."""
    rows: Callable[[NDArray[np.intp]], Any]
    """The rows of these numbers, in the form that the model takes."""
    size: Callable[[Any], int]
    """Bytes of the fitted model when stored."""
    y: NDArray[Any]
    """The classes of all rows, the positive one last when sorted."""
    package: str | None = None
    """Where it is from, if not from here."""
    fit_options: Mapping[str, Any] = field(default_factory=dict)
    """What ``fit`` is told beside rows and labels."""


@dataclass
class Outcome:
    """What a model did; the lists have one entry a fold."""

    model: str
    package: str | None = None
    auc: list[float] = field(default_factory=list)
    fit_seconds: list[float] = field(default_factory=list)
    score_seconds: list[float] = field(default_factory=list)
    n_bytes: list[int] = field(default_factory=list)
    interval: tuple[float, float] | None = None
    """Ends of the 95 % interval of the mean AUC."""
    error: str | None = None

    @property
    def label(self) -> str:
        """The model, and where it is from."""
        return self.model if self.package is None else f"{self.model} ({self.package})"


def run(args: argparse.Namespace) -> int:
    """Cross-validate, print, and report failure if a model failed."""
    report = None if args.json is None else writable(args.json)
    sheet = None if args.csv is None else writable(args.csv)
    _check_names(args)

    data = read_labelled(
        args.data,
        target=args.target,
        positive=args.positive,
        drop=args.drop,
        categorical=args.categorical,
        row_id=args.id,
        keep=args.keep,
        options=csv_options(args),
    )
    n_all = len(data.is_positive)
    data = _sample(data, args.max_rows, args.random_state)
    n_rows = len(data.is_positive)
    names, without = _choose(args, n_rows * len(data.X.columns))
    smaller = min(data.n_positive, n_rows - data.n_positive)
    if smaller < args.folds:
        raise DataError(
            f"the smaller class has {plural(smaller, 'row')}, so there is none for each of "
            f"{args.folds} folds: use more rows, or fewer --folds"
        )
    sampled = "" if n_rows == n_all else f" (a sample of {n_all:,})"
    print(f"data    {args.data}: {plural(n_rows, 'row')}{sampled}, {count_kinds(data.X)}")
    print(f"target  {data.say()}")
    print(
        f"folds   {args.folds} stratified, shuffled with seed {args.random_state}"
        + (f", dealt {args.repeats} times" if args.repeats > 1 else "")
        + "; the same for all models"
    )
    for reason, left_out in without.items():
        print(hanging(f"without {listed(left_out)}: {reason}", 8))

    folds = list(
        RepeatedStratifiedKFold(
            n_splits=args.folds, n_repeats=args.repeats, random_state=args.random_state
        ).split(np.zeros(n_rows), data.is_positive)
    )
    contestants = _contestants(names, data, args.random_state, args.n_jobs)
    # scikit-learn's models take their threads from the pools of OpenMP and BLAS.
    limit = args.n_jobs if args.n_jobs is not None and args.n_jobs > 0 else None
    # Each fit of each model would say it again, of the rows of its fold.
    warn_of_columns(data.X.to_native())
    with progress() as say, threadpool_limits(limit), inner_fits_are_silent():
        outcomes = [
            _cross_validate(contestant, data.is_positive, folds, args.repeats, say)
            for contestant in contestants
        ]
    # Failed ones last; `sorted` keeps the rest of the order.
    outcomes = sorted(outcomes, key=lambda o: -np.inf if o.error else np.mean(o.auc), reverse=True)

    if report is not None:
        with plain_errors(f"cannot write {report}"):
            write_atomically(report, _as_json(args, data, outcomes))
    if sheet is not None:
        with plain_errors(f"cannot write {sheet}"):
            write_atomically(sheet, _as_csv(outcomes))
    print()
    print(_leaderboard(outcomes))
    failed = [outcome for outcome in outcomes if outcome.error]
    for outcome in failed:
        complain(f"error: {outcome.model} failed: {outcome.error}")
    return 1 if failed else 0


def _ours() -> list[str]:
    return [name for name, cls in public_estimators().items() if is_classifier(cls())]


def _check_names(args: argparse.Namespace) -> None:
    """Raise if a model that is asked for does not exist, or cannot be had."""
    known = [*_ours(), *PEERS]
    for name in args.models or ():
        if name not in (*known, ALL):
            raise UsageError(f"there is no model {name!r}{did_you_mean(name, known)}")
        if name not in PEERS:
            continue
        if args.peers is False:
            raise UsageError(f"--models asks for {name}, and --no-peers leaves it out")
        if not PEERS[name].is_installed:
            module = PEERS[name].module
            raise DataError(f"{name} needs {module}, which is not installed: pip install {module}")


def _choose(args: argparse.Namespace, n_values: int) -> tuple[list[str], dict[str, list[str]]]:
    """Return the models to compare, and by reason those that one might miss."""
    asked = list(dict.fromkeys(args.models or ()))
    everything = ALL in asked
    names = [name for name in asked if name != ALL]
    offered = [] if names and not everything else _ours()
    with_peers = args.peers if args.peers is not None else bool(offered)
    offered += list(PEERS) if with_peers else []
    offered = [name for name in offered if name not in names]
    without: dict[str, list[str]] = {}
    for name in offered:
        if name in PEERS and not PEERS[name].is_installed:
            without.setdefault("not installed", []).append(PEERS[name].package)
        elif n_values > MOST_VALUES.get(name, n_values) and not everything:
            reason = f"slow on data of this size; --models {ALL} compares all"
            without.setdefault(reason, []).append(name)
        else:
            names.append(name)
    return names, without


def _sample(data: Labelled, max_rows: int | None, seed: int) -> Labelled:
    if max_rows is None or len(data.is_positive) <= max_rows:
        return data
    with plain_errors(f"cannot draw {max_rows:,} rows"):
        kept, _ = train_test_split(
            np.arange(len(data.is_positive)),
            train_size=max_rows,
            stratify=data.is_positive,
            random_state=seed,
        )
    kept.sort()
    return replace(data, X=data.X[kept], is_positive=data.is_positive[kept])


def _contestants(
    names: Sequence[str], data: Labelled, seed: int, n_jobs: int | None
) -> list[Contestant]:
    """Our estimators take the frame; peers take numbers, categories as codes.

    Those of ours that take no missing values stand behind the encoder of logistic regression.
    """
    matrix = as_matrix(data)
    y = data.y

    def contestant(name: str) -> Contestant:
        if name in PEERS:
            peer = PEERS[name]
            return Contestant(
                name=name,
                make=partial(peer.make, matrix, seed, n_jobs),
                rows=matrix.values.__getitem__,
                size=lambda model: len(pickle.dumps(model)),
                # Not all of them take labels of any kind.
                y=data.is_positive.astype(np.intp),
                package=peer.package,
                fit_options=peer.fit_options(matrix),
            )
        make = partial(build_estimator, name, random_state=seed, n_jobs=n_jobs)
        if not get_tags(make()).input_tags.allow_nan:
            return Contestant(
                name=name,
                make=lambda: make_pipeline(encoder(matrix, sparse_output=False), make()),
                rows=matrix.values.__getitem__,
                size=lambda model: _document_size(model[-1]),
                y=y,
            )
        return Contestant(
            name=name,
            make=make,
            rows=lambda rows: data.X[rows].to_native(),
            size=_document_size,
            y=y,
        )

    return [contestant(name) for name in names]


def _document_size(model: Any) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        return path.stat().st_size


def _cross_validate(
    contestant: Contestant,
    is_positive: NDArray[np.bool_],
    folds: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]],
    n_repeats: int,
    say: Callable[[str], None],
) -> Outcome:
    outcome = Outcome(contestant.name, contestant.package)
    scores = np.zeros((len(is_positive), n_repeats))
    fold_of = np.zeros(scores.shape, dtype=np.intp)
    try:
        for i, (train, test) in enumerate(folds):
            say(f"{contestant.name}: fold {i + 1} of {len(folds)}")
            model, X_train, X_test = (
                contestant.make(),
                contestant.rows(train),
                contestant.rows(test),
            )
            start = perf_counter()
            model.fit(X_train, contestant.y[train], **contestant.fit_options)
            fitted = perf_counter()
            found = score_rows(model, X_test)
            scored = perf_counter()
            outcome.auc.append(float(roc_auc_score(is_positive[test], found)))
            outcome.fit_seconds.append(fitted - start)
            outcome.score_seconds.append(scored - fitted)
            outcome.n_bytes.append(contestant.size(model))
            repeat = i * n_repeats // len(folds)
            scores[test, repeat], fold_of[test, repeat] = found, i
        with warnings.catch_warnings():
            # Where all folds are without error, another interval takes the place of the usual.
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            interval = cross_validated_auc(is_positive, scores, fold_of)
        outcome.interval = interval.low, interval.high
    except Exception as error:  # one model's failure must not cost the others' results
        outcome.error = one_line(f"{type(error).__name__}: {error}")
    return outcome


def _table(outcomes: Sequence[Outcome]) -> dict[str, list[Any]]:
    """Return the columns of the leaderboard: of the models that did not fail."""
    ranked = [outcome for outcome in outcomes if not outcome.error]
    intervals = [outcome.interval or (np.nan, np.nan) for outcome in ranked]
    return {
        "rank": list(range(1, len(ranked) + 1)),
        "model": [o.label for o in ranked],
        "AUC": [float(np.mean(o.auc)) for o in ranked],
        "low": [low for low, _ in intervals],
        "high": [high for _, high in intervals],
        "fit s": [float(np.mean(o.fit_seconds)) for o in ranked],
        "score s": [float(np.mean(o.score_seconds)) for o in ranked],
        "size bytes": [round(float(np.mean(o.n_bytes))) for o in ranked],
    }


def _as_csv(outcomes: Sequence[Outcome]) -> str:
    """Return the leaderboard, and the errors of those that failed, for a spreadsheet."""
    table = _table(outcomes)
    rows = [[*row, None] for row in zip(*table.values(), strict=True)]
    rows += [[None, o.label, *[None] * (len(table) - 2), o.error] for o in outcomes if o.error]
    return "\ufeff" + csv_text([*table, "error"], rows, excel=True)


def _leaderboard(outcomes: Sequence[Outcome]) -> str:
    table = aligned(_table(outcomes))
    failed = [hanging(f"   -  {o.label}  failed: {o.error}", 6) for o in outcomes if o.error]
    return "\n".join([table, *failed])


def _spread(values: Sequence[float]) -> float:
    """Compute the standard deviation over the folds."""
    return float(np.std(values, ddof=1))


def _as_json(args: argparse.Namespace, data: Labelled, outcomes: Sequence[Outcome]) -> str:
    """All that the leaderboard is made of."""
    return json.dumps(
        {
            "data": args.data,
            "target": args.target,
            "positive": data.positive,
            "n_rows": len(data.is_positive),
            "n_positive": data.n_positive,
            "folds": args.folds,
            "repeats": args.repeats,
            "random_state": args.random_state,
            "models": [
                {
                    "model": outcome.model,
                    "error": outcome.error,
                    "auc_mean": None if outcome.error else float(np.mean(outcome.auc)),
                    "auc_sd": None if outcome.error else _spread(outcome.auc),
                    "auc_low": None if outcome.interval is None else outcome.interval[0],
                    "auc_high": None if outcome.interval is None else outcome.interval[1],
                    "auc": outcome.auc,
                    "fit_seconds": outcome.fit_seconds,
                    "score_seconds": outcome.score_seconds,
                    "n_bytes": outcome.n_bytes,
                }
                for outcome in outcomes
            ],
        },
        indent=2,
    )
