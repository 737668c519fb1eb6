"""Options of a report, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from numpy.random import RandomState
from numpy.typing import ArrayLike

from aucrank._utils.params import check_real, check_seed
from aucrank.metrics._grades import check_bounds
from aucrank.metrics._inference import check_confidence

_ERRORS = ("false_positive", "false_negative")

# Default costs of a false negative, in units of a false positive.
_USUAL_RATIOS = (1.0, 2.0, 5.0, 10.0, 20.0)


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of the two kinds of error.

    Attributes
    ----------
    false_positive : float
        Cost of a negative row that is called positive.
    false_negative : float
        Cost of a positive row that is called negative.
    """

    false_positive: float
    false_negative: float


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a report.

    Attributes
    ----------
    confidence : float
        Level of every interval.
    max_fpr : float
        Greatest false positive rate of the partial area.
    costs : tuple of Costs
        Costs for which the best cut-offs are found.
    costs_given : bool
        Whether the user gave the costs; otherwise they are a few usual ratios.
    grades : tuple of float or None
        Rising probabilities at which grades begin; None without grades.
    seed : int
        Seed of all random draws.
    title : str or None
        Heading; None for one made of the names.
    timestamp : datetime or None
        Time stamp of the report.
    """

    confidence: float
    max_fpr: float
    costs: tuple[Costs, ...]
    costs_given: bool
    grades: tuple[float, ...] | None
    seed: int
    title: str | None
    timestamp: datetime | None


def read_options(
    *,
    confidence: float = 0.95,
    max_fpr: float = 0.1,
    costs: Mapping[str, float] | None = None,
    grades: ArrayLike | None = None,
    random_state: int | RandomState | None = 0,
    title: str | None = None,
    timestamp: datetime | None = None,
) -> Options:
    """Check the arguments of the user.

    Raises
    ------
    TypeError, ValueError
        If an argument is not valid; the error names the parameter and the value.
    """
    most = check_real(max_fpr, "max_fpr", low=0.0, high=1.0, low_open=True)
    assert most is not None
    for value, name, kind in ((title, "title", str), (timestamp, "timestamp", datetime)):
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"{name} must be a {kind.__name__} or None, got {value!r}")
    return Options(
        check_confidence(confidence),
        most,
        tuple(Costs(1.0, ratio) for ratio in _USUAL_RATIOS)
        if costs is None
        else (_read_costs(costs),),
        costs is not None,
        None if grades is None else tuple(check_bounds(grades, "grades").tolist()),
        check_seed(random_state),
        title,
        timestamp,
    )


def _read_costs(costs: Any) -> Costs:
    if not isinstance(costs, Mapping) or set(costs) != set(_ERRORS):
        raise ValueError(
            f"costs must be a dict with the keys {' and '.join(map(repr, _ERRORS))}, got {costs!r}"
        )
    values = []
    for name in _ERRORS:
        value = check_real(costs[name], f"costs[{name!r}]", low=0.0, low_open=True, high_open=True)
        assert value is not None
        values.append(value)
    return Costs(*values)
