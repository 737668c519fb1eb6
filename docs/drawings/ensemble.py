"""Gains over CatBoost with their standard errors, from the table of the page."""

import re

import matplotlib.pyplot as plt
from page_tables import rows_of_table

gains = []
for name, _, gain, *_ in rows_of_table("ensemble.md", "How well it ranks"):
    found = re.match(r"([+-][\d.]+) ± ([\d.]+)", gain)
    mean, error = (float(number) for number in found.groups()) if found else (0.0, 0.0)
    gains.append((name, mean, error))

figure, ax = plt.subplots(figsize=(8.5, 4.6), layout="constrained")
for place, (name, mean, error) in enumerate(gains):
    ours = "Rank" in name
    ax.errorbar(mean, place, xerr=error, fmt="o", color="C1" if ours else "0.35", capsize=3)
ax.axvline(0, color="0.6", linewidth=1)
ax.set_yticks(range(len(gains)), [name for name, *_ in gains])
ax.invert_yaxis()
ax.grid(axis="x", alpha=0.3)
ax.set_xlabel("gain over CatBoost in points of AUC, with its standard error over 28 data sets")
