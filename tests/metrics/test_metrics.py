import copy
import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.metrics
from aucrank.metrics import RocCurve, roc_auc_score, roc_curve
from hypothesis import example, given
from hypothesis import strategies as st

from tests.common.processes import said_without_matplotlib
from tests.common.samples import scored_rows

Y = np.array([0, 0, 1, 1])
S = np.array([0.1, 0.4, 0.35, 0.8])


def large_sample(n=200_000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, rng.normal(loc=y), rng.integers(0, 4, n).astype(float)


# Parity with scikit-learn.


def scores_of_every_dtype():
    return scored_rows(dtypes=(np.float64, np.float32, np.int64, np.int8, np.float16))


@given(scores_of_every_dtype())
def test_auc_is_that_of_scikit_learn(sample):
    y, scores, weights = sample
    for w in (None, weights, weights + 0.37):
        expected = sklearn.metrics.roc_auc_score(y, scores, sample_weight=w)
        assert roc_auc_score(y, scores, sample_weight=w) == pytest.approx(expected, abs=1e-12)


@given(scores_of_every_dtype(), st.floats(0.01, 1.0))
def test_partial_auc_is_that_of_scikit_learn(sample, max_fpr):
    y, scores, weights = sample
    kwargs = {"sample_weight": weights, "max_fpr": max_fpr}
    expected = sklearn.metrics.roc_auc_score(y, scores, **kwargs)
    assert roc_auc_score(y, scores, **kwargs) == pytest.approx(expected, abs=1e-12)


@given(scores_of_every_dtype(), st.booleans(), st.booleans())
def test_curve_is_that_of_scikit_learn(sample, weighted, drop):
    y, scores, weights = sample
    kwargs = {"sample_weight": weights if weighted else None, "drop_intermediate": drop}
    ours, theirs = roc_curve(y, scores, **kwargs), sklearn.metrics.roc_curve(y, scores, **kwargs)
    for found, expected in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == np.float64  # where scikit-learn 1.6 has that of the scores
        assert found.flags.writeable


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_give_the_curve_and_area_of_scikit_learn(dtype, weighted):
    y, scores, weights = large_sample()
    scores, kwargs = scores.astype(dtype), {"sample_weight": weights if weighted else None}
    expected = sklearn.metrics.roc_auc_score(y, scores, **kwargs)
    assert roc_auc_score(y, scores, **kwargs) == pytest.approx(expected, abs=1e-12)
    theirs = sklearn.metrics.roc_curve(y, scores, **kwargs)
    for found, expected in zip(roc_curve(y, scores, **kwargs), theirs, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("average", ["micro", "macro", "samples", "weighted", None])
@pytest.mark.parametrize("multi_class", ["raise", "ovr", "ovo"])
@pytest.mark.parametrize("labels", [None, [0, 1], np.array([1, 0])])
@pytest.mark.parametrize("max_fpr", [None, 0.3])
def test_arguments_for_more_classes_have_scikit_learns_effect_on_two(
    average, multi_class, labels, max_fpr
):
    rng = np.random.default_rng(0)
    y, scores, weights = rng.integers(0, 2, 40), rng.integers(0, 9, 40), rng.random(40)
    kwargs = {
        "average": average,
        "multi_class": multi_class,
        "labels": labels,
        "max_fpr": max_fpr,
        "sample_weight": weights,
    }
    expected = sklearn.metrics.roc_auc_score(y, scores, **kwargs)
    assert roc_auc_score(y, scores, **kwargs) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"average": "mean"}, "average is 'mean'"),
        ({"multi_class": "all"}, "multi_class is 'all'"),
        ({"labels": ["a", "b", "c"]}, "labels must be two classes, but holds 3"),
        ({"labels": ["a"]}, "labels must be two classes, but holds 1"),
        ({"labels": ["a", "c"]}, "y_true holds 'b', which is not one of labels"),
    ],
)
def test_arguments_for_more_classes_are_checked(kwargs, message):
    assert roc_auc_score(["a", "b"], [0, 1], labels=["b", "a"]) == 1.0
    with pytest.raises(ValueError, match=message):
        roc_auc_score(["a", "b"], [0, 1], **kwargs)


@pytest.mark.parametrize("pos_label", [1, 2, 3])
def test_pos_label_takes_one_of_several_classes(pos_label):
    y, scores = [1, 2, 3, 2, 1], [0.3, 0.1, 0.3, 0.7, 0.5]
    theirs = sklearn.metrics.roc_curve(y, scores, pos_label=pos_label)
    for found, expected in zip(roc_curve(y, scores, pos_label=pos_label), theirs, strict=True):
        np.testing.assert_array_equal(found, expected)


# Invariances.


@given(scores_of_every_dtype())
def test_the_number_of_repeated_rows_is_a_weight(sample):
    y, scores, weights = sample
    rows = np.repeat(np.arange(y.size), weights.astype(int))
    assert roc_auc_score(y, scores, sample_weight=weights) == roc_auc_score(y[rows], scores[rows])
    for found, expected in zip(
        roc_curve(y, scores, sample_weight=weights), roc_curve(y[rows], scores[rows]), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


@given(scores_of_every_dtype(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(sample, random):
    y, scores, weights = sample
    weights = weights / 3 + 0.1
    order = random.sample(range(y.size), y.size)
    value = roc_auc_score(y, scores, sample_weight=weights)
    assert roc_auc_score(y[order], scores[order], sample_weight=weights[order]) == value


@pytest.mark.parametrize("weighted", [False, True])
def test_the_number_of_threads_does_not_matter(weighted, monkeypatch):
    y, scores, weights = large_sample()
    weights = weights / 7 + 0.01 if weighted else None
    values = set()
    for n_threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", n_threads)
        curve = RocCurve.from_scores(y, scores, sample_weight=weights)
        values.add(
            (roc_auc_score(y, scores, sample_weight=weights), curve.auc, curve.fpr.tobytes())
        )
    assert len(values) == 1
    (value, area, _) = values.pop()
    assert value == area


# Input.


@pytest.mark.parametrize("y_type", [bool, np.int8, np.uint8, np.uint16, np.int32, int, np.float32])
@pytest.mark.parametrize("s_type", [np.float16, np.float32, float, np.longdouble, int, np.uint8])
def test_every_numeric_type_is_accepted(y_type, s_type):
    y, scores = np.array([0, 1, 1, 0, 1]), np.array([3, 1, 4, 1, 5])
    assert roc_auc_score(y.astype(y_type), scores.astype(s_type)) == 4.5 / 6


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (2, 7), ("a", "b"), (False, True), (0.0, 2.0)])
@pytest.mark.parametrize("box", [list, np.array, lambda y: np.array(y, dtype=object), pd.Series])
def test_the_greater_label_is_positive(labels, box):
    y = box([labels[i] for i in Y])
    assert roc_auc_score(y, S) == 0.75
    assert RocCurve.from_scores(y, S).auc == 0.75
    assert roc_auc_score(y, S) == sklearn.metrics.roc_auc_score(np.array(labels)[Y], S)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series,
        lambda v: pd.Series(v).convert_dtypes(),
        lambda v: pd.Series(v, index=range(len(v))[::-1]),
        lambda v: pd.DataFrame({"v": v}),
        lambda v: pd.Series(v).astype("category"),
        pl.Series,
        lambda v: pl.Series(v).cast(pl.Float32) if isinstance(v[0], float) else pl.Series(v),
        pa.array,
        lambda v: pa.chunked_array([v[:2], v[2:]]),
        lambda v: np.array([v]).T,
        lambda v: np.repeat(np.array(v), 2)[::2],
        tuple,
    ],
)
@pytest.mark.parametrize(
    "y", [[0, 1, 1, 0], ["no", "yes", "yes", "no"], [True, False, False, True]]
)
def test_columns_of_frames_are_accepted(column, y):
    scores, weights = [0.25, 0.75, 0.25, 0.5], [1.0, 2.0, 1.0, 3.0]
    expected = sklearn.metrics.roc_auc_score(y, scores, sample_weight=weights)
    if "category" in str(getattr(column(scores), "dtype", "")):
        found = roc_auc_score(column(y), scores, sample_weight=weights)
    else:
        found = roc_auc_score(column(y), column(scores), sample_weight=column(weights))
    assert found == pytest.approx(expected, abs=1e-15)


def test_foreign_byte_order_and_read_only_memory_are_accepted():
    scores = S.astype(">f8")
    scores.flags.writeable = False
    assert roc_auc_score(Y.astype(">i8"), scores) == 0.75


def test_whole_scores_too_close_for_float64_are_not_tied():
    scores = 2**53 + np.arange(4)
    assert roc_auc_score([0, 1, 0, 1], scores) == 0.75
    assert roc_auc_score([0, 1, 0, 1], scores.astype(np.uint64)) == 0.75
    fpr, _, thresholds = roc_curve([0, 1, 0, 1], scores)
    theirs = sklearn.metrics.roc_curve([0, 1, 0, 1], scores)
    np.testing.assert_array_equal(fpr, theirs[0])
    np.testing.assert_array_equal(thresholds, theirs[2])


def test_infinite_scores_are_legal():
    scores = [-np.inf, np.inf, 0.0, np.inf]
    assert roc_auc_score([0, 1, 1, 0], scores) == 0.625
    np.testing.assert_array_equal(roc_curve([0, 1, 1, 0], scores)[2], [np.inf, np.inf, 0, -np.inf])


def test_zeros_of_either_sign_tie():
    assert roc_auc_score([0, 1], [0.0, -0.0]) == 0.5


# Bad input.


@pytest.mark.parametrize("metric", [roc_auc_score, roc_curve, RocCurve.from_scores])
@pytest.mark.parametrize(
    ("y", "scores", "weights", "message"),
    [
        (
            [1, 1, 1],
            [1, 2, 3],
            None,
            "Only one class is present in y_true: 1. ROC AUC score is",
        ),
        ([0.0, 0.0], [1, 2], None, "Only one class is present in y_true: 0.0"),
        ([True, True], [1, 2], None, "Only one class is present in y_true: True"),
        ([], [], None, "Only one class is present in y_true"),
        ([0, np.nan, 1], [1, 2, 3], None, "Input y_true contains NaN, first in row 1"),
        ([0, 1, 0], [0.0, 1.0, np.nan], None, "the score of row 2 is NaN"),
        ([0, 1, 0], [0.0, None, 1.0], None, "the score of row 1 is NaN"),
        ([0, 1, 0], pd.array([0.5, None, 1.0]), None, "the score of row 1 is NaN"),
        ([0, 1, 0], pl.Series([1, None, 2]), None, "the score of row 1 is NaN"),
        ([0, 1, 0], [0.0, 1.0], None, "y_score has 2 rows, but y has 3"),
        ([0, 1], [0.0, 1.0], [1.0], "sample_weight has 1 rows, but y has 2"),
        ([0, 1], [0.0, 1.0], [1.0, -2.0], "sample_weight of row 1 is -2"),
        ([0, 1], [0.0, 1.0], [np.nan, 1.0], "sample_weight of row 0 is NaN"),
        ([0, 1], [0.0, 1.0], [np.inf, 1.0], "sample_weight of row 0 is inf"),
        (
            [0, 1],
            [0.0, 1.0],
            [1.0, 0.0],
            "sample_weight is zero, or nothing next to the other weights, on every row of the pos",
        ),
        ([0, 1], [0.0, 1.0], ["a", "b"], "sample_weight must hold numbers"),
        ([0, 1], ["a", "b"], None, "y_score must hold numbers"),
        ([0, 1], [1j, 2j], None, "y_score must hold numbers"),
        ([0, 1], [[1.0, 0.0], [0.0, 1.0]], None, r"y_score should be a 1d array, got .* \(2, 2\)"),
        ([[0, 1], [1, 0]], [1.0, 0.0], None, r"y_true should be a 1d array, got .* \(2, 2\)"),
        (3, [1.0, 0.0], None, "y_true should be a 1d array"),
    ],
)
def test_bad_input_is_named_in_the_error(metric, y, scores, weights, message):
    with pytest.raises(ValueError, match=message):
        metric(y, scores, sample_weight=weights)


@pytest.mark.parametrize("metric", [roc_auc_score, RocCurve.from_scores])
@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 2], "The type of the target is multiclass: y_true holds 0, 1, 2"),
        (
            ["a", "b", "c"],
            "Only binary classification is supported. The type of the target",
        ),
        ([0.5, 1.5, 0.5], "The type of the target is continuous"),
        (["a", None, "b"], "Input y_true contains NaN, first in row 1"),
        (np.array([1, "b", 1], dtype=object), "labels of one type that have an order"),
    ],
)
def test_labels_must_be_of_two_classes(metric, y, message):
    with pytest.raises(ValueError, match=message):
        metric(y, [1.0, 2.0, 3.0])


def test_pos_label_is_required_and_must_be_a_label():
    with pytest.raises(ValueError, match=r"takes value in \{'a', 'b'\} and pos_label is not"):
        roc_curve(["a", "b"], [1, 2])
    with pytest.raises(ValueError, match=r"pos_label=3 is not a valid label. .* one of \[1, 2\]"):
        roc_curve([1, 2], [1, 2], pos_label=3)
    with pytest.raises(ValueError, match="pos_label='a' is not a valid label"):
        roc_curve([1, 2], [1, 2], pos_label="a")


@pytest.mark.parametrize("max_fpr", [0, -0.1, 1.1, np.nan])
def test_max_fpr_must_be_a_rate(max_fpr):
    with pytest.raises(ValueError, match="max_fpr"):
        roc_auc_score(Y, S, max_fpr=max_fpr)


@given(scores_of_every_dtype(), st.sampled_from([0.001, 0.1, 0.5, 1.0]))
def test_no_area_exceeds_one(sample, max_fpr):
    y, _, weights = sample
    value = roc_auc_score(y, y * 0.1, sample_weight=weights / 3 + 0.1, max_fpr=max_fpr)
    assert value == pytest.approx(1)
    assert value <= 1


# The curve as an object.


def chords(curve):
    """Heights of the best chords between knots, at every knot."""
    x, y = curve.fpr, curve.tpr
    best = y.copy()
    for a in range(x.size):
        for b in range(a + 1, x.size):
            inside = (x >= x[a]) & (x <= x[b])
            if x[b] > x[a]:
                height = y[a] + (y[b] - y[a]) * (x[inside] - x[a]) / (x[b] - x[a])
                best[inside] = np.maximum(best[inside], height)
    return best


@given(scores_of_every_dtype())
def test_the_hull_is_as_high_as_the_best_chord(sample):
    y, scores, weights = sample
    curve = RocCurve.from_scores(y, scores, sample_weight=weights)
    hull = curve.hull()
    np.testing.assert_allclose(hull.tpr_at(curve.fpr), chords(curve)[_last_at(curve.fpr)])
    slopes = np.diff(hull.tpr) / np.maximum(np.diff(hull.fpr), 1e-300)
    assert np.all(np.diff(slopes) < 0)
    assert set(hull.thresholds) <= set(curve.thresholds)


def _last_at(x):
    return np.searchsorted(x, x, side="right") - 1


@given(scores_of_every_dtype(), st.lists(st.floats(0, 1), max_size=5))
@example((np.array([0, 0, 1, 1, 0, 1]), np.array([1, 1, 1, 0, 0, 0]), None), [5e-324])
def test_rates_between_knots_are_interpolated(sample, rates):
    y, scores, _ = sample
    curve = RocCurve.from_scores(y, scores)
    inside = [r for r in rates if r not in curve.fpr and r not in curve.tpr]
    # Half of the smallest number is not a number: there, the two may round to neighbours.
    close = partial(np.testing.assert_allclose, atol=np.finfo(float).smallest_subnormal)
    close(curve.tpr_at(inside), np.interp(inside, curve.fpr, curve.tpr))
    close(curve.fpr_at(inside), np.interp(inside, curve.tpr, curve.fpr))


def test_a_rate_on_a_step_gives_the_better_end():
    curve = RocCurve.from_scores([0, 1, 0, 1], [0, 1, 2, 3])
    assert curve.tpr_at(0) == 0.5
    assert curve.fpr_at(0.5) == 0
    assert curve.tpr_at([[0.5], [1.0]]).tolist() == [[1.0], [1.0]]
    with pytest.raises(ValueError, match=r"fpr is 1\.5, but must be between 0 and 1"):
        curve.tpr_at(1.5)


def test_distances_of_two_curves_are_those_of_a_hand_calculation():
    # Up 1/2, right 1/2, up 1/2, right 1/2; against the diagonal. The gap falls from 1/2 to 0, then
    # again: two triangles with base 1/2 and height 1/2.
    stairs = RocCurve.from_scores([0, 1, 0, 1], [0, 1, 2, 3])
    chance = RocCurve.from_scores([0, 1], [0, 0])
    assert stairs.distance(chance) == 0.25
    assert stairs.distance(chance, norm="linf") == 0.5
    with pytest.raises(ValueError, match='norm is "l2", but must be "l1" or "linf"'):
        stairs.distance(chance, norm="l2")


@given(scores_of_every_dtype())
def test_distance_to_the_curve_above_is_the_difference_of_areas(sample):
    y, scores, _ = sample
    curve = RocCurve.from_scores(y, scores)
    hull = curve.hull()
    assert curve.distance(hull) == pytest.approx(hull.auc - curve.auc, abs=1e-12)


def test_a_curve_is_frozen_and_survives_pickling_and_copying():
    curve = RocCurve.from_scores(Y, S, sample_weight=[1, 2, 0.1, 0.7])
    with pytest.raises(AttributeError):
        curve.auc = 1.0
    with pytest.raises(ValueError, match="read-only"):
        curve.fpr[0] = 0.5
    for twin in (pickle.loads(pickle.dumps(curve)), copy.deepcopy(curve)):
        assert twin.auc == curve.auc
        for name in ("fpr", "tpr", "thresholds"):
            np.testing.assert_array_equal(getattr(twin, name), getattr(curve, name))
        assert twin.hull().auc == curve.hull().auc


def test_plot_draws_the_knots_and_names_the_area():
    figure = pytest.importorskip("matplotlib.figure")
    ax = figure.Figure().add_subplot()
    curve = RocCurve.from_scores(Y, S)
    display = curve.plot(ax, name="model", plot_chance_level=True, color="red")
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    line = display.line_
    assert [line, display.chance_level_] == list(ax.lines)
    np.testing.assert_array_equal(line.get_xdata(), curve.fpr)
    np.testing.assert_array_equal(line.get_ydata(), curve.tpr)
    assert line.get_label() == "model (AUC = 0.75)"
    assert line.get_color() == "red"


def test_plot_without_matplotlib_raises_an_error_that_says_what_to_install():
    said = said_without_matplotlib(
        "RocCurve.from_scores([0, 1], [0, 1]).plot()", "from aucrank.metrics import RocCurve"
    )
    assert "pip install 'aucrank[plot]'" in said
