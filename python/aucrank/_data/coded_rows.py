"""Batches of rows in the form of the core."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._data import frames
from aucrank._data.apart import columns_apart
from aucrank._data.facts import Facts
from aucrank._data.fingerprint import compared_batches
from aucrank._data.passes import Batch, Passes
from aucrank._data.weights import weigh_classes

#: Blocks by which rows are dealt, and whether they are times.
Blocks = tuple[NDArray[np.uint64], bool]

#: One vector per column, which rows are positive, their weights, and their blocks.
CodedBatch = tuple[list[NDArray[Any]], NDArray[np.bool_], NDArray[np.float64] | None, Blocks | None]


def coded_rows(passes: Passes, facts: Facts) -> Iterator[CodedBatch]:
    """Read all rows again, as numbers and codes of categories.

    Raises
    ------
    DataChangedError
        If the data differ from those of the facts.
    TypeError, ValueError
        If a value is not valid; the message gives its column and row.
    """
    for batch in compared_batches(passes, facts.names, facts.other_columns):
        yield coded_batch(batch, facts)


def coded_batch(batch: Batch, facts: Facts) -> CodedBatch:
    """Return the rows of a batch in the form of the core.

    Raises
    ------
    TypeError, ValueError
        If a value is not valid; the message gives its column and row.
    """
    columns = [coded_column(batch, facts, index) for index in range(len(facts.dtypes))]
    columns = columns_apart(columns, facts.special)
    blocks = None if facts.blocks is None else facts.blocks.of_batch(batch)
    return columns, *labels_and_weights(batch, facts), blocks


def labels_and_weights(
    batch: Batch, facts: Facts
) -> tuple[NDArray[np.bool_], NDArray[np.float64] | None]:
    """Return which rows of a batch are positive, and their weights times class weights.

    Raises
    ------
    TypeError, ValueError
        If a value is not valid; the message gives its place.
    """
    target = facts.target
    positive = target.positive(batch)
    return positive, weigh_classes(target.class_factors, positive, target.weights(batch))


def weights_of_rows(passes: Passes, facts: Facts) -> Iterator[NDArray[np.float64] | None]:
    """Read labels and weights again: weights of rows times those of their classes.

    Raises
    ------
    DataChangedError
        If the data differ from those of the facts.
    TypeError, ValueError
        If a value is not valid; the message gives its place.
    """
    for batch in compared_batches(passes, [], facts.target.columns):
        yield labels_and_weights(batch, facts)[1]


def coded_column(batch: Batch, facts: Facts, index: int) -> NDArray[Any]:
    """Return one of the columns of the schema, taken from the batch, in the form of the core.

    Raises
    ------
    TypeError, ValueError
        If a value is not valid; the message gives its column and row.
    """
    feature = facts.schema.features[index]
    assert feature.name is not None
    series, label = batch.frame[feature.name], facts.schema.label(index)
    with batch.named_in_errors():
        if feature.levels is not None:
            return feature.encode(frames.to_factors(series, label))
        if frames.is_counted(series, feature.counts):
            return frames.counted(series)
        numbers = frames.to_numbers(series, label).astype(facts.dtypes[index], copy=False)
    infinite = np.isinf(numbers)
    if infinite.any():
        row = int(infinite.argmax())
        raise ValueError(
            f"column {label} is {numbers[row]} in {batch.place(row)}; X must not hold infinity"
        )
    return numbers
