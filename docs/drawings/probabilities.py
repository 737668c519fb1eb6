"""Probabilities of a booster from its training rows, and with calibration on others."""

import matplotlib.pyplot as plt
import numpy as np
from aucrank import RankBoost
from aucrank.metrics import calibration_curve
from sklearn.linear_model import LogisticRegression


def draw(n, seed):
    """Draw rows of ten columns that each know a little of the class."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    return rng.normal(0.4 * y[:, None], size=(n, 10)), y


X, y = draw(600, 0)
X_new, y_new = draw(20_000, 1)
ranker = RankBoost().fit(X, y)
line = LogisticRegression(C=1e6).fit(ranker.decision_function(X)[:, None], y)
on_training = line.predict_proba(ranker.decision_function(X_new)[:, None])[:, 1]
calibrated = RankBoost(calibration="auto").fit(X, y).predict_proba(X_new)[:, 1]

figure, axes = plt.subplots(1, 2, figsize=(7.6, 4.4), layout="constrained")
for ax, probability, title in (
    (axes[0], on_training, "Platt's line on the training rows"),
    (axes[1], calibrated, 'calibration="auto"'),
):
    calibration_curve(y_new, probability).plot(ax=ax)
    ax.set_title(title, fontsize=10)
    ax.legend(loc="upper left", fontsize=7)
