//! AUC, curve and variance of rows that come in batches.
//!
//! All are functions of one table: the distinct scores in order, each with the weights of its two
//! classes. The table is a few sorted runs of geometrically growing sizes, merged on demand, and
//! sums are integers of as many words as the weights need, so that every result equals that of one
//! call on all rows, bit for bit, for any batches in any order.

mod bytes;
mod cells;
mod files;
mod statistics;
mod store;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;

use self::cells::{Cell, Count};
use self::files::{Entries, Files};
use self::statistics::{StateSums, power};
use self::statistics::{area, curve, effective_rows, half_of_joined_pairs, spread, weighed};
use self::store::{TABLE_SHARE, in_memory};
use self::table::{Entry, Runs};
use self::table::{EntryTable, SumWidth, with_runs};
use super::compare::check_rates;
use super::mass::ManyBits;
use super::partial::{CurvePart, check_bands};
use super::sample::ScoreSample;
use super::{Line, PARALLEL_FROM, RocCurve, Score, Weighting, auc};
use crate::RankError;
use cells::{LowBits, WideTotal};
use statistics::{Outline, WantedKnots, outline};

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
    totals: [WideTotal; 2],
    /// All weights are multiples of `2^low`.
    low: i32,
    /// Buffered rows, not in the table yet: scores and classes of unweighted ones.
    scores: Vec<f64>,
    positive: Vec<bool>,
    /// Key of the score and bits of the weight of weighted ones, the sign bit being the class.
    weighted: Vec<(u64, u64)>,
    /// Number of buffered rows from which they are sorted, if that saves memory.
    enough: usize,
    table: EntryTable,
    /// If given, entries beyond a limit of memory are in files.
    files: Option<Files>,
    /// The error of an update that lost some of its rows.
    loss: Option<RankError>,
}

/// Evaluates an expression with the entries of a state in ascending order, in the form that
/// statistics read, and the exponents of the units of their weights. Returns an error of the files.
macro_rules! with_cells {
    ($state:expr, |$cells:ident, $exponents:ident| $body:expr) => {{
        $state.settle()?;
        let bits = $state.bits();
        let (scale, low) = (LowBits::of(&$state.totals, $state.low), $state.low);
        let wide = scale.0.map(|dropped| low + dropped.cast_signed());
        let narrow = [-bits.cast_signed(); 2];
        let files = $state.files.as_ref();
        let found = match &mut $state.table {
            EntryTable::Counts(runs) => {
                let $exponents = narrow;
                let $cells = Entries::of(runs, files).map(move |count| Cell::of_rows(count, bits));
                $body
            }
            EntryTable::Cells(runs) => {
                let $exponents = narrow;
                let $cells = Entries::of(runs, files);
                $body
            }
            EntryTable::Wide2(runs, _) => {
                let $exponents = wide;
                let $cells = Entries::of(runs, files).map(move |cell| cell.seen(scale));
                $body
            }
            EntryTable::Wide4(runs, _) => {
                let $exponents = wide;
                let $cells = Entries::of(runs, files).map(move |cell| cell.seen(scale));
                $body
            }
            EntryTable::Wide34(runs, _) => {
                let $exponents = wide;
                let $cells = Entries::of(runs, files).map(move |cell| cell.seen(scale));
                $body
            }
        };
        files.map_or(Ok(()), Files::check)?;
        found
    }};
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
            totals: [[0; cells::ALL_WORDS]; 2],
            low: 0,
            scores: Vec::new(),
            positive: Vec::new(),
            weighted: Vec::new(),
            enough: in_memory(max_size),
            table: match max_size {
                None => EntryTable::Counts(Runs::default()),
                Some(_) => EntryTable::Cells(Runs::default()),
            },
            files: None,
            loss: None,
        })
    }

    /// The same state with at most about `max_bytes` bytes in memory: more are kept in files in a
    /// folder, and removed with the state. Statistics are the same, and take a pass over a file.
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
        sample: &ScoreSample<'_, S, ManyBits<'_>>,
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

    /// Adds rows; either class may be absent. An error leaves the state as it was, except one of
    /// its files: then some of the rows are lost, and each later call returns this error.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the lengths differ, a score is NaN, or a weight is negative or not finite;
    /// with a unit of weight, also for a weight that is not a multiple of it, and for a class with
    /// more than 2^53 units of weight; [`RankError::Storage`].
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
        self.check_loss()?;
        let batch = self.sums_of(positive, weights)?;
        self.add_all(&batch, |state| {
            let mut start = 0;
            while start < n {
                // With files, no more rows wait than memory allows.
                let most = if state.files.is_some() { state.piece() } else { n };
                let rows = start..start.saturating_add(most).min(n);
                let weights = weights.map(|weights| &weights[rows.clone()]);
                start = rows.end;
                state.append_rows(&scores[rows.clone()], &positive[rows], weights);
                state.sort_if_enough()?;
            }
            Ok(())
        })
    }

    /// Adds rows whose sums are given. An error of the sums leaves the state as it was; one of the
    /// files leaves it with some of the rows, and each later call returns that error.
    fn add_all(
        &mut self,
        sums: &StateSums,
        add_rows: impl FnOnce(&mut Self) -> Result<(), RankError>,
    ) -> Result<(), RankError> {
        let before = (self.rows, self.totals, self.low);
        self.add_sums(sums)?;
        add_rows(self).inspect_err(|err| {
            (self.rows, self.totals, self.low) = before;
            self.loss = Some(match err.clone() {
                RankError::Storage { path, message } => {
                    let message = format!("{message}; rows of the state are lost since then");
                    RankError::Storage { path, message }
                }
                other => other,
            });
        })
    }

    /// Checks that no row was lost because a file could not be written.
    ///
    /// # Errors
    ///
    /// [`RankError::Storage`] of the call that lost rows.
    pub fn check_loss(&self) -> Result<(), RankError> {
        self.loss.clone().map_or(Ok(()), Err)
    }

    /// Adds rows that are counted by score and class, as a database groups them: each stands for
    /// `counts` rows. The state is that of all these rows, bit for bit, whereas a row of weight k
    /// is one row. Errors are as those of [`RocState::update`].
    ///
    /// # Errors
    ///
    /// [`RankError`] if the lengths differ or a score is NaN; with a unit of weight, also for a
    /// class with more than 2^53 units of weight; [`RankError::Storage`].
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
        self.check_loss()?;
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
        let mut sums = StateSums { rows: rows_of_classes, ..StateSums::default() };
        sums.add_whole(whole, 0);
        self.add_all(&sums, |state| {
            rows.sort_unstable_by_key(|count| count.key);
            rows.dedup_by(|next, count| {
                let is_tied = next.key == count.key;
                if is_tied {
                    *count = count.join(*next);
                }
                is_tied
            });
            state.widen()?;
            state.push_counts(rows);
            state.keep_size();
            state.spill()
        })
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
        self.check_loss()?;
        other.check_loss()?;
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
        let sums = StateSums { rows: other.rows, totals: other.totals, low: other.low };
        self.add_all(&sums, |state| state.add_rows_of(other))
    }

    fn add_rows_of(&mut self, mut other: Self) -> Result<(), RankError> {
        if let Some(files) = &other.files {
            self.files.get_or_insert_with(|| files.without_runs()).append(files);
        }
        self.scores.append(&mut other.scores);
        self.positive.append(&mut other.positive);
        self.weighted.append(&mut other.weighted);
        if let Some(size) = other.max_size {
            self.max_size = Some(self.max_size.map_or(size, |own| own.min(size)));
            if matches!(self.table, EntryTable::Counts(_)) {
                self.cells();
            }
        }
        self.widen()?;
        let table = other.table.widened(self.form(), self.bits());
        match (&mut self.table, table) {
            (EntryTable::Wide2(own, _), EntryTable::Wide2(runs, _)) => own.append(runs),
            (EntryTable::Wide4(own, _), EntryTable::Wide4(runs, _)) => own.append(runs),
            (EntryTable::Wide34(own, _), EntryTable::Wide34(runs, _)) => own.append(runs),
            (_, EntryTable::Counts(runs)) => {
                for run in runs.into_runs() {
                    self.push_counts(run);
                }
            }
            (_, EntryTable::Cells(runs)) => self.cells().append(runs),
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
    /// size. Pairs within a cell count one half, but by the order of their scores they would count
    /// 0 or 1.
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

    /// The most likely line of log-odds along the scores, equal to that of one call; `class_rows`
    /// are the numbers of negative and of positive rows.
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

    /// At most `max_knots` knots of the curve of all rows, at least 8: evenly along it, and the one
    /// of the largest TPR - FPR.
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
        let wanted = WantedKnots { most: Some(max_knots), ..WantedKnots::default() };
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
        let mut rates = fpr.to_vec();
        if tpr[0] > 0.0 || tpr[1] < 1.0 {
            // Several knots may be at the rate where the curve enters or leaves the band.
            rates.extend(self.fpr_at(&tpr)?);
        }
        let Outline { curve, areas } =
            self.outline(&WantedKnots { fpr: &rates, tpr: &tpr, most: None })?;
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
        self.outline(&WantedKnots { fpr, ..WantedKnots::default() })?.curve.tpr_at(fpr)
    }

    /// As [`RocCurve::fpr_at`].
    ///
    /// # Errors
    ///
    /// [`RankError`] as for it, and as for [`RocState::curve`].
    pub fn fpr_at(&mut self, tpr: &[f64]) -> Result<Vec<f64>, RankError> {
        check_rates("tpr", tpr)?;
        self.outline(&WantedKnots { tpr, ..WantedKnots::default() })?.curve.fpr_at(tpr)
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
        let curve = self.outline(&WantedKnots { fpr: &fpr, tpr: &tpr, most: None })?.curve;
        let part = CurvePart::of(&curve.fpr(), &curve.tpr(), fpr, tpr);
        let [neg, pos] = with_cells!(self, |cells, _exponents| statistics::of_part(
            &cells, rows, part, weighting
        ));
        Ok(Some(neg + pos))
    }

    /// Negative and positive rows if weights are frequencies.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] for a weight that is not a whole number.
    pub fn frequencies(&mut self) -> Result<[f64; 2], RankError> {
        with_cells!(self, |cells, exponents| statistics::whole_weights(cells, exponents))
    }

    fn outline(&mut self, wanted: &WantedKnots<'_>) -> Result<Outline, RankError> {
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
    /// [`RankError::BadParameter`] if scores are in files; [`RankError::Storage`].
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

    fn form(&self) -> SumWidth {
        SumWidth::of(&self.totals, self.low, self.unit_bits.is_none())
    }

    fn check_classes(&self) -> Result<(), RankError> {
        self.check_loss()?;
        let [n_neg, n_pos] = self.rows;
        if n_neg == 0 || n_pos == 0 {
            return Err(RankError::OneClass { n_pos: n_pos as usize, n_neg: n_neg as usize });
        }
        Ok(())
    }
}
