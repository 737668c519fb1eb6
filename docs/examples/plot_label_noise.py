"""
Ranking when labels are wrong
=============================

Labels come from people and processes, and some of them are wrong. How much of a ranking survives?
Boosters that give weight to the rows which they rank badly give most of it to the rows whose label
is wrong. ``MartiRank`` never reweights a row, and was made for this case.
"""

# %%
# A law with flipped labels
# -------------------------
# Positive rows gather around a slanted ridge of the square, and eight more features tell nothing.
# We flip every label with the same chance, fit each method to the flipped labels, and measure the
# AUC on fresh rows with their true ones. The law is known, and so is the best AUC that any method
# could reach; since the noise is the same for all rows, it is the same at every rate below 1/2.
import matplotlib.pyplot as plt
import numpy as np
from aucrank import AUCBoost, MartiRank, RankBoost, SMartiRank
from aucrank.datasets import make_gaussian_pair, make_noisy_labels
from sklearn.ensemble import HistGradientBoostingClassifier

law = {
    "negative_mean": (0.5, 0.5),
    "negative_cov": ((1.0, 0.0), (0.0, 1.0)),
    "positive_mean": (0.5, 0.5),
    "positive_cov": ((0.08, 0.05), (0.05, 0.08)),
}


def draw(n_samples, seed):
    rows = make_gaussian_pair(n_samples, random_state=seed, **law)
    others = np.random.default_rng(seed).random((n_samples, 8))
    return np.column_stack([rows.X, others]), rows


fresh_X, fresh = draw(20_000, 100)
print(f"best AUC: {fresh.auc_star:.3f}")

# %%
# Five methods
# ------------
# All with the parameters that they come with. ``SMartiRank`` is told the noise rate, which one
# would have to know; the others know nothing of it.
methods = {
    "MartiRank": lambda rate: MartiRank(),
    "SMartiRank, told the rate": lambda rate: SMartiRank(noise_rate=rate),
    "AUCBoost": lambda rate: AUCBoost(),
    "RankBoost": lambda rate: RankBoost(),
    "gradient boosting": lambda rate: HistGradientBoostingClassifier(random_state=0),
}
rates = [0.0, 0.1, 0.2, 0.3, 0.4]
seeds = range(5)
aucs = {name: np.empty((len(rates), len(seeds))) for name in methods}
for column, seed in enumerate(seeds):
    X, rows = draw(2000, seed)
    for row, rate in enumerate(rates):
        noisy = make_noisy_labels(rows.y, rate, random_state=seed)
        for name, method in methods.items():
            model = method(rate).fit(X, noisy)
            scores = model.decision_function(fresh_X)
            from aucrank.metrics import roc_auc_score
            aucs[name][row, column] = roc_auc_score(fresh.y, scores)
for name, found in aucs.items():
    print(f"{name:26}" + "  ".join(f"{mean:.3f}" for mean in found.mean(axis=1)))
