//! Bags: their concurrent rounds, and their mean, which is a model of the same form.
//!
//! Bags that each leave out a fold are truncated to the same number of rounds, the best on the mean
//! of their folds: every row counts, and one number varies less by chance than one for each bag.

use super::begun::{Bag, Begun};
use super::draws::FeatureDraws;
use super::feature_pairs::RankedPairs;
use super::fit_rows::RowMass;
use super::grow::TreePlan;
use super::grown::Grown;
use super::held_out::GradientHeldOut;
use super::held_out_params::HeldOutMeasure;
use super::model::{GradientBag, GradientFields};
use super::params::{GradientParams, Interactions, USUAL_LEAVES};
use super::source::{BagSource, NextTree};
use super::split_criterion::SplitCriterion;
use super::sums::HESSIAN_UNITS;
use super::tree::GradientTree;
use crate::data::{LARGEST_SUM, binds, mix, snap};
use crate::prepared::Prepared;
use crate::{FitPart, Interrupt, RankError};

/// Rounds that several bags run before they wait for each other.
const BLOCK_ROUNDS: usize = 8;

/// The seed of a bag; the first uses that of the fit.
pub(super) fn bag_seed(seed: u64, number: usize) -> u64 {
    // Rounds are seeded by the numbers from 0 upwards.
    if number == 0 { seed } else { mix(seed ^ mix(u64::MAX - number as u64)) }
}

/// A stage of a fit.
#[derive(Clone, Copy)]
pub(super) struct Stage {
    /// Unit of its progress.
    unit: &'static str,
    /// Share of the time of the fit after which it ends.
    until: f64,
}

impl Stage {
    pub(super) const ROUNDS: Self = Self { unit: "round", until: 1.0 };

    /// The trial of numbers of leaves: a fit of little time does not spend it on trials.
    pub(super) const LEAVES: Self = Self { unit: "trial round", until: 0.2 };

    /// The trial of pairs of categories, which comes next.
    pub(super) const PAIRS: Self = Self { unit: "trial round", until: 0.4 };
}

/// Rounds of each trial.
pub(super) const TRIAL_ROUNDS: usize = 300;

/// Runs the rounds of some bags concurrently, until each has all rounds of its series or stops
/// early, or until the time of the stage is over.
///
/// Reports each round with the mean of the measure on held-out rows.
pub(super) fn run<S: BagSource>(
    bags: &mut [BagFit<'_, S>],
    params: &GradientParams,
    stage: Stage,
    interrupt: &Interrupt,
) -> Result<(), RankError> {
    let block = if bags.len() == 1 { 1 } else { BLOCK_ROUNDS };
    let most = bags.iter().map(BagFit::n_bound).max();
    let shares_rounds = params.shares_rounds();
    let has_stopped = |bag: &BagFit<'_, S>| {
        let values = bag.values.as_deref();
        let stops = values
            .zip(params.held_out)
            .is_some_and(|(values, stopping)| stopping.stops(values, params.loss));
        !shares_rounds && stops
    };
    let goes_on = |bag: &BagFit<'_, S>| bag.goes_on() && !has_stopped(bag);
    let mut n_before = n_done(bags, goes_on);
    loop {
        let going: Vec<&mut BagFit<'_, S>> = bags.iter_mut().filter(|bag| goes_on(bag)).collect();
        if going.is_empty() {
            return Ok(());
        }
        S::side_by_side(going, |bag, line| {
            for number in n_before..n_before + block {
                bag.run_until(line, number + 1)?;
                if has_stopped(bag) {
                    break;
                }
            }
            Ok(())
        })?;
        let n_common = n_done(bags, goes_on);
        for number in n_before + 1..=n_common {
            if !report(bags, params, number, most, stage.unit, interrupt)? {
                return bags.iter_mut().try_for_each(|bag| bag.end_after(number));
            }
        }
        if interrupt.has_spent(stage.until) {
            return bags.iter_mut().try_for_each(|bag| bag.end_after(n_common));
        }
        n_before += block;
        if let Some(stopping) = params.held_out.filter(|_| shares_rounds)
            && stopping.stops(&mean_path(bags), params.loss)
        {
            return Ok(());
        }
    }
}

/// Reports a round; returns whether to continue.
fn report<S: BagSource>(
    bags: &[BagFit<'_, S>],
    params: &GradientParams,
    number: usize,
    most: Option<usize>,
    unit: &'static str,
    interrupt: &Interrupt,
) -> Result<bool, RankError> {
    let value = |bag: &BagFit<'_, S>| {
        let values = bag.values.as_ref()?;
        values.get(bag.n_begun() + number - 1).or(values.last()).copied()
    };
    let values: Vec<f64> = bags.iter().filter_map(value).collect();
    let reached = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let name = match params.held_out.map(|stopping| stopping.measure) {
        Some(HeldOutMeasure::Loss) => "validation_loss",
        _ => "validation_auc",
    };
    interrupt.part_done(&FitPart { unit, number, most, figures: &[(name, reached)] })
}

/// Rounds of this series that all unfinished bags have; some may be ahead by those of a trial.
fn n_done<'a, S: BagSource>(
    bags: &[BagFit<'a, S>],
    goes_on: impl Fn(&BagFit<'a, S>) -> bool,
) -> usize {
    let going = bags.iter().filter(|bag| goes_on(bag)).map(BagFit::n_done).min();
    going.or(bags.iter().map(BagFit::n_done).max()).unwrap_or(0)
}

/// The mean over bags of the measure on held-out rows after each round; empty if no rows are held
/// out, as in a refit. A bag with nothing left to learn keeps its last value.
fn mean_path<S: BagSource>(bags: &[BagFit<'_, S>]) -> Vec<f64> {
    let paths = bags.iter().filter_map(|bag| bag.values.as_deref());
    let paths: Vec<&[f64]> = paths.filter(|values| !values.is_empty()).collect();
    // The mean of no values would be NaN, which never improves: a refit then ended after 56 rounds,
    // with an AUC of .866 on magic in place of .910.
    if paths.is_empty() {
        return Vec::new();
    }
    let n_begun = bags.iter().map(BagFit::n_begun).max().unwrap_or(0);
    let n_rounds = n_begun + n_done(bags, BagFit::goes_on);
    let mean = |round: usize| {
        let values = paths.iter().map(|values| values[round.min(values.len() - 1)]);
        values.sum::<f64>() / paths.len() as f64
    };
    (0..n_rounds).map(mean).collect()
}

/// Measures on the held-out rows of each bag, and the number of rounds that it keeps.
pub(super) fn paths<S: BagSource>(
    bags: &[BagFit<'_, S>],
    params: &GradientParams,
) -> Vec<Option<GradientHeldOut>> {
    let Some(stopping) = params.held_out else { return vec![None; bags.len()] };
    let shared = params.shares_rounds().then(|| stopping.path(mean_path(bags)));
    let of_bag = |bag: &BagFit<'_, S>| {
        let mut values = bag.values.clone()?;
        Some(match &shared {
            None => stopping.path(values),
            Some(path) => {
                values.truncate(path.values.len());
                let n_rounds = path.n_rounds.min(values.len());
                GradientHeldOut { measure: stopping.measure, values, n_rounds }
            }
        })
    };
    bags.iter().map(of_bag).collect()
}

/// The mean of the scores of models: all their trees, with values divided by the number of models.
///
/// Trees are in the order of the rounds, so that the first ones are the mean of the first rounds.
/// The threshold is unchanged.
pub(super) fn average(bags: Vec<GradientFields>) -> GradientFields {
    let n_bags = bags.len() as f64;
    let start = snap(bags.iter().map(|bag| bag.start).sum::<f64>() / n_bags);
    let (mut mean, mut trees, mut of_bags) = (None, Vec::new(), Vec::new());
    let mut pairs = Vec::new();
    for mut bag in bags {
        // The pairs of a bag come after those of the previous bags.
        let (n_features, n_pairs) = (bag.n_levels.len(), pairs.len());
        for tree in &mut bag.trees {
            tree.map_features(
                |feature| {
                    if feature < n_features { feature } else { feature + n_pairs }
                },
            );
        }
        pairs.append(&mut bag.pairs);
        of_bags.push(GradientBag { n_rounds: bag.trees.len(), held_out: bag.held_out.take() });
        trees.push(std::mem::take(&mut bag.trees).into_iter());
        mean.get_or_insert(bag);
    }
    let mut mean = mean.expect("at least one bag");
    let n_rounds = of_bags.iter().map(|bag| bag.n_rounds).max().unwrap_or(0);
    for _ in 0..n_rounds {
        let of_round = trees.iter_mut().filter_map(Iterator::next);
        mean.trees.extend(of_round.map(|tree| tree.map_values(|value| snap(value / n_bags))));
    }
    GradientFields { start, bags: of_bags, pairs, ..mean }.without_unasked_pairs()
}

/// Least limit on the leaves of trees of two features: enough for one test of each on either side.
/// More leaves overfit if positives are few.
const PAIR_LEAVES: usize = 4;

/// Features that the trees of a series of rounds may test.
#[derive(Clone, Copy)]
pub(super) enum RoundTerms<'a> {
    /// Those of the parameters.
    Given,
    /// One feature each.
    Singles,
    /// One of these pairs each.
    Pairs(&'a RankedPairs),
}

/// The start and the trees of a bag with other values of their leaves.
pub(super) struct Refitted {
    pub(super) start: f64,
    pub(super) trees: Vec<GradientTree>,
}

/// A bag during its fit.
pub(super) struct BagFit<'a, S> {
    pub(super) source: S,
    pub(super) interrupt: &'a Interrupt,
    pub(super) params: &'a GradientParams,
    seed: u64,
    terms: RoundTerms<'a>,
    /// Groups of features that may be tested together; `None` for all.
    groups: Option<Vec<Vec<usize>>>,
    criterion: SplitCriterion,
    draws: FeatureDraws,
    start: f64,
    pub(super) rate: f64,
    max_leaves: usize,
    /// Maximum number of rounds of this series.
    n_rounds: usize,
    pub(super) trees: Vec<GradientTree>,
    /// Measure on the held-out rows after each round, if there are any.
    pub(super) values: Option<Vec<f64>>,
    /// Number of rounds of an earlier series.
    n_begun: usize,
    /// Sum over the trees of the largest absolute value.
    largest: f64,
    is_complete: bool,
    pub(super) refitted: Option<Refitted>,
    /// Whether the observer has requested the end of the fit.
    pub(super) is_ended: bool,
}

impl<'a, S: BagSource> BagFit<'a, S> {
    /// A bag before its first round, with its own seed.
    pub(super) fn new(
        source: S,
        params: &'a GradientParams,
        seed: u64,
        terms: RoundTerms<'a>,
        interrupt: &'a Interrupt,
    ) -> Self {
        let groups = match (terms, &params.interactions) {
            (RoundTerms::Given, Interactions::Groups(groups)) => Some(groups.clone()),
            (RoundTerms::Given, _) => None,
            (RoundTerms::Singles, _) => Some(Vec::new()),
            (RoundTerms::Pairs(pairs), _) => {
                Some(pairs.pairs.iter().map(|pair| pair.to_vec()).collect())
            }
        };
        let total = source.total();
        let max_leaves = params.max_leaves.unwrap_or(USUAL_LEAVES);
        let n_features = source.n_levels().len();
        let mut bag = Self {
            values: source.has_held_out().then(Vec::new),
            source,
            interrupt,
            params,
            seed,
            terms,
            groups,
            criterion: criterion(params, total),
            draws: FeatureDraws::new(n_features, params),
            start: 0.0,
            rate: params.rate(total.n_rows, max_leaves),
            max_leaves: match terms {
                RoundTerms::Pairs(_) => max_leaves.max(PAIR_LEAVES),
                RoundTerms::Given | RoundTerms::Singles => max_leaves,
            },
            n_rounds: params.n_rounds,
            trees: Vec::new(),
            n_begun: 0,
            largest: 0.0,
            is_complete: matches!(terms, RoundTerms::Pairs(pairs) if pairs.pairs.is_empty()),
            is_ended: false,
            refitted: None,
        };
        bag.begin_at(params.loss.start(total.of_classes));
        bag
    }

    /// Starts with the same score for all rows.
    pub(super) fn begin_at(&mut self, score: f64) {
        (self.start, self.largest) = (score, score.abs());
        self.source.start(score);
    }

    /// Adds a round, with the measure on held-out rows.
    pub(super) fn push(&mut self, tree: GradientTree, value: Option<f64>) {
        self.largest += tree.largest_value();
        self.trees.push(tree);
        if let (Some(values), Some(value)) = (&mut self.values, value) {
            values.push(value);
        }
    }

    /// Bounds the rounds of this series.
    pub(super) fn bound_rounds(&mut self, n_rounds: usize) {
        self.n_rounds = n_rounds;
    }

    /// Maximum number of rounds of this series.
    pub(super) fn n_bound(&self) -> usize {
        self.n_rounds
    }

    /// Number of rounds of an earlier series.
    pub(super) fn n_begun(&self) -> usize {
        self.n_begun
    }

    /// Keeps at most `n_rounds` rounds of this series, and runs no more.
    pub(super) fn end_after(&mut self, n_rounds: usize) -> Result<(), RankError> {
        self.is_ended = true;
        self.cut(self.n_begun + n_rounds)
    }

    /// Number of rounds of this series.
    pub(super) fn n_done(&self) -> usize {
        self.trees.len() - self.n_begun
    }

    /// Whether there may be more rounds.
    pub(super) fn goes_on(&self) -> bool {
        !self.is_complete && !self.is_ended && self.n_done() < self.n_rounds
    }

    /// Starts after the trees of an earlier series.
    pub(super) fn begin_after(&mut self, begun: Begun<S::State>) {
        self.n_begun = begun.trees.len();
        self.take_up(begun);
    }

    /// Starts with trees of its own series.
    pub(super) fn take_up(&mut self, begun: Begun<S::State>) {
        self.largest += begun.trees.iter().map(GradientTree::largest_value).sum::<f64>();
        self.trees = begun.trees;
        self.source.take_up(begun.state);
        if self.values.is_some() && begun.values.is_some() {
            self.values = begun.values;
        }
    }

    pub(super) fn into_begun(self) -> Begun<S::State> {
        Begun { trees: self.trees, values: self.values, state: self.source.into_state() }
    }

    pub(super) fn into_bag(self, held_out: Option<GradientHeldOut>) -> Bag<S::State> {
        let parts = |start, trees, held_out| GradientFields {
            n_levels: self.source.n_levels(),
            pairs: self.source.pairs(),
            loss: self.params.loss,
            start,
            threshold: 0.0,
            learning_rate: self.rate,
            trees,
            held_out,
            bags: Vec::new(),
            seed: self.seed,
            cells: Vec::new(),
            prepared: Prepared::default(),
            shown: Prepared::default(),
        };
        let of_all = |Refitted { start, trees }| parts(start, trees, held_out.clone());
        Bag {
            refitted: self.refitted.map(of_all),
            parts: parts(self.start, self.trees, held_out),
            state: (self.params.n_bags == 1).then(|| self.source.into_state()),
        }
    }

    /// The features that the tree of a round may test, and the sets of features for a tree on all
    /// rows if the rows and features drawn are uninformative: the first informative set is used.
    fn features(&self, number: usize) -> (Vec<usize>, Vec<Vec<usize>>) {
        let is_partial = self.params.subsample < 1.0 || self.draws.are_partial();
        if let RoundTerms::Pairs(pairs) = self.terms {
            // A tree takes the pair whose first test gains most. Since a single test may not show
            // that a pair is informative, those that are informative beyond chance get every other
            // tree, in turn.
            let mut all = pairs.pairs.concat();
            all.sort_unstable();
            all.dedup();
            let round = number - self.n_begun;
            if round % 2 == 1 && pairs.n_above_chance > 0 {
                let turn = round / 2 % pairs.n_above_chance;
                return (pairs.pairs[turn].to_vec(), vec![all]);
            }
            let others = if is_partial { vec![all.clone()] } else { Vec::new() };
            return (all, others);
        }
        let all = || (0..self.draws.n_features()).collect();
        (
            self.draws.features(self.seed_of(number)),
            if is_partial { vec![all()] } else { Vec::new() },
        )
    }

    /// Runs rounds until this series has `n_rounds`, or until nothing is left to learn.
    pub(super) fn run_until(
        &mut self,
        line: S::Line<'_>,
        n_rounds: usize,
    ) -> Result<(), RankError> {
        while self.goes_on() && self.n_done() < n_rounds {
            self.interrupt.check()?;
            if self.is_out_of_time() {
                return Ok(());
            }
            let grown = match self.grow_next(line) {
                // The rounds before are kept.
                Err(RankError::Interrupted) if self.is_out_of_time() => return Ok(()),
                grown => grown?,
            };
            if grown.leaves.len() == 1 || self.largest + grown.tree.largest_value() > LARGEST_SUM {
                self.is_complete = true;
                break;
            }
            let tree = grown.tree.clone();
            let number = self.trees.len() + 1;
            let next = NextTree { features: self.features(number).0, seed: self.seed_of(number) };
            let value = self.source.add(line, grown, next)?;
            self.push(tree, value);
        }
        Ok(())
    }

    /// Whether the time of the fit is over, and this series has rounds.
    fn is_out_of_time(&self) -> bool {
        self.n_done() > 0 && self.interrupt.check().is_ok() && self.interrupt.is_over()
    }

    /// Grows the tree of the next round, on drawn rows and features, or on all rows by the first
    /// features that are informative.
    fn grow_next(&mut self, line: S::Line<'_>) -> Result<Grown, RankError> {
        let seed = self.seed_of(self.trees.len());
        let (features, instead) = self.features(self.trees.len());
        let mut grown = self.grow(line, features, seed, true)?;
        for features in instead {
            if grown.leaves.len() > 1 {
                break;
            }
            grown = self.grow(line, features, seed, false)?;
        }
        Ok(grown)
    }

    /// Seed of the tree of a round.
    fn seed_of(&self, number: usize) -> u64 {
        mix(self.seed ^ mix(number as u64))
    }

    /// Grows a tree on drawn rows, or on all.
    fn grow(
        &mut self,
        line: S::Line<'_>,
        features: Vec<usize>,
        seed: u64,
        draws: bool,
    ) -> Result<Grown, RankError> {
        let plan = TreePlan {
            features,
            criterion: &self.criterion,
            max_leaves: self.max_leaves,
            max_depth: self.params.max_depth,
            interactions: self.groups.as_deref(),
            rate: self.rate,
            seed,
            is_needed: self.n_done() == 0,
            interrupt: self.interrupt,
        };
        self.source.grow(line, plan, draws)
    }

    /// Keeps the first rounds only, of all series.
    pub(super) fn cut(&mut self, n_rounds: usize) -> Result<(), RankError> {
        if n_rounds >= self.trees.len() {
            return Ok(());
        }
        let cut = self.trees.split_off(n_rounds);
        if let Some(values) = &mut self.values {
            values.truncate(n_rounds);
        }
        self.source.take_off(&cut)
    }
}

/// Criterion for the splits of a fit.
pub(super) fn criterion(params: &GradientParams, rows: RowMass) -> SplitCriterion {
    let mut criterion = SplitCriterion {
        l2: params.l2 * f64::from(HESSIAN_UNITS) / rows.unit(),
        min_gain: 0.0,
        min_rows: params.min_samples_leaf.of(rows.n_rows),
        cuts: params.cuts,
        monotonic: params.monotonic.clone(),
        mass_unit: rows.unit(),
    };
    if !binds(&criterion.monotonic) {
        criterion.monotonic.clear();
    }
    criterion.min_gain = criterion.gain_in_units(params.min_gain);
    criterion
}
