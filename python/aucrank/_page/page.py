"""Parts of a page, and the HTML file that they are written to."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from aucrank._core import __version__
from aucrank._page.tables import ModelPart, View
from aucrank._utils.extras import import_extra
from aucrank._utils.plain_text import escaped

if TYPE_CHECKING:
    from aucrank._report.charts.chart import Chart

_TEMPLATES = "templates"


@dataclass(frozen=True, slots=True)
class Collapsed:
    """Collapsed tables.

    Attributes
    ----------
    title : str
        Heading of the tables.
    tables : list of View
        The tables.
    """

    title: str
    tables: list[View]


@dataclass(slots=True)
class Chapter:
    """A chapter of the page.

    Attributes
    ----------
    anchor : str
        Name in links.
    title : str
        The heading.
    text : str
        One or two sentences on how to read it.
    charts : list of Chart
        Pictures, side by side where there is room.
    tables : list of View
        Tables.
    folds : list of Collapsed
        Collapsed tables.
    parts : list of ModelPart
        Parts of a model's own description.
    subchapters : list of Chapter
        Chapters one level below.
    is_small : bool
        Whether the pictures are small.
    """

    anchor: str
    title: str
    text: str = ""
    charts: list[Chart] = field(default_factory=list)
    tables: list[View] = field(default_factory=list)
    folds: list[Collapsed] = field(default_factory=list)
    parts: list[ModelPart] = field(default_factory=list)
    subchapters: list[Chapter] = field(default_factory=list)
    is_small: bool = False


def import_jinja(caller: str = "report") -> Any:
    """Return ``jinja2``; raise ImportError if it is not installed."""
    return import_extra("jinja2", "report", caller)


def render(
    *,
    title: str,
    timestamp: datetime | None,
    summary: Sequence[str],
    cautions: Sequence[str],
    headline: View,
    chapters: Sequence[Chapter],
    limits: Sequence[str],
) -> str:
    """Write a page.

    Parameters
    ----------
    title : str
        Its heading.
    timestamp : datetime or None
        Time stamp of the page.
    summary : sequence of str
        Summary in words, by paragraph.
    cautions : sequence of str
        Warnings to show first.
    headline : View
        Table of the summary.
    chapters : sequence of Chapter
        Chapters of the page.
    limits : sequence of str
        How to read it.
    """
    jinja2 = import_jinja()
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_plain,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = _read("page.js")
    page: str = environment.get_template("page.html.j2").render(
        title=title,
        policy=content_policy(script),
        style=Markup(_read("page.css")),
        script=Markup(script),
        version=__version__,
        timestamp=timestamp,
        summary=summary,
        cautions=cautions,
        headline=headline,
        chapters=chapters,
        limits=limits,
    )
    return page


def content_policy(script: str | None = None) -> str:
    """Return the policy of a page: inline styles and one script, if any; nothing external."""
    allowed = ""
    if script is not None:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        allowed = f" script-src 'sha256-{digest}';"
    return (
        f"default-src 'none'; style-src 'unsafe-inline';{allowed} base-uri 'none';"
        " form-action 'none'"
    )


def _plain(value: Any) -> Any:
    """Escape control characters: names and levels are untrusted."""
    # Output of the templates themselves is Markup.
    return escaped(value) if type(value) is str else value


def _read(name: str) -> str:
    return files("aucrank._page").joinpath(_TEMPLATES, name).read_text(encoding="utf-8")
