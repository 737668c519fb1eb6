//! Answers of raw rows: sums, which are merged.

use std::sync::Arc;

use super::ask::{FoldDeal, PassHead, RawAsk, WantedCounts};
use super::key_cells::KeyCells;
use crate::data::{
    Batch, Bins, BlockSums, ClassSums, Column, Columns, DealtRow, Labels, Lookups, MISSING_CODE,
    MOST_RANKED, RowSquares, RowTally, least_hashes, place_among, seeded,
};
use crate::roc::Score;
use crate::rows::words::{WordReader, put_list, put_sums};
use crate::rows::{Mergeable, put_blocks, take_blocks};
use crate::{Interrupt, RankError, parallel};

/// Rows whose values are read at a time.
const TILE_ROWS: usize = 1024;

/// The sums of some rows for a [`RawAsk`], which can be merged with those of others.
///
/// # Examples
///
/// Merged answers of holders of parts of the rows:
///
/// ```
/// use std::sync::Arc;
///
/// use aucrank::RankError;
/// use aucrank::additive::{RawAsk, RawSums};
/// use aucrank::rows::Mergeable;
///
/// fn merge(ask: &Arc<RawAsk>, answers: &[Vec<u8>]) -> Result<RawSums, RankError> {
///     let mut whole = RawSums::new(Arc::clone(ask));
///     for answer in answers {
///         whole.merge_bytes(answer)?;
///     }
///     Ok(whole)
/// }
/// ```
#[derive(Debug, Clone)]
pub struct RawSums {
    ask: Arc<RawAsk>,
    /// The least hashes of each class, negatives first.
    pub(super) hashes: [Vec<u64>; 2],
    /// Blocks by which rows are dealt, if not by content.
    pub(super) blocks: Option<BlockSums>,
    /// Numbers of negative and of positive rows.
    pub(in crate::additive) class_rows: [u64; 2],
    /// For each fold.
    pub(super) totals: Vec<ClassSums>,
    /// For each fold.
    pub(super) squares: Vec<RowSquares>,
    pub(super) features: Vec<NumberSums>,
}

/// The requested sums of a feature.
#[derive(Debug, Clone)]
pub(super) struct NumberSums {
    /// The rows of each category, special value or bin, then those with a missing value, by fold.
    pub(super) apart: Vec<ClassSums>,
    pub(super) cells: Option<KeyCells>,
}

impl NumberSums {
    fn new(head: &PassHead, feature: usize, wanted: &WantedCounts) -> Self {
        let n_folds = head.n_folds();
        let n_apart = match wanted {
            WantedCounts::Nothing => 0,
            WantedCounts::Levels => head.n_levels[feature].unwrap_or(0) as usize + 1,
            WantedCounts::Keys(_) => head.special(feature).len() + 1,
            WantedCounts::Bins(bins) => bins.n_bins() + 1,
        };
        let cells = match wanted {
            WantedCounts::Keys(layout) => Some(KeyCells::new(layout, head.most_cells, n_folds)),
            WantedCounts::Nothing | WantedCounts::Levels | WantedCounts::Bins(_) => None,
        };
        Self { apart: vec![ClassSums::default(); n_apart * n_folds], cells }
    }
}

/// Rows of positive weight, and their folds.
struct FoldedRows<'a> {
    labels: Labels<'a>,
    list: Vec<u32>,
    /// Fold of each row; empty if there is only one.
    folds: Vec<u16>,
    /// Number of rows that each represents; empty if that is one.
    counts: &'a [u64],
}

impl FoldedRows<'_> {
    #[inline]
    fn fold(&self, row: usize) -> usize {
        self.folds.get(row).copied().unwrap_or(0).into()
    }

    #[inline]
    fn sums(&self, row: usize) -> ClassSums {
        let sums = self.labels.sums(row);
        self.counts.get(row).map_or(sums, |&count| sums.times(count))
    }
}

impl RowTally for FoldedRows<'_> {
    type Tally = ClassSums;

    #[inline]
    fn of(&self, row: usize) -> ClassSums {
        self.sums(row)
    }
}

impl RawSums {
    /// The sums of no rows.
    #[must_use]
    pub fn new(ask: Arc<RawAsk>) -> Self {
        let n_folds = ask.head.n_folds();
        let of_feature = |(feature, wanted)| NumberSums::new(&ask.head, feature, wanted);
        let features = ask.features.iter().enumerate().map(of_feature).collect();
        let (totals, squares) =
            (vec![ClassSums::default(); n_folds], vec![RowSquares::default(); n_folds]);
        let (hashes, blocks) = Default::default();
        Self { ask, hashes, blocks, class_rows: [0; 2], totals, squares, features }
    }

    /// Adds rows.
    ///
    /// # Errors
    ///
    /// [`RankError`] for lengths or kinds that differ, an infinite value, a category code out of
    /// range, or when interrupted.
    pub fn add(&mut self, batch: &Batch<'_>, interrupt: &Interrupt) -> Result<(), RankError> {
        let ask = Arc::clone(&self.ask);
        batch.check(&ask.head.n_levels)?;
        let (columns, positive) = (batch.columns(), batch.positive());
        let labels = batch.labels(ask.head.scale);
        let list = labels.rows();
        let mut folds = Vec::new();
        match &ask.head.dealt {
            FoldDeal::Together => {}
            FoldDeal::NotYet(_) if batch.has_blocks() => {
                merge_blocks(&mut self.blocks, batch.block_sums(&labels))?;
            }
            FoldDeal::NotYet(seed) => {
                let hashes = columns.hashes(interrupt)?;
                for (class, least) in [false, true].into_iter().zip(&mut self.hashes) {
                    let rows = list.iter().map(|&row| row as usize);
                    let rows = rows.filter(|&row| positive[row] == class);
                    let own = rows.map(|row| seeded(hashes[row], *seed));
                    merge_hashes(least, &least_hashes(&own, MOST_RANKED + 1));
                }
            }
            FoldDeal::Folds(dealt, table) => {
                let hashes = columns.hashes(interrupt)?;
                let blocks = batch.places(table.as_deref())?;
                let row = |row: usize| DealtRow {
                    positive: positive[row],
                    hash: hashes[row],
                    block: blocks.get(row).copied().unwrap_or(0),
                };
                folds = (0..positive.len()).map(|at| dealt.fold(row(at))).collect();
            }
        }
        let rows = FoldedRows { labels, list, folds, counts: &[] };
        for row in rows.list.iter().map(|&row| row as usize) {
            let (fold, sums) = (rows.fold(row), rows.labels.sums(row));
            self.class_rows[usize::from(positive[row])] += sums.rows;
            self.totals[fold] += sums;
            self.squares[fold].add(sums, 1);
        }
        let work = self.features.iter_mut().zip(columns).enumerate();
        let by_column =
            |wanted: &WantedCounts| matches!(wanted, WantedCounts::Levels | WantedCounts::Keys(_));
        let work = work.filter(|(feature, _)| by_column(&ask.features[*feature])).collect();
        parallel::try_map(work, |(feature, (sums, column)): (usize, (&mut NumberSums, _))| {
            interrupt.check()?;
            match sums.add(feature, column, &rows, &ask.head)? {
                Finite::Yes => Ok(()),
                Finite::No => Err(columns.refusal()),
            }
        })?;
        let binned = ask.features.iter().enumerate().filter_map(|(feature, wanted)| match wanted {
            WantedCounts::Bins(bins) => Some((feature, feature, bins)),
            _ => None,
        });
        self.add_binned(&columns.until(interrupt), &binned.collect::<Vec<_>>(), &rows)
    }

    /// Adds the rows of bins, each with its place among the columns, and its feature.
    fn add_binned(
        &mut self,
        columns: &Columns<'_>,
        binned: &[(usize, usize, &Bins)],
        rows: &FoldedRows<'_>,
    ) -> Result<(), RankError> {
        if binned.is_empty() {
            return Ok(());
        }
        for &(column, feature, _) in binned {
            columns[column].check_codes(feature)?;
        }
        let lookups = Lookups::new(binned.iter().map(|&(column, _, bins)| (column, bins)));
        for (&(_, feature, _), found) in binned.iter().zip(lookups.count(columns, rows)?) {
            for (sums, more) in self.features[feature].apart.iter_mut().zip(found) {
                *sums += more;
            }
        }
        Ok(())
    }

    /// The rows of each bin of a feature whose bins were requested, those with a missing value
    /// last.
    pub(in crate::additive) fn of_bins(&self, feature: usize) -> &[ClassSums] {
        &self.features[feature].apart
    }

    /// All rows.
    pub(in crate::additive) fn total(&self) -> ClassSums {
        self.totals.iter().copied().sum()
    }

    /// Adds the values of one feature in all rows, as counts: the answer of a database that groups
    /// its rows by a column and the class. Each row of `batch`, which has this column alone, represents `counts` equal ones. The
    /// counts of every requested feature must be added, and the rows of each class once, by
    /// [`RawSums::add_classes`]. The caller must ensure that all of them are of the same rows.
    ///
    /// # Errors
    ///
    /// [`RankError`] for lengths or kinds that differ, a count of 0, an infinite value, a category
    /// code out of range, or if rows are dealt into folds, which one column does not determine.
    ///
    /// # Panics
    ///
    /// If there is no such feature.
    pub fn add_counts(
        &mut self,
        feature: usize,
        batch: &Batch<'_>,
        counts: &[u64],
    ) -> Result<(), RankError> {
        let ask = Arc::clone(&self.ask);
        batch.check(&ask.head.n_levels[feature..=feature])?;
        let column = batch.columns();
        let rows = ask.head.counted(batch.positive(), batch.weights(), counts)?;
        match &ask.features[feature] {
            WantedCounts::Nothing => return Ok(()),
            WantedCounts::Bins(bins) => {
                let added = self.add_binned(column, &[(0, feature, bins)], &rows);
                return added.map_err(|err| err.in_column(feature));
            }
            WantedCounts::Levels | WantedCounts::Keys(_) => {}
        }
        for values in column {
            match self.features[feature].add(feature, values, &rows, &ask.head)? {
                Finite::Yes => {}
                Finite::No => return Err(column.refusal().in_column(feature)),
            }
        }
        Ok(())
    }

    /// Adds the classes of all rows, as counts; see [`RawSums::add_counts`].
    ///
    /// # Errors
    ///
    /// [`RankError`] for lengths that differ, a count of 0, or if rows are dealt into folds.
    pub fn add_classes(
        &mut self,
        positive: &[bool],
        weights: Option<&[f64]>,
        counts: &[u64],
    ) -> Result<(), RankError> {
        let rows = self.ask.head.counted(positive, weights, counts)?;
        for row in rows.list.iter().map(|&row| row as usize) {
            self.class_rows[usize::from(positive[row])] += rows.sums(row).rows;
            self.totals[0] += rows.sums(row);
            self.squares[0].add_equal(rows.labels.sums(row), counts[row]);
        }
        Ok(())
    }
}

impl Mergeable for RawSums {
    fn merge(&mut self, mut more: Self) -> Result<(), RankError> {
        let mut words = Vec::new();
        more.put_words(&mut words);
        self.merge_words(&mut WordReader::new(&words))
    }

    fn put_words(&mut self, words: &mut Vec<u64>) {
        for hashes in &self.hashes {
            put_list(words, hashes.iter().copied());
        }
        put_blocks(words, self.blocks.as_ref());
        words.extend(self.class_rows);
        for (&total, squares) in self.totals.iter().zip(&self.squares) {
            put_sums(words, total);
            words.extend(squares.to_words());
        }
        for NumberSums { apart, cells } in &mut self.features {
            for &sums in &*apart {
                put_sums(words, sums);
            }
            if let Some(cells) = cells {
                cells.put(words);
            }
        }
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        *self = Self::new(Arc::clone(&self.ask));
        self.merge_words(reader)
    }

    /// Without a copy of the cells, of which there may be many.
    fn merge_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        for hashes in &mut self.hashes {
            merge_hashes(hashes, reader.list()?);
        }
        merge_blocks(&mut self.blocks, take_blocks(reader)?)?;
        for (own, more) in self.class_rows.iter_mut().zip(reader.array::<2>()?) {
            *own += more;
        }
        for (total, squares) in self.totals.iter_mut().zip(&mut self.squares) {
            *total += reader.sums()?;
            squares.merge(&RowSquares::from_words(reader.array()?));
        }
        for NumberSums { apart, cells } in &mut self.features {
            for sums in apart {
                *sums += reader.sums()?;
            }
            if let Some(cells) = cells {
                cells.merge(reader)?;
            }
        }
        Ok(())
    }
}

impl PassHead {
    /// Rows that each represent several.
    fn counted<'a>(
        &self,
        positive: &'a [bool],
        weights: Option<&[f64]>,
        counts: &'a [u64],
    ) -> Result<FoldedRows<'a>, RankError> {
        let expected = positive.len();
        let lengths =
            [("sample_weight", weights.map(<[f64]>::len)), ("counts", Some(counts.len()))];
        for (name, found) in lengths {
            if let Some(found) = found.filter(|&found| found != expected) {
                return Err(RankError::LengthMismatch { name, found, expected });
            }
        }
        if counts.contains(&0) {
            let (name, value, rule) = ("counts", "0".to_owned(), "at least 1");
            return Err(RankError::BadParameter { name, value, rule });
        }
        if !matches!(self.dealt, FoldDeal::Together) {
            return Err(RankError::BadAnswer(
                "rows counted by one column have no folds".to_owned(),
            ));
        }
        let labels = Labels::in_scale(positive, weights, self.scale);
        let list = labels.rows();
        Ok(FoldedRows { labels, list, folds: Vec::new(), counts })
    }
}

/// Whether all numbers of a column are finite.
enum Finite {
    Yes,
    No,
}

/// Adds the blocks of other rows.
fn merge_blocks(known: &mut Option<BlockSums>, more: Option<BlockSums>) -> Result<(), RankError> {
    match (known, more) {
        (Some(own), Some(more)) if own.kind() == more.kind() => own.merge(&more),
        (own @ None, more) => *own = more,
        (Some(_), None) => {}
        (Some(_), Some(_)) => {
            return Err(RankError::BadAnswer("they are dealt by something else".to_owned()));
        }
    }
    Ok(())
}

/// Keeps the least of all.
fn merge_hashes(least: &mut Vec<u64>, more: &[u64]) {
    least.extend(more);
    least.sort_unstable();
    least.dedup();
    // The least of a whole are the least of those of its parts, so that the parts may merge in any
    // order; one more than is ranked shows that there are more.
    least.truncate(MOST_RANKED + 1);
}

impl NumberSums {
    fn add(
        &mut self,
        feature: usize,
        column: &Column<'_>,
        rows: &FoldedRows<'_>,
        head: &PassHead,
    ) -> Result<Finite, RankError> {
        let n_folds = head.n_folds();
        match *column {
            Column::Codes { codes, n_levels } => {
                self.add_levels(feature, codes, n_levels, rows, n_folds)?;
                Ok(Finite::Yes)
            }
            Column::F64(_) | Column::F32(_) => {
                Ok(self.add_numbers(column, head.special(feature), rows, n_folds))
            }
        }
    }

    fn add_levels(
        &mut self,
        column: usize,
        codes: &[u32],
        n_levels: u32,
        rows: &FoldedRows<'_>,
        n_folds: usize,
    ) -> Result<(), RankError> {
        let missing = self.apart.len() / n_folds - 1;
        for row in rows.list.iter().map(|&row| row as usize) {
            let code = codes[row];
            let place = match code as usize {
                level if level < missing => level,
                _ if code == MISSING_CODE => missing,
                _ => return Err(RankError::BadCode { column, row, code, n_levels }),
            };
            self.apart[place * n_folds + rows.fold(row)] += rows.sums(row);
        }
        Ok(())
    }

    fn add_numbers(
        &mut self,
        column: &Column<'_>,
        special: &[f64],
        rows: &FoldedRows<'_>,
        n_folds: usize,
    ) -> Finite {
        let Some(cells) = &mut self.cells else { unreachable!("cells of a number") };
        let n_rows = rows.labels.n_rows();
        let mut values = [0.0; TILE_ROWS];
        for first in (0..n_rows).step_by(TILE_ROWS) {
            let tile = first..n_rows.min(first + TILE_ROWS);
            let values = &mut values[..tile.len()];
            if column.read(tile.clone(), &mut *values) {
                return Finite::No;
            }
            for (row, &value) in tile.zip(&*values) {
                let sums = rows.sums(row);
                if sums.rows == 0 {
                    continue;
                }
                let fold = rows.fold(row);
                let place = place_among(special, value);
                match place.or(value.is_nan().then_some(special.len())) {
                    Some(place) => self.apart[place * n_folds + fold] += sums,
                    None => cells.add(value.key(), fold, sums),
                }
            }
        }
        Finite::Yes
    }
}
