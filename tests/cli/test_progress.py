"""Progress of long work, on terminals and elsewhere."""

import io
import sys
from argparse import Namespace

import pytest
from aucrank import GradientBoostingRanker
from aucrank._base import fit_progress
from aucrank._base.fit_progress import heard_by
from aucrank.cli import _progress
from aucrank.cli._notes import Notes
from aucrank.cli._progress import fit_shown, progress
from aucrank.datasets import load_breast_cancer

from tests.common.command_line import TREE, loans, ok, run

ON_A_TERMINAL = Namespace(progress=None, quiet=False, notes=Notes())


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""
    now = [100.0]
    monkeypatch.setattr(_progress, "perf_counter", lambda: now[0])
    return now


def test_a_listener_is_called_for_each_part_of_a_fit_and_changes_nothing():
    X, y = load_breast_cancer(return_X_y=True)
    params = {"early_stopping": False, "n_rounds": 5, "random_state": 0}
    heard = []
    ranker = GradientBoostingRanker(**params)
    with heard_by(lambda estimator, *part: heard.append((estimator is ranker, *part))):
        ranker.fit(X, y)
    own = [part for is_own, *part in heard if is_own]
    assert [part for part in own if part[0] == "round"] == [["round", k, 5] for k in range(1, 6)]
    alone = GradientBoostingRanker(**params).fit(X, y)
    assert (alone.decision_function(X) == ranker.decision_function(X)).all()
    n_heard = len(heard)
    alone.fit(X, y)
    assert len(heard) == n_heard


def test_a_terminal_shows_a_bar_and_the_time_left_and_is_left_clean(monkeypatch, clock):
    monkeypatch.setattr("sys.stderr", Terminal())
    whole, inner = object(), GradientBoostingRanker()
    with (
        progress(ON_A_TERMINAL) as say,
        fit_shown(say, whole, "fitting"),
    ):
        tell = fit_progress._listener.get()
        clock[0] += 4
        tell(whole, "member", 1, 4)
        clock[0] += 1
        tell(inner, "round", 3, None)
    shown = [text.strip() for text in sys.stderr.getvalue().split("\r")]
    bar = "[#####---------------]"
    of_member = f"fitting: {bar} member 1 of 4, up to 12 s left"
    assert shown[1:3] == ["fitting", of_member]
    assert shown[3].startswith(f"{of_member}; Gradient")
    assert shown[-2:] == ["", ""]


def test_rounds_that_may_stop_early_have_no_time_left(monkeypatch, clock):
    monkeypatch.setattr("sys.stderr", Terminal())
    whole = GradientBoostingRanker()
    with (
        progress(ON_A_TERMINAL) as say,
        fit_shown(say, whole, "fitting"),
    ):
        tell = fit_progress._listener.get()
        clock[0] += 4
        tell(whole, "round", 3, 4000)
    assert "\rfitting: round 3 of at most 4000" in sys.stderr.getvalue()
    assert "left" not in sys.stderr.getvalue()


@pytest.mark.parametrize(
    ("options", "terminal", "lines"),
    [
        ({"progress": None, "quiet": False}, False, 0),
        ({"progress": True, "quiet": False}, False, 2),
        ({"progress": True, "quiet": True}, False, 0),
        ({"progress": None, "quiet": True}, True, 0),
        ({"progress": False, "quiet": False}, True, 0),
    ],
)
def test_without_a_terminal_there_are_occasional_lines_on_request(
    options, terminal, lines, monkeypatch, clock
):
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    with progress(Namespace(**options, notes=Notes())) as say:
        for second in range(12):
            say(f"second {second}")
            clock[0] += 1
    expected = ["aucrank: second 0", "aucrank: second 10"][:lines]
    assert stream.getvalue().splitlines() == expected


def test_commands_show_progress_only_on_request(capsys):
    rows = loans()
    rows["id"] = range(1000, 1000 + len(rows))
    rows.to_csv("loans.csv", index=False)
    fit = ["fit", *TREE, "loans.csv", "--target", "bad", "-o", "model.json"]
    _, _, err = run(capsys, *fit)
    assert "fitting" not in err
    assert "note: " in err
    assert ok(capsys, *fit, "--quiet")
    _, _, err = run(capsys, *fit, "--progress")
    assert "aucrank: fitting TreeRank" in err
    report = ["report", "model.json", "loans.csv", "--target", "bad", "-q"]
    assert ok(capsys, *report)
    _, _, err = run(capsys, *report[:-1], "--progress")
    assert "aucrank: reading loans.csv" in err
