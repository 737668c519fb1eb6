"""Pruning of a grown ranking tree."""

from typing import Any

from sklearn.base import BaseEstimator

from aucrank._base.fit_context import ParamScope
from aucrank._base.persistence import persistable
from aucrank._utils.keywords import SuggestsKeywords
from aucrank._utils.params import check_bool, check_choice, check_int, check_real


@persistable
class CrossValidatedPruning(SuggestsKeywords, BaseEstimator):
    """Choose the size of a ranking tree by cross-validating the price of a leaf.

    The subtrees that are best for some price form a nested path (Theorem 3 of [1]_). For each fold
    a tree is grown without it, pruned at each price of the path and scored on the fold; the price
    with the largest mean AUC is kept, the smallest tree in case of a tie.

    Parameters
    ----------
    n_folds : int, default=10
        Number of folds, at least 2. Distinct rows are dealt by a hash of their content, so that
        copies of a row are in one fold; if a class has fewer distinct rows than folds, there are as
        many folds as it has rows, with a warning.
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

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        n_folds = check_int(self.n_folds, "n_folds of CrossValidatedPruning", low=2, high=65534)
        one_standard_error = check_bool(
            self.one_standard_error, "one_standard_error of CrossValidatedPruning"
        )
        found = {"n_folds": n_folds, "one_standard_error": one_standard_error, "seed": scope.seed}
        return {"cross_validation": found}


@persistable
class PenalizedPruning(SuggestsKeywords, BaseEstimator):
    """Choose the size of a ranking tree by a penalty on its leaves, without growing folds.

    For every K, the subtree of K leaves with the largest training AUC is found; the one with the
    largest AUC minus ``scale * pen(K, n)`` is kept, the smaller one in case of a tie (sec. 4.2 of
    [1]_). One tree is grown, where cross-validation grows eleven.

    Parameters
    ----------
    scale : float or "slope", default=0.001
        Factor on the penalty, above 0. The penalties of the paper bound the error of the AUC for
        any distribution, and with a scale of 1 only the root remains; the default was chosen by
        experiment (see the notes). "slope" fits the scale to the tree: twice the least-squares
        slope of the training AUC in the penalty, over the best subtrees of more than a quarter of
        the leaves of the grown tree ([2]_, [3]_). A tree of fewer than six leaves is then not
        pruned, with a warning.
    p_low : float or None, default=None
        Smallest share of positives in the population, between 0 and 1. None for the share in the
        training rows.
    p_high : float or None, default=None
        Largest share of positives. None for the share in the training rows.

    Notes
    -----
    For a tree of K leaves on n rows and q features, Proposition 6 of [1]_ gives, times
    ``1 / (p_low * (1 - p_high))``:

    - stumps and `LeafRank`, with at most kappa cuts per split: ``sqrt(32 * (log(16 * ((n + 1) *
      q) ** (2 * K * kappa)) + K) / n)``. A stump has kappa = 1, a `LeafRank` ``max_leaves - 1`` or
      ``2 ** max_depth - 1``, whichever is less;
    - dyadic cubes of side ``2 ** -J``: ``sqrt((log(4 * K ** (2 ** (J * q))) + K) / (2 * n))``.

    A row of integer weight k counts as k rows, as in ``min_samples_leaf``. For other split rules no
    penalty is known, and `TreeRank.fit` raises an error.

    On 16 real data sets of at most 5,000 rows (``benches/studies/pruning_study.py``), trees of
    stumps reach a mean 5-fold AUC of 0.853 with the default scale, 0.849 with "slope", 0.854 with
    cross-validation and 0.844 unpruned; at a scale of 0.05 it is 0.761.

    The training AUC is that of the leaves ranked from left to right, the one that adds up over
    splits, also where ``leaf_order="eta"``. Both penalties are concave in K, so the subtree kept
    is always one of `RankingTree.pruning_path`.

    References
    ----------
    .. [1] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Mach. Learn. 83, 2011. https://hal.science/hal-00416054
    .. [2] Birgé and Massart, "Minimal penalties for Gaussian model selection", Probab. Theory
       Relat. Fields 138, 2007. :doi:`10.1007/s00440-006-0011-8`
    .. [3] Baudry, Maugis and Michel, "Slope heuristics: overview and implementation", Stat.
       Comput. 22, 2012. :doi:`10.1007/s11222-011-9236-1`

    Examples
    --------
    >>> from aucrank import TreeRank
    >>> from aucrank.datasets import load_breast_cancer
    >>> from aucrank.tree import PenalizedPruning
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = TreeRank(pruning=PenalizedPruning(scale=0.002)).fit(X, y)
    >>> model.tree_.n_leaves < model.pruning_.n_rows
    True
    """

    def __init__(
        self,
        *,
        scale: float | str = 0.001,
        p_low: float | None = None,
        p_high: float | None = None,
    ) -> None:
        self.scale = scale
        self.p_low = p_low
        self.p_high = p_high

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        scale: Any = "slope"
        if isinstance(self.scale, str):
            check_choice(self.scale, "scale of PenalizedPruning", ("slope",))
        else:
            name = "scale of PenalizedPruning"
            scale = {"fixed": check_real(self.scale, name, low=0.0, low_open=True, high_open=True)}
        bounds = {
            name: check_real(
                getattr(self, name),
                f"{name} of PenalizedPruning",
                low=0.0,
                high=1.0,
                low_open=True,
                high_open=True,
                optional=True,
            )
            for name in ("p_low", "p_high")
        }
        low, high = bounds.values()
        if low is not None and high is not None and low > high:
            raise ValueError(
                f"p_low of PenalizedPruning must be at most p_high, got {low} and {high}"
            )
        return {"penalty": {"scale": scale, **bounds}}


@persistable
class ValidationPruning(SuggestsKeywords, BaseEstimator):
    """Choose the size of a ranking tree by its AUC on validation rows.

    Among the subtrees that are optimal for some price per leaf (Theorem 3 of [1]_), the one with
    the largest AUC on these rows is kept, the smallest in case of a tie; other subtrees are not
    considered. Only one tree is grown, so it is faster than cross-validation; if the rows come from
    a later time or another place, the size is suited to them.

    The rows are those passed to `TreeRank.fit` as ``X_val``, ``y_val`` and ``sample_weight_val``.
    Without them a part of the training rows is held out, and the tree is grown on the rest.

    Parameters
    ----------
    fraction : float, default=0.25
        Share of the distinct rows of each class that is held out, between 0 and 1, where no rows
        are passed. Distinct rows are dealt by a hash of their content, so that copies of a row stay
        together; each part has at least one of each class. If a class has a single distinct row,
        nothing is held out or pruned, with a warning.

    References
    ----------
    .. [1] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Mach. Learn. 83, 2011, sec. 4.1. https://hal.science/hal-00416054

    Examples
    --------
    >>> from aucrank import TreeRank
    >>> from aucrank.datasets import make_gaussian_pair
    >>> train, later = (make_gaussian_pair(2000, random_state=seed) for seed in (0, 1))
    >>> model = TreeRank(pruning="validation").fit(train.X, train.y, X_val=later.X, y_val=later.y)
    >>> table = model.pruning_
    >>> bool(model.score(later.X, later.y) == table["validation_auc"].max())
    True
    """

    def __init__(self, *, fraction: float = 0.25) -> None:
        self.fraction = fraction

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        fraction = check_real(
            self.fraction,
            "fraction of ValidationPruning",
            low=0.0,
            high=1.0,
            low_open=True,
            high_open=True,
        )
        return {"validation": {"fraction": fraction, "seed": scope.seed}}


_RULES: dict[str, type[Any]] = {
    "cv": CrossValidatedPruning,
    "penalty": PenalizedPruning,
    "validation": ValidationPruning,
}


def pruning_rule(pruning: Any, split: Any) -> Any:
    """Return the rule that the parameter ``pruning`` names or is; None for none.

    Parameters
    ----------
    pruning : object
        What the user passed.
    split : split rule
        Split rule of the tree.

    Raises
    ------
    ValueError
        If it is neither the name of a rule, nor a rule, nor None, or if it is a penalty and none is
        known for the split rule.
    """
    if pruning is None:
        return None
    if isinstance(pruning, tuple(_RULES.values())):
        rule = pruning
    elif isinstance(pruning, str) and pruning in _RULES:
        rule = _RULES[pruning]()
    else:
        names = ", ".join(repr(name) for name in _RULES)
        raise ValueError(
            f"pruning must be one of {names}, a CrossValidatedPruning, a PenalizedPruning, a"
            f" ValidationPruning or None; got {pruning!r}"
        )
    if isinstance(rule, PenalizedPruning) and not getattr(split, "_has_penalty", False):
        raise ValueError(
            f"no penalty is known for split={split!r}; choose another pruning, such as 'cv' or"
            " 'validation'"
        )
    return rule
