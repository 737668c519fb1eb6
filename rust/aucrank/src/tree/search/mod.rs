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
//! - `lookahead`: search by lookahead; `moves`: moves of cuts.

mod area_slopes;
mod lookahead;
mod moves;
mod places;

use serde::{Deserialize, Serialize};

use self::area_slopes::{AreaSlopes, CurveStep, area};
use self::lookahead::{FoundTrees, Lookahead, PlacedTree, SearchNode};
use self::moves::MovedTree;
use self::places::{PlaceCut, PlacedRows};
use crate::data::{ClassSums, RowTally, RowUnits, hold_out};
use crate::tree::model::RankingTree;
use crate::tree::sample::Sample;
use crate::{Interrupt, RankError};

/// Leaves of a tree that is searched, if their number is not given.
const USUAL_LEAVES: usize = 8;

/// Rounds in which the guide is improved.
const N_ROUNDS: usize = 8;

/// A round that could gain at most this area ends the search.
const LEAST_GAP: f64 = 1e-5;

/// Rows from which a sample of [`SEARCHED_ROWS`] is searched; cuts move on all rows.
const MOST_ROWS: usize = 30_000;
const SEARCHED_ROWS: usize = 20_000;

/// How a tree of a few leaves is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchParams {
    /// Levels of cuts that are searched before growth judges; at least 1.
    pub lookahead: usize,
    /// Maximum number of places of a feature, at quantiles, between which cuts are searched; from 2
    /// to 255. They then move over all bins.
    pub n_bins: usize,
}

impl Default for SearchParams {
    fn default() -> Self {
        Self { lookahead: 1, n_bins: 16 }
    }
}

impl SearchParams {
    pub(super) fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: usize, rule| {
            Err(RankError::BadParameter { name, value: value.to_string(), rule })
        };
        if self.lookahead == 0 {
            return bad("lookahead", 0, "at least 1");
        }
        if !(2..=places::MOST_PLACES).contains(&self.n_bins) {
            return bad("search_bins", self.n_bins, "from 2 to 255");
        }
        Ok(())
    }
}

/// Trees found by a search: with at most 1, 2, ... leaves, none of less area than the one before.
pub(super) type TreesBySize = Vec<RankingTree>;

/// Searches trees on some rows of a sample, in ascending order.
pub(super) fn search<R: RowTally + Copy>(
    sample: &Sample<'_, R>,
    rows: &[u32],
    units: Option<&RowUnits>,
    params: &SearchParams,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<TreesBySize, RankError> {
    let grow = sample.params;
    let most = grow.max_leaves.unwrap_or(USUAL_LEAVES);
    let (fine, tests) = PlacedRows::of(sample, rows, units, grow.min_samples_leaf);
    let searched = searched_rows(sample, rows, seed, interrupt)?;
    let (coarse, bounds) = fine.coarse(&searched, params.n_bins);
    let all: Vec<u32> = (0..coarse.n_rows() as u32).collect();
    let found = if coarse.sums(&all).is_mixed() {
        by_rounds(&coarse, params, most, grow.max_depth, grow.max_fpr, interrupt)?
    } else {
        Vec::new()
    };
    let place = |cut: PlaceCut| PlaceCut { bound: bounds[cut.feature][cut.bound], ..cut };
    let root = PlacedTree::Leaf(ClassSums::default());
    let mut trees = vec![MovedTree::new(&fine, &root, place, grow.max_fpr)];
    for tree in found {
        let mut moved = MovedTree::new(&fine, &tree, place, grow.max_fpr);
        moved.improve(interrupt)?;
        trees.push(moved);
    }
    let mut kept: Vec<&MovedTree<'_, _>> = Vec::with_capacity(trees.len());
    for tree in &trees {
        let price = |tree: &MovedTree<'_, _>| grow.min_gain * tree.n_leaves() as f64;
        let is_better = kept.last().is_none_or(|last: &&MovedTree<'_, _>| {
            tree.area() - price(tree) > last.area() - price(last)
        });
        kept.push(if is_better { tree } else { kept[kept.len() - 1] });
    }
    Ok(kept.into_iter().map(|tree| tree.to_tree(&tests, &sample.frame)).collect())
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
    Ok(all.filter(|&position| is_drawn[position as usize]).collect())
}

/// The tree of largest area that the rounds find with 2, 3, ... leaves.
fn by_rounds<T: crate::data::Tally>(
    rows: &PlacedRows<T>,
    params: &SearchParams,
    most: usize,
    depth: usize,
    max_fpr: f64,
    interrupt: &Interrupt,
) -> Result<Vec<PlacedTree>, RankError> {
    let all: Vec<u32> = (0..rows.n_rows() as u32).collect();
    let total = rows.sums(&all);
    let cells = rows.histogram(&all);
    let mut guide = vec![[1.0, 1.0]];
    let mut best: Vec<Option<(f64, PlacedTree)>> = vec![None; most - 1];
    for round in 0..N_ROUNDS {
        let slopes = AreaSlopes::new(guide.clone(), max_fpr, total);
        let search = Lookahead { rows, slopes: &slopes, levels: params.lookahead, interrupt };
        let steps = |leaves: Vec<ClassSums>| -> Vec<CurveStep> {
            leaves.into_iter().map(|sums| slopes.step(sums)).collect()
        };
        if round == 0 {
            // Growth by the area of single cuts is the first guide.
            let node = SearchNode { rows: &all, cells: &cells, total, depth };
            guide = steps(search.grown_leaves(node, most));
            continue;
        }
        let mut trees = FoundTrees::new(search, most, depth);
        for n_leaves in (2..=most).rev() {
            let tree = trees.tree(n_leaves)?;
            let reached = area(&mut steps(tree.leaves()), max_fpr);
            let best = &mut best[n_leaves - 2];
            if best.as_ref().is_none_or(|(area, _)| reached > *area) {
                *best = Some((reached, tree.clone()));
            }
            if n_leaves == most {
                let share = 1.0 / (round as f64 + 1.0);
                guide.iter_mut().flatten().for_each(|part| *part *= 1.0 - share);
                let added = steps(tree.leaves()).into_iter();
                guide.extend(added.map(|step| step.map(|part| share * part)));
            }
        }
        let (reached, _) = best[most - 2].as_ref().expect("a tree was found");
        if slopes.bound(trees.value(most)) - reached < LEAST_GAP {
            break;
        }
    }
    Ok(best.into_iter().flatten().map(|(_, tree)| tree).collect())
}
