"""The picture of README.md: AUC against the time of a fit, readable models marked."""

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt

from benches.page.quality import MODELS, aucs_of

#: Shorter names.
SHORT = {
    "ensemble, fast": "RankingEnsemble, fast",
    "forest": "RankingForest",
    "additive": "additive booster",
    "random forest": "random forest",
    "hist gradient boosting": "HistGradientBoosting",
    "lightgbm, stopped": "LightGBM",
    "xgboost, stopped": "XGBoost",
    "logistic regression": "logistic regression",
}

#: Where a name stands that is not right of its mark, in points.
PLACES = {
    "ensemble, fast": (-9, 3),
    "gradient boosting": (-9, -8),
    "forest": (-9, -4),
    "random forest": (-2, 9),
    "chimeraboost": (-9, -7),
    "lightgbm, stopped": (-9, -4),
    "xgboost, stopped": (8, -8),
}

#: Colours of models of other packages, of ours, and of ours that a person can read.
OTHERS, OURS, READABLE = "0.35", "#d95f02", "#1b7837"


def draw(results, path):
    """Draw the picture."""
    aucs = 100 * aucs_of(results).mean()
    figure, ax = plt.subplots(figsize=(10, 5.2), layout="constrained")
    for name, auc in aucs.items():
        label, is_readable = MODELS[name]
        seconds = results["models"][name]["seconds"]
        others = not label.startswith("`")
        colour = OTHERS if others else READABLE if is_readable else OURS
        marker = "s" if is_readable else "o"
        face = "white" if others else colour
        ax.plot(seconds, auc, marker, color=colour, markerfacecolor=face, markersize=8)
        dx, dy = PLACES.get(name, (8, -4))
        align = "left" if dx >= 0 else "right"
        text = SHORT.get(name, label.strip("`").removesuffix("()"))
        ax.annotate(
            text, (seconds, auc), (dx, dy), textcoords="offset points", ha=align, color=colour
        )
    ax.set(xscale="log", xlim=(0.01, 40), xticks=[0.01, 0.1, 1, 10])
    ax.xaxis.set_major_formatter("{x:g}")
    ax.grid(alpha=0.25)
    ax.set_xlabel("processor seconds of a fit, mean")
    ax.set_ylabel("AUC in hundredths, mean")
    sets = f"{len(results['sets'])} public data sets of at most {results['rows']:,} rows"
    ax.set_title(f"{sets}, each model with its defaults", fontsize=11)
    for marker, colour, face, text in (
        ("o", OURS, OURS, "aucrank"),
        ("s", READABLE, READABLE, "aucrank, readable"),
        ("o", OTHERS, "white", "other packages"),
        ("s", OTHERS, "white", "other packages, readable"),
    ):
        ax.plot([], [], marker, color=colour, markerfacecolor=face, label=text)
    ax.legend(loc="lower right", frameon=False)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)
