"""Universal Binary JSON, in which XGBoost writes models by default."""

import struct
from typing import Any

import numpy as np

#: Types of numbers: their format, and that of an array of them.
_NUMBERS = {
    ord("i"): (">b", ">i1"),
    ord("U"): (">B", ">u1"),
    ord("I"): (">h", ">i2"),
    ord("l"): (">i", ">i4"),
    ord("L"): (">q", ">i8"),
    ord("d"): (">f", ">f4"),
    ord("D"): (">d", ">f8"),
}
_CONSTANTS = {ord("Z"): None, ord("T"): True, ord("F"): False}

#: Objects and lists within each other.
_DEEPEST = 50


def read_ubjson(data: bytes) -> Any:
    """Return the value of a document; arrays of one type of number are arrays of numpy.

    Raises
    ------
    ValueError
        If it is not a complete document.
    """
    try:
        value, place = _UbjsonReader(data).value(0, 0)
    except (struct.error, IndexError):
        raise ValueError("the document is cut short") from None
    if place != len(data):
        raise ValueError(f"{len(data) - place} bytes follow the document")
    return value


class _UbjsonReader:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def value(self, place: int, depth: int) -> tuple[Any, int]:
        """Return the value at a place, and the place after it."""
        return self._of_type(self._data[place], place + 1, depth)

    def _of_type(self, kind: int, place: int, depth: int) -> tuple[Any, int]:
        if depth > _DEEPEST:
            raise ValueError(f"it is nested more than {_DEEPEST} deep")
        if kind in _NUMBERS:
            form = _NUMBERS[kind][0]
            (number,) = struct.unpack_from(form, self._data, place)
            return number, place + struct.calcsize(form)
        if kind in _CONSTANTS:
            return _CONSTANTS[kind], place
        if kind == ord("S"):
            return self._text(place)
        if kind == ord("C"):
            return chr(self._data[place]), place + 1
        if kind == ord("["):
            return self._array(place, depth)
        if kind == ord("{"):
            return self._object(place, depth)
        raise ValueError(f"{chr(kind)!r} is not a type of a value")

    def _length(self, place: int) -> tuple[int, int]:
        kind = self._data[place]
        if kind not in _NUMBERS or kind in b"dD":
            raise ValueError(f"{chr(kind)!r} is not a type of a length")
        length, place = self._of_type(kind, place + 1, 0)
        if not 0 <= length <= len(self._data):
            raise ValueError(f"a length of {length}")
        return length, place

    def _text(self, place: int) -> tuple[str, int]:
        length, place = self._length(place)
        text = self._data[place : place + length]
        if len(text) < length:
            raise IndexError(place)
        return text.decode(), place + length

    def _header(self, place: int) -> tuple[int | None, int | None, int]:
        """Return the type and the number of the entries, where they are given, and the place."""
        kind = count = None
        if self._data[place] == ord("$"):
            kind, place = self._data[place + 1], place + 2
            if self._data[place] != ord("#"):
                raise ValueError("a type of entries without their number")
        if self._data[place] == ord("#"):
            count, place = self._length(place + 1)
        return kind, count, place

    def _array(self, place: int, depth: int) -> tuple[Any, int]:
        kind, count, place = self._header(place)
        if count is not None and kind in _NUMBERS:
            dtype = np.dtype(_NUMBERS[kind][1])
            end = place + count * dtype.itemsize
            if end > len(self._data):
                raise IndexError(place)
            return np.frombuffer(self._data, dtype, count, place), end
        values: list[Any] = []
        while self._goes_on(values, count, place, ord("]")):
            value, place = self._entry(kind, place, depth)
            values.append(value)
        return values, place + (count is None)

    def _object(self, place: int, depth: int) -> tuple[dict[str, Any], int]:
        kind, count, place = self._header(place)
        values: dict[str, Any] = {}
        n_read = 0
        while (n_read < count) if count is not None else self._data[place] != ord("}"):
            key, place = self._text(place)
            values[key], place = self._entry(kind, place, depth)
            n_read += 1
        return values, place + (count is None)

    def _goes_on(self, values: list[Any], count: int | None, place: int, end: int) -> bool:
        return len(values) < count if count is not None else self._data[place] != end

    def _entry(self, kind: int | None, place: int, depth: int) -> tuple[Any, int]:
        if kind is None:
            return self.value(place, depth + 1)
        return self._of_type(kind, place, depth + 1)
