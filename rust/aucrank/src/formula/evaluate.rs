//! Formulas evaluated by the plain reading of each operation: the oracle of the fast scorers and of the
//! exports.

use super::steps::step;
use super::{Formula, Linear, LinearTerm, Opaque, ProgramNode, Scale, TreeNode};
use crate::RankError;
use crate::data::Columns;

impl Formula {
    /// Its value for a row: numbers as they are, codes for categories, NaN for what is missing. NaN
    /// where a weighted number is missing.
    ///
    /// # Errors
    ///
    /// [`Opaque`] where a part cannot be written down.
    pub fn value(&self, row: &[f64]) -> Result<f64, Opaque> {
        match self {
            Self::Constant(value) => Ok(*value),
            Self::Tree(tree) => tree.value(row),
            Self::Steps(steps) => Ok(steps.value(row)),
            Self::StepsOf { of, thresholds, values } => {
                Ok(step(thresholds, values, of.value(row)?))
            }
            Self::Linear(linear) => Ok(linear.value(row)),
            Self::Indicator { condition, value } => {
                Ok(if condition.holds(row)? { *value } else { 0.0 })
            }
            Self::Sum(terms) => terms.iter().try_fold(0.0, |sum, term| Ok(sum + term.value(row)?)),
            Self::Product { factor, of } => Ok(factor * of.value(row)?),
            Self::Quotient { numerator, denominator, otherwise } => {
                let denominator = denominator.value(row)?;
                if denominator > 0.0 {
                    Ok(numerator.value(row)? / denominator)
                } else {
                    Ok(*otherwise)
                }
            }
            Self::Median(of) => {
                let mut values =
                    of.iter().map(|of| of.value(row)).collect::<Result<Vec<f64>, Opaque>>()?;
                values.sort_by(f64::total_cmp);
                let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
                Ok(f64::midpoint(low, high))
            }
            Self::Program(program) => program.value(row),
            Self::Opaque(opaque) => Err(*opaque),
        }
    }

    /// Its value for each row of some columns.
    ///
    /// # Errors
    ///
    /// [`RankError::NoFormula`] where a part cannot be written down; [`RankError`] for a value that is
    /// infinite, or missing where it must not be.
    pub fn values(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        if let Some(opaque) = self.opaque() {
            return Err(RankError::NoFormula(opaque));
        }
        let n_features = columns.n_features();
        let mut out = vec![0.0; columns.n_rows()];
        columns.by_tile(&mut out, 1, |(): &mut (), _, rows, out| {
            for (place, out) in out.iter_mut().enumerate() {
                let row = &rows[place * n_features..(place + 1) * n_features];
                *out = self.value(row).unwrap_or(f64::NAN);
            }
        })?;
        match out.iter().any(|value| value.is_nan()).then(|| columns.missing_value()).flatten() {
            Some(err) => Err(err),
            None => Ok(out),
        }
    }

    /// The first part that cannot be written down, if there is one.
    #[must_use]
    pub fn opaque(&self) -> Option<Opaque> {
        match self {
            Self::Constant(_) | Self::Steps(_) | Self::Linear(_) => None,
            Self::Tree(tree) => tree.nodes.iter().find_map(|node| match node {
                TreeNode::Branch { condition, .. } => condition.opaque(),
                TreeNode::Leaf { .. } => None,
            }),
            Self::StepsOf { of, .. } | Self::Product { of, .. } => of.opaque(),
            Self::Indicator { condition, .. } => condition.opaque(),
            Self::Sum(of) | Self::Median(of) => of.iter().find_map(Self::opaque),
            Self::Quotient { numerator, denominator, .. } => {
                numerator.opaque().or_else(|| denominator.opaque())
            }
            Self::Program(program) => program.layers.iter().flatten().find_map(|node| match node {
                ProgramNode::Split(share) => share.opaque(),
                ProgramNode::End(_) => None,
            }),
            Self::Opaque(opaque) => Some(*opaque),
        }
    }
}

impl Linear {
    fn value(&self, row: &[f64]) -> f64 {
        let sum = self.terms.iter().fold(0.0, |sum, term| sum + term.value(row));
        sum + self.intercept
    }
}

impl LinearTerm {
    pub(super) fn value(&self, row: &[f64]) -> f64 {
        let number = row[self.feature];
        self.weight * self.scale.map_or(number, |scale| scale.of(number))
    }
}

impl Scale {
    fn of(self, number: f64) -> f64 {
        let deviations = (number - self.mean) / self.deviation;
        if deviations.is_nan() {
            return 0.0;
        }
        let clipped = deviations.clamp(-self.limit, self.limit);
        self.unit.map_or(clipped, |unit| (clipped / unit).round() * unit)
    }
}
