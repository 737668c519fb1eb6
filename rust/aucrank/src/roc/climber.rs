//! The ramp statistic of scores that change: what an ascent asks for again and again.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::ramp::Ramp;
use super::ramp_sums::{Ordered, Pair, Partners, RampSums};
use super::ranking::{Bounds, Ranking};
use super::sample::PARALLEL_FROM;
use crate::RankError;
use crate::data::{FixedWeights, Labels};

/// Greatest weight of a class: that of `FixedWeights`.
const MOST_WEIGHT: u64 = 1 << 53;

/// Rows of one task of a pass over the order.
const CHUNK: usize = 1 << 14;

/// Value, slopes and AUC of the same rows under scores that change.
///
/// Memory stays from one call to the next. A call sorts and then takes O(n); the result is the same
/// for any number of threads and any order of the rows, and for a row of weight k as for k rows.
/// With fewer than [`PARALLEL_FROM`] rows a call stays on its thread and, but for the first,
/// allocates nothing, so that many climbers may work at a time.
///
/// # Examples
///
/// ```
/// use aucrank::roc::{Ramp, RampClimber};
///
/// // The weight of the negative and of the positive class in each row: a row may have both.
/// let ramp = Ramp { half_width: 1.0, side_slope: 0.0 };
/// let mut climber = RampClimber::new(ramp, &[1, 0, 1], &[0, 1, 1]).unwrap();
/// assert_eq!(climber.evaluate(&[0.0, 0.5, 9.0]), Ok((0.75 + 0.0 + 1.0 + 0.5) / 4.0));
/// assert_eq!(climber.slopes(), [-0.125, 0.125, 0.0]);
/// assert_eq!(climber.auc(), (1.0 + 0.0 + 1.0 + 0.5) / 4.0);
/// ```
#[derive(Debug)]
pub struct RampClimber {
    ramp: Ramp,
    total: [u64; 2],
    /// Rows that have weight, where some have none.
    live: Option<Live>,
    units: Units,
    ranking: Ranking,
    partners: Partners,
    slopes: Vec<f64>,
    /// The bits of the slopes, while several threads write them.
    shared: Vec<AtomicU64>,
    sums: RampSums,
}

/// The rows that have weight, with their scores and slopes.
#[derive(Debug)]
struct Live {
    rows: Vec<u32>,
    scores: Vec<f64>,
    slopes: Vec<f64>,
}

/// Class weights of the rows, in their order and below each score.
#[derive(Debug)]
enum Units {
    /// Less than 2^16 a row and less than 2^32 in all: a word travels with the row.
    Small {
        of_row: Vec<u32>,
        below: Vec<u64>,
    },
    Large {
        of_row: Vec<u128>,
        below: Vec<u128>,
    },
}

impl RampClimber {
    /// Rows with the weight of the negative and of the positive class in each.
    ///
    /// # Errors
    ///
    /// [`RankError`] for a bad ramp as in [`Ramp::validate`], lengths that differ, a class without
    /// weight, more than 2^53 units of weight in a class, or more than 2^32 rows.
    pub fn new(ramp: Ramp, negative: &[u64], positive: &[u64]) -> Result<Self, RankError> {
        if negative.len() != positive.len() {
            return Err(RankError::LengthMismatch {
                name: "the negative weights",
                found: negative.len(),
                expected: positive.len(),
            });
        }
        Self::of_rows(ramp, negative.len(), |row| [negative[row], positive[row]])
    }

    /// Rows that have one class each.
    ///
    /// # Errors
    ///
    /// [`RankError`] for a bad ramp as in [`Ramp::validate`], or more than 2^32 rows.
    pub fn of_labels(ramp: Ramp, labels: &Labels<'_>) -> Result<Self, RankError> {
        let units = labels.weights().map(FixedWeights::units);
        Self::of_rows(ramp, labels.n_rows(), |row| {
            let units = units.map_or(1, |units| units[row]);
            if labels.positive()[row] { [0, units] } else { [units, 0] }
        })
    }

    pub(super) fn of_rows(
        ramp: Ramp,
        n_rows: usize,
        weights: impl Fn(usize) -> [u64; 2],
    ) -> Result<Self, RankError> {
        ramp.validate()?;
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        if u32::try_from(n_rows).is_err() {
            return bad("the number of rows", n_rows.to_string(), "less than 2^32");
        }
        let (mut total, mut most, mut n_live) = ([0_u64; 2], 0, 0);
        for row in 0..n_rows {
            let weights = weights(row);
            for (total, weight) in total.iter_mut().zip(weights) {
                *total = total.saturating_add(weight);
                most = most.max(weight);
            }
            n_live += usize::from(weights != [0, 0]);
        }
        for (class, total) in ["negative", "positive"].into_iter().zip(total) {
            if total == 0 {
                return Err(RankError::ClassWithoutWeight { class });
            }
            if total > MOST_WEIGHT {
                return bad("the weight of a class", total.to_string(), "at most 2^53");
            }
        }
        let live = (n_live < n_rows).then(|| Live {
            rows: (0..n_rows as u32).filter(|&row| weights(row as usize) != [0, 0]).collect(),
            scores: Vec::new(),
            slopes: vec![0.0; n_live],
        });
        let of_live = (0..n_live).map(|place| {
            let row = live.as_ref().map_or(place, |live| live.rows[place] as usize);
            weights(row)
        });
        let small = most < 1 << 16 && total.into_iter().all(|total| total < 1 << 32);
        let units = if small {
            let of_row = of_live.map(|[neg, pos]| (pos << 16 | neg) as u32).collect();
            Units::Small { of_row, below: Vec::new() }
        } else {
            let of_row = of_live.map(|[neg, pos]| u128::new(neg, pos)).collect();
            Units::Large { of_row, below: Vec::new() }
        };
        Ok(Self {
            ramp,
            total,
            live,
            units,
            ranking: Ranking::default(),
            partners: Partners::default(),
            slopes: vec![0.0; n_rows],
            shared: Vec::new(),
            sums: RampSums::default(),
        })
    }

    /// The ramp AUC of `scores`.
    ///
    /// # Errors
    ///
    /// [`RankError`] if there are more or fewer scores than rows, one is NaN, one of a row that has
    /// weight is infinite, or they are so large that the sum of their differences overflows.
    /// Slopes and AUC are then of no use until the next call.
    pub fn evaluate(&mut self, scores: &[f64]) -> Result<f64, RankError> {
        if scores.len() != self.slopes.len() {
            return Err(RankError::LengthMismatch {
                name: "y_score",
                found: scores.len(),
                expected: self.slopes.len(),
            });
        }
        let mut bounds = Bounds::of(scores);
        if bounds.is_nan {
            let row = scores.iter().position(|score| score.is_nan());
            return Err(RankError::NanScore(row.unwrap_or_default()));
        }
        let (scores, slopes) = match &mut self.live {
            None => (scores, &mut self.slopes),
            Some(live) => {
                live.scores.clear();
                live.scores.extend(live.rows.iter().map(|&row| scores[row as usize]));
                bounds = Bounds::of(&live.scores);
                (&live.scores[..], &mut live.slopes)
            }
        };
        if let Some(infinite) = [bounds.low, bounds.high].into_iter().find(|s| !s.is_finite()) {
            return Err(infinite_score(infinite));
        }

        let ranking = &mut self.ranking;
        self.sums = match &mut self.units {
            Units::Small { of_row, below } => {
                ranking.sort(scores, &bounds, |row| of_row[row]);
                let own = |place: usize| {
                    let units = u64::from(ranking.tags[place]);
                    u64::new(units & 0xFFFF, units >> 16)
                };
                sum_up(
                    own,
                    below,
                    ranking,
                    &mut self.partners,
                    &self.ramp,
                    slopes,
                    &mut self.shared,
                )
            }
            Units::Large { of_row, below } => {
                ranking.sort(scores, &bounds, |_| 0);
                let own = |place: usize| of_row[ranking.rows[place] as usize];
                sum_up(
                    own,
                    below,
                    ranking,
                    &mut self.partners,
                    &self.ramp,
                    slopes,
                    &mut self.shared,
                )
            }
        };
        if let Some(live) = &self.live {
            for (&row, &slope) in live.rows.iter().zip(&live.slopes) {
                self.slopes[row as usize] = slope;
            }
        }
        self.sums.value(&self.ramp, self.total)
    }

    /// Derivative of the value with respect to the score of each row, as in
    /// [`RampGradient`](super::RampGradient), at the scores of the last call of
    /// [`RampClimber::evaluate`]; a row that has both classes may have either sign. 0 before the
    /// first call.
    #[must_use]
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// The AUC of the same scores, equal to the last bit to that of [`auc`](super::auc). NaN before
    /// the first call.
    #[must_use]
    pub fn auc(&self) -> f64 {
        self.sums.auc(self.total)
    }

    /// The slopes, without a copy.
    #[must_use]
    pub fn into_slopes(self) -> Vec<f64> {
        self.slopes
    }
}

pub(super) fn infinite_score(score: f64) -> RankError {
    RankError::BadParameter {
        name: "a score",
        value: score.to_string(),
        rule: "finite: the ramp is made of differences",
    }
}

/// Value and slopes of rows in order, each with its `own` class weight.
fn sum_up<P: Pair>(
    own: impl Fn(usize) -> P + Sync,
    below: &mut Vec<P>,
    ranking: &Ranking,
    partners: &mut Partners,
    ramp: &Ramp,
    slopes: &mut [f64],
    shared: &mut Vec<AtomicU64>,
) -> RampSums {
    let n = ranking.scores.len();
    let parallel = n >= PARALLEL_FROM && rayon::current_num_threads() > 1;
    below.resize(n + 1, P::default());
    let fill = |mut sum: P, start: usize, below: &mut [P]| {
        for (place, below) in below.iter_mut().enumerate() {
            sum = sum + own(start + place);
            *below = sum;
        }
        sum
    };
    if parallel {
        // Each chunk from zero, then all of them raised by those before.
        let chunks = below[1..].par_chunks_mut(CHUNK).enumerate();
        let sums: Vec<P> = chunks.map(|(i, chunk)| fill(P::default(), i * CHUNK, chunk)).collect();
        let before: Vec<P> = sums
            .iter()
            .scan(P::default(), |sum, &own| {
                let before = *sum;
                *sum = *sum + own;
                Some(before)
            })
            .collect();
        below[1..].par_chunks_mut(CHUNK).zip(before).for_each(|(chunk, before)| {
            for below in chunk {
                *below = *below + before;
            }
        });
    } else {
        fill(P::default(), 0, &mut below[1..]);
    }
    let ordered = Ordered { scores: &ranking.scores, below };
    partners.find(ordered, ramp.half_width);
    if !parallel {
        return partners.sums(ordered, ramp, |place, slope| {
            slopes[ranking.rows[place] as usize] = slope;
        });
    }
    shared.resize_with(n, AtomicU64::default);
    let sums = partners.sums_in_parallel(ordered, ramp, |place, slope| {
        // Relaxed: each slope has one writer, and all are read after the threads have met.
        shared[ranking.rows[place] as usize].store(slope.to_bits(), Relaxed);
    });
    let read =
        |(slope, shared): (&mut f64, &AtomicU64)| *slope = f64::from_bits(shared.load(Relaxed));
    slopes.par_iter_mut().zip(&shared[..]).with_min_len(CHUNK).for_each(read);
    sums
}
