"""`aucrank import`: a model of another library as a file of aucrank."""

import argparse
from pathlib import Path

from aucrank.cli._errors import DataError, plain_errors, writable
from aucrank.cli._model import save_model
from aucrank.imported import import_file


def run(args: argparse.Namespace) -> int:
    """Save the model."""
    out = writable(args.output or f"{Path(args.model).stem}.aucrank.json")
    options = {} if args.precision is None else {"precision": args.precision}
    with plain_errors(f"cannot import {args.model}"):
        try:
            model = import_file(args.model, **options)
        except ImportError as error:
            raise DataError(
                f"{args.model} is in CatBoost's own form, which CatBoost reads: install it, or save"
                " the model as JSON"
            ) from error
    n_bytes = save_model(model, out)
    print(f"imported {model._size()} of {model.source}; saved to {out} ({n_bytes:,} bytes)")
    return 0
