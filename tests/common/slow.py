"""The tests that `make test-fast` leaves out: few of them take most of the time.

python -P -m pytest -n auto --junitxml=durations.xml
python tests/common/slow.py durations.xml > tests/slow_tests.txt
"""

import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

#: Share of the time of all tests that those which are left may take: two of ten minutes.
LEFT = 0.2


def names_of_slow_tests(path):
    """Return the functions without which the others take no more than their share of the time."""
    seconds = defaultdict(float)
    for case in ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name').partition('[')[0]}"
        if name.startswith("tests."):
            seconds[name] += float(case.get("time"))
    left, named = sum(seconds.values()), []
    budget = LEFT * left
    for name, spent in sorted(seconds.items(), key=lambda item: -item[1]):
        if left <= budget:
            break
        named.append(name)
        left -= spent
    return sorted(named)


def listed():
    """Return the names in the list."""
    return frozenset(Path(__file__).parents[1].joinpath("slow_tests.txt").read_text().split())


if __name__ == "__main__":
    print("\n".join(names_of_slow_tests(sys.argv[1])))
