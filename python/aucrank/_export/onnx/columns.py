"""The inputs of a graph, and the one matrix of doubles that they become."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from aucrank._data.schema import Feature, Schema
from aucrank._export.onnx.graph import ML_DOMAIN, Graph


class Inputs:
    """What a graph is fed with, each entry with a row for each row that is scored.

    Parameters
    ----------
    onnx : module
        The package.
    schema : Schema
        Of the columns of the fit.
    as_matrix : bool
        Whether there is one input of all columns, or one for each.

    Raises
    ------
    ValueError
        If a column has no form as an input.
    """

    def __init__(self, onnx: Any, schema: Schema, *, as_matrix: bool) -> None:
        self._schema = schema
        # The matrix of all columns, where there is one.
        self._matrix = "X" if as_matrix else None
        #: Versions of operators beyond those of every graph, by domain.
        self.more_opsets: dict[str, int] = {}
        double, string = onnx.TensorProto.DOUBLE, onnx.TensorProto.STRING
        info = onnx.helper.make_tensor_value_info
        if as_matrix:
            for place, feature in enumerate(schema.features):
                if _is_text(feature, schema.label(place)):
                    raise ValueError(
                        f"column {schema.label(place)} holds text, which no matrix of numbers does;"
                        ' inputs="columns" has an input for each column'
                    )
            self.names = ["X"]
            self.infos = [info("X", double, [None, len(schema.features)])]
            return
        self.names = list(schema.shown_names)
        for place, feature in enumerate(schema.features):
            if feature.name == "":
                raise ValueError(f"column {place} has an empty name, which ONNX cannot write")
        self.infos = [
            info(name, string if _is_text(feature, schema.label(place)) else double, [None, 1])
            for place, (name, feature) in enumerate(zip(self.names, schema.features, strict=True))
        ]

    @property
    def taken(self) -> list[str]:
        """Names that nodes must not have."""
        return self.names

    def matrix(self, graph: Graph, asked: Sequence[int]) -> str:
        """Add what turns the inputs into one column for each feature, and return its name.

        Numbers stay as they are; categories become their codes, NaN where they are missing or were
        not seen in fit.
        """
        parts = []
        for feature in asked:
            if self._matrix is not None:
                place = graph.constant([feature], np.int64)
                part = graph.add("Gather", [self._matrix, place], axis=1)
            else:
                part = self.names[feature]
            levels = self._schema.features[feature].levels
            parts.append(part if levels is None else self._codes(graph, part, levels))
        return parts[0] if len(parts) == 1 else graph.add("Concat", parts, axis=1)

    @staticmethod
    def _codes(graph: Graph, part: str, levels: tuple[Any, ...]) -> str:
        is_text = any(isinstance(level, str) for level in levels)
        # A table needs an entry; infinity is no category.
        keys = np.array(levels or (np.inf,), dtype=object if is_text else np.float64)
        return graph.add(
            "LabelEncoder",
            [part],
            domain=ML_DOMAIN,
            keys_tensor=graph.tensor(keys),
            values_tensor=graph.tensor(np.arange(len(keys), dtype=np.float64)),
            default_tensor=graph.tensor(np.array([np.nan])),
        )


def _is_text(feature: Feature, label: str) -> bool:
    """Whether a column holds text, and else numbers."""
    levels = feature.levels or ()
    kinds = {isinstance(level, str) for level in levels}
    if len(kinds) > 1:
        raise ValueError(f"column {label} has numbers and text as categories, and ONNX one type")
    for level in levels:
        if isinstance(level, int) and int(float(level)) != level:
            raise ValueError(
                f"column {label} has the category {level}, which is no double; make it text"
            )
    return True in kinds
