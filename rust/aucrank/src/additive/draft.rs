//! A feature during the construction of a scorecard: steps of a ranker, merged into bins.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::scorecard::CardFeature;
use crate::data::{Bins, ClassSums, FeatureTerm, Steps, place_among};

/// Values of a feature that share a bin.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    /// Their contribution to the score: the mean over their rows.
    value: f64,
    sums: ClassSums,
    /// Of a number: the start of the interval.
    start: f64,
    /// Of a category: its levels.
    levels: Vec<usize>,
}

impl Part {
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
    parts: Vec<Part>,
    special: Vec<(f64, Part)>,
    missing: Part,
}

impl Draft {
    /// A part for each step of a step function, and for each special value and category, still
    /// without rows.
    #[expect(clippy::float_cmp, reason = "a step is between values that differ at all")]
    pub fn new(term: &FeatureTerm, n_levels: Option<u32>, special: &[f64]) -> Self {
        let part = |value: f64| Part::new(value, ClassSums::default());
        let mut parts: Vec<Part> = Vec::new();
        match &term.steps {
            Steps::Numeric { thresholds, values } => {
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
                        parts.push(Part { start, ..part(value) });
                    }
                }
            }
            Steps::Categorical { .. } => {
                let of_level =
                    |level| Part { levels: vec![level], ..part(term.value(level as f64)) };
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
        let mut parts: Vec<Option<Part>> = self.parts.drain(..).map(Some).collect();
        // Indices of the neighbours; beyond the ends there are none.
        let mut below: Vec<usize> = (0..parts.len()).map(|place| place.wrapping_sub(1)).collect();
        let mut above: Vec<usize> = (1..=parts.len()).collect();
        let weight = |part: &Option<Part>| part.as_ref().map_or(0, Part::weight);
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
    fn pooled(&self, in_order: impl Fn(f64, f64) -> bool) -> (f64, Vec<Part>) {
        let mut pools: Vec<(usize, Part)> = Vec::new();
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
        let change = |(part, value): (&Part, f64)| {
            part.weight() as f64 * (part.value - value) * (part.value - value)
        };
        let change = self.parts.iter().zip(values).map(change).sum();
        (change, pools.into_iter().map(|(_, pool)| pool).collect())
    }

    fn all_parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().chain(self.special.iter().map(|(_, part)| part)).chain([&self.missing])
    }

    fn all_parts_mut(&mut self) -> impl Iterator<Item = &mut Part> {
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
        let points = |part: &Part| (scale * part.value - lowest).round() as i64;
        let mut kept: Vec<(i64, Part)> = Vec::new();
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
