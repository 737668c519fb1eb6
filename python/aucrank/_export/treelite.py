"""Sums of trees in the form of Treelite."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from aucrank._data.schema import Schema
from aucrank._export.formula import (
    All,
    Always,
    Among,
    AnyOf,
    Below,
    Branch,
    Condition,
    Constant,
    Fork,
    Formula,
    Indicator,
    Known,
    Leaf,
    LevelSteps,
    NumberSteps,
    Product,
    Quotient,
    SingleSum,
    Sum,
    Test,
    Tree,
    no_single_sum,
)

#: Formulas that become one tree.
_Treelike = Tree | NumberSteps | LevelSteps | Indicator

# More nodes take gigabytes: the subtree below a merged side is copied for each of its cells.
_MOST_NODES = 10_000_000


def treelite_model(treelite: Any, formula: Formula, schema: Schema, name: str) -> Any:
    """Return a Treelite model whose output is the score.

    Parameters
    ----------
    treelite : module
        The package.
    formula : Formula
        The score.
    schema : Schema
        Columns of the matrix that Treelite scores: categories as codes.
    name : str
        Name of the estimator, for messages.

    Returns
    -------
    treelite.Model
        With thresholds and leaves in double precision.

    Raises
    ------
    ValueError
        If the score is not a sum of trees, tests pairs of categories, or would have too many nodes.
    """
    trees, constant = _sum_of_trees(formula, 1.0, name)
    if any(isinstance(tree, Tree) and _asks_pairs(tree) for tree, _ in trees):
        raise ValueError(
            f"this {name} tests pairs of categories, and Treelite one feature at a time:"
            " fit it with category_pairs=False"
        )
    builder = _new_builder(treelite, len(schema.features), max(1, len(trees)), constant)
    writer = _TreeWriter(builder, schema.n_levels)
    for tree, factor in trees:
        writer.add(_root(tree, factor))
    if not trees:
        writer.add(_Value(0.0))
    return builder.commit()


def _asks_pairs(tree: _Treelike) -> bool:
    """Return whether a split of a tree lists pairs of categories."""
    if not isinstance(tree, Tree):
        return False
    return any(
        isinstance(node, Branch) and isinstance(node.condition, AnyOf) for node in tree.nodes
    )


def _new_builder(treelite: Any, n_features: int, n_trees: int, base_score: float) -> Any:
    """Return a builder of a model whose trees sum to one number."""
    parts = treelite.model_builder
    return parts.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=parts.Metadata(
            num_feature=n_features,
            task_type="kRegressor",
            average_tree_output=False,
            num_target=1,
            num_class=[1],
            leaf_vector_shape=(1, 1),
        ),
        tree_annotation=parts.TreeAnnotation(
            num_tree=n_trees, target_id=[0] * n_trees, class_id=[0] * n_trees
        ),
        postprocessor=parts.PostProcessorFunc(name="identity"),
        base_scores=[base_score],
    )


def _sum_of_trees(
    formula: Formula, factor: float, name: str
) -> tuple[list[tuple[_Treelike, float]], float]:
    """Return trees with factors, and a constant, whose sum is a formula times a factor."""
    match formula:
        case Constant(value):
            return [], factor * value
        case Tree() | NumberSteps() | LevelSteps() | Indicator():
            return [(formula, factor)], 0.0
        case Product(of_product, of):
            return _sum_of_trees(of, factor * of_product, name)
        case Quotient(numerator, Constant(denominator), _) if denominator > 0:
            return _sum_of_trees(numerator, factor / denominator, name)
        case Sum(terms):
            trees, constant = [], 0.0
            for term in terms:
                of_term, constant_of_term = _sum_of_trees(term, factor, name)
                trees += of_term
                constant += constant_of_term
            return trees, constant
        case SingleSum():
            raise no_single_sum("Treelite, as it is written here,")
    raise ValueError(
        f"Treelite holds sums of trees, and the score of this {name} has a part that is none:"
        f" {type(formula).__name__}"
    )


# Actions for the rows that reach a node -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Value:
    """Assign a number."""

    value: float


@dataclass(frozen=True, slots=True)
class _Node:
    """Continue at a node of a tree, with values multiplied by a factor."""

    tree: Tree
    place: int
    factor: float


@dataclass(frozen=True, slots=True)
class _Choice:
    """Continue in one of two ways, depending on a condition."""

    condition: Condition
    holds: "_Way"
    fails: "_Way"


@dataclass(frozen=True, slots=True)
class _AssignStep:
    """Assign the value of a step function of a known number."""

    feature: int
    thresholds: Sequence[float]
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class _Equal:
    """Continue in one of two ways, depending on whether a known number has a value."""

    feature: int
    value: float
    holds: "_Way"
    fails: "_Way"


_Way = _Value | _Node | _Choice | _AssignStep | _Equal


def _root(tree: _Treelike, factor: float) -> _Way:
    """Return the action for all rows."""
    match tree:
        case Tree():
            return _Node(tree, 0, factor)
        case Indicator(condition, value):
            return _Choice(condition, _Value(factor * value), _Value(0.0))
        case NumberSteps(feature, thresholds, values, missing, special):
            way: _Way = _AssignStep(feature, thresholds, tuple(factor * value for value in values))
            for number, value in special:
                way = _Equal(feature, number, _Value(factor * value), way)
            is_known = Test(feature, Known(goes_left=True), missing_left=False)
            return _Choice(is_known, way, _Value(factor * missing))
        case LevelSteps(feature, values, missing):
            # Categories beyond those of the function are missing.
            way = _Value(factor * missing)
            for codes, value in tree.by_value():
                is_one = Test(feature, Among(frozenset(codes)), missing_left=False)
                way = _Choice(is_one, _Value(factor * value), way)
            return way


class _TreeWriter:
    """Adds trees node by node.

    Parameters
    ----------
    builder : treelite.model_builder.ModelBuilder
        The builder of the model.
    n_levels : sequence of int or None
        Number of categories of each column, None for a number.
    """

    def __init__(self, builder: Any, n_levels: Sequence[int | None]) -> None:
        self._builder = builder
        self._n_levels = n_levels
        self._n_nodes = 0

    def add(self, root: _Way) -> None:
        """Add a tree."""
        self._builder.start_tree()
        # Numbers of nodes, and the action for the rows that reach them.
        waiting, n_keys = [(0, root)], 1
        while waiting:
            key, way = waiting.pop()
            self._n_nodes += 1
            if self._n_nodes > _MOST_NODES:
                raise ValueError(
                    f"the trees would have more than {_MOST_NODES:,} nodes: a side that merges"
                    " parts of a split is copied for each part. Prune the tree, or grow one of"
                    " orthogonal splits"
                )
            self._builder.start_node(key)
            ways = self._write(_simplest(way), (n_keys, n_keys + 1))
            self._builder.end_node()
            waiting += [(n_keys + side, way) for side, way in enumerate(ways)]
            n_keys += len(ways)
        self._builder.end_tree()

    def _write(self, way: _Way, keys: tuple[int, int]) -> Sequence[_Way]:
        """Add a node; return the actions for the rows of its left and its right child."""
        match way:
            case _Value(value):
                self._builder.leaf(value)
                return ()
            case _AssignStep(feature, thresholds, values):
                middle = len(thresholds) // 2
                self._number(feature, "<", thresholds[middle], keys)
                below = _AssignStep(feature, thresholds[:middle], values[: middle + 1])
                return below, _AssignStep(feature, thresholds[middle + 1 :], values[middle + 1 :])
            case _Equal(feature, value, holds, fails):
                self._number(feature, "==", value, keys)
                return holds, fails
            case _Choice(Test() as test, holds, fails):
                return (holds, fails) if self._test(test, keys) else (fails, holds)
            case _Choice(Fork(test, _, left, right), holds, fails):
                sides = _Choice(left, holds, fails), _Choice(right, holds, fails)
                return sides if self._test(test, keys) else sides[::-1]
        raise TypeError(f"a node of {way!r}")

    def _test(self, test: Test, keys: tuple[int, int]) -> bool:
        """Add a test; return whether the left side of the test is the left child."""
        match test.rule:
            case Below(threshold, is_reversed):
                comparison = ">=" if is_reversed else "<"
                self._number(test.feature, comparison, threshold, keys, test.missing_left)
                return True
            case Known(goes_left):
                # Every known value is below infinity.
                missing_left = test.missing_left == goes_left
                self._number(test.feature, "<", inf, keys, missing_left)
                return goes_left
            case among:
                # An unseen category goes where missing values do: it is not listed.
                n_levels = self._n_levels[test.feature] or 0
                left = among.left(n_levels)
                listed = frozenset(range(n_levels)) - left if test.missing_left else left
                self._builder.categorical_test(
                    feature_id=test.feature,
                    default_left=test.missing_left,
                    category_list=sorted(listed),
                    category_list_right_child=test.missing_left,
                    left_child_key=keys[0],
                    right_child_key=keys[1],
                )
                return True

    def _number(
        self,
        feature: int,
        comparison: str,
        threshold: float,
        keys: tuple[int, int],
        missing_left: bool = False,
    ) -> None:
        self._builder.numerical_test(
            feature_id=feature,
            threshold=threshold,
            default_left=missing_left,
            opname=comparison,
            left_child_key=keys[0],
            right_child_key=keys[1],
        )


def _simplest(way: _Way) -> _Way:
    """Return an equivalent action that one node can express."""
    while True:
        match way:
            case _Node(tree, place, factor):
                node = tree.nodes[place]
                if isinstance(node, Leaf):
                    return _Value(factor * node.value)
                left, right = (_Node(tree, side, factor) for side in (node.left, node.right))
                way = _Choice(node.condition, left, right)
            case _AssignStep(_, thresholds, values) if not thresholds:
                return _Value(values[0])
            case _Choice(Always(is_so), holds, fails):
                way = holds if is_so else fails
            case _Choice(All((first, *others)), holds, fails):
                way = _Choice(first, _Choice(All(tuple(others)), holds, fails), fails)
            case _Choice(AnyOf((first, *others)), holds, fails):
                way = _Choice(first, holds, _Choice(AnyOf(tuple(others)), holds, fails))
            case _Choice(All(()), holds, _):
                way = holds
            case _Choice(AnyOf(()), _, fails):
                way = fails
            case _:
                return way
