"""Files of the answers of rows to a fit, which goes on from them after it was interrupted."""

import hashlib
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from aucrank import _core
from aucrank._data.data_files import PathLike
from aucrank._utils.files import FileLock
from aucrank.data._stored import UnloggedRows


@contextmanager
def logged_rows(
    rows: UnloggedRows,
    folder: PathLike,
    name: str,
    identity: dict[str, Any],
    n_threads: int,
) -> Iterator[_core.LoggedRows]:
    """Keep the answers of rows to a fit in a file, and give those that it has.

    Parameters
    ----------
    rows : UnloggedRows
        The rows.
    folder : path-like
        Folder of the file; created if there is none.
    name : str
        Begins the name of the file.
    identity : dict
        What distinguishes the fit from others: the file of a second one with the same is the same.
    n_threads : int
        At least 1.

    Yields
    ------
    LoggedRows
        They query the rows for answers that the file lacks.

    Raises
    ------
    OSError
        If the file cannot be written or read.
    ValueError
        If it has the answers of other rows or of another version, or is damaged.
    """
    written = json.dumps(identity, sort_keys=True).encode()
    stem = f"{name}-{hashlib.blake2b(written, digest_size=8).hexdigest()}"
    Path(folder).mkdir(parents=True, exist_ok=True)
    # Equal fits at the same time have files of their own. Which is whose does not matter: they get
    # the same answers.
    for number in count(1):
        path = Path(folder) / f"{stem if number == 1 else f'{stem}-{number}'}.answers"
        lock = FileLock(path)
        if lock.is_held:
            break
    try:
        yield _core.LoggedRows(rows, path, secrets.randbits(63), n_threads)
    finally:
        lock.release()
