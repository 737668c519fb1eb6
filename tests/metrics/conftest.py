"""Samples that several tests of metrics share."""

import pandas as pd
import pytest

from tests.common.paths import CHECKOUT


@pytest.fixture(scope="session")
def asah():
    """Return the example of pROC: 113 patients with a haemorrhage (Turck et al., 2010).

    ``poor`` says whose outcome was.
    """
    data = pd.read_csv(CHECKOUT / "docs" / "data" / "asah.csv")
    return data.assign(poor=data["outcome"] == "Poor")
