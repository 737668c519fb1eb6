import pytest
from aucrank import AURORA
from aucrank.datasets import load_breast_cancer
from aucrank.ensemble._presets import PRESETS

from tests.common.command_line import hide
from tests.common.estimators import SHORT_SEARCH


@pytest.fixture(autouse=True)
def _folder(in_a_folder_of_its_own):
    """The command line writes to the current folder."""


@pytest.fixture(params=["pandas", "polars"])
def reader(request, monkeypatch):
    """Hide all data readers but one (and pyarrow)."""
    hide(monkeypatch, {"pandas", "polars"} - {request.param})
    return request.param


@pytest.fixture
def tumours():
    """The breast cancer data as a CSV file."""
    frame = load_breast_cancer(as_frame=True).frame
    frame.to_csv("tumours.csv", index=False)
    return frame


@pytest.fixture
def short_fits(monkeypatch):
    """Let AURORA search for a few terms, and ensembles have few members, by default."""
    monkeypatch.setitem(PRESETS, "default", ("linear", "forest"))
    # The readable models are fitted even on a slow machine.
    monkeypatch.setattr("aucrank.cli.fit._SECONDS_AT_LEAST", 600.0)
    defaults = AURORA.__init__.__kwdefaults__ | SHORT_SEARCH | {"max_features": 10}
    monkeypatch.setattr(AURORA.__init__, "__kwdefaults__", defaults)
