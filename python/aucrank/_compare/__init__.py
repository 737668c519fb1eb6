"""The comparison of models on the same folds, which knows nothing of the command line.

``sample`` holds the rows, ``folds`` deals them, ``contestants`` and ``peers`` make the models,
``running`` fits them, ``store`` keeps what is done, and ``standings`` tells who is best and by how
much. ``request`` checks what is asked for and puts them together, ``page`` shows what was found,
and ``leaderboard`` is what a user calls.
"""
