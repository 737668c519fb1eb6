"""The form of the files of a fit, saved with the model, applies to other files."""

import io
import os

import numpy as np
import pandas as pd
import pytest
from aucrank import RIMARC, load
from aucrank._data.reading import Reading
from aucrank.data import Dataset
from hypothesis import given
from hypothesis import strategies as st

from tests.common.command_line import TREE, hide, levels_of, run
from tests.common.pairwise import parametrize_pairs

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


def write(texts, file, sep=","):
    frame = pd.DataFrame(texts)
    frame.to_csv(file, sep=sep, index=False)
    return frame


def fit(capsys, file, *args, out="model.json"):
    status, _, err = run(capsys, "fit", file, "--target", "bad", *TREE, "-o", out, *args)
    assert status == 0, err
    return err


def scores(capsys, file, *args, model="model.json"):
    status, out, err = run(capsys, "score", model, file, *args)
    assert status == 0, err
    return pd.read_csv(io.StringIO(out))["score"].to_numpy()


def amounts(n=400, seed=0):
    """Amounts, and a class that is likely if the amount is large."""
    rng = np.random.default_rng(seed)
    amount = rng.integers(1_200, 90_000, n) + rng.choice([0, 0, 0.5, 0.25], n)
    return amount, (rng.random(n) < amount / 90_000).astype(int)


def german(value):
    text = f"{value:,.2f}".translate(str.maketrans(",.", ".,"))
    return text.removesuffix(",00")


FORMS = {
    "German": (german, ";"),
    "Swiss": (lambda value: f"{value:,}".replace(",", "'"), ","),
    "percent": (lambda value: f"{value:.2f}%", ","),
    "euros": (lambda value: f"{german(value)} EUR", ";"),
    "Excel": (lambda value: f'="{value}"', "\t"),
    "a minus": (lambda value: f"\u2212{value}", ","),
    "dates": (lambda value: str(np.datetime64("1900-01-01") + int(value)), ","),
    "slashes": (lambda v: pd.Timestamp(v * 1e13).strftime("%d/%m/%Y"), ","),
    "months": (lambda v: pd.Timestamp(v * 1e13).strftime("%d-%b-%Y %H:%M"), ","),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_row_alone_gets_the_score_it_gets_among_others(form, reader, capsys):
    amount, bad = amounts()
    spell, sep = FORMS[form]
    texts = list(map(spell, amount))
    for k in (3, 14, 15):
        texts[k] = ["-", "k.A.", "#DIV/0!"][k % 3]
    write({"amount": texts, "bad": bad}, "all.csv", sep)
    fit(capsys, "all.csv")
    assert levels_of("model.json") == {"amount": None}
    whole = scores(capsys, "all.csv")
    assert len(np.unique(whole)) > 2
    for row in [0, 1, 2, 3, 14, 15, *range(50, 60)]:
        write({"amount": [texts[row]], "bad": [bad[row]]}, "one.csv", sep)
        np.testing.assert_array_equal(scores(capsys, "one.csv"), whole[row : row + 1])
    # In pieces, and from Python.
    os.mkdir("parts")
    for part in range(4):
        rows = slice(part * 100, part * 100 + 100)
        write({"amount": texts[rows], "bad": bad[rows]}, f"parts/{part}.csv", sep)
    np.testing.assert_array_equal(scores(capsys, "parts"), whole)
    pieces = load("model.json").decision_function_batches(Dataset.from_csv("parts/2.csv"))
    np.testing.assert_array_equal(np.concatenate(list(pieces)), whole[200:300])


def test_a_model_fitted_in_python_saves_the_form_of_its_files(tmp_path):
    amount, bad = amounts()
    write({"amount": list(map(german, amount)), "bad": bad}, "all.csv", ";")
    dataset = Dataset.from_csv("all.csv", target="bad")
    with pytest.warns(UserWarning, match="decimal comma"):
        model = RIMARC().fit(dataset)
    model.save("model.json")
    whole = np.concatenate(list(load("model.json").decision_function_batches(dataset)))
    write({"amount": [german(round(amount[0]))], "bad": [0]}, "one.csv", ";")
    alone = model.decision_function_batches(Dataset.from_csv("one.csv", sep=";"))
    assert next(alone)[0] == model.decision_function(pd.DataFrame({"amount": [round(amount[0])]}))
    assert len(whole) == 400


@pytest.mark.parametrize(
    ("train", "text", "said"),
    [
        ("German", "12.5", "'12.5'"),
        ("percent", "12.5", "'12.5'"),
        ("euros", "12 USD", "'12 USD'"),
        ("dates", "0000-00-00", "'0000-00-00'"),
        ("dates", "17", "'17'"),
    ],
)
@pytest.mark.parametrize("pieces", [[], ["--memory", "1B"]])
def test_a_file_that_contradicts_its_model_is_an_error(pieces, train, text, said, capsys):
    amount, bad = amounts()
    spell, sep = FORMS[train]
    write({"amount": list(map(spell, amount)), "bad": bad}, "all.csv", sep)
    fit(capsys, "all.csv")
    write({"amount": [text] * 3, "bad": [0, 1, 0]}, "new.csv", sep)
    status, _, err = run(capsys, "score", "model.json", "new.csv", *pieces)
    assert status == 1
    assert f"column 'amount' of new.csv holds text (such as {said}); the model learned it as" in err


def test_options_override_the_form_saved_with_the_model(capsys):
    amount, bad = amounts()
    write({"amount": amount, "bad": bad}, "points.csv")
    fit(capsys, "points.csv")
    whole = scores(capsys, "points.csv")
    write({"amount": [str(v).replace(".", ",") for v in amount], "bad": bad}, "commas.csv", ";")
    np.testing.assert_array_equal(scores(capsys, "commas.csv", "--decimal", ","), whole)


def test_given_marks_of_missing_values_are_saved_with_the_model(capsys):
    amount, bad = amounts()
    amount[::7] = -999
    write({"amount": amount, "bad": bad}, "all.csv")
    fit(capsys, "all.csv", "--missing", "-999")
    write({"amount": np.where(amount == -999, np.nan, amount), "bad": bad}, "plain.csv")
    np.testing.assert_array_equal(scores(capsys, "all.csv"), scores(capsys, "plain.csv"))


@parametrize_pairs(
    odd=["x", " ", "NA ", " ?", "#VALUE!", "1.2.3"],
    kind=["numbers", "dates"],
    package=["pandas", "polars"],
)
def test_one_unreadable_cell_is_missing_and_reported(kind, odd, package, monkeypatch, capsys):
    hide(monkeypatch, {"pandas", "polars"} - {package})
    amount, bad = amounts()
    texts = list(map(FORMS["dates"][0], amount)) if kind == "dates" else list(map(str, amount))
    write({"amount": ["" if k % 40 == 0 else t for k, t in enumerate(texts)], "bad": bad}, "a.csv")
    fit(capsys, "a.csv", out="empty.json")
    write({"amount": [odd if k % 40 == 0 else t for k, t in enumerate(texts)], "bad": bad}, "b.csv")
    err = fit(capsys, "b.csv", out="odd.json")
    assert repr(odd) in err
    assert "missing" in err
    assert load("odd.json").to_json() == load("empty.json").to_json()
    err = fit(capsys, "b.csv", "--categorical", "amount", out="text.json")
    assert levels_of("text.json")["amount"] is not None


def test_a_few_levels_of_which_one_is_text_stay_categories(capsys):
    rng = np.random.default_rng(0)
    rooms = rng.choice(["1", "2", "3", "4+"], 600, p=[0.4, 0.4, 0.18, 0.02])
    bad = (rng.random(600) < np.where(rooms == "2", 0.7, 0.3)).astype(int)
    write({"rooms": rooms, "bad": bad}, "rooms.csv")
    fit(capsys, "rooms.csv")
    assert levels_of("model.json") == {"rooms": ("1", "2", "3", "4+")}


def test_forms_of_a_saved_model_are_read_back_or_rejected(capsys):
    amount, bad = amounts()
    write({"amount": [f"{value}%" for value in amount], "bad": bad}, "all.csv")
    fit(capsys, "all.csv")
    model = load("model.json")
    model.save("again.json")
    with open("model.json") as one, open("again.json") as two:
        assert one.read() == two.read()
    assert model._reading.columns["amount"].unit == "%"
    for broken in (
        {"kind": "word"},
        {"kind": "number", "unit": 3},
        {"kind": "date", "order": "x"},
        7,
    ):
        with pytest.raises(ValueError, match="unknown form"):
            Reading.from_json({"columns": {"amount": broken}}, ["amount"])
    with pytest.raises(ValueError, match="unknown form"):
        Reading.from_json({"encoding": "klingon"}, ["amount"])
    with pytest.raises(ValueError, match="unknown form"):
        Reading.from_json({"columns": {"other": {"kind": "date"}}}, ["amount"])


def test_decimal_commas_may_appear_late_in_a_file(reader, capsys):
    amount, bad = amounts()
    amount = np.sort(np.where(np.arange(400) < 250, np.round(amount), amount + 0.5))
    texts = [f"{value:g}".replace(".", ",") for value in amount]
    write({"amount": texts, "bad": bad}, "late.csv", ";")
    ok_out = fit(capsys, "late.csv", "-v")
    assert "numbers of late.csv have a decimal comma" in ok_out
    assert levels_of("model.json") == {"amount": None}


def test_the_default_model_and_a_report_use_the_saved_form(capsys):
    amount, bad = amounts(200)
    write({"amount": list(map(german, amount)), "bad": bad}, "all.csv", ";")
    fit(capsys, "all.csv")
    status, out, _ = run(capsys, "evaluate", "model.json", "all.csv", "--target", "bad")
    assert status == 0
    assert "AUC" in out
    write({"amount": ["40.165", "12.000", "3.000", "80.000"], "bad": [1, 0, 0, 1]}, "few.csv", ";")
    status, out, _ = run(capsys, "evaluate", "model.json", "few.csv", "--target", "bad")
    assert "1.0000" in out


names = st.sampled_from(["a", "kind", "unit", "missing", "order"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from([".", ";"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["a", "kind", "unit", "missing", "order"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
keys = st.sampled_from(
    ["separator", "decimal", "encoding", "comment", "header", "missing", "columns"]
)


@given(json_values | st.dictionaries(keys, json_values, max_size=4))
def test_a_malformed_saved_form_is_rejected(found):
    try:
        reading = Reading.from_json(found, ["a"])
    except ValueError:
        return
    assert Reading.from_json(reading.to_json(), ["a"]) == reading
