"""
What a ranking depends on
=========================

Which measurements decide where a tumour is ranked, and how? The importance of each feature says
the first, partial dependence the second.
"""

# %%
# A model
# -------
# A ranking tree on 569 breast tumours, the malignant ones to be ranked first.
import matplotlib.pyplot as plt
from aucrank import TreeRank
from aucrank.datasets import load_breast_cancer

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = TreeRank(random_state=0).fit(X, y)
model.tree_

# %%
# Which features
# --------------
# The gain of a split is what it adds to the AUC. A feature is as important as the root of the sum
# of the squared gains of its splits.
importances = model.tree_.importances
importances.to_frame().head(6)

# %%
# One feature at a time
# ---------------------
# Every tumour is given the same value of one feature, the others stay as they are, and its rank is
# averaged: 1 is the first leaf, 1/K the last of K. The strokes at the foot are the deciles of the
# feature.
top = importances["feature"][:3].tolist()
figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained", sharey=True)
display = model.plot_partial_dependence(X, top, ax=axes)
axes[0].set_ylabel("mean rank")

# %%
# Two features together
# ---------------------
# Where the contours bend, the two features act together: neither curve above would show it.
figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
display = model.plot_partial_dependence(X, [(top[0], top[1])], grid_resolution=40, ax=axes)

# %%
# The numbers
# -----------
# ``partial_dependence`` gives them in scikit-learn's form. A ranking has no unit; for a probability
# ask for that of the leaf.
found = model.partial_dependence(
    X, top[0], kind="eta", custom_values={top[0]: X[top[0]].quantile([0.1, 0.5, 0.9])}
)
for value, share in zip(found.grid_values[0], found.average[0], strict=True):
    print(f"{top[0]} = {value:g}: share of malignant tumours {share:.2f}")
