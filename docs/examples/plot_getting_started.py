"""
A ranking tree in a minute
==========================

Which of these tumours should be looked at first? A ranking tree puts the rows into strata, best
first, and says in words what each stratum is.
"""

# %%
# The data
# --------
# 569 fine-needle aspirates of breast tumours, 30 measurements each, bundled with scikit-learn. The
# malignant ones are labelled 1 and should be ranked first.
from aucrank import TreeRank
from aucrank.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
X_train.iloc[:5, :4]

# %%
# Fit and measure
# ---------------
# A tree is grown that maximises the AUC of its strata, then pruned by cross-validation: only the
# strata that hold up on rows left out stay. ``score`` is the AUC.
ranker = TreeRank(random_state=0).fit(X_train, y_train)
print(f"training AUC {ranker.score(X_train, y_train):.3f}")
print(f"test AUC     {ranker.score(X_test, y_test):.3f}")

# %%
# Read the model
# --------------
# From left to right the strata get worse. The table has a row for each, in ranking order.
ranker.tree_.strata

# %%
# The same tree as rules:
print(ranker.tree_.to_text())

# %%
# See the curve
# -------------
# Each stratum is one straight segment of the ROC curve.
from aucrank.metrics import RocCurve

curve = RocCurve.from_scores(y_test, ranker.decision_function(X_test))
curve.plot()
print(f"true positive rate at 5 % false positives: {curve.tpr_at(0.05):.3f}")
