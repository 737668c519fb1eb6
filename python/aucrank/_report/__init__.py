"""The report of fitted models on labelled rows: what is measured, what is said, how it is shown.

``facts`` measures all of it as plain numbers, ``words`` and ``doubts`` say what they mean,
``figures`` and ``tables`` show them, ``page`` writes the HTML file, and ``document`` is what a user
calls.
"""
