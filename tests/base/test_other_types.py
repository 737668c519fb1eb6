"""Categories of another type than in training: matched by value, or a warning."""

import sqlite3
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from aucrank import ColumnWarning, TreeRank
from aucrank._report.columns import look_at_columns
from aucrank._report.rows import UserRows
from aucrank.data import Dataset

CODES = np.array([0, 1, 2, 3] * 30)
Y = np.random.default_rng(0).random(len(CODES)) < np.array([0.1, 0.7, 0.3, 0.9])[CODES]


def fitted(values):
    return TreeRank(pruning=None).fit(pd.DataFrame({"c": values}), Y)


def scored(model, X):
    """Scores, and the warnings about columns."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        scores = model.decision_function(X)
    return scores, [str(one.message) for one in found if one.category is ColumnWarning]


TEXT = pd.Series(CODES).astype(str)
TRUTH = pd.Series(CODES > 1)

SAME = {
    "text, int": (TEXT, CODES),
    "text, float": (TEXT, CODES.astype(float)),
    "text, nullable int": (TEXT, pd.array(CODES, dtype="Int64")),
    "text, categories of int": (TEXT, pd.Categorical(CODES)),
    "text, objects": (TEXT, CODES.astype(object)),
    "text of floats, int": (TEXT + ".0", CODES),
    "categories of int, text": (pd.Categorical(CODES), TEXT),
    "categories of int, text of floats": (pd.Categorical(CODES), TEXT + ".0"),
    "categories of int, text with blanks": (pd.Categorical(CODES), " " + TEXT + " "),
    "categories of int, categories of text": (pd.Categorical(CODES), pd.Categorical(TEXT)),
    "categories of float, text": (pd.Categorical(CODES / 4), (CODES / 4).astype(str)),
    "text, bool": (TRUTH.astype(str), TRUTH),
    "capitals, bool": (TRUTH.astype(str).str.upper(), TRUTH),
    "text, 0 and 1": (TRUTH.astype(str), TRUTH.astype(int)),
    "bool, text": (pd.Categorical(TRUTH), TRUTH.astype(str)),
    "bool, capitals": (pd.Categorical(TRUTH), TRUTH.astype(str).str.upper()),
}


@pytest.mark.parametrize(("then", "now"), SAME.values(), ids=SAME)
def test_a_value_of_another_type_is_the_same_category(then, now):
    model = fitted(then)
    expected = model.decision_function(pd.DataFrame({"c": then}))
    assert len(np.unique(expected)) > 1
    scores, said = scored(model, pd.DataFrame({"c": now}))
    np.testing.assert_array_equal(scores, expected)
    assert said == []


MISSED = {
    "letters, numbers": (TEXT.map(lambda k: "wxyz"[int(k)]), CODES, "numbers such as 0"),
    "letters, bool": (TEXT.map(lambda k: "wxyz"[int(k)]), TRUTH, "booleans such as False"),
    "numbers, letters": (pd.Categorical(CODES), "code " + TEXT, "text such as 'code 0'"),
    # 007 is a name, and not the number 7.
    "leading zeros, numbers": ("00" + TEXT, CODES, "numbers such as 0, in training text"),
    "text, leading zeros": (TEXT, "00" + TEXT, "'000', in training '0'"),
    "text, blanks": (TEXT, " " + TEXT, "' 0', in training '0'"),
    "text, capitals": (TRUTH.astype(str), TRUTH.astype(str).str.upper(), "in training 'False'"),
    # One can be read in two ways.
    "two spellings": (pd.Series(["1", "1.0"] * 60), pd.Series([1] * 120), "numbers such as 1"),
}


@pytest.mark.parametrize(("then", "now", "words"), MISSED.values(), ids=MISSED)
def test_a_column_that_is_missing_because_of_its_type_is_named_once(then, now, words):
    model = fitted(then)
    missing = model.decision_function(pd.DataFrame({"c": pd.Series([None] * 120, dtype=object)}))
    scores, said = scored(model, pd.DataFrame({"c": now}))
    np.testing.assert_array_equal(scores, missing)
    assert len(said) == 1
    assert said[0].startswith("Column 'c' (")
    assert words in said[0]


NEW = {
    "text": (TEXT, "new" + TEXT),
    # Such numbers could be categories.
    "numbers for text": (TEXT, CODES + 10),
    "text for numbers": (pd.Categorical(CODES), TEXT.map(lambda k: f"{int(k) + 10}")),
}


@pytest.mark.parametrize(("then", "now"), NEW.values(), ids=NEW)
def test_new_categories_are_missing_without_a_warning(then, now):
    assert scored(fitted(then), pd.DataFrame({"c": now}))[1] == []


def test_a_few_values_of_another_type_are_missing_without_a_warning():
    mixed = TEXT.astype(object)
    mixed[:12] = [-1] * 12
    assert scored(fitted(TEXT), pd.DataFrame({"c": mixed}))[1] == []
    mixed[:110] = [b"x"] * 110
    (said,) = scored(fitted(TEXT), pd.DataFrame({"c": mixed}))[1]
    assert "values of type bytes such as b'x', in training text such as '0'" in said


def rows_of_array(values):
    return np.array(values, dtype=object)[:, None]


def test_every_way_to_score_matches_categories_alike():
    model = fitted(TEXT)
    expected = model.decision_function(pd.DataFrame({"c": TEXT}))
    for frame in (
        pl.DataFrame({"c": CODES}),
        pa.table({"c": CODES}),
        pl.DataFrame({"c": CODES / 1}),
    ):
        scores, said = scored(model, frame)
        np.testing.assert_array_equal(scores, expected)
        assert said == []
        batches = model.decision_function_batches(Dataset.from_batches(frame, target=None))
        np.testing.assert_array_equal(np.concatenate(list(batches)), expected)

    by_number = TreeRank(pruning=None, categorical_features=[0])
    by_number.fit(rows_of_array(list(TEXT)), Y)
    for X in (CODES[:, None], rows_of_array(CODES.tolist()), CODES[:, None].astype(np.float32)):
        scores, said = scored(by_number, X)
        np.testing.assert_array_equal(scores, expected)
        assert said == []


def test_a_data_set_in_pieces_names_a_column_once():
    model = fitted(TEXT.map(lambda k: "wxyz"[int(k)]))
    frames = [pd.DataFrame({"c": CODES}), pd.DataFrame({"c": CODES + 5})]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        list(model.decision_function_batches(Dataset.from_batches(frames, target=None)))
    assert [one.category for one in found] == [ColumnWarning]


def test_the_score_in_sql_matches_numbers_of_a_table_with_texts_of_training():
    model = fitted(TEXT)
    with sqlite3.connect(":memory:") as connection:
        pd.DataFrame({"c": CODES}).to_sql("rows", connection, index=False)
        found = connection.execute(f"SELECT {model.to_sql('sqlite')} FROM rows").fetchall()
    expected = model.decision_function(pd.DataFrame({"c": CODES}))
    np.testing.assert_allclose(np.ravel(found), expected)


def overlap_of(now, then):
    facts, overlap = look_at_columns(
        UserRows(pd.DataFrame({"c": now})), UserRows(pd.DataFrame({"c": then}))
    )
    return facts[0], overlap.share


def test_a_report_compares_rows_by_value():
    letters = TEXT.map(lambda k: "wxyz"[int(k)])
    for now, then in ((CODES, letters), (letters, CODES)):
        facts, share = overlap_of(now, then)
        assert (facts.unseen, share) == (1, 0)
    for now, then in ((CODES, TEXT), (TEXT, CODES), (CODES / 1, TEXT)):
        facts, share = overlap_of(now, then)
        assert (facts.unseen, share, facts.shift.psi) == (0, 1, 0)
    # The second half of the rows is new.
    facts, share = overlap_of(np.r_[CODES, CODES + 4], TEXT)
    assert (facts.unseen, share) == (0.5, 0.5)


def test_a_report_compares_dates_too():
    days = pd.Series(pd.date_range("2026-01-01", periods=4))
    assert overlap_of(days + pd.Timedelta("2D"), days)[1] == 0.5
    assert overlap_of(pd.Series([1, 2, 3, 4]), days)[1] == 0


def test_a_report_names_columns_whose_values_the_model_has_not_seen():
    pytest.importorskip("jinja2")
    from aucrank import report

    letters = TEXT.map(lambda k: "wxyz"[int(k)])
    model = fitted(letters)
    with pytest.warns(ColumnWarning, match="numbers such as 0") as warned:
        found = report(model, pd.DataFrame({"c": CODES}), Y)
    assert len([one for one in warned if one.category is ColumnWarning]) == 1
    assert any(
        "does not know categories" in said and "c (100.0% of the rows)" in said
        for said in found.warnings
    )
    assert not any(
        "not know" in said for said in report(model, pd.DataFrame({"c": letters}), Y).warnings
    )
