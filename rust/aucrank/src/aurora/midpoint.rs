//! The AUC at contour midpoints (sec. 3.1).
//!
//! On the way to the pole of a term the score of a row is `h cos t`, and `p sin t` more where the
//! term is on. So the rows where it is on keep their order, and so do the others: with the rows
//! sorted by `h` once, the AUC at a midpoint is one merge of two sorted lists.

use std::f64::consts::PI;

use super::observations::Observations;

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
pub(super) struct Memory([Vec<Row>; 2]);

/// The rows in ascending order of their scores.
#[derive(Debug)]
pub(super) struct Ranked {
    /// The place of each row among the observations.
    places: Vec<u32>,
    rows: Vec<Row>,
    n_distinct: usize,
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
        let n_distinct = rows.chunk_by(|a, b| a.score.total_cmp(&b.score).is_eq()).count();
        Self { places, rows, n_distinct }
    }

    /// Number of distinct scores.
    pub fn n_distinct(&self) -> usize {
        self.n_distinct
    }

    /// The AUC at the midpoint between the score and a term, given where the term is on as a bit
    /// for each observation, and the score of its pole.
    pub fn auc(&self, on: &[u64], pole: f64, memory: &mut Memory) -> f64 {
        let Memory([off_rows, on_rows]) = memory;
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
    use crate::aurora::exact_ramp::ExactRamp;
    use crate::aurora::observations::tests::{Rows, literals};
    use crate::aurora::term::BinaryTerm;
    use crate::data::mix;

    #[test]
    fn a_midpoint_has_the_auc_of_its_scores() {
        let weights: Vec<f64> = (0..700).map(|row| f64::from(row % 3)).collect();
        for (seed, weights) in [(1, None), (2, Some(&weights[..]))] {
            Rows::new(700, seed).observe(weights, |observations| {
                // Few distinct scores, so that ties are common.
                let draw = |row: usize| (mix(seed ^ mix(row as u64)) % 9) as f64 / 4.0 - 1.0;
                let scores: Vec<f64> = (0..observations.len()).map(draw).collect();
                let ranked = Ranked::new(observations, &scores);
                let mut memory = Memory::default();
                let all = literals(observations);
                let pair = BinaryTerm::And(all[3], all[25]);
                for term in all.into_iter().step_by(4).map(BinaryTerm::First).chain([pair]) {
                    for pole in [-1.5, 0.5, 4.0] {
                        let on = observations.on(term);
                        let mixed: Vec<f64> = scores
                            .iter()
                            .zip(&on)
                            .map(|(score, &on)| {
                                MIDPOINT.cos() * score + MIDPOINT.sin() * pole * f64::from(on)
                            })
                            .collect();
                        let expected = ExactRamp::new(observations).of(&mixed).auc;
                        let found = ranked.auc(&observations.bits_of(term), pole, &mut memory);
                        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
                    }
                }
            });
        }
    }
}
