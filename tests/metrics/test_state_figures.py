"""Average precision, net benefit and calibration of rows that come in pieces."""

import numpy as np
import pytest
from aucrank.metrics import (
    RocState,
    average_precision,
    calibration_curve,
    decision_curve,
)


def rows(seed=0):
    """Labels, probabilities that tie, whole weights and others."""
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 3, 600).round(2)
    y = rng.random(600) < p
    return y.astype(int), p, rng.integers(0, 4, 600), rng.random(600)


def in_pieces(y, p, weight=None):
    """State of the rows, in five batches."""
    state = RocState()
    for part in np.array_split(np.arange(len(y)), 5):
        own = None if weight is None else weight[part]
        state = state + RocState().update(y[part], p[part], sample_weight=own)
    return state


def alike(found, expected):
    for name in expected.__dataclass_fields__:
        own, other = getattr(found, name), getattr(expected, name)
        if not hasattr(other, "keys"):
            assert own == (other if isinstance(other, str) else pytest.approx(other, nan_ok=True))
            continue
        assert list(own) == list(other)
        for column in other:
            if other[column].dtype == object or isinstance(other[column][0], str):
                assert list(own[column]) == list(other[column])
            else:
                assert own[column] == pytest.approx(other[column], nan_ok=True, abs=1e-9)


@pytest.mark.parametrize("weighted", [None, "equal", "frequency"])
def test_the_figures_of_pieces_are_those_of_arrays(weighted):
    y, p, counts, _ = rows()
    weight = {None: None, "equal": np.full(len(y), 0.3), "frequency": counts}[weighted]
    weights = "frequency" if weighted == "frequency" else "sampling"
    state = in_pieces(y, p, weight)
    how = {"weights": weights, "confidence": 0.9}
    arrays = {**how, "sample_weight": weight}
    alike(
        state.average_precision(**how),
        average_precision(y, p, method="logit", **arrays),
    )
    cuts = {"thresholds": [0.1, 0.25, 0.6], "prevalence": 0.2}
    alike(state.decision_curve(**cuts, **how), decision_curve(y, p, **cuts, **arrays))
    alike(state.decision_curve(**how), decision_curve(y, p, **arrays))
    alike(state.calibration_curve(**how), calibration_curve(y, p, **arrays))


def test_unequal_weights_give_values_without_intervals():
    y, p, _, weight = rows()
    state = in_pieces(y, p, weight)
    found, expected = state.decision_curve(), decision_curve(y, p, sample_weight=weight)
    for column in ("tpr", "fpr", "net_benefit", "standardized", "avoided"):
        assert found.table[column] == pytest.approx(expected.table[column], nan_ok=True)
    assert np.isnan(found.table["low"]).all()
    assert np.isnan(found.differences["p_value"]).all()
    found, expected = state.calibration_curve(), calibration_curve(y, p, sample_weight=weight)
    assert found.measures["value"] == pytest.approx(expected.measures["value"])
    assert np.isnan(found.measures["high"]).all()
    assert found.curve["observed"] == pytest.approx(expected.curve["observed"])
    alike(state.average_precision(), average_precision(y, p, method="logit", sample_weight=weight))
    # One weight for each class: a case-control sample, of which the intervals are not those of
    # equal rows.
    of_class = np.where(y == 1, 1.0, 7.0)
    assert np.isnan(in_pieces(y, p, of_class).calibration_curve().measures["low"]).all()


def test_states_raise_the_same_errors_as_arrays():
    y, p, _, weight = rows()
    with pytest.raises(ValueError, match="a score of the rows is 1"):
        RocState().update([0, 1], [0.5, 1.5]).decision_curve()
    with pytest.raises(ValueError, match="class"):
        RocState().update([0, 0], [0.5, 0.5]).average_precision()
    with pytest.raises(ValueError, match="whole"):
        in_pieces(y, p, weight).calibration_curve(weights="frequency")
    with pytest.raises(ValueError, match="whole"):
        in_pieces(y, p, weight).average_precision(weights="frequency")
    with pytest.raises(ValueError, match="confidence"):
        in_pieces(y, p).average_precision(confidence=1)


def test_a_perfect_average_precision_has_an_exact_interval():
    y = np.repeat([0, 1], 20)
    assert in_pieces(y, y / 2).average_precision() == average_precision(y, y / 2)
