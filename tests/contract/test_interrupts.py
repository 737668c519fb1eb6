"""Ctrl-C in calls other than fits, and in fits whose long parts are not rounds."""

import sys

import pytest
from aucrank._utils.threads import effective_n_threads

from tests.common.script import run_script

# Each call would take many seconds; a signal comes soon after it starts.
CALLS = """
import os, signal, sys, tempfile, threading, time
import numpy as np
from aucrank import AURORA, AUCBoost, MartiRank, RankBoost, RankingForest, ThresholdBinarizer
from sklearn.exceptions import NotFittedError

# A parent in the background of a shell hands down that Ctrl-C is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X = rng.normal(size=(500, 5))
y = rng.random(500) < 1 / (1 + np.exp(-X[:, 0] * X[:, 1]))
many = np.tile(X, (6_000, 1))

def interrupted(call):
    sent = []
    def send():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(0.3, send)
    timer.start()
    try:
        call()
    except KeyboardInterrupt:
        print(f"{time.process_time() - sent[0]:.3f}", flush=True)
    else:
        timer.cancel()
        print("finished", flush=True)

{calls}
"""

SCORES = {
    "the mean of a forest": """
model = RankingForest(n_estimators=100).fit(X, y)
interrupted(lambda: model.decision_function(many))
interrupted(lambda: model.predict_proba(many))
assert len(model.decision_function(X)) == len(X)
""",
    "medians and a consensus": """
for aggregation in ("rank_median", "kendall"):
    model = RankingForest(n_estimators=100, aggregation=aggregation).fit(X, y)
    interrupted(lambda: model.decision_function(many))
""",
    "a program": """
model = MartiRank(n_rounds=60).fit(X, y)
interrupted(lambda: model.decision_function(many))
model = MartiRank(n_rounds=30, weak_ranker="linear").fit(X, y)
interrupted(lambda: model.decision_function(many))
""",
    "boosted terms": """
model = AUCBoost(n_rounds=200, weak_ranker="linear").fit(X, y)
interrupted(lambda: model.decision_function(many))
model = RankBoost(n_rounds=200, weak_ranker="tree").fit(X, y)
interrupted(lambda: model.decision_function(many))
""",
    "folds of AURORA": """
model = AURORA(selection="cv", n_folds=400)
rows, labels = many[:100_000] + rng.normal(size=(100_000, 5)), np.resize(y, 100_000)
interrupted(lambda: model.fit(rows, labels))
try:
    model.predict(X)
except NotFittedError:
    pass
interrupted(lambda: model.fit(rows, labels))
""",
    "a term for each value": """
model = ThresholdBinarizer(max_levels=10**7, min_level_share=0.0)
values = rng.normal(size=(1_000_000, 1))
interrupted(lambda: model.fit(values))
assert not hasattr(model, "_terms")
interrupted(lambda: model.fit(values))
""",
}


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process on Windows")
@pytest.mark.parametrize("name", SCORES)
def test_ctrl_c_ends_a_long_call_soon(name):
    run = run_script(CALLS.replace("{calls}", SCORES[name]))
    assert run.returncode == 0, run.stderr
    waits = run.stdout.split()
    assert len(waits) == 2
    assert "finished" not in waits
    # A second of processor time of each of the threads.
    assert all(float(wait) < 1 + effective_n_threads(None) for wait in waits), waits
