"""The members of an ensemble that go by a name."""

from collections.abc import Callable
from typing import Any

from aucrank.additive import LinearRanker
from aucrank.boosting import GradientBoostingRanker
from aucrank.tree import RankingForest

#: Members by name, each made when it is asked for.
_MEMBERS: dict[str, Callable[[], Any]] = {
    "boosting_8": lambda: GradientBoostingRanker(max_leaves=8),
    "boosting_16_random": lambda: GradientBoostingRanker(max_leaves=16, cuts="random"),
    "boosting_32": lambda: GradientBoostingRanker(max_leaves=32),
    "boosting_128": lambda: GradientBoostingRanker(max_leaves=128, max_features=0.5, l2=2.0),
    "forest": RankingForest,
    "random_cuts_forest": lambda: RankingForest(cuts="random", bootstrap=False, min_samples_leaf=2),
    "linear": lambda: LinearRanker(thresholds=None),
    "linear_thresholds": LinearRanker,
}

#: Members of each preset, those of most worth for their time first: where time is limited, the
#: first are fitted.
PRESETS: dict[str, tuple[str, ...]] = {
    "fast": ("boosting_16_random", "linear"),
    "default": ("boosting_16_random", "linear", "forest", "boosting_8", "boosting_32"),
    "best": (
        "boosting_16_random",
        "linear",
        "forest",
        "boosting_8",
        "boosting_32",
        "random_cuts_forest",
        "linear_thresholds",
        "boosting_128",
    ),
}


def members_of(preset: str) -> list[tuple[str, Any]]:
    """Return the members of a preset by name, unfitted."""
    return [(name, _MEMBERS[name]()) for name in PRESETS[preset]]
