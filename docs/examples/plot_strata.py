"""
Strata in the plane and on the curve
====================================

A ranking tree cuts the rows into strata and puts them in an order. In the plane of two features
each is a part of it; on the ROC curve each is one straight piece.
"""

# %%
# A law that is known
# -------------------
# The positive rows gather around a place in the upper half. The simulation knows the chance
# ``eta(x)`` that a row at ``x`` is positive, and so the best ROC curve that any score can have.
import matplotlib.pyplot as plt
import numpy as np
from aucrank import TreeRank
from aucrank.datasets import make_gaussian_pair
from aucrank.metrics import RocCurve
from aucrank.roc import OptimalROC

LAW = {
    "negative_mean": (0.5, 0.5),
    "negative_cov": ((1.0, 0.0), (0.0, 1.0)),
    "positive_mean": (0.4, 0.6),
    "positive_cov": ((0.07, 0.0), (0.0, 0.04)),
}
sample = make_gaussian_pair(4000, random_state=0, **LAW)
best = OptimalROC.from_sample(sample.eta(sample.X))
tree = TreeRank(min_samples_leaf=40, random_state=0).fit(sample.X, sample.y)
ranker = tree.tree_.best_subtree(16)
print(f"{ranker.n_leaves} strata, best possible AUC {best.auc_star:.3f}")

# %%
# The same colours on both sides
# ------------------------------
# Yellow ranks first, dark blue last. The dashed line is the best curve.
rank = dict(
    zip(ranker.strata["node"], ranker.strata["score"].argsort()[::-1].argsort(), strict=True)
)


def draw(ink, paper):
    """Draw the strata, and the ROC curve of new rows, in the colours of a page."""
    figure, (plane, curve) = plt.subplots(1, 2, figsize=(9.6, 4.6), layout="constrained")
    colours = plt.get_cmap("plasma")(np.linspace(0.95, 0.17, ranker.n_leaves))
    axis = (np.arange(300) + 0.5) / 300
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    image = np.array([rank[leaf] for leaf in ranker.apply(grid)]).reshape(300, 300)
    plane.imshow(colours[image], origin="lower", extent=(0, 1, 0, 1))
    plane.set(title="Strata of two features", xticks=[], yticks=[])
    fresh = make_gaussian_pair(20_000, random_state=1, **LAW)
    score = [-rank[leaf] for leaf in ranker.apply(fresh.X)]
    roc = RocCurve.from_scores(fresh.y, score)
    fpr = np.linspace(0, 1, 201)
    curve.plot(fpr, best(fpr), "--", color=ink, linewidth=1.5)
    for piece, colour in enumerate(colours):
        ends = slice(piece, piece + 2)
        curve.plot(roc.fpr[ends], roc.tpr[ends], color=colour, linewidth=5, solid_capstyle="round")
    curve.plot([0, 1], [0, 1], color=ink, linewidth=0.8, alpha=0.4)
    curve.text(0.97, 0.06, f"AUC {roc.auc:.3f}, at best {best.auc_star:.3f}", ha="right", color=ink)
    curve.set(title="Pieces of the ROC curve", aspect="equal", xticks=[0, 1], yticks=[0, 1])
    curve.set_xlabel("False positive rate", labelpad=-8)
    curve.set_ylabel("True positive rate", labelpad=-8)
    for panel in (plane, curve):
        panel.title.set(color=ink, fontsize=15)
        panel.set_facecolor("none")
        panel.tick_params(colors=ink)
        panel.xaxis.label.set(color=ink)
        panel.yaxis.label.set(color=ink)
        panel.spines[:].set(color=ink, alpha=0.4)
    figure.set_facecolor(paper)


with plt.rc_context({"font.size": 13}):
    draw(ink="#1f2328", paper="#ffffff")

# %%
# The same for a dark page:
with plt.rc_context({"font.size": 13}):
    draw(ink="#e6e6e6", paper="#14181e")
