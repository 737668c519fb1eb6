"""CSV files as data frames."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from aucrank._data.as_frame import first_installed
from aucrank._data.csv_form import CsvOptions
from aucrank._data.csv_parsers import Backend
from aucrank._data.csv_source import CsvSource
from aucrank._data.data_files import PathLike
from aucrank._data.missing_marks import read_marks
from aucrank._data.passes import all_rows, need_columns
from aucrank._utils.keywords import suggests_keywords


@suggests_keywords
def read_csv(
    path: PathLike,
    *,
    sep: str | None = None,
    decimal: Literal[".", ","] | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | Mapping[str, Sequence[str]] = (),
    text: Sequence[str] = (),
    skip_rows: int | None = None,
    comment: str | None = None,
    header: bool = True,
    skip_footer: int | None = None,
    backend: Backend | None = None,
) -> Any:
    r"""Read a CSV file, also gzipped, as `aucrank fit` does.

    Separator, decimal mark, encoding, lines that are not rows, thousands separators, units and
    markers of missing values are detected; a warning reports unusual features. Columns hold
    numbers, dates (as days since 1970) or text, which is determined from all of their values.

    Parameters
    ----------
    path : path-like
        The file.
    sep : str, default=None
        Separator of the columns, one character; None to detect it.
    decimal : {".", ","}, default=None
        The decimal mark; None to detect it.
    encoding : str, default=None
        Name of the encoding in Python; None to detect it.
    missing : sequence of str or dict of str to sequence of str, default=()
        Texts and numbers that stand for missing values, in addition to the usual ones (empty, ?,
        NA, NaN, NULL, None, ...): in every column, or by column, as in ``{"age": ["999"]}``.
    text : sequence of str, default=()
        Columns that are text even if they look like numbers.
    skip_rows : int, default=None
        Lines above the header; None to detect them.
    comment : str, default=None
        Prefix of lines that are not rows.
    header : bool, default=True
        Whether there is a header line; without one, columns are called ``column_1``, ``column_2``,
        ...
    skip_footer : int, default=None
        Lines below the last row, such as a total; None for none.
    backend : {"pandas", "polars"}, default=None
        Library of the data frame; None for the first of them that is installed.

    Returns
    -------
    DataFrame
        All rows.

    Raises
    ------
    FileNotFoundError
        If there is no file.
    ImportError
        If neither pandas nor polars is installed.
    ValueError
        If the file cannot be read or has no rows, or a column does not exist.

    See Also
    --------
    Dataset.from_csv : Files that do not fit in memory.

    Examples
    --------
    >>> import pathlib, tempfile, warnings
    >>> from aucrank.data import read_csv
    >>> rows = "Kunde;Betrag;seit\nA;1.234,50;31.1.1970\nB;-;1.2.1970\n"
    >>> with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     path = pathlib.Path(folder, "konten.csv")
    ...     _ = path.write_text(rows)
    ...     frame = read_csv(path)
    >>> frame.to_dict("list")
    {'Kunde': ['A', 'B'], 'Betrag': [1234.5, nan], 'seit': [30.0, 31.0]}
    """
    if isinstance(text, str):
        raise TypeError(f"text must be a list of strings, got {text!r}")
    library = first_installed("pandas", "polars") if backend is None else backend
    if library not in ("pandas", "polars"):
        if backend is not None:
            raise ValueError(f"backend must be 'pandas', 'polars' or None, got {backend!r}")
        raise ImportError("read_csv needs pandas or polars: run `pip install pandas`")
    file, marks = os.fspath(path), read_marks(missing)
    if not os.path.isfile(file):
        raise FileNotFoundError(f"there is no file {file}")
    options = CsvOptions(sep, decimal, encoding, marks, skip_rows, comment, header, "", skip_footer)
    source = CsvSource((file,), sys.maxsize, options, text, None, backend=library)
    need_columns([*text, *marks.in_columns], source.names, file)
    frame = all_rows(source)
    if frame is None:
        raise ValueError(f"{file} has no rows")
    return frame.to_native()
