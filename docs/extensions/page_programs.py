"""Programs of the guides: what a page runs, what that prints, and the pictures that it draws.

Blocks of Python and of the console of a page are one program, in a folder of its own. A block of
text right behind Python is what it prints, from the first line on. In a console block, lines behind
"$ " are commands of `aucrank`, the others what they print; "..." stands for anything. The figure
that a block leaves is the picture behind it, if there is one of `pictures/`.

When the site is built, these pictures are drawn, by the Python of the page alone; and a script of
`drawings/` draws the picture of its name next to it. Tests run all of a page and compare what it
prints.
"""

import contextlib
import io
import os
import re
import runpy
import shlex
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parents[1]
PICTURES = DOCS / "pictures"
DRAWINGS = DOCS / "drawings"
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


def _draw_page(page, plt):
    """Run the program of a page up to its last picture, and keep all of them."""
    program = [block for block in blocks(page.read_text("utf-8")) if block.language == "python"]
    while program and program[-1].picture is None:
        program.pop()
    names = {}
    for block in program:
        exec(compile(block.code, f"{page.name}, line {block.line}", "exec"), names)
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
        for page in sorted(DOCS.glob("*.md")):
            with (
                tempfile.TemporaryDirectory() as folder,
                contextlib.chdir(folder),
                contextlib.redirect_stdout(io.StringIO()),
            ):
                _draw_page(page, plt)


def setup(app):
    """Let Sphinx know of it."""
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
