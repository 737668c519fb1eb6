"""Atomic writing of files, and locks."""

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file atomically: on any failure it stays as it was before.

    Parameters
    ----------
    path : str or path-like
        Where to write; see `open_atomically`.
    content : str or bytes
        All of the file; text is encoded as UTF-8, with its line breaks unchanged.

    Raises
    ------
    OSError
        If the file cannot be written, or its folder takes no new files; names ``path``.
    """
    with open_atomically(path) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


@contextmanager
def open_atomically(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to be written piece by piece, which replaces ``path`` when complete.

    Symbolic links are followed: the target is replaced. A replaced file keeps its mode and, where
    permitted, its owner; a new one gets the defaults. Anything but a regular file, such as a pipe
    or ``/dev/stdout``, cannot be replaced and is written to directly.

    Parameters
    ----------
    path : str or path-like
        Where to write.

    Raises
    ------
    OSError
        If the file cannot be written, or its folder takes no new files; names ``path``.
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
    # Not derived from the name of the target, which may have the maximal length.
    scratch = target.with_name(f".aucrank-{secrets.token_hex(8)}.tmp")
    try:
        with _errors_of(path, scratch):
            with _new_file(scratch, old) as file:
                yield file
            scratch.replace(target)
    except BaseException:
        # OSError, too: the cause of the failed write may also prevent the removal.
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise


@contextmanager
def _errors_of(path: str | os.PathLike[str], scratch: Path | None = None) -> Iterator[None]:
    """Make errors of the file system that name no file, or our scratch file, name the user's."""
    try:
        yield
    except OSError as error:
        named = error.filename
        if error.errno is None or named not in (None, scratch and str(scratch), os.fspath(path)):
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error


@contextmanager
def _new_file(path: Path, like: os.stat_result | None) -> Iterator[BinaryIO]:
    """Open a new file, synced to disk, with the mode and the owner of another one."""
    # Until then, nobody may read what was not readable before.
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
        # Only the superuser can change the owner; others at most the group.
        with suppress(OSError):
            os.chown(path, like.st_uid, like.st_gid)
    # After the owner, because changing it clears bits.
    path.chmod(stat.S_IMODE(like.st_mode))


class FileLock:
    """A lock on a file, which no other process and no other lock of this one can have.

    It ends with `release`, or with the process, however that ends.

    Parameters
    ----------
    path : str or path-like
        The file; it is created if there is none, and nobody else may read it.

    Attributes
    ----------
    is_held : bool
        Whether the file is locked by this, and not by another one.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._descriptor = os.open(path, flags, 0o600)
        self.is_held = _lock(self._descriptor)
        if not self.is_held:
            os.close(self._descriptor)

    def release(self) -> None:
        """Unlock the file."""
        if self.is_held:
            self.is_held = False
            # A process that was forked meanwhile has the same lock.
            _unlock(self._descriptor)
            os.close(self._descriptor)


if sys.platform == "win32":
    import msvcrt

    #: A byte that no file has: Windows would not let others read one that is locked.
    _BEYOND = 1 << 62

    def _lock(descriptor: int) -> bool:
        os.lseek(descriptor, _BEYOND, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, _BEYOND, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            # A file system without locks, such as some network mounts.
            return True
        return True

    def _unlock(descriptor: int) -> None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
