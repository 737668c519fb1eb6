//! A partition of the real line into cells with about equal numbers of rows.

use crate::data::{Value, mix};
use crate::roc::Score;

/// Maximum size of the sample from which cells are laid out.
const SAMPLE: usize = 4096;

/// Bits of the mantissa of a double; the other bits of its key are its octave.
const MANTISSA_BITS: u32 = 52;

/// Number of sign and exponent combinations.
const N_OCTAVES: usize = 1 << (u64::BITS - MANTISSA_BITS);

/// Consecutive intervals of numbers, ascending.
///
/// Numbers are represented by their keys ([`Score::key`]), integers in the same order, with sign
/// and exponent in the leading bits. Numbers of one sign and one exponent form an octave. Each
/// octave has cells in proportion to its part of a sample, all of equal width between its least and
/// its greatest sampled number. So a number finds its cell without a search or a branch, and cells
/// are dense where rows are, from values next to zero to the largest. Values that the sample misses
/// make cells uneven, never wrong.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    octaves: Box<[Octave; N_OCTAVES]>,
    n: usize,
    /// Keys in the sample, ascending.
    sample: Vec<u64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Octave {
    /// Keys up to this one are in the first cell.
    first: u64,
    /// Cells per unit of the key, times 2^64.
    density: u64,
    /// Index of the first cell.
    base: u32,
    /// The last cell, relative to the first.
    last: u32,
}

impl Octave {
    fn new(base: u32, first: u64, density: u64, n_cells: u64) -> Self {
        Self { first, density, base, last: n_cells as u32 - 1 }
    }
}

impl Cells {
    /// Maximum number of cells beyond those requested.
    pub const MOST_OTHERS: usize = N_OCTAVES + 1;

    /// Number of cells of infinity and of missing values, which follow those of finite numbers.
    pub const N_OF_NO_NUMBER: usize = 3;

    /// About `n_cells` cells for the finite numbers among `values`, of which there must be some.
    pub fn lay_out<T: Value>(values: &[T], n_cells: usize) -> Self {
        let n_rows = values.len();
        let n_sampled = n_rows.div_ceil(16).min(SAMPLE);
        let mut sample: Vec<u64> = (0..n_sampled)
            .map(|place| {
                // One row of each stretch at a varying position, so that no period of the rows is
                // aliased.
                let (start, end) = (place * n_rows / n_sampled, (place + 1) * n_rows / n_sampled);
                let row = start + (mix(place as u64) % (end - start) as u64) as usize;
                let value: f64 = values[row].into();
                value.key()
            })
            .collect();
        sample.sort_unstable();
        Self::of_sample(sample, n_cells)
    }

    /// About `n_cells` cells, laid out from the keys of some numbers, ascending.
    pub fn of_sample(sample: Vec<u64>, n_cells: usize) -> Self {
        let n_sampled = sample.len();
        // The outermost octaves contain infinity, next to the finite numbers, and NaN.
        let infinite = [f64::NEG_INFINITY, f64::INFINITY].map(Score::key);
        let mut octaves = vec![Octave::default(); N_OCTAVES];
        let mut rest = &sample[sample.partition_point(|&key| key <= infinite[0])..];
        let mut base = 0;
        for (place, octave) in octaves.iter_mut().enumerate().take(N_OCTAVES - 1).skip(1) {
            let is_here = |key: &u64| key >> MANTISSA_BITS <= place as u64;
            // The search is over few octaves: numbers are in about ten of them.
            let n_here =
                if rest.first().is_some_and(is_here) { rest.partition_point(is_here) } else { 0 };
            let (here, after) = rest.split_at(n_here);
            rest = after;
            *octave = match here {
                [] => Octave::new(base, 0, 0, 1),
                [first, ..] => {
                    let n_cells = (n_cells * n_here / n_sampled).max(1) as u64;
                    let width = here[n_here - 1] - first + 1;
                    let density = (u128::from(n_cells) << u64::BITS) / u128::from(width);
                    let density = u64::try_from(density).unwrap_or(u64::MAX);
                    Octave::new(base, *first, density, n_cells)
                }
            };
            base += octave.last + 1;
        }
        // At this density two key steps from `first` are one cell on, and one step is none.
        octaves[0] = Octave::new(base, infinite[0] - 2, u64::MAX, 2);
        octaves[N_OCTAVES - 1] = Octave::new(base + 1, infinite[1] - 1, u64::MAX, 2);
        let octaves = octaves.into_boxed_slice().try_into().expect("as many as octaves");
        Self { octaves, n: base as usize, sample }
    }

    /// Number of cells of finite numbers; they come first, in ascending order.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The cell of infinity of either sign.
    pub fn infinite(&self) -> usize {
        self.n + 1
    }

    /// The two cells of missing values, by the sign bit of the NaN.
    pub fn missing(&self) -> [usize; 2] {
        [self.n, self.n + 2]
    }

    /// For each cell the key of a sampled number in it, or 0, which is the key of no number. `None`
    /// if few values occur twice in the sample.
    pub fn ties(&self) -> Option<Vec<u64>> {
        let n_distinct = self.sample.chunk_by(|a, b| a == b).count();
        if 2 * n_distinct > self.sample.len() {
            return None;
        }
        let mut keys = vec![0; self.n];
        for &key in &self.sample {
            if let Some(place) = keys.get_mut(self.of(key)) {
                *place = key;
            }
        }
        Some(keys)
    }

    /// The cell of a number, by its key.
    #[inline]
    pub fn of(&self, key: u64) -> usize {
        let octave = &self.octaves[(key >> MANTISSA_BITS) as usize];
        let steps = u128::from(key.saturating_sub(octave.first));
        let cell = ((steps * u128::from(octave.density)) >> u64::BITS) as u64;
        octave.base as usize + cell.min(octave.last.into()) as usize
    }
}
