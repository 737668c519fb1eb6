"""Tables of rates and counts at a threshold."""

import numpy as np
import pandas as pd
import pytest
from aucrank.metrics import RocCurve
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix


@st.composite
def weighted_rows(draw):
    row = st.tuples(st.integers(0, 1), st.integers(-4, 4), st.integers(0, 3))
    rows = [(0, 1, 1), (1, 0, 2), *draw(st.lists(row, max_size=40))]
    return tuple(np.array(column) for column in zip(*rows, strict=True))


@given(weighted_rows(), st.lists(st.floats(-5, 5), min_size=1, max_size=5))
def test_counts_at_a_threshold_are_those_of_the_confusion_matrix(rows, thresholds):
    y, scores, weights = rows
    curve = RocCurve.from_scores(y, scores, sample_weight=weights)
    thresholds = [*thresholds, *scores[:2], np.inf, -np.inf]
    found = curve.coords(thresholds=thresholds)
    np.testing.assert_array_equal(found["threshold"], thresholds)
    for place, threshold in enumerate(thresholds):
        called = scores >= threshold
        matrix = confusion_matrix(y, called, labels=[0, 1], sample_weight=weights)
        tn, fp, fn, tp = matrix.ravel().astype(float)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = np.divide([tp, fn], [fp, tn]) * (fp + tn) / (tp + fn)
        expected = {
            "tp": tp,
            "fp": fp,
            "tn": tn,
            "fn": fn,
            "fpr": fp / (fp + tn),
            "tpr": tp / (tp + fn),
            "specificity": tn / (fp + tn),
            "sensitivity": tp / (tp + fn),
            "precision": tp / (tp + fp) if tp + fp else np.nan,
            "npv": tn / (tn + fn) if tn + fn else np.nan,
            "accuracy": (tp + tn) / weights.sum(),
            "lr_positive": ratios[0],
            "lr_negative": ratios[1],
            "youden": tp / (tp + fn) + tn / (fp + tn) - 1,
            "closest_topleft": (fn / (tp + fn)) ** 2 + (fp / (fp + tn)) ** 2,
        }
        for name, value in expected.items():
            np.testing.assert_allclose(found[name][place], value, atol=1e-12, err_msg=name)
        assert [found[name][place] for name in ("tp", "fp", "tn", "fn")] == [tp, fp, tn, fn]
    assert set(found) == {"threshold", *expected}


def test_points_equal_those_of_proc(asah):
    # From pROC's own tests of `coords(r.s100b, ...)`.
    curve = RocCurve.from_scores(asah.poor, asah.s100b)
    rates = np.linspace(0, 1, 11)
    specificity = [
        1,
        1,
        1,
        0.972222222222222,
        0.888888888888889,
        0.833333333333333,
        0.805555555555556,
        0.56875,
        0.447222222222222,
        0.230555555555556,
        0,
    ]
    np.testing.assert_allclose(curve.coords(tpr=rates)["specificity"][:-1], specificity[:-1])
    sensitivity = [
        0.975609756097561,
        0.921951219512195,
        0.879674796747967,
        0.823693379790941,
        0.774390243902439,
        0.675609756097561,
        0.655284552845528,
        0.634146341463415,
        0.390243902439024,
    ]
    np.testing.assert_allclose(curve.coords(fpr=1 - rates[1:-1])["sensitivity"], sensitivity)
    table = curve.coords()
    best = table["youden"].argmax()
    assert [table[name][best] for name in ("tp", "fp", "tn", "fn")] == [26, 14, 58, 15]
    assert table["youden"][best] + 1 == pytest.approx(1.43970189701897)
    assert table["closest_topleft"][best] == pytest.approx(0.171657541439913)
    assert (table["precision"][best], table["npv"][best]) == (
        0.65,
        pytest.approx(0.794520547945205),
    )


def test_only_knots_have_thresholds():
    curve = RocCurve.from_scores([0, 0, 1, 1, 0, 1], [1, 2, 2, 3, 3, 3])
    # Knots at (0, 0), (1/3, 2/3), (2/3, 1), (1, 1).
    found = curve.coords(fpr=[0, 1 / 6, 1 / 3, 0.5, 2 / 3, 1])
    np.testing.assert_array_equal(found["threshold"], [np.inf, np.nan, 3, np.nan, 2, 1])
    np.testing.assert_allclose(found["tpr"], [0, 1 / 3, 2 / 3, 5 / 6, 1, 1])
    found = curve.coords(tpr=[0, 1 / 3, 2 / 3, 1])
    np.testing.assert_array_equal(found["threshold"], [np.inf, np.nan, 3, 2])
    assert len(pd.DataFrame(curve.coords())) == 4
    np.testing.assert_array_equal(curve.coords()["threshold"], curve.thresholds)


@given(weighted_rows())
def test_a_vertical_or_horizontal_segment_gives_its_best_end(rows):
    y, scores, weights = rows
    curve = RocCurve.from_scores(y, scores, sample_weight=weights)
    found = curve.coords(fpr=curve.fpr)
    # The highest, thus last, of the knots at a rate.
    last = np.searchsorted(curve.fpr, curve.fpr, side="right") - 1
    np.testing.assert_array_equal(found["tpr"], curve.tpr[last])
    np.testing.assert_array_equal(found["threshold"], curve.thresholds[last])
    found = curve.coords(tpr=curve.tpr)
    first = np.searchsorted(curve.tpr, curve.tpr)
    np.testing.assert_array_equal(found["fpr"], curve.fpr[first])
    np.testing.assert_array_equal(found["threshold"], curve.thresholds[first])


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"fpr": [0.1], "tpr": [0.1]}, "not more than one"),
        ({"fpr": [1.1]}, "fpr is 1.1"),
        ({"tpr": [-0.1]}, "tpr is -0.1"),
        ({"thresholds": [np.nan]}, "NaN"),
        ({"thresholds": []}, r"thresholds must have shape \(n_points,\)"),
        ({"fpr": 0.1}, r"fpr must have shape"),
    ],
)
def test_bad_input_is_named_in_the_error(kwargs, message):
    with pytest.raises(ValueError, match=message):
        RocCurve.from_scores([0, 1], [0, 1]).coords(**kwargs)
