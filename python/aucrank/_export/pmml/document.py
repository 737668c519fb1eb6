"""Common parts of PMML documents: frame, fields, and texts that XML can hold."""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from xml.etree import ElementTree

from aucrank._data.schema import Level, Schema

NAMESPACE = "http://www.dmg.org/PMML-4_4"

# A character that XML 1.0 cannot hold, escaped or not.
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


def start_document(description: str, version: str, timestamp: str | None) -> ElementTree.Element:
    """Return the root of a document with its header."""
    root = ElementTree.Element("PMML", {"xmlns": NAMESPACE, "version": "4.4"})
    header = add(root, "Header", description=description)
    add(header, "Application", name="aucrank", version=version)
    if timestamp is not None:
        add(header, "Timestamp").text = timestamp
    return root


def end_document(root: ElementTree.Element) -> str:
    """Return the text of a document.

    Raises
    ------
    ValueError
        If a text in it holds a character that XML cannot express.
    """
    for element in root.iter():
        for text in (*element.attrib.values(), element.text or ""):
            check_characters(text)
    ElementTree.indent(root)
    # An XML reader turns a literal carriage return into a line feed.
    body = ElementTree.tostring(root, encoding="unicode").replace("\r", "&#13;")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def check_names(model_name: object, timestamp: object) -> None:
    """Raise TypeError for an invalid model name or time stamp."""
    if not isinstance(model_name, str):
        raise TypeError(f"model_name must be a string, got {model_name!r}")
    if timestamp is not None and not isinstance(timestamp, datetime):
        raise TypeError(f"timestamp must be a datetime or None, got {timestamp!r}")


def check_columns(schema: Schema, places: Iterable[int]) -> None:
    """Raise ValueError if a column, by its position, has an empty name."""
    for place in places:
        if schema.features[place].name == "":
            raise ValueError(f"column {place} has an empty name, which PMML cannot write")


def add_field(
    dictionary: ElementTree.Element, name: str, levels: Sequence[Level | None] | None
) -> None:
    """Add a column: a number, or one of some categories, of which None is a missing value.

    Raises
    ------
    ValueError
        If a text holds a character that XML cannot express.
    """
    known = [level for level in levels or () if level is not None]
    for text in (name, *map(text_of, known)):
        check_characters(text, f"column {name!r}: ")
    if levels is None:
        add(dictionary, "DataField", name=name, optype="continuous", dataType="double")
        return
    field = add(dictionary, "DataField", name=name, optype="categorical", dataType=data_type(known))
    # The listed ones are valid, and all others are not.
    for level in known:
        add(field, "Value", value=text_of(level), property="valid")


def add(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    """Add an element."""
    return ElementTree.SubElement(parent, tag, attributes)


def constant(parent: ElementTree.Element, value: str) -> None:
    """Add a number, in which NaN is a missing value."""
    if value == "nan":
        add(parent, "Constant", dataType="double", missing="true")
    else:
        add(parent, "Constant", dataType="double").text = value


def free_name(name: str, taken: Collection[str]) -> str:
    """Return an unused name, by appending underscores."""
    while name in taken:
        name += "_"
    return name


def check_characters(text: str, where: str = "") -> None:
    """Raise ValueError for a character that XML cannot hold."""
    if found := _NOT_IN_XML.search(text):
        raise ValueError(
            f"{where}{text!r} holds the character {found[0]!r}, which XML and so PMML cannot"
        )


def text_of(level: Level) -> str:
    """Return a category in PMML notation."""
    if isinstance(level, bool):
        return "true" if level else "false"
    return str(level)


def data_type(levels: Collection[Level]) -> str:
    """Return the PMML type of some categories."""
    kinds = {type(level) for level in levels}
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "integer"
    return "double" if kinds <= {int, float} else "string"
