"""WeightedERM against paper 2 sec. 3.3 written plainly, and with any classifier."""

import copy
import pickle
import sys
from fractions import Fraction

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from aucrank import ModelFormatError, TreeRank, load
from aucrank.tree import CrossValidatedPruning, WeightedERM
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=300) > 1
WEIGHT = RNG.integers(0, 4, 300)
FRAME = pd.DataFrame(X, columns=["age", "income", "debt"]).assign(
    city=np.where(RNG.random(300) < 0.3, "Rome", np.where(Y, "Oslo", "Bern"))
)


def plain_leaves(X, y, weight, rows, classifier, max_depth, min_leaf):
    """Leaves from left to right: TreeRank (paper 2 Fig. 2) by weighted ERM (Fig. 6)."""
    positive, w = y[rows], weight[rows]
    n_pos, n_neg = w[positive].sum(), w[~positive].sum()
    if max_depth == 0 or n_pos == 0 or n_neg == 0:
        return [rows]
    omega = n_pos / (n_pos + n_neg)
    fitted = clone(classifier).fit(
        X[rows], positive, sample_weight=np.where(positive, 1 - omega, omega) * w
    )
    left = fitted.predict(X[rows])
    gain = n_neg * w[left & positive].sum() - n_pos * w[left & ~positive].sum()
    left = left if gain > 0 else ~left
    if gain == 0 or min(w[left].sum(), w[~left].sum()) < min_leaf:
        return [rows]
    sides = (rows[left], rows[~left])
    grown = [plain_leaves(X, y, weight, s, classifier, max_depth - 1, min_leaf) for s in sides]
    return [leaf for side in grown for leaf in side]


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["counted", "weighted"])
@pytest.mark.parametrize("C", [1.0, 0.001])
def test_the_tree_is_that_of_the_definition(weight, C):
    classifier = LogisticRegression(C=C)
    settings = {"max_depth": 4, "min_samples_leaf": 8, "leaf_order": "tree", "pruning": None}
    model = TreeRank(split=WeightedERM(classifier), **settings).fit(X, Y, sample_weight=weight)
    weight = np.ones(300) if weight is None else weight
    rows = np.flatnonzero(weight > 0)
    leaves = plain_leaves(X, Y, weight, rows, classifier, 4, 8)
    assert len(leaves) > 8
    assert model.tree_.n_leaves == len(leaves)
    scores = model.decision_function(X)
    for place, leaf in enumerate(leaves):
        assert (scores[leaf] == scores[leaves[0]][0] - place).all()


def test_the_weighted_error_is_that_of_the_auc():
    """(9) of paper 2, exactly: L = 4 p (1 - p) (1 - AUC) of the two-valued score."""
    model = TreeRank(split=WeightedERM(LogisticRegression()), max_depth=1, pruning=None).fit(X, Y)
    left = model.decision_function(X) == model.tree_.strata["score"][0]
    n, n_pos = len(Y), int(Y.sum())
    p = Fraction(n_pos, n)
    error = Fraction(2, n) * (
        p * int((left & ~Y).sum()) + (1 - p) * int((~left & Y).sum())  # omega = p
    )
    wins = sum(Fraction(1 + int(a) - int(b), 2) for a in left[Y] for b in left[~Y])
    auc = wins / (n_pos * (n - n_pos))
    assert error == 4 * p * (1 - p) * (1 - auc)
    assert model.tree_.auc == pytest.approx(float(auc), abs=1e-15)


class Contrary(ClassifierMixin, BaseEstimator):
    """Calls positive what another classifier calls negative."""

    def fit(self, X, y, sample_weight=None):
        self.inner_ = LogisticRegression().fit(X, y, sample_weight)
        return self

    def predict(self, X):
        return 1 - self.inner_.predict(X)


def test_a_classifier_that_is_always_wrong_is_reversed():
    right = TreeRank(split=WeightedERM(LogisticRegression()), pruning=None).fit(X, Y)
    wrong = TreeRank(split=WeightedERM(Contrary()), pruning=None).fit(X, Y)
    assert np.array_equal(right.decision_function(X), wrong.decision_function(X))
    assert wrong.tree_.nodes["rule"][0] == "Contrary #0 says negative"


def test_xor_is_solved_by_one_tree_of_depth_two():
    # Four quarters without noise: no line separates them, and two levels of questions do.
    quarters = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10, dtype=float)
    y = quarters[:, 0] != quarters[:, 1]
    for classifier, auc in (
        (DecisionTreeClassifier(max_depth=2), 1.0),
        (DecisionTreeClassifier(max_depth=1), 0.5),
        (LogisticRegression(), 0.5),
    ):
        model = TreeRank(split=WeightedERM(classifier), max_depth=1, pruning=None, random_state=0)
        assert model.fit(quarters, y).tree_.auc == auc


def test_a_side_or_a_gain_that_is_too_small_prevents_a_split():
    split = WeightedERM(LogisticRegression())
    whole = TreeRank(split=split, max_depth=1, min_samples_leaf=1, pruning=None).fit(X, Y)
    sizes = whole.tree_.strata["size"]
    gain = whole.tree_.nodes["gain"][0]
    least = int(sizes.min())
    for params, n_leaves in (
        ({"min_samples_leaf": least}, 2),
        ({"min_samples_leaf": least + 1}, 1),
        ({"min_gain": gain - 1e-9}, 2),
        ({"min_gain": gain + 1e-9}, 1),
    ):
        assert clone(whole).set_params(**params).fit(X, Y).tree_.n_leaves == n_leaves


def test_integer_weights_equal_copies():
    copies = np.repeat(np.arange(300), WEIGHT)
    for classifier in (LogisticRegression(), DecisionTreeClassifier(max_depth=2)):
        pruning = CrossValidatedPruning(n_folds=3)
        split = WeightedERM(classifier)
        model = TreeRank(split=split, max_depth=4, pruning=pruning, random_state=3)
        weighted = model.fit(X, Y, sample_weight=WEIGHT).decision_function(X)
        assert np.array_equal(weighted, model.fit(X[copies], Y[copies]).decision_function(X))


def test_cross_validation_prunes_and_threads_do_not_matter():
    # A splitter that draws: its seed must come from the place in the tree, not from the order of
    # calls.
    classifier = DecisionTreeClassifier(max_depth=3, splitter="random")
    pruning = CrossValidatedPruning(n_folds=5)
    model = TreeRank(split=WeightedERM(classifier), pruning=pruning, random_state=7)
    scores, tables, trees = [], [], []
    for n_jobs in (1, 2, 5):
        model.set_params(n_jobs=n_jobs).fit(X, Y)
        scores.append(model.decision_function(X))
        tables.append(model.pruning_["mean_auc"])
        trees.append(model.tree_.to_text())
        # As many classifiers as splits, numbered from the root on.
        assert len(model.tree_.classifiers) == model.tree_.n_leaves - 1
    assert np.array_equal(scores[0], scores[1])
    assert np.array_equal(scores[0], scores[2])
    assert np.array_equal(tables[0], tables[1])
    assert trees[0] == trees[1] == trees[2]
    kept = model.pruning_["kept"]
    assert model.pruning_["mean_auc"][kept] == model.pruning_["mean_auc"].max()
    assert model.pruning_["n_leaves"][kept] == model.tree_.n_leaves < model.pruning_["n_leaves"][0]
    other = model.set_params(random_state=8).fit(X, Y).decision_function(X)
    assert not np.array_equal(scores[0], other)


def test_a_fold_is_scored_by_the_tree_that_was_grown_without_it():
    # Unpredictable labels: a classifier that memorises its rows must not look good.
    rng = np.random.default_rng(5)
    noise, y = rng.normal(size=(200, 2)), rng.random(200) < 0.5
    split = WeightedERM(DecisionTreeClassifier())
    model = TreeRank(split=split, min_samples_leaf=1, random_state=0).fit(noise, y)
    assert model.pruning_["train_auc"][0] == 1
    assert abs(model.pruning_["mean_auc"][0] - 0.5) < 0.15


# ------------------------------------------------------------------------------- what it is given


def pipeline():
    columns = ColumnTransformer(
        [("city", OneHotEncoder(handle_unknown="ignore"), ["city"])], remainder=StandardScaler()
    )
    return make_pipeline(columns, LogisticRegression())


@pytest.mark.parametrize("routing", [False, True])
def test_a_pipeline_gets_frames_as_they_were_passed(routing):
    classifier = pipeline()
    with sklearn.config_context(enable_metadata_routing=routing):
        if routing:
            classifier[-1].set_fit_request(sample_weight=True)
            classifier[0].remainder.set_fit_request(sample_weight=False)
        split, pruning = WeightedERM(classifier), CrossValidatedPruning(n_folds=3)
        model = TreeRank(split=split, pruning=pruning, random_state=0, n_jobs=2).fit(FRAME, Y)
        scores = model.decision_function(FRAME)
    assert roc_auc_score(Y, scores) > 0.85
    assert model.tree_.auc == model.score(FRAME, Y)
    assert list(model.tree_.classifiers[0].feature_names_in_) == list(FRAME.columns)
    # The one that was passed is not fitted.
    with pytest.raises(NotFittedError):
        classifier.predict(FRAME)


class Witness(LogisticRegression):
    """Records what it is fitted to and called with."""

    seen = set()  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.seen.update([type(X), y.dtype.kind, *np.unique(y).tolist()])
        assert sklearn.get_config()["working_memory"] == 17
        return super().fit(np.asarray(X), y, sample_weight)

    def predict(self, X):
        self.seen.add(type(X))
        return super().predict(np.asarray(X))


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda X: X, np.ndarray),
        (lambda X: X.tolist(), np.ndarray),
        (lambda X: pd.DataFrame(X, index=np.arange(300) % 7), pd.DataFrame),
        (lambda X: pl.DataFrame(X), pl.DataFrame),
        (lambda X: pl.DataFrame(X).to_arrow(), None),
    ],
    ids=["array", "list", "pandas", "polars", "pyarrow"],
)
def test_rows_keep_the_type_of_the_data(make, kind):
    data = make(X)
    Witness.seen.clear()
    split, pruning = WeightedERM(Witness()), CrossValidatedPruning(n_folds=2)
    model = TreeRank(split=split, max_depth=3, pruning=pruning, random_state=0)
    # Settings of the calling thread hold in those of the fit.
    with sklearn.config_context(working_memory=17):
        model.fit(data, Y)
    assert Witness.seen == {kind or type(data), "i", 0, 1}
    expected = clone(model).set_params(split__classifier=LogisticRegression()).fit(X, Y)
    assert np.array_equal(model.decision_function(data), expected.decision_function(X))


def test_missing_values_are_passed_to_the_classifier():
    holes = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
    with pytest.raises(ValueError, match="contains NaN"):
        TreeRank(split=WeightedERM(LogisticRegression())).fit(holes, Y)
    for classifier in (
        make_pipeline(SimpleImputer(), LogisticRegression()),
        HistGradientBoostingClassifier(max_iter=3),
    ):
        model = TreeRank(split=WeightedERM(classifier), max_depth=2, pruning=None).fit(holes, Y)
        assert model.score(holes, Y) > 0.6
    broken = X.copy()
    broken[5, 1] = np.inf
    with pytest.raises(ValueError, match="column 1 is inf in row 5"):
        TreeRank(split=WeightedERM(LogisticRegression())).fit(broken, Y)
    model = TreeRank(split=WeightedERM(LogisticRegression()), pruning=None).fit(X, Y)
    with pytest.raises(ValueError, match="column 1 is inf in row 5"):
        model.decision_function(broken)
    # A tree of one leaf calls no classifier, and rejects what its classifier would.
    leaf = TreeRank(split=WeightedERM(LogisticRegression()), min_gain=1.0, pruning=None).fit(X, Y)
    assert leaf.tree_.n_leaves == 1
    with pytest.raises(ValueError, match="contains NaN in column"):
        leaf.predict(holes)
    imputing = make_pipeline(SimpleImputer(), LogisticRegression())
    leaf = leaf.set_params(split=WeightedERM(imputing)).fit(X, Y)
    assert len(leaf.predict(holes)) == 300


def test_parameters_of_the_classifier_can_be_searched():
    model = TreeRank(split=WeightedERM(LogisticRegression()), pruning=None, max_depth=2)
    assert model.get_params()["split__classifier__C"] == 1.0
    search = GridSearchCV(model, {"split__classifier__C": [0.01, 1.0]}, cv=2).fit(X, Y)
    assert (
        search.best_params_["split__classifier__C"] == search.best_estimator_.tree_.classifiers[0].C
    )
    # And a search can be the classifier.
    inner = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2)
    fitted = TreeRank(split=WeightedERM(inner), max_depth=1, pruning=None).fit(X, Y)
    assert hasattr(fitted.tree_.classifiers[0], "best_params_")


# ------------------------------------------------------------------------------- what it gives back


@pytest.fixture(scope="module")
def fitted():
    settings = {"max_depth": 4, "leaf_order": "tree", "pruning": None}
    return TreeRank(split=WeightedERM(pipeline()), **settings).fit(FRAME, Y)


def test_a_pickled_model_contains_its_classifiers(fitted, tmp_path):
    joblib.dump(fitted, tmp_path / "model.joblib")
    for back in (
        pickle.loads(pickle.dumps(fitted)),
        copy.deepcopy(fitted),
        joblib.load(tmp_path / "model.joblib"),
    ):
        assert np.array_equal(back.decision_function(FRAME), fitted.decision_function(FRAME))
        assert np.array_equal(back.predict_proba(FRAME), fitted.predict_proba(FRAME))
        assert back.tree_.to_text() == fitted.tree_.to_text()
        assert back.split.classifier.steps[-1][1].C == 1.0
    fitted_again = clone(fitted).set_params(split="orthogonal").fit(X, Y)
    assert fitted_again.tree_.classifiers == ()


def test_a_file_never_contains_code(fitted, tmp_path):
    with pytest.raises(TypeError, match="never holds code; use pickle"):
        fitted.save(tmp_path / "model.json")
    assert not (tmp_path / "model.json").exists()
    # Not even one that was written regardless.
    (tmp_path / "forged.json").write_text(fitted._to_document())
    with pytest.raises(ModelFormatError, match="needs classifiers that are missing"):
        load(tmp_path / "forged.json")


def test_a_model_refitted_with_stumps_can_be_saved(tmp_path):
    model = TreeRank(split=WeightedERM(LogisticRegression()), pruning=None).fit(X, Y)
    model.set_params(split="orthogonal").fit(X, Y).save(tmp_path / "model.json")
    read = load(tmp_path / "model.json")
    assert np.array_equal(read.decision_function(X), model.decision_function(X))


def test_the_tree_and_its_subtrees_use_the_classifiers(fitted):
    tree = fitted.tree_
    assert tree.nodes["rule"][0] == "Pipeline #0 says positive"
    leaf = tree.apply(FRAME)
    sizes = dict(zip(*np.unique(leaf, return_counts=True), strict=True))
    assert sizes == dict(zip(tree.strata["node"], tree.strata["size"], strict=True))
    assert tree.strata["rule"][0].startswith("Pipeline #0 says positive and Pipeline #1 says")
    paths = tree.decision_path(FRAME)
    assert (paths[np.arange(300), leaf] == 1).all()
    # Along a path, rules hold: the classifiers themselves are called.
    for rule, node in zip(tree.strata["rule"], tree.strata["node"], strict=True):
        inside = np.ones(300, dtype=bool)
        for clause in rule.split(" and "):
            _, number, _, answer = clause.split()
            predicted = tree.classifiers[int(number[1:])].predict(FRAME)
            inside &= predicted == (answer == "positive")
        assert np.array_equal(inside, leaf == node)
    for small in (
        tree.prune(0.005),
        tree.best_subtree(3),
        tree.subtree([int(tree.nodes["right"][0])]),
    ):
        assert small.n_leaves < tree.n_leaves
        scores = np.empty(300)
        for node, score in zip(small.strata["node"], small.strata["score"], strict=True):
            scores[small.apply(FRAME) == node] = score
        assert roc_auc_score(Y, scores) == pytest.approx(small.auc, abs=1e-14)
    assert "Pipeline #0 says negative" in tree.to_text()
    assert "Pipeline #0 says positive" in tree.to_dot()
    with pytest.raises(ValueError, match="has no form in SQL: its splits are classifiers"):
        tree.to_sql()
    with pytest.raises(AttributeError, match="permutation_importance"):
        _ = fitted.feature_importances_
    with pytest.raises(AttributeError, match=r"^importances is not defined .* a WeightedERM"):
        _ = tree.importances


def test_categories_of_another_order_are_matched_by_the_pipeline(fitted):
    other = FRAME.assign(city=pd.Categorical(FRAME["city"], categories=["Rome", "Oslo", "Bern"]))
    assert np.array_equal(fitted.decision_function(other), fitted.decision_function(FRAME))
    with pytest.raises(ValueError, match="feature names"):
        fitted.decision_function(FRAME.rename(columns={"city": "town"}))


# --------------------------------------------------------------------------------- what goes wrong


class Moody(LogisticRegression):
    """Fails at its n-th fit or prediction."""

    def __init__(self, at="fit", countdown=1):
        super().__init__()
        self.at = at
        self.countdown = countdown

    calls = {}  # noqa: RUF012

    def _count(self, what):
        self.calls[what] = self.calls.get(what, 0) + 1
        if what == self.at and self.calls[what] >= self.countdown:
            raise ZeroDivisionError(f"{what} number {self.calls[what]}")

    def fit(self, X, y, sample_weight=None):
        self._count("fit")
        return super().fit(X, y, sample_weight)

    def predict(self, X):
        self._count("predict")
        return super().predict(X)


@pytest.mark.parametrize("at", ["fit", "predict"])
@pytest.mark.parametrize("countdown", [1, 4, 60])
def test_an_error_of_a_classifier_is_raised_unchanged(at, countdown):
    model = TreeRank(pruning=None).fit(X, Y)
    Moody.calls.clear()
    model.set_params(split=WeightedERM(Moody(at, countdown)), pruning="cv", n_jobs=2)
    with pytest.raises(ZeroDivisionError, match=rf"^{at} number") as caught:
        model.fit(X, Y)
    assert caught.traceback[-1].name == "_count"
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert "_classifiers" not in vars(model)


def test_a_failure_at_scoring_is_raised_and_the_model_stays_fitted():
    Moody.calls.clear()
    model = TreeRank(split=WeightedERM(Moody("predict", 10**6)), pruning=None).fit(X, Y)
    for classifier in model.tree_.classifiers:
        classifier.countdown = 1
    with pytest.raises(ZeroDivisionError, match=r"^predict number"):
        model.decision_function(X)
    with pytest.raises(ZeroDivisionError, match=r"^predict number"):
        model.tree_.apply(X)
    for classifier in model.tree_.classifiers:
        classifier.countdown = 10**6
    assert model.score(X, Y) == model.tree_.auc


class Odd(LogisticRegression):
    """Predicts what is not a label, or too few of them."""

    def __init__(self, answer="three"):
        super().__init__()
        self.answer = answer

    def predict(self, X):
        return np.full(len(X), 3) if self.answer == "three" else super().predict(X)[:-1]


@pytest.mark.parametrize(
    ("classifier", "error", "message"),
    [
        (LogisticRegression, TypeError, "must be an estimator, got the class LogisticRegression"),
        ("logistic", TypeError, "must be an estimator, but str has no fit"),
        (StandardScaler(), TypeError, r"StandardScaler has no predict\(\)"),
        (KNeighborsClassifier(), ValueError, "must take sample_weight, but KNeighborsClassifier"),
        (
            make_pipeline(StandardScaler(), KNeighborsClassifier()),
            ValueError,
            "must take sample_weight, but KNeighborsClassifier",
        ),
        (LinearRegression(), ValueError, "other values than the labels 0 and 1"),
        (Odd(), ValueError, "predict of Odd returned other values"),
        (Odd("short"), ValueError, r"predict of Odd returned an array of shape \(299,\) for 300"),
    ],
)
def test_estimators_that_are_not_classifiers_are_rejected(classifier, error, message):
    model = TreeRank(split=WeightedERM(classifier), pruning=None)
    with pytest.raises(error, match=message):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_features_cannot_be_drawn():
    model = TreeRank(split=WeightedERM(LogisticRegression()), max_features="sqrt")
    with pytest.raises(ValueError, match="max_features must be None"):
        model.fit(X, Y)


def test_the_data_are_not_kept_after_a_fit():
    data = X.copy()
    before = sys.getrefcount(data)
    split, pruning = WeightedERM(LogisticRegression()), CrossValidatedPruning(n_folds=2)
    model = TreeRank(split=split, max_depth=3, pruning=pruning, n_jobs=2).fit(data, Y)
    assert sys.getrefcount(data) == before
    assert len(pickle.dumps(model)) < 200_000
