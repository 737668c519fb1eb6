"""Shared code of boosters for choosing the number of rounds on held-out rows."""

from typing import Any

from aucrank import _core
from aucrank._base.fit_context import FitContext
from aucrank._utils.params import check_bool, check_int, check_real
from aucrank._utils.warn import warn_caller


def held_out_fraction(booster: Any) -> float | None:
    """Return the parameter ``validation_fraction``, checked."""
    return check_real(
        booster.validation_fraction,
        "validation_fraction",
        low=0.0,
        high=1.0,
        low_open=True,
        high_open=True,
    )


def patience(booster: Any) -> dict[str, Any]:
    """Return the early stopping rule in the form of the core, each parameter checked."""
    return {
        "n_iter_no_change": check_int(booster.n_iter_no_change, "n_iter_no_change", low=1),
        "tol": check_real(booster.tol, "tol", low=0.0, high_open=True),
    }


def check_refit(booster: Any) -> bool:
    """Return the parameter ``refit`` of a booster that holds rows out.

    Raises
    ------
    ValueError
        If it is set together with ``warm_start``.
    """
    refit = check_bool(booster.refit, "refit")
    if refit and booster.warm_start:
        raise ValueError(
            "refit does not go with warm_start: the rounds of the last fit have seen the rows"
            " that would be held out"
        )
    return refit


def read_validation(booster: Any, context: FitContext, *, is_chosen: bool) -> Any:
    """Return the validation rows that ``fit`` was given, in the form of the core, if any.

    Raises
    ------
    ValueError
        If there are some, and the number of rounds is not chosen by them.
    """
    if not context.validation.is_given:
        return None
    if not is_chosen:
        raise ValueError(
            "X_val, y_val and sample_weight_val are to choose the number of rounds by, and"
            f" this {type(booster).__name__} takes n_rounds={booster.n_rounds}"
        )
    return context.validation.read(booster, context.sample.schema, booster.classes_).core


def warn_of_rounds(
    model: "_core.BoostedModel | _core.GradientBoosted", nothing: str, *, is_chosen: bool
) -> None:
    """Warn of a model without rounds, or of rounds that could not be chosen."""
    if model.n_rounds == 0:
        warn_caller(nothing)
    elif is_chosen and model.held_out() is None:
        warn_caller(
            "A class has one distinct row, so no rows can be held out: all rounds were kept."
        )
