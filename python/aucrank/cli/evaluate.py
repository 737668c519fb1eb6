"""`aucrank evaluate`: how well a saved model ranks labelled rows."""

import argparse
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._base.batch_scores import scored_batches
from aucrank._data.block_survey import BlockFacts
from aucrank._page.formats import is_p
from aucrank._report.periods import periods_of
from aucrank._report.rows import Rows
from aucrank._report.subgroups import measure_parts, split_by
from aucrank._report.subjects import Subject, Target, probabilities
from aucrank._utils.plain_text import shown
from aucrank.cli._csv import csv_options
from aucrank.cli._data import need_column, text_of, with_plain_labels
from aucrank.cli._errors import UsageError, plain_errors
from aucrank.cli._model import (
    SavedModel,
    features_for,
    load_ranker,
    positive_rows,
    positive_value,
    read_for,
    scores_of,
)
from aucrank.cli._parts import (
    check_parts,
    named_parts,
    say_features,
    target_in_parts,
    text_of_parts,
)
from aucrank.cli._progress import progress
from aucrank.cli._stream import (
    dataset_for,
    is_streamed,
    room_for_scores,
    stream_errors,
    values_in_pieces,
)
from aucrank.cli._text import aligned, heading
from aucrank.metrics import AucInterval, RocState, auc_interval

CONFIDENCE = 0.95
FPRS = (0.01, 0.05, 0.10, 0.20)

#: Which rows of a batch are positive, their scores, and the numbers of their groups.
_Scored = tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.uint64]]

#: Bytes per row for the interval with groups, including the sorted copies.
_BYTES_OF_ROW = 100


def run(args: argparse.Namespace) -> int:
    """Score, and compare with the labels."""
    model = load_ranker(args.model)
    check_parts(args)
    if is_streamed(args.data, args.memory):
        for option in named_parts(args):
            if option != "--group":
                raise UsageError(
                    f"{option} is for data in memory: of data that are read a piece at a time, the"
                    " AUC of all rows alone is measured"
                )
        state = RocState(**room_for_scores(args.memory))
        scored: list[_Scored] = []
        value = _measure_in_pieces(model, args, state, scored)
        with plain_errors(f"cannot evaluate on {args.data}"):
            _say(args, model, state, value, _clustered_in_pieces(scored))
    else:
        frame, reading = read_for(model, args.data, csv_options(args), text_of_parts(args, model))
        need_column(frame.columns, args.target, args.data, "--target")
        frame = with_plain_labels(frame, args.target)
        positive = positive_rows(model, frame[args.target], args.positive, args.data)
        target = Target(positive, None, ("negative", "positive"))
        target = target_in_parts(target, frame, reading, args)
        X = features_for(model, frame, args.data)
        scores = scores_of(model, X, args.data)
        state = RocState().update(positive, scores)
        value = frame[args.target].filter(positive.tolist())[0]
        with plain_errors(f"cannot evaluate on {args.data}"):
            _say(args, model, state, value, _clustered(target, scores))
            _say_parts(args, model, target, X, scores)
    return 0


def _clustered(target: Target, scores: NDArray[np.float64]) -> AucInterval | None:
    """Return the AUC with the interval for groups, if there are groups."""
    if target.groups is None:
        return None
    return auc_interval(target.positive, scores, groups=target.groups, method="logit")


def _clustered_in_pieces(scored: list[_Scored]) -> AucInterval | None:
    """Return the AUC with the interval for groups, from batches of rows with groups."""
    if not scored:
        return None
    positive, scores, groups = map(np.concatenate, zip(*scored, strict=True))
    return auc_interval(positive, scores, groups=groups, method="logit")


def _say_parts(
    args: argparse.Namespace, model: SavedModel, target: Target, X: Any, scores: NDArray[np.float64]
) -> None:
    """Print the figures of subgroups and of periods."""
    splits = [split_by(name, values) for name, values in target.by.items()]
    if target.time is not None:
        splits.append(replace(periods_of(target.time, target.positive), name=args.time))
    probability = None
    if splits and hasattr(model.estimator, "predict_proba"):
        probability = probabilities(model.estimator, X)
    subject = Subject(args.model, model.estimator, Rows(X), scores, probability, None, 0.0)
    for split in splits:
        found = measure_parts(subject, target, split, CONFIDENCE)
        ranking = found.ranking
        table: dict[str, Any] = {
            "n": split.sizes,
            "n_pos": [int(n) for n in ranking.table["positives"]],
        }
        table |= {name: ranking.table[name].tolist() for name in ("auc", "low", "high")}
        if found.calibration is not None:
            table["O:E"] = [value for value, _, _ in found.calibration["observed_to_expected"]]
        # The column of the parts is the first, whatever its name.
        print(heading(f"AUC by {shown(split.name)}, with its {CONFIDENCE:.0%} interval"))
        print(aligned({"part": [shown(label) for label in split.labels], **table}))
        if not np.isnan(ranking.p_value):
            print(f"equal AUCs: p {is_p(ranking.p_value)}")
        if not np.isnan(ranking.auc_between):
            print(
                f"AUC within {ranking.auc_within:.4f}, between {ranking.auc_between:.4f}"
                f" ({ranking.share_within:.1%} of pairs are within)"
            )


def _say(
    args: argparse.Namespace,
    model: SavedModel,
    state: RocState,
    positive: Any,
    clustered: AucInterval | None = None,
) -> None:
    """Print the figures of the scores; ``positive`` is the positive value of the target."""
    n_pos, n_rows = state.n_pos, state.n_neg + state.n_pos
    # As in a report, where it stays within 0 and 1.
    interval = state.interval(method="logit") if clustered is None else clustered
    rates = np.atleast_1d(state.tpr_at(FPRS))
    print(f"model     {args.model} ({model.class_name})")
    print(f"data      {args.data}")
    print(f"positive  {shown(args.target)} = {shown(text_of(positive))}")
    print(f"n         {n_rows:,}")
    print(f"n_pos     {n_pos:,} ({n_pos / n_rows:.1%})")
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


def _measure_in_pieces(
    model: SavedModel, args: argparse.Namespace, state: RocState, scored: list[_Scored]
) -> Any:
    """Score data that do not fit in memory; return the positive value of the target.

    Scores and groups of all rows are kept if intervals are for groups.
    """
    columns = [args.target, *([] if args.group is None else [args.group])]
    with progress(args) as say:
        text = text_of_parts(args, model)
        dataset = dataset_for(model, args.data, csv_options(args), say, args.target, text)
        with stream_errors(f"cannot score {args.data}"):
            values = values_in_pieces(dataset, args.target, args.data)
            value = positive_value(model, values, args.target, args.positive, args.data)
            if args.group is not None:
                need_column(dataset.passes.source.names, args.group, args.data, "--group")
                _need_room(dataset.n_rows or 0, args)
            facts = BlockFacts(args.group, None)
            for batch, _, scores in scored_batches(model.estimator, dataset, columns):
                positive = (batch.frame[args.target] == value).to_numpy()
                state.update(positive, scores)
                if args.group is not None:
                    scored.append((positive, scores, facts.of_batch(batch)[0]))
    return value


def _need_room(n_rows: int, args: argparse.Namespace) -> None:
    n_bytes = _BYTES_OF_ROW * n_rows
    if args.memory is not None and n_bytes > args.memory:
        raise UsageError(
            f"--group keeps the score and the group of each row, which takes"
            f" {n_bytes / 1e9:.2g} GB, and --memory says {args.memory / 1e9:.2g} GB: leave it out"
            " for the interval of single rows"
        )
