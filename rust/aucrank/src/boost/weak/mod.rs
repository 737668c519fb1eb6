//! Weak rankers: any method that ranks weighted rows slightly better than chance (paper 3
//! Definition 1; DECISIONS B1), such as by a numeric score, whose ties form a group.

mod external;
pub(super) mod feature;
pub(super) mod linear;
mod tree;

use serde::{Deserialize, Serialize};

use super::scored::{RowScorer, ScoredTerm};
use super::term::{Term, TreeTerm};
use crate::data::{
    Binned, ClassMasses, Columns, FeatureBins, FeatureTerm, Labels, MassRows, RateColumns,
    RowTally, binds, midpoint,
};
use crate::external::ExternalFitter;
use crate::parallel::prelude::*;
use crate::tree::{RankingTree, SplitRule, TreeRankParams};
use crate::{Interrupt, RankError, parallel};
use external::ExternalRanker;
use feature::{BestFeature, BestThreshold, BinRule};
use linear::FisherRanker;
use tree::ShallowTree;

/// The weak ranker to boost.
///
/// # Examples
///
/// ```
/// use aucrank::boost::{
///     FitExtras, RankBoostParams, RoundParams, WeakRankerParams, fit_rank_boost,
/// };
/// use aucrank::data::{Column, Columns, Labels};
/// use aucrank::{Interrupt, RankError};
///
/// let codes = [0, 1, 0, 1];
/// let columns = Columns::new(vec![Column::Codes { codes: &codes, n_levels: 2 }], 4)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let fit = |weak_ranker| {
///     let rounds = RoundParams { n_rounds: 1, weak_ranker, ..RoundParams::default() };
///     let params = RankBoostParams { rounds, ..RankBoostParams::default() };
///     let extras = FitExtras::default();
///     fit_rank_boost((&columns, &labels), &params, &extras, &Interrupt::default())
/// };
/// assert_eq!(fit(WeakRankerParams::Feature)?.advantages(), [0.5]);
/// let err = fit(WeakRankerParams::Linear).unwrap_err();
/// assert_eq!(err, RankError::CategoricalWeight { column: 0 });
/// # Ok::<(), RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WeakRankerParams {
    /// The single feature of the highest AUC, in either direction.
    Feature,
    /// The single threshold of the largest TPR - FPR.
    Threshold,
    /// Fisher's linear discriminant; all features must be numbers.
    Linear,
    /// A ranking tree without pruning. Rows are binned once for all rounds and seeds are drawn for
    /// each, so its `binning` and `seed` are ignored, except for the folds of inner trees.
    Tree(Box<TreeRankParams>),
    /// An external ranker.
    External,
}

impl WeakRankerParams {
    /// The learner of these rankers on a sample, after its one-time preparation. Rankers of single
    /// features obey the directions in `monotonic`; others must be [bound](Self::bind) to them.
    pub(super) fn ranker<'a>(
        &'a self,
        sample: &WeakSample<'a>,
        monotonic: &'a [i8],
    ) -> Result<Box<dyn WeakRanker + 'a>, RankError> {
        Ok(match self {
            Self::Feature => Box::new(BestFeature { monotonic }),
            Self::Threshold => Box::new(BestThreshold { monotonic }),
            Self::Linear => Box::new(FisherRanker::new(sample)?),
            Self::Tree(params) => Box::new(ShallowTree::new(params, sample)?),
            Self::External => Box::new(ExternalRanker),
        })
    }

    /// The rule of choice by the masses of the bins of a feature, for rankers that need nothing
    /// else.
    pub(super) fn bin_rule(&self) -> Option<BinRule> {
        match self {
            Self::Feature => BestFeature { monotonic: &[] }.bin_rule(),
            Self::Threshold => BestThreshold { monotonic: &[] }.bin_rule(),
            Self::Linear | Self::Tree(_) | Self::External => None,
        }
    }

    /// Whether the ranker tests single features and can use the rates of rare categories.
    pub(super) fn can_ask_rates(&self) -> bool {
        match self {
            Self::Feature | Self::Threshold => true,
            Self::Tree(params) => matches!(params.split, SplitRule::Stumps(_)),
            Self::Linear | Self::External => false,
        }
    }

    /// The same ranker on columns including those of rates.
    pub(super) fn with_rates(&self, rates: &RateColumns) -> Self {
        match self {
            Self::Tree(params) => Self::Tree(Box::new(params.with_rates(rates))),
            other => other.clone(),
        }
    }

    /// Makes the trees obey directions of the features; an error for rankers that cannot.
    pub(super) fn bind(&mut self, monotonic: &[i8]) -> Result<(), RankError> {
        let refuse = |rule| {
            let (name, value) = ("monotonic_cst", "given".to_owned());
            Err(RankError::BadParameter { name, value, rule })
        };
        if !binds(monotonic) {
            return Ok(());
        }
        match self {
            Self::Feature | Self::Threshold => Ok(()),
            Self::Tree(params) if binds(&params.monotonic) => {
                refuse("left out of the booster or of its trees")
            }
            Self::Tree(params) => {
                params.monotonic = monotonic.to_vec();
                Ok(())
            }
            Self::Linear => refuse("left out for linear weak rankers"),
            Self::External => refuse("left out for a weak ranker of your own"),
        }
    }
}

/// The rows of a fit, as weak rankers see them.
#[derive(Debug, Clone, Copy)]
pub(super) struct WeakSample<'a> {
    pub(super) columns: &'a Columns<'a>,
    pub(super) binned: &'a Binned,
    pub(super) labels: &'a Labels<'a>,
    /// Fits external rankers.
    pub(super) external: Option<&'a dyn ExternalFitter>,
    pub(super) interrupt: &'a Interrupt,
}

/// The task of one weak ranker.
#[derive(Debug, Clone, Copy)]
pub(super) struct WeakTask<'a> {
    /// Mass of every row of the sample, in the training subset or not.
    pub(super) masses: &'a [u64],
    /// Rows to learn from, ascending; both classes have mass among them.
    pub(super) rows: &'a [u32],
    /// Features to learn from, ascending; `None` for all.
    pub(super) features: Option<&'a [usize]>,
    /// Random seed.
    pub(super) seed: u64,
}

/// Fits rankers to masses.
pub(super) trait WeakRanker: Sync {
    /// The ranking of all rows of the sample by a ranker fitted to the task; `None` if none is
    /// better than chance.
    fn rank(
        &self,
        sample: &WeakSample<'_>,
        task: &WeakTask<'_>,
    ) -> Result<Option<WeakRanking>, RankError>;

    /// The rule of choice by the masses of the bins, if nothing else is needed: many rankers are
    /// then fitted in one pass over the rows.
    fn bin_rule(&self) -> Option<BinRule> {
        None
    }
}

/// A fitted weak ranker, and its ranking of the rows of the sample in groups of equal score.
#[derive(Debug)]
pub(super) struct WeakRanking {
    pub(super) ranker: Ranker,
    pub(super) groups: RankGroups,
    /// Masses of each group of the rows of the task, in ascending order of the score.
    pub(super) sums: Vec<ClassMasses>,
}

/// A fitted weak ranker.
#[derive(Debug)]
pub(super) enum Ranker {
    /// A single feature; its groups are of codes.
    Feature,
    /// A tree; its groups are its leaves, in reverse order of the ranking.
    Tree(RankingTree),
    /// A ranker with scores.
    Scored {
        scorer: RowScorer,
        /// Between the groups, ascending; a score equal to a threshold is in the group above.
        thresholds: Vec<f64>,
    },
}

/// Group of each row.
#[derive(Debug)]
pub(super) enum RankGroups {
    /// By the code of a feature.
    Codes {
        feature: usize,
        /// Group of each code, the missing one last; `None` for codes without mass.
        of_code: Vec<Option<u32>>,
    },
    /// Row by row.
    Rows(Vec<u32>),
}

impl WeakRanking {
    /// The same ranking with at most `n_groups` groups, if they are of scores: neighbours are
    /// merged to about equal mass. One value for each of many scores would make a large term that
    /// separates nearly equal rows.
    pub(super) fn with_at_most(mut self, n_groups: usize) -> Self {
        let Ranker::Scored { thresholds, .. } = &mut self.ranker else { return self };
        let RankGroups::Rows(of_row) = &mut self.groups else { return self };
        if self.sums.len() <= n_groups {
            return self;
        }
        let wider = about_equal(&self.sums, n_groups);
        let mut sums = vec![ClassMasses::default(); wider[wider.len() - 1] as usize + 1];
        for (&group, &masses) in wider.iter().zip(&self.sums) {
            sums[group as usize] += masses;
        }
        self.sums = sums;
        let mut is_between = wider.windows(2).map(|pair| pair[0] != pair[1]);
        thresholds.retain(|_| is_between.next() == Some(true));
        for group in of_row {
            *group = wider[*group as usize];
        }
        self
    }

    /// The term with the given values at the groups, and `unseen` for a missing value of a feature
    /// that was never missing; and the groups.
    pub(super) fn into_term(
        self,
        features: &[FeatureBins],
        values: &[f64],
        unseen: f64,
    ) -> (Term, RankGroups) {
        let term = match (self.ranker, &self.groups) {
            (Ranker::Feature, RankGroups::Codes { feature, of_code }) => {
                let (feature, bins) = (*feature, &features[*feature]);
                let value_of_code: Vec<Option<f64>> =
                    of_code.iter().map(|group| group.map(|group| values[group as usize])).collect();
                let missing = value_of_code[bins.n_bins()].unwrap_or(unseen);
                Term::Feature(FeatureTerm::of_codes(feature, bins, &value_of_code, missing))
            }
            (Ranker::Tree(tree), _) => {
                Term::Tree(TreeTerm { tree, values: values.iter().rev().copied().collect() })
            }
            (Ranker::Scored { scorer, thresholds }, _) => {
                Term::Scored(ScoredTerm::of_steps(scorer, &thresholds, values))
            }
            (Ranker::Feature, RankGroups::Rows(_)) => unreachable!("a feature groups by its codes"),
        };
        (term, self.groups)
    }
}

/// The ranking by the scores of all rows of the sample, reversed if that has the higher AUC; `None`
/// if neither direction is better than chance. `scorer` receives whether it is reversed.
fn ranking_by_score(
    sample: &WeakSample<'_>,
    task: &WeakTask<'_>,
    mut scores: Vec<f64>,
    scorer: impl FnOnce(bool) -> RowScorer,
) -> Result<Option<WeakRanking>, RankError> {
    let masses = MassRows { positive: sample.labels.positive(), masses: task.masses };
    let has_mass = |row: &u32| task.masses[*row as usize] > 0;
    let mut ordered: Vec<(f64, u32)> =
        task.rows.iter().copied().filter(has_mass).map(|row| (scores[row as usize], row)).collect();
    if let Some((_, row)) = ordered.iter().find(|(score, _)| score.is_nan()) {
        return Err(RankError::NanScore(*row as usize));
    }
    ordered.par_sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    #[expect(clippy::float_cmp, reason = "a tie is exact equality")]
    let tied = ordered.chunk_by(|a, b| a.0 == b.0);
    let mut groups: Vec<(f64, ClassMasses)> = tied
        .map(|tied| (tied[0].0, tied.iter().map(|&(_, row)| masses.of(row as usize)).sum()))
        .collect();
    let area = ClassMasses::area(groups.iter().map(|&(_, sums)| sums));
    if area == 0 {
        return Ok(None);
    }
    let is_reversed = area < 0;
    if is_reversed {
        groups.reverse();
        let of_groups = groups.iter_mut().map(|(score, _)| score);
        for score in of_groups.chain(&mut scores) {
            *score = -*score;
        }
    }
    let thresholds: Vec<f64> =
        groups.windows(2).map(|pair| midpoint(pair[0].0, pair[1].0)).collect();
    let group = |score: f64| thresholds.partition_point(|&threshold| threshold <= score) as u32;
    let of_row = parallel::values(scores.len(), |row| group(scores[row]));
    Ok(Some(WeakRanking {
        ranker: Ranker::Scored { scorer: scorer(is_reversed), thresholds },
        groups: RankGroups::Rows(of_row),
        sums: groups.into_iter().map(|(_, sums)| sums).collect(),
    }))
}

/// For each group the index of the merged group it belongs to: at most `n_groups` of them, each a
/// run of about equal mass, both classes counting equally.
fn about_equal(groups: &[ClassMasses], n_groups: usize) -> Vec<u32> {
    let total: ClassMasses = groups.iter().copied().sum();
    // Mass of a set in units of 1/2PN of the whole, which is 2PN.
    let mass = |set: ClassMasses| {
        let cross = |a: u64, b: u64| u128::from(a) * u128::from(b);
        cross(set.pos, total.neg) + cross(set.neg, total.pos)
    };
    let whole = mass(total);
    let (mut below, mut wider, mut last_part) = (ClassMasses::default(), Vec::new(), 0);
    for &group in groups {
        // The merged group in which the group begins; masses take 2^105, and `n_groups` 2^20.
        let part = (mass(below) * n_groups as u128 / whole).min(n_groups as u128 - 1);
        let number = wider.last().map_or(0, |&last| last + u32::from(part != last_part));
        wider.push(number);
        last_part = part;
        below += group;
    }
    wider
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::data::BinningParams;

    /// Pseudo-random numbers.
    pub(in crate::boost) struct Draws(pub(in crate::boost) u64);

    impl Draws {
        pub(in crate::boost) fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 20) % bound
        }

        pub(in crate::boost) fn number(&mut self, bound: u64) -> f64 {
            self.below(bound) as f64
        }
    }

    pub(in crate::boost) fn ranked_by(
        weak: &WeakRankerParams,
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        masses: &[u64],
        features: Option<&[usize]>,
        external: Option<&dyn ExternalFitter>,
    ) -> Result<Option<WeakRanking>, RankError> {
        let interrupt = &Interrupt::default();
        let binned = &Binned::new(columns, labels, BinningParams::default(), interrupt)?;
        let sample = WeakSample { columns, binned, labels, external, interrupt };
        let rows = labels.rows();
        let task = WeakTask { masses, rows: &rows, features, seed: 7 };
        weak.ranker(&sample, &[])?.rank(&sample, &task)
    }

    /// The ranking by the core.
    pub(in crate::boost) fn ranked(
        weak: &WeakRankerParams,
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        masses: &[u64],
        features: Option<&[usize]>,
    ) -> Option<WeakRanking> {
        ranked_by(weak, columns, labels, masses, features, None).unwrap()
    }

    /// The term of a ranking of at most `most` groups of scores whose groups have the values 0, 1,
    /// ..., and its value at each row of the sample.
    pub(in crate::boost) fn graded(
        weak: &WeakRankerParams,
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        masses: &[u64],
        most: usize,
    ) -> (Term, Vec<f64>) {
        let interrupt = &Interrupt::default();
        let binned = &Binned::new(columns, labels, BinningParams::default(), interrupt).unwrap();
        let ranking = ranked(weak, columns, labels, masses, None).unwrap().with_at_most(most);
        let values: Vec<f64> = (0..ranking.sums.len()).map(|group| group as f64).collect();
        let (term, groups) = ranking.into_term(binned.features(), &values, -1.0);
        let group = |row: usize| match &groups {
            RankGroups::Codes { feature, of_code } => of_code[binned.code(row, *feature) as usize],
            RankGroups::Rows(of_row) => Some(of_row[row]),
        };
        let of_row = (0..columns.n_rows()).map(|row| group(row).map_or(-1.0, f64::from)).collect();
        (term, of_row)
    }

    fn groups(sizes: &[(u64, u64)]) -> Vec<ClassMasses> {
        sizes.iter().map(|&(pos, neg)| ClassMasses { pos, neg }).collect()
    }

    #[test]
    fn groups_are_merged_to_about_equal_mass() {
        let ones = groups(&[(1, 1); 12]);
        assert_eq!(about_equal(&ones, 4), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
        assert_eq!(about_equal(&ones, 100), (0..12).collect::<Vec<_>>());
        assert_eq!(about_equal(&ones, 1), [0; 12]);
        // A group is never cut; classes count equally whatever their masses.
        let uneven = groups(&[(1, 0), (0, 1000), (1, 0), (8, 0), (0, 1000)]);
        assert_eq!(about_equal(&uneven, 2), [0, 0, 0, 0, 1]);
    }
}
