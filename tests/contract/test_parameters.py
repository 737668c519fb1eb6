"""Every parameter of every estimator, in every accepted type, is restored from every store."""

import copy
import pickle
from collections import UserDict
from collections.abc import Mapping
from fractions import Fraction

import aucrank
import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank import (
    AURORA,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    LinearRanker,
    RankBoost,
    TreeRank,
)
from aucrank._base import persistence as _persistence
from aucrank._base import registry as _registry
from aucrank.tree import (
    CrossValidatedPruning,
    DyadicSplit,
    LeafRank,
    OrthogonalSplit,
    PenalizedPruning,
    ValidationPruning,
)
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from tests.common.estimators import few_members


def frame():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1], 40))
    X = pd.DataFrame({name: rng.integers(0, 12, 80) + 3.0 * y for name in ("age", "debt", "rate")})
    return X, np.array(["bad", "good"])[y]


X, Y = frame()


# The forms of a value --------------------------------------------------------------------------


def ints(*values):
    """Return integers of every class of integers."""
    return [form(value) for value in values for form in (int, np.int64, np.int32, np.uint8)]


def reals(*values):
    forms = (float, np.float64, np.float32, np.float16, Fraction)
    return [form(value) for value in values for form in forms]


BOOLS = [True, False, np.True_, np.False_]


def texts(*values):
    return [form(value) for value in values for form in (str, np.str_)]


def sequences(values, *, sets=False):
    """Return values in every class of collections, some unordered."""
    forms = [list, tuple, np.array, pd.Series, pd.Index, pl.Series]
    return [form(values) for form in forms] + ([set(values), frozenset(values)] if sets else [])


def by_name(*values):
    """Return dictionaries by column."""
    names = list(X.columns)
    plain = [dict(zip(names, values, strict=False)), {names[1]: values[0]}]
    return [*plain, {np.str_(names[0]): values[-1]}]


DIRECTIONS = [*sequences([1, 0, -1]), np.array([1, 0, -1], dtype=np.int8), [1.0, 0, 0], None]
SPECIAL = [*sequences([3.0, 7.0], sets=True), [np.int64(3), Fraction(7, 2)], range(2, 4), None]
COLUMNS = [*sequences([0, 2]), *sequences(["age", "rate"]), *sequences([True, False, True])]
LISTED = [
    *sequences([0, 2], sets=True),
    *sequences(["age", "rate"], sets=True),
    [np.str_("age"), 1],
]
KINDS = ["discrete", None, "continuous"]
SHARE = [*reals(0.5), 1, 2, np.int64(2), "sqrt", np.str_("log2"), None]
SPLITS = [*texts("orthogonal", "leafrank"), OrthogonalSplit(), LeafRank(max_depth=np.int64(2))]
PRUNING = [PenalizedPruning(scale=np.float32(0.5)), ValidationPruning(fraction=0.5)]
WEAK = [*texts("feature", "threshold", "tree"), LeafRank(max_depth=2), TreeRank(pruning=None)]

#: Values by the name of a parameter, if it means the same in all estimators.
SHARED = {
    "alpha": texts("third", "exact"),
    "base_odds": [*reals(0.5, 50), 2],
    "base_points": [*reals(0.5, -50), 100],
    "bootstrap": BOOLS,
    "calibration": [*texts("auto", "sigmoid", "isotonic"), None],
    "categorical_features": [*COLUMNS, *texts("from_dtype"), None],
    "category_pairs": [*texts("auto"), False, np.False_],
    "class_weight": [
        *texts("balanced"),
        *({"bad": value, np.str_("good"): 1} for value in [*reals(2.0), *ints(3)]),
        UserDict({"bad": 0.5, "good": 2.0}),
        None,
    ],
    "cuts": texts("best", "random"),
    "early_stopping": BOOLS,
    "epsilon": reals(0.25),
    "high_points": texts("positive", "negative"),
    "interactions": [*texts("auto"), [["age", "rate"]], [(0, 2)], [], 0, *ints(3), None],
    "l2": [*reals(0.5), 2],
    "leaf_order": texts("eta", "tree"),
    "learning_rate": [*reals(0.5), 1],
    "max_bins": [*ints(5), None],
    "level_rates": ["shrunken", "raw"],
    "max_depth": ints(2),
    "max_features": SHARE,
    "max_fpr": [*reals(0.5), 1],
    "max_iter": ints(3),
    "max_leaves": [*ints(3), None],
    "max_levels": ints(3),
    "max_samples": [*ints(30), *reals(0.5), None],
    "max_spike_share": [*reals(0.5), 1],
    "min_bin_share": [*reals(0.25), 0],
    "min_gain": [*reals(0.125), 0],
    "min_level_share": [*reals(0.125), 0],
    "min_samples_class": [*ints(3), *reals(2.5)],
    "min_samples_leaf": ints(3),
    "min_samples_split": ints(4),
    "missing": texts("learn", "cell_mean"),
    "missing_indicator": BOOLS,
    "monotone": [*BOOLS, *sequences([0, 1], sets=True), *sequences(["age"]), [np.str_("age")]],
    "monotonic_cst": [*DIRECTIONS, *by_name(1, -1)],
    "n_bags": ints(2),
    "n_estimators": ints(3),
    "n_folds": ints(2),
    "n_iter_no_change": ints(2),
    "n_jobs": [*ints(1, 2), -1, None],
    "n_rounds": ints(3),
    "noise_rate": [*reals(0.125), 0],
    "one_standard_error": BOOLS,
    "oob_score": BOOLS,
    "order": ints(1, 2),
    "pdo": [*reals(0.5), 35],
    "percentiles": [*ints(30), *sequences([20.0, 50.5]), range(5, 95, 30)],
    "random_state": [*ints(3), None],
    "refit": BOOLS,
    "routing": texts("expected", "sampled"),
    "sample_size": [*ints(20), None],
    "shrinkage": [*reals(0.5), 2],
    "sparse_output": BOOLS,
    "scoring": texts("auc", "loss"),
    "special_values": [*SPECIAL, *by_name([3.0], (4, 5)), {"age": np.array([3.0]), "debt": {4}}],
    "subsample": [*reals(0.5), 1],
    "tol": [*reals(0.0625), 0],
    "validation_fraction": reals(0.25),
    "verbose": ints(0, 1),
    "warm_start": BOOLS,
    "weak_ranker": [*WEAK, "linear"],
    "weight_folds": [*ints(3), None],
}

#: Values of the others, and of parameters with another meaning in one estimator.
OWN = {
    ("TreeRank", "search"): texts("greedy", "lookahead", "optimal"),
    ("TreeRank", "lookahead"): ints(2),
    ("TreeRank", "search_bins"): ints(4),
    ("TreeRank", "time_limit"): [*reals(30.5), 30, None],
    ("TreeRank", "split"): [*SPLITS, "dyadic", DyadicSplit(level=np.int64(1))],
    ("TreeRank", "pruning"): [
        *texts("cv", "penalty", "validation"),
        *PRUNING,
        CrossValidatedPruning(n_folds=2),
        None,
    ],
    ("RuleList", "max_rules"): [*ints(2), None],
    ("RuleList", "max_conditions"): ints(1),
    ("RuleList", "search_bins"): ints(4),
    ("RuleList", "time_limit"): [*reals(30.5), 30, None],
    ("RuleList", "pruning"): [
        *texts("cv", "validation"),
        CrossValidatedPruning(n_folds=2),
        ValidationPruning(fraction=0.5),
        None,
    ],
    ("RankingForest", "split"): SPLITS,
    ("RankingForest", "max_depth"): [*ints(2), None],
    ("RankingForest", "min_samples_leaf"): [*texts("auto"), *ints(3)],
    ("RankingForest", "aggregation"): texts("eta", "rank_mean", "rank_median", "kendall"),
    ("RankingForest", "n_iter_no_change"): [*ints(2), None],
    ("AUCBoost", "criterion"): texts("sum", "error"),
    ("RankingForest", "criterion"): texts("log_loss", "gini", "youden", "auto"),
    ("AUCBoost", "output"): texts("real", "sign"),
    ("RankBoost", "selection"): [*texts("window"), None],
    ("GradientBoostingRanker", "calibration"): [*texts("auto"), None],
    # Below 1 it goes with losses over pairs.
    ("GradientBoostingRanker", "max_fpr"): [*reals(1.0), 1],
    ("GradientBoostingRanker", "loss"): texts("log", "pair_exponential", "pair_logistic"),
    ("GradientBoostingRanker", "learning_rate"): [*texts("auto"), *reals(0.5), 1],
    ("GradientBoostingRanker", "max_bins"): ints(5),
    ("GradientBoostingRanker", "max_depth"): [*ints(2), None],
    ("GradientBoostingRanker", "max_leaves"): [*texts("auto"), *ints(3)],
    ("GradientBoostingRanker", "n_bags"): [*texts("auto"), *ints(2)],
    ("GradientBoostingRanker", "early_stopping"): [*texts("auto"), *BOOLS],
    ("GradientBoostingRanker", "validation_fraction"): [*texts("auto"), *reals(0.25)],
    ("GradientBoostingRanker", "time_limit"): [*reals(30.5), 30, None],
    ("GradientBoostingRanker", "min_samples_leaf"): [*texts("auto"), *ints(3), *reals(0.25)],
    ("MartiRank", "criterion"): texts("sum", "error"),
    ("MartiRank", "output"): texts("votes", "sign", "node_rate"),
    ("SMartiRank", "criterion"): texts("sum", "error"),
    ("SMartiRank", "noise_rate"): [*reals(0.125), *texts("auto")],
    ("SMartiRank", "output"): texts("votes", "sign", "node_rate"),
    ("RIMARC", "missing"): texts("ignore", "value"),
    ("Scorecard", "estimator"): [
        None,
        RIMARC(shrinkage=np.float32(0.5)),
        RankBoost(n_rounds=np.int64(3)),
        AUCBoost(n_rounds=3),
        AURORA(order=1, radius=3.0, selection=None, max_features=3),
    ],
    ("AURORA", "max_features"): ints(3),
    ("AURORA", "radius"): [*texts("auto"), *reals(3), 3],
    ("AURORA", "min_gain"): reals(0.125),
    ("AURORA", "radius_terms"): [*ints(2), None],
    ("AURORA", "n_iter_no_change"): [*ints(2), None],
    ("AURORA", "depth"): [
        *texts("quick", "shallow", "standard", "deep"),
        {"shortlist": np.int64(1)},
        UserDict({"circles": 2}),
    ],
    ("AURORA", "selection"): [*texts("auto", "validation", "cv"), None],
    ("AURORA", "criterion"): texts("auc", "ramp"),
    ("AURORA", "feature_types"): [
        list(KINDS),
        tuple(KINDS),
        np.array(KINDS),
        None,
        *by_name(*KINDS),
    ],
    ("AURORA", "tol"): [*reals(0.0625), None],
    ("RankOpt", "objective"): texts("sigmoid", "ramp"),
    ("RankOpt", "radii"): [*sequences([1.0, 2.5]), range(1, 3), [np.float32(1.5), Fraction(5, 2)]],
    ("IntegerScore", "max_features"): ints(2),
    ("IntegerScore", "max_points"): ints(3),
    ("IntegerScore", "max_lines"): ints(3),
    ("IntegerScore", "max_questions"): [*ints(2), None],
    ("IntegerScore", "max_cuts"): ints(3),
    ("IntegerScore", "round_cuts"): BOOLS,
    ("IntegerScore", "required_features"): [*LISTED, None],
    ("IntegerScore", "excluded_features"): [*LISTED, None],
    ("IntegerScore", "exclusive_features"): [[columns] for columns in LISTED] + [None],
    ("IntegerScore", "time_limit"): [*reals(30.5), 30, None],
    ("LinearRanker", "C"): reals(0.5),
    ("RankingEnsemble", "presets"): texts("fast"),
    ("RankingEnsemble", "members"): [None, few_members()],
    ("RankingEnsemble", "time_limit"): [*reals(0.5), 30, None],
    ("LinearRanker", "thresholds"): [*texts("auto"), *ints(3), None],
    ("LinearRanker", "interactions"): [*texts("auto"), *ints(3), None],
    ("MAD2C", "encode"): texts("ordinal", "onehot-dense", "rate"),
    ("ThresholdBinarizer", "feature_types"): [
        *([*KINDS[:2], "categorical"], tuple(KINDS), np.array(KINDS), pl.Series(KINDS), None),
        *by_name(*KINDS),
    ],
    ("ThresholdBinarizer", "dtype"): [
        *(np.float64, np.float32, np.uint8, np.bool_, bool, float),
        *(np.dtype("float32"), np.dtype(bool), np.dtype(float)),
        *texts("float64", "float32", "uint8", "bool", "f4", "?", "float", "double"),
    ],
    ("TwoSidedClassifier", "ranker"): [None, TreeRank(max_depth=2), LogisticRegression()],
    ("TwoSidedClassifier", "criterion"): texts("sum", "error"),
    ("CrossValidatedPruning", "n_folds"): ints(2),
    ("PenalizedPruning", "scale"): [*texts("slope"), *reals(0.5), 1],
    ("PenalizedPruning", "p_low"): [*reals(0.25), None],
    ("PenalizedPruning", "p_high"): [*reals(0.75), None],
    ("ValidationPruning", "fraction"): reals(0.5),
    ("LeafRank", "pruning"): [*texts("cv"), CrossValidatedPruning(n_folds=2), None],
    ("DyadicSplit", "level"): [*ints(1), *texts("auto")],
}

#: Values that a file does not hold, as `save` says: they come back as None, but pickle keeps them.
SAVED_OTHERWISE = ("Scorecard",)
NOT_IN_FILES = {
    "random_state": [np.random.RandomState(3)],
    "weak_ranker": [LogisticRegression()],
    "ranker": [LogisticRegression()],
}

#: Settings that make a fit small and a parameter effective.
SMALL = {
    "TreeRank": {"pruning": None, "max_depth": 3},
    "RankingForest": {"n_estimators": 4},
    "RuleList": {"pruning": None, "max_rules": 3},
    "AUCBoost": {"n_rounds": 4},
    "RankBoost": {"n_rounds": 4},
    "GradientBoostingRanker": {"n_rounds": 4},
    "MartiRank": {"n_rounds": 2},
    "SMartiRank": {"n_rounds": 2},
    "AURORA": {"max_features": 3, "order": 1, "radius": 3.0, "selection": None},
    # As the default, but for 4 rounds in place of hundreds.
    "Scorecard": {
        "estimator": GradientBoostingRanker(n_rounds=4, interactions=0, max_bins=16, random_state=0)
    },
    "RankOpt": {"radii": (1.0,)},
    "RankingEnsemble": {
        "members": [("boosting", GradientBoostingRanker(n_rounds=4)), ("linear", LinearRanker())],
        "n_folds": 2,
    },
}
NEEDED = {
    ("TreeRank", "lookahead"): {"search": "lookahead"},
    ("TreeRank", "search_bins"): {"search": "lookahead"},
    ("TreeRank", "time_limit"): {"search": "lookahead"},
    ("AURORA", "validation_fraction"): {"selection": "validation"},
    ("AURORA", "radius"): {"selection": "validation"},
    ("AURORA", "radius_terms"): {"selection": "validation", "radius": "auto"},
    ("AURORA", "n_iter_no_change"): {"selection": "validation"},
    ("AURORA", "n_folds"): {"selection": "cv"},
    ("AURORA", "depth"): {"order": 2},
    ("RankingEnsemble", "presets"): {"members": None},
}

#: The parameter that takes a part of an estimator.
TAKES = {
    "CrossValidatedPruning": "pruning",
    "PenalizedPruning": "pruning",
    "ValidationPruning": "pruning",
    "OrthogonalSplit": "split",
    "LeafRank": "split",
    "DyadicSplit": "split",
}

PARAMETERS = [
    (cls.__name__, name)
    for cls in (
        *map(_registry.get_estimator, _registry.public_names()),
        *_persistence._parts.values(),
    )
    if cls.__module__.startswith("aucrank.")
    for name in cls().get_params(deep=False)
]


def values_of(owner, name):
    return OWN.get((owner, name)) or SHARED.get(name, [])


def estimators(owner, name, values):
    """Yield an estimator for each value of a parameter, its own or one of its part."""
    for value in values:
        if owner in TAKES:
            part = _persistence._parts[owner](**{name: value})
            yield TreeRank(**{"max_depth": 2, TAKES[owner]: part})
        else:
            settings = SMALL.get(owner, {}) | NEEDED.get((owner, name), {}) | {name: value}
            yield _registry.get_estimator(owner)(**settings)


def fit(estimator):
    return estimator.fit(X, Y)


def answers(estimator):
    """Return the output of a fitted estimator for the rows, as an array with its dtype."""
    found = (
        estimator.transform(X)
        if hasattr(estimator, "transform")
        else estimator.predict(X)
        if not hasattr(estimator, "decision_function")
        else estimator.decision_function(X)
    )
    return found.toarray() if hasattr(found, "toarray") else np.asarray(found)


def assert_same_answers(estimator, expected):
    found = answers(estimator)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def plain(value):
    """Return the value of a parameter, without its class."""
    match value:
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case set() | frozenset():
            return sorted(value, key=repr)
        case list() | tuple() | range() | np.ndarray() | pd.Series() | pd.Index() | pl.Series():
            return [plain(item) for item in list(value)]
        case Fraction():
            return float(value)
        case _ if hasattr(value, "get_params") and not isinstance(value, type):
            return type(value), plain(value.get_params(deep=False))
    return value


@pytest.mark.parametrize(("owner", "name"), PARAMETERS)
def test_every_parameter_has_test_values(owner, name):
    """A new parameter fails here until the table lists its values."""
    assert len(values_of(owner, name)) > 1


def test_test_values_are_only_listed_for_parameters():
    names = {name for _, name in PARAMETERS}
    assert set(SHARED) | set(NOT_IN_FILES) <= names
    assert set(OWN) | set(NEEDED) <= set(PARAMETERS)
    assert set(TAKES) | set(_registry.public_names()) >= {owner for owner, _ in PARAMETERS}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("owner", "name"), PARAMETERS)
def test_every_value_is_restored_from_every_store(owner, name, tmp_path):
    for estimator in estimators(owner, name, values_of(owner, name)):
        fitted = fit(estimator)
        params = plain(fitted)
        copies = [pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)]
        if not isinstance(getattr(fitted, "ranker_", None), LogisticRegression):
            fitted.save(tmp_path / "model.json")
            copies.append(aucrank.load(tmp_path / "model.json"))
        expected = answers(fitted)
        for back in copies:
            assert plain(back) == params
            assert_same_answers(back, expected)
        assert plain(clone(fitted)) == params
        if getattr(fitted, "random_state", 0) is not None:
            assert_same_answers(fit(clone(copies[-1])), expected)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("owner", "name"),
    [of for of in PARAMETERS if of[1] in NOT_IN_FILES and of[0] not in SAVED_OTHERWISE],
)
def test_parameters_that_files_do_not_hold_are_none_and_the_others_restored(owner, name, tmp_path):
    for estimator in estimators(owner, name, NOT_IN_FILES[name]):
        fitted = fit(estimator)
        back = pickle.loads(pickle.dumps(fitted))
        assert type(getattr(back, name)) is type(getattr(fitted, name))
        expected = answers(fitted)
        assert_same_answers(back, expected)
        if name in ("weak_ranker", "ranker"):
            with pytest.raises(TypeError):
                fitted.save(tmp_path / "model.json")
            continue
        fitted.save(tmp_path / "model.json")
        back = aucrank.load(tmp_path / "model.json")
        params = fitted.get_params(deep=False) | {name: None}
        assert plain(back.get_params(deep=False)) == plain(params)
        assert_same_answers(back, expected)


@pytest.mark.parametrize(
    "dtype", [None, ">f8", np.dtype(">f4"), int, object, "int64", np.zeros(1), b"f8"]
)
def test_an_unsupported_dtype_of_terms_is_rejected(dtype):
    with pytest.raises(ValueError, match="dtype must be one of float64, float32, uint8, bool; got"):
        aucrank.ThresholdBinarizer(dtype=dtype).fit(X)
