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

    Each round fits a weak ranker to the rows as they are weighted, cuts its ranking into a
    classifier that errs on both classes alike, and adds that to the score by the rule of AdaBoost;
    rows that it ranks well lose weight. As long as some ranker is better than chance, however
    little, the AUC of the training rows goes to 1 (Theorem 2 of [1]_).

    Parameters
    ----------
    weak_ranker : str, TreeRank, LeafRank or estimator, default="feature"
        What is boosted. "feature": the single feature of the highest AUC, in either direction, its
        categories by their share of positives. "threshold": the single threshold of the largest
        TPR - FPR, or the best set of categories. "linear": Fisher's linear discriminant, for
        numbers alone; one that is missing counts as their mean. "tree": a
        ``TreeRank(max_depth=3, pruning=None)``. Otherwise a `TreeRank` without pruning, a
        `LeafRank` (a tree of one such split), or an estimator of scikit-learn, see Notes.
    n_rounds : int, default=50
        Most rounds. There are fewer where no ranker is better than chance, or one makes no
        mistake.
    learning_rate : float, default=1.0
        Factor on what each round adds to the score, above 0 and at most 1.
    subsample : float, default=1.0
        Share of the distinct rows that each round is fitted to, above 0 and at most 1. Copies of a
        row are drawn together; all rows are reweighted.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Features drawn at random for each round: a number, a share of all, their square root or
        logarithm, or None for all. Where the rows and features drawn tell nothing, the round learns
        from all of them.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        Direction of each feature: 1 if the score may only rise with it, -1 if it may only fall, 0
        if it is free. A dict gives them by column name; features that it leaves out are free. Only
        numeric features can be bound. Where their missing values rank is free. Each round
        takes the best ranker of those that keep to the directions; linear rankers and estimators
        of scikit-learn cannot.
    criterion : {"sum", "error"}, default="sum"
        What a ranking is cut by: the least sum of both error rates, as in the proof of Theorem 2,
        or the least error that both classes end with.
    output : {"real", "sign"}, default="real"
        Score rows by the sum of the rounds, or by its sign alone, 1 or -1: the classifier that
        Theorem 2 speaks of. The sign of 0 is 1.
    max_fpr : float, default=1.0
        Rank well up to this false positive rate, above 0 and at most 1, where no more than the top
        of a list is acted on. Below 1, the share ``max_fpr`` of the negative rows counts in full in
        a round, those of the highest sums of the rounds so far, and the others count 0.3; and rows
        held out are judged by their partial AUC. See Notes.
    early_stopping : bool, default=False
        Whether to hold rows out, stop when their AUC no longer rises, and keep the rounds up to
        the highest AUC.
    validation_fraction : float, default=0.1
        Share of the distinct rows of each class that is held out, for ``early_stopping`` without
        an ``X_val``; above 0 and below 1.
    n_iter_no_change : int, default=10
        Rounds without a rise of the AUC after which ``early_stopping`` stops.
    tol : float, default=1e-4
        What the AUC must rise by more than, for ``early_stopping``.
    refit : bool, default=False
        Whether the number of rounds that was chosen is fitted anew to all rows. It does not go with
        ``warm_start``.
    warm_start : bool, default=False
        Whether `fit` goes on from the rounds of the last fit, up to ``n_rounds``. On the same rows,
        10 rounds and 10 more are the 20 rounds of one fit, bit for bit, also without a
        ``random_state``: the model keeps its seed.
    max_bins : int or None, default=255
        Most bins that a numeric feature is cut into, at quantiles of at most 200,000 rows; a
        feature of no more distinct values is exact. None for one bin a value.
    level_rates : {"shrunken", "raw"}, default="shrunken"
        What the class rates of categories are taken for when sets of them are chosen. "shrunken":
        rates move towards that of all rows as far as chance explains how they differ, and of more
        than six categories those of fewer than ten training rows count as missing, see
        :ref:`categories <level-rates>`; where rare ones hold more than 5 % of the rows, rounds may
        ask for those of a low rate, too, as learned on other folds of the rows, see
        :ref:`many levels <rates-of-many>`. "raw": those of their rows, the exhaustive search of the
        papers, which takes noise in many categories for a law.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns hold categories: those of a data frame whose type says so, or those listed
        by position, by name or in a boolean mask.
    calibration : {"auto", "isotonic", "sigmoid"} or None, default=None
        How scores are brought to probabilities, for `predict_proba`. The ranking stays as it is,
        and ``threshold_`` becomes the score of even odds. "sigmoid": one line of log-odds (Platt).
        "isotonic": isotonic regression, its log-odds interpolated. "auto": "isotonic" where the
        rarer class has 1,000 rows or more to calibrate on, else "sigmoid". Probabilities are
        learned from rows that were given or held out to choose by, if these are enough; else the
        ranker is fitted three more times, each time without a third of the rows. None: no
        probabilities. See :doc:`probabilities </probabilities>`.
    class_weight : dict, "balanced" or None, default=None
        What the weights of rows are multiplied by, by class; "balanced" makes the sums of both
        classes equal. A pair counts by the product of its rows, so that classes that weigh more
        change the ranking hardly, if at all; they move ``threshold_`` to where a line of log-odds
        (Platt) has even odds of the training rows, and with ``calibration`` the probabilities.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The model does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds what is drawn and held out, a weak ranker that draws, and the sample that bins are
        taken from where there are more than 200,000 rows.
    verbose : int, default=0
        If 1, print a line after every tenth round, and in the end how many were kept; if
        more, after every round.

    Attributes
    ----------
    n_iter_ : int
        Rounds of the model.
    training_error_bound_ : ndarray of shape (n_iter,)
        After each round, a bound on the mean of both error rates of the sign of the sum.
    rounds_ : Table
        What each round has added: ``round``, from 1; ``rule``, what it ranks high, in words;
        ``high`` and ``low``, the most and the least that it adds; and ``missing``, what it adds
        where the feature is missing, NaN where it asks several. After shrinkage.
    threshold_ : float
        The sum that `decision_function` calls 0: where TPR - FPR of the training rows is largest;
        0 for ``output="sign"``; else as ``calibration`` or ``class_weight`` has it.
    base_score_ : float
        ``-threshold_``: what a row of `explain` is to be added to.
    validation_path_ : Table or None
        The AUC of the rows held out, by ``round``; None where none were held out.
    feature_importances_ : ndarray of shape (n_features,)
        Mean advantage over chance of the rounds on each feature, in units of AUC. Not there for
        linear rankers and estimators.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the class to rank first.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they had any.

    See Also
    --------
    RankBoost : Boosting of the pairs of a positive and a negative row.
    sklearn.ensemble.AdaBoostClassifier : Boosting of classifiers.

    Notes
    -----
    A ranking is cut at the threshold where the errors on the positives and on the negatives have
    the smallest sum, and a coin evens both out (Lemma 4 of [1]_); what enters the score is the mean
    of the coin, :math:`m(x)` between -1 and 1, times
    :math:`\alpha = \frac12 \ln\frac{1 - \epsilon}{\epsilon}`. A ranker of AUC
    :math:`1/2 + \gamma` gives an error :math:`\epsilon` of at most :math:`1/2 - \gamma/4`.

    With ``max_fpr`` below 1, rows are weighted by AdaBoost and, among the negatives, by where the
    sum of the rounds so far has them; the paper knows no such weights. ``training_error_bound_`` is
    a bound for rows that count so: for the mean of the error rate of the positives and of the share
    of the weight of negatives, 1 for the highest and 0.3 for others, that the sign errs on. It may
    rise in a round. That the AUC goes to 1 is not said of it. :ref:`The guide <top-of-the-list>`
    has what is gained.

    An estimator of scikit-learn, a pipeline included, needs ``decision_function`` or
    ``predict_proba`` and a ``fit`` that takes ``sample_weight``. For each round it is cloned, its
    ``random_state`` is set, and it is fitted to rows as they were passed, missing values and all,
    with labels 0 and 1 and with weights of mean 1 and equal sums of both classes; its ranking is
    reversed where the AUC is below 1/2. Such a model cannot have ``max_features`` or ``X_val``,
    and it is pickled, not saved.

    A missing value is ranked above or below all others, whichever suits the AUC. Where no row
    missed a feature in training, it adds nothing to the score.

    Each round takes one pass over the binned data. Beside its bins a row takes about 30 bytes: its
    weight, its mass, its score and its number; 16 more where rows are drawn.

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
    _fit_core_rows = staticmethod(_core.fit_auc_boost_rows)

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
            both classes have a mean of at most this, so its AUC is at least 1 less this (Lemma 5
            of [1]_). Where ``learning_rate`` and ``subsample`` are 1, it is at most the product
            over the rounds of :math:`2 \sqrt{\epsilon(1 - \epsilon)}`, the bound of AdaBoost. With
            a ``max_fpr`` below 1, negative rows count as in the rounds, and nothing is said of the
            AUC.

        References
        ----------
        .. [1] Long and Servedio, "Boosting the area under the ROC curve", Advances in Neural
           Information Processing Systems 20, 2007.
        """
        means = np.array(self._fitted_model.mean_exponentials(), dtype=np.float64)
        bound: NDArray[np.float64] = means.reshape(-1, 2).mean(axis=1)
        return bound
