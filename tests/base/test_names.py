"""Names with one meaning."""

import re
from collections import defaultdict

import pytest

from tests.common.paths import CHECKOUT

CORE = CHECKOUT / "rust" / "aucrank" / "src"

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
