"""The named members of an ensemble, and which of them suit data of a given size."""

from collections.abc import Callable
from typing import Any

from aucrank.additive import LinearRanker
from aucrank.boosting import GradientBoostingRanker
from aucrank.tree import RankingForest

#: Up to this number of values (rows times features) forests have 100 trees. Beyond, they must cost
#: no more: on at most 14,000 rows of eight sets, an ensemble with 25 trees per fold ranks as well
#: as one with 100, within 0.0007 of AUC.
_WHOLE_FORESTS = 1 << 17

#: Up to this number of values there are forests: beyond, they would have some ten trees.
_MOST_FOR_FORESTS = 1 << 20

#: Up to this number of values (rows times features) all rows are in memory, and members are
#: blended. Beyond, cross-fitting several members would take too long.
MOST_IN_MEMORY = 1 << 24


#: By default, forests choose their leaf size. In a blend that gains 0.0004 of AUC, for an eighth of
#: the time of all members. Random cuts smooth by themselves: leaves of one row are best there.
_LEAF_ROWS = 3


def _forest(n_values: int) -> RankingForest:
    return RankingForest(n_estimators=_n_trees(n_values), min_samples_leaf=_LEAF_ROWS)


def _random_cuts_forest(n_values: int) -> RankingForest:
    return RankingForest(
        n_estimators=_n_trees(n_values), cuts="random", bootstrap=False, min_samples_leaf=1
    )


def _n_trees(n_values: int) -> int:
    return max(1, min(100, 100 * _WHOLE_FORESTS // n_values))


#: Forests by name, each made for a given size of data.
_FORESTS: dict[str, Callable[[int], Any]] = {
    "forest": _forest,
    "random_cuts_forest": _random_cuts_forest,
}

#: All other members by name, each made on request.
_MEMBERS: dict[str, Callable[[], Any]] = {
    "boosting": GradientBoostingRanker,
    "boosting_8": lambda: GradientBoostingRanker(max_leaves=8, cuts="best"),
    "boosting_best_cuts": lambda: GradientBoostingRanker(cuts="best"),
    "linear": lambda: LinearRanker(thresholds=None),
    "linear_thresholds": LinearRanker,
}

#: Members of each preset, in order of benefit per time: under a time limit, the first are fitted.
PRESETS: dict[str, tuple[str, ...]] = {
    "fast": ("boosting", "linear_thresholds"),
    "default": ("boosting", "linear_thresholds", "random_cuts_forest"),
    "best": (
        "boosting",
        "linear_thresholds",
        "random_cuts_forest",
        "boosting_best_cuts",
        "forest",
        "boosting_8",
        "linear",
    ),
}


def is_large(n_values: int) -> bool:
    """Whether rows times features are too many to blend members, or to hold in memory."""
    return n_values > MOST_IN_MEMORY


def is_on_trial(preset: str, name: str, n_values: int) -> bool:
    """Whether the first fold decides if a member of a preset is fitted to the others.

    With many rows, forests take most of the time, and have no weight in half of the blends. Without
    thresholds, a linear score has weight on few rows only. Boosters fit all folds together.
    """
    is_tried = name in _FORESTS or name == "linear"
    return preset != "fast" and is_tried and n_values > _WHOLE_FORESTS


def members_of(preset: str, n_values: int) -> list[tuple[str, Any]]:
    """Return the unfitted members of a preset by name, for a number of rows times features."""
    names = PRESETS[preset][:1] if is_large(n_values) else PRESETS[preset]
    found = []
    for name in names:
        if name not in _FORESTS:
            found.append((name, _MEMBERS[name]()))
        elif n_values <= _MOST_FOR_FORESTS:
            found.append((name, _FORESTS[name](n_values)))
    return found
