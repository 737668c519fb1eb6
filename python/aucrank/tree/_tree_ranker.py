"""What rankers have in common whose model is one ranking tree."""

import json
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.fit_context import FitContext
from aucrank._base.ranker import BaseRanker, ProbabilityMixin
from aucrank._data.table import Table
from aucrank._export.links import Link, StepLink
from aucrank._utils.warn import warn_caller
from aucrank._utils.words import area_up_to, plural
from aucrank.tree._dependence import PartialDependenceMixin
from aucrank.tree._ranking_tree import RankingTree, no_importances


class TreeRanker(PartialDependenceMixin, ProbabilityMixin, BaseRanker):
    """Base of rankers that fit a `RankingTree` and may prune it."""

    _family: ClassVar[str] = "tree_rank"
    _model: _core.TreeRankModel
    pruning: Any
    max_fpr: float
    time_limit: float | None
    verbose: int

    def _size(self) -> str:
        return f"{plural(self.tree_.n_leaves, 'leaf', 'leaves')}, depth {self.tree_.depth}"

    def _link(self) -> Link:
        values = [self.tree_._core.leaf_values(value) for value in ("score", "probability")]
        # Leaves are in ranking order, the best first.
        scores, probabilities = (value[::-1] for value in values)
        return StepLink(scores, probabilities)

    def _fit_tree(self, context: FitContext, fitter: Any = None) -> _core.TreeRankModel:
        """Fit the tree to rows in memory, by a fitter of classifiers if there is one."""
        sample, params = context.sample, self._core_params(context.scope)
        validation = None
        if context.validation.is_given:
            if "validation" not in (params["pruning"] or ()):
                raise ValueError(
                    "X_val, y_val and sample_weight_val are for pruning='validation' or a"
                    f" ValidationPruning; pruning is {self.pruning!r}"
                )
            validation = context.validation.read(self, sample.schema, self.classes_).core
        model = _core.fit_tree_rank(
            sample.core,
            json.dumps(params),
            context.n_threads,
            validation,
            fitter,
            context.progress.within(self.time_limit).observer,
        )
        self._report(model, params["pruning"])
        return model

    def _report(self, model: _core.TreeRankModel, pruning: dict[str, Any] | None) -> None:
        """Warn if the tree could not be pruned as requested, and print a report."""
        kept, found = model.tree.n_leaves, None
        match pruning:
            case {"cross_validation": {"n_folds": n_folds}}:
                found = model.cross_validation()
                if found is None:
                    warn_caller(
                        "A class has one distinct row, so there is nothing to cross-validate on:"
                        " the tree was not pruned."
                    )
                elif found["n_folds"] < n_folds:
                    warn_caller(
                        f"A class has {found['n_folds']} distinct rows, so there are as many folds,"
                        f" not n_folds={n_folds}."
                    )
            case {"penalty": _}:
                found = model.penalization()
                assert found is not None
                # A tree of one leaf cannot be pruned.
                if found["scale"] == 0 and kept > 1:
                    warn_caller(
                        f"The tree has {kept} leaves, too few to calibrate the penalty by"
                        " scale='slope': it was not pruned."
                    )
            case {"validation": _}:
                found = model.validation()
                if found is None:
                    warn_caller(
                        "A class has one distinct row, so no rows can be held out: the tree was"
                        " not pruned."
                    )
        if self.verbose > 0:
            name = type(self).__name__
            grown = kept if found is None else found["n_leaves"].max()
            print(f"[{name}] grew {grown} leaves")
            if found is not None:
                print(f"[{name}] kept {kept}: {_in_words(found, area_up_to(self.max_fpr))}")

    @property
    def _fitted_model(self) -> _core.TreeRankModel:
        check_is_fitted(self)
        return self._model

    @property
    def tree_(self) -> RankingTree:
        """Return the fitted tree.

        Returns
        -------
        RankingTree
            Tables, rules as text, subtrees.
        """
        tree = self._fitted_model.tree
        return RankingTree(tree, self._schema, self.__dict__.get("_classifiers", ()))

    @property
    def pruning_(self) -> Table | None:
        """Return the result of pruning for each subtree considered.

        Returns
        -------
        Table or None
            One row for each subtree, None if nothing was pruned.
        """
        model = self._fitted_model
        for found, columns in (
            (
                model.cross_validation(),
                ("alpha", "n_leaves", "train_auc", "mean_auc", "standard_error"),
            ),
            (model.penalization(), ("n_leaves", "train_auc", "penalty", "criterion")),
            (model.validation(), ("alpha", "n_leaves", "train_auc", "validation_auc")),
        ):
            if found is not None:
                kept = np.arange(len(found["n_leaves"])) == found["chosen"]
                return Table({name: found[name] for name in columns}, kept=kept)
        return None

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Return the square root of the sum of squared AUC gains of the stumps on each feature.

        Returns
        -------
        ndarray of shape (n_features,)
            In units of AUC.

        Raises
        ------
        AttributeError
            For a tree of a `DyadicSplit` or a `WeightedERM`.
        """
        squared = self._fitted_model.importances()
        if "_classifiers" in self.__dict__ or squared is None:
            raise no_importances("feature_importances_")
        importances: NDArray[np.float64] = np.sqrt(squared)
        return importances


def _in_words(found: dict[str, Any], area: str) -> str:
    """Return the result of pruning for the kept subtree, in words."""
    chosen = found["chosen"]
    if "n_folds" in found:
        auc, error = found["mean_auc"][chosen], found["standard_error"][chosen]
        return f"{area} {auc:.4f} (standard error {error:.4f}) in {found['n_folds']} folds"
    if "validation_auc" in found:
        return f"{area} {found['validation_auc'][chosen]:.4f} on the rows held out"
    auc, criterion = found["train_auc"][chosen], found["criterion"][chosen]
    return f"training AUC {auc:.4f}, {criterion:.4f} less the penalty at scale {found['scale']:.3g}"
