"""ThresholdBinarizer against numpy's percentiles and scikit-learn's KBinsDiscretizer.

    python -m benches.speed.bench_binarizer [--rows 1000000] [--features 20] [--runs 5]
        [--json FILE]

1. Fits of several kinds of columns against ``np.percentile`` of what is known of each, one thread
   each.
2. The terms of a tenth of the rows, dense and sparse, against the one-hot bins of
   ``KBinsDiscretizer(20, strategy="quantile", encode="onehot-dense")``, 20 columns a feature.

All take turns, and ratios are those of the medians. Before anything is timed, thresholds are
checked against ``np.percentile``, the number of terms that are on against the number of the bin,
and terms not to depend on the number of threads.
"""

import json
from functools import partial

import numpy as np
from aucrank import ThresholdBinarizer
from sklearn.preprocessing import KBinsDiscretizer

from benches.common.options import make_parser
from benches.common.timing import median_seconds

EVERY_FIFTH = np.arange(5, 100, 5)


def kinds(n_rows, n_features):
    """Return the matrices that are fitted, each with whether rows have weights."""
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(size=(n_rows, n_features)))
    missing = X.copy(order="F")
    missing[rng.random(X.shape) < 0.3] = np.nan
    spike = X.copy(order="F")
    spike[rng.random(X.shape) < 0.3] = 0.0
    return {
        "float64 by column": (X, False),
        "float64 by row": (np.ascontiguousarray(X), False),
        "float32 by column": (X.astype(np.float32), False),
        "weighted": (X, True),
        "30% missing": (missing, False),
        "30% imputed": (spike, False),
        "heavy tails": (np.asfortranarray(rng.standard_cauchy(X.shape) ** 3), False),
        "200 values": (np.asfortranarray(np.round(X * 20) / 20), False),
        "10 values": (np.asfortranarray(rng.integers(0, 10, X.shape).astype(float)), False),
    }


def bins():
    """Return scikit-learn's bins between the same thresholds."""
    return KBinsDiscretizer(
        20,
        strategy="quantile",
        quantile_method="linear",
        encode="onehot-dense",
        subsample=None,
    )


def check(n_features):
    """Assert what must hold of any fit."""
    X = np.random.default_rng(1).normal(size=(20_000, n_features))
    one, two = (ThresholdBinarizer(n_jobs=n_jobs).fit(X) for n_jobs in (1, 2))
    for first, second, column in zip(one.thresholds_, two.thresholds_, X.T, strict=True):
        expected = np.percentile(column, EVERY_FIFTH)
        assert np.array_equal(first, expected)
        assert np.array_equal(second, expected)
    on = one.transform(X).reshape(len(X), n_features, -1).sum(axis=2)
    number = bins().fit_transform(X).reshape(len(X), n_features, -1).argmax(axis=2)
    assert np.array_equal(on, number)


def percentiles(columns):
    """Take the percentiles that a fit takes."""
    return [np.percentile(column, EVERY_FIFTH) for column in columns]


def bench_fits(n_rows, n_features, n_runs):
    """Print fits against percentiles; return the seconds of each."""
    results = {}
    weight = np.random.default_rng(2).integers(1, 4, n_rows).astype(float)
    for name, (X, has_weight) in kinds(n_rows, n_features).items():
        columns = [column[~np.isnan(column)] for column in X.T]
        model = ThresholdBinarizer(n_jobs=1)
        works = {
            "percentiles": partial(percentiles, columns),
            "fit": partial(model.fit, X, None, weight if has_weight else None),
        }
        found = results[name] = median_seconds(works, n_runs)
        ratio = found["fit"] / found["percentiles"]
        print(f"fit, {name}: {found['fit']:.3f} s, {ratio:.2f} times np.percentile")
    return results


def bench_transforms(n_rows, n_features, n_runs):
    """Print terms against one-hot bins; return the seconds of each."""
    X = np.random.default_rng(3).normal(size=(n_rows, n_features))
    theirs = bins().fit(X)
    ours = {
        "dense float64": ThresholdBinarizer(n_jobs=1),
        "dense uint8": ThresholdBinarizer(n_jobs=1, dtype="uint8"),
        "sparse float64": ThresholdBinarizer(n_jobs=1, sparse_output=True),
    }
    for model in ours.values():
        model.fit(X)
    models = {"KBinsDiscretizer": theirs, **ours}
    works = {name: partial(model.transform, X) for name, model in models.items()}
    results = median_seconds(works, n_runs)
    for name in ours:
        ratio = results["KBinsDiscretizer"] / results[name]
        print(f"transform, {name}: {results[name]:.3f} s, KBinsDiscretizer takes {ratio:.1f} times")
    return results


def main():
    """Run all of it."""
    args = make_parser(__doc__, rows=1_000_000, features=20, runs=5).parse_args()
    check(args.features)
    results = {
        "fit": bench_fits(args.rows, args.features, args.runs),
        "transform": bench_transforms(args.rows // 10, args.features, args.runs),
    }
    if args.json:
        args.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
