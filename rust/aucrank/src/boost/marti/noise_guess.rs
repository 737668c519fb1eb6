//! An unknown share of flipped labels, by guess and check (paper 3 section 5).
//!
//! Labels that are flipped at random bring the AUC of every score nearer to 1/2 by the same factor, so
//! that the score of the largest AUC by the labels held out is the one of the largest AUC by the true
//! ones: the check needs no clean labels. What is found is the guess whose program ranks best, which
//! need not be the true share.

use super::program::BranchingProgram;
use crate::data::{Columns, Labels, hold_out, times_power_of_two};
use crate::external::{ExternalFitter, ExternalModels};
use crate::roc::auc_up_to;
use crate::{Interrupt, RankError};

/// Share of the rows that the guesses are checked on.
const HELD_OUT: f64 = 0.25;
/// Guesses for a share of one half.
const N_GUESSES: u32 = 10;

/// The guess whose program, fitted by `fit` to the other rows, ranks rows held out best, the smallest of
/// equals; 0 where a class has a single distinct row.
pub(super) fn guess_noise_rate(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    seed: u64,
    external: Option<&dyn ExternalFitter>,
    fit: impl Fn(&Labels<'_>, f64) -> Result<BranchingProgram, RankError>,
    interrupt: &Interrupt,
) -> Result<f64, RankError> {
    let Some(parts) = hold_out(columns, labels, HELD_OUT, seed, interrupt)? else {
        return Ok(0.0);
    };
    let weight = |row: usize| {
        labels.weights().map_or(1.0, |weights| {
            times_power_of_two(weights.units()[row] as f64, weights.exponent())
        })
    };
    let mut weights = vec![0.0; labels.n_rows()];
    for row in parts.kept.iter().map(|&row| row as usize) {
        weights[row] = weight(row);
    }
    let kept = Labels::new(labels.positive(), Some(&weights))?;
    let held_out: Vec<usize> = parts.held_out.iter().map(|&row| row as usize).collect();
    let positive: Vec<bool> = held_out.iter().map(|&row| labels.positive()[row]).collect();
    let weights: Vec<f64> = held_out.iter().map(|&row| weight(row)).collect();
    let models = external.map(|external| external as &dyn ExternalModels);
    let total = kept.total();
    let most = total.pos.min(total.neg) as f64 / (total.pos + total.neg) as f64;
    let (mut best, mut chosen) = (f64::NEG_INFINITY, 0.0);
    for guess in 0..N_GUESSES {
        let noise_rate = f64::from(guess) / f64::from(2 * N_GUESSES);
        if noise_rate >= most {
            break;
        }
        let scores = fit(&kept, noise_rate)?.score(columns, models)?;
        let scores: Vec<f64> = held_out.iter().map(|&row| scores[row]).collect();
        let auc = auc_up_to(1.0, &scores, &positive, Some(&weights))?;
        if auc > best {
            (best, chosen) = (auc, noise_rate);
        }
    }
    // The share of the rarer class among all rows may be a little smaller than among those kept.
    let total = labels.total();
    let most = total.pos.min(total.neg) as f64 / (total.pos + total.neg) as f64;
    Ok(if chosen < most { chosen } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::{MartiParams, fit_marti_rank};
    use crate::data::mix;
    use crate::roc::auc;

    #[test]
    fn the_guess_is_the_one_whose_program_ranks_held_out_rows_best() {
        let n = 600;
        let values: Vec<f64> = (0..2 * n).map(|place| (mix(place) % 1000) as f64).collect();
        let columns = Columns::from_row_major(&values, 2).unwrap();
        let mut chosen = Vec::new();
        for seed in 0..6 {
            // A quarter of the labels are flipped.
            let positive: Vec<bool> = (0..n as usize)
                .map(|row| {
                    let is_high = values[2 * row] + 0.5 * values[2 * row + 1] > 800.0;
                    is_high != mix(seed ^ mix(row as u64)).is_multiple_of(4)
                })
                .collect();
            let labels = Labels::new(&positive, None).unwrap();
            let params = |noise_rate| MartiParams {
                n_rounds: 6,
                epsilon: Some(0.2),
                noise_rate,
                seed,
                ..MartiParams::default()
            };
            let fit = |labels: &Labels<'_>, noise_rate| {
                let interrupt = Interrupt::default();
                fit_marti_rank(&columns, labels, &params(noise_rate), None, &interrupt).unwrap()
            };
            let parts = hold_out(&columns, &labels, 0.25, seed, &Interrupt::default());
            let parts = parts.unwrap().unwrap();
            let mut weights = vec![0.0; positive.len()];
            parts.kept.iter().for_each(|&row| weights[row as usize] = 1.0);
            let kept = Labels::new(&positive, Some(&weights)).unwrap();
            let held_out_auc = |noise_rate: f64| {
                let scores = fit(&kept, Some(noise_rate)).score(&columns, None).unwrap();
                let rows = parts.held_out.iter().map(|&row| row as usize);
                let (scores, positive): (Vec<f64>, Vec<bool>) =
                    rows.map(|row| (scores[row], positive[row])).unzip();
                auc(&scores, &positive).unwrap()
            };
            let guesses = [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45];
            let rarer = kept.total().pos.min(kept.total().neg) as f64;
            let share = rarer / parts.kept.len() as f64;
            let aucs = guesses.into_iter().filter(|&guess| guess < share).map(held_out_auc);
            let aucs: Vec<f64> = aucs.collect();
            let best = aucs.iter().copied().fold(0.0, f64::max);
            let expected = guesses[aucs.iter().position(|&auc| auc > best - 1e-12).unwrap()];
            let found = fit(&labels, None);
            assert_eq!(found.noise_rate(), expected);
            assert_eq!(found, fit(&labels, Some(expected)));
            chosen.push(expected);
        }
        assert!(chosen.iter().any(|&guess| guess > 0.0), "{chosen:?}");
    }
}
