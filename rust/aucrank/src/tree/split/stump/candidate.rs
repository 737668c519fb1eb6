//! A stump that may cut a cell, and what it heeds.

use std::cmp::Ordering;

use super::cell_means::CellMeans;
use crate::data::{ClassSums, CodeTest, RowUnits};
use crate::tree::split::criterion::{CutCriterion, Merit};

/// A stump and what it does to its cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tree) struct Stump {
    pub(in crate::tree) test: CodeTest,
    pub(in crate::tree) left: ClassSums,
    /// [`ClassSums::gain`] of the left side; positive.
    pub(in crate::tree) gain: i128,
    /// What it is worth by the criterion: with all of the gain, but for a set of categories that was
    /// chosen by the rows it gains on with a shrunken gain.
    pub(in crate::tree) merit: Merit,
}

impl Stump {
    /// Larger merit first, then the larger left side (paper 1 Remark 9). Of equal stumps the one met
    /// first stays: lower feature, lower threshold, "below goes left" (DECISIONS T3).
    pub(super) fn beats(&self, other: Option<&Self>) -> bool {
        let key = |stump: &Self| (stump.merit, stump.left.rows);
        other.is_none_or(|other| key(self).cmp(&key(other)) == Ordering::Greater)
    }
}

/// What stumps heed beside their gain.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::tree) struct StumpTerms<'a> {
    /// Where a missing value counts as the mean of its cell.
    pub(in crate::tree) means: Option<&'a CellMeans>,
    /// For each feature, 1 if only higher values may go left and -1 if only lower ones; or empty.
    pub(in crate::tree) monotonic: &'a [i8],
    /// Features that may be asked, ascending; `None` for all.
    pub(in crate::tree) features: Option<&'a [usize]>,
    /// The seed of the one threshold of each number that is tried; `None` to try all.
    pub(in crate::tree) draw: Option<u64>,
    /// By what stumps are compared.
    pub(in crate::tree) criterion: CutCriterion,
    /// What chance can do to the rates of categories; `None` where they are taken as they are.
    pub(in crate::tree) level_units: Option<&'a RowUnits>,
}

impl StumpTerms<'_> {
    /// Whether a feature may be asked.
    pub(in crate::tree) fn may_ask(self, feature: usize) -> bool {
        self.features.is_none_or(|features| features.binary_search(&feature).is_ok())
    }
}
