"""Learning to rank by maximising the area under the ROC curve."""

try:
    from aucrank._core import ModelFormatError, __version__
except ModuleNotFoundError as error:
    if error.name != "aucrank._core":
        raise
    raise ImportError(
        "aucrank is not compiled here: run `make build` in the checkout (it installs into .venv), "
        "or `maturin develop --release` in an environment of your own"
    ) from error

from aucrank._persistence import load
from aucrank._show_versions import show_versions
from aucrank.tree import TreeRank

__all__ = ["ModelFormatError", "TreeRank", "__version__", "load", "show_versions"]
