"""Formulas as SQL expressions, so that a database scores its own rows."""

import re
from collections.abc import Sequence

from aucrank._data.schema import Level, Schema
from aucrank._export.formula import (
    SHARE_UNITS,
    All,
    Always,
    AnyOf,
    Arithmetic,
    Below,
    Branch,
    Clip,
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
    NumberSteps,
    Product,
    Program,
    Quotient,
    SingleSum,
    Steps,
    StepsOf,
    Sum,
    Test,
    Tree,
    in_units,
    no_single_sum,
)
from aucrank._utils.sql_spelling import check_characters, column_name, spelling_of

# Decimal digits that every double keeps, and the bound below which it keeps all integers.
_PLAIN_DIGITS = 15
_PLAIN_NUMBERS = 10**_PLAIN_DIGITS

_NEGATIVE_NUMBER = re.compile(r"-[0-9.]+(e[-+]?[0-9]+)?(::float8)?")


class SqlWriter:
    """Writes formulas as SQL expressions.

    A missing value is NULL. A comparison with NULL is not true, so a condition is written such that
    a row for which it is not true goes right, with an explicit test for NULL if missing values go
    left.

    Parameters
    ----------
    schema : Schema
        Columns of the formula.
    dialect : Dialect
        How names, strings and booleans are written.

    Raises
    ------
    ValueError
        If the dialect is unknown.
    """

    def __init__(self, schema: Schema, dialect: str) -> None:
        self._schema = schema
        self._dialect = dialect
        self._spelling = spelling_of(dialect)

    def formula(self, formula: Formula) -> str:
        """Return an expression for the value of a formula.

        Raises
        ------
        ValueError
            If it has no form in SQL.
        """
        match formula:
            case Constant(value):
                return self.double(value)
            case Tree(nodes):
                return self._tree(nodes, 0, "")
            case NumberSteps() | LevelSteps():
                return self._steps(formula)
            case StepsOf(of, thresholds, values):
                return self._steps_of(self.formula(of), thresholds, values)
            case Linear(terms, intercept):
                written = [
                    self._weighted(term) if isinstance(term, LinearTerm) else self.formula(term)
                    for term in terms
                ]
                return _signed([*written, *self._constant(intercept)])
            case Indicator(condition, value):
                return f"CASE WHEN {self.condition(condition)} THEN {self.double(value)} ELSE 0 END"
            case Sum(parts):
                return self._sum(parts)
            case SingleSum(parts):
                return f"CAST(({self._single_sum(parts)}) AS {self._spelling.double_type})"
            case Product(factor, of):
                return self._product(factor, of)
            case Quotient(numerator, denominator, otherwise):
                return self._quotient(numerator, denominator, otherwise)
            case Program():
                return self._program(formula)
            case Logistic(of):
                one = self.real(1.0)
                return f"{one} / ({one} + EXP(-(\n{self.formula(of)}\n)))"
        raise ValueError(
            f"SQL has no form for a {type(formula).__name__.lower()} of several scores"
        )

    def _tree(self, nodes: Sequence[Branch | Leaf], place: int, indent: str) -> str:
        node = nodes[place]
        if isinstance(node, Leaf):
            return self.double(node.value)
        left, right = (self._tree(nodes, side, indent + "  ") for side in (node.left, node.right))
        condition = self.condition(node.condition)
        return f"CASE WHEN {condition} THEN {left}\n{indent}ELSE {right}\n{indent}END"

    def _steps(self, steps: Steps) -> str:
        """Return a step function as a ``CASE`` expression, or as a number if it is constant."""
        name = self.name(steps.feature)
        missing = self.double(steps.missing)
        if isinstance(steps, NumberSteps):
            *below, last = map(self.double, steps.values)
            whens = [f"WHEN {name} IS NULL THEN {missing}"] * (missing != last or bool(below))
            for special, value in steps.special:
                if (said := self.double(value)) != last or below:
                    whens.append(f"WHEN {name} = {self.number(special)} THEN {said}")
            whens += [
                f"WHEN {name} < {self.number(threshold)} THEN {value}"
                for threshold, value in zip(steps.thresholds, below, strict=True)
            ]
        else:
            whens, last = [], missing
            levels = self._schema.features[steps.feature].levels or ()
            for codes, value in steps.by_value():
                if (said := self.double(value)) != missing:
                    known = self.among(steps.feature, [levels[code] for code in codes])
                    whens.append(f"WHEN {known} THEN {said}")
        return "\n  ".join(["CASE", *whens, f"ELSE {last} END"]) if whens else last

    def _steps_of(self, of: str, thresholds: Sequence[float], values: Sequence[float]) -> str:
        *below, last = map(self.double, values)
        whens = [
            f"WHEN\n{of}\n< {self.double(threshold)} THEN {value}"
            for threshold, value in zip(thresholds, below, strict=True)
        ]
        return " ".join(["CASE", *whens, f"ELSE {last} END"]) if whens else last

    def _weighted(self, term: LinearTerm) -> str:
        value, weight = self._computed(term), self.double(term.weight)
        if term.scale is None:
            return f"{weight} * {value}"
        scale = term.scale
        deviations = f"({value} - {self.real(scale.mean)}) / {self.real(scale.deviation)}"
        limit = self.real(scale.limit)
        within = deviations
        if scale.unit is not None:
            parts = self.real(1 / scale.unit)
            within = f"{self._spelling.rounded(f'{deviations} * {parts}')} / {parts}"
        return (
            f"{weight} * CASE WHEN {value} IS NULL THEN 0 WHEN {deviations} > {limit} THEN {limit}"
            f" WHEN {deviations} < -{limit} THEN -{limit} ELSE {within} END"
        )

    def _computed(self, term: LinearTerm) -> str:
        """Return the number of a term, before it is standardised."""
        value = self.name(term.feature)
        for operation in term.operations:
            match operation:
                case Arithmetic(operator, number):
                    value = f"({value} {operator} {self.real(number)})"
                case Clip(low, high):
                    least, most = self.real(low), self.real(high)
                    value = (
                        f"CASE WHEN {value} > {most} THEN {most}"
                        f" WHEN {value} < {least} THEN {least} ELSE {value} END"
                    )
        return value if term.fill is None else f"COALESCE({value}, {self.real(term.fill)})"

    def _sum(self, parts: Sequence[Formula]) -> str:
        written = []
        for part in parts:
            match part:
                case Constant(value):
                    written += self._constant(value)
                case Product() | Sum() | SingleSum() | Linear() | Quotient():
                    written.append(f"({self.formula(part)})")
                case _:
                    written.append(self.formula(part))
        return _signed(written)

    def _single_sum(self, parts: Sequence[Formula]) -> str:
        """Return a sum of terms of single precision."""
        if not self._spelling.single:
            raise no_single_sum(f"SQL of the dialect {self._dialect!r}")
        # From 0 on, since a sum may have no terms.
        zero = Constant(0.0)
        return "\n+ ".join(
            f"CAST({self.formula(part)} AS {self._spelling.single})" for part in parts or [zero]
        )

    def _constant(self, value: float) -> list[str]:
        """Return a constant as a part of a sum, none if it is 0."""
        return [self.double(value)] if value else []

    def _product(self, factor: float, of: Formula) -> str:
        if factor == 1.0:
            return self.formula(of)
        return f"{self.real(factor)} * ({self.formula(of)})"

    def _quotient(self, numerator: Formula, denominator: Formula, otherwise: float) -> str:
        above = self.formula(numerator)
        if isinstance(denominator, Constant) and denominator.value > 0.0:
            # A quotient of integers would be an integer.
            return f"(\n{above}\n) / {self.real(denominator.value)}"
        base = self.double(otherwise)
        below = self.formula(denominator)
        if isinstance(denominator, Sum) and not denominator.terms:
            return base
        return f"COALESCE((\n{above}\n) / NULLIF(\n{below}\n, 0), {base})"

    def _program(self, program: Program) -> str:
        """Return nested queries, each of which advances the masses of a row by one layer.

        Masses and shares are integers, as in the core. Only the innermost query, which has no table
        of its own, refers to the columns of the row.
        """
        if not self._spelling.nests_queries:
            raise ValueError(
                f"{self._dialect} takes no query in FROM that refers to the row outside, which a"
                " branching program needs"
            )
        shares, ends, queries = [], [], []
        masses = [self._spelling.whole(2**program.row_bits)]
        for layer, nodes in enumerate(program.layers):
            columns = [f"{mass} AS m{layer}_{place}" for place, mass in enumerate(masses)]
            following: list[list[str]] = [[] for _ in range(len(nodes) + 1)]
            for place, (node, mass) in enumerate(zip(nodes, masses, strict=True)):
                at = f"{layer}_{place}"
                if isinstance(node, End):
                    ends.append(f"{self._spelling.whole(node.worth)} * m{at}")
                    continue
                share = self.formula(in_units(node))
                shares.append(f"{share} AS s{at}")
                columns.append(
                    f"{self._spelling.shifted(f'({mass}) * s{at} + {SHARE_UNITS // 2}')} AS r{at}"
                )
                following[place].append(f"m{at} - r{at}")
                following[place + 1].append(f"r{at}")
            queries.append(columns)
            masses = [" + ".join(parts) or self._spelling.whole(0) for parts in following]
        query = f"SELECT {', '.join(shares)}" if shares else "SELECT 0 AS s"
        for layer, columns in enumerate(queries):
            query += self._spelling.fence
            query = f"SELECT *, {', '.join(columns)} FROM ({query}) AS layer{layer}"
        mean = f"({' + '.join(ends)}) * {self.real(1.0)} / {self.real(float(2**program.row_bits))}"
        return f"(SELECT {mean} FROM ({query}{self._spelling.fence}) AS program)"

    def name(self, feature: int) -> str:
        """Return the quoted name of a column.

        Raises
        ------
        ValueError
            If the dialect cannot express it.
        """
        name = self._schema.features[feature].name
        if name is None:
            name = self._schema.shown_name(feature)
        if not name:
            raise ValueError(f"column {feature} has an empty name, which SQL cannot write")
        what = f"the name of column {self._schema.label(feature)}"
        return column_name(name, self._dialect, what)

    def literal(self, feature: int, level: Level) -> str:
        """Return a category of a column as a SQL literal.

        Raises
        ------
        ValueError
            If it has no form in SQL.
        """
        if isinstance(level, bool):
            return self._spelling.true if level else self._spelling.false
        if isinstance(level, float):
            return self.number(level)
        if not isinstance(level, str):
            return repr(level)
        check_characters(level, f"the category {level!r} of column {self._schema.label(feature)}")
        return self._spelling.text(level)

    def among(self, feature: int, levels: Sequence[Level | None], *, negated: bool = False) -> str:
        """Return a condition that is true for some categories of a column, or for all others.

        It is not true for NULL, unless None is a category.
        """
        name = self.name(feature)
        is_null = f"{name} IS {'NOT ' if negated else ''}NULL"
        listed = ", ".join(self.literal(feature, level) for level in levels if level is not None)
        if None in levels and not listed:
            return is_null
        known = f"{name} {'NOT IN' if negated else 'IN'} ({listed})"
        # NULL is not true for NOT IN anyway.
        return f"({is_null} OR {known})" if None in levels and not negated else known

    def number(self, value: float) -> str:
        """Return a number such that every database reads the same double; NaN is NULL."""
        if value != value:
            return "NULL"
        if value.is_integer() and abs(value) < _PLAIN_NUMBERS:
            return str(int(value))
        text = repr(value)
        # A literal without an exponent is a decimal in many databases, and a long one may become
        # the next double: in duckdb 1.1, one in fifteen.
        digits = text.lstrip("-").replace(".", "").strip("0")
        return text if "e" in text or len(digits) <= _PLAIN_DIGITS else f"{text}e0"

    def double(self, value: float) -> str:
        """Return a number that every database takes for a double, also in sums."""
        text = self.number(value)
        # Decimals would be added exactly, not as doubles.
        text = f"{text}e0" if "." in text and "e" not in text else text
        return self._spelling.double(text) if "e" in text else text

    def real(self, value: float) -> str:
        """Return a number such that a quotient by it is not an integer."""
        text = self.double(value)
        return text if "e" in text else self._spelling.double(f"{text}e0")

    def condition(self, condition: Condition) -> str:
        """Return a condition that is true for the rows on the left, and not true for the others."""
        match condition:
            case Test():
                return self._question(condition)
            case Always(holds):
                return "1 = 1" if holds else "1 = 0"
            case All(parts):
                return " AND ".join(f"({self.condition(part)})" for part in parts)
            case AnyOf(parts):
                return " OR ".join(f"({self.condition(part)})" for part in parts)
            case Fork(test, _, Always(True), Always(False)):
                return self._question(test)
            case Fork(test, _, left, right):
                sides = " ELSE ".join(self._as_number(side) for side in (left, right))
                return f"CASE WHEN {self._question(test)} THEN {sides} END = 1"
        raise ValueError(f"SQL has no form for a condition of kind {type(condition).__name__}")

    def _as_number(self, condition: Condition) -> str:
        if isinstance(condition, Always):
            return str(int(condition.holds))
        return f"CASE WHEN {self.condition(condition)} THEN 1 ELSE 0 END"

    def _question(self, test: Test) -> str:
        """Return a condition that is true for the rows that a test sends left."""
        name = self.name(test.feature)
        levels = self._schema.features[test.feature].levels
        match test.rule:
            case Below(threshold, is_reversed):
                known = f"{name} {'>=' if is_reversed else '<'} {self.number(threshold)}"
            case Known(goes_left) if levels is None:
                if goes_left == test.missing_left:
                    return "1 = 1" if goes_left else "1 = 0"
                return f"{name} IS NOT NULL" if goes_left else f"{name} IS NULL"
            case Known(goes_left):
                return self._side(test, (levels or ()) if goes_left else ())
            case rule:
                codes = rule.left(len(levels or ()))
                left = [level for code, level in enumerate(levels or ()) if code in codes]
                return self._side(test, left)
        return f"({name} IS NULL OR {known})" if test.missing_left else known

    def _side(self, test: Test, left: Sequence[Level | None]) -> str:
        """Return a condition for the categories on the left.

        Unseen ones are treated like NULL, unless NULL is a category of its own.
        """
        levels = self._schema.features[test.feature].levels or ()
        on_left = frozenset(left)
        listed = [level for level in levels if level not in on_left] if test.missing_left else left
        if not listed:
            return "1 = 1" if test.missing_left else "1 = 0"
        known = self.among(test.feature, listed, negated=test.missing_left)
        if not test.missing_left or None in listed:
            return known
        return f"({self.name(test.feature)} IS NULL OR {known})"


def _signed(parts: Sequence[str]) -> str:
    """Return a sum of some terms, with the sign of negative numbers in place of a plus."""
    text = ""
    for part in parts:
        if not text:
            text = part
        elif _NEGATIVE_NUMBER.fullmatch(part):
            text += f"\n- {part[1:]}"
        else:
            text += f"\n+ {part}"
    return text or "0.0"
