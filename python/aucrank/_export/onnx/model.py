"""Models as ONNX documents: columns in; scores, labels and probabilities out."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._data.schema import Schema
from aucrank._export.formula import Formula, features_of
from aucrank._export.links import AboveHalf, Curve, Link, LogOdds, OwnFormula, Steps
from aucrank._export.onnx.columns import Inputs
from aucrank._export.onnx.formula import FormulaWriter
from aucrank._export.onnx.graph import INT64, IR_VERSION, OPSETS, Graph

# Adds a formula, and returns the name of its column.
_ColumnOf = Callable[[Formula], str]


class Answers(NamedTuple):
    """What a graph answers beside the score.

    Attributes
    ----------
    classes : ndarray of shape (2,)
        Labels; the second is that of scores above 0.
    link : Link or None
        What brings scores to probabilities, if anything does.
    """

    classes: NDArray[Any]
    link: Link | None


def write_model(
    onnx: Any, formula: Formula, inputs: Inputs, schema: Schema, answers: Answers, *, version: str
) -> Any:
    """Return a formula as an ``onnx.ModelProto``.

    Parameters
    ----------
    onnx : module
        The package.
    formula : Formula
        Of the score.
    inputs : Inputs
        What the graph is fed with.
    schema : Schema
        Of the columns.
    answers : Answers
        What else to answer.
    version : str
        Of aucrank, for the document.

    Raises
    ------
    ValueError
        If a label has no form in ONNX.
    """
    names = ["score", "label", *(["probabilities"] if answers.link is not None else [])]
    graph = Graph(onnx, [*inputs.taken, *names])
    # What comes in under the name of an output keeps it.
    outputs = [name if name not in inputs.taken else graph.free_name(name) for name in names]
    asked = sorted(set(features_of(formula)))
    matrix = inputs.matrix(graph, asked or [0])
    writer = FormulaWriter(graph, schema, asked or [0], matrix)
    shape = graph.add("Shape", [matrix], end=1)
    ones = graph.add("Concat", [shape, graph.constant([1], np.int64)], axis=0)

    def column(formula: Formula) -> str:
        # A formula may be one number for all rows.
        return graph.add("Expand", [writer.value(formula), ones])

    infos = _add_outputs(onnx, graph, column, formula, answers, outputs)
    made = onnx.helper.make_graph(
        graph.nodes, "ranker", inputs.infos, infos, initializer=graph.initializers
    )
    opsets = [onnx.helper.make_opsetid(*opset) for opset in (OPSETS | inputs.more_opsets).items()]
    return onnx.helper.make_model(
        made,
        opset_imports=opsets,
        ir_version=IR_VERSION,
        producer_name="aucrank",
        producer_version=version,
        doc_string="A score that ranks rows: the higher, the more positive",
    )


def _add_outputs(
    onnx: Any,
    graph: Graph,
    column_of: _ColumnOf,
    score: Formula,
    answers: Answers,
    names: list[str],
) -> list[Any]:
    """Add the outputs to a graph, and return what they are."""
    types, info = onnx.TensorProto, onnx.helper.make_tensor_value_info
    column = column_of(score)
    graph.add("Squeeze", [column, graph.constant([1], np.int64)], result=names[0])
    is_positive = graph.add("Greater", [names[0], graph.constant(0.0)])
    labels, kind = _labels(onnx, graph, answers.classes)
    place = graph.add("Cast", [is_positive], to=INT64)
    graph.add("Gather", [labels, place], result=names[1])
    infos = [info(names[0], types.DOUBLE, [None]), info(names[1], kind, [None])]
    if answers.link is not None:
        positive = _probability(graph, column_of, column, answers.link)
        negative = graph.add("Sub", [graph.constant([[1.0]]), positive])
        graph.add("Concat", [negative, positive], axis=1, result=names[2])
        infos.append(info(names[2], types.DOUBLE, [None, 2]))
    return infos


def _probability(graph: Graph, column_of: _ColumnOf, column: str, link: Link) -> str:
    """Return the name of the probabilities of a column of scores."""
    match link:
        case OwnFormula(formula):
            return column_of(formula)
        case LogOdds():
            return graph.add("Sigmoid", [column])
        case Curve(calibration):
            return graph.add("Sigmoid", [_log_odds(graph, column, calibration)])
        case AboveHalf():
            return graph.add("Add", [column, graph.constant([[0.5]])])
        case Steps(scores, probabilities):
            # How many of the scores are below it is the place of a score.
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
    # What a stretch adds is counted from the end that is nearer to 0: all terms have the sign of
    # the score, and so has their sum.
    near = np.where(high <= 0, high, low)
    at_least = graph.add("Max", [column, graph.constant(low)])
    clipped = graph.add("Min", [at_least, graph.constant(high)])
    steps = graph.add("Sub", [clipped, graph.constant(near)])
    return graph.add("MatMul", [steps, graph.constant(slopes[:, np.newaxis])])


def _labels(onnx: Any, graph: Graph, classes: NDArray[Any]) -> tuple[str, Any]:
    """Return the name and the type of a tensor of the two labels."""
    types = onnx.TensorProto
    if classes.dtype.kind == "b":
        return graph.constant(classes, np.bool_), types.BOOL
    if classes.dtype.kind in "iu":
        return graph.constant(classes, np.int64), types.INT64
    if classes.dtype.kind == "f":
        return graph.constant(classes, np.float64), types.DOUBLE
    if all(isinstance(label, str) for label in classes):
        return graph.texts(list(classes)), types.STRING
    raise ValueError(f"labels must be text or numbers in ONNX, got {list(classes)!r}")
