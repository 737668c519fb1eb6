"""Write models of other libraries as files of format 5, with the scores that the libraries gave.

    python tests/golden/make_imported_v5.py    (needs LightGBM, XGBoost and CatBoost)

The files stay as they are from then on: later versions must read them and give the same scores.
"""

import json
import sys
from pathlib import Path

import catboost
import lightgbm
import numpy as np
import xgboost
from aucrank import from_catboost, from_coefficients, from_lightgbm, from_sklearn, from_xgboost
from sklearn.ensemble import RandomForestClassifier

HERE = Path(__file__).parent
ANSWERS = HERE / "imported_v5_scores.json"
EQUATION = HERE / "imported_v5_equation.json"


def rows(n_rows=400):
    """Return numbers with gaps and many zeros, a column of whole numbers, and labels."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n_rows, 3)).round(2)
    X[:, 1] = rng.integers(0, 8, n_rows)
    X[:, 2] = np.where(rng.random(n_rows) < 0.4, 0.0, X[:, 2])
    y = (X[:, 0] + (X[:, 1] % 3 == 0) + rng.normal(size=n_rows) > 0.5).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def main():
    """Fit, import, and save."""
    if not EQUATION.exists():
        from_coefficients({"age": 0.0625, "smokes": 0.75}, intercept=-5.0).save(EQUATION)
    if ANSWERS.exists():
        sys.exit("the files are there, and must stay as they are")
    X, y = rows()
    params = {
        "objective": "binary", "verbose": -1, "zero_as_missing": True, "num_leaves": 6, "seed": 0,
        "min_data_per_group": 5, "num_threads": 1,
    }  # fmt: skip
    of_lightgbm = lightgbm.train(
        params, lightgbm.Dataset(X, label=y, categorical_feature=[1], params=params), 4
    )
    of_xgboost = xgboost.XGBClassifier(n_estimators=4, max_depth=3, n_jobs=1).fit(X, y)
    quiet = {"iterations": 4, "depth": 3, "verbose": 0, "allow_writing_files": False}
    of_catboost = catboost.CatBoostClassifier(**quiet, random_seed=0).fit(X, y)
    forest = RandomForestClassifier(4, max_depth=3, random_state=0).fit(X, y)
    few = X[:40]
    raw = of_catboost.predict(few, prediction_type="RawFormulaVal")
    models = {
        "lightgbm": (from_lightgbm(of_lightgbm), of_lightgbm.predict(few, raw_score=True)),
        "xgboost": (from_xgboost(of_xgboost), of_xgboost.predict(few, output_margin=True)),
        "catboost": (from_catboost(of_catboost), raw),
        "forest": (from_sklearn(forest), forest.predict_proba(few)[:, 1] - 0.5),
    }
    scores = {}
    for name, (model, expected) in models.items():
        model.save(HERE / f"imported_v5_{name}.json")
        scores[name] = np.asarray(expected, dtype=np.float64).tolist()
    kept = [[None if np.isnan(value) else value for value in row] for row in few.tolist()]
    ANSWERS.write_text(json.dumps({"rows": kept, "scores": scores}, indent=1) + "\n")


if __name__ == "__main__":
    main()
