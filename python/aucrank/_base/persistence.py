"""Fitted estimators as one JSON document: the header that Python adds, writing and reading.

The core writes and reads the document (format, version, checksum, model). Python adds a header: the
estimator with its parameters, the classes, and the columns. A file can name only classes of aucrank
that are on a list, so that reading one never imports or runs arbitrary code.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from math import isfinite
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._base import registry
from aucrank._data.reading import Reading
from aucrank._data.schema import Schema

# Python types that name a dtype of numpy.
_TYPES: dict[str, type[Any]] = {"bool": bool, "int": int, "float": float}

# Names of the dtypes of arrays.
_DTYPE_NAME = re.compile(r"[<>=|]?[A-Za-z]+[0-9]{0,9}")

# An integer beyond 64 bits, which JSON holds as text: the core reads a longer number as a float.
_LARGE_INTEGER = re.compile(r"-?0x[0-9a-f]{1,256}")

# Fixed-width text arrays take at most this many bytes per letter, plus these; texts with fewer
# letters in a greater width are stored as objects.
_BYTES_OF_LETTER, _BYTES_OF_TEXT = 12, 64

# Maximal number of values in parameters without a JSON form, which takes less than a second.
_MOST_OBJECTS = 20_000

# Number of values of an array that are compared with the file at a time.
_COMPARED_AT_ONCE = 4096

# Sample sizes in a header.
_OF_SAMPLE = ("n_rows", "n_all_rows")

# Key of a saved report for `Schema.flags`: of columns the core holds only what it reads rows by.
_FLAGS = "two_values"

# Classes whose instances may be parameters of estimators.
_parts: dict[str, type[Any]] = {}

_Class = TypeVar("_Class", bound=type[Any])
_Estimator = TypeVar("_Estimator")


def persistable(cls: _Class) -> _Class:
    """Allow saved files to hold instances of this class as parameters of an estimator.

    It must have ``get_params`` and take all its parameters by keyword.
    """
    _parts[cls.__name__] = cls
    return cls


def is_public(cls: type[Any]) -> bool:
    """Return whether ``cls`` is an estimator that a saved file can name."""
    return registry.is_savable(cls.__name__) and registry.get_estimator(cls.__name__) is cls


@dataclass(frozen=True, slots=True)
class Header:
    """The part of a document that Python writes.

    Attributes
    ----------
    estimator : str
        Name of the class.
    params : dict
        Its constructor parameters, as `encode_params` left them.
    classes : ndarray of shape (2,) or None
        The labels, in the dtype of the target; None for a fit without labels.
    schema : Schema
        The columns.
    sample : tuple of int, or None
        Number of rows of the sample learned from, and of all rows; None without sampling.
    reading : Reading or None
        How the files of the fit were read; None where the rows were typed already.
    report : dict
        What the fit reported and no score needs, by name: values that parameters may have.
    """

    estimator: str
    params: dict[str, Any]
    classes: NDArray[Any] | None
    schema: Schema
    sample: tuple[int, int] | None = None
    reading: Reading | None = None
    report: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the header as JSON text.

        Raises
        ------
        ValueError
            If parameters and report hold more objects than could be read back.
        """
        header: dict[str, Any] = {
            "estimator": {
                "class": self.estimator,
                "params": self.params,
            },
            "classes": None if self.classes is None else _encode_array(self.classes),
            "features": self.schema.to_json(),
        }
        if self.sample is not None:
            header["sample"] = dict(zip(_OF_SAMPLE, self.sample, strict=True))
        if self.reading is not None and (reading := self.reading.to_json()):
            header["reading"] = reading
        report = self.report
        if flags := self.schema.flags:
            report = {**report, _FLAGS: flags}
        if report:
            header["report"] = encode_params(report)
        text = json.dumps(header, allow_nan=False)
        _check_objects(text)
        return text

    @classmethod
    def from_json(cls, text: str) -> "Header":
        """Read what `to_json` wrote.

        Raises
        ------
        ModelFormatError
            If its form differs.
        """
        try:
            _check_objects(text)
            found = json.loads(text)
            match found:
                case {
                    "estimator": {"class": str(estimator), "params": dict(params)},
                    "classes": dict() | None as classes,
                    "features": features,
                }:
                    schema = Schema.from_json(features)
                    reading = found.get("reading")
                    if reading is not None:
                        reading = Reading.from_json(reading, schema.names or ())
                        schema = schema.counting(reading.date_units)
                    report = found.get("report")
                    if not isinstance(report, dict | None):
                        raise ValueError("`report` has an unknown form")
                    report = decode_params(report or {})
                    if (flags := report.pop(_FLAGS, None)) is not None:
                        schema = schema.with_flags(flags)
                    header = cls(
                        estimator,
                        params,
                        None if classes is None else _decode_array(classes),
                        schema,
                        _sample_of(found.get("sample")),
                        reading,
                        report,
                    )
                case _:
                    raise ValueError("`estimator`, `classes` or `features` has an unknown form")
            labels = header.classes
            if labels is not None and (labels.shape != (2,) or labels[0] == labels[1]):
                raise ValueError("`classes` does not hold two labels")
        except (ValueError, TypeError, OverflowError, RecursionError) as err:
            if isinstance(err, _core.ModelFormatError):
                raise
            raise _core.ModelFormatError(f"the header of the model is not valid: {err}") from err
        return header


def _check_objects(text: str) -> None:
    if (n_objects := text.count('"__class__"')) > _MOST_OBJECTS:
        raise ValueError(
            f"its parameters and its report hold {n_objects:,} objects, where {_MOST_OBJECTS:,} are"
            " the most"
        )


def _sample_of(found: Any) -> tuple[int, int] | None:
    """Return the sample sizes of a header, if it has any."""
    if found is None:
        return None
    n_rows, n_all_rows = (found[name] for name in _OF_SAMPLE)
    if not 0 < n_rows <= n_all_rows:
        raise ValueError(f"a sample has {n_rows} of {n_all_rows} rows")
    return n_rows, n_all_rows


def read_document(text: str) -> tuple[Header, Any, Any]:
    """Return header, core model and calibration of a document; the latter may be None.

    Raises
    ------
    ModelFormatError
        If the document is not valid; the message says why.
    """
    header_text, model, calibration = _core.read_document(text)
    header = Header.from_json(header_text)
    if model.n_features != len(header.schema.features):
        raise _core.ModelFormatError(
            f"the model has {model.n_features} features but the header"
            f" {len(header.schema.features)}"
        )
    return header, model, calibration


def load(path: str | os.PathLike[str]) -> Any:
    """Read a fitted estimator that ``save`` wrote.

    The file is pure data: loading one that you do not trust runs none of its contents.

    Parameters
    ----------
    path : str or path-like
        File to read.

    Returns
    -------
    estimator
        Of the class that was saved. Parameters that JSON cannot hold, such as a ``RandomState``
        or an estimator from elsewhere, come back as None.

    Raises
    ------
    ModelFormatError
        If the file is not a model of aucrank, is damaged, or was written in a newer format.
    OSError
        If the file cannot be read.
    """
    return read_model(Path(path).read_bytes(), path)


def read_model(data: bytes, path: str | os.PathLike[str]) -> Any:
    """Return the estimator stored in a file; ``path`` is for messages."""
    try:
        try:
            # Editors put a byte order mark before a text, and some shells write UTF-16.
            is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
            text = data.decode("utf-16" if is_wide else "utf-8-sig")
        except UnicodeDecodeError as err:
            raise _core.ModelFormatError(f"not a text file: {err}") from None
        # Free the bytes of a large model before its text is parsed.
        del data
        header, model, calibration = read_document(text)
        if not registry.is_savable(header.estimator):
            raise _core.ModelFormatError(
                f"it holds a {header.estimator!r}, which this version of aucrank does not know"
            )
        estimator = registry.get_estimator(header.estimator)
        return estimator._from_document(header, model, calibration)
    except _core.ModelFormatError as err:
        raise _core.ModelFormatError(f"{os.fspath(path)}: {err}") from err


def encode_params(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters in a form that JSON can hold; None for what it cannot hold.

    Values that JSON cannot express but we can name become an object with the key ``__class__``. A
    number of another class, such as a fraction, becomes a plain one, and an iterable becomes a list
    or an array: a fit treats them alike.
    """
    return {name: _encode(value) for name, value in params.items()}


def decode_params(params: dict[Any, Any]) -> dict[str, Any]:
    """Return the parameters that `encode_params` was given.

    Raises
    ------
    ValueError
        If a value names a class that is not known here, or has another form.
    """
    return {str(name): _decode(value) for name, value in params.items()}


def rebuild(cls: type[_Estimator], params: dict[str, Any]) -> _Estimator:
    """Return an estimator with the parameters of a header.

    Raises
    ------
    ModelFormatError
        If it cannot have them.
    """
    try:
        return cls(**decode_params(params))
    except (TypeError, ValueError) as err:
        raise _core.ModelFormatError(f"{cls.__name__} cannot have these parameters: {err}") from err


def _encode(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Real):
        number = int(value) if isinstance(value, Integral) else float(value)
        if isinstance(number, int):
            return _encode_integer(number)
        return number if isfinite(number) else {"__class__": "float", "value": str(number)}
    if isinstance(value, list):
        return [_encode(item) for item in value]
    if isinstance(value, tuple):
        return {"__class__": "tuple", "values": [_encode(item) for item in value]}
    if isinstance(value, Mapping):
        items = [[_encode(key), _encode(item)] for key, item in value.items()]
        return {"__class__": "dict", "items": items}
    if isinstance(value, type) and value in _TYPES.values():
        return {"__class__": "type", "name": value.__name__}
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return {"__class__": "dtype", "name": np.dtype(value).name}
    name = type(value).__name__
    if _parts.get(name) is type(value) or is_public(type(value)):
        return {"__class__": name, **encode_params(value.get_params(deep=False))}
    if hasattr(value, "get_params") or isinstance(value, bytes | Iterator):
        return None
    if hasattr(value, "__array__") and not isinstance(value, type):
        array = np.asarray(value)
        if array.ndim == 1:
            has_form = array.dtype.kind in "biufUO"
            return {
                "__class__": "ndarray",
                **_encode_array(array if has_form else array.astype(object)),
            }
    if isinstance(value, Set):
        # Equal models give equal files, whatever the order of a set in this process.
        value = sorted(value, key=repr)
    if isinstance(value, Iterable):
        return [_encode(item) for item in value]
    return None


def _encode_integer(number: int) -> Any:
    if -(2**63) <= number < 2**64:
        return number
    written = hex(number)
    has_form = _LARGE_INTEGER.fullmatch(written)
    return {"__class__": "int", "value": written} if has_form else None


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    name = value.get("__class__")
    # A look-up, since a file may hold very many of them.
    decode = _DECODERS.get(name, _decode_object) if isinstance(name, str) else None
    if decode is None:
        raise ValueError(f"a parameter is of an unknown class: {_shortened(name)}")
    return decode(name, value)


def _decode_special(name: str, value: dict[str, Any]) -> Any:
    match name, value:
        case "float", {"value": "nan" | "inf" | "-inf" as number}:
            return float(number)
        case "int", {"value": str(number)} if _LARGE_INTEGER.fullmatch(number):
            return int(number, 16)
        case "type", {"name": str(of_type)} if of_type in _TYPES:
            return _TYPES[of_type]
        case "dtype", {"name": str(dtype)} if _DTYPE_NAME.fullmatch(dtype):
            return np.dtype(dtype).type
        case "tuple", {"values": list(items)}:
            return tuple(_decode(item) for item in items)
        case "dict", {"items": list(items)}:
            return {_decode(key): _decode(item) for key, item in items}
        case "ndarray", _:
            return _decode_array(value)
    raise ValueError(f"a parameter of class {name!r} has an unknown form")


def _decode_object(name: str, value: dict[str, Any]) -> Any:
    if name in _parts:
        kind = _parts[name]
    elif registry.is_savable(name):
        kind = registry.get_estimator(name)
    else:
        raise ValueError(f"a parameter is of an unknown class: {_shortened(name)}")
    return kind(**decode_params({key: item for key, item in value.items() if key != "__class__"}))


_DECODERS = dict.fromkeys(
    ("float", "int", "type", "dtype", "tuple", "dict", "ndarray"), _decode_special
)


def _encode_array(array: NDArray[Any]) -> dict[str, Any]:
    values = [_encode(item) for item in array.tolist()]
    dtype = np.dtype(object) if _is_too_wide(array.dtype, values) else array.dtype
    return {"dtype": str(dtype), "values": values}


def _decode_array(array: dict[Any, Any]) -> NDArray[Any]:
    match array:
        case {"dtype": str(name), "values": list(values)} if _DTYPE_NAME.fullmatch(name):
            dtype = np.dtype(name)
            if dtype.kind in "biufUO" and dtype.itemsize < 2**20:
                is_plain = not any(isinstance(value, list | dict) for value in values)
                plain = values if is_plain else [_decode(value) for value in values]
                decoded = np.array(plain, dtype=object)
                if _is_in_range(dtype, values) and decoded.ndim == 1:
                    # Every array derived from these, such as one of labels, is as wide.
                    if not _is_too_wide(dtype, values):
                        decoded = decoded.astype(dtype)
                    if _holds(decoded, values):
                        return decoded
                raise ValueError(f"{_shortened(values[:10])} is not an array of dtype {name}")
    raise ValueError("an array has an unknown form")


def _is_in_range(dtype: np.dtype[Any], values: list[Any]) -> bool:
    """Return whether texts are texts, and integers fit: numpy 1 may wrap around."""
    if dtype.kind == "U":
        return all(isinstance(value, str) for value in values)
    if dtype.kind not in "iu":
        return True
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return all(isinstance(value, int) and low <= value <= high for value in values)


def _holds(array: NDArray[Any], values: list[Any]) -> bool:
    """Return whether the values of an array are written as these."""
    for first in range(0, len(values), _COMPARED_AT_ONCE):
        some = slice(first, first + _COMPARED_AT_ONCE)
        found, written = array[some].tolist(), values[some]
        if found != written and [_encode(item) for item in found] != written:
            return False
    return True


def _is_too_wide(dtype: np.dtype[Any], values: list[Any]) -> bool:
    """Return whether fixed-width texts would take many times the size of their contents."""
    if dtype.kind != "U":
        return False
    n_letters = sum(len(value) for value in values if isinstance(value, str))
    most = _BYTES_OF_LETTER * n_letters + _BYTES_OF_TEXT * len(values)
    return dtype.itemsize * len(values) > most


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}..."
