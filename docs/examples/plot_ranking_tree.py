"""
A ranking tree, four ways to read it
====================================

The model is a tree, and its leaves are ranked. It can be drawn, read as text, printed as a table
and run in a database.
"""

# %%
# The data
# --------
# 569 breast tumours, 30 measurements each; the malignant ones should rank first.
from aucrank import TreeRank
from aucrank.datasets import load_breast_cancer

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = TreeRank(max_depth=4, min_samples_leaf=10, random_state=0).fit(X, y)
tree = model.tree_
tree

# %%
# As a picture
# ------------
# Rows for which the rule of a box holds go left. A leaf has the number of its place in the ranking
# and the colour of its share of malignant tumours; on the ROC curve, its number stands where the
# leaf ends.
display = tree.plot()

# %%
# ``max_depth`` cuts a large tree off, in the picture only.
large = TreeRank(min_samples_leaf=5, pruning=None).fit(X, y).tree_
display = large.plot(max_depth=2)

# %%
# As text
# -------
print(tree.to_text())

# %%
# As a table
# ----------
# One row for each leaf, the highest ranked first. ``lift`` is its share of positives over that of
# all rows; the rates tell what is found, and at what price, when the ranking is cut after it.
tree.strata

# %%
# In a database
# -------------
# The same score as an expression for a ``SELECT``:
print(tree.to_sql())
