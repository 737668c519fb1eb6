"""What a model to read costs: by kind, and by size, from the tables of two pages."""

import re

import matplotlib.pyplot as plt
from page_tables import first_number, rows_of_table

KINDS = {
    "GradientBoostingRanker()": "GradientBoostingRanker, cannot be read",
    'GradientBoostingRanker.additive(interactions="auto")': "functions of features and pairs",
    "LinearRanker()": "LinearRanker, weights of columns",
    "GradientBoostingRanker.additive()": "a function per feature",
    "Scorecard()": "Scorecard, whole points",
    "AURORA()": "AURORA, binary terms",
    "RIMARC()": "RIMARC, one table",
    "TreeRank()": "TreeRank, a tree of rules",
}
SIZES = {
    "AURORA(max_features=n)": "AURORA",
    "TreeRank(max_leaves=n)": "TreeRank",
    "scikit-learn's tree, leaves of 20 rows": "tree of scikit-learn",
}

figure = plt.figure(figsize=(7, 6.4), layout="constrained")
# Each has a left margin of its own, since the names of kinds are long.
by_kind, by_size = (part.subplots() for part in figure.subfigures(2, 1, height_ratios=[1.2, 1]))
lost = {row[0]: row[5] for row in rows_of_table("which_ranker.md", "Measured")}
for place, kind in enumerate(KINDS):
    points, error = map(float, re.findall(r"[\d.]+", lost[kind]))
    colour = "C1" if "cannot" in KINDS[kind] else "C0"
    by_kind.errorbar(points, place, xerr=error, fmt="o", color=colour, capsize=3)
by_kind.set_yticks(range(len(KINDS)), KINDS.values())
by_kind.invert_yaxis()
by_kind.set(title="By kind", xlim=(0, 7), xlabel="points of AUC lost to the ensemble, 28 data sets")
by_kind.grid(alpha=0.3)

sizes = [4, 8, 16, 30]
for model, *cells in rows_of_table("small_models.md", "Small models"):
    if model in SIZES:
        auc = [first_number(cell) for cell in cells[: len(sizes)]]
        by_size.plot(sizes, auc, "o-", label=SIZES[model])
by_size.set(
    title="By size", xlabel="leaves or terms", ylabel="100 x mean AUC, 25 sets", xticks=sizes
)
by_size.grid(alpha=0.3)
by_size.legend()
