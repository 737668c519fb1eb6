"""The boosters against gradient boosting: 5-fold AUC on real data sets, also with wrong labels.

    python -m benches.studies.boosting_study DATA_FOLDER [--max-rows 5000] [--noise-rate 0.0]
        [--all] [--sets german pima]

DATA_FOLDER holds Parquet files with columns and a 0/1 column `target`. One line per setting: its
AUC on each set, mean of five stratified folds, and the mean over the sets. With `--noise-rate` the
labels that are learned from are flipped at that rate, those that are tested on are not. The rival
is scikit-learn's HistGradientBoostingClassifier with its defaults. `--all` compares settings too.
"""

import argparse
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
from aucrank import AUCBoost, MartiRank, RankBoost, SMartiRank
from aucrank.datasets import make_noisy_labels
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benches.common.data import load_all
from benches.common.rivals import score_of

MODELS = {
    "RankBoost()": RankBoost(),
    "AUCBoost()": AUCBoost(),
    "MartiRank()": MartiRank(),
    "SMartiRank()": SMartiRank(),
}
MORE_MODELS = {
    "RankBoost, 50 rounds": RankBoost(n_rounds=50),
    "RankBoost, exact": RankBoost(alpha="exact"),
    "RankBoost, window": RankBoost(selection="window"),
    "RankBoost, window, refit": RankBoost(selection="window", refit=True),
    "RankBoost, rate 0.3": RankBoost(learning_rate=0.3),
    "RankBoost, trees": RankBoost(weak_ranker="tree", n_rounds=50),
    "RankBoost, trees, rate 0.1": RankBoost(weak_ranker="tree", learning_rate=0.1),
    "AUCBoost, 200 rounds": AUCBoost(n_rounds=200),
    "AUCBoost, thresholds": AUCBoost(weak_ranker="threshold", n_rounds=200),
    "AUCBoost, trees": AUCBoost(weak_ranker="tree"),
    "AUCBoost, trees, rate 0.1": AUCBoost(weak_ranker="tree", n_rounds=200, learning_rate=0.1),
    "MartiRank, 20 layers": MartiRank(n_rounds=20),
    "MartiRank, 30 layers": MartiRank(n_rounds=30),
    "MartiRank, node rates": MartiRank(output="node_rate"),
    "MartiRank, trees": MartiRank(weak_ranker="tree"),
    "SMartiRank, 20 layers": SMartiRank(n_rounds=20),
}


def mean_aucs(model, X, y, noise_rate):
    aucs = []
    for fold, (train, test) in enumerate(
        StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    ):
        learned = y[train]
        if noise_rate > 0:
            learned = make_noisy_labels(learned, noise_rate, random_state=fold)
        model.fit(X.iloc[train], learned)
        aucs.append(roc_auc_score(y[test], score_of(model, X.iloc[test])))
    return np.mean(aucs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--max-rows", type=int, default=5000)
    parser.add_argument("--noise-rate", type=float, default=0.0)
    parser.add_argument("--sets", nargs="*", help="only these, by file name without ending")
    parser.add_argument("--all", action="store_true", help="other settings too")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = load_all(options.folder, options.max_rows, options.sets)
    models = MODELS | (MORE_MODELS if options.all else {})
    models["gradient boosting"] = HistGradientBoostingClassifier(
        categorical_features="from_dtype", random_state=0
    )
    print(f"{'':28}" + "".join(f"{name[:8]:>9}" for name in sets) + f"{'mean':>9}  s")
    for label, model in models.items():
        start = perf_counter()
        aucs = [mean_aucs(model, X, y, options.noise_rate) for X, y in sets.values()]
        cells = "".join(f"{auc:9.4f}" for auc in aucs)
        print(f"{label:28}{cells}{np.mean(aucs):9.4f}  {perf_counter() - start:.0f}", flush=True)


if __name__ == "__main__":
    main()
