//! AUC, curve and variance of rows that come in batches.
//!
//! All are functions of one table: the distinct scores in order, each with the weights of its two
//! classes. The table is a few sorted runs of geometrically growing sizes, merged on demand, and
//! sums are integers of as many words as the weights need, so that every result equals that of one
//! call on all rows, bit for bit, for any batches in any order.

mod bytes;
mod cells;
mod files;
mod limbs;
mod outline;
mod runs;
mod spread;
mod wide_cells;

use std::path::Path;

use crate::parallel::prelude::*;

use self::cells::{Cell, Count, Seen, cut_down};
use self::files::{Entries, Files, Kind};
use self::limbs::{add_shifted, add_words, bit_length};
use self::outline::{Outline, Wanted, outline};
use self::runs::{Entry, Runs};
use self::wide_cells::{LOWEST, Scale, Total, WideCell, placed, unit_below};
use super::auc::Pairs;
use super::compare::check_rates;
use super::curve::Counted;
use super::mass::{ManyBits, Mass, digits};
use super::partial::{Part, check_bands};
use super::sample::{Sample, Unweighted};
use super::score::Coding;
use super::sort::{Record, Sink, for_ties, sweep};
use super::{Line, PARALLEL_FROM, RocCurve, Score, Weighting, auc};
use crate::RankError;
use crate::data::times_power_of_two;

/// Rows buffered before they are sorted.
const BUFFER: usize = 1 << 20;

/// The same if few scores repeat, so that an entry of the table takes more memory than a row.
const LARGEST_BUFFER: usize = 1 << 24;

/// Share of the memory of a state with files that its table may take.
const TABLE_SHARE: usize = 8;

/// Sums of weights up to this are also exact in `f64`.
const MAX_UNITS: u64 = 1 << 53;

/// Accumulated ROC statistics of rows that come in batches.
///
/// # Examples
///
/// ```
/// use aucrank::roc::{RocState, auc};
///
/// let mut state = RocState::new(None, None).unwrap();
/// state.update(&[0.1, 0.4], &[false, false], None).unwrap();
/// let mut other = RocState::new(None, None).unwrap();
/// other.update(&[0.35, 0.8], &[true, true], None).unwrap();
/// state.merge(other).unwrap();
/// assert_eq!(state.auc(), auc(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true]));
/// ```
#[derive(Debug, Clone)]
pub struct RocState {
    /// Weights are integer multiples of `2^-unit_bits`; `None` if any weight is kept exactly.
    unit_bits: Option<u32>,
    max_size: Option<usize>,
    /// Negative and positive rows of positive weight.
    rows: [u64; 2],
    /// Sums of their weights.
    totals: [Total; 2],
    /// All weights are multiples of `2^low`.
    low: i32,
    /// Buffered rows, not in the table yet: scores and classes of unweighted ones.
    scores: Vec<f64>,
    positive: Vec<bool>,
    /// Key of the score and bits of the weight of weighted ones, the sign bit being the class.
    weighted: Vec<(u64, u64)>,
    /// Number of buffered rows from which they are sorted, if that saves memory.
    enough: usize,
    table: Table,
    /// If given, entries beyond some memory lie in files.
    files: Option<Files>,
}

#[derive(Debug, Clone)]
enum Table {
    /// Unweighted rows, one entry per score.
    Counts(Runs<Count>),
    /// Weighted rows, or a maximum size.
    Cells(Runs<Cell>),
    /// Sums of weights of more than 53 bits.
    Wide2(Runs<WideCell<2>>, i32),
    Wide4(Runs<WideCell<4>>, i32),
    /// Wide enough for any weights.
    Wide34(Runs<WideCell<34>>, i32),
}

/// Evaluates an expression with the runs of a table of any form.
macro_rules! with_runs {
    ($table:expr, |$runs:ident| $body:expr) => {
        match $table {
            Table::Counts($runs) => $body,
            Table::Cells($runs) => $body,
            Table::Wide2($runs, _) => $body,
            Table::Wide4($runs, _) => $body,
            Table::Wide34($runs, _) => $body,
        }
    };
}

use with_runs;

/// Evaluates an expression with the entries of a state in ascending order, in the form that
/// statistics read, and the exponents of the units of their weights. Returns an error of the files.
macro_rules! with_cells {
    ($state:expr, |$cells:ident, $exponents:ident| $body:expr) => {{
        $state.settle()?;
        let bits = $state.bits();
        let (scale, low) = (Scale::of(&$state.totals, $state.low), $state.low);
        let wide = scale.0.map(|dropped| low + dropped.cast_signed());
        let narrow = [-bits.cast_signed(); 2];
        let files = $state.files.as_ref();
        let found = match &mut $state.table {
            Table::Counts(runs) => {
                let $exponents = narrow;
                let $cells = Entries::of(runs, files).map(move |count| Cell::of_rows(count, bits));
                $body
            }
            Table::Cells(runs) => {
                let $exponents = narrow;
                let $cells = Entries::of(runs, files);
                $body
            }
            Table::Wide2(runs, _) => {
                let $exponents = wide;
                let $cells = Entries::of(runs, files).map(move |cell| cell.seen(scale));
                $body
            }
            Table::Wide4(runs, _) => {
                let $exponents = wide;
                let $cells = Entries::of(runs, files).map(move |cell| cell.seen(scale));
                $body
            }
            Table::Wide34(runs, _) => {
                let $exponents = wide;
                let $cells = Entries::of(runs, files).map(move |cell| cell.seen(scale));
                $body
            }
        };
        files.map_or(Ok(()), Files::check)?;
        found
    }};
}

/// Width of the sums of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// At most 2^53 units of the state.
    Narrow,
    /// Of that many words, in units of `2^low`.
    Wide { words: usize, low: i32 },
}

impl Form {
    /// The form depends on the rows only, not on their batches.
    fn of(totals: &[Total; 2], low: i32, is_exact: bool) -> Self {
        if !is_exact || low == 0 && few_units(totals, 0).is_some() {
            return Self::Narrow;
        }
        let unit = (low - LOWEST).cast_unsigned();
        let bits = bit_length(&totals[0]).max(bit_length(&totals[1])).saturating_sub(unit);
        let words = if bits <= 128 {
            2
        } else if bits <= 256 {
            4
        } else {
            34
        };
        Self::Wide { words, low }
    }
}

/// Sums in units of `2^-bits`; `None` if they exceed 2^53 or are not integers.
fn few_units(totals: &[Total; 2], bits: u32) -> Option<[u64; 2]> {
    let unit = LOWEST.unsigned_abs() - bits;
    let units = totals.each_ref().map(|total| {
        let fits = bit_length(total) <= unit + 64;
        let units = if fits { limbs::rounded(total, unit) as u64 } else { u64::MAX };
        (units <= MAX_UNITS).then_some(units)
    });
    Some([units[0]?, units[1]?])
}

impl Table {
    /// The same rows with wider sums.
    fn widened(self, form: Form, bits: u32) -> Self {
        match (form, &self) {
            (Form::Narrow, _) => self,
            (Form::Wide { words: 2, low }, Self::Wide2(_, own)) if *own == low => self,
            (Form::Wide { words: 4, low }, Self::Wide4(_, own)) if *own == low => self,
            (Form::Wide { words: 34, low }, Self::Wide34(_, own)) if *own == low => self,
            (Form::Wide { words: 2, low }, _) => Self::Wide2(self.wide(low, bits), low),
            (Form::Wide { words: 4, low }, _) => Self::Wide4(self.wide(low, bits), low),
            (Form::Wide { low, .. }, _) => Self::Wide34(self.wide(low, bits), low),
        }
    }

    fn wide<const WORDS: usize>(self, low: i32, bits: u32) -> Runs<WideCell<WORDS>> {
        // By how much the unit of the entries exceeds the new one.
        let shift = |unit: i32| (unit - low).cast_unsigned();
        let whole = shift(-bits.cast_signed());
        match self {
            Self::Counts(runs) => {
                runs.map(|&count| WideCell::of_cell(&Cell::of_rows(count, bits), whole))
            }
            Self::Cells(runs) => runs.map(|cell| WideCell::of_cell(cell, whole)),
            Self::Wide2(runs, own) => runs.map(|cell| cell.in_finer_units(shift(own))),
            Self::Wide4(runs, own) => runs.map(|cell| cell.in_finer_units(shift(own))),
            Self::Wide34(runs, own) => runs.map(|cell| cell.in_finer_units(shift(own))),
        }
    }
}

impl RocState {
    /// A state without rows.
    ///
    /// With a `max_size` the table keeps at most that many entries: neighbouring scores are then
    /// counted as ties, and [`RocState::auc_error_bound`] bounds the error. Weights are kept
    /// exactly; with a `weight_unit` they are rounded to multiples of it, which bounds the memory
    /// of an entry; a unit of 1 requires integer weights.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] if `max_size` is below 2, or `weight_unit` is not a power of two
    /// from 2^-52 to 1.
    pub fn new(
        max_size: Option<usize>,
        weight_unit: impl Into<Option<f64>>,
    ) -> Result<Self, RankError> {
        if max_size.is_some_and(|size| size < 2) {
            return Err(RankError::BadParameter {
                name: "max_size",
                value: max_size.unwrap_or_default().to_string(),
                rule: "at least 2",
            });
        }
        let bits = |weight_unit: f64| {
            let bits =
                (0..=52_u32).find(|&bits| weight_unit.to_bits() == power(bits).recip().to_bits());
            bits.ok_or_else(|| RankError::BadParameter {
                name: "weight_unit",
                value: weight_unit.to_string(),
                rule: "a power of two from 2^-52 to 1",
            })
        };
        Ok(Self {
            unit_bits: weight_unit.into().map(bits).transpose()?,
            max_size,
            rows: [0; 2],
            totals: [[0; wide_cells::ALL_WORDS]; 2],
            low: 0,
            scores: Vec::new(),
            positive: Vec::new(),
            weighted: Vec::new(),
            enough: in_memory(max_size),
            table: match max_size {
                None => Table::Counts(Runs::default()),
                Some(_) => Table::Cells(Runs::default()),
            },
            files: None,
        })
    }

    /// The same state with at most about so many bytes in memory: more lie in files in a folder,
    /// and are removed with the state. Statistics are the same, and take a pass over a file.
    ///
    /// # Errors
    ///
    /// [`RankError::Storage`] if there is no such folder; [`RankError::BadParameter`] for less than
    /// a mebibyte, or if there is a maximum size.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::roc::RocState;
    ///
    /// let mut state = RocState::new(None, None)?.spilling_to(&std::env::temp_dir(), 1 << 20)?;
    /// for batch in 0..10 {
    ///     let scores: Vec<f64> = (0..10_000).map(|row| f64::from(batch + 10 * row)).collect();
    ///     let positive: Vec<bool> = (0..10_000).map(|row| row >= 5_000).collect();
    ///     state.update(&scores, &positive, None)?;
    /// }
    /// assert_eq!((state.size()?, state.auc()?), (100_000, 1.0));
    /// # Ok::<(), aucrank::RankError>(())
    /// ```
    pub fn spilling_to(mut self, folder: &Path, max_bytes: usize) -> Result<Self, RankError> {
        let refused = |name, value: usize, rule| {
            Err(RankError::BadParameter { name, value: value.to_string(), rule })
        };
        if let Some(max_size) = self.max_size {
            return refused("max_size", max_size, "None if scores may lie in files");
        }
        if max_bytes < 1 << 20 {
            return refused("max_bytes", max_bytes, "at least 2^20");
        }
        self.files = Some(Files::new(folder, max_bytes)?);
        self.enough = self.buffer();
        self.spill_beyond(max_bytes / TABLE_SHARE)?;
        Ok(self)
    }

    /// A state of validated rows.
    ///
    /// # Errors
    ///
    /// [`RankError::ClassWithoutWeight`].
    pub(super) fn of_sample<S: Score>(
        sample: &Sample<'_, S, ManyBits<'_>>,
    ) -> Result<Self, RankError> {
        let mut state = Self::new(None, None)?;
        state.update(sample.scores, sample.positive, Some(sample.weights.raw))?;
        for (rows, class) in state.rows.into_iter().zip(["negative", "positive"]).rev() {
            if rows == 0 {
                return Err(RankError::ClassWithoutWeight { class });
            }
        }
        Ok(state)
    }

    /// Maximum number of entries, if there is one.
    #[must_use]
    pub fn max_size(&self) -> Option<usize> {
        self.max_size
    }

    /// The unit to which weights are rounded; `None` if they are kept exactly.
    #[must_use]
    pub fn weight_unit(&self) -> Option<f64> {
        self.unit_bits.map(|bits| power(bits).recip())
    }

    /// Negative rows of positive weight.
    #[must_use]
    pub fn n_neg(&self) -> u64 {
        self.rows[0]
    }

    /// Positive rows of positive weight.
    #[must_use]
    pub fn n_pos(&self) -> u64 {
        self.rows[1]
    }

    /// Whether adding `n_rows` more rows, or computing a statistic if 0, would sort so many that
    /// the current rayon pool is used.
    #[must_use]
    pub fn uses_threads(&self, n_rows: usize) -> bool {
        let waiting = self.n_waiting();
        let (size, is_one) = with_runs!(&self.table, |runs| (runs.len(), runs.is_one()));
        if n_rows > 0 {
            waiting + n_rows >= self.enough
        } else {
            (waiting > 0 || !is_one) && waiting + size >= PARALLEL_FROM
        }
    }

    /// Adds rows; either class may be absent. An error leaves the state as it was.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the lengths differ, a score is NaN, or a weight is negative or not finite;
    /// with a unit of weight, also for a weight that is not a multiple of it, and for a class with
    /// more than 2^53 units of weight.
    pub fn update<S: Score>(
        &mut self,
        scores: &[S],
        positive: &[bool],
        weights: Option<&[f64]>,
    ) -> Result<(), RankError> {
        let n = positive.len();
        for (name, found) in
            [("y_score", scores.len()), ("sample_weight", weights.map_or(n, <[f64]>::len))]
        {
            if found != n {
                return Err(RankError::LengthMismatch { name, found, expected: n });
            }
        }
        if let Some(row) = scores.iter().position(|s| s.partial_cmp(s).is_none()) {
            return Err(RankError::NanScore(row));
        }
        let batch = self.sums_of(positive, weights)?;
        self.add_sums(&batch)?;
        let mut start = 0;
        while start < n {
            // With files, no more rows wait than memory allows.
            let most = if self.files.is_some() { self.piece() } else { n };
            let rows = start..start.saturating_add(most).min(n);
            let weights = weights.map(|weights| &weights[rows.clone()]);
            start = rows.end;
            self.append_rows(&scores[rows.clone()], &positive[rows], weights);
            self.sort_if_enough()?;
        }
        Ok(())
    }

    /// Adds rows that are counted by score and class, as a database that groups them gives them: each
    /// stands for `counts` rows. The state is that of all of these, bit for bit, whereas a row of weight
    /// k is one row. An error leaves the state as it was.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the lengths differ or a score is NaN; with a unit of weight, also for a class with
    /// more than 2^53 units of weight.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::roc::{RocState, auc};
    ///
    /// let mut state = RocState::new(None, None).unwrap();
    /// state.update_counts(&[0.1, 0.4, 0.4], &[false, false, true], &[2, 1, 1]).unwrap();
    /// assert_eq!(state.n_neg(), 3);
    /// assert_eq!(state.auc(), auc(&[0.1, 0.1, 0.4, 0.4], &[false, false, false, true]));
    /// ```
    pub fn update_counts(
        &mut self,
        scores: &[f64],
        positive: &[bool],
        counts: &[u64],
    ) -> Result<(), RankError> {
        let expected = positive.len();
        for (name, found) in [("y_score", scores.len()), ("counts", counts.len())] {
            if found != expected {
                return Err(RankError::LengthMismatch { name, found, expected });
            }
        }
        if let Some(row) = scores.iter().position(|score| score.is_nan()) {
            return Err(RankError::NanScore(row));
        }
        let mut rows: Vec<Count> = Vec::with_capacity(expected);
        let mut whole = [0_u128; 2];
        for ((&score, &positive), &count) in scores.iter().zip(positive).zip(counts) {
            whole[usize::from(positive)] += u128::from(count);
            if count > 0 {
                let rows_of_class = if positive { [0, count] } else { [count, 0] };
                rows.push(Count { key: score.key(), rows: rows_of_class });
            }
        }
        let rows_of_classes = whole.map(|rows| u64::try_from(rows).unwrap_or(u64::MAX));
        let mut sums = Sums { rows: rows_of_classes, ..Sums::default() };
        sums.add_whole(whole, 0);
        self.add_sums(&sums)?;
        rows.sort_unstable_by_key(|count| count.key);
        rows.dedup_by(|next, count| {
            let is_tied = next.key == count.key;
            if is_tied {
                *count = count.join(*next);
            }
            is_tied
        });
        self.widen()?;
        self.push_counts(rows);
        self.keep_size();
        self.spill()
    }

    fn append_rows<S: Score>(&mut self, scores: &[S], positive: &[bool], weights: Option<&[f64]>) {
        if let Some(weights) = weights {
            let keyed = |((&score, &positive), &weight): ((&S, &bool), &f64)| {
                let class = u64::from(positive) << 63;
                (weight > 0.0).then(|| (Into::<f64>::into(score).key(), weight.to_bits() | class))
            };
            self.weighted.extend(scores.iter().zip(positive).zip(weights).filter_map(keyed));
        } else {
            self.scores.extend(scores.iter().map(|&score| Into::<f64>::into(score)));
            self.positive.extend(positive);
        }
    }

    /// Adds the rows of another state; the smaller maximum size applies. If one of them keeps
    /// weights exactly, so does the sum.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] if the units of weight differ, or one has a maximum size and
    /// another files; [`RankError::TooMuchWeight`]; [`RankError::Storage`].
    pub fn merge(&mut self, mut other: Self) -> Result<(), RankError> {
        let unit_bits = self.unit_bits.and(other.unit_bits);
        if unit_bits.is_some() && self.unit_bits != other.unit_bits {
            return Err(RankError::BadParameter {
                name: "weight_unit",
                value: other.weight_unit().unwrap_or_default().to_string(),
                rule: "the same in states that are merged",
            });
        }
        if (self.files.is_some() || other.files.is_some())
            && let Some(max_size) = self.max_size.or(other.max_size)
        {
            return Err(RankError::BadParameter {
                name: "max_size",
                value: max_size.to_string(),
                rule: "None in a state that is merged with one whose scores may lie in files",
            });
        }
        if unit_bits.is_none() {
            self.forget_unit()?;
            other.forget_unit()?;
        }
        if self.files.is_some() && other.files.is_none() {
            other.files = self.files.as_ref().map(Files::without_runs);
            other.spill_beyond(0)?;
        }
        self.add_sums(&Sums { rows: other.rows, totals: other.totals, low: other.low })?;
        if let Some(files) = &other.files {
            self.files.get_or_insert_with(|| files.without_runs()).append(files);
        }
        self.scores.append(&mut other.scores);
        self.positive.append(&mut other.positive);
        self.weighted.append(&mut other.weighted);
        if let Some(size) = other.max_size {
            self.max_size = Some(self.max_size.map_or(size, |own| own.min(size)));
            if matches!(self.table, Table::Counts(_)) {
                self.cells();
            }
        }
        self.widen()?;
        let table = other.table.widened(self.form(), self.bits());
        match (&mut self.table, table) {
            (Table::Wide2(own, _), Table::Wide2(runs, _)) => own.append(runs),
            (Table::Wide4(own, _), Table::Wide4(runs, _)) => own.append(runs),
            (Table::Wide34(own, _), Table::Wide34(runs, _)) => own.append(runs),
            (_, Table::Counts(runs)) => {
                for run in runs.into_runs() {
                    self.push_counts(run);
                }
            }
            (_, Table::Cells(runs)) => self.cells().append(runs),
            _ => unreachable!("both of the form of their sum"),
        }
        self.sort_if_enough()?;
        self.keep_size();
        self.spill()
    }

    /// Area under the ROC curve of all rows, equal to the last bit to [`auc`](super::auc) of one
    /// call, unless there is a maximum size.
    ///
    /// # Errors
    ///
    /// [`RankError::OneClass`] if a class is absent.
    pub fn auc(&mut self) -> Result<f64, RankError> {
        self.check_classes()?;
        let is_empty = with_runs!(&self.table, |runs| runs.len() == 0)
            && self.files.as_ref().is_none_or(Files::is_empty);
        if self.max_size.is_none() && is_empty && self.weighted.is_empty() {
            // No table is needed, and ranges of one class need not be sorted.
            return auc(&self.scores, &self.positive);
        }
        with_cells!(self, |cells, _exponents| area(cells))
    }

    /// Bound on the difference of [`RocState::auc`] from the AUC of all rows; 0 without a maximum
    /// size. Pairs within a cell count one half, where by the order of their scores they would
    /// count 0 or 1.
    ///
    /// # Errors
    ///
    /// [`RankError::OneClass`] if a class is absent.
    pub fn auc_error_bound(&mut self) -> Result<f64, RankError> {
        self.check_classes()?;
        let bound = with_cells!(self, |cells, _exponents| half_of_joined_pairs(cells));
        // Rounded up: three roundings of half a unit in the last place.
        Ok(bound * (1.0 + 2.0 * f64::EPSILON))
    }

    /// Variance of the AUC by `DeLong`, `DeLong` and Clarke-Pearson (1988), in one pass.
    ///
    /// With weights w and placement values V of the m rows of a class, each class contributes
    /// `m / (m - 1) * sum(w^2 (V - AUC)^2) / sum(w)^2`: the usual variance if all weights are
    /// equal. With a maximum size it is that of the scores rounded to cells.
    ///
    /// # Errors
    ///
    /// [`RankError::OneClass`] if a class is absent, [`RankError::NoVariance`] if it has one row.
    pub fn variance(&mut self) -> Result<f64, RankError> {
        self.check_classes()?;
        let [n_neg, n_pos] = self.rows;
        if n_neg < 2 || n_pos < 2 {
            return Err(RankError::NoVariance { n_pos, n_neg });
        }
        let spread = with_cells!(self, |cells, _exponents| spread(cells));
        let part = |class: usize| {
            let n = self.rows[class] as f64;
            spread[class] * (n / (n - 1.0))
        };
        Ok(part(0) + part(1))
    }

    /// Kish's effective numbers of positive and of negative rows, as
    /// [`DeLong::effective_rows`](super::DeLong::effective_rows).
    ///
    /// # Errors
    ///
    /// [`RankError::OneClass`] if a class is absent.
    pub fn effective_rows(&mut self) -> Result<[f64; 2], RankError> {
        self.check_classes()?;
        Ok(with_cells!(self, |cells, _exponents| effective_rows(cells)))
    }

    /// The ROC curve of all rows, equal to that of one call, unless there is a maximum size. Then
    /// its knots are a subset of those of the full curve, with the least score of each cell.
    ///
    /// # Errors
    ///
    /// [`RankError::OneClass`] if a class is absent.
    pub fn curve(&mut self) -> Result<RocCurve, RankError> {
        self.check_classes()?;
        Ok(with_cells!(self, |cells, exponents| curve(cells, exponents)))
    }

    /// The most likely line of log-odds along the scores, equal to that of one call; `class_rows` are
    /// the numbers of negative and of positive rows.
    ///
    /// # Errors
    ///
    /// [`RankError::OneClass`] if a class is absent, [`RankError::Storage`].
    pub(crate) fn log_odds_line(&mut self, class_rows: [u64; 2]) -> Result<Line, RankError> {
        self.check_classes()?;
        Ok(with_cells!(self, |cells, exponents| Line::of_streamed(
            cells.map(move |cell| weighed(&cell, exponents)),
            class_rows
        )))
    }

    /// At most so many knots of the curve of all rows, at least 8: evenly along it, and the one of
    /// the largest TPR - FPR.
    ///
    /// # Errors
    ///
    /// [`RankError`] as for [`RocState::curve`], and for fewer knots.
    pub fn knots(&mut self, max_knots: usize) -> Result<RocCurve, RankError> {
        if max_knots < 8 {
            return Err(RankError::BadParameter {
                name: "max_knots",
                value: max_knots.to_string(),
                rule: "at least 8",
            });
        }
        let wanted = Wanted { most: Some(max_knots), ..Wanted::default() };
        self.outline(&wanted).map(|outline| outline.curve)
    }

    /// Area under a part of the curve, as [`RocCurve::partial_auc`].
    ///
    /// # Errors
    ///
    /// [`RankError`] as for it, and as for [`RocState::curve`].
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::roc::RocState;
    ///
    /// let mut state = RocState::new(None, None)?;
    /// state.update(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true], None)?;
    /// assert_eq!(state.partial_auc([0.0, 0.75], [0.5, 1.0], false)?, 0.125);
    /// # Ok::<(), aucrank::RankError>(())
    /// ```
    pub fn partial_auc(
        &mut self,
        fpr: [f64; 2],
        tpr: [f64; 2],
        standardize: bool,
    ) -> Result<f64, RankError> {
        check_bands(fpr, tpr)?;
        let Outline { curve, areas } =
            self.outline(&Wanted { fpr: &fpr, tpr: &tpr, most: None })?;
        let area_up_to = |rate| {
            let (beyond, cut) = curve.cut_segment(rate);
            areas[beyond - 1] + cut
        };
        curve.partial_area(area_up_to, fpr, tpr, standardize)
    }

    /// As [`RocCurve::tpr_at`].
    ///
    /// # Errors
    ///
    /// [`RankError`] as for it, and as for [`RocState::curve`].
    pub fn tpr_at(&mut self, fpr: &[f64]) -> Result<Vec<f64>, RankError> {
        check_rates("fpr", fpr)?;
        self.outline(&Wanted { fpr, ..Wanted::default() })?.curve.tpr_at(fpr)
    }

    /// As [`RocCurve::fpr_at`].
    ///
    /// # Errors
    ///
    /// [`RankError`] as for it, and as for [`RocState::curve`].
    pub fn fpr_at(&mut self, tpr: &[f64]) -> Result<Vec<f64>, RankError> {
        check_rates("tpr", tpr)?;
        self.outline(&Wanted { tpr, ..Wanted::default() })?.curve.fpr_at(tpr)
    }

    /// Variance of [`RocState::partial_auc`], as that of [`PartialAreas`](super::PartialAreas);
    /// `None` if a class has one row.
    ///
    /// # Errors
    ///
    /// [`RankError`] as for [`RocState::partial_auc`], and for a frequency that is not whole.
    pub fn partial_variance(
        &mut self,
        fpr: [f64; 2],
        tpr: [f64; 2],
        weighting: Weighting,
    ) -> Result<Option<f64>, RankError> {
        check_bands(fpr, tpr)?;
        self.check_classes()?;
        let rows = match weighting {
            Weighting::Sampling => self.rows.map(|rows| rows as f64),
            Weighting::Frequency => self.frequencies()?,
        };
        if rows.iter().any(|&rows| rows < 2.0) {
            return Ok(None);
        }
        let curve = self.outline(&Wanted { fpr: &fpr, tpr: &tpr, most: None })?.curve;
        let part = Part::of(&curve.fpr(), &curve.tpr(), fpr, tpr);
        let [neg, pos] =
            with_cells!(self, |cells, _exponents| spread::of_part(&cells, rows, part, weighting));
        Ok(Some(neg + pos))
    }

    /// Negative and positive rows if weights are frequencies.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] for a weight that is not a whole number.
    pub fn frequencies(&mut self) -> Result<[f64; 2], RankError> {
        with_cells!(self, |cells, exponents| spread::whole_weights(cells, exponents))
    }

    fn outline(&mut self, wanted: &Wanted<'_>) -> Result<Outline, RankError> {
        self.check_classes()?;
        Ok(with_cells!(self, |cells, exponents| outline(cells, exponents, wanted)))
    }

    /// Number of entries of the table: distinct scores, or cells.
    ///
    /// # Errors
    ///
    /// [`RankError::Storage`].
    pub fn size(&mut self) -> Result<usize, RankError> {
        self.settle()?;
        let in_files = self.files.as_ref().map_or(0, Files::n_entries);
        Ok(in_files + with_runs!(&self.table, |runs| runs.len()))
    }

    /// The state as bytes with a version and a checksum. Without a maximum size, the bytes are the
    /// same for the same rows in any batches and any order, if all are weighted or none is.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] if scores lie in files; [`RankError::Storage`].
    pub fn to_bytes(&mut self) -> Result<Vec<u8>, RankError> {
        bytes::write(self)
    }

    /// The state from the bytes of [`RocState::to_bytes`].
    ///
    /// # Errors
    ///
    /// [`RankError::BadState`] for any other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RankError> {
        bytes::read(bytes)
    }

    fn n_waiting(&self) -> usize {
        self.scores.len() + self.weighted.len()
    }

    /// Exponent of the units that an unweighted row counts as, and of the scale of narrow sums.
    fn bits(&self) -> u32 {
        self.unit_bits.unwrap_or_default()
    }

    fn form(&self) -> Form {
        Form::of(&self.totals, self.low, self.unit_bits.is_none())
    }

    /// Sums over the rows of a batch.
    #[expect(clippy::float_cmp, reason = "a whole number is one exactly")]
    fn sums_of(&self, positive: &[bool], weights: Option<&[f64]>) -> Result<Sums, RankError> {
        let mut sums = Sums::default();
        let Some(weights) = weights else {
            let n_pos = positive.iter().map(|&p| u64::from(p)).sum::<u64>();
            sums.rows = [positive.len() as u64 - n_pos, n_pos];
            sums.add_whole(sums.rows.map(u128::from), 0);
            return Ok(sums);
        };
        let rows = || weights.iter().zip(positive).enumerate();
        let mut whole = [0_u128; 2];
        let mut is_whole = true;
        for (row, (&weight, &positive)) in rows() {
            let units = self.units_of(row, weight)?;
            let class = usize::from(positive);
            sums.rows[class] += u64::from(weight > 0.0);
            whole[class] += u128::from(units);
            is_whole &= units as f64 == weight;
        }
        if self.unit_bits.is_some() || is_whole {
            sums.add_whole(whole, -self.bits().cast_signed());
            return Ok(sums);
        }
        for (_, (&weight, &positive)) in rows() {
            if weight > 0.0 {
                let (number, shift) = placed(weight, LOWEST);
                add_shifted(&mut sums.totals[usize::from(positive)], number, shift);
                sums.low = sums.low.min(unit_below(digits(weight).1));
            }
        }
        Ok(sums)
    }

    /// A weight in units, rounded; in a state without a unit its integer part.
    fn units_of(&self, row: usize, weight: f64) -> Result<u64, RankError> {
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(RankError::BadWeight { row, value: weight });
        }
        let Some(bits) = self.unit_bits else { return Ok(weight as u64) };
        let exact = weight * power(bits);
        let units = exact.round();
        if bits == 0 && exact.fract() > 0.0 || units < 1.0 && weight > 0.0 {
            return Err(RankError::BadParameter {
                name: "sample_weight",
                value: format!("{weight} in row {row}"),
                rule: "a whole number of weight_unit, to which fractions are rounded if it is below 1",
            });
        }
        // A weight beyond the integers saturates, and the total shows it.
        Ok(units as u64)
    }

    fn add_sums(&mut self, sums: &Sums) -> Result<(), RankError> {
        let mut totals = self.totals;
        for (total, added) in totals.iter_mut().zip(&sums.totals) {
            add_words(total, added, 0);
        }
        if let Some(bits) = self.unit_bits
            && few_units(&totals, bits).is_none()
        {
            return Err(RankError::TooMuchWeight { unit: power(bits).recip() });
        }
        self.totals = totals;
        self.rows = [0, 1].map(|class| self.rows[class].saturating_add(sums.rows[class]));
        self.low = self.low.min(sums.low);
        Ok(())
    }

    fn check_classes(&self) -> Result<(), RankError> {
        let [n_neg, n_pos] = self.rows;
        if n_neg == 0 || n_pos == 0 {
            return Err(RankError::OneClass { n_pos: n_pos as usize, n_neg: n_neg as usize });
        }
        Ok(())
    }

    /// Switches to keeping weights exactly.
    fn forget_unit(&mut self) -> Result<(), RankError> {
        let Some(bits) = self.unit_bits else { return Ok(()) };
        self.sort_waiting()?;
        if bits > 0 {
            self.spill_beyond(0)?;
        }
        self.unit_bits = None;
        if bits > 0 {
            self.low = self.low.min(unit_below(-bits.cast_signed()));
            let form = self.form();
            let table = std::mem::replace(&mut self.table, Table::Counts(Runs::default()));
            self.table = table.widened(form, bits);
        }
        Ok(())
    }

    /// Makes the sums of the table as wide as those of all rows.
    fn widen(&mut self) -> Result<(), RankError> {
        let (form, bits) = (self.form(), self.bits());
        if let Form::Wide { words, low } = form {
            if self.kind() != (Kind::Wide { words, low }) {
                // Wider entries might exceed the memory.
                self.spill_beyond(0)?;
            }
            let table = std::mem::replace(&mut self.table, Table::Counts(Runs::default()));
            self.table = table.widened(form, bits);
        }
        Ok(())
    }

    /// Form of the entries of the table.
    fn kind(&self) -> Kind {
        let bits = self.bits();
        match self.table {
            Table::Counts(_) => Kind::Counts { bits },
            Table::Cells(_) => Kind::Cells { bits },
            Table::Wide2(_, low) => Kind::Wide { words: 2, low },
            Table::Wide4(_, low) => Kind::Wide { words: 4, low },
            Table::Wide34(_, low) => Kind::Wide { words: wide_cells::ALL_WORDS, low },
        }
    }

    /// Merges all rows into one run, in memory or in a file.
    fn settle(&mut self) -> Result<(), RankError> {
        self.sort_waiting()?;
        if self.files.as_ref().is_some_and(|files| !files.is_empty()) {
            self.spill_beyond(0)?;
            let kind = self.kind();
            if let Some(files) = self.files.as_mut().filter(|files| !files.is_one(kind)) {
                match &self.table {
                    Table::Counts(_) => files.merge::<Count>(kind)?,
                    Table::Cells(_) => files.merge::<Cell>(kind)?,
                    Table::Wide2(..) => files.merge::<WideCell<2>>(kind)?,
                    Table::Wide4(..) => files.merge::<WideCell<4>>(kind)?,
                    Table::Wide34(..) => files.merge::<WideCell<34>>(kind)?,
                }
            }
            return Ok(());
        }
        with_runs!(&mut self.table, |runs| {
            runs.one();
        });
        Ok(())
    }

    /// Moves the table to files if it takes too much memory.
    fn spill(&mut self) -> Result<(), RankError> {
        let most = self.files.as_ref().map_or(usize::MAX, |files| files.max_bytes / TABLE_SHARE);
        self.spill_beyond(most)
    }

    fn spill_beyond(&mut self, n_bytes: usize) -> Result<(), RankError> {
        let kind = self.kind();
        let Some(files) = &mut self.files else { return Ok(()) };
        with_runs!(&mut self.table, |runs| {
            if runs.n_bytes() > n_bytes {
                files.take(runs, kind)?;
            }
        });
        Ok(())
    }

    /// Number of rows from which they are sorted.
    fn buffer(&self) -> usize {
        if self.files.is_some() { self.piece() } else { in_memory(self.max_size) }
    }

    /// Number of rows that are sorted at once: all, unless there are files.
    fn piece(&self) -> usize {
        let Some(files) = &self.files else { return usize::MAX };
        let entry = match (self.form(), self.kind()) {
            (Form::Wide { words: 2, .. }, _) => size_of::<WideCell<2>>(),
            (Form::Wide { words: 4, .. }, _) => size_of::<WideCell<4>>(),
            (Form::Wide { .. }, _) => size_of::<WideCell<34>>(),
            (Form::Narrow, Kind::Counts { .. }) if self.weighted.is_empty() => size_of::<Count>(),
            (Form::Narrow, _) => size_of::<Cell>(),
        };
        // A row waits, is moved, and becomes an entry, of which there is a copy for a while in
        // memory that grows.
        (files.max_bytes / (3 * entry + 56)).clamp(64, LARGEST_BUFFER)
    }

    /// Unweighted rows whose scores hardly repeat stay buffered up to the maximum buffer size: they
    /// take 9 bytes each, an entry of the table 24.
    fn sort_if_enough(&mut self) -> Result<(), RankError> {
        let waiting = self.n_waiting();
        if waiting < self.enough.min(self.piece()) {
            return Ok(());
        }
        let keeps = self.weighted.is_empty() && self.max_size.is_none() && self.files.is_none();
        if keeps && waiting < LARGEST_BUFFER && hardly_repeat(&self.scores) {
            self.enough = (2 * waiting).min(LARGEST_BUFFER);
            return Ok(());
        }
        self.sort_waiting()
    }

    fn sort_waiting(&mut self) -> Result<(), RankError> {
        self.enough = self.buffer();
        self.widen()?;
        let piece = self.piece();
        while !self.scores.is_empty() {
            let start = self.scores.len().saturating_sub(piece);
            let counts = counts_of(&self.scores[start..], &self.positive[start..]);
            self.scores.truncate(start);
            self.positive.truncate(start);
            self.push_counts(counts);
            self.spill()?;
        }
        let piece = self.piece();
        while !self.weighted.is_empty() {
            let start = self.weighted.len().saturating_sub(piece);
            let weighted = self.weighted.split_off(start);
            let scale = power(self.bits());
            match &mut self.table {
                Table::Wide2(runs, low) => runs.push(wide_cells_of(weighted, *low)),
                Table::Wide4(runs, low) => runs.push(wide_cells_of(weighted, *low)),
                Table::Wide34(runs, low) => runs.push(wide_cells_of(weighted, *low)),
                _ => self.cells().push(cells_of(weighted, scale)),
            }
            self.spill()?;
        }
        if self.files.is_none() {
            // As much as a batch took is not kept for the next.
            (self.scores, self.positive, self.weighted) = (Vec::new(), Vec::new(), Vec::new());
        }
        self.keep_size();
        Ok(())
    }

    fn push_counts(&mut self, run: Vec<Count>) {
        let bits = self.bits();
        let cell = |count| Cell::of_rows(count, bits);
        match &mut self.table {
            Table::Counts(runs) => runs.push(run),
            Table::Cells(runs) => runs.push(run.into_iter().map(cell).collect()),
            // Weights are kept exactly, and a row has weight 1.
            Table::Wide2(runs, low) => runs.push(wide_counts(run, *low)),
            Table::Wide4(runs, low) => runs.push(wide_counts(run, *low)),
            Table::Wide34(runs, low) => runs.push(wide_counts(run, *low)),
        }
    }

    /// The table as cells of narrow sums, converted from counts if need be.
    fn cells(&mut self) -> &mut Runs<Cell> {
        let bits = self.bits();
        if let Table::Counts(runs) = &mut self.table {
            let run = std::mem::take(runs.one());
            let mut cells = Runs::default();
            cells.push(run.into_iter().map(|count| Cell::of_rows(count, bits)).collect());
            self.table = Table::Cells(cells);
        }
        match &mut self.table {
            Table::Cells(runs) => runs,
            _ => unreachable!("made into cells above"),
        }
    }

    fn keep_size(&mut self) {
        let Some(max_size) = self.max_size else { return };
        let scale = Scale::of(&self.totals, self.low);
        // Cut below the maximum, so that the cost of cutting is amortised over many rows.
        let target = max_size.div_ceil(2);
        match &mut self.table {
            Table::Counts(_) => {}
            Table::Cells(runs) => keep_size(runs, max_size, |run| cut_down(run, target, ())),
            Table::Wide2(runs, _) => {
                keep_size(runs, max_size, |run| cut_down(run, target, scale));
            }
            Table::Wide4(runs, _) => {
                keep_size(runs, max_size, |run| cut_down(run, target, scale));
            }
            Table::Wide34(runs, _) => {
                keep_size(runs, max_size, |run| cut_down(run, target, scale));
            }
        }
    }
}

/// Sums over some rows.
#[derive(Debug, Clone)]
struct Sums {
    rows: [u64; 2],
    totals: [Total; 2],
    low: i32,
}

impl Default for Sums {
    fn default() -> Self {
        Self { rows: [0; 2], totals: [[0; wide_cells::ALL_WORDS]; 2], low: 0 }
    }
}

impl Sums {
    /// Adds integer multiples of `2^exponent`.
    fn add_whole(&mut self, units: [u128; 2], exponent: i32) {
        for (total, units) in self.totals.iter_mut().zip(units) {
            add_shifted(total, units, (exponent - LOWEST).cast_unsigned());
        }
    }
}

fn power(bits: u32) -> f64 {
    2_f64.powi(bits.cast_signed())
}

fn keep_size<E: Entry>(runs: &mut Runs<E>, max_size: usize, cut_down: impl FnOnce(&[E]) -> Vec<E>) {
    if runs.len() > max_size {
        let run = runs.one();
        if run.len() > max_size {
            *run = cut_down(run);
        }
    }
}

fn area<C: Seen>(cells: impl Iterator<Item = C>) -> Result<f64, RankError> {
    let mut pairs = Pairs::default();
    for cell in cells {
        let [neg, pos] = cell.masses();
        pairs.push(pos, neg);
    }
    pairs.area()
}

/// Weights of both classes.
fn total<C: Seen>(cells: impl Iterator<Item = C>) -> [C::Mass; 2] {
    cells.fold([C::Mass::default(); 2], |sums, cell| {
        let masses = cell.masses();
        [sums[0] + masses[0], sums[1] + masses[1]]
    })
}

/// Half the share of pairs whose scores are in one cell but may differ.
fn half_of_joined_pairs<C: Seen>(cells: impl Iterator<Item = C> + Clone) -> f64 {
    let [neg, pos] = total(cells.clone());
    let mut joined = <C::Mass as Mass>::Product::default();
    for cell in cells.filter(|cell| cell.width() > 0) {
        let [neg, pos] = cell.masses();
        joined += neg.times(pos);
    }
    C::Mass::product_to_f64(joined) / C::Mass::half_wins_of(pos, neg)
}

/// For each class, `sum(w^2 (V - AUC)^2) / sum(w)^2`.
fn spread<C: Seen>(cells: impl Iterator<Item = C> + Clone) -> [f64; 2] {
    let [neg, pos] = total(cells.clone());
    let (pairs, all) = (C::Mass::half_wins_of(pos, neg), [neg, pos].map(Mass::to_f64));
    let mut half_wins = Pairs::default();
    for cell in cells.clone() {
        let [neg, pos] = cell.masses();
        half_wins.push(pos, neg);
    }
    let half_wins = half_wins.half_wins();
    let (mut below, mut sums) = ([C::Mass::default(); 2], [0.0; 2]);
    for cell in cells {
        let (masses, squares) = (cell.masses(), cell.squares());
        // Twice the weight of the other class below, a tie counting once.
        let twice_below = |other: usize| below[other] + below[other] + masses[other];
        let half_losses = twice_below(1);
        let places = [(pos + pos - half_losses).times(neg), twice_below(0).times(pos)];
        for class in [0, 1] {
            let gap = C::Mass::difference(places[class], half_wins) / pairs;
            sums[class] += squares[class] * gap.powi(2);
            below[class] += masses[class];
        }
    }
    [0, 1].map(|class| sums[class] / (all[class] * all[class]))
}

fn effective_rows<C: Seen>(cells: impl Iterator<Item = C> + Clone) -> [f64; 2] {
    let [neg, pos] = total(cells.clone()).map(Mass::to_f64);
    let squares = cells.fold([0.0; 2], |sums, cell| {
        let squares = cell.squares();
        [sums[0] + squares[0], sums[1] + squares[1]]
    });
    [pos * pos / squares[1], neg * neg / squares[0]]
}

/// The score of a cell with the weights of the negative and of the positive rows.
fn weighed<C: Seen>(cell: &C, exponents: [i32; 2]) -> (f64, [f64; 2]) {
    let masses = cell.masses();
    let weight = |class: usize| times_power_of_two(masses[class].to_f64(), exponents[class]);
    (f64::from_key(cell.key()), [weight(0), weight(1)])
}

fn curve<C: Seen>(cells: impl Iterator<Item = C> + Clone, exponents: [i32; 2]) -> RocCurve {
    let mut above = total(cells.clone());
    let (mut thresholds, mut counts) = (Vec::new(), [Vec::new(), Vec::new()]);
    for cell in cells {
        // A cell may begin below the least possible score.
        thresholds.push(f64::from_key(cell.key().max(f64::NEG_INFINITY.key())));
        let masses = cell.masses();
        for class in [0, 1] {
            counts[class].push(above[class]);
            above[class] = above[class] - masses[class];
        }
    }
    thresholds.push(f64::INFINITY);
    thresholds.reverse();
    for counts in &mut counts {
        counts.push(C::Mass::default());
        counts.reverse();
    }
    C::Mass::curve(thresholds, counts, exponents)
}

/// Initial buffer size without files: with a maximum size, as many rows as fit in the cache as
/// cells.
fn in_memory(max_size: Option<usize>) -> usize {
    max_size.map_or(BUFFER, |size| size.saturating_mul(4).clamp(BUFFER >> 3, BUFFER))
}

/// Whether more than half of a sample of the scores are distinct.
fn hardly_repeat(scores: &[f64]) -> bool {
    const STEP: usize = 64;
    let mut keys: Vec<u64> = scores.iter().step_by(STEP).map(|score| score.key()).collect();
    keys.sort_unstable();
    2 * keys.chunk_by(|a, b| a == b).count() > keys.len()
}

/// A sink that collects the distinct scores of a range.
struct Counting {
    coding: Coding<f64>,
    counts: Vec<Count>,
}

impl Sink<u64, u64> for Counting {
    fn tie(&mut self, code: u64, positive: u64, negative: u64) {
        let key = self.coding.score(code).key();
        self.counts.push(Count { key, rows: [negative, positive] });
    }

    fn range<R: Record<u64, Mass = u64>>(&mut self, rows: &mut [R], _: usize, top: u64) {
        rows.sort_unstable_by_key(|row| row.word());
        for_ties(rows, top, |code, positive, negative| self.tie(code, positive, negative));
    }
}

fn counts_of(scores: &[f64], positive: &[bool]) -> Vec<Count> {
    let Ok((sample, _)) = Sample::of_any_class(scores, positive, Unweighted) else {
        unreachable!("checked before they were gathered");
    };
    let parts = sweep::<f64, _, u64, _>(&sample, |coding| Counting { coding, counts: Vec::new() });
    let counts: Vec<Vec<Count>> = parts.into_iter().map(|part| part.counts).collect();
    counts.concat()
}

/// Cells of weighted rows, in units of `1 / scale`.
fn cells_of(rows: Vec<(u64, u64)>, scale: f64) -> Vec<Cell> {
    sorted_into(rows, |tied| {
        let mut cell = Cell { key: tied[0].0, width: 0, units: [0; 2], squares: [0; 2] };
        for &(_, word) in tied {
            let (class, weight) = weight_of(word);
            let units = (weight * scale).round() as u64;
            cell.units[class] += units;
            cell.squares[class] += u128::from(units) * u128::from(units);
        }
        cell
    })
}

fn wide_cells_of<const WORDS: usize>(rows: Vec<(u64, u64)>, low: i32) -> Vec<WideCell<WORDS>> {
    sorted_into(rows, |tied| {
        let mut cell = WideCell::empty(tied[0].0, 0);
        for &(_, word) in tied {
            let (class, weight) = weight_of(word);
            cell.add_row(class, placed(weight, low));
        }
        cell
    })
}

/// Class and weight of a buffered row.
fn weight_of(word: u64) -> (usize, f64) {
    ((word >> 63) as usize, f64::from_bits(word & (u64::MAX >> 1)))
}

fn wide_counts<const WORDS: usize>(run: Vec<Count>, low: i32) -> Vec<WideCell<WORDS>> {
    let shift = low.unsigned_abs();
    run.into_iter().map(|count| WideCell::of_cell(&Cell::of_rows(count, 0), shift)).collect()
}

/// One entry for the rows of each score.
fn sorted_into<E>(mut rows: Vec<(u64, u64)>, entry: impl Fn(&[(u64, u64)]) -> E) -> Vec<E> {
    if rows.len() < PARALLEL_FROM {
        rows.sort_unstable_by_key(|row| row.0);
    } else {
        rows.par_sort_unstable_by_key(|row| row.0);
    }
    rows.chunk_by(|a, b| a.0 == b.0).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::roc::{PartialAreas, weighted_auc};

    type Row = (f64, bool, u8);

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let score = prop_oneof![
            (-3..4_i8).prop_map(f64::from),
            -1.0..1.0,
            Just(f64::INFINITY),
            Just(f64::NEG_INFINITY),
            Just(-0.0),
        ];
        prop::collection::vec((score, any::<bool>(), 0..4_u8), 0..120).prop_map(|mut rows| {
            rows.extend([(0.5, true, 1), (0.25, true, 2), (0.5, false, 1), (0.0, false, 3)]);
            rows
        })
    }

    fn parts(rows: &[Row]) -> (Vec<f64>, Vec<bool>, Vec<f64>) {
        let weights = rows.iter().map(|row| f64::from(row.2)).collect();
        (rows.iter().map(|r| r.0).collect(), rows.iter().map(|r| r.1).collect(), weights)
    }

    fn state_of(rows: &[Row], max_size: Option<usize>, weighted: bool) -> RocState {
        let mut state = RocState::new(max_size, None).unwrap();
        let (scores, positive, weights) = parts(rows);
        state.update(&scores, &positive, weighted.then_some(&weights[..])).unwrap();
        state
    }

    proptest! {
        #[test]
        fn counts_are_rows_that_are_repeated(
            rows in rows(),
            more in rows(),
            max_size in prop::option::of(4..40_usize),
            weighted in any::<bool>(),
        ) {
            let repeated: Vec<Row> =
                rows.iter().flat_map(|&row| std::iter::repeat_n(row, row.2.into())).collect();
            let mut expected = state_of(&more, None, weighted);
            let (scores, positive, _) = parts(&repeated);
            expected.update(&scores, &positive, None).unwrap();
            let (scores, positive, weights) = parts(&rows);
            let counts: Vec<u64> = weights.iter().map(|&weight| weight as u64).collect();
            let mut found = state_of(&more, None, weighted);
            found.update_counts(&scores, &positive, &counts).unwrap();
            prop_assert_eq!([found.n_neg(), found.n_pos()], [expected.n_neg(), expected.n_pos()]);
            prop_assert_eq!(found.variance(), expected.variance());
            prop_assert_eq!(found.to_bytes(), expected.to_bytes());

            let mut bounded = RocState::new(max_size, None).unwrap();
            bounded.update_counts(&scores, &positive, &counts).unwrap();
            prop_assert!(max_size.is_none_or(|most| bounded.size().unwrap() <= most));
            let (found, bound) = (bounded.auc().unwrap(), bounded.auc_error_bound().unwrap());
            let (scores, positive, _) = parts(&repeated);
            let exact = crate::roc::auc(&scores, &positive).unwrap();
            prop_assert!((found - exact).abs() <= bound + 1e-12);
        }
    }

    #[test]
    fn counts_that_cannot_be_right_are_refused() {
        let mut state = RocState::new(None, None).unwrap();
        let err = state.update_counts(&[1.0, f64::NAN], &[true, false], &[1, 2]).unwrap_err();
        assert_eq!(err, RankError::NanScore(1));
        let err = state.update_counts(&[1.0], &[true], &[]).unwrap_err();
        assert_eq!(err.to_string(), "counts has 0 rows, but y has 1");
        assert_eq!([state.n_neg(), state.n_pos()], [0, 0]);
    }

    /// Merges the states of randomly cut pieces: from the left, from the right, or as a tree.
    fn pieced(
        rows: &[Row],
        cuts: &[usize],
        order: u8,
        max_size: Option<usize>,
        weighted: bool,
    ) -> RocState {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % rows.len()).collect();
        cuts.extend([0, rows.len()]);
        cuts.sort_unstable();
        let mut states: Vec<RocState> =
            cuts.windows(2).map(|c| state_of(&rows[c[0]..c[1]], max_size, weighted)).collect();
        while states.len() > 1 {
            let (into, from) = match order {
                0 => (0, 1),
                1 => (states.len() - 2, states.len() - 1),
                _ => (states.len() - 1, 0),
            };
            let mut other = states[from].clone();
            if order == 2 {
                // A query in between, which sorts the buffer.
                other.size().unwrap();
            }
            states[into].merge(other).unwrap();
            states.remove(from);
        }
        states.remove(0)
    }

    /// Sample variance of the placement values of both classes, from all pairs.
    fn variance_by_pairs(rows: &[Row], weighted: bool) -> f64 {
        let weight = |row: &Row| if weighted { f64::from(row.2) } else { 1.0 };
        let class = |positive: bool| -> Vec<&Row> {
            rows.iter().filter(|row| row.1 == positive && weight(row) > 0.0).collect()
        };
        let (pos, neg) = (class(true), class(false));
        let wins = |p: &Row, q: &Row| 0.5 * (f64::from(p.0 > q.0) + f64::from(p.0 >= q.0));
        let total = |class: &[&Row]| class.iter().map(|row| weight(row)).sum::<f64>();
        let part = |own: &[&Row], other: &[&Row], wins: &dyn Fn(&Row, &Row) -> f64| {
            let place = |row: &Row| {
                other.iter().map(|o| weight(o) * wins(row, o)).sum::<f64>() / total(other)
            };
            let mean = own.iter().map(|row| weight(row) * place(row)).sum::<f64>() / total(own);
            let sum: f64 = own.iter().map(|row| (weight(row) * (place(row) - mean)).powi(2)).sum();
            let n = own.len() as f64;
            sum / total(own).powi(2) * n / (n - 1.0)
        };
        part(&pos, &neg, &|p, q| wins(p, q)) + part(&neg, &pos, &|q, p| wins(p, q))
    }

    /// Rows whose weights need two words, four, or all of them.
    fn weighed() -> impl Strategy<Value = Vec<(f64, bool, f64)>> {
        let weight = |spread: i32| {
            (1.0..2.0, -spread..=spread)
                .prop_map(|(digits, exponent): (f64, i32)| digits * 2_f64.powi(exponent))
        };
        let row = move |spread| ((-4..4_i8).prop_map(f64::from), any::<bool>(), weight(spread));
        let rows = move |spread| prop::collection::vec(row(spread), 0..40);
        prop_oneof![rows(2), rows(35), rows(90), rows(1000)].prop_map(|mut rows| {
            rows.extend([(1.0, true, 0.1), (0.0, true, 3.0), (0.0, false, 0.7), (2.0, false, 1.0)]);
            rows
        })
    }

    fn state_of_weighed(rows: &[(f64, bool, f64)], max_size: Option<usize>) -> RocState {
        let mut state = RocState::new(max_size, None).unwrap();
        // Row by row, so that sums widen and units become finer over time.
        for &(score, positive, weight) in rows {
            state.update(&[score], &[positive], Some(&[weight])).unwrap();
            state.size().unwrap();
        }
        state
    }

    proptest! {
        #[test]
        fn any_weights_are_added_up_exactly_in_any_order(
            rows in weighed(), cut in any::<usize>(), by in any::<usize>(),
        ) {
            let (scores, positive): (Vec<f64>, Vec<bool>) = rows.iter().map(|r| (r.0, r.1)).unzip();
            let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
            let mut once = RocState::new(None, None).unwrap();
            once.update(&scores, &positive, Some(&weights)).unwrap();
            let mut turned = rows.clone();
            turned.rotate_left(by % rows.len());
            let (a, b) = turned.split_at(cut % rows.len());
            let mut state = state_of_weighed(a, None);
            state.merge(state_of_weighed(b, None)).unwrap();
            prop_assert_eq!(state.to_bytes().unwrap(), once.to_bytes().unwrap());
            prop_assert_eq!(state.auc(), weighted_auc(&scores, &positive, &weights));
            let curve = RocCurve::weighted(&scores, &positive, &weights);
            prop_assert_eq!(&state.curve(), &curve);
            prop_assert_eq!(state.auc(), Ok(curve.unwrap().auc()));
            prop_assert_eq!(state.variance(), once.variance());
            prop_assert_eq!(state.effective_rows(), once.effective_rows());
            let mut twin = RocState::from_bytes(&state.to_bytes().unwrap()).unwrap();
            prop_assert_eq!(twin.to_bytes().unwrap(), state.to_bytes().unwrap());
            twin.merge(once).unwrap();
            prop_assert_eq!(twin.auc(), state.auc());
        }

        #[test]
        fn sums_are_those_of_exact_integers(rows in weighed()) {
            // All weights are integer multiples of 2^-1100 of at most 2200 bits.
            let mut state = state_of_weighed(&rows, None);
            for class in [0, 1] {
                let own = rows.iter().filter(|row| usize::from(row.1) == class);
                let mut sum = vec![0_u64; 40];
                for row in own {
                    let (number, shift) = placed(row.2, LOWEST);
                    add_shifted(&mut sum, number, shift);
                }
                prop_assert_eq!(&sum[..state.totals[class].len()], &state.totals[class]);
            }
            let mut added = [[0_u64; 40]; 2];
            let shift = (state.low - LOWEST).unsigned_abs();
            state.settle().unwrap();
            let mut add = |masses: [&[u64]; 2]| {
                for (added, masses) in added.iter_mut().zip(masses) {
                    add_words(added, masses, shift);
                }
            };
            match &mut state.table {
                Table::Wide2(runs, _) => {
                    runs.one().iter().for_each(|cell| add(cell.masses.each_ref().map(|m| &m[..])));
                }
                Table::Wide4(runs, _) => {
                    runs.one().iter().for_each(|cell| add(cell.masses.each_ref().map(|m| &m[..])));
                }
                Table::Wide34(runs, _) => {
                    runs.one().iter().for_each(|cell| add(cell.masses.each_ref().map(|m| &m[..])));
                }
                _ => prop_assert!(false, "0.1 is no whole number"),
            }
            for (added, total) in added.iter().zip(&state.totals) {
                prop_assert_eq!(&added[..total.len()], total);
            }
        }

        #[test]
        fn a_bounded_state_takes_any_weights_within_its_bound(
            rows in weighed(), max_size in 2..12_usize, cut in any::<usize>(),
        ) {
            let (a, b) = rows.split_at(cut % rows.len());
            let mut state = state_of_weighed(a, Some(max_size));
            state.merge(state_of_weighed(b, Some(max_size))).unwrap();
            prop_assert!(state.size().unwrap() <= max_size);
            let exact = state_of_weighed(&rows, None).auc().unwrap();
            let error = (state.auc().unwrap() - exact).abs();
            prop_assert!(error <= state.auc_error_bound().unwrap() + 1e-15);
            let mut twin = RocState::from_bytes(&state.to_bytes().unwrap()).unwrap();
            prop_assert_eq!(twin.to_bytes().unwrap(), state.to_bytes().unwrap());
        }

        #[test]
        fn scores_in_files_have_the_statistics_of_those_in_memory(
            rows in weighed(),
            cuts in prop::collection::vec(any::<usize>(), 0..6),
            (unweighted, merged) in any::<(bool, bool)>(),
            (low, width) in (0.0..0.9, 0.05..1.0),
        ) {
            let folder = std::env::temp_dir();
            let spilling = || {
                RocState::new(None, None).unwrap().spilling_to(&folder, 1 << 20).unwrap()
            };
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (rows.len() + 1)).collect();
            cuts.extend([0, rows.len()]);
            cuts.sort_unstable();
            let (mut state, mut memory) = (spilling(), RocState::new(None, None).unwrap());
            for (part, cut) in cuts.windows(2).enumerate() {
                let rows = &rows[cut[0]..cut[1]];
                let scores: Vec<f64> = rows.iter().map(|row| row.0).collect();
                let positive: Vec<bool> = rows.iter().map(|row| row.1).collect();
                let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
                let weights = (!unweighted && part % 3 < 2).then_some(&weights[..]);
                memory.update(&scores, &positive, weights).unwrap();
                if merged {
                    let mut other = if part % 2 == 0 { spilling() } else { state_of(&[], None, false) };
                    other.update(&scores, &positive, weights).unwrap();
                    if part % 4 == 0 {
                        other.settle().unwrap();
                        other.spill_beyond(0).unwrap();
                    }
                    state.merge(other).unwrap();
                } else {
                    state.update(&scores, &positive, weights).unwrap();
                }
                if part % 2 == 0 || part + 2 == cuts.len() {
                    state.sort_waiting().unwrap();
                    state.spill_beyond(0).unwrap();
                }
            }
            prop_assert!(state.files.as_ref().is_some_and(|files| !files.is_empty()));
            prop_assert_eq!(state.auc(), memory.auc());
            prop_assert_eq!(state.curve(), memory.curve());
            prop_assert_eq!(state.log_odds_line([7, 5]), memory.log_odds_line([7, 5]));
            prop_assert_eq!(state.variance(), memory.variance());
            prop_assert_eq!(state.effective_rows(), memory.effective_rows());
            prop_assert_eq!(state.size(), memory.size());
            let band = [low, f64::min(low + width, 1.0)];
            for (fpr, tpr) in [(band, [0.0, 1.0]), ([0.0, 1.0], band), (band, band)] {
                let whole = memory.curve().unwrap();
                let expected = whole.partial_auc(fpr, tpr, false);
                prop_assert_eq!(state.partial_auc(fpr, tpr, false), expected);
                let variance = |state: &mut RocState| {
                    state.partial_variance(fpr, tpr, Weighting::Sampling)
                };
                prop_assert_eq!(variance(&mut state), variance(&mut memory));
            }
            let mut twin = state.clone();
            drop(state);
            prop_assert_eq!(twin.auc(), memory.auc());
            prop_assert!(twin.to_bytes().is_err());
        }

        #[test]
        fn few_knots_are_on_the_curve_and_answer_as_all_of_them(
            rows in rows(), rates in prop::collection::vec(0.0..=1.0, 1..9), most in 8..40_usize,
        ) {
            let mut state = state_of(&rows, None, true);
            let all = state.curve().unwrap();
            let mut at = rates.clone();
            at.extend(all.fpr());
            prop_assert_eq!(state.tpr_at(&at), all.tpr_at(&at));
            prop_assert_eq!(state.tpr_at(&rates), all.tpr_at(&rates));
            prop_assert_eq!(state.fpr_at(&rates), all.fpr_at(&rates));
            at.extend(all.tpr());
            prop_assert_eq!(state.fpr_at(&at), all.fpr_at(&at));

            let few = state.knots(most).unwrap();
            prop_assert!(few.len() <= most);
            let points = |curve: &RocCurve| -> Vec<[f64; 3]> {
                let rates = curve.fpr().into_iter().zip(curve.tpr());
                rates.zip(curve.thresholds()).map(|((x, y), &t)| [x, y, t]).collect()
            };
            let known = points(&all);
            prop_assert!(points(&few).iter().all(|point| known.contains(point)));
            let gap = |curve: &RocCurve| {
                points(curve).iter().map(|[x, y, _]| y - x).fold(0.0, f64::max)
            };
            prop_assert_eq!(gap(&few), gap(&all));
            // No two steps of a curve that is a sum of rates long skip more than two pieces.
            let step = 2.0 / (most - 4) as f64;
            for pair in points(&few).windows(2) {
                let sum = |point: [f64; 3]| point[0] + point[1];
                let between = |point: &&[f64; 3]| {
                    (sum(pair[0])..sum(pair[1])).contains(&sum(**point)) && **point != pair[0]
                };
                let lowest = known.iter().filter(between).map(|&p| sum(p)).fold(f64::INFINITY, f64::min);
                prop_assert!(lowest == f64::INFINITY || sum(pair[1]) - lowest <= step + 1e-12);
            }
        }

        #[test]
        fn the_spread_of_a_part_is_that_of_the_rows(
            rows in rows(), (low, width) in (0.0..0.9, 0.05..1.0),
        ) {
            let (scores, positive, weights) = parts(&rows);
            let band = [low, f64::min(low + width, 1.0)];
            let mut state = state_of(&rows, None, true);
            for bands in [(band, [0.0, 1.0]), ([0.0, 1.0], band), (band, band)] {
                for how in [Weighting::Sampling, Weighting::Frequency] {
                    let found = state.partial_variance(bands.0, bands.1, how).unwrap();
                    let expected =
                        PartialAreas::new(&[&scores], &positive, Some(&weights), how, bands).unwrap();
                    let expected = expected.covariance(0, 0);
                    prop_assert_eq!(found.is_some(), expected.is_some());
                    let near = |(found, expected): (f64, f64)| (found - expected).abs() < 1e-13;
                    prop_assert!(found.zip(expected).is_none_or(near));
                }
            }
        }

        #[test]
        fn changed_bytes_of_wide_sums_are_refused(
            rows in weighed(), at in any::<usize>(), flip in 1..255_u8,
        ) {
            let mut bytes = state_of_weighed(&rows, None).to_bytes().unwrap();
            let n = bytes.len();
            bytes[at % n] ^= flip;
            prop_assert!(RocState::from_bytes(&bytes).is_err());
            let hash = crate::fnv::fnv1a64(&bytes[..n - 8]);
            bytes[n - 8..].copy_from_slice(&hash.to_le_bytes());
            if let Ok(mut state) = RocState::from_bytes(&bytes) {
                let _ = (state.variance(), state.curve(), state.auc_error_bound());
                state.merge(state.clone()).unwrap();
                let _ = (state.variance(), state.to_bytes().unwrap());
            }
        }

        #[test]
        fn a_unit_is_forgotten_beside_weights_as_they_are(rows in rows(), bits in 0..9_i32) {
            let (scores, positive, weights) = parts(&rows);
            let halves: Vec<f64> = weights.iter().map(|w| w / 2_f64.powi(bits)).collect();
            let state = |unit: Option<f64>| {
                let mut state = RocState::new(None, unit).unwrap();
                state.update(&scores, &positive, Some(&halves)).unwrap();
                state
            };
            let mut plain = state(None);
            plain.merge(state(None)).unwrap();
            for [a, b] in [[None, Some(bits)], [Some(bits), None]] {
                let [mut a, b] =
                    [a, b].map(|bits: Option<i32>| state(bits.map(|bits| 0.5_f64.powi(bits))));
                a.merge(b).unwrap();
                prop_assert_eq!(a.weight_unit(), None);
                prop_assert_eq!(a.auc(), plain.auc());
                prop_assert_eq!(a.variance(), plain.variance());
            }
        }
    }

    /// The bytes of version 1, as that version wrote them.
    fn first_version(unit_bits: u32, kind: u32, rows: [u64; 2], entries: &[&[u8]]) -> Vec<u8> {
        let mut bytes = b"AUCRANKS".to_vec();
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend(unit_bits.to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        for number in [rows[0], rows[1], entries.len() as u64] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(entries.concat());
        let hash = crate::fnv::fnv1a64(&bytes);
        bytes.extend(hash.to_le_bytes());
        bytes
    }

    #[test]
    fn states_of_the_first_version_are_read() {
        let words = |numbers: &[u64]| -> Vec<u8> {
            numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
        };
        let (low, high) = (0.25_f64.key(), 0.5_f64.key());
        let entries = [words(&[low, 2, 1]), words(&[high, 0, 3])];
        let bytes = first_version(0, 0, [2, 4], &[&entries[0], &entries[1]]);
        let mut state = RocState::from_bytes(&bytes).unwrap();
        // Three of four positives win; one ties.
        assert_eq!((state.auc(), state.weight_unit()), (Ok(0.875), None));
        state.update(&[0.75], &[true], Some(&[0.3])).unwrap();
        assert_eq!((state.n_neg(), state.n_pos()), (2, 5));

        // Weights 1/2 and 3/2 at one score, 1 at another, in quarters.
        let cell = |key: u64, units: [u64; 2], squares: [u128; 2]| -> Vec<u8> {
            let mut bytes = words(&[key]);
            bytes.extend(0_u32.to_le_bytes());
            bytes.extend(words(&units));
            bytes.extend(squares.map(u128::to_le_bytes).concat());
            bytes
        };
        let entries = [cell(low, [2, 6], [4, 36]), cell(high, [0, 4], [0, 16])];
        let bytes = first_version(2, 1, [1, 2], &[&entries[0], &entries[1]]);
        let mut state = RocState::from_bytes(&bytes).unwrap();
        assert_eq!(state.weight_unit(), Some(0.25));
        let expected = weighted_auc(&[0.25, 0.25, 0.5], &[false, true, true], &[0.5, 1.5, 1.0]);
        assert_eq!(state.auc(), expected);
    }

    proptest! {
        #[test]
        fn any_pieces_in_any_order_are_one_call(
            rows in rows(),
            cuts in prop::collection::vec(any::<usize>(), 0..9),
            order in 0..3_u8,
            weighted in any::<bool>(),
        ) {
            let (scores, positive, weights) = parts(&rows);
            let mut state = pieced(&rows, &cuts, order, None, weighted);
            let (whole, curve) = if weighted {
                let curve = RocCurve::weighted(&scores, &positive, &weights);
                (weighted_auc(&scores, &positive, &weights), curve)
            } else {
                (auc(&scores, &positive), RocCurve::new(&scores, &positive))
            };
            prop_assert_eq!(state.auc(), whole);
            prop_assert_eq!(state.curve(), curve);
            prop_assert_eq!(state.auc_error_bound(), Ok(0.0));
            let variance = state.variance().unwrap();
            prop_assert!((variance - variance_by_pairs(&rows, weighted)).abs() < 1e-14);
            let mut once = state_of(&rows, None, weighted);
            prop_assert_eq!(once.variance(), Ok(variance));
            prop_assert_eq!(state.to_bytes().unwrap(), once.to_bytes().unwrap());
        }

        #[test]
        fn the_error_of_a_bounded_state_is_within_its_bound(
            rows in rows(),
            cuts in prop::collection::vec(any::<usize>(), 0..9),
            order in 0..3_u8,
            max_size in 2..40_usize,
        ) {
            let (scores, positive, _) = parts(&rows);
            let mut state = pieced(&rows, &cuts, order, Some(max_size), false);
            prop_assert!(state.size().unwrap() <= max_size);
            let error = (state.auc().unwrap() - auc(&scores, &positive).unwrap()).abs();
            prop_assert!(error <= state.auc_error_bound().unwrap() + 1e-15);
            // Each knot counts the rows at or above its threshold.
            let curve = state.curve().unwrap();
            for knot in 1..curve.len() {
                let above = |class: bool| {
                    let at_or_above = |row: &&Row| row.0 >= curve.thresholds()[knot];
                    rows.iter().filter(|row| row.1 == class).filter(at_or_above).count() as u64
                };
                prop_assert_eq!(curve.true_positives()[knot], above(true));
                prop_assert_eq!(curve.false_positives()[knot], above(false));
            }
        }

        #[test]
        fn bytes_come_back(
            rows in rows(), max_size in prop::option::of(2..40_usize), weighted in any::<bool>(),
        ) {
            let mut state = state_of(&rows, max_size, weighted);
            let bytes = state.to_bytes().unwrap();
            let mut twin = RocState::from_bytes(&bytes).unwrap();
            prop_assert_eq!(twin.to_bytes().unwrap(), bytes);
            prop_assert_eq!(twin.variance(), state.variance());
        }

        #[test]
        fn changed_bytes_are_refused(
            rows in rows(), at in any::<usize>(), flip in 1..255_u8, weighted in any::<bool>(),
        ) {
            let mut bytes = state_of(&rows, None, weighted).to_bytes().unwrap();
            let n = bytes.len();
            prop_assert!(RocState::from_bytes(&bytes[..at % n]).is_err());
            bytes[at % n] ^= flip;
            prop_assert!(RocState::from_bytes(&bytes).is_err());
            // With a valid checksum the result must be a state or an error, never a panic.
            let hash = crate::fnv::fnv1a64(&bytes[..n - 8]);
            bytes[n - 8..].copy_from_slice(&hash.to_le_bytes());
            if let Ok(mut state) = RocState::from_bytes(&bytes) {
                let _ = (state.variance(), state.curve(), state.auc_error_bound());
            }
        }
    }

    #[test]
    fn many_rows_take_every_path() {
        let n = 2 * BUFFER + 12_345;
        let score = |row: usize| {
            let bits = (row as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            bits as f64 / 1e6 - 5.0
        };
        let scores: Vec<f64> = (0..n).map(score).collect();
        let positive: Vec<bool> = (0..n).map(|row| row % 3 == 0).collect();
        let weights: Vec<f64> = (0..n).map(|row| (row % 5) as f64).collect();
        for n_threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| {
                let (mut state, mut weighted, mut bounded) = (
                    RocState::new(None, 1.0).unwrap(),
                    RocState::new(None, 0.25).unwrap(),
                    RocState::new(Some(1000), 1.0).unwrap(),
                );
                for start in (0..n).step_by(300_000) {
                    let end = (start + 300_000).min(n);
                    let (s, p) = (&scores[start..end], &positive[start..end]);
                    state.update(s, p, None).unwrap();
                    weighted.update(s, p, Some(&weights[start..end])).unwrap();
                    bounded.update(s, p, None).unwrap();
                }
                assert_eq!(state.auc(), auc(&scores, &positive));
                assert_eq!(state.curve(), RocCurve::new(&scores, &positive));
                assert_eq!(state.auc(), auc(&scores, &positive));
                assert_eq!(weighted.auc(), weighted_auc(&scores, &positive, &weights));
                let bound = bounded.auc_error_bound().unwrap();
                let error = (bounded.auc().unwrap() - state.auc().unwrap()).abs();
                assert!(error <= bound && bound < 2e-3, "{error} {bound}");
            });
        }
    }

    #[test]
    fn rows_wait_where_they_hardly_repeat_a_score() {
        let n = 2 * BUFFER;
        let positive: Vec<bool> = (0..n).map(|row| row % 3 == 0).collect();
        for (n_distinct, waits) in [(n, true), (1000, false)] {
            let scores: Vec<f64> = (0..n).map(|row| (row * 7919 % n_distinct) as f64).collect();
            let mut state = RocState::new(None, 1.0).unwrap();
            for (s, p) in scores.chunks(100_000).zip(positive.chunks(100_000)) {
                state.update(s, p, None).unwrap();
            }
            assert_eq!(with_runs!(&state.table, |runs| runs.len() == 0), waits);
            assert_eq!(state.auc(), auc(&scores, &positive));
            state.update(&scores, &positive, None).unwrap();
            let twice = [scores.clone(), scores].concat();
            assert_eq!(state.auc(), auc(&twice, &positive.repeat(2)));
            assert_eq!(state.size().unwrap(), n_distinct);
        }
    }

    #[test]
    fn files_are_removed_and_their_loss_is_told() {
        let folder = std::env::temp_dir().join(format!("aucrank-state-{}", std::process::id()));
        let state = || RocState::new(None, None).unwrap();
        assert!(matches!(state().spilling_to(&folder, 1 << 20), Err(RankError::Storage { .. })));
        std::fs::create_dir(&folder).unwrap();
        let n_files = || std::fs::read_dir(&folder).unwrap().count();
        assert!(state().spilling_to(&folder, 1000).is_err());
        assert!(RocState::new(Some(9), None).unwrap().spilling_to(&folder, 1 << 20).is_err());

        let mut spilled = state().spilling_to(&folder, 1 << 20).unwrap();
        let scores: Vec<f64> = (0..100_000).map(f64::from).collect();
        let positive: Vec<bool> = (0..100_000).map(|row| row % 7 == 0).collect();
        spilled.update(&scores, &positive, None).unwrap();
        assert!(n_files() > 1);
        assert_eq!(spilled.auc(), auc(&scores, &positive));
        assert_eq!(n_files(), 1);
        let mut bounded = RocState::new(Some(9), None).unwrap();
        assert!(bounded.merge(spilled.clone()).is_err());
        // A file that is gone, or cut off, is told of, not read as an end.
        let path = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
        std::fs::File::options().write(true).open(&path).unwrap().set_len(1000).unwrap();
        let mut twin = spilled.clone();
        assert!(matches!(twin.auc(), Err(RankError::Storage { .. })));
        drop((spilled, twin));
        assert_eq!(n_files(), 0);
        std::fs::remove_dir(&folder).unwrap();
    }

    #[test]
    fn an_error_leaves_the_state_as_it_was() {
        let mut state = RocState::new(None, None).unwrap();
        let two = [false, true];
        assert_eq!(state.auc(), Err(RankError::OneClass { n_pos: 0, n_neg: 0 }));
        state.update(&[0.0, 1.0], &two, None).unwrap();
        assert_eq!(state.variance(), Err(RankError::NoVariance { n_pos: 1, n_neg: 1 }));
        let before = state.to_bytes().unwrap();
        assert_eq!(state.update(&[0.0, f64::NAN], &two, None), Err(RankError::NanScore(1)));
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(state.update(&[0.0, 1.0], &two, Some(&[1.0, bad])).is_err(), "{bad}");
        }
        assert!(state.update(&[0.0], &two, None).is_err());
        assert!(state.update(&[0.0, 1.0], &two, Some(&[1.0])).is_err());
        assert_eq!(state.to_bytes().unwrap(), before);
        let mut counted = RocState::new(None, 1.0).unwrap();
        counted.update(&[0.0, 1.0], &two, None).unwrap();
        let before = counted.to_bytes().unwrap();
        for bad in [0.5, 1e300, 2_f64.powi(53)] {
            assert!(counted.update(&[0.0, 1.0], &two, Some(&[1.0, bad])).is_err(), "{bad}");
        }
        let finer = RocState::new(None, 0.5).unwrap();
        assert!(counted.merge(finer).is_err());
        assert_eq!(counted.to_bytes().unwrap(), before);
        for unit in [0.0, 2.0, 0.3, -1.0, f64::NAN, f64::INFINITY] {
            assert!(RocState::new(None, unit).is_err(), "{unit}");
        }
        assert!(RocState::new(Some(1), 1.0).is_err());
    }

    #[test]
    fn newer_and_foreign_bytes_are_named() {
        let message = |bytes: &[u8]| RocState::from_bytes(bytes).unwrap_err().to_string();
        assert!(message(b"").contains("do not begin"));
        assert!(message(b"PK\x03\x04 and more").contains("do not begin"));
        assert!(message(b"AUCRANKS").contains("cut short"));
        assert!(message(b"AUCRANKS\x07\0\0\0").contains("format version 7"));
    }
}
