"""What must be so before the first test or docstring example is collected."""

import os
import pkgutil

# As many processes as cores share the tests: threads that wait in a loop, as scikit-learn's do,
# and several threads for each small matrix or fit would take a core from another process. Libraries
# read these variables when they are loaded, which the imports below do.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import aucrank

# When pytest imports a module for its examples, it first imports the packages around it. If these
# import the module in turn, pytest runs it a second time, and its classes are no longer those that
# users get. So all packages are imported before: a walk does so.
for _ in pkgutil.walk_packages(aucrank.__path__, "aucrank."):
    pass
