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


def midpoint(low, high):
    """The midpoint of two numbers; the decimal of at most 12 digits that it is but for rounding."""
    middle = (low + high) / 2
    decimal = float(f"{middle:.12g}")
    is_near = abs(decimal - middle) <= 2 * np.finfo(float).eps * abs(middle)
    return decimal if is_near and low < decimal <= high else middle


def parts_that_count(scores, weight, max_fpr):
    """By how much negative rows count where those of the highest scores do in full, the others 0.3.

    Their share ``max_fpr``, by weight; rows of one score count alike.
    """
    above = np.array([weight[scores > score].sum() for score in scores])
    tied = np.array([weight[scores == score].sum() for score in scores])
    return 0.3 + 0.7 * np.clip((max_fpr * weight.sum() - above) / tied, 0, 1)
