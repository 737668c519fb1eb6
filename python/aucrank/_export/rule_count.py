"""Number of rules of a model, with one definition for all families.

A rule is a case with its own number in the score: a leaf of a tree, a run of a step function, the
categories that share a value, a binary term, a weight of a linear score, an inner node of a
branching program. Constants do not count, nor does anything multiplied by 0.
"""

import json
from itertools import groupby
from typing import Any


def count_rules(formula: str) -> int | None:
    """Count the rules of a formula.

    Parameters
    ----------
    formula : str
        Its JSON form, see `aucrank._export.formula`.

    Returns
    -------
    int or None
        None if a part of it is unknown, such as a user-supplied estimator.
    """
    # A forest has millions of nodes: they become numbers while the text is parsed.
    return _rules(json.loads(formula, object_hook=_count_node))


def _count_node(value: dict[str, Any]) -> Any:
    """Return a node of a tree as its number of rules, and anything else unchanged."""
    if "leaf" in value:
        return 1
    return 0 if "branch" in value else value


def _rules(document: dict[str, Any]) -> int | None:
    ((kind, value),) = document.items()
    match kind:
        case "constant":
            return 0
        case "tree":
            return int(sum(value))
        case "steps":
            return _cases(value)
        case "steps_of":
            return _sum([value["of"]], len(value["values"]))
        case "linear":
            return len([term for term in value["terms"] if term["weight"] != 0])
        case "indicator":
            return int(value["value"] != 0)
        case "sum" | "median":
            return _sum(value)
        case "product":
            return 0 if value["factor"] == 0 else _rules(value["of"])
        case "quotient":
            # The denominator has the weights of the same cases.
            return _rules(value["numerator"])
        case "program":
            return sum("split" in node for layer in value["layers"] for node in layer)
        case "opaque":
            return None
    raise ValueError(f"unknown formula {kind!r}")


def _sum(parts: list[dict[str, Any]], start: int = 0) -> int | None:
    total = start
    for part in parts:
        rules = _rules(part)
        if rules is None:
            return None
        total += rules
    return total


def _cases(steps: dict[str, Any]) -> int:
    """Count the cases of a step function; missing values are one unless they share a value."""
    if "categorical" in steps:
        values = set(steps["categorical"]["values"])
        return len(values | {steps["missing"]})
    number = steps["numeric"]
    runs = [value for value, _ in groupby(number["values"])]
    special = [value for _, value in number.get("special", ())]
    return len(runs) + len(special) + (steps["missing"] not in {*runs, *special})
