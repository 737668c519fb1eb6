//! The tree of a few leaves with a large sum of leaf values: each cut of a node, with each division
//! of its leaves between the sides, is judged by what leaf-by-leaf growth then finds on both; then
//! those that growth judges best, or all, by a search of both.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::area_slopes::{AreaSlopes, ROUNDING};
use super::params::SearchExtent;
use super::places::{PlaceCut, PlacedRows};
use crate::data::{ClassSums, Tally};
use crate::{Interrupt, RankError, parallel};

/// Features whose cuts are judged in a node, unless all trees are searched.
const MOST_FEATURES: usize = 40;

/// What is known of the rows of a leaf: for each feature that a cut on the way to it uses, the
/// first of its places, the first place beyond, and whether missing values are there.
pub(super) type PlaceRegion = BTreeMap<usize, (usize, usize, bool)>;

/// A tree in places.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PlacedTree {
    Leaf(ClassSums),
    /// A cut, and what its low and its high side are.
    Split(PlaceCut, Box<[PlacedTree; 2]>),
}

impl PlacedTree {
    /// Class sums of the leaves, low sides first.
    pub(super) fn leaves(&self) -> Vec<ClassSums> {
        match self {
            Self::Leaf(sums) => vec![*sums],
            Self::Split(_, sides) => sides.iter().flat_map(Self::leaves).collect(),
        }
    }

    /// The trees in which one node above two leaves is a leaf.
    pub(super) fn joined(&self) -> Vec<Self> {
        let Self::Split(cut, sides) = self else { return Vec::new() };
        let [low, high] = &**sides;
        if let (Self::Leaf(low), Self::Leaf(high)) = (low, high) {
            return vec![Self::Leaf(*low + *high)];
        }
        let split = |low: Self, high: Self| Self::Split(*cut, Box::new([low, high]));
        let of_low = low.joined().into_iter().map(|low| split(low, high.clone()));
        let of_high = high.joined().into_iter().map(|high| split(low.clone(), high));
        of_low.chain(of_high).collect()
    }

    /// Where its leaves are, in an order that does not depend on that of the cuts.
    pub(super) fn regions(&self) -> Vec<PlaceRegion> {
        let mut found = Vec::new();
        self.add_regions(&PlaceRegion::new(), &mut found);
        found.sort_unstable();
        found
    }

    fn add_regions(&self, region: &PlaceRegion, found: &mut Vec<PlaceRegion>) {
        let Self::Split(cut, sides) = self else {
            found.push(region.clone());
            return;
        };
        let whole = (0, usize::MAX, true);
        let (low, high, missing) = region.get(&cut.feature).copied().unwrap_or(whole);
        let parts = [
            (low, high.min(cut.bound), missing && cut.missing_low),
            (low.max(cut.bound), high, missing && !cut.missing_low),
        ];
        for (part, side) in parts.into_iter().zip(sides.iter()) {
            let mut of_side = region.clone();
            of_side.insert(cut.feature, part);
            side.add_regions(&of_side, found);
        }
    }
}

/// A node of a tree that is searched.
#[derive(Debug, Clone, Copy)]
pub(super) struct SearchNode<'n, T> {
    pub(super) rows: &'n [u32],
    /// Its histogram.
    pub(super) cells: &'n [T],
    pub(super) total: ClassSums,
    /// Levels of cuts that it may have.
    pub(super) depth: usize,
}

impl<T: Tally> SearchNode<'_, T> {
    /// Calls `visit` with each cut by a feature that moves rows and that `may_cut` allows, given
    /// the sums of both sides; and with both sides.
    pub(super) fn at_each_cut(
        self,
        rows: &PlacedRows<T>,
        feature: usize,
        may_cut: impl Fn(PlaceCut, ClassSums, ClassSums) -> bool,
        mut visit: impl FnMut(PlaceCut, [SearchNode<'_, T>; 2]) -> Result<(), RankError>,
    ) -> Result<(), RankError> {
        let placed = &rows.features[feature];
        let mut by_place: Vec<Vec<u32>> = vec![Vec::new(); placed.n_places()];
        for &row in self.rows {
            by_place[usize::from(rows.row(row)[feature])].push(row);
        }
        let (known, missing) = by_place.split_at(placed.n_known);
        for sweep in rows.sweeps(feature) {
            let missing_low = sweep.missing_low;
            let (first, rest) = if missing_low { (missing, &[][..]) } else { (&[][..], missing) };
            let ordered: Vec<u32> = [first, known, rest].concat().concat();
            let mut of_low = vec![T::default(); self.cells.len()];
            let mut of_high = self.cells.to_vec();
            let (mut n_low, mut low) = (0, ClassSums::default());
            for (bound, place) in sweep.bounds(placed.n_known) {
                let more = &by_place[place];
                rows.add_rows(more, &mut of_low);
                n_low += more.len();
                low += self.cells[placed.first + place].sums();
                let cut = PlaceCut { feature, bound, missing_low };
                if bound == 0 || more.is_empty() || !may_cut(cut, low, self.total - low) {
                    continue;
                }
                of_high.clone_from_slice(self.cells);
                of_high.iter_mut().zip(&of_low).for_each(|(cell, &part)| *cell -= part);
                let depth = self.depth - 1;
                let side = |rows, cells, total| SearchNode { rows, cells, total, depth };
                let low_side = side(&ordered[..n_low], &of_low, low);
                let high_side = side(&ordered[n_low..], &of_high, self.total - low);
                visit(cut, [low_side, high_side])?;
            }
        }
        Ok(())
    }
}

/// The best that is known for a number of leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BestWith {
    /// Sum of the values of the leaves.
    pub(super) value: f64,
    /// The cut, and the number of leaves on its low side; `None` for a leaf.
    pub(super) cut: Option<(PlaceCut, usize)>,
}

/// For each number of leaves from 1 on the best of at most so many.
pub(super) type BySize = Vec<BestWith>;

/// A cut that growth has judged.
struct JudgedCut {
    cut: PlaceCut,
    /// Values of both sides with 1, 2, ... leaves.
    sides: [Vec<f64>; 2],
}

impl JudgedCut {
    /// Improves a table by the cut.
    fn improve(&self, best: &mut BySize) {
        let [low, high] = &self.sides;
        for (n_leaves, best) in best.iter_mut().enumerate().map(|(place, best)| (place + 1, best)) {
            for n_low in 1..n_leaves {
                let value = low[n_low - 1] + high[n_leaves - n_low - 1];
                if value > best.value + ROUNDING {
                    *best = BestWith { value, cut: Some((self.cut, n_low)) };
                }
            }
        }
    }

    /// The value with the most leaves.
    fn merit(&self) -> f64 {
        let [low, high] = &self.sides;
        low.iter().zip(high.iter().rev()).map(|(low, high)| low + high).fold(0.0, f64::max)
    }
}

/// A leaf during growth.
struct GrownLeaf<T> {
    start: usize,
    end: usize,
    cells: Vec<T>,
    total: ClassSums,
    depth: usize,
    /// What its best cut gains, the cut, and the sums of its low side.
    best: Option<(f64, PlaceCut, ClassSums)>,
}

/// Memory of growth, used again.
struct GrowthMemory<T> {
    rows: Vec<u32>,
    high_rows: Vec<u32>,
    spare: Vec<Vec<T>>,
    leaves: Vec<GrownLeaf<T>>,
}

impl<T> GrowthMemory<T> {
    fn new() -> Self {
        Self { rows: Vec::new(), high_rows: Vec::new(), spare: Vec::new(), leaves: Vec::new() }
    }
}

/// Searches trees by the values of their leaves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lookahead<'a, T> {
    pub(super) rows: &'a PlacedRows<T>,
    pub(super) slopes: &'a AreaSlopes,
    pub(super) extent: SearchExtent,
    pub(super) interrupt: &'a Interrupt,
    /// Set once the time is over: what is found then may not be the best.
    pub(super) is_cut_short: &'a AtomicBool,
}

impl<T: Tally> Lookahead<'_, T> {
    fn may_cut(&self, total: ClassSums, depth: usize) -> bool {
        depth > 0 && total.is_mixed() && total.rows >= 2 * self.rows.least
    }

    /// The cut of a node that gains most at once.
    fn best_cut(&self, node: SearchNode<'_, T>) -> Option<(f64, PlaceCut, ClassSums)> {
        if !self.may_cut(node.total, node.depth) {
            return None;
        }
        let whole = self.slopes.value(node.total);
        let mut best: Option<(f64, PlaceCut, ClassSums)> = None;
        self.rows.cuts(node.cells, node.total, |cut, low| {
            let gain = self.slopes.value(low) + self.slopes.value(node.total - low) - whole;
            if gain > best.map_or(ROUNDING, |best| best.0) {
                best = Some((gain, cut, low));
            }
        });
        best
    }

    /// What growth reaches with 1, 2, ..., `most` leaves: the leaf that gains most is cut first.
    fn grown(
        &self,
        memory: &mut GrowthMemory<T>,
        node: SearchNode<'_, T>,
        most: usize,
    ) -> Vec<f64> {
        let mut value = self.slopes.value(node.total);
        let mut values = Vec::with_capacity(most);
        values.push(value);
        let GrowthMemory { rows, high_rows, spare, leaves } = memory;
        spare.extend(leaves.drain(..).map(|leaf| leaf.cells));
        let best = if most > 1 { self.best_cut(node) } else { None };
        let (end, total, depth) = (node.rows.len(), node.total, node.depth);
        leaves.push(GrownLeaf { start: 0, end, cells: Vec::new(), total, depth, best });
        if most > 2 && depth > 1 {
            // Both sides of a cut may be cut again.
            rows.clear();
            rows.extend_from_slice(node.rows);
            let mut cells = spare.pop().unwrap_or_default();
            cells.clear();
            cells.extend_from_slice(node.cells);
            leaves[0].cells = cells;
        }
        while values.len() < most {
            let gain = |leaf: &GrownLeaf<T>| leaf.best.map_or(0.0, |best| best.0);
            let mut place = 0;
            for other in 1..leaves.len() {
                if gain(&leaves[other]) > gain(&leaves[place]) {
                    place = other;
                }
            }
            let leaf = &mut leaves[place];
            let Some((gain, cut, low)) = leaf.best else {
                values.resize(most, value);
                break;
            };
            value += gain;
            values.push(value);
            let (start, end, total, depth) = (leaf.start, leaf.end, leaf.total, leaf.depth - 1);
            (leaf.total, leaf.depth, leaf.best) = (low, depth, None);
            let high = total - low;
            let mut right =
                GrownLeaf { start, end, cells: Vec::new(), total: high, depth, best: None };
            if values.len() < most && depth > 0 {
                let middle = self.divide(cut, start..end, rows, high_rows);
                let mut small = spare.pop().unwrap_or_default();
                small.clear();
                small.resize(self.rows.n_cells, T::default());
                let low_is_small = middle - start <= end - middle;
                let counted = if low_is_small { start..middle } else { middle..end };
                self.rows.add_rows(&rows[counted], &mut small);
                leaf.cells.iter_mut().zip(&small).for_each(|(cell, &part)| *cell -= part);
                if low_is_small {
                    std::mem::swap(&mut small, &mut leaf.cells);
                }
                // The cells of the leaf are those of the low side now.
                let best = |cells: &[T], total: ClassSums| {
                    self.best_cut(SearchNode { rows: &[], cells, total, depth })
                };
                (leaf.end, leaf.best) = (middle, best(&leaf.cells, low));
                (right.start, right.best) = (middle, best(&small, high));
                right.cells = small;
            }
            leaves.push(right);
        }
        values
    }

    /// Puts the low ones of some rows first, and returns where the others begin.
    fn divide(
        &self,
        cut: PlaceCut,
        Range { start, end }: Range<usize>,
        rows: &mut [u32],
        high_rows: &mut Vec<u32>,
    ) -> usize {
        high_rows.clear();
        let mut middle = start;
        for at in start..end {
            let row = rows[at];
            if self.rows.is_low(cut, row) {
                rows[middle] = row;
                middle += 1;
            } else {
                high_rows.push(row);
            }
        }
        rows[middle..end].copy_from_slice(high_rows);
        middle
    }

    /// Leaves of the tree that growth finds.
    pub(super) fn grown_leaves(&self, node: SearchNode<'_, T>, most: usize) -> Vec<ClassSums> {
        let mut memory = GrowthMemory::new();
        self.grown(&mut memory, node, most);
        memory.leaves.iter().map(|leaf| leaf.total).collect()
    }

    /// Each cut of a feature, with what growth reaches on both sides.
    fn judged(
        &self,
        feature: usize,
        node: SearchNode<'_, T>,
        most: usize,
    ) -> Result<Vec<JudgedCut>, RankError> {
        let mut memory = GrowthMemory::new();
        let mut judged = Vec::new();
        let may_cut = |cut, low, high| self.rows.may_cut(cut, low, high);
        node.at_each_cut(self.rows, feature, may_cut, |cut, sides| {
            self.interrupt.check()?;
            let sides = sides.map(|side| self.grown(&mut memory, side, most - 1));
            judged.push(JudgedCut { cut, sides });
            Ok(())
        })?;
        Ok(judged)
    }

    /// The features whose cuts are judged, ascending: all, or those with the cuts that gain most at
    /// once.
    pub(super) fn tried_features(&self, node: SearchNode<'_, T>) -> Vec<usize> {
        let n_features = self.rows.features.len();
        let mut features: Vec<usize> = (0..n_features).collect();
        if self.extent == SearchExtent::All || n_features <= MOST_FEATURES {
            return features;
        }
        let mut gains = vec![0.0; n_features];
        self.rows.cuts(node.cells, node.total, |cut, low| {
            let gain = self.slopes.value(low) + self.slopes.value(node.total - low);
            gains[cut.feature] = f64::max(gains[cut.feature], gain);
        });
        features.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]));
        features.truncate(MOST_FEATURES);
        features.sort_unstable();
        features
    }

    /// The best found with each number of leaves up to `most`.
    fn by_size(&self, node: SearchNode<'_, T>, most: usize) -> Result<BySize, RankError> {
        let leaf = BestWith { value: self.slopes.value(node.total), cut: None };
        let mut best = vec![leaf; most];
        if most < 2 || !self.may_cut(node.total, node.depth) {
            return Ok(best);
        }
        let features = self.tried_features(node);
        let judged = parallel::try_map(features, |feature| self.judged(feature, node, most))?;
        let mut judged: Vec<JudgedCut> = judged.into_iter().flatten().collect();
        for cut in &judged {
            cut.improve(&mut best);
        }
        // Growth of a side by one cut is the best there is.
        let is_exact = most <= 3 || node.depth <= 2;
        if let Some((width, extent)) = self.extent.below().filter(|_| !is_exact) {
            judged.sort_by(|a, b| b.merit().total_cmp(&a.merit()));
            judged.truncate(width);
            let deeper = parallel::try_map(judged, |JudgedCut { cut, sides }| {
                if self.interrupt.is_over() {
                    self.is_cut_short.store(true, Ordering::Relaxed);
                    return Ok(JudgedCut { cut, sides });
                }
                let sides = self.rows.sides(node.rows, cut);
                let [low, high] = sides.each_ref().map(|rows| {
                    let below = Self { extent, ..*self };
                    let found = below.by_size_of(rows, node.depth - 1, most - 1)?;
                    Ok(found.into_iter().map(|best| best.value).collect())
                });
                Ok(JudgedCut { cut, sides: [low?, high?] })
            })?;
            for cut in &deeper {
                cut.improve(&mut best);
            }
        }
        Ok(best)
    }

    /// The same for a node given by its rows.
    pub(super) fn by_size_of(
        &self,
        rows: &[u32],
        depth: usize,
        most: usize,
    ) -> Result<BySize, RankError> {
        let (cells, total) = (self.rows.histogram(rows), self.rows.sums(rows));
        self.by_size(SearchNode { rows, cells: &cells, total, depth }, most)
    }

    /// The tree found on some rows with at most so many leaves, and the sum of its values.
    pub(super) fn tree(
        &self,
        rows: &[u32],
        depth: usize,
        n_leaves: usize,
    ) -> Result<(f64, PlacedTree), RankError> {
        let BestWith { value, cut } = self.by_size_of(rows, depth, n_leaves)?[n_leaves - 1];
        let Some((cut, n_low)) = cut else {
            return Ok((value, PlacedTree::Leaf(self.rows.sums(rows))));
        };
        let [low, high] = self.rows.sides(rows, cut);
        // The search of a side may find more than growth promised for it.
        let (of_low, low) = self.tree(&low, depth - 1, n_low)?;
        let (of_high, high) = self.tree(&high, depth - 1, n_leaves - n_low)?;
        Ok((of_low + of_high, PlacedTree::Split(cut, Box::new([low, high]))))
    }
}
