"""Models of scikit-learn: trees, forests, boosting, linear ones, and pipelines that end in them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import (
    LogisticRegression,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._data.schema import is_missing
from aucrank.imported._imported_linear import ImportedLinear, weighted_sum
from aucrank.imported._imported_ranker import ImportedRanker, imported
from aucrank.imported._imported_trees import ImportedTrees
from aucrank.imported._nodes import BELOW, KNOWN, LEAF, Forest, NodeArrays
from aucrank.imported._refusals import features_of
from aucrank.imported._thresholds import at_most, single_at_most


def from_sklearn(model: Any) -> Any:
    """Return a model of scikit-learn as a fitted ranker with the same scores.

    Parameters
    ----------
    model : estimator
        A fitted ``HistGradientBoostingClassifier``, ``GradientBoostingClassifier``,
        ``RandomForestClassifier``, ``ExtraTreesClassifier`` or ``DecisionTreeClassifier``;
        a fitted ``LogisticRegression``, ``LogisticRegressionCV``, ``LinearDiscriminantAnalysis``,
        ``SGDClassifier``, ``RidgeClassifier``, ``RidgeClassifierCV`` or ``LinearSVC``; or a
        ``Pipeline`` that ends in one of them. Of two classes.

    Returns
    -------
    ImportedTrees, ImportedLinear or sklearn.pipeline.Pipeline
        A fitted ranker; for a pipeline one with the same other steps, whose exports are those of
        `PipelineExport`. The `decision_function` of gradient boosting is that of scikit-learn to
        the last bit. That of trees and forests is the probability less one half, and their
        `predict_proba` is that of scikit-learn to the last bit where it uses one thread: with
        several, it adds the trees in any order. That of linear models is a sum in the order of
        the columns, which scikit-learn leaves to a library of linear algebra: the two agree up to
        the rounding of their terms.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    TypeError
        If it is another estimator.
    ValueError
        If it has other than two classes, or starts from an estimator of your own.

    Notes
    -----
    Categories of ``HistGradientBoostingClassifier`` are matched by value; one that was not seen in
    its fit is missing, as there. Trees and forests, and ``GradientBoostingClassifier``, compare
    numbers in single precision, as they do. Where scikit-learn raises an error for missing values,
    since it had none in its fit, a value here goes to the side that it stores. Linear models raise
    that error, too. Their probabilities are those of a logistic regression, of a discriminant
    analysis, and of ``SGDClassifier(loss="log_loss")``; others only rank.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from aucrank import from_sklearn
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> ranker = from_sklearn(forest)
    >>> bool((ranker.predict_proba(X)[:, 1] == forest.predict_proba(X)[:, 1]).all())
    True
    """
    if isinstance(model, Pipeline):
        check_is_fitted(model)
        *steps, (name, last) = model.steps
        return Pipeline([*steps, (name, from_sklearn(last))])
    read = next((read for cls, read in _READERS.items() if isinstance(model, cls)), None)
    if read is None:
        raise TypeError(
            f"a {type(model).__name__} is not imported; of scikit-learn, these are:"
            f" {', '.join(cls.__name__ for cls in _READERS)} and pipelines that end in them"
        )
    check_is_fitted(model)
    classes = model.classes_
    if isinstance(classes, list) or len(classes) != 2:
        n_classes = "several targets" if isinstance(classes, list) else f"{len(classes)} classes"
        raise ValueError(f"the {type(model).__name__} has {n_classes}, and two are imported")
    core, levels = read(model)
    names = getattr(model, "feature_names_in_", None)
    features = features_of(
        None if names is None else list(map(str, names)), levels, model.n_features_in_
    )
    is_linear = isinstance(core, _core.ImportedLinear)
    cls: type[ImportedRanker] = ImportedLinear if is_linear else ImportedTrees
    source = f"scikit-learn {sklearn.__version__}, {type(model).__name__}"
    return imported(cls, core, features, source, classes)


_Read = tuple[_core.ImportedTrees | _core.ImportedLinear, dict[int, Sequence[Any]]]


def _plain_tree(tree: Any, values: NDArray[np.float64]) -> NodeArrays:
    """Return a tree that compares numbers in single precision, given the values of its nodes."""
    nodes = NodeArrays.of_size(tree.node_count)
    is_leaf = tree.children_left < 0
    nodes.kinds[:] = np.where(is_leaf, LEAF, BELOW)
    nodes.features[:] = np.where(is_leaf, 0, tree.feature)
    nodes.numbers[:] = np.where(is_leaf, values, single_at_most(tree.threshold))
    # Of missing values; before scikit-learn 1.3, there was no such column.
    nodes.missing_left[:] = tree.missing_go_to_left
    nodes.left[:] = np.where(is_leaf, 0, tree.children_left)
    nodes.right[:] = np.where(is_leaf, 0, tree.children_right)
    nodes.weights[:] = tree.weighted_n_node_samples
    return nodes


def _read_trees(trees: Sequence[Any], n_features: int) -> _Read:
    """Return the mean of the rates of trees, less one half."""
    of_trees = [tree.tree_ for tree in trees]
    forest = Forest([_plain_tree(tree, tree.value[:, 0, 1]) for tree in of_trees])
    how = {"divisor": float(len(trees)), "offset": -0.5, "link": "above_half"}
    return forest.model([None] * n_features, **how), {}


def _read_gradient_boosting(model: Any) -> _Read:
    trees = [tree.tree_ for (tree,) in model.estimators_]
    factor = model.learning_rate
    forest = Forest([_plain_tree(tree, factor * tree.value[:, 0, 0]) for tree in trees])
    start = 0.0
    if isinstance(model.init_, DummyClassifier):
        # The same for every row.
        row = np.zeros((1, model.n_features_in_), dtype=np.float32)
        start = float(model._raw_predict_init(row)[0, 0])
    elif model.init_ != "zero":
        raise ValueError(
            f"its scores start from those of a {type(model.init_).__name__}: fit it with init=None"
            " or init='zero'"
        )
    # Log-odds are the score, for exponential loss twice the score.
    slope = 2.0 if model.loss == "exponential" else 1.0
    n_levels = [None] * model.n_features_in_
    return forest.model(n_levels, start=start, link={"log_odds": slope}), {}


def _read_hist(model: Any) -> _Read:
    n_features = model.n_features_in_
    is_category = model.is_categorical_
    levels: dict[int, Sequence[Any]] = {}
    # Columns as the trees number them: those of categories come first.
    places = np.arange(n_features)
    if is_category is not None:
        places = np.concatenate((np.flatnonzero(is_category), np.flatnonzero(~is_category)))
        encoder = model._preprocessor.named_transformers_["encoder"]
        for place, found in zip(places, encoder.categories_, strict=False):
            levels[int(place)] = [_level(value) for value in found if not is_missing(value)]
    forest = Forest()
    for (predictor,) in model._predictors:
        forest.trees.append(_hist_tree(predictor, forest, places, levels))
    n_levels = [len(levels[place]) if place in levels else None for place in range(n_features)]
    start = float(model._baseline_prediction[0, 0])
    return forest.model(n_levels, start=start, link={"log_odds": 1.0}), levels


def _level(value: Any) -> Any:
    """Return a category as a plain value: a float of integer value becomes an int."""
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _hist_tree(
    predictor: Any,
    forest: Forest,
    places: NDArray[np.intp],
    levels: dict[int, Sequence[Any]],
) -> NodeArrays:
    table = predictor.nodes
    nodes = NodeArrays.of_size(len(table))
    is_leaf = table["is_leaf"].astype(bool)
    features = places[np.where(is_leaf, 0, table["feature_idx"])]
    thresholds = np.where(is_leaf, 0.0, table["num_threshold"])
    is_known = ~is_leaf & (thresholds == np.inf)
    nodes.kinds[:] = np.where(is_leaf, LEAF, np.where(is_known, KNOWN, BELOW))
    nodes.features[:] = features
    numbers = np.where(is_known, 1.0, at_most(np.where(is_known, 0.0, thresholds)))
    nodes.numbers[:] = np.where(is_leaf, table["value"], numbers)
    nodes.missing_left[:] = table["missing_go_to_left"]
    nodes.left[:] = np.where(is_leaf, 0, table["left"])
    nodes.right[:] = np.where(is_leaf, 0, table["right"])
    nodes.weights[:] = table["count"]
    for place in np.flatnonzero(table["is_categorical"].astype(bool) & ~is_leaf):
        words = np.ascontiguousarray(predictor.raw_left_cat_bitsets[table["bitset_idx"][place]])
        codes = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
        n_levels = len(levels[int(features[place])])
        forest.set_levels(nodes, int(place), [int(code) for code in codes if code < n_levels])
    return nodes


def _read_linear(model: Any, slope: float | None) -> _Read:
    # Sparse after `sparsify`.
    weights = model.coef_.toarray() if issparse(model.coef_) else model.coef_
    weights = np.asarray(weights, dtype=np.float64).ravel()
    # One number, or an array of one; 0.0 without an intercept.
    intercept = float(np.ravel(model.intercept_)[0])
    return weighted_sum(weights.tolist(), intercept, slope), {}


def _read_logistic(model: Any) -> _Read:
    # A parameter up to scikit-learn 1.7: the classes had the scores d and -d.
    is_multinomial = getattr(model, "multi_class", None) == "multinomial"
    return _read_linear(model, 2.0 if is_multinomial else 1.0)


_READERS: dict[type[Any], Callable[[Any], _Read]] = {
    HistGradientBoostingClassifier: _read_hist,
    GradientBoostingClassifier: _read_gradient_boosting,
    RandomForestClassifier: lambda m: _read_trees(m.estimators_, m.n_features_in_),
    ExtraTreesClassifier: lambda m: _read_trees(m.estimators_, m.n_features_in_),
    DecisionTreeClassifier: lambda m: _read_trees([m], m.n_features_in_),
    # Each with those that derive from it, such as LogisticRegressionCV.
    LogisticRegression: _read_logistic,
    LinearDiscriminantAnalysis: lambda m: _read_linear(m, 1.0),
    SGDClassifier: lambda m: _read_linear(m, 1.0 if m.loss == "log_loss" else None),
    RidgeClassifier: lambda m: _read_linear(m, None),
    RidgeClassifierCV: lambda m: _read_linear(m, None),
    LinearSVC: lambda m: _read_linear(m, None),
}
