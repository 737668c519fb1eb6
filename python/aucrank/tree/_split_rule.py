"""Interface of the split rules of a ranking tree."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from aucrank._base.fit_context import ParamScope
from aucrank._utils.keywords import SuggestsKeywords


class SplitRule(SuggestsKeywords, ABC, BaseEstimator):
    """How the nodes of a ranking tree are split: the base of all rules."""

    # Whether `PenalizedPruning` has a penalty for it.
    _has_penalty: ClassVar[bool] = False

    @abstractmethod
    def _core_params(self, scope: ParamScope) -> Any:
        """Return the rule in the form of the core, with its parameters checked.

        Parameters
        ----------
        scope : ParamScope
            Context of the parameters: that of the tree.

        Raises
        ------
        ValueError
            If a parameter is not valid, or if features are to be drawn and the rule cannot.
        """

    def _node_classifier(self) -> Any:
        """Return the estimator to clone and fit in each node; None if the core does the split."""
        return None
