//! Where a missing value counts as the mean of its cell (DECISIONS T18).

use crate::data::{Binned, ClassSums, Columns, FeatureSums, Tally, ValueScale};

/// What the mean of a cell is told by, and where it lies among the values of the cell.
#[derive(Debug, Clone)]
pub(in crate::tree) struct CellMeans {
    /// The unit in which each feature's values are summed.
    pub(in crate::tree) scales: Vec<ValueScale>,
    /// Of each feature that has missing values, the least and the greatest value of each bin.
    ranges: Vec<Vec<(f64, f64)>>,
}

impl CellMeans {
    /// Those of some rows; `has_missing` tells which features they miss.
    pub(in crate::tree) fn new(
        columns: &Columns<'_>,
        binned: &Binned,
        rows: &[u32],
        has_missing: &[bool],
    ) -> Self {
        Self {
            scales: ValueScale::of(columns, rows),
            ranges: binned.value_ranges(columns, rows, has_missing),
        }
    }

    /// The codes that missing values may be given where they count as `mean`, whose bin is `code`.
    ///
    /// One where the cell has values on both sides of the mean in that bin, or none in it. Where the
    /// mean lies between the values of two bins that follow one another in the cell, a cut may fall on
    /// either side of it: they may be given the code of the one or of the other, the upper one first.
    pub(super) fn codes_of_missing(
        &self,
        feature: usize,
        bins: &[(u32, ClassSums)],
        mean: f64,
        code: u32,
    ) -> impl Iterator<Item = u32> {
        let neighbour =
            bins.binary_search_by_key(&code, |(code, _)| *code).ok().and_then(|place| {
                let (low, high) = self.ranges[feature][code as usize];
                let neighbour = if mean < low {
                    place.checked_sub(1)?
                } else if mean > high {
                    place + 1
                } else {
                    return None;
                };
                bins.get(neighbour).map(|(neighbour, _)| *neighbour)
            });
        let upper = neighbour.map_or(code, |neighbour| neighbour.max(code));
        let lower = neighbour.map(|neighbour| neighbour.min(code));
        std::iter::once(upper).chain(lower)
    }
}

/// The occupied bins of known values, and what the missing ones hold.
pub(super) fn known_and_missing<T: Tally>(
    sums: FeatureSums<'_, T>,
    missing_code: u32,
) -> (Vec<(u32, ClassSums)>, ClassSums) {
    let mut bins: Vec<(u32, ClassSums)> = sums.occupied().collect();
    let missing = bins.pop_if(|(code, _)| *code == missing_code);
    (bins, missing.map_or(ClassSums::default(), |(_, sums)| sums))
}

pub(super) fn add_to_bin(bins: &mut Vec<(u32, ClassSums)>, code: u32, more: ClassSums) {
    if more.rows == 0 {
        return;
    }
    match bins.binary_search_by_key(&code, |(code, _)| *code) {
        Ok(place) => bins[place].1 += more,
        Err(place) => bins.insert(place, (code, more)),
    }
}
