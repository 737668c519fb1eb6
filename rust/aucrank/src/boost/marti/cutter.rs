//! The best single feature of a node, and a ranking cut into a two-sided classifier by Lemma 4.

use super::chance::Chance;
use crate::RankError;
use crate::boost::term::{LevelBudget, Term};
use crate::boost::two_sided::{Criterion, TwoSided, two_sided};
use crate::boost::weak::feature::{Best, BinRule};
use crate::boost::weak::{Groups, Ranking};
use crate::data::{Binned, ClassMasses, MassHistogram, RowUnits};
use crate::parallel;

/// Least advantage of a ranking over a coin.
const LEAST_ADVANTAGE: f64 = 1e-12;

/// Chooses features by the masses of their bins, and cuts rankings.
#[derive(Debug)]
pub(super) struct Cutter {
    criterion: Criterion,
    noise_rate: f64,
    /// Budget for the values of categories in the terms of all nodes.
    budget: LevelBudget,
}

/// A ranking that was cut.
#[derive(Debug)]
pub(super) struct Cut {
    /// The probability of going right.
    pub(super) term: Term,
    pub(super) two_sided: TwoSided,
    pub(super) groups: Groups,
    /// The probability of each group.
    pub(super) values: Vec<f64>,
}

impl Cutter {
    pub(super) fn new(criterion: Criterion, noise_rate: f64) -> Self {
        Self { criterion, noise_rate, budget: LevelBudget::default() }
    }

    /// Reserves the values of the term of one more node.
    pub(super) fn spend(&self, term: &Term) -> Result<(), RankError> {
        self.budget.spend(term)
    }

    /// Cuts a ranking; `None` if it is no better than a coin. Samples hold the classes in other
    /// proportions than the population: `natural` are the masses that they stand for.
    pub(super) fn cut(
        &self,
        binned: &Binned,
        mut ranking: Ranking,
        natural: Option<ClassMasses>,
    ) -> Option<Cut> {
        let sums = match natural {
            Some(natural) => rescaled(&ranking.sums, natural),
            None => std::mem::take(&mut ranking.sums),
        };
        // An error means that noise alone explains a class: nothing to learn.
        let cut = two_sided(&sums, self.criterion, self.noise_rate).ok()?;
        if cut.error >= 0.5 - LEAST_ADVANTAGE {
            return None;
        }
        let [low, high] = [cut.low, cut.high].map(Chance::new);
        let chance = |group: usize| if group < cut.n_low { low } else { high };
        // A probability converts to a float and back without loss.
        let values: Vec<f64> = (0..sums.len()).map(|group| chance(group).value()).collect();
        let features = binned.features();
        let (term, groups) = ranking.into_term(features, &values, Chance::HALF.value());
        Some(Cut { term, two_sided: cut, groups, values })
    }
}

/// The best one-byte features of some nodes.
pub(super) fn best_narrow(
    rule: BinRule,
    binned: &Binned,
    histogram: &MassHistogram,
    open: &[usize],
    units: &[Option<RowUnits>],
) -> Vec<Best> {
    let best_of = |&node: &usize| {
        let mut best = Best::default();
        for feature in 0..binned.features().len() {
            if let Some(occupied) = histogram.occupied(binned, feature, node) {
                best.ask(binned, feature, occupied, units[node].as_ref(), rule);
            }
        }
        best
    };
    parallel::map(open.iter().collect(), best_of)
}

/// Masses of the codes of one wide feature in some nodes.
#[derive(Debug, Clone)]
pub(crate) struct WideSums {
    n_nodes: usize,
    /// By code, then by node.
    pub(super) sums: Vec<ClassMasses>,
}

/// Memory in bytes for the sums of one wide feature over a batch of nodes; more nodes take further
/// passes over the rows.
const WIDE_BYTES: usize = 64 << 20;

impl WideSums {
    /// How many nodes to sum at once.
    pub(super) fn n_at_once(n_codes: usize) -> usize {
        (WIDE_BYTES / (n_codes * size_of::<ClassMasses>())).max(1)
    }

    pub(super) fn new(n_codes: usize, n_nodes: usize) -> Self {
        Self { n_nodes, sums: vec![ClassMasses::default(); n_codes * n_nodes] }
    }

    #[inline]
    pub(super) fn add(&mut self, code: u32, node: usize, positive: bool, mass: u64) {
        let sum = &mut self.sums[code as usize * self.n_nodes + node];
        if positive { sum.pos += mass } else { sum.neg += mass }
    }

    pub(super) fn merge(&mut self, more: &Self) {
        self.sums.iter_mut().zip(&more.sums).for_each(|(own, more)| *own += *more);
    }

    /// Has each of the best features, one for each node, compared to this one.
    pub(super) fn ask<'a>(
        &self,
        rule: BinRule,
        binned: &Binned,
        feature: usize,
        best: impl Iterator<Item = (&'a mut Best, Option<&'a RowUnits>)>,
    ) {
        for (node, (best, units)) in best.enumerate() {
            let of_node = self.sums.iter().skip(node).step_by(self.n_nodes).copied();
            best.ask(binned, feature, (0..).zip(of_node), units, rule);
        }
    }
}

/// Groups rescaled to the given total masses of the classes.
fn rescaled(groups: &[ClassMasses], natural: ClassMasses) -> Vec<ClassMasses> {
    let total: ClassMasses = groups.iter().copied().sum();
    let scaled = |mass: u64, from: u64, to: u64| {
        let product = u128::from(mass) * u128::from(to) + u128::from(from / 2);
        product.checked_div(u128::from(from)).unwrap_or(0) as u64
    };
    let of_group = |group: &ClassMasses| ClassMasses {
        pos: scaled(group.pos, total.pos, natural.pos),
        neg: scaled(group.neg, total.neg, natural.neg),
    };
    groups.iter().map(of_group).collect()
}
