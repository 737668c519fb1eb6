//! An unknown share of flipped labels, by guess and check (paper 3 section 5).
//!
//! Labels that are flipped at random bring the AUC of every score nearer to 1/2 by the same factor, so
//! that the score of the largest AUC by the labels held out is the one of the largest AUC by the true
//! ones: the check needs no clean labels. What is found is the guess whose program ranks best, which
//! need not be the true share.

use super::fit::{ProgramRows, program_at, rarer_share};
use super::params::MartiParams;
use crate::RankError;

/// Share of the rows that the guesses are checked on.
const HELD_OUT: f64 = 0.25;
/// Guesses for a share of one half.
const N_GUESSES: u32 = 10;

/// The guess whose program, fitted to the other rows, ranks rows held out best, the smallest of
/// equals; 0 where a class has a single distinct row. All fits have the bins of all rows.
pub(super) fn guess_noise_rate<R: ProgramRows>(
    rows: &R,
    params: &MartiParams,
) -> Result<f64, RankError> {
    let Some([kept, held_out]) = rows.hold_out(HELD_OUT, params.seed)? else {
        return Ok(0.0);
    };
    let most = rarer_share(rows.total(&kept)?);
    let (mut best, mut chosen) = (f64::NEG_INFINITY, 0.0);
    for guess in 0..N_GUESSES {
        let noise_rate = f64::from(guess) / f64::from(2 * N_GUESSES);
        if noise_rate >= most {
            break;
        }
        let auc = rows.auc(&program_at(rows, &kept, params, noise_rate)?, &held_out)?;
        if auc > best {
            (best, chosen) = (auc, noise_rate);
        }
    }
    // The share of the rarer class among all rows may be a little smaller than among those kept.
    Ok(if chosen < rarer_share(rows.total(&rows.all())?) { chosen } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, OnceLock};

    use super::*;
    use crate::Interrupt;
    use crate::boost::fit_marti_rank;
    use crate::data::{Binned, BinningParams, Columns, Labels, hold_out, mix};
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
            // In the bins of all rows.
            let interrupt = Interrupt::default();
            let binned =
                Binned::new(&columns, &labels, BinningParams::default(), &interrupt).unwrap();
            let hashes = columns.hashes(&interrupt).unwrap().to_vec();
            let hashes = Arc::new(OnceLock::from(hashes));
            let known = Columns::from_row_major(&values, 2).unwrap();
            let known = known.known(&binned.features().into(), &hashes);
            let fit = |labels: &Labels<'_>, noise_rate| {
                fit_marti_rank(&known, labels, &params(noise_rate), None, &interrupt).unwrap()
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
