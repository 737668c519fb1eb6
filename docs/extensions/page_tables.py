"""Tables of the guides, for pictures of what they list."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[1]


def rows_of_table(page, heading, number=0):
    """Return the rows of a table below a heading, each as a list of its cells without marks."""
    text = (DOCS / page).read_text("utf-8").partition(f"# {heading}\n")[2]
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    lines = tables[number].splitlines()[2:]
    return [[re.sub(r"[*`]", "", cell).strip() for cell in line.split("|")[1:-1]] for line in lines]


def first_number(text):
    """Return the number that a cell begins with, or NaN."""
    found = re.match(r"[+-]?[\d.]+", text)
    return float(found.group()) if found else float("nan")
