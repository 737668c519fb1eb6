//! Many parts of rows, in memory or in a file that is read part by part.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Rows;
use super::coded::{CodedRows, ExtraColumns};
use super::frame::RowFrame;
use super::part::{Part, PartScratch};
use super::question::{Answer, Ask};
use super::spill::Spill;
use crate::data::{Batch, CellRows};
use crate::{Interrupt, RankError, parallel};

/// Rows of a part: their codes, which are read in the order of cells, stay near in the cache.
const PART_ROWS: usize = CellRows::MOST;

/// Coded rows in parts, in memory or in a file that is read part by part.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Batch, BinningParams, Columns};
/// use aucrank::rows::{StoredRows, Survey};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
///
/// let batches = [([1.0, 4.0], [true, false]), ([2.0, 3.0], [false, true])];
/// let interrupt = Interrupt::default();
/// // Two passes: bins are chosen, then rows are coded.
/// let mut survey = Survey::new(&[None], BinningParams::default(), None)?;
/// for (values, positive) in &batches {
///     survey.add(&Batch::new(&Columns::from_row_major(values, 1)?, positive), &interrupt)?;
/// }
/// let mut rows = StoredRows::new(survey.frame()?, None)?;
/// for (values, positive) in &batches {
///     rows.add(&Batch::new(&Columns::from_row_major(values, 1)?, positive), &interrupt)?;
/// }
/// rows.finish()?;
/// let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let fitted = fit((&rows, 0), &params, &interrupt)?;
/// assert_eq!(fitted.tree.auc(), 1.0);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug)]
pub struct StoredRows {
    frame: RowFrame,
    spill: Option<Spill>,
    parts: Vec<Part>,
    /// Rows that are not in a part yet.
    open: CodedRows,
    n_rows: u64,
    scratch: Mutex<Vec<PartScratch>>,
}

impl StoredRows {
    /// The file of the rows, for tests that damage it.
    #[cfg(test)]
    pub(super) fn file(&self) -> &std::fs::File {
        self.spill.as_ref().expect("rows in a file").file()
    }

    /// No rows yet. If `path` is given, they are kept in a new file there, which is deleted in the
    /// end; on Unix it has no name once it is open.
    ///
    /// # Errors
    ///
    /// [`RankError::Storage`] if the file cannot be created, or exists.
    pub fn new(frame: RowFrame, path: Option<&Path>) -> Result<Self, RankError> {
        Ok(Self {
            spill: path.map(Spill::create).transpose()?,
            parts: Vec::new(),
            open: CodedRows::none(&frame),
            n_rows: 0,
            scratch: Mutex::default(),
            frame,
        })
    }

    /// Codes rows and keeps them.
    ///
    /// # Errors
    ///
    /// [`RankError`] for an infinite value, a category code out of range, or lengths or kinds that
    /// differ; rows are counted from the first one that was added. [`RankError::Storage`] if the
    /// file cannot be written.
    pub fn add(&mut self, batch: &Batch<'_>, interrupt: &Interrupt) -> Result<(), RankError> {
        let coded = CodedRows::new(&self.frame, batch, interrupt);
        self.open.append(coded.map_err(|err| err.after_rows(self.n_rows))?);
        self.n_rows += batch.positive().len() as u64;
        if self.open.n_rows() >= PART_ROWS {
            let all = std::mem::replace(&mut self.open, CodedRows::none(&self.frame));
            let n_whole = all.n_rows() / PART_ROWS;
            for part in 0..n_whole {
                self.seal(all.copy_of(part * PART_ROWS..(part + 1) * PART_ROWS))?;
            }
            self.open = all.copy_of(n_whole * PART_ROWS..all.n_rows());
        }
        Ok(())
    }

    /// Makes a part of the rows added last; until then they are not queried.
    ///
    /// # Errors
    ///
    /// [`RankError::Storage`] if the file cannot be written.
    pub fn finish(&mut self) -> Result<(), RankError> {
        let rest = std::mem::replace(&mut self.open, CodedRows::none(&self.frame));
        if rest.n_rows() > 0 { self.seal(rest) } else { Ok(()) }
    }

    fn seal(&mut self, rows: CodedRows) -> Result<(), RankError> {
        self.parts.push(match &mut self.spill {
            Some(spill) => Part::in_file(spill.write(&rows)?),
            None => Part::in_memory(rows),
        });
        Ok(())
    }

    /// Number of rows, those of weight zero included.
    #[must_use]
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Size of the file in bytes; 0 if rows are in memory.
    #[must_use]
    pub fn n_file_bytes(&self) -> u64 {
        self.spill.as_ref().map_or(0, Spill::n_bytes)
    }

    /// All rows together.
    pub(super) fn gathered(&self) -> Result<CodedRows, RankError> {
        let mut all = CodedRows::with_room(&self.frame, self.n_rows as usize);
        let mut scratch = self.scratch();
        for part in &self.parts {
            let rows = part.rows(true, self.spill.as_ref(), &mut scratch)?;
            all.extend(rows);
        }
        Ok(all)
    }

    /// The rows as bytes, to be kept by another holder: codes, classes, weights and hashes.
    ///
    /// # Errors
    ///
    /// [`RankError::Storage`] if the file cannot be read.
    pub fn to_bytes(&self) -> Result<Vec<u8>, RankError> {
        let mut bytes = Vec::new();
        let mut scratch = self.scratch();
        for part in &self.parts {
            let rows = part.rows(true, self.spill.as_ref(), &mut scratch)?;
            bytes.extend((rows.n_rows() as u64).to_le_bytes());
            bytes.extend(rows.to_bytes());
            bytes.extend(rows.hashes_to_bytes());
        }
        Ok(bytes)
    }

    /// Adds rows written by [`StoredRows::to_bytes`], of the same frame.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for other bytes; [`RankError::Storage`] if the file cannot be
    /// written.
    pub fn add_bytes(&mut self, mut bytes: &[u8]) -> Result<(), RankError> {
        let cut_off = || RankError::BadAnswer("coded rows are cut off".to_owned());
        while !bytes.is_empty() {
            let (n_rows, rest) = bytes.split_first_chunk().ok_or_else(cut_off)?;
            let n_rows = usize::try_from(u64::from_le_bytes(*n_rows)).unwrap_or(usize::MAX);
            if n_rows > PART_ROWS {
                return Err(RankError::BadAnswer("a part has too many rows".to_owned()));
            }
            let n_body = CodedRows::n_bytes_of(&self.frame, n_rows);
            let (body, rest) = rest.split_at_checked(n_body).ok_or_else(cut_off)?;
            let (hashes, rest) = rest.split_at_checked(8 * n_rows).ok_or_else(cut_off)?;
            let mut rows = CodedRows::none(&self.frame);
            rows.take_bytes(n_rows, ExtraColumns::of(&self.frame), body);
            rows.take_hashes(hashes);
            self.n_rows += n_rows as u64;
            self.seal(rows)?;
            bytes = rest;
        }
        Ok(())
    }

    /// Memory of the rows in bytes, without the cells of the trees that grow on them.
    #[must_use]
    pub fn n_bytes(&self) -> u64 {
        let n_rows = self.n_rows as usize;
        (CodedRows::n_bytes_of(&self.frame, n_rows) + 8 * n_rows) as u64
    }

    fn scratch(&self) -> PartScratch {
        let spare = self.scratch.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.unwrap_or_else(|| PartScratch::new(&self.frame))
    }
}

impl Rows for StoredRows {
    fn frame(&self) -> &RowFrame {
        &self.frame
    }

    fn pass(&self, ask: &Ask, interrupt: &Interrupt) -> Result<Answer, RankError> {
        let next = AtomicUsize::new(0);
        let of_thread = |_| {
            let mut scratch = self.scratch();
            let mut sum = Answer::none(ask, &self.frame);
            while let Some(part) = self.parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                interrupt.check()?;
                let spill = self.spill.as_ref();
                part.answer(ask, &self.frame, spill, &mut scratch, &mut sum, interrupt)?;
            }
            self.scratch.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
            Ok(sum)
        };
        let n_threads = parallel::current_num_threads().min(self.parts.len());
        let answers = parallel::try_map((0..n_threads).collect(), of_thread)?;
        let mut answers = answers.into_iter();
        let first = answers.next().unwrap_or_else(|| Answer::none(ask, &self.frame));
        answers.try_fold(first, |mut sum, more| {
            sum.merge(more)?;
            Ok(sum)
        })
    }
}
