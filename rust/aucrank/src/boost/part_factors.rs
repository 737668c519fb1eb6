//! Answers of the rows of a part to `RankBoost` and `AUCBoost`: each row has a factor, which every
//! round multiplies.

use super::distribution::{mass_of, rescaling, units_of};
use super::queried_rounds::{AskRound, RoundAnswer, RoundStep, RoundSums, RoundWant, ScoreTables};
use crate::data::{ClassMasses, ClassSums, HistogramRequest, MassRows, MemorySource, RowSquares};
use crate::rows::{Kept, PartView, Question, RowFrame, Step, other};
use crate::{Interrupt, RankError};

/// Bits of the largest mass of a row.
const MOST_BITS: i32 = 52;

impl Question for AskRound {
    const NAME: &'static str = "round";

    type Answer = RoundAnswer;

    fn none(&self, frame: &RowFrame) -> RoundAnswer {
        RoundAnswer::none(self, &frame.no_rows())
    }

    fn add(
        &self,
        view: &PartView<'_>,
        kept: &mut Kept<'_>,
        sum: &mut RoundAnswer,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        match (&self.want, sum) {
            (RoundWant::Masses { bits, squares }, RoundAnswer::Masses(sums)) => {
                let known = self.steps.missing(kept, || self.at_first(view));
                let Some((mut factors, steps)) = known else { return Ok(()) };
                steps.iter().try_for_each(|step| step.follow(view, &mut factors))?;
                if !bits.iter().all(|bits| (0..=MOST_BITS).contains(bits)) {
                    return Err(too_large());
                }
                self.add_masses(view, &factors, *bits, *squares, sums, interrupt)?;
                self.steps.keep(kept, factors);
            }
            (RoundWant::Ranges { tables, edges }, RoundAnswer::Ranges(ranges)) => {
                for (score, weight) in scores(tables, view)? {
                    ranges.add(edges, score, weight);
                }
            }
            (RoundWant::Scores(tables), RoundAnswer::Scores(counts)) => {
                counts.add(scores(tables, view)?.into_iter());
            }
            _ => return Err(other()),
        }
        Ok(())
    }
}

impl Step for RoundStep {
    /// The factors of the rows.
    type States = Vec<f64>;
}

impl RoundStep {
    /// Multiplies the factors of the rows.
    fn follow(&self, view: &PartView<'_>, factors: &mut [f64]) -> Result<(), RankError> {
        let positive = view.positive();
        match self {
            Self::Rescale(powers) => {
                let by = rescaling(*powers);
                for (factor, &positive) in factors.iter_mut().zip(positive) {
                    *factor *= by[usize::from(positive)];
                }
            }
            Self::Reweight { feature, factors: of_codes } => {
                let binned = view.binned();
                let by_code: Vec<[f64; 2]> = of_codes
                    .values(binned, *feature)?
                    .into_iter()
                    .map(|bits| bits.map(f64::from_bits))
                    .collect();
                let codes = binned.narrow_codes(0..view.n_rows(), *feature);
                let factors = factors.iter_mut().zip(positive);
                if let Some(codes) = codes {
                    for ((factor, &positive), code) in factors.zip(codes) {
                        *factor *= by_code[usize::from(code)][usize::from(positive)];
                    }
                } else {
                    for (row, (factor, &positive)) in factors.enumerate() {
                        let code = binned.code(row, *feature) as usize;
                        *factor *= by_code[code][usize::from(positive)];
                    }
                }
            }
        }
        Ok(())
    }
}

impl AskRound {
    /// The factors before the first round; rows outside the view have none.
    fn at_first(&self, view: &PartView<'_>) -> Vec<f64> {
        let Some(units) = view.units() else { return vec![1.0; view.n_rows()] };
        let factor = |&units: &u64| {
            if self.counts_copies { f64::from(u8::from(units > 0)) } else { units as f64 }
        };
        units.iter().map(factor).collect()
    }

    fn add_masses(
        &self,
        view: &PartView<'_>,
        factors: &[f64],
        bits: [i32; 2],
        with_squares: bool,
        sums: &mut RoundSums,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        let (positive, unit) = (view.positive(), units_of(bits));
        let units = view.units();
        let copies = units.as_ref().filter(|_| self.counts_copies);
        let mut masses = Vec::with_capacity(factors.len());
        let RoundSums { largest, histogram, total, squares } = sums;
        for (row, (&factor, &is_positive)) in factors.iter().zip(positive).enumerate() {
            let class = usize::from(is_positive);
            largest[class] = largest[class].max(factor);
            let copies = copies.map_or(1, |copies| copies[row]);
            let mass = mass_of(factor, unit[class]).checked_mul(copies).ok_or_else(too_large)?;
            let sum = if is_positive { &mut total.pos } else { &mut total.neg };
            *sum = sum.checked_add(mass).ok_or_else(too_large)?;
            masses.push(mass);
        }
        if with_squares {
            let mut own = RowSquares::default();
            for (row, &mass) in masses.iter().enumerate() {
                let n_rows = view.rows_of(units.as_ref().map_or(1, |units| units[row]));
                own.add(ClassSums::of_row(positive[row], mass, n_rows), 1);
            }
            squares.merge(&own);
        }
        let rows: Vec<u32> = (0..).zip(&masses).filter(|(_, m)| **m > 0).map(|(r, _)| r).collect();
        let tally = MassRows { positive, masses: &masses };
        let source = MemorySource::borrowing(view.binned(), tally, &rows, interrupt);
        source.add_to(histogram, &HistogramRequest::all(0))
    }
}

fn too_large() -> RankError {
    RankError::BadAnswer("masses of other rows".to_owned())
}

/// The scores of the rows of a view, with their class weights.
fn scores(tables: &ScoreTables, view: &PartView<'_>) -> Result<Vec<(f64, ClassMasses)>, RankError> {
    let (binned, n_rows) = (view.binned(), view.n_rows());
    let mut scores = vec![0.0; n_rows];
    for (feature, values) in tables.iter() {
        let by_code: Vec<f64> =
            values.values(binned, *feature)?.into_iter().map(f64::from_bits).collect();
        if by_code.iter().any(|value| !value.is_finite()) {
            return Err(RankError::BadAnswer("a value is not finite".to_owned()));
        }
        if let Some(codes) = binned.narrow_codes(0..n_rows, *feature) {
            for (score, code) in scores.iter_mut().zip(codes) {
                *score += by_code[usize::from(code)];
            }
        } else {
            for (row, score) in scores.iter_mut().enumerate() {
                *score += by_code[binned.code(row, *feature) as usize];
            }
        }
    }
    let units = view.units();
    let of_row = |(row, score): (usize, f64)| {
        let units = units.as_ref().map_or(1, |units| units[row]);
        Some((score, view.class_units(row, units)?))
    };
    Ok(scores.into_iter().enumerate().filter_map(of_row).collect())
}
