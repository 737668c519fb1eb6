"""The cases of `python -m benches.speed`: some work, and who does it.

A contestant gets a setting and prepares the rows: what it returns is the work that is measured. It
first does the same for few rows, so that imports and compilers are not measured.
"""

import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import aucrank
import numpy as np
import pandas as pd
import sklearn.metrics
from aucrank import (
    AURORA,
    RIMARC,
    GradientBoostingRanker,
    LinearRanker,
    RankingEnsemble,
    RankingForest,
    Scorecard,
)
from aucrank.metrics import roc_auc_score, roc_curve
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from benches.common.data import make_data, make_scores
from benches.common.rivals import (
    OptbinningCard,
    Prepared,
    StoppedBags,
    catboost,
    ebm,
    equal_booster,
    lightgbm,
    stopped_catboost,
    stopped_lightgbm,
)
from benches.speed import bench_aurora, bench_boosting, bench_metrics, bench_rimarc, bench_tree
from benches.speed.gradient_boosting import equal_ranker

#: Rows of the small part of the work that comes first.
FEW_ROWS = 300


@dataclass(frozen=True)
class Setting:
    """How many rows, columns and threads, and a folder of models that several cases use."""

    rows: int
    features: int
    threads: int
    models: Path

    def of_few_rows(self):
        """Return the same of few rows."""
        return replace(self, rows=min(self.rows, FEW_ROWS))


@dataclass(frozen=True)
class Contestant:
    """Who does the work of a case."""

    name: str
    modules: tuple[str, ...]
    """By which its packages are known and imported."""
    prepare: Callable[[Setting], Callable[[], Any]]
    fits_first: bool = False
    """Whether preparing takes a fit: it is then done in a process before those that measure."""
    keep: Callable[[Setting, Any], None] = lambda setting, result: None
    """Keeps the result for other cases."""


@dataclass(frozen=True)
class Case:
    """Some work on a number of rows, which we do and rivals may do."""

    title: str
    rows: int
    features: int
    ours: Contestant
    rivals: tuple[Contestant, ...] = ()
    is_sized: bool = True
    """Whether other sizes make sense."""

    @property
    def contestants(self):
        """Return all by name, ours first."""
        return {one.name: one for one in (self.ours, *self.rivals)}

    def setting(self, size, threads, models):
        """Return the setting with the rows multiplied by a factor."""
        rows = max(FEW_ROWS, round(self.rows * size)) if self.is_sized else self.rows
        return Setting(rows, self.features, threads, models)


@dataclass(frozen=True)
class Model:
    """Something that is fitted and scores: the parts of several contestants."""

    name: str
    modules: tuple[str, ...]
    fit: Callable[[Any, Any, int], Any]
    """Fits rows and labels on so many threads."""
    rows: Callable[[int, int], Any] = make_data
    """Makes so many rows of so many columns, and their labels."""
    load: Callable[[Any, Path], Callable[[], Any]] | None = None
    """Saves a fitted one to a file, and returns what loads it."""
    is_kept: bool = False
    """Whether other cases use what the case of its fit has fitted."""

    def fits(self):
        """Return the contestant that fits it."""

        def prepare(setting):
            X, y = self.rows(setting.rows, setting.features)
            return lambda: self.fit(X, y, setting.threads)

        keep = {"keep": self._keep} if self.is_kept else {}
        return Contestant(self.name, self.modules, prepare, **keep)

    def scores(self):
        """Return the contestant that scores rows by it, fitted to half as many others."""

        def prepare(setting):
            model = self._fitted(replace(setting, rows=setting.rows // 2))
            fresh, _ = make_data(setting.rows, setting.features, seed=1)
            return lambda: model.predict_proba(fresh)

        return Contestant(self.name, self.modules, prepare, fits_first=True)

    def scores_one(self):
        """Return the contestant that scores one new row by it, and then another."""

        def prepare(setting):
            model = self._fitted(setting)
            fresh, _ = make_data(500, setting.features, seed=1)
            rows = iter(np.resize(fresh, (10_000, 1, setting.features)))
            return lambda: model.predict_proba(next(rows))

        return Contestant(self.name, self.modules, prepare, fits_first=True)

    def loads(self):
        """Return the contestant that reads it from a file."""

        def prepare(setting):
            path = self._path(setting)
            return self.load(self._fitted(setting), path.with_suffix(".saved"))

        return Contestant(self.name, self.modules, prepare, fits_first=True)

    def _path(self, setting):
        name = "".join(c if c.isalnum() else "_" for c in self.name)
        return setting.models / f"{name}_{setting.rows}_{setting.features}.pickle"

    def _keep(self, setting, model):
        self._path(setting).write_bytes(pickle.dumps(model))

    def _fitted(self, setting):
        """Return it fitted; once fitted, it is read from the folder of models."""
        path = self._path(setting)
        if not path.exists():
            self._keep(setting, self.fits().prepare(setting)())
        return pickle.loads(path.read_bytes())


def of_scores(name, modules, area, dtype=np.float64, weighted=False):
    """Return the contestant that does something with labels and scores."""

    def prepare(setting):
        y, scores, weight = make_scores(setting.rows)
        scores = scores.astype(dtype)
        return partial(area, y, scores, **({"sample_weight": weight} if weighted else {}))

    return Contestant(name, modules, prepare)


def of_area(rows, kind, **options):
    """Return the case of an area under so many scores."""
    title = f"`roc_auc_score`, {kind}"
    make = partial(of_scores, **options)
    rivals = [make("scikit-learn", ("sklearn",), sklearn.metrics.roc_auc_score)]
    if not options.get("weighted"):
        merge = bench_metrics.sort_and_merge_auc
        rivals.append(make("np.sort, merged by numba", ("numpy", "numba"), merge))
    return Case(title, rows, 1, make("aucrank", ("aucrank",), roc_auc_score), tuple(rivals))


def ours(name, make, **of_model):
    """Return a model of ours from what makes it."""

    def fit(X, y, n_threads):
        model = make(n_jobs=n_threads)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        return model.fit(X, y)

    return Model(name, ("aucrank",), fit, **of_model)


def of_package(name, module, make, **of_model):
    """Return a model of a rival from what makes it for a number of threads."""
    return Model(name, (module,), lambda X, y, n_threads: make(n_threads).fit(X, y), **of_model)


def frame(X):
    """Return a matrix as a frame."""
    return pd.DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])])


def frames(n_rows, n_features):
    """Return rows as a frame, and labels."""
    X, y = make_data(n_rows, n_features)
    return frame(X), y


def ready_to_load(model, path):
    """Save a model of ours; return what loads it."""
    model.save(path)
    return lambda: aucrank.load(path)


def lightgbm_ready_to_load(stopped, path):
    """Save a model of LightGBM; return what loads it."""
    import lightgbm as package

    stopped.models_[0].booster_.save_model(path)
    return lambda: package.Booster(model_file=path)


def catboost_ready_to_load(stopped, path):
    """Save a model of CatBoost; return what loads it."""
    stopped.models_[0].save_model(str(path))
    return lambda: catboost().load_model(str(path))


def stopped(make, n_threads):
    """Return a model that holds out a tenth of the rows to stop by."""
    return StoppedBags(partial(make, n_threads=n_threads), n_bags=1)


def equal(package, name, n_rounds=100):
    """Return a rival of so many trees of 31 leaves."""
    return of_package(name, package, lambda n: equal_booster(package, n_rounds, 31, n))


def forest(n_threads, **params):
    """Return a forest of scikit-learn of as many trees as ours."""
    n_trees = RankingForest().n_estimators
    return RandomForestClassifier(n_trees, random_state=0, n_jobs=n_threads, **params)


def fit_ebm(X, y, n_threads):
    """Fit EBM by its defaults; to few rows in few rounds, of which they otherwise take most."""
    few = {"max_rounds": 2} if len(y) <= FEW_ROWS else {}
    return ebm(n_threads, **few).fit(X, y)


def sorted_columns(setting):
    """Prepare the sorting of columns, each of which is contiguous."""
    X, _ = bench_rimarc.make_data(setting.rows, setting.features)
    columns = [np.ascontiguousarray(X[:, place]) for place in range(X.shape[1])]
    return partial(bench_rimarc.sort_columns, columns, setting.threads)


BOOSTER = ours("GradientBoostingRanker()", GradientBoostingRanker, load=ready_to_load, is_kept=True)
LIGHTGBM = of_package(
    "LightGBM, stopped early",
    "lightgbm",
    partial(stopped, stopped_lightgbm),
    load=lightgbm_ready_to_load,
    is_kept=True,
)
CATBOOST = of_package(
    "CatBoost, stopped early",
    "catboost",
    partial(stopped, stopped_catboost),
    load=catboost_ready_to_load,
    is_kept=True,
)
EQUAL_RANKER, EQUAL_RANKER_300 = (
    Model(
        f"GradientBoostingRanker, {rounds} rounds",
        ("aucrank",),
        lambda X, y, n, rounds=rounds: equal_ranker(rounds, 31, n).fit(X, y),
    )
    for rounds in (100, 300)
)
EQUAL_BOOSTERS = [("lightgbm", "LightGBM"), ("xgboost", "XGBoost"), ("hessboost", "hessboost")]
ENSEMBLE = ours("RankingEnsemble()", RankingEnsemble)
LINEAR = ours("LinearRanker()", LinearRanker)
LIGHTGBM_300 = of_package("LightGBM, 300 rounds", "lightgbm", lightgbm)
CATBOOST_DEFAULT = of_package("CatBoost, defaults", "catboost", catboost)
LOGISTIC = of_package("LogisticRegression", "sklearn", lambda n: LogisticRegression())


def of_fits(title, rows, features, model, *rivals):
    """Return the case of fits of models."""
    return Case(title, rows, features, model.fits(), tuple(rival.fits() for rival in rivals))


def of_equal_fits(rows, features):
    """Return the case of boosters of the same work."""
    title = "boosting, 100 rounds of 31 leaves"
    rivals = [equal(*names) for names in EQUAL_BOOSTERS]
    return of_fits(title, rows, features, EQUAL_RANKER, *rivals)


def of_one_row(model, title):
    """Return the case of one row that is scored."""
    title = f"one row scored by {title}"
    return Case(title, 4000, 20, model.scores_one(), (LOGISTIC.scores_one(),), is_sized=False)


def of_linear(title, thresholds, rival):
    """Return the case of a linear score of columns that are equal for both."""
    make = partial(LinearRanker, thresholds=thresholds, interactions=None)
    return of_fits(
        title,
        100_000,
        20,
        ours("LinearRanker", make),
        of_package(rival, "sklearn", lambda n: Prepared(thresholds), rows=frames),
    )


CASES = {
    "auc-10k": of_area(10_000, "doubles"),
    "auc": of_area(1_000_000, "doubles"),
    "auc-10m": of_area(10_000_000, "doubles"),
    "auc-float32": of_area(1_000_000, "float32", dtype=np.float32),
    "auc-weights": of_area(1_000_000, "weights", weighted=True),
    "curve": Case(
        "`roc_curve`",
        1_000_000,
        1,
        of_scores("aucrank", ("aucrank",), roc_curve),
        (of_scores("scikit-learn", ("sklearn",), sklearn.metrics.roc_curve),),
    ),
    "tree": of_fits(
        "`TreeRank`, depth 8, not pruned",
        1_000_000,
        20,
        Model("TreeRank", ("aucrank",), bench_tree.fit_treerank),
        Model("LightGBM, one tree of 255 leaves", ("lightgbm",), bench_tree.fit_lightgbm),
    ),
    "forest": of_fits(
        "`RankingForest()`, which chooses its leaf size",
        100_000,
        20,
        ours("RankingForest()", RankingForest),
        of_package("RandomForestClassifier, leaves of 1 row", "sklearn", forest),
    ),
    "forest-leaf-5": of_fits(
        "`RankingForest(min_samples_leaf=5)`",
        100_000,
        20,
        ours("RankingForest", partial(RankingForest, min_samples_leaf=5)),
        of_package(
            "RandomForestClassifier, the same leaves",
            "sklearn",
            partial(forest, min_samples_leaf=5),
        ),
    ),
    "boosting-equal": of_equal_fits(100_000, 20),
    "boosting-equal-rows": of_equal_fits(1_000_000, 20),
    "boosting-equal-columns": of_equal_fits(100_000, 100),
    "boosting": of_fits("`GradientBoostingRanker()`", 100_000, 20, BOOSTER, LIGHTGBM, CATBOOST),
    "scores": Case(
        "scores of `GradientBoostingRanker()`",
        200_000,
        20,
        BOOSTER.scores(),
        (LIGHTGBM.scores(), CATBOOST.scores()),
    ),
    "scores-equal": Case(
        "scores of boosting, 300 rounds of 31 leaves",
        200_000,
        20,
        EQUAL_RANKER_300.scores(),
        tuple(equal(*names, n_rounds=300).scores() for names in EQUAL_BOOSTERS[:2]),
    ),
    "load": Case(
        "loading `GradientBoostingRanker()` from its file",
        100_000,
        20,
        BOOSTER.loads(),
        (LIGHTGBM.loads(), CATBOOST.loads()),
    ),
    "stumps": of_fits(
        "`RankBoost()`, 200 stumps",
        100_000,
        20,
        ours("RankBoost", partial(bench_boosting.OURS["RankBoost"], n_rounds=200)),
        of_package(
            "LightGBM, 200 stumps", "lightgbm", partial(bench_boosting.make_model, "LightGBM")
        ),
    ),
    "ensemble": of_fits(
        "`RankingEnsemble()`", 50_000, 20, ENSEMBLE, LIGHTGBM_300, CATBOOST_DEFAULT
    ),
    "ensemble-fast": of_fits(
        '`RankingEnsemble(presets="fast")`',
        50_000,
        20,
        ours("RankingEnsemble, fast", partial(RankingEnsemble, presets="fast")),
        LIGHTGBM_300,
        CATBOOST_DEFAULT,
    ),
    "linear": of_linear(
        "`LinearRanker(interactions=None)`",
        "auto",
        "LogisticRegression, the same columns of thresholds",
    ),
    "linear-numbers": of_linear(
        "`LinearRanker(interactions=None, thresholds=None)`",
        None,
        "LogisticRegression, scaled numbers",
    ),
    "card": of_fits(
        "`Scorecard()`",
        20_000,
        20,
        ours("Scorecard()", Scorecard),
        of_package("optbinning, Scorecard", "optbinning", lambda n: OptbinningCard(), rows=frames),
    ),
    "additive": of_fits(
        '`GradientBoostingRanker.additive(interactions="auto")`',
        5000,
        20,
        ours("additive", partial(GradientBoostingRanker.additive, interactions="auto")),
        Model("EBM, defaults", ("interpret",), fit_ebm),
    ),
    "aurora": of_fits("`AURORA()`", 30_000, 30, ours("AURORA()", AURORA, rows=bench_aurora.wide)),
    "rimarc": Case(
        "`RIMARC()`",
        1_000_000,
        20,
        ours("RIMARC()", RIMARC, rows=bench_rimarc.make_data).fits(),
        (Contestant("np.sort of the columns", ("numpy",), sorted_columns),),
    ),
    "one-row-linear": of_one_row(LINEAR, "`LinearRanker()`"),
    "one-row-boosting": of_one_row(BOOSTER, "`GradientBoostingRanker()`"),
    "one-row-ensemble": of_one_row(ENSEMBLE, "`RankingEnsemble()`"),
}
