//! Cells of about equally many rows, along the order of a number.

use crate::data::{Value, mix};
use crate::roc::Score;

/// Rows at most in the sample by which cells are laid out.
const SAMPLE: usize = 4096;

/// Bits of the mantissa of a double; the rest of its key is its octave.
const MANTISSA_BITS: u32 = 52;

/// Signs and exponents.
const N_OCTAVES: usize = 1 << (u64::BITS - MANTISSA_BITS);

/// Runs of numbers in ascending order.
///
/// A number is known here by its key ([`Score::key`]), a whole number that ascends as numbers do, and
/// has sign and exponent in its leading bits. Numbers of one sign and one exponent are an octave. Each octave has cells in proportion to its
/// part of a sample, all of one width between its least and its greatest number there. So a number
/// finds its cell without a search or a branch, and cells lie thick where rows do, from the values
/// next to zero to the largest. What the sample misses makes cells uneven, never wrong.
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
    /// Cells for each step of the key, times 2^64.
    density: u64,
    /// Number of the first cell.
    base: u32,
    /// The last cell, counted from the first.
    last: u32,
}

impl Octave {
    fn new(base: u32, first: u64, density: u64, n_cells: u64) -> Self {
        Self { first, density, base, last: n_cells as u32 - 1 }
    }
}

impl Cells {
    /// Cells at most, beside those that are asked for.
    pub const MOST_OTHERS: usize = N_OCTAVES + 1;

    /// About `n_cells` cells for the finite numbers among `values`, which are not none.
    pub fn lay_out<T: Value>(values: &[T], n_cells: usize) -> Self {
        let n_rows = values.len();
        let n_sampled = n_rows.div_ceil(16).min(SAMPLE);
        let mut sample: Vec<u64> = (0..n_sampled)
            .map(|place| {
                // Some row of each stretch, so that no period of the rows is in step with it.
                let (start, end) = (place * n_rows / n_sampled, (place + 1) * n_rows / n_sampled);
                let row = start + (mix(place as u64) % (end - start) as u64) as usize;
                let value: f64 = values[row].into();
                value.key()
            })
            .collect();
        sample.sort_unstable();
        // The outermost octaves hold infinity, next to the finite numbers, and what is missing.
        let infinite = [f64::NEG_INFINITY, f64::INFINITY].map(Score::key);
        let mut octaves = vec![Octave::default(); N_OCTAVES];
        let mut rest = &sample[sample.partition_point(|&key| key <= infinite[0])..];
        let mut base = 0;
        for (place, octave) in octaves.iter_mut().enumerate().take(N_OCTAVES - 1).skip(1) {
            let is_here = |key: &u64| key >> MANTISSA_BITS <= place as u64;
            // Few octaves are searched: numbers are in some ten of them.
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
        // Two steps from `first` is one cell on at this density, one step is none.
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

    /// The two cells of what is missing, by the sign bit of the NaN.
    pub fn missing(&self) -> [usize; 2] {
        [self.n, self.n + 2]
    }

    /// For each cell a key of the sample that is in it, and 0, the key of no number, where there is
    /// none. `None` if few values occur twice in the sample.
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
