"""Formulas as PMML: a regression whose predictors are fields derived from the columns."""

from collections.abc import Sequence
from xml.etree import ElementTree

from aucrank._data.schema import Schema
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
    NumberSteps,
    Operation,
    Product,
    Program,
    Quotient,
    SingleSum,
    StepsOf,
    Sum,
    Test,
    Tree,
    features_of,
    no_single_sum,
)
from aucrank._export.pmml.document import (
    add,
    add_field,
    check_columns,
    constant,
    data_type,
    end_document,
    free_name,
    start_document,
    text_of,
)

Element = ElementTree.Element


def write_formula(
    formula: Formula, schema: Schema, *, model_name: str, version: str, timestamp: str | None
) -> str:
    """Return a formula as a PMML document.

    Each term of a sum is a derived field, and the score is the sum of these and of a constant. A
    missing value is one that the engine does not have.

    Parameters
    ----------
    formula : Formula
        The formula, without opaque parts.
    schema : Schema
        Columns of the fit.
    model_name, version : str
        Name of the model, and version of the application that writes it.
    timestamp : str or None
        Time stamp of the document; None omits it.

    Raises
    ------
    ValueError
        If a name or a category holds a character that XML cannot express, or a name is empty.
    """
    tested = sorted(set(features_of(formula))) or [0]
    check_columns(schema, tested)
    names = [schema.shown_name(feature) for feature in tested]
    description = "A score that ranks rows: the higher, the more positive"
    root = start_document(description, version, timestamp)
    dictionary = add(root, "DataDictionary", numberOfFields=str(len(tested) + 1))
    for feature, name in zip(tested, names, strict=True):
        add_field(dictionary, name, schema.features[feature].levels)
    target = free_name("score_of_row", names)
    add(dictionary, "DataField", name=target, optype="continuous", dataType="double")

    model = add(root, "RegressionModel", modelName=model_name, functionName="regression")
    mining = add(model, "MiningSchema")
    for feature, name in zip(tested, names, strict=True):
        # A category that was not seen in fit counts as missing, unless missing is a category.
        treatment = "asIs" if None in (schema.features[feature].levels or ()) else "asMissing"
        add(mining, "MiningField", name=name, usageType="active", invalidValueTreatment=treatment)
    add(mining, "MiningField", name=target, usageType="target")
    output = add(model, "Output")
    add(
        output,
        "OutputField",
        name=free_name("score", [*names, target]),
        optype="continuous",
        dataType="double",
        feature="predictedValue",
    )
    derived = add(model, "LocalTransformations")
    writer = _ExpressionWriter(schema, derived, [*names, target])
    terms, intercept = _terms(formula)
    predictors = [writer.field("term", term) for term in terms]
    if not predictors:
        model.remove(derived)
    table = add(model, "RegressionTable", intercept=repr(intercept))
    for predictor in predictors:
        add(table, "NumericPredictor", name=predictor, coefficient="1")
    return end_document(root)


def _terms(formula: Formula) -> tuple[list[Formula], float]:
    """Return a formula as a sum of terms and a constant."""
    match formula:
        case Constant(value):
            return [], value
        case Sum(parts):
            terms: list[Formula] = [part for part in parts if not isinstance(part, Constant)]
            return terms, sum((part.value for part in parts if isinstance(part, Constant)), 0.0)
        case Linear(linear, intercept):
            return [*(Linear((term,), 0.0) for term in linear)], intercept
    return [formula], 0.0


class _ExpressionWriter:
    """Writes expressions, and fields that expressions refer to."""

    def __init__(self, schema: Schema, derived: Element, taken: Sequence[str]) -> None:
        self._schema = schema
        self._derived = derived
        self._taken = set(taken)

    def field(self, name: str, formula: Formula) -> str:
        """Add a derived field of a formula, and return its name."""
        element = ElementTree.Element("DerivedField", optype="continuous", dataType="double")
        self.expression(element, formula)
        return self._append(element, name)

    def _append(self, element: Element, name: str) -> str:
        """Add a field after those that it refers to, and return its name."""
        name = free_name(f"{name}_{len(self._derived) + 1}", self._taken)
        self._taken.add(name)
        element.set("name", name)
        self._derived.append(element)
        return name

    def expression(self, parent: Element, formula: Formula) -> None:
        """Add the expression of a formula."""
        match formula:
            case Constant(value):
                constant(parent, repr(value))
            case Tree(nodes):
                self._tree(parent, nodes, 0)
            case NumberSteps():
                self._number_steps(parent, formula)
            case LevelSteps():
                self._level_steps(parent, formula)
            case StepsOf(of, thresholds, values):
                argument = self.field("argument", of)
                if _may_be_missing(of):
                    parent = _unless_missing(parent, argument, values[-1])
                self._halved(parent, argument, thresholds, values)
            case Linear(terms, intercept):
                self._sum(parent, [*terms, *([Constant(intercept)] if intercept else [])])
            case Indicator(condition, value):
                choice = add(parent, "Apply", function="if")
                self._condition(choice, condition)
                constant(choice, repr(value))
                constant(choice, "0.0")
            case Sum(terms):
                self._sum(parent, terms)
            case Product(factor, of):
                product = add(parent, "Apply", function="*")
                constant(product, repr(factor))
                self.expression(product, of)
            case Quotient(numerator, denominator, otherwise):
                self._quotient(parent, numerator, denominator, otherwise)
            case Program():
                self._program(parent, formula)
            case SingleSum():
                raise no_single_sum("PMML")
            case _:
                # Engines lack the standard's median.
                what = type(formula).__name__.lower()
                raise ValueError(f"PMML has no form for a {what} of several scores")

    def _field_ref(self, parent: Element, feature: int) -> None:
        add(parent, "FieldRef", field=self._schema.shown_name(feature))

    def _tree(self, parent: Element, nodes: Sequence[Branch | Leaf], place: int) -> None:
        node = nodes[place]
        if isinstance(node, Leaf):
            constant(parent, repr(node.value))
            return
        choice = add(parent, "Apply", function="if")
        self._condition(choice, node.condition)
        self._tree(choice, nodes, node.left)
        self._tree(choice, nodes, node.right)

    def _unless_missing(self, parent: Element, feature: int, missing: float) -> Element:
        """Add the choice of a value if a feature is missing; the caller adds the other side."""
        return _unless_missing(parent, self._schema.shown_name(feature), missing)

    def _number_steps(self, parent: Element, steps: NumberSteps) -> None:
        parent = self._unless_missing(parent, steps.feature, steps.missing)
        for special, value in steps.special:
            parent = add(parent, "Apply", function="if")
            test = add(parent, "Apply", function="equal")
            self._field_ref(test, steps.feature)
            constant(test, repr(special))
            constant(parent, repr(value))
        name = self._schema.shown_name(steps.feature)
        self._halved(parent, name, steps.thresholds, steps.values)

    def _halved(
        self, parent: Element, field: str, thresholds: Sequence[float], values: Sequence[float]
    ) -> None:
        """Add the step value of a field by bisection, to minimise the depth."""
        if not thresholds:
            constant(parent, repr(values[0]))
            return
        middle = len(thresholds) // 2
        choice = add(parent, "Apply", function="if")
        below = add(choice, "Apply", function="lessThan")
        add(below, "FieldRef", field=field)
        constant(below, repr(thresholds[middle]))
        self._halved(choice, field, thresholds[:middle], values[: middle + 1])
        self._halved(choice, field, thresholds[middle + 1 :], values[middle + 1 :])

    def _level_steps(self, parent: Element, steps: LevelSteps) -> None:
        levels = self._schema.features[steps.feature].levels or ()
        of_missing = steps.values[levels.index(None)] if None in levels else steps.missing
        parent = self._unless_missing(parent, steps.feature, of_missing)
        for codes, value in steps.by_value():
            known = [code for code in codes if levels[code] is not None]
            if value == steps.missing or not known:
                continue
            parent = add(parent, "Apply", function="if")
            self._among(parent, steps.feature, known)
            constant(parent, repr(value))
        constant(parent, repr(steps.missing))

    def _sum(self, parent: Element, terms: Sequence[Formula | LinearTerm]) -> None:
        """Add a sum by bisection, so that a long one is not deep."""
        if not terms:
            constant(parent, "0.0")
        elif len(terms) == 1:
            (term,) = terms
            if isinstance(term, LinearTerm):
                self._weighted(parent, term)
            else:
                self.expression(parent, term)
        else:
            half = len(terms) // 2
            total = add(parent, "Apply", function="+")
            self._sum(total, terms[:half])
            self._sum(total, terms[half:])

    def _weighted(self, parent: Element, term: LinearTerm) -> None:
        if term.scale is None:
            product = add(parent, "Apply", function="*")
            constant(product, repr(term.weight))
            self._filled(product, term)
            return
        scale = term.scale
        if term.fill is None:
            parent = self._unless_missing(parent, term.feature, 0.0)
        product = add(parent, "Apply", function="*")
        constant(product, repr(term.weight))
        within = product
        if scale.unit is not None:
            within = add(product, "Apply", function="/")
            rounded = add(within, "Apply", function="round")
            constant(within, repr(1 / scale.unit))
            within = add(rounded, "Apply", function="*")
            constant(within, repr(1 / scale.unit))
        least = self._bounded(within, -scale.limit, scale.limit)
        deviations = add(least, "Apply", function="/")
        from_mean = add(deviations, "Apply", function="-")
        self._filled(from_mean, term)
        constant(from_mean, repr(scale.mean))
        constant(deviations, repr(scale.deviation))

    def _bounded(self, parent: Element, low: float, high: float) -> Element:
        """Add the bounds of a number, which the caller adds."""
        least = add(parent, "Apply", function="max")
        constant(least, repr(low))
        most = add(least, "Apply", function="min")
        constant(most, repr(high))
        return most

    def _filled(self, parent: Element, term: LinearTerm) -> None:
        """Add the number of a term, before it is standardised."""
        if term.fill is not None:
            parent = self._unless_missing(parent, term.feature, term.fill)
        self._computed(parent, term.feature, term.operations)

    def _computed(self, parent: Element, feature: int, operations: Sequence[Operation]) -> None:
        if not operations:
            self._field_ref(parent, feature)
            return
        *before, last = operations
        if isinstance(last, Arithmetic):
            computed = add(parent, "Apply", function=last.operator)
            self._computed(computed, feature, before)
            constant(computed, repr(last.number))
        else:
            self._computed(self._bounded(parent, last.low, last.high), feature, before)

    def _quotient(
        self, parent: Element, numerator: Formula, denominator: Formula, otherwise: float
    ) -> None:
        if isinstance(denominator, Constant) and denominator.value > 0.0:
            quotient = add(parent, "Apply", function="/")
            self.expression(quotient, numerator)
            constant(quotient, repr(denominator.value))
            return
        below = self.field("denominator", denominator)
        if _may_be_missing(denominator):
            parent = _unless_missing(parent, below, otherwise)
        choice = add(parent, "Apply", function="if")
        is_above = add(choice, "Apply", function="greaterThan")
        add(is_above, "FieldRef", field=below)
        constant(is_above, "0.0")
        quotient = add(choice, "Apply", function="/")
        self.expression(quotient, numerator)
        add(quotient, "FieldRef", field=below)
        constant(choice, repr(otherwise))

    def _program(self, parent: Element, program: Program) -> None:
        """Add the mean value of the ends.

        Masses are fractions of 1, and not rounded to integers as in the core.
        """
        worths = []
        masses: list[str | None] = [self.field("mass", Constant(1.0))]
        for layer in program.layers:
            arriving: list[list[tuple[str, str, bool]]] = [[] for _ in range(len(layer) + 1)]
            for place, (node, mass) in enumerate(zip(layer, masses, strict=True)):
                if mass is None:
                    continue
                if isinstance(node, End):
                    worths.append((mass, node.worth))
                    continue
                share = self.field("share", node)
                arriving[place].append((mass, share, False))
                arriving[place + 1].append((mass, share, True))
            masses = [self._mass(parts) if parts else None for parts in arriving]
        self._weighted_sum(parent, worths)

    def _mass(self, parts: Sequence[tuple[str, str, bool]]) -> str:
        """Add the mass that reaches a node from up to two others, and return its name."""
        element = ElementTree.Element("DerivedField", optype="continuous", dataType="double")
        total = add(element, "Apply", function="+") if len(parts) > 1 else element
        for mass, share, goes_on in parts:
            product = add(total, "Apply", function="*")
            add(product, "FieldRef", field=mass)
            if not goes_on:
                product = add(product, "Apply", function="-")
                constant(product, "1.0")
            add(product, "FieldRef", field=share)
        return self._append(element, "mass")

    def _weighted_sum(self, parent: Element, parts: Sequence[tuple[str, int]]) -> None:
        """Add a sum of fields, each times a number."""
        if len(parts) > 1:
            half = len(parts) // 2
            parent = add(parent, "Apply", function="+")
            self._weighted_sum(parent, parts[:half])
            self._weighted_sum(parent, parts[half:])
            return
        ((field, weight),) = parts
        product = add(parent, "Apply", function="*")
        constant(product, repr(float(weight)))
        add(product, "FieldRef", field=field)

    # Conditions -----------------------------------------------------------------------------------

    def _condition(self, parent: Element, condition: Condition) -> None:
        """Add a condition, which is true or false also if a feature is missing."""
        match condition:
            case Test():
                self._test(parent, condition)
            case Always(holds):
                _truth(parent, holds=holds)
            case All(parts):
                self._joined(parent, "and", parts)
            case AnyOf(parts):
                self._joined(parent, "or", parts)
            case Fork(test, _, left, right):
                choice = add(parent, "Apply", function="if")
                self._test(choice, test)
                self._condition(choice, left)
                self._condition(choice, right)
            case _:
                raise ValueError(f"PMML has no form for a {type(condition).__name__}")

    def _joined(self, parent: Element, function: str, parts: Sequence[Condition]) -> None:
        joined = add(parent, "Apply", function=function)
        for part in parts:
            self._condition(joined, part)

    def _test(self, parent: Element, test: Test) -> None:
        levels = self._schema.features[test.feature].levels or ()
        choice = add(parent, "Apply", function="if")
        self._field_ref(add(choice, "Apply", function="isMissing"), test.feature)
        if None in levels and not isinstance(test.rule, Below | Known):
            self._sides(choice, test, test.rule.left(len(levels)))
            return
        _truth(choice, holds=test.missing_left)
        match test.rule:
            case Below(threshold, is_reversed):
                known = add(
                    choice, "Apply", function="greaterOrEqual" if is_reversed else "lessThan"
                )
                self._field_ref(known, test.feature)
                constant(known, repr(threshold))
            case Known(goes_left):
                _truth(choice, holds=goes_left)
            case rule:
                self._among(choice, test.feature, sorted(rule.left(len(levels))))

    def _sides(self, choice: Element, test: Test, left: frozenset[int]) -> None:
        """Add the sides of missing and of other categories, where unknown ones differ from both."""
        levels = self._schema.features[test.feature].levels or ()
        known = {code for code, level in enumerate(levels) if level is not None}
        _truth(choice, holds=levels.index(None) in left)
        if not test.missing_left:
            self._among(choice, test.feature, sorted(known & left))
            return
        inner = add(choice, "Apply", function="if")
        self._among(inner, test.feature, sorted(known - left))
        _truth(inner, holds=False)
        _truth(inner, holds=True)

    def _among(self, parent: Element, feature: int, codes: Sequence[int]) -> None:
        levels = self._schema.features[feature].levels or ()
        if not codes:
            _truth(parent, holds=False)
            return
        known = add(parent, "Apply", function="isIn")
        self._field_ref(known, feature)
        kind = data_type([level for level in levels if level is not None])
        for code in codes:
            if (level := levels[code]) is not None:
                add(known, "Constant", dataType=kind).text = text_of(level)


def _unless_missing(parent: Element, field: str, missing: float) -> Element:
    """Add the choice of a value if a field is missing; the caller adds the other side."""
    choice = add(parent, "Apply", function="if")
    add(add(choice, "Apply", function="isMissing"), "FieldRef", field=field)
    constant(choice, repr(missing))
    return choice


def _may_be_missing(formula: Formula) -> bool:
    """Whether a formula has no value where numbers are missing that it weighs as they are."""
    match formula:
        case Linear(terms):
            return any(
                isinstance(term, LinearTerm) and term.scale is None and term.fill is None
                for term in terms
            )
        case Quotient(numerator, denominator):
            return _may_be_missing(numerator) or _may_be_missing(denominator)
    return False


def _truth(parent: Element, *, holds: bool) -> None:
    add(parent, "Constant", dataType="boolean").text = "true" if holds else "false"
