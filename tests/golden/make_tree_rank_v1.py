"""Write the saved model of format version 1 that ``test_golden.py`` reads, with its scores.

Never run again for format 1: the files stand for models that users have saved. A later format gets
a script and files of its own, and these stay.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from aucrank import TreeRank
from aucrank.tree import CrossValidatedPruning, LeafRank

HERE = Path(__file__).parent
MODEL, SCORES = HERE / "tree_rank_v1.json", HERE / "tree_rank_v1_scores.json"


def loans():
    """Made-up loans, in the likeness of the German credit data, who paid back, and weights."""
    random = np.random.RandomState(1994)
    n = 60
    status = random.choice(["none", "overdrawn", "low", "high"], n, p=[0.4, 0.3, 0.2, 0.1])
    months = random.choice([6, 12, 18, 24, 36, 48], n).astype(np.float64)
    amount = np.round(np.exp(random.normal(7.5, 0.8, n)), 2)
    savings = np.round(random.exponential(500.0, n), 1)
    rate = random.choice([1, 2, 3, 4], n)
    phone = random.random_sample(n) < 0.4
    risk = (status == "overdrawn") + months / 24 + amount / 4000 - savings / 1000
    good = np.where(random.random_sample(n) < 1 / (1 + np.exp(risk - 1.5)), "good", "bad")
    savings[random.random_sample(n) < 0.2] = np.nan
    status = np.where(random.random_sample(n) < 0.1, None, status)
    X = pd.DataFrame(
        {
            "status": pd.Categorical(status),
            "months": months,
            "amount": amount,
            "savings": savings,
            "rate": pd.Categorical(rate),
            "phone": phone,
        }
    )
    return X, good, np.round(random.uniform(0.5, 2.0, n), 3)


def main():
    """Fit, save, score."""
    if MODEL.exists() or SCORES.exists():
        sys.exit("the files of format 1 are there, and must stay as they are")
    X, y, weight = loans()
    model = TreeRank(
        split=LeafRank(max_depth=2),
        max_depth=3,
        min_samples_leaf=4,
        pruning=CrossValidatedPruning(n_folds=3),
        random_state=0,
    )
    model.fit(X, y, sample_weight=weight).save(MODEL)
    # A row of strangers, and a row of missing values.
    X = X.astype(object)
    X.loc[len(X)] = ["frozen", 60.0, 1e6, -5.0, 9, True]
    X.loc[len(X)] = [None] * len(X.columns)
    columns = {
        name: [None if pd.isna(cell) else cell for cell in column] for name, column in X.items()
    }
    content = {
        "columns": columns,
        "nodes": numbers(model.tree_.nodes),
        "strata": numbers(model.tree_.strata),
        "pruning": numbers(model.pruning_),
        "scores": model.decision_function(frame(columns)).tolist(),
        "probabilities": model.predict_proba(frame(columns))[:, 1].tolist(),
        "labels": model.predict(frame(columns)).tolist(),
    }
    SCORES.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def numbers(table):
    """Columns of a table but the rules in words, which may be worded better one day."""
    return {name: column.tolist() for name, column in table.items() if name != "rule"}


def frame(columns):
    """Rows of the score file as a data frame."""
    X = pd.DataFrame(columns)
    return X.assign(
        status=pd.Categorical(X["status"]),
        rate=pd.Categorical(X["rate"]),
        phone=X["phone"].astype("boolean"),
    )


if __name__ == "__main__":
    main()
