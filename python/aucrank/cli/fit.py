"""`aucrank fit`: learn a model from a data file and save it."""

import argparse
import math
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from sklearn.base import clone

from aucrank._base.registry import public_estimators
from aucrank._base.scoring import score_rows
from aucrank._utils.plain_text import shown
from aucrank._utils.words import listed, plural, with_values
from aucrank.cli._csv import STDIN, csv_options
from aucrank.cli._data import Labelled, count_kinds, read_labelled, text_of
from aucrank.cli._errors import UsageError, plain_errors, writable
from aucrank.cli._model import build_estimator, fit_to, save_model
from aucrank.cli._options import DEFAULT_LARGE_MODEL, DEFAULT_MODEL
from aucrank.cli._progress import fit_shown, progress, silent
from aucrank.cli._readable import READABLE, leaves_rows_out, readable_aucs, readable_next_to
from aucrank.cli._stream import (
    dataset_to_learn,
    is_streamed,
    room_for_rows,
    room_for_scores,
    stream_errors,
)
from aucrank.cli._text import aligned, hanging, heading
from aucrank.data import Dataset
from aucrank.metrics import roc_auc_score, roc_state

# Seconds that readable models may always take if the time is limited.
_SECONDS_AT_LEAST = 1.0


def run(args: argparse.Namespace) -> int:
    """Fit, save, and print the result."""
    is_default = args.model is None
    if is_default:
        args.model = DEFAULT_MODEL
    estimator = build_estimator(args.model, _params(args), args.random_state, args.n_jobs)
    if args.verbose and "verbose" in estimator.get_params(deep=False):
        estimator.set_params(verbose=args.verbose)
    out = writable(args.out if args.out is not None else _default_out(args.data))
    if is_streamed(args.data, args.memory):
        return _fit_in_pieces(estimator, args, out, is_default=is_default)
    data = read_labelled(
        args.data,
        target=args.target,
        positive=args.positive,
        weight=args.weight,
        drop=args.drop,
        categorical=args.categorical,
        row_id=args.id,
        keep=args.keep,
        group=args.group,
        time=args.time,
        options=csv_options(args),
    )
    if args.model != DEFAULT_MODEL:
        # Of the default there is as much as the file itself may take.
        _refuse(_too_large(estimator, data.X.shape, args), data.X.shape, args)
    start = perf_counter()
    with (
        progress(args) as say,
        plain_errors(f"cannot fit {args.model} to {args.data}"),
        # Lines of `verbose` would be mixed with this one.
        fit_shown(silent if args.verbose else say, estimator, f"fitting {args.model}"),
    ):
        fit_to(estimator, data)
    seconds = perf_counter() - start
    is_ensemble = args.model == DEFAULT_MODEL
    is_honest = is_ensemble and leaves_rows_out(estimator)
    said = _auc_of_ensemble(estimator) if is_honest else _auc_of_training(estimator, data)
    n_bytes = save_model(estimator, out)

    print(f"data    {args.data}: {plural(len(data.is_positive), 'row')}, {count_kinds(data.X)}")
    print(f"target  {data.say()}")
    print(f"model   {args.model}, fitted in {seconds:.3g} s{_in_brief(estimator)}")
    print(f"AUC     {said}")
    print(f"saved   {out} ({n_bytes:,} bytes)")
    if is_ensemble:
        _say_leaderboard(estimator, is_honest=is_honest)
    if is_honest and args.readable:
        print(flush=True)
        with progress(args) as say, plain_errors("cannot fit readable models (see --no-readable)"):
            say("fitting readable models")
            aucs = readable_aucs(
                estimator, partial(fit_to, data=data), _seconds_for_readable(args, seconds)
            )
        print(_readable_in_words(aucs, estimator, args, out))
    return 0


def _fit_in_pieces(estimator: Any, args: argparse.Namespace, out: Path, *, is_default: bool) -> int:
    """Fit to data that do not fit in memory."""
    start, instead = perf_counter(), ""
    with progress(args) as say:
        dataset, positive, n_positive = dataset_to_learn(args, csv_options(args), say)
        shape = dataset.n_rows or 0, len(dataset.columns)
        too_large = _too_large(estimator, shape, args)
        if too_large and (n_folds := _fewer_folds(estimator, shape, args)):
            too_large, instead = "", f"; n_folds={n_folds}, for more of which {too_large}"
        if too_large and is_default and not _params(args):
            instead = f"; {too_large}"
            args.model = DEFAULT_LARGE_MODEL
            estimator = build_estimator(args.model, [], args.random_state, args.n_jobs)
            if args.verbose:
                estimator.set_params(verbose=args.verbose)
            too_large = _too_large(estimator, shape, args)
        _refuse(too_large, shape, args)
        with stream_errors(f"cannot fit {args.model} to {args.data}"):
            if args.categorical:
                names = [name for name in dataset.columns if name in set(args.categorical)]
                estimator.set_params(categorical_features=names)
            args.notes.show()
            with fit_shown(silent if args.verbose else say, estimator, f"fitting {args.model}"):
                estimator.fit(dataset)
            if dataset.reading is not None:
                estimator._set_reading(replace(dataset.reading, target=args.target))
            seconds = perf_counter() - start
            is_ensemble = args.model == DEFAULT_MODEL
            is_honest = is_ensemble and leaves_rows_out(estimator)
            if is_honest:
                said = _auc_of_ensemble(estimator)
            else:
                say("scoring the rows")
                auc = roc_state(estimator, dataset, **room_for_scores(args.memory)).auc()
                said = (
                    f"{auc:.4f} of the rows that it learned from; `aucrank evaluate` measures it on"
                    " others"
                )
    n_bytes = save_model(estimator, out)
    n_rows, n_columns = plural(dataset.n_rows or 0, "row"), plural(len(dataset.columns), "column")
    print(f"data    {args.data}: {n_rows}, {n_columns}, read a piece at a time")
    share = n_positive / (dataset.n_rows or 1)
    print(
        f"target  positive is {shown(args.target)} = {shown(text_of(positive))}"
        f" ({plural(n_positive, 'row')}, {share:.1%})"
    )
    print(f"model   {args.model}, fitted in {seconds:.3g} s{_in_brief(estimator)}{instead}")
    print(f"AUC     {said}")
    print(f"saved   {out} ({n_bytes:,} bytes)")
    if is_ensemble:
        _say_leaderboard(estimator, is_honest=is_honest)
    if is_honest and args.readable:
        _say_readable_in_pieces(estimator, dataset, args, out, seconds)
    return 0


def _say_readable_in_pieces(
    estimator: Any, dataset: Dataset, args: argparse.Namespace, out: Path, seconds: float
) -> None:
    """Print the AUC of readable models, on rows that fit in memory."""
    print(flush=True)
    if estimator._is_judged_by_sample((dataset.n_rows or 0) * len(dataset.columns)):
        sentence = (
            "An ensemble cannot be read. Models that can are not compared with it on so many rows:"
            " fit one by --model Scorecard, and let `aucrank evaluate` measure both on others."
        )
        print(hanging(sentence, 0))
        return

    def fit(judge: Any) -> None:
        judge.fit(dataset)

    doing = "cannot fit readable models (see --no-readable)"
    with progress(args) as say, stream_errors(doing):
        say("fitting readable models")
        aucs = readable_aucs(estimator, fit, _seconds_for_readable(args, seconds))
    print(_readable_in_words(aucs, estimator, args, out))


def _seconds_for_readable(args: argparse.Namespace, seconds: float) -> float | None:
    """Return the time limit of readable models: none unless the user sets one for the ensemble.

    A limit by what the ensemble took would leave out models in one run and not in the next.
    """
    is_limited = args.time_limit is not None or "time_limit" in _named(args)
    return max(seconds, _SECONDS_AT_LEAST) if is_limited else None


def _say_leaderboard(estimator: Any, *, is_honest: bool) -> None:
    rows = " of rows left out" if is_honest else ""
    print(heading(f"Leaderboard: AUC{rows}, with its 95 % interval"))
    print(aligned(estimator.leaderboard_))


def _too_large(estimator: Any, shape: tuple[int, int], args: argparse.Namespace) -> str:
    """Return what takes more memory than there is; "" for nothing.

    Parameters
    ----------
    estimator : estimator
        Any, with parameters.
    shape : tuple of int
        Number of rows and of columns.
    args : argparse.Namespace
        The arguments.
    """
    n_bytes, room = estimator._bytes_held(*shape), _room(args)
    if n_bytes <= room:
        return ""
    return (
        f"{args.model} holds rows in memory, which takes {n_bytes / 1e9:.2g} GB or more, and"
        f" --memory says {args.memory / 1e9:.2g} GB, of which {room / 1e9:.2g} are left for them"
    )


def _room(args: argparse.Namespace) -> float:
    """Return the bytes of --memory that remain for rows."""
    return math.inf if args.memory is None else room_for_rows(args.memory)


def _fewer_folds(estimator: Any, shape: tuple[int, int], args: argparse.Namespace) -> int | None:
    """Set the maximal number of folds of one booster that fits in memory, unless given."""
    n_rows, n_columns = shape
    if (
        args.model != DEFAULT_MODEL
        or "n_folds" in _named(args)
        or not estimator._is_judged_by_sample(n_rows * n_columns)
    ):
        return None
    for n_folds in range(estimator._folds() - 1, 1, -1):
        if clone(estimator).set_params(n_folds=n_folds)._bytes_held(*shape) <= _room(args):
            estimator.set_params(n_folds=n_folds)
            return n_folds
    return None


def _refuse(too_large: str, shape: tuple[int, int], args: argparse.Namespace) -> None:
    """Raise for what takes more memory than there is, with the estimators that take less."""
    if too_large:
        known = public_estimators().items()
        less = [name for name, made in known if made()._bytes_held(*shape) <= _room(args)]
        instead = f"less take {listed(less)}" if less else "no other takes so little"
        raise UsageError(f"{too_large}; {instead}")


def _named(args: argparse.Namespace) -> set[str]:
    """Return the parameters that are given as KEY=VALUE."""
    return {param.partition("=")[0] for param in args.param}


def _params(args: argparse.Namespace) -> list[str]:
    """Return the parameters as KEY=VALUE, including those with an option of their own."""
    given = {"presets": args.preset, "time_limit": args.time_limit}
    options = {"presets": "--preset", "time_limit": "--time-limit"}
    params = list(args.param)
    named = _named(args)
    for name, value in given.items():
        if value is None:
            continue
        if args.model != DEFAULT_MODEL:
            raise UsageError(
                f"{options[name]} is an option of {DEFAULT_MODEL}, and --model says {args.model}"
            )
        if name in named:
            raise UsageError(f"{options[name]} and --param {name} say the same: leave one out")
        params.append(f"{name}={value}")
    return params


def _auc_row(ensemble: Any) -> dict[str, float]:
    """Return the row of the ensemble itself in the leaderboard."""
    table = ensemble.leaderboard_
    row = list(table["name"]).index("ensemble")
    return {name: table[name][row] for name in ("auc", "low", "high")}


def _auc_of_ensemble(ensemble: Any) -> str:
    row = _auc_row(ensemble)
    return f"{row['auc']:.4f} on rows left out ({row['low']:.4f} to {row['high']:.4f})"


def _auc_of_training(estimator: Any, data: Labelled) -> str:
    scores = score_rows(estimator, data.X.to_native())
    auc = roc_auc_score(data.is_positive, scores, sample_weight=data.weight)
    return f"{auc:.4f} on the rows it learned from; `aucrank compare` estimates it on others"


def _readable_in_words(
    aucs: dict[str, float], ensemble: Any, args: argparse.Namespace, out: Path
) -> str:
    """Return how much readable models lose to the ensemble, and how to fit the best of them."""
    auc = _auc_row(ensemble)["auc"]
    first, *others = [
        f"{model} has {readable:.4f}, {_points(readable - auc)}" for model, readable in aucs.items()
    ]
    sentences = [
        "An ensemble cannot be read. Of models that can, the AUC on the same rows left out: "
        + "; ".join([f"{first} than the ensemble", *others])
        + " (a point is 0.01)."
    ]
    fitted = readable_next_to(ensemble)
    for names, reason in (
        (
            [name for name in READABLE if name not in fitted],
            f"With the preset {ensemble.presets!r}, none is compared that takes longer than the"
            " ensemble",
        ),
        (
            [name for name in fitted if name not in aucs],
            "With a time limit, readable models are given no more time than the ensemble took",
        ),
    ):
        if names:
            verb = "is" if len(names) == 1 else "are"
            sentences.append(f"{reason}: {listed(names)} {verb} left out.")
    best = next(iter(aucs))
    sentences.append(f"To fit and read {best}:")
    path = str(out.with_name(f"{out.name.removesuffix('.json')}.{best}.json"))
    commands = [_command(args, best, path), shlex.join(["aucrank", "describe", path])]
    return "\n".join([hanging(" ".join(sentences), 0), "", *(f"  {shown(c)}" for c in commands)])


def _points(difference: float) -> str:
    """Write a difference of AUC in points, hundredths of it."""
    points = 100 * difference
    return f"{abs(points):.1f} points {'less' if points < 0 else 'more'}"


def _command(args: argparse.Namespace, model: str, out: str) -> str:
    """Return the command that fits another model to the same rows and columns."""
    words = ["aucrank", "fit", args.data, "--target", args.target, "--model", model]
    one = {
        "--positive": args.positive,
        "--weight": args.weight,
        "--id": args.id,
        "--group": args.group,
        "--time": args.time,
        "--sep": args.sep,
        "--decimal": args.decimal,
        "--encoding": args.encoding,
        "--skip-rows": None if args.skip_rows is None else str(args.skip_rows),
        "--header-row": None if args.header_row is None else str(args.header_row),
        "--skip-footer": None if args.skip_footer is None else str(args.skip_footer),
        "--comment": args.comment,
        "--sheet": args.sheet,
        "--n-jobs": None if args.n_jobs is None else str(args.n_jobs),
        "--memory": None if args.memory is None else str(args.memory),
    }
    for option, value in one.items():
        words += [] if value is None else with_values(option, value)
    words += [] if args.header else ["--no-header"]
    several = {
        "--drop": args.drop,
        "--keep": args.keep,
        "--categorical": args.categorical,
        "--missing": args.missing,
        "--missing-in": args.missing_in,
    }
    for option, values in several.items():
        words += with_values(option, *values) if values else []
    words += ["--seed", str(args.random_state)] if args.random_state else []
    return shlex.join([*words, "--out", out])


def _default_out(data: str) -> str:
    name = "stdin" if data == STDIN else Path(data).name.split(".")[0]
    return f"{name}.model.json"


def _in_brief(estimator: Any) -> str:
    size = estimator._size()
    return f": {size}" if size else ""
