//! A feature in bins, with the training rows in each.

use serde::{Deserialize, Serialize};

use crate::RankError;
use crate::data::{
    Bins, ClassMasses, ClassSums, Columns, Lookups, are_distinct, check_weight, sum_checked,
};
use crate::formula::{Formula, Steps};

/// Direction in which a number ranks.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{Direction, Mad2cParams, fit_mad2c};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let fit = |directions| {
///     let params = Mad2cParams { directions, ..Mad2cParams::default() };
///     fit_mad2c((&columns, &labels), &params, &Interrupt::default())
/// };
/// let free = fit(Vec::new())?.features()[0].clone();
/// assert_eq!((free.direction, free.bins.n_bins()), (Some(Direction::Increasing), 2));
/// // Low values rank low, so a bin more would not help.
/// let bound = fit(vec![Some(Direction::Decreasing)])?.features()[0].clone();
/// assert_eq!((bound.direction, bound.bins.n_bins()), (Some(Direction::Decreasing), 1));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Higher values are more positive.
    Increasing,
    /// Lower values are more positive.
    Decreasing,
}

/// Checks the special values of the features: empty, or for each feature distinct finite numbers,
/// none for a category.
///
/// # Errors
///
/// [`RankError::BadParameter`].
pub(super) fn check_special(
    special: &[Vec<f64>],
    n_levels: &[Option<u32>],
) -> Result<(), RankError> {
    let refuse = |value, rule| Err(RankError::BadParameter { name: "special", value, rule });
    if ![0, n_levels.len()].contains(&special.len()) {
        let value = format!("a list of length {}", special.len());
        return refuse(value, "empty, or one list for each feature");
    }
    for (numbers, n_levels) in special.iter().zip(n_levels) {
        if !(numbers.iter().all(|number| number.is_finite()) && are_distinct(numbers)) {
            return refuse(format!("{numbers:?}"), "finite, and no two equal");
        }
        if n_levels.is_some() && !numbers.is_empty() {
            return refuse(format!("{numbers:?}"), "empty for a category");
        }
    }
    Ok(())
}

/// A feature in bins.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{Mad2cParams, fit_mad2c};
/// use aucrank::data::{ClassSums, Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0, f64::NAN], 1)?;
/// let labels = Labels::new(&[false, true, false, true, true], None)?;
/// let model = fit_mad2c((&columns, &labels), &Mad2cParams::default(), &Interrupt::default())?;
/// let feature = &model.features()[0];
/// // Bins of the values 1, of 2 and 3, and of 4: of four pairs three are won and one is tied.
/// assert_eq!(feature.known(), ClassSums { pos: 2, neg: 2, rows: 4 });
/// assert_eq!(feature.gini(), 2.0 * (3.5 / 4.0 - 0.5));
/// assert_eq!(feature.sums[3], ClassSums { pos: 1, neg: 0, rows: 1 });
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BinnedFeature {
    /// Its bins.
    pub bins: Bins,
    /// The training rows in each bin, those with a missing value last.
    pub sums: Vec<ClassSums>,
    /// The direction of a number; `None` for a category.
    pub direction: Option<Direction>,
}

impl BinnedFeature {
    /// The rows whose value is known.
    #[must_use]
    pub fn known(&self) -> ClassSums {
        self.sums[..self.bins.n_bins()].iter().copied().sum()
    }

    /// Checks the consistency of the bins with the training rows in `total`.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub(super) fn check(&self, n_levels: Option<u32>, total: ClassSums) -> Result<(), String> {
        self.bins.check(n_levels)?;
        if self.direction.is_some() == n_levels.is_some() {
            return Err("a number has a direction, and a category has none".to_owned());
        }
        let (found, expected) = (self.sums.len(), self.bins.n_bins() + 1);
        if found != expected {
            return Err(format!("rows of {found} bins, expected {expected}"));
        }
        if sum_checked(&self.sums) != Some(total) {
            return Err("the rows of the bins do not add up to the training rows".to_owned());
        }
        Ok(())
    }

    /// `2(AUC - 1/2)` of the known rows, ranked by the share of positives of their bins: from 0 to
    /// 1, and 0 if a class is absent (DECISIONS R7).
    #[must_use]
    pub fn gini(&self) -> f64 {
        let mut known: Vec<ClassSums> = self.sums[..self.bins.n_bins()]
            .iter()
            .copied()
            .filter(|sums| sums.pos + sums.neg > 0)
            .collect();
        known.sort_by(|&a, &b| a.cmp_eta(b));
        gini(known)
    }
}

/// Checks class sums of training rows read from a file: both classes, weights that add up to no
/// more than fixed point allows, and a unit that a weight can have.
///
/// # Errors
///
/// A description of the fault.
pub(super) fn check_total(total: ClassSums, exponent: i32) -> Result<(), String> {
    if !total.is_mixed() {
        return Err("the training rows lack a class".to_owned());
    }
    check_weight(total, exponent)
}

/// `2(AUC - 1/2)` of groups of rows in ascending order of their score, 0 if a class is absent.
pub(super) fn gini(groups: Vec<ClassSums>) -> f64 {
    let total: ClassSums = groups.iter().copied().sum();
    if !total.is_mixed() {
        return 0.0;
    }
    let masses = groups.into_iter().map(|sums| ClassMasses { pos: sums.pos, neg: sums.neg });
    let area = ClassMasses::area(masses);
    area as f64 / (u128::from(total.pos) * u128::from(total.neg)) as f64
}

/// A feature in bins, and the contribution of each to a sum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ValuedBins {
    pub(super) feature: usize,
    pub(super) bins: Bins,
    /// Value of each bin, that of missing values last.
    pub(super) values: Vec<f64>,
}

/// A sum of values of bins, which a holder of rows computes.
///
/// # Examples
///
/// It is sent as JSON text:
///
/// ```
/// use aucrank::RankError;
/// use aucrank::additive::BinSum;
/// use aucrank::data::Columns;
///
/// let text = r#"{
///     "n_levels": [null],
///     "initial": 100.0,
///     "features": [{
///         "feature": 0,
///         "bins": {"numeric": {"cuts": [2.5], "special": []}},
///         "values": [0.0, 10.0, 5.0]
///     }]
/// }"#;
/// let sum: BinSum = serde_json::from_str(text).unwrap();
/// sum.check().unwrap();
/// let columns = Columns::from_row_major(&[1.0, 4.0, f64::NAN], 1)?;
/// assert_eq!(sum.values(&columns)?, [100.0, 110.0, 105.0]);
/// # Ok::<(), RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BinSum {
    /// Number of categories of each feature of the rows, or `None` for a number.
    pub(super) n_levels: Vec<Option<u32>>,
    /// Initial value of every row.
    pub(super) initial: f64,
    pub(super) features: Vec<ValuedBins>,
}

impl BinSum {
    /// Checks a received sum.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        for ValuedBins { feature, bins, values } in &self.features {
            let Some(&n_levels) = self.n_levels.get(*feature) else {
                return Err(format!("there is no feature {feature}"));
            };
            bins.check(n_levels)?;
            if values.len() != bins.n_bins() + 1 {
                return Err(format!("feature {feature} has not one value for each bin"));
            }
        }
        let mut numbers = self.features.iter().flat_map(|of| &of.values).chain([&self.initial]);
        if !numbers.all(|value| value.is_finite()) {
            return Err("a value is not finite".to_owned());
        }
        Ok(())
    }

    /// Number of categories of each feature, or `None` for a number.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.n_levels
    }

    /// The sum of each row.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are of other kinds, or hold infinity.
    pub fn values(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.n_levels)?;
        let lookups = Lookups::new(self.features.iter().map(|of| (of.feature, &of.bins)));
        let mut sums = vec![0.0; columns.n_rows()];
        lookups.by_tile(columns, &mut sums, 1, |(): &mut (), of_feature, sums| {
            sums.fill(self.initial);
            for (of, bins) in self.features.iter().zip(of_feature) {
                sums.iter_mut().zip(bins).for_each(|(sum, &bin)| *sum += of.values[bin as usize]);
            }
        })?;
        Ok(sums)
    }

    /// The sum as a formula.
    #[must_use]
    pub fn formula(&self) -> Formula {
        Formula::Sum(self.parts().collect())
    }

    /// The terms of the sum: the initial value of every row, and the steps of each feature.
    pub(super) fn parts(&self) -> impl Iterator<Item = Formula> {
        let steps =
            |of: &ValuedBins| Formula::Steps(Steps::of_bins(of.feature, &of.bins, &of.values));
        std::iter::once(Formula::Constant(self.initial)).chain(self.features.iter().map(steps))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn sum() -> Value {
        json!({
            "n_levels": [null, 2],
            "initial": 1.0,
            "features": [
                {
                    "feature": 0,
                    "bins": {"numeric": {"cuts": [0.5], "special": [-1.0]}},
                    "values": [0.0, 2.0, 4.0, 8.0],
                },
                {
                    "feature": 1,
                    "bins": {"categorical": {"bin_of_level": [1, 0], "n_bins": 2}},
                    "values": [16.0, 32.0, 64.0],
                },
            ],
        })
    }

    #[test]
    fn a_row_has_one_value_of_each_feature() {
        let sum: BinSum = serde_json::from_value(sum()).unwrap();
        sum.check().unwrap();
        let numbers = [0.4, 0.5, -1.0, f64::NAN];
        let codes = [0, 1, u32::MAX, 0];
        let columns =
            vec![numbers[..].into(), crate::data::Column::Codes { codes: &codes, n_levels: 2 }];
        let columns = Columns::new(columns, 4).unwrap();
        let expected = [1.0 + 32.0, 1.0 + 2.0 + 16.0, 1.0 + 4.0 + 64.0, 1.0 + 8.0 + 32.0];
        assert_eq!(sum.values(&columns).unwrap(), expected);
    }

    #[test]
    fn a_forged_sum_is_refused_with_a_message() {
        for (place, forged, message) in [
            ("/features/0/feature", json!(2), "no feature 2"),
            ("/features/0/feature", json!(1), "for a categorical feature"),
            ("/features/0/values", json!([1.0]), "one value for each bin"),
            ("/features/0/bins/numeric/special", json!([]), "one value for each bin"),
            ("/features/1/bins/categorical/n_bins", json!(3), "3 bins of 2 categories"),
        ] {
            let mut document = sum();
            *document.pointer_mut(place).unwrap() = forged;
            let read: BinSum = serde_json::from_value(document).unwrap();
            let err = read.check().expect_err(place);
            assert!(err.contains(message), "{place}: {err}");
        }
        let mut infinite: BinSum = serde_json::from_value(sum()).unwrap();
        infinite.initial = f64::INFINITY;
        assert!(infinite.check().unwrap_err().contains("not finite"));
    }
}
