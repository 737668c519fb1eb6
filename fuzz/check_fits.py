"""What holds for every estimator on every sample: a fit, and what its model must answer."""

import copy
import pickle
import re
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aucrank
import numpy as np
import pandas as pd
from draw_params import PARAMS, Rng, draw_estimator
from draw_rows import Rows, draw_rows, strangers
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

PACKAGE = Path(aucrank.__file__).parent

#: Why valid parameters and valid rows may not go together, in the words of the errors.
REFUSED = [
    r"must not (hold|have) missing|holds? (NaN|missing)|missing value|is missing",
    r"categor|not numeric|is not a number|numbers? only|could not convert",
    r"contains NaN",
    r"n_folds|folds|held out|hold(s)? out|validation|too few|fewer than|at least",
    r"level is \d+, but",
    r"sample_weight",
    r"max_features must be None|monotonic_cst|linear",
    r"needs? .* rows|rows? of (a|each) class",
    r"beyond|too large|too many|overflow|range of|spread",
    r"only one class",
    # Options that rule one another out.
    r"excluded_features holds all columns",
    r"noise_rate is .* below the share of the rarer class",
    r"missing is 'cell_mean', but must be left out",
    r"max_fpr=0\.1 does not go with loss='log'",
    r"where trees are searched|in a search",
    r"max_rules is \d+, but must be less than the number of rows over min_samples_leaf",
    r"split is dyadic, but must be made of stumps in a forest",
    r"cuts must be 'best' for a DyadicSplit",
]


class FindingError(Exception):
    """Something that does not hold."""


def holds(truth: Any, what: str) -> None:
    """Raise a `FindingError` unless something is true."""
    if not truth:
        raise FindingError(what)


def draw_fit(rng: Rng) -> tuple[Callable[[], str], str]:
    """Draw an estimator and rows; return what checks them, and a description."""
    name = str(rng.choice(list(PARAMS)))
    model, strange = draw_estimator(rng, name)
    rows = draw_rows(rng)
    about = f"{model!r}, X a {type(rows.X).__name__} of shape {rows.X.shape}, y {rows.y[:5]}..."
    return lambda: check_fit(rng, model, strange, rows), about


def check_fit(rng: Rng, model: Any, strange: str | None, rows: Rows) -> str:
    """Fit an estimator, and check what must hold.

    Returns
    -------
    str
        ``"fitted"`` or ``"refused"``.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit(model, rows)
        except (ValueError, TypeError) as err:
            check_refusal(err, model, strange, rows)
            return "refused"
    check_warnings(caught)
    if rows.fault is not None and rows.fault != "sample_weight":
        raise FindingError(f"rows with a fault are taken: {rows.fault}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if asks_another(model) else "error", RuntimeWarning)
        try:
            check_model(rng, model, rows, strange)
        except (ValueError, TypeError) as err:
            if not (asks_another(model) and is_raised_by(err, "linear_model")):
                raise
            return "refused"
    return "fitted"


def is_raised_by(err: Exception, folder: str) -> bool:
    """Tell whether an error, or what it came from, was raised by code of a folder."""
    root = err
    while root.__cause__ is not None and isinstance(root.__cause__, Exception):
        root = root.__cause__
    frames = traceback.extract_tb(root.__traceback__)
    return any(folder in Path(frame.filename).parts for frame in frames)


def fit(model: Any, rows: Rows) -> Any:
    """Fit a model to rows as they are."""
    return model.fit(rows.X, rows.y, sample_weight=rows.weight)


def check_refusal(err: Exception, model: Any, strange: str | None, rows: Rows) -> None:
    """Check that an error speaks of what is wrong."""
    message = str(err)
    holds(message.strip(), f"an error says nothing: {err!r}")
    holds(not hasattr(model, "_model"), "a fit that failed leaves a model")
    holds(not re.search(r"panicked|unwrap|index out of", message), f"an error of ours: {message}")
    if strange is not None or rows.fault is not None or asks_another(model):
        return
    known = any(re.search(pattern, message) for pattern in REFUSED)
    holds(known, f"valid rows are refused: {type(err).__name__}: {message[:300]}")


def check_warnings(caught: list[warnings.WarningMessage]) -> None:
    """Check that warnings are meant for users."""
    for warning in caught:
        # Other packages may lie in a folder of this name, such as an environment in the checkout.
        is_ours = PACKAGE in Path(warning.filename).parents or issubclass(
            warning.category, UserWarning
        )
        stray = issubclass(warning.category, RuntimeWarning | DeprecationWarning | FutureWarning)
        holds(not (stray and is_ours), f"a stray warning: {warning.category} {warning.message}")


def check_model(rng: Rng, model: Any, rows: Rows, strange: str | None) -> None:
    """Check what a fitted model says of rows."""
    X, new = rows.X, strangers(rng, rows.X)
    ask = getattr(model, "decision_function", None) or model.transform
    expected = dense(ask(X))
    if hasattr(model, "decision_function"):
        check_scores(model, rows)
        if not (rows.is_complete and refuses_missing(model)):
            new_scores = ask_or_refuse(ask, new)
            holds(new_scores is None or np.isfinite(new_scores).all(), "a new row has no score")
    check_stores(model, ask, X, expected)
    check_rows_apart(rng, model, ask, rows, expected)
    check_pages(model)
    if strange is None and rng.random() < 0.5:
        check_other_fits(rng, model, rows, expected)


def refuses_missing(model: Any) -> bool:
    """Tell whether a model takes complete rows alone."""
    return type(model).__name__ == "RankOpt" or getattr(model, "weak_ranker", None) == "linear"


def ask_or_refuse(ask: Any, X: Any) -> Any:
    """Return what rows are said to be, or None where they are refused."""
    try:
        return dense(ask(X))
    except ValueError:
        return None


def check_scores(model: Any, rows: Rows) -> None:
    """Check that score, label, probability, parts and AUC agree."""
    X = rows.X
    scores = model.decision_function(X)
    holds(scores.shape == (len(X),) and scores.dtype == np.float64, "scores of another form")
    holds(np.isfinite(scores).all(), "a score is not finite")
    positive = scores > 0
    holds((model.predict(X) == model.classes_[positive.astype(int)]).all(), "labels and scores")
    if hasattr(model, "predict_proba"):
        chance = model.predict_proba(X)
        holds(np.isfinite(chance).all(), "a probability is not finite")
        holds((chance >= 0).all() and (chance <= 1).all(), "a probability beyond 0 and 1")
        holds(np.allclose(chance.sum(axis=1), 1, rtol=0, atol=1e-12), "probabilities do not sum up")
        holds(((chance[:, 1] > 0.5) == positive).all(), "probabilities and scores disagree")
        order = np.argsort(scores, kind="stable")
        holds((np.diff(chance[order, 1]) >= -1e-12).all(), "probabilities fall where scores rise")
    auc = model.score(X, rows.y, sample_weight=rows.weight)
    wide = rows.weight is not None and np.ptp(np.log10(rows.weight[rows.weight > 0])) > 3
    other = roc_auc_score(rows.y, scores, sample_weight=rows.weight)
    holds(abs(auc - other) < (1e-4 if wide else 1e-9), f"AUC {auc}, scikit-learn's {other}")
    if hasattr(model, "explain") and getattr(model, "output", "real") == "real":
        try:
            parts = model.explain(X)
        except ValueError:
            return
        holds(np.isfinite(parts).all(), "a part of a score is not finite")
        # A card gives whole points, and its scale is that of the log-odds.
        if type(model).__name__ != "Scorecard":
            sums = parts.sum(axis=1) + base_score(model)
            size = np.abs(parts).sum(axis=1) + abs(base_score(model)) + 1e-300
            is_near = np.abs(sums - scores) <= 1e-9 * size
            holds(is_near[np.isfinite(sums)].all(), "parts do not add up to the score")


def base_score(model: Any) -> float:
    """Return what parts of a score are added to."""
    if hasattr(model, "base_score_"):
        return float(model.base_score_)
    return -float(getattr(model, "threshold_", 0.0))


def check_stores(model: Any, ask: Any, X: Any, expected: Any) -> None:
    """Check that a model that was stored says the same."""
    kind = ask.__name__
    copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        try:
            model.save(path)
        except TypeError:
            path = None
        if path is not None:
            copies.append(aucrank.load(path))
            copies[-1].save(path.with_name("again.json"))
            again = path.with_name("again.json").read_bytes()
            holds(again == path.read_bytes(), "a loaded model is saved in other bytes")
    for back in copies:
        same(dense(getattr(back, kind)(X)), expected, "a stored model says something else")


def dense(answer: Any) -> Any:
    """Return an answer as an array, one that is sparse, too."""
    return answer.toarray() if issparse(answer) else np.asarray(answer)


def same(found: Any, expected: Any, what: str) -> None:
    """Raise a `FindingError` unless two arrays hold the same bits, but for the sign of zero."""
    holds(found.shape == expected.shape, what)
    if expected.dtype.kind == "f":
        holds(np.array_equal(found, expected, equal_nan=True), what)
    else:
        holds(np.array_equal(found, expected), what)


def check_rows_apart(rng: Rng, model: Any, ask: Any, rows: Rows, expected: Any) -> None:
    """Check that what is said of a row depends neither on other rows nor on threads."""
    # BLAS, which gives the scores of a caller's own linear model, sums in the order of the layout:
    # other rows change its last bit.
    if not asks_another(model):
        places = rng.permutation(len(rows.X))
        same(dense(ask(rows.take(places))), expected[places], "a score depends on other rows")
        one = places[:1]
        same(dense(ask(rows.take(one))), expected[one], "a score depends on other rows")
    if isinstance(rows.X, np.ndarray):
        same(dense(ask(rows.X.tolist())), expected, "a list is scored as something else")
        same(dense(ask(np.asfortranarray(rows.X))), expected, "a layout matters")


#: Attributes and methods without arguments that write a model down for people or other programs.
PAGES = [
    *("terms", "rules", "scorecard", "bins", "to_text", "to_html", "to_sql", "to_json", "to_pmml"),
    *("card", "score_table", "rounds_", "path_", "radii_", "validation_path_", "pruning_"),
    *("feature_importances_", "importances", "cut_points_", "thresholds_", "get_feature_names_out"),
]

TREE_PAGES = [
    "to_text",
    "to_dot",
    "to_sql",
    "strata",
    "nodes",
    "roc",
    "pruning_path",
    "importances",
]


def check_pages(model: Any) -> None:
    """Check that a model can be written down."""
    objects = [(model, PAGES)]
    if hasattr(model, "tree_"):
        objects.append((model.tree_, TREE_PAGES))
    if hasattr(model, "program_"):
        objects.append((model.program_, ["to_text", "nodes", "edges"]))
    for thing, names in objects:
        for name in names:
            try:
                page = getattr(thing, name, None)
                page = page() if callable(page) else page
            except (ValueError, TypeError, AttributeError, ImportError) as err:
                holds(len(str(err)) > 10, f"{name}: {err!r}")
                continue
            if name == "feature_importances_" and page is not None:
                holds(np.isfinite(page).all(), "an importance is not finite")


#: Estimators that add up real numbers in the order of the rows.
IN_ORDER = {"AURORA", "RankOpt"}


def draws_rows(model: Any) -> bool:
    """Tell whether a fit draws rows or features by their place."""
    if isinstance(model, aucrank.RankingEnsemble):
        return any(draws_rows(member) for _, member in model._rankers(1))
    params = model.get_params()
    return bool(
        params.get("bootstrap")
        or params.get("subsample", 1.0) != 1.0
        or params.get("sample_size")
        or params.get("routing") == "sampled"
        or (params.get("max_samples") is not None)
        # A consensus is one of reference rows, not of copies.
        or params.get("aggregation") == "kendall"
        or asks_another(model)
    )


def asks_another(model: Any) -> bool:
    """Tell whether a model boosts an estimator from elsewhere, whose errors are its own."""
    return type(model.get_params().get("weak_ranker")).__name__ == "LogisticRegression"


def check_other_fits(rng: Rng, model: Any, rows: Rows, expected: Any) -> None:
    """Check that other fits to the same sample give the same model."""
    ask = "decision_function" if hasattr(model, "decision_function") else "transform"

    def scores(other: Any) -> Any:
        return dense(getattr(other, ask)(rows.X))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # A two-sided classifier has those of its ranker.
        given = model.get_params()
        named = ["n_jobs"] if "n_jobs" in given else [n for n in given if n.endswith("__n_jobs")]
        threads = {name: 1 if given[name] != 1 else 2 for name in named}
        other = fit(clone(model).set_params(**threads), rows)
        same(scores(other), expected, "the number of threads decides")
        if rows.weight is not None and draws_rows(model):
            return
        is_frame = not isinstance(rows.X, np.ndarray)
        if draws_rows(model) or (is_frame and not isinstance(rows.X, pd.DataFrame)):
            return
        order = rng.permutation(len(rows.X))
        weight = None if rows.weight is None else rows.weight[order]
        other = clone(model).fit(rows.take(order), rows.y[order], sample_weight=weight)
        near(model, scores(other), expected, "the order of the rows decides")
        # Weights of classes make numbers of rows weights that are not whole.
        is_counted = model.get_params().get("class_weight") is None
        if is_counted and (rows.weight is None or rows.weight.dtype.kind == "i"):
            times = np.ones(len(rows.X), int) if rows.weight is None else rows.weight
            # A rate of wrong labels may be too much for other shares of the classes.
            if rows.weight is None and not model.get_params().get("noise_rate"):
                times = rng.integers(1, 3, len(times))
            repeated = np.repeat(np.arange(len(times)), times)
            by_weight = clone(model).fit(rows.X, rows.y, sample_weight=times)
            by_rows = clone(model).fit(rows.take(repeated), rows.y[repeated])
            near(model, scores(by_rows), scores(by_weight), "a weight is not a number of rows")


def near(model: Any, found: Any, expected: Any, what: str) -> None:
    """Raise a `FindingError` unless arrays are the same, where sums of reals are in no order."""
    if type(model).__name__ in IN_ORDER or type(model.get_params().get("estimator")).__name__ in (
        IN_ORDER
    ):
        return
    if model.get_params().get("calibration") is not None:
        # The threshold is learned from moments of scores, which are sums of reals.
        scale = np.abs(expected).max(initial=1.0)
        if np.allclose(found, expected, rtol=0.0, atol=1e-9 * scale):
            return
    same(found, expected, what)
