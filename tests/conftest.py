import os

from hypothesis import settings

# Scripts that made the stored models, not tests; they import one another.
collect_ignore_glob = ["golden/*.py"]

# The same examples in every run: a change is what makes a test fail. `make fuzz` looks for others,
# a hundred times as many. A test that wants more or fewer says so as a multiple of the profile's.
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("fuzz", deadline=None, max_examples=2500, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
