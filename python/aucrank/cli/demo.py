"""`aucrank demo`: the whole workflow on built-in data."""

import argparse
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from aucrank._base.scoring import score_rows
from aucrank._report.document import report
from aucrank._utils.threads import effective_n_threads
from aucrank.additive import Scorecard
from aucrank.cli._errors import DataError, writable
from aucrank.cli._model import save_model
from aucrank.cli._text import aligned
from aucrank.datasets import load_churn
from aucrank.ensemble import RankingEnsemble
from aucrank.metrics import auc_compare, auc_interval
from aucrank.tree import TreeRank

DEFAULT = "RankingEnsemble (what `fit` fits)"
TREE, CARD = "TreeRank (6 leaves)", "Scorecard (6 columns)"


def run(args: argparse.Namespace) -> int:
    """Fit, measure, print, save."""
    out = writable(args.output)
    page = writable(str(Path(out).with_suffix(".html")))
    try:
        X, y = load_churn(return_X_y=True)
    except ImportError as error:
        raise DataError("the demo needs pandas: run `pip install pandas`") from error
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=args.random_state
    )
    print(
        f"{len(y):,} customers of a telephone company, {X.shape[1]} columns; positive: the customer"
        f" left ({y.mean():.1%})."
    )
    print(f"Learn from {len(y_train):,} rows, test on the other {len(y_test):,}.\n")

    models: dict[str, Any] = {}
    scores: dict[str, NDArray[np.float64]] = {}
    table = []
    for name, model in _models(args, X_train).items():
        columns = list(X)
        if name == CARD:
            importance = models[DEFAULT].feature_importances_
            columns = [columns[place] for place in np.argsort(-importance)[:6]]
        start = perf_counter()
        with warnings.catch_warnings():
            # Columns without effect are part of the data.
            warnings.simplefilter("ignore")
            model.fit(X_train[columns], y_train)
        seconds = perf_counter() - start
        models[name], scores[name] = model, score_rows(model, X_test[columns])
        found = auc_interval(y_test, scores[name])
        table.append((name, f"{found.auc:.3f}", f"{found.low:.3f} to {found.high:.3f}", seconds))
    titles = ("model", "test AUC", "95% interval", "fit seconds")
    print(aligned(dict(zip(titles, zip(*table, strict=True), strict=True))))

    for name in (TREE, CARD):
        cost = auc_compare(y_test, scores[name], scores[DEFAULT])
        print(
            f"\n{name}, to be read, ranks {100 * abs(cost.difference):.1f} points"
            f" {'below' if cost.difference < 0 else 'above'} the ensemble"
            f" (95% interval of the difference: {100 * cost.low:.1f} to {100 * cost.high:.1f})."
        )
        if name == TREE:
            print("\n" + models[TREE].tree_.to_text().rstrip("\n"))

    n_bytes = save_model(models[DEFAULT], out)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = report(
            {DEFAULT.partition(" ")[0]: models[DEFAULT], TREE.partition(" ")[0]: models[TREE]},
            X_test,
            y_test,
            title="Which customers leave",
            random_state=args.random_state,
        )
    made.save(page)
    print(f"\nSaved {out} ({n_bytes:,} bytes) and a report about it: open {page}\n\nNext:\n")
    print("  aucrank fit DATA.csv --target COLUMN --output model.json")
    print("  aucrank score model.json NEW.csv --output scores.csv")
    print("  aucrank compare DATA.csv --target COLUMN")
    print("  aucrank report model.json NEW.csv --target COLUMN")
    return 0


def _models(args: argparse.Namespace, X: Any) -> dict[str, Any]:
    """Return the models by name, the default first."""
    seed: dict[str, Any] = {"random_state": args.random_state}
    ours = seed | {"n_jobs": args.n_jobs}
    texts = list(X.select_dtypes("category"))
    numbers = [name for name in X if name not in texts]
    encoder = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), texts)
    )
    n_threads = effective_n_threads(args.n_jobs)
    return {
        DEFAULT: RankingEnsemble(**ours),
        "HistGradientBoosting (scikit-learn)": HistGradientBoostingClassifier(**seed),
        "RandomForest (scikit-learn)": make_pipeline(
            encoder, RandomForestClassifier(n_jobs=n_threads, **seed)
        ),
        "LogisticRegression (scikit-learn)": make_pipeline(
            encoder, LogisticRegression(max_iter=1000)
        ),
        TREE: TreeRank(max_leaves=6, **ours),
        CARD: Scorecard(**ours),
    }
