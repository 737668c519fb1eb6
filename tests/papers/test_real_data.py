"""TreeRank on real data, against a tree of scikit-learn.

The data sets lie in ``../shared/data`` next to the checkout; without them these tests are skipped.
"""

import numpy as np
import pytest
from aucrank import TreeRank
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from tests.common.paths import DATA
from tests.common.real_data import load, needs_data

pytestmark = needs_data


def one_hot(train, test):
    """Return both as matrices, categories one-hot."""
    encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    to_matrix = make_column_transformer(
        (encode, make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    return to_matrix.fit_transform(train), to_matrix.transform(test)


def tuned_tree(X, y):
    """Fit a scikit-learn tree with `ccp_alpha` chosen by its AUC in 10 folds."""
    tree = DecisionTreeClassifier(random_state=0)
    path = tree.cost_complexity_pruning_path(X, y)
    alphas = np.unique(np.quantile(np.maximum(path.ccp_alphas, 0), np.linspace(0, 1, 20)))
    return GridSearchCV(tree, {"ccp_alpha": alphas}, scoring="roc_auc", cv=10).fit(X, y)


def test_the_pruned_tree_ranks_no_worse_than_a_tuned_tree_of_scikit_learn():
    ours, theirs = [], []
    for name in ("wdbc", "pima", "german", "heart"):
        X, y = load(name)
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            fitted = TreeRank(random_state=0).fit(X.iloc[train], y[train])
            ours.append(roc_auc_score(y[test], fitted.decision_function(X.iloc[test])))
            seen, unseen = one_hot(X.iloc[train], X.iloc[test])
            rival = tuned_tree(seen, y[train])
            theirs.append(roc_auc_score(y[test], rival.predict_proba(unseen)[:, 1]))
    assert np.mean(ours) >= np.mean(theirs), (np.mean(ours), np.mean(theirs))


@pytest.mark.parametrize("name", [path.stem for path in sorted(DATA.glob("*.parquet"))])
def test_every_data_set_is_ranked_better_than_by_chance(name):
    X, y = load(name)
    rows = np.random.default_rng(0).permutation(len(y))[:6000]
    train, test = rows[::2], rows[1::2]
    model = TreeRank(random_state=0).fit(X.iloc[train], y[train])
    assert model.score(X.iloc[test], y[test]) > 0.65
