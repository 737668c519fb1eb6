"""Cards of the core from a document that was changed: the core checks them as it does a file."""

import json
from typing import Any, cast

from aucrank import _core

# FNV-1a of 64 bits, by which the core knows a damaged file.
_OFFSET, _PRIME, _BITS = 0xCBF29CE484222325, 0x100000001B3, 2**64 - 1

_BODY, _HEADER, _MODEL = '{"body":', '{"body":{"header":', ',"model":'
_PARAMS = '"params":'


def rebuild(model: _core.Scorecard, saved: str, changes: dict[str, Any]) -> _core.Scorecard:
    """Return the model of a saved card with other entries.

    Parameters
    ----------
    model : _core.Scorecard
        The model of the card.
    saved : str
        The text of the saved card.
    changes : dict
        What stands in its model instead, by key.

    Returns
    -------
    _core.Scorecard
        The model.

    Raises
    ------
    ModelFormatError
        If the entries do not belong together.
    """
    decoder = json.JSONDecoder()
    header, end = decoder.raw_decode(saved, len(_HEADER))
    start = end + len(_MODEL)
    entries, after = decoder.raw_decode(saved, start)
    written = _canonical(model, header, entries | changes)
    body = f"{saved[len(_BODY) : start]}{written}}}"
    rest = json.loads("{" + saved[after + len("},") :])
    rest["checksum"] = f"fnv1a64:{_fnv1a64(body.encode()):016x}"
    _, found, _ = _core.read_document(f"{_BODY}{body},{json.dumps(rest)[1:]}")
    return cast("_core.Scorecard", found)


def _canonical(model: _core.Scorecard, header: dict[str, Any], entries: dict[str, Any]) -> str:
    """Write entries as the core does, digit by digit, since its checksum is of this form.

    Parameters may hold any JSON: the core writes that of the entries as a parameter.
    """
    estimator = {"class": header["estimator"]["class"], "params": entries}
    text = _core.write_document(json.dumps(header | {"estimator": estimator}), model, None)
    start = text.index(_PARAMS, text.index('"estimator":')) + len(_PARAMS)
    return text[start : json.JSONDecoder().raw_decode(text, start)[1]]


def _fnv1a64(data: bytes) -> int:
    found = _OFFSET
    for byte in data:
        found = ((found ^ byte) * _PRIME) & _BITS
    return found
