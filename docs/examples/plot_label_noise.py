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
# The first was made to be hard. Long and Servedio proved that random noise, however little, defeats
# every booster that descends a convex loss over sums of weak classifiers, if only the law is chosen
# to that end ("Random classification noise defeats all convex potential boosters", Machine Learning
# 78, 2010), and this is one of their laws. Its 21 features are 1 or -1, and their sum has the sign
# of the label, so that a sum of single features ranks without a mistake. A quarter of the rows are
# easy: all features agree with the label. A quarter are pullers: the first eleven agree, the others
# do not. In one half, penalizers, five of the first eleven and six of the last ten agree.
#
# The second law is an ordinary one: ten Gaussian features, the sum of five of which, with a little
# noise of its own, decides.
import matplotlib.pyplot as plt
import numpy as np
from aucrank import AUCBoost, MartiRank, RankBoost, SMartiRank
from aucrank.datasets import make_gaussian_pair, make_noisy_labels
from aucrank.metrics import roc_auc_score
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits


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


laws = {"made to defeat boosters": draw_pullers, "a sum of features": draw_sums}

# %%
# Five methods
# ------------
# Each label of 2,000 rows is flipped with the same chance; the AUC is that of the true labels of
# 10,000 fresh rows. ``SMartiRank`` is given the rate, as its theory wants it; the others know
# nothing of it. The gradient boosting is scikit-learn's, of trees with up to 16 leaves, which are
# not confined to sums of single features. The two programs have 30 layers instead of the default
# 10, since both laws want many features counted; what 10 layers give stands further down.
methods = {
    "MartiRank": lambda rate: MartiRank(n_rounds=30),
    "SMartiRank, given the rate": lambda rate: SMartiRank(n_rounds=30, noise_rate=rate),
    "AUCBoost": lambda rate: AUCBoost(),
    "RankBoost": lambda rate: RankBoost(),
    "gradient boosting": lambda rate: HistGradientBoostingClassifier(
        max_iter=30, max_leaf_nodes=16, random_state=0
    ),
}
rates, seeds = [0.0, 0.1, 0.2, 0.3, 0.4], range(3)


def draw_samples(law, seed):
    rng = np.random.default_rng(seed)
    return *laws[law](2000, rng), *laws[law](10_000, rng)


samples = {(law, seed): draw_samples(law, seed) for law in laws for seed in seeds}


def auc_of(model, law, rate, seed):
    X, y, test, true_y = samples[law, seed]
    noisy = make_noisy_labels(y, rate, random_state=seed)
    return roc_auc_score(true_y, model.fit(X, noisy).decision_function(test))


# Threads cost such small fits more than they bring.
with threadpool_limits(1):
    aucs = {
        (law, name): np.array(
            [[auc_of(method(rate), law, rate, seed) for seed in seeds] for rate in rates]
        )
        for law in laws
        for name, method in methods.items()
    }

# %%
# The AUC of the true labels
# --------------------------
# Lines are means over three samples, bars reach from the lowest to the highest.
figure, panels = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained", sharey=True)
for ax, law in zip(panels, laws, strict=True):
    for place, name in enumerate(methods):
        found = aucs[law, name]
        mean = found.mean(axis=1)
        ax.errorbar(
            np.array(rates) + 0.004 * (place - 2),
            mean,
            yerr=[mean - found.min(axis=1), found.max(axis=1) - mean],
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
# The same as numbers:
for law in laws:
    print(f"{law:28}" + "".join(f"{rate:>7.0%}" for rate in rates))
    for name in methods:
        print(f"  {name:26}" + "".join(f"{mean:7.3f}" for mean in aucs[law, name].mean(axis=1)))


# %%
# On the left one label in ten is enough: the boosters that add up single features fall from the
# front to the rear, and further noise hardly matters any more. ``MartiRank`` has no other features
# to go by than they have; it starts lower than ``RankBoost``, but stays well above both up to three
# in ten. Trees of many leaves are better still: the law is hard for sums, not for trees.
#
# On the right nobody is defeated. ``RankBoost`` leads on clean labels and still does with one in
# five flipped; from three in ten on, the few rounds of ``AUCBoost`` lose least. ``MartiRank`` keeps
# its level up to three in ten, yet it leads nowhere, and then drops: where the labels tell next to
# nothing, 465 rankers find much to learn that is not there, and ``SMartiRank``, which ends ways
# that few rows take, is the better choice.
#
# So a program is a safeguard against laws that defeat sums, not the better ranker wherever labels
# are noisy, and we chose the first law, and the 30 layers, to show it.
#
# Layers and weak rankers
# -----------------------
# What matters as much, with one label in five flipped: the number of layers, and whether a sum can
# do what the law asks for. Trees as weak rankers undo most of the harm on the first law. On a third
# law, where the positives lie along a slanted ridge and neither feature is of much use without the
# other, a program is ahead of a sum of single features, with noise or without: it asks one feature
# after the other.
def draw_ridge(n_rows, rng):
    narrow = ((0.08, 0.05), (0.05, 0.08))
    law = {"negative_cov": np.eye(2), "positive_cov": narrow}
    sample = make_gaussian_pair(
        n_rows, negative_mean=(0, 0), positive_mean=(0, 0), random_state=rng.integers(1000), **law
    )
    return sample.X, sample.y


laws["a slanted ridge"] = draw_ridge
samples |= {("a slanted ridge", seed): draw_samples("a slanted ridge", seed) for seed in seeds}
models = {
    "MartiRank, 10 layers": MartiRank(n_rounds=10),
    "MartiRank, 30 layers": MartiRank(n_rounds=30),
    "RankBoost": RankBoost(),
    "RankBoost of 50 trees": RankBoost(n_rounds=50, weak_ranker="tree"),
}
for law in laws:
    print(law)
    for name, model in models.items():
        print(f"  {name:26}{np.mean([auc_of(model, law, 0.2, seed) for seed in seeds]):.3f}")

# %%
# Why the way of a row knows nothing of its label
# -----------------------------------------------
# The program of three layers, learned with one label in five flipped. At each node the rows meet
# that had as many votes, and part again by a rule on their features, or a coin. So the labels at a
# node are as noisy as all are, no more, and the feature that ranks best by noisy labels is the one
# that ranks best by true ones, given rows enough to tell.
rng = np.random.default_rng(0)
X, y = draw_sums(2000, rng)
program = MartiRank(n_rounds=3).fit(X, make_noisy_labels(y, 0.2, random_state=0)).program_
display = program.plot()
