"""A fit by queries that was interrupted goes on from the answers that it has kept."""

import threading

import pytest
from aucrank import (
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    MartiRank,
    RankBoost,
    RankingForest,
    Scorecard,
    TreeRank,
)
from aucrank._utils.files import FileLock
from aucrank.data import Dataset
from aucrank.data._dask import DaskRows
from sklearn.base import clone

from tests.common.parts import FEATURES, mixed_rows, on_dask, write_parts

dask = pytest.importorskip("dask", reason="fits on the workers of dask, which is not installed")
distributed = pytest.importorskip("distributed", reason="fits on workers of distributed")
dd = pytest.importorskip("dask.dataframe", reason="reads data frames of dask")

ROWS = mixed_rows(600)

LEARNERS = {
    "tree": TreeRank(max_depth=3, random_state=0),
    "rank boost": RankBoost(n_rounds=4, early_stopping=True, random_state=0),
    "auc boost": AUCBoost(n_rounds=3, random_state=0),
    "marti": MartiRank(n_rounds=2, random_state=0),
    "booster": GradientBoostingRanker(n_rounds=4, max_leaves=6, random_state=0),
}

#: Whose holders keep what they were sent: a new one has to be sent all of it, in one more query.
SENDS_CHANGES = ("rank boost", "auc boost", "booster")


class CrashError(Exception):
    """The client ends in the middle of a fit."""


class Queries:
    """Queries that reach a cluster, up to a limit."""

    def __init__(self):
        self.most, self.n_sent = 10**6, 0

    def count(self, fit, most=10**6):
        self.most, self.n_sent = most, 0
        found = fit()
        return found, self.n_sent


@pytest.fixture(scope="module", autouse=True)
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def queries(monkeypatch):
    found, round_of = Queries(), DaskRows.round

    def limited(self, ask):
        if found.n_sent == found.most:
            raise CrashError
        found.n_sent += 1
        return round_of(self, ask)

    monkeypatch.setattr(DaskRows, "round", limited)
    return found


def cluster_of(rows=ROWS, **kwargs):
    return on_dask(dd.from_pandas(rows, npartitions=3), target="y", columns=FEATURES, **kwargs)


def in_memory(model, rows=ROWS, weight=None):
    return clone(model).fit(rows[FEATURES], rows["y"], weight)._to_document()


def crash(queries, model, dataset, most):
    with pytest.raises(CrashError):
        queries.count(lambda: clone(model).fit(dataset), most)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LEARNERS)
def test_a_fit_goes_on_where_it_was_interrupted(name, queries, tmp_path):
    model = LEARNERS[name]
    expected = in_memory(model)
    found, n_whole = queries.count(lambda: clone(model).fit(cluster_of()))
    assert found._to_document() == expected
    for most in (1, 2, n_whole // 2, n_whole):
        folder = tmp_path / str(most)
        # The first query checks which rows they are, and is repeated.
        crash(queries, model, cluster_of(checkpoint=folder), most)
        found, n_sent = queries.count(lambda to=folder: clone(model).fit(cluster_of(checkpoint=to)))
        assert found._to_document() == expected
        n_more = n_sent - (1 + n_whole - (most - 1))
        assert n_more in ((0, 1) if name in SENDS_CHANGES else (0,))
        # All answers are there.
        found, n_sent = queries.count(lambda to=folder: clone(model).fit(cluster_of(checkpoint=to)))
        assert (found._to_document(), n_sent) == (expected, 1)


def test_a_file_source_keeps_answers_too(tmp_path, capsys):
    write_parts(tmp_path, ROWS, [100, 400])
    model = clone(LEARNERS["booster"]).set_params(verbose=1)
    dataset = Dataset.from_parquet(
        tmp_path, target="y", columns=FEATURES, checkpoint=tmp_path / "kept" / "here"
    )
    assert "kept" in str(dataset.checkpoint)
    found = clone(model).fit(dataset)._to_document()
    assert found == in_memory(model)
    first = capsys.readouterr().out
    assert "0 answers taken from" in first
    assert clone(model).fit(dataset)._to_document() == found
    said = capsys.readouterr().out
    n_added = first.rpartition(" added to them")[0].rpartition(", ")[2]
    assert f"{n_added} answers taken from {str(dataset.checkpoint)!r}, 0 added" in said


def test_other_threads_lines_and_limits_of_time_change_no_question(queries, tmp_path):
    # Bags of a booster report eight rounds at a time, after which a fit may end.
    model = GradientBoostingRanker(
        n_rounds=10, n_bags=2, max_leaves=4, early_stopping=False, random_state=0
    )
    dataset = cluster_of(checkpoint=tmp_path)
    ended = clone(model).set_params(time_limit=1e-3, n_jobs=1).fit(dataset)
    longer = clone(model).set_params(time_limit=1e6, n_jobs=2, verbose=2)
    found, n_sent = queries.count(lambda: clone(longer).fit(dataset))
    whole, n_whole = queries.count(lambda: clone(model).fit(cluster_of()))
    assert 1 < n_sent < n_whole
    assert len(list(tmp_path.iterdir())) == 1
    assert ended._model.n_rounds < whole._model.n_rounds
    assert found.set_params(**model.get_params())._to_document() == whole._to_document()


def test_fits_of_other_parameters_have_other_files(queries, tmp_path):
    model = LEARNERS["tree"]
    dataset = cluster_of(checkpoint=tmp_path)
    grid = [clone(model).set_params(max_depth=depth) for depth in (2, 3)]
    grid += [clone(model).set_params(random_state=1), LEARNERS["marti"]]
    grid += [clone(model).set_params(class_weight="balanced")]
    expected = [in_memory(one) for one in grid]
    assert [clone(one).fit(dataset)._to_document() for one in grid] == expected
    files = list(tmp_path.iterdir())
    assert len(files) == len(grid)
    assert sum(file.name.startswith("TreeRank-") for file in files) == len(grid) - 1
    for one, document in zip(grid, expected, strict=True):
        found, n_sent = queries.count(lambda one=one: clone(one).fit(dataset))
        assert (found._to_document(), n_sent) == (document, 1)


def test_other_columns_of_the_same_rows_have_other_files(tmp_path):
    model = LEARNERS["tree"]
    clone(model).fit(cluster_of(checkpoint=tmp_path))
    fewer = on_dask(
        dd.from_pandas(ROWS, npartitions=3), target="y", columns=FEATURES[:3], checkpoint=tmp_path
    )
    clone(model).fit(fewer)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.filterwarnings("ignore")
def test_two_fits_at_once_keep_answers_apart(tmp_path):
    model, found = LEARNERS["auc boost"], []
    dataset = cluster_of(checkpoint=tmp_path)
    begin = threading.Barrier(3)

    def fit(one):
        begin.wait()
        found.append(clone(one).fit(dataset)._to_document())

    threads = [threading.Thread(target=fit, args=(one,)) for one in (model, model, model)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [in_memory(model)] * 3
    assert clone(model).fit(dataset)._to_document() == found[0]


def test_a_locked_file_is_left_to_its_fit(queries, tmp_path):
    model = LEARNERS["tree"]
    dataset = cluster_of(checkpoint=tmp_path)
    _, n_whole = queries.count(lambda: clone(model).fit(dataset))
    [first] = tmp_path.iterdir()
    before = first.read_bytes()
    lock = FileLock(first)
    assert lock.is_held
    assert not FileLock(first).is_held
    found, n_sent = queries.count(lambda: clone(model).fit(dataset))
    lock.release()
    lock.release()
    assert n_sent == n_whole
    assert first.read_bytes() == before
    [second] = set(tmp_path.iterdir()) - {first}
    assert second.read_bytes() == before
    assert found._to_document() == in_memory(model)
    again = FileLock(first)
    assert again.is_held
    again.release()


def test_answers_of_other_rows_are_an_error(tmp_path):
    model = LEARNERS["tree"]
    clone(model).fit(cluster_of(checkpoint=tmp_path))
    [file] = tmp_path.iterdir()
    before = file.read_bytes()
    other = ROWS.assign(x=ROWS["x"].to_numpy()[::-1])
    with pytest.raises(ValueError, match=f"{file.name}: these are answers of other rows"):
        clone(model).fit(cluster_of(other, checkpoint=tmp_path))
    assert file.read_bytes() == before


def test_a_damaged_file_is_an_error(queries, tmp_path):
    model = LEARNERS["tree"]
    dataset = cluster_of(checkpoint=tmp_path)
    clone(model).fit(dataset)
    [file] = tmp_path.iterdir()
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match=f"{file.name}: the file is damaged: delete it"):
        clone(model).fit(dataset)
    file.unlink()
    file.mkdir()
    with pytest.raises(OSError, match=file.name):
        clone(model).fit(dataset)


def test_a_fit_without_a_seed_cannot_go_on(tmp_path):
    dataset = cluster_of(checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"draws another seed.*let random_state be a number"):
        TreeRank(max_depth=2).fit(dataset)
    assert not list(tmp_path.iterdir())
    Scorecard(estimator=RankBoost(n_rounds=2, random_state=0)).fit(dataset)
    Scorecard(estimator=RankBoost(n_rounds=2), random_state=0).fit(dataset)
    assert all(file.name.startswith("RankBoost-") for file in tmp_path.iterdir())


def test_nothing_is_kept_of_fits_that_query_no_rows(tmp_path):
    folder = tmp_path / "kept"
    collected = Dataset.from_dask(
        dd.from_pandas(ROWS, npartitions=3), target="y", columns=FEATURES, checkpoint=folder
    )
    clone(LEARNERS["tree"]).fit(collected)
    RIMARC().fit(cluster_of(checkpoint=folder))
    RankingForest(n_estimators=2).fit(cluster_of(checkpoint=folder))
    assert not folder.exists()


def test_a_checkpoint_that_is_a_file_is_rejected(tmp_path):
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(NotADirectoryError, match="checkpoint is not a folder"):
        cluster_of(checkpoint=path)
