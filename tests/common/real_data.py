"""The data sets of development, where they are."""

import pandas as pd
import pytest

from tests.common.paths import DATA

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="there is no ../shared/data")


def load(name):
    """Return the columns and the 0/1 labels of a data set; skip the test where it is absent."""
    path = DATA / f"{name}.parquet"
    if not path.exists():
        pytest.skip("there is no ../shared/data")
    frame = pd.read_parquet(path)
    return frame.drop(columns="target"), frame["target"].to_numpy()
