//! Categories of many levels by their rates.
//!
//! Where rare categories hold a good part of the rows, trees may ask one more number, known to the fit
//! alone: the rate of the category of each row in the other folds, in steps (`data/fold_rates.rs`). In the
//! finished forest a threshold on it is the set of categories that it stands for by all rows
//! (`data/rate_steps.rs`). Rows out of bag are ranked, during a fit, by the steps of their folds: what is
//! measured on them is not helped by their own labels.

use std::sync::Arc;

use super::ranking_forest::RankingForest;
use crate::data::{
    Binned, Column, Columns, FeatureBins, Labels, LevelRates, RateSteps, SEED_OF_RATES,
    coded_rates, deal_for_rates, features_with_rare_levels, mix,
};
use crate::formula::{Rule, Test};
use crate::prepared::Prepared;
use crate::tree::fit::TreeRankParams;
use crate::tree::model::{RankingTree, TreeFrame};
use crate::{Interrupt, RankError, parallel};

/// The columns of rates of a fit, behind those of its features.
#[derive(Debug)]
pub(super) struct ForestRates {
    n_features: usize,
    columns: Vec<ForestRate>,
}

#[derive(Debug)]
struct ForestRate {
    feature: usize,
    steps: RateSteps,
    of_row: Vec<u8>,
    /// The steps as numbers.
    values: Vec<f64>,
}

impl ForestRates {
    pub(super) fn new(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        params: &TreeRankParams,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let n_features = columns.n_features();
        let nothing = Self { n_features, columns: Vec::new() };
        let is_raw = params.binning.level_rates == LevelRates::Raw;
        if is_raw || !params.split.rule().is_of_stumps() {
            return Ok(nothing);
        }
        let features = features_with_rare_levels(columns, labels);
        if features.is_empty() {
            return Ok(nothing);
        }
        let seed = mix(seed ^ SEED_OF_RATES);
        let Some(folds) = deal_for_rates(columns, labels, seed, interrupt)? else {
            return Ok(nothing);
        };
        let training = labels.rows();
        let most = params.binning.max_bins.unwrap_or(usize::MAX);
        let of_feature = |(feature, is_rare): (usize, Vec<bool>)| {
            interrupt.check()?;
            let Column::Codes { codes, n_levels } = columns[feature] else { return Ok(None) };
            let learned = (labels, &training[..], &folds);
            let are_meant = |level| is_rare[level as usize];
            let coded = coded_rates((codes, n_levels), learned, most, are_meant);
            Ok(coded.map(|(steps, of_row)| {
                let values = of_row.iter().map(|&step| step.into()).collect();
                ForestRate { feature, steps, of_row, values }
            }))
        };
        let columns = parallel::try_map(features, of_feature)?.into_iter().flatten().collect();
        Ok(Self { n_features, columns })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Number of columns, those of the features included.
    pub(super) fn n_columns(&self) -> usize {
        self.n_features + self.columns.len()
    }

    /// The columns of a fit with those of rates behind them.
    pub(super) fn columns<'c>(&'c self, columns: &Columns<'c>) -> Result<Columns<'c>, RankError> {
        let rates = self.columns.iter().map(|rates| Column::from(&rates.values[..]));
        Columns::new(columns.iter().copied().chain(rates).collect(), columns.n_rows())
    }

    /// The parameters of a tree for as many columns.
    pub(super) fn params(&self, tree: &TreeRankParams) -> TreeRankParams {
        let mut tree = tree.clone();
        if !tree.monotonic.is_empty() {
            tree.monotonic.resize(self.n_columns(), 0);
        }
        tree
    }

    /// The codes of a fit with those of rates behind them.
    pub(super) fn codes(&self, binned: &Binned) -> Result<Binned, RankError> {
        let codes = self.columns.iter().map(|rates| {
            let n_cuts = rates.steps.cuts().len();
            let cuts = (1..=n_cuts).map(|step| step as f64 - 0.5).collect();
            (FeatureBins::Numeric { cuts }, rates.of_row.clone())
        });
        binned.with_narrow(codes.collect())
    }

    /// An earlier forest as it was while it grew, if it grew on these rows.
    pub(super) fn lift(&self, mut forest: RankingForest) -> RankingForest {
        change_tests(&mut forest, |test| {
            let of_feature = (self.n_features..).zip(&self.columns);
            let mut of_feature = of_feature.filter(|(_, rates)| rates.feature == test.feature);
            let Some((column, rates)) = of_feature.next() else { return };
            let threshold = |step: u32| f64::from(step) - 0.5;
            let below = test.step_of_rates(&rates.steps).map(|step| Rule::Below(threshold(step)));
            let from =
                || test.step_of_rates_from(&rates.steps).map(|step| Rule::AtLeast(threshold(step)));
            if let Some(left) = below.or_else(from) {
                *test = Test { feature: column, left, missing_left: test.missing_left };
            }
        });
        change_frames(&mut forest, |frame| {
            frame.n_levels.resize(self.n_columns(), None);
            frame.has_missing.resize(self.n_columns(), false);
            if !frame.monotonic.is_empty() {
                frame.monotonic.resize(self.n_columns(), 0);
            }
        });
        forest
    }

    /// The forest in questions to features.
    pub(super) fn lower(&self, mut forest: RankingForest) -> RankingForest {
        change_tests(&mut forest, |test| {
            let place = test.feature.checked_sub(self.n_features);
            let Some(rates) = place.map(|place| &self.columns[place]) else { return };
            let step = |threshold: f64| (threshold + 0.5) as u32;
            match test.left {
                Rule::Below(threshold) => {
                    *test = Test::of_rates(rates.feature, &rates.steps, step(threshold));
                }
                Rule::AtLeast(threshold) => {
                    *test = Test::of_rates_from(rates.feature, &rates.steps, step(threshold));
                }
                _ => unreachable!("no rate is missing"),
            }
        });
        change_frames(&mut forest, |frame| {
            frame.n_levels.truncate(self.n_features);
            frame.has_missing.truncate(self.n_features);
            frame.monotonic.truncate(self.n_features);
        });
        forest
    }
}

/// Changes the questions of trees.
fn change_tests(forest: &mut RankingForest, of_test: impl Fn(&mut Test)) {
    for split in forest.trees.iter_mut().flat_map(RankingTree::splits_mut) {
        split.form.tests_mut().for_each(&of_test);
    }
    forest.prepared = Prepared::default();
}

/// Changes the frames of trees, which stay shared.
fn change_frames(forest: &mut RankingForest, change: impl Fn(&mut TreeFrame)) {
    let mut last: Option<[Arc<TreeFrame>; 2]> = None;
    for tree in &mut forest.trees {
        let frame = match &last {
            Some([before, after]) if Arc::ptr_eq(before, tree.frame()) => Arc::clone(after),
            _ => {
                let mut changed = TreeFrame::clone(tree.frame());
                change(&mut changed);
                Arc::new(changed)
            }
        };
        last = Some([Arc::clone(tree.frame()), Arc::clone(&frame)]);
        tree.set_frame(&frame);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fit_forest;
    use super::*;
    use crate::data::MISSING_CODE;
    use crate::tree::{
        Aggregation, BootstrapParams, ForestParams, GrowParams, LeafRankParams, SplitRule,
    };

    const N_LEVELS: u32 = 400;

    fn unit(row: usize, what: u64) -> f64 {
        (mix(mix(row as u64) ^ what) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn params(n_trees: usize) -> ForestParams {
        let grow = GrowParams { min_samples_leaf: 5, ..GrowParams::default() };
        let split = SplitRule::Stumps(LeafRankParams::orthogonal(1));
        ForestParams {
            tree: TreeRankParams { seed: 3, ..TreeRankParams::new(grow, split) },
            leaf_sizes: Vec::new(),
            criteria: Vec::new(),
            n_trees,
            bootstrap: Some(BootstrapParams { share: 1.0 }),
            aggregation: Aggregation::Eta,
            out_of_bag: true,
            early_stopping: None,
        }
    }

    /// Fits a forest to a number of noise and a feature of many categories that tells the class, and scores
    /// rows of some categories.
    fn fit(
        params: &ForestParams,
        earlier: Option<RankingForest>,
        scored: &[u32],
    ) -> (RankingForest, Vec<f64>) {
        let noise: Vec<f64> = (0..3000).map(|row| unit(row, 0)).collect();
        // The last categories have no rows.
        let codes: Vec<u32> =
            (0..3000).map(|row| (unit(row, 1) * f64::from(N_LEVELS - 10)) as u32).collect();
        let positive: Vec<bool> =
            (0..3000).map(|row| unit(codes[row] as usize, 2) > unit(row, 3)).collect();
        let labels = Labels::new(&positive, None).unwrap();
        let of = |codes| Column::Codes { codes, n_levels: N_LEVELS };
        let columns = Columns::new(vec![Column::from(&noise[..]), of(&codes)], 3000).unwrap();
        let forest = fit_forest(&columns, &labels, params, earlier, &Interrupt::default()).unwrap();
        let rows = Column::from(&noise[..scored.len()]);
        let columns = Columns::new(vec![rows, of(scored)], scored.len()).unwrap();
        let scores = forest.score(&columns).unwrap();
        (forest, scores)
    }

    #[test]
    fn a_finished_forest_asks_sets_of_categories() {
        let (forest, scores) = fit(&params(20), None, &[]);
        assert!(scores.is_empty());
        let tests = || forest.trees.iter().flat_map(RankingTree::tests);
        assert!(tests().all(|test| test.feature < 2));
        let n_sets = tests().filter(|test| matches!(&test.left, Rule::Levels(_))).count();
        assert!(n_sets > 20);
        assert_eq!(forest.check(), Ok(()));
        assert!(forest.out_of_bag.as_ref().unwrap().auc > 0.65);
        #[cfg(feature = "serde")]
        {
            let text = serde_json::to_string(&forest).unwrap();
            assert_eq!(serde_json::from_str::<RankingForest>(&text).unwrap(), forest);
        }
    }

    #[test]
    fn a_forest_is_gone_on_with_as_it_grew() {
        let (half, _) = fit(&params(7), None, &[]);
        let (all, _) = fit(&params(16), None, &[]);
        assert_eq!(fit(&params(16), Some(half), &[]).0, all);
    }

    #[test]
    fn a_category_that_was_not_seen_is_scored_as_a_missing_one() {
        let many = |code| vec![code; 50];
        let (_, unseen) = fit(&params(10), None, &many(N_LEVELS - 1));
        let (_, missing) = fit(&params(10), None, &many(MISSING_CODE));
        let (_, seen) = fit(&params(10), None, &many(7));
        assert_eq!(unseen, missing);
        assert_ne!(seen, missing);
    }

    #[test]
    fn raw_rates_are_the_papers_search() {
        let mut raw = params(3);
        raw.tree.binning.level_rates = LevelRates::Raw;
        let (forest, _) = fit(&raw, None, &[]);
        let (other, _) = fit(&params(3), None, &[]);
        assert_ne!(forest, other);
    }
}
