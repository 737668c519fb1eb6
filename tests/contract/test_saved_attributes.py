"""What a fit reports is saved in a file, or on a list with the reason why not."""

import copy
import dataclasses
import re
from collections.abc import Mapping

import aucrank
import numpy as np
import pytest
from aucrank import GradientBoostingRanker, RankBoost, RankingEnsemble, Scorecard, load
from aucrank._base.registry import TRANSFORMERS, get_estimator, is_savable, public_names
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification

from tests.common.estimators import EVERY, ONE_OF_EACH, few_members, quiet_on_few_rows

#: Columns of tables that a file does not hold, by attribute, and why.
NOT_SAVED = {
    "leaderboard_": {"fit_seconds": "the time differs, and equal fits give equal files"},
}

MODELS = (
    EVERY
    | {name: get_estimator(name)() for name in TRANSFORMERS}
    | {
        "stopped early": GradientBoostingRanker(n_rounds=30, early_stopping=True, random_state=0),
        "calibrated": RankBoost(n_rounds=10, calibration="sigmoid", random_state=0),
        "card of a booster": Scorecard(estimator=RankBoost(n_rounds=10)),
        "two-sided ensemble": aucrank.TwoSidedClassifier(
            ranker=RankingEnsemble(members=few_members(), n_folds=2), random_state=0
        ),
        "two-sided, calibrated": aucrank.TwoSidedClassifier(
            ranker=RankBoost(n_rounds=10, calibration="sigmoid")
        ),
    }
)

quiet = pytest.mark.filterwarnings(
    *quiet_on_few_rows.args, "ignore:No member is better", "ignore:.*looks like"
)


def sample():
    X, y = make_classification(300, 5, flip_y=0.2, random_state=0)
    return X, np.where(y == 1, "bad", "good")


def there_and_back(model, folder):
    model.save(folder / "model.json")
    return load(folder / "model.json")


@pytest.fixture(scope="module", params=MODELS)
def saved(request, tmp_path_factory):
    """Return a fitted model, and the same from its file."""
    model = copy.deepcopy(MODELS[request.param]).fit(*sample())
    return model, there_and_back(model, tmp_path_factory.mktemp("saved"))


def fitted_attributes(model):
    """Return the public attributes of a fit, those that are computed on request too."""
    names = {name for name in vars(model) if not name.startswith("_")}
    for cls in type(model).__mro__:
        names |= {name for name, kind in vars(cls).items() if isinstance(kind, property)}
    return sorted(name for name in names if name.endswith("_") and not name.startswith("_"))


def assert_same_fit(back, model, where=""):
    """Check all public attributes of a fit; return how many there are."""
    n_seen = 0
    for attribute in fitted_attributes(model):
        if not hasattr(model, attribute):
            continue
        n_seen += 1
        assert hasattr(back, attribute), where + attribute
        value, of_file = getattr(model, attribute), getattr(back, attribute)
        reasons = NOT_SAVED.get(attribute, {})
        if reasons:
            # Attributes that are saved now must leave the list.
            assert not set(reasons) & set(of_file), attribute
            value = type(value)({name: of for name, of in value.items() if name not in reasons})
        assert_same(of_file, value, where + attribute)
    return n_seen


def assert_same(back, model, where):
    assert type(back) is type(model), where
    if isinstance(model, np.ndarray):
        assert back.dtype == model.dtype, where
        assert_array_equal(back, model, err_msg=where)
    elif isinstance(model, Mapping):
        assert list(back) == list(model), where
        for key in model:
            assert_same(back[key], model[key], f"{where}[{key!r}]")
    elif isinstance(model, list | tuple):
        assert len(back) == len(model), where
        for place, (one, other) in enumerate(zip(back, model, strict=True)):
            assert_same(one, other, f"{where}[{place}]")
    elif isinstance(model, BaseEstimator):
        assert repr(back) == repr(model), where
        assert assert_same_fit(back, model, f"{where}.") > 1
    elif dataclasses.is_dataclass(model):
        for field in dataclasses.fields(model):
            name = field.name
            assert_same(getattr(back, name), getattr(model, name), f"{where}.{name}")
    elif isinstance(model, float) and np.isnan(model):
        assert np.isnan(back), where
    elif model is None or isinstance(model, bool | int | float | str | np.generic):
        assert back == model, where
    elif hasattr(model, "to_text"):
        assert back.to_text() == model.to_text(), where


def test_every_estimator_is_tested():
    assert {type(model).__name__ for model in MODELS.values()} == set(public_names())
    assert all(map(is_savable, public_names()))


@quiet
def test_attributes_of_a_fit_are_saved_in_the_file(saved):
    model, back = saved
    assert assert_same_fit(back, model) > 1


@quiet
def test_a_loaded_model_is_described_as_before(saved):
    model, back = saved
    assert_same(list(back._summary()), list(model._summary()), "summary")
    assert_same(dict(back._of_features()), dict(model._of_features()), "features")
    assert back._size() == model._size()
    assert repr(back) == repr(model)
    if hasattr(model, "to_html"):
        assert back.to_html() == model.to_html()


@quiet
def test_a_notebook_shows_a_loaded_model_as_before(saved, monkeypatch):
    def shown(model):
        # scikit-learn numbers what it shows; trees are shown by their place in memory.
        html = model._repr_mimebundle_()["text/html"]
        return re.sub(r"(sk-[a-z-]+?-?)\d+|x[0-9a-f]{8,}", r"\1", html)

    model, back = saved
    if hasattr(model, "leaderboard_"):
        # All but the time.
        monkeypatch.setitem(vars(model), "_leaderboard", back.leaderboard_)
    assert shown(back) == shown(model)


@quiet
def test_a_file_that_is_saved_again_is_the_same(saved, tmp_path):
    model, back = saved
    assert back._to_document() == model._to_document()
    assert there_and_back(back, tmp_path)._to_document() == model._to_document()


@quiet
@pytest.mark.parametrize(
    "name", [name for name, model in ONE_OF_EACH.items() if hasattr(model, "decision_function")]
)
def test_a_report_of_a_loaded_model_is_the_same(name, tmp_path):
    X, y = sample()
    model = copy.deepcopy(ONE_OF_EACH[name]).fit(X[:200], y[:200])
    back = there_and_back(model, tmp_path)
    pages = [aucrank.report(of, X[200:], y[200:]).html for of in (model, back)]
    assert pages[1] == pages[0]
