"""`aucrank score`: score the rows of a data file with a saved model."""

import argparse
from typing import Any

from aucrank.cli._data import backend_for, file_kind, write_scores
from aucrank.cli._errors import DataError, plain_errors, writable
from aucrank.cli._model import features_for, load_ranker, read_for, scores_of
from aucrank.cli._options import DATA_HELP, add_command
from aucrank.cli._text import plural


def add_parser(commands: "argparse._SubParsersAction[Any]") -> None:
    """Say what the command takes."""
    parser = add_command(
        commands,
        "score",
        run,
        "score the rows of a data file with a saved model",
        "Writes one score a row, in the order of the rows; higher is more positive, and above 0 "
        "the model predicts the positive class. Columns that the model does not use are ignored.",
    )
    parser.add_argument("model", metavar="MODEL", help="file that `aucrank fit` saved")
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    parser.add_argument(
        "--out",
        metavar="FILE",
        help=".csv, .csv.gz or .parquet (default: CSV on the standard output stream)",
    )
    parser.add_argument(
        "--proba",
        action="store_true",
        help="add a column with the probability of the positive class",
    )


def run(args: argparse.Namespace) -> int:
    """Score and write."""
    out = None if args.out is None else writable(args.out)
    backend_for("csv" if out is None else file_kind(out))
    model = load_ranker(args.model)
    if args.proba and not hasattr(model.estimator, "predict_proba"):
        raise DataError(
            f"{model.class_name} ranks without estimating probabilities: leave --proba out"
        )
    X = features_for(model, read_for(model, args.data), args.data)
    columns = {"score": scores_of(model, X, args.data)}
    if args.proba:
        columns["probability"] = model.estimator.predict_proba(X)[:, 1].copy()
    if out is None:
        write_scores(columns, None)
    else:
        with plain_errors(f"cannot write {out}"):
            write_scores(columns, out)
        print(f"wrote {plural(len(columns['score']), 'score')} to {out}")
    return 0
