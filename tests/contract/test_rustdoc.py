"""Every public type of the crate has an example, or names what has one.

`cargo test` compiles and runs the examples. Parameters and results of a fit need not repeat its
program: they link to it.
"""

import re

import pytest

from tests.common.paths import CHECKOUT

SOURCES = CHECKOUT / "rust" / "aucrank" / "src"

pytestmark = pytest.mark.skipif(not SOURCES.is_dir(), reason="this is not a checkout")

#: The documentation and the attributes of a public type, its kind and its name.
TYPE = re.compile(
    r"""
    ^(?P<above>(?:[ ]*(?:///|\#).*\n)*)
    [ ]*pub\ (?:struct|enum|trait|union)\ (?P<name>\w+)
    """,
    flags=re.MULTILINE | re.VERBOSE,
)

#: A type that no page shows: an internal of a public trait, or a collection of tests.
HIDDEN = re.compile(r"#\[(?:doc\(hidden\)|cfg\((?:all\()?doctest\b.*)\]")

#: A module within a file that is not public: tests, or what seals a trait.
PRIVATE_MODULE = re.compile(
    r"^(?:pub\([a-z]+\) )?mod \w+ \{\n.*?^\}\n", flags=re.MULTILINE | re.DOTALL
)

#: A section of examples with a block of code that is compiled.
EXAMPLE = re.compile(r"/// # Examples\n(?: *///(?! ```).*\n)* */// ```\n")

#: A link to the example of a type.
ELSEWHERE = re.compile(r"/// For an example see \[`(?P<name>\w+)`\]")

#: The documentation and the attributes of a function, and its name.
FUNCTION = re.compile(
    r"^(?P<above>(?:[ ]*(?:///|\#).*\n)*)[ ]*pub fn (?P<name>\w+)", flags=re.MULTILINE
)


def with_example(sources):
    """Names of the public types and functions of some files that have an example of their own."""
    found = [item for source in sources for item in public_types(source)]
    for source in sources:
        found += [(item["name"], item["above"]) for item in FUNCTION.finditer(source)]
    return {name for name, above in found if EXAMPLE.search(above)}


def has_example(above, names):
    """Whether a type has an example, or names one of those that have."""
    elsewhere = ELSEWHERE.search(above)
    return bool(EXAMPLE.search(above)) or (elsewhere is not None and elsewhere["name"] in names)


def public_types(source):
    """Name and documentation of each public type of a file that a page shows."""
    for found in TYPE.finditer(PRIVATE_MODULE.sub("", source)):
        if not HIDDEN.search(found["above"]):
            yield found["name"], found["above"]


def test_every_public_type_has_an_example():
    sources = {
        path.relative_to(SOURCES).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(SOURCES.rglob("*.rs"))
    }
    names = with_example(sources.values())
    found = {
        f"{path}: {name}": has_example(above, names)
        for path, source in sources.items()
        for name, above in public_types(source)
    }
    assert "roc/delong.rs: DeLong" in found
    assert [name for name, has_one in found.items() if not has_one] == []


@pytest.mark.parametrize(
    ("source", "lacking"),
    [
        ("/// Said.\npub struct A;\n", ["A"]),
        ("/// # Examples\n///\n/// None yet.\npub trait A {}\n", ["A"]),
        ("/// # Examples\n///\n/// ```text\n/// 1\n/// ```\n#[must_use]\npub enum A {}\n", ["A"]),
        (
            "/// # Examples\n///\n/// ```\n/// f();\n/// ```\npub struct A;\n\npub struct B;\n",
            ["B"],
        ),
        ("    /// # Examples\n    ///\n    /// ```\n    /// ```\n    pub enum A {}\n", []),
        ("mod sealed {\n    pub trait Sealed {}\n}\n\n/// Said.\npub struct A;\n", ["A"]),
        (
            "/// # Examples\n///\n/// ```\n/// f();\n/// ```\npub fn f() {}\n\n"
            "/// For an example see [`f`](crate::f).\npub struct A;\n\n"
            "/// For an example see [`A`].\npub struct B;\n",
            ["B"],
        ),
        ("/// Said.\n#[doc(hidden)]\npub trait A {}\n\npub(crate) struct B;\nstruct C;\n", []),
    ],
)
def test_a_type_without_an_example_is_detected(source, lacking):
    names = with_example([source])
    types = public_types(source)
    assert [name for name, above in types if not has_example(above, names)] == lacking
