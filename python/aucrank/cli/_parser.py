"""Arguments of every command.

They are separate from the commands because these need scikit-learn, which takes a second or two to
import: help, the version and a mistyped option do not need it.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, NoReturn

from aucrank._compare.limits import MOST_VALUES
from aucrank._core import __version__
from aucrank._utils.dialects import DIALECT_NAMES
from aucrank._utils.words import did_you_mean, near_name
from aucrank.cli._errors import UsageError
from aucrank.cli._options import (
    DATA_HELP,
    DEFAULT_LARGE_MODEL,
    DEFAULT_MODEL,
    EXPORTS,
    NOTES_ONE_BY_ONE,
    PROBABILITY,
    ROWS_HELP,
    SCORE,
    above_zero,
    add_columns,
    add_command,
    add_confidence,
    add_group,
    add_loudness,
    add_memory,
    add_model_file,
    add_model_or_scores,
    add_output,
    add_parts,
    add_progress,
    add_reading,
    add_seed,
    add_seed_and_threads,
    add_target,
    add_time,
    add_weight,
    at_least,
)

# The positive class where a model is evaluated.
_RANKED_FIRST = (
    "default: the one the model was fitted to rank first, or of scores the greater of the two"
)

#: What an export computes.
_VALUES = ("score", "points", "probability")


class _CommandParser(argparse.ArgumentParser):
    """A parser whose errors are one line, and are raised rather than exited with."""

    def error(self, message: str) -> NoReturn:
        if message.endswith("required: DATA") and SCORE in self._option_string_actions:
            message += f", after MODEL; of scores in the file, {SCORE} names the columns"
        raise UsageError(f"{message} (see {self.prog} --help)")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse after checking all names: a misspelt option must not be reported as missing."""
        args = sys.argv[1:] if args is None else list(args)
        self._check_names(args)
        model = self._model_to_leave_out(args)
        # Below, argparse calls this again with other values.
        if model is None or model.nargs is not None:
            return super().parse_known_args(args, namespace)
        model.nargs, model.required = "?", False
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            model.nargs, model.required = None, True

    def _model_to_leave_out(self, args: Sequence[str]) -> argparse.Action | None:
        """Return the argument MODEL where columns of scores may take its place."""
        known = {SCORE, PROBABILITY} & self._option_string_actions.keys()
        named = {arg.partition("=")[0] for arg in takewhile(lambda arg: arg != "--", args)}
        if known.isdisjoint(named):
            return None
        return next(action for action in self._actions if action.dest == "model")

    def _check_names(self, args: Sequence[str]) -> None:
        """Raise an error with a suggestion for a misspelt command or option."""
        commands = next(
            (a.choices for a in self._actions if isinstance(a, argparse._SubParsersAction)), None
        )
        options = self._option_string_actions
        for arg in args:
            if arg == "--":
                return
            name = arg.partition("=")[0]
            # argparse also takes an argument with a blank for a value.
            if arg.startswith("--") and " " not in arg and name not in options:
                self.error(f"there is no option {name}{self._near_option(name)}")
            if commands is not None and not arg.startswith("-"):
                if arg not in commands:
                    self.error(f"there is no command {arg!r}{did_you_mean(arg, commands)}")
                # Everything after it belongs to the command.
                return

    def _near_option(self, name: str) -> str:
        """Return the end of "there is no option": the one that is probably meant."""
        known = {option.strip("-") for option in self._option_string_actions if len(option) > 2}
        plain = name.strip("-").lower()
        meant = _ELSEWHERE.get(plain) or _ELSEWHERE.get(plain.removesuffix("s"))
        longer = [option for option in known if len(plain) > 2 and option.startswith(plain)]
        if meant not in known and len(longer) == 1:
            meant = longer[0]
        near = f"; did you mean {meant!r}?" if meant in known else near_name(plain, known)
        return near.replace("'", "'--", 1)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Add a suggestion to the error of a value that is not a choice."""
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            near = near_name(str(value), map(str, action.choices or ()))
            raise argparse.ArgumentError(action, f"{error.message}{near}") from None


# What other programs call an option, and what it is called here.
_ELSEWHERE = {
    **dict.fromkeys(("patient", "subject", "cluster", "customer", "strata"), "group"),
    **dict.fromkeys(("date", "datetime", "timestamp", "period"), "time"),
    **dict.fromkeys(("label", "class", "outcome", "response", "y"), "target"),
    **dict.fromkeys(("out", "outfile", "save"), "output"),
    **dict.fromkeys(("separator", "delimiter", "delim"), "sep"),
    **dict.fromkeys(("na", "na-value", "missing-value", "null"), "missing"),
    **dict.fromkeys(("exclude", "ignore", "remove", "omit"), "drop"),
    **dict.fromkeys(("sample-weight", "case-weight"), "weight"),
    **dict.fromkeys(("random-state", "random-seed"), "seed"),
    **dict.fromkeys(("thread", "job", "worker", "cpu", "core"), "n-jobs"),
    **dict.fromkeys(("pos", "positive-class", "pos-label", "event"), "positive"),
    **dict.fromkeys(("prob", "probability", "predict-proba"), "proba"),
    **dict.fromkeys(("prediction", "pred", "y-score"), "score"),
    **dict.fromkeys(("estimator", "learner", "algorithm"), "model"),
    **dict.fromkeys(("format", "language"), "to"),
    **dict.fromkeys(("subgroup", "stratify"), "by"),
    **dict.fromkeys(("footer", "skipfooter"), "skip-footer"),
    **dict.fromkeys(("skiprow", "skip"), "skip-rows"),
}


def build_parser() -> argparse.ArgumentParser:
    """Make the parser of the whole command line."""
    parser = _CommandParser(
        prog="aucrank",
        description="Learn to rank positives above negatives by maximising the area under the ROC "
        "curve, with models that a person can read.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"aucrank {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (
        _add_demo,
        _add_compare,
        _add_fit,
        _add_score,
        _add_evaluate,
        _add_report,
        _add_describe,
        _add_export,
        _add_import,
        _add_completion,
    ):
        add(commands)
    return parser


def _add_demo(commands: "argparse._SubParsersAction[Any]") -> None:
    parser = add_command(
        commands,
        "demo",
        "rank customers who may leave: the default, its peers, and what to read costs",
    )
    add_output(parser, "the model (default: %(default)s)", default="aucrank-demo.json")
    add_loudness(parser)
    add_seed_and_threads(parser)


def _add_compare(commands: "argparse._SubParsersAction[Any]") -> None:
    parser = add_command(
        commands,
        "compare",
        "cross-validate models on a data file, and print a leaderboard",
        "All see the same folds, with their default parameters: the models of aucrank, its "
        "ensemble among them, and those of the other packages that are installed, its peers. "
        "The tables have the mean AUC of the folds with its interval, a test of how far each model "
        "is behind the best, the seconds of a fit, the size of the file and the number of rules. "
        "Without --models, those that would take minutes are left out: "
        + ", ".join(f"{name} beyond {most:,}" for name, most in MOST_VALUES.items())
        + " values (rows times columns).",
    )
    parser.add_argument("data", metavar="DATA", help=ROWS_HELP)
    add_target(parser, "default: the greater of the two")
    add_weight(parser, ", for fits and for the AUC")
    add_group(parser)
    add_time(parser)
    add_columns(parser)
    add_reading(parser)
    add_memory(parser)
    parser.add_argument(
        "--folds", type=at_least(2), default=5, metavar="K", help="folds (default: %(default)s)"
    )
    parser.add_argument(
        "--gap",
        type=above_zero,
        metavar="DAYS",
        help="with --time: rows this near to a range, or nearer, are left out of the fit that "
        "ranks it, in days, or in the numbers of COL if it holds numbers (default: none are)",
    )
    parser.add_argument(
        "--repeats",
        type=at_least(1),
        default=1,
        metavar="R",
        help="times to deal the rows into folds anew (default: %(default)s)",
    )
    parser.add_argument(
        "--models",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="only these, of aucrank or peers; 'all' for all, however long they take (default: all "
        "but the slow ones, see above)",
    )
    parser.add_argument(
        "--peers",
        action=argparse.BooleanOptionalAction,
        help="whether to compare with peers: LogisticRegression, RandomForestClassifier and "
        "HistGradientBoostingClassifier of scikit-learn; LGBMClassifier, XGBClassifier and "
        "CatBoostClassifier, ExplainableBoostingClassifier and BinningProcess where LightGBM, "
        "XGBoost, CatBoost, InterpretML and optbinning are installed (default: yes, but where "
        "--models names models)",
    )
    parser.add_argument(
        "--max-rows",
        type=at_least(4),
        metavar="N",
        help="compare on a random, stratified sample of at most N rows (default: all; 100,000 "
        "distinct ones where data are read a piece at a time)",
    )
    add_confidence(parser)
    parser.add_argument(
        "--time-limit",
        type=above_zero,
        metavar="SECONDS",
        help="time that the fits may take: none begins after it, and a model that has not done all "
        "folds by then is not compared (default: no limit)",
    )
    parser.add_argument(
        "--peer-time-limit",
        type=above_zero,
        metavar="SECONDS",
        help="time that a fit of a peer may take: if one takes longer, its other folds are not "
        "begun, and it is not compared (default: no limit)",
    )
    parser.add_argument(
        "--resume",
        metavar="FILE",
        help="keep each fit there as soon as it is done, and do not do again those that are there",
    )
    parser.add_argument(
        "--parallel",
        choices=("threads", "folds"),
        default="threads",
        help="give all threads to one fit after the other, or one to each of several fits, whose "
        "times are then those of one thread (default: %(default)s)",
    )
    parser.add_argument("--json", metavar="FILE", help="also write the results there, fold by fold")
    parser.add_argument("--csv", metavar="FILE", help="also write the table there")
    parser.add_argument(
        "--report", metavar="FILE", help="also write the leaderboard there, as a page (HTML)"
    )
    add_seed_and_threads(parser)
    add_progress(parser)


def _add_fit(commands: "argparse._SubParsersAction[Any]") -> None:
    parser = add_command(
        commands,
        "fit",
        "learn a model from a data file and save it",
        f"Without --model this is {DEFAULT_MODEL}: boosters, forests and linear scores, blended for"
        " the best ranking. How well it and its members rank rows left out of their fits is"
        " printed, and what a model that a person can read would give on the same rows.",
    )
    parser.add_argument("data", metavar="DATA", help=ROWS_HELP)
    add_target(parser, "default: the greater of the two")
    add_weight(parser)
    add_group(parser)
    add_time(parser)
    add_columns(parser)
    add_reading(parser)
    add_memory(parser)
    parser.add_argument(
        "--model",
        dest="estimator",
        metavar="NAME",
        help="estimator, such as TreeRank, Scorecard or LinearRanker, which can be read "
        f"(default: {DEFAULT_MODEL}; {DEFAULT_LARGE_MODEL} where --memory has no room for it)",
    )
    parser.add_argument(
        "--preset",
        choices=("fast", "default", "best"),
        help="members of the ensemble: the more, the better and the longer (default: default)",
    )
    parser.add_argument(
        "--time-limit",
        type=above_zero,
        metavar="SECONDS",
        help="time that the fits may take: members of the ensemble that would not be done by then "
        "are left out, all but the first (default: no limit)",
    )
    parser.add_argument(
        "--no-readable",
        dest="readable",
        action="store_false",
        help="fit no readable models in addition to the ensemble (they take a quarter of its"
        " time to three times as long)",
    )
    parser.add_argument(
        "--param",
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=VALUE",
        help="parameters of the estimator, such as n_folds=10",
    )
    add_output(parser, "the model (default: DATA's name with .model.json, in this folder)")
    add_seed_and_threads(parser)
    add_progress(
        parser,
        f"{NOTES_ONE_BY_ONE}, and how far the fit is, where it has several parts; -vv: after each"
        " of them",
    )


def _add_score(commands: "argparse._SubParsersAction[Any]") -> None:
    parser = add_command(
        commands,
        "score",
        "score the rows of a data file with a saved model",
        "Writes one score a row, in the order of the rows; higher is more positive, and above 0 "
        "the model predicts the positive class. Columns that the model does not use are ignored.",
    )
    add_model_file(parser)
    parser.add_argument("data", metavar="DATA", help=ROWS_HELP)
    add_output(
        parser,
        "the scores, as .csv, .csv.gz or .parquet (default: CSV on the standard output stream)",
    )
    parser.add_argument(
        "--proba",
        action="store_true",
        help="add a column with the probability of the positive class",
    )
    parser.add_argument(
        "--id", metavar="COL", help="column that names the rows, which is written with the scores"
    )
    add_memory(parser)
    add_reading(parser)
    add_progress(parser)


def _add_evaluate(commands: "argparse._SubParsersAction[Any]") -> None:
    parser = add_command(
        commands,
        "evaluate",
        "measure how well a saved model, or scores in the file, rank rows",
        "For scores: aucrank evaluate DATA --target COL --score COL. Several are compared.",
    )
    add_model_or_scores(parser)
    parser.add_argument("data", metavar="DATA", help=ROWS_HELP)
    add_target(parser, _RANKED_FIRST, is_known=True)
    add_weight(parser)
    add_parts(parser)
    add_memory(parser)
    add_reading(parser)
    add_progress(parser)


def _add_report(commands: "argparse._SubParsersAction[Any]") -> None:
    parser = add_command(
        commands,
        "report",
        "write a page about saved models, or scores in the file, and how they rank rows",
        "One HTML file to hand over, which loads nothing from any network: a summary in words,"
        " ROC curves with bands, tests, gains, calibration, cut-offs, the data, and the models"
        " themselves. The rows are best those that no model was fitted to. For scores without a"
        " model: aucrank report DATA --target COL --score COL.",
    )
    add_model_or_scores(parser)
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    add_target(parser, _RANKED_FIRST, is_known=True)
    parser.add_argument(
        "--against",
        nargs="+",
        action="extend",
        default=[],
        metavar="MODEL",
        help="other saved models to compare with on the same rows",
    )
    add_weight(parser)
    add_parts(parser)
    parser.add_argument(
        "--train",
        metavar="FILE",
        help="data file that the models were fitted to, or of an earlier time for scores, to report"
        " what has moved since",
    )
    parser.add_argument(
        "--costs",
        nargs=2,
        type=above_zero,
        metavar=("FP", "FN"),
        help="what a false positive and a false negative cost (default: a few usual ratios)",
    )
    parser.add_argument(
        "--grades",
        nargs="+",
        type=float,
        metavar="P",
        help="probabilities at which the grades of a rating begin, such as 0.01 0.05: each is"
        " tested (default: no grades)",
    )
    parser.add_argument(
        "--max-fpr",
        type=above_zero,
        default=0.1,
        metavar="F",
        help="greatest false positive rate of the partial area (default: %(default)s)",
    )
    add_confidence(parser)
    parser.add_argument("--title", metavar="TEXT", help="heading of the page")
    add_output(parser, "the page (default: DATA's name with .report.html, in this folder)")
    add_seed(parser)
    add_reading(parser)
    add_progress(parser)


def _add_describe(commands: "argparse._SubParsersAction[Any]") -> None:
    parser = add_command(commands, "describe", "print what a saved model is, in words")
    add_model_file(parser)
    add_loudness(parser)


def _add_export(commands: "argparse._SubParsersAction[Any]") -> None:
    parser = add_command(
        commands,
        "export",
        "write a saved model in the form that another system takes",
        "onnx: for onnxruntime, whole, in double precision; sql: an expression over the columns; "
        "pmml: for decision engines; treelite: for what reads its models; c, python, javascript, "
        "java: a function of a row that needs no library; json: the score as data; dot: the graph "
        "of a tree; text: what `describe` says of the model; csv: its table, such as the terms of "
        "a sum, the strata of a tree or the lines of a card; html: a page about the model, or a "
        "card to print.",
    )
    add_model_file(parser)
    add_loudness(parser)
    parser.add_argument("--to", required=True, choices=EXPORTS, help="which form")
    parser.add_argument(
        "--dialect",
        choices=DIALECT_NAMES,
        help="how SQL is written (default: ansi)",
    )
    parser.add_argument(
        "--value",
        choices=_VALUES,
        help="what SQL and code compute; points are of a scorecard, and what its SQL computes by "
        "default (default: score)",
    )
    add_output(parser, "the model in that form (default: the standard output stream)")


def _add_import(commands: "argparse._SubParsersAction[Any]") -> None:
    parser = add_command(
        commands,
        "import",
        "save a model of another library as one of aucrank, with the same scores",
        "Reads the text of LightGBM, JSON and UBJSON of XGBoost, and JSON of CatBoost, recognised "
        "by their content, without these libraries; CatBoost reads its own form. All other "
        "commands then take the saved model.",
    )
    parser.add_argument("source", metavar="FILE", help="file that the other library saved")
    parser.add_argument(
        "--precision",
        choices=("single", "double"),
        help="how the trees of XGBoost are added: in single precision as there, or in double "
        "precision, which all forms of `export` can express (default: single)",
    )
    add_output(parser, "the model (default: FILE's name with .aucrank.json, in this folder)")
    add_loudness(parser)


def _add_completion(commands: "argparse._SubParsersAction[Any]") -> None:
    parser = add_command(
        commands,
        "completion",
        "print a script by which a shell completes commands, options and file names",
        "For bash: aucrank completion bash > ~/.local/share/bash-completion/completions/aucrank."
        " For zsh: write it to a file _aucrank in a folder of $fpath.",
    )
    add_loudness(parser)
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="which shell")
