"""Model files of other libraries, recognised by their content."""

import json
import os
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

from aucrank import _core
from aucrank.imported import _catboost, _lightgbm, _xgboost
from aucrank.imported._imported_trees import ImportedTrees


def import_file(path: str | os.PathLike[str], **options: Any) -> ImportedTrees:
    """Return the model of a file of LightGBM, XGBoost or CatBoost, whichever it is.

    Parameters
    ----------
    path : str or path-like
        The file: text of LightGBM, JSON or UBJSON of XGBoost, JSON or the own form of CatBoost.
    **options
        Those of `from_lightgbm`, `from_xgboost` or `from_catboost`, whichever it is.

    Returns
    -------
    ImportedTrees
        A fitted ranker.

    Raises
    ------
    ModelFormatError
        If the file is none of these, or damaged.
    OSError
        If it cannot be read.
    TypeError
        If an option is none of the library.

    Examples
    --------
    >>> from aucrank.imported import import_file
    >>> import_file("no such file.json")
    Traceback (most recent call last):
    FileNotFoundError: ...
    """
    data = Path(path).read_bytes()
    library = library_of(data, path)
    readers: dict[str, Callable[..., ImportedTrees]] = {
        "LightGBM": _lightgbm.from_lightgbm,
        "XGBoost": _xgboost.from_xgboost,
        "CatBoost": _catboost.from_catboost,
    }
    reader = readers[library]
    if unknown := options.keys() - signature(reader).parameters.keys():
        raise TypeError(f"{min(unknown)} is not an option of a model of {library}")
    return reader(path, **options)


def library_of(data: bytes, path: str | os.PathLike[str]) -> str:
    """Return the library that has written a file.

    Raises
    ------
    ModelFormatError
        If it is none that is known.
    """
    if data.startswith((b"tree\n", b"tree\r\n")):
        return "LightGBM"
    if data.startswith(b"CBM1"):
        return "CatBoost"
    if data.startswith(b"{L\0\0\0\0\0\0\0"):
        return "XGBoost"
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict):
        if "learner" in document:
            return "XGBoost"
        if "features_info" in document:
            return "CatBoost"
        if document.get("format") == "aucrank":
            raise _core.ModelFormatError(f"{os.fspath(path)} is a model of aucrank already")
    raise _core.ModelFormatError(
        f"{os.fspath(path)} is none of the files that are imported: text of LightGBM, JSON or"
        " UBJSON of XGBoost, JSON or the own form of CatBoost"
    )
