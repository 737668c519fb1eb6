//! Rows of a few distinct contents, gathered: one row for each content and class, with the number
//! of its copies as weight.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Rows;
use super::coded::CodedRows;
use super::fit_id::FitId;
use super::frame::RowFrame;
use super::kept::Kept;
use super::matrix::{CodedMatrix, numbers_of_bins};
use super::mergeable::Mergeable;
use super::part_view::PartView;
use super::question::Question;
use super::view::View;
use super::words::WordReader;
use crate::data::{Batch, Column, Columns, FeatureBins, FixedScale, MISSING_CODE, MOST_CONTENTS};
use crate::{Interrupt, RankError};

/// The rows as a small matrix, whose rows of weight k stand for k copies; `None` if they have more
/// than [`MOST_CONTENTS`] distinct contents, weights that are not whole, or are dealt in blocks. On
/// request, rows of equal weights that are not whole count once each.
pub(crate) fn gathered(
    rows: &dyn Rows,
    fit: &FitId,
    counts_equal: bool,
    interrupt: &Interrupt,
) -> Result<Option<CodedMatrix>, RankError> {
    let frame = rows.frame();
    // A bin has rows: more bins are more contents, and the rows need not be read.
    let may_be_few = frame.features().iter().all(|bins| bins.n_bins() <= MOST_CONTENTS);
    if !may_be_few || frame.blocks.is_some() {
        return Ok(None);
    }
    let units_of_copy = if frame.counts_copies() {
        1
    } else {
        let totals = fit.totals(rows, View::All, interrupt)?;
        let equal = totals.squares.of_equal(totals.sums.rows);
        let Some(units) = equal.filter(|_| counts_equal) else { return Ok(None) };
        units
    };
    let found = fit.ask(rows, View::All, AskContents, interrupt)?;
    let Some(cells) = found.cells else { return Ok(None) };

    let (mut codes, mut hashes) = (Vec::new(), Vec::new());
    let (mut positive, mut copies) = (Vec::new(), Vec::new());
    for (hash, cell) in cells {
        for (class, units) in [false, true].into_iter().zip(cell.units) {
            if units > 0 {
                codes.push(cell.codes.clone());
                hashes.push(hash);
                positive.push(class);
                copies.push((units / units_of_copy) as f64);
            }
        }
    }
    let columns = RawColumns::of(frame, &codes);
    let frame = RowFrame {
        scale: Some(FixedScale::of(&[1.0])?),
        n_rows: positive.len() as u64,
        ..frame.clone()
    };
    let columns = columns.borrowed(&frame, positive.len())?;
    let batch = Batch::new(&columns, &positive).weighted(Some(&copies));
    let mut coded = CodedRows::new(&frame, &batch, interrupt)?;
    // Their own, not those of the values that stand for the bins.
    coded.hashes = hashes;
    Ok(Some(CodedMatrix::of_coded(frame, coded)))
}

/// Values that are coded as the rows are.
struct RawColumns {
    /// Empty for categories.
    numbers: Vec<Vec<f64>>,
    /// Empty for numbers.
    levels: Vec<Vec<u32>>,
}

impl RawColumns {
    fn of(frame: &RowFrame, rows: &[Vec<u32>]) -> Self {
        let (mut numbers, mut levels) = (Vec::new(), Vec::new());
        for (feature, bins) in frame.features().iter().enumerate() {
            let codes = rows.iter().map(|codes| codes[feature]);
            match bins {
                FeatureBins::Numeric { cuts } => {
                    let of_bin = numbers_of_bins(cuts);
                    let missing = of_bin.len() - 1;
                    numbers.push(codes.map(|c| of_bin[(c as usize).min(missing)]).collect());
                    levels.push(Vec::new());
                }
                FeatureBins::Categorical { n_levels, .. } => {
                    let level = |code| if code < *n_levels { code } else { MISSING_CODE };
                    levels.push(codes.map(level).collect());
                    numbers.push(Vec::new());
                }
            }
        }
        Self { numbers, levels }
    }

    fn borrowed(&self, frame: &RowFrame, n_rows: usize) -> Result<Columns<'_>, RankError> {
        let column = |(feature, bins): (usize, &FeatureBins)| match bins {
            FeatureBins::Numeric { .. } => Column::from(&self.numbers[feature][..]),
            FeatureBins::Categorical { n_levels, .. } => {
                Column::Codes { codes: &self.levels[feature], n_levels: *n_levels }
            }
        };
        Columns::new(frame.features().iter().enumerate().map(column).collect(), n_rows)
    }
}

/// Asks for the distinct contents of the rows and how often each occurs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AskContents;

/// Codes of a content, and its units of weight by class, negatives first.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ContentCount {
    codes: Vec<u32>,
    units: [u64; 2],
}

/// Contents by hash; none if there are too many.
#[derive(Debug, Clone)]
pub(super) struct ContentSums {
    n_features: usize,
    cells: Option<BTreeMap<u64, ContentCount>>,
}

impl ContentSums {
    fn add(&mut self, hash: u64, codes: impl FnOnce() -> Vec<u32>, units: [u64; 2]) {
        let Some(cells) = &mut self.cells else { return };
        let cell =
            cells.entry(hash).or_insert_with(|| ContentCount { codes: codes(), units: [0; 2] });
        for (own, more) in cell.units.iter_mut().zip(units) {
            *own += more;
        }
        if cells.len() > MOST_CONTENTS {
            self.cells = None;
        }
    }
}

impl Question for AskContents {
    const NAME: &'static str = "contents";

    type Answer = ContentSums;

    fn none(&self, frame: &RowFrame) -> ContentSums {
        ContentSums { n_features: frame.features().len(), cells: Some(BTreeMap::new()) }
    }

    fn needs_hashes(&self, _: &View, _: &Kept<'_>) -> bool {
        true
    }

    fn add(
        &self,
        part: &PartView<'_>,
        _: &mut Kept<'_>,
        sums: &mut ContentSums,
        _: &Interrupt,
    ) -> Result<(), RankError> {
        let (binned, hashes, units) = (part.binned(), part.hashes(), part.units());
        for row in part.rows() {
            if sums.cells.is_none() {
                break;
            }
            let place = row as usize;
            let of_row = units.as_ref().map_or(1, |units| units[place]);
            let by_class = if part.positive()[place] { [0, of_row] } else { [of_row, 0] };
            let features = 0..sums.n_features;
            let codes = || features.map(|feature| binned.code(place, feature)).collect();
            sums.add(hashes[place], codes, by_class);
        }
        Ok(())
    }
}

impl Mergeable for ContentSums {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        match more.cells {
            None => self.cells = None,
            Some(cells) => {
                for (hash, ContentCount { codes, units }) in cells {
                    self.add(hash, || codes, units);
                }
            }
        }
        Ok(())
    }

    fn put_words(&mut self, words: &mut Vec<u64>) {
        let n_cells = self.cells.as_ref().map_or(u64::MAX, |cells| cells.len() as u64);
        words.push(n_cells);
        for (&hash, ContentCount { codes, units }) in self.cells.iter().flatten() {
            words.push(hash);
            words.extend(units);
            words.extend(codes.iter().map(|&code| u64::from(code)));
        }
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        let n_cells = reader.word()?;
        if n_cells == u64::MAX {
            self.cells = None;
            return Ok(());
        }
        for _ in 0..n_cells.min(MOST_CONTENTS as u64 + 1) {
            let hash = reader.word()?;
            let units = *reader.array::<2>()?;
            let codes = reader.take(self.n_features)?;
            let codes = codes.iter().map(|&code| code as u32).collect();
            self.add(hash, || codes, units);
        }
        Ok(())
    }
}
