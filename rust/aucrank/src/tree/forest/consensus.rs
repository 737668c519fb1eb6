//! One ranking out of many: the Kendall consensus of the trees of a forest.
//!
//! A ranking that agrees with the most pairs of the most trees (a Kemeny ranking) is out of reach,
//! so this is Copeland's with a local search. Some reference rows are ordered by the number of others that they
//! beat in a majority of trees, ties by the sum of the majorities (Borda), and neighbours change
//! places until no majority is against any of them (local Kemenisation: Dwork, Kumar, Naor and
//! Sivakumar, "Rank aggregation methods for the Web", 2001, <https://doi.org/10.1145/371920.372165>).
//! A new row takes the place among them that contradicts the fewest pairs of the trees; rows in one
//! place are ordered by their mean rank.

use std::cmp::Reverse;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// The reference rows in their consensus order.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(in crate::tree) struct Consensus {
    /// For each tree, the place in its ranking of the leaf of each reference row; the reference rows
    /// from the first to the last.
    places: Vec<Vec<u32>>,
}

impl Consensus {
    /// Orders reference rows, given for each tree by the places of their leaves.
    pub(in crate::tree) fn new(places: &[Vec<u32>]) -> Self {
        let n_rows = places.first().map_or(0, Vec::len);
        // Trees that rank a above b, less those that rank b above a.
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

    /// Adds what one tree says of a row against each reference row.
    pub(in crate::tree) fn add(&self, tree: usize, leaf: u32, leads: &mut [i32]) {
        for (lead, &other) in leads.iter_mut().zip(&self.places[tree]) {
            *lead += sign(leaf, other);
        }
    }

    /// Score of a row in `[0, 1]`, from its leads over the reference rows and its mean rank in
    /// `[0, 1]`.
    pub(in crate::tree) fn score(leads: &[i32], mean_rank: f64) -> f64 {
        // Below the first k reference rows, the row contradicts the trees that it leads there.
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
        // Half places: the middle of those that are equally good.
        let n_above = f64::from(first + last);
        1.0 - (n_above + 1.0 - mean_rank) / (2.0 * leads.len() as f64 + 1.0)
    }
}

/// 1 where a leaf ranks above another, -1 where below.
#[inline]
fn sign(place: u32, other: u32) -> i32 {
    i32::from(place < other) - i32::from(place > other)
}

#[cfg(test)]
mod tests {
    use super::*;

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
