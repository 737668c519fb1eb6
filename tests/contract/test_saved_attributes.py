"""What a fit tells survives in a file, or is on a list with the reason why not."""

import dataclasses
from collections.abc import Mapping

import numpy as np
import pytest
from aucrank import GradientBoostingRanker, RankBoost, RankingEnsemble, Scorecard, load
from aucrank._base.registry import public_estimators
from numpy.testing import assert_array_equal
from sklearn.datasets import make_classification

from tests.common.estimators import quiet_on_few_rows, short

_IN_PYTHON = "of rows left out: the header of a file has no place for it yet, pickle keeps it"

#: Public attributes that a file does not hold, by estimator, and why.
NOT_SAVED = {
    "RankingEnsemble": {
        "leaderboard_": _IN_PYTHON,
        "weights_": _IN_PYTHON,
        "feature_importances_": _IN_PYTHON,
    },
}

#: A file cannot hold it: its ranker may come from anywhere.
NOT_SAVABLE = {"TwoSidedClassifier"}

MODELS = {
    name: short(cls) for name, cls in public_estimators().items() if name not in NOT_SAVABLE
} | {
    "stopped early": GradientBoostingRanker(n_rounds=30, early_stopping=True, random_state=0),
    "calibrated": RankBoost(n_rounds=10, calibration="sigmoid", random_state=0),
    "card of a booster": Scorecard(estimator=RankBoost(n_rounds=10)),
}


def sample():
    X, y = make_classification(300, 5, flip_y=0.2, random_state=0)
    return X, np.where(y == 1, "bad", "good")


def fitted_attributes(model):
    """Return the public attributes of a fit, those that are computed when asked for too."""
    names = {name for name in vars(model) if not name.startswith("_")}
    for cls in type(model).__mro__:
        names |= {name for name, kind in vars(cls).items() if isinstance(kind, property)}
    return sorted(name for name in names if name.endswith("_") and not name.startswith("_"))


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


@quiet_on_few_rows
@pytest.mark.parametrize("name", MODELS)
def test_what_a_fit_tells_is_in_the_file(name, tmp_path):
    X, y = sample()
    model = MODELS[name].fit(X, y)
    model.save(tmp_path / "model.json")
    back = load(tmp_path / "model.json")
    reasons = NOT_SAVED.get(type(model).__name__, {})
    n_seen = 0
    for attribute in fitted_attributes(model):
        if not hasattr(model, attribute):
            continue
        if attribute in reasons:
            # What is saved by now is to leave the list.
            assert not hasattr(back, attribute), attribute
            continue
        n_seen += 1
        assert hasattr(back, attribute), attribute
        assert_same(getattr(back, attribute), getattr(model, attribute), attribute)
    assert n_seen > 1


@quiet_on_few_rows
@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_described_as_before(name, tmp_path):
    X, y = sample()
    model = MODELS[name].fit(X, y)
    model.save(tmp_path / "model.json")
    back = load(tmp_path / "model.json")
    if isinstance(model, RankingEnsemble):
        # Its leaderboard is on the list above.
        assert [section.title for section in back._summary()] == [f"Ensemble ({model._size()})"]
        return
    assert_same(list(back._summary()), list(model._summary()), "summary")
    assert_same(dict(back._of_features()), dict(model._of_features()), "features")
    assert back._size() == model._size()
    if hasattr(model, "to_html"):
        assert back.to_html() == model.to_html()
