//! One pass over raw rows, from which their bins are chosen.

use std::sync::Arc;

use super::frame::RowFrame;
use super::mergeable::Mergeable;
use super::question::other;
use super::words::{WordReader, put_list, put_sums};
use crate::data::{
    Batch, BinningParams, BlockSums, CUT_SAMPLE, ClassSums, Column, Columns, FeatureBins,
    FixedScale, Labels, WeightRange, add_distinct, cuts_of_sample, seeded,
};
use crate::{Interrupt, RankError};

/// Distinct values of a feature up to which each can have a bin of its own.
const MOST_VALUES: usize = 1 << 20;

/// Statistics from which bins are chosen; those of a whole are merged from those of its parts.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Batch, BinningParams, Columns};
/// use aucrank::rows::{Mergeable, Survey};
///
/// let survey_of = |values: &[f64], positive: &[bool]| {
///     let mut survey = Survey::new(&[None], BinningParams::default(), None)?;
///     let columns = Columns::from_row_major(values, 1)?;
///     survey.add(&Batch::new(&columns, positive), &Interrupt::default())?;
///     Ok::<_, aucrank::RankError>(survey)
/// };
/// let mut survey = survey_of(&[1.0, 4.0], &[true, true])?;
/// survey.merge(survey_of(&[2.0], &[false])?)?;
/// assert_eq!(survey.frame()?, survey_of(&[1.0, 2.0, 4.0], &[true, false, true])?.frame()?);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    binning: BinningParams,
    scale: Option<FixedScale>,
    n_rows: u64,
    total: ClassSums,
    features: Vec<FeatureSurvey>,
    sample: LeastSample,
    /// Block sums, if rows are dealt by blocks.
    blocks: Option<BlockSums>,
}

#[derive(Debug, Clone, PartialEq)]
enum FeatureSurvey {
    /// All distinct values, ascending, while there are no more than may have bins of their own.
    Number(Option<Vec<f64>>),
    /// Rows of each category.
    Levels(Vec<u64>),
}

impl Survey {
    /// Survey of no rows. `n_levels` has the number of categories of each feature, or `None` for a
    /// number; `weights` the range of all weights and their relative sum
    /// ([`WeightRange::relative_sum_of_part`]), or `None` if every row counts once.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] for `max_bins` out of range.
    pub fn new(
        n_levels: &[Option<u32>],
        binning: BinningParams,
        weights: Option<(WeightRange, u128)>,
    ) -> Result<Self, RankError> {
        binning.validate()?;
        let of_feature = |n_levels: &Option<u32>| match n_levels {
            None => FeatureSurvey::Number(Some(Vec::new())),
            Some(n_levels) => FeatureSurvey::Levels(vec![0; *n_levels as usize]),
        };
        let features: Vec<FeatureSurvey> = n_levels.iter().map(of_feature).collect();
        Ok(Self {
            binning,
            scale: weights.map(|(range, relative)| FixedScale::new(range, relative)),
            n_rows: 0,
            total: ClassSums::default(),
            sample: LeastSample::new(n_levels.iter().filter(|n_levels| n_levels.is_none()).count()),
            features,
            blocks: None,
        })
    }

    /// Adds rows.
    ///
    /// # Errors
    ///
    /// [`RankError`] for lengths or kinds that differ, a category code out of range, or a numeric
    /// feature of too many distinct values for `max_bins=None`.
    pub fn add(&mut self, batch: &Batch<'_>, interrupt: &Interrupt) -> Result<(), RankError> {
        batch.check(&self.n_levels())?;
        let (columns, labels) = (batch.columns(), batch.labels(self.scale));
        let rows = labels.rows();
        let most = self.binning.max_bins.unwrap_or(MOST_VALUES);
        for (index, (column, feature)) in columns.iter().zip(&mut self.features).enumerate() {
            interrupt.check()?;
            match (column, feature) {
                (Column::F64(column), FeatureSurvey::Number(found)) => {
                    found.take_if(|found| !add_distinct(found, *column, &rows, most));
                }
                (Column::F32(column), FeatureSurvey::Number(found)) => {
                    found.take_if(|found| !add_distinct(found, *column, &rows, most));
                }
                (Column::Codes { codes, .. }, FeatureSurvey::Levels(counts)) => {
                    let n_levels = counts.len() as u32;
                    for row in rows.iter().map(|&row| row as usize) {
                        // Codes out of range are reported when the rows are coded.
                        if let Some(count) = counts.get_mut(codes[row] as usize) {
                            *count += labels.sums(row).rows;
                        }
                    }
                    debug_assert_eq!(columns[index].n_levels(), Some(n_levels));
                }
                _ => unreachable!("kinds were checked"),
            }
        }
        self.check_values()?;
        self.sample.add(columns, &labels, &rows, self.binning.seed, interrupt)?;
        self.add_blocks(batch, &labels)?;
        self.n_rows += columns.n_rows() as u64;
        self.total += labels.total();
        Ok(())
    }

    fn add_blocks(&mut self, batch: &Batch<'_>, labels: &Labels<'_>) -> Result<(), RankError> {
        match (&mut self.blocks, batch.block_sums(labels)) {
            (Some(own), Some(more)) if own.kind() == more.kind() => own.merge(&more),
            (own @ None, more) if self.n_rows == 0 => *own = more,
            (None, None) => {}
            (own, more) => {
                let kind = own.as_ref().or(more.as_ref()).map_or("groups", |of| of.kind().name());
                let expected = labels.n_rows();
                return Err(RankError::LengthMismatch { name: kind, found: 0, expected });
            }
        }
        Ok(())
    }

    /// The same survey, before any row, of a whole of `n_rows` rows: rows that are unlikely to be
    /// in the sample are skipped from the start.
    ///
    /// If many rows are copies of others, or weigh nothing, too few remain: see
    /// [`Survey::is_complete`].
    #[must_use]
    pub fn expecting(mut self, n_rows: u64) -> Self {
        self.sample.expect_rows(n_rows);
        self
    }

    /// Whether the sample is large enough. If not, the rows must be surveyed once more, without an
    /// expected number of rows.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.sample.is_complete()
    }

    fn n_levels(&self) -> Vec<Option<u32>> {
        let n_levels = |feature: &FeatureSurvey| match feature {
            FeatureSurvey::Number(_) => None,
            FeatureSurvey::Levels(counts) => Some(counts.len() as u32),
        };
        self.features.iter().map(n_levels).collect()
    }

    fn check_values(&self) -> Result<(), RankError> {
        let is_over = |feature: &FeatureSurvey| *feature == FeatureSurvey::Number(None);
        match self.features.iter().position(is_over) {
            Some(column) if self.binning.max_bins.is_none() => {
                Err(RankError::TooManyValues { column, most: MOST_VALUES })
            }
            _ => Ok(()),
        }
    }

    /// Chooses the bins.
    ///
    /// # Errors
    ///
    /// [`RankError`] if a class has no weight or the survey is not complete, or as of
    /// [`Survey::add`].
    pub fn frame(&self) -> Result<RowFrame, RankError> {
        self.total.check_classes()?;
        self.check_values()?;
        if !self.is_complete() {
            let (value, rule) = (self.n_rows.to_string(), "left out where many rows are copies");
            return Err(RankError::BadParameter { name: "the number of rows", value, rule });
        }
        let mut sample = self.sample.clone();
        sample.settle();
        let mut sampled = sample.values.iter();
        let of_feature = |feature: &FeatureSurvey| match feature {
            FeatureSurvey::Number(few) => {
                // One list for each numeric feature.
                let values = sampled.next().into_iter().flatten().copied();
                let weighted = values.zip(sample.units.iter().copied()).collect();
                let cuts = cuts_of_sample(weighted, few.as_deref(), self.binning.max_bins);
                FeatureBins::Numeric { cuts }
            }
            FeatureSurvey::Levels(rows) => FeatureBins::Categorical {
                n_levels: rows.len() as u32,
                rare: self.binning.level_rates.rare(rows),
            },
        };
        let features: Arc<[FeatureBins]> = self.features.iter().map(of_feature).collect();
        Ok(RowFrame {
            features,
            level_rates: self.binning.level_rates,
            scale: self.scale,
            total: self.total,
            n_rows: self.n_rows,
            blocks: self.blocks.as_ref().map(|blocks| Arc::new(blocks.table())),
        })
    }
}

impl Mergeable for Survey {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        let most = self.binning.max_bins.unwrap_or(MOST_VALUES);
        for (feature, more) in self.features.iter_mut().zip(more.features) {
            match (feature, more) {
                (FeatureSurvey::Number(found), FeatureSurvey::Number(Some(more))) => {
                    found.take_if(|found| {
                        found.extend(more);
                        found.sort_unstable_by(f64::total_cmp);
                        found.dedup();
                        found.len() > most
                    });
                }
                (FeatureSurvey::Number(found), FeatureSurvey::Number(None)) => *found = None,
                (FeatureSurvey::Levels(counts), FeatureSurvey::Levels(more)) => {
                    counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
                }
                _ => return Err(other()),
            }
        }
        self.sample.merge(more.sample);
        match (&mut self.blocks, more.blocks) {
            (Some(own), Some(more)) => own.merge(&more),
            (own @ None, more) => *own = more,
            (Some(_), None) => {}
        }
        self.n_rows += more.n_rows;
        self.total += more.total;
        Ok(())
    }

    fn put_words(&mut self, words: &mut Vec<u64>) {
        words.push(self.n_rows);
        put_sums(words, self.total);
        for feature in &self.features {
            match feature {
                FeatureSurvey::Number(None) => words.push(u64::MAX),
                FeatureSurvey::Number(Some(values)) => {
                    put_list(words, values.iter().map(|value| value.to_bits()));
                }
                FeatureSurvey::Levels(counts) => words.extend(counts),
            }
        }
        put_blocks(words, self.blocks.as_ref());
        self.sample.put(words);
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        (self.n_rows, self.total) = (reader.word()?, reader.sums()?);
        for feature in &mut self.features {
            match feature {
                FeatureSurvey::Levels(counts) => *counts = reader.take(counts.len())?.to_vec(),
                FeatureSurvey::Number(values) => {
                    *values = match reader.word()? {
                        u64::MAX => None,
                        n => {
                            let bits = reader.take(usize::try_from(n).unwrap_or(usize::MAX))?;
                            Some(bits.iter().map(|&bits| f64::from_bits(bits)).collect())
                        }
                    };
                }
            }
        }
        self.blocks = take_blocks(reader)?;
        let limit = self.sample.limit;
        self.sample = LeastSample { limit, ..LeastSample::read(reader, self.sample.values.len())? };
        Ok(())
    }
}

/// Appends the blocks, if there are any.
pub(crate) fn put_blocks(words: &mut Vec<u64>, blocks: Option<&BlockSums>) {
    put_list(words, blocks.map(BlockSums::to_words).unwrap_or_default().into_iter());
}

/// Reads blocks written by [`put_blocks`].
pub(crate) fn take_blocks(reader: &mut WordReader<'_>) -> Result<Option<BlockSums>, RankError> {
    match reader.list()? {
        [] => Ok(None),
        words => match BlockSums::from_words(words) {
            Some(blocks) => Ok(Some(blocks)),
            None => Err(RankError::BadAnswer("they are not blocks of rows".to_owned())),
        },
    }
}

/// The distinct rows of least hashes, with the weight of all their copies.
#[derive(Debug, Clone, PartialEq)]
struct LeastSample {
    /// Rows of larger hashes are not in the sample.
    bound: u64,
    /// The bound before any row.
    limit: u64,
    hashes: Vec<u64>,
    units: Vec<u64>,
    /// For each numeric feature, the values of the rows.
    values: Vec<Vec<f64>>,
}

impl LeastSample {
    fn new(n_numbers: usize) -> Self {
        Self {
            bound: u64::MAX,
            limit: u64::MAX,
            hashes: Vec::new(),
            units: Vec::new(),
            values: vec![Vec::new(); n_numbers],
        }
    }

    /// Lowers the bound so that half as many rows again as are needed can be expected below it.
    fn expect_rows(&mut self, n_rows: u64) {
        let share = 1.5 * CUT_SAMPLE as f64 / n_rows as f64;
        if share < 1.0 {
            self.limit = (share * 2_f64.powi(64)) as u64;
            self.bound = self.limit;
        }
    }

    fn is_complete(&self) -> bool {
        if self.limit == u64::MAX || self.hashes.len() < CUT_SAMPLE {
            return self.limit == u64::MAX;
        }
        let mut settled = self.clone();
        settled.settle();
        settled.hashes.len() == CUT_SAMPLE
    }

    fn add(
        &mut self,
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        rows: &[u32],
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        let hashes = columns.hashes(interrupt)?;
        let mut rows = rows;
        while !rows.is_empty() {
            // In batches, so that the sample never grows much beyond its final size.
            let some;
            (some, rows) = rows.split_at(rows.len().min(CUT_SAMPLE));
            let hashed = some.iter().map(|&row| (seeded(hashes[row as usize], seed), row as usize));
            let taken: Vec<(u64, usize)> = hashed.filter(|&(hash, _)| hash <= self.bound).collect();
            self.hashes.extend(taken.iter().map(|&(hash, _)| hash));
            self.units.extend(taken.iter().map(|&(_, row)| {
                let sums = labels.sums(row);
                sums.pos + sums.neg
            }));
            let numbers = columns.iter().filter(|column| column.n_levels().is_none());
            for (values, column) in self.values.iter_mut().zip(numbers) {
                values.extend(taken.iter().map(|&(_, row)| match column {
                    Column::F64(column) => column.get(row),
                    Column::F32(column) => column.get(row),
                    Column::Codes { .. } => unreachable!("a number"),
                }));
            }
            if self.hashes.len() >= 2 * CUT_SAMPLE {
                self.settle();
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        self.bound = self.bound.min(other.bound);
        self.hashes.extend(other.hashes);
        self.units.extend(other.units);
        for (values, other) in self.values.iter_mut().zip(other.values) {
            values.extend(other);
        }
        self.settle();
    }

    /// Adds up copies, and drops the rows beyond the least.
    fn settle(&mut self) {
        let mut order: Vec<(u64, u32)> = self.hashes.iter().copied().zip(0..).collect();
        order.retain(|&(hash, _)| hash <= self.bound);
        order.sort_unstable();
        let mut units = Vec::new();
        let mut kept: Vec<(u64, u32)> = Vec::new();
        for &(hash, place) in &order {
            let own = self.units[place as usize];
            match kept.last() {
                Some(&(last, _)) if last == hash => *units.last_mut().expect("as many") += own,
                _ if kept.len() == CUT_SAMPLE => {
                    self.bound = kept[CUT_SAMPLE - 1].0;
                    break;
                }
                _ => {
                    kept.push((hash, place));
                    units.push(own);
                }
            }
        }
        self.hashes = kept.iter().map(|&(hash, _)| hash).collect();
        self.units = units;
        for values in &mut self.values {
            *values = kept.iter().map(|&(_, place)| values[place as usize]).collect();
        }
    }

    fn put(&self, words: &mut Vec<u64>) {
        words.push(self.bound);
        put_list(words, self.hashes.iter().copied());
        words.extend(&self.units);
        for values in &self.values {
            words.extend(values.iter().map(|value| value.to_bits()));
        }
    }

    fn read(reader: &mut WordReader<'_>, n_numbers: usize) -> Result<Self, RankError> {
        let bound = reader.word()?;
        let hashes = reader.list()?.to_vec();
        let units = reader.take(hashes.len())?.to_vec();
        let column = |_| -> Result<Vec<f64>, RankError> {
            Ok(reader.take(hashes.len())?.iter().map(|&bits| f64::from_bits(bits)).collect())
        };
        let values = (0..n_numbers).map(column).collect::<Result<_, _>>()?;
        Ok(Self { bound, limit: bound, hashes, units, values })
    }
}
