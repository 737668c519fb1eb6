"""`aucrank describe`: what a saved model is, for a person to read."""

import argparse
from typing import Any

import numpy as np

from aucrank._export.rules import number
from aucrank.cli._model import SavedModel, load_model
from aucrank.cli._text import aligned, heading, plural


def run(args: argparse.Namespace) -> int:
    """Print the model."""
    model = load_model(args.model)
    estimator = model.estimator
    version = model.library_version
    by = "an unknown version of aucrank" if version is None else f"aucrank {version}"
    print(f"{model.class_name}, saved by {by} ({model.n_bytes:,} bytes)")
    print(_purpose(model))
    print(heading("Parameters"))
    print(_parameters(estimator))
    print(heading(f"Features ({len(model.features)})"))
    print(_features(model))
    if hasattr(estimator, "tree_"):
        print(describe_tree(estimator.tree_))
    if hasattr(estimator, "rounds_"):
        print(_describe_rounds(estimator))
    if hasattr(estimator, "program_"):
        print(_describe_program(estimator))
    if model.is_ranker and hasattr(estimator, "n_terms_"):
        print(_describe_selected_terms(estimator))
    if not model.is_ranker and hasattr(estimator, "bins"):
        print(_describe_bins(estimator))
    elif not model.is_ranker:
        print(_describe_binary_terms(estimator))
    if hasattr(estimator, "to_text"):
        print(_describe_card(estimator))
    if hasattr(estimator, "scorecard"):
        print(_describe_means(estimator))
    if hasattr(estimator, "coef_"):
        print(_describe_weights(estimator))
    return 0


def _purpose(model: SavedModel) -> str:
    """Tell what the model does to rows."""
    if not model.is_ranker and not hasattr(model.estimator, "bins"):
        does = "turns features into binary terms"
        if not hasattr(model.estimator, "classes_"):
            return does
        does += ", and tells how each ranks"
    else:
        does = "ranks" if model.is_ranker else "puts values into bins by how they rank"
    return f"{does} rows of class {model.positive!r} above rows of class {model.negative!r}"


def _parameters(estimator: Any) -> str:
    """All parameters; an auditor wants the defaults spelt out too."""
    defaults = type(estimator)().get_params(deep=False)
    params = estimator.get_params(deep=False)
    return aligned(
        {
            "parameter": params,
            "value": [repr(value) for value in params.values()],
            "": [
                "" if repr(v) == repr(defaults[k]) else "(not the default)"
                for k, v in params.items()
            ],
        }
    )


def _features(model: SavedModel) -> str:
    levels = [feature.levels for feature in model.features]
    columns: dict[str, Any] = {
        "name": [f"column {i}" if f.name is None else f.name for i, f in enumerate(model.features)],
        "kind": ["numeric" if known is None else "categorical" for known in levels],
    }
    if any(known is not None for known in levels):
        columns["levels"] = [None if known is None else len(known) for known in levels]
    importances = getattr(model.estimator, "feature_importances_", None)
    if importances is not None:
        columns["importance"] = importances
    if hasattr(model.estimator, "n_bins_"):
        columns["bins"] = model.estimator.n_bins_
        columns["AUC"] = model.estimator.aucs_
    if hasattr(model.estimator, "feature_indices_"):
        places = model.estimator.feature_indices_
        columns["terms"] = np.bincount(places, minlength=len(model.features))
    return aligned(columns)


def describe_tree(tree: Any) -> str:
    """Strata and words of a ranking tree, with headings."""
    size = f"{plural(tree.n_leaves, 'leaf', 'leaves')}, depth {tree.depth}"
    return "\n".join(
        [
            heading(f"Strata, best first ({size}, training AUC {tree.auc:.4f})"),
            aligned(tree.strata),
            heading("The tree in words"),
            tree.to_text().rstrip("\n"),
        ]
    )


def _describe_rounds(booster: Any) -> str:
    """List what a booster adds up: by feature where that can be told apart, else by round."""
    size = plural(booster.n_iter_, "round")
    if booster.n_iter_ == 0:
        return f"{heading(f'Terms ({size})')}\nall rows have the same score"
    if booster._model.is_additive:
        title, table, part = "Terms", booster.terms(), "value for each feature"
    else:
        title, table, part = "Rounds", booster.rounds_, "value for each round, from low to high"
    score = f"the sum of one {part}"
    if booster._model.by_sign:
        score = f"1 or -1, by the sign of {score}"
    else:
        score += _less(booster.threshold_)
    return "\n".join([heading(f"{title} ({size})"), f"score: {score}", "", aligned(table)])


def _describe_program(ranker: Any) -> str:
    """Tell a branching program in words."""
    program = ranker.program_
    size = f"{plural(program.n_layers, 'layer')}, {plural(program.n_nodes, 'node')}"
    outputs = {
        "votes": "votes",
        "sign": "1 of a majority of votes, or -1,",
        "node_rate": "share of positives",
    }
    return "\n".join(
        [
            heading(f"The program ({size})"),
            f"score: the {outputs[ranker.output]} where the way of a row ends"
            f"{_less(ranker.threshold_)}",
            "a row starts at #0 of layer 1; called positive, it goes from #i to #i+1, else to #i",
            "",
            program.to_text(),
        ]
    )


def _describe_selected_terms(ranker: Any) -> str:
    """List the terms that were selected, and tell the score that they make."""
    size = f"{plural(ranker.n_terms_, 'term')}, radius {number(ranker.radius_)}"
    # Rules say the features, too.
    terms = {name: column for name, column in ranker.terms().items() if name != "features"}
    return "\n".join(
        [
            heading(f"Terms, as they were found ({size})"),
            aligned(terms),
            heading("The score in words"),
            ranker.rules(),
        ]
    )


def _describe_bins(transformer: Any) -> str:
    """List the bins of each feature with their training rows."""
    n_bins = plural(transformer.n_bins_.sum(), "bin")
    return f"{heading(f'Bins ({n_bins})')}\n{aligned(transformer.bins())}"


def _describe_binary_terms(transformer: Any) -> str:
    """List the terms with their training rows."""
    n_terms = plural(transformer.n_terms_, "term")
    return f"{heading(f'Terms ({n_terms})')}\n{aligned(transformer.terms())}"


def _describe_card(card: Any) -> str:
    """Print a scorecard, and the bands to choose a cut-off by."""
    return "\n".join(
        [
            heading("The card"),
            card.to_text().rstrip("\n"),
            heading("Training rows by points"),
            aligned(card.score_table()),
        ]
    )


def _describe_means(ranker: Any) -> str:
    """List what a ranker takes the weighted mean of."""
    size = plural(int((ranker.weights_ > 0).sum()), "feature")
    return "\n".join(
        [
            heading(f"Scores of values ({size} of any weight)"),
            "score: their mean over what is known, by the weights of the features, less 0.5; "
            f"{number(ranker.base_score_)} where nothing is known",
            "",
            aligned(ranker.scorecard()),
        ]
    )


def _describe_weights(ranker: Any) -> str:
    """List the weights of a linear score."""
    table = ranker.terms()
    size = plural(table.n_rows, "feature")
    if table.n_rows == 0:
        return f"{heading(f'Weights ({size})')}\nall rows have the same score"
    return "\n".join(
        [
            heading(f"Weights ({size}, radius {number(ranker.radius_)})"),
            f"score: the sum of coef times value{_less(ranker.threshold_)}",
            "",
            aligned(table),
        ]
    )


def _less(threshold: float) -> str:
    return f", {'less' if threshold >= 0 else 'plus'} {number(abs(threshold))}"
