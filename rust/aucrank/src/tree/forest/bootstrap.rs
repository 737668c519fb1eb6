//! Bootstrap samples for the trees of a forest.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use crate::data::{LabelBlocks, Labels, below, mix};

/// How rows are drawn for a tree.
///
/// For an example see [`fit_forest`](crate::tree::fit_forest).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootstrapParams {
    /// Rows drawn, as a share of all; in `(0, 1]`. Each class is drawn separately, at least one row
    /// of it, so that every tree sees both classes in their proportions. Groups of rows
    /// ([`Labels::in_blocks`]) are drawn whole, whatever their classes.
    pub share: f64,
}

/// Rows of a class that are drawn separately: the draw for a part of a file depends only on the
/// number of rows of each class before it.
const BLOCK_ROWS: usize = 1 << 16;

/// Rows of each class that may be drawn, or groups of rows.
#[derive(Debug)]
pub(in crate::tree) struct ForestBootstrap {
    drawn: Drawn,
    n_rows: usize,
    share: f64,
}

/// Units of the draw.
#[derive(Debug)]
enum Drawn {
    /// Rows of each class separately, negatives first.
    Rows([Vec<u32>; 2]),
    /// The rows of each group, in the order of group numbers, and the classes present in it.
    Groups(Vec<(Vec<u32>, [bool; 2])>),
}

impl Drawn {
    fn new(labels: &Labels<'_>) -> Self {
        let rows = labels.rows();
        let Some((group_of, n_groups)) = labels.blocks().and_then(LabelBlocks::groups) else {
            let (positive, negative) =
                rows.into_iter().partition(|&row| labels.positive()[row as usize]);
            return Self::Rows([negative, positive]);
        };
        let mut groups = vec![(Vec::new(), [false; 2]); n_groups];
        for row in rows {
            let (rows, has) = &mut groups[usize::from(group_of[row as usize])];
            rows.push(row);
            has[usize::from(labels.positive()[row as usize])] = true;
        }
        groups.retain(|(rows, _)| !rows.is_empty());
        Self::Groups(groups)
    }
}

impl ForestBootstrap {
    pub(in crate::tree) fn new(labels: &Labels<'_>, params: BootstrapParams) -> Self {
        Self { drawn: Drawn::new(labels), n_rows: labels.n_rows(), share: params.share }
    }

    /// Counts the draws of each row, in a buffer.
    fn count(&self, seed: u64, counts: &mut Vec<u32>) {
        counts.clear();
        counts.resize(self.n_rows, 0);
        let classes = match &self.drawn {
            Drawn::Rows(classes) => classes,
            Drawn::Groups(groups) => return count_groups(groups, mix(seed), self.share, counts),
        };
        for (class, rows) in (0..).zip(classes) {
            // Each class and block has its own random numbers, so that the draw depends neither on
            // threads nor on other blocks, and both classes are in every tree.
            for (block, rows) in (0..).zip(rows.chunks(BLOCK_ROWS)) {
                draw_block(mix(seed) ^ mix(2 * block + class), self.share, rows.len(), |place| {
                    counts[rows[place] as usize] += 1;
                });
            }
        }
    }

    /// Puts the rows of a tree in a buffer, ascending, each as often as it is drawn; `counts` is
    /// working memory.
    pub(in crate::tree) fn rows(&self, seed: u64, counts: &mut Vec<u32>, rows: &mut Vec<u32>) {
        self.count(seed, counts);
        rows.clear();
        rows.reserve(counts.iter().map(|&count| count as usize).sum());
        for (row, &count) in (0..).zip(&*counts) {
            rows.extend(std::iter::repeat_n(row, count as usize));
        }
    }

    /// The set of rows out of bag for a tree.
    pub(in crate::tree) fn left_out(&self, seed: u64) -> RowSet {
        let mut words = vec![0_u64; self.n_rows.div_ceil(64)];
        let mut counts = Vec::new();
        self.count(seed, &mut counts);
        for (row, count) in counts.into_iter().enumerate() {
            words[row / 64] |= u64::from(count == 0) << (row % 64);
        }
        RowSet(words)
    }
}

/// Draws a share of the rows of a block, at least one, with repetition.
fn draw_block(seed: u64, share: f64, n_rows: usize, mut take: impl FnMut(usize)) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let n_drawn = (share * n_rows as f64).round().max(1.0) as usize;
    (0..n_drawn).for_each(|_| take(below(&mut random, n_rows)));
}

/// Draws a share of the groups, at least one, with repetition, and one more for a class without
/// rows among them.
fn count_groups(groups: &[(Vec<u32>, [bool; 2])], seed: u64, share: f64, counts: &mut [u32]) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut has = [false; 2];
    let mut take = |(rows, of_group): &(Vec<u32>, [bool; 2])| {
        for &row in rows {
            counts[row as usize] += 1;
        }
        has = [has[0] || of_group[0], has[1] || of_group[1]];
        has
    };
    let n_drawn = (share * groups.len() as f64).round().max(1.0) as usize;
    let mut found = [false; 2];
    for _ in 0..n_drawn {
        found = take(&groups[below(&mut random, groups.len())]);
    }
    for class in 0..2 {
        if !found[class] {
            let of_class: Vec<_> = groups.iter().filter(|(_, has)| has[class]).collect();
            found = take(of_class[below(&mut random, of_class.len())]);
        }
    }
}

/// A set of rows, one bit per row.
#[derive(Debug)]
pub(in crate::tree) struct RowSet(Vec<u64>);

impl RowSet {
    #[inline]
    pub(in crate::tree) fn contains(&self, row: u32) -> bool {
        self.0[row as usize / 64] >> (row % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::RowBlocks;

    fn rows_of(bootstrap: &ForestBootstrap, seed: u64) -> Vec<u32> {
        let mut rows = Vec::new();
        bootstrap.rows(seed, &mut Vec::new(), &mut rows);
        rows
    }

    #[test]
    fn each_class_is_drawn_in_its_share_and_rows_not_drawn_are_left_out() {
        let positive: Vec<bool> = (0..1000).map(|row| row % 10 == 0).collect();
        let labels = Labels::new(&positive, None).unwrap();
        let bootstrap = ForestBootstrap::new(&labels, BootstrapParams { share: 1.0 });
        let rows = rows_of(&bootstrap, 3);
        let n_pos = rows.iter().filter(|&&row| positive[row as usize]).count();
        assert_eq!((rows.len(), n_pos), (1000, 100));
        assert!(rows.is_sorted());
        let left_out = bootstrap.left_out(3);
        for row in 0..1000 {
            assert_ne!(left_out.contains(row), rows.binary_search(&row).is_ok());
        }
        // A row is left out with probability (1 - 1/n)^n, about 0.367.
        let n_left_out = (0..1000).filter(|&row| left_out.contains(row)).count();
        assert!((330..410).contains(&n_left_out), "{n_left_out}");
        assert_ne!(rows_of(&bootstrap, 4), rows);
    }

    #[test]
    fn rows_of_weight_zero_are_never_drawn() {
        let labels = Labels::new(&[true, false, true, false], Some(&[1.0, 0.0, 0.0, 2.0])).unwrap();
        let bootstrap = ForestBootstrap::new(&labels, BootstrapParams { share: 1.0 });
        for seed in 0..20 {
            assert_eq!(rows_of(&bootstrap, seed), [0, 3]);
        }
    }

    #[test]
    fn groups_are_drawn_whole_and_every_tree_sees_both_classes() {
        let groups: Vec<u64> = (0..200).map(|row| mix(row) % 17).collect();
        // All positives but one belong to one group.
        let positive: Vec<bool> = (0..200).map(|row| groups[row] == 3 || row == 7).collect();
        let labels = Labels::new(&positive, None).unwrap();
        let labels = labels.in_blocks(RowBlocks::Groups(&groups)).unwrap();
        for share in [0.05, 0.5, 1.0] {
            let bootstrap = ForestBootstrap::new(&labels, BootstrapParams { share });
            let mut n_seen = 0;
            for seed in 0..50 {
                let mut counts = Vec::new();
                bootstrap.count(seed, &mut counts);
                let left_out = bootstrap.left_out(seed);
                for (row, &group) in groups.iter().enumerate() {
                    let first = groups.iter().position(|&other| other == group).unwrap();
                    assert_eq!(counts[row], counts[first]);
                    assert_eq!(left_out.contains(row as u32), counts[row] == 0);
                }
                for class in [false, true] {
                    assert!((0..200).any(|row| positive[row] == class && counts[row] > 0));
                }
                n_seen += counts.iter().filter(|&&count| count > 0).count();
            }
            let expected = if share == 1.0 { 0.64 } else { share };
            let seen = n_seen as f64 / (50.0 * 200.0);
            assert!((seen - expected).abs() < 0.15, "{seen}");
        }
    }
}
