"""The summary of a report in words; each figure is a measured fact."""

from __future__ import annotations

import math

from aucrank._page.formats import area, count, decimal, is_p, share, signed
from aucrank._report.cautions import UNLIKELY
from aucrank._report.comparison import Comparison
from aucrank._report.cutoffs import CutOff
from aucrank._report.facts import ModelFacts, ReportFacts
from aucrank._report.subgroups import PartFacts, Split
from aucrank._utils.words import listed, plural

# Share of the highest scoring rows whose gains the summary gives.
_TOP_SHARE = 0.1


def summary_of(facts: ReportFacts) -> list[str]:
    """Return the sentences, grouped in paragraphs."""
    best = best_model(facts)
    return [
        _rows(facts),
        _areas(facts, best),
        *([_differences(facts, best)] if len(facts.models) > 1 else []),
        _top(facts, best),
        *([_probabilities(best)] if best.calibration is not None else []),
        _cut(facts, best),
        *_in_parts(facts, best),
    ]


def one_line(facts: ReportFacts) -> str:
    """Return the gist, for a terminal."""
    best = best_model(facts)
    return f"{plural(facts.n_rows, 'row')}, {best.name}: AUC {_interval(best)}"


def best_model(facts: ReportFacts) -> ModelFacts:
    """Return the model with the highest AUC, the first among equals."""
    return max(facts.models, key=lambda model: model.ranking.auc)


def _rows(facts: ReportFacts) -> str:
    positives = f"{count(facts.n_positive)} of class {facts.labels[1]}, the positive one"
    n_models, noun = len(facts.models), facts.noun
    text = (
        f"{f'One {noun} is' if n_models == 1 else f'{n_models} {noun}s are'} judged"
        f" by {plural(facts.n_rows, 'row')}: {positives}, and {count(facts.n_negative)} of class"
        f" {facts.labels[0]}."
    )
    if facts.is_weighted:
        text += f" Rows have weights; by weight, {share(facts.prevalence)} is positive."
    else:
        text += f" That is {share(facts.prevalence)} positive."
    if facts.n_groups is not None:
        text += (
            f" They come in {plural(facts.n_groups, 'group')}, and intervals and tests are of whole"
            " groups."
        )
    return text


def _interval(model: ModelFacts) -> str:
    interval = model.ranking.interval
    return f"{area(interval.auc)} ({area(interval.low)} to {area(interval.high)})"


def _areas(facts: ReportFacts, best: ModelFacts) -> str:
    level = share(facts.options.confidence, 0)
    text = (
        f"{best.name} ranks a random positive row above a random negative one in"
        f" {share(best.ranking.auc)} of pairs: its AUC is {_interval(best)}, an interval of"
        f" {level} confidence."
    )
    if best.ranking.interval.low <= 0.5:
        text += " That interval holds 0.5, so it is not shown to rank better than chance."
    others = [f"{model.name} has {_interval(model)}" for model in facts.models if model is not best]
    return f"{text} {listed(others)}." if others else text


def _differences(facts: ReportFacts, best: ModelFacts) -> str:
    if facts.comparisons is None:
        return f"A class has one row, so the {facts.noun}s cannot be compared."
    level = facts.options.confidence
    clear, unclear = [], []
    for comparison in facts.comparisons:
        if best.name not in (comparison.first, comparison.second):
            continue
        other = comparison.second if comparison.first == best.name else comparison.first
        if comparison.is_significant(level):
            clear.append(f"{other} by {_gap(comparison, best.name)}")
        else:
            unclear.append(f"{other} (by {_gap(comparison, best.name)})")
    sentences = []
    if clear:
        sentences.append(
            f"{best.name} is ahead of {listed(clear)}; chance would rarely explain that."
        )
    if unclear:
        sentences.append(
            f"These rows do not distinguish {best.name} from {listed(unclear)}: that is no proof"
            " that they are equal."
        )
    return " ".join(sentences)


def _gap(comparison: Comparison, best: str) -> str:
    test = comparison.test
    sign = 1 if comparison.first == best else -1
    low, high = sorted((sign * test.low, sign * test.high))
    text = f"{signed(sign * test.difference)}, {signed(low)} to {signed(high)}"
    # There is no p-value where neither AUC has any spread.
    return text if math.isnan(comparison.adjusted) else f"{text}, p {is_p(comparison.adjusted)}"


def _top(facts: ReportFacts, best: ModelFacts) -> str:
    gains = best.ranking.gains
    place = gains["share"].tolist().index(_TOP_SHARE)
    captured, rate, lift = (float(gains[name][place]) for name in ("captured", "rate", "lift"))
    return (
        f"Of the rows that {best.name} ranks in the first {share(_TOP_SHARE, 0)}, {share(rate)} are"
        f" positive, {decimal(lift, 1)} times the share in all rows; they hold {share(captured)} of"
        f" all positives. A false positive rate of {share(facts.options.max_fpr, 0)} finds"
        f" {share(float(best.ranking.curve.tpr_at(facts.options.max_fpr)))} of them."
    )


def _probabilities(best: ModelFacts) -> str:
    calibration = best.calibration
    assert calibration is not None
    n_drawn = best.subject.n_drawn
    of_rows = "" if n_drawn is None else f" of {plural(n_drawn, 'row')} drawn at random"
    text = (
        f"Its probabilities{of_rows} add up to {count(round(calibration.expected))} positives, and"
        f" there are {count(round(calibration.observed))}"
    )
    if calibration.p_value >= UNLIKELY:
        text += ", no more apart than by chance"
    elif calibration.p_value < UNLIKELY:
        text += ", further apart than by chance"
    n_bins = calibration.bins.n_rows
    return (
        f"{text}. In {calibration.n_within} of {plural(n_bins, 'group')} by probability, the mean"
        " probability is within the interval of what was observed."
    )


def _cut(facts: ReportFacts, best: ModelFacts) -> str:
    cut_of = {cut.purpose: cut for cut in best.cut_offs}
    if facts.options.costs_given:
        return _cheapest(cut_of["cost"], best.name)
    ks, own = cut_of["ks"], cut_of.get("own")
    text = (
        f"The two classes are furthest apart where {share(ks.flagged)} of the rows are called"
        f" positive: {share(ks.tpr)} of the positives against {share(ks.fpr)} of the negatives"
        f" (KS {decimal(best.ranking.ks)})."
    )
    if own is None:
        return text
    return (
        f"{text} Its own cut-off finds {share(own.tpr)} at a false positive rate of"
        f" {share(own.fpr)}."
    )


def _in_parts(facts: ReportFacts, best: ModelFacts) -> list[str]:
    """Describe how the AUC of a model differs in subgroups and over time."""
    place = facts.models.index(best)
    said = [
        _extremes(found.split, found.models[place], f"By {found.split.name}", best.name)
        for found in facts.subgroups
    ]
    if facts.periods is not None:
        parts = facts.periods.models[place].parts
        said.append(_extremes(facts.periods.split, parts, "Over time", best.name))
    return [text for text in said if text]


def _extremes(split: Split, parts: PartFacts, where: str, name: str) -> str:
    known = [
        (auc, label)
        for auc, label in zip(parts.ranking.table["auc"].tolist(), split.labels, strict=True)
        if not math.isnan(auc)
    ]
    if len(known) < 2:
        return ""
    (least, at_least), (most, at_most) = (pick(known, key=lambda of: of[0]) for pick in (min, max))
    text = (
        f"{where}, the AUC of {name} is from {area(least)} ({at_least}) to {area(most)} ({at_most})"
        f" in {len(known)} parts of the rows"
    )
    p_value = parts.ranking.p_value
    if math.isnan(p_value):
        return f"{text}."
    return f"{text}; equal AUCs: p {is_p(p_value)}."


def _cheapest(cut: CutOff, name: str) -> str:
    assert cut.costs is not None
    text = (
        f"If a false positive costs {decimal(cut.costs.false_positive, 2)} and a false negative"
        f" {decimal(cut.costs.false_negative, 2)}, {name} is cheapest where it calls"
        f" {share(cut.flagged)} of the rows positive"
    )
    if cut.cost_of_others is None:
        return text + "; there are too few rows to estimate what that costs on others."
    trivial = cut.trivial_cost or 0.0
    text += (
        f": {decimal(1000 * cut.cost_of_others, 1)} per 1,000 rows that had no say in the choice,"
        f" and {decimal(1000 * trivial, 1)} if all rows are treated alike"
    )
    if cut.cost_of_others >= trivial:
        text += ". At these costs the score saves nothing"
    return text + "."
