//! How a score depends on one or a few features, the others averaged over rows (paper 2 sec. 5.2).

use super::LeafValue;
use super::paths::Paths;
use super::paths::{RowWeights, bad};
use crate::data::Columns;
use crate::tree::forest::RankingForest;
use crate::tree::model::RankingTree;
use crate::{Interrupt, RankError};

/// Mean score of the rows of `columns` when some of their features are set to given values: one
/// number for each point of a grid.
///
/// - `trees`: trees and a value for each leaf, in ranking order (as [`LeafValue::of`] gives); the
///   score of a row is the mean, over the trees, of the value of its leaf;
/// - `weight`: the weight of each row;
/// - `features`: the features that are set, without repetition;
/// - `points`: their values, point by point: numbers or category codes, NaN for a missing value.
///
/// The columns of these features are not read, but must be present.
///
/// [`LeafValue::of`]: super::LeafValue::of
///
/// # Errors
///
/// [`RankError`] if the columns are not those of the trees or hold infinity, a weight is negative,
/// NaN or infinite, all weights are zero, a feature does not exist or occurs twice, or lengths do
/// not match.
///
/// # Examples
///
/// ```
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{self, TreeRankParams, GrowParams, LeafRankParams, LeafValue, SplitRule};
///
/// # fn main() -> Result<(), aucrank::RankError> {
/// let columns = Columns::from_row_major(&[1.0, 5.0, 2.0, 5.0, 3.0, 6.0, 4.0, 6.0], 2)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// # let grow = GrowParams { max_depth: 3, min_samples_leaf: 1, ..GrowParams::default() };
/// # let split = SplitRule::Stumps(LeafRankParams { max_depth: 1, ..LeafRankParams::orthogonal(1) });
/// # let params = TreeRankParams::new(grow, split);
/// let interrupt = aucrank::Interrupt::default();
/// let tree = tree::fit((&columns, &labels), &params, &interrupt)?.tree;
/// let ranks = LeafValue::Rank.of(&tree);
/// let of_first_feature = tree::partial_dependence(
///     &[(&tree, &ranks)], &columns, None, &[0], &[2.0, 3.0], &interrupt,
/// )?;
/// assert_eq!(of_first_feature, [0.5, 1.0]);
/// # Ok(())
/// # }
/// ```
pub fn partial_dependence(
    trees: &[(&RankingTree, &[f64])],
    columns: &Columns<'_>,
    weight: Option<&[f64]>,
    features: &[usize],
    points: &[f64],
    interrupt: &Interrupt,
) -> Result<Vec<f64>, RankError> {
    check_features(features, columns.n_features())?;
    if !points.len().is_multiple_of(features.len()) {
        return Err(bad(
            "the number of values in the grid",
            points.len(),
            "a multiple of features",
        ));
    }
    if trees.is_empty() {
        return Err(bad("the number of trees", 0, "at least 1"));
    }
    let weights = RowWeights::new(weight, columns.n_rows())?;
    let mut sums = vec![0.0; points.len() / features.len()];
    for &(tree, values) in trees {
        if values.len() != tree.n_leaves() {
            return Err(bad("the number of leaf values", values.len(), "that of the leaves"));
        }
        tree.check_columns(columns)?;
        if !tree.asks_single_features() {
            return Err(RankError::BadParameter {
                name: "split",
                value: "a rule that asks all features at once".to_owned(),
                rule: "made of questions to single features for an exact partial dependence; \
                       scikit-learn's partial_dependence(method='brute') takes any model",
            });
        }
        let paths = Paths::new(tree, features, points);
        let arrived = paths.send(columns, &weights, interrupt)?;
        let means: Vec<f64> = (0..paths.n_classes)
            .map(|class| {
                let weighted = values
                    .iter()
                    .enumerate()
                    .map(|(leaf, value)| value * arrived[leaf * paths.n_classes + class] as f64);
                weighted.sum::<f64>() / weights.total as f64
            })
            .collect();
        for (sum, &class) in sums.iter_mut().zip(&paths.class_of_point) {
            *sum += means[class];
        }
    }
    Ok(sums.into_iter().map(|sum| sum / trees.len() as f64).collect())
}

impl RankingForest {
    /// Mean output of the forest on the rows of `columns` when some of their features are set to
    /// given values: [`partial_dependence`] with the leaves of [`LeafValue::of_forest`].
    ///
    /// # Errors
    ///
    /// [`RankError`] if the output of the forest is not a mean of values of leaves, and as
    /// [`partial_dependence`].
    pub fn partial_dependence(
        &self,
        columns: &Columns<'_>,
        weight: Option<&[f64]>,
        features: &[usize],
        points: &[f64],
        value: LeafValue,
        interrupt: &Interrupt,
    ) -> Result<Vec<f64>, RankError> {
        let Some(values) = value.of_forest(self) else {
            return Err(RankError::BadParameter {
                name: "the value of a leaf",
                value: format!("{value:?}"),
                rule: "Rank or Eta for a forest whose scores are not means of values of leaves",
            });
        };
        let trees: Vec<(&RankingTree, &[f64])> =
            self.trees().iter().zip(values.iter().map(Vec::as_slice)).collect();
        partial_dependence(&trees, columns, weight, features, points, interrupt)
    }
}

fn check_features(features: &[usize], n_features: usize) -> Result<(), RankError> {
    if features.is_empty() {
        return Err(bad("the number of features in the grid", 0, "at least 1"));
    }
    for (place, &feature) in features.iter().enumerate() {
        if feature >= n_features {
            return Err(bad("a feature of the grid", feature, "a column of X"));
        }
        if features[..place].contains(&feature) {
            return Err(bad("a feature of the grid", feature, "there once only"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, Labels, MISSING_CODE};
    use crate::tree::{
        Aggregation, BootstrapParams, ForestParams, GrowParams, LeafRankParams, SplitRule,
        TreeRankParams, fit, fit_forest,
    };

    const N_ROWS: usize = 700;

    /// Two numbers with gaps, and a category.
    struct Data {
        numbers: [Vec<f64>; 2],
        codes: Vec<u32>,
        weight: Vec<f64>,
    }

    impl Data {
        fn new() -> Self {
            let mut state = 7_u64;
            let mut draw = |n: u64| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % n
            };
            let mut number = || match draw(40) {
                0..5 => f64::NAN,
                value => value as f64,
            };
            let first = (0..N_ROWS).map(|_| number()).collect();
            let second = (0..N_ROWS).map(|_| number()).collect();
            let codes = (0..N_ROWS).map(|_| draw(5) as u32);
            let codes = codes.map(|code| if code == 4 { MISSING_CODE } else { code }).collect();
            let weight = (0..N_ROWS).map(|_| draw(4) as f64 / 3.0).collect();
            Self { numbers: [first, second], codes, weight }
        }

        fn columns(&self) -> Columns<'_> {
            let codes = Column::Codes { codes: &self.codes, n_levels: 4 };
            let [first, second] = &self.numbers;
            Columns::new(vec![first[..].into(), second[..].into(), codes], N_ROWS).unwrap()
        }

        fn fit(&self, split_depth: usize, seed: u64) -> RankingTree {
            let positive: Vec<bool> = (0..N_ROWS)
                .map(|row| {
                    let high = |x: f64| if x.is_nan() { 15.0 } else { x };
                    let [a, b] = [high(self.numbers[0][row]), high(self.numbers[1][row])];
                    let level = if self.codes[row] == 2 { 20.0 } else { 0.0 };
                    let noise = (row as u64 * (7919 + 2 * seed) % 61) as f64;
                    a + level + noise > 55.0 || (b > 30.0 && a < 20.0)
                })
                .collect();
            let labels = Labels::new(&positive, None).unwrap();
            let params = Self::params(split_depth, seed);
            fit((&self.columns(), &labels), &params, &Interrupt::default()).unwrap().tree
        }

        fn params(split_depth: usize, seed: u64) -> TreeRankParams {
            TreeRankParams {
                seed,
                ..TreeRankParams::new(
                    GrowParams { max_depth: 7, min_samples_leaf: 2, ..GrowParams::default() },
                    SplitRule::Stumps(LeafRankParams {
                        max_depth: split_depth,
                        ..LeafRankParams::orthogonal(2)
                    }),
                )
            }
        }

        /// The definition: every row scored with its features set to the point.
        fn mean_score(
            &self,
            trees: &[(&RankingTree, &[f64])],
            features: &[usize],
            point: &[f64],
        ) -> f64 {
            let mut numbers = self.numbers.clone();
            let mut codes = self.codes.clone();
            for (&feature, &value) in features.iter().zip(point) {
                match feature {
                    2 if value.is_nan() => codes.fill(MISSING_CODE),
                    2 => codes.fill(value as u32),
                    _ => numbers[feature].fill(value),
                }
            }
            let set = Self { numbers, codes, weight: self.weight.clone() };
            let (mut sum, mut total) = (0.0, 0.0);
            for &(tree, values) in trees {
                for (leaf, weight) in
                    tree.apply(&set.columns(), None).unwrap().iter().zip(&set.weight)
                {
                    sum += weight * values[*leaf as usize];
                    total += weight;
                }
            }
            sum / total
        }
    }

    /// All points of a grid of some values for each feature, the last feature running fastest; for
    /// three features a coarser grid.
    fn grid(features: &[usize]) -> Vec<Vec<f64>> {
        let mut points = vec![vec![]];
        let step = if features.len() < 3 { 1 } else { 3 };
        for feature in features {
            let values: Vec<f64> = match feature {
                2 => vec![0.0, 1.0, 2.0, 3.0, f64::NAN],
                _ => (-1..44).step_by(step).map(f64::from).chain([f64::NAN, 12.5]).collect(),
            };
            points = points
                .iter()
                .flat_map(|point| values.iter().map(|&value| [&point[..], &[value]].concat()))
                .collect();
        }
        points
    }

    #[test]
    fn equals_the_mean_score_of_rows_that_are_set_to_the_point_with_any_number_of_threads() {
        let data = Data::new();
        let fitted = [data.fit(1, 0), data.fit(3, 1), data.fit(1, 2)];
        let values: Vec<Vec<f64>> = fitted.iter().map(|tree| LeafValue::Rank.of(tree)).collect();
        let trees: Vec<(&RankingTree, &[f64])> =
            fitted.iter().zip(&values).map(|(tree, values)| (tree, &values[..])).collect();
        assert!(fitted.iter().all(|tree| tree.n_leaves() > 15));
        for trees in [&trees[..1], &trees[1..2], &trees[..]] {
            for features in [&[0][..], &[2], &[1, 0], &[2, 1], &[0, 1, 2]] {
                let points = grid(features);
                let run = |n_threads: usize| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
                    pool.build().unwrap().install(|| {
                        partial_dependence(
                            trees,
                            &data.columns(),
                            Some(&data.weight),
                            features,
                            &points.concat(),
                            &Interrupt::default(),
                        )
                        .unwrap()
                    })
                };
                let found = run(1);
                assert_eq!(found, run(3));
                for (point, found) in
                    points.iter().zip(found).step_by(if points.len() > 500 { 37 } else { 1 })
                {
                    let expected = data.mean_score(trees, features, point);
                    assert!((found - expected).abs() < 1e-12, "{features:?} {point:?}");
                }
            }
        }
    }

    /// The definition once more, for the output of a whole forest.
    fn mean_of(
        data: &Data,
        feature: usize,
        value: f64,
        say: impl Fn(&Columns<'_>) -> Result<Vec<f64>, RankError>,
    ) -> f64 {
        let mut numbers = data.numbers.clone();
        numbers[feature].fill(value);
        let set = Data { numbers, codes: data.codes.clone(), weight: data.weight.clone() };
        let said = say(&set.columns()).unwrap();
        let sum: f64 = said.iter().zip(&data.weight).map(|(value, weight)| value * weight).sum();
        sum / data.weight.iter().sum::<f64>()
    }

    #[test]
    fn a_forest_depends_as_its_scores_do_where_they_are_means_of_leaves() {
        let data = Data::new();
        let positive: Vec<bool> = (0..N_ROWS)
            .map(|row| data.numbers[0][row] > 20.0 || data.codes[row] == row as u32 % 4)
            .collect();
        let points = [3.0, 20.0, 21.0, f64::NAN];
        let interrupt = Interrupt::default();
        for aggregation in
            [Aggregation::Eta, Aggregation::RankMean, Aggregation::RankMedian, Aggregation::Kendall]
        {
            let params = ForestParams {
                tree: Data::params(1, 0),
                leaf_sizes: Vec::new(),
                criteria: Vec::new(),
                n_trees: 7,
                bootstrap: Some(BootstrapParams { share: 1.0 }),
                aggregation,
                out_of_bag: false,
                early_stopping: None,
            };
            let labels = Labels::new(&positive, Some(&data.weight)).unwrap();
            let forest = fit_forest(&data.columns(), &labels, &params, None, &interrupt).unwrap();
            let find = |value: LeafValue| {
                let columns = data.columns();
                forest.partial_dependence(
                    &columns,
                    Some(&data.weight),
                    &[0],
                    &points,
                    value,
                    &interrupt,
                )
            };
            let is_mean = matches!(aggregation, Aggregation::Eta | Aggregation::RankMean);
            let score = |columns: &Columns<'_>| forest.score(columns);
            let probability = |columns: &Columns<'_>| forest.probability(columns);
            if is_mean {
                for (found, &point) in find(LeafValue::Score).unwrap().iter().zip(&points) {
                    let expected = mean_of(&data, 0, point, score);
                    assert!((found - expected).abs() < 1e-12, "{aggregation:?} {point}");
                }
            } else {
                assert!(find(LeafValue::Score).is_err());
            }
            if aggregation == Aggregation::Eta {
                let found = find(LeafValue::Probability).unwrap();
                assert_eq!(find(LeafValue::Eta).unwrap(), found);
                for (found, &point) in found.iter().zip(&points) {
                    let expected = mean_of(&data, 0, point, probability);
                    assert!((found - expected).abs() < 1e-12, "{point}");
                }
            } else {
                assert!(find(LeafValue::Probability).is_err());
            }
            // The mid-ranks of the training rows of a tree have a mean of one half.
            for (tree, ranks) in
                forest.trees().iter().zip(LeafValue::Rank.of_forest(&forest).unwrap())
            {
                let sizes = tree.leaf_sums().into_iter().map(|sums| (sums.pos + sums.neg) as f64);
                let total: f64 = sizes.clone().sum();
                let mean = sizes.zip(&ranks).map(|(size, rank)| size * rank).sum::<f64>() / total;
                assert!((mean - 0.5).abs() < 1e-12);
                assert!(ranks.windows(2).all(|pair| pair[0] > pair[1]));
            }
            assert!(find(LeafValue::Rank).is_ok() && find(LeafValue::Eta).is_ok());
        }
    }

    #[test]
    fn invalid_arguments_are_refused_with_a_message() {
        let data = Data::new();
        let tree = data.fit(1, 0);
        let values = LeafValue::Eta.of(&tree);
        let ask = |values: &[f64], weight: Option<&[f64]>, features: &[usize], points: &[f64]| {
            let columns = data.columns();
            partial_dependence(
                &[(&tree, values)],
                &columns,
                weight,
                features,
                points,
                &Interrupt::default(),
            )
            .map_err(|err| err.to_string())
        };
        let zeros = vec![0.0; N_ROWS];
        for (found, expected) in [
            (ask(&values, None, &[], &[]), "the number of features in the grid is 0"),
            (ask(&values, None, &[3], &[1.0]), "a feature of the grid is 3, but must be a column"),
            (ask(&values, None, &[1, 1], &[1.0, 1.0]), "a feature of the grid is 1"),
            (ask(&values, None, &[0, 1], &[1.0]), "the number of values in the grid is 1"),
            (ask(&values[1..], None, &[0], &[1.0]), "the number of leaf values is"),
            (ask(&values, Some(&[1.0]), &[0], &[1.0]), "the number of weights is 1"),
            (ask(&values, Some(&zeros), &[0], &[1.0]), "the sum of sample_weight is 0"),
        ] {
            assert!(found.clone().unwrap_err().starts_with(expected), "{found:?}");
        }
        assert_eq!(ask(&values, None, &[0], &[]), Ok(vec![]));
        let stopped = Interrupt::default();
        stopped.stop();
        let err =
            partial_dependence(&[(&tree, &values)], &data.columns(), None, &[0], &[1.0], &stopped);
        assert_eq!(err, Err(RankError::Interrupted));
    }
}
