"""Ensembles of a data set: those of one frame, of rows in memory and of larger data."""

import re
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from aucrank import GradientBoostingRanker, LinearRanker, RankingEnsemble, load
from aucrank._base.folds import content_of_rows
from aucrank._data.input import read_columns
from aucrank.data import Dataset, _sampled
from aucrank.ensemble import _judged_by_sample, _presets
from aucrank.metrics import roc_auc_score
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from tests.common.estimators import few_members
from tests.common.parts import FEATURES, mixed_rows, write_parts

#: With two columns of text, whose pairs a booster looks at by codes.
TWO_TEXTS = [*FEATURES, "town"]

QUICK = RankingEnsemble(members=few_members(), n_folds=3, random_state=0)
ALONE = RankingEnsemble(n_folds=4, random_state=3)


def rows_of(n=600, seed=0):
    rows = mixed_rows(n, seed)
    return rows.assign(town=np.random.default_rng(seed).choice(list("abcdefg"), size=n))


def dataset_of(rows, columns=FEATURES, weight=None, chunk_rows=100):
    return Dataset.from_batches(
        rows, target="y", weight=weight, columns=columns, chunk_rows=chunk_rows
    )


def fitted_to_frame(model, rows, columns=FEATURES, weight=None):
    return clone(model).fit(rows[columns], rows["y"], None if weight is None else rows[weight])


def check_same(found, expected, rows, columns=FEATURES):
    """The same document, and the same attributes that a file does not hold."""
    assert found._to_document() == expected._to_document()
    for name in ("name", "weight", "auc", "low", "high"):
        assert_array_equal(found.leaderboard_[name], expected.leaderboard_[name])
    assert_array_equal(found.feature_importances_, expected.feature_importances_)
    scores = found.decision_function(rows[columns])
    assert_array_equal(scores, expected.decision_function(rows[columns]))


@pytest.fixture
def large(monkeypatch):
    """Treat few values as many, and evaluate on fewer rows of a class than exist."""
    monkeypatch.setattr(_presets, "MOST_IN_MEMORY", 1000)
    monkeypatch.setattr(_judged_by_sample, "MOST_OF_CLASS", 150)


# Rows in memory


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_with_few_values_the_fit_equals_that_to_a_frame(weight, class_weight):
    rows, model = rows_of(), clone(QUICK).set_params(class_weight=class_weight)
    expected = fitted_to_frame(model, rows, weight=weight)
    shuffled = rows.sample(frac=1, random_state=1)
    for some, chunk_rows in ((rows, 71), (rows, 10_000), (shuffled, 230)):
        found = clone(model).fit(dataset_of(some, weight=weight, chunk_rows=chunk_rows))
        check_same(found, expected, rows)
        assert found.sampled_rows_ is None


def test_presets_files_and_listed_categories_give_the_fit_to_a_frame(tmp_path):
    rows = rows_of(400)
    listed = ["count", "colour", "town"]
    model = RankingEnsemble(presets="fast", categorical_features=listed, random_state=1)
    write_parts(tmp_path, rows, [1, 300])
    dataset = Dataset.from_parquet(tmp_path, target="y", weight="w", columns=TWO_TEXTS)
    found = clone(model).fit(dataset)
    check_same(found, fitted_to_frame(model, rows, TWO_TEXTS, "w"), rows, TWO_TEXTS)
    found.save(tmp_path / "model.json")
    scores = np.concatenate(list(load(tmp_path / "model.json").decision_function_batches(dataset)))
    assert_array_equal(scores, found.decision_function(rows[TWO_TEXTS]))


def test_an_ensemble_of_a_dataset_is_distilled_by_a_frame_with_its_rows():
    rows = rows_of(300)
    found, expected = clone(QUICK).fit(dataset_of(rows)), fitted_to_frame(QUICK, rows)
    given = (rows[FEATURES], rows["y"])
    ranker, table = found.distill(LinearRanker(), *given)
    other, same = expected.distill(LinearRanker(), *given)
    assert ranker._to_document() == other._to_document()
    assert_array_equal(table["auc"], same["auc"])
    with pytest.raises(TypeError, match="pass those of the Dataset as X and y"):
        found.distill(LinearRanker(), dataset_of(rows), None)


def test_estimators_of_other_packages_get_the_rows_of_a_dataset(tmp_path):
    rows = rows_of(400).assign(x=lambda frame: frame["x"].fillna(0.0))
    columns = ["x", "small", "count"]
    members = [("logistic", LogisticRegression()), ("linear", LinearRanker())]
    model = RankingEnsemble(members=members, n_folds=3, random_state=0)
    expected = fitted_to_frame(model, rows, columns)
    write_parts(tmp_path, rows, [100, 350])
    for dataset in (
        dataset_of(rows, columns),
        Dataset.from_parquet(tmp_path, target="y", columns=columns, chunk_rows=70),
    ):
        found = clone(model).fit(dataset)
        assert_array_equal(found.leaderboard_["auc"], expected.leaderboard_["auc"])
        scores = np.concatenate(list(found.decision_function_batches(dataset)))
        assert scores == pytest.approx(expected.decision_function(rows[columns]), abs=1e-12)


# Larger data


@pytest.mark.parametrize("columns", [FEATURES, TWO_TEXTS], ids=["sums", "codes"])
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.usefixtures("large")
def test_with_many_values_the_fit_equals_that_to_a_frame(columns, weight):
    rows = rows_of()
    expected = fitted_to_frame(ALONE, rows, columns, weight)
    assert expected.weights_.keys() == {"boosting"}
    assert len(expected._model.models(0)) == 4
    shuffled = rows.sample(frac=1, random_state=1)
    for some, chunk_rows in ((rows, 71), (shuffled, 230)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = clone(ALONE).fit(dataset_of(some, columns, weight, chunk_rows))
        check_same(found, expected, rows, columns)
        assert found.sampled_rows_ is None
    by_two = fitted_to_frame(clone(ALONE).set_params(n_jobs=2), shuffled, columns, weight)
    check_same(by_two.set_params(n_jobs=None), expected, rows, columns)


@pytest.mark.usefixtures("large")
def test_with_many_values_weights_equal_copies():
    rows = rows_of(400)
    times = np.random.default_rng(0).integers(0, 4, size=len(rows))
    copies = rows.loc[rows.index.repeat(times)]
    expected = fitted_to_frame(ALONE, copies)
    weighted = fitted_to_frame(ALONE, rows.assign(w=times), weight="w")
    scores = weighted.decision_function(rows[FEATURES])
    assert scores == pytest.approx(expected.decision_function(rows[FEATURES]), abs=1e-9)
    for name in ("auc", "low", "high"):
        assert weighted.leaderboard_[name] == pytest.approx(expected.leaderboard_[name], abs=1e-12)


@pytest.mark.usefixtures("large")
def test_with_many_values_the_models_equal_those_of_the_booster(monkeypatch):
    rows = rows_of(600)
    monkeypatch.setattr(_judged_by_sample, "_SEED_OF_FOLDS", 0)
    model = RankingEnsemble(random_state=0).fit(rows[FEATURES], rows["y"])
    booster = GradientBoostingRanker(random_state=0)
    booster.fit(rows[FEATURES], rows["y"])
    columns = read_columns(model, rows[FEATURES], model._schema)
    mean = np.mean([fold.score(columns, 1) for fold in model._model.models(0)], axis=0)
    # The values of a mean of bags are rounded.
    assert mean == pytest.approx(booster.decision_function(rows[FEATURES]), abs=1e-7)


def test_the_sample_has_the_rows_of_least_hashes_of_each_class():
    rows = rows_of(900)
    rows = pd.concat([rows, rows[:200].assign(y=rows["y"][200:400].to_numpy())])
    model, dataset = clone(ALONE), dataset_of(rows)
    sample, bounds = dataset.sample_of_classes(dataset.facts(model), 1, 100)
    everything = dataset.all_rows(dataset.facts(model), 1, "a test")
    for positive in (False, True):
        # Distinct rows, each with all of its copies.
        content = content_of_rows(sample, 0)[sample.labels == positive]
        of_all = content_of_rows(everything, 0)[everything.labels == positive]
        assert len(np.unique(content)) == 100
        assert len(content) == np.isin(of_all, content).sum()
    assert 0 < min(bounds) < max(bounds) < 2**64


@pytest.mark.usefixtures("large")
def test_probabilities_of_a_rare_class_are_those_of_all_rows():
    """The sample has as many rows of each class."""
    ratios = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(20_000, 2))
        eta = 0.02 * np.exp(0.5 * X[:, 0])
        y = rng.random(20_000) < eta
        model = RankingEnsemble(random_state=0).fit(X[:10_000], y[:10_000])
        found = model.predict_proba(X[10_000:])[:, 1]
        ratios.append(found.mean() / eta[10_000:].mean())
    # The standard error of 150 rows of each class is 12 %, that of four samples half of it.
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.15)


@pytest.mark.usefixtures("large")
def test_with_many_values_the_leaderboard_agrees_with_new_rows(monkeypatch):
    monkeypatch.setattr(_judged_by_sample, "MOST_OF_CLASS", 1000)
    rows = rows_of(12_000)
    old, new = rows[:4000], rows[4000:]
    model = fitted_to_frame(RankingEnsemble(random_state=0), old)
    table = model.leaderboard_
    assert table["name"].tolist() == ["ensemble", "boosting"]
    of_new = roc_auc_score(new["y"], model.decision_function(new[FEATURES]))
    assert table["auc"] == pytest.approx(np.full(2, of_new), abs=0.02)
    assert (table["low"] < of_new).all()
    assert (table["high"] > of_new).all()


@pytest.mark.usefixtures("large")
def test_with_many_values_folds_respect_groups_and_times():
    rows = rows_of(600)
    group = np.arange(600) // 6
    model = clone(ALONE).fit(rows[FEATURES], rows["y"], groups=group)
    assert len(model._model.models(0)) == 4
    by_time = clone(ALONE).fit(rows[FEATURES], rows["y"], time=np.arange(600.0))
    assert "auc_latest" in list(by_time.leaderboard_)


@pytest.mark.usefixtures("large")
def test_with_many_values_members_learn_from_the_common_sample(monkeypatch):
    monkeypatch.setattr(_sampled, "MOST_ROWS", 300)
    rows = rows_of().assign(x=lambda frame: frame["x"].fillna(0.0))
    columns = ["x", "small", "count"]
    members = [("logistic", LogisticRegression()), ("linear", LinearRanker())]
    model = RankingEnsemble(members=members, n_folds=3, random_state=0)
    dataset = dataset_of(rows, columns)
    with pytest.warns(UserWarning, match="RankingEnsemble is fitted to 300 of 600 rows, a sample"):
        found = clone(model).fit(dataset)
    assert found.sampled_rows_ == (300, 600)
    taken = dataset.frame_of_sample(dataset.facts(clone(model)), 1)
    expected = clone(model).fit(taken, rows["y"][taken.index])
    assert_array_equal(found.leaderboard_["auc"], expected.leaderboard_["auc"])


@pytest.mark.usefixtures("large")
def test_with_many_values_distilling_raises_an_error():
    rows = rows_of(300)
    model = clone(ALONE).fit(dataset_of(rows))
    with pytest.raises(ValueError, match=re.escape("of which it scored a sample")):
        model.distill(LinearRanker(), rows[FEATURES], rows["y"])
    assert model.feature_importances_.shape == (len(FEATURES),)


@pytest.mark.usefixtures("large")
def test_with_many_values_one_positive_row_leaves_nothing_to_hold_out():
    rows = rows_of(300).assign(y=np.arange(300) == 7)
    model = RankingEnsemble(random_state=0)
    with pytest.warns(UserWarning, match="A class has one distinct row"):
        expected = fitted_to_frame(model, rows)
    with pytest.warns(UserWarning, match="A class has one distinct row"):
        found = clone(model).fit(dataset_of(rows))
    assert found._to_document() == expected._to_document()


@pytest.mark.usefixtures("large")
def test_verbose_prints_the_rounds_of_the_booster(capsys):
    clone(ALONE).set_params(verbose=2).fit(dataset_of(rows_of(300)))
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\[RankingEnsemble\] boosting without each fold, .* s", lines[0])
    assert lines[1].startswith("[RankingEnsemble] 1 of 1 members")
    assert re.fullmatch(r"\[RankingEnsemble\] 1 member, AUC 0.\d+ on rows left out", lines[2])


# Unsupported with a data set


def test_an_invalid_dataset_raises_an_error():
    rows = rows_of(100)
    with pytest.raises(ValueError, match="y was given with a Dataset"):
        clone(QUICK).fit(dataset_of(rows), rows["y"])
    with pytest.raises(ValueError, match="has no labels"):
        clone(QUICK).fit(Dataset.from_batches(rows[FEATURES]))
    with pytest.raises(ValueError, match="infinity"):
        clone(QUICK).fit(dataset_of(rows.assign(x=np.inf)))
    members = [("logistic", LogisticRegression())]
    with pytest.raises(ValueError, match="NaN"):
        RankingEnsemble(members=members).fit(dataset_of(rows, ["x"]))


# Of partitions


@pytest.mark.parametrize("n_parts", [1, 3])
@pytest.mark.parametrize("is_large", [False, True])
def test_a_fit_to_partitions_equals_that_to_a_frame(n_parts, is_large, request):
    dask = pytest.importorskip("dask", reason="fits on the workers of dask")
    distributed = pytest.importorskip("distributed", reason="fits on workers of distributed")
    dd = pytest.importorskip("dask.dataframe", reason="reads data frames of dask")
    if is_large:
        request.getfixturevalue("large")
    rows, model = rows_of(), ALONE if is_large else QUICK
    expected = fitted_to_frame(model, rows, weight="w")
    edges = [0, *(len(rows) * part // n_parts for part in range(1, n_parts)), len(rows)]
    parts = [dask.delayed(rows[first:last]) for first, last in pairwise(edges)]
    collection = dd.from_delayed(parts, meta=rows[:0], verify_meta=False)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        dataset = Dataset.from_dask(collection, target="y", weight="w", columns=FEATURES)
        check_same(clone(model).fit(dataset), expected, rows)
