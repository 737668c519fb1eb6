//! The class weights of each score, as of rows held out: as many as there are distinct scores.

use super::words::Reader;
use crate::RankError;
use crate::data::{ClassMasses, times_power_of_two};
use crate::roc::{Score, auc_up_to};

/// Keys of scores, ascending, with the class weight of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ScoreCounts(Vec<(u64, ClassMasses)>);

impl ScoreCounts {
    /// Adds scores in any order.
    pub(crate) fn add(&mut self, scores: impl Iterator<Item = (f64, ClassMasses)>) {
        self.0.extend(scores.map(|(score, weight)| (score.key(), weight)));
        // Merges runs that are sorted already.
        self.0.sort_by_key(|&(key, _)| key);
        self.0.dedup_by(|(key, weight), (kept, sum)| {
            let is_same = key == kept;
            if is_same {
                *sum += *weight;
            }
            is_same
        });
    }

    pub(crate) fn merge(&mut self, more: &Self) {
        self.add(more.0.iter().map(|&(key, weight)| (f64::from_key(key), weight)));
    }

    /// The AUC, up to a false positive rate, where weights have a unit with this exponent.
    pub(crate) fn auc_up_to(&self, max_fpr: f64, exponent: i32) -> Result<f64, RankError> {
        let (mut scores, mut positive, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for &(key, ClassMasses { pos, neg }) in &self.0 {
            for (class, units) in [(false, neg), (true, pos)] {
                if units > 0 {
                    scores.push(f64::from_key(key));
                    positive.push(class);
                    weights.push(times_power_of_two(units as f64, exponent));
                }
            }
        }
        auc_up_to(max_fpr, &scores, &positive, Some(&weights))
    }

    pub(crate) fn put_words(&self, words: &mut Vec<u64>) {
        words.push(self.0.len() as u64);
        words.extend(self.0.iter().flat_map(|(key, weight)| [*key, weight.pos, weight.neg]));
    }

    pub(crate) fn take_words(&mut self, reader: &mut Reader<'_>) -> Result<(), RankError> {
        for _ in 0..reader.word()? {
            let &[key, pos, neg] = reader.array()?;
            if f64::from_key(key).is_nan() || self.0.last().is_some_and(|last| last.0 >= key) {
                return Err(RankError::BadAnswer("scores do not rise".to_owned()));
            }
            self.0.push((key, ClassMasses { pos, neg }));
        }
        Ok(())
    }
}
