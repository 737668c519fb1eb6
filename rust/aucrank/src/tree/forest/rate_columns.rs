//! Categories of many levels by their rates.
//!
//! Trees of a forest may ask the columns of rates of a fit (`data/rates/rate_columns.rs`); the finished forest
//! asks sets of categories. Rows out of bag are ranked, during a fit, by the steps of their folds: what is
//! measured on them is not helped by their own labels.

use std::sync::Arc;

use super::ranking_forest::RankingForest;
use crate::data::RateColumns;
use crate::formula::Test;
use crate::prepared::Prepared;
use crate::tree::model::TreeFrame;

impl RankingForest {
    /// An earlier forest as it was while it grew, if it grew with these rates.
    pub(super) fn with_rates(self, rates: &RateColumns) -> Self {
        self.changed(|test| test.with_rates(rates), |frame| frame.with_rates(rates))
    }

    /// The forest in questions to features.
    pub(super) fn without_rates(self, rates: &RateColumns) -> Self {
        self.changed(|test| test.without_rates(rates), |frame| frame.without_rates(rates))
    }

    /// Changes the questions of trees and their frames, which stay shared.
    fn changed(
        mut self,
        of_test: impl Fn(&Test) -> Option<Test>,
        of_frame: impl Fn(&TreeFrame) -> TreeFrame,
    ) -> Self {
        let mut last: Option<[Arc<TreeFrame>; 2]> = None;
        for tree in &mut self.trees {
            let before = Arc::clone(tree.frame());
            let after = match &last {
                Some([of, after]) if Arc::ptr_eq(of, &before) => Arc::clone(after),
                _ => Arc::new(of_frame(&before)),
            };
            tree.change(&after, &of_test);
            last = Some([before, after]);
        }
        self.prepared = Prepared::default();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::fit_forest;
    use super::*;
    use crate::Interrupt;
    use crate::data::{Column, Columns, Labels, LevelRates, MISSING_CODE, mix};
    use crate::formula::Rule;
    use crate::tree::{
        Aggregation, BootstrapParams, ForestParams, GrowParams, LeafRankParams, RankingTree,
        SplitRule, TreeRankParams,
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

    /// Fits a forest to a number of noise and a feature of many categories that determines the class, and scores
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
