"""Base of models of other libraries as fitted rankers."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from aucrank._base.made_ranker import MadeRanker
from aucrank._data.schema import Feature, Schema
from aucrank._export.links import AboveHalf, Link, LogOdds
from aucrank._utils.numbers import rounded


def _has_probability(ranker: "ImportedRanker") -> bool:
    """Return whether scores have probabilities, which an unfitted ranker may turn out to have."""
    return not ranker.__sklearn_is_fitted__() or ranker._link_of_scores() != "none"


class ImportedRanker(MadeRanker):
    """Base of models of other libraries: their scores, and what these say of probabilities."""

    def __init__(self, *, source: str = "", n_jobs: int | None = None) -> None:
        self.source = source
        self.n_jobs = n_jobs

    @abstractmethod
    def _link_of_scores(self) -> Any:
        """Return what the scores say of probabilities; see `ImportedLink` in the core."""

    @available_if(_has_probability)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class, as the other library does.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the columns of the model.

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Columns in the order of ``classes_``; the second is above 1/2 exactly where `predict`
            is positive.
        """
        return super().predict_proba(X)

    def _link(self) -> Link | None:
        match self._link_of_scores():
            case "above_half":
                return AboveHalf()
            case {"log_odds": slope}:
                return LogOdds(slope)
        return None

    def _said_of_probabilities(self) -> str:
        match self._link_of_scores():
            case "above_half":
                return ": the probability, less one half"
            case {"log_odds": 1.0}:
                return "; in log-odds"
            case {"log_odds": slope}:
                return f"; log-odds are {rounded(slope)} of it"
        return "; it ranks, and has no probability"


_Imported = TypeVar("_Imported", bound=ImportedRanker)


def imported(
    cls: type[_Imported],
    model: Any,
    features: Sequence[Feature],
    source: str,
    classes: ArrayLike | None = None,
) -> _Imported:
    """Return a fitted ranker around a model of the core.

    Parameters
    ----------
    cls : type
        Its class, which is that of the model's family.
    model : _core.ImportedTrees or _core.ImportedLinear
        The model.
    features : sequence of Feature
        Its columns.
    source : str
        What it was before.
    classes : array-like of shape (2,) or None
        Its labels; None for 0 and 1.
    """
    ranker = cls(source=source)
    labels = np.array([0, 1] if classes is None else classes)
    ranker._set_fitted(labels, Schema(tuple(features)), model)
    return ranker
