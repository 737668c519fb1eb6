"""The parameter ``weak_ranker``: what is boosted."""

from typing import Any

from aucrank._params import check_choice

#: Weak rankers of the core that have no parameters.
NAMES = ("feature", "threshold")


def weak_ranker_params(weak_ranker: Any) -> Any:
    """Return the weak ranker as the core takes it.

    Raises
    ------
    ValueError
        If it is none that can be boosted.
    """
    return check_choice(weak_ranker, "weak_ranker", NAMES)
