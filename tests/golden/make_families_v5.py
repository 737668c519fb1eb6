"""Write the models whose saved form is another one since format version 5.

    python tests/golden/make_families_v5.py

They are those of format 3, read and saved anew by the version that introduced format 5: forests and
gradient boosting, alone and in an ensemble, whose trees share sets of categories. What they answer
is what `families_v3_answers.json` has. The files stay as they are from then on.
"""

import sys
from pathlib import Path

import aucrank

HERE = Path(__file__).parent
NAMES = ("ensemble", "gradient_boosting", "gradient_boosting_bags", "ranking_forest")


def main():
    """Read, and save anew."""
    if any(HERE.glob("families_v5_*.json")):
        sys.exit("the files of format 5 are there, and must stay as they are")
    for name in NAMES:
        aucrank.load(HERE / f"families_v3_{name}.json").save(HERE / f"families_v5_{name}.json")


if __name__ == "__main__":
    main()
