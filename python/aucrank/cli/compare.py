"""`aucrank compare`: cross-validate every ranker, beside scikit-learn's, on the same folds."""

import argparse
import contextlib
import json
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from aucrank._base.registry import public_estimators
from aucrank._base.scoring import score_rows
from aucrank._data.column_warnings import inner_fits_are_silent
from aucrank._data.input import warn_of_columns
from aucrank._utils.files import write_atomically
from aucrank._utils.words import plural
from aucrank.cli._data import (
    Labelled,
    categorical_columns,
    count_kinds,
    present_values,
    read_labelled,
)
from aucrank.cli._errors import (
    DataError,
    UsageError,
    complain,
    did_you_mean,
    one_line,
    plain_errors,
    writable,
)
from aucrank.cli._model import build_estimator
from aucrank.cli._text import aligned, hanging
from aucrank.metrics import roc_auc_score


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
    from_sklearn: bool = False


@dataclass
class Outcome:
    """What a model did, one entry a fold."""

    model: str
    auc: list[float] = field(default_factory=list)
    fit_seconds: list[float] = field(default_factory=list)
    score_seconds: list[float] = field(default_factory=list)
    n_bytes: list[int] = field(default_factory=list)
    error: str | None = None


def run(args: argparse.Namespace) -> int:
    """Cross-validate, print, and report failure if a model failed."""
    report = None if args.json is None else writable(args.json)
    known = [name for name, cls in public_estimators().items() if is_classifier(cls())]
    known += list(_BASELINES)
    for name in args.models or ():
        if name not in known:
            raise UsageError(f"there is no model {name!r}{did_you_mean(name, known)}")
    names = list(dict.fromkeys(args.models or known))

    data = read_labelled(
        args.data,
        target=args.target,
        positive=args.positive,
        drop=args.drop,
        categorical=args.categorical,
    )
    n_all = len(data.is_positive)
    data = _sample(data, args.max_rows, args.random_state)
    n_rows = len(data.is_positive)
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
    with _progress() as say, threadpool_limits(limit), inner_fits_are_silent():
        outcomes = [_cross_validate(contestant, data, folds, say) for contestant in contestants]
    # Failed ones last; `sorted` keeps the rest of the order.
    outcomes = sorted(outcomes, key=lambda o: -np.inf if o.error else np.mean(o.auc), reverse=True)

    if report is not None:
        with plain_errors(f"cannot write {report}"):
            write_atomically(report, _as_json(args, data, outcomes))
    print()
    print(_leaderboard(outcomes, {c.name for c in contestants if c.from_sklearn}))
    failed = [outcome for outcome in outcomes if outcome.error]
    for outcome in failed:
        complain(f"error: {outcome.model} failed: {outcome.error}")
    return 1 if failed else 0


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
    """Our estimators take the frame; scikit-learn's take numbers, categories as codes.

    Those of ours that take no missing values stand behind the encoder of logistic regression.
    """
    matrix, n_numeric = _as_matrix(data)

    def contestant(name: str) -> Contestant:
        if name in _BASELINES:
            return Contestant(
                name=name,
                make=partial(_BASELINES[name], n_numeric, matrix.shape[1], seed),
                rows=matrix.__getitem__,
                size=lambda model: len(pickle.dumps(model)),
                from_sklearn=True,
            )
        make = partial(build_estimator, name, random_state=seed, n_jobs=n_jobs)
        if not get_tags(make()).input_tags.allow_nan:
            return Contestant(
                name=name,
                make=lambda: make_pipeline(
                    _encoder(n_numeric, matrix.shape[1], sparse_output=False), make()
                ),
                rows=matrix.__getitem__,
                size=lambda model: _document_size(model[-1]),
            )
        return Contestant(
            name=name,
            make=make,
            rows=lambda rows: data.X[rows].to_native(),
            size=_document_size,
        )

    return [contestant(name) for name in names]


def _as_matrix(data: Labelled) -> tuple[NDArray[np.float64], int]:
    """Numeric columns, then categorical ones as codes; missing is NaN. How many are numeric."""
    categorical = categorical_columns(data.X)
    numeric = [name for name in data.X.columns if name not in categorical]
    columns = [np.asarray(data.X[name].to_numpy(), dtype=np.float64) for name in numeric]
    for name in categorical:
        code = {value: i for i, value in enumerate(sorted(present_values(data.X[name])))}
        columns.append(np.array([code.get(value, np.nan) for value in data.X[name].to_list()]))
    return np.column_stack(columns), len(numeric)


def _encoder(n_numeric: int, n_columns: int, **one_hot: Any) -> Any:
    """Return what makes numbers of categories and of missing values."""
    return make_column_transformer(
        (
            make_pipeline(
                SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
                StandardScaler(),
            ),
            list(range(n_numeric)),
        ),
        # A missing value is a category of its own.
        (OneHotEncoder(handle_unknown="ignore", **one_hot), list(range(n_numeric, n_columns))),
    )


def _logistic_regression(n_numeric: int, n_columns: int, seed: int) -> Any:
    return make_pipeline(_encoder(n_numeric, n_columns), LogisticRegression(max_iter=1000))


def _gradient_boosting(n_numeric: int, n_columns: int, seed: int) -> Any:
    n_categorical = n_columns - n_numeric
    return make_pipeline(
        make_column_transformer(
            (
                # The booster takes at most 255 categories: the rarest beyond become one.
                OrdinalEncoder(
                    handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=254
                ),
                list(range(n_numeric, n_columns)),
            ),
            ("passthrough", partial(_numeric_with_values, n_numeric)),
        ),
        HistGradientBoostingClassifier(
            categorical_features=list(range(n_categorical)), random_state=seed
        ),
    )


def _numeric_with_values(n_numeric: int, X: NDArray[np.float64]) -> list[int]:
    """Leave out columns without any value in this fold, on which the booster fails."""
    return [column for column in range(n_numeric) if not np.isnan(X[:, column]).all()]


_BASELINES: dict[str, Callable[[int, int, int], Any]] = {
    "LogisticRegression": _logistic_regression,
    "HistGradientBoostingClassifier": _gradient_boosting,
}


def _document_size(model: Any) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        return path.stat().st_size


def _cross_validate(
    contestant: Contestant,
    data: Labelled,
    folds: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]],
    say: Callable[[str], None],
) -> Outcome:
    outcome = Outcome(contestant.name)
    y, is_positive = data.y, data.is_positive
    try:
        for i, (train, test) in enumerate(folds, start=1):
            say(f"{contestant.name}: fold {i} of {len(folds)}")
            model, X_train, X_test = (
                contestant.make(),
                contestant.rows(train),
                contestant.rows(test),
            )
            start = perf_counter()
            model.fit(X_train, y[train])
            fitted = perf_counter()
            scores = score_rows(model, X_test)
            scored = perf_counter()
            outcome.auc.append(float(roc_auc_score(is_positive[test], scores)))
            outcome.fit_seconds.append(fitted - start)
            outcome.score_seconds.append(scored - fitted)
            outcome.n_bytes.append(contestant.size(model))
    except Exception as error:  # one model's failure must not cost the others' results
        outcome.error = one_line(f"{type(error).__name__}: {error}")
    return outcome


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Write over one line of the terminal; where there is no terminal, write nothing."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    try:
        yield lambda text: print(f"\r{text:<60}", end="", file=sys.stderr, flush=True)
    finally:
        print(f"\r{'':<60}\r", end="", file=sys.stderr, flush=True)


def _leaderboard(outcomes: Sequence[Outcome], from_sklearn: set[str]) -> str:
    names = [o.model + (" (scikit-learn)" if o.model in from_sklearn else "") for o in outcomes]
    ranked = [(n, o) for n, o in zip(names, outcomes, strict=True) if not o.error]
    table = aligned(
        {
            "rank": range(1, len(ranked) + 1),
            "model": [name for name, _ in ranked],
            "AUC mean": [float(np.mean(o.auc)) for _, o in ranked],
            "AUC sd": [_spread(o.auc) for _, o in ranked],
            "fit s": [float(np.mean(o.fit_seconds)) for _, o in ranked],
            "score s": [float(np.mean(o.score_seconds)) for _, o in ranked],
            "size bytes": [round(float(np.mean(o.n_bytes))) for _, o in ranked],
        }
    )
    failed = [
        hanging(f"   -  {name}  failed: {outcome.error}", 6)
        for name, outcome in zip(names, outcomes, strict=True)
        if outcome.error
    ]
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
