"""AURORA: invariances of the score, results of a search, and printed output."""

import copy
import pickle
import sqlite3
from functools import cache, partial

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank import AURORA, Scorecard, ThresholdBinarizer
from aucrank.datasets import load_breast_cancer, make_xor
from aucrank.metrics import ramp_auc, roc_auc_score
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from tests.common import real_data
from tests.common.oracles import parts_that_count
from tests.common.samples import top_against_all

QUICK = {"radius": 1.5, "depth": "shallow", "max_features": 12, "random_state": 0}


def clients(n=400, seed=0):
    """Rows with numbers, categories and missing values, whose class depends on pairs too."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n).astype(float)
    income = rng.lognormal(8, 1, n).round(2)
    plan = rng.choice(["free", "pro", "it's new", 'the "old"'], n)
    rate = rng.integers(1, 5, n)
    risk = (age > 50) * 1.0 + ((plan == "pro") ^ (income > 3000)) + 0.3 * (rate == 2)
    y = risk + rng.normal(size=n) > 1
    age[rng.random(n) < 0.2] = np.nan
    X = pd.DataFrame(
        {
            "age": age,
            "in come": income,
            "plan": pd.Categorical(np.where(rng.random(n) < 0.1, None, plan)),
            "rate": pd.Categorical(rate),
        }
    )
    return X, y


@pytest.fixture(scope="module")
def fitted():
    X, y = clients()
    return AURORA(**QUICK).fit(X, y), X, y


def scores(model, X, y, **fit):
    return clone(model).fit(X, y, **fit).decision_function(X)


MODELS = {
    "held out": AURORA(**QUICK),
    "folds": AURORA(**QUICK, selection="cv", n_folds=3),
    "all": AURORA(**QUICK, selection=None),
    "singles": AURORA(**QUICK, order=1),
    "radii": AURORA(**(QUICK | {"radius": "auto", "selection": "validation"})),
    "few rows": AURORA(**(QUICK | {"radius": "auto"})),
    "top": AURORA(**QUICK, max_fpr=0.2),
    "top, folds": AURORA(**QUICK, max_fpr=0.2, selection="cv", n_folds=3),
    "top, all": AURORA(**QUICK, max_fpr=0.2, selection=None),
}
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
names = pytest.mark.parametrize("name", MODELS)


@cache
def fitted_model(name):
    """Return a model that several tests look at and do not change."""
    return clone(MODELS[name]).fit(*clients())


# Invariances of the score.


@models
def test_threads_row_order_and_copies_do_not_matter(model):
    X, y = clients(200)
    expected = scores(model, X, y)
    assert len(np.unique(expected)) > 1
    assert_array_equal(scores(clone(model).set_params(n_jobs=2), X, y), expected)
    order = np.random.default_rng(1).permutation(len(X))
    assert_array_equal(scores(model, X.iloc[order], y[order]), expected[order])
    times = np.random.default_rng(2).integers(0, 3, len(X))
    places = np.repeat(np.arange(len(X)), times)
    copied = scores(model, X.iloc[places], y[places])
    assert_array_equal(scores(model, X, y, sample_weight=times)[places], copied)


@models
def test_rows_of_weight_zero_do_not_count(model):
    X, y = clients(200)
    kept = np.random.default_rng(3).random(len(X)) < 0.8
    fitted = clone(model).fit(X, y, sample_weight=kept)
    expected = clone(model).fit(X[kept], y[kept]).decision_function(X)
    assert_array_equal(fitted.decision_function(X), expected)


def test_monotone_transforms_keep_the_ranking_of_the_training_rows():
    # Few values: the thresholds lie midway, so that no row changes its side.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 15, (300, 3)).astype(float)
    y = X[:, 0] + X[:, 1] * (X[:, 2] > 6) + 4 * rng.normal(size=300) > 12
    model = AURORA(**QUICK, selection=None)
    assert_array_equal(scores(model, np.c_[np.exp(X[:, :2]), X[:, 2] ** 3], y), scores(model, X, y))


def test_scores_do_not_depend_on_the_names_of_the_classes():
    X, y = clients(200)
    assert_array_equal(scores(MODELS["all"], X, np.where(y, "b", "a")), scores(MODELS["all"], X, y))


def test_swapped_classes_rank_the_other_way():
    X, y = clients()
    one, other = (AURORA(**QUICK, selection=None).fit(X, labels) for labels in (y, ~y))
    # The first terms are the same, and reversed.
    assert one.terms()["rule"][0] == other.terms()["rule"][0]
    assert one.terms()["coefficient"][0] * other.terms()["coefficient"][0] < 0
    correlation = np.corrcoef(one.decision_function(X), other.decision_function(X))[0, 1]
    assert correlation < -0.9


# Results of a search.


def test_pairs_are_found_if_single_features_are_uninformative():
    train, test = make_xor(1500, random_state=0), make_xor(3000, random_state=1)
    pairs = AURORA(radius=3.0, max_features=20, random_state=0).fit(train.X, train.y)
    singles = clone(pairs).set_params(order=1).fit(train.X, train.y)
    assert pairs.score(test.X, test.y) > test.auc_star - 0.03
    # No sum of two functions of one feature each ranks better than 3/4 without noise, 0.7 with it.
    assert singles.score(test.X, test.y) < 0.7
    assert any(" and " in rule or " or " in rule for rule in pairs.terms()["rule"])
    assert all(features in ("x0", "x1") for features in singles.terms()["features"])


def test_the_first_term_is_the_one_that_ranks_best_alone():
    X, y = clients()
    model = AURORA(**QUICK, selection=None).fit(X, y)
    binarizer = ThresholdBinarizer().fit(X, y)
    aucs = np.abs(binarizer.terms()["auc"] - 0.5)
    assert model.terms()["rule"][0] == binarizer.terms()["term"][aucs.argmax()]


@names
def test_the_ramp_statistic_never_falls_along_a_search_and_gains_add_up(name):
    fitted = fitted_model(name)
    path = fitted.path_
    assert (np.diff(path["train_ramp"]) >= 0).all()
    assert path["kept"].sum() == 1
    assert path["n_terms"][path["kept"]] == fitted.n_terms_
    gains = fitted.terms()["gain"].sum()
    assert fitted.feature_importances_.sum() == pytest.approx(gains, abs=1e-12)
    if fitted.selection != "cv":
        # Over folds the path is a mean, and the terms are those of another search.
        reached = path["train_ramp"][fitted.n_terms_ - 1]
        assert gains == pytest.approx(reached - 0.5, abs=1e-12)


def test_the_path_ends_at_the_statistics_of_the_score():
    X, y = clients()
    model = AURORA(**QUICK, selection=None).fit(X, y)
    total = model.explain(X).sum(axis=1)
    # The last ascent goes on where that of the search ended.
    assert model.path_["train_ramp"][-1] <= ramp_auc(y, total) + 1e-12
    assert model.path_["train_auc"][-1] == pytest.approx(roc_auc_score(y, total), abs=0.02)
    assert np.linalg.norm(model.terms()["coefficient"]) == pytest.approx(model.radius_, abs=1e-6)


@pytest.mark.parametrize("criterion", ["auc", "ramp"])
def test_the_number_of_terms_is_that_of_the_highest_smoothed_statistic(criterion):
    X, y = clients()
    path = AURORA(**(QUICK | {"max_features": 30}), criterion=criterion).fit(X, y).path_
    taps = 8 - np.abs(np.arange(-7, 8))
    expected = np.convolve(path[f"validation_{criterion}"], taps)[7:-7]
    expected /= np.convolve(np.ones(path.n_rows), taps)[7:-7]
    assert path["smoothed"] == pytest.approx(expected, abs=1e-12)
    assert path["kept"].argmax() == path["smoothed"].argmax()


def test_at_most_five_radii_are_tried_and_one_is_kept():
    X, y = clients()
    model = MODELS["radii"]
    tried = clone(model).fit(X, y).radii_
    assert 3 <= tried.n_rows <= 5
    assert (np.diff(tried["radius"]) > 0).all()
    kept = clone(model).fit(X, y)
    assert tried["radius"][tried["kept"]] == kept.radius_
    assert tried["n_terms"][tried["kept"]] == kept.n_terms_
    assert kept.path_["validation_auc"][kept.n_terms_ - 1] == tried["validation_auc"][tried["kept"]]
    # The smallest that is no more than its error below the best.
    gaps = tried["validation_auc"].max() - tried["validation_auc"]
    best = tried["validation_auc"].argmax()
    close = gaps <= tried["standard_error"]
    close[best:] = False
    close[best] = True
    assert tried["kept"].argmax() == close.argmax()
    # The same search as with that radius from the start.
    alone = clone(model).set_params(radius=kept.radius_).fit(X, y)
    assert_array_equal(alone.decision_function(X), kept.decision_function(X))


@pytest.mark.parametrize("selection", ["validation", "cv"])
def test_radii_are_compared_on_few_terms_and_one_search_continues(selection):
    X, y = clients()
    settings = QUICK | {"radius": "auto", "selection": selection, "n_folds": 3}
    model = AURORA(**settings, radius_terms=4).fit(X, y)
    first = AURORA(**(settings | {"max_features": 4})).fit(X, y)
    assert first.path_.n_rows == 4
    for name, column in model.radii_.items():
        assert_array_equal(column, first.radii_[name])
    # The same search as with that radius from the start.
    alone = AURORA(**(settings | {"radius": model.radius_})).fit(X, y)
    assert alone.path_.n_rows == 12
    for name, column in alone.path_.items():
        assert_array_equal(model.path_[name], column)
    assert_array_equal(model.decision_function(X), alone.decision_function(X))
    # At least as many terms as a search may find: that of the paper.
    paper = scores(AURORA(**settings, radius_terms=None), X, y)
    assert_array_equal(scores(AURORA(**settings, radius_terms=12), X, y), paper)


@pytest.mark.parametrize("criterion", ["auc", "ramp"])
def test_a_search_ends_after_a_number_of_terms_without_improvement(criterion):
    X, y = clients()
    settings = QUICK | {"max_features": 60, "criterion": criterion}
    whole = AURORA(**settings, n_iter_no_change=None).fit(X, y).path_
    ended = AURORA(**settings, n_iter_no_change=6).fit(X, y)
    found = whole[f"validation_{criterion}"]
    taps = 8 - np.abs(np.arange(-7, 8))

    def n_since_best(n):
        smooth = np.convolve(found[:n], taps)[7:-7] / np.convolve(np.ones(n), taps)[7:-7]
        return n - 1 - smooth.argmax()

    n_found = next(n for n in range(1, 60) if n_since_best(n) >= 6)
    assert ended.path_.n_rows == n_found < whole.n_rows
    for name in ("train_ramp", "train_auc", "validation_ramp", "validation_auc"):
        assert_array_equal(ended.path_[name], whole[name][:n_found])
    assert ended.n_terms_ == n_found - n_since_best(n_found)
    # A search that has ended does not continue.
    again = AURORA(**settings, n_iter_no_change=6, warm_start=True).set_params(max_features=20)
    again.fit(X, y).set_params(max_features=60).fit(X, y)
    assert_array_equal(again.decision_function(X), ended.decision_function(X))


def test_a_search_ends_with_a_term_that_adds_too_little():
    X, y = clients()
    model = AURORA(radius=1.5, depth="shallow", selection=None, tol=0.01).fit(X, y)
    rises = np.diff(model.path_["train_auc"])
    assert (rises[:-1] >= 0.01).all()
    assert rises[-1] < 0.01
    few = AURORA(radius=1.5, depth="shallow", selection=None, min_gain=0.02).fit(X, y)
    assert (few.terms()["gain"] > 0.02).all()
    assert 0 < few.n_terms_ < model.n_terms_


# Warm start.


@pytest.mark.parametrize("selection", ["validation", None])
def test_ten_terms_and_ten_more_are_the_twenty_of_one_fit(selection):
    X, y = clients()
    settings = {"radius": 2.0, "depth": "shallow", "selection": selection, "n_jobs": 2}
    # Without a random state, whose seed the model keeps.
    warm = AURORA(**settings, max_features=10, warm_start=True).fit(X, y)
    seed = warm._model.seed
    warm.set_params(max_features=20).fit(X, y)
    assert warm._model.seed == seed
    warm = AURORA(**settings, max_features=10, warm_start=True, random_state=5).fit(X, y)
    warm.set_params(max_features=20).fit(X, y)
    once = AURORA(**settings, max_features=20, random_state=5).fit(X, y)
    assert_array_equal(warm.decision_function(X), once.decision_function(X))
    for name, column in once.path_.items():
        assert_array_equal(warm.path_[name], column)
    assert_array_equal(warm.feature_importances_, once.feature_importances_)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_features": 3}, "max_features=3 must be at least the 12 terms of the last fit"),
        ({"radius": 2.0}, r"goes on with the radius of the last fit, 1\.5; got radius=2\.0"),
        ({"selection": "cv"}, 'warm_start does not go with selection="cv"'),
    ],
    ids=["fewer", "radius", "folds"],
)
def test_a_warm_start_with_other_parameters_or_data_is_rejected(params, message):
    X, y = clients()
    model = AURORA(**QUICK, warm_start=True, selection=None).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.set_params(**params).fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


# Printed output.


def test_terms_have_the_names_given_by_the_binarizer(fitted):
    model, X, y = fitted
    known = set(AURORA(**QUICK, selection=None).fit(X, y).terms()["rule"])
    said = {
        part for rule in known for joined in rule.split(" and ") for part in joined.split(" or ")
    }
    assert said <= set(ThresholdBinarizer().fit(X).get_feature_names_out())
    assert set(model.terms()) == {"rule", "features", "coefficient", "gain"}
    assert len(model.terms()["rule"]) == model.n_terms_


def test_a_score_is_the_sum_of_the_terms_that_are_on():
    X, y = clients()
    model = AURORA(**QUICK, selection=None).fit(X, y)
    assert any(" and " in rule or " or " in rule for rule in model.terms()["rule"])
    binarizer = ThresholdBinarizer(dtype="bool").fit(X)
    on = dict(zip(binarizer.get_feature_names_out(), binarizer.transform(X).T, strict=True))
    columns = []
    for rule in model.terms()["rule"]:
        if " and " in rule:
            columns.append(np.logical_and(*(on[part] for part in rule.split(" and "))))
        else:
            columns.append(np.any([on[part] for part in rule.split(" or ")], axis=0))
    expected = np.column_stack(columns) * model.terms()["coefficient"]
    assert_array_equal(model.explain(X), expected)
    assert_array_equal(expected.sum(axis=1) - model.threshold_, model.decision_function(X))
    # In any order.
    assert_array_equal(model.explain(X)[:, ::-1].sum(axis=1), expected.sum(axis=1))


def strangers(n=300):
    X = clients(n, seed=1)[0].astype({"plan": object, "rate": float})
    X.loc[::7, "plan"] = "never seen"
    X.loc[::11, "rate"] = 17.0
    X.loc[::13, "rate"] = np.nan
    return X


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
@pytest.mark.parametrize("name", ["all", "singles"])
def test_a_database_gives_the_same_doubles(database, name):
    X, y = clients()
    model = clone(MODELS[name]).set_params(max_features=40, selection=None).fit(X, y)
    assert any("is missing" in rule for rule in model.terms()["rule"])
    new = strangers()
    query = f"SELECT {model.to_sql()} FROM clients"
    if database == "sqlite":
        with sqlite3.connect(":memory:") as connection:
            new.to_sql("clients", connection, index=False)
            found = [score for (score,) in connection.execute(query)]
    else:
        duckdb = pytest.importorskip("duckdb")
        # NULL, not NaN.
        frame = new.astype(object).where(new.notna(), None)
        with duckdb.connect(":memory:") as connection:
            connection.execute(
                'CREATE TABLE clients (age DOUBLE, "in come" DOUBLE, plan VARCHAR, rate DOUBLE)'
            )
            connection.executemany(
                "INSERT INTO clients VALUES (?, ?, ?, ?)", frame.to_numpy().tolist()
            )
            found = [score for (score,) in connection.execute(query).fetchall()]
    expected = model.decision_function(new.astype({"plan": "category", "rate": "category"}))
    assert found == expected.tolist()
    assert len(set(found)) > 10


def test_the_printed_score_lists_every_term_once(fitted):
    model, _, _ = fitted
    text = model.rules()
    printed = [line.split(None, 1)[1] for line in text.splitlines() if line.startswith("  ")]
    assert sorted(printed) == sorted(model.terms()["rule"])
    assert "For True:" in text
    assert "For False:" in text
    short = model.rules(2)
    assert f"And {model.n_terms_ - 2} more" in short
    assert sum(line.startswith("  ") for line in short.splitlines()) == 2
    with pytest.raises(ValueError, match="n_terms must be at least 1"):
        model.rules(0)


def test_an_unseen_category_counts_as_missing(fitted):
    model, X, _ = fitted
    strange = X.assign(plan="mauve")
    missing = X.assign(plan=pd.Categorical([None] * len(X), categories=["pro"]))
    assert_array_equal(model.decision_function(strange), model.decision_function(missing))
    assert_array_equal(model.explain(strange), model.explain(missing))


@pytest.mark.parametrize("store", ["file", "pickle", "copy"])
@names
def test_every_store_restores_a_model_completely(store, name, tmp_path):
    X, _ = clients()
    model = fitted_model(name)
    if store == "file":
        model.save(tmp_path / "model.json")
        back = aucrank.load(tmp_path / "model.json")
    else:
        back = pickle.loads(pickle.dumps(model)) if store == "pickle" else copy.copy(model)
    assert back.get_params() == model.get_params()
    assert_array_equal(back.decision_function(X), model.decision_function(X))
    assert_array_equal(back.explain(X), model.explain(X))
    assert_array_equal(back.feature_importances_, model.feature_importances_)
    assert (back.threshold_, back.radius_) == (model.threshold_, model.radius_)
    assert back.rules() == model.rules()
    assert back.to_sql() == model.to_sql()
    for table in ("terms", "path_", "radii_"):
        one, other = getattr(back, table), getattr(model, table)
        one, other = (one(), other()) if table == "terms" else (one, other)
        assert list(one) == list(other)
        for name, column in other.items():
            assert_array_equal(one[name], column)


def test_a_restored_model_continues_a_warm_start_like_the_original():
    X, y = clients()
    model = AURORA(**QUICK, warm_start=True).fit(X, y)
    back = pickle.loads(pickle.dumps(model)).set_params(max_features=16).fit(X, y)
    model.set_params(max_features=16).fit(X, y)
    assert_array_equal(back.decision_function(X), model.decision_function(X))


# Pictures.


@models
def test_the_picture_of_the_path_shows_its_numbers(model, plt):
    X, y = clients()
    model = clone(model).fit(X, y)
    display = model.plot_path()
    for axes, name in zip(display.axes_, ("ramp", "auc"), strict=True):
        lines = {line.get_label(): line for line in axes.lines}
        assert_array_equal(lines["training rows"].get_ydata(), model.path_[f"train_{name}"])
        assert f"{model.n_terms_} terms kept" in lines
        assert ("rows held out" in lines) == ("smoothed" in model.path_)
        if "rows held out" in lines:
            held_out = lines["rows held out"].get_ydata()
            assert_array_equal(held_out, model.path_[f"validation_{name}"])
    _, axes = plt.subplots(1, 2)
    assert model.plot_path(ax=axes).axes_ == list(axes)
    with pytest.raises(ValueError, match="there are 2 panels to draw but 1 axes"):
        model.plot_path(ax=axes[:1])


def test_a_score_of_single_features_is_drawn_by_feature(plt):
    X, y = clients()
    model = clone(MODELS["singles"]).fit(X, y)
    (panel,) = model.plot_terms(["age"]).axes_
    assert panel.get_xlabel() == "age"
    values = panel.patches[0].get_data().values
    at = X.assign(age=np.linspace(0, 100, len(X)))
    place = model.terms()["features"] == "age"
    assert set(values) == set(model.explain(at)[:, place].sum(axis=1))
    pairs = AURORA(**QUICK, selection=None).fit(X, y)
    with pytest.raises(ValueError, match=r"tests two features: .* fit with order=1"):
        pairs.plot_terms()


# Scorecards.


def test_a_card_of_its_terms_ranks_as_it_does():
    X, y = clients()
    estimator = AURORA(**QUICK, order=1)
    card = Scorecard(estimator=estimator, pdo=200).fit(X, y)
    ranker = clone(estimator).fit(X, y)
    assert card.score(X, y) == pytest.approx(ranker.score(X, y), abs=0.01)
    frozen = Scorecard(estimator=FrozenEstimator(ranker), pdo=200).fit(X, y)
    assert_array_equal(frozen.points(X), card.points(X))
    with sqlite3.connect(":memory:") as connection:
        new = strangers()
        new.to_sql("clients", connection, index=False)
        points = [p for (p,) in connection.execute(f"SELECT {card.to_sql()} FROM clients")]
    assert points == card.points(new.astype({"plan": "category", "rate": "category"})).tolist()


@real_data.needs_data
def test_a_card_of_german_loans_scores_in_sql_as_in_python():
    X, y = real_data.load("german")
    estimator = AURORA(radius=1.0, order=1, max_features=20, selection=None)
    card = Scorecard(estimator=estimator).fit(X[:700], y[:700])
    tested = {rule.split()[0] for rule in clone(estimator).fit(X[:700], y[:700]).terms()["rule"]}
    assert set(card.card()["feature"]) - {""} <= set(X.columns)
    assert tested <= set(card.card()["feature"])
    assert roc_auc_score(y[700:], card.points(X[700:])) > 0.72
    with sqlite3.connect(":memory:") as connection:
        X[700:].astype(object).to_sql("loans", connection, index=False)
        points = [p for (p,) in connection.execute(f"SELECT {card.to_sql()} FROM loans")]
    assert points == card.points(X[700:]).tolist()


def test_a_card_rejects_pairs():
    X, y = clients()
    with pytest.raises(ValueError, match=r"AURORA with order=2, .* order=1"):
        Scorecard(estimator=AURORA(**QUICK)).fit(X, y)
    pairs = AURORA(**QUICK, selection=None).fit(X, y)
    with pytest.raises(ValueError, match=r"tests two features: .* fit with order=1"):
        Scorecard(estimator=FrozenEstimator(pairs)).fit(X, y)


# Callbacks.


def test_verbose_prints_the_progress_of_a_fit(capsys):
    X, y = clients()
    model = AURORA(**QUICK, verbose=1).fit(X, y)
    tenth, last = capsys.readouterr().out.splitlines()
    found = {name: column[9] for name, column in model.path_.items()}
    assert tenth == (
        f"[AURORA] radius 1.5: 10 terms, ramp {found['train_ramp']:.4f}, AUC"
        f" {found['train_auc']:.4f}; held out: ramp {found['validation_ramp']:.4f}, AUC"
        f" {found['validation_auc']:.4f}"
    )
    assert last == f"[AURORA] {model.n_terms_} of 12 terms kept, at radius 1.5"
    clone(MODELS["folds"]).set_params(verbose=2).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert sum(", fold 3: " in line for line in lines) == 12
    AURORA(**QUICK).fit(X, y)
    assert capsys.readouterr().out == ""


class Recorder:
    """A callback of scikit-learn that records terms, and stops a search after some."""

    def __init__(self, stop_after=None):
        self.stop_after, self.seen = stop_after, []

    def setup(self, estimator, context):
        self.seen.append("setup")

    def teardown(self, estimator, context):
        self.seen.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.seen.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, metadata=None, fitted_estimator=None):
        self.seen.append(f"end {context.task_name}")
        if context.task_name == "fit":
            self.fitted = fitted_estimator
        if context.task_name == "term":
            self.metadata = metadata
            return metadata["n_terms"] == self.stop_after
        return False


def test_callbacks_of_scikit_learn_get_terms_and_may_stop_the_fit():
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    X, y = clients()
    recorder = Recorder(stop_after=3)
    model = AURORA(**QUICK, n_jobs=2).set_callbacks(recorder).fit(X, y)
    terms = ["begin term", "end term"] * 3
    whole = ["setup", "begin fit", "begin search", *terms, "end search", "end fit", "teardown"]
    assert recorder.seen == whole
    assert model.path_.n_rows == 3
    assert recorder.metadata == {
        "radius": 1.5,
        "fold": None,
        "n_terms": 3,
        **{name: model.path_[name][2] for name in ("train_ramp", "train_auc")},
        **{name: model.path_[name][2] for name in ("validation_ramp", "validation_auc")},
    }
    assert_array_equal(recorder.fitted.decision_function(X), model.decision_function(X))
    # One search for each fold, and one on all rows.
    recorder = Recorder()
    clone(MODELS["folds"]).set_callbacks(recorder).fit(X, y)
    assert recorder.seen.count("end search") == recorder.seen.count("begin search") == 4


def test_a_callback_that_fails_ends_the_fit():
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")

    class Faulty(Recorder):
        def on_fit_task_end(self, estimator, context):
            raise ZeroDivisionError("no")

    X, y = clients()
    recorder = Faulty()
    model = AURORA(**QUICK).set_callbacks(recorder)
    with pytest.raises(ZeroDivisionError, match="no"):
        model.fit(X, y)
    assert recorder.seen[-1] == "teardown"
    assert not model.__sklearn_is_fitted__()


def test_monitors_of_scikit_learn_score_the_fitted_model():
    callback = pytest.importorskip("sklearn.callback", reason="they came with scikit-learn 1.9")
    X, y = clients()
    monitor = callback.ScoringMonitor(scoring="roc_auc")
    model = AURORA(**QUICK).set_callbacks(monitor).fit(X, y)
    (log,) = monitor.get_logs().data
    assert log["roc_auc"] == pytest.approx(model.score(X, y), abs=1e-12)


# Uninformative data, and invalid parameters.


def test_nothing_to_learn_gives_equal_scores_and_one_warning():
    X = np.ones((40, 2))
    y = np.arange(40) % 2
    with pytest.warns(UserWarning, match="No term distinguishes the classes") as warned:
        model = AURORA().fit(X, y)
    assert len(warned) == 1
    assert (model.n_terms_, model.path_.n_rows, model.terms().n_rows) == (0, 0, 0)
    assert_array_equal(model.decision_function(X), np.zeros(40))
    assert model.explain(X).shape == (40, 0)
    assert_array_equal(model.feature_importances_, [0, 0])
    assert "all rows score 0" in model.rules()
    with sqlite3.connect(":memory:") as connection:
        assert connection.execute(f"SELECT {model.to_sql()}").fetchone() == (0.0,)
    with pytest.raises(ValueError, match="the search has found no term"):
        model.plot_path()


@pytest.mark.parametrize(
    ("selection", "radius"),
    [("validation", "auto"), ("validation", 2.0), ("cv", "auto"), ("cv", 2.0), ("auto", 2.0)],
)
def test_one_row_of_a_class_is_not_held_out(selection, radius):
    X, y = np.arange(30.0)[:, None], np.arange(30) == 29
    model = AURORA(selection=selection, radius=radius)
    with pytest.warns(UserWarning, match="no rows can be held out: all terms were kept") as warned:
        model.fit(X, y)
    assert len(warned) == 1
    assert model.score(X, y) > 0.95
    assert "validation_auc" not in model.path_
    assert np.isnan(model.radii_["validation_auc"]).all()


FEW = {"depth": "shallow", "max_features": 40, "random_state": 0}


def numbers(n):
    """Distinct rows, whose class depends on two of three columns."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + (X[:, 1] > 0) + rng.normal(size=n) > 0.5


def test_of_a_thousand_rows_none_is_held_out():
    X, y = numbers(1000)
    few = AURORA(**FEW).fit(X, y)
    assert (few.radius_, few.n_terms_) == (0.5, 30)
    assert "validation_auc" not in few.path_
    all_rows = AURORA(**(FEW | {"max_features": 30}), radius=0.5, selection=None)
    expected = scores(all_rows, X, y)
    assert_array_equal(few.decision_function(X), expected)
    assert AURORA(**(FEW | {"max_features": 8})).fit(X, y).radius_ == 0.5
    assert AURORA(**(FEW | {"max_features": 7})).fit(X, y).radius_ == pytest.approx(0.889, abs=1e-3)
    # Copies are no more rows, whether they are listed or weights.
    assert_array_equal(scores(AURORA(**FEW), np.r_[X, X], np.r_[y, y])[:1000], expected)
    assert_array_equal(scores(AURORA(**FEW), X, y, sample_weight=np.full(1000, 2.0)), expected)


def test_many_rows_of_which_none_can_be_held_out_raise_a_warning():
    X, _ = numbers(1001)
    with pytest.warns(UserWarning, match=r"no rows can be held out: .* the radius is 1\.581"):
        AURORA(**FEW).fit(X, X[:, 0] == X[:, 0].max())


@pytest.mark.parametrize("reason", ["rows", "groups", "time", "radius"])
def test_rows_are_held_out_where_there_are_more_or_they_are_to_be(reason):
    X, y = numbers(1001 if reason == "rows" else 600)
    rows = np.arange(len(X))
    fit = {"groups": {"groups": rows // 3}, "time": {"time": rows}}.get(reason, {})
    params = FEW | ({"radius": 0.5} if reason == "radius" else {}) | {"max_features": 8}
    found = AURORA(**params).fit(X, y, **fit)
    held_out = AURORA(**params, selection="validation").fit(X, y, **fit)
    assert "validation_auc" in found.path_
    assert_array_equal(found.decision_function(X), held_out.decision_function(X))
    assert_array_equal(found.path_["smoothed"], held_out.path_["smoothed"])


@pytest.mark.parametrize(("n", "held_out"), [(900, False), (1100, True)])
def test_of_a_few_contents_each_copy_is_a_row(n, held_out):
    rng = np.random.default_rng(n)
    X = rng.integers(0, 5, (n, 1)).astype(float)
    y = rng.random(n) < 0.2 + 0.1 * X[:, 0]
    fitted = AURORA(**FEW).fit(X, y)
    assert ("validation_auc" in fitted.path_) == held_out
    values, counts = np.unique(np.c_[X, y], axis=0, return_counts=True)
    weighted = AURORA(**FEW).fit(values[:, :1], values[:, 1] == 1, sample_weight=counts)
    assert_array_equal(weighted.decision_function(X), fitted.decision_function(X))


def test_a_search_on_few_rows_goes_on_as_it_began():
    X, y = numbers(300)
    warm = AURORA(**FEW, warm_start=True).set_params(max_features=10).fit(X, y)
    once = AURORA(**FEW).fit(X, y)
    for most in (20, 60, 90):
        warm.set_params(max_features=most).fit(X, y)
    assert_array_equal(warm.decision_function(X), once.decision_function(X))
    # Rows that have been held out stay so, with whatever rows follow.
    warm = AURORA(**(FEW | {"max_features": 4}), warm_start=True).fit(*numbers(1500))
    warm.set_params(max_features=8).fit(X, y)
    assert "validation_auc" in warm.path_


def test_fewer_rows_than_folds_raise_a_warning():
    X, y = np.arange(30.0)[:, None], np.arange(30) >= 27
    with pytest.warns(UserWarning, match="has 3 distinct rows, .* not n_folds=5") as warned:
        AURORA(selection="cv", n_folds=5, radius=2.0).fit(X, y)
    assert len(warned) == 1


def test_feature_types_determine_how_columns_are_cut():
    rng = np.random.default_rng(0)
    X = np.c_[rng.integers(0, 3, 300), rng.normal(size=300)]
    y = (X[:, 0] == 1) ^ (rng.random(300) < 0.1)
    model = AURORA(**QUICK, feature_types=["categorical", None]).fit(X, y)
    assert model.terms()["rule"][0] in ("x0 = 1", "x0 = 1.0")
    cut = AURORA(**QUICK, percentiles=[50], feature_types=["discrete", "continuous"]).fit(X, y)
    thresholds = {rule for rule in cut.terms()["rule"] if "x1 >=" in rule and " or " not in rule}
    assert len({part for rule in thresholds for part in rule.split(" and ") if "x1" in part}) <= 1


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"max_features": 0}, ValueError, "max_features must be at least 1, got 0"),
        ({"max_features": 2.0}, TypeError, r"max_features must be an int, got 2\.0"),
        ({"order": 3}, ValueError, "order must be from 1 to 2, got 3"),
        ({"radius": 0.0}, ValueError, r"radius must be in \(0\.0, 1000\.0\], got 0\.0"),
        ({"radius": 2.0**63}, ValueError, r"radius must be in \(0\.0, 1000\.0\], got 9\.22"),
        ({"radius": "big"}, ValueError, "radius must be a number or 'auto', got 'big'"),
        ({"radius": None}, TypeError, "radius must be a number, got None"),
        ({"selection": None}, ValueError, "radius='auto' is chosen by rows held out"),
        ({"selection": "window"}, ValueError, "selection must be one of .*; got 'window'"),
        ({"radius_terms": 0}, ValueError, "radius_terms must be at least 1, got 0"),
        ({"radius_terms": 2.5}, TypeError, r"radius_terms must be an int or None, got 2\.5"),
        ({"n_iter_no_change": 0}, ValueError, "n_iter_no_change must be at least 1, got 0"),
        ({"depth": "abyss"}, ValueError, "depth must be one of 'quick', .*; got 'abyss'"),
        ({"depth": {"width": 3}}, ValueError, "depth may have the keys .*; got 'width'"),
        ({"depth": {"shortlist": 0}}, ValueError, "shortlist of depth must be at least 1, got 0"),
        ({"depth": {"circles": 1.5}}, TypeError, r"circles of depth must be an int, got 1\.5"),
        ({"validation_fraction": 1.0}, ValueError, r"validation_fraction must be in .*got 1\.0"),
        ({"n_folds": 1}, ValueError, "n_folds must be from 2 to 65534, got 1"),
        ({"min_gain": 0.0}, ValueError, r"min_gain must be in \(0\.0, inf\), got 0\.0"),
        ({"tol": -0.1}, ValueError, r"tol must be in \[0\.0, inf\), got -0\.1"),
        ({"max_levels": 0}, ValueError, "max_levels must be at least 1, got 0"),
        ({"percentiles": 0}, ValueError, "percentiles must be an int from 1 to 99 .*, got 0"),
        ({"min_level_share": 2.0}, ValueError, r"min_level_share must be in .*, got 2\.0"),
        ({"max_spike_share": -1}, ValueError, "max_spike_share must be in .*, got -1"),
        ({"feature_types": ["odd"]}, ValueError, "feature_types must hold .*, got 'odd'"),
        ({"feature_types": [None]}, ValueError, r"feature_types has shape \(1,\), but X has 30"),
        ({"warm_start": 1}, TypeError, "warm_start must be True or False, got 1"),
        ({"verbose": -1}, ValueError, "verbose must be at least 0, got -1"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_invalid_parameters_are_rejected(params, error, message):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(error, match=message):
        AURORA(**params).fit(X, y)


def test_depth_may_be_a_dictionary():
    X, y = clients()
    standard = {"shortlist": 20, "midpoints": 75, "combined": 40, "circles": 3}
    model = AURORA(**(QUICK | {"depth": "standard"}))
    for depth in (standard, {}, {"circles": 3}):
        found = scores(clone(model).set_params(depth=depth), X, y)
        assert_array_equal(found, scores(model, X, y))


# ---------------------------------------------------------------------------------- the circle


@pytest.mark.parametrize("seed", range(20, 44))
def test_weights_of_two_terms_maximise_the_statistic(seed):
    rng = np.random.default_rng(seed)
    y = rng.random(44) < 0.4
    y[:8] = [True, False] * 4
    # Few values, so that the statistic has steps and plateaus.
    X = rng.normal(size=(44, 2)) + 0.7 * y[:, None] * [1, -1]
    X = np.column_stack([X[:, 0].round(), (2 * X[:, 1]).round() / 2])
    radius = [3.0, 1.0, 8.0][seed % 3]
    model = AURORA(max_features=2, order=1, selection=None, radius=radius).fit(X, y)
    on = model.explain(X) != 0
    assert on.shape[1] == 2
    angles = np.linspace(0, 2 * np.pi, 721)
    highest = max(ramp_auc(y, on @ [radius * np.cos(t), radius * np.sin(t)]) for t in angles)
    # An ascent ends where a circle gains less than 1e-8.
    assert ramp_auc(y, model.decision_function(X)) > highest - 1e-7


@pytest.mark.parametrize("depth", ["quick", "standard"])
@pytest.mark.parametrize("seed", [7, 10, 13])
def test_the_second_term_is_the_one_with_the_highest_statistic(seed, depth):
    # Seeds 7 and 10: the ascent of the best term crosses a plateau.
    rng = np.random.default_rng(seed)
    y = rng.random(44) < 0.4
    y[:8] = [True, False] * 4
    X = rng.normal(size=(44, 2)) + 0.7 * y[:, None] * [1, -1]
    X = np.column_stack([X[:, 0].round(), (2 * X[:, 1]).round() / 2])
    radius = 8.0
    params = {"order": 1, "selection": None, "radius": radius, "depth": depth}
    first = AURORA(max_features=1, **params).fit(X, y).explain(X)[:, 0] != 0
    model = AURORA(max_features=2, **params).fit(X, y)
    angles = np.linspace(0, 2 * np.pi, 361)
    highest = max(
        ramp_auc(y, radius * (np.cos(t) * first + np.sin(t) * term))
        for term in ThresholdBinarizer().fit(X, y).transform(X).T
        for t in angles
    )
    assert ramp_auc(y, model.decision_function(X)) > highest - 1e-7


# The top of the ranking.


def discrete(seed, n=300):
    """Numbers of few values, so that thresholds do not depend on weights, and row weights."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n, 5)).astype(float)
    y = rng.random(n) < 1 / (1 + np.exp(3 - X[:, 0] + 0.5 * X[:, 1] - (X[:, 2] > 3)))
    return X, y, rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_second_search_is_that_of_rows_weighted_by_the_first(seed, weighted):
    X, y, weight = discrete(seed)
    if not weighted:
        weight = np.ones(len(y))
    # The order of so few terms' sums is the same before and after the last ascent.
    params = QUICK | {"selection": None, "min_level_share": 0.0, "max_features": 3}
    first = AURORA(**params).fit(X, y, sample_weight=weight)
    ranked = first.decision_function(X)[~y]
    parts = parts_that_count(ranked, weight[~y], 0.2)
    # Parts are whole numbers of 1/1024.
    weight_of_second = weight.copy()
    weight_of_second[~y] = np.round(weight[~y] * parts * 1024) / 1024
    expected = AURORA(**params).fit(X, y, sample_weight=weight_of_second)
    found = AURORA(**params, max_fpr=0.2).fit(X, y, sample_weight=weight)
    assert found.terms()["rule"].tolist() == expected.terms()["rule"].tolist()
    assert not np.allclose(found.terms()["coefficient"], first.terms()["coefficient"], atol=1e-3)
    # Weights are rounded in another unit, and an ascent ends where a circle gains less than 1e-8:
    # about the optimum, which is flat, that is 1e-4 of a coefficient; those before it, 1e-6.
    np.testing.assert_allclose(
        found.terms()["coefficient"], expected.terms()["coefficient"], atol=1e-4
    )
    np.testing.assert_allclose(found.path_["train_ramp"], expected.path_["train_ramp"], atol=1e-5)
    assert found.feature_importances_.sum() == pytest.approx(found.path_["train_ramp"][-1] - 0.5)


def test_the_top_is_ranked_on_request_and_otherwise_all_rows():
    X, y, weight = top_against_all()
    few = {"max_features": 2, "order": 1, "radius": 1.0, "selection": None}
    of_all, of_top = (
        AURORA(**few, max_fpr=max_fpr).fit(X, y, sample_weight=weight).decision_function(X)
        for max_fpr in (1.0, 0.3)
    )
    area = partial(roc_auc_score, y, sample_weight=weight)
    assert area(of_all) > area(of_top) + 0.15
    assert area(of_top, max_fpr=0.1) > area(of_all, max_fpr=0.1) + 0.25


def test_a_second_search_that_is_no_better_is_not_kept():
    # The first feature is enough: the first search ranks the held-out rows perfectly.
    X, y, _ = discrete(0)
    X[:, 0] = y
    plain, top = (AURORA(**QUICK, max_fpr=max_fpr).fit(X, y) for max_fpr in (1.0, 0.2))
    assert top.terms()["rule"].tolist() == plain.terms()["rule"].tolist()
    kept = 0
    for seed in range(8):
        X, y, _ = discrete(seed, 150)
        noise = np.random.default_rng(seed).normal(size=(len(X), 10))
        X = np.column_stack([X, noise])
        plain, top = (
            AURORA(**QUICK, max_fpr=max_fpr).fit(X, y).decision_function(X)
            for max_fpr in (1.0, 0.05)
        )
        kept += np.array_equal(plain, top)
    assert 0 < kept < 8


def test_invalid_values_of_max_fpr_are_rejected():
    X, y, _ = discrete(0)
    for bad in (0.0, 1.5):
        with pytest.raises(ValueError, match=r"max_fpr must be in \(0.0, 1.0\]"):
            AURORA(max_fpr=bad).fit(X, y)
    with pytest.raises(ValueError, match=r"warm_start does not go with max_fpr=0\.1"):
        AURORA(max_fpr=0.1, warm_start=True).fit(X, y)
