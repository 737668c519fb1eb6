"""`aucrank fit`: learn a model from a data file and save it."""

import argparse
import math
import shlex
from pathlib import Path
from time import perf_counter
from typing import Any

from sklearn.base import clone

from aucrank._base.registry import public_estimators
from aucrank._utils.plain_text import shown
from aucrank._utils.words import listed, with_values
from aucrank.cli._csv import STDIN
from aucrank.cli._errors import UsageError, writable
from aucrank.cli._labelled import Labelled, LabelledDataset, LabelledFrame, open_labelled
from aucrank.cli._model import build_estimator, save_model
from aucrank.cli._options import DEFAULT_LARGE_MODEL, DEFAULT_MODEL
from aucrank.cli._progress import fit_shown, progress, silent
from aucrank.cli._readable import READABLE, leaves_rows_out, readable_aucs, readable_next_to
from aucrank.cli._stream import room_for_rows, stream_errors
from aucrank.cli._text import aligned, hanging, heading

# Seconds that readable models may always take if the time is limited.
_SECONDS_AT_LEAST = 1.0


def run(args: argparse.Namespace) -> int:
    """Fit, save, and print the result."""
    is_default = args.estimator is None
    if is_default:
        args.estimator = DEFAULT_MODEL
    estimator = build_estimator(args.estimator, _params(args), args.random_state, args.n_jobs)
    if args.verbose and "verbose" in estimator.get_params(deep=False):
        estimator.set_params(verbose=args.verbose)
    out = writable(args.output if args.output is not None else _default_out(args.data))
    with progress(args) as say:
        data = open_labelled(args, say)
        estimator, instead = _in_memory(estimator, data, args, is_default=is_default)
        with stream_errors(f"cannot fit {args.estimator} to {args.data}"):
            args.notes.show()
            start = perf_counter()
            # Lines of `verbose` would be mixed with this one.
            with fit_shown(silent if args.verbose else say, estimator, f"fitting {args.estimator}"):
                data.fit(estimator)
            seconds = perf_counter() - start
            is_ensemble = args.estimator == DEFAULT_MODEL
            is_honest = is_ensemble and leaves_rows_out(estimator)
            said = _auc_of_ensemble(estimator) if is_honest else _auc_of_training(estimator, data)
    n_bytes = save_model(estimator, out)

    print(f"data    {args.data}: {data.say_size()}")
    print(f"target  {data.say()}")
    print(f"model   {args.estimator}, fitted in {seconds:.3g} s{_in_brief(estimator)}{instead}")
    print(f"AUC     {said}")
    print(f"saved   {out} ({n_bytes:,} bytes)")
    if is_ensemble:
        _say_leaderboard(estimator, is_honest=is_honest)
    if is_honest and args.readable:
        print(flush=True)
        _say_readable(estimator, data, args, out, seconds)
    return 0


def _in_memory(
    estimator: Any, data: Labelled, args: argparse.Namespace, *, is_default: bool
) -> tuple[Any, str]:
    """Return an estimator that fits in memory; and in words what was changed for that.

    Of rows in memory there is as much for the default as the file itself may take.
    """
    if args.estimator == DEFAULT_MODEL and isinstance(data, LabelledFrame):
        return estimator, ""
    instead = ""
    too_large = _too_large(estimator, data.shape, args)
    if too_large and (n_folds := _fewer_folds(estimator, data.shape, args)):
        return estimator, f"; n_folds={n_folds}, for more of which {too_large}"
    if too_large and is_default and not _params(args):
        instead = f"; {too_large}"
        args.estimator = DEFAULT_LARGE_MODEL
        estimator = build_estimator(args.estimator, [], args.random_state, args.n_jobs)
        if args.verbose:
            estimator.set_params(verbose=args.verbose)
        too_large = _too_large(estimator, data.shape, args)
    _refuse(too_large, data.shape, args)
    return estimator, instead


def _say_readable(
    estimator: Any, data: Labelled, args: argparse.Namespace, out: Path, seconds: float
) -> None:
    """Print the AUC of readable models, if the rows on which they are compared fit in memory."""
    if isinstance(data, LabelledDataset) and estimator._is_judged_by_sample(math.prod(data.shape)):
        sentence = (
            "An ensemble cannot be read. Models that can are not compared with it on so many rows:"
            " fit one by --model Scorecard, and let `aucrank evaluate` measure both on others."
        )
        print(hanging(sentence, 0))
        return
    doing = "cannot fit readable models (see --no-readable)"
    with progress(args) as say, stream_errors(doing):
        say("fitting readable models")
        aucs = readable_aucs(estimator, data.fit, _seconds_for_readable(args, seconds))
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
        f"{args.estimator} holds rows in memory, which takes {n_bytes / 1e9:.2g} GB or more, and"
        f" --memory says {args.memory / 1e9:.2g} GB, of which {room / 1e9:.2g} are left for them"
    )


def _room(args: argparse.Namespace) -> float:
    """Return the bytes of --memory that remain for rows."""
    return math.inf if args.memory is None else room_for_rows(args.memory)


def _fewer_folds(estimator: Any, shape: tuple[int, int], args: argparse.Namespace) -> int | None:
    """Set the maximal number of folds of one booster that fits in memory, unless given."""
    n_rows, n_columns = shape
    if (
        args.estimator != DEFAULT_MODEL
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
        if args.estimator != DEFAULT_MODEL:
            raise UsageError(
                f"{options[name]} is an option of {DEFAULT_MODEL}, and --model says"
                f" {args.estimator}"
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
    others = (
        "of the rows that it learned from; `aucrank evaluate` measures it on others"
        if isinstance(data, LabelledDataset)
        else "on the rows it learned from; `aucrank compare` estimates it on others"
    )
    return f"{data.auc_of(estimator):.4f} {others}"


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
    return shlex.join([*words, "--output", out])


def _default_out(data: str) -> str:
    name = "stdin" if data == STDIN else Path(data).name.split(".")[0]
    return f"{name}.model.json"


def _in_brief(estimator: Any) -> str:
    size = estimator._size()
    return f": {size}" if size else ""
