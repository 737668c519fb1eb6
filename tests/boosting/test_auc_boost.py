"""AUCBoost against a plain version, and properties for any data."""

import pickle
import warnings

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank import AUCBoost, RankBoost
from aucrank.datasets import load_breast_cancer
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.metrics import roc_auc_score

from tests.common.oracles import parts_that_count

BOTH = [AUCBoost, RankBoost]


def make_rows(n_rows=400, seed=0):
    """Return three numbers, two of them with missing values, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).round(1)
    logit = X[:, 0] + np.sin(3 * X[:, 1]) - 0.5 * X[:, 2] * X[:, 0]
    y = rng.random(n_rows) < 1 / (1 + np.exp(-2 * logit))
    X[rng.random(n_rows) < 0.1, 1] = np.nan
    X[rng.random(n_rows) < 0.1, 2] = np.nan
    return X, y.astype(int)


def tied_auc(score, y, weight):
    return roc_auc_score(y, score, sample_weight=weight)


def candidate_scores(X):
    """Return every feature in both directions, missing values below all others and above."""
    for values in X.T:
        for direction in (1, -1):
            for missing in (-1e9, 1e9):
                yield np.where(np.isnan(values), missing, direction * values)


def two_sided_mean(score, y, weight):
    """Return the mean vote and the error of the classifier of Lemma 4, with theta by B2."""
    w_pos = np.where(y == 1, weight, 0) / weight[y == 1].sum()
    w_neg = np.where(y == 0, weight, 0) / weight[y == 0].sum()
    best = None
    for theta in [*np.unique(score), None]:
        high = np.zeros(len(score), bool) if theta is None else score >= theta
        p_pos, p_neg = w_pos[~high].sum(), w_neg[high].sum()
        gap = abs(p_pos - p_neg)
        zeta = gap / (1 + gap)
        error = max(p_pos, p_neg) / (1 + gap)
        chance = np.where(high, 1.0, zeta) if p_neg <= p_pos else np.where(high, 1 - zeta, 0.0)
        key = (round(p_pos + p_neg, 10), round(error, 10))
        if best is None or key <= best[0]:
            best = (key, 2 * chance - 1, error)
    return best[1], best[2]


def plain_auc_boost(X, y, n_rounds, max_fpr=1.0):
    """Return sums and errors by round: Theorem 2 with the expectation of g, written plainly."""
    neg = y == 0
    sign = 2 * y - 1
    weight = np.where(y == 1, 0.5 / (y == 1).sum(), 0.5 / (y == 0).sum())
    total, sums, errors, bounds = np.zeros(len(y)), [], [], []
    parts = np.ones(len(y))
    for _ in range(n_rounds):
        score = max(candidate_scores(X), key=lambda s: round(tied_auc(s, y, weight), 10))
        mean, error = two_sided_mean(score, y, weight)
        alpha = 0.5 * np.log((1 - error) / error)
        total = total + alpha * mean
        weight = weight * np.exp(-alpha * sign * mean) / parts
        parts[neg] = (
            1.0 if max_fpr == 1 else parts_that_count(total[neg], np.ones(neg.sum()), max_fpr)
        )
        weight = weight * parts
        sums.append(total)
        errors.append(error)
        # Each class is normalised by itself, so that both weigh one half again (B16).
        of_neg = np.average(np.exp(total[neg]), weights=parts[neg])
        bounds.append(np.mean([np.exp(-total[~neg]).mean(), of_neg]))
        for k in (0, 1):
            weight[y == k] *= 0.5 / weight[y == k].sum()
    return np.array(sums), np.array(errors), np.array(bounds)


@pytest.mark.parametrize("seed", range(3))
def test_the_rounds_are_those_of_the_plain_version(seed):
    X, y = make_rows(150, seed)
    sums, errors, bounds = plain_auc_boost(X, y, 15)
    model = AUCBoost(n_rounds=15, max_bins=None).fit(X, y)
    stages = np.array(list(model.staged_decision_function(X))) + model.threshold_
    np.testing.assert_allclose(stages, sums, atol=1e-6)
    np.testing.assert_allclose(model.training_error_bound_, bounds, rtol=1e-6)
    assert np.all(model.training_error_bound_ <= np.cumprod(2 * np.sqrt(errors * (1 - errors))))


@pytest.mark.parametrize("seed", range(3))
def test_the_rounds_up_to_a_rate_are_those_of_the_plain_version(seed):
    X, y = make_rows(150, seed)
    sums, _, bounds = plain_auc_boost(X, y, 12, max_fpr=0.3)
    model = AUCBoost(n_rounds=12, max_bins=None, max_fpr=0.3).fit(X, y)
    stages = np.array(list(model.staged_decision_function(X))) + model.threshold_
    np.testing.assert_allclose(stages, sums, atol=1e-6)
    np.testing.assert_allclose(model.training_error_bound_, bounds, rtol=1e-6)


def test_held_out_rows_are_judged_up_to_the_rate():
    X, y = make_rows(900)
    model = AUCBoost(n_rounds=20, max_fpr=0.2, early_stopping=True, n_iter_no_change=20)
    model.fit(X[:600], y[:600], X_val=X[600:], y_val=y[600:])
    stages = model.staged_decision_function(X[600:])
    expected = [aucrank.metrics.roc_auc_score(y[600:], stage, max_fpr=0.2) for stage in stages]
    found = model.validation_path_["auc"]
    np.testing.assert_allclose(found[: len(expected)], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_the_bound_on_the_training_error_holds_in_each_round(learning_rate, subsample):
    X, y = make_rows()
    params = {"learning_rate": learning_rate, "subsample": subsample, "random_state": 0}
    model = AUCBoost(n_rounds=60, **params).fit(X, y)
    stages = np.array(list(model.staged_decision_function(X))) + model.threshold_
    for total, bound in zip(stages, model.training_error_bound_, strict=True):
        # Sums of 0 count as mistakes.
        error = np.mean([(total[y == 1] <= 0).mean(), (total[y == 0] >= 0).mean()])
        assert error <= bound
        assert roc_auc_score(y, total >= 0) >= 1 - bound
    if subsample == 1:
        assert np.all(np.diff(model.training_error_bound_) < 0)


def test_any_weak_advantage_is_boosted():
    X, y = load_breast_cancer(return_X_y=True)
    model = AUCBoost(n_rounds=600).fit(X, y)
    assert model.training_error_bound_[-1] < 0.01
    assert model.score(X, y) > 0.999


def test_with_output_sign_there_are_two_scores():
    X, y = make_rows()
    real = AUCBoost(n_rounds=20).fit(X, y)
    sign = AUCBoost(n_rounds=20, output="sign").fit(X, y)
    assert sign.threshold_ == 0
    total = real.decision_function(X) + real.threshold_
    assert_array_equal(sign.decision_function(X), np.where(total >= 0, 1.0, -1.0))
    assert_array_equal(sign.predict(X), (total >= 0).astype(int))


def test_the_sign_of_a_zero_score_is_positive():
    X, y = np.zeros((6, 1)), np.array([0, 1, 0, 1, 0, 0])
    with pytest.warns(UserWarning, match="No weak ranker"):
        model = AUCBoost(output="sign").fit(X, y)
    assert_array_equal(model.predict(X), np.ones(6))


@pytest.mark.parametrize("Booster", BOTH)
@pytest.mark.parametrize("params", [{}, {"subsample": 0.4, "max_features": 2}])
def test_threads_and_row_order_do_not_matter_and_weights_equal_copies(Booster, params):
    X, y = make_rows()
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, size=len(y)).astype(float)
    params = {**params, "n_rounds": 30, "random_state": 3}

    def scores(rows, sample_weight=None, n_jobs=1):
        model = Booster(**params, n_jobs=n_jobs).fit(X[rows], y[rows], sample_weight)
        return model.decision_function(X), model.threshold_

    all_rows = np.arange(len(y))
    expected = scores(np.repeat(all_rows, weight.astype(int)))
    shuffled = rng.permutation(all_rows)
    for found in (
        scores(all_rows, weight),
        scores(all_rows, weight, n_jobs=2),
        scores(shuffled, weight[shuffled]),
        scores(all_rows[weight > 0], weight[weight > 0]),
    ):
        assert_array_equal(found[0], expected[0])
        assert found[1] == expected[1]


@pytest.mark.parametrize("Booster", BOTH)
def test_many_rows_do_not_depend_on_the_number_of_threads(Booster):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150_000, 4))
    y = rng.random(150_000) < 1 / (1 + np.exp(-X.sum(axis=1)))
    one, two = (Booster(n_rounds=10, n_jobs=n).fit(X, y).decision_function(X) for n in (1, 3))
    assert_array_equal(one, two)


@pytest.mark.parametrize("Booster", BOTH)
@pytest.mark.parametrize("params", [{}, {"learning_rate": 0.3, "subsample": 0.5}])
def test_the_last_stage_is_the_score(Booster, params):
    X, y = make_rows()
    model = Booster(n_rounds=40, random_state=0, **params).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_iter_ == 40
    assert_array_equal(stages[-1], model.decision_function(X))
    # Each stage is an array of its own.
    assert not np.array_equal(stages[0], stages[-1])
    shorter = Booster(n_rounds=7, random_state=0, **params).fit(X, y)
    assert_array_equal(
        stages[6] + model.threshold_, shorter.decision_function(X) + shorter.threshold_
    )


@pytest.mark.parametrize("Booster", BOTH)
def test_staged_scores_raise_the_same_errors_as_scores(Booster):
    X, y = make_rows()
    model = Booster(n_rounds=3).fit(X, y)
    X[5, 2] = np.inf
    with pytest.raises(ValueError, match="infin"):
        next(model.staged_decision_function(X))
    with pytest.raises(ValueError, match="features"):
        next(model.staged_decision_function(X[:, :2]))


@pytest.mark.parametrize("Booster", BOTH)
@pytest.mark.parametrize("random_state", [None, 0])
def test_warm_start_continues_the_fit(Booster, random_state):
    X, y = make_rows()
    params = {"subsample": 0.5, "max_features": 2}
    grown = Booster(n_rounds=10, warm_start=True, random_state=random_state, **params).fit(X, y)
    grown.set_params(n_rounds=20).fit(X, y)
    assert grown.n_iter_ == 20
    if random_state is not None:
        whole = Booster(n_rounds=20, random_state=random_state, **params).fit(X, y)
        assert_array_equal(whole.decision_function(X), grown.decision_function(X))
        assert whole.threshold_ == grown.threshold_
    with pytest.raises(ValueError, match="at least the 20 rounds"):
        grown.set_params(n_rounds=19).fit(X, y)


def test_warm_start_needs_the_same_columns_and_classes():
    X, y = make_rows()
    for other in ((X[:, :2], y), (X, np.where(y == 1, 2, 0))):
        model = AUCBoost(n_rounds=5, warm_start=True).fit(X, y)
        with pytest.raises(ValueError, match="warm_start needs"):
            model.fit(*other)


@pytest.mark.parametrize("Booster", BOTH)
def test_early_stopping_keeps_the_rounds_up_to_the_best(Booster):
    X, y = make_rows(1000)
    y ^= np.random.default_rng(2).random(1000) < 0.2
    model = Booster(n_rounds=300, early_stopping=True, random_state=0).fit(X, y)
    path = model.validation_path_
    assert len(path["round"]) < 300
    assert model.n_iter_ == 1 + np.argmax(path["auc"])
    assert_array_equal(np.flatnonzero(path["kept"]), [model.n_iter_ - 1])
    assert len(model.training_error_bound_) == model.n_iter_ if Booster is AUCBoost else True
    # None of the last ten rounds rose above the best before them.
    assert path["auc"][-10:].max() <= path["auc"][:-10].max() + 1e-4
    assert AUCBoost().fit(X, y).validation_path_ is None


@pytest.mark.parametrize("Booster", BOTH)
def test_validation_rows_can_be_passed(Booster):
    X, y = make_rows(600)
    X_val, y_val = make_rows(300, seed=9)
    weight = np.random.default_rng(0).random(300)
    params = {"early_stopping": True, "n_iter_no_change": 5}
    model = Booster(n_rounds=200, **params)
    model.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight)
    expected = [
        roc_auc_score(y_val, score, sample_weight=weight)
        for score in model.staged_decision_function(X_val)
    ]
    np.testing.assert_allclose(model.validation_path_["auc"][: model.n_iter_], expected, rtol=1e-12)
    # All rows of the fit are learned from.
    plain = Booster(n_rounds=model.n_iter_).fit(X, y)
    assert_array_equal(plain.decision_function(X), model.decision_function(X))
    with pytest.raises(ValueError, match="choose the number of rounds"):
        Booster().fit(X, y, X_val=X_val, y_val=y_val)
    with pytest.raises(ValueError, match="y_val is missing"):
        Booster(**params).fit(X, y, X_val=X_val)


def test_the_window_selects_the_round_as_in_paper_5():
    X, y = make_rows(800)
    y ^= np.random.default_rng(2).random(800) < 0.2
    model = RankBoost(n_rounds=120, selection="window", random_state=0).fit(X, y)
    path = model.validation_path_
    assert len(path["round"]) == 120
    taps = 8.0 - np.abs(np.arange(-7, 8))
    expected = np.convolve(path["auc"], taps, "same") / np.convolve(np.ones(120), taps, "same")
    np.testing.assert_allclose(path["smoothed"], expected, rtol=1e-12)
    assert model.n_iter_ == 1 + np.argmax(path["smoothed"])
    refitted = RankBoost(n_rounds=120, selection="window", random_state=0, refit=True).fit(X, y)
    plain = RankBoost(n_rounds=model.n_iter_, random_state=0).fit(X, y)
    assert_array_equal(refitted.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"selection": "window", "early_stopping": True}, "early_stopping does not go"),
        ({"selection": "best"}, "selection must be one of"),
        ({"early_stopping": True, "refit": True, "warm_start": True}, "refit does not go"),
        ({"early_stopping": 1}, "early_stopping must be True or False"),
        ({"validation_fraction": 1.0}, "validation_fraction must be in"),
        ({"n_iter_no_change": 0}, "n_iter_no_change must be at least 1"),
        ({"tol": -1.0}, "tol must be in"),
        ({"subsample": 0.0}, "subsample must be in"),
        ({"max_features": 0}, "max_features must be at least 1"),
        ({"learning_rate": 1.5}, "learning_rate must be in"),
        ({"n_rounds": 0}, "n_rounds must be at least 1"),
    ],
)
def test_invalid_parameters_are_rejected(params, message):
    X, y = make_rows(50)
    with pytest.raises((ValueError, TypeError), match=message):
        RankBoost(**params).fit(X, y)


def test_unknown_outputs_and_criteria_are_rejected():
    X, y = make_rows(50)
    for params in ({"output": "probability"}, {"criterion": "gini"}):
        with pytest.raises(ValueError, match="must be one of"):
            AUCBoost(**params).fit(X, y)


def test_subsampled_rounds_differ_by_seed_and_still_learn():
    X, y = make_rows(1000)
    models = [
        AUCBoost(n_rounds=50, subsample=0.2, max_features=1, random_state=seed).fit(X, y)
        for seed in (0, 0, 1)
    ]
    first, again, other = (model.decision_function(X) for model in models)
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert models[0].score(X, y) > AUCBoost(n_rounds=1).fit(X, y).score(X, y) + 0.05


@pytest.mark.parametrize("Booster", BOTH)
def test_importances_are_in_units_of_auc(Booster):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = (X[:, 0] + 0.5 * X[:, 2] + rng.normal(size=2000) > 0).astype(int)
    one = Booster(n_rounds=1, weak_ranker="threshold").fit(X, y)
    score = one.decision_function(X)
    # A single round: its advantage over chance.
    expected = [roc_auc_score(y, score) - 0.5, 0, 0]
    np.testing.assert_allclose(one.feature_importances_, expected, atol=1e-12)
    many = Booster(n_rounds=50).fit(X, y).feature_importances_
    assert np.argsort(many)[0] == 1
    assert np.argmax(many) == 0
    assert 0 < many.sum() < 0.5


@pytest.mark.parametrize("Booster", BOTH)
@pytest.mark.parametrize("params", [{}, {"early_stopping": True}, {"subsample": 0.5}])
@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.array([[0.0], [1.0]]), [0, 1]),
        (np.array([[1.0], [1.0], [1.0]]), [0, 1, 0]),
        (np.full((5, 2), np.nan), [0, 1, 0, 1, 1]),
        (np.array([[np.nan], [0.0], [0.0], [np.nan]]), [0, 1, 1, 0]),
        (np.repeat([[0.0], [1.0]], 4, axis=0), [0, 0, 0, 1, 1, 1, 1, 0]),
    ],
    ids=["two rows", "constant", "all missing", "informative missing", "copies"],
)
def test_little_to_learn_gives_a_valid_model_and_at_most_one_warning(Booster, params, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = Booster(random_state=0, **params).fit(X, y)
    assert len(caught) <= 1
    scores = model.decision_function(X)
    assert np.isfinite(scores).all()
    assert model.score(X, y) >= 0.5
    assert_array_equal(model.predict(X) == 1, scores > 0)
    assert model.feature_importances_.shape == (X.shape[1],)


@pytest.mark.parametrize("Booster", BOTH)
def test_one_class_is_rejected(Booster):
    with pytest.raises(ValueError, match="class"):
        Booster().fit([[0.0], [1.0]], [1, 1])


def test_categories_are_matched_by_value(tmp_path):
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], size=500)
    y = rng.random(500) < np.where(colour == "green", 0.8, 0.3)
    X = pd.DataFrame({"colour": pd.Categorical(colour), "size": rng.normal(size=500)})
    model = AUCBoost(n_rounds=10).fit(X, y)
    other = X.assign(colour=X["colour"].cat.reorder_categories(["green", "red", "blue"]))
    assert_array_equal(model.decision_function(X), model.decision_function(other))
    unseen = pd.DataFrame({"colour": pd.Categorical(["violet"]), "size": [0.0]})
    missing = pd.DataFrame({"colour": pd.Categorical([None]), "size": [0.0]})
    assert_array_equal(model.decision_function(unseen), model.decision_function(missing))


@pytest.mark.parametrize("Booster", BOTH)
@pytest.mark.parametrize("params", [{}, {"early_stopping": True, "subsample": 0.5}])
def test_a_saved_model_is_the_same(Booster, params, tmp_path):
    X, y = make_rows()
    model = Booster(random_state=0, **params).fit(X, y)
    model.save(tmp_path / "model.json")
    for read in (aucrank.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(read.decision_function(X), model.decision_function(X))
        assert read.get_params() == model.get_params()
        assert (read.n_iter_, read.threshold_) == (model.n_iter_, model.threshold_)
        assert_array_equal(read.feature_importances_, model.feature_importances_)
        if params:
            assert_array_equal(read.validation_path_["auc"], model.validation_path_["auc"])
        # It can be warm started.
        longer = read.set_params(warm_start=True, n_rounds=model.n_iter_ + 3).fit(X, y)
        assert longer.n_iter_ > 0


def test_verbose_prints_the_number_of_rounds(capsys):
    X, y = make_rows()
    AUCBoost(n_rounds=3, verbose=1).fit(X, y)
    assert "[AUCBoost] 3 rounds" in capsys.readouterr().out


@settings(max_examples=settings().max_examples * 12 // 5)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from([0.0, 1.0, 2.0, np.nan]), st.sampled_from([0.0, 1.0]), st.booleans()
        ),
        min_size=2,
        max_size=25,
    ),
    learning_rate=st.sampled_from([1.0, 0.4]),
)
def test_for_any_rows_the_bound_holds_and_the_last_stage_is_the_score(rows, learning_rate):
    rows = [(0.0, 0.0, True), (0.0, 1.0, False), *rows]
    X = np.array([row[:2] for row in rows])
    y = np.array([row[2] for row in rows], dtype=int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = AUCBoost(n_rounds=12, learning_rate=learning_rate).fit(X, y)
    scores = model.decision_function(X)
    stages = list(model.staged_decision_function(X))
    if stages:
        assert_array_equal(stages[-1], scores)
    for stage, bound in zip(stages, model.training_error_bound_, strict=True):
        total = stage + model.threshold_
        error = np.mean([(total[y == 1] <= 0).mean(), (total[y == 0] >= 0).mean()])
        assert error <= bound + 1e-12
    assert_array_equal(model.predict(X) == 1, scores > 0)
