//! Rows that do not lie in one matrix: batches of a file, or the partitions of a cluster.
//!
//! A fit is a conversation. The learner requests sums of cells, with all that it has decided since it
//! began; holders of rows answer in integers; answers are merged. An answer depends on the rows and
//! the [`Ask`] alone, so any holder of the same rows gives it, after any crash, and merging is exact in
//! any grouping: the same model comes from a matrix, a file and a cluster, bit for bit.
//!
//! - `survey`: one pass over raw rows, from which bins are chosen; `frame`: its result, and the units of
//!   weight of the classes;
//! - `coded`: rows as codes; `part`: rows that answer, and what they keep between questions, for which fits;
//!   `stored`: many parts, in memory or in a file;
//! - `question`: what a learner's question has to say; `words`, `sent`: in which form it travels, also in few
//!   bytes; `together`: questions of several works in one;
//! - `rare_levels`, `rates`: categories of few rows, and what is learned from their rates;
//! - `matrix`: all rows as codes in memory, for learners that need more than sums of cells;
//! - `row_sample`: the sample for learners that need rows as they are; `dealt`: folds and holdouts, and
//!   digests by which rows that are computed anew are known to be the same;
//! - `histograms`: the sums from which trees are grown, cell by cell, and other questions of several
//!   learners; `score_ranges`: sums by score.

mod coded;
mod dealt;
mod frame;
mod histograms;
mod matrix;
mod part;
mod question;
mod rare_levels;
mod rates;
mod row_sample;
mod score_ranges;
#[cfg(feature = "serde")]
mod sent;
mod stored;
mod survey;
#[cfg(all(test, feature = "serde"))]
pub(crate) mod tests;
mod together;
pub(crate) mod words;

pub(crate) use coded::{CodedRows, Recoded};
pub use dealt::{RowDigest, deal_among};
pub use frame::RowFrame;
pub(crate) use frame::{AskClassUnits, ClassUnits};
pub(crate) use histograms::{HistogramTally, QueriedCells, Totals};
pub use matrix::CodedMatrix;
pub(crate) use part::{FitId, Kept, PartView, RowStates};
pub use question::{Answer, Ask};
pub(crate) use question::{Mergeable, Question, View, other};
pub(crate) use rare_levels::{AskLevels, QueriedLevels};
pub(crate) use rates::{RateCodes, RateFolds};
pub use row_sample::RowSample;
pub(crate) use score_ranges::{ScoreCounts, ScoreRanges, largest_gap_of_ranges};
#[cfg(feature = "serde")]
pub(crate) use sent::{QuestionReader, SHARED_QUESTIONS, read};
pub use stored::StoredRows;
pub use survey::Survey;
pub(crate) use survey::{put_blocks, take_blocks};
pub(crate) use together::together;
pub(crate) use words::{put_packed, take_packed, take_packed_list};

use crate::{Interrupt, RankError};

/// Rows that can be queried, wherever they are.
///
/// # Examples
///
/// Two holders elsewhere, to whom questions and from whom answers travel as bytes:
///
/// ```
/// use aucrank::rows::{Answer, Ask, RowFrame, Rows, StoredRows};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit_rows};
/// use aucrank::{Interrupt, RankError};
/// # use aucrank::data::{BinningParams, Columns};
/// # use aucrank::rows::Survey;
///
/// struct Elsewhere {
///     frame: RowFrame,
///     holders: Vec<StoredRows>,
/// }
///
/// impl Rows for Elsewhere {
///     fn frame(&self) -> &RowFrame {
///         &self.frame
///     }
///
///     fn pass(&self, ask: &Ask, interrupt: &Interrupt) -> Result<Answer, RankError> {
///         let sent = ask.to_bytes();
///         let answer_of = |holder: &StoredRows| {
///             let ask = Ask::from_bytes(&sent)?;
///             Ok(holder.pass(&ask, interrupt)?.to_bytes())
///         };
///         let answers = self.holders.iter().map(answer_of).collect::<Result<Vec<_>, RankError>>()?;
///         let merged = Answer::merge_bytes(&answers, ask, &self.frame)?;
///         Answer::from_bytes(&merged, ask, &self.frame)
///     }
/// }
///
/// # let (values, positive) = ([1.0, 2.0, 3.0, 4.0], [false, true, false, true]);
/// # let interrupt = Interrupt::default();
/// # let mut survey = Survey::new(&[None], BinningParams::default(), None)?;
/// # survey.add(&Columns::from_row_major(&values, 1)?, &positive, None, &interrupt)?;
/// let frame = survey.frame()?;
/// let hold = |rows: std::ops::Range<usize>| {
///     let mut holder = StoredRows::new(frame.clone(), None)?;
///     let columns = Columns::from_row_major(&values[rows.clone()], 1)?;
///     holder.add(&columns, &positive[rows], None, &interrupt)?;
///     holder.finish()?;
///     Ok::<_, RankError>(holder)
/// };
/// let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let two = Elsewhere { holders: vec![hold(0..1)?, hold(1..4)?], frame: frame.clone() };
/// let of_two = fit_rows(&two, 0, &params, &interrupt)?;
/// assert_eq!(of_two, fit_rows(&hold(0..4)?, 0, &params, &interrupt)?);
/// # Ok::<(), RankError>(())
/// ```
pub trait Rows: Sync {
    /// What is known of all rows.
    fn frame(&self) -> &RowFrame;

    /// The merged answer of all rows.
    ///
    /// # Errors
    ///
    /// What the holder runs into, such as [`RankError::Storage`] or [`RankError::Interrupted`].
    fn pass(&self, ask: &Ask, interrupt: &Interrupt) -> Result<Answer, RankError>;
}
