"""The public interface of reports."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike

from aucrank._data.column_warnings import each_column_named_once
from aucrank._data.table import Table
from aucrank._page.page import import_jinja
from aucrank._report.cautions import cautions_of
from aucrank._report.columns import check_same_columns
from aucrank._report.facts import ReportFacts, measure
from aucrank._report.given import read_given
from aucrank._report.options import Options, read_options
from aucrank._report.page import write_page
from aucrank._report.rows import UserRows
from aucrank._report.subgroups import MEASURES, PartFacts, Split
from aucrank._report.subjects import (
    DataTable,
    FittedModel,
    GivenScores,
    Target,
    name_models,
    read_target,
    with_parts,
)
from aucrank._report.words import one_line, summary_of
from aucrank._utils.files import write_atomically
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.plain_text import shown


class Report:
    """Result of :func:`report`: a page about models and scores, and its main figures.

    In a notebook it shows the page.

    Parameters
    ----------
    facts : ReportFacts
        All measured facts.

    Attributes
    ----------
    html : str
        The page: one self-contained HTML file that loads nothing from a network.
    models : Table
        One row for each model and score: ``model``, its name; ``auc`` with its interval ``low`` to
        ``high``; ``gini``, ``ks``, ``hull_auc``; ``partial_auc``, standardised, over the false
        positive rates up to ``max_fpr``; ``brier``, NaN without probabilities.
    one_line : str
        The gist: how many rows, and the best model with its AUC and interval.
    summary : str
        The summary of the page in words, one paragraph per line.
    warnings : list of str
        Warnings that the page shows first.
    subgroups : Table or None
        One row for each model and subgroup: ``by``, ``subgroup``, ``model``; ``size`` and
        ``positives``, weights of the rows; ``auc`` with its interval ``low`` to ``high``;
        ``intercept``, ``slope`` and ``observed_to_expected`` of the probabilities. None without
        ``by``.
    periods : Table or None
        One row for each model and period: ``period`` in place of ``by`` and ``subgroup``, and with
        ``observed`` and ``expected``, shares of positives, and ``psi`` of the score. None without
        ``time``.

    Examples
    --------
    >>> from aucrank import RIMARC, report
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RIMARC().fit(X[:300], y[:300])
    >>> found = report(model, X[300:], y[300:])
    >>> print(found.summary.split(". ")[0])
    One model is judged by 269 rows: 66 of class 1, the positive one, and 203 of class 0
    """

    def __init__(self, facts: ReportFacts) -> None:
        self.one_line = one_line(facts)
        self.html = write_page(facts)
        self.models = _models_table(facts)
        self.summary = "\n".join(summary_of(facts))
        self.warnings = cautions_of(facts)
        self.subgroups = _subgroups_table(facts)
        self.periods = _periods_table(facts)

    def __repr__(self) -> str:
        return f"<Report of {shown(self.one_line)}>"

    def _repr_html_(self) -> str:
        # The page has its own styles, so it is shown in a frame.
        return (
            '<iframe title="Report of models" sandbox="allow-scripts allow-modals"'
            ' style="width: 100%; height: 80vh; border: 1px solid #888"'
            f' srcdoc="{escape(self.html)}"></iframe>'
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file atomically.

        Parameters
        ----------
        path : str or path-like
            Where to write; an older file of that name is replaced.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        write_atomically(path, self.html)


@suggests_keywords
def report(
    models: Any = None,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    scores: Any = None,
    probabilities: Any = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    time: ArrayLike | None = None,
    by: Any = None,
    names: Sequence[str] | None = None,
    path: str | os.PathLike[str] | None = None,
    X_train: Any = None,
    scores_train: Any = None,
    costs: Mapping[str, float] | None = None,
    grades: ArrayLike | None = None,
    max_fpr: float = 0.1,
    confidence: float = 0.95,
    title: str | None = None,
    timestamp: datetime | None = None,
    random_state: int | RandomState | None = 0,
) -> Report:
    """Report how well models or scores rank labelled rows, as one HTML page to hand over.

    The page has a summary in words; the ROC curve with a band and its hull, the AUC with its
    interval, partial areas, and paired tests; gains, lift and KS; the scores by class; calibration,
    net benefit and grades of probabilities; the cheapest cut-offs; subgroups and the course over
    time, if given; the contents of the columns and their shift from the training data; and the
    models themselves: importance of the columns, partial dependence, and the description of each
    model, such as strata or points. What it lacks, and why, is listed at its end. Warnings come
    first. The page loads nothing from a network, prints on A4, and can be read on a phone, with a
    keyboard and by a screen reader.

    Parameters
    ----------
    models : estimator, list of estimators or dict of str to estimator, default=None
        Fitted models: rankers of this package, or classifiers of any other that score rows by
        ``decision_function`` or ``predict_proba``. With ``scores``, one to eight in all.
    X : array-like or data frame of shape (n_samples, n_features), default=None
        Rows as the models take them, preferably ones that no model was fitted to. Scores need none;
        with them the page shows the contents of the columns.
    y : array-like of shape (n_samples,)
        Labels of the rows, of two classes; the greater one is positive, as for the models.
    scores : array-like of shape (n_samples,), dict of str to array-like or data frame, default=None
        Scores of the rows by models that are not here, such as those of a vendor; a dict or a frame
        for several, by name. Higher is more positive.
    probabilities : "scores", list of str, dict of str to array-like, or data frame, default=None
        Probabilities of the positive class, for calibration and net benefit: ``"scores"`` if all
        scores are some, the names of those that are, or the probabilities that belong to scores, by
        their names; an array if there is one score. ``None`` takes no score for a probability.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row. Rows of weight 0 are ignored.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a patient. Intervals, bands and tests are then
        based on whole groups.
    time : array-like of shape (n_samples,), default=None
        Time of each row, in numbers or dates: the page then has a chapter on months, quarters or
        years, or on ranges with about equal numbers of rows.
    by : array-like of shape (n_samples,), dict of str to array-like, or data frame, default=None
        Subgroup of each row, such as the hospital or the sex; a dict or a frame for several named
        splits. Numbers with more than 12 values are split at their quartiles.
    names : list of str, default=None
        Names of the models; ``None`` takes their classes, or the keys of a dict.
    path : str or path-like, default=None
        File to write the page to as well.
    X_train : array-like or data frame of shape (n_samples_train, n_features), default=None
        Rows that the models were fitted to. With them, the page shows what has shifted since, and
        whether rows of ``X`` are among them.
    scores_train : array-like of shape (n_samples_train,), dict, or data frame, default=None
        Scores of other rows, such as those of the fit or of last year, by the names of ``scores``:
        the page then shows how far these have moved.
    costs : dict, default=None
        Costs of errors: ``{"false_positive": 1, "false_negative": 5}``. ``None`` shows a few usual
        ratios.
    grades : array-like of shape (n_grades - 1,), default=None
        Rising probabilities, above 0 and below 1, at which the grades of a rating begin: each is
        tested. ``None`` has no grades.
    max_fpr : float, default=0.1
        Greatest false positive rate of the partial area, in (0, 1]; the other one is over the
        true positive rates from ``1 - max_fpr`` on.
    confidence : float, default=0.95
        Level of intervals and bands, in (0, 1).
    title : str, default=None
        Heading; ``None`` makes one of the names.
    timestamp : datetime, default=None
        Time stamp of the report. None leaves it out, so that equal models and rows give equal
        pages.
    random_state : int, RandomState instance or None, default=0
        Seed of the sample of rows whose columns are shuffled, and of the folds in which cut-offs
        are evaluated.

    Returns
    -------
    Report
        With ``html``, ``save(path)``, and the main figures as a table.

    Raises
    ------
    ImportError
        If jinja2 is not installed.
    TypeError
        If there are neither models nor scores, or no labels; if a model cannot score rows, or an
        argument has an invalid type.
    ValueError
        If ``y`` does not hold the two classes of the models, a score is NaN, a probability is not
        from 0 to 1, ``X_train`` has other columns, a parameter is out of bounds, all rows of a
        class are in one group, two of the models and scores have one name, or a number of rows
        differs.

    See Also
    --------
    aucrank.metrics : The statistics of the page as functions.

    Notes
    -----
    Every figure is the value of a documented function: :func:`~aucrank.metrics.auc_interval`,
    :func:`~aucrank.metrics.auc_compare` adjusted for all pairs by Bonferroni's method [1]_,
    :func:`~aucrank.metrics.roc_band` with ``method="simultaneous"``,
    :func:`~aucrank.metrics.partial_auc`, :func:`~aucrank.metrics.calibration_curve`,
    :func:`~aucrank.metrics.decision_curve`, :func:`~aucrank.metrics.grade_table`, and in subgroups
    and periods :func:`~aucrank.metrics.auc_by` and :func:`~aucrank.metrics.calibration_curve`.
    Shares in groups of probabilities have Wilson's interval
    [2]_. The cost of the cheapest cut-off is also given for rows not used to choose it: a threshold
    looks better on the rows that it was chosen on. The importance of a column is the fall of the
    AUC when its values are shuffled [3]_, on at most 1,000 rows of each class.

    References
    ----------
    .. [1] Dunn, "Multiple comparisons among means", Journal of the American Statistical Association
       56(293), 1961. :doi:`10.1080/01621459.1961.10482090`
    .. [2] Wilson, "Probable inference, the law of succession, and statistical inference", J. Am.
       Stat. Assoc. 22(158), 1927. :doi:`10.1080/01621459.1927.10502953`
    .. [3] Breiman, "Random forests", Machine Learning 45(1), 2001.
       :doi:`10.1023/A:1010933404324`

    Examples
    --------
    >>> from aucrank import RIMARC, TreeRank, report
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> models = [RIMARC().fit(X[:300], y[:300]), TreeRank(random_state=0).fit(X[:300], y[:300])]
    >>> found = report(models, X[300:], y[300:], costs={"false_positive": 1, "false_negative": 5})
    >>> found.models.to_frame()[["model", "auc", "low", "high"]].round(3)
          model    auc    low   high
    0    RIMARC  0.996  0.987  0.999
    1  TreeRank  0.983  0.963  0.992
    >>> found.save("report.html")  # doctest: +SKIP

    Scores alone, of which one is a probability:

    >>> given = {"vendor": models[0].predict_proba(X[300:])[:, 1], "area": X["mean_area"][300:]}
    >>> found = report(y=y[300:], scores=given, probabilities=["vendor"])
    >>> found.models.to_frame()[["model", "auc", "brier"]].round(3)
        model    auc  brier
    0  vendor  0.996   0.08
    1    area  0.970    NaN
    """
    import_jinja()
    options = read_options(
        confidence=confidence,
        max_fpr=max_fpr,
        costs=costs,
        grades=grades,
        random_state=random_state,
        title=title,
        timestamp=timestamp,
    )
    if models is None and scores is None:
        raise TypeError("report() needs models, or scores=, or both")
    if y is None:
        raise TypeError("report() needs y, the labels of the rows")
    if models is None and names is not None:
        raise TypeError("names are those of models, and none are given; scores have theirs")
    if X is None and (models is not None or X_train is not None):
        raise TypeError(f"{'models need' if X_train is None else 'X_train needs'} X, the rows")
    named = {} if models is None else name_models(models, names)
    rows = None if X is None else UserRows(X)
    target = with_parts(
        read_target(named, y, sample_weight, None if rows is None else rows.n_rows),
        groups,
        time,
        by,
    )
    table = None
    if rows is not None:
        table = DataTable(rows, None if X_train is None else UserRows(X_train))
    fitted = {} if table is None else {n: FittedModel(model, table) for n, model in named.items()}
    given = read_given(scores, probabilities, scores_train, len(target.positive), list(named))
    made = make_report({**fitted, **given}, target, options, table)
    if path is not None:
        made.save(path)
    return made


def make_report(
    sources: Mapping[str, FittedModel | GivenScores],
    target: Target,
    options: Options,
    table: DataTable | None = None,
) -> Report:
    """Report on models, which may each take different columns, and on scores.

    Parameters
    ----------
    sources : mapping of str to FittedModel or GivenScores
        The models and scores by name.
    target : Target
        Labels and weights of the rows.
    options : Options
        Options of the report.
    table : DataTable, default=None
        Columns that came with the scores.

    Returns
    -------
    Report
        The page, and its main figures.
    """
    kept = target.counted()
    smaller = target.take(kept)
    if smaller.groups is not None and not smaller.has_spread:
        raise ValueError(
            "all rows of a class are of one group, so that nothing is known of other groups"
        )
    # Rows that several models share are taken and summarised once.
    fitted = [source.table for source in sources.values() if isinstance(source, FittedModel)]
    tables: dict[int, DataTable] = {}
    for own in [*fitted, *([] if table is None else [table])]:
        if own.training is not None:
            check_same_columns(own.rows, own.training)
        tables.setdefault(id(own), own.take(kept))
    with each_column_named_once(set()):
        subjects = [
            (
                FittedModel(source.estimator, tables[id(source.table)])
                if isinstance(source, FittedModel)
                else source.take(kept)
            ).subject(name, options.seed)
            for name, source in sources.items()
        ]
        facts = measure(subjects, smaller, options, list(tables.values()))
    return Report(facts)


def _models_table(facts: ReportFacts) -> Table:
    rankings = [model.ranking for model in facts.models]
    return Table(
        model=[model.name for model in facts.models],
        auc=[ranking.auc for ranking in rankings],
        low=[ranking.interval.low for ranking in rankings],
        high=[ranking.interval.high for ranking in rankings],
        gini=[ranking.gini for ranking in rankings],
        ks=[ranking.ks for ranking in rankings],
        hull_auc=[ranking.hull.auc for ranking in rankings],
        partial_auc=[ranking.partial[0].standardized for ranking in rankings],
        brier=[
            np.nan if model.calibration is None else model.calibration.brier
            for model in facts.models
        ],
    )


def _subgroups_table(facts: ReportFacts) -> Table | None:
    if not facts.subgroups:
        return None
    parts = [
        _parts_table(model.name, found.split, own)
        | {"by": [found.split.name] * len(found.split.labels)}
        for found in facts.subgroups
        for model, own in zip(facts.models, found.models, strict=True)
    ]
    return _stacked(parts, ("by", "subgroup", "model"))


def _periods_table(facts: ReportFacts) -> Table | None:
    periods = facts.periods
    if periods is None:
        return None
    parts = []
    for model, own in zip(facts.models, periods.models, strict=True):
        table = _parts_table(model.name, periods.split, own.parts)
        table["period"] = table.pop("subgroup")
        table |= {
            "observed": periods.observed["observed"].tolist(),
            "expected": own.expected.tolist(),
            "psi": own.psi.tolist(),
        }
        parts.append(table)
    return _stacked(parts, ("period", "model"))


def _parts_table(model: str, split: Split, parts: PartFacts) -> dict[str, list[Any]]:
    table = parts.ranking.table
    n_parts = len(split.labels)
    found: dict[str, list[Any]] = {"subgroup": split.labels, "model": [model] * n_parts}
    found |= {name: table[name].tolist() for name in ("size", "positives", "auc", "low", "high")}
    for name in MEASURES:
        found[name] = (
            [np.nan] * n_parts
            if parts.calibration is None
            else [value for value, _, _ in parts.calibration[name]]
        )
    return found


def _stacked(parts: list[dict[str, list[Any]]], first: Sequence[str]) -> Table:
    names = [*first, *(name for name in parts[0] if name not in first)]
    return Table({name: [value for part in parts for value in part[name]] for name in names})
