"""`aucrank score`: score the rows of a data file with a saved model."""

import argparse
from typing import Any

from numpy.typing import NDArray

from aucrank._utils.words import plural
from aucrank.cli._csv import csv_options
from aucrank.cli._data import backend_for, file_kind, need_column, write_scores
from aucrank.cli._errors import DataError, plain_errors, writable
from aucrank.cli._model import features_for, load_ranker, read_for, scores_of


def run(args: argparse.Namespace) -> int:
    """Score and write."""
    out = None if args.out is None else writable(args.out)
    backend_for("csv" if out is None else file_kind(out))
    model = load_ranker(args.model)
    if args.proba and not hasattr(model.estimator, "predict_proba"):
        raise DataError(
            f"{model.class_name} ranks without estimating probabilities: leave --proba out"
        )
    frame = read_for(model, args.data, csv_options(args))
    columns: dict[str, NDArray[Any]] = {}
    if args.id is not None:
        need_column(frame, args.id, args.data, "--id")
        columns[args.id] = frame[args.id].to_numpy()
    X = features_for(model, frame, args.data)
    columns["score"] = scores_of(model, X, args.data)
    if args.proba:
        columns["probability"] = model.estimator.predict_proba(X)[:, 1].copy()
    if out is None:
        write_scores(columns, None)
    else:
        with plain_errors(f"cannot write {out}"):
            write_scores(columns, out)
        print(f"wrote {plural(len(columns['score']), 'score')} to {out}")
    return 0
