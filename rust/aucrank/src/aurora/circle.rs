//! The maximum along a great circle with few distinct scores.
//!
//! The ramp statistic of a handful of terms has steps and plateaus, on which a search by slopes
//! gets stuck. With few distinct scores there are few pairs of them, and the difference of each
//! pair is a sinusoid along the circle, `a cos t + b sin t`, clipped at a half-width. Between the
//! angles at which some sinusoid reaches its clip the statistic is a single sinusoid: the global
//! maximum is found by a sweep over these angles.

use std::collections::HashSet;
use std::f64::consts::{PI, TAU};

use super::observations::Observations;
use super::ramp::{HALF_WIDTH, SIDE_SLOPE};
use crate::data::mix;

/// Number of distinct scores up to which all pairs are swept: this takes no longer than a search by
/// slopes on 1,000 rows.
pub(super) const MOST_SCORES: usize = 32;

/// Points that differ by less are equally high, and the first of them is taken.
const ROUNDING: f64 = 1e-12;

/// Distance inside the central piece at which its corner (DECISIONS A8) is evaluated: on the corner
/// itself rounding would determine the piece, also for the next gradient.
const INSIDE: f64 = 1e-10;

/// Size of the hash table of distinct scores.
const N_SLOTS: usize = 4 * MOST_SCORES;

/// Observations with the same score along the whole circle.
#[derive(Debug, Clone, Copy)]
struct ScoreGroup {
    here: f64,
    across: f64,
    /// Share of the negatives, and of the positives.
    shares: [f64; 2],
}

/// Two groups: the difference of their scores is `a cos t + b sin t`, and the statistic is the sum
/// of `share` times that, clipped, over all pairs.
#[derive(Debug, Clone, Copy)]
struct GroupPair {
    a: f64,
    b: f64,
    share: f64,
}

/// The piece of the ramp that the difference of a pair is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RampPiece {
    Below,
    Central,
    Above,
}

/// `level + a cos t + b sin t`.
#[derive(Debug, Clone, Copy, Default)]
struct Wave {
    level: f64,
    a: f64,
    b: f64,
}

impl Wave {
    fn at(self, (sin, cos): (f64, f64)) -> f64 {
        self.level + self.a * cos + self.b * sin
    }

    fn slope_at(self, (sin, cos): (f64, f64)) -> f64 {
        self.b * cos - self.a * sin
    }

    /// Adds the contribution of a pair on a piece, or subtracts it.
    fn add(&mut self, pair: GroupPair, piece: RampPiece, sign: f64) {
        let share = sign * (1.0 - SIDE_SLOPE) * pair.share;
        match piece {
            RampPiece::Below => self.level -= HALF_WIDTH * share,
            RampPiece::Above => self.level += HALF_WIDTH * share,
            RampPiece::Central => {
                self.a += share * pair.a;
                self.b += share * pair.b;
            }
        }
    }
}

/// All pairs of the distinct scores.
#[derive(Debug)]
pub(super) struct FewScores(Vec<GroupPair>);

impl FewScores {
    /// The pairs of scores `here cos t + across sin t`; `None` if too many are distinct.
    pub(super) fn of(
        observations: &Observations<'_>,
        here: &[f64],
        across: &[f64],
    ) -> Option<Self> {
        let mut groups: Vec<ScoreGroup> = Vec::new();
        let mut slots = [usize::MAX; N_SLOTS];
        let scores = here.iter().zip(across).zip(&observations.shares).enumerate();
        for (row, ((&here, &across), &share)) in scores {
            let key = [here.to_bits(), across.to_bits()];
            let mut slot = mix(key[0] ^ mix(key[1])) as usize % N_SLOTS;
            let group = loop {
                match groups.get(slots[slot]) {
                    Some(group) if [group.here.to_bits(), group.across.to_bits()] != key => {
                        slot = (slot + 1) % N_SLOTS;
                    }
                    Some(_) => break slots[slot],
                    None if groups.len() == MOST_SCORES => return None,
                    None => {
                        slots[slot] = groups.len();
                        groups.push(ScoreGroup { here, across, shares: [0.0; 2] });
                        break slots[slot];
                    }
                }
            };
            groups[group].shares[usize::from(row < observations.n_pos)] += share;
        }
        let mut pairs = Vec::new();
        for (place, one) in groups.iter().enumerate() {
            for other in &groups[..place] {
                // A pair in reverse order counts 1 less the same.
                let share = one.shares[1] * other.shares[0] - other.shares[1] * one.shares[0];
                if share != 0.0 {
                    pairs.push(GroupPair {
                        a: one.here - other.here,
                        b: one.across - other.across,
                        share,
                    });
                }
            }
        }
        Some(Self(pairs))
    }

    /// The maximum up to the angle `end`, which is infinite for the whole circle: its height above
    /// the start of the circle, and its angle, from -pi to pi.
    pub(super) fn highest(&self, end: f64) -> (f64, f64) {
        let mut wave = Wave::default();
        let mut events: Vec<(f64, usize, RampPiece)> = Vec::new();
        for (number, pair) in self.0.iter().enumerate() {
            wave.a += SIDE_SLOPE * pair.share * pair.a;
            wave.b += SIDE_SLOPE * pair.share * pair.b;
            let top = pair.b.atan2(pair.a);
            let reach = HALF_WIDTH / pair.a.hypot(pair.b);
            if reach >= 1.0 {
                wave.add(*pair, RampPiece::Central, 1.0);
                continue;
            }
            let half = reach.acos();
            let of_pair = [
                (top - half, RampPiece::Above),
                (top + half, RampPiece::Central),
                (top + PI - half, RampPiece::Below),
                (top + PI + half, RampPiece::Central),
            ]
            .map(|(angle, piece)| (angle.rem_euclid(TAU), number, piece));
            // The circle is closed: each pair starts on the piece it ends on.
            let last = of_pair.iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("four");
            wave.add(*pair, last.2, 1.0);
            events.extend(of_pair);
        }
        events.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut piece_of: Vec<RampPiece> = vec![RampPiece::Central; self.0.len()];
        for &(_, number, piece) in &events {
            piece_of[number] = piece;
        }
        let (mut from, mut from_at) = (0.0, (0.0, 1.0));
        let mut best = (wave.at(from_at), 0.0);
        let mut consider = |wave: Wave, angle: f64, at: (f64, f64)| {
            let value = wave.at(at);
            if value > best.0 + ROUNDING {
                best = (value, angle);
            }
        };
        let end = end.min(TAU);
        events.retain(|event| event.0 <= end);
        for (angle, number, piece) in
            events.into_iter().chain([(end, usize::MAX, RampPiece::Central)])
        {
            let at = angle.sin_cos();
            // Over less than half a turn a sinusoid has at most one maximum, between a rise and a
            // fall.
            if angle - from >= PI || wave.slope_at(from_at) > 0.0 && wave.slope_at(at) < 0.0 {
                let top = wave.b.atan2(wave.a).rem_euclid(TAU);
                if (from..=angle).contains(&top) {
                    consider(wave, top, top.sin_cos());
                }
            }
            let inside = if piece == RampPiece::Central { INSIDE } else { -INSIDE };
            consider(wave, angle + inside, at);
            let Some(pair) = self.0.get(number) else { break };
            wave.add(*pair, piece_of[number], -1.0);
            wave.add(*pair, piece, 1.0);
            piece_of[number] = piece;
            (from, from_at) = (angle, at);
        }
        // Recomputed, since the running sums have accumulated rounding errors.
        let gain = self.value_at(best.1) - self.value_at(0.0);
        let angle = if best.1 > PI { best.1 - TAU } else { best.1 };
        if gain > 0.0 { (gain, angle) } else { (0.0, 0.0) }
    }

    /// The statistic at an angle, up to a constant.
    fn value_at(&self, angle: f64) -> f64 {
        let (sin, cos) = angle.sin_cos();
        let of_pair = |pair: &GroupPair| {
            let difference = pair.a * cos + pair.b * sin;
            let clipped = difference.clamp(-HALF_WIDTH, HALF_WIDTH);
            pair.share * ((1.0 - SIDE_SLOPE) * clipped + SIDE_SLOPE * difference)
        };
        self.0.iter().map(of_pair).sum()
    }
}

/// Angle of the contour midpoint (DECISIONS A10).
pub(super) const MIDPOINT: f64 = PI / 6.0;

/// A row: its score times the cosine of the midpoint, and its share in the weight of its class.
#[derive(Debug, Clone, Copy)]
struct Row {
    score: f64,
    pos: f64,
    neg: f64,
}

/// The two lists of a merge, kept from one term to the next.
#[derive(Debug, Default)]
pub(super) struct MergeMemory([Vec<Row>; 2]);

/// Number of distinct scores at the midpoint, counted up to `most`.
pub(super) fn n_distinct_at_midpoint(scores: &[f64], most: usize) -> usize {
    let mut seen = HashSet::new();
    for score in scores {
        seen.insert((MIDPOINT.cos() * score).to_bits());
        if seen.len() == most {
            break;
        }
    }
    seen.len()
}

/// The rows in ascending order of their scores.
#[derive(Debug)]
pub(super) struct Ranked {
    /// The place of each row among the observations.
    places: Vec<u32>,
    rows: Vec<Row>,
}

impl Ranked {
    pub fn new(observations: &Observations<'_>, scores: &[f64]) -> Self {
        let mut places: Vec<u32> = (0..scores.len() as u32).collect();
        places.sort_unstable_by(|&a, &b| {
            scores[a as usize].total_cmp(&scores[b as usize]).then(a.cmp(&b))
        });
        let row = |&place: &u32| {
            let place = place as usize;
            let share = observations.shares[place];
            let is_pos = place < observations.n_pos;
            let (pos, neg) = if is_pos { (share, 0.0) } else { (0.0, share) };
            Row { score: MIDPOINT.cos() * scores[place], pos, neg }
        };
        let rows: Vec<Row> = places.iter().map(row).collect();
        Self { places, rows }
    }

    /// The AUC at the midpoint between the score and a term, given where the term is on as a bit
    /// for each observation, and the score of its pole.
    pub fn auc(&self, on: &[u64], pole: f64, memory: &mut MergeMemory) -> f64 {
        let MergeMemory([off_rows, on_rows]) = memory;
        off_rows.clear();
        on_rows.clear();
        let shift = MIDPOINT.sin() * pole;
        for (&place, &row) in self.places.iter().zip(&self.rows) {
            if on[place as usize / 64] >> (place % 64) & 1 == 1 {
                on_rows.push(Row { score: row.score + shift, ..row });
            } else {
                off_rows.push(row);
            }
        }
        merged_auc(off_rows, on_rows)
    }
}

/// The AUC of two lists together, each in ascending order; ties count one half.
fn merged_auc(one: &[Row], other: &[Row]) -> f64 {
    let (mut a, mut b) = (0, 0);
    let (mut below, mut auc) = (0.0, 0.0);
    // The rows tied with the last.
    let (mut tied, mut pos, mut neg) = (f64::NAN, 0.0, 0.0);
    while a < one.len() || b < other.len() {
        let from_one = b == other.len() || a < one.len() && one[a].score <= other[b].score;
        let row = if from_one { one[a] } else { other[b] };
        a += usize::from(from_one);
        b += usize::from(!from_one);
        #[expect(clippy::float_cmp, reason = "a tie is exact equality")]
        if row.score != tied {
            auc += pos * (below + 0.5 * neg);
            below += neg;
            (tied, pos, neg) = (row.score, 0.0, 0.0);
        }
        pos += row.pos;
        neg += row.neg;
    }
    auc + pos * (below + 0.5 * neg)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aurora::ascent::{Climber, norm};
    use crate::aurora::binary_feature::BinaryTerm;
    use crate::aurora::observations::tests::{ExampleRows, literals};
    use crate::aurora::packed::PackedTerms;

    /// Scores of some terms by weights of length `radius`, and others at right angles to them.
    fn circle(
        observations: &Observations<'_>,
        seed: u64,
        n_terms: usize,
        radius: f64,
    ) -> (Vec<f64>, Vec<f64>) {
        let all = literals(observations);
        let draw = |what: u64| mix(seed ^ mix(what));
        let mut terms = PackedTerms::default();
        for term in 0..n_terms as u64 {
            let literal = all[draw(term) as usize % all.len()];
            terms.push(&observations.on(BinaryTerm::First(literal)));
        }
        let weights = |what: u64| -> Vec<f64> {
            (0..n_terms as u64).map(|term| (draw(what + term) % 9) as f64 - 4.1).collect()
        };
        let (mut here, mut across) = (weights(100), weights(200));
        let along: f64 = here.iter().zip(&across).map(|(a, b)| a * b).sum();
        let share = along / norm(&here).powi(2);
        for (across, here) in across.iter_mut().zip(&here) {
            *across -= share * here;
        }
        for weights in [&mut here, &mut across] {
            let factor = radius / norm(weights);
            for weight in weights {
                *weight *= factor;
            }
        }
        let scores = |weights: &[f64]| {
            let mut scores = vec![0.0; observations.len()];
            terms.scores(weights, &mut scores);
            scores
        };
        (scores(&here), scores(&across))
    }

    const N_ANGLES: u32 = 600;

    #[test]
    fn no_point_of_a_dense_scan_of_the_circle_is_higher() {
        let (mut n_walked, mut most_gained) = (0, 0.0_f64);
        for seed in 0..60_u64 {
            let n = 20 + (mix(seed) % 60) as usize;
            let (n_terms, radius) =
                (2 + (seed % 5) as usize, [0.4, 1.0, 3.0, 8.0][seed as usize % 4]);
            let weights: Vec<f64> = (0..n).map(|row| (mix(row as u64) % 3) as f64 + 0.5).collect();
            let weights = (seed % 3 == 0).then_some(&weights[..]);
            ExampleRows::new(n, seed).observe(weights, |observations| {
                let (here, across) = circle(observations, seed, n_terms, radius);
                let mut exact = Climber::exact(observations);
                (exact.here, exact.across) = (here.clone(), across.clone());
                let start = exact.at(observations, 0.0).value;
                let highest = (0..N_ANGLES)
                    .map(|step| {
                        exact.at(observations, f64::from(step) / f64::from(N_ANGLES) * TAU).value
                    })
                    .fold(0.0, f64::max);
                let Some(few) = FewScores::of(observations, &here, &across) else { return };
                let (gain, angle) = few.highest(f64::INFINITY);
                assert!(angle.abs() <= PI && gain >= 0.0);
                let value = exact.at(observations, angle).value;
                assert!((value - (start + gain)).abs() < 1e-12, "{value} {start} {gain}");
                assert!(value > highest - 1e-8, "{value} {highest} of seed {seed}");
                // The scan misses little of a statistic whose slope is at most this.
                let missed = 2.0 * radius * TAU / f64::from(N_ANGLES);
                assert!(value < highest + missed, "{value} {highest}");
                n_walked += 1;
                most_gained = most_gained.max(gain);

                // Likewise for a part of the circle.
                let part = 1 + (mix(seed) % 200) as u32;
                let end = f64::from(part) / f64::from(N_ANGLES) * TAU;
                let highest = (0..=part)
                    .map(|step| end * f64::from(step) / f64::from(part))
                    .map(|angle| exact.at(observations, angle).value)
                    .fold(0.0, f64::max);
                let (gain, angle) = few.highest(end);
                assert!((0.0..=end + 2.0 * INSIDE).contains(&angle));
                let value = exact.at(observations, angle).value;
                assert!((value - (start + gain)).abs() < 1e-12, "{value} {start} {gain}");
                assert!(value > highest - 1e-8, "{value} {highest} of seed {seed} up to {end}");
            });
        }
        assert!(n_walked > 40 && most_gained > 0.1, "{n_walked} {most_gained}");
    }

    #[test]
    fn equal_scores_leave_nothing_to_gain() {
        ExampleRows::new(40, 1).observe(None, |observations| {
            let same = vec![0.5; observations.len()];
            assert_eq!(
                FewScores::of(observations, &same, &same).unwrap().highest(f64::INFINITY),
                (0.0, 0.0)
            );
            let distinct: Vec<f64> = (0..observations.len()).map(|row| row as f64).collect();
            assert!(FewScores::of(observations, &distinct, &same).is_none());
        });
    }
}

#[cfg(test)]
mod tests_of_midpoint {
    use super::*;
    use crate::aurora::binary_feature::BinaryTerm;
    use crate::aurora::observations::tests::{ExampleRows, literals, turned};
    use crate::aurora::ramp::ExactRamp;
    use crate::data::mix;

    #[test]
    fn distinct_scores_are_counted_up_to_a_limit() {
        for n in [0, 1, 40, 1000] {
            let scores: Vec<f64> = (0..n).map(|row| (mix(row) % 30) as f64 - 7.5).collect();
            let mut sorted = scores.clone();
            sorted.sort_by(f64::total_cmp);
            sorted.dedup();
            for most in [1, 10, 256] {
                assert_eq!(n_distinct_at_midpoint(&scores, most), sorted.len().min(most));
            }
        }
    }

    #[test]
    fn a_midpoint_has_the_auc_of_its_scores() {
        let weights: Vec<f64> = (0..700).map(|row| f64::from(row % 3)).collect();
        for (seed, weights) in [(1, None), (2, Some(&weights[..]))] {
            ExampleRows::new(700, seed).observe(weights, |observations| {
                // Few distinct scores, so that ties are common.
                let draw = |row: usize| (mix(seed ^ mix(row as u64)) % 9) as f64 / 4.0 - 1.0;
                let scores: Vec<f64> = (0..observations.len()).map(draw).collect();
                let ranked = Ranked::new(observations, &scores);
                let mut memory = MergeMemory::default();
                let all = literals(observations);
                let pair = BinaryTerm::And(all[3], all[25]);
                for term in all.into_iter().step_by(4).map(BinaryTerm::First).chain([pair]) {
                    for pole in [-1.5, 0.5, 4.0] {
                        let on = observations.on(term);
                        let mixed = turned(&scores, &on, pole, MIDPOINT);
                        let expected = ExactRamp::new(observations).of(&mixed).auc;
                        let found = ranked.auc(&observations.bits_of(term), pole, &mut memory);
                        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
                    }
                }
            });
        }
    }
}
