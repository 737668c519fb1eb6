"""PMML read by its schema and its rules, in plain Python."""

import math
import operator
from xml.etree import ElementTree

PMML = "{http://www.dmg.org/PMML-4_4}"

# What the XML schema of PMML 4.4 says of the elements that are used: attributes (those with a "!"
# are required) with the values they may have, and children in their order, each with how often it
# may stand there.
ONE, MAYBE, MANY, ANY = (1, 1), (0, 1), (1, math.inf), (0, math.inf)
DATA_TYPES = {"string", "integer", "float", "double", "boolean", "date", "time", "dateTime"}
OPTYPES = {"categorical", "ordinal", "continuous"}
PREDICATE = {"SimplePredicate", "CompoundPredicate", "SimpleSetPredicate", "True", "False"}
EXPRESSION = {"Constant", "FieldRef", "Apply"}
#: Functions of expressions that are used. None is a missing value, which makes a result missing
#: where nothing else is said.
FUNCTIONS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "exp": math.exp,
    "round": lambda value: math.floor(value + 0.5),
    "min": min,
    "max": max,
    "equal": operator.eq,
    "lessThan": operator.lt,
    "greaterThan": operator.gt,
    "greaterOrEqual": operator.ge,
    "isIn": lambda value, *among: value in among,
    "and": lambda *parts: all(parts),
    "or": lambda *parts: any(parts),
    "if": None,
    "isMissing": None,
}
SCHEMA = {
    "PMML": (
        {"version!": {"4.4"}},
        [("Header", ONE), ("DataDictionary", ONE), ({"Scorecard", "RegressionModel"}, ANY)],
    ),
    "Header": (
        {"copyright": None, "description": None, "modelVersion": None},
        [("Application", MAYBE), ("Annotation", ANY), ("Timestamp", MAYBE)],
    ),
    "Application": ({"name!": None, "version": None}, []),
    "Timestamp": ({}, []),
    "DataDictionary": ({"numberOfFields": None}, [("DataField", MANY)]),
    "DataField": (
        {"name!": None, "displayName": None, "optype!": OPTYPES, "dataType!": DATA_TYPES},
        [("Interval", ANY), ("Value", ANY)],
    ),
    "Value": (
        {"value!": None, "displayValue": None, "property": {"valid", "invalid", "missing"}},
        [],
    ),
    "Scorecard": (
        {
            "modelName": None,
            "functionName!": {"regression"},
            "algorithmName": None,
            "initialScore": None,
            "useReasonCodes": {"true", "false"},
            "reasonCodeAlgorithm": {"pointsAbove", "pointsBelow"},
            "baselineScore": None,
            "baselineMethod": {"max", "min", "mean", "neutral", "other"},
            "isScorable": {"true", "false"},
        },
        [
            ("MiningSchema", ONE),
            ("Output", MAYBE),
            ("ModelStats", MAYBE),
            ("ModelExplanation", MAYBE),
            ("Targets", MAYBE),
            ("LocalTransformations", MAYBE),
            ("Characteristics", ONE),
            ("ModelVerification", MAYBE),
        ],
    ),
    "RegressionModel": (
        {"modelName": None, "functionName!": {"regression"}},
        [
            ("MiningSchema", ONE),
            ("Output", MAYBE),
            ("ModelStats", MAYBE),
            ("ModelExplanation", MAYBE),
            ("Targets", MAYBE),
            ("LocalTransformations", MAYBE),
            ("RegressionTable", MANY),
        ],
    ),
    "LocalTransformations": ({}, [("DerivedField", ANY)]),
    "DerivedField": (
        {"name": None, "optype!": OPTYPES, "dataType!": DATA_TYPES},
        [(EXPRESSION, ONE)],
    ),
    "RegressionTable": ({"intercept!": None}, [("NumericPredictor", ANY)]),
    "NumericPredictor": ({"name!": None, "coefficient!": None}, []),
    "MiningSchema": ({}, [("MiningField", MANY)]),
    "MiningField": (
        {
            "name!": None,
            "usageType": {"active", "target", "predicted", "supplementary"},
            "invalidValueTreatment": {"returnInvalid", "asIs", "asMissing", "asValue"},
        },
        [],
    ),
    "Output": ({}, [("OutputField", MANY)]),
    "OutputField": (
        {
            "name!": None,
            "displayName": None,
            "optype": OPTYPES,
            "dataType!": DATA_TYPES,
            "feature": {"predictedValue", "reasonCode", "transformedValue"},
            "rank": None,
        },
        [(EXPRESSION, MAYBE)],
    ),
    "Apply": ({"function!": set(FUNCTIONS)}, [(EXPRESSION, ANY)]),
    "Constant": ({"dataType": DATA_TYPES, "missing": {"true", "false"}}, []),
    "FieldRef": ({"field!": None}, []),
    "Characteristics": ({}, [("Characteristic", MANY)]),
    "Characteristic": (
        {"name": None, "reasonCode": None, "baselineScore": None},
        [("Attribute", MANY)],
    ),
    "Attribute": ({"reasonCode": None, "partialScore": None}, [(PREDICATE, ONE)]),
    "SimplePredicate": (
        {
            "field!": None,
            "operator!": {
                *("equal", "notEqual", "lessThan", "lessOrEqual", "greaterThan"),
                *("greaterOrEqual", "isMissing", "isNotMissing"),
            },
            "value": None,
        },
        [],
    ),
    "CompoundPredicate": (
        {"booleanOperator!": {"or", "and", "xor", "surrogate"}},
        [(PREDICATE, (2, math.inf))],
    ),
    "SimpleSetPredicate": (
        {"field!": None, "booleanOperator!": {"isIn", "isNotIn"}},
        [("Array", ONE)],
    ),
    "Array": ({"type!": {"int", "real", "string"}, "n": None}, []),
    "True": ({}, []),
}


def check_element(element):
    tag = element.tag.removeprefix(PMML)
    assert element.tag == PMML + tag
    attributes, children = SCHEMA[tag]
    known = {name.removesuffix("!"): values for name, values in attributes.items()}
    for name, value in element.attrib.items():
        assert name in known, f"{tag} has no attribute {name}"
        assert known[name] is None or value in known[name], f"{tag} {name}={value}"
    missing = {name[:-1] for name in attributes if name.endswith("!")} - set(element.attrib)
    assert not missing, f"{tag} lacks {missing}"
    found = [child.tag.removeprefix(PMML) for child in element]
    for names, (least, most) in children:
        names = {names} if isinstance(names, str) else names
        n_found = next((n for n, name in enumerate(found) if name not in names), len(found))
        assert least <= n_found <= most, f"{tag} has {n_found} of {names}"
        found = found[n_found:]
    assert not found, f"{tag} has {found} where it may not"
    for child in element:
        check_element(child)


def check_pmml(text):
    """Check a document by the schema, and by the rules that the specification adds in words."""
    root = ElementTree.fromstring(text)
    check_element(root)
    fields = [field.get("name") for field in root.iter(f"{PMML}DataField")]
    assert len(set(fields)) == len(fields)
    assert root.find(f"{PMML}DataDictionary").get("numberOfFields") == str(len(fields))
    mined = [field.get("name") for field in root.iter(f"{PMML}MiningField")]
    assert sorted(mined) == sorted(fields)
    outputs = [field.get("name") for field in root.iter(f"{PMML}OutputField")]
    assert len({*outputs, *fields}) == len(outputs) + len(fields)
    scorecard = root.find(f"{PMML}Scorecard")
    if scorecard is None:
        return root
    for characteristic in scorecard.iter(f"{PMML}Characteristic"):
        # Where reason codes are used, both are required here or on every attribute, or the card.
        assert characteristic.get("reasonCode") is not None
        float(characteristic.get("baselineScore"))
        tested = {part.get("field") for part in characteristic.iter() if part.get("field")}
        assert len(tested) <= 1
        for attribute in characteristic:
            float(attribute.get("partialScore"))
    for predicate in scorecard.iter(f"{PMML}SimplePredicate"):
        needs_value = predicate.get("operator") not in ("isMissing", "isNotMissing")
        assert (predicate.get("value") is not None) == needs_value
    for array in scorecard.iter(f"{PMML}Array"):
        assert len(array_items(array.text)) == int(array.get("n"))
    return root


def array_items(text):
    """Split an array of strings: blanks part the items, quotes hold blanks, \\" is a quote."""
    items, item, inside = [], "", False
    place = 0
    while place < len(text):
        if text.startswith('\\"', place):
            item, place = item + '"', place + 1
        elif text[place] == '"':
            if inside:
                items.append(item)
            item, inside = "", not inside
        elif inside:
            item += text[place]
        place += 1
    assert not inside
    return items


class PmmlScorecard:
    """Scores rows by the rules of PMML 4.4, from the document alone."""

    def __init__(self, text):
        self.root = ElementTree.fromstring(text)
        self.card = self.root.find(f"{PMML}Scorecard")
        self.types, self.valid = {}, {}
        for field in self.root.iter(f"{PMML}DataField"):
            name = field.get("name")
            self.types[name] = field.get("dataType")
            values = [self.parse(name, value.get("value")) for value in field]
            self.valid[name] = values or None

    def parse(self, field, text):
        match self.types[field]:
            case "double":
                return float(text)
            case "integer":
                return int(text)
            case "boolean":
                return {"true": True, "false": False}[text]
        return text

    def prepare(self, row):
        """Treat invalid values as the mining schema says."""
        prepared = {}
        for field in self.root.iter(f"{PMML}MiningField"):
            name = field.get("name")
            value = row.get(name)
            if value is not None and self.valid[name] and value not in self.valid[name]:
                assert field.get("invalidValueTreatment") == "asMissing"
                value = None
            prepared[name] = value
        return prepared

    def holds(self, predicate, row):
        """Return True, False, or None for unknown."""
        tag = predicate.tag.removeprefix(PMML)
        if tag == "True":
            return True
        if tag == "CompoundPredicate":
            parts = [self.holds(part, row) for part in predicate]
            decisive = predicate.get("booleanOperator") == "or"
            if decisive in parts:
                return decisive
            return None if None in parts else not decisive
        name = predicate.get("field")
        value = row[name]
        operator = predicate.get("operator")
        if operator in ("isMissing", "isNotMissing"):
            return (value is None) == (operator == "isMissing")
        if value is None:
            return None
        if tag == "SimpleSetPredicate":
            items = array_items(predicate.find(f"{PMML}Array").text)
            return value in [self.parse(name, item) for item in items]
        bound = self.parse(name, predicate.get("value"))
        return {
            "equal": value == bound,
            "lessThan": operator == "lessThan" and value < bound,
            "greaterOrEqual": operator == "greaterOrEqual" and value >= bound,
        }[operator]

    def evaluate(self, expression, values):
        tag = expression.tag.removeprefix(PMML)
        if tag == "Constant":
            return float(expression.text)
        if tag == "FieldRef":
            return values[expression.get("field")]
        parts = [self.evaluate(part, values) for part in expression]
        match expression.get("function"), parts:
            case "+", [a, b]:
                return a + b
            case "-", [a, b]:
                return a - b
            case "/", [a, b]:
                return a / b
            case "exp", [a]:
                return math.exp(a)
        raise AssertionError(expression.get("function"))

    def score(self, row):
        total, reasons = self.add_up(row)
        reasons.sort(key=lambda reason: -reason[0])  # stable: equal ones stay in order
        values = {}
        for field in self.card.iter(f"{PMML}OutputField"):
            match field.get("feature"):
                case "predictedValue":
                    values[field.get("name")] = total
                case "reasonCode":
                    values[field.get("name")] = reasons[int(field.get("rank")) - 1][1]
                case "transformedValue":
                    values[field.get("name")] = self.evaluate(field[0], values)
        return values

    def add_up(self, row):
        """Return the score, and of each characteristic its difference and its reason code."""
        row = self.prepare(row)
        total = float(self.card.get("initialScore"))
        below = self.card.get("reasonCodeAlgorithm") == "pointsBelow"
        reasons = []
        for characteristic in self.card.iter(f"{PMML}Characteristic"):
            attribute = next(a for a in characteristic if self.holds(a[0], row))
            partial = float(attribute.get("partialScore"))
            total += partial
            above = partial - float(characteristic.get("baselineScore"))
            reasons.append((-above if below else above, characteristic.get("reasonCode")))
        return total, reasons


class PmmlRegression:
    """Scores rows by the rules of PMML 4.4, from the document of a regression alone."""

    def __init__(self, text):
        self.root = check_pmml(text)
        self.model = self.root.find(f"{PMML}RegressionModel")
        self.valid = {
            field.get("name"): [value.get("value") for value in field.iter(f"{PMML}Value")]
            for field in self.root.iter(f"{PMML}DataField")
        }
        self.treatment = {
            field.get("name"): field.get("invalidValueTreatment")
            for field in self.root.iter(f"{PMML}MiningField")
        }

    def score(self, row):
        """Return the score of a row: a dictionary, in which None or NaN is a missing value."""
        fields = {}
        for name, valid in self.valid.items():
            value = row.get(name)
            is_missing = value is None or value != value
            if valid and not is_missing and self.treatment[name] == "asMissing":
                spelled = str(value).lower() if isinstance(value, bool) else str(value)
                is_missing = spelled not in valid
            fields[name] = None if is_missing else value
        for field in self.model.iter(f"{PMML}DerivedField"):
            # What a field refers to stands before it.
            assert field.get("name") not in fields
            fields[field.get("name")] = evaluate(field[0], fields)
        (table,) = self.model.iter(f"{PMML}RegressionTable")
        return float(table.get("intercept")) + math.fsum(
            float(term.get("coefficient")) * fields[term.get("name")] for term in table
        )


def evaluate(expression, fields):
    """Return the value of an expression, None if it is missing."""
    match expression.tag.removeprefix(PMML):
        case "Constant" if expression.get("missing") == "true":
            return None
        case "Constant":
            text = expression.text or ""
            match expression.get("dataType"):
                case "boolean":
                    return {"true": True, "false": False}[text]
                case "double":
                    return float(text)
                case "integer":
                    return int(text)
            return text
        case "FieldRef":
            return fields[expression.get("field")]
    function = expression.get("function")
    if function == "if":
        condition, *sides = expression
        holds = evaluate(condition, fields)
        assert holds in (True, False)
        return evaluate(sides[0 if holds else 1], fields)
    parts = [evaluate(part, fields) for part in expression]
    if function == "isMissing":
        return parts == [None]
    return None if None in parts else FUNCTIONS[function](*parts)
