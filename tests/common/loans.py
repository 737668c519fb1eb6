"""Loans with every kind of column that a scorecard takes, and who defaulted."""

import json

import numpy as np
import pandas as pd


def loans(n=1500, seed=0):
    """Rows of numbers, categories, special and missing values, and who defaulted."""
    rng = np.random.default_rng(seed)
    age = rng.integers(19, 75, n).astype(float)
    income = np.exp(rng.normal(8, 0.7, n)).round()
    months = rng.integers(0, 60, n).astype(float)
    months[rng.random(n) < 0.3] = -1
    trade = rng.choice(
        ["clerk", "cook", "smith", "=pilot", "<b>judge"], n, p=[0.4, 0.3, 0.2, 0.07, 0.03]
    )
    risk = 1.5 - (age - 40) / 20 - (np.log(income) - 8) + (months == -1) + (trade == "cook")
    y = rng.random(n) < 1 / (1 + np.exp(2.5 - risk))
    income[rng.random(n) < 0.15] = np.nan
    frame = pd.DataFrame(
        {
            "age": age,
            "income": income,
            "months": months,
            "trade": pd.Categorical(np.where(rng.random(n) < 0.05, None, trade)),
            "noise": rng.integers(0, 3, n),
        }
    )
    return frame, np.where(y, "bad", "fine")


X, LABELS = loans()
# "bad" sorts first: the positive class, which sorts last, is the default.
Y = np.where(LABELS == "bad", "default", "agreed")
SPECIAL = {"months": [-1]}


def document(card):
    """Return the card as its document has it."""
    return json.loads(card._model.to_json())
