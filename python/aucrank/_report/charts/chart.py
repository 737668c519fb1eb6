"""A chart as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from aucrank._report.charts.scale import LinearScale, Tick

#: Styles of the page for everything but models: chance, limits, hulls.
QUIET = "quiet"


def slot(place: int) -> str:
    """Return the style of a model by its place among the models."""
    return f"s{place + 1}"


@dataclass(frozen=True, slots=True)
class Stroke:
    """A curve or an area.

    Attributes
    ----------
    path : str
        Its SVG path.
    style : str
        The class of its colours and dashes.
    is_area : bool
        Whether it is filled and not drawn.
    is_thin : bool
        Whether it is drawn less prominently.
    """

    path: str
    style: str
    is_area: bool = False
    is_thin: bool = False


@dataclass(frozen=True, slots=True)
class Dot:
    """A point, perhaps with an interval.

    Attributes
    ----------
    x, y : float
        Its place.
    style : str
        The class of its colours.
    text : str
        Tooltip.
    low, high : float or None
        Places of the ends of a vertical interval.
    """

    x: float
    y: float
    style: str
    text: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A vertical line with a label.

    Attributes
    ----------
    x : float
        Position.
    text : str
        Label.
    """

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class Key:
    """A line of the legend.

    Attributes
    ----------
    text : str
        Label.
    style : str
        Class of its colours and dashes.
    is_area : bool
        Whether it is an area.
    """

    text: str
    style: str
    is_area: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """One of the two axes.

    Attributes
    ----------
    label : str
        Label of the axis.
    ticks : list of Tick
        Marks with their texts.
    is_tilted : bool
        Whether the texts are tilted, for lack of room.
    """

    label: str
    ticks: list[Tick]
    is_tilted: bool = False


@dataclass(slots=True)
class Chart:
    """A chart.

    Attributes
    ----------
    title : str
        Title.
    alt : str
        Alternative text for screen readers.
    x, y : Axis
        The axes.
    frame : Frame
        Position of the axes.
    strokes, dots, marks, keys : list
        Elements of the chart, and the legend.
    """

    title: str
    alt: str
    x: Axis
    y: Axis
    frame: Frame
    strokes: list[Stroke] = field(default_factory=list)
    dots: list[Dot] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Frame:
    """The size of a picture, and its margins for the texts of the axes."""

    width: int
    height: int
    left: int = 58
    right: int = 20
    top: int = 12
    bottom: int = 46

    def across(self, low: float, high: float, *, is_share: bool = False) -> LinearScale:
        """Return the scale of the horizontal axis."""
        return LinearScale(low, high, self.left, self.width - self.right, is_share)

    def up(self, low: float, high: float, *, is_share: bool = False) -> LinearScale:
        """Return the scale of the vertical axis."""
        return LinearScale(low, high, self.height - self.bottom, self.top, is_share)

    @property
    def base(self) -> int:
        """Place of the horizontal axis."""
        return self.height - self.bottom


#: For most charts; as wide as a phone, so that texts keep their size there.
WIDE = Frame(400, 300)

#: For charts with equal axes.
SQUARE = Frame(400, 392)

#: For charts shown next to many others.
SMALL = Frame(300, 236, left=56, bottom=68)

#: For wide charts with tilted names below.
TILTED = Frame(400, 320, bottom=84)


def model_keys(names: Sequence[str]) -> list[Key]:
    """Return the legend of one curve for each model."""
    return [Key(name, slot(place)) for place, name in enumerate(names)]
