"""Write the saved models of format 2 that ``test_golden.py`` reads, with their scores.

Never run again for format 2: the files stand for models that users have saved. A later format gets
a script and files of its own, and these stay.
"""

import json
import sys
from pathlib import Path

from aucrank import TreeRank
from aucrank.tree import CrossValidatedPruning, DyadicSplit, PenalizedPruning
from make_tree_rank_v1 import frame, loans, numbers

HERE = Path(__file__).parent
MODELS = {
    "stumps": TreeRank(
        split="orthogonal",
        max_depth=3,
        min_samples_leaf=3,
        leaf_order="eta",
        missing="cell_mean",
        max_fpr=0.6,
        monotonic_cst={"months": -1},
        pruning=CrossValidatedPruning(n_folds=3),
        random_state=0,
    ),
    "cubes": TreeRank(
        split=DyadicSplit(level=2),
        max_depth=2,
        min_samples_leaf=2,
        pruning=PenalizedPruning(scale=0.001),
        random_state=0,
    ),
}


def main():
    """Fit, save, score."""
    if any(HERE.glob("tree_rank_v2_*.json")):
        sys.exit("the files of format 2 are there, and must stay as they are")
    X, y, weight = loans()
    for name, model in MODELS.items():
        model.fit(X, y, sample_weight=weight).save(HERE / f"tree_rank_v2_{name}.json")
        # A row of strangers, and a row of missing values.
        new = X.astype(object)
        new.loc[len(new)] = ["frozen", 60.0, 1e6, -5.0, 9, True]
        new.loc[len(new)] = [None] * len(new.columns)
        columns = {
            column: [None if value is None or value != value else value for value in values]
            for column, values in new.items()
        }
        content = {
            "columns": columns,
            "nodes": numbers(model.tree_.nodes),
            "strata": numbers(model.tree_.strata),
            "pruning": numbers(model.pruning_),
            "text": model.tree_.to_text().splitlines(),
            "scores": model.decision_function(frame(columns)).tolist(),
            "probabilities": model.predict_proba(frame(columns))[:, 1].tolist(),
        }
        text = json.dumps(content, indent=1) + "\n"
        (HERE / f"tree_rank_v2_{name}_scores.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
