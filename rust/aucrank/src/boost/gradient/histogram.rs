//! Sums of derivatives, and numbers of rows, by bin.

use super::rows::FitRows;
use super::sums::{MOST_PACKED, PackedSums, Sums};
use crate::data::Binned;
use crate::{Interrupt, RankError, parallel};

/// Codes of a feature; a code is a byte.
const CODES: usize = 256;

/// Features whose packed bins are filled at a time: they stay in the first-level cache.
const GROUP: usize = 10;

/// Rows from which on a node is counted by several threads.
const LEAST_PART: usize = 4096;

/// Gradient and hessian of each row, times its mass.
#[derive(Debug)]
pub(super) enum Derivatives {
    /// Of rows of mass 1, where both fit one word.
    Packed(Vec<PackedSums>),
    Plain(Vec<Sums>),
}

/// The bins of the features of a tree, end to end.
#[derive(Debug)]
pub(super) struct Layout {
    /// Ascending.
    pub(super) features: Vec<usize>,
    /// First bin of each feature, and the end of the last.
    offsets: Vec<usize>,
    /// Whether these are all features.
    are_all: bool,
}

impl Layout {
    pub(super) fn new(binned: &Binned, features: Vec<usize>) -> Self {
        let mut offsets = vec![0];
        for &feature in &features {
            let n_codes = binned.features()[feature].n_codes();
            offsets.push(offsets[offsets.len() - 1] + n_codes);
        }
        let are_all = features.len() == binned.features().len();
        Self { features, offsets, are_all }
    }

    pub(super) fn n_bins(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    /// The bins of a feature, by its place among those of the layout.
    pub(super) fn of<'b, T>(&self, place: usize, bins: &'b [T]) -> &'b [T] {
        &bins[self.offsets[place]..self.offsets[place + 1]]
    }

    /// Sums of the derivatives of some rows in each bin.
    pub(super) fn sums(
        &self,
        binned: &Binned,
        rows: &[u32],
        derivatives: &Derivatives,
        interrupt: &Interrupt,
    ) -> Result<Vec<Sums>, RankError> {
        self.in_parts(rows, |rows| {
            interrupt.check()?;
            let mut sums = vec![Sums::default(); self.n_bins()];
            match derivatives {
                Derivatives::Packed(packed) => self.add_packed(binned, rows, packed, &mut sums),
                Derivatives::Plain(plain) => {
                    self.add(binned, rows, |row| plain[row as usize], &mut sums);
                }
            }
            Ok(sums)
        })
    }

    /// Number of rows in each bin, as rows count.
    pub(super) fn counts(
        &self,
        data: &FitRows<'_>,
        rows: &[u32],
        interrupt: &Interrupt,
    ) -> Result<Vec<u64>, RankError> {
        self.in_parts(rows, |rows| {
            interrupt.check()?;
            let mut counts = vec![0; self.n_bins()];
            self.add(data.binned, rows, |row| data.count(row as usize), &mut counts);
            Ok(counts)
        })
    }

    /// Adds up what `of_part` finds in parts of the rows.
    fn in_parts<T: Copy + Send + std::ops::AddAssign>(
        &self,
        rows: &[u32],
        of_part: impl Fn(&[u32]) -> Result<Vec<T>, RankError> + Sync,
    ) -> Result<Vec<T>, RankError> {
        let n_threads = rayon::current_num_threads();
        // A part has several rows for each bin that is added up in the end.
        let least = LEAST_PART.max(self.n_bins() / 8);
        let n_parts = match rows.len() / least {
            0 | 1 => return of_part(rows),
            n if n >= 16 * n_threads => 4 * n_threads,
            n => n.min(n_threads),
        };
        let parts = rows.chunks(rows.len().div_ceil(n_parts)).collect();
        let mut parts = parallel::try_map(parts, of_part)?.into_iter();
        let mut sums = parts.next().expect("there are rows");
        for part in parts {
            sums.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
        }
        Ok(sums)
    }

    fn add_packed(
        &self,
        binned: &Binned,
        rows: &[u32],
        derivatives: &[PackedSums],
        sums: &mut [Sums],
    ) {
        let mut bins = vec![[PackedSums::default(); CODES]; GROUP];
        // Its length is known to the compiler.
        let Some(bins) = bins.first_chunk_mut::<GROUP>() else { return };
        for block in rows.chunks(MOST_PACKED) {
            for start in (0..self.features.len()).step_by(GROUP) {
                let end = self.features.len().min(start + GROUP);
                let sizes = self.offsets[start..=end].windows(2).map(|ends| ends[1] - ends[0]);
                for (bins, n_codes) in bins.iter_mut().zip(sizes.clone()) {
                    bins[..n_codes].fill(PackedSums::default());
                }
                if !self.are_all {
                    let features = &self.features[start..end];
                    for &row in block {
                        let word = derivatives[row as usize];
                        let codes = binned.narrow_row(row as usize);
                        for (bins, &feature) in bins.iter_mut().zip(features) {
                            bins[usize::from(codes[feature])].add(word);
                        }
                    }
                } else if end - start == GROUP {
                    // A loop of constant length, which the compiler unrolls.
                    for &row in block {
                        let word = derivatives[row as usize];
                        let codes = binned.narrow_row(row as usize)[start..].first_chunk::<GROUP>();
                        for (bins, &code) in bins.iter_mut().zip(codes.into_iter().flatten()) {
                            bins[usize::from(code)].add(word);
                        }
                    }
                } else {
                    for &row in block {
                        let word = derivatives[row as usize];
                        let codes = &binned.narrow_row(row as usize)[start..end];
                        for (bins, &code) in bins.iter_mut().zip(codes) {
                            bins[usize::from(code)].add(word);
                        }
                    }
                }
                let sums = &mut sums[self.offsets[start]..self.offsets[end]];
                let found = bins.iter().zip(sizes).flat_map(|(bins, n_codes)| &bins[..n_codes]);
                sums.iter_mut().zip(found).for_each(|(sum, found)| *sum += found.sums());
            }
        }
    }

    fn add<T: Copy + std::ops::AddAssign>(
        &self,
        binned: &Binned,
        rows: &[u32],
        of_row: impl Fn(u32) -> T,
        bins: &mut [T],
    ) {
        for &row in rows {
            let more = of_row(row);
            let codes = binned.narrow_row(row as usize);
            for (&feature, &offset) in self.features.iter().zip(&self.offsets) {
                bins[offset + usize::from(codes[feature])] += more;
            }
        }
    }
}
