import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from aucrank._data.table import Table

TABLE = Table(
    rule=["age <= 30", "<b>otherwise</b>"], size=[12, 104], lift=[2.5, 0.83], tiny=[1e-7, np.nan]
)


def test_a_table_prints_aligned_text():
    assert repr(TABLE).splitlines() == [
        "rule              size  lift   tiny",
        "age <= 30           12  2.50  1e-07",
        "<b>otherwise</b>   104  0.83    nan",
    ]


def test_a_table_converts_to_a_frame_of_any_library():
    expected = {
        "rule": ["age <= 30", "<b>otherwise</b>"],
        "size": [12, 104],
        "lift": [2.5, 0.83],
    }
    table = Table({name: TABLE[name] for name in expected})
    for frame, library in (
        (table.to_frame(), pd),
        (table.to_frame("polars"), pl),
        (pd.DataFrame(table), pd),
        (pl.DataFrame(dict(table)), pl),
    ):
        assert isinstance(frame, library.DataFrame)
        to_list = frame.to_dict("list") if library is pd else frame.to_dict(as_series=False)
        assert to_list == expected
    assert table.to_frame("pyarrow").to_pydict() == expected
    assert isinstance(table.to_frame("pyarrow"), pa.Table)


def test_a_long_table_shows_its_ends():
    whole, cut = Table(row=np.arange(60)), Table(row=np.arange(61))
    assert repr(whole).splitlines() == ["row", *(f"{row:3}" for row in range(60))]
    ends = [*range(10), *range(51, 61)]
    shown = [f"{row:3}" for row in ends]
    assert repr(cut).splitlines() == ["row", *shown[:10], "...", *shown[10:], "[61 rows]"]
    assert cut._repr_html_().count("<tr>") == 22
    assert "<p>[61 rows]</p>" in cut._repr_html_()


def test_html_is_escaped():
    html = TABLE._repr_html_()
    assert "&lt;b&gt;otherwise" in html
    assert "<b>" not in html
    assert html.startswith("<table>")


def test_a_table_has_a_row_count_and_columns_of_one_length():
    assert TABLE.n_rows == 2
    assert Table().n_rows == 0
    assert repr(Table(a=[])) == "a"
    for columns in ({"a": [1], "b": [1, 2]}, {"a": [[1]]}, {"a": 1}):
        with pytest.raises(ValueError, match="columns of a table must be of one length"):
            Table(columns)


def test_a_table_is_a_dictionary_of_arrays():
    assert isinstance(TABLE, dict)
    assert list(TABLE) == ["rule", "size", "lift", "tiny"]
    assert all(isinstance(column, np.ndarray) for column in TABLE.values())
    back = pickle.loads(pickle.dumps(TABLE))
    assert type(back) is Table
    assert repr(back) == repr(TABLE)
