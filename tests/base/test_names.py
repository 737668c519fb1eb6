"""Names with one meaning."""

import ast
import re
from collections import defaultdict

import pytest

from tests.common.paths import CHECKOUT

CORE = CHECKOUT / "rust" / "aucrank" / "src"
PACKAGE = CHECKOUT / "python" / "aucrank"

TYPE = re.compile(
    r"^(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|type|union) (\w+)"
    r"|^ +(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|union) (\w+)",
    re.M,
)


@pytest.mark.skipif(not CORE.is_dir(), reason="this is not a checkout")
def test_names_of_types_are_unique_in_the_core():
    places = defaultdict(set)
    for path in CORE.rglob("*.rs"):
        if path.name == "tests.rs":
            continue
        text = path.read_text().partition("\n#[cfg(test)]\nmod tests")[0]
        for match in TYPE.finditer(text):
            places[match[1] or match[2]].add(path.relative_to(CORE).as_posix())
    assert len(places) > 500
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def classes_of(path):
    """Names of all classes of a file, those in functions and classes included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


@pytest.mark.skipif(not PACKAGE.is_dir(), reason="this is not a checkout")
def test_names_of_classes_are_unique_in_the_package():
    places = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        for name in classes_of(path):
            # A private name is read like the public one.
            places[name.removeprefix("_")].append(path.relative_to(PACKAGE).as_posix())
    assert len(places) > 400
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


@pytest.mark.skipif(not PACKAGE.is_dir(), reason="this is not a checkout")
def test_a_class_with_the_name_of_one_of_the_border_wraps_it():
    border = {name for name in classes_of(PACKAGE / "_core.pyi") if not name.startswith("_")}
    shared = [
        (path, name) for path in PACKAGE.rglob("*.py") for name in border & {*classes_of(path)}
    ]
    assert len(shared) > 5
    for path, name in shared:
        assert f"_core.{name}" in path.read_text(encoding="utf-8"), f"{name} of {path}"
