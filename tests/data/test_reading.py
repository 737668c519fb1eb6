"""Sources of data sets, their errors, and changes between passes."""

import os

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from aucrank import TreeRank
from aucrank._data.frame_source import FrameSource
from aucrank.data import DataChangedError, Dataset

from tests.common.parts import mixed_rows, write_parts
from tests.common.script import run_script

ROWS = mixed_rows(300)


def ids(dataset):
    """The rows that are read, in order."""
    return np.concatenate([np.asarray(batch["id"]) for batch in dataset.batches(["id"])])


def check_reads_all(dataset, n_rows=300):
    for _ in range(2):
        np.testing.assert_array_equal(ids(dataset), np.arange(n_rows))
    assert dataset.n_rows == n_rows


# Files


@pytest.mark.parametrize(
    "paths",
    [
        pytest.param(lambda folder: folder, id="folder"),
        pytest.param(lambda folder: str(folder), id="text"),
        pytest.param(lambda folder: folder / "part-*.parquet", id="pattern"),
        pytest.param(lambda folder: sorted(folder.glob("part-*")), id="list"),
        pytest.param(
            lambda folder: [folder / "part-00.parquet", folder / "part-0[12].parquet"], id="mixed"
        ),
    ],
)
def test_files_are_read_in_order(paths, tmp_path):
    files = write_parts(tmp_path, ROWS, [100, 150])
    (tmp_path / "_temporary").mkdir()
    for hidden in ("_temporary/part-09.parquet", ".part-00.parquet", "notes.txt"):
        (tmp_path / hidden).write_bytes(b"no data")
    dataset = Dataset.from_parquet(paths(tmp_path))
    assert dataset.files == [str(file) for file in files]
    assert dataset.n_rows == 300
    check_reads_all(dataset)


def test_folders_are_read_recursively(tmp_path):
    for name, rows in (("2025/b", ROWS[100:200]), ("2025/a", ROWS[:100]), ("2026/a", ROWS[200:])):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        rows.to_parquet(tmp_path / f"{name}.parquet")
    check_reads_all(Dataset.from_parquet(tmp_path))


def test_a_file_name_may_contain_pattern_characters(tmp_path):
    ROWS.to_parquet(tmp_path / "rows [1].parquet")
    check_reads_all(Dataset.from_parquet(tmp_path / "rows [1].parquet"))


@pytest.mark.parametrize("chunk_rows", [1, 7, 64, 1000])
def test_no_piece_has_more_rows_than_requested(chunk_rows, tmp_path):
    (path,) = write_parts(tmp_path, ROWS, [], row_group_size=128)
    for dataset in (
        Dataset.from_parquet(path, chunk_rows=chunk_rows),
        Dataset.from_batches(ROWS, chunk_rows=chunk_rows),
        Dataset.from_batches(pl.from_pandas(ROWS).lazy(), chunk_rows=chunk_rows),
    ):
        assert all(0 < len(batch) <= chunk_rows for batch in dataset.batches())
        check_reads_all(dataset)


def test_an_index_written_by_pandas_is_not_a_column(tmp_path):
    ROWS[ROWS["flag"]].to_parquet(tmp_path / "a.parquet")
    assert "__index_level_0__" in pq.read_schema(tmp_path / "a.parquet").names
    assert Dataset.from_parquet(tmp_path).columns == list(ROWS.columns)


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ("nowhere.parquet", "there is no file nowhere.parquet"),
        ("empty", "the folder empty holds no file whose name ends in .parquet or .pq"),
        ("no-*.parquet", r"no file matches no-\*.parquet"),
        ([], "no files are given"),
    ],
)
def test_missing_paths_are_named_in_the_error(paths, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=said):
        Dataset.from_parquet(paths)


def test_values_that_are_not_paths_are_rejected():
    with pytest.raises(TypeError, match="paths must be strings or path-like, got 3"):
        Dataset.from_parquet([3])


@pytest.mark.parametrize("damage", ["cut", "garbled", "no Parquet"])
def test_a_damaged_file_is_named_in_the_error(damage, tmp_path):
    files = write_parts(tmp_path, ROWS, [100, 200])
    content = bytearray(files[1].read_bytes())
    if damage == "cut":
        del content[len(content) // 2 :]
    elif damage == "garbled":
        # The pages, not the description at the end.
        content[8 : len(content) // 3] = np.random.default_rng(0).bytes(len(content) // 3 - 8)
    else:
        content = bytearray(b"id,x\n1,2\n")
    files[1].write_bytes(content)
    dataset = Dataset.from_parquet(tmp_path)
    with pytest.raises(ValueError, match=r"^cannot read .*part-01\.parquet as Parquet: "):
        list(dataset.batches())


def test_reading_parquet_needs_pyarrow():
    done = run_script(
        "import sys; sys.modules['pyarrow'] = sys.modules['pyarrow.parquet'] = None\n"
        "from aucrank.data import Dataset\n"
        f"try: Dataset.from_parquet({__file__!r})\n"
        "except ImportError as err: print(err)"
    )
    assert done.stdout.strip() == (
        "Dataset.from_parquet needs pyarrow: run `pip install 'aucrank[arrow]'`"
    ), done.stderr


# Frames, queries and functions


def days():
    return (ROWS[first : first + 30] for first in range(0, 300, 30))


SOURCES = {
    "pandas": lambda: ROWS,
    "polars": lambda: pl.from_pandas(ROWS),
    "pyarrow": lambda: pa.Table.from_pandas(ROWS),
    "list": lambda: [ROWS[:10], pl.from_pandas(ROWS[10:100]), pa.Table.from_pandas(ROWS[100:])],
    "function": lambda: days,
    "lazy polars": lambda: pl.from_pandas(ROWS).lazy(),
    "DuckDB": lambda: duckdb.sql("SELECT * FROM ROWS ORDER BY id"),
    "Arrow dataset": lambda: pyarrow.dataset.dataset(pa.Table.from_pandas(ROWS)),
    "stream": lambda: Stream(pa.Table.from_pandas(ROWS)),
}


class Stream:
    """An object with only an Arrow stream."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("source", SOURCES)
def test_reusable_sources_can_be_read_again(source):
    dataset = Dataset.from_batches(SOURCES[source](), target="y", weight="w")
    assert dataset.columns == ["id", "x", "small", "count", "colour", "flag"]
    assert dataset.files == []
    check_reads_all(dataset)


def test_a_dataset_of_arrow_is_read_by_its_partitions_and_filter(tmp_path):
    rows = mixed_rows(500).assign(year=lambda rows: 2023 + rows["id"] % 3)
    pq.write_to_dataset(pa.Table.from_pandas(rows), tmp_path, partition_cols=["year", "flag"])
    folder = pyarrow.dataset.dataset(tmp_path, partitioning="hive")
    recent = folder.filter(pyarrow.dataset.field("year") >= 2024)
    columns = ["x", "count", "colour", "year", "flag"]
    dataset = Dataset.from_batches(recent, target="y", columns=columns, chunk_rows=40)
    assert dataset.columns == columns
    found = TreeRank(max_depth=3, random_state=0).fit(dataset)
    given = recent.to_table().to_pandas()
    assert sorted(given["year"].unique()) == [2024, 2025]
    expected = TreeRank(max_depth=3, random_state=0).fit(
        recent.to_table().select(columns), given["y"]
    )
    assert found._to_document() == expected._to_document()
    scores = np.concatenate(list(found.decision_function_batches(dataset)))
    np.testing.assert_array_equal(
        scores, expected.decision_function(recent.to_table().select(columns))
    )
    assert all(frame.num_rows <= 40 for frame in dataset.batches())


def test_only_the_named_columns_of_an_arrow_dataset_are_read(tmp_path, monkeypatch):
    requested = []

    class Watched(FrameSource):
        def _pieces_of_dataset(self, columns):
            requested.append(columns)
            return super()._pieces_of_dataset(columns)

    pq.write_table(pa.Table.from_pandas(mixed_rows(100)), tmp_path / "rows.parquet")
    source = Watched(pyarrow.dataset.dataset(tmp_path), 50)
    frames = [frame for frame, _ in source.read(["x", "y"])]
    assert [frame.columns for frame in frames] == [["x", "y"]] * 2
    assert requested == [None, ["x", "y"]]
    assert [head.names for head in source.heads(["x"])] == [list(mixed_rows(1).columns)]


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (days, "generator"),
        (lambda: iter([ROWS]), "list_iterator"),
        (lambda: pa.Table.from_pandas(ROWS).to_reader(), "pyarrow.lib.RecordBatchReader"),
    ],
)
def test_sources_that_can_be_read_only_once_are_named_in_the_error(make, name):
    said = f"^{name} can be read only once, and a fit reads the data several times: pass what can"
    with pytest.raises(TypeError, match=said):
        Dataset.from_batches(make())


@pytest.mark.parametrize("source", [3, "rows.parquet", {"x": [1]}, np.ones((2, 2))])
def test_values_that_are_not_sources_are_rejected(source):
    with pytest.raises(TypeError, match=r"is not a source of frames; pass what can be read again"):
        Dataset.from_batches(source)


def test_a_source_function_must_return_a_new_iterator_each_time():
    started = iter([ROWS])
    with pytest.raises(TypeError, match="returned the iterator that it had returned before"):
        list(Dataset.from_batches(lambda: started).batches())
    with pytest.raises(TypeError, match="must return an iterator of frames, but returns one frame"):
        Dataset.from_batches(lambda: ROWS)


def test_a_batch_without_column_names_is_rejected():
    with pytest.raises(TypeError, match="batch 1 is a ndarray; batches are data frames"):
        Dataset.from_batches([ROWS, np.ones((2, 2))])
    with pytest.raises(ValueError, match="has a column called 0"):
        Dataset.from_batches(pd.DataFrame(np.ones((2, 2))))


def test_a_batch_without_a_column_is_named_in_the_error():
    dataset = Dataset.from_batches([ROWS, ROWS.drop(columns="id")])
    with pytest.raises(ValueError, match="batch 1 has no column 'id'"):
        ids(dataset)


# Parameters


@pytest.mark.parametrize(
    ("params", "error", "said"),
    [
        ({"target": "why"}, ValueError, "has no column 'why'; there are"),
        ({"weight": "wt"}, ValueError, "has no column 'wt'"),
        ({"columns": ["x", "colours"]}, ValueError, "no column 'colours'; did you mean 'colour'"),
        ({"columns": ["x", "x"]}, ValueError, "columns holds 'x' twice"),
        ({"columns": "x"}, TypeError, "columns must be a list of names, got 'x'"),
        ({"columns": ["y"], "target": "y"}, ValueError, "holds 'y', which is the target"),
        ({"columns": ["w"], "weight": "w"}, ValueError, "holds 'w', which is the weight"),
        ({"target": "y", "weight": "y"}, ValueError, "target and weight are both 'y'"),
        ({"target": 3}, TypeError, "target must be the name of a column, got 3"),
        ({"positive": 1}, ValueError, "positive is 1, but no target is named"),
        ({"chunk_rows": 0}, ValueError, "chunk_rows must be at least 1, got 0"),
        ({"chunk_rows": 1.5}, TypeError, "chunk_rows must be an int, got 1.5"),
        ({"spill_dir": "nowhere"}, NotADirectoryError, "spill_dir is not a folder: nowhere"),
    ],
)
def test_invalid_parameters_are_rejected(params, error, said, tmp_path):
    (path,) = write_parts(tmp_path, ROWS, [])
    for make in (
        lambda: Dataset.from_parquet(path, **params),
        lambda: Dataset.from_batches(ROWS, **params),
    ):
        with pytest.raises(error, match=said):
            make()


def test_the_repr_of_a_dataset_describes_it(tmp_path):
    files = write_parts(tmp_path, ROWS, [100])
    dataset = Dataset.from_parquet(tmp_path, target="y", columns=["x", "colour"])
    assert repr(dataset) == f"Dataset({files[0]} and 1 more file, 2 columns, target='y')"
    list(dataset.batches())
    assert "300 rows, 2 columns" in repr(dataset)
    assert dataset.columns == ["x", "colour"]


# Changes between passes


def test_a_file_changed_between_passes_is_named_in_the_error(tmp_path):
    files = write_parts(tmp_path, ROWS, [100, 200])
    dataset = Dataset.from_parquet(tmp_path)
    check_reads_all(dataset)
    pq.write_table(pa.Table.from_pandas(ROWS[:90]), files[1])
    with pytest.raises(DataChangedError, match=r"part-01\.parquet has changed .* it had \S+ bytes"):
        ids(dataset)


def test_a_file_replaced_by_one_of_the_same_size_is_named_in_the_error(tmp_path):
    (path,) = write_parts(tmp_path, ROWS, [])
    dataset = Dataset.from_parquet(path)
    ids(dataset)
    os.utime(path, ns=(0, 0))
    with pytest.raises(DataChangedError, match=r"part-00\.parquet has changed.* written to"):
        ids(dataset)


@pytest.mark.parametrize("after", [0, 2])
def test_a_file_deleted_during_a_pass_is_named_in_the_error(after, tmp_path):
    files = write_parts(tmp_path, ROWS, [100, 200])
    batches = Dataset.from_parquet(tmp_path).batches()
    for _ in range(1 + after):
        next(batches)
    files[2].unlink()
    with pytest.raises(DataChangedError, match=r"part-02\.parquet has changed .* it is gone"):
        list(batches)


def test_a_source_that_returns_other_rows_the_second_time_is_rejected():
    counts = iter([5, 5, 4])
    dataset = Dataset.from_batches(lambda: [ROWS[: next(counts)]])
    assert len(ids(dataset)) == 5
    with pytest.raises(DataChangedError, match="gave 4 rows, but 5 before"):
        ids(dataset)
