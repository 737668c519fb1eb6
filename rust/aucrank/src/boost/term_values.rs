//! The values of terms on raw data.

use super::scored::{RowScorer, ScoredTerm};
use super::term::Term;
use crate::data::{Column, Columns, FeatureTerm, MISSING_CODE};
use crate::external::{ExternalModels, scores_of};
use crate::{RankError, parallel};

/// Rows per task.
const CHUNK_ROWS: usize = 1 << 12;

impl Term {
    /// The value of each row, equal to what [`Term::add_values`] adds.
    pub(super) fn values(
        &self,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
    ) -> Result<Vec<f64>, RankError> {
        let mut values = vec![0.0; columns.n_rows()];
        self.add_values(columns, external, &mut values)?;
        Ok(values)
    }

    /// Adds the value of each row to `out`; `external` provides the scores of external rankers.
    ///
    /// The columns must be those of the fit in number and kind, and finite.
    pub(super) fn add_values(
        &self,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
        out: &mut [f64],
    ) -> Result<(), RankError> {
        columns.check_interrupt()?;
        match self {
            Self::Feature(term) => {
                term.add_values(&columns[term.feature], out);
                Ok(())
            }
            Self::Tree(term) => {
                let values = term.tree.values_of_rows(columns, &term.values)?;
                add_all(out, |row| values[row]);
                Ok(())
            }
            Self::Scored(term) => {
                let scores = term.scores(columns, external)?;
                add_all(out, |row| term.value(scores[row]));
                Ok(())
            }
        }
    }
}

fn add_all(out: &mut [f64], value: impl Fn(usize) -> f64 + Sync) {
    parallel::map(out.chunks_mut(CHUNK_ROWS).enumerate().collect(), |(chunk, out)| {
        let rows = chunk * CHUNK_ROWS..;
        rows.zip(out).for_each(|(row, out): (usize, &mut f64)| *out += value(row));
    });
}

impl FeatureTerm {
    fn add_values(&self, column: &Column<'_>, out: &mut [f64]) {
        match column {
            Column::F64(values) => add_all(out, |row| self.value(values.get(row))),
            Column::F32(values) => add_all(out, |row| self.value(values.get(row))),
            Column::Codes { codes, .. } => add_all(out, |row| {
                let code = codes[row];
                self.value(if code == MISSING_CODE { f64::NAN } else { f64::from(code) })
            }),
        }
    }
}

impl ScoredTerm {
    /// The scores of all rows.
    fn scores(
        &self,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
    ) -> Result<Vec<f64>, RankError> {
        match &self.scorer {
            RowScorer::Linear(linear) => linear.scores(columns),
            RowScorer::External { number, is_reversed } => {
                let external = external.ok_or(RankError::NeedsRankers)?;
                let rows: Vec<u32> = (0..columns.n_rows() as u32).collect();
                let mut scores = scores_of(external, *number, &rows)?;
                if *is_reversed {
                    for score in &mut scores {
                        *score = -*score;
                    }
                }
                Ok(scores)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::WeakRankerParams;
    use crate::boost::weak::tests::{Draws, graded};
    use crate::data::Labels;
    use crate::tree::{GrowParams, LeafOrder, LeafRankParams, SplitRule, TreeRankParams};

    #[test]
    fn rows_are_worth_what_their_groups_are() {
        let mut draws = Draws(1);
        let n = 300;
        let values: Vec<f64> = (0..3 * n)
            .map(|_| if draws.below(8) == 0 { f64::NAN } else { draws.number(60) })
            .collect();
        let positive: Vec<bool> =
            (0..n).map(|row| values[3 * row] + draws.number(40) > 45.0).collect();
        let tree = TreeRankParams::new(
            GrowParams { max_depth: 3, leaf_order: LeafOrder::Tree, ..GrowParams::default() },
            SplitRule::Stumps(LeafRankParams::orthogonal(5)),
        );
        let columns = Columns::from_row_major(&values, 3).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let masses: Vec<u64> = (0..n).map(|_| draws.below(100) + 1).collect();
        let rankers = [
            WeakRankerParams::Feature,
            WeakRankerParams::Threshold,
            WeakRankerParams::Linear,
            WeakRankerParams::Tree(Box::new(tree)),
        ];
        for weak in rankers {
            for most in [usize::MAX, 9, 2] {
                let (term, of_row) = graded(&weak, &columns, &labels, &masses, most);
                let mut out = vec![0.5; n];
                term.add_values(&columns, None, &mut out).unwrap();
                let expected: Vec<f64> = of_row.iter().map(|value| 0.5 + value).collect();
                assert_eq!(out, expected, "{weak:?}");
                if let Term::Scored(scored) = &term {
                    assert!(scored.values.len() <= most);
                }
                assert_eq!(term.check(&[None; 3]), Ok(()));
            }
        }
    }
}
