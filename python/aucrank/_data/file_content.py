"""What a file holds according to its first bytes, whatever its name says."""

import gzip
import re
from pathlib import Path
from typing import Any, Literal

Content = Literal["parquet", "xlsx", "text"]

#: First bytes of a gzip file.
_GZIP = b"\x1f\x8b"

_HEAD = 1 << 12

# Formats that are tables but no text.
_TABLES: dict[bytes, Content] = {b"PAR1": "parquet", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "xlsx"}

# Formats that are not read, by their first bytes, and what to do instead.
_UNPACK, _SAVE = "unpack it first", "save its table as .csv, .parquet or .xlsx"
_OTHERS = {
    b"BZh": ("is compressed by bzip2", _UNPACK),
    b"\xfd7zXZ\0": ("is compressed by xz", _UNPACK),
    b"\x28\xb5\x2f\xfd": ("is compressed by Zstandard", _UNPACK),
    b"7z\xbc\xaf\x27\x1c": ("is an archive of 7-Zip", _UNPACK),
    b"Rar!": ("is an archive of RAR", _UNPACK),
    b"%PDF": ("is a PDF document", _SAVE),
    b"{\\rtf": ("is a document in RTF", _SAVE),
    b"SQLite format 3\0": ("is a database of SQLite", "Dataset.from_sql reads its tables"),
    b"ARROW1": ("is an Arrow (Feather) file", _SAVE),
    b"FEA1": ("is a Feather file", _SAVE),
    b"ORC": ("is an ORC file", _SAVE),
    b"Obj\x01": ("is an Avro file", _SAVE),
    b"\x89HDF": ("is an HDF5 file", _SAVE),
    b"\x93NUMPY": ("is an array of NumPy", _SAVE),
    b"<stata_dta>": ("is a file of Stata", _SAVE),
    b"$FL2": ("is a file of SPSS", _SAVE),
    b"\0" * 12 + b"\xc2\xea\x81\x60": ("is a file of SAS", _SAVE),
    b"RDX": ("is a file of R", _SAVE),
    b"version https://git-lfs": ("is a pointer of Git LFS", "`git lfs pull` fetches the file"),
    b"\x89PNG": ("is a picture", "give its table"),
    b"\xff\xd8\xff": ("is a picture", "give its table"),
}
# Bytes that texts hardly hold: control characters but tabs, line ends and the end of old files.
_CONTROL = bytes([*range(9), *range(14, 26), *range(27, 32)])

# A pickle of protocol 2 to 5.
_PICKLE = re.compile(rb"\x80[\x02-\x05][\x95c}\]\(]")

_PAGE = re.compile(rb"\s*<(?:!doctype html|html|head|body|table|meta|div)\b", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml\b", re.IGNORECASE)
# An object, or a list of objects or lists.
_JSON = re.compile(rb'\s*(?:\{\s*["}]|\[\s*[\[{])')

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# A zip archive says the names of its members; those of a workbook are in these folders.
_ZIP = b"PK\x03\x04"
_WORKBOOK = re.compile(rb"\[Content_Types\]\.xml|xl/|_rels/|docProps/")


class ForeignContentError(ValueError):
    """A file holds no table that can be read; the message says what it holds, and what to do."""


def is_packed(file: str) -> bool:
    """Return whether a file is compressed by gzip."""
    with Path(file).open("rb") as stream:
        return stream.read(len(_GZIP)) == _GZIP


def is_zip(file: str) -> bool:
    """Return whether a file is a zip archive, as workbooks are."""
    with Path(file).open("rb") as stream:
        return stream.read(len(_ZIP)) == _ZIP


def opened(file: str) -> Any:
    """Open a file for reading bytes, decompressed."""
    return gzip.open(file) if is_packed(file) else Path(file).open("rb")


def content_of_head(head: bytes) -> Content:
    """Return what a file with these first bytes holds.

    Raises
    ------
    ForeignContentError
        If it is known not to be a table.
    """
    for magic, content in _TABLES.items():
        if head.startswith(magic):
            return content
    if head.startswith(_ZIP):
        if _WORKBOOK.match(head[30:]):
            return "xlsx"
        if b"opendocument" in head[30:120]:
            raise ForeignContentError(f"it is a document of LibreOffice: {_SAVE}")
        raise ForeignContentError(f"it is a zip archive: {_UNPACK}")
    for magic, (what, instead) in _OTHERS.items():
        if head.startswith(magic):
            raise ForeignContentError(f"it {what}: {instead}")
    if head[257:262] == b"ustar":
        raise ForeignContentError(f"it is an archive of tar: {_UNPACK}")
    if _PICKLE.match(head):
        raise ForeignContentError(f"it is a pickle of Python: {_SAVE}")
    text = head.removeprefix(_BYTE_ORDER_MARK).replace(b"\0", b"")
    text = text.removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff")
    if _PAGE.match(text):
        raise ForeignContentError(
            "it is a page of HTML, which some programs save under the name of a table: open it in a"
            " spreadsheet program, and save it as .xlsx or .csv"
        )
    if _XML.match(text):
        raise ForeignContentError(f"it is XML: {_SAVE}")
    if _JSON.match(text):
        raise ForeignContentError(f"it is JSON: {_SAVE}")
    n_control = len(head) - len(head.translate(None, _CONTROL))
    if n_control > len(head) // 100 and encoding_of_wide_text(head) is None:
        raise ForeignContentError(f"it holds no text, nor a format that is known: {_SAVE}")
    return "text"


def content_of_file(file: str) -> Content:
    """Return what a file holds, decompressed.

    Raises
    ------
    ForeignContentError
        If it is known not to be a table.
    """
    with opened(file) as stream:
        return content_of_head(stream.read(_HEAD))


def encoding_of_wide_text(head: bytes) -> str | None:
    """Return the encoding of text in units of two or four bytes; None for any other."""
    marks: dict[bytes, str] = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32"}
    marks |= {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    for mark, encoding in marks.items():
        if head.startswith(mark):
            return encoding
    # Without a mark: letters, digits, separators and line ends of Latin text have one zero byte,
    # which no other encoding has.
    at_even, at_odd = head[0::2].count(0), head[1::2].count(0)
    few = len(head) // 50
    if at_odd > few and not at_even:
        return "utf-16-le"
    if at_even > few and not at_odd:
        return "utf-16-be"
    return None
