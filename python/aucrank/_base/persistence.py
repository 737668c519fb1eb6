"""Fitted estimators as one JSON document: what Python adds to it, files, and reading it back.

The core writes and reads the document (format, version, checksum, model). Python adds a header:
which estimator with which parameters, the classes, and the columns. A file can name only classes
of aucrank that are on a list, so that reading one never imports or runs what it asks for.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
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

# Types of Python that name a dtype of numpy.
_TYPES: dict[str, type[Any]] = {"bool": bool, "int": int, "float": float}

# What a header tells of a sample.
_OF_SAMPLE = ("n_rows", "n_all_rows")

# Classes whose instances are parameters of estimators.
_parts: dict[str, type[Any]] = {}

_Class = TypeVar("_Class", bound=type[Any])


def persistable(cls: _Class) -> _Class:
    """Let saved files hold instances of this class as parameters of an estimator.

    It must have ``get_params`` and take all its parameters by keyword.
    """
    _parts[cls.__name__] = cls
    return cls


def is_public(cls: type[Any]) -> bool:
    """Tell whether ``cls`` is an estimator that a saved file can name."""
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
        The labels, in the dtype of the target; None if the fit was told none.
    schema : Schema
        The columns.
    sample : tuple of int, or None
        Number of rows of the sample that was learned from, and of all; None where it was all.
    reading : Reading or None
        How the files of the fit were read; None where the rows came with types.
    """

    estimator: str
    params: dict[str, Any]
    classes: NDArray[Any] | None
    schema: Schema
    sample: tuple[int, int] | None = None
    reading: Reading | None = None

    def to_json(self) -> str:
        """Return the header as JSON text."""
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
        return json.dumps(header, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Header":
        """Read what `to_json` wrote.

        Raises
        ------
        ModelFormatError
            If it has another form.
        """
        try:
            found = json.loads(text)
            match found:
                case {
                    "estimator": {"class": str(estimator), "params": dict(params)},
                    "classes": dict() | None as classes,
                    "features": features,
                }:
                    header = cls(
                        estimator,
                        params,
                        None if classes is None else _decode_array(classes),
                        Schema.from_json(features),
                        _sample_of(found.get("sample")),
                        Reading.from_json(found["reading"]) if "reading" in found else None,
                    )
                case _:
                    raise ValueError("`estimator`, `classes` or `features` has an unknown form")
            labels = header.classes
            if labels is not None and (labels.shape != (2,) or labels[0] == labels[1]):
                raise ValueError("`classes` does not hold two labels")
        except (ValueError, TypeError, OverflowError) as err:
            if isinstance(err, _core.ModelFormatError):
                raise
            raise _core.ModelFormatError(f"the header of the model is not valid: {err}") from err
        return header


def _sample_of(found: Any) -> tuple[int, int] | None:
    """Return the numbers of rows that a header tells of a sample, if it tells any."""
    if found is None:
        return None
    n_rows, n_all_rows = (found[name] for name in _OF_SAMPLE)
    if not 0 < n_rows <= n_all_rows:
        raise ValueError(f"a sample has {n_rows} of {n_all_rows} rows")
    return n_rows, n_all_rows


def read_document(text: str) -> tuple[Header, Any, Any]:
    """Return header, core model and calibration of a document, the last None where there is none.

    Raises
    ------
    ModelFormatError
        Saying what is wrong with it.
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

    The file is data alone: reading one that you do not trust runs none of its contents.

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
        If the file is no model of aucrank, is damaged, or was written in a newer format.
    OSError
        If the file cannot be read.
    """
    return read_model(Path(path).read_bytes(), path)


def read_model(data: bytes, path: str | os.PathLike[str]) -> Any:
    """Return the estimator that the content of a file holds; ``path`` is for messages."""
    try:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as err:
            raise _core.ModelFormatError(f"not a text file: {err}") from None
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
    """Return parameters as JSON can hold them; None for what it cannot.

    What JSON has no form for but we can name is an object with the key ``__class__``. A number of
    another class, such as a fraction, becomes a plain one, and what is iterated a list or an array:
    a fit makes no more of them.
    """
    return {name: _encode(value) for name, value in params.items()}


def decode_params(params: dict[Any, Any]) -> dict[str, Any]:
    """Return what `encode_params` was given.

    Raises
    ------
    ValueError
        If a value names a class that is not known here, or has another form.
    """
    return {str(name): _decode(value) for name, value in params.items()}


def _encode(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Real):
        number = int(value) if isinstance(value, Integral) else float(value)
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
        # Equal models make equal files, whatever order a set has in this process.
        value = sorted(value, key=repr)
    if isinstance(value, Iterable):
        return [_encode(item) for item in value]
    return None


def _decode(value: Any) -> Any:
    match value:
        case list(items):
            return [_decode(item) for item in items]
        case {"__class__": "float", "value": "nan" | "inf" | "-inf" as number}:
            return float(number)
        case {"__class__": "type", "name": str(name)} if name in _TYPES:
            return _TYPES[name]
        case {"__class__": "dtype", "name": str(name)}:
            return np.dtype(name).type
        case {"__class__": "tuple", "values": list(items)}:
            return tuple(_decode(item) for item in items)
        case {"__class__": "dict", "items": list(items)}:
            return {_decode(key): _decode(item) for key, item in items}
        case {"__class__": "ndarray", **array}:
            return _decode_array(array)
        case {"__class__": str(name), **params} if name in _parts:
            return _parts[name](**decode_params(params))
        case {"__class__": str(name), **params} if registry.is_savable(name):
            return registry.get_estimator(name)(**decode_params(params))
        case dict():
            raise ValueError(f"a parameter is of an unknown class: {value.get('__class__')!r}")
    return value


def _encode_array(array: NDArray[Any]) -> dict[str, Any]:
    return {"dtype": str(array.dtype), "values": [_encode(item) for item in array.tolist()]}


def _decode_array(array: dict[Any, Any]) -> NDArray[Any]:
    match array:
        case {"dtype": str(name), "values": list(values)}:
            dtype = np.dtype(name)
            # Fixed-width strings of a forged file must not take all memory.
            if dtype.kind in "biufUO" and dtype.itemsize < 2**20:
                decoded = np.array([_decode(value) for value in values], dtype=object)
                # Before numpy 2, a number that does not fit would wrap around.
                in_range = dtype.kind not in "iu" or all(
                    isinstance(value, int) and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max
                    for value in values
                )
                if in_range and decoded.ndim == 1:
                    decoded = decoded.astype(dtype)
                    if _encode_array(decoded)["values"] == values:
                        return decoded
                raise ValueError(f"{values} is not an array of dtype {name}")
    raise ValueError("an array has an unknown form")
