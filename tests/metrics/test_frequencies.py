"""Weights that count rows."""

import warnings
from dataclasses import asdict

import numpy as np
import pytest
from aucrank.metrics import (
    RocState,
    auc_compare,
    auc_interval,
    cross_validated_auc,
    cross_validated_compare,
    optimal_threshold,
    roc_band,
)
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

BANDS = [{}, {"fpr": (0, 0.3)}, {"tpr": (0.6, 1)}, {"fpr": (0, 0.5), "tpr": (0.4, 1)}]


@st.composite
def tables(draw):
    """Rows of two models with counts, and the same rows copied so often."""
    row = st.tuples(st.integers(0, 1), st.integers(-4, 4), st.integers(-2, 2), st.integers(0, 4))
    rows = draw(st.lists(row, max_size=40))
    fixed = [(0, 1, 0, 1), (0, 0, 2, 2), (1, 0, 1, 1), (1, 2, 1, 3)]
    columns = [np.array(c) for c in zip(*fixed, *rows, strict=True)]
    counts = columns.pop()
    return columns, counts, [np.repeat(column, counts) for column in columns]


def agree(found, copies):
    for name, value in asdict(copies).items():
        if isinstance(value, float):
            assert getattr(found, name) == pytest.approx(value, abs=1e-12, nan_ok=True), name
        else:
            assert getattr(found, name) == value


@given(tables(), st.sampled_from(BANDS), st.sampled_from(["delong", "logit"]))
def test_frequency_k_equals_k_copies(table, bands, method):
    (y, first, second), counts, (all_y, all_first, all_second) = table
    kwargs = {"sample_weight": counts, "weights": "frequency", **bands}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        found = auc_interval(y, first, method=method, **kwargs)
        copies = auc_interval(all_y, all_first, method=method, **bands)
        assert found.auc == copies.auc
        agree(found, copies)
        found = auc_compare(y, first, second, **kwargs)
        copies = auc_compare(all_y, all_first, all_second, **bands)
        assert (found.auc_1, found.auc_2) == (copies.auc_1, copies.auc_2)
        # Near 0, the root of a variance is less sure than the variance.
        if copies.standard_error > 1e-5:
            agree(found, copies)
        found = auc_compare(y, first, second, y_true_2=y, sample_weight_2=counts, **kwargs)
        agree(found, auc_compare(all_y, all_first, all_second, y_true_2=all_y, **bands))


@given(tables(), st.sampled_from([{}, {"fpr": (0, 0.5)}]))
def test_a_bootstrap_with_frequencies_equals_that_of_copies(table, bands):
    (y, first, second), counts, (all_y, all_first, all_second) = table
    how = {"method": "bootstrap", "n_resamples": 20, "random_state": 3, **bands}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        found = auc_interval(y, first, sample_weight=counts, weights="frequency", **how)
        agree(found, auc_interval(all_y, all_first, **how))
        found = auc_compare(y, first, second, sample_weight=counts, weights="frequency", **how)
        agree(found, auc_compare(all_y, all_first, all_second, **how))
    how = {"n_resamples": 20, "random_state": 3}
    for method in ("pointwise", "simultaneous"):
        found = roc_band(y, first, method=method, sample_weight=counts, weights="frequency", **how)
        copies = roc_band(all_y, all_first, method=method, **how)
        for name in ("tpr", "low", "high"):
            np.testing.assert_allclose(getattr(found, name), getattr(copies, name), atol=1e-12)
    for criterion in ("youden", "cost"):
        found = optimal_threshold(
            y, first, criterion=criterion, sample_weight=counts, weights="frequency", **how
        )
        assert found == optimal_threshold(all_y, all_first, criterion=criterion, **how)


@given(tables())
def test_a_state_with_frequencies_equals_that_of_copies(table):
    (y, first, _), counts, (all_y, all_first, _) = table
    found = RocState().update(y, first, sample_weight=counts)
    copies = RocState().update(all_y, all_first)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        agree(found.interval(weights="frequency"), copies.interval())
    assert found.variance(weights="frequency") == pytest.approx(copies.variance(), abs=1e-14)


@given(st.integers(0, 2**32 - 1))
def test_folds_with_frequencies_equal_those_of_copies(seed):
    rng = np.random.default_rng(seed)
    y, folds = np.tile([0, 1], 30), np.repeat(np.arange(3), 20)
    folds = np.c_[folds, rng.permutation(30).repeat(2) % 3]
    scores, counts = rng.integers(0, 6, (60, 2)) + y[:, None], rng.integers(0, 4, 60)
    # Two rows of each class in each fold.
    counts[[0, 1, 2, 3, 20, 21, 22, 23, 40, 41, 42, 43]] = 2
    folds[:, 1] = folds[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        found = cross_validated_auc(y, scores, folds, sample_weight=counts, weights="frequency")
        repeated = [np.repeat(a, counts, axis=0) for a in (y, scores, folds)]
        copies = cross_validated_auc(*repeated)
        agree(found, copies)
        others = scores + rng.integers(0, 2, (60, 2))
        found = cross_validated_compare(
            y, scores, others, folds, sample_weight=counts, weights="frequency"
        )
        y_all, scores_all, folds_all = repeated
        others_all = np.repeat(others, counts, axis=0)
        copies = cross_validated_compare(y_all, scores_all, others_all, folds_all)
        agree(found, copies)


def test_weights_are_sampling_weights_by_default():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    scores, twice = rng.normal(loc=y), np.full(200, 2)
    plain = auc_interval(y, scores)
    agree(auc_interval(y, scores, sample_weight=twice), plain)
    agree(auc_interval(y, scores, sample_weight=twice, weights="sampling"), plain)
    counted = auc_interval(y, scores, sample_weight=twice, weights="frequency")
    assert counted.standard_error == pytest.approx(plain.standard_error / 2**0.5, rel=0.01)
    # Without weights there is nothing to count.
    assert auc_interval(y, scores, weights="frequency").auc == plain.auc
    agree(auc_interval(y, scores, weights="frequency"), plain)


@pytest.mark.parametrize(
    "call",
    [
        lambda **how: auc_interval([0, 1, 0, 1], [0, 1, 2, 3], **how),
        lambda **how: auc_interval([0, 1, 0, 1], [0, 1, 2, 3], fpr=(0, 0.5), **how),
        lambda **how: auc_compare([0, 1, 0, 1], [0, 1, 2, 3], [1, 0, 2, 3], **how),
        lambda **how: roc_band([0, 1, 0, 1], [0, 1, 2, 3], **how),
        lambda **how: optimal_threshold([0, 1, 0, 1], [0, 1, 2, 3], **how),
        lambda **how: cross_validated_auc([0, 1, 0, 1], [0, 1, 2, 3], [1, 1, 1, 1], **how),
    ],
)
def test_a_fractional_frequency_is_named_in_the_error(call):
    with pytest.raises(ValueError, match=r"sample_weight of row 2 is 0\.5, but frequencies"):
        call(sample_weight=[1, 2, 0.5, 1], weights="frequency")
    with pytest.raises(ValueError, match="weights is 'counts'"):
        call(sample_weight=[1, 2, 1, 1], weights="counts")
    with pytest.raises(ValueError, match="sample_weight of row 1"):
        call(sample_weight=[1, -2, 1, 1], weights="frequency")


def test_a_state_with_fractional_frequencies_raises_an_error():
    state = RocState().update([0, 1, 1], [0, 1, 2], sample_weight=[1, 2, 0.5])
    with pytest.raises(
        ValueError, match=r"0\.5 at a score, but must be whole numbers, where they are frequencies"
    ):
        state.interval(weights="frequency")
    with pytest.raises(ValueError, match="two rows of each class"):
        RocState().update([0, 1, 1], [0, 1, 2]).variance(weights="frequency")
