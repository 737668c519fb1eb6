"""The ranking tree as an object: tables, subtrees, leaves of rows, and text."""

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator

from aucrank import _core
from aucrank._base.external import ExternalModels, predicted_labels
from aucrank._data.as_frame import as_frame
from aucrank._data.input import count_rows, read_columns
from aucrank._data.labels import encode_binary
from aucrank._data.sample import Sample
from aucrank._data.schema import Schema, errors_by_name
from aucrank._data.table import Table, whole
from aucrank._data.weights import check_class_sums, check_weight
from aucrank._export.formula import (
    Branch,
    Condition,
    OpaqueCondition,
    Tree,
    parse,
    read_formula,
    tests_of,
)
from aucrank._export.rules import Region, Words, opaque_side
from aucrank._export.shap import shap_model
from aucrank._export.sizes import warn_of_size
from aucrank._export.sql import SqlWriter
from aucrank._plots.tree import RankingTreeDisplay, draw_tree
from aucrank._utils.dialects import Dialect
from aucrank._utils.numbers import rounded
from aucrank._utils.params import check_bool, check_choice, check_int, check_real
from aucrank._utils.threads import threads_for
from aucrank.tree._dependence import LEAF_VALUES, LeafValue

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from aucrank.metrics import RocCurve


class PruningPath:
    """The nested subtrees that are optimal for some price per leaf, from the whole tree to root.

    Attributes
    ----------
    alphas : ndarray of shape (n_trees,)
        Price per leaf, in units of AUC, from which on each tree is optimal; 0 for the first, then
        strictly rising.
    aucs : ndarray of shape (n_trees,)
        AUC of each tree on the training rows.
    n_leaves : ndarray of int, shape (n_trees,)
        Number of its leaves.
    trees : sequence of RankingTree
        The trees themselves, each created on access.
    """

    def __init__(self, tree: "RankingTree", table: dict[str, Any]) -> None:
        self.alphas: NDArray[np.float64] = table["alpha"]
        self.aucs: NDArray[np.float64] = table["train_auc"]
        self.n_leaves: NDArray[np.int64] = table["n_leaves"]
        self.trees: Sequence[RankingTree] = _TreesOfPath(tree, self.alphas)

    def __len__(self) -> int:
        return len(self.alphas)

    def __repr__(self) -> str:
        return repr(Table(alpha=self.alphas, auc=self.aucs, n_leaves=self.n_leaves))


class _TreesOfPath(Sequence[Any]):
    """Subtrees by position on the path."""

    def __init__(self, tree: "RankingTree", alphas: NDArray[np.float64]) -> None:
        self._tree = tree
        self._alphas = alphas

    def __len__(self) -> int:
        return len(self._alphas)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._tree.prune(alpha) for alpha in self._alphas[index]]
        return self._tree.prune(self._alphas[index])


class RankingTree:
    """A binary tree with ranked leaves: the model that `TreeRank` fits.

    A leaf holds a cell of the feature space. Its score is the number of leaves from it to the end
    of the ranking (the D-representation of [1]_), shifted by a constant so that it is positive
    exactly where more than half of its rows are expected to be positive. Every method that gives a
    smaller tree returns a new one.

    Attributes
    ----------
    n_leaves : int
        Number of leaves, and of distinct scores.
    depth : int
        Maximal number of splits between the root and a leaf.
    auc : float
        AUC on the training rows.
    roc : RocCurve
        Curve of the training rows, one knot for each leaf after (0, 0).
    nodes : Table
        One row for each node, the root first, left before right.
    strata : Table
        One row for each leaf, from the highest ranked to the lowest.
    importances : Table
        One row for each feature, from the most important to the least.
    cube_level : int or None
        For `~aucrank.tree.DyadicSplit`, the level of its cubes; None for other rules.
    classifiers : tuple of estimator
        For `~aucrank.tree.WeightedERM`, the fitted classifiers that its rules name by number;
        otherwise empty.

    References
    ----------
    .. [1] Clémençon and Vayatis, "Tree-based ranking methods", IEEE Trans. Inf. Theory 55(9),
       2009. :doi:`10.1109/TIT.2009.2025558`

    Examples
    --------
    >>> from aucrank import TreeRank
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> tree = TreeRank(max_depth=2, pruning=None).fit(X, y).tree_
    >>> tree.n_leaves
    4
    >>> tree.prune(0.1).n_leaves
    2
    """

    def __init__(
        self, core: _core.RankingTree, schema: Schema, classifiers: tuple[Any, ...] = ()
    ) -> None:
        self._core = core
        self._schema = schema
        self.classifiers = classifiers

    @property
    def n_leaves(self) -> int:
        """Number of leaves, and of distinct scores."""
        return self._core.n_leaves

    @property
    def depth(self) -> int:
        """Maximal number of splits between the root and a leaf."""
        return self._core.depth

    @property
    def auc(self) -> float:
        """AUC on the training rows."""
        return self._core.auc

    @property
    def cube_level(self) -> int | None:
        """For `DyadicSplit`, the level of its cubes; None for other rules."""
        return self._core.cube_level

    @property
    def roc(self) -> "RocCurve":
        """Curve of the training rows; its thresholds are the scores of the leaves."""
        from aucrank.metrics import RocCurve

        sums = [self._document["nodes"][leaf]["sums"] for leaf in self._core.leaves()]
        negative, positive = (
            np.cumsum([0, *(leaf[c] for leaf in sums)], dtype=np.uint64) for c in ("neg", "pos")
        )
        thresholds = np.concatenate(([np.inf], self._core.leaf_scores()))
        return RocCurve(_core.RocCurve(thresholds, negative, positive))

    @cached_property
    def nodes(self) -> Table:
        """One row for each node, the root first, left before right.

        Columns: ``node``, its number; ``parent``, ``left`` and ``right``, numbers of nodes, -1
        for none; ``depth``; ``size`` and ``n_pos``, weight of the training rows and of the
        positive ones; ``eta``, their share; ``gain``, what the split adds to the training AUC;
        ``rule``, which rows go left.
        """
        nodes, tree = self._document["nodes"], self._document
        n_nodes = len(nodes)
        parent, depth = np.full(n_nodes, -1), np.zeros(n_nodes, dtype=np.int64)
        left, right = np.full(n_nodes, -1), np.full(n_nodes, -1)
        rule = np.full(n_nodes, "", dtype=object)
        for number, node in enumerate(nodes):
            if node["split"] is None:
                continue
            left[number], right[number] = children = node["split"]["left"], node["split"]["right"]
            parent[list(children)] = number
            depth[list(children)] = depth[number] + 1
            rule[number] = self._says(number, left=True)
        unit = 2.0 ** tree["exponent"]
        pos, neg = (np.array([n["sums"][c] for n in nodes], np.float64) for c in ("pos", "neg"))
        # The gain of paper 2 Fig. 2, halved: what the split adds to the area.
        gain = np.where(left < 0, 0.0, neg * pos[left] - pos * neg[left]) / (2 * pos[0] * neg[0])
        return Table(
            node=np.arange(n_nodes),
            parent=parent,
            left=left,
            right=right,
            depth=depth,
            size=whole(unit * (pos + neg)),
            n_pos=whole(unit * pos),
            eta=pos / (pos + neg),
            gain=gain,
            rule=rule,
        )

    @cached_property
    def strata(self) -> Table:
        """One row for each leaf, from the highest ranked to the lowest.

        Columns: ``rank``, from 1; ``size`` and ``n_pos``, weight of the training rows and of the
        positive ones; ``eta``, their share; ``lift``, that share divided by the share of all rows;
        ``fpr_from``, ``fpr_to``, ``tpr_from``, ``tpr_to``, false and true positive rates at both
        ends of the leaf on the training curve; ``score``, the value of
        `TreeRank.decision_function`; ``node``, its number in `nodes`; ``rule``, which rows are in
        the leaf.
        """
        leaves = self._core.leaves()
        fpr, tpr = self._core.roc()
        nodes = self.nodes
        return Table(
            rank=np.arange(1, len(leaves) + 1),
            size=nodes["size"][leaves],
            n_pos=nodes["n_pos"][leaves],
            eta=nodes["eta"][leaves],
            lift=nodes["eta"][leaves] / nodes["eta"][0],
            fpr_from=fpr[:-1],
            fpr_to=fpr[1:],
            tpr_from=tpr[:-1],
            tpr_to=tpr[1:],
            score=self._core.leaf_scores(),
            node=leaves,
            rule=np.array([self._rule(leaf) for leaf in leaves], dtype=object),
        )

    @cached_property
    def importances(self) -> Table:
        """One row for each feature, from the most important to the least.

        Columns: ``feature``, its name, ``x0`` for the first one if it has none; ``importance``,
        square root of ``squared``, in units of AUC; ``squared``, the sum of the squared gains of
        the stumps on it, each the AUC that the stump alone would add to the whole sample ([3]_ sec.
        5.1); ``share``, its share of the sum of importances; ``n_splits``, number of stumps on it.

        Raises
        ------
        AttributeError
            For a tree of a `DyadicSplit` or a `WeightedERM`.

        References
        ----------
        .. [3] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite
           ranking", Mach. Learn. 83, 2011. https://hal.science/hal-00416054
        """
        if self._is_opaque:
            raise no_importances("importances")
        squared = self._core.importances()
        n_splits = np.zeros(len(squared), dtype=np.int64)
        for condition in self._conditions.values():
            for test in tests_of(condition):
                n_splits[test.feature] += 1
        importance = np.sqrt(squared)
        order = np.argsort(-importance, kind="stable")
        names = np.array([self._words.name(j) for j in range(len(squared))], dtype=object)
        total = importance.sum()
        return Table(
            feature=names[order],
            importance=importance[order],
            squared=squared[order],
            share=importance[order] / (total if total > 0 else 1.0),
            n_splits=n_splits[order],
        )

    def prune(self, alpha: float) -> "RankingTree":
        """Return the subtree with the largest training AUC minus ``alpha`` per leaf.

        In case of a tie, the smallest ([2]_ (13) and Theorem 3).

        Parameters
        ----------
        alpha : float
            Price per leaf, in units of AUC; not negative.

        Returns
        -------
        RankingTree
            A new tree.

        References
        ----------
        .. [2] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite
           ranking", Mach. Learn. 83, 2011. https://hal.science/hal-00416054
        """
        price = check_real(alpha, "alpha", low=0.0)
        assert price is not None
        return RankingTree(self._core.prune(price), self._schema, self.classifiers)

    def pruning_path(self) -> PruningPath:
        """Return the nested subtrees that `prune` can return, from the whole tree to its root.

        Returns
        -------
        PruningPath
            ``alphas``, ``aucs``, ``n_leaves`` and ``trees``.
        """
        return PruningPath(self, self._core.pruning_path())

    def best_subtree(self, n_leaves: int) -> "RankingTree":
        """Return the subtree of exactly ``n_leaves`` leaves with the largest training AUC.

        The AUC is that of the leaves ranked from left to right. Unlike the trees of the pruning
        path, those of different sizes need not be nested.

        Parameters
        ----------
        n_leaves : int
            From 1 to the number of leaves of this tree.

        Returns
        -------
        RankingTree
            A new tree.
        """
        size = check_int(n_leaves, "n_leaves", low=1, high=self.n_leaves)
        assert size is not None
        return RankingTree(self._core.best_subtree(size), self._schema, self.classifiers)

    def subtree(self, leaves: Sequence[int]) -> "RankingTree":
        """Return the tree in which the given nodes are leaves; the rest is unchanged.

        Parameters
        ----------
        leaves : sequence of int
            Numbers of nodes as in `nodes`, none below another.

        Returns
        -------
        RankingTree
            A new tree with renumbered nodes.
        """
        last = len(self.nodes["node"]) - 1
        numbers = [check_int(leaf, "a node of leaves", low=0, high=last) for leaf in leaves]
        core = self._core.subtree([number for number in numbers if number is not None])
        return RankingTree(core, self._schema, self.classifiers)

    def best_on(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "RankingTree":
        """Return the subtree of the pruning path that has the largest AUC on the given rows.

        In case of a tie, the smallest. Only the nested path is searched: another subtree may rank
        these rows better.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit, preferably not those of the fit.
        y : array-like of shape (n,)
            Their labels, two distinct values. The greater one is the class that ranks first.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row.

        Returns
        -------
        RankingTree
            A new tree.

        Raises
        ------
        ValueError
            If the rows, the labels or the weights are not valid.

        Examples
        --------
        >>> from aucrank import TreeRank
        >>> from aucrank.datasets import make_gaussian_pair
        >>> train, later = (make_gaussian_pair(500, random_state=seed) for seed in (0, 1))
        >>> tree = TreeRank(pruning=None).fit(train.X, train.y).tree_
        >>> tree.best_on(later.X, later.y).n_leaves < tree.n_leaves
        True
        """
        columns = read_columns(self._reader, X, self._schema)
        classes, positive = encode_binary(y)
        if count_rows(columns) != len(positive):
            raise ValueError(
                "Found input variables with inconsistent numbers of samples:"
                f" {[count_rows(columns), len(positive)]}"
            )
        weight = check_weight(sample_weight, len(positive))
        check_class_sums(weight, positive, classes)
        with errors_by_name(self._schema):
            sample = Sample(columns, self._schema, positive, weight)
            best = self._core.best_on(sample.core, threads_for(None, count_rows(columns)))
        return RankingTree(best, self._schema)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of int64, shape (n,)
            Numbers of nodes, as in `nodes` and `strata`.
        """
        X = as_frame(X)
        columns = read_columns(self._reader, X, self._schema)
        external = (
            ExternalModels(self.classifiers, X, predicted_labels) if self.classifiers else None
        )
        with errors_by_name(self._schema):
            n_threads = threads_for(None, count_rows(columns))
            places = self._core.apply(columns, n_threads, external)
        return self._core.leaves()[places]

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the nodes that each row visits, from the root to its leaf.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        csr_matrix of shape (n, n_nodes)
            1 if the row visits the node.
        """
        parent = self.nodes["parent"]
        paths = {leaf: sorted(_to_root(leaf, parent)) for leaf in self._core.leaves()}
        rows = [paths[leaf] for leaf in self.apply(X)]
        starts = np.concatenate(([0], np.cumsum([len(path) for path in rows])))
        places = np.concatenate(rows)
        return csr_matrix(
            (np.ones(len(places), dtype=np.int64), places, starts), shape=(len(rows), len(parent))
        )

    def inner_tree(self, node: int) -> Table | None:
        """Return the tree of stumps inside a split of `LeafRank`.

        Parameters
        ----------
        node : int
            Number of a node, as in `nodes`.

        Returns
        -------
        Table or None
            One row for each stump and each cell, the root first, left before right: ``place``, its
            number; ``parent``, ``left`` and ``right``, numbers of others, -1 for none; ``depth``;
            ``size`` and ``n_pos``, weight of the training rows and of the positive ones; ``eta``,
            their share; ``rule``, which rows go left inside; ``side``, the side into which a cell
            is merged: "left" or "right", empty for a stump. None for a leaf and for other splits,
            also for a LeafRank of one stump.

        Raises
        ------
        ValueError
            If there is no such node.

        Examples
        --------
        >>> from aucrank import TreeRank
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 1, 0]
        >>> model = TreeRank(split="leafrank", min_samples_leaf=1, pruning=None).fit(X, y)
        >>> model.tree_.inner_tree(0)["side"].tolist()
        ['', '', 'left', 'right', 'right']
        """
        number = check_int(node, "node", low=0, high=len(self._document["nodes"]) - 1)
        assert number is not None
        cuts = (self._document["nodes"][number]["split"] or {}).get("cuts")
        if cuts is None:
            return None
        n = len(cuts)
        parent, depth = np.full(n, -1), np.zeros(n, dtype=np.int64)
        left, right = np.full(n, -1), np.full(n, -1)
        rule, side = np.full(n, "", dtype=object), np.full(n, "", dtype=object)
        # Both lists are in preorder, so tests and stumps are in the same order.
        tests = tests_of(self._conditions[number])
        for place, cut in enumerate(cuts):
            if "part" in cut:
                side[place] = "left" if cut["part"]["goes_left"] else "right"
                continue
            left[place], right[place] = children = cut["cut"]["left"], cut["cut"]["right"]
            parent[list(children)] = place
            depth[list(children)] = depth[place] + 1
            rule[place] = self._words.union(self._words.side(next(tests), left=True))
        sums = [next(iter(cut.values()))["sums"] for cut in cuts]
        unit = 2.0 ** self._document["exponent"]
        pos, neg = (np.array([of[c] for of in sums], np.float64) for c in ("pos", "neg"))
        return Table(
            place=np.arange(n),
            parent=parent,
            left=left,
            right=right,
            depth=depth,
            size=whole(unit * (pos + neg)),
            n_pos=whole(unit * pos),
            eta=pos / (pos + neg),
            rule=rule,
            side=side,
        )

    def to_text(self, *, inner: bool = False) -> str:
        """Return the tree as text, one line for each node.

        Parameters
        ----------
        inner : bool, default=False
            Whether the tree of stumps inside each split of `LeafRank` follows its node, one line
            for each of its cells, with the side that it is merged into.

        Returns
        -------
        str
            The first child of a node ranks higher. ``#k`` is the position of a leaf in the ranking.
        """
        show_inner = check_bool(inner, "inner")
        return "\n".join(self._lines(0, "all rows", "", "", show_inner))

    def _inner_lines(self, node: int, indent: str) -> Iterator[str]:
        """One line for each cell of the tree of stumps inside a split."""
        table = self.inner_tree(node)
        if table is None:
            return
        tests = list(tests_of(self._conditions[node]))
        test_of = dict(zip(np.flatnonzero(table["left"] >= 0).tolist(), tests, strict=True))
        parent, left = table["parent"], table["left"]
        for cell in np.flatnonzero(left < 0).tolist():
            path = list(_to_root(cell, parent))[::-1]
            sides = (
                self._words.side(test_of[stump], left=bool(left[stump] == child))
                for stump, child in pairwise(path)
            )
            size, n_pos = rounded(table["size"][cell]), rounded(table["n_pos"][cell])
            yield (
                f"{indent}: {table['side'][cell]} cell, {self._words.path(sides)}: {n_pos} of"
                f" {size} positive ({table['eta'][cell]:.1%})"
            )

    def _lines(
        self, node: int, rule: str, first: str, rest: str, show_inner: bool
    ) -> Iterator[str]:
        nodes = self.nodes
        size, n_pos = rounded(nodes["size"][node]), rounded(nodes["n_pos"][node])
        place = "" if nodes["left"][node] >= 0 else f"  #{self._rank[node]}"
        yield f"{first}{rule}: {n_pos} of {size} positive ({nodes['eta'][node]:.1%}){place}"
        if nodes["left"][node] >= 0:
            if show_inner:
                yield from self._inner_lines(node, rest)
            left, right = nodes["left"][node], nodes["right"][node]
            rule, other = nodes["rule"][node], self._says(node, left=False)
            yield from self._lines(left, rule, f"{rest}|-- ", f"{rest}|   ", show_inner)
            yield from self._lines(right, other, f"{rest}`-- ", f"{rest}    ", show_inner)

    def to_dot(self) -> str:
        """Return the tree as a Graphviz graph.

        Returns
        -------
        str
            Text in the DOT language; ``dot -Tsvg`` draws it.
        """
        nodes = self.nodes
        lines = ["digraph RankingTree {", '  node [shape=box, fontname="Helvetica"];']
        for node in nodes["node"]:
            label = f"{rounded(nodes['n_pos'][node])} of {rounded(nodes['size'][node])} positive"
            if nodes["left"][node] < 0:
                label = f"#{self._rank[node]}\\n{label}"
                lines.append(f'  {node} [label="{label}", style=rounded];')
                continue
            lines.append(f'  {node} [label="{_dot_text(nodes["rule"][node])}\\n{label}"];')
            lines.append(f'  {node} -> {nodes["left"][node]} [label="yes"];')
            lines.append(f'  {node} -> {nodes["right"][node]} [label="no"];')
        return "\n".join([*lines, "}"])

    def to_sql(self, dialect: Dialect = "ansi") -> str:
        """Return a SQL expression that scores a row as `TreeRank.decision_function` does.

        Parameters
        ----------
        dialect : str, default="ansi"
            How names, strings and numbers are written: "ansi", which Oracle also accepts, "sqlite",
            "duckdb", "postgres", "mysql" (also for MariaDB), "bigquery", "snowflake", "spark" or
            "tsql". Categories are compared as the database compares strings: a collation that
            ignores case or accents merges categories that differ only in these.

        Returns
        -------
        str
            Nested ``CASE`` expressions over the columns of the fit (``x0``, ``x1``, ... where they
            had no names), without a trailing semicolon. NULL is a missing value; a category that
            was not seen in fit counts as missing. NaN is not NULL to a database: store it as NULL.

        Raises
        ------
        ValueError
            For a tree of a `DyadicSplit`, which has too many cubes, or of a `WeightedERM`; if the
            dialect is unknown, or cannot express a name or a category, such as an empty name or
            NUL.

        Warns
        -----
        ExportSizeWarning
            If it will take more than some 20 MB, with its size.

        Examples
        --------
        >>> from aucrank import TreeRank
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
        >>> model = TreeRank(min_samples_leaf=1, pruning=None).fit(X, y)
        >>> print(model.tree_.to_sql())
        CASE WHEN ("x0" IS NULL OR "x0" >= 2.5) THEN 1
        ELSE 0
        END
        """
        writer = SqlWriter(self._schema, dialect)
        formula = read_formula(self._core.formula(self._core.leaf_scores()), "tree", "SQL")
        warn_of_size(formula, self._schema, "SQL", "tree")
        return writer.formula(formula)

    def plot(
        self,
        ax: "Axes | Sequence[Axes] | None" = None,
        *,
        max_depth: int | None = None,
        roc: bool = True,
        cmap: Any = "YlOrBr",
    ) -> RankingTreeDisplay:
        """Draw the tree with matplotlib, with its training ROC curve next to it.

        A box shows the rule that sends rows left, and how many of its rows are positive. Leaves are
        coloured by their share of positives and numbered by their position in the ranking; the
        curve shows the number at the end of each leaf.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or two of them, default=None
            Axes to draw on: those of the tree and, with ``roc``, those of the curve. None makes a
            figure in which nothing overlaps; it grows with the number of leaves.
        max_depth : int or None, default=None
            Maximal depth to draw; a node there shows how many leaves are below it. None draws all.
        roc : bool, default=True
            Whether to draw the curve.
        cmap : str or matplotlib.colors.Colormap, default="YlOrBr"
            Colours of leaves, from no positive rows to the largest share that a leaf has.

        Returns
        -------
        RankingTreeDisplay
            The display; see `aucrank.inspection`.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``max_depth`` is negative, or ``ax`` does not hold as many axes as are needed.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from aucrank import TreeRank
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
        >>> model = TreeRank(min_samples_leaf=1, pruning=None).fit(X, y)
        >>> display = model.tree_.plot()
        >>> print(display.node_texts_[0].get_text())
        x0 >= 2.5
        2 of 4 positive (50.0%)
        """
        return draw_tree(self, ax, max_depth=max_depth, roc=roc, cmap=cmap)

    def to_shap(self, output: LeafValue = "score") -> dict[str, Any]:
        """Return the tree as a model for `shap.TreeExplainer`.

        Parameters
        ----------
        output : {"score", "probability", "eta", "rank"}, default="score"
            Output to explain: `TreeRank.decision_function`; `TreeRank.predict_proba` of
            ``classes_[1]``; the share of positives of the leaf in training; or the position of the
            leaf from the end, divided by the number of leaves.

        Returns
        -------
        dict
            A plain binary tree of thresholds in float64, with a side for missing values. The cells
            that a LeafRank split merges are separated again, and the subtree below is copied for
            each; the training weight of a node is divided among its copies in proportion to the
            cells.

        Raises
        ------
        ValueError
            If the tree splits on a categorical feature, or more than 100,000 nodes would be needed.

        Notes
        -----
        The expected value of the explainer is the mean output of the training rows.

        Examples
        --------
        >>> from aucrank import TreeRank
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = TreeRank(max_depth=2, pruning=None).fit(X, y)
        >>> plain = model.tree_.to_shap()
        >>> sorted(plain["trees"][0])[:3]
        ['children_default', 'children_left', 'children_right']

        With shap installed, ``shap.TreeExplainer(plain)(X)`` explains the scores.
        """
        check_choice(output, "output", LEAF_VALUES)
        return shap_model([self._tree(self._core.leaf_values(output))], self._schema)

    def __repr__(self) -> str:
        return f"RankingTree(n_leaves={self.n_leaves}, depth={self.depth}, auc={self.auc:.4f})"

    @cached_property
    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self._core.to_json())
        return document

    def _tree(self, of_leaves: NDArray[np.float64]) -> Tree:
        """Return the tree with one number for each leaf, given in ranking order."""
        tree = parse(json.loads(self._core.formula(of_leaves)))
        if not isinstance(tree, Tree):
            raise TypeError("the formula of a tree is a tree")
        return tree

    @cached_property
    def _conditions(self) -> dict[int, Condition]:
        """Condition that sends rows left, for each inner node."""
        nodes = enumerate(self._tree(self._core.leaf_scores()).nodes)
        return {number: node.condition for number, node in nodes if isinstance(node, Branch)}

    @property
    def _is_opaque(self) -> bool:
        return any(isinstance(c, OpaqueCondition) for c in self._conditions.values())

    @cached_property
    def _words(self) -> Words:
        return Words(self._schema, self._document["has_missing"])

    @cached_property
    def _rank(self) -> dict[int, int]:
        return {int(leaf): rank for rank, leaf in enumerate(self._core.leaves(), start=1)}

    @property
    def _reader(self) -> BaseEstimator:
        """Estimator for scikit-learn's checks of columns."""
        reader = BaseEstimator()
        reader.n_features_in_ = len(self._schema.features)
        if self._schema.names is not None:
            reader.feature_names_in_ = np.array(self._schema.names, dtype=object)
        return reader

    def _says(self, node: int, *, left: bool) -> str:
        """Describe the rows on one side of a split."""
        condition = self._conditions[node]
        match condition:
            case OpaqueCondition(
                {"classifier": {"number": number, "positive_left": positive_left}}
            ):
                answer = "positive" if positive_left == left else "negative"
                return f"{type(self.classifiers[number]).__name__} #{number} says {answer}"
            case OpaqueCondition():
                return opaque_side(condition, left=left)
        return self._words.union(self._side(node, left=left))

    def _side(self, node: int, *, left: bool) -> list[Region]:
        return self._words.side(self._conditions[node], left=left)

    def _rule(self, leaf: int) -> str:
        parent, left = self.nodes["parent"], self.nodes["left"]
        path = list(_to_root(leaf, parent))[::-1]
        steps = [(node, left[node] == child) for node, child in pairwise(path)]
        if self._is_opaque:
            return " and ".join(self._says(node, left=is_left) for node, is_left in steps) or (
                "all rows"
            )
        return self._words.path(self._side(node, left=is_left) for node, is_left in steps)


def _dot_text(text: str) -> str:
    """Escape a text for a label in double quotes; DOT also reads HTML entities."""
    for written, as_label in (("&", "&amp;"), ("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n")):
        text = text.replace(written, as_label)
    # NUL would end the file.
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def no_importances(name: str) -> AttributeError:
    """Return the error of a tree without importances of single features, for an attribute name."""
    return AttributeError(
        f"{name} is not defined for a DyadicSplit or a WeightedERM, whose splits test many features"
        " at once; sklearn.inspection.permutation_importance measures any model"
    )


def _to_root(node: int, parent: NDArray[np.int64]) -> Iterator[int]:
    while node >= 0:
        yield int(node)
        node = parent[node]
