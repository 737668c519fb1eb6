"""A branching program as an object: tables of its nodes and edges, text, and a plot."""

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from aucrank import _core
from aucrank._data.schema import Schema
from aucrank._data.table import Table
from aucrank._export.formula import parse_steps
from aucrank._export.rules import Words
from aucrank._plots.program import BranchingProgramDisplay, draw_program
from aucrank._utils.numbers import rounded
from aucrank.boosting._terms import rule_of_feature, rule_of_score

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class BranchingProgram:
    """Layers of classifiers with two outgoing edges each: the model that `MartiRank` fits.

    A row starts at the one node of layer 1. From node i of layer t it goes to node i + 1 of layer t
    + 1 where the classifier of the node calls it positive, else to node i: i is the number of votes
    for "positive" so far, and nodes are shared by all paths with as many votes (Fig. 2 of [1]_).
    The path ends in layer T + 1, or at a frozen node. With ``routing="expected"`` a row takes all
    paths at once, each weighted by the share of coins that send it there.

    Attributes
    ----------
    n_layers : int
        Number of layers of classifiers, the paper's T; the terminal nodes are one layer more.
    n_nodes : int
        Number of nodes that training rows reached, terminal ones included.
    nodes : Table
        One row for each node, layer by layer, from the fewest votes to the most.
    edges : Table
        One row for each edge from a node to the next layer.
    routing : str
        How rows are routed: "expected" or "sampled".

    References
    ----------
    .. [1] Long and Servedio, "Boosting the area under the ROC curve", Advances in Neural
       Information Processing Systems 20, 2007.

    Examples
    --------
    >>> from aucrank import MartiRank
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> program = MartiRank(n_rounds=4).fit(X, y).program_
    >>> program
    BranchingProgram(n_layers=4, n_nodes=15)
    >>> program.nodes["rule"][0]
    'worst_perimeter >= 105.95'
    """

    def __init__(self, core: _core.BranchingProgram, schema: Schema) -> None:
        self._core = core
        self._schema = schema

    @property
    def n_layers(self) -> int:
        """Number of layers of classifiers."""
        return self._core.n_rounds

    @property
    def n_nodes(self) -> int:
        """Number of nodes that training rows reached, terminal ones included."""
        return int((self.nodes["kind"] != "unreached").sum())

    @property
    def routing(self) -> str:
        """How rows are routed: "expected" or "sampled"."""
        return self._core.routing

    @cached_property
    def nodes(self) -> Table:
        """One row for each node, layer by layer, from the fewest votes to the most.

        Columns: ``layer``, from 1; ``index``, number of votes for "positive" so far; ``kind``:
        "ranker", "coin" (no ranker was better than chance, so a fair coin sends rows on), "frozen",
        "terminal", or "unreached" by any training row; ``rule``, which rows the classifier calls
        positive, apart from its coin; ``positives`` and ``negatives``, weight of the training rows
        of each class at the node; ``share``, that of the positives in both; ``low`` and ``high``,
        chance of being called positive for rows that are not in the rule and for those that are;
        ``zeta``, the chance of the coin; ``p_pos`` and ``p_neg``, the error rates before the coin;
        ``error``, that of either class after it; ``label``, 1 or -1 at a frozen node, else 0;
        ``votes``, the votes of a path that ends here, NaN where paths continue.
        """
        raw = self._core.nodes()
        positives, negatives = raw["pos"], raw["neg"]
        with np.errstate(invalid="ignore"):
            share = positives / (positives + negatives)
        return Table(
            layer=raw["layer"],
            index=raw["index"],
            kind=np.array(raw["kind"]),
            rule=np.array(
                ["" if rule is None else self._rule(json.loads(rule)) for rule in raw["rule"]],
                dtype=object,
            ),
            positives=positives,
            negatives=negatives,
            share=share,
            **{name: raw[name] for name in ("low", "high", "zeta", "p_pos", "p_neg", "error")},
            label=raw["label"],
            votes=raw["votes"],
        )

    @cached_property
    def edges(self) -> Table:
        """One row for each edge from a node to the next layer.

        Columns: ``layer`` and ``index``, of the node that it leaves; ``vote``, 1 to node index + 1
        of the next layer and 0 to node index; ``positives`` and ``negatives``, weight of the
        training rows of each class on this edge.
        """
        nodes = self.nodes
        rows = []
        goes_on = np.isin(nodes["kind"], ("ranker", "coin"))
        # The rows at node i of the next layer come from node i by the vote 0, or from node i - 1 by
        # the vote 1: starting at the left end, each weight follows from those before it.
        for layer in range(1, self.n_layers + 1):
            here, there = (np.flatnonzero(nodes["layer"] == at) for at in (layer, layer + 1))
            carried = np.zeros(2)
            for index, place in enumerate(here):
                mass = np.array([nodes["positives"][place], nodes["negatives"][place]])
                below = there[index]
                came = np.array([nodes["positives"][below], nodes["negatives"][below]])
                if not goes_on[place]:
                    carried = np.zeros(2)
                    continue
                left = np.clip(came - carried, 0, mass)
                # Rounding remainder of a difference of equal numbers.
                left[left < 1e-12 * mass] = 0
                carried = mass - left
                carried[carried < 1e-12 * mass] = 0
                rows += [(layer, index, 0, *left), (layer, index, 1, *carried)]
        columns = np.array(rows, dtype=np.float64).reshape(-1, 5).T
        names = ("layer", "index", "vote")
        return Table(
            **{n: c.astype(np.int64) for n, c in zip(names, columns, strict=False)},
            positives=columns[3],
            negatives=columns[4],
        )

    def to_text(self) -> str:
        """Return the program as text, one line for each node that training rows reached.

        Returns
        -------
        str
            ``#i`` is the node with i votes for "positive" so far. Rows that match its rule are
            called positive; the chance of the opposite label by the coin, for them or for the rest,
            is in brackets.
        """
        nodes, lines = self.nodes, []
        for place, layer in enumerate(nodes["layer"]):
            if nodes["index"][place] == 0:
                is_last = layer == self.n_layers + 1
                lines.append(f"layer {layer}{' (terminal)' if is_last else ''}")
            if nodes["kind"][place] != "unreached":
                lines.append(f"  #{nodes['index'][place]} {self._says(place)}")
        return "\n".join(lines)

    def plot(
        self, ax: "Axes | None" = None, *, rules: bool | None = None, cmap: Any = "coolwarm"
    ) -> BranchingProgramDisplay:
        """Draw the program with matplotlib, layer below layer.

        Rows that are called positive go to the right. The width of an edge is the share of the
        training rows on it, with both classes weighted equally; its colour, and that of a node, is
        the share of positives, weighted likewise. Frozen nodes are square and show their label; the
        votes are below the terminal nodes, and a line separates those that ``predict`` of the
        paper's classifier calls negative from those that it calls positive.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None makes a figure that is large enough for the program.
        rules : bool or None, default=None
            Whether each node shows its rule and its counts; None for programs of up to 5 layers.
            Otherwise nodes are circles with their share of positives.
        cmap : str or matplotlib.colors.Colormap, default="coolwarm"
            Colours of shares from 0 to 1.

        Returns
        -------
        BranchingProgramDisplay
            The display; see `aucrank.inspection`.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        return draw_program(self, ax, rules=rules, cmap=cmap)

    def __repr__(self) -> str:
        return f"BranchingProgram(n_layers={self.n_layers}, n_nodes={self.n_nodes})"

    @property
    def _words(self) -> Words:
        return Words(self._schema, [True] * len(self._schema.features))

    def _says(self, place: int) -> str:
        nodes = self.nodes
        positives, negatives = nodes["positives"][place], nodes["negatives"][place]
        n_pos, size = rounded(positives), rounded(positives + negatives)
        counts = f"{n_pos} of {size} positive ({nodes['share'][place]:.1%})"
        match nodes["kind"][place]:
            case "ranker":
                says = "else positive" if nodes["high"][place] == 1 else "yet negative"
                zeta = nodes["zeta"][place]
                coin = f" ({says} with {zeta:.1%})" if zeta > 0 else ""
                return f"{nodes['rule'][place]}{coin}: {counts}"
            case "coin":
                return f"fair coin: {counts}"
            case "frozen":
                label = "positive" if nodes["label"][place] > 0 else "negative"
                return f"frozen, {label}: {counts}"
        votes = nodes["votes"][place]
        return f"{rounded(votes)} vote{'' if votes == 1 else 's'}: {counts}"

    def _rule(self, term: dict[str, Any]) -> str:
        """Return in words the rows that have the higher of the two values of a term."""
        match term:
            case {"feature": step_function}:
                return rule_of_feature(self._words, parse_steps(step_function))
            case {"tree": {"values": values}}:
                n_high = sum(value == max(values) for value in values)
                return f"in the first {n_high} of {len(values)} leaves of a tree"
            case {"scored": scored}:
                return rule_of_score(scored)
            case other:
                raise ValueError(f"unknown term {other!r}")
