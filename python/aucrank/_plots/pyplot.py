"""Lazy import of matplotlib."""

from typing import Any

import numpy as np

from aucrank._utils.extras import import_extra


def import_pyplot(caller: str) -> Any:
    """Return ``matplotlib.pyplot``.

    Parameters
    ----------
    caller : str
        Name of the caller, for the message.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    return import_extra("matplotlib.pyplot", "plot", caller)


def given_axes(ax: Any, n: int, what: str) -> tuple[list[Any], Any]:
    """Return the axes passed to draw on, and their figure.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or a sequence of them
        The argument.
    n : int
        Required number of axes.
    what : str
        Description of the plot, for the message.

    Raises
    ------
    ValueError
        If there are more or fewer.
    """
    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(axes) != n:
        raise ValueError(f"there are {n} {what} to draw but {len(axes)} axes")
    return axes, axes[0].figure
