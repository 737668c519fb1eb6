"""A scorecard in PMML: read back, it must give the points and the reasons of the card."""

import json
import shutil
from datetime import UTC, datetime
from itertools import product

import numpy as np
import pandas as pd
import pytest
from aucrank import RIMARC, Scorecard

from tests.common.cards import fitted, parts_of_json, plain
from tests.common.pmml import PMML, PmmlScorecard, array_items, check_pmml


def rows_of(X):
    return plain(X).to_dict("records")


def test_pmml_follows_the_schema(card_and_rows):
    card, _ = card_and_rows
    check_pmml(card.to_pmml())
    check_pmml(card.to_pmml(why="many", n_reasons=2, timestamp=datetime(2026, 1, 2, tzinfo=UTC)))


def test_the_validator_detects_errors():
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
    """Return a card of four equal features, and every possible row."""
    X = pd.DataFrame(list(product([0.0, 1.0], repeat=4)), columns=["b", "d", "a", "c"])
    total = X.sum(axis=1).to_numpy()
    card = Scorecard(estimator=RIMARC(missing="value"), min_bin_share=0.01).fit(
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
def test_reason_codes_do_not_depend_on_how_an_engine_breaks_ties(why, ties, least):
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
            # PMML4S repeats the last one.
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
    card = Scorecard(estimator=RIMARC(missing="value")).fit(X, y)
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


def test_pmml_is_the_same_text_every_time_and_dated_only_on_request():
    card, _ = fitted("applicants")
    again, _ = fitted("applicants")
    assert card.to_pmml() == again.to_pmml()
    assert "Timestamp" not in card.to_pmml()
    dated = card.to_pmml(timestamp=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    assert "<Timestamp>2026-01-02T03:04:05+00:00</Timestamp>" in dated


def test_names_of_outputs_avoid_names_of_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["points", "total_points", "reason_1"])
    y = X.sum(axis=1) + rng.normal(size=300) > 0
    card = Scorecard().fit(X, y)
    check_pmml(card.to_pmml())
    scored = PmmlScorecard(card.to_pmml()).score(X.iloc[0].to_dict())
    assert scored["points_"] == card.points(X.head(1))[0]


def test_characters_that_xml_cannot_hold_raise_a_clear_error():
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
