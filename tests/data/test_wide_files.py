"""CSV files of many columns: their form is found, and time is linear in the columns."""

import narwhals.stable.v2 as nw
import numpy as np
import pytest
from aucrank._data import csv_form
from aucrank.data import Dataset, read_csv

pytestmark = pytest.mark.filterwarnings("ignore::aucrank._utils.warn.ReadingNote")


def wide(n_columns, n_rows=9):
    rng = np.random.default_rng(n_columns)
    return rng.normal(size=(n_rows, n_columns)).round(2)


def written(path, values, encoding="utf-8"):
    names = [f"intensity_of_probe_{k:06d}" for k in range(values.shape[1])]
    rows = [";".join(f"{value:.2f}".replace(".", ",") for value in row) for row in values]
    path.write_text("\n".join([";".join(names), *rows]) + "\n", encoding=encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("backend", ["pandas", "polars", None])
def test_the_form_shows_behind_a_header_of_any_length(tmp_path, monkeypatch, encoding, backend):
    monkeypatch.setattr(csv_form, "_HEAD_BYTES", 1 << 10)
    path, values = tmp_path / "wide.csv", wide(300)
    written(path, values, encoding)
    assert path.stat().st_size > 1 << 13
    if backend is None:
        dataset = Dataset.from_csv(path, target="intensity_of_probe_000000")
        frame = next(dataset.passes.batches(dataset.columns)).frame
        np.testing.assert_array_equal(frame.to_numpy(), values[:, 1:])
    else:
        found = nw.from_native(read_csv(path, backend=backend)).to_numpy()
        np.testing.assert_array_equal(found, values)


def test_the_schema_of_a_frame_is_made_as_often_for_any_number_of_columns(tmp_path, monkeypatch):
    counts = []
    plain = nw.DataFrame.schema.fget

    def counted(frame):
        counts[-1] += 1
        return plain(frame)

    monkeypatch.setattr(nw.DataFrame, "schema", property(counted))
    for n_columns in (20, 200):
        counts.append(0)
        written(tmp_path / "wide.csv", wide(n_columns))
        read_csv(tmp_path / "wide.csv", backend="pandas")
    assert counts[0] == counts[1]
