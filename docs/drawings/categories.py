"""What a column of noise costs, with shrunken and with raw rates, from the table of the page."""

import matplotlib.pyplot as plt
from page_tables import first_number, rows_of_table

table = rows_of_table("categories.md", "Why rates of categories are shrunk")
figure, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
names = [row[0].removesuffix(", by default") for row in table[::2]]
for offset, (rows, label) in enumerate(((table[::2], "shrunken"), (table[1::2], "raw"))):
    costs = [first_number(row[2]) for row in rows]
    places = [place + 0.4 * offset - 0.2 for place in range(len(rows))]
    bars = ax.barh(places, costs, height=0.38, color=f"C{offset}", label=f"{label} rates")
    ax.bar_label(bars, fmt="%.3f", padding=3, fontsize=8)
ax.set_yticks(range(len(names)), names)
ax.invert_yaxis()
ax.margins(x=0.08)
ax.set_xlabel("loss of AUC by one column of 300 categories of noise")
ax.legend(loc="center right")
