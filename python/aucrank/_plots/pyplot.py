"""matplotlib, imported when a picture is asked for."""

from typing import Any

import numpy as np

from aucrank._utils.extras import import_extra


def import_pyplot(caller: str) -> Any:
    """Return ``matplotlib.pyplot``.

    Parameters
    ----------
    caller : str
        What needs it, for the message.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    return import_extra("matplotlib.pyplot", "plot", caller)


def given_axes(ax: Any, n: int, what: str) -> tuple[list[Any], Any]:
    """Return the axes that a caller has given to draw on, and their figure.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or a sequence of them
        What was given.
    n : int
        How many there have to be.
    what : str
        What will be drawn on them, for the message.

    Raises
    ------
    ValueError
        If there are more or fewer.
    """
    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(axes) != n:
        raise ValueError(f"there are {n} {what} to draw but {len(axes)} axes")
    return axes, axes[0].figure
