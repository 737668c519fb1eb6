"""Manual changes of a fitted card: cuts, bins, points and features, and their record."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._export.bins import CardFeature
from aucrank._utils.numbers import exact
from aucrank._utils.words import did_you_mean, listed

#: The key of a saved card's parameters that holds its edits.
EDITS = "edits_"

# "integer" is in cards of earlier versions, whose small scores were edits.
_KINDS = ("cuts", "merge", "points", "without", "integer")
_MOST_POINTS = 10**9


@dataclass(frozen=True, slots=True)
class Edit:
    """A manual change of a fitted card.

    Attributes
    ----------
    kind : {"cuts", "merge", "points", "without", "integer"}
        Kind of change.
    feature : str
        Feature whose bins or points were changed.
    change : str
        The change, in words.
    date : str
        Date, as in "2026-01-31".
    auc_before, auc_after : float or None
        AUC of the points on the given rows; None without rows.
    """

    kind: str
    feature: str
    change: str
    date: str
    auc_before: float | None = None
    auc_after: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the edit in the form of JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: Any) -> "Edit":
        """Read what `to_json` wrote.

        Raises
        ------
        ModelFormatError
            If it has another form.
        """
        match found:
            case {
                "kind": str(kind),
                "feature": str(feature),
                "change": str(change),
                "date": str(day),
                "auc_before": (float() | int() | None) as before,
                "auc_after": (float() | int() | None) as after,
            } if kind in _KINDS and _is_date(day) and _are_aucs(before, after):
                return cls(kind, feature, change, day, before, after)
        raise _core.ModelFormatError(f"an edit of the card has an unknown form: {found!r:.200}")

    def __str__(self) -> str:
        aucs = ""
        if self.auc_before is not None and self.auc_after is not None:
            aucs = f" (AUC {self.auc_before:.4f}, then {self.auc_after:.4f})"
        return f"{self.date} {self.feature}: {self.change}{aucs}"


def read_edits(found: Any) -> tuple[Edit, ...]:
    """Read the edits of a saved card; None if there are none.

    Raises
    ------
    ModelFormatError
        If they have another form.
    """
    if found is None:
        return ()
    if not isinstance(found, list):
        raise _core.ModelFormatError("the edits of the card are not a list")
    return tuple(Edit.from_json(edit) for edit in found)


def date_text(when: date | str | None) -> str:
    """Return the date of an edit as text, that of today for None.

    Raises
    ------
    TypeError, ValueError
        If it is not a date.
    """
    if when is None:
        return date.today().isoformat()
    if isinstance(when, date):
        return when.isoformat()[:10]
    if not isinstance(when, str):
        raise TypeError(f'date must be a date or a text such as "2026-01-31", got {when!r}')
    if not _is_date(when):
        raise ValueError(f'date must be as in "2026-01-31", got {when!r}')
    return when


def find_feature(features: Sequence[CardFeature], names: Sequence[str], named: Any) -> int:
    """Return the place of a feature on the card, given by name or by position among the columns.

    Raises
    ------
    TypeError, ValueError
        If it is not on the card.
    """
    on_card = [feature.name for feature in features]
    if isinstance(named, Integral) and not isinstance(named, bool | np.bool_):
        if not 0 <= int(named) < len(names):
            raise ValueError(f"feature {named} is not one of the {len(names)} columns")
        named = names[int(named)]
    if not isinstance(named, str):
        raise TypeError(f"feature must be a name or a position, got {named!r}")
    if named in on_card:
        return on_card.index(named)
    if named in names:
        raise ValueError(f"feature {named!r} has no points on the card")
    raise ValueError(f"there is no feature {named!r}{did_you_mean(named, on_card)}")


def find_bin(feature: CardFeature, named: Any) -> int:
    """Return the place of a bin of a feature, given by place, by its rule, or by a category.

    Raises
    ------
    TypeError, ValueError
        If there is none.
    """
    n_bins = len(feature.bins)
    if isinstance(named, Integral) and not isinstance(named, bool | np.bool_):
        if not 0 <= int(named) < n_bins:
            raise ValueError(
                f"{feature.name} has bins 0 to {n_bins - 1}, so that there is no bin {named}"
            )
        return int(named)
    if not isinstance(named, str):
        raise TypeError(f"bin must be a place, a rule or a category, got {named!r}")
    rules = [bin_.rule for bin_ in feature.bins]
    if named in rules:
        return rules.index(named)
    for place, bin_ in enumerate(feature.bins):
        if named in bin_.levels or (named == "missing" and bin_.kind == "missing"):
            return place
    raise ValueError(f"{feature.name} has no bin {named!r}{did_you_mean(named, rules)}")


def scale_of(features: Sequence[dict[str, Any]]) -> float:
    """Return the points per unit of the values of a card, by least squares."""
    products, squares = [], []
    for feature in features:
        values = np.array(feature["values"])
        points = np.array(feature["points"], dtype=np.float64)
        values, points = values - values.mean(), points - points.mean()
        products.append(float(values @ points))
        squares.append(float(values @ values))
    return math.fsum(products) / total if (total := math.fsum(squares)) else 1.0


def constant_of(feature: dict[str, Any], scale: float) -> float:
    """Return the points of a value of 0 in a feature, without rounding."""
    points, values = np.array(feature["points"], dtype=np.float64), np.array(feature["values"])
    return float(np.mean(points - scale * values))


def whole_points(
    feature: dict[str, Any], points: NDArray[np.float64], scale: float, constant: float
) -> tuple[dict[str, Any], int]:
    """Return a feature with points rounded such that the least is 0, and the shift.

    ``values`` are updated with the points, so that later edits find them on the line.
    """
    rounded = [int(value) for value in np.rint(points)]
    least = min(rounded)
    values = ((points - constant) / scale).tolist()
    return feature | {"values": values, "points": [value - least for value in rounded]}, least


def merged(
    feature: dict[str, Any], places: Sequence[int], scale: float
) -> tuple[dict[str, Any], int]:
    """Return a feature with bins joined, as the fit joins them: to the mean of their values."""
    first, *others = sorted(places)
    weights = [feature["sums"][place]["pos"] + feature["sums"][place]["neg"] for place in places]
    values = [feature["values"][place] for place in places]
    if total := sum(weights):
        products = (w * v for w, v in zip(weights, values, strict=True))
        value = math.fsum(products) / total
        value = min(max(value, min(values)), max(values))
    else:
        value = values[0]
    constant = constant_of(feature, scale)
    joined = [feature["points"][place] for place in places]
    points = min(max(scale * value + constant, min(joined)), max(joined))
    sums = {key: sum(feature["sums"][p][key] for p in places) for key in ("pos", "neg", "rows")}
    kept = [place for place in range(len(feature["sums"])) if place not in others]
    out = feature | {
        "bins": _merged_bins(feature["bins"], first, others),
        "sums": [sums if place == first else feature["sums"][place] for place in kept],
    }
    all_points = [points if place == first else feature["points"][place] for place in kept]
    return whole_points(out, np.array(all_points, dtype=np.float64), scale, constant)


def _merged_bins(bins: dict[str, Any], first: int, others: Sequence[int]) -> dict[str, Any]:
    if "numeric" in bins:
        cuts = bins["numeric"]["cuts"]
        kept = [cut for place, cut in enumerate(cuts, start=1) if place not in others]
        return {"numeric": bins["numeric"] | {"cuts": kept}}
    n_bins = bins["categorical"]["n_bins"]
    left = [place for place in range(n_bins + 1) if place not in others]
    new = {place: number for number, place in enumerate(left)} | dict.fromkeys(
        others, left.index(first)
    )
    of_level = [new[place] for place in bins["categorical"]["bin_of_level"]]
    return {"categorical": {"bin_of_level": of_level, "n_bins": n_bins - len(others)}}


def check_merge(feature: CardFeature, bins: Any) -> list[int]:
    """Return the positions of bins to join, ascending.

    Raises
    ------
    TypeError, ValueError
        If they are not bins that can be joined.
    """
    if isinstance(bins, str | bytes) or not isinstance(bins, Iterable):
        raise TypeError(f"bins must be a list of bins, got {bins!r}")
    bins = list(bins)
    places = sorted({find_bin(feature, named) for named in bins})
    if len(places) == 1 and len(bins) > 1:
        raise ValueError(
            f"{bins!r} share a bin of {feature.name} already, {feature.bins[places[0]].rule!r}:"
            " there is nothing to merge"
        )
    if len(places) < 2:
        raise ValueError(f"bins must be two bins of {feature.name} at least, got {bins!r}")
    for place in places:
        if feature.bins[place].kind in ("special", "missing"):
            raise ValueError(
                f"{feature.bins[place].rule!r} keeps a bin of its own and cannot be merged"
            )
    if feature.is_numeric and places != list(range(places[0], places[-1] + 1)):
        raise ValueError(
            f"bins {listed([str(place) for place in places])} of {feature.name} are not next to"
            " each other"
        )
    return places


def check_cuts(feature: CardFeature, cuts: Any) -> list[float]:
    """Return cuts of a user as floats.

    Raises
    ------
    TypeError, ValueError
        If they are not finite and ascending, or the feature has no numbers.
    """
    if not feature.is_numeric:
        raise ValueError(f"feature {feature.name!r} is categorical: merge its categories instead")
    if isinstance(cuts, str | bytes) or not isinstance(cuts, Iterable):
        raise TypeError(f"cuts must be a list of numbers, got {cuts!r}")
    found = list(cuts)
    for cut in found:
        if isinstance(cut, bool | np.bool_) or not isinstance(cut, Real):
            raise TypeError(f"cuts must be numbers, got {cut!r}")
        if not math.isfinite(cut):
            raise ValueError(f"cuts must be finite, got {cut!r}")
    # -0.0 is the 0.0 that a row may hold.
    numbers = [float(cut) + 0.0 for cut in found]
    for low, high in pairwise(numbers):
        if not low < high:
            raise ValueError(f"cuts must ascend, but {exact(high)} comes after {exact(low)}")
    return numbers


def check_points(points: Any) -> int:
    """Return the points of a bin.

    Raises
    ------
    TypeError, ValueError
        If they are not whole and finite.
    """
    if isinstance(points, bool | np.bool_) or not isinstance(points, Real):
        raise TypeError(f"points must be a whole number, got {points!r}")
    if not math.isfinite(points) or not float(points).is_integer():
        raise ValueError(f"points must be a whole, finite number, got {points!r}")
    if abs(float(points)) > _MOST_POINTS:
        raise ValueError(f"points must be from {-_MOST_POINTS:,} to {_MOST_POINTS:,}")
    return int(float(points))


def bin_places(cuts: Sequence[float], special: Sequence[float], values: Any) -> NDArray[np.intp]:
    """Return the bin of each number: intervals, then special values, then missing ones."""
    values = np.asarray(values, dtype=np.float64)
    places: NDArray[np.intp] = np.searchsorted(
        np.array(cuts, dtype=np.float64), values, side="right"
    )
    for number, value in enumerate(special):
        places[values == value] = len(cuts) + 1 + number
    places[np.isnan(values)] = len(cuts) + 1 + len(special)
    return places


def against_direction(values: NDArray[np.float64], direction: int) -> NDArray[np.intp]:
    """Return the places of intervals whose value is on the wrong side of that of the next one.

    In an isotonic regression each has one value with the next.
    """
    return np.flatnonzero(direction * np.diff(values) < 0)


def trend_of(values: NDArray[np.float64], sizes: NDArray[np.float64]) -> int:
    """Return 1 if the values of intervals rise, by the weight of their rows, or else -1."""
    places = np.arange(len(values))
    middle = sizes @ places / sizes.sum()
    return 1 if (sizes * (places - middle)) @ values >= 0 else -1


def log_odds_of_bins(
    places: NDArray[np.intp],
    n_bins: int,
    others: NDArray[np.int64],
    log_odds: NDArray[np.float64],
    positive: NDArray[np.bool_],
    weight: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return the log-odds that each bin adds to those of the other features.

    Parameters
    ----------
    places : ndarray of shape (n_rows,)
        The bin of each row.
    n_bins : int
        Number of bins.
    others, log_odds : ndarray of shape (n_rows,)
        Points of each row from everything else, and the log-odds that they represent.
    positive, weight : ndarray of shape (n_rows,)
        The rows.

    Returns
    -------
    ndarray of shape (n_bins,)
        By maximum likelihood, with half a row of each class added to a bin; NaN for a bin without
        rows. If all rows have the same other points, it is the bin's weight of evidence, up to a
        constant.
    """
    found = np.full(n_bins, np.nan)
    weight = np.ones(len(places)) if weight is None else weight
    kept = np.flatnonzero(weight > 0)
    # Groups of equal rows and sums without rounding: the order of the rows does not matter.
    order = kept[np.lexsort((positive[kept], others[kept], places[kept]))]
    keys = np.stack((places[order], others[order], positive[order]))
    is_first = np.append(True, np.any(np.diff(keys, axis=1), axis=0))
    starts = np.flatnonzero(is_first)
    ends = np.append(starts[1:], len(order))
    masses = np.array([math.fsum(weight[order[a:b]]) for a, b in zip(starts, ends, strict=True)])
    first = order[starts]
    for place in range(n_bins):
        mine = places[first] == place
        if mine.any():
            of_group, mass = log_odds[first[mine]], masses[mine]
            n_pos = float(mass[positive[first[mine]]].sum()) + 0.5
            # Half a row of each class, at the bin's mean log-odds.
            middle = float(of_group @ mass / mass.sum())
            found[place] = _solve(np.append(of_group, middle), np.append(mass, 1.0), n_pos)
    return found


def _solve(log_odds: NDArray[np.float64], mass: NDArray[np.float64], n_pos: float) -> float:
    """Return the shift of log-odds that gives a number of expected positives."""

    def expected(shift: float) -> float:
        return float(mass @ (0.5 * (1 + np.tanh(0.5 * (log_odds + shift)))))

    low = -float(log_odds.max()) - 60.0
    high = -float(log_odds.min()) + 60.0
    while low < (middle := 0.5 * (low + high)) < high and high - low > 1e-12:
        low, high = (middle, high) if expected(middle) < n_pos else (low, middle)
    return 0.5 * (low + high)


def auc_of(distribution: Sequence[Any], sign: int) -> float:
    """Return the AUC of rows by points, from the counts of the core, ascending."""
    half_wins, neg_below, n_pos = 0, 0, 0
    for _, sums in distribution if sign > 0 else reversed(distribution):
        half_wins += sums["pos"] * (2 * neg_below + sums["neg"])
        neg_below += sums["neg"]
        n_pos += sums["pos"]
    return half_wins / (2 * n_pos * neg_below)


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _are_aucs(*aucs: float | None) -> bool:
    return all(auc is None or 0 <= auc <= 1 for auc in aucs)
