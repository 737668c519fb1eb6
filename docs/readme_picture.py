"""Draw the picture of README.md: the models of its programs, as the package itself draws them.

python docs/readme_picture.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
from aucrank import RankingEnsemble, Scorecard, TreeRank
from aucrank.datasets import load_churn
from aucrank.metrics import RocCurve
from sklearn.model_selection import train_test_split

PICTURE = Path(__file__).parent / "_static" / "readme.png"


def main():
    """Fit what README.md fits, and draw the curves and the card."""
    X, y = load_churn(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=0
    )
    names = ["number_customer_service_calls", "international_plan", "total_day_minutes"]
    ensemble = RankingEnsemble(random_state=0).fit(X_train, y_train)
    tree = TreeRank(max_leaves=6, random_state=0).fit(X_train, y_train)
    card = Scorecard(min_bin_share=0.05).fit(X_train[names], y_train)

    figure, axes = plt.subplots(1, 4, figsize=(13, 3.4), width_ratios=[1.25, 1, 1, 1])
    roc, *terms = axes
    scores = {
        "RankingEnsemble": ensemble.decision_function(X_test),
        "TreeRank": tree.decision_function(X_test),
        "Scorecard": card.decision_function(X_test[names]),
    }
    for name, of_rows in scores.items():
        RocCurve.from_scores(y_test, of_rows).plot(ax=roc, name=name)
    roc.set_title("ROC curves of test rows", fontsize=11)
    roc.legend(loc="lower right", fontsize=9)
    card.plot_terms(ax=terms)
    terms[0].set_ylabel("points")
    terms[1].set_title("Points that the scorecard gives to each value", fontsize=11)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=100, metadata={"Software": None})
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
