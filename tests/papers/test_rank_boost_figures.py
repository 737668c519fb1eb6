"""RankBoost on the data of the papers that compare with it."""

import numpy as np
import pytest
from aucrank import RankBoost
from aucrank.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score


@pytest.mark.parametrize("alpha", ["third", "exact"])
def test_figure_14_of_paper_2_breast_cancer(alpha):
    # 50 bootstrap samples, each judged by the rows out of it. The paper prints 0.967 for RankBoost
    # with 30 rounds.
    X, y = load_breast_cancer(return_X_y=True)
    model = RankBoost(n_rounds=30, alpha=alpha)
    rng = np.random.default_rng(0)
    aucs = []
    for _ in range(50):
        rows = rng.integers(0, len(y), len(y))
        out = np.setdiff1d(np.arange(len(y)), rows)
        fitted = model.fit(X[rows], y[rows])
        aucs.append(roc_auc_score(y[out], fitted.decision_function(X[out])))
    assert np.mean(aucs) >= 0.988
