"""The parameter ``weak_ranker``: the ranker to boost."""

from dataclasses import replace
from inspect import signature
from typing import Any, ClassVar

from aucrank._base.external import KeepsModels, check_ranker, check_takes_weights, known_scores
from aucrank._base.fit_context import ParamScope
from aucrank._base.ranker import BaseRanker
from aucrank.data._dataset import refuse_for_dataset
from aucrank.tree._splits import LeafRank, split_rule
from aucrank.tree._tree_rank import TreeRank

#: Weak rankers that have a name.
NAMES = ("feature", "threshold", "linear", "tree")

#: Parameters of a tree that the booster sets for all rounds.
_OF_THE_BOOSTER = (
    "max_bins",
    "level_rates",
    "categorical_features",
    "class_weight",
    "n_jobs",
    "random_state",
    "verbose",
)


class WeakRankersMixin(KeepsModels):
    """Mixin for rankers with a parameter ``weak_ranker``; stands before `BaseRanker`.

    User-supplied rankers that the model uses are in ``_rankers``, by number.
    """

    _FITTED: ClassVar[tuple[str, ...]] = (*BaseRanker._FITTED, "_rankers")
    _kept: ClassVar[str] = "_rankers"
    _answer = staticmethod(known_scores)
    _model: Any
    _rankers: tuple[Any, ...]

    weak_ranker: Any

    def _check_for_dataset(self) -> None:
        super()._check_for_dataset()  # type: ignore[misc]
        if self.weak_ranker not in ("feature", "threshold"):
            raise refuse_for_dataset("weak_ranker", self.weak_ranker, "'feature' or 'threshold'")

    def _external_estimator(self) -> Any:
        return self.weak_ranker if is_external(self.weak_ranker) else None


def weak_ranker_params(weak_ranker: Any, scope: ParamScope) -> Any:
    """Return the weak ranker in the form of the core.

    Parameters
    ----------
    weak_ranker : str, TreeRank, LeafRank or estimator
        What the user passed.
    scope : ParamScope
        Context of its own parameters.

    Returns
    -------
    str or dict
        Ready for JSON.

    Raises
    ------
    TypeError, ValueError
        If it cannot be boosted.
    """
    if isinstance(weak_ranker, str) and weak_ranker in NAMES:
        if weak_ranker != "tree":
            return weak_ranker
        weak_ranker = TreeRank(max_depth=3, pruning=None)
    if isinstance(weak_ranker, LeafRank):
        weak_ranker = TreeRank(
            split=weak_ranker,
            max_depth=1,
            min_samples_leaf=weak_ranker.min_samples_leaf,
            pruning=None,
        )
    if isinstance(weak_ranker, TreeRank):
        return {"tree": _tree_params(weak_ranker, scope)}
    if is_external(weak_ranker):
        check_ranker(weak_ranker, "weak_ranker")
        check_takes_weights(weak_ranker, "weak_ranker")
        return "external"
    names = ", ".join(repr(name) for name in NAMES)
    raise ValueError(
        f"weak_ranker must be one of {names}, a TreeRank, a LeafRank or an estimator of"
        f" scikit-learn; got {weak_ranker!r}"
    )


def is_external(weak_ranker: Any) -> bool:
    """Whether a weak ranker is a user-supplied estimator."""
    return not isinstance(weak_ranker, str | TreeRank | LeafRank) and hasattr(weak_ranker, "fit")


def _tree_params(tree: TreeRank, scope: ParamScope) -> dict[str, Any]:
    if tree.pruning is not None:
        raise ValueError(
            "pruning of a weak TreeRank must be None, since the trees of a booster are not pruned;"
            f" got {tree.pruning!r}"
        )
    defaults = signature(TreeRank.__init__).parameters
    for name in _OF_THE_BOOSTER:
        if getattr(tree, name) != defaults[name].default:
            raise ValueError(
                f"{name} of a weak TreeRank must be left at its default, since that of the booster"
                f" holds for all rounds; got {getattr(tree, name)!r}"
            )
    if split_rule(tree.split)._node_classifier() is not None:
        raise ValueError(
            f"split of a weak TreeRank cannot be a {type(tree.split).__name__}; a classifier can be"
            " boosted itself as weak_ranker"
        )
    tree._check_params()
    # The core combines the seed of a round with this one.
    params: dict[str, Any] = tree._core_params(replace(scope, seed=0))
    return params
