"""Formulas as source code without dependencies, in several languages.

A formula becomes a few statements over tables of numbers. All its trees are one table of nodes,
traversed by a loop: nested conditions for thousands of trees take a compiler minutes. Conditions
with several tests become nodes, too, so that a language needs only one kind of test.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from aucrank._data.schema import Schema
from aucrank._export.code_languages import LANGUAGES, Language, Tables
from aucrank._export.formula import (
    All,
    Always,
    AnyOf,
    Arithmetic,
    Below,
    Branch,
    Condition,
    Constant,
    End,
    Fork,
    Formula,
    Indicator,
    Known,
    Leaf,
    LevelSteps,
    Linear,
    LinearTerm,
    Logistic,
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
    features_of,
    in_units,
)
from aucrank._utils.params import check_choice


def code_of(formula: Formula, schema: Schema, language: str, what: str) -> str:
    """Return the source of a function that computes a formula.

    Parameters
    ----------
    formula : Formula
        Without opaque parts.
    schema : Schema
        Columns of the fit.
    language : str
        One of `LANGUAGES`.
    what : str
        Description of the result, for a comment.

    Raises
    ------
    ValueError
        If the language is unknown, or cannot express a category exactly.
    """
    check_choice(language, "language", tuple(LANGUAGES))
    writer = _CodeWriter(schema, LANGUAGES[language])
    result = writer.formula(formula)
    used = sorted(set(features_of(formula)))
    writer.language.check_levels(schema, used)
    return writer.language.module(schema, used, writer.tables, writer.statements, result, what)


@dataclass
class _CodeWriter:
    """Writes formulas as statements that set variables, and tables that they read."""

    schema: Schema
    language: Language
    tables: Tables = field(default_factory=Tables)
    statements: list[str] = field(default_factory=list)
    n_variables: int = 0

    def formula(self, formula: Formula) -> str:
        """Return an expression for the value of a formula, after the statements that it needs."""
        number = self.language.number
        match formula:
            case Constant(value):
                return number(value)
            case Tree() | Indicator():
                return f"tree(x, {self._root(formula)})"
            case NumberSteps(feature, thresholds, values, missing, special):
                start = self._table(thresholds, values)
                written = (
                    f"numberSteps(x[{feature}], {start}, {len(thresholds)}, {number(missing)})"
                )
                for at, value in special:
                    written = f"special(x[{feature}], {number(at)}, {number(value)}, {written})"
                return written
            case LevelSteps(feature, values, missing):
                start = self._table(values)
                return f"levelSteps(x[{feature}], {start}, {len(values)}, {number(missing)})"
            case StepsOf(of, thresholds, values):
                inner = self.formula(of)
                start = self._table(thresholds, values)
                return f"numberSteps({inner}, {start}, {len(thresholds)}, {number(values[-1])})"
            case Linear():
                return self._linear(formula)
            case Sum(terms):
                return self._sum(terms)
            case SingleSum(terms):
                return self._sum(terms, "addSingles", "single")
            case Product(factor, of):
                return self._set(f"{number(factor)} * {self._set(self.formula(of))}")
            case Quotient(numerator, denominator, otherwise):
                above, below = self.formula(numerator), self.formula(denominator)
                return self._set(f"quotient({above}, {below}, {number(otherwise)})")
            case Logistic(of):
                return self._set(f"logistic({self.formula(of)})")
            case Median(of):
                values_of = [self.formula(part) for part in of]
                return self._set(f"median({self.language.array(values_of)}{self._count(of)})")
            case Program():
                return self._program(formula)
        raise ValueError(f"code has no form for a {type(formula).__name__}")

    def _count(self, of: Sequence[Formula]) -> str:
        return f", {len(of)}" if self.language.counts_arrays else ""

    def _set(self, written: str, kind: str = "number") -> str:
        """Add a statement that sets a new variable; return its name."""
        name = f"v{self.n_variables}"
        self.n_variables += 1
        self.statements.append(self.language.declared(kind, name, written))
        return name

    def _sum(self, terms: Sequence[Formula], add_trees: str = "addTrees", rounded: str = "") -> str:
        """Return a variable that sums the terms in their order.

        Parameters
        ----------
        terms : sequence of Formula
            The terms.
        add_trees : str
            Name of the function that adds trees.
        rounded : str
            Name of the function that rounds terms and partial sums, if there is one.
        """
        total = self._set(self.language.number(0.0))
        place = 0
        while place < len(terms):
            trees: list[Tree | Indicator] = []
            for term in terms[place:]:
                if not isinstance(term, Tree | Indicator):
                    break
                trees.append(term)
            if len(trees) > 1:
                first = len(self.tables.roots)
                self.tables.roots += map(self._root, trees)
                written = f"{add_trees}(x, {total}, {first}, {len(self.tables.roots)})"
                self.statements.append(self.language.changed(total, written))
                place += len(trees)
            else:
                written = self.formula(terms[place])
                added = f"{total} + {rounded}({written})" if rounded else f"{total} + {written}"
                added = f"{rounded}({added})" if rounded else added
                self.statements.append(self.language.changed(total, added))
                place += 1
        return total

    def _linear(self, linear: Linear) -> str:
        number = self.language.number
        total = self._set(number(0.0))
        for term in linear.terms:
            if not isinstance(term, LinearTerm):
                self.statements.append(
                    self.language.changed(total, f"{total} + {self.formula(term)}")
                )
                continue
            value = self._computed(term)
            if (scale := term.scale) is not None:
                unit = 0.0 if scale.unit is None else scale.unit
                settings = (scale.mean, scale.deviation, scale.limit, unit)
                value = f"scaled({value}, {', '.join(map(number, settings))})"
            self.statements.append(
                self.language.changed(total, f"{total} + {number(term.weight)} * {value}")
            )
        return self._set(f"{total} + {number(linear.intercept)}")

    def _computed(self, term: LinearTerm) -> str:
        """Return the number of a term, before it is standardised."""
        number = self.language.number
        value = f"x[{term.feature}]"
        for operation in term.operations:
            if isinstance(operation, Arithmetic):
                value = f"({value} {operation.operator} {number(operation.number)})"
            else:
                value = f"clipped({value}, {number(operation.low)}, {number(operation.high)})"
        return value if term.fill is None else f"filled({value}, {number(term.fill)})"

    def _program(self, program: Program) -> str:
        whole = self.language.whole
        total = self._set(whole(0), "whole")
        masses = [whole(2**program.row_bits)]
        for nodes in program.layers:
            following: list[list[str]] = [[] for _ in range(len(nodes) + 1)]
            for place, (node, mass) in enumerate(zip(nodes, masses, strict=True)):
                if isinstance(node, End):
                    added = f"{total} + {whole(node.worth)} * ({mass})"
                    self.statements.append(self.language.changed(total, added))
                    continue
                here = self._set(mass, "whole")
                share = f"shareOf({here}, {self.formula(in_units(node))})"
                goes_on = self._set(share, "whole")
                following[place].append(f"{here} - {goes_on}")
                following[place + 1].append(goes_on)
            masses = [" + ".join(parts) or whole(0) for parts in following]
        units = self.language.number(float(2**program.row_bits))
        return self._set(f"meanOf({total}, {units})")

    def _table(self, *numbers: Sequence[float]) -> int:
        """Add numbers to the table; return where they start."""
        start = len(self.tables.numbers)
        for values in numbers:
            self.tables.numbers += values
        return start

    # Trees ----------------------------------------------------------------------------------------

    def _root(self, tree: Tree | Indicator) -> int:
        """Add the nodes of a tree; return the position of the first."""
        if isinstance(tree, Indicator):
            holds, fails = self._leaf(tree.value), self._leaf(0.0)
            return self._condition(tree.condition, holds, fails)
        # Children follow their parent.
        places = [0] * len(tree.nodes)
        for place, node in reversed(list(enumerate(tree.nodes))):
            if isinstance(node, Leaf):
                places[place] = self._leaf(node.value)
            elif isinstance(node, Branch):
                left, right = places[node.left], places[node.right]
                places[place] = self._condition(node.condition, left, right)
        return places[0]

    def _leaf(self, value: float) -> int:
        return self.tables.add_node(-1, 0, value, 0, 0)

    def _condition(self, condition: Condition, holds: int, fails: int) -> int:
        """Add the nodes of a condition; return the first, which leads to one of two targets."""
        match condition:
            case Always(is_so):
                return holds if is_so else fails
            case Test():
                return self._test(condition, holds, fails)
            case All(parts):
                for part in reversed(parts):
                    holds = self._condition(part, holds, fails)
                return holds
            case AnyOf(parts):
                for part in reversed(parts):
                    fails = self._condition(part, holds, fails)
                return fails
            case Fork(test, _, left, right):
                on_left = self._condition(left, holds, fails)
                return self._test(test, on_left, self._condition(right, holds, fails))
        raise ValueError(f"code has no form for a condition of kind {type(condition).__name__}")

    def _test(self, test: Test, left: int, right: int) -> int:
        """Add a node: a test of a number against a threshold, or of a category for a set."""
        add = self.tables.add_node
        match test.rule:
            case Below(threshold, is_reversed):
                if is_reversed:
                    return add(test.feature, int(not test.missing_left), threshold, right, left)
                return add(test.feature, int(test.missing_left), threshold, left, right)
            case Known(goes_left):
                known, missing = (
                    left if side else right for side in (goes_left, test.missing_left)
                )
                return add(test.feature, 0, inf, known, missing)
            case among:
                n_levels = len(self.schema.features[test.feature].levels or ())
                start = self.tables.add_set(among.left(n_levels), n_levels)
                return add(test.feature, 2 + int(test.missing_left), float(start), left, right)
