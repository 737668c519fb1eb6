"""
How few strata does a good ROC curve need?
==========================================

Where the law of the data is known, so is the best ROC curve that any scoring function can have.
A score with a handful of values comes close to it, if its cuts are where they do most good.
"""

# %%
# A law that is known
# -------------------
# Two Gaussian laws on the unit square. The simulation knows the chance ``eta(x)`` that a row at
# ``x`` is positive, and eta is the best of all scores.
from aucrank.datasets import make_gaussian_pair
from aucrank.roc import OptimalROC

simulation = make_gaussian_pair(20_000, random_state=0)
best = OptimalROC.from_sample(simulation.eta(simulation.X))
print(best, f"and by quadrature {simulation.auc_star:.4f}")

# %%
# The first cut
# -------------
# With one cut the score has two values. The area grows most where the curve is parallel to the
# diagonal, and that is at ``eta(x) = p``, the share of positives: not at 1/2, unless the classes
# are equally frequent.
knot = best.one_step()
print(f"level {knot.level:.3f}: false positive rate {knot.fpr:.3f}, true positive {knot.tpr:.3f}")
print(f"slope of the curve there: {best.derivative(knot.fpr):.2f}")

# %%
# Cut again, and again
# --------------------
# Each piece is cut where the curve is parallel to it. A ranking tree of that depth does the same
# with estimates. Doubling the number of pieces divides the error by about four.
import matplotlib.pyplot as plt
import numpy as np

fpr = np.linspace(0, 1, 201)
figure, panels = plt.subplots(1, 3, figsize=(12, 4.6), sharey=True, layout="constrained")
for depth, panel in zip((1, 2, 3), panels, strict=True):
    approximation = best.approximate(depth)
    panel.fill_between(
        fpr, np.interp(fpr, approximation.fpr, approximation.tpr), best(fpr), alpha=0.3
    )
    panel.plot(fpr, best(fpr), label=f"best, AUC {best.auc_star:.4f}")
    panel.plot(
        approximation.fpr,
        approximation.tpr,
        "o-",
        label=f"depth {depth}, AUC {approximation.auc:.4f}",
    )
    panel.set(title=f"{2**depth} strata", xlabel="False positive rate", aspect="equal")
    panel.legend(loc="lower right")
panels[0].set_ylabel("True positive rate")

# %%
# The area lost and the largest gap, round by round:
for depth in range(6):
    approximation = best.approximate(depth)
    area, gap = approximation.l1_error, approximation.sup_error
    print(f"{2**depth:>2} strata: area {area:.5f}, gap {gap:.5f}")

# %%
# What learning costs
# -------------------
# A tree that has to find the cuts from 1,000 rows, measured on fresh rows: what is missing up to
# AUC* is the price of not knowing eta.
from aucrank import TreeRank

train = make_gaussian_pair(1_000, random_state=1)
tree = TreeRank(random_state=0).fit(train.X, train.y)
print(f"{tree.tree_.n_leaves} strata, test AUC {tree.score(simulation.X, simulation.y):.4f}")
