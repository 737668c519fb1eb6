//! Search for the tree of a few leaves with the largest area under the curve, in place of growth
//! that never takes back a cut.
//!
//! The area of a tree is no sum over its leaves, but the bound of a *guide* on it is. In each round
//! the tree whose leaves add up to most is searched, by lookahead or by all trees, and joins the
//! guide, a mean of the curves found so far; of all rounds, the tree of largest area is kept. Then
//! its cuts move to any place of any feature while the area grows.
//!
//! - `area_slopes`: the area, and the bound of a guide; `places`: the rows, each feature in ordered
//!   places;
//! - `lookahead`: search by lookahead; `near_best`: all trees that come near the best; `moves`:
//!   moves of cuts.

mod area_slopes;
mod lookahead;
mod moves;
mod near_best;
mod places;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use self::area_slopes::{AreaSlopes, CurveStep, area};
use self::lookahead::{Lookahead, PlacedTree, SearchNode};
use self::moves::MovedTree;
use self::near_best::NearBest;
use self::places::{PlaceCut, PlacedRows};
use crate::data::{ClassSums, RowTally, RowUnits, Tally, hold_out};
use crate::tree::model::RankingTree;
use crate::tree::sample::Sample;
use crate::{Interrupt, RankError};

/// Leaves of a tree that is searched, if their number is not given.
const USUAL_LEAVES: usize = 8;

/// Rounds in which the guide is improved, of lookahead and then of all trees.
const N_ROUNDS: usize = 4;

/// A round that could gain at most this area ends the search.
const LEAST_GAP: f64 = 1e-5;

/// Rows from which a sample of [`SEARCHED_ROWS`] is searched; cuts move on all rows.
const MOST_ROWS: usize = 30_000;
const SEARCHED_ROWS: usize = 20_000;

/// Cuts of a node that are judged by a search of both sides: those that growth judges best.
const WIDTH: usize = 12;

/// Which trees of a few leaves are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchExtent {
    /// Those whose upper levels of cuts, as many as given, are tried in all ways before growth
    /// judges; at least 1. Below the first level, the best by growth are tried.
    Lookahead(usize),
    /// All, as long as time permits.
    All,
}

impl SearchExtent {
    /// How many cuts of a node are judged by a search of both sides, and that search; `None` if
    /// growth judges.
    fn below(self) -> Option<(usize, Self)> {
        match self {
            Self::All => Some((usize::MAX, Self::All)),
            Self::Lookahead(levels @ 2..) => Some((WIDTH, Self::Lookahead(levels - 1))),
            Self::Lookahead(_) => None,
        }
    }
}

/// How a tree of a few leaves is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchParams {
    /// Which trees.
    pub extent: SearchExtent,
    /// Maximum number of places of a feature, at quantiles, between which cuts are searched; from 2
    /// to 255. The cuts found then move over all bins.
    pub n_bins: usize,
}

impl Default for SearchParams {
    fn default() -> Self {
        Self { extent: SearchExtent::Lookahead(1), n_bins: 16 }
    }
}

impl SearchParams {
    pub(super) fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: usize, rule| {
            Err(RankError::BadParameter { name, value: value.to_string(), rule })
        };
        if self.extent == SearchExtent::Lookahead(0) {
            return bad("lookahead", 0, "at least 1");
        }
        if !(2..=places::MOST_PLACES).contains(&self.n_bins) {
            return bad("search_bins", self.n_bins, "from 2 to 255");
        }
        Ok(())
    }
}

/// A tree that was searched.
#[derive(Debug)]
pub(super) struct SearchedTree {
    pub(super) tree: RankingTree,
    /// Upper bound on the AUC up to `max_fpr`, standardised, of every tree within the limits between
    /// the bins of the search, if all trees were searched.
    pub(super) bound: Option<f64>,
}

/// Searches a tree on some rows of a sample, in ascending order.
pub(super) fn search<R: RowTally + Copy>(
    sample: &Sample<'_, R>,
    rows: &[u32],
    units: Option<&RowUnits>,
    params: &SearchParams,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<SearchedTree, RankError> {
    let grow = sample.params;
    let most = grow.max_leaves.unwrap_or(USUAL_LEAVES);
    let (fine, tests) = PlacedRows::of(sample, rows, units, grow.min_samples_leaf);
    let searched = match params.extent {
        SearchExtent::All => (0..rows.len() as u32).collect(),
        SearchExtent::Lookahead(_) => searched_rows(sample, rows, seed, interrupt)?,
    };
    let (coarse, bounds) = fine.coarse(&searched, params.n_bins);
    let limits = TreeLimits { leaves: most, depth: grow.max_depth, max_fpr: grow.max_fpr };
    let found = by_rounds(&coarse, params.extent, limits, interrupt)?;
    let place = |cut: PlaceCut| PlaceCut { bound: bounds[cut.feature][cut.bound], ..cut };
    let mut moved = MovedTree::new(&fine, &found.tree, place, grow.max_fpr);
    moved.improve(interrupt)?;
    let tree = moved.to_tree(&tests, &sample.frame);
    // From 1/2 for an uninformative ranking to 1, as partial areas are compared.
    let (least, largest) = (grow.max_fpr * grow.max_fpr / 2.0, grow.max_fpr);
    let standardised = |area: f64| 0.5 + 0.5 * (area - least) / (largest - least);
    Ok(SearchedTree { tree, bound: found.bound.map(standardised) })
}

/// Positions of the rows on which trees are searched, among those given: all, or a random sample.
fn searched_rows<R: RowTally + Copy>(
    sample: &Sample<'_, R>,
    rows: &[u32],
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Vec<u32>, RankError> {
    let all = 0..rows.len() as u32;
    if rows.len() <= MOST_ROWS {
        return Ok(all.collect());
    }
    let share = SEARCHED_ROWS as f64 / rows.len() as f64;
    let Some(parts) = hold_out(sample.columns, sample.labels, share, seed, interrupt)? else {
        return Ok(all.collect());
    };
    let mut drawn = parts.held_out.into_iter().peekable();
    let is_drawn = |row: u32| {
        while drawn.next_if(|&other| other < row).is_some() {}
        drawn.next_if_eq(&row).is_some()
    };
    let is_drawn: Vec<bool> = rows.iter().copied().map(is_drawn).collect();
    let searched: Vec<u32> = all.clone().filter(|&at| is_drawn[at as usize]).collect();
    let sums: ClassSums = searched.iter().map(|&at| sample.sums(rows[at as usize])).sum();
    Ok(if sums.is_mixed() { searched } else { all.collect() })
}

/// Limits of the trees that are searched.
#[derive(Debug, Clone, Copy)]
struct TreeLimits {
    leaves: usize,
    depth: usize,
    max_fpr: f64,
}

/// What the rounds have found.
struct FoundByRounds {
    /// The tree of largest area.
    tree: PlacedTree,
    /// Upper bound on the area of all trees, if all were searched.
    bound: Option<f64>,
}

/// Searches trees by guides that follow what was found.
fn by_rounds<T: Tally>(
    rows: &PlacedRows<T>,
    extent: SearchExtent,
    limits: TreeLimits,
    interrupt: &Interrupt,
) -> Result<FoundByRounds, RankError> {
    let TreeLimits { leaves: most, depth, max_fpr } = limits;
    let all: Vec<u32> = (0..rows.n_rows() as u32).collect();
    let total = rows.sums(&all);
    let is_cut_short = AtomicBool::new(false);
    let slopes = AreaSlopes::new(vec![[1.0, 1.0]], max_fpr, total);
    let steps_of = |leaves: Vec<ClassSums>| -> Vec<CurveStep> {
        leaves.into_iter().map(|sums| slopes.step(sums)).collect()
    };
    // Growth by the area of single cuts is the first guide.
    let cells = rows.histogram(&all);
    let node = SearchNode { rows: &all, cells: &cells, total, depth };
    let search =
        Lookahead { rows, slopes: &slopes, extent, interrupt, is_cut_short: &is_cut_short };
    let mut guide = steps_of(search.grown_leaves(node, most));
    let mut best = FoundByRounds { tree: PlacedTree::Leaf(total), bound: None };
    let mut reached = area(&mut steps_of(best.tree.leaves()), max_fpr);
    let mut tightest = None;
    // All trees are searched from where lookahead ends.
    let first = if extent == SearchExtent::All { SearchExtent::Lookahead(1) } else { extent };
    let rounds = std::iter::repeat_n(first, N_ROUNDS);
    let of_all = std::iter::repeat_n(SearchExtent::All, N_ROUNDS).filter(|_| first != extent);
    for (round, extent) in (1..).zip(rounds.chain(of_all)) {
        if round > 1 && interrupt.is_over() {
            break;
        }
        let slopes = AreaSlopes::new(guide.clone(), max_fpr, total);
        let search = Lookahead { slopes: &slopes, extent, ..search };
        let (value, tree) = search.tree(&all, depth, most)?;
        let bound = slopes.bound(value);
        let is_proven = extent == SearchExtent::All && !is_cut_short.load(Ordering::Relaxed);
        if is_proven && best.bound.is_none_or(|least| bound < least) {
            (best.bound, tightest) = (Some(bound), Some(slopes));
        }
        let mut steps = steps_of(tree.leaves());
        let of_tree = area(&mut steps, max_fpr);
        if of_tree > reached {
            (reached, best.tree) = (of_tree, tree);
        }
        let added = (1.0 + round as f64).recip();
        guide.iter_mut().flatten().for_each(|part| *part *= 1.0 - added);
        guide.extend(steps.into_iter().map(|step| step.map(|part| added * part)));
        if is_proven && bound - reached < LEAST_GAP {
            break;
        }
    }
    if extent == SearchExtent::All && best.bound.is_none() {
        // No tree ranks better than one with a leaf for each combination of places.
        let finest = rows.sums_of_distinct();
        best.bound = Some(area(&mut steps_of(finest), max_fpr));
    }
    if let Some(slopes) = &tightest {
        // Every tree of larger area is among those whose values add up to as much.
        let least = reached - slopes.bound(0.0);
        let all = NearBest::new(Lookahead { slopes, ..search });
        if let Some(listed) = all.trees(most, depth, least)? {
            for (_, tree) in listed {
                let of_tree = area(&mut steps_of(tree.leaves()), max_fpr);
                if of_tree > reached {
                    (reached, best.tree) = (of_tree, tree);
                }
            }
            best.bound = Some(reached);
        }
    }
    Ok(best)
}
