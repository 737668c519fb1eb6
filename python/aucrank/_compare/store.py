"""Finished fits in a file from which a later run can resume.

The file has one line of JSON per fit, after a first line that identifies the rows and folds. A line
is written as soon as its fit is finished, so that an interrupted run loses only the fits in
progress; a truncated last line is ignored.
"""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._compare.outcome import FoldResult
from aucrank._utils.files import write_atomically
from aucrank._utils.words import listed, plural

_FORMAT, _VERSION = "aucrank comparison", 1

# Scores are packed little-endian on every machine.
_SCORE = np.dtype("<f8")


#: Seconds, bytes and rules beyond this are invalid.
_GREATEST = 2**63


@dataclass(frozen=True, slots=True)
class _StoredFit:
    """A line of the file, whose scores are unpacked only on demand."""

    number: int
    model: str
    fingerprint: str
    fold: int
    fit_seconds: float
    score_seconds: float
    n_bytes: int | None
    n_rules: int | None
    packed: bytes

    def result(self, scores: NDArray[np.float64]) -> FoldResult:
        """Return the fit, given its scores."""
        return FoldResult(scores, self.fit_seconds, self.score_seconds, self.n_bytes, self.n_rules)


class Store:
    """A file of fits.

    Parameters
    ----------
    path : str or path-like
        Path of the file, which need not exist.
    sample, folds : str
        Fingerprints of the rows and of the folds.

    Raises
    ------
    ValueError
        If the file holds something else, or fits to other rows or folds.
    OSError
        If it cannot be read or written.
    """

    def __init__(self, path: str | os.PathLike[str], sample: str, folds: str) -> None:
        self._path = Path(path)
        self._header = {"format": _FORMAT, "version": _VERSION, "rows": sample, "folds": folds}
        self._lines: list[_StoredFit] = []
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
            with self._named(number):
                self._lines.append(_parse(number, json.loads(line, parse_constant=_refuse)))
        if torn and newline:
            with self._path.open("r+b") as file:
                file.truncate(len(whole) + 1)

    @contextmanager
    def _named(self, number: int) -> Iterator[None]:
        """Add the line number to errors."""
        try:
            yield
        except (
            ValueError,
            TypeError,
            KeyError,
            OverflowError,
            RecursionError,
            zlib.error,
        ) as error:
            raise ValueError(f"line {number} of {self._path} is not a fit: {error}") from error

    def _check_header(self, line: bytes) -> None:
        try:
            header = json.loads(line)
        except (ValueError, RecursionError):
            header = None
        if not isinstance(header, dict) or header.get("format") != _FORMAT:
            raise ValueError(
                f"{self._path} is not a file of a comparison: name another file, or one that is not"
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
        """Return the stored fits of a model, by fold.

        Parameters
        ----------
        model : str
            Its name.
        fingerprint : str or None
            Fingerprint of its parameters and versions: only fits with the same one are reused. None
            if it cannot be computed.
        n_scores : sequence of int
            Number of held-out rows of each fold.

        Raises
        ------
        ValueError
            If the scores of a fit are damaged, or more than there are rows.
        """
        of_name = [line for line in self._lines if line.model == model]
        # The last line of a fold is valid.
        of_folds = {
            line.fold: line
            for line in of_name
            if line.fingerprint == fingerprint and line.fold < len(n_scores)
        }
        found = {}
        for fold, line in of_folds.items():
            with self._named(line.number):
                scores = _unpacked(line.packed, sum(n_scores))
            if len(scores) == n_scores[fold]:
                found[fold] = line.result(scores)
        self._n_taken += len(found)
        if of_name and not found:
            self._changed.append(model)
        return found

    def keep(self, model: str, fingerprint: str | None, fold: int, result: FoldResult) -> None:
        """Write a fit to the file, unless the model cannot be identified."""
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
        """Return remarks on the use of the file."""
        said = []
        if self._n_taken:
            said.append(f"{plural(self._n_taken, 'fit')} taken from {self._path}")
        if self._changed:
            said.append(
                f"fits of {listed(self._changed)} in {self._path} are of other parameters or"
                " versions, so they were done anew"
            )
        return said


def _parse(number: int, line: dict[str, Any]) -> _StoredFit:
    return _StoredFit(
        number,
        _checked(line["model"], str),
        _checked(line["fingerprint"], str),
        _checked(line["fold"], int),
        float(_checked(line["fit_seconds"], int, float)),
        float(_checked(line["score_seconds"], int, float)),
        None if line["n_bytes"] is None else _checked(line["n_bytes"], int),
        None if line["n_rules"] is None else _checked(line["n_rules"], int),
        base64.b64decode(_checked(line["scores"], str), validate=True),
    )


def _checked(value: Any, *kinds: type) -> Any:
    """Return a value after checking its type; numbers must be valid times or counts."""
    if type(value) not in kinds:
        raise TypeError(f"{type(value).__name__} in place of {listed([k.__name__ for k in kinds])}")
    if str not in kinds and not 0 <= value < _GREATEST:
        raise ValueError("a number is negative or too large")
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"it holds {constant}")


def _unpacked(packed: bytes, most: int) -> NDArray[np.float64]:
    """Return at most ``most`` scores: a few bytes could decompress to any number of them."""
    stream = zlib.decompressobj()
    unpacked = stream.decompress(packed, most * _SCORE.itemsize + 1)
    if len(unpacked) > most * _SCORE.itemsize:
        raise ValueError(f"it has more than {most:,} scores")
    if not stream.eof:
        raise ValueError("its scores are cut off")
    scores = np.frombuffer(unpacked, dtype=_SCORE).astype(np.float64)
    if np.isnan(scores).any():
        raise ValueError("a score is NaN")
    return scores
