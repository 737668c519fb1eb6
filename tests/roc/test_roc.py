"""ROC curves of known laws, against closed forms and plain enumeration."""

from itertools import combinations, permutations

import numpy as np
import pytest
from aucrank.datasets import make_uniform_mixture
from aucrank.metrics import RocCurve
from aucrank.roc import OptimalROC, PiecewiseConstantScore
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score

# Section 6.1 of Clémençon, Depecker and Vayatis (2011): masses of the four quarters.
H = np.array([0.2, 0.1, 0.3, 0.4])
G = np.array([0.4, 0.3, 0.2, 0.1])


def auc_by_pairs(values, negative, positive):
    """Proposition 1 of the 2011 paper, cell by cell."""
    wins = (values[:, None] > values) + 0.5 * (values[:, None] == values)
    return positive @ wins @ negative / (positive.sum() * negative.sum())


masses = st.lists(
    st.tuples(st.integers(-2, 2), st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=6
).filter(lambda cells: any(c[1] for c in cells) and any(c[2] for c in cells))


# --- PiecewiseConstantScore ---------------------------------------------------------------------


@given(masses)
def test_auc_and_curve_of_a_piecewise_constant_score_are_those_of_its_rows(cells):
    values, negative, positive = map(np.array, zip(*cells, strict=True))
    score = PiecewiseConstantScore(values)
    y = np.repeat([0, 1], [negative.sum(), positive.sum()])
    rows = np.concatenate([np.repeat(np.arange(len(cells)), m) for m in (negative, positive)])
    curve = RocCurve.from_scores(y, score(rows))
    ours = score.roc(negative, positive)
    empty = np.isin(ours.thresholds[1:], values[negative + positive > 0], invert=True)
    assert_array_equal(ours.fpr[np.append(True, ~empty)], curve.fpr)
    assert_array_equal(ours.tpr[np.append(True, ~empty)], curve.tpr)
    assert score.auc(negative, positive) == curve.auc
    assert curve.auc == pytest.approx(auc_by_pairs(values, negative, positive), abs=1e-14)


@given(masses)
def test_the_best_order_of_cells_beats_every_permutation(cells):
    _, negative, positive = map(np.array, zip(*cells, strict=True))
    best = PiecewiseConstantScore.best(negative, positive)
    aucs = [
        auc_by_pairs(PiecewiseConstantScore.from_permutation(sigma).values, negative, positive)
        for sigma in permutations(range(min(len(cells), 6)))
    ]
    assert best.auc(negative, positive) == pytest.approx(max(aucs), abs=1e-14)
    # ... and it is the one whose curve is concave.
    curve = best.roc(negative, positive)
    assert curve.hull().auc == pytest.approx(curve.auc, abs=1e-15)


def test_joining_cells_gains_nothing_over_the_best_order():
    # The second half of Theorem 1: scores of coarser partitions are scores with ties.
    best = PiecewiseConstantScore.best(H, G).auc(H, G)
    for values in np.ndindex(4, 4, 4, 4):
        assert PiecewiseConstantScore(values).auc(H, G) <= best + 1e-15


@given(masses, st.randoms(use_true_random=False))
def test_swapping_neighbours_changes_the_auc_by_the_corrected_lemma(cells, random):
    _, negative, positive = map(np.array, zip(*cells, strict=True))
    sigma = list(range(len(cells)))
    random.shuffle(sigma)
    score = PiecewiseConstantScore.from_permutation(sigma)
    for k in range(len(cells) - 1):
        swapped = list(sigma)
        swapped[k], swapped[k + 1] = swapped[k + 1], swapped[k]
        assert_array_equal(score.swapped(k).to_permutation(), swapped)
        after = PiecewiseConstantScore.from_permutation(swapped).values
        change = auc_by_pairs(after, negative, positive) - auc_by_pairs(
            score.values, negative, positive
        )
        assert score.swap_change(k, negative, positive) == pytest.approx(change, abs=1e-14)


def test_the_three_forms_of_a_law_agree():
    # By hand: cell 2 best, then 0 and 3 tied, then 1.
    disjoint = PiecewiseConstantScore.from_disjoint([9.0, 4.0, -1.0], [[2], [0, 3], [1]])
    assert_array_equal(disjoint.values, [4.0, -1.0, 9.0, 4.0])
    sets = [[False, False, True, False], [True, False, True, True], [True] * 4]
    assert_array_equal(disjoint.to_increasing(), sets)
    increasing = PiecewiseConstantScore.from_increasing(sets)
    assert_array_equal(increasing.values, [2, 1, 3, 2])
    falling, cells = increasing.to_disjoint()
    assert_array_equal(falling, [3, 2, 1])
    assert [list(members) for members in cells] == [[2], [0, 3], [1]]
    with pytest.raises(ValueError, match="tied"):
        increasing.to_permutation()
    permuted = PiecewiseConstantScore.from_permutation([2, 0, 3, 1])
    assert_array_equal(permuted.values, [3, 1, 4, 2])
    assert_array_equal(permuted.to_permutation(), [2, 0, 3, 1])
    assert repr(increasing) == "PiecewiseConstantScore(4 cells, 3 levels)"


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8))
def test_forms_convert_into_each_other_without_loss_of_order(values):
    score = PiecewiseConstantScore(values)
    assert_array_equal(PiecewiseConstantScore.from_disjoint(*score.to_disjoint()).values, values)
    ranks = PiecewiseConstantScore.from_increasing(score.to_increasing())
    for i, j in combinations(range(len(values)), 2):
        assert np.sign(ranks.values[i] - ranks.values[j]) == np.sign(values[i] - values[j])
    assert set(ranks.values) == set(range(1, score.n_levels + 1))


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: PiecewiseConstantScore([1.0, np.nan]), "finite"),
        (lambda: PiecewiseConstantScore([]), "one finite number"),
        (lambda: PiecewiseConstantScore.from_disjoint([1, 2], [[0], [1]]), "fall strictly"),
        (lambda: PiecewiseConstantScore.from_disjoint([2, 1], [[0], [0]]), "once"),
        (lambda: PiecewiseConstantScore.from_disjoint([2, 1], [[0, 1]]), "2 values for 1 sets"),
        (lambda: PiecewiseConstantScore.from_increasing([[True, False]]), "all cells"),
        (lambda: PiecewiseConstantScore.from_increasing([[1, 0], [0, 1]]), "all cells"),
        (lambda: PiecewiseConstantScore.from_permutation([0, 2]), "once"),
        (lambda: PiecewiseConstantScore([1, 2])([2]), "cell 2"),
        (lambda: PiecewiseConstantScore([1, 2]).auc([1], [1]), "negative has 1 cells"),
        (lambda: PiecewiseConstantScore([1, 2]).auc([1, 1], [0, 0]), "positive is zero"),
        (lambda: PiecewiseConstantScore([1, 2]).auc([1, -1], [1, 1]), "negative of cell 1 is -1"),
        (lambda: PiecewiseConstantScore([1, 2]).swapped(1), "k is 1"),
    ],
)
def test_invalid_scores_and_laws_are_named_in_the_error(make, named):
    with pytest.raises(ValueError, match=named):
        make()


# --- OptimalROC: laws with a known curve ---------------------------------------------------------


class Parabola:
    """ROC*(a) = 2a - a^2 with equal classes: Prop. 8 gives eta = (2 - 2a) / (3 - 2a)."""

    p, auc = 0.5, 2 / 3

    @staticmethod
    def alpha(t):
        return np.clip(1 - t / (2 * (1 - np.minimum(t, 0.9))), 0, 1)

    @staticmethod
    def roc(a):
        return 2 * a - a**2

    @staticmethod
    def slope(a):
        return 2 - 2 * a


class Logarithm:
    """ROC*(a) = log(1 + 8a) / log 9, with few positives."""

    p, c = 0.2, 8.0
    auc = (9 * np.log(9) - 8) / (8 * np.log(9))

    @classmethod
    def alpha(cls, t):
        t = np.clip(t, 1e-12, 1 - 1e-12)
        slope = t / (1 - t) * (1 - cls.p) / cls.p
        return np.clip((cls.c / (np.log(9) * slope) - 1) / cls.c, 0, 1)

    @classmethod
    def roc(cls, a):
        return np.log1p(cls.c * a) / np.log(9)

    @classmethod
    def slope(cls, a):
        return cls.c / (1 + cls.c * a) / np.log(9)


CURVES = [Parabola, Logarithm]


def by_distributions(curve):
    return OptimalROC.from_distributions(
        lambda t: 1 - curve.alpha(t),
        lambda t: 1 - curve.roc(curve.alpha(t)),
        positive_share=curve.p,
    )


def by_quantiles(curve):
    """Quantiles by inverting u = (1 - p) (1 - a) + p (1 - ROC*(a)) for a."""
    grid = np.linspace(0, 1, 20_001)
    share = (1 - curve.p) * (1 - grid) + curve.p * (1 - curve.roc(grid))

    def quantile(u):
        a = np.interp(u, share[::-1], grid[::-1])
        odds = curve.p / (1 - curve.p) * curve.slope(a)
        return odds / (1 + odds)

    return OptimalROC.from_quantiles(quantile)


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize(("make", "error"), [(by_distributions, 1e-9), (by_quantiles, 1e-6)])
def test_curve_slope_and_area_are_those_of_the_closed_form(curve, make, error):
    best = make(curve)
    assert best.curve is None
    assert best.positive_share == pytest.approx(curve.p, abs=error)
    assert best.auc_star == pytest.approx(curve.auc, abs=error)
    a = np.linspace(0, 1, 41)
    assert_allclose(best(a), curve.roc(a), atol=error)
    inner = a[1:-1]
    assert_allclose(best.derivative(inner), curve.slope(inner), rtol=1e-3)
    # Prop. 8 is the derivative of what is called.
    step = 1e-4
    quotient = (best(inner + step) - best(inner - step)) / (2 * step)
    assert_allclose(best.derivative(inner), quotient, rtol=1e-3)


def test_a_large_sample_of_eta_converges_to_its_law():
    # eta(X) uniform on [0, 1]: E|eta - eta'| = 1/3 and p = 1/2, so AUC* = 1/2 + 1/3.
    uniform = np.random.default_rng(0).random(40_000)
    assert OptimalROC.from_sample(uniform).auc_star == pytest.approx(5 / 6, abs=0.005)
    assert OptimalROC.from_quantiles(lambda u: u).auc_star == pytest.approx(5 / 6, abs=1e-12)
    weighted = OptimalROC.from_sample([0.2, 0.8, 0.5], sample_weight=[2, 1, 0])
    assert weighted.auc_star == OptimalROC.from_sample([0.2, 0.2, 0.8]).auc_star


def test_cells_of_the_paper_have_their_curve_and_area():
    simulation = make_uniform_mixture(10)
    best = OptimalROC.from_cells((G + H) / 2, G / (G + H))
    assert best.auc_star == pytest.approx(0.735, abs=1e-12)
    assert_allclose(best.curve.fpr, simulation.roc_star[0], atol=1e-12)
    assert_allclose(best.curve.tpr, simulation.roc_star[1], atol=1e-12)
    assert_allclose(best([0.05, 0.1, 0.2]), [0.15, 0.3, 0.5], atol=1e-12)
    # Slopes G / H of the four pieces, the steepest first.
    assert_allclose(best.derivative([0, 0.05, 0.1, 0.2, 0.5, 1]), [3, 3, 3, 2, 2 / 3, 0.25])


@example([(1, 8), (4, 8), (1, 8)])  # shares that add up to less than 1
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 8)), min_size=1, max_size=7))
def test_auc_star_is_half_plus_the_gini_mean_difference(cells):
    mass, eta = np.array([c[0] for c in cells]), np.array([c[1] for c in cells]) / 8
    share = mass @ eta / mass.sum()
    if share in (0, 1):
        with pytest.raises(ValueError, match="no mass"):
            OptimalROC.from_cells(mass, eta)
        return
    best = OptimalROC.from_cells(mass, eta)
    law = mass / mass.sum()
    gini = law @ np.abs(eta[:, None] - eta) @ law
    assert best.auc_star == pytest.approx(0.5 + gini / (4 * share * (1 - share)), abs=1e-12)
    # ... and the AUC of eta over the cells.
    pairs = auc_by_pairs(eta, law * (1 - eta), law * eta)
    assert best.auc_star == pytest.approx(pairs, abs=1e-12)


# --- OptimalROC: approximations -------------------------------------------------------------------


@pytest.mark.parametrize("curve", CURVES)
def test_one_step_is_the_knot_that_gains_most_in_area_and_sup_norm(curve):
    best = by_distributions(curve)
    a = np.linspace(0, 1, 20_001)
    for left, right in [(0.0, 1.0), (0.1, 0.4)]:
        knot = best.one_step(left, right)
        chord = (curve.roc(right) - curve.roc(left)) / (right - left)
        # The area gained is that of a triangle on the chord, so both grow with its height.
        inside = a[(a > left) & (a < right)]
        height = curve.roc(inside) - curve.roc(left) - chord * (inside - left)
        assert knot.fpr == pytest.approx(inside[np.argmax(height)], abs=1e-4)
        assert knot.tpr == pytest.approx(curve.roc(knot.fpr), abs=1e-9)
        assert curve.slope(knot.fpr) == pytest.approx(chord, rel=1e-6)
    assert best.one_step().level == curve.p


@pytest.mark.parametrize("depth", range(8))
def test_the_approximation_of_a_parabola_has_the_errors_of_the_closed_form(depth):
    # The tangent of a parabola is parallel to the chord at the middle: equal steps h = 2^-depth,
    # and on each the errors |f''| h^2 / 8 and |f''| h^3 / 12.
    approximation = by_distributions(Parabola).approximate(depth)
    knots = np.linspace(0, 1, 2**depth + 1)
    assert_allclose(approximation.fpr, knots, atol=1e-9)
    assert_allclose(approximation.tpr, Parabola.roc(knots), atol=1e-9)
    assert approximation.sup_error == pytest.approx(4.0**-depth / 4, abs=1e-8)
    assert approximation.l1_error == pytest.approx(4.0**-depth / 6, abs=1e-8)
    assert approximation.auc == approximation.curve.auc
    assert_allclose(approximation.levels[[0, -1]], [1, 0])
    assert np.all(np.diff(approximation.levels) < 0)


@pytest.mark.parametrize("curve", CURVES)
def test_errors_fall_as_the_square_of_the_number_of_pieces(curve):
    best = by_distributions(curve)
    a = np.linspace(0, 1, 100_001)
    errors = []
    for depth in range(2, 7):
        approximation = best.approximate(depth)
        assert approximation.fpr.size == 2**depth + 1
        gap = curve.roc(a) - np.interp(a, approximation.fpr, approximation.tpr)
        assert approximation.sup_error == pytest.approx(gap.max(), rel=1e-3)
        assert approximation.l1_error == pytest.approx(gap.mean(), rel=1e-2)
        errors.append((approximation.l1_error, approximation.sup_error))
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert np.all((ratios > 3.5) & (ratios < 4.5))


def test_the_score_of_an_approximation_has_its_curve():
    best = by_distributions(Logarithm)
    approximation = best.approximate(3)
    rng = np.random.default_rng(0)
    # Rows drawn by their rate among the negatives: eta from Prop. 8.
    a = np.concatenate([rng.random(50_000), (9 ** rng.random(50_000) - 1) / 8])
    y = np.repeat([0, 1], 50_000)
    odds = Logarithm.p / (1 - Logarithm.p) * Logarithm.slope(a)
    score = approximation.score(odds / (1 + odds))
    assert set(score) == set(range(1, 9))
    assert roc_auc_score(y, score) == pytest.approx(approximation.auc, abs=0.01)
    curve = RocCurve.from_scores(y, score)
    assert_allclose(curve.fpr, approximation.fpr, atol=0.01)
    assert_allclose(curve.tpr, approximation.tpr, atol=0.01)


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(0, 10)), min_size=2, max_size=9),
    st.integers(0, 6),
)
def test_an_approximation_of_cells_never_lies_above_and_ends_on_the_curve(cells, depth):
    mass, eta = np.array([c[0] for c in cells]), np.array([c[1] for c in cells]) / 10
    if not 0 < mass @ eta < mass.sum():
        return
    best = OptimalROC.from_cells(mass, eta)
    approximation = best.approximate(depth)
    assert 0 <= approximation.l1_error <= approximation.sup_error + 1e-15
    gap = best.curve.distance(approximation.curve, norm="linf")
    assert approximation.sup_error == pytest.approx(gap, abs=1e-12)
    # The score over the cells is the score of the knots.
    score = PiecewiseConstantScore(approximation.score(eta))
    curve = score.roc(mass * (1 - eta), mass * eta)
    assert_allclose(curve.fpr, approximation.fpr, atol=1e-12)
    assert_allclose(curve.tpr, approximation.tpr, atol=1e-12)
    # Every round splits each piece that is not straight, so that 8 halvings of 9 values suffice.
    exact = best.approximate(9)
    assert exact.sup_error < 1e-12
    assert exact.fpr.size <= np.unique(eta).size + 1


def test_rows_that_are_certainly_positive_start_the_curve_above_zero():
    best = OptimalROC.from_cells([1, 2, 1], [1.0, 0.5, 0.0])
    assert_allclose(best.curve.fpr, [0, 0, 0.5, 1])
    assert_allclose(best.curve.tpr, [0, 0.5, 1, 1])
    assert best(0.0) == 0.5
    assert best.approximate(2).l1_error < 1e-15
    smooth = OptimalROC.from_quantiles(lambda u: np.minimum(2 * u, 1))
    # Half of the rows have eta = 1; of the positives, 1/2 / (1/2 + 1/4).
    assert smooth(0.0) == pytest.approx(2 / 3, abs=1e-6)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: OptimalROC.from_cells([1, 1], [0.2, 1.2]), "eta is 1.2"),
        (lambda: OptimalROC.from_cells([1, 1], [0.2]), "shape"),
        (lambda: OptimalROC.from_cells([1, 1], [0.0, 0.0]), "no mass"),
        (lambda: OptimalROC.from_cells([0, 0], [0.2, 0.3]), "zero on every cell"),
        (lambda: OptimalROC.from_quantiles(lambda u: 1 - u), "falls"),
        (lambda: OptimalROC.from_quantiles(lambda u: 2 * u), "quantile is"),
        (
            lambda: OptimalROC.from_distributions(lambda t: t, lambda t: t**4, positive_share=0.5),
            "not the distribution functions of eta",
        ),
        (
            lambda: OptimalROC.from_distributions(lambda t: t, lambda t: t, positive_share=1.0),
            "positive_share",
        ),
        (lambda: OptimalROC.from_sample([0.2, 0.3])(1.5), "fpr is 1.5"),
        (lambda: OptimalROC.from_sample([0.2, 0.3]).one_step(0.5, 0.5), "left and right"),
        (lambda: OptimalROC.from_sample([0.2, 0.3]).approximate(21), "depth"),
    ],
)
def test_invalid_laws_of_eta_are_named_in_the_error(make, named):
    with pytest.raises(ValueError, match=named):
        make()


# ------------------------------------------------------------------ one-step sequences, and eta


@pytest.mark.parametrize("make", [lambda u: u, lambda u: 0.1 + 0.5 * u**2], ids=["line", "square"])
@pytest.mark.parametrize("n_pieces", [1, 2, 3, 5, 12])
def test_a_one_step_sequence_adds_the_knot_of_most_area(make, n_pieces):
    # Definition 18 of paper 1, by a dense scan of the level sets of eta.
    best = OptimalROC.from_quantiles(make)
    before, after = best.one_step_sequence(n_pieces), best.one_step_sequence(n_pieces + 1)
    assert (before.fpr.size, after.fpr.size) == (n_pieces + 1, n_pieces + 2)
    assert set(before.fpr) < set(after.fpr)
    grid = np.linspace(0, 1, 4001)
    above = best(grid) - np.interp(grid, before.fpr, before.tpr)
    piece = np.clip(np.searchsorted(before.fpr, grid, side="right") - 1, 0, n_pieces - 1)
    # A knot above a chord adds a triangle.
    area = 0.5 * above * np.diff(before.fpr)[piece]
    # The grid misses the best knot by half a step at most.
    assert after.auc - before.auc == pytest.approx(area.max(), abs=1e-6)
    assert after.auc <= best.auc_star + 1e-12


def test_a_one_step_sequence_ends_where_the_curve_is_straight():
    best = OptimalROC.from_cells([1, 2, 1], [0.1, 0.5, 0.9])
    found = best.one_step_sequence(10)
    assert found.fpr.size == 4
    assert found.l1_error == pytest.approx(0, abs=1e-15)
    assert best.one_step_sequence(1).auc == 0.5
    with pytest.raises(ValueError, match="n_pieces"):
        best.one_step_sequence(0)


def test_two_pieces_of_both_schemes_are_the_same():
    best = OptimalROC.from_quantiles(lambda u: u**1.5)
    assert np.array_equal(best.one_step_sequence(2).fpr, best.approximate(1).fpr)


def test_eta_of_an_approximation_is_the_share_of_positives_of_a_piece():
    # Remark 7 of paper 1, by means over rows; eta(X) is uniform.
    best = OptimalROC.from_quantiles(lambda u: u)
    eta = (np.arange(200_000) + 0.5) / 200_000
    for found in (best.approximate(2), best.one_step_sequence(3)):
        score = found.score(eta)
        means = np.bincount(score, eta)[1:] / np.bincount(score)[1:]
        assert found.cell_eta == pytest.approx(means[::-1], abs=1e-5)
        assert found.approximate_eta(eta) == pytest.approx(means[score - 1], abs=1e-5)


def test_eta_of_a_score_is_the_share_of_positives_of_a_level():
    score = PiecewiseConstantScore([3, 1, 1, 2])
    negative, positive = np.array([1, 2, 5, 0]), np.array([4, 1, 2, 0])
    shares = score.eta(negative, positive)
    assert shares[:3] == pytest.approx([4 / 5, 3 / 10, 3 / 10])
    assert np.isnan(shares[3])
    # With p = 1/4: alpha = 1/8 and beta = 4/7 of the first cell.
    weighted = score.eta(negative, positive, positive_share=0.25)
    assert weighted[0] == pytest.approx(0.25 * 4 / 7 / (0.75 / 8 + 0.25 * 4 / 7))
    with pytest.raises(ValueError, match="positive_share"):
        score.eta(negative, positive, positive_share=1.0)
