"""Write the examples of docs/calculator.md: scores of two models of tumours, and a card.

python docs/calculator_example.py
"""

import csv
from pathlib import Path

from aucrank import GradientBoostingRanker, Scorecard
from aucrank.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

FOLDER = Path(__file__).parent / "_static" / "calculator"


def main():
    """Fit two models to half of the tumours; score the other half, and save the card."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X[["mean_texture", "mean_smoothness", "mean_symmetry", "mean_area"]]
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=0
    )
    card = Scorecard(min_bin_share=0.1, random_state=0).fit(X_train, y_train)
    booster = GradientBoostingRanker(random_state=0).fit(X_train, y_train)
    card.save(FOLDER / "card.json")
    scores = [model.predict_proba(X_test)[:, 1] for model in (card, booster)]
    with open(FOLDER / "tumours.csv", "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["malignant", "card_probability", "booster_probability", *X.columns])
        # Three digits, as in a table that was handed over.
        for row, label, *found in zip(X_test.to_numpy(), y_test, *scores, strict=True):
            rows.writerow([label, *(f"{score:.3f}" for score in found), *row])


if __name__ == "__main__":
    main()
