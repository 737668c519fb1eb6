"""Large sums of trees in SQL: a query of several steps instead of one nested expression.

Databases have limits that a model of some hundreds of trees exceeds as one expression: sqlite
accepts sums of fewer than a thousand terms and some fifteen nested ``CASE``, and duckdb plans an
expression in time quadratic in its size. Here the first step computes, once per row, the interval
of each number and the code of each category. The trees compare these codes, small integers, and
each of the following steps adds some trees to the sum so far, in the order of the model.

DuckDB and PostgreSQL plan the steps of a very large sum for minutes. Where the sum is exact, so
that its order is free, they walk through the trees as data instead: over arrays of their nodes.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import fsum
from typing import NamedTuple

from aucrank._data.schema import Schema
from aucrank._export.formula import (
    Below,
    Branch,
    Condition,
    Constant,
    Formula,
    Known,
    Leaf,
    LevelSteps,
    Linear,
    NumberSteps,
    Program,
    Test,
    Tree,
    conditions_of,
    has_free_order,
    tests_of,
    trees_of,
)
from aucrank._export.sizes import warn_of_size
from aucrank._export.sql import SqlWriter
from aucrank._utils.sql_spelling import spelling_of

# Larger expressions are not readable.
_MOST_READABLE = 500

# Parsers of sqlite before 3.46 accept about 15 nested expressions.
_DEEPEST = 12

# PostgreSQL planned a default booster in 28 s with steps of 600 nodes, in 1.7 s with 6000.
_NODES_OF_STEP = 4000

# Maximal number of columns of a step: PostgreSQL allows 1664, sqlite 2000.
_MOST_COLUMNS = 1500

_FAN_OUT = 4

# Larger sums are walked over arrays: steps of 455,000 nodes took DuckDB 135 s to plan. PostgreSQL
# walks slower than it computes steps, 11 ms a row, but plans in 0.8 s.
_MOST_STEPPED = 100_000

# Bits of a node of a walk: the threshold, the column, and the place of the left side.
_THRESHOLD_BITS = 16
_COLUMN_BITS = 16
_LEFT = _THRESHOLD_BITS + _COLUMN_BITS


def sql_of(formula: Formula, what: str, schema: Schema, dialect: str) -> str:
    """Return a formula as a SQL expression, in steps if it is too large for one.

    Parameters
    ----------
    formula : Formula
        Without opaque parts.
    what : str
        Name of the model, for a warning.
    schema : Schema
        Its columns.
    dialect : Dialect
        How names, strings and booleans are written.

    Raises
    ------
    ValueError
        If a part of it has no form in SQL, or the dialect is unknown or cannot express a name or a
        category.

    Warns
    -----
    ExportSizeWarning
        If it is very large.
    """
    in_steps = spelling_of(dialect).has_layers and needs_layers(formula)
    warn_of_size(formula, schema, "SQL in steps" if in_steps else "SQL", what)
    if in_steps:
        query = LayeredSqlWriter(schema, dialect).query(formula)
        if query is not None:
            return query
    return SqlWriter(schema, dialect).formula(formula)


def needs_layers(formula: Formula) -> bool:
    """Return whether a formula is too large for one expression."""
    trees = list(trees_of(formula))
    n_nodes = sum(len(tree.nodes) // 2 for tree in trees)
    return bool(trees) and (n_nodes > _MOST_READABLE or max(map(_depth, trees)) > _DEEPEST)


class LayeredSqlWriter(SqlWriter):
    """Writes a formula as a query of several steps, an expression over the row outside.

    Parameters
    ----------
    schema : Schema
        Columns of the formula.
    dialect : Dialect
        How names, strings and booleans are written.
    """

    def __init__(self, schema: Schema, dialect: str) -> None:
        super().__init__(schema, dialect)
        self._plain = SqlWriter(schema, dialect)
        self._taken = {schema.shown_name(place).casefold() for place in range(len(schema.features))}
        self._thresholds: dict[int, list[float]] = {}
        # Columns of codes by feature, and whether missing values are below all numbers.
        self._codes: dict[tuple[int, bool], str] = {}
        # Columns of the first step by content; and those of the later steps, of which the ones in
        # use are passed on.
        self._first: dict[str, str] = {}
        self._steps_of_query: list[tuple[str, str, tuple[str, ...]]] = []
        self._in_use: list[str] = []

    def query(self, formula: Formula) -> str | None:
        """Return the query, or None if it needs more columns than databases allow."""
        self._thresholds = _thresholds(formula)
        score = self.formula(formula)
        if len(self._first) > _MOST_COLUMNS:
            return None
        first = ",\n".join(f"{written} AS {name}" for written, name in self._first.items())
        kept = self._spelling.kept
        steps = [f"codes AS {kept}(SELECT {first or '0 AS c0'})"]
        before, codes = "codes", tuple(self._first.values())
        for name, written, in_use in self._steps_of_query:
            columns = ", ".join([*codes, *in_use])
            steps.append(f"{name}_ AS (SELECT {columns},\n{written} AS {name} FROM {before})")
            before = f"{name}_"
        written = ",\n".join(steps)
        return f"(WITH {written}\nSELECT {score} FROM {before})"

    def formula(self, formula: Formula) -> str:
        """Return an expression over the columns of the steps so far; see `SqlWriter.formula`."""
        match formula:
            case Tree(nodes):
                return self._cut_tree(nodes)
            case NumberSteps() | LevelSteps() | Linear() | Program():
                return self._column(self._plain.formula(formula), "f")
        return super().formula(formula)

    def _column(self, written: str, prefix: str) -> str:
        """Return the name of a column of the first step."""
        name = f"{prefix}{len(self._first)}"
        # duckdb lets an expression refer to another one of the same SELECT.
        while name in self._taken:
            name += "_"
        return self._first.setdefault(written, name)

    def _sum(self, parts: Sequence[Formula]) -> str:
        """Return a sum; all but the last terms are added in earlier steps."""
        if self._spelling.has_arrays and sum(map(_size, parts)) > _MOST_STEPPED:
            walk = _WalkSqlWriter(self._schema, self._dialect).walk(parts)
            if walk is not None:
                return self._column(walk, "f")
        return self._in_steps(parts, super()._sum)

    def _single_sum(self, parts: Sequence[Formula]) -> str:
        """Return a sum of single precision; all but the last terms are added in earlier steps."""
        return self._in_steps(parts, super()._single_sum)

    def _in_steps(self, parts: Sequence[Formula], write: Callable[[Sequence[Formula]], str]) -> str:
        """Return a sum, given the function that writes one of few terms."""
        blocks: list[list[Formula]] = [[]]
        size = 0
        for part in parts:
            of_part = _size(part)
            if blocks[-1] and size + of_part > _NODES_OF_STEP:
                blocks.append([])
                size = 0
            blocks[-1].append(part)
            size += of_part
        if len(blocks) == 1 and size <= _NODES_OF_STEP:
            return write(parts)
        total = ""
        for block in blocks:
            written = write(block)
            if total:
                written = f"{total}\n{written}" if written[0] == "-" else f"{total}\n+ {written}"
            total = self._step(written, total)
        return total

    def _step(self, written: str, replaces: str) -> str:
        """Add a step; return the name of its column, which replaces another one."""
        name = f"s{len(self._steps_of_query)}"
        if replaces:
            self._steps_of_query.append((name, written, self._others(replaces)))
            self._in_use.remove(replaces)
        else:
            self._steps_of_query.append((name, written, tuple(self._in_use)))
        self._in_use.append(name)
        return name

    def _others(self, name: str) -> tuple[str, ...]:
        return tuple(column for column in self._in_use if column != name)

    def _cut_tree(self, nodes: Sequence[Branch | Leaf]) -> str:
        """Return a tree; deep parts come first, each with all conditions on its path."""
        deep: list[tuple[int, list[str]]] = []
        whole = self._part_of_tree(nodes, 0, [], _DEEPEST, deep)
        whens: list[str] = []
        while deep:
            place, way = deep.pop(0)
            part = self._part_of_tree(nodes, place, way, _DEEPEST - 1, deep)
            whens.insert(0, f"WHEN {' AND '.join(way)} THEN {part}")
        return f"CASE {' '.join(whens)} ELSE {whole} END" if whens else whole

    def _part_of_tree(
        self,
        nodes: Sequence[Branch | Leaf],
        place: int,
        way: list[str],
        depth: int,
        deep: list[tuple[int, list[str]]],
    ) -> str:
        node = nodes[place]
        if isinstance(node, Leaf):
            return self.real(node.value)
        if depth == 0:
            deep.append((place, way))
            return self.real(0.0)
        condition = self.condition(node.condition)
        left = self._part_of_tree(nodes, node.left, [*way, f"({condition})"], depth - 1, deep)
        right = self._part_of_tree(nodes, node.right, [*way, f"NOT ({condition})"], depth - 1, deep)
        return f"CASE WHEN {condition} THEN {left} ELSE {right} END"

    def _question(self, test: Test) -> str:
        """Return a condition over the codes, which are never NULL."""
        levels = self._schema.features[test.feature].levels
        match test.rule:
            case Known(goes_left) if goes_left == test.missing_left:
                return "1 = 1" if goes_left else "1 = 0"
            case Known(goes_left) if levels is None:
                return f"{self._number_code(test.feature, low=True)} {'>=' if goes_left else '<'} 0"
            case Below(threshold, is_reversed):
                # Missing values are below or above all numbers, according to their side.
                code = self._number_code(test.feature, low=test.missing_left != is_reversed)
                place = bisect_left(self._thresholds[test.feature], threshold) + 1
                return f"{code} {'>=' if is_reversed else '<'} {place}"
            case Known(goes_left):
                left = frozenset(range(len(levels or ()))) if goes_left else frozenset()
            case rule:
                left = rule.left(len(levels or ()))
        code = self._level_code(test.feature)
        # An unseen category has the code of missing values.
        n_levels = len(levels or ())
        sent = sorted(left | {n_levels}) if test.missing_left else sorted(left)
        others = sorted(frozenset(range(n_levels + 1)).difference(sent))
        if not sent or not others:
            return "1 = 1" if sent else "1 = 0"
        shorter, word = (sent, "IN") if len(sent) <= len(others) else (others, "NOT IN")
        return f"{code} {word} ({', '.join(map(str, shorter))})"

    def _number_code(self, feature: int, *, low: bool) -> str:
        """Return the column of the number of thresholds not above a number; see `_question`."""
        if (feature, low) not in self._codes:
            name, thresholds = self.name(feature), self._thresholds.get(feature, [])
            missing = -1 if low else len(thresholds) + 1
            known = self._search(name, thresholds, 0, len(thresholds))
            written = f"CASE WHEN {name} IS NULL THEN {missing} ELSE {known} END"
            self._codes[feature, low] = self._column(written, "n")
        return self._codes[feature, low]

    def _search(self, name: str, thresholds: Sequence[float], low: int, high: int) -> str:
        """Return the number of thresholds not above a number, given that it is in a range."""
        if low == high:
            return str(low)
        n_parts = min(_FAN_OUT, high - low + 1)
        bounds = [low + (high - low + 1) * part // n_parts for part in range(n_parts + 1)]
        *parts, last = (
            self._search(name, thresholds, first, end - 1) for first, end in pairwise(bounds)
        )
        whens = (
            f"WHEN {name} < {self.number(thresholds[bound - 1])} THEN {part}"
            for bound, part in zip(bounds[1:-1], parts, strict=True)
        )
        return f"CASE {' '.join(whens)} ELSE {last} END"

    def _level_code(self, feature: int) -> str:
        """Return the column of the code of a category."""
        if (feature, False) not in self._codes:
            levels = self._schema.features[feature].levels or ()
            name = self.name(feature)
            whens = (
                f"WHEN {name} IS NULL THEN {code}"
                if level is None
                else f"WHEN {name} = {self.literal(feature, level)} THEN {code}"
                for code, level in enumerate(levels)
            )
            written = f"CASE {' '.join(whens)} ELSE {len(levels)} END" if levels else "0"
            self._codes[feature, False] = self._column(written, "k")
        return self._codes[feature, False]


class _Walk(NamedTuple):
    """Trees as arrays: their first nodes, all other nodes, and the values of their leaves."""

    trees: Sequence[Tree]
    roots: Sequence[int]
    nodes: Sequence[int]
    values: Sequence[float]


class _WalkSqlWriter(LayeredSqlWriter):
    """Writes a sum of trees as a query over an array of their nodes.

    A node is an integer: the place of its left side, which the right one follows, the column of the
    row, and the code from which on a row goes to the right. A leaf is the negative place of its
    value. All trees advance together, node by node.
    """

    def walk(self, parts: Sequence[Formula]) -> str | None:
        """Return the query, or None if the order of the sum matters or a number is too large."""
        trees = [part for part in parts if isinstance(part, Tree)]
        constants = [part.value for part in parts if isinstance(part, Constant)]
        if len(trees) + len(constants) < len(parts) or not has_free_order(parts):
            return None
        self._thresholds = {}
        for tree in trees:
            for feature, thresholds in _thresholds(tree).items():
                self._thresholds.setdefault(feature, []).extend(thresholds)
        self._thresholds = {at: sorted(set(of)) for at, of in self._thresholds.items()}
        columns: dict[str, int] = {}
        nodes: list[int] = []
        values: list[float] = []
        roots = [self._add_tree(tree, columns, nodes, values) for tree in trees]
        most_thresholds = max(map(len, self._thresholds.values()), default=0)
        if (
            not columns
            or len(self._first) > _MOST_COLUMNS
            or most_thresholds >= (1 << _THRESHOLD_BITS)
            or len(columns) >= (1 << _COLUMN_BITS)
        ):
            return None
        first = ",\n".join(f"{written} AS {name}" for written, name in self._first.items())
        numbers = f"(SELECT {first or '0 AS c0'}{self._spelling.fence}) AS numbers"
        walked = self._walk_lists if self._spelling.has_lambdas else self._walk_rounds
        return walked(_Walk(trees, roots, nodes, values), list(columns), numbers, fsum(constants))

    def _walk_rounds(
        self, walk: "_Walk", columns: Sequence[str], numbers: str, constant: float
    ) -> str:
        """Return a recursive query, each round of which advances all trees by a node."""
        kept, written = self._spelling.kept, self.real(constant)
        return (
            f"(WITH RECURSIVE codes AS {kept}(SELECT ARRAY[{', '.join(columns)}] AS c"
            f" FROM {numbers}),\n"
            f"walk (w) AS (SELECT unnest({_array(walk.roots, 'bigint')}) UNION ALL\n"
            f"SELECT ({_array(walk.nodes, 'bigint')})[{_next_place('w', 'int')}]"
            f" FROM walk, codes WHERE w > 0)\n"
            f"SELECT SUM(({_array(walk.values, 'float8')})[(-w)::int]) + {written}"
            f" FROM walk WHERE w < 0)"
        )

    def _walk_lists(
        self, walk: "_Walk", columns: Sequence[str], numbers: str, constant: float
    ) -> str:
        """Return nested transformations of a list of nodes, one for each tree and row.

        The deepest trees start first, so that all end together. A leaf leads to itself: a step that
        looks at its node first took many times as long.
        """
        starts: dict[int, list[int]] = {}
        nodes, leaves = [*walk.nodes], [0.0] * len(walk.nodes)
        for tree, root in zip(walk.trees, walk.roots, strict=True):
            if root < 0:
                nodes.append(root)
                leaves.append(0.0)
            starts.setdefault(_depth(tree), []).append(root if root > 0 else _leaf(len(nodes)))
        for place, node in enumerate(nodes):
            if node < 0:
                nodes[place], leaves[place] = _leaf(place + 1), walk.values[-node - 1]
        at = ""
        for left in range(max(starts), -1, -1):
            if left in starts:
                roots = _list(starts[left], "BIGINT")
                at = f"list_concat({at}, {roots})" if at else roots
            if left:
                at = f"list_transform({at}, lambda w: nodes[{_next_place('w', 'BIGINT')}])"
        return (
            f"(SELECT list_sum(list_transform({at}, lambda w: leaves[w >> {_LEFT}]))"
            f" + {self.real(constant)} FROM (SELECT [{', '.join(columns)}] AS c,"
            f" {_list(nodes, 'BIGINT')} AS nodes, {_list(leaves, 'DOUBLE')} AS leaves"
            f" FROM {numbers}) AS codes)"
        )

    def _add_tree(
        self, tree: Tree, columns: dict[str, int], nodes: list[int], values: list[float]
    ) -> int:
        """Add the nodes of a tree but the first, which is returned; places count from 1."""
        words = [0] * len(tree.nodes)
        places = [0] * len(tree.nodes)
        for at, node in enumerate(tree.nodes):
            if isinstance(node, Leaf):
                values.append(node.value)
                words[at] = -len(values)
                continue
            left = len(nodes) + 1
            nodes += [0, 0]
            places[node.left], places[node.right] = left, left + 1
            written, threshold = self._code_and_threshold(node.condition)
            column = columns.setdefault(written, len(columns) + 1)
            words[at] = ((left << _COLUMN_BITS) + column << _THRESHOLD_BITS) + threshold
        for place, word in zip(places, words, strict=True):
            if place:
                nodes[place - 1] = word
        return words[0]

    def _code_and_threshold(self, condition: Condition) -> tuple[str, int]:
        """Return an integer of the row, and the least for which it goes to the right."""
        match condition:
            case Test(feature, Below(threshold, False), missing_left):
                code = self._number_code(feature, low=missing_left)
                return code, bisect_left(self._thresholds[feature], threshold) + 1
        return f"CASE WHEN {self.condition(condition)} THEN 0 ELSE 1 END", 1


def _next_place(node: str, whole: str) -> str:
    """Return the place after an inner node."""
    column = f"(({node} >> {_THRESHOLD_BITS}) & {(1 << _COLUMN_BITS) - 1})::{whole}"
    is_right = f"(c[{column}] >= ({node} & {(1 << _THRESHOLD_BITS) - 1}))::int"
    return f"({node} >> {_LEFT})::{whole} + {is_right}"


def _leaf(place: int) -> int:
    """Return a node that every row leaves for itself: no code is as large as its threshold."""
    return (((place << _COLUMN_BITS) + 1) << _THRESHOLD_BITS) + (1 << _THRESHOLD_BITS) - 1


def _array(numbers: Sequence[float], of: str) -> str:
    return f"'{{{','.join(map(repr, numbers))}}}'::{of}[]"


def _list(numbers: Sequence[float], of: str) -> str:
    return f"'[{','.join(map(repr, numbers))}]'::{of}[]"


def _size(formula: Formula) -> int:
    """Return the number of nodes written for a formula."""
    return sum(len(tree.nodes) for tree in trees_of(formula)) + 1


def _depth(tree: Tree) -> int:
    """Return the number of branches on the longest path."""
    depths = [0] * len(tree.nodes)
    for place, node in enumerate(tree.nodes):
        if isinstance(node, Branch):
            depths[node.left] = depths[node.right] = depths[place] + 1
    return max(depths)


def _thresholds(formula: Formula) -> dict[int, list[float]]:
    """Return the thresholds of each feature in trees and conditions, ascending."""
    found: dict[int, set[float]] = {}
    for condition in conditions_of(formula):
        for test in tests_of(condition):
            if isinstance(test.rule, Below):
                found.setdefault(test.feature, set()).add(test.rule.threshold)
    return {feature: sorted(thresholds) for feature, thresholds in found.items()}
