"""Formulas as JSON values: the inverse of `formula.parse`, for those that Python has changed."""

from typing import Any

from aucrank._export.formula import (
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
    Median,
    NumberSteps,
    Opaque,
    OpaqueCondition,
    Operation,
    Product,
    Program,
    Quotient,
    SingleSum,
    StepsOf,
    Sum,
    Test,
    Tree,
)


def document_of(formula: Formula) -> dict[str, Any]:
    """Return a formula as a JSON value, with null for NaN."""
    match formula:
        case Constant(value):
            return {"constant": _number(value)}
        case Tree(nodes):
            return {"tree": list(map(_node, nodes))}
        case NumberSteps():
            return {"steps": _number_steps(formula)}
        case LevelSteps(feature, values, missing):
            of_codes = {"values": list(map(_number, values))}
            return {
                "steps": {"feature": feature, "missing": _number(missing), "categorical": of_codes}
            }
        case StepsOf(of, thresholds, values):
            listed = {"thresholds": list(thresholds), "values": list(values)}
            return {"steps_of": {"of": document_of(of)} | listed}
        case Linear(terms, intercept):
            written = [
                _linear_term(t) if isinstance(t, LinearTerm) else document_of(t) for t in terms
            ]
            return {"linear": {"terms": written, "intercept": intercept}}
        case Indicator(condition, value):
            return {"indicator": {"condition": _condition(condition), "value": value}}
        case Sum(terms):
            return {"sum": list(map(document_of, terms))}
        case SingleSum(terms):
            return {"single_sum": list(map(document_of, terms))}
        case Product(factor, of):
            return {"product": {"factor": factor, "of": document_of(of)}}
        case Quotient(numerator, denominator, otherwise):
            parts = {"numerator": document_of(numerator), "denominator": document_of(denominator)}
            return {"quotient": parts | {"otherwise": otherwise}}
        case Median(of_parts):
            return {"median": list(map(document_of, of_parts))}
        case Program(row_bits, layers):
            listed_layers = [list(map(_program_node, layer)) for layer in layers]
            return {"program": {"row_bits": row_bits, "layers": listed_layers}}
        case Opaque(reason):
            return {"opaque": reason}
    raise ValueError(f"JSON has no form for a {type(formula).__name__}")


def _number(value: float) -> float | None:
    return None if value != value else value


def _number_steps(steps: NumberSteps) -> dict[str, Any]:
    numeric: dict[str, Any] = {
        "thresholds": list(steps.thresholds),
        "values": list(map(_number, steps.values)),
    }
    if steps.special:
        numeric["special"] = [list(pair) for pair in steps.special]
    return {"feature": steps.feature, "missing": _number(steps.missing), "numeric": numeric}


def _node(node: Branch | Leaf) -> dict[str, Any]:
    if isinstance(node, Leaf):
        return {"leaf": {"weight": node.weight, "value": _number(node.value)}}
    condition = _condition(node.condition)
    sides = {"left": node.left, "right": node.right}
    return {"branch": {"weight": node.weight, "condition": condition} | sides}


def _linear_term(term: LinearTerm) -> dict[str, Any]:
    scale = None
    if term.scale is not None:
        names = ("mean", "deviation", "limit", "unit")
        scale = {name: getattr(term.scale, name) for name in names}
    written: dict[str, Any] = {"feature": term.feature, "weight": term.weight, "scale": scale}
    if term.fill is not None:
        written["fill"] = term.fill
    if term.operations:
        written["operations"] = list(map(_operation, term.operations))
    return written


def _operation(operation: Operation) -> dict[str, Any]:
    match operation:
        case Arithmetic(operator, number):
            return {operator: number}
        case Clip(low, high):
            return {"clip": [low, high]}


def _program_node(node: Formula | End) -> dict[str, Any]:
    return {"end": node.worth} if isinstance(node, End) else {"split": document_of(node)}


def _condition(condition: Condition) -> dict[str, Any]:
    match condition:
        case Always(holds):
            return {"constant": holds}
        case Test():
            return {"test": _test(condition)}
        case All(parts):
            return {"all": list(map(_condition, parts))}
        case AnyOf(parts):
            return {"any": list(map(_condition, parts))}
        case Fork(test, left_share, left, right):
            sides = {"left": _condition(left), "right": _condition(right)}
            return {"branch": {"test": _test(test), "left_share": left_share} | sides}
        case OpaqueCondition(says, reason):
            return {"opaque": [says, reason]}


def _test(test: Test) -> dict[str, Any]:
    left: dict[str, Any]
    match test.rule:
        case Below(threshold, is_reversed):
            left = {"at_least" if is_reversed else "below": threshold}
        case Known(goes_left):
            left = {"known": goes_left}
        case among:
            ordered = sorted(among.codes)
            # The first code, and the steps from one to the next.
            steps = [code - before for code, before in zip(ordered, [0, *ordered], strict=False)]
            left = {"levels": {"all_but" if among.is_reversed else "only": steps}}
    return {"feature": test.feature, "left": left, "missing_left": test.missing_left}
