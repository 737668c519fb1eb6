"""Seconds that a report takes, against those of scoring its rows, and the size of its page.

    python -m benches.speed.bench_report [--rows 1000000] [--features 20] [--runs 3]

A `GradientBoostingRanker`, fitted to at most 100,000 rows, reported on all of them. The
figures are medians. Before it times anything it checks that the page has the AUC of scikit-learn.
"""

from functools import partial

import aucrank
from aucrank import GradientBoostingRanker
from sklearn.metrics import roc_auc_score

from benches.common.data import make_data
from benches.common.options import make_parser
from benches.common.timing import median_seconds

MOST_FITTED = 100_000


def main():
    parser = make_parser(__doc__, rows=1_000_000, features=20, threads=2, runs=3)
    options = parser.parse_args()

    X, y = make_data(options.rows, options.features)
    model = GradientBoostingRanker(random_state=0, n_jobs=options.threads)
    model.fit(X[:MOST_FITTED], y[:MOST_FITTED])
    made = aucrank.report(model, X, y)
    assert abs(made.models["auc"][0] - roc_auc_score(y, model.decision_function(X))) < 1e-12
    works = {
        "scores": partial(model.decision_function, X),
        "report": partial(aucrank.report, model, X, y),
    }
    medians = median_seconds(works, options.runs)
    print(
        f"{options.rows:,} rows of {options.features} columns: report {medians['report']:.1f} s, of"
        f" which scores {medians['scores']:.1f} s; the page has {len(made.html) / 1000:,.0f} kB"
    )


if __name__ == "__main__":
    main()
