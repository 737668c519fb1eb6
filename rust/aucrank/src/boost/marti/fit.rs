//! `MartiRank` and `SMartiRank`: the fit.

use super::elsewhere::fit_marti_rank_rows;
use super::in_memory::ProgramInMemory;
use super::params::MartiParams;
use super::program::BranchingProgram;
use super::program_fit::fit_program;
use crate::boost::term::Term;
use crate::external::{ExternalFitter, keep_used};
use crate::rows::{TrainingRows, check_elsewhere};
use crate::{Interrupt, RankError};

/// Fits `MartiRank`, or with `epsilon` `SMartiRank`: Basic `MartiBoost` over weak rankers cut into
/// classifiers by Lemma 4 (paper 3 sections 4 and 5).
///
/// If the weak ranker uses single features, a fit takes `n_rounds + 1` passes over the binned rows.
/// Beyond these it needs no memory that grows with the rows, up to 16 rounds and 255 bins per
/// feature; otherwise, `n_rounds + 1` 32-bit numbers per row.
///
/// Rows elsewhere are queried once per layer, and a few more times for the threshold; they go
/// through the whole program each time, so that a holder keeps no state. With `noise_rate: None`
/// the scores of the held-out rows are sent, each distinct score with its weights.
///
/// # Errors
///
/// [`RankError`] for a bad parameter, among them a noise rate that is not below the share of the
/// rarer class; for an infinite value; from external rankers; or when interrupted. For rows
/// elsewhere, [`RankError::BadParameter`] also for weak rankers of more than one feature, external
/// ones among them, and for [`Routing::Sampled`](super::Routing::Sampled), whose coins are a hash
/// of raw values. Errors of the holder of the rows.
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
/// let program =
///     fit_marti_rank((&columns, &labels), &params, None, &Interrupt::default()).unwrap();
/// let scores = program.score(&columns, None).unwrap();
/// assert!(scores[0] < 0.0 && scores[3] > 0.0);
/// ```
pub fn fit_marti_rank<'a>(
    rows: impl Into<TrainingRows<'a>>,
    params: &MartiParams,
    external: Option<&dyn ExternalFitter>,
    interrupt: &Interrupt,
) -> Result<BranchingProgram, RankError> {
    let (columns, labels) = match rows.into() {
        TrainingRows::Memory(columns, labels) => (columns, labels),
        TrainingRows::Elsewhere(rows) => {
            check_elsewhere(&[("an external ranker", external.is_some())])?;
            return fit_marti_rank_rows(rows, params, interrupt);
        }
    };
    params.validate()?;
    let columns = &columns.until(interrupt);
    let rows = ProgramInMemory::new(columns, labels, params, external, interrupt)?;
    let mut program = fit_program(&rows, params)?;
    keep_used(program.terms_mut().filter_map(Term::external_number_mut), external);
    Ok(program)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, OnceLock};

    use super::*;
    use crate::boost::fit_marti_rank;
    use crate::data::{Binned, BinningParams, Columns, FeatureBins, Labels, hold_out, mix};
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
            let cuts = |bins: &'_ FeatureBins| match bins {
                FeatureBins::Numeric { cuts } => cuts.clone(),
                FeatureBins::Categorical { .. } => unreachable!("numbers"),
            };
            let cuts: Vec<Vec<f64>> = binned.features().iter().map(cuts).collect();
            let features =
                columns.iter().zip(&cuts).map(|(column, cuts)| column.with_cuts(Some(cuts)));
            let known = Columns::new(features.collect(), columns.n_rows()).unwrap();
            let known = known.with_hashes(&hashes);
            let fit = |labels: &Labels<'_>, noise_rate| {
                fit_marti_rank((&known, labels), &params(noise_rate), None, &interrupt).unwrap()
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
