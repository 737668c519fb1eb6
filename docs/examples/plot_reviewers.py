"""
What reviewers ask of a prediction model
========================================

Journals ask for four things: how well a model ranks, whether its probabilities are right, whether
decisions by them do good, and how the probabilities are spread. Here they are of two models, on
patients that neither has seen.
"""

# %%
# Two models and their patients
# -----------------------------
# Each patient has four visits, which look alike: they must not be torn apart, neither by the split
# nor by the folds of a fit.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from aucrank import GradientBoostingRanker
from aucrank.metrics import (
    auc_by,
    auc_compare,
    auc_interval,
    calibration_curve,
    decision_curve,
)
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

rng = np.random.default_rng(0)
patient = np.repeat(np.arange(1500), 4)
of_patient = rng.normal(size=(1500, 2))[patient]
X = pd.DataFrame(of_patient + 0.3 * rng.normal(size=(6000, 2)), columns=["marker", "pressure"])
X["site"] = np.array(["north", "south"])[patient % 2]
log_odds = -1.5 + X["marker"] * (X["site"] == "north") * 1.5 + X["pressure"] ** 2 - 1
y = (rng.random(6000) < expit(log_odds)).astype(int)

train = patient < 900
features = ["marker", "pressure"]
booster = GradientBoostingRanker(calibration="auto", random_state=0)
booster.fit(X[features][train], y[train], groups=patient[train])
logistic = LogisticRegression().fit(X[features][train], y[train])

y_new, patient_new, X_new = y[~train], patient[~train], X[~train]
risk = {
    "booster": booster.predict_proba(X_new[features])[:, 1],
    "logistic regression": logistic.predict_proba(X_new[features])[:, 1],
}

# %%
# Does it rank?
# -------------
# Four visits of a patient are no four patients. With ``groups`` the interval is as wide as it must
# be:
for name, p in risk.items():
    apart, together = (auc_interval(y_new, p, groups=groups) for groups in (None, patient_new))
    print(
        f"{name:20} AUC {together.auc:.3f}, {together.low:.3f} to {together.high:.3f}"
        f" (of single visits {apart.low:.3f} to {apart.high:.3f})"
    )
test = auc_compare(y_new, *risk.values(), groups=patient_new)
print(f"difference {test.difference:.3f}, {test.low:.3f} to {test.high:.3f}")

# %%
# Are its probabilities right?
# ----------------------------
# A slope below 1 would mean that they are too extreme, an intercept below 0 that they are too high.
# The bars below the curves are the spread of the probabilities by outcome, from the 5 % to the 95 %
# quantile.
found = {name: calibration_curve(y_new, p, groups=patient_new) for name, p in risk.items()}
found["booster"].measures.to_frame().round(3)

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 5.2), layout="constrained")
for ax, (name, curve) in zip(axes, found.items(), strict=True):
    curve.plot(ax, name=name)

# %%
# Do decisions by it do good?
# ---------------------------
# To treat from a risk of 20 % on is to say that finding a case is worth four needless treatments.
# At each such threshold the net benefit counts both.
decisions = decision_curve(y_new, risk, groups=patient_new)
shown = decisions.plot()
shown.ax_.set_xlim(0, 0.8)

# %%
# The difference is that of a paired sample:
table = decisions.differences.to_frame()
table[(table["model"] == "booster") & table["threshold"].isin([0.1, 0.2, 0.4])].round(4)

# %%
# Is it as good everywhere?
# -------------------------
# The marker is uninformative in the south, and neither model is given where a patient is from.
by_site = auc_by(y_new, risk["booster"], X_new["site"], y_prob=risk["booster"], groups=patient_new)
print(f"equal AUCs: p = {by_site.p_value:.2g}")
by_site.table.to_frame().round(3)

# sphinx_gallery_thumbnail_number = 1
