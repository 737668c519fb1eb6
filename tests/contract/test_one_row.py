"""One row at a time: the same bits as all rows at once, the same errors, and no threads."""

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from tests.common.estimators import EVERY, RANKERS
from tests.common.loans import loans
from tests.common.script import run_script

QUESTIONS = ("decision_function", "predict", "predict_proba", "transform", "explain", "points")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4)).round(1)
Y = (X[:, 0] + RNG.normal(size=80) > 0).astype(int)


def with_holes(X):
    return np.where(RNG.random(X.shape) < 0.2, np.nan, X)


def questions(model):
    """Return the methods that a model has: not every sum can be explained."""
    methods = [name for name in QUESTIONS if hasattr(model, name)]
    try:
        model._check_additive()
    except AttributeError:
        return methods
    except (TypeError, ValueError):
        methods.remove("explain")
    return methods


def answers(model, X):
    """Return the results of a model for rows, by method."""
    return {name: np.asarray(getattr(model, name)(X)) for name in questions(model)}


def assert_says_the_same_of_each_row(model, X, take):
    together = answers(model, X)
    assert together
    for row in range(len(X)):
        for name, found in answers(model, take(X, row)).items():
            assert_array_equal(found, together[name][row : row + 1], err_msg=name)


@pytest.fixture(params=EVERY, scope="module")
def fitted(request):
    model = clone(EVERY[request.param])
    data = with_holes(X) if get_tags(model).input_tags.allow_nan else X
    return model.fit(data, Y), data


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_single_row_of_numbers_gets_the_results_it_gets_among_others(fitted, dtype):
    model, data = fitted
    rows = data.astype(dtype)[:20]
    assert_says_the_same_of_each_row(model, rows, lambda X, row: X[row : row + 1])
    # Not contiguous, and so read by the general path.
    wide = np.asfortranarray(rows)
    assert_says_the_same_of_each_row(model, wide, lambda X, row: X[row : row + 1])


def test_a_row_of_a_frame_of_numbers_gets_the_results_of_an_array():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(with_holes(X), columns=list("abcd")).astype({"b": np.float32})
    model = clone(RANKERS["GradientBoostingRanker"]).fit(frame, Y)
    expected = model.decision_function(pd.concat([frame] * 3, ignore_index=True))[: len(frame)]
    for rows in (frame, frame.set_index(frame.index + 7)):
        for row in range(len(rows)):
            assert model.decision_function(rows.iloc[[row]]) == expected[row]
    others = {
        "The feature names should match": frame.rename(columns={"a": "z"}),
        "Feature names must be in the same order": frame[list("bacd")],
        "column 'a' is inf": frame.assign(a=np.inf),
        "Found array with 0 sample": frame.iloc[:0],
    }
    for message, rows in others.items():
        for n_rows in (1, 500):
            many = pd.concat([rows] * n_rows, ignore_index=True)
            with pytest.raises(ValueError, match=message):
                model.decision_function(many if n_rows > 1 else rows.head(1))
    kinds = {
        "whole": frame.assign(a=3),
        "nullable": frame.astype({"a": "Float64"}),
        "truth": frame.assign(a=True),
    }
    for rows in kinds.values():
        found = model.decision_function(rows.head(1))
        assert found == model.decision_function(pd.concat([rows] * 3, ignore_index=True))[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RANKERS)
def test_a_single_row_with_categories_gets_the_results_it_gets_among_others(name):
    frame, y = loans(400, seed=3)
    model = clone(RANKERS[name]).fit(frame, y)
    assert_says_the_same_of_each_row(model, frame.iloc[:15], lambda X, row: X.iloc[[row]])


@pytest.mark.parametrize(
    "bad",
    [
        X[:1, :3],
        np.c_[X[:1], 1.0],
        X[:0],
        X[0],
        X[:1, :, None],
        np.full((1, 4), np.inf),
        np.array([[0.0, 1.0, -np.inf, 2.0]]),
    ],
    ids=["narrow", "wide", "no rows", "1-D", "3-D", "infinite", "one infinite"],
)
def test_a_bad_array_raises_the_same_error_as_a_list(fitted, bad):
    model, _ = fitted
    for name in questions(model):
        with pytest.raises(ValueError) as of_list:  # noqa: PT011
            getattr(model, name)(bad.tolist())
        with pytest.raises(ValueError) as of_array:  # noqa: PT011
            getattr(model, name)(bad)
        if bad.size:
            assert str(of_array.value) == str(of_list.value)


@pytest.mark.parametrize("dtype", [np.int64, ">f8", np.float16, object, bool, "longdouble"])
def test_other_types_are_read_as_numbers(fitted, dtype):
    model, _ = fitted
    rows = np.array([[0, 1, 0, 1]]).astype(dtype)
    for name, found in answers(model, rows).items():
        assert_array_equal(found, getattr(model, name)(rows.astype(np.float64)))


def test_an_unfitted_estimator_raises_not_fitted_error():
    for name, model in EVERY.items():
        question = next(name for name in QUESTIONS if hasattr(type(model), name))
        with pytest.raises(NotFittedError, match=type(model).__name__):
            getattr(clone(EVERY[name]), question)(X[:1])


@pytest.mark.parametrize("n_jobs", [0, "two", 1.5])
def test_a_number_of_threads_is_checked_for_one_row_too(n_jobs):
    model = clone(EVERY["LinearRanker"]).fit(X, Y).set_params(n_jobs=n_jobs)
    with pytest.raises((TypeError, ValueError), match="n_jobs"):
        model.decision_function(X[:1])


@pytest.mark.skipif(sys.platform != "linux", reason="counts the threads of the process in /proc")
def test_few_rows_leave_no_threads_running():
    # The pool of a call ends with it; a global one would stay, and not survive a fork.
    done = run_script("from tests.contract.test_one_row import count_threads; count_threads()")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0"] * len(EVERY)


def count_threads():
    """Print for each estimator how many threads stay after it scored few rows."""
    warnings.simplefilter("ignore")
    for model in (clone(model).fit(X, Y) for model in EVERY.values()):
        before = lasting_threads()
        for n_rows in (1, 2, 8, 9):
            answers(model, X[:n_rows])
        print(lasting_threads() - before)


def lasting_threads():
    """Return how many threads there are once those of earlier calls have ended."""
    counts = []
    while len(counts) < 5 or len(set(counts[-5:])) > 1:
        time.sleep(0.01)
        counts.append(len(list(Path("/proc/self/task").iterdir())))
    return counts[-1]
