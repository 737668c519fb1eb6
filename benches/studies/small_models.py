"""Models that a person can read, at equal size: AUC of rows held out on real data sets.

    python -m benches.studies.small_models [FOLDER ...] [--max-rows 2000] [--folds 2]
        [--sets german pima] [--models IntegerScore AutoScore] [--results small_models.csv]
        [--picture small_models.png]

Each FOLDER holds Parquet files with columns and a 0/1 column `target`. Sizes are numbers of leaves
or of terms (4, 8, 16 and 30; of lists and GOSDT 4 and 8), and numbers of features (3, 5 and 8).
Models of other packages are left out where these are not installed: `imodels` for FIGS, `gosdt`,
`fasterrisk`, `interpret` for EBM, and `optbinning`. AutoScore is that of `small_scores`. Logistic
regression has the features that raise its likelihood most, one after another; EBM those that are
most important in an EBM of all, without pairs; a card of optbinning those of the largest
information value.

Every fold of a set, model and size is a row of the results, written as soon as it is known: a run
that is broken off goes on where it was, and without a folder the results are only shown. The
tables, in Markdown, have the mean AUC in hundredths by size, the gain of `OURS` over it with its
standard error over the sets that both have, and the mean seconds of a fit and the scores of the
rows held out, with the least and the largest size. Folds are the first of five.
"""

import argparse
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from aucrank import AURORA, IntegerScore, RuleList, TreeRank
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from benches.common.data import load_batches, with_categories
from benches.common.optimal_trees import OptimalTree
from benches.common.over_sets import gain_in_points, gains_of_batches
from benches.common.results import resumed
from benches.common.rivals import OptbinningCard, ebm, is_installed, of_columns, score_of
from benches.common.small_scores import auto_score, faster_risk

LEAVES, FEATURES = (4, 8, 16, 30), (3, 5, 8)


class OfColumns:
    """A model of some columns, which are chosen first."""

    def __init__(self, choose, make):
        self.choose = choose
        self.make = make

    def fit(self, X, y):
        """Learn from a frame and 0/1 labels."""
        self.columns_ = self.choose(X, y)
        self.model_ = self.make().fit(X[self.columns_], y)
        return self

    def decision_function(self, X):
        """Score rows, higher first."""
        return score_of(self.model_, X[self.columns_])


class OfScores:
    """A function that learns from rows and scores others at once."""

    def __init__(self, scores_of, size):
        self.scores_of = scores_of
        self.size = size

    def fit(self, X, y):
        """Keep a frame and 0/1 labels."""
        self.rows_ = X, y
        return self

    def decision_function(self, X):
        """Score rows, higher first."""
        return self.scores_of(*self.rows_, X, [self.size])[self.size]


class Searched:
    """A tree or a list that is searched, of no more strata than the rows allow."""

    def __init__(self, make, size):
        self.make = make
        self.size = size

    def fit(self, X, y):
        """Learn from a frame and 0/1 labels."""
        most = min(self.size, len(y) // self.make(self.size).min_samples_leaf)
        self.model_ = self.make(most).set_params(random_state=0, n_jobs=1).fit(X, y)
        return self

    def decision_function(self, X):
        """Score rows, higher first."""
        return self.model_.decision_function(X)


def logistic():
    return of_columns(LogisticRegression(max_iter=1000), scaled=True)


def most_likely(size):
    """Return a choice of columns by forward selection."""

    def choose(X, y):
        chosen = []
        while len(chosen) < min(size, X.shape[1]):
            losses = {}
            for name in X.columns.difference(chosen, sort=False):
                columns = [*chosen, name]
                model = logistic().fit(X[columns], y)
                losses[name] = log_loss(y, model.predict_proba(X[columns])[:, 1])
            chosen.append(min(losses, key=losses.get))
        return chosen

    return choose


def most_important(size):
    """Return a choice of columns by an EBM."""

    def choose(X, y):
        model = ebm(1, interactions=0).fit(X, y)
        order = np.argsort(-np.asarray(model.term_importances()), kind="stable")
        return [X.columns[place] for place in order[:size]]

    return choose


def most_informative(size):
    """Return a choice of columns by the information value of optbinning."""

    def choose(X, y):
        from optbinning import BinningProcess

        categories = list(X.select_dtypes(exclude="number").columns)
        binning = BinningProcess(list(X.columns), categorical_variables=categories)
        binning.fit(X.astype(dict.fromkeys(categories, object)), y)
        table = binning.summary().sort_values("iv", ascending=False, kind="stable")
        return list(table["name"][:size])

    return choose


def figs(size):
    """Return a sum of trees with as many splits as one tree of so many leaves."""
    from imodels import FIGSClassifier

    return of_columns(FIGSClassifier(max_rules=size - 1, random_state=0))


#: Makers of unfitted models of a size, by what is counted.
MODELS = {
    "leaves or terms": {
        "TreeRank, searched": lambda n: Searched(
            lambda most: TreeRank(search="lookahead", max_leaves=most), n
        ),
        "RuleList": lambda n: Searched(lambda most: RuleList(max_rules=most - 1), n),
        "TreeRank, grown": lambda n: TreeRank(max_leaves=n, random_state=0, n_jobs=1),
        "AURORA": lambda n: AURORA(max_features=n, n_jobs=1, random_state=0),
        "scikit-learn's tree": lambda n: of_columns(
            DecisionTreeClassifier(max_leaf_nodes=n, min_samples_leaf=20, random_state=0)
        ),
        "FIGS": figs,
        "GOSDT": lambda n: of_columns(OptimalTree(n)),
    },
    "features": {
        "IntegerScore": lambda n: IntegerScore(max_features=n, n_jobs=1),
        "AutoScore": lambda n: OfScores(auto_score, n),
        "logistic regression": lambda n: OfColumns(most_likely(n), logistic),
        "FasterRisk": lambda n: OfScores(faster_risk, n),
        "EBM": lambda n: OfColumns(most_important(n), lambda: ebm(1, interactions=0)),
        "optbinning": lambda n: OfColumns(most_informative(n), OptbinningCard),
    },
}

#: Packages that models of others need.
NEEDS = {
    "FIGS": "imodels",
    "GOSDT": "gosdt",
    "FasterRisk": "fasterrisk",
    "EBM": "interpret",
    "optbinning": "optbinning",
}

SIZES = {"leaves or terms": LEAVES, "features": FEATURES}
#: The largest size of models whose fits take long.
MOST = {"RuleList": 8, "GOSDT": 8}
#: The model of ours that others are compared with.
OURS = {"leaves or terms": "TreeRank, searched", "features": "IntegerScore"}
KEYS = ["set", "fold", "model", "size"]


def measure(sets, options):
    """Fit what is not in the results yet, and return them all."""
    with resumed(options.results, KEYS, ["auc", "seconds"]) as (known, append):
        for name, (X, y) in sets.items():
            folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
            for fold, (train, test) in list(enumerate(folds))[: options.folds]:
                for kind, models in MODELS.items():
                    for model, make in models.items():
                        for size in SIZES[kind] if model in options.models else ():
                            is_large = size > MOST.get(model, size)
                            if is_large or (name, fold, model, size) in known:
                                continue
                            begin = perf_counter()
                            fitted = make(size).fit(X.iloc[train], y[train])
                            scores = score_of(fitted, X.iloc[test])
                            seconds = perf_counter() - begin
                            auc = roc_auc_score(y[test], scores)
                            append(name, fold, model, size, auc, round(seconds, 4))
    return pd.read_csv(options.results)


def of_common_sets(found, models, kind):
    """Return the results of some models on the sets on which all of them have all sizes."""
    of_kind = found[found["model"].isin(models) & found["size"].isin(SIZES[kind])]
    n_measured = of_kind.drop_duplicates(["set", "model", "size"]).groupby("set").size()
    return of_kind[of_kind["set"].isin(n_measured.index[n_measured == n_measured.max()])]


def report(found, batch_of):
    """Print a table in Markdown for each kind of size, and the gains of each batch of sets."""
    lines = []
    for kind, models in MODELS.items():
        common = of_common_sets(found, models, kind)
        aucs = common.groupby(["model", "size", "set"])["auc"].mean()
        seconds = common.groupby(["model", "size"])["seconds"].mean()
        measured = [model for model in models if model in aucs.index.get_level_values("model")]
        print(f"\n{common['set'].nunique()} sets: {', '.join(common['set'].unique())}")
        print("\n| " + " | ".join([kind, *map(str, SIZES[kind]), "seconds a fit"]) + " |")
        print("| --- |" + " --- |" * (len(SIZES[kind]) + 1))
        for model in measured:
            cells, sizes = [], [size for size in SIZES[kind] if (model, size) in seconds.index]
            for size in sizes:
                rival = aucs[model, size]
                cell = f"{100 * rival.mean():.2f}"
                if model != OURS[kind] and OURS[kind] in measured:
                    ours = aucs[OURS[kind], size].reindex(rival.index).dropna()
                    rival = rival[ours.index]
                    cell += f" ({gain_in_points(ours, rival)})"
                    gains = gains_of_batches(ours, rival, batch_of)
                    lines.append(f"{size} {kind}, over {model}, {len(ours)} sets: {gains}")
                cells.append(cell)
            took = " to ".join(f"{seconds[model, size]:.2g}" for size in (sizes[0], sizes[-1]))
            cells += [""] * (len(SIZES[kind]) - len(cells))
            print("| " + " | ".join([model, *cells, took]) + " |")
    print("\nIn brackets the gain over the model, with its standard error over the sets.")
    print("\n".join(lines))


def draw(found, path):
    """Draw the mean AUC of each model by size."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True, layout="constrained")
    for axis, (kind, models) in zip(axes, MODELS.items(), strict=True):
        common = of_common_sets(found, models, kind)
        for model in models:
            of_model = common[common["model"] == model]
            if of_model.empty:
                continue
            means = of_model.groupby(["size", "set"])["auc"].mean().groupby("size").mean()
            is_ours = model.startswith(("TreeRank", "RuleList", "AURORA", "IntegerScore"))
            style = "o-" if is_ours else "s--"
            axis.plot(means.index, 100 * means, style, label=model)
        axis.set(xlabel=kind, xticks=SIZES[kind])
        axis.grid(alpha=0.3)
        axis.legend(fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncol=3)
        axis.set_title(f"{common['set'].nunique()} data sets", fontsize=10)
    axes[0].set_ylabel("mean AUC, times 100")
    figure.savefig(path, dpi=120)


def main():
    """Measure, then print and draw."""
    labels = [model for models in MODELS.values() for model in models]
    installed = [model for model in labels if model not in NEEDS or is_installed(NEEDS[model])]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--max-rows", type=int, default=2000)
    parser.add_argument("--folds", type=int, default=2, choices=range(1, 6))
    parser.add_argument("--sets", nargs="+", help="only these, by file name without ending")
    parser.add_argument("--models", nargs="+", choices=labels, default=installed)
    parser.add_argument("--results", type=Path, default=Path("small_models.csv"))
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sets, batch_of = load_batches(options.folders, options.max_rows, options.sets)
    sets = {name: (with_categories(X), y) for name, (X, y) in sets.items()}
    found = measure(sets, options)
    report(found, batch_of)
    if options.picture:
        draw(found, options.picture)


if __name__ == "__main__":
    main()
