"""Parameters set after a fit: methods that read them check them, and name them in errors."""

import contextlib
import inspect
import re
import types
from collections import UserDict

import numpy as np
import pandas as pd
import pytest
from aucrank import (
    RankBoost,
    RankOpt,
    Scorecard,
)
from aucrank._base.registry import get_estimator, public_names
from aucrank.data import Dataset

from tests.common.estimators import ONE_OF_EACH, short

pyplot = pytest.importorskip("matplotlib.pyplot")
pyplot.switch_backend("Agg")

N = 80
RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], N // 2)
FRAME = pd.DataFrame(
    {
        "a": (RNG.normal(size=N) + Y).round(1),
        "b": RNG.normal(size=N).round(1),
        "c": pd.Categorical(RNG.choice(list("uvw"), N)),
    }
)


#: Values of arguments of methods, by name.
ANSWERS = {
    "X": FRAME,
    "y": Y,
    "features": [0],
    "feature": 0,
    "points": [600.0],
    "probability": [0.5],
    "dialect": "sqlite",
    "language": "python",
    "estimator": RankBoost(n_rounds=3),
    "random_state": 0,
    "dataset": Dataset.from_batches(FRAME),
}

#: They fit, write, set, make another estimator, or show the parameters themselves.
OTHERS = re.compile(
    r"_|fit|save|write|get_params|get_metadata_routing|set_|additive|to_html"
    r"|with_|without|merge|to_integer_score|parsimony|rashomon"
)


def questions(model):
    """Return the names of all public attributes and methods."""
    names = {*dir(type(model)), *(key for key in vars(model) if key.endswith("_"))}
    parameters = model.get_params(deep=False)
    return sorted(name for name in names if not OTHERS.match(name) and name not in parameters)


def answers(model, X, names):
    """The result or the error of each attribute and method."""
    known = ANSWERS | {"X": X}
    found = {}
    for name in names:
        try:
            value = getattr(model, name)
            if isinstance(value, types.MethodType):
                parameters = inspect.signature(value).parameters.values()
                wanted = [one.name for one in parameters if one.default is one.empty]
                if "random_state" in {one.name for one in parameters}:
                    wanted.append("random_state")
                value = value(**{one: known[one] for one in wanted if one != "fit_params"})
            if inspect.isgenerator(value):
                value = list(value)
        except Exception as error:
            found[name] = error
        else:
            found[name] = re.sub(r"0x[0-9a-f]+", "", repr(value))
            # Pictures.
            if "matplotlib" in type(value).__module__ or type(value).__name__.endswith("Display"):
                found[name] = type(value).__name__
        pyplot.close("all")
    return found


class Attributes(UserDict):
    """The dictionary of a model, which records the names that are read from it."""

    def __init__(self, attributes, names):
        self.data = attributes
        self.names = names

    def __contains__(self, name):
        self.names.add(name)
        return name in self.data

    def __getitem__(self, name):
        self.names.add(name)
        return self.data[name]

    def __iter__(self):
        self.names |= self.data.keys()
        return iter(self.data)

    def copy(self):
        return dict(self)


@contextlib.contextmanager
def attributes_read(model):
    """Return the set of attributes of the model's class that are read within the context."""
    cls, names = type(model), set()

    def read(self, name):
        if name == "__dict__":
            return Attributes(object.__getattribute__(self, name), names)
        names.add(name)
        return object.__getattribute__(self, name)

    cls.__getattribute__ = read
    try:
        yield names
    finally:
        del cls.__getattribute__


def test_every_public_estimator_is_tested():
    assert {type(model) for model in ONE_OF_EACH.values()} == {
        get_estimator(name) for name in public_names()
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
def test_invalid_values_set_after_the_fit_have_no_effect_or_raise_an_error(model):
    X = FRAME[["a", "b"]] if isinstance(model, RankOpt) else FRAME
    names = questions(model.fit(X, Y))
    before, reads = {}, {}
    for name in names:
        with attributes_read(model) as reads[name]:
            before |= answers(model, X, [name])
    assert not [name for name, answer in before.items() if isinstance(answer, KeyError)]
    for parameter, old in model.get_params(deep=False).items():
        # What does not read a parameter does not change with it.
        readers = [name for name in names if parameter in reads[name]]
        for nonsense in (object(), 0):
            model.set_params(**{parameter: nonsense})
            for name, answer in answers(model, X, readers).items():
                if isinstance(before[name], Exception):
                    assert type(answer) is type(before[name])
                elif isinstance(answer, Exception):
                    assert isinstance(answer, TypeError | ValueError), (parameter, name)
                    assert parameter in str(answer), (parameter, name)
                elif nonsense != 0:
                    assert answer == before[name], (parameter, name)
        model.set_params(**{parameter: old})


@pytest.mark.parametrize("question", ["card", "to_text", "to_html", "to_csv", "to_json"])
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"base_odds": 0}, r"base_odds must be in \(0\.0, inf\), got 0"),
        ({"base_odds": -1.5}, r"base_odds must be in \(0\.0, inf\), got -1\.5"),
        ({"base_odds": "1"}, "base_odds must be a number, got '1'"),
        ({"base_points": None}, "base_points must be a number, got None"),
        ({"base_points": np.inf}, "base_points must be in"),
    ],
)
def test_an_invalid_scale_is_named_in_the_error(question, params, message):
    card = Scorecard().fit(FRAME, Y).set_params(**params)
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(card, question)()


VERBOSE = [name for name in public_names() if "verbose" in get_estimator(name)().get_params()]


@pytest.mark.parametrize("name", VERBOSE)
@pytest.mark.parametrize(
    ("value", "error"),
    [(-1, ValueError), (10**30, ValueError), ("1", TypeError), (None, TypeError), (1.0, TypeError)],
)
def test_verbose_is_checked_by_every_estimator_that_has_it(name, value, error):
    model = short(get_estimator(name)).fit(FRAME[["a", "b"]], Y).set_params(verbose=value)
    with pytest.raises(error, match=r"^verbose must be "):
        model.fit(FRAME[["a", "b"]], Y)
    assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize("name", VERBOSE)
def test_verbose_may_be_true_as_in_scikit_learn(name, capsys):
    model = short(get_estimator(name))
    for value in (False, 0, np.bool_(False)):
        model.set_params(verbose=value).fit(FRAME[["a", "b"]], Y)
        assert capsys.readouterr().out == ""
    for value in (True, np.int64(1)):
        model.set_params(verbose=value).fit(FRAME[["a", "b"]], Y)
        assert name in capsys.readouterr().out


def test_verbose_of_the_ranker_under_a_card_is_checked():
    with pytest.raises(ValueError, match="verbose must be at least 0, got -1"):
        Scorecard(estimator=RankBoost(verbose=-1)).fit(FRAME, Y)
