"""Sizes of exports, estimated from the formula before they are written.

A form spends so many bytes on a node of a tree, on a step, on a digit of a number. The factors are
a linear program's, which minimises the largest ratio of estimates and sizes over models of every
family: all are within a factor of 1.4. `tests/export/test_sizes.py` measures it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aucrank._data.schema import Schema
from aucrank._export.formula import (
    All,
    Always,
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
    NumberSteps,
    Program,
    StepsOf,
    Test,
    Tree,
    features_of,
    parts_of,
)
from aucrank._utils.sizes import megabytes
from aucrank._utils.warn import warn_caller
from aucrank._utils.words import listed, plural

# In bytes.
_LARGE = 20_000_000


class ExportSizeWarning(UserWarning):
    """An export is very large: the warning says how large, before it is written."""


@dataclass(slots=True)
class Parts:
    """What a formula consists of, in counts that sizes are proportional to.

    Attributes
    ----------
    trees, nodes : int
        Trees, and their inner nodes and leaves.
    depth : int
        Sum over nodes of the number of branches above, for forms that are indented.
    joints : int
        Nodes of conditions that join others.
    digits : int
        Characters of all numbers.
    letters : int
        Characters of column names and categories, wherever they are tested.
    steps : int
        Steps of step functions.
    terms, scaled : int
        Step functions, linear terms and constants; those of standardised numbers.
    masses : int
        Places of branching programs.
    columns, levels : int
        Columns that are used, and their categories.
    """

    trees: int = 0
    nodes: int = 0
    depth: int = 0
    joints: int = 0
    digits: int = 0
    letters: int = 0
    steps: int = 0
    terms: int = 0
    scaled: int = 0
    masses: int = 0
    columns: int = 0
    levels: int = 0


def parts_in(formula: Formula, schema: Schema, form: str) -> Parts:
    """Count the parts of a formula as a form writes them."""
    counter = _Counter(schema, form)
    counter.add(formula, 1)
    used = set(features_of(formula))
    counter.parts.columns = len(used)
    counter.parts.levels = sum(len(schema.features[at].levels or ()) for at in used)
    return counter.parts


class _Counter:
    """Counts the parts of formulas."""

    def __init__(self, schema: Schema, form: str) -> None:
        self.parts = Parts()
        self._names = [len(schema.shown_name(at)) for at in range(len(schema.features))]
        self._levels = [feature.levels or () for feature in schema.features]
        self._letters = [sum(len(str(level)) for level in levels) for levels in self._levels]
        self._repeats, self._copies = _way_of(form)

    def add(self, formula: Formula, times: int) -> None:
        """Count a formula that is written a number of times."""
        parts = self.parts
        match formula:
            case Constant(value):
                parts.terms += times
                self._digits(times, value)
            case Tree(nodes):
                self._tree(nodes, times)
            case Indicator(condition, value):
                parts.terms += times
                self._digits(times, value)
                self._condition(condition, times)
            case NumberSteps(feature, thresholds, values, missing, special):
                parts.terms += times
                parts.steps += times * (len(thresholds) + len(special))
                parts.letters += times * self._names[feature] * (1 + len(thresholds))
                self._digits(times, missing, *thresholds, *values, *sum(special, ()))
            case LevelSteps(feature, values, missing):
                parts.terms += times
                parts.steps += times * len(values)
                parts.letters += times * (self._names[feature] + self._letters[feature])
                self._digits(times, missing, *values)
            case StepsOf(of, thresholds, values):
                parts.terms += times
                parts.steps += times * len(thresholds)
                self._digits(times, *thresholds, *values)
                # SQL repeats the argument for each threshold.
                self.add(of, times * len(thresholds) if self._repeats else times)
            case Linear(terms, intercept):
                self._digits(times, intercept)
                for term in terms:
                    if not isinstance(term, LinearTerm):
                        self.add(term, times)
                        continue
                    parts.terms += times
                    # An operation before the weight is about as long as a term.
                    parts.terms += times * len(term.operations)
                    self._digits(times, term.weight)
                    parts.letters += times * self._names[term.feature]
                    if term.scale is not None:
                        parts.scaled += times
            case Program(_, layers):
                for node in (node for layer in layers for node in layer):
                    parts.masses += times
                    if not isinstance(node, End):
                        self.add(node, times)
            case _:
                for part in parts_of(formula):
                    self.add(part, times)

    def _digits(self, times: int, *numbers: float) -> None:
        self.parts.digits += times * sum(len(repr(number)) for number in numbers)

    def _tree(self, nodes: Sequence[Branch | Leaf], times: int) -> None:
        parts = self.parts
        parts.trees += times
        parts.nodes += times * (_n_copied(nodes) if self._copies else len(nodes))
        depths = [0] * len(nodes)
        for depth, node in zip(depths, nodes, strict=True):
            parts.depth += times * depth
            if isinstance(node, Leaf):
                self._digits(times, node.value)
            else:
                depths[node.left] = depths[node.right] = depth + 1
                self._condition(node.condition, times)

    def _condition(self, condition: Condition, times: int) -> None:
        match condition:
            case Test(feature, rule):
                self.parts.letters += times * self._names[feature]
                if isinstance(rule, Below):
                    self._digits(times, rule.threshold)
                elif not isinstance(rule, Known):
                    n_levels = max(1, len(self._levels[feature]))
                    n_left = len(rule.left(n_levels))
                    # The shorter side is listed.
                    share = min(n_left, n_levels - n_left) / n_levels
                    self.parts.letters += round(times * share * self._letters[feature])
            case Fork(test, _, left, right):
                self.parts.joints += times
                for part in (test, left, right):
                    self._condition(part, times)
            case All(conditions) | AnyOf(conditions):
                self.parts.joints += times
                for part in conditions:
                    self._condition(part, times)


class _ConditionSize(NamedTuple):
    """Tests of a condition as a tree of tests, and its leaves on either side."""

    tests: int
    left: int
    right: int


def _n_copied(nodes: Sequence[Branch | Leaf]) -> int:
    """Count the nodes of a tree in which each node has one test, as Treelite has it.

    A subtree is copied for each leaf of the condition above.
    """
    sizes = [1] * len(nodes)
    # Children follow their parent.
    for at in range(len(nodes) - 1, -1, -1):
        node = nodes[at]
        if isinstance(node, Branch):
            tests, left, right = _cells(node.condition)
            sizes[at] = tests + left * sizes[node.left] + right * sizes[node.right]
    return sizes[0]


def _cells(condition: Condition) -> _ConditionSize:
    match condition:
        case Fork(_, _, left, right):
            first, second = _cells(left), _cells(right)
            return _ConditionSize(
                1 + first.tests + second.tests,
                first.left + second.left,
                first.right + second.right,
            )
        case All(conditions):
            found = _ConditionSize(0, 1, 0)
            for part in map(_cells, conditions):
                found = _ConditionSize(
                    found.tests + found.left * part.tests,
                    found.left * part.left,
                    found.right + found.left * part.right,
                )
            return found
        case AnyOf(conditions):
            found = _ConditionSize(0, 0, 1)
            for part in map(_cells, conditions):
                found = _ConditionSize(
                    found.tests + found.right * part.tests,
                    found.left + found.right * part.left,
                    found.right * part.right,
                )
            return found
        case Always(holds):
            return _ConditionSize(0, int(holds), int(not holds))
        case _:
            return _ConditionSize(1, 1, 1)


#: Bytes of a form: of its beginning and end ("fixed"), and of each of the `Parts` of a formula.
_BYTES = {
    "JSON": {
        "trees": 140,
        "nodes": 85,
        "depth": 0.54,
        "joints": 140,
        "digits": 0.95,
        "steps": 6,
        "terms": 70,
        "scaled": 62,
        "masses": 22,
        "columns": 63,
        "levels": 26,
    },
    "PMML": {
        "nodes": 230,
        "depth": 20,
        "joints": 550,
        "digits": 0.64,
        "steps": 300,
        "terms": 490,
        "scaled": 800,
        "masses": 170,
        "columns": 220,
    },
    "ONNX": {
        "fixed": 1500,
        "nodes": 17,
        "depth": 0.3,
        "joints": 37,
        "letters": 0.48,
        "steps": 29,
        "terms": 2,
        "scaled": 660,
        "masses": 460,
        "columns": 140,
    },
    "Treelite": {
        "fixed": 68,
        "trees": 130,
        "nodes": 59,
        "depth": 0.27,
        "joints": 63,
        "digits": 0.53,
        "steps": 90,
        "terms": 380,
    },
    "C": {
        "fixed": 370,
        "trees": 35,
        "nodes": 21,
        "joints": 21,
        "digits": 0.68,
        "steps": 15,
        "terms": 72,
        "scaled": 100,
        "masses": 36,
        "columns": 120,
        "levels": 50,
    },
    "Python": {
        "trees": 10,
        "nodes": 19,
        "joints": 15,
        "digits": 0.93,
        "steps": 7.4,
        "terms": 55,
        "scaled": 95,
        "masses": 28,
        "columns": 140,
        "levels": 37,
    },
    "JavaScript": {
        "fixed": 130,
        "trees": 18,
        "nodes": 19,
        "joints": 16,
        "digits": 0.91,
        "steps": 7.6,
        "terms": 62,
        "scaled": 90,
        "masses": 30,
        "columns": 120,
        "levels": 41,
    },
    "Java": {
        "fixed": 640,
        "trees": 26,
        "nodes": 15,
        "joints": 14,
        "digits": 0.75,
        "steps": 11,
        "terms": 56,
        "scaled": 100,
        "masses": 40,
        "columns": 130,
        "levels": 68,
    },
    "SQL": {
        "nodes": 15,
        "depth": 3,
        "joints": 52,
        "digits": 1.2,
        "letters": 0.39,
        "steps": 20,
        "scaled": 350,
        "masses": 89,
        "columns": 22,
        "levels": 9.5,
    },
    "SQL in steps": {
        "trees": 6,
        "nodes": 10.5,
        "depth": 1,
        "joints": 58,
        "digits": 0.8,
        "terms": 2000,
        "columns": 4600,
    },
}

#: The name of each language of `to_code`.
NAMES_OF_LANGUAGES = {"c": "C", "python": "Python", "javascript": "JavaScript", "java": "Java"}

#: Forms whose size depends on the model. A page has at most 500 rows of a table and 1,000 lines of
#: text in a section: the largest in the tests takes 0.3 MB.
SIZED_FORMS = tuple(_BYTES)


def size_of(formula: Formula, schema: Schema, form: str) -> float:
    """Return the estimated size of a form in bytes.

    Parameters
    ----------
    formula : Formula
        The score.
    schema : Schema
        Columns of the fit.
    form : str
        One of `SIZED_FORMS`.
    """
    return _bytes_of(parts_in(formula, schema, form), form)


def sizes_of(formula: Formula, schema: Schema) -> dict[str, float]:
    """Return the estimated size of each form in bytes.

    Parameters
    ----------
    formula : Formula
        The score.
    schema : Schema
        Columns of the fit.
    """
    # A large formula is counted once for all forms that count alike.
    counted: dict[tuple[bool, bool], Parts] = {}
    sizes = {}
    for form in SIZED_FORMS:
        way = _way_of(form)
        if way not in counted:
            counted[way] = parts_in(formula, schema, form)
        sizes[form] = _bytes_of(counted[way], form)
    return sizes


def _way_of(form: str) -> tuple[bool, bool]:
    """Return whether a form repeats the argument of steps, and copies subtrees."""
    return form.startswith("SQL"), form == "Treelite"


def _bytes_of(parts: Parts, form: str) -> float:
    factors = _BYTES[form]
    return sum(
        factor * (1 if part == "fixed" else getattr(parts, part))
        for part, factor in factors.items()
    )


def warn_of_size(formula: Formula, schema: Schema, form: str, what: str) -> None:
    """Warn if a form takes more than 20 MB, with its size and what is smaller.

    Parameters
    ----------
    formula : Formula
        The score.
    schema : Schema
        Columns of the fit.
    form : str
        One of `SIZED_FORMS`.
    what : str
        Name of the model.

    Warns
    -----
    ExportSizeWarning
        If it is very large.
    """
    parts = parts_in(formula, schema, form)
    size = _bytes_of(parts, form)
    if size <= _LARGE:
        return
    counts = ((parts.trees, "tree"), (parts.nodes, "node"), (parts.steps, "step"))
    contents = listed([plural(n, noun) for n, noun in counts if n])
    smaller = "aucrank.compress fits a smaller model that orders rows alike"
    in_onnx = size_of(formula, schema, "ONNX")
    if in_onnx < size / 2:
        smaller += f", and to_onnx() takes about {megabytes(in_onnx)}"
    warn_caller(
        f"{contents or 'the terms'} of this {what} give about {megabytes(size)} of"
        f" {form.removesuffix(' in steps')}: {smaller}",
        ExportSizeWarning,
    )
