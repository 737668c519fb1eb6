//! A fit to rows elsewhere: their codes, and the training rows of each bag.

use std::cell::OnceCell;
use std::sync::Arc;

use super::super::bags::{BagFit, RoundTerms, average, bag_seed};
use super::super::best_split::SearchMemory;
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
use super::super::tree::GradientTree;
use super::ask::{
    BagRowsAsk, CellAsk, CellGrowth, CellSums, GradientAsk, GradientSums, GrowAsk, LevelMap,
    MassSums, SentTree,
};
use super::tree::QueriedTree;
use super::tree::{BagLine, Talk, Work};
use super::trial::{PairStep, TrialSums, TrialWant};
use crate::boost::gradient::code_tree::CodeTree;
use crate::boost::gradient::fit_rows::{RowMass, RowMassScale};
use crate::boost::gradient::level_codes::KeptLevels;
use crate::data::{
    CodeTest, FeatureBins, N_RATE_FOLDS, RateSteps, RowFolds, SEED_OF_RATES, check_monotonic, mix,
};
use crate::formula::Test;
use crate::rows::{
    AskLevels, FitId, NumberedRows, PairCodes, RateCodes, RateFolds, View, pair_of_number,
};
use crate::{Interrupt, RankError};

/// Fits a model to rows elsewhere.
pub(in crate::boost::gradient) fn fit_gradient_boosting_rows(
    rows: NumberedRows<'_>,
    params: &GradientParams,
    interrupt: &Interrupt,
) -> Result<GradientBoosted, RankError> {
    let mut bags = fit_bags(rows, params, interrupt)?;
    let parts = if params.n_bags == 1 {
        bags.swap_remove(0).without_unasked_pairs()
    } else {
        average(bags)
    };
    Ok(GradientBoosted::new(parts))
}

/// Fits a model to rows elsewhere without each fold.
pub(in crate::boost::gradient) fn fit_gradient_folds_rows(
    rows: NumberedRows<'_>,
    n_folds: u16,
    params: &GradientParams,
    interrupt: &Interrupt,
) -> Result<Vec<GradientBoosted>, RankError> {
    params.check_folds()?;
    let order = FitId::new(rows.fit_number).order(rows.rows, params.seed, interrupt)?;
    let n_folds = usize::from(order.folds(n_folds).n_folds());
    if n_folds < 2 {
        let (name, value) = ("n_folds", n_folds.to_string());
        let rule = "at least 2, each with rows of both classes";
        return Err(RankError::BadParameter { name, value, rule });
    }
    let params = GradientParams { n_bags: n_folds, ..params.clone() };
    let bags = fit_bags(rows, &params, interrupt)?;
    Ok(bags.into_iter().map(GradientBoosted::new).collect())
}

/// Fits all bags, whose scores need no threshold.
fn fit_bags(
    NumberedRows { rows, fit_number }: NumberedRows<'_>,
    params: &GradientParams,
    interrupt: &Interrupt,
) -> Result<Vec<GradientFields>, RankError> {
    let frame = rows.frame();
    params.validate(frame.features().len())?;
    check_monotonic(&params.monotonic, &frame.n_levels())?;
    check_params(params)?;
    check_bins(params, frame.features())?;
    frame.total().check_classes()?;
    let talk = Talk::new(rows, FitId::new(fit_number), interrupt);
    let bags = in_one_series(&QueriedFit::new(&talk)?, params)?;
    Ok(bags.into_iter().map(|bag| bag.parts).collect())
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

/// The rows of a fit elsewhere.
struct QueriedFit<'a> {
    talk: &'a Talk<'a>,
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
    steps: Vec<(usize, RateSteps)>,
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
    fn new(talk: &'a Talk<'a>) -> Result<Self, RankError> {
        let frame = talk.rows.frame();
        let rows_of_levels = talk.fit.ask(talk.rows, View::All, AskLevels, talk.interrupt)?.0;
        let codes = FitCodes::new(frame.features(), rows_of_levels, frame.total().rows);
        Ok(Self { talk, codes: Arc::new(codes), pairs: OnceCell::new() })
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
        if of_rows != scale && self.talk.rows.frame().is_weighted() {
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
        let Talk { rows, fit, interrupt, .. } = self.talk;
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
        let folds = self.talk.order(mix(seed ^ SEED_OF_RATES))?.folds(N_RATE_FOLDS);
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
                let order = self.talk.order(bag_seed(params.seed, number))?;
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
        match self.talk.ask(GradientAsk::Mass { view: view.clone(), scale })? {
            GradientSums::Mass(sums) => Ok(sums),
            _ => Err(bad()),
        }
    }

    /// The columns of rates from some rows.
    fn rates(
        &self,
        params: &GradientParams,
        seed: u64,
        view: &View,
    ) -> Result<RatesOfRows, RankError> {
        let kept = &self.codes.kept;
        let features = kept.with_rare_levels();
        if features.is_empty() {
            return Ok(RatesOfRows::default());
        }
        let Some(folds) = self.rate_folds(seed)? else { return Ok(RatesOfRows::default()) };
        let Talk { rows, fit, interrupt, .. } = self.talk;
        let found = folds.rates(*rows, fit, view, features.clone(), interrupt)?;
        let mut all = RatesOfRows { folds: Some(folds.clone()), ..RatesOfRows::default() };
        for (feature, rates) in features.into_iter().zip(found) {
            let is_rare = |level| kept.is_rare(feature, level);
            let Some(steps) = RateSteps::informative(&rates, params.max_bins, is_rare) else {
                continue;
            };
            let cuts = steps.cuts().to_vec();
            all.codes.push(folds.codes(feature, &rates, &steps, cuts));
            all.steps.push((feature, steps));
        }
        Ok(all)
    }
}

impl<'s> FitSource for QueriedFit<'s> {
    type Bag = QueriedBag<'s>;
    type Dealt = QueriedRows;

    fn n_rows(&self) -> u64 {
        self.talk.rows.frame().total().rows
    }

    fn interrupt(&self) -> &Interrupt {
        self.talk.interrupt
    }

    fn deal(&self, params: &GradientParams) -> Result<Vec<QueriedRows>, RankError> {
        let dealing = match params.held_out.map(|stopping| stopping.rows) {
            None => Dealing::None,
            Some(HeldOutRows::Share(share)) => Dealing::Share(share),
            Some(HeldOutRows::Fold) => {
                let n_folds = params.n_bags.min(usize::from(u16::MAX) - 1) as u16;
                Dealing::Folds(Arc::new(self.talk.order(params.seed)?.folds(n_folds)))
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
        self.talk.rows.frame().n_levels()
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
        before: &BagLine,
        after: &BagLine,
    ) -> Result<[f64; 2], RankError> {
        let Some(held_out) = &bag.held_out else { return Err(bad()) };
        let weight = self.mass(held_out, bag.scale)?.weight;
        let shift = mass_shift(u128::from(weight.pos) + u128::from(weight.neg));
        match self.talk.trial(&[before, after], &TrialWant::Gain { shift })? {
            TrialSums::Gain(sums) => Ok(sums.gain()),
            _ => Err(bad()),
        }
    }

    fn merits(
        &self,
        bag: &QueriedRows,
        state: &BagLine,
        pairs: &[[usize; 2]],
    ) -> Result<Vec<f64>, RankError> {
        let mut merits = Vec::with_capacity(pairs.len());
        // One after the other: each may have as many pairs of categories as there are rows.
        for &features in pairs {
            let want = TrialWant::Steps(vec![features]);
            let TrialSums::Steps(mut found) = self.talk.trial(&[state], &want)? else {
                return Err(bad());
            };
            let (pairs, sums): (Vec<u64>, Vec<StepSums>) =
                found.pop().into_iter().flatten().unzip();
            let steps = newton_steps(&sums, bag.total.n_rows);
            let want = TrialWant::Merits(vec![PairStep { features, pairs, steps }]);
            match self.talk.trial(&[state], &want)? {
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
            let bag_ask = BagRowsAsk {
                learned: rows.learned.clone(),
                held_out: rows.held_out.clone(),
                draw: draws.then(|| (Draw::share(params.subsample), rows.seed)),
                start: 0.0,
                scale: rows.scale,
                levels: self.codes.map.clone(),
                rates: rows.of_rates.codes.clone(),
                pairs: rows.of_rates.pairs.clone(),
            };
            let source = QueriedBag {
                talk: self.talk,
                codes: Arc::clone(&self.codes),
                features: bag_ask.features(self.talk.rows.frame().features()).into(),
                rates: Arc::clone(&rows.rates),
                total: rows.total,
                has_held_out: rows.held_out.is_some(),
                line: self.talk.line(bag_ask),
                growth: None,
                next: None,
            };
            BagFit::new(source, params, rows.seed, terms, self.talk.interrupt)
        };
        Ok(dealt.iter().map(begin).collect())
    }
}

fn bad() -> RankError {
    RankError::BadAnswer("it answers another question".to_owned())
}

/// The rows of a bag elsewhere.
pub(super) struct QueriedBag<'a> {
    pub(super) talk: &'a Talk<'a>,
    pub(super) codes: Arc<FitCodes>,
    /// Meaning of the codes, with the columns of rates.
    pub(super) features: Arc<[FeatureBins]>,
    pub(super) rates: Arc<BoosterRates>,
    pub(super) total: RowMass,
    pub(super) has_held_out: bool,
    pub(super) line: BagLine,
    /// Growth of the last tree.
    pub(super) growth: Option<CellGrowth>,
    /// The root of the next tree, if it is known.
    pub(super) next: Option<(GrowAsk, CellSums)>,
}

impl QueriedBag<'_> {
    /// The first question about a tree.
    fn root_ask(&self, next: &NextTree, draws: bool) -> GrowAsk {
        let columns = self.rates.with_rates(next.features.clone());
        let layout = BinLayout::new(&self.features, columns);
        let columns =
            layout.features.iter().map(|&column| (column, self.features[column].n_codes()));
        GrowAsk {
            seed: next.seed,
            draws,
            columns: columns.collect(),
            steps: Vec::new(),
            first_new: 0,
            cells: vec![CellAsk { cell: 0, is_counted: false }],
        }
    }
}

impl BagSource for QueriedBag<'_> {
    type State = BagLine;

    fn total(&self) -> RowMass {
        self.total
    }

    fn n_levels(&self) -> Vec<Option<u32>> {
        self.talk.rows.frame().n_levels()
    }

    fn pairs(&self) -> Vec<PairSteps> {
        self.rates.pairs().to_vec()
    }

    fn start(&mut self, score: f64) {
        self.line.start(score);
    }

    fn has_held_out(&self) -> bool {
        self.has_held_out
    }

    async fn grow(&mut self, plan: TreePlan<'_>, draws: bool) -> Result<Grown, RankError> {
        let ask =
            self.root_ask(&NextTree { features: plan.features.clone(), seed: plan.seed }, draws);
        let known = self.next.take().filter(|(of, _)| *of == ask).map(|(_, root)| root);
        let (codes, rates) = (Arc::clone(&self.codes), Arc::clone(&self.rates));
        let raw_test =
            |test: &CodeTest| rates.raw_test(test).unwrap_or_else(|| codes.raw_test(test));
        let grower = GradientGrower::new(plan, &self.features, &rates, &raw_test);
        let mut tree = QueriedTree {
            line: &mut self.line,
            first: ask,
            root: known,
            mass_unit: self.total.unit(),
            steps: Vec::new(),
            n_cells: 0,
            memory: SearchMemory::default(),
        };
        let grown = grower.grow(&mut tree).await?;
        let n_steps = tree.steps.len();
        self.growth = Some(CellGrowth { seed: tree.first.seed, draws, n_steps });
        Ok(grown)
    }

    async fn add(&mut self, grown: Grown, next: NextTree) -> Result<Option<f64>, RankError> {
        let Some(growth) = self.growth.take() else {
            unreachable!("a tree is grown before it is added")
        };
        self.line.trees.push(Arc::new(SentTree { tree: CodeTree::of(&grown), growth }));
        if !self.has_held_out {
            return Ok(None);
        }
        // The same query gets the sums for the root of the next tree.
        let ask = self.root_ask(&next, true);
        let mut found = self.line.ask(true, Some(ask.clone())).await?;
        self.next = found.cells.pop().map(|root| (ask, root));
        Ok(Some(mean_log_loss(found.loss)))
    }

    fn take_off(&mut self, trees: &[GradientTree]) -> Result<(), RankError> {
        self.line.forget(self.line.trees.len().saturating_sub(trees.len()));
        self.next = None;
        Ok(())
    }

    fn into_state(self) -> BagLine {
        self.line
    }

    fn take_up(&mut self, state: BagLine) {
        self.line = state;
    }

    fn side_by_side<'b>(
        bags: Vec<&mut BagFit<'b, Self>>,
        work: impl AsyncFn(&mut BagFit<'b, Self>) -> Result<(), RankError> + Sync,
    ) -> Result<(), RankError> {
        let Some(first) = bags.first() else { return Ok(()) };
        let talk = first.source.talk;
        let mut begun = Vec::new();
        for bag in bags {
            let waiting = bag.source.line.waiting();
            begun.push((waiting, Box::pin(work(bag)) as Work<'_>));
        }
        talk.run(begun)
    }
}
