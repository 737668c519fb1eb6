//! The criterion for splits.
//!
//! To second order, a leaf with the sums `g` and `h` of gradients and hessians that is given its
//! best value `-g / (h + l2)` lowers the loss by `g^2 / 2(h + l2)`; a split by the difference to
//! the node. Everything is computed from exact sums, in units.

use std::ops::Add;

use super::sums::{GRADIENT_UNITS, HESSIAN_UNITS, UnitSums};
use crate::data::mix;
use crate::tree::Cuts;

/// Maximum absolute value of a leaf before shrinkage: without `l2` a pure leaf has an unbounded
/// value.
const MOST_VALUE: f64 = 16.0;

/// Criterion for splits.
#[derive(Debug, Clone)]
pub(super) struct SplitCriterion {
    /// Added to sums of hessians, in their units.
    pub(super) l2: f64,
    /// Least gain of a split, in units.
    pub(super) min_gain: f64,
    /// Least number of rows on each side.
    pub(super) min_rows: u64,
    pub(super) cuts: Cuts,
    /// Direction of each feature; empty if none is bound.
    pub(super) monotonic: Vec<i8>,
    /// Number of rows per unit of mass.
    pub(super) mass_unit: f64,
}

/// A node to be split.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeToSplit {
    pub(super) sums: UnitSums,
    /// Number of rows, counting copies.
    pub(super) rows: u64,
    /// Least and greatest value of its leaves, in units; infinite if no direction bounds them.
    pub(super) bounds: [f64; 2],
    /// For random cuts.
    pub(super) seed: u64,
    /// Direction of the feature that is tested.
    pub(super) direction: i8,
}

impl NodeToSplit {
    /// Random bits for a feature.
    pub(super) fn random(&self, feature: usize) -> u64 {
        mix(self.seed ^ mix(feature as u64))
    }
}

/// One side of a split.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Side {
    pub(super) sums: UnitSums,
    /// Number of rows; 0 if unknown.
    pub(super) rows: u64,
}

impl Add for Side {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { sums: self.sums + other.sums, rows: self.rows + other.rows }
    }
}

impl std::iter::Sum for Side {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Add::add)
    }
}

/// A cut of a number: codes below the bound are on the left.
#[derive(Debug, Clone, Copy)]
pub(super) struct BestCut {
    pub(super) value: f64,
    pub(super) bound: u32,
    pub(super) missing_left: bool,
    pub(super) left: UnitSums,
}

impl SplitCriterion {
    /// Twice the decrease of the loss in units, as a number of rows times a loss.
    pub(super) fn in_loss(&self, gain: f64) -> f64 {
        0.5 * gain * self.gain_unit()
    }

    /// A gain in the loss, in units.
    pub(super) fn gain_in_units(&self, gain: f64) -> f64 {
        2.0 * gain / self.gain_unit()
    }

    fn gain_unit(&self) -> f64 {
        let gradient = 1.0 / f64::from(GRADIENT_UNITS);
        gradient * gradient * f64::from(HESSIAN_UNITS) * self.mass_unit
    }

    /// The best value of a leaf in units.
    pub(super) fn leaf(&self, sums: UnitSums, [low, high]: [f64; 2]) -> f64 {
        let most = MOST_VALUE * f64::from(GRADIENT_UNITS) / f64::from(HESSIAN_UNITS);
        if sums.is_empty() {
            return 0.0;
        }
        let value = -(sums.gradient as f64) / (sums.hessian as f64 + self.l2);
        value.clamp(low, high).clamp(-most, most)
    }

    /// Converts a value of a leaf from units.
    pub(super) fn leaf_value(value: f64) -> f64 {
        value * f64::from(HESSIAN_UNITS) / f64::from(GRADIENT_UNITS)
    }

    /// Squares of deviations over hessians, scaled: the mean is 1 by chance.
    pub(super) fn chance(&self, square: f64) -> f64 {
        square * self.gain_unit()
    }

    /// Twice the decrease of the loss by a node as a single leaf.
    pub(super) fn of_leaf(&self, gradient: f64, hessian: f64, value: f64) -> f64 {
        -value * (2.0 * gradient + (hessian + self.l2) * value)
    }

    /// Twice the decrease of the loss by two leaves; `None` for a split that is not allowed.
    #[inline]
    pub(super) fn value(&self, node: &NodeToSplit, left: Side) -> Option<f64> {
        self.value_of_shrunken(node, left, left.sums.gradient as f64)
    }

    /// The same, with another gradient of the left side.
    #[inline]
    pub(super) fn value_of_shrunken(
        &self,
        node: &NodeToSplit,
        left: Side,
        left_gradient: f64,
    ) -> Option<f64> {
        let hessian = node.sums.hessian - left.sums.hessian;
        if left.sums.hessian == 0 || hessian == 0 {
            return None;
        }
        // If numbers of rows are unknown, they are checked when the node is split.
        if left.rows > 0 && left.rows.min(node.rows - left.rows) < self.min_rows {
            return None;
        }
        let gradient = node.sums.gradient as f64 - left_gradient;
        if !self.monotonic.is_empty() {
            return self.bounded_value(node, left.sums, left_gradient);
        }
        let (left, right) = (left.sums.hessian as f64 + self.l2, hessian as f64 + self.l2);
        // One division instead of two.
        Some((left_gradient * left_gradient * right + gradient * gradient * left) / (left * right))
    }

    fn bounded_value(&self, node: &NodeToSplit, left: UnitSums, left_gradient: f64) -> Option<f64> {
        let right = node.sums - left;
        let gradient = node.sums.gradient as f64 - left_gradient;
        let (low, high) = (self.leaf(left, node.bounds), self.leaf(right, node.bounds));
        if (high - low) * f64::from(node.direction) < 0.0 {
            return None;
        }
        Some(
            self.of_leaf(left_gradient, left.hessian as f64, low)
                + self.of_leaf(gradient, right.hessian as f64, high),
        )
    }
}
