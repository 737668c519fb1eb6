//! Rows by their points, and the drift of new rows: their counts by bin and by points, to compare
//! with those of training.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::RankError;
use crate::data::{ClassSums, FixedScale, Labels, NewRows, WeightRange};
use crate::parallel::prelude::*;
use crate::rows::Mergeable;
use crate::rows::words::{WordReader, put_sums};

/// Rows counted by one task.
const CHUNK_ROWS: usize = 1 << 15;

/// The rows of positive weight by their points, which can be merged with others: one entry for each
/// distinct sum of points.
///
/// # Examples
///
/// ```
/// use aucrank::additive::PointCounts;
/// use aucrank::data::ClassSums;
/// use aucrank::rows::Mergeable;
///
/// let mut counts = PointCounts::new(None);
/// counts.add(&[600.0, 580.0], &[true, false], None)?;
/// let mut others = PointCounts::new(None);
/// others.add_counts(&[580.0], &[true], None, &[5])?;
/// counts.merge_bytes(&others.to_bytes())?;
/// let found = counts.into_list();
/// assert_eq!(found[0], (580, ClassSums { pos: 5, neg: 1, rows: 6 }));
/// assert_eq!(found[1], (600, ClassSums { pos: 1, neg: 0, rows: 1 }));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone)]
pub struct PointCounts {
    scale: Option<FixedScale>,
    sums: BTreeMap<i64, ClassSums>,
}

impl PointCounts {
    /// The counts of no rows; `weights` are the range of the weights of all rows and their relative
    /// sum, `None` if every row counts once.
    #[must_use]
    pub fn new(weights: Option<(WeightRange, u128)>) -> Self {
        let scale = weights.map(|(range, relative)| FixedScale::new(range, relative));
        Self { scale, sums: BTreeMap::new() }
    }

    /// The counts of labelled rows.
    pub(super) fn of(points: &[f64], labels: &Labels<'_>) -> Self {
        let mut counts = Self::new(None);
        counts.add_rows(points, |row| labels.sums(row));
        counts
    }

    /// Adds rows, whose points are integers.
    ///
    /// # Errors
    ///
    /// [`RankError::LengthMismatch`].
    pub fn add(
        &mut self,
        points: &[f64],
        positive: &[bool],
        weights: Option<&[f64]>,
    ) -> Result<(), RankError> {
        check_lengths(points, positive, weights, None)?;
        let labels = Labels::in_scale(positive, weights, self.scale);
        self.add_rows(points, |row| labels.sums(row));
        Ok(())
    }

    /// Adds rows that each represent `counts` equal ones.
    ///
    /// # Errors
    ///
    /// [`RankError::LengthMismatch`].
    pub fn add_counts(
        &mut self,
        points: &[f64],
        positive: &[bool],
        weights: Option<&[f64]>,
        counts: &[u64],
    ) -> Result<(), RankError> {
        check_lengths(points, positive, weights, Some(counts))?;
        let labels = Labels::in_scale(positive, weights, self.scale);
        self.add_rows(points, |row| labels.sums(row).times(counts[row]));
        Ok(())
    }

    fn add_rows(&mut self, points: &[f64], sums_of: impl Fn(usize) -> ClassSums + Sync) {
        let count = |mut counts: HashMap<i64, ClassSums>, (chunk, points): (usize, &[f64])| {
            for (row, &points) in points.iter().enumerate() {
                let sums = sums_of(chunk * CHUNK_ROWS + row);
                if sums.rows > 0 {
                    *counts.entry(points as i64).or_default() += sums;
                }
            }
            counts
        };
        let counts = points.par_chunks(CHUNK_ROWS).enumerate().fold(HashMap::new, count);
        for counts in counts.collect::<Vec<_>>() {
            for (points, sums) in counts {
                *self.sums.entry(points).or_default() += sums;
            }
        }
    }

    /// The rows of each number of points, ascending.
    #[must_use]
    pub fn into_list(self) -> Vec<(i64, ClassSums)> {
        self.sums.into_iter().collect()
    }
}

impl Mergeable for PointCounts {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        for (points, sums) in more.sums {
            *self.sums.entry(points).or_default() += sums;
        }
        Ok(())
    }

    fn put_words(&mut self, words: &mut Vec<u64>) {
        words.push(self.sums.len() as u64);
        for (&points, &sums) in &self.sums {
            words.push(points.cast_unsigned());
            put_sums(words, sums);
        }
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        self.sums.clear();
        for _ in 0..reader.word()? {
            let points = reader.word()?.cast_signed();
            *self.sums.entry(points).or_default() += reader.sums()?;
        }
        Ok(())
    }
}

fn check_lengths(
    points: &[f64],
    positive: &[bool],
    weights: Option<&[f64]>,
    counts: Option<&[u64]>,
) -> Result<(), RankError> {
    let expected = positive.len();
    let lengths = [
        ("points", Some(points.len())),
        ("sample_weight", weights.map(<[f64]>::len)),
        ("counts", counts.map(<[u64]>::len)),
    ];
    for (name, found) in lengths {
        if let Some(found) = found.filter(|&found| found != expected) {
            return Err(RankError::LengthMismatch { name, found, expected });
        }
    }
    Ok(())
}

/// Counts of new rows, to compare with those of the training rows in a scorecard.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{ScorecardParams, build_scorecard};
/// use aucrank::data::{ClassSums, Columns, FeatureTerm, Labels, NewRows, FeatureSteps};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1)?;
/// let labels = Labels::new(&[false, false, true, false, true, true], None)?;
/// let steps = FeatureSteps::Numeric { thresholds: vec![3.5], values: vec![-1.0, 1.0] };
/// let term = FeatureTerm { feature: 0, steps, missing: 0.0 };
/// let scores = [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0];
/// let (params, interrupt) = (ScorecardParams::default(), Interrupt::default());
/// let card = build_scorecard((&columns, &labels, &scores[..]), &[term], &params, &interrupt)?;
///
/// let new = Columns::from_row_major(&[9.0, 8.0, f64::NAN], 1)?;
/// let drift = card.drift(&new, &NewRows::new(3, None, None)?)?;
/// // Without labels rows count as negative.
/// let rows = |n| ClassSums { pos: 0, neg: n, rows: n };
/// assert_eq!(drift.total, rows(3));
/// assert_eq!(drift.features[0], [rows(0), rows(2), rows(1)]);
/// assert_eq!(drift.distribution.iter().map(|(_, sums)| sums.rows).sum::<u64>(), 3);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriftCounts {
    /// Binary exponent of the unit of weight.
    pub exponent: i32,
    /// All rows.
    pub total: ClassSums,
    /// For each feature of the card the rows in each bin, those with a missing value last.
    pub features: Vec<Vec<ClassSums>>,
    /// The rows by their points, ascending.
    pub distribution: Vec<(i64, ClassSums)>,
}

/// The rows by their points, ascending, without rows of weight zero.
pub(super) fn count_points(points: &[i64], rows: &NewRows<'_>) -> Vec<(i64, ClassSums)> {
    let of_chunk = |chunk: Range<usize>| {
        let mut sums: BTreeMap<i64, ClassSums> = BTreeMap::new();
        for row in chunk {
            let counted = rows.sums(row);
            if counted.rows > 0 {
                *sums.entry(points[row]).or_default() += counted;
            }
        }
        sums
    };
    let sums = rows.chunks().map(of_chunk).reduce(BTreeMap::new, |mut left, right| {
        for (points, sums) in right {
            *left.entry(points).or_default() += sums;
        }
        left
    });
    sums.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Bins, Column, Columns, Lookups, mix};

    #[test]
    fn counts_are_those_of_all_rows_at_once_however_they_are_divided() {
        let n = 70_000_u64;
        let points: Vec<f64> = (0..n).map(|row| (mix(row) % 50) as f64 - 20.0).collect();
        let positive: Vec<bool> = (0..n).map(|row| mix(!row).is_multiple_of(3)).collect();
        let weights: Vec<f64> = (0..n).map(|row| (mix(row + n) % 5) as f64 / 8.0).collect();
        for weights in [None, Some(&weights[..])] {
            let labels = Labels::new(&positive, weights).unwrap();
            let whole = PointCounts::of(&points, &labels).into_list();
            let by_definition = |wanted: i64| -> ClassSums {
                let rows = (0..points.len()).filter(|&row| points[row] as i64 == wanted);
                rows.map(|row| labels.sums(row)).sum()
            };
            assert!(whole.iter().all(|&(points, sums)| sums == by_definition(points)));
            assert_eq!(whole.iter().map(|&(_, sums)| sums).sum::<ClassSums>(), labels.total());

            let unit = weights.map(|weights| {
                let range = WeightRange::of_part(weights, 0).unwrap();
                (range, range.relative_sum_of_part(weights))
            });
            let mut merged = PointCounts::new(unit);
            for rows in [0..1, 1..40_000, 40_000..points.len()] {
                let mut part = PointCounts::new(unit);
                let weights = weights.map(|weights| &weights[rows.clone()]);
                part.add(&points[rows.clone()], &positive[rows], weights).unwrap();
                merged.merge_bytes(&part.to_bytes()).unwrap();
            }
            assert_eq!(merged.into_list(), whole);
        }
    }

    #[test]
    fn lengths_and_bytes_are_checked() {
        let mut counts = PointCounts::new(None);
        assert!(counts.add(&[1.0], &[true, false], None).is_err());
        assert!(counts.add_counts(&[1.0], &[true], None, &[]).is_err());
        counts.add(&[1.0], &[true], None).unwrap();
        let bytes = counts.to_bytes();
        assert!(counts.merge_bytes(&bytes[..bytes.len() - 8]).is_err());
    }

    #[test]
    fn every_row_is_in_one_bin_of_each_feature_with_its_weight() {
        let values = [0.5, f64::NAN, -1.0, 2.0, 1.0];
        let codes = [0, 2, 7, u32::MAX, 1];
        let columns = Columns::new(
            vec![values.as_slice().into(), Column::Codes { codes: &codes, n_levels: 3 }],
            5,
        )
        .unwrap();
        let numeric = Bins::Numeric { cuts: vec![1.0], special: vec![-1.0] };
        // Category 1 was in no training row, so it counts as missing.
        let categorical = Bins::Categorical { bin_of_level: vec![1, 2, 0], n_bins: 2 };
        let labels = [true, false, true, false, true];
        let rows = NewRows::new(5, Some(&labels), Some(&[1.0, 2.0, 3.0, 4.0, 0.0])).unwrap();
        let lookups = Lookups::new([(0, &numeric), (1, &categorical)]);
        let counts = lookups.count(&columns, &rows).unwrap();
        let sums = |pos, neg| ClassSums { pos, neg, rows: pos + neg };
        assert_eq!(counts[0], [sums(1, 0), sums(0, 4), sums(3, 0), sums(0, 2)]);
        assert_eq!(counts[1], [sums(0, 2), sums(1, 0), sums(3, 4)]);
        assert_eq!(count_points(&[7, 7, -2, 7, 9], &rows), [(-2, sums(3, 0)), (7, sums(1, 6))]);
    }
}
