//! The fit of `AURORA`: the search, and the choice of the number of terms (sec. 3.5).

use std::collections::HashSet;

use super::binarize::Binarizer;
use super::binary_feature::BinaryTerm;
use super::model::{Aurora, AuroraFields, PathStep, TriedRadius};
use super::observations::Observations;
use super::packed::Sign;
use super::params::{AuroraParams, Radius, Selection};
use super::ramp::Statistics;
use super::search::{Path, Search, SelectionStep, best_number, climb_to_the_end, scores_of};
use crate::data::{Column, Columns, FewContents, Folds, Labels, check_monotonic, hold_out};
use crate::roc::{DeLong, auc_up_to, smoothed};
use crate::{FitPart, Interrupt, RankError};

/// The initial radii, in ascending equal steps of their logarithm (DECISIONS A19). The paper's
/// range of 1 to 10 is for a ramp of half-width 1, twice the one here.
const RADII: [f64; 3] = [0.5, 1.581_138_830_084_189_8, 5.0];
/// Maximum number of radii that are tried.
const MOST_RADII: usize = 5;

/// Number of distinct training rows above which radii are tried in a race.
const RACE_ROWS: usize = 8000;
/// The radii of a race: those above, and the ones halfway between.
const RACE_RADII: [f64; MOST_RADII] =
    [0.5, 0.889_139_705_019_461_4, 1.581_138_830_084_189_8, 2.811_706_625_951_745_6, 5.0];
/// The stages of a race: a number of terms, and how many radii remain of those searched so far.
/// After the last, those close to the best are compared as always.
///
/// On ten sets of 13,000 to 20,000 rows, two splits each, this gained .02 +- .04 points of AUC over
/// 100 terms for each of five radii, at half the terms. Fewer lost: the best radius after 50 terms
/// .12 +- .14 points (2.7 on `amazon_access`), the best three after 12 terms and two after 50 .07 +-
/// .09. So did fewer rows: a sample of 8,000 favours short radii, .06 +- .08 points after 100 terms
/// and .10 +- .05 after 50.
const RACE: [(usize, usize); 3] = [(25, 3), (50, 2), (75, 1)];

/// Most distinct training rows of which [`Selection::Auto`] holds none out, and the maximum number
/// of terms of that search.
///
/// With few rows, those held out are missed more than a choice by them gains. Three draws of 500 rows
/// of 22 sets: +.80 +- .23 points over at most 30 terms chosen by a quarter of the rows, +.40 +- .19
/// over at most 200, in a fifth and a thirteenth of the time. Of 1,000 rows of 17 sets: +.61 +- .27
/// and +.28 +- .17; of 1,400 rows of 13 sets: +.04 +- .16 and -.28 +- .19. More terms or a longer
/// radius lost (`python -m benches.studies.aurora_defaults DATA DATA2 --few --rows 500 --draw 1`).
const FEW_ROWS: usize = 1000;
const FEW_TERMS: usize = 30;

/// The radius of that search. It is shared by all terms, so that fewer than 8 need a longer one: 4
/// terms at .5 lose .11 +- .32 and .46 +- .47 points of 500 and 1,000 rows to 4 that are chosen, at
/// .89 they gain .43 +- .24 and .50 +- .27; 8 gain .53 +- .22 and .39 +- .32 at .5.
fn few_radius(max_features: usize) -> f64 {
    if max_features < 8 { RACE_RADII[1] } else { RADII[0] }
}

/// Fits `AURORA`.
///
/// With an `earlier` model its search is continued, including the terms that were not kept: its
/// terms come first, and their weights are refitted to these rows. The columns must be the same.
///
/// # Errors
///
/// [`RankError`] for a bad parameter, an infinite value, or when interrupted.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::aurora::{AuroraParams, Radius, Selection, fit_aurora};
/// use aucrank::data::{Columns, Labels};
///
/// let (radius, selection) = (Radius::Fixed(2.0), Selection::Keep);
/// let of_one = AuroraParams { order: 1, ..AuroraParams::default() };
/// let params = AuroraParams { max_features: 10, radius, selection, ..of_one };
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let model = fit_aurora(&columns, &labels, &params, None, &Interrupt::default())?;
/// assert!(model.is_additive() && model.terms().len() <= 10);
///
/// let err = AuroraParams { order: 3, ..params }.validate(&[None]).unwrap_err();
/// assert_eq!(err.to_string(), "order is 3, but must be 1 or 2");
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub fn fit_aurora(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &AuroraParams,
    earlier: Option<&Aurora>,
    interrupt: &Interrupt,
) -> Result<Aurora, RankError> {
    let n_levels: Vec<Option<u32>> = columns.iter().map(Column::n_levels).collect();
    params.validate(&n_levels)?;
    let columns = &columns.until(interrupt);
    columns.infinite_value().map_or(Ok(()), Err)?;
    check_monotonic(&params.monotonic, &columns.n_levels())?;
    if let (Radius::Fixed(radius), Some(earlier)) = (params.radius, earlier)
        && radius.to_bits() != earlier.radius().to_bits()
    {
        let rule = "that of the model whose search goes on";
        return Err(RankError::BadParameter { name: "radius", value: radius.to_string(), rule });
    }
    if earlier.is_some() && params.max_fpr < 1.0 {
        let rule = "1 where an earlier search goes on";
        return Err(RankError::BadParameter {
            name: "max_fpr",
            value: params.max_fpr.to_string(),
            rule,
        });
    }
    if let Some(earlier) = earlier {
        let features = &earlier.binarizer().features;
        let sign = |term: &BinaryTerm| Sign::of(*term, features, &params.monotonic);
        let mut weights = earlier.terms().iter().zip(earlier.values());
        if !weights.all(|(term, &weight)| sign(term).allows(weight))
            || earlier.all_terms().iter().any(|term| sign(term) == Sign::Neither)
        {
            return Err(RankError::BadParameter {
                name: "monotonic_cst",
                value: "given".to_owned(),
                rule: "what the model keeps to whose search goes on",
            });
        }
    }
    let fit = AuroraFit { columns, labels, params, earlier, interrupt };
    if params.selection == Selection::Keep {
        return fit.fit();
    }
    let contents = FewContents::of(columns, labels, params.seed, interrupt)?;
    if matches!(params.selection, Selection::Auto(_))
        && let Some(params) = &fit.without_choice(contents.is_some())?
    {
        return AuroraFit { params, ..fit }.fit();
    }
    match contents {
        None => fit.fit(),
        Some(contents) => {
            let (columns, labels) = (&contents.columns(columns)?, &contents.labels()?);
            AuroraFit { columns, labels, ..fit }.fit()
        }
    }
}

/// Training rows and held-out rows.
struct HeldOutSplit {
    binarizer: Binarizer,
    kept: Vec<u32>,
    held_out: Option<Vec<u32>>,
    /// Choice of the negatives that count in full, if not all do.
    aim: Option<Aim>,
}

/// A given score of the rows, whose highest negatives count in full.
struct Aim {
    terms: Vec<BinaryTerm>,
    weights: Vec<f64>,
}

impl Aim {
    /// The first terms of a path, as far as it goes; `None` if it has none.
    fn of(path: &Path, n_terms: usize) -> Option<Self> {
        let n_terms = n_terms.min(path.terms.len());
        let weights = path.steps[n_terms.checked_sub(1)?].weights.clone();
        Some(Self { terms: path.terms[..n_terms].to_vec(), weights })
    }
}

/// Held-out rows and their scores.
struct HeldOutScores {
    scores: Vec<f64>,
    /// The share of each row in the weight of its class.
    shares: Vec<f64>,
    /// Number of positive rows, which come first.
    n_pos: usize,
}

impl HeldOutScores {
    fn positive(&self) -> Vec<bool> {
        (0..self.scores.len()).map(|row| row < self.n_pos).collect()
    }
}

/// The result of the search at a radius.
struct Chosen {
    radius: f64,
    /// One path per split.
    paths: Vec<Path>,
    /// Means over the splits.
    steps: Vec<PathStep>,
    n_terms: usize,
    n_folds: Option<u16>,
    /// Whether the radius left a race before its end.
    has_left: bool,
}

impl Chosen {
    /// The AUC of the held-out rows, as far as there is one.
    fn auc(&self) -> f64 {
        self.tried().auc.unwrap_or(0.0)
    }

    fn tried(&self) -> TriedRadius {
        let step = self.n_terms.checked_sub(1).map(|last| &self.steps[last]);
        let auc = step.and_then(|step| step.validation).map(|validation| validation.auc);
        TriedRadius { radius: self.radius, n_terms: self.n_terms, auc, standard_error: None }
    }
}

#[derive(Clone, Copy)]
struct AuroraFit<'a, 'b> {
    columns: &'a Columns<'b>,
    labels: &'a Labels<'b>,
    params: &'a AuroraParams,
    earlier: Option<&'a Aurora>,
    interrupt: &'a Interrupt,
}

impl AuroraFit<'_, '_> {
    /// Searches, and fits the chosen terms to all rows.
    fn fit(&self) -> Result<Aurora, RankError> {
        let (mut splits, all) = self.splits()?;
        let (mut chosen, tried) = self.chosen(&splits)?;
        if self.params.max_fpr < 1.0 {
            chosen = self.narrowed(&mut splits, chosen)?;
        }
        self.finish(splits, &all, chosen, tried)
    }

    /// The parameters with which [`Selection::Auto`] keeps all rows and terms; `None` if it holds
    /// rows out. A search that goes on does what it did before.
    fn without_choice(&self, have_few_contents: bool) -> Result<Option<AuroraParams>, RankError> {
        let are_few = self.have_few_rows(have_few_contents)?;
        let (keeps_all, radius, n_earlier) = match self.earlier {
            None => {
                let keeps_all = are_few && self.params.radius == Radius::Auto;
                (keeps_all, few_radius(self.params.max_features), 0)
            }
            Some(earlier) => {
                let held_out = earlier.path().iter().any(|step| step.validation.is_some());
                (!held_out, earlier.radius(), earlier.all_terms().len())
            }
        };
        let most = if are_few { FEW_TERMS.max(n_earlier) } else { usize::MAX };
        Ok(keeps_all.then(|| AuroraParams {
            selection: Selection::Keep,
            radius: Radius::Fixed(radius),
            max_features: self.params.max_features.min(most),
            ..self.params.clone()
        }))
    }

    /// Whether at most [`FEW_ROWS`] rows differ, and no groups or ranges of time are to be held
    /// out. Of a few contents each copy is a row of its own, as for [`FewContents`].
    fn have_few_rows(&self, have_few_contents: bool) -> Result<bool, RankError> {
        if self.labels.blocks().is_some() {
            return Ok(false);
        }
        if have_few_contents {
            let total = self.labels.total();
            return Ok(total.pos + total.neg <= FEW_ROWS as u64);
        }
        let rows = self.labels.rows();
        if rows.len() <= FEW_ROWS {
            return Ok(true);
        }
        let hashes = self.columns.hashes(self.interrupt)?;
        let mut known = HashSet::new();
        Ok(rows.into_iter().all(|row| {
            known.insert(hashes[row as usize]);
            known.len() <= FEW_ROWS
        }))
    }

    /// The terms chosen from the given rows, or those of the earlier model.
    fn binarizer(&self, rows: &[u32]) -> Result<Binarizer, RankError> {
        if let Some(earlier) = self.earlier {
            return Ok(earlier.binarizer().clone());
        }
        let binarizer = Binarizer::new(self.columns, self.labels, rows, &self.params.binarizer)?;
        binarizer.check_codes()?;
        Ok(binarizer)
    }

    fn observations<'c>(
        &self,
        rows: &[u32],
        binarizer: &'c Binarizer,
        aim: Option<&Aim>,
    ) -> Result<Observations<'c>, RankError> {
        let found = Observations::new(self.columns, self.labels, rows, binarizer)?;
        let Some(aim) = aim else { return Ok(found) };
        let scores = scores_of(&found, &aim.terms, &aim.weights);
        Ok(found.narrowed(&scores, self.params.max_fpr))
    }

    /// The splits that choose the model, and all rows. If a class has a single distinct row, there
    /// is one split without held-out rows.
    fn splits(&self) -> Result<(Vec<HeldOutSplit>, Vec<u32>), RankError> {
        let all = self.labels.rows();
        let split = |kept: Vec<u32>, held_out: Option<Vec<u32>>| {
            Ok(HeldOutSplit { binarizer: self.binarizer(&kept)?, kept, held_out, aim: None })
        };
        let seed = self.earlier.map_or(self.params.seed, Aurora::seed);
        let splits = match self.params.selection {
            Selection::Keep => vec![split(all.clone(), None)?],
            Selection::Auto(share) | Selection::HoldOut(share) => {
                match hold_out(self.columns, self.labels, share, seed, self.interrupt)? {
                    None => vec![split(all.clone(), None)?],
                    Some(parts) => vec![split(parts.kept, Some(parts.held_out))?],
                }
            }
            Selection::CrossValidation(n_folds) => {
                let folds = Folds::deal(self.columns, self.labels, n_folds, seed, self.interrupt)?;
                if folds.n_folds < 2 {
                    vec![split(all.clone(), None)?]
                } else {
                    let of_fold = |fold: u16| {
                        let parts = folds.parts(self.labels, fold)?;
                        split(parts.kept, Some(parts.held_out))
                    };
                    (0..folds.n_folds).map(of_fold).collect::<Result<_, RankError>>()?
                }
            }
        };
        Ok((splits, all))
    }

    /// The result of the search at the requested radius, or at the best one; and the radii that
    /// were tried.
    fn chosen(&self, splits: &[HeldOutSplit]) -> Result<(Chosen, Vec<TriedRadius>), RankError> {
        let max_features = self.params.max_features;
        let radius = match (self.params.radius, self.earlier) {
            (_, Some(earlier)) => earlier.radius(),
            (Radius::Fixed(radius), None) => radius,
            (Radius::Auto, None) if splits.iter().all(|split| split.held_out.is_none()) => RADII[1],
            (Radius::Auto, None) => return self.best_radius(splits),
        };
        let chosen = self.choose(splits, radius, max_features, None)?;
        let tried = vec![chosen.tried()];
        Ok((chosen, tried))
    }

    /// Searches again at the same radius with emphasis on the negatives that the `first` search
    /// scores highest, and returns the search with the higher partial AUC of the held-out rows. The
    /// splits have an aim if that is the second one.
    fn narrowed(&self, splits: &mut [HeldOutSplit], first: Chosen) -> Result<Chosen, RankError> {
        for (split, path) in splits.iter_mut().zip(&first.paths) {
            split.aim = Aim::of(path, first.n_terms);
        }
        let second = self.choose(splits, first.radius, self.params.max_features, None)?;
        let partial_auc = |chosen: &Chosen| self.partial_auc(splits, chosen);
        if partial_auc(&second)? >= partial_auc(&first)? {
            return Ok(second);
        }
        for split in splits {
            split.aim = None;
        }
        Ok(first)
    }

    /// The partial AUC of the held-out rows, as a mean over the splits; 0 if there are none.
    fn partial_auc(&self, splits: &[HeldOutSplit], chosen: &Chosen) -> Result<f64, RankError> {
        let mut sum = 0.0;
        for (split, path) in splits.iter().zip(&chosen.paths) {
            self.interrupt.check()?;
            if let Some(found) = self.held_out(split, path, chosen.n_terms)? {
                let (max_fpr, positive) = (self.params.max_fpr, found.positive());
                sum += auc_up_to(max_fpr, &found.scores, &positive, Some(&found.shares))?;
            }
        }
        Ok(sum / splits.len() as f64)
    }

    /// Searches every split for at most `max_features` terms, and chooses their number. With the
    /// paths of an earlier search at that radius, one for each split, continues that search.
    fn choose(
        &self,
        splits: &[HeldOutSplit],
        radius: f64,
        max_features: usize,
        earlier: Option<Vec<Path>>,
    ) -> Result<Chosen, RankError> {
        let mut paths = Vec::with_capacity(splits.len());
        let start = || vec![Path::new(self.first_gain()); splits.len()];
        let earlier = earlier.unwrap_or_else(start);
        for ((split, earlier), fold) in splits.iter().zip(earlier).zip(0..) {
            let of_split =
                |rows: &Vec<u32>| self.observations(rows, &split.binarizer, split.aim.as_ref());
            let kept = of_split(&split.kept)?;
            let held_out = split.held_out.as_ref().map(of_split);
            let held_out = held_out.transpose()?;
            let fold = (splits.len() > 1).then_some(fold);
            paths.push(self.search(
                &kept,
                held_out.as_ref(),
                radius,
                max_features,
                fold,
                earlier,
            )?);
        }
        let mut steps = mean_steps(&paths);
        let mut n_terms = steps.len();
        if splits.iter().any(|split| split.held_out.is_some()) {
            let criterion = |found: Statistics| self.params.criterion.of(found);
            let found: Vec<f64> =
                steps.iter().filter_map(|step| step.validation).map(criterion).collect();
            let values = smoothed(&found);
            n_terms = best_number(&values);
            for (step, value) in steps.iter_mut().zip(values) {
                step.smoothed = Some(value);
            }
        }
        let n_folds = (splits.len() > 1).then_some(splits.len() as u16);
        Ok(Chosen { radius, paths, steps, n_terms, n_folds, has_left: false })
    }

    fn search(
        &self,
        kept: &Observations<'_>,
        held_out: Option<&Observations<'_>>,
        radius: f64,
        max_features: usize,
        fold: Option<u16>,
        path: Path,
    ) -> Result<Path, RankError> {
        let search = Search {
            observations: kept,
            held_out,
            params: self.params,
            radius,
            max_features,
            interrupt: self.interrupt,
        };
        let chosen = &mut |step: &SelectionStep| {
            let figures = [
                ("radius", Some(radius)),
                ("fold", fold.map(f64::from)),
                ("train_ramp", Some(step.train.ramp)),
                ("train_auc", Some(step.train.auc)),
                ("validation_ramp", step.validation.map(|found| found.ramp)),
                ("validation_auc", step.validation.map(|found| found.auc)),
            ];
            let (number, most) = (step.weights.len(), Some(max_features));
            self.interrupt.part_done(&FitPart { unit: "term", number, most, figures: &figures })
        };
        search.run(path, self.earlier.map_or(&[], Aurora::all_terms), chosen)
    }

    /// The required gain of the first term that is not given.
    fn first_gain(&self) -> f64 {
        self.earlier.map_or(self.params.first_gain, Aurora::enough)
    }

    /// The smallest of the radii within a standard error of the best: a difference that the held-out
    /// rows cannot resolve does not justify a less smooth statistic.
    fn best_radius(
        &self,
        splits: &[HeldOutSplit],
    ) -> Result<(Chosen, Vec<TriedRadius>), RankError> {
        let max_features = self.params.max_features;
        // Too few terms favour a longer radius than the terms that are kept in the end: on digit
        // (6,000 rows) searches of 50 terms took 2.81, with an AUC of .9534, those of 100 terms
        // 0.89, with .9577 (`python -m benches.studies.aurora_defaults DATA DATA2`).
        let n_terms = self.params.radius_terms.map_or(max_features, |n| n.min(max_features));
        let mut tried = if self.params.radius_terms.is_some() && self.have_many_rows(splits)? {
            self.raced(splits, n_terms)?
        } else {
            self.tried_around_the_best(splits, n_terms)?
        };
        tried.sort_by(|a, b| a.radius.total_cmp(&b.radius));
        let held_out = |chosen: &Chosen| -> Result<Vec<HeldOutScores>, RankError> {
            let of_split = |(split, path)| self.held_out(split, path, chosen.n_terms).transpose();
            splits.iter().zip(&chosen.paths).filter_map(of_split).collect()
        };
        let scores: Vec<_> = tried.iter().map(held_out).collect::<Result<_, _>>()?;
        let mut radii: Vec<TriedRadius> = tried.iter().map(Chosen::tried).collect();
        let best = best_of(&tried);
        let mut smallest = best;
        for other in (0..tried.len()).rev() {
            let error = standard_error(&scores[best], &scores[other], self.interrupt)?;
            radii[other].standard_error = error;
            let gap = tried[best].auc() - tried[other].auc();
            let is_close = error.is_some_and(|error| gap <= error);
            if other < best && is_close && !tried[other].has_left {
                smallest = other;
            }
        }
        let chosen = tried.swap_remove(smallest);
        if chosen.paths.iter().all(|path| path.ended || path.terms.len() == max_features) {
            return Ok((chosen, radii));
        }
        // The search is continued, not repeated: the first terms do not depend on how many follow.
        let Chosen { radius, paths, .. } = chosen;
        Ok((self.choose(splits, radius, max_features, Some(paths))?, radii))
    }

    /// Tries radii: three at first, then those between the best and its neighbours (DECISIONS A19).
    fn tried_around_the_best(
        &self,
        splits: &[HeldOutSplit],
        n_terms: usize,
    ) -> Result<Vec<Chosen>, RankError> {
        let mut tried: Vec<Chosen> = Vec::new();
        let mut radii = RADII.to_vec();
        while let Some(radius) = radii.pop().filter(|_| tried.len() < MOST_RADII) {
            tried.push(self.choose(splits, radius, n_terms, None)?);
            tried.sort_by(|a, b| a.radius.total_cmp(&b.radius));
            if radii.is_empty() {
                let best = best_of(&tried);
                // Halfway between logarithms: a radius scales all differences of scores, so that
                // ratios matter.
                let middle = |a: usize, b: usize| (tried[a].radius * tried[b].radius).sqrt();
                radii.extend((best + 1 < tried.len()).then(|| middle(best, best + 1)));
                radii.extend(best.checked_sub(1).map(|below| middle(below, best)));
            }
        }
        Ok(tried)
    }

    /// Tries radii in the stages of [`RACE`].
    fn raced(&self, splits: &[HeldOutSplit], n_terms: usize) -> Result<Vec<Chosen>, RankError> {
        let start = |&radius: &f64| self.choose(splits, radius, RACE[0].0.min(n_terms), None);
        let mut tried: Vec<Chosen> = RACE_RADII.iter().map(start).collect::<Result<_, _>>()?;
        for (&(_, n_left), &(stage, _)) in RACE.iter().zip(&RACE[1..]) {
            // Stable: of equals the smaller radius goes on.
            tried.sort_by(|a, b| a.has_left.cmp(&b.has_left).then(b.auc().total_cmp(&a.auc())));
            for chosen in &mut tried[n_left..] {
                chosen.has_left = true;
            }
            for chosen in &mut tried[..n_left] {
                let paths = std::mem::take(&mut chosen.paths);
                *chosen = self.choose(splits, chosen.radius, stage.min(n_terms), Some(paths))?;
            }
        }
        Ok(tried)
    }

    /// Whether there are enough distinct training rows for a race of radii.
    fn have_many_rows(&self, splits: &[HeldOutSplit]) -> Result<bool, RankError> {
        for HeldOutSplit { kept, binarizer, .. } in splits {
            // Copies of rows do not count, so that the choice is that of weighted rows.
            let is_many = kept.len() > RACE_ROWS
                && self.observations(kept, binarizer, None)?.len() > RACE_ROWS;
            if !is_many {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The held-out rows, scored by the first terms of a path.
    fn held_out(
        &self,
        split: &HeldOutSplit,
        path: &Path,
        n_terms: usize,
    ) -> Result<Option<HeldOutScores>, RankError> {
        let n_terms = n_terms.min(path.steps.len());
        let Some((rows, last)) = split.held_out.as_ref().zip(n_terms.checked_sub(1)) else {
            return Ok(None);
        };
        let rows = self.observations(rows, &split.binarizer, None)?;
        let scores = scores_of(&rows, &path.terms[..n_terms], &path.steps[last].weights);
        Ok(Some(HeldOutScores { scores, n_pos: rows.n_pos, shares: rows.shares }))
    }

    /// The model of all rows; after cross-validation, with terms searched for on all rows, as many
    /// as the folds chose.
    fn finish(
        &self,
        splits: Vec<HeldOutSplit>,
        all: &[u32],
        mut chosen: Chosen,
        tried: Vec<TriedRadius>,
    ) -> Result<Aurora, RankError> {
        // The terms of a fold have its own thresholds, so that all rows need their own aim.
        let of_aims = splits.iter().filter_map(|split| split.aim.as_ref());
        let n_aimed = of_aims.map(|aim| aim.terms.len()).max();
        if let Ok([split]) = <[HeldOutSplit; 1]>::try_from(splits) {
            let path = chosen.paths.swap_remove(0);
            return self.model(split.binarizer, all, split.aim.as_ref(), path, chosen, tried);
        }
        let binarizer = self.binarizer(all)?;
        let search = |n_terms: usize, aim: Option<&Aim>| {
            let rows = self.observations(all, &binarizer, aim)?;
            self.search(&rows, None, chosen.radius, n_terms, None, Path::new(self.first_gain()))
        };
        let aim = match n_aimed {
            None => None,
            Some(n_terms) => Aim::of(&search(n_terms, None)?, n_terms),
        };
        let path = search(chosen.n_terms, aim.as_ref())?;
        chosen.n_terms = path.terms.len();
        self.model(binarizer, all, aim.as_ref(), path, chosen, tried)
    }

    /// The first terms of a path, with their weights refitted to all rows (DECISIONS A21, A22).
    fn model(
        &self,
        binarizer: Binarizer,
        all: &[u32],
        aim: Option<&Aim>,
        mut path: Path,
        chosen: Chosen,
        radii: Vec<TriedRadius>,
    ) -> Result<Aurora, RankError> {
        let n_terms = chosen.n_terms;
        let mut last = 0.5;
        let gains = path.steps[..n_terms].iter().map(|step| {
            let gain = step.train.ramp - last;
            last = step.train.ramp;
            gain
        });
        let gains = gains.collect();
        let values = match n_terms.checked_sub(1) {
            None => Vec::new(),
            Some(last) => {
                let mut weights = path.steps.swap_remove(last).weights;
                let rows = self.observations(all, &binarizer, aim)?;
                let (terms, monotonic) = (&path.terms[..n_terms], &self.params.monotonic);
                climb_to_the_end(&rows, terms, monotonic, &mut weights, self.interrupt)?;
                weights
            }
        };
        Aurora::new(
            AuroraFields {
                n_levels: self.columns.iter().map(Column::n_levels).collect(),
                binarizer,
                terms: path.terms,
                values,
                threshold: 0.0,
                gains,
                radius: chosen.radius,
                radii,
                path: chosen.steps,
                criterion: self.params.criterion,
                n_folds: chosen.n_folds,
                enough: path.enough,
                seed: self.earlier.map_or(self.params.seed, Aurora::seed),
            },
            self.columns,
            self.labels,
        )
    }
}

/// The place of the search whose held-out rows are ranked best, among those that have not left; the
/// first of equals.
fn best_of(tried: &[Chosen]) -> usize {
    let running = (0..tried.len()).filter(|&place| !tried[place].has_left);
    let higher = |best: usize, other: usize| {
        if tried[other].auc() > tried[best].auc() { other } else { best }
    };
    running.reduce(higher).unwrap_or(0)
}

/// Standard error of the difference of the AUCs of two scores of the same held-out rows, averaged
/// over the splits, by [`DeLong`]; `None` if a class has one row, or no term was found.
fn standard_error(
    a: &[HeldOutScores],
    b: &[HeldOutScores],
    interrupt: &Interrupt,
) -> Result<Option<f64>, RankError> {
    let mut variance = (!a.is_empty()).then_some(0.0);
    for (a, b) in a.iter().zip(b) {
        interrupt.check()?;
        let scores = [&a.scores[..], &b.scores[..]];
        let found = DeLong::weighted(&scores, &a.positive(), &a.shares)?;
        variance = variance.zip(found.difference_variance(0, 1)).map(|(sum, found)| sum + found);
    }
    Ok(variance.map(|variance| variance.sqrt() / a.len() as f64))
}

/// The mean of paths, step by step: a path that has ended keeps its last value.
fn mean_steps(paths: &[Path]) -> Vec<PathStep> {
    let n_steps = paths.iter().map(|path| path.steps.len()).max().unwrap_or(0);
    let step = |number: usize| {
        let at = || {
            let ended = |path: &Path| path.steps.len().checked_sub(1).map(|last| number.min(last));
            paths.iter().filter_map(move |path| ended(path).map(|step| &path.steps[step]))
        };
        let n = at().count() as f64;
        let mean = |value: &dyn Fn(&SelectionStep) -> f64| at().map(value).sum::<f64>() / n;
        let validation = |value: &dyn Fn(Statistics) -> f64| {
            at().filter_map(|step| step.validation).map(value).sum::<f64>() / n
        };
        PathStep {
            train: Statistics {
                ramp: mean(&|step| step.train.ramp),
                auc: mean(&|step| step.train.auc),
            },
            validation: at().all(|step| step.validation.is_some()).then(|| Statistics {
                ramp: validation(&|found| found.ramp),
                auc: validation(&|found| found.auc),
            }),
            smoothed: None,
        }
    };
    (0..n_steps).map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aurora::SearchDepth;
    use crate::aurora::observations::tests::ExampleRows;
    use crate::data::mix;

    #[test]
    fn a_race_goes_on_with_the_radii_of_highest_auc_of_held_out_rows_at_each_stage() {
        let rows = ExampleRows::new(400, 3);
        let columns = &rows.columns();
        let labels = &Labels::new(&rows.positive, None).unwrap();
        let depth = SearchDepth { shortlist: 2, midpoints: 4, combined: 4, circles: 1 };
        let params = &AuroraParams { depth, patience: None, ..AuroraParams::default() };
        let fit =
            AuroraFit { columns, labels, params, earlier: None, interrupt: &Interrupt::default() };
        let (splits, _) = fit.splits().unwrap();
        // Some radius, searched for so many terms from the start.
        let alone =
            |radius: f64, n_terms: usize| fit.choose(&splits, radius, n_terms, None).unwrap();
        for n_terms in [10, 30, 60, 90] {
            let mut expected = Vec::new();
            let mut running = RACE_RADII.to_vec();
            for (stage, n_left) in RACE {
                let mut found: Vec<Chosen> =
                    running.iter().map(|&radius| alone(radius, stage.min(n_terms))).collect();
                found.sort_by(|a, b| b.auc().total_cmp(&a.auc()));
                let goes_on = if stage == 75 { found.len() } else { n_left };
                running = found[..goes_on].iter().map(|chosen| chosen.radius).collect();
                if stage == 75 {
                    expected.extend(found.into_iter().map(|chosen| (chosen, false)));
                } else {
                    expected
                        .extend(found.split_off(n_left).into_iter().map(|chosen| (chosen, true)));
                }
            }
            let found = fit.raced(&splits, n_terms).unwrap();
            assert_eq!(found.len(), RACE_RADII.len());
            for (alone, has_left) in expected {
                let raced = found.iter().find(|raced| raced.radius == alone.radius).unwrap();
                assert_eq!(raced.has_left, has_left, "{} of {n_terms} terms", raced.radius);
                assert_eq!(raced.tried(), alone.tried());
                assert_eq!(raced.paths[0].terms, alone.paths[0].terms);
                assert_eq!(raced.steps, alone.steps);
            }
        }
    }

    #[test]
    fn copies_of_rows_are_not_many_rows() {
        let rows = ExampleRows::new(50, 4);
        let copies: Vec<usize> = (0..50).cycle().take(2 * RACE_ROWS).collect();
        let rows = rows.at(&copies);
        let (columns, labels) = (&rows.columns(), &Labels::new(&rows.positive, None).unwrap());
        let params = &AuroraParams { selection: Selection::Keep, ..AuroraParams::default() };
        let interrupt = &Interrupt::default();
        let fit = AuroraFit { columns, labels, params, earlier: None, interrupt };
        assert!(!fit.have_many_rows(&fit.splits().unwrap().0).unwrap());

        // Enough that those few that are equal by chance do not matter.
        let numbers: Vec<f64> = (0..RACE_ROWS as u32 + 1000).map(f64::from).collect();
        let positive: Vec<bool> = (0..numbers.len()).map(|row| row % 2 == 0).collect();
        let labels = &Labels::new(&positive, None).unwrap();
        // A number of many values has few thresholds, so that few rows differ.
        let columns = &Columns::from_row_major(&numbers, 1).unwrap();
        let fit = AuroraFit { columns, labels, params, earlier: None, interrupt };
        assert!(!fit.have_many_rows(&fit.splits().unwrap().0).unwrap());
        let numbers: Vec<f64> =
            (0..4 * numbers.len()).map(|place| (mix(place as u64) % 1000) as f64).collect();
        let columns = &Columns::from_row_major(&numbers, 4).unwrap();
        let fit = AuroraFit { columns, labels, params, earlier: None, interrupt };
        assert!(fit.have_many_rows(&fit.splits().unwrap().0).unwrap());
    }
}
