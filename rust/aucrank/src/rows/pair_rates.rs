//! Rates of pairs of categories of rows elsewhere: class sums of the pairs of two features that rows
//! have, by folds of the rows.
//!
//! Two features may have far more pairs than there are rows: only those that occur are sent, in
//! ascending order.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Rows;
use super::coded::CodedRows;
use super::fit_id::FitId;
use super::frame::RowFrame;
use super::kept::Kept;
use super::mergeable::Mergeable;
use super::part_view::PartView;
use super::question::Question;
use super::rates::{RateFolds, n_levels};
use super::view::View;
use super::words::{WordReader, put_packed, put_sums, put_wide, take_packed, take_packed_list};
use crate::data::{ClassSums, FoldRates, N_RATE_FOLDS, RowFolds, RowTally};
use crate::{Interrupt, RankError};

/// Asks for class sums of pairs of categories, by folds of the rows of a view.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AskPairRates {
    folds: Arc<RowFolds>,
    pairs: Vec<[usize; 2]>,
}

/// Sums of each queried pair of features.
#[derive(Debug, Clone)]
pub(crate) struct PairSums {
    n_folds: usize,
    /// For each pair of features.
    features: Vec<SumsOfPairs>,
    /// The sums of each fold.
    of_fold: Vec<ClassSums>,
    /// Sum of the squared weights of rows, each divided by how many rows it counts as.
    squares: u128,
}

/// Class sums of the pairs of categories of two features.
#[derive(Debug, Clone, Default)]
struct SumsOfPairs {
    /// Pairs as numbers, ascending: see [`pair_number`].
    numbers: Vec<u64>,
    /// For each pair, the sums of each fold.
    sums: Vec<ClassSums>,
}

/// A pair of categories as one number, in the order of pairs.
#[inline]
pub(crate) fn pair_number([first, second]: [u32; 2]) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// The pair of categories with a number.
pub(crate) fn pair_of_number(number: u64) -> [u32; 2] {
    [(number >> 32) as u32, number as u32]
}

/// The pair of categories of a row of two features, as a number; `None` if one is missing.
pub(crate) fn pair_of_row(
    rows: &CodedRows,
    features: [usize; 2],
) -> Option<impl Fn(usize) -> Option<u64>> {
    let binned = &rows.binned;
    let held = binned.features();
    let mut levels = [0; 2];
    for (levels, feature) in levels.iter_mut().zip(features) {
        *levels = n_levels(held.get(feature)?) as u32;
    }
    Some(move |row: usize| {
        let pair = features.map(|feature| binned.code(row, feature));
        (pair[0] < levels[0] && pair[1] < levels[1]).then(|| pair_number(pair))
    })
}

impl SumsOfPairs {
    /// Adds sums by pair, ascending, each pair once.
    fn add(&mut self, more: &Self, n_folds: usize) {
        let own = std::mem::take(self);
        let n_pairs = own.numbers.len() + more.numbers.len();
        self.numbers.reserve(n_pairs);
        self.sums.reserve(n_pairs * n_folds);
        let [mut left, mut right] = [0, 0];
        while left < own.numbers.len() || right < more.numbers.len() {
            let next = [own.numbers.get(left), more.numbers.get(right)];
            let number = next.into_iter().flatten().min().copied().unwrap_or_default();
            self.numbers.push(number);
            let first = self.sums.len();
            self.sums.resize(first + n_folds, ClassSums::default());
            for (sums, place) in [(&own, &mut left), (more, &mut right)] {
                if sums.numbers.get(*place) == Some(&number) {
                    let of_pair = &sums.sums[*place * n_folds..(*place + 1) * n_folds];
                    self.sums[first..]
                        .iter_mut()
                        .zip(of_pair)
                        .for_each(|(own, more)| *own += *more);
                    *place += 1;
                }
            }
        }
    }
}

impl Question for AskPairRates {
    const NAME: &'static str = "pair rates";

    type Answer = PairSums;

    fn none(&self, _: &RowFrame) -> PairSums {
        // A question for more folds is refused before its answer takes memory.
        let n_folds = usize::from(self.folds.n_folds().min(N_RATE_FOLDS));
        PairSums {
            n_folds,
            features: vec![SumsOfPairs::default(); self.pairs.len()],
            of_fold: vec![ClassSums::default(); n_folds],
            squares: 0,
        }
    }

    fn needs_hashes(&self, _: &View, _: &Kept<'_>) -> bool {
        true
    }

    fn add(
        &self,
        part: &PartView<'_>,
        _: &mut Kept<'_>,
        all: &mut PairSums,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        let n_folds = all.n_folds;
        if n_folds != usize::from(self.folds.n_folds()) || n_folds == 0 {
            return Err(bad());
        }
        let (tally, rows) = (part.sums(), part.rows());
        let fold = |row: usize| usize::from(self.folds.fold(part.coded().dealt(row)));
        let folds: Vec<usize> = rows.iter().map(|&row| fold(row as usize)).collect();
        for (&row, &fold) in rows.iter().zip(&folds) {
            let of_row = tally.of(row as usize);
            all.of_fold[fold] += of_row;
            let mass = u128::from(of_row.pos + of_row.neg);
            all.squares += mass * mass / u128::from(of_row.rows.max(1));
        }
        for (&features, sums) in self.pairs.iter().zip(&mut all.features) {
            interrupt.check()?;
            let pair = pair_of_row(part.coded(), features).ok_or_else(bad)?;
            let listed = rows.iter().zip(&folds);
            let mut listed: Vec<(u64, u32, usize)> = listed
                .filter_map(|(&row, &fold)| pair(row as usize).map(|number| (number, row, fold)))
                .collect();
            listed.sort_unstable();
            let mut found = SumsOfPairs::default();
            for (number, row, fold) in listed {
                if found.numbers.last() != Some(&number) {
                    found.numbers.push(number);
                    found.sums.resize(found.sums.len() + n_folds, ClassSums::default());
                }
                let first = found.sums.len() - n_folds;
                found.sums[first + fold] += tally.of(row as usize);
            }
            sums.add(&found, n_folds);
        }
        Ok(())
    }
}

impl Mergeable for PairSums {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        for (own, more) in self.features.iter_mut().zip(&more.features) {
            own.add(more, self.n_folds);
        }
        self.of_fold.iter_mut().zip(more.of_fold).for_each(|(own, more)| *own += more);
        self.squares += more.squares;
        Ok(())
    }

    fn put_words(&mut self, words: &mut Vec<u64>) {
        self.of_fold.iter().for_each(|&sums| put_sums(words, sums));
        put_wide(words, self.squares);
        for SumsOfPairs { numbers, sums } in &self.features {
            words.push(numbers.len() as u64);
            put_packed(words, &differences(numbers));
            let sums: Vec<u64> =
                sums.iter().flat_map(|sums| [sums.pos, sums.neg, sums.rows]).collect();
            put_packed(words, &sums);
        }
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        for sums in &mut self.of_fold {
            *sums = reader.sums()?;
        }
        self.squares = reader.wide()?;
        for SumsOfPairs { numbers, sums } in &mut self.features {
            *numbers = ascending(&take_packed_list(reader)?)?;
            let mut words = vec![0; numbers.len() * self.n_folds * 3];
            take_packed(reader, &mut words)?;
            let (of_pairs, _) = words.as_chunks();
            *sums = of_pairs.iter().map(|&[pos, neg, rows]| ClassSums { pos, neg, rows }).collect();
        }
        Ok(())
    }
}

/// Ascending numbers as differences, which are small.
pub(super) fn differences(numbers: &[u64]) -> Vec<u64> {
    let mut last = 0;
    numbers.iter().map(|&number| number - std::mem::replace(&mut last, number)).collect()
}

/// The numbers with some [`differences`].
pub(super) fn ascending(differences: &[u64]) -> Result<Vec<u64>, RankError> {
    let mut numbers: Vec<u64> = Vec::with_capacity(differences.len());
    for &difference in differences {
        let last = numbers.last().copied();
        let number = last.unwrap_or(0).checked_add(difference).ok_or_else(bad)?;
        if last.is_some_and(|last| last >= number) {
            return Err(bad());
        }
        numbers.push(number);
    }
    Ok(numbers)
}

fn bad() -> RankError {
    RankError::BadAnswer("rates of pairs are of other rows".to_owned())
}

impl RateFolds {
    /// For each pair of features the pairs of categories that rows of a view have, as numbers, and
    /// their rates.
    pub(crate) fn pair_rates(
        &self,
        rows: &dyn Rows,
        fit: &FitId,
        view: &View,
        pairs: &[[usize; 2]],
        interrupt: &Interrupt,
    ) -> Result<Vec<(Vec<u64>, FoldRates)>, RankError> {
        let ask = AskPairRates { folds: Arc::clone(&self.0), pairs: pairs.to_vec() };
        let PairSums { features, of_fold, squares, .. } =
            fit.ask(rows, view.clone(), ask, interrupt)?;
        let rates =
            |SumsOfPairs { numbers, sums }| (numbers, FoldRates::of_sums(&sums, &of_fold, squares));
        Ok(features.into_iter().map(rates).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_sums_are_those_of_all_pairs() {
        let sums = |n: u64| ClassSums { pos: n, neg: 2 * n, rows: 3 * n };
        let of = |pairs: &[(u64, u64)]| PairSums {
            n_folds: 1,
            features: vec![SumsOfPairs {
                numbers: pairs.iter().map(|(number, _)| *number).collect(),
                sums: pairs.iter().map(|(_, n)| sums(*n)).collect(),
            }],
            of_fold: vec![sums(1)],
            squares: 1 << 90,
        };
        let mut whole = of(&[(2, 1), (7, 2), (u64::MAX, 3)]);
        whole.merge_bytes(&of(&[(1, 5), (7, 40), (8, 6)]).to_bytes()).unwrap();
        let expected = of(&[(1, 5), (2, 1), (7, 42), (8, 6), (u64::MAX, 3)]);
        assert_eq!(whole.features[0].numbers, expected.features[0].numbers);
        assert_eq!(whole.features[0].sums, expected.features[0].sums);
        assert_eq!((&whole.of_fold[..], whole.squares), (&[sums(2)][..], 1 << 91));
    }

    #[test]
    fn pairs_out_of_order_are_errors() {
        assert_eq!(ascending(&differences(&[0, 3, 9])).unwrap(), [0, 3, 9]);
        assert!(ascending(&[1, 0]).is_err());
        assert!(ascending(&[1, u64::MAX]).is_err());
    }
}
