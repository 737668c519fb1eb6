"""AURORA: a linear score over binary terms that maximises the ramp statistic."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank import _core
from aucrank._base.calibrated import CalibratedRanker
from aucrank._base.fit_context import FitContext, ParamScope
from aucrank._base.fit_progress import Figures
from aucrank._base.monotonic import monotonic_directions
from aucrank._base.sampled_fit import SampledFitMixin
from aucrank._base.summary import Section
from aucrank._base.warm_start import WarmStart
from aucrank._data.input import KindsByColumn
from aucrank._data.schema import Schema
from aucrank._data.table import Table
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.numbers import rounded
from aucrank._utils.params import check_bool, check_choice, check_int, check_real
from aucrank._utils.warn import warn_caller
from aucrank._utils.words import plural
from aucrank.ramp._aurora_terms import AuroraTermsMixin
from aucrank.ramp._binary_terms import binarizer_params, said_to_be_categorical

#: Depths of search by name. In the paper (tables 1 and 2), the shallow one is about 2/3 of the
#: standard one, the deep one 1.5 times it. The quick one is ours.
DEPTHS = {
    "quick": {"shortlist": 20, "midpoints": 75, "combined": 40, "circles": 1},
    "shallow": {"shortlist": 13, "midpoints": 50, "combined": 26, "circles": 2},
    "standard": {"shortlist": 20, "midpoints": 75, "combined": 40, "circles": 3},
    "deep": {"shortlist": 30, "midpoints": 112, "combined": 60, "circles": 4},
}

#: Minimum numbers of a depth.
_LEAST = {"shortlist": 1, "midpoints": 0, "combined": 0, "circles": 1}

#: Initial minimum gain of a term in the ramp statistic (DECISIONS A16).
_FIRST_GAIN = 0.01

#: Radius of a search that holds no rows out since it cannot; few rows have a shorter one.
_RADIUS_WITHOUT_CHOICE = 1.5811388300841898


class AURORA(AuroraTermsMixin, SampledFitMixin, CalibratedRanker):
    """Linear score over binary terms that maximises the ramp statistic, a smoothed AUC.

    Every feature becomes binary terms such as ``age >= 35``, ``colour = red`` and ``age is
    missing``; so do pairs of them, joined by "and" or "or". A search adds one term after another to
    a linear score: each time the one that raises the ramp statistic of the training rows most,
    after which all coefficients are optimised together ([1]_). The number of terms is chosen on
    held-out rows. `terms` lists them, `rules` describes the score in words, `explain` decomposes
    it.

    Parameters
    ----------
    max_features : int, default=200
        Maximum number of terms of a search; at least 1. Of few rows at most 30 are searched for,
        see ``selection``.
    order : {1, 2}, default=2
        Maximum number of features per term: 1 for a score that is a step function of each feature,
        which `plot_terms` draws and a `Scorecard` accepts; 2 adds pairs. [1]_ defines terms of
        any order and searches those of 1 and 2, as here.
    radius : float or "auto", default="auto"
        Length of the vector of coefficients in widths of the ramp; above 0, at most 1000. With a
        small radius all pairs of rows count about equally, with a large one those whose scores
        differ little. "auto" tries up to five from 1/2 to 5, and takes the smallest whose AUC on
        the held-out rows is less than a standard error below the best; with few rows see
        ``selection``. With more than 8,000
        distinct rows to search on, only the best three of five go on after 25 terms, the best two
        after 50, and these are compared after 75.
    radius_terms : int or None, default=100
        Maximum number of terms of each search that tries a radius for ``radius="auto"``, at least
        1; the search at the chosen radius continues up to ``max_features``. None, as in the paper,
        for ``max_features``, for all radii and however many rows there are.
    depth : {"quick", "shallow", "standard", "deep"} or dict, default="quick"
        How thoroughly candidates are evaluated; the last three are those of the paper. "quick"
        evaluates as many as "standard", but ascends from the shortlist along one circle only. A
        dictionary may have the keys ``shortlist`` (candidates by each of two measures that get an
        ascent, at least 1), ``midpoints`` (candidates of steepest gradient that get the second
        measure), ``combined`` (terms of one feature that are combined in pairs) and ``circles``
        (great circles of an ascent from the shortlist, at least 1); absent ones are those of
        "standard".
    selection : {"auto", "validation", "cv"} or None, default="auto"
        How the number of terms is chosen. "validation": by the ranking of held-out rows, smoothed
        by a triangular window of 15 terms (sec. 3.5 of [1]_); the coefficients of the terms are
        then optimised on all rows. "cv": by the mean over folds, each held out in turn; that many
        terms are then searched for on all rows. None keeps all terms, found on all rows; it needs a
        ``radius``. "auto": with at most 1,000 distinct rows, where those held out would be missed
        more than the choice gains, all terms of all rows, at most 30, at a radius of 1/2, or of
        0.89 if ``max_features`` is below 8; with more rows, with ``groups`` or ``time``, or with a
        ``radius``, "validation".
    criterion : {"auc", "ramp"}, default="auc"
        Measure of the ranking of held-out rows: their AUC, or their ramp statistic as in the paper.
        With a small ``radius`` the ramp statistic also rises with the differences of scores, and
        keeps fewer terms: on forest cover with 6,000 rows 60 instead of 200, at an AUC lower by 0.4
        in a hundred.
    validation_fraction : float, default=0.25
        Share of the distinct rows of each class that is held out, for ``selection="validation"``
        and "auto"; above 0 and below 1.
    n_folds : int, default=4
        Number of folds, for ``selection="cv"``; from 2 to 65,534.
    n_iter_no_change : int or None, default=80
        A search ends after this many terms in a row without a new maximum of the smoothed
        ``criterion`` of the held-out rows; at least 1. None, as in the paper, disables this.
    min_gain : float, default=1e-6
        Final minimum gain of a term in the ramp statistic; positive. The minimum starts at 0.01, or
        this if it is more, and is halved whenever no term reaches it.
    tol : float or None, default=None
        A search ends with a term that raises the AUC of the training rows by less than this. None
        disables this: the ramp statistic may rise when the AUC does not.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        Direction of each feature: 1 if the score may only rise with it, -1 if it may only fall, 0
        if it is free. A dict gives them by column name; absent features are free. Only numeric
        features can be constrained; the rank of their missing values is free. A term that compares
        a constrained number with a threshold, alone or in a pair, has a coefficient of the sign of
        the direction, or none if it would need both signs.
    max_fpr : float, default=1.0
        Rank well up to this false positive rate, above 0 and at most 1, if only the top of the list
        is acted on. Below 1, a second search follows at the same radius: the share ``max_fpr`` of
        the negative rows that the first score ranks highest counts in full in pairs, and the others
        count 0.3. The score with the higher partial AUC on the held-out rows is kept, or the second
        if none are held out. Not allowed with ``warm_start``. See Notes.
    max_levels : int, default=22
        A number with at most this many distinct values is discrete: it has a threshold between any
        two neighbours. One with more is continuous: it has thresholds at its percentiles.
    percentiles : int or array-like of float, default=5
        Where continuous numbers are cut: percentiles from 0 to 100, or every k-th of them below
        100; 5 stands for 5, 10, ..., 95.
    min_level_share : float, default=0.001
        Neighbouring values of a discrete number that each hold a smaller share of the rows have no
        threshold between them.
    max_spike_share : float, default=0.01
        Of the rows with one value of a continuous number, no more than this share of all rows, but
        at least one, count for the percentiles. 1 lets all of them count.
    feature_types : dict, array-like of shape (n_features,) or None, default=None
        "discrete", "continuous" or "categorical" for columns whose type is not inferred from the
        data: by name, or in a list with None for the others.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns hold categories: those of a data frame with a categorical type, or those
        listed by position, by name or in a boolean mask; and those given in ``feature_types``.
    warm_start : bool, default=False
        Whether `fit` continues the search of the last fit, up to ``max_features``. On
        the same rows, 10 terms and 10 more are the 20 terms of one fit, bit for bit, also without
        a ``random_state``: the model keeps its seed, and its radius and thresholds too. Not allowed
        with ``selection="cv"``.
    calibration : {"auto", "isotonic", "sigmoid"} or None, default=None
        How scores are converted to probabilities, for `predict_proba`. The ranking is unchanged,
        and ``threshold_`` becomes the score of even odds. "sigmoid": one line of log-odds (Platt).
        "isotonic": isotonic regression, its log-odds interpolated. "auto": "isotonic" where the
        rarer class has 1,000 rows or more to calibrate on, else "sigmoid". Probabilities are
        learned on held-out rows: the ranker is fitted three more times, each time without a third
        of the rows. None: no probabilities. See :doc:`probabilities </probabilities>`.
    class_weight : dict, "balanced" or None, default=None
        What the weights of rows are multiplied by, by class; "balanced" makes the sums of both
        classes equal. A pair counts by the product of its rows, so class weights hardly change the
        ranking, if at all; they move ``threshold_`` to even odds of the training rows by a line of
        log-odds (Platt), and with ``calibration`` the probabilities.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The model does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds which rows are held out.
    verbose : int, default=0
        If 1, print a line after every tenth term, and the result; if more, after every term.

    Attributes
    ----------
    n_terms_ : int
        Number of terms of the score.
    threshold_ : float
        The sum at which `decision_function` is 0: where TPR - FPR of the training rows is largest,
        or as set by ``calibration`` or ``class_weight``.
    base_score_ : float
        ``-threshold_``: the base to which a row of `explain` adds.
    radius_ : float
        Length of the vector of coefficients.
    radii_ : Table
        The radii that were tried, ascending: ``radius``; ``n_terms``, the number, at most
        ``radius_terms``, that would be kept; ``validation_auc``, the AUC of the held-out rows with
        that many, NaN if there were none; ``standard_error``, of its distance below the best, NaN
        if only one was tried; ``kept``.
    path_ : Table
        Ranking after each term of the search: ``n_terms``, from 1; ``train_ramp`` and
        ``train_auc``, the statistics of the training rows; if rows were held out,
        ``validation_ramp``, ``validation_auc`` and ``smoothed``, by which the number of terms was
        chosen; and ``kept``, true for that number. With folds they are means.
    feature_importances_ : ndarray of shape (n_features,)
        Contribution of the terms of each feature to the ramp statistic, in units of AUC; those of a
        pair are divided equally. They add up to the ramp statistic of the training rows, less 1/2.
    sampled_rows_ : tuple of int, or None
        Numbers of training rows and of all rows, if a `Dataset` has more than the common sample;
        None if all were used. Other statistics are those of the sample.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the class to rank first.
    n_features_in_ : int
        Number of features seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they had any.

    See Also
    --------
    ThresholdBinarizer : The binary terms of single features, for other models.
    Scorecard : Integer points for the steps of a score of single features.
    aucrank.metrics.ramp_auc : The objective.

    Notes
    -----
    The ramp statistic is the mean over pairs of a positive and a negative row of a ramp: 0 where
    the negative row scores higher by 1/2 or more, 1 where the positive one does, and straight in
    between, but for a slope of 1/1000 at both sides.

    Terms of one feature come before pairs, which are tried only if no single feature adds enough.
    Pairs combine the most promising terms of one feature, including those of the score. Of equally
    good terms the first is taken. The statistic never falls along ``path_``.

    For a missing value all terms are 0 except the missing indicator, which a feature has if it was
    missing in training rows; a category not seen in fit counts as missing. Rows are held out by
    their content: copies of a row stay together.

    Callbacks of scikit-learn 1.9 (``set_callbacks``) see a fit as a task with one part for each
    search, and in it one for each term; the ``metadata`` of a term are its ``radius``, ``fold``,
    ``n_terms``, ``train_ramp``, ``train_auc``, ``validation_ramp`` and ``validation_auc``. A
    callback that stops after a term ends the search, and the terms found so far are used.

    With ``max_fpr`` below 1, the statistics of the search that was kept (``path_``,
    ``feature_importances_`` and those of `terms`) weight negative rows as that search does,
    held-out rows included: the AUC of ``path_`` is then that of weighted rows, not a partial AUC.
    ``radii_`` is of the first search. Rows tied at the end of the share all get the same weight in
    between, so that their order does not matter. Thresholds are those of all rows. After
    ``selection="cv"`` all rows are searched twice as well. The fit takes up to twice the time or,
    if ``radius`` is "auto", barely half as long again. :ref:`The guide <top-of-the-list>` gives the
    gain.

    Equal rows have equal scores to the last bit, and neither the order of the rows nor ``n_jobs``
    matters.

    References
    ----------
    .. [1] Herschtal, Raskutti and Campbell, "Area under ROC optimisation using a ramp
       approximation", SIAM International Conference on Data Mining, 2006.

    Examples
    --------
    >>> from aucrank import AURORA
    >>> from aucrank.datasets import make_xor
    >>> train, test = make_xor(1000, random_state=0), make_xor(1000, random_state=1)
    >>> model = AURORA(max_features=20, radius=3.0, random_state=0).fit(train.X, train.y)
    >>> round(model.score(test.X, test.y), 2)
    0.9
    >>> singles = AURORA(max_features=20, order=1, radius=3.0, random_state=0)
    >>> singles.fit(train.X, train.y).score(test.X, test.y) < 0.7
    True
    """

    _family: ClassVar[str] = "aurora"
    _model: _core.Aurora

    def __init__(
        self,
        *,
        max_features: int = 200,
        order: int = 2,
        radius: float | str = "auto",
        radius_terms: int | None = 100,
        depth: Any = "quick",
        selection: str | None = "auto",
        criterion: str = "auc",
        validation_fraction: float = 0.25,
        n_folds: int = 4,
        n_iter_no_change: int | None = 80,
        min_gain: float = 1e-6,
        tol: float | None = None,
        monotonic_cst: Any = None,
        max_fpr: float = 1.0,
        max_levels: int = 22,
        percentiles: Any = 5,
        min_level_share: float = 0.001,
        max_spike_share: float = 0.01,
        feature_types: Any = None,
        categorical_features: Any = "from_dtype",
        warm_start: bool = False,
        calibration: str | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.max_features = max_features
        self.order = order
        self.radius = radius
        self.radius_terms = radius_terms
        self.depth = depth
        self.selection = selection
        self.criterion = criterion
        self.validation_fraction = validation_fraction
        self.n_folds = n_folds
        self.n_iter_no_change = n_iter_no_change
        self.min_gain = min_gain
        self.tol = tol
        self.monotonic_cst = monotonic_cst
        self.max_fpr = max_fpr
        self.max_levels = max_levels
        self.percentiles = percentiles
        self.min_level_share = min_level_share
        self.max_spike_share = max_spike_share
        self.feature_types = feature_types
        self.categorical_features = categorical_features
        self.warm_start = warm_start
        self.calibration = calibration
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_params(self) -> None:
        super()._check_params()
        if check_bool(self.warm_start, "warm_start") and self.selection == "cv":
            raise ValueError(
                'warm_start does not go with selection="cv": the terms of the last fit have seen'
                " the rows that each fold would hold out"
            )
        if self.warm_start and self.max_fpr != 1:
            raise ValueError(
                f"warm_start does not go with max_fpr={self.max_fpr!r}: which rows matter is said"
                " by a search that has ended"
            )

    def _extra_categories(self) -> KindsByColumn | None:
        return said_to_be_categorical(self.feature_types)

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        selection = self._selection()
        gain = check_real(self.min_gain, "min_gain", low=0.0, low_open=True, high_open=True)
        return {
            "binarizer": binarizer_params(self, scope.schema),
            "max_features": check_int(self.max_features, "max_features", low=1),
            "order": check_int(self.order, "order", low=1, high=2),
            "radius": self._radius(),
            "depth": _check_depth(self.depth),
            "first_gain": max(_FIRST_GAIN, gain or 0.0),
            "last_gain": gain,
            "tol": check_real(self.tol, "tol", low=0.0, high_open=True, optional=True),
            "radius_terms": check_int(self.radius_terms, "radius_terms", low=1, optional=True),
            "patience": check_int(self.n_iter_no_change, "n_iter_no_change", low=1, optional=True),
            "monotonic": monotonic_directions(self.monotonic_cst, scope.schema),
            "max_fpr": check_real(self.max_fpr, "max_fpr", low=0.0, high=1.0, low_open=True),
            "selection": selection,
            "criterion": check_choice(self.criterion, "criterion", ("auc", "ramp")),
            "seed": scope.seed,
        }

    def _selection(self) -> Any:
        choices = ("auto", "validation", "cv", None)
        chosen = check_choice(self.selection, "selection", choices)
        fraction = check_real(
            self.validation_fraction,
            "validation_fraction",
            low=0.0,
            high=1.0,
            low_open=True,
            high_open=True,
        )
        n_folds = check_int(self.n_folds, "n_folds", low=2, high=65_534)
        if chosen is None:
            return "keep"
        return {
            "auto": {"auto": fraction},
            "validation": {"hold_out": fraction},
            "cv": {"cross_validation": n_folds},
        }[chosen]

    def _radius(self) -> Any:
        if not isinstance(self.radius, str):
            radius = check_real(self.radius, "radius", low=0.0, high=1000.0, low_open=True)
            return {"fixed": radius}
        if self.radius != "auto":
            raise ValueError(f"radius must be a number or 'auto', got {self.radius!r}")
        if self.selection is None:
            raise ValueError(
                "radius='auto' is chosen by rows held out, of which selection=None has none: pass"
                " a number, such as 3.0"
            )
        return "auto"

    @suggests_keywords
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
        gap: Any = None,
    ) -> Self:
        """Search for terms, and fit their coefficients.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features), or Dataset
            Training data. Data frames of pandas, polars and pyarrow may have categorical columns;
            NaN, None and null are missing values.
            A :class:`~aucrank.data.Dataset` has rows that need not fit in memory, and their labels
            and weights. The fit is that to one frame with the rows of the common sample: the
            200,000 distinct rows with the smallest content hashes, with all their copies; or all
            rows if fewer are distinct.
        y : array-like of shape (n,), default=None
            Labels, two distinct values. The greater one is the class to rank first. None where
            ``X`` is a data set.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row; weight k means the row repeated k times, and weight 0 a row that
            is not there.
        groups : array-like of shape (n,), default=None
            Which rows belong together, such as those of a patient: they stay together in folds, in
            held-out rows and in samples.
        time : array-like of shape (n,), default=None
            Time of each row, as a number or date: the latest rows are held out, and folds are
            ranges of time.
        gap : float, timedelta or None, default=None
            Rows that are nearer in time than this to held-out rows or a fold, or as near, are left
            out of what is fitted without these: a number, or a timedelta if times are dates. For
            outcomes that are known later. Not for a `Dataset`.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter, the data, the labels or the weights are not valid; or if
            ``warm_start`` is set and columns, classes or the radius are not those of the last fit.
        """
        return self._fit(X, y, sample_weight, groups=groups, time=time, gap=gap)

    _stage_name = "search"

    def _n_stages(self) -> int | None:
        if isinstance(self.radius, str):
            return None
        # One per fold, and the last on all rows.
        n_searches = self.n_folds + 1 if self.selection == "cv" else 1
        return n_searches if self.max_fpr == 1 else None

    def _progress_line(self, unit: str, number: int, most: int | None, figures: Figures) -> str:
        where = f"radius {figures['radius']:.4g}"
        if figures["fold"] is not None:
            where += f", fold {figures['fold'] + 1:.0f}"
        line = (
            f"[AURORA] {where}: {plural(number, unit)}, ramp {figures['train_ramp']:.4f}, AUC"
            f" {figures['train_auc']:.4f}"
        )
        if figures["validation_auc"] is not None:
            ramp, auc = figures["validation_ramp"], figures["validation_auc"]
            line += f"; held out: ramp {ramp:.4f}, AUC {auc:.4f}"
        return line

    def _fit_model(self, context: FitContext) -> _core.Aurora:
        sample, earlier = context.sample, context.earlier
        if earlier is not None:
            self._check_earlier(earlier, sample.schema)
        model = _core.fit_aurora(
            sample.core,
            json.dumps(self._core_params(context.scope)),
            None if earlier is None else earlier.model,
            context.n_threads,
            context.progress.observer,
        )
        if message := self._fit_warning(model):
            warn_caller(message)
        if self.verbose > 0:
            found = f"{model.n_terms} of {model.n_found} terms kept"
            print(f"[AURORA] {found}, at radius {model.radius:.4g}")
        return model

    def _check_earlier(self, earlier: WarmStart, schema: Schema) -> None:
        earlier.check(self, schema, "max_features", earlier.model.n_found, "terms")
        if self.radius not in ("auto", earlier.model.radius):
            raise ValueError(
                f"warm_start goes on with the radius of the last fit, {earlier.model.radius!r};"
                f" got radius={self.radius!r}"
            )

    def _fit_warning(self, model: _core.Aurora) -> str | None:
        """Return a warning for the user, at most one."""
        if model.n_terms == 0:
            return "No term distinguishes the classes, so all scores are equal."
        is_of_few = (
            self.selection == self.radius == "auto" and model.radius < _RADIUS_WITHOUT_CHOICE
        )
        if self.selection is None or is_of_few:
            return None
        if json.loads(model.path())[0]["validation"] is None:
            kept = "all terms were kept" + (
                f", and the radius is {model.radius:.4g}" if self.radius == "auto" else ""
            )
            return f"A class has one distinct row, so no rows can be held out: {kept}."
        if self.selection == "cv" and model.n_folds != self.n_folds:
            return (
                f"A class has {model.n_folds} distinct rows, so there are as many folds, not"
                f" n_folds={self.n_folds}."
            )
        return None

    @property
    def n_terms_(self) -> int:
        """Return the number of terms of the score.

        Returns
        -------
        int
            At most ``max_features``.
        """
        return self._fitted_model.n_terms

    def _summary(self) -> list[Section]:
        size = f"{plural(self.n_terms_, 'term')}, radius {rounded(self.radius_)}"
        # Rules say the features, too.
        terms = {name: column for name, column in self.terms().items() if name != "features"}
        return [
            Section(f"Terms, as they were found ({size})", table=terms),
            Section("The score in words", self.rules()),
        ]

    @property
    def threshold_(self) -> float:
        """Return the sum of coefficients from which rows are called positive.

        Returns
        -------
        float
            `decision_function` is the sum less this.
        """
        return self._fitted_model.threshold

    @property
    def base_score_(self) -> float:
        """Return the base to which the parts of a row add.

        Returns
        -------
        float
            A row of `explain` and this add up to `decision_function`: ``-threshold_``.
        """
        return -self.threshold_

    @property
    def radius_(self) -> float:
        """Return the length of the vector of coefficients.

        Returns
        -------
        float
            The ``radius``, or the one that was chosen.
        """
        return self._fitted_model.radius

    @property
    def radii_(self) -> Table:
        """Return the radii that were tried.

        Returns
        -------
        Table
            Columns ``radius``, ascending; ``n_terms``, the number that would be kept in the
            comparison, at most ``radius_terms``; ``validation_auc``, the AUC of the held-out rows
            with that many terms, the mean over folds, NaN if none were held out;
            ``standard_error``, of its distance below the best, for scores of the same rows
            (DeLong), NaN if only one radius was tried; and ``kept``, true for the chosen one, the
            smallest within its error of the best. With many rows, those that went on are compared.
        """
        model = self._fitted_model
        tried = json.loads(model.radii())
        radius = np.array([one["radius"] for one in tried], dtype=np.float64)
        # None becomes NaN.
        aucs = np.array([one["auc"] for one in tried], dtype=np.float64)
        errors = np.array([one["standard_error"] for one in tried], dtype=np.float64)
        n_terms = np.array([one["n_terms"] for one in tried], dtype=np.int64)
        return Table(
            radius=radius,
            n_terms=n_terms,
            validation_auc=aucs,
            standard_error=errors,
            kept=radius == model.radius,
        )

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Return the contribution of the terms of each feature to the ramp statistic.

        Returns
        -------
        ndarray of shape (n_features,)
            In units of AUC; the contribution of a term of two features is divided equally. They add
            up to the ramp statistic of the search on the training rows, less 1/2.
        """
        return self._fitted_model.importances()


def _check_depth(depth: Any) -> dict[str, Any]:
    """Return the depth of the search in the form of the core."""
    if isinstance(depth, str) and depth in DEPTHS:
        return dict(DEPTHS[depth])
    if not isinstance(depth, Mapping):
        known = ", ".join(repr(name) for name in DEPTHS)
        raise ValueError(
            f"depth must be one of {known}, or a dict with the keys {', '.join(_LEAST)}; got"
            f" {depth!r}"
        )
    if unknown := [key for key in depth if key not in _LEAST]:
        raise ValueError(f"depth may have the keys {', '.join(_LEAST)}; got {unknown[0]!r}")
    return {
        key: check_int(depth.get(key, DEPTHS["standard"][key]), f"{key} of depth", low=least)
        for key, least in _LEAST.items()
    }
