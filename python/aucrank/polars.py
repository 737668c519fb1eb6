"""Statistics as expressions of polars, for groups, windows and lazy queries.

>>> import polars as pl
>>> from aucrank.polars import auc
>>> rows = pl.DataFrame({
...     "town": ["Oslo", "Oslo", "Oslo", "Lyon", "Lyon", "Lyon"],
...     "score": [0.9, 0.2, 0.4, 0.7, 0.7, 0.1],
...     "bad": [1, 0, 1, 1, 0, 0],
... })
>>> rows.group_by("town").agg(auc("score", "bad")).sort("town").to_dict(as_series=False)
{'town': ['Lyon', 'Oslo'], 'score': [0.75, 1.0]}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aucrank._utils.extras import import_extra
from aucrank.metrics import roc_auc_score

__all__ = ["auc"]


def auc(score: Any, label: Any, weight: Any = None) -> Any:
    """Area under the ROC curve, as an expression of polars.

    Parameters
    ----------
    score : str or polars.Expr
        Scores; higher is more positive.
    label : str or polars.Expr
        Labels of two classes; the greater label is the positive class.
    weight : str or polars.Expr, default=None
        Weights of the rows: a row of weight k counts as k rows, one of weight 0 as none.

    Returns
    -------
    polars.Expr
        One number for all rows, for each group of ``group_by(...).agg``, or for each window of
        ``over``; it has the name of ``score``. It is null where a class is absent, since the AUC is
        undefined there.

    Raises
    ------
    ImportError
        If polars is not installed.

    See Also
    --------
    aucrank.metrics.roc_auc_score : The same number for arrays.
    aucrank.metrics.auc_by : Intervals for subgroups, and tests of their differences.

    Notes
    -----
    The query ends with an error if a score is null or NaN, a label is null, there are more than two
    labels in a group, or a weight is null, NaN, negative or infinite. Groups are computed one after
    another, each exactly, as :func:`~aucrank.metrics.roc_auc_score` does.

    Examples
    --------
    >>> import polars as pl
    >>> from aucrank.polars import auc
    >>> rows = pl.DataFrame({"a": [1, 2, 3, 4], "b": [4, 2, 3, 1], "y": [0, 1, 0, 1]})
    >>> rows.select(auc("a", "y"), auc("b", pl.col("y") == 1)).row(0)
    (0.75, 0.0)
    """
    polars = import_extra("polars", "polars", "aucrank.polars.auc")
    columns = [score, label] if weight is None else [score, label, weight]
    return polars.map_groups(
        columns, _auc_of_group, return_dtype=polars.Float64, returns_scalar=True
    )


def _auc_of_group(columns: Sequence[Any]) -> float | None:
    score, label, *weights = columns
    weight = weights[0] if weights else None
    is_known = not any(column.null_count() for column in columns) and not score.is_nan().any()
    counted = label if weight is None else label.filter(weight != 0)
    if is_known and counted.n_unique() < 2:
        return None
    return roc_auc_score(label, score, sample_weight=weight)
