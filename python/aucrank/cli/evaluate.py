"""`aucrank evaluate`: how well a saved model ranks labelled rows."""

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank.cli._data import check_two, need_column, pick_class, text_of, values_of
from aucrank.cli._errors import DataError
from aucrank.cli._model import SavedModel, features_for, load_ranker, read_for, scores_of
from aucrank.cli._text import shown
from aucrank.metrics import RocCurve

FPRS = (0.01, 0.05, 0.10, 0.20)


def run(args: argparse.Namespace) -> int:
    """Score, and compare with the labels."""
    model = load_ranker(args.model)
    frame = read_for(model, args.data)
    need_column(frame, args.target, args.data, "--target")
    positive = _positive_rows(model, frame[args.target], args.positive, args.data)
    curve = RocCurve.from_scores(
        positive, scores_of(model, features_for(model, frame, args.data), args.data)
    )
    n_pos = int(positive.sum())
    positive_text = text_of(frame[args.target].filter(positive.tolist())[0])
    print(f"model     {args.model} ({model.class_name})")
    print(f"data      {args.data}")
    print(f"positive  {shown(args.target)} = {shown(positive_text)}")
    print(f"n         {len(positive):,}")
    print(f"n_pos     {n_pos:,} ({n_pos / len(positive):.1%})")
    print(f"AUC       {curve.auc:.4f}")
    print()
    print("  FPR     TPR")
    for fpr in FPRS:
        print(f"{fpr:>5.0%}  {float(curve.tpr_at(fpr)):>6.1%}")
    return 0


def _positive_rows(
    model: SavedModel, target: Any, positive: str | None, path: str
) -> NDArray[np.bool_]:
    """Which rows are positive: by the value named, else by the classes the model was fitted to."""
    values = values_of(target, path)
    if positive is None:
        texts = [text_of(value) for value in values]
        known = model.one_against_rest or set(texts) == {model.positive, model.negative}
        if not known or model.positive not in texts:
            check_two(target, values, path)
            raise DataError(
                f"target column {target.name!r} of {path} has the values {' and '.join(texts)}, "
                f"and the model ranks {model.positive} above {model.negative}: say which value is "
                "positive with --positive"
            )
        positive = model.positive
    rows: NDArray[np.bool_] = (target == pick_class(positive, values, target.name)).to_numpy()
    return rows
