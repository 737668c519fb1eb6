"""
A slope for the AUC
===================

The AUC is a flight of steps: move a score a little and it stays where it is, until two rows change
places. Nothing shows which way is up. The ramp statistic counts a pair by how far apart its scores
lie, and so has a slope to climb. How long the ramp is against the scores decides what is climbed.
"""

# %%
# The step and the ramp
# ---------------------
# A pair of a positive and a negative row counts 1 in the AUC if the positive one scores more, one
# half if they tie, and else 0. On the ramp [1]_ it counts by the difference of its scores: up to
# one half either way in proportion, beyond that with a thousandth of the slope, so that no pair is
# ever lost from sight.
import matplotlib.pyplot as plt
import numpy as np
from aucrank import ThresholdBinarizer
from aucrank.datasets import load_breast_cancer
from aucrank.metrics import ramp_auc, roc_auc_score


def ramp(x, half_width=0.5, side_slope=1e-3):
    """Count a pair whose scores differ by x."""
    clipped = np.clip(x, -half_width, half_width)
    return 0.5 + ((1 - side_slope) * clipped + side_slope * x) / (2 * half_width)


difference = np.linspace(-1.5, 1.5, 601)
figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
ax.plot(difference, np.heaviside(difference, 0.5), color="0.4", label="step: AUC")
ax.plot(difference, ramp(difference), color="C0", label="ramp")
ax.set(xlabel="score of the positive row - score of the negative row", ylabel="the pair counts")
legend = ax.legend(loc="upper left")

# %%
# The mean over all pairs is what `ramp_auc` gives, without looking at any pair: one sort of the
# scores is enough. Here it is next to the definition, for 200 rows.
rng = np.random.default_rng(0)
y = np.arange(200) < 80
score = rng.normal(loc=0.5 * y, scale=0.5)
pairs = score[y][:, np.newaxis] - score[~y]
print(f"definition {ramp(pairs).mean():.6f}, ramp_auc {ramp_auc(y, score):.6f}")
print(f"AUC        {np.heaviside(pairs, 0.5).mean():.6f}")

# %%
# The radius
# ----------
# Multiply all scores by two: their order stays, and so does the AUC. The ramp statistic does not,
# for fewer pairs lie on the ramp now. So the length of the weights of a linear score, the *radius*,
# has to be settled, and the weights may turn but not grow: they move on a sphere. What they do to
# the statistic is what multiplying the scores does:
for radius in (0.1, 1, 3, 10):
    on_ramp = np.mean(np.abs(radius * pairs) <= 0.5)
    value = ramp_auc(y, radius * score)
    print(f"times {radius:3}: {on_ramp:4.0%} of the pairs on the ramp, statistic {value:.4f}")

# %%
# At a small radius all pairs are on the ramp. The statistic is then one half and the difference of
# two means, that of the positive scores less that of the negative ones, which one distant row can
# turn round. At a larger radius the statistic comes near to the AUC. It may even pass it by, as it
# does here in the last line: pairs that lie far beyond the ramp add a little, each a thousandth of
# how far.
#
# Round the sphere
# ----------------
# Forty breast tumours, and five binary terms, such as ``mean_area >= 517.15``: the kind that AURORA
# adds up. Two scores, each with a weight for every term, span a great circle of the sphere, and all
# points of it are scores, too. Here is the statistic all the way round, at four radii, with the
# AUC in grey. These pictures have no slope beyond the ramp, so that the ground shows as it is.
X, target = load_breast_cancer(return_X_y=True, as_frame=True)
columns = ["mean_area", "mean_texture", "mean_smoothness", "mean_symmetry", "area_error"]
binarizer = ThresholdBinarizer(percentiles=[50])


def random_circle(n_angles):
    """Return angles, the scores at each of them, and the labels, of forty tumours."""
    rows = rng.choice(len(X), 40, replace=False)
    terms = binarizer.fit_transform(X[columns].iloc[rows])
    start, end = np.linalg.qr(rng.normal(size=(terms.shape[1], 2)))[0].T
    angles = np.linspace(-180, 180, n_angles, endpoint=False)
    turned = np.radians(angles)[:, np.newaxis]
    scores = (np.cos(turned) * start + np.sin(turned) * end) @ terms.T
    return angles, scores, target.to_numpy()[rows]


rng = np.random.default_rng(0)
angles, scores, malignant = random_circle(1440)
print(*binarizer.get_feature_names_out(), sep=", ")

auc = [roc_auc_score(malignant, score) for score in scores]
figure, panels = plt.subplots(
    2, 2, figsize=(8.4, 5.6), layout="constrained", sharex=True, sharey=True
)
for ax, radius in zip(panels.flat, (0.5, 2, 10, 100), strict=True):
    values = [ramp_auc(malignant, radius * score, side_slope=0) for score in scores]
    ax.plot(angles, auc, color="0.7", label="AUC")
    ax.plot(angles, values, color="C0", label="ramp statistic")
    ax.set(title=f"radius {radius}", xticks=range(-180, 181, 90))
for ax in panels[1]:
    ax.set_xlabel("angle, in degrees")
legend = panels[0, 0].legend()

# %%
# At radius 0.5 there is one smooth hill, whose top is where the means lie farthest apart. At radius
# 2 it has the shape of the AUC without its edges. At radius 10 steps come through, and at radius
# 100 there is little else: terraces, flat ground and then a wall.
#
# Going uphill
# ------------
# What does that cost? Ten such circles; on each of them an ascent starts at every degree, and goes
# on degree by degree as long as the statistic rises, by a millionth at least.


def ends_of_ascents(values):
    """Return where an ascent ends from each point of a closed path."""
    n, ends = len(values), []
    for here in range(n):
        side = 1 if values[(here + 1) % n] > values[here - 1] else -1
        while values[(here + side) % n] > values[here] + 1e-6:
            here = (here + side) % n
        ends.append(here)
    return ends


radii = (0.5, 1, 2, 5, 10, 100)
lost = {radius: [] for radius in radii}
for _ in range(10):
    _, scores, malignant = random_circle(360)
    auc = np.array([roc_auc_score(malignant, score) for score in scores])
    for radius in radii:
        values = [ramp_auc(malignant, radius * score) for score in scores]
        reached = auc[ends_of_ascents(values)].mean()
        lost[radius].append((auc.max() - auc[np.argmax(values)], auc.max() - reached))
print("AUC lost     at the top   by climbing")
for radius in radii:
    at_top, by_climbing = np.mean(lost[radius], axis=0)
    print(f"radius {radius:5}{at_top:11.3f}{by_climbing:14.3f}")

# %%
# At a small radius the top is not where the AUC is highest, and every ascent gets there. At a large
# one it is in the right place, and hardly any does. Between them the choice is a matter of the
# data: with more rows the steps are smaller, and a larger radius can be climbed. Where it is said
# ``radius="auto"``, AURORA tries up to five from 0.5 to 5, and keeps the shortest of those whose
# scores rank rows that were held out about equally well. `RankOpt` climbs where the hill is smooth
# first, and goes on from there at larger radii.
#
# .. [1] Herschtal, Raskutti and Campbell, "Area under ROC optimisation using a ramp approximation",
#    SIAM International Conference on Data Mining, 2006.
