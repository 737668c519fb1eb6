"""The steps of a fitted pipeline, from the columns of the data to those of the ranker."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    TargetEncoder,
)
from sklearn.utils.validation import check_is_fitted

from aucrank._export.formula import Arithmetic
from aucrank._export.pipeline.bins import binarized, discretized
from aucrank._export.pipeline.columns import Column, computed
from aucrank._export.pipeline.encoders import one_hot, ordinal, target_means
from aucrank._export.pipeline.imputers import imputed, indicated
from aucrank._export.pipeline.scalers import SCALERS, scaled

_BY_COLUMN: dict[type, Callable[[Any, Sequence[Column]], list[Column]]] = {
    SimpleImputer: imputed,
    MissingIndicator: indicated,
    OneHotEncoder: one_hot,
    OrdinalEncoder: ordinal,
    TargetEncoder: target_means,
    KBinsDiscretizer: discretized,
    Binarizer: binarized,
}


class Block(NamedTuple):
    """Columns between two steps.

    Attributes
    ----------
    columns : list of Column
        The columns.
    is_sparse : bool
        Whether they are a sparse matrix, in which some steps compute otherwise.
    """

    columns: list[Column]
    is_sparse: bool


def flat_steps(pipeline: Any, inside: str = "") -> list[tuple[str, Any]]:
    """Return the named steps of a pipeline, and in place of a last pipeline its own."""
    steps = [(f"{inside}{name}", step) for name, step in pipeline.steps]
    name, last = steps[-1]
    return [*steps[:-1], *flat_steps(last, f"{name}__")] if isinstance(last, Pipeline) else steps


def after_steps(steps: Sequence[tuple[str, Any]], block: Block, inside: str = "") -> Block:
    """Return the columns after the named steps of a pipeline.

    Parameters
    ----------
    steps : sequence of (str, transformer)
        The fitted steps.
    block : Block
        The columns before them.
    inside : str, default=""
        Name of what the steps are a part of, for messages.

    Raises
    ------
    ValueError
        If a step is not a function of one column at a time that has a form.
    """
    for name, step in steps:
        block = after(step, block, f"{inside}{name}")
    return block


def after(step: Any, block: Block, name: str) -> Block:
    """Return the columns after a fitted transformer, "passthrough" or "drop"."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return block
    if isinstance(step, str) and step == "drop":
        return block._replace(columns=[])
    match step:
        case Pipeline():
            return after_steps(step.steps, block, f"{name}__")
        case ColumnTransformer():
            check_is_fitted(step)
            return _after_column_transformer(step, block, name)
        case FeatureUnion():
            return _after_union(step, block, name)
        case FunctionTransformer(func=None):
            return block
    kind = type(step)
    if kind not in SCALERS and kind not in _BY_COLUMN and not hasattr(step, "get_support"):
        raise ValueError(
            f"step {name!r} is a {kind.__name__}, which has no form in a formula of the columns:"
            f" {_what_folds(step)}"
        )
    check_is_fitted(step)
    if kind in SCALERS:
        return block._replace(columns=scaled(step, block.columns, is_sparse=block.is_sparse))
    if kind in _BY_COLUMN:
        return Block(_BY_COLUMN[kind](step, block.columns), _is_sparse_after(step, block))
    chosen = zip(block.columns, step.get_support(), strict=True)
    return block._replace(columns=[column for column, is_kept in chosen if is_kept])


def _what_folds(step: Any) -> str:
    if isinstance(step, FunctionTransformer):
        return "a FunctionTransformer is exported only without a function, as an identity"
    names = sorted(kind.__name__ for kind in (*SCALERS, *_BY_COLUMN))
    return (
        f"steps that are exported are {', '.join(names)}, selectors of columns, and"
        " ColumnTransformer, FeatureUnion and Pipeline of these"
    )


def _is_sparse_after(step: Any, block: Block) -> bool:
    match step:
        case OneHotEncoder():
            return bool(step.sparse_output)
        case KBinsDiscretizer():
            return bool(step.encode == "onehot")
        case MissingIndicator():
            return step.sparse is True or (step.sparse == "auto" and block.is_sparse)
    return block.is_sparse and isinstance(step, SimpleImputer | Binarizer)


def _after_column_transformer(step: Any, block: Block, name: str) -> Block:
    found: list[Column] = []
    for part, transformer, _ in step.transformers_:
        # Resolved in fit: names, slices, masks and callables are positions.
        places = step._transformer_to_input_indices[part]
        if len(places) == 0:
            continue
        chosen = Block([block.columns[place] for place in places], block.is_sparse)
        after_part = after(transformer, chosen, f"{name}__{part}")
        found += _weighted(after_part, step.transformer_weights, part, f"{name}__{part}")
    return Block(found, bool(step.sparse_output_))


def _after_union(step: Any, block: Block, name: str) -> Block:
    found: list[Column] = []
    is_sparse = False
    for part, transformer in step.transformer_list:
        after_part = after(transformer, block, f"{name}__{part}")
        found += _weighted(after_part, step.transformer_weights, part, f"{name}__{part}")
        is_sparse |= after_part.is_sparse and len(after_part.columns) > 0
    return Block(found, is_sparse)


def _weighted(block: Block, weights: Any, part: str, name: str) -> list[Column]:
    """Return columns times the weight of their transformer."""
    weight = (weights or {}).get(part)
    if weight is None:
        return block.columns
    if not np.isfinite(weight) or weight <= 0:
        raise ValueError(
            f"the columns of step {name!r} have the weight {weight!r} in transformer_weights;"
            " only weights above 0 are exported"
        )
    return [computed(column, Arithmetic("*", float(weight))) for column in block.columns]


def data_columns(pipeline: Any) -> tuple[int, list[str] | None]:
    """Return the number of the columns of the data that a pipeline was fitted to, and their names.

    Raises
    ------
    ValueError
        If no step has them.
    """
    for step in _first_steps(pipeline):
        names = getattr(step, "feature_names_in_", None)
        n_columns = getattr(step, "n_features_in_", None)
        if n_columns is not None:
            return int(n_columns), None if names is None else [str(name) for name in names]
    raise ValueError("no step of the pipeline says how many columns it was fitted to")


def _first_steps(step: Any) -> list[Any]:
    """Return the steps that read the data, or may have passed them on."""
    match step:
        case Pipeline():
            return [found for _, part in step.steps for found in _first_steps(part)]
        case FeatureUnion():
            return [step, *(part for _, part in step.transformer_list)]
    return [step]
