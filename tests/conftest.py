import os

from hypothesis import settings

# Scripts that made the stored models, not tests; they import one another.
collect_ignore_glob = ["golden/*.py"]

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("default", deadline=None)
in_ci = "CI" in os.environ or os.environ.get("HYPOTHESIS_PROFILE") == "ci"
settings.load_profile("ci" if in_ci else "default")
