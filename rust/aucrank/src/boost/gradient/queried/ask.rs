//! Questions of a fit about the rows of a bag, and their answers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::RankError;
use crate::boost::gradient::code_tree::CodeTree;
use crate::boost::gradient::draws::Draw;
use crate::boost::gradient::fit_rows::RowMassScale;
use crate::boost::gradient::sums::{CODES, LeafGradients, UnitSums};
use crate::data::{Binned, CellId, CellSplit, ClassSums, FeatureBins, LevelRates};
use crate::rows::words::{WordReader, put_sums, put_wide};
use crate::rows::{CodedRows, Mergeable, PairCodes, RateCodes, SentSteps, View};

/// Asks for the totals of the rows of a view.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskMass {
    pub(super) scale: RowMassScale,
}

/// Asks about the rows of a bag after some steps.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskBag {
    pub(super) steps: SentSteps<BagStep>,
    pub(super) want: BagWant,
}

/// A decision about the rows of a bag.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum BagStep {
    /// The bag begins: the first step.
    Begin(Arc<BagStart>),
    /// A tree begins: cell 0 has its rows.
    Draw(TreeDraw),
    Split(CellSplit),
    /// The two sides of a split become one cell again.
    Join {
        left: CellId,
        right: CellId,
        cell: CellId,
    },
    /// The values of the grown tree are added to the scores.
    Tree(Arc<CodeTree>),
}

/// The rows of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TreeDraw {
    pub(super) seed: u64,
    /// Whether rows are drawn by the seed.
    pub(super) draws: bool,
}

/// The rows of a bag before the first tree.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BagStart {
    /// Its training rows.
    pub(super) learned: View,
    pub(super) held_out: Option<View>,
    /// The rule and seed that draw rows; `None` if each tree uses all.
    pub(super) draw: Option<(Draw, u64)>,
    /// The score of all rows.
    pub(super) score: f64,
    pub(super) scale: RowMassScale,
    pub(super) levels: LevelMap,
    pub(super) rates: Vec<RateCodes>,
    /// Pairs of categories, whose columns come last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pairs: Vec<PairCodes>,
}

/// What is requested about the rows of a bag.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct BagWant {
    /// Whether the loss of the held-out rows is requested.
    pub(super) measures: bool,
    /// Cells of the growing tree whose numbers of rows are requested.
    pub(super) sides: Vec<CellId>,
    /// Columns of codes, each with the number of its codes.
    pub(super) columns: Vec<(usize, usize)>,
    /// Cells whose sums by code are requested.
    pub(super) cells: Vec<CellWant>,
    /// A tree of whose leaves the sums of all rows are requested; then nothing else is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) leaves: Option<Arc<CodeTree>>,
}

/// A cell whose sums are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CellWant {
    pub(super) cell: CellId,
    /// Whether the number of rows by code is requested, too.
    pub(super) is_counted: bool,
}

impl BagWant {
    /// Number of bins of a cell.
    fn n_bins(&self) -> usize {
        // A question for more is refused before its answer takes memory.
        self.columns.iter().map(|(_, n_codes)| n_codes.min(&CODES)).sum()
    }
}

/// For each feature the categories with their own code, in the order of their codes; `None` for a
/// number, and if the codes are those of the holder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LevelMap(pub(super) Vec<Option<Vec<u32>>>);

impl LevelMap {
    /// Meaning of the codes.
    pub(super) fn features(&self, held: &[FeatureBins]) -> Vec<FeatureBins> {
        let bins = |(kept, held): (&Option<Vec<u32>>, &FeatureBins)| match (kept, held) {
            (Some(kept), FeatureBins::Categorical { .. }) => {
                let n_levels = kept.len() as u32;
                FeatureBins::Categorical { n_levels, rare: None }
            }
            _ => held.clone(),
        };
        self.0.iter().zip(held).map(bins).collect()
    }
}

impl BagStart {
    /// Meaning of the codes, feature by feature, with the columns of rates.
    pub(super) fn features(&self, held: &[FeatureBins]) -> Vec<FeatureBins> {
        let rates = self.rates.iter().map(|rates| &rates.cuts);
        let cuts = rates.chain(self.pairs.iter().map(|pairs| &pairs.cuts));
        let columns = cuts.map(|cuts| FeatureBins::Numeric { cuts: cuts.clone() });
        self.levels.features(held).into_iter().chain(columns).collect()
    }

    /// The codes of some rows, given those of the columns of rates; `None` if they are those of the
    /// holder.
    pub(super) fn codes(
        &self,
        rows: &CodedRows,
        rates: &[Vec<u8>],
    ) -> Result<Option<Binned>, RankError> {
        let held = &rows.binned;
        let n_features = held.features().len();
        if self.levels.0.len() != n_features || rates.len() != self.rates.len() + self.pairs.len() {
            return Err(bad());
        }
        if rates.is_empty() && self.levels.0.iter().all(Option::is_none) {
            let are_narrow = (0..n_features).all(|feature| held.is_narrow(feature));
            return if are_narrow { Ok(None) } else { Err(bad()) };
        }
        let features = self.features(held.features());
        if features.iter().any(|bins| bins.n_codes() > CODES) {
            return Err(bad());
        }
        let (n_rows, width) = (rows.n_rows(), features.len());
        let mut narrow = vec![0; n_rows * width];
        for (feature, kept) in self.levels.0.iter().enumerate() {
            let to = narrow.iter_mut().skip(feature).step_by(width);
            let Some(kept) = kept else {
                let codes = held.narrow_codes(0..n_rows, feature).ok_or_else(bad)?;
                to.zip(codes).for_each(|(to, code)| *to = code);
                continue;
            };
            // Categories without their own code have that of a missing value.
            let mut code_of_level = vec![kept.len() as u8; held.features()[feature].n_codes()];
            for (code, &level) in kept.iter().enumerate() {
                *code_of_level.get_mut(level as usize).ok_or_else(bad)? = code as u8;
            }
            for (row, to) in to.enumerate() {
                *to = code_of_level[held.code(row, feature) as usize];
            }
        }
        for (column, codes) in (n_features..).zip(rates) {
            let to = narrow.iter_mut().skip(column).step_by(width);
            to.zip(codes).for_each(|(to, code)| *to = *code);
        }
        let mut binned = Binned::empty(features.into(), LevelRates::Raw);
        binned.take_bytes(n_rows, &narrow);
        Ok(Some(binned))
    }

    /// The codes of the columns of rates. Training rows have the steps of their folds.
    pub(super) fn rate_codes(&self, rows: &CodedRows) -> Result<Vec<Vec<u8>>, RankError> {
        let mut columns = RateCodes::columns(&self.rates, rows, &self.learned)?;
        columns.extend(PairCodes::columns(&self.pairs, rows, &self.learned)?);
        Ok(columns)
    }
}

fn bad() -> RankError {
    RankError::BadAnswer("a bag is of other rows".to_owned())
}

/// Totals of the rows of a view.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MassSums {
    /// Weights of the rows, in units.
    pub(super) weight: ClassSums,
    /// Mass of each class, negatives first.
    pub(super) mass: [u64; 2],
}

/// Sums of the rows of a bag.
#[derive(Debug, Clone, Default)]
pub(crate) struct BagSums {
    /// Loss of the held-out rows, in its units, and their weight.
    pub(super) loss: [u128; 2],
    /// For each cell whose numbers are requested, number and mass of its rows.
    pub(super) sides: Vec<[u64; 2]>,
    pub(super) cells: Vec<CellSums>,
    pub(super) leaves: Vec<LeafGradients>,
}

/// Sums of the rows of a cell.
#[derive(Debug, Clone, Default)]
pub(crate) struct CellSums {
    /// Number of rows, counting copies.
    pub(super) n_rows: u64,
    pub(super) mass: u64,
    /// Sums by code, column by column.
    pub(super) sums: Vec<UnitSums>,
    /// Numbers of rows by code; empty if they were not requested.
    pub(super) counts: Vec<u64>,
}

impl Mergeable for MassSums {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        self.weight += more.weight;
        self.mass.iter_mut().zip(more.mass).for_each(|(own, more)| *own += more);
        Ok(())
    }

    fn put_words(&mut self, words: &mut Vec<u64>) {
        put_sums(words, self.weight);
        words.extend(self.mass);
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        *self = Self { weight: reader.sums()?, mass: *reader.array()? };
        Ok(())
    }
}

impl BagSums {
    /// The sums of no rows.
    pub(super) fn none(want: &BagWant) -> Self {
        let cell = |cell: &CellWant| CellSums::none(want, *cell);
        Self {
            loss: [0; 2],
            sides: vec![[0; 2]; want.sides.len()],
            cells: want.cells.iter().map(cell).collect(),
            leaves: vec![
                LeafGradients::default();
                want.leaves.as_ref().map_or(0, |tree| tree.n_leaves())
            ],
        }
    }
}

impl Mergeable for BagSums {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        self.loss.iter_mut().zip(more.loss).for_each(|(own, more)| *own += more);
        let sides = self.sides.iter_mut().flatten().zip(more.sides.into_iter().flatten());
        sides.for_each(|(own, more)| *own += more);
        self.cells.iter_mut().zip(more.cells).for_each(|(own, more)| own.merge(&more));
        self.leaves.iter_mut().zip(more.leaves).for_each(|(own, more)| own.merge(more));
        Ok(())
    }

    fn put_words(&mut self, words: &mut Vec<u64>) {
        self.loss.iter().for_each(|&sum| put_wide(words, sum));
        words.extend(self.sides.iter().flatten());
        for CellSums { n_rows, mass, sums, counts } in &self.cells {
            words.extend([*n_rows, *mass]);
            put_packed(words, sums.iter().map(|sums| zigzag(sums.gradient)));
            put_packed(words, sums.iter().map(|sums| sums.hessian as u64));
            put_packed(words, counts.iter().copied());
        }
        for LeafGradients { sums, mass } in &self.leaves {
            words.extend([sums.gradient as u64, sums.hessian as u64, *mass]);
        }
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        for sum in &mut self.loss {
            *sum = reader.wide()?;
        }
        for side in &mut self.sides {
            *side = *reader.array()?;
        }
        for CellSums { n_rows, mass, sums, counts } in &mut self.cells {
            [*n_rows, *mass] = *reader.array()?;
            let n_bins = sums.len();
            take_packed(reader, n_bins, |bin, word| sums[bin].gradient = unzigzag(word))?;
            take_packed(reader, n_bins, |bin, word| sums[bin].hessian = word as i64)?;
            take_packed(reader, counts.len(), |bin, word| counts[bin] = word)?;
        }
        for LeafGradients { sums, mass } in &mut self.leaves {
            let [gradient, hessian, of_leaf] = *reader.array()?;
            *sums = UnitSums { gradient: gradient as i64, hessian: hessian as i64 };
            *mass = of_leaf;
        }
        Ok(())
    }
}

impl CellSums {
    pub(super) fn none(want: &BagWant, cell: CellWant) -> Self {
        let n_bins = want.n_bins();
        let counts = if cell.is_counted { vec![0; n_bins] } else { Vec::new() };
        Self { n_rows: 0, mass: 0, sums: vec![UnitSums::default(); n_bins], counts }
    }

    fn merge(&mut self, more: &Self) {
        self.n_rows += more.n_rows;
        self.mass += more.mass;
        self.sums.iter_mut().zip(&more.sums).for_each(|(own, more)| *own += *more);
        self.counts.iter_mut().zip(&more.counts).for_each(|(own, more)| *own += more);
    }
}

/// Encodes numbers of small magnitude as small unsigned ones.
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

fn unzigzag(word: u64) -> i64 {
    (word >> 1) as i64 ^ -((word & 1) as i64)
}

/// Appends the number of bits of the largest number, then all numbers with that many bits each.
fn put_packed(words: &mut Vec<u64>, numbers: impl ExactSizeIterator<Item = u64> + Clone) {
    let width = u64::BITS - numbers.clone().fold(0, |all, number| all | number).leading_zeros();
    words.push(u64::from(width));
    if width == 0 {
        return;
    }
    let (mut open, mut n_bits) = (0_u128, 0);
    for number in numbers {
        open |= u128::from(number) << n_bits;
        n_bits += width;
        if n_bits >= u64::BITS {
            words.push(open as u64);
            open >>= u64::BITS;
            n_bits -= u64::BITS;
        }
    }
    if n_bits > 0 {
        words.push(open as u64);
    }
}

/// Reads numbers written by [`put_packed`].
fn take_packed(
    reader: &mut WordReader<'_>,
    n: usize,
    mut put: impl FnMut(usize, u64),
) -> Result<(), RankError> {
    let width = reader.word()?;
    if width > u64::from(u64::BITS) {
        return Err(RankError::BadAnswer("numbers have too many bits".to_owned()));
    }
    let width = width as u32;
    if width == 0 {
        (0..n).for_each(|place| put(place, 0));
        return Ok(());
    }
    let mask = u64::MAX >> (u64::BITS - width);
    let mut words = reader.take((n * width as usize).div_ceil(u64::BITS as usize))?.iter();
    let (mut open, mut n_bits) = (0_u128, 0);
    for place in 0..n {
        if n_bits < width {
            open |= u128::from(words.next().copied().unwrap_or(0)) << n_bits;
            n_bits += u64::BITS;
        }
        put(place, open as u64 & mask);
        open >>= width;
        n_bits -= width;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_numbers_are_read_unchanged() {
        for width in 0..=64_u32 {
            for n in [0, 1, 7, 64, 131] {
                let most = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
                let numbers: Vec<u64> =
                    (0..n).map(|place| crate::data::mix(place) & most).collect();
                let mut words = Vec::new();
                put_packed(&mut words, numbers.iter().copied());
                let mut found = vec![0; numbers.len()];
                let mut reader = WordReader::new(&words);
                let n = numbers.len();
                take_packed(&mut reader, n, |place, word| found[place] = word).unwrap();
                reader.end().unwrap();
                assert_eq!(found, numbers);
            }
        }
        for number in [0, 1, -1, i64::MAX, i64::MIN, -12345] {
            assert_eq!(unzigzag(zigzag(number)), number);
        }
    }
}
