//! Rounds of searches, each by a guide that follows what was found.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use super::area_slopes::{AreaSlopes, CurveStep, Guide, ROUNDING, area};
use super::lookahead::{Lookahead, PlacedTree, SearchNode};
use super::near_best::{NearBest, ValuedTree};
use super::params::SearchExtent;
use super::places::PlacedRows;
use crate::data::{ClassSums, Tally};
use crate::{Interrupt, RankError};

/// Rounds in which the guide is improved, of lookahead and then of all trees.
const N_ROUNDS: usize = 4;

/// A round that could gain at most this area ends the search.
const LEAST_GAP: f64 = 1e-5;

/// Cuts whose sides are searched to prove that a tree is the best, and to list those near it.
const MOST_FOR_PROOF: usize = 20_000;
const MOST_FOR_LIST: usize = 1_000_000;

/// Limits of the trees that are searched.
#[derive(Debug, Clone, Copy)]
pub(super) struct TreeLimits {
    pub(super) leaves: usize,
    pub(super) depth: usize,
    pub(super) max_fpr: f64,
    /// By how much the area of trees that are listed may be below the largest, if they are.
    pub(super) tolerance: Option<f64>,
}

/// What the rounds have found.
pub(super) struct FoundByRounds {
    /// The tree of largest area.
    pub(super) tree: PlacedTree,
    /// Upper bound on the area of all trees, if all were searched.
    pub(super) bound: Option<f64>,
    /// The trees within the tolerance, that of largest area first.
    pub(super) near_best: Vec<PlacedTree>,
}

/// Searches trees by guides that follow what was found.
pub(super) fn by_rounds<T: Tally>(
    rows: &PlacedRows<T>,
    extent: SearchExtent,
    limits: TreeLimits,
    interrupt: &Interrupt,
) -> Result<FoundByRounds, RankError> {
    let TreeLimits { leaves: most, depth, max_fpr, tolerance } = limits;
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
    let mut guide = Guide::new(steps_of(search.grown_leaves(node, most)));
    let mut best =
        FoundByRounds { tree: PlacedTree::Leaf(total), bound: None, near_best: Vec::new() };
    let mut reached = area(&mut steps_of(best.tree.leaves()), max_fpr);
    let mut tightest = None;
    // All trees are searched from where lookahead ends.
    let first = if extent == SearchExtent::All { SearchExtent::Lookahead(1) } else { extent };
    let rounds = std::iter::repeat_n(first, N_ROUNDS);
    let of_all = std::iter::repeat_n(SearchExtent::All, N_ROUNDS).filter(|_| first != extent);
    for (round, extent) in rounds.chain(of_all).enumerate() {
        if round > 0 && interrupt.is_over() {
            break;
        }
        let slopes = guide.slopes(max_fpr, total);
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
        guide.follow(steps);
        if is_proven && bound - reached < LEAST_GAP {
            break;
        }
    }
    if extent == SearchExtent::All && best.bound.is_none() {
        // No tree ranks better than one with a leaf for each combination of places.
        let finest = rows.sums_of_distinct();
        best.bound = Some(area(&mut steps_of(finest), max_fpr));
    }
    let mut listed = None;
    if let Some(slopes) = &tightest {
        // Every tree of at least this area is among those whose values add up to as much.
        let least = reached - tolerance.unwrap_or(0.0);
        let most_searched = if tolerance.is_some() { MOST_FOR_LIST } else { MOST_FOR_PROOF };
        let all = NearBest::new(Lookahead { slopes, ..search }, most_searched);
        listed = all.trees(most, depth, least - slopes.bound(0.0))?;
    }
    let area_of = |tree: &PlacedTree| area(&mut steps_of(tree.leaves()), max_fpr);
    if let Some(listed) = &listed {
        for (_, tree) in listed {
            let of_tree = area_of(tree);
            if of_tree > reached {
                reached = of_tree;
                best.tree.clone_from(tree);
            }
        }
        best.bound = Some(reached);
    }
    if let Some(tolerance) = tolerance {
        let bad = |name, value, rule| Err(RankError::BadParameter { name, value, rule });
        best.near_best = match listed {
            Some(listed) => of_own_leaves(listed, reached - tolerance, area_of),
            None if interrupt.is_over() => {
                let rule = "long enough to list all trees within the tolerance";
                return bad("time_limit", "a shorter one".to_owned(), rule);
            }
            None => {
                let rule = "small enough for at most 20,000 trees, with few leaves and bins";
                return bad("tolerance", tolerance.to_string(), rule);
            }
        };
    }
    Ok(best)
}

/// The trees of at least some area, the largest first: of those with the same leaves one, and none
/// whose area stays when two leaves become one.
fn of_own_leaves(
    listed: Vec<ValuedTree>,
    least: f64,
    area_of: impl Fn(&PlacedTree) -> f64,
) -> Vec<PlacedTree> {
    let mut found: Vec<(f64, PlacedTree)> = listed
        .into_iter()
        .map(|(_, tree)| (area_of(&tree), tree))
        .filter(|(area, _)| *area >= least - ROUNDING)
        .filter(|(area, tree)| tree.joined().iter().all(|less| area_of(less) < area - ROUNDING))
        .collect();
    // Of equal areas, the fewest leaves.
    found.sort_by_key(|(_, tree)| tree.leaves().len());
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let mut known = HashSet::new();
    found.retain(|(_, tree)| known.insert(tree.regions()));
    found.into_iter().map(|(_, tree)| tree).collect()
}
