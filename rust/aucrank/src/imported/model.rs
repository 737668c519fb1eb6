//! A sum of the trees of another library.

use serde::{Deserialize, Serialize};

use super::tree::ImportedTree;
use crate::RankError;
use crate::data::{Columns, logistic};
use crate::formula::Formula;
use crate::prepared::Prepared;
use crate::tree::{LeafSums, SumOrder};

/// A model of another library: a sum of trees with exactly the scores that the library gives.
///
/// # Examples
///
/// The tree `x0 <= 2.0 ? -1.5 : 0.5` as arrays of nodes:
///
/// ```
/// use aucrank::data::Columns;
/// use aucrank::imported::{ImportedNode, ImportedSum, ImportedTrees, ImportedKind, NodeTable};
///
/// let [branch, leaf] = [ImportedKind::Below as u8, ImportedKind::Leaf as u8];
/// let table = NodeTable {
///     sizes: &[3],
///     kinds: &[branch, leaf, leaf],
///     features: &[0, 0, 0],
///     numbers: &[2.0_f64.next_up(), -1.5, 0.5],
///     places: &[0, 0, 0],
///     missing_left: &[true, false, false],
///     left: &[1, 0, 0],
///     right: &[2, 0, 0],
///     weights: &[0.0, 30.0, 10.0],
///     level_sets: &[],
///     ranges: &[],
/// };
/// let trees = table.trees()?;
/// assert_eq!(trees[0].nodes()[2], ImportedNode::Leaf { value: 0.5, weight: 10.0 });
/// let model = ImportedTrees::new(vec![None], trees, ImportedSum::default())?;
/// let columns = Columns::from_row_major(&[2.0, 2.5, f64::NAN], 1)?;
/// assert_eq!(model.score(&columns)?, [-1.5, 0.5, -1.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ImportedTrees(ImportedFields);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ImportedFields {
    n_levels: Vec<Option<u32>>,
    sum: ImportedSum,
    #[serde(with = "super::saved")]
    trees: Vec<ImportedTree>,
    #[serde(skip)]
    prepared: Prepared<LeafSums>,
}

/// How the values of trees become a score: `(start + ... ) / divisor * factor + offset`, the trees
/// added one by one in their order.
///
/// For an example see [`ImportedTrees`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ImportedSum {
    /// What the first tree is added to.
    pub start: f64,
    /// Whether each partial sum is rounded to single precision, in which start and values are.
    pub is_single: bool,
    /// Number of trees of a mean, or 1.
    pub divisor: f64,
    /// Factor on the sum or the mean.
    pub factor: f64,
    /// Added last.
    pub offset: f64,
    /// What the score says of probabilities.
    pub link: ImportedLink,
}

/// What scores of a model of another library say of probabilities.
///
/// For an example see [`ImportedTrees`], which only ranks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportedLink {
    /// Nothing.
    None,
    /// Times this number, they are log-odds.
    LogOdds(f64),
    /// They are probabilities less one half.
    AboveHalf,
}

impl Default for ImportedSum {
    fn default() -> Self {
        let link = ImportedLink::None;
        Self { start: 0.0, is_single: false, divisor: 1.0, factor: 1.0, offset: 0.0, link }
    }
}

impl ImportedSum {
    /// The score of a sum of trees.
    fn score(self, sum: f64) -> f64 {
        sum / self.divisor * self.factor + self.offset
    }

    #[expect(clippy::float_cmp, reason = "the offset is exactly this")]
    fn check(self) -> Result<(), String> {
        let numbers = [self.start, self.divisor, self.factor, self.offset];
        if !numbers.iter().all(|number| number.is_finite()) || self.divisor <= 0.0 {
            return Err(format!("{self:?} is not a way to sum trees"));
        }
        if self.link == ImportedLink::AboveHalf && self.offset != -0.5 {
            return Err(format!("probabilities of scores with {} added", self.offset));
        }
        self.link.check()
    }
}

impl ImportedLink {
    /// Checks the consistency of a link read from a file.
    pub(super) fn check(self) -> Result<(), String> {
        match self {
            Self::LogOdds(slope) if !(slope > 0.0 && slope.is_finite()) => {
                Err(format!("log-odds of {slope} times the score"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a number has single precision.
#[expect(clippy::float_cmp, reason = "whether it is the very same number")]
fn is_single(number: f64) -> bool {
    f64::from(number as f32) == number
}

impl ImportedTrees {
    /// A sum of trees, given the number of categories of each feature.
    ///
    /// # Errors
    ///
    /// A description of what does not fit together.
    pub fn new(
        n_levels: Vec<Option<u32>>,
        trees: Vec<ImportedTree>,
        sum: ImportedSum,
    ) -> Result<Self, String> {
        let model = Self(ImportedFields { n_levels, sum, trees, prepared: Prepared::default() });
        model.check()?;
        Ok(model)
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.0.n_levels
    }

    /// The trees, in the order in which they are added.
    #[must_use]
    pub fn trees(&self) -> &[ImportedTree] {
        &self.0.trees
    }

    /// How their values become a score.
    #[must_use]
    pub fn sum(&self) -> ImportedSum {
        self.0.sum
    }

    /// Score of each row, the same as the library gives, less one half if it is a probability.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns differ from those of the model in number or kind, or hold
    /// infinity.
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let mut scores = self.sums(columns)?;
        for score in &mut scores {
            *score = self.0.sum.score(*score);
        }
        Ok(scores)
    }

    /// The sum of the trees for each row.
    fn sums(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let ImportedFields { n_levels, sum, trees, prepared } = &self.0;
        columns.check_kinds(n_levels)?;
        let order = if sum.is_single { SumOrder::Single } else { SumOrder::Kept };
        let of_tree = |tree: &ImportedTree| (tree.routes(), tree.values().collect());
        let leaf_sums =
            prepared.get(|| LeafSums::of_routes(n_levels, trees.iter().map(of_tree), order));
        let mut sums = vec![sum.start; columns.n_rows()];
        leaf_sums.add_to_all(columns, &mut sums)?;
        Ok(sums)
    }

    /// Probability of the positive class of each row.
    ///
    /// # Errors
    ///
    /// As [`ImportedTrees::score`]; [`RankError::NoProbability`] if the model only ranks.
    pub fn probability(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let ImportedSum { divisor, factor, link, .. } = self.0.sum;
        match link {
            ImportedLink::None => Err(RankError::NoProbability),
            ImportedLink::LogOdds(slope) => {
                let scores = self.score(columns)?;
                Ok(scores.into_iter().map(|score| logistic(slope * score)).collect())
            }
            // Without the offset, which rounds small probabilities.
            ImportedLink::AboveHalf => {
                let sums = self.sums(columns)?;
                Ok(sums.into_iter().map(|sum| sum / divisor * factor).collect())
            }
        }
    }

    /// The score as a formula.
    #[must_use]
    #[expect(clippy::float_cmp, reason = "only exactly 1 changes nothing")]
    pub fn formula(&self) -> Formula {
        let ImportedSum { start, is_single, divisor, factor, offset, .. } = self.0.sum;
        let start = (start != 0.0).then_some(Formula::Constant(start));
        let trees = self.0.trees.iter().map(|tree| Formula::Tree(tree.formula()));
        let terms = start.into_iter().chain(trees).collect();
        let mut score = if is_single { Formula::SingleSum(terms) } else { Formula::Sum(terms) };
        if divisor != 1.0 {
            let denominator = Box::new(Formula::Constant(divisor));
            score = Formula::Quotient { numerator: Box::new(score), denominator, otherwise: 0.0 };
        }
        if factor != 1.0 {
            score = Formula::Product { factor, of: Box::new(score) };
        }
        match score {
            score if offset == 0.0 => score,
            Formula::Sum(mut terms) => {
                terms.push(Formula::Constant(offset));
                Formula::Sum(terms)
            }
            score => Formula::Sum(vec![score, Formula::Constant(offset)]),
        }
    }

    /// Checks the consistency of a model read from a file.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        let ImportedFields { n_levels, sum, trees, .. } = &self.0;
        sum.check()?;
        let mut largest = sum.start.abs();
        for (number, tree) in trees.iter().enumerate() {
            tree.check(n_levels).map_err(|what| format!("tree {number}: {what}"))?;
            if let Some(value) = tree.values().find(|value| sum.is_single && !is_single(*value)) {
                return Err(format!("tree {number}: the value {value} is not in single precision"));
            }
            largest += tree.values().fold(0.0, |largest, value| value.abs().max(largest));
        }
        let limit = if sum.is_single { f64::from(f32::MAX) } else { f64::MAX };
        let score = (largest / sum.divisor) * sum.factor.abs().max(1.0) + sum.offset.abs();
        if largest > limit || !score.is_finite() || (sum.is_single && !is_single(sum.start)) {
            return Err("the values of the trees are too large to be summed".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{Rule, Test};
    use crate::imported::ImportedNode;

    /// Stumps `x0 < k` with values that no order of a sum gives but one.
    fn stumps(n_trees: u32, of: impl Fn(f64) -> f64) -> Vec<ImportedTree> {
        let leaf = |value| ImportedNode::Leaf { value: of(value), weight: 1.0 };
        let stump = |tree: u32| {
            let left = Rule::Below(f64::from(tree % 17));
            let test = Test { feature: 0, left, missing_left: tree.is_multiple_of(2) };
            let value = 0.1 + f64::from(tree) * 0.37;
            let split = ImportedNode::Split { test, right: 2 };
            ImportedTree::new(vec![split, leaf(value), leaf(-value / 3.0)])
        };
        (0..n_trees).map(stump).collect()
    }

    /// Enough rows for the form of trees that is for many rows.
    fn values() -> Vec<f64> {
        (0..600).map(|row| if row % 23 == 0 { f64::NAN } else { f64::from(row % 20) }).collect()
    }

    fn sum_of(tree: &ImportedTree, row: &[f64]) -> f64 {
        Formula::Tree(tree.formula()).value(row).unwrap()
    }

    #[test]
    fn trees_are_added_in_their_order_in_either_precision() {
        let single = |value: f64| f64::from(value as f32);
        for is_single in [false, true] {
            let round = |value| if is_single { single(value) } else { value };
            let trees = stumps(50, round);
            let sum = ImportedSum { start: round(0.3), is_single, ..ImportedSum::default() };
            let model = ImportedTrees::new(vec![None], trees.clone(), sum).unwrap();
            let rows = values();
            let columns = Columns::from_row_major(&rows, 1).unwrap();
            let scores = model.score(&columns).unwrap();
            for (row, score) in rows.chunks(1).zip(&scores) {
                let add = |sum, tree| round(sum + sum_of(tree, row));
                let expected = trees.iter().fold(sum.start, add);
                assert_eq!(expected.to_bits(), score.to_bits());
                let alone = Columns::from_row_major(row, 1).unwrap();
                assert_eq!(model.score(&alone).unwrap(), [expected]);
                assert_eq!(model.formula().value(row), Ok(expected));
            }
        }
    }

    #[test]
    fn probabilities_follow_the_link() {
        let rows = values();
        let columns = Columns::from_row_major(&rows, 1).unwrap();
        let of = |sum| ImportedTrees::new(vec![None], stumps(3, |v| v / 9.0), sum).unwrap();
        let plain = ImportedSum::default();
        assert_eq!(of(plain).probability(&columns), Err(RankError::NoProbability));
        let odds = of(ImportedSum { link: ImportedLink::LogOdds(2.0), ..plain });
        let found = odds.probability(&columns).unwrap();
        for (score, rate) in odds.score(&columns).unwrap().into_iter().zip(found) {
            assert!((rate - 1.0 / (1.0 + (-2.0 * score).exp())).abs() < 1e-15);
        }
        let link = ImportedLink::AboveHalf;
        let mean = of(ImportedSum { link, divisor: 3.0, offset: -0.5, ..plain });
        let found = mean.probability(&columns).unwrap();
        for ((row, score), rate) in rows.chunks(1).zip(mean.score(&columns).unwrap()).zip(found) {
            let sum = mean.trees().iter().fold(0.0, |sum, tree| sum + sum_of(tree, row));
            assert_eq!([rate, score], [sum / 3.0, sum / 3.0 - 0.5]);
            assert_eq!(mean.formula().value(row), Ok(score));
        }
    }

    #[test]
    fn sums_that_are_not_as_they_say_are_refused() {
        let plain = ImportedSum::default();
        let refused = |sum, trees| ImportedTrees::new(vec![None], trees, sum).unwrap_err();
        let few = || stumps(2, |value| value);
        for sum in [
            ImportedSum { divisor: 0.0, ..plain },
            ImportedSum { start: f64::NAN, ..plain },
            ImportedSum { link: ImportedLink::AboveHalf, ..plain },
            ImportedSum { link: ImportedLink::LogOdds(-1.0), ..plain },
        ] {
            assert!(!refused(sum, few()).is_empty());
        }
        let single = ImportedSum { is_single: true, ..plain };
        assert!(refused(single, few()).ends_with("is not in single precision"));
        let too_large = "the values of the trees are too large to be summed";
        assert_eq!(refused(plain, stumps(2, |_| f64::MAX)), too_large);
        let tiny = ImportedSum { divisor: 1e-300, ..plain };
        assert_eq!(refused(tiny, stumps(2, |_| 1e200)), too_large);
        let leaf = ImportedNode::Leaf { value: f64::NAN, weight: 0.0 };
        let tree = ImportedTree::new(vec![leaf]);
        assert_eq!(refused(plain, vec![tree]), "tree 0: the value of node 0 is NaN");
    }
}
