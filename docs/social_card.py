"""Draw the picture that a link to the site is shown with: the claim, and strata on their curve.

python docs/social_card.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
from aucrank import TreeRank
from aucrank.datasets import make_gaussian_pair
from aucrank.metrics import RocCurve
from PIL import Image

PICTURE = Path(__file__).parent / "_static" / "social_card.png"
INK, PAPER = "#e6e6e6", "#14181e"
# Those of the picture on the first page (`examples/plot_strata.py`).
LAW = {
    "negative_mean": (0.5, 0.5),
    "negative_cov": ((1.0, 0.0), (0.0, 1.0)),
    "positive_mean": (0.4, 0.6),
    "positive_cov": ((0.07, 0.0), (0.0, 0.04)),
}


def draw_strata(plane, curve):
    """Draw the strata of a ranking tree in the plane, and the curve in their colours."""
    sample = make_gaussian_pair(4000, random_state=0, **LAW)
    fitted = TreeRank(min_samples_leaf=40, random_state=0).fit(sample.X, sample.y)
    tree = fitted.tree_.best_subtree(16)
    colours = plt.get_cmap("plasma")(np.linspace(0.95, 0.17, tree.n_leaves))
    place = np.argsort(np.argsort(-tree.strata["score"]))
    rank = dict(zip(tree.strata["node"], place, strict=True))
    axis = (np.arange(300) + 0.5) / 300
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    image = np.array([rank[leaf] for leaf in tree.apply(grid)]).reshape(300, 300)
    plane.imshow(colours[image], origin="lower", extent=(0, 1, 0, 1))
    fresh = make_gaussian_pair(20_000, random_state=1, **LAW)
    roc = RocCurve.from_scores(fresh.y, [-rank[leaf] for leaf in tree.apply(fresh.X)])
    for piece, colour in enumerate(colours):
        ends = slice(piece, piece + 2)
        curve.plot(roc.fpr[ends], roc.tpr[ends], color=colour, linewidth=9, solid_capstyle="round")
    curve.plot([0, 1], [0, 1], color=INK, linewidth=1, alpha=0.4)
    curve.set(aspect="equal", facecolor="none", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    for panel in (plane, curve):
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set(color=INK, alpha=0.4)


def main():
    """Draw the card, 1,200 by 630 pixels as sites that show links want it."""
    figure = plt.figure(figsize=(12, 6.3), facecolor=PAPER)
    figure.text(0.05, 0.74, "aucrank", color=INK, fontsize=72, weight="bold")
    figure.text(0.05, 0.60, "Models that rank,", color=INK, fontsize=34)
    figure.text(0.05, 0.50, "and that a person can read.", color=INK, fontsize=34)
    small = {"color": INK, "fontsize": 24, "alpha": 0.75}
    figure.text(0.05, 0.27, "Maximises the AUC", **small)
    figure.text(0.05, 0.19, "Python, scikit-learn's API, a core in Rust", **small)
    side = 0.2
    tall = side * 12 / 6.3
    plane = figure.add_axes((0.72, 0.53, side, tall))
    curve = figure.add_axes((0.72, 0.09, side, tall))
    draw_strata(plane, curve)
    figure.savefig(PICTURE, dpi=100, metadata={"Software": None})
    # The picture has few colours, and a table of them takes a third of the bytes.
    Image.open(PICTURE).convert("RGB").quantize(128).save(PICTURE, optimize=True)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
