"""Time and memory of fits by the number of rows, from the table of the page."""

from math import isnan, log10

import matplotlib.pyplot as plt
from page_tables import first_number, rows_of_table

SIZES = (1e5, 1e6)

figure, (time, memory) = plt.subplots(2, 1, figsize=(6.8, 8), layout="constrained")
fits, name = [], ""
for ranker, what, *cells in rows_of_table("growth.md", "Growth with the rows"):
    name = ranker or name
    if what == "fit":
        small, large, _, bytes_small, bytes_large = (first_number(cell) for cell in cells)
        fits.append((name, (small, large), (bytes_small, bytes_large)))

# Names stand at the last point of a line, but no nearer to each other than they are high.
labels = []
for number, (name, seconds, _) in enumerate(fits):
    time.plot(SIZES, seconds, "o-", markersize=4, color=f"C{number % 10}")
    last = 0 if isnan(seconds[1]) else 1
    labels.append((last, log10(seconds[last]), name, f"C{number % 10}"))
below = {0: float("-inf"), 1: float("-inf")}
for last, height, name, colour in sorted(labels):
    below[last] = max(height, below[last] + 0.1)
    place = (SIZES[last] * 1.1, 10 ** below[last])
    time.text(*place, name, va="center", fontsize=8, color=colour)
time.set(xscale="log", yscale="log", xlim=(8e4, 8e6), xlabel="rows")
time.set(ylabel="processor seconds of a fit")
time.grid(alpha=0.3)

for number, (_, _, (small, large)) in enumerate(fits):
    pale = isnan(large)
    bar = {"color": f"C{number % 10}", "alpha": 0.35 if pale else 1}
    memory.barh(number, small if pale else large, **bar)
memory.set_yticks(range(len(fits)), [name for name, *_ in fits], fontsize=8)
memory.invert_yaxis()
memory.set(xscale="log", xlim=(20, 3000), xlabel="bytes a row at 1,000,000 rows; pale: at 100,000")
memory.axvline(160, color="0.4", linestyle=":", label="the data themselves")
memory.legend(loc="lower right", fontsize=8)
