"""matplotlib, imported when a picture is asked for."""

from typing import Any


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
    try:
        import matplotlib.pyplot as plt
    except ImportError as err:
        raise ImportError(f"{caller} needs matplotlib: run `pip install 'aucrank[plot]'`") from err
    return plt
