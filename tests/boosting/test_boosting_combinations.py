"""Combinations in boosting: every weak ranker with every booster, option and store."""

import copy
import inspect
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from aucrank import AUCBoost, MartiRank, RankBoost, SMartiRank, TreeRank, load
from aucrank._base.registry import public_estimators
from aucrank.boosting import TwoSidedClassifier
from aucrank.datasets import load_breast_cancer
from aucrank.metrics import roc_auc_score
from aucrank.tree import LeafRank
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from tests.common.estimators import short

RNG = np.random.default_rng(0)
N = 400
X = RNG.normal(size=(N, 4))
Y = X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=N) > 1
X_NEW = RNG.normal(size=(300, 4))
CITY = np.where(RNG.random(N) < 0.3, "Rome", np.where(Y, "Oslo", "Bern"))
FRAME = pd.DataFrame(
    {
        "age": np.where(RNG.random(N) < 0.1, np.nan, X[:, 0]),
        "debt": X[:, 1],
        "city": pd.Categorical(np.where(RNG.random(N) < 0.1, None, CITY)),
    }
)

ENCODED = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["city"]),
        (SimpleImputer(), ["age", "debt"]),
    ),
    LogisticRegression(),
)
NATIVE = {
    "feature": "feature",
    "threshold": "threshold",
    "linear": "linear",
    "tree": "tree",
    "TreeRank": TreeRank(split="leafrank", max_depth=2, pruning=None),
    "LeafRank": LeafRank(max_depth=2),
}
OUTSIDE = {
    "logistic": LogisticRegression(),
    "sklearn tree": DecisionTreeClassifier(max_depth=2, max_features=1),
    "probabilities": GaussianNB(),
}
WEAK = NATIVE | OUTSIDE
MANY_FEATURES = {"linear"} | set(OUTSIDE)
SUMS = [AUCBoost, RankBoost]
BOOSTERS = [*SUMS, MartiRank, SMartiRank]

every_booster = pytest.mark.parametrize("booster", BOOSTERS, ids=lambda cls: cls.__name__)
every_sum = pytest.mark.parametrize("booster", SUMS, ids=lambda cls: cls.__name__)


def of_ids(names):
    return pytest.mark.parametrize("weak", names)


def make(booster, weak, **params):
    n_rounds = 10 if booster in SUMS else 4
    return booster(
        **({"weak_ranker": WEAK[weak], "n_rounds": n_rounds, "random_state": 0} | params)
    )


def last(stages):
    *_, stage = stages
    return stage


def stages_of(model, X):
    """The sums of the first rounds, without the threshold."""
    return [stage + model.threshold_ for stage in model.staged_decision_function(X)]


#: The mean of both classes' exponentials, and the pair loss.
LOSSES = {
    AUCBoost: lambda sums: (np.exp(-sums[Y]).mean() + np.exp(sums[~Y]).mean()) / 2,
    RankBoost: lambda sums: np.exp(sums[~Y]).mean() * np.exp(-sums[Y]).mean(),
}


# Data.


@every_booster
@of_ids(sorted(set(NATIVE) - {"linear"}))
def test_native_rankers_take_categories_and_missing_values(booster, weak):
    model = make(booster, weak).fit(FRAME, Y)
    # The AUC of each single column, categories by their rate.
    alone = max(
        roc_auc_score(Y, FRAME["debt"]),
        roc_auc_score(Y, FRAME["city"].map({"Bern": 0, "Rome": 1, "Oslo": 2}).fillna(1)),
    )
    assert model.score(FRAME, Y) > alone
    strange = FRAME.assign(city="Atlantis")
    missing = FRAME.assign(city=pd.Categorical([None] * N, categories=["Oslo"]))
    assert_array_equal(model.decision_function(strange), model.decision_function(missing))


@every_booster
def test_rankers_without_support_for_categories_raise_an_error(booster):
    with pytest.raises(ValueError, match=r"column 'city' is categorical, so a linear ranker"):
        make(booster, "linear").fit(FRAME, Y)
    model = make(booster, "logistic")
    with pytest.raises(ValueError, match="could not convert string to float"):
        model.fit(FRAME, Y)
    with pytest.raises(NotFittedError):
        model.predict(FRAME)
    model.set_params(weak_ranker=ENCODED).fit(FRAME, Y)
    assert model.score(FRAME, Y) > 0.9


@every_booster
@of_ids(WEAK)
def test_rows_of_weight_zero_do_not_count(booster, weak):
    weight = np.random.default_rng(1).integers(0, 2, N)
    model = make(booster, weak)
    expected = model.fit(X[weight > 0], Y[weight > 0]).decision_function(X_NEW)
    found = model.fit(X, Y, sample_weight=weight).decision_function(X_NEW)
    assert_array_equal(found, expected)


@every_booster
@of_ids(WEAK)
def test_the_number_of_threads_changes_nothing(booster, weak):
    one, two = (make(booster, weak, n_jobs=n_jobs).fit(X, Y) for n_jobs in (1, 2))
    assert_array_equal(one.decision_function(X_NEW), two.decision_function(X_NEW))


# Rounds.


@every_sum
@of_ids(WEAK)
def test_the_last_stage_is_the_score(booster, weak):
    model = make(booster, weak).fit(X, Y)
    stages = list(model.staged_decision_function(X_NEW))
    assert len(stages) == model.n_iter_ == 10
    assert_array_equal(stages[-1], model.decision_function(X_NEW))
    # A stage is a model of as many rounds, but for its threshold.
    short = clone(model).set_params(n_rounds=4).fit(X, Y)
    assert_array_equal(
        stages[3] + model.threshold_, short.decision_function(X_NEW) + short.threshold_
    )


@every_sum
@of_ids(WEAK)
@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_warm_started_rounds_equal_those_of_one_fit(booster, weak, subsample):
    expected = make(booster, weak, subsample=subsample).fit(X, Y)
    model = make(booster, weak, subsample=subsample, n_rounds=5, warm_start=True).fit(X, Y)
    model.set_params(n_rounds=10).fit(X, Y)
    assert_array_equal(model.decision_function(X_NEW), expected.decision_function(X_NEW))
    assert model.threshold_ == expected.threshold_
    assert len(vars(model).get("_rankers", ())) == (10 if weak in OUTSIDE else 0)


@every_sum
@of_ids(["feature", "linear", "tree", "logistic"])
@pytest.mark.parametrize("then", ["feature", "linear", "tree", "probabilities"])
def test_rounds_of_another_ranker_can_be_added(booster, weak, then, tmp_path):
    model = make(booster, weak, n_rounds=4, warm_start=True).fit(X, Y)
    first = model.decision_function(X_NEW) + model.threshold_
    model.set_params(weak_ranker=WEAK[then], n_rounds=7).fit(X, Y)
    stages = stages_of(model, X_NEW)
    assert len(stages) == 7
    assert_array_equal(stages[3], first)
    assert_array_equal(stages[6], model.decision_function(X_NEW) + model.threshold_)
    # With any weak ranker, a round lowers the loss of its method.
    losses = [LOSSES[booster](score) for score in stages_of(model, X)]
    assert (np.diff([1.0, *losses]) < 0).all()
    n_kept = 4 * (weak in OUTSIDE) + 3 * (then in OUTSIDE)
    assert len(vars(model).get("_rankers", ())) == n_kept
    back = pickle.loads(pickle.dumps(model))
    assert_array_equal(back.decision_function(X_NEW), model.decision_function(X_NEW))
    if n_kept:
        with pytest.raises(TypeError, match="use pickle"):
            model.save(tmp_path / "model.json")
    # A third fit continues from the stored model.
    back.set_params(n_rounds=8).fit(X, Y)
    model.set_params(n_rounds=8).fit(X, Y)
    assert_array_equal(back.decision_function(X_NEW), model.decision_function(X_NEW))


@every_sum
@of_ids(sorted(MANY_FEATURES | {"tree"}))
@pytest.mark.parametrize("refit", [False, True])
def test_early_stopping_keeps_the_rankers_of_the_rounds_it_keeps(booster, weak, refit):
    params = {"n_rounds": 60, "n_iter_no_change": 3}
    model = make(booster, weak, early_stopping=True, refit=refit, **params).fit(X, Y)
    path = model.validation_path_
    assert 1 <= model.n_iter_ < len(path["round"]) <= 60
    assert model.n_iter_ == path["round"][path["kept"]] == 1 + np.argmax(path["auc"])
    assert len(vars(model).get("_rankers", ())) == (model.n_iter_ if weak in OUTSIDE else 0)
    assert_array_equal(last(model.staged_decision_function(X_NEW)), model.decision_function(X_NEW))
    if refit:
        plain = make(booster, weak, n_rounds=model.n_iter_).fit(X, Y)
        assert_array_equal(plain.decision_function(X_NEW), model.decision_function(X_NEW))


@of_ids(sorted(MANY_FEATURES | {"tree"}))
@pytest.mark.parametrize("refit", [False, True])
def test_the_window_keeps_the_rankers_of_the_rounds_it_keeps(weak, refit):
    model = make(RankBoost, weak, n_rounds=30, selection="window", refit=refit).fit(X, Y)
    path = model.validation_path_
    assert len(path["round"]) == 30
    assert model.n_iter_ == 1 + np.argmax(path["smoothed"])
    assert len(vars(model).get("_rankers", ())) == (model.n_iter_ if weak in OUTSIDE else 0)
    if refit:
        plain = make(RankBoost, weak, n_rounds=model.n_iter_).fit(X, Y)
        assert_array_equal(plain.decision_function(X_NEW), model.decision_function(X_NEW))


@every_sum
@of_ids(["threshold", "linear", "tree"])
def test_validation_rows_are_scored_by_the_rounds(booster, weak):
    y_new = X_NEW[:, 0] + X_NEW[:, 1] ** 2 > 1
    model = make(booster, weak, early_stopping=True, n_rounds=40)
    model.fit(X, Y, X_val=X_NEW, y_val=y_new)
    expected = [roc_auc_score(y_new, score) for score in model.staged_decision_function(X_NEW)]
    assert model.validation_path_["auc"][: model.n_iter_] == pytest.approx(expected, abs=1e-12)


@every_sum
@of_ids(OUTSIDE)
def test_validation_rows_are_rejected_for_an_estimator(booster, weak):
    model = make(booster, weak, early_stopping=True)
    with pytest.raises(ValueError, match="X_val is given, but must be left out for a weak ranker"):
        model.fit(X[:300], Y[:300], X_val=X[300:], y_val=Y[300:])
    assert not model.__sklearn_is_fitted__()
    # Also if only rounds of an earlier fit use one.
    model.set_params(early_stopping=False, warm_start=True).fit(X, Y)
    model.set_params(weak_ranker="tree", early_stopping=True, n_rounds=20)
    with pytest.raises(ValueError, match="X_val is given, but must be left out"):
        model.fit(X[:300], Y[:300], X_val=X[300:], y_val=Y[300:])


@every_sum
@of_ids(["linear", "tree", "TreeRank", "LeafRank"])
def test_a_round_uses_at_most_max_features_features(booster, weak):
    model = make(booster, weak, n_rounds=1, max_features=1).fit(X, Y)
    base = np.zeros((50, 4))
    differs = []
    for feature in range(4):
        rows = base.copy()
        rows[:, feature] = np.linspace(-3, 3, 50)
        differs.append(len(np.unique(model.decision_function(rows))) > 1)
    assert sum(differs) == 1
    # All together, in time.
    features = make(booster, weak, n_rounds=30, max_features=1).fit(X, Y)
    assert features.score(X, Y) > model.score(X, Y)


@every_sum
@of_ids(["linear", "tree", "logistic"])
def test_the_seed_determines_the_subsampled_rows(booster, weak):
    drawn = [
        make(booster, weak, subsample=0.3, random_state=seed).fit(X, Y).decision_function(X_NEW)
        for seed in (0, 0, 1)
    ]
    assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    whole = make(booster, weak).fit(X, Y).decision_function(X_NEW)
    assert not np.array_equal(drawn[0], whole)


@every_sum
@of_ids(OUTSIDE)
def test_features_cannot_be_drawn_for_an_estimator(booster, weak):
    with pytest.raises(ValueError, match="max_features is 2, but must be left out"):
        make(booster, weak, max_features=2).fit(X, Y)


# Stores and parameters.


@every_booster
@of_ids(NATIVE)
def test_native_models_are_stored_in_every_way(booster, weak, tmp_path):
    model = make(booster, weak).fit(X, Y)
    model.save(tmp_path / "model.json")
    backs = [load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    for back in backs:
        assert repr(back) == repr(model)
        assert back.threshold_ == model.threshold_
        assert_array_equal(back.decision_function(X_NEW), model.decision_function(X_NEW))
        assert_array_equal(
            clone(back).fit(X, Y).decision_function(X_NEW), model.decision_function(X_NEW)
        )


@every_booster
@of_ids(OUTSIDE)
def test_models_with_estimators_are_pickled_and_not_saved(booster, weak, tmp_path):
    model = make(booster, weak).fit(X, Y)
    for back in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert_array_equal(back.decision_function(X_NEW), model.decision_function(X_NEW))
    with pytest.raises(TypeError, match=f"this {booster.__name__} was fitted with estimators"):
        model.save(tmp_path / "model.json")
    assert not (tmp_path / "model.json").exists()
    # The parameter itself is not what was fitted.
    assert not hasattr(model.weak_ranker, "classes_")


@every_booster
def test_parameters_of_the_weak_ranker_are_parameters(booster):
    model = make(booster, "tree", weak_ranker=TreeRank(pruning=None))
    assert model.get_params()["weak_ranker__max_depth"] == 10
    grid = {"weak_ranker__max_depth": [1, 3], "weak_ranker__min_samples_leaf": [2, 20]}
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(model, grid, cv=folds, refit=False).fit(X, Y)
    assert len(search.cv_results_["params"]) == 4
    for params, found in zip(
        search.cv_results_["params"], search.cv_results_["split0_test_score"], strict=True
    ):
        train, test = next(iter(folds.split(X, Y)))
        tree = TreeRank(pruning=None, **{k.partition("__")[2]: v for k, v in params.items()})
        plain = make(booster, "tree", weak_ranker=tree).fit(X[train], Y[train])
        assert found == roc_auc_score(Y[test], plain.decision_function(X[test]))
    assert len(set(search.cv_results_["split0_test_score"])) > 1
    assert model.get_params()["weak_ranker__max_depth"] == 10


@every_sum
@of_ids(WEAK)
def test_importances_exist_if_terms_are_over_single_features(booster, weak):
    model = make(booster, weak).fit(np.c_[X, np.zeros(N)], Y)
    if weak in MANY_FEATURES:
        with pytest.raises(AttributeError, match="permutation_importance"):
            _ = model.feature_importances_
        assert not hasattr(model, "feature_importances_")
        return
    importances = model.feature_importances_
    assert importances.shape == (5,)
    # The class depends on the first two columns, and the last is constant.
    assert np.argmax(importances) < 2
    assert importances[4] == 0
    assert (importances >= 0).all()
    assert importances.sum() <= 0.5


def test_boosted_trees_rank_breast_cancer_better_than_one():
    X, y = load_breast_cancer(return_X_y=True)
    tree = TreeRank(max_depth=3, pruning=None)
    alone, boosted = [], []
    for seed in range(4):
        for train, test in StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y):
            alone.append(clone(tree).fit(X[train], y[train]).score(X[test], y[test]))
            model = RankBoost(weak_ranker="tree", n_rounds=50).fit(X[train], y[train])
            boosted.append(model.score(X[test], y[test]))
    assert np.mean(boosted) > np.mean(alone)
    assert np.mean(boosted) > 0.985


# Docstrings.

DOCUMENTED = {**public_estimators(), "TwoSidedClassifier": TwoSidedClassifier}


def section(cls, title):
    """Names of a section of the docstring, with their types."""
    text = inspect.getdoc(cls)
    _, _, rest = text.partition(f"\n{title}\n{'-' * len(title)}\n")
    body = re.split(r"\n\n?\w[\w ]*\n---", rest)[0]
    found = {}
    for names, kind in re.findall(r"^(\w[\w, ]*) : (.*)$", body, flags=re.MULTILINE):
        found |= dict.fromkeys(names.split(", "), kind)
    return found


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_parameter_is_documented_with_its_default(name):
    cls = DOCUMENTED[name]
    documented = section(cls, "Parameters")
    parameters = inspect.signature(cls).parameters
    assert list(documented) == list(parameters)
    for key, parameter in parameters.items():
        default = documented[key].partition("default=")[2]
        assert eval(default) == parameter.default, key


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_attribute_is_documented_and_set(name):
    cls = DOCUMENTED[name]
    documented = set(section(cls, "Attributes"))
    properties = {
        key
        for key, value in inspect.getmembers(cls)
        if isinstance(value, property) and key.endswith("_") and not key.startswith("_")
    }
    assert properties <= documented
    # Linear scores take no categories, and those of pairs no missing values either.
    frame = FRAME.drop(columns="city") if name in ("RankOpt", "TwoSidedClassifier") else FRAME
    model = short(cls).fit(frame.fillna(0.0) if name == "RankOpt" else frame, Y)
    # Out-of-bag attributes exist on request only, those of sums for sums only.
    for key in documented - {"oob_score_", "oob_path_", "pairs_", "term_names_"}:
        getattr(model, key)
