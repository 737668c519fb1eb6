"""System information for a bug report."""

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from aucrank._core import __version__
from aucrank._utils.threads import effective_n_threads

# In order of importance: required packages, then frames, then extras.
_PACKAGES = (
    "pip",
    "numpy",
    "scipy",
    "scikit-learn",
    "narwhals",
    "joblib",
    "pandas",
    "jinja2",
    "polars",
    "pyarrow",
    "python-calamine",
    "matplotlib",
    "onnx",
    "skops",
)


def show_versions() -> None:
    """Print system, threads and package versions for a bug report.

    Versions are read from package metadata; nothing is imported.

    Examples
    --------
    >>> import aucrank
    >>> aucrank.show_versions()  # doctest: +ELLIPSIS
    System:
        python: 3...
    """
    tables = {
        "System": {
            "python": sys.version.replace("\n", " "),
            "executable": sys.executable,
            "machine": platform.platform(),
        },
        "Python packages": {"aucrank": __version__}
        | {package: _version(package) for package in _PACKAGES},
        "Threads": {
            "n_jobs=None": str(effective_n_threads(None)),
            "processors": str(os.cpu_count()),
            "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "not set"),
        },
    }
    blocks = []
    for title, rows in tables.items():
        width = max(map(len, rows))
        blocks.append(
            "\n".join([f"{title}:", *(f"{key:>{width + 2}}: {rows[key]}" for key in rows)])
        )
    print("\n\n".join(blocks))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
