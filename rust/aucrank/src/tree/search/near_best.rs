//! All trees whose leaves add up to nearly as much as the best: the proof that none has a larger
//! area, and the trees among which the data do not choose.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use super::area_slopes::ROUNDING;
use super::lookahead::{Lookahead, PlacedTree};
use super::params::SearchExtent;
use super::places::PlaceCut;
use crate::RankError;
use crate::data::{ClassSums, Tally};

/// Most trees that are listed.
const MOST_TREES: usize = 20_000;

/// A tree and the sum of the values of its leaves.
pub(super) type ValuedTree = (f64, PlacedTree);

/// A node below which trees are listed.
#[derive(Debug, Clone, Copy)]
struct ListedNode<'n> {
    rows: &'n [u32],
    total: ClassSums,
    depth: usize,
}

/// Lists trees by a search of all.
pub(super) struct NearBest<'a, T> {
    search: Lookahead<'a, T>,
    /// Cuts whose sides may still be searched.
    n_left: Cell<usize>,
}

impl<'a, T: Tally> NearBest<'a, T> {
    /// By a search that gives up after the sides of so many cuts.
    pub(super) fn new(search: Lookahead<'a, T>, most_searched: usize) -> Self {
        let search = Lookahead { extent: SearchExtent::All, ..search };
        Self { search, n_left: Cell::new(most_searched) }
    }

    /// All trees with at most so many leaves whose values add up to at least `least`; `None` if
    /// there are too many of them, or the time is over.
    pub(super) fn trees(
        &self,
        n_leaves: usize,
        depth: usize,
        least: f64,
    ) -> Result<Option<Vec<ValuedTree>>, RankError> {
        let rows: Vec<u32> = (0..self.search.rows.n_rows() as u32).collect();
        let total = self.search.rows.sums(&rows);
        let root = ListedNode { rows: &rows, total, depth };
        let mut found = Vec::new();
        for n_leaves in 1..=n_leaves {
            let Some(more) = self.below(root, n_leaves, least - ROUNDING)? else {
                return Ok(None);
            };
            found.extend(more);
        }
        Ok(Some(found))
    }

    /// Those with exactly so many leaves below a node.
    fn below(
        &self,
        node: ListedNode<'_>,
        n_leaves: usize,
        least: f64,
    ) -> Result<Option<Vec<ValuedTree>>, RankError> {
        if n_leaves == 1 {
            let value = self.search.slopes.value(node.total);
            let leaf = (value, PlacedTree::Leaf(node.total));
            return Ok(Some(if value >= least { vec![leaf] } else { Vec::new() }));
        }
        let mut found = Vec::new();
        if node.depth == 0 {
            return Ok(Some(found));
        }
        let mut cuts: Vec<PlaceCut> = Vec::new();
        let cells = self.search.rows.histogram(node.rows);
        if n_leaves == 2 {
            // The sides are leaves.
            self.search.rows.cuts(&cells, node.total, |cut, low| {
                let sides = [low, node.total - low];
                let value = sides.iter().map(|&sums| self.search.slopes.value(sums)).sum();
                if value >= least {
                    found.push((
                        value,
                        PlacedTree::Split(cut, Box::new(sides.map(PlacedTree::Leaf))),
                    ));
                }
            });
            return Ok((found.len() <= MOST_TREES).then_some(found));
        }
        self.search.rows.cuts(&cells, node.total, |cut, _| cuts.push(cut));
        for cut in cuts {
            self.search.interrupt.check()?;
            if self.n_left.get() == 0 || self.search.interrupt.is_over() {
                return Ok(None);
            }
            self.n_left.set(self.n_left.get() - 1);
            let rows = self.search.rows.sides(node.rows, cut);
            let sides = rows.each_ref().map(|rows| {
                let total = self.search.rows.sums(rows);
                ListedNode { rows, total, depth: node.depth - 1 }
            });
            let best_of = |rows: &[u32]| self.search.by_size_of(rows, node.depth - 1, n_leaves - 1);
            let [low, high] = [best_of(&rows[0])?, best_of(&rows[1])?];
            if self.search.is_cut_short.load(Ordering::Relaxed) {
                return Ok(None);
            }
            for n_low in 1..n_leaves {
                let n_high = n_leaves - n_low;
                let (best_low, best_high) = (low[n_low - 1].value, high[n_high - 1].value);
                if best_low + best_high < least {
                    continue;
                }
                let lows = self.below(sides[0], n_low, least - best_high)?;
                let highs = self.below(sides[1], n_high, least - best_low)?;
                let (Some(lows), Some(highs)) = (lows, highs) else { return Ok(None) };
                for (of_low, low) in &lows {
                    for (of_high, high) in &highs {
                        if of_low + of_high >= least {
                            let sides = Box::new([low.clone(), high.clone()]);
                            found.push((of_low + of_high, PlacedTree::Split(cut, sides)));
                        }
                    }
                }
                if found.len() > MOST_TREES {
                    return Ok(None);
                }
            }
        }
        Ok(Some(found))
    }
}
