"""
Ranking when labels are wrong
=============================

Labels come from people and processes, and some of them are wrong. A booster that gives weight to
the rows which it ranks badly ends up with most of it on rows whose label is wrong. ``MartiRank``
never reweights a row: it was made for this case. Does it keep its promise, and at what price?
"""

# %%
# Two laws
# --------
# The first is the one by which Long and Servedio showed that random noise, however little, defeats
# every booster of a convex loss ("Random classification noise defeats all convex potential
# boosters", Machine Learning 78, 2010). Its 21 features are 1 or -1, and their sum has the sign of
# the label, so that a sum of single features ranks without a mistake. A quarter of the rows are
# easy: all features agree with the label. A quarter are pullers: the first eleven agree, the others
# do not. In one half, penalizers, five of the first eleven and six of the last ten agree.
#
# The second law is an ordinary one: ten Gaussian features, the sum of five of which, with a little
# noise of its own, decides.
import matplotlib.pyplot as plt
import numpy as np
from aucrank import AUCBoost, MartiRank, RankBoost, SMartiRank
from aucrank.datasets import make_noisy_labels
from aucrank.metrics import roc_auc_score
from sklearn.ensemble import HistGradientBoostingClassifier


def draw_pullers(n_rows, rng):
    y = rng.integers(0, 2, n_rows)
    agrees = np.ones((n_rows, 21), dtype=bool)
    kind = rng.choice(["easy", "puller", "penalizer"], n_rows, p=[0.25, 0.25, 0.5])
    agrees[kind == "puller", 11:] = False
    penalizers = np.flatnonzero(kind == "penalizer")
    for columns, n_agreeing in ((np.arange(11), 5), (np.arange(11, 21), 6)):
        shuffled = rng.permuted(np.tile(columns, (len(penalizers), 1)), axis=1)
        agrees[penalizers[:, np.newaxis], shuffled[:, n_agreeing:]] = False
    return np.where(agrees == (y == 1)[:, np.newaxis], 1.0, -1.0), y


def draw_sums(n_rows, rng):
    X = rng.normal(size=(n_rows, 10))
    return X, (X[:, :5].sum(axis=1) + rng.normal(scale=0.5, size=n_rows) > 0).astype(int)


laws = {"pullers and penalizers": draw_pullers, "a sum of features": draw_sums}

# %%
# Five methods
# ------------
# Each label of 2,000 rows is flipped with the same chance; the AUC is that of the true labels of
# 10,000 fresh rows. ``SMartiRank`` is told the rate, as its theory wants it; the others know
# nothing of it. The gradient boosting is scikit-learn's, of trees with up to 31 leaves, which are
# not confined to sums of single features.
methods = {
    "MartiRank": lambda rate: MartiRank(n_rounds=30),
    "SMartiRank, told the rate": lambda rate: SMartiRank(n_rounds=30, noise_rate=rate),
    "AUCBoost": lambda rate: AUCBoost(),
    "RankBoost": lambda rate: RankBoost(),
    "gradient boosting": lambda rate: HistGradientBoostingClassifier(max_iter=50, random_state=0),
}
rates, seeds = [0.0, 0.1, 0.2, 0.3, 0.4], range(3)
aucs = {}
for law, draw in laws.items():
    for seed in seeds:
        rng = np.random.default_rng(seed)
        (X, y), (test, true_y) = draw(2000, rng), draw(10_000, rng)
        for rate in rates:
            noisy = make_noisy_labels(y, rate, random_state=seed)
            for name, method in methods.items():
                scores = method(rate).fit(X, noisy).decision_function(test)
                aucs[law, name, rate, seed] = roc_auc_score(true_y, scores)

# %%
# The AUC of the true labels
# --------------------------
# Lines are means over three samples, bars reach from the lowest to the highest.
figure, panels = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained", sharey=True)
for ax, law in zip(panels, laws, strict=True):
    for place, name in enumerate(methods):
        found = np.array([[aucs[law, name, rate, seed] for seed in seeds] for rate in rates])
        mean = found.mean(axis=1)
        spread = np.abs(np.array([found.min(axis=1), found.max(axis=1)]) - mean)
        ax.errorbar(
            np.array(rates) + 0.004 * (place - 2),
            mean,
            yerr=spread,
            marker="o",
            markersize=4,
            capsize=2,
            linewidth=2.2 if "Marti" in name else 1.2,
            label=name,
        )
    ax.set(title=law, xlabel="share of labels flipped", xticks=rates)
    ax.grid(alpha=0.3)
panels[0].set_ylabel("AUC of the true labels")
legend = panels[0].legend(loc="lower left")

# %%
# On the left one label in ten is enough: the boosters that add up single features fall from the
# front to the rear, and further noise hardly matters any more. ``MartiRank`` has no other features
# to go by than they have; it starts lower, but stays well above them up to three in ten. Trees of
# many leaves get by without such help: the law is hard for sums, not for trees.
#
# On the right nobody is defeated. RankBoost and gradient boosting lead on clean labels, and lose
# that lead to noise; few rounds of AUCBoost lose least. ``MartiRank`` keeps its level up to three
# in ten and then drops: where the labels tell next to nothing, 465 nodes find much to learn that is
# not there, and fewer rounds, or ``SMartiRank``, are the better choice. The theory promises some
# advantage at every node and a ranking as good as one likes after rounds enough, given rows enough.
# It does not promise to be ahead with 2,000.
for law in laws:
    print(law)
    for name in methods:
        means = [np.mean([aucs[law, name, rate, seed] for seed in seeds]) for rate in rates]
        print(f"  {name:26}" + "  ".join(f"{mean:.3f}" for mean in means))

# %%
# Why the route of a row knows nothing of its label
# -------------------------------------------------
# The program of four rounds, learned with one label in five flipped. At each node the rows that had
# as many votes meet, and part again by a rule on their features, or a coin. So the labels at a node
# are as noisy as all are, no more, and the feature that ranks best by noisy labels is the one that
# ranks best by true ones.
rng = np.random.default_rng(0)
X, y = draw_sums(2000, rng)
program = MartiRank(n_rounds=4).fit(X, make_noisy_labels(y, 0.2, random_state=0)).program_
display = program.plot()
