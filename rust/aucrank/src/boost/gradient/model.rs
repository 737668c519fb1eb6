//! The model of gradient boosting.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::held_out::GradientHeldOut;
use super::loss::{Loss, logistic};
use super::pair_steps::PairSteps;
use super::tree::{GradientNode, GradientTree};
use crate::RankError;
use crate::data::{Column, Columns, FeatureTerm, LARGEST_SUM, LevelSet, is_snapped};
use crate::formula::{Condition, DecisionTree, Formula, Opaque, PairTerm, Rule, Test, TreeNode};
use crate::prepared::Prepared;
use crate::tree::{LeafSums, LeafTile, SumOrder};

/// A sum of trees, the model of `GradientBoostingRanker`.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{GradientExtras, GradientParams, fit_gradient_boosting};
/// use aucrank::data::{Columns, Labels};
///
/// let values: Vec<f64> = (0..40).map(|row| f64::from(row % 2)).collect();
/// let positive: Vec<bool> = values.iter().map(|&value| value > 0.0).collect();
/// let columns = Columns::from_column_major(&values, 40)?;
/// let labels = Labels::new(&positive, None)?;
/// let params = GradientParams { n_rounds: 3, ..GradientParams::default() };
/// let extras = GradientExtras::default();
/// let model =
///     fit_gradient_boosting((&columns, &labels), &params, &extras, &Interrupt::default())?;
/// assert_eq!(model.trees().len(), 3);
/// // A score of log-odds: even odds, and then what the trees add.
/// assert_eq!(model.base(), 0.0);
/// let (scores, rates) = (model.score(&columns)?, model.probability(&columns)?);
/// assert!((rates[1] - 1.0 / (1.0 + (-scores[1]).exp())).abs() < 1e-12);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GradientBoosted(GradientFields);

/// The fields of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct GradientFields {
    pub(super) n_levels: Vec<Option<u32>>,
    /// Pairs of categories, which trees test like further numeric features, in steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pairs: Vec<PairSteps>,
    pub(super) loss: Loss,
    /// Score of every row before the first round.
    pub(super) start: f64,
    /// The sum from which a row is predicted as positive.
    pub(super) threshold: f64,
    pub(super) learning_rate: f64,
    #[serde(with = "super::saved")]
    pub(super) trees: Vec<GradientTree>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) held_out: Option<GradientHeldOut>,
    /// The models that were averaged, if any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) bags: Vec<GradientBag>,
    pub(super) seed: u64,
    /// For each pair of features, if they were chosen, the weight of the training rows in each cell
    /// of its table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) cells: Vec<Vec<u64>>,
    #[serde(skip)]
    pub(super) prepared: Prepared<LeafSums>,
    #[serde(skip)]
    pub(super) shown: Prepared<Result<ShownTerms, RankError>>,
}

/// The functions of single features and of pairs that the trees add up to, as they are shown.
#[derive(Debug)]
pub(super) struct ShownTerms {
    /// In the order of the features.
    pub(super) singles: Vec<FeatureTerm>,
    pub(super) pairs: Vec<PairTerm>,
}

impl GradientFields {
    fn leaf_sums(&self) -> &LeafSums {
        let of_tree = |tree: &GradientTree| (tree.routes(), tree.values().collect());
        let n_levels = self.n_levels_of_tests();
        self.prepared
            .get(|| LeafSums::of_routes(&n_levels, self.trees.iter().map(of_tree), SumOrder::Any))
    }

    /// For each feature of the trees, pairs included, its number of categories.
    fn n_levels_of_tests(&self) -> Vec<Option<u32>> {
        self.n_levels.iter().copied().chain(self.pairs.iter().map(|_| None)).collect()
    }

    /// The feature of a test, or the two of a pair.
    pub(super) fn features(&self, test: &Test) -> [usize; 2] {
        match test.feature.checked_sub(self.n_levels.len()) {
            Some(pair) => self.pairs[pair].features(),
            None => [test.feature; 2],
        }
    }

    /// The same without the pairs that no tree tests.
    pub(super) fn without_unasked_pairs(mut self) -> Self {
        let n_features = self.n_levels.len();
        let mut is_tested = vec![false; self.pairs.len()];
        for (test, _) in self.trees.iter().flat_map(GradientTree::tests) {
            if let Some(pair) = test.feature.checked_sub(n_features) {
                is_tested[pair] = true;
            }
        }
        let mut place = n_features;
        let places: Vec<usize> = is_tested
            .iter()
            .map(|&is_tested| {
                place += usize::from(is_tested);
                place - 1
            })
            .collect();
        for tree in &mut self.trees {
            tree.map_features(|feature| {
                feature.checked_sub(n_features).map_or(feature, |pair| places[pair])
            });
        }
        let mut tested = is_tested.into_iter();
        self.pairs.retain(|_| tested.next() == Some(true));
        self
    }

    /// Adds the values of all trees to the sums of all rows.
    fn add_values(&self, columns: &Columns<'_>, sums: &mut [f64]) -> Result<(), RankError> {
        let trees = self.leaf_sums();
        if self.pairs.is_empty() {
            return trees.add_to_all(columns, sums);
        }
        let n_features = columns.n_features();
        let width = n_features + self.pairs.len();
        columns.by_tile(sums, 1, |memory: &mut (Vec<f64>, LeafTile), rows, values, sums| {
            let (more, tile) = memory;
            more.clear();
            for row in values.chunks(n_features) {
                more.extend_from_slice(row);
                more.extend(self.pairs.iter().map(|pair| f64::from(pair.step(row))));
            }
            let Ok(numbers) = Columns::from_row_major(&more[..], width) else { return };
            let of_tile = numbers.iter().enumerate().map(|(feature, numbers)| {
                match columns.iter().nth(feature) {
                    Some(Column::Codes { codes, n_levels }) => {
                        Column::Codes { codes: &codes[rows.clone()], n_levels: *n_levels }
                    }
                    _ => *numbers,
                }
            });
            let Ok(of_tile) = Columns::new(of_tile.collect(), rows.len()) else { return };
            trees.add(&of_tile, 0..rows.len(), tile, sums);
        })
    }
}

/// One of the models of an average.
///
/// For an example see [`fit_gradient_boosting`](crate::boost::fit_gradient_boosting).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GradientBag {
    /// Its number of trees.
    pub n_rounds: usize,
    /// Measures on its held-out rows, if they determined the number of rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<GradientHeldOut>,
}

impl GradientBoosted {
    pub(super) fn new(parts: GradientFields) -> Self {
        Self(parts)
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.0.n_levels
    }

    /// The loss that was minimised.
    #[must_use]
    pub fn loss(&self) -> Loss {
        self.0.loss
    }

    /// The weights of the training rows in the cells of the tables of pairs, if they are known.
    pub(super) fn cells(&self) -> &[Vec<u64>] {
        &self.0.cells
    }

    pub(super) fn set_cells(&mut self, cells: Vec<Vec<u64>>) {
        (self.0.cells, self.0.shown) = (cells, Prepared::default());
    }

    /// The functions as they are shown, made on first use.
    pub(super) fn shown(
        &self,
        make: impl FnOnce() -> Result<ShownTerms, RankError>,
    ) -> Result<&ShownTerms, RankError> {
        self.0.shown.get(make).as_ref().map_err(Clone::clone)
    }

    /// Pairs of categories that trees test like further features.
    pub(super) fn pair_steps(&self) -> &[PairSteps] {
        &self.0.pairs
    }

    /// The trees, round by round; with several bags, the first tree of each comes first.
    #[must_use]
    pub fn trees(&self) -> &[GradientTree] {
        &self.0.trees
    }

    /// Score of every row before the first tree, less the threshold.
    #[must_use]
    pub fn base(&self) -> f64 {
        self.0.start - self.0.threshold
    }

    /// Score of every row before the first tree, without the threshold.
    pub(super) fn start(&self) -> f64 {
        self.0.start
    }

    /// The sum of the start and all trees from which a row is predicted as positive: 0 for log
    /// loss.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.0.threshold
    }

    /// Sets the raw score from which a row is predicted as positive, such as that of even odds.
    pub(crate) fn set_threshold(&mut self, threshold: f64) {
        self.0.threshold = threshold;
    }

    /// Factor on the values of the leaves.
    #[must_use]
    pub fn learning_rate(&self) -> f64 {
        self.0.learning_rate
    }

    /// Measures on the held-out rows, if they determined the number of rounds of a single bag.
    #[must_use]
    pub fn held_out(&self) -> Option<&GradientHeldOut> {
        self.0.held_out.as_ref()
    }

    /// The bags that were averaged; none if the model is a single fit.
    #[must_use]
    pub fn bags(&self) -> &[GradientBag] {
        &self.0.bags
    }

    /// The seed of the fit.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.0.seed
    }

    /// For each feature the share of its tests in the total decrease of the loss; 0 for all
    /// features if there are no tests.
    #[must_use]
    pub fn importances(&self) -> Vec<f64> {
        let mut gains = vec![0.0; self.0.n_levels.len()];
        for (test, gain) in self.0.trees.iter().flat_map(GradientTree::tests) {
            match self.0.features(test) {
                [first, second] if first == second => gains[first] += gain,
                // A pair of categories counts for both features.
                pair => pair.iter().for_each(|&feature| gains[feature] += 0.5 * gain),
            }
        }
        let total: f64 = gains.iter().sum();
        if total > 0.0 {
            for gain in &mut gains {
                *gain /= total;
            }
        }
        gains
    }

    /// Score of each row, above 0 if it is predicted as positive.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns differ from those of the fit in number or kind, or hold
    /// infinity.
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.0.n_levels)?;
        let mut scores = vec![0.0; columns.n_rows()];
        self.0.add_values(columns, &mut scores)?;
        // Last, because it alone may round: the threshold of a calibrated model is any number. Where
        // the sum began with it, 3 to 18 % of the rows differed from SQL, ONNX and JSON, by up to
        // 9e-16.
        let base = self.base();
        for score in &mut scores {
            *score += base;
        }
        Ok(scores)
    }

    /// Probability of the positive class of each row, by log loss: the logistic function of the
    /// score.
    ///
    /// # Errors
    ///
    /// As [`GradientBoosted::score`]; [`RankError::BadParameter`] for another loss.
    pub fn probability(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        if self.0.loss != Loss::Log {
            return Err(RankError::BadParameter {
                name: "loss",
                value: "one of pairs".to_owned(),
                rule: "log for probabilities",
            });
        }
        let mut scores = self.score(columns)?;
        for score in &mut scores {
            *score = logistic(*score);
        }
        Ok(scores)
    }

    /// Checks that the columns are those of the fit in number and kind, and hold no infinity.
    ///
    /// # Errors
    ///
    /// If they are not.
    pub fn check_columns(&self, columns: &Columns<'_>) -> Result<(), RankError> {
        columns.check_kinds(&self.0.n_levels)?;
        columns.infinite_value().map_or(Ok(()), Err)
    }

    /// Contribution of one round to the score of each row.
    ///
    /// # Errors
    ///
    /// As [`GradientBoosted::score`].
    ///
    /// # Panics
    ///
    /// If there is no such round.
    pub fn round_values(&self, columns: &Columns<'_>, round: usize) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.0.n_levels)?;
        let mut values = vec![0.0; columns.n_rows()];
        self.0.trees[round].add_values(columns, &self.0.pairs, &mut values)?;
        Ok(values)
    }

    /// Checks the consistency of a model read from a file.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        let parts = &self.0;
        let mut largest = parts.start.abs();
        if !(is_snapped(parts.start) && largest <= LARGEST_SUM) {
            return Err(format!("{} is not a score to start from", parts.start));
        }
        for (place, pair) in parts.pairs.iter().enumerate() {
            let checked = pair.check(&parts.n_levels);
            checked.map_err(|what| format!("pair {place} of categories: {what}"))?;
        }
        let n_levels = parts.n_levels_of_tests();
        for (round, tree) in parts.trees.iter().enumerate() {
            let checked = tree.check(&n_levels);
            checked.map_err(|what| format!("the tree of round {round}: {what}"))?;
            let is_about_steps = |test: &Test| {
                test.feature < parts.n_levels.len()
                    || matches!(test.left, Rule::Below(_)) && !test.missing_left
            };
            if !tree.tests().all(|(test, _)| is_about_steps(test)) {
                return Err(format!("the tree of round {round} asks of pairs what they have not"));
            }
            largest += tree.largest_value();
        }
        if !(largest <= LARGEST_SUM && parts.threshold.abs() <= LARGEST_SUM) {
            return Err("the values of the trees are too large to be summed".to_owned());
        }
        if parts.loss == Loss::Log && parts.threshold != 0.0 {
            return Err("a threshold with log loss".to_owned());
        }
        self.check_cells()?;
        if !(parts.learning_rate > 0.0 && parts.learning_rate <= 1.0) {
            return Err(format!("a learning rate of {}", parts.learning_rate));
        }
        // The numbers may have been read from a damaged file.
        let n_trees = parts.bags.iter().fold(0, |sum: usize, bag| sum.saturating_add(bag.n_rounds));
        if !parts.bags.is_empty() && n_trees != parts.trees.len() {
            return Err(format!("{} trees, but bags of {n_trees}", parts.trees.len()));
        }
        let of_bags = parts.bags.iter().map(|bag| (&bag.held_out, bag.n_rounds));
        [(&parts.held_out, parts.trees.len())]
            .into_iter()
            .chain(of_bags)
            .try_for_each(|(path, n_trees)| path.iter().try_for_each(|path| path.check(n_trees)))
    }
}

impl Test {
    /// The side of a row, given the pairs of categories that are further features.
    #[inline]
    pub(super) fn goes_left_of(&self, row: &[f64], pairs: &[PairSteps]) -> bool {
        match self.feature.checked_sub(row.len()) {
            Some(pair) => self.goes_left_by(pairs[pair].step(row).into()),
            None => self.goes_left(row),
        }
    }
}

impl GradientTree {
    /// Its tests with their targets: a test or a leaf, each by its number.
    pub(super) fn routes(&self) -> Vec<(Test, [Result<usize, usize>; 2])> {
        let (mut n_splits, mut n_leaves) = (0, 0);
        let targets: Vec<Result<usize, usize>> = self
            .nodes()
            .iter()
            .map(|node| {
                let (number, of) = match node {
                    GradientNode::Split { .. } => (&mut n_splits, Ok as fn(usize) -> _),
                    GradientNode::Leaf { .. } => (&mut n_leaves, Err as fn(usize) -> _),
                };
                *number += 1;
                of(*number - 1)
            })
            .collect();
        let splits = self.nodes().iter().enumerate().filter_map(|(place, node)| match node {
            GradientNode::Split { test, right, .. } => {
                Some((test.clone(), [targets[place + 1], targets[*right]]))
            }
            GradientNode::Leaf { .. } => None,
        });
        splits.collect()
    }

    /// Adds the value of the leaf of each row, which must be finite, of columns of the right kinds.
    pub(super) fn add_values(
        &self,
        columns: &Columns<'_>,
        pairs: &[PairSteps],
        out: &mut [f64],
    ) -> Result<(), RankError> {
        let n_features = columns.n_features();
        columns.by_tile(out, 1, |(): &mut (), _, values, out| {
            for (place, out) in out.iter_mut().enumerate() {
                let row = &values[place * n_features..(place + 1) * n_features];
                *out += self.value(|test| test.goes_left_of(row, pairs));
            }
        })
    }
}

/// Maximum number of pairs of categories that a formula lists: some twenty megabytes of text.
const MOST_LISTED: usize = 2_000_000;

impl GradientBoosted {
    /// Its score: the base and the trees. If no tree tests more than two features, those of one are
    /// merged to step functions, and those of two to one tree for each pair if that has no more
    /// leaves. Sums of their values are exact, so that the order does not matter; the base is added
    /// last.
    ///
    /// Tests of pairs of categories list these, up to two million in all: beyond that, there is no
    /// formula.
    #[must_use]
    pub fn formula(&self) -> Formula {
        if self.n_listed_pairs() > MOST_LISTED {
            return Formula::Opaque(Opaque::CategoryPairs);
        }
        let mut terms = self.merged_trees();
        terms.push(Formula::Constant(self.base()));
        Formula::Sum(terms)
    }
}

impl GradientBoosted {
    /// The number of pairs of categories that all tests list together.
    fn n_listed_pairs(&self) -> usize {
        let n_features = self.n_levels().len();
        let tests = self.trees().iter().flat_map(GradientTree::tests);
        let listed = tests.filter_map(|(test, _)| {
            let pair = &self.pair_steps()[test.feature.checked_sub(n_features)?];
            Some(pair.n_apart(test.threshold()?))
        });
        listed.sum()
    }

    /// The tree of a round as an operation of a formula. A test of pairs of categories lists the
    /// pairs on the side opposite to unseen pairs, so that the sides may be exchanged.
    ///
    /// # Panics
    ///
    /// If there is no such round.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::Interrupt;
    /// use aucrank::boost::{GradientExtras, GradientParams, fit_gradient_boosting};
    /// use aucrank::data::{Columns, Labels};
    ///
    /// let values: Vec<f64> = (0..40).map(|row| f64::from(row % 2)).collect();
    /// let positive: Vec<bool> = values.iter().map(|&value| value > 0.0).collect();
    /// let columns = Columns::from_column_major(&values, 40)?;
    /// let labels = Labels::new(&positive, None)?;
    /// let params = GradientParams { n_rounds: 2, ..GradientParams::default() };
    /// let extras = GradientExtras::default();
    /// let model =
    ///     fit_gradient_boosting((&columns, &labels), &params, &extras, &Interrupt::default())?;
    /// assert_eq!(model.tree(1).nodes.len(), model.trees()[1].nodes().len());
    /// # Ok::<(), aucrank::RankError>(())
    /// ```
    #[must_use]
    pub fn tree(&self, round: usize) -> DecisionTree {
        self.trees()[round].formula_of(self.n_levels().len(), self.pair_steps())
    }
}

impl GradientTree {
    /// The tree as an operation of a formula, if it tests single features only.
    pub(super) fn formula(&self) -> DecisionTree {
        self.formula_of(usize::MAX, &[])
    }

    /// The same, with features from `n_features` on being pairs of categories.
    fn formula_of(&self, n_features: usize, pairs: &[PairSteps]) -> DecisionTree {
        let node = |(place, (node, weight)): (usize, (&GradientNode, f64))| match node {
            GradientNode::Leaf { value, .. } => TreeNode::Leaf { weight, value: *value },
            GradientNode::Split { test, right, .. } => {
                let (left, right) = (place + 1, *right);
                let pair = test.feature.checked_sub(n_features).map(|pair| &pairs[pair]);
                let Some((pair, step)) = pair.zip(test.threshold()) else {
                    let condition = Condition::Test(test.clone());
                    return TreeNode::Branch { weight, condition, left, right };
                };
                let condition = pair.condition(step);
                if pair.others_below(step) {
                    TreeNode::Branch { weight, condition, left: right, right: left }
                } else {
                    TreeNode::Branch { weight, condition, left, right }
                }
            }
        };
        let weights = self.weights();
        DecisionTree { nodes: self.nodes().iter().zip(weights).enumerate().map(node).collect() }
    }
}

impl PairSteps {
    /// Condition that a pair lies on the side of a step opposite to unlisted pairs: that it is in
    /// one of some products of sets of categories of the two features.
    fn condition(&self, step: f64) -> Condition {
        let mut firsts = BTreeMap::<Vec<u32>, Vec<u32>>::new();
        for (first, seconds) in self.apart(step) {
            firsts.entry(seconds).or_default().push(first);
        }
        let is_among = |feature, levels| {
            let left = Rule::Levels(LevelSet::only(levels));
            Condition::Test(Test { feature, left, missing_left: false })
        };
        let [first, second] = self.features();
        let ways = firsts.into_iter().map(|(seconds, firsts)| {
            Condition::All(vec![is_among(first, firsts), is_among(second, seconds)])
        });
        Condition::Any(ways.collect())
    }
}
