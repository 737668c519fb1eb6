//! The rows that a tree is grown on, with their derivatives, node by node.

use std::ops::Range;

use super::code_columns::CodeColumns;
use super::fit_rows::FitRows;
use super::sides::{RowSides, Sides};
use super::sums::{PackedSums, UnitSums};

/// Gradient and hessian of each row, times its mass.
#[derive(Debug)]
pub(super) enum Derivatives<P, S> {
    /// For rows of mass 1, if both fit one word.
    Packed(P),
    Plain(S),
}

/// Derivatives of all rows of a tree.
type OfTree = Derivatives<Vec<PackedSums>, Vec<UnitSums>>;

/// Derivatives of the rows of a node.
pub(super) type OfNode<'a> = Derivatives<&'a [PackedSums], &'a [UnitSums]>;

/// The rows that a tree is grown on; those of a node are contiguous and ascending.
#[derive(Debug)]
pub(super) struct TreeRows {
    pub(super) rows: Vec<u32>,
    pub(super) derivatives: OfTree,
    /// As long as the rows; buffer for those on the right of a split.
    other_rows: Vec<u32>,
    others: OfTree,
}

/// The rows of a node.
#[derive(Debug)]
pub(super) struct NodeRows<'a> {
    pub(super) rows: &'a [u32],
    pub(super) derivatives: OfNode<'a>,
}

impl TreeRows {
    /// No rows yet.
    pub(super) fn new(are_packed: bool) -> Self {
        let derivatives = || {
            if are_packed { OfTree::Packed(Vec::new()) } else { OfTree::Plain(Vec::new()) }
        };
        Self {
            rows: Vec::new(),
            derivatives: derivatives(),
            other_rows: Vec::new(),
            others: derivatives(),
        }
    }

    /// Allocates space for the derivatives of the rows, and for splitting them.
    pub(super) fn resize(&mut self) {
        let n_rows = self.rows.len();
        self.other_rows.resize(n_rows, 0);
        for derivatives in [&mut self.derivatives, &mut self.others] {
            match derivatives {
                Derivatives::Packed(packed) => packed.resize(n_rows, PackedSums::default()),
                Derivatives::Plain(plain) => plain.resize(n_rows, UnitSums::default()),
            }
        }
    }

    pub(super) fn are_packed(&self) -> bool {
        matches!(self.derivatives, Derivatives::Packed(_))
    }

    pub(super) fn of(&self, range: Range<usize>) -> NodeRows<'_> {
        let derivatives = match &self.derivatives {
            Derivatives::Packed(packed) => OfNode::Packed(&packed[range.clone()]),
            Derivatives::Plain(plain) => OfNode::Plain(&plain[range.clone()]),
        };
        NodeRows { rows: &self.rows[range], derivatives }
    }

    /// Moves the rows of a node that go left to the front; both sides keep their order. Returns the
    /// number of rows on the left, and their count including copies.
    pub(super) fn part(
        &mut self,
        range: Range<usize>,
        sides: &Sides,
        data: &FitRows<'_>,
        columns: &CodeColumns,
    ) -> (usize, u64) {
        let rows = RowSides::of(&mut self.rows, &mut self.other_rows, &range);
        let n_left = match (&mut self.derivatives, &mut self.others) {
            (Derivatives::Packed(packed), Derivatives::Packed(others)) => {
                sides.part(data, columns, rows, RowSides::of(packed, others, &range))
            }
            (Derivatives::Plain(plain), Derivatives::Plain(others)) => {
                sides.part(data, columns, rows, RowSides::of(plain, others, &range))
            }
            _ => unreachable!("both are of one kind"),
        };
        (n_left, data.count_all(&self.rows[range.start..range.start + n_left]))
    }

    /// Merges the two sides of a node again.
    pub(super) fn merge(&mut self, range: Range<usize>, n_left: usize) {
        let rows = &mut self.rows[range.clone()];
        let left = &mut self.other_rows[..n_left];
        left.copy_from_slice(&rows[..n_left]);
        match (&mut self.derivatives, &mut self.others) {
            (Derivatives::Packed(packed), Derivatives::Packed(others)) => {
                merge(rows, left, &mut packed[range], &mut others[..n_left]);
            }
            (Derivatives::Plain(plain), Derivatives::Plain(others)) => {
                merge(rows, left, &mut plain[range], &mut others[..n_left]);
            }
            _ => unreachable!("both are of one kind"),
        }
    }
}

/// Merges ascending rows: those in `left` with those in `rows` after as many places.
fn merge<D: Copy>(rows: &mut [u32], left: &[u32], derivatives: &mut [D], of_left: &mut [D]) {
    of_left.copy_from_slice(&derivatives[..left.len()]);
    let (mut next_left, mut next_right) = (0, left.len());
    for place in 0..rows.len() {
        if next_left == left.len() {
            break;
        }
        // The place that is read is never before the place that is written.
        if next_right < rows.len() && rows[next_right] < left[next_left] {
            (rows[place], derivatives[place]) = (rows[next_right], derivatives[next_right]);
            next_right += 1;
        } else {
            (rows[place], derivatives[place]) = (left[next_left], of_left[next_left]);
            next_left += 1;
        }
    }
}

impl NodeRows<'_> {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_is_sorting_by_row() {
        let sides = [vec![0, 3, 4, 9], vec![1, 2, 5, 6, 7, 8]];
        for (left, right) in [(0, 1), (1, 0)] {
            let mut tree = TreeRows::new(true);
            tree.rows = [vec![77], sides[left].clone(), sides[right].clone()].concat();
            tree.resize();
            let word =
                |row: u32| PackedSums::from(UnitSums { gradient: i64::from(row), hessian: 1 });
            tree.derivatives =
                Derivatives::Packed(tree.rows.iter().map(|&row| word(row)).collect());
            tree.merge(1..11, sides[left].len());
            assert_eq!(tree.rows[1..], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
            let NodeRows { rows, derivatives: OfNode::Packed(words) } = tree.of(0..11) else {
                panic!("packed")
            };
            assert!(rows.iter().zip(words).all(|(&row, &found)| found == word(row)));
        }
    }
}
