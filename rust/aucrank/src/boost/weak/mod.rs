//! Weak rankers: whatever ranks weighted rows a little better than chance (paper 3 Definition 1;
//! DECISIONS B1).

mod feature;
pub(super) mod linear;

use serde::{Deserialize, Serialize};

use super::scored::{RowScorer, ScoredTerm, Shape};
use super::term::{FeatureTerm, Term, TreeTerm};
use crate::data::{Binned, ClassMasses, Columns, Labels, midpoint};
use crate::tree::RankingTree;
use crate::{Interrupt, RankError};

use feature::{BestFeature, BestThreshold};

/// Which weak ranker is boosted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WeakRankerParams {
    /// The single feature of the highest AUC, in either direction.
    Feature,
    /// The single threshold of the largest TPR - FPR.
    Threshold,
}

impl WeakRankerParams {
    pub(super) fn ranker(&self) -> Box<dyn WeakRanker> {
        match self {
            Self::Feature => Box::new(BestFeature),
            Self::Threshold => Box::new(BestThreshold),
        }
    }
}

/// The rows of a fit, as weak rankers see them.
#[derive(Debug, Clone, Copy)]
pub(super) struct WeakSample<'a> {
    pub(super) columns: &'a Columns<'a>,
    pub(super) binned: &'a Binned,
    pub(super) labels: &'a Labels<'a>,
    pub(super) interrupt: &'a Interrupt,
}

/// What a weak ranker is to be fitted to.
#[derive(Debug, Clone, Copy)]
pub(super) struct WeakTask<'a> {
    /// Mass of every row of the sample, learned from or not.
    pub(super) masses: &'a [u64],
    /// Rows to learn from, ascending; both classes have mass among them.
    pub(super) rows: &'a [u32],
    /// Features to learn from, ascending; `None` for all.
    pub(super) features: Option<&'a [usize]>,
    /// For what is random.
    pub(super) seed: u64,
}

/// Fits rankers to masses.
pub(super) trait WeakRanker: Sync {
    /// The ranking of all rows of the sample by a ranker fitted to the task; `None` where none is better
    /// than chance.
    fn rank(
        &self,
        sample: &WeakSample<'_>,
        task: &WeakTask<'_>,
    ) -> Result<Option<Ranking>, RankError>;
}

/// A fitted weak ranker, and how it ranks the rows of the sample: in groups of equal score.
#[derive(Debug)]
pub(super) struct Ranking {
    pub(super) ranker: Ranker,
    pub(super) groups: Groups,
    /// Masses of each group of the rows of the task, in ascending order of the score.
    pub(super) sums: Vec<ClassMasses>,
}

/// A fitted weak ranker.
#[derive(Debug)]
pub(super) enum Ranker {
    /// A feature, or some of it; its groups are of codes.
    Feature,
    /// A tree; its groups are its leaves, the last in the ranking first.
    Tree(RankingTree),
    /// A ranker with scores.
    Scored {
        scorer: RowScorer,
        /// Score of each group, ascending.
        scores: Vec<f64>,
    },
}

/// Group of each row.
#[derive(Debug)]
pub(super) enum Groups {
    /// By the code of a feature.
    Codes {
        feature: usize,
        /// Group of each code, the missing one the last; `None` for those without mass.
        of_code: Vec<Option<u32>>,
    },
    /// Row by row.
    Rows(Vec<u32>),
}

impl Ranking {
    /// The term that has the given values at the groups, `unseen` where a feature is missing which no
    /// row missed.
    #[expect(clippy::float_cmp, reason = "groups of one side have the same value")]
    pub(super) fn into_term(self, sample: &WeakSample<'_>, values: &[f64], unseen: f64) -> Term {
        match (self.ranker, self.groups) {
            (Ranker::Feature, Groups::Codes { feature, of_code }) => {
                let bins = &sample.binned.features()[feature];
                let value_of_code: Vec<Option<f64>> =
                    of_code.iter().map(|group| group.map(|group| values[group as usize])).collect();
                let missing = value_of_code[bins.n_bins()].unwrap_or(unseen);
                Term::Feature(FeatureTerm::of_codes(feature, bins, &value_of_code, missing))
            }
            (Ranker::Tree(tree), _) => {
                Term::Tree(TreeTerm { tree, values: values.iter().rev().copied().collect() })
            }
            (Ranker::Scored { scorer, scores }, _) => {
                let (low, high) = (values[0], values[values.len() - 1]);
                let n_low = values.partition_point(|&value| value == low);
                let threshold = midpoint(scores[n_low - 1], scores[n_low]);
                Term::Scored(ScoredTerm { scorer, shape: Shape::Cut { threshold, low, high } })
            }
            (Ranker::Feature, Groups::Rows(_)) => unreachable!("a feature groups by its codes"),
        }
    }
}
