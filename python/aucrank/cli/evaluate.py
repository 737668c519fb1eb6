"""`aucrank evaluate`: how well a saved model ranks labelled rows."""

import argparse
from typing import Any

import numpy as np

from aucrank._base.batch_scores import scored_batches
from aucrank._utils.plain_text import shown
from aucrank.cli._csv import csv_options
from aucrank.cli._data import need_column, text_of, with_plain_labels
from aucrank.cli._model import (
    SavedModel,
    features_for,
    load_ranker,
    positive_rows,
    positive_value,
    read_for,
    scores_of,
)
from aucrank.cli._stream import (
    dataset_for,
    is_streamed,
    room_for_scores,
    stream_errors,
    values_in_pieces,
)
from aucrank.cli._text import progress
from aucrank.metrics import RocState

FPRS = (0.01, 0.05, 0.10, 0.20)


def run(args: argparse.Namespace) -> int:
    """Score, and compare with the labels."""
    model = load_ranker(args.model)
    if is_streamed(args.data, args.memory):
        with room_for_scores(args.memory) as options:
            state = RocState(**options)
            _say(args, model, state, _measure_in_pieces(model, args, state))
    else:
        frame = read_for(model, args.data, csv_options(args))
        need_column(frame.columns, args.target, args.data, "--target")
        frame = with_plain_labels(frame, args.target)
        positive = positive_rows(model, frame[args.target], args.positive, args.data)
        scores = scores_of(model, features_for(model, frame, args.data), args.data)
        state = RocState().update(positive, scores)
        _say(args, model, state, frame[args.target].filter(positive.tolist())[0])
    return 0


def _say(args: argparse.Namespace, model: SavedModel, state: RocState, positive: Any) -> None:
    """Print what the scores tell; ``positive`` is the value of the target that is."""
    n_pos, n_rows = state.n_pos, state.n_neg + state.n_pos
    # As a report has it, which stays within 0 and 1.
    interval = state.interval(method="logit")
    rates = np.atleast_1d(state.tpr_at(FPRS))
    print(f"model     {args.model} ({model.class_name})")
    print(f"data      {args.data}")
    print(f"positive  {shown(args.target)} = {shown(text_of(positive))}")
    print(f"n         {n_rows:,}")
    print(f"n_pos     {n_pos:,} ({n_pos / n_rows:.1%})")
    print(f"AUC       {interval.auc:.4f}")
    bounds = f"{interval.low:.4f} to {interval.high:.4f}"
    print(f"interval  {bounds} ({interval.confidence:.0%} confidence)")
    print()
    print("  FPR     TPR")
    for fpr, tpr in zip(FPRS, rates, strict=True):
        print(f"{fpr:>5.0%}  {tpr:>6.1%}")


def _measure_in_pieces(model: SavedModel, args: argparse.Namespace, state: RocState) -> Any:
    """Score data that are not to be in memory; return the value of the target that is positive."""
    with progress() as say:
        dataset = dataset_for(model, args.data, csv_options(args), say, args.target)
        with stream_errors(f"cannot score {args.data}"):
            values = values_in_pieces(dataset, args.target, args.data)
            value = positive_value(model, values, args.target, args.positive, args.data)
            for batch, _, scores in scored_batches(model.estimator, dataset, [args.target]):
                state.update((batch.frame[args.target] == value).to_numpy(), scores)
    return value
