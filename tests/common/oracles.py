"""Plain definitions that tests of several rooms compare with."""

import numpy as np


def walk(tree, row):
    """The value of a row by the rule of shap: missing to the default, ``x <= threshold`` left."""
    node = 0
    while tree["children_left"][node] >= 0:
        value = row[tree["features"][node]]
        if np.isnan(value):
            node = tree["children_default"][node]
        elif value <= tree["thresholds"][node]:
            node = tree["children_left"][node]
        else:
            node = tree["children_right"][node]
    return tree["values"][node, 0]
