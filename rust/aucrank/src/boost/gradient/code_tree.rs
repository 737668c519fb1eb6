//! A tree as rows of codes walk it.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::grow::Grown;
use super::histogram::Sides;
use super::rows::FitRows;
use super::tree::GradientNode;
use crate::data::{
    Binned, CodeRule, CodeTest, Column, Columns, FeatureBins, Labels, LevelSet, MISSING_CODE,
    are_many, least_level_rows,
};
use crate::formula::{Rule, Test};
use crate::{Interrupt, RankError, parallel};

/// A tree of questions to codes.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct CodeTree(Vec<CodeNode>);

/// The root first; after a split what lies left of it, then what lies right.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
enum CodeNode {
    Split { test: CodeTest, right: usize },
    Leaf(f64),
}

/// The same tree, ready for codes of given features.
pub(super) struct CodeWalk(Vec<CodeStep>);

#[expect(clippy::large_enum_variant, reason = "a box would be one more look-up at each step")]
enum CodeStep {
    Split(Sides, usize),
    Leaf(f64),
}

impl CodeTree {
    pub(super) fn of(grown: &Grown) -> Self {
        let node = |(test, node): (&Option<(CodeTest, usize)>, &GradientNode)| match (test, node) {
            (Some((test, right)), _) => CodeNode::Split { test: test.clone(), right: *right },
            (None, GradientNode::Leaf { value, .. }) => CodeNode::Leaf(*value),
            (None, GradientNode::Split { .. }) => unreachable!("the nodes are those of the tree"),
        };
        Self(grown.tests.iter().zip(grown.tree.nodes()).map(node).collect())
    }

    /// Checks a tree from elsewhere, and makes it ready for codes of these features.
    pub(super) fn walk(&self, features: &[FeatureBins]) -> Result<CodeWalk, RankError> {
        let bad = |why: &str| Err(RankError::BadAnswer(format!("a tree {why}")));
        if !matches!(self.0.last(), Some(CodeNode::Leaf(_))) {
            return bad("does not end with a leaf");
        }
        for (place, node) in self.0.iter().enumerate() {
            match node {
                CodeNode::Split { test, right } => {
                    if *right <= place || *right >= self.0.len() {
                        return bad("leads nowhere");
                    }
                    if test.feature >= features.len() {
                        return bad("is of other rows");
                    }
                }
                CodeNode::Leaf(value) if !value.is_finite() => return bad("has no value"),
                CodeNode::Leaf(_) => {}
            }
        }
        Ok(self.ready(features))
    }

    fn ready(&self, features: &[FeatureBins]) -> CodeWalk {
        let step = |node: &CodeNode| match node {
            CodeNode::Split { test, right } => CodeStep::Split(Sides::new(test, features), *right),
            CodeNode::Leaf(value) => CodeStep::Leaf(*value),
        };
        CodeWalk(self.0.iter().map(step).collect())
    }
}

impl CodeWalk {
    pub(super) fn new(grown: &Grown, features: &[FeatureBins]) -> Self {
        CodeTree::of(grown).ready(features)
    }

    /// The value of the leaf of a row.
    #[inline]
    pub(super) fn value(&self, binned: &Binned, row: u32) -> f64 {
        let mut place = 0;
        loop {
            match &self.0[place] {
                CodeStep::Split(sides, right) => {
                    place = if sides.goes_left(binned, row) { place + 1 } else { *right };
                }
                CodeStep::Leaf(value) => return *value,
            }
        }
    }
}

/// Size of a matrix from which on it is worth while, in bytes.
const LEAST_CODES: usize = 1 << 20;

/// One of so many features may have a column.
const SHARE: usize = 8;

/// The columns.
#[derive(Debug)]
pub(super) struct CodeColumns {
    of_feature: Vec<Option<Vec<u8>>>,
    /// Rows that each feature without a column has parted.
    n_parted: Vec<usize>,
    /// Columns that may still be made.
    n_free: usize,
}

impl CodeColumns {
    pub(super) fn new(data: &FitRows<'_>) -> Self {
        let n_features = data.binned.features().len();
        let is_large = data.binned.n_rows() * n_features >= LEAST_CODES;
        Self {
            of_feature: vec![None; n_features],
            n_parted: vec![0; n_features],
            n_free: if is_large { n_features / SHARE } else { 0 },
        }
    }

    pub(super) fn get(&self, feature: usize) -> Option<&[u8]> {
        self.of_feature[feature].as_deref()
    }

    /// Counts rows that a feature is about to part; it may have a column from then on.
    pub(super) fn count(&mut self, feature: usize, n_rows: usize, data: &FitRows<'_>) {
        if self.n_free == 0 || self.of_feature[feature].is_some() {
            return;
        }
        self.n_parted[feature] += n_rows;
        // To copy a column takes about as long as to part as many rows without it.
        if self.n_parted[feature] >= data.binned.n_rows() {
            let codes = data.binned.narrow_codes(0..data.binned.n_rows(), feature);
            self.of_feature[feature] = codes.map(Iterator::collect);
            self.n_free -= 1;
        }
    }
}

/// Categories of a feature with a code of their own.
const MOST_LEVELS: usize = 254;

/// The categorical features of a fit in few codes.
#[derive(Debug)]
pub(super) struct LevelCodes {
    /// For each categorical feature the few codes of its rows.
    of_row: Vec<Option<Vec<u32>>>,
    pub(super) kept: KeptLevels,
}

/// Which categories have a code of their own.
#[derive(Debug)]
pub(super) struct KeptLevels {
    /// For each categorical feature, the categories that have a code, in the order of their codes.
    pub(super) of_feature: Vec<Option<Vec<u32>>>,
    /// Whether the other categories of a feature hold many rows.
    are_rare_many: Vec<bool>,
}

impl KeptLevels {
    /// Of so many rows in all, given for each categorical feature those of each category.
    pub(super) fn new(rows_of_levels: &[Option<Vec<u64>>], n_rows: u64) -> Self {
        let least = least_level_rows(n_rows);
        let of_feature = |rows_of_level: &Option<Vec<u64>>| {
            let Some(rows_of_level) = rows_of_level else { return (None, false) };
            let rows = |&level: &u32| rows_of_level[level as usize];
            let levels = 0..rows_of_level.len() as u32;
            let mut kept: Vec<u32> = levels.filter(|level| rows(level) >= least).collect();
            if kept.len() > MOST_LEVELS {
                kept.sort_by_key(|level| std::cmp::Reverse(rows(level)));
                kept.truncate(MOST_LEVELS);
                kept.sort_unstable();
            }
            let n_rare = rows_of_level.iter().sum::<u64>() - kept.iter().map(rows).sum::<u64>();
            (Some(kept), are_many(n_rare, n_rows))
        };
        let (of_feature, are_rare_many) = rows_of_levels.iter().map(of_feature).unzip();
        Self { of_feature, are_rare_many }
    }

    /// The features of which categories without a code hold many rows, ascending.
    pub(super) fn with_rare_levels(&self) -> Vec<usize> {
        (0..self.of_feature.len()).filter(|&feature| self.are_rare_many[feature]).collect()
    }

    /// Whether a category has no code of its own.
    pub(super) fn is_rare(&self, feature: usize, level: u32) -> bool {
        let kept = self.of_feature[feature].as_ref();
        kept.is_some_and(|kept| kept.binary_search(&level).is_err())
    }

    /// The question about raw values that gives the same answers as one about codes.
    pub(super) fn raw_test(&self, test: &CodeTest, features: &[FeatureBins]) -> Test {
        let feature = test.feature;
        let (CodeRule::Levels(codes), Some(kept)) = (&test.rule, &self.of_feature[feature]) else {
            return Test::of_codes(test, &features[feature]);
        };
        // What has no code goes where missing values go.
        let is_listed = |code: u32| codes.contains(code) != test.missing_left;
        let levels = (0..).zip(kept).filter(|(code, _)| is_listed(*code)).map(|(_, level)| *level);
        let left =
            if test.missing_left { LevelSet::all_but(levels) } else { LevelSet::only(levels) };
        Test { feature, left: Rule::Levels(left), missing_left: test.missing_left }
    }
}

impl LevelCodes {
    pub(super) fn new(columns: &Columns<'_>, labels: &Labels<'_>) -> Result<Self, RankError> {
        if columns.n_rows() != labels.n_rows() {
            let (found, expected) = (columns.n_rows(), labels.n_rows());
            return Err(RankError::LengthMismatch { name: "X", found, expected });
        }
        let rows = labels.rows();
        let rows_of_levels = |feature: usize| {
            let Column::Codes { codes, n_levels } = columns[feature] else { return Ok(None) };
            let mut rows_of_level = vec![0; n_levels as usize];
            for row in rows.iter().map(|&row| row as usize) {
                let code = codes[row];
                if code == MISSING_CODE {
                    continue;
                }
                match rows_of_level.get_mut(code as usize) {
                    Some(n_rows) => *n_rows += labels.sums(row).rows,
                    None => {
                        return Err(RankError::BadCode { column: feature, row, code, n_levels });
                    }
                }
            }
            Ok(Some(rows_of_level))
        };
        let features: Vec<usize> = (0..columns.n_features()).collect();
        let rows_of_levels = parallel::try_map(features.clone(), rows_of_levels)?;
        let kept = KeptLevels::new(&rows_of_levels, labels.total().rows);
        let few = |feature: usize| {
            let (Column::Codes { codes, n_levels }, Some(kept)) =
                (columns[feature], &kept.of_feature[feature])
            else {
                return None;
            };
            let mut code_of_level = vec![MISSING_CODE; n_levels as usize];
            for (code, &level) in (0..).zip(kept) {
                code_of_level[level as usize] = code;
            }
            let few =
                |&code: &u32| code_of_level.get(code as usize).copied().unwrap_or(MISSING_CODE);
            Some(codes.iter().map(few).collect())
        };
        Ok(Self { of_row: parallel::map(features, few), kept })
    }

    /// The columns with few codes in the place of categories.
    pub(super) fn columns<'c>(
        &'c self,
        columns: &Columns<'c>,
        interrupt: &Interrupt,
    ) -> Result<Columns<'c>, RankError> {
        let few = columns.iter().zip(&self.of_row).zip(&self.kept.of_feature).map(
            |((column, codes), kept)| match (codes, kept) {
                (Some(codes), Some(kept)) => Column::Codes { codes, n_levels: kept.len() as u32 },
                _ => *column,
            },
        );
        columns.with_features(few.collect(), interrupt)
    }
}
