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
        with _errors_of(path), open(path, "wb") as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    # A name of its own rather than one made of the target's, which may be as long as names can be.
    scratch = target.with_name(f".aucrank-{secrets.token_hex(8)}.tmp")
    try:
        with _errors_of(path, scratch):
            with _new_file(scratch, old) as file:
                yield file
            scratch.replace(target)
    except BaseException:
        # OSError, too: what stopped the writing may keep the file from being removed.
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise


@contextmanager
def _errors_of(path: str | os.PathLike[str], scratch: Path | None = None) -> Iterator[None]:
    """Let errors of the file system that name no file, or one of ours, name the user's."""
    try:
        yield
    except OSError as error:
        named = error.filename
        if error.errno is None or named not in (None, scratch and str(scratch), os.fspath(path)):
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error


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
