"""`aucrank evaluate`: how well a saved model ranks labelled rows."""

import argparse

from aucrank._utils.plain_text import shown
from aucrank.cli._csv import csv_options
from aucrank.cli._data import need_column, text_of
from aucrank.cli._model import features_for, load_ranker, positive_rows, read_for, scores_of
from aucrank.metrics import RocCurve

FPRS = (0.01, 0.05, 0.10, 0.20)


def run(args: argparse.Namespace) -> int:
    """Score, and compare with the labels."""
    model = load_ranker(args.model)
    frame = read_for(model, args.data, csv_options(args))
    need_column(frame, args.target, args.data, "--target")
    positive = positive_rows(model, frame[args.target], args.positive, args.data)
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
