"""Files that are there whole or not at all."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file that is either there whole or, on any failure, as it was before.

    Parameters
    ----------
    path : str or path-like
        Where to write; see `open_atomically`.
    content : str or bytes
        All of the file; text is written in UTF-8, its line breaks as they are.

    Raises
    ------
    OSError
        Of ``path``, if the file cannot be written, or its folder takes no new files.
    """
    with open_atomically(path) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


@contextmanager
def open_atomically(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to be written piece by piece, which is there whole or as it was before.

    A link is followed: what it leads to is replaced. A file that is replaced keeps its mode and,
    where that is allowed, its owner; a new one gets those of any new file. What is no regular
    file, such as a pipe or ``/dev/stdout``, cannot be replaced and is written to as it is.

    Parameters
    ----------
    path : str or path-like
        Where to write.

    Raises
    ------
    OSError
        Of ``path``, if the file cannot be written, or its folder takes no new files.
    """
    try:
        old: os.stat_result | None = os.stat(path)
    except FileNotFoundError:
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode):
        with open(path, "wb") as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    # A name of its own rather than one made of the target's, which may be as long as names can be.
    scratch = target.with_name(f".aucrank-{secrets.token_hex(8)}.tmp")
    try:
        with _new_file(scratch, old) as file:
            yield file
        scratch.replace(target)
    except BaseException as error:
        # OSError, too: what stopped the writing may keep the file from being removed.
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            # The name of the scratch file tells the user nothing.
            raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error
        raise


@contextmanager
def _new_file(path: Path, like: os.stat_result | None) -> Iterator[BinaryIO]:
    """Open a new file, which goes down to the disk, with the mode and the owner of another one."""
    # Nobody may read in the meantime what nobody could read before.
    mode = 0o666 if like is None else 0o600
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags, mode), "wb") as file:
        if like is not None:
            _take_after(path, like)
        yield file
        file.flush()
        os.fsync(file.fileno())


def _take_after(path: Path, like: os.stat_result) -> None:
    mine = path.stat()
    if (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
        # Only the superuser gives files away; others at most change the group.
        with suppress(OSError):
            os.chown(path, like.st_uid, like.st_gid)
    # After the owner, whose change takes bits away.
    path.chmod(stat.S_IMODE(like.st_mode))
