"""The ranker that a scorecard represents: validation, fitting and step functions."""

import json
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from aucrank._base.fit_context import DatasetContext, FitContext
from aucrank._base.monotonic import monotonic_directions
from aucrank._base.ranker import BaseRanker
from aucrank._base.registry import get_estimator
from aucrank._data.apart import columns_apart, schema_apart
from aucrank._data.input import each_column
from aucrank._data.sample import Sample
from aucrank._data.schema import Schema
from aucrank._utils.params import check_seed
from aucrank.additive._bins import special_by_column
from aucrank.additive._scorecard.recoding import recode, translate
from aucrank.additive._scorecard.scores import RankerScores
from aucrank.additive._scorecard.special import join
from aucrank.data import Dataset

#: Weak rankers of boosting that use one feature each.
_ADDITIVE = ("feature", "threshold")

#: From this number of rows, half of the bags and twice the rate take a third of the time. On the
#: eight sets of at least 8,000 training rows cards lost 0.008 points of AUC (standard error 0.012),
#: and 0.06 at most; on all 28 sets, of at most 4,000, 0.11 (0.08), and 1.9 at most.
_MANY_ROWS = 8_000

_OF_MANY_ROWS = {"n_bags": 4, "learning_rate": 0.2}


def check_ranker(estimator: Any) -> None:
    """Check the parameter ``estimator`` of a scorecard.

    Raises
    ------
    TypeError
        If it is not a ranker that sums step functions of single features.
    ValueError
        If it is one, but its parameters rule this out.
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
            ' scorecard needs one that tests a single feature: "feature" or "threshold"'
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
                f" needs {what} that test a single feature: {name}={value}"
            )


def ranker_of(estimator: Any, n_rows: int = 0) -> Any:
    """Return the ranker given by the parameter ``estimator`` of a scorecard, for some rows."""
    if estimator is None:
        # A fixed seed: the same rows always give the same card. A refit, since with coarse columns
        # a few distinct rows, held out whole, may be all of the data.
        booster = get_estimator("GradientBoostingRanker")
        cheaper = _OF_MANY_ROWS if n_rows >= _MANY_ROWS else {}
        return booster.additive(max_bins=16, refit=True, random_state=0, **cheaper)
    return estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator


def check_takes_directions(estimator: Any) -> None:
    """Raise ValueError if a ranker is fitted already, or has directions of its own."""
    ranker = ranker_of(estimator)
    name = type(ranker).__name__
    if isinstance(estimator, FrozenEstimator):
        raise ValueError(
            f"monotone gives directions, but the {name} is fitted already: give it monotonic_cst"
            " before its fit, and the card a list of columns"
        )
    if ranker.monotonic_cst is not None:
        raise ValueError(
            f"monotone gives directions, and so does monotonic_cst of the {name}: give them only"
            " once"
        )


def ranker_to_fit(estimator: Any, directions: list[int] | None, n_rows: int) -> Any:
    """Return the ranker to fit to some rows under directions, one for each column."""
    if isinstance(estimator, FrozenEstimator):
        return estimator
    ranker = clone(ranker_of(estimator, n_rows))
    return ranker if directions is None else ranker.set_params(monotonic_cst=directions)


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
        Its step functions in the form of the core, their categories coded by ``schema``.
    scores : ndarray of float64, shape (n_rows,)
        Its scores of the rows.
    """
    columns, schema = context.sample.columns, context.sample.schema
    if isinstance(estimator, FrozenEstimator):
        ranker = estimator.estimator
        _check_frozen(ranker, classes, schema)
        theirs = columns
        if isinstance(columns, list):
            theirs = recode(columns, schema, ranker._schema)
        terms = translate(json.loads(ranker._step_functions()), schema, ranker._schema)
        return json.dumps(terms), ranker._dispatch("score", None, theirs, context.n_threads)
    ranker = _prepared(estimator, special_values)
    seed = _seed_of(ranker, context.seed)
    apart = _special_apart(ranker, special_values, schema)
    if not any(apart):
        model = ranker._fit_model(context.inside(ranker, seed))
        ranker._set_fitted(classes, schema, model)
        return ranker._step_functions(), ranker._dispatch("score", None, columns, context.n_threads)
    sample = _set_apart(context.sample, apart)
    _bind_apart(ranker, schema, sample.schema)
    model = ranker._fit_model(replace(context.inside(ranker, seed), sample=sample))
    ranker._set_fitted(classes, sample.schema, model)
    terms = join(json.loads(ranker._step_functions()), apart)
    scores = ranker._dispatch("score", None, sample.columns, context.n_threads)
    return json.dumps(terms), scores


def fit_ranker(
    estimator: Any, special_values: Any, context: DatasetContext
) -> tuple[str, RankerScores]:
    """Fit the ranker to a data set, if it is not frozen.

    Returns
    -------
    terms : str
        Its step functions in the form of the core, their categories coded by the schema.
    scores : RankerScores
        Its scores of the rows.
    """
    facts = context.facts
    schema = facts.schema
    if isinstance(estimator, FrozenEstimator):
        ranker = estimator.estimator
        _check_frozen(ranker, facts.target.classes, schema)
    else:
        ranker = _prepared(estimator, special_values)
        seed = _seed_of(ranker, context.seed)
        apart = _special_apart(ranker, special_values, schema)
        is_seeded = context.is_seeded or getattr(ranker, "random_state", None) is not None
        inside = replace(
            context, seed=seed, progress=context.progress.of(ranker), is_seeded=is_seeded
        )
        ranker.classes_ = facts.target.classes
        if any(apart):
            inside = replace(inside, facts=facts.with_special_apart(apart), known_rows=None)
            _bind_apart(ranker, schema, inside.facts.schema)
            ranker._fit_facts(inside)
            terms = join(json.loads(ranker._step_functions()), apart)
            return json.dumps(terms), RankerScores(ranker, schema, apart)
        ranker._fit_facts(inside)
    # Fitted to a sample, or to other rows, it may have other categories.
    terms = translate(json.loads(ranker._step_functions()), schema, ranker._schema)
    return json.dumps(terms), RankerScores(ranker, schema)


def check_for_dataset(estimator: Any, special_values: Any, dataset: Dataset | None = None) -> None:
    """Check that the ranker can be fitted to a data set, or to a counted one, if it is given.

    Raises
    ------
    TypeError
        If it needs a frame.
    ValueError
        If one of its parameters does, or a frozen one has no columns for scoring in a database.
    """
    if isinstance(estimator, FrozenEstimator):
        if dataset is not None and not hasattr(estimator.estimator, "feature_names_in_"):
            raise ValueError(
                f"the fitted {type(estimator.estimator).__name__} has seen columns without names,"
                f" by which {dataset!r} would be scored"
            )
        return
    ranker = _prepared(estimator, special_values)
    if ranker._fits_dataset is None:
        raise TypeError(
            f"{type(ranker).__name__} is fitted to a frame, not to a Dataset, and so is a"
            " Scorecard of it"
        )
    ranker._check_for_dataset()
    if dataset is not None:
        ranker._check_for_counts(dataset)


def _prepared(estimator: Any, special_values: Any) -> Any:
    """Return a ranker to fit, without its calibration.

    Raises
    ------
    ValueError
        If one of its parameters is not valid.
    """
    ranker = clone(ranker_of(estimator))
    params = ranker.get_params(deep=False)
    if "special_values" in params:
        ranker.set_params(special_values=special_values)
    if not isinstance(params["categorical_features"], str):
        raise ValueError(
            f"categorical_features of {type(ranker).__name__} has no effect in a scorecard: set"
            " categorical_features of the Scorecard"
        )
    ranker._check_all_params()
    if "calibration" in params:
        ranker.set_params(calibration=None)
    return ranker


def _seed_of(ranker: Any, seed: int) -> int:
    """Return the seed of a ranker: its own, or else that of the card."""
    own = getattr(ranker, "random_state", None)
    return seed if own is None else check_seed(own)


def _special_apart(ranker: Any, special_values: Any, schema: Schema) -> list[list[float]]:
    """Return the special values of each column that must be set apart for the ranker."""
    if not isinstance(ranker, get_estimator("GradientBoostingRanker")):
        return []
    return special_by_column(special_values, schema)


def _bind_apart(ranker: Any, schema: Schema, apart: Schema) -> None:
    """Extend the directions of a ranker by free ones for the added columns."""
    if ranker.monotonic_cst is not None:
        directions = monotonic_directions(ranker.monotonic_cst, schema)
        n_apart = len(apart.features) - len(directions)
        ranker.set_params(monotonic_cst=directions + n_apart * [0])


def _set_apart(sample: Sample, special: list[list[float]]) -> Sample:
    """Return rows with special values as categories in added columns."""
    columns = [np.ascontiguousarray(column) for column in each_column(sample.columns)]
    schema = schema_apart(sample.schema, special)
    return replace(sample, columns=columns_apart(columns, special), schema=schema, rows=None)


def _check_frozen(ranker: Any, classes: NDArray[Any], schema: Schema) -> None:
    """Raise ValueError if a ranker was fitted to other columns or classes."""
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
