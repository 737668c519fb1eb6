"""`score --id`: ids come back as the file has them, so that scores join back to their rows."""

import csv
import gzip
import io
import os
import subprocess
import sys
from datetime import date, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.common.command_line import TREE, loans, run

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")

N = 30

#: What libraries change when they read it: texts of a CSV file.
IDS = {
    "leading zeros": [f"{k:06d}" for k in range(N)],
    "leading zeros and gaps": [f"{k:06d}" if k % 3 else "" for k in range(N)],
    "twenty digits": [str(10**19 + 7 * k) for k in range(N)],
    "nineteen digits and a gap": [str(10**18 + k) if k else "" for k in range(N)],
    "one is called NA": ["NA", "null", "nan", "?", *map(str, range(N - 4))],
    "numbers and a gap": [*map(str, range(N - 1)), ""],
    "days": [f"{1 + k}.03.2026" for k in range(N)],
    "days of a database": [f"2026-03-{1 + k:02d}" for k in range(N)],
    "exponents": [f"{k}E5" for k in range(N)],
    "signs and blanks": [f" +{k} " for k in range(N)],
    "decimals": [f"{k}.10" for k in range(N)],
    "thousands": [f"{k},000" for k in range(N)],
    "quotes and lines": [f'a"{k}"\nb' for k in range(N)],
    "tabs": [f"{k}\tx" for k in range(N)],
    "truth": ["True", "false"] * (N // 2),
    "Unicode": [f"Łódź-{k}\u0085" for k in range(N)],
}


@pytest.fixture
def model(capsys):
    loans().to_csv("train.csv", index=False)
    assert run(capsys, "fit", "train.csv", "--target", "bad", *TREE, "-o", "m.json")[0] == 0
    return "m.json"


def new(ids, name="acct"):
    rows = loans(len(ids), seed=1).drop(columns="bad")
    rows.insert(0, name, ids)
    return rows


def ids_in(text, name="acct"):
    return [row[name] for row in csv.DictReader(io.StringIO(text, newline=""))]


def scored(capsys, *args, name="acct"):
    """Ids that are written to the stream, and to a file."""
    status, out, err = run(capsys, "score", "m.json", *args, "--id", name)
    assert status == 0, err
    status, _, err = run(capsys, "score", "m.json", *args, "--id", name, "-o", "out.csv")
    assert status == 0, err
    with open("out.csv", encoding="utf-8", newline="") as file:
        assert ids_in(file.read(), name) == ids_in(out, name)
    return ids_in(out, name)


@pytest.mark.parametrize("kind", IDS)
def test_ids_of_a_csv_file_are_those_texts(kind, model, reader, capsys):
    new(IDS[kind]).to_csv("new.csv", index=False)
    assert scored(capsys, "new.csv") == IDS[kind]
    # Marks of missing values are of features.
    assert scored(capsys, "new.csv", "--missing", "5", IDS[kind][7]) == IDS[kind]


@pytest.mark.parametrize("kind", IDS)
def test_ids_of_a_folder_are_those_texts(kind, model, capsys):
    os.mkdir("parts")
    new(IDS[kind][:11]).to_csv("parts/a.csv", index=False)
    new(IDS[kind][11:]).to_csv("parts/b.csv", index=False)
    assert scored(capsys, "parts", "--missing", IDS[kind][7]) == IDS[kind]
    new(IDS[kind]).to_csv("new.csv", index=False)
    assert scored(capsys, "new.csv", "--memory", "1B") == IDS[kind]


def test_ids_of_other_layouts_are_those_texts(model, reader, capsys, monkeypatch):
    ids = IDS["leading zeros and gaps"]
    new(ids).to_csv("s.csv", index=False, sep=";", encoding="utf-16")
    assert scored(capsys, "s.csv") == ids
    new(ids).to_csv("q.csv", index=False, quoting=csv.QUOTE_ALL)
    assert scored(capsys, "q.csv") == ids
    with gzip.open("g.csv.gz", "wt") as file:
        file.write("A title\n\n" + new(ids).to_csv(index=False))
    assert scored(capsys, "g.csv.gz") == ids
    with open("blank.csv", "w") as file:
        file.write(new(ids).to_csv(index=False).replace("\n", "\n\n"))
    assert scored(capsys, "blank.csv") == ids
    rows = new(ids).to_csv(index=False)
    with open("spaced.csv", "w") as file:
        file.write(rows.replace(",", ", "))
    assert scored(capsys, "spaced.csv") == ids
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(rows.encode())))
    status, out, err = run(capsys, "score", "m.json", "-", "--id", "acct")
    assert (status, ids_in(out)) == (0, ids), err


def test_an_id_of_the_index_has_no_name(model, reader, capsys):
    rows = new(IDS["leading zeros"]).set_index("acct")
    rows.index.name = None
    rows.to_csv("new.csv")
    assert scored(capsys, "new.csv", name="") == IDS["leading zeros"]


def test_an_id_that_is_also_a_feature_comes_back_and_scores(reader, capsys):
    rows = loans()
    rows["age"] = [f"{age:04d}" for age in rows["age"]]
    rows.to_csv("rows.csv", index=False)
    assert run(capsys, "fit", "rows.csv", "--target", "bad", *TREE, "-o", "m.json")[0] == 0
    out = run(capsys, "score", "m.json", "rows.csv")[1]
    for pieces in ([], ["--memory", "1B"]):
        with_ids = run(capsys, "score", "m.json", "rows.csv", "--id", "age", *pieces)[1]
        table = pd.read_csv(io.StringIO(with_ids), dtype=str)
        assert list(table["age"]) == list(rows["age"])
        assert list(table["score"]) == out.split()[1:]


#: Values of a typed column, and their texts.
TYPED = {
    "integers and a gap": (pa.array([1001, None, 10**18 + 1]), ["1001", "", str(10**18 + 1)]),
    "integers as floats": (pa.array([1001.0, None, 7.5]), ["1001", "", "7.5"]),
    "dates": (
        pa.array([date(2026, 2, 28), None, date(1969, 1, 2)]),
        ["2026-02-28", "", "1969-01-02"],
    ),
    "moments": (
        pa.array([datetime(2026, 2, 28), None, datetime(2026, 2, 28, 13, 5)]),
        ["2026-02-28", "", "2026-02-28 13:05:00"],
    ),
    "texts": (pa.array(["007", "NA", "31.12.2026"]), ["007", "NA", "31.12.2026"]),
    "dictionary": (pa.array(["007", None, "7"]).dictionary_encode(), ["007", "", "7"]),
}


@pytest.mark.parametrize("kind", TYPED)
def test_ids_of_parquet_files_keep_value_and_type(kind, model, reader, capsys):
    values, texts = TYPED[kind]
    table = pa.Table.from_pandas(loans(3, seed=1).drop(columns="bad"))
    table = table.append_column("acct", values)
    os.mkdir("parts")
    pq.write_table(table, "new.parquet")
    pq.write_table(table, "parts/a.parquet")
    for path in ("parts", "new.parquet"):
        assert scored(capsys, path) == texts
        run(capsys, "score", "m.json", path, "--id", "acct", "-o", "out.parquet")
        found = pq.read_table("out.parquet")["acct"]
        assert found.to_pylist() == values.to_pylist()


def test_an_id_in_the_index_of_a_parquet_file_is_a_column(model, capsys):
    ids = [str(7 * k % N) for k in range(N)]
    rows = new(list(map(int, ids))).set_index("acct")
    rows.to_parquet("new.parquet")
    assert scored(capsys, "new.parquet") == ids
    os.mkdir("parts")
    rows.to_parquet("parts/a.parquet")
    assert scored(capsys, "parts") == ids


def test_ids_of_folder_names_are_those_texts(model, capsys):
    for month in ("01", "02"):
        os.makedirs(f"hive/month={month}")
        loans(5, seed=2).to_csv(f"hive/month={month}/a.csv", index=False)
    assert scored(capsys, "hive", name="month") == ["01"] * 5 + ["02"] * 5


def test_ids_of_a_workbook_are_the_values_of_its_cells(model, capsys):
    pytest.importorskip("python_calamine")
    book = pytest.importorskip("openpyxl").Workbook()
    cells = ["007", 1001, None, datetime(2026, 2, 28), 10**15 + 1, 2.5, "NA", True]
    rows = loans(len(cells), seed=1).drop(columns="bad").astype(object)
    sheet = book.active
    sheet.append(["acct", *rows.columns])
    for cell, row in zip(cells, rows.to_numpy().tolist(), strict=True):
        sheet.append([cell, *(None if value != value else value for value in row)])
    book.save("new.xlsx")
    texts = ["007", "1001", "", "2026-02-28", "1000000000000001", "2.5", "NA", "TRUE"]
    assert scored(capsys, "new.xlsx") == texts


def test_an_id_called_like_an_added_column_is_an_error(model, capsys):
    new(IDS["leading zeros"], name="score").to_csv("new.csv", index=False)
    for pieces in ([], ["--memory", "1B"]):
        status, out, err = run(capsys, "score", "m.json", "new.csv", "--id", "score", *pieces)
        assert (status, out) == (2, "")
        assert err == "aucrank: error: --id score: the column that is added is called so, too\n"


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
@pytest.mark.parametrize("unbuffered", [[], ["-u"]])
def test_a_redirected_stream_of_another_encoding_holds_all_ids(encoding, unbuffered, model, capsys):
    ids = [f"Žofie Łucka {k} \u6f22" for k in range(20_000)]
    new(ids).to_csv("new.csv", index=False)
    found = subprocess.run(
        [
            sys.executable,
            *unbuffered,
            "-m",
            "aucrank",
            "score",
            "m.json",
            "new.csv",
            "--id",
            "acct",
        ],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
        check=True,
    )
    assert ids_in(found.stdout.decode("utf-8")) == ids
    assert np.isfinite(pd.read_csv(io.BytesIO(found.stdout))["score"]).all()


def test_marks_of_missing_values_and_infinity_leave_ids_as_they_are(capsys):
    rows = loans().assign(acct=np.where(np.arange(400) % 7 == 0, 999.5, np.inf))
    os.mkdir("rows")
    rows.to_parquet("rows/a.parquet", index=False)
    options = ["--missing", "999.5", "--drop", "acct"]
    assert run(capsys, "fit", "rows", "--target", "bad", *TREE, "-o", "m.json", *options)[0] == 0
    status, out, err = run(capsys, "score", "m.json", "rows", "--id", "acct")
    assert status == 0, err
    assert [float(text) for text in ids_in(out)] == rows["acct"].tolist()
