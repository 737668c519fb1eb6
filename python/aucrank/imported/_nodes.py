"""Trees of other libraries as arrays of nodes, from which the core makes a model."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank import _core

#: Kinds of nodes, numbered as in the core.
LEAF, BELOW, LEVELS, RANGES, KNOWN = range(5)

_COLUMNS = {
    "kinds": np.uint8,
    "features": np.uint32,
    "numbers": np.float64,
    "places": np.uint32,
    "missing_left": np.bool_,
    "left": np.uint32,
    "right": np.uint32,
    "weights": np.float64,
}


@dataclass
class NodeArrays:
    """The nodes of a tree, the first of which is its root; see `NodeTable` in the core.

    Attributes
    ----------
    kinds : ndarray of uint8
        What each is.
    features : ndarray of uint32
        The column that it tests.
    numbers : ndarray of float64
        Its threshold, or the value of a leaf.
    places : ndarray of uint32
        Its set of categories or its ranges.
    missing_left : ndarray of bool
        Whether missing values go left.
    left, right : ndarray of uint32
        The nodes on its two sides.
    weights : ndarray of float64
        Weight of the training rows of a leaf.
    """

    kinds: NDArray[np.uint8]
    features: NDArray[np.uint32]
    numbers: NDArray[np.float64]
    places: NDArray[np.uint32]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.uint32]
    right: NDArray[np.uint32]
    weights: NDArray[np.float64]

    @classmethod
    def of_size(cls, size: int) -> "NodeArrays":
        """Return arrays of leaves with value 0."""
        return cls(**{name: np.zeros(size, dtype=dtype) for name, dtype in _COLUMNS.items()})

    def swap(self, place: int) -> None:
        """Exchange the sides of a node."""
        self.left[place], self.right[place] = self.right[place], self.left[place]
        self.missing_left[place] = not self.missing_left[place]


@dataclass
class Forest:
    """Trees that share sets of categories and ranges.

    Attributes
    ----------
    trees : list of NodeArrays
        The trees, in the order in which they are added.
    level_sets : list of list of int
        Sets of codes of categories.
    ranges : list of list of float
        Ascending bounds; a number is inside if it reaches an odd number of them.
    """

    trees: list[NodeArrays] = field(default_factory=list)
    level_sets: list[list[int]] = field(default_factory=list)
    ranges: list[list[float]] = field(default_factory=list)
    _places: dict[tuple[bool, tuple[float, ...]], int] = field(default_factory=dict)

    def set_levels(self, tree: NodeArrays, place: int, codes: Sequence[int]) -> None:
        """Make a node one that sends some categories left."""
        tree.kinds[place] = LEVELS
        tree.places[place] = self._place(self.level_sets, sorted(codes))

    def set_ranges(self, tree: NodeArrays, place: int, bounds: Sequence[float]) -> None:
        """Make a node one that sends numbers within some ranges left."""
        tree.kinds[place] = RANGES
        tree.places[place] = self._place(self.ranges, list(bounds))

    def set_whole(
        self,
        tree: NodeArrays,
        place: int,
        codes: ArrayLike,
        bound_of: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    ) -> None:
        """Make a node one that sends numbers with some whole parts left, which are not negative.

        Parameters
        ----------
        tree : NodeArrays
            The tree.
        place : int
            The node.
        codes : array-like of int
            The whole parts, ascending.
        bound_of : callable
            Returns the least number with a whole part.
        """
        found = np.asarray(codes, dtype=np.float64)
        if not len(found):
            tree.kinds[place], tree.numbers[place] = KNOWN, 0.0
            return
        # Ends of the runs of successive numbers.
        ends = np.flatnonzero(np.diff(found) != 1.0)
        lows = found[np.concatenate(([0], ends + 1))]
        highs = found[np.concatenate((ends, [len(found) - 1]))] + 1.0
        bounds = np.column_stack((lows, highs)).ravel()
        self.set_ranges(tree, place, bound_of(bounds).tolist())

    def _place(self, known: list[Any], values: list[Any]) -> int:
        key = known is self.ranges, tuple(values)
        if key not in self._places:
            self._places[key] = len(known)
            known.append(values)
        return self._places[key]

    def model(self, n_levels: Sequence[int | None], **how: Any) -> _core.ImportedTrees:
        """Return the model of the core.

        Parameters
        ----------
        n_levels : sequence of int or None
            Number of categories of each column, None for a number.
        **how
            How the trees are summed, where it differs from a plain sum; see `ImportedSum` in the
            core.

        Raises
        ------
        ModelFormatError
            If the nodes are not trees, or do not suit the columns.
        """
        columns: dict[str, NDArray[Any]] = {
            name: np.concatenate(
                [getattr(tree, name) for tree in self.trees] or [np.zeros(0)], dtype=dtype
            )
            for name, dtype in _COLUMNS.items()
        }
        sizes = np.array([len(tree.kinds) for tree in self.trees], dtype=np.uint32)
        lists = {"level_sets": self.level_sets, "ranges": self.ranges}
        plain = {"start": 0.0, "is_single": False, "divisor": 1.0, "factor": 1.0, "offset": 0.0}
        settings = json.dumps(plain | {"link": "none"} | how)
        nodes = SimpleNamespace(sizes=sizes, **columns, **lists)
        return _core.build_imported_trees(list(n_levels), settings, nodes)
