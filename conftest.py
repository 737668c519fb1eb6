"""What must be so before the first test or docstring example is collected."""

import pkgutil

import aucrank

# When pytest imports a module for its examples, it first imports the packages around it. If these
# import the module in turn, pytest runs it a second time, and its classes are no longer those that
# users get. So all packages are imported before: a walk does so.
for _ in pkgutil.walk_packages(aucrank.__path__, "aucrank."):
    pass
