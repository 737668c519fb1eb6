"""``aucrank fit --memory`` keeps to the memory that it is given, for every estimator."""

import subprocess
import sys

import pytest
from aucrank._base.registry import public_estimators

from benches.speed.bench_datasets import make_rows
from benches.speed.bench_folder import make_folder
from tests.common.limits import HANG
from tests.common.memory import usual_heap

pytest.importorskip("pyarrow")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")

N_COLUMNS = 20

#: Peak memory over the limit.
MOST = 1.2

#: Rounds, trees and terms are fitted one after another: more take longer, but no more memory.
FEWER = {
    "AURORA": ["max_features=4", "order=1", "depth=shallow", "radius=1.5"],
    "MartiRank": ["n_rounds=2"],
    "RankBoost": ["n_rounds=5"],
    "RankingForest": ["min_samples_leaf=100"],
}

#: Estimators that hold the same of their rows as another: features in rounds, nodes of a program,
#: and terms of a sample.
ALIKE = {"AUCBoost": "RankBoost", "SMartiRank": "MartiRank", "RankOpt": "AURORA"}

SCRIPT = """
import sys
from aucrank.boosting import GradientBoostingRanker
from aucrank.cli import main
from aucrank.tree import RankingForest

def few(cls, name):
    of_core = cls._core_params
    cls._core_params = lambda *args: {**of_core(*args), name: 1}

# Also those of a card or an ensemble.
few(GradientBoostingRanker, "n_rounds")
few(RankingForest, "n_trees")
status = main(sys.argv[1:])
peak = open("/proc/self/status").read().partition("VmHWM:")[2].split()[0]
print("peak", 1024 * int(peak))
sys.exit(status)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    assert make_folder(folder, 0.161, N_COLUMNS)[0] == 1_000_000
    return folder


def fit(name, path, memory):
    """Fit an estimator in a process of its own; return its peak memory, and what it printed."""
    params = [word for param in FEWER.get(name, []) for word in ("--param", param)]
    command = [sys.executable, "-P", "-c", SCRIPT, "fit", path, "--target", "y", "--model", name]
    command += [*params, "--memory", memory, "--no-readable", "--output", path.with_suffix(".json")]
    done = subprocess.run(
        command, env=usual_heap(), capture_output=True, text=True, timeout=HANG, check=False
    )
    assert done.returncode == 0, done.stderr
    said, _, peak = done.stdout.rpartition("peak ")
    return int(peak), said


@pytest.mark.parametrize("name", [name for name in public_estimators() if name not in ALIKE])
def test_a_fit_to_a_folder_stays_within_the_limit(name, folder):
    # Read at once, these rows take 690 MB and more.
    peak, said = fit(name, folder, "550MB")
    assert peak <= MOST * 550e6
    assert "read a piece at a time" in said


@pytest.mark.parametrize("name", ["Scorecard", "RankingEnsemble"])
def test_a_fit_to_a_file_stays_within_the_limit(name, tmp_path):
    # These fits take the most memory of all to rows that are read at once.
    path = tmp_path / "rows.parquet"
    make_rows(400_000, N_COLUMNS, 0).to_parquet(path, compression=None, use_dictionary=False)
    peak, said = fit(name, path, "700MB")
    assert peak <= MOST * 700e6
    assert "read a piece at a time" not in said
