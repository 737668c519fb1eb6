"""Data sets that do not fit in memory, read in batches.

A `Dataset` stands for the rows of files, of a query or of any source that can be read again. Every
fitted ranker scores one: ``decision_function_batches`` and ``write_scores`` hold one batch in
memory at a time, and :func:`aucrank.metrics.roc_state` evaluates the scores. Rows of a cluster or
of a database stay where they are. `read_csv` reads a file that fits in memory in the same way.
"""

from aucrank._data.passes import DataChangedError
from aucrank.data._dataset import Dataset
from aucrank.data._patience import ClusterError
from aucrank.data._read_csv import read_csv

__all__ = ["ClusterError", "DataChangedError", "Dataset", "read_csv"]
