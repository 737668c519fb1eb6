//! Search for the tree of a few leaves with the largest area under the curve, in place of growth
//! that never takes back a cut.
//!
//! The area of a tree is no sum over its leaves, but the bound of a *guide* on it is. In each round
//! the tree whose leaves add up to most is searched, by lookahead or by all trees, and joins the
//! guide, a mean of the curves found so far; of all rounds, the tree of largest area is kept. Then
//! its cuts move to any place of any feature while the area grows.
//!
//! - `area_slopes`: the area, and the bound of a guide; `places`: the rows, each feature in ordered
//!   places; `params`: the parameters;
//! - `lookahead`: the tree of a guide, by lookahead or of all trees; `near_best`: all trees that
//!   come near the best; `rounds`: the guides;
//! - `moves`: moves of cuts;
//! - `rule_list`: lists of rules, which are trees of another kind; `rule_search`: the list of a
//!   guide; `rule_moves`: moves of its conditions.

mod area_slopes;
mod lookahead;
mod moves;
mod near_best;
mod params;
mod places;
mod rounds;
mod rule_list;
mod rule_moves;
mod rule_search;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_rules;

pub use self::params::{SearchExtent, SearchParams};

use self::moves::MovedTree;
use self::places::{PlaceCut, PlacedRows};
use self::rounds::{TreeLimits, by_rounds};
use self::rule_list::to_tree;
use self::rule_moves::{MOST_ROUNDS, MovedList};
use self::rule_search::best_list;
use crate::data::{ClassSums, RowTally, RowUnits, hold_out};
use crate::tree::model::RankingTree;
use crate::tree::sample::Sample;
use crate::{Interrupt, RankError, parallel};

/// Leaves of a tree that is searched, if their number is not given.
pub(super) const USUAL_LEAVES: usize = 8;

/// Greatest number of leaves.
pub(super) const MOST_LEAVES: usize = 100;

/// Rows from which a sample of [`SEARCHED_ROWS`] is searched; cuts move on all rows.
const MOST_ROWS: usize = 30_000;
const SEARCHED_ROWS: usize = 20_000;

/// A tree that was searched.
#[derive(Debug)]
pub(super) struct SearchedTree {
    pub(super) tree: RankingTree,
    /// Upper bound on the AUC up to `max_fpr`, standardised, of every tree within the limits
    /// between the bins of the search, if all trees were searched.
    pub(super) bound: Option<f64>,
    /// Trees between the bins of the search whose AUC is near the largest, if they are listed.
    pub(super) near_best: Vec<RankingTree>,
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
        SearchExtent::Lookahead(_) | SearchExtent::Rules(_) => {
            searched_rows(sample, rows, seed, interrupt)?
        }
    };
    let (coarse, bounds) = fine.coarse(&searched, params.n_bins);
    // From 1/2 for an uninformative ranking to 1, as partial areas are compared.
    let (least, largest) = (grow.max_fpr * grow.max_fpr / 2.0, grow.max_fpr);
    let standardised = |area: f64| 0.5 + 0.5 * (area - least) / (largest - least);
    let limits = TreeLimits {
        leaves: most,
        depth: grow.max_depth,
        max_fpr: grow.max_fpr,
        tolerance: params.tolerance.map(|tolerance| 2.0 * tolerance * (largest - least)),
    };
    let place = |cut: PlaceCut| PlaceCut { bound: bounds[cut.feature][cut.bound], ..cut };
    if let SearchExtent::Rules(most_conditions) = params.extent {
        let mut rules = best_list(&coarse, most_conditions, limits, interrupt)?;
        rules.iter_mut().flatten().for_each(|condition| condition.cut = place(condition.cut));
        let mut moved = MovedList::new(&fine, rules, most_conditions, grow.max_fpr);
        moved.drop_refused();
        moved.improve(MOST_ROUNDS, interrupt)?;
        let tree = to_tree(&fine, &moved.into_rules(), &tests, &sample.frame);
        return Ok(SearchedTree { tree, bound: None, near_best: Vec::new() });
    }
    let found = by_rounds(&coarse, params.extent, limits, interrupt)?;
    let mut moved = MovedTree::new(&fine, &found.tree, place, grow.max_fpr);
    moved.improve(interrupt)?;
    let tree = moved.to_tree(&tests, &sample.frame);
    let near_best = parallel::map(found.near_best, |tree| {
        MovedTree::new(&fine, &tree, place, grow.max_fpr).to_tree(&tests, &sample.frame)
    });
    Ok(SearchedTree { tree, bound: found.bound.map(standardised), near_best })
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
