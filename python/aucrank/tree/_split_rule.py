"""What a ranking tree asks of every split rule."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from aucrank._base.fit_context import ParamScope


class SplitRule(ABC, BaseEstimator):
    """How the nodes of a ranking tree are split: the base of all rules."""

    # Whether `PenalizedPruning` has a penalty for it.
    _has_penalty: ClassVar[bool] = False

    @abstractmethod
    def _core_params(self, scope: ParamScope) -> Any:
        """Return the rule as the core takes it, its parameters checked.

        Parameters
        ----------
        scope : ParamScope
            What they are read by: that of the tree.

        Raises
        ------
        ValueError
            If a parameter is not valid, or if the rule draws no features and is to do so.
        """

    def _node_classifier(self) -> Any:
        """Return what is cloned and fitted in each node; None where the core splits it alone."""
        return None
