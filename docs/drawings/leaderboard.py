"""A leaderboard: the AUC of each model with its interval, and its place in each fold."""

import aucrank
import matplotlib.pyplot as plt
from aucrank.datasets import load_breast_cancer
from aucrank.tree import TreeRank

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean_texture", "mean_smoothness", "mean_symmetry", "texture_error", "mean_area"]]
models = ["LinearRanker", "RankBoost", "RIMARC", "MartiRank", "LogisticRegression"]
board = aucrank.compare(X, y, models=[*models, TreeRank(min_samples_leaf=20, random_state=0)])
table, folds = board.to_frame(), board.folds.to_frame()

figure, (above, below) = plt.subplots(2, 1, figsize=(6.5, 6), layout="constrained")
places = range(len(table))
error = [table["auc"] - table["low"], table["high"] - table["auc"]]
above.errorbar(table["auc"], places, xerr=error, fmt="none", ecolor="0.4", capsize=3)
above.scatter(table["auc"], places, c=[f"C{place}" for place in places], zorder=3)
above.set_yticks(places, table["model"])
above.invert_yaxis()
above.set_xlabel("AUC, with its 95 % interval")
above.grid(axis="x", alpha=0.3)

order = folds.pivot(index="model", columns="fold", values="auc").rank(ascending=False)
for place, name in enumerate(table["model"]):
    below.plot(order.columns, order.loc[name], "o-", color=f"C{place}", markersize=9, lw=2)
    below.annotate(
        name,
        (order.columns[-1], order.loc[name].iloc[-1]),
        (9, 0),
        textcoords="offset points",
        va="center",
        fontsize=9,
    )
below.set(xlim=(0.8, 6.8), xticks=range(1, 6), xlabel="fold", ylabel="rank in the fold")
below.invert_yaxis()
