"""Models of LightGBM, from its estimators, its boosters and its text files."""

import json
import os
import re
from collections.abc import Sequence
from itertools import pairwise
from math import isinf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._utils.params import check_int
from aucrank.imported._imported_ranker import imported
from aucrank.imported._imported_trees import ImportedTrees
from aucrank.imported._nodes import BELOW, KNOWN, Forest, NodeArrays
from aucrank.imported._refusals import features_of, malformed, refuse
from aucrank.imported._thresholds import at_most

#: Versions of the text form that are read: LightGBM 2.2 and later.
_VERSIONS = ("v3", "v4")

#: Numbers up to this are 0 in a prediction.
_ZERO = float(np.float32(1e-35))
_ABOVE_ZERO = float(np.nextafter(_ZERO, np.inf))

#: The least number whose whole part is 0.
_ABOVE_MINUS_ONE = float(np.nextafter(-1.0, 0.0))

#: Bits of ``decision_type``.
_IS_CATEGORY, _DEFAULT_LEFT = 1, 2
_ZERO_IS_MISSING, _NAN_IS_MISSING = 1, 2

_UNNAMED = re.compile(r"Column_[0-9]+")

_LOG_ODDS = ("cross_entropy", "xentropy")


def from_lightgbm(model: Any, *, num_iteration: int | None = None) -> ImportedTrees:
    """Return a model of LightGBM as a fitted ranker with the same scores.

    Parameters
    ----------
    model : lightgbm.Booster, LGBMModel, str or path-like
        A booster, a fitted estimator, or the path of a file that ``Booster.save_model`` wrote,
        which is read without LightGBM.
    num_iteration : int or None, default=None
        Number of trees. None takes as many as ``predict`` does: those up to the best iteration
        after early stopping, else all.

    Returns
    -------
    ImportedTrees
        A fitted ranker. Its `decision_function` is ``predict(X, raw_score=True)`` to the last bit;
        its `predict_proba` is that of LightGBM for the objectives "binary" and "cross_entropy".
        Others, such as "lambdarank" and "regression", give scores without probabilities, and
        `predict` calls those above 0 positive.

    Raises
    ------
    ModelFormatError
        If the text is damaged or of another version; for several classes; for linear trees.
    NotFittedError
        If the estimator is not fitted.
    OSError
        If the file cannot be read.
    TypeError
        If it is nothing of LightGBM.

    Notes
    -----
    Read are the versions v3 and v4 of the text form, those of LightGBM 2.2 to 4. All boosting types
    and options of missing values are supported. Categorical columns of pandas have their
    categories; other categorical columns are numbers whose whole part is the category, as in
    LightGBM. Numbers are compared in double precision; LightGBM itself reads a data frame of
    32-bit columns alone in single precision.

    Examples
    --------
    >>> from aucrank import from_lightgbm
    >>> text = '''tree
    ... version=v4
    ... num_class=1
    ... num_tree_per_iteration=1
    ... max_feature_idx=0
    ... objective=binary sigmoid:1
    ... feature_names=age
    ... feature_infos=[18:90]
    ...
    ... Tree=0
    ... num_leaves=2
    ... num_cat=0
    ... split_feature=0
    ... threshold=50
    ... decision_type=10
    ... left_child=-1
    ... right_child=-2
    ... leaf_value=-0.5 0.25
    ... leaf_count=30 10
    ... shrinkage=1
    ...
    ... end of trees
    ... '''
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "model.txt").write_text(text)
    ...     ranker = from_lightgbm(Path(folder, "model.txt"))
    >>> ranker.decision_function([[50.0], [51.0]])
    array([-0.5 ,  0.25])
    """
    if num_iteration is not None:
        num_iteration = check_int(num_iteration, "num_iteration", low=1)
    if isinstance(model, str | os.PathLike):
        text = Path(model).read_bytes().decode("utf-8", "surrogateescape")
        return from_text(text, num_iteration=num_iteration)
    # By their methods, since LightGBM need not be installed to read a file.
    booster, classes = model, None
    if hasattr(model, "booster_") or hasattr(type(model), "booster_"):
        booster = model.booster_
        classes = getattr(model, "classes_", None)
    if not hasattr(booster, "model_to_string"):
        raise TypeError(
            "model must be a Booster or a fitted estimator of LightGBM, or the path of a file; got"
            f" a {type(model).__name__}"
        )
    text = booster.model_to_string(num_iteration=num_iteration)
    return from_text(text, classes=classes)


def from_text(text: str, *, classes: Any = None, num_iteration: int | None = None) -> ImportedTrees:
    """Return the model of the text of a file; see `from_lightgbm`."""
    with malformed("this text is not a model of LightGBM that can be read"):
        return _LightgbmText(text, classes, num_iteration).ranker()


class _LightgbmText:
    """Reads a text.

    Parameters
    ----------
    text : str
        The text.
    classes : array-like or None
        The labels.
    num_iteration : int or None
        Number of trees, None for all.
    """

    def __init__(self, text: str, classes: Any, num_iteration: int | None) -> None:
        if not text.startswith("tree"):
            raise ValueError("it does not begin with the line 'tree'")
        # An expression in place of the text takes as long as all else.
        head, *trees = text.split("\nTree=")
        self._head = _fields(head)
        last, found, tail = (trees[-1] if trees else head).partition("end of trees")
        if not found:
            raise ValueError("it is cut short: there is no line 'end of trees'")
        if trees:
            trees[-1] = last
        self._tail = tail
        self._trees = trees[:num_iteration]
        self._classes = classes

    def ranker(self) -> ImportedTrees:
        head = self._head
        version = head["version"]
        if version not in _VERSIONS:
            raise refuse(f"it has version {version}", f"{' and '.join(_VERSIONS)} are read")
        n_classes = max(int(head["num_class"]), int(head["num_tree_per_iteration"]))
        if n_classes > 1:
            raise refuse(f"it has {n_classes} classes", "models with one score a row are imported")
        n_features = int(head["max_feature_idx"]) + 1
        names: list[str] | None = head["feature_names"].split(" ")
        infos = head["feature_infos"].split(" ")
        if len(infos) != n_features:
            raise ValueError(f"{n_features} columns have {len(infos)} entries in feature_infos")
        if names is not None and all(map(_UNNAMED.fullmatch, names)):
            names = None
        levels = self._levels(infos)
        features = features_of(names, levels, n_features)
        forest = Forest()
        for number, text in enumerate(self._trees):
            with malformed(f"tree {number}"):
                forest.trees.append(_tree(_fields(text), forest, levels, n_features))
        # Of random forests, the mean of the trees is what the objective converts, but the raw score
        # is their sum.
        slope = 1.0 / max(len(self._trees), 1) if "average_output" in head else 1.0
        how: dict[str, Any] = {}
        objective, *options = head.get("objective", "none").split(" ")
        if objective == "binary":
            known = dict(option.split(":", 1) for option in options if ":" in option)
            how["link"] = {"log_odds": slope * float(known.get("sigmoid", "1"))}
        elif objective in _LOG_ODDS:
            how["link"] = {"log_odds": slope}
        model = forest.model([None if f.levels is None else len(f.levels) for f in features], **how)
        classes = self._classes
        if classes is not None and len(classes) != 2:
            raise refuse(
                f"it has {len(classes)} classes", "models with one score a row are imported"
            )
        return imported(ImportedTrees, model, features, f"LightGBM, {objective}", classes)

    def _levels(self, infos: Sequence[str]) -> dict[int, Sequence[Any]]:
        """Return the categories of the categorical columns of a pandas frame, by position."""
        found = re.search(r"^pandas_categorical:(.*)$", self._tail, flags=re.MULTILINE)
        of_pandas = json.loads(found[1]) if found else None
        if not of_pandas:
            return {}
        # Columns of numbers have a range, constant ones "none".
        columns = [place for place, info in enumerate(infos) if info[:1] not in ("[", "n")]
        if len(columns) != len(of_pandas):
            raise refuse(
                f"{len(of_pandas)} columns of the training frame were categorical, but"
                f" {len(columns)} of the model are",
                "leave constant columns out of the fit, and let categorical_feature be 'auto'",
            )
        return dict(zip(columns, of_pandas, strict=True))


def _fields(text: str) -> dict[str, str]:
    """Return the lines ``key=value`` of a part of the text; a line without a value has none."""
    pairs = (line.partition("=") for line in text.splitlines())
    return {key: value for key, _, value in pairs}


def _numbers(fields: dict[str, str], name: str, length: int, dtype: Any) -> NDArray[Any]:
    """Return the numbers of a field."""
    found = np.array(fields[name].split(), dtype=dtype)
    if len(found) != length:
        raise ValueError(f"{name} has {len(found)} numbers, not {length}")
    return found


def _tree(
    fields: dict[str, str], forest: Forest, levels: dict[int, Sequence[Any]], n_features: int
) -> NodeArrays:
    if fields.get("is_linear", "0").strip() != "0":
        raise refuse("it is linear in its leaves", "fit with linear_tree=False")
    n_leaves = int(fields["num_leaves"])
    values = _numbers(fields, "leaf_value", n_leaves, np.float64)
    n_splits = n_leaves - 1
    nodes = NodeArrays.of_size(n_leaves + n_splits)
    leaves = slice(n_splits, None)
    nodes.numbers[leaves] = values
    if fields.get("leaf_count", "").strip():
        nodes.weights[leaves] = np.maximum(_numbers(fields, "leaf_count", n_leaves, np.float64), 0)
    if n_splits == 0:
        return nodes
    splits = slice(None, n_splits)
    features = _numbers(fields, "split_feature", n_splits, np.int64)
    if not ((features >= 0) & (features < n_features)).all():
        raise ValueError("split_feature names a column that is not there")
    nodes.features[splits] = features
    nodes.kinds[splits] = BELOW
    for side, name in ((nodes.left, "left_child"), (nodes.right, "right_child")):
        children = _numbers(fields, name, n_splits, np.int64)
        children = np.where(children >= 0, children, n_splits + ~children)
        side[splits] = np.clip(children, 0, 2**32 - 1)
    thresholds = _numbers(fields, "threshold", n_splits, np.float64)
    decisions = _numbers(fields, "decision_type", n_splits, np.int64)
    default_left = (decisions & _DEFAULT_LEFT) != 0
    missing = (decisions >> 2) & 3
    # A prediction reads tiny numbers as 0.
    below = at_most(thresholds)
    below = np.where((thresholds >= 0) & (thresholds < _ZERO), _ABOVE_ZERO, below)
    below = np.where((thresholds < 0) & (thresholds >= -_ZERO), -_ZERO, below)
    # Of a test that separates missing values only, the threshold is infinite.
    is_known = np.isinf(thresholds)
    nodes.kinds[splits][is_known] = KNOWN
    nodes.numbers[splits] = np.where(is_known, thresholds > 0, below)
    nodes.missing_left[splits] = np.where(missing == _NAN_IS_MISSING, default_left, thresholds >= 0)
    is_category = (decisions & _IS_CATEGORY) != 0
    for place in np.flatnonzero(~is_category & (missing == _ZERO_IS_MISSING)):
        _set_zero(nodes, forest, int(place), float(thresholds[place]), bool(default_left[place]))
    if is_category.any():
        sets = _sets(fields)
        for place in np.flatnonzero(is_category):
            _set_category(nodes, forest, int(place), sets[int(thresholds[place])], levels)
    return nodes


def _set_zero(
    nodes: NodeArrays, forest: Forest, place: int, threshold: float, default_left: bool
) -> None:
    """Make a node a test for which 0 is a missing value, with a side of its own."""
    nodes.missing_left[place] = default_left
    below = float(at_most(threshold))
    bounds: tuple[float, ...] = ()
    if default_left:
        if below < -_ZERO:
            bounds = (below, -_ZERO, _ABOVE_ZERO)
        elif not isinf(threshold):
            nodes.numbers[place] = max(below, _ABOVE_ZERO)
    elif below > _ABOVE_ZERO:
        bounds = (-_ZERO, _ABOVE_ZERO, below)
    elif not isinf(threshold):
        nodes.numbers[place] = min(below, -_ZERO)
    if bounds:
        # Within these, numbers go right.
        forest.set_ranges(nodes, place, [bound for bound in bounds if not isinf(bound)])
        nodes.swap(place)


def _sets(fields: dict[str, str]) -> list[NDArray[np.int64]]:
    """Return the categories of each set of a tree."""
    n_sets = int(fields["num_cat"])
    starts = _numbers(fields, "cat_boundaries", n_sets + 1, np.int64)
    words = np.array(fields["cat_threshold"].split(), dtype=np.uint32)
    if starts[0] != 0 or (np.diff(starts) < 0).any() or starts[-1] != len(words):
        raise ValueError("cat_boundaries are not those of cat_threshold")
    bits = np.unpackbits(words.view(np.uint8), bitorder="little").reshape(-1, 32)
    return [np.flatnonzero(bits[start:end].ravel()) for start, end in pairwise(starts)]


def _set_category(
    nodes: NodeArrays,
    forest: Forest,
    place: int,
    codes: NDArray[np.int64],
    levels: dict[int, Sequence[Any]],
) -> None:
    """Make a node a test for categories: all others, and missing ones, go right."""
    nodes.missing_left[place] = False
    known = levels.get(int(nodes.features[place]))
    if known is None:
        # The whole part is that towards 0.
        forest.set_whole(
            nodes, place, codes, lambda whole: np.where(whole == 0.0, _ABOVE_MINUS_ONE, whole)
        )
    else:
        forest.set_levels(nodes, place, [int(code) for code in codes if code < len(known)])
