"""What studies say of many data sets."""

import numpy as np
import pandas as pd


def gain_in_points(aucs, rivals):
    """Write the mean gain over the sets in points, hundredths of AUC, with its standard error."""
    points = pd.Series(100 * (np.asarray(aucs) - np.asarray(rivals)))
    return f"{points.mean():+.2f} ± {points.sem():.2f}"


def gains_of_batches(aucs, rivals, batch_of):
    """Write the gain over all sets, its median, and the gain of each batch where there are several.

    `aucs` and `rivals` are series by set, `batch_of` a dict.
    """
    points = 100 * (aucs - rivals)
    line = f"{gain_in_points(aucs, rivals)} (median {points.median():+.2f})"
    batches = points.groupby(points.index.map(batch_of))
    if batches.ngroups > 1:
        parts = [f"{name} {of.mean():+.2f} ± {of.sem():.2f}" for name, of in batches]
        line += f"  [{', '.join(parts)}]"
    return line


def chosen_by_others(aucs):
    """Return for each set the AUC of the model that is best on all others.

    `aucs` has a row for each set and a column for each model.
    """
    table = np.asarray(aucs)
    others = table.sum(axis=0) - table
    return table[np.arange(len(table)), others.argmax(axis=1)]
