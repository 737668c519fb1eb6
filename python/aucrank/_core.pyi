import numpy as np
from numpy.typing import NDArray

__version__: str

def auc(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float: ...
