"""Scores rows by hand, only from the description of `to_json` in the guide to production."""

from bisect import bisect_right
from itertools import accumulate
from math import floor, isnan, nan, trunc

import numpy as np

SHARE_UNITS = 2**31


def codes_of(document, row):
    """Return a row of values as numbers, what is missing as NaN."""
    found = []
    for feature, value in zip(document["features"], row, strict=True):
        if feature["kind"] == "unused":
            found.append(nan)
        elif feature["kind"] == "numeric":
            found.append(nan if value is None else float(value))
        else:
            levels = feature["levels"]
            found.append(float(levels.index(value)) if value in levels else nan)
    return found


def score(document, row):
    """Return the score of a row of values, None for a missing one."""
    assert document["format"] == "aucrank-formula"
    assert document["version"] in (1, 2)
    return value_of(document["score"], codes_of(document, row))


def value_of(formula, row):
    ((key, value),) = formula.items()
    return globals()[f"_{key}"](value, row)


def _constant(value, row):
    return value


def _sum(parts, row):
    total = 0.0
    for part in parts:
        total += value_of(part, row)
    return total


def _single_sum(parts, row):
    total = np.float32(0.0)
    for part in parts:
        total += np.float32(value_of(part, row))
    return float(total)


def _product(value, row):
    return value["factor"] * value_of(value["of"], row)


def _quotient(value, row):
    below = value_of(value["denominator"], row)
    return value_of(value["numerator"], row) / below if below > 0 else value["otherwise"]


def _median(parts, row):
    values = sorted(value_of(part, row) for part in parts)
    n = len(values)
    return values[n // 2] if n % 2 else (values[n // 2 - 1] + values[n // 2]) / 2


def _steps(value, row):
    x = row[value["feature"]]
    if isnan(x):
        return value["missing"]
    if "categorical" in value:
        values = value["categorical"]["values"]
        return values[int(x)] if x < len(values) else value["missing"]
    number = value["numeric"]
    special = dict(number.get("special", ()))
    return special.get(x, number["values"][bisect_right(number["thresholds"], x)])


def _steps_of(value, row):
    return value["values"][bisect_right(value["thresholds"], value_of(value["of"], row))]


def _tree(nodes, row):
    node = nodes[0]
    while "branch" in node:
        branch = node["branch"]
        node = nodes[branch["left" if holds(branch["condition"], row) else "right"]]
    return node["leaf"]["value"]


def _linear(value, row):
    total = 0.0
    for term in value["terms"]:
        if "feature" not in term:
            number = value_of(term, row)
            total += nan if number is None else number
            continue
        number = _computed(row[term["feature"]], term.get("operations", ()))
        if isnan(number) and "fill" in term:
            number = term["fill"]
        total += term["weight"] * _scaled(number, term["scale"])
    return total + value["intercept"]


def _computed(x, operations):
    for operation in operations:
        ((operator, by),) = operation.items()
        match operator:
            case "+":
                x = x + by
            case "-":
                x = x - by
            case "*":
                x = x * by
            case "/":
                x = x / by
            case "clip":
                low, high = by
                x = high if x > high else low if x < low else x
    return x


def _scaled(x, scale):
    if scale is None:
        return x
    if isnan(x):
        return 0.0
    limit = scale["limit"]
    x = min(max((x - scale["mean"]) / scale["deviation"], -limit), limit)
    if scale["unit"] is None:
        return x
    units = abs(x) / scale["unit"]
    rounded = trunc(units) + (units - trunc(units) >= 0.5)
    return (rounded if x >= 0 else -rounded) * scale["unit"]


def _indicator(value, row):
    return value["value"] if holds(value["condition"], row) else 0.0


def _program(value, row):
    masses, total = [2 ** value["row_bits"]], 0
    for layer in value["layers"]:
        following = [0] * (len(layer) + 1)
        for place, (node, mass) in enumerate(zip(layer, masses, strict=True)):
            if "end" in node:
                total += node["end"] * mass
                continue
            share = floor(value_of(node["split"], row) * SHARE_UNITS + 0.5)
            goes_on = (mass * share + SHARE_UNITS // 2) // SHARE_UNITS
            following[place] += mass - goes_on
            following[place + 1] += goes_on
        masses = following
    return total / 2 ** value["row_bits"]


def holds(condition, row):
    ((key, value),) = condition.items()
    match key:
        case "constant":
            return value
        case "all":
            return all(holds(part, row) for part in value)
        case "any":
            return any(holds(part, row) for part in value)
        case "branch":
            return holds(value["left" if _is_left(value["test"], row) else "right"], row)
        case "test":
            return _is_left(value, row)


def _is_left(test, row):
    x = row[test["feature"]]
    if isnan(x):
        return test["missing_left"]
    ((key, value),) = test["left"].items()
    match key:
        case "below":
            return x < value
        case "at_least":
            return x >= value
        case "known":
            return value
        case "levels":
            ((kind, steps),) = value.items()
            return (x in set(accumulate(steps))) == (kind == "only")
