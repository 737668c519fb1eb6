"""Models as ONNX documents: columns in; scores, labels and probabilities out."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._data.schema import Schema
from aucrank._export.formula import Formula, features_of
from aucrank._export.links import AboveHalf, Curve, Link, LogOdds, OwnFormula, StepLink
from aucrank._export.onnx.columns import Columns, Inputs
from aucrank._export.onnx.formula import FormulaWriter
from aucrank._export.onnx.graph import INT64, IR_VERSION, OPSETS, Graph, Names

# Adds a formula, and returns the name of its column.
_ColumnOf = Callable[[Formula], str]


class GraphModel(NamedTuple):
    """The model that a graph computes, and its columns.

    Attributes
    ----------
    formula : Formula
        Formula of the score.
    schema : Schema
        Columns of the fit.
    classes : ndarray of shape (2,)
        Labels; the second is for scores above 0.
    link : Link or None
        The link from scores to probabilities, if there is one.
    """

    formula: Formula
    schema: Schema
    classes: NDArray[Any]
    link: Link | None


class Outputs(NamedTuple):
    """Names of the outputs of a graph.

    Attributes
    ----------
    score, label : str
        Of shape (n,).
    probabilities : str or None
        Of shape (n, 2).
    """

    score: str
    label: str
    probabilities: str | None


def write_model(onnx: Any, model: GraphModel, inputs: Inputs, *, version: str) -> Any:
    """Return a model as an ``onnx.ModelProto``.

    Parameters
    ----------
    onnx : module
        The package.
    model : GraphModel
        The model.
    inputs : Inputs
        Inputs of the graph.
    version : str
        Version of aucrank, for the document.

    Raises
    ------
    ValueError
        If a label has no form in ONNX.
    """
    names = ["score", "label", *(["probabilities"] if model.link is not None else [])]
    free_name = Names([*inputs.names, *names]).free
    graph = Graph(onnx, free_name, OPSETS)
    # An input with the name of an output keeps it.
    score, label, *rest = [name if name not in inputs.names else free_name(name) for name in names]
    outputs = Outputs(score, label, rest[0] if rest else None)
    add_model(graph, model, inputs, outputs)
    types, info = onnx.TensorProto, onnx.helper.make_tensor_value_info
    infos = [
        info(outputs.score, types.DOUBLE, [None]),
        info(outputs.label, label_type(onnx, model.classes), [None]),
    ]
    if outputs.probabilities is not None:
        infos.append(info(outputs.probabilities, types.DOUBLE, [None, 2]))
    made = onnx.helper.make_graph(
        graph.nodes, "ranker", inputs.infos, infos, initializer=graph.initializers
    )
    return onnx.helper.make_model(
        made,
        opset_imports=[onnx.helper.make_opsetid(*opset) for opset in graph.opsets.items()],
        ir_version=IR_VERSION,
        producer_name="aucrank",
        producer_version=version,
        doc_string="A score that ranks rows: the higher, the more positive",
    )


def add_model(graph: Graph, model: GraphModel, columns: Columns, outputs: Outputs) -> None:
    """Add a model to a graph, with its results under the names of the outputs.

    Raises
    ------
    ValueError
        If a label has no form in ONNX.
    """
    tested = sorted(set(features_of(model.formula))) or [0]
    matrix = columns.matrix(graph, tested)
    writer = FormulaWriter(graph, model.schema, tested, matrix)
    shape = graph.add("Shape", [matrix], end=1)
    ones = graph.add("Concat", [shape, graph.constant([1], np.int64)], axis=0)

    def column_of(formula: Formula) -> str:
        # A formula may be one number for all rows.
        return graph.add("Expand", [writer.value(formula), ones])

    column = column_of(model.formula)
    graph.add("Squeeze", [column, graph.constant([1], np.int64)], result=outputs.score)
    is_positive = graph.add("Greater", [outputs.score, graph.constant(0.0)])
    place = graph.add("Cast", [is_positive], to=INT64)
    graph.add("Gather", [_labels(graph, model.classes), place], result=outputs.label)
    if model.link is not None:
        positive = _probability(graph, column_of, column, model.link)
        negative = graph.add("Sub", [graph.constant([[1.0]]), positive])
        graph.add("Concat", [negative, positive], axis=1, result=outputs.probabilities)


def _probability(graph: Graph, column_of: _ColumnOf, column: str, link: Link) -> str:
    """Return the name of the probabilities of a column of scores."""
    match link:
        case OwnFormula(formula):
            return column_of(formula)
        case LogOdds(slope):
            if slope != 1.0:
                column = graph.add("Mul", [column, graph.constant([[slope]])])
            return graph.add("Sigmoid", [column])
        case Curve(calibration):
            return graph.add("Sigmoid", [_log_odds(graph, column, calibration)])
        case AboveHalf():
            return graph.add("Add", [column, graph.constant([[0.5]])])
        case StepLink(scores, probabilities):
            # The position of a score is the number of possible scores below it.
            last = graph.constant([1], np.int64)
            is_above = graph.add("Greater", [column, graph.constant(scores[np.newaxis, :])])
            place = graph.add("ReduceSum", [graph.add("Cast", [is_above], to=INT64), last])
            return graph.add("Gather", [graph.constant(probabilities), place])


def _log_odds(graph: Graph, column: str, calibration: _core.Calibration) -> str:
    """Return the name of the log-odds of a column of scores."""
    scores, log_odds = (np.array(knots) for knots in calibration.knots())
    below, above = calibration.slopes()
    slopes = np.concatenate(([below], np.diff(log_odds) / np.diff(scores), [above]))
    largest = np.finfo(np.float64).max
    low, high = np.append(-largest, scores), np.append(scores, largest)
    # Segments are summed from the end that is nearer to 0: all terms, and so their sum, have the
    # sign of the score.
    near = np.where(high <= 0, high, low)
    at_least = graph.add("Max", [column, graph.constant(low)])
    clipped = graph.add("Min", [at_least, graph.constant(high)])
    steps = graph.add("Sub", [clipped, graph.constant(near)])
    return graph.add("MatMul", [steps, graph.constant(slopes[:, np.newaxis])])


def label_type(onnx: Any, classes: NDArray[Any]) -> Any:
    """Return the type of the labels.

    Raises
    ------
    ValueError
        If a label has no form in ONNX.
    """
    types = onnx.TensorProto
    match classes.dtype.kind:
        case "b":
            return types.BOOL
        case "i" | "u":
            return types.INT64
        case "f":
            return types.DOUBLE
    if all(isinstance(label, str) for label in classes):
        return types.STRING
    raise ValueError(f"labels must be text or numbers in ONNX, got {list(classes)!r}")


def _labels(graph: Graph, classes: NDArray[Any]) -> str:
    """Return the name of a tensor of the two labels."""
    match classes.dtype.kind:
        case "b":
            return graph.constant(classes, np.bool_)
        case "i" | "u":
            return graph.constant(classes, np.int64)
        case "f":
            return graph.constant(classes, np.float64)
    return graph.texts(list(classes))
