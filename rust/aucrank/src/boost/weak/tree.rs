//! A shallow ranking tree as a weak ranker.

use super::{RankGroups, Ranker, WeakRanker, WeakRanking, WeakSample, WeakTask};
use crate::RankError;
use crate::data::ClassMasses;
use crate::tree::{ReweightedTrees, TreeRankParams};

/// Grows trees that rank by their leaves.
#[derive(Debug)]
pub(super) struct ShallowTree<'a>(ReweightedTrees<'a>);

impl<'a> ShallowTree<'a> {
    pub(super) fn new(
        params: &'a TreeRankParams,
        sample: &WeakSample<'a>,
    ) -> Result<Self, RankError> {
        if params.pruning.is_some() {
            return Err(RankError::BadParameter {
                name: "pruning",
                value: "given".to_owned(),
                rule: "left out: a weak tree is not pruned",
            });
        }
        let WeakSample { columns, binned, labels, interrupt, .. } = *sample;
        ReweightedTrees::new(columns, binned, labels, params, interrupt).map(Self)
    }
}

impl WeakRanker for ShallowTree<'_> {
    fn rank(
        &self,
        sample: &WeakSample<'_>,
        task: &WeakTask<'_>,
    ) -> Result<Option<WeakRanking>, RankError> {
        let rows = task.rows.to_vec();
        let tree = self.0.grow(task.masses, rows, task.features, task.seed, sample.interrupt)?;
        let leaves = tree.leaf_sums();
        // Each split has a gain, so more than one leaf is better than chance.
        if leaves.len() < 2 {
            return Ok(None);
        }
        let last = leaves.len() as u32 - 1;
        let groups = self.0.places(&tree)?.into_iter().map(|place| last - place).collect();
        let masses = leaves.iter().rev().map(|sums| ClassMasses { pos: sums.pos, neg: sums.neg });
        let sums = masses.collect();
        Ok(Some(WeakRanking { ranker: Ranker::Tree(tree), groups: RankGroups::Rows(groups), sums }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::boost::weak::WeakRankerParams;
    use crate::boost::weak::tests::{Draws, ranked};
    use crate::data::{Binned, BinningParams, Columns, Labels};
    use crate::tree::{
        CvParams, DyadicParams, GrowParams, LeafOrder, LeafRankParams, PruningRule, SplitRule,
        TreeError, fit,
    };

    fn params(split: SplitRule, leaf_order: LeafOrder) -> TreeRankParams {
        TreeRankParams {
            seed: 4,
            ..TreeRankParams::new(
                GrowParams { max_depth: 3, leaf_order, ..GrowParams::default() },
                split,
            )
        }
    }

    #[test]
    fn the_tree_is_that_of_a_fit_with_these_weights() {
        let mut draws = Draws(5);
        let values: Vec<f64> = (0..900)
            .map(|_| if draws.below(9) == 0 { f64::NAN } else { draws.number(40) })
            .collect();
        let positive: Vec<bool> =
            (0..300).map(|row| values[3 * row] + draws.number(30) > values[3 * row + 1]).collect();
        // Not multiples of a common mass, so that they do not count as copies: every row is one.
        let masses: Vec<u64> = (0..300).map(|_| draws.below(1000) + 1).collect();
        let weights: Vec<f64> = masses.iter().map(|&mass| mass as f64 / 1024.0).collect();
        let columns = Columns::from_row_major(&values, 3).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let weighted = Labels::new(&positive, Some(&weights)).unwrap();
        let rules = [
            SplitRule::Stumps(LeafRankParams::orthogonal(5)),
            SplitRule::Stumps(LeafRankParams { max_depth: 3, ..LeafRankParams::orthogonal(2) }),
            SplitRule::Dyadic(DyadicParams { level: Some(2) }),
        ];
        for (rule, leaf_order) in
            rules.into_iter().zip([LeafOrder::Tree, LeafOrder::Eta, LeafOrder::Eta])
        {
            let params = params(rule, leaf_order);
            let interrupt = Interrupt::default();
            let expected = fit((&columns, &weighted), &params, &interrupt).unwrap().tree;
            let weak = WeakRankerParams::Tree(Box::new(params));
            let found = ranked(&weak, &columns, &labels, &masses, None).unwrap();
            let Ranker::Tree(tree) = &found.ranker else { panic!("a tree") };
            assert!(tree.n_leaves() > 3);
            assert_eq!(tree.n_leaves(), expected.n_leaves());
            let places = expected.apply(&columns, None).unwrap();
            let RankGroups::Rows(groups) = &found.groups else { panic!("row by row") };
            let last = tree.n_leaves() as u32 - 1;
            assert!(groups.iter().zip(&places).all(|(group, place)| group + place == last));
            let mut sums = vec![ClassMasses::default(); tree.n_leaves()];
            for row in 0..300 {
                let sum = &mut sums[groups[row] as usize];
                let class = if positive[row] { &mut sum.pos } else { &mut sum.neg };
                *class += masses[row];
            }
            assert_eq!(found.sums, sums);
        }
    }

    #[test]
    fn a_tree_tests_only_allowed_features() {
        let mut draws = Draws(8);
        let values: Vec<f64> = (0..800).map(|_| draws.number(50)).collect();
        let positive: Vec<bool> =
            (0..200).map(|row| values[4 * row] + draws.number(20) > 30.0).collect();
        let columns = Columns::from_row_major(&values, 4).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        for max_features in [None, Some(1)] {
            let stumps = LeafRankParams { max_features, ..LeafRankParams::orthogonal(5) };
            let weak = WeakRankerParams::Tree(Box::new(params(
                SplitRule::Stumps(stumps),
                LeafOrder::Tree,
            )));
            let found = ranked(&weak, &columns, &labels, &[7; 200], Some(&[1, 3])).unwrap();
            let Ranker::Tree(tree) = &found.ranker else { panic!("a tree") };
            let importances = tree.importances();
            assert_eq!((importances[0], importances[2]), (0.0, 0.0));
            assert!(importances[3] + importances[1] > 0.0);
        }
    }

    #[test]
    fn invalid_weak_trees_are_refused() {
        let columns = Columns::from_row_major(&[1.0, 2.0], 1).unwrap();
        let labels = Labels::new(&[false, true], None).unwrap();
        let interrupt = Interrupt::default();
        let binned = Binned::new(&columns, &labels, BinningParams::default(), &interrupt).unwrap();
        let sample = WeakSample {
            columns: &columns,
            binned: &binned,
            labels: &labels,
            external: None,
            interrupt: &interrupt,
        };
        let task = WeakTask { masses: &[9, 9], rows: &[0, 1], features: None, seed: 0 };
        let rank =
            |params: &TreeRankParams| ShallowTree::new(params, &sample)?.rank(&sample, &task);
        let stumps = params(SplitRule::Stumps(LeafRankParams::orthogonal(5)), LeafOrder::Tree);
        assert!(rank(&stumps).unwrap().is_none(), "too few rows to split");
        let classifier = TreeRankParams { split: SplitRule::Classifier, ..stumps.clone() };
        assert_eq!(rank(&classifier).unwrap_err(), RankError::Tree(TreeError::NeedsClassifiers));
        let pruning = CvParams { n_folds: 2, one_standard_error: false, seed: 0 };
        let pruning = Some(PruningRule::CrossValidation(pruning));
        let message = |params| rank(&params).unwrap_err().to_string();
        assert!(
            message(TreeRankParams { pruning, ..stumps.clone() }).starts_with("pruning is given")
        );
        let grow = GrowParams { max_depth: 0, ..stumps.grow };
        assert!(message(TreeRankParams { grow, ..stumps }).starts_with("max_depth is 0"));
        let task = WeakTask { features: Some(&[0]), ..task };
        let cubes = params(SplitRule::Dyadic(DyadicParams { level: Some(1) }), LeafOrder::Tree);
        let err = ShallowTree::new(&cubes, &sample).unwrap().rank(&sample, &task).unwrap_err();
        assert!(err.to_string().contains("cubes, which ask all features at once"), "{err}");
    }
}
