"""The computation of a fitted model as data: the common form from which exports are written.

A formula comes from the core, where it evaluates to exactly the scores of the model. Here it is a
tree of small objects, one class per operation; a writer of a format handles each of them once, for
all families.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import floor, fsum, inf, nextafter
from typing import Any, Literal

# Tests and conditions -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Below:
    """Numbers below a threshold go left, or with ``is_reversed`` the others."""

    threshold: float
    is_reversed: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """All known values go left, or none."""

    goes_left: bool


@dataclass(frozen=True, slots=True)
class Among:
    """The categories with these codes go left, or with ``is_reversed`` all others."""

    codes: frozenset[int]
    is_reversed: bool = False

    def left(self, n_levels: int) -> frozenset[int]:
        """Return the codes on the left, given the number of categories."""
        return frozenset(range(n_levels)) - self.codes if self.is_reversed else self.codes


@dataclass(frozen=True, slots=True)
class Test:
    """A test of one feature.

    Attributes
    ----------
    feature : int
        Its position among the columns.
    rule : Below, Known or Among
        Which known values go left.
    missing_left : bool
        Whether missing values do.
    """

    feature: int
    rule: Below | Known | Among
    missing_left: bool


@dataclass(frozen=True, slots=True)
class Always:
    """A condition that holds for every row, or for none."""

    holds: bool


@dataclass(frozen=True, slots=True)
class All:
    """All conditions hold."""

    of: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one condition holds."""

    of: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Fork:
    """One of two conditions, chosen by a test.

    Attributes
    ----------
    test : Test
        The test.
    left_share : float
        Share of the training weight that it sends left.
    left, right : Condition
        Condition for the rows on each side.
    """

    test: Test
    left_share: float
    left: "Condition"
    right: "Condition"


@dataclass(frozen=True, slots=True)
class OpaqueCondition:
    """A condition that no format can express.

    Attributes
    ----------
    says : dict
        Description of it.
    reason : str
        Why it cannot be expressed.
    """

    says: dict[str, Any]
    reason: str


Condition = Test | Always | All | AnyOf | Fork | OpaqueCondition

# Formulas -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant:
    """The same number for every row."""

    value: float


@dataclass(frozen=True, slots=True)
class Branch:
    """An inner node of a tree: rows go to ``left`` if the condition holds."""

    weight: float
    condition: Condition
    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf of a tree."""

    weight: float
    value: float


@dataclass(frozen=True, slots=True)
class Tree:
    """The value of the leaf of a row; the root is the first node, children follow their parent."""

    nodes: tuple[Branch | Leaf, ...]


@dataclass(frozen=True, slots=True)
class NumberSteps:
    """A step function of a number.

    Attributes
    ----------
    feature : int
        Its position among the columns.
    thresholds : tuple of float
        Ascending; a number equal to a threshold is above it.
    values : tuple of float
        One more than thresholds: below the first, ..., above the last.
    missing : float
        The value where the feature is missing.
    special : tuple of (float, float)
        Special numbers, each with its own value.
    """

    feature: int
    thresholds: tuple[float, ...]
    values: tuple[float, ...]
    missing: float
    special: tuple[tuple[float, float], ...] = ()

    def intervals(self) -> Iterator[tuple[float, float, float]]:
        """Yield the bounds of each step, ``low <= x < high``, and its value."""
        bounds = (-inf, *self.thresholds, inf)
        yield from zip(bounds[:-1], bounds[1:], self.values, strict=True)


@dataclass(frozen=True, slots=True)
class LevelSteps:
    """A function of a category: its value by code; categories beyond the last are missing."""

    feature: int
    values: tuple[float, ...]
    missing: float

    def by_value(self) -> list[tuple[list[int], float]]:
        """Return the codes of each distinct value, the highest value first."""
        codes: dict[float, list[int]] = {}
        for code, value in enumerate(self.values):
            codes.setdefault(value, []).append(code)
        return [(codes[value], value) for value in sorted(codes, reverse=True)]


Steps = NumberSteps | LevelSteps


@dataclass(frozen=True, slots=True)
class StepsOf:
    """A step function of another formula, as `NumberSteps` is one of a number."""

    of: "Formula"
    thresholds: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Scale:
    """A standardised number, clipped to ``limit`` standard deviations; 0 if missing.

    With a unit, a power of two, it is rounded to a multiple of it, halves away from 0.
    """

    mean: float
    deviation: float
    limit: float
    unit: float | None


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """An operation with a constant, rounded to a double; a missing number stays missing."""

    operator: Literal["+", "-", "*", "/"]
    number: float


@dataclass(frozen=True, slots=True)
class Clip:
    """A number, but at least ``low`` and at most ``high``; a missing number stays missing."""

    low: float
    high: float


Operation = Arithmetic | Clip


@dataclass(frozen=True, slots=True)
class LinearTerm:
    """A number times its weight; without a scale, a missing number makes the sum missing.

    Attributes
    ----------
    feature : int
        Its position among the columns.
    weight : float
        The weight.
    scale : Scale or None
        How the number is standardised.
    operations : tuple of Operation
        What is done to the number first, in this order.
    fill : float or None
        What replaces a missing number next, before it is standardised and weighted; None leaves it
        missing.
    """

    feature: int
    weight: float
    scale: Scale | None
    operations: tuple[Operation, ...] = ()
    fill: float | None = None


@dataclass(frozen=True, slots=True)
class Linear:
    """The sum of the terms in their order, and then of the intercept.

    A term of a column with few values is a function of it: a tree of one branch or steps. Its value
    is NaN where the sum is missing.
    """

    terms: tuple["LinearTerm | Constant | Tree | Steps", ...]
    intercept: float


@dataclass(frozen=True, slots=True)
class Indicator:
    """A number if a condition holds, else 0."""

    condition: Condition
    value: float


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of the terms in their order."""

    terms: tuple["Formula", ...]


@dataclass(frozen=True, slots=True)
class SingleSum:
    """The same in single precision: each term and each partial sum is rounded to 32 bits."""

    terms: tuple["Formula", ...]


@dataclass(frozen=True, slots=True)
class Product:
    """A constant times a formula."""

    factor: float
    of: "Formula"


@dataclass(frozen=True, slots=True)
class Quotient:
    """A quotient, or a constant if the denominator is not above 0."""

    numerator: "Formula"
    denominator: "Formula"
    otherwise: float


@dataclass(frozen=True, slots=True)
class Median:
    """The median; for an even number of values the mean of the middle two."""

    of: tuple["Formula", ...]


@dataclass(frozen=True, slots=True)
class End:
    """A terminal node of a program, and its value per unit of mass."""

    worth: int


@dataclass(frozen=True, slots=True)
class Program:
    """The mean value of the ends of a branching program, weighted by the mass that reaches them.

    A row starts with ``2**row_bits`` units of mass at the first node. An inner node at position i
    of a layer sends a share of its mass to node i + 1 of the next layer, and the rest to node i.

    Attributes
    ----------
    row_bits : int
        Binary digits of the mass of a row.
    layers : tuple of tuple of Formula or End
        For each node its share, from 0 to 1: rounded to a multiple of ``2**-31``, its product with
        the mass rounded to an integer, halves up.
    """

    row_bits: int
    layers: tuple[tuple["Formula | End", ...], ...]


@dataclass(frozen=True, slots=True)
class Logistic:
    """The probability for log-odds; only in outputs, not in models."""

    of: "Formula"


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part of a model that cannot be expressed, and the reason."""

    reason: str


Formula = (
    Constant
    | Tree
    | Steps
    | StepsOf
    | Linear
    | Indicator
    | Sum
    | SingleSum
    | Product
    | Quotient
    | Median
    | Program
    | Logistic
    | Opaque
)

# From the core ------------------------------------------------------------------------------------


def read_formula(text: str, what: str, form: str) -> Formula:
    """Return a formula of the core, for a writer that needs all of it.

    Parameters
    ----------
    text : str
        Its JSON form.
    what : str
        Name of the model, for the error.
    form : str
        Output format, for the error.

    Raises
    ------
    ValueError
        If a part of it cannot be expressed.
    """
    formula = parse(json.loads(text))
    check_written(formula, what, form)
    return formula


def check_written(formula: Formula, what: str, form: str) -> None:
    """Raise ``ValueError`` if a part of a formula cannot be expressed; see `read_formula`."""
    reason = next(opaque_reasons(formula), None)
    if reason is not None:
        raise ValueError(f"this {what} has no form in {form}: {reason}")


def parse(document: Any) -> Formula:
    """Return the formula of a JSON value of the core."""
    ((kind, value),) = document.items()
    match kind:
        case "constant":
            return Constant(value)
        case "tree":
            return Tree(tuple(map(_parse_node, value)))
        case "steps":
            return parse_steps(value)
        case "steps_of":
            return StepsOf(parse(value["of"]), tuple(value["thresholds"]), tuple(value["values"]))
        case "linear":
            return Linear(tuple(map(_parse_linear_term, value["terms"])), value["intercept"])
        case "indicator":
            return Indicator(_parse_condition(value["condition"]), value["value"])
        case "sum":
            return Sum(tuple(map(parse, value)))
        case "single_sum":
            return SingleSum(tuple(map(parse, value)))
        case "product":
            return Product(value["factor"], parse(value["of"]))
        case "quotient":
            return Quotient(
                parse(value["numerator"]), parse(value["denominator"]), value["otherwise"]
            )
        case "median":
            return Median(tuple(map(parse, value)))
        case "program":
            layers = (tuple(map(_parse_program_node, layer)) for layer in value["layers"])
            return Program(value["row_bits"], tuple(layers))
        case "opaque":
            return Opaque(value)
    raise ValueError(f"unknown formula {kind!r}")


def parse_steps(value: dict[str, Any]) -> Steps:
    """Return a step function of one feature from its JSON form."""
    feature, missing = value["feature"], value["missing"]
    if "categorical" in value:
        return LevelSteps(feature, tuple(value["categorical"]["values"]), missing)
    number = value["numeric"]
    special = tuple((at, of) for at, of in number.get("special", ()))
    return NumberSteps(
        feature, tuple(number["thresholds"]), tuple(number["values"]), missing, special
    )


def _parse_node(node: dict[str, Any]) -> Branch | Leaf:
    if "leaf" in node:
        return Leaf(**node["leaf"])
    branch = node["branch"]
    return Branch(**branch | {"condition": _parse_condition(branch["condition"])})


def _parse_linear_term(term: dict[str, Any]) -> LinearTerm:
    scale = term["scale"]
    return LinearTerm(term["feature"], term["weight"], None if scale is None else Scale(**scale))


def _parse_program_node(node: dict[str, Any]) -> "Formula | End":
    return End(node["end"]) if "end" in node else parse(node["split"])


def _parse_condition(document: dict[str, Any]) -> Condition:
    ((kind, value),) = document.items()
    match kind:
        case "constant":
            return Always(value)
        case "test":
            return parse_test(value)
        case "all":
            return All(tuple(map(_parse_condition, value)))
        case "any":
            return AnyOf(tuple(map(_parse_condition, value)))
        case "branch":
            left, right = (_parse_condition(value[side]) for side in ("left", "right"))
            return Fork(parse_test(value["test"]), value["left_share"], left, right)
        case "opaque":
            says, reason = value
            return OpaqueCondition(says, reason)
    raise ValueError(f"unknown condition {kind!r}")


def parse_test(test: dict[str, Any]) -> Test:
    """Return a test of one feature from its JSON form."""
    return Test(test["feature"], _parse_rule(test["left"]), test["missing_left"])


def _parse_rule(rule: dict[str, Any]) -> Below | Known | Among:
    match rule:
        case {"below": threshold}:
            return Below(threshold)
        case {"at_least": threshold}:
            return Below(threshold, is_reversed=True)
        case {"known": goes_left}:
            return Known(goes_left)
        # The first code, and the steps from one to the next.
        case {"levels": {"only": steps}}:
            return Among(frozenset(accumulate(steps)))
        case {"levels": {"all_but": steps}}:
            return Among(frozenset(accumulate(steps)), is_reversed=True)
    raise ValueError(f"unknown rule {rule!r}")


def tests_of(condition: Condition) -> Iterator[Test]:
    """Yield the tests in a condition."""
    match condition:
        case Test():
            yield condition
        case Fork(test, _, left, right):
            yield test
            yield from tests_of(left)
            yield from tests_of(right)
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from tests_of(part)


def conditions_of(formula: Formula) -> Iterator[Condition]:
    """Yield the conditions of a formula, including those of its parts."""
    match formula:
        case Tree(nodes):
            yield from (node.condition for node in nodes if isinstance(node, Branch))
        case Indicator(condition):
            yield condition
        case _:
            for part in parts_of(formula):
                yield from conditions_of(part)


def with_values(formula: Formula, change: Callable[[float], float]) -> Formula:
    """Return a step function or a tree with its values changed."""
    match formula:
        case Constant(value):
            return Constant(change(value))
        case Tree(nodes):
            return Tree(
                tuple(
                    Leaf(node.weight, change(node.value)) if isinstance(node, Leaf) else node
                    for node in nodes
                )
            )
        case NumberSteps():
            special = tuple((at, change(value)) for at, value in formula.special)
            values = tuple(map(change, formula.values))
            return replace(formula, values=values, missing=change(formula.missing), special=special)
        case LevelSteps():
            values = tuple(map(change, formula.values))
            return replace(formula, values=values, missing=change(formula.missing))
        case StepsOf():
            return replace(formula, values=tuple(map(change, formula.values)))
    raise ValueError(f"a {type(formula).__name__} has no values to change")


#: Doubles hold all integers below this bound.
_WHOLE_NUMBERS = 2**53


def has_free_order(terms: Iterable[Formula]) -> bool:
    """Return whether doubles hold the sum of any values of trees, steps and constants.

    Then the order in which they are added is free.
    """
    values = [found for term in terms if (found := list(_values_of(term)))]
    parts = max((v.as_integer_ratio()[1] for of_term in values for v in of_term), default=1)
    largest = fsum(max(map(abs, of_term)) for of_term in values)
    return Fraction(largest) * parts < _WHOLE_NUMBERS


def _values_of(formula: Formula) -> Iterator[float]:
    match formula:
        case Constant(value) | Indicator(_, value):
            yield value
        case Tree(nodes):
            yield from (node.value for node in nodes if isinstance(node, Leaf))
        case NumberSteps():
            yield from (*formula.values, formula.missing, *(value for _, value in formula.special))
        case LevelSteps():
            yield from (*formula.values, formula.missing)
        case Product(factor, of):
            yield from (factor * value for value in _values_of(of))


def no_single_sum(form: str) -> ValueError:
    """Return the error of a form without numbers of single precision."""
    return ValueError(
        f"{form} has no numbers of single precision, in which XGBoost adds its trees: import the"
        " model with from_xgboost(..., precision='double'), whose scores differ in the seventh"
        " digit"
    )


#: A share of a mass in a program is a multiple of this.
SHARE_UNITS = 2**31


def in_units(share: Formula) -> Formula:
    """Return the share of a node of a program in units, rounded as in the core: halves up."""

    def to_units(value: float) -> float:
        units = value * SHARE_UNITS
        below = floor(units)
        return float(below + (units - below >= 0.5))

    return with_values(share, to_units)


def opaque_reasons(formula: Formula) -> Iterator[str]:
    """Yield the reasons why parts of a formula cannot be expressed."""
    match formula:
        case Opaque(reason):
            yield reason
        case Tree() | Indicator():
            for condition in conditions_of(formula):
                yield from _opaque_conditions(condition)
        case _:
            for part in parts_of(formula):
                yield from opaque_reasons(part)


def _opaque_conditions(condition: Condition) -> Iterator[str]:
    match condition:
        case OpaqueCondition(_, reason):
            yield reason
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from _opaque_conditions(part)
        case Fork(_, _, left, right):
            yield from _opaque_conditions(left)
            yield from _opaque_conditions(right)


def features_of(formula: Formula) -> Iterator[int]:
    """Yield the features that a formula uses, possibly repeatedly."""
    match formula:
        case NumberSteps() | LevelSteps():
            yield formula.feature
        case Tree() | Indicator():
            for condition in conditions_of(formula):
                yield from (test.feature for test in tests_of(condition))
        case Linear(terms):
            for term in terms:
                yield from [term.feature] if isinstance(term, LinearTerm) else features_of(term)
        case _:
            for part in parts_of(formula):
                yield from features_of(part)


def thresholds_of(formula: Formula) -> dict[int, list[float] | None]:
    """Return where a formula changes along each feature, ascending.

    None stands for a feature whose number itself is used, as in a sum of weighted numbers.
    """
    found: dict[int, set[float]] = {}
    weighed: set[int] = set()

    def visit(part: Formula) -> None:
        match part:
            case NumberSteps(feature, thresholds, _, _, special):
                own = found.setdefault(feature, set())
                own.update(thresholds)
                for at, _ in special:
                    own.update((at, nextafter(at, inf)))
            case Tree() | Indicator():
                for condition in conditions_of(part):
                    for test in tests_of(condition):
                        if isinstance(test.rule, Below):
                            found.setdefault(test.feature, set()).add(test.rule.threshold)
            case Linear(terms):
                weighed.update(term.feature for term in terms if isinstance(term, LinearTerm))
        for inner in parts_of(part):
            visit(inner)

    visit(formula)
    places: dict[int, list[float] | None] = {place: sorted(cuts) for place, cuts in found.items()}
    return places | dict.fromkeys(weighed)


def parts_of(formula: Formula) -> Iterator[Formula]:
    """Yield the direct parts of a formula."""
    match formula:
        case StepsOf(of) | Product(_, of) | Logistic(of):
            yield of
        case Sum(parts) | SingleSum(parts) | Median(parts):
            yield from parts
        case Linear(terms):
            yield from (term for term in terms if not isinstance(term, LinearTerm))
        case Quotient(numerator, denominator):
            yield from (numerator, denominator)
        case Program(_, layers):
            yield from (node for layer in layers for node in layer if not isinstance(node, End))


def trees_of(formula: Formula) -> Iterator[Tree]:
    """Yield the trees of a formula outside of branching programs."""
    if isinstance(formula, Tree):
        yield formula
    elif not isinstance(formula, Program):
        for part in parts_of(formula):
            yield from trees_of(part)
