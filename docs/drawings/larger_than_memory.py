"""Memory of a fit from files and from a frame, from the table of the page."""

import re

import matplotlib.pyplot as plt
from page_tables import rows_of_table

table = rows_of_table("larger_than_memory.md", "What it takes")
sizes, of_files = [], []
for what, _, result in table:
    found = re.fullmatch(r"10\^(\d) rows of Parquet files", what)
    if found:
        sizes.append(10 ** int(found[1]))
        of_files.append(float(re.search(r"and (\d+) MB", result)[1]))

figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
# Twenty columns of doubles.
ax.plot(sizes, [160 * size / 1e6 for size in sizes], "o--", color="0.5", label="the frame alone")
ax.plot(sizes, of_files, "o-", label="a tree fitted to files, in all")
ax.set(xscale="log", ylim=(0, None), xlabel="rows of 20 columns", ylabel="MB of memory")
ax.grid(alpha=0.3)
ax.legend()
