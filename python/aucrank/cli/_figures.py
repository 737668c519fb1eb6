"""Figures of scores, as `aucrank evaluate` prints them."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aucrank._page.formats import is_p
from aucrank._report.calibration import CalibrationFacts, measure_calibration
from aucrank._report.comparison import compare_all
from aucrank._report.options import Options
from aucrank._report.periods import periods_of
from aucrank._report.subgroups import measure_parts, split_by
from aucrank._report.subjects import Subject, Target
from aucrank._utils.plain_text import shown
from aucrank._utils.words import plural
from aucrank.cli._text import aligned, heading
from aucrank.metrics import RocCurve, auc_interval

#: Level of the intervals.
CONFIDENCE = 0.95

#: False positive rates at which true positive rates are printed.
FPRS = (0.01, 0.05, 0.10, 0.20)

# Figures of a calibration, and what their columns are called.
_MEASURES = {"observed_to_expected": "O:E", "intercept": "intercept", "slope": "slope"}


def say_scores(
    args: argparse.Namespace, subjects: Sequence[Subject], target: Target, options: Options
) -> None:
    """Print how well scores rank, whether they differ, and the calibration of probabilities."""
    of_groups = "" if target.groups is None else f", of groups by {shown(args.group)}"
    intervals = [
        auc_interval(
            target.positive,
            subject.scores,
            sample_weight=target.weight,
            groups=target.groups,
            confidence=options.confidence,
        )
        for subject in subjects
    ]
    names = [shown(subject.name) for subject in subjects]
    print(heading(f"AUC, with its {options.confidence:.0%} interval{of_groups}"))
    bounds = {name: [getattr(own, name) for own in intervals] for name in ("auc", "low", "high")}
    print(aligned({"score": names, **bounds}))
    print(heading("TPR at an FPR"))
    rates = {
        name: [f"{rate:.1%}" for rate in _rates(subject, target)]
        for name, subject in zip(names, subjects, strict=True)
    }
    print(aligned({"FPR": [f"{fpr:.0%}" for fpr in FPRS], **rates}))
    if len(subjects) > 1:
        _say_differences(subjects, target, options)
    known = {
        name: measure_calibration(
            subject.probability, target.take(subject.probability_of), options.confidence
        )
        for name, subject in zip(names, subjects, strict=True)
        if subject.probability is not None
    }
    if known:
        n_drawn = next(of.n_drawn for of in subjects if of.probability is not None)
        of_rows = "" if n_drawn is None else f", of {plural(n_drawn, 'row')} drawn at random"
        print(heading(f"Calibration{of_rows}"))
        print(_calibrations(known))


def _rates(subject: Subject, target: Target) -> list[float]:
    curve = RocCurve.from_scores(target.positive, subject.scores, sample_weight=target.weight)
    rates: list[float] = np.atleast_1d(curve.tpr_at(FPRS)).tolist()
    return rates


def _say_differences(subjects: Sequence[Subject], target: Target, options: Options) -> None:
    found = compare_all(subjects, target, options)
    if found is None:
        print("a class has one row or group, so the scores cannot be compared")
        return
    level = f"{options.confidence:.0%}"
    together = "" if len(found) == 1 else f", adjusted for {len(found)} pairs"
    print(heading(f"Differences of the AUC, with their {level} intervals{together}"))
    print(
        aligned(
            {
                "scores": [f"{shown(one.first)} less {shown(one.second)}" for one in found],
                "difference": [one.test.difference for one in found],
                "low": [one.test.low for one in found],
                "high": [one.test.high for one in found],
                "p": [one.adjusted for one in found],
            }
        )
    )


def _calibrations(known: dict[str, CalibrationFacts]) -> str:
    tables = [found.curve.measures for found in known.values()]
    columns: dict[str, list[Any]] = {"score": list(known)}
    for measure, called in _MEASURES.items():
        places = [table["measure"].tolist().index(measure) for table in tables]
        columns[called] = [
            _with_interval(*(float(table[name][at]) for name in ("value", "low", "high")))
            for table, at in zip(tables, places, strict=True)
        ]
    columns["Brier"] = [found.brier for found in known.values()]
    columns["ICI"] = [float(found.curve.ici) for found in known.values()]
    return aligned(columns)


def _with_interval(value: float, low: float, high: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f} ({low:.3f} to {high:.3f})"


def say_parts(args: argparse.Namespace, subject: Subject, target: Target, of: str = "") -> None:
    """Print the figures of subgroups and of periods.

    Parameters
    ----------
    args : argparse.Namespace
        Arguments of the command.
    subject : Subject
        The scores.
    target : Target
        Labels of the rows, with their times and subgroups.
    of : str, default=""
        What the headings call the scores, where there are several.
    """
    splits = [split_by(name, values) for name, values in target.by.items()]
    if target.time is not None:
        splits.append(replace(periods_of(target.time, target.positive), name=args.time))
    for split in splits:
        found = measure_parts(subject, target, split, CONFIDENCE)
        ranking = found.ranking
        table: dict[str, Any] = {
            "n": split.sizes,
            "n_pos": np.bincount(split.codes, target.positive, len(split.labels))
            .astype(np.intp)
            .tolist(),
        }
        table |= {name: ranking.table[name].tolist() for name in ("auc", "low", "high")}
        if found.calibration is not None:
            table["O:E"] = [value for value, _, _ in found.calibration["observed_to_expected"]]
        # The column of the parts is the first, whatever its name.
        whose = f" of {shown(of)}" if of else ""
        print(heading(f"AUC{whose} by {shown(split.name)}, with its {CONFIDENCE:.0%} interval"))
        print(aligned({"part": [shown(label) for label in split.labels], **table}))
        if not np.isnan(ranking.p_value):
            print(f"equal AUCs: p {is_p(ranking.p_value)}")
        if not np.isnan(ranking.auc_between):
            print(
                f"AUC within {ranking.auc_within:.4f}, between {ranking.auc_between:.4f}"
                f" ({ranking.share_within:.1%} of pairs are within)"
            )
