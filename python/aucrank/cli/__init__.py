"""The command line: `aucrank`, or `python -m aucrank`.

What each command takes is said in `_parser`. What it does is `run` of the file that has its name,
which is imported when it is called; it returns the exit status: 0 if all went well, 1 if files or
data are at fault, 2 if the command line is. An error is one line on the standard error stream.
"""

import os
import sys
import warnings
from collections.abc import Sequence

from aucrank.cli._errors import CommandError, one_line
from aucrank.cli._parser import build_parser

__all__ = ["main"]


def _warn(message: Warning | str, *_: object) -> None:
    print(f"aucrank: warning: {one_line(message)}", file=sys.stderr)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the program's name; those of the process by default.

    Returns
    -------
    status : int
        0: done. 1: a file or the data in it cannot be used, or a model failed in `compare`.
        2: the command line is wrong. 130: interrupted.

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
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn  # type: ignore[assignment]
            args = build_parser().parse_args(argv)
            status: int = args.run(args)
            sys.stdout.flush()
            return status
    except CommandError as error:
        print(f"aucrank: error: {one_line(error)}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print("aucrank: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (`| head`) has all it wants. What is still buffered must not raise at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
