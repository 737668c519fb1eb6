"""Which class people look for, by what it is called and how common it is."""

import shlex
import warnings
from typing import Any

from aucrank._utils.plain_text import shown
from aucrank._utils.warn import ReadingNote

#: What the class is called that people look for.
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
    """Say so where the class that is ranked first by default may not be the one that is meant.

    Parameters
    ----------
    target : str
        Column of labels.
    first, other : object
        Texts of the class that is ranked first, and of the other one.
    share : float or None
        Of the rows that are of the first; None where that is not known.
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
