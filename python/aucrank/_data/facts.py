"""Facts about all rows that a fit needs before it can code the first one."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from aucrank._data.apart import schema_apart
from aucrank._data.block_survey import BlockFacts, BlockSurvey
from aucrank._data.column_survey import ColumnSurvey
from aucrank._data.fingerprint import Fingerprint, compared_batches
from aucrank._data.input import learn_names
from aucrank._data.passes import Batch, Passes
from aucrank._data.schema import Schema
from aucrank._data.target_survey import TargetFacts, TargetSurvey


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

    @property
    def other_columns(self) -> list[str]:
        """Names of the columns that are read in addition to the features."""
        found = self.target.columns
        return found if self.blocks is None else [*found, *self.blocks.columns]

    def with_special_apart(self, special: list[list[float]]) -> "Facts":
        """Return the facts about the same rows with special values set apart."""
        schema = schema_apart(self.schema, special)
        return replace(self, schema=schema, special=tuple(map(tuple, special)))


@dataclass(slots=True)
class RowSurvey:
    """Facts about rows, collected batch by batch.

    Attributes
    ----------
    features : list of str
        Columns to learn from.
    columns : ColumnSurvey
        Their kinds and levels.
    labels : TargetSurvey
        Labels and weights.
    blocks : BlockSurvey
        Groups and times.
    """

    features: list[str]
    columns: ColumnSurvey
    labels: TargetSurvey
    blocks: BlockSurvey

    @property
    def other_columns(self) -> list[str]:
        """Names of the columns that are read in addition to the features."""
        return [*self.labels.columns, *self.blocks.columns]

    def look_at(self, batch: Batch) -> None:
        """Record the rows of a batch, but not the dtypes of its columns.

        Raises
        ------
        TypeError, ValueError
            If a label, a weight, a category, a group or a time is not valid.
        """
        kept = self.labels.look_at(batch)
        self.blocks.look_at(batch, kept)
        with batch.named_in_errors():
            self.columns.look_at(batch, kept)

    def merge(self, other: "RowSurvey") -> None:
        """Add the facts about another part of the data."""
        self.columns.merge(other.columns)
        self.labels.merge(other.labels)
        self.blocks.merge(other.blocks)

    def finish(self, estimator: BaseEstimator, n_rows: int, description: str) -> Facts:
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
        target = self.labels.finish()
        schema, dtypes = self.columns.finish()
        return Facts(target, schema, dtypes, n_rows, blocks=self.blocks.finish())


def learn_facts(
    estimator: BaseEstimator, passes: Passes, survey: RowSurvey, *, any_columns: bool
) -> Facts:
    """Learn in one pass what `learn_columns` and the label checks learn from a whole frame.

    Sets ``n_features_in_`` and ``feature_names_in_`` of the estimator, as scikit-learn does.
    Columns with a numeric dtype are not read, unless their first rows hold 0 and 1 alone. All files
    must have the same columns, unless ``any_columns``.

    Raises
    ------
    DataChangedError
        If the data have changed.
    TypeError
        If a column is neither numeric nor categorical, or differs between files.
    ValueError
        If there are not two labels, or a label, a weight or a category is not valid.
    """
    features, other_columns = survey.features, survey.other_columns
    heads = passes.source.heads([*features, *other_columns])
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
            survey.columns.look_at_dtypes(head.frame, head.origin)
        possible = survey.columns.possible_flags
        if possible:
            # Most are found not to be flags in the first rows, and need not be read in this pass.
            for frame, origin in passes.source.read([*possible, *survey.labels.weight_columns]):
                first = Batch(frame, 0, origin)
                with first.named_in_errors():
                    survey.columns.look_for_flags(first.frame, survey.labels.kept(first))
                break
        needed = survey.columns.needed
    for batch in compared_batches(passes, needed, other_columns):
        if heads is None:
            if batch.first_row == 0:
                learn_names(estimator, batch.frame.select(features))
            survey.columns.look_at_dtypes(batch.frame, batch.origin)
        survey.look_at(batch)
    assert passes.n_rows is not None
    return survey.finish(estimator, passes.n_rows, passes.source.description)
