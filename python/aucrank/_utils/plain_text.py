"""Text from anywhere as text that does nothing."""

import re

# What a terminal or a page acts on, or shows as something else: control characters, breaks of lines
# and paragraphs, changes of direction; and halves of characters, which no encoding has.
_ACTIVE = "\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff"
_NOT_SHOWN = re.compile(f"[\n{_ACTIVE}]")
_NOT_PRINTED = re.compile(f"[{_ACTIVE}]")


def shown(value: object) -> str:
    """Text of a value from a file, on one line: what a terminal would act on is an escape."""
    return _NOT_SHOWN.sub(_escape, str(value))


def escaped(text: str) -> str:
    """Text of several lines, in which what a terminal or a page would act on is an escape."""
    return _NOT_PRINTED.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]
