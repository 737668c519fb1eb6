//! The columns of a fit for terms of two features: cells as categories, and computed numbers.

use super::interactions::Interaction;
use super::joint_term::{ArithmeticTerm, JointTerm};
use crate::data::{Column, Columns, FeatureSteps, FeatureTerm};
use crate::formula::{Axis, PairTerm};
use crate::{RankError, parallel};

/// The values of all rows.
#[derive(Debug)]
enum JointValues {
    Cells { codes: Vec<u32>, n_cells: u32 },
    Numbers(Vec<f64>),
}

/// The columns of terms of two features, after all others of a fit.
#[derive(Debug)]
pub(super) struct JointColumns {
    /// Number of columns before them.
    n_before: usize,
    terms: Vec<Interaction>,
    values: Vec<JointValues>,
}

impl JointColumns {
    /// For some terms of the features of a fit, whose columns come after `n_before` others.
    pub(super) fn new(columns: &Columns<'_>, terms: Vec<Interaction>, n_before: usize) -> Self {
        let values = parallel::map(terms.iter().collect(), |term: &Interaction| match term {
            Interaction::Cells(axes) => {
                let places = axes.each_ref().map(|axis| (axis.feature, axis.reader()));
                let n_places = axes.each_ref().map(Axis::n_places);
                let codes = (0..columns.n_rows())
                    .map(|row| {
                        let [first, second] = places
                            .each_ref()
                            .map(|(feature, place)| place(columns[*feature].raw(row)));
                        (first * n_places[1] + second) as u32
                    })
                    .collect();
                JointValues::Cells { codes, n_cells: (n_places[0] * n_places[1]) as u32 }
            }
            Interaction::Arithmetic(how, features) => {
                let both = features.map(|feature| &columns[feature]);
                let of_row = |row| how.of(both.map(|column| column.raw(row))).unwrap_or(f64::NAN);
                JointValues::Numbers((0..columns.n_rows()).map(of_row).collect())
            }
        });
        Self { n_before, terms, values }
    }

    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// The columns of a fit, followed by these.
    pub(super) fn behind<'c>(&'c self, columns: &Columns<'c>) -> Result<Columns<'c>, RankError> {
        let own = self.values.iter().map(|values| match values {
            JointValues::Cells { codes, n_cells } => Column::Codes { codes, n_levels: *n_cells },
            JointValues::Numbers(values) => Column::from(&values[..]),
        });
        Columns::new(columns.iter().copied().chain(own).collect(), columns.n_rows())
    }

    /// Takes the terms of these columns out of the steps of a fit; those that are constant have
    /// none.
    pub(super) fn take_out(&self, steps: &mut Vec<FeatureTerm>) -> Vec<(usize, JointTerm)> {
        let own = steps.split_off(steps.partition_point(|term| term.feature < self.n_before));
        let joint = |FeatureTerm { feature, steps, missing }| {
            let term = match (&self.terms[feature - self.n_before], steps) {
                (Interaction::Cells(axes), FeatureSteps::Categorical { values }) => {
                    JointTerm::Cells(PairTerm { axes: axes.clone(), values })
                }
                (
                    &Interaction::Arithmetic(operation, features),
                    FeatureSteps::Numeric { thresholds, values },
                ) => JointTerm::Arithmetic(ArithmeticTerm {
                    operation,
                    features,
                    thresholds,
                    values,
                    missing,
                }),
                _ => unreachable!("cells are categories, and what is computed is a number"),
            };
            (feature, term)
        };
        own.into_iter().map(joint).collect()
    }

    /// Gives half of the contributions of each of these columns to either of its features.
    pub(super) fn share(&self, parts: &mut Vec<(usize, Vec<f64>)>) {
        let own = parts.split_off(parts.partition_point(|(column, _)| *column < self.n_before));
        for (column, part) in own {
            let features = match &self.terms[column - self.n_before] {
                Interaction::Cells(axes) => axes.each_ref().map(|axis| axis.feature),
                Interaction::Arithmetic(_, features) => *features,
            };
            for feature in features {
                let place = parts.partition_point(|(other, _)| *other < feature);
                if parts.get(place).is_none_or(|(other, _)| *other != feature) {
                    parts.insert(place, (feature, vec![0.0; part.len()]));
                }
                let own = parts[place].1.iter_mut().zip(&part);
                own.for_each(|(own, value)| *own += 0.5 * value);
            }
        }
    }
}
