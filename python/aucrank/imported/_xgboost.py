"""Models of XGBoost, from its estimators, its boosters and its JSON and UBJSON files."""

import ctypes
import ctypes.util
import json
import os
from collections.abc import Sequence
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from aucrank._utils.params import check_choice, check_int
from aucrank.imported._imported_ranker import imported
from aucrank.imported._imported_trees import ImportedTrees
from aucrank.imported._nodes import BELOW, LEAF, Forest, NodeArrays
from aucrank.imported._refusals import features_of, malformed, refuse
from aucrank.imported._thresholds import single_below
from aucrank.imported._ubjson import read_ubjson

#: Objectives whose score is the log-odds, whose base score is a probability.
_LOG_ODDS = ("binary:logistic", "reg:logistic")

#: The same, whose base score is in log-odds.
_RAW_LOG_ODDS = ("binary:logitraw",)

#: Objectives whose base score is the exponential of what is added to the trees.
_LOGS = ("count:poisson", "reg:gamma", "reg:tweedie")

#: Objectives whose base score is added as it is.
_PLAIN = (
    "reg:squarederror", "reg:squaredlogerror", "reg:pseudohubererror", "reg:absoluteerror",
    "binary:hinge", "rank:pairwise", "rank:ndcg", "rank:map",
)  # fmt: skip

#: A leaf has no children.
_NO_CHILD = -1


def from_xgboost(
    model: Any,
    *,
    iteration_range: tuple[int, int] | None = None,
    precision: Literal["single", "double"] = "single",
) -> ImportedTrees:
    """Return a model of XGBoost as a fitted ranker with the same scores.

    Parameters
    ----------
    model : xgboost.Booster, XGBModel, str or path-like
        A booster, a fitted estimator, or the path of a file that ``save_model`` wrote as JSON or
        UBJSON, which is read without XGBoost.
    iteration_range : (int, int) or None, default=None
        The rounds to take, as in ``predict``. None takes those up to the best iteration for an
        estimator that stopped early, as its ``predict`` does, and all for a booster or a file, as
        ``Booster.predict`` does.
    precision : {"single", "double"}, default="single"
        How trees are summed. "single" rounds each partial sum to 32 bits, as XGBoost does, and
        gives its scores to the last bit; languages without such numbers, such as PMML, cannot
        express it. "double" can be exported to all of them, and differs from XGBoost in the seventh
        digit.

    Returns
    -------
    ImportedTrees
        A fitted ranker. Its `decision_function` is ``predict(..., output_margin=True)``; its
        `predict_proba` is that of XGBoost for "binary:logistic", in double precision. Others, such
        as "rank:pairwise", give scores without probabilities.

    Raises
    ------
    ModelFormatError
        If the document is damaged; for several classes or targets, and for linear models.
    NotFittedError
        If the estimator is not fitted.
    OSError
        If the file cannot be read.
    TypeError
        If it is nothing of XGBoost.
    ValueError
        If there are no such rounds.

    Notes
    -----
    Files of XGBoost 1.0 to 3 are read. Values are compared in single precision, as there.
    A booster does not know which number its training matrix took for missing; here it is NaN.
    Categories that the model knows by name, from XGBoost 3.1 on, are matched by value; before, a
    category is the whole part of a number: encode the columns as for XGBoost. Boosters "gbtree" and
    "dart", all growth policies and monotone constraints are supported.

    Examples
    --------
    >>> from aucrank import from_xgboost
    >>> from_xgboost("no such file.json")
    Traceback (most recent call last):
    FileNotFoundError: ...
    """
    check_choice(precision, "precision", ("single", "double"))
    classes = None
    if isinstance(model, str | os.PathLike):
        return from_bytes(
            Path(model).read_bytes(), iteration_range=iteration_range, precision=precision
        )
    booster = model
    if hasattr(model, "get_booster"):
        booster, classes = model.get_booster(), getattr(model, "classes_", None)
        missing = getattr(model, "missing", None)
        if missing is not None and missing == missing:
            raise refuse(
                f"its missing values are {missing!r}", "fit it with missing=nan, and NaN for these"
            )
        best = booster.attr("best_iteration")
        if iteration_range is None and best is not None:
            iteration_range = (0, int(best) + 1)
    if not hasattr(booster, "save_raw"):
        raise TypeError(
            "model must be a Booster or a fitted estimator of XGBoost, or the path of a file; got a"
            f" {type(model).__name__}"
        )
    return from_bytes(
        bytes(booster.save_raw("ubj")),
        classes=classes,
        iteration_range=iteration_range,
        precision=precision,
    )


def from_bytes(
    data: bytes,
    *,
    classes: Any = None,
    iteration_range: tuple[int, int] | None = None,
    precision: str = "single",
) -> ImportedTrees:
    """Return the model of the content of a file; see `from_xgboost`."""
    with malformed("this is not a model of XGBoost that can be read"):
        # In UBJSON, a key has its length first.
        is_text = data[1:2] in (b'"', b" ", b"\n", b"\r", b"\t")
        document = json.loads(data) if is_text else read_ubjson(data)
        reader = _XgboostDocument(document, classes, precision)
    if iteration_range is not None:
        reader.take_rounds(iteration_range)
    with malformed("this is not a model of XGBoost that can be read"):
        return reader.ranker()


class _XgboostDocument:
    """Reads a document.

    Parameters
    ----------
    document : dict
        The document.
    classes : array-like or None
        The labels.
    precision : str
        That of the sum.
    """

    def __init__(self, document: Any, classes: Any, precision: str) -> None:
        learner = document["learner"]
        self._version = ".".join(map(str, document.get("version", ())))
        self._classes = classes
        self._is_single = precision == "single"
        self._learner = learner
        booster = learner["gradient_booster"]
        name = booster["name"]
        self._factors: NDArray[np.float32] | None = None
        if name == "dart":
            self._factors = np.asarray(booster["weight_drop"], dtype=np.float32)
            booster = booster["gbtree"]
        elif name != "gbtree":
            raise refuse(f"the booster {name!r} has no trees")
        self._model = booster["model"]
        self._params = learner["learner_model_param"]
        n_classes = max(int(self._params.get("num_class", "0")), 1)
        n_targets = int(self._params.get("num_target", "1"))
        if n_classes > 2 or n_targets > 1 or any(self._model["tree_info"]):
            several = f"{n_classes} classes" if n_classes > 1 else f"{n_targets} targets"
            raise refuse(f"it has {several}", "models with one score a row are imported")
        self._trees = self._model["trees"]
        if self._factors is not None and len(self._factors) != len(self._trees):
            raise ValueError(f"{len(self._trees)} trees have {len(self._factors)} weights")

    def take_rounds(self, rounds: tuple[int, int]) -> None:
        """Leave out the trees of other rounds."""
        first, end = (int(check_int(bound, "iteration_range", low=0) or 0) for bound in rounds)
        starts = self._model.get("iteration_indptr")
        if starts is None:
            each = int(self._model["gbtree_model_param"].get("num_parallel_tree", "1"))
            starts = range(0, len(self._trees) + 1, max(each, 1))
        n_rounds = len(starts) - 1
        end = end or n_rounds
        if not 0 <= first < end <= n_rounds:
            raise ValueError(f"iteration_range is {rounds}, and there are {n_rounds} rounds")
        kept = slice(int(starts[first]), int(starts[end]))
        self._trees = self._trees[kept]
        if self._factors is not None:
            self._factors = self._factors[kept]

    def ranker(self) -> ImportedTrees:
        objective = self._learner["objective"]["name"]
        n_features = int(self._params["num_feature"])
        names = list(self._learner.get("feature_names") or ()) or None
        levels = self._levels()
        features = features_of(names, levels, n_features)
        forest = Forest()
        for number, tree in enumerate(self._trees):
            with malformed(f"tree {number}"):
                factor = None if self._factors is None else self._factors[number]
                forest.trees.append(_tree(tree, forest, levels, n_features, factor))
        how: dict[str, Any] = {"is_single": self._is_single, "start": self._start(objective)}
        if objective in _LOG_ODDS + _RAW_LOG_ODDS:
            how["link"] = {"log_odds": 1.0}
        model = forest.model([None if f.levels is None else len(f.levels) for f in features], **how)
        classes = self._classes
        if classes is not None and len(classes) != 2:
            raise refuse(
                f"it has {len(classes)} classes", "models with one score a row are imported"
            )
        return imported(
            ImportedTrees, model, features, f"XGBoost {self._version}, {objective}", classes
        )

    def _start(self, objective: str) -> float:
        """Return what the trees are added to."""
        written = self._params["base_score"].strip("[]")
        base = np.float32(float(written))
        if not np.isfinite(base):
            raise ValueError(f"the base score is {written}")
        if objective in _LOG_ODDS:
            return _log_odds(base)
        if objective in _LOGS:
            return _log(float(base))
        if objective in _PLAIN + _RAW_LOG_ODDS:
            return float(base)
        raise refuse(f"the objective {objective!r} is not known")

    def _levels(self) -> dict[int, Sequence[Any]]:
        """Return the categories of columns by position, where the model has them."""
        cats = self._model.get("cats") or {}
        found: dict[int, Sequence[Any]] = {}
        for place, of_column in enumerate(cats.get("enc") or ()):
            values = of_column.get("values")
            if values is None or not len(values):
                continue
            if "offsets" in of_column:
                text = bytes(np.asarray(values, dtype=np.int64).astype(np.uint8))
                offsets = [int(offset) for offset in of_column["offsets"]]
                if offsets != sorted(offsets) or offsets[0] != 0 or offsets[-1] != len(text):
                    raise ValueError(f"the categories of column {place} have no such places")
                bounds = pairwise(offsets)
                found[place] = [text[start:end].decode() for start, end in bounds]
            else:
                found[place] = np.asarray(values).tolist()
        return found


def _log_odds(probability: np.float32) -> float:
    """Return the log-odds as XGBoost computes them, in single precision."""
    if not 0 < probability < 1:
        raise ValueError(f"the base score is {probability}, which is not a probability")
    one = np.float32(1.0)
    return -_log(float(one / probability - one))


def _log(number: float) -> float:
    """Return a logarithm as XGBoost computes it: in single precision, by the C library."""
    if not 0 < number < np.inf:
        raise ValueError("the base score has no logarithm")
    try:
        logf = ctypes.CDLL(ctypes.util.find_library("m")).logf
        logf.restype, logf.argtypes = ctypes.c_float, [ctypes.c_float]
        return float(logf(number))
    except (OSError, AttributeError, TypeError):
        # The same in 98 % of cases, and else a neighbour.
        return float(np.float32(log(number)))


def _column(tree: dict[str, Any], name: str, length: int, dtype: Any) -> NDArray[Any]:
    found = np.asarray(tree[name])
    if found.ndim != 1 or len(found) != length:
        raise ValueError(f"{name} has {found.size} numbers, not {length}")
    if length and found.dtype.kind not in "biuf":
        raise ValueError(f"{name} does not hold numbers")
    return found.astype(dtype)


def _tree(
    tree: dict[str, Any],
    forest: Forest,
    levels: dict[int, Sequence[Any]],
    n_features: int,
    factor: np.float32 | None,
) -> NodeArrays:
    if int(tree["tree_param"].get("size_leaf_vector", "1")) > 1:
        raise refuse("it has several targets", "models with one score a row are imported")
    n_nodes = len(tree["left_children"])
    left = _column(tree, "left_children", n_nodes, np.int64)
    right = _column(tree, "right_children", n_nodes, np.int64)
    numbers = _column(tree, "split_conditions", n_nodes, np.float32)
    features = _column(tree, "split_indices", n_nodes, np.int64)
    nodes = NodeArrays.of_size(n_nodes)
    is_leaf = left == _NO_CHILD
    if not ((features >= 0) & ((features < n_features) | is_leaf)).all():
        raise ValueError("split_indices name a column that is not there")
    if not np.isfinite(numbers[is_leaf]).all() or np.isnan(numbers).any():
        raise ValueError("split_conditions hold a value that is not a number")
    nodes.kinds[:] = np.where(is_leaf, LEAF, BELOW)
    nodes.features[:] = np.where(is_leaf, 0, features)
    values = numbers if factor is None else numbers * factor
    nodes.numbers[:] = np.where(is_leaf, values.astype(np.float64), single_below(numbers))
    nodes.missing_left[:] = _column(tree, "default_left", n_nodes, np.int64) != 0
    nodes.left[:] = np.clip(left, 0, 2**32 - 1)
    nodes.right[:] = np.clip(right, 0, 2**32 - 1)
    weights = _column(tree, "sum_hessian", n_nodes, np.float32)
    nodes.weights[:] = np.where(is_leaf & (weights >= 0) & np.isfinite(weights), weights, 0.0)
    types = _column(tree, "split_type", n_nodes, np.int64) if "split_type" in tree else None
    if types is None or not (types[~is_leaf] != 0).any():
        return nodes
    sets = _sets(tree)
    for place in np.flatnonzero((types != 0) & ~is_leaf):
        codes = sets.get(int(place))
        if codes is None:
            raise ValueError(f"node {place} tests categories that are not there")
        # The categories of the set go right, all other numbers left.
        known = levels.get(int(features[place]))
        if known is None:
            forest.set_whole(nodes, int(place), codes, single_below)
        else:
            forest.set_levels(nodes, int(place), [c for c in codes.tolist() if c < len(known)])
        nodes.left[place], nodes.right[place] = nodes.right[place], nodes.left[place]
        nodes.missing_left[place] = not nodes.missing_left[place]
    return nodes


def _sets(tree: dict[str, Any]) -> dict[int, NDArray[np.int64]]:
    """Return the categories of each node that tests some."""
    at = np.asarray(tree["categories_nodes"], dtype=np.int64)
    starts = _column(tree, "categories_segments", len(at), np.int64)
    sizes = _column(tree, "categories_sizes", len(at), np.int64)
    codes = np.asarray(tree["categories"], dtype=np.int64)
    if (codes < 0).any() or (starts < 0).any() or (sizes < 0).any():
        raise ValueError("the categories of nodes are not in order")
    if (starts + sizes > len(codes)).any():
        raise ValueError("a node tests categories that are not there")
    pairs = zip(at.tolist(), starts.tolist(), sizes.tolist(), strict=True)
    return {node: np.unique(codes[start : start + size]) for node, start, size in pairs}
