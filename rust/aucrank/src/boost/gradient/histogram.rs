//! Sums of derivatives, and numbers of rows, by bin.

use super::fit_rows::FitRows;
use super::sums::{CODES, MOST_PACKED, PackedSums, UnitSums};
use super::tree_rows::{Derivatives, NodeRows};
use crate::data::{Binned, FeatureBins};
use crate::{Interrupt, RankError, parallel};

/// Features whose packed bins are filled at a time: they stay in the first-level cache.
const GROUP: usize = 10;

/// Rows that fill all groups in turn, so that their codes are loaded into the cache once.
const BLOCK_ROWS: usize = 1024;

/// Prefetch distance in rows: those of a node are scattered over the matrix.
const AHEAD: usize = 24;

/// Minimum number of rows in a node counted by several threads.
const LEAST_PART: usize = 4096;

/// Sums of the rows of a node by bin.
#[derive(Debug)]
pub(super) enum BinSums {
    /// Sums of packed derivatives, of no more rows than fit.
    Packed(Vec<PackedSums>),
    Plain(Vec<UnitSums>),
}

/// Memory that is used again, node by node.
#[derive(Debug, Default)]
pub(super) struct HistogramMemory {
    packed: Vec<Vec<PackedSums>>,
    plain: Vec<Vec<UnitSums>>,
    /// A place for each code of each feature; all zero between uses.
    places: Vec<[PackedSums; CODES]>,
}

impl HistogramMemory {
    pub(super) fn take_back(&mut self, bins: Option<BinSums>) {
        match bins {
            Some(BinSums::Packed(bins)) => self.packed.push(bins),
            Some(BinSums::Plain(bins)) => self.plain.push(bins),
            None => {}
        }
    }

    fn packed(&mut self) -> Vec<PackedSums> {
        let mut bins = self.packed.pop().unwrap_or_default();
        bins.clear();
        bins
    }
}

impl BinSums {
    /// The sums of the other rows of a node that holds `n_rows` rows in addition to these.
    pub(super) fn without(self, part: &Self, n_rows: usize, memory: &mut HistogramMemory) -> Self {
        match (self, part) {
            (Self::Packed(mut bins), Self::Packed(part)) => {
                bins.iter_mut().zip(part).for_each(|(bin, part)| bin.subtract(*part));
                Self::Packed(bins)
            }
            (Self::Plain(bins), Self::Packed(part)) if n_rows <= MOST_PACKED => {
                let mut rest = memory.packed();
                let of_bin = |(bin, part): (&UnitSums, &PackedSums)| {
                    let mut rest = PackedSums::from(*bin);
                    rest.subtract(*part);
                    rest
                };
                rest.extend(bins.iter().zip(part).map(of_bin));
                memory.take_back(Some(Self::Plain(bins)));
                Self::Packed(rest)
            }
            (Self::Plain(mut bins), Self::Packed(part)) => {
                bins.iter_mut().zip(part).for_each(|(bin, part)| *bin -= part.sums());
                Self::Plain(bins)
            }
            (Self::Plain(mut bins), Self::Plain(part)) => {
                bins.iter_mut().zip(part).for_each(|(bin, part)| *bin -= *part);
                Self::Plain(bins)
            }
            (Self::Packed(_), Self::Plain(_)) => unreachable!("a part has no more rows"),
        }
    }
}

/// Some rows with an item for each.
type RowsWith<'a, D> = (&'a [u32], &'a [D]);

/// The concatenated bins of the features of a tree.
#[derive(Debug)]
pub(super) struct BinLayout {
    /// Ascending.
    pub(super) features: Vec<usize>,
    /// First bin of each feature, and the end of the last.
    offsets: Vec<usize>,
    /// Whether these are all features.
    are_all: bool,
}

impl BinLayout {
    pub(super) fn new(of_all: &[FeatureBins], features: Vec<usize>) -> Self {
        let mut offsets = vec![0];
        for &feature in &features {
            let n_codes = of_all[feature].n_codes();
            offsets.push(offsets[offsets.len() - 1] + n_codes);
        }
        let are_all = features.len() == of_all.len();
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
        node: &NodeRows<'_>,
        memory: &mut HistogramMemory,
        interrupt: &Interrupt,
    ) -> Result<BinSums, RankError> {
        match node.derivatives {
            Derivatives::Packed(words) if node.len() <= MOST_PACKED => {
                interrupt.check()?;
                let mut bins = memory.packed();
                let places = &mut memory.places;
                places.resize(self.features.len(), [PackedSums::default(); CODES]);
                self.add_packed(binned, node.rows, words, places);
                for (place, found) in places.iter_mut().enumerate() {
                    let found = &mut found[..self.offsets[place + 1] - self.offsets[place]];
                    bins.extend_from_slice(found);
                    found.fill(PackedSums::default());
                }
                Ok(BinSums::Packed(bins))
            }
            Derivatives::Packed(words) => {
                let first = memory.plain.pop();
                let of_part = |rows: &[u32], words: &[PackedSums], sums: &mut [UnitSums]| {
                    self.add_many_packed(binned, rows, words, sums);
                };
                self.in_parts(node.rows, words, first, of_part, interrupt).map(BinSums::Plain)
            }
            Derivatives::Plain(plain) => {
                let first = memory.plain.pop();
                let of_part = |rows: &[u32], plain: &[UnitSums], sums: &mut [UnitSums]| {
                    self.add(binned, rows.iter().copied().zip(plain.iter().copied()), sums);
                };
                self.in_parts(node.rows, plain, first, of_part, interrupt).map(BinSums::Plain)
            }
        }
    }

    /// Number of rows in each bin, counting copies.
    pub(super) fn counts(
        &self,
        data: &FitRows<'_>,
        rows: &[u32],
        interrupt: &Interrupt,
    ) -> Result<Vec<u64>, RankError> {
        let of_part = |rows: &[u32], _: &[u32], counts: &mut [u64]| {
            let rows = rows.iter().map(|&row| (row, data.count(row as usize)));
            self.add(&data.binned, rows, counts);
        };
        self.in_parts(rows, rows, None, of_part, interrupt)
    }

    /// Adds up the results of `of_part` on parts of the rows, in given or new memory.
    fn in_parts<D: Sync, T: Copy + Default + Send + std::ops::AddAssign>(
        &self,
        rows: &[u32],
        of_rows: &[D],
        memory: Option<Vec<T>>,
        of_part: impl Fn(&[u32], &[D], &mut [T]) + Sync,
        interrupt: &Interrupt,
    ) -> Result<Vec<T>, RankError> {
        let n_threads = crate::parallel::current_num_threads();
        // A part has several rows for each bin, which is added up at the end.
        let least = LEAST_PART.max(self.n_bins() / 8);
        let n_parts = match rows.len() / least {
            0 | 1 => 1,
            n if n >= 16 * n_threads => 4 * n_threads,
            n => n.min(n_threads),
        };
        let size = rows.len().div_ceil(n_parts).max(1);
        let first = memory.into_iter().map(Some).chain(std::iter::repeat_with(|| None));
        let parts = rows.chunks(size).zip(of_rows.chunks(size)).zip(first).collect();
        let of_part = |(rows, memory): (RowsWith<'_, D>, Option<Vec<T>>)| {
            interrupt.check()?;
            let ((rows, of_rows), mut sums) = (rows, memory.unwrap_or_default());
            sums.clear();
            sums.resize(self.n_bins(), T::default());
            of_part(rows, of_rows, &mut sums);
            Ok(sums)
        };
        // Integers: the sums are those of one part, whatever the number of threads.
        let mut parts = parallel::try_map(parts, of_part)?.into_iter();
        let mut sums = parts.next().unwrap_or_else(|| vec![T::default(); self.n_bins()]);
        for part in parts {
            sums.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
        }
        Ok(sums)
    }

    /// Adds the derivatives of some rows to the sums of their bins, on this thread.
    pub(super) fn add_sums(&self, binned: &Binned, node: &NodeRows<'_>, sums: &mut [UnitSums]) {
        match node.derivatives {
            Derivatives::Packed(words) if node.len() >= CODES => {
                self.add_many_packed(binned, node.rows, words, sums);
            }
            // For so few rows, clearing places for all codes would take longer.
            Derivatives::Packed(words) => {
                let words = words.iter().map(|word| word.sums());
                self.add(binned, node.rows.iter().copied().zip(words), sums);
            }
            Derivatives::Plain(plain) => {
                self.add(binned, node.rows.iter().copied().zip(plain.iter().copied()), sums);
            }
        }
    }

    /// Adds numbers of rows to those of their bins.
    pub(super) fn add_counts(
        &self,
        binned: &Binned,
        rows: impl Iterator<Item = (u32, u64)>,
        counts: &mut [u64],
    ) {
        self.add(binned, rows, counts);
    }

    /// Adds packed derivatives of any number of rows.
    fn add_many_packed(
        &self,
        binned: &Binned,
        rows: &[u32],
        words: &[PackedSums],
        sums: &mut [UnitSums],
    ) {
        let mut places = vec![[PackedSums::default(); CODES]; self.features.len()];
        for (rows, words) in rows.chunks(MOST_PACKED).zip(words.chunks(MOST_PACKED)) {
            self.add_packed(binned, rows, words, &mut places);
            for (place, found) in places.iter_mut().enumerate() {
                let sums = &mut sums[self.offsets[place]..self.offsets[place + 1]];
                for (sum, found) in sums.iter_mut().zip(found) {
                    *sum += std::mem::take(found).sums();
                }
            }
        }
    }

    /// Adds packed derivatives of at most [`MOST_PACKED`] rows to the places of their codes.
    fn add_packed(
        &self,
        binned: &Binned,
        rows: &[u32],
        words: &[PackedSums],
        places: &mut [[PackedSums; CODES]],
    ) {
        for (block, words) in words.chunks(BLOCK_ROWS).enumerate() {
            let rows = &rows[block * BLOCK_ROWS..];
            for (group, places) in places.chunks_mut(GROUP).enumerate() {
                let start = group * GROUP;
                let features = &self.features[start..start + places.len()];
                // The number of features is a constant, so that the loop over them is unrolled.
                macro_rules! add {
                    ($($n:literal)*) => {
                        match places.len() {
                            $($n => self.add_group::<$n>(binned, rows, words, features, places),)*
                            _ => unreachable!("a group has at most {GROUP} features"),
                        }
                    };
                }
                add!(1 2 3 4 5 6 7 8 9 10);
            }
        }
    }

    /// Adds the derivatives of the first rows, one each, to the places of their codes in `N`
    /// features.
    fn add_group<const N: usize>(
        &self,
        binned: &Binned,
        rows: &[u32],
        words: &[PackedSums],
        features: &[usize],
        places: &mut [[PackedSums; CODES]],
    ) {
        let (Some(places), Some(features)) =
            (places.first_chunk_mut::<N>(), features.first_chunk::<N>())
        else {
            return;
        };
        let last = rows.len() - 1;
        for (place, &word) in words.iter().enumerate() {
            prefetch(&binned.narrow_row(rows[(place + AHEAD).min(last)] as usize)[features[0]]);
            let codes = binned.narrow_row(rows[place] as usize);
            if self.are_all {
                let codes = codes[features[0]..].first_chunk::<N>();
                for (places, &code) in places.iter_mut().zip(codes.into_iter().flatten()) {
                    places[usize::from(code)].add(word);
                }
            } else {
                for (places, &feature) in places.iter_mut().zip(features) {
                    places[usize::from(codes[feature])].add(word);
                }
            }
        }
    }

    fn add<T: Copy + std::ops::AddAssign>(
        &self,
        binned: &Binned,
        rows: impl Iterator<Item = (u32, T)>,
        bins: &mut [T],
    ) {
        for (row, more) in rows {
            let codes = binned.narrow_row(row as usize);
            for (&feature, &offset) in self.features.iter().zip(&self.offsets) {
                bins[offset + usize::from(codes[feature])] += more;
            }
        }
    }
}

/// Prefetches data that will be read soon, if the processor supports it. Histograms of a million
/// rows take three quarters of the time.
#[inline]
fn prefetch(code: &u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which neither reads nor writes, and every processor of the kind has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(code).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = code;
}
