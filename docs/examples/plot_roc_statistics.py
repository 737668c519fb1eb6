"""
How sure is a curve?
====================

Two models rank the same patients. How far may each curve be off, and is one of them better?
"""

# %%
# Two models, one test set
# ------------------------
# Scores of a ranking tree and of logistic regression on rows that neither has seen.
import matplotlib.pyplot as plt
from aucrank import TreeRank
from aucrank.datasets import load_breast_cancer
from aucrank.metrics import RocCurve, auc_compare, auc_interval, roc_band
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
columns = ["mean_texture", "mean_smoothness", "mean_symmetry", "texture_error"]
X_train, X_test, y_train, y_test = train_test_split(
    X[columns], y, test_size=0.5, stratify=y, random_state=0
)
tree = TreeRank(random_state=0).fit(X_train, y_train)
linear = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
tree_scores = tree.decision_function(X_test)
linear_scores = linear.decision_function(X_test)

# %%
# Intervals and a paired test
# ---------------------------
# Both models saw the same rows, so their AUCs are correlated: the interval of the difference
# knows that, the two single intervals do not.
print(auc_interval(y_test, tree_scores))
print(auc_interval(y_test, linear_scores))
print(auc_compare(y_test, linear_scores, tree_scores))

# %%
# The curve, its hull and a band
# ------------------------------
# The hull is the curve after the best monotone change of the scores. The band holds the true
# curve at each false positive rate with 95 % confidence (left), or the whole of it (right).
curve = RocCurve.from_scores(y_test, linear_scores)
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, method in zip(axes, ("pointwise", "simultaneous"), strict=True):
    band = roc_band(y_test, linear_scores, method=method, random_state=0)
    curve.plot(ax=ax, name="linear", plot_hull=True, band=band)
    ax.set_title(method)
