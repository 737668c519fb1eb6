"""Seconds that a report takes, against those of scoring its rows, and the size of its page.

    python -m benches.speed.bench_report [--rows 1000000] [--features 20] [--runs 3]
    python -m benches.speed.bench_report --scores

A `GradientBoostingRanker`, fitted to at most 100,000 rows, reported on all of them; or with
`--scores` probabilities without their model: alone, in groups of three rows, in eight subgroups,
and over two years. The figures are medians. Before it times anything it checks that the page has
the AUC of scikit-learn.
"""

from functools import partial

import aucrank
import numpy as np
from aucrank import GradientBoostingRanker
from sklearn.metrics import roc_auc_score

from benches.common.data import make_data
from benches.common.options import make_parser
from benches.common.timing import median_seconds

MOST_FITTED = 100_000


def main():
    parser = make_parser(__doc__, rows=1_000_000, features=20, threads=2, runs=3)
    parser.add_argument("--scores", action="store_true", help="report on scores without a model")
    options = parser.parse_args()
    (of_scores if options.scores else of_a_model)(options)


def of_a_model(options):
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


def of_scores(options):
    rng = np.random.default_rng(0)
    n = options.rows
    log_odds = rng.normal(size=n) - 2.5
    risk = 1 / (1 + np.exp(-log_odds))
    given = {"y": rng.random(n) < risk, "scores": risk, "probabilities": "scores"}
    made = aucrank.report(**given)
    assert abs(made.models["auc"][0] - roc_auc_score(given["y"], risk)) < 1e-12
    parts = {
        "alone": {},
        "in groups": {"groups": np.arange(n) // 3},
        "in subgroups": {"by": rng.integers(0, 8, n)},
        "over time": {"time": np.datetime64("2024-01-01") + rng.integers(0, 730, n)},
    }
    works = {name: partial(aucrank.report, **given, **more) for name, more in parts.items()}
    medians = median_seconds(works, options.runs)
    times = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in medians.items())
    print(f"{n:,} scores: {times}; the page has {len(made.html) / 1000:,.0f} kB")


if __name__ == "__main__":
    main()
