//! Scores that can only rise, or only fall, with a feature.
//!
//! Two rows that differ in such a feature alone take one path until a stump on it parts them, and
//! that stump sends the row that must not rank lower to the left. When leaves stand from left to
//! right this is all. When they stand by eta, the left side of the stump must also have no smaller
//! eta than the right one, however both are split again: so the mean of the two etas bounds one side
//! from below and the other from above, all the way down, and etas beyond their bounds are clipped.
//! The same holds for the parts of a small tree of stumps, which are merged by their etas.

use crate::data::{ClassSums, direction};
use crate::formula::{Rule, Test};

/// Whether a question to a number keeps to the direction of its feature. Where the missing values go
/// is free.
pub(in crate::tree) fn allows(monotonic: &[i8], test: &Test) -> bool {
    match test.left {
        Rule::Below(_) => direction(monotonic, test.feature) <= 0,
        Rule::AtLeast(_) => direction(monotonic, test.feature) >= 0,
        Rule::Known(_) | Rule::Levels(_) => true,
    }
}

/// Whether the sides of a question are ordered by a constraint.
pub(in crate::tree) fn orders(monotonic: &[i8], test: &Test) -> bool {
    let asks_value = !matches!(test.left, Rule::Known(_));
    asks_value && direction(monotonic, test.feature) != 0
}

/// Eta of every node of a tree, clipped to the bounds that the splits above it set.
///
/// `sides` gives the left and right node of a split and whether a constraint orders them; a node
/// stands before those below it. What is clipped depends on the sums of the nodes above alone, so a
/// node has the same value in every subtree that it is in.
pub(in crate::tree) fn clipped_etas(
    sums: impl Iterator<Item = ClassSums>,
    sides: impl Fn(usize) -> Option<(usize, usize, bool)>,
) -> Vec<f64> {
    let mut etas: Vec<f64> = sums.map(ClassSums::eta).collect();
    let mut bounds = vec![(0.0, 1.0); etas.len()];
    for node in 0..etas.len() {
        let Some((left, right, is_ordered)) = sides(node) else { continue };
        let (low, high) = bounds[node];
        etas[left] = etas[left].clamp(low, high);
        etas[right] = etas[right].clamp(low, high);
        // The left side of a split has the larger eta, and clipping or rounding does not turn that.
        let middle = f64::midpoint(etas[left], etas[right]);
        (bounds[left], bounds[right]) =
            if is_ordered { ((middle, high), (low, middle)) } else { ((low, high), (low, high)) };
    }
    etas
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(pos: u64, neg: u64) -> ClassSums {
        ClassSums { pos, neg, rows: pos + neg }
    }

    #[test]
    fn etas_are_clipped_at_the_middle_of_ordered_sides() {
        // The root parts 3/4 from 1/4; both sides are split again, without an order.
        let nodes = [(8, 8), (6, 2), (4, 0), (2, 2), (2, 6), (2, 0), (0, 6)];
        let nodes = || nodes.iter().map(|&(pos, neg)| sums(pos, neg));
        let sides = |root_is_ordered: bool| {
            move |node: usize| match node {
                0 => Some((1, 4, root_is_ordered)),
                1 => Some((2, 3, false)),
                4 => Some((5, 6, false)),
                _ => None,
            }
        };
        let plain = clipped_etas(nodes(), sides(false));
        assert_eq!(plain, [0.5, 0.75, 1.0, 0.5, 0.25, 1.0, 0.0]);
        let clipped = clipped_etas(nodes(), sides(true));
        assert_eq!(clipped, [0.5, 0.75, 1.0, 0.5, 0.25, 0.5, 0.0]);
    }
}
