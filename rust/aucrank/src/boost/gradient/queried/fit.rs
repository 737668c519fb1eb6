//! A fit to rows elsewhere: their codes, and the training rows of each bag.

use std::cell::OnceCell;
use std::sync::Arc;

use super::super::bags::{BagFit, RoundTerms, average, bag_seed};
use super::super::begun::{Bag, GradientFold};
use super::super::draws::Draw;
use super::super::gain::mass_shift;
use super::super::grow::{GradientGrower, TreePlan};
use super::super::grown::Grown;
use super::super::held_out_params::{HeldOutMeasure, HeldOutRows};
use super::super::histogram::BinLayout;
use super::super::loss::{Loss, mean_log_loss};
use super::super::model::{GradientBoosted, GradientFields};
use super::super::pair_merit::{StepSums, newton_steps};
use super::super::pair_steps::PairSteps;
use super::super::params::GradientParams;
use super::super::rate_columns::BoosterRates;
use super::super::series::in_one_series;
use super::super::source::{BagSource, FitSource, NextTree};
use super::super::sums::LeafGradients;
use super::super::tree::GradientTree;
use super::ask::{
    AskMass, BagStart, BagStep, BagWant, CellSums, CellWant, LevelMap, MassSums, TreeDraw,
};
use super::tree::{BagLine, QueriedTree};
use super::trial::{AskTrial, PairStep, TrialSums, TrialWant};
use crate::boost::gradient::code_tree::CodeTree;
use crate::boost::gradient::fit_rows::{RowMass, RowMassScale};
use crate::boost::gradient::level_codes::KeptLevels;
use crate::data::{
    CodeTest, DealOrder, FeatureBins, LevelSteps, N_RATE_FOLDS, RowFolds, SEED_OF_RATES,
    check_monotonic, mix,
};
use crate::formula::Test;
use crate::rows::{
    AskLevels, FitId, NumberedRows, PairCodes, Question, RateCodes, RateFolds, Rows, SentSteps,
    StepLog, View, pair_of_number, together,
};
use crate::{Interrupt, RankError};

/// Fits a model to rows elsewhere.
pub(in crate::boost::gradient) fn fit_gradient_boosting_rows(
    rows: NumberedRows<'_>,
    params: &GradientParams,
    interrupt: &Interrupt,
) -> Result<GradientBoosted, RankError> {
    let bags = fit_bags(rows, params, interrupt)?;
    let mut parts: Vec<GradientFields> = bags.into_iter().map(Bag::into_final).collect();
    let parts = if params.n_bags == 1 {
        parts.swap_remove(0).without_unasked_pairs()
    } else {
        average(parts)
    };
    Ok(GradientBoosted::new(parts))
}

/// Fits a model to rows elsewhere without each fold.
pub(in crate::boost::gradient) fn fit_gradient_folds_rows(
    rows: NumberedRows<'_>,
    n_folds: u16,
    params: &GradientParams,
    interrupt: &Interrupt,
) -> Result<Vec<GradientFold>, RankError> {
    params.check_folds()?;
    let order = FitId::new(rows.fit_number).order(rows.rows, params.seed, interrupt)?;
    let n_folds = usize::from(order.folds(n_folds).n_folds());
    if n_folds < 2 {
        let (name, value) = ("n_folds", n_folds.to_string());
        let rule = "at least 2, each with rows of both classes";
        return Err(RankError::BadParameter { name, value, rule });
    }
    params.validate(rows.rows.frame().features().len())?;
    let params = GradientParams { n_bags: n_folds, ..params.clone() };
    let bags = fit_bags(rows, &params, interrupt)?;
    Ok(bags.into_iter().map(GradientFold::new).collect())
}

/// Fits all bags, whose scores need no threshold.
fn fit_bags(
    NumberedRows { rows, fit_number }: NumberedRows<'_>,
    params: &GradientParams,
    interrupt: &Interrupt,
) -> Result<Vec<Bag<()>>, RankError> {
    let frame = rows.frame();
    params.validate(frame.features().len())?;
    check_monotonic(&params.monotonic, &frame.n_levels())?;
    check_params(params)?;
    check_bins(params, frame.features())?;
    frame.total().check_classes()?;
    let elsewhere = RowsElsewhere { rows, fit: FitId::new(fit_number), interrupt };
    let bags = in_one_series(&QueriedFit::new(&elsewhere)?, params)?;
    Ok(bags.into_iter().map(Bag::without_state).collect())
}

/// Checks that a fit needs only sums.
fn check_params(params: &GradientParams) -> Result<(), RankError> {
    let refuse = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
    if params.loss != Loss::Log {
        let rule = "'log' where rows are read in parts";
        return refuse("loss", format!("{:?}", params.loss), rule);
    }
    if params.held_out.is_some_and(|stopping| stopping.measure == HeldOutMeasure::Auc) {
        return refuse("scoring", "'auc'".to_owned(), "'loss' where rows are read in parts");
    }
    if let Some(value) = params.interactions.chosen_pairs() {
        let rule = "any or groups of features where rows are read in parts";
        return refuse("interactions", value, rule);
    }
    Ok(())
}

/// Checks that rows are coded by the bins of a fit.
fn check_bins(params: &GradientParams, features: &[FeatureBins]) -> Result<(), RankError> {
    let is_fine = |bins: &FeatureBins| match bins {
        FeatureBins::Numeric { .. } => bins.n_bins() <= params.max_bins,
        FeatureBins::Categorical { .. } => !bins.pools_levels(),
    };
    if features.iter().all(is_fine) {
        return Ok(());
    }
    let (name, value) = ("max_bins", params.max_bins.to_string());
    Err(RankError::BadParameter { name, value, rule: "that of the rows, with raw rates of levels" })
}

/// The codes of a fit.
pub(super) struct FitCodes {
    kept: KeptLevels,
    /// The codes that differ from those of the holder.
    map: LevelMap,
    features: Vec<FeatureBins>,
}

impl FitCodes {
    fn new(held: &[FeatureBins], rows_of_levels: Vec<Vec<u64>>, n_rows: u64) -> Self {
        let of_categories = |(bins, rows): (&FeatureBins, Vec<u64>)| {
            matches!(bins, FeatureBins::Categorical { .. }).then_some(rows)
        };
        let rows_of_levels: Vec<Option<Vec<u64>>> =
            held.iter().zip(rows_of_levels).map(of_categories).collect();
        let kept = KeptLevels::new(&rows_of_levels, n_rows);
        let differ = |(kept, held): (&Option<Vec<u32>>, &FeatureBins)| {
            kept.clone().filter(|kept| kept.len() < held.n_bins())
        };
        let map = LevelMap(kept.of_feature.iter().zip(held).map(differ).collect());
        Self { features: map.features(held), kept, map }
    }

    /// The test of raw values that is equivalent to one of codes.
    pub(super) fn raw_test(&self, test: &CodeTest) -> Test {
        self.kept.raw_test(test, &self.features)
    }
}

/// Rows elsewhere, and the fit that queries them.
struct RowsElsewhere<'a> {
    rows: &'a dyn Rows,
    fit: FitId,
    interrupt: &'a Interrupt,
}

impl RowsElsewhere<'_> {
    fn ask<Q: Question>(&self, view: &View, question: Q) -> Result<Q::Answer, RankError> {
        self.fit.ask(self.rows, view.clone(), question, self.interrupt)
    }

    /// The order of all rows by a seed.
    fn order(&self, seed: u64) -> Result<DealOrder, RankError> {
        self.fit.order(self.rows, seed, self.interrupt)
    }

    /// The sums of a trial, at the scores of a bag.
    fn trial(
        &self,
        log: &StepLog<'_, BagStep>,
        want: impl Fn(&SentSteps<BagStep>) -> TrialWant,
    ) -> Result<TrialSums, RankError> {
        let ask = |steps| AskTrial { want: want(&steps), steps };
        log.ask(self.rows, &View::All, ask, self.interrupt)
    }
}

/// The rows of a fit elsewhere.
struct QueriedFit<'a> {
    elsewhere: &'a RowsElsewhere<'a>,
    codes: Arc<FitCodes>,
    /// Pairs of features whose pairs of categories trees may test, once chosen.
    pairs: OnceCell<Vec<[usize; 2]>>,
}

/// The rows of a bag.
struct QueriedRows {
    /// Seed of the bag.
    seed: u64,
    learned: View,
    held_out: Option<View>,
    total: RowMass,
    scale: RowMassScale,
    rates: Arc<BoosterRates>,
    /// What the columns of rates are made of.
    of_rates: RatesOfRows,
}

/// Columns of rates from the rows of a bag.
#[derive(Clone, Default)]
struct RatesOfRows {
    /// `None` if no row can be left out.
    folds: Option<RateFolds>,
    /// For each column its feature and its steps.
    steps: Vec<(usize, LevelSteps)>,
    codes: Vec<RateCodes>,
    pairs: Vec<PairCodes>,
}

/// The choice of held-out rows of each bag.
enum Dealing {
    None,
    Share(f64),
    Folds(Arc<RowFolds>),
}

impl<'a> QueriedFit<'a> {
    fn new(elsewhere: &'a RowsElsewhere<'a>) -> Result<Self, RankError> {
        let frame = elsewhere.rows.frame();
        let rows_of_levels = elsewhere.ask(&View::All, AskLevels)?.0;
        let codes = FitCodes::new(frame.features(), rows_of_levels, frame.total().rows);
        Ok(Self { elsewhere, codes: Arc::new(codes), pairs: OnceCell::new() })
    }

    fn rows(
        &self,
        params: &GradientParams,
        number: usize,
        (learned, held_out): (View, Option<View>),
    ) -> Result<QueriedRows, RankError> {
        let seed = bag_seed(params.seed, number);
        let mut scale = RowMassScale::of(0);
        let mut sums = self.mass(&learned, scale)?;
        let of_rows = RowMassScale::of(sums.weight.pos + sums.weight.neg);
        if of_rows != scale && self.elsewhere.rows.frame().is_weighted() {
            scale = of_rows;
            sums = self.mass(&learned, scale)?;
        }
        let total = RowMass { of_classes: sums.mass, n_rows: sums.weight.rows };
        let of_rates = self.rates(params, seed, &learned)?;
        let rates = self.columns(&of_rates, Vec::new());
        Ok(QueriedRows { seed, learned, held_out, total, scale, rates, of_rates })
    }

    fn columns(&self, of_rates: &RatesOfRows, pairs: Vec<PairSteps>) -> Arc<BoosterRates> {
        let steps = of_rates.steps.clone();
        Arc::new(BoosterRates::of_steps(self.codes.features.len(), steps, pairs))
    }

    /// The same rows with columns of the rates of pairs of categories.
    fn with_pairs(
        &self,
        params: &GradientParams,
        bag: &QueriedRows,
        pairs: &[[usize; 2]],
    ) -> Result<QueriedRows, RankError> {
        let RowsElsewhere { rows, fit, interrupt } = self.elsewhere;
        let mut of_rates = RatesOfRows { pairs: Vec::new(), ..bag.of_rates.clone() };
        if of_rates.folds.is_none() {
            of_rates.folds = self.rate_folds(bag.seed)?;
        }
        let mut steps_of_pairs = Vec::new();
        if let Some(folds) = of_rates.folds.clone() {
            for &features in pairs {
                let mut found =
                    folds.pair_rates(*rows, fit, &bag.learned, &[features], interrupt)?;
                let Some((numbers, rates)) = found.pop() else { return Err(bad()) };
                let n_first = self.n_levels()[features[0]].unwrap_or(0);
                let levels: Vec<[u32; 2]> = numbers.iter().copied().map(pair_of_number).collect();
                let all = PairSteps::listed(features, n_first, &levels);
                let Some((steps, cuts)) = all.stepped(&rates, params.max_bins) else { continue };
                let step = |pair, fold: Option<u16>| {
                    cuts.step(match fold {
                        Some(fold) => rates.outside(pair, fold),
                        None => rates.overall(pair),
                    })
                };
                let folds = Arc::clone(&folds.0);
                let (codes, of_others) = (cuts.0.clone(), cuts.step(0.0));
                of_rates
                    .pairs
                    .push(PairCodes::new(features, codes, folds, &numbers, step, of_others));
                steps_of_pairs.push(steps.without_others());
            }
        }
        let (learned, held_out) = (bag.learned.clone(), bag.held_out.clone());
        let rates = self.columns(&of_rates, steps_of_pairs);
        let QueriedRows { seed, total, scale, .. } = *bag;
        Ok(QueriedRows { seed, learned, held_out, total, scale, rates, of_rates })
    }

    /// The folds by which rates are learned; `None` if no row can be left out.
    fn rate_folds(&self, seed: u64) -> Result<Option<RateFolds>, RankError> {
        let folds = self.elsewhere.order(mix(seed ^ SEED_OF_RATES))?.folds(N_RATE_FOLDS);
        Ok((folds.n_folds() > 1).then(|| RateFolds(Arc::new(folds))))
    }

    /// The training rows of a bag, and its held-out rows.
    fn views(
        &self,
        params: &GradientParams,
        dealing: &Dealing,
        number: usize,
    ) -> Result<(View, Option<View>), RankError> {
        let view: &dyn Fn(bool) -> View = match dealing {
            Dealing::Share(share) => {
                let order = self.elsewhere.order(bag_seed(params.seed, number))?;
                let Some(part) = order.held_out(*share) else { return Ok((View::All, None)) };
                &move |inside| View::Held { part: part.clone(), inside }
            }
            Dealing::Folds(folds) if folds.n_folds() > 1 => {
                let fold = (number % usize::from(folds.n_folds())) as u16;
                &move |inside| View::Fold { folds: Arc::clone(folds), fold, inside }
            }
            Dealing::Folds(_) | Dealing::None => return Ok((View::All, None)),
        };
        Ok((view(false), Some(view(true))))
    }

    fn mass(&self, view: &View, scale: RowMassScale) -> Result<MassSums, RankError> {
        self.elsewhere.ask(view, AskMass { scale })
    }

    /// The columns of rates from some rows.
    fn rates(
        &self,
        params: &GradientParams,
        seed: u64,
        view: &View,
    ) -> Result<RatesOfRows, RankError> {
        let kept = &self.codes.kept;
        let features: Vec<usize> = kept.with_rates().map(|(feature, _)| feature).collect();
        if features.is_empty() {
            return Ok(RatesOfRows::default());
        }
        let Some(folds) = self.rate_folds(seed)? else { return Ok(RatesOfRows::default()) };
        let RowsElsewhere { rows, fit, interrupt } = self.elsewhere;
        let found = folds.rates(*rows, fit, view, features, interrupt)?;
        let mut all = RatesOfRows { folds: Some(folds.clone()), ..RatesOfRows::default() };
        for ((feature, levels), rates) in kept.with_rates().zip(found) {
            for steps in LevelSteps::of_feature(&rates, params.max_bins, levels) {
                let cuts = steps.cuts().to_vec();
                all.codes.push(folds.codes(feature, &rates, &steps, cuts));
                all.steps.push((feature, steps));
            }
        }
        Ok(all)
    }
}

impl<'s> FitSource for QueriedFit<'s> {
    type Bag = QueriedBag<'s>;
    type Dealt = QueriedRows;

    fn n_rows(&self) -> u64 {
        self.elsewhere.rows.frame().total().rows
    }

    fn interrupt(&self) -> &Interrupt {
        self.elsewhere.interrupt
    }

    fn deal(&self, params: &GradientParams) -> Result<Vec<QueriedRows>, RankError> {
        let dealing = match params.held_out.map(|stopping| stopping.rows) {
            None => Dealing::None,
            Some(HeldOutRows::Share(share)) => Dealing::Share(share),
            Some(HeldOutRows::Fold) => {
                let n_folds = params.n_bags.min(usize::from(u16::MAX) - 1) as u16;
                Dealing::Folds(Arc::new(self.elsewhere.order(params.seed)?.folds(n_folds)))
            }
        };
        let of_bag = |number| self.rows(params, number, self.views(params, &dealing, number)?);
        (0..params.n_bags).map(of_bag).collect()
    }

    fn deal_all(&self, params: &GradientParams) -> Result<Vec<QueriedRows>, RankError> {
        let of_bag = |number| self.rows(params, number, (View::All, None));
        let all: Vec<QueriedRows> = (0..params.n_bags).map(of_bag).collect::<Result<_, _>>()?;
        match self.pairs.get() {
            Some(pairs) => self.recoded(params, &all, pairs),
            None => Ok(all),
        }
    }

    fn goes_on(&self) -> bool {
        false
    }

    fn n_levels(&self) -> Vec<Option<u32>> {
        self.elsewhere.rows.frame().n_levels()
    }

    fn has_held_out(&self, bag: &QueriedRows) -> bool {
        bag.held_out.is_some()
    }

    fn recoded(
        &self,
        params: &GradientParams,
        dealt: &[QueriedRows],
        pairs: &[[usize; 2]],
    ) -> Result<Vec<QueriedRows>, RankError> {
        dealt.iter().map(|bag| self.with_pairs(params, bag, pairs)).collect()
    }

    fn set_pairs(&self, pairs: Vec<[usize; 2]>) {
        self.pairs.get_or_init(|| pairs);
    }

    fn gain(
        &self,
        bag: &QueriedRows,
        before: &StepLog<'s, BagStep>,
        after: &StepLog<'s, BagStep>,
    ) -> Result<[f64; 2], RankError> {
        let Some(held_out) = &bag.held_out else { return Err(bad()) };
        let weight = self.mass(held_out, bag.scale)?.weight;
        let shift = mass_shift(u128::from(weight.pos) + u128::from(weight.neg));
        let want = |steps: &SentSteps<BagStep>| {
            let log = after.number();
            TrialWant::Gain { shift, log, after: after.sent(steps.are_all()) }
        };
        match self.elsewhere.trial(before, want)? {
            TrialSums::Gain(sums) => Ok(sums.gain()),
            _ => Err(bad()),
        }
    }

    fn merits(
        &self,
        bag: &QueriedRows,
        state: &StepLog<'s, BagStep>,
        pairs: &[[usize; 2]],
    ) -> Result<Vec<f64>, RankError> {
        let mut merits = Vec::with_capacity(pairs.len());
        // One after the other: each may have as many pairs of categories as there are rows.
        for &features in pairs {
            let want = |_: &_| TrialWant::Steps(vec![features]);
            let TrialSums::Steps(mut found) = self.elsewhere.trial(state, want)? else {
                return Err(bad());
            };
            let (pairs, sums): (Vec<u64>, Vec<StepSums>) =
                found.pop().into_iter().flatten().unzip();
            let steps = newton_steps(&sums, bag.total.n_rows);
            let step = PairStep { features, pairs, steps };
            match self.elsewhere.trial(state, |_| TrialWant::Merits(vec![step.clone()]))? {
                TrialSums::Merits(sums) => merits.extend(sums.first().map(|sums| sums.merit())),
                _ => return Err(bad()),
            }
        }
        Ok(merits)
    }

    fn replay(&self, _bags: &mut [BagFit<'_, QueriedBag<'s>>]) -> Result<(), RankError> {
        Ok(())
    }

    fn begin<'a>(
        &'a self,
        params: &'a GradientParams,
        dealt: &[QueriedRows],
        terms: RoundTerms<'a>,
    ) -> Result<Vec<BagFit<'a, QueriedBag<'s>>>, RankError> {
        let begin = |rows: &QueriedRows| {
            let draws = params.subsample < 1.0;
            let start = BagStart {
                learned: rows.learned.clone(),
                held_out: rows.held_out.clone(),
                draw: draws.then(|| (Draw::share(params.subsample), rows.seed)),
                score: 0.0,
                scale: rows.scale,
                levels: self.codes.map.clone(),
                rates: rows.of_rates.codes.clone(),
                pairs: rows.of_rates.pairs.clone(),
            };
            let source = QueriedBag {
                elsewhere: self.elsewhere,
                codes: Arc::clone(&self.codes),
                features: start.features(self.elsewhere.rows.frame().features()).into(),
                rates: Arc::clone(&rows.rates),
                total: rows.total,
                has_held_out: rows.held_out.is_some(),
                log: StepLog::new(&self.elsewhere.fit),
                refit: (StepLog::new(&self.elsewhere.fit), Vec::new()),
                start,
                next: None,
            };
            BagFit::new(source, params, rows.seed, terms, self.elsewhere.interrupt)
        };
        Ok(dealt.iter().map(begin).collect())
    }
}

fn bad() -> RankError {
    RankError::BadAnswer("it answers another question".to_owned())
}

/// The rows of a bag elsewhere.
pub(super) struct QueriedBag<'a> {
    elsewhere: &'a RowsElsewhere<'a>,
    codes: Arc<FitCodes>,
    /// Meaning of the codes, with the columns of rates.
    features: Arc<[FeatureBins]>,
    rates: Arc<BoosterRates>,
    total: RowMass,
    has_held_out: bool,
    start: BagStart,
    log: StepLog<'a, BagStep>,
    /// The steps by which the values of leaves are set again, and the trees before.
    refit: (StepLog<'a, BagStep>, Vec<Arc<CodeTree>>),
    /// The tree that has begun, if the sums of its root are known.
    next: Option<BegunTree>,
}

/// A tree whose root is known.
struct BegunTree {
    draw: TreeDraw,
    columns: Vec<(usize, usize)>,
    root: Option<CellSums>,
}

impl QueriedBag<'_> {
    /// The columns of a tree of some features, each with the number of its codes.
    fn columns(&self, features: Vec<usize>) -> Vec<(usize, usize)> {
        let layout = BinLayout::new(&self.features, self.rates.with_rates(features));
        let columns = layout.features.iter();
        columns.map(|&column| (column, self.features[column].n_codes())).collect()
    }

    /// Begins a tree; the first one begins the bag.
    fn begin(&mut self, draw: TreeDraw) {
        if self.log.steps().is_empty() {
            self.log.push(BagStep::Begin(Arc::new(self.start.clone())));
        }
        self.log.push(BagStep::Draw(draw));
    }
}

impl<'a> BagSource for QueriedBag<'a> {
    type State = StepLog<'a, BagStep>;
    type Line<'l> = &'l dyn Rows;

    fn total(&self) -> RowMass {
        self.total
    }

    fn n_levels(&self) -> Vec<Option<u32>> {
        self.elsewhere.rows.frame().n_levels()
    }

    fn pairs(&self) -> Vec<PairSteps> {
        self.rates.pairs().to_vec()
    }

    fn start(&mut self, score: f64) {
        self.start.score = score;
    }

    fn has_held_out(&self) -> bool {
        self.has_held_out
    }

    fn grow(
        &mut self,
        rows: &dyn Rows,
        plan: TreePlan<'_>,
        draws: bool,
    ) -> Result<Grown, RankError> {
        let draw = TreeDraw { seed: plan.seed, draws };
        let columns = self.columns(plan.features.clone());
        let is_begun = |next: &BegunTree| next.draw == draw && next.columns == columns;
        let next = self.next.take().filter(is_begun);
        if next.is_none() {
            self.begin(draw);
        }
        let (codes, rates) = (Arc::clone(&self.codes), Arc::clone(&self.rates));
        let is_needed = plan.is_needed;
        let raw_test =
            |test: &CodeTest| rates.raw_test(test).unwrap_or_else(|| codes.raw_test(test));
        let grower = GradientGrower::new(plan, &self.features, &rates, &raw_test);
        grower.grow(&mut QueriedTree {
            bag: BagLine { rows, log: &mut self.log, interrupt: self.elsewhere.interrupt },
            columns,
            root: next.and_then(|next| next.root),
            mass_unit: self.total.unit(),
            n_cells: 0,
            is_needed,
        })
    }

    fn add(
        &mut self,
        rows: &dyn Rows,
        grown: Grown,
        next: NextTree,
    ) -> Result<Option<f64>, RankError> {
        self.log.push(BagStep::Tree(Arc::new(CodeTree::of(&grown))));
        if !self.has_held_out {
            return Ok(None);
        }
        // The same query gets the sums for the root of the next tree.
        let draw = TreeDraw { seed: next.seed, draws: true };
        let columns = self.columns(next.features);
        self.begin(draw);
        let root = CellWant { cell: 0, is_counted: false };
        let want = BagWant {
            measures: true,
            sides: Vec::new(),
            columns: columns.clone(),
            cells: vec![root],
            leaves: None,
        };
        let line = BagLine { rows, log: &mut self.log, interrupt: self.elsewhere.interrupt };
        let mut found = line.ask(&want)?;
        self.next = Some(BegunTree { draw, columns, root: found.cells.pop() });
        Ok(Some(mean_log_loss(found.loss)))
    }

    fn take_off(&mut self, trees: &[GradientTree]) -> Result<(), RankError> {
        let steps = self.log.steps().iter().enumerate();
        let ends = steps.filter(|(_, step)| matches!(step, BagStep::Tree(_)));
        let ends: Vec<usize> = ends.map(|(place, _)| place + 1).collect();
        let n_kept = ends.len().saturating_sub(trees.len());
        self.log.cut(n_kept.checked_sub(1).map_or(0, |last| ends[last]));
        self.next = None;
        Ok(())
    }

    fn total_of_all(&self, rows: &dyn Rows) -> Result<RowMass, RankError> {
        let RowsElsewhere { fit, interrupt, .. } = self.elsewhere;
        let ask = AskMass { scale: self.start.scale };
        let MassSums { weight, mass } = fit.ask(rows, View::All, ask, interrupt)?;
        Ok(RowMass { of_classes: mass, n_rows: weight.rows })
    }

    fn restart(&mut self, score: f64) {
        let (log, trees) = &mut self.refit;
        log.cut(0);
        log.push(BagStep::Begin(Arc::new(BagStart { score, ..self.start.clone() })));
        *trees = Vec::new();
        for step in self.log.steps() {
            if let BagStep::Tree(tree) = step {
                trees.push(Arc::clone(tree));
            }
        }
    }

    fn leaf_sums(
        &mut self,
        rows: &dyn Rows,
        number: usize,
    ) -> Result<Vec<LeafGradients>, RankError> {
        let (log, trees) = &mut self.refit;
        let want = BagWant { leaves: Some(Arc::clone(&trees[number])), ..BagWant::default() };
        let line = BagLine { rows, log, interrupt: self.elsewhere.interrupt };
        Ok(line.ask(&want)?.leaves)
    }

    fn add_leaves(&mut self, number: usize, values: &[f64]) {
        let (log, trees) = &mut self.refit;
        log.push(BagStep::Tree(Arc::new(trees[number].with_values(values))));
    }

    fn into_state(self) -> Self::State {
        self.log
    }

    fn take_up(&mut self, log: Self::State) {
        self.log = log;
    }

    fn side_by_side<'b>(
        bags: Vec<&mut BagFit<'b, Self>>,
        work: impl Fn(&mut BagFit<'b, Self>, &dyn Rows) -> Result<(), RankError> + Sync,
    ) -> Result<(), RankError> {
        let Some(first) = bags.first() else { return Ok(()) };
        let RowsElsewhere { rows, interrupt, .. } = first.source.elsewhere;
        let work = &work;
        let works = bags.into_iter().map(|bag| move |rows: &dyn Rows| work(bag, rows));
        together(*rows, works.collect(), interrupt).map(drop)
    }
}
