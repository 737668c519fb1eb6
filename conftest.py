"""What is so for all tests and docstring examples."""

import os
import pkgutil
from pathlib import Path

import aucrank
import pytest

#: Whether the phases of a test passed.
PASSED = pytest.StashKey[list[bool]]()

# When pytest imports a module for its examples, it first imports the packages around it. If these
# import the module in turn, pytest runs it a second time, and its classes are no longer those that
# users get. So all packages are imported before: a walk does so.
for _ in pkgutil.walk_packages(aucrank.__path__, "aucrank."):
    pass


def pytest_collection_modifyitems(config, items):
    """Leave out what passed in an earlier run over the same files, which `.ci/run` keeps."""
    path = os.environ.get("TESTS_PASSED")
    if path is None:
        return
    passed = set(Path(path).read_text("utf-8").split("\n"))
    if passed >= {item.nodeid for item in items}:
        # pytest fails without a test.
        passed -= {item.nodeid for item in items[:1]}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
    items[:] = [item for item in items if item.nodeid not in passed]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Note a test that passed, once all is cleared away, whatever becomes of the run."""
    report = yield
    passed = item.stash.setdefault(PASSED, [])
    passed.append(report.passed)
    path = os.environ.get("TESTS_PASSING")
    if path is not None and report.when == "teardown" and all(passed):
        # A line at once: other processes write, too.
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{item.nodeid}\n")
    return report
