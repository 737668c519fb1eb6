"""Another thread writes to the data while they are read: a result or an error, never a crash."""

import threading

import numpy as np
import pytest

from tests.common.estimators import READERS


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("learner", READERS, ids=repr)
def test_data_changed_during_a_fit_do_not_crash_it(learner):
    rng = np.random.default_rng(0)
    n = 5_000
    X = rng.normal(size=(n, 4)).round(2)
    y = rng.random(n) < 1 / (1 + np.exp(-X[:, 0]))
    sound = X.copy()
    for bad in (np.nan, np.inf, 1e300):
        X[:] = sound
        done = threading.Event()

        def write(bad=bad, done=done):
            draw = np.random.default_rng(1)
            while not done.is_set():
                rows, column = draw.integers(0, n, 200), draw.integers(0, 4)
                X[rows, column] = bad
                X[rows, column] = -3 * sound[rows, column]

        writer = threading.Thread(target=write)
        writer.start()
        try:
            learner.fit(X, y)
            if hasattr(learner, "decision_function"):
                learner.decision_function(X)
        except ValueError as err:
            message = str(err)
        else:
            message = ""
        finally:
            done.set()
            writer.join()
        # The message is about the data.
        assert not message or any(word in message for word in ("column", "score", "X "))
