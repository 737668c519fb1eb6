//! Shapley values of a formula, exact for each pair of a row and a background row.
//!
//! The value of a set of features is the formula of the row that takes these features from the row
//! and the others from the background row (interventional values: Lundberg et al., "From local
//! explanations to global understanding with explainable AI for trees", 2020). Shapley values add
//! up over the terms of a sum. A leaf that needs p features from the row and q from the background
//! row is reached by the sets that contain the p and none of the q. If its value is v, each of the
//! p gets v (p - 1)! q! / (p + q)!, each of the q gets -v p! (q - 1)! / (p + q)!. One walk of a
//! tree visits each of these leaves once: at a test of an unassigned feature that sends the two
//! rows to different sides, it goes both ways.

use super::{Condition, DecisionTree, Formula, FormulaError, Test, TreeNode};
use crate::RankError;
use crate::data::Columns;
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
        self.check_sum()?;
        let n_features = columns.n_features();
        if background.n_rows() == 0 {
            return Err(RankError::Formula(FormulaError::EmptyBackground));
        }
        let (rows, others) = (by_row(columns)?, by_row(background)?);
        let of_rows =
            parallel::try_map(rows.chunks_exact(n_features).collect(), |row: &[f64]| {
                columns.check_interrupt()?;
                Ok::<_, RankError>(self.mean_values(row, &others))
            })?;
        let out = of_rows.concat();
        if out.iter().any(|value| value.is_nan()) {
            let missing = columns.missing_value().or_else(|| background.missing_value());
            return missing.map_or(Ok(out), Err);
        }
        Ok(out)
    }

    /// The Shapley values of a row: their means over the background.
    fn mean_values(&self, row: &[f64], others: &[f64]) -> Vec<f64> {
        let mut by_feature = vec![Vec::with_capacity(others.len() / row.len()); row.len()];
        for other in others.chunks_exact(row.len()) {
            let mut walk = Walk::new(row, other);
            walk.add(self, 1.0);
            by_feature.iter_mut().zip(walk.parts).for_each(|(values, part)| values.push(part));
        }
        let mean = |mut values: Vec<f64>| {
            // Sorted, so that the sum does not depend on the order of the background.
            values.sort_unstable_by(f64::total_cmp);
            values.iter().sum::<f64>() / values.len() as f64
        };
        by_feature.into_iter().map(mean).collect()
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

/// The row that a feature is taken from.
#[derive(Clone, Copy, PartialEq)]
enum TakenFrom {
    Either,
    Row,
    Other,
}

/// Shapley values of one row against another, and the features assigned on the way to a leaf.
struct Walk<'a> {
    row: &'a [f64],
    other: &'a [f64],
    from: Vec<TakenFrom>,
    of_row: Vec<usize>,
    of_other: Vec<usize>,
    parts: Vec<f64>,
}

/// Continuation once a condition is decided.
type Then<'t, 'a> = &'t mut dyn FnMut(&mut Walk<'a>, bool);

impl<'a> Walk<'a> {
    fn new(row: &'a [f64], other: &'a [f64]) -> Self {
        let n_features = row.len();
        Self {
            row,
            other,
            from: vec![TakenFrom::Either; n_features],
            of_row: Vec::new(),
            of_other: Vec::new(),
            parts: vec![0.0; n_features],
        }
    }

    /// Adds the Shapley values of a checked formula, times a factor.
    fn add(&mut self, formula: &Formula, factor: f64) {
        match formula {
            Formula::Tree(tree) => self.add_node(tree, 0, factor),
            Formula::Steps(steps) => {
                let gain = steps.value(self.row) - steps.value(self.other);
                self.parts[steps.feature] += factor * gain;
            }
            Formula::Linear(linear) => {
                for term in &linear.terms {
                    let gain = term.value(self.row) - term.value(self.other);
                    self.parts[term.feature] += factor * gain;
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

    /// Adds those of a function of two features, by the definition.
    fn add_joint(&mut self, formula: &Formula, [first, second]: [usize; 2], factor: f64) {
        let value = |from: [&[f64]; 2]| {
            let mut mixed = self.other.to_vec();
            (mixed[first], mixed[second]) = (from[0][first], from[1][second]);
            formula.value(&mixed).unwrap_or(f64::NAN)
        };
        let (row, other) = (self.row, self.other);
        let [none, of_first, of_second, both] =
            [[other, other], [row, other], [other, row], [row, row]].map(value);
        self.parts[first] += factor * 0.5 * ((of_first - none) + (both - of_second));
        self.parts[second] += factor * 0.5 * ((of_second - none) + (both - of_first));
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
        let (p, q) = (self.of_row.len(), self.of_other.len());
        for &feature in &self.of_row {
            self.parts[feature] += value * share(p, q);
        }
        for &feature in &self.of_other {
            self.parts[feature] -= value * share(q, p);
        }
    }

    /// Continues with the outcome of a condition, or with both outcomes.
    fn decide(&mut self, condition: &Condition, then: Then<'_, 'a>) {
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
    fn decide_list(&mut self, of: &[Condition], deciding: bool, then: Then<'_, 'a>) {
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

    fn ask(&mut self, test: &Test, then: Then<'_, 'a>) {
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

    /// The definition: the mean gain from a feature over all sets of the other features.
    fn by_definition(formula: &Formula, row: &[f64], others: &[Vec<f64>]) -> Vec<f64> {
        let n = row.len();
        let factorial = |k: usize| (1..=k).map(|k| k as f64).product::<f64>();
        let mut parts = vec![0.0; n];
        for other in others {
            let value = |set: usize| {
                let mixed: Vec<f64> = (0..n)
                    .map(|place| if set >> place & 1 == 1 { row[place] } else { other[place] })
                    .collect();
                formula.value(&mixed).expect("it can be written down")
            };
            for (feature, part) in parts.iter_mut().enumerate() {
                for set in (0..1 << n).filter(|set| set >> feature & 1 == 0) {
                    let size = (set as u32).count_ones() as usize;
                    let weight = factorial(size) * factorial(n - size - 1) / factorial(n);
                    *part +=
                        weight * (value(set | 1 << feature) - value(set)) / others.len() as f64;
                }
            }
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
