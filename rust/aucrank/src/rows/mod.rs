//! Rows that do not lie in one matrix: batches of a file, or the partitions of a cluster.
//!
//! A fit sends questions. The learner requests sums of cells, along with all its decisions so far;
//! holders of rows answer in integers; answers are merged. An answer depends only on the rows and
//! the [`Ask`], so any holder of the same rows can give it, even after a crash. Merging is exact in
//! any grouping: a matrix, a file and a cluster give the same model, bit for bit.
//!
//! From the bottom up, each using those above it:
//!
//! - `words`: sums as words; `mergeable`: sums that are merged; `view`: which rows a question is
//!   about;
//! - `frame`: bins and units of weight of all rows, the result of a `survey` of raw ones;
//! - `coded`: rows as codes; `fold_steps`, `rate_codes`, `coding`: the codes of a fit, derived from
//!   them;
//! - `kept`: the state that a part keeps between questions of a fit; `part_view`: the rows that a
//!   question sees;
//! - `question`: the interface of a learner's questions and answers; `recoded`: rows in the codes of
//!   a fit; `sent`: questions as bytes;
//! - `spill`, `part`, `stored`: rows that answer, in memory or in a file;
//! - `class_units`, `totals`, `least_hashes`: questions of several learners; `fit_id`: a fit that
//!   asks them; `steps`: its decisions, which holders follow;
//! - `histograms`: the sums from which trees are grown, cell by cell; `score_ranges`: sums by score;
//! - `rates`, `rare_levels`: categories of few rows, and columns of their rates; `pair_rates`,
//!   `pair_codes`: the same for pairs of categories of two features;
//! - `together`: questions of several tasks in one; `answer_log`: a file of the answers, from which
//!   a fit that was interrupted goes on; `training`: the rows of a fit, wherever they are;
//! - `matrix`: all rows as codes in memory, for learners that need more than sums of cells;
//!   `contents`: rows of a few distinct contents, gathered with the number of copies of each;
//! - `row_sample`: the sample for learners that need rows rather than sums; `dealt`: folds and
//!   holdouts, and digests that identify rows which are computed anew.

mod answer_log;
mod class_units;
mod coded;
mod coding;
mod contents;
mod dealt;
mod fit_id;
mod fold_steps;
mod frame;
mod histograms;
mod kept;
mod least_hashes;
mod matrix;
mod mergeable;
mod pair_codes;
mod pair_rates;
mod part;
mod part_view;
mod question;
mod rare_levels;
mod rate_codes;
mod rates;
mod recoded;
mod row_sample;
mod score_ranges;
mod sent;
mod spill;
mod steps;
mod stored;
mod survey;
#[cfg(test)]
pub(crate) mod tests;
mod together;
mod totals;
mod training;
mod view;
pub(crate) mod words;

pub use answer_log::{AnswerLog, LoggedRows};
pub(crate) use class_units::{AskClassUnits, ClassUnits};
pub(crate) use coded::CodedRows;
pub(crate) use contents::gathered as gathered_contents;
pub use dealt::{RowDigest, deal_among};
pub(crate) use fit_id::FitId;
pub use frame::RowFrame;
pub use histograms::sums_by_code;
pub(crate) use histograms::{HistogramTally, QueriedCells};
pub(crate) use kept::Kept;
pub use matrix::CodedMatrix;
pub use mergeable::Mergeable;
pub(crate) use pair_codes::PairCodes;
pub(crate) use pair_rates::{pair_of_number, pair_of_row};
pub(crate) use part_view::PartView;
pub use question::{Answer, Ask};
pub(crate) use question::{Question, other};
pub(crate) use rare_levels::{AskLevels, QueriedLevels};
pub(crate) use rate_codes::RateCodes;
pub(crate) use rates::RateFolds;
pub(crate) use recoded::Recoded;
pub use row_sample::RowSample;
pub(crate) use score_ranges::{ScoreCounts, ScoreRanges, largest_gap_of_ranges};
pub(crate) use sent::{QuestionReader, SHARED_QUESTIONS, read};
pub(crate) use steps::{SentSteps, Step, StepLog};
pub use stored::StoredRows;
pub use survey::Survey;
pub(crate) use survey::{put_blocks, take_blocks};
pub(crate) use together::together;
pub(crate) use totals::Totals;
pub(crate) use training::check_elsewhere;
pub use training::{NumberedRows, TrainingRows};
pub(crate) use view::View;
pub use words::WordReader;
pub(crate) use words::{put_packed, take_packed, take_packed_list};

use crate::{Interrupt, RankError};

/// Rows that can be queried, wherever they are.
///
/// # Examples
///
/// Two remote holders; questions and answers are sent as bytes:
///
/// ```
/// use aucrank::rows::{Answer, Ask, RowFrame, Rows, StoredRows};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
/// use aucrank::{Interrupt, RankError};
/// # use aucrank::data::{Batch, BinningParams, Columns};
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
/// # survey.add(&Batch::new(&Columns::from_row_major(&values, 1)?, &positive), &interrupt)?;
/// let frame = survey.frame()?;
/// let hold = |rows: std::ops::Range<usize>| {
///     let mut holder = StoredRows::new(frame.clone(), None)?;
///     let columns = Columns::from_row_major(&values[rows.clone()], 1)?;
///     holder.add(&Batch::new(&columns, &positive[rows]), &interrupt)?;
///     holder.finish()?;
///     Ok::<_, RankError>(holder)
/// };
/// let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let two = Elsewhere { holders: vec![hold(0..1)?, hold(1..4)?], frame: frame.clone() };
/// let of_two = fit((&two, 0), &params, &interrupt)?;
/// assert_eq!(of_two, fit((&hold(0..4)?, 0), &params, &interrupt)?);
/// # Ok::<(), RankError>(())
/// ```
pub trait Rows: Sync {
    /// Frame of all rows.
    fn frame(&self) -> &RowFrame;

    /// The merged answer of all rows.
    ///
    /// # Errors
    ///
    /// Errors of the holder, such as [`RankError::Storage`] or [`RankError::Interrupted`].
    fn pass(&self, ask: &Ask, interrupt: &Interrupt) -> Result<Answer, RankError>;
}
