//! Weak rankers outside the core.

use super::{WeakRanker, WeakRanking, WeakSample, WeakTask, ranking_by_score};
use crate::RankError;
use crate::boost::BoostError;
use crate::boost::scored::RowScorer;
use crate::data::ClassMasses;
use crate::external::scores_of;

/// Fits external rankers.
#[derive(Debug)]
pub(super) struct ExternalRanker;

impl ExternalRanker {
    /// The weight of each row in the fit of a ranker: its mass, scaled such that both classes have
    /// the same total and the mean is 1.
    fn weights(sample: &WeakSample<'_>, task: &WeakTask<'_>, rows: &[u32]) -> Vec<f64> {
        let positive = sample.labels.positive();
        let (mut total, mut n_rows) = (ClassMasses::default(), 0);
        for &row in rows {
            let row = row as usize;
            n_rows += sample.labels.sums(row).rows;
            let class = if positive[row] { &mut total.pos } else { &mut total.neg };
            *class += task.masses[row];
        }
        let scale = |class: u64| 0.5 * n_rows as f64 / class as f64;
        let of_class = [scale(total.neg), scale(total.pos)];
        let weight = |&row: &u32| {
            task.masses[row as usize] as f64 * of_class[usize::from(positive[row as usize])]
        };
        rows.iter().map(weight).collect()
    }
}

impl WeakRanker for ExternalRanker {
    fn rank(
        &self,
        sample: &WeakSample<'_>,
        task: &WeakTask<'_>,
    ) -> Result<Option<WeakRanking>, RankError> {
        let rankers = sample.external.ok_or(RankError::Boost(BoostError::NeedsRankers))?;
        if let Some(features) = task.features {
            return Err(RankError::BadParameter {
                name: "max_features",
                value: features.len().to_string(),
                rule: "left out for a weak ranker of your own, which sees all columns",
            });
        }
        let has_mass = |row: &u32| task.masses[*row as usize] > 0;
        let rows: Vec<u32> = task.rows.iter().copied().filter(has_mass).collect();
        let weights = Self::weights(sample, task, &rows);
        let number = rankers.fit(task.seed, &rows, &weights)?;
        drop((rows, weights));
        // Rows of weight zero are left out.
        let rows = sample.labels.rows();
        let of_rows = scores_of(rankers, number, &rows)?;
        let mut scores = vec![0.0; sample.labels.n_rows()];
        for (&row, score) in rows.iter().zip(of_rows) {
            scores[row as usize] = score;
        }
        let scorer = |is_reversed| RowScorer::External { number, is_reversed };
        let ranking = ranking_by_score(sample, task, scores, scorer)?;
        if ranking.is_none() {
            rankers.forget(&[number]);
        }
        Ok(ranking)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::scored::ScoredTerm;
    use crate::boost::term::Term;
    use crate::boost::weak::tests::{Draws, ranked_by};
    use crate::boost::weak::{RankGroups, Ranker, WeakRankerParams};
    use crate::data::{Columns, Labels};
    use crate::external::keep_used;
    use crate::external::tests::Fixed;

    #[test]
    fn a_ranker_outside_gets_balanced_weights_and_may_be_turned_round() {
        let mut draws = Draws(2);
        let mut positive: Vec<bool> = (0..60).map(|_| draws.below(3) == 0).collect();
        (positive[1], positive[2]) = (true, false);
        let scores: Vec<f64> = positive
            .iter()
            .map(|&positive| draws.number(6) - if positive { 2.0 } else { 0.0 })
            .collect();
        let mut masses: Vec<u64> = (0..60).map(|_| draws.below(9)).collect();
        (masses[1], masses[2]) = (5, 5);
        let weights: Vec<f64> = (0..60).map(|row| f64::from(u8::from(row != 0))).collect();
        let columns = Columns::from_row_major(&scores, 1).unwrap();
        let labels = Labels::new(&positive, Some(&weights)).unwrap();
        let mut fixed = Fixed::new(scores.clone());
        // The row of weight zero is never scored.
        fixed.answers[0] = f64::NAN;
        masses[0] = 0;
        let weak = WeakRankerParams::External;
        let found =
            ranked_by(&weak, &columns, &labels, &masses, None, Some(&fixed)).unwrap().unwrap();

        let fits = fixed.fits.lock().unwrap();
        let (rows, weights) = &fits[0];
        assert!(rows.iter().all(|&row| masses[row as usize] > 0));
        let of_class = |class: bool| -> f64 {
            let rows =
                rows.iter().zip(weights).filter(|(row, _)| positive[**row as usize] == class);
            rows.map(|(_, weight)| weight).sum()
        };
        let half = rows.len() as f64 / 2.0;
        assert!((of_class(true) - half).abs() < 1e-9 && (of_class(false) - half).abs() < 1e-9);

        let Ranker::Scored { scorer, thresholds } = &found.ranker else { panic!("by score") };
        assert_eq!(*scorer, RowScorer::External { number: 10, is_reversed: true });
        assert!(thresholds.windows(2).all(|pair| pair[0] < pair[1]));
        let RankGroups::Rows(groups) = &found.groups else { panic!("row by row") };
        let mut sums = vec![ClassMasses::default(); thresholds.len() + 1];
        for row in 1..60 {
            let sum = &mut sums[groups[row] as usize];
            let class = if positive[row] { &mut sum.pos } else { &mut sum.neg };
            *class += masses[row];
            for other in 1..60 {
                if masses[row] > 0 && masses[other] > 0 {
                    let by_score = (-scores[row]).total_cmp(&-scores[other]);
                    assert_eq!(groups[row].cmp(&groups[other]), by_score);
                }
            }
        }
        assert_eq!(found.sums, sums);
    }

    #[test]
    fn an_uninformative_ranker_is_dropped() {
        let positive = [true, false, true, false];
        let columns = Columns::from_row_major(&[0.0; 4], 1).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let fixed = Fixed::new(vec![3.0, 3.0, -0.0, 0.0]);
        let weak = WeakRankerParams::External;
        let found = ranked_by(&weak, &columns, &labels, &[1; 4], None, Some(&fixed)).unwrap();
        assert!(found.is_none());
        assert_eq!(*fixed.forgotten.lock().unwrap(), [10]);
        let nan = Fixed::new(vec![3.0, 3.0, f64::NAN, 0.0]);
        let err = ranked_by(&weak, &columns, &labels, &[1; 4], None, Some(&nan)).unwrap_err();
        assert_eq!(err, RankError::NanScore(2));
        let err = ranked_by(&weak, &columns, &labels, &[1; 4], None, None).unwrap_err();
        assert_eq!(err, RankError::Boost(BoostError::NeedsRankers));
        let some = Some(&[0][..]);
        let err = ranked_by(&weak, &columns, &labels, &[1; 4], some, Some(&nan)).unwrap_err();
        assert!(err.to_string().starts_with("max_features is 1, but must be left out"), "{err}");
    }

    #[test]
    fn the_rankers_of_a_model_are_numbered_anew() {
        let term = |number| {
            let scorer = RowScorer::External { number, is_reversed: false };
            Term::Scored(ScoredTerm::of_steps(scorer, &[0.0], &[0.0, 1.0]))
        };
        let mut terms = [term(40), term(10), term(20)];
        let fixed = Fixed::new(Vec::new());
        keep_used(terms.iter_mut().filter_map(Term::external_number_mut), Some(&fixed));
        assert_eq!(terms, [term(0), term(1), term(2)]);
        assert_eq!(*fixed.kept.lock().unwrap(), [40, 10, 20]);
    }
}
