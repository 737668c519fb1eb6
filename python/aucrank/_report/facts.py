"""The facts of a report, as plain numbers: measurements of scores on labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aucrank._report.calibration import CalibrationFacts, measure_calibration, measure_grades
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
from aucrank._report.subgroups import Subgroups, measure_subgroups
from aucrank._report.subjects import DataTable, Subject, Target
from aucrank.metrics import GradeTable
from aucrank.metrics._shift import Shift, measure_shift


@dataclass(frozen=True, eq=False, slots=True)
class ModelFacts:
    """Measurements of one model, or of scores without it.

    Attributes
    ----------
    subject : Subject
        The scores, with the model.
    ranking : Ranking
        Ranking quality.
    distribution : ScoreHistogram
        Distributions of the scores of the two classes.
    calibration : CalibrationFacts or None
        Calibration of its probabilities; None without probabilities.
    grades : GradeTable or None
        Grades of its probabilities; None without these, or without bounds.
    cut_offs : list of CutOff
        Cut-offs of its score.
    effects : Effects or None
        Effects of the columns; None without the model.
    shift : Shift or None
        Shift of its scores from those of the training data; None without them.
    unknown : dict of str to float
        Share of rows with a category unknown to it, by categorical column.
    """

    subject: Subject
    ranking: Ranking
    distribution: ScoreHistogram
    calibration: CalibrationFacts | None
    grades: GradeTable | None
    cut_offs: list[CutOff]
    effects: Effects | None
    shift: Shift | None
    unknown: dict[str, float]

    @property
    def name(self) -> str:
        """Name of the model or of the score."""
        return self.subject.name

    @property
    def is_fitted(self) -> bool:
        """Whether the model is known, and not only its scores."""
        return self.subject.model is not None


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
        One for each model and score, in the order in which they were passed.
    comparisons : list of Comparison or None
        One for each pair of these; None where a class has one row.
    columns : list of ColumnFacts
        Contents of the columns; empty where only scores are known.
    overlap : Overlap or None
        Rows that are also training rows; None without training data.
    n_training : int or None
        Number of training rows; None without their columns.
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

    @property
    def noun(self) -> str:
        """What the page is about: "model", or "score" if some models are not known."""
        return "model" if all(model.is_fitted for model in self.models) else "score"


def measure(
    subjects: Sequence[Subject],
    target: Target,
    options: Options,
    tables: Sequence[DataTable] = (),
) -> ReportFacts:
    """Measure all facts of a report.

    Parameters
    ----------
    subjects : sequence of Subject
        The models and scores.
    target : Target
        Labels and weights of the rows.
    options : Options
        Options of the report.
    tables : sequence of DataTable, default=()
        Columns of the rows: those that each model takes, where they differ.
    """
    columns: dict[str, ColumnFacts] = {}
    overlap = None
    for table in tables:
        found, of_rows = look_at_columns(table.rows, table.training)
        columns |= {column.name: column for column in found if column.name not in columns}
        overlap = overlap or of_rows
    training = next((table.training for table in tables if table.training is not None), None)
    return ReportFacts(
        options=options,
        n_rows=len(target.positive),
        n_positive=int(target.positive.sum()),
        prevalence=target.prevalence,
        is_weighted=target.weight is not None,
        labels=target.labels,
        models=[_measure_model(subject, target, options) for subject in subjects],
        comparisons=compare_all(subjects, target, options),
        columns=list(columns.values()),
        overlap=overlap,
        n_training=None if training is None else training.n_rows,
        n_groups=target.n_groups,
        subgroups=measure_subgroups(subjects, target, options.confidence),
        periods=measure_periods(subjects, target, options.confidence),
    )


def _measure_model(subject: Subject, target: Target, options: Options) -> ModelFacts:
    ranking = measure_ranking(subject.scores, target, options)
    calibration = grades = None
    if subject.probability is not None:
        of_scored = target.take(subject.probability_of)
        calibration = measure_calibration(subject.probability, of_scored, options.confidence)
        grades = measure_grades(subject.probability, of_scored, options)
    model = subject.model
    schema = None if model is None else getattr(model.estimator, "_schema", None)
    return ModelFacts(
        subject=subject,
        ranking=ranking,
        distribution=measure_distribution(subject.scores, target),
        calibration=calibration,
        grades=grades,
        cut_offs=find_cut_offs(subject, ranking.curve, ranking.ks_knot, target, options),
        effects=measure_effects(subject, target, options.seed),
        shift=None if subject.then is None else _score_shift(subject.scores, subject.then),
        unknown={} if model is None or schema is None else unknown_to(schema, model.rows),
    )


def _score_shift(now: NDArray[np.float64], then: NDArray[np.float64]) -> Shift:
    """Compare the scores with those of the training rows, in tenths of the latter."""
    inner = tenths(then)
    counts = [
        np.bincount(number_bins(scores, inner), minlength=len(inner) + 2).astype(np.float64)
        for scores in (then, now)
    ]
    return measure_shift(counts[0], counts[1], len(then), len(now))
