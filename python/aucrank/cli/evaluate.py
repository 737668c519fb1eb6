"""`aucrank evaluate`: how well a saved model, or scores of a file, rank labelled rows."""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._base.batch_scores import scored_batches
from aucrank._data.reading import Reading
from aucrank._report.options import read_options
from aucrank._report.subjects import Subject, Target, probabilities
from aucrank._utils.plain_text import shown
from aucrank.cli._csv import csv_options
from aucrank.cli._data import Batches, Frames, WholeFile, need_column, text_of
from aucrank.cli._errors import UsageError, plain_errors
from aucrank.cli._figures import CONFIDENCE, FPRS, say_parts, say_scores
from aucrank.cli._model import (
    SavedModel,
    features_for,
    load_ranker,
    positive_value,
    read_for,
    scores_of,
    target_of,
)
from aucrank.cli._parts import (
    check_parts,
    named_parts,
    need_parts,
    say_features,
    target_of_rows,
    text_of_parts,
    weights_in,
)
from aucrank.cli._progress import Say, progress
from aucrank.cli._scores import check_scores, need_room, read_scores
from aucrank.cli._stream import (
    dataset_for,
    is_streamed,
    room_for_scores,
    stream_errors,
)
from aucrank.cli._target import value_counts, with_plain_labels
from aucrank.metrics import AucInterval, RocState, auc_interval

# Frames of rows, their features in the form of the model, and their scores.
_Scores = Iterator[tuple[nw.DataFrame[Any], Any, NDArray[np.float64]]]


@dataclass(frozen=True)
class Scored:
    """Labelled rows with their scores, and with the columns that name groups, times and parts.

    Attributes
    ----------
    positive : ndarray of bool, shape (n_rows,)
        Which rows are positive.
    scores : ndarray of float64, shape (n_rows,)
        Their scores.
    probability : ndarray of float64, shape (n_rows,), or None
        Their probabilities, where parts are named and the model has them.
    frame : narwhals.DataFrame
        The columns.
    reading : Reading
        How they were read.
    """

    positive: NDArray[np.bool_]
    scores: NDArray[np.float64]
    probability: NDArray[np.float64] | None
    frame: nw.DataFrame[Any]
    reading: Reading


def run(args: argparse.Namespace) -> int:
    """Score, and compare with the labels; or take the scores of the file."""
    if args.score or args.probability:
        return _evaluate_scores(args)
    model = load_ranker(args.model)
    args.target = target_of(model, args.target)
    check_parts(args)
    state = RocState(**room_for_scores(args.memory))
    value, scored = _measure(model, args, state)
    target = None
    if scored is not None:
        said = text_of(value)
        target = target_of_rows(scored.positive, said, scored.frame, scored.reading, args)
    with plain_errors(f"cannot evaluate on {args.data}"):
        if scored is None or target is None:
            _say(args, model, state, value)
        else:
            _say(args, model, state, value, _clustered(target, scored.scores))
            subject = Subject(args.model, scored.scores, scored.probability)
            say_parts(args, subject, target)
    return 0


def _evaluate_scores(args: argparse.Namespace) -> int:
    """Compare columns of scores with the labels."""
    if args.model is not None:
        raise UsageError(
            f"evaluate is about {args.model} or about columns of scores: `aucrank report` takes"
            " both"
        )
    check_scores(args)
    check_parts(args)
    options = read_options(confidence=CONFIDENCE)
    with progress(args) as say:
        given, target, said, _ = read_scores(args, say)
    kept = target.counted()
    target = target.take(kept)
    with plain_errors(f"cannot evaluate on {args.data}"):
        subjects = [own.take(kept).subject(name, options.seed) for name, own in given.items()]
        print(f"data      {args.data}")
        _say_rows(args, said, int(target.positive.sum()), len(target.positive))
        say_scores(args, subjects, target, options)
        for subject in subjects:
            say_parts(args, subject, target, subject.name if len(subjects) > 1 else "")
    return 0


def _clustered(target: Target, scores: NDArray[np.float64]) -> AucInterval | None:
    """Return the AUC with the interval for groups, if there are groups."""
    if target.groups is None:
        return None
    return auc_interval(target.positive, scores, sample_weight=target.weight, groups=target.groups)


def _say_rows(args: argparse.Namespace, positive: str, n_pos: int, n_rows: int) -> None:
    """Print which rows there are, and how many are positive."""
    print(f"positive  {shown(args.target)} = {shown(positive)}")
    print(f"n         {n_rows:,}")
    print(f"n_pos     {n_pos:,} ({n_pos / n_rows:.1%})")
    if args.weight is not None:
        print(f"weights   {shown(args.weight)}")


def _say(
    args: argparse.Namespace,
    model: SavedModel,
    state: RocState,
    positive: Any,
    clustered: AucInterval | None = None,
) -> None:
    """Print the figures of the scores; ``positive`` is the positive value of the target."""
    n_pos, n_rows = state.n_pos, state.n_neg + state.n_pos
    interval = state.interval() if clustered is None else clustered
    rates = np.atleast_1d(state.tpr_at(FPRS))
    print(f"model     {args.model} ({model.class_name})")
    print(f"data      {args.data}")
    _say_rows(args, text_of(positive), n_pos, n_rows)
    print(f"AUC       {interval.auc:.4f}")
    bounds = f"{interval.low:.4f} to {interval.high:.4f}"
    of_groups = "" if clustered is None else f", of groups by {shown(args.group)}"
    print(f"interval  {bounds} ({interval.confidence:.0%} confidence{of_groups})")
    for line in say_features(args, [model]):
        print(f"note      {line}")
    print()
    print("  FPR     TPR")
    for fpr, tpr in zip(FPRS, rates, strict=True):
        print(f"{fpr:>5.0%}  {tpr:>6.1%}")


def _measure(
    model: SavedModel, args: argparse.Namespace, state: RocState
) -> tuple[Any, Scored | None]:
    """Score the rows; return the positive value of the target, too.

    Scores and columns of all rows are kept if groups, times or parts are named.
    """
    of_parts = list(dict.fromkeys(name for names in named_parts(args).values() for name in names))
    columns = list(dict.fromkeys([*of_parts, *([] if args.weight is None else [args.weight])]))
    found: list[tuple[Any, ...]] = []
    with progress(args) as say:
        rows, scored_frames = _open(model, args, say)
        with stream_errors(f"cannot score {args.data}"):
            values = value_counts(rows, args.target, args.data)
            value = positive_value(model, list(values), args.target, args.positive, args.data)
            if isinstance(rows, Batches):
                need_room(values.total(), len(of_parts), args)
            for frame, X, scores in scored_frames([args.target, *columns]):
                positive = (frame[args.target] == value).to_numpy()
                state.update(positive, scores, sample_weight=weights_in(frame, args))
                if of_parts:
                    probability = _probability(model, args, X)
                    found.append((positive, scores, probability, frame.select(columns)))
    if not found:
        return value, None
    positives, all_scores, probabilities_of, frames = zip(*found, strict=True)
    known = None if probabilities_of[0] is None else np.concatenate(probabilities_of)
    ranked = np.concatenate(positives), np.concatenate(all_scores), known
    return value, Scored(*ranked, nw.concat(list(frames)), rows.reading or Reading())


def _open(
    model: SavedModel, args: argparse.Namespace, say: Say
) -> tuple[Frames, Callable[[list[str]], Iterator[tuple[nw.DataFrame[Any], Any, Any]]]]:
    """Open labelled data; return a function, too, that yields columns with features and scores."""
    options, text = csv_options(args), text_of_parts(args, model)
    if is_streamed(args.data, args.memory):
        dataset = dataset_for(model, args.data, options, say, args.target, text)
        need_parts(dataset.passes.source.names, args)

        def batches(columns: list[str]) -> _Scores:
            found = scored_batches(model.estimator, dataset, list(dict.fromkeys(columns)))
            return ((batch.frame, X, scores) for batch, X, scores in found)

        return Batches(dataset), batches
    frame, reading = read_for(model, args.data, options, text)
    need_column(frame.columns, args.target, args.data, "--target")
    need_parts(frame.columns, args)
    frame = with_plain_labels(frame, args.target)

    def whole(_: list[str]) -> _Scores:
        X = features_for(model, frame, args.data)
        yield frame, X, scores_of(model, X, args.data)

    return WholeFile(frame, reading), whole


def _probability(model: SavedModel, args: argparse.Namespace, X: Any) -> NDArray[np.float64] | None:
    """Return probabilities for the figures of parts, if parts are named and there are any."""
    if not (args.by or args.time) or not hasattr(model.estimator, "predict_proba"):
        return None
    return probabilities(model.estimator, X)
