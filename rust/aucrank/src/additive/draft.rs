//! A feature during the construction of a scorecard: steps of a ranker, merged into bins.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::scorecard::CardFeature;
use crate::data::{Bins, ClassSums, FeatureSteps, FeatureTerm, Value, mix, place_among};
use crate::roc::Score;

/// Values of a feature that share a bin.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DraftBin {
    /// Their contribution to the score: the mean over their rows.
    value: f64,
    sums: ClassSums,
    /// Of a number: the start of the interval.
    start: f64,
    /// Of a category: its levels.
    levels: Vec<usize>,
}

impl DraftBin {
    fn new(value: f64, sums: ClassSums) -> Self {
        Self { value, sums, start: f64::NEG_INFINITY, levels: Vec::new() }
    }

    fn weight(&self) -> u64 {
        self.sums.pos + self.sums.neg
    }

    /// Absorbs the part above.
    fn join(&mut self, above: Self) {
        let (low, high) = (self.value.min(above.value), self.value.max(above.value));
        let (a, b) = (self.weight() as f64, above.weight() as f64);
        if a == 0.0 {
            self.value = above.value;
        } else if b > 0.0 {
            self.value = ((a * self.value + b * above.value) / (a + b)).clamp(low, high);
        }
        self.sums += above.sums;
        self.levels.extend(above.levels);
    }
}

/// A feature during the construction of a card.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    feature: usize,
    /// Number of categories, or `None` if it is numeric.
    n_levels: Option<u32>,
    /// Parts of the known values: of a number in ascending order, of a category by contribution.
    parts: Vec<DraftBin>,
    special: Vec<(f64, DraftBin)>,
    missing: DraftBin,
}

impl Draft {
    /// A part for each step of a step function, and for each special value and category, still
    /// without rows.
    #[expect(clippy::float_cmp, reason = "a step is between values that differ at all")]
    pub fn new(term: &FeatureTerm, n_levels: Option<u32>, special: &[f64]) -> Self {
        let part = |value: f64| DraftBin::new(value, ClassSums::default());
        let mut parts: Vec<DraftBin> = Vec::new();
        match &term.steps {
            FeatureSteps::Numeric { thresholds, values } => {
                parts.push(part(values[0]));
                // Start of the current run of special-value steps, from which the next part begins.
                let mut special_start = None;
                for (place, (&threshold, &value)) in thresholds.iter().zip(&values[1..]).enumerate()
                {
                    // A step that contains only a special value is that value's bin. If the ranker
                    // has a cut there, the step above begins at the cut, not at the next number.
                    let is_special = place_among(special, threshold).is_some()
                        && thresholds.get(place + 1) == Some(&threshold.next_up());
                    if is_special {
                        special_start = special_start.or(Some(threshold));
                        continue;
                    }
                    let start = special_start.take().unwrap_or(threshold);
                    if parts.last().is_none_or(|last| last.value != value) {
                        parts.push(DraftBin { start, ..part(value) });
                    }
                }
            }
            FeatureSteps::Categorical { .. } => {
                let of_level =
                    |level| DraftBin { levels: vec![level], ..part(term.value(level as f64)) };
                parts.extend((0..n_levels.unwrap_or(0) as usize).map(of_level));
            }
        }
        let special = special.iter().map(|&value| (value, part(term.value(value)))).collect();
        Self { feature: term.feature, n_levels, parts, special, missing: part(term.missing) }
    }

    /// Adds the rows of each of its [`Draft::bins`]. Parts without rows are merged with the
    /// neighbour of the nearest value; categories without rows count as missing (DECISIONS R5).
    #[expect(clippy::float_cmp, reason = "categories are one part where no value parts them")]
    pub fn count(&mut self, sums: &[ClassSums], total: ClassSums) {
        self.all_parts_mut().zip(sums).for_each(|(part, &sums)| part.sums = sums);
        if self.n_levels.is_some() {
            self.parts.retain(|part| part.sums.rows > 0);
            self.parts.sort_by(|a, b| a.value.total_cmp(&b.value));
            self.parts.dedup_by(|part, last| {
                let is_one = part.value == last.value;
                if is_one {
                    last.sums += part.sums;
                    last.levels.append(&mut part.levels);
                }
                is_one
            });
        }
        self.join_small(0.0, total);
    }

    /// The feature.
    pub fn feature(&self) -> usize {
        self.feature
    }

    /// Merges parts that hold less than a share of all rows with the neighbour of the nearest
    /// value, ties below; the smallest part first. A part without rows is always merged.
    pub fn join_small(&mut self, share: f64, total: ClassSums) {
        // A quotient, since the product with a share of 0.07 may round above a whole number of
        // rows.
        let total = (total.pos + total.neg) as f64;
        let is_small = |weight: u64| weight == 0 || (weight as f64 / total) < share;
        let mut parts: Vec<Option<DraftBin>> = self.parts.drain(..).map(Some).collect();
        // Indices of the neighbours; beyond the ends there are none.
        let mut below: Vec<usize> = (0..parts.len()).map(|place| place.wrapping_sub(1)).collect();
        let mut above: Vec<usize> = (1..=parts.len()).collect();
        let weight = |part: &Option<DraftBin>| part.as_ref().map_or(0, DraftBin::weight);
        let mut queue: BinaryHeap<Reverse<(u64, usize)>> =
            parts.iter().enumerate().map(|(place, part)| Reverse((weight(part), place))).collect();
        while let Some(Reverse((weight, place))) = queue.pop() {
            let Some(part) = parts[place].as_ref().filter(|part| part.weight() == weight) else {
                continue; // It has grown since.
            };
            if !is_small(weight) {
                break;
            }
            let gap = |other: usize| {
                let other = parts.get(other)?.as_ref()?;
                Some((part.value - other.value).abs())
            };
            let low = match (gap(below[place]), gap(above[place])) {
                (None, None) => break,
                (Some(down), Some(up)) if up < down => place,
                (Some(_), _) => below[place],
                (None, Some(_)) => place,
            };
            let high = above[low];
            if let (Some(upper), Some(lower)) = (parts[high].take(), parts[low].as_mut()) {
                lower.join(upper);
                queue.push(Reverse((lower.weight(), low)));
            }
            above[low] = above[high];
            if let Some(below) = below.get_mut(above[high]) {
                *below = low;
            }
        }
        self.parts = parts.into_iter().flatten().collect();
    }

    /// Pools neighbours until the values of a number are monotone, in the direction that changes
    /// them less in the mean square over rows, ties increasing. Special and missing values are
    /// excluded.
    pub fn make_monotone(&mut self) {
        if self.n_levels.is_some() {
            return;
        }
        let (rising, falling) = (self.pooled(|low, high| low < high), self.pooled(|l, h| l > h));
        self.parts = if falling.0 < rising.0 { falling.1 } else { rising.1 };
    }

    /// Pool adjacent violators, with the squared change that it makes.
    fn pooled(&self, in_order: impl Fn(f64, f64) -> bool) -> (f64, Vec<DraftBin>) {
        let mut pools: Vec<(usize, DraftBin)> = Vec::new();
        for part in &self.parts {
            pools.push((1, part.clone()));
            while let [.., (_, lower), (_, upper)] = &pools[..]
                && !in_order(lower.value, upper.value)
                && let Some((n_upper, upper)) = pools.pop()
                && let Some((n_lower, lower)) = pools.last_mut()
            {
                *n_lower += n_upper;
                lower.join(upper);
            }
        }
        let values = pools.iter().flat_map(|(n, pool)| std::iter::repeat_n(pool.value, *n));
        let change = |(part, value): (&DraftBin, f64)| {
            part.weight() as f64 * (part.value - value) * (part.value - value)
        };
        let change = self.parts.iter().zip(values).map(change).sum();
        (change, pools.into_iter().map(|(_, pool)| pool).collect())
    }

    fn all_parts(&self) -> impl Iterator<Item = &DraftBin> {
        self.parts.iter().chain(self.special.iter().map(|(_, part)| part)).chain([&self.missing])
    }

    fn all_parts_mut(&mut self) -> impl Iterator<Item = &mut DraftBin> {
        let special = self.special.iter_mut().map(|(_, part)| part);
        self.parts.iter_mut().chain(special).chain([&mut self.missing])
    }

    /// The contribution of each bin, that of missing values last.
    pub fn values(&self) -> Vec<f64> {
        self.all_parts().map(|part| part.value).collect()
    }

    /// Transforms the contribution of each bin.
    pub fn map_values(&mut self, of: impl Fn(f64) -> f64) {
        self.all_parts_mut().for_each(|part| part.value = of(part.value));
    }

    pub fn bins(&self) -> Bins {
        let Some(n_levels) = self.n_levels else {
            let cuts = self.parts[1..].iter().map(|part| part.start).collect();
            let special = self.special.iter().map(|&(value, _)| value).collect();
            return Bins::Numeric { cuts, special };
        };
        let mut bin_of_level = vec![self.parts.len(); n_levels as usize];
        for (bin, part) in self.parts.iter().enumerate() {
            part.levels.iter().for_each(|&level| bin_of_level[level] = bin);
        }
        Bins::Categorical { bin_of_level, n_bins: self.parts.len() }
    }

    /// The feature with points `scale * value`, shifted so that the lowest is 0, and that shift;
    /// neighbours of equal points are merged.
    pub fn finish(mut self, scale: f64) -> (CardFeature, f64) {
        let lowest = self.all_parts().map(|part| scale * part.value).fold(f64::INFINITY, f64::min);
        let points = |part: &DraftBin| (scale * part.value - lowest).round() as i64;
        let mut kept: Vec<(i64, DraftBin)> = Vec::new();
        for part in self.parts.drain(..) {
            match kept.last_mut() {
                // The mean of merged values need not round to their points.
                Some((last, lower)) if *last == points(&part) => lower.join(part),
                _ => kept.push((points(&part), part)),
            }
        }
        let mut of_bin = Vec::with_capacity(kept.len() + self.special.len() + 1);
        for (points, part) in kept {
            of_bin.push(points);
            self.parts.push(part);
        }
        of_bin.extend(self.special.iter().map(|(_, part)| points(part)));
        of_bin.push(points(&self.missing));
        let card = CardFeature {
            feature: self.feature,
            bins: self.bins(),
            sums: self.all_parts().map(|part| part.sums).collect(),
            values: self.values(),
            points: of_bin,
        };
        (card, lowest)
    }
}

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
pub(super) struct KeyIntervals {
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

impl KeyIntervals {
    /// Maximum number of cells beyond those requested.
    pub const MOST_OTHERS: usize = N_OCTAVES + 1;

    /// Number of cells of infinity and of missing values, which follow those of finite numbers.
    pub const N_OF_NO_NUMBER: usize = 3;

    /// About `n_cells` cells for the finite numbers among `values`; there must be some.
    pub fn lay_out<T: Value>(values: &[T], n_cells: usize) -> Self {
        let n_rows = values.len();
        let n_sampled = n_rows.div_ceil(16).min(SAMPLE);
        let mut sample: Vec<u64> = (0..n_sampled)
            .map(|place| {
                // One row of each run at a varying position, so that no period of the rows is
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
        // A multiplication, whose upper half is the cell: no division and no search. Keys beyond
        // the sampled ones fall into the first or the last cell of their octave, so that cells
        // remain in order.
        let steps = u128::from(key.saturating_sub(octave.first));
        let cell = ((steps * u128::from(octave.density)) >> u64::BITS) as u64;
        octave.base as usize + cell.min(octave.last.into()) as usize
    }
}
