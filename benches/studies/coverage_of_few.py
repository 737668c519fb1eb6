"""How often 95 % intervals hold an AUC, a difference and an average precision of few positives.

    python -m benches.studies.coverage_of_few
    python -m benches.studies.coverage_of_few --samples 500 --positives 5 10 --negatives 200

Scores are normal, normal with twice the spread among the positives, exponential, or five grades of
the normal ones. A row of the first table is a law and an AUC; its cells are shares of samples. The
interval "delong" is the AUC plus and minus 1.96 of DeLong's standard errors; the default is the
other. Of perfectly ranked samples, both are the exact interval.
"""

import argparse
import itertools
import warnings

import numpy as np
from aucrank.metrics import auc_compare, auc_interval, average_precision
from scipy.optimize import brentq
from scipy.stats import norm

LAWS = "normal", "wide positives", "exponential", "five grades"
AREAS = 0.6, 0.8, 0.9, 0.95, 0.99
Z = norm.ppf(0.975)
CUTS = np.array([-1.2, -0.4, 0.4, 1.2])


def auc_of_grades(shift):
    """Return the AUC of normal scores cut into five grades."""
    of_pos, of_neg = (
        np.diff(norm.cdf(np.r_[-np.inf, CUTS + shift / 2 - at, np.inf])) for at in (shift, 0)
    )
    return of_pos @ (np.cumsum(of_neg) - of_neg / 2)


def sampler(law, auc):
    """Return a function that draws scores of some rows, given whether each is positive."""
    if law == "exponential":
        return lambda rng, y, size: rng.exponential(np.where(y, auc / (1 - auc), 1), size)
    spread = 2 if law == "wide positives" else 1
    shift = norm.ppf(auc) * np.hypot(1, spread)
    if law == "five grades":
        shift = brentq(lambda shift: auc_of_grades(shift) - auc, 0, 20)
    normal = lambda rng, y, size: rng.normal(shift * y, np.where(y, spread, 1), size)  # noqa: E731
    if law != "five grades":
        return normal
    return lambda rng, y, size: np.searchsorted(CUTS + shift / 2, normal(rng, y, size))


def cell(law, auc, n_pos, n_neg, n_samples):
    """Return the shares of samples in which both intervals hold the AUC."""
    rng = np.random.default_rng([int(1000 * auc), LAWS.index(law), n_pos, n_neg])
    y, held = np.arange(n_pos + n_neg) < n_pos, np.zeros(2)
    for scores in sampler(law, auc)(rng, y, (n_samples, len(y))):
        found = auc_interval(y, scores)
        held[1] += found.low <= auc <= found.high
        if found.method == "logit":
            held[0] += abs(found.auc - auc) <= Z * found.standard_error
        else:
            held[0] += found.low <= auc <= found.high
    return held / n_samples


def areas(positives, negatives, n_samples):
    """Print the table of AUCs: "delong" and the default by the numbers of rows."""
    sizes = [(m, n or m) for m, n in itertools.product(positives, negatives)]
    print("| scores | AUC |", " | ".join(f"{m}, {n}" for m, n in sizes), "|")
    print("| --- " * (len(sizes) + 2) + "|")
    for law, auc in itertools.product(LAWS, AREAS):
        shares = [cell(law, auc, m, n, n_samples) for m, n in sizes]
        cells = [f"{plain:.2f}, {default:.2f}" for plain, default in shares]
        print("|", " | ".join([law, str(auc), *cells]), "|", flush=True)


def differences(positives, n_neg, n_samples):
    """Print the table of differences of two AUCs of the same rows, normal scores correlated .7."""
    print("\n| AUCs | positives | delong | default |\n| --- | --- | --- | --- |")
    for pair, n_pos in itertools.product(((0.8, 0.7), (0.9, 0.8), (0.95, 0.9)), positives):
        rng, held = np.random.default_rng([int(1000 * pair[0]), n_pos]), np.zeros(2)
        y = np.arange(n_pos + n_neg) < n_pos
        for _ in range(n_samples):
            shared = np.sqrt(0.7) * rng.normal(size=len(y))
            scores = [
                norm.ppf(auc) * np.sqrt(2) * y + shared + np.sqrt(0.3) * rng.normal(size=len(y))
                for auc in pair
            ]
            for place, method in enumerate(("delong", "student")):
                found = auc_compare(y, *scores, method=method)
                held[place] += found.low <= pair[0] - pair[1] <= found.high
        print(
            "|",
            f"{pair[0]}, {pair[1]} | {n_pos} |",
            " | ".join(f"{s:.2f}" for s in held / n_samples),
            "|",
        )


def precisions(positives, n_neg, n_samples):
    """Print the table of average precisions of normal scores."""
    print("\n| AUC | positives | bootstrap | logit |\n| --- | --- | --- | --- |")
    for auc, n_pos in itertools.product((0.8, 0.95), positives):
        shift = norm.ppf(auc) * np.sqrt(2)
        at = np.linspace(-8, 8 + shift, 200_001)
        found_pos, found_neg = n_pos * norm.sf(at - shift), n_neg * norm.sf(at)
        density = norm.pdf(at - shift)
        truth = np.average(found_pos / (found_pos + found_neg + 1e-300), weights=density)
        rng, held = np.random.default_rng([int(1000 * auc), n_pos]), np.zeros(2)
        y = np.arange(n_pos + n_neg) < n_pos
        for seed, scores in enumerate(rng.normal(shift * y, size=(n_samples, len(y)))):
            for place, method in enumerate(("bootstrap", "logit")):
                found = average_precision(
                    y, scores, method=method, n_resamples=400, random_state=seed
                )
                held[place] += found.low <= truth <= found.high
        print("|", f"{auc} | {n_pos} |", " | ".join(f"{s:.2f}" for s in held / n_samples), "|")


def main():
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--positives", type=int, nargs="+", default=[5, 10, 20, 30, 100])
    parser.add_argument(
        "--negatives", type=int, nargs="+", default=[0, 200, 2000], help="0: as many as positives"
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    areas(arguments.positives, arguments.negatives, arguments.samples)
    differences(arguments.positives, 200, arguments.samples)
    precisions(arguments.positives, 200, arguments.samples // 4)


if __name__ == "__main__":
    main()
