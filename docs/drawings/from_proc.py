"""Curves of the three markers of aSAH, with the band of one."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from aucrank.metrics import RocCurve, roc_band

data = pd.read_csv(Path(__file__).parents[1] / "data" / "asah.csv")
y = data["outcome"] == "Poor"
figure, ax = plt.subplots(figsize=(5.4, 5.2), layout="constrained")
for marker in ("wfns", "s100b", "ndka"):
    band = roc_band(y, data[marker], random_state=0) if marker == "s100b" else None
    RocCurve.from_scores(y, data[marker]).plot(ax=ax, name=marker, band=band)
ax.legend(loc="lower right")
