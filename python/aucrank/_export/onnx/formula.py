"""Formulas as graphs of operators."""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from aucrank._data.schema import Schema
from aucrank._export.formula import (
    SHARE_UNITS,
    All,
    Among,
    AnyOf,
    Arithmetic,
    Condition,
    Constant,
    End,
    Fork,
    Formula,
    Indicator,
    Leaf,
    LevelSteps,
    Linear,
    LinearTerm,
    Median,
    NumberSteps,
    Product,
    Program,
    Quotient,
    SingleSum,
    StepsOf,
    Sum,
    Test,
    Tree,
    has_free_order,
    in_units,
)
from aucrank._export.onnx.ensembles import add_each, add_sum
from aucrank._export.onnx.graph import FLOAT32, FLOAT64, INT64, Graph
from aucrank._export.onnx.leaf_numbers import LONGEST_SET
from aucrank._export.onnx.trees import TreeTable

#: Formulas that are trees; one operator sums any number of them.
_Treelike = Tree | NumberSteps | LevelSteps | Indicator

_OPERATORS = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div"}


class FormulaWriter:
    """Adds formulas to a graph.

    Parameters
    ----------
    graph : Graph
        The graph.
    schema : Schema
        Columns of the fit.
    tested : sequence of int
        Features with a column in the matrix, in order.
    matrix : str
        Name of the matrix of doubles, with categories as codes and NaN for missing values.
    """

    def __init__(self, graph: Graph, schema: Schema, tested: Sequence[int], matrix: str) -> None:
        self._graph = graph
        self._matrix = matrix
        self._columns = {feature: column for column, feature in enumerate(tested)}
        self._n_columns = len(tested)
        self._n_levels = schema.n_levels
        # Columns of conditions that are not single tests, or test for large sets.
        self._conditions: dict[Condition, int] = {}
        # Parts that a score and its probability may share.
        self._shared: dict[Quotient | Median, str] = {}

    def value(self, formula: Formula) -> str:
        """Return the name of the values of a formula: a column, or one number for all rows."""
        match formula:
            case Constant(value):
                return self._number(value)
            case Tree() | NumberSteps() | LevelSteps() | Indicator():
                return self._trees([(formula, 1.0)])
            case StepsOf(of, thresholds, values):
                return self._steps_of(self.value(of), thresholds, values)
            case Linear():
                return self._linear(formula)
            case Sum(parts):
                return self._sum(parts)
            case SingleSum(parts):
                return self._single_sum(parts)
            case Product(factor, of):
                return self._by_number("Mul", self.value(of), factor)
            case Quotient() | Median():
                if formula not in self._shared:
                    self._shared[formula] = self._share(formula)
                return self._shared[formula]
            case Program():
                return self._program(formula)
        raise ValueError(f"ONNX has no form for a {type(formula).__name__}")

    def _number(self, value: float) -> str:
        return self._graph.constant([[value]])

    def _by_number(self, operator: str, column: str, value: float) -> str:
        """Add an operation with a number on its right."""
        add = self._graph.add
        if operator not in ("Mul", "Div") or value == 1.0 or np.float32(value) != 1.0:
            return add(operator, [column, self._number(value)])
        # onnxruntime 1.32 drops a factor that is 1 in single precision, such as 1 - 2**-30. Two
        # steps, one by a power of two and exact, give the same double.
        factor = value / 2.0 if operator == "Mul" else value * 2.0
        return add("Mul", [add(operator, [column, self._number(factor)]), self._number(2.0)])

    # Trees ----------------------------------------------------------------------------------------

    def _table(self) -> TreeTable:
        return TreeTable(
            self._columns.__getitem__,
            self._conditions,
            lambda feature: self._n_levels[feature] or 0,
        )

    def _trees(self, trees: Sequence[tuple[_Treelike, float]]) -> str:
        """Add the sum of trees, each times a factor."""
        self._add_conditions(trees)
        table = self._table()
        for tree, factor in trees:
            match tree:
                case Tree():
                    table.add_tree(tree, factor)
                case Indicator(condition, value):
                    table.add_condition(condition, factor * value)
                case NumberSteps():
                    table.add_number_steps(tree, factor)
                case LevelSteps():
                    table.add_level_steps(tree, factor)
        return add_sum(self._graph, table, self._matrix)

    def _add_conditions(self, trees: Iterable[tuple[_Treelike, float]]) -> None:
        """Add a column for each condition that a node cannot express, the innermost first."""
        levels: list[dict[Condition, None]] = []

        def note(condition: Condition, *, is_inner: bool) -> int:
            """Record what needs a column; return how many levels of columns it depends on."""
            match condition:
                case Test() if self._long_set(condition) is not None:
                    depth, is_inner = 0, True
                case Fork(test, _, left, right):
                    depth = max(note(part, is_inner=False) for part in (test, left, right))
                case All(parts) | AnyOf(parts):
                    depth = max((note(part, is_inner=True) for part in parts), default=0)
                case _:
                    return 0
            if is_inner and condition not in self._conditions:
                levels.extend({} for _ in range(depth + 1 - len(levels)))
                levels[depth][condition] = None
            return depth + 1 if is_inner else depth

        for tree, _ in trees:
            if isinstance(tree, Tree):
                for node in tree.nodes:
                    if not isinstance(node, Leaf):
                        note(node.condition, is_inner=True)
            elif isinstance(tree, Indicator):
                note(tree.condition, is_inner=False)
        for conditions in levels:
            if not conditions:
                continue
            table = self._table()
            for target, condition in enumerate(conditions):
                steps = self._long_set(condition) if isinstance(condition, Test) else None
                if steps is not None:
                    table.add_level_steps(steps, 1.0)
                else:
                    table.add_condition(condition, 1.0, target)
            found = add_each(self._graph, table, self._matrix)
            for condition in conditions:
                self._conditions[condition] = self._n_columns
                self._n_columns += 1
            self._matrix = self._graph.add("Concat", [self._matrix, found], axis=1)

    def _long_set(self, test: Test) -> LevelSteps | None:
        """Return an indicator of the categories of a test that is too large for a tree.

        None if it tests a threshold, or few categories.
        """
        if self._graph.has_double_trees or not isinstance(test.rule, Among):
            return None
        n_levels = self._n_levels[test.feature] or 0
        left = test.rule.left(n_levels)
        if min(len(left), n_levels - len(left)) <= LONGEST_SET:
            return None
        values = tuple(float(code in left) for code in range(n_levels))
        return LevelSteps(test.feature, values, float(test.missing_left))

    def _steps_of(self, column: str, thresholds: Sequence[float], values: Sequence[float]) -> str:
        table = self._table()
        table.add_steps(thresholds, values)
        return add_sum(self._graph, table, column)

    # Sums and quotients ---------------------------------------------------------------------------

    def _sum(self, parts: Sequence[Formula]) -> str:
        """Add a sum, its trees by one operator if their order is free."""
        summed = [part for part in parts if not isinstance(part, Constant)]
        if all(isinstance(part, Tree) for part in summed) and not has_free_order(summed):
            return self._added(self._each(parts))
        trees: list[tuple[_Treelike, float]] = []
        constant, others = 0.0, []
        for part in parts:
            factor, of = (part.factor, part.of) if isinstance(part, Product) else (1.0, part)
            if isinstance(of, _Treelike):
                trees.append((of, factor))
            elif isinstance(part, Constant):
                constant += part.value
            else:
                others.append(self.value(part))
        if trees:
            others.insert(0, self._trees(trees))
        if constant or not others:
            others.append(self._number(constant))
        return self._added(others)

    def _single_sum(self, parts: Sequence[Formula]) -> str:
        """Add a sum of single precision."""
        each = self._each(parts) or [self._number(0.0)]
        total = self._added([self._graph.add("Cast", [part], to=FLOAT32) for part in each])
        return self._graph.add("Cast", [total], to=FLOAT64)

    def _each(self, parts: Sequence[Formula]) -> list[str]:
        """Add the parts of a sum, its trees by one operator; return their columns in order."""
        trees = [part for part in parts if isinstance(part, Tree)]
        columns: list[str] = []
        if trees:
            self._add_conditions([(tree, 1.0) for tree in trees])
            table = self._table()
            for target, tree in enumerate(trees):
                table.add_tree(tree, 1.0, target)
            found = add_each(self._graph, table, self._matrix)
            columns = [
                self._graph.add("Gather", [found, self._graph.constant([k], np.int64)], axis=1)
                for k in range(len(trees))
            ]
        of_trees = iter(columns)
        return [next(of_trees) if isinstance(part, Tree) else self.value(part) for part in parts]

    def _added(self, names: Sequence[str]) -> str:
        total = names[0]
        for name in names[1:]:
            total = self._graph.add("Add", [total, name])
        return total

    def _linear(self, linear: Linear) -> str:
        added = [
            self._weighted(term) if isinstance(term, LinearTerm) else self.value(term)
            for term in linear.terms
        ]
        return self._added([*added, self._number(linear.intercept)])

    def _column(self, feature: int) -> str:
        place = self._graph.constant([self._columns[feature]], np.int64)
        return self._graph.add("Gather", [self._matrix, place], axis=1)

    def _weighted(self, term: LinearTerm) -> str:
        graph, column, scale = self._graph, self._computed(term), term.scale
        if scale is None:
            return self._by_number("Mul", column, term.weight)
        centred = graph.add("Sub", [column, self._number(scale.mean)])
        deviations = self._by_number("Div", centred, scale.deviation)
        least, most = graph.constant(-scale.limit), graph.constant(scale.limit)
        within = graph.add("Clip", [deviations, least, most])
        if scale.unit is not None:
            # Halves away from 0; the operator Round rounds them to even numbers.
            parts = graph.add("Div", [within, self._number(scale.unit)])
            halves_up = graph.add("Add", [graph.add("Abs", [parts]), self._number(0.5)])
            rounded = graph.add(
                "Mul", [graph.add("Sign", [parts]), graph.add("Floor", [halves_up])]
            )
            within = graph.add("Mul", [rounded, self._number(scale.unit)])
        weighted = self._by_number("Mul", within, term.weight)
        is_missing = graph.add("IsNaN", [column])
        return graph.add("Where", [is_missing, self._number(0.0), weighted])

    def _computed(self, term: LinearTerm) -> str:
        """Add the number of a term, before it is standardised."""
        graph, column = self._graph, self._column(term.feature)
        for operation in term.operations:
            if isinstance(operation, Arithmetic):
                column = self._by_number(_OPERATORS[operation.operator], column, operation.number)
            else:
                # The operator Clip may replace NaN by a bound.
                least, most = graph.constant(operation.low), graph.constant(operation.high)
                clipped = graph.add("Clip", [column, least, most])
                column = graph.add("Where", [graph.add("IsNaN", [column]), column, clipped])
        if term.fill is None:
            return column
        is_missing = graph.add("IsNaN", [column])
        return graph.add("Where", [is_missing, self._number(term.fill), column])

    def _share(self, formula: Quotient | Median) -> str:
        if isinstance(formula, Median):
            return self._median([self.value(part) for part in formula.of])
        return self._quotient(formula)

    def _quotient(self, quotient: Quotient) -> str:
        graph = self._graph
        above, below = self._numerator(quotient.numerator), self.value(quotient.denominator)
        is_above = graph.add("Greater", [below, self._number(0.0)])
        ratio = graph.add("Div", [above, below])
        return graph.add("Where", [is_above, ratio, self._number(quotient.otherwise)])

    def _numerator(self, formula: Formula) -> str:
        """Add a numerator; for a forest as in the core, one tree after another.

        Leaf values are rounded, and so is their sum. In another order, a row at a step of the
        probability might end up on the other side. Trees that output leaf numbers are always added
        in this way.
        """
        if (
            self._graph.has_double_trees
            and isinstance(formula, Sum)
            and formula.terms
            and all(isinstance(part, Tree) for part in formula.terms)
        ):
            return self._added([self.value(part) for part in formula.terms])
        return self.value(formula)

    def _median(self, columns: Sequence[str]) -> str:
        graph, n = self._graph, len(columns)
        rows = graph.add("Concat", columns, axis=1)
        ordered = graph.add("TopK", [rows, graph.constant([n], np.int64)], n_results=2, axis=1)
        middle = graph.constant([(n - 1) // 2, n // 2], np.int64)
        pair = graph.add("Gather", [ordered, middle], axis=1)
        both = graph.add("ReduceSum", [pair, graph.constant([1], np.int64)], keepdims=1)
        return graph.add("Mul", [both, self._number(0.5)])

    # Programs -------------------------------------------------------------------------------------

    def _program(self, program: Program) -> str:
        """Add the mean value of the ends, with integer masses as in the core."""
        graph = self._graph
        whole = partial(graph.constant, dtype=np.int64)
        ends = []
        masses: list[str | None] = [whole([[2**program.row_bits]])]
        for layer in program.layers:
            arriving: list[list[str]] = [[] for _ in range(len(layer) + 1)]
            for place, (node, mass) in enumerate(zip(layer, masses, strict=True)):
                if mass is None:
                    continue
                if isinstance(node, End):
                    ends.append(graph.add("Mul", [mass, whole([[node.worth]])]))
                    continue
                share = graph.add("Cast", [self.value(in_units(node))], to=INT64)
                product = graph.add("Mul", [mass, share])
                halves_up = graph.add("Add", [product, whole([[SHARE_UNITS // 2]])])
                goes_on = graph.add("Div", [halves_up, whole([[SHARE_UNITS]])])
                arriving[place].append(graph.add("Sub", [mass, goes_on]))
                arriving[place + 1].append(goes_on)
            masses = [self._added(parts) if parts else None for parts in arriving]
        total = graph.add("Cast", [self._added(ends)], to=FLOAT64)
        return graph.add("Div", [total, self._number(float(2**program.row_bits))])
