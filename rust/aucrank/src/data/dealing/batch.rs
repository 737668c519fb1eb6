//! Rows that are added to others: some of those of a fit that reads its rows in parts.

use super::blocks::{BlockSums, BlockTable, RowBlocks};
use crate::RankError;
use crate::data::input::columns::Columns;
use crate::data::input::labels::Labels;
use crate::data::input::weights::FixedScale;

/// Some of the rows of a fit that reads them in parts.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Batch, BinningParams, Columns, Folds, Labels, RowBlocks};
/// use aucrank::rows::{StoredRows, Survey, deal_among};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1)?;
/// let positive = [true, false, true, false, true, false];
/// let of_patients = RowBlocks::Groups(&[7, 9, 7, 9, 8, 8]);
/// let (batch, interrupt) = (Batch::new(&columns, &positive), Interrupt::default());
/// let batch = batch.in_blocks(of_patients);
/// let mut survey = Survey::new(&[None], BinningParams::default(), None)?;
/// survey.add(&batch, &interrupt)?;
/// let mut rows = StoredRows::new(survey.frame()?, None)?;
/// rows.add(&batch, &interrupt)?;
/// rows.finish()?;
///
/// let labels = Labels::new(&positive, None)?.in_blocks(of_patients)?;
/// let folds = Folds::deal(&columns, &labels, 2, 0, &interrupt)?;
/// assert_eq!(deal_among(&rows, 0, &batch, 2, 0, &interrupt)?, folds);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    columns: &'a Columns<'a>,
    positive: &'a [bool],
    weights: Option<&'a [f64]>,
    blocks: Option<RowBlocks<'a>>,
}

impl<'a> Batch<'a> {
    /// Rows that count once each.
    #[must_use]
    pub fn new(columns: &'a Columns<'_>, positive: &'a [bool]) -> Self {
        Self { columns, positive, weights: None, blocks: None }
    }

    /// The same rows with weights.
    #[must_use]
    pub fn weighted(self, weights: Option<&'a [f64]>) -> Self {
        Self { weights, ..self }
    }

    /// The same rows, dealt into folds by groups or by time. If all rows are in memory, use
    /// [`Labels::in_blocks`].
    #[must_use]
    pub fn in_blocks(self, blocks: RowBlocks<'a>) -> Self {
        Self { blocks: Some(blocks), ..self }
    }

    /// The features.
    #[must_use]
    pub fn columns(&self) -> &'a Columns<'a> {
        self.columns
    }

    /// Which rows are positive.
    #[must_use]
    pub fn positive(&self) -> &'a [bool] {
        self.positive
    }

    /// The weights, or `None` if every row counts once.
    #[must_use]
    pub fn weights(&self) -> Option<&'a [f64]> {
        self.weights
    }

    /// The labels, with weights in the unit of all rows: `None` if every row counts once.
    pub(crate) fn labels(&self, scale: Option<FixedScale>) -> Labels<'a> {
        Labels::in_scale(self.positive, self.weights, scale)
    }

    /// Whether the rows are dealt by blocks, not by their content.
    pub(crate) fn has_blocks(&self) -> bool {
        self.blocks.is_some()
    }

    /// Checks the kinds of the features, and that all parts have the same rows.
    pub(crate) fn check(&self, n_levels: &[Option<u32>]) -> Result<(), RankError> {
        self.columns.check_kinds(n_levels)?;
        let (n_rows, expected) = (self.columns.n_rows(), self.positive.len());
        let bad = |name, found| Err(RankError::LengthMismatch { name, found, expected });
        match self.weights {
            _ if n_rows != expected => return bad("X", n_rows),
            Some(weights) if weights.len() != expected => {
                return bad("sample_weight", weights.len());
            }
            _ => {}
        }
        self.blocks.map_or(Ok(()), |blocks| blocks.check_length(expected))
    }

    /// The sums of the blocks, given the labels of these rows; `None` if rows are dealt by their
    /// content.
    pub(crate) fn block_sums(&self, labels: &Labels<'_>) -> Option<BlockSums> {
        let blocks = self.blocks?;
        let mut found = BlockSums::new(blocks.kind());
        found.add_rows(blocks, labels.weighted_rows());
        Some(found)
    }

    /// The place of the block of each row among all; empty if rows have none.
    pub(crate) fn places(&self, table: Option<&BlockTable>) -> Result<Vec<u16>, RankError> {
        let Some(table) = table else { return Ok(Vec::new()) };
        match self.blocks {
            Some(blocks) if blocks.kind() == table.kind() => Ok(table.places(blocks.of_row())),
            _ => {
                let (name, expected) = (table.kind().name(), self.columns.n_rows());
                Err(RankError::LengthMismatch { name, found: 0, expected })
            }
        }
    }
}
