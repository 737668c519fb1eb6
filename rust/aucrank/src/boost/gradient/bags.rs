//! Bags: which rows each learns from, their rounds side by side, and their mean, which is a model of the
//! same form.
//!
//! Bags that leave out a fold each are cut after the same number of rounds, the best on the mean of
//! their folds: every row tells, and one number is less subject to chance than one for each bag.

use super::bag_fit::BagFit;
use super::fit::{Data, GradientExtras};
use super::held_out::{GradientHeldOut, HeldOut, HeldOutMeasure, HeldOutRows, Place};
use super::model::{GradientBag, Parts};
use super::params::GradientParams;
use super::rows::FitRows;
use crate::data::{Columns, Folds, Labels, hold_out, mix, snap};
use crate::{Interrupt, Part, RankError, parallel};

/// Rounds that several bags run before they wait for each other.
const BLOCK_ROUNDS: usize = 8;

/// The seed of a bag; the first has that of the fit.
pub(super) fn bag_seed(seed: u64, number: usize) -> u64 {
    // Rounds are seeded by the numbers from 0 upwards.
    if number == 0 { seed } else { mix(seed ^ mix(u64::MAX - number as u64)) }
}

/// The rows of a bag.
pub(super) struct BagRows<'a> {
    /// What the bag draws by.
    pub(super) seed: u64,
    /// Rows that it learns from, ascending.
    training: Vec<u32>,
    /// Rows that judge its rounds.
    held_out: Option<Judges<'a>>,
}

/// Rows that judge the rounds of a bag.
enum Judges<'a> {
    /// Rows of the fit.
    Inside(Vec<u32>),
    /// The validation rows that were given.
    Given((&'a Columns<'a>, &'a Labels<'a>)),
}

impl<'a> BagRows<'a> {
    /// The rows of each bag.
    pub(super) fn deal(
        data: Data<'a>,
        params: &GradientParams,
        given: &GradientExtras<'a>,
    ) -> Result<Vec<Self>, RankError> {
        let mut bags = Self::all(data, params);
        let Some(asked) = &params.held_out else { return Ok(bags) };
        if let Some(validation) = given.validation {
            for bag in &mut bags {
                bag.held_out = Some(Judges::Given(validation));
            }
            return Ok(bags);
        }
        let Data { columns, labels, interrupt, .. } = data;
        match asked.rows {
            HeldOutRows::Share(share) => {
                bags = parallel::try_map(bags, |mut bag| {
                    if let Some(parts) = hold_out(columns, labels, share, bag.seed, interrupt)? {
                        bag.training = parts.kept;
                        bag.held_out = Some(Judges::Inside(parts.held_out));
                    }
                    Ok(bag)
                })?;
            }
            HeldOutRows::Fold => {
                let dealt;
                let folds = if let Some(folds) = given.folds {
                    folds
                } else {
                    let n_folds = params.n_bags.min(usize::from(u16::MAX) - 1) as u16;
                    dealt = Folds::deal(columns, labels, n_folds, params.seed, interrupt)?;
                    &dealt
                };
                if folds.n_folds < 2 {
                    return Ok(bags);
                }
                for (number, bag) in bags.iter_mut().enumerate() {
                    // Of fewer folds than bags, several bags leave out the same.
                    let fold = (number % usize::from(folds.n_folds)) as u16;
                    let is_out = |row: &u32| folds.of_row[*row as usize] == fold;
                    let (held_out, training) =
                        std::mem::take(&mut bag.training).into_iter().partition(is_out);
                    bag.training = training;
                    bag.held_out = Some(Judges::Inside(held_out));
                }
            }
        }
        Ok(bags)
    }

    /// Bags that learn from all rows.
    pub(super) fn all(data: Data<'a>, params: &GradientParams) -> Vec<Self> {
        let training = data.labels.rows();
        let bag = |number| Self {
            seed: bag_seed(params.seed, number),
            training: training.clone(),
            held_out: None,
        };
        (0..params.n_bags).map(bag).collect()
    }

    /// The rows that it learns from, for a fit.
    pub(super) fn fit_rows<'r>(
        &'r self,
        data: Data<'r>,
        params: &GradientParams,
    ) -> Result<FitRows<'r>, RankError> {
        data.rows(params, self.seed, &self.training)
    }

    /// The rows that judge the rounds, with their scores.
    pub(super) fn held_out(&self, data: Data<'a>) -> Option<HeldOut<'a>> {
        match self.held_out.as_ref()? {
            Judges::Inside(rows) => {
                Some(HeldOut::new(Place::Inside(rows.clone()), rows, data.labels))
            }
            Judges::Given((columns, labels)) => {
                let rows: Vec<u32> = (0..labels.n_rows() as u32).collect();
                Some(HeldOut::new(Place::Outside(columns), &rows, labels))
            }
        }
    }
}

/// Runs the rounds of some bags side by side, until each has all of its series or stops early.
///
/// Reports each round with the mean of what the held-out rows say.
pub(super) fn run(
    bags: &mut [BagFit<'_>],
    params: &GradientParams,
    unit: &'static str,
    interrupt: &Interrupt,
) -> Result<(), RankError> {
    let block = if bags.len() == 1 { 1 } else { BLOCK_ROUNDS };
    let most = bags.iter().map(BagFit::n_bound).max();
    let shares_rounds = params.shares_rounds();
    let has_stopped = |bag: &BagFit<'_>| {
        let values = bag.held_out.as_ref().map(|held_out| &held_out.values[..]);
        let stops = values.zip(params.held_out).is_some_and(|(values, asked)| asked.stops(values));
        !shares_rounds && stops
    };
    let goes_on = |bag: &BagFit<'_>| bag.goes_on() && !has_stopped(bag);
    let mut n_before = n_done(bags, goes_on);
    loop {
        let going: Vec<&mut BagFit<'_>> = bags.iter_mut().filter(|bag| goes_on(bag)).collect();
        if going.is_empty() {
            return Ok(());
        }
        parallel::try_map(going, |bag| {
            for number in n_before..n_before + block {
                bag.run_until(number + 1)?;
                if has_stopped(bag) {
                    break;
                }
            }
            Ok(())
        })?;
        for number in n_before + 1..=n_done(bags, goes_on) {
            if !report(bags, params, number, most, unit, interrupt)? {
                return bags.iter_mut().try_for_each(|bag| bag.end_after(number));
            }
        }
        n_before += block;
        if let Some(asked) = params.held_out.filter(|_| shares_rounds)
            && asked.stops(&mean_path(bags))
        {
            return Ok(());
        }
    }
}

/// Reports a round; whether there are to be more.
fn report(
    bags: &[BagFit<'_>],
    params: &GradientParams,
    number: usize,
    most: Option<usize>,
    unit: &'static str,
    interrupt: &Interrupt,
) -> Result<bool, RankError> {
    let value = |bag: &BagFit<'_>| {
        let values = &bag.held_out.as_ref()?.values;
        values.get(bag.n_begun() + number - 1).or(values.last()).copied()
    };
    let values: Vec<f64> = bags.iter().filter_map(value).collect();
    let reached = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let name = match params.held_out.map(|asked| asked.measure) {
        Some(HeldOutMeasure::Loss) => "validation_loss",
        _ => "validation_auc",
    };
    interrupt.part_done(&Part { unit, number, most, figures: &[(name, reached)] })
}

/// Rounds of this series that all bags have that go on; some may be ahead by those of a trial.
fn n_done<'a>(bags: &[BagFit<'a>], goes_on: impl Fn(&BagFit<'a>) -> bool) -> usize {
    let going = bags.iter().filter(|bag| goes_on(bag)).map(BagFit::n_done).min();
    going.or(bags.iter().map(BagFit::n_done).max()).unwrap_or(0)
}

/// The mean over bags of what the held-out rows say of each round that they have. A bag that has nothing
/// left to learn stays where it is.
fn mean_path(bags: &[BagFit<'_>]) -> Vec<f64> {
    let paths = bags.iter().filter_map(|bag| Some(&bag.held_out.as_ref()?.values[..]));
    let paths: Vec<&[f64]> = paths.filter(|values| !values.is_empty()).collect();
    let n_begun = bags.iter().map(BagFit::n_begun).max().unwrap_or(0);
    let n_rounds = n_begun + n_done(bags, BagFit::goes_on);
    let mean = |round: usize| {
        let values = paths.iter().map(|values| values[round.min(values.len() - 1)]);
        values.sum::<f64>() / paths.len() as f64
    };
    (0..n_rounds).map(mean).collect()
}

/// What the held-out rows of each bag say, and how many rounds it is to keep.
pub(super) fn paths(bags: &[BagFit<'_>], params: &GradientParams) -> Vec<Option<GradientHeldOut>> {
    let Some(asked) = params.held_out else { return vec![None; bags.len()] };
    let shared = params.shares_rounds().then(|| asked.path(mean_path(bags)));
    let of_bag = |bag: &BagFit<'_>| {
        let mut values = bag.held_out.as_ref()?.values.clone();
        Some(match &shared {
            None => asked.path(values),
            Some(path) => {
                values.truncate(path.values.len());
                let n_rounds = path.n_rounds.min(values.len());
                GradientHeldOut { measure: asked.measure, values, n_rounds }
            }
        })
    };
    bags.iter().map(of_bag).collect()
}

/// The mean of the scores of models: all their trees, with values divided by the number of models.
///
/// Trees are in the order of the rounds, so that the first ones are the mean of the first rounds.
/// The threshold is left as it is.
pub(super) fn average(bags: Vec<Parts>) -> Parts {
    let n_bags = bags.len() as f64;
    let start = snap(bags.iter().map(|bag| bag.start).sum::<f64>() / n_bags);
    let (mut mean, mut trees, mut of_bags) = (None, Vec::new(), Vec::new());
    for mut bag in bags {
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
    Parts { start, bags: of_bags, ..mean }
}
