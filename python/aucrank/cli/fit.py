"""`aucrank fit`: learn a model from a data file and save it."""

import argparse
from pathlib import Path
from time import perf_counter
from typing import Any

from aucrank.cli._data import count_kinds, read_labelled
from aucrank.cli._errors import plain_errors, writable
from aucrank.cli._model import DEFAULT_MODEL, build_estimator, fit_to, save_model
from aucrank.cli._options import (
    DATA_HELP,
    add_columns,
    add_command,
    add_seed_and_threads,
    add_target,
)
from aucrank.cli._text import plural
from aucrank.metrics import roc_auc_score


def add_parser(commands: "argparse._SubParsersAction[Any]") -> None:
    """Say what the command takes."""
    parser = add_command(commands, "fit", run, "learn a model from a data file and save it")
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    add_target(parser, "default: the greater of the two")
    parser.add_argument("--weight", metavar="COL", help="column of sample weights")
    add_columns(parser)
    parser.add_argument(
        "--model", default=DEFAULT_MODEL, metavar="NAME", help="estimator (default: %(default)s)"
    )
    parser.add_argument(
        "--param",
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=VALUE",
        help="parameters of the estimator, such as max_depth=4",
    )
    parser.add_argument(
        "--out",
        metavar="MODEL.json",
        help="where to save the model (default: DATA's name with .model.json, in this folder)",
    )
    add_seed_and_threads(parser)


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
    scores = estimator.decision_function(data.X.to_native())
    auc = roc_auc_score(data.is_positive, scores, sample_weight=data.weight)
    n_bytes = save_model(estimator, out)

    print(f"data    {args.data}: {plural(len(data.is_positive), 'row')}, {count_kinds(data.X)}")
    print(f"target  {data.say()}")
    print(f"model   {args.model}, fitted in {seconds:.3g} s{_size(estimator)}")
    print(
        f"AUC     {auc:.4f} on the rows it learned from; `aucrank compare` estimates it on others"
    )
    print(f"saved   {out} ({n_bytes:,} bytes)")
    return 0


def _default_out(data: str) -> str:
    return Path(data).name.split(".")[0] + ".model.json"


def _size(estimator: Any) -> str:
    if hasattr(estimator, "tree_"):
        tree = estimator.tree_
        return f": {plural(tree.n_leaves, 'leaf', 'leaves')}, depth {tree.depth}"
    if hasattr(estimator, "program_"):
        program = estimator.program_
        return f": {plural(program.n_layers, 'layer')}, {plural(program.n_nodes, 'node')}"
    if hasattr(estimator, "n_iter_"):
        return f": {plural(estimator.n_iter_, 'round')}"
    return ""
