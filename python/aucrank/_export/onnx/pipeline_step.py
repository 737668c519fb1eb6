"""A ranker as a pipeline step for skl2onnx: its protocol of converters."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from aucrank._data.schema import Schema
from aucrank._export.onnx.columns import Columns, is_text
from aucrank._export.onnx.graph import EARLIER_OPSETS, FLOAT64, ML_DOMAIN, Graph
from aucrank._export.onnx.model import GraphModel, Outputs, add_model, label_type


class Convertible(Protocol):
    """A fitted ranker."""

    def _onnx_model(self) -> GraphModel:
        """Return the model from which documents are written."""


# The protocol -------------------------------------------------------------------------------------


def declare_outputs(ranker: Convertible, scope: Any) -> list[Any]:
    """Declare the outputs of a ranker, and return their skl2onnx variables.

    Raises
    ------
    ValueError
        If the option ``zipmap`` requests one output per class.
    """
    _drop_zipmap(ranker, scope)
    model = ranker._onnx_model()
    names = ["score"] if model.link is None else ["probabilities", "score"]
    double = _types().DoubleTensorType
    return [
        scope.declare_local_variable("label", _label_type(model, None)),
        *(scope.declare_local_variable(name, double()) for name in names),
    ]


def set_shapes(operator: Any) -> None:
    """Set the types and shapes of the outputs of a ranker.

    What another converter has declared to be of single precision stays so.
    """
    model = operator.raw_operator._onnx_model()
    label, *numbers = operator.outputs
    n_rows = operator.inputs[0].get_first_dimension()
    label.set_type(_label_type(model, n_rows))
    # If there is only one of the two, options decide which.
    widths = [2, 1] if len(numbers) == 2 else [1 if model.link is None else None]
    for variable, width in zip(numbers, widths, strict=True):
        variable.set_type(type(variable.type)([n_rows, width]))


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Add a ranker to a container of skl2onnx.

    Raises
    ------
    ValueError
        If a part of the model has no form in the requested opsets, or the columns from the step
        before the ranker differ from those of its fit.
    """
    onnx = import_module("onnx")
    ranker = operator.raw_operator
    model = ranker._onnx_model()
    graph = Graph(onnx, scope.get_unique_variable_name, _opsets(ranker, container))
    found = Outputs(
        graph.free_name("score"),
        graph.free_name("label"),
        None if model.link is None else graph.free_name("probabilities"),
    )
    add_model(graph, model, _Handed(model.schema, operator.inputs), found)
    score = graph.add("Unsqueeze", [found.score, graph.constant([1], np.int64)])
    label, *numbers = operator.outputs
    answers = [score] if found.probabilities is None else [found.probabilities, score]
    if len(numbers) == 1 and _asks_for_scores(ranker, container):
        answers = [score]
    graph.add("Identity", [found.label], result=label.full_name)
    single = _types().FloatTensorType
    # A converter of several models, such as that of a stack, requests one of the two.
    for variable, answer in zip(numbers, answers[: len(numbers)], strict=True):
        if isinstance(variable.type, single):
            graph.add("Cast", [answer], result=variable.full_name, to=onnx.TensorProto.FLOAT)
        else:
            graph.add("Identity", [answer], result=variable.full_name)
    _hand_over(onnx, graph, container)


# Columns ------------------------------------------------------------------------------------------


class _Handed(Columns):
    """Columns from the previous step: one matrix, or several side by side.

    Parameters
    ----------
    schema : Schema
        Columns of the fit.
    variables : sequence of Variable
        Variables of skl2onnx. Several of one column each are matched by name if the fit saw names.

    Raises
    ------
    ValueError
        If they are not the columns of the fit.
    """

    def __init__(self, schema: Schema, variables: Sequence[Any]) -> None:
        super().__init__(schema)
        self._variables = variables
        self._doubles: dict[int, str] = {}
        n_features = len(schema.features)
        widths = [variable.get_second_dimension() for variable in variables]
        if len(variables) == 1 and widths[0] is None:
            widths = [n_features]
        names = [variable.raw_name for variable in variables]
        if None in widths or sum(widths) != n_features:
            shown = [
                f"{name!r} of {width} columns" for name, width in zip(names, widths, strict=True)
            ]
            raise ValueError(
                f"the ranker was fitted to {n_features} columns, and its inputs are"
                f" {', '.join(shown)}"
            )
        self._widths = widths
        self._places = [(k, column) for k, width in enumerate(widths) for column in range(width)]
        if len(variables) > 1 and schema.names is not None and set(widths) == {1}:
            if set(names) != set(schema.names):
                raise ValueError(
                    f"the ranker was fitted to the columns {schema.names}, and its inputs are"
                    f" {names}"
                )
            self._places = [(names.index(name), 0) for name in schema.names]

    def _column(self, graph: Graph, feature: int) -> str:
        number, column = self._places[feature]
        matrix = self._matrix(graph, number, feature)
        if self._widths[number] == 1:
            return matrix
        return graph.add("Gather", [matrix, graph.constant([column], np.int64)], axis=1)

    def _matrix(self, graph: Graph, number: int, feature: int) -> str:
        """Return the name of an input that has the column of a feature, its numbers as doubles."""
        variable, types = self._variables[number], _types()
        label = self._schema.label(feature)
        of_text = isinstance(variable.type, types.StringTensorType)
        if not of_text and not isinstance(variable.type, types.TensorType):
            raise ValueError(f"the input {variable.raw_name!r} of the ranker is not a tensor")
        if of_text != is_text(self._schema.features[feature], label):
            here, there = ("numbers", "text") if of_text else ("text", "numbers")
            raise ValueError(
                f"column {label} holds {here}, and the input {variable.raw_name!r} {there}"
            )
        if of_text or isinstance(variable.type, types.DoubleTensorType):
            return str(variable.full_name)
        if number not in self._doubles:
            self._doubles[number] = graph.add("Cast", [variable.full_name], to=FLOAT64)
        return self._doubles[number]


# skl2onnx -----------------------------------------------------------------------------------------


def _types() -> Any:
    """Return the module of the types of variables."""
    return import_module("skl2onnx.common.data_types")


def _label_type(model: GraphModel, n_rows: int | None) -> Any:
    """Return the type of a variable of labels."""
    types, proto = _types(), import_module("onnx").TensorProto
    kinds = {
        proto.BOOL: types.BooleanTensorType,
        proto.INT64: types.Int64TensorType,
        proto.DOUBLE: types.DoubleTensorType,
        proto.STRING: types.StringTensorType,
    }
    return kinds[label_type(import_module("onnx"), model.classes)]([n_rows])


def _drop_zipmap(ranker: Convertible, scope: Any) -> None:
    """Drop an option that a pipeline sets for any classifier, and that only known ones accept."""
    for key in (id(ranker), type(ranker)):
        options = (scope.options or {}).get(key) or {}
        if options.get("zipmap") == "columns":
            raise ValueError(
                f"a {type(ranker).__name__} answers probabilities as one matrix: the option"
                " zipmap='columns' has no form"
            )
        if "zipmap" in options:
            scope.options[key] = {name: options[name] for name in options if name != "zipmap"}


def _asks_for_scores(ranker: Convertible, container: Any) -> bool:
    """Whether a stack requests scores; only a registered ranker can provide them."""
    return bool((container.get_options(ranker, fail=False) or {}).get("raw_scores"))


def _opsets(ranker: Convertible, container: Any) -> dict[str, int]:
    """Return the operator versions of a container."""
    found = {domain: container.target_opset_any_domain(domain) for domain in EARLIER_OPSETS}
    if any(found[domain] < least for domain, least in EARLIER_OPSETS.items()):
        raise ValueError(
            f"a {type(ranker).__name__} takes target_opset={EARLIER_OPSETS} or later, got {found}"
        )
    return found | {ML_DOMAIN: EARLIER_OPSETS[ML_DOMAIN]}


def _hand_over(onnx: Any, graph: Graph, container: Any) -> None:
    """Add the constants and nodes of a graph to a container, each with its own version."""
    for tensor in graph.initializers:
        if tensor.data_type == onnx.TensorProto.STRING:
            texts = list(tensor.string_data)
            container.add_initializer(tensor.name, tensor.data_type, list(tensor.dims), texts)
        else:
            container.add_initializer(tensor.name, tensor.data_type, None, tensor)
    for node in graph.nodes:
        schema = onnx.defs.get_schema(node.op_type, graph.opsets[node.domain], node.domain)
        container.add_node(
            node.op_type,
            list(node.input),
            list(node.output),
            op_domain=node.domain,
            op_version=schema.since_version,
            name=node.name,
            **{one.name: onnx.helper.get_attribute_value(one) for one in node.attribute},
        )
