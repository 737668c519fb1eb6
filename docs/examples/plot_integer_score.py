"""
A score to add up in the head
=============================

A card of thirty measurements in sixteen bins each is for a computer. At a bedside, or on a form,
a few questions with points from 0 to 10 have to do. Here is such a score, from how many
questions it needs to the changes that an expert makes by hand.
"""

# %%
# The card
# --------
# Tumours of the breast, malignant or not, by measurements of their cells.
from aucrank import IntegerScore, Scorecard
from aucrank.datasets import load_breast_cancer
from aucrank.metrics import auc_interval
from sklearn.model_selection import train_test_split

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
card = Scorecard().fit(X, y)
print(f"AUC of new tumours {card.score(X_test, y_test):.3f}")

# %%
# How many measurements?
# ----------------------
# In each of five folds, scores of one feature, of two and so on are searched on the other four:
# what is seen is the AUC of rows held out. The dotted line is at the fewest features within a
# standard error of the best.
path = IntegerScore().parsimony(X, y, max_features=8)
path.plot()

# %%
# The score
# ---------
# Features, cuts at round numbers and points are searched together, for the largest AUC.
score = card.to_integer_score(X, y, max_features=4)
score.plot()

# %%
# The card and the score on tumours that neither has seen:
for name, model in (("card", card), ("score", score)):
    found = auc_interval(y_test, model.decision_function(X_test))
    print(f"{name:6} AUC {found.auc:.3f}, from {found.low:.3f} to {found.high:.3f}")

# %%
# By hand
# -------
# An expert wants other cuts of one measurement. The points of its bins are set anew, given those
# of the others, which stay; and the score says who changed what, wherever it goes.
name = str(score.card()["feature"][0])
low, high = X[name].quantile([0.33, 0.67]).round(2)
edited = score.with_cuts(name, [low, high], X, y, date="2026-02-01")
for edit in edited.edits_:
    print(edit)
edited.to_frame()[["feature", "rule", "rate", "woe", "points"]]

# %%
# The points by value:
edited.plot_terms()
