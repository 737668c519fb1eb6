"""Write docs/benchmarks.md and the picture of README.md from the results in benches/results.

python -m benches.page    (needs matplotlib for the picture)
"""

import json
from pathlib import Path

from benches.page import quality
from benches.speed import table as speed

CHECKOUT = Path(__file__).parents[2]
RESULTS = CHECKOUT / "benches/results"
PAGE, PICTURE = CHECKOUT / "docs/benchmarks.md", CHECKOUT / "docs/_static/readme.png"


def stored(name):
    """Return results."""
    return json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


def page():
    """Return the page."""
    return quality.section(stored("quality")) + speed.section(stored("speed"))


def main():
    """Write the page, and draw the picture."""
    from benches.page.picture import draw

    PAGE.write_text(page(), "utf-8")
    draw(stored("quality"), PICTURE)
    for path in (PAGE, PICTURE):
        print(f"{path.relative_to(CHECKOUT)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
