//! Many trees on many rows.
//!
//! A test on raw values costs a cache miss and a branch that is often mispredicted. Here rows are
//! coded first, with the thresholds of all trees as cuts, so that a value takes two bytes and a
//! test compares two small integers; then each tree, which now fits the first-level cache,
//! processes the rows of a tile eight at a time without a branch, so that their loads overlap. A
//! single row walks down many trees at a time instead.

use std::collections::HashMap;
use std::ops::Range;

use crate::data::{Binned, Columns, CutGrid, FeatureBins, LevelSet};
use crate::formula::{Rule, Test};
use crate::tree::model::{RankingTree, Router};

/// Rows that are coded together: many, since each tree is loaded into the cache again for them.
pub(in crate::tree) const TILE_ROWS: usize = 1024;

/// Levels that they walk before the first check for arrival of all.
const LEVELS: usize = 6;

/// Levels before each further check.
const MORE_LEVELS: usize = 2;

/// Trees that one row walks down side by side.
const TREES: usize = 16;

/// A test of codes, or a leaf.
#[derive(Debug, Clone, Copy)]
pub(super) struct ForestStep {
    /// The column tested.
    pub(super) column: u32,
    /// Added to the code of a number: 1 if a missing value counts as the lowest, since the missing
    /// code then wraps to 0. For a set, its kind.
    pub(super) more: u32,
    /// Numbers whose code is below it go to the first side; for a set, the start of its marks, or
    /// its place among the long lists.
    pub(super) bound: u32,
    /// Target of the first side; the second leads to the step after it, so that the outcome of the
    /// test is added instead of looked up. A leaf leads to itself.
    pub(super) first: u32,
}

/// A [`Step`] of small numbers, in half the memory.
#[derive(Debug, Clone, Copy)]
struct SmallStep {
    /// The column, and in two bits the number that is added.
    column_and_more: u16,
    /// The highest value means a bound above all codes.
    bound: u16,
    first: u32,
}

/// Interface of a step for a walk.
pub(super) trait WalkStep {
    fn column(&self) -> usize;
    fn more(&self) -> u32;
    fn bound(&self) -> u32;
    fn first(&self) -> u32;
}

impl WalkStep for ForestStep {
    #[inline]
    fn column(&self) -> usize {
        self.column as usize
    }

    #[inline]
    fn more(&self) -> u32 {
        self.more
    }

    #[inline]
    fn bound(&self) -> u32 {
        self.bound
    }

    #[inline]
    fn first(&self) -> u32 {
        self.first
    }
}

impl WalkStep for SmallStep {
    #[inline]
    fn column(&self) -> usize {
        usize::from(self.column_and_more >> 2)
    }

    #[inline]
    fn more(&self) -> u32 {
        u32::from(self.column_and_more & 3)
    }

    #[inline]
    fn bound(&self) -> u32 {
        self.bound.into()
    }

    #[inline]
    fn first(&self) -> u32 {
        self.first
    }
}

impl SmallStep {
    /// The step in the larger form.
    fn widened(self) -> ForestStep {
        ForestStep {
            column: self.column() as u32,
            more: self.more(),
            bound: if self.bound == u16::MAX { u32::MAX } else { self.bound() },
            first: self.first,
        }
    }
}

/// The steps of all trees.
#[derive(Debug)]
enum ForestSteps {
    Small(Vec<SmallStep>),
    Any(Vec<ForestStep>),
}

impl ForestSteps {
    /// In the smaller form if all numbers fit.
    fn new(steps: Vec<ForestStep>, columns: &[(usize, ColumnCoding)]) -> Self {
        let are_low = columns.iter().all(|(_, coding)| coding.highest() < u32::from(u16::MAX) - 1);
        let small = |step: &ForestStep| {
            let bound =
                if step.bound == u32::MAX { u16::MAX } else { step.bound.try_into().ok()? };
            let column_and_more = (u64::from(step.column) << 2 | u64::from(step.more)).try_into();
            Some(SmallStep { column_and_more: column_and_more.ok()?, bound, first: step.first })
        };
        let found = if are_low { steps.iter().map(small).collect() } else { None };
        found.map_or(Self::Any(steps), Self::Small)
    }
}

/// Marks a test of a set of categories.
pub(super) const SET: u32 = 2;

/// Marks a test of a set that has no marks, but a list that is searched.
pub(super) const LISTED: u32 = 3;

/// Maximum number of categories of a column with a mark for each of them in every test.
const FEW_LEVELS: usize = 1 << 10;

/// Maximum number of marks, of one bit each, per listed category of a test: they then take about as
/// much memory as the lists.
const MARKS_OF_LISTED: usize = 32;

/// Position of the steps of a tree.
#[derive(Debug)]
struct CodedTree {
    steps: Range<u32>,
    has_sets: bool,
}

/// Trees in the form in which they score fast.
#[derive(Debug)]
pub(in crate::tree) struct ForestScorer {
    /// Codes rows for the tests of the trees.
    pub(super) coder: RowCoder,
    trees: Vec<CodedTree>,
    /// Tree by tree, each from its root on, level by level, so that the tests that every row
    /// reaches lie side by side.
    steps: ForestSteps,
    /// For each step that is a leaf, its place in the ranking.
    leaves: Vec<u32>,
    /// The categories that go left, for each test of a set: one bit per category, one for the
    /// missing value, and one for an unknown category.
    marks: Vec<u64>,
    /// Sets that list few of many categories.
    lists: Vec<List>,
}

/// A set of categories, and the side of missing values.
#[derive(Debug)]
struct List {
    levels: LevelSet,
    missing: u32,
    missing_left: bool,
}

/// Start of the marks of a set, by the address of the set, the number of categories and the side of
/// missing values: a large set that many tests share is marked once.
type Marked = HashMap<(Option<usize>, u32, bool), u32>;

fn levels_address(rule: &Rule) -> Option<usize> {
    if let Rule::Levels(levels) = rule { Some(levels.address()) } else { None }
}

impl ForestScorer {
    pub(in crate::tree) fn new<'t>(trees: impl IntoIterator<Item = &'t RankingTree>) -> Self {
        let trees: Vec<&RankingTree> = trees.into_iter().collect();
        let routers: Vec<Router<'_, Test>> =
            trees.iter().map(|tree| Router::new(tree, Test::clone)).collect();
        Self::of_routers(&routers, trees.first().map_or(&[][..], |tree| tree.n_levels()))
    }

    /// From trees that test single features, given the number of categories of each feature.
    pub(super) fn of_routers(routers: &[Router<'_, Test>], n_levels: &[Option<u32>]) -> Self {
        let mut tested: Vec<Option<Vec<f64>>> = vec![None; n_levels.len()];
        for (question, ..) in routers.iter().flat_map(|router| &router.steps) {
            let test = question.stump();
            let cuts = tested[test.feature].get_or_insert_default();
            if let Rule::Below(threshold) | Rule::AtLeast(threshold) = test.left {
                cuts.push(threshold);
            }
        }
        let mut columns = Vec::new();
        let mut column_of = vec![0; n_levels.len()];
        for (feature, cuts) in tested.into_iter().enumerate() {
            let Some(mut cuts) = cuts else { continue };
            column_of[feature] = columns.len() as u32;
            let coding = if let Some(n_levels) = n_levels[feature] {
                ColumnCoding::Levels(n_levels)
            } else {
                cuts.sort_unstable_by(f64::total_cmp);
                cuts.dedup();
                ColumnCoding::Cuts(CutGrid::new(&cuts))
            };
            columns.push((feature, coding));
        }
        let mut scorer = Self {
            coder: RowCoder { columns },
            trees: Vec::with_capacity(routers.len()),
            steps: ForestSteps::Any(Vec::new()),
            leaves: Vec::new(),
            marks: Vec::new(),
            lists: Vec::new(),
        };
        let (mut steps, mut marked) = (Vec::new(), Marked::new());
        for router in routers {
            scorer.push(router, &column_of, &mut steps, &mut marked);
        }
        scorer.steps = ForestSteps::new(steps, &scorer.coder.columns);
        scorer
    }

    fn push(
        &mut self,
        router: &Router<'_, Test>,
        column_of: &[u32],
        steps: &mut Vec<ForestStep>,
        marked: &mut Marked,
    ) {
        // Start of the sides of each test, once they have a place; merged parts of a split lead to
        // copies of one test, whose sides they share.
        let mut sides = vec![None; router.steps.len()];
        let mut targets = vec![router.start];
        let start = steps.len();
        while let Some(&target) = targets.get(steps.len() - start) {
            let me = steps.len() as u32;
            match target.resolve() {
                Err(leaf) => {
                    // No code is so high, once a missing one has wrapped to 0.
                    steps.push(ForestStep { column: 0, more: 1, bound: u32::MAX, first: me });
                    self.leaves.push(leaf as u32);
                }
                Ok(question) => {
                    let (step, left, right) = &router.steps[question];
                    let test = step.stump();
                    let column = column_of[test.feature];
                    let (more, bound, left_first) = self.ask(test, column, marked);
                    let first = *sides[question].get_or_insert_with(|| {
                        let first = start + targets.len();
                        targets.extend(if left_first { [*left, *right] } else { [*right, *left] });
                        first as u32
                    });
                    steps.push(ForestStep { column, more, bound, first });
                    self.leaves.push(u32::MAX);
                }
            }
        }
        let has_sets = steps[start..].iter().any(|step| step.more >= SET);
        self.trees.push(CodedTree { steps: start as u32..steps.len() as u32, has_sets });
    }

    /// The form of a test: the number that is added, the bound, and whether the left side is the
    /// first.
    fn ask(&mut self, test: &Test, column: u32, marked: &mut Marked) -> (u32, u32, bool) {
        let number = |bound: u32, missing_low: bool, left_first| {
            let more = u32::from(missing_low);
            (more, bound + more, left_first)
        };
        let missing_left = test.missing_left;
        match (&self.coder.columns[column as usize].1, &test.left) {
            (ColumnCoding::Cuts(grid), Rule::Below(threshold)) => {
                number(n_below(grid.cuts(), *threshold), missing_left, true)
            }
            (ColumnCoding::Cuts(grid), Rule::AtLeast(threshold)) => {
                number(n_below(grid.cuts(), *threshold), !missing_left, false)
            }
            // All go left.
            (ColumnCoding::Cuts(_), Rule::Known(true)) if missing_left => (1, u32::MAX, true),
            (ColumnCoding::Cuts(_), Rule::Known(true)) => number(MISSING, false, true),
            (ColumnCoding::Cuts(_), Rule::Known(false)) if missing_left => {
                number(MISSING, false, false)
            }
            (ColumnCoding::Cuts(_), Rule::Known(false)) => (1, u32::MAX, false),
            (ColumnCoding::Levels(n_levels), rule) => {
                let key = (levels_address(rule), *n_levels, missing_left);
                if let Some(&first_word) = marked.get(&key) {
                    return (SET, first_word, true);
                }
                let levels = match rule {
                    Rule::Levels(levels) => levels.clone(),
                    Rule::Known(true) => LevelSet::all_but([]),
                    Rule::Known(false) => LevelSet::only([]),
                    Rule::Below(_) | Rule::AtLeast(_) => unreachable!("levels have no order"),
                };
                let missing = *n_levels;
                let n_marks = missing as usize + 2;
                if n_marks > FEW_LEVELS.max(MARKS_OF_LISTED * levels.listed().len()) {
                    let place = self.lists.len() as u32;
                    self.lists.push(List { levels, missing, missing_left });
                    return (LISTED, place, true);
                }
                let first_word = self.marks.len();
                let rest = if levels.lists_others() { u64::MAX } else { 0 };
                self.marks.resize(first_word + n_marks.div_ceil(64), rest);
                let marks = &mut self.marks[first_word..];
                let is_odd = missing_left != levels.lists_others();
                for &code in levels.listed().iter().chain(is_odd.then_some(&missing)) {
                    marks[code as usize / 64] ^= 1 << (code % 64);
                }
                if key.0.is_some() {
                    marked.insert(key, first_word as u32);
                }
                (SET, first_word as u32, true)
            }
            (ColumnCoding::Cuts(_), Rule::Levels(_)) => unreachable!("a number has no levels"),
        }
    }

    /// Leaf of each row of a tile in one tree, as its place in the ranking.
    pub(in crate::tree) fn leaves(&self, tree: usize, tile: &CodeTile, leaves: &mut [u32]) {
        self.ends(tree, tile, leaves);
        for leaf in leaves {
            *leaf = self.leaves[*leaf as usize];
        }
    }

    /// Leaf of the first row of a tile in each tree, as its place in the ranking.
    pub(in crate::tree) fn leaves_of_row(&self, tile: &CodeTile, leaves: &mut [u32]) {
        self.ends_of_row(tile, leaves);
        for leaf in leaves {
            *leaf = self.leaves[*leaf as usize];
        }
    }

    /// Leaf of each row of a tile in one tree, as its place among the steps.
    pub(super) fn ends(&self, tree: usize, tile: &CodeTile, ends: &mut [u32]) {
        let tree = &self.trees[tree];
        match &self.steps {
            _ if tree.steps.len() == 1 => ends.fill(tree.steps.start),
            ForestSteps::Small(steps) if !tree.has_sets => {
                self.walk_rows(steps, tree, tile, ends, is_low);
            }
            ForestSteps::Any(steps) if !tree.has_sets => {
                self.walk_rows(steps, tree, tile, ends, is_low);
            }
            ForestSteps::Small(steps) => {
                self.walk_rows(steps, tree, tile, ends, |step, code| self.is_first(step, code));
            }
            ForestSteps::Any(steps) => {
                self.walk_rows(steps, tree, tile, ends, |step, code| self.is_first(step, code));
            }
        }
    }

    #[inline]
    fn walk_rows<S: WalkStep>(
        &self,
        steps: &[S],
        tree: &CodedTree,
        tile: &CodeTile,
        ends: &mut [u32],
        is_first: impl Fn(&S, u32) -> bool,
    ) {
        let groups = tile.codes.chunks_exact(self.coder.columns.len());
        for (codes, ends) in groups.zip(ends.chunks_mut(LANES)) {
            // The rows of a group are independent, so that the processor loads the next steps of
            // all of them while it waits for one. A row that has arrived stays in its leaf, which
            // leads to itself.
            let mut at = [tree.steps.start; LANES];
            let walk_on = |at: &mut [u32; LANES]| {
                for (lane, at) in at.iter_mut().enumerate() {
                    let step = &steps[*at as usize];
                    let code = codes[step.column()][lane];
                    *at = step.first() + u32::from(!is_first(step, code));
                }
            };
            walk_to_the_end(steps, &mut at, walk_on);
            ends.copy_from_slice(&at[..ends.len()]);
        }
    }

    /// Leaf of the first row of a tile in each tree, as its place among the steps.
    pub(super) fn ends_of_row(&self, tile: &CodeTile, ends: &mut [u32]) {
        let has_sets = self.trees.iter().any(|tree| tree.has_sets);
        match &self.steps {
            // All trees are single leaves.
            _ if tile.codes.is_empty() => {
                let starts = self.trees.iter().map(|tree| tree.steps.start);
                ends.iter_mut().zip(starts).for_each(|(end, start)| *end = start);
            }
            ForestSteps::Small(steps) if !has_sets => self.walk_trees(steps, tile, ends, is_low),
            ForestSteps::Any(steps) if !has_sets => self.walk_trees(steps, tile, ends, is_low),
            ForestSteps::Small(steps) => {
                self.walk_trees(steps, tile, ends, |step, code| self.is_first(step, code));
            }
            ForestSteps::Any(steps) => {
                self.walk_trees(steps, tile, ends, |step, code| self.is_first(step, code));
            }
        }
    }

    #[inline]
    fn walk_trees<S: WalkStep>(
        &self,
        steps: &[S],
        tile: &CodeTile,
        ends: &mut [u32],
        is_first: impl Fn(&S, u32) -> bool,
    ) {
        let codes = &tile.codes[..];
        for (trees, ends) in self.trees.chunks(TREES).zip(ends.chunks_mut(TREES)) {
            // Lanes without a tree repeat the first one.
            let mut at = [trees[0].steps.start; TREES];
            at.iter_mut().zip(trees).for_each(|(at, tree)| *at = tree.steps.start);
            let walk_on = |at: &mut [u32; TREES]| {
                for at in at {
                    let step = &steps[*at as usize];
                    let code = codes[step.column()][0];
                    *at = step.first() + u32::from(!is_first(step, code));
                }
            };
            walk_to_the_end(steps, &mut at, walk_on);
            ends.copy_from_slice(&at[..ends.len()]);
        }
    }

    pub(super) fn n_trees(&self) -> usize {
        self.trees.len()
    }

    /// The first step of a tree.
    pub(super) fn root(&self, tree: usize) -> usize {
        self.trees[tree].steps.start as usize
    }

    /// A step in the larger form.
    pub(super) fn step(&self, place: usize) -> ForestStep {
        match &self.steps {
            ForestSteps::Any(steps) => steps[place],
            ForestSteps::Small(steps) => steps[place].widened(),
        }
    }

    /// Whether a code leads to the first side of a step.
    #[inline]
    pub(super) fn is_first(&self, step: &impl WalkStep, code: u32) -> bool {
        let place = step.bound() as usize;
        match step.more() {
            SET => self.marks[place + code as usize / 64] >> (code % 64) & 1 == 1,
            LISTED => self.lists[place].contains(code),
            _ => is_low(step, code),
        }
    }

    /// For each step the value of its leaf, given those of the leaves of each tree in ranking
    /// order; 0 if it is not a leaf.
    pub(super) fn values_of_steps(&self, values: &[Vec<f64>]) -> Vec<f64> {
        let of_tree = |(tree, values): (&CodedTree, &Vec<f64>)| -> Vec<f64> {
            let leaves = &self.leaves[tree.steps.start as usize..tree.steps.end as usize];
            leaves.iter().map(|&leaf| values.get(leaf as usize).copied().unwrap_or(0.0)).collect()
        };
        self.trees.iter().zip(values).flat_map(of_tree).collect()
    }
}

/// Walks on until all lanes are at leaves.
#[inline]
fn walk_to_the_end<S: WalkStep, const N: usize>(
    steps: &[S],
    at: &mut [u32; N],
    walk_on: impl Fn(&mut [u32; N]),
) {
    (0..LEVELS).for_each(|_| walk_on(at));
    while at.iter().any(|&at| steps[at as usize].first() != at) {
        (0..MORE_LEVELS).for_each(|_| walk_on(at));
    }
}

impl List {
    fn contains(&self, code: u32) -> bool {
        if code == self.missing { self.missing_left } else { self.levels.contains(code) }
    }
}

#[inline]
fn is_low(step: &impl WalkStep, code: u32) -> bool {
    // One comparison for numbers, missing ones and leaves (see `ForestStep`): which rows miss a
    // value is unpredictable, too.
    code.wrapping_add(step.more()) < step.bound()
}

/// Number of codes below a threshold.
fn n_below(cuts: &[f64], threshold: f64) -> u32 {
    cuts.partition_point(|&cut| cut <= threshold) as u32
}

/// Rows that walk down a tree side by side.
pub(super) const LANES: usize = 8;

/// Code of a missing number.
pub(super) const MISSING: u32 = u32::MAX;

/// Coding of a column.
#[derive(Debug)]
pub(super) enum ColumnCoding {
    /// The number of cuts that are `<=` the value.
    Cuts(CutGrid),
    /// The category; the number of categories if it is missing, and one more if it is out of range.
    Levels(u32),
}

impl ColumnCoding {
    /// The highest code of a value that is not missing.
    pub(super) fn highest(&self) -> u32 {
        match self {
            Self::Cuts(grid) => grid.cuts().len() as u32,
            Self::Levels(n_levels) => n_levels.saturating_add(1),
        }
    }

    /// Computes the code of each value, `missing` for a missing number.
    pub(super) fn fill(&self, values: &[f64], codes: &mut [u32], missing: u32) {
        match self {
            Self::Cuts(grid) => grid.fill(values, codes, missing),
            Self::Levels(n_levels) => {
                for (code, &value) in codes.iter_mut().zip(values) {
                    let is_known = value < f64::from(*n_levels);
                    let level = if is_known { value as u32 } else { n_levels + 1 };
                    *code = if value.is_nan() { *n_levels } else { level };
                }
            }
        }
    }
}

/// Codes of some rows: for each group of [`LANES`] rows, column by column.
#[derive(Debug, Default)]
pub(in crate::tree) struct CodeTile {
    pub(super) codes: Vec<[u32; LANES]>,
    /// Values of one column, and their codes.
    values: Vec<f64>,
    of_column: Vec<u32>,
}

/// Coder of rows.
#[derive(Debug)]
pub(super) struct RowCoder {
    /// Features that some tree tests, ascending, and their codings.
    pub(super) columns: Vec<(usize, ColumnCoding)>,
}

impl RowCoder {
    /// Codes rows of raw values; `false` if [`Columns::refusal`] has a reason to reject them.
    pub(in crate::tree) fn code(
        &self,
        columns: &Columns<'_>,
        rows: Range<usize>,
        tile: &mut CodeTile,
    ) -> bool {
        if columns.check_interrupt().is_err() {
            return false;
        }
        let n_columns = self.columns.len();
        let CodeTile { codes, values, of_column } = tile;
        codes.resize(rows.len().div_ceil(LANES) * n_columns, [0; LANES]);
        values.resize(rows.len(), 0.0);
        of_column.resize(rows.len(), 0);
        let mut tested = self.columns.iter().enumerate().peekable();
        for (feature, column) in columns.iter().enumerate() {
            // Infinity is an error even in a feature that no tree tests.
            if column.read(rows.clone(), &mut *values) {
                return false;
            }
            let Some((column, (_, coding))) = tested.next_if(|(_, (tested, _))| *tested == feature)
            else {
                continue;
            };
            coding.fill(values, of_column, MISSING);
            let groups = codes.chunks_exact_mut(n_columns).zip(of_column.chunks(LANES));
            for (group, of_rows) in groups {
                match of_rows.first_chunk() {
                    Some(of_rows) => group[column] = *of_rows,
                    None => group[column][..of_rows.len()].copy_from_slice(of_rows),
                }
            }
        }
        true
    }

    /// For each column, the new code of each code of `binned`; every threshold of the trees must be
    /// a cut of its bins.
    pub(in crate::tree) fn recoding(&self, binned: &Binned) -> Vec<Vec<u32>> {
        let recode = |(feature, coding): &(usize, ColumnCoding)| match (
            coding,
            &binned.features()[*feature],
        ) {
            (ColumnCoding::Cuts(grid), FeatureBins::Numeric { cuts: bounds }) => {
                let lowest = std::iter::once(0);
                let from = |&bound: &f64| grid.cuts().partition_point(|&cut| cut <= bound) as u32;
                lowest.chain(bounds.iter().map(from)).chain([MISSING]).collect()
            }
            (_, bins) => (0..bins.n_codes() as u32).collect(),
        };
        self.columns.iter().map(recode).collect()
    }

    /// Codes rows of a binned matrix.
    pub(in crate::tree) fn recode(
        &self,
        binned: &Binned,
        recoding: &[Vec<u32>],
        rows: &[u32],
        tile: &mut CodeTile,
    ) {
        let n_columns = self.columns.len();
        tile.codes.resize(rows.len().div_ceil(LANES) * n_columns, [0; LANES]);
        for (column, ((feature, _), recoding)) in self.columns.iter().zip(recoding).enumerate() {
            let codes = tile.codes.iter_mut().skip(column).step_by(n_columns).flatten();
            for (code, &row) in codes.zip(rows) {
                *code = recoding[binned.code(row as usize, *feature) as usize];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::data::{BinningParams, ClassSums, Column, Labels, LevelRates, MISSING_CODE};
    use crate::tree::model::{LeafOrder, Node, NodeSplit, SplitForm, SplitNode, TreeFrame};

    /// One has so many categories that a test has a list of them instead of marks.
    const N_LEVELS: [Option<u32>; 6] = [None, Some(3), None, Some(5000), None, None];

    fn frame(leaf_order: LeafOrder) -> TreeFrame {
        TreeFrame {
            n_levels: N_LEVELS.to_vec(),
            has_missing: vec![true; N_LEVELS.len()],
            exponent: 0,
            leaf_order,
            monotonic: Vec::new(),
            grid: None,
        }
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, n: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) as usize % n
        }

        fn coin(&mut self) -> bool {
            self.below(2) == 0
        }

        fn sums(&mut self) -> ClassSums {
            let (pos, neg) = (self.below(9) as u64 + 1, self.below(9) as u64 + 1);
            ClassSums { pos, neg, rows: pos + neg }
        }

        /// A test of one of the features except the last, which no tree tests.
        fn test(&mut self, thresholds: &[Vec<f64>]) -> Test {
            let feature = self.below(N_LEVELS.len() - 1);
            let left = match (self.below(5), N_LEVELS[feature]) {
                (0, _) => Rule::Known(self.coin()),
                (_, Some(n_levels)) => {
                    let listed: Vec<u32> = match n_levels {
                        ..10 => (0..n_levels).filter(|_| self.coin()).collect(),
                        _ => (0..8).map(|_| self.below(12) as u32).collect(),
                    };
                    Rule::Levels(if self.coin() {
                        LevelSet::only(listed)
                    } else {
                        LevelSet::all_but(listed)
                    })
                }
                (kind, None) => {
                    let threshold = thresholds[feature][self.below(thresholds[feature].len())];
                    if kind < 3 { Rule::Below(threshold) } else { Rule::AtLeast(threshold) }
                }
            };
            Test { feature, left, missing_left: self.coin() }
        }

        fn cuts(&mut self, depth: usize, thresholds: &[Vec<f64>], cuts: &mut Vec<SplitNode>) {
            let (place, sums) = (cuts.len(), self.sums());
            if depth == 0 || (place > 0 && self.below(4) == 0) {
                cuts.push(SplitNode::Part { sums, goes_left: self.coin() });
                return;
            }
            let test = self.test(thresholds);
            cuts.push(SplitNode::Part { sums, goes_left: true });
            self.cuts(depth - 1, thresholds, cuts);
            let right = cuts.len();
            self.cuts(depth - 1, thresholds, cuts);
            cuts[place] = SplitNode::Cut { sums, test, left: place + 1, right };
        }

        fn nodes(&mut self, depth: usize, thresholds: &[Vec<f64>], nodes: &mut Vec<Node>) {
            let number = nodes.len();
            nodes.push(Node { sums: self.sums(), split: None });
            if depth == 0 || (number > 0 && self.below(5) == 0) {
                return;
            }
            let form = if self.coin() {
                SplitForm::Stump(self.test(thresholds))
            } else {
                let mut cuts = Vec::new();
                self.cuts(3, thresholds, &mut cuts);
                SplitForm::Cuts(cuts)
            };
            self.nodes(depth - 1, thresholds, nodes);
            let right = nodes.len();
            self.nodes(depth - 1, thresholds, nodes);
            nodes[number].split = Some(NodeSplit::new(form, number + 1, right));
        }

        /// Trees of up to `depth` levels, with all forms of tests that a forest may have.
        fn trees(&mut self, depths: &[usize], thresholds: &[Vec<f64>]) -> Vec<RankingTree> {
            let tree = |&depth: &usize| {
                let frame = frame(if self.coin() { LeafOrder::Tree } else { LeafOrder::Eta });
                let mut nodes = Vec::new();
                self.nodes(depth, thresholds, &mut nodes);
                RankingTree::new(frame, nodes)
            };
            depths.iter().map(tree).collect()
        }
    }

    /// Rows of all features, with `n_beyond` categories that are unknown to the trees.
    struct Data {
        numbers: Vec<Vec<f64>>,
        codes: Vec<Vec<u32>>,
        count: usize,
    }

    impl Data {
        fn new(random: &mut Random, n_rows: usize, n_beyond: u32) -> Self {
            let mut number = || match random.below(8) {
                0 => f64::NAN,
                1 => -0.0,
                n => (n as f64 - 4.0) * 0.5,
            };
            let numbers = N_LEVELS.map(|_| (0..n_rows).map(|_| number()).collect()).to_vec();
            // The first ones and the last.
            let mut code = |n_codes: u32| match random.below(n_codes.min(14) as usize + 1) as u32 {
                code if code == n_codes.min(14) => MISSING_CODE,
                13 => n_codes - 1,
                code => code,
            };
            let codes = N_LEVELS.map(|n_levels| {
                let n_codes = n_levels.unwrap_or(0) + n_beyond;
                (0..n_rows).map(|_| code(n_codes)).collect()
            });
            Self { numbers, codes: codes.to_vec(), count: n_rows }
        }

        fn columns(&self) -> Columns<'_> {
            let column = |feature: usize| match N_LEVELS[feature] {
                None => Column::from(&self.numbers[feature][..]),
                Some(n_levels) => Column::Codes { codes: &self.codes[feature], n_levels },
            };
            Columns::new((0..N_LEVELS.len()).map(column).collect(), self.count).unwrap()
        }
    }

    /// The same scorer with steps in the larger form.
    fn widened(mut scorer: ForestScorer) -> ForestScorer {
        let ForestSteps::Small(small) = &scorer.steps else { panic!("the numbers are small") };
        scorer.steps = ForestSteps::Any(small.iter().copied().map(SmallStep::widened).collect());
        scorer
    }

    /// Leaves of each row in each tree, row by row.
    fn leaves_of_rows(scorer: &ForestScorer, columns: &Columns<'_>) -> Vec<Vec<u32>> {
        let mut tile = CodeTile::default();
        let of_row = |row| {
            let mut leaves = vec![u32::MAX; scorer.trees.len()];
            assert!(scorer.coder.code(columns, row..row + 1, &mut tile));
            scorer.leaves_of_row(&tile, &mut leaves);
            leaves
        };
        (0..columns.n_rows()).map(of_row).collect()
    }

    /// Leaves of rows in one tree, in tiles of several sizes whose last lanes hold old codes.
    fn coded_leaves(scorer: &ForestScorer, columns: &Columns<'_>, tree: usize) -> Vec<u32> {
        let mut tile = CodeTile::default();
        let mut leaves = vec![u32::MAX; columns.n_rows()];
        let mut start = 0;
        for size in [LANES * 2, 1, LANES - 1, LANES + 3].into_iter().cycle() {
            let end = columns.n_rows().min(start + size);
            assert!(scorer.coder.code(columns, start..end, &mut tile));
            scorer.leaves(tree, &tile, &mut leaves[start..end]);
            if end == columns.n_rows() {
                return leaves;
            }
            start = end;
        }
        unreachable!("the sizes never end")
    }

    fn some_thresholds() -> Vec<Vec<f64>> {
        vec![vec![-1.5, -0.75, -0.0, 0.0, 0.5, 1.0, 7.0]; N_LEVELS.len()]
    }

    #[test]
    fn coded_trees_lead_to_the_leaves_of_the_trees() {
        let mut random = Random(7);
        for round in 0..60 {
            let depths = [0, 1, 2, 4, 6, 9].repeat(1 + round % 2);
            let trees = random.trees(&depths[round % 3..], &some_thresholds());
            let rows = Data::new(&mut random, 75, (round % 2) as u32 * 2);
            let (columns, scorer) = (rows.columns(), ForestScorer::new(&trees));
            let expected: Vec<Vec<u32>> =
                trees.iter().map(|tree| tree.apply(&columns, None).unwrap()).collect();
            let check = |scorer: &ForestScorer| {
                let by_row = leaves_of_rows(scorer, &columns);
                for (number, expected) in expected.iter().enumerate() {
                    assert_eq!(coded_leaves(scorer, &columns, number), *expected);
                    let of_rows: Vec<u32> = by_row.iter().map(|leaves| leaves[number]).collect();
                    assert_eq!(of_rows, *expected);
                }
            };
            check(&scorer);
            check(&widened(scorer));
        }
    }

    #[test]
    fn steps_are_small_if_all_numbers_and_codes_are() {
        let coding = |n_cuts: u32| {
            let cuts: Vec<f64> = (0..n_cuts).map(f64::from).collect();
            (0, ColumnCoding::Cuts(CutGrid::new(&cuts)))
        };
        let is_small = |step: ForestStep, column| {
            matches!(ForestSteps::new(vec![step], &[column]), ForestSteps::Small(_))
        };
        let step = ForestStep { column: 3, more: 1, bound: 9, first: 1 << 20 };
        let everything = ForestStep { bound: u32::MAX, ..step };
        for step in [step, everything] {
            assert!(is_small(step, coding(65_533)));
            assert!(!is_small(step, coding(65_534)));
            assert!(is_small(step, (0, ColumnCoding::Levels(65_532))));
            assert!(!is_small(step, (0, ColumnCoding::Levels(65_533))));
            assert!(!is_small(ForestStep { column: 1 << 14, ..step }, coding(9)));
            assert!(is_small(
                ForestStep { column: (1 << 14) - 1, more: LISTED, ..step },
                coding(9)
            ));
        }
        assert!(!is_small(ForestStep { bound: 65_536, ..step }, coding(9)));
        // All codes but the missing one are below the highest bound, including the number added to
        // them.
        let ForestSteps::Small(small) = ForestSteps::new(vec![everything], &[coding(65_533)])
        else {
            panic!("small")
        };
        assert!([0, 65_533, MISSING].into_iter().all(|code| is_low(&small[0], code)));
    }

    #[test]
    fn trees_of_one_leaf_test_nothing() {
        let mut random = Random(3);
        let trees = random.trees(&[0, 0], &some_thresholds());
        let rows = Data::new(&mut random, 20, 0);
        let scorer = ForestScorer::new(&trees);
        assert!(scorer.coder.columns.is_empty());
        assert_eq!(coded_leaves(&scorer, &rows.columns(), 1), [0; 20]);
        assert_eq!(leaves_of_rows(&scorer, &rows.columns()), vec![vec![0, 0]; 20]);
    }

    #[test]
    fn a_set_that_many_tests_share_is_marked_once() {
        let feature = N_LEVELS.iter().position(|n_levels| *n_levels == Some(3)).unwrap();
        let tree = |levels: &LevelSet, missing_left| {
            let test = Test { feature, left: Rule::Levels(levels.clone()), missing_left };
            let split = NodeSplit::new(SplitForm::Stump(test), 1, 2);
            let sums = ClassSums { pos: 1, neg: 1, rows: 2 };
            let node = |split| Node { sums, split };
            RankingTree::new(
                frame(LeafOrder::Tree),
                vec![node(Some(split)), node(None), node(None)],
            )
        };
        let (one, other) = (LevelSet::only([0, 2]), LevelSet::all_but([0, 2]));
        let n_marks = |trees: &[RankingTree]| ForestScorer::new(trees).marks.len();
        let each = n_marks(&[tree(&one, true)]);
        assert!(each > 0);
        let tested = [(&one, true), (&other, true), (&one, false), (&one, true), (&other, true)];
        let trees = tested.map(|(levels, missing_left)| tree(levels, missing_left));
        assert_eq!(n_marks(&trees), 3 * each);
        let rows = Data::new(&mut Random(5), 60, 0);
        let scorer = ForestScorer::new(&trees);
        let values = rows.columns();
        for (place, tree) in trees.iter().enumerate() {
            let expected = tree.apply(&values, None).unwrap();
            assert_eq!(coded_leaves(&scorer, &values, place), expected);
        }
    }

    #[test]
    fn tests_that_all_or_no_rows_pass_are_evaluated() {
        for case in 0..4 {
            let (left, missing_left) = (case & 1 == 1, case & 2 == 2);
            let test = Test { feature: 0, left: Rule::Known(left), missing_left };
            let split = NodeSplit::new(SplitForm::Stump(test), 1, 2);
            let sums = ClassSums { pos: 1, neg: 1, rows: 2 };
            let node = |split| Node { sums, split };
            let nodes = vec![node(Some(split)), node(None), node(None)];
            let tree = RankingTree::new(frame(LeafOrder::Tree), nodes);
            let rows = Data::new(&mut Random(2), 30, 0);
            let leaves = coded_leaves(&ForestScorer::new([&tree]), &rows.columns(), 0);
            for (leaf, value) in leaves.into_iter().zip(&rows.numbers[0]) {
                let is_left = if value.is_nan() { missing_left } else { left };
                assert_eq!(leaf, u32::from(!is_left));
            }
        }
    }

    #[test]
    fn binned_rows_have_the_codes_of_their_raw_values() {
        let mut random = Random(11);
        for max_bins in [None, Some(3), Some(255)] {
            let rows = Data::new(&mut random, 90, 0);
            let positive: Vec<bool> = (0..90).map(|row| row % 3 == 0).collect();
            let labels = Labels::new(&positive, None).unwrap();
            let params = BinningParams {
                max_bins,
                level_rates: LevelRates::Raw,
                ..BinningParams::default()
            };
            let columns = rows.columns();
            let binned = Binned::new(&columns, &labels, params, &Interrupt::default()).unwrap();
            let thresholds: Vec<Vec<f64>> = binned
                .features()
                .iter()
                .map(|bins| match bins {
                    FeatureBins::Numeric { cuts } => cuts.clone(),
                    FeatureBins::Categorical { .. } => Vec::new(),
                })
                .collect();
            let trees = random.trees(&[1, 3, 5, 0], &thresholds);
            let scorer = ForestScorer::new(&trees);
            let recoding = scorer.coder.recoding(&binned);

            let (mut raw, mut coded) = (CodeTile::default(), CodeTile::default());
            assert!(scorer.coder.code(&columns, 0..90, &mut raw));
            let all: Vec<u32> = (0..90).collect();
            scorer.coder.recode(&binned, &recoding, &all, &mut coded);
            assert_eq!(raw.codes, coded.codes);

            // Any rows, in any order, some twice.
            let some: Vec<u32> = (0..43).map(|_| random.below(90) as u32).collect();
            scorer.coder.recode(&binned, &recoding, &some, &mut coded);
            for (number, tree) in trees.iter().enumerate() {
                let mut leaves = vec![0; some.len()];
                scorer.leaves(number, &coded, &mut leaves);
                let of_all = tree.apply(&columns, None).unwrap();
                let expected: Vec<u32> = some.iter().map(|&row| of_all[row as usize]).collect();
                assert_eq!(leaves, expected);
            }
        }
    }

    #[test]
    fn infinity_is_detected() {
        let trees = Random(5).trees(&[3], &some_thresholds());
        let mut rows = Data::new(&mut Random(6), 20, 0);
        // Also in a column that no tree tests.
        rows.numbers[5][7] = f64::INFINITY;
        let scorer = ForestScorer::new(&trees);
        assert!(!scorer.coder.code(&rows.columns(), 0..20, &mut CodeTile::default()));
        assert!(scorer.coder.code(&rows.columns(), 8..20, &mut CodeTile::default()));
    }
}
