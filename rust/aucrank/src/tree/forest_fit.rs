//! Growing a forest: trees on bootstrap samples, judged by the rows that they have not seen.

use std::sync::atomic::{AtomicUsize, Ordering};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::bootstrap::{Bootstrap, BootstrapParams};
use super::calibration::Calibration;
use super::consensus::Consensus;
use super::fit::{FitParams, Sample, SplitRule};
use super::forest::{Aggregation, Asked, OutOfBag, RankingForest};
use super::scorer::{TILE_ROWS, Tile};
use super::votes::Votes;
use crate::data::{Binned, Columns, CountedRows, Labels, RowTally, WeightedRows, below, mix};
use crate::roc::DeLong;
use crate::{Interrupt, RankError};

/// Trees that are asked together about the rows that they have not seen; also how often early
/// stopping looks.
const BLOCK_TREES: usize = 10;

/// Most rows by which a consensus of rankings is ordered.
const REFERENCE_ROWS: usize = 512;

/// Most rows on which medians and consensus scores are formed after the growth: they need the
/// answers of all trees at once.
const SAMPLED_ROWS: usize = 20_000;

/// When a forest stops growing before it has all its trees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlyStopping {
    /// Trees that may be added without the out-of-bag AUC rising by more than `tol`.
    pub n_iter_no_change: usize,
    /// What counts as a rise.
    pub tol: f64,
}

/// Everything that a fit of a forest can be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForestParams {
    /// How each tree is grown; its pruning is not used. Its seed is that of the forest.
    pub tree: FitParams,
    /// Number of trees; at least 1.
    pub n_trees: usize,
    /// How rows are drawn for each tree; `None` if each sees all of them.
    pub bootstrap: Option<BootstrapParams>,
    /// How the trees make one score.
    pub aggregation: Aggregation,
    /// Whether the AUC on rows that trees have not seen is wanted; it needs a bootstrap.
    pub out_of_bag: bool,
    /// When to stop early, which needs a bootstrap too.
    pub early_stopping: Option<EarlyStopping>,
}

impl ForestParams {
    fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        self.tree.validate()?;
        if self.n_trees == 0 {
            return bad("n_trees", "0".to_owned(), "at least 1");
        }
        if matches!(self.tree.split, SplitRule::Dyadic(_)) {
            return bad("split", "dyadic".to_owned(), "made of stumps in a forest");
        }
        match self.bootstrap {
            Some(BootstrapParams { share }) if !(share > 0.0 && share <= 1.0) => {
                bad("share", share.to_string(), "in (0, 1]")
            }
            None if self.out_of_bag || self.early_stopping.is_some() => {
                bad("bootstrap", "none".to_owned(), "given where rows out of bag are asked for")
            }
            _ if self.early_stopping.is_some() && self.aggregation == Aggregation::Kendall => bad(
                "aggregation",
                "kendall".to_owned(),
                "another one for early stopping: a consensus is formed of all trees",
            ),
            _ => Ok(()),
        }
    }
}

/// Fits a forest, or adds trees to an `earlier` one until it has as many as are wanted.
///
/// A tree depends on the seed and its number only, so that a forest that was grown in two fits on
/// the same rows is that of one fit, bit for bit.
///
/// # Errors
///
/// [`RankError`] for a bad parameter, an infinite value, or when interrupted.
///
/// # Examples
///
/// ```
/// use aucrank::data::{BinningParams, Columns, Labels};
/// use aucrank::tree::{
///     Aggregation, BootstrapParams, FitParams, ForestParams, GrowParams, LeafOrder,
///     LeafRankParams, Missing, SplitRule, fit_forest,
/// };
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1).unwrap();
/// let labels = Labels::new(&[false, false, false, true, true, true], None).unwrap();
/// let tree = FitParams {
///     binning: BinningParams::default(),
///     grow: GrowParams {
///         max_depth: 3,
///         min_samples_split: 2,
///         min_samples_leaf: 1,
///         min_gain: 0.0,
///         leaf_order: LeafOrder::Eta,
///         missing: Missing::Learn,
///         max_fpr: 1.0,
///     },
///     monotonic: Vec::new(),
///     split: SplitRule::Stumps(LeafRankParams::orthogonal(1)),
///     pruning: None,
///     seed: 0,
/// };
/// let params = ForestParams {
///     tree,
///     n_trees: 20,
///     bootstrap: Some(BootstrapParams { share: 1.0 }),
///     aggregation: Aggregation::Eta,
///     out_of_bag: false,
///     early_stopping: None,
/// };
/// let interrupt = aucrank::Interrupt::default();
/// let forest = fit_forest(&columns, &labels, &params, None, &interrupt).unwrap();
/// let scores = forest.score(&columns).unwrap();
/// assert!(scores[0] < 0.0 && scores[5] > 0.0);
/// ```
pub fn fit_forest(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &ForestParams,
    earlier: Option<RankingForest>,
    interrupt: &Interrupt,
) -> Result<RankingForest, RankError> {
    params.validate()?;
    let binned = Binned::new(columns, labels, params.tree.binning, interrupt)?;
    if labels.weights().is_none() {
        let row_tally = CountedRows(labels.positive());
        let sample =
            Sample::new(columns, &binned, labels, row_tally, &params.tree, None, interrupt)?;
        Growing::new(&sample, params, earlier).fit(interrupt)
    } else {
        let row_tally = WeightedRows(labels);
        let sample =
            Sample::new(columns, &binned, labels, row_tally, &params.tree, None, interrupt)?;
        Growing::new(&sample, params, earlier).fit(interrupt)
    }
}

/// A forest while it grows.
struct Growing<'a, R> {
    sample: &'a Sample<'a, R>,
    params: &'a ForestParams,
    bootstrap: Option<Bootstrap>,
    forest: RankingForest,
}

impl<'a, R: RowTally + Copy> Growing<'a, R> {
    fn new(
        sample: &'a Sample<'a, R>,
        params: &'a ForestParams,
        earlier: Option<RankingForest>,
    ) -> Self {
        let (trees, seed) = match earlier {
            Some(earlier) => (earlier.trees, earlier.seed),
            None => (Vec::new(), params.tree.seed),
        };
        Self {
            sample,
            params,
            bootstrap: params.bootstrap.map(|params| Bootstrap::new(sample.labels, params)),
            forest: RankingForest {
                trees,
                aggregation: params.aggregation,
                seed,
                consensus: None,
                calibration: None,
                out_of_bag: None,
            },
        }
    }

    fn fit(mut self, interrupt: &Interrupt) -> Result<RankingForest, RankError> {
        let n_trees = self.params.n_trees;
        let Some(stopping) = self.params.early_stopping else {
            self.grow(n_trees, interrupt)?;
            return self.finish(interrupt);
        };
        let mut judged = Judged::new(self.sample.labels.rows(), &self.forest);
        let (mut path_trees, mut path_aucs) = (Vec::new(), Vec::<f64>::new());
        let (mut best, mut trees_of_best) = (f64::NEG_INFINITY, 0);
        loop {
            let next = n_trees.min((judged.n_trees / BLOCK_TREES + 1) * BLOCK_TREES);
            self.grow(next, interrupt)?;
            judged.add(&self, next, interrupt)?;
            let scored = judged.scored(&self.forest, self.sample.labels);
            let auc = scored.auc()?.unwrap_or(0.5);
            path_trees.push(next);
            path_aucs.push(auc);
            if auc > best + stopping.tol {
                (best, trees_of_best) = (auc, next);
            }
            if next >= n_trees || next - trees_of_best >= stopping.n_iter_no_change {
                break;
            }
        }
        // What an earlier fit grew beyond is kept: it was asked for.
        let mut forest = self.finish(interrupt)?;
        if let Some(out_of_bag) = &mut forest.out_of_bag {
            (out_of_bag.path_trees, out_of_bag.path_aucs) = (path_trees, path_aucs);
        }
        Ok(forest)
    }

    fn seed_of(&self, tree: usize) -> u64 {
        mix(self.forest.seed ^ mix(tree as u64))
    }

    /// Grows trees until there are `n_trees`.
    fn grow(&mut self, n_trees: usize, interrupt: &Interrupt) -> Result<(), RankError> {
        let first = self.forest.trees.len();
        if first >= n_trees {
            return Ok(());
        }
        let growing = &*self;
        let grow = |tree: usize| {
            interrupt.check()?;
            let seed = growing.seed_of(tree);
            let rows = match &growing.bootstrap {
                Some(bootstrap) => bootstrap.rows(seed),
                None => growing.sample.labels.rows(),
            };
            growing.sample.grow(rows, seed, interrupt)
        };
        let grown = one_thread_each(first..n_trees, grow)?;
        self.forest.trees.extend(grown);
        Ok(())
    }

    /// Forms the consensus, judges the forest by the rows out of bag, and calibrates ranks.
    fn finish(mut self, interrupt: &Interrupt) -> Result<RankingForest, RankError> {
        let labels = self.sample.labels;
        if self.forest.aggregation == Aggregation::Kendall {
            let rows = sampled(&labels.rows(), REFERENCE_ROWS, self.forest.seed);
            let places = self.forest.leaves_of(self.sample.binned, &rows);
            self.forest.consensus = Some(Consensus::new(&places));
        }
        let is_rank = self.forest.aggregation != Aggregation::Eta;
        let stops_early = self.params.early_stopping.is_some();
        if !(is_rank || self.params.out_of_bag || stops_early) {
            return Ok(self.forest);
        }
        let needs_all =
            matches!(self.forest.aggregation, Aggregation::RankMedian | Aggregation::Kendall);
        let mut rows = labels.rows();
        if needs_all && rows.len() > SAMPLED_ROWS {
            rows = sampled(&rows, SAMPLED_ROWS, mix(self.forest.seed));
        }
        let mut judged = Judged::new(rows, &self.forest);
        judged.add(&self, self.forest.trees.len(), interrupt)?;
        let scored = judged.scored(&self.forest, labels);
        if is_rank {
            self.forest.calibration = Some(scored.calibration());
        }
        if self.params.out_of_bag || stops_early {
            self.forest.out_of_bag = scored.out_of_bag()?;
        }
        Ok(self.forest)
    }
}

/// Runs `work` for each number on the threads of the current pool, one number a thread at a time
/// and nothing of it elsewhere: what is being grown at once, and its memory, stays bounded by the
/// number of threads. Where there are more threads than numbers, they share the work instead.
fn one_thread_each<T: Send>(
    numbers: std::ops::Range<usize>,
    work: impl Fn(usize) -> Result<T, RankError> + Sync + Send,
) -> Result<Vec<T>, RankError> {
    let n_threads = rayon::current_num_threads();
    if n_threads == 1 || numbers.len() < n_threads {
        return numbers.into_par_iter().map(work).collect();
    }
    let next = AtomicUsize::new(numbers.start);
    let worker = |_| -> Result<Vec<(usize, T)>, RankError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|err| RankError::NoThread { message: err.to_string() })?;
        pool.install(|| {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= numbers.end {
                    return Ok(done);
                }
                done.push((number, work(number)?));
            }
        })
    };
    let parts: Result<Vec<_>, RankError> =
        (0..n_threads).into_par_iter().with_max_len(1).map(worker).collect();
    let mut all: Vec<(usize, T)> = parts?.into_iter().flatten().collect();
    all.sort_unstable_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, done)| done).collect())
}

/// Some of the rows, one at random from each of `n` equal stretches.
fn sampled(rows: &[u32], n: usize, seed: u64) -> Vec<u32> {
    if rows.len() <= n {
        return rows.to_vec();
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let bound = |k: usize| k * rows.len() / n;
    (0..n).map(|k| rows[bound(k) + below(&mut random, bound(k + 1) - bound(k))]).collect()
}

/// What trees say of training rows that they have not seen, or of all rows where each tree saw all.
struct Judged {
    rows: Vec<u32>,
    /// One for each tile of rows.
    votes: Vec<Votes>,
    n_trees: usize,
}

impl Judged {
    fn new(rows: Vec<u32>, forest: &RankingForest) -> Self {
        let votes = rows.chunks(TILE_ROWS).map(|rows| Votes::new(forest, rows.len())).collect();
        Self { rows, votes, n_trees: 0 }
    }

    /// Asks the trees up to `n_trees` that were not asked before.
    fn add<R: RowTally + Copy>(
        &mut self,
        growing: &Growing<'_, R>,
        n_trees: usize,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        while self.n_trees < n_trees {
            interrupt.check()?;
            let block = self.n_trees..n_trees.min(self.n_trees + BLOCK_TREES);
            let forest = &growing.forest;
            let left_out: Vec<_> = block
                .clone()
                .into_par_iter()
                .map(|tree| {
                    growing.bootstrap.as_ref().map(|bag| bag.left_out(growing.seed_of(tree)))
                })
                .collect();
            let asked = Asked::new(forest, block.clone());
            let binned = growing.sample.binned;
            let recoding = asked.scorer.recoding(binned);
            let tiles = self.votes.par_iter_mut().zip(self.rows.par_chunks(TILE_ROWS));
            tiles.for_each_init(
                || (Tile::default(), vec![0; TILE_ROWS]),
                |(tile, leaves), (votes, rows)| {
                    asked.scorer.recode_rows(binned, &recoding, rows, tile);
                    for (i, left_out) in left_out.iter().enumerate() {
                        let leaves = &mut leaves[..rows.len()];
                        asked.scorer.leaves(i, tile, leaves);
                        let counts = |row: usize| {
                            left_out.as_ref().is_none_or(|left_out| left_out.contains(rows[row]))
                        };
                        votes.add(forest, block.start + i, &asked.values[i], leaves, counts);
                    }
                },
            );
            self.n_trees = block.end;
        }
        Ok(())
    }

    fn scored<'l>(&self, forest: &RankingForest, labels: &'l Labels<'l>) -> Scored<'l> {
        let scores = self.votes.par_iter().flat_map_iter(|votes| votes.scores(forest));
        let scores: Vec<Option<f64>> = scores.collect();
        let (rows, scores) = self
            .rows
            .iter()
            .zip(scores)
            .filter_map(|(&row, score)| score.map(|score| (row, score)))
            .unzip();
        Scored { labels, rows, scores }
    }
}

/// Training rows with scores.
struct Scored<'l> {
    labels: &'l Labels<'l>,
    rows: Vec<u32>,
    scores: Vec<f64>,
}

impl Scored<'_> {
    fn positive(&self) -> Vec<bool> {
        self.rows.iter().map(|&row| self.labels.positive()[row as usize]).collect()
    }

    fn weights(&self) -> Option<Vec<f64>> {
        let weights = self.labels.weights()?;
        Some(self.rows.iter().map(|&row| weights.units()[row as usize] as f64).collect())
    }

    /// `None` if a class is absent.
    fn delong(&self) -> Result<Option<DeLong>, RankError> {
        let positive = self.positive();
        let models = [&self.scores[..]];
        let delong = match self.weights() {
            None => DeLong::new(&models, &positive),
            Some(weights) => DeLong::weighted(&models, &positive, &weights),
        };
        match delong {
            Err(RankError::OneClass { .. }) => Ok(None),
            delong => delong.map(Some),
        }
    }

    fn auc(&self) -> Result<Option<f64>, RankError> {
        Ok(self.delong()?.map(|delong| delong.aucs()[0]))
    }

    fn out_of_bag(&self) -> Result<Option<OutOfBag>, RankError> {
        Ok(self.delong()?.map(|delong| OutOfBag {
            auc: delong.aucs()[0],
            variance: delong.covariance(0, 0),
            effective_rows: delong.effective_rows(),
            path_trees: Vec::new(),
            path_aucs: Vec::new(),
        }))
    }

    fn calibration(&self) -> Calibration {
        let sums = |&row: &u32| self.labels.sums(row as usize);
        let mut scored: Vec<_> =
            self.scores.iter().copied().zip(self.rows.iter().map(sums)).collect();
        Calibration::new(&mut scored)
    }
}
