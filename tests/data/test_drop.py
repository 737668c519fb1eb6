"""Columns that are left out of the features of a data set."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from aucrank import RIMARC, ColumnWarning, LinearRanker, TreeRank
from aucrank._base.batch_scores import fitted_of
from aucrank.data import Dataset
from sklearn.base import clone

from tests.common.parts import FEATURES, mixed_rows, on_dask, write_parts

ROWS = mixed_rows(400)
OUT = ["id", "w"]
MODEL = TreeRank(max_depth=3, pruning=None, random_state=0)


def of_parquet(folder, **kwargs):
    write_parts(folder, ROWS, [150])
    return Dataset.from_parquet(folder, **kwargs)


def of_csv(folder, **kwargs):
    ROWS.to_csv(folder / "rows.csv", index=False)
    return Dataset.from_csv(folder / "rows.csv", **kwargs)


def of_batches(_, **kwargs):
    return Dataset.from_batches([ROWS[:100], ROWS[100:]], **kwargs)


FILES = {"parquet": of_parquet, "csv": of_csv, "batches": of_batches}


@pytest.mark.parametrize("name", FILES)
def test_left_out_columns_are_not_learned_from(name, tmp_path):
    dataset = FILES[name](tmp_path, target="y", drop=OUT)
    assert dataset.columns == FEATURES
    assert dataset.drop == OUT
    assert "drop=['id', 'w']" in repr(dataset)
    fitted = clone(MODEL).fit(dataset)
    assert fitted.feature_names_in_.tolist() == FEATURES
    assert clone(MODEL).fit(ROWS[FEATURES], ROWS["y"]).tree_.auc == fitted.tree_.auc
    # Scoring reads the columns of the fit, and others may stand besides the scores.
    found = tmp_path / "scores.csv"
    fitted.write_scores(dataset, found, columns=["id"])
    assert pd.read_csv(found)["id"].tolist() == ROWS["id"].tolist()


def test_a_second_fit_leaves_out_the_same(tmp_path):
    dataset = of_csv(tmp_path, target="y", drop=OUT)
    first = clone(MODEL).fit(dataset)
    again = dataset.read_as(fitted_of(first))
    assert again.drop == OUT
    assert clone(MODEL).fit(dataset)._to_document() == first._to_document()


def test_a_database_counts_the_other_columns():
    connection = sqlite3.connect(":memory:")
    numbers = ["x", "small", "count"]
    ROWS[[*numbers, "id", "y"]].to_sql("loans", connection, index=False)
    read = lambda text: pd.read_sql_query(text, connection)  # noqa: E731
    dataset = Dataset.from_sql(read, "loans", target="y", drop=["id"])
    assert dataset.columns == numbers
    expected = RIMARC().fit(ROWS[numbers], ROWS["y"])
    assert (RIMARC().fit(dataset).weights_ == expected.weights_).all()
    connection.close()


def test_workers_leave_out_the_same():
    distributed = pytest.importorskip("distributed", reason="fits on workers of distributed")
    dd = pytest.importorskip("dask.dataframe", reason="reads data frames of dask")
    with distributed.Client(processes=False, n_workers=1, dashboard_address=":0"):
        collection = dd.from_pandas(ROWS, npartitions=2)
        for size in (0, "256MB"):
            dataset = on_dask(collection, target="y", drop=OUT, collect_below=size)
            fitted = clone(MODEL).fit(dataset)
            assert fitted.feature_names_in_.tolist() == FEATURES
        scores = dataset.scores(fitted, columns=["id"]).compute()
    assert scores["id"].tolist() == ROWS["id"].tolist()
    np.testing.assert_array_equal(scores["score"], fitted.decision_function(ROWS[FEATURES]))


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"drop": ["idd"]}, ValueError, "has no column 'idd'"),
        ({"drop": ["id", "y"]}, ValueError, "drop holds 'y', which is the target"),
        ({"drop": ["w"], "weight": "w"}, ValueError, "drop holds 'w', which is the weight"),
        ({"drop": "id"}, TypeError, "drop must be a list of names, got 'id'"),
        ({"drop": ["id"], "columns": ["x"]}, ValueError, "columns and drop are both given"),
        ({"drop": [*FEATURES, *OUT]}, ValueError, "drop leaves no column"),
    ],
)
def test_what_cannot_be_left_out_is_named(given, kind, said):
    with pytest.raises(kind, match=said):
        Dataset.from_batches(ROWS, target="y", **given)


def test_another_word_for_it_is_understood():
    with pytest.raises(TypeError, match="did you mean 'drop'"):
        Dataset.from_batches(ROWS, target="y", exclude=["id"])


@pytest.mark.parametrize("drop", [[], ["case"]])
def test_a_column_like_an_identifier_is_warned_of_as_in_a_frame(drop, recwarn):
    rows = ROWS[["x", "y"]].assign(case=[f"case {number:04}x" for number in range(len(ROWS))])
    clone(MODEL).fit(Dataset.from_batches(rows, target="y", drop=drop))
    said = [str(one.message) for one in recwarn if one.category is ColumnWarning]
    assert [text.startswith("Column 'case' looks like an identifier") for text in said] == (
        [] if drop else [True]
    )


def test_columns_of_all_rows_like_groups_are_warned_of_as_in_a_frame():
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(150), 4)
    rows = pd.DataFrame({"x": rng.normal(size=600), "person_id": person + 1000})
    rows["y"] = rng.permutation(150)[person] % 2
    with pytest.warns(ColumnWarning, match="'person_id' looks as if rows of one value"):
        LinearRanker().fit(rows[["x", "person_id"]], rows["y"])
    with pytest.warns(ColumnWarning, match="'person_id' looks as if rows of one value"):
        LinearRanker().fit(Dataset.from_batches(rows, target="y"))
