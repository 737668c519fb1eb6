"""What a fit has to know of all rows before it can code the first of them."""

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
    """What is known of all rows.

    Attributes
    ----------
    target : TargetFacts
        Of their labels and weights.
    schema : Schema
        Names, kinds and levels of the columns.
    dtypes : tuple of dtype
        Of a vector a column that is read, as the core borrows them: float32, float64, or uint32
        for codes.
    n_rows : int
        Number of rows, those of weight zero included.
    special : tuple of tuple of float, default=()
        Special values of each column, if they are set apart as by `columns_apart`: the schema has
        the columns beside, which are made, not read, after all others.
    parts : tuple of Fingerprint, default=()
        What the partitions of a cluster held; none for rows that are read here.
    blocks : BlockFacts or None, default=None
        What rows are dealt into folds by, unless each by its own content.
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
        """Names of the columns that are read beside the features."""
        found = columns_beside(target, weight)
        return found if self.blocks is None else [*found, *self.blocks.columns]

    def with_special_apart(self, special: list[list[float]]) -> "Facts":
        """Return what is known of the same rows with special values apart."""
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
    """Learn in one pass what `learn_columns` and the checks of labels learn from a whole frame.

    Sets ``n_features_in_`` and ``feature_names_in_`` of the estimator, as scikit-learn does. Of
    columns whose dtype says that they are numbers, no row is read. Unless there may be
    ``any_columns``, all files must have the same.

    Raises
    ------
    DataChangedError
        If the data are not what they were.
    TypeError
        If a column is neither numeric nor categorical, or not the same everywhere.
    ValueError
        If the labels are not two, or a label, a weight or a category is not valid.
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
    """Return what is known once all rows were looked at.

    Raises
    ------
    TypeError
        If a column is neither numeric nor categorical.
    ValueError
        If there is no row, the labels are not two, or one has no weight.
    """
    if n_rows == 0:
        raise ValueError(
            f"Found array with 0 sample(s) in {description} while a minimum of 1 is required by"
            f" {type(estimator).__name__}."
        )
    of_target = labels.finish(positive)
    schema, dtypes = columns.finish()
    return Facts(of_target, schema, dtypes, n_rows)
