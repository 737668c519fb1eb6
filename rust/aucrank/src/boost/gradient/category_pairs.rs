//! The choice whether a fit uses pairs of categories of two features, by a trial on held-out rows.
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

use super::bags::{RoundTerms, Stage, TRIAL_ROUNDS, run};
use super::begun::{Begun, PairChoice};
use super::held_out_params::HeldOutMeasure;
use super::loss::Loss;
use super::params::{GradientParams, Interactions};
use super::source::{FitSource, StateOf};
use crate::RankError;

/// Maximum number of pairs of features in a fit.
const MOST_PAIRS: usize = 64;

/// Minimum number of pairs of categories of two features: trees can test fewer one by one.
const LEAST_LEVELS: u64 = 5;

/// Standard errors by which the loss of held-out rows must fall. Of 13 data sets pairs paid on two,
/// by 1.4 to 6.5 errors on a split; on the others they lost in the mean, and the loss fell by more
/// than 1 error on three splits of 28.
const CAUTION: f64 = 2.0;

/// Chooses the pairs of features of a fit in one series of rounds, given the known rounds of its
/// first bags.
pub(super) fn category_pairs<F: FitSource>(
    source: &F,
    params: &GradientParams,
    dealt: Vec<F::Dealt>,
    mut begun: Vec<Begun<StateOf<F>>>,
) -> Result<PairChoice<F::Dealt, StateOf<F>>, RankError> {
    let mut pairs = candidates(&source.n_levels(), params);
    let Some(stopping) = params.held_out else { return Ok(PairChoice { dealt, begun }) };
    if pairs.is_empty() || source.goes_on() || !source.has_held_out(&dealt[0]) {
        return Ok(PairChoice { dealt, begun });
    }
    // Whether pairs are informative depends on the rows, not on the loss.
    let mut trial = params.clone();
    (trial.loss, trial.max_fpr) = (Loss::Log, 1.0);
    if let Some(held_out) = &mut trial.held_out {
        held_out.measure = HeldOutMeasure::Loss;
    }
    let is_same = params.loss == Loss::Log && stopping.measure == HeldOutMeasure::Loss;
    let plain = if is_same && !begun.is_empty() {
        Some(begun.remove(0))
    } else {
        run_trial(source, &trial, &dealt[..1])?
    };
    let Some(plain) = plain else { return Ok(PairChoice { dealt, begun }) };
    if pairs.len() > MOST_PAIRS {
        pairs = strongest(pairs, source, &dealt[0], &plain)?;
    }
    let mut with_pairs = source.recoded(&trial, &dealt[..1], &pairs)?;
    let found = run_trial(source, &trial, &with_pairs)?;
    // Of 14 data sets with categories pairs paid on two, by 2.4 and 0.7 points of AUC. Always
    // taken, they would lose 0.1 in the mean on the others.
    let pays = match &found {
        Some(found) => {
            let [gain, error] = source.gain(&dealt[0], &plain.state, &found.state)?;
            gain > CAUTION * error
        }
        None => false,
    };
    if !pays {
        if is_same {
            begun.insert(0, plain);
        }
        return Ok(PairChoice { dealt, begun });
    }
    with_pairs.extend(source.recoded(params, &dealt[1..], &pairs)?);
    source.set_pairs(pairs);
    Ok(PairChoice { dealt: with_pairs, begun: found.filter(|_| is_same).into_iter().collect() })
}

/// The pairs of features of categories that a tree may test together.
fn candidates(n_levels: &[Option<u32>], params: &GradientParams) -> Vec<[usize; 2]> {
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
    let n_features = n_levels.len();
    let n_levels = |feature: usize| n_levels[feature].map_or(0, u64::from);
    let of_categories: Vec<usize> =
        (0..n_features).filter(|&feature| n_levels(feature) >= 2).collect();
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
fn run_trial<F: FitSource>(
    source: &F,
    params: &GradientParams,
    first: &[F::Dealt],
) -> Result<Option<Begun<StateOf<F>>>, RankError> {
    let mut bags = source.begin(params, first, RoundTerms::Given)?;
    bags[0].bound_rounds(TRIAL_ROUNDS.min(params.n_rounds));
    run(&mut bags, params, Stage::PAIRS, source.interrupt())?;
    let bag = bags.swap_remove(0);
    let is_known = !bag.is_ended && !bag.trees.is_empty();
    Ok(is_known.then(|| bag.into_begun()))
}

/// The pairs whose Newton step lowers the loss of the held-out rows most.
fn strongest<F: FitSource>(
    pairs: Vec<[usize; 2]>,
    source: &F,
    bag: &F::Dealt,
    begun: &Begun<StateOf<F>>,
) -> Result<Vec<[usize; 2]>, RankError> {
    let merits = source.merits(bag, &begun.state, &pairs)?;
    let mut found: Vec<(f64, [usize; 2])> = merits.into_iter().zip(pairs).collect();
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    found.truncate(MOST_PAIRS);
    let mut pairs: Vec<[usize; 2]> = found.into_iter().map(|(_, pair)| pair).collect();
    pairs.sort_unstable();
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::boost::gradient::pair_steps::PairSteps;
    use crate::boost::gradient::*;
    use crate::data::{Column, Columns, Labels, MISSING_CODE, mix};

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
            fit_gradient_boosting((&self.columns(), &labels), params, given, &interrupt).unwrap()
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
        for (loss, refit) in [
            (Loss::Log, GradientRefit::None),
            (Loss::Log, GradientRefit::Leaves),
            (Loss::Log, GradientRefit::Trees),
            (Loss::PairLogistic, GradientRefit::None),
        ] {
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
        let found =
            fit_gradient_boosting((&sample.columns(), &labels), &params, &given, &interrupt);
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
            fit_gradient_boosting((&columns, &labels), &params(), &extras, &interrupt).unwrap();
        assert!(tested_pairs(&model).contains(&[2, 3]));
    }
}
