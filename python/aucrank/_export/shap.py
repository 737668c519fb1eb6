"""Ranking trees in the form that `shap.TreeExplainer` reads: plain binary trees of thresholds."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._data.schema import Schema
from aucrank._export.formula import (
    Always,
    Below,
    Branch,
    Condition,
    Fork,
    Known,
    Leaf,
    Test,
    Tree,
)

# Limits per tree and in total, beyond which `shap` takes minutes and gigabytes.
_MOST_NODES = 100_000
_MOST_NODES_IN_ALL = 1_000_000


def shap_model(
    trees: Sequence[Tree], schema: Schema, *, factor: float | None = None, base: float = 0.0
) -> dict[str, Any]:
    """Return the dictionary that `shap.TreeExplainer` accepts for a sum or mean of several trees.

    Parameters
    ----------
    trees : sequence of Tree
        With the numbers to explain in their leaves.
    schema : Schema
        Columns of the trees.
    factor : float, default=None
        Explain the sum of the trees times this; None for their mean.
    base : float, default=0.0
        Added to it.

    Returns
    -------
    dict
        With one plain binary tree, with tests ``x <= threshold``, for each ranking tree.

    Raises
    ------
    ValueError
        If a tree tests more than thresholds of numeric features, or too many nodes would be needed.
    """
    sizes = [_count_nodes(tree) for tree in trees]
    if max(sizes) > _MOST_NODES:
        raise ValueError(
            f"a plain binary tree of the same scores would have {max(sizes)} nodes, more than"
            f" {_MOST_NODES}: a side that merges parts of a split is copied for each part. Prune"
            " the tree, or explain a tree of orthogonal splits"
        )
    if sum(sizes) > _MOST_NODES_IN_ALL:
        raise ValueError(
            f"the trees would have {sum(sizes)} nodes together, more than {_MOST_NODES_IN_ALL}."
            " Explain a forest of fewer or smaller trees; min_samples_leaf bounds them"
        )
    return {
        "trees": [
            _shap_tree(tree, size, schema, 1 / len(trees) if factor is None else factor)
            for tree, size in zip(trees, sizes, strict=True)
        ],
        "base_offset": base,
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
        "objective": None,
        "tree_output": "raw_value",
    }


def _parts(condition: Condition) -> Iterator[bool]:
    """Yield the side of each part of a split, left or right."""
    match condition:
        case Always(holds):
            yield holds
        case Test():
            yield from (True, False)
        case Fork(_, _, left, right):
            yield from _parts(left)
            yield from _parts(right)
        case _:
            raise ValueError(
                "shap.TreeExplainer reads splits by thresholds only, as OrthogonalSplit and"
                " LeafRank make them; aucrank.inspection.shapley_values explains any sum of trees"
            )


def _count_nodes(tree: Tree) -> int:
    """Return the number of nodes of the plain binary tree, counted from the last node up."""
    sizes = [1] * len(tree.nodes)
    for number, node in reversed(list(enumerate(tree.nodes))):
        if isinstance(node, Branch):
            sides = list(_parts(node.condition))
            of_sides = (sizes[node.left] if is_left else sizes[node.right] for is_left in sides)
            sizes[number] = len(sides) - 1 + sum(of_sides)
    return sizes[0]


def _shap_tree(
    tree: Tree, size: int, schema: Schema, factor: float
) -> dict[str, NDArray[np.generic]]:
    """Return the plain binary tree, its root first, its values times a factor."""
    left, right, default, feature = (np.full(size, -1, dtype=np.int32) for _ in range(4))
    threshold = np.full(size, -1.0)
    value, weight = np.zeros(size), np.zeros(size)

    free = count(1)
    # A position in the plain tree, and its meaning: a node of the tree, or a condition inside the
    # split of one, with the weight of the rows that reach it. A side of a merged split is reached
    # from several of its cells, and the subtree below is copied for each.
    waiting: list[tuple[int, int, Condition | None, float]] = [(0, 0, None, tree.nodes[0].weight)]
    order: list[int] = []
    while waiting:
        number, place, inside, mass = waiting.pop()
        node = tree.nodes[place]
        if isinstance(inside, Always) and isinstance(node, Branch):
            place, inside = (node.left if inside.holds else node.right), None
            node = tree.nodes[place]
        order.append(number)
        if isinstance(node, Leaf):
            weight[number], value[number] = mass, factor * node.value
            continue
        condition = _as_fork(tree, node) if inside is None else inside
        if not isinstance(condition, Fork):
            raise TypeError(f"a split by {condition!r}")
        test = condition.test
        if schema.features[test.feature].levels is not None:
            raise ValueError(
                "shap.TreeExplainer cannot explain a tree that tests a categorical feature: it"
                " reads thresholds only, and not sets of categories;"
                " aucrank.inspection.shapley_values explains it"
            )
        feature[number] = test.feature
        threshold[number], is_swapped = _threshold(test)
        numbers = [next(free), next(free)]
        shares = (condition.left_share, 1 - condition.left_share)
        for child, side, share in zip(
            numbers, (condition.left, condition.right), shares, strict=True
        ):
            waiting.append((child, place, side, mass * share))
        default[number] = numbers[0 if test.missing_left else 1]
        left[number], right[number] = reversed(numbers) if is_swapped else numbers

    # Children come after their parent, so that they are known in reverse order.
    for number in reversed(order):
        if left[number] >= 0:
            children = [left[number], right[number]]
            weight[number] = weight[children].sum()
            value[number] = weight[children] @ value[children] / weight[number]
    return {
        "children_left": left,
        "children_right": right,
        "children_default": default,
        "features": feature,
        "thresholds": threshold,
        "values": value[:, None],
        "node_sample_weight": weight,
    }


def _as_fork(tree: Tree, node: Branch) -> Condition:
    """Return the split of a node as a tree of tests."""
    if not isinstance(node.condition, Test):
        return node.condition
    left, right = tree.nodes[node.left].weight, tree.nodes[node.right].weight
    return Fork(node.condition, left / (left + right), Always(holds=True), Always(holds=False))


def _threshold(test: Test) -> tuple[float, bool]:
    """Return ``t`` such that ``x <= t`` is equivalent to a test, and whether sides swap."""
    match test.rule:
        case Below(threshold, is_reversed):
            return np.nextafter(threshold, -np.inf), is_reversed
        case Known(goes_left):
            return np.finfo(np.float64).max, not goes_left
    raise ValueError(f"no threshold in {test!r}")
