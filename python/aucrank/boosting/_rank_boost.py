"""RankBoost: boosting over pairs of a positive and a negative row, whose weights factor."""

from typing import Any

from aucrank import _core
from aucrank._base.fit_context import ParamScope
from aucrank._utils.params import check_choice, check_real
from aucrank.boosting._boosted import BoostedRanker


class RankBoost(BoostedRanker):
    """Boosting of pairs: single thresholds that lower the share of misranked pairs round by round.

    A distribution over pairs of a positive and a negative row emphasises pairs that the score still
    ranks wrong or too close; each round adds the threshold of a feature that ranks them best
    ([1]_). With two classes the distribution is a product of one over each class, so a round takes
    one pass over the rows. The sum of thresholds is a step function of each feature, which `terms`
    lists, `explain` adds up and `plot_terms` draws.

    Parameters
    ----------
    weak_ranker : str, TreeRank, LeafRank or estimator, default="threshold"
        The ranker to boost. "feature": the single feature with the highest AUC, in either
        direction, its categories by their share of positives. "threshold": the single threshold
        with the largest TPR - FPR, or the best set of categories. "linear": Fisher's linear
        discriminant, for numbers only; a missing one counts as their mean. "tree": a
        ``TreeRank(max_depth=3, pruning=None)``. Otherwise a `TreeRank` without pruning, a
        `LeafRank` (a tree of one such split), or an estimator of scikit-learn, see Notes.
    n_rounds : int, default=200
        Maximal number of rounds. There are fewer if no ranker is better than chance, or one makes
        no mistake.
    learning_rate : float, default=1.0
        Factor on the contribution of each round to the score, above 0 and at most 1.
    subsample : float, default=1.0
        Share of the distinct rows that each round is fitted to, above 0 and at most 1. Copies of a
        row are sampled together; all rows are reweighted.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Features drawn at random for each round: a number, a share of all, their square root or
        logarithm, or None for all. Where the sampled rows and features are uninformative, the round
        learns from all of them.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        Direction of each feature: 1 if the score may only rise with it, -1 if it may only fall, 0
        if it is free. A dict gives them by column name; features that it omits are free. Only
        numeric features can be constrained, and their missing values are free. Each round takes the
        best ranker that satisfies the constraints; linear rankers and estimators of scikit-learn
        cannot.
    alpha : {"third", "exact"}, default="third"
        Weight of a round. "third": ``1/2 ln((1 + r) / (1 - r))`` (the third method of [1]_), ``r``
        being the mean by which the grade of a positive row is above that of a negative one; of a
        threshold, TPR - FPR. "exact": the minimiser of the pair loss, smoothed by adding one pair
        ranked right and one ranked wrong by the most. Neither exceeds ``1/2 ln(2 n)``. With
        ``max_fpr`` below 1, "third" is better: rows change places.
    max_fpr : float, default=1.0
        Focus on false positive rates up to this one, above 0 and at most 1, where only the top of a
        list is acted on. Below 1, the share ``max_fpr`` of the negative rows with the highest
        scores so far has full weight in pairs, and the others have weight 0.3; held-out rows are
        evaluated by their partial AUC. See Notes.
    selection : {"window"} or None, default=None
        How many rounds are kept. "window": all are run with a quarter of the distinct rows of each
        class held out, or with ``X_val``, and those up to the highest AUC are kept, the AUC being
        smoothed by a triangular window of 15 rounds (sec. 3.5 of [2]_). Cannot be combined with
        ``early_stopping``. None to keep all, or those that ``early_stopping`` chooses.
    early_stopping : bool, default=False
        Whether to hold rows out, stop when their AUC no longer increases, and keep the rounds up to
        the highest AUC.
    validation_fraction : float, default=0.1
        Share of the distinct rows of each class to hold out for ``early_stopping`` without
        ``X_val``; above 0 and below 1.
    n_iter_no_change : int, default=10
        Rounds without an increase of the AUC after which ``early_stopping`` stops.
    tol : float, default=1e-4
        Minimal increase of the AUC that ``early_stopping`` counts.
    refit : bool, default=False
        Whether to refit to all rows with the chosen number of rounds. Cannot be combined with
        ``warm_start``.
    warm_start : bool, default=False
        Whether `fit` continues from the rounds of the last fit, up to ``n_rounds``. On the same
        rows, 10 rounds and 10 more equal the 20 rounds of one fit, bit for bit, also without a
        ``random_state``: the model keeps its seed.
    max_bins : int or None, default=255
        Maximal number of bins of a numeric feature, cut at quantiles of at most 200,000 rows; a
        feature with no more distinct values is exact. None for one bin per value.
    level_rates : {"shrunken", "raw"}, default="shrunken"
        Class rates of categories used to choose sets of them. "shrunken": rates are shrunk towards
        that of all rows as far as chance explains their differences; with more than six categories,
        those of fewer than ten training rows count as missing, see :ref:`categories <level-rates>`;
        where rare ones hold more than 5 % of the rows, rounds may also split them by their rates,
        learned on other folds of the rows, and by their numbers of rows, see :ref:`many levels
        <rates-of-many>`. "raw": the observed rates, the exhaustive search of the papers, which fits
        noise where there are many categories.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categorical: those of a data frame with a categorical or string type, or
        those listed by position, by name or in a boolean mask.
    calibration : {"auto", "isotonic", "sigmoid"} or None, default=None
        How scores are mapped to probabilities, for `predict_proba`. The ranking does not change,
        and ``threshold_`` becomes the score at even odds. "sigmoid": log-odds linear in the score
        (Platt). "isotonic": isotonic regression, with interpolated log-odds. "auto": "isotonic"
        where the rarer class has 1,000 rows or more to calibrate on, else "sigmoid". Probabilities
        are learned from validation or held-out rows, if there are enough of them; else the ranker
        is fitted three more times, each time without a third of the rows. None: no probabilities.
        See :doc:`probabilities </probabilities>`.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of the rows of each class; "balanced" gives both classes the same
        total. A pair counts by the product of the weights of its rows, so that class weights hardly
        change the ranking, if at all; they move ``threshold_`` to where Platt scaling of the
        training rows has even odds, and with ``calibration`` the probabilities.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The model does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds sampling and held-out rows, a weak ranker that samples, and the rows from which bins
        are cut beyond 200,000.
    verbose : int, default=0
        If 1, print a line after every tenth round, and at the end how many were kept; if greater,
        after every round.

    Attributes
    ----------
    n_iter_ : int
        Number of rounds of the model.
    rounds_ : Table
        Contribution of each round: ``round``, from 1; ``rule``, the rows that it ranks high, in
        words; ``high`` and ``low``, the most and the least that it adds; and ``missing``, its value
        where the feature is missing, NaN where it uses several. After shrinkage.
    threshold_ : float
        The sum at which `decision_function` is 0: where TPR - FPR of the training rows is largest,
        or as set by ``calibration`` or ``class_weight``.
    base_score_ : float
        ``-threshold_``; a row of `explain` plus this is its score.
    validation_path_ : Table or None
        The AUC of the held-out rows, by ``round``; a partial AUC is standardised, 1/2 for chance.
        None without held-out rows.
    feature_importances_ : ndarray of shape (n_features,)
        Mean advantage over chance of the rounds on each feature, in units of AUC. Not available for
        linear rankers and estimators.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the class to rank first.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if any.

    See Also
    --------
    AUCBoost : Boosting of any ranker, with equal errors on both classes.

    Notes
    -----
    The pair loss, the mean over pairs of ``exp(f(negative) - f(positive))``, is at least the share
    of misranked pairs, 1 - AUC, and falls in each round.

    With ``max_fpr`` below 1, the score before each round determines which negative rows have full
    weight. Rows tied at the boundary all have the same weight in between, so that the order of rows
    does not matter. As these are the rows with the greatest sum of losses, the pair loss is a
    maximum of convex functions of the scores, and so convex; but it may rise in a round, which is
    fitted to the weights before it. Counting only the highest negative rows, as [3]_ does for
    linear scores, ranks worse here: others take their place, to which no round was fitted.
    :ref:`The guide <top-of-the-list>` reports the gain, up to half a point.

    The threshold of each round is always oriented so that it ranks positives higher, and a round
    adds 0 or ``alpha > 0``. The reverse with a negative ``alpha`` would differ by a constant.

    If some training rows miss a feature, a threshold puts them on the side that increases ``r``; if
    none did, a missing value adds half of ``alpha``. Among equally good thresholds, the first
    feature and the highest threshold is taken.

    A ranking in more than two groups is graded by mid-ranks: the share of the reweighted rows
    below a group and half of its own, each class counting one half, stretched to [0, 1]. Linear
    scores and those of estimators are first cut into at most 256 groups of about the same weight.

    An estimator of scikit-learn, a pipeline included, needs ``decision_function`` or
    ``predict_proba`` and a ``fit`` that takes ``sample_weight``. For each round it is cloned, its
    ``random_state`` is set, and it is fitted to rows in the format of ``X``, missing values
    included, with labels 0 and 1 and with weights of mean 1 and equal sums of both classes; its
    ranking is reversed if its AUC is below 1/2. Such a model cannot have ``max_features`` or
    ``X_val``; pickle it, since ``save`` cannot store it.

    Equal rows have equal scores to the last bit, and neither the order of the rows nor ``n_jobs``
    matters.

    References
    ----------
    .. [1] Freund, Iyer, Schapire and Singer, "An efficient boosting algorithm for combining
       preferences", J. Mach. Learn. Res. 4, 2003.
       https://www.jmlr.org/papers/v4/freund03a.html
    .. [2] Herschtal, Raskutti and Campbell, "Area under ROC optimisation using a ramp
       approximation", SIAM International Conference on Data Mining, 2006.
    .. [3] Narasimhan and Agarwal, "A structural SVM based approach for optimizing partial AUC",
       ICML 2013.

    Examples
    --------
    >>> from aucrank import RankBoost
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RankBoost(n_rounds=3).fit(X, y)
    >>> model.rounds_
    round  rule                                           high  low  missing
        1  worst_perimeter >= 105.95                    1.2164    0   0.6082
        2  mean_concave_points >= 0.04923  1.0063    0   0.5031
        3  worst_concave_points >= 0.14575              0.7045    0   0.3523
    >>> round(model.score(X, y), 3)
    0.978
    """

    _fit_core = staticmethod(_core.fit_rank_boost)

    def __init__(
        self,
        *,
        weak_ranker: Any = "threshold",
        n_rounds: int = 200,
        learning_rate: float = 1.0,
        subsample: float = 1.0,
        max_features: Any = None,
        monotonic_cst: Any = None,
        alpha: str = "third",
        max_fpr: float = 1.0,
        selection: str | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        refit: bool = False,
        warm_start: bool = False,
        max_bins: int | None = 255,
        level_rates: str = "shrunken",
        categorical_features: Any = "from_dtype",
        calibration: str | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.weak_ranker = weak_ranker
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.max_features = max_features
        self.monotonic_cst = monotonic_cst
        self.alpha = alpha
        self.max_fpr = max_fpr
        self.selection = selection
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.refit = refit
        self.warm_start = warm_start
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
            "rounds": self._round_params(scope),
            "alpha": check_choice(self.alpha, "alpha", ("third", "exact")),
            "max_fpr": check_real(self.max_fpr, "max_fpr", low=0.0, high=1.0, low_open=True),
        }
