"""Facts about all rows that a fit needs before it can code the first one."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from aucrank._data.apart import schema_apart
from aucrank._data.block_survey import BlockFacts, BlockSurvey
from aucrank._data.column_survey import ColumnSurvey
from aucrank._data.fingerprint import Fingerprint, compared_batches
from aucrank._data.input import KindsByColumn, learn_names
from aucrank._data.passes import Passes
from aucrank._data.schema import Schema
from aucrank._data.target_survey import TargetFacts, TargetSurvey
from aucrank._data.weights import check_class_weight


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about all rows.

    Attributes
    ----------
    target : TargetFacts
        Facts about their labels and weights.
    schema : Schema
        Names, kinds and levels of the columns.
    dtypes : tuple of dtype
        Of each column that is read, in the form of the core: float32, float64, or uint32 for codes.
    n_rows : int
        Number of rows, those of weight zero included.
    special : tuple of tuple of float, default=()
        Special values of each column, if they are set apart as by `columns_apart`: the schema then
        has the added columns, which are computed, not read, after all others.
    parts : tuple of Fingerprint, default=()
        Fingerprints of the partitions of a cluster; none for rows that are read here.
    blocks : BlockFacts or None, default=None
        Blocks by which rows are dealt into folds, unless each is dealt by its content.
    """

    target: TargetFacts
    schema: Schema
    dtypes: tuple[np.dtype[Any], ...]
    n_rows: int
    special: tuple[tuple[float, ...], ...] = field(default=(), kw_only=True)
    parts: tuple[Fingerprint, ...] = field(default=(), kw_only=True)
    blocks: BlockFacts | None = field(default=None, kw_only=True)

    @property
    def names(self) -> list[str]:
        """Names of the columns that are read."""
        names = self.schema.names
        assert names is not None
        return names[: len(self.dtypes)]

    def beside(self, target: str, weight: str | None) -> list[str]:
        """Names of the columns that are read in addition to the features."""
        found = columns_beside(target, weight)
        return found if self.blocks is None else [*found, *self.blocks.columns]

    def with_special_apart(self, special: list[list[float]]) -> "Facts":
        """Return the facts about the same rows with special values set apart."""
        schema = schema_apart(self.schema, special)
        return replace(self, schema=schema, special=tuple(map(tuple, special)))


def columns_beside(target: str, weight: str | None) -> list[str]:
    """Names of the columns of labels and weights."""
    return [target] if weight is None else [target, weight]


def learn_facts(
    estimator: BaseEstimator,
    passes: Passes,
    features: list[str],
    target: str,
    positive: Any,
    weight: str | None,
    *,
    any_columns: bool,
    blocks: BlockSurvey,
    categorical_features: Any,
    class_weight: Any,
    also: KindsByColumn | None,
) -> Facts:
    """Learn in one pass what `learn_columns` and the label checks learn from a whole frame.

    Sets ``n_features_in_`` and ``feature_names_in_`` of the estimator, as scikit-learn does.
    Columns with a numeric dtype are not read. All files must have the same columns, unless
    ``any_columns``.

    Raises
    ------
    DataChangedError
        If the data have changed.
    TypeError
        If a column is neither numeric nor categorical, or differs between files.
    ValueError
        If there are not two labels, or a label, a weight or a category is not valid.
    """
    check_class_weight(class_weight)
    columns = ColumnSurvey(features, categorical_features, also)
    labels = TargetSurvey(target, weight, class_weight)
    beside = [*columns_beside(target, weight), *blocks.columns]
    heads = passes.source.heads([*features, *beside])
    known = set(passes.source.names)
    needed = features
    if heads is not None:
        for index, head in enumerate(heads):
            if index == 0:
                learn_names(estimator, head.frame.select(features))
            more = [name for name in head.names if name not in known]
            if more and not any_columns:
                raise ValueError(
                    f"{head.origin} has a column {more[0]!r}, which {passes.source.files[0]} has"
                    " not; name the columns to read in `columns`"
                )
            columns.look_at_dtypes(head.frame, head.origin)
        needed = columns.categorical
    for batch in compared_batches(passes, needed, beside):
        if heads is None:
            if batch.first_row == 0:
                learn_names(estimator, batch.frame.select(features))
            columns.look_at_dtypes(batch.frame, batch.origin)
        kept = labels.look_at(batch)
        blocks.look_at(batch, kept)
        with batch.named_in_errors():
            columns.look_at(batch, kept)
    assert passes.n_rows is not None
    facts = finish_facts(
        estimator, columns, labels, positive, passes.n_rows, passes.source.description
    )
    return replace(facts, blocks=blocks.finish())


def finish_facts(
    estimator: BaseEstimator,
    columns: ColumnSurvey,
    labels: TargetSurvey,
    positive: Any,
    n_rows: int,
    description: str,
) -> Facts:
    """Return the facts once all rows have been recorded.

    Raises
    ------
    TypeError
        If a column is neither numeric nor categorical.
    ValueError
        If there is no row, there are not two labels, or a label has no weight.
    """
    if n_rows == 0:
        raise ValueError(
            f"Found array with 0 sample(s) in {description} while a minimum of 1 is required by"
            f" {type(estimator).__name__}."
        )
    of_target = labels.finish(positive)
    schema, dtypes = columns.finish()
    return Facts(of_target, schema, dtypes, n_rows)
