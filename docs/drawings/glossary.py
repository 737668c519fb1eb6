"""A ROC curve, its hull and the parts that have names."""

import matplotlib.pyplot as plt
import numpy as np
from aucrank.metrics import RocCurve

rng = np.random.default_rng(3)
y = rng.random(120) < 0.4
score = (rng.normal(1.1 * y) * 2).round() / 2
curve = RocCurve.from_scores(y, score)

figure, ax = plt.subplots(figsize=(5.6, 5.4), layout="constrained")
curve.plot(ax=ax, plot_hull=True, plot_chance_level=True, name="score")
few = curve.fpr <= 0.2
edge = curve.tpr_at(0.2)
ax.fill_between(np.append(curve.fpr[few], 0.2), np.append(curve.tpr[few], edge), alpha=0.2)
ax.annotate(
    "partial area,\nFPR up to 0.2", (0.12, 0.2), (0.3, 0.16), arrowprops={"arrowstyle": "-"}
)
best = np.argmax(curve.tpr - curve.fpr)
x, top = curve.fpr[best], curve.tpr[best]
ax.plot(x, top, "o", color="C1")
ax.annotate(
    f"threshold {curve.thresholds[best]:g}",
    (x, top),
    (x + 0.12, top - 0.1),
    color="C1",
    arrowprops={"arrowstyle": "-", "color": "C1"},
)
ax.vlines(x, x, top, color="C1", linestyle=":")
ax.text(x + 0.01, (x + top) / 2, "KS", color="C1")
ax.legend(loc="lower right")
