"""Guess of the class of interest, by its name and frequency."""

import shlex
import warnings
from typing import Any

from aucrank._utils.plain_text import shown
from aucrank._utils.warn import ReadingNote

#: Typical names of the class of interest.
_EVENTS = {
    "in English": ("+", "yes", "y", "true", "t", "pos", "positive"),
    "in other languages": ("ja", "j", "oui", "si", "sí", "sim", "da", "tak"),
    "of loans": ("bad", "default", "defaulted", "delinquent", "late", "fraud", "fraudulent"),
    "of customers": ("churn", "churned", "left", "lost"),
    "of offers": ("bought", "purchased", "clicked", "converted", "responded"),
    "of patients": ("event", "case", "dead", "died", "deceased", "sick", "ill", "disease"),
    "of findings": ("diseased", "malignant", "abnormal", "anomaly"),
    "of machines": ("fail", "failed", "failure", "attack", "spam"),
}


def warn_of_positive(target: str, first: Any, other: Any, share: float | None) -> None:
    """Warn if the class that is ranked first by default may not be the intended one.

    Parameters
    ----------
    target : str
        Column of labels.
    first, other : object
        Texts of the class that is ranked first, and of the other one.
    share : float or None
        Share of rows of the first class; None if unknown.
    """
    if _is_event(first) or first.strip() == "1":
        return
    if _is_event(other):
        why = f"{shown(other)} is usually the class to look for"
    elif share is not None and share > 0.5:
        why = f"it is the class of {share:.1%} of the rows"
    else:
        return
    warnings.warn(
        f"{shown(target)} = {shown(first)} is ranked first, and {why}: --positive"
        f" {shlex.quote(other)} ranks the other one first",
        ReadingNote,
        stacklevel=3,
    )


def _is_event(label: str) -> bool:
    return any(label.strip().casefold() in labels for labels in _EVENTS.values())
