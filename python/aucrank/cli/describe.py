"""`aucrank describe`: a readable summary of a saved model."""

import argparse
from typing import Any

from aucrank.cli._model import SavedModel, load_model
from aucrank.cli._text import aligned, heading, laid_out


def run(args: argparse.Namespace) -> int:
    """Print the model."""
    model = load_model(args.model)
    estimator = model.estimator
    version = model.library_version
    by = "an unknown version of aucrank" if version is None else f"aucrank {version}"
    print(f"{model.class_name}, saved by {by} ({model.n_bytes:,} bytes)")
    print(_purpose(model))
    print(heading("Parameters"))
    print(_parameters(estimator))
    print(heading(f"Features ({len(model.features)})"))
    print(_features(model))
    for section in estimator._summary():
        print(laid_out(section))
    return 0


def _purpose(model: SavedModel) -> str:
    """Return what the model does, in words."""
    does: str = model.estimator._does()
    if not hasattr(model.estimator, "classes_"):
        return does
    return f"{does} rows of class {model.positive!r} above rows of class {model.negative!r}"


def _parameters(estimator: Any) -> str:
    """Return all parameters; an auditor also needs the defaults."""
    defaults = type(estimator)().get_params(deep=False)
    params = estimator.get_params(deep=False)
    return aligned(
        {
            "parameter": params,
            "value": [repr(value) for value in params.values()],
            "": [
                "" if repr(v) == repr(defaults[k]) else "(not the default)"
                for k, v in params.items()
            ],
        }
    )


def _features(model: SavedModel) -> str:
    levels = [feature.levels for feature in model.features]
    columns: dict[str, Any] = {
        "name": [f"column {i}" if f.name is None else f.name for i, f in enumerate(model.features)],
        "kind": ["numeric" if known is None else "categorical" for known in levels],
    }
    if any(known is not None for known in levels):
        columns["levels"] = [None if known is None else len(known) for known in levels]
    columns |= model.estimator._of_features()
    return aligned(columns)
