"""Estimates of the sizes of exports, against what is written, and the warning before it."""

import numpy as np
import pytest
from aucrank import (
    ExportSizeWarning,
    GradientBoostingRanker,
    PipelineExport,
    RankBoost,
    RankingForest,
    Scorecard,
    TreeRank,
)
from aucrank._export import sizes
from aucrank._export.sql_layers import needs_layers
from aucrank._utils.sql_spelling import DIALECTS
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from tests.common.applicants import applicants
from tests.common.formulas import NOT_IN_SQL, OF_NUMBERS, WITH_CATEGORIES, fitted_formula
from tests.common.loans import loans

CODE = {"c": "C", "python": "Python", "javascript": "JavaScript", "java": "Java"}

LARGE = {
    "booster": GradientBoostingRanker(n_rounds=60, n_bags=2, random_state=0),
    "forest": RankingForest(n_estimators=20, max_depth=8, min_samples_leaf=1, random_state=0),
    "deep tree": TreeRank(max_depth=40, min_samples_leaf=1, pruning=None),
    "thresholds": RankBoost(n_rounds=200),
}


def written_forms(model):
    """Yield the name of the estimate, and a function that writes the form."""
    formula = model._score_formula()
    is_card = isinstance(model, Scorecard)
    if not is_card:
        # That of a card is its bins.
        yield "JSON", model.to_json
    yield "PMML", lambda: model.to_pmml(**({"output": "score"} if is_card else {}))
    yield "ONNX", lambda: model.to_onnx().SerializeToString()
    yield "Treelite", lambda: model.to_treelite().serialize_bytes()
    for language, form in CODE.items():
        yield form, lambda language=language: model.to_code(language)
    for dialect, spelling in DIALECTS.items():
        form = "SQL in steps" if spelling.has_layers and needs_layers(formula) else "SQL"
        yield form, lambda dialect=dialect: model.to_sql(dialect, output="score")


def assert_foreseen(model):
    formula = model._score_formula()
    of_all = sizes.sizes_of(formula, model._schema)
    n_written = 0
    for form, write in written_forms(model):
        try:
            written = write()
        except (ValueError, ImportError):
            # A form that the family does not have, or whose package is not installed.
            continue
        size = len(written.encode() if isinstance(written, str) else written)
        estimate = sizes.size_of(formula, model._schema, form)
        assert estimate == of_all[form]
        assert size / 1.5 < estimate < size * 1.5, (form, size, estimate)
        n_written += 1
    assert n_written >= len(CODE)


@pytest.mark.parametrize("name", [*WITH_CATEGORIES, *OF_NUMBERS, *NOT_IN_SQL])
def test_the_size_of_each_form_of_each_family_is_foreseen(name):
    model, _ = fitted_formula(name)
    assert_foreseen(model)


@pytest.mark.parametrize("name", LARGE)
def test_the_size_of_each_form_of_a_large_model_is_foreseen(name):
    X, y = loans(2500, 0)
    assert_foreseen(clone(LARGE[name]).fit(X, y))


@pytest.mark.parametrize("name", LARGE)
def test_the_size_of_each_form_of_a_large_model_of_numbers_is_foreseen(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 8))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=3000) > 0
    assert_foreseen(clone(LARGE[name]).fit(X, y))


@pytest.mark.parametrize("ranker", [LARGE["booster"], LARGE["thresholds"]])
def test_the_size_of_each_form_of_a_pipeline_is_foreseen(ranker):
    X, y = applicants(1500, 0)
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    texts = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="none"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    steps = ColumnTransformer(
        [
            ("numbers", numbers, ["age", "income", "debt", "rate"]),
            ("texts", texts, ["town", "job"]),
        ]
    )
    assert_foreseen(PipelineExport(make_pipeline(steps, clone(ranker)).fit(X, y)))


def test_a_page_of_a_large_model_stays_small():
    pytest.importorskip("jinja2")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 10))
    model = clone(LARGE["deep tree"]).fit(X, rng.random(4000) < 0.5)
    n_nodes = sizes.parts_in(model._score_formula(), model._schema, "JSON").nodes
    assert n_nodes > 1000
    assert len(model.to_html()) < 1_000_000


FORMS = {
    "JSON": lambda model: model.to_json(),
    "PMML": lambda model: model.to_pmml(),
    "SQL": lambda model: model.to_sql("mysql"),
    "C": lambda model: model.to_code("c"),
    "Python": lambda model: model.to_code("python"),
    "JavaScript": lambda model: model.to_code("javascript"),
    "Java": lambda model: model.to_code("java"),
    "ONNX": lambda model: model.to_onnx(),
    "Treelite": lambda model: model.to_treelite(),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_very_large_export_raises_a_warning_with_its_size(form, monkeypatch):
    if form in ("ONNX", "Treelite"):
        pytest.importorskip(form.lower())
    model, _ = fitted_formula("gradient boosting")
    monkeypatch.setattr(sizes, "_LARGE", 1000)
    text = (
        rf"^\d+ trees and \d+ nodes of this GradientBoostingRanker give about [\d.]+ MB of {form}:"
        " aucrank.compress fits a smaller model that orders rows alike"
    )
    with pytest.warns(ExportSizeWarning, match=text):
        FORMS[form](model)


def test_sql_of_a_tree_and_of_a_card_raise_the_warning_too(monkeypatch):
    tree, _ = fitted_formula("stumps")
    card, _ = fitted_formula("card")
    monkeypatch.setattr(sizes, "_LARGE", 100)
    with pytest.warns(ExportSizeWarning, match=r"of this tree give about"):
        tree.tree_.to_sql()
    with pytest.warns(ExportSizeWarning, match=r"steps of this Scorecard give about"):
        card.to_sql()


@pytest.mark.filterwarnings("error::aucrank.ExportSizeWarning")
def test_no_form_of_a_small_model_raises_a_warning():
    model, _ = fitted_formula("gradient boosting")
    for write in FORMS.values():
        try:
            write(model)
        except ImportError:
            continue
