"""`aucrank report`: a page about saved models, or scores of a file, on labelled rows."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from aucrank._data.csv_form import CsvOptions
from aucrank._data.reading import Fitted, Reading
from aucrank._page.page import import_jinja
from aucrank._report.document import Report, make_report
from aucrank._report.options import Options, read_options
from aucrank._report.rows import UserRows
from aucrank._report.subjects import DataTable, FittedModel, GivenScores, Target
from aucrank._utils.plain_text import shown
from aucrank._utils.words import listed, plural
from aucrank.cli._csv import STDIN, csv_options
from aucrank.cli._data import WholeFile, as_categories, need_column, read_file
from aucrank.cli._errors import DataError, UsageError, plain_errors, writable
from aucrank.cli._model import (
    SavedModel,
    features_for,
    load_ranker,
    positive_rows,
    target_of,
    text_columns,
)
from aucrank.cli._parts import (
    check_parts,
    named_parts,
    say_features,
    target_of_rows,
    text_of_parts,
)
from aucrank.cli._progress import Say, progress
from aucrank.cli._scores import check_scores, named_scores, read_scores, scores_in
from aucrank.cli._target import BLANKS, with_plain_labels


def run(args: argparse.Namespace) -> int:
    """Measure, and write the page."""
    try:
        import_jinja()
    except ImportError as error:
        raise DataError(str(error)) from error
    try:
        options = read_options(
            confidence=args.confidence,
            max_fpr=args.max_fpr,
            costs=args.costs
            and dict(zip(("false_positive", "false_negative"), args.costs, strict=True)),
            grades=args.grades,
            random_state=args.random_state,
            title=args.title,
            timestamp=datetime.now().astimezone(),
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
    out = writable(args.output if args.output is not None else _default_out(args.data))
    paths = [*([] if args.model is None else [args.model]), *args.against]
    names = _names(paths)
    check_scores(args, names)
    models = [load_ranker(path) for path in paths]
    if models:
        args.target = target_of(models[0], args.target)
    check_parts(args)
    if options.title is None:
        options = replace(options, title=_title(args, models, names))
    with progress(args) as say:
        made = _made(args, models, names, options, say)
    with plain_errors(f"cannot write {out}"):
        made.save(out)
    print(shown(made.one_line))
    for line in say_features(args, models):
        print(line)
    print(f"wrote {shown(out)} ({len(made.html.encode()):,} bytes)")
    return 0


def _title(args: argparse.Namespace, models: Sequence[SavedModel], names: Sequence[str]) -> str:
    """Return the heading of the page: what is compared, and on which rows."""
    kinds = [f"{name} ({model.class_name})" for name, model in zip(names, models, strict=True)]
    kinds += list(named_scores(args))
    data = "the standard input" if args.data == STDIN else Path(args.data).name
    verb = "ranks" if len(kinds) == 1 else "rank"
    return f"How {listed(kinds)} {verb} the rows of {data} by {args.target}"


def _made(
    args: argparse.Namespace,
    models: Sequence[SavedModel],
    names: Sequence[str],
    options: Options,
    say: Say,
) -> Report:
    """Read the rows and create the report."""
    say(f"reading {args.data}")
    sources: dict[str, FittedModel | GivenScores] = {}
    table = None
    if models:
        data = _Files(args.data, csv_options(args), args)
        target = _target(models, data, args)
        train = None if args.train is None else _Files(args.train, csv_options(args), args)
        tables: dict[tuple[int, int], DataTable] = {}
        for name, model in zip(names, models, strict=True):
            rows, training = data.rows(model), None if train is None else train.rows(model)
            of_model = tables.setdefault((id(rows), id(training)), DataTable(rows, training))
            sources[name] = FittedModel(model.estimator, of_model)
        first = models[0]
        earlier = None if train is None else WholeFile(*train.read(first))
        given = scores_in(WholeFile(*data.read(first)), args, earlier)
    else:
        earlier = None
        if args.train is not None:
            text = text_of_parts(args)
            earlier = WholeFile(*read_file(args.train, text=text, options=csv_options(args)))
        given, target, _, file = read_scores(args, say, earlier)
        table = _other_columns(file, earlier, args)
    say(f"measuring {listed([*names, *given])} on {plural(len(target.positive), 'row')}")
    with plain_errors(f"cannot report on {args.data}"):
        return make_report({**sources, **given}, target, options, table)


def _other_columns(
    file: WholeFile, earlier: WholeFile | None, args: argparse.Namespace
) -> DataTable | None:
    """Return the columns of a file without a role, compared with earlier ones; None without any."""
    roles = {args.target, args.weight, *named_scores(args)}
    roles.update(name for names in named_parts(args).values() for name in names)
    names = [name for name in file.names if name not in roles]
    if not names:
        return None
    frames = [file.frame]
    # Without one of the columns, an earlier file has but the scores to compare with.
    if earlier is not None and set(names) <= set(earlier.names):
        frames.append(earlier.frame)
    rows, *training = (UserRows(as_categories(frame.select(names)).to_native()) for frame in frames)
    return DataTable(rows, *training)


class _Files:
    """A data file as read by several models, once for each distinct way."""

    def __init__(self, path: str, options: CsvOptions, args: argparse.Namespace) -> None:
        self.path = path
        self._options = options
        self._args = args
        self._frames: list[tuple[frozenset[str], Fitted, nw.DataFrame[Any], Reading]] = []
        self._rows: dict[tuple[Any, ...], UserRows] = {}

    def frame(self, model: SavedModel) -> nw.DataFrame[Any]:
        """Read the file in the form of the model."""
        return self.read(model)[0]

    def read(self, model: SavedModel) -> tuple[nw.DataFrame[Any], Reading]:
        """Read the file in the form of the model; return how it was read, too."""
        text = frozenset([*text_columns(model), *text_of_parts(self._args, model)])
        fitted = model.fitted
        for known_text, known, frame, reading in self._frames:
            if (known_text, known.reading) == (text, fitted.reading):
                return frame, reading
        frame, reading = read_file(self.path, text=text, options=self._options, fitted=fitted)
        self._frames.append((text, fitted, frame, reading))
        return frame, reading

    def rows(self, model: SavedModel) -> UserRows:
        """Select the features of the model."""
        kinds = tuple((feature.name, feature.levels is None) for feature in model.features)
        key = (kinds, frozenset(text_columns(model)), repr(model.fitted.reading))
        if key not in self._rows:
            X = features_for(model, self.frame(model), self.path)
            with plain_errors(f"cannot report on {self.path}"):
                self._rows[key] = UserRows(X)
        return self._rows[key]


def _target(models: Sequence[SavedModel], data: _Files, args: argparse.Namespace) -> Target:
    """Read labels, for which all models must have the same positive class."""
    first, *others = models
    frame, reading = data.read(first)
    need_column(frame.columns, args.target, args.data, "--target")
    frame = with_plain_labels(frame, args.target)
    positive = positive_rows(first, frame, args.target, args.positive, args.data)
    for model in others:
        own = with_plain_labels(data.frame(model), args.target)
        of_model = positive_rows(model, own, args.target, args.positive, args.data)
        if not np.array_equal(of_model, positive):
            raise DataError(
                f"{first.path} ranks {first.positive} first, and {model.path} {model.positive}: say"
                " which value is positive with --positive"
            )
    said = first.positive if args.positive is None else args.positive.strip(BLANKS)
    if positive.all():
        raise DataError(
            f"every row of {args.data} has {args.target} = {said}: a report needs rows of both"
            " classes"
        )
    return target_of_rows(positive, said, frame, reading, args)


def _names(paths: Sequence[str]) -> list[str]:
    """Name models by their files, with the folders if the names alone are equal."""
    short = [Path(path).name.removesuffix(".json").removesuffix(".model") for path in paths]
    names = short if len(set(short)) == len(short) else list(paths)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"{twice} is named twice")
    return names


def _default_out(data: str) -> str:
    name = "stdin" if data == STDIN else Path(data).name.split(".")[0]
    return f"{name}.report.html"
