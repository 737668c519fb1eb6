//! How a score depends on one or a few features, the others averaged over rows (paper 2 sec. 5.2).
//!
//! By the definition every row is scored once for each point of a grid, with the features in
//! question set to the point. Here a row goes through the tree once and takes all points along: a
//! question about one of these features parts the points that are still with the row, any other
//! question is answered by the row itself. At the leaves nothing is added up but the weights of the
//! rows, which are integers: the result does not depend on threads or on the order of rows.
//!
//! Points that answer every question of the tree alike (a class below) are one point to it, so a set
//! of points is a bit set of classes.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use super::leaf_value::LeafValue;
use crate::data::{Columns, FixedWeights};
use crate::formula::Test;
use crate::tree::forest::RankingForest;
use crate::tree::model::RankingTree;
use crate::tree::model::{Router, TILE_ROWS, Target};
use crate::{Interrupt, RankError};

/// Mean score of the rows of `columns` when some of their features are set to given values: one
/// number for each point of a grid.
///
/// - `trees`: trees and a value for each leaf, in ranking order (as [`LeafValue::of`] gives); the
///   score of a row is the mean, over the trees, of the value of its leaf;
/// - `weight`: of each row;
/// - `features`: those that are set, none of them twice;
/// - `points`: their values, point by point: numbers or category codes, NaN for a missing value.
///
/// The features that are set are not asked of the rows, but must be there.
///
/// [`LeafValue::of`]: super::LeafValue::of
///
/// # Errors
///
/// [`RankError`] if the columns are not those of the trees or hold infinity, if a weight is
/// negative, NaN or infinite, all weights are zero, a feature does not exist or occurs twice, or if
/// lengths do not fit.
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
/// let tree = tree::fit(&columns, &labels, &params, &interrupt)?.tree;
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
    /// Mean of what the forest says of the rows of `columns` when some of their features are set to
    /// given values: [`partial_dependence`] with the leaves of [`LeafValue::of_forest`].
    ///
    /// # Errors
    ///
    /// [`RankError`] if the forest does not say the mean of values of leaves, and as
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

fn bad(name: &'static str, value: usize, rule: &'static str) -> RankError {
    RankError::BadParameter { name, value: value.to_string(), rule }
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

/// Weights as integers, in one unit.
struct RowWeights {
    /// `None` for 1 each.
    units: Option<Vec<u64>>,
    total: u64,
}

impl RowWeights {
    fn new(weight: Option<&[f64]>, n_rows: usize) -> Result<Self, RankError> {
        let units = match weight {
            None => None,
            Some(weight) if weight.len() != n_rows => {
                return Err(bad("the number of weights", weight.len(), "that of the rows"));
            }
            Some(weight) => Some(FixedWeights::new(weight)?.units().to_vec()),
        };
        let total = units.as_ref().map_or(n_rows as u64, |units| units.iter().sum());
        if total == 0 {
            return Err(bad("the sum of sample_weight", 0, "positive"));
        }
        Ok(Self { units, total })
    }

    #[inline]
    fn of(&self, row: usize) -> u64 {
        self.units.as_ref().map_or(1, |units| units[row])
    }
}

/// The ways through one tree for the points of a grid.
struct Paths<'a> {
    router: Router<'a, Test>,
    n_leaves: usize,
    /// For each question of the router, the classes that it sends left; empty where the row answers.
    goes_left: Vec<Vec<u64>>,
    /// The set of all classes.
    all: Vec<u64>,
    n_classes: usize,
    class_of_point: Vec<usize>,
}

impl<'a> Paths<'a> {
    fn new(tree: &'a RankingTree, features: &[usize], points: &[f64]) -> Self {
        let router = Router::new(tree, Test::clone);
        let asks_point: Vec<usize> = (0..router.steps.len())
            .filter(|&step| features.contains(&router.stump(step).feature))
            .collect();

        // A point as a row of which nothing else is known, and its answers as bits.
        let mut row = vec![f64::NAN; tree.n_levels().len()];
        let mut classes = HashMap::new();
        let mut answers_of_class: Vec<Vec<u64>> = Vec::new();
        let class_of_point = points
            .chunks_exact(features.len())
            .map(|point| {
                for (&feature, &value) in features.iter().zip(point) {
                    row[feature] = value;
                }
                let answers = asks_point.iter().map(|&step| router.stump(step).goes_left(&row));
                let answers = to_bits(answers);
                *classes.entry(answers).or_insert_with_key(|answers| {
                    answers_of_class.push(answers.clone());
                    answers_of_class.len() - 1
                })
            })
            .collect();

        let n_classes = answers_of_class.len();
        let mut goes_left = vec![Vec::new(); router.steps.len()];
        for (bit, &step) in asks_point.iter().enumerate() {
            let left = answers_of_class.iter().map(|bits| bits[bit / 64] >> (bit % 64) & 1 == 1);
            goes_left[step] = to_bits(left);
        }
        let all = to_bits((0..n_classes).map(|_| true));
        Self { router, n_leaves: tree.n_leaves(), goes_left, all, n_classes, class_of_point }
    }

    /// Sends all rows through the tree; returns the weight that arrives, leaf by leaf and in each
    /// leaf class by class.
    fn send(
        &self,
        columns: &Columns<'_>,
        weights: &RowWeights,
        interrupt: &Interrupt,
    ) -> Result<Vec<u64>, RankError> {
        (0..columns.n_rows().div_ceil(TILE_ROWS))
            .into_par_iter()
            .with_min_len(16)
            .try_fold(
                || Walker::new(self),
                |mut walker, tile| {
                    interrupt.check()?;
                    let end = columns.n_rows().min((tile + 1) * TILE_ROWS);
                    walker.send_tile(columns, weights, tile * TILE_ROWS..end)?;
                    Ok(walker)
                },
            )
            .map(|walker| walker.map(Walker::finish))
            .try_reduce(
                || self.nothing_arrived(),
                |mut a, b| {
                    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                    Ok(a)
                },
            )
    }

    fn nothing_arrived(&self) -> Vec<u64> {
        vec![0; self.n_leaves * self.n_classes]
    }
}

/// Where a row can be, with a set of classes. A set is parted the same way for every row, so that
/// states are shared by rows, and a row only follows numbers.
enum State {
    /// A leaf, and the weight that came to it.
    Leaf { place: usize, weight: u64 },
    /// A question that the row answers, and the states on its two sides, made when first needed.
    Question { step: usize, next: [Option<u32>; 2] },
    /// A question that sends some of the classes left and some right.
    Fork { next: [u32; 2] },
}

/// Size of all states, in words, from which on they are dropped and made anew: some tens of MB.
/// Tests come to it with small data.
const MOST_WORDS: usize = if cfg!(test) { 1 << 12 } else { 1 << 21 };

/// Sends rows through a tree, one after the other.
struct Walker<'a> {
    paths: &'a Paths<'a>,
    /// The first is that of a row which enters the tree.
    states: Vec<State>,
    /// For each state its set, end to end.
    sets: Vec<u64>,
    number_of: HashMap<(Target, Box<[u64]>), u32>,
    /// States where the row still has to go on.
    waiting: Vec<u32>,
    tile: Vec<f64>,
    arrived: Vec<u64>,
}

impl<'a> Walker<'a> {
    fn new(paths: &'a Paths) -> Self {
        Self {
            paths,
            states: Vec::new(),
            sets: Vec::new(),
            number_of: HashMap::new(),
            waiting: Vec::new(),
            tile: Vec::new(),
            arrived: paths.nothing_arrived(),
        }
    }

    fn send_tile(
        &mut self,
        columns: &Columns<'_>,
        weights: &RowWeights,
        rows: Range<usize>,
    ) -> Result<(), RankError> {
        let mut tile = std::mem::take(&mut self.tile);
        tile.resize(rows.len() * columns.n_features(), 0.0);
        if columns.read_rows(rows.clone(), &mut tile) {
            return Err(columns.refusal());
        }
        for (row, values) in rows.zip(tile.chunks_exact(columns.n_features())) {
            let weight = weights.of(row);
            if weight > 0 && self.paths.n_classes > 0 {
                self.send_row(values, weight);
            }
        }
        self.tile = tile;
        Ok(())
    }

    fn send_row(&mut self, row: &[f64], weight: u64) {
        // A state takes some eight words beside its set.
        if self.states.len() * (self.paths.all.len() + 8) > MOST_WORDS {
            self.unload();
        }
        let start = match self.states.len() {
            0 => self.state(self.paths.router.start, &self.paths.all),
            _ => 0,
        };
        self.waiting.push(start);
        while let Some(number) = self.waiting.pop() {
            match &mut self.states[number as usize] {
                State::Leaf { weight: arrived, .. } => *arrived += weight,
                State::Fork { next } => self.waiting.extend(*next),
                State::Question { step, next } => {
                    let goes_left = self.paths.router.stump(*step).goes_left(row);
                    let next = match next[usize::from(!goes_left)] {
                        Some(next) => next,
                        None => self.answer(number, goes_left),
                    };
                    self.waiting.push(next);
                }
            }
        }
    }

    /// Makes the state on one side of a question.
    #[cold]
    fn answer(&mut self, number: u32, goes_left: bool) -> u32 {
        let State::Question { step, .. } = self.states[number as usize] else {
            unreachable!("only a question is answered")
        };
        let n_words = self.paths.all.len();
        let set = self.sets[number as usize * n_words..][..n_words].to_vec();
        let (left, right) = self.paths.router.sides(step);
        let found = self.state(if goes_left { left } else { right }, &set);
        if let State::Question { next, .. } = &mut self.states[number as usize] {
            next[usize::from(!goes_left)] = Some(found);
        }
        found
    }

    /// Number of the state of a set of classes at a target, past the questions that send all of the
    /// set to one side.
    fn state(&mut self, mut target: Target, set: &[u64]) -> u32 {
        let router = &self.paths.router;
        let (step, goes_left) = loop {
            let step = match target.resolve() {
                Err(place) => return self.number(target, set, State::Leaf { place, weight: 0 }),
                Ok(step) => step,
            };
            let goes_left = &self.paths.goes_left[step];
            if goes_left.is_empty() {
                return self.number(target, set, State::Question { step, next: [None; 2] });
            }
            let (left, right) = router.sides(step);
            target = if set.iter().zip(goes_left).all(|(set, left)| set & left == 0) {
                right
            } else if set.iter().zip(goes_left).all(|(set, left)| set & !left == 0) {
                left
            } else {
                break (step, goes_left);
            };
        };
        if let Some(&number) = self.number_of.get(&(target, set.into())) {
            return number;
        }
        // The fork gets its number before its sides do, so that the first state stays the start.
        let number = self.number(target, set, State::Fork { next: [0; 2] });
        let (left, right) = router.sides(step);
        let part = |keep: fn(u64, u64) -> u64| -> Vec<u64> {
            set.iter().zip(goes_left).map(|(&set, &left)| keep(set, left)).collect()
        };
        let next = [
            self.state(left, &part(|set, left| set & left)),
            self.state(right, &part(|set, left| set & !left)),
        ];
        self.states[number as usize] = State::Fork { next };
        number
    }

    /// Number of a state, which is `new` if there was none.
    fn number(&mut self, target: Target, set: &[u64], new: State) -> u32 {
        let Self { states, sets, number_of, .. } = self;
        *number_of.entry((target, set.into())).or_insert_with(|| {
            states.push(new);
            sets.extend_from_slice(set);
            states.len() as u32 - 1
        })
    }

    /// Adds up what came to the leaves, and forgets all states.
    fn unload(&mut self) {
        let (n_words, n_classes) = (self.paths.all.len(), self.paths.n_classes);
        for (state, set) in self.states.iter().zip(self.sets.chunks_exact(n_words.max(1))) {
            let State::Leaf { place, weight } = *state else { continue };
            let arrived = &mut self.arrived[place * n_classes..][..n_classes];
            for (word, mut set) in set.iter().copied().enumerate() {
                while set != 0 {
                    arrived[64 * word + set.trailing_zeros() as usize] += weight;
                    set &= set - 1;
                }
            }
        }
        self.states.clear();
        self.sets.clear();
        self.number_of.clear();
    }

    fn finish(mut self) -> Vec<u64> {
        self.unload();
        self.arrived
    }
}

/// Bits in words, the first bit lowest.
fn to_bits(bits: impl Iterator<Item = bool>) -> Vec<u64> {
    let mut words = Vec::new();
    for (place, bit) in bits.enumerate() {
        if place % 64 == 0 {
            words.push(0);
        }
        words[place / 64] |= u64::from(bit) << (place % 64);
    }
    words
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
            fit(&self.columns(), &labels, &params, &Interrupt::default()).unwrap().tree
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
                for (leaf, weight) in tree.apply(&set.columns()).unwrap().iter().zip(&set.weight) {
                    sum += weight * values[*leaf as usize];
                    total += weight;
                }
            }
            sum / total
        }
    }

    /// All points of a grid of some values for each feature, the last feature running fastest.
    fn grid(features: &[usize]) -> Vec<Vec<f64>> {
        let mut points = vec![vec![]];
        for feature in features {
            let values: Vec<f64> = match feature {
                2 => vec![0.0, 1.0, 2.0, 3.0, f64::NAN],
                _ => (-1..44).map(f64::from).chain([f64::NAN, 12.5]).collect(),
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

    /// The definition once more, for what a whole forest says.
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
    fn what_does_not_fit_is_refused_in_words() {
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
