"""AUC and time of every ranker, from the table of the page."""

import matplotlib.pyplot as plt
from page_tables import first_number, rows_of_table

READABLE = ("additive", "LinearRanker", "Scorecard", "AURORA", "RankBoost", "AUCBoost", "RIMARC")
READABLE += ("RankOpt", "TreeRank", "logistic")
# Labels that would lie on a neighbour's, and where they stand instead: left, or below.
LEFT = ("RankingEnsemble(presets", "GradientBoostingRanker()", "Scorecard", "MartiRank")
LEFT += ("RIMARC",)
BELOW = ("RankOpt",)

figure, ax = plt.subplots(figsize=(8.5, 5.2), layout="constrained")
for name, _, auc, _, _, _, _, seconds, _ in rows_of_table("which_ranker.md", "Measured"):
    x, y = first_number(seconds), first_number(auc)
    readable = any(part in name for part in READABLE)
    ax.plot(x, y, "o", color="C0" if readable else "C1")
    side, height = (-7, 0), "right"
    if not name.startswith(LEFT):
        side, height = (7, 0), "left"
    if name.startswith(BELOW):
        side = (side[0], -7)
    label = name.removesuffix("()").replace("GradientBoostingRanker.", ".").replace("presets=", "")
    ax.annotate(label, (x, y), side, textcoords="offset points", ha=height, va="center", fontsize=9)
ax.plot([], [], "o", color="C0", label="can be read or added up by feature")
ax.plot([], [], "o", color="C1", label="cannot")
ax.set(
    xscale="log",
    xlim=(0.008, 20),
    xlabel="processor seconds of one fit",
    ylabel="mean AUC of 28 data sets",
)
ax.grid(alpha=0.3)
ax.legend(loc="lower right")
