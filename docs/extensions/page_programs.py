"""Programs of the guides: what a page runs, what that prints, and the pictures that it draws.

Blocks of Python and of the console of a page are one program, in a folder of its own. A block of
text right behind Python is what it prints, from the first line on. In a console block, lines behind
"$ " are commands of `aucrank`, the others what they print; "..." stands for anything. The figure
that a block leaves is the picture behind it, if there is one of `pictures/`.

A number that begins the comment after an expression is its value, as far as it is written out.
What a page prints and these numbers are compared with what runs. That happens when the site is
built for pages that draw pictures, and in the tests for all others. When the site is built, a
script of `drawings/` draws the picture of its name next to it, too.
"""

import ast
import contextlib
import doctest
import io
import os
import re
import runpy
import shlex
import shutil
import tempfile
import tokenize
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

DOCS = Path(__file__).parents[1]
PICTURES = DOCS / "pictures"
DRAWINGS = DOCS / "drawings"
NUMBER = re.compile(r"#\s*(-?\d+(?:\.(\d+))?)(?![\w.])")
FENCE = re.compile(r"^```(\{image\} )?(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """Part of a program: where it begins, what it is, prints and draws."""

    line: int
    language: str
    code: str
    printed: str | None = None
    picture: str | None = None


def blocks(text):
    """Return the blocks of the program of a page."""
    found = []
    end = None
    for fence in FENCE.finditer(text):
        is_image, what, code = fence.groups()
        follows = end is not None and not text[end : fence.start()].strip()
        end = fence.end()
        if is_image and follows and what.startswith("pictures/"):
            found[-1] = found[-1]._replace(picture=Path(what).name)
        elif what in ("python", "console"):
            found.append(Block(text.count("\n", 0, fence.start()) + 1, what, code))
        elif what == "text" and follows and found[-1].language == "python":
            found[-1] = found[-1]._replace(printed=code)
        else:
            end = None
    return found


def commands(code):
    """Return each command of a console block, and what it is said to print."""
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command = re.match(r"(?:.*\\\n)*.*\n", part).group()
        yield command.replace("\\\n", ""), part.removeprefix(command)


def run_command(command):
    """Run a command of `aucrank`; return what it prints on both streams."""
    from aucrank.cli import main

    program, *arguments = shlex.split(command, comments=True)
    if program != "aucrank":
        raise ValueError(f"{command!r} is no command of aucrank")
    printed = io.StringIO()
    # The command shows warnings itself: those that Python shows by default, from any caller.
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        for hidden in (DeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", hidden)
        status = main(arguments)
    if status:
        raise RuntimeError(f"{command!r} ended with status {status}: {printed.getvalue()}")
    return printed.getvalue().replace(os.sep, "/")


def drawn_pages():
    """Return the pages whose programs draw pictures."""
    return [
        page
        for page in sorted(DOCS.glob("*.md"))
        if any(block.picture for block in blocks(page.read_text("utf-8")))
    ]


def _comments(code):
    """Return the comment of each line that has one."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}


def _check_commands(code, where):
    """Run the commands of a console block; compare what they print."""
    loosely = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for command, wanted in commands(code):
        printed = run_command(command)
        if not doctest.OutputChecker().check_output(wanted, printed, loosely):
            raise AssertionError(f"{where}: {command}{printed}")


def _check_statements(code, names, where):
    """Run the statements of a block; compare the values that its comments tell."""
    said = _comments(code)
    for statement in ast.parse(code).body:
        number = NUMBER.match(said.get(statement.end_lineno, ""))
        if isinstance(statement, ast.Expr) and number:
            value = eval(compile(ast.Expression(statement.value), where, "eval"), names)
            first = float(np.ravel(value)[0])
            if round(first, len(number[2] or "")) != float(number[1]):
                raise AssertionError(f"{where}: {ast.unparse(statement)} is {first}")
        else:
            exec(compile(ast.Module([statement], []), where, "exec"), names)


def check_block(block, names, where):
    """Run a block; compare what it prints with what the page says."""
    if block.language == "console":
        _check_commands(block.code, where)
        return
    output = io.StringIO()
    with contextlib.redirect_stdout(output), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _check_statements(block.code, names, where)
    if block.printed is not None:
        printed = [row.rstrip() for row in output.getvalue().splitlines()]
        wanted = [row.rstrip() for row in block.printed.splitlines()]
        if printed[: len(wanted)] != wanted:
            raise AssertionError(f"{where} prints\n{output.getvalue()}")


def _draw_page(page, plt):
    """Run and check the program of a page, and keep its pictures."""
    names = {}
    for block in blocks(page.read_text("utf-8")):
        check_block(block, names, f"{page.name}, line {block.line}")
        if block.picture:
            plt.savefig(PICTURES / block.picture)
        plt.close("all")


def draw(_):
    """Draw the pictures of all pages and of the scripts in `drawings/`."""
    import matplotlib.pyplot as plt

    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir()
    plt.switch_backend("agg")
    style = {"savefig.dpi": 100, "savefig.bbox": "tight"}
    with plt.rc_context(style), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for script in sorted(DRAWINGS.glob("*.py")):
            runpy.run_path(str(script))
            plt.savefig(script.with_suffix(".png"))
            plt.close("all")
        for page in drawn_pages():
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                _draw_page(page, plt)


def setup(app):
    """Let Sphinx know of it."""
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
