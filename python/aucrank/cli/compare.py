"""`aucrank compare`: cross-validate our rankers and those of other packages on the same folds."""

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from aucrank._compare.contestants import choose
from aucrank._compare.facts import LeaderboardFacts, auc_of_latest, mean_of
from aucrank._compare.of_dataset import MOST_ROWS
from aucrank._compare.outcome import FoldResult, Outcome
from aucrank._compare.page import write_page
from aucrank._compare.peers import PEERS
from aucrank._compare.request import Request, read_request
from aucrank._compare.standings import Standing
from aucrank._data.csv_text import csv_text
from aucrank._page.page import import_jinja
from aucrank._utils.files import write_atomically
from aucrank._utils.words import listed, plural
from aucrank.cli._data import count_kinds, text_of
from aucrank.cli._errors import (
    DataError,
    UsageError,
    complain,
    plain_errors,
    writable,
)
from aucrank.cli._labelled import LabelledFrame, open_labelled
from aucrank.cli._progress import progress
from aucrank.cli._stream import stream_errors
from aucrank.cli._text import aligned, hanging
from aucrank.metrics._inference import check_confidence


def run(args: argparse.Namespace) -> int:
    """Cross-validate, print, and report failure if a model failed."""
    outputs = {
        kind: None if path is None else writable(path)
        for kind, path in (("json", args.json), ("csv", args.csv), ("report", args.report))
    }
    if args.resume is not None:
        writable(args.resume)
    if args.report is not None:
        try:
            import_jinja()
        except ImportError as error:
            raise DataError(str(error)) from error
    _check_names(args)

    with progress(args) as say:
        opened = open_labelled(args, say)
        most = MOST_ROWS if args.max_rows is None else args.max_rows
        with stream_errors(f"cannot compare on {args.data}"):
            data = opened.some(most, args.n_jobs)
    data = _sample(data, args.max_rows, args.random_state)
    smaller = min(data.n_positive, len(data.X) - data.n_positive)
    if smaller < args.folds:
        raise DataError(
            f"the smaller class has {plural(smaller, 'row')}, so there is none for each of "
            f"{args.folds} folds: use more rows, or fewer --folds"
        )
    request = _request(args, data)
    sampled = "" if len(data.X) == opened.shape[0] else f" (a sample of {opened.shape[0]:,})"
    print(f"data    {args.data}: {plural(len(data.X), 'row')}{sampled}, {count_kinds(data.X)}")
    print(f"target  {data.say()}")
    print(f"folds   {request.folds.says}; the same for all models")
    if args.time is not None:
        print("latest  AUC of the latest range, of models that were fitted to earlier rows alone")
    for reason, left_out in request.chosen.left_out.items():
        more = "; --models all compares all" if reason.startswith("slow") else ""
        print(hanging(f"without {listed(left_out)}: {reason}{more}", 8))
    with plain_errors(
        "cannot resume" if args.resume is None else f"cannot resume from {args.resume}"
    ):
        store = request.open_store(args.resume)

    outcomes: list[Outcome] = []
    interrupted = False
    with progress(args) as say:
        try:
            request.run(outcomes, store, _shown_when_it_begins(say))
        except KeyboardInterrupt:
            if not any(outcome.in_order for outcome in outcomes):
                # Nothing to show, and nothing that should replace an older report.
                raise
            interrupted = True
    labels = text_of(data.labels[0]), text_of(data.labels[1])
    facts = request.facts(outcomes, store, labels)
    _write(outputs, args, data, facts)
    print()
    print(_leaderboard(facts))
    for note in [] if store is None else store.says():
        print(hanging(note, 0))
    failed = [outcome for outcome in facts.others if outcome.error is not None]
    for outcome in failed:
        complain(f"error: {outcome.model} failed: {outcome.error}")
    if interrupted:
        # The results so far are shown; the status is that of any interrupt.
        raise KeyboardInterrupt
    return 1 if failed else 0


def _check_names(args: argparse.Namespace) -> None:
    """Raise if a requested model does not exist, or is not installed."""
    try:
        choose(_models(args), args.peers, 0)
        check_confidence(args.confidence)
    except ImportError as error:
        raise DataError(str(error)) from error
    except ValueError as error:
        raise UsageError(str(error)) from error
    if args.peers is False:
        for name in [name for name in args.models or () if name in PEERS]:
            raise UsageError(f"--models names {name}, and --no-peers leaves it out")


def _models(args: argparse.Namespace) -> list[str] | None:
    return list(args.models) if args.models else None


def _request(args: argparse.Namespace, data: LabelledFrame) -> Request:
    with plain_errors(f"cannot compare on {args.data}"):
        return read_request(
            data.X.to_native(),
            data.y,
            models=_models(args),
            peers=args.peers,
            cv=args.folds,
            n_repeats=args.repeats,
            sample_weight=data.weight,
            groups=data.groups,
            time=data.time,
            gap=_gap(args, data),
            confidence=args.confidence,
            time_limit=args.time_limit,
            peer_time_limit=args.peer_time_limit,
            parallel=args.parallel,
            n_jobs=args.n_jobs,
            random_state=args.random_state,
            are_groups_timed=args.group is not None and args.time is not None,
        )


def _gap(args: argparse.Namespace, data: LabelledFrame) -> float | timedelta | None:
    """Return the distance of ranges of time, which are days if times are dates."""
    gap: float | None = args.gap
    if gap is None or data.time is None or data.time.dtype.kind != "M":
        return gap
    return timedelta(days=gap)


def _shown_when_it_begins(say: Callable[[str], None]) -> Callable[[str, str], None]:
    return lambda kind, text: say(text) if kind == "begins" else None


def _sample(data: LabelledFrame, max_rows: int | None, seed: int) -> LabelledFrame:
    if max_rows is None or len(data.X) <= max_rows:
        return data
    with plain_errors(f"cannot draw {max_rows:,} rows"):
        kept, _ = train_test_split(
            np.arange(len(data.X)),
            train_size=max_rows,
            stratify=data.is_positive,
            random_state=seed,
        )
    kept.sort()
    weight = None if data.weight is None else data.weight[kept]
    return replace(
        data,
        X=data.X[kept],
        is_positive=data.is_positive[kept],
        weight=weight,
        groups=None if data.groups is None else data.groups[kept],
        time=None if data.time is None else data.time[kept],
    )


def _write(
    outputs: dict[str, Path | None],
    args: argparse.Namespace,
    data: LabelledFrame,
    facts: LeaderboardFacts,
) -> None:
    """Write the requested files."""
    make: dict[str, Callable[[], str]] = {
        "json": lambda: _as_json(args, data, facts),
        "csv": lambda: _as_csv(facts),
        "report": lambda: write_page(
            facts, f"How models rank {Path(args.data).name}", datetime.now().astimezone()
        ),
    }
    for kind, path in outputs.items():
        if path is not None:
            with plain_errors(f"cannot write {path}"):
                write_atomically(path, make[kind]())


def _table(facts: LeaderboardFacts) -> dict[str, list[Any]]:
    """Return the columns of the leaderboard, for models that completed all folds."""
    ranked = facts.standings
    latest = {"latest": [*map(auc_of_latest, ranked)]} if facts.is_by_time else {}
    return {
        "rank": list(range(1, len(ranked) + 1)),
        "model": [standing.outcome.label for standing in ranked],
        "AUC": [standing.interval.auc for standing in ranked],
        "low": [standing.interval.low for standing in ranked],
        "high": [standing.interval.high for standing in ranked],
        **latest,
        "fit s": [mean_of(standing.outcome, lambda fold: fold.fit_seconds) for standing in ranked],
        "score s": [
            mean_of(standing.outcome, lambda fold: fold.score_seconds) for standing in ranked
        ],
        "size bytes": _mean_count(facts, lambda fold: fold.n_bytes),
    }


def _differences(facts: LeaderboardFacts) -> dict[str, list[Any]]:
    """Return the difference of each model to the best, and its number of rules."""
    ranked = facts.standings
    tests = [standing.behind for standing in ranked]
    return {
        "difference": [None if test is None else test.difference for test in tests],
        "from": [None if test is None else test.low for test in tests],
        "to": [None if test is None else test.high for test in tests],
        "p": [None if np.isnan(standing.p_value) else standing.p_value for standing in ranked],
        "rules": _mean_count(facts, lambda fold: fold.n_rules),
    }


def _mean_count(
    facts: LeaderboardFacts, count: Callable[[FoldResult], int | None]
) -> list[int | None]:
    means = [mean_of(standing.outcome, count) for standing in facts.standings]
    return [None if np.isnan(mean) else round(mean) for mean in means]


def _as_csv(facts: LeaderboardFacts) -> str:
    """Return the leaderboard, and the status of the other models, for a spreadsheet."""
    table = _table(facts) | _differences(facts)
    rows = [[*row, None] for row in zip(*table.values(), strict=True)]
    empty = [None] * (len(table) - 2)
    rows += [[None, other.label, *empty, other.error or other.unfinished] for other in facts.others]
    return "\ufeff" + csv_text([*table, "error"], rows, excel=True)


def _leaderboard(facts: LeaderboardFacts) -> str:
    table = _table(facts)
    parts = [aligned(table)]
    if len(facts.standings) > 1:
        best = facts.standings[0].outcome.label
        said = (
            f"AUC less that of {best}, on the same rows, with its interval; both it and p are"
            f" adjusted for {plural(facts.n_pairs, 'pair')} of models (Bonferroni):"
        )
        behind = {"rank": table["rank"], "model": table["model"]} | _differences(facts)
        parts += ["", hanging(said, 0), aligned(behind)]
    parts += [hanging(f"   -  {other.label}  {other.unfinished}", 6) for other in facts.others]
    return "\n".join(parts)


def _as_json(args: argparse.Namespace, data: LabelledFrame, facts: LeaderboardFacts) -> str:
    """Return all data of the leaderboard."""
    return json.dumps(
        {
            "data": args.data,
            "target": args.target,
            "positive": data.positive,
            "n_rows": facts.n_rows,
            "n_positive": facts.n_positive,
            "folds": args.folds,
            "gap": args.gap,
            "repeats": args.repeats,
            "random_state": args.random_state,
            "confidence": facts.confidence,
            "notes": facts.notes,
            "models": [
                *map(_ranked_as_json, facts.standings),
                *(_outcome_as_json(other) | _UNRANKED for other in facts.others),
            ],
        },
        indent=2,
    )


_UNRANKED: dict[str, Any] = {
    "auc_mean": None,
    "auc_sd": None,
    "auc_low": None,
    "auc_high": None,
    "auc": [],
    "difference": None,
    "p_value": None,
}


def _ranked_as_json(standing: Standing) -> dict[str, Any]:
    return _outcome_as_json(standing.outcome) | {
        "auc_mean": standing.interval.auc,
        "auc_sd": float(np.std(standing.of_folds, ddof=1)),
        "auc_low": standing.interval.low,
        "auc_high": standing.interval.high,
        "auc": standing.of_folds.tolist(),
        "difference": standing.difference,
        "p_value": None if np.isnan(standing.p_value) else standing.p_value,
    }


def _outcome_as_json(outcome: Outcome) -> dict[str, Any]:
    done = outcome.in_order
    return {
        "model": outcome.model,
        "package": outcome.package,
        "error": None if outcome.is_complete else outcome.error or outcome.unfinished,
        "fit_seconds": [fold.fit_seconds for fold in done],
        "score_seconds": [fold.score_seconds for fold in done],
        "n_bytes": [fold.n_bytes for fold in done],
        "n_rules": [fold.n_rules for fold in done],
    }
