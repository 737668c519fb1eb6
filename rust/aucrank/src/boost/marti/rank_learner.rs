//! `MartiRank` as a learner of two-sided classifiers: a weak ranker at every node, cut by Lemma 4.

use std::ops::Range;

use super::chance::Chance;
use super::layer::Layer;
use super::learner::{RowChance, TwoSidedLearner};
use super::tile::MassTile;
use crate::boost::row_values::RowValues;
use crate::boost::term::{LevelBudget, Term};
use crate::boost::two_sided::{Criterion, TwoSided, two_sided};
use crate::boost::weak::feature::{Best, BinRule};
use crate::boost::weak::{Ranker, Ranking, WeakRanker, WeakSample, WeakTask};
use crate::data::{Binned, ClassMasses, ClassSums, MassHistogram, RowSquares, RowUnits};
use crate::{RankError, parallel};

/// Least advantage of a ranking over a coin.
const LEAST_ADVANTAGE: f64 = 1e-12;

/// Memory in bytes for the sums of one wide feature over a batch of nodes; more nodes take further
/// passes over the rows.
const WIDE_BYTES: usize = 64 << 20;

/// Fits weak rankers at the nodes of a layer.
pub(super) struct RankLearner<'a> {
    pub(super) sample: WeakSample<'a>,
    pub(super) weak: Box<dyn WeakRanker + 'a>,
    /// The bin rule of the weak ranker, if all nodes of a layer are fitted in one pass.
    pub(super) rule: Option<BinRule>,
    pub(super) criterion: Criterion,
    pub(super) noise_rate: f64,
    /// Whether nodes learn from samples of their rows.
    pub(super) is_sampled: bool,
    /// Budget for the values of categories in the terms of all nodes.
    pub(super) budget: LevelBudget,
}

/// A ranker cut into a two-sided classifier.
#[derive(Debug)]
pub(super) struct CutRanker<'a> {
    pub(super) term: Term,
    pub(super) cut: TwoSided,
    chances: RowValues<Chance>,
    binned: &'a Binned,
}

impl RowChance for CutRanker<'_> {
    #[inline]
    fn chance(&self, row: usize) -> Chance {
        self.chances.get(self.binned, row)
    }

    fn chances(&self, rows: Range<usize>, chances: &mut [Chance]) {
        self.chances.read(self.binned, rows, chances);
    }
}

/// The sums of a pass over a layer.
pub(super) struct LayerSums {
    histogram: MassHistogram,
    by_row: Vec<u64>,
}

impl<'a> TwoSidedLearner for RankLearner<'a> {
    type Classifier = CutRanker<'a>;
    type Sums = Option<LayerSums>;

    fn empty(&self, n_nodes: usize) -> Self::Sums {
        let histogram = MassHistogram::new(self.sample.binned, n_nodes);
        self.rule.map(|_| LayerSums { histogram, by_row: Vec::new() })
    }

    fn add(&self, sums: &mut Self::Sums, tile: &MassTile<'_>) {
        if let Some(LayerSums { histogram, by_row }) = sums {
            tile.add_to(histogram, self.sample.binned, by_row);
        }
    }

    fn merge(&self, sums: &mut Self::Sums, more: Self::Sums) {
        if let (Some(sums), Some(more)) = (sums, more) {
            sums.histogram.merge(&more.histogram);
        }
    }

    fn learn(
        &self,
        sums: Self::Sums,
        layer: &Layer<'_>,
    ) -> Result<Vec<Option<CutRanker<'a>>>, RankError> {
        let open = layer.open();
        let (Some(rule), Some(sums)) = (self.rule, sums) else {
            let alone = |&node: &usize| self.within_budget(self.learn_alone(layer, node)?);
            return open.iter().map(alone).collect();
        };
        let units = self.level_units(layer);
        let best = self.best_narrow(rule, &sums.histogram, open, &units);
        let best = self.best_wide(rule, best, layer, &units)?;
        let cut = |best: Best| {
            let ranking = best.into_ranking(self.sample.binned);
            self.within_budget(ranking.and_then(|ranking| self.cut(ranking, None)))
        };
        parallel::try_map(best, cut)
    }

    fn learns_from_sums_only(&self) -> bool {
        let binned = self.sample.binned;
        // Shrinkage of rates reads the masses of the rows a second time.
        self.rule.is_some()
            && !binned.shrinks_levels()
            && (0..binned.features().len()).all(|j| binned.is_narrow(j))
    }

    fn settle(&self, classifier: &mut CutRanker<'a>) {
        classifier.chances = RowValues::Rows(Vec::new());
    }
}

impl<'a> RankLearner<'a> {
    /// Variance due to chance of the rates of categories at each node; `None` if rates are not
    /// shrunk.
    fn level_units(&self, layer: &Layer<'_>) -> Vec<Option<RowUnits>> {
        let n_nodes = layer.class_masses().len();
        if !self.sample.binned.shrinks_levels() {
            return vec![None; n_nodes];
        }
        let labels = self.sample.labels;
        let mut squares = vec![RowSquares::default(); n_nodes];
        for tile in layer.walk.tiles(n_nodes) {
            tile.for_each(|row, node, mass| {
                let (pos, neg) = if tile.is_positive(row) { (mass, 0) } else { (0, mass) };
                squares[node].add(ClassSums { pos, neg, rows: labels.sums(row).rows }, 1);
            });
        }
        squares.iter().map(|squares| Some(squares.units())).collect()
    }

    fn within_budget(
        &self,
        ranker: Option<CutRanker<'a>>,
    ) -> Result<Option<CutRanker<'a>>, RankError> {
        ranker.iter().try_for_each(|ranker| self.budget.spend(&ranker.term))?;
        Ok(ranker)
    }

    /// The best one-byte features.
    fn best_narrow(
        &self,
        rule: BinRule,
        histogram: &MassHistogram,
        open: &[usize],
        units: &[Option<RowUnits>],
    ) -> Vec<Best> {
        let binned = self.sample.binned;
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

    /// The best features, including wide ones: each of these is summed separately, by column, over
    /// as many nodes at once as memory allows.
    fn best_wide(
        &self,
        rule: BinRule,
        mut best: Vec<Best>,
        layer: &Layer<'_>,
        units: &[Option<RowUnits>],
    ) -> Result<Vec<Best>, RankError> {
        let (binned, interrupt) = (self.sample.binned, self.sample.interrupt);
        let n_nodes = layer.class_masses().len();
        let best_of = |feature: usize| {
            let n_codes = binned.features()[feature].n_codes();
            let n_at_once = (WIDE_BYTES / (n_codes * size_of::<ClassMasses>())).max(1);
            let mut found = Vec::with_capacity(layer.open().len());
            for open in layer.open().chunks(n_at_once) {
                interrupt.check()?;
                let mut place_of = vec![None; n_nodes];
                for (place, &node) in open.iter().enumerate() {
                    place_of[node] = Some(place);
                }
                let mut sums = vec![ClassMasses::default(); n_codes * open.len()];
                for tile in layer.walk.tiles(n_nodes) {
                    tile.for_each(|row, node, mass| {
                        let Some(place) = place_of[node] else { return };
                        let code = binned.code(row, feature) as usize;
                        let sum = &mut sums[code * open.len() + place];
                        if tile.is_positive(row) { sum.pos += mass } else { sum.neg += mass }
                    });
                }
                found.extend((0..open.len()).map(|place| {
                    let mut best = Best::default();
                    let of_node = sums.iter().skip(place).step_by(open.len()).copied();
                    let units = units[open[place]].as_ref();
                    best.ask(binned, feature, (0..).zip(of_node), units, rule);
                    best
                }));
            }
            Ok(found)
        };
        let wide = (0..binned.features().len()).filter(|&feature| !binned.is_narrow(feature));
        for of_feature in parallel::try_map(wide.collect(), best_of)? {
            best.iter_mut().zip(of_feature).for_each(|(best, more)| best.join(more));
        }
        Ok(best)
    }

    /// Fits one node to the rows that it learns from.
    fn learn_alone(
        &self,
        layer: &Layer<'_>,
        node: usize,
    ) -> Result<Option<CutRanker<'a>>, RankError> {
        let (masses, rows) = (layer.masses(node), layer.rows(node));
        let seed = layer.seed_of(node);
        let task = WeakTask { masses: &masses, rows: &rows, features: None, seed };
        let Some(ranking) = self.weak.rank(&self.sample, &task)? else { return Ok(None) };
        let natural = self.is_sampled.then(|| layer.estimates()[node]);
        let number = match &ranking.ranker {
            Ranker::Scored { scorer, .. } => scorer.external_number(),
            Ranker::Feature | Ranker::Tree(_) => None,
        };
        let cut = self.cut(ranking, natural);
        if let (None, Some(number), Some(external)) = (&cut, number, self.sample.external) {
            external.forget(&[number]);
        }
        Ok(cut)
    }

    /// Cuts a ranking; `None` if it is no better than a coin. Samples hold the classes in other
    /// proportions than the population: `natural` are the masses that they stand for.
    fn cut(&self, mut ranking: Ranking, natural: Option<ClassMasses>) -> Option<CutRanker<'a>> {
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
        let (term, groups) = ranking.into_term(&self.sample, &values, Chance::HALF.value());
        let binned = self.sample.binned;
        let chances = RowValues::of_ranking(&term, groups, values, binned).map(Chance::new);
        Some(CutRanker { term, cut, chances, binned })
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
