"""Another thread writes to the data while they are read: an answer or an error, never a crash."""

import threading

import numpy as np
import pytest
from aucrank import (
    AURORA,
    MAD2C,
    RIMARC,
    AUCBoost,
    MartiRank,
    RankBoost,
    RankingForest,
    RankOpt,
    Scorecard,
    SMartiRank,
    ThresholdBinarizer,
    TreeRank,
)
from aucrank.tree import DyadicSplit

LEARNERS = [
    TreeRank(),
    TreeRank(missing="cell_mean", max_bins=None, pruning=None),
    TreeRank(split="leafrank", pruning=None),
    TreeRank(split=DyadicSplit(level=2), pruning=None),
    RankingForest(n_estimators=5, oob_score=True),
    AUCBoost(n_rounds=5, weak_ranker="linear"),
    AUCBoost(n_rounds=5, weak_ranker="tree", early_stopping=True),
    RankBoost(n_rounds=5, selection="window"),
    RankBoost(n_rounds=5, max_bins=None),
    MartiRank(n_rounds=3, weak_ranker="linear"),
    SMartiRank(n_rounds=3),
    RIMARC(weight_folds=3),
    RIMARC(missing="value", special_values=[0.0]),
    Scorecard(),
    AURORA(radius=2.0, max_features=3, depth="shallow", selection="cv", n_folds=3),
    AURORA(radius=2.0, max_features=3, depth="shallow", selection=None),
    RankOpt(radii=(1.0, 4.0)),
    RankOpt(radii=(1.0, 4.0), objective="ramp"),
    MAD2C(),
    ThresholdBinarizer(max_levels=1000),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_data_that_change_while_they_are_read_are_no_crash(learner):
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
        # It speaks of the data.
        assert not message or any(word in message for word in ("column", "score", "X "))
