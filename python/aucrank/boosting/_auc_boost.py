"""AUCBoost: AdaBoost over the two-sided classifiers of weak rankers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._base.fit_context import ParamScope
from aucrank._utils.params import check_choice, check_real
from aucrank.boosting._boosted import BoostedRanker


class AUCBoost(BoostedRanker):
    r"""Boosting of the area under the ROC curve.

    Each round fits a weak ranker to the weighted rows, cuts its ranking into a classifier with
    equal error rates on both classes, and adds that to the score by the rule of AdaBoost; rows that
    it ranks well lose weight. As long as some ranker is better than chance, however little, the
    training AUC converges to 1 (Theorem 2 of [1]_).

    Parameters
    ----------
    weak_ranker : str, TreeRank, LeafRank or estimator, default="feature"
        The ranker to boost. "feature": the single feature with the highest AUC, in either
        direction, its categories by their share of positives. "threshold": the single threshold
        with the largest TPR - FPR, or the best set of categories. "linear": Fisher's linear
        discriminant, for numbers only; a missing one counts as their mean. "tree": a
        ``TreeRank(max_depth=3, pruning=None)``. Otherwise a `TreeRank` without pruning, a
        `LeafRank` (a tree of one such split), or an estimator of scikit-learn, see Notes.
    n_rounds : int, default=50
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
    criterion : {"sum", "error"}, default="sum"
        Criterion for cutting a ranking: the least sum of both error rates, as in the proof of
        Theorem 2, or the least error rate that both classes end with.
    output : {"real", "sign"}, default="real"
        Score rows by the sum of the rounds, or only by its sign, 1 or -1: the classifier of Theorem
        2. The sign of 0 is 1.
    max_fpr : float, default=1.0
        Focus on false positive rates up to this one, above 0 and at most 1, where only the top of a
        list is acted on. Below 1, the share ``max_fpr`` of the negative rows with the highest
        scores so far has full weight in a round, and the others have weight 0.3; held-out rows are
        evaluated by their partial AUC. See Notes.
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
    training_error_bound_ : ndarray of shape (n_iter,)
        After each round, a bound on the mean of both error rates of the sign of the sum.
    rounds_ : Table
        Contribution of each round: ``round``, from 1; ``rule``, the rows that it ranks high, in
        words; ``high`` and ``low``, the most and the least that it adds; and ``missing``, its value
        where the feature is missing, NaN where it uses several. After shrinkage.
    threshold_ : float
        The sum at which `decision_function` is 0: where TPR - FPR of the training rows is largest;
        0 for ``output="sign"``; or as set by ``calibration`` or ``class_weight``.
    base_score_ : float
        ``-threshold_``; a row of `explain` plus this is its score.
    validation_path_ : Table or None
        The AUC of the held-out rows, by ``round``; None without held-out rows.
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
    RankBoost : Boosting of the pairs of a positive and a negative row.
    sklearn.ensemble.AdaBoostClassifier : Boosting of classifiers.

    Notes
    -----
    A ranking is cut at the threshold where the errors on the positives and on the negatives have
    the smallest sum, and a coin evens both out (Lemma 4 of [1]_); the score receives the mean of
    the coin, :math:`m(x)` between -1 and 1, times :math:`\alpha = \frac12
    \ln\frac{1 - \epsilon}{\epsilon}`. A ranker of AUC :math:`1/2 + \gamma` gives an error
    :math:`\epsilon` of at most :math:`1/2 - \gamma/4`.

    With ``max_fpr`` below 1, rows are weighted by AdaBoost and, among the negatives, by their place
    in the ranking so far; this weighting is not in the paper. ``training_error_bound_`` then bounds
    the mean of the error rate of the positives and of the weighted share of negatives (1 for the
    highest, 0.3 for others) that the sign misclassifies. It may rise in a round, and convergence of
    the AUC to 1 is not guaranteed. :ref:`The guide <top-of-the-list>` reports the gain.

    An estimator of scikit-learn, a pipeline included, needs ``decision_function`` or
    ``predict_proba`` and a ``fit`` that takes ``sample_weight``. For each round it is cloned, its
    ``random_state`` is set, and it is fitted to rows in the format of ``X``, missing values
    included, with labels 0 and 1 and with weights of mean 1 and equal sums of both classes; its
    ranking is reversed if its AUC is below 1/2. Such a model cannot have ``max_features`` or
    ``X_val``; pickle it, since ``save`` cannot store it.

    A missing value is ranked above or below all others, whichever gives the higher AUC. It adds
    nothing to the score if the feature had no missing values in training.

    Each round takes one pass over the binned data. In addition to its bins, a row takes about 30
    bytes: its weight, its mass, its score and its number; 16 more if rows are sampled.

    References
    ----------
    .. [1] Long and Servedio, "Boosting the area under the ROC curve", Advances in Neural
       Information Processing Systems 20, 2007.

    Examples
    --------
    >>> from aucrank import AUCBoost
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AUCBoost(n_rounds=100).fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    >>> bool(model.training_error_bound_[-1] < model.training_error_bound_[0] < 1)
    True
    """

    _fit_core = staticmethod(_core.fit_auc_boost)

    def __init__(
        self,
        *,
        weak_ranker: Any = "feature",
        n_rounds: int = 50,
        learning_rate: float = 1.0,
        subsample: float = 1.0,
        max_features: Any = None,
        monotonic_cst: Any = None,
        criterion: str = "sum",
        output: str = "real",
        max_fpr: float = 1.0,
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
        self.criterion = criterion
        self.output = output
        self.max_fpr = max_fpr
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
            "criterion": check_choice(self.criterion, "criterion", ("sum", "error")),
            "output": check_choice(self.output, "output", ("real", "sign")),
            "max_fpr": check_real(self.max_fpr, "max_fpr", low=0.0, high=1.0, low_open=True),
        }

    @property
    def training_error_bound_(self) -> NDArray[np.float64]:
        r"""Return a bound on the training error after each round.

        Returns
        -------
        ndarray of shape (n_iter,)
            Mean of ``exp(-y f)`` over the rows learned from, each class counting one half, ``f``
            being the sum of the rounds so far and ``y`` 1 or -1. The error rates of its sign on
            both classes have a mean of at most this, so its AUC is at least 1 less this (Lemma 5 of
            [1]_). If ``learning_rate`` and ``subsample`` are 1, it is at most the product over the
            rounds of :math:`2 \sqrt{\epsilon(1 - \epsilon)}`, the bound of AdaBoost. With a
            ``max_fpr`` below 1, negative rows are weighted as in the rounds, and the AUC is not
            bounded.

        References
        ----------
        .. [1] Long and Servedio, "Boosting the area under the ROC curve", Advances in Neural
           Information Processing Systems 20, 2007.
        """
        means = np.array(self._fitted_model.mean_exponentials(), dtype=np.float64)
        bound: NDArray[np.float64] = means.reshape(-1, 2).mean(axis=1)
        return bound
