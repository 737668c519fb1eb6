"""
A ranker to read in one table
=============================

RIMARC has no parameter to tune. Its model is a table, its score a mean of shares that can be
checked by hand, and what a row misses it leaves out.
"""

# %%
# How well does it rank?
# ----------------------
# 569 breast tumours, 30 measurements each, the malignant ones to be ranked first. Five folds, none
# of whose tumours the model has seen, next to three models of scikit-learn.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from aucrank import RIMARC
from aucrank.datasets import load_breast_cancer
from aucrank.metrics import cross_validated_auc
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
models = {
    "RIMARC": RIMARC(),
    "naive Bayes": GaussianNB(),
    "decision tree": DecisionTreeClassifier(min_samples_leaf=10, random_state=0),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
}
folds = StratifiedKFold(5, shuffle=True, random_state=0)
fold = np.zeros(len(y), dtype=int)
for number, (_, test) in enumerate(folds.split(X, y)):
    fold[test] = number
for name, model in models.items():
    score = cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 1]
    found = cross_validated_auc(y, score, fold)
    print(f"{name:20} {found.auc:.3f}, 95 % interval from {found.low:.3f} to {found.high:.3f}")

# %%
# The model in words
# ------------------
# Three quarters of the tumours are learned from. Each measurement is cut into the bins of its
# largest AUC; a bin scores its share of malignant tumours, and a measurement weighs twice what its
# AUC is above one half. Here are the three heaviest.
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = RIMARC().fit(X_train, y_train)
print(model.rules(n_features=3))

# %%
# One score, by hand
# ------------------
# ``scorecard`` is the same as a table. The score of a tumour, *r*, is the mean of the scores of its
# values by these weights. Take the tumour of the test rows that is nearest to one half. If no more
# were known of it than its worst perimeter, r would be the score of the bin above; and likewise
# with its worst texture, whose bins are these:
r = model.predict_proba(X_test)[:, 1]
place = int(np.abs(r - 0.5).argmin())
tumour = X_test.iloc[place]
card = model.scorecard().to_frame()
card[card["feature"] == "worst_texture"].round(3)

# %%
# With both, and nothing else, it is the mean of two numbers.
names = ["worst_perimeter", "worst_texture"]
weights = pd.Series(model.weights_, X.columns)[names]
known = {"worst_perimeter": names[:1], "worst_texture": names[1:], "both": names}
rows = pd.DataFrame({key: tumour.where(tumour.index.isin(those)) for key, those in known.items()}).T
alone = model.predict_proba(rows)[:, 1]
for name, score in zip(names, alone, strict=False):
    print(f"{name} = {tumour[name]}: score {score:.4f}, weight {weights[name]:.4f}")
print(f"their mean by weight {np.average(alone[:2], weights=weights):.4f}, r {alone[2]:.4f}")
print(f"r of all thirty measurements {r[place]:.4f}, malignant: {bool(y_test.iloc[place])}")

# %%
# Why does this tumour rank where it does?
# ----------------------------------------
# ``explain`` shows how far each measurement moves the score from where it is when nothing is known:
# the share of malignant tumours among all training rows.
parts = model.explain(X_test)[place]
order = np.argsort(-np.abs(parts), kind="stable")[:10]
rest = parts.sum() - parts[order].sum()
labels = [f"{X.columns[k]} = {tumour.iloc[k]:.4g}" for k in order] + ["20 others"]
steps = np.append(parts[order], rest)
ends = model.prevalence_ + np.cumsum(steps)

figure, ax = plt.subplots(figsize=(7.6, 4.2), layout="constrained")
colours = np.where(steps > 0, "C3", "C0")
ax.barh(labels, steps, left=ends - steps, color=colours)
ax.axvline(model.prevalence_, color="0.4", linestyle=":", label="nothing known")
ax.axvline(ends[-1], color="0.4", linestyle="--", label=f"r = {ends[-1]:.3f}")
ax.set(xlabel="r, from what is known of the tumour", xlim=(model.prevalence_ - 0.01, None))
ax.invert_yaxis()
legend = ax.legend()

# %%
# The model as a picture
# ----------------------
# What each value adds to the score of a tumour of which all is known. All panels have one scale, so
# that a high step is a measurement that matters. No panel is much higher than the next: a mean of
# thirty measurements listens to each of them a little.
display = model.plot_terms()

# %%
# When values are missing
# -----------------------
# A measurement that is missing has no say, and the others share its weight. Of the test rows more
# and more values are deleted at random; both models have been trained on complete rows. The mean of
# thirty measurements, many of which say nearly the same, needs few of them. The regression, which
# ranks complete rows better, sets one measurement against another and fails when it gets a median
# in place of one of them.
rng = np.random.default_rng(0)
imputed = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), LogisticRegression())
rivals = {"RIMARC": model, "logistic regression, medians": imputed.fit(X_train, y_train)}
deleted = np.arange(0, 0.95, 0.1)
found = []
for share in deleted:
    for _ in range(20):
        holes = X_test.mask(rng.random(X_test.shape) < share)
        found.append((share, *(one.score(holes, y_test) for one in rivals.values())))

figure, ax = plt.subplots(figsize=(6.8, 3.8), layout="constrained")
mean_auc = pd.DataFrame(found, columns=["deleted", *rivals]).groupby("deleted").mean()
for name, style in zip(rivals, ("-o", "--s"), strict=True):
    ax.plot(100 * mean_auc.index, mean_auc[name], style, label=name)
ax.set(xlabel="values deleted, %", ylabel="AUC of the test rows", ylim=(0.7, 1.0))
legend = ax.legend(loc="lower left")
