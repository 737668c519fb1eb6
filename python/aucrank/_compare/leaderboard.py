"""The comparison as what a user asks for and gets."""

from __future__ import annotations

import os
from datetime import datetime
from html import escape
from typing import Any, Literal

from numpy.random import RandomState
from numpy.typing import ArrayLike

from aucrank._compare.facts import Facts, folds_table, models_table
from aucrank._compare.outcome import Outcome
from aucrank._compare.page import one_line, write_page
from aucrank._compare.request import read_request
from aucrank._compare.running import Parallel
from aucrank._utils.files import write_atomically
from aucrank._utils.params import check_verbose
from aucrank._utils.plain_text import shown


class Leaderboard:
    """What :func:`compare` returns: models by how well they rank, and what they cost.

    It prints as its table.

    Parameters
    ----------
    facts : Facts
        All that was found.

    Attributes
    ----------
    models : Table
        One row for each model, the best first: ``rank``; ``model``; ``package``; ``auc``, the mean
        of the folds, with its interval ``low`` to ``high``; ``difference``, its AUC less that of
        the best; ``p_value`` of that difference, adjusted for all pairs; ``fit_seconds``,
        ``score_seconds``, ``n_bytes`` and ``n_rules``, means of the folds; ``n_folds`` that were
        done; ``error``, empty for a model that did all of them; where times were passed,
        ``auc_latest``, the AUC of the latest range of them. What is not known is NaN. Models
        that did not do all folds stand last and have no rank.
    folds : Table
        One row for each model and each fold that it did: ``model``, ``fold``, ``auc``,
        ``fit_seconds``, ``score_seconds``, ``n_bytes``, ``n_rules``.
    notes : list of str
        What was left out, and why; what was taken from a file; whether the time was up.
    one_line : str
        The gist: how many models and rows, and the best model with its AUC and interval.

    Examples
    --------
    >>> from aucrank import compare
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> board = compare(X, y, models=["RIMARC", "TreeRank"], cv=3)
    >>> board.models["model"].tolist()
    ['RIMARC', 'TreeRank']
    """

    def __init__(self, facts: Facts) -> None:
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
        """Return the leaderboard as a whole HTML page that asks for nothing from any network.

        Parameters
        ----------
        title : str, default=None
            Heading; ``None`` makes one.
        timestamp : datetime, default=None
            When the page is said to be written. None leaves it out, so that equal results make
            equal pages.

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
        """Write the page to a file, whole or not at all.

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
        Rows, as the rankers of this package take them. Of a `Dataset` these are the 100,000
        distinct rows whose content has the smallest hashes, with all copies: a sample that depends
        neither on the order of the rows nor on how they lie in files. ``notes`` says so; of fewer
        rows, all are compared on.
    y : array-like of shape (n_samples,), default=None
        Their labels, of two classes; the greater one is positive. A `Dataset` has its own, and its
        weights.
    models : str, estimator, list of str and estimators, or dict of str to estimator, default=None
        Names of rankers of this package and of peers, which have their default parameters; and
        unfitted estimators, of this package or any other, that score rows by ``decision_function``
        or ``predict_proba``. ``None`` takes all rankers of this package but those that would take
        minutes on rows of this number, ``"all"`` those, too.
    peers : bool, default=None
        Whether to compare with classifiers of other packages: LogisticRegression,
        RandomForestClassifier and HistGradientBoostingClassifier of scikit-learn; and, where they
        are installed, LGBMClassifier, XGBClassifier, CatBoostClassifier,
        ExplainableBoostingClassifier of InterpretML, and BinningProcess of optbinning with a
        logistic regression, which is its score card. ``None`` for yes, unless ``models`` lists
        some.
    cv : int, splitter or iterable of (train, test), default=5
        Number of stratified folds; or a splitter of scikit-learn; or the rows to fit to and to hold
        out, by number. Each row is held out once, or once in each repeat.
    n_repeats : int, default=1
        How often the rows are dealt into folds anew, where ``cv`` is a number.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row, in fits and in the AUC. A row of weight 0 is no row. A model that takes
        no weights fails.
    groups : array-like of shape (n_samples,), default=None
        Rows of the same group are in the same fold. Rankers of this package keep them together in
        what they hold out themselves, too.
    time : array-like of shape (n_samples,), default=None
        When each row came, in numbers or dates. Folds are then ranges of time with about as many
        rows each, and equal times, or groups, which are where their latest row is, are in one of
        them; rankers of this package deal rows by time, too. The models that rank the latest range
        were fitted to earlier rows alone: ``auc_latest`` is their AUC there. ``cv`` is a number.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns hold categories, as for the rankers of this package: by their type, or by
        position, name or mask. Estimators of your own are not told.
    confidence : float, default=0.95
        Level of the intervals, in (0, 1).
    time_limit : float, default=None
        Seconds after which no fit begins. A model that has not done all folds by then is not
        compared, which its row says.
    peer_time_limit : float, default=None
        Seconds that a fit of a model of another package may take: once one of its fits took longer,
        its other folds are not begun, and it is not compared, which its row says.
    resume : str or path-like, default=None
        File that fits are kept in as soon as they are done. If it is there, those that it holds of
        the same rows, folds, parameters and versions are not done again.
    parallel : {"threads", "folds"}, default="threads"
        What threads are given to. ``"threads"``: fits are done one after the other, each on all
        threads that it can use, and take the time that they take for a user. ``"folds"``: as many
        fits as there are threads are done side by side, each on one thread, which is faster where
        they are small; their times are then those of one thread.
    n_jobs : int, default=None
        Threads in all; ``None`` takes what there is, ``-1`` every processor. Where it is given, and
        with ``parallel="folds"``, estimators of your own have their ``n_jobs`` set. The scores of
        the rankers of this package do not depend on it.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds, and of the models that are known by name.
    verbose : int or bool, default=0
        1: a line is printed after each model, with the time left; 2: after each fit.

    Returns
    -------
    Leaderboard
        With ``models`` and ``folds`` as tables, ``to_frame()``, and ``save(path)``, which writes an
        HTML page.

    Raises
    ------
    ImportError
        If the package of a model that is asked for by name is not installed.
    TypeError
        If something is no model that scores rows, or of a type that is not valid.
    ValueError
        If ``y`` has not two classes, or is there beside a `Dataset`; a class has fewer rows than
        there are folds, a parameter is out of bounds, or the file to resume from holds something
        else.

    Warns
    -----
    ColumnWarning
        If a column looks like something else than it is taken for.

    See Also
    --------
    aucrank.report : A page about fitted models and rows that were held out.
    aucrank.metrics.cross_validated_auc : The AUC and its interval.
    aucrank.metrics.cross_validated_compare : The test of a difference.

    Notes
    -----
    A model that fails costs no other: its row has the error.

    Each model is tested against the best by :func:`~aucrank.metrics.cross_validated_compare`.
    Which model is best was found on the same rows, and whatever comes out best looks better than it
    is. So all pairs of models are tested, and their p-values adjusted together by Holm's method
    [1]_: those to the best are among them, whichever it is, and where all models are equally good,
    one of them is called worse in at most ``1 - confidence`` of the cases. Differences that come
    from training on other rows are not in the tests [2]_.

    ``n_rules`` counts the cases that have a number of their own in the score: leaves of trees, runs
    of step functions, categories or groups of them, binary terms, weights of linear scores, nodes
    of branching programs. For peers it is the number of leaves, bins or weights where the package
    tells it.

    An interrupt, as by Ctrl-C, ends the comparison; what was done up to then is in the file
    ``resume``, if there is one. Fits that failed are not kept.

    References
    ----------
    .. [1] Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
       Statistics 6(2), 1979.
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
    0     1  table  0.99  0.98  1.00
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
