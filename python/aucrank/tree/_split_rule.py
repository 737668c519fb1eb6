"""What a ranking tree asks of every split rule."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from sklearn.base import BaseEstimator


class SplitRule(ABC, BaseEstimator):
    """How the nodes of a ranking tree are split: the base of all rules."""

    # Whether `PenalizedPruning` has a penalty for it.
    _has_penalty: ClassVar[bool] = False

    @abstractmethod
    def _core_params(self, min_samples_leaf: int, max_features: int | None) -> Any:
        """Return the rule as the core takes it, its parameters checked.

        Parameters
        ----------
        min_samples_leaf : int
            Rows that each side of a split of the tree keeps.
        max_features : int or None
            Features drawn for each stump; None for all.

        Raises
        ------
        ValueError
            If a parameter is not valid, or if the rule draws no features and is to do so.
        """

    def _node_classifier(self) -> Any:
        """Return what is cloned and fitted in each node; None where the core splits it alone."""
        return None
