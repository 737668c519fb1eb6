"""`aucrank import`: a model of another library as a file of aucrank."""

import argparse
from pathlib import Path

from aucrank.cli._errors import DataError, plain_errors, writable
from aucrank.cli._model import save_model
from aucrank.imported import import_file


def run(args: argparse.Namespace) -> int:
    """Save the model."""
    out = writable(args.output or f"{Path(args.source).stem}.aucrank.json")
    options = {} if args.precision is None else {"precision": args.precision}
    with plain_errors(f"cannot import {args.source}"):
        try:
            model = import_file(args.source, **options)
        except ImportError as error:
            raise DataError(
                f"{args.source} is in CatBoost's own form, which CatBoost reads: install it, or"
                " save the model as JSON"
            ) from error
    n_bytes = save_model(model, out)
    print(f"imported {model._size()} of {model.source}; saved to {out} ({n_bytes:,} bytes)")
    return 0
