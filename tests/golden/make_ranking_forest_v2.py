"""Write the saved forest of format version 2 that ``test_golden.py`` reads, with its scores.

Never run again once format 2 is released: the files stand for models that users have saved. A later
format gets a script and files of its own, and these stay.
"""

import json
import sys
from pathlib import Path

import pandas as pd
from aucrank import RankingForest
from aucrank.tree import LeafRank
from make_tree_rank_v1 import frame, loans, numbers

HERE = Path(__file__).parent
MODEL, SCORES = HERE / "ranking_forest_v2.json", HERE / "ranking_forest_v2_scores.json"


def main():
    """Fit, save, score."""
    if MODEL.exists() or SCORES.exists():
        sys.exit("the files of format 2 are there, and must stay as they are")
    X, y, weight = loans()
    model = RankingForest(
        n_estimators=3,
        max_depth=4,
        min_samples_leaf=2,
        aggregation="kendall",
        leaf_order="eta",
        oob_score=True,
        warm_start=True,
        random_state=0,
    )
    model.fit(X, y, sample_weight=weight)
    # Two trees more, of other splits.
    model.set_params(n_estimators=5, split=LeafRank(max_depth=2))
    model.fit(X, y, sample_weight=weight).save(MODEL)
    # A row of strangers, and a row of missing values.
    X = X.astype(object)
    X.loc[len(X)] = ["frozen", 60.0, 1e6, -5.0, 9, True]
    X.loc[len(X)] = [None] * len(X.columns)
    columns = {
        name: [None if pd.isna(cell) else cell for cell in column] for name, column in X.items()
    }
    rows = frame(columns)
    interval = model.oob_interval()
    content = {
        "columns": columns,
        "nodes": [numbers(tree.nodes) for tree in model.estimators_],
        "leaves": [tree.apply(rows).tolist() for tree in model.estimators_],
        "oob": [interval.auc, interval.low, interval.high],
        "importances": model.feature_importances_.tolist(),
        "scores": model.decision_function(rows).tolist(),
        "probabilities": model.predict_proba(rows)[:, 1].tolist(),
        "labels": model.predict(rows).tolist(),
    }
    SCORES.write_text(json.dumps(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
