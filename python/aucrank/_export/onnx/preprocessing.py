"""What comes before a model: a document that makes the matrix of its columns."""

from collections.abc import Iterator, Sequence
from typing import Any

from aucrank._data.schema import Schema
from aucrank._export.onnx.columns import Inputs
from aucrank._export.onnx.graph import FLOAT64, ML_DOMAIN, OPSETS, Graph

#: What to ask skl2onnx for, which knows no later version of ai.onnx.ml.
_ASK = f'skl2onnx writes what fits with target_opset={{"": {OPSETS[""]}, "{ML_DOMAIN}": 3}}'

#: Operators whose later version takes more and does the same.
_EXTENDED = {(ML_DOMAIN, "LabelEncoder")}


class Preprocessed(Inputs):
    """The inputs of another document, whose nodes come first.

    Parameters
    ----------
    onnx : module
        The package.
    schema : Schema
        Of the columns of the fit.
    document : onnx.ModelProto
        The document, of one output: a matrix of the columns of the fit.

    Raises
    ------
    TypeError
        If the document is none.
    ValueError
        If it has another output, or operators that the opsets of this graph do not have.
    """

    def __init__(self, onnx: Any, schema: Schema, document: Any) -> None:
        if not isinstance(document, onnx.ModelProto):
            kind = type(document).__name__
            raise TypeError(f"preprocessing must be an onnx.ModelProto, got {kind}")
        super().__init__(onnx, schema, as_matrix=True)
        self._before = document.graph
        self._source = _matrix_of(onnx, document.graph, len(schema.features))
        versions = {opset.domain: opset.version for opset in document.opset_import}
        _check_operators(onnx, document, versions)
        self._double = document.graph.output[0].type.tensor_type.elem_type == FLOAT64
        self.names = [value.name for value in document.graph.input]
        self.infos = list(document.graph.input)
        self.more_opsets = {
            domain: version for domain, version in versions.items() if domain not in OPSETS
        }

    @property
    def taken(self) -> list[str]:
        """Names that the rest of the graph must not have."""
        found = [*self.names, *(tensor.name for tensor in self._before.initializer)]
        for node in _nodes(self._before):
            found += [node.name, *node.output]
        return found

    def matrix(self, graph: Graph, asked: Sequence[int]) -> str:
        """Add the nodes of the document, and what `Inputs` adds to its output."""
        graph.nodes += self._before.node
        graph.initializers += self._before.initializer
        self._matrix = (
            self._source if self._double else graph.add("Cast", [self._source], to=FLOAT64)
        )
        return super().matrix(graph, asked)


def _matrix_of(onnx: Any, before: Any, n_features: int) -> str:
    """Return the name of the only output, a matrix of numbers of so many columns."""
    if len(before.output) != 1:
        names = [value.name for value in before.output]
        raise ValueError(f"preprocessing must have one output, got {names}")
    output = before.output[0]
    kind = output.type.tensor_type
    if kind.elem_type in (onnx.TensorProto.STRING, onnx.TensorProto.UNDEFINED):
        raise ValueError(f"the output {output.name!r} of preprocessing is no tensor of numbers")
    shape = kind.shape.dim
    # A width of 0 is one that is not known.
    if len(shape) != 2 or shape[1].dim_value not in (0, n_features):
        widths = [side.dim_value or "?" for side in shape]
        raise ValueError(
            f"the output {output.name!r} of preprocessing has the shape {widths}, and the model"
            f" takes {n_features} columns"
        )
    return str(output.name)


def _check_operators(onnx: Any, document: Any, versions: dict[str, int]) -> None:
    """Raise ValueError for an operator that is another one in the opsets of this graph."""
    if document.functions:
        raise ValueError(f"preprocessing defines functions of its own; {_ASK}")
    for node in _nodes(document.graph):
        domain = node.domain if node.domain in OPSETS else None
        if domain is None or (domain, node.op_type) in _EXTENDED:
            continue
        here, there = (
            onnx.defs.get_schema(node.op_type, version, domain)
            for version in (OPSETS[domain], versions[domain])
        )
        if here.deprecated or here.since_version != there.since_version:
            raise ValueError(
                f"preprocessing has the operator {node.op_type} as of opset"
                f" {there.since_version} of {domain or 'ai.onnx'}, and the model is written in"
                f" opset {OPSETS[domain]}; {_ASK}"
            )


def _nodes(graph: Any) -> Iterator[Any]:
    """Yield the nodes of a graph, and of the graphs in it."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from _nodes(inner)
