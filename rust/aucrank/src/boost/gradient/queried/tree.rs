//! A tree on rows elsewhere.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::super::best_split::{BestSplit, SearchMemory};
use super::super::grow::{GradientGrower, GrowNode, GrowingTree, Parted, Root, TreeSource};
use super::super::sums::UnitSums;
use super::ask::{
    BagAsk, BagRowsAsk, BagSums, BagsAsk, CellAsk, CellStep, CellSums, GradientAsk, GradientSums,
    GrowAsk, SentTree,
};
use super::trial::{TrialSums, TrialWant};
use crate::data::{CellId, CellSplit, DealOrder};
use crate::rows::{FitId, Rows, View};
use crate::{Interrupt, RankError};

/// A node is counted by code if its rows are at most this multiple of the minimum of a side: such
/// nodes often have sides with too few rows, and each retry would take a question.
const COUNTED: u64 = 256;

/// The rows of a tree.
pub(super) struct QueriedTree<'t> {
    pub(super) line: &'t mut BagLine,
    /// The first question about it.
    pub(super) first: GrowAsk,
    /// The root, if it is known.
    pub(super) root: Option<CellSums>,
    /// Number of rows per unit of mass.
    pub(super) mass_unit: f64,
    pub(super) steps: Vec<CellStep>,
    pub(super) n_cells: CellId,
    pub(super) memory: SearchMemory,
}

/// Data kept for a node.
#[derive(Debug)]
pub(super) struct QueriedNode {
    cell: CellId,
    mass: u64,
    bins: Option<CellBins>,
    /// Its sides by its best split, if they are known.
    sides: Option<[QueriedSide; 2]>,
}

/// Sums of a cell by code.
#[derive(Debug)]
struct CellBins {
    sums: Vec<UnitSums>,
    /// Numbers of rows; empty if unknown.
    counts: Vec<u64>,
}

/// A side of a split.
#[derive(Debug)]
struct QueriedSide {
    cell: CellId,
    n_rows: u64,
    mass: u64,
    bins: Option<CellBins>,
}

type QueriedGrowNode = GrowNode<QueriedNode>;

/// A node whose sides are requested.
struct QueriedTarget {
    number: usize,
    cells: [CellId; 2],
}

impl TreeSource for QueriedTree<'_> {
    type Kept = QueriedNode;

    async fn root(&mut self, grower: &GradientGrower<'_>) -> Result<Root<QueriedNode>, RankError> {
        let root = if let Some(root) = self.root.take() {
            root
        } else {
            let ask = Some(self.first.clone());
            self.line.ask(false, ask).await?.cells.pop().ok_or_else(bad)?
        };
        let CellSums { n_rows, mass, sums, counts } = root;
        let of_all = if grower.layout.features.is_empty() {
            UnitSums::default()
        } else {
            grower.layout.of(0, &sums).iter().copied().sum()
        };
        let bins = Some(CellBins { sums, counts });
        Ok(Root { kept: QueriedNode { cell: 0, mass, bins, sides: None }, n_rows, sums: of_all })
    }

    fn best(
        &mut self,
        grower: &GradientGrower<'_>,
        node: &QueriedGrowNode,
        number: usize,
    ) -> Option<BestSplit> {
        let bins = node.kept.bins.as_ref()?;
        let (layout, searched) = (&grower.layout, grower.node(node, number));
        grower.best_of(&mut self.memory, |_, place| {
            let feature = layout.features[place];
            if !grower.may_ask(&node.tested, feature) {
                return None;
            }
            let counts = (!bins.counts.is_empty()).then(|| layout.of(place, &bins.counts));
            let sums = layout.of(place, &bins.sums);
            let of_feature = &grower.features[feature];
            grower.plan.criterion.best_of_feature(&searched, feature, of_feature, sums, counts)
        })
    }

    async fn part(
        &mut self,
        grower: &GradientGrower<'_>,
        leaves: &mut GrowingTree<QueriedNode>,
        number: usize,
        split: &BestSplit,
    ) -> Result<Parted<QueriedNode>, RankError> {
        if leaves.nodes[number].kept.sides.is_none() {
            self.ask_sides(grower, leaves, number, split).await?;
        }
        let node = &mut leaves.nodes[number];
        let sides = node.kept.sides.take().ok_or_else(bad)?;
        let is_counted = node.kept.bins.as_ref().is_some_and(|bins| !bins.counts.is_empty());
        let least = sides[0].n_rows.min(sides[1].n_rows);
        if least < grower.plan.criterion.min_rows && !is_counted {
            // Sums do not give the number of rows: this node is tried again.
            let [left, right] = [sides[0].cell, sides[1].cell];
            let cell = self.new_cell();
            self.steps.push(CellStep::Join { left, right, cell });
            let ask = CellAsk { cell, is_counted: true };
            let mut found = self.ask(self.steps.len(), vec![ask]).await?;
            let CellSums { sums, counts, .. } = found.cells.pop().ok_or_else(bad)?;
            node.kept.cell = cell;
            node.kept.bins = Some(CellBins { sums, counts });
            return Ok(Parted::TooFew(self.best(grower, &leaves.nodes[number], number)));
        }
        Ok(Parted::Sides(sides.map(|side| {
            let QueriedSide { cell, n_rows, mass, bins } = side;
            (QueriedNode { cell, mass, bins, sides: None }, n_rows)
        })))
    }

    async fn count_children(
        &mut self,
        grower: &GradientGrower<'_>,
        leaves: &mut GrowingTree<QueriedNode>,
        parent: usize,
        children: [usize; 2],
    ) -> Result<(), RankError> {
        let nodes = &mut leaves.nodes;
        let of_parent = nodes[parent].kept.bins.take();
        let needs_bins =
            |node: &QueriedGrowNode| node.kept.bins.is_none() && grower.may_split(node);
        let [left, right] = children;
        for (child, other) in [(left, right), (right, left)] {
            if needs_bins(&nodes[child])
                && let (Some(parent), Some(other)) = (&of_parent, &nodes[other].kept.bins)
            {
                nodes[child].kept.bins = Some(parent.without(other));
            }
        }
        let missing: Vec<usize> =
            children.into_iter().filter(|&child| needs_bins(&nodes[child])).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let ask = |&child: &usize| CellAsk {
            cell: nodes[child].kept.cell,
            is_counted: is_few(grower, nodes[child].n_rows),
        };
        let asks = missing.iter().map(ask).collect();
        let found = self.ask(self.steps.len(), asks).await?.cells;
        for (child, CellSums { sums, counts, .. }) in missing.into_iter().zip(found) {
            nodes[child].kept.bins = Some(CellBins { sums, counts });
        }
        Ok(())
    }

    fn drop_unneeded(
        &mut self,
        grower: &GradientGrower<'_>,
        leaves: &mut GrowingTree<QueriedNode>,
    ) {
        if !grower.keeps_sums() {
            for child in leaves.nodes.len() - 2..leaves.nodes.len() {
                leaves.nodes[child].kept.bins = None;
            }
        }
        let n_splits = grower.plan.max_leaves - leaves.n_leaves;
        if leaves.open.len() > n_splits {
            for number in leaves.open_numbers().skip(n_splits) {
                leaves.nodes[number].kept.bins = None;
            }
        }
    }

    fn leaf(&self, node: &QueriedGrowNode) -> (Range<usize>, f64) {
        (0..0, node.kept.mass as f64 * self.mass_unit)
    }

    fn end(&mut self, _leaves: &mut GrowingTree<QueriedNode>) {}
}

impl QueriedTree<'_> {
    fn new_cell(&mut self) -> CellId {
        self.n_cells += 1;
        self.n_cells
    }

    async fn ask(&mut self, first_new: usize, cells: Vec<CellAsk>) -> Result<BagSums, RankError> {
        let ask = GrowAsk { steps: self.steps.clone(), first_new, cells, ..self.first.clone() };
        self.line.ask(false, Some(ask)).await
    }

    /// Queries the sides of a node to be split, and of all other leaves that may be split before
    /// the tree is full.
    async fn ask_sides(
        &mut self,
        grower: &GradientGrower<'_>,
        leaves: &mut GrowingTree<QueriedNode>,
        number: usize,
        split: &BestSplit,
    ) -> Result<(), RankError> {
        let n_splits = grower.plan.max_leaves - leaves.n_leaves;
        let others = if grower.keeps_sums() { n_splits - 1 } else { 0 };
        let ranked = std::iter::once(number).chain(leaves.open_numbers().take(others));
        let first_new = self.steps.len();
        let (mut targets, mut asks) = (Vec::new(), Vec::new());
        // The last split needs no sums of its sides.
        for (number, needs_bins) in ranked.zip((1..=n_splits).map(|rank| rank < n_splits)) {
            let node = &leaves.nodes[number];
            let split = if targets.is_empty() { Some(split) } else { node.best.as_ref() };
            let Some(split) = split.filter(|_| node.kept.sides.is_none()) else { continue };
            let cells = [self.new_cell(), self.new_cell()];
            self.steps.push(CellStep::Split(CellSplit {
                cell: node.kept.cell,
                test: split.test.clone(),
                left: cells[0],
                right: cells[1],
            }));
            targets.push(QueriedTarget { number, cells });
            if needs_bins && grower.may_split_at(node.depth + 1, node.n_rows) {
                let is_counted = |bins: &CellBins| !bins.counts.is_empty();
                let few = is_few(grower, node.n_rows);
                match &node.kept.bins {
                    // The larger side is the difference.
                    Some(bins) if is_counted(bins) || !few => {
                        let is_left_smaller = 2 * split.left.hessian <= node.sums.hessian;
                        let cell = cells[usize::from(!is_left_smaller)];
                        asks.push(CellAsk { cell, is_counted: is_counted(bins) });
                    }
                    _ => asks.extend(cells.map(|cell| CellAsk { cell, is_counted: few })),
                }
            }
        }
        let cells: Vec<CellId> = asks.iter().map(|ask| ask.cell).collect();
        let found = self.ask(first_new, asks).await?;
        let mut bins: Vec<(CellId, CellBins)> = Vec::new();
        for (cell, CellSums { sums, counts, .. }) in cells.into_iter().zip(found.cells) {
            bins.push((cell, CellBins { sums, counts }));
        }
        let mut bins = bins.into_iter().peekable();
        for (QueriedTarget { number, cells }, [n_rows, mass]) in
            targets.into_iter().zip(found.sides)
        {
            let node = &mut leaves.nodes[number];
            let rest = |all: u64, left: u64| all.checked_sub(left).ok_or_else(bad);
            let sides = [[n_rows, mass], [rest(node.n_rows, n_rows)?, rest(node.kept.mass, mass)?]];
            let side = |(cell, [n_rows, mass]): (CellId, [u64; 2])| {
                let bins = bins.next_if(|(of_cell, _)| *of_cell == cell).map(|(_, bins)| bins);
                QueriedSide { cell, n_rows, mass, bins }
            };
            let [left, right] = [(cells[0], sides[0]), (cells[1], sides[1])].map(side);
            node.kept.sides = Some([left, right]);
        }
        Ok(())
    }
}

impl CellBins {
    /// The sums of the other side.
    fn without(&self, part: &Self) -> Self {
        let sums = self.sums.iter().zip(&part.sums).map(|(all, part)| *all - *part).collect();
        let are_counted = !self.counts.is_empty() && !part.counts.is_empty();
        let counts = self.counts.iter().zip(&part.counts);
        let counts = counts.filter(|_| are_counted).map(|(all, part)| all.wrapping_sub(*part));
        Self { sums, counts: counts.collect() }
    }
}

/// Whether a node has few enough rows to count them by code.
fn is_few(grower: &GradientGrower<'_>, n_rows: u64) -> bool {
    let min_rows = grower.plan.criterion.min_rows;
    min_rows > 1 && n_rows <= min_rows.saturating_mul(COUNTED)
}

fn bad() -> RankError {
    RankError::BadAnswer("sums do not add up".to_owned())
}

/// A fit that queries rows.
pub(super) struct Talk<'a> {
    pub(super) rows: &'a dyn Rows,
    pub(super) interrupt: &'a Interrupt,
    pub(super) fit: FitId,
    n_keys: Cell<u64>,
    /// The bags that are still needed.
    live: Rc<RefCell<Vec<u64>>>,
}

/// The rows of a bag elsewhere, with all decisions about them.
pub(super) struct BagLine {
    key: Key,
    bag: Arc<BagRowsAsk>,
    pub(super) trees: Vec<Arc<SentTree>>,
    /// Number of trees that were sent; `None` before the first question.
    n_sent: Option<usize>,
    waiting: Rc<RefCell<Waiting>>,
}

/// The key of a bag, registered as needed for the lifetime of this.
struct Key {
    number: u64,
    live: Rc<RefCell<Vec<u64>>>,
}

impl Drop for Key {
    fn drop(&mut self) {
        self.live.borrow_mut().retain(|key| *key != self.number);
    }
}

/// State of a bag that waits.
#[derive(Default)]
pub(super) enum Waiting {
    #[default]
    Nothing,
    Question(BagQuestion),
    Answered(BagSums),
}

/// A question about one bag.
pub(super) struct BagQuestion {
    key: u64,
    bag: Arc<BagRowsAsk>,
    trees: Vec<Arc<SentTree>>,
    n_sent: Option<usize>,
    measures: bool,
    grow: Option<GrowAsk>,
}

impl<'a> Talk<'a> {
    pub(super) fn new(rows: &'a dyn Rows, fit: FitId, interrupt: &'a Interrupt) -> Self {
        Self { rows, interrupt, fit, n_keys: Cell::default(), live: Rc::default() }
    }

    /// A bag before its first tree.
    pub(super) fn line(&self, bag: BagRowsAsk) -> BagLine {
        let number = self.n_keys.replace(self.n_keys.get() + 1);
        self.live.borrow_mut().push(number);
        let key = Key { number, live: Rc::clone(&self.live) };
        let waiting = Rc::default();
        BagLine { key, bag: Arc::new(bag), trees: Vec::new(), n_sent: None, waiting }
    }

    /// The sums that are requested.
    pub(super) fn ask(&self, ask: GradientAsk) -> Result<GradientSums, RankError> {
        self.fit.ask(self.rows, View::All, ask, self.interrupt)
    }

    /// The sums of a trial, at the scores of some bags.
    pub(super) fn trial(
        &self,
        bags: &[&BagLine],
        want: &TrialWant,
    ) -> Result<TrialSums, RankError> {
        for sends_all in [false, true] {
            let live = self.live.borrow().clone();
            let bags = bags.iter().map(|line| line.question(false, None).ask(sends_all)).collect();
            let bags = BagsAsk { live, bags };
            match self.ask(GradientAsk::Trial { bags, want: want.clone() })? {
                GradientSums::Trial(sums) => return Ok(sums),
                GradientSums::Behind if !sends_all => {}
                _ => break,
            }
        }
        Err(lacking())
    }

    /// The order of all rows by a seed.
    pub(super) fn order(&self, seed: u64) -> Result<DealOrder, RankError> {
        self.fit.order(self.rows, seed, self.interrupt)
    }

    /// Runs some work with bags until all of it is done.
    pub(super) fn run(
        &self,
        mut bags: Vec<(Rc<RefCell<Waiting>>, Work<'_>)>,
    ) -> Result<(), RankError> {
        loop {
            let mut waiting = Vec::new();
            let mut questions = Vec::new();
            for (slot, mut work) in bags {
                match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(done) => done?,
                    Poll::Pending => {
                        let Waiting::Question(question) = slot.take() else {
                            unreachable!("a bag waits for answers alone")
                        };
                        questions.push(question);
                        waiting.push((slot, work));
                    }
                }
            }
            if questions.is_empty() {
                return Ok(());
            }
            for ((slot, _), sums) in waiting.iter().zip(self.ask_all(&questions)?) {
                slot.replace(Waiting::Answered(sums));
            }
            bags = waiting;
        }
    }

    /// The answers to some questions, which are sent again with the whole log if a holder lacks it.
    fn ask_all(&self, questions: &[BagQuestion]) -> Result<Vec<BagSums>, RankError> {
        for sends_all in [false, true] {
            let live = self.live.borrow().clone();
            let bags = questions.iter().map(|question| question.ask(sends_all)).collect();
            match self.ask(GradientAsk::Bags(BagsAsk { live, bags }))? {
                GradientSums::Bags(sums) if sums.len() == questions.len() => return Ok(sums),
                GradientSums::Behind if !sends_all => {}
                _ => break,
            }
        }
        Err(lacking())
    }
}

fn lacking() -> RankError {
    RankError::BadAnswer("a holder lacks what it was sent".to_owned())
}

/// Work that may wait for answers.
pub(super) type Work<'w> = Pin<Box<dyn Future<Output = Result<(), RankError>> + 'w>>;

impl BagQuestion {
    fn ask(&self, sends_all: bool) -> BagAsk {
        let n_sent = self.n_sent.filter(|_| !sends_all);
        BagAsk {
            key: self.key,
            rows: n_sent.is_none().then(|| Arc::clone(&self.bag)),
            n_sent: n_sent.unwrap_or(0),
            trees: self.trees[n_sent.unwrap_or(0)..].to_vec(),
            measures: self.measures,
            grow: self.grow.clone(),
        }
    }
}

impl BagLine {
    /// The score before the first tree.
    pub(super) fn start(&mut self, score: f64) {
        Arc::make_mut(&mut self.bag).start = score;
    }

    /// Keeps only the first trees.
    pub(super) fn forget(&mut self, n_trees: usize) {
        self.trees.truncate(n_trees);
        // Holders that have applied the others start again.
        self.n_sent = None;
    }

    /// Waits for the sums of a tree, and for the loss of held-out rows after the trees before it.
    pub(super) async fn ask(
        &mut self,
        measures: bool,
        grow: Option<GrowAsk>,
    ) -> Result<BagSums, RankError> {
        self.waiting.replace(Waiting::Question(self.question(measures, grow)));
        let sums = std::future::poll_fn(|_| {
            let mut waiting = self.waiting.borrow_mut();
            match std::mem::take(&mut *waiting) {
                Waiting::Answered(sums) => Poll::Ready(sums),
                other => {
                    *waiting = other;
                    Poll::Pending
                }
            }
        })
        .await;
        self.n_sent = Some(self.trees.len());
        Ok(sums)
    }

    fn question(&self, measures: bool, grow: Option<GrowAsk>) -> BagQuestion {
        BagQuestion {
            key: self.key.number,
            bag: Arc::clone(&self.bag),
            trees: self.trees.clone(),
            n_sent: self.n_sent,
            measures,
            grow,
        }
    }

    /// The queue of its questions.
    pub(super) fn waiting(&self) -> Rc<RefCell<Waiting>> {
        Rc::clone(&self.waiting)
    }
}
