//! `ThresholdBinarizer`: binary terms as features for any model.

use serde::{Deserialize, Serialize};

use super::binarize::{Binarizer, BinarizerParams};
use super::binary_feature::{BinaryFeature, BinaryRule, TermTest};
use crate::data::{
    Bins, ClassSums, Column, Columns, CountedRows, Lookups, MISSING_CODE, NewRows, check_weight,
    sum_checked,
};
use crate::{Interrupt, RankError};

/// A term of one feature, with the training rows for which it is on.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::aurora::{BinarizerParams, CountedTerm, TermTest, fit_threshold_binarizer};
/// use aucrank::data::{ClassSums, Columns, NewRows};
///
/// let columns = Columns::from_row_major(&[1.0, 3.0, 3.0, 3.0], 1)?;
/// let rows = NewRows::new(4, Some(&[false, true, false, true]), None)?;
/// let params = BinarizerParams::default();
/// let model = fit_threshold_binarizer(&columns, &rows, &params, &Interrupt::default())?;
/// // On for three rows; of four pairs two are won and two are tied.
/// let on = ClassSums { pos: 2, neg: 1, rows: 3 };
/// let auc = Some(0.75);
/// assert_eq!(model.terms(), [CountedTerm { feature: 0, test: TermTest::AtLeast(2.0), on, auc }]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CountedTerm {
    /// The raw feature.
    pub feature: usize,
    /// Its test.
    pub test: TermTest,
    /// The training rows for which it is on.
    pub on: ClassSums,
    /// `AUC` of the training rows ranked by this term alone; `None` without labels.
    pub auc: Option<f64>,
}

/// Binary terms with the counts of the training rows from which they were chosen.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::aurora::{BinarizerParams, fit_threshold_binarizer};
/// use aucrank::data::{Columns, NewRows};
///
/// let columns = Columns::from_row_major(&[1.0, 3.0, f64::NAN, 4.0], 1).unwrap();
/// let rows = NewRows::new(4, None, None).unwrap();
/// let params = BinarizerParams::default();
/// let model = fit_threshold_binarizer(&columns, &rows, &params, &Interrupt::default()).unwrap();
/// let mut on = vec![0_u8; 4 * model.n_terms()];
/// model.fill(&columns, &mut on, 1).unwrap();
/// // At least 2, at least 3.5, missing.
/// assert_eq!(on, [0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThresholdBinarizer {
    /// For each feature its number of categories, or `None` if it is numeric.
    n_levels: Vec<Option<u32>>,
    /// Whether the training rows had labels; otherwise all count as negative.
    has_labels: bool,
    /// Class sums of the training rows.
    total: ClassSums,
    /// Binary exponent of the unit of their weight.
    exponent: i32,
    features: Vec<BinaryFeature>,
    /// For each feature the training rows of each code.
    sums: Vec<Vec<ClassSums>>,
}

impl ThresholdBinarizer {
    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.n_levels
    }

    /// Whether the training rows had labels.
    #[must_use]
    pub fn has_labels(&self) -> bool {
        self.has_labels
    }

    /// Class sums of the training rows.
    #[must_use]
    pub fn total(&self) -> ClassSums {
        self.total
    }

    /// Binary exponent of the unit of class weight.
    #[must_use]
    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    /// The features.
    #[must_use]
    pub fn features(&self) -> &[BinaryFeature] {
        &self.features
    }

    /// Number of terms of all features.
    #[must_use]
    pub fn n_terms(&self) -> usize {
        self.features.iter().map(BinaryFeature::n_terms).sum()
    }

    /// The terms, feature by feature: ascending thresholds, then missing values.
    #[must_use]
    pub fn terms(&self) -> Vec<CountedTerm> {
        let of_feature = |(place, (feature, sums)): (usize, (&BinaryFeature, &Vec<ClassSums>))| {
            let terms = feature.tests().into_iter().zip(feature.sums_on(sums));
            terms.map(move |(test, on)| self.counted(place, test, on))
        };
        self.features.iter().zip(&self.sums).enumerate().flat_map(of_feature).collect()
    }

    fn counted(&self, feature: usize, test: TermTest, on: ClassSums) -> CountedTerm {
        let pairs = u128::from(self.total.pos) * u128::from(self.total.neg);
        let auc = || 0.5 + self.total.gain(on) as f64 / pairs as f64 / 2.0;
        CountedTerm { feature, test, on, auc: self.has_labels.then(auc) }
    }

    /// Writes `one` for each term that is on, row by row; other elements are unchanged.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns differ from those of the fit in number or kind, or hold
    /// infinity, or the length of `out` is not the number of terms times rows.
    pub fn fill<T: Copy + Send + Sync>(
        &self,
        columns: &Columns<'_>,
        out: &mut [T],
        one: T,
    ) -> Result<(), RankError> {
        columns.check_kinds(&self.n_levels)?;
        let n_terms = self.n_terms();
        check_places(out.len(), columns.n_rows() * n_terms)?;
        let (bins, spans) = self.codings();
        let lookups = Lookups::new(bins.iter().enumerate());
        lookups.by_tile(columns, out, n_terms, |(): &mut (), of_feature, out| {
            for (spans, codes) in spans.iter().zip(of_feature) {
                for (row, &code) in out.chunks_mut(n_terms).zip(codes) {
                    let TermRange { start, end } = spans[code as usize];
                    row[start as usize..end as usize].fill(one);
                }
            }
        })
    }

    /// Number of terms that are on in each row.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns differ from those of the fit in number or kind, or hold
    /// infinity.
    pub fn count(&self, columns: &Columns<'_>) -> Result<Vec<i64>, RankError> {
        columns.check_kinds(&self.n_levels)?;
        let (bins, spans) = self.codings();
        let mut counts = vec![0; columns.n_rows()];
        let lookups = Lookups::new(bins.iter().enumerate());
        lookups.by_tile(columns, &mut counts, 1, |(): &mut (), of_feature, counts| {
            for (spans, codes) in spans.iter().zip(of_feature) {
                for (count, &code) in counts.iter_mut().zip(codes) {
                    let TermRange { start, end } = spans[code as usize];
                    *count += i64::from(end - start);
                }
            }
        })?;
        Ok(counts)
    }

    /// Writes the indices of the terms that are on, ascending, to `out`, row after row:
    /// [`ThresholdBinarizer::count`] indices per row.
    ///
    /// # Errors
    ///
    /// As [`ThresholdBinarizer::fill`].
    pub fn fill_indices(
        &self,
        columns: &Columns<'_>,
        counts: &[i64],
        out: &mut [i32],
    ) -> Result<(), RankError> {
        columns.check_kinds(&self.n_levels)?;
        check_places(counts.len(), columns.n_rows())?;
        let n_on: i64 = counts.iter().sum();
        check_places(out.len(), usize::try_from(n_on).unwrap_or(0))?;
        let (bins, spans) = self.codings();
        let lookups = Lookups::new(bins.iter().enumerate());
        let mut parts = Vec::new();
        let mut rest = out;
        for (tile, counts) in counts.chunks(Lookups::TILE_ROWS).enumerate() {
            let start = tile * Lookups::TILE_ROWS;
            let n_on: i64 = counts.iter().sum();
            let (part, after) = rest.split_at_mut((n_on as usize).min(rest.len()));
            rest = after;
            parts.push((start..start + counts.len(), (counts, part)));
        }
        lookups.by_part(columns, parts, |(): &mut (), of_feature, (counts, out)| {
            // The next position of each row.
            let mut places: Vec<usize> = counts
                .iter()
                .scan(0, |end, &count| {
                    let start = *end;
                    *end += count as usize;
                    Some(start)
                })
                .collect();
            for (spans, codes) in spans.iter().zip(of_feature) {
                for (place, &code) in places.iter_mut().zip(codes) {
                    let TermRange { start, end } = spans[code as usize];
                    for (out, term) in out.iter_mut().skip(*place).zip(start..end) {
                        *out = term as i32;
                    }
                    *place += (end - start) as usize;
                }
            }
        })
    }

    /// The coding of each feature, and the terms that are on for each code.
    fn codings(&self) -> (Vec<Bins>, Vec<Vec<TermRange>>) {
        let mut first = 0;
        let spans = self.features.iter().map(|feature| {
            let start = first;
            first += feature.n_terms() as u32;
            spans(feature, start)
        });
        let spans = spans.collect();
        (self.features.iter().map(BinaryFeature::bins).collect(), spans)
    }

    /// Checks the consistency of a model read from a file.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        check_weight(self.total, self.exponent)?;
        if self.has_labels && !self.total.is_mixed() {
            return Err("the training rows lack a class".to_owned());
        }
        if !self.has_labels && self.total.pos > 0 {
            return Err("the training rows are positive without labels".to_owned());
        }
        for (what, found) in [("terms", self.features.len()), ("rows", self.sums.len())] {
            let expected = self.n_levels.len();
            if found != expected {
                return Err(format!("{what} of {found} features, expected {expected}"));
            }
        }
        let parts = self.features.iter().zip(&self.n_levels).zip(&self.sums);
        for (place, ((feature, &n_levels), sums)) in parts.enumerate() {
            let named = |what: String| format!("feature {place}: {what}");
            check_feature(feature, n_levels, sums, self.total).map_err(named)?;
        }
        // Indices of terms are 32-bit.
        if self.n_terms() > i32::MAX as usize {
            return Err(format!("{} terms", self.n_terms()));
        }
        Ok(())
    }
}

/// A contiguous range of terms.
#[derive(Debug, Clone, Copy)]
struct TermRange {
    start: u32,
    end: u32,
}

fn check_places(found: usize, expected: usize) -> Result<(), RankError> {
    if found == expected {
        return Ok(());
    }
    Err(RankError::LengthMismatch { name: "the output", found, expected })
}

/// The terms that are on for each code, given the index of the first. They are always contiguous.
fn spans(feature: &BinaryFeature, first: u32) -> Vec<TermRange> {
    let n_terms = feature.n_terms() as u32;
    let none = TermRange { start: first, end: first };
    let mut spans = vec![none; feature.n_codes()];
    match &feature.rule {
        BinaryRule::AtLeast(_) => {
            for (span, reached) in spans.iter_mut().zip(0..) {
                span.end = first + reached;
            }
        }
        BinaryRule::Equals { levels, .. } => {
            for (&level, term) in levels.iter().zip(first..) {
                spans[level as usize] = TermRange { start: term, end: term + 1 };
            }
        }
    }
    let last = spans.len() - 1;
    spans[last] = none;
    if feature.missing {
        spans[last] = TermRange { start: first + n_terms - 1, end: first + n_terms };
    }
    spans
}

fn check_feature(
    feature: &BinaryFeature,
    n_levels: Option<u32>,
    sums: &[ClassSums],
    total: ClassSums,
) -> Result<(), String> {
    feature.check(n_levels)?;
    let (found, expected) = (sums.len(), feature.n_codes());
    if found != expected {
        return Err(format!("rows of {found} values, expected {expected}"));
    }
    if sum_checked(sums) != Some(total) {
        return Err("its rows do not add up to the training rows".to_owned());
    }
    let parts = |on: &ClassSums| on.rows > 0 && on.rows < total.rows;
    if !feature.sums_on(sums).iter().all(parts) {
        return Err("a term is on for all rows or for none".to_owned());
    }
    Ok(())
}

/// Chooses the terms of all features, and counts the rows for which they are on.
///
/// # Errors
///
/// [`RankError`] for a parameter out of range, an infinite value, a category code out of range,
/// lengths that differ, no row of positive weight, labels of one class, or when interrupted.
pub fn fit_threshold_binarizer(
    columns: &Columns<'_>,
    rows: &NewRows<'_>,
    params: &BinarizerParams,
    interrupt: &Interrupt,
) -> Result<ThresholdBinarizer, RankError> {
    rows.check_length(columns)?;
    let columns = &columns.until(interrupt);
    let n_levels: Vec<Option<u32>> = columns.iter().map(Column::n_levels).collect();
    params.validate(&n_levels)?;
    check_codes(columns)?;
    let total = rows.total()?;
    let counted: Vec<u32> =
        (0..columns.n_rows() as u32).filter(|&row| rows.sums(row as usize).rows > 0).collect();
    let copies = |row: usize| rows.sums(row).rows;
    let copies: Option<&(dyn Fn(usize) -> u64 + Sync)> =
        if rows.is_weighted() { Some(&copies) } else { None };
    let Binarizer { features } = Binarizer::choose(columns, copies, &counted, params)?;
    drop(counted);
    interrupt.check()?;
    let bins: Vec<Bins> = features.iter().map(BinaryFeature::bins).collect();
    let lookups = Lookups::new(bins.iter().enumerate());
    let sums = match rows.positive() {
        Some(positive) if !rows.is_weighted() => lookups.count(columns, &CountedRows(positive)),
        _ => lookups.count(columns, rows),
    };
    let (has_labels, exponent) = (rows.positive().is_some(), rows.exponent());
    let model = ThresholdBinarizer { n_levels, has_labels, total, exponent, features, sums: sums? };
    if model.n_terms() > i32::MAX as usize {
        let (name, value) = ("the number of terms", model.n_terms().to_string());
        return Err(RankError::BadParameter { name, value, rule: "below 2^31" });
    }
    Ok(model)
}

/// Checks that every code is in the range that its column declares.
fn check_codes(columns: &Columns<'_>) -> Result<(), RankError> {
    for (feature, column) in columns.iter().enumerate() {
        let Column::Codes { codes, n_levels } = *column else { continue };
        let is_bad = |&code: &u32| code >= n_levels && code != MISSING_CODE;
        if let Some(row) = codes.iter().position(is_bad) {
            let code = codes[row];
            return Err(RankError::BadCode { column: feature, row, code, n_levels });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 3000;

    /// Numbers of many values and of few, and categories; all of them may be missing.
    fn sample() -> (Vec<Vec<f64>>, Vec<u32>, Vec<bool>, Vec<f64>) {
        let draw = |seed: usize, row: usize| crate::data::mix((seed * N + row) as u64);
        let unit = |seed, row| (draw(seed, row) >> 11) as f64 * 2_f64.powi(-53);
        let positive: Vec<bool> = (0..N).map(|row| unit(0, row) < 0.4).collect();
        let column = |seed: usize| -> Vec<f64> {
            let value = |row: usize| match draw(10 + seed, row) % 10 {
                0 => f64::NAN,
                1 | 2 => 0.5,
                3 if seed == 2 => unit(seed, row).powi(-20),
                _ if seed == 1 => (unit(seed, row) * 7.0).floor(),
                _ => unit(seed, row),
            };
            (0..N).map(value).collect()
        };
        let codes = (0..N).map(|row| match draw(30, row) % 5 {
            4 => MISSING_CODE,
            code => code as u32 + 1,
        });
        let weights = (0..N).map(|row| (draw(31, row) % 3) as f64).collect();
        ((0..4).map(column).collect(), codes.collect(), positive, weights)
    }

    fn columns<'a>(values: &'a [Vec<f64>], codes: &'a [u32]) -> Columns<'a> {
        let mut columns: Vec<Column<'a>> =
            values.iter().map(|values| values.as_slice().into()).collect();
        // Category 0 has no rows.
        columns.push(Column::Codes { codes, n_levels: 5 });
        Columns::new(columns, codes.len()).unwrap()
    }

    fn fit(columns: &Columns<'_>, rows: &NewRows<'_>) -> ThresholdBinarizer {
        let params = BinarizerParams::default();
        fit_threshold_binarizer(columns, rows, &params, &Interrupt::default()).unwrap()
    }

    #[test]
    fn a_term_is_on_where_its_test_holds_dense_and_sparse() {
        let (values, codes, positive, _) = sample();
        let columns = columns(&values, &codes);
        let model = fit(&columns, &NewRows::new(N, Some(&positive), None).unwrap());
        model.check().unwrap();
        let terms = model.terms();
        assert_eq!(terms.len(), model.n_terms());
        let expected: Vec<u8> = (0..N)
            .flat_map(|row| {
                let (values, codes) = (&values, &codes);
                terms.iter().map(move |term| {
                    let number = || values[term.feature][row];
                    u8::from(match term.test {
                        TermTest::AtLeast(threshold) => number() >= threshold,
                        TermTest::Equals(level) => codes[row] == level,
                        TermTest::Missing if term.feature == 4 => codes[row] == MISSING_CODE,
                        TermTest::Missing => number().is_nan(),
                    })
                })
            })
            .collect();
        let mut dense = vec![0_u8; N * terms.len()];
        model.fill(&columns, &mut dense, 1).unwrap();
        assert_eq!(dense, expected);

        let counts = model.count(&columns).unwrap();
        let mut indices = vec![-1; counts.iter().sum::<i64>() as usize];
        model.fill_indices(&columns, &counts, &mut indices).unwrap();
        let mut rest = &indices[..];
        for (row, &count) in expected.chunks(terms.len()).zip(&counts) {
            let (found, after) = rest.split_at(count as usize);
            let on = row.iter().zip(0..).filter(|(on, _)| **on == 1).map(|(_, term)| term);
            assert_eq!(found, on.collect::<Vec<i32>>());
            rest = after;
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn the_rows_of_a_term_and_its_auc_are_counted() {
        let (values, codes, positive, weights) = sample();
        let columns = columns(&values, &codes);
        for weights in [None, Some(&weights[..])] {
            let rows = NewRows::new(N, Some(&positive), weights).unwrap();
            let model = fit(&columns, &rows);
            model.check().unwrap();
            let n_terms = model.n_terms();
            let mut on = vec![0.0_f64; N * n_terms];
            model.fill(&columns, &mut on, 1.0).unwrap();
            for (place, term) in model.terms().iter().enumerate() {
                let scores: Vec<f64> = on.iter().skip(place).step_by(n_terms).copied().collect();
                let is_on = |&row: &usize| scores[row] > 0.0;
                let sums: ClassSums = (0..N).filter(is_on).map(|row| rows.sums(row)).sum();
                assert_eq!(term.on, sums);
                let ones = vec![1.0; N];
                let weights = weights.unwrap_or(&ones);
                let auc = crate::roc::weighted_auc(&scores, &positive, weights).unwrap();
                assert!((term.auc.unwrap() - auc).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn terms_do_not_depend_on_threads_layout_labels_or_the_order_of_rows() {
        let (values, codes, positive, _) = sample();
        let unlabelled = NewRows::new(N, None, None).unwrap();
        let expected = fit(&columns(&values, &codes), &unlabelled);
        expected.check().unwrap();
        assert!(expected.terms().iter().all(|term| term.auc.is_none() && term.on.pos == 0));
        let labelled =
            fit(&columns(&values, &codes), &NewRows::new(N, Some(&positive), None).unwrap());
        assert_eq!(labelled.features, expected.features);
        for n_threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            let found = pool.install(|| fit(&columns(&values, &codes), &unlabelled));
            assert!(found == expected);
        }
        let by_row: Vec<f64> = (0..N * 4).map(|place| values[place % 4][place / 4]).collect();
        let by_row = Columns::from_row_major(&by_row, 4).unwrap();
        assert!(fit(&by_row, &unlabelled).features == expected.features[..4]);
        let turned: Vec<Vec<f64>> =
            values.iter().map(|values| values.iter().rev().copied().collect()).collect();
        let codes: Vec<u32> = codes.into_iter().rev().collect();
        assert!(fit(&columns(&turned, &codes), &unlabelled) == expected);
    }

    #[test]
    fn bad_rows_are_named() {
        let (mut values, mut codes, positive, weights) = sample();
        let refused = |values: &[Vec<f64>], codes: &[u32], rows: &NewRows<'_>| {
            let (params, interrupt) = (BinarizerParams::default(), Interrupt::default());
            let columns = columns(values, codes);
            fit_threshold_binarizer(&columns, rows, &params, &interrupt).unwrap_err()
        };
        let rows = NewRows::new(N, Some(&positive), Some(&weights)).unwrap();
        codes[17] = 5;
        let found = refused(&values, &codes, &rows);
        assert_eq!(found, RankError::BadCode { column: 4, row: 17, code: 5, n_levels: 5 });
        codes[17] = 0;
        values[2][9] = f64::INFINITY;
        let value = f64::INFINITY;
        let found = refused(&values, &codes, &rows);
        assert_eq!(found, RankError::InfiniteValue { column: 2, row: 9, value });
        values[2][9] = 0.0;
        let none = vec![0.0; N];
        let found = refused(&values, &codes, &NewRows::new(N, None, Some(&none)).unwrap());
        assert!(found.to_string().contains("sample_weight"), "{found}");
        let one = vec![true; N];
        let found = refused(&values, &codes, &NewRows::new(N, Some(&one), None).unwrap());
        assert_eq!(found, RankError::ClassWithoutWeight { class: "negative" });
        let interrupt = Interrupt::default();
        interrupt.stop();
        let params = BinarizerParams::default();
        let found = fit_threshold_binarizer(&columns(&values, &codes), &rows, &params, &interrupt);
        assert_eq!(found.unwrap_err(), RankError::Interrupted);
    }
}
