"""The command line: `aucrank`, or `python -m aucrank`.

One command a file. Each has `add_parser`, which says what it takes, and `run`, which does it and
returns the exit status: 0 if all went well, 1 if files or data are at fault, 2 if the command line
is. An error is one line on the standard error stream.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn

from aucrank import __version__
from aucrank.cli import compare, demo, describe, evaluate, fit, score
from aucrank.cli._errors import CommandError, UsageError, one_line

__all__ = ["main"]


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and are raised rather than exited with."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def _build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="aucrank",
        description="Learn to rank positives above negatives by maximising the area under the ROC "
        "curve, with models that a person can read.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"aucrank {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (demo, compare, fit, score, evaluate, describe):
        command.add_parser(commands)
    return parser


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
            args = _build_parser().parse_args(argv)
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
