//! Splits by external classifiers: weighted empirical risk minimisation (paper 2 Fig. 6).
//!
//! A classifier is identified by its number. The rule selects the training rows and the cost of
//! each, and decides whether the predictions are worth a split; an [`ExternalFitter`] does the
//! learning.

use super::{PreparedRule, RuleParams};
use crate::data::{
    Binned, CellId, ClassSums, Columns, Labels, MemorySource, RowTally, times_power_of_two,
};
use crate::external::{ExternalFitter, called_positive};
use crate::tree::TreeError;
use crate::tree::grow::{Division, LeastSplit, OpenNode, SplitFamily, Splitter};
use crate::tree::model::{RankingTree, SplitForm};
use crate::tree::sample::Sample;
use crate::{Interrupt, RankError};

/// The rule of [`SplitRule::Classifier`](crate::tree::SplitRule).
#[derive(Debug)]
pub(in crate::tree) struct ByClassifiers;

impl RuleParams for ByClassifiers {
    type Prepared<'a> = PreparedClassifiers<'a>;

    fn name(&self) -> &'static str {
        "a classifier"
    }

    fn validate(&self) -> Result<(), RankError> {
        Ok(())
    }

    fn prepare<'a>(
        &self,
        sample: &Sample<'a, ()>,
        _: u64,
        classifiers: Option<&'a dyn ExternalFitter>,
        _: &Interrupt,
    ) -> Result<PreparedClassifiers<'a>, RankError> {
        let classifiers = classifiers.ok_or(RankError::Tree(TreeError::NeedsClassifiers))?;
        let Sample { columns, labels, .. } = *sample;
        Ok(PreparedClassifiers { classifiers, columns, labels })
    }
}

/// Classifiers that can be fitted to the rows of a fit.
#[derive(Debug)]
pub(in crate::tree) struct PreparedClassifiers<'a> {
    classifiers: &'a dyn ExternalFitter,
    columns: &'a Columns<'a>,
    labels: &'a Labels<'a>,
}

impl PreparedRule for PreparedClassifiers<'_> {
    fn grow<R: RowTally + Copy>(
        &self,
        sample: &Sample<'_, R>,
        rows: Vec<u32>,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<RankingTree, RankError> {
        let total = sample.total(&rows);
        let Self { classifiers, labels, .. } = *self;
        let least = sample.params.least_split(total);
        let splitter = ClassifierSplitter { classifiers, labels, least };
        let mut source = sample.source(rows, interrupt);
        sample.grow_by(&splitter, &mut source, total, seed, interrupt)
    }

    fn places(&self, _: &Binned, tree: &RankingTree, rows: &[u32]) -> Result<Vec<u32>, RankError> {
        tree.places_by(self.columns, rows, self.classifiers)
    }

    fn forget(&self, tree: &RankingTree) {
        self.classifiers.forget(&tree.classifiers());
    }
}

/// Splits nodes by classifiers.
#[derive(Debug)]
struct ClassifierSplitter<'a> {
    classifiers: &'a dyn ExternalFitter,
    labels: &'a Labels<'a>,
    least: LeastSplit,
}

impl ClassifierSplitter<'_> {
    /// Cost of a mistake on each row: the share of the other class in the node (paper 2 sec. 3.3,
    /// the asymmetry factor omega being that of the positives), times the weight of the row.
    fn costs(&self, node: ClassSums, rows: &[u32]) -> Vec<f64> {
        let total = (node.pos + node.neg) as f64;
        let (of_pos, of_neg) = (node.neg as f64 / total, node.pos as f64 / total);
        let cost = |&row: &u32| {
            let ClassSums { pos, neg, .. } = self.labels.sums(row as usize);
            let units = pos as f64 * of_pos + neg as f64 * of_neg;
            times_power_of_two(units, self.labels.exponent())
        };
        rows.iter().map(cost).collect()
    }

    /// The side that ranks first: the rows predicted as positive or, if that would lose, the
    /// others. `None` if neither gains enough.
    fn side(&self, node: ClassSums, positive: ClassSums) -> Option<(bool, ClassSums)> {
        let positive_left = node.gain(positive) > 0;
        let left = if positive_left { positive } else { node - positive };
        let is_split = node.gain(left) as f64 > self.least.gain
            && left.rows.min(node.rows - left.rows) >= self.least.rows;
        is_split.then_some((positive_left, left))
    }
}

impl<R: RowTally> Splitter<MemorySource<'_, R>> for ClassifierSplitter<'_> {
    type Kept = ();

    fn start(
        &self,
        _: &MemorySource<'_, R>,
        root: OpenNode<()>,
    ) -> Result<OpenNode<()>, RankError> {
        Ok(root)
    }

    fn divide(
        &self,
        source: &mut MemorySource<'_, R>,
        nodes: &[OpenNode<()>],
        next_cell: &mut CellId,
    ) -> Result<Vec<Option<Division>>, RankError> {
        let mut divisions = Vec::with_capacity(nodes.len());
        for node in nodes {
            source.check_interrupt()?;
            let rows = source.rows(node.cell);
            let costs = self.costs(node.sums, rows);
            let classifier = self.classifiers.fit(node.seed, rows, &costs)?;
            let mut goes_left = called_positive(self.classifiers, classifier, rows)?;
            let answers = rows.iter().zip(&goes_left).filter(|&(_, &is_positive)| is_positive);
            let positive = answers.map(|(&row, _)| self.labels.sums(row as usize)).sum();
            let Some((positive_left, left)) = self.side(node.sums, positive) else {
                self.classifiers.forget(&[classifier]);
                divisions.push(None);
                continue;
            };
            if !positive_left {
                for answer in &mut goes_left {
                    *answer = !*answer;
                }
            }
            let cells = (*next_cell, *next_cell + 1);
            *next_cell += 2;
            source.split_by_mask(node.cell, &goes_left, cells.0, cells.1);
            divisions.push(Some(Division {
                form: SplitForm::Classifier { number: classifier, positive_left },
                left_cells: vec![cells.0],
                right_cells: vec![cells.1],
                left,
            }));
        }
        Ok(divisions)
    }

    fn descend(
        &self,
        _: &MemorySource<'_, R>,
        families: Vec<SplitFamily<()>>,
    ) -> Result<Vec<OpenNode<()>>, RankError> {
        Ok(families.into_iter().flat_map(SplitFamily::splittable).collect())
    }

    fn n_bytes(&self, (): &()) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use super::*;
    use crate::external::ExternalModels;
    use crate::tree::{
        CvParams, GrowParams, LeafOrder, LeafRankParams, PruningRule, SplitRule, TreeRankParams,
        fit, fit_by_classifiers,
    };

    /// Predicts as positive the rows whose value is at least the weighted mean of the node, or all
    /// others.
    #[derive(Debug)]
    struct Halves<'a> {
        values: &'a [f64],
        positive: &'a [bool],
        is_turned: bool,
        bounds: Mutex<BTreeMap<usize, f64>>,
        kept: Mutex<Vec<usize>>,
    }

    impl<'a> Halves<'a> {
        fn new(values: &'a [f64], positive: &'a [bool], is_turned: bool) -> Self {
            let (bounds, kept) = (Mutex::default(), Mutex::default());
            Self { values, positive, is_turned, bounds, kept }
        }
    }

    impl ExternalModels for Halves<'_> {
        fn answer(&self, classifier: usize, rows: &[u32]) -> Result<Vec<f64>, RankError> {
            // After a fit, classifiers go by their new numbers.
            let kept = self.kept.lock().unwrap();
            let number = kept.get(classifier).copied().unwrap_or(classifier);
            let bound = self.bounds.lock().unwrap()[&number];
            let is_positive = |row: u32| (self.values[row as usize] >= bound) != self.is_turned;
            Ok(rows.iter().map(|&row| f64::from(u8::from(is_positive(row)))).collect())
        }
    }

    impl ExternalFitter for Halves<'_> {
        fn fit(&self, _: u64, rows: &[u32], costs: &[f64]) -> Result<usize, RankError> {
            let of_class = |class: bool| -> f64 {
                let rows = rows.iter().zip(costs);
                rows.filter(|&(&row, _)| self.positive[row as usize] == class).map(|r| r.1).sum()
            };
            assert!((of_class(true) / of_class(false) - 1.0).abs() < 1e-9);
            let total: f64 = costs.iter().sum();
            let bound = rows.iter().zip(costs).map(|(&row, c)| self.values[row as usize] * c);
            let bound = bound.sum::<f64>() / total;
            let mut bounds = self.bounds.lock().unwrap();
            // Gaps between the numbers, such as another caller may leave.
            let number = bounds.keys().last().map_or(7, |last| last + 3);
            bounds.insert(number, bound);
            Ok(number)
        }

        fn forget(&self, classifiers: &[usize]) {
            let mut bounds = self.bounds.lock().unwrap();
            for number in classifiers {
                bounds.remove(number).expect("it is forgotten once");
            }
        }

        fn keep(&self, classifiers: &[usize]) {
            *self.kept.lock().unwrap() = classifiers.to_vec();
            self.bounds.lock().unwrap().retain(|number, _| classifiers.contains(number));
        }
    }

    fn params(split: SplitRule, n_folds: Option<u16>) -> TreeRankParams {
        TreeRankParams {
            pruning: n_folds.map(|n_folds| {
                PruningRule::CrossValidation(CvParams {
                    n_folds,
                    one_standard_error: false,
                    seed: 1,
                })
            }),
            ..TreeRankParams::new(
                GrowParams {
                    max_depth: 5,
                    min_samples_leaf: 3,
                    leaf_order: LeafOrder::Tree,
                    ..GrowParams::default()
                },
                split,
            )
        }
    }

    fn sample() -> (Vec<f64>, Vec<bool>, Vec<f64>) {
        let number = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let values: Vec<f64> = (0..400).map(|i| (number(i) % 100) as f64).collect();
        let positive =
            (0..400).map(|i| (number(i + 1000) % 100) as f64 + 20.0 < values[i as usize]).collect();
        let weights = (0..400).map(|i| (number(i + 2000) % 5) as f64 / 4.0).collect();
        (values, positive, weights)
    }

    #[test]
    fn a_tree_scores_with_its_classifiers_as_it_was_grown() {
        let (values, positive, weights) = sample();
        let columns = Columns::from_row_major(&values, 1).unwrap();
        for (weights, n_folds, is_turned) in [
            (None, None, false),
            (None, Some(5), true),
            (Some(&weights[..]), None, true),
            (Some(&weights[..]), Some(5), false),
        ] {
            let labels = Labels::new(&positive, weights).unwrap();
            let halves = Halves::new(&values, &positive, is_turned);
            let params = params(SplitRule::Classifier, n_folds);
            let tree =
                fit_by_classifiers(&columns, &labels, &params, &halves, &Interrupt::default())
                    .unwrap()
                    .tree;
            tree.check().unwrap();
            assert!(tree.n_leaves() > 2);
            assert!(tree.nodes().iter().all(|node| node.sums.rows >= 3));
            let n_splits = tree.n_leaves() - 1;
            assert_eq!(tree.classifiers(), (0..n_splits).collect::<Vec<_>>());
            assert_eq!(halves.bounds.lock().unwrap().len(), n_splits);
            // Leaves hold the same rows as in the fit.
            let mut sums = vec![ClassSums::default(); tree.n_leaves()];
            let leaves = tree.apply(&columns, Some(&halves)).unwrap();
            for row in labels.rows() {
                sums[leaves[row as usize] as usize] += labels.sums(row as usize);
            }
            assert_eq!(sums, tree.leaf_sums());
            // The left side is the upper half, whatever label the classifier predicts for it.
            let scores = tree.score(&columns, Some(&halves)).unwrap();
            let low = (0..400).min_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
            let high = (0..400).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
            assert!(scores[low] < scores[high]);
            assert_eq!(
                tree.score(&columns, None),
                Err(RankError::Tree(TreeError::NeedsClassifiers))
            );
        }
    }

    #[test]
    fn the_weighted_error_of_a_split_is_that_of_its_auc() {
        // (9) of paper 2, in integers: n^2 L = 2 (P FP + N FN) and n^2 4 p (1 - p) (1 - AUC).
        let (values, positive, _) = sample();
        let columns = Columns::from_row_major(&values, 1).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let halves = Halves::new(&values, &positive, false);
        let params = params(SplitRule::Classifier, None);
        let tree = fit_by_classifiers(&columns, &labels, &params, &halves, &Interrupt::default());
        let tree = tree.unwrap().tree;
        for (number, node) in tree.nodes().iter().enumerate() {
            let Some(split) = &node.split else { continue };
            let ClassSums { pos, neg, .. } = node.sums;
            let left = tree.nodes()[split.left()].sums;
            let error = 2 * (pos * left.neg + neg * (pos - left.pos));
            // Of all pairs, 2 PN AUC = PN + gain.
            let one_less_auc = i128::from(pos * neg) - tree.gain(number);
            assert_eq!(i128::from(error), 2 * one_less_auc);
        }
    }

    #[test]
    fn an_error_of_a_classifier_ends_the_fit() {
        #[derive(Debug)]
        struct Broken(Result<(usize, Vec<f64>), RankError>);
        impl ExternalModels for Broken {
            fn answer(&self, model: usize, _: &[u32]) -> Result<Vec<f64>, RankError> {
                let (number, answers) = self.0.clone().expect("nothing was fitted");
                assert_eq!(model, number);
                Ok(answers)
            }
        }
        impl ExternalFitter for Broken {
            fn fit(&self, _: u64, _: &[u32], _: &[f64]) -> Result<usize, RankError> {
                self.0.clone().map(|(number, _)| number)
            }
            fn forget(&self, _: &[usize]) {}
            fn keep(&self, _: &[usize]) {}
        }
        let (values, positive, _) = sample();
        let columns = Columns::from_row_major(&values, 1).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let by = |broken: &Broken| {
            let params = params(SplitRule::Classifier, None);
            fit_by_classifiers(&columns, &labels, &params, broken, &Interrupt::default())
        };
        let external = RankError::External("no".to_owned());
        assert_eq!(by(&Broken(Err(external.clone()))), Err(external));
        let err = by(&Broken(Ok((0, vec![1.0; 3])))).unwrap_err();
        assert_eq!(err.to_string(), "a classifier gave 3 answers about 400 rows");
        // One side would be empty.
        assert_eq!(by(&Broken(Ok((0, vec![1.0; 400])))).unwrap().tree.n_leaves(), 1);
        let params = params(SplitRule::Classifier, None);
        let without = fit((&columns, &labels), &params, &Interrupt::default());
        assert_eq!(without, Err(RankError::Tree(TreeError::NeedsClassifiers)));
    }

    #[test]
    fn a_tree_of_stumps_needs_no_classifier() {
        let (values, positive, _) = sample();
        let columns = Columns::from_row_major(&values, 1).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let halves = Halves::new(&values, &positive, false);
        let params = params(SplitRule::Stumps(LeafRankParams::orthogonal(1)), Some(3));
        let interrupt = Interrupt::default();
        let by = fit_by_classifiers(&columns, &labels, &params, &halves, &interrupt).unwrap();
        assert_eq!(by, fit((&columns, &labels), &params, &interrupt).unwrap());
        assert_eq!(by.tree.score(&columns, Some(&halves)), by.tree.score(&columns, None));
    }

    #[test]
    fn numbers_that_do_not_increase_are_refused() {
        let (values, positive, _) = sample();
        let columns = Columns::from_row_major(&values, 1).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let halves = Halves::new(&values, &positive, false);
        let params = params(SplitRule::Classifier, None);
        let model = fit_by_classifiers(&columns, &labels, &params, &halves, &Interrupt::default());
        let tree = model.unwrap().tree;
        let forged = |from: &str, to: &str| -> RankingTree {
            serde_json::from_str(&tree.to_json().unwrap().replacen(from, to, 1)).unwrap()
        };
        forged("x", "x").check().unwrap();
        let err = forged("\"number\":1,", "\"number\":2,").check().unwrap_err();
        assert_eq!(err, "the numbers of the classifiers do not rise");
        let stump = "{\"stump\":{\"feature\":0,\"left\":{\"below\":50.0},\"missing_left\":false},";
        let err = forged("{\"classifier\":{\"number\":0,\"positive_left\":true},", stump);
        assert_eq!(err.check().unwrap_err(), "classifiers split some of the nodes only");
    }
}
