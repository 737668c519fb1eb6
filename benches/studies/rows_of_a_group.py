"""In how many samples of rows in groups an interval of the AUC holds the true one.

    python -m benches.studies.rows_of_a_group

Groups are patients, of whom each has a label or both, and a score of its own that its rows share
but for a little noise. The true AUC is that of rows of different patients. One line a design:
the share of samples in which the interval without and with groups, by each method, holds it.
"""

import argparse
import warnings
from statistics import NormalDist

import numpy as np
from aucrank.metrics import auc_interval


def sample(rng, n_groups, n_rows, both):
    """Return labels, scores and groups; with ``both``, labels of a patient differ."""
    group = np.repeat(np.arange(n_groups), n_rows)
    own = rng.normal(size=n_groups)
    label = rng.random(len(group)) < 0.5 if both else (rng.random(n_groups) < 0.5)[group]
    return label, label + own[group] + 0.05 * rng.normal(size=len(group)), group


def main():
    """Print a line for each design."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1000)
    n_samples = parser.parse_args().samples
    warnings.simplefilter("ignore")
    true = NormalDist().cdf(1 / np.sqrt(2 + 2 * 0.05**2))
    print("groups  rows  labels   plain  delong  logit  bootstrap")
    for n_groups, n_rows, both in (
        (40, 25, False),
        (200, 5, False),
        (40, 25, True),
        (200, 5, True),
    ):
        held = np.zeros(4)
        for seed in range(n_samples):
            y, score, group = sample(np.random.default_rng(seed), n_groups, n_rows, both)
            intervals = [
                auc_interval(y, score),
                auc_interval(y, score, groups=group),
                auc_interval(y, score, groups=group, method="logit"),
                auc_interval(
                    y, score, groups=group, method="bootstrap", n_resamples=200, random_state=seed
                ),
            ]
            held += [one.low <= true <= one.high for one in intervals]
        shares = "  ".join(f"{share:6.3f}" for share in held / n_samples)
        print(f"{n_groups:6} {n_rows:5}  {'both' if both else 'one':6} {shares}")


if __name__ == "__main__":
    main()
