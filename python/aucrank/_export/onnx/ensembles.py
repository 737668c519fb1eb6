"""Trees as operators: their sums and single values, in double precision."""

from typing import Any

import numpy as np

from aucrank._export.onnx.graph import INT64, ML_DOMAIN, Graph
from aucrank._export.onnx.leaf_numbers import leaf_numbers
from aucrank._export.onnx.trees import TreeTable


def add_sum(graph: Graph, table: TreeTable, matrix: str) -> str:
    """Add the sum of the trees of a table for each row, and return the name of its column."""
    if graph.has_double_trees:
        return _double_trees(graph, table, matrix, 1)
    values = _values(graph, table, matrix)
    n_trees = len(table.roots)
    if n_trees == 1:
        return values
    # One tree after another, as in the core; sums by the operator have another order.
    sums = graph.add("CumSum", [values, graph.constant(1, np.int64)])
    return graph.add("Gather", [sums, graph.constant([n_trees - 1], np.int64)], axis=1)


def add_each(graph: Graph, table: TreeTable, matrix: str) -> str:
    """Add a column for each tree of a table; the target of its leaves is its position."""
    if graph.has_double_trees:
        return _double_trees(graph, table, matrix, len(table.roots))
    return _values(graph, table, matrix)


def _double_trees(graph: Graph, table: TreeTable, matrix: str, n_targets: int) -> str:
    """Add the operator of ai.onnx.ml 5, whose trees output doubles."""
    (true, true_leaf), (false, false_leaf) = (
        zip(*(sides[side] for sides in table.sides), strict=True) for side in (0, 1)
    )
    attributes: dict[str, Any] = {
        "n_targets": n_targets,
        "aggregate_function": 1,
        "post_transform": 0,
        "tree_roots": table.roots,
        "nodes_featureids": table.columns,
        "nodes_modes": graph.tensor(np.array(table.modes, dtype=np.uint8)),
        "nodes_splits": graph.tensor(np.array(table.splits)),
        "nodes_missing_value_tracks_true": table.missing_true,
        "nodes_truenodeids": true,
        "nodes_trueleafs": list(map(int, true_leaf)),
        "nodes_falsenodeids": false,
        "nodes_falseleafs": list(map(int, false_leaf)),
        "leaf_targetids": table.targets,
        "leaf_weights": graph.tensor(np.array(table.weights)),
    }
    if table.sets:
        # In the order of their nodes, each followed by a NaN.
        members = [[*codes.listed(), np.nan] for codes in table.sets.values()]
        attributes["membership_values"] = graph.tensor(np.concatenate(members))
    return graph.add("TreeEnsemble", [matrix], domain=ML_DOMAIN, **attributes)


def _values(graph: Graph, table: TreeTable, matrix: str) -> str:
    """Add trees of ai.onnx.ml 3, which output leaf numbers, and a table of the leaf values."""
    attributes, first_leaves = leaf_numbers(table, graph.tensor)
    numbers = graph.add("TreeEnsembleRegressor", [matrix], domain=ML_DOMAIN, **attributes)
    places = graph.add("Cast", [numbers], to=INT64)
    if any(first_leaves):
        places = graph.add("Add", [places, graph.constant([first_leaves], np.int64)])
    return graph.add("Gather", [graph.constant(table.weights), places])
