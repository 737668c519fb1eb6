"""Decision trees as nodes, from which `ensembles` makes operators."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from aucrank._export.formula import (
    All,
    Always,
    AnyOf,
    Below,
    Condition,
    Fork,
    Known,
    Leaf,
    LevelSteps,
    NumberSteps,
    Test,
    Tree,
)

#: Comparison of a node, numbered as in ``TreeEnsemble``. The true side is where it holds.
BELOW, EQUAL, AMONG = 1, 4, 6

#: The column of a feature.
ColumnOf = Callable[[int], int]


class Codes(NamedTuple):
    """Categories of a column with a given number of levels.

    Attributes
    ----------
    members : frozenset of int
        Their codes.
    n_levels : int
        Number of categories of the column.
    """

    members: frozenset[int]
    n_levels: int

    def listed(self) -> list[float]:
        """Return the codes as numbers in order; an empty set has one that no row has."""
        return [float(code) for code in sorted(self.members)] or [-1.0]

    def others(self) -> "Codes":
        """Return all other categories."""
        return Codes(frozenset(range(self.n_levels)) - self.members, self.n_levels)


class TreeTable:
    """Trees of one operator, node by node.

    Parameters
    ----------
    column_of : callable
        Returns the column of a feature.
    conditions : mapping of Condition to int
        Indicator columns of conditions: those that are not single tests, and others that are too
        long for a node.
    n_levels : callable
        Returns the number of categories of a feature.

    Attributes
    ----------
    roots : list of int
        The first node of each tree; its other nodes come before the next tree.
    columns, modes, splits, missing_true : list
        For each node its column, its comparison and value, and whether missing values are on its
        true side.
    sides : list of list of (int, bool)
        For each node its true and its false side: a number, and whether it is that of a leaf.
    sets : dict of int to Codes
        The categories on the true side of nodes that test for a set.
    targets, weights : list
        For each leaf its target, and its value.
    """

    def __init__(
        self,
        column_of: ColumnOf,
        conditions: Mapping[Condition, int],
        n_levels: Callable[[int], int],
    ) -> None:
        self._column_of = column_of
        self._conditions = conditions
        self._n_levels = n_levels
        self.roots: list[int] = []
        self.columns: list[int] = []
        self.modes: list[int] = []
        self.splits: list[float] = []
        self.missing_true: list[int] = []
        self.sides: list[list[tuple[int, bool]]] = []
        self.sets: dict[int, Codes] = {}
        self.targets: list[int] = []
        self.weights: list[float] = []

    def add_tree(self, tree: Tree, factor: float, target: int = 0) -> None:
        """Add a tree, its values times a factor."""
        # A node of the tree, and the side of the node here that leads to it.
        waiting: list[tuple[int, tuple[int, int] | None]] = [(0, None)]
        while waiting:
            place, above = waiting.pop()
            node = tree.nodes[place]
            if isinstance(node, Leaf):
                self._lead(above, self._leaf(factor * node.value, target), is_leaf=True)
                continue
            if isinstance(node.condition, Always):
                waiting.append((node.left if node.condition.holds else node.right, above))
                continue
            number, is_swapped = self._branch(node.condition)
            self._lead(above, number)
            sides = (node.right, node.left) if is_swapped else (node.left, node.right)
            waiting += [(side, (number, k)) for k, side in enumerate(sides)]

    def add_number_steps(self, steps: NumberSteps, factor: float) -> None:
        """Add a step function of a column as a balanced tree, its values times a factor."""
        column = self._column_of(steps.feature)
        # Missing values are separated first.
        number = self._node(column, BELOW, np.inf, missing_true=False)
        self._lead(None, number)
        self._lead((number, 1), self._leaf(factor * steps.missing), is_leaf=True)
        above = (number, 0)
        for special, value in steps.special:
            number = self._node(column, EQUAL, special, missing_true=False)
            self._lead(above, number)
            self._lead((number, 0), self._leaf(factor * value), is_leaf=True)
            above = (number, 1)
        values = [factor * value for value in steps.values]
        self._add_steps(column, steps.thresholds, values, above)

    def add_level_steps(self, steps: LevelSteps, factor: float) -> None:
        """Add a function of the codes of a categorical column, its values times a factor."""
        # Codes beyond those of the function are missing.
        values = (*steps.values, steps.missing)
        starts = [k for k in range(1, len(values)) if values[k] != values[k - 1]]
        thresholds = tuple(start - 0.5 for start in starts)
        of_starts = tuple(values[start] for start in (0, *starts))
        as_number = NumberSteps(steps.feature, thresholds, of_starts, steps.missing)
        self.add_number_steps(as_number, factor)

    def add_steps(self, thresholds: Sequence[float], values: Sequence[float]) -> None:
        """Add a step function of the only column, which has no missing values."""
        self._add_steps(0, thresholds, values, None)

    def add_condition(self, condition: Condition, value: float, target: int = 0) -> None:
        """Add a tree that has a value if a condition holds, and is 0 otherwise."""
        leaves = (self._leaf(0.0, target), self._leaf(value, target))
        self._add_condition(condition, leaves, None)

    def _add_condition(
        self, condition: Condition, leaves: tuple[int, int], above: tuple[int, int] | None
    ) -> None:
        match condition:
            case Always(holds):
                self._lead(above, leaves[holds], is_leaf=True)
            case Fork(test, _, left, right):
                number, is_swapped = self._branch(test)
                self._lead(above, number)
                sides = (right, left) if is_swapped else (left, right)
                for k, side in enumerate(sides):
                    self._add_condition(side, leaves, (number, k))
            case All(parts):
                self._add_chain(parts, leaves, above, ends_at=False)
            case AnyOf(parts):
                self._add_chain(parts, leaves, above, ends_at=True)
            case _:
                self._add_chain((condition,), leaves, above, ends_at=False)

    def _add_chain(
        self,
        parts: Sequence[Condition],
        leaves: tuple[int, int],
        above: tuple[int, int] | None,
        *,
        ends_at: bool,
    ) -> None:
        """Add parts of a condition one after another, until one decides it."""
        for part in parts:
            number, is_swapped = self._branch(part)
            self._lead(above, number)
            decides = (number, int(ends_at == is_swapped))
            self._lead(decides, leaves[ends_at], is_leaf=True)
            above = (number, 1 - decides[1])
        self._lead(above, leaves[not ends_at], is_leaf=True)

    def _add_steps(
        self,
        column: int,
        thresholds: Sequence[float],
        values: Sequence[float],
        above: tuple[int, int] | None,
    ) -> None:
        if not thresholds:
            self._lead(above, self._leaf(values[0]), is_leaf=True)
            return
        middle = len(thresholds) // 2
        number = self._node(column, BELOW, thresholds[middle], missing_true=False)
        self._lead(above, number)
        below, beyond = (number, 0), (number, 1)
        self._add_steps(column, thresholds[:middle], values[: middle + 1], below)
        self._add_steps(column, thresholds[middle + 1 :], values[middle + 1 :], beyond)

    def _branch(self, condition: Condition) -> tuple[int, bool]:
        """Add a node; return it, and whether its true side is where the condition fails."""
        if isinstance(condition, Test) and condition not in self._conditions:
            return self._test(condition)
        column = self._conditions[condition]
        # Below one half it does not hold.
        return self._node(column, BELOW, 0.5, missing_true=False), True

    def _test(self, test: Test) -> tuple[int, bool]:
        column = self._column_of(test.feature)
        match test.rule:
            case Below(threshold, is_reversed):
                missing_true = test.missing_left != is_reversed
                number = self._node(column, BELOW, threshold, missing_true=missing_true)
                return number, is_reversed
            case Known(goes_left):
                # Every known value is below infinity.
                missing_true = test.missing_left == goes_left
                number = self._node(column, BELOW, np.inf, missing_true=missing_true)
                return number, not goes_left
            case rule:
                n_levels = self._n_levels(test.feature)
                number = self._node(column, AMONG, 0.0, missing_true=test.missing_left)
                self.sets[number] = Codes(rule.left(n_levels), n_levels)
                return number, False

    def _node(self, column: int, mode: int, split: float, *, missing_true: bool) -> int:
        self.columns.append(column)
        self.modes.append(mode)
        self.splits.append(split)
        self.missing_true.append(int(missing_true))
        self.sides.append([(0, False), (0, False)])
        return len(self.columns) - 1

    def _leaf(self, weight: float, target: int = 0) -> int:
        self.targets.append(target)
        self.weights.append(weight)
        return len(self.weights) - 1

    def _lead(self, above: tuple[int, int] | None, number: int, *, is_leaf: bool = False) -> None:
        """Connect a side of a node to another node or leaf; without a node, begin a tree."""
        if above is not None:
            node, side = above
            self.sides[node][side] = (number, is_leaf)
            return
        if is_leaf:
            # A tree has at least one node.
            node = self._node(0, BELOW, 0.0, missing_true=True)
            self.sides[node] = [(number, True), (number, True)]
            number = node
        self.roots.append(number)
