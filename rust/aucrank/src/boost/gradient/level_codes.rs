//! Categorical features in few codes.

use crate::data::{
    CodeRule, CodeTest, Column, Columns, FeatureBins, Labels, LevelSet, MISSING_CODE, RatedLevels,
    least_level_rows,
};
use crate::formula::{Rule, Test};
use crate::{Interrupt, RankError, parallel};

/// Maximum number of categories of a feature with their own code.
const MOST_LEVELS: usize = 254;

/// The categorical features of a fit in few codes.
#[derive(Debug)]
pub(super) struct LevelCodes {
    /// For each categorical feature the few codes of its rows.
    of_row: Vec<Option<Vec<u32>>>,
    pub(super) kept: KeptLevels,
}

/// The categories with their own code.
#[derive(Debug)]
pub(super) struct KeptLevels {
    /// For each categorical feature, the categories with a code, in the order of their codes.
    pub(super) of_feature: Vec<Option<Vec<u32>>>,
    /// For each feature the categories whose rates are learned from; those without a code are rare.
    pub(super) rated: Vec<Option<RatedLevels>>,
}

impl KeptLevels {
    /// From the number of all rows and, for each categorical feature, those of each category.
    pub(super) fn new(rows_of_levels: &[Option<Vec<u64>>], n_rows: u64) -> Self {
        let least = least_level_rows(n_rows);
        let of_feature = |rows_of_level: &Option<Vec<u64>>| {
            let Some(rows_of_level) = rows_of_level else { return (None, None) };
            let rows = |&level: &u32| rows_of_level[level as usize];
            let levels = 0..rows_of_level.len() as u32;
            let mut kept: Vec<u32> = levels.filter(|level| rows(level) >= least).collect();
            if kept.len() > MOST_LEVELS {
                kept.sort_by_key(|level| std::cmp::Reverse(rows(level)));
                kept.truncate(MOST_LEVELS);
                kept.sort_unstable();
            }
            let is_rare = |level, _| kept.binary_search(&level).is_err();
            let rated = RatedLevels::new(rows_of_level, n_rows, is_rare);
            (Some(kept), rated)
        };
        let (of_feature, rated) = rows_of_levels.iter().map(of_feature).unzip();
        Self { of_feature, rated }
    }

    /// The features with categories whose rates are learned from, ascending.
    pub(super) fn with_rates(&self) -> impl Iterator<Item = (usize, &RatedLevels)> {
        let numbered = self.rated.iter().enumerate();
        numbered.filter_map(|(feature, levels)| Some((feature, levels.as_ref()?)))
    }

    /// The test of raw values that is equivalent to one of codes.
    pub(super) fn raw_test(&self, test: &CodeTest, features: &[FeatureBins]) -> Test {
        let feature = test.feature;
        let (CodeRule::Levels(codes), Some(kept)) = (&test.rule, &self.of_feature[feature]) else {
            return Test::of_codes(test, &features[feature]);
        };
        // Categories without a code go with missing values.
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

    /// The columns with few codes instead of categories.
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
