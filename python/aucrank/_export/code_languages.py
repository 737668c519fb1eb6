"""How languages write statements, tables and the categories of columns."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from math import isinf, isnan
from typing import ClassVar

from aucrank._data.schema import Level, Schema

# In Java, a string constant has at most 65535 bytes, and a method as many bytes of code.
_JAVA_TEXT = 60_000
_JAVA_STATEMENTS = 1000


@dataclass
class Tables:
    """Numbers that the statements read.

    Attributes
    ----------
    features, flags, values, yes, no : list
        For each node of a tree the column that it tests, -1 for a leaf; whether missing values go
        to ``yes`` (1), and whether it tests a category (2); the threshold, the start in ``sets``,
        or the value of the leaf; the next nodes.
    roots : list of int
        First nodes of the trees of a sum.
    numbers : list of float
        Thresholds and values of step functions.
    sets : list of int
        For each set of categories, 1 for each that is a member.
    """

    features: list[int] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    yes: list[int] = field(default_factory=list)
    no: list[int] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    sets: list[int] = field(default_factory=list)
    starts: dict[tuple[frozenset[int], int], int] = field(default_factory=dict)

    def add_node(self, feature: int, flag: int, value: float, yes: int, no: int) -> int:
        """Add a node; return its position."""
        self.features.append(feature)
        self.flags.append(flag)
        self.values.append(value)
        self.yes.append(yes)
        self.no.append(no)
        return len(self.features) - 1

    def add_set(self, codes: Set[int], n_levels: int) -> int:
        """Return the start of a set of categories, added if it is new."""
        key = frozenset(codes), n_levels
        if key not in self.starts:
            self.starts[key] = len(self.sets)
            self.sets += [int(code in codes) for code in range(n_levels)]
        return self.starts[key]

    def of_whole_numbers(self, text: str) -> Iterator[tuple[str, list[int]]]:
        """Yield the names and the entries of the integer tables that a text reads."""
        tables = (
            ("feature", self.features),
            ("flag", self.flags),
            ("yes", self.yes),
            ("no", self.no),
            ("root", self.roots),
            ("inSet", self.sets),
        )
        return (table for table in tables if f"{table[0]}[" in text)

    def of_doubles(self, text: str) -> Iterator[tuple[str, list[float]]]:
        """Yield the names and the entries of the tables of doubles that a text reads."""
        tables = (("value", self.values), ("step", self.numbers))
        return (table for table in tables if f"{table[0]}[" in text)


class Language(ABC):
    """A target language."""

    end = ";"
    comment = "//"
    #: Whether a whole number of any size is itself, and not the nearest double.
    has_integers = False
    counts_arrays = False
    #: Functions that statements call, by name.
    helpers: ClassVar[dict[str, str]]

    @abstractmethod
    def declared(self, kind: str, name: str, written: str) -> str:
        """Return a statement that declares a variable: a "number", or a "whole" one of 64 bits."""

    @abstractmethod
    def whole(self, number: int) -> str:
        """Return an integer of 64 bits."""

    @abstractmethod
    def module(
        self,
        schema: Schema,
        used: Sequence[int],
        tables: Tables,
        statements: Sequence[str],
        result: str,
        what: str,
    ) -> str:
        """Return the source of a function of a row."""

    def check_levels(self, schema: Schema, used: Sequence[int]) -> None:
        """Raise for a whole number whose neighbours are the same double."""
        for place, levels in _levels(schema, used):
            for level in levels:
                if not self.has_integers and isinstance(level, int) and abs(level) > 2**53:
                    raise ValueError(
                        f"column {schema.shown_name(place)!r} has the category {level}, and the"
                        f" code reads numbers as doubles, which are exact up to 2^53: fit to text"
                        f" in that column, or export Python or SQL"
                    )

    def changed(self, name: str, written: str) -> str:
        """Return a statement that assigns to a variable."""
        return f"{name} = {written}{self.end}"

    def number(self, value: float) -> str:
        """Return a double."""
        if isnan(value):
            return self.nan
        if isinf(value):
            return self.infinity if value > 0 else f"-{self.infinity}"
        return repr(float(value)) if value >= 0 else f"({float(value)!r})"

    infinity: str
    nan: str

    def array(self, values: Sequence[str]) -> str:
        """Return a new array of doubles."""
        return f"[{', '.join(values)}]"

    def columns(self, schema: Schema, used: Sequence[int], what: str) -> list[str]:
        """Return comments on the function and its columns."""
        lines = [f"{what} of a row, by its columns in this order:"]
        for place, feature in enumerate(schema.features):
            kind = "a number" if feature.levels is None else "a category"
            kind = kind if place in used else "not used"
            # In JSON, a name has no line end, and cannot end a comment.
            lines.append(f"  {place}: {json.dumps(schema.shown_name(place))}, {kind}")
        return [f"{self.comment} {line}" for line in lines]

    def functions(self, statements: Sequence[str], result: str) -> str:
        """Return the functions that statements and their result call."""
        return "\n\n".join(self.used_helpers("\n".join([*statements, result])))

    def used_helpers(self, text: str) -> list[str]:
        """Return the functions that a text calls, and those that they call, in order."""
        found: set[str] = set()
        texts = [text]
        while texts:
            text = texts.pop()
            for name, written in self.helpers.items():
                if f"{name}(" in text and name not in found:
                    found.add(name)
                    texts.append(written)
        return [written.strip("\n") for name, written in self.helpers.items() if name in found]


def _lines(entries: Sequence[str], per_line: int = 16) -> str:
    return ",\n".join(
        ", ".join(entries[start : start + per_line]) for start in range(0, len(entries), per_line)
    )


def _as_number(level: Level | None) -> float | None:
    """Return a category that is a number or a boolean as a double."""
    return None if level is None or isinstance(level, str) else float(level)


def _levels(schema: Schema, used: Sequence[int]) -> Iterator[tuple[int, Sequence[Level | None]]]:
    for place in used:
        if (levels := schema.features[place].levels) is not None:
            yield place, levels


class _Python(Language):
    end = ""
    comment = "#"
    has_integers = True
    infinity = "float('inf')"
    nan = "float('nan')"
    helpers: ClassVar[dict[str, str]] = {
        "tree": """
def tree(x, at):
    while feature[at] >= 0:
        v, f = x[feature[at]], flag[at]
        if v != v:
            goes = f & 1
        elif f & 2:
            goes = inSet[int(value[at]) + int(v)]
        else:
            goes = v < value[at]
        at = yes[at] if goes else no[at]
    return value[at]
""",
        "addTrees": """
def addTrees(x, total, first, end):
    for root_of_tree in root[first:end]:
        total = total + tree(x, root_of_tree)
    return total
""",
        "addSingles": """
def addSingles(x, total, first, end):
    for root_of_tree in root[first:end]:
        total = single(total + single(tree(x, root_of_tree)))
    return total
""",
        "single": """
def single(v):
    from struct import pack, unpack
    return unpack("f", pack("f", v))[0]
""",
        "numberSteps": """
def numberSteps(v, start, n, missing):
    if v != v:
        return missing
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if v < step[start + middle]:
            high = middle
        else:
            low = middle + 1
    return step[start + n + low]
""",
        "special": """
def special(v, at, then, otherwise):
    return then if v == at else otherwise
""",
        "levelSteps": """
def levelSteps(v, start, n, missing):
    return step[start + int(v)] if v < n else missing
""",
        "clipped": """
def clipped(v, low, high):
    return high if v > high else low if v < low else v
""",
        "filled": """
def filled(v, missing):
    return missing if v != v else v
""",
        "scaled": """
def scaled(v, mean, deviation, limit, unit):
    if v != v:
        return 0.0
    v = (v - mean) / deviation
    v = limit if v > limit else -limit if v < -limit else v
    if unit == 0.0:
        return v
    units = abs(v) / unit
    below = float(int(units))
    units = below + 1.0 if units - below >= 0.5 else below
    return (units if v >= 0.0 else -units) * unit
""",
        "quotient": """
def quotient(above, below, otherwise):
    return above / below if below > 0.0 else otherwise
""",
        "logistic": """
def logistic(v):
    from math import exp
    return 1.0 / (1.0 + exp(-v)) if v >= 0.0 else exp(v) / (1.0 + exp(v))
""",
        "median": """
def median(values):
    values, n = sorted(values), len(values)
    return values[n // 2] if n % 2 else (values[n // 2 - 1] + values[n // 2]) / 2.0
""",
        "shareOf": """
def shareOf(mass, share):
    return (mass * int(share) + 1073741824) >> 31
""",
        "meanOf": """
def meanOf(total, units):
    return float(total) / units
""",
    }

    def declared(self, kind: str, name: str, written: str) -> str:
        return f"{name} = {written}"

    def whole(self, number: int) -> str:
        return str(number)

    def module(
        self,
        schema: Schema,
        used: Sequence[int],
        tables: Tables,
        statements: Sequence[str],
        result: str,
        what: str,
    ) -> str:
        functions = self.functions(statements, result)
        lists: list[tuple[str, list[str]]] = [
            (name, list(map(str, entries))) for name, entries in tables.of_whole_numbers(functions)
        ]
        lists += [
            (name, list(map(self.number, entries)))
            for name, entries in tables.of_doubles(functions)
        ]
        written = [f"{name} = [\n{_lines(entries)}\n]" for name, entries in lists]
        coded = []
        for place, levels in _levels(schema, used):
            codes = (f"{self._literal(level)}: {code}.0" for code, level in enumerate(levels))
            written.append(f"levels{place} = {{\n{_lines(list(codes), 4)}\n}}")
            value = f"row[{place}]"
            if None in levels:
                value = f"None if {value} != {value} else {value}"
            coded.append(f"x[{place}] = levels{place}.get({value}, missing)")
        numbers = [
            f"x[{place}] = missing if row[{place}] is None else float(row[{place}])"
            for place in used
            if schema.features[place].levels is None
        ]
        body = [
            "missing = float('nan')",
            f"x = [missing] * {len(schema.features)}",
            *numbers,
            *coded,
            *statements,
            f"return {result}",
        ]
        function = "\n    ".join(["def score(row):", *body])
        return "\n\n".join(
            [
                "\n".join([*self.columns(schema, used, what), "# None or NaN is missing."]),
                *written,
                functions,
                f"{function}\n",
            ]
        )

    def _literal(self, level: Level | None) -> str:
        return ascii(level)


class _JavaScript(Language):
    infinity = "Infinity"
    nan = "NaN"
    helpers: ClassVar[dict[str, str]] = {
        # An empty field of a form or a CSV file is missing, and Number("") would be 0.
        "asNumber": """
function asNumber(v) {
  return v == null || (typeof v === "string" && v.trim() === "") ? NaN : Number(v);
}
""",
        "orNull": """
function orNull(v) {
  return v == null || v !== v ? null : v;
}
""",
        "tree": """
function tree(x, at) {
  while (feature[at] >= 0) {
    const v = x[feature[at]], f = flag[at];
    const goes = v !== v ? f & 1 : f & 2 ? inSet[value[at] + v] : v < value[at];
    at = goes ? yes[at] : no[at];
  }
  return value[at];
}
""",
        "addTrees": """
function addTrees(x, total, first, end) {
  for (let t = first; t < end; t++) total = total + tree(x, root[t]);
  return total;
}
""",
        "addSingles": """
function addSingles(x, total, first, end) {
  for (let t = first; t < end; t++) total = single(total + single(tree(x, root[t])));
  return total;
}
""",
        "single": """
function single(v) {
  return Math.fround(v);
}
""",
        "numberSteps": """
function numberSteps(v, start, n, missing) {
  if (v !== v) return missing;
  let low = 0, high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (v < step[start + middle]) high = middle; else low = middle + 1;
  }
  return step[start + n + low];
}
""",
        "special": """
function special(v, at, then, otherwise) {
  return v === at ? then : otherwise;
}
""",
        "levelSteps": """
function levelSteps(v, start, n, missing) {
  return v < n ? step[start + v] : missing;
}
""",
        "clipped": """
function clipped(v, low, high) {
  return v > high ? high : v < low ? low : v;
}
""",
        "filled": """
function filled(v, missing) {
  return v !== v ? missing : v;
}
""",
        "scaled": """
function scaled(v, mean, deviation, limit, unit) {
  if (v !== v) return 0.0;
  v = (v - mean) / deviation;
  v = v > limit ? limit : v < -limit ? -limit : v;
  if (unit === 0.0) return v;
  let units = Math.abs(v) / unit;
  const below = Math.floor(units);
  units = units - below >= 0.5 ? below + 1.0 : below;
  return (v >= 0.0 ? units : -units) * unit;
}
""",
        "quotient": """
function quotient(above, below, otherwise) {
  return below > 0.0 ? above / below : otherwise;
}
""",
        "logistic": """
function logistic(v) {
  return v >= 0.0 ? 1.0 / (1.0 + Math.exp(-v)) : Math.exp(v) / (1.0 + Math.exp(v));
}
""",
        "median": """
function median(values) {
  values.sort((a, b) => a - b);
  const n = values.length, m = n >> 1;
  return n % 2 ? values[m] : (values[m - 1] + values[m]) / 2.0;
}
""",
        "shareOf": """
function shareOf(mass, share) {
  return (mass * BigInt(share) + 1073741824n) >> 31n;
}
""",
        "meanOf": """
function meanOf(total, units) {
  return Number(total) / units;
}
""",
    }

    def declared(self, kind: str, name: str, written: str) -> str:
        return f"let {name} = {written};"

    def whole(self, number: int) -> str:
        return f"{number}n"

    def module(
        self,
        schema: Schema,
        used: Sequence[int],
        tables: Tables,
        statements: Sequence[str],
        result: str,
        what: str,
    ) -> str:
        functions = self.functions(statements, result)
        lists = [
            (name, "Int32Array", map(str, of)) for name, of in tables.of_whole_numbers(functions)
        ]
        lists += [
            (name, "Float64Array", map(self.number, of))
            for name, of in tables.of_doubles(functions)
        ]
        written = [
            f"const {name} = new {kind}([\n{_lines(list(entries))}\n]);"
            for name, kind, entries in lists
        ]
        body = [f"const x = new Array({len(schema.features)}).fill(NaN);"]
        for place in used:
            levels = schema.features[place].levels
            if levels is None:
                body.append(f"x[{place}] = asNumber(row[{place}]);")
                continue
            codes = [f"[{json.dumps(level)}, {code}]" for code, level in enumerate(levels)]
            written.append(f"const levels{place} = new Map([\n{_lines(codes, 4)}\n]);")
            key = f"orNull(row[{place}])" if None in levels else f"row[{place}]"
            body.append(f"if (levels{place}.has({key})) x[{place}] = levels{place}.get({key});")
        function = "\n  ".join(["function score(row) {", *body, *statements, f"return {result};"])
        functions = "\n\n".join(self.used_helpers("\n".join([*body, *statements, result])))
        exported = 'if (typeof module !== "undefined") module.exports = { score };'
        return "\n\n".join(
            [
                "\n".join([*self.columns(schema, used, what), "// null or NaN is missing."]),
                *written,
                functions,
                f"{function}\n}}",
                f"{exported}\n",
            ]
        )


_OF_C = {
    "tree": """
static double tree(const double[] x, int at) {
  while (feature[at] >= 0) {
    double v = x[feature[at]];
    int f = flag[at];
    boolean goes;
    if (v != v) goes = (f & 1) != 0;
    else if ((f & 2) != 0) goes = inSet[(int) value[at] + (int) v] != 0;
    else goes = v < value[at];
    at = goes ? yes[at] : no[at];
  }
  return value[at];
}
""",
    "addTrees": """
static double addTrees(const double[] x, double total, int first, int end) {
  for (int t = first; t < end; t++) total = total + tree(x, root[t]);
  return total;
}
""",
    "single": """
static double single(double v) {
  return (double) (float) v;
}
""",
    "addSingles": """
static double addSingles(const double[] x, double total, int first, int end) {
  for (int t = first; t < end; t++) total = single(total + single(tree(x, root[t])));
  return total;
}
""",
    "numberSteps": """
static double numberSteps(double v, int start, int n, double missing) {
  if (v != v) return missing;
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (v < step[start + middle]) high = middle; else low = middle + 1;
  }
  return step[start + n + low];
}
""",
    "special": """
static double special(double v, double at, double then, double otherwise) {
  return v == at ? then : otherwise;
}
""",
    "levelSteps": """
static double levelSteps(double v, int start, int n, double missing) {
  return v < n ? step[start + (int) v] : missing;
}
""",
    "clipped": """
static double clipped(double v, double low, double high) {
  return v > high ? high : v < low ? low : v;
}
""",
    "filled": """
static double filled(double v, double missing) {
  return v != v ? missing : v;
}
""",
    "scaled": """
static double scaled(double v, double mean, double deviation, double limit, double unit) {
  if (v != v) return 0.0;
  v = (v - mean) / deviation;
  v = v > limit ? limit : v < -limit ? -limit : v;
  if (unit == 0.0) return v;
  double units = (v >= 0.0 ? v : -v) / unit;
  double below = Math.floor(units);
  units = units - below >= 0.5 ? below + 1.0 : below;
  return (v >= 0.0 ? units : -units) * unit;
}
""",
    "quotient": """
static double quotient(double above, double below, double otherwise) {
  return below > 0.0 ? above / below : otherwise;
}
""",
    "logistic": """
static double logistic(double v) {
  return v >= 0.0 ? 1.0 / (1.0 + Math.exp(-v)) : Math.exp(v) / (1.0 + Math.exp(v));
}
""",
    "median": """
static double median(double[] values) {
  java.util.Arrays.sort(values);
  int n = values.length;
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2.0;
}
""",
    "shareOf": """
static long shareOf(long mass, double share) {
  return (mass * (long) share + 1073741824L) >> 31;
}
""",
    "meanOf": """
static double meanOf(long total, double units) {
  return (double) total / units;
}
""",
}


def _java_text(value: float) -> str:
    """Return a double as a text that Java reads."""
    return "NaN" if isnan(value) else "Infinity" if isinf(value) else repr(float(value))


class _Java(Language):
    infinity = "Double.POSITIVE_INFINITY"
    nan = "Double.NaN"
    helpers: ClassVar[dict[str, str]] = {
        name: text.replace("const double[]", "double[]") for name, text in _OF_C.items()
    }

    def declared(self, kind: str, name: str, written: str) -> str:
        return f"{'double' if kind == 'number' else 'long'} {name} = {written};"

    def whole(self, number: int) -> str:
        return f"{number}L"

    def array(self, values: Sequence[str]) -> str:
        return f"new double[] {{{', '.join(values)}}}"

    def module(
        self,
        schema: Schema,
        used: Sequence[int],
        tables: Tables,
        statements: Sequence[str],
        result: str,
        what: str,
    ) -> str:
        functions = self.functions(statements, result)
        # Initial values of an array are code, whose size is limited in a method: strings are data.
        parts = [
            "static double[] doubles(String... texts) {",
            '  return java.util.Arrays.stream(String.join("", texts).split(" "))',
            "      .filter(t -> !t.isEmpty()).mapToDouble(Double::parseDouble).toArray();",
            "}",
            "static int[] ints(String... texts) {",
            '  return java.util.Arrays.stream(String.join("", texts).split(" "))',
            "      .filter(t -> !t.isEmpty()).mapToInt(Integer::parseInt).toArray();",
            "}",
        ]
        for name, of_ints in tables.of_whole_numbers(functions):
            parts.append(f"static final int[] {name} = ints({self._texts(map(str, of_ints))});")
        for name, of_doubles in tables.of_doubles(functions):
            texts = (_java_text(value) for value in of_doubles)
            parts.append(f"static final double[] {name} = doubles({self._texts(texts)});")
        body = [
            f"double[] x = new double[{len(schema.features)}];",
            "java.util.Arrays.fill(x, Double.NaN);",
        ]
        for place in used:
            levels = schema.features[place].levels
            if levels is None:
                said = f"((Number) row[{place}]).doubleValue()"
                body.append(f"if (row[{place}] != null) x[{place}] = {said};")
                continue
            parts += self._map(place, levels)
            body.append(f"x[{place}] = levels{place}.getOrDefault(key(row[{place}]), Double.NaN);")
        if any(True for _ in _levels(schema, used)):
            parts += [
                "static Object key(Object v) {",
                "  if (v instanceof Boolean) return (Boolean) v ? 1.0 : 0.0;",
                "  if (v instanceof Double && ((Double) v).isNaN()) return null;",
                "  return v instanceof Number ? (Object) (((Number) v).doubleValue() + 0.0) : v;",
                "}",
            ]
        function = "\n  ".join(
            ["public static double score(Object[] row) {", *body, *statements, f"return {result};"]
        )
        return "\n".join(
            [
                *self.columns(schema, used, what),
                "// null or NaN is missing.",
                "public final class Ranker {",
                *parts,
                functions,
                f"{function}\n}}\n}}\n",
            ]
        )

    def _texts(self, entries: Iterator[str]) -> str:
        texts, text = [], ""
        for entry in entries:
            if len(text) > _JAVA_TEXT:
                texts.append(text)
                text = ""
            text += f"{entry} "
        return ",\n".join(f'"{text}"' for text in [*texts, text])

    def _map(self, place: int, levels: Sequence[Level | None]) -> Iterator[str]:
        name = f"levels{place}"
        yield f"static final java.util.Map<Object, Double> {name} = new java.util.HashMap<>();"
        for part, start in enumerate(range(0, len(levels), _JAVA_STATEMENTS)):
            yield f"static void {name}_{part}() {{"
            for code in range(start, min(start + _JAVA_STATEMENTS, len(levels))):
                number = _as_number(levels[code])
                # A missing value is null, also in JSON.
                key = json.dumps(levels[code]) if number is None else self.number(number)
                yield f"  {name}.put({key}, {code}.0);"
            yield "}"
            yield f"static {{ {name}_{part}(); }}"


class _C(Language):
    infinity = "(1.0 / 0.0)"
    nan = "NAN"
    counts_arrays = True
    helpers: ClassVar[dict[str, str]] = {
        name: text.replace("const double[] x", "const double *x")
        .replace("boolean goes", "int goes")
        .replace("Math.exp(", "exp(")
        .replace("Math.floor(units)", "(double)(int64_t)units")
        .replace("static long", "static int64_t")
        .replace("(long) share", "(int64_t)share")
        .replace("(long ", "(int64_t ")
        .replace("1073741824L", "1073741824")
        for name, text in _OF_C.items()
        if name != "median"
    } | {
        "median": """
static double median(double *values, int n) {
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && values[j] < values[j - 1]; j--) {
      double v = values[j];
      values[j] = values[j - 1];
      values[j - 1] = v;
    }
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2.0;
}
""",
        "textCode": """
static double textCode(const char *text, const char *const *levels, const int *codes, int n) {
  int low = 0, high = n;
  if (text == NULL) return NAN;
  while (low < high) {
    int middle = (low + high) / 2, order = strcmp(text, levels[middle]);
    if (order == 0) return codes[middle];
    if (order < 0) high = middle; else low = middle + 1;
  }
  return NAN;
}
""",
        "numberCode": """
static double numberCode(double v, const double *levels, const int *codes, int n) {
  for (int k = 0; k < n; k++)
    if (v == levels[k]) return codes[k];
  return NAN;
}
""",
    }

    def declared(self, kind: str, name: str, written: str) -> str:
        return f"{'double' if kind == 'number' else 'int64_t'} {name} = {written};"

    def whole(self, number: int) -> str:
        return f"INT64_C({number})"

    def array(self, values: Sequence[str]) -> str:
        return f"(double[]){{{', '.join(values)}}}"

    def module(
        self,
        schema: Schema,
        used: Sequence[int],
        tables: Tables,
        statements: Sequence[str],
        result: str,
        what: str,
    ) -> str:
        functions = self.functions(statements, result)
        written = []
        for name, of_ints in tables.of_whole_numbers(functions):
            written.append(_c_array("int", name, map(str, of_ints)))
        for name, of_doubles in tables.of_doubles(functions):
            written.append(_c_array("double", name, map(self.number, of_doubles)))
        body = [f"double x[{len(schema.features)}];"]
        for place in used:
            levels = schema.features[place].levels
            if levels is None:
                body.append(f"x[{place}] = numbers[{place}];")
                continue
            body.append(f"x[{place}] = NAN;")
            texts = sorted(
                (self._bytes(level), code)
                for code, level in enumerate(levels)
                if isinstance(level, str)
            )
            numbers = [
                (number, code)
                for code, level in enumerate(levels)
                if (number := _as_number(level)) is not None
            ]
            if texts:
                said = map(_c_text, (text for text, _ in texts))
                codes = map(str, (code for _, code in texts))
                written.append(_c_array("char *const", f"texts{place}", said))
                written.append(_c_array("int", f"textCodes{place}", codes))
                found = f"textCode(texts[{place}], texts{place}, textCodes{place}, {len(texts)})"
                body.append(f"x[{place}] = {found};")
            if numbers:
                said = map(self.number, (number for number, _ in numbers))
                codes = map(str, (code for _, code in numbers))
                written.append(_c_array("double", f"levels{place}", said))
                written.append(_c_array("int", f"levelCodes{place}", codes))
                entries = f"levels{place}, levelCodes{place}, {len(numbers)}"
                found = f"numberCode(numbers[{place}], {entries})"
                body.append(f"if (isnan(x[{place}])) x[{place}] = {found};")
            if None in levels:
                # Of a column of which only gaps are read, the type is not known.
                absent = [f"isnan(numbers[{place}])"] * (bool(numbers) or not texts)
                absent += [f"texts[{place}] == NULL"] * (bool(texts) or not numbers)
                code_of_none = levels.index(None)
                body.append(f"if ({' && '.join(absent)}) x[{place}] = {code_of_none};")
        function = "\n  ".join(
            [
                "double score(const double *numbers, const char *const *texts) {",
                "(void)numbers;\n  (void)texts;",
                *body,
                *statements,
                f"return {result};",
            ]
        )
        lines = [
            *self.columns(schema, used, what),
            "// numbers[j] is column j where it is a number, NAN if it is missing; texts[j] where",
            "// it is text, in UTF-8, NULL if it is missing. Compile with -ffp-contract=off:",
            "// scores are those of the model where products are rounded before sums.",
            "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>",
            *written,
            *self.used_helpers("\n".join([*body, *statements, result])),
            f"{function}\n}}\n",
        ]
        return "\n".join(lines)

    def _bytes(self, level: str) -> bytes:
        try:
            text = level.encode()
        except UnicodeEncodeError:
            text = b"\0"
        if b"\0" in text:
            raise ValueError(f"the category {level!r} holds a character that C cannot write")
        return text


def _c_array(kind: str, name: str, entries: Iterator[str]) -> str:
    listed = list(entries)
    return f"static const {kind} {name}[] = {{\n{_lines(listed) or '0'}\n}};"


def _c_text(text: bytes) -> str:
    plain = set(range(32, 127)) - set(b'"\\?')
    return f'"{"".join(chr(b) if b in plain else f"{chr(92)}{b:03o}" for b in text)}"'


LANGUAGES: dict[str, Language] = {
    "c": _C(),
    "python": _Python(),
    "javascript": _JavaScript(),
    "java": _Java(),
}
