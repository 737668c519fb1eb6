//! Combined votes of the trees of a forest on a few rows: means, medians, or a consensus ranking.
//!
//! The consensus is the Kendall consensus of the trees. A ranking that agrees with the most pairs
//! over all trees (a Kemeny ranking) is too expensive, so this is Copeland's method with a local
//! search. Some reference rows are ordered by the number of others that they beat in a majority of
//! trees, ties by the sum of the majorities (Borda), and neighbours are swapped until no majority
//! is against any of them (local Kemenisation: Dwork, Kumar, Naor and Sivakumar, "Rank aggregation
//! methods for the Web", 2001, <https://doi.org/10.1145/371920.372165>). A new row takes the place
//! among them that contradicts the fewest pairs of the trees; rows in one place are ordered by
//! their mean rank.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::bit_trees::{BitTile, BitTrees};
use super::ranking_forest::{Aggregation, RankingForest};
use super::scorer::{CodeTile, ForestScorer, TILE_ROWS};
use crate::data::Columns;
use crate::formula::Test;
use crate::tree::model::{RankingTree, Router};
use crate::{RankError, parallel};

/// Votes of trees on some rows, as far as the aggregation needs them.
#[derive(Debug)]
pub(in crate::tree) struct Votes {
    /// Sum of the values of the leaves of each row, and the number of trees that voted.
    sums: Vec<f64>,
    n_trees: Vec<u32>,
    /// For medians: all values.
    values: Vec<Vec<f64>>,
    /// For a consensus: the leads of each row over the reference rows, row by row.
    leads: Vec<i32>,
}

impl Votes {
    pub(in crate::tree) fn new(forest: &RankingForest, n_rows: usize) -> Self {
        let n_references = forest.consensus.as_ref().map_or(0, Consensus::n_rows);
        let keeps_values = forest.aggregation == Aggregation::RankMedian;
        Self {
            sums: vec![0.0; n_rows],
            n_trees: vec![0; n_rows],
            values: if keeps_values { vec![Vec::new(); n_rows] } else { Vec::new() },
            leads: vec![0; n_rows * n_references],
        }
    }

    /// Adds the votes of one tree on the rows that count for it, given its leaf of each row and the
    /// values of its leaves.
    pub(in crate::tree) fn add(
        &mut self,
        forest: &RankingForest,
        tree: usize,
        values: &[f64],
        leaves: &[u32],
        counts: impl Fn(usize) -> bool,
    ) {
        if self.values.is_empty() && forest.consensus.is_none() {
            let sums = self.sums.iter_mut().zip(&mut self.n_trees);
            for (row, ((sum, n_trees), &leaf)) in sums.zip(leaves).enumerate() {
                let counts = counts(row);
                *sum += if counts { values[leaf as usize] } else { 0.0 };
                *n_trees += u32::from(counts);
            }
            return;
        }
        for (row, &leaf) in leaves.iter().enumerate() {
            if !counts(row) {
                continue;
            }
            let value = values[leaf as usize];
            self.sums[row] += value;
            self.n_trees[row] += 1;
            if let Some(all) = self.values.get_mut(row) {
                all.push(value);
            }
            if let Some(consensus) = &forest.consensus {
                let n = consensus.n_rows();
                consensus.add(tree, leaf, &mut self.leads[row * n..(row + 1) * n]);
            }
        }
    }

    /// Score of each row before it is shifted, `None` for a row on which no tree voted.
    pub(in crate::tree) fn scores(
        &self,
        forest: &RankingForest,
    ) -> impl Iterator<Item = Option<f64>> {
        (0..self.sums.len()).map(move |row| {
            let mean = self.sums[row] / f64::from(self.n_trees[row]);
            (self.n_trees[row] > 0).then(|| match &forest.consensus {
                Some(consensus) => {
                    let n = consensus.n_rows();
                    Consensus::score(&self.leads[row * n..(row + 1) * n], mean)
                }
                None if self.values.is_empty() => mean,
                None => median(&self.values[row]),
            })
        })
    }
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    let middle = values.len() / 2;
    let is_odd = values.len() % 2 == 1;
    // O(n) a row, where a sort would take O(n log n) for each of them.
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if is_odd {
        return upper;
    }
    f64::midpoint(below.iter().copied().fold(f64::NEG_INFINITY, f64::max), upper)
}

/// Minimum number of tiles per thread.
const LEAST_TILES: usize = 4;

/// How the values of trees are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SumOrder {
    /// In any order: their sums are exact.
    Any,
    /// One by one in the order of the trees.
    Kept,
    /// The same, each partial sum rounded to single precision, which the values have.
    Single,
}

impl SumOrder {
    #[inline]
    fn add(self, sum: &mut f64, value: f64) {
        *sum += value;
        if self == Self::Single {
            // The sum of two numbers of 24 bits that is rounded to 53 bits first is rounded to 24
            // bits as if directly.
            *sum = f64::from(*sum as f32);
        }
    }
}

/// Values of the leaves of trees, to be summed for each row.
#[derive(Debug)]
pub(crate) struct LeafSums {
    scorer: ForestScorer,
    order: SumOrder,
    n_trees: usize,
    /// Indexed by the place of the leaf among the steps of all trees.
    values: Vec<f64>,
    /// Trees of few leaves in the form for many rows, made once enough rows have been scored;
    /// `None` if that gains nothing.
    bits: OnceLock<Option<BitTrees>>,
    /// Rows that have been scored together without it.
    n_walked: AtomicUsize,
}

/// Number of rows from which [`BitTrees`] take less time than a walk.
const FEWEST_ROWS_OF_BITS: usize = 12;

/// Number of rows, of one call or of several, from which [`BitTrees`] are made. That takes as long as
/// the walks of some 1,500 rows, once: further calls use them.
const ROWS_OF_NEW_BITS: usize = 256;

/// Memory that [`LeafSums::add`] uses.
#[derive(Debug, Default)]
pub(crate) struct LeafTile {
    tile: CodeTile,
    bits: BitTile,
    /// Leaves of rows in one tree, or of one row in all trees.
    ends: Vec<u32>,
}

impl LeafSums {
    /// From trees that test single features, with the values of their leaves.
    pub(crate) fn new<'t>(trees: impl Iterator<Item = (&'t RankingTree, &'t [f64])>) -> Self {
        let (trees, values): (Vec<_>, Vec<_>) = trees.unzip();
        let values: Vec<Vec<f64>> = values.into_iter().map(<[f64]>::to_vec).collect();
        Self::of_values(ForestScorer::new(trees), &values, SumOrder::Any)
    }

    /// From trees given by their tests, as for [`Router::of_tests`], with the values of their
    /// leaves by number; and the number of categories of each feature.
    pub(crate) fn of_routes(
        n_levels: &[Option<u32>],
        trees: impl Iterator<Item = (Vec<(Test, [Result<usize, usize>; 2])>, Vec<f64>)>,
        order: SumOrder,
    ) -> Self {
        let (routers, values): (Vec<_>, Vec<_>) =
            trees.map(|(routes, values)| (Router::of_tests(routes), values)).unzip();
        Self::of_values(ForestScorer::of_routers(&routers, n_levels), &values, order)
    }

    /// With the values of each tree by place of the leaf in the ranking.
    fn of_values(scorer: ForestScorer, values: &[Vec<f64>], order: SumOrder) -> Self {
        Self {
            order,
            n_trees: values.len(),
            values: scorer.values_of_steps(values),
            scorer,
            bits: OnceLock::new(),
            n_walked: AtomicUsize::new(0),
        }
    }

    /// Adds the values of all trees to the sums of all rows.
    ///
    /// # Errors
    ///
    /// [`RankError::InfiniteValue`] if a number is infinite; [`RankError::Interrupted`].
    pub(crate) fn add_to_all(
        &self,
        columns: &Columns<'_>,
        sums: &mut [f64],
    ) -> Result<(), RankError> {
        let of_tile = |memory: &mut LeafTile, (tile, sums): (usize, &mut [f64])| {
            let start = tile * TILE_ROWS;
            !self.add(columns, start..start + sums.len(), memory, sums)
        };
        let tiles = sums.chunks_mut(TILE_ROWS).enumerate().collect();
        if parallel::map_with(tiles, LEAST_TILES, LeafTile::default, of_tile).contains(&true) {
            return Err(columns.refusal());
        }
        Ok(())
    }

    /// The form for many rows, if some rows are enough to use it.
    fn bits_for(&self, n_rows: usize) -> Option<&BitTrees> {
        if n_rows < FEWEST_ROWS_OF_BITS || self.order != SumOrder::Any {
            return None;
        }
        let is_worth_it =
            || self.n_walked.fetch_add(n_rows, Ordering::Relaxed) + n_rows >= ROWS_OF_NEW_BITS;
        if self.bits.get().is_some() || is_worth_it() {
            return self.bits.get_or_init(|| BitTrees::new(&self.scorer, &self.values)).as_ref();
        }
        None
    }

    /// Adds the values of all trees to the sums of some rows; `false` if [`Columns::refusal`] has a
    /// reason to reject them.
    pub(crate) fn add(
        &self,
        columns: &Columns<'_>,
        rows: Range<usize>,
        memory: &mut LeafTile,
        sums: &mut [f64],
    ) -> bool {
        let LeafTile { tile, bits, ends } = memory;
        let in_bits = self.bits_for(sums.len());
        if let Some(trees) = in_bits {
            let is_added = trees.add(&self.scorer, columns, rows.clone(), bits, sums);
            if !is_added || trees.others.is_empty() {
                return is_added;
            }
        }
        if !self.scorer.coder.code(columns, rows, tile) {
            return false;
        }
        if let [sum] = sums {
            ends.resize(self.n_trees, 0);
            self.scorer.ends_of_row(tile, ends);
            for &end in &*ends {
                self.order.add(sum, self.values[end as usize]);
            }
            return true;
        }
        ends.resize(sums.len(), 0);
        let mut walk = |tree: usize| {
            self.scorer.ends(tree, tile, ends);
            for (sum, &end) in sums.iter_mut().zip(&*ends) {
                self.order.add(sum, self.values[end as usize]);
            }
        };
        match in_bits {
            Some(trees) => trees.others.iter().for_each(|&tree| walk(tree)),
            None => (0..self.n_trees).for_each(walk),
        }
        true
    }
}

/// The reference rows in their consensus order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::tree) struct Consensus {
    /// For each tree, the place in its ranking of the leaf of each reference row; the reference
    /// rows from the first to the last.
    places: Vec<Vec<u32>>,
}

impl Consensus {
    /// Orders reference rows, given for each tree by the places of their leaves.
    pub(in crate::tree) fn new(places: &[Vec<u32>]) -> Self {
        let n_rows = places.first().map_or(0, Vec::len);
        // Number of trees that rank a above b, less those that rank b above a.
        let mut majority = vec![vec![0_i32; n_rows]; n_rows];
        for tree in places {
            for (a, row) in majority.iter_mut().enumerate() {
                for (lead, &b) in row.iter_mut().zip(tree) {
                    *lead += sign(tree[a], b);
                }
            }
        }
        let mut order: Vec<usize> = (0..n_rows).collect();
        order.sort_by_cached_key(|&a| {
            let copeland: i32 = majority[a].iter().map(|lead| lead.signum()).sum();
            let borda: i64 = majority[a].iter().map(|&lead| i64::from(lead)).sum();
            Reverse((copeland, borda))
        });
        for i in 1..n_rows {
            let mut place = i;
            while place > 0 && majority[order[place]][order[place - 1]] > 0 {
                order.swap(place, place - 1);
                place -= 1;
            }
        }
        let ordered = |tree: &Vec<u32>| order.iter().map(|&row| tree[row]).collect();
        Self { places: places.iter().map(ordered).collect() }
    }

    pub(in crate::tree) fn n_rows(&self) -> usize {
        self.places.first().map_or(0, Vec::len)
    }

    pub(in crate::tree) fn check(&self, n_leaves: &[usize]) -> Result<(), String> {
        let fits = |(places, &n_leaves): (&Vec<u32>, &usize)| {
            places.len() == self.n_rows() && places.iter().all(|&place| (place as usize) < n_leaves)
        };
        if self.places.len() == n_leaves.len() && self.places.iter().zip(n_leaves).all(fits) {
            Ok(())
        } else {
            Err("the reference rows of the consensus are not in the leaves of the trees".to_owned())
        }
    }

    /// Adds the vote of one tree on a row against each reference row.
    pub(in crate::tree) fn add(&self, tree: usize, leaf: u32, leads: &mut [i32]) {
        for (lead, &other) in leads.iter_mut().zip(&self.places[tree]) {
            *lead += sign(leaf, other);
        }
    }

    /// Score of a row in `[0, 1]`, from its leads over the reference rows and its mean rank in
    /// `[0, 1]`.
    pub(in crate::tree) fn score(leads: &[i32], mean_rank: f64) -> f64 {
        // Below the first k reference rows, the row contradicts the trees that rank it above them.
        let (mut contradicted, mut least) = (0, 0);
        let (mut first, mut last) = (0, 0);
        for (k, lead) in (1..).zip(leads) {
            contradicted += lead;
            if contradicted < least {
                (least, first, last) = (contradicted, k, k);
            } else if contradicted == least {
                last = k;
            }
        }
        // In half places: the middle of the equally good ones.
        let n_above = f64::from(first + last);
        1.0 - (n_above + 1.0 - mean_rank) / (2.0 * leads.len() as f64 + 1.0)
    }
}

/// 1 if a leaf ranks above another, -1 if below.
#[inline]
fn sign(place: u32, other: u32) -> i32 {
    i32::from(place < other) - i32::from(place > other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepared::Prepared;
    use crate::tree::forest::bit_trees::tests::{N_LEVELS, TreeDraws};
    use crate::tree::split::CutCriterion;

    fn forest(aggregation: Aggregation) -> RankingForest {
        RankingForest {
            trees: Vec::new(),
            aggregation,
            seed: 0,
            min_samples_leaf: Some(1),
            criterion: CutCriterion::Youden,
            consensus: None,
            calibration: None,
            out_of_bag: None,
            prepared: Prepared::default(),
        }
    }

    /// Votes of trees on three rows, `None` for a row that does not count for the tree.
    fn scores(aggregation: Aggregation, trees: &[[Option<f64>; 3]]) -> Vec<Option<f64>> {
        let forest = forest(aggregation);
        let mut votes = Votes::new(&forest, 3);
        for (number, tree) in trees.iter().enumerate() {
            let values = tree.map(|value| value.unwrap_or(99.0));
            votes.add(&forest, number, &values, &[0, 1, 2], |row| tree[row].is_some());
        }
        votes.scores(&forest).collect()
    }

    const TREES: [[Option<f64>; 3]; 4] = [
        [Some(0.5), None, Some(0.75)],
        [Some(0.125), None, Some(0.25)],
        [Some(1.0), None, None],
        [None, None, Some(0.0)],
    ];

    #[test]
    fn means_are_over_the_trees_that_count() {
        for aggregation in [Aggregation::Eta, Aggregation::RankMean] {
            let expected = [Some(1.625 / 3.0), None, Some(1.0 / 3.0)];
            assert_eq!(scores(aggregation, &TREES), expected);
            assert_eq!(scores(aggregation, &[]), [None; 3]);
        }
    }

    #[test]
    fn medians_are_the_middle_value_or_the_mean_of_the_two() {
        let of = |n_trees: usize| scores(Aggregation::RankMedian, &TREES[..n_trees]);
        assert_eq!(of(1), [Some(0.5), None, Some(0.75)]);
        assert_eq!(of(2), [Some(0.3125), None, Some(0.5)]);
        assert_eq!(of(3), [Some(0.5), None, Some(0.5)]);
        assert_eq!(of(4), [Some(0.5), None, Some(0.25)]);
        assert_eq!(median(&[3.0, 1.0, 2.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 0.0, 1.0, 0.0, 4.0, 0.0]), 0.5);
    }

    #[test]
    fn a_row_is_given_the_value_of_its_leaf() {
        let forest = forest(Aggregation::RankMedian);
        let mut votes = Votes::new(&forest, 4);
        votes.add(&forest, 0, &[0.9, 0.2], &[1, 0, 0, 1], |row| row != 2);
        let scores: Vec<_> = votes.scores(&forest).collect();
        assert_eq!(scores, [Some(0.2), Some(0.9), None, Some(0.2)]);
    }

    #[test]
    fn a_consensus_is_of_the_trees_that_count() {
        // Two reference rows, the first above the second in both trees.
        let consensus = Consensus::new(&[vec![0, 2], vec![1, 1]]);
        let forest = RankingForest { consensus: Some(consensus), ..forest(Aggregation::Kendall) };
        let mut votes = Votes::new(&forest, 3);
        votes.add(&forest, 0, &[1.0, 0.5, 0.0], &[1, 0, 2], |_| true);
        votes.add(&forest, 1, &[0.8, 0.2], &[0, 0, 1], |row| row == 1);
        let expected = [
            Consensus::score(&[-1, 1], 0.5),
            // It ties with the first in the first tree, and leads elsewhere.
            Consensus::score(&[1, 2], 0.9),
            Consensus::score(&[-1, 0], 0.0),
        ];
        assert_eq!(votes.scores(&forest).collect::<Vec<_>>(), expected.map(Some));
    }

    #[test]
    fn sums_of_leaves_are_the_same_for_any_number_of_rows() {
        let mut draws = TreeDraws(7);
        // The last is walked down by all rows.
        let trees: Vec<_> = [40, 3, 1, 17, 200, 300].map(|size| draws.tree(size)).into();
        let small = LeafSums::of_routes(&N_LEVELS, trees[..4].iter().cloned(), SumOrder::Any);
        let all = LeafSums::of_routes(&N_LEVELS, trees.iter().cloned(), SumOrder::Any);
        for n_rows in [0, 1, 2, 11, 12, 100, 150, 100, 1029, 5000] {
            let rows = draws.rows(n_rows);
            for (sums, trees) in [(&small, &trees[..4]), (&all, &trees[..])] {
                let mut found = vec![0.0; n_rows];
                sums.add_to_all(&rows.columns(), &mut found).unwrap();
                assert_eq!(found, rows.sums(trees), "{n_rows}");
            }
        }
    }

    /// Pairs of a ranking of reference rows that trees contradict.
    fn contradicted(places: &[Vec<u32>]) -> usize {
        let n = places[0].len();
        let pairs = || (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        places.iter().map(|tree| pairs().filter(|&(a, b)| tree[a] > tree[b]).count()).sum()
    }

    fn permutations(n: usize) -> Vec<Vec<usize>> {
        if n == 0 {
            return vec![Vec::new()];
        }
        let shorter = permutations(n - 1);
        shorter
            .iter()
            .flat_map(|order| {
                (0..n).map(move |place| {
                    let mut longer = order.clone();
                    longer.insert(place, n - 1);
                    longer
                })
            })
            .collect()
    }

    #[test]
    fn trees_that_agree_are_followed() {
        let consensus = Consensus::new(&[vec![2, 0, 1, 1], vec![1, 0, 0, 0]]);
        assert_eq!(consensus.places, [[0, 1, 1, 2], [0, 0, 0, 1]]);
    }

    #[test]
    fn no_neighbours_stand_against_a_majority_and_few_pairs_are_lost() {
        let mut state = 5_u64;
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 33) % n) as u32
        };
        for _ in 0..50 {
            let places: Vec<Vec<u32>> = (0..7).map(|_| (0..5).map(|_| draw(4)).collect()).collect();
            let found = Consensus::new(&places).places;
            for a in 0..4 {
                let majority: i32 = found.iter().map(|tree| sign(tree[a + 1], tree[a])).sum();
                assert!(majority <= 0);
            }
            // Kemeny's ranking, by enumeration.
            let best = permutations(5)
                .into_iter()
                .map(|order| {
                    let tree = |tree: &Vec<u32>| order.iter().map(|&row| tree[row]).collect();
                    contradicted(&places.iter().map(tree).collect::<Vec<_>>())
                })
                .min()
                .unwrap();
            assert!(contradicted(&found) <= best + best / 5 + 2);
        }
    }

    #[test]
    fn a_row_takes_the_place_that_contradicts_least() {
        // It loses to the first two reference rows in most trees and wins against the others.
        let second_to_third = Consensus::score(&[-3, -1, 2, 3], 0.5);
        assert_eq!(second_to_third, 1.0 - 4.5 / 9.0);
        // No tree distinguishes it from the second reference row: the middle of both sides.
        assert_eq!(Consensus::score(&[-3, 0, 2, 3], 0.5), 1.0 - 3.5 / 9.0);
        // In one place, the mean rank decides.
        assert!(Consensus::score(&[-3, -1, 2, 3], 0.6) > second_to_third);
        assert!(
            Consensus::score(&[-3, -1, 2, 3], 1.0) < Consensus::score(&[-3, 0, 2, 3], 0.0) + 1e-15
        );
    }
}
