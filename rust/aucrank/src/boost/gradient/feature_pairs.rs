//! Which pairs of features have something to tell together that neither tells alone.
//!
//! Two questions, one to each feature of a pair, part the rows in quadrants. The Newton steps of the
//! quadrants, `-g / h` with the sums `g` and `h` of gradients and hessians, are a sum of one step for
//! each answer if their contrast `t11 - t10 - t01 + t00` is 0; else the contrast lowers the loss, to
//! second order, by half of its square times `J = 1 / (1/h11 + 1/h10 + 1/h01 + 1/h00)`, on top of what
//! any steps by single answers do. As in FAST (Lou, Caruana, Gehrke and Hooker, 2013,
//! <https://doi.org/10.1145/2487575.2487579>), the gradients are those of a sum of single features, and
//! all questions of a pair are tried on its table of sums by bin.
//!
//! The best of so many questions gains by chance alone. So the rows are parted in two halves by a hash
//! of their content: each half chooses its questions, and the other half judges their contrast `c`, by
//! `J' (2 c c' - c^2)` with `c'` and `J'` its own. That is below 0 on average where the two features
//! tell nothing together. It varies, though, and the best of many pairs is looked for: a pair is taken
//! if both judgements add up to more than `2 ln(N / 0.05)`, of `N` pairs. In simulations of noise at
//! most one fit of ten takes a pair.

use super::best_split::Criterion;
use super::loss::LossAt;
use super::rows::FitRows;
use super::sums::{GRADIENT_UNITS, HESSIAN_UNITS, Sums};
use crate::data::{Columns, FeatureBins, content_hashes, mix};
use crate::{Interrupt, RankError, parallel};

/// Most features that are paired, those that single features gained most by.
const MOST_FEATURES: usize = 100;

/// Categories of a feature that are asked for, one by one: those of the most rows.
const MOST_LEVELS: usize = 31;

/// Sum of hessians that each half needs in each quadrant.
const LEAST_HESSIAN: f64 = 1.0;

/// Expected number of pairs of noise that are taken.
const LEVEL: f64 = 0.05;

/// Makes the halves others than the rows that are held out.
const SALT: u64 = 0x7061_6972;

/// What pairs are chosen by.
pub(super) struct PairSearch<'a> {
    /// All rows, in few bins.
    pub(super) rows: &'a FitRows<'a>,
    pub(super) columns: &'a Columns<'a>,
    /// The loss at the scores of a sum of single features.
    pub(super) at: &'a LossAt,
    pub(super) scores: &'a [f64],
    /// What each feature has gained alone.
    pub(super) gains: &'a [f64],
    pub(super) criterion: &'a Criterion,
    pub(super) seed: u64,
    pub(super) interrupt: &'a Interrupt,
}

/// A pair of features, the lower one first, and what both halves say of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FoundPair {
    pub(super) features: [usize; 2],
    pub(super) merit: f64,
}

/// A feature in codes.
struct CodedFeature {
    feature: usize,
    /// Code of each training row.
    codes: Vec<u8>,
    n_codes: usize,
    /// For each question the codes that it sends left.
    questions: Vec<Vec<bool>>,
}

/// Sums of the quadrants of two questions: both answered "left", the first, the second, neither.
type Quadrants = [Sums; 4];

impl PairSearch<'_> {
    /// The pairs that tell most, the best first, at most so many.
    pub(super) fn best(&self, most: usize) -> Result<Vec<[usize; 2]>, RankError> {
        let mut found = self.all()?;
        let least = threshold(found.len());
        found.retain(|pair| pair.merit > least);
        // Of equals the first in the order of the features.
        found.sort_by(|a, b| b.merit.total_cmp(&a.merit));
        found.truncate(most);
        Ok(found.into_iter().map(|pair| pair.features).collect())
    }

    /// All pairs of the features that are paired, in the order of the features.
    pub(super) fn all(&self) -> Result<Vec<FoundPair>, RankError> {
        let training = self.rows.training();
        let hashes = content_hashes(self.columns, training, self.seed ^ SALT, self.interrupt)?;
        let halves: Vec<bool> = hashes.into_iter().map(|(hash, _)| mix(hash) & 1 == 1).collect();
        let sums = self.derivatives();
        let features = parallel::map(self.candidates(), |feature| self.coded(feature));
        let of_first = |first: usize| {
            self.interrupt.check()?;
            let a = &features[first];
            let pairs = features[first + 1..].iter().map(|b| FoundPair {
                features: [a.feature, b.feature],
                merit: self.merit(a, b, &table(a, b, &halves, &sums)),
            });
            Ok(pairs.collect::<Vec<_>>())
        };
        let found = parallel::try_map((0..features.len()).collect(), of_first)?;
        Ok(found.concat())
    }

    /// The features that are paired, ascending.
    fn candidates(&self) -> Vec<usize> {
        let mut features: Vec<usize> = (0..self.gains.len()).collect();
        // The sort is stable: of equals the first.
        features.sort_by(|&a, &b| self.gains[b].total_cmp(&self.gains[a]));
        features.truncate(MOST_FEATURES);
        features.sort_unstable();
        features
    }

    fn derivatives(&self) -> Vec<Sums> {
        let (training, positive) = (self.rows.training(), self.rows.positive());
        parallel::values(training.len(), |place| {
            let row = training[place] as usize;
            let (gradient, hessian) = self.at.derivatives(self.scores[row], positive[row]);
            Sums::of(gradient, hessian).times(self.rows.mass(row) as i64)
        })
    }

    fn coded(&self, feature: usize) -> CodedFeature {
        let bins = &self.rows.binned.features()[feature];
        let n_codes = bins.n_codes();
        let code = |&row: &u32| self.rows.binned.narrow_row(row as usize)[feature];
        let training = self.rows.training();
        let codes: Vec<u8> = training.iter().map(code).collect();
        let mut counts = vec![0; n_codes];
        for (&code, &row) in codes.iter().zip(training) {
            counts[usize::from(code)] += self.rows.count(row as usize);
        }
        CodedFeature { feature, codes, n_codes, questions: questions(bins, &counts) }
    }

    /// What each half says of the best questions of the other, added up.
    fn merit(&self, a: &CodedFeature, b: &CodedFeature, tables: &[Vec<Sums>; 2]) -> f64 {
        let halves = tables.each_ref().map(|table| quadrants(a, b, table));
        let least = LEAST_HESSIAN * f64::from(HESSIAN_UNITS) / self.rows.mass_unit();
        let is_full = |quadrants: &Quadrants| quadrants.iter().all(|q| q.hessian as f64 >= least);
        let full: Vec<[&Quadrants; 2]> = halves[0]
            .iter()
            .zip(&halves[1])
            .filter(|(one, other)| is_full(one) && is_full(other))
            .map(|(one, other)| [one, other])
            .collect();
        let gain = |chooser: usize| {
            let mut best: Option<(f64, usize)> = None;
            for (place, of_halves) in full.iter().enumerate() {
                let (contrast, weight) = contrast(of_halves[chooser]);
                let value = contrast * contrast * weight;
                if best.is_none_or(|(best, _)| value > best) {
                    best = Some((value, place));
                }
            }
            let Some((_, place)) = best else { return 0.0 };
            let (chosen, _) = contrast(full[place][chooser]);
            let (judged, weight) = contrast(full[place][1 - chooser]);
            weight * (2.0 * chosen * judged - chosen * chosen)
        };
        self.criterion.chance(gain(0) + gain(1))
    }
}

/// What a pair must exceed, of so many.
fn threshold(n_pairs: usize) -> f64 {
    2.0 * libm::log(n_pairs.max(1) as f64 / LEVEL)
}

/// The contrast of four quadrants in units, and what its square counts.
fn contrast(quadrants: &Quadrants) -> (f64, f64) {
    let [both, first, second, neither] =
        quadrants.map(|q| -(q.gradient as f64) / q.hessian as f64);
    let variance: f64 = quadrants.iter().map(|q| 1.0 / q.hessian as f64).sum();
    (both - first - second + neither, 1.0 / variance)
}

/// Questions to a feature, as the codes that go left: each cut of a number, each of its frequent
/// categories, and whether it is missing.
fn questions(bins: &FeatureBins, counts: &[u64]) -> Vec<Vec<bool>> {
    let n_bins = bins.n_bins();
    let of = |goes_left: &dyn Fn(usize) -> bool| (0..=n_bins).map(goes_left).collect();
    let mut questions: Vec<Vec<bool>> = match bins {
        FeatureBins::Numeric { .. } => {
            (1..n_bins).map(|bound| of(&|code| code < bound)).collect()
        }
        FeatureBins::Categorical { .. } => {
            let mut levels: Vec<usize> = (0..n_bins).collect();
            levels.sort_by_key(|&level| std::cmp::Reverse(counts[level]));
            levels.truncate(MOST_LEVELS);
            levels.into_iter().map(|level| of(&|code| code == level)).collect()
        }
    };
    if counts[n_bins] > 0 {
        questions.push(of(&|code| code == n_bins));
    }
    questions
}

/// The sums of each half by the codes of two features.
fn table(a: &CodedFeature, b: &CodedFeature, halves: &[bool], sums: &[Sums]) -> [Vec<Sums>; 2] {
    let mut tables = [(); 2].map(|()| vec![Sums::default(); a.n_codes * b.n_codes]);
    for (((&a, &c), &half), &sums) in a.codes.iter().zip(&b.codes).zip(halves).zip(sums) {
        tables[usize::from(half)][usize::from(a) * b.n_codes + usize::from(c)] += sums;
    }
    tables
}

/// The quadrants of all questions to two features.
fn quadrants(a: &CodedFeature, b: &CodedFeature, table: &[Sums]) -> Vec<Quadrants> {
    let left = |question: &[bool], sums: &[Sums]| -> Sums {
        question.iter().zip(sums).filter(|(goes_left, _)| **goes_left).map(|(_, sums)| *sums).sum()
    };
    // For each code of the first feature the left sums of each question to the second.
    let by_code: Vec<Vec<Sums>> = table
        .chunks(b.n_codes)
        .map(|row| b.questions.iter().map(|question| left(question, row)).collect())
        .collect();
    let of_codes: Vec<Sums> =
        table.chunks(b.n_codes).map(|row| row.iter().copied().sum()).collect();
    let total: Sums = of_codes.iter().copied().sum();
    let of_b: Vec<Sums> = (0..b.questions.len())
        .map(|place| by_code.iter().map(|sums| sums[place]).sum())
        .collect();
    let mut found = Vec::with_capacity(a.questions.len() * b.questions.len());
    for question in &a.questions {
        let of_a = left(question, &of_codes);
        for (place, &of_b) in of_b.iter().enumerate() {
            let rows = question.iter().zip(&by_code).filter(|(goes_left, _)| **goes_left);
            let both: Sums = rows.map(|(_, sums)| sums[place]).sum();
            let (first, second) = (of_a - both, of_b - both);
            found.push([both, first, second, total - both - first - second]);
        }
    }
    found
}
