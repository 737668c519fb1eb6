"""Curves drawn from an estimator or from its scores, as scikit-learn draws them."""

import numpy as np
import pytest
import sklearn.metrics
from aucrank import GradientBoostingRanker, RankBoost, TreeRank
from aucrank.datasets import load_breast_cancer
from aucrank.metrics import RocCurve, RocCurveDisplay, roc_auc_score, roc_band
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.common.processes import said_without_matplotlib

figure = pytest.importorskip("matplotlib.figure")


@pytest.fixture
def ax():
    return figure.Figure().add_subplot()


@pytest.fixture(scope="module")
def halves():
    X, y = load_breast_cancer(return_X_y=True)
    return X[::2, :6], y[::2], X[1::2, :6], y[1::2]


def test_the_drawn_curve_equals_that_of_scikit_learn(halves, ax):
    X, y, X_new, y_new = halves
    weight = np.random.default_rng(0).integers(0, 3, len(y_new))
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    for response in ("auto", "decision_function", "predict_proba"):
        ours = RocCurveDisplay.from_estimator(
            model, X_new, y_new, sample_weight=weight, response_method=response, ax=ax
        )
        theirs = sklearn.metrics.RocCurveDisplay.from_estimator(
            model,
            X_new,
            y_new,
            sample_weight=weight,
            response_method=response,
            drop_intermediate=False,
            ax=figure.Figure().add_subplot(),
        )
        assert ours.roc_auc == pytest.approx(theirs.roc_auc, abs=1e-12)
        # Theirs has a knot for rows of weight 0, too.
        corners = set(zip(theirs.fpr.round(12), theirs.tpr.round(12), strict=True))
        assert set(zip(ours.fpr.round(12), ours.tpr.round(12), strict=True)) == corners
        assert ours.line_.get_label() == f"Pipeline (AUC = {theirs.roc_auc:.2f})"


@pytest.mark.parametrize(
    "model", [TreeRank(random_state=0), RankBoost(n_rounds=10), GradientBoostingRanker(n_rounds=5)]
)
def test_the_area_is_the_score_of_the_ranker(model, halves, ax):
    X, y, X_new, y_new = halves
    model.fit(X, y)
    display = RocCurveDisplay.from_estimator(model, X_new, y_new, ax=ax, name="mine")
    assert display.roc_auc == model.score(X_new, y_new)
    assert display.name == "mine"
    # A curve of either class has the same area.
    names = np.array(["benign", "malignant"])
    model.fit(X, names[y])
    for label in names:
        display = RocCurveDisplay.from_estimator(model, X_new, names[y_new], pos_label=label, ax=ax)
        assert display.roc_auc == pytest.approx(model.score(X_new, names[y_new]), abs=1e-12)
        of_scores = RocCurveDisplay.from_predictions(
            names[y_new],
            model.decision_function(X_new) * (1 if label == model.classes_[1] else -1),
            pos_label=label,
            ax=ax,
        )
        assert_array_equal(of_scores.tpr, display.tpr)


def test_bands_hull_and_chance_are_drawn(ax):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    scores = rng.normal(loc=y)
    display = RocCurveDisplay.from_predictions(
        y, scores, ax=ax, name="normal", band="pointwise", confidence=0.9, random_state=3,
        plot_hull=True, plot_chance_level=True, color="green",
    )  # fmt: skip
    band = roc_band(y, scores, confidence=0.9, random_state=3)
    corners = display.band_.get_paths()[0].vertices
    for bound in (band.low, band.high):
        assert set(zip(band.fpr, bound, strict=True)) <= set(map(tuple, corners))
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [
        f"normal (AUC = {roc_auc_score(y, scores):.2f})",
        "90 % confidence band",
        f"Concave hull (AUC = {RocCurve.from_scores(y, scores).concave_auc:.2f})",
        "Chance level (AUC = 0.5)",
    ]
    assert display.line_.get_color() == "green"
    given = RocCurveDisplay.from_predictions(y, scores, ax=ax, band=band)
    assert given.name is None
    assert given.band_.get_label() == "90 % confidence band"


def test_input_without_a_curve_raises_an_error(halves, ax):
    X, y, X_new, y_new = halves
    draw = RocCurveDisplay.from_estimator
    with pytest.raises(NotFittedError):
        draw(TreeRank(), X_new, y_new, ax=ax)
    with pytest.raises(
        TypeError, match="LinearRegression has no decision_function or predict_prob"
    ):
        draw(LinearRegression().fit(X, y), X_new, y_new, ax=ax)
    model = RankBoost(n_rounds=2).fit(X, y)
    with pytest.raises(TypeError, match=r"RankBoost has no predict_proba\(\)"):
        draw(model, X_new, y_new, response_method="predict_proba", ax=ax)
    three = LogisticRegression(max_iter=5).fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match=r"two classes, but its classes_ are \[0, 1, 2\]"):
        draw(three, X_new, y_new, ax=ax)
    with pytest.raises(ValueError, match="pos_label=7 is not a valid label"):
        draw(model, X_new, y_new, pos_label=7, ax=ax)
    with pytest.raises(ValueError, match="which is none of the classes"):
        draw(model, X_new, y_new + 1, ax=ax)
    with pytest.raises(ValueError, match="method is 'both'"):
        RocCurveDisplay.from_predictions(y_new, X_new[:, 0], band="both", ax=ax)
    assert "pip install 'aucrank[plot]'" in said_without_matplotlib(
        "RocCurveDisplay.from_predictions([0, 1], [0, 1])",
        "from aucrank.metrics import RocCurveDisplay",
    )
