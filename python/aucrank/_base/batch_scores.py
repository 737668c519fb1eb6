"""Scores of rows read in batches."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._base.scoring import score_rows
from aucrank._data.column_warnings import each_column_named_once
from aucrank._data.csv_text import cell_text
from aucrank._data.data_files import PathLike
from aucrank._data.passes import Batch
from aucrank._data.reading import Fitted
from aucrank._data.table_file import check_table_name, is_parquet, table_file
from aucrank._utils.extras import import_extra
from aucrank.data import Dataset
from aucrank.data._holder import PROBABILITY, SCORE


def check_dataset(dataset: Any) -> None:
    """Check that ``dataset`` is a `Dataset`.

    Raises
    ------
    TypeError
        If it is not.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(
            f"dataset must be an aucrank.data.Dataset, got a {type(dataset).__name__}; to score"
            " rows in memory call decision_function"
        )


def fitted_of(ranker: Any) -> Fitted:
    """Return what a fitted estimator knows of the files of its fit."""
    features = ranker._schema.features if hasattr(ranker, "_schema") else ()
    numbers = [f.name for f in features if f.levels is None and f.name is not None]
    texts = [
        f.name
        for f in features
        if f.name is not None and f.levels and all(isinstance(level, str) for level in f.levels)
    ]
    dates = ranker._schema.date_units if features else {}
    return Fitted(getattr(ranker, "_reading", None), tuple(numbers), tuple(texts), dates)


def scored_batches(
    ranker: Any, dataset: Dataset, other_columns: Sequence[str] = ()
) -> Iterator[tuple[Batch, Any, NDArray[np.float64]]]:
    """Score the rows of a data set, one batch at a time.

    Parameters
    ----------
    ranker : estimator
        Fitted; reads the columns of its fit by name, or else those of the data set.
    dataset : Dataset
        The rows.
    other_columns : sequence of str
        Further columns to read.

    Yields
    ------
    batch : Batch
        With all columns that were read.
    X : data frame
        The columns that the estimator reads.
    scores : ndarray of float64
        One per row.

    Raises
    ------
    TypeError
        If ``dataset`` is not a `Dataset`.
    """
    check_dataset(dataset)
    features = list(getattr(ranker, "feature_names_in_", dataset.columns))
    dataset = dataset.read_as(fitted_of(ranker))
    named: set[str] = set()
    for batch in dataset.passes.batches(list(dict.fromkeys([*features, *other_columns]))):
        X = batch.frame.select(features).to_native()
        with batch.named_in_errors(), each_column_named_once(named):
            scores = score_rows(ranker, X)
        yield batch, X, scores


def write_scores(
    ranker: Any, dataset: Dataset, path: PathLike, columns: Sequence[str], *, proba: bool
) -> int:
    """Write the scores of a data set to a file; return their number.

    Parameters
    ----------
    ranker : estimator
        Fitted.
    dataset : Dataset
        The rows.
    path : path-like
        A path that `table_file` accepts.
    columns : sequence of str
        Columns of the rows to write before the scores.
    proba : bool
        Whether to write the probability of the second class, too.
    """
    check_table_name(path)
    if isinstance(columns, str):
        raise TypeError(f"columns must be a list of names, got {columns!r}")
    added = [SCORE, PROBABILITY] if proba else [SCORE]
    if taken := [name for name in columns if name in added]:
        raise ValueError(f"columns holds {taken[0]!r}, the name of an added column")
    written = [dataset.passes.source.written(name) for name in columns]
    pieces = scored_batches(ranker, dataset, written)
    pyarrow = import_extra("pyarrow", "arrow", "write_scores")
    # Score the first batch before creating the file: errors in the columns show here.
    first = next(pieces, None)
    if first is None:
        raise ValueError(f"{dataset!r} has no rows to score")
    schema = _schema(pyarrow, dataset, first[0], dict(zip(columns, written, strict=True)), added)
    is_text = not is_parquet(path)
    if is_text:
        schema = _of_texts(pyarrow, schema, len(columns))
    n_rows = 0
    with table_file(path, schema) as out:
        for batch, X, scores in chain([first], pieces):
            found = [scores]
            with batch.named_in_errors():
                if proba:
                    found.append(ranker.predict_proba(X)[:, 1].copy())
                other_columns = batch.frame.select(written).to_arrow().columns if columns else []
                if is_text:
                    other_columns = [
                        _as_texts(pyarrow, values)
                        if schema.field(k).type == pyarrow.string()
                        else values
                        for k, values in enumerate(other_columns)
                    ]
                table = pyarrow.table([*other_columns, *found], names=schema.names)
                out.write_table(table.cast(schema))
            n_rows += len(scores)
    return n_rows


def _schema(
    pyarrow: Any,
    dataset: Dataset,
    first: Batch,
    columns: Mapping[str, str],
    added: Sequence[str],
) -> Any:
    """Return the types of all columns of a file of scores.

    Columns of the data set take the type that all files have in common, or that of the first batch
    where only the rows show it. They are read under the names that ``columns`` maps to.
    """
    other_columns = pyarrow.schema([])
    if columns:
        read = list(columns.values())
        heads = dataset.passes.source.heads(read)
        shown = [first.frame.select(read)] if heads is None else [head.frame for head in heads]
        schemas = [frame.to_arrow().schema for frame in shown]
        other_columns = pyarrow.unify_schemas(schemas, promote_options="permissive")
    plain = [
        field.with_type(field.type.value_type).with_nullable(True)
        if pyarrow.types.is_dictionary(field.type)
        else field
        for field in other_columns
    ]
    named = [field.with_name(name) for name, field in zip(columns, plain, strict=True)]
    return pyarrow.schema([*named, *((name, pyarrow.float64()) for name in added)])


def _of_texts(pyarrow: Any, schema: Any, n_columns: int) -> Any:
    """Return the types of a CSV file: of the first columns, all but integers are texts."""
    types = pyarrow.types
    return pyarrow.schema(
        field
        if k >= n_columns or types.is_integer(field.type) or types.is_boolean(field.type)
        else field.with_type(pyarrow.string())
        for k, field in enumerate(schema)
    )


def _as_texts(pyarrow: Any, values: Any) -> Any:
    """Return a column as the texts of a CSV file."""
    if pyarrow.types.is_string(values.type) or pyarrow.types.is_large_string(values.type):
        return values
    # NaN is the one value that differs from itself.
    texts = [None if v is None or v != v else cell_text(v) for v in values.to_pylist()]
    return pyarrow.array(texts, pyarrow.string())
