//! Pairs of categories of two features: their rates, in steps, and the choice whether a fit uses
//! them, by a trial on held-out rows.
//!
//! Two features of many categories may be informative together even if neither is alone, such as a
//! user and a resource. Trees that test one feature at a time cannot find such pairs, since each
//! has few rows. The rates of pairs can, but do harm if pairs are uninformative. So the first bag
//! is fitted with and without all of them, and they are used if the loss of its held-out rows falls
//! by more than [`CAUTION`] standard errors. If there are more pairs of features than
//! [`MOST_PAIRS`], those are tried for which one Newton step from the scores without them lowers
//! that loss most.
//!
//! Fewer pairs, chosen by the excess of their rate over the prediction of the two single rates,
//! gained a fourth as much on `amazon_access`: the most informative rates are those of many pairs
//! of few rows, each of which contributes little.

use serde::{Deserialize, Serialize};

use super::bags::{RoundTerms, run};
use super::fit::{Begun, Data};
use super::held_out::{HeldOut, HeldOutMeasure};
use super::loss::{Loss, logistic};
use super::memory_fit::{BagRows, MemoryFit, Scores};
use super::params::{GradientParams, Interactions};
use super::source::{FitRows, FitSource};
use crate::data::{Column, Columns, FoldRates, Folds, Labels, MISSING_CODE, quantile_cuts};
use crate::{RankError, parallel};

/// Rounds of each trial.
const TRIAL_ROUNDS: usize = 300;

/// Maximum number of pairs of features in a fit.
const MOST_PAIRS: usize = 64;

/// Minimum number of pairs of categories of two features: trees can test fewer one by one.
const LEAST_LEVELS: u64 = 5;

/// Standard errors by which the loss of held-out rows must fall. Of 13 data sets pairs paid on two,
/// by 1.4 to 6.5 errors on a split; on the others they lost in the mean, and the loss fell by more
/// than 1 error on three splits of 28.
const CAUTION: f64 = 2.0;

/// Number of rows that shrinks the Newton step of a pair of categories.
const PAIR_SHRINKAGE: f64 = 10.0;

/// Fixed-point units for sums over rows, so that the order of the rows does not matter.
const UNITS: f64 = (1_u64 << 32) as f64;

/// The rows of the bags, with the chosen pairs, and the rounds of the first bag from the trial.
pub(super) struct PairChoice<D, T> {
    pub(super) dealt: Vec<D>,
    pub(super) begun: Option<Begun<T>>,
}

/// Chooses the pairs of features of a fit in one series of rounds, given the known rounds of its
/// first bag.
pub(super) fn category_pairs<'a>(
    source: &MemoryFit<'a>,
    params: &GradientParams,
    dealt: Vec<BagRows<'a>>,
    begun: Option<Begun<Scores>>,
) -> Result<PairChoice<BagRows<'a>, Scores>, RankError> {
    let data = source.data;
    let mut pairs = candidates(data, params);
    let (Some(stopping), Some(held_out), false) =
        (params.held_out, source.held_out(&dealt[0]), pairs.is_empty() || source.goes_on())
    else {
        return Ok(PairChoice { dealt, begun });
    };
    // Whether pairs are informative depends on the rows, not on the loss.
    let mut trial = params.clone();
    (trial.loss, trial.max_fpr) = (Loss::Log, 1.0);
    if let Some(held_out) = &mut trial.held_out {
        held_out.measure = HeldOutMeasure::Loss;
    }
    let is_same = params.loss == Loss::Log && stopping.measure == HeldOutMeasure::Loss;
    let (known, other) = if is_same { (begun, None) } else { (None, begun) };
    let plain = match known {
        Some(begun) => Some(begun),
        None => run_trial(source, &trial, &dealt[..1])?,
    };
    let Some(plain) = plain else { return Ok(PairChoice { dealt, begun: other }) };
    if pairs.len() > MOST_PAIRS {
        pairs = strongest(pairs, data, &dealt[0].rows, &plain, &held_out);
    }
    let with_pairs = MemoryFit::new(data, source.given);
    with_pairs.set_pairs(pairs.clone());
    let found = run_trial(&with_pairs, &trial, &with_pairs.recoded(&trial, &dealt[..1])?)?;
    let pays = found.as_ref().is_some_and(|found| {
        let [gain, error] = held_out.gain(plain.held_out_scores(), found.held_out_scores());
        gain > CAUTION * error
    });
    if !pays {
        return Ok(PairChoice { dealt, begun: if is_same { Some(plain) } else { other } });
    }
    source.set_pairs(pairs);
    let dealt = source.recoded(params, &dealt)?;
    Ok(PairChoice { dealt, begun: found.filter(|_| is_same) })
}

/// The pairs of features of categories that a tree may test together.
fn candidates(data: Data<'_>, params: &GradientParams) -> Vec<[usize; 2]> {
    let may_ask = |pair: [usize; 2]| match &params.interactions {
        Interactions::Any => true,
        Interactions::Groups(groups) => {
            groups.iter().any(|group| pair.iter().all(|feature| group.contains(feature)))
        }
        Interactions::Pairs(_) | Interactions::Auto => false,
    };
    if !params.category_pairs || is_sum_of_small_terms(params) {
        return Vec::new();
    }
    let n_levels = |feature: usize| data.columns[feature].n_levels().map_or(0, u64::from);
    let of_categories: Vec<usize> =
        (0..data.columns.n_features()).filter(|&feature| n_levels(feature) >= 2).collect();
    let mut pairs = Vec::new();
    for (place, &first) in of_categories.iter().enumerate() {
        for &second in &of_categories[place + 1..] {
            if n_levels(first) * n_levels(second) >= LEAST_LEVELS && may_ask([first, second]) {
                pairs.push([first, second]);
            }
        }
    }
    pairs
}

/// Whether trees test at most two features on a path, so that the score is and must remain a sum of
/// functions of one or two features each; or whether each draws one feature only.
fn is_sum_of_small_terms(params: &GradientParams) -> bool {
    let are_small = match &params.interactions {
        Interactions::Groups(groups) => groups.iter().all(|group| group.len() <= 2),
        Interactions::Any | Interactions::Pairs(_) | Interactions::Auto => false,
    };
    let has_few_leaves = params.max_leaves.is_some_and(|most| most <= 3);
    are_small || has_few_leaves || params.max_depth <= 2 || params.max_features == Some(1)
}

/// Some rounds of the first bag; `None` if there are none, or if the fit is to end.
fn run_trial<'a>(
    source: &MemoryFit<'a>,
    params: &GradientParams,
    first: &[BagRows<'a>],
) -> Result<Option<Begun<Scores>>, RankError> {
    let mut bags = source.begin(params, first, RoundTerms::Given)?;
    bags[0].bound_rounds(TRIAL_ROUNDS.min(params.n_rounds));
    run(&mut bags, params, "trial round", source.interrupt())?;
    let bag = bags.swap_remove(0);
    let is_known = !bag.is_ended && !bag.trees.is_empty();
    Ok(is_known.then(|| bag.into_begun()))
}

/// The pairs whose Newton step lowers the loss of the held-out rows most, in standard deviations.
fn strongest(
    pairs: Vec<[usize; 2]>,
    data: Data<'_>,
    rows: &FitRows<'_>,
    begun: &Begun<Scores>,
    held_out: &HeldOut<'_>,
) -> Vec<[usize; 2]> {
    let mut found: Vec<(f64, [usize; 2])> = parallel::map(pairs, |pair: [usize; 2]| {
        let values = newton_step(pair, data.columns, rows, &begun.state.of_all);
        (merit(pair, &values, data.columns, begun, held_out), pair)
    });
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    found.truncate(MOST_PAIRS);
    let mut pairs: Vec<[usize; 2]> = found.into_iter().map(|(_, pair)| pair).collect();
    pairs.sort_unstable();
    pairs
}

/// The Newton step of each pair of categories on the training rows, in ascending order of the
/// pairs.
fn newton_step(
    pair: [usize; 2],
    columns: &Columns<'_>,
    rows: &FitRows<'_>,
    scores: &[f64],
) -> Vec<([u32; 2], f64)> {
    let levels = levels_of(pair, columns);
    let of_row = |&row: &u32| {
        let row = row as usize;
        let (levels, rate) = (levels(row)?, logistic(scores[row]));
        let residual = f64::from(u8::from(rows.positive()[row])) - rate;
        let in_units = |value: f64| in_units(value, rows.mass(row));
        Some((levels, in_units(residual), in_units(rate * (1.0 - rate))))
    };
    let mut terms: Vec<([u32; 2], i128, i128)> =
        rows.training().iter().filter_map(of_row).collect();
    terms.sort_unstable_by_key(|(levels, ..)| *levels);
    let all: i128 = terms.iter().map(|(_, _, hessian)| hessian).sum();
    let added = PAIR_SHRINKAGE * all as f64 / rows.total().n_rows as f64;
    let steps = terms.chunk_by(|a, b| a.0 == b.0).map(|terms| {
        let gradient: i128 = terms.iter().map(|(_, gradient, _)| gradient).sum();
        let hessian: i128 = terms.iter().map(|(_, _, hessian)| hessian).sum();
        (terms[0].0, gradient as f64 / (hessian as f64 + added))
    });
    steps.collect()
}

/// Decrease of the loss of the held-out rows by the step, to first order and in standard
/// deviations.
fn merit(
    pair: [usize; 2],
    values: &[([u32; 2], f64)],
    columns: &Columns<'_>,
    begun: &Begun<Scores>,
    held_out: &HeldOut<'_>,
) -> f64 {
    let scores = begun.held_out_scores();
    let levels = levels_of(pair, held_out.columns(columns));
    let (mut gain, mut variance) = (0, 0);
    for (place, (&score, &positive)) in scores.iter().zip(held_out.positive()).enumerate() {
        let found = levels(held_out.row(place))
            .and_then(|levels| values.binary_search_by_key(&levels, |(levels, _)| *levels).ok());
        let (Some(found), mass) = (found, held_out.mass(place)) else { continue };
        let (value, rate) = (values[found].1, logistic(score));
        gain += in_units((f64::from(u8::from(positive)) - rate) * value, mass);
        variance += in_units(rate * (1.0 - rate) * value * value, mass);
    }
    if variance == 0 { 0.0 } else { gain as f64 / (variance as f64).sqrt() }
}

/// The categories of a row of two features; `None` if one is missing.
fn levels_of<'c>(
    pair: [usize; 2],
    columns: &'c Columns<'_>,
) -> impl Fn(usize) -> Option<[u32; 2]> + 'c {
    let [first, second] = pair.map(|feature| match columns[feature] {
        Column::Codes { codes, n_levels } => (codes, n_levels),
        _ => unreachable!("pairs are of categories"),
    });
    move |row| {
        let levels = [first.0[row], second.0[row]];
        (levels[0] < first.1 && levels[1] < second.1).then_some(levels)
    }
}

/// A number of a row in units, times the count of the row.
fn in_units(value: f64, mass: u64) -> i128 {
    (value * UNITS).round() as i128 * i128::from(mass)
}

/// Maximum number of steps, whose numbers are bytes.
const MOST_STEPS: usize = 250;

/// The step of the rate of each pair of categories of two features.
///
/// In a model it is a number of the row like those of its features: trees test whether the step is
/// below another one. Pairs not seen in the fit, and rows with one of the two values missing, are
/// in the step of the mean rate.
///
/// Pairs are sorted by the category of the first feature, so that a look-up searches those of one
/// category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PairSteps {
    /// The first is the lower one.
    features: [usize; 2],
    /// For each category of the first feature the place of its first pair; then their number.
    starts: Vec<u32>,
    /// For each pair the category of the second feature, ascending within the same first category.
    seconds: Vec<u32>,
    /// For each pair its step.
    steps: Vec<u8>,
    /// The step of all others.
    of_others: u8,
}

/// The column of codes of a pair during a fit: the thresholds, and the step of each row.
pub(super) type PairCodes = (Vec<f64>, Vec<u8>);

impl PairSteps {
    /// The steps of two categorical features, at most `most` and of nearly equal mass, by some
    /// rows, and the codes of all. Training rows have the step of the rate in the other folds,
    /// other rows that of all training rows. `None` if no threshold separates the pairs.
    pub(super) fn new(
        features: [usize; 2],
        columns: &Columns<'_>,
        (labels, training, folds): (&Labels<'_>, &[u32], &Folds),
        most: usize,
    ) -> Option<(Self, PairCodes)> {
        let [first, second] = features.map(|feature| match columns[feature] {
            Column::Codes { codes, n_levels } => (codes, n_levels),
            _ => unreachable!("pairs are of categories"),
        });
        let pair = |row: usize| {
            let (a, b) = (first.0[row], second.0[row]);
            (a < first.1 && b < second.1).then_some([a, b])
        };
        let mut pairs: Vec<[u32; 2]> =
            training.iter().filter_map(|&row| pair(row as usize)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut all = Self {
            features,
            starts: Vec::with_capacity(first.1 as usize + 1),
            seconds: pairs.iter().map(|pair| pair[1]).collect(),
            steps: Vec::new(),
            of_others: 0,
        };
        for level in 0..=first.1 {
            all.starts.push(pairs.partition_point(|pair| pair[0] < level) as u32);
        }
        let place = |row| pair(row).and_then(|pair| all.place(pair));
        let codes: Vec<u32> = parallel::values(columns.n_rows(), |row| {
            place(row).map_or(MISSING_CODE, |place| place as u32)
        });
        let rates = FoldRates::of(&codes, pairs.len() as u32, labels, training, folds);
        let overall: Vec<f64> = (0..pairs.len() as u32).map(|level| rates.overall(level)).collect();
        let cuts = distinct_cuts(&rates, &overall, most.min(MOST_STEPS));
        if cuts.is_empty() {
            return None;
        }
        let step = |rate: f64| cuts.partition_point(|&cut| cut <= rate) as u8;
        let steps: Vec<u8> = overall.iter().map(|&rate| step(rate)).collect();
        let of_others = step(0.0);
        let mut of_row: Vec<u8> = codes
            .iter()
            .map(|&code| steps.get(code as usize).copied().unwrap_or(of_others))
            .collect();
        for row in training.iter().map(|&row| row as usize) {
            of_row[row] = step(rates.outside(codes[row], folds.of_row[row]));
        }
        (all.steps, all.of_others) = (steps, of_others);
        Some((all.without_others(), (cuts, of_row)))
    }

    /// The same without pairs that are in the step of the others.
    fn without_others(self) -> Self {
        let Self { features, starts, seconds, steps, of_others } = self;
        let mut kept = Self {
            features,
            starts: Vec::with_capacity(starts.len()),
            seconds: Vec::new(),
            steps: Vec::new(),
            of_others,
        };
        kept.starts.push(0);
        for range in starts.windows(2) {
            for place in range[0] as usize..range[1] as usize {
                if steps[place] != of_others {
                    kept.seconds.push(seconds[place]);
                    kept.steps.push(steps[place]);
                }
            }
            kept.starts.push(kept.seconds.len() as u32);
        }
        kept
    }

    /// The two features, ascending.
    pub(super) fn features(&self) -> [usize; 2] {
        self.features
    }

    fn place(&self, [first, second]: [u32; 2]) -> Option<usize> {
        let start = *self.starts.get(first as usize)? as usize;
        let end = *self.starts.get(first as usize + 1)? as usize;
        self.seconds[start..end].binary_search(&second).ok().map(|place| start + place)
    }

    /// The step of a row in the form that [`Columns::read_rows`] returns.
    pub(super) fn step(&self, row: &[f64]) -> u8 {
        let [first, second] = self.features.map(|feature| row[feature]);
        if first.is_nan() || second.is_nan() {
            return self.of_others;
        }
        self.place([first as u32, second as u32]).map_or(self.of_others, |place| self.steps[place])
    }

    /// Whether pairs that are not listed are below a step.
    pub(super) fn others_below(&self, step: f64) -> bool {
        f64::from(self.of_others) < step
    }

    /// For each category of the first feature, those of the second on the side of a step opposite
    /// to unlisted pairs.
    pub(super) fn apart(&self, step: f64) -> Vec<(u32, Vec<u32>)> {
        let are_below = self.others_below(step);
        let groups = self.starts.windows(2).zip(0..).map(|(range, first)| {
            let places = range[0] as usize..range[1] as usize;
            let apart = places.filter(|&place| (f64::from(self.steps[place]) < step) != are_below);
            (first, apart.map(|place| self.seconds[place]).collect::<Vec<u32>>())
        });
        groups.filter(|(_, seconds)| !seconds.is_empty()).collect()
    }

    /// The number of pairs on the side of a step opposite to unlisted pairs.
    pub(super) fn n_apart(&self, step: f64) -> usize {
        let are_below = self.others_below(step);
        self.steps.iter().filter(|&&of_pair| (f64::from(of_pair) < step) != are_below).count()
    }

    /// Checks what was read from a file, given the number of categories of each feature.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub(super) fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        let [a, b] = self.features;
        let levels = [a, b].map(|feature| n_levels.get(feature).copied().flatten());
        let [Some(n_first), Some(n_second)] = levels else {
            return Err(format!("features {a} and {b} are not two features of categories"));
        };
        if a >= b {
            return Err(format!("features {a} and {b} are not in order"));
        }
        let n_pairs = self.seconds.len();
        if self.starts.len() != n_first as usize + 1
            || self.starts[0] != 0
            || !self.starts.is_sorted()
            || self.starts[n_first as usize] as usize != n_pairs
            || self.steps.len() != n_pairs
        {
            return Err("the pairs are not those of the categories of the first feature".to_owned());
        }
        let are_ascending = self.starts.windows(2).all(|range| {
            self.seconds[range[0] as usize..range[1] as usize].is_sorted_by(|a, b| a < b)
        });
        if !are_ascending || self.seconds.iter().any(|&second| second >= n_second) {
            return Err(format!("the pairs are not those of the categories of feature {b}"));
        }
        let mut steps = self.steps.iter().chain([&self.of_others]);
        match steps.find(|&&step| usize::from(step) > MOST_STEPS) {
            Some(step) => Err(format!("{step} is not a step")),
            None => Ok(()),
        }
    }
}

/// Thresholds on rates that each split the pairs differently: equal splits are the same test once
/// the fit is over.
fn distinct_cuts(rates: &FoldRates, overall: &[f64], most: usize) -> Vec<f64> {
    let mut cuts = quantile_cuts(rates.weighted(), most);
    let mut sorted = overall.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut last = None;
    cuts.retain(|&cut| {
        let parts = (cut > 0.0, sorted.partition_point(|&rate| rate < cut));
        let parts_none = parts == (true, sorted.len()) || parts == (false, 0);
        !parts_none && last.replace(parts) != Some(parts)
    });
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::boost::gradient::*;
    use crate::data::mix;

    const N_LEVELS: u32 = 20;

    fn draw(row: usize, what: u64) -> u64 {
        mix(mix(row as u64) ^ what) >> 8
    }

    /// A number and three categorical features; the classes depend on pairs of the last two, or on
    /// none.
    struct Sample {
        number: Vec<f64>,
        codes: [Vec<u32>; 3],
        positive: Vec<bool>,
        weights: Option<Vec<f64>>,
    }

    impl Sample {
        fn new(n_rows: usize, do_pairs_tell: bool) -> Self {
            let codes = [0, 1, 2].map(|feature| {
                let code = |row| match draw(row, feature) {
                    word if word % 20 == 0 => MISSING_CODE,
                    word => (word % 9973 % u64::from(N_LEVELS)) as u32,
                };
                (0..n_rows).map(code).collect::<Vec<u32>>()
            });
            let positive = |row: usize| {
                let of_pair = draw(codes[1][row] as usize, u64::from(codes[2][row])) % 5;
                draw(row, 7) % 5 < if do_pairs_tell { of_pair } else { 2 }
            };
            Self {
                number: (0..n_rows).map(|row| (draw(row, 5) % 50) as f64).collect(),
                positive: (0..n_rows).map(positive).collect(),
                codes,
                weights: None,
            }
        }

        /// The rows with such numbers, in their order.
        fn rows(&self, rows: &[usize]) -> Self {
            Self {
                number: rows.iter().map(|&row| self.number[row]).collect(),
                codes: [0, 1, 2]
                    .map(|feature| rows.iter().map(|&row| self.codes[feature][row]).collect()),
                positive: rows.iter().map(|&row| self.positive[row]).collect(),
                weights: self
                    .weights
                    .as_ref()
                    .map(|weights| rows.iter().map(|&row| weights[row]).collect()),
            }
        }

        fn columns(&self) -> Columns<'_> {
            let codes = self.codes.iter().map(|codes| Column::Codes { codes, n_levels: N_LEVELS });
            let columns = std::iter::once(self.number.as_slice().into()).chain(codes);
            Columns::new(columns.collect(), self.positive.len()).unwrap()
        }

        fn fit_given(
            &self,
            params: &GradientParams,
            given: &GradientExtras<'_>,
        ) -> GradientBoosted {
            let labels = Labels::new(&self.positive, self.weights.as_deref()).unwrap();
            let interrupt = Interrupt::default();
            fit_gradient_boosting(&self.columns(), &labels, params, given, &interrupt).unwrap()
        }

        fn fit(&self, params: &GradientParams) -> GradientBoosted {
            self.fit_given(params, &GradientExtras::default())
        }
    }

    fn params() -> GradientParams {
        let stopped = GradientParams::stopped();
        let held_out = GradientHeldOutParams { n_iter_no_change: 5, ..stopped.held_out.unwrap() };
        GradientParams {
            n_rounds: 40,
            learning_rate: Some(0.2),
            n_bags: 3,
            held_out: Some(held_out),
            ..stopped
        }
    }

    fn tested_pairs(model: &GradientBoosted) -> Vec<[usize; 2]> {
        let mut found: Vec<[usize; 2]> =
            model.pair_steps().iter().map(PairSteps::features).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn pairs_are_used_only_if_they_are_informative() {
        let sample = Sample::new(4000, true);
        let model = sample.fit(&params());
        assert!(tested_pairs(&model).contains(&[2, 3]));
        let without = sample.fit(&GradientParams { category_pairs: false, ..params() });
        assert_eq!(tested_pairs(&without), Vec::<[usize; 2]>::new());
        let other = Sample::new(8000, true).rows(&(4000..8000).collect::<Vec<_>>());
        let auc = |model: &GradientBoosted| {
            crate::roc::auc(&model.score(&other.columns()).unwrap(), &other.positive).unwrap()
        };
        assert!(auc(&model) > auc(&without) + 0.05);

        let sample = Sample::new(4000, false);
        let never = GradientParams { category_pairs: false, ..params() };
        assert_eq!(sample.fit(&params()), sample.fit(&never));
    }

    #[test]
    fn order_and_copies_of_rows_do_not_matter() {
        let n_rows = 3000;
        let weights = (0..n_rows).map(|row| (draw(row, 11) % 3) as f64).collect();
        let sample = Sample { weights: Some(weights), ..Sample::new(n_rows, true) };
        let model = sample.fit(&params());
        assert!(tested_pairs(&model).contains(&[2, 3]));
        let mut order: Vec<usize> = (0..n_rows).collect();
        order.sort_by_key(|&row| draw(row, 12));
        assert_eq!(sample.rows(&order).fit(&params()), model);
        let copies = |row: usize| vec![row; sample.weights.as_ref().unwrap()[row] as usize];
        let copies: Vec<usize> = (0..n_rows).flat_map(copies).collect();
        let copied = Sample { weights: None, ..sample.rows(&copies) }.fit(&params());
        assert_eq!(copied.trees(), model.trees());
        assert_eq!(copied.pair_steps(), model.pair_steps());
    }

    #[test]
    fn all_ways_of_scoring_agree() {
        let sample = Sample::new(3000, true);
        let columns = sample.columns();
        for (loss, refit) in [(Loss::Log, false), (Loss::Log, true), (Loss::PairLogistic, false)] {
            let mut params = GradientParams { loss, ..params() };
            params.held_out.as_mut().unwrap().refit = refit;
            let model = sample.fit(&params);
            assert!(!tested_pairs(&model).is_empty());
            assert_eq!(model.check(), Ok(()));
            let scores = model.score(&columns).unwrap();
            let mut sums = vec![0.0; scores.len()];
            for round in 0..model.trees().len() {
                let values = model.round_values(&columns, round).unwrap();
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            }
            for sum in &mut sums {
                *sum += model.base();
            }
            assert_eq!(sums, scores);
            assert_eq!(model.formula().values(&columns).unwrap(), scores);
            assert_eq!(model.pairs(), None);
            let importances = model.importances();
            assert!((importances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(importances[2] > importances[1] && importances[3] > importances[1]);
        }
    }

    #[test]
    fn validation_rows_have_the_score_of_the_model() {
        let (sample, other) = (Sample::new(3000, true), Sample::new(5000, true));
        let other = other.rows(&(3000..5000).collect::<Vec<_>>());
        let (columns, labels) = (other.columns(), Labels::new(&other.positive, None).unwrap());
        let held_out =
            GradientHeldOutParams { rows: HeldOutRows::Share(0.1), ..params().held_out.unwrap() };
        let params = GradientParams { n_bags: 1, held_out: Some(held_out), ..params() };
        let given =
            GradientExtras { validation: Some((&columns, &labels)), ..GradientExtras::default() };
        let model = sample.fit_given(&params, &given);
        assert!(!tested_pairs(&model).is_empty());
        let path = model.held_out().unwrap();
        let scores = model.score(&columns).unwrap();
        let loss = Loss::Log.value(&scores, &other.positive, None, 1.0);
        assert_eq!(loss, path.values[path.n_rounds - 1]);

        let interrupt = Interrupt::default();
        let given = GradientExtras { earlier: Some(&model), ..GradientExtras::default() };
        let labels = Labels::new(&sample.positive, None).unwrap();
        let params = GradientParams { n_rounds: 100, held_out: None, ..params };
        let found = fit_gradient_boosting(&sample.columns(), &labels, &params, &given, &interrupt);
        assert!(found.unwrap_err().to_string().contains("category_pairs"));
    }

    #[test]
    fn a_pair_is_an_interaction() {
        let sample = Sample::new(3000, true);
        for interactions in [
            Interactions::Groups(Vec::new()),
            Interactions::Groups(vec![vec![0, 1, 2], vec![0, 3]]),
            Interactions::Groups(vec![vec![0, 1], vec![2, 3]]),
            Interactions::Pairs(3),
        ] {
            let model = sample.fit(&GradientParams { interactions, ..params() });
            assert!(tested_pairs(&model).is_empty());
        }
        for small in [
            GradientParams { max_leaves: Some(3), ..params() },
            GradientParams { max_depth: 2, ..params() },
        ] {
            let model = sample.fit(&small);
            assert!(tested_pairs(&model).is_empty() && model.pairs().is_some());
        }
        let groups = vec![vec![0, 1], vec![0, 2, 3]];
        let interactions = Interactions::Groups(groups.clone());
        let model = sample.fit(&GradientParams { interactions, ..params() });
        assert_eq!(tested_pairs(&model), [[2, 3]]);
        for tree in model.trees() {
            let mut ways = vec![(0, Vec::new())];
            while let Some((place, mut features)) = ways.pop() {
                let GradientNode::Split { test, right, .. } = &tree.nodes()[place] else {
                    let is_one = |group: &Vec<usize>| features.iter().all(|f| group.contains(f));
                    assert!(features.len() < 2 || groups.iter().any(is_one));
                    continue;
                };
                features.extend(match test.feature {
                    4.. => vec![2, 3],
                    feature => vec![feature],
                });
                features.sort_unstable();
                features.dedup();
                ways.extend([(place + 1, features.clone()), (*right, features)]);
            }
        }
    }

    #[test]
    fn of_very_many_pairs_the_informative_ones_are_tried() {
        // Twelve features of categories have 66 pairs.
        let sample = Sample::new(3000, true);
        let noise: Vec<Vec<u32>> = (0..9)
            .map(|what| (0..3000).map(|row| (draw(row, 50 + what) % 6) as u32).collect())
            .collect();
        let noise = noise.iter().map(|codes| Column::Codes { codes, n_levels: 6 });
        let columns = sample.columns();
        let columns = Columns::new(columns.iter().copied().chain(noise).collect(), 3000).unwrap();
        let labels = Labels::new(&sample.positive, None).unwrap();
        let (extras, interrupt) = (GradientExtras::default(), Interrupt::default());
        let model =
            fit_gradient_boosting(&columns, &labels, &params(), &extras, &interrupt).unwrap();
        assert!(tested_pairs(&model).contains(&[2, 3]));
    }
}

#[cfg(test)]
mod tests_of_pair_steps {
    use super::*;
    use crate::data::mix;

    const N_ROWS: usize = 2000;
    const N_LEVELS: [u32; 2] = [12, 8];

    fn draw(row: usize, what: u64) -> u64 {
        mix(mix(row as u64) ^ what) >> 8
    }

    fn codes(feature: usize) -> Vec<u32> {
        let n_levels = u64::from(N_LEVELS[feature]);
        let code = |row| match draw(row, feature as u64) {
            word if word % 10 == 0 => MISSING_CODE,
            word => (word % 997 % n_levels) as u32,
        };
        (0..N_ROWS).map(code).collect()
    }

    /// Two features whose pairs of categories determine the class, and the steps learned from some
    /// rows.
    struct Sample {
        codes: [Vec<u32>; 2],
        positive: Vec<bool>,
        training: Vec<u32>,
        folds: Folds,
    }

    impl Sample {
        fn new() -> Self {
            let codes = [codes(0), codes(1)];
            let of_pair = |row: usize| draw(codes[0][row] as usize, u64::from(codes[1][row])) % 4;
            Self {
                positive: (0..N_ROWS).map(|row| draw(row, 7) % 4 < of_pair(row)).collect(),
                training: (0..N_ROWS as u32)
                    .filter(|&row| !draw(row as usize, 8).is_multiple_of(4))
                    .collect(),
                folds: Folds {
                    of_row: (0..N_ROWS).map(|row| (row % 5) as u16).collect(),
                    n_folds: 5,
                },
                codes,
            }
        }

        fn columns(&self) -> Columns<'_> {
            let column = |feature: usize| Column::Codes {
                codes: &self.codes[feature],
                n_levels: N_LEVELS[feature],
            };
            Columns::new(vec![column(0), column(1)], N_ROWS).unwrap()
        }

        fn fit(&self, most: usize) -> (PairSteps, PairCodes) {
            let labels = Labels::new(&self.positive, None).unwrap();
            let learned = (&labels, &self.training[..], &self.folds);
            PairSteps::new([0, 1], &self.columns(), learned, most).unwrap()
        }

        /// The shrunken excess of the pair of a row by the counted training rows: the definition.
        fn excess(&self, row: usize, is_counted: impl Fn(usize) -> bool) -> f64 {
            let pair = |row: usize| [self.codes[0][row], self.codes[1][row]];
            if pair(row).contains(&MISSING_CODE) {
                return 0.0;
            }
            let [mut n, mut p, mut n_all, mut p_all] = [0.0; 4];
            let counted = self.training.iter().map(|&row| row as usize);
            for other in counted.filter(|&row| is_counted(row)) {
                let positive = f64::from(u8::from(self.positive[other]));
                (n_all, p_all) = (n_all + 1.0, p_all + positive);
                if pair(other) == pair(row) {
                    (n, p) = (n + 1.0, p + positive);
                }
            }
            (p - n * p_all / n_all) / (n + 10.0)
        }
    }

    #[test]
    fn a_training_row_has_the_step_of_the_other_folds_and_any_other_that_of_all() {
        let sample = Sample::new();
        let (steps, (cuts, codes)) = sample.fit(40);
        assert!(cuts.len() > 20 && cuts.is_sorted_by(|a, b| a < b));
        let rows = sample.columns();
        for (row, &code) in codes.iter().enumerate() {
            let fold = sample.folds.of_row[row];
            let is_learned = sample.training.contains(&(row as u32));
            let excess =
                sample.excess(row, |other| !is_learned || sample.folds.of_row[other] != fold);
            // Sums of the definition have rounding errors.
            let near = |by: f64| cuts.partition_point(|&cut| cut <= excess + by) as u8;
            assert!((near(-1e-12)..=near(1e-12)).contains(&code));

            let mut values = [0.0; 2];
            rows.read_rows(row..row + 1, &mut values);
            let overall = sample.excess(row, |_| true);
            let near = |by: f64| cuts.partition_point(|&cut| cut <= overall + by) as u8;
            let step = steps.step(&values);
            assert!((near(-1e-12)..=near(1e-12)).contains(&step));
            assert!(is_learned || code == step);
        }
        assert_eq!(steps.step(&[f64::NAN, 0.0]), steps.of_others);
        assert_eq!(steps.step(&[7.0, 900.0]), steps.of_others);
        assert_eq!(steps.step(&[900.0, 7.0]), steps.of_others);
    }

    #[test]
    fn the_listed_pairs_are_those_on_the_other_side() {
        let (steps, (cuts, _)) = Sample::new().fit(30);
        for bound in (1..=cuts.len()).map(|bound| bound as f64) {
            let apart = steps.apart(bound);
            for first in 0..N_LEVELS[0] {
                for second in 0..N_LEVELS[1] {
                    let is_below = f64::from(steps.step(&[first.into(), second.into()])) < bound;
                    let is_apart =
                        apart.iter().any(|(a, seconds)| *a == first && seconds.contains(&second));
                    assert_eq!(is_apart, is_below != steps.others_below(bound));
                }
            }
            let n_apart: usize = apart.iter().map(|(_, seconds)| seconds.len()).sum();
            assert!(n_apart > 0 && n_apart == steps.n_apart(bound));
        }
    }

    #[test]
    fn invalid_tables_of_pairs_are_refused() {
        let n_levels = [Some(2), Some(3), None];
        let good = PairSteps {
            features: [0, 1],
            starts: vec![0, 2, 3],
            seconds: vec![0, 2, 1],
            steps: vec![0, 3, 2],
            of_others: 1,
        };
        assert_eq!(good.check(&n_levels), Ok(()));
        let refused = |change: &dyn Fn(&mut PairSteps)| {
            let mut steps = good.clone();
            change(&mut steps);
            steps.check(&n_levels).unwrap_err()
        };
        for features in [[0, 2], [2, 0], [0, 9], [9, 0]] {
            assert!(refused(&|steps| steps.features = features).contains("no two features"));
        }
        for features in [[1, 0], [1, 1]] {
            assert!(refused(&|steps| steps.features = features).contains("not in order"));
        }
        for starts in [vec![], vec![0, 3], vec![1, 2, 3], vec![0, 4, 3], vec![0, 2, 4]] {
            let found = refused(&|steps| steps.starts.clone_from(&starts));
            assert!(found.contains("categories of the first feature"));
        }
        assert!(refused(&|steps| steps.steps.truncate(2)).contains("of the first feature"));
        for seconds in [[2, 0, 1], [0, 0, 1], [0, 3, 1]] {
            let found = refused(&|steps| steps.seconds = seconds.to_vec());
            assert!(found.contains("categories of feature 1"));
        }
        assert_eq!(refused(&|steps| steps.steps[0] = 251), "251 is not a step");
        assert_eq!(refused(&|steps| steps.of_others = 255), "255 is not a step");
    }

    #[test]
    fn one_pair_or_none_has_no_threshold() {
        let sample = Sample { codes: [vec![0; N_ROWS], vec![1; N_ROWS]], ..Sample::new() };
        let labels = Labels::new(&sample.positive, None).unwrap();
        let learned = (&labels, &sample.training[..], &sample.folds);
        assert_eq!(PairSteps::new([0, 1], &sample.columns(), learned, 40), None);
    }
}
