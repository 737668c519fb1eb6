"""Splitting a node by any classifier."""

from typing import Any

from aucrank._base.external import check_has_methods, check_takes_weights
from aucrank._base.fit_context import ParamScope
from aucrank.tree._split_rule import SplitRule


class WeightedERM(SplitRule):
    """Split a node by a classifier that is fitted to its rows.

    The best split of a node is where the share of positives exceeds that of the node, and that
    region is the best classifier under the cost that gives both classes the same weight
    (Proposition 5 and Fig. 6 of [1]_). So a clone of the classifier is fitted to the rows of the
    node, with the share of positives in the node as the weight of a negative row and the share of
    negatives as that of a positive row, times ``sample_weight``; the rows that it calls positive
    become the side that ranks first. If that would lose AUC, the other rows do; if neither gains,
    the node is a leaf.

    Parameters
    ----------
    classifier : estimator
        A scikit-learn classifier whose ``fit`` takes ``sample_weight``, or a
        `~sklearn.pipeline.Pipeline` whose last step does. It is cloned, never fitted itself. Its
        labels are the integers 0 and 1. It receives rows of ``X`` unchanged: those of a data frame
        as a data frame of the same library, anything else as an array. It has to handle missing
        values itself. Each ``random_state`` that it has, also in its parts, is set from that of
        `TreeRank`.

    See Also
    --------
    LeafRank : Splits by a tree of stumps, which can be saved to a file and written as SQL.

    Notes
    -----
    A split takes one fit, and one more for each fold of the pruning: choose a fast classifier.
    ``min_samples_split`` of `TreeRank` keeps it from nodes that are too small to learn from.
    ``max_bins`` does not apply.

    The tree does not depend on ``n_jobs``. Weight k equals k copies of a row, and the order of rows
    does not matter, up to the rounding of the classifier.

    ``save`` cannot store such a tree, since a file of aucrank never holds code; pickle and joblib
    can, with its classifiers.

    References
    ----------
    .. [1] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Mach. Learn. 83, 2011, sec. 3.3. https://hal.science/hal-00416054

    Examples
    --------
    An oblique boundary, which no stump can represent:

    >>> import numpy as np
    >>> from aucrank.tree import TreeRank, WeightedERM
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> split = WeightedERM(LogisticRegression(C=1e6))
    >>> tree = TreeRank(split=split, max_depth=1, pruning=None).fit(X, y).tree_
    >>> tree
    RankingTree(n_leaves=2, depth=1, auc=1.0000)
    >>> tree.nodes["rule"][0]
    'LogisticRegression #0 says positive'
    >>> bool(np.allclose(*tree.classifiers[0].coef_[0], rtol=0.1))
    True
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def _node_classifier(self) -> Any:
        return self.classifier

    def _core_params(self, scope: ParamScope) -> str:
        if scope.max_features is not None:
            raise ValueError(
                "max_features draws features for stumps; the classifier of WeightedERM sees all"
                " columns, so max_features must be None"
            )
        name = "classifier of WeightedERM"
        check_has_methods(self.classifier, name, ("fit", "predict", "get_params"))
        check_takes_weights(self.classifier, name)
        return "classifier"
