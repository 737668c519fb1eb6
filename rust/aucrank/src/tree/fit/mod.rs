//! From columns to a pruned ranking tree: parameters and fit.
//!
//! - `grower`: growth and pruning on rows in memory or elsewhere, also on dyadic cubes; `searched`:
//!   trees that are searched;
//! - `with_rates`: rates of rare categories, and trees on rows whose masses differ between trees.

mod grower;
mod searched;
mod with_rates;

pub(super) use grower::TreeGrower;
pub(crate) use with_rates::ReweightedTrees;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::RankingTree;
use super::grow::{GrowParams, Missing};
use super::model::LeafOrder;
use super::prune::{Complexity, CrossValidation, Penalization, PruningRule, Validation};
use super::sample::places_by_codes;
use super::search::{MOST_LEAVES, SearchParams, USUAL_LEAVES};
use super::split::{DyadicParams, LeafRankParams, SplitRule};
use crate::data::{
    Binned, BinningParams, ClassSums, Columns, CountedRows, FewContents, Labels, RareLevels,
    RowTally, WeightedRows, binds, check_monotonic,
};
use crate::external::{ExternalFitter, keep_used};
use crate::formula::Formula;
use crate::rows::words::{WordReader, put_sums};
use crate::rows::{Kept, Mergeable, PartView, Question, RowFrame, TrainingRows};
use crate::{Interrupt, RankError};
use grower::{Searching, TreesInMemory, fit_best_level, fit_rows, grow_and_prune};
use searched::{SearchedNotGrown, search_and_choose, training_auc_up_to};
use with_rates::WithRates;

/// Parameters of a ranking tree.
///
/// For an example see [`fit`](fn@crate::tree::fit).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeRankParams {
    /// How numeric features are binned.
    pub binning: BinningParams,
    /// When the tree stops growing.
    pub grow: GrowParams,
    /// How nodes are split.
    pub split: SplitRule,
    /// How the tree is pruned, if at all.
    pub pruning: Option<PruningRule>,
    /// Seed of random choices in the growth.
    pub seed: u64,
    /// How the tree is searched; `None` for growth, in which no cut is taken back.
    #[serde(default)]
    pub search: Option<SearchParams>,
    /// For each feature, 1 if the score may only rise with it, -1 if it may only fall, 0 if it is
    /// free; empty to leave all free. Only numeric features can be bound.
    #[serde(default)]
    pub monotonic: Vec<i8>,
}

impl TreeRankParams {
    /// A tree that is not pruned, of bins by default, with seed 0 and all features free.
    #[must_use]
    pub fn new(grow: GrowParams, split: SplitRule) -> Self {
        Self {
            binning: BinningParams::default(),
            grow,
            split,
            pruning: None,
            seed: 0,
            search: None,
            monotonic: Vec::new(),
        }
    }

    pub(super) fn validate(&self) -> Result<(), RankError> {
        self.grow.validate()?;
        let refuse = |name, value: &str| {
            let rule = "left out: this split rule cannot honour it";
            Err(RankError::BadParameter { name, value: value.to_owned(), rule })
        };
        let split = self.split.rule();
        split.validate()?;
        if !split.is_of_stumps() {
            if binds(&self.monotonic) {
                return refuse("monotonic_cst", "given");
            }
            if self.grow.missing == Missing::CellMean {
                return refuse("missing", "'cell_mean'");
            }
        }
        self.pruning.iter().try_for_each(PruningRule::validate)?;
        if let Some(search) = &self.search {
            search.validate()?;
            self.check_for_search()?;
        }
        match self.pruning {
            Some(PruningRule::Penalty(_)) => self.complexity().map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Checks that the tree of the parameters can be searched.
    fn check_for_search(&self) -> Result<(), RankError> {
        let refuse = |name, value: &str, rule| {
            Err(RankError::BadParameter { name, value: value.to_owned(), rule })
        };
        let is_stump = |split: &LeafRankParams| {
            let LeafRankParams { min_samples_leaf, min_samples_split, .. } = *split;
            let stump = LeafRankParams::orthogonal(min_samples_leaf);
            *split == LeafRankParams { min_samples_split, ..stump }
        };
        if !matches!(&self.split, SplitRule::Stumps(split) if is_stump(split)) {
            let rule = "'orthogonal', by the AUC and with all features, where trees are searched";
            return refuse("split", self.split.rule().name(), rule);
        }
        if self.grow.missing == Missing::CellMean {
            return refuse("missing", "'cell_mean'", "'learn' where trees are searched");
        }
        if self.grow.leaf_order != LeafOrder::Eta {
            return refuse("leaf_order", "'tree'", "'eta' where trees are searched");
        }
        if matches!(self.pruning, Some(PruningRule::Penalty(_))) {
            let rule = "'cv', 'validation' or None where trees are searched";
            return refuse("pruning", "a penalty", rule);
        }
        let GrowParams { max_leaves, min_samples_split, min_samples_leaf, min_gain, .. } =
            self.grow;
        if let Some(most) = max_leaves.filter(|&most| most > MOST_LEAVES) {
            return refuse("max_leaves", &most.to_string(), "at most 100 where trees are searched");
        }
        if min_samples_split > min_samples_leaf.saturating_mul(2).max(2) {
            let rule = "at most twice min_samples_leaf where trees are searched";
            return refuse("min_samples_split", &min_samples_split.to_string(), rule);
        }
        if min_gain > 0.0 {
            return refuse("min_gain", &min_gain.to_string(), "0 where trees are searched");
        }
        Ok(())
    }

    /// Checks the parameters, and that they suit the columns.
    pub(super) fn check_for(&self, columns: &Columns<'_>) -> Result<(), RankError> {
        self.validate()?;
        check_monotonic(&self.monotonic, &columns.n_levels())
    }

    /// The parameters with a number of leaves if the tree is searched, which has to have enough
    /// rows for them if it is given.
    fn sized_for(&self, labels: &Labels<'_>) -> Result<Self, RankError> {
        let mut sized = self.clone();
        if let Some(search) = &self.search {
            let most = *sized.grow.max_leaves.get_or_insert(USUAL_LEAVES);
            let n_rows = self.grow.min_samples_leaf.saturating_mul(most as u64);
            if self.grow.max_leaves.is_some() && n_rows > labels.total().rows {
                let (name, value, rule) = if search.is_of_rules() {
                    let rule = "less than the number of rows over min_samples_leaf";
                    ("max_rules", most - 1, rule)
                } else {
                    let rule = "at most the number of rows over min_samples_leaf in a search";
                    ("max_leaves", most, rule)
                };
                return Err(RankError::BadParameter { name, value: value.to_string(), rule });
            }
        }
        Ok(sized)
    }

    /// Whether some rows are held out to choose the size of the tree.
    pub(super) fn holds_out(&self) -> bool {
        matches!(self.pruning, Some(PruningRule::CrossValidation(_) | PruningRule::Validation(_)))
            || matches!(
                self.split,
                SplitRule::Stumps(LeafRankParams { pruning: Some(_), .. })
                    | SplitRule::Dyadic(DyadicParams { level: None })
            )
    }

    fn complexity(&self) -> Result<Complexity, RankError> {
        Complexity::of(&self.split).ok_or(RankError::BadParameter {
            name: "pruning",
            value: "a penalty".to_owned(),
            rule: "another rule: no penalty is known for this split rule",
        })
    }
}

/// Fits a ranking tree: bins the columns, grows, prunes.
///
/// The categories of rows elsewhere have to be coded as they are
/// ([`LevelRates::Raw`](crate::data::LevelRates)).
///
/// # Errors
///
/// [`RankError`] for a bad parameter, an infinite value, or when interrupted. For rows elsewhere,
/// [`RankError::BadParameter`] also for options that need more than sums of cells: split rules
/// other than stumps, trees of stumps that are pruned by themselves, and missing values that count
/// as means; and if rare categories of the rows are coded as missing. Errors of the holder of the
/// rows.
///
/// # Examples
///
/// ```
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{TreeRankParams, GrowParams, LeafRankParams, SplitRule, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1).unwrap();
/// let labels = Labels::new(&[false, true, false, true], None).unwrap();
/// let grow = GrowParams { max_depth: 3, min_samples_leaf: 1, ..GrowParams::default() };
/// let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let fitted = fit((&columns, &labels), &params, &aucrank::Interrupt::default()).unwrap();
/// assert_eq!(fitted.tree.auc(), 1.0);
/// ```
pub fn fit<'a>(
    rows: impl Into<TrainingRows<'a>>,
    params: &TreeRankParams,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    match rows.into() {
        TrainingRows::Memory(columns, labels) => fit_with(columns, labels, params, None, interrupt),
        TrainingRows::Elsewhere(rows) => fit_rows(rows, params, interrupt),
    }
}

/// Fits a ranking tree whose nodes are split by classifiers ([`SplitRule::Classifier`]), which
/// `classifiers` fits to rows given by their numbers.
///
/// [`SplitRule::Classifier`]: super::SplitRule::Classifier
///
/// The tree refers by number to the classifiers that `classifiers` keeps, and scores with them
/// ([`RankingTree::score`](super::RankingTree::score)).
///
/// # Errors
///
/// As [`fit`], and errors of the classifiers.
pub fn fit_by_classifiers(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &TreeRankParams,
    classifiers: &dyn ExternalFitter,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    let mut model = fit_with(columns, labels, params, Some(classifiers), interrupt)?;
    keep_used(model.tree.classifiers_mut(), Some(classifiers));
    Ok(model)
}

fn fit_with(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &TreeRankParams,
    classifiers: Option<&dyn ExternalFitter>,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    params.check_for(columns)?;
    let columns = &columns.until(interrupt);
    let params = &params.sized_for(labels)?;
    // Classifiers are fitted to rows by their numbers, so that these cannot be others.
    if params.holds_out()
        && classifiers.is_none()
        && let Some(contents) = FewContents::of(columns, labels, params.seed, interrupt)?
    {
        return fit_raw(&contents.columns(columns)?, &contents.labels()?, params, None, interrupt);
    }
    fit_raw(columns, labels, params, classifiers, interrupt)
}

fn fit_raw(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &TreeRankParams,
    classifiers: Option<&dyn ExternalFitter>,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    let columns = &columns.until(interrupt);
    let binned = Binned::new(columns, labels, params.binning, interrupt)?;
    let fit = |params: &TreeRankParams| {
        fit_binned(columns, &binned, labels, params, classifiers, interrupt)
    };
    match params.split {
        SplitRule::Dyadic(DyadicParams { level: None }) => fit_best_level(params, fit),
        _ => fit(params),
    }
}

fn fit_binned<'a>(
    columns: &'a Columns<'a>,
    binned: &'a Binned,
    labels: &'a Labels<'a>,
    params: &'a TreeRankParams,
    classifiers: Option<&'a dyn ExternalFitter>,
    interrupt: &'a Interrupt,
) -> Result<TreeRankModel, RankError> {
    let grower = TreeGrower::new(columns, binned, labels, params, classifiers, interrupt)?;
    let rare = params.rare_levels(columns, labels, params.seed, interrupt)?;
    if labels.weights().is_none() {
        fit_counted(&grower, CountedRows(labels.positive()), rare, params, interrupt)
    } else {
        fit_counted(&grower, WeightedRows(labels), rare, params, interrupt)
    }
}

/// The tree that grows, or the one that is searched.
fn found<G: Searching>(
    rows: &G,
    params: &TreeRankParams,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    match &params.search {
        None => grow_and_prune(rows, params, interrupt),
        Some(search) if search.is_of_rules() => {
            grow_and_prune(&SearchedNotGrown { rows, search }, params, interrupt)
        }
        Some(search) => search_and_choose(rows, search, params, interrupt),
    }
}

fn fit_counted<'a, R: RowTally + Copy>(
    grower: &TreeGrower<'a, ()>,
    row_tally: R,
    rare: Option<RareLevels>,
    params: &'a TreeRankParams,
    interrupt: &'a Interrupt,
) -> Result<TreeRankModel, RankError> {
    let grower = grower.counted_by(row_tally, None);
    let rows = TreesInMemory { grower, seed: params.seed, interrupt };
    match rare {
        None => found(&rows, params, interrupt),
        Some(rare) => found(&WithRates { rows, row_tally, rare, params }, params, interrupt),
    }
}

/// As [`fit`], but pruned by other rows instead of held-out training rows: the tree of the nested
/// path with the largest AUC on them is kept.
///
/// # Errors
///
/// [`RankError`] as for [`fit`]; [`RankError::InValidation`] for errors in the other rows;
/// [`RankError::BadParameter`] unless the pruning rule is [`PruningRule::Validation`].
pub fn fit_validated(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    (other_columns, other_labels): (&Columns<'_>, &Labels<'_>),
    params: &TreeRankParams,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    if !matches!(params.pruning, Some(PruningRule::Validation(_))) {
        return Err(RankError::BadParameter {
            name: "pruning",
            value: "another rule".to_owned(),
            rule: "validation where rows to validate on are given",
        });
    }
    params.validate()?;
    let (columns, other_columns) = (&columns.until(interrupt), &other_columns.until(interrupt));
    // Before the tree is grown, which may take a long time.
    if let Some(err) = other_columns.infinite_value() {
        return Err(err.in_validation());
    }
    let best = |search: Option<SearchParams>| {
        let unpruned = TreeRankParams { pruning: None, search, ..params.sized_for(labels)? };
        let model = fit((columns, labels), &unpruned, interrupt)?;
        let found = model.tree.best_up_to(params.grow.max_fpr, other_columns, other_labels);
        Ok::<_, RankError>((model, found.map_err(RankError::in_validation)?))
    };
    let of_rules = params.search.filter(SearchParams::is_of_rules);
    let (_, (mut tree, mut found)) = best(of_rules)?;
    let (mut gap, mut near_best) = (None, Vec::new());
    if params.search.is_some() && of_rules.is_none() {
        let (searched, (_, of_searched)) = best(params.search)?;
        found = found.against(&searched.tree, of_searched.auc[0]);
        let reached = |tree: &RankingTree| training_auc_up_to(params.grow.max_fpr, tree);
        let bound = searched.gap.map(|gap| reached(&searched.tree) + gap);
        if found.chosen == 0 {
            tree = searched.tree;
        }
        gap = bound.map(|bound| (bound - reached(&tree)).max(0.0));
        near_best = searched.near_best;
    }
    Ok(TreeRankModel { gap, near_best, validation: Some(found), ..TreeRankModel::unpruned(tree) })
}

/// A fitted tree, and how it was chosen.
///
/// For an example see [`fit`](fn@crate::tree::fit).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeRankModel {
    /// The tree.
    pub tree: RankingTree,
    /// Result of cross-validation. `None` if it was not requested, or if a class has a single
    /// distinct row, so that no fold can be left out; the tree is then not pruned.
    pub cross_validation: Option<CrossValidation>,
    /// By how much another tree within the limits, between the bins of the search, could exceed the
    /// AUC of the training rows, that up to `max_fpr` standardised; `None` unless all trees were
    /// searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// The trees within the limits, between the bins of the search, whose AUC is at most
    /// [`SearchParams::tolerance`] below the largest, that of largest AUC first: of trees with the
    /// same leaves one, and none whose AUC stays when two leaves become one. Not saved.
    #[serde(skip)]
    pub near_best: Vec<RankingTree>,
    /// Result of the penalty for each number of leaves, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub penalization: Option<Penalization>,
    /// Result on the held-out rows, if they were requested and there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
}

impl TreeRankModel {
    /// A tree without pruning.
    pub(super) fn unpruned(tree: RankingTree) -> Self {
        Self {
            tree,
            cross_validation: None,
            gap: None,
            near_best: Vec::new(),
            penalization: None,
            validation: None,
        }
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        self.tree.n_levels()
    }

    /// Its score.
    #[must_use]
    pub fn formula(&self) -> Formula {
        Formula::Tree(self.tree.formula(&self.tree.leaf_scores()))
    }

    /// Validates a loaded model: its parts must be consistent.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        self.tree.check()?;
        self.penalization.iter().try_for_each(|found| found.check(&self.tree))?;
        self.validation.iter().try_for_each(|found| found.check(&self.tree))?;
        if !self.gap.is_none_or(|gap| (0.0..=1.0).contains(&gap)) {
            return Err("the gap of the search is no difference of areas".to_owned());
        }
        let Some(found) = &self.cross_validation else { return Ok(()) };
        let n_steps = found.steps.len();
        let fits = found.mean_auc.len() == n_steps && found.standard_error.len() == n_steps;
        if fits && found.chosen < n_steps {
            Ok(())
        } else {
            Err("the table of the cross-validation has columns of several lengths".to_owned())
        }
    }
}

/// Class sums of rows in the leaves of a tree.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskLeaves(Arc<RankingTree>);

/// The leaves in ranking order.
#[derive(Debug, Clone)]
pub(crate) struct SumsOfLeaves(Vec<ClassSums>);

impl Question for AskLeaves {
    const NAME: &'static str = "leaves";

    type Answer = SumsOfLeaves;

    fn none(&self, _: &RowFrame) -> SumsOfLeaves {
        SumsOfLeaves(vec![ClassSums::default(); self.0.n_leaves()])
    }

    fn add(
        &self,
        part: &PartView<'_>,
        _: &mut Kept<'_>,
        leaves: &mut SumsOfLeaves,
        _: &Interrupt,
    ) -> Result<(), RankError> {
        self.check(part.frame)?;
        let (rows, tally) = (part.rows(), part.sums());
        let places = places_by_codes(part.binned(), &self.0, &rows, None);
        for (place, row) in places.into_iter().zip(rows) {
            leaves.0[place as usize] += tally.of(row as usize);
        }
        Ok(())
    }
}

impl AskLeaves {
    /// Checks a received tree, which must have as many features as the frame.
    fn check(&self, frame: &RowFrame) -> Result<(), RankError> {
        self.0.check().map_err(RankError::BadAnswer)?;
        if self.0.n_levels().len() != frame.features().len() {
            return Err(RankError::BadAnswer("the tree is of other rows".to_owned()));
        }
        Ok(())
    }
}

impl Mergeable for SumsOfLeaves {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        self.0.iter_mut().zip(more.0).for_each(|(own, more)| *own += more);
        Ok(())
    }

    fn put_words(&mut self, words: &mut Vec<u64>) {
        self.0.iter().for_each(|&sums| put_sums(words, sums));
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        for sums in &mut self.0 {
            *sums = reader.sums()?;
        }
        Ok(())
    }
}
