"""How a grown ranking tree is pruned."""

from typing import Any

from sklearn.base import BaseEstimator

from aucrank._params import check_bool, check_int
from aucrank._persistence import persistable


@persistable
class CrossValidatedPruning(BaseEstimator):
    """Choose the size of a ranking tree by cross-validating the price of a leaf.

    The subtrees that are best for some price form a nested path (Theorem 3 of [1]_). For each fold
    a tree is grown without it, pruned at each price of the path and scored on the fold; the price
    of the largest mean AUC is kept, the smallest tree among equals.

    Parameters
    ----------
    n_folds : int, default=10
        Number of folds, at least 2. Distinct rows are dealt by a hash of their content, so that
        copies of a row are in one fold; where a class has fewer distinct rows than folds, there
        are as many folds as it has, and a warning says so.
    one_standard_error : bool, default=False
        Keep the smallest tree whose mean AUC is within one standard error of the largest.

    References
    ----------
    .. [1] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Mach. Learn. 83, 2011, sec. 4.1. https://hal.science/hal-00416054

    Examples
    --------
    >>> from aucrank import TreeRank
    >>> from aucrank.datasets import load_breast_cancer
    >>> from aucrank.tree import CrossValidatedPruning
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> pruning = CrossValidatedPruning(n_folds=5, one_standard_error=True)
    >>> model = TreeRank(pruning=pruning, random_state=0).fit(X, y)
    >>> model.tree_.n_leaves < TreeRank(pruning=None).fit(X, y).tree_.n_leaves
    True
    """

    def __init__(self, *, n_folds: int = 10, one_standard_error: bool = False) -> None:
        self.n_folds = n_folds
        self.one_standard_error = one_standard_error

    def _core_params(self, seed: int) -> dict[str, Any]:
        n_folds = check_int(self.n_folds, "n_folds of CrossValidatedPruning", low=2, high=65534)
        one_standard_error = check_bool(
            self.one_standard_error, "one_standard_error of CrossValidatedPruning"
        )
        found = {"n_folds": n_folds, "one_standard_error": one_standard_error, "seed": seed}
        return {"cross_validation": found}


def pruning_rule(pruning: Any) -> Any:
    """Return the rule that the parameter ``pruning`` names, or that it is; None for none.

    Raises
    ------
    ValueError
        If it is neither the name of a rule, nor a rule, nor None.
    """
    if pruning is None or isinstance(pruning, CrossValidatedPruning):
        return pruning
    if isinstance(pruning, str) and pruning == "cv":
        return CrossValidatedPruning()
    raise ValueError(f"pruning must be 'cv', a CrossValidatedPruning or None; got {pruning!r}")
