//! Choice of the binary terms of raw features.

use std::ops::Range;

use crate::parallel::prelude::*;
use serde::{Deserialize, Serialize};

use super::binary_feature::{BinaryFeature, BinaryRule};
use super::known_values::{Known, between};
use crate::RankError;
use crate::data::{Column, Columns, Labels};

/// Columns that are copied together if they are not contiguous: they share cache lines.
const BLOCK: usize = 8;

/// How the terms of a feature are chosen.
///
/// # Examples
///
/// ```
/// use aucrank::aurora::{Binarizer, BinarizerParams, FeatureType};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let n_terms = |feature_type| {
///     let (percentiles, feature_types) = (vec![50.0], vec![Some(feature_type)]);
///     let params = BinarizerParams { percentiles, feature_types, ..BinarizerParams::default() };
///     Binarizer::new(&columns, &labels, &labels.rows(), &params).map(|found| found.n_terms())
/// };
/// // Between all of four values, and at their median.
/// assert_eq!(n_terms(FeatureType::Discrete)?, 3);
/// assert_eq!(n_terms(FeatureType::Continuous)?, 1);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureType {
    /// Thresholds between all adjacent values, however many there are.
    Discrete,
    /// Thresholds at percentiles, however few values there are.
    Continuous,
}

/// Parameters of the conversion of raw features to binary terms.
///
/// # Examples
///
/// ```
/// use aucrank::aurora::{Binarizer, BinarizerParams};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 4.0, f64::NAN], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let n_terms = |missing_indicator| {
///     let params = BinarizerParams { missing_indicator, ..BinarizerParams::default() };
///     Binarizer::new(&columns, &labels, &labels.rows(), &params).map(|found| found.n_terms())
/// };
/// assert_eq!((n_terms(true)?, n_terms(false)?), (3, 2));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BinarizerParams {
    /// A number with at most this many distinct values is cut between all of them. At least 1.
    pub max_levels: usize,
    /// Runs of adjacent values that each have a smaller share of the rows are merged.
    pub min_level_share: f64,
    /// Percentiles at which other numbers are cut, ascending.
    pub percentiles: Vec<f64>,
    /// Maximum share of the rows with which a single value counts in percentiles.
    pub max_spike_share: f64,
    /// For each feature its type, `None` to decide by the number of its values; or empty for none
    /// at all.
    pub feature_types: Vec<Option<FeatureType>>,
    /// Whether there is a term for missing values, if the rows had some.
    pub missing_indicator: bool,
}

impl Default for BinarizerParams {
    fn default() -> Self {
        Self {
            max_levels: 22,
            min_level_share: 0.001,
            percentiles: (1..20).map(|k| f64::from(5 * k)).collect(),
            max_spike_share: 0.01,
            feature_types: Vec::new(),
            missing_indicator: true,
        }
    }
}

impl BinarizerParams {
    /// Checks the parameters for features with these numbers of categories.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`].
    pub fn validate(&self, n_levels: &[Option<u32>]) -> Result<(), RankError> {
        let refuse = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        if self.max_levels == 0 {
            return refuse("max_levels", "0".to_owned(), "at least 1");
        }
        for (name, share) in
            [("min_level_share", self.min_level_share), ("max_spike_share", self.max_spike_share)]
        {
            if !(0.0..=1.0).contains(&share) {
                return refuse(name, share.to_string(), "in [0, 1]");
            }
        }
        let percentiles = &self.percentiles;
        if percentiles.is_empty()
            || !percentiles.iter().all(|percentile| (0.0..=100.0).contains(percentile))
            || !percentiles.is_sorted_by(|low, high| low < high)
        {
            let rule = "one number or more in [0, 100], in strictly ascending order";
            return refuse("percentiles", format!("{percentiles:?}"), rule);
        }
        let types = &self.feature_types;
        if !types.is_empty() && types.len() != n_levels.len() {
            let found = format!("a list of length {}", types.len());
            return refuse("feature_types", found, "empty, or have an entry for each feature");
        }
        if types.iter().zip(n_levels).any(|(of, n_levels)| of.is_some() && n_levels.is_some()) {
            let found = "the type of a number".to_owned();
            return refuse("feature_types", found, "absent for a category");
        }
        Ok(())
    }
}

/// The binary terms of all features.
///
/// # Examples
///
/// ```
/// use aucrank::aurora::{Binarizer, BinarizerParams, TermTest};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 7.0, 2.0, 7.0, 4.0, 7.0], 2)?;
/// let labels = Labels::new(&[false, true, true], None)?;
/// let params = BinarizerParams::default();
/// let binarizer = Binarizer::new(&columns, &labels, &labels.rows(), &params)?;
/// // Midpoints of the values of the first feature; the second is constant.
/// let tests = binarizer.features[0].tests();
/// assert_eq!(tests, [TermTest::AtLeast(1.5), TermTest::AtLeast(3.0)]);
/// assert_eq!(binarizer.n_terms(), 2);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Binarizer {
    /// By feature.
    pub features: Vec<BinaryFeature>,
}

impl Binarizer {
    /// Chooses the terms from some rows. Rows count as in [`Labels::sums`]; their classes do not
    /// matter. Values must be finite or missing, and a category beyond the last counts as missing.
    ///
    /// # Errors
    ///
    /// [`RankError::Interrupted`].
    pub fn new(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        rows: &[u32],
        params: &BinarizerParams,
    ) -> Result<Self, RankError> {
        let copies = |row: usize| labels.sums(row).rows;
        let copies: Option<&(dyn Fn(usize) -> u64 + Sync)> =
            if labels.weights().is_some() { Some(&copies) } else { None };
        Self::choose(columns, copies, rows, params)
    }

    /// As [`Binarizer::new`], with rows that count `copies` times, or once each.
    pub(super) fn choose(
        columns: &Columns<'_>,
        copies: Option<&(dyn Fn(usize) -> u64 + Sync)>,
        rows: &[u32],
        params: &BinarizerParams,
    ) -> Result<Self, RankError> {
        let of_block = |block: Range<usize>| {
            columns.check_interrupt()?;
            if let Column::Codes { codes, n_levels } = columns[block.start] {
                return Ok(vec![categorical(codes, n_levels, rows, params)]);
            }
            let known = Known::read(columns, block.clone(), copies, rows);
            let features = block.zip(known).map(|(feature, known)| {
                columns.check_interrupt()?;
                let of_type = params.feature_types.get(feature).copied().flatten();
                Ok(numeric(&known, of_type, params))
            });
            features.collect()
        };
        let features: Result<Vec<Vec<BinaryFeature>>, RankError> =
            blocks(columns).into_par_iter().map(of_block).collect();
        Ok(Self { features: features?.into_iter().flatten().collect() })
    }

    /// Checks that the codes of every feature fit in the 16 bits of [`BinaryFeature::codes`].
    ///
    /// # Errors
    ///
    /// [`RankError::TooManyCodes`] for the first feature that has too many.
    pub fn check_codes(&self) -> Result<(), RankError> {
        let most = usize::from(u16::MAX) + 1;
        match self.features.iter().position(|feature| feature.n_codes() > most) {
            None => Ok(()),
            Some(column) => {
                let n_codes = self.features[column].n_codes();
                Err(RankError::TooManyCodes { column, n_codes, most })
            }
        }
    }

    /// Number of terms.
    #[must_use]
    pub fn n_terms(&self) -> usize {
        self.features.iter().map(BinaryFeature::n_terms).sum()
    }
}

/// Features that are read in sequence: several columns of a row-major matrix, or one.
fn blocks(columns: &Columns<'_>) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    // Enough blocks for every thread.
    let most = BLOCK.min(columns.n_features().div_ceil(crate::parallel::current_num_threads()));
    for (feature, column) in columns.iter().enumerate() {
        match blocks.last_mut() {
            Some(block)
                if block.len() < most
                    && column.is_strided()
                    && columns[block.start].is_strided() =>
            {
                block.end = feature + 1;
            }
            _ => blocks.push(feature..feature + 1),
        }
    }
    blocks
}

fn categorical(
    codes: &[u32],
    n_levels: u32,
    rows: &[u32],
    params: &BinarizerParams,
) -> BinaryFeature {
    let mut is_known = vec![false; n_levels as usize];
    let mut any_missing = false;
    for &row in rows {
        match is_known.get_mut(codes[row as usize] as usize) {
            Some(is_known) => *is_known = true,
            None => any_missing = true,
        }
    }
    let mut levels: Vec<u32> = (0..n_levels).filter(|&level| is_known[level as usize]).collect();
    let missing = any_missing && !levels.is_empty() && params.missing_indicator;
    let parts = levels.len() + usize::from(any_missing);
    // A part with all rows is not a term, and one of two complementary terms suffices (DECISIONS
    // A6, A27).
    if parts == 1 || parts == 2 && (missing || !any_missing) {
        levels.pop();
    }
    BinaryFeature { rule: BinaryRule::Equals { levels, n_levels }, missing }
}

fn numeric(known: &Known, of_type: Option<FeatureType>, params: &BinarizerParams) -> BinaryFeature {
    let levels = match of_type {
        Some(FeatureType::Continuous) => None,
        Some(FeatureType::Discrete) => Some(known.all_levels()),
        None => known.few_levels(params.max_levels),
    };
    let thresholds = match levels {
        Some(levels) => between(&levels, params.min_level_share),
        None => known.percentiles(&params.percentiles, params.max_spike_share),
    };
    let missing = known.any_missing && !known.values.is_empty() && params.missing_indicator;
    BinaryFeature { rule: BinaryRule::AtLeast(thresholds), missing }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::aurora::known_values::interpolated;
    use crate::data::MISSING_CODE;

    /// The terms of one column of numbers, given how often each row counts.
    fn feature(values: &[f64], copies: Option<&[u64]>, params: &BinarizerParams) -> BinaryFeature {
        let columns = Columns::from_row_major(values, 1).unwrap();
        let rows: Vec<u32> = (0..values.len() as u32).collect();
        let copies = copies.map(|copies| |row: usize| copies[row]);
        let copies: Option<&(dyn Fn(usize) -> u64 + Sync)> = match &copies {
            None => None,
            Some(copies) => Some(copies),
        };
        let found = Binarizer::choose(&columns, copies, &rows, params).unwrap();
        found.features[0].clone()
    }

    fn thresholds(values: &[f64], params: &BinarizerParams) -> Vec<f64> {
        match feature(values, None, params).rule {
            BinaryRule::AtLeast(thresholds) => thresholds,
            BinaryRule::Equals { .. } => unreachable!(),
        }
    }

    /// Percentiles by their definition: of a sorted copy in which repeated values are capped. Those
    /// that partition the values like the previous one are dropped.
    fn percentiles_by_sorting(values: &[f64], params: &BinarizerParams) -> Vec<f64> {
        let mut sorted: Vec<f64> =
            values.iter().filter(|value| !value.is_nan()).map(|value| value + 0.0).collect();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let cap = ((params.max_spike_share * n as f64).floor() as usize).max(1);
        let mut thinned: Vec<f64> = Vec::new();
        for &value in &sorted {
            if thinned.iter().rev().take(cap).filter(|&&kept| kept == value).count() < cap {
                thinned.push(value);
            }
        }
        let (mut thresholds, mut n_below) = (Vec::new(), 0);
        for percentile in &params.percentiles {
            let Some(last) = thinned.len().checked_sub(1) else { break };
            let place = percentile / 100.0 * last as f64;
            let low = thinned[place.floor() as usize];
            let high = thinned[(place.floor() as usize + 1).min(last)];
            let threshold = interpolated(low, high, place.fract());
            let below = sorted.iter().filter(|&&value| value < threshold).count();
            if below > n_below {
                n_below = below;
                thresholds.push(threshold);
            }
        }
        thresholds
    }

    fn continuous() -> BinarizerParams {
        let feature_types = vec![Some(FeatureType::Continuous)];
        BinarizerParams { feature_types, ..BinarizerParams::default() }
    }

    #[test]
    fn few_values_have_a_threshold_between_all_of_them() {
        let params = BinarizerParams::default();
        assert_eq!(thresholds(&[3.0, -0.0, f64::NAN, 1.0, 0.0, 3.0], &params), [0.5, 2.0]);
        let values: Vec<f64> = (0..22).map(f64::from).collect();
        assert_eq!(thresholds(&values, &params).len(), 21);
        assert!(thresholds(&[2.0, 2.0], &params).is_empty());
        assert!(thresholds(&[f64::NAN, f64::NAN], &params).is_empty());
    }

    #[test]
    fn runs_of_rare_values_are_merged_and_a_single_one_is_kept() {
        // Of 3,000 rows, 2 are less than 0.1% and 3 are not.
        let counts = [1000, 2, 2, 990, 2, 1002, 2];
        let values: Vec<f64> = (0..7)
            .flat_map(|value| std::iter::repeat_n(f64::from(value), counts[value as usize]))
            .collect();
        let params = BinarizerParams::default();
        assert_eq!(values.len(), 3000);
        assert_eq!(thresholds(&values, &params), [0.5, 2.5, 3.5, 4.5, 5.5]);
        let params = BinarizerParams { min_level_share: 2.0 / 3000.0, ..params };
        assert_eq!(thresholds(&values, &params).len(), 6);
    }

    #[test]
    fn a_type_that_is_given_overrides_the_number_of_values() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let feature_types = vec![Some(FeatureType::Discrete)];
        let params = BinarizerParams { feature_types, ..BinarizerParams::default() };
        assert_eq!(thresholds(&values, &params).len(), 99);
        let found = thresholds(&values[..3], &continuous());
        // 0.1 and 1.1 are the first percentiles beyond 0 and 1.
        assert!((found[0] - 0.1).abs() < 1e-12 && (found[1] - 1.1).abs() < 1e-12, "{found:?}");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_spike_does_not_attract_the_percentiles() {
        let mut values: Vec<f64> = (0..1000).map(f64::from).collect();
        values.extend(std::iter::repeat_n(500.5, 9000));
        let params = BinarizerParams { percentiles: vec![50.0], ..BinarizerParams::default() };
        // 100 copies are kept of 9,000: 1,100 values, the middle two of which are 499 and 500.
        assert_eq!(thresholds(&values, &params), percentiles_by_sorting(&values, &params));
        let params = BinarizerParams { percentiles: vec![25.0, 75.0], ..params };
        let found = thresholds(&values, &params);
        assert!(found[0] < 300.0 && found[1] > 700.0, "{found:?}");
        let params = BinarizerParams { max_spike_share: 1.0, ..params };
        assert_eq!(thresholds(&values, &params), [500.5]);
    }

    #[test]
    fn missing_values_have_a_term_if_others_are_known() {
        let params = BinarizerParams::default();
        let gap = f64::NAN;
        let none = BinarizerParams { missing_indicator: false, ..params.clone() };
        for (values, n_terms, n_without) in [
            (vec![1.0, 2.0], 1, 1),
            (vec![1.0, 2.0, gap], 2, 1),
            (vec![1.0, gap], 1, 0),
            (vec![gap, gap], 0, 0),
        ] {
            assert_eq!(feature(&values, None, &params).n_terms(), n_terms);
            assert_eq!(feature(&values, None, &none).n_terms(), n_without);
        }
    }

    #[test]
    fn the_second_of_two_complementary_categories_is_dropped() {
        const GAP: u32 = MISSING_CODE;
        let of = |codes: &[u32], missing_indicator: bool| {
            let params = BinarizerParams { missing_indicator, ..BinarizerParams::default() };
            let columns = vec![Column::Codes { codes, n_levels: 4 }];
            let columns = Columns::new(columns, codes.len()).unwrap();
            let rows: Vec<u32> = (0..codes.len() as u32).collect();
            let found = Binarizer::choose(&columns, None, &rows, &params).unwrap();
            let BinaryFeature { rule: BinaryRule::Equals { levels, .. }, missing } =
                &found.features[0]
            else {
                unreachable!()
            };
            (levels.clone(), *missing)
        };
        for indicator in [true, false] {
            assert_eq!(of(&[3, 0, 2], indicator), (vec![0, 2, 3], false));
            assert_eq!(of(&[3, 1, 3], indicator), (vec![1], false));
            assert_eq!(of(&[2, 2], indicator), (vec![], false));
            assert_eq!(of(&[GAP, GAP], indicator), (vec![], false));
            assert_eq!(of(&[3, 1, GAP], indicator), (vec![1, 3], indicator));
        }
        assert_eq!(of(&[2, GAP], true), (vec![], true));
        assert_eq!(of(&[2, GAP], false), (vec![2], false));
    }

    #[test]
    fn an_error_for_codes_that_do_not_fit_names_their_column() {
        let equals = |n_levels| BinaryFeature {
            rule: BinaryRule::Equals { levels: vec![0], n_levels },
            missing: false,
        };
        let binarizer = Binarizer { features: vec![equals(3), equals(65_535)] };
        assert_eq!(binarizer.check_codes(), Ok(()));
        let binarizer = Binarizer { features: vec![equals(3), equals(65_536)] };
        let found = binarizer.check_codes().unwrap_err();
        assert_eq!(found.column(), Some(1));
        assert!(found.to_string().starts_with("column 1 needs 65537 codes"), "{found}");
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let params = BinarizerParams::default;
        let all = [
            ("max_levels is 0", BinarizerParams { max_levels: 0, ..params() }),
            ("min_level_share is NaN", BinarizerParams { min_level_share: f64::NAN, ..params() }),
            ("max_spike_share is 1.5", BinarizerParams { max_spike_share: 1.5, ..params() }),
            ("percentiles is []", BinarizerParams { percentiles: vec![], ..params() }),
            (
                "percentiles is [5.0, 5.0]",
                BinarizerParams { percentiles: vec![5.0; 2], ..params() },
            ),
            ("percentiles is [101.0]", BinarizerParams { percentiles: vec![101.0], ..params() }),
            ("a list of length 1", continuous()),
            (
                "absent for a category",
                BinarizerParams {
                    feature_types: vec![None, Some(FeatureType::Discrete)],
                    ..params()
                },
            ),
        ];
        for (words, params) in all {
            let found = params.validate(&[None, Some(3)]).unwrap_err().to_string();
            assert!(found.contains(words), "{found}");
        }
        assert_eq!(params().validate(&[None, Some(3)]), Ok(()));
    }

    fn any_values() -> impl Strategy<Value = Vec<f64>> {
        let value = prop_oneof![
            4 => (-20..20_i32).prop_map(f64::from),
            4 => -1.0..1.0_f64,
            2 => Just(7.5),
            1 => Just(f64::NAN),
            1 => any::<f64>().prop_filter("finite", |value| value.is_finite()),
        ];
        prop::collection::vec(value, 1..400)
    }

    proptest! {
        #[test]
        fn percentiles_are_those_of_a_sorted_copy(
            values in any_values(),
            share in prop_oneof![Just(0.01), Just(0.0), Just(1.0), 0.0..0.2_f64],
            mut percentiles in prop::collection::vec(0.0..100.0_f64, 1..30),
        ) {
            percentiles.sort_by(f64::total_cmp);
            percentiles.dedup();
            let params = BinarizerParams { max_spike_share: share, percentiles, ..continuous() };
            prop_assert_eq!(
                thresholds(&values, &params),
                percentiles_by_sorting(&values, &params)
            );
        }

        #[test]
        fn a_row_that_counts_k_times_is_k_rows(
            rows in prop::collection::vec((-30..30_i32, 1..4_u64), 1..200),
            is_fine in any::<bool>(),
        ) {
            let scale = if is_fine { 0.1 } else { 3.0 };
            let values: Vec<f64> =
                rows.iter().map(|row| (f64::from(row.0) / scale).round()).collect();
            let copies: Vec<u64> = rows.iter().map(|row| row.1).collect();
            let each = values.iter().zip(&copies);
            let copied: Vec<f64> =
                each.flat_map(|(&value, &n)| std::iter::repeat_n(value, n as usize)).collect();
            for params in [BinarizerParams::default(), continuous()] {
                prop_assert_eq!(
                    feature(&values, Some(&copies), &params),
                    feature(&copied, None, &params)
                );
            }
        }

        #[test]
        fn every_threshold_splits_the_rows_differently(values in any_values()) {
            for params in [BinarizerParams::default(), continuous()] {
                let found = feature(&values, None, &params);
                let BinaryRule::AtLeast(thresholds) = &found.rule else { unreachable!() };
                let columns = Columns::from_row_major(&values, 1).unwrap();
                let rows: Vec<u32> = (0..values.len() as u32).collect();
                let codes = found.codes(&columns[0], &rows);
                for (&value, &code) in values.iter().zip(&codes) {
                    for (term, threshold) in thresholds.iter().enumerate() {
                        let is_on = found.codes_on(term).contains(&code.into());
                        prop_assert_eq!(is_on, value >= *threshold);
                    }
                    if found.missing {
                        let is_on = found.codes_on(thresholds.len()).contains(&code.into());
                        prop_assert_eq!(is_on, value.is_nan());
                    }
                }
                for code in 0..=thresholds.len() {
                    prop_assert!(thresholds.is_empty() || codes.contains(&(code as u16)));
                }
            }
        }
    }
}
