"""Hints for keyword arguments that a function does not have.

Python's own error suggests near names from 3.13 on, but not what other packages call a parameter.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from inspect import Parameter, signature
from typing import Any, Self, TypeVar, cast

from aucrank._utils.words import near_name

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Names of one meaning, here or in other packages. Of those that a function has, the first is meant.
_MEANINGS = (
    ("groups", "group", "patient", "subject", "person", "client", "customer", "cluster", "id"),
    ("time", "times", "date", "dates", "datetime", "timestamp", "timestamps", "period", "periods"),
    ("sample_weight", "weight", "weights", "sample_weights", "case_weights", "freq_weights", "w"),
    ("y_true", "y", "target", "labels", "label", "label_column", "outcome"),
    ("y_score", "y_prob", "y_pred", "y_proba", "y_hat", "scores", "score", "probas_pred", "risk"),
    ("pos_label", "positive", "positive_class", "positive_label", "event_level"),
    ("confidence", "confidence_level", "conf_level", "level", "alpha"),
    ("n_resamples", "n_permutations", "n_bootstrap", "n_bootstraps", "n_boot", "n_perm"),
    ("cv", "n_folds", "folds", "n_splits", "k"),
    ("estimator", "ranker", "model", "base_estimator", "classifier"),
    ("models", "members", "estimators", "rankers", "classifiers"),
    ("categorical_features", "categorical_feature", "cat_features", "cat_cols", "categories"),
    ("class_weight", "class_weights", "scale_pos_weight", "is_unbalance"),
    ("random_state", "seed", "random_seed", "rng"),
    ("n_jobs", "n_threads", "num_threads", "nthread", "thread_count", "threads", "workers"),
    ("monotone", "monotonic_cst", "monotone_constraints", "monotonic_constraints", "monotonic"),
    ("n_estimators", "n_rounds", "n_trees", "num_trees", "ntree", "num_boost_round", "iterations"),
    ("n_rounds", "nrounds", "max_iter", "n_iter"),
    ("learning_rate", "eta", "lr", "shrinkage"),
    ("max_leaves", "max_leaf_nodes", "num_leaves", "leaves"),
    ("min_samples_leaf", "min_child_samples", "min_data_in_leaf", "min_child_weight", "nodesize"),
    ("max_features", "mtry", "colsample_bytree", "feature_fraction"),
    ("subsample", "max_samples", "bagging_fraction"),
    ("max_bins", "n_bins", "max_bin", "bins", "num_bins", "border_count"),
    ("min_bin_share", "min_bin_size", "min_prebin_size"),
    ("special_values", "special_codes"),
    ("l2", "reg_lambda", "lambda_l2", "l2_regularization", "l2_leaf_reg"),
    ("n_iter_no_change", "early_stopping_rounds", "early_stopping_round", "patience"),
    ("proba", "probability", "probabilities", "predict_proba"),
    ("drop", "drop_columns", "exclude", "ignore", "ignored_columns", "skip"),
    ("missing", "na_values", "missing_values", "null_values", "na"),
    ("chunk_rows", "chunk_size", "chunksize", "batch_size"),
)


def meant_keyword(name: str, known: Iterable[str]) -> str:
    """Return the end of "there is no NAME": the keyword that is probably meant, if there is one."""
    known = list(known)
    plain = name.lower()
    # As in "patients" and "patient_ids".
    forms = {plain, plain.removesuffix("s").removesuffix("_id")}
    for names in _MEANINGS:
        if not forms.isdisjoint(names):
            for meant in names:
                if meant in known:
                    return f"; did you mean {meant!r}?"
    return near_name(name, known)


def suggests_keywords(function: _Function) -> _Function:
    """Make the error of a keyword that a function does not have name the one that is meant."""

    @wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        # The signature is read at the first call, not when the package is imported.
        _check(function.__name__, _keywords_of(function), given)
        return function(*args, **given)

    return cast("_Function", checked)


class SuggestsKeywords:
    """Base of classes whose constructor suggests the keyword that is meant for an unknown one."""

    def __new__(cls, *_args: Any, **given: Any) -> Self:
        """Check the keywords of ``__init__``, which Python calls next with the same arguments."""
        _check(f"{cls.__name__}.__init__", _keywords_of(cls.__init__), given)
        return super().__new__(cls)


def _check(name: str, known: frozenset[str] | None, given: Mapping[str, Any]) -> None:
    """Raise Python's own TypeError for an unknown keyword, with the one that is meant."""
    if known is None or known.issuperset(given):
        return
    unknown = next(keyword for keyword in given if keyword not in known)
    hint = meant_keyword(unknown, sorted(known))
    raise TypeError(f"{name}() got an unexpected keyword argument {unknown!r}{hint}")


@cache
def _keywords_of(function: Callable[..., Any]) -> frozenset[str] | None:
    """Return the keywords of a function; None if it takes any."""
    parameters = signature(function).parameters.values()
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return frozenset(p.name for p in parameters if p.kind is not Parameter.POSITIONAL_ONLY)
