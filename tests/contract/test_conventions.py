"""The table of conventions is correct: all verifiers exist, and the page has the table."""

import ast
import re

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from tests.common.conventions import CONVENTIONS, table
from tests.common.estimators import SETTINGS
from tests.common.paths import CHECKOUT

pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "Makefile").exists(), reason="this is not a checkout"
)


@pytest.mark.parametrize("test", sorted({t for c in CONVENTIONS for t in c.tests}))
def test_every_test_named_in_the_conventions_exists(test):
    file, function = test.split("::")
    tree = ast.parse((CHECKOUT / "tests" / file).read_text(encoding="utf-8"))
    assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_scikit_learn_runs_the_checks_on_every_estimator():
    named = {check for convention in CONVENTIONS for check in convention.checks}
    for cls in {type(estimator) for estimator in SETTINGS}:
        ours = [estimator for estimator in SETTINGS if type(estimator) is cls]
        run = {
            check.func.__name__
            for estimator in ours
            for _, check in estimator_checks_generator(estimator)
        }
        assert named <= run, cls


def test_the_makefile_targets_of_the_conventions_exist():
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    assert {target for convention in CONVENTIONS for target in convention.targets} <= targets


def test_the_page_has_the_table():
    page = (CHECKOUT / "docs" / "conventions.md").read_text(encoding="utf-8")
    assert table() in page, "python -m tests.common.conventions prints the table for the page"
