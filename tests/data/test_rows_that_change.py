"""A source with other rows in a later pass of a fit raises an error, never another model."""

import numpy as np
import polars as pl
import pytest
from aucrank import RIMARC, GradientBoostingRanker, LinearRanker, RankingForest, TreeRank
from aucrank.data import DataChangedError, Dataset
from aucrank.data._engine import LocalEngine
from sklearn.base import clone

from tests.common.parts import FEATURES, mixed_rows, write_parts

ROWS = mixed_rows(400)
ROW = int(np.flatnonzero(ROWS["x"].notna() & (ROWS["colour"] == "blue"))[0])
TREE = TreeRank(max_depth=3, pruning=None, random_state=0)


def changed(**columns):
    return ROWS.assign(**columns)


def with_value(name, value):
    rows = ROWS.copy()
    rows.loc[ROW, name] = value
    return rows


CHANGES = {
    "fewer rows": (ROWS[:-1], "gave 399 rows, but 400 before"),
    "flipped labels": (
        changed(y=ROWS["y"].map({"yes": "no", "no": "yes"})),
        "gave other labels or weights than before",
    ),
    "other weights": (changed(w=ROWS["w"] + 1), "gave other labels or weights than before"),
    "a number": (with_value("x", 0.123), "gave other values than before"),
    "a missing number": (with_value("x", np.nan), "gave other values than before"),
    "a category": (with_value("colour", "red"), "gave other values than before"),
    "values of other rows": (
        changed(count=ROWS["count"].to_numpy()[::-1]),
        "gave other values than before",
    ),
}
assert ROWS.loc[ROW, "colour"] not in ("red", None)


class Moody:
    """Returns the rows above, and other ones from some pass on."""

    def __init__(self, later, from_pass):
        self.later, self.from_pass, self.n_passes = later, from_pass, 0

    def __call__(self):
        self.n_passes += 1
        rows = self.later if self.n_passes >= self.from_pass else ROWS
        yield from (rows[:150], rows[150:])


@pytest.mark.parametrize("from_pass", [3, 4])
@pytest.mark.parametrize(("later", "said"), CHANGES.values(), ids=CHANGES)
def test_a_function_that_returns_other_rows_is_named_in_the_error(later, said, from_pass):
    # The first call only reads the columns.
    source = Moody(later, from_pass)
    dataset = Dataset.from_batches(source, target="y", weight="w", columns=FEATURES)
    with pytest.raises(DataChangedError, match=said):
        clone(TREE).fit(dataset)
    assert source.n_passes >= from_pass


@pytest.mark.parametrize(
    "model",
    [
        RIMARC(),
        LinearRanker(),
        GradientBoostingRanker(n_rounds=2, random_state=0),
        RankingForest(n_estimators=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_way_to_fit_detects_changed_values(model):
    later = CHANGES["a number"][0]
    dataset = Dataset.from_batches(Moody(later, 3), target="y", columns=FEATURES)
    with pytest.raises(DataChangedError, match="gave other values than before"):
        clone(model).fit(dataset)


def test_a_query_that_returns_other_rows_is_named_in_the_error(tmp_path, monkeypatch):
    path = tmp_path / "rows.parquet"
    ROWS.to_parquet(path)
    dataset = Dataset.from_batches(pl.scan_parquet(path), target="y", columns=FEATURES)
    frame = LocalEngine.frame

    def then_change(*args):
        found = frame(*args)
        CHANGES["a number"][0].to_parquet(path)
        return found

    monkeypatch.setattr(LocalEngine, "frame", then_change)
    with pytest.raises(DataChangedError, match="gave other values than before"):
        clone(TREE).fit(dataset)


def test_rows_in_another_order_and_other_pieces_are_accepted():
    def shuffled():
        rows = ROWS.sample(frac=1, random_state=rng)
        cut = rng.randint(1, 399)
        yield from (rows[:cut], rows[cut:])

    rng = np.random.RandomState(0)
    dataset = Dataset.from_batches(shuffled, target="y", weight="w", columns=FEATURES)
    expected = clone(TREE).fit(ROWS[FEATURES], ROWS["y"], ROWS["w"])
    assert clone(TREE).fit(dataset)._to_document() == expected._to_document()


@pytest.mark.parametrize("change", ["flipped labels", "a number", "fewer rows"])
def test_a_changed_file_is_named_in_the_error(change, tmp_path, monkeypatch):
    paths = write_parts(tmp_path, ROWS, [200])
    dataset = Dataset.from_parquet(paths, target="y", columns=FEATURES)
    facts = Dataset.facts

    def then_change(self, *args, **kwargs):
        found = facts(self, *args, **kwargs)
        write_parts(tmp_path, CHANGES[change][0], [200])
        return found

    monkeypatch.setattr(Dataset, "facts", then_change)
    with pytest.raises(DataChangedError, match=r"part-0\d\.parquet has changed"):
        clone(TREE).fit(dataset)
