"""Untrusted text made safe for display."""

import re

# Characters that a terminal or a page interprets, or shows as something else: control characters,
# line and paragraph separators, bidirectional controls; and surrogates, which cannot be encoded.
_ACTIVE = "\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff"
_NOT_SHOWN = re.compile(f"[\n{_ACTIVE}]")
_NOT_PRINTED = re.compile(f"[{_ACTIVE}]")


def shown(value: object) -> str:
    """Return a value from a file as text on one line, with control characters escaped."""
    return _NOT_SHOWN.sub(_escape, str(value))


def escaped(text: str) -> str:
    """Return a text of several lines with its control characters escaped."""
    return _NOT_PRINTED.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]
