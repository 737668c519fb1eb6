"""The order of the rooms of the crate, and how many of its files use each other in a circle."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

CHECKOUT = Path(__file__).parents[2]
CRATE = CHECKOUT / "rust" / "aucrank" / "src"
PACKAGE = CHECKOUT / "python" / "aucrank"

pytestmark = pytest.mark.skipif(not CRATE.is_dir(), reason="the crate is not here")

#: Files that use each other in a circle are read as one: at most so many.
MOST_IN_A_CIRCLE = 3

#: Files that are in such a circle; it may fall, and not rise.
IN_CIRCLES = 28

#: What the rooms stand on, and what reads the questions of all of them.
BELOW = ("error", "interrupt", "memory", "parallel", "prepared", "spilled")
ABOVE = ("questions",)


def names_in(group):
    """Paths in a group of a `use`, nested groups unfolded."""
    group = group.strip()
    head, brace, rest = group.partition("{")
    if not brace:
        return [group.split(" as ")[0].strip()]
    parts, depth, part = [], 0, ""
    for letter in rest[: rest.rindex("}")] + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    return [head.strip() + name for part in parts if part.strip() for name in names_in(part)]


def without_tests(text):
    """Code without its tests, which follow it, comments and strings."""
    text = re.split(r"#\[cfg\(test\)\]\s*(?:pub\(crate\) )?mod \w+ \{", text)[0]
    text = re.sub(r"//.*", "", text)
    return re.sub(r'"(?:\\.|[^"\\])*"', '""', text)


def used_by(text):
    """Paths that a file uses, as written."""
    text = without_tests(text)
    pattern = r"\buse\s+((?:crate|super|self)[^;]*);"
    found = [name for use in re.findall(pattern, text) for name in names_in(use)]
    return found + re.findall(r"\b(?:crate|super)(?:::\w+)+", re.sub(pattern, "", text))


def modules():
    """Path of each module of the crate as a tuple, and its file."""
    found = {}
    for file in sorted(CRATE.rglob("*.rs")):
        parts = file.relative_to(CRATE).with_suffix("").parts
        if "tests" not in parts:
            found[parts[:-1] if parts[-1] in ("mod", "lib") else parts] = file
    return found


def target(module, path, known):
    """Return the module in which a path that another one uses lies."""
    parts, at = path.split("::"), list(module)
    if parts[0] == "crate":
        at, parts = [], parts[1:]
    while parts and parts[0] in ("super", "self"):
        at = at[:-1] if parts[0] == "super" else at
        parts = parts[1:]
    whole = (*at, *parts)
    return next(whole[:n] for n in range(len(whole), -1, -1) if whole[:n] in known)


@pytest.fixture(scope="module")
def uses():
    """For each module those that it uses."""
    known = modules()
    return {
        module: {target(module, path, known) for path in used_by(file.read_text("utf-8"))}
        for module, file in known.items()
    }


def test_paths_are_found_in_groups():
    text = "use crate::{a::{b, c as d}, e};\nuse super::f::g;\nfn h() { crate::i::j() }"
    assert used_by(text) == ["crate::a::b", "crate::a::c", "crate::e", "super::f::g", "crate::i::j"]
    known = {(), ("a",), ("f",), ("a", "b")}
    assert target(("f", "x"), "super::g", known) == ("f",)
    assert target(("a", "b"), "crate::a::b::C", known) == ("a", "b")


def test_the_crate_names_its_rooms_and_each_uses_those_above_it(uses):
    text = (CRATE / "lib.rs").read_text(encoding="utf-8")
    named = re.findall(r"^//! - \[`(\w+)`\]:", text, flags=re.MULTILINE)
    assert sorted(named) == re.findall(r"^pub mod (\w+);", text, flags=re.MULTILINE)
    others = re.findall(r"^mod (\w+);", text, flags=re.MULTILINE)
    assert sorted(others) == sorted((*BELOW, *ABOVE))
    place = {name: k for k, name in enumerate([*BELOW, *named, *ABOVE])}
    for module, used in uses.items():
        # The errors of all rooms are one type, some of whose fields come from a room.
        if module and module[0] not in BELOW:
            rooms = {other[0] for other in used if other} - {module[0]}
            late = {room for room in rooms if place[room] > place[module[0]]}
            assert not late, f"{'/'.join(module)} uses {late}, which lib.rs names below it"


def test_few_files_use_each_other_in_circles(uses):
    known = modules()
    files = [module for module, file in known.items() if file.name not in ("mod.rs", "lib.rs")]
    place = {module: k for k, module in enumerate(files)}
    edges = [
        (place[module], place[other])
        for module in files
        for other in uses[module]
        if other in place and other != module
    ]
    rows, columns = np.transpose(edges)
    graph = csr_array((np.ones(len(edges)), (rows, columns)), shape=(len(files), len(files)))
    _, labels = connected_components(graph, connection="strong")
    sizes = np.bincount(labels)
    assert sizes.max() <= MOST_IN_A_CIRCLE
    assert sizes[sizes > 1].sum() <= IN_CIRCLES


def test_the_map_names_all_rooms():
    text = (CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = text.partition("```text")[2].partition("```")[0].split()
    named = {word.rstrip(",") for word in named}
    rooms = {f"src/{file.parent.name}/" for file in CRATE.glob("*/mod.rs")}
    rooms |= {f"src/{file.name}" for file in CRATE.glob("*.rs") if file.name != "lib.rs"}
    rooms |= {f"{file.parent.name}/" for file in PACKAGE.glob("*/__init__.py")}
    rooms |= {file.name for file in PACKAGE.glob("*.py") if not file.name.startswith("_")}
    assert len(rooms) > 30
    assert rooms - named == set()
