"""
From one tree to a forest
=========================

A ranking tree is a list of strata that a person can read. A forest of them ranks better: how much
better, from how many trees on, and what can still be read of it?
"""

# %%
# One tree, ten, a hundred
# ------------------------
# Two Gaussian laws on the square, 2,000 rows to learn from: the positive rows gather around a
# slanted ridge. The colour is the rank, the share of rows that score below. A tree has only steps
# along the axes; the mean of many trees, each grown on a sample of its own, rounds them off. Where
# classes overlap as much as here, trees of a forest do better with leaves of some size.
import matplotlib.pyplot as plt
import numpy as np
from aucrank import RankingForest, TreeRank
from aucrank.datasets import load_breast_cancer, make_gaussian_pair
from aucrank.inspection import LevelSetDisplay

law = {
    "negative_mean": (0.5, 0.5),
    "negative_cov": ((1.0, 0.0), (0.0, 1.0)),
    "positive_mean": (0.5, 0.5),
    "positive_cov": ((0.08, 0.05), (0.05, 0.08)),
}
train = make_gaussian_pair(2000, random_state=0, **law)
fresh = make_gaussian_pair(10_000, random_state=1, **law)
settings = {"min_samples_leaf": 50, "random_state": 0}
models = {
    "one pruned tree": TreeRank(random_state=0),
    "10 trees": RankingForest(n_estimators=10, **settings),
    "100 trees": RankingForest(n_estimators=100, **settings),
}

figure, panels = plt.subplots(
    2, 2, figsize=(8.5, 9), layout="constrained", sharex=True, sharey=True
)
scores = {f"true eta, best AUC {fresh.auc_star:.3f}": train.eta}
for name, model in models.items():
    model.fit(train.X, train.y)
    scores[f"{name}, test AUC {model.score(fresh.X, fresh.y):.3f}"] = model
for ax, (name, score) in zip(panels.flat, scores.items(), strict=True):
    display = LevelSetDisplay.from_estimator(score, train.X, name=name, ax=ax, colorbar=False)
    ax.label_outer()
bar = figure.colorbar(display.surface_, ax=panels, location="bottom", shrink=0.6)
bar.set_label("Share of rows that score below")

# %%
# How many trees?
# ---------------
# On 569 breast tumours, the malignant ones to be ranked first. Each tree sees a bootstrap sample;
# the rows that it has not seen test it, so the AUC out of bag needs no rows to be set aside. With
# ``warm_start`` a forest grows on, and is the one that a single fit would have given.
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
forest = RankingForest(warm_start=True, oob_score=True, random_state=0)
numbers = [10, 20, 30, 50, 70, 100, 150, 200]
intervals = []
for number in numbers:
    forest.set_params(n_estimators=number).fit(X, y)
    intervals.append(forest.oob_interval())

figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
low, high = [interval.low for interval in intervals], [interval.high for interval in intervals]
ax.fill_between(numbers, low, high, alpha=0.2, label="95 % interval (DeLong)")
ax.plot(numbers, [interval.auc for interval in intervals], marker="o", label="out of bag")
ax.set(xlabel="number of trees", ylabel="AUC of rows that trees have not seen")
legend = ax.legend(loc="lower right")

# %%
# From 50 trees on the interval hardly changes: what is left to doubt is owed to the number of rows,
# not of trees. ``n_iter_no_change`` stops the growth by the AUC out of bag.
stopped = RankingForest(n_estimators=500, n_iter_no_change=20, tol=0.001, random_state=0)
stopped.fit(X, y).oob_path_.to_frame().tail(3)

# %%
# Which features?
# ---------------
# The importance of a feature in a tree is the root of the sum of its squared gains in AUC. The
# forest has the mean over its trees, and the standard deviation.
table = forest.importances.to_frame()
table.head(5)

# %%
# Here the deviation is twice the mean. Each dot below is a tree: whichever feature makes the first
# cut gains nearly all there is to gain, and each of several can make it. One tree, or the mean
# alone, would not have shown that.
names = table["feature"][:10].tolist()
by_tree = [
    dict(zip(found["feature"], found["importance"], strict=True))
    for found in (tree.importances for tree in forest.estimators_)
]
figure, ax = plt.subplots(figsize=(6.8, 4.2), layout="constrained")
ax.barh(names, table["importance"][:10], color="lightsteelblue", label="mean")
heights = np.random.default_rng(0).uniform(-0.3, 0.3, len(by_tree))
for place, name in enumerate(names):
    gains = [importance[name] for importance in by_tree]
    ax.scatter(gains, place + heights, s=4, color="black", alpha=0.5, linewidths=0)
ax.scatter([], [], s=4, color="black", label="a tree")
ax.invert_yaxis()
ax.set(xlabel="importance in units of AUC", xlim=(-0.005, None))
legend = ax.legend(loc="center")

# %%
# How does the rank depend on the first two? Partial dependence is exact, as for a single tree. The
# rank of a row is its mean over the trees: the share of training rows that a tree ranks below it.
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
display = forest.plot_partial_dependence(
    X, [names[0], names[1], (names[0], names[1])], grid_resolution=40, ax=axes
)
axes[0].set_ylabel("mean rank")
label = axes[1].set_ylabel("")

# %%
# Strata
# ------
# A forest has no leaves of its own. Cut at quantiles of its score, fresh rows fall into strata that
# read as those of a tree do. Here those of the ridge.
strata = models["100 trees"].strata(fresh.X, fresh.y, n_strata=5).to_frame().round(3)
strata[["rank", "score_from", "score_to", "size", "n_pos", "lift", "fpr_to", "tpr_to"]]

# %%
# How the trees make one score
# ----------------------------
# The mean share of positives is the default. The other aggregations use the rankings of the trees
# alone; "kendall" looks for one that contradicts few pairs of them. Here there is little between
# them, and all are ahead of the single tree.
single = models["one pruned tree"]
print(f"one pruned tree  {single.score(fresh.X, fresh.y):.4f}")
for aggregation in ("eta", "rank_mean", "rank_median", "kendall"):
    model = RankingForest(aggregation=aggregation, **settings)
    model.fit(train.X, train.y)
    print(f"{aggregation:16} {model.score(fresh.X, fresh.y):.4f}")
