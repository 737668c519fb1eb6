"""`aucrank demo`: the whole workflow on built-in data."""

import argparse
from time import perf_counter
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucrank._base.scoring import score_rows
from aucrank._utils.words import plural
from aucrank.cli._data import backend_for
from aucrank.cli._errors import DataError, writable
from aucrank.cli._model import save_model
from aucrank.cli._text import aligned, laid_out
from aucrank.datasets import load_breast_cancer
from aucrank.metrics import roc_auc_score
from aucrank.tree import TreeRank


def run(args: argparse.Namespace) -> int:
    """Fit, measure, print, save."""
    out = writable(args.out)
    cancer = load_breast_cancer()
    X_train, X_test, y_train, y_test = train_test_split(
        cancer.data,
        cancer.target,
        test_size=0.3,
        stratify=cancer.target,
        random_state=args.random_state,
    )
    names = list(cancer.feature_names)
    print(
        f"Breast cancer data: {len(cancer.target)} tumours, {len(names)} measurements each; "
        f"positive is malignant ({cancer.target.mean():.1%})."
    )
    print(
        f"Learn from {plural(len(y_train), 'row')}, test on the other {len(y_test)} "
        f"(stratified split, seed {args.random_state})."
    )

    tree = TreeRank(random_state=args.random_state, n_jobs=args.n_jobs)
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    rows = []
    for name, model, train, test in (
        ("TreeRank", tree, _with_names(X_train, names), _with_names(X_test, names)),
        ("LogisticRegression (scikit-learn)", logistic, X_train, X_test),
    ):
        start = perf_counter()
        model.fit(train, y_train)
        seconds = perf_counter() - start
        rows.append((name, roc_auc_score(y_test, score_rows(model, test)), seconds))
    n_bytes = save_model(tree, out)
    print()
    columns = zip(*rows, strict=True)
    print(aligned(dict(zip(("model", "test AUC", "fit seconds"), columns, strict=True))))
    if not hasattr(tree, "feature_names_in_"):
        print("\n(Install pandas or polars to see the names of the columns below.)")
    for section in tree._summary():
        print(laid_out(section))

    print(f"\nSaved {out} ({n_bytes:,} bytes). Next:\n")
    print(f"  aucrank describe {out}")
    print("  aucrank compare DATA.csv --target COLUMN")
    print("  aucrank fit DATA.csv --target COLUMN --out model.json")
    print("  aucrank score model.json NEW.csv --out scores.csv")
    return 0


def _with_names(X: NDArray[np.float64], names: list[str]) -> Any:
    """Make a frame with column names, if a package for frames is installed."""
    try:
        backend = backend_for("csv")
    except DataError:
        return X
    return nw.from_numpy(X, schema=names, backend=backend).to_native()
