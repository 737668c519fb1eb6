//! Class masses per bin, for many sets of rows at once.
//!
//! A row may belong to every set, with a different mass in each. The masses of one row in all sets
//! are contiguous, and so are the sums of a bin: a row is read once and adds a vector.

use super::ClassMasses;
use crate::data::binning::binned::{Binned, CodeSlot};

/// The number of sets is padded to a multiple of this, so that vector instructions have no
/// remainder.
const LANES: usize = 2;

/// Bytes of histogram filled at a time, which stay in the cache together with the rows.
const GROUP_BYTES: usize = 48 << 10;

/// Class masses per bin of every one-byte feature, for many sets of rows.
#[derive(Debug, Clone)]
pub(crate) struct MassHistogram {
    width: usize,
    /// First bin of each feature, and the end of the last.
    offsets: Vec<usize>,
    /// For each bin the sums of the negative rows in each set, then those of the positive rows.
    bins: Vec<u64>,
}

impl MassHistogram {
    /// An empty histogram.
    pub(crate) fn new(binned: &Binned, n_sets: usize) -> Self {
        let width = Self::width(n_sets);
        let mut offsets = vec![0];
        for (feature, bins) in binned.features().iter().enumerate() {
            if matches!(binned.slot(feature), CodeSlot::Narrow(_)) {
                offsets.push(offsets[offsets.len() - 1] + bins.n_codes());
            }
        }
        let bins = vec![0; offsets[offsets.len() - 1] * 2 * width];
        Self { width, offsets, bins }
    }

    /// Length of the masses of one row in that many sets.
    pub(crate) fn width(n_sets: usize) -> usize {
        n_sets.next_multiple_of(LANES)
    }

    /// Adds consecutive rows, starting at `first`, given their classes and their masses, row by
    /// row.
    pub(crate) fn add(&mut self, binned: &Binned, first: usize, positive: &[bool], masses: &[u64]) {
        // A small width, the usual case, is a compile-time constant.
        match self.width {
            2 => self.add_sets::<2>(binned, first, positive, masses),
            4 => self.add_sets::<4>(binned, first, positive, masses),
            6 => self.add_sets::<6>(binned, first, positive, masses),
            8 => self.add_sets::<8>(binned, first, positive, masses),
            10 => self.add_sets::<10>(binned, first, positive, masses),
            12 => self.add_sets::<12>(binned, first, positive, masses),
            14 => self.add_sets::<14>(binned, first, positive, masses),
            16 => self.add_sets::<16>(binned, first, positive, masses),
            18 => self.add_sets::<18>(binned, first, positive, masses),
            20 => self.add_sets::<20>(binned, first, positive, masses),
            _ => self.add_any(binned, first, positive, masses),
        }
    }

    fn add_sets<const WIDTH: usize>(
        &mut self,
        binned: &Binned,
        first: usize,
        positive: &[bool],
        masses: &[u64],
    ) {
        let (masses, _) = masses.as_chunks::<WIDTH>();
        let (bins, _) = self.bins.as_chunks_mut::<WIDTH>();
        let most = GROUP_BYTES / size_of::<[[u64; WIDTH]; 2]>();
        let mut start = 0;
        while start + 1 < self.offsets.len() {
            let fits = |&end: &usize| end - self.offsets[start] <= most;
            let n_fit = self.offsets[start + 1..].iter().take_while(|end| fits(end)).count().max(1);
            let group = start..start + n_fit;
            let offsets = &self.offsets[group.clone()];
            for ((row, &is_positive), &masses) in (first..).zip(positive).zip(masses) {
                let codes = &binned.narrow_row(row)[group.clone()];
                for (&code, &offset) in codes.iter().zip(offsets) {
                    let bin =
                        &mut bins[2 * (offset + usize::from(code)) + usize::from(is_positive)];
                    for (sum, mass) in bin.iter_mut().zip(masses) {
                        *sum += mass;
                    }
                }
            }
            start += n_fit;
        }
    }

    fn add_any(&mut self, binned: &Binned, first: usize, positive: &[bool], masses: &[u64]) {
        let width = self.width;
        for (feature, &offset) in self.offsets[..self.offsets.len() - 1].iter().enumerate() {
            let rows = (first..).zip(positive).zip(masses.chunks_exact(width));
            for ((row, &is_positive), masses) in rows {
                let bin = offset + usize::from(binned.narrow_row(row)[feature]);
                let start = (2 * bin + usize::from(is_positive)) * width;
                for (sum, mass) in self.bins[start..start + width].iter_mut().zip(masses) {
                    *sum += mass;
                }
            }
        }
    }

    /// Adds a row that belongs to one set only.
    pub(crate) fn add_to_one(
        &mut self,
        binned: &Binned,
        row: usize,
        positive: bool,
        set: usize,
        mass: u64,
    ) {
        for (&code, &offset) in binned.narrow_row(row).iter().zip(&self.offsets) {
            let side = 2 * (offset + usize::from(code)) + usize::from(positive);
            self.bins[side * self.width + set] += mass;
        }
    }

    /// Adds the histogram of other rows.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (sum, more) in self.bins.iter_mut().zip(&other.bins) {
            *sum += more;
        }
    }

    /// All sums, to be sent.
    pub(crate) fn sums(&self) -> &[u64] {
        &self.bins
    }

    /// As [`MassHistogram::sums`], to be received.
    pub(crate) fn sums_mut(&mut self) -> &mut [u64] {
        &mut self.bins
    }

    /// Codes of a feature that occur in a set, ascending, with their masses; `None` for a feature
    /// wider than one byte.
    pub(crate) fn occupied(
        &self,
        binned: &Binned,
        feature: usize,
        set: usize,
    ) -> Option<impl Iterator<Item = (u32, ClassMasses)>> {
        let CodeSlot::Narrow(column) = binned.slot(feature) else { return None };
        let bins = self.offsets[column]..self.offsets[column + 1];
        let masses = (0..).zip(bins).map(move |(code, bin)| {
            let of = |side: usize| self.bins[(2 * bin + side) * self.width + set];
            (code, ClassMasses { pos: of(1), neg: of(0) })
        });
        Some(masses.filter(|(_, masses)| masses.pos + masses.neg > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::data::{BinningParams, Columns, Labels, mix};

    #[test]
    fn sums_are_those_of_each_set_alone() {
        let (n_rows, n_features) = (300, 5);
        let values: Vec<f64> =
            (0..n_rows * n_features).map(|i| (mix(i as u64) % 300) as f64).collect();
        let positive: Vec<bool> =
            (0..n_rows).map(|row| mix(row as u64 + 9999).is_multiple_of(3)).collect();
        let columns = Columns::from_row_major(&values, n_features).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let params = BinningParams::default();
        let binned = Binned::new(&columns, &labels, params, &Interrupt::default()).unwrap();
        for n_sets in [1, 3, 4, 5, 8, 10, 11, 13, 15, 18, 20, 21, 31] {
            let mass = |row: usize, set: usize| mix((row * 100 + set) as u64) >> 30;
            let width = MassHistogram::width(n_sets);
            let all = |rows: std::ops::Range<usize>| -> Vec<u64> {
                let mass = |row, set| if set < n_sets { mass(row, set) } else { 0 };
                rows.flat_map(|row| (0..width).map(move |set| mass(row, set))).collect()
            };
            let mut sums = MassHistogram::new(&binned, n_sets);
            let mut more = MassHistogram::new(&binned, n_sets);
            sums.add(&binned, 0, &positive[..100], &all(0..100));
            more.add(&binned, 100, &positive[100..250], &all(100..250));
            for (row, &positive) in positive.iter().enumerate().skip(250) {
                for set in 0..n_sets {
                    more.add_to_one(&binned, row, positive, set, mass(row, set));
                }
            }
            sums.merge(&more);
            for (feature, bins) in binned.features().iter().enumerate() {
                for set in 0..n_sets {
                    let mut expected = vec![ClassMasses::default(); bins.n_codes()];
                    for row in 0..n_rows {
                        let sum = &mut expected[binned.code(row, feature) as usize];
                        let side = if positive[row] { &mut sum.pos } else { &mut sum.neg };
                        *side += mass(row, set);
                    }
                    let found: Vec<_> = sums.occupied(&binned, feature, set).unwrap().collect();
                    let expected = (0..).zip(expected);
                    let expected: Vec<_> = expected.filter(|(_, m)| m.pos + m.neg > 0).collect();
                    assert_eq!(found, expected);
                }
            }
        }
    }
}
