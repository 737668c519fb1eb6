"""The facts of a report, as plain numbers: measurements of models on labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._base.external import known_scores
from aucrank._report.calibration import CalibrationFacts, measure_calibration
from aucrank._report.columns import (
    ColumnFacts,
    Overlap,
    look_at_columns,
    number_bins,
    tenths,
    unknown_to,
)
from aucrank._report.comparison import Comparison, compare_all
from aucrank._report.cutoffs import CutOff, find_cut_offs
from aucrank._report.distribution import ScoreHistogram, measure_distribution
from aucrank._report.effects import Effects, measure_effects
from aucrank._report.options import Options
from aucrank._report.periods import Periods, measure_periods
from aucrank._report.ranking import Ranking, measure_ranking
from aucrank._report.rows import UserRows
from aucrank._report.subgroups import Subgroups, measure_subgroups
from aucrank._report.subjects import Subject, Target
from aucrank.metrics._shift import Shift, measure_shift


@dataclass(frozen=True, eq=False, slots=True)
class ModelFacts:
    """Measurements of one model.

    Attributes
    ----------
    subject : Subject
        The model, with its scores.
    ranking : Ranking
        Ranking quality.
    distribution : ScoreHistogram
        Distributions of the scores of the two classes.
    calibration : CalibrationFacts or None
        Calibration of its probabilities; None for a model without probabilities.
    cut_offs : list of CutOff
        Cut-offs of its score.
    effects : Effects
        Effects of the columns.
    shift : Shift or None
        Shift of its scores from those of the training data; None without them.
    unknown : dict of str to float
        Share of rows with a category unknown to it, by categorical column.
    """

    subject: Subject
    ranking: Ranking
    distribution: ScoreHistogram
    calibration: CalibrationFacts | None
    cut_offs: list[CutOff]
    effects: Effects
    shift: Shift | None
    unknown: dict[str, float]

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.subject.name


@dataclass(frozen=True, eq=False, slots=True)
class ReportFacts:
    """All facts of a report.

    Attributes
    ----------
    options : Options
        Options of the report.
    n_rows, n_positive : int
        Number of rows, and of positive ones.
    prevalence : float
        Share of the positive class in the weight of all rows.
    is_weighted : bool
        Whether rows have weights.
    labels : tuple of two str
        Names of the negative and the positive class.
    models : list of ModelFacts
        One for each model, in the order in which they were passed.
    comparisons : list of Comparison or None
        One for each pair of models; None where a class has one row.
    columns : list of ColumnFacts
        Contents of the columns.
    overlap : Overlap or None
        Rows that are also training rows; None without training data.
    n_training : int or None
        Number of training rows.
    n_groups : int or None
        Number of groups of rows; None without groups.
    subgroups : list of Subgroups
        Measurements in subgroups, for each column that was named.
    periods : Periods or None
        Measurements over time; None without times.
    """

    options: Options
    n_rows: int
    n_positive: int
    prevalence: float
    is_weighted: bool
    labels: tuple[str, str]
    models: list[ModelFacts]
    comparisons: list[Comparison] | None
    columns: list[ColumnFacts]
    overlap: Overlap | None
    n_training: int | None
    n_groups: int | None
    subgroups: list[Subgroups]
    periods: Periods | None

    @property
    def n_negative(self) -> int:
        """Number of rows of the negative class."""
        return self.n_rows - self.n_positive


def measure(
    subjects: Sequence[Subject],
    target: Target,
    options: Options,
    training: Sequence[UserRows] | None = None,
) -> ReportFacts:
    """Measure all facts of a report.

    Parameters
    ----------
    subjects : sequence of Subject
        The models. If they take different columns, the columns of all are summarised.
    target : Target
        Labels and weights of the rows.
    options : Options
        Options of the report.
    training : sequence of UserRows, default=None
        Training rows of each model, as it takes them.
    """
    then = None
    if training is not None:
        then = [
            known_scores(subject.estimator, rows.native)
            for subject, rows in zip(subjects, training, strict=True)
        ]
    models = [
        _measure_model(subject, target, options, None if then is None else then[place])
        for place, subject in enumerate(subjects)
    ]
    columns: dict[str, ColumnFacts] = {}
    overlap = None
    seen: list[Any] = []
    for place, subject in enumerate(subjects):
        # Rows that several models share are summarised once.
        if any(subject.rows is rows for rows in seen):
            continue
        seen.append(subject.rows)
        found, of_rows = look_at_columns(
            subject.rows, None if training is None else training[place]
        )
        columns |= {column.name: column for column in found if column.name not in columns}
        overlap = overlap or of_rows
    return ReportFacts(
        options=options,
        n_rows=len(target.positive),
        n_positive=int(target.positive.sum()),
        prevalence=target.prevalence,
        is_weighted=target.weight is not None,
        labels=target.labels,
        models=models,
        comparisons=compare_all(subjects, target, options),
        columns=list(columns.values()),
        overlap=overlap,
        n_training=None if training is None else training[0].n_rows,
        n_groups=target.n_groups,
        subgroups=measure_subgroups(subjects, target, options.confidence),
        periods=measure_periods(subjects, target, options.confidence, then),
    )


def _measure_model(
    subject: Subject, target: Target, options: Options, then: NDArray[np.float64] | None
) -> ModelFacts:
    ranking = measure_ranking(subject.scores, target, options)
    calibration = None
    if subject.probability is not None:
        calibration = measure_calibration(
            subject.probability, target.take(subject.probability_of), options.confidence
        )
    schema = getattr(subject.estimator, "_schema", None)
    return ModelFacts(
        subject=subject,
        ranking=ranking,
        distribution=measure_distribution(subject.scores, target),
        calibration=calibration,
        cut_offs=find_cut_offs(subject, ranking.curve, ranking.ks_knot, target, options),
        effects=measure_effects(subject, target, options.seed),
        shift=None if then is None else _score_shift(subject.scores, then),
        unknown={} if schema is None else unknown_to(schema, subject.rows),
    )


def _score_shift(now: NDArray[np.float64], then: NDArray[np.float64]) -> Shift:
    """Compare the scores with those of the training rows, in tenths of the latter."""
    inner = tenths(then)
    counts = [
        np.bincount(number_bins(scores, inner), minlength=len(inner) + 2).astype(np.float64)
        for scores in (then, now)
    ]
    return measure_shift(counts[0], counts[1], len(then), len(now))
