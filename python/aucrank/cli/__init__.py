"""The command line: `aucrank`, or `python -m aucrank`.

`_parser` defines the arguments of each command. The module with the name of a command has its
`run`, and is imported when it is called; it returns the exit status: 0 on success, 1 for bad files
or data, 2 for a bad command line. An error is one line on the standard error stream.
"""

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from aucrank._utils.warn import ReadingNote
from aucrank.cli._errors import CommandError, complain, reason_of
from aucrank.cli._garbage import leave_garbage
from aucrank.cli._notes import Notes
from aucrank.cli._outputs import refuse_inputs
from aucrank.cli._parser import build_parser
from aucrank.cli._signals import ending_signals
from aucrank.cli._text import plain_output

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the program's name; those of the process by default.

    Returns
    -------
    status : int
        0: success. 1: a file or the data in it cannot be used, a model failed in `compare`, or the
        output could not be written. 2: the command line is invalid. 129, 130, 143: ended by SIGHUP,
        Ctrl-C or SIGTERM. 141: the reader of the output has closed it.

    Raises
    ------
    SystemExit
        With status 0, after ``--help`` or ``--version``.

    Examples
    --------
    >>> from aucrank.cli import main
    >>> main(["describe", "absent.json"])
    1
    """
    if sys.stdout is None:
        complain("error: there is no standard output stream to write to")
        return 1
    try:
        with ending_signals() as ended:
            try:
                status = _run(argv)
            finally:
                # Errors of the output show here, and not at exit.
                sys.stdout.flush()
    except KeyboardInterrupt:
        complain(ended.says)
        return ended.status
    except BrokenPipeError:
        # The reader (such as `| head`) has closed the pipe. The status is that of a program ended
        # by this signal in a shell.
        _abandon_output()
        return 141
    except OSError as error:
        _abandon_output()
        if ended.number is not None:
            # If the terminal is gone, so are its streams.
            return ended.status
        what = "standard output stream" if error.filename is None else error.filename
        complain(f"error: {what}: {reason_of(error)}")
        return 1
    if argv is None:
        # The arguments are those of the process, which ends now.
        leave_garbage()
    return status


def _run(argv: Sequence[str] | None) -> int:
    """Run one command; return its status, or raise the error of its output."""
    try:
        args = build_parser().parse_args(argv)
        notes = args.notes = Notes(in_full=bool(getattr(args, "verbose", 0)))
        with warnings.catch_warnings():
            warnings.showwarning = _warner(notes)
            if getattr(args, "quiet", False):
                warnings.simplefilter("ignore", ReadingNote)
            refuse_inputs(args)
            try:
                with plain_output(before=notes.show):
                    status: int = args.run(args)
            finally:
                notes.show()
            return status
    except CommandError as error:
        complain(f"error: {error}")
        return error.status
    except MemoryError as error:
        complain(f"error: {str(error) or 'out of memory'}")
        return 1


def _warner(notes: Notes) -> Callable[..., None]:
    """Return a function that shows each warning once, in one line: models may repeat them."""
    printed: set[str] = set()

    def warn(message: Warning | str, category: type[Warning], *_: Any) -> None:
        # The code that warns has imported the slow modules already.
        from aucrank._data.column_warnings import ColumnWarning

        text = str(message)
        if isinstance(message, ReadingNote):
            if text not in printed:
                printed.add(text)
                notes.add(message)
            return
        if issubclass(category, ColumnWarning):
            text += (
                " Here, --drop leaves a column out, --categorical says what it holds, --missing"
                " what stands for no value, and --decimal which mark numbers have."
            )
        if text not in printed:
            printed.add(text)
            notes.show()
            complain(f"warning: {text}")

    return warn


def _abandon_output() -> None:
    """Discard what is still buffered: it must not raise at exit."""
    # A stream replaced by a test has no file number.
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
