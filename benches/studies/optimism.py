"""How near figures without new data come to those of new rows, on real data sets.

    python -m benches.studies.optimism DATA_FOLDER [DATA_FOLDER ...] [--rows 500] [--draws 3]
        [--sets adult gusto] [--out FILE]

A folder holds one Parquet file a set: columns and a 0/1 column `target`. A draw of rows is what an
analyst has; all other rows of the set judge the fit to it. For each model and way, the mean over
sets of estimate less truth, with its standard error over sets, and the mean distance, for the AUC
and the slope of the probabilities. Each line of FILE is a fit that another run does not repeat.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd
from aucrank import GradientBoostingRanker, LinearRanker, Scorecard
from aucrank.inspection import validate
from aucrank.metrics import calibration_curve, roc_auc_score
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline

from benches.common.data import load_all

MODELS = {
    "LinearRanker": LinearRanker(n_jobs=1),
    "Scorecard": Scorecard(random_state=0, n_jobs=1),
    "booster": GradientBoostingRanker(n_rounds=100, random_state=0, n_jobs=1),
    "random forest": None,
}
WAYS = {
    "bootstrap": {"method": "bootstrap", "n_resamples": 50},
    "5 times 10 folds": {"method": "cross_validation", "n_resamples": 5},
    "10 folds": {"method": "cross_validation", "n_resamples": 1},
}
FIGURES = ("auc", "slope")

#: Fewer rows than these, and the truth is uncertain itself.
MOST_SHARE = 0.25


def model_of(name, X):
    if name != "random forest":
        return clone(MODELS[name])
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.preprocessing import OrdinalEncoder

    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
    )
    columns = make_column_transformer(
        (encoder, make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    forest = RandomForestClassifier(100, random_state=0, n_jobs=1, min_samples_leaf=2)
    return make_pipeline(columns, forest)


def measured(X, y, name, n_rows, draw):
    """Return estimates of each way, and the truth."""
    order = np.random.default_rng(draw).permutation(len(y))
    here, elsewhere = order[:n_rows], order[n_rows:]
    model = model_of(name, X).fit(X.iloc[here], y[here])
    probability = model.predict_proba(X.iloc[elsewhere])[:, 1]
    found = {
        "truth": {
            "auc": roc_auc_score(y[elsewhere], probability),
            "slope": calibration_curve(y[elsewhere], probability).slope,
        }
    }
    for way, kwargs in WAYS.items():
        of_way = validate(model_of(name, X), X.iloc[here], y[here], random_state=draw, **kwargs)
        found[way] = {figure: of_way[figure] for figure in FIGURES}
        found.setdefault(
            "apparent", dict(zip(FIGURES, of_way.table["apparent"][[0, 2]].tolist(), strict=True))
        )
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--out", type=Path, default=Path("optimism.jsonl"))
    args = parser.parse_args()
    done = {}
    if args.out.exists():
        lines = map(json.loads, args.out.read_text().splitlines())
        done = {tuple(line["key"]): line["found"] for line in lines}
    rows = []
    for folder in args.folders:
        for name, (X, y) in load_all(folder, 20_000, args.sets).items():
            if args.rows > MOST_SHARE * len(y) or min(y.mean(), 1 - y.mean()) * args.rows < 25:
                continue
            for model in MODELS:
                for draw in range(args.draws):
                    key = (name, model, args.rows, draw)
                    if key not in done:
                        done[key] = measured(X, y, model, args.rows, draw)
                        with args.out.open("a") as file:
                            file.write(json.dumps({"key": key, "found": done[key]}) + "\n")
                    found = done[key]
                    rows += [
                        (name, model, way, figure, found[way][figure] - found["truth"][figure])
                        for way in ("apparent", *WAYS)
                        for figure in FIGURES
                    ]
    table = pd.DataFrame(rows, columns=["set", "model", "way", "figure", "error"])
    table["distance"] = table["error"].abs()
    of_sets = table.groupby(["figure", "model", "way", "set"], sort=False).mean(numeric_only=True)
    by = of_sets.groupby(["figure", "model", "way"], sort=False)
    summary = by["error"].agg(["mean", "sem", "count"]).join(by["distance"].mean())
    print(summary.round(3).to_string())


if __name__ == "__main__":
    main()
