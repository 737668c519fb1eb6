"""Trees that output the number of a leaf, as supported by ai.onnx.ml 3.

Its trees compare doubles, but their outputs are in single precision. The number of a leaf is a
small integer, which is exact; the value of the leaf is looked up in a table of doubles.
"""

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from aucrank._export.onnx.trees import AMONG, BELOW, EQUAL, Codes, TreeTable

_MODES = {BELOW: "BRANCH_LT", EQUAL: "BRANCH_EQ"}

#: Integers below it are exact in single precision.
_MOST_LEAVES = 2**24

#: Maximal size of a set of categories, or of its complement, without a separate column. That column
#: comes from a balanced tree over its intervals, while a set in a tree is a chain of nodes.
LONGEST_SET = 50

#: Maximal depth. onnxruntime traverses nodes recursively when it reads the document, and crashes on
#: a stack overflow; the stack of a thread may have half a megabyte.
_MOST_DEEP = 1000


def leaf_numbers(
    table: TreeTable, tensor: Callable[[Any], Any]
) -> tuple[dict[str, Any], list[int]]:
    """Return the attributes of a ``TreeEnsembleRegressor``, and the first leaf of each tree.

    The regressor has a target per tree: the number of the leaf, counted from the first leaf of the
    tree.

    Parameters
    ----------
    table : TreeTable
        The trees.
    tensor : callable
        Makes a tensor attribute.

    Raises
    ------
    ValueError
        If a tree has too many leaves, or is too deep.
    """
    nodes = _Nodes()
    first_leaves = [
        nodes.add_tree(table, place, end)
        for place, end in enumerate([*table.roots[1:], len(table.columns)])
    ]
    attributes = {
        "n_targets": len(table.roots),
        "aggregate_function": "SUM",
        "post_transform": "NONE",
        "nodes_treeids": nodes.trees,
        "nodes_nodeids": nodes.numbers,
        "nodes_featureids": nodes.columns,
        "nodes_modes": nodes.modes,
        "nodes_values_as_tensor": tensor(np.array(nodes.splits)),
        "nodes_missing_value_tracks_true": nodes.missing_true,
        "nodes_truenodeids": nodes.true,
        "nodes_falsenodeids": nodes.false,
        "target_treeids": nodes.leaf_trees,
        "target_ids": nodes.leaf_trees,
        "target_nodeids": nodes.leaf_nodes,
        "target_weights_as_tensor": tensor(np.array(nodes.leaf_numbers, dtype=np.float64)),
    }
    return attributes, first_leaves


class _Nodes:
    """Nodes and leaves of trees, in the layout of the operator."""

    def __init__(self) -> None:
        self.trees: list[int] = []
        self.numbers: list[int] = []
        self.columns: list[int] = []
        self.modes: list[str] = []
        self.splits: list[float] = []
        self.missing_true: list[int] = []
        self.true: list[int] = []
        self.false: list[int] = []
        self.leaf_trees: list[int] = []
        self.leaf_nodes: list[int] = []
        self.leaf_numbers: list[int] = []

    def add_tree(self, table: TreeTable, place: int, end: int) -> int:
        """Add a tree, whose nodes are those before ``end``; return its first leaf."""
        nodes = range(table.roots[place], end)
        leaves = [number for node in nodes for number, is_leaf in table.sides[node] if is_leaf]
        first = min(leaves)
        if max(leaves) - first >= _MOST_LEAVES:
            raise ValueError(
                f"a tree of {max(leaves) - first + 1} leaves has no form in ai.onnx.ml 3, where a"
                f" tree has at most {_MOST_LEAVES}"
            )
        # A set of categories takes as many nodes as it, or its complement, has categories.
        tests = [_tests(table, node) for node in nodes]
        _check_depth(table, nodes, [len(splits) for _, splits, _ in tests])
        *starts, n_tests = accumulate((len(splits) for _, splits, _ in tests), initial=0)
        start_of = dict(zip(nodes, starts, strict=True))
        reached: list[int] = []

        def to(side: tuple[int, bool]) -> int:
            """Return the number of the node on a side; each side has its own leaf."""
            number, is_leaf = side
            if not is_leaf:
                return start_of[number]
            reached.append(number - first)
            return n_tests + len(reached) - 1

        for node, (mode, splits, is_swapped) in zip(nodes, tests, strict=True):
            true, false = map(to, table.sides[node])
            missing_true = table.missing_true[node]
            if is_swapped:
                true, false, missing_true = false, true, 1 - missing_true
            start = start_of[node]
            for k, split in enumerate(splits, start + 1):
                # What is not in the set goes on to the next; all true sides are one node.
                beyond = k if k < start + len(splits) else false
                self._add(place, table.columns[node], mode, split, missing_true, true, beyond)
        for leaf in reached:
            self.leaf_trees.append(place)
            self.leaf_nodes.append(self._add(place, 0, "LEAF", 0.0, 0, 0, 0))
            self.leaf_numbers.append(leaf)
        return first

    def _add(
        self,
        tree: int,
        column: int,
        mode: str,
        split: float,
        missing_true: int,
        true: int,
        false: int,
    ) -> int:
        """Add a node, and return its number in the tree."""
        is_first = not self.trees or self.trees[-1] != tree
        self.numbers.append(0 if is_first else self.numbers[-1] + 1)
        self.trees.append(tree)
        self.columns.append(column)
        self.modes.append(mode)
        self.splits.append(split)
        self.missing_true.append(missing_true)
        self.true.append(true)
        self.false.append(false)
        return self.numbers[-1]


def _tests(table: TreeTable, node: int) -> tuple[str, list[float], bool]:
    """Return how a node compares, the values to compare with, and whether its sides swap."""
    if table.modes[node] != AMONG:
        return _MODES[table.modes[node]], [table.splits[node]], False
    codes = table.sets[node]
    others: Codes = codes.others()
    is_swapped = len(others.members) < len(codes.members)
    return _MODES[EQUAL], (others if is_swapped else codes).listed(), is_swapped


def _check_depth(table: TreeTable, nodes: range, lengths: list[int]) -> None:
    """Raise ValueError if a path may have too many nodes, given the length of each chain."""
    depths = dict.fromkeys(nodes, 0)
    for node, length in zip(nodes, lengths, strict=True):
        depths[node] += length
        if depths[node] > _MOST_DEEP:
            raise ValueError(
                f"a tree that tests a row by more than {_MOST_DEEP} thresholds and categories has"
                " no form in ai.onnx.ml 3; to_onnx() writes it in a later version"
            )
        for number, is_leaf in table.sides[node]:
            if not is_leaf:
                depths[number] = depths[node]
