"""Time and memory of fits by the number of rows, from the table of the page."""

from math import isnan, log10

import matplotlib.pyplot as plt
from page_tables import first_number, rows_of_table

SIZES = (1e5, 1e6, 1e7)

figure, (time, memory) = plt.subplots(2, 1, figsize=(6.8, 8), layout="constrained")
fits, name = [], ""
for ranker, what, *cells in rows_of_table("growth.md", "Growth with the rows"):
    name = ranker or name
    if what == "fit":
        # Between them is the column of exponents.
        seconds, n_bytes = cells[: len(SIZES)], cells[len(SIZES) + 1 :]
        fits.append((name, *([*map(first_number, some)] for some in (seconds, n_bytes))))


def last_known(numbers):
    """Return the position of the last number that was measured."""
    return max(place for place, number in enumerate(numbers) if not isnan(number))


# Names stand at the last point of a line, but no nearer to each other than they are high.
labels = []
for number, (name, seconds, _) in enumerate(fits):
    time.plot(SIZES, seconds, "o-", markersize=4, color=f"C{number % 10}")
    last = last_known(seconds)
    labels.append((last, log10(seconds[last]), name, f"C{number % 10}"))
below = dict.fromkeys(range(len(SIZES)), float("-inf"))
for last, height, name, colour in sorted(labels):
    below[last] = max(height, below[last] + 0.13)
    place = (SIZES[last] * 1.1, 10 ** below[last])
    time.text(*place, name, va="center", fontsize=8, color=colour)
time.set(xscale="log", yscale="log", xlim=(8e4, 1.2e8), xlabel="rows")
time.set(ylabel="processor seconds of a fit")
time.grid(alpha=0.3)

shades = (0.2, 0.5, 1)
for number, (_, _, n_bytes) in enumerate(fits):
    last = last_known(n_bytes)
    memory.barh(number, n_bytes[last], color=f"C{number % 10}", alpha=shades[last])
memory.set_yticks(range(len(fits)), [name for name, *_ in fits], fontsize=8)
memory.invert_yaxis()
memory.set(xscale="log", xlim=(20, 3000))
memory.set(xlabel="bytes a row at 10,000,000 rows; paler: at 1,000,000; palest: at 100,000")
memory.axvline(160, color="0.4", linestyle=":", label="the data themselves")
memory.legend(loc="lower right", fontsize=8)
