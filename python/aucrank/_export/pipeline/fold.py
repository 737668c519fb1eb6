"""Formulas over the columns of a ranker, as formulas over the columns of the data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import floor

from aucrank._data.schema import Level
from aucrank._export.formula import (
    All,
    Always,
    Among,
    AnyOf,
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
    Scale,
    SingleSum,
    Steps,
    StepsOf,
    Sum,
    Test,
    Tree,
)
from aucrank._export.pipeline.columns import Category, Number, Read, is_same, mapped, stepped
from aucrank._export.pipeline.doubles import after
from aucrank._export.pipeline.plan import Plan


def folded(formula: Formula, plan: Plan) -> Formula:
    """Return a formula over the columns of the data.

    Parameters
    ----------
    formula : Formula
        The formula over the columns of the ranker.
    plan : Plan
        These columns.

    Raises
    ------
    ValueError
        If a linear term of it has no form.
    """
    return _Folding(plan).formula(formula)


class _Folding:
    def __init__(self, plan: Plan) -> None:
        self._columns = plan.columns
        self._schema = plan.schema
        self._codes: list[Mapping[Level | None, int]] = [
            {level: code for code, level in enumerate(levels or ())}
            for levels in (feature.levels for feature in plan.schema.features)
        ]
        # Trees of a booster share their thresholds.
        self._tests: dict[Test, Condition] = {}

    def formula(self, formula: Formula) -> Formula:
        match formula:
            case Tree(nodes):
                return self._tree(nodes)
            case NumberSteps() | LevelSteps():
                return self._steps(formula)
            case Linear(terms, intercept):
                of_data = (
                    self._linear_term(term) if isinstance(term, LinearTerm) else self.formula(term)
                    for term in terms
                )
                return Linear(tuple(of_data), intercept)  # type: ignore[arg-type]
            case Indicator(condition, value):
                return Indicator(self._condition(condition), value)
            case Sum(parts):
                return Sum(tuple(map(self.formula, parts)))
            case SingleSum(parts):
                return SingleSum(tuple(map(self.formula, parts)))
            case Median(parts):
                return Median(tuple(map(self.formula, parts)))
            case StepsOf(of) | Product(_, of) | Logistic(of):
                return replace(formula, of=self.formula(of))
            case Quotient(numerator, denominator, otherwise):
                return Quotient(self.formula(numerator), self.formula(denominator), otherwise)
            case Program(row_bits, layers):
                return Program(
                    row_bits,
                    tuple(
                        tuple(n if isinstance(n, End) else self.formula(n) for n in layer)
                        for layer in layers
                    ),
                )
        return formula

    # Conditions -----------------------------------------------------------------------------------

    def _tree(self, nodes: Sequence[Branch | Leaf]) -> Tree:
        """Return a tree without the branches whose condition is constant."""
        found: list[Branch | Leaf] = []
        # Places of branches that are added already, but whose sides are still to come.
        waiting: list[int] = []

        def add(place: int) -> int:
            """Add a node, or the one that all rows end at from there; return its new place."""
            node = nodes[place]
            while isinstance(node, Branch):
                condition = self._condition(node.condition)
                if not isinstance(condition, Always):
                    waiting.append(len(found))
                    node = replace(node, condition=condition)
                    break
                node = nodes[node.left if condition.holds else node.right]
            found.append(node)
            return len(found) - 1

        add(0)
        while waiting:
            at = waiting.pop()
            node = found[at]
            if isinstance(node, Branch):
                found[at] = replace(node, left=add(node.left), right=add(node.right))
        return Tree(tuple(found))

    def _condition(self, condition: Condition) -> Condition:
        match condition:
            case Test():
                if condition not in self._tests:
                    self._tests[condition] = self._test(condition)
                return self._tests[condition]
            case All(parts):
                return _joined(All, [self._condition(part) for part in parts])
            case AnyOf(parts):
                return _joined(AnyOf, [self._condition(part) for part in parts])
            case Fork(test, share, left, right):
                sides = self._condition(left), self._condition(right)
                return _chosen(self._condition(test), share, *sides)
        return condition

    def _test(self, test: Test) -> Condition:
        column = self._columns[test.feature]
        left, right = 1.0, 0.0
        missing = float(test.missing_left)
        match test.rule:
            case Below(threshold, is_reversed):
                values = (right, left) if is_reversed else (left, right)
                sides = stepped(column, (threshold,), values, missing)
            case Known(goes_left):
                sides = stepped(column, (), (float(goes_left),), missing)
            case Among(codes, is_reversed):
                sides = mapped(
                    column,
                    lambda code: missing if code != code else float((code in codes) != is_reversed),
                )
        if isinstance(sides, Number):
            holds = [bool(piece) for piece in sides.pieces]
            return _of_pieces(sides.place, sides.breaks, holds, bool(sides.missing))
        return self._among(sides)

    def _among(self, sides: Category) -> Condition:
        """Return a condition from a category with the value 1 on the left, and 0 on the right."""
        unknown_left = bool(sides.unknown)
        codes = self._codes[sides.place]
        others = frozenset(
            codes[level]
            for level, side in sides.table.items()
            if bool(side) != unknown_left and level in codes
        )
        if not others:
            return Always(unknown_left)
        return Test(sides.place, Among(others, is_reversed=unknown_left), unknown_left)

    # Steps and linear terms -----------------------------------------------------------------------

    def _steps(self, steps: Steps) -> Formula:
        column = self._columns[steps.feature]
        if isinstance(steps, NumberSteps):
            cuts, values = _with_special(steps)
            found = stepped(column, cuts, values, steps.missing)
        else:
            of_codes, missing = steps.values, steps.missing
            found = mapped(
                column,
                # Codes beyond the last are missing.
                lambda code: of_codes[int(code)] if code < len(of_codes) else missing,
            )
        return self._function(found)

    def _function(self, column: Read) -> Constant | Tree | Steps:
        """Return a function of one column whose pieces are all values."""
        if isinstance(column, Number):
            values = tuple(_value(piece) for piece in column.pieces)
            if len(values) == 1 and is_same(values[0], column.missing):
                return Constant(column.missing)
            return NumberSteps(column.place, column.breaks, values, column.missing)
        codes = self._codes[column.place]
        table = {
            codes[level]: value
            for level, value in column.table.items()
            if level in codes and not is_same(value, column.unknown)
        }
        if not table:
            return Constant(column.unknown)
        if len(set(table.values())) == 1:
            # Shorter than a value for each of many categories.
            test = Test(column.place, Among(frozenset(table)), missing_left=False)
            leaves = (Leaf(0.0, next(iter(table.values()))), Leaf(0.0, column.unknown))
            return Tree((Branch(0.0, test, 1, 2), *leaves))
        listed = tuple(table.get(code, column.unknown) for code in range(len(codes)))
        return LevelSteps(column.place, listed, column.unknown)

    def _linear_term(self, term: LinearTerm) -> LinearTerm | Constant | Tree | Steps:
        column = self._columns[term.feature]
        if isinstance(column, Category):
            return self._function(mapped(column, lambda value: _weighted(term, value)))
        runs = [piece for piece in column.pieces if isinstance(piece, tuple)]
        if not runs:
            return self._function(mapped(column, lambda value: _weighted(term, value)))
        if len(column.pieces) > 1:
            raise ValueError(
                f"column {self._schema.label(column.place)} has values that a step replaces by"
                " others, and a linear term of the ranker has no form for that: mark them as"
                " missing before the pipeline"
            )
        fill = None if column.missing != column.missing else column.missing
        return replace(term, feature=column.place, operations=runs[0], fill=fill)


def _chosen(decides: Condition, share: float, left: Condition, right: Condition) -> Condition:
    """Return one of two conditions, chosen by a third."""
    match decides:
        case Always(holds):
            return left if holds else right
        case Test():
            return Fork(decides, share, left, right)
        case All((first, *others)):
            rest = _chosen(All(tuple(others)), share, left, right) if others else left
            return _chosen(first, share, rest, right)
        case Fork(test, inner_share, when, otherwise):
            sides = (_chosen(side, share, left, right) for side in (when, otherwise))
            return Fork(test, inner_share, *sides)
    raise TypeError(f"a test became a condition of kind {type(decides).__name__}")


def _joined(kind: type[All] | type[AnyOf], parts: Sequence[Condition]) -> Condition:
    """Return the conjunction or the disjunction of conditions, without the constant ones."""
    decisive = Always(kind is AnyOf)
    if decisive in parts:
        return decisive
    kept = tuple(part for part in parts if not isinstance(part, Always))
    if not kept:
        return Always(not decisive.holds)
    return kept[0] if len(kept) == 1 else kind(kept)


def _of_pieces(
    place: int, breaks: Sequence[float], holds: Sequence[bool], missing: bool | None
) -> Condition:
    """Return the condition that a number is in some of the intervals between breaks.

    Neighbouring intervals differ. With ``missing`` None, no missing number is tested.
    """
    if not breaks:
        if missing is None or missing == holds[0]:
            return Always(holds[0])
        return Test(place, Known(holds[0]), missing)
    if len(breaks) == 1:
        return Test(place, Below(breaks[0], is_reversed=holds[1]), bool(missing))
    if len(breaks) == 2 and holds[1]:
        # One category among numbers, which reads better than nested choices.
        low, high = Below(breaks[0], is_reversed=True), Below(breaks[1])
        return All(tuple(Test(place, rule, bool(missing)) for rule in (low, high)))
    middle = len(breaks) // 2
    # Missing numbers go on with those below.
    test = Test(place, Below(breaks[middle]), missing is not None)
    below = _of_pieces(place, breaks[:middle], holds[: middle + 1], missing)
    beyond = _of_pieces(place, breaks[middle + 1 :], holds[middle + 1 :], None)
    return Fork(test, 0.5, below, beyond)


def _with_special(steps: NumberSteps) -> tuple[list[float], list[float]]:
    """Return the thresholds and values of a step function with special numbers among them."""
    starts = {low: value for low, _, value in steps.intervals()}
    cuts = sorted({*steps.thresholds, *(b for at, _ in steps.special for b in (at, after(at)))})
    values = []
    # The first of two equal special numbers counts.
    special = dict(reversed(steps.special))
    value = steps.values[0]
    values = [value]
    for cut in cuts:
        value = starts.get(cut, value)
        values.append(special.get(cut, value))
    return cuts, values


def _value(piece: object) -> float:
    if not isinstance(piece, float):
        raise TypeError(f"{piece!r} is not a value")
    return piece


def _weighted(term: LinearTerm, value: float) -> float:
    """Return the summand of a value, computed as in the core."""
    return term.weight * (value if term.scale is None else _standardised(term.scale, value))


def _standardised(scale: Scale, value: float) -> float:
    if value != value:
        return 0.0
    value = min(max((value - scale.mean) / scale.deviation, -scale.limit), scale.limit)
    if scale.unit is None:
        return value
    units = abs(value) / scale.unit
    whole = floor(units)
    # Halves away from 0.
    rounded = (whole + (units - whole >= 0.5)) * scale.unit
    return rounded if value >= 0.0 else -rounded
