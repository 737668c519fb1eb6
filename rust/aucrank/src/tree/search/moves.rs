//! Moves of cuts: each node of a tree takes the cut, of any feature at any place, with which the
//! whole tree has the largest area, while the tests of all other nodes stay; until no node gains.

use std::sync::Arc;

use super::area_slopes::{CurveStep, ROUNDING, area, step_of};
use super::lookahead::PlacedTree;
use super::places::{PlaceCut, PlaceTests, PlacedRows};
use crate::data::{ClassSums, Tally};
use crate::tree::model::{Node, NodeSplit, RankingTree, SplitForm, TreeFrame};
use crate::{Interrupt, RankError, parallel};

/// Rounds over all nodes.
const MOST_ROUNDS: usize = 20;

/// A node of a tree whose cuts move; its sides come later in the list.
#[derive(Debug, Clone)]
struct MovedNode {
    /// The cut, and the nodes of its low and its high side.
    split: Option<(PlaceCut, [usize; 2])>,
    sums: ClassSums,
    rows: Vec<u32>,
}

/// A tree whose cuts move.
#[derive(Debug)]
pub(super) struct MovedTree<'a, T> {
    rows: &'a PlacedRows<T>,
    nodes: Vec<MovedNode>,
    max_fpr: f64,
    total: ClassSums,
}

/// The two sides of a node whose cut moves.
struct MovedSides {
    node: usize,
    roots: [usize; 2],
    /// The leaves of each side.
    sides: [Vec<usize>; 2],
    /// For each row of the node the position of its leaf among those of either side.
    positions: [Vec<u16>; 2],
    /// The steps of all other leaves.
    others: Vec<CurveStep>,
}

/// A better cut of a node.
struct Move {
    area: f64,
    cut: PlaceCut,
    /// Whether what is low now goes where what was high went.
    swaps: bool,
}

impl<'a, T: Tally> MovedTree<'a, T> {
    /// A tree, with cuts in other places.
    pub(super) fn new(
        rows: &'a PlacedRows<T>,
        tree: &PlacedTree,
        place: impl Fn(PlaceCut) -> PlaceCut + Copy,
        max_fpr: f64,
    ) -> Self {
        let all: Vec<u32> = (0..rows.n_rows() as u32).collect();
        let total = rows.sums(&all);
        let mut moved = Self { rows, nodes: Vec::new(), max_fpr, total };
        moved.append(tree, place);
        moved.send(0, all);
        moved
    }

    fn append(&mut self, tree: &PlacedTree, place: impl Fn(PlaceCut) -> PlaceCut + Copy) -> usize {
        let node = self.nodes.len();
        self.nodes.push(MovedNode { split: None, sums: ClassSums::default(), rows: Vec::new() });
        if let PlacedTree::Split(cut, sides) = tree {
            let sides = sides.each_ref().map(|side| self.append(side, place));
            self.nodes[node].split = Some((place(*cut), sides));
        }
        node
    }

    /// Sends rows down from a node.
    fn send(&mut self, node: usize, rows: Vec<u32>) {
        self.nodes[node].sums = self.rows.sums(&rows);
        if let Some((cut, sides)) = self.nodes[node].split {
            for (side, rows) in sides.into_iter().zip(self.rows.sides(&rows, cut)) {
                self.send(side, rows);
            }
        }
        self.nodes[node].rows = rows;
    }

    /// The leaves below a node, low sides first.
    fn leaves(&self, node: usize) -> Vec<usize> {
        match self.nodes[node].split {
            None => vec![node],
            Some((_, sides)) => sides.into_iter().flat_map(|side| self.leaves(side)).collect(),
        }
    }

    /// The leaf below a node to which a row goes.
    fn leaf(&self, mut node: usize, row: u32) -> usize {
        while let Some((cut, [low, high])) = self.nodes[node].split {
            node = if self.rows.is_low(cut, row) { low } else { high };
        }
        node
    }

    fn step(&self, sums: ClassSums) -> CurveStep {
        step_of(sums, self.total)
    }

    /// Area under the curve.
    pub(super) fn area(&self) -> f64 {
        let leaves = self.leaves(0).into_iter();
        let mut steps: Vec<CurveStep> =
            leaves.map(|leaf| self.step(self.nodes[leaf].sums)).collect();
        area(&mut steps, self.max_fpr)
    }

    /// Moves cuts until none gains.
    pub(super) fn improve(&mut self, interrupt: &Interrupt) -> Result<(), RankError> {
        for _ in 0..MOST_ROUNDS {
            let mut has_moved = false;
            for node in 0..self.nodes.len() {
                interrupt.check()?;
                let Some((_, [low, high])) = self.nodes[node].split else { continue };
                let Some(found) = self.best_move(node, low, high) else { continue };
                let sides = if found.swaps { [high, low] } else { [low, high] };
                self.nodes[node].split = Some((found.cut, sides));
                let rows = std::mem::take(&mut self.nodes[node].rows);
                self.send(node, rows);
                has_moved = true;
            }
            if !has_moved {
                break;
            }
        }
        Ok(())
    }

    /// The move of a node that gains most.
    fn best_move(&self, node: usize, low: usize, high: usize) -> Option<Move> {
        let roots = [low, high];
        let sides = roots.map(|side| self.leaves(side));
        let positions = [0, 1].map(|side| {
            let mut position = vec![0; self.nodes.len()];
            sides[side].iter().enumerate().for_each(|(place, &leaf)| position[leaf] = place as u16);
            let root = roots[side];
            let rows = self.nodes[node].rows.iter();
            rows.map(|&row| position[self.leaf(root, row)]).collect::<Vec<u16>>()
        });
        let others: Vec<CurveStep> = self
            .leaves(0)
            .into_iter()
            .filter(|leaf| !sides.iter().flatten().any(|of_node| of_node == leaf))
            .map(|leaf| self.step(self.nodes[leaf].sums))
            .collect();
        let of = MovedSides { node, roots, sides, positions, others };
        let now = self.area();
        let features: Vec<usize> = (0..self.rows.features.len()).collect();
        let of_feature = |feature: usize| {
            let (mut best, mut least) = (None, now + ROUNDING);
            self.moves(feature, &of, &mut |found: Move| {
                if found.area > least {
                    least = found.area;
                    best = Some(found);
                }
            });
            best
        };
        let found = parallel::map(features, of_feature);
        // Of ties the first feature.
        found.into_iter().flatten().reduce(
            |best, other| {
                if other.area > best.area { other } else { best }
            },
        )
    }

    /// Whether the cuts below a node still run in the directions of their features, given the sums
    /// of its leaves.
    fn keeps_directions(&self, node: usize, leaves: &[ClassSums]) -> bool {
        if !self.rows.has_directions() {
            return true;
        }
        let Some((cut, [low, high])) = self.nodes[node].split else { return true };
        let (of_low, of_high) = leaves.split_at(self.leaves(low).len());
        let [sums_low, sums_high] = [of_low, of_high].map(|side| side.iter().copied().sum());
        self.rows.may_cut(cut, sums_low, sums_high)
            && self.keeps_directions(low, of_low)
            && self.keeps_directions(high, of_high)
    }

    /// Every cut of a node by a feature that is allowed.
    fn moves(&self, feature: usize, of: &MovedSides, visit: &mut dyn FnMut(Move)) {
        let MovedSides { node, roots, sides, positions, others } = of;
        let n_places = self.rows.features[feature].n_places();
        let mut cells =
            sides.each_ref().map(|leaves| vec![vec![T::default(); leaves.len()]; n_places]);
        for (at, &row) in self.nodes[*node].rows.iter().enumerate() {
            let place = usize::from(self.rows.row(row)[feature]);
            let tally = self.rows.tallies[row as usize];
            for (cells, positions) in cells.iter_mut().zip(positions) {
                cells[place][usize::from(positions[at])] += tally;
            }
        }
        let cells = cells.map(|cells| {
            let sums = |cell: Vec<T>| cell.into_iter().map(Tally::sums).collect();
            cells.into_iter().map(sums).collect::<Vec<Vec<ClassSums>>>()
        });
        let mut steps = Vec::new();
        let n_known = self.rows.features[feature].n_known;
        let variants = self.rows.sweeps(feature).flat_map(|sweep| [(sweep, false), (sweep, true)]);
        for (sweep, swaps) in variants {
            let [of_low, of_high] = if swaps { [1, 0] } else { [0, 1] };
            let mut lows = vec![ClassSums::default(); sides[of_low].len()];
            let mut highs = vec![ClassSums::default(); sides[of_high].len()];
            for cell in &cells[of_high] {
                highs.iter_mut().zip(cell).for_each(|(sums, &more)| *sums += more);
            }
            for (bound, place) in sweep.bounds(n_known) {
                let more = &cells[of_low][place];
                lows.iter_mut().zip(more).for_each(|(sums, &more)| *sums += more);
                let less = &cells[of_high][place];
                highs.iter_mut().zip(less).for_each(|(sums, &less)| *sums -= less);
                let enough = |sums: &ClassSums| sums.rows >= self.rows.least;
                if bound == 0
                    || more.iter().all(|sums| sums.rows == 0)
                    || !(lows.iter().all(enough) && highs.iter().all(enough))
                {
                    continue;
                }
                let all = |sums: &[ClassSums]| sums.iter().copied().sum::<ClassSums>();
                let cut = PlaceCut { feature, bound, missing_low: sweep.missing_low };
                let is_allowed = self.rows.may_cut(cut, all(&lows), all(&highs))
                    && self.keeps_directions(roots[of_low], &lows)
                    && self.keeps_directions(roots[of_high], &highs);
                if !is_allowed {
                    continue;
                }
                steps.clear();
                steps.extend_from_slice(others);
                steps.extend(lows.iter().chain(&highs).map(|&sums| self.step(sums)));
                visit(Move { area: area(&mut steps, self.max_fpr), cut, swaps });
            }
        }
    }

    /// The fitted tree, from the tests of the places.
    pub(super) fn to_tree(&self, tests: &PlaceTests<'_>, frame: &Arc<TreeFrame>) -> RankingTree {
        let node = |MovedNode { split, sums, rows }: &MovedNode| {
            let split = split.map(|(cut, [low, high])| {
                let [of_low, of_high] = [low, high].map(|side| self.nodes[side].sums);
                let left_is_low = self.rows.ranks_low_first(cut, of_low, of_high);
                let test = tests.test(self.rows, cut, &self.rows.histogram(rows), left_is_low);
                let form = SplitForm::Stump(tests.of_values(&test));
                let (left, right) = if left_is_low { (low, high) } else { (high, low) };
                NodeSplit::new(form, left, right)
            });
            Node { sums: *sums, split }
        };
        RankingTree::new(Arc::clone(frame), self.nodes.iter().map(node).collect())
    }
}
