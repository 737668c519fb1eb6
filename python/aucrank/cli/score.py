"""`aucrank score`: score the rows of a data file with a saved model."""

import argparse
from pathlib import Path
from typing import Any

from aucrank._base.batch_scores import scored_batches
from aucrank._data.passes import as_written
from aucrank._utils.words import plural
from aucrank.cli._csv import csv_options
from aucrank.cli._data import (
    backend_for,
    file_kind,
    ids_as_written,
    need_column,
    write_scores,
)
from aucrank.cli._errors import DataError, UsageError, plain_errors, writable
from aucrank.cli._model import SavedModel, features_for, load_ranker, read_for, scores_of
from aucrank.cli._progress import progress
from aucrank.cli._stream import dataset_for, is_streamed, stream_errors
from aucrank.data import Dataset
from aucrank.data._holder import PROBABILITY, SCORE


def run(args: argparse.Namespace) -> int:
    """Score and write."""
    out = None if args.output is None else writable(args.output)
    kind = "csv" if out is None else file_kind(out)
    if kind == "xlsx":
        raise UsageError(f"scores are written as CSV or Parquet, and --output says {out}")
    backend_for(kind)
    model = load_ranker(args.model)
    if args.proba and not hasattr(model.estimator, "predict_proba"):
        raise DataError(
            f"{model.class_name} ranks without estimating probabilities: leave --proba out"
        )
    if is_streamed(args.data, args.memory):
        return _score_in_pieces(model, args, out)
    ids = _ids(args)
    text = _names_only(ids, model)
    frame = read_for(model, args.data, csv_options(args), text, written=ids)[0]
    columns = {name: ids_as_written(frame[as_written(name)], kind) for name in ids}
    X = features_for(model, frame, args.data)
    columns[SCORE] = scores_of(model, X, args.data)
    if args.proba:
        columns[PROBABILITY] = model.estimator.predict_proba(X)[:, 1].copy()
    if out is None:
        write_scores(columns, None)
    else:
        with plain_errors(f"cannot write {out}"):
            write_scores(columns, out)
        print(f"wrote {plural(len(columns[SCORE]), 'score')} to {out}")
    return 0


def _ids(args: argparse.Namespace) -> list[str]:
    """Return the columns that are written with the scores."""
    if args.id is None:
        return []
    added = [SCORE, PROBABILITY] if args.proba else [SCORE]
    if args.id in added:
        raise UsageError(f"--id {args.id}: the column that is added is called so, too")
    return [args.id]


def _names_only(ids: list[str], model: SavedModel) -> list[str]:
    """Return the columns that no feature is made of: whether they hold dates does not matter."""
    features = {feature.name for feature in model.features}
    return [name for name in ids if name not in features]


def _score_in_pieces(model: SavedModel, args: argparse.Namespace, out: Path | None) -> int:
    """Score and write data that do not fit in memory."""
    other_columns = _ids(args)
    with progress(args) as say:
        text = _names_only(other_columns, model)
        dataset = dataset_for(model, args.data, csv_options(args), say, more_text=text)
        for name in other_columns:
            need_column(dataset.passes.source.names, name, args.data, "--id")
        with stream_errors(f"cannot score {args.data}"):
            if out is None:
                _print_scores(model.estimator, dataset, other_columns, proba=args.proba)
                return 0
            n_rows = model.estimator.write_scores(
                dataset, out, columns=other_columns, proba=args.proba
            )
    print(f"wrote {plural(n_rows, 'score')} to {out}")
    return 0


def _print_scores(
    estimator: Any, dataset: Dataset, other_columns: list[str], *, proba: bool
) -> None:
    """Write scores to the standard output stream."""
    written = {name: dataset.passes.source.written(name) for name in other_columns}
    for batch, X, scores in scored_batches(estimator, dataset, list(written.values())):
        columns = {name: ids_as_written(batch.frame[of], "csv") for name, of in written.items()}
        columns[SCORE] = scores
        if proba:
            columns[PROBABILITY] = estimator.predict_proba(X)[:, 1].copy()
        write_scores(columns, None, with_names=batch.first_row == 0)
