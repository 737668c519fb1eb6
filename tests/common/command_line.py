"""The command line called in this process, its input and output."""

from itertools import takewhile

import numpy as np
import pandas as pd
from aucrank import RIMARC, GradientBoostingRanker, TreeRank, load
from aucrank.cli import _data, demo, main

#: A model that is quickly fitted, for tests that do not depend on the model.
TREE = ("--model", "TreeRank")


def hide(monkeypatch, packages):
    find_spec = _data.find_spec
    monkeypatch.setattr(
        _data, "find_spec", lambda name: None if name in packages else find_spec(name)
    )


def small_demo_models(*_):
    """Return models that the demo fits within a second, for tests of what it writes."""
    booster = GradientBoostingRanker(n_rounds=3, early_stopping=False)
    return {demo.DEFAULT: booster, demo.TREE: TreeRank(max_leaves=3), demo.CARD: RIMARC()}


def loans(n=400, seed=0):
    """Rows with a number, a category and missing values of both, and an easy class."""
    rng = np.random.default_rng(seed)
    income = rng.normal(size=n)
    purpose = rng.choice(["car", "house", "tour"], size=n)
    bad = rng.random(n) < 1 / (1 + np.exp(3 * income + 2 * (purpose == "car") - 1))
    return pd.DataFrame(
        {
            "income": np.where(rng.random(n) < 0.05, np.nan, income.round(3)),
            "purpose": np.where(rng.random(n) < 0.05, None, purpose),
            "age": rng.integers(18, 80, size=n),
            "bad": bad.astype(int),
        }
    )


def run(capsys, *args):
    """Exit status and output."""
    status = main([str(arg) for arg in args])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def ok(capsys, *args):
    status, out, err = run(capsys, *args)
    assert (status, err) == (0, "")
    return out


def table(text, first):
    """Lines of the table whose heading starts with the word `first`."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:1] == [first])
    return [line.split() for line in lines[start + 1 :]]


def levels_of(path):
    """Name of each feature of a saved model, and its levels; None for a numeric one."""
    return {feature.name: feature.levels for feature in load(path)._schema.features}


def content(path):
    with open(path, "rb") as file:
        return file.read()


def read_numbers(file):
    """Read a CSV file to the last bit, which pandas before 3.1 does not by itself."""
    return pd.read_csv(file, dtype=str).astype(float)


def leaderboard(out):
    """Lines of the first table of `compare`, by model."""
    return {line[1]: line for line in takewhile(len, table(out, "rank")) if line[0].isdigit()}


def behind(out):
    """Lines of its second table, by model."""
    _, second = out.split("AUC less that of")
    return {line[1]: line for line in takewhile(len, table(second, "rank"))}
