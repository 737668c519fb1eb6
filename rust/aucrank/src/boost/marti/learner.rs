//! Two-sided classifiers on the rows of a fit, and their learners.

use std::ops::Range;

use super::chance::Chance;
use super::walk::{Cut, Cutter, Layer, MassTile, WideSums, best_narrow};
use crate::boost::scored::RowValues;
use crate::boost::term::Term;
use crate::boost::two_sided::TwoSided;
use crate::boost::weak::feature::{Best, BinRule};
use crate::boost::weak::{Ranker, WeakRanker, WeakRanking, WeakSample, WeakTask};
use crate::data::{Binned, ClassMasses, ClassSums, MassHistogram, RowSquares, RowUnits};
use crate::{RankError, parallel};

/// The predictions of a classifier on the rows of the fit.
///
/// # Examples
///
/// ```
/// use aucrank::boost::{Chance, RowChance};
///
/// /// Calls rows positive with the probabilities of a list.
/// struct Listed(Vec<f64>);
///
/// impl RowChance for Listed {
///     fn chance(&self, row: usize) -> Chance {
///         Chance::new(self.0[row])
///     }
/// }
///
/// let classifier = Listed(vec![0.25, 1.0, 0.5]);
/// assert_eq!(classifier.chance(0).value(), 0.25);
/// let mut chances = [Chance::HALF; 2];
/// classifier.chances(1..3, &mut chances);
/// assert_eq!(chances.map(Chance::value), [1.0, 0.5]);
/// ```
pub trait RowChance: Sync {
    /// The probability that it predicts a row as positive.
    fn chance(&self, row: usize) -> Chance;

    /// [`RowChance::chance`] of consecutive rows, written to `chances`.
    fn chances(&self, rows: Range<usize>, chances: &mut [Chance]) {
        for (row, chance) in rows.zip(chances) {
            *chance = self.chance(row);
        }
    }
}

/// Learns two-sided classifiers, one for each node of a layer.
///
/// # Examples
///
/// A learner with one sum for each node, the mass of its positive rows, that predicts all rows as
/// positive if these are more than half of the mass:
///
/// ```
/// use aucrank::boost::{
///     Chance, Layer, MartiBoostParams, MassTile, Outcome, RowChance, TwoSidedLearner, marti_boost,
/// };
/// use aucrank::data::{Columns, Labels};
/// use aucrank::{Interrupt, RankError};
///
/// struct Always;
///
/// impl RowChance for Always {
///     fn chance(&self, _row: usize) -> Chance {
///         Chance::new(1.0)
///     }
/// }
///
/// struct Majority;
///
/// impl TwoSidedLearner for Majority {
///     type Classifier = Always;
///     type Sums = Vec<u64>;
///
///     fn empty(&self, n_nodes: usize) -> Vec<u64> {
///         vec![0; n_nodes]
///     }
///
///     fn add(&self, sums: &mut Vec<u64>, tile: &MassTile<'_>) {
///         tile.for_each(|row, node, mass| {
///             sums[node] += if tile.is_positive(row) { mass } else { 0 };
///         });
///     }
///
///     fn merge(&self, sums: &mut Vec<u64>, more: Vec<u64>) {
///         sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
///     }
///
///     fn learn(
///         &self,
///         sums: Vec<u64>,
///         layer: &Layer<'_>,
///     ) -> Result<Vec<Option<Always>>, RankError> {
///         let is_positive = |&node: &usize| 2 * sums[node] > layer.masses(node).iter().sum();
///         Ok(layer.open().iter().map(|node| is_positive(node).then_some(Always)).collect())
///     }
/// }
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0], 1)?;
/// let params = MartiBoostParams { n_rounds: 1, ..MartiBoostParams::default() };
/// let fit = |positive: &[bool]| {
///     let labels = Labels::new(positive, None)?;
///     marti_boost(&columns, &labels, &params, &Majority, &Interrupt::default())
/// };
/// assert!(matches!(fit(&[true, false, true])?.nodes[0].1, Outcome::Classifier(Always)));
/// assert!(matches!(fit(&[true, false, false])?.nodes[0].1, Outcome::Coin));
/// # Ok::<(), RankError>(())
/// ```
pub trait TwoSidedLearner: Sync {
    /// A classifier on the rows of the fit.
    type Classifier: RowChance + Send;

    /// Sums accumulated in a pass over the rows; `()` for a learner that reads the rows of a node
    /// afterwards, by [`Layer::masses`].
    type Sums: Send;

    /// Empty sums for a layer of `n_nodes` nodes.
    fn empty(&self, n_nodes: usize) -> Self::Sums;

    /// Adds a tile of rows.
    fn add(&self, sums: &mut Self::Sums, tile: &MassTile<'_>);

    /// Adds the sums of other rows.
    fn merge(&self, sums: &mut Self::Sums, more: Self::Sums);

    /// A classifier for each of [`Layer::open`]; `None` if none is better than chance, which leaves
    /// the rows to a fair coin.
    ///
    /// # Errors
    ///
    /// [`RankError`], which ends the fit.
    fn learn(
        &self,
        sums: Self::Sums,
        layer: &Layer<'_>,
    ) -> Result<Vec<Option<Self::Classifier>>, RankError>;

    /// Whether classifiers can be evaluated on the rows in all later layers, and the learner uses
    /// neither [`Layer::masses`] nor [`Layer::rows`]: the masses of the rows are then not stored.
    fn learns_from_sums_only(&self) -> bool {
        false
    }

    /// Called after the last step by a classifier: data needed only for the rows may be freed.
    fn settle(&self, classifier: &mut Self::Classifier) {
        let _ = classifier;
    }
}

/// Fits weak rankers at the nodes of a layer.
pub(super) struct RankLearner<'a> {
    pub(super) sample: WeakSample<'a>,
    pub(super) weak: Box<dyn WeakRanker + 'a>,
    /// The bin rule of the weak ranker, if all nodes of a layer are fitted in one pass.
    pub(super) rule: Option<BinRule>,
    pub(super) cutter: Cutter,
    /// Whether nodes learn from samples of their rows.
    pub(super) is_sampled: bool,
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
        let (open, binned) = (layer.open(), self.sample.binned);
        let (Some(rule), Some(sums)) = (self.rule, sums) else {
            return open.iter().map(|&node| self.learn_alone(layer, node)).collect();
        };
        let units = self.level_units(layer);
        let best = best_narrow(rule, binned, &sums.histogram, open, &units);
        let best = self.best_wide(rule, best, layer, &units)?;
        let cut = |best: Best| match best.into_ranking(binned) {
            Some(ranking) => self.cut(ranking, None),
            None => Ok(None),
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
            let mut found: Vec<Best> = Vec::with_capacity(layer.open().len());
            for open in layer.open().chunks(WideSums::n_at_once(n_codes)) {
                interrupt.check()?;
                let mut place_of = vec![None; n_nodes];
                for (place, &node) in open.iter().enumerate() {
                    place_of[node] = Some(place);
                }
                let mut sums = WideSums::new(n_codes, open.len());
                for tile in layer.walk.tiles(n_nodes) {
                    tile.for_each(|row, node, mass| {
                        let Some(place) = place_of[node] else { return };
                        sums.add(binned.code(row, feature), place, tile.is_positive(row), mass);
                    });
                }
                let first = found.len();
                found.resize_with(first + open.len(), Best::default);
                let units = open.iter().map(|&node| units[node].as_ref());
                sums.ask(rule, binned, feature, found[first..].iter_mut().zip(units));
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
        let cut = self.cut(ranking, natural)?;
        if let (None, Some(number), Some(external)) = (&cut, number, self.sample.external) {
            external.forget(&[number]);
        }
        Ok(cut)
    }

    /// Cuts a ranking, within the budget; `None` if it is no better than a coin.
    fn cut(
        &self,
        ranking: WeakRanking,
        natural: Option<ClassMasses>,
    ) -> Result<Option<CutRanker<'a>>, RankError> {
        let binned = self.sample.binned;
        let found = self.cutter.cut(binned, ranking, natural);
        let Some(Cut { term, two_sided: cut, groups, values }) = found else { return Ok(None) };
        self.cutter.spend(&term)?;
        let chances = RowValues::of_ranking(&term, groups, values, binned).map(Chance::new);
        Ok(Some(CutRanker { term, cut, chances, binned }))
    }
}
