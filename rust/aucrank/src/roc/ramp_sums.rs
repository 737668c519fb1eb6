//! Value and slopes of the ramp statistic of sorted scores, in O(n).
//!
//! The partners of a row on the central piece are contiguous in order of the scores. One walk finds
//! both ends: if the first partner of row i is beyond row j, row i is the end of the partners of
//! row j. The walk has no data-dependent branch, and four stretches of the scores are walked in
//! lockstep, since each step depends on the one before.
//!
//! The statistic is linear in the scores between two corners, so it is a number of pairs plus the
//! sum of slope times score. Slopes times the distance from a nearby reference score are summed in
//! `f64`; the rest, the reference score times the sum of the slopes near it, is an integer times a
//! score, and summed in [`Exact`]. So scores that are large relative to the ramp lose no digits.
//!
//! Partial sums are over parts that begin at fixed shares of the total weight: the same for any
//! number of threads, any order of the rows, and for a row of weight 2 as for two rows.

use std::fmt::Debug;
use std::ops::{Add, Sub};

use super::ramp::Ramp;
use crate::{RankError, parallel};

/// Weight of both classes in one word.
pub(super) trait ClassPair:
    Copy + Default + Debug + Send + Sync + PartialEq + Add<Output = Self> + Sub<Output = Self>
{
    fn new(neg: u64, pos: u64) -> Self;
    fn neg(self) -> u64;
    fn pos(self) -> u64;
}

/// Weights less than 2^32.
impl ClassPair for u64 {
    #[inline]
    fn new(neg: u64, pos: u64) -> Self {
        pos << 32 | neg
    }

    #[inline]
    fn neg(self) -> u64 {
        self & 0xFFFF_FFFF
    }

    #[inline]
    fn pos(self) -> u64 {
        self >> 32
    }
}

/// Weights less than 2^64.
impl ClassPair for u128 {
    #[inline]
    fn new(neg: u64, pos: u64) -> Self {
        Self::from(pos) << 64 | Self::from(neg)
    }

    #[inline]
    fn neg(self) -> u64 {
        self as u64
    }

    #[inline]
    fn pos(self) -> u64 {
        (self >> 64) as u64
    }
}

/// Target weight of a part, in units.
const PART: u64 = 256;

/// Maximum number of parts.
const MOST_PARTS: u64 = 256;

/// Stretches walked in lockstep.
const LANES: usize = 4;

/// Sorted scores, and the class weight below each.
#[derive(Clone, Copy)]
pub(super) struct Ordered<'a, P> {
    /// Ascending and finite, possibly repeated.
    pub scores: &'a [f64],
    /// Prefix sums of the class weights, one entry longer than the scores.
    pub below: &'a [P],
}

/// Contribution of one part to the statistic.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RampSums {
    /// Slope times distance from a nearby reference score.
    near: f64,
    /// Pairs on the central piece, those of positive rows less those of negative ones, times score.
    central: Exact,
    /// All pairs, likewise, times score.
    all: Exact,
    /// Pairs beyond the upper corner less those beyond the lower one.
    outside: i128,
    /// Twice the number of concordant pairs, a tie counting one.
    wins: u128,
}

impl RampSums {
    fn join(&mut self, other: &Self) {
        self.near += other.near;
        self.central.join(other.central);
        self.all.join(other.all);
        self.outside += other.outside;
        self.wins += other.wins;
    }

    /// The ramp AUC, given the total weights of the classes, negatives first.
    pub fn value(&self, ramp: &Ramp, total: [u64; 2]) -> Result<f64, RankError> {
        let pairs = pairs(total) as f64;
        let clipped = ramp.slope() * self.central.value() + 0.5 * self.outside as f64;
        let value = 0.5
            + (1.0 - ramp.side_slope) * clipped / pairs
            + ramp.side_slope * ramp.slope() * self.all.value() / pairs
            + self.near;
        if value.is_finite() {
            return Ok(value);
        }
        Err(RankError::BadParameter {
            name: "the ramp AUC",
            value: "beyond f64".to_string(),
            rule: "finite: scores are too large for their differences to be added up",
        })
    }

    /// The AUC, given the total weights of the classes, negatives first.
    pub fn auc(&self, total: [u64; 2]) -> f64 {
        self.wins as f64 / (2 * pairs(total)) as f64
    }
}

fn pairs([n_neg, n_pos]: [u64; 2]) -> u128 {
    u128::from(n_neg) * u128::from(n_pos)
}

/// Where the partners of each row begin and end in sorted order, and where parts begin.
#[derive(Debug, Clone, Default)]
pub(super) struct Partners {
    first: Vec<u32>,
    end: Vec<u32>,
    /// Start of each part, and the end of the last.
    parts: Vec<usize>,
    firsts: Vec<usize>,
}

/// A stretch of sorted rows in the walk.
#[derive(Default)]
struct Lane<'a> {
    /// Row whose first partner is sought, and the candidate.
    row: usize,
    partner: usize,
    /// Initial values of both.
    start: (usize, usize),
    /// First partner of each row of the stretch.
    first: &'a mut [u32],
    /// End of the partners of each row from the first candidate to that of the next stretch.
    end: &'a mut [u32],
}

impl Lane<'_> {
    /// Advances the row or the candidate. Candidates cannot run out: each row is its own partner.
    #[inline]
    fn step(&mut self, scores: &[f64], half_width: f64) {
        self.first[self.row - self.start.0] = self.partner as u32;
        // For the last rows of a stretch the candidate may be the first one of the next stretch.
        if let Some(end) = self.end.get_mut(self.partner - self.start.1) {
            *end = self.row as u32;
        }
        let inside = scores[self.row] - scores[self.partner] <= half_width;
        self.row += usize::from(inside);
        self.partner += usize::from(!inside);
    }

    #[inline]
    fn goes_on(&self) -> bool {
        self.row - self.start.0 < self.first.len()
    }
}

fn walk([mut a, mut b, mut c, mut d]: [Lane<'_>; LANES], scores: &[f64], half_width: f64) {
    while a.goes_on() && b.goes_on() && c.goes_on() && d.goes_on() {
        a.step(scores, half_width);
        b.step(scores, half_width);
        c.step(scores, half_width);
        d.step(scores, half_width);
    }
    for mut lane in [a, b, c, d] {
        while lane.goes_on() {
            lane.step(scores, half_width);
        }
        // The remaining partners end where the next stretch begins.
        if let Some(rest) = lane.end.get_mut(lane.partner - lane.start.1..) {
            rest.fill(lane.row as u32);
        }
    }
}

impl Partners {
    /// Finds the partners of every row, on all threads or on this one.
    pub fn find<P: ClassPair>(&mut self, ordered: Ordered<'_, P>, half_width: f64, parallel: bool) {
        let Ordered { scores, below } = ordered;
        let n = scores.len();
        self.first.resize(n, 0);
        self.end.resize(n, 0);
        let total = below[n].neg() + below[n].pos();
        let n_shares = (total / PART).clamp(LANES as u64, MOST_PARTS);
        self.parts.clear();
        self.firsts.clear();
        for part in 0..n_shares {
            // By weight and not by rows: a row of weight 2 and two rows must begin the same parts,
            // since `near` is a sum of rounded numbers part by part.
            let share = (u128::from(part) * u128::from(total) / u128::from(n_shares)) as u64;
            let mut start = below[..n].partition_point(|b| b.neg() + b.pos() < share);
            // The first row of a score.
            if start > 0 && start < n {
                start += scores[start..].partition_point(|&s| s <= scores[start - 1]);
            }
            self.parts.push(start);
        }
        self.parts.push(n);
        // A score of large weight may replace several parts.
        self.parts.dedup();
        let n_parts = self.parts.len() - 1;
        for &start in &self.parts[..n_parts] {
            let first = scores[..start].partition_point(|&t| scores[start] - t > half_width);
            self.firsts.push(first);
        }
        self.firsts.push(n);

        let (mut first, mut end) = (&mut self.first[..], &mut self.end[..]);
        let mut stretches = self.parts.windows(2).zip(self.firsts.windows(2));
        let mut next_lanes = || {
            std::array::from_fn(|_| {
                let (rows, partners) = stretches.next()?;
                let (own_first, own_end);
                (own_first, first) = std::mem::take(&mut first).split_at_mut(rows[1] - rows[0]);
                (own_end, end) = std::mem::take(&mut end).split_at_mut(partners[1] - partners[0]);
                Some(Lane {
                    row: rows[0],
                    partner: partners[0],
                    start: (rows[0], partners[0]),
                    first: own_first,
                    end: own_end,
                })
            })
            .map(Option::unwrap_or_default)
        };
        let n_walks = n_parts.div_ceil(LANES);
        let walks = (0..n_walks).map(|_| next_lanes()).collect();
        let least = if parallel { 1 } else { usize::MAX };
        parallel::map_with(walks, least, || (), |(), lanes| walk(lanes, scores, half_width));
    }

    /// Sums and slopes of one part, whose scores begin at `start`.
    fn part<P: ClassPair>(
        &self,
        start: usize,
        ordered: Ordered<'_, P>,
        ramp: &Ramp,
        slopes: &mut [f64],
    ) -> RampSums {
        let Ordered { scores, below } = ordered;
        let end = start + slopes.len();
        let mut sums = RampSums::default();
        let total = below[scores.len()];
        let (n_neg, n_pos) = (total.neg(), total.pos());
        // Slope in the score per unit of weight, without partners and for each of them.
        let base_pos = ramp.slope() * ramp.side_slope / float(n_pos);
        let base_neg = ramp.slope() * ramp.side_slope / float(n_neg);
        let each = ramp.slope() * (1.0 - ramp.side_slope) / float(n_pos) / float(n_neg);

        let scores = &scores[..end];
        let mut nearby = Nearby { score: scores[start], central: 0, all: below[start] };
        let mut tie_start = below[start];
        for (place, slope) in (start..end).zip(slopes) {
            let (next, score) = (below[place + 1], scores[place]);
            let (above, under) = (self.end[place] as usize, self.first[place] as usize);
            let central = below[above] - below[under];
            let of_pos = base_pos + each * float(central.neg());
            let of_neg = base_neg + each * float(central.pos());
            let own = next - below[place];
            *slope = float(own.pos()) * of_pos - float(own.neg()) * of_neg;

            // Rows of equal score are treated as one.
            if scores.get(place + 1) == Some(&score) {
                continue;
            }
            if score - nearby.score > ramp.half_width {
                nearby.add_to(&mut sums, tie_start, total);
                nearby = Nearby { score, central: 0, all: tie_start };
            }
            let own = next - tie_start;
            let (neg, pos) = (own.neg(), own.pos());
            let slope = float(pos) * of_pos - float(neg) * of_neg;
            sums.near += slope * (score - nearby.score);
            nearby.central += product(pos, central.neg()) - product(neg, central.pos());
            let far_above = n_neg - below[above].neg();
            sums.outside += product(pos, below[under].neg()) - product(pos, far_above);
            sums.wins += (product(pos, tie_start.neg()) + product(pos, next.neg())) as u128;
            tie_start = next;
        }
        nearby.add_to(&mut sums, below[end], total);
        sums
    }

    /// The sums of all parts; `slopes` are in the order of the scores.
    pub fn sums<P: ClassPair>(
        &self,
        ordered: Ordered<'_, P>,
        ramp: &Ramp,
        slopes: &mut Vec<f64>,
        parallel: bool,
    ) -> RampSums {
        slopes.resize(ordered.scores.len(), 0.0);
        let mut rest = &mut slopes[..];
        let parts = self.parts.windows(2).map(|part| {
            let own;
            (own, rest) = std::mem::take(&mut rest).split_at_mut(part[1] - part[0]);
            (part[0], own)
        });
        let parts: Vec<(usize, &mut [f64])> = parts.collect();
        let least = if parallel { 1 } else { usize::MAX };
        let of = |(): &mut (), (start, slopes)| self.part(start, ordered, ramp, slopes);
        let mut sums = RampSums::default();
        for part in &parallel::map_with(parts, least, || (), of) {
            sums.join(part);
        }
        sums
    }
}

/// A reference score and the sums over those less than a half-width above it.
struct Nearby<P> {
    score: f64,
    /// Their pairs on the central piece, those of positive rows less those of negative ones.
    central: i128,
    /// Prefix sum of the class weights at them.
    all: P,
}

impl<P: ClassPair> Nearby<P> {
    fn add_to(&self, sums: &mut RampSums, below_next: P, total: P) {
        let own = below_next - self.all;
        sums.central.add(self.central, self.score);
        let all = product(own.pos(), total.neg()) - product(own.neg(), total.pos());
        sums.all.add(all, self.score);
    }
}

/// A weight below 2^53 as `f64`; as a signed number it is one instruction.
#[inline]
fn float(weight: u64) -> f64 {
    weight.cast_signed() as f64
}

/// A number of pairs.
#[inline]
fn product(a: u64, b: u64) -> i128 {
    i128::from(a) * i128::from(b)
}

/// A sum of products with twice the precision of `f64`, so that terms that cancel leave no error.
#[derive(Debug, Clone, Copy, Default)]
struct Exact {
    high: f64,
    low: f64,
}

impl Exact {
    /// Adds `count * value`.
    fn add(&mut self, count: i128, value: f64) {
        // A number of pairs may have more digits than an `f64`.
        let high = count as f64;
        let low = (count - high as i128) as f64;
        self.add_product(high, value);
        if low != 0.0 {
            self.add_product(low, value);
        }
    }

    fn add_product(&mut self, a: f64, b: f64) {
        // The error of the product by a fused multiplication, that of the sum by Knuth's two-sum.
        // In real numbers all of `low` is 0: the order of these operations must stay as it is.
        let product = a * b;
        let lost = a.mul_add(b, -product);
        let sum = self.high + product;
        let part = sum - self.high;
        self.low += (self.high - (sum - part)) + (product - part) + lost;
        self.high = sum;
    }

    fn join(&mut self, other: Self) {
        self.add_product(1.0, other.high);
        self.add_product(1.0, other.low);
    }

    fn value(self) -> f64 {
        self.high + self.low
    }
}
