"""The adapter in AutoGluon and TabArena; skipped where these are not installed.

    python -m pytest benches/tabarena/test_adapter.py

Data are those of scikit-learn, or random; nothing is downloaded.
"""

import sys
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

pytest.importorskip("autogluon.core", exc_type=ImportError)
pytest.importorskip("autogluon.features", exc_type=ImportError)

from autogluon.core.models import BaggedEnsembleModel

from benches.tabarena.memory import measure
from benches.tabarena.methods import AucrankEnsembleModel
from benches.tabarena.model import AucrankModel


def passengers(n_rows=600, seed=0):
    """Return random rows of categories, numbers and missing values, with labels that need both."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["female", "male"], n_rows)
    cabin = pd.Categorical(rng.choice([*"ABCDEF", None], n_rows))
    age = np.where(rng.random(n_rows) < 0.2, np.nan, rng.uniform(1, 80, n_rows))
    score = 2.0 * (sex == "female") + (cabin == "B") - 0.02 * np.nan_to_num(age, nan=60)
    X = pd.DataFrame({"sex": pd.Categorical(sex), "cabin": cabin, "age": age})
    X["fare"] = rng.exponential(30, n_rows)
    return X, pd.Series((score + rng.normal(size=n_rows) > 0.7).astype(int))


def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


def split(X, y):
    return train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)


def make(folder, cls=AucrankModel, problem_type="binary", **hyperparameters):
    metrics = {"binary": "roc_auc", "multiclass": "log_loss"}
    return cls(
        path=str(folder),
        name="model",
        problem_type=problem_type,
        eval_metric=metrics.get(problem_type),
        hyperparameters=hyperparameters,
    )


def test_two_classes_are_ranked(tmp_path):
    X, X_test, y, y_test = split(*cancer())
    model = make(tmp_path).fit(X=X, y=y, num_cpus=1)
    assert roc_auc_score(y_test, model.predict_proba(X_test)) > 0.98


def test_three_classes_have_probabilities_whose_sum_is_1(tmp_path):
    X, X_test, y, y_test = split(*load_wine(return_X_y=True, as_frame=True))
    model = make(tmp_path, problem_type="multiclass")
    model.fit(X=X, y=y, X_val=X_test, y_val=y_test, num_cpus=1)
    found = model.predict_proba(X_test)
    assert found.shape == (len(X_test), 3)
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert log_loss(y_test, found) < 0.3


def test_a_class_that_validation_rows_lack_is_fitted_by_its_own_folds(tmp_path):
    X, X_test, y, y_test = split(*load_wine(return_X_y=True, as_frame=True))
    known = y_test < 2
    model = make(tmp_path, problem_type="multiclass")
    model.fit(X=X, y=y, X_val=X_test[known], y_val=y_test[known], num_cpus=1)
    assert log_loss(y_test, model.predict_proba(X_test)) < 0.3


def test_categories_and_missing_values_enter_as_they_are(tmp_path):
    X, X_test, y, y_test = split(*passengers())
    model = make(tmp_path).fit(X=X, y=y, X_val=X_test, y_val=y_test, num_cpus=1)
    without = make(tmp_path).fit(X=X[["age", "fare"]], y=y, num_cpus=1)
    auc = roc_auc_score(y_test, model.predict_proba(X_test))
    assert auc > roc_auc_score(y_test, without.predict_proba(X_test)) + 0.05
    assert model.model[0].feature_importances_[0] > 0.2
    unseen = X_test.assign(cabin=pd.Categorical(["T"] * len(X_test)))
    assert np.isfinite(model.predict_proba(unseen)).all()


def test_validation_rows_choose_the_number_of_rounds(tmp_path):
    X, X_val, y, y_val = split(*cancer())
    # With labels at random, the first rounds are the best.
    noise = pd.Series(np.random.default_rng(0).permutation(y_val), index=y_val.index)
    rounds = [
        make(tmp_path).fit(X=X, y=y, X_val=X_val, y_val=labels, num_cpus=1).model[0].n_iter_
        for labels in (y_val, noise)
    ]
    assert rounds[1] < rounds[0] / 2


def test_a_time_limit_is_kept(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30_000, 30)))
    X.columns = [f"x{place}" for place in range(30)]
    y = pd.Series((X["x0"] * X["x1"] + rng.normal(size=len(X)) > 0).astype(int))
    # Small steps that never stop: by itself the fit takes minutes.
    model = make(tmp_path, learning_rate=0.001, n_rounds=100_000, n_iter_no_change=100_000)
    start = time.perf_counter()
    model.fit(X=X[::2], y=y[::2], X_val=X[1::2], y_val=y[1::2], time_limit=4, num_cpus=1)
    assert time.perf_counter() - start < 8
    assert model.model[0].n_iter_ > 0


def test_a_regression_raises_an_error_that_names_it(tmp_path):
    X, _ = cancer()
    with pytest.raises(ValueError, match="got 'regression'"):
        make(tmp_path, problem_type="regression").fit(X=X, y=X["mean radius"], num_cpus=1)


def test_a_loaded_model_gives_the_same_predictions(tmp_path):
    X, X_test, y, y_test = split(*passengers())
    model = make(tmp_path).fit(X=X, y=y, X_val=X_test, y_val=y_test, num_cpus=1)
    model.save()
    loaded = AucrankModel.load(model.path)
    assert (loaded.predict_proba(X_test) == model.predict_proba(X_test)).all()


@pytest.mark.parametrize("cls", [AucrankModel, AucrankEnsembleModel])
def test_a_bag_of_eight_folds(tmp_path, cls):
    X, X_test, y, y_test = split(*passengers())
    kwargs = {"path": str(tmp_path), "problem_type": "binary", "eval_metric": "roc_auc"}
    params = {} if cls is AucrankModel else {"presets": "fast"}
    bag = BaggedEnsembleModel(
        cls,
        model_base_kwargs={**kwargs, "name": "model", "hyperparameters": params},
        path=str(tmp_path),
        name="bag",
        hyperparameters={"fold_fitting_strategy": "sequential_local"},
    )
    X, y = X.reset_index(drop=True), y.reset_index(drop=True)
    bag.fit(X=X, y=y, k_fold=8, num_cpus=1, num_gpus=0)
    assert bag.n_children == 8
    assert roc_auc_score(y, bag.predict_proba_oof()) > 0.75
    assert roc_auc_score(y_test, bag.predict_proba(X_test)) > 0.75


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_estimate_of_memory_is_above_the_peak():
    from benches.common.own_process import in_own_process

    peak, estimate = in_own_process(measure, 5_000, 20, 5, 3, time_limit=300)
    assert peak < estimate < 3 * peak


def test_autogluon_accepts_the_model():
    testing = pytest.importorskip("autogluon.tabular.testing", exc_type=ImportError)
    testing.FitHelper.verify_model(AucrankModel, {"n_rounds": 30}, bag=True)


def test_the_search_space_has_the_default_first_and_configurations_that_fit(tmp_path):
    pytest.importorskip("tabarena", exc_type=ImportError)
    from benches.tabarena.hpo import gen_aucrank
    from benches.tabarena.info import aucrank_info

    assert aucrank_info.method_metadata.ag_key == AucrankModel.ag_key
    default, *others = gen_aucrank.generate_all_configs_lst(10)
    assert default == {"ag_args": {"name_suffix": "_c1"}}
    assert len(others) == 10
    X, X_val, y, y_val = split(*passengers(200))
    for config in others:
        params = {name: value for name, value in config.items() if name != "ag_args"}
        model = make(tmp_path, **params).fit(X=X, y=y, X_val=X_val, y_val=y_val, num_cpus=1)
        assert model.model[0].n_iter_ > 0


def test_the_runner_of_tabarena_runs_without_a_network(tmp_path):
    pytest.importorskip("tabarena", exc_type=ImportError)
    from benches.tabarena.run_local import run

    (found,) = run(tmp_path, n_folds=1, n_configs=0)
    assert found["metric_error"] < 0.02


def test_experiments_of_tabarena_are_bags_of_eight_folds():
    pytest.importorskip("tabarena", exc_type=ImportError)
    from benches.tabarena.run_lite import build

    experiments = build(2)
    assert len(experiments) == 3
    for experiment in experiments:
        assert experiment.method_kwargs["model_cls"] is AucrankModel
        assert experiment.method_kwargs["fit_kwargs"]["num_bag_folds"] == 8
