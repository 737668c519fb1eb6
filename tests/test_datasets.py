import dataclasses

import numpy as np
import pytest
from aucrank.datasets import load_breast_cancer, make_uniform_mixture
from scipy.stats import chisquare, kstest
from sklearn.datasets import load_breast_cancer as load_of_sklearn
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


def test_auc_star_is_the_chance_of_a_concordant_pair_of_cells():
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


def test_the_share_of_positives_is_the_one_asked_for():
    y = make_uniform_mixture(40_000, random_state=3, positive_share=0.2).y
    assert abs(y.mean() - 0.2) < 4 * np.sqrt(0.2 * 0.8 / 40_000)


def test_the_seed_decides_the_sample():
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
def test_a_parameter_out_of_range_is_named(parameters, error, named):
    with pytest.raises(error, match=named):
        make_uniform_mixture(**parameters)


@pytest.mark.parametrize("points", [[[0.5, 1.5]], [[np.nan, 0.5]], [[0.1, 0.2, 0.3]], [0.1, 0.2]])
def test_eta_refuses_what_is_not_a_point_of_the_square(points):
    with pytest.raises(ValueError, match="X has"):
        make_uniform_mixture(3).eta(points)


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
