//! The training rows of a model, with their masses.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::rate_columns::{BoosterRates, RatedCodes};
use super::tree::GradientTree;
use crate::RankError;
use crate::data::{Binned, Columns, Labels};

/// Number of rows per task over all rows.
pub(super) const CHUNK_ROWS: usize = 1 << 14;

/// Masses add up to at most this, so that their products with derivatives do not overflow.
pub(super) const MOST_MASS: u64 = 1 << 40;

/// The training rows of a model, with their masses.
#[derive(Debug)]
pub(super) struct FitRows<'a> {
    pub(super) binned: Cow<'a, Binned>,
    /// The columns of codes of rates.
    pub(super) rates: BoosterRates,
    labels: &'a Labels<'a>,
    /// Rows of positive mass, ascending.
    training: Arc<[u32]>,
    /// Mass of every row; `None` if all that count have mass 1.
    masses: Option<Vec<u64>>,
    mass: RowMass,
}

/// Conversion of weights of rows to masses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowMassScale {
    shift: u32,
}

impl RowMassScale {
    /// For rows of `total` units of weight. Counts of copies are unchanged unless they are very
    /// large.
    pub(super) fn of(total: u64) -> Self {
        Self { shift: (u64::BITS - total.leading_zeros()).saturating_sub(MOST_MASS.ilog2()) }
    }

    /// The mass of a row of `units` units.
    #[inline]
    pub(super) fn mass(self, units: u64) -> u64 {
        let half = 1_u64.unbounded_shl(self.shift) >> 1;
        if units == 0 { 0 } else { (units + half).unbounded_shr(self.shift).max(1) }
    }
}

/// Totals of the training rows of a model.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowMass {
    /// Mass of each class, negatives first.
    pub(super) of_classes: [u64; 2],
    /// Number of rows, counting copies.
    pub(super) n_rows: u64,
}

impl RowMass {
    /// Number of rows per unit of mass: rows weigh 1 on average, and copies 1 each.
    pub(super) fn unit(self) -> f64 {
        self.n_rows as f64 / self.of_classes.iter().sum::<u64>() as f64
    }
}

impl<'a> FitRows<'a> {
    /// `training` are rows of positive weight, ascending.
    pub(super) fn new(binned: &'a Binned, labels: &'a Labels<'a>, training: Arc<[u32]>) -> Self {
        Self::with_rates(RatedCodes::plain(binned), labels, training)
    }

    /// With columns of rates, and the codes including them.
    pub(super) fn with_rates(
        RatedCodes { rates, binned }: RatedCodes<'a>,
        labels: &'a Labels<'a>,
        training: Arc<[u32]>,
    ) -> Self {
        let scale = RowMassScale::of(training.iter().map(|&row| mass_of(labels, row)).sum());
        let masses = labels
            .weights()
            .map(|weights| weights.units().iter().map(|&units| scale.mass(units)).collect());
        let mass = RowMass { of_classes: [0; 2], n_rows: 0 };
        let mut rows = Self { binned, rates, labels, training, masses, mass };
        rows.mass = rows.total_of(&rows.training);
        rows
    }

    /// Totals of some rows, training rows or not.
    pub(super) fn total_of(&self, rows: &[u32]) -> RowMass {
        let mut total = RowMass { of_classes: [0; 2], n_rows: 0 };
        for row in rows.iter().map(|&row| row as usize) {
            total.of_classes[usize::from(self.labels.positive()[row])] += self.mass(row);
            total.n_rows += self.count(row);
        }
        total
    }

    /// Adds the values of a tree to the scores of all rows, as split in this fit.
    pub(super) fn add_values(
        &self,
        tree: &GradientTree,
        columns: &Columns<'_>,
        scores: &mut [f64],
    ) -> Result<(), RankError> {
        self.rates.add_values(tree, columns, &self.binned, &self.training, scores)
    }

    pub(super) fn training(&self) -> &Arc<[u32]> {
        &self.training
    }

    pub(super) fn positive(&self) -> &'a [bool] {
        self.labels.positive()
    }

    /// Whether every row counts once.
    pub(super) fn are_equal(&self) -> bool {
        self.masses.is_none()
    }

    #[inline]
    pub(super) fn mass(&self, row: usize) -> u64 {
        self.masses.as_ref().map_or(1, |masses| masses[row])
    }

    /// Number of copies of a row.
    #[inline]
    pub(super) fn count(&self, row: usize) -> u64 {
        if self.masses.is_none() { 1 } else { self.labels.sums(row).rows }
    }

    /// Number of rows, counting copies.
    pub(super) fn count_all(&self, rows: &[u32]) -> u64 {
        if self.masses.is_none() {
            return rows.len() as u64;
        }
        rows.iter().map(|&row| self.count(row as usize)).sum()
    }

    /// The mass of some rows.
    pub(super) fn mass_of(&self, rows: &[u32]) -> u64 {
        if self.masses.is_none() {
            return rows.len() as u64;
        }
        rows.iter().map(|&row| self.mass(row as usize)).sum()
    }

    /// Totals of the rows.
    pub(super) fn total(&self) -> RowMass {
        self.mass
    }

    /// Mass of each class, negatives first.
    pub(super) fn class_masses(&self) -> [u64; 2] {
        self.mass.of_classes
    }

    /// As [`Mass::unit`].
    pub(super) fn mass_unit(&self) -> f64 {
        self.mass.unit()
    }
}

fn mass_of(labels: &Labels<'_>, row: u32) -> u64 {
    labels.weights().map_or(1, |weights| weights.units()[row as usize])
}
