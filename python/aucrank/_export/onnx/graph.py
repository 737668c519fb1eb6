"""An ONNX graph that is built node by node."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

ML_DOMAIN = "ai.onnx.ml"

#: Operator versions by domain; the first with trees of doubles and of sets of categories.
OPSETS = {"": 18, ML_DOMAIN: 5}

#: The lowest without such trees; skl2onnx supports no later version of ai.onnx.ml.
EARLIER_OPSETS = {"": 15, ML_DOMAIN: 3}

#: File format version; the lowest that supports these operators.
IR_VERSION = 10

#: Types, numbered as in ``onnx.TensorProto``.
FLOAT32, INT64, FLOAT64 = 1, 7, 11


class Names:
    """The names of a graph, each used once."""

    def __init__(self, taken: Sequence[str]) -> None:
        self._taken = set(taken)

    def free(self, stem: str) -> str:
        """Return an unused name, and reserve it."""
        name, number = stem, 1
        while name in self._taken:
            number += 1
            name = f"{stem}_{number}"
        self._taken.add(name)
        return name


class Graph:
    """Nodes and constants of a graph; results are referred to by name.

    Parameters
    ----------
    onnx : module
        The package.
    free_name : callable
        Returns an unused name with the given prefix, and reserves it.
    opsets : dict of str to int
        Operator versions by domain.
    """

    def __init__(self, onnx: Any, free_name: Callable[[str], str], opsets: dict[str, int]) -> None:
        self._onnx = onnx
        self.free_name = free_name
        self.opsets = opsets
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    @property
    def has_double_trees(self) -> bool:
        """Whether trees output doubles and test for sets of categories."""
        return self.opsets[ML_DOMAIN] >= OPSETS[ML_DOMAIN]

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
        """Return the name of a constant tensor; equal ones are stored once."""
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
