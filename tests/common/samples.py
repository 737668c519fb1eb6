"""Rows that tests of several rooms learn from."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def scored_rows(draw, *, dtypes=(np.float64, np.float32, np.int64)):
    """Rows of both classes, few distinct scores, whole weights with zeros among them."""
    row = st.tuples(st.integers(0, 1), st.integers(-4, 4), st.integers(0, 3))
    rows = draw(st.lists(row, max_size=60))
    y, scores, weights = zip((0, 0, 1), (1, 1, 2), *rows, strict=True)
    dtype = draw(st.sampled_from(dtypes))
    return np.array(y), np.array(scores).astype(dtype), np.array(weights, dtype=np.float64)


NOTHING_TO_LEARN = {
    "one row per class": ([[1.0], [2.0]], [0, 1]),
    "constant features": (np.ones((30, 3)), np.arange(30) % 2),
    "all missing": (np.full((30, 2), np.nan), np.arange(30) % 2),
    "duplicate rows": (np.repeat([[1.0, 2.0], [3.0, 4.0]], 20, axis=0), np.arange(40) % 2),
}


def top_against_all():
    """Cells of two bits, where no sum of functions of single bits ranks both all rows and the top.

    Positives have one bit or the other. The second bit alone marks positives only, but those with
    both bits are negative: a sum that rises with the second bit ranks these first, and one that
    falls with it ranks many positives last.
    """
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.float64)
    positives, negatives = [140, 1120, 725, 15], [1440, 0, 260, 300]
    X, y = np.vstack([cells, cells]), np.repeat([1, 0], 4)
    weight = np.array([*positives, *negatives], dtype=np.float64)
    return X[weight > 0], y[weight > 0], weight[weight > 0]
