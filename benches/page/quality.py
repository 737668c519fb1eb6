"""The results of `python -m benches.studies.quality` as a table of the page of benchmarks."""

from pathlib import Path

import pandas as pd

from benches.common.over_sets import gain_in_points
from benches.speed.table import PACKAGES, machine_text

#: Models as the page calls them, by their names in the study, and whether a person can read them.
MODELS = {
    "ensemble": ("`RankingEnsemble()`", False),
    "ensemble, fast": ('`RankingEnsemble(presets="fast")`', False),
    "gradient boosting": ("`GradientBoostingRanker()`", False),
    "forest": ("`RankingForest(n_estimators=500)`", False),
    "linear": ("`LinearRanker()`", True),
    "additive": ("`GradientBoostingRanker.additive()`", True),
    "scorecard": ("`Scorecard()`", True),
    "terms": ("`AURORA()`", True),
    "integer score": ("`IntegerScore()`", True),
    "table": ("`RIMARC()`", True),
    "tree": ("`TreeRank()`", True),
    "catboost": ("CatBoost", False),
    "chimeraboost": ("ChimeraBoost", False),
    "lightgbm, stopped": ("LightGBM, stopped early", False),
    "xgboost, stopped": ("XGBoost, stopped early", False),
    "hist gradient boosting": ("histogram boosting, scikit-learn", False),
    "random forest": ("random forest of 500 trees, scikit-learn", False),
    "logistic regression": ("logistic regression, C = 0.1", True),
}

REFERENCE = "catboost"

#: The folder of the sets by which older defaults were chosen.
OLD = "data"

TEXT = Path(__file__).with_name("quality.md").read_text("utf-8")


def aucs_of(results):
    """Return the mean AUC of each set (rows) and model."""
    return pd.DataFrame({name: model["auc"] for name, model in results["models"].items()})


def table(results):
    """Return the table, best model first."""
    aucs = aucs_of(results)
    is_old = aucs.index.map(results["sets"]) == OLD
    batches = f"of the {is_old.sum()} | of the {(~is_old).sum()}"
    lines = [f"| | mean AUC | gain over CatBoost | {batches} | won, lost | s a fit |"]
    lines.append("| --- " * 7 + "|")
    for name in aucs.mean().sort_values(ascending=False).index:
        label, is_readable = MODELS[name]
        cells = [f"*{label}*" if is_readable else label, f"{aucs[name].mean():.4f}"]
        if name == REFERENCE:
            cells += [""] * 4
        else:
            for part in (aucs, aucs[is_old], aucs[~is_old]):
                cells.append(gain_in_points(part[name], part[REFERENCE]))
            gap = aucs[name] - aucs[REFERENCE]
            cells.append(f"{(gap > 0).sum()}, {(gap < 0).sum()}")
        lines.append(f"| {' | '.join(cells)} | {results['models'][name]['seconds']:.2g} |")
    lines.append("\nIn italics: models that a person can read.\n")
    return "\n".join(lines)


def section(results):
    """Return the part of the page on quality."""
    folders = list(results["sets"].values())
    versions = results["versions"]
    return TEXT.format(
        n_sets=len(folders),
        n_old=folders.count(OLD),
        n_new=len(folders) - folders.count(OLD),
        rows=results["rows"],
        folds={1: "one", 2: "two"}.get(results["folds"], results["folds"]),
        table=table(results),
        date=results["date"],
        machine=machine_text(results["machine"]),
        python=results["machine"]["python"],
        versions=", ".join(f"{PACKAGES.get(m, m)} {v}" for m, v in sorted(versions.items())),
    )
