//! Questions about the trial of pairs of categories, and their answers.

use serde::{Deserialize, Serialize};

use super::super::gain::GainSums;
use super::super::pair_merit::{MeritSums, StepSums};
use super::ask::BagStep;
use crate::RankError;
use crate::rows::words::{WordReader, put_list, put_wide};
use crate::rows::{Mergeable, SentSteps, other};

/// Asks about a trial, at the scores of a bag after some steps.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskTrial {
    pub(super) steps: SentSteps<BagStep>,
    pub(super) want: TrialWant,
}

/// What is requested at the scores of a bag.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum TrialWant {
    /// By how much the loss of its held-out rows falls from its scores to those of another bag, after
    /// the steps of its log; masses of rows are shifted by some bits.
    Gain { shift: u32, log: u64, after: SentSteps<BagStep> },
    /// For pairs of features the sums of the training rows of each pair of categories.
    Steps(Vec<[usize; 2]>),
    /// For pairs of features the sums of the held-out rows by a step for each pair of categories.
    Merits(Vec<PairStep>),
}

/// The Newton step of each pair of categories of two features.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PairStep {
    pub(super) features: [usize; 2],
    /// Pairs as numbers, ascending.
    pub(super) pairs: Vec<u64>,
    pub(super) steps: Vec<f64>,
}

/// The answer of some rows.
#[derive(Debug, Clone)]
pub(crate) enum TrialSums {
    Gain(GainSums),
    /// For each pair of features its pairs of categories as numbers, ascending, with their sums.
    Steps(Vec<Vec<(u64, StepSums)>>),
    Merits(Vec<MeritSums>),
}

impl TrialSums {
    /// The sums of no rows.
    pub(super) fn none(want: &TrialWant) -> Self {
        match want {
            TrialWant::Gain { .. } => Self::Gain(GainSums::default()),
            TrialWant::Steps(pairs) => Self::Steps(vec![Vec::new(); pairs.len()]),
            TrialWant::Merits(steps) => Self::Merits(vec![MeritSums::default(); steps.len()]),
        }
    }
}

impl Mergeable for TrialSums {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        match (self, more) {
            (Self::Gain(own), Self::Gain(more)) => own.merge(&more),
            (Self::Steps(own), Self::Steps(more)) => {
                for (own, more) in own.iter_mut().zip(more) {
                    own.extend(more);
                    merge_equal(own);
                }
            }
            (Self::Merits(own), Self::Merits(more)) => {
                own.iter_mut().zip(more).for_each(|(own, more)| own.merge(more));
            }
            _ => return Err(other()),
        }
        Ok(())
    }

    fn put_words(&mut self, words: &mut Vec<u64>) {
        match self {
            Self::Gain(sums) => sums.numbers().into_iter().for_each(|number| put(words, number)),
            Self::Steps(of_features) => {
                for sums in of_features {
                    put_list(words, sums.iter().map(|(number, _)| *number));
                    for (_, StepSums { gradient, hessian }) in sums {
                        put(words, *gradient);
                        put(words, *hessian);
                    }
                }
            }
            Self::Merits(of_features) => {
                for MeritSums { gain, variance } in of_features {
                    put(words, *gain);
                    put(words, *variance);
                }
            }
        }
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        match self {
            Self::Gain(sums) => {
                for number in sums.numbers_mut() {
                    *number = take(reader)?;
                }
            }
            Self::Steps(of_features) => {
                for sums in of_features {
                    let numbers = reader.list()?;
                    sums.clear();
                    for &number in numbers {
                        let [gradient, hessian] = [take(reader)?, take(reader)?];
                        sums.push((number, StepSums { gradient, hessian }));
                    }
                }
            }
            Self::Merits(of_features) => {
                for sums in of_features {
                    *sums = MeritSums { gain: take(reader)?, variance: take(reader)? };
                }
            }
        }
        Ok(())
    }
}

/// Adds up the sums of equal pairs, in ascending order.
pub(super) fn merge_equal(sums: &mut Vec<(u64, StepSums)>) {
    sums.sort_unstable_by_key(|(number, _)| *number);
    sums.dedup_by(|more, own| {
        let is_same = own.0 == more.0;
        if is_same {
            own.1.merge(more.1);
        }
        is_same
    });
}

fn put(words: &mut Vec<u64>, number: i128) {
    put_wide(words, number.cast_unsigned());
}

fn take(reader: &mut WordReader<'_>) -> Result<i128, RankError> {
    Ok(reader.wide()?.cast_signed())
}
