"""Optional packages, imported on first use."""

from importlib import import_module
from typing import Any


def import_extra(module: str, extra: str, caller: str) -> Any:
    """Return a module of a package that an extra installs.

    Parameters
    ----------
    module : str
        Its name.
    extra : str
        The extra of aucrank.
    caller : str
        What needs it, for the message.

    Raises
    ------
    ImportError
        If the package is not installed.
    """
    try:
        return import_module(module)
    except ImportError as err:
        package = module.partition(".")[0]
        raise ImportError(
            f"{caller} needs {package}: run `pip install 'aucrank[{extra}]'`"
        ) from err
