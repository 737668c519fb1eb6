"""The inputs of a graph, and the matrix of doubles that they are converted to."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from aucrank._data.schema import Feature, Schema
from aucrank._export.onnx.ensembles import add_sum
from aucrank._export.onnx.graph import FLOAT64, INT64, ML_DOMAIN, Graph
from aucrank._export.onnx.trees import TreeTable


class Columns(ABC):
    """Source of the columns of a fit, with one entry per scored row.

    Parameters
    ----------
    schema : Schema
        Columns of the fit.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    @abstractmethod
    def _column(self, graph: Graph, feature: int) -> str:
        """Return the name of a column of shape (n, 1), of text or of doubles."""

    def matrix(self, graph: Graph, tested: Sequence[int]) -> str:
        """Add the conversion of the inputs to one column per feature, and return its name.

        Numbers stay unchanged; categories become their codes, NaN if they are missing or were not
        seen in fit.
        """
        parts = []
        for feature in tested:
            part = self._column(graph, feature)
            levels = self._schema.features[feature].levels
            if levels is not None:
                part = _codes(graph, part, levels, self._schema.label(feature))
            parts.append(part)
        return parts[0] if len(parts) == 1 else graph.add("Concat", parts, axis=1)


class Inputs(Columns):
    """Inputs of a standalone document.

    Parameters
    ----------
    onnx : module
        The package.
    schema : Schema
        Columns of the fit.
    as_matrix : bool
        Whether there is one input for all columns, or one for each.
    read : frozenset of int or None, default=None
        Which columns have an input if each has one of its own; None for all.

    Raises
    ------
    ValueError
        If a column cannot be an input.
    """

    def __init__(
        self, onnx: Any, schema: Schema, *, as_matrix: bool, read: frozenset[int] | None = None
    ) -> None:
        super().__init__(schema)
        # The matrix of all columns, if there is one.
        self._matrix = "X" if as_matrix else None
        double, string = onnx.TensorProto.DOUBLE, onnx.TensorProto.STRING
        info = onnx.helper.make_tensor_value_info
        if as_matrix:
            for place, feature in enumerate(schema.features):
                if is_text(feature, schema.label(place)):
                    raise ValueError(
                        f"column {schema.label(place)} holds text, which no matrix of numbers does;"
                        ' inputs="columns" has an input for each column'
                    )
            self.names = ["X"]
            self.infos = [info("X", double, [None, len(schema.features)])]
            return
        places = [j for j in range(len(schema.features)) if read is None or j in read]
        self.names = [schema.shown_name(place) for place in places]
        for place in places:
            if schema.features[place].name == "":
                raise ValueError(f"column {place} has an empty name, which ONNX cannot write")
        self.infos = [
            info(
                schema.shown_name(place),
                string if is_text(schema.features[place], schema.label(place)) else double,
                [None, 1],
            )
            for place in places
        ]

    def _column(self, graph: Graph, feature: int) -> str:
        if self._matrix is None:
            return self._schema.shown_name(feature)
        place = graph.constant([feature], np.int64)
        return graph.add("Gather", [self._matrix, place], axis=1)


def _codes(graph: Graph, part: str, levels: tuple[Any, ...], label: str) -> str:
    of_text = any(isinstance(level, str) for level in levels)
    if None in levels:
        return _codes_with_missing(graph, part, levels, label)
    # A table needs an entry; infinity is not a category.
    keys = np.array(levels or (np.inf,), dtype=object if of_text else np.float64)
    if graph.has_double_trees:
        return graph.add(
            "LabelEncoder",
            [part],
            domain=ML_DOMAIN,
            keys_tensor=graph.tensor(keys),
            values_tensor=graph.tensor(np.arange(len(keys), dtype=np.float64)),
            default_tensor=graph.tensor(np.array([np.nan])),
        )
    # An earlier LabelEncoder maps texts to integers, not to doubles.
    if of_text:
        numbers = graph.add(
            "LabelEncoder",
            [part],
            domain=ML_DOMAIN,
            keys_strings=list(levels),
            values_int64s=list(range(len(keys))),
            default_int64=-1,
        )
        codes = graph.add("Cast", [numbers], to=FLOAT64)
        is_known = graph.add("GreaterOrEqual", [codes, graph.constant(0.0)])
    else:
        # The last category not above the number: either equal to it, or no match.
        order = np.argsort(keys)
        keys = keys[order]
        table = TreeTable(lambda _: 0, {}, lambda _: 0)
        table.add_steps(keys[1:].tolist(), np.arange(len(keys), dtype=np.float64).tolist())
        place = graph.add("Cast", [add_sum(graph, table, part)], to=INT64)
        is_known = graph.add("Equal", [part, graph.add("Gather", [graph.constant(keys), place])])
        codes = graph.add("Gather", [graph.constant(order), place])
    return graph.add("Where", [is_known, codes, graph.constant(np.nan)])


def _codes_with_missing(graph: Graph, part: str, levels: tuple[Any, ...], label: str) -> str:
    """Add the codes of categories, one of which is that of missing values."""
    missing = levels.index(None)
    if any(isinstance(level, str) for level in levels):
        if "" in levels:
            raise ValueError(
                f"column {label} has the empty text as a category, and in ONNX an empty text is a"
                " missing one"
            )
        texts = tuple("" if level is None else level for level in levels)
        return _codes(graph, part, texts, label)
    # It is the last one.
    known = _codes(graph, part, levels[:missing], label)
    is_missing = graph.add("IsNaN", [part])
    return graph.add("Where", [is_missing, graph.constant([[float(missing)]]), known])


def is_text(feature: Feature, label: str) -> bool:
    """Whether a column holds text rather than numbers."""
    levels = [level for level in feature.levels or () if level is not None]
    kinds = {isinstance(level, str) for level in levels}
    if len(kinds) > 1:
        raise ValueError(f"column {label} has numbers and text as categories, and ONNX one type")
    for level in levels:
        if isinstance(level, int) and int(float(level)) != level:
            raise ValueError(
                f"column {label} has the category {level}, which is not a double; make it text"
            )
    return True in kinds
