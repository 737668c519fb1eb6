"""The two harnesses of `fuzz/`: they draw from everything that is public."""

import json
import subprocess
import sys

import aucrank
import numpy as np
import pytest
from aucrank._base import registry as _registry

from tests.common.limits import HANG
from tests.common.paths import CHECKOUT

FUZZ = CHECKOUT / "fuzz"
CORPUS = sorted((FUZZ / "corpus").glob("*.json"))

pytestmark = pytest.mark.skipif(not FUZZ.is_dir(), reason="needs the checkout: there is no fuzz/")


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_models_of_the_corpus_are_unchanged(path, tmp_path):
    model = aucrank.load(path)
    model.save(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text("utf-8")) == json.loads(
        path.read_text("utf-8")
    )
    importances = getattr(model, "feature_importances_", None)
    assert importances is None or np.isfinite(importances).all()


def test_the_corpus_is_small_and_contains_every_estimator():
    names = {
        json.loads(path.read_text("utf-8"))["body"]["header"]["estimator"]["class"]
        for path in CORPUS
    }
    savable = {name for name in _registry.public_names() if _registry.is_savable(name)}
    assert names == savable | _registry.MADE.keys()
    assert sum(path.stat().st_size for path in CORPUS) < 300_000


def run(code, *args):
    return subprocess.run(
        [sys.executable, *args, "-c", code],
        capture_output=True,
        text=True,
        cwd=FUZZ,
        check=False,
        timeout=HANG,
    )


def test_every_estimator_and_parameter_is_drawn():
    code = """
from aucrank._base import registry as _registry
from draw_params import PARAMS, missing_params

savable = [name for name in _registry.public_names() if _registry.is_savable(name)]
assert set(PARAMS) == set(savable), set(PARAMS) ^ set(savable)
assert not missing_params(), missing_params()
"""
    result = run(code)
    assert result.returncode == 0, result.stderr


def test_a_seed_determines_a_fuzz_case():
    # In separate interpreters, each with its own order of sets.
    code = """
import numpy as np
from check_fits import draw_fit
from check_metrics import draw_metrics

for draw in (draw_metrics, draw_fit):
    abouts = [draw(np.random.default_rng([3, case]))[1] for case in (4, 4, 5)]
    assert abouts[0] == abouts[1] != abouts[2], abouts
    print(abouts)
"""
    first, second = run(code), run(code)
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
