"""Checks of constructor parameters, one line each in an estimator's ``_check_params``."""

from collections.abc import Collection
from math import isnan
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

_MAX_INT = 2**63 - 1

#: Choices for the class rates of categories.
LEVEL_RATES = ("shrunken", "raw")


def check_int(
    value: Any, name: str, *, low: int, high: int | None = None, optional: bool = False
) -> int | None:
    """Return an integer parameter within ``[low, high]`` as an int.

    Parameters
    ----------
    value : object
        What the user passed.
    name : str
        Name of the parameter, for messages.
    low, high : int
        Smallest and largest value; ``high=None`` is the largest integer that the core accepts.
    optional : bool, default=False
        Whether None is a value too; it is returned as it is.

    Returns
    -------
    int or None
        The checked value.

    Raises
    ------
    TypeError
        If it is not an integer.
    ValueError
        If it is out of bounds.
    """
    if value is None and optional:
        return None
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an int{' or None' * optional}, got {value!r}")
    number = int(value)
    if not low <= number <= (_MAX_INT if high is None else high):
        at_least = high is None and number < low
        bounds = f"at least {low}" if at_least else f"from {low} to {high or _MAX_INT}"
        raise ValueError(f"{name} must be {bounds}, got {value!r}")
    return number


def check_real(
    value: Any,
    name: str,
    *,
    low: float,
    high: float = float("inf"),
    low_open: bool = False,
    high_open: bool = False,
    optional: bool = False,
) -> float | None:
    """Return a real parameter between ``low`` and ``high`` as a float.

    Parameters
    ----------
    value : object
        What the user passed.
    name : str
        Name of the parameter, for messages.
    low, high : float
        Bounds; they belong to the range unless they are declared open.
    low_open, high_open : bool, default=False
        Whether the bound itself is refused.
    optional : bool, default=False
        Whether None is a value too; it is returned as it is.

    Returns
    -------
    float or None
        The checked value.

    Raises
    ------
    TypeError
        If it is not a real number.
    ValueError
        If it is NaN or out of bounds.
    """
    if value is None and optional:
        return None
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number{' or None' * optional}, got {value!r}")
    number = float(value)
    below = number < low or (low_open and number == low)
    above = number > high or (high_open and number == high)
    if isnan(number) or below or above:
        opening, closing = "(["[not low_open], ")]"[not high_open]
        raise ValueError(f"{name} must be in {opening}{low}, {high}{closing}, got {value!r}")
    return number


def check_bool(value: Any, name: str) -> bool:
    """Return a parameter that is true or false as a bool.

    Raises
    ------
    TypeError
        If it is neither.
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_verbose(value: Any) -> None:
    """Check the parameter ``verbose``: a number, or True for 1 and False for 0.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If it is below 0.
    """
    if not isinstance(value, bool | np.bool_):
        check_int(value, "verbose", low=0)


def check_choice(value: Any, name: str, choices: Collection[str | None]) -> Any:
    """Return a parameter that is one of a few strings, or None where that is a choice.

    Raises
    ------
    ValueError
        If it is not among ``choices``.
    """
    if not (value is None or isinstance(value, str)) or value not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {known}; got {value!r}")
    return value


def check_time_limit(value: Any) -> float | None:
    """Return the limit on the seconds of a fit, None for no limit.

    Raises
    ------
    TypeError, ValueError
        If it is not a finite number above 0 or None.
    """
    return check_real(value, "time_limit", low=0.0, low_open=True, high_open=True, optional=True)


def check_max_features(value: Any, n_features: int) -> int | None:
    """Return how many features are drawn for each stump, or None for all of them.

    Parameters
    ----------
    value : int, float, "sqrt", "log2" or None
        What the user passed, as for `sklearn.tree.DecisionTreeClassifier`.
    n_features : int
        Number of features.

    Returns
    -------
    int or None
        At least 1.

    Raises
    ------
    TypeError, ValueError
        If it is none of these, or out of bounds.
    """
    rule = f"max_features must be 'sqrt', 'log2', a number or None; got {value!r}"
    match value:
        case None:
            return None
        case "sqrt":
            number = int(n_features**0.5)
        case "log2":
            number = int(np.log2(n_features)) if n_features > 0 else 1
        case str():
            raise ValueError(rule)
        case bool():
            raise TypeError(rule)
        case Integral():
            number = check_int(value, "max_features", low=1) or 1
        case _:
            share = check_real(value, "max_features", low=0.0, high=1.0, low_open=True)
            number = int((share or 0.0) * n_features)
    return max(1, min(number, n_features))


def binning_params(max_bins: Any, level_rates: Any, seed: int) -> dict[str, Any]:
    """Return the binning parameters of the core.

    Parameters
    ----------
    max_bins : object
        Maximal number of bins of a number.
    level_rates : object
        Source of the class rates of categories.
    seed : int
        Seed of the sample from which bins are cut.

    Returns
    -------
    dict
        The checked parameters.

    Raises
    ------
    TypeError, ValueError
        If one is not valid.
    """
    return {
        "max_bins": check_int(max_bins, "max_bins", low=2, high=65_535, optional=True),
        "level_rates": check_choice(level_rates, "level_rates", LEVEL_RATES),
        "seed": seed,
    }


def check_seed(random_state: int | np.random.RandomState | None) -> int:
    """Draw the seed of a fit, in ``[0, 2**31 - 1)``, from scikit-learn's ``random_state``."""
    return int(check_random_state(random_state).randint(2**31 - 1))
