"""Contents of columns, and their shifts."""

import numpy as np
import pandas as pd
import pytest
from aucrank._report.columns import check_same_columns, look_at_columns
from aucrank._report.rows import UserRows

from tests.common.loans import loans
from tests.common.reports import to_arrow, to_polars


def facts_by_name(X, X_train=None):
    found, overlap = look_at_columns(UserRows(X), None if X_train is None else UserRows(X_train))
    return {column.name: column for column in found}, overlap


def test_numbers_are_described_by_values_and_categories_by_levels():
    X = pd.DataFrame(
        {
            "size": [1.0, np.nan, 3.0, 10.0] * 250,
            "kind": pd.Categorical(["a", "b", "a", None] * 249 + ["rare", "a", "a", "a"]),
            "flag": [True, False, True, True] * 250,
            "when": pd.to_datetime(["2026-01-01"] * 1000),
        }
    )
    found, overlap = facts_by_name(X)
    size, kind = found["size"], found["kind"]
    assert (size.kind, size.missing, size.low, size.median, size.high) == ("number", 0.25, 1, 3, 10)
    assert (kind.kind, kind.missing, kind.n_levels, kind.n_rare) == ("category", 0.249, 3, 1)
    assert kind.common == (("a", 0.501), ("b", 0.249), ("rare", 0.001))
    assert (found["flag"].kind, found["when"].kind) == ("number", "other")
    assert overlap is None
    assert size.shift is None


def psi(then, now):
    """By the definition; the share of an empty bin is that of half a row."""
    n_then, n_now = sum(then), sum(now)
    total = 0.0
    for before, after in zip(then, now, strict=True):
        p, q = (before or 0.5) / n_then, (after or 0.5) / n_now
        total += (q - p) * np.log(q / p)
    return total


def test_shifts_are_those_of_the_definition():
    then = pd.DataFrame({"x": np.arange(1000.0), "c": ["a"] * 600 + ["b"] * 400})
    now = pd.DataFrame({"x": np.arange(500.0), "c": ["a"] * 100 + ["b"] * 300 + ["new"] * 100})
    now.loc[:49, "x"] = np.nan
    found, _ = facts_by_name(now, then)
    # Bins end at 99, 199, ...; what is missing is one more.
    bins_now = [50, 50, *[100] * 4, *[0] * 5]
    assert found["x"].shift.psi == pytest.approx(psi([0, *[100] * 10], bins_now))
    assert (found["x"].missing, found["x"].missing_then) == (0.1, 0.0)
    assert found["c"].shift.psi == pytest.approx(psi([600, 400, 0], [100, 300, 100]))
    assert found["c"].unseen == pytest.approx(0.2)
    assert found["c"].shift.verdict == "shifted"


def test_the_training_rows_show_no_shift_and_are_recognised():
    X, _ = loans(400)
    found, overlap = facts_by_name(X, X)
    assert all(column.shift.psi == 0 for column in found.values())
    assert overlap.share == 1


def test_rows_of_the_training_data_are_counted_by_all_their_values():
    rng = np.random.default_rng(0)
    then = pd.DataFrame({"x": rng.integers(0, 4, 200), "c": rng.choice(["a", "b", None], 200)})
    then["x"] = then["x"].where(then["x"] > 0)
    now = pd.DataFrame({"x": rng.integers(0, 9, 150), "c": rng.choice(["b", "z", "a"], 150)})
    keys = [tuple(row) for row in then.astype(object).where(then.notna(), None).to_numpy()]
    known = {(None if x is None else float(x), c) for x, c in keys}
    expected = np.mean([(float(x), c) in known for x, c in now.to_numpy()])
    _, overlap = facts_by_name(now, then)
    assert overlap.share == pytest.approx(expected)
    assert overlap.share_by_chance == pytest.approx(np.mean([keys.count(k) > 1 for k in keys]))


def test_other_columns_than_in_training_are_rejected():
    with pytest.raises(ValueError, match="X_train has other columns than X: it lacks 'b'"):
        check_same_columns(
            UserRows(pd.DataFrame({"a": [1], "b": [2]})), UserRows(pd.DataFrame({"a": [1]}))
        )


def test_every_library_gives_the_same_figures():
    X, _ = loans(300)
    then, now = X[:200], X[200:]
    expected, overlap = facts_by_name(now, then)

    def to_array(frame):
        return frame.astype(object).to_numpy()

    for convert in (to_polars, to_arrow, to_array):
        found, rows = facts_by_name(convert(now), convert(then))
        assert rows == overlap
        for (name, column), other in zip(expected.items(), found.values(), strict=True):
            for what in ("kind", "missing", "low", "median", "high", "n_levels", "n_rare"):
                assert getattr(other, what) == getattr(column, what), (convert, name, what)
            assert other.shift.psi == pytest.approx(column.shift.psi)


def test_an_array_has_columns_by_number():
    found, _ = facts_by_name(np.array([[1.0, 2.0], [3.0, np.nan]]))
    assert list(found) == ["x0", "x1"]
    assert found["x1"].missing == 0.5
