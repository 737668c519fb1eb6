"""
Terms that climb together
=========================

AURORA asks questions with two answers, such as ``worst_area >= 725.9``, and adds up a number for
each that is answered "yes". A search finds the questions one by one, and after each all numbers
move again, uphill on a statistic that is nearly the AUC. What comes out can be read from top to
bottom.
"""

# %%
# A score of fifteen terms
# ------------------------
# 569 breast tumours, 30 measurements each, the malignant ones to be ranked first. Three quarters of
# them are learned from. With ``order=1`` a term asks one measurement; the short radius suits so few
# rows, as a :doc:`slope for the AUC <plot_ramp>` shows, and makes it needless to hold rows out.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from aucrank import AURORA, RankBoost, Scorecard
from aucrank.datasets import load_breast_cancer, make_xor
from aucrank.inspection import LevelSetDisplay
from aucrank.metrics import auc_interval
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = AURORA(order=1, max_features=15, radius=0.5, selection=None).fit(X_train, y_train)
model.terms().to_frame()

# %%
# In words, the largest coefficients first:
print(model.rules())

# %%
# The coefficients are much alike, as they are at short radii: the score is not far from counting
# how many answers are "yes". How fifteen answers rank new tumours, compared with a logistic
# regression of thirty measurements:
logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
for name, fitted in {"AURORA": model, "logistic regression": logistic}.items():
    found = auc_interval(y_test, fitted.decision_function(X_test))
    print(f"{name:20} {found.auc:.3f}, 95 % interval from {found.low:.3f} to {found.high:.3f}")

# %%
# Why does this tumour rank where it does?
# ----------------------------------------
# ``explain`` has one column for each term: its coefficient where the term is on. They add up to the
# score and ``threshold_``, to the last bit. The tumour of the test rows that is nearest to being
# called benign, of those that are called malignant:
scores = model.decision_function(X_test)
place = np.flatnonzero(scores > 0)[np.argmin(scores[scores > 0])]
parts = model.explain(X_test)[place]
of_terms = pd.Series(parts, index=model.terms()["rule"])
print(of_terms[of_terms != 0].sort_values(ascending=False).round(4).to_string())
print(f"sum {parts.sum():.4f} - threshold {model.threshold_:.4f} = score {scores[place]:.4f}")

# %%
# A scorecard
# -----------
# Terms of one measurement add up to a step function of it, and a sum of step functions is what a
# scorecard is made of: whole points, twenty of which double the odds.
few = AURORA(order=1, max_features=6, radius=0.5, selection=None)
card = Scorecard(estimator=few).fit(X_train, y_train)
print(card.to_text())
print(f"\ntest AUC of the points: {card.score(X_test, y_test):.3f}")

# %%
# How many terms?
# ---------------
# By default a quarter of the rows is held out. The search goes on to 200 terms; kept are as many as
# rank the rows held out best, by an AUC that is smoothed over 15 terms. All coefficients then climb
# once more, on all rows. With rows enough, as in these simulated ones with ten features and wrong
# labels, there is a point from which on more terms only fit the noise.
train = make_xor(1500, n_features=10, noise_rate=0.2, random_state=0)
test = make_xor(10_000, n_features=10, noise_rate=0.2, random_state=1)
pairs = AURORA(max_features=60, radius=1.0, random_state=0).fit(train.X, train.y)
display = pairs.plot_path()

# %%
# What acts together
# ------------------
# In those rows a class depends on two features together, on neither alone: just one of ``x0`` and
# ``x1`` is at least one half. A sum of single features cannot rank them, whatever it is fitted by.
# AURORA looks at pairs where no single feature adds enough, joined by "and" or by "or".
singles = AURORA(order=1, max_features=60, radius=1.0, random_state=0).fit(train.X, train.y)
boosted = RankBoost().fit(train.X, train.y)
print(f"AURORA, order 2  {pairs.score(test.X, test.y):.3f} with {pairs.n_terms_} terms")
print(f"AURORA, order 1  {singles.score(test.X, test.y):.3f}")
print(f"RankBoost        {boosted.score(test.X, test.y):.3f}")
print(f"best possible    {test.auc_star:.3f}")
print(pairs.rules(8))

# %%
# The same with two features, to be seen: what the score of so many terms looks like.
plane = make_xor(1500, noise_rate=0.2, random_state=0)
figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.6), layout="constrained", sharey=True)
for ax, n_terms in zip(panels, (4, 8, 12), strict=True):
    early = AURORA(max_features=n_terms, radius=1.0, selection=None).fit(plane.X, plane.y)
    LevelSetDisplay.from_estimator(early, plane.X, name=f"{n_terms} terms", ax=ax, colorbar=False)
    ax.label_outer()
