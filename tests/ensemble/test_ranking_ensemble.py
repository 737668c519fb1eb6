"""Ensembles: cross-fitted members, their blend, and their output."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from aucrank import (
    GradientBoostingRanker,
    LinearRanker,
    ModelFormatError,
    RankingEnsemble,
    RankingForest,
    RankOpt,
    TreeRank,
    _core,
    load,
)
from aucrank._base import fit_progress
from aucrank._base.fit_progress import FitProgress
from aucrank.datasets import load_breast_cancer, make_gaussian_pair
from aucrank.ensemble import _cross_fit, _presets, _ranking_ensemble
from aucrank.ensemble._presets import members_of
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from tests.common.estimators import few_members
from tests.common.forged import forged

X, Y = load_breast_cancer(return_X_y=True)


def sample(n, seed=0):
    """Rows whose class depends on a sum and on a product."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) > 0.5).astype(int)


def quick(**params):
    return RankingEnsemble(**{"members": few_members(), "random_state": 0, **params})


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(X, Y)


def test_the_score_is_the_weighted_mean_of_the_log_odds_of_members(fitted):
    model = fitted._model
    expected = np.full(len(X), model.intercept)
    for member, factor in enumerate(model.factors()):
        expected += factor * sum(fold.score(X, 1) for fold in model.models(member))
    assert fitted.decision_function(X) == pytest.approx(expected, abs=1e-12)
    assert {len(model.models(member)) for member in range(3)} == {5}


@pytest.mark.filterwarnings("ignore:No member is better")
def test_each_row_is_scored_by_models_fitted_without_it():
    """A member that memorises rows is no better than chance if the classes are noise."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    by_heart = TreeRank(pruning=None, min_samples_leaf=1, max_depth=30)
    model = RankingEnsemble(members=[("by heart", by_heart)], random_state=0)
    for seed in range(10):
        model.set_params(random_state=seed).fit(X, rng.permutation(y))
        table = model.leaderboard_
        assert 0.3 < table["auc"][table["name"] == "by heart"][0] < 0.7


def test_the_blend_ranks_new_rows_better_than_its_members():
    train, later = sample(1500), sample(4000, 1)
    # With its own terms of two features, the linear score would be the true model.
    members = [
        (name, ranker.set_params(interactions=None) if name == "linear" else ranker)
        for name, ranker in few_members()
    ]
    model = quick(members=members).fit(*train)
    assert model.weights_.keys() == {"boosting", "forest", "linear"}
    assert sum(model.weights_.values()) == pytest.approx(1.0, abs=1e-12)

    def mean_auc(ranker):
        # One seed may be lucky: ten rounds of boosting alone are from 0.80 to 0.86.
        if "random_state" not in ranker.get_params():
            return clone(ranker).fit(*train).score(*later)
        seeded = [clone(ranker).set_params(random_state=seed) for seed in range(8)]
        return np.mean([one.fit(*train).score(*later) for one in seeded])

    assert mean_auc(model) > max(mean_auc(ranker) for _, ranker in members)


def test_the_leaderboard_agrees_with_new_rows():
    later = sample(20_000, 9)
    gaps = []
    for seed in range(3):
        model = quick().fit(*sample(800, seed))
        table = model.leaderboard_
        (own,) = np.flatnonzero(table["name"] == "ensemble")
        assert table["low"][own] < table["auc"][own] < table["high"][own]
        assert list(table["auc"]) == sorted(table["auc"], reverse=True)
        gaps.append(table["auc"][own] - model.score(*later))
    # Models of four fifths of the rows, and a mean of them that is a little better.
    assert abs(np.mean(gaps)) < 0.02


def test_probabilities_are_calibrated():
    X, y = sample(4000)
    later, labels = sample(20_000, 2)
    p = quick().fit(X, y).predict_proba(later)[:, 1]
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.0)):
        inside = (p >= low) & (p < high)
        assert labels[inside].mean() == pytest.approx(p[inside].mean(), abs=0.05)


def test_probability_and_label_agree(fitted):
    positive = fitted.decision_function(X) > 0
    assert_array_equal(fitted.predict_proba(X)[:, 1] > 0.5, positive)
    assert_array_equal(fitted.predict(X) == fitted.classes_[1], positive)


def test_threads_do_not_matter(fitted):
    expected = fitted.decision_function(X)
    for n_jobs in (1, 3, 16):
        assert_array_equal(quick(n_jobs=n_jobs).fit(X, Y).decision_function(X), expected)


def test_weight_k_equals_k_copies():
    rng = np.random.default_rng(5)
    weight = rng.integers(0, 3, len(Y))
    # Members that do not draw rows by position.
    members = [("linear", LinearRanker()), ("boosting", GradientBoostingRanker(n_rounds=10))]
    model = RankingEnsemble(members=members, random_state=0)
    weighted = clone(model).fit(X, Y, sample_weight=weight).decision_function(X)
    rows = rng.permutation(np.repeat(np.arange(len(Y)), weight))
    copied = clone(model).fit(X[rows], Y[rows]).decision_function(X)
    assert_array_equal(copied, weighted)


def test_a_saved_ensemble_has_the_same_scores_and_leaderboard(fitted, tmp_path):
    fitted.save(tmp_path / "model.json")
    read = load(tmp_path / "model.json")
    assert_array_equal(read.decision_function(X), fitted.decision_function(X))
    assert_array_equal(read.predict_proba(X), fitted.predict_proba(X))
    table = dict(fitted.leaderboard_)
    # Equal fits give equal files.
    del table["fit_seconds"]
    assert list(read.leaderboard_) == list(table)
    for name, column in table.items():
        assert_array_equal(read.leaderboard_[name], column)
    assert read.weights_ == fitted.weights_
    assert [name for name, _ in read.members] == [name for name, _ in few_members()]


def change_column(name, **changes):
    """Return a change to a column of a saved leaderboard."""

    def change(body):
        columns = dict(body["header"]["report"]["leaderboard"]["items"])
        columns[name].update(changes)
        body["header"]["report"]["leaderboard"]["items"] = [*map(list, columns.items())]

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda body: body["header"]["report"].update(leaderboard=[1]), "other columns"),
        (lambda body: body["header"]["report"]["leaderboard"]["items"].pop(), "other columns"),
        (change_column("auc", values=[0.5]), "must be of one length"),
        (change_column("auc", dtype="int64", values=[1, 1, 1, 1]), "does not measure the ensemble"),
        (change_column("name", values=["a", "b", "c", "d"]), "does not measure the ensemble"),
        (change_column("name", values=["a", 1, "c", "d"]), "are not text"),
        (change_column("name", dtype="int"), "not an array of dtype int"),
        (
            lambda body: body["header"]["report"]["feature_importances"].update(values=[0.5]),
            "not one number for each feature",
        ),
        (
            lambda body: body["header"]["report"].update(more=[[]] * 100_000),
            r"its report holds 1000\d\d lists and objects",
        ),
    ],
)
def test_an_invalid_report_in_a_file_is_rejected(change, message, fitted, tmp_path):
    (tmp_path / "model.json").write_text(forged(fitted, change), encoding="utf-8")
    with pytest.raises(ModelFormatError, match=message):
        load(tmp_path / "model.json")


def test_its_formula_is_its_score(fitted):
    assert_array_equal(fitted._model.evaluate_formula(X, 1), fitted.decision_function(X))


def test_frames_categories_and_missing_values():
    rng = np.random.default_rng(3)
    n = 600
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "town": pd.Categorical(rng.choice(list("abcdefgh"), n)),
            "noise": pd.Categorical([f"level {k}" for k in rng.integers(0, 300, n)]),
        }
    )
    y = (frame["town"].cat.codes + 2 * frame["age"].fillna(1) + rng.normal(size=n) > 4).astype(int)
    model = quick().fit(frame[:400], y[:400])
    assert roc_auc_score(y[400:], model.decision_function(frame[400:])) > 0.85
    listed = quick(categorical_features=["town", "noise"]).fit(frame[:400], y[:400])
    assert_array_equal(listed.decision_function(frame[400:]), model.decision_function(frame[400:]))


def test_noise_columns_lower_the_auc_little():
    X, y = sample(1000)
    rng = np.random.default_rng(0)
    later, labels = sample(5000, 7)

    def noise(n):
        many = pd.Categorical([f"l{k}" for k in rng.integers(0, 1500, n)])
        return pd.DataFrame({"id": np.arange(n) + rng.integers(0, 10**6), "many": many})

    model = RankingEnsemble(presets="fast", random_state=0)
    plain = model.fit(X, y).score(later, labels)
    wide = pd.concat([pd.DataFrame(X).add_prefix("x"), noise(len(X))], axis=1)
    wide_later = pd.concat([pd.DataFrame(later).add_prefix("x"), noise(len(later))], axis=1)
    with pytest.warns(UserWarning, match="'many' looks like an identifier"):
        model.fit(wide, y)
    assert model.score(wide_later, labels) > plain - 0.01


def test_time_runs_out_after_the_first_member():
    X, y = sample(2000)
    slow = GradientBoostingRanker(n_rounds=2000, max_leaves=64, early_stopping=False)
    members = [("linear", LinearRanker()), ("slow", slow), ("later", LinearRanker(C=1.0))]
    start = time.process_time()
    model = RankingEnsemble(members=members, time_limit=0.5, random_state=0).fit(X, y)
    assert "slow" not in model.weights_
    assert "linear" in model.weights_
    assert time.process_time() - start < 30


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"members": []}, ValueError, "members must not be empty"),
        ({"members": "fast"}, TypeError, "members must be a list"),
        ({"members": [RankOpt()]}, TypeError, "members must be a list of"),
        (
            {"members": [("a", RankOpt), ("b", RankOpt())]},
            TypeError,
            "member 'a' must be an estimator",
        ),
        ({"members": [("a", RankOpt()), ("a", RankOpt())]}, ValueError, "two of the name 'a'"),
        ({"members": [("a", RankingEnsemble())]}, TypeError, "'a' is an ensemble itself"),
        (
            {"members": [("a", RankingForest(warm_start=True))]},
            ValueError,
            "warm_start of member 'a' must be False",
        ),
        (
            {"members": [("a", LinearRanker(categorical_features=[0]))]},
            ValueError,
            "categorical_features of member 'a' must be 'from_dtype'",
        ),
        ({"members": [("a", RankingForest(n_estimators=0))]}, ValueError, "n_estimators"),
        ({"presets": "large"}, ValueError, "presets must be"),
        ({"n_folds": 1}, ValueError, "n_folds must be"),
        ({"shrinkage": -1.0}, ValueError, "shrinkage must be"),
        ({"time_limit": 0.0}, ValueError, "time_limit must be"),
    ],
)
def test_invalid_parameters_are_rejected(params, error, message):
    with pytest.raises(error, match=message):
        RankingEnsemble(**params).fit(X, Y)


def test_one_positive_row_raises_a_warning_that_none_is_held_out():
    y = np.zeros(50, int)
    y[0] = 1
    with pytest.warns(UserWarning, match="no rows can be left out"):
        model = quick().fit(X[:50], y)
    assert np.isfinite(model.decision_function(X)).all()


def test_fitted_attributes_do_not_exist_before_fit():
    with pytest.raises(NotFittedError):
        _ = RankingEnsemble().leaderboard_
    with pytest.raises(NotFittedError):
        RankingEnsemble().decision_function(X)


def test_verbose_prints_members_and_the_result(capsys):
    model = quick(verbose=2).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    fits = {line.rpartition(",")[0] for line in lines if " without " in line}
    boosting, *others = (name for name, _ in few_members())
    # A booster that stops early fits its folds together.
    assert fits == {f"[RankingEnsemble] {boosting} without each fold"} | {
        f"[RankingEnsemble] {name} without fold {fold}" for name in others for fold in range(1, 6)
    }
    members = [line for line in lines if " of 3 members" in line]
    for number, line in enumerate(members, start=1):
        assert line.startswith(f"[RankingEnsemble] {number} of 3 members, ")
    assert len(members) == 3
    assert len(lines) == len(fits) + len(members) + 1
    table = model.leaderboard_
    auc = table["auc"][table["name"] == "ensemble"][0]
    assert lines[-1] == f"[RankingEnsemble] 3 members, AUC {auc:.4f} on rows left out"


def test_the_core_rejects_members_that_do_not_match():
    few = make_gaussian_pair(100, random_state=0)
    model = TreeRank(pruning=None).fit(few.X, few.y)._model
    n_levels = [None] * model.n_features
    with pytest.raises(ValueError, match="other columns"):
        _core.build_ensemble([None] * 17, [(1.0, [model], [])], 0.0)
    with pytest.raises(ValueError, match="no models"):
        _core.build_ensemble(n_levels, [(1.0, [], [])], 0.0)
    with pytest.raises(ValueError, match="not positive and finite"):
        _core.build_ensemble(n_levels, [(-1.0, [model], [])], 0.0)
    inner = _core.build_ensemble(n_levels, [(1.0, [model], [])], 0.0)
    with pytest.raises(ValueError, match="is an ensemble"):
        _core.build_ensemble(n_levels, [(1.0, [inner], [])], 0.0)


class Clock:
    """Replaces `time.perf_counter`: advances only when called."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def timed(clock, cls, seconds_per_part, **params):
    """Return a ranker whose parts, such as rounds, take so many seconds by a clock."""

    class Timed(cls):
        def _fit_model(self, context):
            own_progress = context.progress

            class Slow(type(own_progress)):
                def __init__(self):
                    self.__dict__.update(own_progress.__dict__)

                def __call__(self, *part):
                    clock.now += seconds_per_part
                    return super().__call__(*part)

            slow = replace(context, progress=Slow())
            return super()._fit_model(slow)

    Timed.__init__ = cls.__init__
    return Timed(**params)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    for module in (_cross_fit, fit_progress, _ranking_ensemble):
        monkeypatch.setattr(module, "perf_counter", clock)
    return clock


def test_a_time_limit_is_kept_by_leaving_members_out(clock):
    """Parts of 1 s: 20 s a fold, so 100 s for the first member, and 1000 s for the second."""
    members = [
        ("first", timed(clock, GradientBoostingRanker, 1.0, n_rounds=20, early_stopping=False)),
        ("slow", timed(clock, GradientBoostingRanker, 1.0, n_rounds=200, early_stopping=False)),
        ("last", timed(clock, GradientBoostingRanker, 0.5, n_rounds=10, early_stopping=False)),
    ]
    start = clock.now
    model = RankingEnsemble(members=members, time_limit=300.0, n_jobs=1, random_state=0).fit(X, Y)
    assert list(dict.fromkeys(sorted(model.weights_))) == ["first", "last"]
    assert clock.now - start < 1.2 * 300
    # It was left out once a fifth of the time that was left was up, and not later.
    assert clock.now - start <= 100 + 200 / 5 + 1 + 25


def test_a_first_member_that_is_too_slow_keeps_its_rounds_so_far(clock):
    slow = timed(clock, GradientBoostingRanker, 1.0, n_rounds=500, early_stopping=False)
    members = [("first", slow)]
    start = clock.now
    model = RankingEnsemble(members=members, time_limit=100.0, n_jobs=1, random_state=0).fit(X, Y)
    assert clock.now - start < 1.2 * 100
    rounds = [fold.n_rounds for fold in model._model.models(0)]
    assert len(rounds) == 5
    assert max(rounds) <= 21
    assert model.score(X, Y) > 0.95


def test_folds_that_are_fitted_together_end_with_the_same_rounds(clock, monkeypatch):
    def tick():
        clock.now += 0.5
        return clock.now

    monkeypatch.setattr(fit_progress, "perf_counter", tick)
    booster = GradientBoostingRanker(learning_rate=0.01, n_iter_no_change=1000, max_leaves=32)
    members = [("booster", booster), ("linear", LinearRanker())]
    model = RankingEnsemble(members=members, time_limit=40.0, n_jobs=1, random_state=0)
    model.fit(*sample(400))
    rounds = [fold.n_rounds for fold in model._model.models(0)]
    assert len(rounds) == 5
    assert len(set(rounds)) == 1
    assert 40 <= rounds[0] <= 80


def test_a_callback_that_ends_the_fit_keeps_the_finished_members():
    class Stop(FitProgress):
        @property
        def observer(self):
            return self

        def __call__(self, unit, number, most, figures):
            return number < 2

    class Stopped(RankingEnsemble):
        def _fit_model(self, context):
            return super()._fit_model(replace(context, progress=Stop(self)))

    Stopped.__init__ = RankingEnsemble.__init__
    model = Stopped(members=few_members(), random_state=0).fit(X, Y)
    assert model.weights_.keys() == {"boosting", "forest"}


def test_with_much_verbosity_members_print_their_own_lines(capsys):
    booster = GradientBoostingRanker(n_rounds=10, max_leaves=8)
    quick(verbose=4, members=[("boosting", booster)], n_folds=2).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    # Once for both folds, which are fitted together.
    assert sum(line.startswith("[GradientBoostingRanker] 3 of 10 rounds") for line in lines) == 1


def line_in_noise(noise, monkeypatch):
    """Return 900 rows of 30 columns, which count as many: a line in two separates the classes."""
    monkeypatch.setattr(_presets, "_WHOLE_FORESTS", 1 << 14)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 30))
    return X, X[:, 0] + X[:, 1] + noise * rng.normal(size=900) > 0


def test_a_forest_is_left_out_of_many_rows_if_the_first_fold_gives_it_no_weight(monkeypatch):
    X, y = line_in_noise(3.0, monkeypatch)
    model = RankingEnsemble(random_state=0, n_jobs=2).fit(X, y)
    assert model.weights_.keys() == {"boosting", "linear_thresholds"}
    alone = RankingEnsemble(random_state=0, n_jobs=1, time_limit=900).fit(X, y)
    assert alone.weights_ == model.weights_
    # Of fewer rows all members are fitted, and those that the user names in any case.
    all_members = {"boosting", "linear_thresholds", "random_cuts_forest"}
    assert RankingEnsemble(random_state=0).fit(X[:540], y[:540]).weights_.keys() == all_members
    own = RankingEnsemble(members=members_of("default", X.size), random_state=0).fit(X, y)
    assert own.weights_.keys() == all_members


def test_the_best_preset_tries_forests_and_the_plain_linear_score_on_many_rows(monkeypatch):
    X, y = line_in_noise(3.0, monkeypatch)
    names = {name for name, _ in members_of("best", X.size)}
    found = RankingEnsemble(presets="best", random_state=0).fit(X, y).weights_
    tried = {"forest", "random_cuts_forest", "linear"}
    assert names - tried <= found.keys() < names
    of_few = RankingEnsemble(presets="best", random_state=0).fit(X[:540], y[:540]).weights_
    assert of_few.keys() == names


def test_a_forest_of_many_rows_is_kept_if_the_first_fold_gives_it_weight(monkeypatch):
    X, y = line_in_noise(0.2, monkeypatch)
    weights = RankingEnsemble(random_state=0).fit(X, y).weights_
    assert weights["random_cuts_forest"] > 0.05
