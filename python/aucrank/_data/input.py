"""Conversion of user data (arrays, lists, data frames) to the columns that the core borrows.

A matrix of one float dtype is passed unchanged, and a sparse one by columns where the estimator
accepts it. Anything else becomes one contiguous vector per column: floats with NaN for missing
values, or uint32 codes of categories.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, cast

import narwhals.stable.v2 as nw
import numpy as np
import sklearn
from narwhals.stable.v2.dependencies import is_pandas_dataframe
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from aucrank._data import frames
from aucrank._data.as_frame import as_frame
from aucrank._data.column_lookup import IN_A_LIST, find_column
from aucrank._data.column_warnings import ColumnWarnings, OtherTypes
from aucrank._data.date_columns import days_of_array, unit_of_days
from aucrank._data.flags import with_flags
from aucrank._data.schema import Factor, Feature, Flag, LevelSet, Schema, column_label, is_missing
from aucrank._data.sparse import SparseColumns

Matrix = NDArray[np.float64] | NDArray[np.float32]

#: Data of the core: one 2-D array, dense or sparse, or one vector per column.
Columns = Matrix | SparseColumns | list[NDArray[Any]]

#: Up to this number of rows, a frame is copied into a matrix.
_FEW_ROWS = 100

#: Selects columns, given their names, if they have any, and their number.
KindsByColumn = Callable[[list[str] | None, int], set[int]]


def learn_columns(
    estimator: BaseEstimator,
    X: Any,
    categorical_features: Any,
    n_rows: int | None,
    kept: NDArray[np.bool_] | None,
    also: KindsByColumn | None = None,
) -> tuple[Columns, Schema]:
    """Read the training data and learn its schema.

    Sets ``n_features_in_`` and ``feature_names_in_`` of the estimator, as scikit-learn does.

    Parameters
    ----------
    estimator : estimator
        Its name is used in messages.
    X : array-like or data frame of shape (n_rows, n_features)
        Training data.
    categorical_features : "from_dtype", array-like or None
        Which columns are categorical: those whose dtype says so (Categorical, Enum or strings in
        a data frame), or those listed by position, by name or in a boolean mask.
    n_rows : int or None
        Number of labels; None where there are none.
    kept : ndarray of bool, shape (n_rows,), or None
        Rows that levels are learned from.
    also : callable or None, default=None
        Given the names of the columns, or None, and their number: returns the positions of further
        categorical ones.

    Returns
    -------
    columns : ndarray of shape (n_rows, n_features), SparseColumns or list of ndarray
        Data for the core; shares memory with ``X`` where it can.
    schema : Schema
        Names, kinds and levels.
    """
    by_dtype = is_by_dtype(categorical_features)
    listed = also is not None or (not by_dtype and categorical_features is not None)
    table = _open(estimator, X, reset=True, as_it_is=listed)
    if n_rows is not None and table.n_rows != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[table.n_rows, n_rows]}"
        )
    names = table.names
    chosen = listed_columns(categorical_features, names, table.n_features, also)
    if by_dtype:
        chosen |= {j for j in range(table.n_features) if table.is_categorical(j)}

    features: list[Feature] = []
    warnings = ColumnWarnings()
    vectors: dict[int, NDArray[Any]] = {}
    for index in range(table.n_features):
        name = names[index] if names else None
        if index not in chosen:
            if table.is_times(index):
                vectors[index] = table.counted(index)
                features.append(Feature(name, counts="hours"))
            elif table.is_dates(index):
                vectors[index] = table.counted(index)
                features.append(Feature(name, counts=unit_of_days(vectors[index])))
            else:
                flag: Flag | None = "boolean" if table.is_boolean(index) else None
                features.append(Feature(name, flag=flag))
            continue
        factors = table.factors(index)
        found = LevelSet(column_label(name, index))
        found.add(factors, kept)
        feature = Feature(name, found.levels())
        features.append(feature)
        vectors[index] = feature.encode(factors)
        is_declared = not by_dtype or table.is_declared(index)
        warnings.look_at(feature, index, found.n_known, is_declared=is_declared)
    warnings.warn()
    columns = _gather(table, vectors)
    return columns, Schema(tuple(with_flags(features, columns, kept)))


def learn_names(estimator: BaseEstimator, frame: nw.DataFrame[Any]) -> None:
    """Set ``n_features_in_`` and ``feature_names_in_`` of an estimator, as scikit-learn does."""
    validate_data(estimator, _with_names(frame), reset=True, skip_check_array=True)


def read_columns(estimator: BaseEstimator, X: Any, schema: Schema) -> Columns:
    """Read data to score: the same columns as in fit, categories matched by value.

    Warns
    -----
    ColumnWarning
        If nearly all values of a column match no category because of their type.

    Raises
    ------
    ValueError
        If the columns differ from those seen in fit.
    TypeError
        If a column's dtype does not fit the kind that it had in fit.
    """
    if _is_as_in_fit(X, schema):
        return _contiguous(X)
    if (matrix := _few_rows_of_numbers(X, schema)) is not None:
        return matrix
    table = _open(estimator, X, reset=False, as_it_is=schema.has_categories)
    others = OtherTypes(schema)
    vectors: dict[int, NDArray[Any]] = {
        index: feature.encode(table.factors(index), others.column(index))
        for index, feature in enumerate(schema.features)
        if feature.levels is not None
    }
    # A column that was numbers in the fit must not become days or hours in silence.
    vectors |= {
        index: table.counted(index)
        for index, feature in enumerate(schema.features)
        if (feature.counts == "hours" and table.is_times(index))
        or (feature.counts in ("days", "moments") and table.is_dates(index))
    }
    others.warn()
    return _gather(table, vectors)


def _is_as_in_fit(X: Any, schema: Schema) -> bool:
    """Return whether ``X`` is a matrix in the form of the core that passes every check.

    For a row or two, the checks of scikit-learn take longer than scoring.
    """
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype.char in "fd"
        and X.dtype.isnative
        and X.shape[0] > 0
        and X.shape[1] == len(schema.features)
        and schema.is_plain
    )


def _few_rows_of_numbers(X: Any, schema: Schema) -> Matrix | None:
    """Return a few rows of a pandas frame as a matrix, if they pass every check.

    Column by column, reading a row would take longer than scoring it.
    """
    if (
        not is_pandas_dataframe(X)
        or not 0 < len(X) <= _FEW_ROWS
        or schema.has_categories
        or X.columns.tolist() != schema.names
        or not all(isinstance(dtype, np.dtype) and dtype.char in "fd" for dtype in X.dtypes)
    ):
        return None
    return _contiguous(X.to_numpy(dtype=np.float64))


def count_rows(columns: Columns) -> int:
    """Return the number of rows."""
    if isinstance(columns, SparseColumns):
        return columns.n_rows
    return len(columns[0]) if isinstance(columns, list) else columns.shape[0]


def take_rows(columns: Columns, rows: NDArray[np.intp]) -> Columns:
    """Return some of the rows."""
    if isinstance(columns, SparseColumns):
        return columns.take(rows)
    return [column[rows] for column in columns] if isinstance(columns, list) else columns[rows]


def one_column(columns: Columns, index: int) -> NDArray[Any]:
    """Return one of the columns; that of a sparse matrix is densified."""
    if isinstance(columns, SparseColumns):
        return columns.column(index)
    return columns[index] if isinstance(columns, list) else columns[:, index]


def each_column(columns: Columns) -> Iterator[NDArray[Any]]:
    """Return the columns, one after another."""
    if isinstance(columns, SparseColumns):
        n_features = columns.n_features
    else:
        n_features = len(columns) if isinstance(columns, list) else columns.shape[1]
    return (one_column(columns, index) for index in range(n_features))


class _ReadableColumns(Protocol):
    """Columns that can be read one by one."""

    n_rows: int
    n_features: int
    names: list[str] | None

    def is_categorical(self, index: int) -> bool: ...

    def is_declared(self, index: int) -> bool:
        """Whether the type of a categorical column lists its categories."""

    def is_dates(self, index: int) -> bool: ...

    def is_times(self, index: int) -> bool: ...

    def is_boolean(self, index: int) -> bool: ...

    def counted(self, index: int) -> NDArray[np.float64]:
        """Days since 1970 of a column of dates, hours of one of times."""

    def numbers(self, index: int) -> NDArray[Any]: ...

    def factors(self, index: int) -> list[Factor]: ...

    def matrix(self) -> Matrix | SparseColumns | None:
        """All columns as one array of float32 or float64, if that costs no more than a list."""


def _gather(table: _ReadableColumns, coded: dict[int, NDArray[Any]]) -> Columns:
    if not coded and (matrix := table.matrix()) is not None:
        return matrix
    return [
        coded[index] if index in coded else table.numbers(index)
        for index in range(table.n_features)
    ]


def is_by_dtype(categorical_features: Any) -> bool:
    """Return whether the dtype of a column determines if it is categorical.

    Raises
    ------
    ValueError
        If ``categorical_features`` is another string.
    """
    by_dtype = isinstance(categorical_features, str)
    if by_dtype and categorical_features != "from_dtype":
        raise ValueError(
            "categorical_features must be 'from_dtype', None, or a list of column positions, names"
            f" or booleans, got {categorical_features!r}"
        )
    return by_dtype


def listed_columns(
    categorical_features: Any,
    names: list[str] | None,
    n_features: int,
    also: KindsByColumn | None = None,
) -> set[int]:
    """Return the positions of the columns that are categorical whatever their dtype."""
    chosen = set() if also is None else also(names, n_features)
    if categorical_features is None or is_by_dtype(categorical_features):
        return chosen
    return chosen | _positions_of(categorical_features, names, n_features)


def _positions_of(categorical_features: Any, names: list[str] | None, n_features: int) -> set[int]:
    """Return the positions in a list of positions, names or booleans."""
    listed = np.asarray(categorical_features)
    if listed.size == 0:
        return set()
    if listed.ndim != 1 or listed.dtype.kind not in "biuUO":
        raise ValueError(
            "categorical_features must be a list of column positions, names or booleans, got"
            f" {categorical_features!r}"
        )
    if listed.dtype.kind == "b":
        if len(listed) != n_features:
            raise ValueError(
                f"categorical_features has {len(listed)} booleans but X has {n_features} columns"
            )
        return set(np.flatnonzero(listed).tolist())
    if listed.dtype.kind not in "iu" and names is None:
        raise ValueError("categorical_features holds names, but X has no column names")
    # Searching a long list once per entry would be quadratic.
    place_of = {name: place for place, name in reversed(list(enumerate(names or [])))}
    return {
        place_of[column]
        if isinstance(column, str) and column in place_of
        else find_column(column, names, n_features, IN_A_LIST, "categorical_features")
        for column in listed.tolist()
    }


def _open(estimator: BaseEstimator, X: Any, *, reset: bool, as_it_is: bool) -> _ReadableColumns:
    """Check the shape and the names of ``X``; with ``as_it_is``, an array keeps its dtype."""
    X = as_frame(X)
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _FrameTable(estimator, frame, reset=reset)
    if issparse(X) and get_tags(estimator).input_tags.sparse:
        return _SparseTable(estimator, X, reset=reset)
    return _ArrayTable(estimator, X, reset=reset, as_it_is=as_it_is)


class _FrameTable:
    def __init__(self, estimator: BaseEstimator, frame: nw.DataFrame[Any], *, reset: bool) -> None:
        validate_data(estimator, _with_names(frame), reset=reset, skip_check_array=True)
        self.n_rows, self.n_features = frame.shape
        for count, what in ((self.n_features, "feature"), (self.n_rows, "sample")):
            if count == 0:
                raise ValueError(
                    f"Found array with 0 {what}(s) (shape={frame.shape}) while a minimum of 1 is"
                    f" required by {type(estimator).__name__}."
                )
        self.columns = cast("list[nw.Series[Any]]", list(frame.iter_columns()))
        # Only once: a frame rebuilds the list of all names each time.
        self._called = list(frame.columns)
        named = all(isinstance(name, str) for name in self._called)
        self.names = self._called if named else None
        self.frame = frame
        self._estimator = estimator

    def _label(self, index: int) -> str:
        return column_label(self._called[index], index)

    def is_categorical(self, index: int) -> bool:
        return frames.is_categorical(self.columns[index])

    def is_declared(self, index: int) -> bool:
        # An ordered categorical of pandas is categorical, too.
        return self.columns[index].dtype == nw.Enum

    def is_dates(self, index: int) -> bool:
        return frames.is_dates(self.columns[index])

    def is_times(self, index: int) -> bool:
        return frames.is_times(self.columns[index])

    def is_boolean(self, index: int) -> bool:
        return frames.is_boolean(self.columns[index])

    def counted(self, index: int) -> NDArray[np.float64]:
        return frames.counted(self.columns[index])

    def numbers(self, index: int) -> NDArray[Any]:
        return frames.to_numbers(self.columns[index], self._label(index))

    def factors(self, index: int) -> list[Factor]:
        return frames.to_factors(self.columns[index], self._label(index))

    def matrix(self) -> Matrix | SparseColumns | None:
        """Return sparse columns as such, and the block behind a frame of a row-major array.

        The columns of the latter are strided, so a list of them would need a copy.
        """
        if not self.frame.implementation.is_pandas_like():
            return None
        is_sparse = [frames.is_sparse(series) for series in self.columns]
        if any(is_sparse) and get_tags(self._estimator).input_tags.sparse:
            columns = (
                self.columns[index].to_native().array if sparse else self.numbers(index)
                for index, sparse in enumerate(is_sparse)
            )
            return SparseColumns.of_columns(columns, self.n_rows)
        dtypes = {column.to_native().dtype for column in self.columns}
        if dtypes not in ({np.dtype(np.float64)}, {np.dtype(np.float32)}):
            return None
        if self.columns[0].to_native().to_numpy().flags.c_contiguous:
            return None
        return _contiguous(self.frame.to_native().to_numpy())


class _SparseTable:
    """Numbers alone: a sparse matrix of anything else would be a category at nearly every place."""

    names: list[str] | None = None

    def __init__(self, estimator: BaseEstimator, X: Any, *, reset: bool) -> None:
        matrix = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csc",
            dtype=np.float64,
            ensure_all_finite=False,
        )
        self.n_rows, self.n_features = matrix.shape
        self.columns = SparseColumns.of(matrix)

    def is_categorical(self, index: int) -> bool:
        return False

    def is_declared(self, index: int) -> bool:
        return False

    def is_dates(self, index: int) -> bool:
        return False

    def is_times(self, index: int) -> bool:
        return False

    def is_boolean(self, index: int) -> bool:
        return False

    def counted(self, index: int) -> NDArray[np.float64]:
        raise NotImplementedError("a sparse matrix holds numbers")

    def numbers(self, index: int) -> NDArray[Any]:
        return self.columns.column(index)

    def factors(self, index: int) -> list[Factor]:
        raise ValueError(
            f"X is sparse, so that its columns are numbers, but column {index} is categorical: pass"
            " a data frame, or X.toarray()"
        )

    def matrix(self) -> SparseColumns:
        return self.columns


class _ArrayTable:
    names: list[str] | None = None

    def __init__(self, estimator: BaseEstimator, X: Any, *, reset: bool, as_it_is: bool) -> None:
        if isinstance(X, np.ma.MaskedArray):
            # Code below would drop the mask and take the masked values for data.
            floats = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
            X = np.ma.filled(X.astype(floats), np.nan)
        if isinstance(X, np.ndarray) and X.dtype == object and not as_it_is:
            X = _nan_for_missing(X)
        dtype: Any = [np.float64, np.float32]
        if as_it_is or getattr(getattr(X, "dtype", None), "kind", "") == "M":
            # Otherwise a list of mixed rows would become an array of strings.
            dtype = None if hasattr(X, "dtype") else object
        try:
            self.X: NDArray[Any] = np.asarray(
                validate_data(estimator, X, reset=reset, dtype=dtype, ensure_all_finite=False)
            )
        except OverflowError as err:
            raise ValueError("X holds an integer beyond the largest float") from err
        self.n_rows, self.n_features = self.X.shape

    def is_categorical(self, index: int) -> bool:
        return False

    def is_declared(self, index: int) -> bool:
        return False

    def is_dates(self, index: int) -> bool:
        return self.X.dtype.kind == "M"

    def is_times(self, index: int) -> bool:
        return False

    def is_boolean(self, index: int) -> bool:
        return self.X.dtype.kind == "b"

    def counted(self, index: int) -> NDArray[np.float64]:
        return np.ascontiguousarray(days_of_array(self.X[:, index]))

    def numbers(self, index: int) -> NDArray[Any]:
        values = self.X[:, index]
        if values.dtype.kind == "M":
            raise TypeError(f"column {index} has dtype {values.dtype} where numbers are expected")
        if values.dtype.kind in "OUS":
            try:
                values = _nan_for_missing(values.astype(object)).astype(np.float64)
            except OverflowError as err:
                raise ValueError(
                    f"column {index} holds an integer beyond the largest float"
                ) from err
            except (TypeError, ValueError) as err:
                raise type(err)(f"column {index} is numeric: {err}") from err
        elif values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
        return np.require(values, requirements=["C", "A"])

    def factors(self, index: int) -> list[Factor]:
        return [frames.array_factor(self.X[:, index], str(index))]

    def matrix(self) -> Matrix | None:
        if self.X.dtype not in (np.float32, np.float64):
            return None
        return _contiguous(self.X)


def _contiguous(matrix: NDArray[Any]) -> Matrix:
    """Return an aligned row- or column-major array, the same one if possible."""
    if matrix.flags.forc and matrix.flags.aligned:
        return matrix
    return np.require(matrix, requirements=["C", "A"])


def _nan_for_missing(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array of objects with NaN for None and pandas' NA, which float() rejects."""
    missing = np.frompyfunc(is_missing, 1, 1)(values).astype(np.bool_)
    return np.where(missing, np.nan, values) if missing.any() else values


class _Interchange:
    """Names and shape of a frame in the form that scikit-learn before 1.9 reads.

    It supports frames other than pandas only by the interchange protocol, which polars 2 dropped.
    """

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.shape = frame.shape
        self._names = [str(name) for name in frame.columns]

    def __dataframe__(self) -> "_Interchange":
        return self

    def column_names(self) -> list[str]:
        return self._names


def _with_names(frame: nw.DataFrame[Any]) -> Any:
    native = frame.to_native()
    major, minor = sklearn.__version__.split(".")[:2]
    # Among pandas' names it accepts those of type str itself, not NumPy's.
    is_known = frame.implementation.is_pandas() and {type(name) for name in frame.columns} <= {str}
    named = all(isinstance(name, str) for name in frame.columns)
    if (int(major), int(minor)) >= (1, 9):
        if is_known or not named or not frame.implementation.is_pandas():
            return native
        return native.set_axis([str(name) for name in frame.columns], axis=1)
    return native if is_known or not named else _Interchange(frame)
