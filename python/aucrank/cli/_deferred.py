"""Lazy loading of modules that scikit-learn imports and that few commands use.

`sklearn.base` imports pandas, `scipy.stats` and `scipy.special` for a few functions, and two copies
of the array API import all of NumPy, with `numpy.f2py` and `numpy.testing`.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Its import takes a tenth of the time of `aucrank --help`.
    from importlib.abc import Loader

_loading = RLock()


class _Deferred(ModuleType):
    """A module that runs its code on first access."""

    def __getattr__(self, name: str) -> Any:
        # Other threads wait for the one that loads the module.
        with _loading:
            if type(self) is _Deferred:
                self.__class__ = ModuleType  # type: ignore[assignment]
                spec = self.__spec__
                assert spec is not None
                assert isinstance(spec.loader, _LaterLoader)
                self.__loader__ = spec.loader = spec.loader.loader
                if spec.submodule_search_locations is not None:
                    self.__path__ = spec.submodule_search_locations
                try:
                    spec.loader.exec_module(self)
                except BaseException:
                    # As after any failed import: the next one tries again.
                    sys.modules.pop(self.__name__, None)
                    raise
            return getattr(self, name)


class _LaterLoader:
    """Leaves the code of a module to its first access.

    Parameters
    ----------
    loader : importlib.abc.Loader
        The one that runs it.
    """

    def __init__(self, loader: "Loader") -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Make the module as it is usually made."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run nothing yet."""
        # The import of a submodule reads the path, and with that runs the package first.
        vars(module).pop("__path__", None)
        module.__class__ = _Deferred


class _Finder:
    """Finds the modules that are loaded on first use."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a deferred module is, and None for any other."""
        if fullname not in self.names:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _LaterLoader(spec.loader)  # type: ignore[assignment]
        return spec


_finder = _Finder()


def defer(*names: str) -> None:
    """Make imports of modules load them on first use; loaded ones stay.

    Parameters
    ----------
    *names : str
        Names of packages; they need not be installed.
    """
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    _finder.names.update(names)
