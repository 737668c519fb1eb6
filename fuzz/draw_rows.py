"""Random rows: frames and arrays of all kinds of columns, labels and weights, good and bad."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from numpy.typing import NDArray

Rng = np.random.Generator

#: Texts that break what is not quoted.
LEVELS = [
    "a",
    "b",
    "",
    " ",
    "Århus",
    'q"uote',
    "it's",
    "back\\slash",
    "new\nline",
    "😀",
    "1",
    "nan",
]

#: Names that do.
NAMES = ["x", "a b", 'say "x"', "it's", "a`b", "[c]", "é", "0", "x" * 70, "select", "-- x", "<b>"]


@dataclass
class Rows:
    """Rows and how they were drawn.

    Attributes
    ----------
    X : array or data frame
        The features.
    y : ndarray of shape (n,)
        The labels, as a user would give them.
    weight : ndarray of shape (n,) or None
        The weights.
    fault : str or None
        What is wrong with them, if anything, as an error would call it.
    is_numeric, is_complete : bool
        Whether all columns are numbers, and whether no value is missing.
    """

    X: Any
    y: NDArray[Any]
    weight: NDArray[Any] | None
    fault: str | None
    is_numeric: bool
    is_complete: bool

    def take(self, places: NDArray[np.intp]) -> Any:
        """Return some rows of X, in this order."""
        return take(self.X, places)


def take(X: Any, places: NDArray[np.intp]) -> Any:
    """Return some rows, in this order."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[places]
    return X[places]


def draw_rows(rng: Rng) -> Rows:
    """Draw rows for a fit."""
    sizes = [rng.integers(2, 9), rng.integers(10, 40), rng.integers(40, 200), 400]
    n = int(rng.choice(sizes, p=[0.2, 0.3, 0.4, 0.1]))
    n_features = int(rng.integers(1, 6))
    positive = rng.random(n) < rng.choice([0.1, 0.3, 0.5, 0.8])
    positive[rng.permutation(n)[:2]] = [True, False]
    form = rng.choice(["array", "pandas", "polars"], p=[0.4, 0.4, 0.2])
    numbers = form == "array" or rng.random() < 0.3
    columns = [draw_column(rng, positive, numbers) for _ in range(n_features)]
    if rng.random() < 0.15:
        columns.append(columns[0].copy())
    if n > 4 and rng.random() < 0.2:
        # Rows that occur more than once, with either label.
        repeated = rng.integers(0, max(1, n // 4), n)
        columns = [column[repeated] for column in columns]
    is_numeric = all(column.dtype.kind in "fiub" for column in columns)
    is_complete = not any(is_missing(column).any() for column in columns)
    fault = None
    if rng.random() < 0.04:
        place = int(rng.integers(len(columns)))
        if columns[place].dtype.kind == "f":
            columns[place] = columns[place].copy()
            columns[place][rng.integers(n)] = rng.choice([np.inf, -np.inf])
            fault = "infinity"
    y, y_fault = draw_labels(rng, positive)
    weight, weight_fault = draw_weight(rng, positive)
    return Rows(
        put_together(rng, str(form), columns),
        y,
        weight,
        fault or y_fault or weight_fault,
        is_numeric,
        is_complete,
    )


def is_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which values are missing."""
    return np.asarray(pd.isna(column))


def draw_column(rng: Rng, positive: NDArray[np.bool_], numbers: bool) -> NDArray[Any]:
    """Draw the values of a feature, of which some know the label."""
    n = len(positive)
    signal = rng.choice([0.0, 0.0, 0.7, 3.0]) * positive
    values: NDArray[Any] = rng.normal(size=n) + signal
    kinds = ["normal", "few", "constant", "extreme", "tiny", "whole", "wide", "narrow", "bits"]
    if not numbers:
        kinds += ["text", "text", "levels", "one level", "own level", "codes", "truth", "texts"]
    match rng.choice(kinds):
        case "few":
            values = np.round(values * rng.choice([0.5, 1, 2]))
        case "constant":
            values = np.full(n, rng.choice([0.0, -0.0, 1.0, 1e308, np.nan]))
        case "extreme":
            with np.errstate(over="ignore"):
                values = np.clip(values * 1e308, -1.7e308, 1.7e308)
        case "tiny":
            values = values * rng.choice([1e-300, 5e-324])
        case "whole":
            return np.round(values * 3).astype(rng.choice(["int64", "int8", "uint16"]))
        case "wide":
            values = np.sign(values) * np.exp(values * rng.choice([10, 100]))
        case "narrow":
            return np.asarray(values, dtype=np.float32)
        case "bits":
            return np.asarray(values > 0)
        case "text":
            n_levels = int(rng.integers(1, len(LEVELS) + 1))
            places = np.clip(np.round(values + n_levels / 2), 0, n_levels - 1).astype(int)
            return with_holes(rng, np.array(LEVELS, dtype=object)[places])
        case "levels":
            n_levels = int(rng.choice([2, 30, 300]))
            return with_holes(
                rng, np.array([f"l{i}" for i in rng.integers(0, n_levels, n)], object)
            )
        case "one level":
            return with_holes(rng, np.full(n, "only", dtype=object))
        case "own level":
            return np.array([f"id{i}" for i in range(n)], dtype=object)
        case "codes":
            return with_holes(rng, np.round(values).astype(object))
        case "truth":
            return with_holes(rng, (values > 0).astype(object))
        case "texts":
            return with_holes(rng, np.round(values).astype(int).astype(str).astype(object))
    if rng.random() < 0.3:
        values = np.where(rng.random(n) < rng.choice([0.05, 0.5, 0.95]), np.nan, values)
    return values


def with_holes(rng: Rng, values: NDArray[Any]) -> NDArray[Any]:
    """Take some values away."""
    if rng.random() < 0.4:
        values = values.copy()
        values[rng.random(len(values)) < rng.choice([0.1, 0.7])] = None
    return values


def put_together(rng: Rng, form: str, columns: list[NDArray[Any]]) -> Any:
    """Make one object of columns."""
    if form == "array":
        dtype = np.float32 if rng.random() < 0.2 else np.float64
        with np.errstate(over="ignore"):
            X = np.column_stack([column.astype(dtype) for column in columns])
        if dtype == np.float32:
            # Infinity that a smaller type makes is not a fault of the rows.
            X = np.clip(X, np.finfo(dtype).min, np.finfo(dtype).max) if not has_inf(columns) else X
        return np.asfortranarray(X) if rng.random() < 0.3 else X
    names = list(rng.permutation(NAMES)[: len(columns)])
    if form == "polars":
        return pl.DataFrame(
            {
                name: pl.Series(name, list(column), strict=False)
                if column.dtype == object
                else pl.Series(name, column, nan_to_null=bool(rng.random() < 0.5))
                for name, column in zip(names, columns, strict=True)
            }
        )
    return pd.DataFrame(
        {
            name: pd.Categorical(column)
            if column.dtype == object and rng.random() < 0.6
            else pd.Series(column)
            for name, column in zip(names, columns, strict=True)
        }
    )


def has_inf(columns: list[NDArray[Any]]) -> bool:
    """Tell whether a number is infinite."""
    return any(column.dtype.kind == "f" and np.isinf(column).any() for column in columns)


def draw_labels(rng: Rng, positive: NDArray[np.bool_]) -> tuple[NDArray[Any], str | None]:
    """Draw labels of some type; now and then such as no classifier takes."""
    pairs = [(False, True), (0, 1), (-1, 1), ("no", "yes"), (0.0, 1.0), ("-", "+"), (3, 7)]
    low, high = pairs[rng.integers(len(pairs))]
    y = np.where(positive, high, low)
    if rng.random() < 0.04:
        match rng.choice(["one class", "three classes", "NaN", "length"]):
            case "one class":
                return np.full(len(y), high), "class"
            case "three classes" if len(y) > 2:
                y = np.arange(len(y)) % 3
                return y, "Only binary classification"
            case "NaN":
                y = positive.astype(float)
                y[0] = np.nan
                return y, "NaN"
            case "length":
                return y[1:], "inconsistent"
    return y, None


def draw_weight(rng: Rng, positive: NDArray[np.bool_]) -> tuple[NDArray[Any] | None, str | None]:
    """Draw weights, or none; now and then such as no fit takes."""
    n = len(positive)
    match rng.choice(["none", "whole", "real", "wide", "bad"], p=[0.5, 0.2, 0.17, 0.1, 0.03]):
        case "whole":
            weight = rng.integers(0, 4, n).astype(rng.choice(["int64", "float64"]))
            weight[[positive.argmax(), positive.argmin()]] = 1
            return weight, None
        case "real":
            return np.round(rng.random(n), int(rng.choice([2, 17]))) + 1e-3, None
        case "wide":
            return 10.0 ** rng.uniform(-5, 5, n), None
        case "bad":
            weight = rng.random(n)
            weight[0] = rng.choice([-1.0, np.nan, np.inf])
            if rng.random() < 0.3:
                weight = np.where(positive, 0.0, 1.0)
            return weight, "sample_weight"
    return None, None


def strangers(rng: Rng, X: Any) -> Any:
    """Return rows like those of a fit, some of whose values were not there."""
    places = rng.integers(0, len(X), size=min(len(X), 30))
    rows = take(X, places)
    if isinstance(X, np.ndarray):
        rows = rows.copy()
        largest = float(np.finfo(X.dtype).max)
        rows[rng.random(rows.shape) < 0.2] = rng.choice([0.0, -0.0, largest, -largest, 1e-40])
        return rows
    if isinstance(X, pd.DataFrame):
        rows = rows.copy()
        for name in rows.columns:
            hit = rng.random(len(rows)) < 0.2
            if rows[name].dtype.kind == "f":
                value = rows[name].dtype.type(rng.choice([0.0, 1e30, -1e30]))
                rows[name] = rows[name].where(~hit, value)
            elif str(rows[name].dtype) == "category":
                rows[name] = pd.Categorical(rows[name].astype(object).where(~hit, "stranger"))
    return rows
