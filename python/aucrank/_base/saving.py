"""Saving a fitted estimator to a file."""

import os

from sklearn.utils.validation import check_is_fitted

from aucrank._base.persistence import is_public
from aucrank._utils.files import write_atomically


class SaveMixin:
    """Mixin for estimators that a file of aucrank can hold."""

    def _to_document(self) -> str:
        """Return the content of the file."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that `aucrank.load` and the Rust crate read.

        The file is one JSON document with a checksum. It is written atomically: an existing file of
        that name stays until the new one is complete, which keeps its mode.

        Parameters
        ----------
        path : str or path-like
            Where to write. Parameters that JSON cannot hold, such as a ``RandomState`` or an
            estimator from elsewhere, are written as null; a set or a column of a data frame becomes
            a list or an array. Pickle keeps them.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        OSError
            If the file cannot be written.
        TypeError
            If the model has parts that a file cannot hold, such as a classifier of your own.
        """
        check_is_fitted(self)
        self._check_savable()
        write_atomically(path, self._to_document())

    def _check_savable(self) -> None:
        """Raise TypeError if a file cannot hold the fitted estimator."""
        if not is_public(type(self)):
            raise TypeError(
                f"{type(self).__name__} is not an estimator of aucrank, so `load` could not read"
                " it back; use pickle"
            )
