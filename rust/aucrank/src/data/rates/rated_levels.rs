//! The categories of a feature whose class rates a fit learns from. The choice does not depend on
//! labels.

use std::sync::Arc;

use crate::data::input::columns::{Column, Columns};
use crate::data::input::labels::Labels;

/// Share of the rows that a category needs in order not to be rare.
const LEAST_SHARE: f64 = 0.002;

/// Share of the rows that categories too rare to be distinguished may hold before their rates are
/// learned from. Rates of all categories of all features would lose up to 2.4 points of AUC where
/// there are few.
const MOST_RARE: f64 = 0.05;

/// Number of categories with rows beyond which the rates of all are learned from, rare or not. By
/// sets alone, trees find what hundreds of categories say only bit by bit.
const MANY_LEVELS: usize = 100;

/// The categories of a feature whose rates are learned from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RatedLevels {
    /// A flag per category: whether it is too rare to be distinguished. All false if such
    /// categories hold few rows.
    is_rare: Vec<bool>,
    /// Whether the feature has so many categories that rates are learned from all of them.
    are_many: bool,
}

impl RatedLevels {
    /// Given the number of rows of each category, and which are rare; `None` if these hold few rows
    /// and there are not many categories.
    pub(crate) fn new(
        rows_of_level: &[u64],
        n_rows: u64,
        is_rare: impl Fn(u32, u64) -> bool,
    ) -> Option<Self> {
        let levels = (0..).zip(rows_of_level);
        let mut flags: Vec<bool> = levels.map(|(level, &rows)| is_rare(level, rows)).collect();
        let rows_of_rare: u64 =
            rows_of_level.iter().zip(&flags).filter(|(_, rare)| **rare).map(|(rows, _)| rows).sum();
        let are_many = rows_of_level.iter().filter(|&&rows| rows > 0).count() > MANY_LEVELS;
        if rows_of_rare as f64 <= MOST_RARE * n_rows as f64 {
            if !are_many {
                return None;
            }
            flags.fill(false);
        }
        Some(Self { is_rare: flags, are_many })
    }

    /// The same, where a category is rare if it has fewer rows than [`least_level_rows`].
    pub(crate) fn of_rows(rows_of_level: &[u64], n_rows: u64) -> Option<Self> {
        let least = least_level_rows(n_rows);
        Self::new(rows_of_level, n_rows, |_, rows| rows < least)
    }

    /// Whether categories too rare to be distinguished hold many rows.
    pub(crate) fn has_rare(&self) -> bool {
        self.is_rare.contains(&true)
    }

    /// Whether the rate of a category is learned from.
    pub(crate) fn has_rate(&self, level: u32) -> bool {
        self.are_many || self.is_rare[level as usize]
    }

    /// The categories that count as missing in codes, given others that do: those that are rare,
    /// since sets of them would be chosen by the labels of their rows.
    pub(crate) fn pooled_with(&self, few: Option<&Arc<[bool]>>) -> Arc<[bool]> {
        let is_few = |level: usize| few.is_some_and(|few| few[level]);
        self.is_rare.iter().enumerate().map(|(level, &rare)| rare || is_few(level)).collect()
    }
}

/// Number of rows, out of `n_rows`, that a category needs in order not to be rare.
pub(crate) fn least_level_rows(n_rows: u64) -> u64 {
    ((LEAST_SHARE * n_rows as f64).ceil() as u64).max(3)
}

/// Features with categories whose rates are learned from. Codes out of range count as missing.
pub(crate) fn features_with_rates(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
) -> Vec<(usize, RatedLevels)> {
    let n_rows = labels.total().rows;
    let of_feature = |(feature, column): (usize, &Column<'_>)| {
        let Column::Codes { codes, n_levels } = column else { return None };
        let mut rows_of_level = vec![0; *n_levels as usize];
        for (row, &code) in codes.iter().enumerate() {
            if let Some(rows) = rows_of_level.get_mut(code as usize) {
                *rows += labels.sums(row).rows;
            }
        }
        RatedLevels::of_rows(&rows_of_level, n_rows).map(|levels| (feature, levels))
    };
    columns.iter().enumerate().filter_map(of_feature).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The categories that have rates, and those that have nothing else.
    fn found(rows_of_level: &[u64]) -> Option<[Vec<u32>; 2]> {
        let n_rows = rows_of_level.iter().sum();
        let levels = RatedLevels::of_rows(rows_of_level, n_rows)?;
        let all = 0..rows_of_level.len() as u32;
        let pooled = levels.pooled_with(None);
        let is_pooled = |level: &u32| pooled[*level as usize];
        let rated = all.clone().filter(|&level| levels.has_rate(level)).collect();
        Some([rated, all.filter(is_pooled).collect()])
    }

    #[test]
    fn rare_categories_have_rates_where_they_hold_many_rows() {
        // Of 1,000 rows a category needs three.
        assert_eq!(found(&[950, 48, 2]), None);
        let rare_are_few = [vec![900, 52], vec![2; 24]].concat();
        assert_eq!(found(&rare_are_few), None);
        let rare_are_many = [vec![900, 48], vec![2; 26]].concat();
        let rare: Vec<u32> = (2..28).collect();
        assert_eq!(found(&rare_are_many), Some([rare.clone(), rare]));
    }

    #[test]
    fn all_have_rates_where_there_are_more_than_a_hundred() {
        assert_eq!(found(&[50; 100]), None);
        // Categories without rows do not count.
        assert_eq!(found(&[vec![50; 100], vec![0; 30]].concat()), None);
        assert_eq!(found(&[50; 101]), Some([(0..101).collect(), Vec::new()]));
        let with_rare = [vec![10; 90], vec![1; 100]].concat();
        assert_eq!(found(&with_rare), Some([(0..190).collect(), (90..190).collect()]));
    }

    #[test]
    fn categories_that_count_as_missing_already_still_do() {
        let few: Arc<[bool]> = [vec![true], vec![false; 100]].concat().into();
        let levels = RatedLevels::of_rows(&[50; 101], 5050).unwrap();
        assert_eq!(levels.pooled_with(Some(&few)), few);
    }
}
