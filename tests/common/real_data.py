"""The data sets of development, where they are, and a protocol of the papers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from tests.common.paths import DATA

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="there is no ../shared/data")


def load(name):
    """Return the columns and the 0/1 labels of a data set; skip the test where it is absent."""
    path = DATA / f"{name}.parquet"
    if not path.exists():
        pytest.skip("there is no ../shared/data")
    frame = pd.read_parquet(path)
    return frame.drop(columns="target"), frame["target"].to_numpy()


def bootstrap_aucs(model, X, y, n_samples=50):
    """Fit bootstrap samples; return the AUC of each on the rows out of it."""
    rng = np.random.default_rng(0)
    aucs = []
    for _ in range(n_samples):
        rows = rng.integers(0, len(y), len(y))
        out = np.setdiff1d(np.arange(len(y)), rows)
        fitted = model.fit(X[rows], y[rows])
        aucs.append(roc_auc_score(y[out], fitted.decision_function(X[out])))
    return aucs
