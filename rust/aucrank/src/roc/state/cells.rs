//! Tables of bounded size: neighbouring scores are counted together.

use super::table::Entry;
use crate::roc::curve::CountedMass;

/// Unweighted rows of one score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    pub key: u64,
    /// Negative and positive rows.
    pub rows: [u64; 2],
}

impl Entry for Count {
    #[inline]
    fn key(&self) -> u64 {
        self.key
    }

    #[inline]
    fn last_key(&self) -> u64 {
        self.key
    }

    #[inline]
    fn join(self, other: Self) -> Self {
        Self { key: self.key, rows: [0, 1].map(|class| self.rows[class] + other.rows[class]) }
    }
}

/// Rows whose score keys differ in their last `width` bits only.
///
/// Such cells are the nodes of a binary tree over all keys, so two of them are nested or disjoint:
/// states that were cut down at different times can be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    /// Least key of the cell, which need not occur.
    pub key: u64,
    /// 0 if all rows have the same score.
    pub width: u32,
    /// Weight of the negative and of the positive rows.
    pub units: [u64; 2],
    /// Sums of the squared weights of both classes.
    pub squares: [u128; 2],
}

impl Cell {
    /// A cell of rows that weigh `2^bits` units each.
    pub fn of_rows(count: Count, bits: u32) -> Self {
        Self {
            key: count.key,
            width: 0,
            units: count.rows.map(|rows| rows << bits),
            squares: count.rows.map(|rows| u128::from(rows) << (2 * bits)),
        }
    }
}

/// A mask of the last `width` bits.
pub(super) fn low_bits(width: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS - width).unwrap_or(0)
}

impl Entry for Cell {
    fn key(&self) -> u64 {
        self.key
    }

    fn last_key(&self) -> u64 {
        self.key | low_bits(self.width)
    }

    fn join(self, other: Self) -> Self {
        Self {
            key: self.key,
            width: self.width.max(other.width),
            units: [0, 1].map(|class| self.units[class] + other.units[class]),
            squares: [0, 1].map(|class| self.squares[class] + other.squares[class]),
        }
    }
}

/// An entry as read by statistics.
pub(super) trait Seen {
    type Mass: CountedMass;
    /// Least key.
    fn key(&self) -> u64;
    /// 0 if all rows have the same score.
    fn width(&self) -> u32;
    /// Weight of the negative and of the positive rows.
    fn masses(&self) -> [Self::Mass; 2];
    /// Sums of the squared weights of both classes.
    fn squares(&self) -> [f64; 2];
}

impl Seen for Cell {
    type Mass = u64;

    fn key(&self) -> u64 {
        self.key
    }

    fn width(&self) -> u32 {
        self.width
    }

    fn masses(&self) -> [u64; 2] {
        self.units
    }

    fn squares(&self) -> [f64; 2] {
        self.squares.map(|square| square as f64)
    }
}

/// An entry that can absorb its neighbours.
pub(super) trait Absorbing: Entry {
    /// Parameter of the conversion of weights to floats.
    type Scale: Copy;

    /// Weight of the negative and of the positive rows.
    fn weights(&self, scale: Self::Scale) -> [f64; 2];

    /// The cell of at least that width that contains this one.
    fn widened(self, width: u32) -> Self;
}

impl Absorbing for Cell {
    type Scale = ();

    fn weights(&self, (): ()) -> [f64; 2] {
        self.units.map(|units| units as f64)
    }

    fn widened(mut self, width: u32) -> Self {
        self.width = self.width.max(width);
        self.key &= !low_bits(self.width);
        self
    }
}

/// Merges neighbouring cells until at most `target` are left, the cheapest first.
///
/// A boundary between two neighbours stands for the smallest node that contains both. The cost of a
/// node is the product of its shares of the classes, to which the error of the AUC is proportional;
/// each share is slightly increased, as if one row in `4 * target` were still to fall there, so
/// that stretches of one class are not merged for free. The cost increases with the node, so that
/// the cheapest boundaries can be dropped all at once.
pub(super) fn cut_down<C: Absorbing>(cells: &[C], target: usize, scale: C::Scale) -> Vec<C> {
    if cells.len() <= target {
        return cells.to_vec();
    }
    let width = |b: usize| u64::BITS - (cells[b].key() ^ cells[b + 1].key()).leading_zeros();
    let widths: Vec<u32> = (0..cells.len() - 1).map(width).collect();
    let costs = costs(cells, &widths, 1.0 / (4.0 * target as f64), scale);
    let n_dropped = cells.len() - target;
    let mut order = costs.clone();
    let (_, &mut dearest, _) = order.select_nth_unstable_by(n_dropped - 1, f64::total_cmp);

    let mut joined = Vec::with_capacity(target);
    let mut cell = cells[0];
    for (boundary, &next) in cells[1..].iter().enumerate() {
        if costs[boundary] <= dearest {
            cell = cell.join(next).widened(widths[boundary]);
        } else {
            joined.push(cell);
            cell = next;
        }
    }
    joined.push(cell);
    joined
}

/// Cost of the node of each boundary.
fn costs<C: Absorbing>(cells: &[C], widths: &[u32], floor: f64, scale: C::Scale) -> Vec<f64> {
    // Prefix sums of weights: floating-point sums are monotone, so a node costs no less than one
    // inside it.
    let mut below = vec![[0.0; 2]];
    let mut sums = [0.0; 2];
    for cell in cells {
        let weights = cell.weights(scale);
        sums = [0, 1].map(|class| sums[class] + weights[class]);
        below.push(sums);
    }
    let all = sums.map(|sum| if sum > 0.0 { sum } else { 1.0 });
    // A node extends to the nearest wider boundary on either side.
    let mut first = vec![0; widths.len()];
    let mut end = vec![cells.len(); widths.len()];
    let mut open: Vec<usize> = Vec::new();
    for boundary in 0..widths.len() {
        while let Some(&inner) = open.last().filter(|&&b| widths[b] < widths[boundary]) {
            end[inner] = boundary + 1;
            open.pop();
        }
        first[boundary] = open.last().map_or(0, |&wider| wider + 1);
        open.push(boundary);
    }
    let cost = |(&first, &end): (&usize, &usize)| {
        let share = |class: usize| (below[end][class] - below[first][class]) / all[class];
        (share(0) + floor) * (share(1) + floor)
    };
    first.iter().zip(&end).map(cost).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn cells_that_are_left_are_nodes_and_hold_every_row(
            keys in prop::collection::btree_set(any::<u64>(), 2..80),
            shift in 0..60_u32,
            target in 1..40_usize,
        ) {
            let mut cells: Vec<Cell> = Vec::new();
            for (i, key) in keys.iter().map(|key| key >> shift).enumerate() {
                if cells.last().is_none_or(|cell| cell.key != key) {
                    cells.push(Cell::of_rows(Count { key, rows: [1 + i as u64 % 3, i as u64 % 2] }, 0));
                }
            }
            let joined = cut_down(&cells, target, ());
            prop_assert!(joined.len() <= target.min(cells.len()));
            prop_assert!(joined.windows(2).all(|pair| pair[0].last_key() < pair[1].key));
            for cell in joined {
                prop_assert_eq!(cell.key & low_bits(cell.width), 0);
                let inside: Vec<&Cell> =
                    cells.iter().filter(|c| (cell.key..=cell.last_key()).contains(&c.key)).collect();
                for class in [0, 1] {
                    prop_assert_eq!(cell.units[class], inside.iter().map(|c| c.units[class]).sum::<u64>());
                    prop_assert_eq!(cell.squares[class], inside.iter().map(|c| c.squares[class]).sum::<u128>());
                }
                prop_assert_eq!(cell.width == 0, inside.len() == 1);
            }
        }
    }
}
