"""
From one tree to a forest
=========================

A ranking tree is a list of strata that a person can read. A forest of them ranks better: how much
better, from how many trees on, and what can still be read of it?
"""

# %%
# One tree, ten, a hundred
# ------------------------
# Two Gaussian laws on the square, 1,000 rows to learn from. The colour is the rank, the share of
# rows that score below. The lines where the true eta is constant are slanted; a tree has only steps
# along the axes, and the mean of many trees, each grown on a sample of its own, rounds them off.
import matplotlib.pyplot as plt
import numpy as np
from aucrank import RankingForest, TreeRank
from aucrank.datasets import load_breast_cancer, make_gaussian_pair
from aucrank.inspection import LevelSetDisplay

train = make_gaussian_pair(1000, random_state=0)
fresh = make_gaussian_pair(10_000, random_state=1)
settings = {"max_features": None, "min_samples_leaf": 20, "random_state": 0}
models = {
    "one pruned tree": TreeRank(random_state=0),
    "10 trees": RankingForest(n_estimators=10, **settings),
    "100 trees": RankingForest(n_estimators=100, **settings),
}

figure, panels = plt.subplots(
    1, 4, figsize=(13, 4.2), layout="constrained", sharex=True, sharey=True
)
for ax, (name, model) in zip(panels[1:], models.items(), strict=True):
    model.fit(train.X, train.y)
    LevelSetDisplay.from_estimator(
        model, train.X, name=f"{name}\ntest AUC {model.score(fresh.X, fresh.y):.3f}", ax=ax,
        colorbar=False,
    )  # fmt: skip
display = LevelSetDisplay.from_estimator(
    train.eta, train.X, name=f"true eta\nbest AUC {fresh.auc_star:.3f}", ax=panels[0],
    colorbar=False,
)  # fmt: skip
figure.colorbar(display.surface_, ax=panels, label="Share of rows that score below")
for ax in panels:
    ax.label_outer()

# %%
# How many trees?
# ---------------
# On 569 breast tumours, the malignant ones to be ranked first. Each tree sees a bootstrap sample;
# the rows that it has not seen test it, so the AUC out of bag needs no rows to be set aside. With
# ``warm_start`` a forest grows on, and is the one that a single fit would have given.
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
forest = RankingForest(warm_start=True, oob_score=True, random_state=0)
numbers = [10, 20, 30, 50, 70, 100, 150, 200]
intervals = [forest.set_params(n_estimators=number).fit(X, y).oob_interval() for number in numbers]

figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
aucs = np.array([interval.auc for interval in intervals])
ax.fill_between(
    numbers,
    [interval.low for interval in intervals],
    [interval.high for interval in intervals],
    alpha=0.2,
    label="95 % interval (DeLong)",
)
ax.plot(numbers, aucs, marker="o", label="out of bag")
ax.set(xlabel="number of trees", ylabel="AUC", title="AUC of rows that trees have not seen")
ax.legend(loc="lower right")

# %%
# The interval is about the rows, not about the trees: more trees do not make it shorter.
# ``n_iter_no_change`` stops the growth by the AUC out of bag.
stopped = RankingForest(n_estimators=500, n_iter_no_change=20, tol=0.001, random_state=0).fit(X, y)
stopped.oob_path_.to_frame().tail(3)

# %%
# Which features?
# ---------------
# The importance of a feature in a tree is the root of the sum of its squared gains in AUC. The
# forest has its mean over the trees, and its spread: here that is as large as the mean, since trees
# that may not look at one size of the tumour take another.
table = forest.importances.to_frame()
table.head(5)

# %%
top = table.head(10)[::-1]
figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ax.barh(top["feature"], top["importance"], xerr=top["std"], ecolor="grey", capsize=2)
ax.set_xlim(left=0)
ax.set(xlabel="importance in units of AUC, one standard deviation over the trees")

# %%
# How does the rank depend on the first two? Exact, as for a single tree; the numbers are those that
# scikit-learn finds by scoring every row at every point.
display = forest.plot_partial_dependence(
    X, [*table["feature"][:2], tuple(table["feature"][:2])], grid_resolution=40
)
display.figure_.set_size_inches(11, 3.6)
display.axes_[0, 0].set_ylabel("mean rank")
display.figure_.tight_layout()

# %%
# Strata
# ------
# A forest has no leaves of its own. Cut at quantiles of its score, fresh rows fall into strata that
# read as those of a tree do. Here the Gaussian pair again, where the best forest is far from
# perfect.
models["100 trees"].strata(fresh.X, fresh.y, n_strata=5).to_frame().round(3)

# %%
# How the trees make one score
# ----------------------------
# The mean share of positives uses most of what the trees say. The other aggregations use their
# rankings alone; "kendall" looks for the ranking that contradicts the fewest pairs of them.
print(f"one pruned tree  {models['one pruned tree'].score(fresh.X, fresh.y):.4f}")
for aggregation in ("eta", "rank_mean", "rank_median", "kendall"):
    model = RankingForest(aggregation=aggregation, **settings).fit(train.X, train.y)
    print(f"{aggregation:16} {model.score(fresh.X, fresh.y):.4f}")
