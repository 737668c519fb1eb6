//! A number, thinned to the values that its cuts depend on.

use super::key_cells::Interval;
use super::key_cells::{KeyCells, KeyLayout};
use crate::RankError;
use crate::additive::bins::{BinnedFeature, Direction};
use crate::additive::hull::{BestCuts, Curve, borders, wanted};
use crate::data::{Bins, ClassMasses, ClassSums};
use crate::roc::Score;

/// Some rows of a fit with folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::additive) enum FoldView {
    All,
    /// All but those of a fold.
    Without(usize),
}

impl FoldView {
    /// The sum over its rows, given those of the folds.
    pub(super) fn of(self, folds: &[ClassSums]) -> ClassSums {
        let all = folds.iter().copied().sum();
        match self {
            Self::All => all,
            Self::Without(fold) => all - folds[fold],
        }
    }

    /// All views that a fit with so many folds learns from.
    fn every(n_folds: usize) -> impl Iterator<Item = Self> {
        let folds = if n_folds > 1 { 0..n_folds } else { 0..0 };
        std::iter::once(Self::All).chain(folds.map(Self::Without))
    }
}

/// Keys that lie next to each other, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct KeyRange {
    least: u64,
    greatest: u64,
    is_wanted: bool,
}

impl KeyRange {
    /// Whether a corner may be among its keys, which have to be separated.
    fn is_open(self) -> bool {
        self.is_wanted && self.least < self.greatest
    }
}

/// The rows of a number.
#[derive(Debug, Clone)]
pub(super) struct NumberTable {
    n_folds: usize,
    special: Vec<f64>,
    only: Option<Direction>,
    /// Those of each special value, then those with a missing value: of each fold.
    apart: Vec<ClassSums>,
    pieces: Vec<KeyRange>,
    /// Of the folds of the first piece, then of those of the second, ...
    sums: Vec<ClassSums>,
}

impl NumberTable {
    /// From what the first pass has found.
    pub(super) fn new(
        cells: &KeyCells,
        apart: Vec<ClassSums>,
        n_folds: usize,
        special: Vec<f64>,
        only: Option<Direction>,
    ) -> Self {
        let (pieces, sums) = (Vec::new(), Vec::new());
        let mut table = Self { n_folds, special, only, apart, pieces, sums };
        cells.cells().for_each(|(range, sums)| table.push(range, sums, true));
        table.thin();
        table
    }

    fn push(
        &mut self,
        [least, greatest]: [u64; 2],
        sums: impl Iterator<Item = ClassSums>,
        is_wanted: bool,
    ) {
        self.pieces.push(KeyRange { least, greatest, is_wanted });
        self.sums.extend(sums);
    }

    fn sums_of(&self, piece: usize) -> &[ClassSums] {
        &self.sums[piece * self.n_folds..(piece + 1) * self.n_folds]
    }

    /// Tells the open pieces apart as a further pass has found them.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] if the rows are not those of the passes before.
    pub(super) fn split(&mut self, cells: &KeyCells) -> Result<(), RankError> {
        let fresh = Self { pieces: Vec::new(), sums: Vec::new(), ..self.clone() };
        let before = std::mem::replace(self, fresh);
        let mut cells = cells.cells().peekable();
        for (place, &piece) in before.pieces.iter().enumerate() {
            if !piece.is_open() {
                let sums = before.sums_of(place).iter().copied();
                self.push([piece.least, piece.greatest], sums, piece.is_wanted);
                continue;
            }
            let mut sums = vec![ClassSums::default(); self.n_folds];
            while let Some((range, own)) = cells.next_if(|([_, last], _)| *last <= piece.greatest) {
                sums.iter_mut().zip(own.clone()).for_each(|(sum, more)| *sum += more);
                self.push(range, own, true);
            }
            if sums != before.sums_of(place) {
                return Err(RankError::BadAnswer(
                    "the rows have changed between passes".to_owned(),
                ));
            }
        }
        self.thin();
        Ok(())
    }

    /// Joins pieces that no cut of any view is in or next to.
    fn thin(&mut self) {
        let mut is_wanted = vec![false; self.pieces.len()];
        for view in FoldView::every(self.n_folds) {
            let sums: Vec<ClassSums> =
                (0..self.pieces.len()).map(|piece| view.of(self.sums_of(piece))).collect();
            let places: Vec<usize> =
                (0..self.pieces.len()).filter(|&piece| sums[piece].rows > 0).collect();
            let borders = borders(places.iter().map(|&piece| sums[piece]));
            let is_open: Vec<bool> =
                places.iter().map(|&piece| self.pieces[piece].is_open()).collect();
            let here = wanted(&borders, &is_open, self.only);
            for (&piece, &is_here) in places.iter().zip(&here) {
                is_wanted[piece] |= is_here;
            }
            // A cut may be between the values of a fold that is left out: it parts these too.
            for (pair, is_here) in places.windows(2).zip(here.windows(2)) {
                if is_here == [true, true] {
                    is_wanted[pair[0] + 1..pair[1]].fill(true);
                }
            }
        }
        // What was skipped once has no corner, however large it is together with its neighbours.
        for (piece, is_wanted) in self.pieces.iter_mut().zip(is_wanted) {
            piece.is_wanted &= is_wanted;
        }
        self.join_skipped();
    }

    /// Joins neighbours that are not wanted.
    fn join_skipped(&mut self) {
        let n_folds = self.n_folds;
        let fresh = Self { pieces: Vec::new(), sums: Vec::new(), ..self.clone() };
        let before = std::mem::replace(self, fresh);
        for (place, &piece) in before.pieces.iter().enumerate() {
            let sums = before.sums_of(place);
            match self.pieces.last_mut() {
                Some(last) if !last.is_wanted && !piece.is_wanted => {
                    last.greatest = piece.greatest;
                    let start = self.sums.len() - n_folds;
                    self.sums[start..].iter_mut().zip(sums).for_each(|(sum, &more)| *sum += more);
                }
                _ => {
                    let sums = sums.iter().copied();
                    self.push([piece.least, piece.greatest], sums, piece.is_wanted);
                }
            }
        }
    }

    /// What the next pass has to count, in about `most` cells at most; `None` if all cuts are known.
    pub(super) fn wants(&self, most: usize) -> Option<KeyLayout> {
        let open = || {
            let pieces = self.pieces.iter().enumerate().filter(|(_, piece)| piece.is_open());
            pieces.map(|(place, &piece)| (piece, FoldView::All.of(self.sums_of(place)).rows))
        };
        let n_rows: u64 = open().map(|(_, rows)| rows).sum();
        if n_rows == 0 {
            return None;
        }
        if n_rows <= most as u64 {
            return Some(KeyLayout::Prefixes(Some(
                open().map(|(piece, _)| [piece.least, piece.greatest]).collect(),
            )));
        }
        // By their rows, which are about the same in each cell then. Each piece has two cells at
        // least, the least key in the first and the greatest in the last: so this ends.
        let interval = |(KeyRange { least, greatest, .. }, rows): (KeyRange, u64)| {
            let n_cells = (u128::from(rows) * most as u128 / u128::from(n_rows)).max(2);
            let n_bits = u64::BITS - (greatest - least).leading_zeros();
            let shift = n_bits - n_cells.ilog2().min(n_bits);
            Interval { least, greatest, shift }
        };
        Some(KeyLayout::Parts(open().map(interval).collect()))
    }

    /// Cuts, and the rows of the bins.
    pub(super) fn binned(&self, view: FoldView) -> BinnedFeature {
        let mut curve = Curve::default();
        for (place, piece) in self.pieces.iter().enumerate() {
            curve.push(piece.least, view.of(self.sums_of(place)));
        }
        let BestCuts { direction, cuts, mut sums } = curve.cut(self.only);
        sums.extend(self.apart.chunks(self.n_folds).map(|folds| view.of(folds)));
        let bins = Bins::Numeric { cuts, special: self.special.clone() };
        BinnedFeature { bins, sums, direction: Some(direction) }
    }

    /// The rows of a fold by the bin of their value, of bins learned without it.
    pub(super) fn of_fold(&self, fold: usize, bins: &Bins) -> Vec<ClassMasses> {
        let mut masses = vec![ClassMasses::default(); bins.n_bins() + 1];
        let Bins::Numeric { cuts, special } = bins else { unreachable!("bins of a number") };
        for (place, piece) in self.pieces.iter().enumerate() {
            // All of its keys are on the same side of each cut.
            let value = f64::from_key(piece.greatest);
            let bin = cuts.partition_point(|&cut| cut <= value);
            masses[bin] += self.sums_of(place)[fold].into();
        }
        let apart = self.apart.chunks(self.n_folds);
        debug_assert_eq!(apart.len(), special.len() + 1);
        for (mass, folds) in masses[cuts.len() + 1..].iter_mut().zip(apart) {
            *mass += folds[fold].into();
        }
        masses
    }
}
