//! Questions of bags that wait side by side: one for all.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::ask::{BagAsk, BagRowsAsk, BagsAsk, GradientAsk, GrowAsk, ToldTree};
use super::sums::{BagSums, GradientSums};
use crate::data::RowOrder;
use crate::rows::{Fit, Rows, View};
use crate::{Interrupt, RankError};

/// A fit that asks rows.
pub(super) struct Talk<'a> {
    pub(super) rows: &'a dyn Rows,
    pub(super) interrupt: &'a Interrupt,
    fit: Fit,
    n_keys: Cell<u64>,
    /// The bags that are still needed.
    live: Rc<RefCell<Vec<u64>>>,
}

/// The rows of a bag elsewhere, with all that was decided about them.
pub(super) struct BagLine {
    key: Key,
    bag: Arc<BagRowsAsk>,
    pub(super) trees: Vec<Arc<ToldTree>>,
    /// Number of trees that were told; `None` before the first question.
    n_told: Option<usize>,
    waiting: Rc<RefCell<Waiting>>,
}

/// The key of a bag, which is needed as long as this lives.
struct Key {
    number: u64,
    live: Rc<RefCell<Vec<u64>>>,
}

impl Drop for Key {
    fn drop(&mut self) {
        self.live.borrow_mut().retain(|key| *key != self.number);
    }
}

/// What a bag waits for.
#[derive(Default)]
pub(super) enum Waiting {
    #[default]
    Nothing,
    Asked(Question),
    Answered(BagSums),
}

/// A question about one bag.
pub(super) struct Question {
    key: u64,
    bag: Arc<BagRowsAsk>,
    trees: Vec<Arc<ToldTree>>,
    n_told: Option<usize>,
    measures: bool,
    grow: Option<GrowAsk>,
}

impl<'a> Talk<'a> {
    pub(super) fn new(rows: &'a dyn Rows, fit: Fit, interrupt: &'a Interrupt) -> Self {
        Self { rows, interrupt, fit, n_keys: Cell::default(), live: Rc::default() }
    }

    /// A bag before its first tree.
    pub(super) fn line(&self, bag: BagRowsAsk) -> BagLine {
        let number = self.n_keys.replace(self.n_keys.get() + 1);
        self.live.borrow_mut().push(number);
        let key = Key { number, live: Rc::clone(&self.live) };
        let waiting = Rc::default();
        BagLine { key, bag: Arc::new(bag), trees: Vec::new(), n_told: None, waiting }
    }

    /// The sums that are asked.
    pub(super) fn ask(&self, ask: GradientAsk) -> Result<GradientSums, RankError> {
        self.fit.ask(self.rows, View::All, ask, self.interrupt)
    }

    /// The order of all rows by a seed.
    pub(super) fn order(&self, seed: u64) -> Result<RowOrder, RankError> {
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
                        let Waiting::Asked(question) = slot.take() else {
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

    /// The answers to some questions, which tell the whole log if a holder does not know it.
    fn ask_all(&self, questions: &[Question]) -> Result<Vec<BagSums>, RankError> {
        for tells_all in [false, true] {
            let live = self.live.borrow().clone();
            let bags = questions.iter().map(|question| question.ask(tells_all)).collect();
            match self.ask(GradientAsk::Bags(BagsAsk { live, bags }))? {
                GradientSums::Bags(sums) if sums.len() == questions.len() => return Ok(sums),
                GradientSums::Behind if !tells_all => {}
                _ => break,
            }
        }
        Err(RankError::BadAnswer("a holder does not know what it was told".to_owned()))
    }
}

/// Work that may wait for answers.
pub(super) type Work<'w> = Pin<Box<dyn Future<Output = Result<(), RankError>> + 'w>>;

impl Question {
    fn ask(&self, tells_all: bool) -> BagAsk {
        let n_told = self.n_told.filter(|_| !tells_all);
        BagAsk {
            key: self.key,
            rows: n_told.is_none().then(|| Arc::clone(&self.bag)),
            n_told: n_told.unwrap_or(0),
            trees: self.trees[n_told.unwrap_or(0)..].to_vec(),
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

    /// Keeps the first trees only.
    pub(super) fn forget(&mut self, n_trees: usize) {
        self.trees.truncate(n_trees);
        // Holders that have taken the others begin anew.
        self.n_told = None;
    }

    /// Waits for the sums of a tree, and for what the held-out rows say of the trees before it.
    pub(super) async fn ask(
        &mut self,
        measures: bool,
        grow: Option<GrowAsk>,
    ) -> Result<BagSums, RankError> {
        self.waiting.replace(Waiting::Asked(Question {
            key: self.key.number,
            bag: Arc::clone(&self.bag),
            trees: self.trees.clone(),
            n_told: self.n_told,
            measures,
            grow,
        }));
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
        self.n_told = Some(self.trees.len());
        Ok(sums)
    }

    /// Where its questions wait.
    pub(super) fn waiting(&self) -> Rc<RefCell<Waiting>> {
        Rc::clone(&self.waiting)
    }
}
