"""
What a ranking depends on
=========================

Which features decide where a row is ranked, and how? The table of importances says the first,
partial dependence the second.
"""

# %%
# A model
# -------
# Simulated loans, those that default to be ranked first. Debt hurts people of low income most, and
# the age of the borrower matters at its two ends.
import numpy as np
import pandas as pd
from aucrank import TreeRank
from aucrank.tree import LeafRank

rng = np.random.default_rng(0)
n = 6000
X = pd.DataFrame(
    {
        "income": rng.lognormal(3.5, 0.5, n),
        "debt_ratio": rng.beta(2, 4, n),
        "age": rng.uniform(20, 75, n),
        "home": pd.Categorical(rng.choice(["own", "mortgage", "rent"], n, p=[0.3, 0.4, 0.3])),
        "years_in_job": rng.exponential(6, n),
    }
)
risk = (
    9 * X["debt_ratio"] * (X["income"] < 35)
    + (X["age"] - 45).abs() / 15
    + 1.2 * (X["home"] == "rent")
    - 0.01 * X["income"]
)
y = rng.random(n) < 1 / (1 + np.exp(4 - risk))
model = TreeRank(split=LeafRank(max_depth=2), min_samples_leaf=20, random_state=0).fit(X, y)
model.tree_

# %%
# Which features
# --------------
# The gain of a split is what it adds to the AUC. A feature is as important as the root of the sum
# of the squared gains of its splits.
model.tree_.importances.to_frame()

# %%
# One feature at a time
# ---------------------
# Every loan is given the same value of one feature, the others stay as they are, and its rank is
# averaged: 1 is the first leaf, 1/K the last of K. The strokes at the foot are the deciles of the
# feature.
display = model.plot_partial_dependence(X, ["debt_ratio", "age", "home"])
display.figure_.set_size_inches(10, 3.5)
display.axes_[0, 0].set_ylabel("mean rank")
display.figure_.tight_layout()

# %%
# Two features together
# ---------------------
# Below an income of 35 debt decides, above it nothing does: neither curve alone would show that the
# two features act together.
display = model.plot_partial_dependence(X, [("income", "debt_ratio")], grid_resolution=40)
display.figure_.set_size_inches(6, 4.5)

# %%
# The numbers
# -----------
# ``partial_dependence`` gives them in the form of scikit-learn, for a grid of your own if you like.
# The rank has no unit; the share of positives in the leaf has.
found = model.partial_dependence(
    X, ["income", "home"], kind="eta", custom_values={"income": [20.0, 60.0]}
)
pd.DataFrame(found.average[0], index=found.grid_values[0], columns=found.grid_values[1])
