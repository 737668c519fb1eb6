"""What a search for the best tree of few leaves gains over growth: AUC on real data sets.

    python -m benches.studies.tree_search FOLDER [FOLDER ...] [--max-rows 10000] [--leaves 8]
        [--bins 12] [--least 20] [--rounds 8] [--sets magic] [--results tree_search.csv]

Each FOLDER holds Parquet files with columns and a 0/1 column `target`. Columns of numbers have
`bins` ranges of equally many training rows, missing values before the first; those of at most 12
categories are coded by the rate of positives of the training rows; others are left out. TreeRank
grows a tree of at most `leaves` leaves of `least` rows on these codes, leaf by leaf. The search is
written plainly, in NumPy.

The AUC of a tree is 1/2 + A / 2PN, where A is the sum of |p n' - n p'| over all pairs of its leaves
(n, p) and (n', p'): the area of the zonotope of the leaves. The area is no sum over leaves. The
mixed area with a fixed zonotope K is: half the sum of f(n, p), where f adds up |p n' - n p'| over
the vectors of K. By Minkowski's inequality the area of every tree is at most its mixed area with
K, squared, over the area of K: a bound on the AUC of all trees, for any K, and a tree that is best
for its own zonotope is the best of all. So a round searches the tree with the largest sum of f, and
adds its zonotope to K, with a falling share; the best area of any round is kept.

The tree of a round is found from the root down. A node has a number of leaves to spend: each cut,
with each division of them, is judged by what leaf-by-leaf growth then gains on both sides (a
lookahead of one cut). The table has AUC on training and test rows, and the gain in points with its
standard error over the sets.
"""

import argparse
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from aucrank import TreeRank
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benches.common.data import is_category, load_batches
from benches.common.over_sets import gain_in_points
from benches.common.results import resumed

MOST_CATEGORIES = 12
FIGURES = ["train_grown", "test_grown", "train_searched", "test_searched", "seconds"]


def coded(train, y, test, n_bins):
    """Return the codes of the columns of both parts, below `n_bins`."""
    found = []
    for name in train:
        parts = [train[name], test[name]]
        if is_category(train[name]):
            if train[name].nunique() > MOST_CATEGORIES:
                continue
            rates = pd.Series(y).groupby(train[name].astype(str).to_numpy()).mean()
            parts = [part.astype(str).map(rates) for part in parts]
        parts = [part.to_numpy(np.float64, na_value=np.nan) for part in parts]
        known = parts[0][~np.isnan(parts[0])]
        shares = np.linspace(0, 1, n_bins)[1:-1]
        cuts = np.unique(np.quantile(known, shares)) if len(known) else []
        codes = [np.where(np.isnan(part), 0, 1 + np.searchsorted(cuts, part)) for part in parts]
        found.append(codes)
    return [np.column_stack(part) for part in zip(*found, strict=True)] if found else None


def area(leaves):
    """Return the sum of |p n' - n p'| over all pairs of leaves, given as rows of (n, p)."""
    n, p = np.asarray(leaves, dtype=np.float64).T
    return np.abs(np.outer(p, n) - np.outer(n, p)).sum() / 2


class Rows:
    """Coded rows, with the zonotope that trees are judged by."""

    def __init__(self, codes, y, n_bins, least):
        self.codes, self.y, self.n_bins, self.least = codes, y, n_bins, least
        self.n_features = codes.shape[1]
        places = codes + n_bins * np.arange(self.n_features)
        self._places = 2 * places + y[:, None]
        self.vectors = np.empty((0, 2))

    def sums(self, rows):
        """Return the numbers of negative and of positive rows."""
        positive = int(self.y[rows].sum())
        return np.array([len(rows) - positive, positive])

    def value(self, sums):
        """Return f of one or many (n, p)."""
        n, p = sums[..., :1], sums[..., 1:]
        return np.abs(p * self.vectors[:, 0] - n * self.vectors[:, 1]).sum(axis=-1)

    def cuts(self, rows):
        """Return what each cut gains, or -inf, and (n, p) of its left side."""
        shape = self.n_features, self.n_bins, 2
        counts = np.bincount(self._places[rows].ravel(), minlength=np.prod(shape)).reshape(shape)
        left = counts.cumsum(axis=1)[:, :-1]
        total = self.sums(rows)
        gains = self.value(left) + self.value(total - left) - self.value(total)
        sizes = left.sum(axis=-1)
        may_cut = (sizes >= self.least) & (len(rows) - sizes >= self.least)
        return np.where(may_cut, gains, -np.inf)

    def best_cut(self, rows):
        """Return the largest gain of a cut, and the feature and the last code on its left."""
        gains = self.cuts(rows)
        feature, code = np.unravel_index(gains.argmax(), gains.shape)
        return gains[feature, code], (feature, code)

    def sides(self, rows, cut):
        """Return the rows on both sides of a cut."""
        feature, code = cut
        is_left = self.codes[rows, feature] <= code
        return rows[is_left], rows[~is_left]

    def growth(self, rows, n_leaves):
        """Return what growth, the largest gain first, gains with 0, 1, ..., n_leaves leaves."""
        gains, nodes = [0.0, 0.0], [(*self.best_cut(rows), rows)]
        while len(gains) <= n_leaves:
            place = max(range(len(nodes)), key=lambda place: nodes[place][0])
            gain, cut, of_node = nodes[place]
            if gain <= 0:
                gains.append(gains[-1])
                continue
            gains.append(gains[-1] + gain)
            if len(gains) <= n_leaves:
                found = [(*self.best_cut(side), side) for side in self.sides(of_node, cut)]
                nodes[place : place + 1] = found
        return np.array(gains)

    def searched(self, rows, n_leaves, path=()):
        """Return the leaves of the tree found, each as the cuts to it and its rows."""
        best, gains = (1e-9, None, None), self.cuts(rows) if n_leaves > 1 else np.empty((0, 0))
        for cut in zip(*np.nonzero(np.isfinite(gains)), strict=True):
            left, right = (self.growth(side, n_leaves - 1) for side in self.sides(rows, cut))
            # With l leaves on the left, for l from 1 on.
            of_cut = gains[cut] + left[1:n_leaves] + right[n_leaves - 1 : 0 : -1]
            if of_cut.max() > best[0]:
                best = of_cut.max(), cut, 1 + int(of_cut.argmax())
        _, cut, n_left = best
        if cut is None:
            return [(path, rows)]
        left, right = self.sides(rows, cut)
        return [
            *self.searched(left, n_left, (*path, (cut, True))),
            *self.searched(right, n_leaves - n_left, (*path, (cut, False))),
        ]


def search(rows, start, n_leaves, n_rounds):
    """Return the best tree of some rounds, the first judged by the leaves `start`."""
    rows.vectors = start / np.sqrt(area(start))
    best, largest = None, 0.0
    for number in range(n_rounds):
        tree = rows.searched(np.arange(len(rows.y)), n_leaves)
        leaves = np.array([rows.sums(of_leaf) for _, of_leaf in tree])
        if len(leaves) < 2:
            break
        if area(leaves) > largest:
            best, largest = tree, area(leaves)
        share = 1 / (number + 2)
        added = share * leaves / np.sqrt(area(leaves))
        rows.vectors = np.vstack([(1 - share) * rows.vectors, added])
    return best


def scores_of(tree, codes, y):
    """Return the rate of positives of the leaf of each coded row."""
    scores = np.zeros(len(codes))
    for path, rows in tree:
        is_here = np.ones(len(codes), dtype=bool)
        for (feature, code), is_left in path:
            is_here &= (codes[:, feature] <= code) == is_left
        scores[is_here] = y[rows].mean()
    return scores


def figures(codes, y, new_codes, new_y, options):
    """Return the figures of one fold; None if growth finds no cut."""
    grown = TreeRank(
        split="orthogonal",
        max_leaves=options.leaves,
        min_samples_leaf=options.least,
        pruning=None,
        n_jobs=1,
        random_state=0,
    ).fit(codes, y)
    scores = grown.decision_function(codes)
    start = pd.crosstab(scores, y).to_numpy()
    if len(start) < 2:
        return None
    found = [roc_auc_score(y, scores), roc_auc_score(new_y, grown.decision_function(new_codes))]
    begin = process_time()
    rows = Rows(codes, y, options.bins, options.least)
    tree = search(rows, start, options.leaves, options.rounds)
    seconds = process_time() - begin
    for of_codes, of_y in ((codes, y), (new_codes, new_y)):
        found.append(roc_auc_score(of_y, scores_of(tree, of_codes, y)))
    return [*found, seconds]


def main():
    """Measure what is not in the results yet, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    for name, default in {"max-rows": 10_000, "leaves": 8, "bins": 12, "least": 20}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--results", type=Path, default=Path("tree_search.csv"))
    options = parser.parse_args()
    sets, _ = load_batches(options.folders, options.max_rows, options.sets)
    with resumed(options.results, ["set", "fold"], FIGURES) as (known, append):
        for name, (X, y) in sorted(sets.items(), key=lambda item: item[1][0].size):
            splits = StratifiedKFold(2, shuffle=True, random_state=0).split(X, y)
            for fold, (train, test) in enumerate(splits):
                if (name, fold) in known:
                    continue
                codes = coded(X.iloc[train], y[train], X.iloc[test], options.bins)
                found = codes and figures(codes[0], y[train], codes[1], y[test], options)
                if found:
                    append(name, fold, *found)
    of_sets = pd.read_csv(options.results).groupby("set")[FIGURES].mean()
    print(of_sets.round(4).to_string())
    for part in ("train", "test"):
        gain = gain_in_points(of_sets[f"{part}_searched"], of_sets[f"{part}_grown"])
        print(f"{part}: {gain} points over growth, {len(of_sets)} sets")


if __name__ == "__main__":
    main()
