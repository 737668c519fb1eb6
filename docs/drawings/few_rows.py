"""Mean AUC of models of few rows, from the table of a page."""

import matplotlib.pyplot as plt
from page_tables import first_number, rows_of_table

MARKS = {"RankingEnsemble()": "o", "GradientBoostingRanker()": "s", "CatBoost": "^"}
MARKS |= {"random forest of 500 trees": "v"}
ROWS = ["1,000 rows,\n20 positive", "300 rows", "100 rows"]

figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for model, *cells in rows_of_table("which_ranker.md", "Few rows"):
    if model in MARKS:
        auc = [first_number(cell) for cell in cells]
        ax.plot(ROWS, auc, MARKS[model], markersize=8, label=model.removesuffix("()"))
ax.set(ylabel="mean AUC of ten sets", xlim=(-0.5, 2.5))
ax.grid(alpha=0.3)
ax.legend(loc="lower right")
