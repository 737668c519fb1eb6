"""Ranking trees in the form that `shap.TreeExplainer` reads: plain binary trees of thresholds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

# More than this, in a tree and in all, takes `shap` minutes and gigabytes.
_MOST_NODES = 100_000
_MOST_NODES_IN_ALL = 1_000_000


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a row can be: a node of the ranking tree, or a stump inside the split of a node.

    Attributes
    ----------
    node : int
        Number of the node.
    cut : int
        Place of the stump in the split of the node; the root of a split is stump 0.
    share : float
        Part of the weight of the node that came here: a side of a LeafRank split is reached from
        several of its parts, and what lies below is copied for each.
    """

    node: int
    cut: int
    share: float


def shap_model(trees: Sequence[dict[str, Any]], values: Sequence[NDArray[Any]]) -> dict[str, Any]:
    """Return the dictionary that `shap.TreeExplainer` takes for the mean of several trees.

    Parameters
    ----------
    trees : sequence of dict
        Trees as the model document has them.
    values : sequence of ndarray
        For each tree a value for each of its nodes; only those of leaves are read.

    Returns
    -------
    dict
        With one plain binary tree, which asks ``x <= threshold``, for each ranking tree.

    Raises
    ------
    ValueError
        If a tree asks more than thresholds of numeric features, or too many nodes would be
        needed.
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
            _shap_tree(tree, leaf_values / len(trees))
            for tree, leaf_values in zip(trees, values, strict=True)
        ],
        "base_offset": 0.0,
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
        "objective": None,
        "tree_output": "raw_value",
    }


def _stumps(split: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the stumps of a split and the parts that they make, the first stump first."""
    if "stump" in split:
        parts = [{"part": {"goes_left": goes_left, "sums": None}} for goes_left in (True, False)]
        return [{"cut": {"test": split["stump"], "left": 1, "right": 2, "sums": None}}, *parts]
    if "cuts" in split:
        cuts: list[dict[str, Any]] = split["cuts"]
        return cuts
    raise ValueError(
        "shap.TreeExplainer reads splits by thresholds only, as OrthogonalSplit and LeafRank make"
        " them; explain this model with shap.Explainer(model.decision_function, X)"
    )


def _count_nodes(tree: dict[str, Any]) -> int:
    """Return the number of nodes of the plain binary tree, counted from the last node up."""
    sizes = [1] * len(tree["nodes"])
    for number, node in reversed(list(enumerate(tree["nodes"]))):
        split = node["split"]
        if split is None:
            continue
        sides = {True: sizes[split["left"]], False: sizes[split["right"]]}
        sizes[number] = sum(
            1 if "cut" in stump else sides[stump["part"]["goes_left"]] for stump in _stumps(split)
        )
    return sizes[0]


def _shap_tree(tree: dict[str, Any], values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return the plain binary tree, its root first."""
    nodes = tree["nodes"]
    stumps = [None if node["split"] is None else _stumps(node["split"]) for node in nodes]
    size = _count_nodes(tree)
    left, right, default, feature = (np.full(size, -1, dtype=np.int32) for _ in range(4))
    threshold = np.full(size, -1.0)
    value, weight = np.zeros(size), np.zeros(size)
    unit = 2.0 ** tree["exponent"]

    free = count(1)
    waiting = [(0, _Place(0, 0, 1.0))]
    order: list[int] = []
    while waiting:
        number, place = waiting.pop()
        order.append(number)
        split = stumps[place.node]
        if split is None:
            weight[number] = unit * _size(nodes[place.node]["sums"]) * place.share
            value[number] = values[place.node]
            continue
        test = split[place.cut]["cut"]["test"]
        if tree["n_levels"][test["feature"]] is not None:
            raise ValueError(
                "shap.TreeExplainer cannot explain a tree that asks a categorical feature: it"
                " reads thresholds only, and not sets of categories"
            )
        feature[number] = test["feature"]
        threshold[number], is_swapped = _threshold(test["left"])
        sides = list(_sides(nodes, place, split))
        numbers = [next(free) for _ in sides]
        waiting += zip(numbers, sides, strict=True)
        default[number] = numbers[0 if test["missing_left"] else 1]
        left[number], right[number] = reversed(numbers) if is_swapped else numbers

    # Children come after their parent, so that they are known when it is reached backwards.
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


def _threshold(rule: dict[str, Any]) -> tuple[float, bool]:
    """Return ``t`` such that ``x <= t`` parts known numbers as the rule, and whether sides swap."""
    match rule:
        case {"below": bound}:
            return np.nextafter(bound, -np.inf), False
        case {"at_least": bound}:
            return np.nextafter(bound, -np.inf), True
        case {"known": goes_left}:
            return np.finfo(np.float64).max, not goes_left
        case other:
            raise ValueError(f"unknown rule {other!r}")


def _sides(
    nodes: list[dict[str, Any]], place: _Place, split: list[dict[str, Any]]
) -> Iterator[_Place]:
    """Where the two answers to the stump of a place lead."""
    node = nodes[place.node]
    cut = split[place.cut]["cut"]
    for name in ("left", "right"):
        target = split[cut[name]]
        if "cut" in target:
            yield _Place(place.node, cut[name], place.share)
            continue
        child = node["split"]["left" if target["part"]["goes_left"] else "right"]
        # A single stump has one part on each side.
        sums = target["part"]["sums"]
        whole = _size(nodes[child]["sums"])
        yield _Place(child, 0, place.share if sums is None else place.share * _size(sums) / whole)


def _size(sums: dict[str, int]) -> int:
    return sums["pos"] + sums["neg"]
