"""What holds for every metric on every sample: other people's code, definitions, invariances."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.metrics
from aucrank.metrics import (
    RocCurve,
    RocState,
    auc_compare,
    auc_interval,
    average_roc,
    partial_auc,
    precision_recall_curve,
    ramp_auc,
    ramp_auc_gradient,
    roc_auc_score,
    roc_band,
    roc_curve,
)
from check_fits import FindingError, holds
from numpy.typing import NDArray

Rng = np.random.Generator
Array = NDArray[Any]


def draw_metrics(rng: Rng) -> tuple[Callable[[], str], str]:
    """Draw labels, scores and weights; return what checks them, and a description."""
    n = int(rng.choice([2, 3, 8, 50, 500]))
    y = rng.random(n) < rng.choice([0.02, 0.3, 0.5, 0.9])
    y[rng.permutation(n)[:2]] = [True, False]
    scores = draw_scores(rng, y)
    weight = draw_weight(rng, n, y)
    about = f"y={y.astype(int).tolist()}, scores={scores.tolist()}, weight={weight}"
    return lambda: check_metrics(rng, y, scores, weight), about


def check_metrics(rng: Rng, y: Array, scores: Array, weight: Array | None) -> str:
    """Check what must hold of all metrics.

    Returns
    -------
    str
        ``"measured"`` or ``"refused"``.
    """
    if rng.random() < 0.1:
        check_refusals(rng, y, scores, weight)
        return "refused"
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        # Scores on an edge have no spread, which a warning says.
        warnings.simplefilter("ignore", UserWarning)
        auc = check_auc(rng, y, scores, weight)
        check_curves(rng, y, scores, weight, auc)
        check_partial(rng, y, scores, weight, auc)
        if has_two_of_each(y, weight):
            check_intervals(rng, y, scores, weight, auc)
        check_state(rng, y, scores, weight, auc)
        if are_moderate(scores):
            check_ramp(rng, y, scores, weight)
    return "measured"


def has_two_of_each(y: Array, weight: Array | None) -> bool:
    """Tell whether each class has two rows that count: there is no spread without."""
    counted = np.ones(len(y), bool) if weight is None else weight > 0
    return min((counted & y).sum(), (counted & ~y).sum()) >= 2


def are_moderate(scores: Array) -> bool:
    """Tell whether sums of scores are finite, as scikit-learn and ramps would have them."""
    return bool((np.abs(scores.astype(float)) < 1e300).all())


def draw_scores(rng: Rng, y: Array) -> Array:
    """Draw scores, with and without ties, of all sizes."""
    n = len(y)
    scores: Array = rng.normal(size=n) + rng.choice([0, 1, 4]) * y
    match rng.choice(["real", "few", "whole", "extreme", "tiny", "infinite", "equal", "narrow"]):
        case "few":
            return np.round(scores)
        case "whole":
            return np.round(scores * 3).astype(rng.choice(["int64", "int8"]))
        case "extreme":
            return np.clip(scores, -3, 3) * 5e307
        case "tiny":
            return np.round(scores) * 5e-324
        case "infinite":
            scores[rng.random(n) < 0.3] = np.inf
            scores[rng.random(n) < 0.3] = -np.inf
        case "equal":
            return np.full(n, rng.choice([0.0, -0.0, 1e308]))
        case "narrow":
            return scores.astype(np.float32)
    return scores


def draw_weight(rng: Rng, n: int, y: Array) -> Array | None:
    """Draw weights, such that no class is without."""
    match rng.choice(["none", "whole", "real", "classes", "wide"], p=[0.4, 0.2, 0.2, 0.1, 0.1]):
        case "whole":
            weight = rng.integers(0, 4, n).astype(float)
            weight[[y.argmax(), y.argmin()]] = 1
            return weight
        case "real":
            return np.asarray(rng.random(n) + 1e-3)
        case "classes":
            return np.where(y, 1.0, 10.0 ** rng.integers(-3, 4)) * (0.5 + rng.random(n))
        case "wide":
            return np.asarray(10.0 ** rng.uniform(-3, 3, n))
    return None


def close(found: Any, expected: Any, what: str, tolerance: float = 1e-9) -> None:
    """Raise a `FindingError` unless numbers or arrays are near."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    is_near = found.shape == expected.shape and np.allclose(
        found, expected, rtol=tolerance, atol=tolerance, equal_nan=True
    )
    holds(is_near, f"{what}: {found} is not {expected}")


def check_auc(rng: Rng, y: Array, scores: Array, weight: Array | None) -> float:
    """Check the AUC, and return it."""
    auc = roc_auc_score(y, scores, sample_weight=weight)
    by_pairs = auc_by_pairs(y, scores, weight)
    close(auc, by_pairs, "AUC")
    if are_moderate(scores):
        other = sklearn.metrics.roc_auc_score(y, scores, sample_weight=weight)
        close(auc, other, "AUC of scikit-learn")
        max_fpr = float(rng.choice([0.01, 0.3, 1.0]))
        found = roc_auc_score(y, scores, sample_weight=weight, max_fpr=max_fpr)
        other = sklearn.metrics.roc_auc_score(y, scores, sample_weight=weight, max_fpr=max_fpr)
        close(found, other, "partial AUC of scikit-learn", 1e-7)
    close(roc_auc_score(~y, scores, sample_weight=weight), 1 - auc, "labels exchanged", 1e-12)
    order = rng.permutation(len(y))
    shuffled = roc_auc_score(y[order], scores[order], sample_weight=part(weight, order))
    holds(shuffled == auc, f"the order of rows decides: {shuffled} is not {auc}")
    ranks = np.unique(scores, return_inverse=True)[1]
    holds(roc_auc_score(y, ranks, sample_weight=weight) == auc, "more than the order of scores")
    if weight is None or (weight == np.round(weight)).all():
        times = (np.ones(len(y)) if weight is None else weight).astype(int)
        rows = np.repeat(np.arange(len(y)), times)
        holds(roc_auc_score(y[rows], scores[rows]) == auc, "a weight is not a number of rows")
    return float(auc)


def part(weight: Array | None, places: Array) -> Array | None:
    """Return some of the weights, if there are any."""
    return None if weight is None else weight[places]


def auc_by_pairs(y: Array, scores: Array, weight: Array | None) -> float:
    """Return the share of pairs in the right order, a tie being half of one."""
    weight = np.ones(len(y)) if weight is None else weight
    above, below = scores[y][:, None], scores[~y][None, :]
    wins = (above > below) + 0.5 * (above == below)
    pairs = weight[y][:, None] * weight[~y][None, :]
    return float((wins * pairs).sum() / pairs.sum())


def check_curves(rng: Rng, y: Array, scores: Array, weight: Array | None, auc: float) -> None:
    """Check curves against scikit-learn's, and against one another."""
    drop = bool(rng.random() < 0.5)
    if are_moderate(scores):
        for ours, theirs in [
            (roc_curve, sklearn.metrics.roc_curve),
            (precision_recall_curve, sklearn.metrics.precision_recall_curve),
        ]:
            found = ours(y, scores, sample_weight=weight, drop_intermediate=drop)
            other = theirs(y, scores, sample_weight=weight, drop_intermediate=drop)
            if len(found[0]) == len(other[0]):
                for ours_, theirs_ in zip(found, other, strict=True):
                    close(ours_, theirs_, ours.__name__, 1e-7)
            else:
                # Rounded sums make scikit-learn see corners where there are none.
                holds(drop and weight is not None, f"{ours.__name__} has other knots")
    curve = RocCurve.from_scores(y, scores, sample_weight=weight)
    close(curve.auc, auc, "AUC of the curve", 1e-12)
    hull = curve.hull()
    holds(hull.auc >= curve.auc - 1e-12, "the hull is below the curve")
    close(curve.concave_auc, hull.auc, "AUC of the hull", 1e-12)
    grid = np.linspace(0, 1, 11)
    for answer in (curve.tpr_at(grid), curve.fpr_at(grid)):
        holds((np.diff(answer) >= 0).all() and (answer >= 0).all() and (answer <= 1).all(), "rates")
    holds(curve.distance(curve) == 0, "a curve is away from itself")
    for norm in ("l1", "linf"):
        there, back = curve.distance(hull, norm), hull.distance(curve, norm)
        close(there, back, "distance", 1e-12)
    mean = average_roc([curve, hull, curve])
    holds(np.isfinite(mean.tpr).all(), "a mean of curves is not finite")
    if rng.random() < 0.1:
        for method in ("pointwise", "simultaneous"):
            band = roc_band(
                y, scores, sample_weight=weight, method=method, n_resamples=50, random_state=0
            )
            inside = (band.low <= band.tpr + 1e-12) & (band.tpr <= band.high + 1e-12)
            holds(inside.all() and (band.low >= 0).all() and (band.high <= 1).all(), method)


def check_partial(rng: Rng, y: Array, scores: Array, weight: Array | None, auc: float) -> None:
    """Check areas of bands."""
    a, b = np.sort(rng.random(2))
    area = {
        band: partial_auc(y, scores, sample_weight=weight, fpr=band)
        for band in [(0.0, 1.0), (0.0, a), (a, b), (b, 1.0)]
    }
    close(area[0.0, 1.0], auc, "AUC of the whole band", 1e-12)
    parts = area[0.0, a] + area[a, b] + area[b, 1.0]
    close(parts, auc, "bands add up", 1e-12)
    across = [partial_auc(y, scores, sample_weight=weight, tpr=t) for t in [(0, a), (a, 1)]]
    holds(np.isfinite(across).all() and min(across) >= -1e-15, "area of a band of TPR")
    whole = partial_auc(y, scores, sample_weight=weight, fpr=(a, b), standardize=True)
    holds(np.isfinite(whole) and whole <= 1 + 1e-12, f"standardised area {whole}")


def check_intervals(rng: Rng, y: Array, scores: Array, weight: Array | None, auc: float) -> None:
    """Check intervals and comparisons."""
    other = draw_scores(rng, y)
    methods = ["delong", "logit", *(["bootstrap"] if rng.random() < 0.1 else [])]
    for method in methods:
        found = auc_interval(
            y, scores, sample_weight=weight, method=method, n_resamples=50, random_state=0
        )
        numbers = [found.auc, found.low, found.high]
        holds(np.isfinite(numbers).all(), f"{method}: {found}")
        holds(found.low <= found.auc <= found.high, f"{method}: {found}")
        holds(found.low >= 0 and found.high <= 1, f"{method}: {found}")
        close(found.auc, auc, method, 1e-12)
    there = auc_compare(y, scores, other, sample_weight=weight)
    back = auc_compare(y, other, scores, sample_weight=weight)
    holds(there.difference == -back.difference, f"differences {there} and {back}")
    # Where the spread cannot be estimated, the interval is exact and there is no p-value.
    holds(there.method == "exact" or 0 <= there.p_value <= 1, f"{there}")
    holds(
        auc_compare(y, scores, scores, sample_weight=weight).difference == 0, "a score and itself"
    )


def check_state(rng: Rng, y: Array, scores: Array, weight: Array | None, auc: float) -> None:
    """Check that rows in pieces, in any order, give what all rows give."""
    unit = 1.0 if weight is None or (weight == np.round(weight)).all() else 2.0**-30
    if weight is not None and unit != 1.0:
        # Weights that all pieces count in.
        weight = np.maximum(np.round(weight / unit), 1) * unit
        auc = roc_auc_score(y, scores, sample_weight=weight)
    whole = RocState(weight_unit=unit).update(y, scores, sample_weight=weight)
    close(whole.auc(), auc, "AUC of a state", 1e-12)
    pieces = np.array_split(rng.permutation(len(y)), int(rng.integers(1, 5)))
    states = [
        RocState(weight_unit=unit).update(y[rows], scores[rows], sample_weight=part(weight, rows))
        for rows in pieces
        if len(rows)
    ]
    merged = states[0]
    for state in states[1:]:
        merged = merged.merge(state) if rng.random() < 0.5 else state.merge(merged)
    holds(merged.auc() == whole.auc(), "the AUC of merged states")
    back = RocState.from_bytes(merged.to_bytes())
    holds(back.auc() == whole.auc() and back.to_bytes() == merged.to_bytes(), "a stored state")
    if has_two_of_each(y, weight):
        holds(merged.variance() == whole.variance(), "the variance of merged states")
    small = RocState(weight_unit=unit, max_size=32).update(y, scores, sample_weight=weight)
    bound = small.auc_error_bound()
    holds(abs(small.auc() - auc) <= bound + 1e-12, f"{small.auc()} is {bound} away from {auc}")


def check_ramp(rng: Rng, y: Array, scores: Array, weight: Array | None) -> None:
    """Check the ramp statistic."""
    half_width = float(rng.choice([0.5, 1e-3, 10.0]))
    value = ramp_auc(y, scores, sample_weight=weight, half_width=half_width)
    holds(np.isfinite(value), f"ramp {value}")
    if np.abs(scores.astype(float)).max() < 1e6:
        swapped = ramp_auc(~y, -scores.astype(float), sample_weight=weight, half_width=half_width)
        close(swapped, value, "the ramp, labels and signs exchanged", 1e-9)
        again, gradient = ramp_auc_gradient(y, scores, sample_weight=weight, half_width=half_width)
        close(again, value, "the ramp with its gradient", 1e-9)
        holds(np.isfinite(gradient).all(), "a gradient is not finite")
        close(gradient.sum(), 0.0, "the gradient along a shift", 1e-6)


def check_refusals(rng: Rng, y: Array, scores: Array, weight: Array | None) -> None:
    """Check that what is wrong is refused, in words that name it."""
    scores = scores.astype(float)
    match rng.choice(["NaN", "class", "length", "weight"]):
        case "NaN":
            scores = scores.copy()
            scores[rng.integers(len(y))] = np.nan
        case "class":
            y = np.full(len(y), y[0])
        case "length":
            scores = scores[1:]
        case "weight":
            weight = np.ones(len(y))
            weight[rng.integers(len(y))] = rng.choice([-1.0, np.nan, np.inf])
    for metric in (roc_auc_score, partial_auc, ramp_auc, auc_interval, RocCurve.from_scores):
        try:
            value = metric(y, scores, sample_weight=weight)
        except ValueError as err:
            holds(len(str(err)) > 10, f"an error says nothing: {err!r}")
        else:
            raise FindingError(f"{metric.__name__} takes bad input: {value}")
