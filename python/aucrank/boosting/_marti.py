"""MartiRank and SMartiRank: martingale boosting over the two-sided classifiers of weak rankers."""

import json
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.calibrated import CalibratedRanker
from aucrank._base.fit_context import FitContext, ParamScope, RowsContext
from aucrank._base.summary import Section, less
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import binning_params, check_choice, check_int, check_real
from aucrank._utils.warn import warn_caller
from aucrank._utils.words import plural
from aucrank.boosting._branching_program import BranchingProgram
from aucrank.boosting._weak_rankers import WeakRankersMixin, weak_ranker_params
from aucrank.data._dataset import refuse_for_dataset
from aucrank.data._stored import Rows


class ProgramRanker(WeakRankersMixin, CalibratedRanker):
    """Base of rankers that are branching programs."""

    _family: ClassVar[str] = "branching_program"
    _model: _core.BranchingProgram

    n_rounds: int
    criterion: str
    routing: str
    output: str
    max_bins: int | None
    level_rates: str
    verbose: int

    @property
    def program_(self) -> BranchingProgram:
        """The program: tables of its nodes and edges, text, and a plot."""
        check_is_fitted(self)
        return BranchingProgram(self._model, self._schema)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Contribution of the rankers on each feature to the AUC.

        A ranker counts by its advantage over chance, the AUC of its two-sided classifier minus 1/2,
        times the share of all pairs of a positive and a negative training row that meet at its
        node; the result is the mean over the layers, and the sum is at most 1/2. The value of a
        tree is divided in proportion to the squared gains of its stumps.

        Raises
        ------
        AttributeError
            If a weak ranker uses many features at once.
        """
        check_is_fitted(self)
        importances = self._model.importances()
        if importances is None:
            raise AttributeError(
                "feature_importances_ is not defined for weak rankers that test many features at"
                " once; sklearn.inspection.permutation_importance measures any model"
            )
        return importances

    def _size(self) -> str:
        program = self.program_
        return f"{plural(program.n_layers, 'layer')}, {plural(program.n_nodes, 'node')}"

    def _summary(self) -> list[Section]:
        outputs = {
            "votes": "votes",
            "sign": "1 of a majority of votes, or -1,",
            "node_rate": "share of positives",
        }
        text = (
            f"score: the {outputs[self.output]} where the way of a row ends{less(self.threshold_)}",
            "a row starts at #0 of layer 1; called positive, it goes from #i to #i+1, else to #i",
            "",
            self.program_.to_text(),
        )
        return [Section(f"The program ({self._size()})", "\n".join(text))]

    @property
    def threshold_(self) -> float:
        """Score above which a row is called positive, before it is subtracted."""
        check_is_fitted(self)
        return self._model.threshold

    _fits_dataset = "rows"

    def _check_for_dataset(self) -> None:
        super()._check_for_dataset()
        if self.routing == "sampled":
            # Coins depend on the raw values of a row.
            raise refuse_for_dataset("routing", self.routing, "'expected'")

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        return {
            "binning": binning_params(self.max_bins, self.level_rates, scope.seed),
            "weak_ranker": weak_ranker_params(self.weak_ranker, scope),
            "n_rounds": check_int(self.n_rounds, "n_rounds", low=1, high=1000),
            "criterion": check_choice(self.criterion, "criterion", ("sum", "error")),
            "routing": check_choice(self.routing, "routing", ("expected", "sampled")),
            "score": check_choice(self.output, "output", ("votes", "sign", "node_rate")),
            "noise_rate": 0.0,
            "epsilon": None,
            "min_samples_class": 0,
            "sample_size": None,
            "seed": scope.seed,
        }

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
        """Fit the program to rows of two classes, layer by layer.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features), or Dataset
            Training data. Data frames of pandas, polars and pyarrow may have categorical columns;
            NaN, None and null are missing values. A :class:`~aucrank.data.Dataset` has rows that
            need not fit in memory, and their labels and weights: the model is that of one frame
            with all of its rows.
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
            When each row was recorded, as numbers or dates: the latest part is held out, and folds
            are ranges of time.
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
            If a parameter, the data, the labels or the weights are not valid.
        """
        return self._fit(X, y, sample_weight, groups=groups, time=time, gap=gap)

    def _fit_model(self, context: FitContext) -> _core.BranchingProgram:
        sample, params = context.sample, json.dumps(self._core_params(context.scope))
        fitter = self._external_fitter(sample)
        model = _core.fit_marti_rank(
            sample.core, params, context.n_threads, fitter, context.progress.observer
        )
        if fitter is not None:
            self._rankers = fitter.kept
        self._report(BranchingProgram(model, sample.schema))
        return model

    def _fit_rows(
        self, rows: Rows, params: dict[str, Any], context: RowsContext
    ) -> _core.BranchingProgram:
        model = _core.fit_marti_rank(
            (rows, context.fit_number),
            json.dumps(params),
            context.n_threads,
            observer=context.progress.observer,
        )
        self._report(BranchingProgram(model, context.schema))
        return model

    def _report(self, program: BranchingProgram) -> None:
        """Warn if nothing was learned, and print the number of nodes of each kind."""
        kinds = program.nodes["kind"].tolist()
        if kinds[0] == "frozen":
            warn_caller(
                "A class has too few rows for a ranker (see min_samples_class), so that all rows"
                " tie",
            )
        if self.verbose > 0:
            found = {kind: kinds.count(kind) for kind in ("ranker", "coin", "frozen", "unreached")}
            nodes = ", ".join(f"{number} {kind}" for kind, number in found.items() if number)
            print(f"{type(self).__name__}: {self.n_rounds} layers, nodes: {nodes}")


class MartiRank(ProgramRanker):
    """Branching program of weak rankers that is robust to label noise.

    `AUCBoost` gives weight to badly ranked rows, and rows with wrong labels accumulate most of it.
    Here no row is ever reweighted: rows that equally many rankers have called positive meet at one
    node, a weak ranker is fitted to just these, and its output separates them again. So the route
    of a row depends only on its features, and flipped labels remain a constant share of noise at
    every node, which does not change which ranking is better. In each round a row moves right if it
    is called positive and left if negative; the end of this walk ranks it (Basic MartiRank, section
    4 of [1]_).

    Parameters
    ----------
    n_rounds : int, default=10
        Layers of rankers, the paper's T, from 1 to 1000. A program has T (T + 1) / 2 of them, and
        each needs rows of both classes to learn from.
    weak_ranker : str, TreeRank, LeafRank or estimator, default="feature"
        The ranker to fit at each node. "feature": the single feature with the highest AUC, in
        either direction, its categories by their share of positives. "threshold": the single
        threshold with the largest TPR - FPR, or the best set of categories. "linear": Fisher's
        linear discriminant, for numbers only; a missing one counts as their mean. "tree": a
        ``TreeRank(max_depth=3, pruning=None)``. Otherwise a `TreeRank` without pruning, a
        `LeafRank` (a tree of one such split), or an estimator of scikit-learn, see Notes.
    criterion : {"sum", "error"}, default="sum"
        How a ranking is cut into a classifier with one error rate for both classes: see
        `TwoSidedClassifier`.
    routing : {"expected", "sampled"}, default="expected"
        How a row passes a coin, in fit and afterwards: in both directions, weighted by the chance
        of each, which takes the time of T (T + 1) / 2 rankers per row and gives the mean over all
        coins; or in one, by a coin that is a hash of the row, which takes T.
    output : {"votes", "sign", "node_rate"}, default="votes"
        The score of a row at the end of its path, averaged over its paths: the number of votes for
        "positive"; 1 if they are half of the rounds or more and else -1, which is the ranker of the
        paper's Theorem 8; or the share of positives among the training rows that ended there.
    max_bins : int or None, default=255
        Maximal number of bins of a numeric feature, cut at quantiles of at most 200,000 rows; a
        feature with no more distinct values is exact. None for one bin per value.
    level_rates : {"shrunken", "raw"}, default="shrunken"
        Class rates of categories used to choose sets of them. "shrunken": rates are shrunk towards
        that of all rows as far as chance explains their differences; with more than six categories,
        those of fewer than ten training rows count as missing, see :ref:`categories <level-rates>`.
        "raw": the observed rates, the exhaustive search of the papers, which fits noise where there
        are many categories.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categorical: those of a data frame with a categorical or string type, or
        those listed by position, by name or in a boolean mask.
    calibration : {"auto", "isotonic", "sigmoid"} or None, default=None
        How scores are mapped to probabilities, for `predict_proba`. The ranking does not change,
        and ``threshold_`` becomes the score at even odds. "sigmoid": log-odds linear in the score
        (Platt). "isotonic": isotonic regression, with interpolated log-odds. "auto": "isotonic"
        where the rarer class has 1,000 rows or more to calibrate on, else "sigmoid". Probabilities
        are learned from rows that were left out: the ranker is fitted three more times, each time
        without a third of the rows. None: no probabilities. See :doc:`probabilities
        </probabilities>`.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of the rows of each class; "balanced" gives both classes the same
        total. A pair counts by the product of the weights of its rows, so that class weights hardly
        change the ranking, if at all; they move ``threshold_`` to where Platt scaling of the
        training rows has even odds, and with ``calibration`` the probabilities.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The program does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds the coins of ``routing="sampled"``, a weak ranker that samples, and the rows from
        which bins are cut beyond 200,000.
    verbose : int, default=0
        If 1, print a line after every tenth layer, and at the end the number of nodes of each kind;
        if greater, after every layer.

    Attributes
    ----------
    program_ : BranchingProgram
        The program: tables of its nodes and edges, text, and a plot.
    threshold_ : float
        Score above which a row is called positive: where TPR - FPR was largest in training, or as
        set by ``calibration`` or ``class_weight``. `decision_function` has it subtracted already.
    feature_importances_ : ndarray of shape (n_features,)
        Contribution of the rankers on each feature to the AUC: the advantage of each over chance
        times the share of all pairs of a positive and a negative row that meet at its node, as a
        mean over the layers. Not available for linear rankers and estimators.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the class to rank first.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if any.

    See Also
    --------
    SMartiRank : Ends paths that few rows of a class take, and accounts for label noise.
    AUCBoost : Reweights rows instead; sums of terms, which are explainable.

    Notes
    -----
    If every node had a ranker with an AUC of at least 1/2 + gamma on the true labels, the error of
    either class, and so 1 - AUC, would fall below epsilon after a number of rounds in the order of
    log(1/epsilon) / gamma^2, at any rate of flipped labels below 1/2 (Theorem 8). On a sample, the
    nodes far from the middle see few rows of one class, and their rankers fit noise: more rounds
    are not always better.

    A node reached only by rows of one class is frozen: paths end there, with all remaining votes
    for this class. If no ranker is better than chance, a fair coin routes the rows.

    An estimator of scikit-learn, a pipeline included, needs ``decision_function`` or
    ``predict_proba`` and a ``fit`` that takes ``sample_weight``. For each node it is cloned, its
    ``random_state`` is set, and it is fitted to rows in the format of ``X``, missing values
    included, with labels 0 and 1 and with weights of mean 1 and equal sums of both classes; its
    ranking is reversed if its AUC is below 1/2. Pickle such a model, since ``save`` cannot store
    it.

    The parameter is called ``output``, since every estimator has a method ``score``.

    A scipy sparse matrix, 0 where nothing is stored, gives the same model as the dense one, which
    is never built.

    References
    ----------
    .. [1] Long and Servedio, "Boosting the area under the ROC curve", Advances in Neural
       Information Processing Systems 20, 2007.
    .. [2] Long and Servedio, "Martingale boosting", Conference on Learning Theory (COLT), 2005.
       :doi:`10.1007/11503415_6`

    Examples
    --------
    Learn from labels with 30 % errors, and rank by the true ones:

    >>> from aucrank import MartiRank
    >>> from aucrank.datasets import make_gaussian_pair, make_noisy_labels
    >>> train, fresh = (make_gaussian_pair(5000, random_state=seed) for seed in (0, 1))
    >>> noisy = make_noisy_labels(train.y, 0.3, random_state=0)
    >>> model = MartiRank().fit(train.X, noisy)
    >>> print(f"{model.score(fresh.X, fresh.y):.2f}, at best {fresh.auc_star:.2f}")
    0.74, at best 0.74
    """

    def __init__(
        self,
        *,
        n_rounds: int = 10,
        weak_ranker: Any = "feature",
        criterion: str = "sum",
        routing: str = "expected",
        output: str = "votes",
        max_bins: int | None = 255,
        level_rates: str = "shrunken",
        categorical_features: Any = "from_dtype",
        calibration: str | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_rounds = n_rounds
        self.weak_ranker = weak_ranker
        self.criterion = criterion
        self.routing = routing
        self.output = output
        self.max_bins = max_bins
        self.level_rates = level_rates
        self.categorical_features = categorical_features
        self.calibration = calibration
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


class SMartiRank(ProgramRanker):
    """`MartiRank` that freezes nodes few rows of a class reach, and accounts for label noise.

    Nodes far from the middle are reached by a tiny share of one class, and a ranker learns only
    noise there. `SMartiRank` ends paths at these nodes, but only as long as all rows that end early
    are at most the share ``epsilon`` / 2 of their class, so that the guarantee of `MartiRank` still
    holds (Theorem 9 of [1]_).

    Parameters
    ----------
    n_rounds : int, default=10
        Layers of rankers, the paper's T, from 1 to 1000.
    epsilon : float, default=0.1
        A node is frozen if it is reached by a smaller share of either class than epsilon / (T (T +
        1)) (inequality 2 of [1]_); above 0 and below 1.
    noise_rate : float or "auto", default=0.0
        Share of labels known to be flipped at random, whatever the class; at least 0 and below the
        share of the rarer class. "auto" where it is unknown: programs are fitted to three quarters
        of the distinct rows at 0, 0.05, 0.1, ..., and the guess whose program ranks the other
        quarter best is used for all rows, the smallest in case of a tie (section 5 of [1]_). Above
        0, all counts are estimates for the true labels given the rate, and the bound on a share is
        a quarter as large, since it is compared with an estimate (section 5 of [1]_).
    min_samples_class : float, default=10
        A node with fewer training rows than this of either class is frozen; with
        ``routing="expected"``, a row counts by its share in the node. The paper's m_A. 0 freezes by
        ``epsilon`` alone.
    sample_size : int or None, default=None
        Maximal number of rows of each class that a node is fitted to, sampled from those that reach
        it; None for all.
    weak_ranker : str, TreeRank, LeafRank or estimator, default="feature"
        The ranker to fit at each node, "feature", "threshold", "linear", "tree" or an object: see
        `MartiRank`.
    criterion : {"sum", "error"}, default="sum"
        How a ranking is cut into a classifier with one error rate for both classes: see
        `TwoSidedClassifier`.
    routing : {"expected", "sampled"}, default="expected"
        How a row passes a coin: see `MartiRank`.
    output : {"votes", "sign", "node_rate"}, default="votes"
        The score of a row at the end of its path: see `MartiRank`.
    max_bins : int or None, default=255
        Maximal number of bins of a numeric feature, cut at quantiles of at most 200,000 rows; a
        feature with no more distinct values is exact. None for one bin per value.
    level_rates : {"shrunken", "raw"}, default="shrunken"
        Class rates of categories used to choose sets of them. "shrunken": rates are shrunk towards
        that of all rows as far as chance explains their differences; with more than six categories,
        those of fewer than ten training rows count as missing, see :ref:`categories <level-rates>`.
        "raw": the observed rates, the exhaustive search of the papers, which fits noise where there
        are many categories.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categorical: those of a data frame with a categorical or string type, or
        those listed by position, by name or in a boolean mask.
    calibration : {"auto", "isotonic", "sigmoid"} or None, default=None
        How scores are mapped to probabilities, for `predict_proba`. The ranking does not change,
        and ``threshold_`` becomes the score at even odds. "sigmoid": log-odds linear in the score
        (Platt). "isotonic": isotonic regression, with interpolated log-odds. "auto": "isotonic"
        where the rarer class has 1,000 rows or more to calibrate on, else "sigmoid". Probabilities
        are learned from rows that were left out: the ranker is fitted three more times, each time
        without a third of the rows. None: no probabilities. See :doc:`probabilities
        </probabilities>`.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of the rows of each class; "balanced" gives both classes the same
        total. A pair counts by the product of the weights of its rows, so that class weights hardly
        change the ranking, if at all; they move ``threshold_`` to where Platt scaling of the
        training rows has even odds, and with ``calibration`` the probabilities.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The program does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds the coins of ``routing="sampled"``, the rows of ``sample_size``, a weak ranker that
        samples, and the rows from which bins are cut beyond 200,000.
    verbose : int, default=0
        If 1, print a line after every tenth layer, and at the end the number of nodes of each kind;
        if greater, after every layer.

    Attributes
    ----------
    program_ : BranchingProgram
        The program: tables of its nodes and edges, text, and a plot.
    threshold_ : float
        Score above which a row is called positive: where TPR - FPR was largest in training, or as
        set by ``calibration`` or ``class_weight``. `decision_function` has it subtracted already.
    noise_rate_ : float
        The assumed share of flipped labels: ``noise_rate``, or the chosen guess.
    feature_importances_ : ndarray of shape (n_features,)
        Contribution of the rankers on each feature to the AUC: the advantage of each over chance
        times the share of all pairs of a positive and a negative row that meet at its node, as a
        mean over the layers. Not available for linear rankers and estimators.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the class to rank first.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if any.

    See Also
    --------
    MartiRank : Freezes only nodes of one class.

    Notes
    -----
    The paper draws fresh rows for each node; here all nodes learn from one sample. A frozen node
    casts all remaining votes for the class that is more frequent there than among all rows, and
    against the rare one; the paper's label 1 - b must read -b, since its classes are -1 and 1. An
    estimate below 0 of the mass of a class counts as 0.

    Labels flipped at random shrink every AUC towards 1/2 by the same factor, so held-out rows need
    no true labels to determine which guess of ``noise_rate="auto"`` ranks best. It chooses among
    programs and does not estimate the noise: if few nodes are frozen, very different guesses rank
    equally well.

    A scipy sparse matrix, 0 where nothing is stored, gives the same model as the dense one, which
    is never built.

    References
    ----------
    .. [1] Long and Servedio, "Boosting the area under the ROC curve", Advances in Neural
       Information Processing Systems 20, 2007.

    Examples
    --------
    >>> from aucrank import SMartiRank
    >>> from aucrank.datasets import make_gaussian_pair, make_noisy_labels
    >>> train, fresh = (make_gaussian_pair(5000, random_state=seed) for seed in (0, 1))
    >>> noisy = make_noisy_labels(train.y, 0.3, random_state=0)
    >>> model = SMartiRank(noise_rate=0.3).fit(train.X, noisy)
    >>> print(f"{model.score(fresh.X, fresh.y):.2f}, at best {fresh.auc_star:.2f}")
    0.74, at best 0.74
    """

    def __init__(
        self,
        *,
        n_rounds: int = 10,
        epsilon: float = 0.1,
        noise_rate: float | str = 0.0,
        min_samples_class: float = 10,
        sample_size: int | None = None,
        weak_ranker: Any = "feature",
        criterion: str = "sum",
        routing: str = "expected",
        output: str = "votes",
        max_bins: int | None = 255,
        level_rates: str = "shrunken",
        categorical_features: Any = "from_dtype",
        calibration: str | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_rounds = n_rounds
        self.epsilon = epsilon
        self.noise_rate = noise_rate
        self.min_samples_class = min_samples_class
        self.sample_size = sample_size
        self.weak_ranker = weak_ranker
        self.criterion = criterion
        self.routing = routing
        self.output = output
        self.max_bins = max_bins
        self.level_rates = level_rates
        self.categorical_features = categorical_features
        self.calibration = calibration
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        return {
            **super()._core_params(scope),
            "epsilon": check_real(
                self.epsilon, "epsilon", low=0.0, high=1.0, low_open=True, high_open=True
            ),
            "noise_rate": self._noise_rate(),
            "min_samples_class": check_real(
                self.min_samples_class, "min_samples_class", low=0.0, high_open=True
            ),
            "sample_size": check_int(self.sample_size, "sample_size", low=1, optional=True),
        }

    def _noise_rate(self) -> float | None:
        if isinstance(self.noise_rate, str):
            check_choice(self.noise_rate, "noise_rate", ("auto",))
            return None
        return check_real(self.noise_rate, "noise_rate", low=0.0, high=0.5, high_open=True)

    def _n_stages(self) -> int | None:
        return None if isinstance(self.noise_rate, str) else 1

    @property
    def noise_rate_(self) -> float:
        """Return the assumed share of flipped labels.

        Returns
        -------
        float
            ``noise_rate``, or the chosen guess.
        """
        check_is_fitted(self)
        return self._model.noise_rate
