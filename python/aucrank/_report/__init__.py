"""Reports of fitted models on labelled rows: measurement, wording and display.

``facts`` measures everything as plain numbers, ``words`` and ``cautions`` interpret them,
``figures`` and ``tables`` show them, ``page`` writes the HTML file, and ``document`` is the public
interface.
"""
