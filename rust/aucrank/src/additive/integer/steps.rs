//! The best points of one feature, those of the others fixed.

use std::ops::{Range, RangeInclusive};

use super::rows::CandidateFeature;
use super::shifts::PairsByShift;

/// Least rise of the AUC that is one, above the error of its sums.
pub(super) const LEAST_GAIN: f64 = 1e-9;

/// What the points of a feature may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineLimits {
    /// Greatest difference of points.
    pub(super) most_points: i32,
    pub(super) most_lines: usize,
    /// Questions that are left for the feature.
    pub(super) most_questions: usize,
    /// Least weight of a line of ordered bins.
    pub(super) least_weight: f64,
    /// AUC that a question must gain.
    pub(super) price: f64,
    /// Whether the feature must have a question.
    pub(super) is_required: bool,
}

/// Points of a feature, and the area with them less the price of its questions.
#[derive(Debug, Clone)]
pub(super) struct FeaturePoints {
    pub(super) points: Vec<i32>,
    pub(super) net: f64,
}

/// Number of questions about a feature that can be answered by yes or no: one between each two
/// lines, and one for each special or missing value with points of its own.
pub(super) fn n_questions(feature: &CandidateFeature, points: &[i32]) -> usize {
    let (ordered, apart) = points.split_at(feature.n_ordered);
    let between = ordered.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let sizes = &feature.sizes[feature.n_ordered..];
    let own = apart.iter().zip(sizes);
    let own = own.filter(|(points, size)| **size > 0 && !ordered.contains(points)).count();
    if feature.sizes[..feature.n_ordered].iter().any(|&size| size > 0) {
        between + own
    } else {
        // The first of the values apart is the line that the others differ from.
        between + own.saturating_sub(1)
    }
}

impl LineLimits {
    /// Price of the questions of a feature; `None` if these points are not allowed.
    pub(super) fn price(&self, feature: &CandidateFeature, points: &[i32]) -> Option<f64> {
        let (mut n_lines, mut weight) = (1, 0);
        for bin in 0..feature.n_ordered {
            let is_new = bin > 0 && points[bin] != points[bin - 1];
            if is_new {
                let rise = (points[bin] - points[bin - 1]).signum();
                if (weight as f64) < self.least_weight || rise == -i32::from(feature.direction) {
                    return None;
                }
                (n_lines, weight) = (n_lines + 1, 0);
            }
            weight += feature.sizes[bin];
        }
        let is_small = n_lines > 1 && (weight as f64) < self.least_weight;
        let (low, high) =
            points.iter().fold((0, 0), |(low, high), &at| (at.min(low), at.max(high)));
        if is_small || n_lines > self.most_lines || high - low > self.most_points {
            return None;
        }
        let n_questions = n_questions(feature, points);
        if n_questions > self.most_questions || (self.is_required && n_questions == 0) {
            return None;
        }
        Some(self.price * n_questions as f64)
    }
}

/// Points from which no move gains, from those given: a line or a part of it at one of its ends
/// gets other points, all above a bin rise or fall, a cut moves, or the values of a bin apart get
/// other points. `None` if no points are allowed.
pub(super) fn best_steps(
    feature: &CandidateFeature,
    pairs: &PairsByShift,
    start: &[i32],
    limits: &LineLimits,
) -> Option<FeaturePoints> {
    let mut best = FeaturePoints { points: start.to_vec(), net: f64::NEG_INFINITY };
    if let Some(price) = limits.price(feature, start) {
        best.net = pairs.area(start) - price;
    }
    loop {
        let mut moves = Moves {
            feature,
            pairs,
            limits,
            area: pairs.area(&best.points),
            from: &best.points,
            moved: best.points.clone(),
            found: None,
            floor: best.net + LEAST_GAIN,
        };
        moves.try_all();
        match moves.found {
            Some(points) => {
                let points = from_zero(feature, &points);
                // Sums of changes differ from the area in the last bits.
                let Some(price) = limits.price(feature, &points) else { break };
                let net = pairs.area(&points) - price;
                if net <= best.net {
                    break;
                }
                best = FeaturePoints { points, net };
            }
            None => break,
        }
    }
    (best.net > f64::NEG_INFINITY).then_some(best)
}

/// Points shifted so that the least of a bin with rows is 0.
fn from_zero(feature: &CandidateFeature, points: &[i32]) -> Vec<i32> {
    let of_rows = || points.iter().zip(&feature.sizes).filter(|(_, size)| **size > 0);
    let least = of_rows().map(|(&points, _)| points).min().unwrap_or(0);
    let shifted = |(&points, &size): (&i32, &u64)| if size > 0 { points - least } else { 0 };
    points.iter().zip(&feature.sizes).map(shifted).collect()
}

/// The moves from some points. Each is a chain of changes of one bin, so that the area after each
/// change costs as many look-ups as there are bins.
struct Moves<'a> {
    feature: &'a CandidateFeature,
    pairs: &'a PairsByShift,
    limits: &'a LineLimits,
    from: &'a [i32],
    /// Area with these points.
    area: f64,
    moved: Vec<i32>,
    /// The best points so far, and their net area.
    found: Option<Vec<i32>>,
    floor: f64,
}

impl Moves<'_> {
    /// Gives bins other points, one after another, and judges the points after each.
    fn chain(&mut self, bins: impl Iterator<Item = usize>, value: impl Fn(i32) -> i32) {
        let mut area = self.area;
        let mut changed = None;
        for bin in bins {
            let value = value(self.from[bin]);
            area += self.pairs.change(&self.moved, bin, value);
            self.moved[bin] = value;
            let (first, last) = changed.unwrap_or((bin, bin));
            changed = Some((bin.min(first), bin.max(last)));
            // No price makes up for too small an area.
            if area > self.floor
                && let Some(price) = self.limits.price(self.feature, &self.moved)
                && area - price > self.floor
            {
                self.floor = area - price;
                self.found = Some(self.moved.clone());
            }
        }
        if let Some((first, last)) = changed {
            self.moved[first..=last].copy_from_slice(&self.from[first..=last]);
        }
    }

    /// Values that a bin may get without a difference out of the limits.
    fn values(&self) -> RangeInclusive<i32> {
        let most = self.limits.most_points;
        let (low, high) =
            self.from.iter().fold((0, 0), |(low, high), &at| (at.min(low), at.max(high)));
        high - most..=low + most
    }

    fn try_all(&mut self) {
        let n_ordered = self.feature.n_ordered;
        let from = self.from;
        let starts = (1..n_ordered).filter(|&bin| from[bin] != from[bin - 1]);
        let bounds: Vec<usize> =
            std::iter::once(0).chain(starts).chain(std::iter::once(n_ordered)).collect();
        let is_flat = bounds.len() == 2;
        for pair in bounds.windows(2) {
            let (start, end) = (pair[0], pair[1]);
            for value in self.values().filter(|&value| value != from[start]) {
                self.chain(start..end, |_| value);
                self.chain((start + 1..end).rev(), |_| value);
                if is_flat {
                    // The extremes may differ from the middle alone.
                    for first in start + 1..end {
                        self.chain(first..end - 1, |_| value);
                    }
                }
            }
        }
        let (low, high) = (*self.values().start(), *self.values().end());
        for rise in low..=high {
            // As far down as all values are within the limits.
            let is_within = |&bin: &usize| (low..=high).contains(&(from[bin] + rise));
            self.chain((1..n_ordered).rev().take_while(is_within), |points| points + rise);
        }
        for cut in bounds.windows(3) {
            let (start, cut, end) = (cut[0], cut[1], cut[2]);
            self.chain((start + 1..cut).rev(), |_| from[cut]);
            self.chain(cut..end - 1, |_| from[start]);
        }
        let apart = from.iter().enumerate().skip(n_ordered);
        for (bin, &at) in apart.filter(|&(bin, _)| self.feature.sizes[bin] > 0) {
            for value in self.values().filter(|&value| value != at) {
                self.chain(std::iter::once(bin), |_| value);
            }
        }
    }
}

/// The points with one line a point higher or lower, or one cut a bin higher or lower.
pub(super) fn small_moves(feature: &CandidateFeature, points: &[i32]) -> Vec<Vec<i32>> {
    let mut moves = Vec::new();
    let mut lines: Vec<Range<usize>> = Vec::new();
    for bin in 0..feature.n_bins() {
        match lines.last_mut() {
            Some(line) if bin < feature.n_ordered && points[line.start] == points[bin] => {
                line.end = bin + 1;
            }
            _ if bin < feature.n_ordered || feature.sizes[bin] > 0 => lines.push(bin..bin + 1),
            _ => {}
        }
    }
    for line in &lines {
        for rise in [-1, 1] {
            let mut moved = points.to_vec();
            for at in &mut moved[line.clone()] {
                *at += rise;
            }
            moves.push(from_zero(feature, &moved));
        }
    }
    for pair in lines.windows(2).filter(|pair| pair[1].end <= feature.n_ordered) {
        let cut = pair[1].start;
        for (bin, value) in [(cut - 1, points[cut]), (cut, points[cut - 1])] {
            let mut moved = points.to_vec();
            moved[bin] = value;
            moves.push(from_zero(feature, &moved));
        }
    }
    moves
}

/// Points from which moves begin: one step up and one step down, each the best of its kind, and no
/// step.
pub(super) fn first_steps(
    feature: &CandidateFeature,
    pairs: &PairsByShift,
    limits: &LineLimits,
) -> Vec<Vec<i32>> {
    let flat = vec![0; feature.n_bins()];
    let area = pairs.area(&flat);
    let mut best: [Option<FeaturePoints>; 2] = [None, None];
    for points in 1..=limits.most_points {
        let up: &mut dyn Iterator<Item = usize> = &mut (1..feature.n_ordered).rev();
        let down: &mut dyn Iterator<Item = usize> = &mut (0..feature.n_ordered.max(1) - 1);
        for (bins, best) in [up, down].into_iter().zip(&mut best) {
            let (mut steps, mut area) = (flat.clone(), area);
            for bin in bins {
                area += pairs.change(&steps, bin, points);
                steps[bin] = points;
                let Some(price) = limits.price(feature, &steps) else { continue };
                if best.as_ref().is_none_or(|best| area - price > best.net + LEAST_GAIN) {
                    *best = Some(FeaturePoints { points: steps.clone(), net: area - price });
                }
            }
        }
    }
    let mut found: Vec<Vec<i32>> = best.into_iter().flatten().map(|best| best.points).collect();
    found.push(flat);
    found
}
