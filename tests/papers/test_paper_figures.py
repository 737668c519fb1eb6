"""Figures of the papers, found again on the simulations that they describe."""

import numpy as np
import pytest
from aucrank import RankingForest, TreeRank
from aucrank.datasets import load_breast_cancer, make_gaussian_pair, make_xor
from aucrank.tree import CrossValidatedPruning, LeafRank
from sklearn.metrics import roc_auc_score

from tests.common.real_data import bootstrap_aucs


def auc_of_subtree(model, n_leaves, sample):
    tree = model.tree_.best_subtree(min(n_leaves, model.tree_.n_leaves))
    score = dict(zip(tree.strata["node"], tree.strata["score"], strict=True))
    return roc_auc_score(sample.y, [score[leaf] for leaf in tree.apply(sample.X)])


def test_figure_12_of_paper_2_trees_pruned_inside_and_outside_rank_best():
    # Sec. 6.3: 500 rows to learn from, 10,000 to test on. The paper shows one draw, with test AUCs
    # of 0.67, 0.67, 0.66 and 0.71 for (i) to (iv). Single draws wobble by 0.01, so these are means
    # of ten. The paper does not say by which rule the splitting trees are cross-validated; here
    # they are the smallest within one standard error, without which (iv) is about as good as (i)
    # in the mean of 20 draws (0.699 against 0.695, and 0.706 with it).
    aucs = {"i": [], "ii": [], "iii": [], "iv": [], "true": []}
    settings = {"min_samples_leaf": 1, "leaf_order": "tree", "max_bins": None, "random_state": 0}
    for seed in range(10):
        train = make_gaussian_pair(500, random_state=seed)
        test = make_gaussian_pair(10_000, random_state=1000 + seed)
        for name, n_leaves in (("i", 3), ("ii", 15)):
            split = LeafRank(max_depth=n_leaves - 1, max_leaves=n_leaves)
            model = TreeRank(split=split, pruning=None, **settings).fit(train.X, train.y)
            aucs[name].append(auc_of_subtree(model, n_leaves, test))
        model = TreeRank(split=LeafRank(max_depth=30), max_depth=30, pruning=None, **settings)
        aucs["iii"].append(model.fit(train.X, train.y).score(test.X, test.y))
        inner = CrossValidatedPruning(n_folds=10, one_standard_error=True)
        split = LeafRank(max_depth=5, pruning=inner)
        model = TreeRank(split=split, pruning=CrossValidatedPruning(n_folds=10), **settings)
        aucs["iv"].append(model.fit(train.X, train.y).score(test.X, test.y))
        aucs["true"].append(roc_auc_score(test.y, test.eta(test.X)))
    mean = {name: np.mean(values) for name, values in aucs.items()}
    assert mean["true"] > mean["iv"] > mean["i"] > mean["ii"] > mean["iii"]
    # The lead of (iv) is more than the luck of the draws.
    for name in ("i", "ii", "iii"):
        lead = np.subtract(aucs["iv"], aucs[name])
        assert lead.mean() > lead.std(ddof=1) / np.sqrt(len(lead)), name


def test_a_leafrank_of_depth_2_solves_what_a_stump_cannot():
    # Exclusive or: positive where the two features lie on different sides of their middle.
    corners = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [50, 50, 50, 51], axis=0)
    y = corners[:, 0] != corners[:, 1]
    settings = {"max_depth": 1, "min_samples_leaf": 1, "pruning": None}
    stump = TreeRank(split="orthogonal", **settings).fit(corners, y)
    leafrank = TreeRank(split=LeafRank(max_depth=2), **settings).fit(corners, y)
    assert stump.score(corners, y) < 0.51
    assert leafrank.score(corners, y) == 1
    # On the square the first of its stumps gains next to nothing anywhere, so one split need not
    # find the middle; a tree of such splits comes to the best that any score can have.
    for seed in range(3):
        train, test = (make_xor(2000, random_state=seed + offset) for offset in (0, 100))
        stump = TreeRank(split="orthogonal", **settings).fit(train.X, train.y)
        leafrank = TreeRank(split=LeafRank(max_depth=2), **settings).fit(train.X, train.y)
        assert abs(stump.score(test.X, test.y) - 0.5) < 0.03
        assert leafrank.score(test.X, test.y) > 0.62
        whole = TreeRank(split=LeafRank(max_depth=2), random_state=0).fit(train.X, train.y)
        assert whole.score(test.X, test.y) > test.auc_star - 0.02


@pytest.mark.parametrize(
    ("model", "least"),
    [
        (TreeRank(split=LeafRank(max_depth=2), pruning="cv", random_state=0), 0.955),
        (RankingForest(n_estimators=20, split="leafrank", random_state=0), 0.984),
    ],
    ids=["leafrank", "forest of leafrank"],
)
def test_figure_14_of_paper_2_breast_cancer(model, least):
    # 50 bootstrap samples, each judged by the rows out of it. The paper prints 0.923 for the pruned
    # tree; the authors' R package reaches 0.950, and 0.984 with a forest of 20 trees. The page on
    # the paper has the tree and the forest of single splits, and RankBoost.
    X, y = load_breast_cancer(return_X_y=True)
    assert np.mean(bootstrap_aucs(model, X, y)) >= least
