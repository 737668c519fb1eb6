"""Public interface of the comparison."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from html import escape
from typing import Any, Literal

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike

from aucrank._compare.facts import LeaderboardFacts, folds_table, models_table
from aucrank._compare.outcome import Outcome
from aucrank._compare.page import one_line, write_page
from aucrank._compare.request import read_request
from aucrank._compare.running import Parallel
from aucrank._utils.files import write_atomically
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_verbose
from aucrank._utils.plain_text import shown


class Leaderboard:
    """Result of :func:`compare`: models by how well they rank, and their cost.

    It prints as its table.

    Parameters
    ----------
    facts : LeaderboardFacts
        All results.

    Attributes
    ----------
    models : Table
        One row for each model, the best first: ``rank``; ``model``; ``package``; ``auc``, the mean
        of the folds, with its interval ``low`` to ``high``; ``difference``, its AUC less that of
        the best; ``p_value`` of that difference, adjusted for all pairs; ``fit_seconds``,
        ``score_seconds``, ``n_bytes`` and ``n_rules``, means of the folds; ``n_folds`` that were
        completed; ``error``, empty for a model that completed all of them; if times were passed,
        ``auc_latest``, the AUC of the latest range. Unknown values are NaN. Models that did not
        complete all folds are last and have no rank.
    folds : Table
        One row for each model and completed fold: ``model``, ``fold``, ``auc``, ``fit_seconds``,
        ``score_seconds``, ``n_bytes``, ``n_rules``.
    notes : list of str
        Omitted models and the reason; results taken from a file; whether the time limit was
        reached.
    one_line : str
        Summary: number of models and rows, and the best model with its AUC and interval.

    Examples
    --------
    >>> from aucrank import compare
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> board = compare(X, y, models=["RIMARC", "TreeRank"], cv=3)
    >>> board.models["model"].tolist()
    ['RIMARC', 'TreeRank']
    """

    def __init__(self, facts: LeaderboardFacts) -> None:
        self._facts = facts
        self.models = models_table(facts)
        self.folds = folds_table(facts)
        self.notes = list(facts.notes)
        self.one_line = one_line(facts)

    def __repr__(self) -> str:
        return repr(self.models)

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(shown(note))}</p>" for note in self.notes)
        return self.models._repr_html_() + notes

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return the table of the models as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
            Library of the frame; it must be installed.

        Returns
        -------
        data frame
            With the columns of ``models``.
        """
        return self.models.to_frame(backend)

    def to_html(self, *, title: str | None = None, timestamp: datetime | None = None) -> str:
        """Return the leaderboard as a self-contained HTML page that loads nothing from a network.

        Parameters
        ----------
        title : str, default=None
            Heading; ``None`` makes one.
        timestamp : datetime, default=None
            Time stamp of the page. None leaves it out, so that equal results give equal pages.

        Returns
        -------
        str
            The page.

        Raises
        ------
        ImportError
            If jinja2 is not installed.
        """
        return write_page(self._facts, title, timestamp)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        timestamp: datetime | None = None,
    ) -> None:
        """Write the page to a file atomically.

        Parameters
        ----------
        path : str or path-like
            Where to write; an older file of that name is replaced.
        title, timestamp : object
            As for `to_html`.

        Raises
        ------
        ImportError
            If jinja2 is not installed.
        OSError
            If the file cannot be written.
        """
        write_atomically(path, self.to_html(title=title, timestamp=timestamp))


@suggests_keywords
def compare(
    X: Any,
    y: ArrayLike | None = None,
    *,
    models: Any = None,
    peers: bool | None = None,
    cv: Any = 5,
    n_repeats: int = 1,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    time: ArrayLike | None = None,
    gap: float | timedelta | np.timedelta64 | None = None,
    categorical_features: Any = "from_dtype",
    confidence: float = 0.95,
    time_limit: float | None = None,
    peer_time_limit: float | None = None,
    resume: str | os.PathLike[str] | None = None,
    parallel: Parallel = "threads",
    n_jobs: int | None = None,
    random_state: int | RandomState | None = 0,
    verbose: int | bool = 0,
) -> Leaderboard:
    """Cross-validate models on the same folds, and rank them by their AUC.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features), or Dataset
        Rows, in any form that the rankers of this package accept. A `Dataset` is reduced to the
        100,000 distinct rows whose content has the smallest hashes, with all copies: a sample that
        depends neither on the order of the rows nor on their distribution over files. ``notes``
        says so; smaller data are used completely.
    y : array-like of shape (n_samples,), default=None
        Their labels, of two classes; the greater one is positive. A `Dataset` has its own labels
        and weights.
    models : str, estimator, list of str and estimators, or dict of str to estimator, default=None
        Names of rankers of this package and of peers, which have their default parameters; and
        unfitted estimators, of this package or any other, that score rows by ``decision_function``
        or ``predict_proba``. ``None`` takes all rankers of this package except those that would
        take minutes on data of this size, ``"all"`` includes these.
    peers : bool, default=None
        Whether to compare with classifiers of other packages: LogisticRegression,
        RandomForestClassifier and HistGradientBoostingClassifier of scikit-learn; and, where they
        are installed, LGBMClassifier, XGBClassifier, CatBoostClassifier,
        ExplainableBoostingClassifier of InterpretML, and BinningProcess of optbinning with a
        logistic regression, which is its score card. ``None`` for yes, unless ``models`` is given.
    cv : int, splitter or iterable of (train, test), default=5
        Number of stratified folds; or a scikit-learn splitter; or the rows to fit to and to hold
        out, by number. Each row is held out once, or once per repeat.
    n_repeats : int, default=1
        How often the rows are dealt into folds, if ``cv`` is a number.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row, in fits and in the AUC. Rows of weight 0 are ignored. A model that
        accepts no weights fails.
    groups : array-like of shape (n_samples,), default=None
        Rows of the same group are in the same fold. Rankers of this package also keep them together
        in rows that they hold out themselves.
    time : array-like of shape (n_samples,), default=None
        When each row was recorded, as numbers or dates. Folds are then ranges of time with about
        equal numbers of rows. Equal times are in the same fold, and so are groups, at the time of
        their latest row; rankers of this package deal rows by time, too. The models that rank the
        latest range were fitted to earlier rows only: ``auc_latest`` is their AUC there. ``cv``
        must be a number. For a panel, such as customers by months, leave ``groups`` out: most
        groups would be in the latest range, which raises an error.
    gap : float, timedelta or None, default=None
        Rows that are nearer in time than this to a range, or as near, are left out of the fit that
        ranks it: a number, or a timedelta if times are dates. For outcomes that are known later,
        such as a default within a year: rows just before a range would tell what happens in it.
        What a ranker itself holds out in a fit has no gap before it. Not for a `Dataset`.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categorical, as for the rankers of this package: by their type, or by
        position, name or mask. It is not passed to your own estimators.
    confidence : float, default=0.95
        Level of the intervals, in (0, 1).
    time_limit : float, default=None
        Seconds after which no fit begins. A model that has not completed all folds by then is not
        compared; its row says so.
    peer_time_limit : float, default=None
        Seconds for a fit of a model of another package: once one of its fits takes longer, its
        other folds are not started, and it is not compared; its row says so.
    resume : str or path-like, default=None
        File in which finished fits are stored. If it exists, fits in it with the same rows, folds,
        parameters and versions are reused.
    parallel : {"threads", "folds"}, default="threads"
        How threads are used. ``"threads"``: fits run one after another, each on all threads that it
        can use, with the running time that a user would see. ``"folds"``: as many fits as there are
        threads run in parallel, each on one thread, which is faster for small fits; their times are
        then those of one thread.
    n_jobs : int, default=None
        Total number of threads; ``None`` uses what is available, ``-1`` every processor. If it is
        given, and with ``parallel="folds"``, the ``n_jobs`` of your own estimators is set. The
        scores of the rankers of this package do not depend on it.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds, of the models that are given by name, and of your own estimators, and
        those in them, whose ``random_state`` is None. The estimators themselves are not changed.
    verbose : int or bool, default=0
        1: print a line after each model, with the time left; 2: after each fit.

    Returns
    -------
    Leaderboard
        With ``models`` and ``folds`` as tables, ``to_frame()``, and ``save(path)``, which writes an
        HTML page.

    Raises
    ------
    ImportError
        If the package of a model that is requested by name is not installed.
    TypeError
        If something is not a model that scores rows, or has an invalid type.
    ValueError
        If ``y`` does not have two classes, or is given with a `Dataset`; a class has fewer rows
        than there are folds, a parameter is out of bounds, or the file to resume from holds
        something else.

    Warns
    -----
    ColumnWarning
        If a column looks like something other than it is taken for.

    See Also
    --------
    aucrank.report : A page about fitted models on held-out rows.
    aucrank.metrics.cross_validated_auc : The AUC and its interval.
    aucrank.metrics.cross_validated_compare : The test of a difference.

    Notes
    -----
    A model that fails does not affect the others: its row has the error.

    Each model is tested against the best by :func:`~aucrank.metrics.cross_validated_compare`. The
    best model was selected on the same rows, and its AUC is therefore optimistic. So all pairs of
    models count, and intervals of differences and p-values are adjusted for their number by
    Bonferroni's method [1]_, so that a p-value is small where the interval excludes 0. The tests
    with the best are among them, whichever it is, and if all models are equally good, one of them
    is called worse in at most ``1 - confidence`` of the cases. The tests do not cover the variation
    from training on other rows [2]_.

    ``n_rules`` counts the cases with their own number in the score: leaves of trees, runs of step
    functions, categories or groups of them, binary terms, weights of linear scores, nodes of
    branching programs. For peers it is the number of leaves, bins or weights, if the package
    provides it.

    An interrupt, as by Ctrl-C, ends the comparison; finished fits are in the file ``resume``, if
    there is one. Failed fits are not stored.

    References
    ----------
    .. [1] Dunn, "Multiple comparisons among means", Journal of the American Statistical Association
       56(293), 1961. :doi:`10.1080/01621459.1961.10482090`
    .. [2] Nadeau and Bengio, "Inference for the generalization error", Machine Learning 52, 2003.
       :doi:`10.1023/A:1024068626366`

    Examples
    --------
    >>> from aucrank import RIMARC, TreeRank, compare
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> board = compare(X, y, models={"table": RIMARC(), "stump": TreeRank(max_depth=1)})
    >>> board.models.to_frame()[["rank", "model", "auc", "low", "high"]].round(2)
       rank  model   auc   low  high
    0     1  table  0.99  0.98  0.99
    1     2  stump  0.90  0.88  0.93
    >>> board.save("leaderboard.html")  # doctest: +SKIP
    """
    check_verbose(verbose)
    request = read_request(
        X,
        y,
        models=models,
        peers=peers,
        cv=cv,
        n_repeats=n_repeats,
        sample_weight=sample_weight,
        groups=groups,
        time=time,
        gap=gap,
        categorical_features=categorical_features,
        confidence=confidence,
        time_limit=time_limit,
        peer_time_limit=peer_time_limit,
        parallel=parallel,
        n_jobs=n_jobs,
        random_state=random_state,
    )

    def say(kind: str, text: str) -> None:
        if (verbose > 1 and kind != "begins") or (verbose and kind == "model"):
            print(f"[compare] {shown(text)}")

    outcomes: list[Outcome] = []
    store = request.open_store(resume)
    request.run(outcomes, store, say)
    return Leaderboard(request.facts(outcomes, store))
