import dataclasses

import numpy as np
import pytest
from aucrank.datasets import (
    load_breast_cancer,
    make_gaussian_pair,
    make_noisy_labels,
    make_uniform_mixture,
    make_xor,
)
from scipy.integrate import dblquad
from scipy.stats import binomtest, chisquare, kstest, multivariate_normal
from sklearn.datasets import load_breast_cancer as load_of_sklearn
from sklearn.metrics import auc as area_under
from sklearn.metrics import roc_auc_score, roc_curve

# Section 6.1 of the 2011 paper: a point of each quarter X1..X4, the masses H gives the quarters
# (negative rows) and those G gives them (positive rows).
MIDDLES = np.array([[0.25, 0.25], [0.75, 0.25], [0.75, 0.75], [0.25, 0.75]])
H = np.array([0.2, 0.1, 0.3, 0.4])
G = np.array([0.4, 0.3, 0.2, 0.1])


def quarter_of(X):
    """0..3 for X1..X4, from the definition of the quarters as products of intervals."""
    left, low = X[:, 0] < 0.5, X[:, 1] < 0.5
    return np.select([left & low, ~left & low, ~left & ~low], [0, 1, 2], default=3)


def test_rows_fall_in_the_quarters_as_the_densities_of_the_paper_say():
    simulation = make_uniform_mixture(40_000, random_state=0)
    for label, masses in ((0, H), (1, G)):
        counts = np.bincount(quarter_of(simulation.X[simulation.y == label]), minlength=4)
        assert chisquare(counts, masses * counts.sum()).pvalue > 1e-3


def test_rows_are_uniform_within_each_quarter_and_class():
    simulation = make_uniform_mixture(40_000, random_state=1)
    quarters = quarter_of(simulation.X)
    for label in (0, 1):
        for quarter in range(4):
            rows = simulation.X[(quarters == quarter) & (simulation.y == label)]
            corner = MIDDLES[quarter] - 0.25
            sides = (rows - corner) / 0.5
            assert kstest(sides[:, 0], "uniform").pvalue > 1e-4
            assert kstest(sides[:, 1], "uniform").pvalue > 1e-4
            assert abs(np.corrcoef(sides.T)[0, 1]) < 4 / np.sqrt(len(rows))


@pytest.mark.parametrize("share", [0.5, 0.1, 0.9])
def test_eta_is_bayes_rule_on_the_densities(share):
    simulation = make_uniform_mixture(10, random_state=0, positive_share=share)
    np.testing.assert_allclose(
        simulation.eta(MIDDLES), share * G / (share * G + (1 - share) * H), rtol=1e-12
    )


def test_eta_with_equal_classes_is_two_thirds_on_the_first_quarter():
    # The paper prints 0.7 there, which its own densities contradict.
    eta = make_uniform_mixture(1).eta(MIDDLES)
    np.testing.assert_allclose(eta, [2 / 3, 0.75, 0.4, 0.2], rtol=1e-12)


def test_auc_star_is_the_probability_of_a_concordant_pair_of_cells():
    simulation = make_uniform_mixture(10, random_state=0)
    eta = simulation.eta(MIDDLES)
    concordant = sum(
        G[i] * H[j] * ((eta[i] > eta[j]) + 0.5 * (eta[i] == eta[j]))
        for i in range(4)
        for j in range(4)
    )
    assert simulation.auc_star == pytest.approx(concordant, abs=1e-12)
    assert simulation.auc_star == pytest.approx(0.7350, abs=5e-5)


def test_roc_star_runs_through_the_quarters_in_order_of_eta():
    fpr, tpr = make_uniform_mixture(10).roc_star
    np.testing.assert_allclose(fpr, [0, 0.1, 0.3, 0.6, 1.0], atol=1e-12)
    np.testing.assert_allclose(tpr, [0, 0.3, 0.7, 0.9, 1.0], atol=1e-12)


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_the_empirical_roc_of_eta_is_near_roc_star(share):
    simulation = make_uniform_mixture(60_000, random_state=2, positive_share=share)
    scores = simulation.eta(simulation.X)
    # Four standard errors of the AUC (Hanley and McNeil's bound for the smaller class).
    error = 4 * 0.5 / np.sqrt(simulation.y.sum())
    assert roc_auc_score(simulation.y, scores) == pytest.approx(simulation.auc_star, abs=error)
    fpr, tpr, _ = roc_curve(simulation.y, scores, drop_intermediate=False)
    np.testing.assert_allclose(fpr, simulation.roc_star[0], atol=0.02)
    np.testing.assert_allclose(tpr, simulation.roc_star[1], atol=0.02)


def test_the_share_of_positives_is_the_requested_one():
    y = make_uniform_mixture(40_000, random_state=3, positive_share=0.2).y
    assert abs(y.mean() - 0.2) < 4 * np.sqrt(0.2 * 0.8 / 40_000)


def test_the_seed_determines_the_sample():
    first, again = (make_uniform_mixture(100, random_state=5) for _ in range(2))
    other = make_uniform_mixture(100, random_state=6)
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert not np.array_equal(first.X, other.X)


def test_a_simulation_does_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        make_uniform_mixture(3).auc_star = 1.0


@pytest.mark.parametrize(
    ("parameters", "error", "named"),
    [
        ({"n_samples": 0}, ValueError, "n_samples"),
        ({"n_samples": 2.5}, TypeError, "n_samples"),
        ({"positive_share": 0.0}, ValueError, "positive_share"),
        ({"positive_share": 1.0}, ValueError, "positive_share"),
        ({"positive_share": "half"}, TypeError, "positive_share"),
    ],
)
def test_a_parameter_out_of_range_is_named_in_the_error(parameters, error, named):
    with pytest.raises(error, match=named):
        make_uniform_mixture(**parameters)


@pytest.mark.parametrize("points", [[[0.5, 1.5]], [[np.nan, 0.5]], [[0.1, 0.2, 0.3]], [0.1, 0.2]])
def test_eta_rejects_points_outside_the_square(points):
    with pytest.raises(ValueError, match="X has"):
        make_uniform_mixture(3).eta(points)


# --- Gaussian laws on the square -----------------------------------------------------------------

# Section 6.2 of the 2011 paper.
OF_NEGATIVE = multivariate_normal([2, 0.5], [[1, 0.25], [0.25, 1.15]])
OF_POSITIVE = multivariate_normal([-1, 0.5], [[1, 0.15], [0.15, 1.25]])
CIRCLE = {
    "negative_mean": [0.5, 0.5],
    "negative_cov": np.eye(2),
    "positive_mean": [0.5, 0.5],
    "positive_cov": 0.04 * np.eye(2),
}
TILTED = {
    "negative_mean": [0.3, 0.6],
    "negative_cov": [[0.2, -0.15], [-0.15, 0.2]],
    "positive_mean": [0.6, 0.5],
    "positive_cov": [[0.1, 0.05], [0.05, 0.3]],
}


def mass_of_the_square(law):
    return dblquad(lambda y, x: law.pdf([x, y]), 0, 1, 0, 1, epsabs=1e-10)[0]


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_eta_of_the_gaussian_pair_is_bayes_rule_on_the_truncated_densities(share):
    points = np.random.default_rng(0).random((50, 2))
    g = OF_POSITIVE.pdf(points) / mass_of_the_square(OF_POSITIVE)
    h = OF_NEGATIVE.pdf(points) / mass_of_the_square(OF_NEGATIVE)
    eta = make_gaussian_pair(1, positive_share=share, random_state=0).eta(points)
    np.testing.assert_allclose(eta, share * g / (share * g + (1 - share) * h), rtol=1e-8)


def test_eta_of_the_gaussian_pair_has_the_exponent_of_the_paper():
    # With the printed constants 1.02 and 1.32 replaced: 0.961 exp(... + 1.328), see the docstring.
    x, y = np.random.default_rng(1).random((2, 50))
    exponent = 0.02 * x**2 + 0.05 * y**2 - 3.08 * x + 0.53 * y - 0.11 * x * y + 1.328
    odds = 0.961 * np.exp(exponent)
    eta = make_gaussian_pair(1).eta(np.column_stack([x, y]))
    np.testing.assert_allclose(eta, odds / (1 + odds), atol=3e-3)


def test_auc_star_of_the_second_example_of_the_paper():
    assert make_gaussian_pair(1).auc_star == pytest.approx(0.7391, abs=5e-5)


@pytest.mark.parametrize("parameters", [{}, CIRCLE, TILTED], ids=["paper", "circle", "tilted"])
def test_the_gaussian_curve_is_that_of_its_densities_on_a_grid(parameters):
    simulation = make_gaussian_pair(1, **parameters)
    # The definition: cells of a fine grid in order of eta, their masses by the densities.
    middles = (np.arange(1000) + 0.5) / 1000
    grid = np.stack(np.meshgrid(middles, middles), axis=-1).reshape(-1, 2)
    laws = {"negative": OF_NEGATIVE, "positive": OF_POSITIVE}
    if parameters:
        laws = {
            name: multivariate_normal(parameters[f"{name}_mean"], parameters[f"{name}_cov"])
            for name in laws
        }
    order = np.argsort(-simulation.eta(grid))
    rates = []
    for law in (laws["negative"], laws["positive"]):
        density = law.pdf(grid)[order]
        rates.append(np.cumsum(density) / density.sum())
    np.testing.assert_allclose(
        np.interp(simulation.roc_star[0], *rates), simulation.roc_star[1], atol=2e-4
    )
    area = area_under(rates[0], rates[1])
    assert simulation.auc_star == pytest.approx(area, abs=2e-5)
    assert np.all(np.diff(simulation.roc_star[0]) >= 0)


@pytest.mark.parametrize("parameters", [{}, CIRCLE, TILTED], ids=["paper", "circle", "tilted"])
def test_gaussian_rows_follow_the_truncated_law_in_the_square(parameters):
    simulation = make_gaussian_pair(40_000, random_state=0, **parameters)
    X, y = simulation.X, simulation.y
    assert ((X >= 0) & (X <= 1)).all()
    scores = simulation.eta(X)
    assert roc_auc_score(y, scores) == pytest.approx(simulation.auc_star, abs=4 * 0.5 / 140)
    fpr, tpr, _ = roc_curve(y, scores)
    np.testing.assert_allclose(
        np.interp(simulation.roc_star[0], fpr, tpr), simulation.roc_star[1], atol=0.03
    )
    # Eta is calibrated: among rows with eta in a tenth, the share of positives is their mean eta.
    for tenth in np.array_split(np.argsort(scores), 10):
        assert binomtest(int(y[tenth].sum()), len(tenth), scores[tenth].mean()).pvalue > 1e-4


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"negative_mean": [0.5]}, "negative_mean"),
        ({"positive_cov": [[1, 0], [0.5, 1]]}, "positive_cov"),
        ({"positive_cov": [[1, 2], [2, 1]]}, "positive_cov"),
        ({"positive_mean": [9, 9]}, "the unit square holds"),
        ({"n_samples": 0}, "n_samples"),
        ({"positive_share": 1}, "positive_share"),
    ],
)
def test_an_invalid_gaussian_law_is_named_in_the_error(parameters, named):
    with pytest.raises(ValueError, match=named):
        make_gaussian_pair(**parameters)


# --- XOR and noisy labels ------------------------------------------------------------------------


@pytest.mark.parametrize("noise_rate", [0.0, 0.2])
def test_xor_is_visible_in_two_features_and_in_none_alone(noise_rate):
    simulation = make_xor(20_000, n_features=3, noise_rate=noise_rate, random_state=0)
    X, y = simulation.X, simulation.y
    xor = (X[:, 0] >= 0.5) != (X[:, 1] >= 0.5)
    np.testing.assert_allclose(simulation.eta(X), np.where(xor, 1 - noise_rate, noise_rate))
    assert binomtest(int((y != xor).sum()), len(y), noise_rate).pvalue > 1e-4
    # An indicator with two values has AUC 1/2 + (TPR - FPR) / 2 = 1 - noise_rate.
    assert simulation.auc_star == 1 - noise_rate
    assert roc_auc_score(y, simulation.eta(X)) == pytest.approx(1 - noise_rate, abs=0.015)
    for column in X.T:
        assert abs(roc_auc_score(y, column) - 0.5) < 0.02
    fpr, tpr = simulation.roc_star
    assert area_under(fpr, tpr) == pytest.approx(simulation.auc_star)


def test_labels_are_flipped_at_the_rate_of_their_class():
    y = np.repeat(["bad", "good"], [30_000, 20_000])
    noisy = make_noisy_labels(y, noise_rate=(0.1, 0.3), random_state=0)
    assert binomtest(int((noisy[:30_000] == "good").sum()), 30_000, 0.1).pvalue > 1e-4
    assert binomtest(int((noisy[30_000:] == "bad").sum()), 20_000, 0.3).pvalue > 1e-4
    np.testing.assert_array_equal(make_noisy_labels(y, noise_rate=0.0), y)


@pytest.mark.parametrize("rates", [0.2, (0.3, 0.05)])
def test_the_law_of_noisy_labels_is_that_of_the_flipped_classes(rates):
    simulation = make_uniform_mixture(60_000, random_state=0, positive_share=0.3)
    # The same seed on purpose: flips must not depend on what drew the labels.
    noisy = make_noisy_labels(simulation, noise_rate=rates, random_state=0)
    np.testing.assert_array_equal(noisy.X, simulation.X)
    low, high = rates if isinstance(rates, tuple) else (rates, rates)
    # By definition, cell by cell: positives that stay, and negatives that are flipped.
    positive = 0.3 * (1 - high) * G + 0.7 * low * H
    negative = 0.3 * high * G + 0.7 * (1 - low) * H
    assert noisy.positive_share == pytest.approx(positive.sum())
    np.testing.assert_allclose(noisy.eta(MIDDLES), positive / (positive + negative))
    order = [1, 0, 2, 3]
    for ours, masses in zip(noisy.roc_star, (negative, positive), strict=True):
        np.testing.assert_allclose(ours[1:], np.cumsum(masses[order]) / masses.sum())
    assert noisy.auc_star == pytest.approx(area_under(*noisy.roc_star))
    assert binomtest(int(noisy.y.sum()), 60_000, noisy.positive_share).pvalue > 1e-4
    assert roc_auc_score(noisy.y, noisy.eta(noisy.X)) == pytest.approx(noisy.auc_star, abs=0.01)


@pytest.mark.parametrize("y", [[False, True] * 50, ["b", "a"] * 50, [3.0, -1.0] * 50], ids=str)
def test_flipped_labels_are_returned_on_request(y):
    noisy, flipped = make_noisy_labels(y, 0.3, random_state=0, return_flipped=True)
    np.testing.assert_array_equal(flipped, noisy != np.asarray(y))
    assert noisy.dtype == np.asarray(y).dtype
    assert set(noisy) == set(y)
    assert binomtest(int(flipped.sum()), 100, 0.3).pvalue > 1e-4
    np.testing.assert_array_equal(noisy, make_noisy_labels(y, 0.3, random_state=0))
    # A law keeps its own.
    xor = make_xor(50, random_state=1)
    noisy, flipped = make_noisy_labels(xor, 0.3, random_state=0, return_flipped=True)
    np.testing.assert_array_equal(flipped, noisy.y != xor.y)
    assert 0 < flipped.sum() < 50


@pytest.mark.parametrize("rates", [0.25, (0.1, 0.4), (0.5, 0.0)])
def test_noise_shrinks_every_auc_towards_one_half_by_one_factor(rates):
    law = make_gaussian_pair(200_000, positive_share=0.3, random_state=0)
    noisy, flipped = make_noisy_labels(law.y, rates, random_state=1, return_flipped=True)
    # Share of flipped rows in each class as the labels have it.
    a, b = flipped[noisy == 1].mean(), flipped[noisy == 0].mean()
    noise = np.random.default_rng(2).normal(size=200_000)
    for scores in (law.eta(law.X), law.X[:, 1], law.X[:, 0], noise):
        clean, found = roc_auc_score(law.y, scores), roc_auc_score(noisy, scores)
        assert found - 0.5 == pytest.approx((1 - a - b) * (clean - 0.5), abs=4e-3)


@pytest.mark.parametrize(
    ("y", "rate", "named"),
    [
        ([0, 1], 0.5, "less than 1"),
        ([0, 1], (0.4, 0.6), "less than 1"),
        ([0, 1], -0.1, "noise_rate"),
        ([0, 1], (0.1, 0.1, 0.1), "one number or two"),
        ([0, 0], 0.1, "two classes"),
    ],
)
def test_noise_that_hides_the_classes_raises_an_error(y, rate, named):
    with pytest.raises(ValueError, match=named):
        make_noisy_labels(y, noise_rate=rate)


def test_breast_cancer_is_the_data_of_sklearn_with_malignant_as_one():
    ours, theirs = load_breast_cancer(), load_of_sklearn()
    np.testing.assert_array_equal(ours.data, theirs.data)
    malignant = theirs.target_names[theirs.target] == "malignant"
    np.testing.assert_array_equal(ours.target == 1, malignant)
    assert list(ours.target_names) == ["benign", "malignant"]
    assert ours.target.sum() == 212
    assert ours.frame is None


def test_breast_cancer_columns_are_identifiers():
    names = load_breast_cancer().feature_names
    assert names[0] == "mean_radius"
    assert len(set(names)) == 30
    assert all(name.isidentifier() and name == name.lower() for name in names)


def test_breast_cancer_as_a_frame_names_its_columns():
    pandas = pytest.importorskip("pandas")
    bunch = load_breast_cancer(as_frame=True)
    assert isinstance(bunch.data, pandas.DataFrame)
    assert list(bunch.data.columns) == list(bunch.feature_names)
    assert list(bunch.frame.columns) == [*bunch.feature_names, "target"]
    X, y = load_breast_cancer(as_frame=True, return_X_y=True)
    pandas.testing.assert_frame_equal(X, bunch.data)
    np.testing.assert_array_equal(y, load_breast_cancer().target)
    assert y.name == "target"
