"""Lazy loading of modules that scikit-learn imports and that few commands use.

`sklearn.base` imports pandas, `scipy.stats` and `scipy.special` for a few functions, and SciPy all
of NumPy, with `numpy.f2py` and `numpy.testing`. Its import takes 4.1 s of a processor, and 1.15 s
without what `aucrank describe` does not use, a quarter of which is NumPy's own.
"""

import sys
from importlib.util import find_spec
from threading import RLock
from types import ModuleType
from typing import Any

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
                assert spec.loader is not None
                if spec.submodule_search_locations is not None:
                    self.__path__ = spec.submodule_search_locations
                try:
                    spec.loader.exec_module(self)
                except BaseException:
                    # As after any failed import: the next one tries again.
                    sys.modules.pop(self.__name__, None)
                    raise
            return getattr(self, name)


def defer(*names: str) -> None:
    """Register modules that are loaded on first use; loaded ones stay.

    Parameters
    ----------
    *names : str
        Names of packages; those that are not installed are skipped.
    """
    for name in names:
        if name in sys.modules:
            continue
        try:
            spec = find_spec(name)
        except ModuleNotFoundError:
            continue
        if spec is None or spec.loader is None:
            continue
        module = _Deferred(name)
        module.__spec__, module.__loader__ = spec, spec.loader
        module.__package__, module.__file__ = name, spec.origin
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, module)
