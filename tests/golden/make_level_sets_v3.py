"""Write the models of format version 3 that ``test_golden.py`` reads, with their scores.

What is new in it is how sets of categories are saved. Never run again once format 3 is released:
the files stand for models that users have saved. A later format gets a script and files of its own,
and these stay.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from aucrank import RankingForest, TreeRank
from aucrank.tree import LeafRank

HERE = Path(__file__).parent
MODELS = {
    "tree": TreeRank(split=LeafRank(max_depth=2), max_depth=3, pruning=None, random_state=0),
    "forest": RankingForest(n_estimators=3, max_depth=4, random_state=0),
}


def main():
    """Fit, save, score."""
    if any(HERE.glob("level_sets_v3*")):
        sys.exit("the files of format 3 are there, and must stay as they are")
    rng = np.random.default_rng(0)
    n = 400
    town, x = rng.integers(0, 30, n), rng.normal(size=n).round(2)
    # Some rows miss the town, and they are positive more often.
    known = rng.random(n) < 0.8
    y = rng.random(n) < 1 / (1 + np.exp(-(x + np.sin(town) + ~known)))
    columns = {
        "town": [f"town {t}" if k else None for t, k in zip(town, known, strict=True)],
        "x": x.tolist(),
    }
    X = pd.DataFrame(columns).astype({"town": "category"})
    # Rows of strangers and of missing values.
    columns["town"] += ["elsewhere", None, "town 3"]
    columns["x"] += [0.5, None, None]
    rows = pd.DataFrame(columns).astype({"town": "category"})
    content = {"columns": columns}
    for name, model in MODELS.items():
        model.fit(X, y).save(HERE / f"level_sets_v3_{name}.json")
        content[name] = {
            "scores": model.decision_function(rows).tolist(),
            "probabilities": model.predict_proba(rows)[:, 1].tolist(),
        }
    scores = HERE / "level_sets_v3_scores.json"
    scores.write_text(json.dumps(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
