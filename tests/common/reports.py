"""Models and rows to report on."""

from functools import cache

import aucrank
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from aucrank import RIMARC, TreeRank
from aucrank._base.registry import public_estimators
from aucrank._report.subjects import Subject, Target

from tests.common.contestants import Column, sample
from tests.common.estimators import few_members
from tests.common.loans import loans

#: Names, levels and labels that a page must show and never execute.
HOSTILE = [
    "<script>alert(1)</script>",
    '"onload="alert(1)',
    "</style></script><img src=x onerror=alert(1)>",
    "{{ 7 * 7 }}",
    "x" * 300,
    "Größe 价格",
    # A change of direction, and a bell.
    "left\u202e\x07",
]


#: With half of a character, which no file can hold.
HOSTILE_TITLE = f"{HOSTILE[2]}\ud800"


def plain(frame):
    """Columns of Python's own values, None where one is missing."""
    return {
        name: frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame
    }


def to_polars(frame):
    return pl.DataFrame(plain(frame))


def to_arrow(frame):
    return pa.table(plain(frame))


def target_of(positive, weight=None, groups=None):
    positive = np.asarray(positive, dtype=np.bool_)
    weight = None if weight is None else np.asarray(weight, dtype=np.float64)
    return Target(positive, weight, ("0", "1"), groups)


def subject_of(scores, *, own_cut=0.0):
    """Nothing but scores."""
    return Subject("model", np.asarray(scores, dtype=np.float64), own_cut=own_cut)


@cache
def halves():
    """Loans to fit to, and others to report on; 1 is the class that defaulted."""
    X, labels = loans(900, seed=3)
    y = (labels == "bad").astype(int)
    return X[:500], y[:500], X[500:].reset_index(drop=True), y[500:]


@cache
def models():
    X, y, *_ = halves()
    return {"table": RIMARC().fit(X, y), "tree": TreeRank(random_state=0).fit(X, y)}


def hostile_rows(n=120):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.normal(size=n) for name in HOSTILE[:3]})
    for name in HOSTILE[3:]:
        X[name] = pd.Categorical(rng.choice(HOSTILE, n))
    y = np.where(X[HOSTILE[0]] + rng.normal(size=n) > 0, HOSTILE[0], HOSTILE[1])
    return X, y


@cache
def page_of_one():
    X, y = halves()[2:]
    costs = {"false_positive": 1, "false_negative": 5}
    return aucrank.report(models()["tree"], X, y, costs=costs).html


@cache
def page_of_two():
    X_train, _, X, y = halves()
    two = {name: models()[name] for name in ("table", "tree")}
    return aucrank.report(two, X, y, X_train=X_train).html


@cache
def page_of_parts():
    X, y = halves()[2:]
    two = {name: models()[name] for name in ("table", "tree")}
    n = len(X)
    parts = {HOSTILE[0]: np.array(HOSTILE, dtype=object)[np.arange(n) % 3], "third": np.arange(n)}
    time = pd.date_range("2024-01-05", periods=n, freq="D")
    return aucrank.report(two, X, y, groups=np.arange(n) // 2, time=time, by=parts).html


@cache
def page_of_scores():
    """Scores with hostile names and without a model, some of which are probabilities."""
    X, y = halves()[2:]
    given = {name: model.predict_proba(X)[:, 1] for name, model in models().items()}
    scores = dict(zip(HOSTILE, (given["table"], given["tree"], X["age"]), strict=False))
    return aucrank.report(
        y=y, X=X, scores=scores, probabilities=HOSTILE[:2], scores_train=scores, grades=[0.1, 0.3]
    ).html


@cache
def hostile_page():
    X, y = hostile_rows()
    fitted = [
        kind(**params).fit(X, y) for kind, params in ((TreeRank, {"random_state": 0}), (RIMARC, {}))
    ]
    return aucrank.report(
        dict(zip(HOSTILE, fitted, strict=False)), X, y, X_train=X, title=HOSTILE_TITLE
    ).html


@cache
def board():
    """A leaderboard of a model, one that is as good, one that is not, and one that fails."""

    def refuse(_):
        raise RuntimeError("out of luck")

    X, y = sample(400, noise=(0.8, 0.82, 2.0))
    columns = {"as good": Column(1), "worse": Column(2), "broken": Column(0, refuse)}
    return aucrank.compare(X, y, models={"good": Column(0)} | columns)


def leaderboard_page():
    return board().to_html()


def hostile_leaderboard():
    X, y = sample(60, noise=(1.0,) * len(HOSTILE))
    models = {name: Column(place) for place, name in enumerate(HOSTILE)}
    return aucrank.compare(X, y, models=models, cv=2).to_html(title=HOSTILE_TITLE)


@cache
def model_pages():
    """Pages of the models of all estimators, by name."""
    X, y, *_ = halves()
    found = {}
    for name, kind in public_estimators().items():
        few = {"n_rounds": 5, "n_estimators": 5, "members": few_members(), "n_folds": 2}
        params = {key: few[key] for key in few.keys() & kind().get_params(deep=False).keys()}
        numbers = X.drop(columns="trade").fillna(0.0) if name == "RankOpt" else X
        found[name] = kind(**params).fit(numbers, y).to_html()
    return found


def model_page():
    return model_pages()["AUCBoost"]


@cache
def hostile_model_page():
    X, y = hostile_rows()
    return TreeRank(random_state=0, pruning=None).fit(X, y).to_html()


PAGES = {
    "one": page_of_one,
    "two": page_of_two,
    "parts": page_of_parts,
    "scores": page_of_scores,
    "hostile": hostile_page,
}

#: Pages of the same form that are not reports of models.
OTHER_PAGES = {
    "leaderboard": leaderboard_page,
    "hostile leaderboard": hostile_leaderboard,
    "model": model_page,
    "hostile model": hostile_model_page,
}
