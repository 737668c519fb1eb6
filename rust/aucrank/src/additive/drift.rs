//! Drift of new rows: their counts by bin and by points, to compare with those of training.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::parallel::prelude::*;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::data::{ClassSums, NewRows};

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
/// let card = build_scorecard(&columns, &labels, &[term], &scores, &params, &interrupt)?;
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
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
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
    use crate::data::{Bins, Column, Columns, Lookups};

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
