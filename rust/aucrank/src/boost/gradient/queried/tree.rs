//! A tree on rows elsewhere.

use std::ops::Range;

use super::super::best_split::{BestSplit, SearchMemory};
use super::super::grow::{GradientGrower, GrowNode, GrowingTree, Parted, Root, TreeSource};
use super::super::sums::UnitSums;
use super::ask::{AskBag, BagStep, BagSums, BagWant, CellSums, CellWant};
use crate::data::{CellId, CellSplit};
use crate::rows::{Rows, StepLog, View};
use crate::{Interrupt, RankError};

/// A node is counted by code if its rows are at most this multiple of the minimum of a side: such
/// nodes often have sides with too few rows, and each retry would take a question.
const COUNTED: u64 = 256;

/// The rows of a tree.
pub(super) struct QueriedTree<'t, 'a> {
    pub(super) bag: BagLine<'t, 'a>,
    /// Columns of codes, each with the number of its codes.
    pub(super) columns: Vec<(usize, usize)>,
    /// The root, if it is known.
    pub(super) root: Option<CellSums>,
    /// Number of rows per unit of mass.
    pub(super) mass_unit: f64,
    pub(super) n_cells: CellId,
    /// Whether it is grown to its end even if the time of the fit is over.
    pub(super) is_needed: bool,
}

/// The rows of a bag elsewhere, after the steps of its log.
pub(super) struct BagLine<'t, 'a> {
    pub(super) rows: &'t dyn Rows,
    pub(super) log: &'t mut StepLog<'a, BagStep>,
    pub(super) interrupt: &'a Interrupt,
}

impl BagLine<'_, '_> {
    pub(super) fn ask(&self, want: &BagWant) -> Result<BagSums, RankError> {
        let ask = |steps| AskBag { steps, want: want.clone() };
        self.log.ask(self.rows, &View::All, ask, self.interrupt)
    }
}

/// Data kept for a node.
#[derive(Debug)]
pub(super) struct QueriedNode {
    cell: CellId,
    mass: u64,
    bins: Option<CellBins>,
    /// Its sides by its best split, if they are known.
    sides: Option<[QueriedSide; 2]>,
}

/// Sums of a cell by code.
#[derive(Debug)]
struct CellBins {
    sums: Vec<UnitSums>,
    /// Numbers of rows; empty if unknown.
    counts: Vec<u64>,
}

/// A side of a split.
#[derive(Debug)]
struct QueriedSide {
    cell: CellId,
    n_rows: u64,
    mass: u64,
    bins: Option<CellBins>,
}

type QueriedGrowNode = GrowNode<QueriedNode>;

/// A node whose sides are requested.
struct QueriedTarget {
    number: usize,
    cells: [CellId; 2],
}

impl TreeSource for QueriedTree<'_, '_> {
    type Kept = QueriedNode;

    fn root(&mut self, grower: &GradientGrower<'_>) -> Result<Root<QueriedNode>, RankError> {
        let root = if let Some(root) = self.root.take() {
            root
        } else {
            let root = CellWant { cell: 0, is_counted: false };
            self.ask(Vec::new(), vec![root])?.cells.pop().ok_or_else(bad)?
        };
        let CellSums { n_rows, mass, sums, counts } = root;
        let of_all = if grower.layout.features.is_empty() {
            UnitSums::default()
        } else {
            grower.layout.of(0, &sums).iter().copied().sum()
        };
        let bins = Some(CellBins { sums, counts });
        Ok(Root { kept: QueriedNode { cell: 0, mass, bins, sides: None }, n_rows, sums: of_all })
    }

    fn best(
        &self,
        grower: &GradientGrower<'_>,
        node: &QueriedGrowNode,
        number: usize,
        memory: &mut SearchMemory,
    ) -> Option<BestSplit> {
        let bins = node.kept.bins.as_ref()?;
        let (layout, searched) = (&grower.layout, grower.node(node, number));
        grower.best_of(memory, |_, place| {
            let feature = layout.features[place];
            if !grower.may_ask(&node.tested, feature) {
                return None;
            }
            let counts = (!bins.counts.is_empty()).then(|| layout.of(place, &bins.counts));
            let sums = layout.of(place, &bins.sums);
            let of_feature = &grower.features[feature];
            grower.plan.criterion.best_of_feature(&searched, feature, of_feature, sums, counts)
        })
    }

    fn part(
        &mut self,
        grower: &GradientGrower<'_>,
        leaves: &mut GrowingTree<QueriedNode>,
        number: usize,
        split: &BestSplit,
    ) -> Result<Parted<QueriedNode>, RankError> {
        if leaves.nodes[number].kept.sides.is_none() {
            self.ask_sides(grower, leaves, number, split)?;
        }
        let node = &mut leaves.nodes[number];
        let sides = node.kept.sides.take().ok_or_else(bad)?;
        let is_counted = node.kept.bins.as_ref().is_some_and(|bins| !bins.counts.is_empty());
        let least = sides[0].n_rows.min(sides[1].n_rows);
        if least < grower.plan.criterion.min_rows && !is_counted {
            // Sums do not give the number of rows: this node is tried again.
            let [left, right] = [sides[0].cell, sides[1].cell];
            let cell = self.new_cell();
            self.bag.log.push(BagStep::Join { left, right, cell });
            let joined = CellWant { cell, is_counted: true };
            let mut found = self.ask(Vec::new(), vec![joined])?;
            let CellSums { sums, counts, .. } = found.cells.pop().ok_or_else(bad)?;
            node.kept.cell = cell;
            node.kept.bins = Some(CellBins { sums, counts });
            let memory = &mut SearchMemory::default();
            return Ok(Parted::TooFew(self.best(grower, &leaves.nodes[number], number, memory)));
        }
        Ok(Parted::Sides(sides.map(|side| {
            let QueriedSide { cell, n_rows, mass, bins } = side;
            (QueriedNode { cell, mass, bins, sides: None }, n_rows)
        })))
    }

    fn count_children(
        &mut self,
        grower: &GradientGrower<'_>,
        leaves: &mut GrowingTree<QueriedNode>,
        parent: usize,
        children: [usize; 2],
    ) -> Result<(), RankError> {
        let nodes = &mut leaves.nodes;
        let of_parent = nodes[parent].kept.bins.take();
        let needs_bins =
            |node: &QueriedGrowNode| node.kept.bins.is_none() && grower.may_split(node);
        let [left, right] = children;
        for (child, other) in [(left, right), (right, left)] {
            if needs_bins(&nodes[child])
                && let (Some(parent), Some(other)) = (&of_parent, &nodes[other].kept.bins)
            {
                nodes[child].kept.bins = Some(parent.without(other));
            }
        }
        let missing: Vec<usize> =
            children.into_iter().filter(|&child| needs_bins(&nodes[child])).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let want = |&child: &usize| CellWant {
            cell: nodes[child].kept.cell,
            is_counted: is_few(grower, nodes[child].n_rows),
        };
        let cells = missing.iter().map(want).collect();
        let found = self.ask(Vec::new(), cells)?.cells;
        for (child, CellSums { sums, counts, .. }) in missing.into_iter().zip(found) {
            nodes[child].kept.bins = Some(CellBins { sums, counts });
        }
        Ok(())
    }

    fn drop_unneeded(
        &mut self,
        grower: &GradientGrower<'_>,
        leaves: &mut GrowingTree<QueriedNode>,
    ) {
        if !grower.keeps_sums() {
            for child in leaves.nodes.len() - 2..leaves.nodes.len() {
                leaves.nodes[child].kept.bins = None;
            }
        }
        let n_splits = grower.plan.max_leaves - leaves.n_leaves;
        if leaves.open.len() > n_splits {
            for number in leaves.open_numbers().skip(n_splits) {
                leaves.nodes[number].kept.bins = None;
            }
        }
    }

    fn leaf(&self, node: &QueriedGrowNode) -> (Range<usize>, f64) {
        (0..0, node.kept.mass as f64 * self.mass_unit)
    }

    fn end(&mut self, _leaves: &mut GrowingTree<QueriedNode>) {}
}

impl QueriedTree<'_, '_> {
    fn new_cell(&mut self) -> CellId {
        self.n_cells += 1;
        self.n_cells
    }

    fn ask(&self, sides: Vec<CellId>, cells: Vec<CellWant>) -> Result<BagSums, RankError> {
        // A round of five bags may take a hundred questions, on Spark half a minute.
        if !self.is_needed && self.bag.interrupt.is_over() {
            return Err(RankError::Interrupted);
        }
        let columns = self.columns.clone();
        self.bag.ask(&BagWant { measures: false, sides, columns, cells, leaves: None })
    }

    /// Queries the sides of a node to be split, and of all other leaves that may be split before
    /// the tree is full.
    fn ask_sides(
        &mut self,
        grower: &GradientGrower<'_>,
        leaves: &mut GrowingTree<QueriedNode>,
        number: usize,
        split: &BestSplit,
    ) -> Result<(), RankError> {
        let n_splits = grower.plan.max_leaves - leaves.n_leaves;
        let others = if grower.keeps_sums() { n_splits - 1 } else { 0 };
        let ranked = std::iter::once(number).chain(leaves.open_numbers().take(others));
        let (mut targets, mut wanted) = (Vec::new(), Vec::new());
        // The last split needs no sums of its sides.
        for (number, needs_bins) in ranked.zip((1..=n_splits).map(|rank| rank < n_splits)) {
            let node = &leaves.nodes[number];
            let split = if targets.is_empty() { Some(split) } else { node.best.as_ref() };
            let Some(split) = split.filter(|_| node.kept.sides.is_none()) else { continue };
            let cells = [self.new_cell(), self.new_cell()];
            self.bag.log.push(BagStep::Split(CellSplit {
                cell: node.kept.cell,
                test: split.test.clone(),
                left: cells[0],
                right: cells[1],
            }));
            targets.push(QueriedTarget { number, cells });
            if needs_bins && grower.may_split_at(node.depth + 1, node.n_rows) {
                let is_counted = |bins: &CellBins| !bins.counts.is_empty();
                let few = is_few(grower, node.n_rows);
                match &node.kept.bins {
                    // The larger side is the difference.
                    Some(bins) if is_counted(bins) || !few => {
                        let is_left_smaller = 2 * split.left.hessian <= node.sums.hessian;
                        let cell = cells[usize::from(!is_left_smaller)];
                        wanted.push(CellWant { cell, is_counted: is_counted(bins) });
                    }
                    _ => wanted.extend(cells.map(|cell| CellWant { cell, is_counted: few })),
                }
            }
        }
        let lefts = targets.iter().map(|target| target.cells[0]).collect();
        let found = self.ask(lefts, wanted.clone())?;
        let bins = wanted.iter().zip(found.cells);
        let mut bins = bins
            .map(|(of, CellSums { sums, counts, .. })| (of.cell, CellBins { sums, counts }))
            .peekable();
        for (QueriedTarget { number, cells }, [n_rows, mass]) in
            targets.into_iter().zip(found.sides)
        {
            let node = &mut leaves.nodes[number];
            let rest = |all: u64, left: u64| all.checked_sub(left).ok_or_else(bad);
            let sides = [[n_rows, mass], [rest(node.n_rows, n_rows)?, rest(node.kept.mass, mass)?]];
            let side = |(cell, [n_rows, mass]): (CellId, [u64; 2])| {
                let bins = bins.next_if(|(of_cell, _)| *of_cell == cell).map(|(_, bins)| bins);
                QueriedSide { cell, n_rows, mass, bins }
            };
            let [left, right] = [(cells[0], sides[0]), (cells[1], sides[1])].map(side);
            node.kept.sides = Some([left, right]);
        }
        Ok(())
    }
}

impl CellBins {
    /// The sums of the other side.
    fn without(&self, part: &Self) -> Self {
        let sums = self.sums.iter().zip(&part.sums).map(|(all, part)| *all - *part).collect();
        let are_counted = !self.counts.is_empty() && !part.counts.is_empty();
        let counts = self.counts.iter().zip(&part.counts);
        let counts = counts.filter(|_| are_counted).map(|(all, part)| all.wrapping_sub(*part));
        Self { sums, counts: counts.collect() }
    }
}

/// Whether a node has few enough rows to count them by code.
fn is_few(grower: &GradientGrower<'_>, n_rows: u64) -> bool {
    let min_rows = grower.plan.criterion.min_rows;
    min_rows > 1 && n_rows <= min_rows.saturating_mul(COUNTED)
}

fn bad() -> RankError {
    RankError::BadAnswer("sums do not add up".to_owned())
}
