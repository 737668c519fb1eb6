"""Options that several commands share."""

import argparse
import math
from functools import partial
from importlib import import_module
from typing import Any

from aucrank._utils.sizes import parse_size
from aucrank.cli._deferred import defer
from aucrank.cli._garbage import uncollected

DATA_HELP = (
    "data file: .csv, .tsv, .txt or .data, also with .gz, or .parquet or .xlsx; - for the standard"
    " input"
)
DEFAULT_MODEL = "RankingEnsemble"
#: Library for data that are read in batches; the other one cannot do that in bounded memory.
DEFAULT_LARGE_MODEL = "GradientBoostingRanker"

#: Formats that can also be read in batches.
ROWS_HELP = (
    f"{DATA_HELP}; or a folder of such files, or a pattern in quotes, such as 'sales/*.parquet'"
)

#: Options that name columns of scores.
SCORE, PROBABILITY = "--score", "--probability"

#: Commands that use a fitted model, whose time may be mostly that of imports.
_QUICK = ("describe", "evaluate", "export", "score")

#: What scikit-learn and SciPy import, and these commands use for few models or not at all.
_DEFERRED = (
    "pandas",
    "scipy.stats",
    "scipy.special",
    "numpy.f2py",
    "numpy.ma",
    "numpy.polynomial",
    "numpy.testing",
    "numpy.ctypeslib",
    "scipy._lib.array_api_compat.numpy",
    "sklearn.externals.array_api_compat.numpy",
    "asyncio",
    "psutil",
)

#: Formats of `export`.
EXPORTS = (
    "onnx",
    "sql",
    "pmml",
    "treelite",
    "c",
    "python",
    "javascript",
    "java",
    "json",
    "dot",
    "text",
    "csv",
    "html",
)


#: Modules of commands whose name is a word of Python.
_MODULES = {"import": "import_model"}


def add_command(
    commands: "argparse._SubParsersAction[Any]", name: str, summary: str, more: str = ""
) -> argparse.ArgumentParser:
    """Make the parser of one command, whose module is imported when it runs."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}. {more}".strip(),
        allow_abbrev=False,
    )
    parser.set_defaults(run=partial(_run, name))
    return parser


def _number_columns(args: argparse.Namespace) -> None:
    """Make positions in options refer to the columns of a file without names."""
    for option in ("target", "weight", "id", "group", "time"):
        if getattr(args, option, None) is not None:
            setattr(args, option, _numbered(getattr(args, option)))
    for option in ("drop", "keep", "categorical", "by", "score", "probability"):
        if hasattr(args, option):
            setattr(args, option, [_numbered(name) for name in getattr(args, option)])


def _numbered(name: str) -> str:
    return f"column_{name}" if name.isdecimal() else name


def _run(name: str, args: argparse.Namespace) -> int:
    if not getattr(args, "header", True):
        _number_columns(args)
    if name in _QUICK:
        defer(*_DEFERRED)
    with uncollected():
        command = import_module(f"aucrank.cli.{_MODULES.get(name, name)}")
    status: int = command.run(args)
    return status


def add_model_file(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Add the argument for the model file."""
    parser.add_argument("model", metavar="MODEL", help=f"file that `aucrank fit` saved{more}")


def add_model_or_scores(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the model file, and the options for columns that take its place."""
    add_model_file(parser, "; left out where --score or --probability name columns of scores")
    group = parser.add_argument_group("scores that are in the file, in place of a model")
    group.add_argument(
        SCORE,
        nargs="+",
        action="extend",
        default=[],
        metavar="COL",
        help="columns of scores by models that are not here, such as those of a vendor: a row that"
        " scores higher is more likely positive",
    )
    group.add_argument(
        PROBABILITY,
        nargs="+",
        action="extend",
        default=[],
        metavar="COL",
        help="columns of scores that are probabilities of the positive class, from 0 to 1: their"
        " calibration is measured, too",
    )


def add_weight(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Add the option for weights of rows."""
    parser.add_argument("--weight", metavar="COL", help=f"column of sample weights{more}")


def add_target(
    parser: argparse.ArgumentParser, positive_default: str, *, is_known: bool = False
) -> None:
    """Add the options for the column of labels, which a model may know, and its positive value."""
    default = " (default: that of the model's fit)" if is_known else ""
    parser.add_argument(
        "--target",
        required=not is_known,
        metavar="COL",
        help=f"column that holds the classes{default}",
    )
    parser.add_argument(
        "--positive",
        metavar="V",
        help=f"value of the class to rank first ({positive_default}); if the column has more than "
        "two values, all others are one class, called '!= V'",
    )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options for CSV files; what is not given is detected, and printed."""
    group = parser.add_argument_group(
        "how a CSV file or a workbook is written (default: what it looks like)"
    )
    group.add_argument(
        "--sep", metavar="CHAR", help="what parts the columns: ',', ';', 'tab', 'blank', ..."
    )
    group.add_argument("--decimal", choices=(".", ","), help="the mark of decimals")
    group.add_argument(
        "--skip-rows", type=at_least(0), metavar="N", help="lines above the names of the columns"
    )
    group.add_argument(
        "--header-row",
        type=at_least(1),
        metavar="N",
        help="the same counted otherwise: the names stand in line N, of a workbook in row N",
    )
    group.add_argument(
        "--skip-footer",
        type=at_least(0),
        metavar="N",
        help="lines below the last row, such as a total (default: a last row of sums without a"
        " class)",
    )
    group.add_argument(
        "--comment", metavar="TEXT", help="what lines begin with that are not rows, such as '#'"
    )
    group.add_argument(
        "--no-header",
        dest="header",
        action="store_false",
        help="the first line is a row: columns are called column_1, column_2, ...",
    )
    group.add_argument(
        "--sheet",
        metavar="NAME",
        help="of a workbook (default: the first one that has the columns needed)",
    )
    group.add_argument("--encoding", metavar="NAME", help="such as utf-8, cp1252 or utf-16")
    group.add_argument(
        "--missing",
        nargs="+",
        action="extend",
        default=[],
        metavar="TEXT",
        help="texts and numbers that stand for missing values, such as -999, in addition to the"
        " usual ones (empty, ?, NA, NaN, NULL, None, ...), in every column",
    )
    group.add_argument(
        "--missing-in",
        nargs="+",
        action="extend",
        default=[],
        metavar="COL=TEXT",
        help="the same in one column alone, such as age=999",
    )


def add_group(parser: argparse.ArgumentParser) -> None:
    """Add the option for groups of rows."""
    parser.add_argument(
        "--group",
        metavar="COL",
        help="column that says which rows belong together, such as those of a patient, left out of"
        " the features: they stay together in folds and in what is held out",
    )


def add_time(parser: argparse.ArgumentParser) -> None:
    """Add the option for times of rows."""
    parser.add_argument(
        "--time",
        metavar="COL",
        help="column of dates or numbers that says when a row came, left out of the features: what"
        " is held out is the latest part, and folds are ranges of time",
    )


def add_parts(parser: argparse.ArgumentParser) -> None:
    """Add the options for groups, times and subgroups of rows."""
    parser.add_argument(
        "--group",
        metavar="COL",
        help="column that says which rows belong together, such as those of a patient: intervals"
        " and tests are of whole groups",
    )
    parser.add_argument(
        "--time",
        metavar="COL",
        help="column of dates or numbers that says when a row came: figures by month, quarter or"
        " year, or by ranges of time",
    )
    parser.add_argument(
        "--by",
        nargs="+",
        action="extend",
        default=[],
        metavar="COL",
        help="columns whose values part the rows into subgroups, such as the hospital: figures of"
        " each. Columns of --group, --time and --by are not features, unless the model was fitted"
        " to them",
    )


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the options for the features, and their kinds."""
    parser.add_argument(
        "--drop", nargs="+", action="extend", default=[], metavar="COL", help="columns to leave out"
    )
    parser.add_argument(
        "--id",
        metavar="COL",
        help="column that names the rows, which is left out, too (default: columns that are called "
        "so and have another value in each row)",
    )
    parser.add_argument(
        "--keep",
        nargs="+",
        action="extend",
        default=[],
        metavar="COL",
        help="columns to learn from although they look as if they named the rows",
    )
    parser.add_argument(
        "--categorical",
        nargs="+",
        action="extend",
        default=[],
        metavar="COL",
        help="columns of numbers that are names of categories (columns of text always are)",
    )


def add_output(parser: argparse.ArgumentParser, what: str, *, default: str | None = None) -> None:
    """Add the option for the file that a command writes."""
    parser.add_argument(
        "-o", "--output", default=default, metavar="FILE", help=f"file to write: {what}"
    )


def add_confidence(parser: argparse.ArgumentParser) -> None:
    """Add the option for the level of intervals."""
    parser.add_argument(
        "--confidence",
        type=above_zero,
        default=0.95,
        metavar="C",
        help="level of intervals and bands (default: %(default)s)",
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add the seed."""
    parser.add_argument(
        "--seed",
        dest="random_state",
        type=natural,
        default=0,
        metavar="N",
        help="seed of all that is drawn at random (default: %(default)s)",
    )


def add_seed_and_threads(parser: argparse.ArgumentParser) -> None:
    """Add the seed and the number of threads."""
    add_seed(parser)
    parser.add_argument(
        "--n-jobs", type=int, metavar="N", help="threads; -1 for all cores (default: joblib's rule)"
    )


def natural(text: str) -> int:
    """Read a seed: an integer from 0 to 2**32 - 1."""
    value = int(text)
    if not 0 <= value < 2**32:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 2**32 - 1")
    return value


def add_memory(parser: argparse.ArgumentParser) -> None:
    """Add the option for the memory beyond which a file is read in batches."""
    parser.add_argument(
        "--memory",
        type=n_bytes,
        metavar="SIZE",
        help="memory that the command may take, such as 2GB: a file that would take more is read a "
        "piece at a time; folders and patterns always are",
    )


#: What `--verbose` does in every command.
NOTES_ONE_BY_ONE = "each note on how a file is read, instead of a line for all"


def add_progress(parser: argparse.ArgumentParser, verbose: str = NOTES_ONE_BY_ONE) -> None:
    """Add the option for showing progress, and those of `add_loudness`."""
    parser.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        help="say on the standard error stream how far it is, elsewhere than on a terminal by a "
        "line every ten seconds (default: on a terminal)",
    )
    add_loudness(parser, verbose)


def add_loudness(parser: argparse.ArgumentParser, verbose: str = NOTES_ONE_BY_ONE) -> None:
    """Add the options for no notes and for all of them, which all commands have."""
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="no progress and no notes; warnings stay"
    )
    parser.add_argument("-v", "--verbose", action="count", default=0, help=verbose)


def n_bytes(text: str) -> int:
    """Read a size, such as 500MB or 2 GiB."""
    size = parse_size(text)
    if size is None:
        raise argparse.ArgumentTypeError(f"{text} is not a size such as 500MB or 2GB")
    return size


def above_zero(text: str) -> float:
    """Read a positive number."""
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def at_least(least: int) -> Any:
    """Return the type of an option that is an integer of at least `least`."""

    def integer(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        return value

    return integer
