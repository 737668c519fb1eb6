"""Where things lie. The package under test is the installed one, not that of the checkout."""

from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
GOLDEN = CHECKOUT / "tests" / "golden"
#: Data sets of development, too large for the checkout.
DATA = CHECKOUT.parent / "shared" / "data"
