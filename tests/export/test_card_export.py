"""A scorecard in SQL, PMML and JSON: each is read back and must give the points of the card."""

import json
import math
import shutil
import sqlite3
from datetime import UTC, datetime
from itertools import product
from xml.etree import ElementTree

import duckdb
import numpy as np
import pandas as pd
import pytest
from aucrank import Scorecard
from sklearn.exceptions import NotFittedError

from tests.common.real_data import load

PMML = "{http://www.dmg.org/PMML-4_4}"


def applicants(n_rows, seed):
    """Rows with all that a card can hold: special values, quotes, kinds of categories, gaps."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            'the "age"': rng.integers(18, 80, n_rows).astype(float),
            "debt": rng.choice([-9.0, -1.0, 0.1, 0.1 + 0.2, 0.3, 0.7, 1 / 3], n_rows),
            "months": rng.integers(0, 40, n_rows),
            "purpose <&>": rng.choice(["car", "it's", 'a "b"', "c\\", "d e\r\n", "é"], n_rows),
            "owner": rng.random(n_rows) < 0.5,
            "region": pd.Categorical(rng.integers(1, 6, n_rows)),
            "rate": pd.Categorical(rng.choice([0.5, 1.25, 3.0], n_rows)),
        }
    )
    risk = (
        X["debt"] * (X["debt"] > 0) * 3
        - X['the "age"'] / 30
        + 2.0 * (X["debt"] == -9)
        + 1.0 * (X["purpose <&>"].isin(["it's", 'a "b"']))
        - 1.0 * X["owner"]
        + 0.5 * X["region"].astype(int).isin([2, 5])
        + 0.5 * (X["rate"] == 3.0)
        + X["months"] / 30
    )
    y = risk + rng.normal(size=n_rows) > risk.median()
    X["owner"] = X["owner"].astype(object)
    for place, name in enumerate(X.columns):
        if name != "region":
            X[name] = X[name].mask(rng.random(n_rows) < 0.03 * (1 + place % 3))
    X["owner"] = pd.Categorical(X["owner"])
    return X, y.to_numpy()


def strangers(X):
    """Return the rows with some categories that no training row had."""
    changed = X.copy()
    changed["purpose <&>"] = X["purpose <&>"].where(np.arange(len(X)) % 20 > 0, "never seen")
    changed["region"] = pd.Categorical(
        X["region"].astype(float).where(np.arange(len(X)) % 25 > 0, 9)
    )
    return changed


def fitted(name):
    """Return a card, and rows that it was not made from or among which values are missing."""
    if name == "applicants":
        X, y = applicants(1500, 0)
        return Scorecard(special_values={"debt": [-9, -1]}, min_bin_share=0.01).fit(
            X, y
        ), strangers(applicants(800, 1)[0])
    if name == "negative":
        X, y = applicants(900, 2)
        card = Scorecard(high_points="negative", base_points=-50, pdo=35.5, monotone=True)
        return card.fit(X, np.where(y, "bad", "good")), strangers(applicants(400, 3)[0])
    if name == "array":
        rng = np.random.default_rng(4)
        X = rng.normal(size=(400, 3))
        X[rng.random(X.shape) < 0.1] = np.nan
        return Scorecard().fit(X, X[:, 0] + rng.normal(size=400) > 0), X
    X, y = load(name)
    return Scorecard().fit(X, y), X


CARDS = ["applicants", "negative", "array", "german", "horse_colic"]


@pytest.fixture(params=CARDS, scope="module")
def card_and_rows(request):
    return fitted(request.param)


def plain(X):
    """Return rows as a frame of plain columns, None for what is missing."""
    if not isinstance(X, pd.DataFrame):
        X = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return pd.DataFrame(
        {
            name: pd.Series([None if pd.isna(value) else value for value in column], dtype=object)
            for name, column in X.items()
        }
    )


def test_sqlite_gives_the_same_points(card_and_rows):
    card, X = card_and_rows
    with sqlite3.connect(":memory:") as database:
        # Values as they are: old pandas takes a column of numbers and None for text.
        plain(X).to_sql("applicants", database, index=False, dtype="BLOB")
        found = database.execute(f"SELECT {card.to_sql()} FROM applicants ORDER BY rowid")
        points = [points for (points,) in found]
    assert points == card.points(X).tolist()
    assert all(type(value) is int for value in points)
    assert len(set(points)) > 10


def test_duckdb_gives_the_same_points(card_and_rows):
    card, X = card_and_rows
    rows = X if isinstance(X, pd.DataFrame) else plain(X).astype(float)
    rows = rows.assign(row_number=np.arange(len(rows)))
    for name in rows.select_dtypes("category"):
        kinds = {type(level) for level in rows[name].cat.categories.tolist()}
        kind = {bool: "boolean", int: "Int64", float: "float", str: "object"}[kinds.pop()]
        rows[name] = rows[name].astype("object" if kind == "boolean" else kind).astype(kind)
    with duckdb.connect() as database:
        database.register("applicants", rows)
        query = f"SELECT {card.to_sql()} FROM applicants ORDER BY row_number"
        points = [points for (points,) in database.execute(query).fetchall()]
    assert points == card.points(X).tolist()


def test_a_database_finds_every_cut_and_special_value_where_the_card_has_it():
    values = np.array(
        [0.1 + 0.2, 1 / 3, 2 / 3, 1e-300, 123456789.123456789, 5e20, 1e15 + 0.5, -7.25]
    )
    X = np.sort(
        np.concatenate([values, np.nextafter(values, np.inf), np.nextafter(values, -np.inf)])
    )
    y = np.arange(len(X)) % 2
    card = Scorecard(special_values=values.tolist(), pdo=500).fit(
        np.repeat(X, 5)[:, None], np.repeat(y, 5)
    )
    sql = card.to_sql()
    # A decimal literal of 17 digits is not the same double in every database; this one is.
    assert '"x0" = 0.30000000000000004e0 THEN' in sql
    assert '"x0" = -7.25 THEN' in sql
    bins = json.loads(card.to_json())["features"][0]["bins"]
    cuts = np.array([bin_["low"] for bin_ in bins if bin_.get("low") is not None])
    assert len(cuts) > 1
    X = np.sort(np.concatenate([X, cuts, np.nextafter(cuts, -np.inf)]))
    for connect in (sqlite3.connect, duckdb.connect):
        database = connect(":memory:")
        database.execute("CREATE TABLE numbers (x0 DOUBLE)")
        database.executemany("INSERT INTO numbers VALUES (?)", [(value,) for value in X.tolist()])
        query = f"SELECT x0, {sql} FROM numbers ORDER BY x0"
        found = database.execute(query).fetchall()
        database.close()
        assert [value for value, _ in found] == X.tolist()
        assert [points for _, points in found] == card.points(X[:, None]).tolist()
    assert len(set(card.points(X[:, None]).tolist())) > 2


def test_dialects_quote_in_their_own_way():
    card, _ = fitted("applicants")
    assert '"the ""age"""' in card.to_sql()
    assert '`the "age"`' in card.to_sql("mysql")
    assert "[owner] IN (1)" in card.to_sql("tsql")
    assert "'c\\\\'" in card.to_sql("bigquery")
    with pytest.raises(ValueError, match="dialect must be one of 'ansi', 'mysql'"):
        card.to_sql("prolog")


def test_a_card_without_features_is_a_number():
    card = Scorecard().fit(np.ones((10, 2)), np.arange(10) % 2)
    assert card.to_sql() == str(card.points([[1.0, 1.0]])[0])
    assert json.loads(card.to_json())["features"] == []
    check_pmml(card.to_pmml())
    row = {"x0": 1.0, "x1": None}
    assert PmmlScorecard(card.to_pmml()).score(row)["points"] == card.points([[1.0, 1.0]])[0]


# JSON ------------------------------------------------------------------------------------------


def parts_of_json(card, row):
    """Give points to a row by what the documentation of the document says, and nothing else."""
    parts = []
    for feature in card["features"]:
        value = row[feature["position"]]
        parts.append(next(b["points"] for b in feature["bins"] if bin_holds(b, value)))
    return parts


def bin_holds(bin_, value):
    if value is None or bin_.get("missing"):
        return "missing" in bin_
    if "special" in bin_:
        return value == bin_["special"]
    if "categories" in bin_:
        return value in bin_["categories"]
    low, high = bin_["low"], bin_["high"]
    return (low is None or low <= value) and (high is None or value < high)


def no_constant(name):
    raise AssertionError(f"{name} is not JSON")


def test_the_json_document_alone_gives_the_same_points(card_and_rows):
    card, X = card_and_rows
    document = json.loads(card.to_json(), parse_constant=no_constant)
    assert (document["format"], document["version"]) == ("aucrank-scorecard", 1)
    parts = [parts_of_json(document, row) for row in plain(X).itertuples(index=False, name=None)]
    assert [document["initial_points"] + sum(p) for p in parts] == card.points(X).tolist()


def test_the_scale_of_the_json_document_gives_the_probabilities(card_and_rows):
    card, X = card_and_rows
    document = json.loads(card.to_json(indent=None))
    scale = document["scale"]
    powers = (card.points(X) - scale["base_points"]) / scale["pdo"]
    odds = scale["base_odds"] * 2.0**powers
    high = document["classes"].index(scale["high_class"])
    np.testing.assert_allclose(card.predict_proba(X)[:, high], odds / (1 + odds), rtol=1e-9)
    assert document["classes"] == card.classes_.tolist()
    assert (scale["base_points"], scale["pdo"]) == (card.base_points, card.pdo)


def test_the_scale_holds_when_a_parameter_was_set_after_the_fit():
    card, X = fitted("array")
    card.set_params(base_points=0.0)
    scale = json.loads(card.to_json())["scale"]
    odds = scale["base_odds"] * 2.0 ** ((card.points(X) - scale["base_points"]) / scale["pdo"])
    np.testing.assert_allclose(card.predict_proba(X)[:, 1], odds / (1 + odds), rtol=1e-9)


def test_json_counts_the_training_rows():
    X, y = applicants(1500, 0)
    card = Scorecard(special_values={"debt": [-9, -1]}).fit(X, y)
    for feature in json.loads(card.to_json())["features"]:
        assert sum(bin_["size"] for bin_ in feature["bins"]) == 1500
        assert sum(bin_["n_pos"] for bin_ in feature["bins"]) == y.sum()
        if feature["name"] == "debt":
            bins = {bin_["special"]: bin_ for bin_ in feature["bins"] if "special" in bin_}
            assert bins[-9.0]["size"] == (X["debt"] == -9).sum()
            assert bins[-9.0]["n_pos"] == y[X["debt"] == -9].sum()


# PMML ------------------------------------------------------------------------------------------

# What the XML schema of PMML 4.4 says of the elements that are used: attributes (those with a "!"
# are required) with the values they may have, and children in their order, each with how often it
# may stand there.
ONE, MAYBE, MANY, ANY = (1, 1), (0, 1), (1, math.inf), (0, math.inf)
DATA_TYPES = {"string", "integer", "float", "double", "boolean", "date", "time", "dateTime"}
OPTYPES = {"categorical", "ordinal", "continuous"}
PREDICATE = {"SimplePredicate", "CompoundPredicate", "SimpleSetPredicate", "True", "False"}
EXPRESSION = {"Constant", "FieldRef", "Apply"}
SCHEMA = {
    "PMML": (
        {"version!": {"4.4"}},
        [("Header", ONE), ("DataDictionary", ONE), ("Scorecard", ANY)],
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
    "Apply": ({"function!": {"+", "-", "*", "/", "exp"}}, [(EXPRESSION, ANY)]),
    "Constant": ({"dataType": DATA_TYPES}, []),
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
    for characteristic in scorecard.iter(f"{PMML}Characteristic"):
        # Where reason codes are used, both are required here or on every attribute, or the card.
        assert characteristic.get("reasonCode") is not None
        float(characteristic.get("baselineScore"))
        asked = {part.get("field") for part in characteristic.iter() if part.get("field")}
        assert len(asked) <= 1
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


def rows_of(X):
    return plain(X).to_dict("records")


def test_pmml_keeps_to_the_schema(card_and_rows):
    card, _ = card_and_rows
    check_pmml(card.to_pmml())
    check_pmml(card.to_pmml(why="many", n_reasons=2, timestamp=datetime(2026, 1, 2, tzinfo=UTC)))


def test_the_validator_sees_what_is_wrong():
    card, _ = fitted("array")
    text = card.to_pmml()
    broken = [
        text.replace('functionName="regression" ', ""),
        text.replace("pointsBelow", "pointsUnder"),
        text.replace('<DataField name="x0"', '<DataField name="x9"'),
        text.replace("isMissing", "isAbsent"),
        text.replace("<Characteristics>", "<Characteristics><Output />"),
    ]
    for wrong in broken:
        assert wrong != text
        with pytest.raises(AssertionError):
            check_pmml(wrong)


def test_pmml_gives_the_same_points_and_probabilities(card_and_rows):
    card, X = card_and_rows
    engine = PmmlScorecard(card.to_pmml())
    scored = [engine.score(row) for row in rows_of(X)]
    assert [row["points"] for row in scored] == card.points(X).tolist()
    found = [row["probability"] for row in scored]
    np.testing.assert_allclose(found, card.predict_proba(X)[:, 1], rtol=1e-12)


@pytest.mark.parametrize("why", ["few", "many"])
def test_pmml_names_the_features_that_took_or_gave_most_points(card_and_rows, why):
    card, X = card_and_rows
    document = json.loads(card.to_json())
    extreme = max if why == "few" else min
    names = [feature["name"] for feature in document["features"]]
    baseline = [
        extreme(bin_["points"] for bin_ in feature["bins"] if bin_["size"] > 0)
        for feature in document["features"]
    ]
    rows = plain(X).itertuples(index=False, name=None)
    parts = np.array([parts_of_json(document, row) for row in rows])
    difference = np.array(baseline) - parts if why == "few" else parts - np.array(baseline)
    order = np.argsort(-difference, axis=1, kind="stable")[:, :3]
    engine = PmmlScorecard(card.to_pmml(why=why, n_reasons=3))
    for row, expected in zip(rows_of(X), order, strict=True):
        scored = engine.score(row)
        found = [scored[key] for key in scored if key.startswith("reason_")]
        assert found == [names[place] for place in expected]


@pytest.mark.parametrize("why", ["few", "many"])
def test_reason_codes_of_the_card_are_those_of_its_pmml(card_and_rows, why):
    card, X = card_and_rows
    engine = PmmlScorecard(card.to_pmml(why=why, n_reasons=99))
    codes = card.reason_codes(X, X.shape[1], why=why)
    n_named = 0
    for row, of_card in zip(rows_of(X), codes.tolist(), strict=True):
        scored = engine.score(row)
        ranked = [scored[key] for key in scored if key.startswith("reason_")]
        # Those that made no difference are None on the card, and may be ranked last in PMML.
        named = [name for name in of_card if name is not None]
        assert of_card == named + [None] * (X.shape[1] - len(named))
        assert ranked[: len(named)] == named
        n_named += len(named)
    assert len(X) < n_named < X.size


#: How engines rank features of equal differences: by the specification, as they stand in the
#: document; PMML4S 1.5, which pypmml runs, from the end of the alphabet.
TIES = {
    "document": lambda place, _: place,
    "document, from its end": lambda place, _: -place,
    "alphabet": lambda _, code: [ord(character) for character in code],
    "alphabet, from its end": lambda _, code: [-ord(character) for character in code],
}


def card_with_ties():
    """Return a card of four features that say the same, and every row that there can be."""
    X = pd.DataFrame(list(product([0.0, 1.0], repeat=4)), columns=["b", "d", "a", "c"])
    total = X.sum(axis=1).to_numpy()
    card = Scorecard(min_bin_share=0.01).fit(
        pd.concat([X, X], ignore_index=True), np.concatenate([total > 2, total > 1])
    )
    assert (
        len({bin_["points"] for f in json.loads(card.to_json())["features"] for bin_ in f["bins"]})
        == 3
    )
    return card, X


@pytest.mark.parametrize("why", ["few", "many"])
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("least", ["more than nothing", "nothing"])
def test_reason_codes_are_the_same_in_ties_whatever_the_engine_does_with_them(why, ties, least):
    """Engines put out what made a difference, or (JPMML) at least none against the row."""
    card, X = card_with_ties()
    engine = PmmlScorecard(card.to_pmml(why=why))
    for row, expected in zip(rows_of(X), card.reason_codes(X, why=why).tolist(), strict=True):
        _, reasons = engine.add_up(row)
        given = [
            (-difference, TIES[ties](place, code), code)
            for place, (difference, code) in enumerate(reasons)
            if difference > 0 or (difference == 0 and least == "nothing")
        ]
        found = [code for _, _, code in sorted(given)]
        assert found == [code for code in expected if code is not None]


@pytest.fixture(scope="module")
def jpmml(tmp_path_factory):
    engine = pytest.importorskip("jpmml_evaluator")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    path = tmp_path_factory.mktemp("jpmml") / "card.pmml"

    def scorer(text):
        path.write_text(text, encoding="utf-8")
        return engine.make_evaluator(str(path)).verify().evaluate

    return scorer


@pytest.fixture(scope="module")
def pmml4s():
    pypmml = pytest.importorskip("pypmml")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    yield lambda text: pypmml.Model.fromString(text).predict
    pypmml.PMMLContext.shutdown()


@pytest.mark.parametrize("name", ["jpmml", "pmml4s"])
@pytest.mark.parametrize("why", ["few", "many"])
def test_engines_give_the_points_and_the_reasons_of_the_card(request, name, why):
    scorer = request.getfixturevalue(name)
    cards = [card_with_ties(), fitted("array")]
    if name == "jpmml":
        # PMML4S does not treat categories that are not listed as missing ones.
        card, X = fitted("applicants")
        cards.append((card, X.head(200)))
    for card, X in cards:
        score = scorer(card.to_pmml(why=why))
        points, codes = card.points(X), card.reason_codes(X, why=why).tolist()
        for row, total, expected in zip(rows_of(X), points, codes, strict=True):
            scored = score(row)
            assert scored["points"] == total
            found = [scored.get(f"reason_{rank}") for rank in range(1, len(row) + 1)][:4]
            n_reasons = 4 - expected.count(None)
            assert found[:n_reasons] == expected[:n_reasons]
            # PMML4S says the last one again.
            last = expected[n_reasons - 1] if name == "pmml4s" and n_reasons else None
            assert set(found[n_reasons:]) <= {last}


@pytest.mark.parametrize("others", [["ends in \\", "b", "c"], ["d\r\ne", "e", "\t"]])
def test_categories_of_one_bin_are_an_array_where_an_array_can_hold_them(others):
    """PMML quotes items of an array, but has no way to write a backslash before a quote."""
    plain_ones = ["two words", 'a "b" c', "", "é,;|"]
    kinds = (plain_ones + others) * 20
    # The same share of positives in every category of a side, so that each side is one bin.
    y = np.array([(row // 7) % 5 < (4 if kind in others else 1) for row, kind in enumerate(kinds)])
    X = pd.DataFrame({"kind": kinds})
    card = Scorecard().fit(X, y)
    text = card.to_pmml()
    root = check_pmml(text)
    (array,) = root.iter(f"{PMML}Array")
    assert sorted(array_items(array.text)) == sorted(plain_ones)
    (either,) = root.iter(f"{PMML}CompoundPredicate")
    assert either.get("booleanOperator") == "or"
    assert sorted(part.get("value") for part in either) == sorted(others)
    engine = PmmlScorecard(text)
    for kind in [*plain_ones, *others, None, "never seen"]:
        points = card.points(pd.DataFrame({"kind": [kind]}, dtype=object))
        assert engine.score({"kind": kind})["points"] == points[0]


def test_pmml_is_the_same_text_every_time_and_dated_only_if_asked():
    card, _ = fitted("applicants")
    again, _ = fitted("applicants")
    assert card.to_pmml() == again.to_pmml()
    assert "Timestamp" not in card.to_pmml()
    dated = card.to_pmml(timestamp=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    assert "<Timestamp>2026-01-02T03:04:05+00:00</Timestamp>" in dated


def test_names_of_outputs_make_way_for_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["points", "total_points", "reason_1"])
    y = X.sum(axis=1) + rng.normal(size=300) > 0
    card = Scorecard().fit(X, y)
    check_pmml(card.to_pmml())
    scored = PmmlScorecard(card.to_pmml()).score(X.iloc[0].to_dict())
    assert scored["points_"] == card.points(X.head(1))[0]


def test_what_xml_cannot_hold_is_refused_in_words():
    X = pd.DataFrame({"kind": ["a\x01", "b"] * 20})
    card = Scorecard().fit(X, np.arange(40) % 2)
    with pytest.raises(ValueError, match=r"'a\\x01' holds the character '\\x01', which XML"):
        card.to_pmml()


def test_parameters_of_pmml_are_checked():
    card, _ = fitted("array")
    with pytest.raises(ValueError, match="why must be one of 'few', 'many'"):
        card.to_pmml(why="none")
    with pytest.raises(ValueError, match="n_reasons"):
        card.to_pmml(n_reasons=-1)
    with pytest.raises(TypeError, match="timestamp must be a datetime"):
        card.to_pmml(timestamp="today")
    with pytest.raises(TypeError, match="model_name must be a string"):
        card.to_pmml(model_name=1)


@pytest.mark.parametrize("method", ["to_sql", "to_pmml", "to_json"])
def test_there_is_nothing_to_export_before_fit(method):
    with pytest.raises(NotFittedError):
        getattr(Scorecard(), method)()
