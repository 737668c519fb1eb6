"""`aucrank fit`: learn a model from a data file and save it."""

import argparse
from pathlib import Path
from time import perf_counter
from typing import Any

from aucrank._base.scoring import score_rows
from aucrank._utils.words import plural
from aucrank.cli._data import count_kinds, read_labelled
from aucrank.cli._errors import plain_errors, writable
from aucrank.cli._model import build_estimator, fit_to, save_model
from aucrank.metrics import roc_auc_score


def run(args: argparse.Namespace) -> int:
    """Fit, save, and say what came out."""
    estimator = build_estimator(args.model, args.param, args.random_state, args.n_jobs)
    out = writable(args.out if args.out is not None else _default_out(args.data))
    data = read_labelled(
        args.data,
        target=args.target,
        positive=args.positive,
        weight=args.weight,
        drop=args.drop,
        categorical=args.categorical,
    )
    start = perf_counter()
    with plain_errors(f"cannot fit {args.model} to {args.data}"):
        fit_to(estimator, data)
    seconds = perf_counter() - start
    scores = score_rows(estimator, data.X.to_native())
    auc = roc_auc_score(data.is_positive, scores, sample_weight=data.weight)
    n_bytes = save_model(estimator, out)

    print(f"data    {args.data}: {plural(len(data.is_positive), 'row')}, {count_kinds(data.X)}")
    print(f"target  {data.say()}")
    print(f"model   {args.model}, fitted in {seconds:.3g} s{_in_brief(estimator)}")
    print(
        f"AUC     {auc:.4f} on the rows it learned from; `aucrank compare` estimates it on others"
    )
    print(f"saved   {out} ({n_bytes:,} bytes)")
    return 0


def _default_out(data: str) -> str:
    return Path(data).name.split(".")[0] + ".model.json"


def _in_brief(estimator: Any) -> str:
    size = estimator._size()
    return f": {size}" if size else ""
