"""Numbers, months and durations as people and programs write them make the model of plain ones."""

import io
import json
import os
import warnings
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from aucrank import LinearRanker, TreeRank, load
from aucrank._data.column_form import ColumnForm
from aucrank.data import Dataset

from tests.common.command_line import TREE, levels_of, ok, run

FIT = (*TREE, "--target", "bad", "--output", "model.json")
N = 400
RNG = np.random.default_rng(0)
SIZE = RNG.lognormal(7, 2.5, N).round().astype(int)
CENTS = RNG.normal(300, 400, N).round(2)
MONTHS = RNG.integers(1960 * 12, 2045 * 12, N)
MINUTES = RNG.integers(0, 9000, N)


def rows_of(texts, values):
    """The texts, a column of no use, and labels that rise with the values, in random order."""
    rank = np.argsort(np.argsort(values)) / N
    bad = (np.random.default_rng(1).random(N) < 0.1 + 0.8 * rank).astype(int)
    other = np.random.default_rng(2).integers(0, 9, N)
    return pd.DataFrame({"x": texts, "other": other, "bad": bad})


def scored(capsys, rows, *args, file="rows.csv", score="rows.csv"):
    """Scores of the rows by a model of them, and the notes of the fit."""
    rows.to_csv("rows.csv", index=False)
    status, _, err = run(capsys, "fit", file, *FIT, "-v", *args)
    assert status == 0, err
    status, out, more = run(capsys, "score", "model.json", score)
    assert status == 0, more
    return pd.read_csv(io.StringIO(out))["score"].to_numpy(), err.splitlines()


def said(notes):
    return [line.removeprefix("aucrank: note: ") for line in notes]


def in_thousands(value):
    if value < 1000:
        return str(value)
    return f"{value / 1000:.3f}k" if value < 10**6 else f"{value / 10**6:.6f}M"


def in_bytes(value):
    if value < 1000:
        return f"{value} B"
    return f"{value / 1000:.3f} kB" if value < 10**6 else f"{value / 10**6:.6f} MB"


SCALED = {
    "1.2k and 950": (in_thousands, "k, M and the like are multiplied"),
    "$1.2k and $950": (
        lambda value: "$" + in_thousands(value),
        "numbers in $, k, M and the like are multiplied",
    ),
    "Tsd. and Mio.": (
        lambda value: (
            f"{value / 1000:.3f} Tsd. €" if value < 10**6 else f"{value / 1e6:.6f} Mio. €"
        ),
        "numbers in €, k, M and the like are multiplied",
    ),
    "kB and MB": (in_bytes, "numbers in bytes, other units of bytes are converted"),
    "g and kg": (
        lambda value: f"{value} g" if value < 5000 else f"{value / 1000:.3f}kg",
        "numbers in g, other units of mass are converted",
    ),
}


@pytest.mark.parametrize("form", SCALED)
def test_units_that_are_multiples_are_multiplied(form, reader, capsys):
    write, note = SCALED[form]
    expected, _ = scored(capsys, rows_of(SIZE, SIZE))
    texts = [write(value) for value in SIZE.tolist()]
    found, notes = scored(capsys, rows_of(texts, SIZE))
    assert said(notes) == [f"column x: {note} (see --categorical x)"]
    np.testing.assert_array_equal(found, expected)
    # Rows to score may have one of the units alone.
    few = rows_of(texts, SIZE)[SIZE > 10**6]
    few.to_csv("few.csv", index=False)
    assert pd.read_csv(io.StringIO(ok(capsys, "score", "model.json", "few.csv")))[
        "score"
    ].tolist() == list(expected[SIZE > 10**6])


def test_a_model_of_plain_numbers_or_of_one_unit_converts_multiples_of_it(capsys):
    for texts in (SIZE, [f"{value / 1000}k" for value in SIZE.tolist()]):
        expected, _ = scored(capsys, rows_of(texts, SIZE))
        rows_of(list(map(in_thousands, SIZE.tolist())), SIZE).to_csv("other.csv", index=False)
        status, out, _ = run(capsys, "score", "model.json", "other.csv")
        assert status == 0
        assert pd.read_csv(io.StringIO(out))["score"].tolist() == list(expected)


@pytest.mark.parametrize("units", [("km", "min"), ("CR", "DR"), ("", "M")])
def test_a_column_of_units_that_are_no_multiples_is_named_and_has_no_numbers(units, capsys):
    texts = [f"{value} {units[k % 3 == 0]}".strip() for k, value in enumerate(SIZE)]
    _, notes = scored(capsys, rows_of(texts, SIZE))
    assert len(levels_of("model.json")["x"]) == len(set(texts))
    [note] = notes
    assert note.startswith("aucrank: warning: Column 'x' (numbers in ")
    assert all((unit or "no unit") in note for unit in units)


NAMES = "January February March April May June July August September October November December"
GERMAN = "Jan Feb M\u00e4r Apr Mai Jun Jul Aug Sep Okt Nov Dez"
FORMS_OF_MONTHS = {
    "Dec-2011": lambda year, month: f"{NAMES.split()[month - 1][:3]}-{year}",
    "December 2011": lambda year, month: f"{NAMES.split()[month - 1]} {year}",
    "Dez 2011": lambda year, month: f"{GERMAN.split()[month - 1]} {year}",
    "2011-12": lambda year, month: f"{year}-{month:02}",
    "12/2011": lambda year, month: f"{month}/{year}",
    "Dec-11": lambda year, month: f"{NAMES.split()[month - 1][:3]}-{year % 100:02}",
    "1.12.11": lambda year, month: f"1.{month}.{year % 100:02}",
}


@pytest.mark.parametrize("form", FORMS_OF_MONTHS)
def test_months_are_the_dates_of_their_first_days(form, reader, capsys):
    months = [(int(month // 12), int(month % 12 + 1)) for month in MONTHS]
    expected, _ = scored(capsys, rows_of([date(*month, 1) for month in months], MONTHS))
    model = json.loads(load("model.json").to_json())
    texts = [FORMS_OF_MONTHS[form](*month) for month in months]
    found, notes = scored(capsys, rows_of(texts, MONTHS))
    assert notes[-1] == "aucrank: note: 1 column of dates, counted in days since 1970: x"
    is_short = form.endswith("11") and "2011" not in form
    assert [("of 1950 to 2049 (see --categorical x)" in note) for note in notes[:-1]] == [
        True
    ] * is_short
    np.testing.assert_array_equal(found, expected)
    assert json.loads(load("model.json").to_json()) == model
    _, _ = scored(capsys, rows_of(texts, MONTHS), "--categorical", "x")
    assert len(levels_of("model.json")["x"]) == len(set(texts))


FORMS_OF_TIMES = {
    "26:30": (lambda minutes: f"{minutes // 60}:{minutes % 60:02}", 60, "times in hours"),
    "26:30:00": (lambda minutes: f"{minutes // 60}:{minutes % 60:02}:00", 60, "times in hours"),
    "pandas": (lambda minutes: str(pd.Timedelta(minutes=minutes)), 60, "times in hours"),
    "Python": (
        lambda minutes: str(pd.Timedelta(minutes=minutes).to_pytimedelta()),
        60,
        "times in hours",
    ),
    "ISO": (lambda minutes: f"PT{minutes // 60}H{minutes % 60}M", 60, "numbers in hours"),
    "2h 30m": (lambda minutes: f"{minutes // 60}h {minutes % 60}m", 60, "numbers in h"),
    "Years and Months": (
        lambda months: f"{months // 12} Years and {months % 12} Months",
        12,
        "numbers in Years",
    ),
    "yrs mon": (lambda months: f"{months // 12} yrs {months % 12} mon", 12, "numbers in yrs"),
}


@pytest.mark.parametrize("form", FORMS_OF_TIMES)
def test_durations_are_numbers(form, reader, capsys):
    write, per_unit, note = FORMS_OF_TIMES[form]
    expected, _ = scored(capsys, rows_of(MINUTES / per_unit, MINUTES))
    found, notes = scored(capsys, rows_of([write(value) for value in MINUTES.tolist()], MINUTES))
    assert said(notes) == [f"column x: {note} (see --categorical x)"]
    np.testing.assert_array_equal(found, expected)


def test_durations_in_frames_and_parquet_files_are_those_of_their_texts(capsys):
    waited = pd.to_timedelta(MINUTES, unit="m")
    expected, _ = scored(capsys, rows_of(waited.astype(str), MINUTES))
    rows = rows_of(waited, MINUTES)
    rows.to_parquet("rows.parquet")
    found = pd.read_csv(io.StringIO(ok_but_notes(capsys, "score", "model.json", "rows.parquet")))
    assert found["score"].tolist() == list(expected)
    model = load("model.json")
    for frame in (rows, pl.from_pandas(rows), pa.Table.from_pandas(rows)):
        columns = frame[["x", "other"]] if not isinstance(frame, pa.Table) else frame.select([0, 1])
        np.testing.assert_array_equal(model.decision_function(columns), expected)
    # The model of a file of durations reads texts of them, too.
    scored(capsys, rows_of(waited.astype(str), MINUTES), file="rows.parquet")
    scores = Dataset.from_batches([rows]), Dataset.from_csv("rows.csv")
    for dataset in scores:
        model = load("model.json")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = np.concatenate(list(model.decision_function_batches(dataset)))
        np.testing.assert_array_equal(found, expected)


def ok_but_notes(capsys, *args):
    status, out, err = run(capsys, *args)
    assert status == 0
    assert all(line.startswith("aucrank: note: ") for line in err.splitlines())
    return out


FORMS_OF_MARKS = {
    "12.50-": lambda value: f"{abs(value):.2f}" + "-" * (value < 0),
    "'-12.50": lambda value: "'" * (value < 0) + f"{value:.2f}",
    "12.50_": lambda value: f"{value:.2f}" + "_" * (value > 500),
    "12.50*": lambda value: f"{value:.2f}" + "*" * (value > 500),
    "~12.50": lambda value: "~" * (value > 500) + f"{value:.2f}",
}


@pytest.mark.parametrize("form", FORMS_OF_MARKS)
def test_marks_around_numbers_are_left_out_and_a_minus_may_be_behind(form, reader, capsys):
    expected, _ = scored(capsys, rows_of(CENTS, CENTS))
    texts = [FORMS_OF_MARKS[form](value) for value in CENTS.tolist()]
    found, notes = scored(capsys, rows_of(texts, CENTS))
    [note] = said(notes)
    assert note.startswith("column x: ")
    assert note.endswith(" is read as a number (see --categorical x)")
    np.testing.assert_array_equal(found, expected)


def test_grades_with_a_plus_or_minus_are_categories(capsys):
    for grades in ("1+ 1 1- 2+ 2 2- 3", "1 1- 2 2- 3"):
        texts = RNG.choice(grades.split(), N)
        scored(capsys, rows_of(texts, RNG.random(N)))
        assert levels_of("model.json")["x"] == tuple(sorted(grades.split()))


def test_the_missing_value_of_databases_is_one(reader, capsys):
    gone = RNG.random(N) < 0.2
    kind = np.where(RNG.random(N) < 0.1, None, RNG.choice(["north", "south"], N))
    rows = rows_of(np.where(gone, np.nan, CENTS), np.where(gone, -999, CENTS)).assign(kind=kind)
    rows.to_csv("plain.csv", index=False)
    expected, _ = scored(capsys, rows, file="plain.csv", score="plain.csv")
    rows.to_csv("marked.tsv", index=False, sep="\t", na_rep=r"\N")
    found, notes = scored(capsys, rows, file="marked.tsv", score="marked.tsv")
    assert said(notes) == ["tabs separate the columns of marked.tsv (see --sep)"]
    assert levels_of("model.json") == {"x": None, "other": None, "kind": ("north", "south")}
    np.testing.assert_array_equal(found, expected)


def with_infinity():
    """A ratio that is infinite in some rows, and the same with numbers beyond all others.

    They are as far from the others as these are apart.
    """
    ratio = RNG.lognormal(0, 1, N).round(4)
    plain = ratio.copy()
    ratio[::20], plain[::20] = np.inf, 0
    ratio[7::50], plain[7::50] = -np.inf, 0
    known = ratio[np.isfinite(ratio)]
    step = known.max() - known.min()
    plain[ratio == np.inf], plain[ratio == -np.inf] = known.max() + step, known.min() - step
    return rows_of(ratio, plain), rows_of(plain, plain)


def stored(rows, kind):
    """Write rows as a file or a folder; its path."""
    name = "rows.parquet" if "parquet" in kind else "rows.csv"
    folder = os.path.join("folder", name) if "folder" in kind else name
    os.makedirs("folder", exist_ok=True)
    if "parquet" in kind:
        rows.to_parquet(folder)
    else:
        rows.to_csv(folder, index=False)
    return "folder" if "folder" in kind else name


@pytest.mark.parametrize("kind", ["csv", "csv folder", "parquet", "parquet folder"])
def test_infinity_in_a_file_is_beyond_all_other_numbers(kind, reader, capsys):
    rows, plain = with_infinity()
    expected, _ = scored(capsys, plain)
    file = stored(rows, kind)
    found, notes = scored(capsys, rows, file=file, score=file)
    assert said(notes) == [
        "column x: -inf and inf in 28 rows count as the least and the greatest number"
        " (--missing-in x=inf makes it missing)"
    ]
    np.testing.assert_array_equal(found, expected)
    gone = plain.assign(x=rows["x"].where(np.isfinite(rows["x"])))
    expected, _ = scored(capsys, gone)
    rows.to_csv("rows.csv", index=False)
    status, _, err = run(capsys, "fit", file, *FIT, "--missing-in", "x=inf", "x=-inf")
    assert (status, err) == (0, "")
    found = pd.read_csv(io.StringIO(ok(capsys, "score", "model.json", file)))["score"]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("make", [Dataset.from_csv, Dataset.from_parquet])
def test_infinity_in_a_data_set_of_files_is_that_of_the_frame_with_a_great_number(make):
    rows, plain = with_infinity()
    file = stored(rows, "parquet" if make == Dataset.from_parquet else "csv")
    expected = TreeRank(random_state=0).fit(plain[["x", "other"]], plain["bad"])
    with pytest.warns(match=r"count as the least and the greatest number \(missing=\{'x'"):
        model = TreeRank(random_state=0).fit(make(file, target="bad"))
    found = np.concatenate(list(model.decision_function_batches(make(file))))
    np.testing.assert_array_equal(found, expected.decision_function(plain[["x", "other"]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        marks = {"x": ["inf", "-inf"]}
        gone = TreeRank(random_state=0).fit(make(file, target="bad", missing=marks))
        gone.save("gone.json")
        found = list(load("gone.json").decision_function_batches(make(file)))
    x = rows["x"].where(np.isfinite(rows["x"]))
    frame = plain[["x", "other"]].assign(x=x)
    expected = TreeRank(random_state=0).fit(frame, plain["bad"]).decision_function(frame)
    np.testing.assert_array_equal(np.concatenate(found), expected)


def test_infinity_ranks_above_every_number_also_in_linear_models_and_later_files(capsys):
    rows, _ = with_infinity()
    rows = rows[["x", "bad"]]
    rows.to_csv("rows.csv", index=False)
    finite = rows[np.isfinite(rows["x"])]
    finite.to_csv("finite.csv", index=False)
    later = pd.DataFrame({"x": ["inf", "1e9", "50", "1", "-1e9", "-inf", "Infinity"]})
    later.to_csv("later.csv", index=False)
    for file in ("rows.csv", "finite.csv"):
        status, _, err = run(capsys, "fit", file, "--model", "LinearRanker", *FIT[2:])
        assert status == 0, err
        out = ok_but_notes(capsys, "score", "model.json", "later.csv")
        scores = pd.read_csv(io.StringIO(out))["score"].to_numpy()
        assert np.isfinite(scores).all()
        assert (np.diff(scores[:6]) <= 0).all()
        assert scores[0] == scores[6] > scores[3] > scores[5]


@pytest.mark.parametrize("kind", ["csv", "csv folder", "parquet", "parquet folder"])
def test_an_infinite_weight_is_an_error(kind, capsys):
    rows, _ = with_infinity()
    file = stored(rows.assign(w=np.where(rows.index == 3, np.inf, 1.0)), kind)
    status, _, err = run(capsys, "fit", file, *FIT, "--weight", "w")
    assert status != 0
    assert "column 'w' holds infinity; weights are finite" in err


@pytest.mark.parametrize(
    "form",
    [{"ends": [float("nan"), None]}, {"ends": [1.0]}, {"scale": "stones"}, {"has_marks": 1}],
)
def test_a_form_of_a_column_that_is_damaged_is_an_error(form):
    with pytest.raises(ValueError, match="unknown form"):
        ColumnForm.from_json({"kind": "number"} | form)
    whole = ColumnForm("number", unit="kg", scale="mass", ends=(None, 7.5), has_marks=True)
    assert ColumnForm.from_json(json.loads(json.dumps(whole.to_json()))) == whole


def test_infinity_in_a_frame_stays_an_error():
    rows, _ = with_infinity()
    for model in (TreeRank(), LinearRanker()):
        with pytest.raises(ValueError, match="column 'x' is inf in row 0; X must not hold infin"):
            model.fit(rows[["x", "other"]], rows["bad"])


def test_decimals_and_booleans_with_gaps_are_numbers_by_every_road(reader, capsys):
    amount = [None if k % 9 == 0 else Decimal(int(v * 100)) / 100 for k, v in enumerate(CENTS)]
    flag = [None if k % 7 == 0 else bool(v > 300) for k, v in enumerate(CENTS)]
    bad = rows_of(CENTS, CENTS)["bad"]
    table = pa.table({
        "amount": pa.array(amount, pa.decimal128(12, 2)), "flag": pa.array(flag), "bad": bad,
    })  # fmt: skip
    os.mkdir("folder")
    for file in ("rows.parquet", "folder/rows.parquet"):
        pq.write_table(table, file)
    found = []
    for file in ("rows.parquet", "folder"):
        assert run(capsys, "fit", file, *FIT)[0] == 0
        found.append(load("model.json"))
    frames = [table, table.to_pandas(), pl.from_arrow(table)]
    for frame in frames:
        columns = frame.select([0, 1]) if isinstance(frame, pa.Table) else frame[["amount", "flag"]]
        found.append(TreeRank(random_state=0).fit(columns, bad))
        for model in found:
            scores = model.decision_function(columns)
            np.testing.assert_array_equal(scores, found[0].decision_function(columns))
    assert levels_of("model.json") == {"amount": None, "flag": None}
