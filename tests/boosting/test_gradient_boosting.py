"""GradientBoostingRanker: its scores, rounds, categories and parameters."""

from functools import partial
from itertools import permutations
from time import process_time

import numpy as np
import pandas as pd
import pytest
from aucrank import GradientBoostingRanker, ModelFormatError, load
from aucrank._base.persistence import read_model
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from tests.common.forged import forged
from tests.common.loans import loans
from tests.common.oracles import parts_that_count
from tests.common.real_data import load as load_data
from tests.common.real_data import needs_data
from tests.common.samples import NOTHING_TO_LEARN, top_against_all

LOSSES = ["log", "pair_exponential", "pair_logistic"]
PAIR_LOSSES = ["pair_exponential", "pair_logistic"]
X, Y = load_breast_cancer(return_X_y=True)
FRAME, BAD = loans(1500, 0)


def small(**params):
    """Return a ranker of one model and few rounds."""
    few = {"n_rounds": 20, "early_stopping": False, "n_bags": 1, "random_state": 0}
    return GradientBoostingRanker(**(few | params))


def simulated(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 8))
    log_odds = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3])
    return X, rng.random(n_rows) < 1 / (1 + np.exp(-log_odds))


def mean_auc(model, X, y):
    aucs = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        rows = (X.iloc[train], X.iloc[test]) if isinstance(X, pd.DataFrame) else (X[train], X[test])
        scores = clone(model).fit(rows[0], y[train]).predict_proba(rows[1])[:, 1]
        aucs.append(roc_auc_score(y[test], scores))
    return np.mean(aucs)


@pytest.mark.parametrize("loss", LOSSES)
def test_new_rows_are_ranked_as_well_as_by_scikit_learn(loss):
    X, y = simulated(6000)
    model = small(loss=loss, n_rounds=100).fit(X[:4000], y[:4000])
    rival = HistGradientBoostingClassifier(random_state=0).fit(X[:4000], y[:4000])
    auc = roc_auc_score(y[4000:], rival.predict_proba(X[4000:])[:, 1])
    assert model.score(X[4000:], y[4000:]) > auc - 0.01


@needs_data
@pytest.mark.parametrize("name", ["pima", "german", "heart"])
def test_real_rows_are_ranked_at_least_as_well_as_by_scikit_learn(name):
    X, y = load_data(name)
    is_number = X.dtypes.map(pd.api.types.is_numeric_dtype)
    for column in X.columns[~is_number]:
        X[column] = X[column].astype("category")
    rival = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    assert mean_auc(GradientBoostingRanker(random_state=0), X, y) > mean_auc(rival, X, y)


def test_the_first_tree_is_that_of_scikit_learn():
    # Without l2 the two agree: thresholds between the same distinct values, the same Newton steps.
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 60, size=(800, 4)).astype(float), rng.random(800) < 0.4
    y |= (X[:, 0] > 30) & (X[:, 1] < 20)
    params = {"max_leaf_nodes": 8, "min_samples_leaf": 10, "learning_rate": 0.3}
    rival = HistGradientBoostingClassifier(max_iter=1, **params).fit(X, y)
    model = small(
        n_rounds=1,
        learning_rate=0.3,
        max_leaves=8,
        min_samples_leaf=10,
        cuts="best",
        l2=0.0,
        subsample=1.0,
        max_features=None,
    ).fit(X, y)
    # Gradients are rounded to 2^-20 here, and to single precision there.
    assert_allclose(model.decision_function(X), rival.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_row_order_and_copies_do_not_matter(loss):
    X, y = simulated(3000)
    model = small(loss=loss, n_jobs=1).fit(X, y)
    scores = model.decision_function(X)
    assert_array_equal(clone(model).set_params(n_jobs=3).fit(X, y).decision_function(X), scores)
    order = np.random.default_rng(1).permutation(3000)
    assert_array_equal(clone(model).fit(X[order], y[order]).decision_function(X), scores)
    weight = np.random.default_rng(2).integers(0, 4, 3000)
    weighted = clone(model).fit(X, y, sample_weight=weight).decision_function(X)
    copies = np.repeat(np.arange(3000), weight)
    assert_array_equal(clone(model).fit(X[copies], y[copies]).decision_function(X), weighted)


def test_equal_weights_of_any_size_do_not_matter():
    scores = small().fit(FRAME, BAD).decision_function(FRAME)
    weighted = small().fit(FRAME, BAD, sample_weight=np.full(len(BAD), 1e-3))
    assert_allclose(weighted.decision_function(FRAME), scores, atol=1e-6)


def test_probabilities_are_logistic_and_agree_with_predict():
    model = small().fit(FRAME, BAD)
    scores, positive = model.decision_function(FRAME), model.predict_proba(FRAME)[:, 1]
    assert_allclose(positive, 1 / (1 + np.exp(-scores)), rtol=1e-14)
    assert_array_equal(positive > 0.5, scores > 0)
    assert_array_equal(model.predict(FRAME) == model.classes_[1], scores > 0)
    rate = np.mean(model.classes_[1] == BAD)
    assert model.base_score_ == pytest.approx(np.log(rate / (1 - rate)), abs=1e-9)
    assert model.threshold_ == 0
    assert log_loss(BAD, positive) < log_loss(BAD, np.full(len(BAD), rate))


@pytest.mark.parametrize("loss", LOSSES[1:])
def test_losses_of_pairs_have_a_threshold_and_no_probabilities(loss):
    model = small(loss=loss).fit(FRAME, BAD)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(FRAME)
    assert model.base_score_ == -model.threshold_
    found = model.predict(FRAME) == model.classes_[1]
    gap = np.mean(found[model.classes_[1] == BAD]) - np.mean(found[model.classes_[1] != BAD])
    scores = model.decision_function(FRAME)
    cuts = np.unique(scores)
    is_bad = model.classes_[1] == BAD
    best = max(np.mean(scores[is_bad] >= cut) - np.mean(scores[~is_bad] >= cut) for cut in cuts)
    assert gap == pytest.approx(best)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_last_stage_is_the_score_and_rounds_describe_each_stage(loss):
    model = small(loss=loss).fit(FRAME, BAD)
    stages = list(model.staged_decision_function(FRAME))
    assert len(stages) == model.n_iter_ == 20
    assert_array_equal(stages[-1], model.decision_function(FRAME))
    rounds = model.rounds_
    steps = np.diff(stages, axis=0, prepend=np.full((1, len(BAD)), model.base_score_))
    assert_allclose(np.max(steps, axis=1), rounds["high"], atol=1e-12)
    assert np.all(steps.min(axis=1) >= np.asarray(rounds["low"]) - 1e-12)
    assert np.all(np.asarray(rounds["gain"]) > 0)
    assert np.all(np.asarray(rounds["n_leaves"]) <= 32)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_warm_start_equals_one_longer_fit(loss):
    model = small(loss=loss, learning_rate=0.1, warm_start=True, n_rounds=8).fit(FRAME, BAD)
    model.set_params(n_rounds=20, random_state=99).fit(FRAME, BAD)
    whole = small(loss=loss, learning_rate=0.1).fit(FRAME, BAD)
    assert_array_equal(model.decision_function(FRAME), whole.decision_function(FRAME))
    with pytest.raises(ValueError, match="n_rounds=5 must be at least the 20 rounds"):
        model.set_params(n_rounds=5).fit(FRAME, BAD)


def test_a_warm_start_needs_the_same_loss():
    model = small(warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="warm_start needs the loss of the last fit, 'log'"):
        model.set_params(loss="pair_logistic").fit(X, Y)


@pytest.mark.parametrize("loss", PAIR_LOSSES)
def test_the_top_is_ranked_on_request_and_otherwise_all_rows(loss):
    X, y, weight = top_against_all()
    params = {"loss": loss, "n_rounds": 100, "learning_rate": 0.1, "interactions": 0}
    of_all, of_top = (
        small(**params, subsample=1.0, max_features=None, max_fpr=max_fpr)
        .fit(X, y, sample_weight=weight)
        .decision_function(X)
        for max_fpr in (1.0, 0.1)
    )
    area = partial(roc_auc_score, y, sample_weight=weight)
    assert area(of_all) > area(of_top) + 0.15
    assert area(of_top, max_fpr=0.1) > area(of_all, max_fpr=0.1) + 0.25


@pytest.mark.parametrize("loss", PAIR_LOSSES)
def test_threads_row_order_and_copies_do_not_matter_with_max_fpr(loss):
    X, y = simulated(3000)
    model = small(loss=loss, max_fpr=0.1, n_jobs=1).fit(X, y)
    scores = model.decision_function(X)
    assert not np.array_equal(small(loss=loss).fit(X, y).decision_function(X), scores)
    assert_array_equal(clone(model).set_params(n_jobs=3).fit(X, y).decision_function(X), scores)
    order = np.random.default_rng(1).permutation(3000)
    assert_array_equal(clone(model).fit(X[order], y[order]).decision_function(X), scores)
    weight = np.random.default_rng(2).integers(0, 4, 3000)
    weighted = clone(model).fit(X, y, sample_weight=weight).decision_function(X)
    copies = np.repeat(np.arange(3000), weight)
    assert_array_equal(clone(model).fit(X[copies], y[copies]).decision_function(X), weighted)
    begun = clone(model).set_params(learning_rate=0.1, warm_start=True, n_rounds=8).fit(X, y)
    begun.set_params(n_rounds=20).fit(X, y)
    whole = clone(model).set_params(learning_rate=0.1).fit(X, y)
    assert_array_equal(begun.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("loss", PAIR_LOSSES)
def test_held_out_rows_are_evaluated_by_the_loss_of_those_that_count(loss):
    X, y = simulated(1500)
    held_out = {"X_val": X[1000:], "y_val": y[1000:]}
    model = small(loss=loss, max_fpr=0.2, early_stopping=True, scoring="loss")
    path = model.fit(X[:1000], y[:1000], **held_out).validation_path_
    pos, neg = y[1000:], ~y[1000:]
    for scores, found in zip(model.staged_decision_function(X[1000:]), path["loss"], strict=False):
        parts = parts_that_count(scores[neg], np.ones(neg.sum()), 0.2)
        gaps = scores[neg][:, None] - scores[pos]
        of_pairs = np.exp(gaps) if loss == "pair_exponential" else np.log1p(np.exp(gaps))
        mean = np.average(of_pairs.mean(axis=1), weights=parts)
        expected = np.log(mean) if loss == "pair_exponential" else mean
        # The logistic loss is one of scores on a grid.
        assert found == pytest.approx(expected, abs=1e-8 if loss == "pair_exponential" else 2e-3)


@pytest.mark.parametrize("loss", PAIR_LOSSES)
def test_early_stopping_uses_the_area_up_to_max_fpr(loss):
    X, y = simulated(2000)
    model = small(loss=loss, n_rounds=60, learning_rate=0.3, early_stopping=True, scoring="auc")
    model.set_params(max_fpr=0.1)
    model.fit(X[:1000], y[:1000], X_val=X[1000:], y_val=y[1000:])
    path = np.asarray(model.validation_path_["auc"])
    expected = [
        roc_auc_score(y[1000:], scores, max_fpr=0.1)
        for scores in model.staged_decision_function(X[1000:])
    ]
    assert_allclose(path[: len(expected)], expected, atol=1e-9)
    assert model.n_iter_ == len(expected) == np.argmax(path) + 1


def test_log_loss_with_max_fpr_is_rejected():
    with pytest.raises(ValueError, match=r"max_fpr=0\.1 does not go with loss='log'"):
        small(max_fpr=0.1, early_stopping=True).fit(X, Y)


@pytest.mark.parametrize("scoring", ["auc", "loss"])
def test_early_stopping_keeps_the_best_round(scoring):
    X, y = simulated(2000)
    model = small(
        n_rounds=400, learning_rate=0.3, early_stopping=True, scoring=scoring, n_iter_no_change=15
    )
    model.fit(X[:1000], y[:1000], X_val=X[1000:], y_val=y[1000:])
    path = model.validation_path_
    values = np.asarray(path[scoring])
    assert len(values) < 400
    kept = int(np.asarray(path["round"])[np.asarray(path["kept"])][0])
    assert model.n_iter_ == kept
    best = np.argmax(values) if scoring == "auc" else np.argmin(values)
    assert kept == best + 1
    scores = model.decision_function(X[1000:])
    found = roc_auc_score(y[1000:], scores)
    if scoring == "loss":
        found = log_loss(y[1000:], 1 / (1 + np.exp(-scores)))
    assert values[best] == pytest.approx(found, abs=1e-8)


@pytest.mark.parametrize("n_bags", [1, 3])
def test_a_refit_has_the_rounds_that_were_chosen(n_bags):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * rng.normal(size=1500) > 0
    model = GradientBoostingRanker(
        n_rounds=400, learning_rate=0.05, max_leaves=4, n_bags=n_bags, random_state=0
    )
    chosen = clone(model).fit(X, y)
    # More rounds than a bag needs before it may stop.
    assert chosen.n_iter_ > 70 * n_bags
    refitted = clone(model).set_params(refit=True).fit(X, y)
    assert refitted.n_iter_ == chosen.n_iter_


@pytest.mark.parametrize("n_bags", [1, 5])
def test_a_refit_of_leaves_keeps_all_splits(n_bags):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 4))
    y = rows[:, 0] + np.sin(3 * rows[:, 1]) + rng.normal(size=2000) > 0
    model = GradientBoostingRanker(n_bags=n_bags, random_state=0)
    kept, leaves, auto = (
        clone(model).set_params(refit=refit).fit(rows[:1000], y[:1000])
        for refit in (False, "leaves", "auto")
    )
    assert_array_equal(leaves.decision_function(rows), auto.decision_function(rows))
    assert leaves.n_iter_ == kept.n_iter_
    assert_array_equal(leaves.rounds_["n_leaves"], kept.rounds_["n_leaves"])
    assert_array_equal(leaves.rounds_["gain"], kept.rounds_["gain"])
    assert str(leaves.validation_path_) == str(kept.validation_path_)
    assert (leaves.decision_function(rows) != kept.decision_function(rows)).mean() > 0.9
    # The mean prediction of the training rows is closer to their share of positives.
    errors = [
        abs(own.predict_proba(rows[:1000])[:, 1].mean() - y[:1000].mean()) for own in (kept, leaves)
    ]
    assert errors[1] < max(errors[0], 0.01)
    assert leaves.score(rows[1000:], y[1000:]) > kept.score(rows[1000:], y[1000:]) - 0.01


@pytest.mark.parametrize(
    "params",
    [{"loss": "pair_logistic"}, {"monotonic_cst": [1] + [0] * 29}, {"interactions": "auto"}],
)
def test_leaves_are_not_refitted_where_they_have_bounds_or_other_losses(params):
    model = small(**params, early_stopping=True, n_rounds=40)
    kept, auto = (clone(model).set_params(refit=refit).fit(X, Y) for refit in (False, "auto"))
    assert_array_equal(auto.decision_function(X), kept.decision_function(X))


def test_leaves_are_not_refitted_by_rows_that_validate():
    kept, auto = (
        GradientBoostingRanker(random_state=0, refit=refit).fit(
            X[::2], Y[::2], X_val=X[1::2], y_val=Y[1::2]
        )
        for refit in (False, "auto")
    )
    assert_array_equal(auto.decision_function(X), kept.decision_function(X))
    with pytest.raises(ValueError, match="refit='leaves' does not go with X_val"):
        small(early_stopping=True, refit="leaves").fit(X, Y, X_val=X, y_val=Y)


def test_early_stopping_holds_rows_out_and_may_refit():
    params = {"n_rounds": 200, "learning_rate": 0.3, "early_stopping": True, "max_leaves": 8}
    model = small(**params, refit=True).fit(FRAME, BAD)
    kept = small(**params).fit(FRAME, BAD)
    assert model.n_iter_ == kept.n_iter_ < 200
    whole = small(n_rounds=model.n_iter_, learning_rate=0.3, max_leaves=8).fit(FRAME, BAD)
    assert_array_equal(model.decision_function(FRAME), whole.decision_function(FRAME))
    assert small().fit(FRAME, BAD).validation_path_ is None


def test_validation_rows_need_early_stopping():
    with pytest.raises(ValueError, match="this GradientBoostingRanker takes n_rounds=20"):
        small().fit(X, Y, X_val=X, y_val=Y)


@pytest.mark.parametrize("cuts", ["best", "random"])
@pytest.mark.parametrize("direction", [-1, 1])
def test_the_score_follows_monotonic_constraints(cuts, direction):
    X, y = simulated(1500)
    model = small(cuts=cuts, monotonic_cst=[0, 0, 0, direction, 0, 0, 0, 0]).fit(X, y)
    moved, last = X[:200].copy(), -np.inf
    for value in direction * np.linspace(-3, 3, 40):
        moved[:, 3] = value
        scores = model.decision_function(moved)
        assert np.all(scores >= last)
        last = scores


def test_missing_values_are_learned():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 2)), rng.random(2000) < 0.3
    X[y & (rng.random(2000) < 0.8), 0] = np.nan
    model = small().fit(X, y)
    assert model.score(X, y) > 0.85
    known, missing = model.decision_function([[0.0, 0.0], [np.nan, 0.0]])
    assert missing > known + 2


def test_categories_are_learned_and_unseen_ones_are_missing():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 20, 4000)
    y = rng.random(4000) < np.where(np.isin(codes, [3, 5, 8, 13]), 0.8, 0.2)
    frame = pd.DataFrame({"town": pd.Categorical([f"town {code}" for code in codes])})
    model = small().fit(frame, y)
    assert model.score(frame, y) > 0.72
    new = pd.DataFrame({"town": ["town 3", "town 4", "elsewhere", None]})
    high, low, stranger, missing = model.decision_function(new)
    assert high > low + 1
    assert stranger == missing


@pytest.mark.parametrize("n_levels", [30, 300, 1500])
def test_noise_in_many_categories_does_not_lower_the_auc(n_levels):
    rng = np.random.default_rng(3)
    values, y = simulated(6000)
    frame = pd.DataFrame(values).rename(columns=str)
    noisy = frame.assign(noise=pd.Categorical(rng.integers(0, n_levels, 6000).astype(str)))
    aucs = [
        small(n_rounds=100).fit(rows[:4000], y[:4000]).score(rows[4000:], y[4000:])
        for rows in (frame, noisy)
    ]
    assert aucs[1] > aucs[0] - 0.01


def test_without_interactions_the_score_is_a_sum_of_functions():
    model = small(interactions=0).fit(FRAME, BAD)
    parts = model.explain(FRAME)
    assert_array_equal(parts.sum(axis=1) + model.base_score_, model.decision_function(FRAME))
    terms = model.terms()
    assert set(terms["feature"]) <= set(FRAME.columns)
    for column in FRAME:
        other = FRAME.assign(**{column: FRAME[column].to_numpy()[::-1]})
        other[column] = other[column].astype(FRAME[column].dtype)
        places = [place for place, name in enumerate(FRAME) if name != column]
        assert_array_equal(model.explain(other)[:, places], parts[:, places])
    with pytest.raises(ValueError, match="test several features"):
        small().fit(FRAME, BAD).explain(FRAME)


def test_interactions_list_the_features_that_may_share_a_tree():
    model = small(interactions=[["age", "income"]]).fit(FRAME, BAD)
    for round in range(1, model.n_iter_ + 1):
        text = model.to_text(round)
        tested = {name for name in FRAME if name in text}
        assert len(tested) == 1 or tested <= {"age", "income"}
    for wrong, message in [
        ([["nobody"]], "names 'nobody', which is not a column"),
        ([[17]], "has the position 17"),
        (["age"], "must be None, a number of pairs or a list of lists"),
    ]:
        with pytest.raises(ValueError, match=message):
            small(interactions=wrong).fit(FRAME, BAD)


def test_a_saved_model_scores_the_same_and_a_tree_is_printed(tmp_path):
    model = small().fit(FRAME, BAD)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert_array_equal(again.decision_function(FRAME), model.decision_function(FRAME))
    assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))
    lines = model.to_text(3).splitlines()
    assert lines[0].startswith("all rows (")
    assert len(lines) == 2 * model.rounds_["n_leaves"][2] - 1
    with pytest.raises(ValueError, match="round must be from 1 to 20"):
        model.to_text(21)


def test_importances_are_shares_of_the_total_gain():
    X, y = simulated(4000)
    found = [
        small(cuts="best", max_leaves=16, random_state=seed).fit(X, y).feature_importances_
        for seed in range(5)
    ]
    assert np.sum(found, axis=1) == pytest.approx(1)
    # 20 rounds of some of the features each are partly random.
    assert set(np.argsort(np.mean(found, axis=0))[-4:]) == {0, 1, 2, 3}


def test_shap_values_add_up_to_the_score():
    model = small(n_rounds=5).fit(X, Y)
    document = model.to_shap()
    assert len(document["trees"]) == 5
    sums = np.full(len(X), document["base_offset"])
    for tree in document["trees"]:
        place = np.zeros(len(X), dtype=int)
        for _ in range(20):
            inner = tree["children_left"][place] >= 0
            value = X[np.arange(len(X)), np.maximum(tree["features"][place], 0)]
            goes_left = value <= tree["thresholds"][place]
            after = np.where(goes_left, tree["children_left"][place], tree["children_right"][place])
            place = np.where(inner, after, place)
        sums += tree["values"][place, 0]
    assert_allclose(sums, model.decision_function(X), atol=1e-12)


def test_the_automatic_rate_follows_the_rows_the_rounds_and_the_leaves():
    assert small(n_rounds=300).fit(X, Y).learning_rate_ == pytest.approx(
        0.025 * 0.569**0.33, rel=1e-12
    )
    assert small(n_rounds=4).fit(X, Y).learning_rate_ == 0.3
    weighted = small(n_rounds=100, max_leaves=8).fit(X, Y, sample_weight=np.full(569, 2))
    expected = 0.025 * 1.138**0.33 * 3**0.62 * 4**0.24
    assert weighted.learning_rate_ == pytest.approx(expected, rel=1e-12)
    stopped = small(n_rounds=300, early_stopping=True).fit(X, Y)
    assert stopped.learning_rate_ == 0.05


def test_many_rows_have_coarse_steps_unless_they_take_few_rounds():
    ranker = GradientBoostingRanker(max_leaves=[8, 4], n_bags=2, random_state=0)
    rows, y = simulated(20_000)
    assert ranker.fit(rows, y).learning_rate_ == pytest.approx(1.5 * 0.05, rel=1e-12)
    assert ranker.fit(rows[1:], y[1:]).learning_rate_ == 0.05
    at_once = np.random.default_rng(0).random(20_000) < np.where(rows[:, 0] > 0, 0.6, 0.4)
    assert ranker.fit(rows, at_once).learning_rate_ == 0.05


@pytest.mark.parametrize("name", NOTHING_TO_LEARN)
@pytest.mark.filterwarnings("ignore:No split lowers")
def test_uninformative_rows_give_a_valid_model(name):
    rows, y = NOTHING_TO_LEARN[name]
    for loss in LOSSES:
        model = small(loss=loss).fit(rows, y)
        assert np.all(np.isfinite(model.decision_function(rows)))


def test_a_fit_that_learned_nothing_raises_a_warning():
    with pytest.warns(UserWarning, match="No split lowers the loss"):
        model = small().fit(np.ones((30, 2)), np.arange(30) % 3 == 0)
    assert model.n_iter_ == 0
    assert_array_equal(model.feature_importances_, [0, 0])
    assert_allclose(model.predict_proba([[1.0, 1.0]]), [[2 / 3, 1 / 3]], atol=1e-9)


# Bags.


def test_bags_are_averaged_and_each_has_its_validation_path():
    params = {"n_rounds": 60, "early_stopping": True, "validation_fraction": 0.1}
    params |= {"scoring": "auc", "n_iter_no_change": 30}
    model = small(**params, n_bags=3).fit(FRAME, BAD)
    path = model.validation_path_
    bags, kept = np.asarray(path["bag"]), np.asarray(path["kept"])
    assert bags.tolist() == sorted(bags)
    assert set(bags) == {1, 2, 3}
    rounds = np.asarray(path["round"])
    for bag in (1, 2, 3):
        assert rounds[bags == bag].tolist() == list(range(1, np.sum(bags == bag) + 1))
        values = np.asarray(path["auc"])[bags == bag]
        assert np.flatnonzero(kept[bags == bag]).tolist() == [np.argmax(values)]
    assert rounds[kept].sum() == model.n_iter_ == len(model.rounds_["gain"])
    assert_array_equal(
        list(model.staged_decision_function(FRAME))[-1], model.decision_function(FRAME)
    )
    # The first bag is the fit without others.
    alone = small(**params).fit(FRAME, BAD)
    assert_array_equal(np.asarray(path["auc"])[bags == 1], alone.validation_path_["auc"])


def test_bags_vary_less_than_single_models():
    rows, y = simulated(2000)
    scores = {
        n_bags: [
            small(n_bags=n_bags, subsample=0.5, random_state=seed)
            .fit(rows[:500], y[:500])
            .decision_function(rows[500:])
            for seed in range(4)
        ]
        for n_bags in (1, 6)
    }
    spread = {n_bags: np.std(found, axis=0).mean() for n_bags, found in scores.items()}
    assert spread[6] < 0.6 * spread[1]


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_row_order_and_copies_do_not_matter_to_bags(loss):
    rows, y = simulated(1000)
    model = small(loss=loss, n_bags=3, early_stopping=True, n_jobs=1).fit(rows, y)
    scores = model.decision_function(rows)
    order = np.random.default_rng(1).permutation(1000)
    again = clone(model).set_params(n_jobs=3).fit(rows[order], y[order])
    assert_array_equal(again.decision_function(rows), scores)
    twice = clone(model).fit(rows, y, sample_weight=np.full(1000, 2))
    copies = clone(model).fit(np.repeat(rows, 2, axis=0), np.repeat(y, 2))
    assert_array_equal(twice.decision_function(rows), copies.decision_function(rows))


def test_bags_cannot_be_warm_started(tmp_path):
    with pytest.raises(ValueError, match="n_bags=2 does not go with warm_start"):
        small(n_bags=2, warm_start=True).fit(X, Y)
    model = small(n_bags=2).fit(FRAME, BAD)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert_array_equal(again.decision_function(FRAME), model.decision_function(FRAME))
    assert again.validation_path_ is None
    with pytest.raises(ValueError, match="n_bags is 2"):
        model.set_params(n_bags=1, warm_start=True, n_rounds=50).fit(FRAME, BAD)


def test_bags_without_rows_to_hold_out_raise_an_error():
    # Of four copies of it some would be held out.
    rows, y = np.zeros((20, 2)), np.arange(20) > 16
    rows[17:, 0] = 1
    with pytest.warns(UserWarning, match="A class has one distinct row"):
        small(n_bags=2, early_stopping=True).fit(rows, y)


def test_by_default_five_bags_leave_out_a_fold_each_and_stop_together():
    model = GradientBoostingRanker(random_state=0).fit(FRAME, BAD)
    path = model.validation_path_
    bags, kept = np.asarray(path["bag"]), np.asarray(path["kept"])
    assert set(bags) == {1, 2, 3, 4, 5}
    rounds, losses = np.asarray(path["round"]), np.asarray(path["loss"])
    of_bags = np.array([losses[bags == bag] for bag in range(1, 6)])
    best = 1 + np.argmin(of_bags.mean(axis=0))
    assert rounds[kept].tolist() == [best] * 5
    assert model.n_iter_ == 5 * best
    # None of the last fifty rounds is better, and there are no more than needed to stop.
    assert of_bags.shape[1] - best in range(50, 58)


def test_validation_rows_stop_one_model_and_a_warm_start_has_no_early_stopping():
    rows, y = simulated(1000)
    model = GradientBoostingRanker(random_state=0)
    model.fit(rows[:500], y[:500], X_val=rows[500:], y_val=y[500:])
    assert list(model.validation_path_) == ["round", "loss", "kept"]
    begun = GradientBoostingRanker(n_rounds=5, warm_start=True, random_state=0).fit(rows, y)
    assert begun.validation_path_ is None
    assert begun.set_params(n_rounds=12).fit(rows, y).n_iter_ == 12


def test_a_time_limit_keeps_the_rounds_fitted_so_far():
    rows, y = simulated(20_000)
    model = GradientBoostingRanker(learning_rate=0.001, time_limit=0.5, random_state=0)
    start = process_time()
    model.fit(rows, y)
    assert process_time() - start < 20
    assert 5 <= model.n_iter_ < 5 * 3000
    assert model.score(rows, y) > 0.7


def test_the_number_of_leaves_is_chosen_on_held_out_rows():
    rng = np.random.default_rng(0)
    rows = rng.random(size=(22_000, 2))
    # A fifth of the cells of a board, which few leaves cannot tell apart.
    is_marked = rng.random((20, 20)) < 0.2
    y = is_marked[tuple((20 * rows).astype(int).T)]
    params = {"n_rounds": 100, "n_bags": 2, "cuts": "best", "max_features": None}
    params["random_state"] = 0
    many = GradientBoostingRanker(**params).fit(rows, y)
    assert max(many.rounds_["n_leaves"]) == 128
    simple = rng.random(22_000) < rows[:, 0]
    few = GradientBoostingRanker(**params).fit(rows, simple)
    assert max(few.rounds_["n_leaves"]) <= 32
    # Of few rows there may be fewer leaves.
    small = GradientBoostingRanker(**params).fit(rows[:4000], simple[:4000])
    assert max(small.rounds_["n_leaves"]) == 8
    small = GradientBoostingRanker(**params).fit(rows[:4000], y[:4000])
    assert max(small.rounds_["n_leaves"]) == 32


@pytest.mark.parametrize("n_bags", [1, 3])
@pytest.mark.parametrize("scoring", ["loss", "auc"])
@pytest.mark.parametrize("refit", [False, True])
def test_of_several_numbers_of_leaves_the_best_on_held_out_rows_is_kept(n_bags, scoring, refit):
    params = {"n_rounds": 30, "early_stopping": True, "scoring": scoring, "refit": refit}
    params |= {"n_bags": n_bags, "validation_fraction": 0.25, "random_state": 0}
    kept = set()
    for numbers in permutations([2, 6, 40]):
        fits = [GradientBoostingRanker(**params, max_leaves=n).fit(X, Y) for n in numbers]

        def merit(fitted):
            found = fitted._model.held_out_of_bags() or [fitted._model.held_out()]
            # Two bags are enough for the choice.
            values = [path["values"][path["n_rounds"] - 1] for path in found[:2]]
            return np.mean(values) if scoring == "auc" else -np.mean(values)

        best = max(fits, key=merit)
        found = GradientBoostingRanker(**params, max_leaves=list(numbers)).fit(X, Y)
        assert found._model.formula() == best._model.formula()
        kept.add(best.max_leaves)
    assert len(kept) == 1


def test_additive_presets_give_a_sum_that_ranks_well():
    model = GradientBoostingRanker.additive(n_bags=3, random_state=0)
    assert model.get_params() == clone(model).get_params()
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 6))
    log_odds = np.sin(2 * rows[:, 0]) + rows[:, 1] ** 2 - np.abs(rows[:, 2])
    y = rng.random(4000) < 1 / (1 + np.exp(-log_odds))
    model.fit(rows[:2000], y[:2000])
    best = roc_auc_score(y[2000:], log_odds[2000:])
    assert model.score(rows[2000:], y[2000:]) > best - 0.015
    parts = model.explain(rows)
    assert_array_equal(parts.sum(axis=1) + model.base_score_, model.decision_function(rows))
    # With many rows.
    middle = np.all(np.abs(rows) < 2, axis=1)
    functions = [np.sin(2 * rows[:, 0]), rows[:, 1] ** 2, -np.abs(rows[:, 2])]
    for place, of_feature in enumerate(functions):
        assert np.corrcoef(parts[middle, place], of_feature[middle])[0, 1] > 0.95


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of"),
        ({"learning_rate": 0.0}, "learning_rate must be in"),
        ({"learning_rate": "fast"}, "learning_rate must be a number"),
        ({"max_fpr": 0}, r"max_fpr must be in \(0.0, 1.0\]"),
        ({"max_leaves": 1}, "max_leaves must be at least 2"),
        ({"max_leaves": "many"}, "max_leaves must be an int"),
        ({"max_leaves": []}, "max_leaves must be an int, a list of ints that is not empty"),
        ({"max_leaves": [8, 1]}, "max_leaves must be at least 2"),
        (
            {"max_leaves": [8, 4]},
            "max_leaves is several numbers, but must be a single number where",
        ),
        (
            {"max_leaves": [8, 4], "early_stopping": True, "interactions": 2},
            "max_leaves is several numbers, but must be a single number where pairs",
        ),
        ({"validation_fraction": "most"}, "validation_fraction must be a number"),
        ({"early_stopping": "never"}, "early_stopping must be"),
        ({"time_limit": 0}, "time_limit must be in"),
        ({"max_bins": 256}, "max_bins must be from 2 to 255"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be at least 1"),
        ({"min_samples_leaf": 1.0}, "min_samples_leaf must be in"),
        ({"l2": -1.0}, "l2 must be in"),
        ({"cuts": "worst"}, "cuts must be one of"),
        ({"n_bags": 0}, "n_bags must be at least 1"),
        ({"n_bags": "many"}, "n_bags must be an int"),
        ({"scoring": "f1"}, "scoring must be one of"),
        ({"monotonic_cst": [2]}, "monotonic_cst must be -1, 0 or 1"),
        ({"early_stopping": True, "refit": True, "warm_start": True}, "refit does not go with"),
        ({"refit": "trees"}, "refit must be True, False, 'leaves' or 'auto', got 'trees'"),
        (
            {"early_stopping": True, "refit": "leaves", "warm_start": True},
            "refit='leaves' does not go with warm_start",
        ),
        (
            {"early_stopping": True, "refit": "leaves", "loss": "pair_logistic"},
            "refit='leaves' does not go with loss='pair_logistic'",
        ),
        (
            {"early_stopping": True, "refit": "leaves", "interactions": 2},
            "refit='leaves' does not go with interactions=2",
        ),
    ],
)
def test_a_bad_parameter_is_named_in_the_error(params, message):
    model = small(**params)
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_verbose_prints_rounds_and_early_stopping(capsys):
    small(verbose=1, early_stopping=True, scoring="auc", max_leaves=8).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    *under_way, rounds, chosen = lines
    assert all(" of 20 rounds, validation AUC " in line for line in under_way)
    assert rounds.startswith("[GradientBoostingRanker] ")
    assert "by the AUC of the rows held out" in chosen


def test_verbose_prints_the_rounds_of_each_bag(capsys):
    small(verbose=2, early_stopping=True, n_bags=3, n_jobs=2, max_leaves=8).fit(X, Y)
    *under_way, rounds, first, _, _ = capsys.readouterr().out.splitlines()
    assert under_way[2].startswith("[GradientBoostingRanker] 3 of 20 rounds, validation loss ")
    assert " in 3 bags at learning rate" in rounds
    assert "bag 1: chosen of " in first


@pytest.mark.filterwarnings("ignore:No split lowers the loss")
def test_a_model_without_rounds_is_described_as_constant():
    model = small().fit(np.zeros((20, 2)), np.arange(20) % 2)
    assert model.n_iter_ == 0
    assert model.to_text() == "no rounds: all rows have the same score"
    with pytest.raises(ValueError, match="round must be"):
        model.to_text(2)


@pytest.mark.parametrize("n_rounds", [0, 99, 2**64 - 1])
def test_bags_with_other_numbers_of_rounds_are_refused(n_rounds):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    model = GradientBoostingRanker(n_rounds=3, n_bags=2).fit(X, X[:, 0] > rng.normal(size=200))

    def damage(body):
        body["model"]["bags"][0]["n_rounds"] = n_rounds

    with pytest.raises(ModelFormatError, match="trees, but bags of"):
        read_model(forged(model, damage).encode(), "bags.json")
