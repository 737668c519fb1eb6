//! Categories as few codes.
//!
//! A category needs as many rows as [`least_level_rows`] for a code of its own, and a feature has at most
//! [`MOST_LEVELS`] such codes, those of the most rows; the others count as missing. So a code is a byte.
//! Where the others hold many of the rows, their rates are learned from as well: see
//! `rate_columns`.

use crate::data::{Column, Columns, Labels, MISSING_CODE, are_many, least_level_rows};
use crate::{Interrupt, RankError, parallel};

/// Categories of a feature with a code of their own.
const MOST_LEVELS: usize = 254;

/// The categorical features of a fit in few codes.
#[derive(Debug)]
pub(super) struct LevelCodes {
    /// For each categorical feature the few codes of its rows.
    of_row: Vec<Option<Vec<u32>>>,
    /// For each categorical feature the categories that have a code, in the order of their codes.
    pub(super) kept: Vec<Option<Vec<u32>>>,
    /// Whether the other categories of a feature hold many rows.
    are_rare_many: Vec<bool>,
}

impl LevelCodes {
    pub(super) fn new(columns: &Columns<'_>, labels: &Labels<'_>) -> Result<Self, RankError> {
        if columns.n_rows() != labels.n_rows() {
            let (found, expected) = (columns.n_rows(), labels.n_rows());
            return Err(RankError::LengthMismatch { name: "X", found, expected });
        }
        let rows = labels.rows();
        let least = least_level_rows(labels.total().rows);
        let of_feature = |feature: usize| {
            let Column::Codes { codes, n_levels } = columns[feature] else {
                return Ok(((None, None), false));
            };
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
            let mut kept: Vec<u32> =
                (0..n_levels).filter(|&level| rows_of_level[level as usize] >= least).collect();
            if kept.len() > MOST_LEVELS {
                kept.sort_by_key(|&level| std::cmp::Reverse(rows_of_level[level as usize]));
                kept.truncate(MOST_LEVELS);
                kept.sort_unstable();
            }
            let n_kept: u64 = kept.iter().map(|&level| rows_of_level[level as usize]).sum();
            let n_rare = rows_of_level.iter().sum::<u64>() - n_kept;
            let are_rare_many = are_many(n_rare, labels.total().rows);
            let mut code_of_level = vec![MISSING_CODE; n_levels as usize];
            for (code, &level) in (0..).zip(&kept) {
                code_of_level[level as usize] = code;
            }
            let few =
                |&code: &u32| code_of_level.get(code as usize).copied().unwrap_or(MISSING_CODE);
            Ok(((Some(codes.iter().map(few).collect()), Some(kept)), are_rare_many))
        };
        let found = parallel::try_map((0..columns.n_features()).collect(), of_feature)?;
        let (coded, are_rare_many): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let (of_row, kept) = coded.into_iter().unzip();
        Ok(Self { of_row, kept, are_rare_many })
    }

    /// The features of which categories without a code hold many rows, ascending.
    pub(super) fn with_rare_levels(&self) -> Vec<usize> {
        (0..self.kept.len()).filter(|&feature| self.are_rare_many[feature]).collect()
    }

    /// The columns with few codes in the place of categories.
    pub(super) fn columns<'c>(
        &'c self,
        columns: &Columns<'c>,
        interrupt: &Interrupt,
    ) -> Result<Columns<'c>, RankError> {
        let few = columns.iter().zip(&self.of_row).zip(&self.kept).map(
            |((column, codes), kept)| match (codes, kept) {
                (Some(codes), Some(kept)) => Column::Codes { codes, n_levels: kept.len() as u32 },
                _ => *column,
            },
        );
        columns.with_features(few.collect(), interrupt)
    }
}
