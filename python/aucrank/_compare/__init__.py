"""Comparison of models on the same folds, independent of the command line.

``sample`` holds the rows, ``folds`` deals them, ``contestants`` and ``peers`` make the models,
``running`` fits them, ``store`` keeps finished fits, and ``standings`` ranks the models and tests
their differences. ``request`` checks the arguments and combines these parts, ``page`` renders the
results, and ``leaderboard`` is the public interface.
"""
