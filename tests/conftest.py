import gc
import os
import signal

import numpy as np
import pytest
import sklearn
from hypothesis import settings
from sklearn.utils import estimator_checks, get_tags

pytest.register_assert_rewrite("tests.common")

# Scripts that made the stored models, not tests; they import one another.
collect_ignore_glob = ["golden/*.py"]

# The same examples in every run: a change is what makes a test fail. `make fuzz` looks for others,
# a hundred times as many. A test that wants more or fewer says so as a multiple of the profile's.
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("fuzz", deadline=None, max_examples=2500, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 7):
    # There the checks make two classes of three by the row that comes first, so that the one that
    # compares weights with rows repeated gives other labels to its two fits. As 1.7 has it:
    _enforce_tags = estimator_checks._enforce_estimator_tags_y

    def _two_classes(estimator, y):
        tags = get_tags(estimator).classifier_tags
        if tags is None or tags.multi_class or not y.size:
            return _enforce_tags(estimator, y)
        return np.where(y == y.min(), y, y.min() + 1)

    estimator_checks._enforce_estimator_tags_y = _two_classes


def pytest_collection_modifyitems(items):
    """Mark the tests that `make test-fast` leaves out."""
    from tests.common.slow import listed

    slow = listed()
    for item in items:
        path, _, name = item.nodeid.partition("[")[0].partition("::")
        if f"{path.removesuffix('.py').replace('/', '.')}.{name}" in slow:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish():
    """Keep what was collected, which stays to the end, out of the garbage collector's walks."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _files_without_sync():
    """Leave it to the system when files reach the disk, which takes longer than most fits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def interruptible():
    """Let Ctrl-C interrupt: a child of a background process inherits that it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def plt():
    """Give pyplot without a screen and without figures; close those that are made."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.close("all")
    yield pyplot
    pyplot.close("all")
