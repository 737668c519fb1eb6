"""How often 95 % intervals of rows in groups hold what they are for.

    python -m benches.studies.coverage_of_groups coverage.csv
    python -m benches.studies.coverage_of_groups coverage.csv --summary

Normal scores of ten rows a group, which share a part of their variance, the intraclass correlation;
labels are those of the groups, or of the rows. The truth is that of rows of different groups, but
for folds, of whose pairs some are within a group: these are in the AUC of a fold.
Results are appended to the file a hundred samples at a time; what it has is not computed again.
"""

import argparse
import csv
import itertools
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from aucrank.metrics import auc_compare, auc_interval, cross_validated_auc, roc_band
from scipy.integrate import quad
from scipy.stats import norm

N_ROWS = 10
SHIFTS = 1.5, 1.0
PART = 0.0, 0.2
AT = np.array([0.1, 0.3, 0.6])
BATCH = 100
FIELDS = ("interval", "labels", "correlation", "n_groups", "first", "samples", "held", "length")


def sample(rng, labels, correlation, n_groups):
    """Return labels, two scores and groups."""
    group = np.repeat(np.arange(n_groups), N_ROWS)
    y = rng.random(n_groups)[group] < 0.5 if labels == "groups" else rng.random(len(group)) < 0.5
    scores = []
    # Both scores see the same groups, as two readers do.
    shared = rng.normal(size=n_groups)[group]
    for shift in SHIFTS:
        own = np.sqrt(0.5) * (shared + rng.normal(size=n_groups)[group])
        noise = rng.normal(size=len(group))
        scores.append(shift * y + np.sqrt(correlation) * own + np.sqrt(1 - correlation) * noise)
    return y, *scores, group


def folds(y, group):
    """Deal groups to five folds, those with more positive rows first."""
    share = np.bincount(group, y) / np.bincount(group)
    place = np.empty(len(share), int)
    place[np.argsort(share, kind="stable")] = np.arange(len(share)) % 5
    return place[group]


def truth_within(y, fold, group, correlation):
    """Return the mean AUC that folds have, of whose pairs some are within a group."""
    apart, within = (norm.cdf(SHIFTS[0] / np.sqrt(2 * noise)) for noise in (1, 1 - correlation))
    found = []
    for number in np.unique(fold):
        counts = [
            np.bincount(group[(fold == number) & own], minlength=group.max() + 1) for own in (y, ~y)
        ]
        share = counts[0] @ counts[1] / (counts[0].sum() * counts[1].sum())
        found.append(share * within + (1 - share) * apart)
    return np.mean(found)


def truths():
    """Return the two AUCs, the partial area and the curve."""
    areas = [norm.cdf(shift / np.sqrt(2)) for shift in SHIFTS]
    part = quad(lambda f: norm.sf(norm.isf(f) - SHIFTS[0]), *PART)[0]
    grid = np.linspace(0, 1, 101)
    return areas, part, norm.sf(norm.isf(AT) - SHIFTS[0]), norm.sf(norm.isf(grid) - SHIFTS[0])


def intervals(seed, labels, correlation, n_groups):
    """Yield the name of each interval, whether it holds the truth, and its length."""
    y, first, second, group = sample(np.random.default_rng(seed), labels, correlation, n_groups)
    areas, part, at, curve = truths()
    fold = folds(y, group)
    drawn = {"n_resamples": 500, "random_state": seed}
    found = {
        "AUC, rows apart": (auc_interval(y, first), areas[0]),
        "AUC": (auc_interval(y, first, groups=group), areas[0]),
        "AUC, delong": (auc_interval(y, first, groups=group, method="delong"), areas[0]),
        "AUC, bootstrap": (
            auc_interval(y, first, groups=group, method="bootstrap", **drawn),
            areas[0],
        ),
        "difference": (auc_compare(y, first, second, groups=group), areas[0] - areas[1]),
        "partial area": (auc_interval(y, first, groups=group, fpr=PART), part),
        "partial area, delong": (
            auc_interval(y, first, groups=group, fpr=PART, method="delong"),
            part,
        ),
        "cross-validated": (
            cross_validated_auc(y, first, fold, groups=group),
            truth_within(y, fold, group, correlation),
        ),
    }
    for name, (interval, truth) in found.items():
        yield name, interval.low <= truth <= interval.high, interval.high - interval.low
    band = roc_band(y, first, groups=group, fpr=AT, **drawn)
    held = np.mean((band.low <= at) & (at <= band.high))
    yield "band, pointwise", held, np.mean(band.high - band.low)
    band = roc_band(y, first, groups=group, method="simultaneous")
    held = np.all((band.low <= curve + 1e-12) & (curve - 1e-12 <= band.high))
    yield "band, simultaneous", held, np.mean(band.high - band.low)


def batch(design, first):
    """Return a row of the file for each interval."""
    held, length, samples = defaultdict(float), defaultdict(float), defaultdict(int)
    for seed in range(first, first + BATCH):
        try:
            for name, is_in, reach in intervals(seed, *design):
                held[name] += is_in
                length[name] += reach
                samples[name] += 1
        except ValueError:
            # A fold, or all of the groups, without a class.
            continue
    return [
        dict(
            zip(
                FIELDS, (name, *design, first, samples[name], held[name], length[name]), strict=True
            )
        )
        for name in held
    ]


def summary(path):
    """Print a table of the shares of samples in which each interval held the truth."""
    held, samples, designs = defaultdict(float), defaultdict(int), {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            design = row["labels"], row["correlation"], int(row["n_groups"])
            designs[design] = None
            held[row["interval"], design] += float(row["held"])
            samples[row["interval"], design] += int(row["samples"])
    names = list(dict.fromkeys(name for name, _ in held))
    print("| labels of | correlation | groups |", " | ".join(names), "| samples |")
    print("| --- " * (len(names) + 4) + "|")
    for design in designs:
        shares = [f"{held[name, design] / samples[name, design]:.3f}" for name in names]
        print("|", " | ".join([*map(str, design), *shares]), f"| {samples['AUC', design]} |")


def main():
    """Add samples to the file, or print what it says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--summary", action="store_true")
    arguments = parser.parse_args()
    if arguments.summary:
        summary(arguments.path)
        return
    warnings.simplefilter("ignore")
    done = set()
    if arguments.path.exists():
        with arguments.path.open(newline="") as file:
            for row in csv.DictReader(file):
                done.add((row["labels"], row["correlation"], row["n_groups"], row["first"]))
    else:
        with arguments.path.open("w", newline="") as file:
            csv.DictWriter(file, FIELDS).writeheader()
    designs = list(itertools.product(("groups", "rows"), (0.0, 0.3, 0.8), (30, 100)))
    for first, design in itertools.product(range(0, arguments.samples, BATCH), designs):
        if (*map(str, design), str(first)) in done:
            continue
        rows = batch(design, first)
        with arguments.path.open("a", newline="") as file:
            csv.DictWriter(file, FIELDS).writerows(rows)


if __name__ == "__main__":
    main()
