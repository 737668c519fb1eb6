//! Rows that do not lie in one matrix: batches of a file, or the partitions of a cluster.
//!
//! A fit is a conversation. The learner asks for sums of cells, with all that it has decided since it
//! began; whoever holds rows answers in integers; answers are merged. An answer depends on the rows and
//! the [`Ask`] alone, so any holder of the same rows gives it, after any crash, and merging is exact in
//! any grouping: the same model comes from a matrix, a file and a cluster, bit for bit.
//!
//! - `survey`: one pass over raw rows, from which bins are chosen; `frame`: what it comes to;
//! - `coded`: rows as codes; `spill`: in a file; `part`: what answers; `stored`: many parts;
//! - `question`: what a learner's question has to say; `ask`, `answer`: what travels; `words`, `sent`:
//!   in which form; `fit_id`: which trees it is about; `kept`: what a part keeps between questions;
//!   `together`: questions of several works in one;
//! - `matrix`: all rows as codes in memory, for learners that need more than sums of cells;
//! - `digest`: by which rows that are computed anew are known to be the same;
//! - `row_sample`: which rows are taken for learners that need rows as they are; `dealt`: in which folds
//!   they are;
//! - `part_view`: the rows of a part, of which questions are answered; `totals`, `class_units`,
//!   `least_hashes`, `histograms`: questions of several learners; `score_ranges`, `score_counts`: sums by
//!   score; `packed`: sums in few bytes;
//! - `cells`: histograms as the source of sums that learners grow trees from.

mod answer;
mod ask;
mod cells;
mod class_units;
mod coded;
mod dealt;
mod digest;
mod fit_id;
mod frame;
mod histograms;
mod kept;
mod least_hashes;
mod matrix;
mod packed;
mod part;
mod part_view;
mod question;
mod row_sample;
mod score_counts;
mod score_ranges;
#[cfg(feature = "serde")]
mod sent;
mod spill;
mod stored;
mod survey;
#[cfg(all(test, feature = "serde"))]
pub(crate) mod tests;
mod together;
mod totals;
pub(crate) mod words;

pub use answer::Answer;
pub use ask::Ask;
pub(crate) use ask::View;
pub(crate) use cells::AskedCells;
pub(crate) use class_units::{AskClassUnits, ClassUnits};
pub(crate) use coded::CodedRows;
pub use dealt::deal_among;
pub use digest::RowDigest;
pub(crate) use fit_id::Fit;
pub use frame::RowFrame;
pub(crate) use histograms::HistogramTally;
pub(crate) use kept::{Kept, RowStates};
pub use matrix::CodedMatrix;
pub(crate) use packed::{put_packed, take_packed, take_packed_list};
pub(crate) use part_view::PartView;
pub(crate) use question::{Mergeable, Question, other};
pub use row_sample::RowSample;
pub(crate) use score_counts::ScoreCounts;
pub(crate) use score_ranges::{ScoreRanges, largest_gap_of_ranges};
#[cfg(feature = "serde")]
pub(crate) use sent::{QuestionReader, SHARED_QUESTIONS, read};
pub use stored::StoredRows;
pub use survey::Survey;
pub(crate) use together::together;
pub(crate) use totals::Totals;

use crate::{Interrupt, RankError};

/// Rows that can be asked, whoever holds them.
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
