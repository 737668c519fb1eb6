"""RankBoost: pairs of a positive and a negative row, whose weights factor."""

from typing import Any

from aucrank import _core
from aucrank._params import check_choice
from aucrank._schema import Schema
from aucrank.boosting._boosted import BoostedRanker


class RankBoost(BoostedRanker):
    """Boosting of pairs: single thresholds that lower the share of misranked pairs round by round.

    A distribution over pairs of a positive and a negative row tells which pairs the score still
    ranks wrong or too close; each round adds the threshold of a feature that ranks them best
    ([1]_). With two classes the distribution is a product of one over each class, so a round takes
    one pass over the rows. The sum of thresholds is a step function of each feature, which `terms`
    lists, `explain` adds up and `plot_terms` draws.

    Parameters
    ----------
    weak_ranker : {"threshold", "feature"}, default="threshold"
        What is boosted: the single threshold, or set of categories, of the largest TPR - FPR on
        the reweighted rows, as in the papers; or the single feature of the highest AUC, in either
        direction. A feature is graded from 0 to 1, see Notes.
    n_rounds : int, default=200
        Most rounds. Boosting ends before where nothing is better than chance, or a weak ranker
        makes no mistake.
    learning_rate : float, default=1.0
        Factor on what each round adds, above 0 and at most 1.
    alpha : {"third", "exact"}, default="third"
        How much a round adds. "third": ``1/2 ln((1 + r) / (1 - r))`` (the third method of [1]_),
        ``r`` being the mean by which the grade of a positive row is above that of a negative one;
        of a threshold, TPR - FPR. "exact": what makes the pair loss least, with a loss of one pair
        added for those ranked right and those ranked wrong by the most. Neither is larger than
        ``1/2 ln(2 n)``.
    max_bins : int or None, default=255
        Most bins that a numeric feature is cut into before boosting, at quantiles of at most
        200,000 rows; a feature of no more distinct values is exact. None for one bin a value: all
        thresholds, as in the papers.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns hold categories: those of a data frame whose type says so, or those listed
        by position, by name or in a boolean mask. A round ranks a set of categories high: the best
        of all sets.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The model does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds the sample that bins are taken from where there are more than 200,000 rows.
    verbose : int, default=0
        No effect yet.

    Attributes
    ----------
    rounds_ : Table
        One row for each round: ``round`` (from 1), ``rule`` (what it ranks high, in words),
        ``high`` and ``low`` (the most and the least that it adds) and ``missing`` (what it adds
        where the feature is missing). After shrinkage.
    threshold_ : float
        Sum of terms above which a row is called positive: where TPR - FPR was largest in training.
        `decision_function` is the sum less this.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the class to rank first.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they had any.

    See Also
    --------
    AUCBoost : Boosting of any ranker, with equal errors on both classes.

    Notes
    -----
    The pair loss, the mean over pairs of ``exp(f(negative) - f(positive))``, is at least the share
    of misranked pairs, 1 - AUC, and falls in each round.

    The threshold of each round always points to what ranks positives higher, so that a round adds
    0 or ``alpha > 0``. The reverse with a negative ``alpha`` would differ by a constant.

    Where some training rows miss a feature, a threshold ranks them on the side where that adds to
    ``r``; where none did, a missing value adds half of ``alpha``. Of equally good thresholds the
    first feature and the highest threshold is taken.

    A ranking in more than two groups is graded by mid-ranks: the share of the reweighted rows
    below a group and half of its own, each class counting one half, stretched to [0, 1].

    Equal rows have equal scores to the last bit, and neither the order of the rows nor ``n_jobs``
    matters.

    References
    ----------
    .. [1] Freund, Iyer, Schapire and Singer, "An efficient boosting algorithm for combining
       preferences", J. Mach. Learn. Res. 4, 2003.
       https://www.jmlr.org/papers/v4/freund03a.html

    Examples
    --------
    >>> from aucrank import RankBoost
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RankBoost(n_rounds=3).fit(X, y)
    >>> model.rounds_
    round  rule                               high  low  missing
        1  worst_perimeter >= 105.95        1.2164    0   0.6082
        2  mean_concave_points >= 0.04923   1.0063    0   0.5031
        3  worst_concave_points >= 0.14575  0.7045    0   0.3523
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
        alpha: str = "third",
        selection: str | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        refit: bool = False,
        warm_start: bool = False,
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.weak_ranker = weak_ranker
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.max_features = max_features
        self.alpha = alpha
        self.selection = selection
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.refit = refit
        self.warm_start = warm_start
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _core_params(self, seed: int, schema: Schema | None) -> dict[str, Any]:
        return {
            "rounds": self._round_params(seed, schema),
            "alpha": check_choice(self.alpha, "alpha", ("third", "exact")),
        }
