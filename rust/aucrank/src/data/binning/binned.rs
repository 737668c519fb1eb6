//! The feature matrix as small integer codes, which every learner reads.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::binning::bins::choose_cuts;
use crate::data::binning::feature_bins::FeatureBins;
use crate::data::binning::lookup::CutGrid;
use crate::data::dealing::hashes::{least_hashes, seeded};
use crate::data::input::columns::{CodeSlice, Column, Columns, MISSING_CODE, Numbers, Value};
use crate::data::input::labels::Labels;
use crate::data::rates::level_rates::LevelRates;
use crate::memory::{check_room, filled};
use crate::{Interrupt, RankError, parallel};

/// Distinct rows of the seeded sample from which quantile cuts are taken, if there are more.
pub(crate) const CUT_SAMPLE: usize = 200_000;

/// A row-major feature has at most this many codes (one byte), the missing one included.
const NARROW_CODES: usize = 256;

/// Rows binned at a time: their block of the matrix stays in the cache while its columns are read.
const TILE_ROWS: usize = 1024;

/// Values of a column binned at a time.
const RUN_ROWS: usize = 256;

/// Rows per cut of a column from which on a grid of the cuts saves more than it costs.
const ROWS_OF_CUT: usize = 16;

/// Most cuts of a column that have a grid, which takes a few times their memory.
const MOST_CUTS: usize = 1 << 14;

/// Least number of bytes per row that a fit needs besides its codes: row numbers, scores, sums.
const BYTES_OF_ROW: usize = 24;

/// How numeric features are binned, and how rates of categories are estimated.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Binned, BinningParams, Columns, Labels};
///
/// let values = [1.0, 2.0, 3.0, 4.0];
/// let columns = Columns::from_column_major(&values, 4)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let n_bins = |max_bins| -> Result<usize, aucrank::RankError> {
///     let params = BinningParams { max_bins, ..BinningParams::default() };
///     let binned = Binned::new(&columns, &labels, params, &Interrupt::default())?;
///     Ok(binned.features()[0].n_bins())
/// };
/// assert_eq!((n_bins(Some(2))?, n_bins(None)?), (2, 4));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BinningParams {
    /// Maximum number of bins of a numeric feature, at least 2; `None` for one bin per distinct
    /// value.
    pub max_bins: Option<usize>,
    /// Seed of the sample from which quantile cuts are taken.
    pub seed: u64,
    /// How class rates of categories are estimated.
    #[serde(default)]
    pub level_rates: LevelRates,
}

impl Default for BinningParams {
    fn default() -> Self {
        Self { max_bins: Some(255), seed: 0, level_rates: LevelRates::default() }
    }
}

impl BinningParams {
    pub(crate) fn validate(&self) -> Result<(), RankError> {
        match self.max_bins {
            Some(max_bins @ (..2 | 65_536..)) => Err(RankError::BadParameter {
                name: "max_bins",
                value: max_bins.to_string(),
                rule: "from 2 to 65535, or none for one bin per distinct value",
            }),
            _ => Ok(()),
        }
    }
}

/// Codes of a feature that needs more than one byte.
#[derive(Debug, Clone)]
pub(in crate::data) enum WideCodes {
    /// Up to 2^16 codes.
    U16(Vec<u16>),
    /// More than that.
    U32(Vec<u32>),
}

impl WideCodes {
    /// Codes of no rows, in the width for `n_codes` codes.
    fn empty(n_codes: usize) -> Self {
        if n_codes <= 1 << 16 { Self::U16(Vec::new()) } else { Self::U32(Vec::new()) }
    }

    /// Code of a row.
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize) -> u32 {
        match self {
            Self::U16(codes) => u32::from(codes[row]),
            Self::U32(codes) => codes[row],
        }
    }
}

/// Where the codes of a feature are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::data) enum CodeSlot {
    /// Column of the byte matrix, by index.
    Narrow(usize),
    /// Index among the wide features.
    Wide(usize),
}

/// The feature matrix in codes. Features of at most 255 bins take one byte per value and are stored
/// row by row, so that a row of a small cell is one or two cache lines; wider features are stored
/// column by column.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Binned, BinningParams, Column, Columns, Labels};
///
/// let (ages, towns) = ([31.0, f64::NAN, 52.0], [1, 0, 1]);
/// let towns = Column::Codes { codes: &towns, n_levels: 2 };
/// let columns = Columns::new(vec![Column::from(&ages[..]), towns], 3)?;
/// let labels = Labels::new(&[false, true, true], None)?;
/// let binned = Binned::new(&columns, &labels, BinningParams::default(), &Interrupt::default())?;
/// // Two bins of ages, and a code for the missing one.
/// assert_eq!([0, 1, 2].map(|row| binned.code(row, 0)), [0, 2, 1]);
/// assert_eq!([0, 1, 2].map(|row| binned.code(row, 1)), [1, 0, 1]);
/// assert_eq!(binned.has_missing(&[0, 1, 2]), [true, false]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Binned {
    n_rows: usize,
    features: Arc<[FeatureBins]>,
    level_rates: LevelRates,
    slots: Vec<CodeSlot>,
    narrow: Vec<u8>,
    n_narrow: usize,
    wide: Vec<WideCodes>,
}

impl Binned {
    /// Chooses the cuts and codes every row.
    ///
    /// Rows of weight zero do not contribute to the cuts. The result does not depend on the number
    /// of threads nor on the order of the rows.
    ///
    /// # Errors
    ///
    /// [`RankError`] for an infinite value, a category code out of range, lengths that differ,
    /// `max_bins` out of range, codes that do not fit in memory, or when interrupted.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::Interrupt;
    /// use aucrank::data::{Binned, BinningParams, Columns, FeatureBins, Labels};
    ///
    /// let columns = Columns::from_row_major(&[1.0, 2.0, f64::NAN, 4.0], 1).unwrap();
    /// let labels = Labels::new(&[false, true, false, true], None).unwrap();
    /// let params = BinningParams::default();
    /// let binned = Binned::new(&columns, &labels, params, &Interrupt::default()).unwrap();
    /// assert_eq!(binned.features(), [FeatureBins::Numeric { cuts: vec![1.5, 3.0] }]);
    /// assert_eq!((0..4).map(|row| binned.code(row, 0)).collect::<Vec<_>>(), [0, 1, 3, 2]);
    /// ```
    pub fn new(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        params: BinningParams,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        params.validate()?;
        if columns.n_rows() != labels.n_rows() {
            return Err(RankError::LengthMismatch {
                name: "X",
                found: columns.n_rows(),
                expected: labels.n_rows(),
            });
        }
        // Checked before the cuts are computed.
        check_room(columns.n_rows().saturating_mul(columns.n_features() + BYTES_OF_ROW))?;
        let rows = labels.rows();
        let is_coded = |column: &Column<'_>| column.n_levels().is_some() || column.cuts().is_some();
        let sample = if columns.iter().all(is_coded) {
            Vec::new()
        } else {
            sample_rows(columns, &rows, params.seed, interrupt)?
        };
        let of_feature = |feature: usize| {
            interrupt.check()?;
            if let Some(cuts) = columns[feature].cuts() {
                return Ok(FeatureBins::Numeric { cuts: cuts.to_vec() });
            }
            Ok(match columns[feature] {
                Column::F64(column) => FeatureBins::Numeric {
                    cuts: choose_cuts(column, labels, &rows, &sample, params.max_bins),
                },
                Column::F32(column) => FeatureBins::Numeric {
                    cuts: choose_cuts(column, labels, &rows, &sample, params.max_bins),
                },
                Column::Codes { codes, n_levels } => {
                    let rare = rare_levels(codes, n_levels, labels, &rows, params.level_rates);
                    FeatureBins::Categorical { n_levels, rare }
                }
            })
        };
        let features = parallel::try_map((0..columns.n_features()).collect(), of_feature)?;
        drop((rows, sample));
        let binned = Self::with_features(columns, features, interrupt)?;
        Ok(Self { level_rates: params.level_rates, ..binned })
    }

    /// Matrix of no rows.
    pub(crate) fn empty(features: Arc<[FeatureBins]>, level_rates: LevelRates) -> Self {
        let (mut n_narrow, mut wide) = (0, Vec::new());
        let slot = |feature: &FeatureBins| {
            let n_codes = feature.n_codes();
            if n_codes <= NARROW_CODES {
                n_narrow += 1;
                return CodeSlot::Narrow(n_narrow - 1);
            }
            wide.push(WideCodes::empty(n_codes));
            CodeSlot::Wide(wide.len() - 1)
        };
        let slots = features.iter().map(slot).collect();
        Self { n_rows: 0, features, level_rates, slots, narrow: Vec::new(), n_narrow, wide }
    }

    /// The same rows in other bins of the same features.
    pub(crate) fn recoded(
        &self,
        columns: &Columns<'_>,
        features: Vec<FeatureBins>,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let binned = Self::with_features(columns, features, interrupt)?;
        Ok(Self { level_rates: self.level_rates, ..binned })
    }

    /// The same rows with further features of one-byte codes after the others.
    pub(crate) fn with_narrow(&self, more: Vec<(FeatureBins, Vec<u8>)>) -> Result<Self, RankError> {
        let (n_before, n_narrow) = (self.n_narrow, self.n_narrow + more.len());
        let mut narrow = filled(self.n_rows * n_narrow, 0)?;
        let (bins, codes): (Vec<FeatureBins>, Vec<Vec<u8>>) = more.into_iter().unzip();
        for (row, to) in narrow.chunks_mut(n_narrow.max(1)).enumerate() {
            to[..n_before].copy_from_slice(self.narrow_row(row));
            for (to, codes) in to[n_before..].iter_mut().zip(&codes) {
                *to = codes[row];
            }
        }
        let slots = self.slots.iter().copied().chain((n_before..n_narrow).map(CodeSlot::Narrow));
        let features: Vec<FeatureBins> = self.features.iter().cloned().chain(bins).collect();
        Ok(Self {
            n_rows: self.n_rows,
            features: features.into(),
            level_rates: self.level_rates,
            slots: slots.collect(),
            narrow,
            n_narrow,
            wide: self.wide.clone(),
        })
    }

    /// The same rows, in which categories that are rare by the given bins have the code of a
    /// missing value, with further features of one-byte codes after the others.
    pub(crate) fn pooled(
        &self,
        features: &Arc<[FeatureBins]>,
        level_rates: LevelRates,
        more: Vec<Vec<u8>>,
    ) -> Result<Self, RankError> {
        let n_held = self.features.len();
        let mut pooled = if more.is_empty() {
            self.clone()
        } else {
            self.with_narrow(features[n_held..].iter().cloned().zip(more).collect())?
        };
        for (feature, bins) in features[..n_held].iter().enumerate() {
            let FeatureBins::Categorical { n_levels, rare: Some(rare) } = bins else { continue };
            let is_rare = |code: usize| rare.get(code) == Some(&true);
            match pooled.slots[feature] {
                CodeSlot::Narrow(j) => {
                    let codes = pooled.narrow.iter_mut().skip(j).step_by(pooled.n_narrow);
                    codes
                        .filter(|code| is_rare(usize::from(**code)))
                        .for_each(|code| *code = *n_levels as u8);
                }
                CodeSlot::Wide(j) => match &mut pooled.wide[j] {
                    WideCodes::U16(codes) => codes
                        .iter_mut()
                        .filter(|code| is_rare(usize::from(**code)))
                        .for_each(|code| *code = *n_levels as u16),
                    WideCodes::U32(codes) => codes
                        .iter_mut()
                        .filter(|code| is_rare(**code as usize))
                        .for_each(|code| *code = *n_levels),
                },
            }
        }
        Ok(Self { features: Arc::clone(features), level_rates, ..pooled })
    }

    /// Reserves memory for exactly `n_rows` more rows: by default it would double.
    pub(crate) fn reserve(&mut self, n_rows: usize) {
        self.narrow.reserve_exact(n_rows * self.n_narrow);
        for codes in &mut self.wide {
            match codes {
                WideCodes::U16(codes) => codes.reserve_exact(n_rows),
                WideCodes::U32(codes) => codes.reserve_exact(n_rows),
            }
        }
    }

    /// Appends rows of the same features.
    pub(crate) fn append(&mut self, more: &Self) {
        self.n_rows += more.n_rows;
        self.narrow.extend_from_slice(&more.narrow);
        for (codes, more) in self.wide.iter_mut().zip(&more.wide) {
            match (codes, more) {
                (WideCodes::U16(codes), WideCodes::U16(more)) => codes.extend_from_slice(more),
                (WideCodes::U32(codes), WideCodes::U32(more)) => codes.extend_from_slice(more),
                _ => unreachable!("codes of the same features have the same width"),
            }
        }
    }

    /// Copy of some of the rows.
    pub(crate) fn copy_of(&self, rows: Range<usize>) -> Self {
        let wide = self.wide.iter().map(|codes| match codes {
            WideCodes::U16(codes) => WideCodes::U16(codes[rows.clone()].to_vec()),
            WideCodes::U32(codes) => WideCodes::U32(codes[rows.clone()].to_vec()),
        });
        let wide = wide.collect();
        let narrow = rows.start * self.n_narrow..rows.end * self.n_narrow;
        Self {
            n_rows: rows.len(),
            features: Arc::clone(&self.features),
            level_rates: self.level_rates,
            slots: self.slots.clone(),
            narrow: self.narrow[narrow].to_vec(),
            n_narrow: self.n_narrow,
            wide,
        }
    }

    /// Appends all codes as bytes.
    pub(crate) fn put_bytes(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.narrow);
        for codes in &self.wide {
            match codes {
                WideCodes::U16(codes) => bytes.extend(codes.iter().flat_map(|c| c.to_le_bytes())),
                WideCodes::U32(codes) => bytes.extend(codes.iter().flat_map(|c| c.to_le_bytes())),
            }
        }
    }

    /// Replaces the rows by as many others, whose codes were written by [`Binned::put_bytes`];
    /// returns the bytes after them.
    ///
    /// # Panics
    ///
    /// If there are fewer bytes.
    pub(crate) fn take_bytes<'b>(&mut self, n_rows: usize, bytes: &'b [u8]) -> &'b [u8] {
        self.n_rows = n_rows;
        let (narrow, mut bytes) = bytes.split_at(n_rows * self.n_narrow);
        self.narrow.clear();
        self.narrow.extend_from_slice(narrow);
        for codes in &mut self.wide {
            let own;
            match codes {
                WideCodes::U16(codes) => {
                    (own, bytes) = bytes.split_at(2 * n_rows);
                    codes.clear();
                    codes.extend(own.as_chunks().0.iter().map(|&word| u16::from_le_bytes(word)));
                }
                WideCodes::U32(codes) => {
                    (own, bytes) = bytes.split_at(4 * n_rows);
                    codes.clear();
                    codes.extend(own.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)));
                }
            }
        }
        bytes
    }

    /// Codes every row by given bins, such as those of a whole file for one of its chunks.
    ///
    /// # Errors
    ///
    /// [`RankError`] for an infinite value, a category code out of range, or when interrupted.
    pub fn with_features(
        columns: &Columns<'_>,
        features: impl Into<Arc<[FeatureBins]>>,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let n_rows = columns.n_rows();
        let features: Arc<[FeatureBins]> = features.into();
        let level_rates = LevelRates::default();
        let Self { slots, n_narrow, .. } = Self::empty(Arc::clone(&features), level_rates);
        let of_kind = |narrow: bool| -> Vec<usize> {
            let is_kind = |&f: &usize| matches!(slots[f], CodeSlot::Narrow(_)) == narrow;
            (0..features.len()).filter(is_kind).collect()
        };

        let (narrow_features, wide_features) = (of_kind(true), of_kind(false));
        let grid = |feature: usize| match &features[feature] {
            FeatureBins::Numeric { cuts }
                if cuts.len() <= MOST_CUTS && n_rows >= ROWS_OF_CUT * cuts.len() =>
            {
                Some(CutGrid::new(cuts))
            }
            _ => None,
        };
        let grids = parallel::map((0..features.len()).collect(), grid);
        let coder = Coder { columns, features: &features, grids: &grids };
        let mut narrow = filled(n_rows * n_narrow, 0)?;
        if n_narrow > 0 {
            let of_tile = |(tile, codes): (usize, &mut [u8])| {
                interrupt.check()?;
                let start = tile * TILE_ROWS;
                let rows = start..start + codes.len() / n_narrow;
                for (j, &feature) in narrow_features.iter().enumerate() {
                    let out = codes.iter_mut().skip(j).step_by(n_narrow);
                    coder.code(feature, rows.clone(), out.map(Byte))?;
                }
                Ok(())
            };
            let tiles = narrow.chunks_mut(TILE_ROWS * n_narrow).enumerate().collect();
            parallel::try_map(tiles, of_tile)?;
        }
        let of_wide = |feature: usize| {
            interrupt.check()?;
            let all = 0..n_rows;
            let mut wide = WideCodes::empty(features[feature].n_codes());
            match &mut wide {
                WideCodes::U16(codes) => {
                    *codes = filled(n_rows, 0)?;
                    coder.code(feature, all, codes.iter_mut().map(ShortCode))?;
                }
                WideCodes::U32(codes) => {
                    *codes = filled(n_rows, 0)?;
                    coder.code(feature, all, codes.iter_mut().map(WordCode))?;
                }
            }
            Ok(wide)
        };
        let wide = parallel::try_map(wide_features, of_wide)?;
        Ok(Self { n_rows, features, level_rates, slots, narrow, n_narrow, wide })
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Bins of each feature; they define its codes.
    #[must_use]
    pub fn features(&self) -> &[FeatureBins] {
        &self.features
    }

    /// Whether class rates of categories are shrunk for some feature.
    pub(crate) fn shrinks_levels(&self) -> bool {
        let is_categorical = |bins: &FeatureBins| matches!(bins, FeatureBins::Categorical { .. });
        self.level_rates == LevelRates::Shrunken && self.features.iter().any(is_categorical)
    }

    /// Code of a row in a feature.
    #[inline]
    #[must_use]
    pub fn code(&self, row: usize, feature: usize) -> u32 {
        match self.slots[feature] {
            CodeSlot::Narrow(j) => u32::from(self.narrow[row * self.n_narrow + j]),
            CodeSlot::Wide(j) => self.wide[j].get(row),
        }
    }

    /// The codes of all rows in a feature.
    pub(crate) fn codes(&self, feature: usize) -> CodeSlice<'_> {
        match self.slots[feature] {
            CodeSlot::Narrow(j) => {
                CodeSlice::Bytes { codes: self.narrow.get(j..).unwrap_or(&[]), step: self.n_narrow }
            }
            CodeSlot::Wide(j) => match &self.wide[j] {
                WideCodes::U16(codes) => CodeSlice::Shorts(codes),
                WideCodes::U32(codes) => CodeSlice::Words(codes),
            },
        }
    }

    /// For each feature, whether it is missing in one of `rows`.
    #[must_use]
    pub fn has_missing(&self, rows: &[u32]) -> Vec<bool> {
        parallel::map((0..self.features.len()).collect(), |feature: usize| {
            let missing = self.features[feature].n_bins() as u32;
            rows.iter().any(|&row| self.code(row as usize, feature) == missing)
        })
    }

    /// For each numeric feature that is missing in one of `rows`, the least and greatest value of
    /// each bin; empty for other features. `columns` are the raw values.
    pub(crate) fn value_ranges(
        &self,
        columns: &Columns<'_>,
        rows: &[u32],
        has_missing: &[bool],
    ) -> Vec<Vec<(f64, f64)>> {
        let of_feature = |feature: usize| match columns[feature] {
            Column::F64(column) if has_missing[feature] => {
                self.ranges_of(feature, rows, |row| column.get(row))
            }
            Column::F32(column) if has_missing[feature] => {
                self.ranges_of(feature, rows, |row| column.get(row))
            }
            _ => Vec::new(),
        };
        parallel::map((0..self.features.len()).collect(), of_feature)
    }

    fn ranges_of(
        &self,
        feature: usize,
        rows: &[u32],
        value: impl Fn(usize) -> f64,
    ) -> Vec<(f64, f64)> {
        // The last entry is that of missing values: `min` and `max` ignore NaN.
        let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); self.features[feature].n_codes()];
        for row in rows.iter().map(|&row| row as usize) {
            let (low, high) = &mut ranges[self.code(row, feature) as usize];
            *low = low.min(value(row));
            *high = high.max(value(row));
        }
        ranges
    }

    /// Whether the codes of a feature take one byte.
    pub(crate) fn is_narrow(&self, feature: usize) -> bool {
        matches!(self.slots[feature], CodeSlot::Narrow(_))
    }

    pub(in crate::data) fn slot(&self, feature: usize) -> CodeSlot {
        self.slots[feature]
    }

    /// Codes of some rows in a one-byte feature.
    #[inline]
    pub(crate) fn narrow_codes(
        &self,
        rows: Range<usize>,
        feature: usize,
    ) -> Option<impl Iterator<Item = u8>> {
        let CodeSlot::Narrow(column) = self.slots[feature] else { return None };
        let rows = &self.narrow[rows.start * self.n_narrow..rows.end * self.n_narrow];
        Some(rows.iter().skip(column).step_by(self.n_narrow).copied())
    }

    /// Codes of one row in the one-byte features, in the order of the features.
    #[inline]
    pub(crate) fn narrow_row(&self, row: usize) -> &[u8] {
        &self.narrow[row * self.n_narrow..(row + 1) * self.n_narrow]
    }

    pub(in crate::data) fn wide(&self) -> &[WideCodes] {
        &self.wide
    }

    /// Memory of the codes in bytes.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.n_rows * self.n_row_bytes()
    }

    /// Memory of the codes of a row in bytes.
    pub(crate) fn n_row_bytes(&self) -> usize {
        let wide = self.wide.iter().map(|codes| match codes {
            WideCodes::U16(_) => 2,
            WideCodes::U32(_) => 4,
        });
        self.n_narrow + wide.sum::<usize>()
    }
}

/// Which categories of a column have too few rows for a rate of their own.
fn rare_levels(
    codes: &[u32],
    n_levels: u32,
    labels: &Labels<'_>,
    rows: &[u32],
    level_rates: LevelRates,
) -> Option<Arc<[bool]>> {
    if level_rates == LevelRates::Raw {
        return None;
    }
    let mut rows_of_level = vec![0; n_levels as usize];
    for row in rows.iter().map(|&row| row as usize) {
        // Codes out of range are reported when the rows are coded.
        if let Some(n_rows) = rows_of_level.get_mut(codes[row] as usize) {
            *n_rows += labels.sums(row).rows;
        }
    }
    level_rates.rare(&rows_of_level)
}

/// The copies of the [`CUT_SAMPLE`] distinct rows whose content hashes are least in the order of a
/// seed: they are the same however the rows are ordered or divided.
fn sample_rows(
    columns: &Columns<'_>,
    rows: &[u32],
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Vec<u32>, RankError> {
    if rows.len() <= CUT_SAMPLE {
        return Ok(rows.to_vec());
    }
    let hashes = columns.hashes(interrupt)?;
    let hash = |&row: &u32| seeded(hashes[row as usize], seed);
    let bound = least_hashes(&rows.iter().map(hash), CUT_SAMPLE).pop().unwrap_or(0);
    Ok(rows.iter().copied().filter(|row| hash(row) <= bound).collect())
}

/// A destination for a code, in the width of its feature.
trait CodePlace {
    fn put(self, code: usize);
}

struct Byte<'a>(&'a mut u8);
struct ShortCode<'a>(&'a mut u16);
struct WordCode<'a>(&'a mut u32);

impl CodePlace for Byte<'_> {
    #[inline]
    fn put(self, code: usize) {
        *self.0 = code as u8;
    }
}

impl CodePlace for ShortCode<'_> {
    #[inline]
    fn put(self, code: usize) {
        *self.0 = code as u16;
    }
}

impl CodePlace for WordCode<'_> {
    #[inline]
    fn put(self, code: usize) {
        *self.0 = code as u32;
    }
}

/// Encodes rows.
struct Coder<'a> {
    columns: &'a Columns<'a>,
    features: &'a [FeatureBins],
    /// For each feature the grid of its cuts, if it has one.
    grids: &'a [Option<CutGrid>],
}

impl Coder<'_> {
    /// Codes `rows` of one feature into `places`.
    fn code<P: CodePlace>(
        &self,
        feature: usize,
        rows: Range<usize>,
        places: impl Iterator<Item = P>,
    ) -> Result<(), RankError> {
        match (self.columns[feature], &self.features[feature]) {
            (Column::F64(column), FeatureBins::Numeric { cuts }) => {
                self.code_numbers(column, cuts, feature, rows, places)
            }
            (Column::F32(column), FeatureBins::Numeric { cuts }) => {
                self.code_numbers(column, cuts, feature, rows, places)
            }
            (Column::Codes { codes, .. }, FeatureBins::Categorical { n_levels, rare }) => {
                let n_levels = *n_levels;
                for (row, place) in rows.zip(places) {
                    let code = codes[row];
                    if code >= n_levels && code != MISSING_CODE {
                        return Err(RankError::BadCode { column: feature, row, code, n_levels });
                    }
                    let is_rare =
                        rare.as_ref().is_some_and(|rare| code < n_levels && rare[code as usize]);
                    place.put(if is_rare { n_levels } else { code.min(n_levels) } as usize);
                }
                Ok(())
            }
            (Column::Codes { .. }, FeatureBins::Numeric { .. }) => Err(RankError::KindMismatch {
                column: feature,
                found: "categorical",
                expected: "numeric",
            }),
            (_, FeatureBins::Categorical { .. }) => Err(RankError::KindMismatch {
                column: feature,
                found: "numeric",
                expected: "categorical",
            }),
        }
    }

    fn code_numbers<T: Value, P: CodePlace>(
        &self,
        column: Numbers<'_, T>,
        cuts: &[f64],
        feature: usize,
        rows: Range<usize>,
        mut places: impl Iterator<Item = P>,
    ) -> Result<(), RankError> {
        let missing = cuts.len() as u32 + 1;
        let (mut values, mut codes) = ([0.0; RUN_ROWS], [0; RUN_ROWS]);
        for start in rows.clone().step_by(RUN_ROWS) {
            let run = start..rows.end.min(start + RUN_ROWS);
            let (values, codes) = (&mut values[..run.len()], &mut codes[..run.len()]);
            if column.read(run.clone(), values.iter_mut()) {
                let mut rows = run.map(|row| (row, column.get(row)));
                return match rows.find(|(_, value)| value.is_infinite()) {
                    Some((row, value)) => {
                        Err(RankError::InfiniteValue { column: feature, row, value })
                    }
                    None => Err(RankError::Changed),
                };
            }
            if let Some(grid) = &self.grids[feature] {
                grid.fill(values, codes, missing);
            } else {
                for (code, value) in codes.iter_mut().zip(&*values) {
                    let known = cuts.partition_point(|cut| cut <= value) as u32;
                    *code = if value.is_nan() { missing } else { known };
                }
            }
            // In this order, so that no place is consumed without a code.
            for (&mut code, place) in codes.iter_mut().zip(places.by_ref()) {
                place.put(code as usize);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels_for(n_rows: usize) -> Vec<bool> {
        (0..n_rows).map(|row| row % 2 == 0).collect()
    }

    #[test]
    fn codes_count_the_cuts_at_or_below_the_value() {
        let n_rows = 3000;
        let values: Vec<f64> = (0..2 * n_rows)
            .map(|i| if i % 11 == 0 { f64::NAN } else { ((i * 7919) % 4001) as f64 / 7.0 })
            .collect();
        let positive = labels_for(n_rows);
        let labels = Labels::new(&positive, None).unwrap();
        let columns = Columns::from_row_major(&values, 2).unwrap();
        for max_bins in [Some(2), Some(16), Some(255), Some(1000), None] {
            let params = BinningParams { max_bins, ..BinningParams::default() };
            let binned = Binned::new(&columns, &labels, params, &Interrupt::default()).unwrap();
            for feature in 0..2 {
                let FeatureBins::Numeric { cuts } = &binned.features()[feature] else { panic!() };
                assert!(cuts.is_sorted() && cuts.len() < max_bins.unwrap_or(usize::MAX));
                for row in 0..n_rows {
                    let value = values[2 * row + feature];
                    let below = cuts.iter().filter(|&&cut| cut <= value).count();
                    let expected = if value.is_nan() { cuts.len() + 1 } else { below };
                    assert_eq!(binned.code(row, feature) as usize, expected);
                }
            }
        }
    }

    #[test]
    fn binning_stops_on_request() {
        let positive = labels_for(4);
        let labels = Labels::new(&positive, None).unwrap();
        let columns = Columns::from_row_major(&[0.0, 1.0, 2.0, 3.0], 1).unwrap();
        let interrupt = Interrupt::default();
        let params = BinningParams::default();
        let binned = Binned::new(&columns, &labels, params, &interrupt).unwrap();
        interrupt.stop();
        let err = Binned::new(&columns, &labels, params, &interrupt).unwrap_err();
        assert_eq!(err, RankError::Interrupted);
        let features = binned.features().to_vec();
        let err = Binned::with_features(&columns, features, &interrupt).unwrap_err();
        assert_eq!(err, RankError::Interrupted);
    }

    #[test]
    fn infinity_and_unknown_codes_raise_errors_that_name_them() {
        let positive = labels_for(4);
        let labels = Labels::new(&positive, None).unwrap();
        let bin = |columns: &Columns<'_>| {
            Binned::new(columns, &labels, BinningParams::default(), &Interrupt::default())
        };
        let values = [0.0, 1.0, 2.0, 3.0, 4.0, f64::NEG_INFINITY, 6.0, 7.0];
        let columns = Columns::from_row_major(&values, 2).unwrap();
        let err = bin(&columns).unwrap_err();
        assert_eq!(err, RankError::InfiniteValue { column: 1, row: 2, value: f64::NEG_INFINITY });
        let column = Column::Codes { codes: &[0, 1, MISSING_CODE, 2], n_levels: 2 };
        let columns = Columns::new(vec![column], 4).unwrap();
        let err = bin(&columns).unwrap_err();
        assert_eq!(err, RankError::BadCode { column: 0, row: 3, code: 2, n_levels: 2 });
    }

    #[test]
    fn a_sample_has_all_copies_of_its_rows_whatever_their_order() {
        let values: Vec<f64> = (0..600_000).map(|i| f64::from(i % 250_000)).collect();
        let backwards: Vec<f64> = values.iter().rev().copied().collect();
        let sample = |values: &[f64], seed| -> Vec<u64> {
            let columns = Columns::from_row_major(values, 1).unwrap();
            let rows: Vec<u32> = (0..values.len() as u32).collect();
            let sample = sample_rows(&columns, &rows, seed, &Interrupt::default()).unwrap();
            assert!(sample.is_sorted());
            let mut found: Vec<u64> =
                sample.iter().map(|&row| values[row as usize] as u64).collect();
            found.sort_unstable();
            found
        };
        let found = sample(&values, 7);
        assert_eq!(found, sample(&backwards, 7));
        assert_ne!(found, sample(&values, 8));
        let copies: Vec<&[u64]> = found.chunk_by(|a, b| a == b).collect();
        assert_eq!(copies.len(), CUT_SAMPLE);
        // Values below 100,000 occur three times, the others twice.
        assert!(copies.iter().all(|copies| copies.len() == 2 + usize::from(copies[0] < 100_000)));
    }
}
