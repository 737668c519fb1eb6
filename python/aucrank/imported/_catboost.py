"""Models of CatBoost, from its estimators and its JSON files."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from aucrank.imported._city_hash import category_hash
from aucrank.imported._imported_ranker import imported
from aucrank.imported._imported_trees import ImportedTrees
from aucrank.imported._nodes import BELOW, Forest, NodeArrays
from aucrank.imported._refusals import features_of, malformed, refuse
from aucrank.imported._thresholds import single_at_most

#: Losses whose score is the log-odds.
_LOG_ODDS = ("Logloss", "CrossEntropy")

#: Splits of a symmetric tree, and levels of another one.
_DEEPEST = 16
_MOST_LEVELS = 65_536

_READ = "this is not a model of CatBoost that can be read"


def from_catboost(
    model: Any, *, categories: Mapping[str | int, Sequence[Any]] | None = None
) -> ImportedTrees:
    """Return a model of CatBoost as a fitted ranker with the same scores.

    Parameters
    ----------
    model : catboost.CatBoost, str or path-like
        A fitted estimator, or the path of a file that ``save_model(path, format="json")`` wrote,
        which is read without CatBoost. A file in CatBoost's own form is read by CatBoost, if it is
        installed.
    categories : mapping of str or int to sequence, default=None
        The values of categorical columns, by the name or the position of the column. CatBoost
        stores only their hashes, so that a model with such columns needs them; others than these
        are missing values, which are equal to none of them.

    Returns
    -------
    ImportedTrees
        A fitted ranker. Its `decision_function` is ``predict(X, prediction_type="RawFormulaVal")``
        to the last bit, and its `predict_proba` that of CatBoost for the losses "Logloss" and
        "CrossEntropy". Others give scores without probabilities.

    Raises
    ------
    ImportError
        If the file is in CatBoost's own form, and CatBoost is not installed.
    ModelFormatError
        If the file is damaged; for statistics of categories (fit with a larger
        ``one_hot_max_size``), text, embeddings, several classes.
    OSError
        If the file cannot be read.
    TypeError
        If it is nothing of CatBoost.
    ValueError
        If the values of a categorical column are not given, or lack one that the model tests.

    Notes
    -----
    Symmetric trees and others are read, with all modes of missing values. Numbers are compared in
    single precision, as there.

    Examples
    --------
    >>> from aucrank import from_catboost
    >>> from_catboost("no such file.json")
    Traceback (most recent call last):
    FileNotFoundError: ...
    """
    if isinstance(model, str | os.PathLike):
        data = Path(model).read_bytes()
        if not data.startswith(b"CBM1"):
            return from_bytes(data, categories=categories)
        from catboost import CatBoost

        model = CatBoost().load_model(os.fspath(model))
    if not (hasattr(model, "save_model") and hasattr(model, "calc_leaf_indexes")):
        raise TypeError(
            "model must be a fitted estimator of CatBoost, or the path of a file; got a"
            f" {type(model).__name__}"
        )
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        model.save_model(os.fspath(path), format="json")
        return from_bytes(path.read_bytes(), categories=categories)


def from_bytes(
    data: bytes, *, categories: Mapping[str | int, Sequence[Any]] | None = None
) -> ImportedTrees:
    """Return the model of the content of a JSON file; see `from_catboost`."""
    with malformed(_READ):
        reader = _CatboostDocument(json.loads(data))
    reader.find_levels(categories or {})
    with malformed(_READ):
        return reader.ranker()


class _CatboostDocument:
    """Reads a document."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._scale, biases = document.get("scale_and_bias", (1.0, [0.0]))
        if len(biases) != 1:
            raise refuse(
                f"it has {len(biases)} classes", "models with one score a row are imported"
            )
        self._bias = biases[0]
        infos = document["features_info"]
        for kind in ("text_features", "embedding_features"):
            if infos.get(kind):
                raise refuse(f"it has {kind.replace('_', ' ')}")
        if infos.get("ctrs"):
            raise refuse(
                "it has statistics of categories (CTRs)",
                "fit it with a one_hot_max_size of at least the number of categories",
            )
        self._floats = {int(of["feature_index"]): of for of in infos.get("float_features") or ()}
        self._categories = {
            int(of["feature_index"]): of for of in infos.get("categorical_features") or ()
        }
        columns = [*self._floats.values(), *self._categories.values()]
        self._n_features = len(columns)
        if sorted(int(of["flat_feature_index"]) for of in columns) != list(range(len(columns))):
            raise ValueError("its columns are not numbered from 0 on")
        by_place = sorted(columns, key=lambda of: int(of["flat_feature_index"]))
        names = [str(of.get("feature_id", "")) for of in by_place]
        # Columns without names are called by their positions.
        is_unnamed = all(name in ("", str(place)) for place, name in enumerate(names))
        self._names = None if is_unnamed else names
        # For each categorical column, by its place among all: values, and codes by their hash.
        self.levels: dict[int, Sequence[Any]] = {}
        self._codes: dict[int, dict[int, list[int]]] = {}

    def find_levels(self, categories: Mapping[str | int, Sequence[Any]]) -> None:
        """Find out which values of the categorical columns have which hash."""
        for of in self._categories.values():
            place = int(of["flat_feature_index"])
            name = self._names[place] if self._names else f"x{place}"
            given = categories.get(name, categories.get(place))
            tested = {int(value) for value in of.get("values") or ()}
            if given is None and tested:
                raise ValueError(
                    f"CatBoost stores hashes of the categories of column {name!r}: give its values"
                    f" as categories={{{name!r}: [...]}}"
                )
            values = list(given or ())
            codes: dict[int, list[int]] = {}
            for code, value in enumerate(values):
                codes.setdefault(category_hash(value), []).append(code)
            if lacking := tested - codes.keys():
                raise ValueError(
                    f"the model tests {len(lacking)} categories of column {name!r} that are not"
                    " among its values in categories"
                )
            self.levels[place], self._codes[place] = values, codes

    def ranker(self) -> ImportedTrees:
        document = self._document
        features = features_of(self._names, self.levels, self._n_features)
        forest = Forest()
        symmetric = document.get("oblivious_trees")
        for number, tree in enumerate(document["trees"] if symmetric is None else symmetric):
            with malformed(f"tree {number}"):
                read = self._tree if symmetric is None else self._symmetric_tree
                forest.trees.append(read(tree, forest))
        info = document.get("model_info") or {}
        loss = _loss(info)
        how: dict[str, Any] = {"factor": float(self._scale), "offset": float(self._bias)}
        if loss in _LOG_ODDS:
            how["link"] = {"log_odds": 1.0}
        classes = (info.get("class_params") or {}).get("class_names") or None
        if classes is not None and len(classes) != 2:
            raise refuse(
                f"it has {len(classes)} classes", "models with one score a row are imported"
            )
        model = forest.model([None if f.levels is None else len(f.levels) for f in features], **how)
        return imported(ImportedTrees, model, features, f"CatBoost, {loss}", classes)

    def _symmetric_tree(self, tree: Any, forest: Forest) -> NodeArrays:
        """Return a tree all of whose nodes of a level have the same test.

        The first test gives the lowest bit of the number of the leaf.
        """
        splits = tree["splits"] or []
        depth = len(splits)
        if depth > _DEEPEST or len(tree["leaf_values"]) != 1 << depth:
            raise ValueError(f"{len(tree['leaf_values'])} leaves of {depth} levels")
        n_splits = (1 << depth) - 1
        nodes = NodeArrays.of_size(2 * n_splits + 1)
        # The root has place 0, the sides of place k are 2 k + 1 and 2 k + 2. The last test is at
        # the root, so that leaves are in the order of their numbers.
        for level, split in enumerate(reversed(splits)):
            first = (1 << level) - 1
            for place in range(first, 2 * first + 1):
                self._set_split(nodes, forest, place, split)
        every = np.arange(n_splits)
        nodes.left[:n_splits], nodes.right[:n_splits] = 2 * every + 1, 2 * every + 2
        for place in range(n_splits):
            self._orient(nodes, place)
        nodes.numbers[n_splits:] = tree["leaf_values"]
        if tree.get("leaf_weights"):
            nodes.weights[n_splits:] = np.maximum(np.array(tree["leaf_weights"], dtype=float), 0.0)
        return nodes

    def _tree(self, tree: Any, forest: Forest) -> NodeArrays:
        found: list[Any] = []
        sides: list[list[int]] = []
        waiting = [(tree, -1, 0)]
        while waiting:
            node, above, side = waiting.pop()
            place = len(found)
            if above >= 0:
                sides[above][side] = place
            found.append(node)
            sides.append([0, 0])
            if "split" in node:
                waiting += [(node["right"], place, 1), (node["left"], place, 0)]
        nodes = NodeArrays.of_size(len(found))
        for place, node in enumerate(found):
            if "split" in node:
                self._set_split(nodes, forest, place, node["split"])
                nodes.left[place], nodes.right[place] = sides[place]
                self._orient(nodes, place)
            else:
                value = node["value"]
                if isinstance(value, list):
                    raise refuse(
                        "it has several classes", "models with one score a row are imported"
                    )
                nodes.numbers[place] = value
                nodes.weights[place] = max(float(node.get("weight", 0.0)), 0.0)
        return nodes

    def _set_split(self, nodes: NodeArrays, forest: Forest, place: int, split: Any) -> None:
        """Make a node a test, left of which rows are that fail it, or that are in its set."""
        kind = split["split_type"]
        if kind == "FloatFeature":
            of = self._floats[int(split["float_feature_index"])]
            nodes.kinds[place] = BELOW
            nodes.numbers[place] = single_at_most(float(split["border"]))
            # A missing value is below or above all borders.
            nodes.missing_left[place] = of.get("nan_value_treatment") != "AsTrue"
        elif kind == "OneHotFeature":
            of = self._categories[int(split["cat_feature_index"])]
            codes = self._codes[int(of["flat_feature_index"])].get(int(split["value"]))
            if codes is None:
                raise ValueError("it tests a category that is not listed")
            forest.set_levels(nodes, place, codes)
        else:
            raise refuse(f"it has a split of type {kind}")
        nodes.features[place] = int(of["flat_feature_index"])

    def _orient(self, nodes: NodeArrays, place: int) -> None:
        """Put rows of the category of a test on the right, as CatBoost does."""
        if nodes.kinds[place] != BELOW:
            nodes.left[place], nodes.right[place] = nodes.right[place], nodes.left[place]


def _loss(info: Any) -> str:
    """Return the name of the loss."""
    params = info.get("params") or {}
    if isinstance(params, str):
        params = json.loads(params)
    found = (params.get("loss_function") or {}).get("type")
    return str(found) if found else "an unknown loss"
