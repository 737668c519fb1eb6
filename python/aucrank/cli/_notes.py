"""Notes on how a file is read: several of them become one line."""

from collections.abc import Iterable

from aucrank._utils.plain_text import shown
from aucrank._utils.warn import ReadingNote
from aucrank._utils.words import listed_first
from aucrank.cli._errors import complain

# Columns that a line names.
_MOST_NAMED = 3


class Notes:
    """Notes that wait for others, to be shown together before anything else is.

    Parameters
    ----------
    in_full : bool, default=False
        Whether each note is shown at once and whole.
    """

    def __init__(self, *, in_full: bool = False) -> None:
        self._in_full = in_full
        self._waiting: dict[str, ReadingNote] = {}

    def add(self, note: ReadingNote) -> None:
        """Add a note; one that has no short form is shown at once."""
        if self._in_full or not note.short:
            complain(f"note: {note}")
        else:
            self._waiting[str(note)] = note

    def show(self) -> None:
        """Show the notes that wait: one in full, several in a line."""
        notes = list(self._waiting.values())
        self._waiting.clear()
        if len(notes) == 1:
            complain(f"note: {notes[0]}")
        elif notes:
            complain(f"note: read as: {summary(notes)}; details with -v")


def summary(notes: Iterable[ReadingNote]) -> str:
    """Return a line for several notes: each short form once, with the columns that share it."""
    columns: dict[str, dict[str, None]] = {}
    for note in notes:
        columns.setdefault(note.short, {}).update(dict.fromkeys(note.columns))
    return ", ".join(
        f"{short} ({_named(list(names))})" if names else short for short, names in columns.items()
    )


def _named(columns: list[str]) -> str:
    return listed_first([shown(name) if name else repr(name) for name in columns], _MOST_NAMED)
