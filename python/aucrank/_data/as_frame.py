"""Conversion to data frames: queries, Arrow streams and arrays with named fields.

Each becomes a frame of an installed library, once per call: some streams can be read only once.
"""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np

from aucrank._data.passes import InPieces

Library = Literal["pandas", "polars", "pyarrow"]


def as_frame(X: Any) -> Any:
    """Convert lazy frames, Arrow streams and arrays with fields to a data frame.

    Anything else is returned unchanged.

    Parameters
    ----------
    X : object
        What the user passed. A stream is read to its end: the result can be read again.

    Raises
    ------
    TypeError
        If ``X`` is a `Dataset`, which must not be in memory, if it holds other records, if one of
        its fields is not a column, or if no installed library can read it.
    """
    if isinstance(X, np.ndarray):
        return X if X.dtype.names is None else _from_fields(X)
    if isinstance(X, InPieces):
        raise TypeError(
            f"X is a {type(X).__name__}, whose rows need not fit in memory: all rankers, and MAD2C,"
            " are fitted to it, decision_function_batches and"
            " write_scores score it, aucrank.metrics.roc_state measures scores, and aucrank.compare"
            " takes a sample of it; all else takes a data frame"
        )
    if _is_records(X):
        raise TypeError(
            f"X is a {type(X).__name__}{'' if isinstance(X, Mapping) else ' of dicts'}; pass a"
            " two-dimensional array, a data frame of pandas, polars or pyarrow, an object with"
            " __arrow_c_stream__ or an array with named fields, such as pandas.DataFrame(X)"
        )
    known = nw.from_native(X, allow_series=True, pass_through=True)
    if isinstance(known, nw.LazyFrame):
        # A query of polars or DuckDB runs here.
        return known.collect().to_native()
    if isinstance(known, nw.DataFrame | nw.Series) or not hasattr(X, "__arrow_c_stream__"):
        return X
    library = _installed("an Arrow stream", X, "pyarrow", "polars")
    return nw.from_arrow(X, backend=library).to_native()


def frame_or_matrix(X: Any, name: str) -> Any:
    """Return rows as a narwhals frame, or else as a two-dimensional array.

    Parameters
    ----------
    X : object
        What the user passed.
    name : str
        Name for messages.

    Raises
    ------
    ValueError
        If it is neither.
    """
    frame = nw.from_native(as_frame(X), eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame
    array = np.asarray(frame)
    if array.ndim != 2:
        raise ValueError(f"{name} must have shape (n_samples, n_features), got {array.shape}")
    return array


def _is_records(X: Any) -> bool:
    """Return whether ``X`` is a dict, or a list of dicts."""
    if isinstance(X, Sequence) and not isinstance(X, str | bytes):
        return len(X) > 0 and isinstance(X[0], Mapping)
    # A sparse matrix may be a dict, too.
    return isinstance(X, Mapping) and not hasattr(X, "shape")


def _from_fields(X: np.ndarray[Any, Any]) -> Any:
    """Return a structured or record array as a frame with one column per field."""
    if X.ndim != 1:
        raise ValueError(
            f"X is an array with named fields of shape {X.shape}; its rows must be in one dimension"
        )
    assert X.dtype.names is not None
    columns = {name: _column(X[name], name) for name in X.dtype.names}
    library = _installed("an array with named fields", X, "pandas", "polars", "pyarrow")
    return nw.from_dict(columns, backend=library).to_native()


def _column(values: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """Return a field in a form that every library accepts."""
    if values.ndim != 1 or values.dtype.names is not None:
        raise TypeError(f"the field {name!r} of X holds {values.dtype} of shape {values.shape[1:]}")
    kind = values.dtype.kind
    if isinstance(values, np.ma.MaskedArray):
        # The mask would be lost and the masked values taken for data.
        hidden = np.ma.getmaskarray(values)
        missing: Any = np.nan if kind in "biuf" else None
        values = np.where(hidden, missing, values.data)
    if kind == "f" and values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    if kind == "U":
        values = values.astype(object)
    # Frames do not support foreign byte orders, as in files of instruments.
    return np.ascontiguousarray(values.astype(values.dtype.newbyteorder("="), copy=False))


def first_installed(*libraries: Library) -> Library | None:
    """Return the first of these libraries that is installed."""
    return next((library for library in libraries if find_spec(library) is not None), None)


def _installed(what: str, X: Any, *libraries: Library) -> Library:
    """Return the first of these libraries that is installed."""
    library = first_installed(*libraries)
    if library is not None:
        return library
    kind = f"{type(X).__module__}.{type(X).__qualname__}"
    raise TypeError(
        f"X is {what} ({kind}), which is read with {' or '.join(libraries)}, and none of them is"
        f" installed: pip install {libraries[0]}"
    )
