"""CSV files in pieces are read like whole files on the command line."""

import gzip
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank import RIMARC
from aucrank._data.csv_form import CsvOptions
from aucrank._data.missing_marks import MissingMarks
from aucrank._data.reading import Reading
from aucrank._utils.warn import ReadingNote
from aucrank.cli._data import read_file
from aucrank.data import DataChangedError, Dataset, read_csv
from sklearn.base import BaseEstimator

from tests.common.parts import mixed_rows


def read_in_pieces(path, **kwargs):
    dataset = Dataset.from_csv(path, chunk_rows=2, **kwargs)
    pieces = [batch.to_pandas() for batch in dataset.batches()]
    assert all(0 < len(piece) <= 2 for piece in pieces)
    return pd.concat(pieces, ignore_index=True)


FILES = {
    "numbers": "a,b\n1,0.5\n2,\n3,1e-3\n",
    "text and truth": "a,b\nx,True\n,False\nNA,True\nz,\n",
    "leading zeros": "a,b\n007,x\n012,y\n",
    "blanks in numbers": "a,b\n 1,.5\n+2,7.\n3 ,1\n",
    "German": "a;b;c\n1,5;x;1.234,5\n2,5;;7\n-;y;8\n",
    "tabs": "a\tb\n1\tx,y\n2\tz\n",
    "a blank behind commas": "a, b, c\n1, x, 3\n2, ?, NA\n3, y, 4\n",
    "thousands": 'a,b\n"1,000",x\n"2,500",y\n',
    "marks among numbers": "a,b\n1,x\n-,y\nmissing,z\n2,x\n",
    "question marks": "a,b\n1,?\n?,y\n2,z\n",
    "beyond 64 bits": "a,b\n18446744073709551617,x\n2,y\n",
    "dates": "a,b\n2026-01-31,x\n1970-01-02,y\n,z\n",
    "dotted dates": "a,b\n31.1.2026,x\n2.1.1970,y\n",
    "almost dates": "a,b\n2026-01-31,x\nlater,y\n",
    "text only at the end": "a,b\n1,1\n2,2\n3,3\n4,x\n",
    "nothing": "a,b\n,1\n,2\n,3\n",
    "quotes": 'a,b\n"x, ""y""",1\n"two\nlines",2\n',
    "empty lines": "a,b\n1,x\n\n2,y\n",
}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
@pytest.mark.filterwarnings("ignore::aucrank._utils.warn.ReadingNote")
def test_columns_are_those_of_a_file_read_at_once(text, zipped, tmp_path):
    path = tmp_path / ("rows.csv.gz" if zipped else "rows.csv")
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    at_once = read_file(str(path))[0].to_native()
    pd.testing.assert_frame_equal(read_in_pieces(path), at_once)


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
@pytest.mark.filterwarnings("ignore::aucrank._utils.warn.ReadingNote")
def test_read_csv_gives_the_same_values_in_either_library(text, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    in_pieces = read_in_pieces(path)
    pd.testing.assert_frame_equal(read_csv(path), in_pieces)
    of_polars = read_csv(path, backend="polars")
    assert isinstance(of_polars, pl.DataFrame)
    assert of_polars.columns == list(in_pieces)
    for name in of_polars.columns:
        expected = [None if pd.isna(value) else value for value in in_pieces[name]]
        assert of_polars[name].to_list() == expected


def test_read_csv_accepts_options_for_the_form_of_a_file(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("from May\nzip|x|y\n# checked\n01234|1,5|-999\n99999|none|2\n")
    frame = read_csv(
        path,
        sep="|",
        decimal=",",
        missing={"x": ["none"], "y": ["-999"]},
        text=["zip"],
        skip_rows=1,
        comment="#",
    )
    assert frame["zip"].tolist() == ["01234", "99999"]
    assert frame[["x", "y"]].isna().to_numpy().tolist() == [[False, True], [True, False]]


@pytest.mark.parametrize(
    ("content", "kwargs", "error", "said"),
    [
        ("x,y\n1,2\n", {"backend": "numpy"}, ValueError, "backend must be 'pandas', 'polars' or"),
        ("x,y\n1,2\n", {"text": "x"}, TypeError, "text must be a list of strings, got 'x'"),
        ("x,y\n1,2\n", {"text": ["z"]}, ValueError, r"rows\.csv has no column 'z'"),
        ("x,y\n1,2\n", {"missing": {"z": ["1"]}}, ValueError, r"rows\.csv has no column 'z'"),
        ("x,y\n", {}, ValueError, r"rows\.csv has no rows"),
        ("x,y\n1,2\n1,2,3\n", {}, ValueError, r"as CSV: line 3 has 3 fields, and 2 are named"),
        (None, {}, FileNotFoundError, r"there is no file .*rows\.csv"),
    ],
)
@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_read_csv_raises_an_error_for_a_file_that_it_cannot_read(
    content, kwargs, error, said, backend, tmp_path
):
    path = tmp_path / "rows.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(error, match=said):
        read_csv(path, **{"backend": backend, **kwargs})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.filterwarnings("ignore::aucrank._utils.warn.ReadingNote")
def test_every_encoding_is_read(encoding, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes("größe,ort\n1,Köln\n2,Malmö\n".encode(encoding))
    frame = read_in_pieces(path)
    assert list(frame) == ["größe", "ort"]
    assert frame["ort"].tolist() == ["Köln", "Malmö"]


@pytest.mark.filterwarnings("ignore::aucrank._utils.warn.ReadingNote")
def test_options_of_from_csv_apply_to_all_pieces(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("zip|x|y\n01234|1,5|-999\n99999|none|2\n")
    kwargs = {"sep": "|", "decimal": ",", "missing": ["none", "-999"], "text": ["zip"]}
    options = CsvOptions("|", ",", None, MissingMarks(("none", "-999")))
    at_once = read_file(str(path), text=["zip"], options=options)[0].to_native()
    found = read_in_pieces(path, **kwargs)
    pd.testing.assert_frame_equal(found, at_once)
    assert found["zip"].tolist() == ["01234", "99999"]
    assert found["x"].tolist()[0] == 1.5
    assert found[["x", "y"]].isna().to_numpy().tolist() == [[False, True], [True, False]]


def test_marks_of_missing_values_are_saved_and_validated():
    marks = MissingMarks(("?",), {"age": ("999",), "who": ("0",)})
    reading = Reading(missing=marks).of_columns(["age"])
    saved = reading.to_json()
    assert saved == {"missing": ["?"], "missing_in": {"age": ["999"]}}
    assert Reading.from_json(saved, ["age", "x"]) == reading
    completed = reading.completed(CsvOptions(missing=MissingMarks((), {"age": ("-1", "999")})))
    assert completed.missing.of("age") == ("?", "999", "-1")
    assert completed.missing.of("x") == ("?",)
    for damaged in ([], {"age": "999"}, {"age": [999]}, {"gone": ["999"]}):
        with pytest.raises(ValueError, match="unknown form"):
            Reading.from_json(saved | {"missing_in": damaged}, ["age", "x"])


def test_marks_of_missing_values_may_be_of_one_column(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n999,999,none\n1,2,x\n3,999.0,999\n")
    found = read_in_pieces(path, missing={"b": ["999"], "c": ["none", "1"]})
    assert found["a"].tolist() == [999, 1, 3]
    assert found["b"].isna().tolist() == [True, False, True]
    assert [value if isinstance(value, str) else None for value in found["c"]] == [None, "x", "999"]


@pytest.mark.parametrize(
    ("kwargs", "error", "said"),
    [
        ({"sep": "::"}, ValueError, "^sep must be one character, got '::'"),
        ({"decimal": "'"}, ValueError, "^decimal must be '.' or ','"),
        ({"encoding": "utf-88"}, ValueError, "^encoding: no encoding is called 'utf-88'"),
        ({"missing": "NA"}, TypeError, "missing must be a list of strings, got 'NA'"),
        (
            {"missing": {"y": "NA"}},
            TypeError,
            r"missing\['y'\] must be a list of strings, got 'NA'",
        ),
        ({"missing": [999]}, TypeError, "missing must be a list of strings, got 999 in it"),
        ({"missing": {"yy": ["NA"]}}, ValueError, "has no column 'yy'"),
        ({"text": ["zipp"]}, ValueError, "has no column 'zipp'; did you mean 'zip'"),
        ({"encoding": "ascii"}, ValueError, r"cannot read .*rows\.csv as CSV: it is not text in"),
    ],
)
def test_invalid_options_of_from_csv_are_rejected(kwargs, error, said, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("zip,y\n1,ö\n", encoding="utf-8")
    with pytest.raises(error, match=said):
        Dataset.from_csv(path, **kwargs)


def test_notes_about_a_file_are_given_once(tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.csv").write_text("x;y\n1,5;0\n-;1\n")
    with pytest.warns(ReadingNote) as said:
        list(Dataset.from_csv(tmp_path).batches())
    texts = [str(warning.message) for warning in said]
    assert [text.partition(" of ")[0] for text in texts] == [
        "semicolons separate the columns",
        "numbers",
        "column x: '-' counts as missing",
    ]
    assert "--" not in "".join(texts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Dataset.from_csv(tmp_path, sep=";", decimal=",")


@pytest.mark.filterwarnings("ignore::aucrank._utils.warn.ReadingNote")
def test_the_type_of_a_column_is_inferred_from_all_files(tmp_path):
    (tmp_path / "a.csv").write_text("x,c,y\n1,1,0\n2,2,1\n")
    (tmp_path / "b.csv").write_text("y;x;c\n0;2,5;3\n1;;two\n")
    dataset = Dataset.from_csv(tmp_path, target="y")
    facts = dataset.facts(BaseEstimator())
    assert [feature.levels for feature in facts.schema.features] == [None, ("1", "2", "3", "two")]
    columns, positive, *_ = next(dataset.coded_batches(facts))
    np.testing.assert_array_equal(columns[0], [1.0, 2.0])
    assert positive.tolist() == [False, True]
    assert dataset.n_rows == 4


def test_labels_are_not_read_as_dates(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2026-01-01\n2,2026-01-02\n")
    facts = Dataset.from_csv(tmp_path / "a.csv", target="y").facts(BaseEstimator())
    assert facts.target.classes.tolist() == ["2026-01-01", "2026-01-02"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x,x\n1,2\n", "two of its columns are called 'x'"),
        ("x,y\n1,2\n1,2,3\n", r"line 3 has 3 fields, and 2 are named \(see sep, skip_rows and"),
    ],
)
def test_a_file_that_is_not_a_table_is_named_in_the_error(text, said, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text(text)
    with pytest.raises(ValueError, match=rf"^cannot read .*b\.csv as CSV: .*{said}"):
        list(Dataset.from_csv(tmp_path).batches())


def test_an_empty_file_is_rejected_alone_and_accepted_as_a_part(tmp_path):
    (tmp_path / "b.csv").write_text("")
    with pytest.raises(ValueError, match=r"^cannot read .*b\.csv as CSV: its first line has no"):
        list(Dataset.from_csv(tmp_path).batches())
    (tmp_path / "c.csv").write_text("x,y\n1,2\n")
    assert read_in_pieces(tmp_path).to_dict("list") == {"x": [1], "y": [2]}


def test_a_file_without_a_column_is_named_in_the_error(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("x\n1\n")
    with pytest.raises(ValueError, match=r"b\.csv has no column 'y'"):
        list(Dataset.from_csv(tmp_path).batches())


def test_a_file_that_changes_after_inference_is_named_in_the_error(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n")
    dataset = Dataset.from_csv(path)
    list(dataset.batches())
    path.write_text("x,y\n1,2\n3,4\n")
    with pytest.raises(DataChangedError, match=r"a\.csv has changed while it was in use"):
        list(dataset.batches())


def test_rows_of_csv_files_are_scored_as_one_frame(tmp_path):
    rows = mixed_rows(400).drop(columns=["flag", "small"])
    for index, part in enumerate((rows[:1], rows[1:250], rows[250:])):
        part.to_csv(tmp_path / f"{index}.csv", index=False)
    features = ["x", "count", "colour"]
    model = RIMARC().fit(rows[features], rows["y"])
    dataset = Dataset.from_csv(tmp_path, chunk_rows=33)
    scores = np.concatenate(list(model.decision_function_batches(dataset)))
    np.testing.assert_array_equal(scores, model.decision_function(rows[features]))
