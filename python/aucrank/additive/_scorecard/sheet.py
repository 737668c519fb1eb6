"""Human-readable forms of a scorecard: table, plain text, HTML page, CSV for Excel."""

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from math import floor, isnan, log10, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._data.csv_text import csv_text
from aucrank._data.table import Table, whole
from aucrank._export.bins import CardBin, CardFeature
from aucrank._page.page import content_policy
from aucrank._utils.numbers import rounded
from aucrank._utils.plain_text import shown
from aucrank.additive._scorecard.card import Card
from aucrank.additive._scorecard.edits import Edit

#: Maximum number of lines of the table of probabilities.
_MOST_LINES = 14

#: Maximum width of the first column of a printed card.
_WIDEST = 52

#: Maximum number of categories listed in a line.
_MOST_LEVELS = 6

#: Keeps a name and its points on one line.
_NO_BREAK = "\N{NO-BREAK SPACE}"

#: Prefix of the points of values without training rows.
_UNSEEN = "Points of what no training row had"


@dataclass(frozen=True, slots=True)
class Sheet:
    """Contents of a card as shown to a person.

    Attributes
    ----------
    card : Card
        The card.
    scale : dict
        Scale of the points, from `Card.scale`.
    edits : tuple of Edit
        Manual changes.
    is_searched : bool
        Whether points were searched as such, not taken from a ranker.
    """

    card: Card
    scale: dict[str, Any]
    edits: tuple[Edit, ...] = ()
    is_searched: bool = False

    @property
    def title(self) -> str:
        """What the card is."""
        return "Integer score" if self.is_searched else "Scorecard"

    def how_to_add(self, write: Callable[[str], str]) -> str:
        """How points are added up."""
        if self.initial_points == 0:
            return "Add up the points of one line of each block."
        return (
            f"Start with {write(str(self.initial_points))} points and add those of one line of each"
            " block."
        )

    @property
    def features(self) -> list[CardFeature]:
        """Those that have points."""
        return self.card.features

    @property
    def initial_points(self) -> int:
        """Points of every row."""
        return self.card.initial_points

    @property
    def positive(self) -> str:
        """The positive class."""
        return _plain(self.card.classes[1])

    @property
    def size(self) -> float:
        """Weight of the training rows."""
        return float(self.card.distribution.masses.sum())

    @property
    def n_pos(self) -> float:
        """Weight of the positive ones."""
        return float(self.card.distribution.masses[:, 0].sum())

    @property
    def wanted(self) -> str:
        """The class that high points favour."""
        return self.positive if self.card.sign > 0 else _plain(self.card.classes[0])

    def table(self, *, all_levels: bool = False) -> Table:
        """Return the card as a table, with all categories in its rules or the first of many."""
        lines = [(feature.name, bin_) for feature in self.features for bin_ in feature.bins]
        evidence = [self.evidence(feature) for feature in self.features]
        known = evidence or [(np.zeros(0), 0.0)]
        edited: dict[str, str] = {}
        for edit in self.edits:
            names = [edit.feature]
            if edit.kind == "integer":
                names = [feature.name for feature in self.features]
            edited |= dict.fromkeys(names, edit.date)
        dates = [edited.get(name, "") for name, _ in lines]
        size = np.array([bin_.size for _, bin_ in lines], dtype=np.float64)
        n_pos = np.array([bin_.n_pos for _, bin_ in lines], dtype=np.float64)
        return Table(
            feature=np.array([name for name, _ in lines], dtype=np.str_),
            rule=np.array(
                [bin_.rule if all_levels else _short_rule(bin_) for _, bin_ in lines],
                dtype=np.str_,
            ),
            size=whole(size),
            share=size / self.size,
            n_pos=whole(n_pos),
            rate=np.divide(n_pos, size, out=np.full(len(size), np.nan), where=size > 0),
            woe=np.concatenate([woe for woe, _ in known]),
            iv=np.concatenate([np.full(len(woe), iv) for woe, iv in known]),
            **({"edited": np.array(dates, dtype=np.str_)} if self.edits else {}),
            points=np.array([bin_.points for _, bin_ in lines], dtype=np.int64),
        )

    def evidence(self, feature: CardFeature) -> tuple[NDArray[np.float64], float]:
        """Return the weight of evidence of each bin, and the information value of the feature.

        Half a row of each class is added to a bin that lacks one; without rows it is NaN.
        """
        n_pos = np.array([bin_.n_pos for bin_ in feature.bins])
        n_neg = np.array([bin_.size for bin_ in feature.bins]) - n_pos
        lacks_one = ((n_pos <= 0) | (n_neg <= 0)) & (n_pos + n_neg > 0)
        pos = (n_pos + 0.5 * lacks_one) / self.n_pos
        neg = (n_neg + 0.5 * lacks_one) / (self.size - self.n_pos)
        has_rows = n_pos + n_neg > 0
        woe = np.full(len(n_pos), np.nan)
        woe[has_rows] = np.log(pos[has_rows] / neg[has_rows])
        return woe, float(((pos - neg) * woe)[has_rows].sum())

    def lines(self, feature: CardFeature) -> list[tuple[str, CardBin]]:
        """Lines of a block; values without training rows are listed below the card."""
        return [(label, bin_) for label, bin_ in self.all_lines(feature) if not _is_unseen(bin_)]

    def all_lines(self, feature: CardFeature) -> list[tuple[str, CardBin]]:
        """Lines of a block, including values without training rows."""
        bins = list(feature.bins)
        if not feature.is_numeric:
            bins.sort(key=lambda bin_: (bin_.kind == "missing", -bin_.points))
        return [(_label(bin_), bin_) for bin_ in bins]

    @property
    def unseen(self) -> list[tuple[str, int]]:
        """Special and missing values without training rows, in words, with their points."""
        return [
            (bin_.rule, bin_.points)
            for feature in self.features
            for bin_ in feature.bins
            if _is_unseen(bin_)
        ]

    @property
    def chances(self) -> list[tuple[int, float, float]]:
        """Points, the probability of the positive class there, and the share of rows with fewer."""
        points, of_point = self.card.distribution.points, self.card.distribution.sizes
        low, high = int(points[0]), int(points[-1])
        if not self.card.is_counted:
            low = self.initial_points
            high = low + sum(max(bin_.points for bin_ in f.bins) for f in self.features)
        step = _nice_step((high - low) / (_MOST_LINES - 1))
        marks = range(step * (low // step), high + step, step)
        return [
            (
                mark,
                float(self.card.probability(mark)),
                float(of_point[points < mark].sum()) / self.size if self.card.is_counted else nan,
            )
            for mark in marks
        ]

    @property
    def scale_in_words(self) -> str:
        scale = self.scale
        base, odds, pdo = (rounded(scale[key]) for key in ("base_points", "base_odds", "pdo"))
        doubling = f"{pdo} more double the odds"
        if scale["base_odds"] == 1:
            doubling += f" of class {self.wanted}"
            return f"At {base} points both classes are equally likely; {doubling}."
        return (
            f"{base} points are odds of {odds} to 1 for class {self.wanted}; {doubling}, and at"
            f" {self.card.offset:.1f} both classes are equally likely."
        )

    @property
    def edits_in_words(self) -> list[str]:
        """Manual changes, a line for each."""
        return [f"Changed by hand {shown(str(edit))}." for edit in self.edits]

    @property
    def legend(self) -> str:
        return (
            f"Rows are those of the training data: how many a line holds, their share of all"
            f" {_count(self.size)}, and how many in a hundred of them are of class {self.positive}."
        )

    @property
    def quality_in_words(self) -> str:
        ranker, exact, auc = self.card.aucs
        if self.is_searched:
            if not self.card.is_counted:
                return "Changed by hand since the training rows were counted."
            found = f"AUC of the {_count(self.size)} training rows: {auc:.4f}"
            if self.edits:
                return f"{found}."
            return (
                f"{found}; no other points for these lines, even for their combinations, have more"
                f" than {exact:.4f}."
            )
        if self.edits:
            points = f" {auc:.4f} by points," if self.card.is_counted else ""
            return (
                f"AUC of the {_count(self.size)} training rows:{points} {exact:.4f} before rounding"
                f" and before the changes by hand, {ranker:.4f} by the ranker."
            )
        return (
            f"AUC of the {_count(self.size)} training rows: {auc:.4f} by points, {exact:.4f} before"
            f" rounding, {ranker:.4f} by the ranker."
        )


def to_csv(sheet: Sheet, *, excel: bool) -> str:
    """Return the card as comma-separated values, without a byte order mark."""
    table = sheet.table(all_levels=True)
    size, n_pos = whole(np.array([sheet.size, sheet.n_pos])).tolist()
    rate = sheet.n_pos / sheet.size
    first = ["initial points", "every row", size, 1.0, n_pos, rate, 0.0, None]
    first += [*[""] * bool(sheet.edits), sheet.initial_points]
    columns = (column.tolist() for column in table.values())
    return csv_text(table, [first, *zip(*columns, strict=True)], excel=excel)


def to_text(sheet: Sheet) -> str:
    """Return the card as plain text to hang on a wall."""
    blocks = [(shown(feature.name), sheet.lines(feature)) for feature in sheet.features]
    labels = [label for _, lines in blocks for label, _ in lines]
    width = min(max([10, *map(len, labels)]), _WIDEST)
    heads = ["points", "rows", "share", f"class {sheet.positive}"]
    cells = [[(label, _numbers(bin_, sheet)) for label, bin_ in lines] for _, lines in blocks]
    widths = [
        max([len(head), *(len(row[place]) for block in cells for _, row in block)])
        for place, head in enumerate(heads)
    ]

    def line(label: str, row: list[str]) -> str:
        numbers = "  ".join(cell.rjust(wide) for cell, wide in zip(row, widths, strict=True))
        return f"{label.ljust(width + 2)}  {numbers}"

    out = [f"{sheet.title.upper()}: many points speak for class {sheet.wanted}", ""]
    if not blocks:
        out.append(
            f"No feature distinguishes the classes: every row has {sheet.initial_points} points."
        )
        return "\n".join([*out, "", sheet.quality_in_words, *sheet.edits_in_words, ""])
    out += [
        sheet.how_to_add(str),
        "",
        line("", heads),
    ]
    for (name, _), block in zip(blocks, cells, strict=True):
        out.append(name)
        for label, row in block:
            *above, last = _wrapped(label, width)
            out += [f"  {part}" for part in above]
            out.append(line(f"  {last}", row))
        out.append("")
    if sheet.unseen:
        lines = _wrapped(_unseen_in_words(sheet, str), 78)
        out += [*(line.replace(_NO_BREAK, " ") for line in lines), ""]
    fewer, chance = "rows with fewer", f"chance of class {sheet.positive}"
    marks = [(f"{points}", percent(p), percent(share)) for points, p, share in sheet.chances]
    width = max(len("Total"), *(len(mark) for mark, _, _ in marks))
    out.append(f"{'Total':>{width}}  {chance}  {fewer}")
    out += [
        f"{mark:>{width}}  {p:>{len(chance)}}  {share:>{len(fewer)}}" for mark, p, share in marks
    ]
    notes = [
        sheet.scale_in_words,
        sheet.legend,
        sheet.quality_in_words,
        *sheet.edits_in_words,
    ]
    return "\n".join([*out, "", *(line for note in notes for line in _wrapped(note, 78)), ""])


_STYLE = """
body { font: 15px/1.35 system-ui, sans-serif; color: #1b1f24; margin: 2em auto; max-width: 46em;
  padding: 0 1em; }
h1 { font-size: 1.5em; margin-bottom: 0.2em; }
table { border-collapse: collapse; width: 100%; margin: 1em 0; }
th, td { padding: 0.18em 0.6em; text-align: right; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid #1b1f24; font-weight: 600; }
tbody { break-inside: avoid; }
tbody tr:nth-child(even) { background: #f4f6f8; }
tbody th { padding-top: 0.9em; border-bottom: 1px solid #c5ccd3; }
td:first-child { padding-left: 1.4em; }
td.points { font-weight: 700; width: 9em; background-repeat: no-repeat;
  background-image: linear-gradient(#cfe3f7, #cfe3f7); print-color-adjust: exact; }
p { margin: 0.4em 0; }
@media (max-width: 34em) { td.points { width: 3em; } th, td { padding: 0.18em 0.3em; } }
@media print { body { font-size: 9.5pt; margin: 0; max-width: none; padding: 0; }
  th, td { padding: 0.08em 0.5em; } tbody th { padding-top: 0.5em; } }
""".strip()


def to_html(sheet: Sheet) -> str:
    """Return the card as a self-contained, printable page."""
    most = max((bin_.points for f in sheet.features for bin_ in f.bins), default=1)
    out = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{sheet.title}</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy()}">',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{sheet.title}: many points speak for class {escape(sheet.wanted)}</h1>",
        f"<p>{sheet.how_to_add('<strong>{}</strong>'.format)}</p>",
        "<table><thead><tr><th></th><th>points</th><th>rows</th><th>share</th>"
        f"<th>class {escape(sheet.positive)}</th></tr></thead>",
    ]
    for feature in sheet.features:
        out.append(f'<tbody><tr><th colspan="5">{escape(shown(feature.name))}</th></tr>')
        for label, bin_ in sheet.lines(feature):
            points, *rest = _numbers(bin_, sheet)
            # The number is to the right of the longest bar.
            bar = f"background-size: {70 * bin_.points / most:.3g}% 100%"
            others = "".join(f"<td>{escape(cell)}</td>" for cell in rest)
            out.append(
                f'<tr><td>{escape(label)}</td><td class="points" style="{bar}">{points}</td>'
                f"{others}</tr>"
            )
        out.append("</tbody>")
    out.append("</table>")
    if sheet.unseen:
        out.append(f"<p>{_unseen_in_words(sheet, escape)}</p>")
    out.append(
        f"<table><thead><tr><th>total</th><th>chance of class {escape(sheet.positive)}</th>"
        "<th>rows with fewer</th></tr></thead><tbody>"
    )
    out += [
        f"<tr><td>{points}</td><td>{escape(percent(p))}</td><td>{escape(percent(share))}</td></tr>"
        for points, p, share in sheet.chances
    ]
    out += [
        "</tbody></table>",
        f"<p>{escape(sheet.scale_in_words)}</p>",
        f"<p>{escape(sheet.legend)}</p>",
        f"<p>{escape(sheet.quality_in_words)}</p>",
        *(f"<p>{escape(line)}</p>" for line in sheet.edits_in_words),
        "</body></html>",
    ]
    return "\n".join(out) + "\n"


def _unseen_in_words(sheet: Sheet, write: Callable[[str], str]) -> str:
    listed = ", ".join(f"{write(rule)}{_NO_BREAK}{points}" for rule, points in sheet.unseen)
    return f"{_UNSEEN}: {listed}."


def _numbers(bin_: CardBin, sheet: Sheet) -> list[str]:
    rate = percent(bin_.n_pos / bin_.size) if bin_.size > 0 else "-"
    return [str(bin_.points), _count(bin_.size), percent(bin_.size / sheet.size), rate]


def _is_unseen(bin_: CardBin) -> bool:
    """Return whether a bin is of a special value, or missing ones, without training rows."""
    return bin_.kind in ("special", "missing") and not bin_.size > 0


def _label(bin_: CardBin) -> str:
    """Describe the values of a bin, without the name of its feature."""
    if bin_.kind == "category":
        return _short_levels(bin_)
    if bin_.kind != "interval" or bin_.flag:
        return f"exactly {bin_.label}" if bin_.kind == "special" else bin_.label
    match bin_.bounds:
        case "", "":
            return "any number"
        case "", high:
            return f"under {high}"
        case low, "":
            return f"{low} and up"
        case low, high:
            return f"{low} to under {high}"


def _short_levels(bin_: CardBin) -> str:
    """List the categories of a bin, or the first of many and the number of the rest."""
    first, n_more = bin_.levels[:_MOST_LEVELS], len(bin_.levels) - _MOST_LEVELS
    # Not worth abbreviating a single one, whose name is as long.
    if n_more <= 1:
        return bin_.label
    return f"{', '.join(shown(level) for level in first)} and {n_more:,} more"


def _short_rule(bin_: CardBin) -> str:
    """Write the rule of a bin, with the first of many categories."""
    full = ", ".join(shown(level) for level in bin_.levels)
    if bin_.kind != "category" or len(bin_.levels) <= _MOST_LEVELS + 1 or full not in bin_.rule:
        return bin_.rule
    return bin_.rule.replace(full, _short_levels(bin_))


def _wrapped(text: str, width: int) -> list[str]:
    """Break a text at spaces; a word that is too long stays whole."""
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return lines or [""]


def percent(share: float) -> str:
    """Return a share in percent; only 0 and 1 are shown as 0.0% and 100.0%."""
    if isnan(share):
        return "-"
    text = f"{100 * share:.1f}%"
    if share > 0 and text == "0.0%":
        return "<0.1%"
    return ">99.9%" if share < 1 and text == "100.0%" else text


def _count(size: float) -> str:
    return f"{size:,.0f}" if size.is_integer() else f"{size:,.1f}"


def _nice_step(least: float) -> int:
    """Return the least of 1, 2, 5, 10, 20, 50, ... that is not below a number."""
    if least <= 1:
        return 1
    power = 10 ** floor(log10(least))
    return int(next(digit * power for digit in (1, 2, 5, 10) if digit * power >= least))


def _plain(label: Any) -> str:
    return shown(label.item() if isinstance(label, np.generic) else label)
