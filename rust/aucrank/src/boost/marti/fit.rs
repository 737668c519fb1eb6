//! `MartiRank` and `SMartiRank`, wherever the rows are: the fit.

use super::in_memory::ProgramInMemory;
use super::outcome::Outcome;
use super::params::MartiParams;
use super::program::{BranchingProgram, MartiNode, NodeKind};
use super::program_rows::{CutLayers, ProgramRows};
use crate::boost::term::Term;
use crate::data::{ClassSums, Columns, Labels};
use crate::external::{ExternalFitter, keep_used};
use crate::{Interrupt, RankError};

/// Fits `MartiRank`, or with `epsilon` `SMartiRank`: Basic `MartiBoost` over weak rankers cut into
/// classifiers by Lemma 4 (paper 3 sections 4 and 5).
///
/// If the weak ranker uses single features, a fit takes `n_rounds + 1` passes over the binned rows.
/// Beyond these it needs no memory that grows with the rows, up to 16 rounds and 255 bins per
/// feature; otherwise, `n_rounds + 1` 32-bit numbers per row.
///
/// # Errors
///
/// [`RankError`] for a bad parameter, among them a noise rate that is not below the share of the
/// rarer class; for an infinite value; from external rankers; or when interrupted.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{MartiParams, fit_marti_rank};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1).unwrap();
/// let labels = Labels::new(&[false, true, false, true], None).unwrap();
/// let params = MartiParams { n_rounds: 4, ..MartiParams::default() };
/// let program = fit_marti_rank(&columns, &labels, &params, None, &Interrupt::default()).unwrap();
/// let scores = program.score(&columns, None).unwrap();
/// assert!(scores[0] < 0.0 && scores[3] > 0.0);
/// ```
pub fn fit_marti_rank(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &MartiParams,
    external: Option<&dyn ExternalFitter>,
    interrupt: &Interrupt,
) -> Result<BranchingProgram, RankError> {
    params.validate()?;
    let columns = &columns.until(interrupt);
    let rows = ProgramInMemory::new(columns, labels, params, external, interrupt)?;
    let mut program = fit_program(&rows, params)?;
    keep_used(program.terms_mut().filter_map(Term::external_number_mut), external);
    Ok(program)
}

/// Fits a program, at the given or guessed share of flipped labels.
pub(super) fn fit_program<R: ProgramRows>(
    rows: &R,
    params: &MartiParams,
) -> Result<BranchingProgram, RankError> {
    let noise_rate = match params.noise_rate {
        Some(noise_rate) => noise_rate,
        None => guess_noise_rate(rows, params)?,
    };
    let mut program = program_at(rows, &rows.all(), params, noise_rate)?;
    program.threshold = rows.threshold(&program)?;
    Ok(program)
}

/// The program of some of the rows at a share of flipped labels, without a threshold.
fn program_at<R: ProgramRows>(
    rows: &R,
    subset: &R::Subset,
    params: &MartiParams,
    noise_rate: f64,
) -> Result<BranchingProgram, RankError> {
    if noise_rate >= rarer_share(rows.total(subset)?) {
        return Err(RankError::BadParameter {
            name: "noise_rate",
            value: noise_rate.to_string(),
            rule: "below the share of the rarer class",
        });
    }
    let CutLayers { nodes, row_bits, exponent } = rows.layers(subset, noise_rate)?;
    let nodes = nodes.into_iter().map(|(masses, outcome)| {
        let kind = match outcome {
            Outcome::Classifier((term, cut)) => NodeKind::Ranker { term, cut },
            Outcome::Coin => NodeKind::Coin,
            Outcome::Frozen { positive } => NodeKind::Frozen { positive },
            Outcome::Terminal => NodeKind::Terminal,
            Outcome::Unreached => NodeKind::Unreached,
        };
        MartiNode { masses, kind }
    });
    Ok(BranchingProgram {
        n_levels: rows.n_levels(),
        n_rounds: params.n_rounds,
        routing: params.routing,
        score: params.score,
        seed: params.seed,
        nodes: nodes.collect(),
        row_bits,
        exponent,
        threshold: 0.0,
        noise_rate,
    })
}

/// The share of the rarer class.
fn rarer_share(total: ClassSums) -> f64 {
    total.pos.min(total.neg) as f64 / (total.pos + total.neg) as f64
}

/// Share of the rows on which guesses are evaluated.
const HELD_OUT: f64 = 0.25;
/// Guesses for a share of one half.
const N_GUESSES: u32 = 10;

/// The guess whose program, fitted to the other rows, ranks held-out rows best, the smallest of
/// ties; 0 if a class has a single distinct row. All fits use the bins of all rows.
fn guess_noise_rate<R: ProgramRows>(rows: &R, params: &MartiParams) -> Result<f64, RankError> {
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
    use crate::boost::fit_marti_rank;
    use crate::data::{Binned, BinningParams, hold_out, mix};
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
