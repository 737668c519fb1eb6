"""Write a model of format version 3 of every family, with what each says of rows.

Files that are there stay as they are: they stand for models that users have saved. A later format
gets a script and files of its own.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from aucrank import (
    AURORA,
    MAD2C,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    LinearRanker,
    MartiRank,
    RankBoost,
    RankingEnsemble,
    RankingForest,
    RankOpt,
    Scorecard,
    SMartiRank,
    ThresholdBinarizer,
    TreeRank,
)
from aucrank.tree import DyadicSplit, LeafRank

HERE = Path(__file__).parent
SMALL = {"max_depth": 3, "min_samples_leaf": 4}
MODELS = {
    "tree_rank": TreeRank(pruning=None, missing="cell_mean", **SMALL),
    "tree_rank_dyadic": TreeRank(split=DyadicSplit(level=1), pruning=None, max_depth=3),
    "ranking_forest": RankingForest(n_estimators=3, aggregation="rank_median", **SMALL),
    "rank_boost": RankBoost(n_rounds=6),
    "rank_boost_trees": RankBoost(n_rounds=2, weak_ranker=LeafRank(max_depth=2)),
    "rank_boost_linear": RankBoost(n_rounds=2, weak_ranker="linear"),
    "auc_boost": AUCBoost(n_rounds=4, output="sign"),
    "gradient_boosting": GradientBoostingRanker(n_rounds=4, max_leaves=5),
    "gradient_boosting_bags": GradientBoostingRanker(
        n_rounds=4, max_leaves=3, interactions=0, n_bags=2, early_stopping=True
    ),
    "marti_rank": MartiRank(n_rounds=3),
    "smarti_rank": SMartiRank(n_rounds=3, epsilon=0.5, min_samples_class=4),
    "mad2c": MAD2C(),
    "rimarc": RIMARC(),
    "rimarc_value": RIMARC(missing="value", level_rates="raw", weight_folds=3),
    "scorecard": Scorecard(estimator=RIMARC(missing="value")),
    "aurora": AURORA(max_features=4, radius=1.5, selection=None, max_levels=4),
    "threshold_binarizer": ThresholdBinarizer(max_levels=4),
    "rank_opt": RankOpt(),
    "linear": LinearRanker(thresholds=3),
    "ensemble": RankingEnsemble(
        members=[
            ("boosting", GradientBoostingRanker(n_rounds=3, max_leaves=4)),
            ("linear", LinearRanker(thresholds=None)),
            ("tree", TreeRank(max_depth=3, pruning=None)),
        ],
        n_folds=2,
    ),
}
#: Those that take complete numbers alone.
COMPLETE = {"rank_boost_linear", "rank_opt"}


def main():
    """Fit, save, score."""
    kept = HERE / "families_v3_answers.json"
    answers = json.loads(kept.read_text(encoding="utf-8"))["answers"] if kept.exists() else {}
    new = {name: model for name, model in MODELS.items() if name not in answers}
    if not new:
        sys.exit("the files of format 3 are there, and must stay as they are")
    rng = np.random.default_rng(0)
    n = 300
    town, age, amount = rng.integers(0, 8, n), rng.integers(18, 80, n), rng.lognormal(7, 1, n)
    chance = 1 / (1 + np.exp(-(np.sin(town) + (age - 50) / 20 - np.log(amount / 1000))))
    y = np.where(rng.random(n) < chance, "good", "bad")
    known = rng.random((2, n)) < 0.85
    columns = {
        "age": [float(a) if k else None for a, k in zip(age, known[0], strict=True)],
        "amount": amount.round(2).tolist(),
        "town": [f"town {t}" if k else None for t, k in zip(town, known[1], strict=True)],
    }
    X = pd.DataFrame(columns).astype({"town": "category"})
    # Rows like none of these: strangers, missing values, numbers far out.
    rows = {
        "age": [*columns["age"][:40], None, -5.0, 1e9, 44.0],
        "amount": [*columns["amount"][:40], 100.0, 0.0, 1e12, None],
        "town": [*columns["town"][:40], "elsewhere", None, "town 3", "town 0"],
    }
    for name, model in new.items():
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        if name in COMPLETE:
            model.fit(X[["amount"]].assign(age=age), y)
            new_rows = pd.DataFrame(rows).loc[:39, ["amount"]].assign(age=age[:40])
        else:
            model.fit(X, y)
            new_rows = pd.DataFrame(rows).astype({"town": "category"})
        model.save(HERE / f"families_v3_{name}.json")
        ask = model.decision_function if hasattr(model, "decision_function") else model.transform
        found = np.asarray(ask(new_rows))
        answers[name] = np.where(np.isnan(found), None, found).tolist()
    content = {"columns": rows, "ages": age[:40].tolist(), "answers": answers}
    text = json.dumps(content) + "\n"
    kept.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
