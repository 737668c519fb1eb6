//! The rows of a fit in memory: which of them each bag learns from, and which judge its rounds.

use std::sync::{Arc, OnceLock};

use super::bag_fit::{BagFit, Terms};
use super::bags::bag_seed;
use super::category_pairs::{PairChoice, category_pairs};
use super::fit::{Begun, Data, GradientExtras};
use super::held_out::{HeldOut, HeldOutRows, Place};
use super::memory_bag::{MemoryBag, Scores};
use super::params::GradientParams;
use super::rows::FitRows;
use super::source::FitSource;
use crate::data::{Columns, Folds, Labels, hold_out};
use crate::{Interrupt, RankError, parallel};

/// The rows of a fit in memory.
pub(super) struct MemoryFit<'a> {
    pub(super) data: Data<'a>,
    pub(super) given: &'a GradientExtras<'a>,
    /// Features of which trees may ask pairs of categories, once they are chosen.
    pairs: OnceLock<Vec<[usize; 2]>>,
}

/// The rows of a bag.
pub(super) struct BagRows<'a> {
    /// What the bag draws by.
    seed: u64,
    /// Those that it learns from.
    pub(super) rows: Arc<FitRows<'a>>,
    /// Those that judge its rounds.
    held_out: Option<Judges<'a>>,
}

/// Rows that judge the rounds of a bag.
#[derive(Clone)]
enum Judges<'a> {
    /// Rows of the fit.
    Inside(Arc<[u32]>),
    /// The validation rows that were given.
    Given((&'a Columns<'a>, &'a Labels<'a>)),
}

/// Which rows a bag learns from, ascending, and which judge its rounds.
type Dealt<'a> = (Arc<[u32]>, Option<Judges<'a>>);

impl<'a> MemoryFit<'a> {
    pub(super) fn new(data: Data<'a>, given: &'a GradientExtras<'a>) -> Self {
        Self { data, given, pairs: OnceLock::new() }
    }

    /// Lets trees ask pairs of categories of some features from now on.
    pub(super) fn set_pairs(&self, pairs: Vec<[usize; 2]>) {
        self.pairs.get_or_init(|| pairs);
    }

    fn dealt(&self, params: &GradientParams) -> Result<Vec<Dealt<'a>>, RankError> {
        let Data { columns, labels, interrupt, .. } = self.data;
        let all: Arc<[u32]> = labels.rows().into();
        let of_all = |judges: Option<Judges<'a>>| vec![(Arc::clone(&all), judges); params.n_bags];
        let Some(asked) = &params.held_out else { return Ok(of_all(None)) };
        if let Some(validation) = self.given.validation {
            return Ok(of_all(Some(Judges::Given(validation))));
        }
        match asked.rows {
            HeldOutRows::Share(share) => {
                parallel::try_map((0..params.n_bags).collect(), |number| {
                    let seed = bag_seed(params.seed, number);
                    let parts = hold_out(columns, labels, share, seed, interrupt)?;
                    Ok(parts.map_or((Arc::clone(&all), None), |parts| {
                        (parts.kept.into(), Some(Judges::Inside(parts.held_out.into())))
                    }))
                })
            }
            HeldOutRows::Fold => {
                let dealt;
                let folds = if let Some(folds) = self.given.folds {
                    folds
                } else {
                    let n_folds = params.n_bags.min(usize::from(u16::MAX) - 1) as u16;
                    dealt = Folds::deal(columns, labels, n_folds, params.seed, interrupt)?;
                    &dealt
                };
                if folds.n_folds < 2 {
                    return Ok(of_all(None));
                }
                let of_bag = |number: usize| {
                    // Of fewer folds than bags, several bags leave out the same.
                    let fold = (number % usize::from(folds.n_folds)) as u16;
                    let is_out = |row: &u32| folds.of_row[*row as usize] == fold;
                    let (held_out, training): (Vec<u32>, Vec<u32>) =
                        all.iter().copied().partition(is_out);
                    (training.into(), Some(Judges::Inside(held_out.into())))
                };
                Ok((0..params.n_bags).map(of_bag).collect())
            }
        }
    }

    fn with_rows(
        &self,
        params: &GradientParams,
        dealt: Vec<Dealt<'a>>,
    ) -> Result<Vec<BagRows<'a>>, RankError> {
        let dealt = dealt.into_iter().enumerate().collect();
        parallel::try_map(dealt, |(number, (training, held_out)): (usize, Dealt<'a>)| {
            let seed = bag_seed(params.seed, number);
            let pairs = self.pairs.get().map_or(&[][..], Vec::as_slice);
            let rows = Arc::new(self.data.rows(params, seed, training, pairs)?);
            Ok(BagRows { seed, rows, held_out })
        })
    }

    /// The rows that judge a bag, if there are any.
    pub(super) fn held_out(&self, bag: &BagRows<'a>) -> Option<HeldOut<'a>> {
        let labels = self.data.labels;
        bag.held_out.as_ref().map(|judges| match judges {
            Judges::Inside(rows) => HeldOut::new(Place::Inside(rows.to_vec()), rows, labels),
            Judges::Given((columns, labels)) => {
                let rows: Vec<u32> = (0..labels.n_rows() as u32).collect();
                HeldOut::new(Place::Outside(columns), &rows, labels)
            }
        })
    }

    /// The same rows by the codes of this fit.
    pub(super) fn recoded(
        &self,
        params: &GradientParams,
        dealt: &[BagRows<'a>],
    ) -> Result<Vec<BagRows<'a>>, RankError> {
        let listed = |bag: &BagRows<'a>| (Arc::clone(bag.rows.training()), bag.held_out.clone());
        self.with_rows(params, dealt.iter().map(listed).collect())
    }
}

impl<'s> FitSource for MemoryFit<'s> {
    type Bag = MemoryBag<'s>;
    type Dealt = BagRows<'s>;

    fn n_rows(&self) -> u64 {
        self.data.labels.total().rows
    }

    fn interrupt(&self) -> &Interrupt {
        self.data.interrupt
    }

    fn deal(&self, params: &GradientParams) -> Result<Vec<BagRows<'s>>, RankError> {
        self.with_rows(params, self.dealt(params)?)
    }

    fn deal_all(&self, params: &GradientParams) -> Result<Vec<BagRows<'s>>, RankError> {
        let all: Arc<[u32]> = self.data.labels.rows().into();
        self.with_rows(params, vec![(all, None); params.n_bags])
    }

    fn goes_on(&self) -> bool {
        self.given.earlier.is_some()
    }

    fn choose_pairs(
        &self,
        params: &GradientParams,
        dealt: Vec<BagRows<'s>>,
        begun: Option<Begun<Scores>>,
    ) -> Result<PairChoice<BagRows<'s>, Scores>, RankError> {
        category_pairs(self, params, dealt, begun)
    }

    fn replay(&self, bags: &mut [BagFit<'_, MemoryBag<'s>>]) -> Result<(), RankError> {
        match (bags, self.given.earlier) {
            ([bag], Some(earlier)) => bag.replay(earlier),
            _ => Ok(()),
        }
    }

    fn begin<'a>(
        &'a self,
        params: &'a GradientParams,
        dealt: &[BagRows<'s>],
        terms: Terms<'a>,
    ) -> Result<Vec<BagFit<'a, MemoryBag<'s>>>, RankError> {
        parallel::try_map(dealt.iter().collect(), |bag: &BagRows<'s>| {
            let held_out = self.held_out(bag);
            let rows = Arc::clone(&bag.rows);
            let source = MemoryBag::new(self.data, params, bag.seed, rows, held_out)?;
            Ok(BagFit::new(source, params, bag.seed, terms, self.data.interrupt))
        })
    }
}
