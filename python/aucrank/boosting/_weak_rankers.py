"""The parameter ``weak_ranker``: what is boosted."""

from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from aucrank._base.fit_context import ParamScope
from aucrank._base.ranker import BaseRanker
from aucrank._base.row_models import KeepsModels, check_weighted_estimator
from aucrank._base.scoring import scoring_method
from aucrank._data.input import Columns
from aucrank.boosting._row_rankers import RowRankerLearner, RowRankers
from aucrank.tree._splits import LeafRank, split_rule
from aucrank.tree._tree_rank import TreeRank

#: Weak rankers that go by a name.
NAMES = ("feature", "threshold", "linear", "tree")

#: Parameters of a tree that the booster sets for all rounds.
_OF_THE_BOOSTER = (
    "max_bins",
    "level_rates",
    "categorical_features",
    "n_jobs",
    "random_state",
    "verbose",
)


class WeakRankersMixin(KeepsModels):
    """For rankers with a parameter ``weak_ranker``; stands before `BaseRanker`.

    Rankers of the user's own choice that the model asks lie in ``_rankers``, by number.
    """

    _FITTED: ClassVar[tuple[str, ...]] = (*BaseRanker._FITTED, "_rankers")
    _kept: ClassVar[str] = "_rankers"
    _model: Any
    _rankers: tuple[Any, ...]

    weak_ranker: Any

    def _asked_models(self, model: Any) -> list[int]:
        numbers: list[int] = model.external_rankers()
        return numbers

    def _dispatch(self, question: str, X: Any, columns: Columns, n_threads: int) -> Any:
        asked = (self._row_rankers(X),) if question == "score" else ()
        return getattr(self._model, question)(columns, n_threads, *asked)

    def _row_rankers(self, X: Any) -> RowRankers | None:
        """Return the rankers of the user's own choice beside rows to ask them about."""
        rankers = self.__dict__.get("_rankers")
        return None if rankers is None else RowRankers(rankers, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        ranker = self.weak_ranker
        # The tags of a pipeline do not tell of an imputer in it.
        if (
            is_external(ranker)
            and isinstance(ranker, BaseEstimator)
            and not isinstance(ranker, Pipeline)
        ):
            tags.input_tags.allow_nan = get_tags(ranker).input_tags.allow_nan
        return tags


def weak_ranker_params(weak_ranker: Any, scope: ParamScope) -> Any:
    """Return the weak ranker as the core takes it.

    Parameters
    ----------
    weak_ranker : str, TreeRank, LeafRank or estimator
        What the user passed.
    scope : ParamScope
        What its own parameters are read by.

    Returns
    -------
    str or dict
        Ready for JSON.

    Raises
    ------
    TypeError, ValueError
        If it is none that can be boosted.
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
        _check_external(weak_ranker)
        return "external"
    names = ", ".join(repr(name) for name in NAMES)
    raise ValueError(
        f"weak_ranker must be one of {names}, a TreeRank, a LeafRank or an estimator of"
        f" scikit-learn; got {weak_ranker!r}"
    )


def is_external(weak_ranker: Any) -> bool:
    """Whether a weak ranker is an estimator of the user's own choice."""
    return not isinstance(weak_ranker, str | TreeRank | LeafRank) and hasattr(weak_ranker, "fit")


def ranker_learner(
    weak_ranker: Any, X: Any, positive: NDArray[np.bool_], earlier: Sequence[Any] = ()
) -> RowRankerLearner | None:
    """Return what the core calls back to fit and ask weak rankers, or None where it has no need to.

    Parameters
    ----------
    weak_ranker : object
        The parameter.
    X : array-like or data frame of shape (n, n_features)
        The rows, as the user passed them.
    positive : ndarray of bool, shape (n,)
        Their labels.
    earlier : sequence of estimator, default=()
        Rankers of the model that a fit goes on from, by number. Where there are any, the core has
        to ask them, whatever the rounds to come are made of.
    """
    if is_external(weak_ranker):
        return RowRankerLearner(weak_ranker, X, positive, earlier)
    return RowRankerLearner(None, X, positive, earlier) if earlier else None


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
    # The core joins the seed of a round to this one.
    params: dict[str, Any] = tree._core_params(replace(scope, seed=0))
    return params


def _check_external(estimator: Any) -> None:
    methods = ["fit", "get_params"]
    if not isinstance(estimator, type):
        method = scoring_method(estimator)
        if method is None:
            raise TypeError(
                f"weak_ranker must score rows, but {type(estimator).__name__} has neither"
                " decision_function() nor predict_proba()"
            )
        methods.append(method)
    check_weighted_estimator(estimator, "weak_ranker", methods)
