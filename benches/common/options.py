"""The command line of a benchmark."""

import argparse
from pathlib import Path


def make_parser(doc, **numbers):
    """Return a parser with a whole number for each name, and a file for the results."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--json", type=Path, help="write the results there")
    return parser
