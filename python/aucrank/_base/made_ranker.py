"""Base of rankers that are made of fitted models."""

from typing import Any, ClassVar, NoReturn

from numpy.typing import ArrayLike

from aucrank._base.fit_context import FitContext
from aucrank._base.ranker import BaseRanker, ProbabilityMixin


class MadeRanker(ProbabilityMixin, BaseRanker):
    """Base of rankers that come fitted: they score, explain and export, but cannot be fitted."""

    #: Why not, and what to do instead.
    _refusal: ClassVar[str]

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
        gap: Any = None,
    ) -> NoReturn:
        """Raise an error: the model was fitted before.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Not used.
        y : array-like of shape (n,)
            Not used.
        sample_weight : array-like of shape (n,), default=None
            Not used.
        groups : array-like of shape (n,), default=None
            Not used.
        time : array-like of shape (n,), default=None
            Not used.
        gap : float, timedelta or None, default=None
            Not used.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError(self._refusal)

    def _fit_model(self, context: FitContext) -> NoReturn:
        self.fit(None)
