//! Shapley values and interactions of a formula, exact for each pair of a row and a background row.
//!
//! The value of a set of features is the formula of the row that takes these features from the row
//! and the others from the background row (interventional values: Lundberg et al., "From local
//! explanations to global understanding with explainable AI for trees", 2020). Shapley values add
//! up over the terms of a sum. A leaf that needs p features from the row and q from the background
//! row is reached by the sets that contain the p and none of the q. If its value is v, each of the
//! p gets v (p - 1)! q! / (p + q)!, each of the q gets -v p! (q - 1)! / (p + q)!. One walk of a
//! tree visits each of these leaves once: at a test of an unassigned feature that sends the two
//! rows to different sides, it goes both ways.
//!
//! The interaction of two features (Grabisch and Roubens, 1999) is the mean, over the same orders
//! with the two as one player, of what both add less what each of them adds alone. At such a leaf,
//! with S the features before the two, this difference is
//! - v for two of the p, if S has all others of the p and none of the q: the two together are one
//!   of p - 1 players that come before q others, so that the mean is v (p - 2)! q! / (p + q - 1)!;
//! - v for two of the q, if S has all of the p and none of the q, since only the set without both
//!   reaches the leaf: the two are one of q - 1 players that come after p others, so that the mean
//!   is v p! (q - 2)! / (p + q - 1)!;
//! - -v for one of the p and one of the q, if S has all others of the p and none of the q, since
//!   only the set with the first and without the second reaches the leaf: the player comes after
//!   p - 1 others and before q - 1, so that the mean is -v (p - 1)! (q - 1)! / (p + q - 1)!.

use std::cmp::Ordering;

use super::{Condition, DecisionTree, Formula, FormulaError, Test, TreeNode};
use crate::RankError;
use crate::data::Columns;
use crate::memory::filled;
use crate::parallel;

impl Formula {
    /// The contribution of each feature to the value of each row, by row: the mean of its Shapley
    /// values over the rows of a background. With the mean value of the background, the
    /// contributions add up to the value of the row.
    ///
    /// The order of the background rows does not matter.
    ///
    /// # Errors
    ///
    /// [`FormulaError::NotASum`] if a part is neither a tree nor a function of one feature, or steps of
    /// a number computed from two;
    /// [`FormulaError::NoFormula`] if a part has no formula; [`RankError`] for a value that is
    /// infinite, or missing although it must not be, and if there is no background row.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::data::Columns;
    /// use aucrank::formula::{Formula, Linear, LinearTerm};
    ///
    /// let term = |feature, weight| LinearTerm { feature, weight, scale: None };
    /// let linear = Linear { terms: vec![term(0, 2.0), term(1, -1.0)], intercept: 0.5 };
    /// let columns = Columns::from_row_major(&[3.0, 4.0], 2)?;
    /// let background = Columns::from_row_major(&[0.0, 0.0, 2.0, 2.0], 2)?;
    /// let parts = Formula::Linear(linear).shapley_values(&columns, &background)?;
    /// assert_eq!(parts, [4.0, -3.0]);
    /// # Ok::<(), aucrank::RankError>(())
    /// ```
    pub fn shapley_values(
        &self,
        columns: &Columns<'_>,
        background: &Columns<'_>,
    ) -> Result<Vec<f64>, RankError> {
        self.mean_sums::<ValueSums>(columns, background)
    }

    /// The interactions of each pair of features in the value of each row, by row: for each feature
    /// its interactions with all features, the means over the rows of a background. Half of the
    /// interaction of two features is at either place, and a feature has with itself what remains
    /// of its Shapley value, so that those of a feature add up to it.
    ///
    /// The order of the background rows does not matter.
    ///
    /// # Errors
    ///
    /// As [`Formula::shapley_values`]; [`RankError::OutOfMemory`] if there is no room for the
    /// square of the number of features, row by row.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::data::Columns;
    /// use aucrank::formula::{Condition, Formula, Rule, Test};
    ///
    /// // 1 if both features are at least 1.
    /// let test = |feature| Test { feature, left: Rule::AtLeast(1.0), missing_left: false };
    /// let both = Condition::All(vec![Condition::Test(test(0)), Condition::Test(test(1))]);
    /// let formula = Formula::Indicator { condition: both, value: 1.0 };
    /// let columns = Columns::from_row_major(&[1.0, 1.0], 2)?;
    /// let background = Columns::from_row_major(&[0.0, 0.0], 2)?;
    /// let parts = formula.shapley_interactions(&columns, &background)?;
    /// // Neither adds anything alone.
    /// assert_eq!(parts, [0.0, 0.5, 0.5, 0.0]);
    /// # Ok::<(), aucrank::RankError>(())
    /// ```
    pub fn shapley_interactions(
        &self,
        columns: &Columns<'_>,
        background: &Columns<'_>,
    ) -> Result<Vec<f64>, RankError> {
        self.mean_sums::<InteractionSums>(columns, background)
    }

    /// The means of sums over the background, row by row.
    fn mean_sums<S: ShapleySums>(
        &self,
        columns: &Columns<'_>,
        background: &Columns<'_>,
    ) -> Result<Vec<f64>, RankError> {
        self.check_sum()?;
        let n_features = columns.n_features();
        if background.n_rows() == 0 {
            return Err(RankError::Formula(FormulaError::EmptyBackground));
        }
        let (rows, others) = (by_row(columns)?, by_row(background)?);
        let mut others: Vec<&[f64]> = others.chunks_exact(n_features).collect();
        // Sorted, so that sums do not depend on the order of the background.
        others.sort_unstable_by(|a, b| {
            let each = a.iter().zip(*b).map(|(a, b)| a.total_cmp(b));
            each.fold(Ordering::Equal, Ordering::then)
        });
        let width = S::width(n_features);
        let mut out = filled(columns.n_rows().saturating_mul(width), 0.0)?;
        let items = rows.chunks_exact(n_features).zip(out.chunks_exact_mut(width)).collect();
        parallel::try_map(items, |(row, out): (&[f64], &mut [f64])| {
            let mut walk = Walk::new(row, S::new(n_features));
            for other in &others {
                // For each of them: a walk of a large model takes some milliseconds.
                columns.check_interrupt()?;
                walk.other = other;
                walk.add(self, 1.0);
            }
            walk.sums.write(others.len() as f64, out);
            Ok::<_, RankError>(())
        })?;
        if out.iter().any(|value| value.is_nan()) {
            let missing = columns.missing_value().or_else(|| background.missing_value());
            return missing.map_or(Ok(out), Err);
        }
        Ok(out)
    }

    /// Checks that the formula is a sum of trees and of functions of one feature.
    fn check_sum(&self) -> Result<(), RankError> {
        if let Some(opaque) = self.opaque() {
            return Err(RankError::Formula(FormulaError::NoFormula(opaque)));
        }
        match self {
            Self::Constant(_)
            | Self::Tree(_)
            | Self::Steps(_)
            | Self::Linear(_)
            | Self::Indicator { .. } => Ok(()),
            Self::Sum(terms) | Self::SingleSum(terms) => terms.iter().try_for_each(Self::check_sum),
            Self::Product { of, .. } => of.check_sum(),
            Self::StepsOf { of, .. } if of.two_features().is_some() => Ok(()),
            Self::StepsOf { .. } => {
                Err(RankError::Formula(FormulaError::NotASum("a step function of a sum")))
            }
            Self::Quotient { numerator, denominator, .. } if constant(denominator) > Some(0.0) => {
                numerator.check_sum()
            }
            Self::Quotient { .. } => Err(RankError::Formula(FormulaError::NotASum("a quotient"))),
            Self::Median(_) => Err(RankError::Formula(FormulaError::NotASum("a median"))),
            Self::Program(_) => {
                Err(RankError::Formula(FormulaError::NotASum("a branching program")))
            }
            Self::Opaque(opaque) => Err(RankError::Formula(FormulaError::NoFormula(*opaque))),
        }
    }
}

impl Formula {
    /// The two features of a ratio or a sum of two numbers.
    fn two_features(&self) -> Option<[usize; 2]> {
        let single = |of: &Self| match of {
            Self::Linear(linear) => match &linear.terms[..] {
                [term] => Some(term.feature),
                _ => None,
            },
            _ => None,
        };
        match self {
            Self::Linear(linear) => match &linear.terms[..] {
                [first, second] => Some([first.feature, second.feature]),
                _ => None,
            },
            Self::Quotient { numerator, denominator, .. } => {
                Some([single(numerator)?, single(denominator)?])
            }
            _ => None,
        }
    }
}

/// The value of a formula that is the same for every row.
fn constant(formula: &Formula) -> Option<f64> {
    match formula {
        Formula::Constant(value) => Some(*value),
        _ => None,
    }
}

/// All values, row by row.
fn by_row(columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
    let n_features = columns.n_features();
    let mut values = vec![0.0; columns.n_rows() * n_features];
    columns
        .by_tile(&mut values, n_features, |(): &mut (), _, rows, out| out.copy_from_slice(rows))?;
    Ok(values)
}

/// What walks of a row against background rows add up.
trait ShapleySums {
    /// Number of values for each row.
    fn width(n_features: usize) -> usize;

    fn new(n_features: usize) -> Self;

    /// Adds a function of one feature: what the row has more than the background row.
    fn add_single(&mut self, feature: usize, gain: f64);

    /// Adds a function of two features: its values with none, the first, the second or both from
    /// the row.
    fn add_joint(&mut self, features: [usize; 2], values: [f64; 4]);

    /// Adds a leaf, given the features it needs from the row and from the background row.
    fn add_leaf(&mut self, of_row: &[usize], of_other: &[usize], value: f64);

    /// Writes the means over so many background rows.
    fn write(self, n_others: f64, out: &mut [f64]);
}

/// Shapley values.
struct ValueSums(Vec<f64>);

impl ShapleySums for ValueSums {
    fn width(n_features: usize) -> usize {
        n_features
    }

    fn new(n_features: usize) -> Self {
        Self(vec![0.0; n_features])
    }

    fn add_single(&mut self, feature: usize, gain: f64) {
        self.0[feature] += gain;
    }

    fn add_joint(&mut self, [first, second]: [usize; 2], values: [f64; 4]) {
        let [none, of_first, of_second, both] = values;
        self.0[first] += 0.5 * ((of_first - none) + (both - of_second));
        self.0[second] += 0.5 * ((of_second - none) + (both - of_first));
    }

    fn add_leaf(&mut self, of_row: &[usize], of_other: &[usize], value: f64) {
        let (p, q) = (of_row.len(), of_other.len());
        if p > 0 {
            let part = value * share(p, q);
            for &feature in of_row {
                self.0[feature] += part;
            }
        }
        if q > 0 {
            let part = value * share(q, p);
            for &feature in of_other {
                self.0[feature] -= part;
            }
        }
    }

    fn write(self, n_others: f64, out: &mut [f64]) {
        out.iter_mut().zip(self.0).for_each(|(out, sum)| *out = sum / n_others);
    }
}

/// Shapley values, and the interactions of pairs of features: a row for each feature, where the
/// places of greater features are used.
struct InteractionSums {
    values: ValueSums,
    pairs: Vec<f64>,
}

impl InteractionSums {
    fn add_pair(&mut self, a: usize, b: usize, value: f64) {
        self.pairs[a.min(b) * self.values.0.len() + a.max(b)] += value;
    }

    /// Adds a value to each pair of a list of features.
    fn add_pairs(&mut self, features: &[usize], value: f64) {
        for (place, &a) in features.iter().enumerate() {
            for &b in &features[..place] {
                self.add_pair(a, b, value);
            }
        }
    }
}

impl ShapleySums for InteractionSums {
    fn width(n_features: usize) -> usize {
        n_features.saturating_mul(n_features)
    }

    fn new(n_features: usize) -> Self {
        Self { values: ValueSums::new(n_features), pairs: vec![0.0; n_features * n_features] }
    }

    fn add_single(&mut self, feature: usize, gain: f64) {
        self.values.add_single(feature, gain);
    }

    fn add_joint(&mut self, features: [usize; 2], values: [f64; 4]) {
        self.values.add_joint(features, values);
        let [none, of_first, of_second, both] = values;
        self.add_pair(features[0], features[1], (both - of_second) - (of_first - none));
    }

    fn add_leaf(&mut self, of_row: &[usize], of_other: &[usize], value: f64) {
        self.values.add_leaf(of_row, of_other, value);
        let (p, q) = (of_row.len(), of_other.len());
        if p > 1 {
            let part = value * share(p - 1, q);
            self.add_pairs(of_row, part);
        }
        if q > 1 {
            let part = value * share(q - 1, p);
            self.add_pairs(of_other, part);
        }
        if p > 0 && q > 0 {
            let part = value * share(p, q - 1);
            for &a in of_row {
                for &b in of_other {
                    self.add_pair(a, b, -part);
                }
            }
        }
    }

    fn write(self, n_others: f64, out: &mut [f64]) {
        let n_features = self.values.0.len();
        for a in 0..n_features {
            for b in a + 1..n_features {
                let half = 0.5 * self.pairs[a * n_features + b] / n_others;
                (out[a * n_features + b], out[b * n_features + a]) = (half, half);
            }
        }
        for (feature, value) in self.values.0.into_iter().enumerate() {
            let own = &mut out[feature * n_features..][..n_features];
            // Its own place is still 0.
            own[feature] = value / n_others - own.iter().sum::<f64>();
        }
    }
}

/// The row that a feature is taken from.
#[derive(Clone, Copy, PartialEq)]
enum TakenFrom {
    Either,
    Row,
    Other,
}

/// Sums of one row against others, and the features assigned on the way to a leaf.
struct Walk<'a, S> {
    row: &'a [f64],
    other: &'a [f64],
    from: Vec<TakenFrom>,
    of_row: Vec<usize>,
    of_other: Vec<usize>,
    sums: S,
}

/// Continuation once a condition is decided.
type Then<'t, 'a, S> = &'t mut dyn FnMut(&mut Walk<'a, S>, bool);

impl<'a, S: ShapleySums> Walk<'a, S> {
    fn new(row: &'a [f64], sums: S) -> Self {
        let from = vec![TakenFrom::Either; row.len()];
        Self { row, other: row, from, of_row: Vec::new(), of_other: Vec::new(), sums }
    }

    /// Adds a checked formula, times a factor.
    fn add(&mut self, formula: &Formula, factor: f64) {
        match formula {
            Formula::Tree(tree) => self.add_node(tree, 0, factor),
            Formula::Steps(steps) => {
                let gain = steps.value(self.row) - steps.value(self.other);
                self.sums.add_single(steps.feature, factor * gain);
            }
            Formula::Linear(linear) => {
                for term in &linear.terms {
                    let gain = term.value(self.row) - term.value(self.other);
                    self.sums.add_single(term.feature, factor * gain);
                }
            }
            Formula::Indicator { condition, value } => {
                self.decide(condition, &mut |walk, holds| {
                    if holds {
                        walk.add_leaf(factor * value);
                    }
                });
            }
            Formula::Sum(terms) | Formula::SingleSum(terms) => {
                for term in terms {
                    self.add(term, factor);
                }
            }
            Formula::Product { factor: own, of } => self.add(of, factor * own),
            Formula::StepsOf { of, .. } => {
                if let Some(features) = of.two_features() {
                    self.add_joint(formula, features, factor);
                }
            }
            Formula::Quotient { numerator, denominator, .. } => {
                if let Some(constant) = constant(denominator) {
                    self.add(numerator, factor / constant);
                }
            }
            // Constants add nothing; `check_sum` rejects the rest.
            _ => {}
        }
    }

    /// Adds a function of two features, by the definition.
    fn add_joint(&mut self, formula: &Formula, [first, second]: [usize; 2], factor: f64) {
        let value = |from: [&[f64]; 2]| {
            let mut mixed = self.other.to_vec();
            (mixed[first], mixed[second]) = (from[0][first], from[1][second]);
            formula.value(&mixed).unwrap_or(f64::NAN)
        };
        let (row, other) = (self.row, self.other);
        let values = [[other, other], [row, other], [other, row], [row, row]].map(value);
        self.sums.add_joint([first, second], values.map(|value| factor * value));
    }

    fn add_node(&mut self, tree: &DecisionTree, place: usize, factor: f64) {
        match &tree.nodes[place] {
            TreeNode::Leaf { value, .. } => self.add_leaf(factor * value),
            TreeNode::Branch { condition, left, right, .. } => {
                self.decide(condition, &mut |walk, holds| {
                    walk.add_node(tree, if holds { *left } else { *right }, factor);
                });
            }
        }
    }

    fn add_leaf(&mut self, value: f64) {
        self.sums.add_leaf(&self.of_row, &self.of_other, value);
    }

    /// Continues with the outcome of a condition, or with both outcomes.
    fn decide(&mut self, condition: &Condition, then: Then<'_, 'a, S>) {
        match condition {
            Condition::Constant(holds) => then(self, *holds),
            Condition::Test(test) => self.ask(test, then),
            Condition::All(of) => self.decide_list(of, false, then),
            Condition::Any(of) => self.decide_list(of, true, then),
            Condition::Branch { test, left, right, .. } => {
                self.ask(test, &mut |walk, goes_left| {
                    walk.decide(if goes_left { left } else { right }, then);
                });
            }
            // Rejected by `check_sum`.
            Condition::Opaque(_) => {}
        }
    }

    /// Decides conditions in order, until one has the outcome that decides them all.
    fn decide_list(&mut self, of: &[Condition], deciding: bool, then: Then<'_, 'a, S>) {
        match of.split_first() {
            None => then(self, !deciding),
            Some((first, others)) => self.decide(first, &mut |walk, holds| {
                if holds == deciding {
                    then(walk, holds);
                } else {
                    walk.decide_list(others, deciding, then);
                }
            }),
        }
    }

    fn ask(&mut self, test: &Test, then: Then<'_, 'a, S>) {
        let feature = test.feature;
        match self.from[feature] {
            TakenFrom::Row => then(self, test.goes_left(self.row)),
            TakenFrom::Other => then(self, test.goes_left(self.other)),
            TakenFrom::Either => {
                let (own, others) = (test.goes_left(self.row), test.goes_left(self.other));
                if own == others {
                    return then(self, own);
                }
                self.from[feature] = TakenFrom::Row;
                self.of_row.push(feature);
                then(self, own);
                self.of_row.pop();
                self.from[feature] = TakenFrom::Other;
                self.of_other.push(feature);
                then(self, others);
                self.of_other.pop();
                self.from[feature] = TakenFrom::Either;
            }
        }
    }
}

/// (p - 1)! q! / (p + q)!, the share of the orders in which a given one of the p is the last of
/// them and comes before all of the q.
fn share(p: usize, q: usize) -> f64 {
    // As ratios, since factorials overflow from 171 on.
    (1..=q).fold(1.0 / p as f64, |share, k| share * k as f64 / (p + k) as f64)
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;
    use crate::data::{Column, LevelSet};
    use crate::formula::{Linear, LinearTerm, Opaque, Rule, Scale, StepValues, Steps};

    const N_FEATURES: usize = 4;
    const N_LEVELS: u32 = 3;

    fn factorial(k: usize) -> f64 {
        (1..=k).map(|k| k as f64).product()
    }

    /// The values of all sets of features, each by its bits, against one background row.
    fn values_of_sets(formula: &Formula, row: &[f64], other: &[f64]) -> Vec<f64> {
        let value = |set: usize| {
            let mixed: Vec<f64> = (0..row.len())
                .map(|place| if set >> place & 1 == 1 { row[place] } else { other[place] })
                .collect();
            formula.value(&mixed).expect("it can be written down")
        };
        (0..1 << row.len()).map(value).collect()
    }

    /// The definition: the mean gain from a feature over all sets of the other features.
    fn by_definition(formula: &Formula, row: &[f64], others: &[Vec<f64>]) -> Vec<f64> {
        let n = row.len();
        let mut parts = vec![0.0; n];
        for other in others {
            let value = values_of_sets(formula, row, other);
            for (feature, part) in parts.iter_mut().enumerate() {
                for set in (0..1 << n).filter(|set| set >> feature & 1 == 0) {
                    let size = (set as u32).count_ones() as usize;
                    let weight = factorial(size) * factorial(n - size - 1) / factorial(n);
                    *part +=
                        weight * (value[set | 1 << feature] - value[set]) / others.len() as f64;
                }
            }
        }
        parts
    }

    /// The definition: over all sets of the other features the mean of what two add together, less
    /// what each of them adds; half of it at either place, and what remains of the Shapley value
    /// on the diagonal.
    fn pairs_by_definition(formula: &Formula, row: &[f64], others: &[Vec<f64>]) -> Vec<f64> {
        let n = row.len();
        let mut parts = vec![0.0; n * n];
        for other in others {
            let value = values_of_sets(formula, row, other);
            for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).filter(|(a, b)| a != b) {
                for set in (0..1 << n).filter(|set| (set >> a | set >> b) & 1 == 0) {
                    let size = (set as u32).count_ones() as usize;
                    let weight = factorial(size) * factorial(n - size - 2) / factorial(n - 1);
                    let (with_a, with_b) = (set | 1 << a, set | 1 << b);
                    let gain = value[with_a | with_b] - value[with_a] - value[with_b] + value[set];
                    parts[a * n + b] += 0.5 * weight * gain / others.len() as f64;
                }
            }
        }
        for (feature, value) in by_definition(formula, row, others).into_iter().enumerate() {
            let of_pairs: f64 = parts[feature * n..][..n].iter().sum();
            parts[feature * n + feature] = value - of_pairs;
        }
        parts
    }

    struct Draw(Xoshiro256PlusPlus);

    impl Draw {
        fn below(&mut self, n: u32) -> u32 {
            self.0.next_u32() % n
        }

        /// Few distinct numbers, so that tests of a feature repeat; the last feature is a category.
        fn row(&mut self) -> Vec<f64> {
            (0..N_FEATURES)
                .map(|place| match self.below(if place + 1 == N_FEATURES { 4 } else { 6 }) {
                    0 => f64::NAN,
                    code => f64::from(code - 1),
                })
                .collect()
        }

        fn test(&mut self) -> Test {
            let feature = self.below(N_FEATURES as u32) as usize;
            let left = match (feature + 1 == N_FEATURES, self.below(4)) {
                (_, 0) => Rule::Known(self.below(2) == 0),
                (true, _) => Rule::Levels(LevelSet::all_but([self.below(N_LEVELS)])),
                (false, 1) => Rule::AtLeast(f64::from(self.below(5))),
                (false, _) => Rule::Below(f64::from(self.below(5))),
            };
            Test { feature, left, missing_left: self.below(2) == 0 }
        }

        fn condition(&mut self, depth: u32) -> Condition {
            let kind = if depth == 0 { 4 } else { self.below(8) };
            let mut part = || Box::new(self.condition(depth - 1));
            match kind {
                0 => Condition::All(vec![*part(), *part(), *part()]),
                1 => Condition::Any(vec![*part(), *part()]),
                2 => {
                    let (left, right) = (part(), part());
                    Condition::Branch { test: self.test(), left_share: 0.5, left, right }
                }
                3 => Condition::Constant(self.below(2) == 0),
                _ => Condition::Test(self.test()),
            }
        }

        fn tree(&mut self, depth: u32) -> Vec<TreeNode> {
            if depth == 0 || self.below(6) == 0 {
                return vec![TreeNode::Leaf { weight: 1.0, value: f64::from(self.below(9)) - 4.0 }];
            }
            let (left, right) = (self.tree(depth - 1), self.tree(depth - 1));
            let moved = |by: usize| {
                move |node: TreeNode| match node {
                    TreeNode::Branch { weight, condition, left, right } => {
                        TreeNode::Branch { weight, condition, left: left + by, right: right + by }
                    }
                    leaf @ TreeNode::Leaf { .. } => leaf,
                }
            };
            let (condition, place) = (self.condition(2), 1 + left.len());
            let root = TreeNode::Branch { weight: 1.0, condition, left: 1, right: place };
            std::iter::once(root)
                .chain(left.into_iter().map(moved(1)))
                .chain(right.into_iter().map(moved(place)))
                .collect()
        }

        fn formula(&mut self) -> Formula {
            let scale = Scale { mean: 1.0, deviation: 2.0, limit: 1.0, unit: None };
            let steps = StepValues::Numeric {
                thresholds: vec![1.0, 3.0],
                values: vec![-1.0, 2.0, 0.5],
                special: vec![(4.0, 7.0)],
            };
            Formula::Sum(vec![
                Formula::Constant(3.0),
                Formula::Product {
                    factor: -0.5,
                    of: Box::new(Formula::Tree(DecisionTree { nodes: self.tree(5) })),
                },
                Formula::Quotient {
                    numerator: Box::new(Formula::Tree(DecisionTree { nodes: self.tree(4) })),
                    denominator: Box::new(Formula::Constant(3.0)),
                    otherwise: 0.0,
                },
                Formula::Steps(Steps { feature: 1, values: steps, missing: -3.0 }),
                Formula::Linear(Linear {
                    terms: vec![LinearTerm { feature: 0, weight: 2.0, scale: Some(scale) }],
                    intercept: 1.0,
                }),
                Formula::Indicator { condition: self.condition(3), value: 5.0 },
                computed(Formula::Quotient {
                    numerator: Box::new(plain_sum(&[(0, 1.0)])),
                    denominator: Box::new(plain_sum(&[(2, 1.0)])),
                    otherwise: f64::MAX,
                }),
                computed(plain_sum(&[(1, 1.0), (2, -1.0)])),
            ])
        }
    }

    fn plain_sum(terms: &[(usize, f64)]) -> Formula {
        let term = |&(feature, weight)| LinearTerm { feature, weight, scale: None };
        Formula::Linear(Linear { terms: terms.iter().map(term).collect(), intercept: 0.0 })
    }

    /// Steps of a number, the last one if it is missing.
    fn computed(of: Formula) -> Formula {
        Formula::StepsOf {
            of: Box::new(of),
            thresholds: vec![0.5, 1.5, f64::MAX],
            values: vec![-1.0, 0.25, 3.0, 8.0],
        }
    }

    /// The numbers by column, the codes, and the number of rows.
    struct Held(Vec<Vec<f64>>, Vec<u32>, usize);

    impl Held {
        fn of(rows: &[Vec<f64>]) -> Self {
            let column = |place: usize| rows.iter().map(move |row| row[place]);
            let numbers = (0..N_FEATURES - 1).map(|place| column(place).collect()).collect();
            let code = |code: f64| if code.is_nan() { u32::MAX } else { code as u32 };
            Self(numbers, column(N_FEATURES - 1).map(code).collect(), rows.len())
        }

        fn columns(&self) -> Columns<'_> {
            let numbers = self.0.iter().map(|values| values.as_slice().into());
            let codes = Column::Codes { codes: &self.1, n_levels: N_LEVELS };
            Columns::new(numbers.chain([codes]).collect(), self.2).expect("equal lengths")
        }
    }

    fn values(formula: &Formula, rows: &[Vec<f64>], others: &[Vec<f64>]) -> Vec<f64> {
        let (rows, others) = (Held::of(rows), Held::of(others));
        formula.shapley_values(&rows.columns(), &others.columns()).expect("it is a sum")
    }

    fn interactions(formula: &Formula, rows: &[Vec<f64>], others: &[Vec<f64>]) -> Vec<f64> {
        let (rows, others) = (Held::of(rows), Held::of(others));
        formula.shapley_interactions(&rows.columns(), &others.columns()).expect("it is a sum")
    }

    #[test]
    fn values_equal_the_definition_over_all_sets_of_features() {
        let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(0));
        for _ in 0..60 {
            let formula = draw.formula();
            let rows: Vec<Vec<f64>> = (0..3).map(|_| draw.row()).collect();
            let others: Vec<Vec<f64>> = (0..4).map(|_| draw.row()).collect();
            let found = values(&formula, &rows, &others);
            for (row, found) in rows.iter().zip(found.chunks(N_FEATURES)) {
                let expected = by_definition(&formula, row, &others);
                for (found, expected) in found.iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
                }
            }
            let turned: Vec<Vec<f64>> = others.iter().rev().cloned().collect();
            assert_eq!(found, values(&formula, &rows, &turned));
        }
    }

    #[test]
    fn interactions_equal_the_definition_over_all_sets_of_features() {
        let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(1));
        for _ in 0..60 {
            let formula = draw.formula();
            let rows: Vec<Vec<f64>> = (0..3).map(|_| draw.row()).collect();
            let others: Vec<Vec<f64>> = (0..4).map(|_| draw.row()).collect();
            let turned: Vec<Vec<f64>> = others.iter().rev().cloned().collect();
            let found = interactions(&formula, &rows, &others);
            assert_eq!(found, interactions(&formula, &rows, &turned));
            let of_features = values(&formula, &rows, &others);
            for (place, row) in rows.iter().enumerate() {
                let found = &found[place * N_FEATURES * N_FEATURES..][..N_FEATURES * N_FEATURES];
                let expected = pairs_by_definition(&formula, row, &others);
                for (found, expected) in found.iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
                }
                for (a, of_a) in found.chunks(N_FEATURES).enumerate() {
                    let sum: f64 = of_a.iter().sum();
                    assert!((sum - of_features[place * N_FEATURES + a]).abs() < 1e-12);
                    assert!((0..N_FEATURES).all(|b| of_a[b] == found[b * N_FEATURES + a]));
                }
            }
        }
    }

    #[test]
    fn interactions_of_functions_of_one_feature_are_zero() {
        let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(2));
        let rows: Vec<Vec<f64>> = (0..5).map(|_| draw.row()).collect();
        let (formula, others) = (plain_sum(&[(1, 2.0), (0, -1.0)]), [vec![1.0; N_FEATURES]]);
        let rows: Vec<Vec<f64>> =
            rows.into_iter().map(|row| row.iter().map(|x| x.max(0.0)).collect()).collect();
        let found = interactions(&formula, &rows, &others);
        let (n, values) = (N_FEATURES, values(&formula, &rows, &others));
        for (place, found) in found.iter().enumerate() {
            let [row, a, b] = [place / (n * n), place / n % n, place % n];
            assert_eq!(*found, if a == b { values[row * n + a] } else { 0.0 });
        }
    }

    #[test]
    fn formulas_that_are_not_sums_are_errors() {
        let columns = Columns::from_row_major(&[0.0], 1).expect("one value");
        let fails = |formula: Formula| formula.shapley_values(&columns, &columns).unwrap_err();
        let median = Formula::Sum(vec![Formula::Median(vec![Formula::Constant(1.0)])]);
        assert_eq!(fails(median), RankError::Formula(FormulaError::NotASum("a median")));
        assert_eq!(
            fails(Formula::Opaque(Opaque::Consensus)),
            RankError::Formula(FormulaError::NoFormula(Opaque::Consensus))
        );
        let none = Columns::from_row_major::<f64>(&[], 1).expect("no row");
        let constant = Formula::Constant(1.0);
        assert_eq!(
            constant.shapley_values(&columns, &none),
            Err(RankError::Formula(FormulaError::EmptyBackground))
        );
    }
}
