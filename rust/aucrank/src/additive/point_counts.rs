//! Rows by their points.

use std::collections::{BTreeMap, HashMap};

use crate::RankError;
use crate::data::{ClassSums, FixedScale, Labels, WeightRange};
use crate::parallel::prelude::*;
use crate::rows::words;
use crate::rows::words::{WordReader, put_sums};

/// Rows counted by one task.
const CHUNK_ROWS: usize = 1 << 15;

/// The rows of positive weight by their points, to be merged with others: as many entries as there are
/// different sums of points.
///
/// # Examples
///
/// ```
/// use aucrank::additive::PointCounts;
/// use aucrank::data::ClassSums;
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
    /// Those of no rows; `weights` are the range of the weights of all and their relative sum, `None`
    /// where every row counts once.
    #[must_use]
    pub fn new(weights: Option<(WeightRange, u128)>) -> Self {
        let scale = weights.map(|(range, relative)| FixedScale::new(range, relative));
        Self { scale, sums: BTreeMap::new() }
    }

    /// Those of labelled rows.
    pub(super) fn of(points: &[f64], labels: &Labels<'_>) -> Self {
        let mut counts = Self::new(None);
        counts.add_rows(points, |row| labels.sums(row));
        counts
    }

    /// Adds rows, whose points are whole numbers.
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

    /// Adds rows each of which stands for `counts` equal ones.
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

    /// The counts as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut words = vec![self.sums.len() as u64];
        for (&points, &sums) in &self.sums {
            words.push(points.cast_unsigned());
            put_sums(&mut words, sums);
        }
        words::to_bytes(&words)
    }

    /// Adds the rows of others that [`PointCounts::to_bytes`] has written.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for other bytes; the counts are of no use then.
    pub fn merge_bytes(&mut self, bytes: &[u8]) -> Result<(), RankError> {
        let words = words::from_bytes(bytes)?;
        let mut reader = WordReader::new(&words);
        for _ in 0..reader.word()? {
            let points = reader.word()?.cast_signed();
            *self.sums.entry(points).or_default() += reader.sums()?;
        }
        reader.end()
    }

    /// The rows of each number of points, ascending.
    #[must_use]
    pub fn into_list(self) -> Vec<(i64, ClassSums)> {
        self.sums.into_iter().collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

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
}
