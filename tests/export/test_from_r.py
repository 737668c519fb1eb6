"""The C of the page about R scores rows as R passes them: column after column, by `.C`."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from aucrank import GradientBoostingRanker, IntegerScore
from numpy.testing import assert_array_equal

from tests.common.limits import HANG
from tests.common.paths import CHECKOUT

PAGE = CHECKOUT / "docs" / "from_r.md"
FLAGS = ["-O1", "-std=c99", "-Wall", "-Werror", "-ffp-contract=off", "-shared", "-fPIC"]


def last_block(language):
    """Return the last block of a language of the page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)[-1]


def patients():
    """Return rows with text, logicals and missing values, and whether the outcome was poor."""
    asah = pd.read_csv(CHECKOUT / "docs" / "data" / "asah.csv")
    rng = np.random.default_rng(0)
    side = rng.choice(["left", "right", "ü"], len(asah)).astype(object)
    side[5:30] = None
    X = asah.assign(side=side, flag=rng.random(len(asah)) < 0.5).drop(columns="outcome")
    X.loc[3:9, "ndka"] = np.nan
    return X, asah["outcome"] == "Poor"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_the_loop_over_rows_has_the_scores_of_the_model(tmp_path):
    X, y = patients()
    model = GradientBoostingRanker(n_rounds=10).fit(X, y)
    (tmp_path / "score.c").write_text(model.to_code("c"), encoding="ascii")
    (tmp_path / "score_rows.c").write_text(last_block("c"), encoding="ascii")
    command = ["gcc", *FLAGS, "score.c", "score_rows.c", "-o", "score.so", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=HANG)

    numbers = X.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    # R passes NA of text as "NA".
    texts = [b"NA" if v is None else str(v).encode() for name in X for v in X[name]]
    scores = np.empty(len(X))
    of_doubles = ctypes.POINTER(ctypes.c_double)
    by_column = np.asfortranarray(numbers)
    n_rows, n_columns = (ctypes.c_int(size) for size in X.shape)
    ctypes.CDLL(str(tmp_path / "score.so")).score_rows(
        by_column.ctypes.data_as(of_doubles),
        (ctypes.c_char_p * len(texts))(*texts),
        ctypes.byref(n_rows),
        ctypes.byref(n_columns),
        scores.ctypes.data_as(of_doubles),
    )
    assert_array_equal(scores, model.decision_function(X))


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_program_of_the_page_scores_in_r(tmp_path):
    shutil.copytree(CHECKOUT / "docs" / "data", tmp_path / "data")
    asah = pd.read_csv(tmp_path / "data" / "asah.csv")
    score = IntegerScore(max_features=2).fit(asah.drop(columns="outcome"), asah["outcome"])
    code = score.to_code("c", output="points")
    (tmp_path / "score.c").write_text(code, encoding="ascii")
    (tmp_path / "score_rows.c").write_text(last_block("c"), encoding="ascii")
    program = last_block("r")
    (tmp_path / "score.R").write_text(program, encoding="ascii")
    compiled = ["R", "CMD", "SHLIB", "score.c", "score_rows.c", "-o", "score.so"]
    subprocess.run(compiled, cwd=tmp_path, check=True, timeout=HANG, capture_output=True)
    run = ["Rscript", "score.R"]
    printed = subprocess.run(
        run, cwd=tmp_path, check=True, timeout=HANG, capture_output=True, text=True
    ).stdout
    assert printed.split()[1:] == program.rpartition("# ")[2].split()
