//! The rows of a bag elsewhere.

use std::sync::Arc;

use super::super::bag_fit::BagFit;
use super::super::best_split::SearchMemory;
use super::super::code_tree::CodeTree;
use super::super::grow::{Grower, Grown, TreePlan};
use super::super::histogram::Layout;
use super::super::loss::mean_log_loss;
use super::super::rate_columns::BoosterRates;
use super::super::rows::Mass;
use super::super::source::{BagSource, NextTree};
use super::super::tree::GradientTree;
use super::ask::{CellAsk, CellGrowth, GrowAsk, ToldTree};
use super::fit::FitCodes;
use super::sums::CellSums;
use super::talk::{BagLine, Talk, Work};
use super::tree::AskedTree;
use crate::RankError;
use crate::data::{CodeTest, FeatureBins};

/// The rows of a bag elsewhere.
pub(super) struct AskedBag<'a> {
    pub(super) talk: &'a Talk<'a>,
    pub(super) codes: Arc<FitCodes>,
    /// What the codes mean, with the columns of rates.
    pub(super) features: Arc<[FeatureBins]>,
    pub(super) rates: Arc<BoosterRates>,
    pub(super) total: Mass,
    pub(super) has_held_out: bool,
    pub(super) line: BagLine,
    /// How the last tree was grown.
    pub(super) growth: Option<CellGrowth>,
    /// The root of the next tree, if it is known.
    pub(super) next: Option<(GrowAsk, CellSums)>,
}

impl AskedBag<'_> {
    /// The first question about a tree.
    fn root_ask(&self, next: &NextTree, draws: bool) -> GrowAsk {
        let columns = self.rates.with_rates(next.features.clone());
        let layout = Layout::new(&self.features, columns);
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

impl BagSource for AskedBag<'_> {
    type State = BagLine;

    fn total(&self) -> Mass {
        self.total
    }

    fn n_levels(&self) -> Vec<Option<u32>> {
        self.talk.rows.frame().n_levels()
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
        let grower = Grower::new(plan, &self.features, &rates, &raw_test);
        let mut tree = AskedTree {
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
        self.line.trees.push(Arc::new(ToldTree { tree: CodeTree::of(&grown), growth }));
        if !self.has_held_out {
            return Ok(None);
        }
        // What the next tree begins with is asked along.
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
