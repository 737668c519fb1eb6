"""Costs of errors of rankers with class weights, by how their threshold is found, on real data.

    python -m benches.studies.class_weights FOLDER [FOLDER ...] [--max-rows 3000] [--sets german]
        [--rankers RankBoost AURORA]

Each FOLDER holds one Parquet file a set: columns and a 0/1 column `target`. A half of the rows is
fitted with the weight of the positive class that a line names; on the other half, errors cost the
weights of their class, in units of the cost of the cheaper constant label. "weighted" is Platt's
line through the weighted rows; "by target" weighs the targets of each row by class, as rankers do
since; "shifted" is the line through the unweighted rows, moved by the log of the weights. Means and
medians over the sets of each folder, the latter two less the first.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from aucrank import AURORA, AUCBoost, MartiRank, RankBoost, _core
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from benches.common.data import load_batches

RANKERS = {
    "RankBoost": RankBoost(random_state=0, n_jobs=1),
    "AUCBoost": AUCBoost(random_state=0, n_jobs=1),
    "MartiRank": MartiRank(random_state=0, n_jobs=1),
    "AURORA": AURORA(radius=1.5, depth="shallow", max_features=30, random_state=0, n_jobs=1),
}
WEIGHTS = (0.01, 0.1, 10.0, 100.0, "balanced")


def cuts(scores, y, factors):
    """Return the threshold of raw scores, by the way that it is found."""
    weights = np.where(y, factors[1], factors[0])
    _, weighted = _core.fit_calibration(scores, y, weights, '"sigmoid"', 1)
    line, even = _core.fit_calibration(scores, y, None, '"sigmoid"', 1)
    return {
        "weighted": weighted,
        "by target": _core.even_odds(scores, y, None, factors, 1),
        "shifted": even + np.log(factors[0] / factors[1]) / line.slopes()[0],
    }


def costs(ranker, weight, X, y):
    """Yield each way, and the cost of its errors."""
    fitted, left_out, y_fitted, y_left_out = train_test_split(
        X, y, test_size=0.5, random_state=0, stratify=y
    )
    balanced = [len(y_fitted) / 2 / np.sum(y_fitted == label) for label in (False, True)]
    factors = tuple(balanced) if weight == "balanced" else (1.0, weight)
    class_weight = dict(zip((False, True), factors, strict=True))
    model = clone(ranker).set_params(class_weight=class_weight).fit(fitted, y_fitted)
    own, scores = (model.decision_function(of) + model.threshold_ for of in (fitted, left_out))
    constant = min(factors[1] * y_left_out.sum(), factors[0] * (~y_left_out).sum())
    for way, cut in cuts(own, y_fitted, factors).items():
        missed, false = y_left_out & (scores <= cut), ~y_left_out & (scores > cut)
        yield way, (factors[1] * missed.sum() + factors[0] * false.sum()) / constant


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--max-rows", type=int, default=3000)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--rankers", nargs="*", default=list(RANKERS), choices=RANKERS)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    sets, batch_of = load_batches(args.folders, args.max_rows, args.sets)
    found = pd.DataFrame(
        {"folder": batch_of[name], "ranker": ranker, "weight": str(weight), "set": name}
        | dict(costs(RANKERS[ranker], weight, X, y.astype(bool)))
        for name, (X, y) in sets.items()
        for ranker in args.rankers
        for weight in WEIGHTS
    )
    for way in ("by target", "shifted"):
        found[way] -= found["weighted"]
    by = found.groupby(["folder", "ranker", "weight"])[["weighted", "by target", "shifted"]]
    print(by.agg(["mean", "median"]).round(4).to_string())


if __name__ == "__main__":
    main()
