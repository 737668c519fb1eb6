"""Fits that are done, in a file that a later run goes on from.

The file has one line of JSON for each fit, and a first one that says of which rows and folds they
are. A line is written at once when its fit is done, so that whatever stops a run costs the fits
that run at that time; a last line that was cut off is no line.
"""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._compare.outcome import FoldResult
from aucrank._utils.files import write_atomically
from aucrank._utils.words import listed, plural

_FORMAT, _VERSION = "aucrank comparison", 1

# Scores are packed little-endian, whatever the machine.
_SCORE = np.dtype("<f8")


@dataclass(frozen=True)
class _Line:
    """A fit as the file has it."""

    model: str
    fingerprint: str
    fold: int
    result: FoldResult


class Store:
    """A file of fits.

    Parameters
    ----------
    path : str or path-like
        Where it is, or is to be.
    sample, folds : str
        Fingerprints of the rows and of the folds.

    Raises
    ------
    ValueError
        If the file holds something else, or fits of other rows or folds.
    OSError
        If it cannot be read or written.
    """

    def __init__(self, path: str | os.PathLike[str], sample: str, folds: str) -> None:
        self._path = Path(path)
        self._header = {"format": _FORMAT, "version": _VERSION, "rows": sample, "folds": folds}
        self._lines: list[_Line] = []
        self._n_taken = 0
        self._changed: list[str] = []
        if self._path.exists() and self._path.stat().st_size > 0:
            self._read()
        else:
            write_atomically(path, json.dumps(self._header) + "\n")

    def _read(self) -> None:
        content = self._path.read_bytes()
        whole, newline, torn = content.rpartition(b"\n")
        header, *lines = whole.split(b"\n")
        self._check_header(header if newline else torn)
        for number, line in enumerate(lines, 2):
            try:
                self._lines.append(_parse(json.loads(line)))
            except (ValueError, TypeError, KeyError, zlib.error) as error:
                raise ValueError(f"line {number} of {self._path} is no fit: {error}") from error
        if torn and newline:
            with self._path.open("r+b") as file:
                file.truncate(len(whole) + 1)

    def _check_header(self, line: bytes) -> None:
        try:
            header = json.loads(line)
        except ValueError:
            header = None
        if not isinstance(header, dict) or header.get("format") != _FORMAT:
            raise ValueError(
                f"{self._path} is no file of a comparison: name another file, or one that is not"
                " there yet"
            )
        if header.get("version") != _VERSION:
            raise ValueError(
                f"{self._path} was written by another version of aucrank: name another file"
            )
        for name in ("rows", "folds"):
            if header.get(name) != self._header[name]:
                what = "columns, labels or weights" if name == "rows" else "folds"
                raise ValueError(
                    f"{self._path} holds fits of other {what}: name another file, or one that is"
                    " not there yet"
                )

    def known(
        self, model: str, fingerprint: str | None, n_scores: Sequence[int]
    ) -> dict[int, FoldResult]:
        """Return the fits of a model that are there, by fold.

        Parameters
        ----------
        model : str
            Its name.
        fingerprint : str or None
            Of its parameters and versions: fits of others are not those of this model. None where
            it cannot be told.
        n_scores : sequence of int
            How many rows each fold holds out.
        """
        of_name = [line for line in self._lines if line.model == model]
        found = {
            line.fold: line.result
            for line in of_name
            if line.fingerprint == fingerprint
            and line.fold < len(n_scores)
            and len(line.result.scores) == n_scores[line.fold]
        }
        self._n_taken += len(found)
        if of_name and not found:
            self._changed.append(model)
        return found

    def keep(self, model: str, fingerprint: str | None, fold: int, result: FoldResult) -> None:
        """Write a fit to the file; one of a model that cannot be told apart is not kept."""
        if fingerprint is None:
            return
        packed = zlib.compress(result.scores.astype(_SCORE).tobytes())
        line = {
            "model": model,
            "fingerprint": fingerprint,
            "fold": fold,
            "fit_seconds": result.fit_seconds,
            "score_seconds": result.score_seconds,
            "n_bytes": result.n_bytes,
            "n_rules": result.n_rules,
            "scores": base64.b64encode(packed).decode(),
        }
        with self._path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def says(self) -> list[str]:
        """Say what came of the file."""
        said = []
        if self._n_taken:
            said.append(f"{plural(self._n_taken, 'fit')} taken from {self._path}")
        if self._changed:
            said.append(
                f"fits of {listed(self._changed)} in {self._path} are of other parameters or"
                " versions, so they were done anew"
            )
        return said


def _parse(line: dict[str, Any]) -> _Line:
    packed = zlib.decompress(base64.b64decode(line["scores"], validate=True))
    scores: NDArray[np.float64] = np.frombuffer(packed, dtype=_SCORE).astype(np.float64)
    return _Line(
        str(line["model"]),
        str(line["fingerprint"]),
        int(line["fold"]),
        FoldResult(
            scores,
            float(line["fit_seconds"]),
            float(line["score_seconds"]),
            None if line["n_bytes"] is None else int(line["n_bytes"]),
            None if line["n_rules"] is None else int(line["n_rules"]),
        ),
    )
