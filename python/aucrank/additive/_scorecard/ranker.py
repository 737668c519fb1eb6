"""The ranker that a scorecard stands for: which ones serve, and their step functions."""

import json
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.fit_context import FitContext
from aucrank._base.monotonic import monotonic_directions
from aucrank._base.ranker import BaseRanker
from aucrank._base.registry import get_estimator
from aucrank._data.input import Columns
from aucrank._data.schema import Schema
from aucrank._utils.params import check_seed
from aucrank.additive._bins import special_by_column
from aucrank.additive._scorecard.special import join, set_apart

#: Weak rankers of boosting that ask one feature each.
_ADDITIVE = ("feature", "threshold")


def check_ranker(estimator: Any) -> None:
    """Check the parameter ``estimator`` of a scorecard.

    Raises
    ------
    TypeError
        If it is no ranker that adds up step functions of single features.
    ValueError
        If it is one, but its parameters make it another.
    NotFittedError
        If it is frozen before it was fitted.
    """
    if estimator is None:
        return
    ranker = estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator
    if not (isinstance(ranker, BaseRanker) and hasattr(type(ranker), "_step_functions")):
        raise TypeError(
            "estimator must be a RIMARC, RankBoost, AUCBoost, GradientBoostingRanker or AURORA, a"
            f" fitted one of them in a sklearn.frozen.FrozenEstimator, or None; got {estimator!r}"
        )
    weak_ranker = getattr(ranker, "weak_ranker", "feature")
    if not (isinstance(weak_ranker, str) and weak_ranker in _ADDITIVE):
        raise ValueError(
            f"estimator is {type(ranker).__name__} with weak_ranker={weak_ranker!r}, but a"
            ' scorecard needs one that asks a single feature: "feature" or "threshold"'
        )
    if ranker is not estimator:
        check_is_fitted(ranker)
        return
    if ranker.class_weight is not None:
        raise ValueError(
            f"class_weight of the estimator must be None, got {ranker.class_weight!r}: that of the"
            " scorecard holds for both"
        )
    for name, value, what in (("order", 1, "terms"), ("interactions", 0, "trees")):
        given = getattr(ranker, name, value)
        if not (isinstance(given, Integral) and given == value):
            raise ValueError(
                f"estimator is {type(ranker).__name__} with {name}={given!r}, but a scorecard"
                f" needs {what} that ask a single feature: {name}={value}"
            )


def ranker_of(estimator: Any) -> Any:
    """Return the ranker that the parameter ``estimator`` of a scorecard stands for."""
    if estimator is None:
        # A seed of its own: the same rows always have the same card. A refit, since columns may be
        # so coarse that a few distinct rows, which are held out whole, make up all.
        booster = get_estimator("GradientBoostingRanker")
        return booster.additive(max_bins=16, refit=True, random_state=0)
    return estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator


def special_values_of(estimator: Any, special_values: Any) -> Any:
    """Return the special values of a card: its own, or else those of its ranker."""
    if special_values is not None:
        return special_values
    return getattr(ranker_of(estimator), "special_values", None)


def step_functions(
    estimator: Any,
    special_values: Any,
    classes: NDArray[Any],
    context: FitContext,
) -> tuple[str, NDArray[np.float64]]:
    """Fit the ranker, if it is not frozen.

    Returns
    -------
    terms : str
        Its step functions as the core takes them, their categories coded by ``schema``.
    scores : ndarray of float64, shape (n_rows,)
        Its scores of the rows.
    """
    columns, schema = context.sample.columns, context.sample.schema
    if isinstance(estimator, FrozenEstimator):
        ranker = estimator.estimator
        _check_frozen(ranker, classes, schema)
        theirs = _recode(columns, schema, ranker._schema)
        terms = _translate(json.loads(ranker._step_functions()), schema, ranker._schema)
        return json.dumps(terms), ranker._dispatch("score", None, theirs, context.n_threads)
    ranker = clone(ranker_of(estimator))
    params = ranker.get_params(deep=False)
    if "special_values" in params:
        ranker.set_params(special_values=special_values)
    if not isinstance(params["categorical_features"], str):
        raise ValueError(
            f"categorical_features of {type(ranker).__name__} has no effect in a scorecard: set"
            " categorical_features of the Scorecard"
        )
    seed = context.seed
    if params.get("random_state") is not None:
        seed = check_seed(params["random_state"])
    ranker._check_all_params()
    apart: list[list[float]] = []
    if isinstance(ranker, get_estimator("GradientBoostingRanker")):
        apart = special_by_column(special_values, schema)
    if not any(apart):
        model = ranker._fit_model(context.inside(ranker, seed))
        ranker._set_fitted(classes, schema, model)
        return ranker._step_functions(), ranker._dispatch("score", None, columns, context.n_threads)
    sample = set_apart(context.sample, apart)
    if ranker.monotonic_cst is not None:
        directions = monotonic_directions(ranker.monotonic_cst, schema)
        n_beside = len(sample.schema.features) - len(directions)
        ranker.set_params(monotonic_cst=directions + n_beside * [0])
    model = ranker._fit_model(replace(context.inside(ranker, seed), sample=sample))
    ranker._set_fitted(classes, sample.schema, model)
    terms = join(json.loads(ranker._step_functions()), apart)
    scores = ranker._dispatch("score", None, sample.columns, context.n_threads)
    return json.dumps(terms), scores


def _check_frozen(ranker: Any, classes: NDArray[Any], schema: Schema) -> None:
    """Raise ValueError if a fitted ranker was fitted to other columns or classes."""
    name, fitted = type(ranker).__name__, ranker._schema
    if list(ranker.classes_) != list(classes):
        raise ValueError(
            f"the fitted {name} ranks the classes {ranker.classes_.tolist()}, but y has"
            f" {classes.tolist()}"
        )
    if len(schema.features) != len(fitted.features):
        raise ValueError(
            f"X has {len(schema.features)} features, but the fitted {name} is expecting"
            f" {len(fitted.features)} features"
        )
    for index, (mine, theirs) in enumerate(zip(schema.features, fitted.features, strict=True)):
        if None not in (mine.name, theirs.name) and mine.name != theirs.name:
            raise ValueError(
                f"column {schema.label(index)} of X is {theirs.name!r} in the fitted {name}: X must"
                " have the same columns in the same order"
            )
        if (mine.levels is None) != (theirs.levels is None):
            kinds = ["numeric", "categorical"]
            raise ValueError(
                f"column {schema.label(index)} is {kinds[mine.levels is not None]}, but was"
                f" {kinds[theirs.levels is not None]} when the {name} was fitted"
            )


def _recode(columns: Columns, schema: Schema, other: Schema) -> Columns:
    """Return columns with categories coded as another schema has them."""
    if not isinstance(columns, list):
        return columns
    recoded = []
    for column, mine, theirs in zip(columns, schema.features, other.features, strict=True):
        if mine.levels is None or theirs.levels is None:
            recoded.append(column)
            continue
        code_of = {level: code for code, level in enumerate(theirs.levels)}
        codes = [code_of.get(level, _core.MISSING_CODE) for level in mine.levels]
        table = np.array([*codes, _core.MISSING_CODE], dtype=np.uint32)
        recoded.append(table[np.minimum(column, len(codes))])
    return recoded


def _translate(terms: list[dict[str, Any]], schema: Schema, other: Schema) -> list[dict[str, Any]]:
    """Return step functions of categories as coded by another schema in the codes of ``schema``."""
    for term in terms:
        if "categorical" not in term:
            continue
        place, values = term["feature"], term["categorical"]["values"]
        value_of = dict(zip(other.features[place].levels or (), values, strict=False))
        levels = schema.features[place].levels or ()
        translated = [value_of.get(level, term["missing"]) for level in levels]
        term["categorical"] = {"values": translated}
    return terms
