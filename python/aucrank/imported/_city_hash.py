"""The hash by which CatBoost knows a category: the lower half of CityHash64 (version 1.0)."""

from typing import Any

import numpy as np

_BITS = 2**64 - 1
_K0, _K1 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273
_K2, _K3 = 0x9AE16A3B2F90404F, 0xC949D7C7509E6557
_FACTOR = 0x9DDFEA08EB382D69

#: Longer texts have another kind of hash.
_LONGEST = 64


def category_hash(value: Any) -> int:
    """Return the hash of a category as the signed integer that CatBoost stores.

    Raises
    ------
    ValueError
        If its text has more than 64 bytes.
    """
    value = value.item() if isinstance(value, np.generic) else value
    text = str(value).encode()
    if len(text) > _LONGEST:
        raise ValueError(
            f"a category of CatBoost of more than {_LONGEST} bytes cannot be imported: {value!r}"
        )
    low = _hash(text) & 0xFFFFFFFF
    return low - 2**32 if low >= 2**31 else low


def _hash(text: bytes) -> int:
    if len(text) <= 16:
        return _hash_to_16(text)
    return _hash_to_32(text) if len(text) <= 32 else _hash_to_64(text)


def _word(text: bytes, place: int, size: int = 8) -> int:
    place = place if place >= 0 else len(text) + place
    return int.from_bytes(text[place : place + size], "little")


def _rotated(number: int, shift: int) -> int:
    number &= _BITS
    return (number >> shift | number << (64 - shift)) & _BITS


def _mixed(number: int) -> int:
    return number ^ number >> 47


def _joined(first: int, second: int) -> int:
    first, second = first & _BITS, second & _BITS
    a = _mixed((first ^ second) * _FACTOR & _BITS)
    b = _mixed((second ^ a) * _FACTOR & _BITS)
    return b * _FACTOR & _BITS


def _hash_to_16(text: bytes) -> int:
    n = len(text)
    if n > 8:
        a, b = _word(text, 0), _word(text, -8)
        return _joined(a, _rotated(b + n, n)) ^ b
    if n >= 4:
        return _joined(n + (_word(text, 0, 4) << 3), _word(text, -4, 4))
    if n:
        y = text[0] + (text[n >> 1] << 8)
        z = n + (text[-1] << 2)
        return _mixed((y * _K2 ^ z * _K3) & _BITS) * _K2 & _BITS
    return _K2


def _hash_to_32(text: bytes) -> int:
    n = len(text)
    a, b = _word(text, 0) * _K1, _word(text, 8)
    c, d = _word(text, -8) * _K2, _word(text, -16) * _K0
    return _joined(_rotated(a - b, 43) + _rotated(c, 30) + d, a + _rotated(b ^ _K3, 20) - c + n)


def _hash_to_64(text: bytes) -> int:
    n = len(text)

    def half(a: int, z: int, start: int) -> tuple[int, int]:
        b, c = _rotated(a + z, 52), _rotated(a, 37)
        a += _word(text, start + 8)
        c += _rotated(a, 7)
        a += _word(text, start + 16)
        return a + z, b + _rotated(a, 31) + c

    first = _word(text, 0) + (n + _word(text, n - 16)) * _K0
    vf, vs = half(first, _word(text, 24), 0)
    wf, ws = half(_word(text, 16) + _word(text, n - 32), _word(text, n - 8), n - 32)
    r = _mixed(((vf + ws) * _K2 + (wf + vs) * _K0) & _BITS)
    return _mixed((r * _K0 + vs) & _BITS) * _K2 & _BITS
