import numpy as np
import pytest
from aucrank.metrics import roc_auc_score, two_sample_test
from aucrank.tree import TreeRank
from scipy.stats import binomtest, norm
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB


def n_rejections(draw, n_repeats, ranker, level=0.05):
    rng = np.random.default_rng(0)
    pvalues = [
        two_sample_test(draw(rng), draw(rng), ranker, random_state=seed).pvalue
        for seed in range(n_repeats)
    ]
    return int(np.sum(np.array(pvalues) <= level))


@pytest.mark.parametrize(
    "ranker", [LogisticRegression(), TreeRank(pruning=None, max_depth=3)], ids=["linear", "tree"]
)
def test_the_level_is_kept_if_both_samples_have_one_distribution(ranker):
    # Ties of a tree's strata included. Two-sided: the test must not be idle either.
    rejections = n_rejections(lambda rng: rng.normal(size=(60, 3)), 400, ranker)
    interval = binomtest(rejections, 400).proportion_ci(0.999)
    assert interval.low <= 0.05 <= interval.high


def test_a_difference_invisible_in_single_columns_is_found():
    rng = np.random.default_rng(3)
    X0 = rng.random((2000, 2))
    X1 = rng.random((2000, 2))
    # The quarters of the square that XOR picks are three times as likely in X1.
    same_side = (X1[:, 0] > 0.5) == (X1[:, 1] > 0.5)
    turn = same_side & (rng.random(2000) < 0.5)
    X1[turn, 0] = 1 - X1[turn, 0]
    result = two_sample_test(X0, X1, random_state=0)
    assert result.pvalue < 1e-4
    # The top of the ranking is denser in the second sample.
    fresh = rng.random((4000, 2))
    high = result.ranker.decision_function(fresh) >= np.quantile(
        result.ranker.decision_function(fresh), 0.8
    )
    xor = (fresh[:, 0] > 0.5) != (fresh[:, 1] > 0.5)
    assert xor[high].mean() > 0.7


def test_the_statistic_counts_pairs_of_held_out_rows():
    rng = np.random.default_rng(4)
    X0, X1 = rng.normal(size=(30, 1)), rng.normal(1.0, size=(50, 1))

    class Raw(GaussianNB):
        """Scores by the only column, so that the rows held out are known by their scores."""

        def predict_proba(self, X):
            self.seen_ = [*getattr(self, "seen_", []), X[:, 0].copy()]
            return np.column_stack([-X[:, 0], X[:, 0]])

    result = two_sample_test(X0, X1, Raw(), test_size=0.4, random_state=1)
    held_0, held_1 = result.ranker.seen_
    assert result.n_held_out == (12, 20) == (held_0.size, held_1.size)
    wins = np.sum(held_1[:, None] > held_0)
    assert result.statistic == wins
    y = np.repeat([0, 1], [12, 20])
    assert result.auc == pytest.approx(roc_auc_score(y, np.concatenate([held_0, held_1])))
    # Normal approximation without ties, corrected for continuity.
    error = np.sqrt(12 * 20 * 33 / 12)
    assert result.pvalue == pytest.approx(norm.sf((wins - 120 - 0.5) / error), rel=1e-9)


@pytest.mark.filterwarnings("ignore:A class has one distinct row")
def test_a_ranking_without_differences_has_p_value_one():
    X = np.zeros((20, 2))
    result = two_sample_test(X, X)
    assert (result.auc, result.pvalue) == (0.5, 1.0)
    assert repr(result) == "TwoSampleTest(statistic=50, auc=0.5, pvalue=1)"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_keep_their_categories(library):
    frames = pytest.importorskip(library)
    rng = np.random.default_rng(5)

    def draw(share):
        plan = np.where(rng.random(300) < share, "gold", "basic")
        return frames.DataFrame({"plan": plan, "age": rng.normal(size=300)})

    result = two_sample_test(draw(0.2), draw(0.6), random_state=0)
    assert result.pvalue < 1e-3
    assert list(result.ranker.feature_names_in_) == ["plan", "age"]
    again = two_sample_test(draw(0.4), draw(0.4), random_state=0)
    assert 0 < again.pvalue <= 1


def test_the_seed_determines_the_result():
    rng = np.random.default_rng(6)
    X0, X1 = rng.normal(size=(50, 2)), rng.normal(size=(60, 2))
    first, again, other = (two_sample_test(X0, X1, random_state=s).statistic for s in (0, 0, 1))
    assert first == again != other


def test_bad_input_is_named_in_the_error():
    X = np.zeros((10, 2))
    with pytest.raises(ValueError, match="X0 has 2 columns, but X1 has 3"):
        two_sample_test(X, np.zeros((10, 3)))
    with pytest.raises(ValueError, match="X1 has 3 rows"):
        two_sample_test(X, X[:3])
    with pytest.raises(ValueError, match="X0 must have shape"):
        two_sample_test(X[:, 0], X)
    with pytest.raises(ValueError, match="test_size"):
        two_sample_test(X, X, test_size=1.0)
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="both be data frames"):
        two_sample_test(X, pandas.DataFrame(X, columns=["a", "b"]))
    with pytest.raises(ValueError, match="X0 has columns"):
        two_sample_test(
            pandas.DataFrame(X, columns=["a", "b"]), pandas.DataFrame(X, columns=["a", "c"])
        )
