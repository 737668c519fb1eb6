"""Learning to rank by maximising the area under the ROC curve."""

from aucrank._core import __version__

__all__ = ["__version__"]
