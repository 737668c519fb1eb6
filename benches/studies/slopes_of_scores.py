"""How far the log-odds of an integer score spread too much, and how much shrinkage mends that.

    python -m benches.studies.slopes_of_scores FOLDER [FOLDER ...] [--rows 300 1500] [--draws 3]

Each FOLDER holds Parquet files: columns and a 0/1 column `target`. Scores of three and five
features learn from so many rows drawn at random, and the slope of log-odds along points of up to
6,000 other rows is divided by that of the rows learned from: 1 if the score holds for others. The
latter is shrunk by `ratio / (ratio + gain * questions)`, the ratio being the likelihood ratio of
the line to a constant, for each gain of a question by chance. The table has the mean of the
logarithm of the quotient over sets with its standard error, for each number of rows, and its root
mean square; the last line is the gain whose mean square is least on all other sets.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from aucrank import IntegerScore
from scipy.special import xlogy
from sklearn.linear_model import LogisticRegression

from benches.common.data import load
from benches.common.over_sets import chosen_by_others

GAINS = (0, 1, 2, 3, 4, 5, 6, 8)
MOST_OTHERS = 6000


def line(points, y):
    """Return the slope of log-odds along points, and the likelihood ratio of the line."""
    model = LogisticRegression(C=1e9, max_iter=1000).fit(points[:, None], y)
    p, share = model.predict_proba(points[:, None])[:, 1], y.mean()
    likelihood = xlogy(y, p) + xlogy(1 - y, 1 - p)
    of_constant = xlogy(y, share) + xlogy(1 - y, 1 - share)
    return model.coef_[0, 0], 2 * (likelihood - of_constant).sum()


def measure(folders, sizes, n_draws):
    """Return a row for each score: what its slope is, and that of other rows."""
    rows = []
    for path in sorted(path for folder in folders for path in folder.glob("*.parquet")):
        X, y = load(path, max_rows=20_000)
        y = np.asarray(y)
        for n_rows in (size for size in sizes if size <= 0.6 * len(y)):
            for draw in range(n_draws):
                order = np.random.default_rng(draw).permutation(len(y))
                kept, others = order[:n_rows], order[n_rows : n_rows + MOST_OTHERS]
                if min(np.bincount(y[kept], minlength=2).min(), y[others].sum()) < 10:
                    continue
                for n_features in (3, 5):
                    score = IntegerScore(max_features=n_features, n_jobs=1)
                    score.fit(X.iloc[kept], y[kept])
                    if score.n_questions_ == 0:
                        continue
                    slope, ratio = line(score.points(X.iloc[kept]), y[kept])
                    other, _ = line(score.points(X.iloc[others]), y[others])
                    quotient = max(other / slope, 0.01)
                    rows.append((path.stem, n_rows, ratio, score.n_questions_, quotient))
        print(f"{path.stem} done", flush=True)
    return pd.DataFrame(rows, columns=["set", "n_rows", "ratio", "questions", "quotient"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1500])
    parser.add_argument("--draws", type=int, default=3)
    args = parser.parse_args()
    found = measure(args.folders, args.rows, args.draws)
    squares = {}
    print(f"{found['set'].nunique()} sets, {len(found)} scores; mean log, its error, by rows; rms")
    for gain in GAINS:
        share = found["ratio"] / (found["ratio"] + gain * found["questions"])
        log = np.log(found["quotient"] / share)
        means = log.groupby(found["set"]).mean()
        by_rows = [log[found["n_rows"] == n].groupby(found["set"]).mean().mean() for n in args.rows]
        squares[gain] = (log**2).groupby(found["set"]).mean()
        print(
            f"gain {gain}: {means.mean():+.3f} ± {means.sem():.3f}"
            f"  {' '.join(f'{mean:+.3f}' for mean in by_rows)}  {squares[gain].mean() ** 0.5:.3f}"
        )
    chosen = -chosen_by_others(-pd.DataFrame(squares).to_numpy())
    print(f"chosen by all others: rms {chosen.mean() ** 0.5:.3f}")


if __name__ == "__main__":
    main()
