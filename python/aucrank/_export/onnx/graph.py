"""An ONNX graph that grows node by node."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

ML_DOMAIN = "ai.onnx.ml"

#: Versions of operators by domain; trees of doubles and of sets of categories came with this one.
OPSETS = {"": 18, ML_DOMAIN: 5}

#: Version of the file format; the least that knows these operators.
IR_VERSION = 10

#: Types as ``onnx.TensorProto`` numbers them.
INT64, FLOAT64 = 7, 11


class Graph:
    """Nodes and constants of a graph; results go by name.

    Parameters
    ----------
    onnx : module
        The package.
    taken : sequence of str
        Names that nodes must not have.
    """

    def __init__(self, onnx: Any, taken: Sequence[str]) -> None:
        self._onnx = onnx
        self._taken = set(taken)
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def free_name(self, stem: str) -> str:
        """Return a name that nothing has yet, and take it."""
        name, number = stem, 1
        while name in self._taken:
            number += 1
            name = f"{stem}_{number}"
        self._taken.add(name)
        return name

    def add(
        self,
        operator: str,
        inputs: Sequence[str],
        *,
        domain: str = "",
        result: str | None = None,
        n_results: int = 1,
        **attributes: Any,
    ) -> str:
        """Add a node, and return the name of its first result."""
        name = self.free_name(operator.lower()) if result is None else result
        results = [name, *(self.free_name(f"{name}_rest") for _ in range(n_results - 1))]
        node = self._onnx.helper.make_node(
            operator, list(inputs), results, name=name, domain=domain, **attributes
        )
        self.nodes.append(node)
        return name

    def constant(self, values: Any, dtype: type = np.float64) -> str:
        """Return the name of a tensor of constants, each of which is kept once."""
        array: NDArray[Any] = np.asarray(values, dtype=dtype)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            name = self.free_name("constant")
            self.initializers.append(self._onnx.numpy_helper.from_array(array, name))
            self._constants[key] = name
        return self._constants[key]

    def texts(self, values: Sequence[str]) -> str:
        """Return the name of a tensor of texts."""
        tensor = self.tensor(np.array(values, dtype=object))
        tensor.name = self.free_name("texts")
        self.initializers.append(tensor)
        return str(tensor.name)

    def tensor(self, values: NDArray[Any] | Sequence[Any]) -> Any:
        """Return an attribute that is a tensor."""
        array: NDArray[Any] = np.asarray(values)
        if array.dtype.kind not in "OU":
            return self._onnx.numpy_helper.from_array(array)
        texts = [str(value).encode() for value in array.ravel()]
        string = self._onnx.TensorProto.STRING
        return self._onnx.helper.make_tensor("", string, array.shape, texts)
