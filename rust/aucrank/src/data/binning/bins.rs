//! Bins of one feature, and the choice of the cuts of a numeric one.

use serde::{Deserialize, Serialize};

use crate::data::input::columns::{Numbers, Value};
use crate::data::input::labels::Labels;

/// Bins of the values of a feature, numbered from 0; bin [`Bins::n_bins`] is that of missing
/// values.
///
/// # Examples
///
/// ```
/// use aucrank::data::Bins;
///
/// let bins = Bins::Numeric { cuts: vec![10.0], special: vec![-1.0] };
/// assert_eq!(bins.n_bins(), 3);
/// assert_eq!([3.0, 10.0, -1.0, f64::NAN].map(|raw| bins.bin(raw)), [0, 1, 2, 3]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bins {
    /// Of a number: intervals in ascending order, then one bin for each special value.
    Numeric {
        /// Ascending; a number equal to a cut lies above it (DECISIONS R4).
        cuts: Vec<f64>,
        /// Values that have a bin of their own.
        special: Vec<f64>,
    },
    /// Of a category.
    Categorical {
        /// The bin of each category, by code. A category without training rows counts as missing
        /// (DECISIONS R5), as do codes beyond the last.
        bin_of_level: Vec<usize>,
        /// Number of bins.
        n_bins: usize,
    },
}

impl Bins {
    /// Number of bins without that of missing values, which is also the index of the latter.
    #[must_use]
    pub fn n_bins(&self) -> usize {
        match self {
            Self::Numeric { cuts, special } => cuts.len() + 1 + special.len(),
            Self::Categorical { n_bins, .. } => *n_bins,
        }
    }

    /// The bin of a raw value: a number, or the code of a category; NaN is missing.
    #[inline]
    #[must_use]
    pub fn bin(&self, raw: f64) -> usize {
        if raw.is_nan() {
            return self.n_bins();
        }
        match self {
            Self::Numeric { cuts, special } => {
                if let Some(place) = place_among(special, raw) {
                    return cuts.len() + 1 + place;
                }
                cuts.partition_point(|&cut| cut <= raw)
            }
            Self::Categorical { bin_of_level, n_bins } => {
                bin_of_level.get(raw as usize).copied().unwrap_or(*n_bins)
            }
        }
    }

    /// Checks bins read from a file against the kind of their feature: its number of categories, or
    /// `None` for a number.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub(crate) fn check(&self, n_levels: Option<u32>) -> Result<(), String> {
        match (self, n_levels) {
            (Self::Numeric { cuts, special }, None) => {
                if !cuts.iter().chain(special).all(|number| number.is_finite()) {
                    return Err("a cut or a special value is not a finite number".to_owned());
                }
                if !cuts.is_sorted_by(|low, high| low < high) {
                    return Err("cuts are not in strictly ascending order".to_owned());
                }
                if !are_distinct(special) {
                    return Err("a special value occurs twice".to_owned());
                }
                Ok(())
            }
            (Self::Categorical { bin_of_level, n_bins }, Some(n_levels)) => {
                if bin_of_level.len() != n_levels as usize {
                    let found = bin_of_level.len();
                    return Err(format!("bins of {found} categories, expected {n_levels}"));
                }
                // Compared before anything of that size is allocated.
                if *n_bins > bin_of_level.len() {
                    return Err(format!("{n_bins} bins of {n_levels} categories"));
                }
                let mut is_used = vec![false; n_bins + 1];
                for &bin in bin_of_level {
                    match is_used.get_mut(bin) {
                        Some(is_used) => *is_used = true,
                        None => return Err(format!("a category is in bin {bin} of {n_bins}")),
                    }
                }
                match is_used[..*n_bins].iter().position(|&is_used| !is_used) {
                    Some(bin) => Err(format!("no category is in bin {bin}")),
                    None => Ok(()),
                }
            }
            (Self::Numeric { .. }, Some(_)) => {
                Err("bins of a number for a categorical feature".to_owned())
            }
            (Self::Categorical { .. }, None) => {
                Err("bins of categories for a numeric feature".to_owned())
            }
        }
    }
}

/// Whether no two of these numbers are equal, 0 and -0 counting as equal; none is NaN.
pub(crate) fn are_distinct(numbers: &[f64]) -> bool {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.is_sorted_by(|low, high| low < high)
}

/// Index of a number in a short list.
#[expect(clippy::float_cmp, reason = "a special value is one exactly")]
pub(crate) fn place_among(special: &[f64], raw: f64) -> Option<usize> {
    special.iter().position(|&value| value == raw)
}

/// Midpoint of `low < high`, clamped so that `low < midpoint <= high` (DECISIONS G8): `low` is
/// below the cut and `high` is not, even if they are adjacent floats.
///
/// Between decimals such as 784.1 and 784.2 it is the decimal 784.15, not the sum of their halves,
/// which rounding makes 784.1500000000001: a card prints all digits of its cuts.
pub(crate) fn midpoint(low: f64, high: f64) -> f64 {
    let between = |cut: f64| low < cut && cut <= high;
    let middle = low / 2.0 + high / 2.0;
    match short_decimal(middle) {
        Some(decimal) if between(decimal) => decimal,
        _ if between(middle) => middle,
        _ => high,
    }
}

/// The decimal of at most 12 digits that equals a number up to rounding.
fn short_decimal(number: f64) -> Option<f64> {
    let n_decimals = 11_i32.saturating_sub(number.abs().log10().floor() as i32);
    // Powers of ten up to this one are exact, so that the quotient is the decimal itself.
    if !(0..=22).contains(&n_decimals) {
        return None;
    }
    let power = 10_f64.powi(n_decimals);
    let decimal = (number * power).round() / power;
    ((decimal - number).abs() <= 2.0 * f64::EPSILON * number.abs()).then_some(decimal)
}

/// The bits of a number as an integer in the same order as [`f64::total_cmp`], and back.
fn order_of_bits(bits: i64) -> i64 {
    bits ^ i64::MAX & (bits >> 63)
}

/// One bin for each of some values in ascending order.
fn exact_cuts(values: &[f64]) -> Vec<f64> {
    values.windows(2).map(|pair| midpoint(pair[0], pair[1])).collect()
}

/// Distinct values in ascending order, each with the weight of its rows.
struct Distinct {
    values: Vec<f64>,
    weights: Vec<u64>,
}

impl Distinct {
    /// Missing and infinite values are left out; infinite ones are reported when the rows are
    /// binned.
    fn of<T: Value>(column: Numbers<'_, T>, labels: &Labels<'_>, rows: &[u32]) -> Self {
        let finite = |&row: &u32| {
            let value = column.get(row as usize);
            // Adding 0.0 turns -0.0 into 0.0, so that equal numbers have equal bits.
            value.is_finite().then_some((value + 0.0, row))
        };
        let Some(weights) = labels.weights() else {
            // Integers in the order of the numbers are sorted in two thirds of the time.
            let key = |(value, _): (f64, u32)| order_of_bits(value.to_bits().cast_signed());
            let mut keys: Vec<i64> = rows.iter().filter_map(finite).map(key).collect();
            keys.sort_unstable();
            let equal = || keys.chunk_by(|a, b| a == b);
            let mut weights = Vec::with_capacity(equal().count());
            weights.extend(equal().map(|equal| equal.len() as u64));
            keys.dedup();
            let value = |key: i64| f64::from_bits(order_of_bits(key).cast_unsigned());
            return Self { values: keys.into_iter().map(value).collect(), weights };
        };
        let mut distinct = Self { values: Vec::new(), weights: Vec::new() };
        let mut values: Vec<(f64, u32)> = rows.iter().filter_map(finite).collect();
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        for (value, row) in values {
            distinct.push(value, weights.units()[row as usize]);
        }
        distinct
    }

    fn push(&mut self, value: f64, weight: u64) {
        if self.values.last() == Some(&value) {
            *self.weights.last_mut().expect("as long as the values") += weight;
        } else {
            self.values.push(value);
            self.weights.push(weight);
        }
    }

    /// One bin per distinct value.
    fn exact_cuts(&self) -> Vec<f64> {
        exact_cuts(&self.values)
    }

    /// At most `max_bins` bins of nearly equal weight. A value heavier than its share gets a bin of
    /// its own, and the shares of the others are recomputed.
    fn quantile_cuts(&self, max_bins: usize) -> Vec<f64> {
        let mut rest: u128 = self.weights.iter().map(|&w| u128::from(w)).sum();
        let mut cuts = Vec::with_capacity(max_bins - 1);
        let mut in_bin = 0_u128;
        for (i, pair) in self.values.windows(2).enumerate() {
            let bins_left = (max_bins - cuts.len()) as u128;
            if bins_left == 1 {
                break;
            }
            in_bin += u128::from(self.weights[i]);
            let next = u128::from(self.weights[i + 1]);
            // Products, since a share that is a fraction would round. The second condition closes a
            // bin before a value that fills one by itself.
            if in_bin * bins_left >= rest || next * bins_left >= rest {
                cuts.push(midpoint(pair[0], pair[1]));
                rest -= in_bin;
                in_bin = 0;
            }
        }
        cuts
    }
}

/// Cuts between all of some weighted numbers if at most `max_bins` of them are distinct, else at
/// their weighted quantiles. Missing and infinite values are left out.
pub(crate) fn quantile_cuts(values: Vec<(f64, u64)>, max_bins: usize) -> Vec<f64> {
    cuts_of_sample(values, None, Some(max_bins))
}

/// Cuts of a feature, given the weighted values of a sample and all its distinct values if they are
/// few. Missing and infinite values are left out.
pub(crate) fn cuts_of_sample(
    mut sample: Vec<(f64, u64)>,
    few: Option<&[f64]>,
    max_bins: Option<usize>,
) -> Vec<f64> {
    sample.retain(|(value, _)| value.is_finite());
    // Adding 0.0 turns -0.0 into 0.0, so that equal numbers have equal bits.
    for (value, _) in &mut sample {
        *value += 0.0;
    }
    sample.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut distinct = Distinct { values: Vec::new(), weights: Vec::new() };
    for (value, weight) in sample {
        distinct.push(value, weight);
    }
    match max_bins {
        Some(max_bins) if distinct.values.len() > max_bins => distinct.quantile_cuts(max_bins),
        _ => few.map_or_else(|| distinct.exact_cuts(), exact_cuts),
    }
}

/// Cuts of one feature: between all distinct values if there are at most `max_bins` of them (or no
/// bound), else at weighted quantiles of the rows in `sample`.
pub(in crate::data) fn choose_cuts<T: Value>(
    column: Numbers<'_, T>,
    labels: &Labels<'_>,
    rows: &[u32],
    sample: &[u32],
    max_bins: Option<usize>,
) -> Vec<f64> {
    let Some(max_bins) = max_bins else {
        return Distinct::of(column, labels, rows).exact_cuts();
    };
    let mut distinct = Distinct::of(column, labels, sample);
    if distinct.values.len() > max_bins {
        return distinct.quantile_cuts(max_bins);
    }
    if sample.len() < rows.len() {
        add_values_beyond_the_sample(&mut distinct.values, column, rows, max_bins);
    }
    distinct.exact_cuts()
}

/// Adds distinct values that the sample missed, so that a feature of few values stays exact. If the
/// rows turn out to hold more than `max_bins` values, those of the sample are kept.
fn add_values_beyond_the_sample<T: Value>(
    values: &mut Vec<f64>,
    column: Numbers<'_, T>,
    rows: &[u32],
    max_bins: usize,
) {
    let mut all = values.clone();
    if add_distinct(&mut all, column, rows, max_bins) {
        *values = all;
    }
}

/// Distinct values up to which a new one is inserted; more are sorted together.
const FEW_VALUES: usize = 1 << 12;

/// Adds the finite values of some rows to the distinct ones found so far, which ascend. Returns
/// whether there are no more than `most`; if not, some are left out.
pub(crate) fn add_distinct<T: Value>(
    found: &mut Vec<f64>,
    column: Numbers<'_, T>,
    rows: &[u32],
    most: usize,
) -> bool {
    let values = rows.iter().map(|&row| column.get(row as usize) + 0.0);
    let values = values.filter(|value| value.is_finite());
    if most > FEW_VALUES {
        found.extend(values);
        found.sort_unstable_by(f64::total_cmp);
        found.dedup();
        return found.len() <= most;
    }
    for value in values {
        let place = found.partition_point(|&known| known < value);
        if found.get(place) != Some(&value) {
            if found.len() == most {
                return false;
            }
            found.insert(place, value);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, Columns};

    fn cuts(values: &[f64], weights: Option<&[f64]>, max_bins: Option<usize>) -> Vec<f64> {
        let mut positive = vec![false; values.len()];
        positive[0] = true;
        let labels = Labels::new(&positive, weights).unwrap();
        let columns = Columns::from_row_major(values, 1).unwrap();
        let Column::F64(column) = columns[0] else { panic!("numeric") };
        let rows = labels.rows();
        choose_cuts(column, &labels, &rows, &rows, max_bins)
    }

    #[test]
    fn midpoints_separate_neighbouring_numbers() {
        for (low, high) in [
            (1.0, 1.0_f64.next_up()),
            (0.0, f64::from_bits(1)),
            (-f64::MAX, f64::MAX),
            (f64::MAX.next_down(), f64::MAX),
            (-f64::from_bits(1), 0.0),
        ] {
            let cut = midpoint(low, high);
            assert!(low < cut && cut <= high, "{low:e} {cut:e} {high:e}");
        }
        assert_eq!(midpoint(1.0, 2.0).to_bits(), 1.5_f64.to_bits());
        for (low, high, decimal) in [
            (784.1, 784.2, 784.15),
            (0.03916, 0.0593, 0.04923),
            (-0.3, 0.1, -0.1),
            (20_240_614.0, 20_240_615.0, 20_240_614.5),
            (1e-9, 3e-9, 2e-9),
            (0.1, 0.1_f64.next_up(), 0.1_f64.next_up()),
        ] {
            assert_eq!(midpoint(low, high).to_bits(), f64::to_bits(decimal), "{low} {high}");
            assert_eq!(
                midpoint(-high, -low).to_bits(),
                if decimal > low && decimal < high {
                    f64::to_bits(-decimal)
                } else {
                    f64::to_bits(-low)
                }
            );
        }
        // No decimal of a few digits lies there.
        let (low, high) = (0.123_456_789_012_345_6, 0.223_456_789_012_345_6);
        assert_eq!(midpoint(low, high).to_bits(), (low / 2.0 + high / 2.0).to_bits());
    }

    #[test]
    fn few_values_are_cut_between_all_of_them() {
        let values = [3.0, -0.0, f64::NAN, 1.0, 0.0, 3.0];
        assert_eq!(cuts(&values, None, Some(255)), [0.5, 2.0]);
        assert_eq!(cuts(&values, None, None), [0.5, 2.0]);
    }

    #[test]
    fn many_values_are_cut_into_bins_of_equal_weight() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let cuts = cuts(&values, None, Some(10));
        let expected: Vec<f64> = (1..10).map(|k| f64::from(100 * k) - 0.5).collect();
        assert_eq!(cuts, expected);
    }

    #[test]
    fn a_heavy_value_gets_a_bin_of_its_own() {
        let mut values = vec![50.0; 900];
        values.extend((0..100).map(f64::from));
        let cuts = cuts(&values, None, Some(5));
        assert!(cuts.contains(&49.5) && cuts.contains(&50.5), "{cuts:?}");
        assert!(cuts.len() <= 4);
    }

    #[test]
    fn weight_k_cuts_like_k_copies() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(i * i % 397)).collect();
        let weights: Vec<f64> = (0..400).map(|i| f64::from(i % 4)).collect();
        let copies: Vec<f64> = values
            .iter()
            .zip(&weights)
            .flat_map(|(&v, &w)| std::iter::repeat_n(v, w as usize))
            .collect();
        // Row 0 is the only positive row in this test, so it needs weight.
        let weights: Vec<f64> =
            weights.iter().enumerate().map(|(i, &w)| if i == 0 { 1.0 } else { w }).collect();
        let copies = [&[values[0]][..], &copies].concat();
        assert_eq!(cuts(&values, Some(&weights), Some(16)), cuts(&copies, None, Some(16)));
    }

    #[test]
    fn weighted_numbers_are_cut_as_those_of_a_column() {
        let values: Vec<f64> = (0..500).map(|i| f64::from(i * i % 97) / 8.0).collect();
        for max_bins in [2, 10, 200] {
            let pairs = values.iter().rev().map(|&value| (value, 1)).collect();
            let missing = vec![(f64::NAN, 3), (f64::INFINITY, 2)];
            let found = quantile_cuts([pairs, missing].concat(), max_bins);
            assert_eq!(found, cuts(&values, None, Some(max_bins)));
        }
    }

    #[test]
    fn values_that_the_sample_missed_are_found() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i % 7)).collect();
        let columns = Columns::from_row_major(&values, 1).unwrap();
        let Column::F64(column) = columns[0] else { panic!("numeric") };
        let positive: Vec<bool> = (0..100).map(|i| i == 0).collect();
        let labels = Labels::new(&positive, None).unwrap();
        let rows = labels.rows();
        let cuts = choose_cuts(column, &labels, &rows, &rows[..3], Some(7));
        assert_eq!(cuts, [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
    }
}
